//! Typed values, as Julia's programs store them: instances by position, arrays, mappings.
//!
//! A type is described by a value, which is built once per message; `holdall.julia` then says how its values are made.

use crate::classes::state::{allocate, slot_mut};
use crate::cpython::fill;
use crate::cpython::owned;
use crate::cpython::{new, replace, Owned};
use crate::decode::frame::{Frame, Kind, Make, Parts};
use crate::decode::{Decoder, NO_ID};
use crate::dialect::julia::known::{FromJulia, JuliaMake, JuliaReader};
use crate::dialect::julia::{bound, call, read_number, Class, Described, Names};
use crate::error::{decode, raised, Result};
use crate::memory::Vec;
use crate::schema::node::accepts;
use crate::schema::ANY;
use crate::shapes::Shape;
use holdall_format::model::{Path, TypedValue};
use pyo3::ffi;
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::types::{PyList, PyTuple};
use std::rc::Rc;

pub(crate) const WRONG_DATA: &str = "a value whose bytes or fields do not fit its type";
pub(crate) const WRONG_SIZE: &str = "an array whose data do not fit its shape";

impl<'i, R: JuliaReader<'i>> Decoder<'i, FromJulia<'i, R>> {
    /// Makes or starts a typed value.
    pub(crate) fn typed_value(&mut self, tagged: TypedValue<'i>) -> Result<Option<Owned>> {
        match tagged {
            TypedValue::Struct { class, fields } => {
                let described = self.described(class)?;
                self.structure(&described, fields)
            }
            _ => self.other_typed_value(tagged),
        }
    }

    #[inline(always)]
    pub(crate) fn structure(&mut self, described: &Rc<Described>, fields: usize) -> Result<Option<Owned>> {
        match &described.class {
            Class::Fields { shape, keeps: None, .. } if shape.names.len() == fields => self.instance(shape),
            _ => self.other_structure(described, fields),
        }
    }

    #[inline(never)]
    pub(crate) fn other_structure(&mut self, described: &Rc<Described>, fields: usize) -> Result<Option<Owned>> {
        match &described.class {
            Class::Fields { shape, ours: true, .. } if shape.names.len() != fields => self.record(described, fields),
            Class::Fields { shape, keeps, .. } => {
                self.fits(described, shape, fields)?;
                let depth = self.tables.stack.len();
                let made = self.instance(shape)?;
                let object =
                    made.as_ref().or_else(|| self.tables.stack.get(depth).and_then(|frame| frame.object.as_ref()));
                if let (Some(name), Some(object)) = (keeps, object) {
                    // SAFETY: `made` or its frame holds the instance, `described` the type. No `__setattr__` of the class runs.
                    if unsafe { ffi::PyObject_GenericSetAttr(object.get(), name.get(), described.object.get()) } != 0 {
                        return Err(raised());
                    }
                }
                Ok(made)
            }
            Class::Table(_) if fields == 2 => self.table(described, (ANY, ANY)),
            Class::Made(_) if fields > 0 => self.gather(Make::Dialect(JuliaMake::Value(described.clone())), fields),
            Class::Made(function) => {
                if let Some(only) = described.only.get() {
                    let only = only.clone();
                    return self.done(Some(only));
                }
                let made = call(self.py, function, (bound(self.py, &described.object), new::list(self.py)?));
                let made = owned(&made.map_err(|error| self.refuse(error, self.here()))?);
                // A type without fields has a single value, so one object serves all places. Tuples are made anew: only
                // references to the same one share it.
                if !bound(self.py, &made).is_instance_of::<PyTuple>() {
                    let _ = described.only.set(made.clone());
                }
                self.done(Some(made))
            }
            Class::Number(..) | Class::Bits(_) if fields > 0 => Err(decode(WRONG_DATA, self.here())),
            _ => self.record(described, fields),
        }
    }

    pub(crate) fn fits(&self, described: &Described, shape: &Shape, fields: usize) -> Result<()> {
        if shape.names.len() == fields {
            return Ok(());
        }
        let name = bound(self.py, &described.object).str()?;
        Err(decode(
            format_args!(
                "`{name}` was stored with {fields} fields, and its class has {}: name them in order with `holdall.julia.struct(..., fields=[...])`",
                shape.names.len()
            ),
            self.here(),
        ))
    }

    /// A record of the values of a type for which there is no class.
    pub(crate) fn record(&mut self, described: &Described, fields: usize) -> Result<Option<Owned>> {
        self.claim(fields, 160 + 8 * fields)?;
        let names = self.dialect.julia.names;
        let [of_type, values] = names.record_slots;
        // SAFETY: the GIL is held; `record_slots` are the offsets of the class's slots, which are empty in a new instance.
        let (object, list) = unsafe {
            let object = allocate(names.record.get().cast(), 0)?;
            let list = Owned::new(ffi::PyList_New(fields as isize)).ok_or_else(raised)?;
            // A reference from within can see the list while it is being filled.
            fill::pad(list.get());
            replace(slot_mut(object.get(), values), list.clone().into_raw());
            replace(slot_mut(object.get(), of_type), described.object.clone().into_raw());
            (object, list)
        };
        let object_id = self.take_id();
        self.opened(object_id, object.get());
        let mut at = 0;
        while at < fields {
            let Some(value) = self.next_leaf(accepts::ALL)? else { break };
            // SAFETY: `list` is an owned reference to a list; `list_item` checks the index.
            unsafe { fill::list_item(list.get(), at, value) };
            at += 1;
        }
        if at == fields {
            self.whole(object_id, object.get());
            return Ok(Some(object));
        }
        // The frame of the values is above that of the record: the top of the stack is built first.
        let below = self.frame(Kind::Fields, Some(object), 0, object_id);
        self.push(below);
        let values = self.frame(Kind::List, Some(list), fields, NO_ID);
        Ok(self.push(Frame { at, hand_over: false, ..values }))
    }

    #[inline(never)]
    pub(crate) fn other_typed_value(&mut self, tagged: TypedValue<'i>) -> Result<Option<Owned>> {
        let (py, at) = (self.py, self.here());
        let names = self.dialect.julia.names;
        let made = match tagged {
            TypedValue::Struct { .. } => return Err(decode(WRONG_DATA, at)),
            TypedValue::Bits { class, data } => {
                let described = self.described(class)?;
                return self.bits(&described, data);
            }
            TypedValue::Packed { element, dimensions, data } => {
                let made = self.packed(element, dimensions, data)?;
                return self.done(Some(made));
            }
            TypedValue::Boxed { element, dimensions, len } => return self.boxed(element, dimensions, len),
            TypedValue::Tuple(len) => return self.begin_tuple(len, ANY, 0),
            TypedValue::Simple(len) => return self.gather(Make::Dialect(JuliaMake::Simple), len),
            TypedValue::Symbol(name) => {
                if let Some(known) = self.dialect.symbols.get(name) {
                    let known = known.clone();
                    return self.done(Some(known));
                }
                let text = self.string(name)?;
                let made = owned(&call(py, &names.symbol, (bound(py, &text),))?);
                self.dialect.symbols.insert(name, made.clone());
                return self.done(Some(made));
            }
            TypedValue::Int32(value) => call(py, &names.int32, (value,)),
            TypedValue::Type { path, parameters } => {
                let path = self.path(path)?;
                if parameters {
                    self.claim(1, 512)?;
                    let object_id = self.take_id();
                    let parts = Parts { make: Some(Make::Dialect(JuliaMake::Type(path))), ..Parts::default() };
                    let frame = self.frame(Kind::Lists, None, 1, object_id);
                    return Ok(self.push(Frame { parts: Some(Box::new(parts)), ..frame }));
                }
                self.datatype(&path, PyTuple::empty(py), self.object_id)
            }
            TypedValue::Module(path) => {
                let path = self.path(path)?;
                call(py, &names.module, (bound(py, &path),))
            }
            TypedValue::UnionAll => return self.gather(Make::Dialect(JuliaMake::UnionAll), 2),
            TypedValue::Bottom => return self.done(Some(names.bottom.clone())),
            TypedValue::Anonymous => return self.gather(Make::Dialect(JuliaMake::Anonymous), 2),
        };
        let made = made.map_err(|error| self.refuse(error, at))?;
        self.done(Some(owned(&made)))
    }

    /// A type. One with an id is that of a mutable struct, since others are described wherever they occur.
    fn datatype(&self, path: &Owned, parameters: Bound<'i, PyTuple>, object_id: u32) -> PyResult<Bound<'i, PyAny>> {
        let py = self.py;
        let names = Names::get(py)?;
        let arguments = (bound(py, path), parameters);
        if object_id == NO_ID {
            return call(py, &names.datatype, arguments);
        }
        let mutable = new::dict(py)?;
        mutable.set_item(intern!(py, "mutable"), true)?;
        bound(py, &names.datatype).call(arguments, Some(&mutable))
    }

    /// A value of a primitive type.
    pub(crate) fn bits(&mut self, described: &Described, data: &'i [u8]) -> Result<Option<Owned>> {
        let (py, at) = (self.py, self.here());
        let object = bound(py, &described.object);
        let made = match &described.class {
            Class::Number(class, kind) => {
                let value = read_number(*kind, data)?.ok_or_else(|| decode(WRONG_DATA, at))?;
                match class {
                    Some(class) => call(py, class, (bound(py, &value),)),
                    None => return self.done(Some(value)),
                }
            }
            Class::Bits(function) => call(py, function, (object, new::bytes(py, data)?)),
            // Of a type without a class here: its bytes.
            _ => call(py, &self.dialect.julia.names.bits, (object, new::bytes(py, data)?)),
        };
        let made = made.map_err(|error| self.refuse(error, at))?;
        self.done(Some(owned(&made)))
    }

    /// The names of a path: of modules, and of what is in them.
    pub(crate) fn path(&mut self, path: Path<'i>) -> Result<Owned> {
        let mut names = Vec::new();
        for name in R::path(path) {
            self.charge(64)?;
            names.push(self.string(name?)?);
        }
        let names = PyTuple::new(self.py, names.iter().map(|name| bound(self.py, name)))?;
        Ok(owned(names.as_any()))
    }

    /// Makes the value of a `Lists` or `Gather` frame.
    pub(crate) fn make_typed_value(
        &mut self,
        make: &JuliaMake,
        object: Option<Owned>,
        object_id: u32,
        parts: Vec<Owned>,
        at: usize,
    ) -> Result<Owned> {
        let py = self.py;
        let names = self.dialect.julia.names;
        let list = |parts: &[Owned]| PyList::new(py, parts.iter().map(|part| bound(py, part)));
        let made = match make {
            JuliaMake::Value(described) => match &described.class {
                Class::Made(function) => call(py, function, (bound(py, &described.object), list(&parts)?)),
                _ => return Err(decode(WRONG_DATA, at)),
            },
            JuliaMake::Table(described, _, start) => {
                let (Some(dict), [keys, values]) = (object, &parts[..]) else { return Err(decode(WRONG_DATA, at)) };
                return self.filled(described, dict, object_id, keys, values, (*start, at));
            }
            JuliaMake::Type(path) => match &parts[..] {
                [parameters] => match bound(py, parameters).cast::<PyList>() {
                    Ok(parameters) => self.datatype(path, parameters.to_tuple(), object_id),
                    Err(_) => return Err(decode("a type whose parameters are no list", at)),
                },
                _ => return Err(decode(WRONG_DATA, at)),
            },
            JuliaMake::Simple => call(py, &names.simple_vector, (list(&parts)?,)),
            JuliaMake::UnionAll => {
                call(py, &names.union_all, PyTuple::new(py, parts.iter().map(|part| bound(py, part)))?)
            }
            JuliaMake::Anonymous => {
                call(py, &names.anonymous, PyTuple::new(py, parts.iter().map(|part| bound(py, part)))?)
            }
        };
        let made = owned(&made.map_err(|error| self.refuse(error, at))?);
        if let (JuliaMake::Value(_), Some(table)) = (make, parts.first()) {
            self.defer_members(&made, table)?;
        }
        Ok(made)
    }
}

//! Lisp's files as this dialect decodes them: its hooks in the loop.

use super::call;
use super::known::{Class, FromLisp, LispMake};
use crate::cpython::{held, int, owned, Obj, Owned};
use crate::decode::dialect::Dialect;
use crate::decode::frame::{Frame, Make};
use crate::decode::hashed::Adding;
use crate::decode::{Decoder, Numbered, NO_ID};
use crate::error::{decode, raised, Result};
use crate::memory::Vec;
use crate::schema::node::{accepts, Seq, SeqKind};
use crate::schema::{NodeId, ANY};
use holdall_format::model::{LispReader, LispValue};
use holdall_format::Token;
use pyo3::ffi;
use pyo3::prelude::*;
use pyo3::types::PyList;
use std::ptr::addr_of_mut;

const OUT_OF_PLACE: &str = "a description of objects out of place";

impl<'i, R: LispReader<'i>> Dialect<'i> for FromLisp<'i, R> {
    type Reader = R;
    type Make = LispMake;

    fn hashes_parts(make: &LispMake) -> bool {
        matches!(make, LispMake::Table { .. })
    }

    fn start(decoder: &mut Decoder<'i, Self>) -> Result<()> {
        // Unlike in hold, the outermost value has an id only if it is marked.
        decoder.object_id = NO_ID;
        match decoder.r.more()? {
            true => Ok(()),
            false => Err(decode("expected a value, found the end", decoder.here())),
        }
    }

    fn finish(decoder: &mut Decoder<'i, Self>) -> Result<()> {
        if let Some(at) = decoder.dialect.anew {
            return Err(decode("a value that holds itself in a way that Python has no form for", at));
        }
        decoder.empty_unbound()
    }

    fn lisp_value(decoder: &mut Decoder<'i, Self>, value: LispValue<'i>) -> Result<Option<Owned>> {
        decoder.lisp_value(value)
    }

    fn typed(decoder: &mut Decoder<'i, Self>, token: &Token<'i>, id: NodeId) -> Result<Option<Option<Owned>>> {
        decoder.typed_lisp(token, id)
    }

    fn coerced(decoder: &Decoder<'i, Self>, object: Owned, id: NodeId) -> Result<Owned> {
        decoder.as_wanted(object, id)
    }

    #[inline(always)]
    fn end_of_list(decoder: &mut Decoder<'i, Self>, frame: Option<Frame<LispMake>>) -> Result<Option<Frame<LispMake>>> {
        decoder.end_of_list(frame)
    }

    unsafe fn set_deferred(
        decoder: &mut Decoder<'i, Self>,
        dict: Obj,
        key: Obj,
        value: Obj,
        _: u32,
        at: usize,
    ) -> Result<()> {
        // SAFETY: by the trait's contract all three are alive; they are held from here on.
        let [dict, key, value] = unsafe { [dict, key, value].map(|object| Owned::borrowed(object)) };
        decoder.set_late(&dict, &key, &value, at)
    }

    #[cold]
    fn refers_to_open(decoder: &mut Decoder<'i, Self>, number: u64) -> Result<Option<Owned>> {
        if let Some(placeholder) = decoder.settle_vector(number) {
            return Ok(Some(placeholder));
        }
        decoder.settle_conses(number).map(|()| None)
    }

    #[inline(always)]
    fn tuple(decoder: &mut Decoder<'i, Self>, len: usize) -> Result<Option<Owned>> {
        match decoder.dialect.has_odd {
            true => decoder.simple_vector(len),
            false => decoder.begin_tuple(len, ANY, 0),
        }
    }

    fn skipped(decoder: &mut Decoder<'i, Self>, value: &LispValue<'i>) -> Result<u64> {
        match *value {
            LispValue::Object => Ok(decoder.described()?.slots as u64),
            LispValue::Info { slots } => decoder.describe(slots).map(|_| 0),
            _ => Ok(value.values()),
        }
    }

    fn make(
        decoder: &mut Decoder<'i, Self>,
        make: LispMake,
        object: Option<Owned>,
        object_id: u32,
        gathered: Vec<Owned>,
        at: usize,
    ) -> Result<Owned> {
        let (py, names) = (decoder.py, decoder.dialect.lisp.names);
        let function = match &make {
            LispMake::Dotted { .. } | LispMake::Cells => {
                return decoder.finished_list(&make, object, object_id, gathered, at);
            }
            LispMake::Conses { .. } => {
                let mut gathered = gathered;
                return gathered.pop().ok_or_else(|| decode(OUT_OF_PLACE, at));
            }
            LispMake::Table { header, start } => {
                let Some(table) = object else { return Err(decode("a table that was not made", at)) };
                return decoder.filled(header, table, object_id, gathered, (*start, at));
            }
            LispMake::Array => return decoder.filled_array(object, None, &gathered, at),
            LispMake::Displaced { offset } => return decoder.filled_array(object, Some(*offset), &gathered, at),
            LispMake::Made(described) => match &described.class {
                Class::Made(function) => function,
                _ => return Err(decode(OUT_OF_PLACE, at)),
            },
            LispMake::Pathname => &names.pathname,
            LispMake::Ratio => &names.ratio,
            LispMake::Complex => &names.complex,
        };
        let parts = PyList::new(py, gathered.iter().map(|part| held(py, part)))?;
        let made = call(py, function, (parts,)).map_err(|error| decoder.refuse(error, at))?;
        Ok(owned(&made))
    }

    fn run_lists(decoder: &mut Decoder<'i, Self>) -> Result<Option<Frame<LispMake>>> {
        decoder.run_conses()
    }
}

impl<'i, R: LispReader<'i>> Decoder<'i, FromLisp<'i, R>> {
    #[inline]
    fn lisp_value(&mut self, value: LispValue<'i>) -> Result<Option<Owned>> {
        match value {
            LispValue::List(len) => self.list_of_conses(len, ANY),
            LispValue::Cons => self.conses(true),
            LispValue::Object => self.object(),
            LispValue::Symbol(name) => {
                let made = self.symbol(name)?;
                self.done(Some(made))
            }
            _ => self.other_value(value),
        }
    }

    #[inline(never)]
    fn other_value(&mut self, value: LispValue<'i>) -> Result<Option<Owned>> {
        let (py, at, names) = (self.py, self.here(), self.dialect.lisp.names);
        let made = match value {
            LispValue::List(_) | LispValue::Cons | LispValue::Object | LispValue::Symbol(_) => {
                return Err(decode(OUT_OF_PLACE, at))
            }
            LispValue::Uninterned(name) => {
                // SAFETY: the singleton lives as long as the interpreter.
                let made = self.new_symbol(name, unsafe { Owned::borrowed(ffi::Py_None()) })?;
                return self.done(Some(made));
            }
            LispValue::Bignum { negative, magnitude } => {
                self.charge(magnitude.len())?;
                let mut bytes = Vec::with_capacity(magnitude.len() + 1);
                bytes.extend_from_slice(magnitude);
                bytes.push(0);
                // SAFETY: the GIL is held while a decoder lives.
                let made = unsafe { int::from_bytes(&bytes) }.ok_or_else(raised)?;
                let made = match negative {
                    // SAFETY: `made` is an owned reference.
                    true => unsafe { Owned::new(ffi::PyNumber_Negative(made.get())) }.ok_or_else(raised)?,
                    false => made,
                };
                return self.done(Some(made));
            }
            LispValue::Ratio => return self.gather(Make::Dialect(LispMake::Ratio), 2),
            LispValue::Complex => return self.gather(Make::Dialect(LispMake::Complex), 2),
            LispValue::Pathname => return self.gather(Make::Dialect(LispMake::Pathname), 6),
            LispValue::Single(value) => {
                self.charge(32)?;
                call(py, &names.single, (f64::from(value),))
            }
            LispValue::ComplexSingle(real, imaginary) => {
                self.charge(64)?;
                call(py, &names.complex_single, (f64::from(real), f64::from(imaginary)))
            }
            LispValue::Info { slots } => {
                let outer = self.take_id();
                let described = self.describe(slots)?;
                self.object_id = outer;
                return self.done(Some(described.object.clone()));
            }
            LispValue::KnownInfo(_) => return Err(decode(OUT_OF_PLACE, at)),
            LispValue::Unbound => return self.unbound(),
            LispValue::Vector { element, len, data } => return self.packed(element, None, len, data),
            LispValue::Packed { element, dimensions, len, data } => {
                return self.packed(element, Some(dimensions), len, data)
            }
            LispValue::Array(header) => return self.general(header),
            LispValue::HashTable { count, .. } => return self.table(count),
        };
        let made = owned(&made.map_err(|error| self.refuse(error, at))?);
        self.done(Some(made))
    }

    /// Builds a value as a node of a schema wants it. `None`: it is like a value of any other format.
    fn typed_lisp(&mut self, token: &Token<'i>, id: NodeId) -> Result<Option<Option<Owned>>> {
        let node = self.rules.node(id);
        match *token {
            Token::LispValue(LispValue::List(len)) => match &node.seq {
                Some(Seq { kind: SeqKind::List(item), min: None, max: None }) => {
                    let item = *item;
                    self.list_of_conses(len, item).map(Some)
                }
                _ => self.looked_at(id, |decoder| decoder.list_of_conses(len, ANY)).map(Some),
            },
            Token::LispValue(LispValue::Object) if !node.classes.is_empty() || node.map.is_some() => {
                let object_id = self.take_id();
                let described = self.described()?;
                self.object_id = object_id;
                // Instances of a class that is mapped to the type, else any class with these fields.
                match &described.class {
                    Class::Record if described.by_name.names.len() == described.slots => {
                        self.typed_record(&described.by_name, node, id).map(Some)
                    }
                    _ => self.looked_at(id, |decoder| decoder.begin_object(&described)).map(Some),
                }
            }
            Token::LispValue(value) => self.looked_at(id, |decoder| decoder.lisp_value(value)).map(Some),
            _ => Ok(None),
        }
    }

    /// Fits a finished object to a node: NIL becomes an empty list, an empty dict or False, a list or tuple the sequence that
    /// the node wants.
    fn as_wanted(&self, object: Owned, id: NodeId) -> Result<Owned> {
        let node = self.rules.node(id);
        let (list, tuple) = (addr_of_mut!(ffi::PyList_Type), addr_of_mut!(ffi::PyTuple_Type));
        // SAFETY: `object` is an owned reference; results are new references or null.
        let made = unsafe {
            let class = ffi::Py_TYPE(object.get());
            if object.get() == ffi::Py_None() && node.accepts & accepts::NONE == 0 {
                if node.seq.is_some() {
                    let empty = Owned::new(ffi::PyList_New(0)).ok_or_else(raised)?;
                    return self.as_wanted(empty, id);
                }
                match node.map.is_some() {
                    true => Some(ffi::PyDict_New()),
                    false if node.accepts & accepts::BOOL != 0 => Some(ffi::PyBool_FromLong(0)),
                    false => None,
                }
            } else if class == list || class == tuple {
                match node.seq.as_ref().map(|seq| &seq.kind) {
                    Some(SeqKind::Tuple(_) | SeqKind::Fixed(_) | SeqKind::NamedTuple(_)) if class == list => {
                        Some(ffi::PySequence_Tuple(object.get()))
                    }
                    Some(SeqKind::List(_)) if class == tuple => Some(ffi::PySequence_List(object.get())),
                    Some(kind @ (SeqKind::Set(_) | SeqKind::FrozenSet(_))) => {
                        let set = self.as_set(&object, matches!(kind, SeqKind::FrozenSet(_)))?;
                        return self.rules.coerce(id, set);
                    }
                    Some(SeqKind::Deque(_)) => {
                        let deque =
                            self.py.import("collections")?.getattr("deque")?.call1((held(self.py, &object),))?;
                        return self.rules.coerce(id, owned(&deque));
                    }
                    _ => None,
                }
            } else {
                None
            }
        };
        match made {
            Some(made) => {
                // SAFETY: a new reference, or null with an exception set.
                let made = unsafe { Owned::new(made) }.ok_or_else(raised)?;
                self.rules.coerce(id, made)
            }
            None => self.rules.coerce(id, object),
        }
    }

    /// The members of a list or tuple as a set; those that collide are charged, as a hash table's keys are.
    fn as_set(&self, object: &Owned, frozen: bool) -> Result<Owned> {
        let adding = Adding::new(&self.r, &self.rules.work, self.here()).again();
        let null = std::ptr::null_mut();
        // SAFETY: `object` is an owned reference to a list or tuple; of the tuple, which no code can change, each item is
        // held; nobody else has seen the set.
        unsafe {
            let made = if frozen { ffi::PyFrozenSet_New(null) } else { ffi::PySet_New(null) };
            let made = Owned::new(made).ok_or_else(raised)?;
            let members = Owned::new(ffi::PySequence_Tuple(object.get())).ok_or_else(raised)?;
            for index in 0..ffi::PyTuple_GET_SIZE(members.get()) {
                adding.member(made.get(), ffi::PyTuple_GET_ITEM(members.get(), index), 0)?;
            }
            Ok(made)
        }
    }

    /// All values of a message, as a list: one behind the other they may refer to each other.
    pub fn all_values(&mut self) -> Result<Owned> {
        let list = PyList::empty(self.py);
        self.tables.numbered.push(Numbered::open());
        while self.r.more()? {
            let made = match self.value(ANY, accepts::ALL).map_err(|fault| fault.found(self.here()))? {
                Some(made) => made,
                None => self.run(0)?,
            };
            list.append(held(self.py, &made))?;
        }
        self.finish_deferred(0)?;
        <FromLisp<'i, R> as Dialect<'i>>::finish(self)?;
        Ok(owned(list.as_any()))
    }
}

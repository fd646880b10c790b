//! Structures, objects and conditions: what describes them is read once, then their slots fill instances of a class, or records.

use super::call;
use super::known::{Class, Described, FromLisp, LispMake};
use crate::classes::plan;
use crate::classes::state::{allocate, slot_mut};
use crate::cpython::{fill, held, owned, replace, Owned};
use crate::decode::frame::{Frame, Kind, Make};
use crate::decode::{Decoder, Numbered, NO_ID};
use crate::error::{decode, raised, Result};
use crate::memory::Vec;
use crate::schema::node::accepts;
use crate::shapes::{Build, Shape};
use holdall_format::model::{IndexedReader as _, LispReader, LispValue};
use holdall_format::Token;
use pyo3::ffi;
use pyo3::prelude::*;
use pyo3::types::PyTuple;
use std::rc::Rc;

const NO_INFO: &str = "expected the description of an object, found another value";

impl<'i, R: LispReader<'i>> Decoder<'i, FromLisp<'i, R>> {
    /// Begins an object: its description, then its slots.
    pub(super) fn object(&mut self) -> Result<Option<Owned>> {
        let outer = self.take_id();
        let described = self.described()?;
        self.object_id = outer;
        self.begin_object(&described)
    }

    /// Begins an object of that description: its slots follow.
    pub(super) fn begin_object(&mut self, described: &Rc<Described>) -> Result<Option<Owned>> {
        match &described.class {
            Class::Fields(shape) => self.instance(shape),
            Class::Made(_) => self.gather(Make::Dialect(LispMake::Made(described.clone())), described.slots),
            Class::Record => self.record(described),
        }
    }

    /// What describes an object: new, or known from an earlier one.
    pub(super) fn described(&mut self) -> Result<Rc<Described>> {
        let at = self.here();
        let mut object_id = NO_ID;
        loop {
            match self.r.next()? {
                Token::AssignId if object_id == NO_ID => {
                    object_id = self.add_numbered(Numbered::open()) as u32;
                }
                Token::LispValue(LispValue::Info { slots }) => {
                    let described = self.describe(slots)?;
                    self.whole(object_id, described.object.get());
                    self.knows_as(object_id, &described);
                    return Ok(described);
                }
                Token::LispValue(LispValue::KnownInfo(number)) if object_id == NO_ID => {
                    if let Some(place) = self.r.info_place(number) {
                        return self.described_at(place);
                    }
                    let place = usize::try_from(number).ok().and_then(|number| number.checked_sub(1));
                    let known = place.and_then(|place| self.dialect.described.get(place));
                    return known.cloned().ok_or_else(|| decode(NO_INFO, at));
                }
                Token::Reference(number) if object_id == NO_ID => {
                    if let Some((_, known)) = self.dialect.last.as_ref().filter(|last| last.0 == number) {
                        return Ok(known.clone());
                    }
                    let object = self.object_of(number)?;
                    let known = self.dialect.by_object.get(&(object.get() as usize)).cloned();
                    let known = match known {
                        Some(known) => known,
                        // Built for another part of the message.
                        None if self.r.indexed().is_some() => {
                            let place = self.index()?.place_of(number)?;
                            let described = self.described_at(place)?;
                            self.dialect.by_object.insert(object.get() as usize, described.clone());
                            self.dialect.classes_held.push(object);
                            described
                        }
                        None => return Err(decode(NO_INFO, at)),
                    };
                    self.dialect.last = Some((number, known.clone()));
                    return Ok(known);
                }
                _ => return Err(decode(NO_INFO, at)),
            }
        }
    }

    /// The description that begins there, elsewhere in a message that is read in parts.
    #[cold]
    fn described_at(&mut self, place: R::Place) -> Result<Rc<Described>> {
        let (back, again) = (self.r.place(), self.elsewhere.again);
        self.r.rewind(place);
        let at = self.here();
        let number = self.index()?.counts()?.0 as usize;
        if let Some(again) = &mut self.elsewhere.again {
            again.number = number;
        }
        let described = match self.r.token()? {
            Token::LispValue(LispValue::Info { slots }) => self.describe(slots),
            _ => Err(decode(NO_INFO, at)),
        };
        self.r.rewind(back);
        self.elsewhere.again = again;
        described
    }

    /// Of a part of a message: the object of that id may have been made by another part.
    fn knows_as(&mut self, object_id: u32, described: &Rc<Described>) {
        let object = self.tables.numbered.get(object_id as usize).and_then(|entry| entry.object.clone());
        if let Some(object) = object.filter(|object| object.get() != described.object.get()) {
            self.dialect.by_object.insert(object.get() as usize, described.clone());
            self.dialect.classes_held.push(object);
        }
    }

    /// A description that comes for the first time, as a value too.
    #[cold]
    pub(super) fn describe(&mut self, slots: usize) -> Result<Rc<Described>> {
        let (py, at) = (self.py, self.here());
        self.charge(512 + 64 * slots)?;
        let symbol = self.a_symbol()?;
        let mut names = Vec::new();
        for _ in 0..slots {
            names.push(self.a_symbol()?);
        }
        let names = PyTuple::new(py, names.iter().map(|name| held(py, name)))?;
        let lisp = self.dialect.lisp;
        let of_type =
            call(py, &lisp.names.of_type, (held(py, &symbol), names)).map_err(|error| self.refuse(error, at))?;
        let answer = call(py, &lisp.names.resolve, (&of_type, held(py, &lisp.types)));
        let answer = answer.map_err(|error| self.refuse(error, at))?;
        let class = if answer.is_none() {
            Class::Record
        } else {
            let (class, fields, make): (Bound<'_, PyAny>, Bound<'_, PyTuple>, Bound<'_, PyAny>) = answer.extract()?;
            if make.is_none() {
                let fields: Vec<Owned> = fields.iter().map(|field| owned(&field)).collect();
                // SAFETY: the GIL is held; the answer holds the class now, and `classes_held` from here on.
                let plan = unsafe { plan::of(py, class.as_ptr().cast())? };
                let mut shape = Shape::of_object(fields, plan.version);
                let name: String = class.getattr("__qualname__")?.extract()?;
                self.resolve_shape(&plan, &mut shape, &name, at)?;
                self.dialect.classes_held.push(owned(&class));
                Class::Fields(Rc::new(shape))
            } else {
                Class::Made(owned(&make))
            }
        };
        let mut fields = Vec::new();
        for field in of_type.getattr("fields")?.try_iter()? {
            fields.push(owned(&field?));
        }
        let distinct = fields.len() == slots;
        let by_name = Shape { build: Build::Dict, ..Shape::empty(if distinct { fields } else { Vec::new() }) };
        let by_name = Rc::new(by_name);
        let described = Rc::new(Described { object: owned(&of_type), slots, class, by_name });
        self.dialect.by_object.insert(described.object.get() as usize, described.clone());
        self.dialect.described.push(described.clone());
        Ok(described)
    }

    /// An object that no class is mapped to.
    fn record(&mut self, described: &Described) -> Result<Option<Owned>> {
        let slots = described.slots;
        self.claim(slots, 160 + 8 * slots)?;
        let names = self.dialect.lisp.names;
        let [of_type, values] = names.record_slots;
        // SAFETY: the class is held; the two slots were found in it, and are empty in a fresh instance.
        let (object, list) = unsafe {
            let object = allocate(names.record.get().cast(), 0)?;
            let list = Owned::new(ffi::PyList_New(slots as isize)).ok_or_else(raised)?;
            // What refers to the record from within can see the list.
            fill::pad(list.get());
            replace(slot_mut(object.get(), values), list.clone().into_raw());
            replace(slot_mut(object.get(), of_type), described.object.clone().into_raw());
            (object, list)
        };
        let object_id = self.take_id();
        self.opened(object_id, object.get());
        let mut at = 0;
        while at < slots {
            let Some(value) = self.next_leaf(accepts::ALL)? else { break };
            // SAFETY: a list with a place for each slot.
            unsafe { fill::list_item(list.get(), at, value) };
            at += 1;
        }
        if at == slots {
            self.whole(object_id, object.get());
            return Ok(Some(object));
        }
        // The record below, its values above: what is on top is built first.
        let below = self.frame(Kind::Fields, Some(object), 0, object_id);
        self.push(below);
        let values = self.frame(Kind::List, Some(list), slots, NO_ID);
        Ok(self.push(Frame { at, hand_over: false, ..values }))
    }

    /// The mark of a slot without a value. In an instance of a class the slot is emptied at the end.
    pub(super) fn unbound(&mut self) -> Result<Option<Owned>> {
        let unbound = self.dialect.lisp.names.unbound.clone();
        if let Some(Frame { kind: Kind::Fields, object: Some(object), shape: Some(shape), at, .. }) =
            self.tables.stack.last()
        {
            if let Some(name) = shape.names.get(*at) {
                let slot = (object.clone(), name.clone());
                self.charge(32)?;
                self.dialect.unbound.push(slot);
            }
        }
        self.done(Some(unbound))
    }

    /// Empties the slots that were stored as unbound.
    pub(super) fn empty_unbound(&mut self) -> Result<()> {
        let at = self.here();
        for (object, name) in std::mem::take(&mut self.dialect.unbound) {
            // SAFETY: both are held.
            if unsafe { ffi::PyObject_GenericSetAttr(object.get(), name.get(), std::ptr::null_mut()) } != 0 {
                return Err(self.refuse(PyErr::fetch(self.py), at));
            }
        }
        Ok(())
    }
}

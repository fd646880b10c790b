//! Values that a resolver leaves out: their mark is taken out of the list, dict, set or instance that holds it.

use super::frame::{Frame, Kind, Make, Parts, FIXED, LEARNS_KEYS, ODD};
use super::{Decoder, State, NO_ID};
use crate::classes::defaults::{lacking, shown, Source};
use crate::classes::state::slot_mut;
use crate::cpython::{new, owned, Obj, Owned};
use crate::decode::dialect::Dialect;
use crate::error::{decode, raised, Fault, Result};
use crate::memory::Vec;
use crate::schema::class::Missing;
use crate::shapes::{put, Build, Place, Shape};
use crate::types::resolver::is_skip;
use pyo3::ffi;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList, PySet, PyTuple};
use std::rc::Rc;

pub(crate) const LEFT_OUT: &str =
    "a resolver leaves out a value that what holds it can't be without: answer with a `Value`";

/// Why a value can't be left out.
#[cold]
fn needed(at: usize) -> Fault {
    decode(LEFT_OUT, at)
}

impl<'i, D: Dialect<'i>> Decoder<'i, D> {
    /// Takes the marks out of a full container.
    #[cold]
    #[inline(never)]
    pub(crate) fn leave_out(&mut self, frame: &mut Frame<D::Make>) -> Result<()> {
        let depth = self.tables.stack.len();
        if self.left_out.last() != Some(&depth) {
            return Ok(());
        }
        self.left_out.pop();
        match frame.kind {
            Kind::List => self.shorten_list(frame),
            Kind::Tuple => self.shorten_tuple(frame),
            Kind::Copied | Kind::Keyed | Kind::Expected => {
                // The dict has other keys now than the layout, and is no example for later ones.
                frame.flags = (frame.flags & !LEARNS_KEYS) | ODD;
                let dict = frame.object.as_ref().ok_or_else(|| needed(frame.offset))?;
                without_marks(&self.rules.bound(dict))
            }
            Kind::Fields => self.reset_fields(frame),
            Kind::Typed => self.reset_typed(frame),
            Kind::Gather => self.drop_gathered(frame),
            Kind::Pairs => {
                frame.flags &= !LEARNS_KEYS;
                let dict = frame.object.as_ref().ok_or_else(|| needed(frame.offset))?;
                without_marks(&self.rules.bound(dict))
            }
            Kind::Set | Kind::Append => {
                let members = frame.object.as_ref().ok_or_else(|| needed(frame.offset))?;
                without_marked_members(&self.rules.bound(members))
            }
            Kind::Factory | Kind::Array | Kind::Reduce | Kind::Lists => Err(needed(frame.offset)),
        }
    }

    fn shorten_list(&self, frame: &Frame<D::Make>) -> Result<()> {
        let list = frame.object.as_ref().ok_or_else(|| needed(frame.offset))?;
        // SAFETY: the frame holds a list, and the new list what is put into it.
        unsafe {
            let all = self.rules.bound(list);
            let rest = new::list(self.py)?;
            for item in all.cast::<PyList>().map_err(PyErr::from)?.iter().filter(|item| !is_skip(item.as_ptr())) {
                rest.append(item)?;
            }
            match ffi::PyList_SetSlice(list.get(), 0, isize::MAX, rest.as_ptr()) {
                0 => Ok(()),
                _ => Err(raised()),
            }
        }
    }

    /// A tuple can't become shorter: another one takes its place, unless something refers to it already.
    fn shorten_tuple(&mut self, frame: &mut Frame<D::Make>) -> Result<()> {
        let at = frame.offset;
        let tuple = frame.object.as_ref().ok_or_else(|| needed(at))?;
        let tuple = self.rules.bound(tuple);
        let is_numbered = frame.object_id != NO_ID;
        let is_seen = is_numbered && self.tables.numbered[frame.object_id as usize].state != State::Open;
        if frame.flags & FIXED != 0 || !tuple.is_exact_instance_of::<PyTuple>() || is_seen {
            return Err(needed(at));
        }
        let all = tuple.cast::<PyTuple>().map_err(PyErr::from)?;
        let rest: Vec<Bound<'_, PyAny>> = all.iter().filter(|item| !is_skip(item.as_ptr())).collect();
        let rest = owned(PyTuple::new(self.py, rest.iter())?.as_any());
        if is_numbered {
            self.tables.numbered[frame.object_id as usize].object = Some(rest.clone());
        }
        frame.object = Some(rest);
        Ok(())
    }

    /// Gives the fields whose values are left out their defaults.
    fn reset_fields(&mut self, frame: &Frame<D::Make>) -> Result<()> {
        let at = frame.offset;
        let (Some(object), Some(shape)) = (&frame.object, &frame.shape) else { return Err(needed(at)) };
        let Some(plan) = &shape.plan else { return Err(needed(at)) };
        let place_of = |field: usize| match &shape.build {
            Build::Slots { offsets, .. } => Place::Slot(offsets[field]),
            Build::Mixed { places, .. } | Build::Based { places, .. } => match &places[field] {
                Place::Slot(offset) => Place::Slot(*offset),
                Place::Nowhere => Place::Nowhere,
                _ => Place::Hidden(shape.names[field].clone()),
            },
            _ => Place::Hidden(shape.names[field].clone()),
        };
        let mut gone = Vec::new();
        let mut there = Vec::new();
        let fields = new::dict(self.py)?;
        for field in 0..shape.names.len() {
            let (place, name) = (place_of(field), &shape.names[field]);
            // SAFETY: the frame holds the object, an instance of the class that the places were found for.
            match unsafe { held(self.py, object.get(), &place)? } {
                Some(value) if is_skip(value.get()) => gone.push((name, place)),
                value => {
                    if let Some(value) = value {
                        fields.set_item(self.rules.bound(name), self.rules.bound(&value))?;
                    }
                    there.push(name.clone());
                }
            }
        }
        let declared = plan.declared(self.py)?;
        let defaults = lacking(self.py, plan.class(), &there)?;
        let default_of = |name: &Owned| defaults.iter().find(|default| default.name.get() == name.get());
        // A factory that takes the instance finds all its other fields.
        gone.sort_by_key(|(name, _)| default_of(name).is_some_and(|default| default.source == Source::OfInstance));
        for (name, place) in &gone {
            // SAFETY: as above.
            unsafe { unset(self.py, object.get(), place)? };
            if let Some(default) = default_of(name) {
                let given = match default.source {
                    Source::OfInstance => self.rules.bound(object),
                    _ => fields.clone().into_any(),
                };
                let value = default.value(self.py, &given)?;
                fields.set_item(self.rules.bound(name), self.rules.bound(&value))?;
                // SAFETY: as above.
                unsafe { put(object.get(), place, value, at)? };
                continue;
            }
            let is_required = declared.iter().any(|known| known.required && known.name.get() == name.get());
            if is_required && !plan.registration.as_ref().is_some_and(|known| known.may_lack) {
                return Err(self.lacks(shape, name, at));
            }
        }
        Ok(())
    }

    fn lacks(&self, shape: &Shape, name: &Owned, at: usize) -> Fault {
        let stored = shape.stored_name().unwrap_or_default();
        let why = "is left out by a resolver, and has no default: give it one, or answer with a `Value`";
        decode(format_args!("field `{}` of `{stored}` {why}", shown(name)), at)
    }

    /// The same for an instance that is built by a type.
    fn reset_typed(&mut self, frame: &Frame<D::Make>) -> Result<()> {
        let at = frame.offset;
        let (Some(object), Some(shape)) = (&frame.object, &frame.shape) else { return Err(needed(at)) };
        let Build::Typed(typed) = &shape.build else { return Err(needed(at)) };
        let class = self.class(typed.class)?;
        for member in &typed.steps {
            // SAFETY: the frame holds the object, an instance of the class that the places were found for.
            if unsafe { !holds_mark(self.py, object.get(), &member.place)? } {
                continue;
            }
            match class.fields.get(member.field as usize).map(|field| &field.missing) {
                Some(Missing::Absent) => {
                    // SAFETY: as above.
                    unsafe { unset(self.py, object.get(), &member.place)? }
                }
                Some(_) => self.fill_missing(class, member.field, &member.place, object)?,
                None => return Err(needed(at)),
            }
        }
        Ok(())
    }

    /// Drops marks among gathered values.
    fn drop_gathered(&mut self, frame: &mut Frame<D::Make>) -> Result<()> {
        let at = frame.offset;
        let Some(Parts { gathered, hash_costs, make: Some(make), .. }) = frame.parts.as_deref_mut() else {
            return Err(needed(at));
        };
        let (shape, first) = match make {
            Make::FrozenSet => {
                let marks: Vec<bool> = gathered.iter().map(|member| is_skip(member.get())).collect();
                let mut marked = marks.iter();
                hash_costs.retain(|_| !marked.next().copied().unwrap_or(false));
                gathered.retain(|member| !is_skip(member.get()));
                return Ok(());
            }
            Make::Upgraded(shape) => (shape, 0),
            Make::Record(shape) | Make::Decided(shape) => {
                let first = shape.kind.values(0) as usize;
                (shape, first)
            }
            _ => return Err(needed(at)),
        };
        let build = match &shape.build {
            Build::Upgraded { plan, .. } => Build::Upgraded { plan: plan.clone(), lacking: None },
            Build::Record => Build::Record,
            Build::Decided(decided) => Build::Decided(decided.clone()),
            _ => return Err(needed(at)),
        };
        if gathered.iter().take(first).any(|content| is_skip(content.get())) {
            return Err(needed(at));
        }
        let names = shape.names.iter().zip(gathered.iter().skip(first));
        let names = names.filter(|(_, value)| !is_skip(value.get())).map(|(name, _)| name.clone()).collect();
        *shape = Rc::new(shape.like(build, names));
        gathered.retain(|value| !is_skip(value.get()));
        Ok(())
    }
}

/// Removes the items of a dict that are a mark, or its key is.
fn without_marks(dict: &Bound<'_, PyAny>) -> Result<()> {
    let Ok(items) = dict.cast::<PyDict>() else { return Ok(()) };
    let marked: Vec<Bound<'_, PyAny>> = items
        .iter()
        .filter(|(key, value)| is_skip(key.as_ptr()) || is_skip(value.as_ptr()))
        .map(|(key, _)| key)
        .collect();
    let ordered = items.py().import("collections")?.getattr("OrderedDict")?;
    let is_ordered = items.is_instance(&ordered)?;
    for key in &marked {
        match is_ordered {
            // It keeps an order besides, of which the dict knows nothing.
            true => drop(ordered.call_method1("__delitem__", (items, key))?),
            false => items.del_item(key)?,
        }
    }
    Ok(())
}

/// Removes the marks from a set or a deque, by the builtins' own methods.
fn without_marked_members(members: &Bound<'_, PyAny>) -> Result<()> {
    let py = members.py();
    let class = match members.is_instance_of::<PySet>() {
        true => py.get_type::<PySet>().into_any(),
        false => py.import("collections")?.getattr("deque")?,
    };
    let all = class.call_method1("__iter__", (members,))?;
    let rest: Vec<Bound<'_, PyAny>> = all.try_iter()?.collect::<PyResult<_>>()?;
    if class.is(py.get_type::<PySet>()) {
        for mark in rest.iter().filter(|member| is_skip(member.as_ptr())) {
            class.call_method1("discard", (members, mark))?;
        }
        return Ok(());
    }
    let rest = PyList::new(py, rest.iter().filter(|member| !is_skip(member.as_ptr())).collect::<Vec<_>>().iter())?;
    class.call_method1("clear", (members,))?;
    class.call_method1("extend", (members, rest))?;
    Ok(())
}

/// The `__dict__` of an instance that has one.
fn dict_of(py: Python<'_>, object: Obj) -> Result<Option<Bound<'_, PyDict>>> {
    // SAFETY: callers hold the object; the result is a new reference, or null with an exception.
    unsafe {
        let dict = Owned::new(ffi::PyObject_GenericGetDict(object, std::ptr::null_mut())).ok_or_else(raised)?;
        Ok(Bound::from_borrowed_ptr(py, dict.get()).cast_into().ok())
    }
}

/// What is in a place, if there is something.
///
/// # Safety
/// `object` is an instance of the class that the place was found for.
unsafe fn held(py: Python<'_>, object: Obj, place: &Place) -> Result<Option<Owned>> {
    // SAFETY: by contract the offset and the index are within the object; what is found is held by it.
    unsafe {
        let found = match place {
            Place::Slot(offset) => *slot_mut(object, *offset),
            Place::Attribute(name) | Place::Hidden(name) => {
                let Some(dict) = dict_of(py, object)? else { return Ok(None) };
                return Ok(dict.get_item(Bound::from_borrowed_ptr(py, name.get()))?.map(|value| owned(&value)));
            }
            Place::Item(at) => ffi::PyTuple_GET_ITEM(object, *at as isize),
            Place::Key(name) => ffi::PyDict_GetItemWithError(object, name.get()),
            Place::Nowhere => return Ok(None),
        };
        Ok((!found.is_null()).then(|| Owned::borrowed(found)))
    }
}

/// Whether there is a mark in a place.
///
/// # Safety
/// As [`held`].
unsafe fn holds_mark(py: Python<'_>, object: Obj, place: &Place) -> Result<bool> {
    // SAFETY: by contract.
    Ok(unsafe { held(py, object, place)? }.is_some_and(|value| is_skip(value.get())))
}

/// Empties a place.
///
/// # Safety
/// As [`held`].
unsafe fn unset(py: Python<'_>, object: Obj, place: &Place) -> Result<()> {
    // SAFETY: as for `held`; the slot's reference is released after the slot is empty.
    unsafe {
        match place {
            Place::Slot(offset) => drop(Owned::new(std::ptr::replace(slot_mut(object, *offset), std::ptr::null_mut()))),
            Place::Attribute(name) | Place::Hidden(name) => {
                if let Some(found) = dict_of(py, object)? {
                    found.del_item(Bound::from_borrowed_ptr(py, name.get()))?;
                }
            }
            Place::Key(name) => Bound::from_borrowed_ptr(py, object)
                .cast_into::<PyDict>()
                .map_err(PyErr::from)?
                .del_item(Bound::from_borrowed_ptr(py, name.get()))?,
            Place::Item(_) => return Err(needed(crate::error::NOWHERE)),
            Place::Nowhere => {}
        }
    }
    Ok(())
}

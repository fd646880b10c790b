//! The fields that the message lacks, and what a class does with a complete instance.

use super::super::frame::{Seen, MOST_SEEN};
use super::super::Decoder;
use super::members::place;
use crate::cpython::fill::tuple_item;
use crate::cpython::Owned;
use crate::decode::dialect::Dialect;
use crate::error::{invalid, raised, refusal, Result, Step};
use crate::memory::Vec;
use crate::schema::class::{Class, Field, Missing};
use crate::shapes::typed::{StoredBy, Typed};
use crate::shapes::Place;
use crate::types::extent;
use pyo3::prelude::*;
use pyo3::{ffi, intern};
use std::ptr::addr_of_mut;

impl<'i, D: Dialect<'i>> Decoder<'i, D> {
    /// Fills in the missing fields, then calls what the class has for complete instances.
    #[inline(always)]
    pub(crate) fn after_last(&mut self, typed: &Typed, class: &Class, object: &Owned, seen: Seen) -> Result<()> {
        if typed.form == StoredBy::Keys && !seen.is_full(class.fields.len()) {
            let many = class.fields.len() > MOST_SEEN;
            for field in 0..class.fields.len() {
                let has = if many { has_field(class, field, object)? } else { seen.has(field) };
                if !has {
                    self.fill_missing(class, field as u16, &typed.steps[field].place, object)?;
                }
            }
        }
        self.fill_defaults(typed, class, object, true)?;
        if class.goes_on() {
            self.call_after(class, object)?;
        }
        Ok(())
    }

    /// Fills in the fields that a shape by position lacks. Most are set before the values come, one of which may refer to
    /// the instance; factories that take the instance are called after the values (`of_self`).
    pub(crate) fn fill_defaults(&mut self, typed: &Typed, class: &Class, object: &Owned, of_self: bool) -> Result<()> {
        for (field, place) in &typed.missing {
            if of_self == matches!(class.fields[usize::from(*field)].missing, Missing::FactoryOfSelf(_)) {
                self.fill_missing(class, *field, place, object)?;
            }
        }
        Ok(())
    }

    #[inline(never)]
    pub(crate) fn fill_missing(&mut self, class: &Class, field: u16, at: &Place, object: &Owned) -> Result<()> {
        let Field { name, missing, key, .. } = &class.fields[usize::from(field)];
        let shown = if self.rules.schemaless { key } else { name };
        let Some(value) = self.rules.missing(class, missing, shown, object.get())? else { return Ok(()) };
        if matches!(missing, Missing::Factory(_) | Missing::FactoryOfSelf(_)) {
            // No bytes of the message pay for it.
            self.charge(made_bytes(&value)?)?;
        }
        // SAFETY: `fresh` created the object as an instance of the class that the places were found for.
        unsafe { place(object.get(), at, value, self.here()) }
    }

    #[inline(never)]
    pub(crate) fn call_after(&mut self, class: &Class, object: &Owned) -> Result<()> {
        for (field, function) in &class.converters {
            let name = &class.fields[*field as usize].name;
            // SAFETY: the caller holds the instance, and the class its names and functions; results are new or null.
            unsafe {
                let value = Owned::new(ffi::PyObject_GetAttr(object.get(), name.get())).ok_or_else(raised)?;
                let made = self
                    .users(crate::classes::registry::call(function, value.get()))
                    .map_err(|fault| fault.within(|| Step::Field(name.clone())))?;
                if ffi::PyObject_GenericSetAttr(object.get(), name.get(), made.get()) != 0 {
                    return Err(raised());
                }
            }
        }
        if let Some(validate) = &class.validate {
            self.users(crate::classes::registry::call(validate, object.get()))?;
        }
        if let Some(method) = &class.post_init {
            let mut arguments = Vec::new();
            for default in &class.init_vars {
                match default {
                    Some(default) => arguments.push(default.clone()),
                    None => {
                        return Err(invalid(format_args!(
                            "`{}` takes an `InitVar` without a default, which is not stored",
                            class.name
                        )))
                    }
                }
            }
            self.call_method(object, method, &arguments)?;
        }
        Ok(())
    }

    pub(crate) fn call_method(&self, object: &Owned, method: &Owned, arguments: &[Owned]) -> Result<()> {
        // SAFETY: callers hold the instance, the name and the arguments; results are new references or null.
        unsafe {
            let found = Owned::new(ffi::PyObject_GetAttr(object.get(), method.get())).ok_or_else(raised)?;
            let tuple = Owned::new(ffi::PyTuple_New(arguments.len() as isize)).ok_or_else(raised)?;
            for (at, argument) in arguments.iter().enumerate() {
                tuple_item(tuple.get(), at, argument.clone());
            }
            let called = Owned::new(ffi::PyObject_CallObject(found.get(), tuple.get())).ok_or_else(raised);
            self.users(called).map(drop)
        }
    }

    /// The result of the user's code. An exception is an error about the data, with the code's own message.
    pub(crate) fn users(&self, called: Result<Owned>) -> Result<Owned> {
        called.map_err(|fault| fault.of_user(self.py))
    }
}

/// Whether a field of an instance has a value, found out by reading it.
#[cold]
fn has_field(class: &Class, field: usize, object: &Owned) -> Result<bool> {
    let name = &class.fields[field].name;
    // SAFETY: the caller holds the instance, and the class the name; results are new references or null.
    unsafe {
        let found = match &class.class {
            None => ffi::PyDict_Contains(object.get(), name.get()) == 1,
            // A default that the class itself has as an attribute is found too: such a field needs no value.
            Some(_) => Owned::new(ffi::PyObject_GetAttr(object.get(), name.get())).is_some(),
        };
        if !found && !ffi::PyErr_Occurred().is_null() {
            refusal()?;
        }
        Ok(found)
    }
}

/// The memory of an object that a factory made, without objects that it may hold.
fn made_bytes(object: &Owned) -> Result<usize> {
    /// The headers of the garbage collector and of the allocator.
    const HEAD: usize = 48;
    // SAFETY: `object` is an owned reference and holds its class. `__sizeof__` is called for static types only: C code.
    unsafe {
        let class = ffi::Py_TYPE(object.get());
        let fixed = HEAD + (*class).tp_basicsize.unsigned_abs();
        let is_dict = class == addr_of_mut!(ffi::PyDict_Type);
        if ffi::PyType_HasFeature(class, ffi::Py_TPFLAGS_HEAPTYPE) != 0 {
            // For the instance's attributes.
            return Ok(fixed + 200);
        }
        let has_more = if is_dict { ffi::PyDict_Size(object.get()) != 0 } else { (*class).tp_itemsize == 0 };
        if !has_more || class == addr_of_mut!(ffi::PyList_Type) || crate::cpython::text::is(object.get()) {
            return Ok(fixed + extent(object));
        }
        // It has tables and blocks of its own: an empty deque has a block for 64 items.
        let bound = Bound::from_borrowed_ptr(Python::assume_attached(), object.get());
        Ok(HEAD + bound.call_method0(intern!(bound.py(), "__sizeof__"))?.extract::<usize>()?)
    }
}

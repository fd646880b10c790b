//! Struct sequences, such as the results of `os.stat` and `time.localtime`: tuples of the interpreter's own classes,
//! with additional fields that have no index. All fields are written, the visible ones first; the class takes as many
//! as it has.

use crate::classes::memory;
use crate::cpython::{Obj, Owned, Type};
use crate::error::{decode, raised, refused, Result};
use crate::memory::Vec;
use pyo3::ffi;
use pyo3::prelude::*;

/// The visible and the hidden fields, in order.
///
/// # Safety
/// `object` is a struct sequence.
pub unsafe fn fields(py: Python<'_>, object: Obj) -> Result<Vec<Owned>> {
    // SAFETY: the hidden fields follow the visible ones, and the class says how many there are in all: the interpreter
    // allocates and frees instances by the same attribute.
    unsafe {
        let (_, all) = memory::struct_sequence_lengths(py, ffi::Py_TYPE(object))?;
        let items = std::ptr::addr_of!((*object.cast::<ffi::PyTupleObject>()).ob_item).cast::<Obj>();
        Ok((0..all)
            .map(|at| {
                let item = *items.add(at);
                Owned::borrowed(if item.is_null() { ffi::Py_None() } else { item })
            })
            .collect())
    }
}

/// Mirror of [`fields`].
///
/// # Safety
/// `class` is a struct sequence.
pub unsafe fn build(class: Type, fields: &Owned, at: usize) -> Result<Owned> {
    // SAFETY: the class's own constructor takes a sequence and checks its length.
    unsafe {
        if ffi::PyTuple_CheckExact(fields.get()) == 0 {
            return Err(decode("the fields of a struct sequence are no tuple", at));
        }
        let Some(new) = (*class).tp_new else { return Err(decode("a struct sequence that nobody can make", at)) };
        let args = Owned::new(ffi::PyTuple_Pack(1, fields.get())).ok_or_else(raised)?;
        Owned::new(new(class, args.get(), std::ptr::null_mut()))
            .ok_or_else(|| refused("a struct sequence has another number of fields", at))
    }
}

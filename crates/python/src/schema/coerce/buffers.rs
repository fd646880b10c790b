//! Bytearrays and memoryviews, which formats without a form of their own for them store as bytes.

use super::{Given, Rules, Taken};
use crate::cpython::Owned;
use crate::error::{raised, Result};
use crate::schema::constraint::Constraints;
use crate::schema::node::accepts;
use pyo3::ffi;
use std::ptr::addr_of_mut;

impl<'s> Rules<'s> {
    pub(super) fn bytearray(&self, given: &Given<'_>, bounds: Option<&Constraints>) -> Result<Taken> {
        let made = if given.is(addr_of_mut!(ffi::PyByteArray_Type)) {
            given.object.clone()
        } else if given.kind == accepts::BYTES {
            // SAFETY: `given` holds the object; the result is a new reference or null.
            unsafe { Owned::new(ffi::PyByteArray_FromObject(given.object.get())) }.ok_or_else(raised)?
        } else {
            return Ok(Taken::No);
        };
        self.within(made, bounds, "bytearray")
    }

    pub(super) fn memoryview(&self, given: &Given<'_>, bounds: Option<&Constraints>) -> Result<Taken> {
        let made = if given.is(addr_of_mut!(ffi::PyMemoryView_Type)) {
            given.object.clone()
        } else if given.kind == accepts::BYTES || given.is(addr_of_mut!(ffi::PyByteArray_Type)) {
            // SAFETY: `given` holds the object; the result is a new reference or null.
            unsafe { Owned::new(ffi::PyMemoryView_FromObject(given.object.get())) }.ok_or_else(raised)?
        } else {
            return Ok(Taken::No);
        };
        self.within(made, bounds, "memoryview")
    }
}

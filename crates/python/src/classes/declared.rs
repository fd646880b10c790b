//! The fields that a class declares.

use crate::cpython::{Owned, Type};
use crate::error::{raised, Result};
use crate::memory::Vec;
use pyo3::prelude::*;

/// A field that a class declares.
#[derive(Debug)]
pub struct Declared {
    /// Interned.
    pub name: Owned,
    /// It has no default, and a constructor insists on it.
    pub required: bool,
}

/// The fields that a class declares; none if it declares no fields.
pub fn declared(py: Python<'_>, class: Type) -> Result<Vec<Declared>> {
    // SAFETY: callers hold the class, being a plan's.
    let class = unsafe { Bound::from_borrowed_ptr(py, class.cast()) };
    let found: std::vec::Vec<(Bound<'_, PyAny>, bool)> =
        py.import("holdall._evolution")?.call_method1("declared", (class,))?.extract()?;
    found.into_iter().map(|(name, required)| Ok(Declared { name: interned(name)?, required })).collect()
}

pub fn interned(name: Bound<'_, PyAny>) -> Result<Owned> {
    let mut raw = name.into_ptr();
    // SAFETY: `raw` is a reference of ours to a string, which interning may exchange for an equal string.
    unsafe {
        pyo3::ffi::PyUnicode_InternInPlace(&mut raw);
        Owned::new(raw).ok_or_else(raised)
    }
}

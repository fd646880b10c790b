//! range and slice.

use crate::cpython::owned;
use crate::error::Result;
use crate::memory::Vec;
use crate::types::walker::{TypeWalker, WorkItem};
use holdall_format::model::{KnownType, TypeWriter};
use pyo3::exceptions::PyValueError;
use pyo3::ffi;
use pyo3::intern;
use pyo3::prelude::*;
use std::ptr::addr_of_mut;

pub fn encode<'py, E: TypeWalker<'py>>(encoder: &mut E, known: KnownType, object: &Bound<'_, PyAny>) -> Result<()> {
    encoder.w().known(known);
    let mut parts = Vec::with_capacity(3);
    let py = object.py();
    for name in [intern!(py, "start"), intern!(py, "stop"), intern!(py, "step")] {
        parts.push(WorkItem::Value(owned(&object.getattr(name)?)));
    }
    encoder.then_made(object.as_ptr(), parts);
    Ok(())
}

pub fn build<'py>(py: Python<'py>, known: KnownType, parts: &[Bound<'py, PyAny>]) -> PyResult<Bound<'py, PyAny>> {
    let [start, stop, step] = parts else { return Err(PyValueError::new_err("another count of values")) };
    // SAFETY: both types are static.
    let class = unsafe {
        let class = match known {
            KnownType::PythonRange => addr_of_mut!(ffi::PyRange_Type),
            _ => addr_of_mut!(ffi::PySlice_Type),
        };
        Bound::<PyAny>::from_borrowed_ptr(py, class.cast())
    };
    class.call1((start, stop, step))
}

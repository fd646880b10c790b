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
    // SAFETY: the `Bound`s hold the parts; the type is static; results are new references or null.
    unsafe {
        let made = match known {
            KnownType::PythonRange => {
                let parts = [start.as_ptr(), stop.as_ptr(), step.as_ptr()];
                let class = addr_of_mut!(ffi::PyRange_Type).cast();
                ffi::PyObject_Vectorcall(class, parts.as_ptr(), parts.len(), std::ptr::null_mut())
            }
            _ => ffi::PySlice_New(start.as_ptr(), stop.as_ptr(), step.as_ptr()),
        };
        Bound::from_owned_ptr_or_err(py, made)
    }
}

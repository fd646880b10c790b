//! range and slice.

use crate::cpython::owned;
use crate::error::Result;
use crate::memory::Vec;
use crate::types::walker::{TypeWalker, WorkItem};
use holdall_format::model::{KnownType, TypeWriter};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

pub fn encode<'py, E: TypeWalker<'py>>(encoder: &mut E, known: KnownType, object: &Bound<'_, PyAny>) -> Result<()> {
    encoder.w().known(known);
    let mut parts = Vec::with_capacity(3);
    for name in ["start", "stop", "step"] {
        parts.push(WorkItem::Value(owned(&object.getattr(name)?)));
    }
    encoder.then_made(object.as_ptr(), parts);
    Ok(())
}

pub fn build<'py>(py: Python<'py>, known: KnownType, parts: &[Bound<'py, PyAny>]) -> PyResult<Bound<'py, PyAny>> {
    let [start, stop, step] = parts else { return Err(PyValueError::new_err("another count of values")) };
    let class = if known == KnownType::PythonRange { "range" } else { "slice" };
    py.import("builtins")?.getattr(class)?.call1((start, stop, step))
}

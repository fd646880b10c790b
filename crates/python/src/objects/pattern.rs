//! Compiled regular expressions: pattern and flags. Loading compiles the pattern; nothing is matched.

use super::owned;
use crate::encode::{Encoder, Part};
use crate::error::Result;
use crate::memory::vec;
use holdall_format::model::Known;
use holdall_format::Writer;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyString};

/// `re.DEBUG` prints; it is not part of what a pattern is.
const DEBUG: i64 = 128;
/// The longest pattern that is compiled: compiling is the one thing here that takes more than time in proportion.
const LONGEST: usize = 1 << 16;

pub fn encode<W: Writer>(encoder: &mut Encoder<'_, W>, object: &Bound<'_, PyAny>) -> Result<()> {
    let pattern = object.getattr("pattern")?;
    if !pattern.is_exact_instance_of::<PyString>() && !pattern.is_exact_instance_of::<PyBytes>() {
        return Err(crate::error::encode("can't store a `re.Pattern` that was not compiled of text or bytes"));
    }
    encoder.w.known(Known::Pattern);
    encoder.then(vec![Part::Value(owned(&pattern)), Part::Value(owned(&object.getattr("flags")?))]);
    Ok(())
}

pub fn build<'py>(py: Python<'py>, parts: &[Bound<'py, PyAny>]) -> PyResult<Bound<'py, PyAny>> {
    let [pattern, flags] = parts else { return Err(PyValueError::new_err("another count of values")) };
    let flags: i64 = flags.extract()?;
    if pattern.len()? > LONGEST {
        return Err(PyValueError::new_err("a pattern that long"));
    }
    let is_text = pattern.is_instance_of::<PyString>();
    if !is_text && !pattern.is_instance_of::<PyBytes>() {
        return Err(PyValueError::new_err("a pattern is text or bytes"));
    }
    py.import("re")?.getattr("compile")?.call1((pattern, flags & !DEBUG))
}

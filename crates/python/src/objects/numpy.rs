//! NumPy arrays and scalars. NumPy is optional: nothing here imports it before an object of its own is met.

use super::Family;
use crate::cpython::Type;
use crate::encode::Encoder;
use crate::error::{encode as encode_error, Result};
use holdall_format::Writer;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

pub fn family_of(_py: Python<'_>, _class: Type) -> Result<Option<Family>> {
    Ok(None)
}

pub fn encode_array<W: Writer>(_encoder: &mut Encoder<'_, W>, _object: &Bound<'_, PyAny>) -> Result<()> {
    Err(encode_error("todo"))
}

pub fn encode_scalar<W: Writer>(_encoder: &mut Encoder<'_, W>, _object: &Bound<'_, PyAny>) -> Result<()> {
    Err(encode_error("todo"))
}

pub fn build_array<'py>(_py: Python<'py>, _parts: &[Bound<'py, PyAny>]) -> PyResult<Bound<'py, PyAny>> {
    Err(PyValueError::new_err("todo"))
}

pub fn build_scalar<'py>(_py: Python<'py>, _parts: &[Bound<'py, PyAny>]) -> PyResult<Bound<'py, PyAny>> {
    Err(PyValueError::new_err("todo"))
}

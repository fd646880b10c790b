//! Python objects that may not come to be: PyO3's own functions panic where CPython has no memory for them.

use pyo3::ffi;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict, PyList, PyString};

/// # Safety
/// `object` is null with an exception set, or a new reference to an instance of `T`.
unsafe fn taken<T>(py: Python<'_>, object: super::Obj) -> PyResult<Bound<'_, T>> {
    // SAFETY: says the caller.
    unsafe { Ok(Bound::from_owned_ptr_or_err(py, object)?.cast_into_unchecked()) }
}

pub fn bytes<'py>(py: Python<'py>, content: &[u8]) -> PyResult<Bound<'py, PyBytes>> {
    // SAFETY: as many bytes as are said; the result is a new `bytes`.
    unsafe { taken(py, ffi::PyBytes_FromStringAndSize(content.as_ptr().cast(), content.len() as isize)) }
}

pub fn text<'py>(py: Python<'py>, content: &str) -> PyResult<Bound<'py, PyString>> {
    // SAFETY: as many bytes as are said; the result is a new `str`.
    unsafe { taken(py, ffi::PyUnicode_FromStringAndSize(content.as_ptr().cast(), content.len() as isize)) }
}

pub fn dict(py: Python<'_>) -> PyResult<Bound<'_, PyDict>> {
    // SAFETY: the result is a new dict.
    unsafe { taken(py, ffi::PyDict_New()) }
}

pub fn list(py: Python<'_>) -> PyResult<Bound<'_, PyList>> {
    // SAFETY: the result is a new list.
    unsafe { taken(py, ffi::PyList_New(0)) }
}

//! Python objects whose creation may fail: PyO3's own functions panic if CPython has no memory for them.

use pyo3::ffi;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict, PyList, PyString};

/// # Safety
/// `object` is null with an exception set, or a new reference to an instance of `T`.
unsafe fn taken<T>(py: Python<'_>, object: super::Obj) -> PyResult<Bound<'_, T>> {
    // SAFETY: null becomes the exception that is set; otherwise the reference is ours and of type `T`, by contract.
    unsafe { Ok(Bound::from_owned_ptr_or_err(py, object)?.cast_into_unchecked()) }
}

pub fn bytes<'py>(py: Python<'py>, content: &[u8]) -> PyResult<Bound<'py, PyBytes>> {
    // SAFETY: pointer and length are those of a slice; the result is a new `bytes` or null.
    unsafe { taken(py, ffi::PyBytes_FromStringAndSize(content.as_ptr().cast(), content.len() as isize)) }
}

pub fn text<'py>(py: Python<'py>, content: &str) -> PyResult<Bound<'py, PyString>> {
    // SAFETY: pointer and length are those of a `str`; the result is a new `str` or null.
    unsafe { taken(py, ffi::PyUnicode_FromStringAndSize(content.as_ptr().cast(), content.len() as isize)) }
}

pub fn dict(py: Python<'_>) -> PyResult<Bound<'_, PyDict>> {
    // SAFETY: the result is a new dict or null.
    unsafe { taken(py, ffi::PyDict_New()) }
}

pub fn list(py: Python<'_>) -> PyResult<Bound<'_, PyList>> {
    // SAFETY: the result is a new list or null.
    unsafe { taken(py, ffi::PyList_New(0)) }
}

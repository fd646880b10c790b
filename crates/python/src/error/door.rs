//! The way out to Python: where Rust unwinds for lack of memory, a `MemoryError`.

use super::Fault;
use crate::memory::{forget, OutOfMemory, Vec};
use pyo3::prelude::*;
use pyo3::IntoPyObjectExt;
use std::any::Any;
use std::panic::{catch_unwind, resume_unwind, AssertUnwindSafe};

/// The items of a sequence of a program's own, whose length is nobody else's choice.
pub fn extracted<'py, T>(sequence: &Bound<'py, PyAny>) -> PyResult<Vec<T>>
where
    T: for<'a> FromPyObject<'a, 'py>,
    std::vec::Vec<T>: for<'a> FromPyObject<'a, 'py, Error = PyErr>,
{
    sequence.extract::<std::vec::Vec<T>>().map(Vec::from)
}

/// What a function of the module's does: a lack of memory is a `MemoryError`.
#[inline]
pub fn door<T>(work: impl FnOnce() -> PyResult<T>) -> PyResult<T> {
    let done = catch_unwind(AssertUnwindSafe(|| {
        work().inspect_err(|error| {
            // PyO3 would make the exception after the door, where nobody catches what it does without memory.
            // SAFETY: the GIL is held by whoever was called by Python.
            error.value(unsafe { Python::assume_attached() });
        })
    }));
    forget();
    done.unwrap_or_else(|panic| {
        if panic.is::<OutOfMemory>() || is_of_pyo3(&*panic) {
            Err(no_memory())
        } else {
            resume_unwind(panic)
        }
    })
}

/// The same; what it gives becomes an object of Python's within.
#[inline]
pub fn door_giving<'py, T: IntoPyObject<'py>>(
    py: Python<'py>,
    work: impl FnOnce() -> PyResult<T>,
) -> PyResult<Py<PyAny>> {
    door(|| work()?.into_py_any(py))
}

/// Runs what is to leave everything as it was where it fails; also where memory runs out in it.
pub fn guarded<T>(work: impl FnOnce() -> Result<T, Fault>) -> Result<T, Fault> {
    let mut done = None;
    match door(|| {
        done = Some(work());
        Ok(())
    }) {
        Ok(()) => done.unwrap_or_else(|| Err(no_memory().into())),
        Err(error) => Err(error.into()),
    }
}

/// Whether that is PyO3's panic where CPython could not make a small object: a number, a name, an argument's tuple. It tells
/// `sys.unraisablehook` first; what may be large is made by `cpython::new`. Or that of Rust's `format!` where PyO3 has no memory
/// for the names of the types that its `TypeError` of a cast is to show.
fn is_of_pyo3(panic: &(dyn Any + Send)) -> bool {
    const UNSHOWN: &str = "a formatting trait implementation returned an error when the underlying stream did not";
    let text = panic.downcast_ref::<&str>().copied();
    let text = text.or_else(|| panic.downcast_ref::<String>().map(String::as_str));
    text.is_some_and(|text| text == "PyObject pointer is null" || text.starts_with(UNSHOWN))
}

/// Keeps that panic from being reported as a mistake of ours. To be called once; the hook is this library's own.
pub fn quiet_lack_of_memory() {
    let others = std::panic::take_hook();
    std::panic::set_hook(Box::new(move |info| {
        if !is_of_pyo3(info.payload()) {
            others(info);
        }
    }));
}

/// CPython keeps some of these ready.
#[cold]
pub fn no_memory() -> PyErr {
    // SAFETY: the GIL is held by whoever was called by Python.
    unsafe {
        pyo3::ffi::PyErr_NoMemory();
        PyErr::fetch(Python::assume_attached())
    }
}

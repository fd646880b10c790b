//! The way out to Python: where Rust unwinds for lack of memory, the caller gets a `MemoryError`.

use super::Fault;
use crate::cpython::stack;
use crate::memory::{forget, OutOfMemory, Vec};
use pyo3::exceptions::PyRecursionError;
use pyo3::prelude::*;
use pyo3::IntoPyObjectExt;
use std::any::Any;
use std::panic::{catch_unwind, resume_unwind, AssertUnwindSafe};

/// The items of a sequence that the program itself passed, so its length is trusted.
pub fn extracted<'py, T>(sequence: &Bound<'py, PyAny>) -> PyResult<Vec<T>>
where
    T: for<'a> FromPyObject<'a, 'py>,
    std::vec::Vec<T>: for<'a> FromPyObject<'a, 'py, Error = PyErr>,
{
    sequence.extract::<std::vec::Vec<T>>().map(Vec::from)
}

/// Runs the body of a function of the module; running out of memory becomes a `MemoryError`, and running out of stack, where a hook
/// calls such a function again and again, a `RecursionError` beforehand.
#[inline]
pub fn door<T>(work: impl FnOnce() -> PyResult<T>) -> PyResult<T> {
    if stack::is_short() {
        return Err(too_deep());
    }
    let done = catch_unwind(AssertUnwindSafe(|| {
        work().inspect_err(|error| {
            // PyO3 would create the exception behind the door, where a panic for lack of memory isn't caught.
            // SAFETY: Python called the function, so the GIL is held.
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

#[cold]
fn too_deep() -> PyErr {
    PyRecursionError::new_err(
        "maximum recursion depth exceeded: calls of holdall within its hooks leave too little of the stack",
    )
}

/// The same for a result that is converted to a Python object, also within the door.
#[inline]
pub fn door_giving<'py, T: IntoPyObject<'py>>(
    py: Python<'py>,
    work: impl FnOnce() -> PyResult<T>,
) -> PyResult<Py<PyAny>> {
    door(|| work()?.into_py_any(py))
}

/// Runs work whose failure must leave everything as it was, including a failure for lack of memory.
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

/// Whether it is PyO3's panic when CPython can't make a small object: a number, a name, a tuple of arguments. (It calls
/// `sys.unraisablehook` first; objects that may be large are made by `cpython::new`.) Or the panic of Rust's `format!`
/// when PyO3 has no memory for the type names in the `TypeError` of a cast.
fn is_of_pyo3(panic: &(dyn Any + Send)) -> bool {
    const UNSHOWN: &str = "a formatting trait implementation returned an error when the underlying stream did not";
    let text = panic.downcast_ref::<&str>().copied();
    let text = text.or_else(|| panic.downcast_ref::<String>().map(String::as_str));
    text.is_some_and(|text| text == "PyObject pointer is null" || text.starts_with(UNSHOWN))
}

/// Keeps that panic from being reported as a bug. To be called once; the hook is this library's own.
pub fn quiet_lack_of_memory() {
    let others = std::panic::take_hook();
    std::panic::set_hook(Box::new(move |info| {
        if !is_of_pyo3(info.payload()) {
            others(info);
        }
    }));
}

/// A `MemoryError`; CPython keeps some of them ready.
#[cold]
pub fn no_memory() -> PyErr {
    // SAFETY: Python called the function, so the GIL is held.
    unsafe {
        pyo3::ffi::PyErr_NoMemory();
        PyErr::fetch(Python::assume_attached())
    }
}

//! What schemaless formats have in addition to builtin types: points in time, and values of an application.

use crate::cpython::owned;
use crate::cpython::{new, Owned};
use crate::error::{decode, Result};
use crate::schema::time;
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::PyType;

/// A point in time as a datetime in UTC, rounded or cut to the microsecond.
pub fn of_timestamp(seconds: i64, nanoseconds: u32, cut: bool, at: usize) -> Result<Owned> {
    match time::moment(seconds, nanoseconds, cut)? {
        Some(made) => Ok(made),
        None => Err(decode("a timestamp beyond the years 1 to 9999, which datetime has not", at)),
    }
}

/// A value of an application's own type: what the hook returns, or an `Ext`.
pub fn of_extension(py: Python<'_>, code: i8, data: &[u8], hook: Option<&Owned>) -> Result<Owned> {
    let arguments = (code, new::bytes(py, data)?);
    let made = match hook {
        // SAFETY: the options hold the hook.
        Some(hook) => unsafe { Bound::from_borrowed_ptr(py, hook.get()) }.call1(arguments)?,
        None => {
            static EXT: PyOnceLock<Py<PyType>> = PyOnceLock::new();
            EXT.import(py, "holdall._values", "Ext")?.call1(arguments)?
        }
    };
    Ok(owned(&made))
}

/// The same point in time as a `Timestamp`, which keeps its nanoseconds.
pub fn exact_timestamp(py: Python<'_>, seconds: i64, nanoseconds: u32) -> Result<Owned> {
    static TIMESTAMP: PyOnceLock<Py<PyType>> = PyOnceLock::new();
    Ok(owned(&TIMESTAMP.import(py, "holdall._values", "Timestamp")?.call1((seconds, nanoseconds))?))
}

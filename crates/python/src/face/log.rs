//! Logs: records appended to a file, and read again one by one.

pub mod check;
mod reader;
mod writer;

pub use reader::LogReader;
pub use writer::LogWriter;

use pyo3::prelude::*;

/// A part of a file that can't be read.
///
/// offset: where it begins, in bytes from the file's start. size: how many bytes it takes. reason: what is wrong.
#[pyclass(module = "holdall", frozen, get_all, eq)]
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Damage {
    offset: u64,
    size: u64,
    reason: String,
}

#[pymethods]
impl Damage {
    fn __repr__(&self) -> String {
        format!("Damage(offset={}, size={}, reason={:?})", self.offset, self.size, self.reason)
    }
}

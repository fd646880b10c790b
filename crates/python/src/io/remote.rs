//! Files that lie elsewhere: an anonymous map of its size, into which ranges of it are brought when they are needed.

use crate::cpython::{attached, View};
use crate::io::descriptor::Descriptor;
use crate::io::streams::Raised;
use crate::memory::Vec;
use pyo3::ffi;
use pyo3::prelude::*;
use std::io;
use std::ops::Range;

/// What brings them: a Python object with two methods. `bring(start, end)` returns when those bytes of the file are in the map, and
/// `room(size)` gives a map for other bytes, in which only what is written takes memory.
pub struct Remote(Py<PyAny>);

impl Remote {
    pub fn new(source: &Bound<'_, PyAny>) -> Remote {
        Remote(source.clone().unbind())
    }

    pub fn bring(&self, py: Python<'_>, range: Range<u64>) -> PyResult<()> {
        self.0.call_method1(py, "bring", (range.start, range.end)).map(drop)
    }

    /// Memory of zeros.
    pub fn room(&self, py: Python<'_>, size: u64) -> PyResult<View> {
        View::with(self.0.call_method1(py, "room", (size,))?.bind(py), ffi::PyBUF_WRITABLE)
    }
}

/// A file that is read at any offset.
pub enum Random {
    File(Descriptor),
    /// A Python object with a `size` and a method `read_at(offset, len)`, which gives some bytes from there, and none at the end alone.
    Elsewhere(Py<PyAny>),
}

impl Random {
    /// Of a descriptor, which is closed when this is dropped, or of such an object; `None` if it is neither.
    pub fn of(object: &Bound<'_, PyAny>) -> PyResult<Option<Random>> {
        if let Some(file) = Descriptor::of(object, true)? {
            return Ok(Some(Random::File(file)));
        }
        Ok(object.hasattr("read_at")?.then(|| Random::Elsewhere(object.clone().unbind())))
    }

    /// Up to `len` bytes at that offset, fewer only at the end.
    pub fn read_at(&self, at: u64, len: usize, raised: &mut Raised) -> io::Result<Vec<u8>> {
        let object = match self {
            Random::File(file) => return file.read_at(at, len),
            Random::Elsewhere(object) => object,
        };
        raised.keep(attached(|py| {
            let mut bytes = Vec::new();
            while bytes.len() < len {
                let part = object.call_method1(py, "read_at", (at + bytes.len() as u64, len - bytes.len()))?;
                let part = View::new(part.bind(py))?;
                if part.len() == 0 {
                    break;
                }
                bytes.extend_from_slice(part.as_slice());
            }
            Ok(bytes)
        }))
    }

    pub fn size(&self, raised: &mut Raised) -> io::Result<u64> {
        match self {
            Random::File(file) => file.size(),
            Random::Elsewhere(object) => raised.keep(attached(|py| object.getattr(py, "size")?.extract(py))),
        }
    }

    /// Whether it may grow while it is read.
    pub fn may_grow(&self) -> bool {
        matches!(self, Random::File(_))
    }
}

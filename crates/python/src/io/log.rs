//! Logs: records are appended to a file and read one by one.

pub mod check;
mod reader;
mod restarts;
mod writer;

pub use reader::LogReader;
pub use writer::LogWriter;

use crate::error::door;
use crate::memory::forget;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use std::panic::{catch_unwind, AssertUnwindSafe};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};

/// State that one call at a time may use, and that may be closed at any time.
pub struct InUse<T> {
    /// Taken out while it is used: a hook or another thread finds nothing. In a box, as that happens for every record.
    state: Mutex<Option<Box<T>>>,
    closed: AtomicBool,
}

impl<T> InUse<T> {
    fn new(state: T) -> Self {
        InUse { state: Mutex::new(Some(Box::new(state))), closed: AtomicBool::new(false) }
    }

    fn with<U>(&self, act: impl FnOnce(&mut T) -> PyResult<U>) -> PyResult<U> {
        let taken = self.state.lock().unwrap_or_else(PoisonError::into_inner).take();
        let Some(mut state) = taken else {
            let why = if self.is_closed() { "the log is closed" } else { "the log is in use" };
            return Err(PyValueError::new_err(why));
        };
        // Also if memory runs out: the log stays open.
        let done = door(|| act(&mut state));
        let mut place = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        // If it was closed meanwhile, it is dropped now.
        if !self.is_closed() {
            *place = Some(state);
        }
        done
    }

    /// What `act` makes, if nobody uses the state. `act` runs no code of the program's, and leaves everything as it was if it makes nothing.
    #[inline(always)]
    fn at_once<U>(&self, act: impl FnOnce(&mut T) -> Option<U>) -> Option<U> {
        let mut place = self.state.try_lock().ok()?;
        let state = place.as_mut()?;
        // If memory runs out, or it panics, `with` will meet that again, and says so.
        let made = catch_unwind(AssertUnwindSafe(|| act(state)));
        forget();
        made.ok().flatten()
    }

    fn is_closed(&self) -> bool {
        self.closed.load(Ordering::Acquire)
    }

    fn close(&self) {
        self.closed.store(true, Ordering::Release);
        self.state.lock().unwrap_or_else(PoisonError::into_inner).take();
    }
}

/// A part of a file that can't be read.
///
/// offset: where it begins, in bytes from the file's start. size: its length in bytes. reason: what is wrong.
///
/// >>> with holdall.Writer("torn.log") as log:
/// ...     at = log.write({"event": "start"})
/// >>> import os
/// >>> os.truncate("torn.log", os.path.getsize("torn.log") - 3)
/// >>> [(damage.offset, damage.size) for damage in holdall.verify("torn.log").damage]
/// [(75, 28)]
#[pyclass(module = "holdall", frozen, get_all, eq)]
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Damage {
    offset: u64,
    size: u64,
    reason: String,
}

#[pymethods]
impl Damage {
    #[new]
    fn new(offset: u64, size: u64, reason: String) -> Damage {
        Damage { offset, size, reason }
    }

    fn __repr__(&self) -> String {
        format!("Damage(offset={}, size={}, reason={:?})", self.offset, self.size, self.reason)
    }
}

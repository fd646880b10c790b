//! The buffers and tables that one call of `dumps` leaves for the next.

use super::output::Output;
use super::Tables;
use crate::error::Fault;
use pyo3::prelude::*;
use std::cell::Cell;

/// What a call of `dumps` uses and the next uses again.
pub struct Scratch {
    pub output: Output,
    pub tables: Tables,
}

impl Scratch {
    pub fn new() -> Box<Scratch> {
        Box::new(Scratch { output: Output::new(), tables: Tables::new() })
    }
}

thread_local! {
    /// Taken for the length of a call: one within another (in a hook) makes its own.
    pub(super) static SCRATCH: Cell<Option<Box<Scratch>>> = const { Cell::new(None) };
    /// The same of the next member of a set.
    pub(super) static SMALL_SCRATCH: Cell<Option<Box<Scratch>>> = const { Cell::new(None) };
}

/// Runs `work` with scratch buffers, which goes if that unwinds: nobody knows in what state it is.
pub fn with_scratch<T>(work: impl FnOnce(&mut Scratch) -> Result<T, Fault>) -> PyResult<T> {
    let mut scratch = SCRATCH.take().unwrap_or_else(Scratch::new);
    let result = work(&mut scratch);
    scratch.output.reset();
    SCRATCH.set(Some(scratch));
    result.map_err(|fault| fault.into_py(0))
}

//! The buffers and tables that one call of `dumps` leaves for the next.

use super::output::Output;
use super::Tables;
use crate::error::Fault;
use pyo3::prelude::*;
use std::cell::Cell;

/// Buffers and tables that the next call of `dumps` reuses.
pub struct Scratch {
    pub output: Output,
    pub tables: Tables,
}

impl Scratch {
    pub fn new() -> Box<Scratch> {
        Box::new(Scratch { output: Output::new(), tables: Tables::new() })
    }

    /// Empties what holds objects: a thread that ends drops its scratch without the GIL.
    #[inline(always)]
    pub(super) fn let_go(&mut self) {
        self.output.reset();
        self.tables.shapes.clear();
    }
}

thread_local! {
    /// Taken out during a call: a nested call (from a hook) makes its own.
    pub(super) static SCRATCH: Cell<Option<Box<Scratch>>> = const { Cell::new(None) };
    /// The same for writing the members of sets one by one.
    pub(super) static SMALL_SCRATCH: Cell<Option<Box<Scratch>>> = const { Cell::new(None) };
}

/// Runs `work` with the scratch buffers. They are dropped if it unwinds, because their state is unknown then.
pub fn with_scratch<T>(work: impl FnOnce(&mut Scratch) -> Result<T, Fault>) -> PyResult<T> {
    let mut scratch = SCRATCH.take().unwrap_or_else(Scratch::new);
    let result = work(&mut scratch);
    scratch.let_go();
    SCRATCH.set(Some(scratch));
    result.map_err(|fault| fault.into_py(0))
}

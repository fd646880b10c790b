//! The buffers and tables that one call of `dumps` leaves for the next.

use super::output::Output;
use super::Tables;
use crate::error::Fault;
use crate::state::{Left, Name, StateSlot};
use pyo3::prelude::*;

/// Buffers and tables that the next call of `dumps` reuses.
pub struct Scratch {
    pub output: Output,
    pub tables: Tables,
}

impl Scratch {
    pub fn new() -> Box<Scratch> {
        Box::new(Scratch { output: Output::new(), tables: Tables::new() })
    }

    /// Empties what holds objects: they are the user's.
    #[inline(always)]
    pub(super) fn let_go(&mut self) {
        self.output.reset();
        self.tables.shapes.clear();
    }
}

// SAFETY: no other slot has this name.
static SCRATCH: StateSlot<Left<Scratch>> = unsafe { StateSlot::new(Name::Output) };
/// For writing the members of sets one by one.
// SAFETY: no other slot has this name.
pub(super) static SMALL_SCRATCH: StateSlot<Left<Scratch>> = unsafe { StateSlot::new(Name::OutputOfMembers) };

/// Runs `work` with the scratch buffers. They are dropped if it unwinds, because their state is unknown then.
pub fn with_scratch<T>(py: Python<'_>, work: impl FnOnce(&mut Scratch) -> Result<T, Fault>) -> PyResult<T> {
    let mut scratch = SCRATCH.take(py).unwrap_or_else(Scratch::new);
    let result = work(&mut scratch);
    scratch.let_go();
    SCRATCH.set(py, scratch);
    result.map_err(|fault| fault.into_py(0))
}

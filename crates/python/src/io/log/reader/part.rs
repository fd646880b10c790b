//! Parts of a log, each of which is read by itself.

use crate::cpython::detached;
use crate::io::log::reader::input::Input;
use crate::io::log::reader::{State, Step};
use crate::io::log::restarts::first_restart;
use crate::io::streams::Raised;
use pyo3::prelude::*;
use std::ops::Range;

/// A part of a log: from the first restart that begins in it, or the log's start, up to the first one behind.
pub struct Part {
    pub range: Range<u64>,
    /// Where that one is, once it matters.
    pub limit: Option<u64>,
}

impl State {
    /// Whether a part of the log is over. Where the next one begins is decided by the bytes alone, whatever was read before: so no
    /// record is in two parts, or in none.
    pub(crate) fn is_behind_part(&mut self, py: Python<'_>) -> PyResult<bool> {
        let offset = self.offset();
        let Some(part) = self.part.as_ref().filter(|part| offset >= part.range.end) else { return Ok(false) };
        let limit = match part.limit {
            Some(limit) => limit,
            None => self.first_restart(py, part.range.end, u64::MAX)?.unwrap_or(u64::MAX),
        };
        if let Some(part) = &mut self.part {
            part.limit = Some(limit);
        }
        Ok(offset >= limit)
    }

    fn first_restart(&self, py: Python<'_>, from: u64, end: u64) -> PyResult<Option<u64>> {
        let Input::File(file) = &self.input else { return Ok(None) };
        let mut raised = Raised::default();
        let found = detached(py, || first_restart(|at, len| file.read_at(at, len, &mut raised), from, end));
        found.map_err(|error| raised.or(&error))
    }

    /// Goes to where a part of the log begins.
    pub(crate) fn start_part(&mut self, py: Python<'_>, range: Range<u64>) -> PyResult<Step> {
        match self.first_restart(py, range.start, range.end)? {
            Some(at) => (self.base, self.started) = (at, true),
            None => self.ended = true,
        }
        Ok(Step::Again)
    }
}

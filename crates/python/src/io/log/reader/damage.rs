//! Damaged parts of a log, and where it continues after them.

use crate::error::Fault;
use crate::io::log::reader::input::Input;
use crate::io::log::reader::{Repair, State, Step};
use crate::io::log::Damage;
use crate::io::remote::Random;
use crate::memory::Vec;
use holdall_format::hold::log::Search;
use holdall_format::Error;
use pyo3::prelude::*;

/// A damaged part whose end isn't known yet.
pub struct Lost {
    offset: u64,
    error: Error,
    /// The log's size when the damage was found, or `u64::MAX`: if the log grows, the search starts again from the
    /// damage.
    size: u64,
    search: Search,
    /// No intact frame follows it so far.
    is_last: bool,
}

impl State {
    /// Records the damage between two offsets, or raises it.
    pub(crate) fn damaged(&mut self, repair: Repair, offset: u64, end: u64, error: &Error) -> PyResult<()> {
        if repair == Repair::None {
            self.ended = true;
            return Err(Fault::from(error.clone()).into_py(0));
        }
        self.damage.push(Damage { offset, size: end.saturating_sub(offset), reason: error.to_string() });
        Ok(())
    }

    /// Records the damage up to `end`, and continues there.
    pub(crate) fn pass(&mut self, repair: Repair, end: usize, error: &Error) -> PyResult<Step> {
        self.damaged(repair, self.offset(), self.base + end as u64, error)?;
        self.at = end;
        Ok(Step::Again)
    }

    /// The log ends with the damage that begins at `offset`.
    pub(crate) fn end(&mut self, py: Python<'_>, repair: Repair, offset: u64, error: &Error) -> PyResult<Step> {
        self.ended = true;
        let end = match self.size(py)? {
            // Nobody will see it.
            _ if repair == Repair::None => offset,
            Some(size) => size,
            None => {
                // The size is only known by reading to the end; nothing is kept.
                self.last = None;
                loop {
                    self.at = self.bytes.len();
                    if self.read(py, 0)? == 0 {
                        break self.offset();
                    }
                }
            }
        };
        self.damaged(repair, offset, end, error)?;
        Ok(Step::End)
    }

    /// Waits for the rest of an incomplete frame. The next writer may cut it off, so it will be read again.
    pub(crate) fn wait(&mut self) -> Step {
        if matches!(self.input, Input::File(Random::File(_))) {
            self.bytes.truncate(self.at);
        }
        Step::Pause
    }

    /// Continues after a damage whose end isn't known. Only what may belong to a frame is kept in memory.
    pub(crate) fn lose(&mut self, py: Python<'_>, error: Error) -> PyResult<Step> {
        let (offset, size) = (self.offset(), self.size(py)?.unwrap_or(u64::MAX));
        self.lost = Some(Lost { offset, error, size, search: Search::new(offset + 1, size), is_last: false });
        if let Some(last) = self.last.as_mut().filter(|last| last.unpacked.is_none()) {
            last.unpacked = Some(Vec::from(&self.bytes[last.at.clone()]));
            last.at = 0..last.at.len();
        }
        Ok(Step::Again)
    }

    /// Searches for the next intact frame.
    pub(crate) fn look_on(&mut self, py: Python<'_>, repair: Repair, follow: bool, mut lost: Lost) -> PyResult<Step> {
        if lost.is_last {
            if self.size(py)? != Some(lost.size) {
                return Ok(Step::Again);
            }
            self.lost = Some(lost);
            return Ok(Step::Pause);
        }
        if let Some(found) = lost.search.next(&self.bytes, self.base) {
            self.at = found.at;
            if repair != Repair::Skip {
                return self.end(py, repair, lost.offset, &lost.error);
            }
            self.damaged(repair, lost.offset, self.offset(), &lost.error)?;
            return Ok(Step::Again);
        }
        self.at = crate::io::log::reader::place(lost.search.needs().saturating_sub(self.base));
        // Doubling the amount limits how often the kept bytes are moved.
        let wanted = 2 * (self.bytes.len() - self.at);
        let is_more = self.base + (self.bytes.len() as u64) < lost.size;
        // Stored again, in case reading fails.
        self.lost = Some(lost);
        if is_more && self.read(py, wanted)? > 0 {
            return Ok(Step::Again);
        }
        let Some(lost) = self.lost.take() else { return Ok(Step::Again) };
        match self.size(py)? {
            Some(size) if follow || size != lost.size => {
                (self.base, self.at, self.intact) = (lost.offset, 0, 0);
                self.bytes.clear();
                if size == lost.size {
                    self.lost = Some(Lost { is_last: true, ..lost });
                    return Ok(Step::Pause);
                }
                Ok(Step::Again)
            }
            None if self.may_grow(follow) => {
                self.lost = Some(lost);
                Ok(Step::Pause)
            }
            _ => self.end(py, repair, lost.offset, &lost.error),
        }
    }
}

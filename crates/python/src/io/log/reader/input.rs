//! Where a log's bytes come from, and how more of them are read.

use crate::cpython::detached;
use crate::decode::{small, Options};
use crate::error::door;
use crate::io::log::reader::{Last, State};
use crate::io::remote::Random;
use crate::io::streams::{Raised, Stream};
use holdall_format::hold::log::{self, Next};
use holdall_format::hold::{frame, Reader};
use pyo3::prelude::*;
use std::io::{self, Read};

/// The least that is read at once.
const STEP: usize = 1 << 18;

pub enum Input {
    /// A file, read at any offset.
    File(Random),
    Stream(Stream),
    /// Bytes that the program passes in.
    Fed,
}

impl State {
    /// What stands next.
    pub(crate) fn next(&mut self) -> Next {
        if self.at >= self.intact {
            // Of bytes that were not compared when they were read: a log's first, and those that the program passes in.
            let near = self.bytes.len().min(self.at.saturating_add(STEP));
            self.intact = log::intact(&self.bytes[..near], self.at, self.base);
        }
        match self.at < self.intact {
            true => log::next_within(&self.bytes, self.at, self.base),
            false => log::next(&self.bytes, self.at, self.base),
        }
    }

    /// The next record, if it is among those whose checksums were compared, and small: most calls come this way. `None`: it is something
    /// else, and nothing has changed.
    #[inline(always)]
    pub(crate) fn small_record(&mut self, py: Python<'_>, options: &Options) -> Option<Py<PyAny>> {
        let is_usual = self.at < self.intact
            && self.lost.is_none()
            && !options.trust
            && self.chance.is_good()
            && self.part.as_ref().is_none_or(|part| self.offset() < part.range.end);
        if !is_usual {
            return None;
        }
        let range = log::record_within(&self.bytes, self.at)?;
        let body = &self.bytes[range.clone()];
        let (window, named, message) = log::record(body).ok()?;
        if !self.has(window, named) {
            return None;
        }
        // SAFETY: `py` proves that the GIL is held.
        let made = unsafe {
            small::made_by(&mut Reader::new(message, false).ok()?, options, self.window.before(), &self.chance)?
        };
        let at = range.end - message.len()..range.end;
        self.allowance.add(frame::HEAD + body.len());
        (self.at, self.record) = (range.end + frame::TAIL, self.record + 1);
        self.last = Some(Last { at, unpacked: None, named: self.named() });
        // SAFETY: `made` is a reference of ours, which the `Bound` takes over.
        Some(unsafe { Bound::from_owned_ptr(py, made.into_raw()) }.unbind())
    }

    /// Reads more; returns how many bytes.
    pub(crate) fn read(&mut self, py: Python<'_>, wanted: usize) -> PyResult<usize> {
        self.read_and(py, wanted, |_, at, _| at)
    }

    /// The same, at the end of frames. Checksums are compared here, for all frames that came, where other threads may go on meanwhile:
    /// it takes a third of the time of small records, and who receives the next bytes needs the GIL for it.
    pub(crate) fn read_frames(&mut self, py: Python<'_>, wanted: usize) -> PyResult<usize> {
        self.read_and(py, wanted, log::intact)
    }

    /// look: gives how far the bytes are intact from a place on, of bytes that begin so far into the log.
    fn read_and(&mut self, py: Python<'_>, wanted: usize, look: fn(&[u8], usize, u64) -> usize) -> PyResult<usize> {
        // Bytes that are done with are dropped from time to time. The last record is kept until its names have been
        // read.
        let kept = self.last.as_ref().filter(|last| last.unpacked.is_none());
        let done = kept.map_or(self.at, |last| last.at.start.min(self.at));
        if done > STEP {
            self.bytes.drain(..done);
            (self.base, self.at) = (self.base + done as u64, self.at - done);
            self.intact = self.intact.saturating_sub(done);
            if let Some(last) = self.last.as_mut().filter(|last| last.unpacked.is_none()) {
                last.at = last.at.start - done..last.at.end - done;
            }
        }
        let have = self.bytes.len();
        // The writer of a followed log may have cut off an incomplete frame, so that is read again with the rest.
        let from = if self.is_followed { self.at } else { have };
        // At most doubles what there is: the length that a damaged head claims may not exist.
        let step = (have - from) + wanted.saturating_sub(have - self.at).clamp(STEP, have.max(STEP));
        let at = self.base + from as u64;
        let (base, intact) = (self.base, if self.is_followed { self.at } else { self.at.max(self.intact) });
        let mut raised = Raised::default();
        let (bytes, input, until) = (&mut self.bytes, &mut self.input, &mut self.intact);
        let read = door(|| {
            let read = detached(py, || {
                let count = match input {
                    Input::File(file) => {
                        let more = file.read_at(at, step, &mut raised)?;
                        bytes.truncate(from);
                        bytes.extend_from_slice(&more);
                        bytes.len().saturating_sub(have)
                    }
                    Input::Stream(stream) => {
                        bytes.resize(have + step, 0);
                        let count = stream.read(&mut bytes[have..]);
                        raised.0 = stream.raised.0.take();
                        count?
                    }
                    Input::Fed => 0,
                };
                *until = look(&bytes[..bytes.len().min(have + count)], intact, base);
                io::Result::Ok(count)
            });
            read.map_err(|error| raised.or(&error))
        });
        if !self.is_followed {
            // Space that was made and not filled is not part of the log.
            self.bytes.truncate(have + read.as_ref().map_or(0, |count| *count));
        }
        read
    }

    /// Whether more bytes may arrive.
    pub(crate) fn may_grow(&self, follow: bool) -> bool {
        follow || (matches!(self.input, Input::Fed) && !self.fed_whole)
    }

    /// The present size of the log, if it can be known.
    pub(crate) fn size(&self, py: Python<'_>) -> PyResult<Option<u64>> {
        match &self.input {
            Input::File(file) => {
                let mut raised = Raised::default();
                let size = detached(py, || file.size(&mut raised));
                Ok(Some(size.map_err(|error| raised.or(&error))?))
            }
            _ => Ok(None),
        }
    }
}

//! Documents of files that lie elsewhere, of which the index is brought, and then what is touched.

use crate::cpython::View;
use crate::error::Fault;
use crate::io::remote::Remote;
use crate::memory::Vec;
use holdall_format::hold::codec::BLOCK;
use holdall_format::hold::file::{self, Parts};
use holdall_format::hold::{frame, tag, Present};
use holdall_format::{Error, ErrorKind, Result};
use pyo3::prelude::*;
use std::ops::Range;
use std::sync::{Arc, Mutex, PoisonError};

/// How much is brought at once of what nobody knows the size of: a request takes as long as so many bytes do.
pub const PIECE: usize = 1 << 15;
/// Buffers with no more than this between them are brought at once.
pub const GAP: u64 = 1 << 16;

/// Where a message is.
pub enum Message {
    /// In the data as they are.
    Stored(Range<usize>),
    Unpacked(Vec<u8>),
    /// In memory of its own, into which blocks are unpacked when they are needed.
    Blocks(View),
}

pub struct Elsewhere {
    pub remote: Remote,
    /// What of the message is in the map, or unpacked.
    pub present: Arc<Present>,
    /// An exception of bringing something, for which an error of the format stands.
    pub raised: Mutex<Option<PyErr>>,
    /// The message's blocks.
    pub blocks: Vec<u64>,
}

/// The parts of a file whose ends are brought. Without an index all of it is, and it is read as any other.
pub fn begun(py: Python<'_>, remote: Remote, input: &[u8]) -> PyResult<(Parts, Option<Elsewhere>)> {
    let (size, piece) = (input.len() as u64, PIECE as u64);
    let raise = |error| Fault::from(error).into_py(0);
    // The end first: it came with the file's size.
    remote.bring(py, size.saturating_sub(piece)..size)?;
    remote.bring(py, 0..size.min(piece))?;
    let index = match frame::is_file(input) {
        true => Parts::index_of(input).map_err(raise)?,
        false => None,
    };
    let parts = match index {
        Some(at) => {
            remote.bring(py, at..size)?;
            Some(Parts::of_ends(input).map_err(raise)?)
        }
        None => None,
    };
    match parts.filter(|parts| parts.index.as_ref().is_some_and(|index| !index.is_empty())) {
        Some(parts) => {
            let blocks = parts.message.blocks.clone();
            let (present, raised) = (Arc::default(), Mutex::default());
            Ok((parts, Some(Elsewhere { remote, present, raised, blocks })))
        }
        None => {
            remote.bring(py, 0..size)?;
            Ok((Parts::default(), None))
        }
    }
}

impl Elsewhere {
    /// Where the message is, or comes to be.
    pub fn message(&self, py: Python<'_>, input: &[u8], parts: &Parts) -> PyResult<Message> {
        let raise = |error| Fault::from(error).into_py(0);
        let extent = &parts.message;
        if self.blocks.is_empty() {
            self.remote.bring(py, extent.at..extent.at.saturating_add(frame::HEAD as u64).min(parts.index_at))?;
            if let Some(message) = file::plain(input, extent, tag::MESSAGE, false).map_err(raise)? {
                let start = message.as_ptr() as usize - input.as_ptr() as usize;
                return Ok(Message::Stored(start..start + message.len()));
            }
        }
        let blocks = extent.len.div_ceil(BLOCK as u64);
        if extent.len > file::most_unpacked(input.len() as u64) || blocks != self.blocks.len() as u64 {
            let why = "an index that says another size of the message than its blocks have";
            return Err(raise(Error::new(ErrorKind::BadFile { why }, 0)));
        }
        Ok(Message::Blocks(self.remote.room(py, extent.len)?))
    }

    /// An exception as an error of the format; [`TokenFormat::raised`] has it.
    pub fn keeping<T>(&self, done: PyResult<T>) -> Result<T> {
        done.map_err(|error| {
            *self.raised.lock().unwrap_or_else(PoisonError::into_inner) = Some(error);
            Error::new(ErrorKind::BadFile { why: "bytes that could not be brought" }, 0)
        })
    }
}

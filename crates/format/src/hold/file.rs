//! A graph's file: the message in a frame, each of its buffers in a frame, an index, the end.
//!
//! [`write()`] and [`Reader`] go front to back without seeking; [`Parts`] finds everything in a file that is in memory.

mod reader;
mod writer;

pub use reader::{Body, Reader};
pub use writer::{write, Graph, Output};

use super::codec::Codec;
use super::frame::{self, Frame, HEAD, START, TAIL};
use super::index::{Extent, Index};
use super::tag;
use crate::error::{Error, ErrorKind, Result};
use crate::memory::Vec;
use std::io;

/// How much is gathered before it is written: it stays in the processor's cache while its checksum is computed.
const STAGE: usize = 1 << 18;
/// Bytes of the frame of the end.
const END: usize = HEAD + 16 + TAIL;
/// Bytes of the size of a body in several frames, before the first of them.
const TOTAL: u64 = 8;
/// What compressed bytes may decompress to: a fixed amount, and a multiple of their size. A writer stays well below
/// that, so that what it writes is never refused.
const FREE_RAW: u64 = 64 << 20;
const RAW_PER_BYTE: u64 = 128;
const RAW_PER_BYTE_WRITTEN: u64 = 100;

/// Why a file could not be read.
#[derive(Debug)]
pub enum Fault {
    Io(io::Error),
    Bytes(Error),
}

impl From<io::Error> for Fault {
    fn from(error: io::Error) -> Self {
        Fault::Io(error)
    }
}

impl From<Error> for Fault {
    fn from(error: Error) -> Self {
        Fault::Bytes(error)
    }
}

/// The most that so many stored bytes may decompress to.
pub fn most_unpacked(stored: u64) -> u64 {
    FREE_RAW.saturating_add(stored.saturating_mul(RAW_PER_BYTE))
}

fn place(at: u64) -> usize {
    usize::try_from(at).unwrap_or(usize::MAX)
}

/// The places of everything in a file that is in memory.
#[derive(Debug, Clone, Default)]
pub struct Parts {
    pub message: Extent,
    pub buffers: Vec<Extent>,
    /// What is known about the inside of the message; `None` for a small one.
    pub index: Option<Index>,
}

impl Parts {
    /// Checks the file's start, index and end, not its bodies.
    pub fn of(file: &[u8]) -> Result<Parts> {
        match frame::parse_start(file)? {
            tag::FILE_MESSAGE => {
                let Some(frame) = Frame::at(file, START)? else {
                    return Err(Error::new(ErrorKind::Truncated { needed: HEAD + TAIL }, file.len()));
                };
                if frame.head.kind != tag::MESSAGE || frame.at != START {
                    return Err(unexpected(START));
                }
                if frame.end != file.len() {
                    return Err(Error::new(ErrorKind::Trailing { count: file.len() - frame.end }, frame.end));
                }
                let message = Extent { at: START as u64, len: frame.head.len, blocks: Vec::new() };
                Ok(Parts { message, ..Parts::default() })
            }
            tag::FILE_GRAPH => Parts::by_end(file).map_err(|error| whats_wrong(file).unwrap_or(error)),
            _ => Err(Error::new(ErrorKind::BadFile { why: "a log of records: read it with holdall.Reader" }, 5)),
        }
    }

    fn by_end(file: &[u8]) -> Result<Parts> {
        let short = || Error::new(ErrorKind::Truncated { needed: END }, file.len());
        let end_at = file.len().checked_sub(END).filter(|&at| at >= START).ok_or_else(short)?;
        let end = Frame::at(file, end_at)?.filter(|frame| frame.at == end_at && frame.head.kind == tag::END);
        let body = end.ok_or_else(short)?.verified(file)?;
        let (Some(index_at), Some(total)) = (body.first_chunk::<8>(), body.last_chunk::<8>()) else {
            return Err(short());
        };
        let (index_at, total) = (place(u64::from_le_bytes(*index_at)), u64::from_le_bytes(*total));
        if total != file.len() as u64 {
            return Err(Error::new(
                ErrorKind::BadFile { why: "several dumps in one file: load them one by one" },
                end_at,
            ));
        }
        let frame = Frame::at(file, index_at)?.filter(|frame| frame.head.kind == tag::INDEX);
        let mut index = Index::parse(frame.ok_or_else(|| unexpected(index_at))?.verified(file)?)?;
        let (message, buffers) = (std::mem::take(&mut index.message), std::mem::take(&mut index.buffers));
        Ok(Parts { message, buffers, index: Some(index) })
    }
}

fn unexpected(at: usize) -> Error {
    Error::new(ErrorKind::BadFile { why: "a frame of another kind than comes here" }, at)
}

/// The first damage in a file whose end can't be used.
#[cold]
fn whats_wrong(file: &[u8]) -> Option<Error> {
    let mut at = START;
    loop {
        match Frame::at(file, at) {
            Err(error) => return Some(error),
            Ok(None) => return Some(Error::new(ErrorKind::Truncated { needed: END }, file.len())),
            Ok(Some(frame)) => {
                if let Err(error) = frame.verified(file) {
                    return Some(error);
                }
                if frame.head.kind == tag::END {
                    let count = file.len() - frame.end;
                    return (count > 0).then(|| Error::new(ErrorKind::Trailing { count }, frame.end));
                }
                at = frame.end;
            }
        }
    }
}

/// The body at `extent` as one run of bytes; `None` if it is compressed or in several frames. Its checksum is compared
/// if `verify`.
pub fn plain<'i>(file: &'i [u8], extent: &Extent, kind: u8, verify: bool) -> Result<Option<&'i [u8]>> {
    let at = place(extent.at);
    let Some(frame) = Frame::at(file, at)?.filter(|frame| frame.head.kind == kind) else {
        return Err(unexpected(at));
    };
    if frame.head.more || frame.head.codec != Codec::Stored {
        return Ok(None);
    }
    if frame.head.len != extent.len {
        return Err(unexpected(at));
    }
    if verify {
        return frame.verified(file).map(Some);
    }
    Ok(Some(&file[frame.body]))
}

/// The decompressed body at `extent`; `file` is the whole file.
pub fn unpacked(file: &[u8], extent: &Extent, kind: u8) -> Result<Vec<u8>> {
    let bytes = unpacked_at(file, extent.at, kind)?;
    if bytes.len() as u64 != extent.len {
        return Err(unexpected(place(extent.at)));
    }
    Ok(bytes)
}

/// The same for a body whose length isn't known.
pub fn unpacked_at(file: &[u8], at: u64, kind: u8) -> Result<Vec<u8>> {
    let mut reader = Reader::new(file.get(place(at)..).unwrap_or_default(), Some(file.len() as u64));
    reader.at = at;
    let read = reader.body(kind).and_then(|body| reader.collect(&body, &mut |_| Ok(())));
    read.map_err(|fault| match fault {
        Fault::Bytes(error) => error,
        Fault::Io(_) => unexpected(place(at)),
    })
}

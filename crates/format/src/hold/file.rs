//! A graph's file: the message in a frame, each of its buffers in one of its own, an index, the end.
//!
//! [`write()`] and [`Reader`] go front to back and seek nowhere; [`Parts`] finds everything in a file that is at hand whole.

mod reader;
mod writer;

pub use reader::{Body, Reader};
pub use writer::{write, Graph, Output};

use super::codec::{self, Codec};
use super::frame::{self, Frame, HEAD, START, TAIL};
use super::index::{Extent, Index};
use super::tag;
use crate::error::{Error, ErrorKind, Result};
use crate::memory::Vec;
use std::io;

/// What is gathered before it is written: as much as stays in a processor's cache while its checksum is made.
const STAGE: usize = 1 << 18;
/// Bytes of the end's frame.
const END: usize = HEAD + 16 + TAIL;
/// The size of a body in several frames, before the first of them.
const TOTAL: u64 = 8;
/// What compressed bodies may become: so much, and so many times what is stored of them. A writer keeps below, with room to
/// spare: what it writes is never refused.
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

/// What is stored in so many bytes becomes no more than this.
pub fn most_unpacked(stored: u64) -> u64 {
    FREE_RAW.saturating_add(stored.saturating_mul(RAW_PER_BYTE))
}

fn place(at: u64) -> usize {
    usize::try_from(at).unwrap_or(usize::MAX)
}

/// Where things are in a file that is at hand whole.
#[derive(Debug, Clone, Default)]
pub struct Parts {
    pub message: Extent,
    pub buffers: Vec<Extent>,
    /// What is known of the inside of the message; nothing of a small one.
    pub index: Option<Index>,
    /// Where its frame begins: behind all others, but the end's.
    pub index_at: u64,
}

impl Parts {
    /// Checks the file's start, index and end. Bodies are not looked at.
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
            tag::FILE_GRAPH => {
                let parts = Parts::by_end(file).and_then(|parts| {
                    parts.index.as_ref().map_or(Ok(()), |index| index.read_pages(file))?;
                    Ok(parts)
                });
                parts.map_err(|error| whats_wrong(file).unwrap_or(error))
            }
            _ => Err(Parts::of_a_log()),
        }
    }

    #[cold]
    fn of_a_log() -> Error {
        Error::new(ErrorKind::BadFile { why: "a log of records: read it with holdall.Reader" }, 5)
    }

    /// Where the index of a file begins of which at least the start and the last [`END`] bytes are there. None of a file without one.
    pub fn index_of(file: &[u8]) -> Result<Option<u64>> {
        match frame::parse_start(file)? {
            tag::FILE_MESSAGE => Ok(None),
            tag::FILE_GRAPH => Parts::index_at(file).map(|index_at| Some(index_at as u64)),
            _ => Err(Parts::of_a_log()),
        }
    }

    /// As [`Parts::of`] a graph's file, of which the start, the index and the end are there; pages of the index may not be.
    pub fn of_ends(file: &[u8]) -> Result<Parts> {
        Parts::by_end(file)
    }

    /// Where the frames of an extent end, or some bytes behind.
    pub fn reach(&self, extent: &Extent) -> u64 {
        if extent.blocks.is_empty() {
            let most = frame::ALIGN + (HEAD + TAIL) as u64;
            return extent.at.saturating_add(extent.len).saturating_add(most).min(self.index_at);
        }
        // Buffers are in order, behind the message.
        let next = self.buffers.partition_point(|buffer| buffer.at <= extent.at);
        self.buffers.get(next).map_or(self.index_at, |buffer| buffer.at)
    }

    /// Where the end's frame says that the index is.
    fn index_at(file: &[u8]) -> Result<usize> {
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
        Ok(index_at)
    }

    fn by_end(file: &[u8]) -> Result<Parts> {
        let index_at = Parts::index_at(file)?;
        let frame = Frame::at(file, index_at)?.filter(|frame| frame.head.kind == tag::INDEX);
        let mut index = Index::parse(frame.ok_or_else(|| unexpected(index_at))?.verified(file)?)?;
        let (message, buffers) = (std::mem::take(&mut index.message), std::mem::take(&mut index.buffers));
        Ok(Parts { message, buffers, index: Some(index), index_at: index_at as u64 })
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

/// The body that stands there as one run of bytes; none where it is compressed, or cut into blocks. Its checksum is
/// compared if `verify`.
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

/// One block of a body that is compressed, or cut into blocks, unpacked.
pub fn block(file: &[u8], extent: &Extent, number: usize, kind: u8) -> Result<Vec<u8>> {
    let begins = extent.blocks.get(number).copied().unwrap_or(u64::MAX);
    let at = place(begins);
    let kind = if number == 0 { kind } else { tag::REST };
    let frame = Frame::at(file, at)?.filter(|frame| frame.head.kind == kind).ok_or_else(|| unexpected(at))?;
    let mut body = frame.verified(file)?;
    if number == 0 && frame.head.more {
        match body.split_first_chunk::<{ TOTAL as usize }>() {
            Some((total, rest)) if u64::from_le_bytes(*total) == extent.len => body = rest,
            _ => return Err(unexpected(at)),
        }
    }
    let left = extent.len.saturating_sub(number as u64 * codec::BLOCK as u64);
    let raw = usize::try_from(left).map_or(codec::BLOCK, |left| left.min(codec::BLOCK));
    let mut to = crate::memory::vec![0; raw];
    if frame.head.codec == Codec::Stored && body.len() == raw {
        to.copy_from_slice(body);
    } else if frame.head.codec != Codec::Stored && codec::raw_len(body, at)? == raw {
        codec::decompress(frame.head.codec, body, &mut to, at)?;
    } else {
        return Err(unexpected(at));
    }
    Ok(to)
}

/// The body that begins there, unpacked; `file` is the whole of it.
pub fn unpacked(file: &[u8], extent: &Extent, kind: u8) -> Result<Vec<u8>> {
    let bytes = unpacked_at(file, extent.at, kind)?;
    if bytes.len() as u64 != extent.len {
        return Err(unexpected(place(extent.at)));
    }
    Ok(bytes)
}

/// The same of a body whose length nobody has said.
pub fn unpacked_at(file: &[u8], at: u64, kind: u8) -> Result<Vec<u8>> {
    let mut reader = Reader::new(file.get(place(at)..).unwrap_or_default(), Some(file.len() as u64));
    reader.at = at;
    let read = reader.body(kind).and_then(|body| reader.collect(&body, &mut |_| Ok(())));
    read.map_err(|fault| match fault {
        Fault::Bytes(error) => error,
        Fault::Io(_) => unexpected(place(at)),
    })
}

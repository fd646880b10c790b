//! A graph to a file, front to back.

use super::{END, FREE_RAW, RAW_PER_BYTE_WRITTEN, STAGE};
use crate::aside::{self, Aside};
use crate::hold::codec::{self, Codec, Compression, BLOCK};
use crate::hold::frame::{self, Head, ALIGN};
use crate::hold::index::{Extent, Index};
use crate::hold::tag;
use crate::memory::{vec, Vec};
use std::io;
use xxhash_rust::xxh3::Xxh3;

/// Smaller messages without buffers have a file without an index.
const INDEXED: usize = 1 << 16;

/// What is to be written.
#[derive(Debug, Clone, Copy)]
pub struct Graph<'a> {
    pub message: &'a [u8],
    /// What the message refers to, in the order of its numbers.
    pub buffers: &'a [&'a [u8]],
    pub compression: Option<Compression>,
    /// How many threads may compress at once.
    pub threads: usize,
}

impl Graph<'_> {
    /// How many bytes there are to write, before they are compressed.
    pub fn len(&self) -> u64 {
        self.message.len() as u64 + self.buffers.iter().map(|buffer| buffer.len() as u64).sum::<u64>()
    }

    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

/// Takes the bytes of a file, part by part, and gives back memory for the next: as it may still be at work on the last, that need
/// not be the same.
pub trait Output {
    fn take(&mut self, part: Vec<u8>) -> io::Result<Vec<u8>>;
}

impl Output for Vec<u8> {
    fn take(&mut self, mut part: Vec<u8>) -> io::Result<Vec<u8>> {
        self.append(&mut part);
        Ok(part)
    }
}

/// Writes a file to `out`; says after each part how many of [`Graph::len`] bytes are done. Gives the size of the file.
pub fn write(
    out: &mut impl Output,
    graph: &Graph<'_>,
    progress: &mut dyn FnMut(u64) -> io::Result<()>,
) -> io::Result<u64> {
    let mut writer = Writer { out, staged: Vec::with_capacity(STAGE), at: 0, raw: 0, stored: 0, done: 0, progress };
    writer.graph(graph)?;
    Ok(writer.at)
}

struct Writer<'w, W> {
    out: &'w mut W,
    staged: Vec<u8>,
    /// How much was written, what is staged included.
    at: u64,
    /// Bytes that were compressed, and what they became.
    raw: u64,
    stored: u64,
    done: u64,
    progress: &'w mut dyn FnMut(u64) -> io::Result<()>,
}

impl<W: Output> Writer<'_, W> {
    fn graph(&mut self, graph: &Graph<'_>) -> io::Result<()> {
        let small = graph.buffers.is_empty() && graph.message.len() < INDEXED && graph.compression.is_none();
        self.put(&frame::start(if small { tag::FILE_MESSAGE } else { tag::FILE_GRAPH }))?;
        if small {
            self.stored(tag::MESSAGE, graph.message)?;
            return self.flush();
        }
        aside::scope(|scope| {
            // It is done while the rest is written.
            let scanned = Aside::begin(scope, || Index::of_message(graph.message));
            let message = self.body(tag::MESSAGE, graph.message, graph)?;
            let mut buffers = Vec::with_capacity(graph.buffers.len());
            for buffer in graph.buffers {
                buffers.push(self.body(tag::BUFFER_FRAME, buffer, graph)?);
            }
            // A message that can't be scanned is one of a newer writer's; without an index it is read as well.
            let mut index = scanned.join();
            (index.message, index.buffers) = (message, buffers);
            index.put_keys(|page| {
                let at = self.at;
                self.stored(tag::KEYS, page).map(|()| at)
            })?;
            index.put_pages(|page| {
                let at = self.at;
                self.stored(tag::PLACES, page).map(|()| at)
            })?;
            let at = self.at;
            self.stored(tag::INDEX, &index.to_bytes())?;
            self.end(at)
        })
    }

    fn end(&mut self, index_at: u64) -> io::Result<()> {
        let total = self.at + END as u64;
        let body = [index_at.to_le_bytes(), total.to_le_bytes()].concat();
        self.stored(tag::END, &body)?;
        self.flush()
    }

    /// A body, in one frame or in compressed blocks.
    fn body(&mut self, kind: u8, body: &[u8], graph: &Graph<'_>) -> io::Result<Extent> {
        if let Some(how) = graph.compression.filter(|_| !body.is_empty()) {
            return self.blocks(kind, body, how, graph.threads.max(1));
        }
        if kind == tag::BUFFER_FRAME && body.len() as u64 >= ALIGN {
            self.put(&[0; ALIGN as usize][..frame::padding(self.at)])?;
        }
        let at = self.at;
        self.stored(kind, body)?;
        Ok(Extent { at, len: body.len() as u64, blocks: Vec::new() })
    }

    fn stored(&mut self, kind: u8, body: &[u8]) -> io::Result<()> {
        self.framed(Head::new(kind, body.len() as u64), &[body])?;
        if matches!(kind, tag::MESSAGE | tag::BUFFER_FRAME) {
            self.advance(0)?;
        }
        Ok(())
    }

    /// One frame; its body is copied into the stage, so that what is written is what the checksum was made of, even if
    /// somebody changes the memory meanwhile.
    fn framed(&mut self, head: Head, parts: &[&[u8]]) -> io::Result<()> {
        if head.len > frame::MOST {
            return Err(io::Error::new(io::ErrorKind::InvalidInput, "a buffer of 1 TiB or more"));
        }
        let at = self.at;
        let head_bytes = head.to_bytes(at);
        self.put(&head_bytes)?;
        let seed = frame::seed(head_bytes, at);
        let mut hasher = Xxh3::with_seed(seed);
        let counts = matches!(head.kind, tag::MESSAGE | tag::BUFFER_FRAME) && head.codec == Codec::Stored;
        for part in parts {
            let mut rest = *part;
            while !rest.is_empty() {
                if self.staged.len() == STAGE {
                    self.flush()?;
                }
                let (chunk, behind) = rest.split_at(rest.len().min(STAGE - self.staged.len()));
                let from = self.stage(chunk)?;
                hasher.update(&self.staged[from..]);
                rest = behind;
                if counts {
                    self.advance(chunk.len() as u64)?;
                }
            }
        }
        self.put(&hasher.digest().to_le_bytes())
    }

    /// Compresses block after block: some by threads of their own, while those before are written.
    fn blocks(&mut self, kind: u8, body: &[u8], how: Compression, threads: usize) -> io::Result<Extent> {
        let first = self.at;
        let mut places = Vec::new();
        let rounds: Vec<&[u8]> = body.chunks(BLOCK * threads).collect();
        let compressed = |round: &[u8]| -> Vec<Option<Vec<u8>>> {
            if round.len() <= BLOCK {
                return vec![codec::compress(round, how)];
            }
            aside::scope(|scope| {
                let begin = |block| Aside::begin(scope, move || codec::compress(block, how));
                let blocks: Vec<_> = round.chunks(BLOCK).map(begin).collect();
                blocks.into_iter().map(Aside::join).collect()
            })
        };
        let blocks = body.len().div_ceil(BLOCK);
        let mut number = 0;
        let mut next = rounds.first().map(|round| compressed(round));
        for (at, round) in rounds.iter().enumerate() {
            let ready = next.take().unwrap_or_default();
            let following = rounds.get(at + 1);
            aside::scope(|scope| {
                let coming = following.map(|round| Aside::begin(scope, || compressed(round)));
                for (block, packed) in round.chunks(BLOCK).zip(&ready) {
                    places.push(self.at);
                    let total = (body.len() as u64).to_le_bytes();
                    let total: &[u8] = if number == 0 && blocks > 1 { &total } else { &[] };
                    let kind = if number == 0 { kind } else { tag::REST };
                    number += 1;
                    self.block(kind, number < blocks, total, block, packed.as_deref(), how.codec)?;
                }
                next = coming.map(Aside::join);
                io::Result::Ok(())
            })?;
        }
        Ok(Extent { at: first, len: body.len() as u64, blocks: places })
    }

    fn block(
        &mut self,
        kind: u8,
        more: bool,
        total: &[u8],
        block: &[u8],
        packed: Option<&[u8]>,
        codec: Codec,
    ) -> io::Result<()> {
        let raw = self.raw + block.len() as u64;
        let packed = packed.filter(|packed| {
            raw <= FREE_RAW.saturating_add((self.stored + packed.len() as u64) * RAW_PER_BYTE_WRITTEN)
        });
        let (codec, body) = packed.map_or((Codec::Stored, block), |packed| (codec, packed));
        (self.raw, self.stored) = (raw, self.stored + body.len() as u64);
        let head = Head { kind, codec, more, len: (total.len() + body.len()) as u64 };
        let done = self.done;
        self.framed(head, &[total, body])?;
        self.done = done;
        self.advance(block.len() as u64)
    }

    fn advance(&mut self, more: u64) -> io::Result<()> {
        self.done += more;
        (self.progress)(self.done)
    }

    fn put(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.stage(bytes).map(|_| ())
    }

    /// Copies `bytes`, of which there are no more than a stage, to where they wait to be written; says where.
    fn stage(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if self.staged.len() + bytes.len() > STAGE {
            self.flush()?;
        }
        let from = self.staged.len();
        self.staged.extend_from_slice(bytes);
        self.at += bytes.len() as u64;
        Ok(from)
    }

    fn flush(&mut self) -> io::Result<()> {
        if !self.staged.is_empty() {
            self.staged = self.out.take(std::mem::take(&mut self.staged))?;
            self.staged.clear();
        }
        Ok(())
    }
}

//! A graph's file: the message in a frame, each of its buffers in one of its own, an index, the end.
//!
//! [`write()`] and [`Reader`] go front to back and seek nowhere; [`Parts`] finds everything in a file that is at hand whole.

use super::codec::{self, Codec, Compression, BLOCK};
use super::frame::{self, Frame, Head, ALIGN, HEAD, START, TAIL};
use super::index::{Extent, Index};
use super::tag;
use crate::error::{Error, Kind, Result};
use std::io;
use xxhash_rust::xxh3::Xxh3;

/// What is gathered before it is written: as much as stays in a processor's cache while its checksum is made.
const STAGE: usize = 1 << 18;
/// Smaller messages without buffers have a file without an index.
const INDEXED: usize = 1 << 16;
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
        std::thread::scope(|scope| {
            // It is done while the rest is written.
            let scanned = scope.spawn(|| Index::of_message(graph.message));
            let message = self.body(tag::MESSAGE, graph.message, graph)?;
            let mut buffers = Vec::with_capacity(graph.buffers.len());
            for buffer in graph.buffers {
                buffers.push(self.body(tag::BUFFER_FRAME, buffer, graph)?);
            }
            // A message that can't be scanned is one of a newer writer's; without an index it is read as well.
            let mut index = scanned.join().unwrap_or_default();
            (index.message, index.buffers) = (message, buffers);
            index.put_keys(|page| {
                let at = self.at;
                self.stored(tag::KEYS, page).map(|()| at)
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
            std::thread::scope(|scope| {
                let blocks = round.chunks(BLOCK).map(|block| scope.spawn(move || codec::compress(block, how)));
                let blocks: Vec<_> = blocks.collect();
                blocks.into_iter().map(|block| block.join().unwrap_or_default()).collect()
            })
        };
        let blocks = body.len().div_ceil(BLOCK);
        let mut number = 0;
        let mut next = rounds.first().map(|round| compressed(round));
        for (at, round) in rounds.iter().enumerate() {
            let ready = next.take().unwrap_or_default();
            let following = rounds.get(at + 1);
            std::thread::scope(|scope| {
                let coming = following.map(|round| scope.spawn(|| compressed(round)));
                for (block, packed) in round.chunks(BLOCK).zip(&ready) {
                    places.push(self.at);
                    let total = (body.len() as u64).to_le_bytes();
                    let total: &[u8] = if number == 0 && blocks > 1 { &total } else { &[] };
                    let kind = if number == 0 { kind } else { tag::REST };
                    number += 1;
                    self.block(kind, number < blocks, total, block, packed.as_deref(), how.codec)?;
                }
                next = coming.map(|coming| coming.join().unwrap_or_default());
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

/// A body that is about to be read.
#[derive(Debug, Clone, Copy)]
pub struct Body {
    head: Head,
    seed: u64,
    total: [u8; TOTAL as usize],
    /// How many bytes it has, all of its frames together.
    pub len: u64,
}

/// Where a body goes to.
enum Room<'t> {
    /// Memory for all of it.
    Whole { to: &'t mut [u8], filled: usize },
    /// Memory that is had as bytes come.
    Growing(Vec<u8>),
}

impl Room<'_> {
    /// The next so many bytes; none where there is no room for them.
    fn next(&mut self, len: usize) -> Option<&mut [u8]> {
        match self {
            Room::Whole { to, filled } => {
                let from = *filled;
                let part = to.get_mut(from..)?.get_mut(..len)?;
                *filled += len;
                Some(part)
            }
            Room::Growing(to) => {
                let from = to.len();
                to.resize(from + len, 0);
                Some(&mut to[from..])
            }
        }
    }
}

/// Reads a file front to back, from a source that need not seek.
#[derive(Debug)]
pub struct Reader<R> {
    pub input: R,
    at: u64,
    /// How long the source is, where that is known: what claims more is refused before it costs.
    size: Option<u64>,
    raw: u64,
    stored: u64,
    scratch: Vec<u8>,
}

fn place(at: u64) -> usize {
    usize::try_from(at).unwrap_or(usize::MAX)
}

impl<R: io::Read> Reader<R> {
    /// Goes on behind a start that was read.
    pub fn new(input: R, size: Option<u64>) -> Self {
        Reader { input, at: START as u64, size, raw: 0, stored: 0, scratch: Vec::new() }
    }

    /// How many bytes were taken.
    pub fn offset(&self) -> u64 {
        self.at
    }

    fn error<T>(&self, kind: Kind) -> std::result::Result<T, Fault> {
        Err(Error::new(kind, place(self.at)).into())
    }

    fn exactly(&mut self, to: &mut [u8]) -> std::result::Result<(), Fault> {
        let mut filled = 0;
        while filled < to.len() {
            match self.input.read(&mut to[filled..]) {
                Ok(0) => {
                    let needed = to.len() - filled;
                    self.at += filled as u64;
                    return self.error(Kind::Truncated { needed });
                }
                Ok(count) => filled += count,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error.into()),
            }
        }
        self.at += to.len() as u64;
        Ok(())
    }

    fn head(&mut self) -> std::result::Result<(Head, u64), Fault> {
        let mut head = [0; HEAD];
        for zeros in 0..=ALIGN {
            self.exactly(&mut head[..1])?;
            if head[0] != 0 {
                break;
            }
            if zeros == ALIGN {
                return self.error(Kind::Checksum);
            }
        }
        let at = self.at - 1;
        self.exactly(&mut head[1..])?;
        Ok((Head::parse(head, at)?, frame::seed(head, at)))
    }

    /// The next body, which has to be of that kind.
    pub fn body(&mut self, kind: u8) -> std::result::Result<Body, Fault> {
        let (head, seed) = self.head()?;
        if head.kind != kind {
            return self.error(Kind::BadFile { why: "a frame of another kind than comes here" });
        }
        if self.size.is_some_and(|size| head.len > size.saturating_sub(self.at)) {
            let needed = place(head.len - self.size.unwrap_or(0).saturating_sub(self.at));
            return self.error(Kind::Truncated { needed });
        }
        let mut body = Body { head, seed, total: [0; TOTAL as usize], len: head.len };
        if head.more {
            if head.len < TOTAL {
                return self.error(Kind::BadFile { why: "a body that does not say how long it is" });
            }
            self.exactly(&mut body.total)?;
            body.len = u64::from_le_bytes(body.total);
            self.unpacks(body.len)?;
        } else if head.codec != Codec::Stored {
            body.len = BLOCK as u64; // the most; `collect` finds out
        }
        Ok(body)
    }

    /// Takes note of what was read and what it becomes: no writer makes it so much more.
    fn count(&mut self, raw: u64, stored: u64) -> std::result::Result<(), Fault> {
        (self.raw, self.stored) = (self.raw.saturating_add(raw), self.stored.saturating_add(stored));
        if self.raw > FREE_RAW.saturating_add(self.stored.saturating_mul(RAW_PER_BYTE)) {
            return self.error(Kind::Bomb { times: RAW_PER_BYTE });
        }
        Ok(())
    }

    /// Refuses what would become much more than the file is, before memory is had for it.
    fn unpacks(&self, len: u64) -> std::result::Result<(), Fault> {
        let Some(size) = self.size else { return Ok(()) };
        if self.raw.saturating_add(len) > FREE_RAW.saturating_add(size.saturating_mul(RAW_PER_BYTE)) {
            return self.error(Kind::Bomb { times: RAW_PER_BYTE });
        }
        Ok(())
    }

    /// Whether a body's length is said before it is read.
    pub fn is_exact(body: &Body) -> bool {
        body.head.more || body.head.codec == Codec::Stored
    }

    /// Whether memory for the whole body may be had before it is read: it is there, or it is small.
    pub fn is_plausible(&self, body: &Body) -> bool {
        body.len <= FREE_RAW || self.size.is_some()
    }

    /// Reads a body into memory of its length; tells after each part how far the source is read.
    pub fn fill(
        &mut self,
        body: &Body,
        to: &mut [u8],
        progress: &mut dyn FnMut(u64) -> io::Result<()>,
    ) -> std::result::Result<(), Fault> {
        let len = to.len();
        let filled = self.frames(body, &mut Room::Whole { to, filled: 0 }, progress)?;
        if filled != len {
            return self.error(Kind::BadFile { why: "a body that is shorter than it says" });
        }
        Ok(())
    }

    /// Reads the frames of a body, one after the other; gives how many bytes they became.
    fn frames(
        &mut self,
        body: &Body,
        to: &mut Room<'_>,
        progress: &mut dyn FnMut(u64) -> io::Result<()>,
    ) -> std::result::Result<usize, Fault> {
        let (mut head, mut seed, mut filled) = (body.head, body.seed, 0);
        let mut prefix: &[u8] = if head.more { &body.total } else { &[] };
        loop {
            let mut hasher = Xxh3::with_seed(seed);
            hasher.update(prefix);
            let Some(len) = head.len.checked_sub(prefix.len() as u64) else {
                return self.error(Kind::BadFile { why: "a body that does not say how long it is" });
            };
            let at = self.at;
            if head.codec == Codec::Stored {
                if len > body.len - filled as u64 {
                    return self.error(Kind::BadFile { why: "a body that is longer than it says" });
                }
                let mut left = len;
                while left > 0 {
                    let step = place(left).min(STAGE);
                    let Some(chunk) = to.next(step) else {
                        return self.error(Kind::BadFile { why: "a body that is longer than it says" });
                    };
                    self.exactly(chunk)?;
                    hasher.update(chunk);
                    filled += step;
                    left -= step as u64;
                    progress(self.at)?;
                }
                self.tail(&hasher, at)?;
                self.count(len, len)?;
            } else {
                if len > (BLOCK + codec::RAW) as u64 {
                    return self.error(Kind::BadFile { why: "a compressed block that is too large" });
                }
                let mut packed = std::mem::take(&mut self.scratch);
                packed.resize(place(len), 0);
                self.exactly(&mut packed)?;
                hasher.update(&packed);
                self.tail(&hasher, at)?;
                let raw = codec::raw_len(&packed, place(at))?;
                self.count(raw as u64, len)?;
                let Some(rest) = to.next(raw).filter(|_| raw as u64 <= body.len - filled as u64) else {
                    return self.error(Kind::BadFile { why: "a body that is longer than it says" });
                };
                codec::decompress(head.codec, &packed, rest, place(at))?;
                filled += raw;
                self.scratch = packed;
                progress(self.at)?;
            }
            if !head.more {
                return Ok(filled);
            }
            prefix = &[];
            (head, seed) = self.head()?;
            if head.kind != tag::REST {
                return self.error(Kind::BadFile { why: "a frame of another kind than comes here" });
            }
        }
    }

    fn tail(&mut self, hasher: &Xxh3, at: u64) -> std::result::Result<(), Fault> {
        let mut tail = [0; TAIL];
        self.exactly(&mut tail)?;
        if tail != hasher.digest().to_le_bytes() {
            return Err(Error::new(Kind::Checksum, place(at)).into());
        }
        Ok(())
    }

    /// Reads a body into memory that grows with what is really there.
    pub fn collect(
        &mut self,
        body: &Body,
        progress: &mut dyn FnMut(u64) -> io::Result<()>,
    ) -> std::result::Result<Vec<u8>, Fault> {
        if !Self::is_exact(body) {
            // One block: its size stands before it.
            let mut packed = vec![0; place(body.head.len).min(BLOCK + codec::RAW)];
            if packed.len() as u64 != body.head.len {
                return self.error(Kind::BadFile { why: "a compressed block that is too large" });
            }
            let at = self.at;
            self.exactly(&mut packed)?;
            let mut hasher = Xxh3::with_seed(body.seed);
            hasher.update(&packed);
            self.tail(&hasher, at)?;
            let raw = codec::raw_len(&packed, place(at))?;
            self.count(raw as u64, packed.len() as u64)?;
            let mut to = vec![0; raw];
            codec::decompress(body.head.codec, &packed, &mut to, place(at))?;
            progress(self.at)?;
            return Ok(to);
        }
        if self.is_plausible(body) {
            let mut to = vec![0; place(body.len)];
            self.fill(body, &mut to, progress)?;
            return Ok(to);
        }
        let mut room = Room::Growing(Vec::new());
        let filled = self.frames(body, &mut room, progress)?;
        match room {
            Room::Growing(to) if filled as u64 == body.len => Ok(to),
            _ => self.error(Kind::BadFile { why: "a body that is shorter than it says" }),
        }
    }

    /// Passes over a body.
    pub fn pass(&mut self, body: &Body) -> std::result::Result<(), Fault> {
        let (mut head, mut seed) = (body.head, body.seed);
        let mut prefix: &[u8] = if head.more { &body.total } else { &[] };
        let mut scratch = vec![0; STAGE];
        loop {
            let mut hasher = Xxh3::with_seed(seed);
            hasher.update(prefix);
            let at = self.at;
            let mut left = head.len.saturating_sub(prefix.len() as u64);
            while left > 0 {
                let step = place(left.min(STAGE as u64));
                self.exactly(&mut scratch[..step])?;
                hasher.update(&scratch[..step]);
                left -= step as u64;
            }
            self.tail(&hasher, at)?;
            if !head.more {
                return Ok(());
            }
            prefix = &[];
            (head, seed) = self.head()?;
        }
    }

    /// Reads up to the file's end, so that another may follow: buffers that nobody took, the index, the end.
    pub fn finish(&mut self, kind: u8) -> std::result::Result<(), Fault> {
        if kind == tag::FILE_MESSAGE {
            return Ok(());
        }
        loop {
            let (head, seed) = self.head()?;
            if !matches!(head.kind, tag::BUFFER_FRAME | tag::KEYS | tag::INDEX | tag::END) {
                return self.error(Kind::BadFile { why: "a frame of another kind than comes here" });
            }
            let mut body = Body { head, seed, total: [0; TOTAL as usize], len: head.len };
            if head.more {
                self.exactly(&mut body.total)?;
            }
            self.pass(&body)?;
            if head.kind == tag::END {
                return Ok(());
            }
        }
    }
}

/// Where things are in a file that is at hand whole.
#[derive(Debug, Clone, Default)]
pub struct Parts {
    pub message: Extent,
    pub buffers: Vec<Extent>,
    /// What is known of the inside of the message; nothing of a small one.
    pub index: Option<Index>,
}

impl Parts {
    /// Checks the file's start, index and end. Bodies are not looked at.
    pub fn of(file: &[u8]) -> Result<Parts> {
        match frame::parse_start(file)? {
            tag::FILE_MESSAGE => {
                let Some(frame) = Frame::at(file, START)? else {
                    return Err(Error::new(Kind::Truncated { needed: HEAD + TAIL }, file.len()));
                };
                if frame.head.kind != tag::MESSAGE || frame.at != START {
                    return Err(unexpected(START));
                }
                if frame.end != file.len() {
                    return Err(Error::new(Kind::Trailing { count: file.len() - frame.end }, frame.end));
                }
                let message = Extent { at: START as u64, len: frame.head.len, blocks: Vec::new() };
                Ok(Parts { message, ..Parts::default() })
            }
            tag::FILE_GRAPH => Parts::by_end(file).map_err(|error| whats_wrong(file).unwrap_or(error)),
            _ => Err(Error::new(Kind::BadFile { why: "a log of records: read it with holdall.Reader" }, 5)),
        }
    }

    fn by_end(file: &[u8]) -> Result<Parts> {
        let short = || Error::new(Kind::Truncated { needed: END }, file.len());
        let end_at = file.len().checked_sub(END).filter(|&at| at >= START).ok_or_else(short)?;
        let end = Frame::at(file, end_at)?.filter(|frame| frame.at == end_at && frame.head.kind == tag::END);
        let body = end.ok_or_else(short)?.verified(file)?;
        let (Some(index_at), Some(total)) = (body.first_chunk::<8>(), body.last_chunk::<8>()) else {
            return Err(short());
        };
        let (index_at, total) = (place(u64::from_le_bytes(*index_at)), u64::from_le_bytes(*total));
        if total != file.len() as u64 {
            return Err(Error::new(Kind::BadFile { why: "several dumps in one file: load them one by one" }, end_at));
        }
        let frame = Frame::at(file, index_at)?.filter(|frame| frame.head.kind == tag::INDEX);
        let mut index = Index::parse(frame.ok_or_else(|| unexpected(index_at))?.verified(file)?)?;
        let (message, buffers) = (std::mem::take(&mut index.message), std::mem::take(&mut index.buffers));
        Ok(Parts { message, buffers, index: Some(index) })
    }
}

fn unexpected(at: usize) -> Error {
    Error::new(Kind::BadFile { why: "a frame of another kind than comes here" }, at)
}

/// The first damage in a file whose end can't be used.
#[cold]
fn whats_wrong(file: &[u8]) -> Option<Error> {
    let mut at = START;
    loop {
        match Frame::at(file, at) {
            Err(error) => return Some(error),
            Ok(None) => return Some(Error::new(Kind::Truncated { needed: END }, file.len())),
            Ok(Some(frame)) => {
                if let Err(error) = frame.verified(file) {
                    return Some(error);
                }
                if frame.head.kind == tag::END {
                    let count = file.len() - frame.end;
                    return (count > 0).then(|| Error::new(Kind::Trailing { count }, frame.end));
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

//! A file to a graph, front to back, from a source that need not seek.

use super::{most_unpacked, place, Fault, FREE_RAW, RAW_PER_BYTE, STAGE, TOTAL};
use crate::aside;
use crate::error::{Error, ErrorKind};
use crate::hold::codec::{self, Codec, BLOCK};
use crate::hold::frame::{self, Head, ALIGN, HEAD, START, TAIL};
use crate::hold::tag;
use crate::memory::{vec, Vec};
use std::io;
use std::thread::Builder;
use xxhash_rust::xxh3::Xxh3;

/// From so many bytes on two threads read a body.
const AHEAD_FROM: usize = 1 << 20;

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
    pub(super) at: u64,
    /// How long the source is, where that is known: what claims more is refused before it costs.
    size: Option<u64>,
    raw: u64,
    stored: u64,
    scratch: Vec<u8>,
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

    fn error<T>(&self, kind: ErrorKind) -> Result<T, Fault> {
        Err(Error::new(kind, place(self.at)).into())
    }

    fn exactly(&mut self, to: &mut [u8]) -> Result<(), Fault> {
        let mut filled = 0;
        while filled < to.len() {
            match self.input.read(&mut to[filled..]) {
                Ok(0) => {
                    let needed = to.len() - filled;
                    self.at += filled as u64;
                    return self.error(ErrorKind::Truncated { needed });
                }
                Ok(count) => filled += count,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error.into()),
            }
        }
        self.at += to.len() as u64;
        Ok(())
    }

    fn head(&mut self) -> Result<(Head, u64), Fault> {
        let mut head = [0; HEAD];
        for zeros in 0..=ALIGN {
            self.exactly(&mut head[..1])?;
            if head[0] != 0 {
                break;
            }
            if zeros == ALIGN {
                return self.error(ErrorKind::Checksum);
            }
        }
        let at = self.at - 1;
        self.exactly(&mut head[1..])?;
        Ok((Head::parse(head, at)?, frame::seed(head, at)))
    }

    /// The next body, which has to be of that kind.
    pub fn body(&mut self, kind: u8) -> Result<Body, Fault> {
        let (head, seed) = self.head()?;
        if head.kind != kind {
            return self.error(ErrorKind::BadFile { why: "a frame of another kind than comes here" });
        }
        if self.size.is_some_and(|size| head.len > size.saturating_sub(self.at)) {
            let needed = place(head.len - self.size.unwrap_or(0).saturating_sub(self.at));
            return self.error(ErrorKind::Truncated { needed });
        }
        let mut body = Body { head, seed, total: [0; TOTAL as usize], len: head.len };
        if head.more {
            if head.len < TOTAL {
                return self.error(ErrorKind::BadFile { why: "a body that does not say how long it is" });
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
    fn count(&mut self, raw: u64, stored: u64) -> Result<(), Fault> {
        (self.raw, self.stored) = (self.raw.saturating_add(raw), self.stored.saturating_add(stored));
        if self.raw > most_unpacked(self.stored) {
            return self.error(ErrorKind::Bomb { times: RAW_PER_BYTE });
        }
        Ok(())
    }

    /// Refuses what would become much more than the file is, before memory is had for it.
    fn unpacks(&self, len: u64) -> Result<(), Fault> {
        let Some(size) = self.size else { return Ok(()) };
        if self.raw.saturating_add(len) > most_unpacked(size) {
            return self.error(ErrorKind::Bomb { times: RAW_PER_BYTE });
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
    ) -> Result<(), Fault> {
        let len = to.len();
        let single = body.head.codec == Codec::Stored && !body.head.more && body.len == len as u64;
        if single && len >= AHEAD_FROM {
            return self.fill_ahead(body, to, progress);
        }
        let filled = self.frames(body, &mut Room::Whole { to, filled: 0 }, progress)?;
        if filled != len {
            return self.error(ErrorKind::BadFile { why: "a body that is shorter than it says" });
        }
        Ok(())
    }

    /// The same of a large body in one frame: a thread of its own makes the checksum of what another has read.
    fn fill_ahead(
        &mut self,
        body: &Body,
        to: &mut [u8],
        progress: &mut dyn FnMut(u64) -> io::Result<()>,
    ) -> Result<(), Fault> {
        let (at, seed) = (self.at, body.seed);
        let hasher = aside::scope(|scope| -> Result<Xxh3, Fault> {
            let (chunks, read) = std::sync::mpsc::channel::<&[u8]>();
            let hashing = move || {
                let mut hasher = Xxh3::with_seed(seed);
                read.into_iter().for_each(|chunk| hasher.update(chunk));
                hasher
            };
            let Some(Ok(hashed)) = scope.map(|scope| Builder::new().spawn_scoped(scope, hashing)) else {
                let mut hasher = Xxh3::with_seed(seed);
                for chunk in to.chunks_mut(STAGE) {
                    self.exactly(chunk)?;
                    hasher.update(chunk);
                    progress(self.at)?;
                }
                return Ok(hasher);
            };
            for chunk in to.chunks_mut(STAGE) {
                self.exactly(chunk)?;
                // It is gone only if it has panicked, which `join` tells.
                let _ = chunks.send(chunk);
                progress(self.at)?;
            }
            drop(chunks);
            match hashed.join() {
                Ok(hasher) => Ok(hasher),
                Err(panic) => std::panic::resume_unwind(panic),
            }
        });
        self.tail(&hasher?, at)?;
        self.count(body.len, body.len)
    }

    /// Reads the frames of a body, one after the other; gives how many bytes they became.
    fn frames(
        &mut self,
        body: &Body,
        to: &mut Room<'_>,
        progress: &mut dyn FnMut(u64) -> io::Result<()>,
    ) -> Result<usize, Fault> {
        let (mut head, mut seed, mut filled) = (body.head, body.seed, 0);
        let mut prefix: &[u8] = if head.more { &body.total } else { &[] };
        loop {
            let mut hasher = Xxh3::with_seed(seed);
            hasher.update(prefix);
            let Some(len) = head.len.checked_sub(prefix.len() as u64) else {
                return self.error(ErrorKind::BadFile { why: "a body that does not say how long it is" });
            };
            let at = self.at;
            if head.codec == Codec::Stored {
                if len > body.len - filled as u64 {
                    return self.error(ErrorKind::BadFile { why: "a body that is longer than it says" });
                }
                let mut left = len;
                while left > 0 {
                    let step = place(left).min(STAGE);
                    let Some(chunk) = to.next(step) else {
                        return self.error(ErrorKind::BadFile { why: "a body that is longer than it says" });
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
                    return self.error(ErrorKind::BadFile { why: "a compressed block that is too large" });
                }
                let mut packed = std::mem::take(&mut self.scratch);
                packed.resize(place(len), 0);
                self.exactly(&mut packed)?;
                hasher.update(&packed);
                self.tail(&hasher, at)?;
                let raw = codec::raw_len(&packed, place(at))?;
                self.count(raw as u64, len)?;
                let Some(rest) = to.next(raw).filter(|_| raw as u64 <= body.len - filled as u64) else {
                    return self.error(ErrorKind::BadFile { why: "a body that is longer than it says" });
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
                return self.error(ErrorKind::BadFile { why: "a frame of another kind than comes here" });
            }
        }
    }

    fn tail(&mut self, hasher: &Xxh3, at: u64) -> Result<(), Fault> {
        let mut tail = [0; TAIL];
        self.exactly(&mut tail)?;
        if tail != hasher.digest().to_le_bytes() {
            return Err(Error::new(ErrorKind::Checksum, place(at)).into());
        }
        Ok(())
    }

    /// Reads a body into memory that grows with what is really there.
    pub fn collect(&mut self, body: &Body, progress: &mut dyn FnMut(u64) -> io::Result<()>) -> Result<Vec<u8>, Fault> {
        if !Self::is_exact(body) {
            // One block: its size stands before it.
            let mut packed = vec![0; place(body.head.len).min(BLOCK + codec::RAW)];
            if packed.len() as u64 != body.head.len {
                return self.error(ErrorKind::BadFile { why: "a compressed block that is too large" });
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
            _ => self.error(ErrorKind::BadFile { why: "a body that is shorter than it says" }),
        }
    }

    /// Passes over a body.
    pub fn pass(&mut self, body: &Body) -> Result<(), Fault> {
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
    pub fn finish(&mut self, kind: u8) -> Result<(), Fault> {
        if kind == tag::FILE_MESSAGE {
            return Ok(());
        }
        loop {
            let (head, seed) = self.head()?;
            if !matches!(head.kind, tag::BUFFER_FRAME | tag::KEYS | tag::PLACES | tag::INDEX | tag::END) {
                return self.error(ErrorKind::BadFile { why: "a frame of another kind than comes here" });
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

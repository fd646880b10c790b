//! The parts of a file: a start of eight bytes, then frames, each with its kind, its length and two checksums.
//!
//! ```text
//! start   4  magic: HOLD
//!         1  version: 1
//!         1  kind of the file: see `tag::FILES`
//!         2  low 16 bits of the xxh3-64 of the six bytes before
//!
//! frame   1  kind (see `tag::FRAMES`), | codec << 4, | 64 if the body goes on in the next frame
//!         5  length of the body, u40
//!         2  low 16 bits of the xxh3-64 of the six bytes before, seeded by where the frame begins
//!         n  body
//!         8  xxh3-64 of the body; its seed is the xxh3-64 of the head, seeded by where the frame begins
//! ```
//!
//! The checksums have different uses. If that of the head is right, the next frame can be found whatever is wrong with
//! the body. Both depend on the frame's offset, so a file that is stored within another, or was moved by damage, is
//! never taken for a part of it. Between frames there may be zeros, which align the body of a large buffer to 64 bytes.

use super::codec::Codec;
use super::tag;
use crate::error::{Error, ErrorKind, Result};
use std::ops::Range;
use xxhash_rust::xxh3::{xxh3_64, xxh3_64_with_seed};

pub const MAGIC: [u8; 4] = *b"HOLD";
/// Bytes of a file's start, of a frame's head and of its tail.
pub const START: usize = 8;
pub const HEAD: usize = 8;
pub const TAIL: usize = 8;
/// The alignment of the bodies of large buffers.
pub const ALIGN: u64 = 64;
/// The largest size of a body.
pub const MOST: u64 = (1 << 40) - 1;
const VERSION: u8 = 1;
const MORE: u8 = 64;

/// Whether bytes are a file and not a message outside of one.
pub fn is_file(input: &[u8]) -> bool {
    // A prefix of the magic counts: a file that was cut short.
    !input.is_empty() && MAGIC.iter().zip(input).all(|(one, other)| one == other)
}

#[allow(clippy::cast_possible_truncation)]
fn short(bytes: &[u8], seed: u64) -> [u8; 2] {
    (xxh3_64_with_seed(bytes, seed) as u16).to_le_bytes()
}

/// The first bytes of a file of that kind.
pub fn start(kind: u8) -> [u8; START] {
    let mut start = [0; START];
    start[..4].copy_from_slice(&MAGIC);
    start[4] = VERSION;
    start[5] = kind;
    let check = short(&start[..6], 0);
    start[6..].copy_from_slice(&check);
    start
}

/// Mirror of [`start`].
pub fn parse_start(bytes: &[u8]) -> Result<u8> {
    let Some(start) = bytes.first_chunk::<START>() else {
        return Err(Error::new(ErrorKind::Truncated { needed: START - bytes.len() }, bytes.len()));
    };
    if start[..4] != MAGIC {
        return Err(Error::new(ErrorKind::BadFile { why: "not a hold file: it does not begin with HOLD" }, 0));
    }
    if start[6..] != short(&start[..6], 0) {
        return Err(Error::new(ErrorKind::Checksum, START));
    }
    if start[4] != VERSION || !tag::FILES.iter().any(|row| row.code == start[5]) {
        let why = "a hold file of a version or kind that this reader does not know";
        return Err(Error::new(ErrorKind::BadFile { why }, 4));
    }
    Ok(start[5])
}

/// The head of a frame, before its body.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Head {
    pub kind: u8,
    pub codec: Codec,
    /// The body continues in the next frame.
    pub more: bool,
    /// Size of the body as it is stored.
    pub len: u64,
}

impl Head {
    pub fn new(kind: u8, len: u64) -> Head {
        Head { kind, codec: Codec::Stored, more: false, len }
    }

    /// The head of a frame at that offset of its file.
    pub fn to_bytes(self, at: u64) -> [u8; HEAD] {
        let mut head = [0; HEAD];
        head[..6].copy_from_slice(&(self.len << 8).to_le_bytes()[..6]);
        head[0] = self.kind | (self.codec as u8) << 4 | if self.more { MORE } else { 0 };
        let check = short(&head[..6], at);
        head[6..].copy_from_slice(&check);
        head
    }

    /// Mirror of [`Head::to_bytes`].
    pub fn parse(head: [u8; HEAD], at: u64) -> Result<Head> {
        let damaged = || Error::new(ErrorKind::Checksum, usize::try_from(at).unwrap_or(usize::MAX));
        if head[6..] != short(&head[..6], at) {
            return Err(damaged());
        }
        let kind = head[0] & 15;
        match (Codec::of(head[0] >> 4 & 3), tag::FRAMES.iter().any(|row| row.code == kind)) {
            (Some(codec), true) if head[0] & 128 == 0 => {
                let len = u64::from_le_bytes(head) >> 8 & MOST;
                Ok(Head { kind, codec, more: head[0] & MORE != 0, len })
            }
            _ => Err(Error::new(
                ErrorKind::BadFile { why: "a frame of a kind that this reader does not know" },
                usize::try_from(at).unwrap_or(usize::MAX),
            )),
        }
    }
}

/// The size of a file that consists of one message, from its first bytes.
pub fn message_size(bytes: &[u8]) -> Option<usize> {
    let is_one = parse_start(bytes).ok()? == tag::FILE_MESSAGE;
    let head = Head::parse(*bytes.get(START..)?.first_chunk()?, START as u64).ok()?;
    let body = usize::try_from(head.len).ok().filter(|_| is_one && !head.more)?;
    Some(START + HEAD + body + TAIL)
}

/// The seed of a body's checksum.
pub fn seed(head: [u8; HEAD], at: u64) -> u64 {
    xxh3_64_with_seed(&head, at)
}

/// The checksum behind a body that is in memory.
pub fn tail(body: &[u8], seed: u64) -> [u8; TAIL] {
    xxh3_64_with_seed(body, seed).to_le_bytes()
}

/// A checksum of bytes other than a frame.
pub fn sum(bytes: &[u8]) -> u64 {
    xxh3_64(bytes)
}

/// How many zeros come before the head of a frame at `at`, to align its body.
#[allow(clippy::cast_possible_truncation)]
pub fn padding(at: u64) -> usize {
    (ALIGN - (at + HEAD as u64) % ALIGN) as usize % ALIGN as usize
}

/// A frame in memory.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Frame {
    pub head: Head,
    /// The offsets of its beginning, its body and its end.
    pub at: usize,
    pub body: Range<usize>,
    pub end: usize,
    /// The offset of the bytes in their file.
    base: u64,
}

impl Frame {
    /// The frame at that offset, or after the zeros there; `None` at the end of the bytes. Its body is not checked.
    pub fn at(file: &[u8], at: usize) -> Result<Option<Frame>> {
        Frame::within(file, at, 0)
    }

    /// The same in a part of a file that begins at offset `base`.
    pub fn within(file: &[u8], at: usize, base: u64) -> Result<Option<Frame>> {
        let rest = file.get(at..).unwrap_or_default();
        let Some(zeros) = rest.iter().take(ALIGN as usize).position(|&byte| byte != 0) else {
            return match rest.len() {
                0 => Ok(None),
                // Padding without a frame behind it.
                1..64 => Err(Error::new(ErrorKind::Truncated { needed: HEAD + TAIL }, file.len())),
                _ => Err(Error::new(ErrorKind::Checksum, at)),
            };
        };
        let at = at + zeros;
        let Some(&head) = rest[zeros..].first_chunk::<HEAD>() else {
            return Err(Error::new(ErrorKind::Truncated { needed: HEAD - (rest.len() - zeros) }, file.len()));
        };
        let head = Head::parse(head, base + at as u64)?;
        let body = at + HEAD;
        let end = usize::try_from(head.len).ok().and_then(|len| body.checked_add(len)?.checked_add(TAIL));
        let Some(end) = end else { return Err(Error::new(ErrorKind::TooLong, at)) };
        if end > file.len() {
            return Err(Error::new(ErrorKind::Truncated { needed: end - file.len() }, file.len()));
        }
        Ok(Some(Frame { head, at, body: body..end - TAIL, end, base }))
    }

    /// The frame at that offset of which only the beginning is there.
    pub fn cut_short(file: &[u8], at: usize) -> Option<Frame> {
        let rest = file.get(at..)?;
        let at = at + rest.iter().take(ALIGN as usize).position(|&byte| byte != 0)?;
        let head = Head::parse(*file[at..].first_chunk::<HEAD>()?, at as u64).ok()?;
        Some(Frame { head, at, body: at + HEAD..file.len(), end: file.len(), base: 0 })
    }

    /// The body, after comparing its checksum.
    pub fn verified<'i>(&self, file: &'i [u8]) -> Result<&'i [u8]> {
        let body = &file[self.body.clone()];
        let mut head = [0; HEAD];
        head.copy_from_slice(&file[self.at..][..HEAD]);
        if tail(body, seed(head, self.base + self.at as u64)) != file[self.body.end..self.end] {
            let at = usize::try_from(self.base).unwrap_or(usize::MAX).saturating_add(self.body.start);
            return Err(Error::new(ErrorKind::Checksum, at));
        }
        Ok(body)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::vec::Vec;

    fn framed(head: Head, at: u64, body: &[u8]) -> Vec<u8> {
        let head = head.to_bytes(at);
        [&head[..], body, &tail(body, seed(head, at))].concat()
    }

    #[test]
    fn the_size_of_a_file_of_one_message() {
        let mut head = Head::new(tag::MESSAGE, 5);
        let file = |kind, head| [&start(kind)[..], &framed(head, START as u64, b"hello")].concat();
        let whole = file(tag::FILE_MESSAGE, head);
        assert_eq!(message_size(&whole), Some(whole.len()));
        for len in 0..whole.len() {
            let size = (len >= START + HEAD).then_some(whole.len());
            assert_eq!(message_size(&whole[..len]), size, "{len} bytes");
        }
        assert_eq!(message_size(&file(tag::FILE_GRAPH, head)), None);
        head.more = true;
        assert_eq!(message_size(&file(tag::FILE_MESSAGE, head)), None);
    }

    #[test]
    fn every_head_there_and_back() {
        for row in tag::FRAMES {
            for codec in [Codec::Stored, Codec::Zstd, Codec::Lz4] {
                for (more, len) in [(false, 0), (true, 1), (false, 1 << 32), (true, MOST)] {
                    let head = Head { kind: row.code, codec, more, len };
                    assert_eq!(Head::parse(head.to_bytes(77), 77).unwrap(), head);
                    assert_eq!(Head::parse(head.to_bytes(77), 78).unwrap_err().kind(), &ErrorKind::Checksum);
                }
            }
        }
    }

    #[test]
    fn every_flipped_bit_of_a_start_is_seen() {
        for row in tag::FILES {
            let whole = start(row.code);
            assert_eq!(parse_start(&whole).unwrap(), row.code);
            for bit in 0..whole.len() * 8 {
                let mut bad = whole;
                bad[bit / 8] ^= 1 << (bit % 8);
                assert!(parse_start(&bad).is_err(), "bit {bit}");
            }
            for len in 0..START {
                assert!(matches!(parse_start(&whole[..len]).unwrap_err().kind(), ErrorKind::Truncated { .. }));
            }
        }
    }

    #[test]
    fn every_flipped_bit_of_a_frame_is_seen() {
        let before = [0; 3];
        let file = [&before[..], &framed(Head::new(tag::MESSAGE, 5), 3, b"hello")].concat();
        let frame = Frame::at(&file, 0).unwrap().unwrap();
        assert_eq!((frame.at, frame.end, frame.verified(&file).unwrap()), (3, file.len(), &b"hello"[..]));
        for bit in 0..file.len() * 8 {
            let mut bad = file.clone();
            bad[bit / 8] ^= 1 << (bit % 8);
            let seen = Frame::at(&bad, 0).map(|frame| frame.map(|frame| frame.verified(&bad).map(<[u8]>::to_vec)));
            assert!(!matches!(seen, Ok(Some(Ok(_)))), "bit {bit}");
        }
        for len in 4..file.len() {
            assert!(
                matches!(Frame::at(&file[..len], 0).unwrap_err().kind(), ErrorKind::Truncated { .. }),
                "{len} bytes"
            );
        }
        assert_eq!(Frame::at(&file, file.len()).unwrap(), None);
    }

    #[test]
    fn padding_aligns_the_body() {
        for at in 0..200 {
            let padded = padding(at);
            assert!(padded < 64);
            assert_eq!((at + padded as u64 + HEAD as u64) % 64, 0);
        }
    }
}

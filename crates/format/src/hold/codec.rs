//! Compressed bodies. A body is cut into blocks, each in a frame of its own, so that several threads can work on them
//! and one block can be read without the others.

use crate::error::{Error, ErrorKind, Result};
use crate::memory::{out_of_memory, Vec};
use zstd::zstd_safe::{CCtx, DCtx, SafeResult};

/// The size of a block before compression.
pub const BLOCK: usize = 1 << 20;
/// Bytes before the compressed ones: the size after decompression, u32.
pub const RAW: usize = 4;

/// `ZSTD_error_memory_allocation` (part of the stable interface in zstd_errors.h), as functions return it.
const NO_MEMORY: usize = 0usize.wrapping_sub(64);

/// How a frame's body is stored.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
pub enum Codec {
    Stored = 0,
    Zstd = 1,
    Lz4 = 2,
}

impl Codec {
    pub fn of(code: u8) -> Option<Codec> {
        [Codec::Stored, Codec::Zstd, Codec::Lz4].into_iter().find(|codec| *codec as u8 == code)
    }

    pub fn name(self) -> &'static str {
        match self {
            Codec::Stored => "stored",
            Codec::Zstd => "zstd",
            Codec::Lz4 => "lz4",
        }
    }
}

/// How to compress bodies.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Compression {
    pub codec: Codec,
    /// For zstd, 1 to 22; ignored for others.
    pub level: i32,
}

/// The body of a compressed frame; `None` if it would not be smaller.
#[allow(clippy::cast_possible_truncation)]
pub fn compress(block: &[u8], how: Compression) -> Option<Vec<u8>> {
    let mut body = Vec::from((block.len() as u32).to_le_bytes());
    match how.codec {
        Codec::Stored => return None,
        Codec::Zstd => {
            // A result longer than the block doesn't fit, which is an error: then the block is stored as it is.
            body.resize(RAW + block.len(), 0);
            let mut context = CCtx::try_create().unwrap_or_else(|| out_of_memory());
            let len = fits(context.compress(&mut body[RAW..], block, how.level))?;
            body.truncate(RAW + len);
        }
        Codec::Lz4 => {
            body.resize(RAW + lz4_flex::block::get_maximum_output_size(block.len()), 0);
            let len = lz4_flex::block::compress_into(block, &mut body[RAW..]).ok()?;
            body.truncate(RAW + len);
        }
    }
    (body.len() < block.len()).then_some(body)
}

/// The result of a call of zstd; unwinds if it failed for lack of memory.
fn fits(done: SafeResult) -> Option<usize> {
    match done {
        Err(code) if code == NO_MEMORY => out_of_memory(),
        done => done.ok(),
    }
}

/// The size of a body after decompression, at most that of a block.
pub fn raw_len(body: &[u8], at: usize) -> Result<usize> {
    let Some(raw) = body.first_chunk::<RAW>() else {
        return Err(Error::new(ErrorKind::Truncated { needed: RAW - body.len() }, at));
    };
    match u32::from_le_bytes(*raw) as usize {
        len if len <= BLOCK => Ok(len),
        _ => Err(Error::new(ErrorKind::BadFile { why: "a compressed block that is too large" }, at)),
    }
}

/// Mirror of [`compress`], into memory of exactly that size.
pub fn decompress(codec: Codec, body: &[u8], to: &mut [u8], at: usize) -> Result<()> {
    let packed = body.get(RAW..).unwrap_or_default();
    let len = match codec {
        Codec::Stored => None,
        Codec::Zstd => fits(DCtx::try_create().unwrap_or_else(|| out_of_memory()).decompress(to, packed)),
        Codec::Lz4 => lz4_flex::block::decompress_into(packed, to).ok(),
    };
    if len == Some(to.len()) {
        return Ok(());
    }
    Err(Error::new(ErrorKind::BadFile { why: "a compressed block that does not become what it says" }, at))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::vec;
    use std::vec::Vec;

    const HOW: [Compression; 2] =
        [Compression { codec: Codec::Zstd, level: 3 }, Compression { codec: Codec::Lz4, level: 0 }];

    #[test]
    fn there_and_back() {
        let block: Vec<u8> = (0..BLOCK).map(|at| (at / 7 % 251) as u8).collect();
        for how in HOW {
            let body = compress(&block, how).unwrap();
            assert!(body.len() < block.len() / 4);
            assert_eq!(raw_len(&body, 0).unwrap(), block.len());
            let mut back = vec![0; block.len()];
            decompress(how.codec, &body, &mut back, 0).unwrap();
            assert_eq!(back, block);
            assert!(decompress(how.codec, &body, &mut back[1..], 0).is_err());
            assert!(decompress(how.codec, &body[..body.len() / 2], &mut back, 0).is_err());
        }
    }

    #[test]
    fn what_does_not_shrink_is_left() {
        // Knuth's random number generator, whose output doesn't compress.
        let mut state = 1u64;
        let noise: Vec<u8> = std::iter::repeat_with(|| {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (state >> 56) as u8
        })
        .take(10_000)
        .collect();
        for how in HOW {
            assert_eq!(compress(&noise, how), None);
            assert_eq!(compress(b"", how), None);
        }
        assert_eq!(compress(&[0; 100], Compression { codec: Codec::Stored, level: 0 }), None);
    }

    #[test]
    fn a_block_says_how_large_it_is() {
        assert_eq!(raw_len(&[1, 2], 9).unwrap_err().kind(), &ErrorKind::Truncated { needed: 2 });
        assert!(raw_len(&(BLOCK as u32 + 1).to_le_bytes(), 0).is_err());
    }
}

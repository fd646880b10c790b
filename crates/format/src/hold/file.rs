//! The file around messages: magic, then frames, each with its length and checksum.
//!
//! ```text
//! offset  size  what
//! 0       4     magic: HOLD
//! 4       1     version: 1
//! 5       1     kind of the frame: 1 is a message
//! 6       2     zero in version 1
//! 8       8     length of the body, u64
//! 16      8     xxh3-64 of bytes 0 to 16 and of the body, seeded by that of the head
//! 24      n     body: one message
//! ```

use crate::error::{Error, Kind, Result};
use xxhash_rust::xxh3::{xxh3_64, xxh3_64_with_seed};

pub const MAGIC: [u8; 4] = *b"HOLD";
pub const HEAD: usize = 24;
const VERSION: u8 = 1;
const MESSAGE: u8 = 1;

/// Whether bytes are a file rather than a bare message.
pub fn is_file(input: &[u8]) -> bool {
    // A prefix of the magic is a file cut short.
    !input.is_empty() && MAGIC.iter().zip(input).all(|(one, other)| one == other)
}

fn checksum(start: &[u8], body: &[u8]) -> [u8; 8] {
    xxh3_64_with_seed(body, xxh3_64(start)).to_le_bytes()
}

/// What stands before `body` in a file.
pub fn head(body: &[u8]) -> [u8; HEAD] {
    let mut head = [0; HEAD];
    head[..4].copy_from_slice(&MAGIC);
    head[4] = VERSION;
    head[5] = MESSAGE;
    head[8..16].copy_from_slice(&(body.len() as u64).to_le_bytes());
    let sum = checksum(&head[..16], body);
    head[16..].copy_from_slice(&sum);
    head
}

/// Length of the whole file, from its head.
pub fn total(head: &[u8]) -> Result<usize> {
    let Some(head) = head.first_chunk::<HEAD>() else {
        return Err(Error::new(Kind::Truncated { needed: HEAD - head.len() }, head.len()));
    };
    if head[..4] != MAGIC {
        return Err(Error::new(Kind::BadFile { why: "not a hold file: it does not begin with HOLD" }, 0));
    }
    if head[4] != VERSION || head[5] != MESSAGE || head[6..8] != [0, 0] {
        return Err(Error::new(
            Kind::BadFile { why: "a hold file of a version or kind that this reader does not know" },
            4,
        ));
    }
    let mut len = [0; 8];
    len.copy_from_slice(&head[8..16]);
    usize::try_from(u64::from_le_bytes(len))
        .ok()
        .and_then(|len| len.checked_add(HEAD))
        .ok_or_else(|| Error::new(Kind::TooLong, 8))
}

/// The message in a file; its checksum is verified.
pub fn body(file: &[u8]) -> Result<&[u8]> {
    let total = total(file)?;
    let Some(body) = file.get(HEAD..total) else {
        return Err(Error::new(Kind::Truncated { needed: total - file.len() }, file.len()));
    };
    if checksum(&file[..16], body) != file[16..HEAD] {
        return Err(Error::new(Kind::Checksum, HEAD));
    }
    if file.len() > total {
        return Err(Error::new(Kind::Trailing { count: file.len() - total }, total));
    }
    Ok(body)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_flipped_bit_is_seen() {
        let message = [0xC1, 0x05];
        let mut file = head(&message).to_vec();
        file.extend_from_slice(&message);
        assert_eq!(body(&file).unwrap(), message);
        for bit in 0..file.len() * 8 {
            let mut bad = file.clone();
            bad[bit / 8] ^= 1 << (bit % 8);
            assert!(body(&bad).is_err(), "bit {bit}");
        }
        for len in 0..file.len() {
            assert!(matches!(body(&file[..len]).unwrap_err().kind(), Kind::Truncated { .. }), "{len} bytes");
        }
    }
}

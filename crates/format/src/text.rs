//! Converting text between UTF-8 and the widths in which hosts store it.

use crate::sink::Sink;

/// Whether every byte is below 0x80; without a call for short texts, which most are.
#[inline(always)]
pub(crate) fn is_ascii(bytes: &[u8]) -> bool {
    if bytes.len() > 16 {
        return bytes.is_ascii();
    }
    // Two loads that may overlap cover all lengths from 8 to 16, and from 4 to 7.
    if let (Some(head), Some(tail)) = (bytes.first_chunk::<8>(), bytes.last_chunk::<8>()) {
        return (u64::from_ne_bytes(*head) | u64::from_ne_bytes(*tail)) & 0x8080_8080_8080_8080 == 0;
    }
    if let (Some(head), Some(tail)) = (bytes.first_chunk::<4>(), bytes.last_chunk::<4>()) {
        return (u32::from_ne_bytes(*head) | u32::from_ne_bytes(*tail)) & 0x8080_8080 == 0;
    }
    bytes.iter().fold(0, |all, &byte| all | byte) < 0x80
}

/// Whether two slices are equal; without a call for those as short as names.
#[inline(always)]
pub(crate) fn same_short(one: &[u8], other: &[u8]) -> bool {
    if one.len() > 16 {
        return one == other;
    }
    // Two loads that may overlap, as in `is_ascii`.
    let word = |chunk: &[u8; 8]| u64::from_ne_bytes(*chunk);
    if let (Some(a), Some(b), Some(c), Some(d)) =
        (one.first_chunk(), other.first_chunk(), one.last_chunk(), other.last_chunk())
    {
        return (word(a) ^ word(b)) | (word(c) ^ word(d)) == 0;
    }
    let word = |chunk: &[u8; 4]| u32::from_ne_bytes(*chunk);
    if let (Some(a), Some(b), Some(c), Some(d)) =
        (one.first_chunk(), other.first_chunk(), one.last_chunk(), other.last_chunk())
    {
        return (word(a) ^ word(b)) | (word(c) ^ word(d)) == 0;
    }
    one.iter().zip(other).fold(0, |all, (a, b)| all | (a ^ b)) == 0
}

/// Whether a byte is 0; without a call for texts as short as names.
#[inline(always)]
pub(crate) fn has_nul(bytes: &[u8]) -> bool {
    const ONES: u64 = u64::from_ne_bytes([1; 8]);
    let zeros = |word: &[u8; 8]| {
        let word = u64::from_ne_bytes(*word);
        word.wrapping_sub(ONES) & !word & (ONES << 7)
    };
    match (bytes.first_chunk(), bytes.last_chunk()) {
        (Some(head), Some(tail)) if bytes.len() <= 16 => (zeros(head) | zeros(tail)) != 0,
        _ => bytes.contains(&0),
    }
}

/// How many bytes `units` take as UTF-8 (lone surrogates take three).
pub fn utf8_len<U: Copy + Into<u32>>(units: &[U]) -> usize {
    let more = |unit: u32| u16::from(unit >= 0x80) + u16::from(unit >= 0x800) + u16::from(unit >= 0x1_0000);
    // Sums of 16 bits, which these blocks can't overflow, compile to vector code four times as fast as with 64 bits.
    let blocks = units.chunks(1 << 14);
    units.len()
        + blocks.map(|block| usize::from(block.iter().fold(0, |sum, &unit| sum + more(unit.into())))).sum::<usize>()
}

/// Whether a unit is a surrogate, which stands for no character by itself.
pub fn has_surrogate<U: Copy + Into<u32>>(units: &[U]) -> bool {
    units.iter().fold(false, |found, &unit| found | (unit.into() & 0xffff_f800 == 0xd800))
}

/// A character's UTF-8 as a little-endian word, and the number of its bytes.
#[inline(always)]
fn encoded(point: u32) -> ([u8; 4], usize) {
    let (word, len) = if point < 0x80 {
        (point, 1)
    } else if point < 0x800 {
        (0x80c0 | point >> 6 | (point & 63) << 8, 2)
    } else if point < 0x1_0000 {
        (three_bytes(point), 3)
    } else {
        (0x8080_80f0 | point >> 18 | (point >> 12 & 63) << 8 | (point >> 6 & 63) << 16 | (point & 63) << 24, 4)
    };
    (word.to_le_bytes(), len)
}

/// Whether a character takes three bytes.
#[inline(always)]
fn is_long(point: u32) -> bool {
    (0x800..0x1_0000).contains(&point)
}

/// Three bytes of UTF-8 as a little-endian word.
#[inline(always)]
fn three_bytes(point: u32) -> u32 {
    0x80_80e0 | point >> 12 | (point >> 6 & 63) << 8 | (point & 63) << 16
}

/// Appends `units` as UTF-8; lone surrogates become three bytes.
pub fn push_utf8<U: Copy + Into<u32>>(units: &[U], out: &mut impl Sink) {
    // Filled on the stack and copied block by block: checking the output's room for each character took twice the time.
    const BLOCK: usize = 64;
    for units in units.chunks(BLOCK) {
        let mut block = [0u8; 4 * BLOCK];
        let mut used = 0;
        let (quads, tail) = units.as_chunks::<4>();
        for quad in quads {
            let Some(to) = block[used..].first_chunk_mut::<16>() else { break };
            let points = quad.map(Into::<u32>::into);
            let [a, b, c, d] = points;
            // Four characters of one width at fixed places don't wait for each other: a third faster on Japanese.
            if is_long(a) & is_long(b) & is_long(c) & is_long(d) {
                let [a, b, c, d] = points.map(|point| u128::from(three_bytes(point)));
                *to = (a | b << 24 | c << 48 | d << 72).to_le_bytes();
                used += 12;
            } else if a | b | c | d < 0x80 {
                for (to, point) in to.iter_mut().zip(points) {
                    [*to, ..] = point.to_le_bytes();
                }
                used += 4;
            } else {
                let mut at = 0;
                for point in points {
                    let (bytes, len) = encoded(point);
                    to[at..at + 4].copy_from_slice(&bytes);
                    at += len;
                }
                used += at;
            }
        }
        for &unit in tail {
            let Some(to) = block[used..].first_chunk_mut() else { break };
            let (bytes, len) = encoded(unit.into());
            *to = bytes;
            used += len;
        }
        out.put(&block[..used]);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::vec;
    use std::vec::Vec;

    #[test]
    fn utf8_as_the_standard_library_writes_it() {
        let text = "aé߿ࠀ￿𐀀😀\u{10ffff}".repeat(20);
        let points: Vec<u32> = text.chars().map(u32::from).collect();
        let narrow = "aé߿ࠀ￿".repeat(30);
        let units: Vec<u16> = narrow.encode_utf16().collect();
        let all: Vec<u8> = (0..=u8::MAX).collect();
        let latin: String = all.iter().map(|&byte| char::from(byte)).collect();
        for from in 0..8 {
            for to in from..100 {
                let expected: String = text.chars().skip(from).take(to - from).collect();
                both(&points[from..to], expected.as_bytes());
                let expected: String = narrow.chars().skip(from).take(to - from).collect();
                both(&units[from..to], expected.as_bytes());
            }
        }
        both(&all, latin.as_bytes());
    }

    fn both<U: Copy + Into<u32>>(units: &[U], expected: &[u8]) {
        let mut out = b"before".to_vec();
        push_utf8(units, &mut out);
        assert_eq!(&out[6..], expected);
        assert_eq!(utf8_len(units), expected.len());
        assert!(!has_surrogate(units));
    }

    #[test]
    fn a_lone_surrogate_takes_three_bytes() {
        let mut out = Vec::new();
        push_utf8(&[0xd800u16], &mut out);
        assert_eq!(out, [0xed, 0xa0, 0x80]);
        assert_eq!(utf8_len(&[0xd800u16]), 3);
        for (unit, expected) in [(0xd7ff, false), (0xd800, true), (0xdfff, true), (0xe000, false)] {
            assert_eq!(has_surrogate(&[0x61u16, unit, 0x61]), expected);
            assert_eq!(has_surrogate(&[0x1_f600, u32::from(unit)]), expected);
        }
        assert!(!has_surrogate(&[0x1_d800u32]));
    }

    #[test]
    fn a_nul_is_found_at_every_length_and_place() {
        for len in 0..40 {
            for fill in [1, b'a', 0x7f, 0x80, 0xff] {
                let mut text = vec![fill; len];
                assert!(!has_nul(&text));
                for at in 0..len {
                    text[at] = 0;
                    assert!(has_nul(&text), "{len} bytes, at {at}");
                    text[at] = fill;
                }
            }
        }
    }

    #[test]
    fn slices_are_compared_at_every_length_and_place() {
        for len in 0..40 {
            let text: Vec<u8> = (0..len).collect();
            let mut other = text.clone();
            assert!(same_short(&text, &other));
            for at in 0..text.len() {
                other[at] ^= 0x80;
                assert!(!same_short(&text, &other), "{len} bytes, at {at}");
                other[at] = text[at];
            }
        }
    }

    #[test]
    fn ascii_is_checked_at_every_length_and_place() {
        for len in 0..40 {
            let mut text = vec![b'a'; len];
            assert!(is_ascii(&text));
            for at in 0..len {
                text[at] = 0x80;
                assert!(!is_ascii(&text), "{len} bytes, at {at}");
                text[at] = b'a';
            }
        }
    }
}

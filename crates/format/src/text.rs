//! Text between the widths hosts keep it in and UTF-8.

use crate::sink::Sink;

/// Whether every byte is below 0x80; for the short texts that most are, without a call.
#[inline(always)]
pub(crate) fn is_ascii(bytes: &[u8]) -> bool {
    if bytes.len() > 16 {
        return bytes.is_ascii();
    }
    // Two loads that may overlap cover every length from 8 to 16, and from 4 to 7.
    if let (Some(head), Some(tail)) = (bytes.first_chunk::<8>(), bytes.last_chunk::<8>()) {
        return (u64::from_ne_bytes(*head) | u64::from_ne_bytes(*tail)) & 0x8080_8080_8080_8080 == 0;
    }
    if let (Some(head), Some(tail)) = (bytes.first_chunk::<4>(), bytes.last_chunk::<4>()) {
        return (u32::from_ne_bytes(*head) | u32::from_ne_bytes(*tail)) & 0x8080_8080 == 0;
    }
    bytes.iter().fold(0, |all, &byte| all | byte) < 0x80
}

/// Whether two slices of one length are the same; without a call for those as short as names are.
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

/// Whether a byte is 0; like [`is_ascii`] for the short texts that names are.
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

/// A unit of text as hosts keep it: a byte of Latin-1, or a character of two or four bytes. Loops over units stay in lanes of their
/// own width, which takes half the time of lanes of 32 bits for those of 16.
pub trait Unit: Copy + Into<u32> {
    /// How many bytes more than one it needs as UTF-8.
    fn more(self) -> u16;
    fn is_surrogate(self) -> bool;
}

impl Unit for u8 {
    #[inline(always)]
    fn more(self) -> u16 {
        u16::from(self >> 7)
    }

    #[inline(always)]
    fn is_surrogate(self) -> bool {
        false
    }
}

impl Unit for u16 {
    #[inline(always)]
    fn more(self) -> u16 {
        u16::from(self >= 0x80) + u16::from(self >= 0x800)
    }

    #[inline(always)]
    fn is_surrogate(self) -> bool {
        self & 0xf800 == 0xd800
    }
}

impl Unit for u32 {
    #[inline(always)]
    fn more(self) -> u16 {
        u16::from(self >= 0x80) + u16::from(self >= 0x800) + u16::from(self >= 0x1_0000)
    }

    #[inline(always)]
    fn is_surrogate(self) -> bool {
        self & 0xffff_f800 == 0xd800
    }
}

/// Bytes that `units` need as UTF-8 (lone surrogates as three bytes).
pub fn utf8_len<U: Unit>(units: &[U]) -> usize {
    // Sums of 16 bits, which these blocks can't overflow, become vector code four times as fast as those of 64.
    let blocks = units.chunks(1 << 14);
    units.len() + blocks.map(|block| usize::from(block.iter().fold(0, |sum, unit| sum + unit.more()))).sum::<usize>()
}

/// Whether a unit is half of a pair, which stands for no character by itself.
pub fn has_surrogate<U: Unit>(units: &[U]) -> bool {
    units.iter().fold(false, |found, unit| found | unit.is_surrogate())
}

/// UTF-8 of one character, as a little-endian word. All forms are put together, and one is chosen: as vector code, for several
/// characters at once. A branch, which a processor guesses wrongly where widths are mixed, would cost more.
#[inline(always)]
fn encoded(point: u32) -> u32 {
    let part = |at: u32| point >> at & 63;
    let (two, three) = (two_bytes(point), three_bytes(point));
    let four = 0x8080_80f0 | point >> 18 | part(12) << 8 | part(6) << 16 | part(0) << 24;
    let word = if point >= 0x80 { two } else { point };
    let word = if point >= 0x800 { three } else { word };
    if point >= 0x1_0000 {
        four
    } else {
        word
    }
}

#[inline(always)]
fn two_bytes(point: u32) -> u32 {
    0x80c0 | point >> 6 | (point & 63) << 8
}

#[inline(always)]
fn three_bytes(point: u32) -> u32 {
    0x80_80e0 | point >> 12 | (point >> 6 & 63) << 8 | (point & 63) << 16
}

/// How many bytes [`encoded`] gives.
#[inline(always)]
fn encoded_len(point: u32) -> u8 {
    1 + u8::from(point >= 0x80) + u8::from(point >= 0x800) + u8::from(point >= 0x1_0000)
}

/// Appends `units` as UTF-8, lone surrogates as three bytes.
pub fn push_utf8<U: Unit>(units: &[U], out: &mut impl Sink) {
    // Blocks on the stack, then one copy each: a check of the output's room per character took twice the time.
    const BLOCK: usize = 64;
    const FEW: usize = 32;
    let mut block = [0; 4 * BLOCK + 4];
    if units.len() <= FEW {
        let used = put_few(units, &mut block);
        return out.put(&block[..used]);
    }
    for units in units.chunks(BLOCK) {
        let used = put_many::<U, BLOCK>(units, &mut block);
        out.put(&block[..used]);
    }
}

/// Writes the UTF-8 of a short text, for which it does not pay to prepare anything: how many bytes that is.
#[inline(always)]
fn put_few<U: Unit>(units: &[U], block: &mut [u8]) -> usize {
    let mut used = 0;
    for &unit in units {
        let point = unit.into();
        let Some(to) = block[used..].first_chunk_mut::<4>() else { break };
        used += match point {
            ..0x80 => {
                [to[0], ..] = point.to_le_bytes();
                1
            }
            0x80..0x800 => {
                [to[0], to[1], ..] = two_bytes(point).to_le_bytes();
                2
            }
            0x800..0x1_0000 => {
                *to = three_bytes(point).to_le_bytes();
                3
            }
            _ => {
                *to = encoded(point).to_le_bytes();
                4
            }
        };
    }
    used
}

/// Writes the UTF-8 of up to `N` units into a block with four bytes for each and four more: how many bytes that is.
#[inline(always)]
fn put_many<U: Unit, const N: usize>(units: &[U], block: &mut [u8]) -> usize {
    let points = units.iter().map(|&unit| unit.into());
    let (least, most) = points.fold((u32::MAX, 0), |(least, most), point: u32| (least.min(point), most.max(point)));
    // Characters of one width stand at places known beforehand, and do not wait for each other.
    match (least, most) {
        (0x80.., ..0x800) => {
            for (to, &unit) in block.as_chunks_mut::<2>().0.iter_mut().zip(units) {
                let [a, b, ..] = two_bytes(unit.into()).to_le_bytes();
                *to = [a, b];
            }
            return 2 * units.len();
        }
        (0x800.., ..0x1_0000) => {
            for (to, &unit) in block.as_chunks_mut::<3>().0.iter_mut().zip(units) {
                let [a, b, c, _] = three_bytes(unit.into()).to_le_bytes();
                *to = [a, b, c];
            }
            return 3 * units.len();
        }
        _ => {}
    }
    let (mut words, mut lens) = ([0; N], [0; N]);
    for ((word, len), &unit) in words.iter_mut().zip(&mut lens).zip(units) {
        let point = unit.into();
        (*word, *len) = (encoded(point), encoded_len(point));
    }
    let mut used = 0;
    for (word, &len) in words[..units.len().min(N)].iter().zip(&lens) {
        if let Some(to) = block[used..].first_chunk_mut() {
            *to = word.to_le_bytes();
        }
        used += usize::from(len);
    }
    used
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

    fn both<U: Unit>(units: &[U], expected: &[u8]) {
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

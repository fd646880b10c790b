//! UTF-8 to the widths that hosts keep text in.
//!
//! A branch for each character, which a processor guesses wrongly where widths are mixed, costs more than all the rest. So the
//! text is checked first, a vector at a time; then a mask says where the characters of 64 bytes begin, and each is put together
//! without a question.

use crate::text::is_ascii;

/// How many bytes one mask stands for.
const BLOCK: usize = 64;

/// What a host has to know of a text before it makes a string of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Measure {
    /// How many characters it has.
    pub count: usize,
    pub width: Width,
}

/// How wide the widest character is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Width {
    Ascii,
    Latin1,
    Ucs2,
    Ucs4,
}

/// A unit that holds any character of its width.
pub trait Unit: Copy + Default {
    /// The character that a little-endian word of four bytes begins with.
    fn of(word: u32) -> Self;
}

#[inline(always)]
fn of_two(word: u32) -> u32 {
    (word & 0x1F) << 6 | (word >> 8 & 0x3F)
}

#[inline(always)]
fn of_three(word: u32) -> u32 {
    (word & 0x0F) << 12 | (word >> 8 & 0x3F) << 6 | (word >> 16 & 0x3F)
}

#[inline(always)]
fn of_four(word: u32) -> u32 {
    (word & 0x07) << 18 | (word >> 8 & 0x3F) << 12 | (word >> 16 & 0x3F) << 6 | (word >> 24 & 0x3F)
}

// All forms are put together, and one is chosen: as vector code, for several words at once.
macro_rules! units {
    ($($unit:ty: $($least:literal $of:ident)*;)*) => {$(
        impl Unit for $unit {
            #[inline(always)]
            #[allow(clippy::cast_possible_truncation, clippy::unnecessary_cast)]
            fn of(word: u32) -> Self {
                let first = word & 0xFF;
                let point = first;
                $(let point = if first >= $least { $of(word) } else { point };)*
                point as $unit
            }
        }
    )*};
}

units! {
    u8: 0xC0 of_two;
    u16: 0xC0 of_two 0xE0 of_three;
    u32: 0xC0 of_two 0xE0 of_three 0xF0 of_four;
}

/// `None`: it is not UTF-8, or has surrogates.
#[inline]
pub fn measure(bytes: &[u8]) -> Option<Measure> {
    simdutf8::basic::from_utf8(bytes).ok()?;
    let most = bytes.iter().fold(0, |most, &byte| byte.max(most));
    let width = match most {
        ..0x80 => Width::Ascii,
        // The first bytes of characters from U+0100 on.
        0x80..0xC4 => Width::Latin1,
        0xC4..0xF0 => Width::Ucs2,
        0xF0.. => Width::Ucs4,
    };
    // Sums of 8 bits, which these blocks can't overflow, become the shortest vector code.
    let begins = |&byte: &u8| u8::from(byte & 0xC0 != 0x80);
    let count = bytes.chunks(255).map(|block| usize::from(block.iter().map(begins).sum::<u8>())).sum();
    Some(Measure { count, width })
}

/// [`decode`] for short texts, of which one mask isn't worth its preparation: character by character, of as many bytes as the first says.
pub fn decode_short<U: Unit>(bytes: &[u8], out: &mut [U]) {
    /// How many bytes a character takes, by the upper half of its first one, four bits each.
    const LENGTHS: u64 = 0x4322_1111_1111_1111;
    let mut at = 0;
    for unit in out {
        let word = match bytes.get(at..).and_then(|rest| rest.first_chunk::<4>()) {
            Some(word) => u32::from_le_bytes(*word),
            None => bytes.iter().skip(at).rev().fold(0, |word, &byte| word << 8 | u32::from(byte)),
        };
        *unit = U::of(word);
        at += (LENGTHS >> (word >> 2 & 0x3C) & 7) as usize;
    }
}

/// Writes the characters of `bytes`, which were measured, each as one unit; those for which there is no room are left out.
pub fn decode<U: Unit>(bytes: &[u8], mut out: &mut [U]) {
    let mut at = 0;
    // The last character of a block may end behind it, and four bytes are read of each.
    while let Some(block) = bytes.get(at..at + BLOCK + 4).and_then(|block| block.first_chunk::<{ BLOCK + 4 }>()) {
        out = characters(block, BLOCK, out);
        at += BLOCK;
    }
    let rest = &bytes[at..];
    let mut block = [0; 2 * BLOCK + 4];
    block[..rest.len()].copy_from_slice(rest);
    for (start, len) in [(0, rest.len().min(BLOCK)), (BLOCK, rest.len().saturating_sub(BLOCK))] {
        if let (Some(block), 1..) = (block[start..].first_chunk::<{ BLOCK + 4 }>(), len) {
            out = characters(block, len, out);
        }
    }
}

/// The characters that begin in the first `len` bytes, of which there is one or more. Returns the room that is left.
#[inline(always)]
fn characters<'o, U: Unit>(block: &[u8; BLOCK + 4], len: usize, out: &'o mut [U]) -> &'o mut [U] {
    if is_ascii(&block[..len]) {
        let count = len.min(out.len());
        let (now, rest) = out.split_at_mut(count);
        now.iter_mut().zip(block).for_each(|(unit, &byte)| *unit = U::of(byte.into()));
        return rest;
    }
    let mut begins = begins(block) & (u64::MAX >> (BLOCK - len));
    let count = (begins.count_ones() as usize).min(out.len());
    let (now, rest) = out.split_at_mut(count);
    // Characters of two bytes only, as in one word of Greek or Russian.
    if len == BLOCK && (begins == EVEN || begins == !EVEN) {
        let (pairs, _) = block[usize::from(begins != EVEN)..].as_chunks::<2>();
        let pairs = pairs.iter().map(|pair| u32::from(u16::from_le_bytes(*pair)));
        now.iter_mut().zip(pairs).for_each(|(unit, pair)| *unit = U::of(pair));
        return rest;
    }
    // First the words, one by one; then what they say, all at once. The end of this loop is guessed wrongly once for a block.
    let mut words = [0; BLOCK];
    for word in &mut words[..count] {
        let at = begins.trailing_zeros() as usize % BLOCK;
        begins &= begins.wrapping_sub(1);
        *word = block[at..].first_chunk().map_or(0, |four| u32::from_le_bytes(*four));
    }
    now.iter_mut().zip(&words).for_each(|(unit, &word)| *unit = U::of(word));
    rest
}

/// Every other byte, from the first on.
const EVEN: u64 = 0x5555_5555_5555_5555;

/// A bit for each byte: whether a character begins there.
#[inline(always)]
fn begins(block: &[u8; BLOCK + 4]) -> u64 {
    const TOPS: u64 = 0x8080_8080_8080_8080;
    // Gathers the lowest bit of each byte into the highest byte.
    const GATHER: u64 = 0x0102_0408_1020_4080;
    let mut mask = 0;
    for (place, word) in block.as_chunks::<8>().0.iter().take(BLOCK / 8).enumerate() {
        let word = u64::from_le_bytes(*word);
        let goes_on = word & !(word << 1) & TOPS;
        let begins = (!goes_on & TOPS) >> 7;
        mask |= (begins.wrapping_mul(GATHER) >> 56) << (8 * place);
    }
    mask
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::string::String;
    use std::vec;
    use std::vec::Vec;

    fn check(text: &str) {
        let points: Vec<u32> = text.chars().map(u32::from).collect();
        let measure = measure(text.as_bytes()).unwrap();
        assert_eq!(measure.count, points.len());
        let widest = points.iter().copied().max().unwrap_or(0);
        let expected = match widest {
            ..0x80 => Width::Ascii,
            0x80..0x100 => Width::Latin1,
            0x100..0x1_0000 => Width::Ucs2,
            _ => Width::Ucs4,
        };
        assert_eq!(measure.width, expected);
        assert_eq!(decoded::<u32>(text, points.len()), points);
        if widest < 0x1_0000 {
            let units = decoded::<u16>(text, points.len());
            assert!(units.iter().zip(&points).all(|(&unit, &point)| u32::from(unit) == point));
        }
        if widest < 0x100 {
            let units = decoded::<u8>(text, points.len());
            assert!(units.iter().zip(&points).all(|(&unit, &point)| u32::from(unit) == point));
        }
    }

    fn decoded<U: Unit + PartialEq + std::fmt::Debug>(text: &str, room: usize) -> Vec<U> {
        let mut units = vec![U::default(); room];
        decode(text.as_bytes(), &mut units);
        let mut one_by_one = vec![U::default(); room];
        decode_short(text.as_bytes(), &mut one_by_one);
        assert_eq!(units, one_by_one);
        units
    }

    #[test]
    fn every_character_is_itself() {
        let all: Vec<char> = (0..=0x10_FFFF).filter_map(char::from_u32).collect();
        for some in all.chunks(997) {
            check(&some.iter().collect::<String>());
        }
    }

    #[test]
    fn every_length_and_mixture() {
        for kinds in [
            "a",
            "aé",
            "é",
            "aλ",
            "λ",
            "日本",
            "a日",
            "a😀",
            "aé日😀",
            "\u{ff}\u{100}",
            "\u{7f}\u{80}\u{7ff}\u{800}\u{ffff}\u{10000}",
        ] {
            let kinds: Vec<char> = kinds.chars().collect();
            for len in 0..200 {
                let text: String = (0..len).map(|at| kinds[(at * at + at / 3) % kinds.len()]).collect();
                check(&text);
                check(&text.chars().rev().collect::<String>());
            }
        }
    }

    #[test]
    fn what_is_no_utf8_has_no_measure() {
        let bad: [&[u8]; 9] = [
            b"\x80",
            b"\xC3",
            b"\xC0\x80",
            b"\xE0\x80\x80",
            b"\xED\xA0\x80",
            b"\xF4\x90\x80\x80",
            b"\xF0\x80\x80\x80",
            b"\xFF",
            b"\xE6\x97",
        ];
        for bytes in bad {
            for before in 0..100 {
                let mut text = vec![b'a'; before];
                text.extend(bytes);
                assert_eq!(measure(&text), None);
                text.extend([b'b'; 70]);
                assert_eq!(measure(&text), None);
            }
        }
    }

    #[test]
    fn too_little_room_is_no_harm() {
        let mut out = [0u16; 3];
        decode("日本語だけ".as_bytes(), &mut out);
        assert_eq!(out, [0x65E5, 0x672C, 0x8A9E]);
    }
}

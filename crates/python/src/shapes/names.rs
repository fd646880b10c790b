//! A cache of strings that occur in message after message: keys and field names, found by their bytes, with their hash
//! computed. What came once is not in it yet. It holds only immutable strings, compared byte by byte, so one message can't see anything of another.

use crate::cpython::{text, Owned};
use crate::shapes::cache::{DirectMapped, Marks};
use crate::state::{Name, StateSlot};
use pyo3::{ffi, Python};

const SIZE: usize = 2048;
/// Longer names are not kept.
const LONGEST: usize = 48;

// SAFETY: no other slot has this name.
static CACHE: StateSlot<DirectMapped<Owned, SIZE>> = unsafe { StateSlot::new(Name::Names) };

// SAFETY: no other slot has this name.
static MARKS: StateSlot<Marks<SIZE>> = unsafe { StateSlot::new(Name::MarksOfNames) };

#[inline(always)]
fn hash(bytes: &[u8]) -> u64 {
    let word = |chunk: Option<&[u8; 8]>| chunk.map_or(0, |chunk| u64::from_ne_bytes(*chunk));
    let mix = if bytes.len() >= 8 {
        let middle = bytes[bytes.len() / 2 - 4..].first_chunk();
        word(bytes.first_chunk()) ^ word(bytes.last_chunk()).rotate_left(23) ^ word(middle).rotate_left(41)
    } else {
        bytes.iter().fold(0, |word, &byte| word << 8 | u64::from(byte))
    };
    (mix ^ bytes.len() as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15)
}

/// A string of ASCII bytes, possibly made before: from the third time on, with its hash computed.
///
/// # Safety
/// The GIL is held; every byte is ASCII.
#[inline(always)]
pub unsafe fn name(bytes: &[u8]) -> Option<Owned> {
    // SAFETY: the GIL is held and the bytes are ASCII, by contract.
    unsafe {
        if bytes.len() > LONGEST {
            return text::from_ascii(bytes);
        }
        let py = Python::assume_attached();
        let (marks, hash) = (MARKS.get(py), hash(bytes));
        let place = (hash >> 53) as usize;
        if !marks.met(place, hash) {
            marks.meet(place, hash);
            return text::from_ascii(bytes);
        }
        let cache = CACHE.get(py);
        let is_that = |known: &Owned| text::ascii(known.get()) == Some(bytes);
        if let Some(known) = cache.find(place, |known| is_that(known).then(|| known.clone())) {
            return Some(known);
        }
        let made = text::from_ascii(bytes)?;
        ffi::PyObject_Hash(made.get());
        cache.keep(place, made.clone());
        Some(made)
    }
}

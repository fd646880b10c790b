//! The shape cache for dicts: found by the bytes of their names, with the template dict ready. Like the cache of names,
//! it holds nothing but immutable strings (and a dict of them that is only copied), so no data pass from one message to
//! another.

use crate::memory::Vec;
use crate::shapes::cache::{DirectMapped, Marks};
use crate::shapes::Shape;
use crate::state::{Name, StateSlot};
use pyo3::prelude::*;
use std::rc::Rc;

const SIZE: usize = 256;
/// Longer blocks are not kept, which bounds the cache to half a megabyte of names.
const LONGEST: usize = 1024;

// SAFETY: no other slot has this name.
static CACHE: StateSlot<DirectMapped<(Vec<u8>, Rc<Shape>), SIZE>> = unsafe { StateSlot::new(Name::DictShapes) };

// SAFETY: no other slot has this name.
static MARKS: StateSlot<Marks<SIZE>> = unsafe { StateSlot::new(Name::MarksOfDictShapes) };

fn hash(block: &[u8]) -> u64 {
    let (words, rest) = block.as_chunks::<8>();
    let mix = |hash: u64, word: u64| (hash ^ word).wrapping_mul(0x9e37_79b9_7f4a_7c15).rotate_left(29);
    let hash = words.iter().fold(block.len() as u64, |hash, &word| mix(hash, u64::from_le_bytes(word)));
    let tail = rest.iter().fold(0, |word, &byte| word << 8 | u64::from(byte));
    mix(hash, tail)
}

/// The index of a hash in a table of 256 entries.
fn index(hash: u64) -> usize {
    (hash >> 56) as usize
}

/// The index of a block of names in a table of 256 entries.
pub fn place(block: &[u8]) -> usize {
    index(hash(block))
}

/// Where the marks say that a block of this hash has come: at its own place, or at the other one that it shares with that place's
/// blocks. (Of 64 sets of optional keys, eight pushed each other out where each had one place.)
fn met(marks: &Marks<SIZE>, hash: u64) -> Option<usize> {
    let place = index(hash);
    [place, place ^ 1].into_iter().find(|&place| marks.met(place, hash))
}

/// Notes that a block came.
fn meet(marks: &Marks<SIZE>, hash: u64) {
    let place = index(hash);
    let other = !marks.is_free(place) && (marks.is_free(place ^ 1) || hash & 1 == 1);
    marks.meet(place ^ usize::from(other), hash);
}

pub fn find(py: Python<'_>, block: &[u8]) -> Option<Rc<Shape>> {
    let hash = hash(block);
    let place = met(MARKS.get(py), hash)?;
    CACHE.get(py).find(place, |(known, shape)| (**known == *block).then(|| shape.clone()))
}

/// Whether a block has not come before; from now on it has.
pub fn is_new(py: Python<'_>, block: &[u8]) -> bool {
    let (hash, marks) = (hash(block), MARKS.get(py));
    let is_new = met(marks, hash).is_none();
    if is_new {
        meet(marks, hash);
    }
    is_new
}

/// Keeps a shape that comes for the second time.
pub fn keep(py: Python<'_>, block: &[u8], shape: &Rc<Shape>) {
    if block.is_empty() || block.len() > LONGEST {
        return;
    }
    let (hash, marks) = (hash(block), MARKS.get(py));
    match met(marks, hash) {
        Some(place) => CACHE.get(py).keep(place, (block.into(), shape.clone())),
        None => meet(marks, hash),
    }
}

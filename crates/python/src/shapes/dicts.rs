//! The shape cache for dicts: found by the bytes of their names, with the template dict ready. Like the cache of names,
//! it holds nothing but immutable strings (and a dict of them that is only copied), so no data pass from one message to
//! another.

use crate::memory::Vec;
use crate::shapes::cache::DirectMapped;
use crate::shapes::Shape;
use crate::state::{Name, StateSlot};
use pyo3::prelude::*;
use std::rc::Rc;

const SIZE: usize = 256;
/// Longer blocks are not kept, which bounds the cache to half a megabyte of names.
const LONGEST: usize = 1024;

// SAFETY: no other slot has this name.
static CACHE: StateSlot<DirectMapped<(Vec<u8>, Rc<Shape>), SIZE>> = unsafe { StateSlot::new(Name::DictShapes) };

/// The index of a block of names in a table of 256 entries.
pub fn place(block: &[u8]) -> usize {
    let (words, rest) = block.as_chunks::<8>();
    let mix = |hash: u64, word: u64| (hash ^ word).wrapping_mul(0x9e37_79b9_7f4a_7c15).rotate_left(29);
    let hash = words.iter().fold(block.len() as u64, |hash, &word| mix(hash, u64::from_le_bytes(word)));
    let tail = rest.iter().fold(0, |word, &byte| word << 8 | u64::from(byte));
    (mix(hash, tail) >> 56) as usize
}

pub fn find(py: Python<'_>, block: &[u8]) -> Option<Rc<Shape>> {
    CACHE.get(py).find(place(block), |(known, shape)| (**known == *block).then(|| shape.clone()))
}

pub fn keep(py: Python<'_>, block: &[u8], shape: &Rc<Shape>) {
    if !block.is_empty() && block.len() <= LONGEST {
        CACHE.get(py).keep(place(block), (block.into(), shape.clone()));
    }
}

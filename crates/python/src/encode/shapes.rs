//! The shapes of one message: the key lists and classes that were written, and their numbers.

use crate::cpython::dict::Pair;
use crate::cpython::{references, text, Obj, Owned};
use crate::memory::{vec, Vec};

/// No shape.
pub const NONE: u32 = u32::MAX;
/// Dicts with more keys are written pair by pair: they are tables, whose keys don't repeat.
pub const MOST_KEYS: usize = 64;

/// With how many equal key lists made of different strings a new one is compared, the latest first. Each batch of data
/// that was parsed separately has its own strings; comparing with all would be quadratic in the number of batches.
const MOST_EQUAL: usize = 8;

/// After so many dicts in a row whose keys are new, the next ones are written pair by pair if theirs are new as well. Of
/// these, one in so many gets a shape, so that keys that begin to repeat are noticed.
const FRUITLESS: u32 = 16;

/// Words of the bits that say how the shapes begin.
const BEGUN: usize = 16;

struct WrittenShape {
    hash: u64,
    /// The previous shape in the same slot of the table, plus one.
    older: u32,
    /// The class, or 0 for a dict.
    class: usize,
    start: u32,
    len: u32,
}

pub struct WrittenShapes {
    all: Vec<WrittenShape>,
    /// The names of all shapes, held so that no other string gets their addresses.
    names: Vec<Owned>,
    /// The last shape of the value under each name.
    hints: Vec<u32>,
    /// By hash, the last shape of each slot, plus one.
    table: Vec<u32>,
    /// How many dicts with other keys than any before came since the last one whose keys were known.
    pub new_in_a_row: u32,
    /// A bit for each shape of a dict, by the number and the first of its keys: most dicts with new keys are told by it.
    begun: [u64; BEGUN],
}

impl WrittenShapes {
    pub fn new() -> WrittenShapes {
        WrittenShapes {
            all: Vec::new(),
            names: Vec::new(),
            hints: Vec::new(),
            table: vec![0; 64],
            new_in_a_row: 0,
            begun: [0; BEGUN],
        }
    }

    pub fn clear(&mut self) {
        const FEW: usize = 4;
        self.new_in_a_row = 0;
        if self.table.len() > 1 << 12 {
            *self = WrittenShapes::new();
        } else if !self.all.is_empty() {
            if self.all.len() > FEW {
                self.table.fill(0);
            } else {
                for at in 0..self.all.len() {
                    let place = self.place(self.all[at].hash);
                    self.table[place] = 0;
                }
            }
            self.begun = [0; BEGUN];
            self.all.clear();
            self.names.clear();
            self.hints.clear();
        }
    }

    /// Whether `shape` is that of a dict with these keys, compared by address.
    ///
    /// Keys are compared in order; a dict of another length doesn't match.
    #[inline(always)]
    pub fn is_dict(&self, shape: u32, entries: &[Pair]) -> bool {
        let Some(shape) = self.all.get(shape as usize) else { return false };
        if shape.class != 0 || shape.len as usize != entries.len() {
            return false;
        }
        let names = &self.names[shape.start as usize..][..entries.len()];
        names.iter().zip(entries).all(|(name, entry)| name.get() == entry.key)
    }

    /// The shape with that class (0 for a dict) and these names, if it was written.
    ///
    /// A name matches if it is the same string, or an equal one that nobody else holds: its identity doesn't matter.
    /// `interned`: equal strings are written as one object anyway.
    ///
    /// # Safety
    /// `names` are strings.
    pub unsafe fn find(&self, class: usize, names: &[Obj], hash: u64, interned: bool) -> Option<u32> {
        let mut next = self.table[self.place(hash)];
        let mut left = MOST_EQUAL;
        while let Some(number) = next.checked_sub(1) {
            let shape = &self.all[number as usize];
            if shape.hash == hash && shape.class == class && shape.len as usize == names.len() {
                let known = &self.names[shape.start as usize..][..names.len()];
                // SAFETY: `names` are strings by contract, and so are the held names.
                if known.iter().zip(names).all(|(known, &name)| unsafe {
                    known.get() == name || ((interned || references(name) == 1) && text::equal(known.get(), name))
                }) {
                    return Some(number);
                }
                left -= 1;
                if left == 0 {
                    return None;
                }
            }
            next = shape.older;
        }
        None
    }

    /// Whether a dict with new keys should be written without a shape. Counts it.
    #[inline(always)]
    pub fn is_fruitless(&mut self) -> bool {
        self.new_in_a_row += 1;
        self.new_in_a_row > FRUITLESS && !self.new_in_a_row.is_multiple_of(FRUITLESS)
    }

    /// Whether it is known at a glance that no shape has these keys, and that the next one won't get one either: then it is counted.
    ///
    /// # Safety
    /// The keys are strings.
    #[inline(always)]
    pub unsafe fn is_fruitless_at_once(&mut self, entries: &[Pair]) -> bool {
        let next = self.new_in_a_row + 1;
        if next <= FRUITLESS || next.is_multiple_of(FRUITLESS) {
            return false;
        }
        let Some(&Pair { key: first, .. }) = entries.first() else { return false };
        // SAFETY: by the contract.
        let (word, bit) = unsafe { begins(first, entries.len()) };
        let is_new = self.begun[word] & bit == 0;
        self.new_in_a_row += u32::from(is_new);
        is_new
    }

    /// The number of shapes.
    pub fn len(&self) -> u32 {
        self.all.len() as u32
    }

    /// Adds a shape; returns its number.
    ///
    /// # Safety
    /// `names` are alive.
    pub unsafe fn add(&mut self, class: usize, names: &[Obj], hash: u64) -> u32 {
        let number = self.all.len() as u32;
        if let (0, Some(&first)) = (class, names.first()) {
            // SAFETY: a shape of a dict has strings.
            let (word, bit) = unsafe { begins(first, names.len()) };
            self.begun[word] |= bit;
        }
        self.all.push(WrittenShape { hash, older: 0, class, start: self.names.len() as u32, len: names.len() as u32 });
        // SAFETY: `names` are alive by contract.
        self.names.extend(names.iter().map(|&name| unsafe { Owned::borrowed(name) }));
        self.hints.resize(self.names.len(), NONE);
        if self.all.len() * 2 > self.table.len() {
            self.table = vec![0; self.table.len() * 4];
            for number in 0..self.all.len() {
                self.enter(number as u32);
            }
        } else {
            self.enter(number);
        }
        number
    }

    fn enter(&mut self, number: u32) {
        let place = self.place(self.all[number as usize].hash);
        self.all[number as usize].older = std::mem::replace(&mut self.table[place], number + 1);
    }

    fn place(&self, hash: u64) -> usize {
        hash as usize & (self.table.len() - 1)
    }

    /// The names of a shape; none if there is no such shape.
    #[inline(always)]
    pub fn names(&self, shape: u32) -> &[Owned] {
        match self.all.get(shape as usize) {
            Some(shape) => &self.names[shape.start as usize..][..shape.len as usize],
            None => &[],
        }
    }

    /// The last shape of the value under the `at`th name of `shape`.
    #[inline(always)]
    pub fn hint(&mut self, shape: u32, at: usize) -> Option<&mut u32> {
        let shape = self.all.get(shape as usize)?;
        self.hints.get_mut(shape.start as usize + at)
    }
}

/// The word and the bit for shapes of so many keys of which this is the first.
///
/// # Safety
/// `first` is a string.
#[inline(always)]
unsafe fn begins(first: Obj, len: usize) -> (usize, u64) {
    // SAFETY: by the contract.
    let hash = (unsafe { text::hash(first) } as u64).wrapping_add(len as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 32;
    (hash as usize % BEGUN, 1 << (hash >> 8 & 63))
}

/// A hash of the names' values, so that equal key lists are found whichever strings they consist of.
///
/// # Safety
/// `names` are strings.
pub unsafe fn hash_of(class: usize, names: &[Obj]) -> u64 {
    let hash = names.iter().fold(class as u64, |hash, &name| {
        // SAFETY: `names` are strings by contract.
        (hash.rotate_left(5) ^ unsafe { text::hash(name) } as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15)
    });
    hash ^ hash >> 32
}

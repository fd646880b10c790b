//! The ids of objects that were written, by address.

use crate::cpython::Obj;
use crate::memory::{zeroed, Zeroable};

#[derive(Clone, Copy)]
struct Entry {
    object: usize,
    number: u32,
    /// The entry is valid only if this is the table's round, so clearing the table is one addition.
    round: u32,
}

pub struct Memo {
    entries: Box<[Entry]>,
    used: usize,
    round: u32,
    shift: u32,
}

/// In place of an id, by a first walk that only looks for what occurs again: it was met once, or again.
pub const ONCE: u32 = u32::MAX - 1;
pub const AGAIN: u32 = u32::MAX;

const START: usize = 1 << 9;
/// How many entries (of 16 bytes) a thread keeps between messages: fresh pages cost as much as filling them.
const LARGEST: usize = 1 << 19;
// SAFETY: three numbers, for which zero bits are valid.
unsafe impl Zeroable for Entry {}

/// What the memo says about an object.
pub enum Met {
    Before(u32),
    Never,
}

impl Memo {
    pub fn new() -> Memo {
        Memo { entries: zeroed(START).into(), used: 0, round: 1, shift: 64 - START.trailing_zeros() }
    }

    /// Forgets all objects. A very large table, or one much larger than its content, is replaced: small messages would
    /// miss the processor's cache in it.
    pub fn clear(&mut self) {
        if self.entries.len() > LARGEST
            || (self.entries.len() > START && self.used * 32 < self.entries.len())
            || self.round == u32::MAX
        {
            *self = Memo::new();
        } else {
            self.used = 0;
            self.round += 1;
        }
    }

    #[inline(always)]
    fn slot(&self, object: Obj) -> usize {
        // Objects are aligned to 16 bytes; the multiplication spreads the other bits over the upper ones.
        ((object as u64 >> 4).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> self.shift) as usize
    }

    /// The object's id; if it has none, it gets `number`.
    #[inline(always)]
    pub fn meet(&mut self, object: Obj, number: u32) -> Met {
        let mask = self.entries.len() - 1;
        let mut at = self.slot(object);
        loop {
            let entry = &mut self.entries[at & mask];
            if entry.round != self.round {
                *entry = Entry { object: object as usize, number, round: self.round };
                self.used += 1;
                if self.used * 3 > self.entries.len() * 2 {
                    self.grow();
                }
                return Met::Never;
            }
            if entry.object == object as usize {
                return Met::Before(entry.number);
            }
            at += 1;
        }
    }

    fn entry(&mut self, object: Obj) -> Option<&mut Entry> {
        let mask = self.entries.len() - 1;
        let mut at = self.slot(object);
        loop {
            let entry = self.entries[at & mask];
            if entry.round != self.round {
                return None;
            }
            if entry.object == object as usize {
                return Some(&mut self.entries[at & mask]);
            }
            at += 1;
        }
    }

    /// The object's id, or what a first walk noted, to be changed.
    #[inline]
    pub fn number_mut(&mut self, object: Obj) -> Option<&mut u32> {
        self.entry(object).map(|entry| &mut entry.number)
    }

    /// The object's id, if it has one.
    pub fn number(&self, object: Obj) -> Option<u32> {
        let mask = self.entries.len() - 1;
        let mut at = self.slot(object);
        loop {
            let entry = &self.entries[at & mask];
            if entry.round != self.round {
                return None;
            }
            if entry.object == object as usize {
                return (entry.number < ONCE).then_some(entry.number);
            }
            at += 1;
        }
    }

    /// Gives another id to an object that has one.
    pub fn renumber(&mut self, object: Obj, number: u32) {
        if let Some(known) = self.number_mut(object) {
            *known = number;
        }
    }

    #[cold]
    #[inline(never)]
    fn grow(&mut self) {
        // Small tables grow quickly, large ones as needed: they are most of the memory for a graph of shared objects.
        let factor = if self.entries.len() < START << 5 { 4 } else { 2 };
        let larger = zeroed(self.entries.len() * factor).into();
        let old = std::mem::replace(&mut self.entries, larger);
        self.shift = 64 - self.entries.len().trailing_zeros();
        let mask = self.entries.len() - 1;
        for entry in old.iter().filter(|entry| entry.round == self.round) {
            let mut at = self.slot(entry.object as Obj);
            while self.entries[at & mask].round == self.round {
                at += 1;
            }
            self.entries[at & mask] = *entry;
        }
    }
}

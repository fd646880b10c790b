//! Which objects were written, and under which number: a table from addresses.

use crate::cpython::Obj;
use crate::memory::{zeroed, Zeroable};

#[derive(Clone, Copy)]
struct Entry {
    object: usize,
    number: u32,
    /// The entry counts only if this is the table's round: clearing the table is one addition.
    round: u32,
}

pub struct Memo {
    entries: Box<[Entry]>,
    used: usize,
    round: u32,
    shift: u32,
}

const START: usize = 1 << 9;
/// Entries (of 16 bytes) that a thread keeps from one message to the next: fresh pages cost as much as filling them.
const LARGEST: usize = 1 << 19;
// SAFETY: three numbers.
unsafe impl Zeroable for Entry {}

/// What the memo says of an object.
pub enum Met {
    Before(u32),
    Never,
}

impl Memo {
    pub fn new() -> Memo {
        Memo { entries: zeroed(START).into(), used: 0, round: 1, shift: 64 - START.trailing_zeros() }
    }

    /// Forgets all objects; gives back a table that is very large, or much larger than what it held: small messages
    /// would miss the cache in it.
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
        // Objects are 16-byte aligned; the multiplication spreads the rest over the upper bits.
        ((object as u64 >> 4).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> self.shift) as usize
    }

    /// The object's number; if it has none, it gets `number`.
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

    /// The object's number, if it has one.
    pub fn number(&self, object: Obj) -> Option<u32> {
        let mask = self.entries.len() - 1;
        let mut at = self.slot(object);
        loop {
            let entry = &self.entries[at & mask];
            if entry.round != self.round {
                return None;
            }
            if entry.object == object as usize {
                return Some(entry.number);
            }
            at += 1;
        }
    }

    /// Gives an object that has a number another one.
    pub fn renumber(&mut self, object: Obj, number: u32) {
        if let Some(entry) = self.entry(object) {
            entry.number = number;
        }
    }

    #[cold]
    #[inline(never)]
    fn grow(&mut self) {
        // Small tables grow fast, large ones by what they need: they are most of what a graph of shared objects takes.
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

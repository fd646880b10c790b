//! How crowded a hash table is where a key would go: read before the key is added, as whoever chooses keys can choose such
//! as have to pass all others. Text and bytes are hashed with a secret and need no look.
//!
//! Dicts are read as in [`super::dict`], sets as in [`super::set`]. Elsewhere nobody is in the way.

use super::dict::{self, Table};
use super::set::{self, Set};
use super::Obj;
use crate::memory::vec;

/// By how many bits a hash is shifted for each step (`PERTURB_SHIFT` of CPython).
const SHIFT: u32 = 5;
/// How many places of a set are looked at in a row (`LINEAR_PROBES`).
const IN_A_ROW: usize = 9;
/// A table of so few is no trouble, whatever its keys.
const FEW: usize = 1 << 12;

/// What a key meets on its way to a free place.
#[derive(Debug, Default, Clone, Copy)]
pub struct Crowd {
    /// Places that are taken.
    pub steps: usize,
    /// Keys of the same hash, each of which is compared with the new one.
    pub alike: usize,
}

impl Crowd {
    /// What is met by several looks.
    pub fn times(self, looks: usize) -> Crowd {
        Crowd { steps: self.steps.saturating_mul(looks), alike: self.alike.saturating_mul(looks) }
    }
}

/// The places that a hash leads to, in order.
struct Way {
    at: usize,
    mask: usize,
    rest: usize,
}

impl Way {
    fn new(hash: isize, mask: usize) -> Way {
        Way { at: hash as usize & mask, mask, rest: hash as usize }
    }

    #[inline(always)]
    fn step(&mut self) {
        self.rest >>= SHIFT;
        self.at = self.at.wrapping_mul(5).wrapping_add(self.rest).wrapping_add(1) & self.mask;
    }
}

/// What a key of that hash meets in a dict; with what all keys meet in a larger table, if it has to grow for this one.
///
/// # Safety
/// `dict` is a dict.
#[inline]
pub unsafe fn in_dict(dict: Obj, hash: isize) -> Crowd {
    let mut crowd = Crowd::default();
    // SAFETY: a dict, says the caller; nothing changes it while it is read.
    unsafe {
        let Some(table) = dict::table(dict) else { return crowd };
        let mut way = Way::new(hash, table.mask);
        // A table has free places, but what is read here is not ours: it ends in any case.
        while crowd.steps <= table.mask {
            let Some(found) = table.hash_at(way.at) else { break };
            crowd.steps += 1;
            crowd.alike += usize::from(found == Some(hash));
            way.step();
        }
        if table.is_full && table.used >= FEW {
            crowd.steps += regrown(&table);
        }
    }
    crowd
}

/// How many places are passed in all when a dict's keys go to a larger table.
#[cold]
unsafe fn regrown(table: &Table) -> usize {
    let size = (3 * table.used).next_power_of_two();
    let mut taken = vec![0u64; size.div_ceil(64)];
    let mut steps = 0;
    // SAFETY: as in `in_dict`.
    for hash in (0..table.entries).filter_map(|at| unsafe { table.entry_hash(at) }) {
        let mut way = Way::new(hash, size - 1);
        while taken[way.at / 64] >> (way.at % 64) & 1 == 1 {
            steps += 1;
            way.step();
        }
        taken[way.at / 64] |= 1 << (way.at % 64);
        if steps > 64 * size {
            // Enough to be refused: to count on would take as long as to do it.
            return usize::MAX / 4;
        }
    }
    steps
}

/// The same of a set.
///
/// # Safety
/// `set` is a set or frozenset.
#[inline]
pub unsafe fn in_set(set: Obj, hash: isize) -> Crowd {
    let mut crowd = Crowd::default();
    if !set::is_known() {
        return crowd;
    }
    let set = set.cast::<Set>();
    // SAFETY: a set, says the caller, with a table of `mask + 1` entries, which nothing changes while it is read.
    unsafe {
        let mask = (*set).mask as usize;
        let mut way = Way::new(hash, mask);
        'ways: while crowd.steps <= (IN_A_ROW + 1) * (mask + 1) {
            let row = if way.at + IN_A_ROW <= mask { IN_A_ROW } else { 0 };
            for at in way.at..=way.at + row {
                let entry = &*(*set).table.add(at);
                if entry.key.is_null() {
                    break 'ways;
                }
                crowd.steps += 1;
                crowd.alike += usize::from(entry.hash == hash);
            }
            way.step();
        }
        let used = (*set).used as usize;
        if used >= FEW && ((*set).fill as usize + 1) * 5 >= mask * 3 {
            crowd.steps += regrown_set(set, used);
        }
    }
    crowd
}

#[cold]
unsafe fn regrown_set(set: *mut Set, used: usize) -> usize {
    let most = if used > 50_000 { 2 * used } else { 4 * used };
    let size = (most + 1).next_power_of_two();
    let mut taken = vec![0u64; size.div_ceil(64)];
    let mut steps = 0;
    // SAFETY: as in `in_set`.
    unsafe {
        for at in 0..=(*set).mask as usize {
            let entry = &*(*set).table.add(at);
            if entry.key.is_null() {
                continue;
            }
            let mut way = Way::new(entry.hash, size - 1);
            'ways: loop {
                let row = if way.at + IN_A_ROW < size { IN_A_ROW } else { 0 };
                for place in way.at..=way.at + row {
                    if taken[place / 64] >> (place % 64) & 1 == 0 {
                        taken[place / 64] |= 1 << (place % 64);
                        break 'ways;
                    }
                    steps += 1;
                }
                if steps > 64 * size {
                    return usize::MAX / 4;
                }
                way.step();
            }
        }
    }
    steps
}

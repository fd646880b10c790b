//! How many entries a new key would collide with in a hash table. This is read before the key is added, because whoever
//! chooses the keys can choose ones that collide with all others. Text and bytes are hashed with a secret seed and need
//! no check.
//!
//! Dicts are read as in [`super::dict`], sets as in [`super::set`]; where their layout is unknown, no collisions are
//! reported.

use super::dict::{self, Table};
use super::set::{self, Set};
use super::{Obj, Owned};
use crate::memory::vec;
use pyo3::ffi;

/// How many bits of the hash each probe consumes (`PERTURB_SHIFT` of CPython).
const SHIFT: u32 = 5;
/// How many neighbouring entries of a set are probed in a row (`LINEAR_PROBES` of CPython).
const LINEAR_PROBES: usize = 9;
/// A table of up to this many keys is always cheap to grow.
const CHEAP_TO_GROW: usize = 1 << 12;

/// What a key collides with until it finds a free entry.
#[derive(Debug, Default, Clone, Copy)]
pub struct Crowd {
    /// Occupied entries probed.
    pub steps: usize,
    /// Probed keys with the same hash: each is compared with the new key.
    pub alike: usize,
    /// Of a set: the entry at which probing ended, if no member has the same hash.
    pub free: Option<usize>,
}

impl Crowd {
    /// The collisions of several look-ups of the same key.
    pub fn times(self, looks: usize) -> Crowd {
        Crowd { steps: self.steps.saturating_mul(looks), alike: self.alike.saturating_mul(looks), ..self }
    }
}

/// CPython's probe sequence of a hash.
struct Probe {
    at: usize,
    mask: usize,
    rest: usize,
}

impl Probe {
    fn new(hash: isize, mask: usize) -> Probe {
        Probe { at: hash as usize & mask, mask, rest: hash as usize }
    }

    #[inline(always)]
    fn step(&mut self) {
        self.rest >>= SHIFT;
        self.at = self.at.wrapping_mul(5).wrapping_add(self.rest).wrapping_add(1) & self.mask;
    }
}

/// The collisions of a new key in a dict. If the dict has to grow for it, those of moving all keys are included.
///
/// # Safety
/// `dict` is a dict.
#[inline]
pub unsafe fn in_dict(dict: Obj, hash: isize) -> Crowd {
    let mut crowd = Crowd::default();
    // SAFETY: `dict` is a dict, so `table` may read it. Nothing runs that could change it, `probe.at` is masked to the
    // table's size.
    unsafe {
        let Some(table) = dict::table(dict) else { return crowd };
        let mut probe = Probe::new(hash, table.mask);
        // Bounded although a dict always has free entries: this reads CPython's memory by layout.
        while crowd.steps <= table.mask {
            let Some(found) = table.hash_at(probe.at) else { break };
            crowd.steps += 1;
            crowd.alike += usize::from(found == Some(hash));
            probe.step();
        }
        if table.is_full && table.used >= CHEAP_TO_GROW {
            crowd.steps += regrown(&table);
        }
    }
    crowd
}

/// How many collisions there are in all when a dict's keys move to a larger table.
#[cold]
unsafe fn regrown(table: &Table) -> usize {
    let size = (3 * table.used).next_power_of_two();
    let mut taken = vec![0u64; size.div_ceil(64)];
    let mut steps = 0;
    // SAFETY: `at` is below `table.entries`, and the dict is unchanged since `table` was read (no code runs in
    // between).
    for hash in (0..table.entries).filter_map(|at| unsafe { table.entry_hash(at) }) {
        let mut probe = Probe::new(hash, size - 1);
        while taken[probe.at / 64] >> (probe.at % 64) & 1 == 1 {
            steps += 1;
            probe.step();
        }
        taken[probe.at / 64] |= 1 << (probe.at % 64);
        if steps > 64 * size {
            // Enough to be refused. Counting further would take as long as growing the table.
            return usize::MAX / 4;
        }
    }
    steps
}

/// The collisions of a new key in a set, likewise.
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
    // SAFETY: `set` is a set of the known layout (checked above) with `mask + 1` entries. `at` stays within them: `row`
    // is added only where it fits. Nothing runs that could change the set.
    unsafe {
        let mask = (*set).mask as usize;
        let mut probe = Probe::new(hash, mask);
        'probing: while crowd.steps <= (LINEAR_PROBES + 1) * (mask + 1) {
            let row = if probe.at + LINEAR_PROBES <= mask { LINEAR_PROBES } else { 0 };
            for at in probe.at..=probe.at + row {
                let entry = &*(*set).table.add(at);
                if entry.key.is_null() {
                    crowd.free = (crowd.alike == 0).then_some(at);
                    break 'probing;
                }
                crowd.steps += 1;
                crowd.alike += usize::from(entry.hash == hash);
            }
            probe.step();
        }
        let used = (*set).used as usize;
        if used >= CHEAP_TO_GROW && ((*set).fill as usize + 1) * 5 >= mask * 3 {
            crowd.steps += regrown_set(set, used);
        }
    }
    crowd
}

/// How many collisions there are in all when a set's members move to a larger table.
#[cold]
unsafe fn regrown_set(set: *mut Set, used: usize) -> usize {
    let most = if used > 50_000 { 2 * used } else { 4 * used };
    let size = (most + 1).next_power_of_two();
    let mut taken = vec![0u64; size.div_ceil(64)];
    let mut steps = 0;
    // SAFETY: `set` comes from `in_set`: a set of the known layout with `mask + 1` entries, unchanged since then.
    unsafe {
        for at in 0..=(*set).mask as usize {
            let entry = &*(*set).table.add(at);
            if entry.key.is_null() {
                continue;
            }
            let mut probe = Probe::new(entry.hash, size - 1);
            'probing: loop {
                let row = if probe.at + LINEAR_PROBES < size { LINEAR_PROBES } else { 0 };
                for place in probe.at..=probe.at + row {
                    if taken[place / 64] >> (place % 64) & 1 == 0 {
                        taken[place / 64] |= 1 << (place % 64);
                        break 'probing;
                    }
                    steps += 1;
                }
                if steps > 64 * size {
                    return usize::MAX / 4;
                }
                probe.step();
            }
        }
    }
    steps
}

/// Finds out whether members stand where this CPython finds them, if they are put where probing ended; after the same for sets.
pub(super) unsafe fn self_test() -> Result<(), &'static str> {
    const NO_MEMORY: &str = "no memory";
    // SAFETY: the GIL is held while the module is imported, and all are owned references.
    unsafe {
        for members in [3, 20] {
            let put_in = Owned::new(ffi::PySet_New(std::ptr::null_mut())).ok_or(NO_MEMORY)?;
            let added = Owned::new(ffi::PySet_New(std::ptr::null_mut())).ok_or(NO_MEMORY)?;
            for number in 0..members {
                let member = super::int::from_value(number + 1).ok_or(NO_MEMORY)?;
                let hash = ffi::PyObject_Hash(member.get());
                let is_put =
                    in_set(put_in.get(), hash).free.is_some_and(|at| set::put(put_in.get(), member.get(), hash, at));
                let is_in = is_put || ffi::PySet_Add(put_in.get(), member.get()) == 0;
                if !is_in || ffi::PySet_Add(added.get(), member.get()) != 0 {
                    return Err(NO_MEMORY);
                }
            }
            if ffi::PyObject_RichCompareBool(put_in.get(), added.get(), ffi::Py_EQ) != 1 {
                set::forget();
            }
        }
    }
    Ok(())
}

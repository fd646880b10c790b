//! The key table of a dict, as CPython lays it out from 3.10 to 3.15: a hash table, then the entries.

use super::Obj;

#[cfg(Py_3_11)]
#[repr(C)]
pub(super) struct Keys {
    references: isize,
    log2_size: u8,
    log2_index_bytes: u8,
    kind: u8,
    version: u32,
    pub usable: isize,
    pub entries: isize,
    // Followed by `1 << log2_index_bytes` bytes of hash table, then the entries.
}

#[cfg(Py_3_11)]
impl Keys {
    /// How many slots the hash table has.
    #[inline(always)]
    pub fn size(&self) -> usize {
        1 << self.log2_size
    }

    /// The logarithm of a slot's size.
    #[inline(always)]
    pub fn log2_slot(&self) -> u8 {
        self.log2_index_bytes - self.log2_size
    }

    #[inline(always)]
    fn table_bytes(&self) -> usize {
        1 << self.log2_index_bytes
    }

    /// Whether all keys are strings, and the entries [`Pair`]s. Else they are [`GeneralEntry`]s.
    #[inline(always)]
    pub fn has_strings(&self) -> bool {
        const GENERAL: u8 = 0;
        self.kind != GENERAL
    }
}

#[cfg(not(Py_3_11))]
#[repr(C)]
pub(super) struct Keys {
    references: isize,
    size: isize,
    /// The function that finds a key: one for tables whose keys are all strings and of which none was deleted, others for others.
    lookup: usize,
    pub usable: isize,
    pub entries: isize,
    // Followed by the hash table, then the entries.
}

/// The address of the function that finds keys among strings alone; 0 until it is known.
#[cfg(not(Py_3_11))]
static STRINGS: std::sync::atomic::AtomicUsize = std::sync::atomic::AtomicUsize::new(0);

#[cfg(not(Py_3_11))]
impl Keys {
    /// How many slots the hash table has.
    #[inline(always)]
    pub fn size(&self) -> usize {
        self.size as usize
    }

    /// The logarithm of a slot's size.
    #[inline(always)]
    pub fn log2_slot(&self) -> u8 {
        match self.size {
            ..=0xFF => 0,
            ..=0xFFFF => 1,
            ..=0xFFFF_FFFF => 2,
            _ => 3,
        }
    }

    #[inline(always)]
    fn table_bytes(&self) -> usize {
        self.size() << self.log2_slot()
    }

    /// Whether all keys are strings. If one was deleted since the table was made, it says no.
    #[inline(always)]
    pub fn has_strings(&self) -> bool {
        self.lookup == STRINGS.load(std::sync::atomic::Ordering::Relaxed)
    }

    /// This is the table of a dict of strings, from which none was deleted.
    pub fn learn(&self) {
        STRINGS.store(self.lookup, std::sync::atomic::Ordering::Relaxed);
    }
}

#[repr(C)]
pub(super) struct GeneralEntry {
    pub hash: isize,
    pub key: Obj,
    pub value: Obj,
}

/// An entry of a table all of whose keys are strings.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct Pair {
    #[cfg(not(Py_3_11))]
    hash: isize,
    pub key: Obj,
    pub value: Obj,
}

/// The memory of a table's entries, of the kind that `has_strings` says.
///
/// # Safety
/// `keys` is a key table of this layout.
#[inline(always)]
pub(super) unsafe fn start(keys: *const Keys) -> *mut u8 {
    // SAFETY: the hash table behind the head has so many bytes, by contract.
    unsafe { keys.add(1).cast::<u8>().add((*keys).table_bytes()).cast_mut() }
}

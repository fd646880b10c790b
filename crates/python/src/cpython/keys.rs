//! The key table of a dict, as CPython lays it out from 3.11 to 3.15: a hash table, then the entries.

use super::Obj;

#[repr(C)]
pub(super) struct Keys {
    references: isize,
    pub log2_size: u8,
    pub log2_index_bytes: u8,
    pub kind: u8,
    version: u32,
    pub usable: isize,
    pub entries: isize,
    // Followed by `1 << log2_index_bytes` bytes of hash table, then the entries.
}

pub(super) const KIND_GENERAL: u8 = 0;
pub(super) const KIND_UNICODE: u8 = 1;

#[repr(C)]
pub(super) struct GeneralEntry {
    pub hash: isize,
    pub key: Obj,
    pub value: Obj,
}

#[repr(C)]
pub(super) struct UnicodeEntry {
    pub key: Obj,
    pub value: Obj,
}

/// The memory of a table's entries, of the kind that `kind` says.
///
/// # Safety
/// `keys` is a key table of this layout.
#[inline(always)]
pub(super) unsafe fn start(keys: *const Keys) -> *mut u8 {
    // SAFETY: the hash table behind the head has so many bytes, by contract.
    unsafe { keys.add(1).cast::<u8>().add(1 << (*keys).log2_index_bytes).cast_mut() }
}

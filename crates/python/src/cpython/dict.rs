//! Dicts: their entries read in place, and copies of a template whose values are written in place.
//!
//! From 3.11 to 3.13 a dict's entries stand in one array behind its hash table; elsewhere, and for dicts that share
//! their keys with a class, the API's functions do the same, slower.

use super::{Obj, Owned};
use pyo3::ffi;
use std::sync::atomic::{AtomicBool, Ordering};

#[repr(C)]
struct Keys {
    references: isize,
    log2_size: u8,
    log2_index_bytes: u8,
    kind: u8,
    version: u32,
    usable: isize,
    entries: isize,
    // Then `1 << log2_index_bytes` bytes of hash table, then the entries.
}

#[repr(C)]
struct Dict {
    head: ffi::PyObject,
    used: isize,
    version: u64,
    keys: *mut Keys,
    /// Null unless the keys are shared with a class.
    values: *mut std::ffi::c_void,
}

const KIND_GENERAL: u8 = 0;
const KIND_UNICODE: u8 = 1;

#[repr(C)]
struct GeneralEntry {
    hash: isize,
    key: Obj,
    value: Obj,
}

#[repr(C)]
struct UnicodeEntry {
    key: Obj,
    value: Obj,
}

extern "C" {
    fn _PyDict_SetItem_KnownHash(dict: Obj, key: Obj, value: Obj, hash: isize) -> i32;
}

/// Whether the layouts above are those of this CPython; set by `self_test`.
static KNOWN: AtomicBool = AtomicBool::new(false);
/// The same for attributes without a dict.
static INLINE: AtomicBool = AtomicBool::new(false);

/// # Safety
/// `dict` is a dict (or of a subclass).
#[inline(always)]
pub unsafe fn len(dict: Obj) -> usize {
    // SAFETY: a dict, says the caller.
    unsafe { (*dict.cast::<Dict>()).used as usize }
}

/// Which names a dict shares with a class: where they stand, and how many. Names are only added while the class lives.
///
/// # Safety
/// `dict` is a dict.
#[inline(always)]
pub unsafe fn shared_names(dict: Obj) -> Option<(usize, isize)> {
    let object = dict.cast::<Dict>();
    // SAFETY: a dict, says the caller; `KNOWN` says that the layouts hold.
    unsafe {
        let is_known = cfg!(all(Py_3_11, not(Py_3_14))) && KNOWN.load(Ordering::Relaxed);
        (is_known && !(*object).values.is_null()).then(|| ((*object).keys as usize, (*(*object).keys).entries))
    }
}

/// Walks a dict's items, like `PyDict_Next`; keys and values are borrowed.
///
/// Re-reads the dict at every step, so that one that is changed meanwhile ends early or shows other items, and
/// nothing worse.
#[derive(Clone, Copy, Debug)]
pub struct Position(pub isize);

impl Position {
    /// # Safety
    /// `dict` is a dict.
    #[inline(always)]
    pub unsafe fn next(&mut self, dict: Obj) -> Option<(Obj, Obj)> {
        let object = dict.cast::<Dict>();
        // SAFETY: a dict, says the caller; `KNOWN` says that the layouts hold, and `entries` bounds the array.
        unsafe {
            if cfg!(all(Py_3_11, not(Py_3_14))) && KNOWN.load(Ordering::Relaxed) && (*object).values.is_null() {
                let keys = (*object).keys;
                let start = keys.add(1).cast::<u8>().add(1 << (*keys).log2_index_bytes);
                while self.0 < (*keys).entries {
                    let at = self.0 as usize;
                    self.0 += 1;
                    let (key, value) = if (*keys).kind == KIND_GENERAL {
                        let entry = start.cast::<GeneralEntry>().add(at);
                        ((*entry).key, (*entry).value)
                    } else {
                        let entry = start.cast::<UnicodeEntry>().add(at);
                        ((*entry).key, (*entry).value)
                    };
                    if !value.is_null() {
                        return Some((key, value));
                    }
                }
                return None;
            }
            let (mut key, mut value) = (std::ptr::null_mut(), std::ptr::null_mut());
            (ffi::PyDict_Next(dict, &mut self.0, &mut key, &mut value) != 0).then_some((key, value))
        }
    }
}

/// The entries of a dict that has only string keys and no gaps, as an array of (key, value).
///
/// # Safety
/// `dict` is a dict that stays unchanged while the slice is used.
#[inline(always)]
pub unsafe fn entries<'a>(dict: Obj) -> Option<&'a [(Obj, Obj)]> {
    let object = dict.cast::<Dict>();
    // SAFETY: a dict, says the caller; `KNOWN` says that the layouts hold. `UnicodeEntry` is a pair of pointers, as the
    // tuple is (checked in `self_test`).
    unsafe {
        if !cfg!(all(Py_3_11, not(Py_3_14))) || !KNOWN.load(Ordering::Relaxed) || !(*object).values.is_null() {
            return None;
        }
        let keys = (*object).keys;
        if (*keys).kind != KIND_UNICODE || (*keys).entries != (*object).used {
            return None;
        }
        if (*keys).entries == 0 {
            return Some(&[]); // the shared table of empty dicts has no array, not even an aligned end
        }
        let start = keys.add(1).cast::<u8>().add(1 << (*keys).log2_index_bytes);
        Some(std::slice::from_raw_parts(start.cast(), (*keys).entries as usize))
    }
}

/// Where the values of a fresh copy of a template stand: writes there replace `None`.
///
/// # Safety
/// `dict` is a dict that nobody else has seen, whose values are all `None` or were written here.
#[inline(always)]
pub unsafe fn value_slot(dict: Obj, at: usize) -> *mut Obj {
    let keys = {
        // SAFETY: a dict, says the caller; called only where `templates()` said yes.
        unsafe { (*dict.cast::<Dict>()).keys }
    };
    // SAFETY: the template has more than `at` entries, all of a unicode table.
    unsafe {
        let start = keys.add(1).cast::<u8>().add(1 << (*keys).log2_index_bytes);
        std::ptr::addr_of_mut!((*start.cast::<UnicodeEntry>().add(at)).value)
    }
}

/// A dict's hash table.
pub struct Table {
    pub mask: usize,
    pub used: usize,
    pub entries: usize,
    /// One more key, and it has to grow.
    pub is_full: bool,
    keys: *const Keys,
}

impl Table {
    /// What stands in a place of the table: nothing; or a key, whose hash is known where it is no string.
    ///
    /// # Safety
    /// `at` is below the table's size, and the dict has not changed.
    #[inline(always)]
    pub unsafe fn hash_at(&self, at: usize) -> Option<Option<isize>> {
        // SAFETY: the layouts hold, or there would be no `Table`; the table's indices are of the width that its sizes say.
        unsafe {
            let indices = self.keys.add(1).cast::<u8>();
            let index = match (*self.keys).log2_index_bytes - (*self.keys).log2_size {
                0 => i64::from(*indices.add(at).cast::<i8>()),
                1 => i64::from(*indices.cast::<i16>().add(at)),
                2 => i64::from(*indices.cast::<i32>().add(at)),
                _ => *indices.cast::<i64>().add(at),
            };
            match usize::try_from(index) {
                Ok(entry) => Some(self.entry_hash(entry)),
                // -1 is a free place; all else below is one that is free no more.
                Err(_) if index == -1 => None,
                Err(_) => Some(None),
            }
        }
    }

    /// The hash of an entry's key, where it is kept there.
    ///
    /// # Safety
    /// `at` is below `entries`, and the dict has not changed.
    #[inline(always)]
    pub unsafe fn entry_hash(&self, at: usize) -> Option<isize> {
        // SAFETY: as above.
        unsafe {
            if (*self.keys).kind != KIND_GENERAL || at >= self.entries {
                return None;
            }
            let start = self.keys.add(1).cast::<u8>().add(1 << (*self.keys).log2_index_bytes);
            let entry = start.cast::<GeneralEntry>().add(at);
            (!(*entry).key.is_null()).then(|| (*entry).hash)
        }
    }
}

/// The hash table of a dict, where it can be read.
///
/// # Safety
/// `dict` is a dict (or of a subclass).
#[inline(always)]
pub unsafe fn table(dict: Obj) -> Option<Table> {
    let object = dict.cast::<Dict>();
    // SAFETY: a dict, says the caller; `KNOWN` says that the layouts hold.
    unsafe {
        if !cfg!(all(Py_3_11, not(Py_3_14))) || !KNOWN.load(Ordering::Relaxed) || !(*object).values.is_null() {
            return None;
        }
        let keys = (*object).keys;
        Some(Table {
            mask: (1 << (*keys).log2_size) - 1,
            used: (*object).used as usize,
            entries: (*keys).entries as usize,
            is_full: (*keys).usable <= 0,
            keys,
        })
    }
}

/// Sets an item whose key's hash is known.
///
/// # Safety
/// All three are alive, `dict` is a dict or of a subclass, and `hash` is the key's.
#[inline(always)]
pub unsafe fn set_hashed(dict: Obj, key: Obj, value: Obj, hash: isize) -> bool {
    // SAFETY: as the caller says.
    unsafe { _PyDict_SetItem_KnownHash(dict, key, value, hash) == 0 }
}

/// Whether a dict can be made by copying `template` and writing through [`value_slot`].
///
/// # Safety
/// `template` is a dict.
pub unsafe fn is_template(template: Obj, len: usize) -> bool {
    // SAFETY: a dict, says the caller.
    unsafe { entries(template).is_some_and(|entries| entries.len() == len) }
}

/// The attributes of an instance that has no `__dict__` object yet, in the order in which they were set: the `at`th name
/// and value, borrowed; `None` past the last, and where there are none of that kind.
///
/// Asking for the `__dict__` would make one, which the instance then drags along.
///
/// # Safety
/// `object` is an instance of a class that manages its instances' dicts (the flag of 3.11).
#[inline(always)]
pub unsafe fn attribute(object: Obj, at: usize) -> Option<(Obj, Obj)> {
    if !cfg!(all(Py_3_11, not(Py_3_13))) || !INLINE.load(Ordering::Relaxed) {
        return None;
    }
    // SAFETY: such an instance has two words before its collector's head: 3.11 keeps values and dict apart, 3.12 tags
    // one of them. Before the values stand how many there are, and their order; the class has their names.
    unsafe {
        let words = object.cast::<*mut u8>();
        let values = if cfg!(Py_3_12) {
            let tagged = *words.sub(3);
            if tagged as usize & 1 == 0 {
                return None;
            }
            tagged.add(1)
        } else {
            *words.sub(4)
        };
        if values.is_null() || at >= usize::from(*values.sub(2)) {
            return None;
        }
        let place = usize::from(*values.sub(3 + at));
        let keys = (*ffi::Py_TYPE(object).cast::<ffi::PyHeapTypeObject>()).ht_cached_keys.cast::<Keys>();
        let start = keys.add(1).cast::<u8>().add(1 << (*keys).log2_index_bytes).cast::<UnicodeEntry>();
        let value = *values.cast::<Obj>().add(place);
        (!value.is_null()).then(|| ((*start.add(place)).key, value))
    }
}

/// Sets an item whose key is a string.
///
/// # Safety
/// All three are alive, `dict` is a dict and `key` a string.
#[inline(always)]
pub unsafe fn set(dict: Obj, key: Obj, value: Obj) -> bool {
    // SAFETY: alive and of those types, says the caller.
    unsafe { _PyDict_SetItem_KnownHash(dict, key, value, super::text::hash(key)) == 0 }
}

pub(super) unsafe fn self_test() -> Result<(), &'static str> {
    // SAFETY: the GIL is held, says the caller of all self tests; every pointer is checked before it is used.
    unsafe {
        let pair = [(std::ptr::null_mut::<ffi::PyObject>(), std::ptr::null_mut::<ffi::PyObject>()); 2];
        let second = std::ptr::addr_of!(pair[1].1) as usize - std::ptr::addr_of!(pair) as usize;
        if second != 24 || !cfg!(all(Py_3_11, not(Py_3_14), target_pointer_width = "64")) {
            return Ok(()); // the slower way
        }
        let dict = Owned::new(ffi::PyDict_New()).ok_or("no memory")?;
        for number in 0..12i64 {
            let name = format!("key {number}");
            let key = super::text::from_ascii(name.as_bytes()).ok_or("no memory")?;
            let value = super::int::from_value(number).ok_or("no memory")?;
            if ffi::PyDict_SetItem(dict.get(), key.get(), value.get()) != 0 {
                return Err("no memory");
            }
        }
        let copy = Owned::new(ffi::PyDict_Copy(dict.get())).ok_or("no memory")?;
        KNOWN.store(true, Ordering::Relaxed);
        let agrees = |dict: Obj| {
            let (mut by_hand, mut by_api) = (Position(0), 0isize);
            loop {
                let (mut key, mut value) = (std::ptr::null_mut(), std::ptr::null_mut());
                let api = (ffi::PyDict_Next(dict, &mut by_api, &mut key, &mut value) != 0).then_some((key, value));
                if by_hand.next(dict) != api {
                    return false;
                }
                if api.is_none() {
                    return true;
                }
            }
        };
        let whole = entries(copy.get()).is_some_and(|entries| entries.len() == 12);
        let slot = whole && {
            let slot = value_slot(copy.get(), 11);
            *slot == ffi::PyDict_GetItemString(copy.get(), c"key 11".as_ptr())
        };
        let mut fine = whole && slot && agrees(dict.get()) && agrees(copy.get());
        // With a gap, and with a key that is no string.
        let gap = super::text::from_ascii(b"key 3").ok_or("no memory")?;
        ffi::PyDict_DelItem(dict.get(), gap.get());
        fine = fine && agrees(dict.get()) && entries(dict.get()).is_none();
        let number = super::int::from_value(7).ok_or("no memory")?;
        ffi::PyDict_SetItem(dict.get(), number.get(), number.get());
        fine = fine && agrees(dict.get()) && entries(dict.get()).is_none();
        KNOWN.store(fine, Ordering::Relaxed);
        if fine {
            INLINE.store(true, Ordering::Relaxed);
            INLINE.store(attributes_agree().unwrap_or(false), Ordering::Relaxed);
        }
    }
    Ok(())
}

/// Sets and deletes attributes of an instance, and looks whether they are where [`attribute`] finds them.
unsafe fn attributes_agree() -> Option<bool> {
    if !cfg!(all(Py_3_11, not(Py_3_13))) {
        return Some(false);
    }
    // SAFETY: the GIL is held, says the caller of all self tests; all objects are held.
    unsafe {
        let arguments = Owned::new(ffi::Py_BuildValue(c"s(){}".as_ptr(), c"Model".as_ptr()))?;
        let class =
            Owned::new(ffi::PyObject_CallObject(std::ptr::addr_of_mut!(ffi::PyType_Type).cast(), arguments.get()))?;
        let make = || Owned::new(ffi::PyObject_CallObject(class.get(), std::ptr::null_mut()));
        let number = super::int::from_value(1 << 40)?;
        let first = make()?;
        for name in [c"a", c"b", c"c"] {
            ffi::PyObject_SetAttrString(first.get(), name.as_ptr(), number.get());
        }
        let second = make()?;
        for name in [c"c", c"a", c"b"] {
            ffi::PyObject_SetAttrString(second.get(), name.as_ptr(), number.get());
        }
        ffi::PyObject_DelAttrString(second.get(), c"a".as_ptr());
        if !super::class::managed_dict(class.get().cast()) {
            return Some(false);
        }
        let is = |at: usize, name: &[u8]| match attribute(second.get(), at) {
            Some((found, value)) => super::text::ascii(found) == Some(name) && value == number.get(),
            None => false,
        };
        let whole = is(0, b"c") && is(1, b"b") && attribute(second.get(), 2).is_none();
        let dict = Owned::new(ffi::PyObject_GenericGetDict(second.get(), std::ptr::null_mut()))?;
        Some(whole && attribute(second.get(), 0).is_none() && len(dict.get()) == 2)
    }
}

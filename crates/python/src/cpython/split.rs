//! Values that share their keys with a class: those of an instance that has no `__dict__` object yet, and those of a `__dict__` that
//! CPython made for one. Keys stand in a table of the class; the values, and the order in which they were set, with the instance.
//!
//! In 3.11 and 3.12 the values are a block of their own. Since 3.13 they stand within the instance, behind the fields of its class.

use super::keys::{start, Keys, Pair};
use super::{Obj, Owned, Type};
use pyo3::ffi;
use std::sync::atomic::{AtomicBool, Ordering};

/// Whether values are found where this module looks for them; set by `dict::self_test`.
static KNOWN: AtomicBool = AtomicBool::new(false);

/// Whether [`give_dict`] does anything.
pub const BY_HAND: bool = cfg!(Py_3_13);

#[inline(always)]
pub fn is_known() -> bool {
    super::VERIFIED && KNOWN.load(Ordering::Relaxed)
}

pub(super) fn set_known(known: bool) {
    KNOWN.store(known, Ordering::Relaxed);
}

/// What the values of 3.13 and later begin with. They are followed by a byte each for their order.
#[repr(C)]
struct Head {
    capacity: u8,
    len: u8,
    embedded: u8,
    /// 0 once a `__dict__` took their place.
    valid: u8,
    first: [Obj; 1],
}

/// The words before an instance in which CPython keeps its dict, and before 3.13 its values.
const DICT_WORD: usize = 3;
const VALUES_WORD: usize = if cfg!(Py_3_12) { 3 } else { 4 };

/// The values within an instance, if its class has them there.
///
/// # Safety
/// `object` is an instance of a class that manages its instances' dicts; this is 3.13 or later.
#[inline(always)]
unsafe fn within(object: Obj) -> Option<*mut Head> {
    const INLINE_VALUES: std::ffi::c_ulong = 1 << 2;
    // SAFETY: where the class says so, the values stand behind its fields.
    unsafe {
        let class: Type = ffi::Py_TYPE(object);
        let at = object.cast::<u8>().offset((*class).tp_basicsize);
        (ffi::PyType_HasFeature(class, INLINE_VALUES) != 0).then_some(at.cast())
    }
}

/// The `at`th attribute of an instance whose `__dict__` object doesn't exist yet, in the order in which attributes were
/// set: name and value, borrowed. `None`: past the last one, or the instance is not of that kind.
///
/// Asking for the `__dict__` would create the object, and the instance would keep it.
///
/// # Safety
/// `object` is an instance of a class that manages its instances' dicts (the flag of 3.11).
#[inline(always)]
pub unsafe fn attribute(object: Obj, at: usize) -> Option<(Obj, Obj)> {
    // SAFETY: by the contract.
    unsafe {
        let (values, keys) = shared(object)?;
        value(values, keys, at)
    }
}

/// The values of an instance whose `__dict__` object doesn't exist yet, and the keys that they share with its class.
///
/// # Safety
/// As for [`attribute`].
#[inline(always)]
unsafe fn shared(object: Obj) -> Option<(*mut u8, *mut Keys)> {
    if !is_known() {
        return None;
    }
    // SAFETY: `is_known` says that this was tried with success on this CPython. An instance of such a class has two words
    // before its GC head: 3.11 keeps values and dict in one each, 3.12 a tagged pointer in one of them, 3.13 the dict. The values
    // are of the keys that the class caches.
    unsafe {
        let words = object.cast::<*mut u8>();
        let values = if cfg!(Py_3_13) {
            let values = within(object)?;
            if !(*words.sub(DICT_WORD)).is_null() || (*values).valid == 0 {
                return None;
            }
            values.cast::<u8>()
        } else if cfg!(Py_3_12) {
            let tagged = *words.sub(VALUES_WORD);
            if tagged as usize & 1 == 0 {
                return None;
            }
            tagged.add(1)
        } else {
            *words.sub(VALUES_WORD)
        };
        if values.is_null() {
            return None;
        }
        Some((values, (*ffi::Py_TYPE(object).cast::<ffi::PyHeapTypeObject>()).ht_cached_keys.cast::<Keys>()))
    }
}

/// Sets an attribute that an instance does not have yet, if the keys that it shares with its class have the name already. `Err`: nothing
/// was done.
///
/// The generic setter does the same, after it has looked for a descriptor, and hashed its way to the key.
///
/// # Safety
/// As for [`attribute`]; `name` is an interned string, which no data descriptor of the class has.
#[inline(always)]
pub unsafe fn set_new(object: Obj, name: Obj, value: Owned) -> Result<(), Owned> {
    // SAFETY: by the contract. There is room for a value and a place in the order for each of the keys, of which there are at most 30.
    unsafe {
        let Some((values, keys)) = shared(object) else { return Err(value) };
        let (first, len): (*mut Obj, *mut u8) = match cfg!(Py_3_13) {
            true => {
                let head = values.cast::<Head>();
                ((&raw mut (*head).first).cast(), &raw mut (*head).len)
            }
            false => (values.cast(), values.sub(2)),
        };
        let (before, count, entries) = (usize::from(*len), (*keys).entries as usize, start(keys).cast::<Pair>());
        let is_it = |place: &usize| (*entries.add(*place)).key == name;
        // Instances are mostly filled in the order in which the first was.
        let Some(place) = Some(before).filter(|at| *at < count && is_it(at)).or_else(|| (0..count).find(is_it)) else {
            return Err(value);
        };
        if !(*first.add(place)).is_null() {
            return Err(value);
        }
        *first.add(place) = value.into_raw();
        let order = match cfg!(Py_3_13) {
            true => first.add(usize::from((*values.cast::<Head>()).capacity)).cast::<u8>().add(before),
            false => values.sub(3 + before),
        };
        *order = place as u8;
        *len = before as u8 + 1;
    }
    Ok(())
}

/// Whether the keys that a class shares with its instances have these names, or room for those that they lack; so they do if one of the
/// names is null.
///
/// # Safety
/// `class` is a class that manages its instances' dicts; names are interned strings.
#[inline(always)]
pub unsafe fn has_room(class: Type, names: impl Iterator<Item = Obj>) -> bool {
    // SAFETY: by the contract; such a class has its keys.
    unsafe {
        let keys = (*class.cast::<ffi::PyHeapTypeObject>()).ht_cached_keys.cast::<Keys>();
        if !is_known() || keys.is_null() {
            return true;
        }
        let (count, entries) = ((*keys).entries as usize, start(keys).cast::<Pair>());
        let is_at = |place: usize, name: Obj| (*entries.add(place)).key == name;
        let mut lacking = 0;
        for (at, name) in names.enumerate() {
            if name.is_null() {
                return true;
            }
            let is_there = (at < count && is_at(at, name)) || (0..count).any(|at| is_at(at, name));
            lacking += isize::from(!is_there);
        }
        // A new instance takes some of the room itself.
        lacking == 0 || lacking < (*keys).usable
    }
}

/// The `__dict__` object that an instance has already, borrowed. `None`: it has none, or keeps it in a way that isn't known.
///
/// # Safety
/// As for [`attribute`].
#[inline(always)]
pub unsafe fn dict_of(object: Obj) -> Option<Obj> {
    if !is_known() {
        return None;
    }
    // SAFETY: as in `attribute`. In 3.12 the word is the dict where its lowest bit doesn't say that it is the values.
    let dict = unsafe { *object.cast::<Obj>().sub(DICT_WORD) };
    (!dict.is_null() && (!cfg!(Py_3_12) || cfg!(Py_3_13) || dict as usize & 1 == 0)).then_some(dict)
}

/// The `at`th of the values that share their keys with a class, in the order in which they were set, with its key. `None`: past the last.
///
/// # Safety
/// `is_known` says that the layout is known. `values` and `keys` belong together.
#[inline(always)]
pub(super) unsafe fn value(values: *mut u8, keys: *mut Keys, at: usize) -> Option<(Obj, Obj)> {
    // SAFETY: with the values stand their number, which bounds `at`, and their order; the keys hold as many names.
    unsafe {
        let (place, first) = if cfg!(Py_3_13) {
            let head = values.cast::<Head>();
            if at >= usize::from((*head).len) {
                return None;
            }
            let first = (&raw mut (*head).first).cast::<Obj>();
            (*first.add(usize::from((*head).capacity)).cast::<u8>().add(at), first)
        } else {
            if at >= usize::from(*values.sub(2)) {
                return None;
            }
            (*values.sub(3 + at), values.cast::<Obj>())
        };
        let value = *first.add(usize::from(place));
        let name = (*start(keys).cast::<Pair>().add(usize::from(place))).key;
        (!value.is_null()).then_some((name, value))
    }
}

/// Gives a new instance its `__dict__`, as the setter of that attribute does, which takes a look-up. `false`: nothing was done.
///
/// # Safety
/// `object` is an instance, from its allocator, of a class that manages its instances' dicts; `dict` is a dict.
#[inline(always)]
pub unsafe fn give_dict(object: Obj, dict: Obj) -> bool {
    if !BY_HAND || !is_known() {
        return false;
    }
    // SAFETY: as in `attribute`. The instance holds no value and no dict yet, so that there is nothing to be released.
    unsafe {
        let word = object.cast::<Obj>().sub(DICT_WORD);
        let Some(values) = within(object) else { return false };
        if !(*word).is_null() || (*values).valid == 0 || (*values).len != 0 {
            return false;
        }
        (*values).valid = 0;
        ffi::Py_INCREF(dict);
        *word = dict;
    }
    true
}

//! Dicts: reading their entries in place, and filling in the values of copies of a template dict.
//!
//! From 3.10 to 3.15 a dict's entries are one array behind its hash table. In other versions the API's functions do the same more slowly.

pub use super::keys::Pair;
use super::keys::{start, GeneralEntry, Keys};
use super::{split, Obj, Owned};
use pyo3::ffi;
use std::sync::atomic::{AtomicBool, Ordering};

#[repr(C)]
struct Dict {
    head: ffi::PyObject,
    used: isize,
    version: u64,
    keys: *mut Keys,
    /// Null unless the keys are shared with a class.
    values: *mut std::ffi::c_void,
}

super::libpython! {
    fn _PyDict_SetItem_KnownHash(dict: Obj, key: Obj, value: Obj, hash: isize) -> i32;
}

/// Whether the structs above match this CPython; set by `self_test`.
static KNOWN: AtomicBool = AtomicBool::new(false);

/// Whether dicts are read in place on this CPython.
#[inline(always)]
pub fn is_known() -> bool {
    super::VERIFIED && KNOWN.load(Ordering::Relaxed)
}

/// # Safety
/// `dict` is a dict (or of a subclass).
#[inline(always)]
pub unsafe fn len(dict: Obj) -> usize {
    // SAFETY: `dict` is a dict, and `ma_used` is at this offset in every supported version.
    unsafe { (*dict.cast::<Dict>()).used as usize }
}

/// The key table that a dict shares with its class: address and number of names. While the class lives, names are only
/// added. (Before 3.11 another table may take its place, at the same address.)
///
/// # Safety
/// `dict` is a dict.
#[inline(always)]
pub unsafe fn shared_names(dict: Obj) -> Option<(usize, isize)> {
    let object = dict.cast::<Dict>();
    // SAFETY: `KNOWN` says that `Dict` and `Keys` match this CPython; a dict's `keys` is never null.
    unsafe {
        (cfg!(Py_3_11) && is_known() && !(*object).values.is_null())
            .then(|| ((*object).keys as usize, (*(*object).keys).entries))
    }
}

/// An iterator over a dict's items, like `PyDict_Next`; keys and values are borrowed.
///
/// It reads the dict anew at every step. If the dict changes meanwhile, iteration ends early or shows other items; it
/// never reads outside of the dict's memory.
#[derive(Clone, Copy, Debug)]
pub struct Position(pub isize);

impl Position {
    /// The next item; `None` at the end.
    ///
    /// # Safety
    /// `dict` is a dict.
    #[inline(always)]
    pub unsafe fn next(&mut self, dict: Obj) -> Option<(Obj, Obj)> {
        let object = dict.cast::<Dict>();
        // SAFETY: `KNOWN` says that the structs match. `entries` is read at each step and bounds the array, whose
        // entries are of the kind that `has_strings` says. Otherwise `PyDict_Next` does it, which only needs a dict.
        unsafe {
            if is_known() && (*object).values.is_null() {
                let keys = (*object).keys;
                let start = start(keys);
                while self.0 < (*keys).entries {
                    let at = self.0 as usize;
                    self.0 += 1;
                    let (key, value) = if (*keys).has_strings() {
                        let entry = start.cast::<Pair>().add(at);
                        ((*entry).key, (*entry).value)
                    } else {
                        let entry = start.cast::<GeneralEntry>().add(at);
                        ((*entry).key, (*entry).value)
                    };
                    if !value.is_null() {
                        return Some((key, value));
                    }
                }
                return None;
            }
            if cfg!(not(Py_3_11)) && is_known() {
                // Values that share their keys with a class stand in the order of the keys.
                if self.0 >= (*object).used {
                    return None;
                }
                let at = self.0 as usize;
                self.0 += 1;
                let key = (*start((*object).keys).cast::<GeneralEntry>().add(at)).key;
                return Some((key, *(*object).values.cast::<Obj>().add(at)));
            }
            if split::is_known() && !(*object).values.is_null() {
                let found = split::value((*object).values.cast(), (*object).keys, self.0 as usize);
                self.0 += isize::from(found.is_some());
                return found;
            }
            let (mut key, mut value) = (std::ptr::null_mut(), std::ptr::null_mut());
            (ffi::PyDict_Next(dict, &mut self.0, &mut key, &mut value) != 0).then_some((key, value))
        }
    }
}

/// The entries of a dict that has only string keys and no gaps.
///
/// # Safety
/// `dict` is a dict that stays unchanged while the slice is used.
#[inline(always)]
pub unsafe fn entries<'a>(dict: Obj) -> Option<&'a [Pair]> {
    let object = dict.cast::<Dict>();
    // SAFETY: `KNOWN` says that the structs match; `has_strings` and `entries` were checked. The contract keeps the dict unchanged
    // while the slice lives.
    unsafe {
        if !is_known() || !(*object).values.is_null() {
            return None;
        }
        let keys = (*object).keys;
        if !(*keys).has_strings() || (*keys).entries != (*object).used {
            return None;
        }
        if (*keys).entries == 0 {
            return Some(&[]); // empty dicts share one table without an entries array
        }
        let start = start(keys);
        Some(std::slice::from_raw_parts(start.cast(), (*keys).entries as usize))
    }
}

/// The memory of the `at`th value of a fresh copy of a template, to be overwritten.
///
/// # Safety
/// `dict` is a copy, which nobody else has seen, of a dict for which [`is_template`] said yes with more than `at`
/// entries.
#[inline(always)]
pub unsafe fn value_slot(dict: Obj, at: usize) -> *mut Obj {
    let keys = {
        // SAFETY: `is_template` says yes only where the structs match this CPython, and a copy is laid out as its
        // template is.
        unsafe { (*dict.cast::<Dict>()).keys }
    };
    // SAFETY: the contract says that there are more than `at` entries; `is_template` says that they are
    // `Pair`s.
    unsafe {
        let start = start(keys);
        std::ptr::addr_of_mut!((*start.cast::<Pair>().add(at)).value)
    }
}

/// A dict's hash table, as it was when it was read.
pub struct Table {
    pub mask: usize,
    pub used: usize,
    pub entries: usize,
    /// The next new key makes the table grow.
    pub is_full: bool,
    keys: *const Keys,
}

impl Table {
    /// The content of a slot of the hash table. `None`: it is free. `Some(None)`: it is taken, and the hash is not
    /// stored (for string keys and deleted entries).
    ///
    /// # Safety
    /// `at` is below the table's size, and the dict has not changed.
    #[inline(always)]
    pub unsafe fn hash_at(&self, at: usize) -> Option<Option<isize>> {
        // SAFETY: a `Table` exists only where the structs match (see [`table`]). `at` is below the table's size; the
        // width of a slot is what the table says.
        unsafe {
            let indices = self.keys.add(1).cast::<u8>();
            let index = match (*self.keys).log2_slot() {
                0 => i64::from(*indices.add(at).cast::<i8>()),
                1 => i64::from(*indices.cast::<i16>().add(at)),
                2 => i64::from(*indices.cast::<i32>().add(at)),
                _ => *indices.cast::<i64>().add(at),
            };
            match usize::try_from(index) {
                Ok(entry) => Some(self.entry_hash(entry)),
                // -1 is a free slot, other negative numbers are deleted ones, which probing passes over.
                Err(_) if index == -1 => None,
                Err(_) => Some(None),
            }
        }
    }

    /// The hash of an entry's key, if it is stored there.
    ///
    /// # Safety
    /// `at` is below `entries`, and the dict has not changed.
    #[inline(always)]
    pub unsafe fn entry_hash(&self, at: usize) -> Option<isize> {
        // SAFETY: a `Table` exists only where the structs match; `at` is below `entries`, and general entries are
        // checked for.
        unsafe {
            if (*self.keys).has_strings() || at >= self.entries {
                return None;
            }
            let start = start(self.keys);
            let entry = start.cast::<GeneralEntry>().add(at);
            (!(*entry).key.is_null()).then(|| (*entry).hash)
        }
    }
}

/// The hash table of a dict, if its layout is known.
///
/// # Safety
/// `dict` is a dict (or of a subclass).
#[inline(always)]
pub unsafe fn table(dict: Obj) -> Option<Table> {
    let object = dict.cast::<Dict>();
    // SAFETY: `dict` is a dict; `KNOWN` says that the structs match, and `keys` is never null.
    unsafe {
        if !is_known() || !(*object).values.is_null() {
            return None;
        }
        let keys = (*object).keys;
        Some(Table {
            mask: (*keys).size() - 1,
            used: (*object).used as usize,
            entries: (*keys).entries as usize,
            is_full: (*keys).usable <= 0,
            keys,
        })
    }
}

#[cfg(not(Py_3_13))]
super::libpython! {
    fn _PyDict_NewPresized(len: isize) -> Obj;
}

/// An empty dict with room for so many items, where CPython says how to make one; not for strings, which it would look up more slowly.
///
/// # Safety
/// The GIL is held.
pub unsafe fn with_room(len: usize) -> Option<Owned> {
    // SAFETY: the GIL is held, by contract.
    unsafe {
        #[cfg(not(Py_3_13))]
        return Owned::new(_PyDict_NewPresized(len as isize));
        #[cfg(Py_3_13)]
        {
            let _ = len;
            Owned::new(ffi::PyDict_New())
        }
    }
}

/// Sets an item whose key's hash is known. `false`: an exception was raised.
///
/// # Safety
/// All three are alive, `dict` is a dict or of a subclass, and `hash` is the key's.
#[inline(always)]
pub unsafe fn set_hashed(dict: Obj, key: Obj, value: Obj, hash: isize) -> bool {
    // SAFETY: the function needs three live objects and the key's hash, which is the contract.
    unsafe { _PyDict_SetItem_KnownHash(dict, key, value, hash) == 0 }
}

/// Whether copies of `template` can be filled in through [`value_slot`].
///
/// # Safety
/// `template` is a dict.
pub unsafe fn is_template(template: Obj, len: usize) -> bool {
    // SAFETY: the slice is used at once, and nothing runs meanwhile.
    unsafe { entries(template).is_some_and(|entries| entries.len() == len) }
}

/// Sets an item whose key is a string. `false`: an exception was raised.
///
/// # Safety
/// All three are alive, `dict` is a dict and `key` a string.
#[inline(always)]
pub unsafe fn set(dict: Obj, key: Obj, value: Obj) -> bool {
    // SAFETY: the function needs three live objects and the key's hash, which `hash` gives for any string.
    unsafe { _PyDict_SetItem_KnownHash(dict, key, value, super::text::hash(key)) == 0 }
}

/// Compares reading by layout with the API; in case of doubt the slower functions of the API are used.
pub(super) unsafe fn self_test() -> Result<(), &'static str> {
    // SAFETY: the GIL is held while the module is imported; every object made here is checked for null and held.
    unsafe {
        if !super::VERIFIED {
            return Ok(()); // the API's functions are used
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
        #[cfg(not(Py_3_11))]
        (*(*dict.get().cast::<Dict>()).keys).learn();
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
        // With keys that its class shares.
        fine = fine && agrees(of_instance().ok_or("no memory")?.get());
        KNOWN.store(fine, Ordering::Relaxed);
        if fine {
            split::set_known(true);
            split::set_known(attributes_agree().unwrap_or(false));
        }
    }
    Ok(())
}

/// The `__dict__` of an instance that has three attributes.
unsafe fn of_instance() -> Option<Owned> {
    // SAFETY: the GIL is held while the module is imported; every object is held while it is used.
    unsafe {
        let number = super::int::from_value(1 << 40)?;
        let made = new_instance(new_class()?.get())?;
        for name in [c"a", c"b", c"c"] {
            ffi::PyObject_SetAttrString(made.get(), name.as_ptr(), number.get());
        }
        Owned::new(ffi::PyObject_GetAttrString(made.get(), c"__dict__".as_ptr()))
    }
}

/// # Safety
/// The GIL is held.
unsafe fn new_class() -> Option<Owned> {
    // SAFETY: the GIL is held, and the arguments are held while the class is made.
    unsafe {
        let arguments = Owned::new(ffi::Py_BuildValue(c"s(){}".as_ptr(), c"Model".as_ptr()))?;
        Owned::new(ffi::PyObject_CallObject(std::ptr::addr_of_mut!(ffi::PyType_Type).cast(), arguments.get()))
    }
}

/// # Safety
/// The GIL is held, and `class` is alive.
unsafe fn new_instance(class: Obj) -> Option<Owned> {
    // SAFETY: the GIL is held, and the class is alive.
    unsafe { Owned::new(ffi::PyObject_CallObject(class, std::ptr::null_mut())) }
}

/// Sets and deletes attributes of instances, and checks that [`split::attribute`] finds them; sets those of others by hand, and their
/// `__dict__`.
unsafe fn attributes_agree() -> Option<bool> {
    // SAFETY: the GIL is held while the module is imported; every object is held while it is used.
    unsafe {
        let class = new_class()?;
        let make = || new_instance(class.get());
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
        let is = |at: usize, name: &[u8]| match split::attribute(second.get(), at) {
            Some((found, value)) => super::text::ascii(found) == Some(name) && value == number.get(),
            None => false,
        };
        // As the generic setter would have set them, which finds them.
        let by_place = {
            let fourth = make()?;
            let set = |name: &[u8]| {
                let mut name = super::text::from_ascii(name)?.into_raw();
                ffi::PyUnicode_InternInPlace(&mut name);
                let name = Owned::new(name)?;
                Some(split::set_new(fourth.get(), name.get(), Owned::borrowed(number.get())).is_ok())
            };
            let before = super::references(number.get());
            let taken = set(b"c")? && set(b"a")? && !set(b"a")? && !set(b"unknown")?;
            let held = super::references(number.get()) == before + 2;
            let is = |at: usize, name: &[u8]| {
                split::attribute(fourth.get(), at).is_some_and(|(found, _)| super::text::ascii(found) == Some(name))
            };
            let order = is(0, b"c") && is(1, b"a") && split::attribute(fourth.get(), 2).is_none();
            let found = Owned::new(ffi::PyObject_GetAttrString(fourth.get(), c"a".as_ptr()));
            ffi::PyErr_Clear();
            let dict = Owned::new(ffi::PyObject_GenericGetDict(fourth.get(), std::ptr::null_mut()))?;
            taken && held && order && found.is_some_and(|found| found.get() == number.get()) && len(dict.get()) == 2
        };
        let whole = is(0, b"c") && is(1, b"b") && split::attribute(second.get(), 2).is_none();
        let none_yet = split::dict_of(second.get()).is_none();
        let dict = Owned::new(ffi::PyObject_GenericGetDict(second.get(), std::ptr::null_mut()))?;
        let (mut position, mut by_api) = (Position(0), 0isize);
        let mut agrees = true;
        for _ in 0..3 {
            let (mut key, mut value) = (std::ptr::null_mut(), std::ptr::null_mut());
            let api = ffi::PyDict_Next(dict.get(), &mut by_api, &mut key, &mut value) != 0;
            agrees = agrees && position.next(dict.get()) == api.then_some((key, value));
        }
        let by_hand = !split::BY_HAND || {
            let (third, given) = (make()?, Owned::new(ffi::PyDict_Copy(dict.get()))?);
            let before = super::references(given.get());
            let taken = split::give_dict(third.get(), given.get()) && super::references(given.get()) == before + 1;
            let found = Owned::new(ffi::PyObject_GetAttrString(third.get(), c"b".as_ptr()));
            ffi::PyErr_Clear();
            taken && found.is_some_and(|found| found.get() == number.get())
        };
        let gone = split::attribute(second.get(), 0).is_none() && len(dict.get()) == 2;
        let made = none_yet && split::dict_of(second.get()) == Some(dict.get());
        Some(whole && agrees && by_hand && by_place && gone && made)
    }
}

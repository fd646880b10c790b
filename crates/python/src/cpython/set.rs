//! Sets, laid out as in CPython's header `cpython/setobject.h`: the same from 3.10 to 3.15.

use super::{Obj, Owned};
use pyo3::ffi;
use std::sync::atomic::{AtomicBool, Ordering};

/// Entries within the set object itself: a small set has no other table.
const SMALL: usize = 8;

#[repr(C)]
#[derive(Clone, Copy)]
pub(super) struct Entry {
    pub key: Obj,
    pub hash: isize,
}

#[repr(C)]
pub(super) struct Set {
    head: ffi::PyObject,
    pub fill: isize,
    pub used: isize,
    pub mask: isize,
    pub table: *mut Entry,
    hash: isize,
    finger: isize,
    small: [Entry; SMALL],
    weak: Obj,
}

/// Whether the structs match this CPython; set by `self_test`.
static KNOWN: AtomicBool = AtomicBool::new(false);

#[inline(always)]
pub(super) fn is_known() -> bool {
    cfg!(target_pointer_width = "64") && KNOWN.load(Ordering::Relaxed)
}

/// Moves all members of `from` into an empty set or frozenset. `false`: `empty` is not empty, or the layout is unknown.
///
/// No member is hashed or compared, so no Python code runs.
///
/// # Safety
/// Both are sets or frozensets, and nobody iterates over them.
pub unsafe fn take_members(empty: Obj, from: Obj) -> bool {
    if !is_known() {
        return false;
    }
    let (to, from) = (empty.cast::<Set>(), from.cast::<Set>());
    // SAFETY: both are sets of the known layout, and nobody iterates over them. A table is either the object's own
    // entries or a block that belongs to it alone; the members' references move with their entries.
    unsafe {
        if (*to).used != 0 || (*to).fill != 0 || (*to).table != (&raw mut (*to).small).cast() || to == from {
            return false;
        }
        if (*from).table == (&raw mut (*from).small).cast() {
            (*to).small = (*from).small;
        } else {
            (*to).table = (*from).table;
        }
        ((*to).fill, (*to).used, (*to).mask) = ((*from).fill, (*from).used, (*from).mask);
        // Its hash may have been computed while it was empty.
        (*to).hash = -1;
        (*to).finger = 0;
        ((*from).fill, (*from).used, (*from).mask) = (0, 0, SMALL as isize - 1);
        (*from).small = [Entry { key: std::ptr::null_mut(), hash: 0 }; SMALL];
        (*from).table = (&raw mut (*from).small).cast();
        (*from).finger = 0;
    }
    true
}

/// The next member of a set, borrowed; like `PyDict_Next`. It reads the set anew at every step.
///
/// # Safety
/// `set` is a set or frozenset.
#[inline(always)]
pub unsafe fn next_member(set: Obj, at: &mut isize) -> Option<Obj> {
    super::libpython! {
        fn _PySet_NextEntry(set: Obj, at: *mut isize, key: *mut Obj, hash: *mut isize) -> i32;
    }
    // SAFETY: `set` is a set by contract; where the layout is known, its table has `mask + 1` entries.
    unsafe {
        if !is_known() {
            let (mut key, mut hash) = (std::ptr::null_mut(), 0);
            return (_PySet_NextEntry(set, at, &mut key, &mut hash) != 0).then_some(key);
        }
        let known = set.cast::<Set>();
        while *at <= (*known).mask {
            let entry = &*(*known).table.offset(*at);
            *at += 1;
            // No hash is -1: it stands where a member was removed.
            if !entry.key.is_null() && entry.hash != -1 {
                return Some(entry.key);
            }
        }
        None
    }
}

/// Puts a new member into the entry at which the search for its collisions has ended. `false`: nothing was done, because the set has
/// to grow with it.
///
/// # Safety
/// That search gave `place` for this set and hash, and nothing has run since; `member` is alive, and `hash` its hash.
#[inline(always)]
pub unsafe fn put(set: Obj, member: Obj, hash: isize, place: usize) -> bool {
    let set = set.cast::<Set>();
    // SAFETY: where there is a place, the layout is known, and the entry is a free one of the set's table. The set takes a reference.
    unsafe {
        let fill = (*set).fill + 1;
        if fill * 5 >= (*set).mask * 3 {
            return false;
        }
        ffi::Py_INCREF(member);
        *(*set).table.add(place) = Entry { key: member, hash };
        (*set).fill = fill;
        (*set).used += 1;
    }
    true
}

/// Notes that the structs don't match this CPython after all.
pub(super) fn forget() {
    KNOWN.store(false, Ordering::Relaxed);
}

/// Finds out whether the structs match this CPython.
pub(super) unsafe fn self_test() -> Result<(), &'static str> {
    // SAFETY: the GIL is held while the module is imported. `tp_basicsize` was compared first, so reads stay within the
    // object.
    unsafe {
        let type_size = (*std::ptr::addr_of!(ffi::PySet_Type)).tp_basicsize;
        if !cfg!(all(Py_3_10, target_pointer_width = "64")) || type_size != size_of::<Set>() as isize {
            return Ok(()); // `take_members` will say no
        }
        let full = Owned::new(ffi::PySet_New(std::ptr::null_mut())).ok_or("no memory")?;
        for number in 0..20 {
            let member = super::int::from_value(number).ok_or("no memory")?;
            let set = full.get().cast::<Set>();
            let is_small = (*set).table == (&raw mut (*set).small).cast();
            let fits = (*set).used == number as isize && (*set).hash == -1 && (*set).mask & ((*set).mask + 1) == 0;
            if !fits || is_small != ((*set).mask == SMALL as isize - 1) {
                return Ok(());
            }
            if ffi::PySet_Add(full.get(), member.get()) != 0 {
                return Err("no memory");
            }
        }
        KNOWN.store(true, Ordering::Relaxed);
        for members in [3, 20] {
            let source = Owned::new(ffi::PySet_New(std::ptr::null_mut())).ok_or("no memory")?;
            let target = Owned::new(ffi::PyFrozenSet_New(std::ptr::null_mut())).ok_or("no memory")?;
            let last = super::int::from_value(members).ok_or("no memory")?;
            for number in 0..members {
                let member = super::int::from_value(number + 1).ok_or("no memory")?;
                if ffi::PySet_Add(source.get(), member.get()) != 0 {
                    return Err("no memory");
                }
            }
            let moved = take_members(target.get(), source.get());
            let whole = ffi::PySet_Size(target.get()) == members as isize
                && ffi::PySet_Size(source.get()) == 0
                && ffi::PySet_Contains(target.get(), last.get()) == 1
                && ffi::PySet_Contains(source.get(), last.get()) == 0;
            if !moved || !whole {
                return Err("sets of this CPython are laid out in an unknown way");
            }
        }
    }
    Ok(())
}

//! Storing values into lists, tuples and dicts that are being built.

use crate::cpython::{replace, Obj, Owned};
use crate::memory::Vec;
use pyo3::ffi;
use std::ptr::addr_of_mut;

/// Fills the empty slots of a list or tuple with `None`, before others can see it.
///
/// # Safety
/// `object` is alive.
pub unsafe fn pad(object: Obj) {
    // SAFETY: the type says which array of slots there is, and `Py_SIZE` is its length. An empty slot is null and owns
    // nothing.
    unsafe {
        let class = ffi::Py_TYPE(object);
        let places: *mut Obj = if ffi::PyType_HasFeature(class, ffi::Py_TPFLAGS_LIST_SUBCLASS) != 0 {
            (*object.cast::<ffi::PyListObject>()).ob_item
        } else if ffi::PyType_HasFeature(class, ffi::Py_TPFLAGS_TUPLE_SUBCLASS) != 0 {
            addr_of_mut!((*object.cast::<ffi::PyTupleObject>()).ob_item).cast()
        } else {
            return;
        };
        for at in 0..ffi::Py_SIZE(object) as usize {
            let place = places.add(at);
            if (*place).is_null() {
                *place = Owned::borrowed(ffi::Py_None()).into_raw();
            }
        }
    }
}

/// Stores into a list's slot. `false`: the list has become shorter, and `value` was dropped.
///
/// # Safety
/// `list` is a list.
#[inline(always)]
pub unsafe fn list_item(list: Obj, at: usize, value: Owned) -> bool {
    // SAFETY: the index was compared with the list's present length, and `replace` releases what the slot held.
    unsafe {
        if at >= ffi::Py_SIZE(list) as usize {
            return false;
        }
        replace((*list.cast::<ffi::PyListObject>()).ob_item.add(at), value.into_raw());
    }
    true
}

/// Moves values into the first slots of a list.
///
/// # Safety
/// `list` is a list that nobody else has seen, with at least as many slots as values, all of them empty.
#[inline(always)]
pub unsafe fn first_items(list: Obj, values: &mut Vec<Owned>) {
    // SAFETY: the contract says that the slots exist and hold nothing. The references move: the vector forgets them
    // before anything else can happen.
    unsafe {
        let places = (*list.cast::<ffi::PyListObject>()).ob_item;
        for (at, value) in values.iter().enumerate() {
            *places.add(at) = value.get();
        }
        values.forget_all();
    }
}

/// Stores into a tuple's slot.
///
/// # Safety
/// `tuple` is a tuple that nobody else has seen, with more than `at` slots.
#[inline(always)]
pub unsafe fn tuple_item(tuple: Obj, at: usize, value: Owned) {
    // SAFETY: `at` is below the tuple's length, by contract; `replace` releases what the slot held.
    unsafe {
        let places: *mut Obj = addr_of_mut!((*tuple.cast::<ffi::PyTupleObject>()).ob_item).cast();
        replace(places.add(at), value.into_raw());
        forget_hash(tuple);
    }
}

/// Since 3.14 a tuple keeps its hash, and an allocator's zero would be one. So would be what a hook asked of a tuple that waits for items.
///
/// # Safety
/// `tuple` is a tuple (or of a subclass).
#[inline(always)]
pub unsafe fn forget_hash(tuple: Obj) {
    #[cfg(Py_3_14)]
    // SAFETY: `tuple` is a tuple, by contract; -1 says that there is no hash yet.
    unsafe {
        (*tuple.cast::<ffi::PyTupleObject>()).ob_hash = -1;
    }
    let _ = tuple;
}

/// Makes the garbage collector track a dict that was copied from an untracked template.
///
/// # Safety
/// `dict` is a dict.
pub unsafe fn track(dict: Obj) {
    // SAFETY: `dict` is alive and of a type that the collector knows; it is tracked only if it isn't yet.
    unsafe {
        if ffi::PyObject_GC_IsTracked(dict) == 0 {
            ffi::PyObject_GC_Track(dict.cast());
        }
    }
}

//! Putting values into objects that are being built.

use crate::cpython::{replace, Obj, Owned};
use crate::memory::Vec;
use pyo3::ffi;
use std::ptr::addr_of_mut;

/// Fills the empty places of a list or tuple with `None`: from now on others can see it.
///
/// # Safety
/// `object` is alive.
pub unsafe fn pad(object: Obj) {
    // SAFETY: the type is looked at before its array is; an empty place owns nothing.
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

/// Stores into a list's place; says no if somebody has made the list shorter.
///
/// # Safety
/// `list` is a list.
#[inline(always)]
pub unsafe fn list_item(list: Obj, at: usize, value: Owned) -> bool {
    // SAFETY: a list, says the caller; the place exists.
    unsafe {
        if at >= ffi::Py_SIZE(list) as usize {
            return false;
        }
        replace((*list.cast::<ffi::PyListObject>()).ob_item.add(at), value.into_raw());
    }
    true
}

/// Moves values into the first places of a list.
///
/// # Safety
/// `list` is a fresh list of ours, with at least as many places as there are values.
#[inline(always)]
pub unsafe fn first_items(list: Obj, values: &mut Vec<Owned>) {
    // SAFETY: places are empty, and there are enough, says the caller. The values are the list's from here on: the vector
    // forgets them before anything else can happen.
    unsafe {
        let places = (*list.cast::<ffi::PyListObject>()).ob_item;
        for (at, value) in values.iter().enumerate() {
            *places.add(at) = value.get();
        }
        values.forget_all();
    }
}

/// Stores into a tuple's place.
///
/// # Safety
/// `tuple` is a tuple of ours with more than `at` places.
#[inline(always)]
pub unsafe fn tuple_item(tuple: Obj, at: usize, value: Owned) {
    // SAFETY: the place exists, says the caller.
    unsafe {
        let places: *mut Obj = addr_of_mut!((*tuple.cast::<ffi::PyTupleObject>()).ob_item).cast();
        replace(places.add(at), value.into_raw());
    }
}

/// Lets the collector see a dict that was copied from a template of plain values.
///
/// # Safety
/// `dict` is a dict.
pub unsafe fn track(dict: Obj) {
    // SAFETY: a dict, says the caller.
    unsafe {
        if ffi::PyObject_GC_IsTracked(dict) == 0 {
            ffi::PyObject_GC_Track(dict.cast());
        }
    }
}

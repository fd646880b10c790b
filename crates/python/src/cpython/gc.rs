//! The garbage collector: pausing it during a call, because its passes over a half-built graph find nothing and are the
//! largest cost of loading many containers; and asking objects what they tell it.

use super::{Obj, Owned};
use crate::memory::Vec;
use pyo3::ffi;
use std::ffi::{c_int, c_void};
use std::ptr::addr_of_mut;

/// Pauses the collector until dropped; pauses may be nested.
pub struct Pause {
    was_on: bool,
}

impl Pause {
    /// # Safety
    /// The GIL is held, also when the pause is dropped.
    pub unsafe fn new() -> Pause {
        // SAFETY: the GIL is held, by contract.
        Pause { was_on: unsafe { ffi::PyGC_Disable() } == 1 }
    }
}

impl Drop for Pause {
    fn drop(&mut self) {
        if self.was_on {
            // SAFETY: the GIL is held, as `new` demands.
            unsafe { ffi::PyGC_Enable() };
        }
    }
}

/// The mapping behind a mappingproxy: it is the one object that a proxy reports to the collector.
///
/// # Safety
/// `object` is a mappingproxy.
pub unsafe fn shown(object: Obj) -> Option<Owned> {
    // SAFETY: `object` is alive.
    unsafe { held(object) }.pop()
}

/// The objects that `object` reports to the collector.
///
/// # Safety
/// `object` is alive.
pub unsafe fn held(object: Obj) -> Vec<Owned> {
    extern "C" fn count(_: Obj, found: *mut c_void) -> c_int {
        // SAFETY: `found` points to `room` below, which outlives the traversal.
        unsafe { *found.cast::<usize>() += 1 };
        0
    }
    extern "C" fn take(met: Obj, found: *mut c_void) -> c_int {
        // SAFETY: `found` points to the vector below; `met` is an object that the traversed one keeps alive.
        unsafe {
            let found = &mut *found.cast::<Vec<Owned>>();
            // The vector has room already: growing it could unwind through C code.
            if found.len() < found.capacity() {
                found.push(Owned::borrowed(met));
            }
        }
        0
    }
    // SAFETY: `object` is alive and its type has this traversal function, which calls the visitor and runs no Python
    // code. The visitors' arguments are what they expect.
    unsafe {
        let class = ffi::Py_TYPE(object);
        let traverse = (*class).tp_traverse.filter(|_| ffi::PyType_HasFeature(class, ffi::Py_TPFLAGS_HAVE_GC) != 0);
        let Some(traverse) = traverse else { return Vec::new() };
        let mut room = 0_usize;
        traverse(object, count, addr_of_mut!(room).cast());
        let mut found: Vec<Owned> = Vec::with_capacity(room);
        traverse(object, take, addr_of_mut!(found).cast());
        found
    }
}

//! The cyclic collector, paused for the length of a call: over a half-built graph its passes find nothing, and they
//! are the largest cost of loading many containers. And what only the collector is told: what a proxy shows.

use super::{Obj, Owned};
use crate::memory::Vec;
use pyo3::ffi;
use std::ffi::{c_int, c_void};
use std::ptr::addr_of_mut;

/// Pauses the collector until dropped; nested pauses are fine.
pub struct Pause {
    was_on: bool,
}

impl Pause {
    /// # Safety
    /// The GIL is held, also when the pause is dropped.
    pub unsafe fn new() -> Pause {
        // SAFETY: the GIL is held.
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

/// The mapping that a mappingproxy shows: the one object that it tells the collector of.
///
/// # Safety
/// `object` is a mappingproxy.
pub unsafe fn shown(object: Obj) -> Option<Owned> {
    // SAFETY: alive, says the caller.
    unsafe { held(object) }.pop()
}

/// What an object tells the collector that it holds.
///
/// # Safety
/// `object` is alive.
pub unsafe fn held(object: Obj) -> Vec<Owned> {
    extern "C" fn count(_: Obj, found: *mut c_void) -> c_int {
        // SAFETY: `found` is the count below.
        unsafe { *found.cast::<usize>() += 1 };
        0
    }
    extern "C" fn take(met: Obj, found: *mut c_void) -> c_int {
        // SAFETY: `found` is the list below, `met` an object that is held.
        unsafe {
            let found = &mut *found.cast::<Vec<Owned>>();
            // Nothing may unwind through C code: the list has its room.
            if found.len() < found.capacity() {
                found.push(Owned::borrowed(met));
            }
        }
        0
    }
    // SAFETY: alive, says the caller; a traversal calls the visitor, and runs no Python code.
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

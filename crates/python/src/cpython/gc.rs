//! The cyclic collector, paused for the length of a call: over a half-built graph its passes find nothing, and they
//! are the largest cost of loading many containers. And what only the collector is told: what a proxy shows.

use super::{Obj, Owned};
use pyo3::ffi;

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
    extern "C" fn visit(met: Obj, found: *mut std::ffi::c_void) -> std::ffi::c_int {
        // SAFETY: `found` is the variable below, `met` an object that the proxy holds.
        unsafe { *found.cast::<Option<Owned>>() = Some(Owned::borrowed(met)) };
        0
    }
    let mut found: Option<Owned> = None;
    // SAFETY: a proxy's class has a traversal, which calls `visit` and runs no Python code.
    unsafe {
        if let Some(traverse) = (*ffi::Py_TYPE(object)).tp_traverse {
            traverse(object, visit, std::ptr::addr_of_mut!(found).cast());
        }
    }
    found
}

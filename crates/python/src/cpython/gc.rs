//! The cyclic collector, paused for the length of a call: over a half-built graph its passes find nothing, and they
//! are the largest cost of loading many containers.

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

//! What of CPython the loops need beyond the API's functions: layouts that differ by version, and owned pointers.
//!
//! Everything here that relies on a layout is checked against the API when the module is imported (`self_test`).

pub mod class;
pub mod crowd;
pub mod dict;
pub mod fill;
pub mod float;
pub mod gc;
pub mod int;
pub mod new;
pub mod set;
pub mod text;
mod view;

pub use view::{part, View};

use pyo3::ffi;
use pyo3::prelude::*;
use std::ptr::NonNull;

extern "C" {
    pub static mut PyODict_Type: ffi::PyTypeObject;
    pub fn _PyBytes_Resize(bytes: *mut Obj, size: isize) -> i32;
}

pub type Obj = *mut ffi::PyObject;
pub type Type = *mut ffi::PyTypeObject;

/// A strong reference, given back when dropped. The GIL is held wherever one lives.
#[derive(Debug)]
pub struct Owned(NonNull<ffi::PyObject>);

impl Owned {
    /// Takes over a new reference; `None` where the API call that made it failed (an exception is set then).
    ///
    /// # Safety
    /// `object` is null or a reference that the caller owns.
    #[inline(always)]
    pub unsafe fn new(object: Obj) -> Option<Owned> {
        NonNull::new(object).map(Owned)
    }

    /// Takes a reference of its own.
    ///
    /// # Safety
    /// `object` is alive.
    #[inline(always)]
    pub unsafe fn borrowed(object: Obj) -> Owned {
        // SAFETY: alive, says the caller, hence not null.
        unsafe {
            ffi::Py_INCREF(object);
            Owned(NonNull::new_unchecked(object))
        }
    }

    #[inline(always)]
    pub fn get(&self) -> Obj {
        self.0.as_ptr()
    }

    /// Gives the reference to the caller.
    #[inline(always)]
    pub fn into_raw(self) -> Obj {
        let object = self.0.as_ptr();
        std::mem::forget(self);
        object
    }
}

// SAFETY: whoever touches one holds the GIL (see above); so does whoever drops an object of Python's that has one.
unsafe impl Send for Owned {}
// SAFETY: the same.
unsafe impl Sync for Owned {}

impl Clone for Owned {
    fn clone(&self) -> Self {
        // SAFETY: `self` keeps it alive.
        unsafe { Owned::borrowed(self.get()) }
    }
}

impl Drop for Owned {
    #[inline(always)]
    fn drop(&mut self) {
        // SAFETY: this reference is ours.
        unsafe { ffi::Py_DECREF(self.get()) }
    }
}

/// How many references there are to `object`; immortal ones have very many.
///
/// # Safety
/// `object` is alive.
#[inline(always)]
pub unsafe fn references(object: Obj) -> isize {
    // SAFETY: alive, says the caller.
    unsafe { ffi::Py_REFCNT(object) }
}

/// Tells the processor that an object's head is about to be read: those of an instance's fields lie apart, and waiting
/// for one after the other was a third of the time that dumping nodes took.
#[inline(always)]
pub fn prefetch(object: Obj) {
    #[cfg(target_arch = "x86_64")]
    // SAFETY: a prefetch reads nothing that could be seen, and any address will do.
    unsafe {
        std::arch::x86_64::_mm_prefetch::<{ std::arch::x86_64::_MM_HINT_T0 }>(object.cast());
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = object;
}

/// Stores into a list's or tuple's slot, dropping what stood there.
///
/// # Safety
/// `slot` is a slot of a live object; `value` is an owned reference.
#[inline(always)]
pub unsafe fn replace(slot: *mut Obj, value: Obj) {
    // SAFETY: the slot holds null or a reference that it owns.
    unsafe {
        let old = slot.replace(value);
        ffi::Py_XDECREF(old);
    }
}

/// The content of a `bytes` (or of a subclass's instance).
///
/// # Safety
/// `object` is of that type, and outlives the slice.
#[inline(always)]
pub unsafe fn bytes_of<'a>(object: Obj) -> &'a [u8] {
    // SAFETY: of that type, says the caller.
    unsafe { std::slice::from_raw_parts(ffi::PyBytes_AS_STRING(object).cast(), ffi::Py_SIZE(object) as usize) }
}

/// Compares what we read by layout with what the API says.
///
/// # Safety
/// The GIL is held.
pub unsafe fn self_test() -> Result<(), &'static str> {
    // SAFETY: the GIL is held.
    unsafe {
        int::self_test()?;
        float::self_test()?;
        text::self_test()?;
        dict::self_test()?;
        set::self_test()
    }
}

/// Keeps a PyO3 value as an owned pointer.
pub fn owned(object: &Bound<'_, PyAny>) -> Owned {
    // SAFETY: `object` is alive.
    unsafe { Owned::borrowed(object.as_ptr()) }
}

/// The object that an [`Owned`] holds.
pub fn held<'py>(py: Python<'py>, object: &Owned) -> Bound<'py, PyAny> {
    // SAFETY: `object` keeps it alive, and the GIL is held.
    unsafe { Bound::from_borrowed_ptr(py, object.get()) }
}

//! What the loops need of CPython beyond the functions of its API: layouts that differ by version, and owned pointers.
//!
//! Everything that relies on a layout is compared with the API when the module is imported (`self_test`).

mod attach;
pub mod attributes;
pub mod class;
pub mod crowd;
pub mod dict;
pub mod fill;
pub mod float;
pub mod gc;
pub mod int;
mod keys;
pub mod new;
pub mod ordered;
pub mod set;
pub mod split;
pub mod stack;
pub mod text;
mod view;

pub use attach::{attached, detached};
pub use view::{part, View};

use crate::blocks::{in_large_pages, LARGE};
use pyo3::ffi;
use pyo3::prelude::*;
use std::ptr::NonNull;

// `libpython! { fn ...; }`, by build.rs: what CPython exports and PyO3 does not declare.
include!(concat!(env!("OUT_DIR"), "/libpython.rs"));
pub(crate) use libpython;

libpython! {
    pub static mut PyODict_Type: ffi::PyTypeObject;
    pub fn _PyBytes_Resize(bytes: *mut Obj, size: isize) -> i32;
}

/// Whether this is a CPython whose layouts of dicts and attributes somebody has looked at, and which `self_test` compares. Others are
/// used through the API alone.
pub const VERIFIED: bool = cfg!(all(not(Py_3_16), not(Py_GIL_DISABLED), target_pointer_width = "64"));

pub type Obj = *mut ffi::PyObject;
pub type Type = *mut ffi::PyTypeObject;

/// A strong reference, released when dropped. Whoever has one holds the GIL.
#[derive(Debug)]
pub struct Owned(NonNull<ffi::PyObject>);

impl Owned {
    /// Takes over a new reference. `None`: it is null, as after an API call that failed and set an exception.
    ///
    /// # Safety
    /// `object` is null or a reference that the caller owns.
    #[inline(always)]
    pub unsafe fn new(object: Obj) -> Option<Owned> {
        NonNull::new(object).map(Owned)
    }

    /// Takes a reference of its own to an object that someone else holds.
    ///
    /// # Safety
    /// `object` is alive.
    #[inline(always)]
    pub unsafe fn borrowed(object: Obj) -> Owned {
        // SAFETY: `object` is alive, hence neither null nor freed.
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

// SAFETY: whoever uses or drops one holds the GIL (see `Owned`), which makes other threads wait.
unsafe impl Send for Owned {}
// SAFETY: as for `Send`.
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
        // SAFETY: this value owns the reference that it releases.
        unsafe { ffi::Py_DECREF(self.get()) }
    }
}

/// How many references there are to `object`; immortal ones have very many.
///
/// # Safety
/// `object` is alive.
#[inline(always)]
pub unsafe fn references(object: Obj) -> isize {
    // SAFETY: `object` is alive, so its count can be read.
    unsafe { ffi::Py_REFCNT(object) }
}

/// Tells the processor that an object's header is about to be read. The headers of an instance's field values are
/// spread over memory, and waiting for each in turn was a third of the time for dumping nodes.
#[inline(always)]
pub fn prefetch(object: Obj) {
    #[cfg(target_arch = "x86_64")]
    // SAFETY: a prefetch has no effect that a program could see, for any address.
    unsafe {
        std::arch::x86_64::_mm_prefetch::<{ std::arch::x86_64::_MM_HINT_T0 }>(object.cast());
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = object;
}

/// Stores into a slot of a list or tuple, and releases the old content.
///
/// # Safety
/// `slot` is a slot of a live object; `value` is an owned reference.
#[inline(always)]
pub unsafe fn replace(slot: *mut Obj, value: Obj) {
    // SAFETY: the slot is valid by contract, and holds null or a reference of its own, which is released only after the
    // new one is in.
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
    // SAFETY: `object` is a `bytes`, which begins with `PyBytesObject`: its buffer has `Py_SIZE` bytes, and never
    // changes.
    unsafe { std::slice::from_raw_parts(ffi::PyBytes_AS_STRING(object).cast(), ffi::Py_SIZE(object) as usize) }
}

/// `bytes` with this content. `None`: there is no memory for them, and an exception is set.
///
/// # Safety
/// The GIL is held.
#[inline(always)]
pub unsafe fn new_bytes(content: &[u8]) -> Option<Owned> {
    // SAFETY: the GIL is held, by contract; the slice is readable for its length.
    unsafe {
        if content.len() < LARGE {
            return Owned::new(ffi::PyBytes_FromStringAndSize(content.as_ptr().cast(), content.len() as isize));
        }
        let made = empty_bytes(content.len())?;
        let start = ffi::PyBytes_AS_STRING(made.get()).cast_mut().cast::<u8>();
        start.copy_from_nonoverlapping(content.as_ptr(), content.len());
        Some(made)
    }
}

/// `bytes` of that length, to be filled before others see them. `None`: as for [`new_bytes`].
///
/// # Safety
/// The GIL is held.
#[cold]
#[inline(never)]
pub unsafe fn empty_bytes(len: usize) -> Option<Owned> {
    // SAFETY: the GIL is held, by contract; the new object has `len` bytes.
    unsafe {
        let made = Owned::new(ffi::PyBytes_FromStringAndSize(std::ptr::null(), len as isize))?;
        in_large_pages(ffi::PyBytes_AS_STRING(made.get()).cast_mut().cast(), len);
        Some(made)
    }
}

/// A bytearray with this content. `None`: as for [`new_bytes`].
///
/// # Safety
/// The GIL is held.
#[inline(always)]
pub unsafe fn new_bytearray(content: &[u8]) -> Option<Owned> {
    // SAFETY: the GIL is held, by contract; the slice is readable for its length.
    unsafe {
        if content.len() < LARGE {
            return Owned::new(ffi::PyByteArray_FromStringAndSize(content.as_ptr().cast(), content.len() as isize));
        }
        let made = empty_bytearray(content.len())?;
        let start = ffi::PyByteArray_AsString(made.get()).cast::<u8>();
        start.copy_from_nonoverlapping(content.as_ptr(), content.len());
        Some(made)
    }
}

/// A bytearray of that length, to be filled before others see it. `None`: as for [`new_bytes`].
///
/// # Safety
/// The GIL is held.
#[cold]
#[inline(never)]
pub unsafe fn empty_bytearray(len: usize) -> Option<Owned> {
    // SAFETY: the GIL is held, by contract; the new object has `len` bytes.
    unsafe {
        let made = Owned::new(ffi::PyByteArray_FromStringAndSize(std::ptr::null(), len as isize))?;
        in_large_pages(ffi::PyByteArray_AsString(made.get()).cast(), len);
        Some(made)
    }
}

/// An instance of a subclass of `bytes`, as its constructor makes it.
///
/// # Safety
/// The GIL is held; `class` is alive, and such a subclass.
pub unsafe fn bytes_of_class(class: Type, bytes: &[u8]) -> Option<Owned> {
    // SAFETY: `tp_alloc` gives an instance, which begins with a `PyBytesObject`, with room for so many bytes and a NUL behind them; all
    // are zero. No hash is -1: it stands where none was computed.
    unsafe {
        let made = Owned::new((*class).tp_alloc?(class, bytes.len() as isize))?;
        #[allow(deprecated)] // for everybody else: `bytes` have it in all versions
        {
            (*made.get().cast::<ffi::PyBytesObject>()).ob_shash = -1;
        }
        let start = ffi::PyBytes_AS_STRING(made.get()).cast_mut().cast::<u8>();
        start.copy_from_nonoverlapping(bytes.as_ptr(), bytes.len());
        Some(made)
    }
}

/// Compares what is read by layout with what the API says.
///
/// # Safety
/// The GIL is held.
pub unsafe fn self_test() -> Result<(), &'static str> {
    // SAFETY: the GIL is held, by contract.
    unsafe {
        class::self_test()?;
        int::self_test()?;
        float::self_test()?;
        text::self_test()?;
        dict::self_test()?;
        set::self_test()?;
        ordered::self_test()?;
        crowd::self_test()
    }
}

/// Which objects of this CPython are read in place, as `self_test` found out: dicts, values that share their keys with a class, sets,
/// the order of an `OrderedDict`. Ints, floats and texts always are, or the module can't be imported.
#[pyfunction]
pub fn layouts_known() -> (bool, bool, bool, bool) {
    (dict::is_known(), split::is_known(), set::is_known(), ordered::is_known())
}

/// A new reference to an object of PyO3's.
pub fn owned(object: &Bound<'_, PyAny>) -> Owned {
    // SAFETY: the `Bound` keeps `object` alive.
    unsafe { Owned::borrowed(object.as_ptr()) }
}

/// The object of an [`Owned`], for PyO3.
pub fn held<'py>(py: Python<'py>, object: &Owned) -> Bound<'py, PyAny> {
    // SAFETY: `object` keeps it alive, and `py` proves that the GIL is held.
    unsafe { Bound::from_borrowed_ptr(py, object.get()) }
}

//! What hashing an object costs, and freeing it, as far as it is known while it is built: how deep CPython's own code recurses, and
//! how many values it looks at.

use crate::cpython::{text, Obj};
use pyo3::ffi;
use std::ptr::addr_of_mut;

/// What hashing an object (and freeing it) costs: both recurse in CPython's own code, with no check of theirs, and the
/// hash of a tuple is computed anew each time.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Weight {
    /// Tuples within tuples, and the like; an instance is as deep as what it holds, a list or dict not at all.
    pub depth: u16,
    /// Containers within containers whose deallocation recurses without CPython's trash can.
    pub freeing: u16,
    /// Values in all, those met again counted again.
    pub values: u32,
}

impl Weight {
    /// The deepest key: hashing tuples takes some 60 bytes of C stack a level, which is safe on a thread's stack of 512 KiB.
    pub const DEEPEST: u16 = 4000;
    /// The levels, and the values, that code of a class's counts as when it hashes: it takes some 650 bytes of C stack, and ends with
    /// a RecursionError at 500 levels where Python's limit is the usual one.
    pub const OF_CODE: u16 = 8;
    pub const VALUES_OF_CODE: u32 = 32;
    /// The most that may be freed by recursion, in units of 60 bytes of C stack, measured with CPython 3.11: on a stack of 512 KiB
    /// it frees 16,000 slices within each other, 4,000 deques or default dicts, and 250 arrays of objects.
    pub const MOST_FREED: u16 = 8000;
    pub const OF_SLICE: u16 = 4;
    pub const OF_DEQUE: u16 = 4;
    pub const OF_ARRAY: u16 = 40;
    pub const OF_EXCEPTION: u16 = 1;

    /// What holds that, and is freed by recursion; nobody hashes it.
    #[inline(always)]
    pub fn freed(self, units: u16) -> Weight {
        Weight { freeing: self.freeing.saturating_add(units), ..Weight::default() }
    }

    /// What holds that, so many levels further out, with so many values, and is freed without recursion.
    #[inline(always)]
    pub fn around(self, levels: u16, values: usize) -> Weight {
        Weight {
            depth: self.depth.saturating_add(levels),
            freeing: 0,
            values: self.values.saturating_add(u32::try_from(values).unwrap_or(u32::MAX)),
        }
    }

    #[inline(always)]
    pub fn add(&mut self, part: Weight) {
        self.depth = self.depth.max(part.depth);
        self.freeing = self.freeing.max(part.freeing);
        self.values = self.values.saturating_add(part.values);
    }
}

/// Whether CPython frees instances of a class of its own by recursion: exceptions with more fields than all exceptions have, struct
/// sequences. A namespace holds a dict, which it frees without.
pub fn frees_by_recursion(class: *mut ffi::PyTypeObject) -> bool {
    extern "C" {
        static mut _PyNamespace_Type: ffi::PyTypeObject;
    }
    // SAFETY: the class of a live object, or one that a layout holds; static types.
    unsafe {
        let dealloc = |class: *mut ffi::PyTypeObject| (*class).tp_dealloc.map(|dealloc| dealloc as usize);
        ffi::PyType_HasFeature(class, ffi::Py_TPFLAGS_HEAPTYPE) == 0
            && dealloc(class) != dealloc(ffi::PyExc_BaseException.cast())
            && class != addr_of_mut!(_PyNamespace_Type)
    }
}

/// What hashing an instance costs, if its class has a way of its own; and freeing it, if that is none of Python's classes.
///
/// # Safety
/// `object` is alive.
#[inline(always)]
pub(crate) unsafe fn weight_of_instance(object: Obj, held: Weight, len: usize) -> Weight {
    // SAFETY: alive, says the caller, and so is its class.
    unsafe {
        let class = ffi::Py_TYPE(object);
        let is_made = ffi::PyType_HasFeature(class, ffi::Py_TPFLAGS_HEAPTYPE) != 0;
        let freeing = if is_made || !frees_by_recursion(class) { 0 } else { held.freed(Weight::OF_EXCEPTION).freeing };
        let no_hash = ffi::PyObject_HashNotImplemented as *const () as usize;
        let hash = (*class).tp_hash.map_or(0, |hash| hash as usize);
        if hash == no_hash || hashes_by_identity(object) {
            return Weight { freeing, ..Weight::default() };
        }
        let whole = held.around(Weight::OF_CODE, len);
        Weight { freeing, values: whole.values.saturating_add(Weight::VALUES_OF_CODE), ..whole }
    }
}

/// Whether hashing it may run Python code, or read an instance that is not all there.
///
/// # Safety
/// `object` is alive.
pub(crate) unsafe fn may_run_code(object: Obj) -> bool {
    // SAFETY: alive, says the caller.
    unsafe {
        let class = ffi::Py_TYPE(object);
        !(text::is(object)
            || object == ffi::Py_None()
            || class == addr_of_mut!(ffi::PyLong_Type)
            || class == addr_of_mut!(ffi::PyFloat_Type)
            || class == addr_of_mut!(ffi::PyBool_Type)
            || class == addr_of_mut!(ffi::PyBytes_Type)
            || class == addr_of_mut!(ffi::PyComplex_Type))
    }
}

/// Whether an object hashes by what it is, not by what it holds.
///
/// # Safety
/// `object` is alive.
pub unsafe fn hashes_by_identity(object: Obj) -> bool {
    // SAFETY: alive, says the caller; the type is static.
    unsafe {
        let own = (*ffi::Py_TYPE(object)).tp_hash.map(|hash| hash as usize);
        own == (*addr_of_mut!(ffi::PyBaseObject_Type)).tp_hash.map(|hash| hash as usize)
    }
}

//! What hashing and freeing an object costs, as far as it is known while the object is built: how deep CPython's C code
//! recurses, and how many values it visits.

use crate::cpython::class::{has_trash_can, no_hash};
use crate::cpython::{text, Obj};
use pyo3::ffi;
use std::ptr::addr_of_mut;

/// The cost of hashing (and freeing) an object. CPython's C code recurses in both without a check of the stack, and
/// computes the hash of a tuple anew each time.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct HashCost {
    /// How deep hashes nest: tuples within tuples and the like. An instance is as deep as its fields; lists and dicts
    /// count as 0.
    pub depth: u16,
    /// How deep deallocation nests for containers without CPython's trash can, which bounds that recursion.
    pub freeing: u16,
    /// Number of values visited; a value met again counts again.
    pub values: u32,
}

impl HashCost {
    /// The deepest key allowed. Hashing tuples takes about 60 bytes of C stack per level, which is safe on a stack of
    /// 512 KiB.
    pub const DEEPEST: u16 = 4000;
    /// How many levels and values a hash in a class's own code counts as. It takes about 650 bytes of C stack, and
    /// Python's usual recursion limit ends it with a RecursionError at 500 levels.
    pub const OF_CODE: u16 = 8;
    pub const VALUES_OF_CODE: u32 = 32;
    /// The deepest deallocation by recursion, in units of 60 bytes of C stack. Measured with CPython 3.11: a stack of
    /// 512 KiB is enough for 16,000 nested slices, 4,000 deques or default dicts, and 250 arrays of objects.
    pub const MOST_FREED: u16 = 8000;
    pub const OF_SLICE: u16 = 4;
    pub const OF_DEQUE: u16 = 4;
    pub const OF_ARRAY: u16 = 40;
    pub const OF_EXCEPTION: u16 = 1;

    /// The cost of a container that is freed by recursion and can't be hashed.
    #[inline(always)]
    pub fn freed(self, units: u16) -> HashCost {
        HashCost { freeing: self.freeing.saturating_add(units), ..HashCost::default() }
    }

    /// The cost of a container with this content that is freed without recursion: `levels` deeper, with `values` more
    /// values.
    #[inline(always)]
    pub fn around(self, levels: u16, values: usize) -> HashCost {
        HashCost {
            depth: self.depth.saturating_add(levels),
            freeing: 0,
            values: self.values.saturating_add(u32::try_from(values).unwrap_or(u32::MAX)),
        }
    }

    #[inline(always)]
    pub fn add(&mut self, part: HashCost) {
        self.depth = self.depth.max(part.depth);
        self.freeing = self.freeing.max(part.freeing);
        self.values = self.values.saturating_add(part.values);
    }
}

/// Whether CPython frees instances of a built-in class by recursion: struct sequences, and exceptions with more fields
/// than BaseException. A SimpleNamespace doesn't count: it holds a dict, which CPython frees without recursion.
pub fn frees_by_recursion(class: *mut ffi::PyTypeObject) -> bool {
    // SAFETY: callers pass the class of a live object or one that a shape holds; the other types are static.
    unsafe {
        let dealloc = |class: *mut ffi::PyTypeObject| (*class).tp_dealloc.map(|dealloc| dealloc as usize);
        !has_trash_can(class)
            && dealloc(class) != dealloc(ffi::PyExc_BaseException.cast())
            && class != crate::cpython::class::namespace()
    }
}

/// The cost of hashing an instance whose class defines its own hash, and of freeing one of a built-in class.
///
/// # Safety
/// `object` is alive.
#[inline(always)]
pub(crate) unsafe fn hash_cost_of_instance(object: Obj, held: HashCost, len: usize) -> HashCost {
    // SAFETY: `object` is alive by contract, and holds its class.
    unsafe {
        let class = ffi::Py_TYPE(object);
        let freeing = if frees_by_recursion(class) { held.freed(HashCost::OF_EXCEPTION).freeing } else { 0 };
        let hash = (*class).tp_hash.map_or(0, |hash| hash as usize);
        if hash == no_hash() || hashes_by_identity(object) {
            return HashCost { freeing, ..HashCost::default() };
        }
        let whole = held.around(HashCost::OF_CODE, len);
        HashCost { freeing, values: whole.values.saturating_add(HashCost::VALUES_OF_CODE), ..whole }
    }
}

/// Whether hashing the object may run Python code or read an unfinished instance.
///
/// # Safety
/// `object` is alive.
pub(crate) unsafe fn may_run_code(object: Obj) -> bool {
    // SAFETY: `object` is alive by contract; the types are static.
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

/// Whether an object's hash comes from its identity instead of its content.
///
/// # Safety
/// `object` is alive.
pub unsafe fn hashes_by_identity(object: Obj) -> bool {
    // SAFETY: `object` is alive by contract; the type is static.
    unsafe {
        let own = (*ffi::Py_TYPE(object)).tp_hash.map(|hash| hash as usize);
        own == (*addr_of_mut!(ffi::PyBaseObject_Type)).tp_hash.map(|hash| hash as usize)
    }
}

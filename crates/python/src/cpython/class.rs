//! Classes as CPython looks at them: attributes that no metaclass answers for, and the number of their state.

use super::{Obj, Owned, Type};
use pyo3::ffi;

extern "C" {
    pub fn _PyType_Lookup(class: Type, name: Obj) -> Obj;
}

/// CPython's number for what the class and its bases have under their names: another one once something is set there (not
/// if an attribute's value is changed within itself). 0: it gives none. `None`: an exception was raised.
///
/// # Safety
/// `class` is alive.
pub unsafe fn version_of(class: Type) -> Option<u32> {
    // SAFETY: alive, says the caller.
    unsafe {
        if given_version(class) == 0 {
            // It is given when something is looked up.
            lookup(class, c"__slots__")?;
        }
        Some(given_version(class))
    }
}

/// The same, if it is given; else 0.
///
/// # Safety
/// `class` is alive.
pub unsafe fn given_version(class: Type) -> u32 {
    // Before 3.12 a flag says so as well.
    const VALID: std::ffi::c_ulong = 1 << 19;
    // SAFETY: alive, says the caller.
    unsafe {
        match (*class).tp_version_tag {
            version if cfg!(Py_3_12) || ffi::PyType_HasFeature(class, VALID) != 0 => version,
            _ => 0,
        }
    }
}

/// The attribute that `class` itself or a base defines, not through a metaclass: borrowed, or null. `None`: an exception was raised.
///
/// # Safety
/// `class` is alive.
pub unsafe fn lookup(class: Type, name: &std::ffi::CStr) -> Option<Obj> {
    // SAFETY: alive, says the caller.
    unsafe {
        let name = Owned::new(ffi::PyUnicode_InternFromString(name.as_ptr()))?;
        Some(_PyType_Lookup(class, name.get()))
    }
}

/// # Safety
/// `class` is alive.
pub unsafe fn managed_dict(class: Type) -> bool {
    const MANAGED_DICT: std::ffi::c_ulong = 1 << 4;
    // SAFETY: alive, says the caller.
    cfg!(Py_3_11) && unsafe { ffi::PyType_HasFeature(class, MANAGED_DICT) != 0 }
}

//! Floats, made without `PyFloat_FromDouble`, which costs twice as much as allocating and writing the header.

use super::{Obj, Owned, Type};
use pyo3::ffi;
use std::ptr::addr_of_mut;

/// Whether the type is exactly float.
///
/// # Safety
/// `object` is alive.
#[inline(always)]
pub unsafe fn is(object: Obj) -> bool {
    // SAFETY: `object` is alive, so its type can be read.
    unsafe { ffi::Py_TYPE(object) == addr_of_mut!(ffi::PyFloat_Type) }
}

/// The number in a float.
///
/// # Safety
/// `object` is a float.
#[inline(always)]
pub unsafe fn value(object: Obj) -> f64 {
    // SAFETY: `object` is a float (or of a subclass), which begins with a `PyFloatObject`.
    unsafe { (*object.cast::<ffi::PyFloatObject>()).ob_fval }
}

/// # Safety
/// The GIL is held.
#[inline(always)]
pub unsafe fn from_value(value: f64) -> Option<Owned> {
    // SAFETY: the GIL is held; head and value lie within the `PyFloatObject` that was allocated.
    unsafe {
        if cfg!(any(py_sys_config = "Py_REF_DEBUG", py_sys_config = "Py_TRACE_REFS")) {
            return Owned::new(ffi::PyFloat_FromDouble(value));
        }
        let object = ffi::PyObject_Malloc(size_of::<ffi::PyFloatObject>()).cast::<ffi::PyObject>();
        if object.is_null() {
            ffi::PyErr_NoMemory();
            return None;
        }
        super::text::init_head(object, addr_of_mut!(ffi::PyFloat_Type));
        (*object.cast::<ffi::PyFloatObject>()).ob_fval = value;
        Owned::new(object)
    }
}

/// An instance of a subclass of `float`, as its constructor makes it.
///
/// # Safety
/// The GIL is held; `class` is alive, and such a subclass.
pub unsafe fn of_class(class: Type, value: f64) -> Option<Owned> {
    // SAFETY: `tp_alloc` gives an instance, which begins with a `PyFloatObject`.
    unsafe {
        let float = Owned::new((*class).tp_alloc?(class, 0))?;
        (*float.get().cast::<ffi::PyFloatObject>()).ob_fval = value;
        Some(float)
    }
}

pub(super) unsafe fn self_test() -> Result<(), &'static str> {
    // SAFETY: the GIL is held while the module is imported; `number` is a float that lives to the end of the block.
    unsafe {
        let number = from_value(-1.5).ok_or("no memory")?;
        if ffi::PyFloat_AsDouble(number.get()).to_bits() != (-1.5f64).to_bits() || value(number.get()) != -1.5 {
            return Err("floats of this CPython are laid out in an unknown way");
        }
    }
    Ok(())
}

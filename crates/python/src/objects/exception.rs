//! Exceptions: arguments, attributes (notes among them), cause and context. Tracebacks are left out, as pickle does.
//!
//! The content of an exception's instance is the tuple of its arguments, then a dict of what C code keeps of it:
//! cause, context and the fields that the builtin exceptions add.

use super::owned;
use crate::cpython::{Obj, Owned, Type};
use crate::encode::Part;
use crate::error::{decode, raised, refused, Result};
use pyo3::ffi;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyTuple, PyType};

/// Fields that C code keeps, beside the arguments.
const FIELDS: &[&str] = &["__cause__", "__context__", "__suppress_context__"];
/// Fields of the builtin exceptions whose arguments don't say them.
const OWN: &[&str] = &["name", "path", "obj", "filename2"];

/// Whether a class is one of the builtin exceptions.
pub fn is_builtin(class: &Bound<'_, PyAny>) -> bool {
    let Ok(class) = class.cast::<PyType>() else { return false };
    // SAFETY: alive.
    unsafe {
        let raw: Type = class.as_ptr().cast();
        ffi::PyType_IsSubtype(raw, ffi::PyExc_BaseException.cast()) != 0
            && ffi::PyType_HasFeature(raw, ffi::Py_TPFLAGS_HEAPTYPE) == 0
    }
}

/// What stands for an exception before its attributes: arguments and fields, as one tuple.
///
/// # Safety
/// `object` is alive and an exception.
pub unsafe fn parts(py: Python<'_>, object: Obj) -> Result<Vec<Part>> {
    // SAFETY: alive, says the caller.
    let error = unsafe { Bound::from_borrowed_ptr(py, object) };
    let args = error.getattr("args")?;
    let fields = PyDict::new(py);
    for name in FIELDS.iter().chain(OWN) {
        let Ok(value) = error.getattr(*name) else { continue };
        let is_default = value.is_none() || (*name == "__suppress_context__" && !value.is_truthy()?);
        // What `__dict__` holds under such a name is stored with it.
        let in_dict = error.getattr("__dict__")?.contains(*name)?;
        if !is_default && !in_dict {
            fields.set_item(*name, value)?;
        }
    }
    let both = PyTuple::new(py, [args, fields.into_any()])?;
    Ok(vec![Part::Value(owned(both.as_any()))])
}

/// An exception of its arguments, by the constructor of the nearest builtin one, whose initialiser is C code as well.
///
/// # Safety
/// The GIL is held; `class` is alive and an exception.
pub unsafe fn new_of(class: Type, payload: Option<Owned>) -> Result<Owned> {
    // SAFETY: as the caller says; the nearest builtin class of an exception is one too.
    unsafe {
        let py = Python::assume_attached();
        let Some(payload) = payload else { return Err(decode("an exception without its arguments", 0)) };
        let payload = Bound::from_borrowed_ptr(py, payload.get());
        let Ok((args, fields)) = payload.extract::<(Bound<'_, PyTuple>, Bound<'_, PyDict>)>() else {
            return Err(decode("expected the arguments of an exception", 0));
        };
        let mut builtin = class;
        while ffi::PyType_HasFeature(builtin, ffi::Py_TPFLAGS_HEAPTYPE) != 0 {
            builtin = (*builtin).tp_base;
        }
        let Some(new) = (*builtin).tp_new else { return Err(decode("an exception without a constructor", 0)) };
        let failed = || refused("an exception that does not take its arguments", 0);
        let made = Owned::new(new(class, args.as_ptr(), std::ptr::null_mut())).ok_or_else(failed)?;
        if let Some(init) = (*builtin).tp_init {
            if init(made.get(), args.as_ptr(), std::ptr::null_mut()) != 0 {
                return Err(failed());
            }
        }
        let error = Bound::from_borrowed_ptr(py, made.get());
        for (name, value) in fields {
            let name: String = name.extract().map_err(|_| decode("an exception's field without a name", 0))?;
            if !FIELDS.contains(&name.as_str()) && !OWN.contains(&name.as_str()) {
                return Err(decode("an exception's field of an unknown name", 0));
            }
            let name = std::ffi::CString::new(name).map_err(|_| decode("an exception's field of an unknown name", 0))?;
            let name = Owned::new(ffi::PyUnicode_InternFromString(name.as_ptr())).ok_or_else(raised)?;
            // The builtin's own setter, which checks the value; a subclass's property would be its own code.
            if ffi::PyObject_GenericSetAttr(error.as_ptr(), name.get(), value.as_ptr()) != 0 {
                return Err(refused("an exception's field that it does not take", 0));
            }
        }
        Ok(made)
    }
}

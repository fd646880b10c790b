//! Exceptions: arguments, attributes (notes among them), cause and context. Tracebacks are left out, as pickle does.
//!
//! The content of an exception's instance is the tuple of its arguments, then a dict of what C code keeps of it:
//! cause, context and the fields that the builtin exceptions add.

use super::owned;
use crate::cpython::{new, Obj, Owned, Type};
use crate::encode::Part;
use crate::error::{decode, refused, Result};
use crate::memory::{vec, Vec};
use pyo3::exceptions::PyAttributeError;
use pyo3::ffi;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyTuple, PyType};

/// Fields that C code keeps, beside the arguments.
const FIELDS: &[&str] = &["__cause__", "__context__", "__suppress_context__"];
/// Fields of the builtin exceptions whose arguments don't say them.
const OWN: &[&str] = &["name", "path", "obj", "errno", "strerror", "filename", "filename2", "characters_written"];

/// Whether what the builtins have under some name is an exception of theirs.
pub fn is_builtin(found: &Bound<'_, PyAny>) -> bool {
    let Ok(class) = found.cast::<PyType>() else { return false };
    let is_own = class
        .getattr("__module__")
        .and_then(|module| module.extract::<String>())
        .is_ok_and(|module| module == "builtins");
    // SAFETY: alive.
    is_own && unsafe { ffi::PyType_IsSubtype(class.as_ptr().cast(), ffi::PyExc_BaseException.cast()) != 0 }
}

/// What stands for an exception before its attributes: arguments and fields, as one tuple.
///
/// # Safety
/// `object` is alive and an exception.
pub unsafe fn parts(py: Python<'_>, object: Obj) -> Result<Vec<Part>> {
    // SAFETY: alive, says the caller.
    let error = unsafe { Bound::from_borrowed_ptr(py, object) };
    let fields = new::dict(py)?;
    // SAFETY: an exception, and a class that is alive.
    let builtin: Bound<'_, PyAny> = unsafe { Bound::from_borrowed_ptr(py, nearest(ffi::Py_TYPE(object)).cast()) };
    let args = builtin.getattr("args")?.call_method1("__get__", (&error,))?;
    for name in FIELDS.iter().chain(OWN) {
        // What the builtin class itself keeps: a subclass may have put something of its own there.
        let Ok(getter) = builtin.getattr(*name) else { continue };
        let value = match getter.call_method1("__get__", (&error,)) {
            Ok(value) => value,
            // Not set.
            Err(missing) if missing.is_instance_of::<PyAttributeError>(py) => continue,
            Err(error) => return Err(error.into()),
        };
        let is_default = value.is_none() || (*name == "__suppress_context__" && !value.is_truthy()?);
        if !is_default {
            fields.set_item(*name, value)?;
        }
    }
    let both = PyTuple::new(py, [args, fields.into_any()])?;
    Ok(vec![Part::Value(owned(both.as_any()))])
}

/// The nearest builtin class of an exception.
///
/// # Safety
/// `class` is alive and an exception.
unsafe fn nearest(class: Type) -> Type {
    let mut builtin = class;
    // SAFETY: alive, says the caller, and so are a class's bases; the last is a builtin one.
    unsafe {
        while ffi::PyType_HasFeature(builtin, ffi::Py_TPFLAGS_HEAPTYPE) != 0 {
            builtin = (*builtin).tp_base;
        }
    }
    builtin
}

/// Whether instances can only be made of their arguments, so that they can't be among them: exception groups.
///
/// # Safety
/// `class` is alive and an exception.
pub unsafe fn is_of_parts(py: Python<'_>, class: Type) -> Result<bool> {
    let Ok(group) = py.import("builtins")?.getattr("BaseExceptionGroup") else { return Ok(false) };
    // SAFETY: alive, says the caller.
    Ok(unsafe { ffi::PyType_IsSubtype(class, group.as_ptr().cast()) != 0 })
}

/// An exception by the constructor of the nearest builtin one, of the given arguments or none yet.
///
/// # Safety
/// The GIL is held; `class` is alive and an exception.
pub unsafe fn empty(py: Python<'_>, class: Type, args: Option<&Owned>, at: usize) -> Result<Owned> {
    // SAFETY: as the caller says.
    unsafe {
        let Some(new) = (*nearest(class)).tp_new else { return Err(decode("an exception without a constructor", at)) };
        let args = match args {
            Some(payload) => arguments(py, payload, at)?.0,
            None => PyTuple::empty(py),
        };
        Owned::new(new(class, args.as_ptr(), std::ptr::null_mut()))
            .ok_or_else(|| refused("an exception that does not take its arguments", at))
    }
}

/// What [`parts`] gave.
fn arguments<'py>(py: Python<'py>, payload: &Owned, at: usize) -> Result<(Bound<'py, PyTuple>, Bound<'py, PyDict>)> {
    // SAFETY: held.
    let payload = unsafe { Bound::from_borrowed_ptr(py, payload.get()) };
    payload.extract().map_err(|_| decode("expected the arguments of an exception", at))
}

/// Gives an exception its arguments, by the builtin's own initialiser, and the fields that C code keeps.
pub fn fill(py: Python<'_>, object: &Owned, payload: &Owned, at: usize) -> Result<()> {
    let (args, fields) = arguments(py, payload, at)?;
    let os_error = py.get_type::<pyo3::exceptions::PyOSError>();
    // SAFETY: the object is held, and an exception; the initialiser is C code that takes any arguments.
    unsafe {
        let error = Bound::from_borrowed_ptr(py, object.get());
        if error.is_instance(&os_error)? {
            // Its constructor took no arguments, and its initialiser takes none: arguments and fields are set.
            set(&error, "args", args.as_any(), at)?;
        } else if let Some(init) = (*nearest(ffi::Py_TYPE(object.get()))).tp_init {
            if init(object.get(), args.as_ptr(), std::ptr::null_mut()) != 0 {
                return Err(refused("an exception that does not take its arguments", at));
            }
        }
        for (name, value) in fields {
            let name: String = name.extract().map_err(|_| decode("an exception's field without a name", at))?;
            if !FIELDS.contains(&name.as_str()) && !OWN.contains(&name.as_str()) {
                return Err(decode("an exception's field of an unknown name", at));
            }
            set(&error, &name, &value, at)?;
        }
    }
    Ok(())
}

/// Sets a field by the builtin's own setter, which checks the value: a subclass's property would be its own code.
fn set(error: &Bound<'_, PyAny>, name: &str, value: &Bound<'_, PyAny>, at: usize) -> Result<()> {
    let builtin: Bound<'_, PyAny> = {
        // SAFETY: an exception, and a class that is alive.
        unsafe { Bound::from_borrowed_ptr(error.py(), nearest(ffi::Py_TYPE(error.as_ptr())).cast()) }
    };
    let done = builtin.getattr(name).and_then(|setter| setter.call_method1("__set__", (error, value)));
    if let Err(failure) = done {
        failure.restore(error.py());
        return Err(refused("an exception's field that it does not take", at));
    }
    Ok(())
}

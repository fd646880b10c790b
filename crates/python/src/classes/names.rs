//! The names of classes, in messages and in errors.

use crate::cpython::class::_PyType_Lookup;
use crate::cpython::{text, Type};
use crate::error::Asked;
use crate::memory::format;
use pyo3::ffi;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyModule, PyString, PyType};
use std::ptr::addr_of_mut;

/// "module.qualname".
pub fn class_name(py: Python<'_>, class: Type) -> PyResult<String> {
    // SAFETY: callers hold the class, and the `Bound` takes a reference of its own.
    let class = unsafe { Bound::from_borrowed_ptr(py, class.cast()).cast_into_unchecked::<PyType>() };
    let name: String = class.getattr("__qualname__")?.extract()?;
    match class.getattr("__module__").and_then(|module| module.extract::<String>()).if_taken()? {
        Some(module) => Ok(format!("{module}.{name}")),
        None => Ok(format!("{}.{name}", module_with(&class, &name)?)),
    }
}

/// The name of an object's class in errors: without the module for builtins.
pub fn shown_class(object: &Bound<'_, PyAny>) -> PyResult<String> {
    let class = object.get_type();
    // Before 3.13 the full name of a class whose module isn't text is an error, since then it is the name alone.
    let is_text = class.getattr("__module__").if_taken()?.is_some_and(|module| module.is_instance_of::<PyString>());
    match class.fully_qualified_name().if_taken()?.filter(|_| is_text) {
        Some(name) => name.extract(),
        None => class_name(object.py(), class.as_type_ptr()),
    }
}

/// The module of a class that doesn't say its module, found as pickle does: the first that has the class, else the main
/// module.
fn module_with(class: &Bound<'_, PyType>, name: &str) -> PyResult<String> {
    let py = class.py();
    let modules = py.import("sys")?.getattr("modules")?.call_method0("copy")?;
    for (module_name, module) in modules.cast::<PyDict>()? {
        let Ok(module) = module.cast::<PyModule>() else { continue };
        let Some(module_name) = module_name.extract::<String>().if_taken()? else { continue };
        if matches!(&module_name[..], "__main__" | "__mp_main__") {
            continue;
        }
        let mut parts = name.split('.');
        let mut found = match parts.next() {
            Some(first) => module.dict().get_item(first)?,
            None => None,
        };
        for part in parts {
            found = match found {
                Some(outer) => outer.getattr_opt(part).if_taken()?.flatten(),
                None => break,
            };
        }
        if found.is_some_and(|found| found.is(class)) {
            return Ok(module_name);
        }
    }
    Ok("__main__".into())
}

/// Whether a class's `class_name` is `name`. The text is made only if a metaclass may define names.
pub fn is_named(class: &Bound<'_, PyType>, name: &str) -> PyResult<bool> {
    let py = class.py();
    let raw: Type = class.as_ptr().cast();
    // SAFETY: `class` holds itself, its metaclass and its dict; no Python code runs while they are read.
    unsafe {
        if ffi::PyType_HasFeature(raw, ffi::Py_TPFLAGS_HEAPTYPE) != 0 && has_usual_names(py, ffi::Py_TYPE(raw.cast())) {
            let qualname = (*raw.cast::<ffi::PyHeapTypeObject>()).ht_qualname;
            // Of many classes nearly all are told by the end of their name.
            if text::is(qualname) && text::ascii(qualname).is_some_and(|end| !name.as_bytes().ends_with(end)) {
                return Ok(false);
            }
            let module = ffi::PyDict_GetItem((*raw).tp_dict, pyo3::intern!(py, "__module__").as_ptr());
            if !module.is_null() && text::is(module) && text::is(qualname) {
                if let (Some(module), Some(qualname)) = (text::ascii(module), text::ascii(qualname)) {
                    let rest = name.as_bytes().strip_prefix(module).and_then(|rest| rest.strip_prefix(b"."));
                    return Ok(rest == Some(qualname));
                }
            }
        }
    }
    Ok(class_name(py, raw)? == name)
}

/// Whether classes of that metaclass get their names from `type` itself.
///
/// # Safety
/// `metaclass` is alive.
pub unsafe fn has_usual_names(py: Python<'_>, metaclass: Type) -> bool {
    let usual = addr_of_mut!(ffi::PyType_Type);
    let [getter, module, qualname] =
        [pyo3::intern!(py, "__getattribute__"), pyo3::intern!(py, "__module__"), pyo3::intern!(py, "__qualname__")];
    // SAFETY: `metaclass` is alive by contract; what is found is only compared.
    unsafe {
        let looked_up = |of: Type, name: &Bound<'_, PyString>| _PyType_Lookup(of, name.as_ptr());
        let same = |name| looked_up(metaclass, name) == looked_up(usual, name);
        // A metaclass that is written in Python has a `__module__` of its own, which the class's goes before: only a data
        // descriptor would be asked first. A `__getattr__`, as that of enumerations, is asked for what is not there.
        let is_text = || {
            let found = looked_up(metaclass, module);
            !found.is_null() && text::is(found)
        };
        metaclass == usual || (same(getter) && same(qualname) && (same(module) || is_text()))
    }
}

//! What classes are called: in messages, and in errors.

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
    // SAFETY: callers hold the class alive.
    let class = unsafe { Bound::from_borrowed_ptr(py, class.cast()).cast_into_unchecked::<PyType>() };
    let name: String = class.getattr("__qualname__")?.extract()?;
    match class.getattr("__module__").and_then(|module| module.extract::<String>()).if_taken()? {
        Some(module) => Ok(format!("{module}.{name}")),
        None => Ok(format!("{}.{name}", module_with(&class, &name)?)),
    }
}

/// What errors call an object's class: without the module of builtins.
pub fn shown_class(object: &Bound<'_, PyAny>) -> PyResult<String> {
    let class = object.get_type();
    match class.fully_qualified_name().if_taken()? {
        Some(name) => name.extract(),
        // Its module is no text.
        None => class_name(object.py(), class.as_type_ptr()),
    }
}

/// The module that has a class which doesn't say its own, as pickle looks for it: the main one where no other has it.
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

/// Whether that is the class's `class_name`; that text is made only where a metaclass may have its own say.
pub fn is_named(class: &Bound<'_, PyType>, name: &str) -> PyResult<bool> {
    let py = class.py();
    let raw: Type = class.as_ptr().cast();
    // SAFETY: a class is alive, and so are its metaclass and its dict; from the look-up on, no Python code runs.
    unsafe {
        if ffi::PyType_HasFeature(raw, ffi::Py_TPFLAGS_HEAPTYPE) != 0 && has_usual_names(py, ffi::Py_TYPE(raw.cast())) {
            let module = ffi::PyDict_GetItem((*raw).tp_dict, pyo3::intern!(py, "__module__").as_ptr());
            let qualname = (*raw.cast::<ffi::PyHeapTypeObject>()).ht_qualname;
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

/// Whether classes of that metaclass have their names from `type` itself.
///
/// # Safety
/// `metaclass` is alive.
unsafe fn has_usual_names(py: Python<'_>, metaclass: Type) -> bool {
    let usual = addr_of_mut!(ffi::PyType_Type);
    let names = [pyo3::intern!(py, "__module__"), pyo3::intern!(py, "__qualname__")];
    // SAFETY: alive, says the caller; what is found is only compared.
    unsafe {
        let looked_up = |of: Type, name: &Bound<'_, PyString>| _PyType_Lookup(of, name.as_ptr());
        let getter = |of: Type| (*of).tp_getattro.map(|own| own as usize);
        metaclass == usual
            || (getter(metaclass) == getter(usual)
                && names.iter().all(|name| looked_up(metaclass, name) == looked_up(usual, name)))
    }
}

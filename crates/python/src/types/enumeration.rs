//! Members of enumerations: by name, which changes less often than values; unions of flags, which have no name, by
//! value.

use crate::classes::registry;
use crate::cpython::owned;
use crate::cpython::{Obj, Owned, Type};
use crate::error::{decode, Asked, Result};
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::{PyDict, PyInt, PyString, PyType};

/// The member's name, or its value if it has no name of its own.
///
/// # Safety
/// `object` is alive and a member of an enumeration.
pub unsafe fn name_or_value(py: Python<'_>, object: Obj) -> Result<Owned> {
    // SAFETY: `object` is alive by contract.
    let member = unsafe { Bound::from_borrowed_ptr(py, object) };
    let name = member.getattr(intern!(member.py(), "_name_"))?;
    if name.is_instance_of::<PyString>() {
        let members = member.get_type().getattr(intern!(py, "_member_map_"))?;
        let known = members.cast::<PyDict>().map_err(PyErr::from)?.get_item(&name)?;
        if known.is_some_and(|known| known.is(&member)) {
            return Ok(owned(&name));
        }
    }
    Ok(owned(&member.getattr(intern!(member.py(), "_value_"))?))
}

/// Mirror of [`name_or_value`].
pub fn member(py: Python<'_>, class: Type, name: &Owned, at: usize) -> Result<Owned> {
    // SAFETY: the plan's shape holds the class, and the caller holds the name.
    let (class, name) =
        unsafe { (Bound::from_borrowed_ptr(py, class.cast()), Bound::from_borrowed_ptr(py, name.get())) };
    if name.is_instance_of::<PyString>() {
        return match named(&class, &name)? {
            Some(member) => Ok(owned(&member)),
            None => {
                let class = class.getattr("__qualname__")?;
                let remedy = "`register` it with the old name in `renames`, or give it `_missing_`";
                Err(decode(format_args!("`{class}` has no such member: {remedy}"), at))
            }
        };
    }
    if let Some(member) = by_value(&class, &name)? {
        return Ok(owned(&member));
    }
    match class.call1((&name,)).if_taken()? {
        Some(member) => Ok(owned(&member)),
        None => {
            let class = class.getattr("__qualname__")?;
            Err(decode(format_args!("`{class}` has no member of such a value: give it `_missing_`"), at))
        }
    }
}

/// Whether the metaclass of an enumeration is the standard library's own.
pub fn has_usual_metaclass(class: &Bound<'_, PyAny>) -> PyResult<bool> {
    static USUAL: PyOnceLock<Py<PyType>> = PyOnceLock::new();
    let py = class.py();
    let usual = USUAL.get_or_try_init(py, || {
        PyResult::Ok(py.import("enum")?.getattr("EnumMeta")?.cast_into::<PyType>()?.unbind())
    })?;
    Ok(class.get_type().is(usual))
}

/// The member of that value, where the class keeps it: as `Enum.__new__` looks it up, behind three calls of Python functions.
fn by_value<'py>(class: &Bound<'py, PyAny>, value: &Bound<'py, PyAny>) -> PyResult<Option<Bound<'py, PyAny>>> {
    let py = value.py();
    if !value.is_exact_instance_of::<PyInt>() || !has_usual_metaclass(class)? {
        return Ok(None);
    }
    match class.getattr(intern!(py, "_value2member_map_"))?.cast::<PyDict>() {
        Ok(known) => known.get_item(value),
        Err(_) => Ok(None),
    }
}

/// The member of that name, or of the name that the registered `renames` give for it, or what `_missing_` makes of it.
fn named<'py>(class: &Bound<'py, PyAny>, name: &Bound<'py, PyAny>) -> Result<Option<Bound<'py, PyAny>>> {
    let members = class.getattr(intern!(class.py(), "_member_map_"))?;
    let members = members.cast::<PyDict>().map_err(PyErr::from)?;
    if let Some(member) = members.get_item(name)? {
        return Ok(Some(member));
    }
    if let Some(member) = renamed(class, name)? {
        return Ok(Some(member));
    }
    let member = class.call_method1("_missing_", (name,)).if_taken()?;
    Ok(member.filter(|member| member.is_instance(class).unwrap_or(false)))
}

/// The member whose name was another one, by the registered `renames`.
pub fn renamed<'py>(class: &Bound<'py, PyAny>, name: &Bound<'py, PyAny>) -> Result<Option<Bound<'py, PyAny>>> {
    let py = class.py();
    let Some(known) = registry::by_class(py, class.as_ptr().cast())? else { return Ok(None) };
    let members = class.getattr("_member_map_")?;
    for (old, new) in &known.renames {
        // SAFETY: the registration holds both.
        let (old, new) = unsafe { (Bound::from_borrowed_ptr(py, old.get()), Bound::from_borrowed_ptr(py, new.get())) };
        if old.eq(name)? {
            return Ok(members.cast::<PyDict>().map_err(PyErr::from)?.get_item(new)?);
        }
    }
    Ok(None)
}

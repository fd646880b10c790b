//! Members of enumerations: by name, which changes less often than values; unions of flags, which have no name, by
//! value.

use crate::cpython::owned;
use crate::cpython::{Obj, Owned, Type};
use crate::error::{decode, Asked, Result};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyString};

/// The member's name, or its value if it has no name of its own.
///
/// # Safety
/// `object` is alive and a member of an enumeration.
pub unsafe fn name_or_value(py: Python<'_>, object: Obj) -> Result<Owned> {
    // SAFETY: `object` is alive by contract.
    let member = unsafe { Bound::from_borrowed_ptr(py, object) };
    let name = member.getattr("_name_")?;
    if name.is_instance_of::<PyString>() {
        let members = member.get_type().getattr("_member_map_")?;
        let known = members.cast::<PyDict>().map_err(PyErr::from)?.get_item(&name)?;
        if known.is_some_and(|known| known.is(&member)) {
            return Ok(owned(&name));
        }
    }
    Ok(owned(&member.getattr("_value_")?))
}

/// Mirror of [`name_or_value`].
pub fn member(py: Python<'_>, class: Type, name: &Owned, at: usize) -> Result<Owned> {
    // SAFETY: the plan's shape holds the class, and the caller holds the name.
    let (class, name) =
        unsafe { (Bound::from_borrowed_ptr(py, class.cast()), Bound::from_borrowed_ptr(py, name.get())) };
    if name.is_instance_of::<PyString>() {
        let members = class.getattr("_member_map_")?;
        return match members.cast::<PyDict>().map_err(PyErr::from)?.get_item(&name)? {
            Some(member) => Ok(owned(&member)),
            None => Err(decode(format_args!("`{}` has no such member", class.getattr("__qualname__")?), at)),
        };
    }
    match class.call1((&name,)).if_taken()? {
        Some(member) => Ok(owned(&member)),
        None => Err(decode(format_args!("`{}` has no member of such a value", class.getattr("__qualname__")?), at)),
    }
}

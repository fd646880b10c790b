//! Constants: instances without state whose class has its own `__new__` that returns an existing object. Objects that
//! are identified by identity (`Undefined`, `NumberKind`) are stored under the name that they have in their module or
//! class. The code of the class that pickle would call doesn't run.

use crate::classes::how::How;
use crate::classes::plan::Plan;
use crate::cpython::dict::Position;
use crate::cpython::owned;
use crate::cpython::split;
use crate::cpython::{text, Obj, Owned};
use crate::error::{decode, Fault, Result};
use crate::memory::Vec;
use pyo3::ffi;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyModule, PyString};

/// Whether instances may be constants.
pub fn may_be(plan: &Plan) -> bool {
    plan.own_new && matches!(plan.how, How::Fields) && plan.slots.is_empty() && !plan.is_foreign()
}

/// The name of a constant; `None` for an instance that has state or no name.
///
/// # Safety
/// `object` is alive and an instance of the plan's class, of which [`may_be`] says yes.
pub unsafe fn name_of(py: Python<'_>, plan: &Plan, object: Obj) -> Result<Option<Owned>> {
    // SAFETY: `object` is alive by contract; no code runs while a namespace is searched.
    unsafe {
        if has_state(plan, object)? {
            return Ok(None);
        }
        for namespace in namespaces(py, plan)? {
            let mut position = Position(0);
            while let Some((key, value)) = position.next(namespace.as_ptr()) {
                if value == object && text::is(key) {
                    return Ok(Some(Owned::borrowed(key)));
                }
            }
        }
    }
    Ok(None)
}

/// Mirror of [`name_of`]. If the name belongs to an instance of a class without constants, that was a variable's
/// content.
pub fn named(py: Python<'_>, plan: &Plan, name: &Owned, at: usize) -> Result<Owned> {
    // SAFETY: the plan's shape holds the class, and the caller holds the name.
    unsafe {
        let is_constant = |found: Obj| Ok::<_, Fault>(ffi::Py_TYPE(found) == plan.class() && !has_state(plan, found)?);
        let namespaces = namespaces(py, plan)?;
        let name = Bound::<PyAny>::from_borrowed_ptr(py, name.get());
        if !text::is(name.as_ptr()) {
            return Err(decode("expected the name of a constant", at));
        }
        for namespace in &namespaces {
            let Some(found) = namespace.get_item(&name)? else { continue };
            if is_constant(found.as_ptr())? {
                return Ok(owned(&found));
            }
        }
        for namespace in &namespaces {
            for other in namespace.values() {
                if is_constant(other.as_ptr())? {
                    let class = Bound::<PyAny>::from_borrowed_ptr(py, plan.class().cast());
                    return Err(decode(format_args!("`{}` has no such constant", class.getattr("__qualname__")?), at));
                }
            }
        }
        plan.fresh()
    }
}

/// Whether an instance has attributes.
///
/// # Safety
/// `object` is alive and an instance of the plan's class.
unsafe fn has_state(plan: &Plan, object: Obj) -> Result<bool> {
    // SAFETY: by contract an instance of the plan's class.
    unsafe { Ok((plan.managed_dict && split::attribute(object, 0).is_some()) || plan.dict_of(object)?.is_some()) }
}

/// The namespaces in which a class's constants may be: its module if that is imported, the class and its bases.
fn namespaces<'py>(py: Python<'py>, plan: &Plan) -> Result<Vec<Bound<'py, PyDict>>> {
    let mut found = Vec::new();
    // SAFETY: the plan's class is alive and holds its bases; their dicts are read without asking a metaclass.
    unsafe {
        let own = |class: *mut ffi::PyTypeObject| {
            Bound::from_borrowed_ptr_or_opt(py, (*class).tp_dict).and_then(|dict| dict.cast_into_exact::<PyDict>().ok())
        };
        let module =
            own(plan.class()).map(|dict| dict.get_item(pyo3::intern!(py, "__module__"))).transpose()?.flatten();
        if let Some(module) = module.filter(|module| module.is_exact_instance_of::<PyString>()) {
            let modules = Bound::from_borrowed_ptr_or_opt(py, ffi::PyImport_GetModuleDict());
            let modules = modules.and_then(|modules| modules.cast_into_exact::<PyDict>().ok());
            let module = modules.map(|modules| modules.get_item(module)).transpose()?.flatten();
            found.extend(module.and_then(|module| module.cast_into::<PyModule>().ok()).map(|module| module.dict()));
        }
        let bases = Bound::from_borrowed_ptr_or_opt(py, (*plan.class()).tp_mro);
        if let Some(Ok(bases)) = bases.map(|bases| bases.cast_into_exact::<pyo3::types::PyTuple>()) {
            for base in bases.iter_borrowed() {
                if ffi::PyType_Check(base.as_ptr()) != 0 {
                    found.extend(own(base.as_ptr().cast()));
                }
            }
        }
    }
    Ok(found)
}

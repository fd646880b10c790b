//! Objects that contain themselves through objects of the same kind, and whose hashes C code computes from their
//! content: hashing one never ends, and since no Python code runs, CPython doesn't notice before the C stack is full.
//! Python's own classes can't be built that way; a frozen Struct of msgspec can.

use crate::budget::hash_cost::hashes_by_identity;
use crate::budget::hash_cost::may_run_code;
use crate::budget::Work;
use crate::classes::{memory, plan, state};
use crate::cpython::class::no_hash;
use crate::cpython::{gc, Obj, Owned};
use crate::error::{decode, Result};
use crate::memory::{FxHashMap, Vec};
use pyo3::prelude::*;
use pyo3::{ffi, intern};
use std::ptr::addr_of_mut;

/// An object whose parts are being searched.
struct Open {
    object: Owned,
    parts: Vec<Owned>,
}

/// Refuses objects that contain themselves along paths that are hashed in C alone.
pub fn refuse(py: Python<'_>, work: &Work, objects: impl Iterator<Item = Owned>, at: usize) -> Result<()> {
    // Objects by address; true once everything below them has been searched.
    let mut known: FxHashMap<usize, bool> = FxHashMap::default();
    let mut stack: Vec<Open> = Vec::new();
    for root in objects {
        let mut next = Some(root);
        loop {
            if let Some(object) = next.take() {
                match known.get(&(object.get() as usize)) {
                    Some(true) => {}
                    Some(false) => {
                        return Err(decode("an instance that is hashed by its fields, directly inside itself", at));
                    }
                    None => {
                        // SAFETY: `object` is an owned reference.
                        let parts = unsafe { hashed_in_c(py, object.get())? };
                        work.charge(1 + parts.len(), "keys that are looked through again and again", at)?;
                        known.insert(object.get() as usize, parts.is_empty());
                        if !parts.is_empty() {
                            stack.push(Open { object, parts });
                        }
                    }
                }
            }
            let Some(open) = stack.last_mut() else { break };
            next = open.parts.pop();
            if next.is_none() {
                known.insert(open.object.get() as usize, true);
                stack.pop();
            }
        }
    }
    Ok(())
}

/// The parts whose hashes C code combines to the object's hash.
///
/// # Safety
/// `object` is alive.
unsafe fn hashed_in_c(py: Python<'_>, object: Obj) -> Result<Vec<Owned>> {
    let mut parts = Vec::new();
    // SAFETY: `object` is alive by contract, and so is its class. The type is checked before content is read.
    unsafe {
        let class = ffi::Py_TYPE(object);
        let hash = |class: *mut ffi::PyTypeObject| (*class).tp_hash.map_or(0, |hash| hash as usize);
        if !may_run_code(object) || hash(class) == no_hash() || hashes_by_identity(object) {
            return Ok(parts);
        }
        if ffi::PyType_HasFeature(class, ffi::Py_TPFLAGS_TUPLE_SUBCLASS) != 0 {
            if hash(class) == hash(addr_of_mut!(ffi::PyTuple_Type)) {
                let items = (0..ffi::PyTuple_GET_SIZE(object)).map(|at| ffi::PyTuple_GET_ITEM(object, at));
                parts.extend(items.filter(|item| !item.is_null()).map(|item| Owned::borrowed(item)));
            }
        } else if ffi::PyType_HasFeature(class, ffi::Py_TPFLAGS_HEAPTYPE) == 0 {
            // A frozenset's hash combines hashes that its table has stored.
            if hash(class) != hash(addr_of_mut!(ffi::PyFrozenSet_Type)) {
                parts = gc::held(object);
            }
        } else if memory::is_msgspec_struct(py, class)? && is_hashed_by_fields(py, object)? {
            for slot in &plan::of(py, class)?.slots {
                let value = state::slot(object, slot.offset);
                if !value.is_null() {
                    parts.push(Owned::borrowed(value));
                }
            }
        }
    }
    // Leaves can't contain anything.
    // SAFETY: `parts` holds them.
    parts.retain(|part| unsafe { may_run_code(part.get()) });
    Ok(parts)
}

/// Whether a Struct is hashed by its fields: its class's configuration says so, and it has no `__hash__` in Python.
///
/// # Safety
/// `object` is alive, and a Struct of msgspec's.
unsafe fn is_hashed_by_fields(py: Python<'_>, object: Obj) -> Result<bool> {
    // SAFETY: `object` is alive by contract.
    let class = unsafe { Bound::from_borrowed_ptr(py, object) }.get_type();
    let found = || -> PyResult<bool> {
        let config = class.getattr(intern!(py, "__struct_config__"))?;
        let says = |name| config.getattr(name)?.is_truthy();
        let own = class.getattr(intern!(py, "__hash__"))?;
        // SAFETY: a type object is alive as long as its instance `own`.
        let in_c = unsafe { ffi::Py_TYPE(own.as_ptr()) == addr_of_mut!(ffi::PyWrapperDescr_Type) };
        Ok(in_c && says(intern!(py, "frozen"))? && says(intern!(py, "eq"))?)
    };
    Ok(found()?)
}

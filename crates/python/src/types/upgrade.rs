//! Instances stored by another version of their class: their fields are passed to the registered `upgrade`, and fields
//! that are still missing get the class's defaults.

use crate::classes::defaults::{self, refused_field, shown, Source};
use crate::classes::how::How;
use crate::classes::plan::Plan;
use crate::classes::registry::Unknown;
use crate::classes::state;
use crate::cpython::owned;
use crate::cpython::{new, text, Owned};
use crate::error::{decode, raised, Result};
use crate::memory::Vec;
use crate::shapes::{Build, Shape};
use pyo3::ffi;
use pyo3::prelude::*;
use pyo3::types::PyDict;

/// Fills `object` from the values of the shape's names; a named tuple is made here.
pub fn make(py: Python<'_>, shape: &Shape, object: Option<Owned>, values: Vec<Owned>, at: usize) -> Result<Owned> {
    let Some(plan) = &shape.plan else { return Err(decode("a layout without its class", at)) };
    let fields = new::dict(py)?;
    for (name, value) in shape.names.iter().zip(&values) {
        // SAFETY: `shape` and `values` hold both.
        unsafe {
            fields.set_item(Bound::from_borrowed_ptr(py, name.get()), Bound::from_borrowed_ptr(py, value.get()))?
        };
    }
    let fields = upgraded(py, shape, plan, fields, at)?;
    filled(py, shape, plan, object, fields, at)
}

/// An instance of the class made of fields by name that were stored with this shape.
pub fn of_fields(py: Python<'_>, shape: &Shape, plan: &Plan, fields: Bound<'_, PyDict>, at: usize) -> Result<Owned> {
    let fields = upgraded(py, shape, plan, fields, at)?;
    let object = match plan.how {
        How::NamedTuple(_) => None,
        // SAFETY: the GIL is held, and the plan's class is alive while the plan is in use.
        _ => Some(unsafe { plan.fresh()? }),
    };
    filled(py, shape, plan, object, fields, at)
}

/// Fills `object` from fields by name, with defaults for those that are missing.
fn filled(
    py: Python<'_>,
    shape: &Shape,
    plan: &Plan,
    object: Option<Owned>,
    fields: Bound<'_, PyDict>,
    at: usize,
) -> Result<Owned> {
    let by_shape = match &shape.build {
        Build::Upgraded { lacking, .. } => lacking.as_ref(),
        _ => None,
    };
    let found;
    let lacking = match by_shape {
        Some(lacking) => lacking,
        None => {
            found = defaults::lacking(py, plan.class(), &names_of(&fields, at)?)?;
            &found
        }
    };
    for missing in lacking.iter().filter(|missing| missing.source != Source::OfInstance) {
        let value = missing.value(py, fields.as_any())?;
        // SAFETY: both are owned references.
        unsafe {
            fields
                .set_item(Bound::from_borrowed_ptr(py, missing.name.get()), Bound::from_borrowed_ptr(py, value.get()))?
        };
    }
    check(py, shape, plan, &fields, at)?;
    let get = |name: &Owned| -> Result<Option<Owned>> {
        // SAFETY: `name` is an owned reference.
        let found = fields.get_item(unsafe { Bound::from_borrowed_ptr(py, name.get()) })?;
        Ok(found.map(|value| owned(&value)))
    };
    // SAFETY: the plan's class is alive, and `object` is a new instance of it; offsets and indices are the class's.
    unsafe {
        if let How::NamedTuple(names) = &plan.how {
            let Some(alloc) = (*plan.class()).tp_alloc else { return Err(decode("a class without an allocator", at)) };
            let object = Owned::new(alloc(plan.class(), names.len() as isize)).ok_or_else(raised)?;
            for (place, name) in names.iter().enumerate() {
                let Some(value) = get(name)? else {
                    let (stored, name) = (shape.stored_name()?, shown(name));
                    let remedy = "give it a default, or `register` the class with `upgrade` or `renames`";
                    return Err(decode(format_args!("`{stored}` was stored without its field `{name}`: {remedy}"), at));
                };
                crate::cpython::fill::tuple_item(object.get(), place, value);
            }
            return Ok(object);
        }
        let Some(object) = object else { return Err(decode("an instance that was not made", at)) };
        let rest = new::dict(py)?;
        for (name, value) in &fields {
            match plan.slots.iter().find(|slot| text::equal(slot.name.get(), name.as_ptr())) {
                Some(slot) => {
                    crate::cpython::replace(state::slot_mut(object.get(), slot.offset), owned(&value).into_raw())
                }
                None => rest.set_item(name, value)?,
            }
        }
        if plan.has_dict {
            state::set_dict(object.get(), owned(rest.as_any()))?;
        }
        for missing in lacking.iter().filter(|missing| missing.source == Source::OfInstance) {
            let value = missing.value(py, &Bound::from_borrowed_ptr(py, object.get()))?;
            // As loading sets all fields, whatever `__setattr__` the class has.
            if ffi::PyObject_GenericSetAttr(object.get(), missing.name.get(), value.get()) < 0 {
                return Err(raised());
            }
        }
        Ok(object)
    }
}

/// What the registered `upgrade` makes of the fields, if their version is not that of the class.
pub fn upgraded<'py>(
    py: Python<'py>,
    shape: &Shape,
    plan: &Plan,
    fields: Bound<'py, PyDict>,
    at: usize,
) -> Result<Bound<'py, PyDict>> {
    let Some(registration) = &plan.registration else { return Ok(fields) };
    if registration.upgrade.is_none() || registration.version == shape.version {
        return Ok(fields);
    }
    // SAFETY: the shape holds its name.
    let name = shape.type_name.as_ref().map(|name| unsafe { Bound::from_borrowed_ptr(py, name.get()) });
    let upgraded = registration.upgraded(fields, shape.version, name.as_ref())?;
    let fields = upgraded.cast_into::<PyDict>().map_err(|_| decode("`upgrade` gave no dict of fields", at))?;
    if plan.is_model(&plan.declared(py)?) {
        // SAFETY: the plan's class is alive.
        let class = unsafe { Bound::from_borrowed_ptr(py, plan.class().cast()) };
        py.import("holdall._evolution")?.call_method1("set_required", (class, &fields))?;
    }
    Ok(fields)
}

/// Refuses fields of which a required one is missing, and treats those that the class has not as it is registered, or as a model's
/// configuration says.
fn check(py: Python<'_>, shape: &Shape, plan: &Plan, fields: &Bound<'_, PyDict>, at: usize) -> Result<()> {
    let (policy, declared, names) = (plan.unknown(), plan.declared(py)?, names_of(fields, at)?);
    if !matches!(plan.how, How::NamedTuple(_)) {
        plan.check_required(&declared, &names, shape.stored_name()?, at)?;
    }
    let mut others = names.iter().filter(|name| !plan.has_field(&declared, name)).peekable();
    if others.peek().is_none() {
        return Ok(());
    }
    for name in others {
        if policy == Unknown::Refuse {
            let why = ", and is registered with `unknown=\"refuse\"`";
            return Err(refused_field(shape.stored_name()?, name, why, at));
        }
        if policy == Unknown::Drop {
            // SAFETY: `names` holds the name.
            fields.del_item(unsafe { Bound::from_borrowed_ptr(py, name.get()) })?;
        }
    }
    // SAFETY: the plan's class is alive.
    let class = unsafe { Bound::from_borrowed_ptr(py, plan.class().cast()) };
    let refused = py.import("holdall._evolution")?.call_method1("settle", (class, fields))?;
    if refused.is_none() {
        return Ok(());
    }
    let why = ", and whose `model_config` forbids others";
    Err(refused_field(shape.stored_name()?, &owned(&refused), why, at))
}

/// The names of the fields that a function of the program returned.
fn names_of(fields: &Bound<'_, PyDict>, at: usize) -> Result<Vec<Owned>> {
    let interned = |name: Bound<'_, PyAny>| {
        let mut raw = name.into_ptr();
        // SAFETY: `raw` is a reference of ours, which interning may exchange for an equal string.
        unsafe {
            if !text::is(raw) {
                drop(Owned::new(raw));
                return Err(decode("`upgrade` gave a field whose name is no text", at));
            }
            ffi::PyUnicode_InternInPlace(&mut raw);
            Owned::new(raw).ok_or_else(raised)
        }
    };
    fields.keys().iter().map(interned).collect()
}

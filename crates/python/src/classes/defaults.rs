//! The values of fields that stored data lack, because the class got them later.

use crate::cpython::owned;
use crate::cpython::{Owned, Type};
use crate::error::{Asked, Result};
use crate::memory::{HashSet, Vec};
use pyo3::prelude::*;
use pyo3::types::PyDict;

/// A field's name, and its default value or factory.
#[derive(Debug)]
pub struct Defaulted {
    pub name: Owned,
    value: Owned,
    is_factory: bool,
}

impl Defaulted {
    pub fn value(&self, py: Python<'_>) -> Result<Owned> {
        if !self.is_factory {
            return Ok(self.value.clone());
        }
        // SAFETY: `self` holds the factory.
        let factory = unsafe { Bound::from_borrowed_ptr(py, self.value.get()) };
        Ok(owned(&factory.call0()?))
    }
}

/// The fields with a default of a dataclass, attrs class or named tuple that are not in `names`.
pub fn lacking(py: Python<'_>, class: Type, names: &[Owned]) -> Result<Vec<Defaulted>> {
    // SAFETY: callers hold the class, being a plan's.
    let class = unsafe { Bound::from_borrowed_ptr(py, class.cast()) };
    let stored: HashSet<usize> = names.iter().map(|name| name.get() as usize).collect();
    let mut found = Vec::new();
    let mut add = |name: Bound<'_, PyAny>, value: Bound<'_, PyAny>, is_factory: bool| -> Result<()> {
        let mut raw = name.into_ptr();
        // SAFETY: `raw` is a reference of ours to a string, which interning may exchange for an equal string.
        let name = unsafe {
            if pyo3::ffi::PyUnicode_Check(raw) != 0 {
                pyo3::ffi::PyUnicode_InternInPlace(&mut raw);
            }
            Owned::new(raw).ok_or_else(crate::error::raised)?
        };
        if !stored.contains(&(name.get() as usize)) {
            found.push(Defaulted { name, value: owned(&value), is_factory });
        }
        Ok(())
    };
    if let Some(fields) = class.getattr("__dataclass_fields__").if_taken()? {
        let missing = py.import("dataclasses")?.getattr("MISSING")?;
        let kind = py.import("dataclasses")?.getattr("_FIELD")?;
        for (name, field) in fields.cast::<PyDict>().map_err(PyErr::from)? {
            if !field.getattr("_field_type")?.is(&kind) {
                continue;
            }
            let (value, factory) = (field.getattr("default")?, field.getattr("default_factory")?);
            if !value.is(&missing) {
                add(name, value, false)?;
            } else if !factory.is(&missing) {
                add(name, factory, true)?;
            }
        }
    } else if let Some(fields) = class.getattr("__attrs_attrs__").if_taken()? {
        let nothing = py.import("attr")?.getattr("NOTHING")?;
        let factory_type = py.import("attr")?.getattr("Factory")?;
        for field in fields.try_iter()? {
            let field = field?;
            let value = field.getattr("default")?;
            if value.is(&nothing) {
                continue;
            }
            if value.is_instance(&factory_type)? {
                // A factory that takes the instance can't run before the instance is complete: the field stays unset.
                if !value.getattr("takes_self")?.is_truthy()? {
                    add(field.getattr("name")?, value.getattr("factory")?, true)?;
                }
            } else {
                add(field.getattr("name")?, value, false)?;
            }
        }
    } else if let Some(defaults) = class.getattr("_field_defaults").if_taken()? {
        if let Ok(defaults) = defaults.cast::<PyDict>() {
            for (name, value) in defaults {
                add(name, value, false)?;
            }
        }
    }
    Ok(found)
}

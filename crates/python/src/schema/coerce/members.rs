//! Values from a fixed choice: members of enumerations, and literals.

use super::{kind_of, Rules, Taken};
use crate::classes::registry;
use crate::cpython::owned;
use crate::cpython::{text, Owned};
use crate::error::{Asked, Result, NOWHERE};
use crate::schema::node::accepts;
use crate::types::enumeration;
use pyo3::ffi;
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyInt, PyString, PyTuple};
use std::ptr::addr_of_mut;

const INVALID_MEMBER: &str = "Invalid enum value";
/// The same of a registered enumeration.
const LOST_MEMBER: &str = "Invalid enum value: if it is an old one, give the enumeration `_missing_`";

impl<'s> Rules<'s> {
    /// A member of an enumeration, by its value or its name.
    pub(crate) fn member(&self, class: &Owned, by_value: &Owned, object: &Owned, kind: u32) -> Result<Taken> {
        let (given, members) = (self.bound(object), self.bound(class));
        let by_value = self.bound(by_value);
        let by_value = by_value.cast::<PyDict>().map_err(PyErr::from)?;
        // An int or a text itself is no member, and its hash is soon made.
        if given.is_exact_instance_of::<PyString>() || given.is_exact_instance_of::<PyInt>() {
            if let Some(found) = by_value.get_item(&given)? {
                let own = found.getattr(intern!(found.py(), "_value_")).if_taken()?;
                if own.is_some_and(|own| own.get_type().is(given.get_type())) {
                    return Ok(Taken::Yes(owned(&found)));
                }
            }
        } else if given.is_instance(&members)? {
            return Ok(Taken::Yes(object.clone()));
        }
        let mut value = given.clone();
        // SAFETY: `object` is an owned reference.
        if self.schemaless && unsafe { ffi::Py_TYPE(object.get()) } == addr_of_mut!(ffi::PyList_Type) {
            // Schemaless formats store tuples as lists.
            value = self.py.get_type::<PyTuple>().call1((given.clone(),))?;
        }
        crate::budget::scale::hashed_now(self.py, &self.work, &owned(&value), NOWHERE)?;
        // 1, 1.0 and True are equal but different values.
        let is_it = |found: &Bound<'_, PyAny>| -> Result<bool> {
            let Some(own) = found.getattr(intern!(found.py(), "_value_")).if_taken()? else { return Ok(false) };
            Ok(own.get_type().is(value.get_type()) || !own.eq(&value).if_taken()?.unwrap_or(false))
        };
        match by_value.get_item(&value).if_taken()?.flatten() {
            Some(found) if is_it(&found)? => return Ok(Taken::Yes(owned(&found))),
            Some(_) if kind != 0 => return Ok(Taken::No),
            _ => {}
        }
        if kind == accepts::STR {
            let names = members.getattr(intern!(members.py(), "_member_map_"))?;
            if let Some(found) = names.cast::<PyDict>().map_err(PyErr::from)?.get_item(&given)? {
                return Ok(Taken::Yes(owned(&found)));
            }
            if let Some(found) = enumeration::renamed(&members, &given)? {
                return Ok(Taken::Yes(owned(&found)));
            }
            if !self.strict {
                for lax in [self.lax_int(object)?, self.text_as_float(object)?].into_iter().flatten() {
                    if let Some(found) = by_value.get_item(self.bound(&lax))? {
                        return Ok(Taken::Yes(owned(&found)));
                    }
                }
            }
        }
        // Unions of flags, `_missing_` and values without a hash: the class's own code decides.
        let is_registered = registry::by_class(self.py, class.get().cast())?.is_some();
        let why = if is_registered { LOST_MEMBER } else { INVALID_MEMBER };
        match self.made(members.call1((&value,)), why)? {
            Taken::Yes(found) if !is_it(&self.bound(&found))? => Ok(Taken::No),
            Taken::Broken(_) if kind == 0 || kind == accepts::NONE => Ok(Taken::No),
            taken => Ok(taken),
        }
    }

    pub(crate) fn literal(&self, values: &[Owned], object: &Owned) -> Result<Taken> {
        let given = self.bound(object);
        for value in values {
            let known = self.bound(value);
            // 1, 1.0 and True are equal but different literals.
            if known.is(&given) || (known.get_type().is(given.get_type()) && known.eq(&given)?) {
                return Ok(Taken::Yes(value.clone()));
            }
            // An enumeration's member, by its value.
            let own = if self.schemaless { known.getattr(intern!(known.py(), "_value_")).if_taken()? } else { None };
            if let Some(own) = own.filter(|own| own.get_type().is(given.get_type())) {
                if own.eq(&given).if_taken()?.unwrap_or(false) {
                    return Ok(Taken::Yes(value.clone()));
                }
            }
        }
        // SAFETY: `object` is an owned reference.
        let kind = unsafe { kind_of(object.get()) };
        if kind == accepts::STR && !self.strict {
            // SAFETY: `kind` says that it is a string, and `object` holds it.
            let null = unsafe { text::ascii(object.get()) }.is_some_and(|text| text.eq_ignore_ascii_case(b"null"));
            for value in values {
                // SAFETY: the schema holds its values.
                match unsafe { kind_of(value.get()) } {
                    accepts::INT => {
                        let int = self.lax_int(object)?;
                        if int.map_or(Ok(false), |int| self.bound(&int).eq(self.bound(value)))? {
                            return Ok(Taken::Yes(value.clone()));
                        }
                    }
                    accepts::NONE if null => return Ok(Taken::Yes(value.clone())),
                    accepts::BOOL => match self.lax_bool(object) {
                        Taken::Yes(made) if made.get() == value.get() => return Ok(Taken::Yes(made)),
                        _ => {}
                    },
                    _ => {}
                }
            }
        }
        // SAFETY: the schema holds its values.
        let of_its_kind = values.iter().any(|value| unsafe { kind_of(value.get()) } == kind && kind != 0);
        Ok(if of_its_kind { Taken::Broken(INVALID_MEMBER.to_owned()) } else { Taken::No })
    }
}

//! None, numbers and decimals.

use super::{Given, Rules, Taken};
use crate::cpython::owned;
use crate::error::Result;
use crate::schema::constraint::Constraints;
use crate::schema::node::accepts;
use crate::types::bson_values;
use crate::types::library::Library;
use pyo3::ffi;
use pyo3::prelude::*;
use std::ptr::addr_of_mut;

impl<'s> Rules<'s> {
    pub(super) fn none(&self, given: &Given<'_>) -> Result<Taken> {
        match given.kind {
            accepts::NONE => Ok(given.same()),
            accepts::STR if !self.strict && given.ascii().eq_ignore_ascii_case(b"null") => {
                Ok(Taken::Yes(owned(self.py.None().bind(self.py))))
            }
            _ => Ok(Taken::No),
        }
    }

    pub(super) fn bool(&self, given: &Given<'_>) -> Result<Taken> {
        match given.kind {
            accepts::BOOL => Ok(given.same()),
            accepts::STR | accepts::INT if !self.strict => Ok(self.lax_bool(given.object)),
            _ => Ok(Taken::No),
        }
    }

    pub(super) fn int(&self, given: &Given<'_>, bounds: Option<&Constraints>) -> Result<Taken> {
        let made = match given.kind {
            accepts::INT => Some(given.object.clone()),
            accepts::STR | accepts::FLOAT if !self.strict => self.lax_int(given.object)?,
            _ => None,
        };
        made.map_or(Ok(Taken::No), |made| self.within(made, bounds, "int"))
    }

    pub(super) fn float(&self, given: &Given<'_>, bounds: Option<&Constraints>) -> Result<Taken> {
        let made = match given.kind {
            accepts::FLOAT => Some(given.object.clone()),
            accepts::INT => match self.number_as_float(given.object)? {
                Some(made) => Some(made),
                None => return Ok(Taken::Broken("Number out of range".to_owned())),
            },
            accepts::STR if !self.strict => self.text_as_float(given.object)?,
            _ => None,
        };
        made.map_or(Ok(Taken::No), |made| self.within(made, bounds, "float"))
    }

    pub(super) fn complex(&self, given: &Given<'_>) -> Result<Taken> {
        Ok(if given.is(addr_of_mut!(ffi::PyComplex_Type)) {
            given.same()
        } else if self.schemaless {
            self.pair_as_complex(given.object)?.map_or(Taken::No, Taken::Yes)
        } else {
            Taken::No
        })
    }

    pub(super) fn decimal(&self, given: &Given<'_>, bounds: Option<&Constraints>) -> Result<Taken> {
        let decimal = Library::Decimal.get(self.py)?;
        let bound = self.bound(given.object);
        if bound.is_instance(decimal)? {
            return self.within(given.object.clone(), bounds, "Decimal");
        }
        if self.schemaless && given.kind == 0 {
            if let Some(made) = bson_values::as_decimal(&bound)? {
                return match self.made(made, "Invalid decimal number")? {
                    Taken::Yes(made) => self.within(made, bounds, "Decimal"),
                    other => Ok(other),
                };
            }
        }
        let given = match given.kind {
            accepts::STR if given.textual => bound,
            accepts::INT if self.schemaless || !self.strict => bound,
            accepts::FLOAT if self.schemaless || !self.strict => bound.str()?.into_any(),
            _ => return Ok(Taken::No),
        };
        match self.made(decimal.call1((given,)), "Invalid decimal string")? {
            Taken::Yes(made) => self.within(made, bounds, "Decimal"),
            other => Ok(other),
        }
    }
}

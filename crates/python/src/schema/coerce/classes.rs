//! Classes with a function that makes their instances: the user's, or one that this package registered.

use super::{Given, InvalidOf, Rules, Taken};
use crate::classes::registry::call;
use crate::cpython::{owned, Owned};
use crate::error::Result;
use crate::types::bson_values;
use pyo3::prelude::*;
use pyo3::types::PyDict;

impl<'s> Rules<'s> {
    pub(super) fn by_type(&self, given: &Given<'_>, functions: &Owned) -> Result<Taken> {
        let function = self
            .bound(functions)
            .cast::<PyDict>()
            .map_err(PyErr::from)?
            .get_item(self.bound(given.object).get_type())?;
        match function {
            Some(function) => Ok(Taken::Yes(call(&owned(&function), given.object.get())?)),
            None => Ok(given.same()),
        }
    }

    pub(super) fn registered(&self, given: &Given<'_>, class: &Owned, decode: &Owned) -> Result<Taken> {
        if self.bound(given.object).is_instance(&self.bound(class))? {
            return Ok(given.same());
        }
        if !self.schemaless {
            return Ok(Taken::No);
        }
        match call(decode, given.object.get()).map_err(|fault| fault.of_user(self.py)) {
            Ok(made) => Ok(Taken::Yes(made)),
            // For classes that this package registered: what a database makes of them says more than the function's
            // error.
            Err(fault) if fault.is_invalid() && self.is_ours(class)? => {
                let class = self.bound(class);
                match bson_values::of_python(&class, &self.bound(given.object))? {
                    Some(made) => self.made(made, InvalidOf(&class)),
                    None => Ok(Taken::No),
                }
            }
            Err(fault) if fault.is_invalid() => {
                let name = self.bound(class).getattr("__qualname__")?;
                Ok(Taken::Broken(format!("Invalid `{name}`")))
            }
            Err(fault) => Err(fault),
        }
    }
}

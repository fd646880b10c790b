//! Fields that stored data lack, because the class got them later, and those that it has lost since.

use crate::classes::declared::{declared, interned, Declared};
use crate::classes::plan::Plan;
use crate::classes::registration::Unknown;
use crate::cpython::class::version_of;
use crate::cpython::{owned, text, Obj, Owned, Type};
use crate::error::{decode, encode, raised, Result};
use crate::memory::Vec;
use pyo3::prelude::*;
use std::rc::Rc;

/// A field's name, and its default value or factory.
#[derive(Debug)]
pub struct Defaulted {
    pub name: Owned,
    value: Owned,
    pub source: Source,
}

/// What a default comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Source {
    Value,
    Factory,
    /// A factory that is given the fields by name.
    OfFields,
    /// A factory that is given the instance with all its other fields.
    OfInstance,
}

impl Defaulted {
    /// The default; `given` is what its factory takes, if it takes something.
    pub fn value<'py>(&self, py: Python<'py>, given: &Bound<'py, PyAny>) -> Result<Owned> {
        // SAFETY: `self` holds the factory.
        let factory = unsafe { Bound::from_borrowed_ptr(py, self.value.get()) };
        Ok(match self.source {
            Source::Value => self.value.clone(),
            Source::Factory => owned(&factory.call0()?),
            Source::OfFields | Source::OfInstance => owned(&factory.call1((given,))?),
        })
    }
}

/// The fields with a default that are not in `names`.
pub fn lacking(py: Python<'_>, class: Type, names: &[Owned]) -> Result<Vec<Defaulted>> {
    // SAFETY: callers hold the class, being a plan's, and the names.
    let (class, names) = unsafe {
        let names: std::vec::Vec<_> = names.iter().map(|name| Bound::from_borrowed_ptr(py, name.get())).collect();
        (Bound::from_borrowed_ptr(py, class.cast()), names)
    };
    type Found<'py> = std::vec::Vec<(Bound<'py, PyAny>, Bound<'py, PyAny>, u8)>;
    let found: Found<'_> = py.import("holdall._evolution")?.call_method1("lacking", (class, names))?.extract()?;
    let defaulted = |(name, value, source): (_, Bound<'_, PyAny>, u8)| {
        let source = match source {
            0 => Source::Value,
            1 => Source::Factory,
            2 => Source::OfFields,
            _ => Source::OfInstance,
        };
        Ok(Defaulted { name: interned(name)?, value: owned(&value), source })
    };
    found.into_iter().map(defaulted).collect()
}

impl Plan {
    /// What becomes of stored fields that the class has not.
    pub fn unknown(&self) -> Unknown {
        self.registration.as_ref().map_or(Unknown::Fits, |known| known.unknown)
    }

    /// The fields that the class declares; none if it declares no fields.
    pub fn declared(&self, py: Python<'_>) -> Result<Rc<Vec<Declared>>> {
        // SAFETY: the plan's class is alive while the plan is in use.
        let version = unsafe { version_of(self.class()) }.ok_or_else(raised)?;
        if let Some((known_as, known)) = &*self.fields.borrow() {
            if *known_as == version && version != 0 {
                return Ok(known.clone());
            }
        }
        let found = Rc::new(declared(py, self.class())?);
        let old = self.fields.replace(Some((version, found.clone())));
        drop(old);
        Ok(found)
    }

    /// Whether its instances are models of pydantic's, which keep fields that they have not where their configuration says.
    pub fn is_model(&self, declared: &[Declared]) -> bool {
        // SAFETY: the fields' names are strings.
        declared.iter().any(|field| unsafe { text::ascii(field.name.get()) } == Some(b"__pydantic_fields_set__"))
    }

    /// Renames fields that were stored under an older name. Returns whether there are such names.
    ///
    /// A name that today's version of the class has means today's field, and a field that was stored under its own name is not
    /// found under another.
    pub fn rename(&self, py: Python<'_>, names: &mut [Owned], version: u64) -> Result<bool> {
        let Some(registration) = self.registration.as_ref().filter(|known| !known.renames.is_empty()) else {
            return Ok(false);
        };
        let own = if version == self.version { self.declared(py)? } else { Rc::default() };
        // SAFETY: the names of fields are strings.
        let same = |one: &Owned, other: &Owned| unsafe { text::equal(one.get(), other.get()) };
        let target = |name: &Owned| {
            let (_, new) = registration.renames.iter().find(|(old, _)| same(old, name))?;
            (!own.iter().any(|field| same(&field.name, name))).then_some(new)
        };
        let mut targets = Vec::with_capacity(names.len());
        targets.extend(names.iter().map(target));
        let is_there = |new: &Owned| names.iter().zip(&targets).any(|(name, to)| to.is_none() && same(name, new));
        let mut found = Vec::with_capacity(names.len());
        found.extend(targets.iter().map(|to| to.filter(|new| !is_there(new)).cloned()));
        for (name, new) in names.iter_mut().zip(found) {
            if let Some(new) = new {
                *name = new;
            }
        }
        Ok(true)
    }

    /// Whether the class has a field of that interned name.
    pub fn has_field(&self, declared: &[Declared], name: &Owned) -> bool {
        declared.iter().any(|field| field.name.get() == name.get())
            || self.slots.iter().any(|slot| slot.name.get() == name.get())
    }

    /// Refuses to store an instance without a field that loading would refuse to be without.
    pub fn check_whole(&self, py: Python<'_>, names: &[Obj]) -> Result<()> {
        if self.registration.as_ref().is_some_and(|known| known.may_lack) {
            return Ok(());
        }
        let declared = self.declared(py)?;
        // Mostly they come in the order of the class.
        let is_there = |(at, field): (usize, &Declared)| {
            let name = field.name.get();
            !field.required || names.get(at) == Some(&name) || names.contains(&name)
        };
        let Some(lacked) = declared.iter().enumerate().find(|&field| !is_there(field)) else { return Ok(()) };
        // The keys of a `__dict__` need not be interned.
        // SAFETY: the class's field and the keys are strings.
        if names.iter().any(|&name| unsafe { text::is(name) && text::equal(name, lacked.1.name.get()) }) {
            return Ok(());
        }
        Err(encode(format_args!(
            "can't store an instance of `{}` without its field `{}`, which loading would refuse: set it, give it a default, or \
             `register` the class with `missing=\"leave\"`",
            shown(&self.name),
            shown(&lacked.1.name)
        )))
    }

    /// Refuses fields of which a required one is missing. `names` are interned.
    pub fn check_required(&self, declared: &[Declared], names: &[Owned], stored: &str, at: usize) -> Result<()> {
        if self.registration.as_ref().is_some_and(|known| known.may_lack) {
            return Ok(());
        }
        let is_there = |field: &Declared| names.iter().any(|name| name.get() == field.name.get());
        match declared.iter().find(|field| field.required && !is_there(field)) {
            Some(field) => Err(decode(
                format_args!(
                    "`{stored}` was stored without its field `{}`: give it a default, or `register` the class with `upgrade`, \
                     `renames` or `missing=\"leave\"`",
                    shown(&field.name)
                ),
                at,
            )),
            None => Ok(()),
        }
    }
}

/// A field's name in errors. It is the class's, unless `unknown="refuse"` asks for that of the data.
pub fn shown(name: &Owned) -> String {
    // SAFETY: `name` is an owned reference to a string.
    match unsafe { text::ascii(name.get()) } {
        Some(ascii) => String::from_utf8_lossy(&ascii[..ascii.len().min(64)]).into_owned(),
        None => "?".to_owned(),
    }
}

/// Why a stored field is refused.
pub fn refused_field(stored: &str, name: &Owned, why: &str, at: usize) -> crate::error::Fault {
    decode(format_args!("`{stored}` was stored with a field `{}` that it has not{why}", shown(name)), at)
}

//! What a program has registered for a class.

use crate::cpython::Owned;
use crate::error::Result;
use crate::memory::Vec;
use pyo3::prelude::*;
use pyo3::types::PyDict;

/// One registered class.
#[derive(Debug)]
pub struct Registration {
    pub class: Owned,
    pub name: String,
    pub aliases: Vec<String>,
    pub version: u64,
    /// Old name and new name of each renamed field.
    pub renames: Vec<(Owned, Owned)>,
    pub upgrade: Option<Owned>,
    /// `upgrade` takes the stored name as its third argument.
    pub upgrade_takes_name: bool,
    /// Asked what becomes of what was stored under its names; the number by which its answers are remembered.
    pub resolver: Option<Owned>,
    pub serial: u64,
    pub encode: Option<Owned>,
    pub decode: Option<Owned>,
    /// `decode` takes the stored version as its second argument.
    pub decode_takes_version: bool,
    pub unknown: Unknown,
    /// Instances may lack fields that have no default.
    pub may_lack: bool,
    /// What `_registry.py` keeps for typed loading and schemaless formats: names, order, tags.
    pub settings: Option<Owned>,
    /// Whether this package registered it (`_known.py`): it says how the class is stored, not what the program wants.
    pub ours: bool,
    /// A class of a library that `register_known` permits: only hold has a form for it, and `ours` holds, too.
    pub bundled: bool,
    /// `decode` fills an instance, which is made empty before: it may be within its own content.
    pub fills: bool,
}

/// What becomes of stored fields that the class has not.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub enum Unknown {
    /// Kept by instances with a `__dict__`, dropped by others.
    #[default]
    Fits,
    Keep,
    Drop,
    Refuse,
}

impl Unknown {
    pub fn named(name: Option<&str>) -> Unknown {
        match name {
            Some("keep") => Unknown::Keep,
            Some("drop") => Unknown::Drop,
            Some("refuse") => Unknown::Refuse,
            _ => Unknown::Fits,
        }
    }
}

impl Registration {
    /// Whether a stored name is one of the class's older ones.
    pub fn is_alias(&self, name: &str) -> bool {
        self.aliases.iter().any(|alias| **alias == *name)
    }

    /// What the registered `upgrade` makes of fields that were stored by another version; the fields themselves without one.
    ///
    /// name: the stored name of the class, if the data has one.
    pub fn upgraded<'py>(
        &self,
        fields: Bound<'py, PyDict>,
        version: u64,
        name: Option<&Bound<'py, PyAny>>,
    ) -> Result<Bound<'py, PyAny>> {
        let Some(upgrade) = &self.upgrade else { return Ok(fields.into_any()) };
        // SAFETY: the registration holds the function.
        let upgrade = unsafe { Bound::from_borrowed_ptr(fields.py(), upgrade.get()) };
        Ok(match self.upgrade_takes_name {
            true => upgrade.call1((fields, version, name))?,
            false => upgrade.call1((fields, version))?,
        })
    }
}

//! What a program has registered for a class.

use crate::cpython::{Obj, Owned};
use crate::error::{raised, Result};
use crate::memory::Vec;
use pyo3::ffi;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyTuple, PyType};

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
    /// Only of instances for which the format has no form: the others are stored by that.
    pub remaining: bool,
    /// What makes an instance of a state that is a tuple of such parts, ahead of `decode`.
    pub constructor: Option<Constructor>,
}

/// For each argument of a constructor, the classes of which it may be.
pub type Classes<'py> = std::vec::Vec<std::vec::Vec<Bound<'py, PyType>>>;

/// A function of a library that makes an instance of the items of a tuple, each of one of the classes that stand at its place. Called
/// without a frame of Python's, which takes longer than such a function.
#[derive(Debug)]
pub struct Constructor {
    function: Owned,
    classes: Vec<Vec<Owned>>,
}

impl Constructor {
    pub fn of((function, classes): (Bound<'_, PyAny>, Classes<'_>)) -> Constructor {
        // SAFETY: the `Bound` holds the object.
        let owned = |object: &Bound<'_, PyAny>| unsafe { Owned::borrowed(object.as_ptr()) };
        let classes = classes.iter().map(|place| place.iter().map(|class| owned(class.as_any())).collect()).collect();
        Constructor { function: owned(&function), classes }
    }

    /// What the function makes of a state, if it is such a tuple.
    pub fn made(&self, py: Python<'_>, state: &Owned) -> Result<Option<Owned>> {
        let state = crate::cpython::held(py, state);
        let Ok(items) = state.cast_exact::<PyTuple>() else { return Ok(None) };
        // SAFETY: a live object's class, and classes that `self` holds, which are compared by address alone.
        let is_of = |item: &Bound<'_, PyAny>, classes: &Vec<Owned>| unsafe {
            let class = ffi::Py_TYPE(item.as_ptr());
            classes.iter().any(|one| one.get() == class.cast())
        };
        if items.len() != self.classes.len() || !items.iter().zip(&self.classes).all(|(item, at)| is_of(&item, at)) {
            return Ok(None);
        }
        // SAFETY: the function is held by `self`, the tuple, with its items, by the caller.
        unsafe {
            let tuple = items.as_ptr().cast::<ffi::PyTupleObject>();
            let first = (&raw const (*tuple).ob_item).cast::<Obj>();
            Owned::new(ffi::PyObject_Vectorcall(self.function.get(), first, items.len(), std::ptr::null_mut()))
        }
        .map(Some)
        .ok_or_else(raised)
    }
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

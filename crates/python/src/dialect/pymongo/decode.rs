//! Documents as PyMongo gives them: of the class that its options say, with its own rules for references, datetimes and
//! UUIDs, and through a user's type decoders.

use crate::cpython::{held, owned};
use crate::cpython::{Obj, Owned};
use crate::decode::{Decoder, DOCUMENT};
use crate::dialect::pymongo::{lenient, DATETIME_MS, OUTERMOST, STANDARD, UNSPECIFIED};
use crate::error::{raised, Asked, Fault, Result};
use crate::schema::{time, NodeId};
use crate::types::bson_values;
use crate::types::bson_values::classes;
use crate::types::bson_values::classes::Class;
use holdall_format::{Reader, Token};
use pyo3::ffi;
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::{PyDict, PyString};

impl<'i, R: Reader<'i>> Decoder<'i, R> {
    /// A document: a dict, or what `document_class` makes.
    pub(crate) fn begin_document(&mut self, len: usize, item: NodeId) -> Result<Option<Owned>> {
        let class = self.options.driver.as_ref().and_then(|driver| driver.document_class.as_ref());
        // SAFETY: the GIL is held while a decoder lives; the class is held by the options.
        let document = unsafe {
            match class {
                Some(class) => Owned::new(ffi::PyObject_CallNoArgs(class.get())),
                None => Owned::new(ffi::PyDict_New()),
            }
        }
        .ok_or_else(|| self.of_user(0, raised()))?;
        let flags = if class.is_some() { DOCUMENT } else { 0 };
        self.begin_flagged(document, len, item, flags)
    }

    /// Whether documents become something else than dicts.
    pub(crate) fn has_document_class(&self) -> bool {
        self.options.driver.as_ref().is_some_and(|driver| driver.document_class.is_some())
    }

    /// A value that goes through the decoder of its type, if there is one.
    pub(crate) fn decoded(&mut self, token: Token<'i>, id: NodeId) -> Result<Option<Owned>> {
        match token {
            Token::Members(end) => {
                let len = self.r.count(end)?;
                if id == OUTERMOST {
                    return self.begin_document(len, id);
                }
                self.looked_at(id, |decoder| decoder.begin_document(len, id))
            }
            Token::Items(end) => self.looked_at(id, |decoder| decoder.begin_items(end, id)),
            token => self.untyped(token, id),
        }
    }

    /// What the user's code raised: in the outermost document, on which so many containers are open, it comes as it is.
    #[cold]
    pub(crate) fn of_user(&self, outermost: usize, fault: Fault) -> Fault {
        match self.options.driver.is_some() && self.depth() == outermost {
            true => fault.let_through(),
            false => fault,
        }
    }

    /// A document that may say to be a reference to another: PyMongo makes a `DBRef` of it.
    pub(crate) fn dereferenced(&self, document: Owned) -> Result<Owned> {
        let py = self.py;
        let bound = held(py, &document);
        let (collection, id, database) =
            (pyo3::intern!(py, "$ref"), pyo3::intern!(py, "$id"), pyo3::intern!(py, "$db"));
        if let Ok(dict) = bound.cast_exact::<PyDict>() {
            if !dict.contains(collection)? {
                return Ok(document);
            }
        }
        // Whatever the class answers but a value is a no.
        let (named, target) = (bound.get_item(collection).if_taken()?, bound.get_item(id).if_taken()?);
        let (Some(named), Some(target)) = (named, target) else { return Ok(document) };
        let within = bound.get_item(database).if_taken()?;
        let is_text = |value: &Bound<'_, PyAny>| value.is_instance_of::<PyString>();
        if !is_text(&named) || !within.as_ref().is_none_or(|within| within.is_none() || is_text(within)) {
            return Ok(document);
        }
        bound.del_item(collection)?;
        bound.del_item(id)?;
        if within.is_some() {
            bound.del_item(database)?;
        }
        let made = Class::DbRef.get(py)?.call1((named, target, within, bound))?;
        Ok(owned(&made))
    }

    /// Text that is no UTF-8, if the options say how to read it.
    pub(crate) fn lenient(&self, bytes: &[u8]) -> Option<Result<Owned>> {
        let errors = self.options.driver.as_ref()?.errors.as_ref()?;
        Some(lenient(bytes, errors).ok_or_else(raised))
    }

    pub(crate) fn driver_datetime(&self, seconds: i64, nanoseconds: u32) -> Result<Option<Owned>> {
        let Some(driver) = &self.options.driver else { return Ok(None) };
        if !driver.has_tzinfo && driver.conversion != DATETIME_MS {
            // SAFETY: the singleton is alive.
            let zone = driver.zone.as_ref().map_or_else(|| unsafe { ffi::Py_None() }, Owned::get);
            if let Some(made) = time::moment_in(seconds, nanoseconds, zone)? {
                return Ok(Some(made));
            }
        }
        // Zones of the user's, and years that datetime has not: as PyMongo says.
        let milliseconds = i128::from(seconds) * 1000 + i128::from(nanoseconds / 1_000_000);
        let options = held(self.py, &driver.options);
        static MADE: PyOnceLock<Py<PyAny>> = PyOnceLock::new();
        let make = MADE.import(self.py, "bson.datetime_ms", "_millis_to_datetime")?;
        let made = make.call1((milliseconds, options))?;
        Ok(Some(owned(&made)))
    }

    /// Bytes with a subtype, which may be those of a UUID.
    pub(crate) fn binary(&self, subtype: u8, data: &[u8]) -> Result<Owned> {
        const OLD: u8 = 3;
        const NEW: u8 = 4;
        let py = self.py;
        let Some(driver) = &self.options.driver else { return bson_values::binary(py, subtype, data) };
        let as_binary = driver.uuid == UNSPECIFIED || (subtype == NEW) != (driver.uuid == STANDARD);
        if !matches!(subtype, OLD | NEW) || as_binary {
            return classes::binary(py, subtype, data);
        }
        if driver.uuid == STANDARD {
            if let Ok(bytes) = data.try_into() {
                return classes::uuid(py, bytes);
            }
        }
        let binary = classes::binary(py, subtype, data)?;
        let made = held(py, &binary).call_method1("as_uuid", (driver.uuid,))?;
        Ok(owned(&made))
    }
}

/// Sets an item by the object's own way.
///
/// # Safety
/// All are alive.
pub unsafe fn set_item(document: Obj, key: Obj, value: Obj) -> Result<()> {
    // SAFETY: alive, says the caller.
    match unsafe { ffi::PyObject_SetItem(document, key, value) } {
        0 => Ok(()),
        _ => Err(raised()),
    }
}

/// Whether a dict with these keys may be a reference.
pub fn may_be_reference(keys: &[&[u8]]) -> bool {
    keys.iter().any(|key| key.starts_with(b"$"))
}

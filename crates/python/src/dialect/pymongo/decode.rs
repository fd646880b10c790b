//! Documents as PyMongo returns them: of the class in its options, with its rules for references, datetimes and UUIDs, and
//! through the user's type decoders.

use crate::cpython::Owned;
use crate::cpython::{held, owned};
use crate::decode::dialect::Dialect;
use crate::decode::frame::Kind;
use crate::decode::{scratch, Decoder, DOCUMENT};
use crate::dialect::pymongo::{lenient, PyMongo, DATETIME_MS, OUTERMOST, STANDARD, UNSPECIFIED};
use crate::error::{raised, Asked, Fault, Result};
use crate::memory::Vec;
use crate::schema::{time, NodeId, ANY};
use crate::types::bson_values::classes;
use crate::types::bson_values::classes::Class;
use holdall_format::bson::tag::{SUBTYPE_UUID, SUBTYPE_UUID_OLD};
use holdall_format::{Reader, Token};
use pyo3::ffi;
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::{PyDict, PyString};
use std::convert::Infallible;
use std::marker::PhantomData;

/// BSON as PyMongo reads it.
pub struct FromPyMongo<'i, R> {
    pymongo: &'i PyMongo,
    reader: PhantomData<fn() -> R>,
}

impl<'i, R> FromPyMongo<'i, R> {
    pub fn new(pymongo: &'i PyMongo) -> Self {
        FromPyMongo { pymongo, reader: PhantomData }
    }
}

impl<'i, R: Reader<'i>> Dialect<'i> for FromPyMongo<'i, R> {
    type Reader = R;
    type Make = Infallible;

    fn scratch() -> Option<&'static scratch::Place<Infallible>> {
        Some(&scratch::PLAIN)
    }

    fn not_utf8(decoder: &Decoder<'i, Self>, bytes: &[u8]) -> Option<Result<Owned>> {
        let errors = decoder.dialect.pymongo.errors.as_ref()?;
        Some(lenient(bytes, errors).ok_or_else(raised))
    }

    fn binary(decoder: &Decoder<'i, Self>, subtype: u8, data: &[u8]) -> Result<Owned> {
        decoder.binary(subtype, data)
    }

    fn moment(decoder: &Decoder<'i, Self>, seconds: i64, nanoseconds: u32) -> Result<Option<Owned>> {
        decoder.pymongo_datetime(seconds, nanoseconds).map(Some)
    }

    fn members(decoder: &mut Decoder<'i, Self>, end: usize) -> Result<Option<Option<Owned>>> {
        if decoder.dialect.pymongo.document_class.is_none() {
            return Ok(None);
        }
        let len = decoder.count(end)?;
        decoder.begin_document(len, ANY).map(Some)
    }

    fn whole_dict(decoder: &mut Decoder<'i, Self>, dict: Owned) -> Result<Owned> {
        // The outermost document and the variables of code are never references.
        match decoder.tables.stack.last().is_some_and(|parent| parent.kind != Kind::Gather) {
            true => decoder.dereferenced(dict),
            false => Ok(dict),
        }
    }

    fn node_within(decoder: &Decoder<'i, Self>) -> NodeId {
        // With type decoders, the values of the scope go through them, but the scope itself does not.
        match decoder.dialect.pymongo.schema {
            Some(_) => OUTERMOST,
            None => ANY,
        }
    }

    #[cold]
    fn of_user(decoder: &Decoder<'i, Self>, outermost: usize, fault: Fault) -> Fault {
        // An exception in the outermost document is raised as it is.
        match decoder.depth() == outermost {
            true => fault.let_through(),
            false => fault,
        }
    }

    fn typed(decoder: &mut Decoder<'i, Self>, token: &Token<'i>, id: NodeId) -> Result<Option<Option<Owned>>> {
        decoder.decoded(*token, id).map(Some)
    }

    fn coerced_once(decoder: &mut Decoder<'i, Self>, object: Owned, id: NodeId) -> Result<Owned> {
        decoder.rules.coerce(id, object).map_err(|fault| Self::of_user(decoder, 1, fault))
    }

    fn make(
        _: &mut Decoder<'i, Self>,
        make: Infallible,
        _: Option<Owned>,
        _: u32,
        _: Vec<Owned>,
        _: usize,
    ) -> Result<Owned> {
        match make {}
    }
}

impl<'i, R: Reader<'i>> Decoder<'i, FromPyMongo<'i, R>> {
    /// Starts a document: a dict, or what `document_class` makes.
    fn begin_document(&mut self, len: usize, item: NodeId) -> Result<Option<Owned>> {
        let class = self.dialect.pymongo.document_class.as_ref();
        // SAFETY: the GIL is held while a decoder lives; the options hold the class.
        let document = unsafe {
            match class {
                Some(class) => Owned::new(ffi::PyObject_CallNoArgs(class.get())),
                None => Owned::new(ffi::PyDict_New()),
            }
        }
        .ok_or_else(|| FromPyMongo::of_user(self, 0, raised()))?;
        let flags = if class.is_some() { DOCUMENT } else { 0 };
        self.begin_flagged(document, len, true, item, flags)
    }

    /// Reads a value, which goes through the decoder for its type if there is one.
    fn decoded(&mut self, token: Token<'i>, id: NodeId) -> Result<Option<Owned>> {
        match token {
            Token::Members(end) => {
                let len = self.count(end)?;
                if id == OUTERMOST {
                    return self.begin_document(len, id);
                }
                self.looked_at(id, |decoder| decoder.begin_document(len, id))
            }
            Token::Items(end) => self.looked_at(id, |decoder| decoder.begin_items(end, id)),
            token => self.untyped(token, id),
        }
    }

    /// Makes a `DBRef` of a document that has the keys of a reference, as PyMongo does.
    fn dereferenced(&self, document: Owned) -> Result<Owned> {
        let py = self.py;
        let bound = held(py, &document);
        let (collection, id, database) =
            (pyo3::intern!(py, "$ref"), pyo3::intern!(py, "$id"), pyo3::intern!(py, "$db"));
        if let Ok(dict) = bound.cast_exact::<PyDict>() {
            if !dict.contains(collection)? {
                return Ok(document);
            }
        }
        // Any exception about a key means that the document lacks it.
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

    /// A point in time, in the zone that the options give.
    fn pymongo_datetime(&self, seconds: i64, nanoseconds: u32) -> Result<Owned> {
        let pymongo = self.dialect.pymongo;
        if !pymongo.has_tzinfo && pymongo.conversion != DATETIME_MS {
            // SAFETY: `None` lives as long as the interpreter.
            let zone = pymongo.zone.as_ref().map_or_else(|| unsafe { ffi::Py_None() }, Owned::get);
            // SAFETY: the zone is held by the options, or is `None`.
            if let Some(made) = unsafe { time::moment_in(seconds, nanoseconds, zone) }? {
                return Ok(made);
            }
        }
        // A zone of the user's, or a year that datetime lacks: PyMongo's own function decides.
        let milliseconds = i128::from(seconds) * 1000 + i128::from(nanoseconds / 1_000_000);
        let options = held(self.py, &pymongo.options);
        static MADE: PyOnceLock<Py<PyAny>> = PyOnceLock::new();
        let make = MADE.import(self.py, "bson.datetime_ms", "_millis_to_datetime")?;
        let made = make.call1((milliseconds, options))?;
        Ok(owned(&made))
    }

    /// Bytes with a subtype, which may be that of a UUID.
    fn binary(&self, subtype: u8, data: &[u8]) -> Result<Owned> {
        let py = self.py;
        let pymongo = self.dialect.pymongo;
        let as_binary = pymongo.uuid == UNSPECIFIED || (subtype == SUBTYPE_UUID) != (pymongo.uuid == STANDARD);
        if !matches!(subtype, SUBTYPE_UUID_OLD | SUBTYPE_UUID) || as_binary {
            return classes::binary(py, subtype, data);
        }
        if pymongo.uuid == STANDARD {
            if let Ok(bytes) = data.try_into() {
                return crate::types::textual::uuid(py, bytes);
            }
        }
        let binary = classes::binary(py, subtype, data)?;
        let made = held(py, &binary).call_method1("as_uuid", (pymongo.uuid,))?;
        Ok(owned(&made))
    }
}

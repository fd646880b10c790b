//! What PyMongo's names do otherwise than ours: its options, its exceptions, its rules for keys and types.
//!
//! Its value classes are not taught here but in `types/bson_values`, as they are for everybody.

mod decode;
mod encode;
mod raw;

pub use decode::FromPyMongo;
pub use encode::ToPyMongo;
pub use raw::{raw_bytes, RawDocuments};

use crate::cpython::owned;
use crate::cpython::Owned;
use crate::error::{is_of_values, Asked, Fault, HoldallError};
use crate::schema::{NodeId, Schema};
use holdall_format::bson::refusal;
use pyo3::exceptions::{PyOverflowError, PyTypeError, PyUnicodeEncodeError, PyValueError};
use pyo3::ffi;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyString, PyType};
use std::ffi::CString;
use std::sync::{Arc, Mutex};

/// The node of the outermost document where values go through decoders; the next is that of all others.
pub const OUTERMOST: NodeId = 1;

/// How UUIDs are stored: PyMongo's numbers.
const UNSPECIFIED: u8 = 0;
const STANDARD: u8 = 4;
/// What becomes of points in time beyond datetime's years.
const DATETIME: u8 = 1;
const DATETIME_MS: u8 = 3;

/// A `CodecOptions`, taken apart.
#[derive(Debug)]
pub struct PyMongo {
    options: Owned,
    /// What documents become, where that is no dict.
    document_class: Option<Owned>,
    /// Documents stay bytes.
    raw: bool,
    /// What datetimes have as `tzinfo`; none without `tz_aware`.
    zone: Option<Owned>,
    has_tzinfo: bool,
    conversion: u8,
    uuid: u8,
    /// How text that is no UTF-8 is read, where it is not refused.
    errors: Option<CString>,
    encoders: Option<Owned>,
    fallback: Option<Owned>,
    /// With the decoders, by type.
    schema: Option<Arc<Schema>>,
    /// From how many bytes on a document that stays bytes is a view of others.
    views_from: Option<usize>,
    /// Keys that mean something to a server are refused. No option of the codec's, but of one call.
    pub check_keys: bool,
}

impl PyMongo {
    /// Of the object that a user gives; the last one is kept, as most programs have one.
    pub fn of(options: &Bound<'_, PyAny>, check_keys: bool) -> PyResult<Arc<PyMongo>> {
        static LAST: Mutex<[Option<Arc<PyMongo>>; 2]> = Mutex::new([None, None]);
        let last = |known: Option<Arc<PyMongo>>| {
            let mut last = LAST.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
            let place = &mut last[usize::from(check_keys)];
            match known {
                Some(known) => place.replace(known),
                None => place.clone(),
            }
        };
        if let Some(known) = last(None).filter(|known| known.options.get() == options.as_ptr()) {
            return Ok(known);
        }
        let made = Arc::new(PyMongo::new(options, check_keys)?);
        drop(last(Some(made.clone())));
        Ok(made)
    }

    fn new(options: &Bound<'_, PyAny>, check_keys: bool) -> PyResult<PyMongo> {
        let py = options.py();
        let class = py.import("bson.codec_options")?.getattr("CodecOptions")?;
        if !options.is_instance(&class)? {
            return Err(PyTypeError::new_err("codec_options must be an instance of CodecOptions"));
        }
        let document_class = options.getattr("document_class")?;
        let given = document_class.getattr_opt("__origin__")?.unwrap_or(document_class);
        let tz_aware: bool = options.getattr("tz_aware")?.extract()?;
        let registry = options.getattr("type_registry")?;
        let unless_empty = |name: &str| -> PyResult<Option<Owned>> {
            let found = registry.getattr(name)?;
            Ok((found.len()? > 0).then(|| owned(&found)))
        };
        let fallback = registry.getattr("_fallback_encoder")?;
        let errors: String = options.getattr("unicode_decode_error_handler")?.extract()?;
        let schema = unless_empty("_decoder_map")?.map(|decoders| Arc::new(Schema::of_documents(decoders, OUTERMOST)));
        Ok(PyMongo {
            options: owned(options),
            raw: raw::is_raw(&given)?,
            document_class: (!given.is(py.get_type::<PyDict>())).then(|| owned(&given)),
            zone: if tz_aware { Some(owned(&py.import("bson.tz_util")?.getattr("utc")?)) } else { None },
            has_tzinfo: !options.getattr("tzinfo")?.is_none(),
            conversion: match options.getattr("datetime_conversion")? {
                none if none.is_none() => DATETIME,
                given => given.call_method0("__int__")?.extract()?,
            },
            uuid: options.getattr("uuid_representation")?.call_method0("__int__")?.extract()?,
            errors: if errors == "strict" { None } else { Some(CString::new(errors)?) },
            encoders: unless_empty("_encoder_map")?,
            fallback: (!fallback.is_none()).then(|| owned(&fallback)),
            schema,
            // What PyMongo has not from its first versions on.
            views_from: match py.import("bson.codec_options")?.getattr_opt("_RAW_BSON_VIEW_THRESHOLD")? {
                Some(known) => Some(known.extract()?),
                None => None,
            },
            check_keys,
        })
    }

    pub fn schema(&self) -> Option<Arc<Schema>> {
        self.schema.clone()
    }
}

fn exception<'py>(py: Python<'py>, name: &str) -> PyResult<Bound<'py, PyType>> {
    Ok(py.import("bson.errors")?.getattr(name)?.cast_into()?)
}

fn raised(py: Python<'_>, name: &str, why: impl ToString) -> PyErr {
    match exception(py, name) {
        Ok(class) => PyErr::from_type(class, (why.to_string(),)),
        Err(error) => error,
    }
}

pub fn invalid_document(py: Python<'_>, why: impl ToString) -> PyErr {
    raised(py, "InvalidDocument", why)
}

pub fn invalid_string(py: Python<'_>, why: impl ToString) -> PyErr {
    raised(py, "InvalidStringData", why)
}

pub fn invalid_bson(py: Python<'_>, why: impl ToString) -> PyErr {
    raised(py, "InvalidBSON", why)
}

/// The same with the document, which versions of PyMongo take from some time on.
fn invalid_document_of(document: &Bound<'_, PyAny>, why: String) -> PyErr {
    let py = document.py();
    let class = exception(py, "InvalidDocument");
    match class.and_then(|class| Ok((class.hasattr("document")?, class))) {
        Ok((true, class)) => PyErr::from_type(class, (why, document.clone().unbind())),
        Ok((false, class)) => PyErr::from_type(class, (why,)),
        Err(error) => error,
    }
}

/// The error that PyMongo has for what the format can't hold.
pub fn refused(py: Python<'_>, why: &'static str) -> PyErr {
    match why {
        refusal::TOO_BIG => PyOverflowError::new_err("BSON can only handle up to 8-byte ints"),
        refusal::TOO_LONG => invalid_string(py, "String length must be <= 2147483647"),
        refusal::DOCUMENT_TOO_LONG => PyValueError::new_err("Document would overflow BSON size limit"),
        refusal::ROOT => PyTypeError::new_err("encoder expected a mapping type"),
        refusal::SURROGATE => PyUnicodeEncodeError::new_err(("utf-8", "", 0, 0, "surrogates not allowed")),
        _ => invalid_document(py, format_args!("can't store {why} in BSON")),
    }
}

/// An error of ours as the one that PyMongo has for it: while a document is written...
pub fn encode_error(document: &Bound<'_, PyAny>, fault: Fault) -> PyErr {
    let py = document.py();
    let error = fault.into_py(0);
    let of_document = exception(py, "InvalidDocument").is_ok_and(|class| error.is_instance(py, &class));
    if !of_document && !error.is_instance_of::<HoldallError>(py) {
        return error;
    }
    let why = error.value(py).str().map_or_else(|_| String::new(), |text| text.to_string());
    invalid_document_of(document, why)
}

/// ... and while one is read: there every error is one of the bytes, but for those of the user's own code in the outermost
/// document.
pub fn decode_error(py: Python<'_>, fault: Fault, base: usize) -> PyErr {
    let let_through = fault.is_let_through();
    let error = fault.into_py(base);
    if let_through || !is_of_values(py, &error) {
        return error;
    }
    let made = match exception(py, "InvalidBSON") {
        Ok(class) if error.is_instance(py, &class) => return error,
        Ok(class) => match error.value(py).str().if_taken() {
            Ok(why) => PyErr::from_type(class, (why.map_or_else(String::new, |text| text.to_string()),)),
            Err(error) => return error,
        },
        Err(error) => return error,
    };
    made.set_cause(py, Some(error));
    made
}

/// A string of bytes that may be no UTF-8, by the handler of that name.
fn lenient(bytes: &[u8], errors: &CString) -> Option<Owned> {
    // SAFETY: the GIL is held wherever PyMongo's options are used; the slice is readable for its length; a new reference or null.
    unsafe { Owned::new(ffi::PyUnicode_DecodeUTF8(bytes.as_ptr().cast(), bytes.len() as isize, errors.as_ptr())) }
}

/// The name of a class, for errors.
fn class_name(object: &Bound<'_, PyAny>) -> String {
    object
        .get_type()
        .fully_qualified_name()
        .map_or_else(|_| "object".to_owned(), |name: Bound<'_, PyString>| name.to_string())
}

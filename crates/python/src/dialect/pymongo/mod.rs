//! PyMongo's rules for BSON: its options, its exceptions, what it does with keys and types.
//!
//! Its value classes are in `types/bson_values`, since they are the same for everybody.

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

/// The node of the outermost document if values go through type decoders; the next node is that of all other values.
pub const OUTERMOST: NodeId = 1;

/// How UUIDs are stored, by PyMongo's numbers.
const UNSPECIFIED: u8 = 0;
const STANDARD: u8 = 4;
/// What points in time become, by PyMongo's numbers.
const DATETIME: u8 = 1;
const DATETIME_MS: u8 = 3;

/// The content of a `CodecOptions`.
#[derive(Debug)]
pub struct PyMongo {
    options: Owned,
    /// The class of documents, unless it is dict.
    document_class: Option<Owned>,
    /// Documents stay bytes.
    raw: bool,
    /// The `tzinfo` of datetimes; `None` without `tz_aware`.
    zone: Option<Owned>,
    has_tzinfo: bool,
    conversion: u8,
    uuid: u8,
    /// How text that is not UTF-8 is decoded; `None`: it is an error.
    errors: Option<CString>,
    encoders: Option<Owned>,
    fallback: Option<Owned>,
    /// The type decoders, as a schema.
    schema: Option<Arc<Schema>>,
    /// From this size on, a document that stays bytes is a view of the bytes around it.
    views_from: Option<usize>,
    /// Keys that mean something to a server are refused. This is not in `CodecOptions`, but an argument of a call.
    pub check_keys: bool,
}

impl PyMongo {
    /// The options that a user gave. The last ones are cached, since most programs have one set.
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
            // Older versions of PyMongo lack it.
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

/// The same with the document attached, as newer versions of PyMongo do.
fn invalid_document_of(document: &Bound<'_, PyAny>, why: String) -> PyErr {
    let py = document.py();
    let class = exception(py, "InvalidDocument");
    match class.and_then(|class| Ok((class.hasattr("document")?, class))) {
        Ok((true, class)) => PyErr::from_type(class, (why, document.clone().unbind())),
        Ok((false, class)) => PyErr::from_type(class, (why,)),
        Err(error) => error,
    }
}

/// The exception that PyMongo raises for what the format can't hold.
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

/// The exception that PyMongo raises while a document is written, for an error of holdall's.
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

/// The same while a document is read: every error is about the bytes, except those of the user's own code in the
/// outermost document.
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

/// A string from bytes that may not be UTF-8, by the error handler with this name.
fn lenient(bytes: &[u8], errors: &CString) -> Option<Owned> {
    // SAFETY: the GIL is held wherever PyMongo's options are used; `bytes` are readable for their length, and `errors` ends
    // with a zero. The result is a new reference or null.
    unsafe { Owned::new(ffi::PyUnicode_DecodeUTF8(bytes.as_ptr().cast(), bytes.len() as isize, errors.as_ptr())) }
}

/// The name of an object's class, for errors.
fn class_name(object: &Bound<'_, PyAny>) -> String {
    object
        .get_type()
        .fully_qualified_name()
        .map_or_else(|_| "object".to_owned(), |name: Bound<'_, PyString>| name.to_string())
}

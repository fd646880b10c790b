//! BSON values: PyMongo's own classes, so that `isinstance` in a program works; and the values that Python itself has,
//! UUIDs, patterns and decimal numbers.
//!
//! Every class of PyMongo's (and every subclass) has a `_type_marker` that says what it is.

pub mod classes;

use crate::classes::how::Special as Known;
pub use crate::classes::marker::{is_marked, marked, Marker};
use crate::classes::plan::Plan;
use crate::cpython::owned;
use crate::cpython::{bytes_of, int, new, Owned};
use crate::error::{decode, encode as encode_error, is_of_values, Asked, Fault, Result};
use crate::memory::{vec, Vec};
use crate::types::bson_values::classes::Class;
use crate::types::textual;
use crate::types::walker::Walker;
use holdall_format::bson::{self, refusal};
use holdall_format::model::{BsonValue, BsonWriter, TimestampWriter};
use pyo3::exceptions::PyTypeError;
use pyo3::ffi;
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::{PyBytes, PyDict, PyInt, PyList, PyMemoryView, PyString, PyType};

/// The letters of a pattern's options, in the order in which they are written, and Python's flags.
const FLAGS: [(u8, i64); 6] = [(b'i', 2), (b'l', 4), (b'm', 8), (b's', 16), (b'u', 32), (b'x', 64)];

/// How the walk that writes BSON values handles them: by PyMongo's rules or by this package's.
pub trait BsonWalker<'py>: Walker<'py, Writer: BsonWriter> {
    /// All flags of patterns are kept; else patterns with flags that have no form are refused.
    const TAKES_ALL_FLAGS: bool;

    /// Writes a document within a value: the variables of code, the fields of a reference.
    fn document(&mut self, document: &Bound<'_, PyAny>) -> Result<()>;

    /// The error for a text without a form, given the exception that Python raised.
    fn not_text(&self, raised: Option<PyErr>, why: &str) -> Fault;

    /// The error for an attribute that isn't an int of 64 bits.
    fn not_int(&self, raised: PyErr) -> Fault;

    /// The error for an `Int64`.
    fn not_int64(&self, raised: PyErr) -> Fault;
}

/// A text or bytes that must be UTF-8.
fn utf8<'a, 'py, E: BsonWalker<'py>>(encoder: &E, object: &'a Bound<'_, PyAny>) -> Result<&'a [u8]> {
    match object.cast::<PyBytes>() {
        Ok(bytes) => match std::str::from_utf8(bytes.as_bytes()) {
            Ok(text) => Ok(text.as_bytes()),
            Err(_) => Err(encoder.not_text(None, "a pattern that is not UTF-8")),
        },
        Err(_) => match object.cast::<PyString>().map_err(PyErr::from)?.to_str() {
            Ok(text) => Ok(text.as_bytes()),
            Err(error) => Err(encoder.not_text(Some(error), refusal::SURROGATE)),
        },
    }
}

/// An attribute as an int of 64 bits.
fn int_of<'py, E: BsonWalker<'py>>(encoder: &E, object: &Bound<'_, PyAny>) -> Result<i64> {
    object.extract().map_err(|error| encoder.not_int(error))
}

/// The error when an int of 64 bits was expected: the int is too large, or the program's own code raised.
pub fn int_out_of_range(py: Python<'_>, raised: PyErr) -> Fault {
    match is_of_values(py, &raised) {
        true => encode_error(format_args!("can't store {} in this format", refusal::TOO_BIG)),
        false => raised.into(),
    }
}

/// An attribute that consists of a fixed number of bytes.
fn array<const N: usize>(object: &Bound<'_, PyAny>, name: &str) -> Result<[u8; N]> {
    let bytes = object.getattr(name)?;
    match bytes.cast::<PyBytes>().map_err(PyErr::from)?.as_bytes().try_into() {
        Ok(bytes) => Ok(bytes),
        Err(_) => Err(encode_error(format_args!("can't store a value whose `{name}` has not {N} bytes"))),
    }
}

pub fn encode<'py, E: BsonWalker<'py>>(encoder: &mut E, marker: Marker, object: &Bound<'_, PyAny>) -> Result<()> {
    let raw = object.as_ptr();
    match marker {
        Marker::Binary => {
            let subtype = int_of(encoder, &object.getattr(intern!(encoder.py(), "subtype"))?)? as u8;
            // SAFETY: the cast says that it is a subclass of bytes.
            let data = unsafe { bytes_of(object.cast::<PyBytes>().map_err(PyErr::from)?.as_ptr()) };
            encoder.w().bson_value(BsonValue::Binary { subtype, data });
        }
        Marker::ObjectId => match classes::object_id_bytes(object)? {
            Some(bytes) => encoder.w().bson_value(BsonValue::ObjectId(&bytes)),
            None => encoder.w().bson_value(BsonValue::ObjectId(&array(object, "binary")?)),
        },
        Marker::DatetimeMs => {
            // SAFETY: `object` is alive; the result is a new reference or null.
            let whole = unsafe { Bound::from_owned_ptr_or_err(encoder.py(), ffi::PyNumber_Long(raw))? };
            let milliseconds = int_of(encoder, &whole)?;
            encoder.w().timestamp(milliseconds.div_euclid(1000), milliseconds.rem_euclid(1000) as u32 * 1_000_000);
        }
        Marker::Regex => encode_regex(encoder, object)?,
        Marker::Code => {
            let code = utf8(encoder, object)?;
            let scope = object.getattr(intern!(encoder.py(), "scope"))?;
            if scope.is_none() {
                encoder.w().bson_value(BsonValue::Code(code));
                return Ok(());
            }
            encoder.w().bson_value(BsonValue::ScopedCode(code));
            encoder.document(&scope)?;
        }
        Marker::Timestamp => {
            let (seconds, count) = match classes::timestamp_parts(object)? {
                Some(parts) => parts,
                None => (
                    object.getattr(intern!(encoder.py(), "time"))?.extract()?,
                    object.getattr(intern!(encoder.py(), "inc"))?.extract()?,
                ),
            };
            encoder.w().bson_value(BsonValue::Clock { seconds, count });
        }
        Marker::Int64 => {
            // SAFETY: `is_instance_of` says that it is an int.
            let quick = object.is_instance_of::<PyInt>().then(|| unsafe { int::value(raw) }).flatten();
            let value = match quick {
                Some(value) => value,
                None => object.extract().map_err(|error| encoder.not_int64(error))?,
            };
            encoder.w().bson_value(BsonValue::Long(value));
        }
        Marker::Decimal128 => match classes::decimal_bytes(object)? {
            Some(bytes) => encoder.w().bson_value(BsonValue::Decimal(&bytes)),
            None => encoder.w().bson_value(BsonValue::Decimal(&array(object, "bid")?)),
        },
        Marker::DbRef => {
            let parts = object.call_method0(intern!(encoder.py(), "as_doc"))?;
            let document = new::dict(object.py())?;
            for pair in parts.call_method0(intern!(parts.py(), "items"))?.try_iter()? {
                let (key, value): (Bound<'_, PyAny>, Bound<'_, PyAny>) = pair?.extract()?;
                document.set_item(key, value)?;
            }
            encoder.document(document.as_any())?;
        }
        Marker::RawDocument => {
            let raw = object.getattr(intern!(encoder.py(), "raw"))?;
            if !raw.is_instance_of::<PyBytes>() && !raw.is_instance_of::<PyMemoryView>() {
                return Err(PyTypeError::new_err("a raw document must be bytes or a memoryview").into());
            }
            let bytes = object.py().get_type::<PyBytes>().call1((raw,))?;
            let bytes = bytes.cast::<PyBytes>().map_err(PyErr::from)?.as_bytes();
            if !bson::is_framed(bytes) {
                return Err(encode_error("can't store a raw document that does not end where its length says"));
            }
            encoder.w().bson_value(BsonValue::Document(bytes));
        }
        Marker::MinKey => encoder.w().bson_value(BsonValue::MinKey),
        Marker::MaxKey => encoder.w().bson_value(BsonValue::MaxKey),
    }
    Ok(())
}

/// Writes a pattern of Python's or PyMongo's.
pub fn encode_regex<'py, E: BsonWalker<'py>>(encoder: &mut E, object: &Bound<'_, PyAny>) -> Result<()> {
    let flags = int_of(encoder, &object.getattr(intern!(encoder.py(), "flags"))?)?;
    if !E::TAKES_ALL_FLAGS && FLAGS.iter().fold(flags, |others, (_, flag)| others & !flag) != 0 {
        // SAFETY: `object` is held by the `Bound`.
        return unsafe { encoder.refused(object.as_ptr(), "its flags have no form, which needs") };
    }
    let pattern = object.getattr(intern!(encoder.py(), "pattern"))?;
    let options: Vec<u8> = FLAGS.iter().filter(|(_, flag)| flags & flag != 0).map(|(letter, _)| *letter).collect();
    let pattern = utf8(encoder, &pattern)?;
    encoder.w().bson_value(BsonValue::Regex { pattern, options: &options });
    Ok(())
}

pub fn encode_uuid<'py, E: BsonWalker<'py>>(encoder: &mut E, object: &Bound<'_, PyAny>) -> Result<()> {
    let bytes = match textual::uuid_bytes(object)? {
        Some(bytes) => bytes,
        None => array(object, "bytes")?,
    };
    encoder.w().bson_value(BsonValue::Binary { subtype: bson::tag::SUBTYPE_UUID, data: &bytes });
    Ok(())
}

/// Writes a decimal number, if 34 digits are enough for it.
pub fn encode_decimal<'py, E: BsonWalker<'py>>(encoder: &mut E, object: &Bound<'_, PyAny>) -> Result<()> {
    let py = object.py();
    match Class::Decimal128.get(py)?.call1((object,)).if_taken()? {
        Some(made) => {
            encoder.w().bson_value(BsonValue::Decimal(&array(&made, "bid")?));
            Ok(())
        }
        None => Err(encode_error(
            "can't store a `decimal.Decimal` of more than 34 digits, or of an exponent beyond 6,144, in this format",
        )),
    }
}

pub fn is_pattern(object: &Bound<'_, PyAny>) -> PyResult<bool> {
    static CLASS: PyOnceLock<Py<PyType>> = PyOnceLock::new();
    object.is_instance(CLASS.import(object.py(), "re", "Pattern")?)
}

/// Estimated memory of a value's object.
pub fn cost(value: &BsonValue<'_>) -> usize {
    match value {
        BsonValue::Long(_) | BsonValue::Document(_) => 0,
        BsonValue::MinKey | BsonValue::MaxKey => 48,
        BsonValue::ObjectId(_) => 96,
        BsonValue::Decimal(_) | BsonValue::Clock { .. } => 112,
        BsonValue::Regex { pattern, .. } => 144 + pattern.len(),
        BsonValue::Binary { data, .. } => 288 + data.len(),
        BsonValue::Pointer { collection, .. } => 352 + collection.len(),
        BsonValue::Code(code) | BsonValue::ScopedCode(code) => 496 + code.len(),
    }
}

/// Makes the object of a value that isn't a container. `string` makes text from what should be UTF-8.
pub fn build(
    py: Python<'_>,
    value: BsonValue<'_>,
    at: usize,
    string: impl Fn(&[u8]) -> Result<Owned>,
) -> Result<Owned> {
    Ok(match value {
        BsonValue::ObjectId(bytes) => classes::object_id(py, bytes)?,
        BsonValue::Long(value) => classes::int64(py, value)?,
        BsonValue::Binary { subtype, data } => binary(py, subtype, data)?,
        BsonValue::Regex { pattern, options } => {
            let pattern = string(pattern)?;
            // Unknown letters are ignored, as in PyMongo, but must be text.
            string(options)?;
            let flags =
                FLAGS.iter().filter(|(letter, _)| options.contains(letter)).fold(0, |flags, (_, flag)| flags | flag);
            classes::regex(py, pattern, flags)?
        }
        BsonValue::Pointer { collection, id } => {
            Class::DbRef.call(py, &[&string(collection)?, &classes::object_id(py, id)?])?
        }
        BsonValue::Code(code) => Class::Code.call(py, &[&string(code)?])?,
        BsonValue::Clock { seconds, count } => classes::timestamp(py, seconds, count)?,
        BsonValue::Decimal(bytes) => classes::decimal(py, bytes)?,
        BsonValue::MinKey => Class::MinKey.call(py, &[])?,
        BsonValue::MaxKey => Class::MaxKey.call(py, &[])?,
        BsonValue::ScopedCode(_) | BsonValue::Document(_) => return Err(decode("a token out of place", at)),
    })
}

/// The object of binary data with a subtype: a UUID or a `Binary`.
pub fn binary(py: Python<'_>, subtype: u8, data: &[u8]) -> Result<Owned> {
    match (subtype, data.try_into()) {
        (bson::tag::SUBTYPE_UUID, Ok(bytes)) => textual::uuid(py, bytes),
        _ => classes::binary(py, subtype, data),
    }
}

/// Code with its variables.
pub fn scoped_code(py: Python<'_>, code: &Owned, scope: &Owned) -> Result<Owned> {
    Class::Code.call(py, &[code, scope])
}

/// A point in time beyond the years of datetime.
pub fn datetime_ms(py: Python<'_>, seconds: i64, nanoseconds: u32) -> Result<Owned> {
    let milliseconds = i128::from(seconds) * 1000 + i128::from(nanoseconds / 1_000_000);
    Ok(owned(&Class::DatetimeMs.get(py)?.call1((milliseconds,))?))
}

/// The marker of an instance. For most classes the plan has it.
#[inline]
pub fn marker(object: &Bound<'_, PyAny>, plan: &Plan) -> Result<Option<Marker>> {
    if plan.own_marker {
        return own_marker(object);
    }
    Ok(match plan.special {
        Some(Known::Database(marker)) => Some(marker),
        _ => None,
    })
}

#[inline(never)]
fn own_marker(object: &Bound<'_, PyAny>) -> Result<Option<Marker>> {
    let found = match object.getattr_opt(intern!(object.py(), "_type_marker")).answer()? {
        Ok(found) => found,
        // Like PyMongo's C code before 3.13: an error while looking the marker up means that there is none.
        Err(_) if cfg!(not(Py_3_13)) => None,
        Err(error) => return Err(error.into()),
    };
    let Some(number) = found.as_ref().and_then(|found| found.cast_exact::<PyInt>().ok()) else { return Ok(None) };
    let number: i64 = number.extract()?;
    Ok(u8::try_from(number).ok().and_then(Marker::of))
}

/// The result of a conversion or its error; `None` if the value is of another kind.
type Made<'py> = PyResult<Option<PyResult<Bound<'py, PyAny>>>>;

/// A database's decimal number as Python's; `None` for other objects.
pub fn as_decimal<'py>(object: &Bound<'py, PyAny>) -> Made<'py> {
    Ok(is_marked(object, Marker::Decimal128)?.then(|| object.call_method0(intern!(object.py(), "to_decimal"))))
}

/// A database's pattern as Python's, of text or of bytes; `None` for other objects.
pub fn as_pattern<'py>(object: &Bound<'py, PyAny>, of_bytes: bool) -> Made<'py> {
    // Python's flag for patterns of text.
    const UNICODE: u32 = 32;
    let as_bytes = || {
        let pattern = object.getattr(intern!(object.py(), "pattern"))?;
        let pattern = pattern.cast::<PyString>()?.to_str()?.as_bytes();
        let flags: u32 = object.getattr(intern!(object.py(), "flags"))?.extract()?;
        let py = object.py();
        py.import("re")?.call_method1("compile", (new::bytes(py, pattern)?, flags & !UNICODE))
    };
    let is = is_marked(object, Marker::Regex)?;
    Ok(is.then(|| if of_bytes { as_bytes() } else { object.call_method0(intern!(object.py(), "try_compile")) }))
}

/// Replaces decimal numbers and patterns in a dict and its content by Python's own; returns whether there were any.
pub fn make_python(dict: &Bound<'_, PyAny>) -> PyResult<bool> {
    let (mut open, mut found) = (vec![dict.clone()], false);
    while let Some(container) = open.pop() {
        let places: Vec<(Bound<'_, PyAny>, Bound<'_, PyAny>)> = match container.cast::<PyDict>() {
            Ok(dict) => dict.iter().collect(),
            Err(_) => container
                .try_iter()?
                .enumerate()
                .map(|(at, item)| Ok((at.into_pyobject(dict.py())?.into_any(), item?)))
                .collect::<PyResult<_>>()?,
        };
        for (place, value) in places {
            if value.is_instance_of::<PyDict>() || value.is_instance_of::<PyList>() {
                open.push(value);
                continue;
            }
            let made = match as_decimal(&value)? {
                None => as_pattern(&value, false)?,
                made => made,
            };
            // A pattern that Python can't compile stays as it is.
            if let Some(made) = made.map(Asked::if_taken).transpose()?.flatten() {
                container.set_item(place, made)?;
                found = true;
            }
        }
    }
    Ok(found)
}

/// The database's value for a value of Python's own; `None` if the class isn't a database's or has no such value.
pub fn of_python<'py>(class: &Bound<'py, PyAny>, object: &Bound<'py, PyAny>) -> Made<'py> {
    Ok(match marked(class)? {
        Some(Marker::Int64) if object.is_exact_instance_of::<PyInt>() => {
            object.extract::<i64>().if_taken()?.map(|_| class.call1((object,)))
        }
        Some(Marker::Binary) if object.is_exact_instance_of::<PyBytes>() => Some(class.call1((object,))),
        Some(Marker::DbRef) => match object.cast_exact::<PyDict>() {
            Ok(document) => reference(class, document)?,
            Err(_) => None,
        },
        _ => None,
    })
}

/// A reference to another document, from the document as which it is stored.
fn reference<'py>(class: &Bound<'py, PyAny>, document: &Bound<'py, PyDict>) -> Made<'py> {
    let part = |key: &str| document.get_item(key).if_taken().map(Option::flatten);
    let (Some(collection), Some(id)) = (part("$ref")?, part("$id")?) else { return Ok(None) };
    let database = part("$db")?;
    let others = || {
        let others = document.copy()?;
        for key in ["$ref", "$id", "$db"] {
            if others.contains(key)? {
                others.del_item(key)?;
            }
        }
        Ok(others)
    };
    Ok(Some(others().and_then(|others| class.call1((collection, id, database, others)))))
}

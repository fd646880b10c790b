//! PyMongo's classes and UUID, looked up when one is first needed; and fast access to their instances.
//!
//! Most of them keep their content in Python slots, while their constructors and properties are Python code. If a class
//! has exactly the expected slots, instances are made and read through these; otherwise through the public API.

use crate::cpython::owned;
use crate::cpython::{bytes_of, int, new, Obj, Owned};
use crate::error::{raised, Asked, Result};
use crate::types::library::Slots;
use pyo3::exceptions::PyImportError;
use pyo3::ffi;
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::PyType;

#[derive(Debug, Clone, Copy)]
pub enum Class {
    Binary,
    Code,
    DatetimeMs,
    DbRef,
    Decimal128,
    Int64,
    MaxKey,
    MinKey,
    ObjectId,
    Regex,
    Timestamp,
    Uuid,
}

const COUNT: usize = Class::Uuid as usize + 1;

impl Class {
    /// Module and name.
    fn home(self) -> (&'static str, &'static str) {
        match self {
            Class::Binary => ("bson.binary", "Binary"),
            Class::Code => ("bson.code", "Code"),
            Class::DatetimeMs => ("bson.datetime_ms", "DatetimeMS"),
            Class::DbRef => ("bson.dbref", "DBRef"),
            Class::Decimal128 => ("bson.decimal128", "Decimal128"),
            Class::Int64 => ("bson.int64", "Int64"),
            Class::MaxKey => ("bson.max_key", "MaxKey"),
            Class::MinKey => ("bson.min_key", "MinKey"),
            Class::ObjectId => ("bson.objectid", "ObjectId"),
            Class::Regex => ("bson.regex", "Regex"),
            Class::Timestamp => ("bson.timestamp", "Timestamp"),
            Class::Uuid => ("uuid", "UUID"),
        }
    }

    /// The class; the error says what to install if PyMongo is missing.
    pub fn get(self, py: Python<'_>) -> PyResult<&Bound<'_, PyType>> {
        static FOUND: [PyOnceLock<Py<PyType>>; COUNT] = [const { PyOnceLock::new() }; COUNT];
        let found = FOUND[self as usize].get_or_try_init(py, || {
            let (module, name) = self.home();
            match py.import(module).answer()? {
                Ok(module) => Ok(module.getattr(name)?.cast_into::<PyType>()?.unbind()),
                Err(cause) => {
                    let error = PyImportError::new_err(
                        "ObjectId, Decimal128 and BSON's other own types are PyMongo's classes: install `holdall[bson]`",
                    );
                    error.set_cause(py, Some(cause));
                    Err(error)
                }
            }
        })?;
        Ok(found.bind(py))
    }

    pub fn call(self, py: Python<'_>, arguments: &[&Owned]) -> Result<Owned> {
        let class = self.get(py)?;
        // There are at most two.
        let mut raw = [std::ptr::null_mut(); 2];
        for (place, argument) in raw.iter_mut().zip(arguments) {
            *place = argument.get();
        }
        // SAFETY: the caller holds the arguments, and `len` is at most their number.
        let made = unsafe {
            let len = arguments.len().min(raw.len());
            Owned::new(ffi::PyObject_Vectorcall(class.as_ptr(), raw.as_ptr(), len, std::ptr::null_mut()))
        };
        made.ok_or_else(raised)
    }
}

static OBJECT_ID: Slots<1> = Slots::new(|py| Class::ObjectId.get(py), [b"_ObjectId__id"]);
static TIMESTAMP: Slots<2> = Slots::new(|py| Class::Timestamp.get(py), [b"_Timestamp__time", b"_Timestamp__inc"]);
static DECIMAL: Slots<2> = Slots::new(|py| Class::Decimal128.get(py), [b"_Decimal128__high", b"_Decimal128__low"]);
static REGEX: Slots<2> = Slots::new(|py| Class::Regex.get(py), [b"pattern", b"flags"]);

fn of_bytes(bytes: &[u8]) -> Result<Owned> {
    // SAFETY: pointer and length are those of a slice; the result is a new reference or null.
    unsafe { crate::cpython::new_bytes(bytes) }.ok_or_else(raised)
}

/// An unsigned int from little-endian bytes.
pub(crate) fn of_little(bytes: &[u8]) -> Result<Owned> {
    let mut whole = [0; 17];
    whole[..bytes.len()].copy_from_slice(bytes);
    // SAFETY: the GIL is held. One zero byte is added, so that the result isn't negative.
    unsafe { int::from_bytes(&whole[..=bytes.len()]) }.ok_or_else(raised)
}

/// The value of an unsigned int of up to 64 bits.
///
/// # Safety
/// `object` is alive.
unsafe fn unsigned(object: Obj) -> Option<u64> {
    // SAFETY: `object` is alive by contract; its type is checked first.
    unsafe {
        if !int::is(object) {
            return None;
        }
        if let Some(value) = int::value(object) {
            return value.try_into().ok();
        }
        match *int::bytes(object)? {
            [a, b, c, d, e, f, g, h, 0] => Some(u64::from_le_bytes([a, b, c, d, e, f, g, h])),
            _ => None,
        }
    }
}

pub fn object_id(py: Python<'_>, bytes: &[u8; 12]) -> Result<Owned> {
    let content = of_bytes(bytes)?;
    match OBJECT_ID.make(py, [content.clone()])? {
        Some(made) => Ok(made),
        None => Class::ObjectId.call(py, &[&content]),
    }
}

/// The bytes of an `ObjectId`, if they can be read without its own code.
pub fn object_id_bytes(object: &Bound<'_, PyAny>) -> Result<Option<[u8; 12]>> {
    let Some([content]) = OBJECT_ID.read(object)? else { return Ok(None) };
    // SAFETY: the instance holds `content`, whose type is checked first.
    unsafe {
        let is_bytes = ffi::Py_TYPE(content) == std::ptr::addr_of_mut!(ffi::PyBytes_Type);
        Ok(is_bytes.then(|| bytes_of(content)).and_then(|bytes| bytes.try_into().ok()))
    }
}

pub fn timestamp(py: Python<'_>, seconds: u32, count: u32) -> Result<Owned> {
    let (seconds, count) = (of_little(&seconds.to_le_bytes())?, of_little(&count.to_le_bytes())?);
    match TIMESTAMP.make(py, [seconds.clone(), count.clone()])? {
        Some(made) => Ok(made),
        None => Class::Timestamp.call(py, &[&seconds, &count]),
    }
}

/// Seconds and count of a `Timestamp`, likewise.
pub fn timestamp_parts(object: &Bound<'_, PyAny>) -> Result<Option<(u32, u32)>> {
    let Some(parts) = TIMESTAMP.read(object)? else { return Ok(None) };
    // SAFETY: the instance holds the parts.
    let [seconds, count] = parts.map(|part| unsafe { unsigned(part) }.and_then(|part| u32::try_from(part).ok()));
    Ok(seconds.zip(count))
}

pub fn decimal(py: Python<'_>, bytes: &[u8; 16]) -> Result<Owned> {
    let (low, high) = bytes.split_at(8);
    match DECIMAL.make(py, [of_little(high)?, of_little(low)?])? {
        Some(made) => Ok(made),
        None => Ok(owned(&Class::Decimal128.get(py)?.call_method1("from_bid", (new::bytes(py, bytes)?,))?)),
    }
}

/// The bytes of a `Decimal128`, likewise.
pub fn decimal_bytes(object: &Bound<'_, PyAny>) -> Result<Option<[u8; 16]>> {
    let Some(parts) = DECIMAL.read(object)? else { return Ok(None) };
    // SAFETY: the instance holds the parts.
    let [Some(high), Some(low)] = parts.map(|part| unsafe { unsigned(part) }) else { return Ok(None) };
    Ok(Some((u128::from(high) << 64 | u128::from(low)).to_le_bytes()))
}

pub fn regex(py: Python<'_>, pattern: Owned, flags: i64) -> Result<Owned> {
    // SAFETY: the GIL is held, as `py` proves.
    let flags = unsafe { int::from_value(flags) }.ok_or_else(raised)?;
    match REGEX.make(py, [pattern.clone(), flags.clone()])? {
        Some(made) => Ok(made),
        None => Class::Regex.call(py, &[&pattern, &flags]),
    }
}

pub fn int64(py: Python<'_>, value: i64) -> Result<Owned> {
    // SAFETY: `py` proves that the GIL is held; `Int64` is a subclass of int.
    unsafe { int::of_class(Class::Int64.get(py)?.as_ptr().cast(), value) }.ok_or_else(raised)
}

pub fn binary(py: Python<'_>, subtype: u8, data: &[u8]) -> Result<Owned> {
    // SAFETY: `py` proves that the GIL is held.
    let subtype = unsafe { int::from_value(i64::from(subtype)) }.ok_or_else(raised)?;
    Class::Binary.call(py, &[&of_bytes(data)?, &subtype])
}

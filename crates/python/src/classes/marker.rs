//! The classes of a database's values: PyMongo's have a `_type_marker` that identifies them.

use crate::error::Asked;
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::types::PyInt;

/// What an instance of a database's class is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Marker {
    Binary,
    ObjectId,
    DatetimeMs,
    Regex,
    Code,
    Timestamp,
    Int64,
    Decimal128,
    DbRef,
    RawDocument,
    MinKey,
    MaxKey,
}

impl Marker {
    /// By the number that the class gives itself.
    pub fn of(number: u8) -> Option<Marker> {
        Some(match number {
            5 => Marker::Binary,
            7 => Marker::ObjectId,
            9 => Marker::DatetimeMs,
            11 => Marker::Regex,
            13 => Marker::Code,
            17 => Marker::Timestamp,
            18 => Marker::Int64,
            19 => Marker::Decimal128,
            100 => Marker::DbRef,
            101 => Marker::RawDocument,
            127 => Marker::MaxKey,
            255 => Marker::MinKey,
            _ => return None,
        })
    }
}

/// The marker of a class or an instance.
pub fn marked(object: &Bound<'_, PyAny>) -> PyResult<Option<Marker>> {
    let marker = object.getattr_opt(intern!(object.py(), "_type_marker")).if_taken()?.flatten();
    Ok(match marker.filter(|marker| marker.is_instance_of::<PyInt>()) {
        Some(marker) => marker.extract().if_taken()?.and_then(Marker::of),
        None => None,
    })
}

pub fn is_marked(class: &Bound<'_, PyAny>, wanted: Marker) -> PyResult<bool> {
    Ok(marked(class)? == Some(wanted))
}

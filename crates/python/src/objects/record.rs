//! Records: instances of classes that are not there, by name and values.

use super::owned;
use crate::cpython::Owned;
use crate::decode::layout::Layout;
use crate::encode::{Encoder, Part};
use crate::error::{encode as encode_error, Result};
use crate::face::Record;
use holdall_format::model::LayoutKind;
use holdall_format::Writer;
use pyo3::prelude::*;
use pyo3::types::PyDict;

/// How the stored kinds are called in a record.
const KINDS: &[(LayoutKind, &str)] = &[
    (LayoutKind::Object, "object"),
    (LayoutKind::Based, "based"),
    (LayoutKind::Enum, "enum"),
    (LayoutKind::Custom, "custom"),
];

pub fn make(py: Python<'_>, layout: &Layout, payload: Option<Owned>, values: Vec<Owned>) -> Result<Owned> {
    let fields = PyDict::new(py);
    for (name, value) in layout.names.iter().zip(values) {
        // SAFETY: both are held.
        unsafe {
            fields.set_item(Bound::from_borrowed_ptr(py, name.get()), Bound::from_borrowed_ptr(py, value.get()))?;
        }
    }
    let kind = KINDS.iter().find(|(kind, _)| *kind == layout.kind).map_or("object", |(_, name)| name);
    // SAFETY: both are held.
    let (type_name, payload) = unsafe {
        let type_name: String = match &layout.type_name {
            Some(name) => Bound::from_borrowed_ptr(py, name.get()).extract()?,
            None => String::new(),
        };
        let payload = match &payload {
            Some(payload) => Bound::from_borrowed_ptr(py, payload.get()),
            None => py.None().into_bound(py),
        };
        (type_name, payload)
    };
    let record = Record { type_name, version: layout.version, kind, fields: fields.unbind(), payload: payload.unbind() };
    Ok(owned(Bound::new(py, record)?.as_any()))
}

pub fn encode<W: Writer>(encoder: &mut Encoder<'_, W>, object: &Bound<'_, PyAny>) -> Result<()> {
    let py = object.py();
    let record = object.cast::<Record>().map_err(PyErr::from)?.borrow();
    let fields = record.fields.bind(py);
    let Some(&(kind, _)) = KINDS.iter().find(|(_, name)| *name == record.kind) else {
        return Err(encode_error("a record of an unknown kind"));
    };
    let names: Vec<Owned> = fields.keys().iter().map(|name| owned(&name)).collect();
    encoder.record(kind, &record.type_name, record.version, names)?;
    let mut parts = Vec::new();
    if kind != LayoutKind::Object {
        parts.push(Part::Body(owned(record.payload.bind(py))));
    }
    parts.extend(fields.values().iter().map(|value| Part::Value(owned(&value))));
    encoder.then(parts);
    Ok(())
}

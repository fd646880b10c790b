//! Records: instances of classes that are not there, by name and values.

use super::owned;
use crate::cpython::{new, Owned};
use crate::decode::layout::Layout;
use crate::encode::{Encoder, Part};
use crate::error::{encode as encode_error, Result};
use crate::face::Record;
use crate::memory::{format, Vec};
use holdall_format::model::ShapeKind;
use holdall_format::Writer;
use pyo3::prelude::*;
use pyo3::types::PyString;

/// How the stored kinds are called in a record.
const KINDS: &[(ShapeKind, &str)] = &[
    (ShapeKind::Object, "object"),
    (ShapeKind::Based, "based"),
    (ShapeKind::Enum, "enum"),
    (ShapeKind::Custom, "custom"),
];

/// The kind of that name.
pub fn kind(name: &str) -> Option<&'static str> {
    KINDS.iter().map(|(_, known)| *known).find(|known| *known == name)
}

/// A record whose fields are to come.
pub fn empty(py: Python<'_>, layout: &Layout) -> Result<Owned> {
    let kind = KINDS.iter().find(|(kind, _)| *kind == layout.kind).map_or("object", |(_, name)| name);
    let type_name = match &layout.type_name {
        // SAFETY: held.
        Some(name) => unsafe {
            let name = Bound::from_borrowed_ptr(py, name.get());
            format!("{}", name.cast::<PyString>().map_err(PyErr::from)?.to_str()?)
        },
        None => String::new(),
    };
    let record =
        Record { type_name, version: layout.version, kind, fields: new::dict(py)?.unbind(), payload: py.None() };
    Ok(owned(Bound::new(py, record)?.as_any()))
}

pub fn fill(py: Python<'_>, record: &Owned, layout: &Layout, payload: Option<Owned>, values: Vec<Owned>) -> Result<()> {
    // SAFETY: held.
    let record = unsafe { Bound::from_borrowed_ptr(py, record.get()) };
    let mut record = record.cast::<Record>().map_err(PyErr::from)?.borrow_mut();
    for (name, value) in layout.names.iter().zip(values) {
        // SAFETY: both are held.
        unsafe {
            let fields = record.fields.bind(py);
            fields.set_item(Bound::from_borrowed_ptr(py, name.get()), Bound::from_borrowed_ptr(py, value.get()))?;
        }
    }
    if let Some(payload) = payload {
        // SAFETY: held.
        record.payload = unsafe { Bound::from_borrowed_ptr(py, payload.get()) }.unbind();
    }
    Ok(())
}

pub fn encode<W: Writer>(encoder: &mut Encoder<'_, W>, object: &Bound<'_, PyAny>) -> Result<()> {
    let py = object.py();
    let record = object.cast::<Record>().map_err(PyErr::from)?.borrow();
    let fields = record.fields.bind(py);
    let Some(&(kind, _)) = KINDS.iter().find(|(_, name)| *name == record.kind) else {
        return Err(encode_error("a record of an unknown kind"));
    };
    let names: Vec<Owned> = fields.keys().iter().map(|name| owned(&name)).collect();
    if kind == ShapeKind::Based {
        // Its content is written without a mark, and what that leads to may hold the record: so all is looked up.
        encoder.asks_program()?;
    }
    encoder.record(kind, &record.type_name, record.version, names)?;
    let mut parts = Vec::new();
    let payload = record.payload.bind(py);
    match kind {
        ShapeKind::Object | ShapeKind::Dict => {}
        // Nothing could refer to it.
        ShapeKind::Based if payload.is_instance_of::<Record>() => {
            return Err(encode_error("a record whose content is a record"));
        }
        ShapeKind::Based => parts.push(Part::Body(owned(payload))),
        ShapeKind::Enum | ShapeKind::Custom => parts.push(Part::Value(owned(payload))),
    }
    parts.extend(fields.values().iter().map(|value| Part::Value(owned(&value))));
    encoder.then(parts);
    Ok(())
}

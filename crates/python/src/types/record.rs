//! Records: instances of missing classes, by name and values.

use crate::cpython::owned;
use crate::cpython::{new, Owned};
use crate::error::door;
use crate::error::{encode as encode_error, Result};
use crate::memory::{format, Vec};
use crate::shapes::Shape;
use crate::types::library::Library;
use crate::types::walker::{TypeWalker, WorkItem};
use holdall_format::model::ShapeKind;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyString, PyTuple};
use pyo3::{ffi, PyTypeInfo};
use std::ptr::addr_of_mut;

/// The names of the stored kinds in a record.
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

/// The name of a stored kind.
pub fn kind_of(stored: ShapeKind) -> &'static str {
    KINDS.iter().find(|(kind, _)| *kind == stored).map_or("dict", |(_, name)| name)
}

/// A record's fields, in a dict of their own, and its content, if it has one.
pub fn content<'py>(py: Python<'py>, record: &Owned) -> Result<(Bound<'py, PyDict>, Option<Owned>)> {
    // SAFETY: the caller holds `record`.
    let record = unsafe { Bound::from_borrowed_ptr(py, record.get()) };
    let record = record.cast::<Record>().map_err(PyErr::from)?.borrow();
    let fields = record.fields.bind(py).copy()?;
    Ok((fields, (record.kind != "object").then(|| owned(record.payload.bind(py)))))
}

/// A record of a dict's fields.
pub fn of_fields(py: Python<'_>, shape: &Shape, fields: &Bound<'_, PyDict>) -> Result<Owned> {
    let made = empty(py, shape)?;
    // SAFETY: `made` is an owned reference.
    let record = unsafe { Bound::from_borrowed_ptr(py, made.get()) };
    record.cast::<Record>().map_err(PyErr::from)?.borrow_mut().fields = fields.copy()?.unbind();
    Ok(made)
}

/// A record without its fields so far.
pub fn empty(py: Python<'_>, shape: &Shape) -> Result<Owned> {
    let kind = KINDS.iter().find(|(kind, _)| *kind == shape.kind).map_or("object", |(_, name)| name);
    let type_name = match &shape.type_name {
        // SAFETY: the shape holds the name.
        Some(name) => unsafe {
            let name = Bound::from_borrowed_ptr(py, name.get());
            format!("{}", name.cast::<PyString>().map_err(PyErr::from)?.to_str()?)
        },
        None => String::new(),
    };
    let record =
        Record { type_name, version: shape.version, kind, fields: new::dict(py)?.unbind(), payload: py.None() };
    Ok(owned(Bound::new(py, record)?.as_any()))
}

pub fn fill(py: Python<'_>, record: &Owned, shape: &Shape, payload: Option<Owned>, values: Vec<Owned>) -> Result<()> {
    // SAFETY: the caller holds `record`.
    let record = unsafe { Bound::from_borrowed_ptr(py, record.get()) };
    let mut record = record.cast::<Record>().map_err(PyErr::from)?.borrow_mut();
    for (name, value) in shape.names.iter().zip(values) {
        // SAFETY: `shape` and `values` hold both.
        unsafe {
            let fields = record.fields.bind(py);
            fields.set_item(Bound::from_borrowed_ptr(py, name.get()), Bound::from_borrowed_ptr(py, value.get()))?;
        }
    }
    if let Some(payload) = payload {
        // SAFETY: `payload` holds the object.
        record.payload = unsafe { Bound::from_borrowed_ptr(py, payload.get()) }.unbind();
    }
    Ok(())
}

pub fn encode<'py, E: TypeWalker<'py>>(encoder: &mut E, object: &Bound<'_, PyAny>) -> Result<()> {
    let py = object.py();
    let record = object.cast::<Record>().map_err(PyErr::from)?.borrow();
    let fields = record.fields.bind(py);
    let Some(&(kind, _)) = KINDS.iter().find(|(_, name)| *name == record.kind) else {
        return Err(encode_error("a record of an unknown kind"));
    };
    let names: Vec<Owned> = fields.keys().iter().map(|name| owned(&name)).collect();
    if kind == ShapeKind::Based {
        // Its content is written without an id, and what the content leads to may hold the record, so everything is
        // looked up.
        encoder.asks_program()?;
    }
    encoder.record(kind, &record.type_name, record.version, names)?;
    let mut parts = Vec::new();
    let payload = record.payload.bind(py);
    match kind {
        ShapeKind::Object | ShapeKind::Dict => {}
        // The content has no id, so nothing could refer to it.
        ShapeKind::Based if payload.is_instance_of::<Record>() => {
            return Err(encode_error("a record whose content is a record"));
        }
        ShapeKind::Based if !is_content(payload)? => {
            return Err(encode_error("a record whose content is of no builtin type that can be subclassed"));
        }
        ShapeKind::Based => parts.push(WorkItem::Body(owned(payload))),
        ShapeKind::Enum | ShapeKind::Custom => parts.push(WorkItem::Value(owned(payload))),
    }
    parts.extend(fields.values().iter().map(|value| WorkItem::Value(owned(&value))));
    encoder.then(parts);
    Ok(())
}

/// Whether it is exactly of a type that a builtin's subclass may have as its content.
fn is_content(payload: &Bound<'_, PyAny>) -> Result<bool> {
    let py = payload.py();
    // SAFETY: `payload` holds the object; the builtin types are static.
    let builtin = unsafe {
        let class = ffi::Py_TYPE(payload.as_ptr());
        [
            addr_of_mut!(ffi::PyList_Type),
            addr_of_mut!(ffi::PyTuple_Type),
            addr_of_mut!(ffi::PyDict_Type),
            addr_of_mut!(ffi::PySet_Type),
            addr_of_mut!(ffi::PyFrozenSet_Type),
            addr_of_mut!(ffi::PyByteArray_Type),
            addr_of_mut!(ffi::PyUnicode_Type),
            addr_of_mut!(ffi::PyBytes_Type),
            addr_of_mut!(ffi::PyLong_Type),
            addr_of_mut!(ffi::PyFloat_Type),
            addr_of_mut!(ffi::PyComplex_Type),
        ]
        .contains(&class)
    };
    let class = payload.get_type();
    Ok(builtin || class.is(Library::Deque.get(py)?) || class.is(Library::DefaultDict.get(py)?))
}

/// Stands for an instance of an unknown class: what `types=Record` makes of it.
///
/// type_name: the stored name. version: the class's version when it was stored. kind: how it was stored ("object",
/// "based": a builtin's content and fields, "enum", "custom": what a registered `encode` returned).
/// fields: name to value. payload: the builtin's content, the member's name, the encoded state, or None.
///
/// A record is stored again as it was.
///
/// >>> record = Record("shop.Order", {"id": 7})
/// >>> again = loads(dumps(record), types=Record)
/// >>> again.type_name, again.fields
/// ('shop.Order', {'id': 7})
#[pyclass(module = "holdall")]
#[derive(Debug)]
pub struct Record {
    #[pyo3(get)]
    pub type_name: String,
    #[pyo3(get)]
    pub version: u64,
    #[pyo3(get)]
    pub kind: &'static str,
    #[pyo3(get)]
    pub fields: Py<PyDict>,
    #[pyo3(get)]
    pub payload: Py<PyAny>,
}

#[pymethods]
impl Record {
    #[new]
    #[pyo3(signature = (type_name, fields, *, version = 1))]
    fn new(py: Python<'_>, type_name: String, fields: Py<PyDict>, version: u64) -> Record {
        Record { type_name, version, kind: "object", fields, payload: py.None() }
    }

    fn __repr__(&self, py: Python<'_>) -> PyResult<String> {
        door(|| Ok(format!("Record({:?}, {})", self.type_name, self.fields.bind(py).repr()?)))
    }

    /// For `copy` and pickle. Fields and payload are in the state, because they may contain the record.
    fn __reduce__<'py>(this: &Bound<'py, Self>) -> PyResult<Bound<'py, PyTuple>> {
        door(|| {
            let (py, record) = (this.py(), this.borrow());
            let made_of = (&record.type_name, new::dict(py)?).into_pyobject(py)?;
            let state = (record.version, record.kind, &record.fields, &record.payload).into_pyobject(py)?;
            (this.get_type(), made_of, state).into_pyobject(py)
        })
    }

    fn __setstate__(&mut self, state: (u64, String, Py<PyDict>, Py<PyAny>)) -> PyResult<()> {
        door(|| {
            let (version, kind, fields, payload) = state;
            let kind = self::kind(&kind).ok_or_else(|| PyValueError::new_err("a record of an unknown kind"))?;
            *self = Record { type_name: std::mem::take(&mut self.type_name), version, kind, fields, payload };
            Ok(())
        })
    }

    /// Another record, with a dict of its own for the same values.
    fn __copy__(&self, py: Python<'_>) -> PyResult<Record> {
        door(|| {
            let (type_name, payload) = (self.type_name.clone(), self.payload.clone_ref(py));
            Ok(Record { type_name, fields: self.fields.bind(py).copy()?.unbind(), payload, ..*self })
        })
    }

    fn __traverse__(&self, visit: pyo3::PyVisit<'_>) -> std::result::Result<(), pyo3::PyTraverseError> {
        visit.call(&self.fields)?;
        visit.call(&self.payload)
    }

    fn __clear__(&mut self, py: Python<'_>) {
        self.payload = py.None();
        // Without memory for an empty dict the fields stay, and so does the cycle.
        if let Ok(none) = new::dict(py) {
            self.fields = none.unbind();
        }
    }
}

/// The class object of [`Record`].
pub fn record_type(py: Python<'_>) -> *mut ffi::PyObject {
    Record::type_object(py).as_ptr()
}

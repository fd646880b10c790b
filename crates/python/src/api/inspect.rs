//! `outline`: what bytes contain; `guess_format`: which format they are in.

use crate::cpython::new;
use crate::error::{door, door_giving};
use crate::message::with_bytes;
use holdall_format::hold;
use holdall_format::inspect::{inspect, Class, Inspection, Key, Node, Options, Referred, Rest, Sum, ValueKind};
use holdall_format::model::ShapeKind;
use holdall_format::{bson, detect, julia, lisp, msgpack};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList};

/// The format that the bytes of a file look like: "hold", "bson", "julia", "lisp", "json" or "pickle"; None if they may be
/// MessagePack, which can begin with any byte.
///
/// data: bytes-like, C-contiguous; of most large files only a little is read.
/// is_bson: they are known to be BSON, even if they are truncated: returns "bson" or "julia".
///
/// >>> guess_format(dumps(1)), guess_format(bson.dumps({})), guess_format(b'{"a": 1}'), guess_format(msgpack.dumps([]))
/// ('hold', 'bson', 'json', None)
#[pyfunction]
#[pyo3(signature = (data, /, *, is_bson = false))]
pub fn guess_format(data: &Bound<'_, PyAny>, is_bson: bool) -> PyResult<Py<PyAny>> {
    door_giving(data.py(), || {
        with_bytes(data, |data| {
            let found = if is_bson { Some(detect::of_bson(data)) } else { detect::detect(data) };
            Ok(found.map(detect::Format::name))
        })
    })
}

/// What bytes hold, without building it.
///
/// data: bytes-like, C-contiguous; it must not change meanwhile. A hold message, a BSON document, or a MessagePack value;
///     bytes after the last two are ignored.
/// format: "hold", "bson", "julia", "lisp" or "msgpack".
/// depth: how many levels of members below the outermost value are shown; `most`: how many members of each container.
/// values: whether short values are shown; else only keys and the names of fields and classes are, shortened.
///
/// Returns a dict: see `_core.pyi`. Its nodes are in the order of the bytes, each before its members, with its depth.
/// Memory is proportional to what is shown, and to what has an id or is open at one time. Damage is not an error: the
/// result ends there.
///
/// Raises ValueError: an unknown format.
///
/// >>> found = outline(dumps({"a": [1, 2]}), "hold", depth=2, most=10)
/// >>> [(node["key"], node["kind"], node["items"], node["bytes"]) for node in found["nodes"]]
/// [(None, 'dict', 1, 9), ('a', 'list', 2, 4)]
#[pyfunction]
#[pyo3(signature = (data, format, /, *, depth, most, values = false))]
pub fn outline<'py>(
    data: &Bound<'py, PyAny>,
    format: &str,
    depth: usize,
    most: usize,
    values: bool,
) -> PyResult<Bound<'py, PyDict>> {
    door(|| {
        let py = data.py();
        with_bytes(data, |data| {
            let whole = matches!(format, "hold" | "julia" | "lisp");
            let options = Options { depth, most, values, whole };
            let (made, base) = match format {
                "hold" => {
                    let outline = match hold::Reader::new(data, true) {
                        Ok(reader) => inspect(reader, data, options),
                        Err(error) => Inspection::of_nothing(error),
                    };
                    (outline, 0)
                }
                "bson" => (inspect(bson::Reader::new(data).damaged(), data, options), 0),
                "julia" => (inspect(julia::Reader::damaged(data), data, options), 0),
                "lisp" => {
                    let mut reader = lisp::Reader::new(data);
                    let outline = match reader.more() {
                        Ok(_) => inspect(reader, data, options),
                        Err(error) => Inspection::of_nothing(error),
                    };
                    (outline, 0)
                }
                "msgpack" => (inspect(msgpack::Reader::new(data), data, options), 0),
                _ => {
                    return Err(PyValueError::new_err(
                        "format must be one of \"hold\", \"bson\", \"julia\", \"lisp\", \"msgpack\"",
                    ))
                }
            };
            let told = told(py, &made, base)?;
            told.set_item("left", data.len() - base - made.read)?;
            Ok(told)
        })
    })
}

fn told<'py>(py: Python<'py>, made: &Inspection, base: usize) -> PyResult<Bound<'py, PyDict>> {
    let told = new::dict(py)?;
    told.set_item("nodes", list(py, &made.nodes, |told, each| node(told, each, base))?)?;
    told.set_item("kinds", list(py, &made.kinds, |told, (kind, sum)| summed(told, Some(*kind), *sum))?)?;
    told.set_item("classes", list(py, &made.classes, class)?)?;
    told.set_item("class_count", made.class_count)?;
    told.set_item("referred", list(py, &made.referred, |told, each| referred(told, each, base))?)?;
    told.set_item("numbered", made.numbered)?;
    told.set_item("shared", made.shared)?;
    told.set_item("references", made.references)?;
    told.set_item("start", base)?;
    told.set_item("head", made.head)?;
    told.set_item("read", made.read)?;
    match &made.error {
        Some(error) => {
            told.set_item("error", error.to_string())?;
            told.set_item("error_offset", base + error.offset())?;
        }
        None => {
            told.set_item("error", py.None())?;
            told.set_item("error_offset", py.None())?;
        }
    }
    Ok(told)
}

fn list<'py, T>(
    py: Python<'py>,
    all: &[T],
    tell: impl Fn(&Bound<'py, PyDict>, &T) -> PyResult<()>,
) -> PyResult<Bound<'py, PyList>> {
    let list = new::list(py)?;
    for each in all {
        let told = new::dict(py)?;
        tell(&told, each)?;
        list.append(told)?;
    }
    Ok(list)
}

fn summed(told: &Bound<'_, PyDict>, kind: Option<ValueKind>, sum: Sum) -> PyResult<()> {
    told.set_item("kind", kind.map(ValueKind::label))?;
    told.set_item("values", sum.values)?;
    told.set_item("bytes", sum.bytes)
}

fn node(told: &Bound<'_, PyDict>, node: &Node, base: usize) -> PyResult<()> {
    told.set_item("depth", node.depth)?;
    let (role, key) = match &node.key {
        Key::Root => ("root", None),
        Key::BackReferences => ("apart", None),
        Key::Content => ("content", None),
        Key::Item(_) => ("item", None),
        Key::Text(key) => ("key", Some(key)),
        Key::Other(key) => ("other", Some(key)),
        Key::Field(key) => ("field", Some(key)),
    };
    told.set_item("role", role)?;
    match node.key {
        Key::Item(at) => told.set_item("key", at)?,
        _ => told.set_item("key", key)?,
    }
    told.set_item("kind", node.kind.label())?;
    told.set_item("name", &node.name)?;
    told.set_item("offset", base + node.offset)?;
    told.set_item("bytes", node.bytes)?;
    told.set_item("items", node.items)?;
    told.set_item("number", node.number)?;
    told.set_item("references", node.references)?;
    told.set_item("target", node.target)?;
    told.set_item("value", &node.value)?;
    told.set_item("rest", list(told.py(), &node.rest, rest)?)?;
    told.set_item("whole", node.whole)
}

fn rest(told: &Bound<'_, PyDict>, rest: &Rest) -> PyResult<()> {
    summed(told, rest.kind, rest.sum)?;
    told.set_item("name", &rest.name)
}

fn class(told: &Bound<'_, PyDict>, class: &Class) -> PyResult<()> {
    let kind = match class.kind {
        Some(ShapeKind::Dict) => "dict",
        Some(ShapeKind::Object) => "object",
        Some(ShapeKind::Based) => "based",
        Some(ShapeKind::Enum) => "enum",
        Some(ShapeKind::Custom) => "custom",
        None => "described",
    };
    summed(told, None, class.sum)?;
    told.set_item("kind", kind)?;
    told.set_item("name", &class.name)?;
    told.set_item("version", class.version)?;
    told.set_item("fields", &class.fields[..])?;
    told.set_item("field_count", class.field_count)
}

fn referred(told: &Bound<'_, PyDict>, referred: &Referred, base: usize) -> PyResult<()> {
    told.set_item("number", referred.number)?;
    told.set_item("references", referred.references)?;
    told.set_item("kind", referred.kind.label())?;
    told.set_item("name", &referred.name)?;
    told.set_item("offset", referred.offset.map(|offset| base + offset))
}

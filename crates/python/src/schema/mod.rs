//! An annotation, compiled once: what may stand where, and how to build it.
//!
//! The Python side (`_annotations`) takes annotations apart; the decoder follows the result. Nodes refer to each other
//! by index, so that types may be recursive.

mod as_is;
pub mod class;
pub mod coerce;
pub mod constraint;
pub mod node;
pub mod time;

use crate::classes::serial::next_serial;
use crate::cpython::{Obj, Owned};
use crate::error::door;
use crate::error::Result;
use crate::shapes::classes::ClassShapes;
pub use crate::shapes::typed::{NodeId, ANY};
use class::Class;
use node::{Map, MapKind, Node, Scalar, Seq, SeqKind};
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::{PyDict, PyList, PyString, PyType};
use std::collections::HashMap;
use std::sync::Arc;

/// The nodes of a load without `type=`.
pub static UNTYPED: [Node; 1] = [Node::ANY];

#[derive(Debug)]
pub struct Schema {
    pub nodes: Vec<Node>,
    pub classes: Vec<Class>,
    pub root: NodeId,
    /// A number of its own, for caches of what was matched against this schema.
    pub serial: u64,
    /// The classes that the annotation names, by their stored names: messages may build them.
    pub permitted: HashMap<String, Owned>,
    pub shapes: ClassShapes,
    /// Some class or enumeration has a resolver.
    pub resolves: bool,
}

impl Schema {
    fn compile(described: &Bound<'_, PyDict>) -> PyResult<Schema> {
        let nodes = item::<Bound<'_, PyList>>(described, "nodes")?;
        let classes = item::<Bound<'_, PyList>>(described, "classes")?;
        let mut schema = Schema {
            nodes: nodes.iter().map(|node| Node::compile(&node.cast_into()?)).collect::<PyResult<_>>()?,
            classes: classes.iter().map(|class| Class::compile(&class.cast_into()?)).collect::<PyResult<_>>()?,
            root: item(described, "root")?,
            serial: next_serial(),
            permitted: HashMap::new(),
            shapes: ClassShapes::default(),
            resolves: false,
        };
        let py = described.py();
        schema.settle(py)?;
        let mut permitted = HashMap::new();
        let named = schema.classes.iter().filter_map(|class| class.class.as_ref());
        for class in named.chain(schema.nodes.iter().flat_map(Node::classes_of_scalars)) {
            // SAFETY: the schema holds the class, which `classes` says to be one.
            let name = unsafe { class_name(py, class)? };
            permitted.insert(name, class.clone());
        }
        schema.permitted = permitted;
        Ok(schema)
    }

    /// The schema of documents whose values go through functions chosen by type; the outermost document itself goes
    /// through none.
    pub fn of_documents(by_type: Owned, outermost: NodeId) -> Schema {
        let value = outermost + 1;
        let map = || Some(Map { kind: MapKind::Dict, key: ANY, value, min: None, max: None });
        let whole = || Node { any: false, accepts: 0, map: map(), ..Node::ANY };
        let through = Node { scalars: vec![Scalar::ByType(by_type)], ..whole() };
        Schema {
            nodes: vec![Node::ANY, whole(), through],
            classes: Vec::new(),
            root: outermost,
            serial: next_serial(),
            permitted: HashMap::new(),
            shapes: ClassShapes::default(),
            resolves: false,
        }
    }

    /// The node of the member `name` of a dict (without a name: of a list's items). [`ANY`] if the node doesn't say or
    /// allows several types.
    pub fn member(&self, node: NodeId, name: Option<&[u8]>) -> NodeId {
        let node = &self.nodes[node as usize];
        let Some(name) = name else {
            return match node.seq.as_ref().map(|seq| &seq.kind) {
                Some(SeqKind::List(item) | SeqKind::Tuple(item) | SeqKind::Deque(item)) => *item,
                _ => ANY,
            };
        };
        let class = match (&node.map, &node.classes[..]) {
            (Some(Map { kind: MapKind::TypedDict(class), .. }), []) => *class,
            (Some(map), []) => return map.value,
            (None, [class]) => *class,
            _ => return ANY,
        };
        let class = &self.classes[class as usize];
        class.by_key.get(name).map_or(ANY, |&field| class.fields[field as usize].node)
    }

    /// Why a format that stores no class names can't load this schema; `None` if it can. `textual`: the format stores
    /// points in time, UUIDs and decimals as text.
    pub fn ambiguity(&self, textual: bool) -> Option<&str> {
        self.nodes
            .iter()
            .find_map(|node| node.ambiguous.as_deref().or(node.ambiguous_text.as_deref().filter(|_| textual)))
    }

    /// Completes what depends on all nodes and classes.
    fn settle(&mut self, py: Python<'_>) -> PyResult<()> {
        for node in &mut self.nodes {
            // Classes with a registered `decode` are scalars: it makes the instance from whatever their `encode` gave.
            let mut registered = Vec::new();
            for index in std::mem::take(&mut node.classes) {
                match self.classes[index as usize].registered(py)? {
                    Some(scalar) => registered.push(scalar),
                    None => node.classes.push(index),
                }
            }
            if let Some(Seq { kind: SeqKind::NamedTuple(index), .. }) = node.seq {
                if let Some(scalar) = self.classes[index as usize].registered(py)? {
                    registered.push(scalar);
                    node.seq = None;
                }
            }
            for scalar in &mut node.scalars {
                if let Scalar::Custom { class, .. } = scalar {
                    if let Some(decode) = registered_decode(py, class)? {
                        *scalar = Scalar::Registered { class: class.clone(), decode };
                    }
                }
            }
            node.scalars.extend(registered);
        }
        self.resolves = self.classes.iter().any(|class| class.resolves);
        for scalar in self.nodes.iter().flat_map(|node| &node.scalars) {
            if let Scalar::Enum { class, .. } | Scalar::Registered { class, .. } = scalar {
                let known = crate::classes::registry::by_class(py, class.get().cast())?;
                self.resolves = self.resolves || known.is_some_and(|known| known.resolver.is_some());
            }
        }
        Ok(())
    }
}

/// The registered function that makes instances of a class from what its `encode` gave.
fn registered_decode(py: Python<'_>, class: &Owned) -> PyResult<Option<Owned>> {
    // SAFETY: `class` is an owned reference.
    if unsafe { pyo3::ffi::PyType_Check(class.get()) == 0 } {
        return Ok(None);
    }
    let Some(known) = crate::classes::registry::by_class(py, class.get().cast())? else { return Ok(None) };
    Ok(match &known.settings {
        // It takes a version, of which schemaless formats know nothing.
        // SAFETY: the registration holds its settings.
        Some(settings) if known.decode_takes_version => Some(crate::cpython::owned(
            &unsafe { Bound::from_borrowed_ptr(py, settings.get()) }.getattr("decode_of_plain")?,
        )),
        _ => known.decode.clone(),
    })
}

/// The stored name of a class.
///
/// # Safety
/// `class` is a class.
unsafe fn class_name(py: Python<'_>, class: &Owned) -> PyResult<String> {
    let class = class.get().cast();
    match crate::classes::registry::by_class(py, class)? {
        Some(registration) => Ok(registration.name.clone()),
        None => crate::classes::plan::class_name(py, class),
    }
}

/// A required entry of a description.
fn item<'py, T: FromPyObjectOwned<'py>>(described: &Bound<'py, PyDict>, name: &str) -> PyResult<T> {
    match described.get_item(name)? {
        Some(found) => found.extract::<T>().map_err(Into::into),
        None => Err(pyo3::exceptions::PyKeyError::new_err(format!("a description without {name:?}"))),
    }
}

/// An entry that may be absent or None.
fn optional<'py>(described: &Bound<'py, PyDict>, name: &str) -> PyResult<Option<Bound<'py, PyAny>>> {
    Ok(described.get_item(name)?.filter(|found| !found.is_none()))
}

/// A schema as Python's caches hold it: on the first class that its annotation names, to live as long as that class.
#[pyclass(module = "holdall._core", frozen, weakref)]
#[derive(Debug)]
pub struct CompiledSchema {
    schema: Arc<Schema>,
    /// How many registrations there had been when it was compiled.
    #[pyo3(get)]
    generation: u64,
}

#[pymethods]
impl CompiledSchema {
    fn __traverse__(&self, visit: pyo3::PyVisit<'_>) -> std::result::Result<(), pyo3::PyTraverseError> {
        // While a load uses the schema, its references don't all come from objects that the collector sees.
        if Arc::strong_count(&self.schema) > 1 {
            return Ok(());
        }
        let mut result = Ok(());
        self.schema.visit(&mut |object| {
            if result.is_ok() {
                // SAFETY: the schema holds every object that it shows.
                result = unsafe { visit_raw(&visit, object) };
            }
        });
        result
    }
}

/// # Safety
/// The garbage collector calls it, with the GIL held; `object` is alive.
unsafe fn visit_raw(visit: &pyo3::PyVisit<'_>, object: Obj) -> std::result::Result<(), pyo3::PyTraverseError> {
    // SAFETY: the GIL is held by contract. `ManuallyDrop` keeps the count as it is: no reference is taken, none is
    // released.
    let object = unsafe {
        let py = Python::assume_attached();
        std::mem::ManuallyDrop::new(Bound::<PyAny>::from_owned_ptr(py, object).unbind())
    };
    visit.call(&*object)
}

impl Schema {
    /// Shows every object that the schema holds to the garbage collector's visitor.
    fn visit(&self, see: &mut impl FnMut(Obj)) {
        for node in &self.nodes {
            node.visit(see);
        }
        for class in &self.classes {
            class.visit(see);
        }
        for class in self.permitted.values() {
            see(class.get());
        }
    }
}

/// The schema of an annotation; `None` for `Any` and "Any".
pub fn of(annotation: &Bound<'_, PyAny>) -> Result<Option<Arc<Schema>>> {
    let py = annotation.py();
    static ANY_TYPE: PyOnceLock<Py<PyAny>> = PyOnceLock::new();
    let is_its_name = || annotation.cast::<PyString>().is_ok_and(|text| text.to_str().is_ok_and(|text| text == "Any"));
    if annotation.is(ANY_TYPE.import(py, "typing", "Any")?) || is_its_name() {
        return Ok(None);
    }
    let generation = crate::classes::registry::generation(py);
    // The usual case: a class that has its schema already.
    if annotation.is_instance_of::<PyType>() {
        if let Some(known) = attached(annotation, annotation)? {
            let known = known.get();
            if known.generation == generation {
                return Ok(Some(known.schema.clone()));
            }
        }
    }
    let module = py.import("holdall._schemas")?;
    let found = module.call_method1("schema", (annotation, generation))?;
    if found.is_none() {
        return Ok(None);
    }
    Ok(Some(found.cast::<CompiledSchema>().map_err(PyErr::from)?.get().schema.clone()))
}

/// The schema of `annotation` that is kept on the class `anchor`.
fn attached<'py>(
    anchor: &Bound<'py, PyAny>,
    annotation: &Bound<'py, PyAny>,
) -> PyResult<Option<Bound<'py, CompiledSchema>>> {
    // SAFETY: `of` checked that `anchor` is a class. Its own dict is read, past metaclasses and bases.
    let members = unsafe { (*anchor.as_ptr().cast::<pyo3::ffi::PyTypeObject>()).tp_dict };
    // SAFETY: null or a dict that lives as long as its class, which `anchor` holds; the `Bound` takes a reference of
    // its own.
    let members = unsafe { Bound::from_borrowed_ptr_or_opt(anchor.py(), members) };
    let in_dict = |dict: Option<Bound<'py, PyAny>>, key: &Bound<'py, PyAny>| match dict.map(Bound::cast_into::<PyDict>)
    {
        Some(Ok(dict)) => dict.get_item(key),
        _ => Ok(None),
    };
    let kept = in_dict(members, pyo3::intern!(anchor.py(), "__holdall_schemas__").as_any())?;
    Ok(in_dict(kept, annotation)?.and_then(|found| found.cast_into().ok()))
}

/// For `_schemas.py`, which finds and keeps schemas: compiles its description of an annotation.
#[pyfunction]
pub fn compile_schema(described: &Bound<'_, PyDict>, generation: u64) -> PyResult<CompiledSchema> {
    door(|| Ok(CompiledSchema { schema: Arc::new(Schema::compile(described)?), generation }))
}

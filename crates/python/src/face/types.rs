//! `Limits` and `Record`.

use crate::cpython::new;
use crate::memory::door;
use crate::objects::record::kind as kind_of;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyTuple};
use pyo3::{ffi, PyTypeInfo};

/// Bounds on what loading a message may cost.
///
/// depth: containers within containers; None is no bound (nothing recurses, so that depth alone does no harm).
/// objects: values in all; None is no bound but the input's size, as each takes a byte.
/// bytes: estimated memory of all containers and instances; None is 1 MiB and 1,024 times the input's size.
/// work: what may be done again and again for the same bytes (hashing what several keys share, comparing keys whose hashes
/// collide, compiling patterns, ...), in units of some nanoseconds; None is 4 Mi and 192 for each byte of the input.
///
/// `Limits.strict()` is for what strangers send: 100 deep, 1 million values, 64 MiB, 16 Mi units.
///
/// Raises LimitError where one is passed, before the memory is taken.
///
/// >>> loads(dumps([1, [2]]), limits=Limits(depth=2))
/// [1, [2]]
#[pyclass(module = "holdall", frozen, from_py_object)]
#[derive(Debug, Clone)]
pub struct Limits {
    #[pyo3(get)]
    depth: Option<usize>,
    #[pyo3(get)]
    objects: Option<usize>,
    #[pyo3(get)]
    bytes: Option<usize>,
    #[pyo3(get)]
    work: Option<usize>,
}

#[pymethods]
impl Limits {
    #[new]
    #[pyo3(signature = (*, depth = None, objects = None, bytes = None, work = None))]
    fn new(depth: Option<usize>, objects: Option<usize>, bytes: Option<usize>, work: Option<usize>) -> Limits {
        Limits { depth, objects, bytes, work }
    }

    /// Bounds for what strangers send: what an ordinary request or job needs, and a fraction of a second at most. Those that are
    /// given are taken instead.
    ///
    /// >>> Limits.strict(depth=20)
    /// Limits(depth=20, objects=1000000, bytes=67108864, work=16777216)
    #[staticmethod]
    #[pyo3(signature = (*, depth = 100, objects = 1_000_000, bytes = 64 << 20, work = 16 << 20))]
    fn strict(depth: usize, objects: usize, bytes: usize, work: usize) -> Limits {
        Limits { depth: Some(depth), objects: Some(objects), bytes: Some(bytes), work: Some(work) }
    }

    fn __repr__(&self) -> String {
        let show = |bound: Option<usize>| bound.map_or_else(|| "None".to_owned(), |bound| bound.to_string());
        let [depth, objects, bytes, work] = [self.depth, self.objects, self.bytes, self.work].map(show);
        format!("Limits(depth={depth}, objects={objects}, bytes={bytes}, work={work})")
    }
}

impl Limits {
    pub fn bounds(&self) -> crate::decode::Limits {
        crate::decode::Limits { depth: self.depth, objects: self.objects, bytes: self.bytes, work: self.work }
    }
}

/// An instance of a class that is not there: what `types=Record` makes of unknown ones.
///
/// type_name: the stored name. version: the class's version when it was stored. kind: how it was stored ("object",
/// "based": a builtin's content and fields, "enum", "custom": what a registered `encode` gave).
/// fields: name to value. payload: the builtin's content, the member's name or the encoded state, or None.
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

    /// For `copy` and pickle. Fields and payload come as the state: the record may be among what they hold.
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
            let kind = kind_of(&kind).ok_or_else(|| PyValueError::new_err("a record of an unknown kind"))?;
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

    fn __traverse__(&self, visit: pyo3::PyVisit<'_>) -> Result<(), pyo3::PyTraverseError> {
        visit.call(&self.fields)?;
        visit.call(&self.payload)
    }

    fn __clear__(&mut self, py: Python<'_>) {
        self.payload = py.None();
        // Without memory for an empty one the fields stay, and with them the circle.
        if let Ok(none) = new::dict(py) {
            self.fields = none.unbind();
        }
    }
}

/// The class object of [`Record`].
pub fn record_type(py: Python<'_>) -> *mut ffi::PyObject {
    Record::type_object(py).as_ptr()
}

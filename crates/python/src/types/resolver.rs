//! What a resolver is told of stored data, and what it answers.

use crate::cpython::{new, owned, Owned};
use crate::error::{door, Result};
use crate::memory::Vec;
use crate::shapes::decided::Answer;
use crate::types::record::record_type;
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyString, PyTuple, PyType};
use pyo3::PyTypeInfo;

/// What a resolver returned. `None`: no answer.
pub fn answer_of(given: &Bound<'_, PyAny>) -> Result<Option<Answer>> {
    if given.is_none() {
        return Ok(Some(Answer::Default));
    }
    if given.as_ptr() == record_type(given.py()) {
        return Ok(Some(Answer::Record));
    }
    if given.is_instance_of::<PyType>() {
        return Ok(Some(Answer::Use { class: owned(given), renames: Vec::new() }));
    }
    if let Ok(used) = given.cast::<Use>() {
        let used = used.get();
        let mut renames = Vec::new();
        for (old, new) in used.renames.bind(given.py()) {
            renames.push((owned(&old), (!new.is_none()).then(|| owned(&new))));
        }
        return Ok(Some(Answer::Use { class: owned(used.cls.bind(given.py())), renames }));
    }
    if let Ok(value) = given.cast::<Value>() {
        return Ok(Some(Answer::Value(owned(value.get().value.bind(given.py())))));
    }
    if let Ok(function) = given.cast::<ByValue>() {
        return Ok(Some(Answer::ByValue(owned(function.get().function.bind(given.py())))));
    }
    if let Ok(refused) = given.cast::<Refuse>() {
        return Ok(Some(Answer::Refuse(refused.get().why.clone())));
    }
    Ok(is_skip(given.as_ptr()).then_some(Answer::Skip))
}

/// Whether an object is the mark of what is left out.
pub fn is_skip(object: crate::cpython::Obj) -> bool {
    // SAFETY: callers hold the object and the GIL; its type is only compared.
    unsafe { pyo3::ffi::Py_TYPE(object) == Skip::type_object_raw(Python::assume_attached()) }
}

/// A mark of what is left out, which equals no other: several may be in one set.
pub fn skip(py: Python<'_>) -> PyResult<Owned> {
    Ok(owned(Bound::new(py, Skip)?.as_any()))
}

/// The classes and the constant of `holdall.resolve`.
pub fn add_to(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_class::<Stored>()?;
    module.add_class::<Use>()?;
    module.add_class::<Value>()?;
    module.add_class::<ByValue>()?;
    module.add_class::<Refuse>()?;
    // SAFETY: `skip` gives an owned reference.
    let skip = unsafe { Bound::from_borrowed_ptr(module.py(), skip(module.py())?.get()) };
    module.add("SKIP", skip)
}

/// What is stored, as a resolver is told: the layout, which is the same for all values that share it.
///
/// name: the stored name of the class; in MessagePack and BSON the tag, or None. alias: the same if it is one of the
/// registered `aliases`, else None. version: the stored version; None if the data has none. kind: "object", "based" (a
/// builtin's content and fields), "enum", "custom" (what a registered `encode` gave), or "dict": a dict where `type=` wants
/// a class, or "value": another value there, which the type refuses, such as that of a member that is gone. fields: the names that are stored; of a dict, the names of the fields that its keys mean. cls: the class that
/// would be built without a resolver, or None if there is none.
///
/// >>> from holdall.resolve import Stored
/// >>> def resolver(stored: Stored) -> object:
/// ...     return {"shop.Order": dict}.get(stored.name, holdall.Record)
#[pyclass(module = "holdall.resolve", frozen)]
#[derive(Debug)]
pub struct Stored {
    #[pyo3(get)]
    name: Option<Py<PyAny>>,
    #[pyo3(get)]
    alias: Option<Py<PyAny>>,
    #[pyo3(get)]
    version: Option<u64>,
    #[pyo3(get)]
    kind: &'static str,
    #[pyo3(get)]
    fields: Py<PyTuple>,
    #[pyo3(get)]
    cls: Option<Py<PyAny>>,
}

impl Stored {
    pub fn new(
        name: Option<&Bound<'_, PyAny>>,
        is_alias: bool,
        version: Option<u64>,
        kind: &'static str,
        fields: &Bound<'_, PyTuple>,
        cls: Option<&Bound<'_, PyAny>>,
    ) -> Stored {
        let name = name.map(|name| name.clone().unbind());
        let alias = name.as_ref().filter(|_| is_alias).map(|name| name.clone_ref(fields.py()));
        let cls = cls.map(|cls| cls.clone().unbind());
        Stored { name, alias, version, kind, fields: fields.clone().unbind(), cls }
    }
}

#[pymethods]
impl Stored {
    fn __repr__(&self, py: Python<'_>) -> PyResult<String> {
        door(|| {
            let name = match &self.name {
                Some(name) => name.bind(py).repr()?.to_string(),
                None => "None".to_owned(),
            };
            let version = self.version.map_or("None".to_owned(), |version| version.to_string());
            let fields = self.fields.bind(py).repr()?;
            Ok(format!("Stored(name={name}, version={version}, kind={:?}, fields={fields})", self.kind))
        })
    }
}

/// A resolver's answer: build an instance of `cls`, as though `cls` had been stored.
///
/// renames: {stored field: field}; a field that is renamed to None is dropped. A class alone, without renames, is an answer
/// too. What `cls` was registered with holds: `renames`, `upgrade`, defaults. From a subclass of dict, and from what
/// `encode` gave, the items of the dict become fields.
///
/// Raises TypeError: `cls` is no class, or a name is no text.
///
/// >>> from holdall.resolve import Use
/// >>> Use(dict, renames={"label": "title"})
/// Use(dict)
#[pyclass(module = "holdall.resolve", frozen)]
#[derive(Debug)]
pub struct Use {
    #[pyo3(get)]
    cls: Py<PyAny>,
    #[pyo3(get)]
    renames: Py<PyDict>,
}

#[pymethods]
impl Use {
    #[new]
    #[pyo3(signature = (cls, *, renames = None))]
    fn new(cls: &Bound<'_, PyAny>, renames: Option<&Bound<'_, PyDict>>) -> PyResult<Use> {
        door(|| {
            if !cls.is_instance_of::<PyType>() {
                return Err(PyTypeError::new_err("Use: expected a class"));
            }
            let kept = new::dict(cls.py())?;
            for (old, new) in renames.into_iter().flatten() {
                if !old.is_instance_of::<PyString>() || !(new.is_none() || new.is_instance_of::<PyString>()) {
                    return Err(PyTypeError::new_err("Use: renames: expected {str: str or None}"));
                }
                kept.set_item(old, new)?;
            }
            Ok(Use { cls: cls.clone().unbind(), renames: kept.unbind() })
        })
    }

    fn __repr__(&self, py: Python<'_>) -> PyResult<String> {
        door(|| Ok(format!("Use({})", self.cls.bind(py).getattr("__qualname__")?)))
    }
}

/// A resolver's answer: the same value for all that has this layout; what is stored is passed over.
///
/// >>> from holdall.resolve import Value
/// >>> Value(None).value is None
/// True
#[pyclass(module = "holdall.resolve", frozen)]
#[derive(Debug)]
pub struct Value {
    #[pyo3(get)]
    value: Py<PyAny>,
}

#[pymethods]
impl Value {
    #[new]
    fn new(value: Py<PyAny>) -> Value {
        Value { value }
    }
}

/// A resolver's answer: it depends on the values. `function(record)` is called with each `holdall.Record`, and gives the object
/// to build, or an answer: a class or `Use`, `Record`, `SKIP`, `Refuse`, `Value` (of a class, or of None); None means as without
/// a resolver.
///
/// What is stored within such a value can't refer to the value itself: there is none before the function is called.
///
/// >>> from holdall.resolve import ByValue
/// >>> ByValue(lambda record: record.fields["amount"]).function is not None
/// True
#[pyclass(module = "holdall.resolve", frozen)]
#[derive(Debug)]
pub struct ByValue {
    #[pyo3(get)]
    function: Py<PyAny>,
}

#[pymethods]
impl ByValue {
    #[new]
    fn new(function: &Bound<'_, PyAny>) -> PyResult<ByValue> {
        match function.is_callable() {
            true => Ok(ByValue { function: function.clone().unbind() }),
            false => Err(PyTypeError::new_err("ByValue: expected a function of one argument")),
        }
    }
}

/// A resolver's answer: this is an error, a `DecodeError` that names the class and says `why`.
///
/// >>> from holdall.resolve import Refuse
/// >>> Refuse("orders of 2019 are archived").why
/// 'orders of 2019 are archived'
#[pyclass(module = "holdall.resolve", frozen)]
#[derive(Debug)]
pub struct Refuse {
    #[pyo3(get)]
    why: String,
}

#[pymethods]
impl Refuse {
    #[new]
    fn new(why: String) -> Refuse {
        Refuse { why }
    }
}

/// The class of `SKIP`.
#[pyclass(module = "holdall.resolve", frozen)]
#[derive(Debug)]
pub struct Skip;

#[pymethods]
impl Skip {
    fn __repr__(&self) -> &'static str {
        "SKIP"
    }

    fn __reduce__(&self) -> &'static str {
        "SKIP"
    }
}

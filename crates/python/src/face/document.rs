//! Documents that stay bytes: members are found without being read, and built when they are asked for.

use super::functions::{decode_by, View};
use super::members::{Members, Yields};
use super::options;
use super::types::Limits;
use crate::decode;
use crate::error::Fault;
use crate::julia::utf8;
use crate::schema::{NodeId, ANY};
use holdall_format::bson::{tag, Element, Elements, Reader};
use holdall_format::julia::{self, Apart};
use pyo3::exceptions::{PyIndexError, PyKeyError, PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyMemoryView, PySlice, PyString};
use std::collections::HashMap;
use std::ops::Range;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

/// Up to so many members are searched one by one.
const FEW: usize = 16;

/// The bytes that a document and all within it share.
struct Source {
    view: Mutex<Option<Arc<View>>>,
    data: Py<PyAny>,
    /// Whether closing the document closes `data`: a map that was made for it.
    owned: bool,
    /// In Julia's dialect, what stands apart in it: its members refer to that.
    apart: Option<Arc<Apart>>,
    /// By the description of a type: the names of its fields, where its instances are read field by field.
    fields: Mutex<HashMap<Box<[u8]>, Known>>,
}

/// What is known of a type: nothing where its instances are built at once.
type Known = Option<Arc<Fields>>;

/// The names of an instance's fields, as far as they are known.
struct Fields(Vec<String>);

impl Source {
    fn view(&self) -> PyResult<Arc<View>> {
        let view = self.view.lock().unwrap_or_else(PoisonError::into_inner);
        view.clone().ok_or_else(|| PyValueError::new_err("the document is closed"))
    }
}

/// Where the members of a document stand, from its start.
enum Index {
    /// Of an array: where each element begins.
    Items(Vec<u64>),
    /// Of a document: type, where the name begins, where the value begins and how long it is.
    Members { places: Vec<Place>, by_name: OnceLock<HashMap<Box<[u8]>, u32>> },
}

#[derive(Clone, Copy)]
pub struct Place {
    tag: u8,
    name_len: u32,
    at: u64,
    len: u64,
}

impl Place {
    pub fn new(element: &Element<'_>) -> Place {
        Place {
            tag: element.tag,
            name_len: element.name.len() as u32,
            at: element.at as u64,
            len: element.value.len() as u64,
        }
    }

    fn name<'i>(&self, document: &'i [u8]) -> &'i [u8] {
        // A NUL stands between name and value.
        let end = (self.at as usize).saturating_sub(1);
        document.get(end.saturating_sub(self.name_len as usize)..end).unwrap_or_default()
    }

    fn value<'i>(&self, document: &'i [u8]) -> &'i [u8] {
        document.get(self.at as usize..(self.at + self.len) as usize).unwrap_or_default()
    }
}

/// A BSON document (or an array in one) that is read where it is touched.
///
/// data: bytes-like, one document; it is kept, and must not change meanwhile. `open` maps a file.
/// type: an annotation of the whole: what it says of a member, `doc[key]` builds. Without it members that are documents or arrays
///     come as Documents themselves, all others as `loads` gives them.
/// strict, dec_hook, limits, tz_aware: as for `loads`.
///
/// `doc[key]` (or `doc[index]` in an array), `get`, `in`, `len`, iteration over keys (or an array's values), `keys`, `values`, `items`;
/// `raw` is a view of the bytes, and `load()` builds all of it. The first look-up goes from name to name once, without reading
/// values. What is not touched is not checked. A Document closes when it is no longer used, or by `close`, or at the end of `with`.
///
/// Raises DecodeError: malformed bytes, when they are come to; `.offset` counts from the start of `data`.
/// Raises KeyError, IndexError: no such member. Raises ValueError: it is closed.
///
/// >>> from holdall import bson
/// >>> doc = bson.Document(bson.dumps({"users": [{"name": "Ann"}], "n": 1}))
/// >>> doc["users"][0]["name"], len(doc), "n" in doc, list(doc)
/// ('Ann', 2, True, ['users', 'n'])
#[pyclass(module = "holdall.bson", name = "Document", frozen)]
pub struct Document {
    source: Arc<Source>,
    start: usize,
    end: usize,
    pub(super) array: bool,
    /// Of an instance whose fields are this array: their names, and where all of it stands.
    instance: Option<(Arc<Fields>, Place)>,
    options: Arc<decode::Options>,
    /// The same for members of which the type says nothing.
    untyped: Arc<decode::Options>,
    index: OnceLock<Index>,
}

enum Found {
    Value(Place),
    Missing,
}

impl Document {
    pub fn open(data: &Bound<'_, PyAny>, owned: bool, options: decode::Options) -> PyResult<Document> {
        let view = View::new(data)?;
        let end = view.as_slice().len();
        // The outermost length is checked here, as nothing can be found without it.
        Elements::new(view.as_slice()).map_err(|error| Fault::from(error).into_py(0))?;
        let apart = match options.julia {
            Some(_) => Some(Arc::new(Apart::find(view.as_slice()).map_err(|error| Fault::from(error).into_py(0))?)),
            None => None,
        };
        let source = Source {
            view: Mutex::new(Some(Arc::new(view))),
            data: data.clone().unbind(),
            owned,
            apart,
            fields: Mutex::default(),
        };
        Ok(Document {
            source: Arc::new(source),
            start: 0,
            end,
            array: false,
            instance: None,
            untyped: Arc::new(decode::Options { schema: None, ..options.clone() }),
            options: Arc::new(options),
            index: OnceLock::new(),
        })
    }

    /// Shows the document's bytes.
    pub(super) fn see<T>(&self, look: impl FnOnce(&[u8]) -> PyResult<T>) -> PyResult<T> {
        let view = self.source.view()?;
        look(view.as_slice().get(self.start..self.end).unwrap_or_default())
    }

    pub(super) fn fault(&self, error: holdall_format::Error) -> PyErr {
        Fault::from(error).into_py(self.start)
    }

    fn index(&self, document: &[u8]) -> PyResult<&Index> {
        if let Some(known) = self.index.get() {
            return Ok(known);
        }
        let elements = Elements::new(document).map_err(|error| self.fault(error))?;
        let found = if self.array {
            let offsets = elements.map(|element| element.map(|element| (element.at - element.name.len() - 2) as u64));
            Index::Items(offsets.collect::<Result<_, _>>().map_err(|error| self.fault(error))?)
        } else {
            let places = elements.map(|element| element.map(|element| Place::new(&element)));
            let mut places: Vec<_> = places.collect::<Result<_, _>>().map_err(|error| self.fault(error))?;
            places.retain(|place| !self.is_apart(place.at as usize));
            Index::Members { places, by_name: OnceLock::new() }
        };
        Ok(self.index.get_or_init(|| found))
    }

    /// Whether what stands there is no member, but what members refer to.
    pub(super) fn is_apart(&self, at: usize) -> bool {
        self.start == 0 && self.source.apart.as_ref().is_some_and(|apart| apart.holds(at))
    }

    fn find(&self, document: &[u8], key: &Bound<'_, PyAny>) -> PyResult<Found> {
        match self.index(document)? {
            Index::Items(offsets) => {
                let named = match (&self.instance, key.cast::<PyString>()) {
                    (Some((fields, _)), Ok(name)) => {
                        let name = name.to_str().unwrap_or_default();
                        match fields.0.iter().position(|known| known == name) {
                            Some(at) => Some(at.into_pyobject(key.py())?.into_any()),
                            None => return Ok(Found::Missing),
                        }
                    }
                    _ => None,
                };
                let key = named.as_ref().unwrap_or(key);
                if key.is_instance_of::<PySlice>() || !key.hasattr("__index__")? {
                    return Err(PyTypeError::new_err("the items of an array are had by index"));
                }
                let at: isize = key.call_method0("__index__")?.extract()?;
                let at = if at < 0 { at + offsets.len() as isize } else { at };
                let Some(&offset) = usize::try_from(at).ok().and_then(|at| offsets.get(at)) else {
                    return Ok(Found::Missing);
                };
                let element = Elements::at(document, offset as usize).next();
                match element.transpose().map_err(|error| self.fault(error))? {
                    Some(element) => Ok(Found::Value(Place::new(&element))),
                    None => Ok(Found::Missing),
                }
            }
            Index::Members { places, by_name } => {
                let Ok(key) = key.cast::<PyString>() else {
                    return Err(PyTypeError::new_err("the members of a document are had by name"));
                };
                // Text that is no UTF-8 is no name, but of Julia's.
                let name = match key.to_str() {
                    Ok(name) => name.as_bytes().to_vec(),
                    Err(_) if self.source.apart.is_some() => utf8(key)?,
                    Err(_) => return Ok(Found::Missing),
                };
                let name = &name[..];
                // Of several with one name the last counts, as in a dict.
                let found = if places.len() <= FEW {
                    places.iter().rposition(|place| place.name(document) == name)
                } else {
                    let by_name = by_name.get_or_init(|| {
                        let names = places.iter().enumerate();
                        names.map(|(at, place)| (place.name(document).into(), at as u32)).collect()
                    });
                    by_name.get(name).map(|&at| at as usize)
                };
                Ok(found.map_or(Found::Missing, |at| Found::Value(places[at])))
            }
        }
    }

    /// What a member is by the document's own type; nothing where that says nothing of it.
    fn node_of(&self, key: Option<&[u8]>) -> NodeId {
        let Some(schema) = &self.options.schema else { return ANY };
        schema.member(self.options.node.unwrap_or(schema.root), key)
    }

    pub(super) fn value<'py>(
        &self,
        py: Python<'py>,
        document: &[u8],
        place: Place,
        name: Option<&[u8]>,
    ) -> PyResult<Bound<'py, PyAny>> {
        match self.node_of(name) {
            ANY if matches!(place.tag, tag::DOCUMENT | tag::ARRAY) && !self.is_tagged(place.value(document)) => {
                let start = self.start + place.at as usize;
                let within = self.within(start..start + place.len as usize, place.tag == tag::ARRAY, None);
                Ok(Bound::new(py, within)?.into_any())
            }
            ANY if self.source.apart.is_some() && place.tag == tag::DOCUMENT => {
                match self.instance_at(py, document, place)? {
                    Some(within) => Ok(Bound::new(py, within)?.into_any()),
                    None => self.build(py, document, place, &self.untyped),
                }
            }
            ANY => self.build(py, document, place, &self.untyped),
            node => {
                let options = decode::Options { node: Some(node), ..(*self.options).clone() };
                self.build(py, document, place, &options)
            }
        }
    }

    /// A part of the document, which is read where it is touched.
    fn within(&self, bytes: Range<usize>, array: bool, instance: Option<(Arc<Fields>, Place)>) -> Document {
        Document {
            source: self.source.clone(),
            start: bytes.start,
            end: bytes.end,
            array,
            instance,
            options: self.untyped.clone(),
            untyped: self.untyped.clone(),
            index: OnceLock::new(),
        }
    }

    /// An instance of a program's own type, field by field; nothing for other tagged documents.
    fn instance_at(&self, py: Python<'_>, document: &[u8], place: Place) -> PyResult<Option<Document>> {
        let whole = place.value(document);
        let (Some(parts), Some(apart), Some(julia)) = (julia::instance(whole), &self.source.apart, &self.untyped.julia)
        else {
            return Ok(None);
        };
        let description = &whole[parts.class.clone()];
        let at = self.start + place.at as usize;
        let known = |fields: &Mutex<HashMap<_, Known>>| {
            fields.lock().unwrap_or_else(PoisonError::into_inner).get(description).cloned()
        };
        let fields = match known(&self.source.fields) {
            Some(known) => known,
            None => {
                let view = self.source.view()?;
                let (from, to) = (at + parts.class.start, at + parts.class.end);
                let reader = julia::Reader::of_value(view.as_slice(), apart.clone(), tag::DOCUMENT, from, to);
                let of_type = decode_by(py, reader, &self.untyped, None, 0)?;
                let found = julia.fields_of(of_type.bind(py))?.map(|names| Arc::new(Fields(names)));
                let mut fields = self.source.fields.lock().unwrap_or_else(PoisonError::into_inner);
                fields.insert(description.into(), found.clone());
                found
            }
        };
        let Some(fields) = fields else { return Ok(None) };
        let bytes = at + parts.fields.start..at + parts.fields.end;
        let place = Place { at: at as u64, ..place };
        Ok(Some(self.within(bytes, true, Some((fields, place)))))
    }

    fn build<'py>(
        &self,
        py: Python<'py>,
        document: &[u8],
        place: Place,
        options: &decode::Options,
    ) -> PyResult<Bound<'py, PyAny>> {
        self.build_at(py, document, place, self.start + place.at as usize, options)
    }

    fn build_at<'py>(
        &self,
        py: Python<'py>,
        document: &[u8],
        place: Place,
        at: usize,
        options: &decode::Options,
    ) -> PyResult<Bound<'py, PyAny>> {
        let made = match &self.source.apart {
            None => decode_by(py, Reader::of_value(place.tag, place.value(document)), options, None, at)?,
            Some(apart) => {
                let view = self.source.view()?;
                let end = at + place.len as usize;
                let reader = julia::Reader::of_value(view.as_slice(), apart.clone(), place.tag, at, end);
                decode_by(py, reader, options, None, 0)?
            }
        };
        Ok(made.into_bound(py))
    }

    /// Whether a document stands for something else.
    fn is_tagged(&self, document: &[u8]) -> bool {
        self.source.apart.is_some() && julia::is_tagged(document)
    }

    /// The name of a field, if it is known.
    pub(super) fn field_name(&self, at: &[u8]) -> Option<&str> {
        let (fields, _) = self.instance.as_ref()?;
        Some(fields.0.get(std::str::from_utf8(at).ok()?.parse::<usize>().ok()?)?.as_str())
    }

    /// Whether names need not be UTF-8.
    pub(super) fn has_odd_names(&self) -> bool {
        self.source.apart.is_some()
    }

    /// A part of the bytes, not copied.
    fn part<'py>(&self, py: Python<'py>, start: usize, len: usize) -> PyResult<Bound<'py, PyAny>> {
        self.source.view()?;
        let whole =
            PyMemoryView::from(self.source.data.bind(py))?.call_method0("toreadonly")?.call_method1("cast", ("B",))?;
        whole.get_item(PySlice::new(py, start as isize, (start + len) as isize, 1))
    }
}

#[pymethods]
impl Document {
    #[new]
    #[pyo3(signature = (data, /, *, r#type = None, strict = true, dec_hook = None, limits = None, tz_aware = true))]
    fn new(
        data: &Bound<'_, PyAny>,
        r#type: Option<&Bound<'_, PyAny>>,
        strict: bool,
        dec_hook: Option<&Bound<'_, PyAny>>,
        limits: Option<&Limits>,
        tz_aware: bool,
    ) -> PyResult<Document> {
        Document::open(data, false, super::bson::decoding(r#type, strict, dec_hook, limits, tz_aware)?)
    }

    fn __getitem__<'py>(&self, py: Python<'py>, key: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
        self.see(|document| match self.find(document, key)? {
            Found::Value(place) => self.value(py, document, place, (!self.array).then(|| place.name(document))),
            Found::Missing if self.instance.is_some() && key.is_instance_of::<PyString>() => {
                Err(PyKeyError::new_err(key.clone().unbind()))
            }
            Found::Missing if self.array => Err(PyIndexError::new_err("index out of range")),
            Found::Missing => Err(PyKeyError::new_err(key.clone().unbind())),
        })
    }

    /// The member of that key (or index), or `default` where there is none.
    ///
    /// type: what the member must be, and is built as. With `memoryview`, bytes are a view of the document's own, not copied.
    ///
    /// Raises ValidationError: it is not a `type`. Raises DecodeError: malformed bytes.
    ///
    /// >>> from holdall import bson
    /// >>> doc = bson.Document(bson.dumps({"sizes": [1, 2]}))
    /// >>> doc.get("sizes", type=tuple[int, ...]), doc.get("colour", "green")
    /// ((1, 2), 'green')
    #[pyo3(signature = (key, /, default = None, *, r#type = None))]
    fn get<'py>(
        &self,
        py: Python<'py>,
        key: &Bound<'py, PyAny>,
        default: Option<Bound<'py, PyAny>>,
        r#type: Option<&Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        self.see(|document| {
            let Found::Value(place) = self.find(document, key)? else {
                return Ok(default.unwrap_or_else(|| py.None().into_bound(py)));
            };
            let Some(wanted) = r#type else {
                return self.value(py, document, place, (!self.array).then(|| place.name(document)));
            };
            if wanted.is(py.get_type::<PyMemoryView>()) && place.tag == tag::BINARY {
                let reader = Reader::of_value(place.tag, place.value(document));
                let (at, len) = reader.binary_data().map_err(|error| self.fault(error))?;
                return self.part(py, self.start + place.at as usize + at, len);
            }
            let limits = self.options.limits;
            let given = options::decoding(Some(wanted), None, false, self.options.strict, None, None)?;
            let options = decode::Options {
                dec_hook: self.options.dec_hook.clone(),
                naive: self.options.naive,
                julia: self.options.julia.clone(),
                limits,
                ..given
            };
            self.build(py, document, place, &options)
        })
    }

    fn __contains__(&self, py: Python<'_>, key: &Bound<'_, PyAny>) -> PyResult<bool> {
        if !self.array || self.instance.is_some() {
            // What is no text is no name.
            return self.see(|document| {
                Ok(key.is_instance_of::<PyString>() && matches!(self.find(document, key)?, Found::Value(_)))
            });
        }
        for at in 0..self.__len__()? {
            if self.__getitem__(py, at.into_pyobject(py)?.as_any())?.eq(key)? {
                return Ok(true);
            }
        }
        Ok(false)
    }

    fn __len__(&self) -> PyResult<usize> {
        self.see(|document| {
            Ok(match self.index(document)? {
                Index::Items(offsets) => offsets.len(),
                Index::Members { places, .. } => places.len(),
            })
        })
    }

    /// Over keys; over the values of an array.
    fn __iter__(slf: &Bound<'_, Self>) -> PyResult<Members> {
        let yields = if slf.get().array { Yields::Values } else { Yields::Keys };
        Members::new(slf, yields)
    }

    /// The names of the members, in order.
    fn keys(slf: &Bound<'_, Self>) -> PyResult<Members> {
        Members::new(slf, Yields::Keys)
    }

    /// The members, in order, each as `doc[key]` gives it.
    fn values(slf: &Bound<'_, Self>) -> PyResult<Members> {
        Members::new(slf, Yields::Values)
    }

    /// Names and members, in order.
    fn items(slf: &Bound<'_, Self>) -> PyResult<Members> {
        Members::new(slf, Yields::Items)
    }

    /// The document's own bytes: a view that keeps them alive.
    #[getter]
    fn raw<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        self.part(py, self.start, self.end - self.start)
    }

    /// Builds all of it: a dict (or list), or what the document's type says.
    fn load<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        self.see(|document| {
            let tag = if self.array { tag::ARRAY } else { tag::DOCUMENT };
            match self.instance {
                Some((_, whole)) => self.build_at(py, document, whole, whole.at as usize, &self.options),
                None => {
                    let place = Place { tag, name_len: 0, at: 0, len: document.len() as u64 };
                    self.build(py, document, place, &self.options)
                }
            }
        })
    }

    /// Lets go of the bytes, for this document and all that came from it; views of them stay good.
    fn close(&self, py: Python<'_>) -> PyResult<()> {
        let view = self.source.view.lock().unwrap_or_else(PoisonError::into_inner).take();
        let was_open = view.is_some();
        drop(view);
        if was_open && self.source.owned {
            // Where views of a map are still in use, it closes with the last of them.
            if let Err(error) = self.source.data.bind(py).call_method0("close") {
                if !error.is_instance_of::<pyo3::exceptions::PyBufferError>(py) {
                    return Err(error);
                }
            }
        }
        Ok(())
    }

    fn __enter__<'py>(slf: Bound<'py, Self>) -> Bound<'py, Self> {
        slf
    }

    #[pyo3(signature = (*_args))]
    fn __exit__(&self, py: Python<'_>, _args: &Bound<'_, pyo3::types::PyTuple>) -> PyResult<()> {
        self.close(py)
    }

    fn __repr__(&self) -> String {
        let what = match (&self.instance, self.array) {
            (Some(_), _) => "struct",
            (None, true) => "array",
            (None, false) => "document",
        };
        format!("<holdall.bson.Document: {what} of {} bytes>", self.end - self.start)
    }
}

/// A document in a map that was made for it, which closes with it.
#[pyfunction]
#[pyo3(name = "bson_open", signature = (data, /, *, r#type = None, strict = true, dec_hook = None, limits = None, tz_aware = true))]
pub fn open(
    data: &Bound<'_, PyAny>,
    r#type: Option<&Bound<'_, PyAny>>,
    strict: bool,
    dec_hook: Option<&Bound<'_, PyAny>>,
    limits: Option<&Limits>,
    tz_aware: bool,
) -> PyResult<Document> {
    Document::open(data, true, super::bson::decoding(r#type, strict, dec_hook, limits, tz_aware)?)
}

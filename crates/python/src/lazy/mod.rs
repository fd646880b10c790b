//! Documents that stay bytes: members are found without being read, and built when they are accessed.

mod bson;
mod hold;
mod keys;
mod lisp;
mod members;
mod msgpack;
mod source;
mod tokens;

use crate::cpython::new;
use crate::error::door;
use crate::message::foreign::detected_format;
use crate::message::limits::Limits;
use crate::message::load_args::LoadArgs;
use crate::message::options::Wanted;
use crate::message::with_bytes;
use members::{Members, Yields};
use pyo3::exceptions::{PyArithmeticError, PyIndexError, PyKeyError, PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyEllipsis, PySlice, PySliceMethods, PyString, PyTuple};

pub use bson::open_julia;
pub use lisp::open_lisp;

/// A document in some format: how its members are found and built.
trait Inside: Send + Sync {
    /// The format and the kind of value, for users.
    fn kind(&self) -> String;
    /// Length in bytes.
    fn size(&self) -> usize;
    /// Whether members are accessed by index.
    fn is_sequence(&self) -> bool;
    /// Tells it the Python object that it belongs to, which references to it then return.
    fn meet(&self, _document: &Bound<'_, Document>) -> PyResult<()> {
        Ok(())
    }
    /// Whether members have names; in a sequence, those are the names of fields.
    fn has_names(&self) -> bool;
    fn len(&self, py: Python<'_>) -> PyResult<usize>;
    fn find(&self, key: &Bound<'_, PyAny>) -> PyResult<Option<Member>>;
    /// The place of the first member.
    fn start(&self) -> PyResult<Cursor>;
    /// The member at a place, and the place of the next one.
    fn next(&self, py: Python<'_>, at: Cursor) -> PyResult<Option<(Member, Cursor)>>;
    fn key<'py>(&self, py: Python<'py>, member: &Member) -> PyResult<Bound<'py, PyAny>>;
    /// What `doc[key]` returns.
    fn value<'py>(&self, py: Python<'py>, member: &Member) -> PyResult<Bound<'py, PyAny>>;
    /// The member as a value of a type.
    fn value_as<'py>(
        &self,
        py: Python<'py>,
        member: &Member,
        wanted: &Bound<'py, PyAny>,
    ) -> PyResult<Bound<'py, PyAny>>;
    fn load<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>>;
    fn raw<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>>;
    fn close(&self, py: Python<'_>) -> PyResult<()>;
}

/// A member, with what its document's format needs to find it again.
#[derive(Debug, Clone, Copy, Default)]
struct Member {
    /// In BSON: the byte of the type.
    tag: u8,
    /// In BSON: the length of the name, which is right before the value.
    name_len: u32,
    /// Its position among the members, if known.
    index: usize,
    /// The offset of its key, if it has one of its own.
    key: usize,
    /// The offset of its value, and the length if known.
    at: usize,
    len: usize,
}

/// A place between members.
#[derive(Debug, Clone, Copy)]
struct Cursor {
    index: usize,
    at: usize,
}

/// A document (or a list, or an instance in one) whose members are read when you access them.
///
/// data: bytes-like; it is kept, and must not change meanwhile. `holdall.open`, and `open` in `holdall.bson`, `.msgpack`, `.julia`
/// and `.lisp`, map files.
/// format: "bson", "julia", "lisp", "msgpack" or "hold"; None detects it by the structure of the bytes, not by their content, so
///     Julia's documents come as BSON.
/// type: an annotation of the whole; `doc[key]` builds a member by the part that describes it. Without it, members that
/// are dicts, lists, tuples or instances come as Documents themselves, all others as `loads` returns them. types,
/// trust, strict, dec_hook, resolver, limits: as for `loads`. tz_aware: as for `holdall.bson.loads`.
///
/// Use `doc[key]` (or `doc[index]` in a list, whose slices give lists of members), `get`, `in`, `len`, iteration over
/// keys (or a list's values), `keys`, `values`, `items`. `raw` is a view of the bytes, and `load()` builds the whole.
/// What you don't access is not checked. In hold, an object that several members share is one object, whichever you ask
/// for first; its Document, too, is one while you hold it. A Document closes when it is no longer used, with `close`,
/// or at the end of `with`.
///
/// Raises DecodeError: malformed bytes, on access; `.offset` counts from the start of `data`. For bytes of another or
/// an unknown format, at once.
/// Raises KeyError, IndexError: no such member. Raises ValueError: it is closed.
///
/// >>> from holdall import bson
/// >>> doc = Document(bson.dumps({"users": [{"name": "Ann"}], "n": 1}))
/// >>> doc["users"][0]["name"], len(doc), "n" in doc, list(doc)
/// ('Ann', 2, True, ['users', 'n'])
/// >>> Document(holdall.dumps({"sizes": [1, 2, 3]}))["sizes"][-2:]
/// [2, 3]
#[pyclass(module = "holdall", frozen, weakref)]
pub struct Document {
    inside: Box<dyn Inside>,
}

impl Document {
    fn new(inside: impl Inside + 'static) -> Document {
        Document { inside: Box::new(inside) }
    }

    fn missing(&self, key: &Bound<'_, PyAny>) -> PyErr {
        if self.inside.is_sequence() && !key.is_instance_of::<PyString>() {
            return PyIndexError::new_err("index out of range");
        }
        PyKeyError::new_err(key.clone().unbind())
    }
}

#[pymethods]
impl Document {
    #[new]
    #[pyo3(signature = (data, /, *, format = None, r#type = Wanted::ANY, types = None, trust = false, strict = true, dec_hook = None, resolver = None, limits = None, tz_aware = true), text_signature = "(data, /, *, format=None, type='Any', types=(), trust=False, strict=True, dec_hook=None, resolver=None, limits=None, tz_aware=True)")]
    #[allow(clippy::too_many_arguments)]
    fn of_data(
        data: &Bound<'_, PyAny>,
        format: Option<&str>,
        r#type: Wanted<'_>,
        types: Option<&Bound<'_, PyAny>>,
        trust: bool,
        strict: bool,
        dec_hook: Option<&Bound<'_, PyAny>>,
        resolver: Option<&Bound<'_, PyAny>>,
        limits: Option<&Limits>,
        tz_aware: bool,
    ) -> PyResult<Document> {
        door(|| {
            let format = match format {
                Some(format) => format,
                None => with_bytes(data, |bytes| detected_format(data.py(), bytes))?,
            };
            let args = LoadArgs { wanted: &r#type, types, trust, strict, dec_hook, resolver, limits };
            match format {
                "bson" => bson::open(data, false, args.bson(tz_aware)?),
                "msgpack" => msgpack::open(data, false, args.msgpack(None)?),
                "hold" => hold::open(data, false, false, None, args.hold()?),
                "julia" => {
                    let (options, julia) = args.julia(data.py())?;
                    open_julia(data, false, options, julia)
                }
                "lisp" => {
                    let (options, lisp) = args.lisp(data.py())?;
                    open_lisp(data, false, options, lisp)
                }
                _ => Err(PyValueError::new_err(
                    "format: expected \"bson\", \"julia\", \"lisp\", \"msgpack\" or \"hold\"",
                )),
            }
        })
    }

    fn __getitem__<'py>(slf: &Bound<'py, Self>, key: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
        door(|| {
            let (py, inside) = (slf.py(), &slf.get().inside);
            inside.meet(slf)?;
            if let (Ok(slice), true) = (key.cast::<PySlice>(), inside.is_sequence()) {
                let range = slice.indices(inside.len(py)? as isize)?;
                let members = new::list(py)?;
                let mut at = range.start;
                for _ in 0..range.slicelength {
                    members.append(Document::__getitem__(slf, at.into_pyobject(py)?.as_any())?)?;
                    at += range.step;
                }
                return Ok(members.into_any());
            }
            match inside.find(key)? {
                Some(member) => inside.value(py, &member),
                None => Err(slf.get().missing(key)),
            }
        })
    }

    /// The member with that key (or index), or `default` if there is none.
    ///
    /// type: what the member must be, and is built as; without it, it comes as from `doc[key]`. With `memoryview`,
    /// bytes are a view of the document's own, not copied.
    ///
    /// Raises ValidationError: it is not a `type`. Raises DecodeError: malformed bytes.
    ///
    /// >>> from holdall import bson
    /// >>> doc = bson.Document(bson.dumps({"sizes": [1, 2]}))
    /// >>> doc.get("sizes", type=tuple[int, ...]), doc.get("colour", "green")
    /// ((1, 2), 'green')
    #[pyo3(signature = (key, /, default = None, *, r#type = Wanted::ANY), text_signature = "($self, key, /, default=None, *, type=...)")]
    fn get<'py>(
        slf: &Bound<'py, Self>,
        key: &Bound<'py, PyAny>,
        default: Option<Bound<'py, PyAny>>,
        r#type: Wanted<'py>,
    ) -> PyResult<Bound<'py, PyAny>> {
        door(|| {
            let (py, inside) = (slf.py(), &slf.get().inside);
            inside.meet(slf)?;
            // Leaving `type` out differs from Any, which builds the whole member; the signature shows `...`.
            let wanted = r#type.0.filter(|wanted| !wanted.is(PyEllipsis::get(py)));
            match (inside.find(key)?, wanted) {
                (None, _) => Ok(default.unwrap_or_else(|| py.None().into_bound(py))),
                (Some(member), None) => inside.value(py, &member),
                (Some(member), Some(wanted)) => inside.value_as(py, &member, &wanted),
            }
        })
    }

    fn __contains__(&self, py: Python<'_>, key: &Bound<'_, PyAny>) -> PyResult<bool> {
        door(|| {
            if self.inside.has_names() {
                return match self.inside.find(key) {
                    Ok(found) => {
                        Ok(found.is_some() && (!self.inside.is_sequence() || key.is_instance_of::<PyString>()))
                    }
                    // An unhashable object can't be a key.
                    Err(error) if error.is_instance_of::<PyTypeError>(py) => Ok(false),
                    Err(error) => Err(error),
                };
            }
            let mut at = self.inside.start()?;
            while let Some((member, next)) = self.inside.next(py, at)? {
                if equals(&self.inside.value(py, &member)?, key)? {
                    return Ok(true);
                }
                at = next;
            }
            Ok(false)
        })
    }

    fn __len__(&self, py: Python<'_>) -> PyResult<usize> {
        door(|| self.inside.len(py))
    }

    /// Over keys; over the values of a list.
    fn __iter__(slf: &Bound<'_, Self>) -> PyResult<Members> {
        door(|| {
            let sequence = slf.get().inside.is_sequence();
            Members::new(slf, if sequence { Yields::Values } else { Yields::Keys })
        })
    }

    /// The keys of the members, in order: names for an instance; for a list its indices, which are text in BSON.
    fn keys(slf: &Bound<'_, Self>) -> PyResult<Members> {
        door(|| Members::new(slf, Yields::Keys))
    }

    /// The members, in order, each as from `doc[key]`.
    fn values(slf: &Bound<'_, Self>) -> PyResult<Members> {
        door(|| Members::new(slf, Yields::Values))
    }

    /// Keys and members, in order.
    fn items(slf: &Bound<'_, Self>) -> PyResult<Members> {
        door(|| Members::new(slf, Yields::Items))
    }

    /// The document's own bytes: a view that keeps them alive.
    #[getter]
    fn raw<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        door(|| self.inside.raw(py))
    }

    /// Build the whole: a dict (or list), or what the document's type says.
    fn load<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        door(|| self.inside.load(py))
    }

    /// Release the bytes, for this document and all that came from it; views of them stay valid.
    fn close(&self, py: Python<'_>) -> PyResult<()> {
        door(|| self.inside.close(py))
    }

    fn __enter__<'py>(slf: Bound<'py, Self>) -> Bound<'py, Self> {
        slf
    }

    #[pyo3(signature = (*_args))]
    fn __exit__(&self, py: Python<'_>, _args: &Bound<'_, PyTuple>) -> PyResult<()> {
        door(|| self.close(py))
    }

    fn __repr__(&self) -> String {
        format!("<holdall.Document: {} of {} bytes>", self.inside.kind(), self.inside.size())
    }
}

/// Whether a value in a document equals what is looked for. A value that refuses comparison by an error, such as a
/// signalling NaN, doesn't.
fn equals(found: &Bound<'_, PyAny>, wanted: &Bound<'_, PyAny>) -> PyResult<bool> {
    match found.eq(wanted) {
        Err(error) if error.is_instance_of::<PyArithmeticError>(found.py()) => Ok(false),
        answer => answer,
    }
}

/// A document of bytes. `owned`: the bytes are a map made for the document, which closes it.
#[pyfunction]
#[pyo3(name = "open_document", signature = (data, format, /, *, owned = true, r#type = Wanted::ANY, types = None, trust = false, strict = true, dec_hook = None, resolver = None, ext_hook = None, limits = None, tz_aware = true, writable = false, remote = None))]
#[allow(clippy::too_many_arguments)]
pub fn open(
    data: &Bound<'_, PyAny>,
    format: &str,
    owned: bool,
    r#type: Wanted<'_>,
    types: Option<&Bound<'_, PyAny>>,
    trust: bool,
    strict: bool,
    dec_hook: Option<&Bound<'_, PyAny>>,
    resolver: Option<&Bound<'_, PyAny>>,
    ext_hook: Option<&Bound<'_, PyAny>>,
    limits: Option<&Limits>,
    tz_aware: bool,
    writable: bool,
    remote: Option<&Bound<'_, PyAny>>,
) -> PyResult<Document> {
    let args = LoadArgs { wanted: &r#type, types, trust, strict, dec_hook, resolver, limits };
    door(|| match format {
        "bson" => bson::open(data, owned, args.bson(tz_aware)?),
        "msgpack" => msgpack::open(data, owned, args.msgpack(ext_hook)?),
        _ => hold::open(data, owned, writable, remote, args.hold()?),
    })
}

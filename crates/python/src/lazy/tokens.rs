//! Documents of formats whose containers say how many values they hold but not where these are. Values are skipped to
//! get from one to the next, unless an index says where it is.

use crate::cpython::{new, text, Owned, View};
use crate::decode;
use crate::error::{Asked, Fault};
use crate::lazy::source::Source;
use crate::lazy::{Cursor, Document, Inside, Member};
use crate::memory::{HashMap, Vec};
use crate::message::load_args::LoadArgs;
use crate::message::options::Wanted;
use crate::schema::{NodeId, ANY};
use holdall_format::hold::index::Search;
use holdall_format::model::{Bytes, Ints, Text};
use holdall_format::{Error, ErrorKind, Result, Token};
use pyo3::exceptions::{PyKeyError, PyTypeError};
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyFloat, PyInt, PyMemoryView, PyString, PyWeakrefMethods, PyWeakrefReference};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

/// Dicts with up to this many items are searched key by key.
pub(crate) const FEW: usize = 16;

/// Where the index says nothing, a position is remembered at intervals of this many bytes.
const SPAN: usize = 1 << 12;

/// The names of fields, or of keys that dicts share.
pub struct Names(pub Vec<Py<PyString>>);

/// What is known about a value without building it.
#[derive(Clone)]
pub enum Container {
    /// Built as a whole.
    Leaf,
    List {
        len: usize,
        first: usize,
    },
    /// A list whose items are in a run.
    Run {
        len: usize,
        items: Items,
    },
    /// Alternating keys and values.
    Table {
        len: usize,
        first: usize,
    },
    /// Values by position. `class`: they are the fields of an instance.
    Fields {
        names: Arc<Names>,
        first: usize,
        class: bool,
    },
}

/// How to get an item of a run.
#[derive(Clone, Copy)]
pub enum Items {
    /// From the run's token, which is read quickly.
    Token,
    /// By its position in the block. The whole block was checked once; reading its token would check it every time.
    Bools,
    Texts,
}

/// What to build: the value at an offset, or the object with an id.
#[derive(Clone, Copy)]
pub enum Target {
    At(usize),
    Number(u64),
}

/// A format, and the message that a document and all documents within it share.
pub trait TokenFormat: Send + Sync + Sized + 'static {
    const NAME: &'static str;

    fn source(&self) -> &Source;
    /// The exception that an error of these methods stands for, which know none.
    fn raised(&self) -> Option<PyErr> {
        None
    }
    /// The message, which may be within the bytes of `view`, and its offset in `view`.
    fn message<'v>(&'v self, view: &'v View) -> (&'v [u8], usize);
    /// The offset of the value at `at`, after following a reference, and its object id if it has one.
    fn resolve(&self, message: &[u8], at: usize) -> Result<(usize, Option<u64>)>;
    /// The token of the value at `at`.
    fn token<'i>(&'i self, message: &'i [u8], at: usize) -> Result<Token<'i>>;
    fn shape(&self, py: Python<'_>, message: &[u8], at: usize) -> PyResult<Container>;
    /// The offset after the value at `at`.
    fn skip(&self, message: &[u8], at: usize) -> Result<usize>;
    /// The offset of a container's value, if an index says it.
    fn value(&self, message: &[u8], container: usize, first: usize, value: usize) -> Option<Result<usize>>;
    /// The offsets at which a key may be, if an index says them.
    fn search(&self, view: &View, message: &[u8], container: usize, key: Text<'_>) -> Result<Option<Search>>;
    /// For a run whose items are found by position: their number, and the offset of its block.
    fn run(&self, _message: &[u8], _at: usize) -> Option<(usize, usize)> {
        None
    }
    /// Whether an index says that all keys of a dict are text.
    fn has_text_keys(&self, _container: usize) -> bool {
        false
    }
    fn build(&self, py: Python<'_>, view: &View, target: Target, options: &decode::Options) -> PyResult<Py<PyAny>>;
}

/// The documents of objects with an id, while somebody holds them.
#[derive(Default)]
struct Documents(Mutex<HashMap<u64, Py<PyWeakrefReference>>>);

impl Documents {
    fn get<'py>(&self, py: Python<'py>, number: u64) -> Option<Bound<'py, PyAny>> {
        let known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        known.get(&number).and_then(|known| known.bind(py).upgrade())
    }

    fn keep(&self, number: u64, document: &Bound<'_, Document>) -> PyResult<()> {
        let reference = PyWeakrefReference::new(document.as_any())?.unbind();
        self.0.lock().unwrap_or_else(PoisonError::into_inner).insert(number, reference);
        Ok(())
    }
}

struct Shared<F> {
    form: F,
    documents: Documents,
}

/// A value of a message.
pub(crate) struct Part<F> {
    shared: Arc<Shared<F>>,
    pub(crate) at: usize,
    number: Option<u64>,
    shape: Container,
    options: Arc<decode::Options>,
    /// The options for members that the type says nothing about.
    pub(crate) untyped: Arc<decode::Options>,
    /// Found without an index: positions of values, and keys by their hash. For a run of texts: the offset of every
    /// 16th one.
    points: OnceLock<Vec<(usize, usize)>>,
    pub(crate) keys: OnceLock<HashMap<u64, Vec<Member>>>,
    /// Whether the Python document has been registered for references to it.
    met: OnceLock<()>,
    /// For a run that the type says something about: the whole list, built once.
    whole: OnceLock<Py<PyAny>>,
}

/// The document of a whole message, whose outermost value is at `at`.
pub fn open<F: TokenFormat>(
    py: Python<'_>,
    form: F,
    at: usize,
    number: Option<u64>,
    options: decode::Options,
) -> PyResult<Document> {
    let view = form.source().view()?;
    let (message, _) = form.message(&view);
    let shape = form.shape(py, message, at)?;
    let part = Part {
        shared: Arc::new(Shared { form, documents: Documents::default() }),
        at,
        number,
        shape,
        untyped: Arc::new(decode::Options { schema: None, node: None, ..options.clone() }),
        options: Arc::new(options),
        points: OnceLock::new(),
        keys: OnceLock::new(),
        met: OnceLock::new(),
        whole: OnceLock::new(),
    };
    Ok(Document::new(part))
}

impl<F: TokenFormat> Part<F> {
    pub(crate) fn form(&self) -> &F {
        &self.shared.form
    }

    fn see<T>(&self, look: impl FnOnce(&View, &[u8]) -> PyResult<T>) -> PyResult<T> {
        let view = self.form().source().view()?;
        let (message, _) = self.form().message(&view);
        look(&view, message)
    }

    pub(crate) fn fault(&self, view: &View, error: Error) -> PyErr {
        self.form().raised().unwrap_or_else(|| Fault::from(error).into_py(self.form().message(view).1))
    }

    /// How many values it contains, counting keys.
    fn values(&self) -> usize {
        match &self.shape {
            Container::Leaf => 0,
            Container::List { len, .. } | Container::Run { len, .. } => *len,
            Container::Table { len, .. } => 2 * len,
            Container::Fields { names, .. } => names.0.len(),
        }
    }

    pub(crate) fn first(&self) -> usize {
        match self.shape {
            Container::List { first, .. } | Container::Table { first, .. } | Container::Fields { first, .. } => first,
            Container::Leaf | Container::Run { .. } => self.at,
        }
    }

    /// The offset of one of its values.
    fn place(&self, view: &View, message: &[u8], value: usize) -> PyResult<usize> {
        let form = self.form();
        let fault = |error| self.fault(view, error);
        if let Some(found) = form.value(message, self.at, self.first(), value) {
            return found.map_err(fault);
        }
        let points = match self.points.get() {
            Some(points) => points,
            None => {
                let (mut points, mut at) = (Vec::new(), self.first());
                for value in 0..self.values() {
                    if points.last().is_none_or(|&(_, last)| at - last >= SPAN) {
                        points.push((value, at));
                    }
                    at = form.skip(message, at).map_err(fault)?;
                }
                self.points.get_or_init(|| points)
            }
        };
        let found = points.partition_point(|&(known, _)| known <= value).checked_sub(1);
        let (known, mut at) = found.and_then(|found| points.get(found)).copied().unwrap_or((0, self.first()));
        for _ in known..value {
            at = form.skip(message, at).map_err(fault)?;
        }
        Ok(at)
    }

    /// What the document's type says about a member; [`ANY`] if it says nothing.
    fn node_of(&self, key: Option<&Bound<'_, PyAny>>) -> PyResult<NodeId> {
        let Some(schema) = &self.options.schema else { return Ok(ANY) };
        let name = match key.map(|key| key.extract::<String>().if_taken()).transpose()? {
            None => None,
            Some(Some(name)) => Some(name),
            Some(None) => return Ok(ANY),
        };
        Ok(schema.member(self.options.node.unwrap_or(schema.root), name.as_deref().map(str::as_bytes)))
    }

    fn build<'py>(
        &self,
        py: Python<'py>,
        view: &View,
        message: &[u8],
        at: usize,
        options: &decode::Options,
    ) -> PyResult<Bound<'py, PyAny>> {
        let (_, number) = self.form().resolve(message, at).map_err(|error| self.fault(view, error))?;
        let target = number.map_or(Target::At(at), Target::Number);
        Ok(self.form().build(py, view, target, options)?.into_bound(py))
    }

    /// An item of a run. The bytes may have changed since the document was opened: others can write to a file or to a
    /// bytearray.
    fn item<'py>(&self, py: Python<'py>, view: &View, message: &[u8], index: usize) -> PyResult<Bound<'py, PyAny>> {
        let changed = || {
            let why = "the bytes of the document have changed since it was opened";
            self.fault(view, Error::new(ErrorKind::Malformed { why }, self.at))
        };
        if let Container::Run { items: items @ (Items::Bools | Items::Texts), .. } = self.shape {
            let run = self.form().run(message, self.at).filter(|&(len, _)| index < len);
            let (len, block) = run.ok_or_else(changed)?;
            if let Items::Bools = items {
                let item = message.get(block + index).ok_or_else(changed)?;
                return Ok(PyBool::new(py, *item != 0).to_owned().into_any());
            }
            let text = self.text(message, block, len, index).filter(|text| text.is_ascii());
            return string(py, Bytes::Ascii(text.ok_or_else(changed)?));
        }
        let token = self.form().token(message, self.at).map_err(|error| self.fault(view, error))?;
        let int = |item: i64| PyInt::new(py, item).into_any();
        let item = match token {
            Token::Ints(_, Ints::I8(run)) => run.get(index).map(|&item| int(i64::from(item as i8))),
            Token::Ints(_, Ints::I16(run)) => run.get(index).map(|&item| int(i64::from(i16::from_le_bytes(item)))),
            Token::Ints(_, Ints::I32(run)) => run.get(index).map(|&item| int(i64::from(i32::from_le_bytes(item)))),
            Token::Ints(_, Ints::I64(run)) => run.get(index).map(|&item| int(i64::from_le_bytes(item))),
            Token::Floats(_, run) => run.get(index).map(|&item| PyFloat::new(py, f64::from_le_bytes(item)).into_any()),
            _ => None,
        };
        item.ok_or_else(changed)
    }

    /// A text of a run, whose table of lengths begins at `at` and takes `len` bytes.
    fn text<'m>(&self, message: &'m [u8], at: usize, len: usize, index: usize) -> Option<&'m [u8]> {
        let lengths = message.get(at..at.checked_add(len)?)?;
        let points = self.points.get_or_init(|| {
            let mut from = at + len;
            let blocks = lengths.chunks(FEW).enumerate();
            blocks
                .map(|(block, lengths)| {
                    let first = from;
                    from += lengths.iter().map(|&len| usize::from(len)).sum::<usize>();
                    (block * FEW, first)
                })
                .collect()
        });
        let &(first, from) = points.get(index / FEW)?;
        let before: usize = lengths.get(first..index)?.iter().map(|&len| usize::from(len)).sum();
        message.get(from + before..from + before + usize::from(*lengths.get(index)?))
    }
}

pub fn string<'py>(py: Python<'py>, bytes: Bytes<'_>) -> PyResult<Bound<'py, PyAny>> {
    // SAFETY: `py` proves that the GIL is held; `made` is a reference of ours, which the `Bound` takes over.
    unsafe {
        match text::from_bytes(bytes) {
            Ok(made) => Ok(Bound::from_owned_ptr(py, made.into_raw())),
            Err(text::Failure::Raised) => Err(PyErr::fetch(py)),
            Err(text::Failure::BadUtf8) => Err(Fault::from(Error::new(ErrorKind::BadUtf8, 0)).into_py(0)),
        }
    }
}

impl<F: TokenFormat> Inside for Part<F> {
    fn kind(&self) -> String {
        let what = match self.shape {
            Container::Leaf => "value",
            Container::List { .. } | Container::Run { .. } => "list",
            Container::Table { .. } | Container::Fields { class: false, .. } => "dict",
            Container::Fields { class: true, .. } => "instance",
        };
        format!("{} {what}", F::NAME)
    }

    fn size(&self) -> usize {
        self.see(|_, message| Ok(self.form().skip(message, self.at).map_or(0, |end| end - self.at))).unwrap_or(0)
    }

    fn is_sequence(&self) -> bool {
        matches!(self.shape, Container::List { .. } | Container::Run { .. })
    }

    fn has_names(&self) -> bool {
        !self.is_sequence()
    }

    fn meet(&self, document: &Bound<'_, Document>) -> PyResult<()> {
        match self.number {
            Some(number) if self.met.set(()).is_ok() => self.shared.documents.keep(number, document),
            _ => Ok(()),
        }
    }

    fn len(&self, _py: Python<'_>) -> PyResult<usize> {
        self.form().source().view()?;
        match &self.shape {
            Container::Leaf => Err(PyTypeError::new_err("the document is a single value: load() gives it")),
            Container::Table { len, .. } => Ok(*len),
            _ => Ok(self.values()),
        }
    }

    fn find(&self, key: &Bound<'_, PyAny>) -> PyResult<Option<Member>> {
        self.see(|view, message| {
            let place = |value: usize| self.place(view, message, value);
            match &self.shape {
                Container::Leaf => Err(PyTypeError::new_err("the document is a single value: load() gives it")),
                Container::List { len, .. } | Container::Run { len, .. } => {
                    if !key.hasattr("__index__")? {
                        return Err(PyTypeError::new_err("the items of a list are had by index"));
                    }
                    let index: isize = key.call_method0("__index__")?.extract()?;
                    let index = if index < 0 { index + *len as isize } else { index };
                    let Some(index) = usize::try_from(index).ok().filter(|index| index < len) else { return Ok(None) };
                    let at = if matches!(self.shape, Container::Run { .. }) { self.at } else { place(index)? };
                    Ok(Some(Member { index, at, ..Member::default() }))
                }
                Container::Table { len, .. } => self.find_key(view, message, *len, key),
                Container::Fields { names, .. } => {
                    key.hash()?;
                    for (index, name) in names.0.iter().enumerate() {
                        if name.bind(key.py()).as_any().eq(key)? {
                            return Ok(Some(Member { index, at: place(index)?, ..Member::default() }));
                        }
                    }
                    Ok(None)
                }
            }
        })
    }

    fn start(&self) -> PyResult<Cursor> {
        self.form().source().view()?;
        match self.shape {
            Container::Leaf => Err(PyTypeError::new_err("the document is a single value: load() gives it")),
            _ => Ok(Cursor { index: 0, at: self.first() }),
        }
    }

    fn next(&self, py: Python<'_>, at: Cursor) -> PyResult<Option<(Member, Cursor)>> {
        if at.index >= self.len(py)? {
            return Ok(None);
        }
        self.see(|view, message| {
            let skip = |at| self.form().skip(message, at).map_err(|error| self.fault(view, error));
            let mut member = Member { index: at.index, at: at.at, ..Member::default() };
            let next = match &self.shape {
                Container::Run { .. } => at.at,
                Container::Table { .. } => {
                    (member.key, member.at) = (at.at, skip(at.at)?);
                    skip(member.at)?
                }
                _ => skip(at.at)?,
            };
            Ok(Some((member, Cursor { index: at.index + 1, at: next })))
        })
    }

    fn key<'py>(&self, py: Python<'py>, member: &Member) -> PyResult<Bound<'py, PyAny>> {
        match &self.shape {
            Container::Fields { names, .. } => match names.0.get(member.index) {
                Some(name) => Ok(name.bind(py).clone().into_any()),
                None => Err(PyKeyError::new_err("no such field")),
            },
            Container::Table { .. } => {
                self.see(|view, message| self.build(py, view, message, member.key, &self.untyped))
            }
            _ => Ok(member.index.into_pyobject(py)?.into_any()),
        }
    }

    fn value<'py>(&self, py: Python<'py>, member: &Member) -> PyResult<Bound<'py, PyAny>> {
        self.see(|view, message| {
            let key = match (&self.options.schema, self.is_sequence()) {
                (Some(_), false) => Some(self.key(py, member)?),
                _ => None,
            };
            let node = self.node_of(key.as_ref())?;
            if matches!(self.shape, Container::Run { .. }) {
                if node == ANY {
                    return self.item(py, view, message, member.index);
                }
                let whole = match self.whole.get() {
                    Some(whole) => whole,
                    None => {
                        let made = self.load(py)?.unbind();
                        self.whole.get_or_init(|| made)
                    }
                };
                return whole.bind(py).get_item(member.index);
            }
            if node != ANY {
                let options = decode::Options { node: Some(node), ..(*self.options).clone() };
                return self.build(py, view, message, member.at, &options);
            }
            let fault = |error| self.fault(view, error);
            let (at, number) = self.form().resolve(message, member.at).map_err(fault)?;
            if let Some(known) = number.and_then(|number| self.shared.documents.get(py, number)) {
                return Ok(known);
            }
            let shape = self.form().shape(py, message, at)?;
            if let Container::Leaf = shape {
                return self.build(py, view, message, member.at, &self.untyped);
            }
            let part = Part {
                shared: self.shared.clone(),
                at,
                number,
                shape,
                options: self.untyped.clone(),
                untyped: self.untyped.clone(),
                points: OnceLock::new(),
                keys: OnceLock::new(),
                met: OnceLock::new(),
                whole: OnceLock::new(),
            };
            let document = Bound::new(py, Document::new(part))?;
            document.get().inside.meet(&document)?;
            Ok(document.into_any())
        })
    }

    fn value_as<'py>(
        &self,
        py: Python<'py>,
        member: &Member,
        wanted: &Bound<'py, PyAny>,
    ) -> PyResult<Bound<'py, PyAny>> {
        self.see(|view, message| {
            let limits = self.options.limits;
            let wanted_type = Wanted(Some(wanted.clone()));
            let given = LoadArgs { wanted: &wanted_type, strict: self.options.strict, ..LoadArgs::default() }.hold()?;
            let options = decode::Options {
                types: self.options.types.clone(),
                records: self.options.records,
                trust: self.options.trust,
                dec_hook: self.options.dec_hook.clone(),
                resolver: self.options.resolver.clone(),
                msgpack: self.options.msgpack.clone(),
                limits,
                ..given
            };
            if let Container::Run { .. } = self.shape {
                let item = self.item(py, view, message, member.index)?;
                return crate::io::files::converted(&item, &options);
            }
            let fault = |error| self.fault(view, error);
            if wanted.is(py.get_type::<PyMemoryView>()) {
                let (at, _) = self.form().resolve(message, member.at).map_err(fault)?;
                if let Token::Bytes(bytes) | Token::ByteArray(bytes) = self.form().token(message, at).map_err(fault)? {
                    let start = (bytes.as_ptr() as usize).wrapping_sub(view.as_slice().as_ptr() as usize);
                    if start < view.len() {
                        return self.form().source().part(py, start, bytes.len());
                    }
                }
            }
            self.build(py, view, message, member.at, &options)
        })
    }

    fn load<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        let view = self.form().source().view()?;
        let target = self.number.map_or(Target::At(self.at), Target::Number);
        Ok(self.form().build(py, &view, target, &self.options)?.into_bound(py))
    }

    fn raw<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        self.see(|view, message| {
            let end = self.form().skip(message, self.at).map_err(|error| self.fault(view, error))?;
            let (_, base) = self.form().message(view);
            let start = (message.as_ptr() as usize).wrapping_sub(view.as_slice().as_ptr() as usize);
            if start < view.len() {
                return self.form().source().part(py, base + self.at, end - self.at);
            }
            // Decompressed: the caller's data don't contain these bytes.
            let part = message.get(self.at..end).unwrap_or_default();
            Ok(PyMemoryView::from(new::bytes(py, part)?.as_any())?.into_any())
        })
    }

    fn close(&self, py: Python<'_>) -> PyResult<()> {
        self.form().source().close(py)
    }
}

/// Hands an object to Python.
pub fn given(py: Python<'_>, object: Owned) -> Py<PyAny> {
    // SAFETY: `object` is a reference of ours, which the `Bound` takes over.
    unsafe { Bound::from_owned_ptr(py, object.into_raw()) }.unbind()
}

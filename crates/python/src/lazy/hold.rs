//! Documents of hold: files with an index, and messages for which one is made.

use crate::budget::Shares;
use crate::cpython::View;
use crate::decode::dialect::Native;
use crate::decode::{self, Decoder, Kept};
use crate::error::{DecodeError, Fault};
use crate::io::files::Mapped;
use crate::lazy::source::Source;
use crate::lazy::tokens;
use crate::lazy::tokens::{given, Container, Items, Names, Target, TokenFormat};
use crate::lazy::Document;
use crate::memory::{HashMap, Vec};
use crate::message::foreign::named;
use crate::types::buffer::Lender;
use holdall_format::detect::Format;
use holdall_format::hold::file::{self, Parts};
use holdall_format::hold::index::{Index, Search};
use holdall_format::hold::{self, frame, tag};
use holdall_format::model::{self, Name, Reader as _, ShapeKind, ShapeReader as _, Text};
use holdall_format::{Result, Token};
use pyo3::prelude::*;
use pyo3::types::PyString;
use std::ops::Range;
use std::sync::{Arc, Mutex, PoisonError};

struct Hold {
    source: Source,
    parts: Parts,
    index: Index,
    message: Message,
    writable: bool,
    trusted: bool,
    /// What was built already, for everything that refers to it.
    kept: Mutex<Kept>,
    shares: Mutex<Shares>,
    names: Mutex<HashMap<usize, Arc<Names>>>,
}

enum Message {
    /// In the data as they are.
    Stored(Range<usize>),
    Unpacked(Vec<u8>),
}

impl Hold {
    /// The names of a shape as Python strings.
    fn names(&self, py: Python<'_>, message: &[u8], shape: &model::Shape<'_>) -> PyResult<Arc<Names>> {
        let known = || self.names.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(names) = known().get(&shape.at) {
            return Ok(names.clone());
        }
        let raise = |error| Fault::from(error).into_py(0);
        let mut names = Vec::with_capacity(shape.fields);
        let is_class = shape.kind != ShapeKind::Dict;
        for name in hold::Reader::names(shape).skip(usize::from(is_class)) {
            let bytes = match name.map_err(raise)? {
                Name::Text(bytes) => bytes,
                Name::Reference(number) => {
                    let at = self.index.place_of(message, number).map_err(raise)?;
                    match self.token(message, at).map_err(raise)? {
                        Token::Text(bytes) => bytes,
                        _ => {
                            let kind = holdall_format::ErrorKind::BadName;
                            return Err(raise(holdall_format::Error::new(kind, shape.at)));
                        }
                    }
                }
            };
            names.push(tokens::string(py, bytes)?.cast_into::<PyString>()?.unbind());
        }
        if names.len() != shape.fields {
            return Err(raise(holdall_format::Error::new(holdall_format::ErrorKind::BadName, shape.at)));
        }
        let names = Arc::new(Names(names));
        known().insert(shape.at, names.clone());
        Ok(names)
    }

    fn once(&self, py: Python<'_>, view: &View, target: Target, options: &decode::Options) -> PyResult<Py<PyAny>> {
        let (message, base) = self.message(view);
        let raise = |error: holdall_format::Error| Fault::from(error.shifted(base)).into_py(0);
        let (at, number) = match target {
            Target::At(at) => (at, None),
            Target::Number(number) => (1, Some(number)),
        };
        let mut buffers = Mapped::new(&self.source.data, view.as_slice(), &self.parts, self.writable);
        let reader = hold::PartialReader::new(message, &self.index, at, options.trust).map_err(raise)?;
        // SAFETY: `py` proves that the GIL is held.
        let mut decoder = unsafe { Decoder::new(py, Native::new(), reader, options, Some(Lender::File(&mut buffers))) };
        let kept = || self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        // What was built for a type is not shared with other look-ups.
        let untyped = options.schema.is_none();
        let before = if untyped { std::mem::take(&mut *kept()) } else { kept().untyped() };
        let shares = || self.shares.lock().unwrap_or_else(PoisonError::into_inner);
        let place = match target {
            Target::At(1) | Target::Number(0) => None,
            Target::At(at) => Some(at),
            Target::Number(number) => Some(usize::MAX - number as usize),
        };
        let begun = shares().begin(place);
        decoder.begin_allowance(&begun);
        let (made, after) = decoder.part(before, number);
        let mut left = begun;
        decoder.end_allowance(&mut left);
        shares().end(place, begun, left, made.is_ok());
        drop(decoder);
        // Meanwhile a hook may have used this very document.
        let after = if untyped { after } else { after.untyped() };
        let meanwhile = std::mem::replace(&mut *kept(), after);
        kept().merge(meanwhile);
        made.map(|object| given(py, object)).map_err(|fault| fault.into_py(base))
    }
}

impl TokenFormat for Hold {
    const NAME: &'static str = "hold";

    fn source(&self) -> &Source {
        &self.source
    }

    fn message<'v>(&'v self, view: &'v View) -> (&'v [u8], usize) {
        match &self.message {
            Message::Stored(range) => (view.as_slice().get(range.clone()).unwrap_or_default(), range.start),
            Message::Unpacked(bytes) => (bytes, 0),
        }
    }

    fn resolve(&self, message: &[u8], at: usize) -> Result<(usize, Option<u64>)> {
        let mut reader = hold::PartialReader::new(message, &self.index, at, true)?;
        match reader.next()? {
            Token::AssignId => Ok((reader.offset(), Some(self.index.counts(message, at)?.0))),
            Token::Reference(number) => Ok((self.index.place_of(message, number)?, Some(number))),
            _ => Ok((at, None)),
        }
    }

    fn token<'i>(&'i self, message: &'i [u8], at: usize) -> Result<Token<'i>> {
        hold::PartialReader::new(message, &self.index, at, true)?.next()
    }

    fn shape(&self, py: Python<'_>, message: &[u8], at: usize) -> PyResult<Container> {
        let raise = |error| Fault::from(error).into_py(0);
        let mut reader = hold::PartialReader::new(message, &self.index, at, true).map_err(raise)?;
        let token = reader.next().map_err(raise)?;
        let first = reader.offset();
        let shape = match token {
            Token::List(len) | Token::Tuple(len) => return Ok(Container::List { len, first }),
            Token::Dict(len) => return Ok(Container::Table { len, first }),
            Token::Ints(_, run) => return Ok(Container::Run { len: run.len(), items: Items::Token }),
            Token::Floats(_, run) => return Ok(Container::Run { len: run.len(), items: Items::Token }),
            Token::Bools(_, run) => return Ok(Container::Run { len: run.len(), items: Items::Bools }),
            Token::Texts(_, run, _) => return Ok(Container::Run { len: run.len(), items: Items::Texts }),
            Token::NewShape(shape) => shape,
            Token::Instance(number) => self.index.shape(message, number).map_err(raise)?.0,
            _ => return Ok(Container::Leaf),
        };
        match shape.kind {
            ShapeKind::Dict | ShapeKind::Object => {
                let names = self.names(py, message, &shape)?;
                Ok(Container::Fields { names, first, class: shape.kind == ShapeKind::Object })
            }
            _ => Ok(Container::Leaf),
        }
    }

    fn run(&self, message: &[u8], at: usize) -> Option<(usize, usize)> {
        hold::run_at(message, at)
    }

    fn skip(&self, message: &[u8], at: usize) -> Result<usize> {
        self.index.skip(message, at)
    }

    fn value(&self, message: &[u8], container: usize, first: usize, value: usize) -> Option<Result<usize>> {
        self.index.value(message, container, first, value)
    }

    fn search(&self, view: &View, _message: &[u8], container: usize, key: Text<'_>) -> Result<Option<Search>> {
        self.index.search(view.as_slice(), container, key)
    }

    fn has_text_keys(&self, container: usize) -> bool {
        self.index.has_text_keys(container)
    }

    fn build(&self, py: Python<'_>, view: &View, target: Target, options: &decode::Options) -> PyResult<Py<PyAny>> {
        let made = self.once(py, view, target, options);
        match made {
            // An object that is made from its parts can't be built when the look-up began within it; begun from the
            // outermost value it can.
            Err(error)
                if options.schema.is_none()
                    && !matches!(target, Target::Number(0))
                    && error.get_type(py).is(py.get_type::<DecodeError>()) =>
            {
                self.once(py, view, Target::Number(0), options)?;
                self.once(py, view, target, options)
            }
            made => made,
        }
    }
}

/// The document of a file, or of a message, for which an index is made first.
pub fn open(data: &Bound<'_, PyAny>, owned: bool, writable: bool, options: decode::Options) -> PyResult<Document> {
    let py = data.py();
    let source = Source::new(data, owned)?;
    let view = source.view()?;
    let input = view.as_slice();
    let raise = |error| Fault::from(error).into_py(0);
    let mut parts = Parts::default();
    let message = if frame::is_file(input) {
        parts = Parts::of(input).map_err(raise)?;
        match file::plain(input, &parts.message, tag::MESSAGE, parts.index.is_none()).map_err(raise)? {
            Some(message) => {
                let start = message.as_ptr() as usize - input.as_ptr() as usize;
                Message::Stored(start..start + message.len())
            }
            None => {
                Message::Unpacked(py.detach(|| file::unpacked(input, &parts.message, tag::MESSAGE)).map_err(raise)?)
            }
        }
    } else {
        Message::Stored(0..input.len())
    };
    let len = match &message {
        Message::Stored(range) => range.len(),
        Message::Unpacked(bytes) => bytes.len(),
    };
    let mut form = Hold {
        source,
        index: parts.index.take().unwrap_or_default(),
        parts,
        message,
        writable,
        trusted: options.trust,
        kept: Mutex::default(),
        shares: Mutex::new(Shares::of(len)),
        names: Mutex::default(),
    };
    let (bytes, base) = form.message(&view);
    let raise = |error: holdall_format::Error| Fault::from(error.shifted(base)).into_py(0);
    // Refuses bytes that are not a message, or are a trusted one without permission.
    let raise = |error| named(py, raise(error), Format::Hold, bytes);
    hold::Reader::new(bytes, form.trusted).map_err(raise)?;
    if form.index.is_empty() {
        form.index = py.detach(|| Index::scan(bytes)).map_err(raise)?;
    }
    tokens::open(py, form, 1, Some(0), options)
}

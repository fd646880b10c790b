//! Documents of Lisp: one walk over the message says where everything stands, then parts of it are built.

use crate::cpython::{detached, View};
use crate::decode::{self, Decoder, Kept};
use crate::dialect::lisp::{FromLisp, Lisp};
use crate::error::Fault;
use crate::lazy::source::Source;
use crate::lazy::tokens;
use crate::lazy::tokens::{given, Container, Names, Target, TokenFormat};
use crate::lazy::Document;
use crate::memory::HashMap;
use crate::message::load_args::LoadArgs;
use holdall_format::hold::index::Search;
use holdall_format::lisp::{Reader, Structure};
use holdall_format::model::{LispValue, Reader as _, Text};
use holdall_format::{Error, ErrorKind, Result, Token};
use pyo3::prelude::*;
use pyo3::types::PyString;
use std::sync::{Arc, Mutex, PoisonError};

/// What stands between the head of a hash table and its first key.
const HEADER_OF_TABLE: usize = 5;

const SEVERAL: &str = "expected one value, found several: load_all reads them";

struct LispFile {
    source: Source,
    structure: Structure,
    lisp: Lisp,
    /// What was built already, for everything that refers to it.
    kept: Mutex<Kept>,
    /// The names of slots, by the place of their description.
    names: Mutex<HashMap<usize, Arc<Names>>>,
}

impl LispFile {
    fn reader<'i>(&'i self, message: &'i [u8], at: usize) -> Reader<'i> {
        Reader::within(message, &self.structure, at)
    }

    fn once(&self, py: Python<'_>, message: &[u8], target: Target, options: &decode::Options) -> PyResult<Py<PyAny>> {
        let (at, number) = match target {
            Target::At(at) => (at, None),
            Target::Number(number) => (0, Some(number)),
        };
        let dialect = FromLisp::new(&self.lisp);
        // SAFETY: `py` proves that the GIL is held.
        let mut decoder = unsafe { Decoder::new(py, dialect, self.reader(message, at), options, None) };
        let kept = || self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        // What was built for a type is not shared with other look-ups.
        let untyped = options.schema.is_none();
        let before = if untyped { std::mem::take(&mut *kept()) } else { kept().untyped() };
        let (made, after) = decoder.part(before, number);
        drop(decoder);
        // Meanwhile a hook may have used this very document.
        let after = if untyped { after } else { after.untyped() };
        let meanwhile = std::mem::replace(&mut *kept(), after);
        kept().merge(meanwhile);
        made.map(|object| given(py, object)).map_err(|fault| fault.into_py(0))
    }

    /// The names of an object's slots; `at` is where its description begins.
    fn names(&self, py: Python<'_>, view: &View, at: usize) -> PyResult<Arc<Names>> {
        let known = || self.names.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(names) = known().get(&at) {
            return Ok(names.clone());
        }
        let (options, _) = LoadArgs::default().lisp(py)?;
        let of_type = self.build(py, view, Target::At(at), &options)?;
        let mut names = crate::memory::Vec::new();
        for name in of_type.bind(py).getattr("fields")?.try_iter()? {
            names.push(name?.cast_into::<PyString>()?.unbind());
        }
        let names = Arc::new(Names(names));
        known().insert(at, names.clone());
        Ok(names)
    }

    /// Where the description of an object begins whose code ends at `at`.
    fn description(&self, message: &[u8], at: usize) -> Result<usize> {
        let mut reader = self.reader(message, at);
        let place = match reader.next()? {
            Token::AssignId => Some(reader.offset()),
            Token::LispValue(LispValue::Info { .. }) => Some(at),
            Token::LispValue(LispValue::KnownInfo(number)) => self.structure.info_place(number),
            Token::Reference(number) => self.structure.place_of(number),
            _ => None,
        };
        place.ok_or_else(|| Error::new(ErrorKind::BadName, at))
    }
}

impl TokenFormat for LispFile {
    const NAME: &'static str = "lisp";

    fn source(&self) -> &Source {
        &self.source
    }

    fn message<'v>(&'v self, view: &'v View) -> (&'v [u8], usize) {
        (view.as_slice(), 0)
    }

    fn resolve(&self, message: &[u8], at: usize) -> Result<(usize, Option<u64>)> {
        let mut reader = self.reader(message, at);
        match reader.next()? {
            Token::AssignId => Ok((reader.offset(), self.structure.id_at(reader.offset()))),
            Token::Reference(number) => match self.structure.place_of(number) {
                Some(place) => Ok((place, Some(number))),
                None => Err(Error::new(ErrorKind::BadReference { number }, at)),
            },
            _ => Ok((at, None)),
        }
    }

    fn token<'i>(&'i self, message: &'i [u8], at: usize) -> Result<Token<'i>> {
        self.reader(message, at).next()
    }

    fn shape(&self, py: Python<'_>, message: &[u8], at: usize) -> PyResult<Container> {
        let raise = |error| Fault::from(error).into_py(0);
        let mut reader = self.reader(message, at);
        let token = reader.next().map_err(raise)?;
        let first = reader.offset();
        Ok(match token {
            Token::LispValue(LispValue::List(len)) if !self.structure.is_improper(first) => {
                Container::List { len, first }
            }
            Token::Tuple(len) => Container::List { len, first },
            Token::LispValue(LispValue::HashTable { count, .. }) => {
                let first = (0..HEADER_OF_TABLE).try_fold(first, |at, _| self.skip(message, at)).map_err(raise)?;
                Container::Table { len: count, first }
            }
            Token::LispValue(LispValue::Object) => {
                let (slots, values) = self.structure.slots(message, first).map_err(raise)?;
                let info = self.description(message, first).map_err(raise)?;
                let names = self.names(py, &*self.source.view()?, info)?;
                match names.0.len() as u64 == slots {
                    true => Container::Fields { names, first: values, class: true },
                    false => Container::Leaf,
                }
            }
            _ => Container::Leaf,
        })
    }

    fn skip(&self, message: &[u8], at: usize) -> Result<usize> {
        self.structure.end(message, at)
    }

    fn value(&self, _message: &[u8], _container: usize, _first: usize, _value: usize) -> Option<Result<usize>> {
        None
    }

    fn search(&self, _view: &View, _message: &[u8], _container: usize, _key: Text<'_>) -> Result<Option<Search>> {
        Ok(None)
    }

    fn build(&self, py: Python<'_>, view: &View, target: Target, options: &decode::Options) -> PyResult<Py<PyAny>> {
        self.lisp.until_settled(|| self.once(py, view.as_slice(), target, options))
    }
}

/// The document of a file that holds one value.
pub fn open_lisp(data: &Bound<'_, PyAny>, owned: bool, options: decode::Options, lisp: Lisp) -> PyResult<Document> {
    let py = data.py();
    let source = Source::new(data, owned)?;
    let view = source.view()?;
    let input = view.as_slice();
    let raise = |error: Error| Fault::from(error).into_py(0);
    let structure = detached(py, || Structure::of(input)).map_err(raise)?;
    let [root] = *structure.roots() else {
        let why = if structure.roots().is_empty() { "expected a value, found the end" } else { SEVERAL };
        return Err(raise(Error::new(ErrorKind::Malformed { why }, input.len())));
    };
    lisp.keep_improper(structure.improper());
    let form = LispFile { source, structure, lisp, kept: Mutex::default(), names: Mutex::default() };
    let (at, number) = form.resolve(input, root).map_err(raise)?;
    tokens::open(py, form, at, number, options)
}

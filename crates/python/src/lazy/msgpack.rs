//! Documents of MessagePack.

use crate::cpython::View;
use crate::decode;
use crate::error::Fault;
use crate::lazy::source::Source;
use crate::lazy::tokens;
use crate::lazy::tokens::{Container, Target, TokenFormat};
use crate::lazy::Document;
use crate::message::decode_by;
use crate::message::foreign::named;
use holdall_format::detect::Format;
use holdall_format::hold::index::Search;
use holdall_format::model::{Reader as _, Text};
use holdall_format::msgpack::Reader;
use holdall_format::{Result, Token};
use pyo3::prelude::*;

struct Msgpack {
    source: Source,
}

impl TokenFormat for Msgpack {
    const NAME: &'static str = "msgpack";

    fn source(&self) -> &Source {
        &self.source
    }

    fn message<'v>(&'v self, view: &'v View) -> (&'v [u8], usize) {
        (view.as_slice(), 0)
    }

    fn resolve(&self, _message: &[u8], at: usize) -> Result<(usize, Option<u64>)> {
        Ok((at, None))
    }

    fn token<'i>(&'i self, message: &'i [u8], at: usize) -> Result<Token<'i>> {
        Reader::from(message, at).next()
    }

    fn shape(&self, _py: Python<'_>, message: &[u8], at: usize) -> PyResult<Container> {
        let mut reader = Reader::from(message, at);
        let token = reader.next().map_err(|error| Fault::from(error).into_py(0))?;
        let first = reader.offset();
        Ok(match token {
            Token::List(len) => Container::List { len, first },
            Token::Dict(len) => Container::Table { len, first },
            _ => Container::Leaf,
        })
    }

    fn skip(&self, message: &[u8], at: usize) -> Result<usize> {
        let mut reader = Reader::from(message, at);
        Reader::skip(&mut reader)?;
        Ok(reader.offset())
    }

    fn value(&self, _message: &[u8], _container: usize, _first: usize, _value: usize) -> Option<Result<usize>> {
        None
    }

    fn search(&self, _view: &View, _message: &[u8], _container: usize, _key: Text<'_>) -> Result<Option<Search>> {
        Ok(None)
    }

    fn build(&self, py: Python<'_>, view: &View, target: Target, options: &decode::Options) -> PyResult<Py<PyAny>> {
        let message = view.as_slice();
        let Target::At(at) = target else { unreachable!("objects have no numbers here") };
        let end = self.skip(message, at).map_err(|error| Fault::from(error).into_py(0))?;
        decode_by(py, Reader::new(message.get(at..end).unwrap_or_default()), options, None, at)
    }
}

pub fn open(data: &Bound<'_, PyAny>, owned: bool, options: decode::Options) -> PyResult<Document> {
    let form = Msgpack { source: Source::new(data, owned)? };
    let view = form.source.view()?;
    tokens::open(data.py(), form, 0, None, options)
        .map_err(|error| named(data.py(), error, Format::Msgpack, view.as_slice()))
}

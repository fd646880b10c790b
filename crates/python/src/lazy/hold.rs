//! Documents of hold: files with an index, and messages for which one is made.

mod elsewhere;

use crate::budget::Shares;
use crate::cpython::{attached, detached, View};
use crate::decode::dialect::Native;
use crate::decode::{self, Decoder, Kept};
use crate::error::{DecodeError, Fault};
use crate::io::files::Mapped;
use crate::io::remote::Remote;
use crate::lazy::source::Source;
use crate::lazy::tokens;
use crate::lazy::tokens::{given, Container, Items, Names, Target, TokenFormat};
use crate::lazy::Document;
use crate::memory::{HashMap, Vec};
use crate::message::foreign::named;
use crate::types::buffer::Lender;
use elsewhere::{Elsewhere, Message, GAP, PIECE};
use holdall_format::detect::Format;
use holdall_format::hold::codec::BLOCK;
use holdall_format::hold::file::{self, Parts};
use holdall_format::hold::index::{Dict, Index, Search, PAGE_FRAME};
use holdall_format::hold::{self, frame, tag, AtHand};
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
    /// The data are a map, into which parts of the file are brought.
    elsewhere: Option<Elsewhere>,
    /// What was built already, for everything that refers to it.
    kept: Mutex<Kept>,
    shares: Mutex<Shares>,
    names: Mutex<HashMap<usize, Arc<Names>>>,
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
        let raise = |error| self.raised().unwrap_or_else(|| raise(error));
        for name in hold::Reader::names(shape).skip(usize::from(is_class)) {
            let bytes = match name.map_err(raise)? {
                Name::Text(bytes) => bytes,
                Name::Reference(number) => {
                    let at = self.walking(|| self.index.place_of(message, number)).map_err(raise)?;
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

    fn built(&self, py: Python<'_>, view: &View, target: Target, options: &decode::Options) -> PyResult<Py<PyAny>> {
        let made = self.once(py, view, target, options);
        match made {
            // An object that is made from its parts can't be built when the look-up began within it; begun from the
            // outermost value it can.
            Err(error)
                if options.schema.is_none()
                    && !matches!(target, Target::Number(0))
                    && !self.lacks_something()
                    && error.get_type(py).is(py.get_type::<DecodeError>()) =>
            {
                self.once(py, view, Target::Number(0), options)?;
                self.once(py, view, target, options)
            }
            made => made,
        }
    }

    fn once(&self, py: Python<'_>, view: &View, target: Target, options: &decode::Options) -> PyResult<Py<PyAny>> {
        let (message, base) = self.message(view);
        let raise = |error: holdall_format::Error| Fault::from(error.shifted(base)).into_py(0);
        let (at, number) = match target {
            Target::At(at) => (at, None),
            Target::Number(number) => (1, Some(number)),
        };
        let mut buffers = Mapped::new(&self.source.data, view.as_slice(), &self.parts, self.writable);
        buffers.remote = self.elsewhere.as_ref().map(|elsewhere| &elsewhere.remote);
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

impl Hold {
    /// What `ask` answers once everything is there that it needs, at places that are known.
    pub fn asking<T>(&self, ask: impl Fn() -> Result<T>) -> Result<T> {
        self.answered(ask, |py, wanted| self.bring_message(py, wanted))
    }

    /// As [`Hold::asking`] of a walk: the page of the index is brought first that makes it short.
    pub fn walking<T>(&self, ask: impl Fn() -> Result<T>) -> Result<T> {
        self.answered(ask, |py, wanted| self.bring_on_a_walk(py, wanted))
    }

    fn answered<T>(
        &self,
        ask: impl Fn() -> Result<T>,
        bring: impl Fn(Python<'_>, Range<usize>) -> PyResult<()>,
    ) -> Result<T> {
        let Some(elsewhere) = &self.elsewhere else { return ask() };
        loop {
            self.forget_wanted();
            let error = match ask() {
                Ok(answer) => return Ok(answer),
                Err(error) => error,
            };
            match elsewhere.present.take_wanted() {
                Some(wanted) => elsewhere.keeping(attached(|py| bring(py, wanted)))?,
                None => return Err(error),
            }
        }
    }

    pub fn forget_wanted(&self) {
        if let Some(elsewhere) = &self.elsewhere {
            elsewhere.present.take_wanted();
        }
    }

    /// Whether something was needed that is not there yet.
    pub fn lacks_something(&self) -> bool {
        self.elsewhere.as_ref().is_some_and(|elsewhere| elsewhere.present.is_wanting())
    }

    /// Brings what an error came of; `None` if it came of something else.
    pub fn bring_wanted(&self, py: Python<'_>) -> Option<PyResult<()>> {
        let wanted = self.elsewhere.as_ref()?.present.take_wanted()?;
        Some(self.bring_on_a_walk(py, wanted))
    }

    fn bring_on_a_walk(&self, py: Python<'_>, wanted: Range<usize>) -> PyResult<()> {
        match self.index.missing_page(wanted.start) {
            Some(page) => self.bring_page(py, page),
            None => self.bring_message(py, wanted),
        }
    }

    fn bring_page(&self, py: Python<'_>, page: usize) -> PyResult<()> {
        let Some(elsewhere) = &self.elsewhere else { return Ok(()) };
        let (start, end) = self.index.page_in_file(page, self.parts.index_at);
        elsewhere.remote.bring(py, start..end)?;
        let view = self.source.view()?;
        self.index.read_page(view.as_slice(), page).map_err(|error| Fault::from(error).into_py(0))
    }

    /// A dict that the index knows, of which nothing was brought yet: what is looked for in it may be found without its beginning.
    fn dict_elsewhere(&self, at: usize) -> Option<Dict> {
        let present = &self.elsewhere.as_ref()?.present;
        self.index.dict_at(at, self.parts.message.len).filter(|_| present.end(at) == at)
    }

    /// Brings a part of the message, with what is best brought with it.
    pub fn bring_message(&self, py: Python<'_>, wanted: Range<usize>) -> PyResult<()> {
        let view = self.source.view()?;
        let len = self.message(&view).0.len();
        let from = self.index.walked_from(wanted.start);
        let start = if wanted.start - from <= 2 * PIECE { from } else { wanted.start };
        self.bring_exactly(py, &view, start..wanted.end.max(wanted.start.saturating_add(PIECE)).min(len))
    }

    fn bring_exactly(&self, py: Python<'_>, view: &View, range: Range<usize>) -> PyResult<()> {
        let Some(elsewhere) = &self.elsewhere else { return Ok(()) };
        let missing = elsewhere.present.missing(range.clone());
        let (Some(first), Some(last)) = (missing.first(), missing.last()) else { return Ok(()) };
        let missing = first.start..last.end;
        match &self.message {
            Message::Stored(message) => {
                let base = message.start as u64;
                elsewhere.remote.bring(py, base + missing.start as u64..base + missing.end as u64)?;
                elsewhere.present.add(missing);
            }
            Message::Blocks(room) => self.unpack(py, view, elsewhere, room, missing)?,
            Message::Unpacked(_) => {}
        }
        Ok(())
    }

    /// Brings blocks, and unpacks those that aren't yet.
    fn unpack(
        &self,
        py: Python<'_>,
        view: &View,
        elsewhere: &Elsewhere,
        room: &View,
        range: Range<usize>,
    ) -> PyResult<()> {
        let blocks = range.start / BLOCK..range.end.div_ceil(BLOCK).min(elsewhere.blocks.len());
        let begins = elsewhere.blocks.get(blocks.start).copied().unwrap_or(0);
        let next = elsewhere.blocks.get(blocks.end).copied();
        elsewhere.remote.bring(py, begins..next.unwrap_or_else(|| self.parts.reach(&self.parts.message)))?;
        for number in blocks {
            let place = number * BLOCK..((number + 1) * BLOCK).min(room.len());
            if elsewhere.present.end(place.start) >= place.end {
                continue;
            }
            let made = detached(py, || file::block(view.as_slice(), &self.parts.message, number, tag::MESSAGE));
            let made = made.map_err(|error| Fault::from(error).into_py(0))?;
            // SAFETY: `room` was asked for as writable, and is this document's alone. Nobody looks at a block that isn't present, and the
            // GIL is held between the question whether it is and the answer.
            unsafe { &mut room.as_mut_slice()[place.clone()] }.copy_from_slice(&made);
            elsewhere.present.add(place);
        }
        Ok(())
    }

    /// Brings a value that is going to be built, if the index knows where it ends, and the buffers that it has.
    pub fn bring_value(&self, py: Python<'_>, view: &View, target: Target) -> PyResult<()> {
        let Some(elsewhere) = &self.elsewhere else { return Ok(()) };
        let message = self.message(view).0;
        let raise = |error| self.raised().unwrap_or_else(|| Fault::from(error).into_py(0));
        let at = match target {
            Target::At(at) => at,
            Target::Number(0) => return self.bring_all(py, view),
            Target::Number(number) => self.walking(|| self.index.place_of(message, number)).map_err(raise)?,
        };
        let end = self.skip(message, at).map_err(raise)?;
        // A way from a checkpoint is brought along with the value, if it is short. A value that is there may not need any: who builds
        // it will ask for it.
        let from = match self.index.missing_page(at) {
            None if elsewhere.present.end(at) < end => self.index.walked_from(at).max(at.saturating_sub(PIECE)),
            _ => at,
        };
        self.bring_exactly(py, view, from..end)?;
        let mut reader = hold::PartialReader::new(message, &self.index, at, true).map_err(raise)?;
        let mut ranges = Vec::new();
        while reader.offset() < end {
            let Ok(token) = reader.next() else { break };
            if let Token::Buffer { number, .. } = token {
                let extent = usize::try_from(number).ok().and_then(|number| self.parts.buffers.get(number));
                ranges.extend(extent.map(|extent| (extent.at, self.parts.reach(extent))));
            }
        }
        ranges.sort_unstable();
        let mut joined: Option<(u64, u64)> = None;
        for (start, end) in ranges {
            joined = match joined {
                Some((first, last)) if start <= last.saturating_add(GAP) => Some((first, last.max(end))),
                before => {
                    if let Some((first, last)) = before {
                        elsewhere.remote.bring(py, first..last)?;
                    }
                    Some((start, end))
                }
            };
        }
        joined.map_or(Ok(()), |(first, last)| elsewhere.remote.bring(py, first..last))
    }

    fn bring_all(&self, py: Python<'_>, view: &View) -> PyResult<()> {
        let Some(elsewhere) = &self.elsewhere else { return Ok(()) };
        elsewhere.remote.bring(py, 0..view.len() as u64)?;
        self.bring_exactly(py, view, 0..self.message(view).0.len())
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
            Message::Blocks(room) => (room.as_slice(), 0),
        }
    }

    fn raised(&self) -> Option<PyErr> {
        self.elsewhere.as_ref()?.raised.lock().unwrap_or_else(PoisonError::into_inner).take()
    }

    fn resolve(&self, message: &[u8], at: usize) -> Result<(usize, Option<u64>)> {
        if let Some(dict) = self.dict_elsewhere(at) {
            return Ok((dict.at, dict.number));
        }
        let (token, behind) = self.asking(|| {
            let mut reader = hold::PartialReader::new(message, &self.index, at, true)?;
            Ok((reader.next()?, reader.offset()))
        })?;
        match token {
            Token::AssignId => Ok((behind, Some(self.walking(|| self.index.counts(message, at))?.0))),
            Token::Reference(number) => Ok((self.walking(|| self.index.place_of(message, number))?, Some(number))),
            _ => Ok((at, None)),
        }
    }

    fn token<'i>(&'i self, message: &'i [u8], at: usize) -> Result<Token<'i>> {
        self.asking(|| hold::PartialReader::new(message, &self.index, at, true)?.next())
    }

    fn shape(&self, py: Python<'_>, message: &[u8], at: usize) -> PyResult<Container> {
        let raise = |error| self.raised().unwrap_or_else(|| Fault::from(error).into_py(0));
        if let Some(dict) = self.dict_elsewhere(at) {
            return Ok(Container::Table { len: dict.len, first: dict.first });
        }
        let begun = self.asking(|| {
            let mut reader = hold::PartialReader::new(message, &self.index, at, true)?;
            Ok((reader.next()?, reader.offset()))
        });
        let (token, first) = begun.map_err(raise)?;
        let shape = match token {
            Token::List(len) | Token::Tuple(len) => return Ok(Container::List { len, first }),
            Token::Dict(len) => return Ok(Container::Table { len, first }),
            Token::Ints(_, run) => return Ok(Container::Run { len: run.len(), items: Items::Token }),
            Token::Floats(_, run) => return Ok(Container::Run { len: run.len(), items: Items::Token }),
            Token::Bools(_, run) => return Ok(Container::Run { len: run.len(), items: Items::Bools }),
            Token::Texts(_, run, _) => return Ok(Container::Run { len: run.len(), items: Items::Texts }),
            Token::NewShape(shape) => shape,
            Token::Instance(number) => self.asking(|| self.index.shape(message, number)).map_err(raise)?.0,
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
        self.walking(|| self.index.skip(message, at))
    }

    fn value(&self, message: &[u8], container: usize, first: usize, value: usize) -> Option<Result<usize>> {
        // Nothing, or a place: who asks for more gets it in the same way.
        match self.walking(|| self.index.value(message, container, first, value).transpose()) {
            Ok(place) => place.map(Ok),
            Err(error) => Some(Err(error)),
        }
    }

    fn search(&self, view: &View, _message: &[u8], container: usize, key: Text<'_>) -> Result<Option<Search>> {
        if let Some(elsewhere) = &self.elsewhere {
            if self.index.dict_at(container, self.parts.message.len).is_none() {
                if let Some(page) = self.index.missing_page(container) {
                    attached(|py| elsewhere.keeping(self.bring_page(py, page)))?;
                }
            }
            for page in self.index.pages_of(container, key) {
                let end = page.saturating_add(PAGE_FRAME).min(self.parts.index_at);
                attached(|py| elsewhere.keeping(elsewhere.remote.bring(py, page..end)))?;
            }
        }
        self.index.search(view.as_slice(), container, key)
    }

    fn has_text_keys(&self, container: usize) -> bool {
        self.index.has_text_keys(container)
    }

    fn build(&self, py: Python<'_>, view: &View, target: Target, options: &decode::Options) -> PyResult<Py<PyAny>> {
        if self.elsewhere.is_none() {
            return self.built(py, view, target, options);
        }
        self.bring_value(py, view, target)?;
        loop {
            self.forget_wanted();
            match self.built(py, view, target, options) {
                Ok(made) => return Ok(made),
                // What it refers to may lie anywhere.
                Err(error) => match self.bring_wanted(py) {
                    Some(brought) => brought?,
                    None => return Err(self.raised().unwrap_or(error)),
                },
            }
        }
    }
}

/// The document of a file, or of a message, for which an index is made first. `remote`: the data are a map of its size, into which
/// parts are brought.
pub fn open(
    data: &Bound<'_, PyAny>,
    owned: bool,
    writable: bool,
    remote: Option<&Bound<'_, PyAny>>,
    options: decode::Options,
) -> PyResult<Document> {
    let py = data.py();
    let source = Source::new(data, owned)?;
    let view = source.view()?;
    let input = view.as_slice();
    let raise = |error| Fault::from(error).into_py(0);
    let (mut parts, mut elsewhere) = (Parts::default(), None);
    if let Some(remote) = remote {
        (parts, elsewhere) = elsewhere::begun(py, Remote::new(remote), input)?;
    }
    let message = if let Some(elsewhere) = &mut elsewhere {
        elsewhere.message(py, input, &parts)?
    } else if frame::is_file(input) {
        parts = Parts::of(input).map_err(raise)?;
        match file::plain(input, &parts.message, tag::MESSAGE, parts.index.is_none()).map_err(raise)? {
            Some(message) => {
                let start = message.as_ptr() as usize - input.as_ptr() as usize;
                Message::Stored(start..start + message.len())
            }
            None => {
                Message::Unpacked(detached(py, || file::unpacked(input, &parts.message, tag::MESSAGE)).map_err(raise)?)
            }
        }
    } else {
        Message::Stored(0..input.len())
    };
    let len = match &message {
        Message::Stored(range) => range.len(),
        Message::Unpacked(bytes) => bytes.len(),
        Message::Blocks(room) => room.len(),
    };
    let mut form = Hold {
        source,
        index: parts.index.take().unwrap_or_default(),
        parts,
        message,
        writable,
        trusted: options.trust,
        elsewhere,
        kept: Mutex::default(),
        shares: Mutex::new(Shares::of(len)),
        names: Mutex::default(),
    };
    if let Some(elsewhere) = &form.elsewhere {
        form.index.at_hand = AtHand(Some(elsewhere.present.clone()));
        // No more than what came with the file's start.
        form.bring_exactly(py, &view, 0..len.min(PIECE - frame::START - frame::HEAD))?;
    }
    let (bytes, base) = form.message(&view);
    let raise = |error: holdall_format::Error| Fault::from(error.shifted(base)).into_py(0);
    // Refuses bytes that are not a message, or are a trusted one without permission.
    let raise = |error| named(py, raise(error), Format::Hold, bytes);
    hold::Reader::new(bytes, form.trusted).map_err(raise)?;
    if form.index.is_empty() {
        form.index = detached(py, || Index::scan(bytes)).map_err(raise)?;
    }
    tokens::open(py, form, 1, Some(0), options)
}

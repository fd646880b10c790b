//! An index of a message: where things are in it, so that one can be read without the others.
//!
//! A message contains no offsets, because it is read front to back. An index is made in one pass over its tokens. It
//! holds
//! - checkpoints: an offset every *span* bytes, with the number of objects and shapes before it;
//! - containers of at least a span: their ends, and the offsets of some of their values;
//! - shapes: the offset of each;
//! - the keys of large dicts, by hash.
//!
//! From the nearest of these, it is never more than about a span to what is looked for. Its size stays below some tens
//! of thousands of entries, because spans grow with the message.

use super::frame::{self, Frame};
use super::places::{names_at, Walks};
use super::reader::{self, Reader};
use super::{tag, writer};
use crate::cursor::Cursor;
use crate::error::{Error, ErrorKind, Result};
use crate::memory::{vec, Vec};
use crate::model::{self, Reader as _, Shape, Token, Writer as _};

const LEAST_SPAN: usize = 1 << 12;
const MOST_SPANS: usize = 1 << 14;
/// Deeper containers are not in an index, which bounds its size.
const MOST_DEEP: usize = 64;
/// Dicts with fewer items are searched.
const LEAST_KEYS: usize = 64;
/// Bytes of a key's entry: its hash and its offset.
const KEY: usize = 4 + 8;
/// Keys in one frame.
const PAGE: usize = 1 << 12;

/// How many tokens lead from a place in a correct index to any other, in spans of one-byte tokens: less than one and a
/// value.
const MOST_STEPS: u64 = 4;

/// Bytes between places of an index.
fn span(message: &[u8]) -> u64 {
    (message.len() / MOST_SPANS).max(LEAST_SPAN) as u64
}

/// A body of a file, and the offsets of its frames.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Extent {
    pub at: u64,
    pub len: u64,
    /// For a compressed body, the offset of each block. Each holds `codec::BLOCK` bytes, except the last.
    pub blocks: Vec<u64>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Checkpoint {
    at: u64,
    numbers: u64,
    shapes: u64,
}

/// A place within a container: the offset of the value with that number.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Point {
    value: u64,
    at: u64,
}

#[derive(Debug, Clone, PartialEq, Eq)]
struct Container {
    at: u64,
    end: u64,
    points: Vec<Point>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct ShapeAt {
    at: u64,
    /// How many objects had ids before its names.
    numbers: u64,
    /// How many values an instance has.
    values: u64,
}

/// The keys of a dict, in the order of their hashes.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Keys {
    /// The offset of the dict.
    at: u64,
    /// Whether all keys are text, so that a text that isn't found isn't there.
    complete: bool,
    pages: Pages,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum Pages {
    Here(Vec<(u32, u64)>),
    /// In frames of the file: for each the hash of its first key, and its offset.
    InFile(Vec<(u32, u64)>),
}

/// What is known about the inside of a message, and where a file has it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Index {
    pub message: Extent,
    pub buffers: Vec<Extent>,
    numbers: u64,
    checkpoints: Vec<Checkpoint>,
    shapes: Vec<ShapeAt>,
    containers: Vec<Container>,
    keys: Vec<Keys>,
    walks: Walks,
}

/// Where a dict's key may be.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Search {
    /// At one of these offsets, or nowhere.
    Only(Vec<u64>),
    /// At one of these offsets, or elsewhere.
    First(Vec<u64>),
}

struct Open {
    at: u64,
    next: u64,
    len: u64,
    last: u64,
    points: Vec<Point>,
    keys: Option<Box<Keys>>,
}

struct Scan<'i> {
    r: Reader<'i>,
    message: &'i [u8],
    span: u64,
    index: Index,
    stack: Vec<Open>,
    /// The offset of the value of each object with an id.
    starts: Vec<u64>,
}

impl Scan<'_> {
    fn run(&mut self) -> Result<()> {
        let mut next_checkpoint = 0;
        loop {
            let at = self.r.offset() as u64;
            if at >= next_checkpoint {
                let shapes = self.index.shapes.len() as u64;
                self.index.checkpoints.push(Checkpoint { at, numbers: self.starts.len() as u64, shapes });
                next_checkpoint = at + self.span;
            }
            let mut is_key = false;
            if let Some(top) = self.stack.last_mut() {
                if at - top.last >= self.span {
                    top.points.push(Point { value: top.next, at });
                    top.last = at;
                }
                is_key = top.keys.is_some() && top.next % 2 == 0;
                top.next += 1;
            }
            if is_key {
                self.key(at)?;
            }
            if self.r.leaf()?.is_none() {
                let mut token = self.r.next()?;
                let mut start = at;
                if let Token::AssignId = token {
                    start = self.r.offset() as u64;
                    self.starts.push(start);
                    token = self.r.next()?;
                }
                if self.begin(start, &token)? {
                    continue;
                }
            }
            let end = self.r.offset() as u64;
            while self.stack.last().is_some_and(|top| top.next == top.len) {
                self.close(end);
            }
            if self.stack.is_empty() {
                return self.r.finish();
            }
        }
    }

    /// Begins a token. `true`: values of it follow.
    fn begin(&mut self, start: u64, token: &Token<'_>) -> Result<bool> {
        if let Token::NewShape(shape) = token {
            let numbers = self.starts.len() as u64;
            let values = shape.kind.values(shape.fields);
            for (at, name) in names_at(self.message, shape) {
                if name? {
                    self.starts.push(at as u64);
                }
            }
            self.index.shapes.push(ShapeAt { at: start, numbers, values });
        }
        let len = self.index.values(token, start as usize)?;
        if len == 0 {
            return Ok(false);
        }
        let keys = match token {
            Token::Dict(items) if *items >= LEAST_KEYS => {
                Some(Box::new(Keys { at: start, complete: true, pages: Pages::Here(Vec::new()) }))
            }
            _ => None,
        };
        let last = self.r.offset() as u64;
        self.stack.push(Open { at: start, next: 0, len, last, points: Vec::new(), keys });
        Ok(true)
    }

    fn close(&mut self, end: u64) {
        let Some(open) = self.stack.pop() else { return };
        if end - open.at < self.span || self.stack.len() >= MOST_DEEP {
            return;
        }
        if let Some(mut keys) = open.keys {
            if let Pages::Here(entries) = &mut keys.pages {
                entries.sort_unstable();
            }
            self.index.keys.push(*keys);
        }
        self.index.containers.push(Container { at: open.at, end, points: open.points });
    }

    /// Notes the next key of a large dict.
    fn key(&mut self, at: u64) -> Result<()> {
        let hash = key_hash(self.message, &self.starts, at as usize)?;
        if let Some(Open { keys: Some(keys), .. }) = self.stack.last_mut() {
            match (&mut keys.pages, hash) {
                (Pages::Here(entries), Some(hash)) => entries.push((hash, at)),
                _ => keys.complete = false,
            }
        }
        Ok(())
    }
}

/// The hash of the text at `at`, or of the text that is referred to there; `None` for other values.
fn key_hash(message: &[u8], starts: &[u64], at: usize) -> Result<Option<u32>> {
    let mut r = Reader::from(message, at, true);
    let mut from = at;
    let mut token = r.next()?;
    if let Token::AssignId = token {
        from = r.offset();
        token = r.next()?;
    } else if let Token::Reference(number) = token {
        let Some(&start) = starts.get(number as usize) else { return Ok(None) };
        from = start as usize;
        r = Reader::from(message, from, true);
        token = r.next()?;
    }
    Ok(matches!(token, Token::Text(_)).then(|| hash_of(&message[from..r.offset()])))
}

/// The hash of a key, from its bytes as a writer writes them.
#[allow(clippy::cast_possible_truncation)]
fn hash_of(encoded: &[u8]) -> u32 {
    frame::sum(encoded) as u32
}

impl Index {
    /// Scans a message; the index of one that can't be read is empty.
    pub fn of_message(message: &[u8]) -> Index {
        Index::scan(message).unwrap_or_default()
    }

    pub fn scan(message: &[u8]) -> Result<Index> {
        let r = Reader::new(message, true)?;
        let span = span(message);
        // The message's first value has id 0.
        let starts = vec![r.offset() as u64];
        let mut scan = Scan { r, message, span, index: Index::default(), stack: Vec::new(), starts };
        scan.run()?;
        let mut index = scan.index;
        index.numbers = scan.starts.len() as u64;
        index.containers.sort_unstable_by_key(|container| container.at);
        index.keys.sort_unstable_by_key(|keys| keys.at);
        Ok(index)
    }

    #[cfg(test)]
    pub(super) fn walks(&self) -> &Walks {
        &self.walks
    }

    /// Whether it says nothing about the message.
    pub fn is_empty(&self) -> bool {
        self.checkpoints.is_empty()
    }

    /// The last checkpoint before the first one for which `beyond` holds.
    fn checkpoint(&self, beyond: impl Fn(&Checkpoint) -> bool) -> Result<Checkpoint> {
        let at = self.checkpoints.partition_point(|checkpoint| !beyond(checkpoint));
        let found = at.checked_sub(1).and_then(|at| self.checkpoints.get(at)).copied();
        found.ok_or_else(|| Error::new(ErrorKind::BadFile { why: "an index that says nothing of a place" }, 0))
    }

    /// How many objects and shapes have numbers before that offset, at which a value begins.
    pub fn counts(&self, message: &[u8], at: usize) -> Result<(u64, u64)> {
        if let Some(places) = self.walks.places(message) {
            let why = "an index that leads where nothing can be read";
            return places.counts(at as u64).ok_or_else(|| Error::new(ErrorKind::BadFile { why }, at));
        }
        let from = self.checkpoint(|checkpoint| checkpoint.at > at as u64)?;
        let (mut numbers, mut shapes) = (from.numbers, from.shapes);
        let mut r = Reader::from(message, from.at as usize, true);
        let mut walked = self.walks.begin();
        while r.offset() < at {
            walked.steps += 1;
            match r.next()? {
                Token::AssignId => numbers += 1,
                Token::NewShape(shape) => {
                    shapes += 1;
                    for (_, name) in names_at(message, &shape) {
                        walked.steps += 1;
                        numbers += u64::from(name?);
                    }
                }
                _ => {}
            }
        }
        Ok((numbers, shapes))
    }

    /// The offset of the value of the object with that id.
    pub fn place_of(&self, message: &[u8], number: u64) -> Result<usize> {
        let bad = || Error::new(ErrorKind::BadReference { number }, 0);
        if number >= self.numbers {
            return Err(bad());
        }
        if number == 0 {
            return Ok(1);
        }
        if let Some(places) = self.walks.places(message) {
            return places.of_number(number).ok_or_else(bad);
        }
        let from = self.checkpoint(|checkpoint| checkpoint.numbers > number)?;
        let mut numbers = from.numbers;
        let mut r = Reader::from(message, from.at as usize, true);
        let mut walked = self.walks.begin();
        while r.remaining() > 0 {
            walked.steps += 1;
            match r.next()? {
                Token::AssignId if numbers == number => return Ok(r.offset()),
                Token::AssignId => numbers += 1,
                Token::NewShape(shape) => {
                    for (at, name) in names_at(message, &shape) {
                        walked.steps += 1;
                        if name? {
                            if numbers == number {
                                return Ok(at);
                            }
                            numbers += 1;
                        }
                    }
                }
                _ => {}
            }
        }
        Err(bad())
    }

    /// The shape with that number, and how many objects have ids before its names.
    pub fn shape<'i>(&self, message: &'i [u8], number: usize) -> Result<(Shape<'i>, u64)> {
        let known = self.shapes.get(number).copied();
        let Some(known) = known else { return Err(Error::new(ErrorKind::BadShape { number: number as u64 }, 0)) };
        match Reader::from(message, known.at as usize, true).next()? {
            Token::NewShape(shape) => Ok((shape, known.numbers)),
            _ => Err(Error::new(ErrorKind::BadShape { number: number as u64 }, known.at as usize)),
        }
    }

    fn container(&self, at: usize) -> Option<&Container> {
        let found = self.containers.binary_search_by_key(&(at as u64), |container| container.at).ok()?;
        self.containers.get(found)
    }

    /// How many values belong to a token and follow it.
    fn values(&self, token: &Token<'_>, at: usize) -> Result<u64> {
        match *token {
            Token::Instance(number) => match self.shapes.get(number) {
                Some(shape) => Ok(shape.values),
                None => Err(Error::new(ErrorKind::BadShape { number: number as u64 }, at)),
            },
            _ => Ok(token.values()),
        }
    }

    /// The end of the value at that offset, if it is a large container.
    pub fn end_of(&self, at: usize) -> Option<usize> {
        self.container(at).map(|container| container.end as usize)
    }

    /// Skips the value at that offset: returns the offset of the next one.
    pub fn skip(&self, message: &[u8], at: usize) -> Result<usize> {
        self.pass(message, at, &mut 0)
    }

    /// Like [`Index::skip`], counting the steps.
    fn pass(&self, message: &[u8], at: usize, steps: &mut u64) -> Result<usize> {
        let mut r = Reader::from(message, at, true);
        let mut pending: u64 = 1;
        while pending > 0 {
            *steps += 1;
            pending -= 1;
            if r.leaf()?.is_some() {
                continue;
            }
            let at = r.offset();
            let token = r.next()?;
            let values = self.values(&token, at)?;
            if values > 1 {
                if let Some(end) = self.end_of(at).filter(|&end| end > at && end <= message.len()) {
                    r.rewind(end);
                    continue;
                }
            }
            pending = pending.saturating_add(values);
        }
        Ok(r.offset())
    }

    /// The offset of the `value`th value of the container at `at`, whose first value is at `first`. `None` if the index
    /// says so little about it that the caller should remember places itself: the container is nested too deep, or the
    /// index is wrong.
    pub fn value(&self, message: &[u8], at: usize, first: usize, value: usize) -> Option<Result<usize>> {
        let (mut place, mut left) = (first, value);
        if let Some(container) = self.container(at) {
            let points = &container.points;
            let found = points.partition_point(|point| point.value <= value as u64);
            if let Some(point) = found.checked_sub(1).and_then(|found| points.get(found)) {
                (place, left) = (point.at as usize, value - point.value as usize);
            }
        }
        let (mut steps, most) = (0, MOST_STEPS * span(message));
        while left > 0 {
            if steps > most {
                return None;
            }
            match self.pass(message, place, &mut steps) {
                Ok(next) => place = next,
                Err(error) => return Some(Err(error)),
            }
            left -= 1;
        }
        Some(Ok(place))
    }

    /// Where a text may be a key of the dict at `at`, if its keys are in the index. `text` is encoded as a writer does
    /// it; `file` is the file of the index, for the frames that hold keys.
    pub fn search(&self, file: &[u8], at: usize, text: model::Text<'_>) -> Result<Option<Search>> {
        let Ok(found) = self.keys.binary_search_by_key(&(at as u64), |keys| keys.at) else { return Ok(None) };
        let keys = &self.keys[found];
        let mut w = writer::Writer::new(Vec::new(), false);
        w.text(text);
        let hash = hash_of(&w.out[1..]);
        let places = match &keys.pages {
            Pages::Here(entries) => matching(entries.iter().copied(), hash),
            Pages::InFile(pages) => {
                let mut places = Vec::new();
                let from = pages.partition_point(|page| page.0 < hash).saturating_sub(1);
                for &(_, at) in pages[from..].iter().take_while(|page| page.0 <= hash) {
                    let frame = Frame::at(file, usize::try_from(at).unwrap_or(usize::MAX))?;
                    let Some(frame) = frame.filter(|frame| frame.head.kind == tag::KEYS) else {
                        return Err(Error::new(
                            ErrorKind::BadFile { why: "an index whose keys are not where it says" },
                            0,
                        ));
                    };
                    places.extend(matching(entries(frame.verified(file)?), hash));
                }
                places
            }
        };
        Ok(Some(if keys.complete { Search::Only(places) } else { Search::First(places) }))
    }

    /// Whether all keys of the dict at `at` are known to be text.
    pub fn has_text_keys(&self, at: usize) -> bool {
        let found = self.keys.binary_search_by_key(&(at as u64), |keys| keys.at);
        found.is_ok_and(|found| self.keys[found].complete)
    }

    /// Passes the keys of large dicts to `write`, frame by frame, which returns the offset of each.
    pub fn put_keys<E>(
        &mut self,
        mut write: impl FnMut(&[u8]) -> std::result::Result<u64, E>,
    ) -> std::result::Result<(), E> {
        for keys in &mut self.keys {
            if let Pages::Here(entries) = &keys.pages {
                let mut pages = Vec::with_capacity(entries.len().div_ceil(PAGE));
                for page in entries.chunks(PAGE) {
                    let body: Vec<u8> = page
                        .iter()
                        .flat_map(|(hash, at)| [&hash.to_le_bytes()[..], &at.to_le_bytes()].concat())
                        .collect();
                    pages.push((page[0].0, write(&body)?));
                }
                keys.pages = Pages::InFile(pages);
            }
        }
        Ok(())
    }

    /// The body of an index's frame.
    pub fn to_bytes(&self) -> Vec<u8> {
        let mut out = Vec::new();
        let mut put = |value: u64| writer::length(&mut out, value);
        put_extent(&mut put, &self.message);
        put(self.buffers.len() as u64);
        self.buffers.iter().for_each(|extent| put_extent(&mut put, extent));
        put(self.numbers);
        put(self.shapes.len() as u64);
        for shape in &self.shapes {
            [shape.at, shape.numbers, shape.values].into_iter().for_each(&mut put);
        }
        put(self.checkpoints.len() as u64);
        for checkpoint in &self.checkpoints {
            [checkpoint.at, checkpoint.numbers, checkpoint.shapes].into_iter().for_each(&mut put);
        }
        put(self.containers.len() as u64);
        for container in &self.containers {
            [container.at, container.end, container.points.len() as u64].into_iter().for_each(&mut put);
            for point in &container.points {
                [point.value, point.at].into_iter().for_each(&mut put);
            }
        }
        put(self.keys.len() as u64);
        for keys in &self.keys {
            let pages: &[_] = if let Pages::InFile(pages) = &keys.pages { pages } else { &[] };
            [keys.at, u64::from(keys.complete), pages.len() as u64].into_iter().for_each(&mut put);
            for &(hash, at) in pages {
                [u64::from(hash), at].into_iter().for_each(&mut put);
            }
        }
        out
    }

    /// Mirror of [`Index::to_bytes`].
    pub fn parse(body: &[u8]) -> Result<Index> {
        let mut input = Cursor::new(body);
        let r = &mut input;
        let mut index = Index { message: take_extent(r)?, ..Index::default() };
        index.buffers = many(r, 3, take_extent)?;
        index.numbers = take(r)?;
        index.shapes = many(r, 3, |r| Ok(ShapeAt { at: take(r)?, numbers: take(r)?, values: take(r)? }))?;
        index.checkpoints = many(r, 3, |r| Ok(Checkpoint { at: take(r)?, numbers: take(r)?, shapes: take(r)? }))?;
        index.containers = many(r, 3, |r| {
            let (at, end) = (take(r)?, take(r)?);
            Ok(Container { at, end, points: many(r, 2, |r| Ok(Point { value: take(r)?, at: take(r)? }))? })
        })?;
        index.keys = many(r, 3, |r| {
            let (at, complete) = (take(r)?, take(r)? != 0);
            let pages = many(r, 2, |r| {
                let hash = u32::try_from(take(r)?);
                Ok((hash.map_err(|_| Error::new(ErrorKind::TooLong, r.offset()))?, take(r)?))
            })?;
            Ok(Keys { at, complete, pages: Pages::InFile(pages) })
        })?;
        input.finish()?;
        Ok(index)
    }
}

fn entries(page: &[u8]) -> impl Iterator<Item = (u32, u64)> + '_ {
    page.as_chunks::<KEY>().0.iter().map(|entry| {
        let [a, b, c, d, at @ ..] = *entry;
        (u32::from_le_bytes([a, b, c, d]), u64::from_le_bytes(at))
    })
}

fn matching(entries: impl Iterator<Item = (u32, u64)>, hash: u32) -> Vec<u64> {
    entries.filter(|entry| entry.0 == hash).map(|entry| entry.1).collect()
}

fn put_extent(put: &mut impl FnMut(u64), extent: &Extent) {
    [extent.at, extent.len, extent.blocks.len() as u64].into_iter().for_each(&mut *put);
    extent.blocks.iter().for_each(|&at| put(at));
}

fn take_extent(r: &mut Cursor<'_>) -> Result<Extent> {
    Ok(Extent { at: take(r)?, len: take(r)?, blocks: many(r, 1, take)? })
}

fn take(r: &mut Cursor<'_>) -> Result<u64> {
    reader::length(r).map(|value| value as u64)
}

/// A number of items, then the items, each of at least `least` bytes.
fn many<T>(r: &mut Cursor<'_>, least: usize, mut read: impl FnMut(&mut Cursor<'_>) -> Result<T>) -> Result<Vec<T>> {
    let len = reader::length(r)?;
    let len = r.claim(len, least)?;
    (0..len).map(|_| read(r)).collect()
}

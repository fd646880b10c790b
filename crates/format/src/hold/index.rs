//! Where things are inside a message, so that one of them can be read without the others.
//!
//! A message has no offsets in it: it is read front to back. An index is made by going over its tokens once; it holds
//! - checkpoints: a place every *span* bytes, with how many objects and shapes were numbered before;
//! - containers that take a span or more: where they end, and where every so manieth of their values begins;
//! - shapes: where each is written;
//! - keys of large dicts, by hash.
//!
//! From the nearest of these places it is never more than about a span to what is looked for. Its size does not grow beyond
//! some tens of thousands of entries, as spans grow with the message. The index of a large message has two levels ([`pages`]), so that
//! who looks for one thing in a file that lies elsewhere needs a small part of it.

use super::frame::{self, Frame};
use super::places::{names_at, Places, Walks};
use super::reader::Reader;
use super::window::{AtHand, Window};
use super::{tag, writer};
use crate::error::{Error, ErrorKind, Result};
use crate::memory::{vec, Vec};
use crate::model::{self, Reader as _, Shape, Token, Writer as _};

mod body;
mod pages;

pub use pages::Dict;
use pages::Page;

const LEAST_SPAN: usize = 1 << 12;
const MOST_SPANS: usize = 1 << 16;
/// Containers nested deeper are not in an index: there would be no end of them.
const MOST_DEEP: usize = 64;
/// Dicts with fewer items are searched.
const LEAST_KEYS: usize = 64;
/// Bytes of a key's entry: its hash, and where it stands.
const KEY: usize = 4 + 8;
/// Keys in one frame.
const PAGE: usize = 1 << 12;

/// Bytes of a frame of keys.
pub const PAGE_FRAME: u64 = (frame::HEAD + PAGE * KEY + frame::TAIL) as u64;

/// Spans' worth of tokens, a byte each, that lead from a place in an index to any other at most: there is less than one, and a value. Files
/// of before there were pages have a quarter as many places.
const MOST_STEPS: u64 = 16;

/// Bytes between places of an index.
fn span(message: &[u8]) -> u64 {
    (message.len() / MOST_SPANS).max(LEAST_SPAN) as u64
}

/// A body of a file, and where its frames begin.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Extent {
    pub at: u64,
    pub len: u64,
    /// Of a compressed body: where each of its blocks begins. Each holds `codec::BLOCK` bytes, but the last.
    pub blocks: Vec<u64>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Checkpoint {
    at: u64,
    numbers: u64,
    shapes: u64,
}

/// A place within a container: the value of that number begins there.
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
    /// Objects that were numbered before its names.
    numbers: u64,
    /// How many values an instance has.
    values: u64,
}

/// The keys of a dict, in the order of their hashes.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Keys {
    /// Of which dict.
    at: u64,
    /// How many items it has; 0 if the index does not say.
    items: u64,
    /// One more than the number of a dict that has a mark; 0 of others.
    number: u64,
    /// Whether all keys are text: one that is not found is not there then.
    complete: bool,
    pages: Pages,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum Pages {
    Here(Vec<(u32, u64)>),
    /// Frames of the file: each with the hash of its first key, and where it begins.
    InFile(Vec<(u32, u64)>),
}

/// What is known of the inside of a message, and where a file has it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Index {
    pub message: Extent,
    pub buffers: Vec<Extent>,
    numbers: u64,
    checkpoints: Vec<Checkpoint>,
    shapes: Vec<ShapeAt>,
    containers: Vec<Container>,
    keys: Vec<Keys>,
    /// What lies between each checkpoint and the next, if the index has two levels.
    pages: Vec<Page>,
    walks: Walks,
    /// Which parts of the message can be looked at.
    pub at_hand: AtHand,
}

/// Where a dict's key may stand.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Search {
    /// At one of these places, or nowhere.
    Only(Vec<u64>),
    /// At one of these places, or at any other.
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
    /// Where each numbered object's value begins.
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
                let (mut start, mut number) = (at, 0);
                if let Token::AssignId = token {
                    start = self.r.offset() as u64;
                    self.starts.push(start);
                    number = self.starts.len() as u64;
                    token = self.r.next()?;
                }
                if self.begin(start, number, &token)? {
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

    /// Says yes if values of it follow. `number`: as in [`Keys`].
    fn begin(&mut self, start: u64, number: u64, token: &Token<'_>) -> Result<bool> {
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
                let (items, pages) = (*items as u64, Pages::Here(Vec::new()));
                Some(Box::new(Keys { at: start, items, number, complete: true, pages }))
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

    /// Notes the key of a large dict that comes next.
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

/// The hash of the text that stands there, or is referred to; none of what is no text.
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

/// The hash of a key, of its bytes as a writer writes them.
#[allow(clippy::cast_possible_truncation)]
fn hash_of(encoded: &[u8]) -> u32 {
    frame::sum(encoded) as u32
}

fn hash_of_text(text: model::Text<'_>) -> u32 {
    let mut w = writer::Writer::new(Vec::new(), false);
    w.text(text);
    hash_of(&w.out[1..])
}

impl Index {
    /// Goes over a message; one that can't be read has an empty index.
    pub fn of_message(message: &[u8]) -> Index {
        Index::scan(message).unwrap_or_default()
    }

    pub fn scan(message: &[u8]) -> Result<Index> {
        let r = Reader::new(message, true)?;
        let span = span(message);
        // The message's first value has number 0.
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

    /// Whether it says nothing of the message.
    pub fn is_empty(&self) -> bool {
        self.checkpoints.is_empty()
    }

    /// The checkpoint at or before the first for which `beyond` holds.
    fn checkpoint(&self, beyond: impl Fn(&Checkpoint) -> bool) -> Result<Checkpoint> {
        let last = |checkpoints: &[Checkpoint]| {
            let found = checkpoints.partition_point(|checkpoint| !beyond(checkpoint)).checked_sub(1)?;
            Some((found, *checkpoints.get(found)?))
        };
        let Some((number, found)) = last(&self.checkpoints) else {
            return Err(Error::new(ErrorKind::BadFile { why: "an index that says nothing of a place" }, 0));
        };
        let near = self.pages.get(number).and_then(Page::near);
        Ok(near.and_then(|near| last(&near.checkpoints)).map_or(found, |(_, near)| near))
    }

    /// All places of the message, if it was worth it to note them.
    fn places(&self, message: &[u8]) -> Result<Option<&Places>> {
        if self.walks.are_many(message) {
            self.at_hand.whole(message)?;
        }
        Ok(self.walks.places(message))
    }

    /// Where the walks begin that lead to `at`: what lies between is needed as well.
    pub fn walked_from(&self, at: usize) -> usize {
        self.checkpoint(|checkpoint| checkpoint.at > at as u64).map_or(0, |from| from.at as usize)
    }

    /// Where the frames of keys begin that tell of a dict's key; none takes more than [`PAGE_FRAME`] bytes.
    pub fn pages_of(&self, at: usize, text: model::Text<'_>) -> Vec<u64> {
        let Some(Pages::InFile(pages)) = self.keys_of(at).map(|keys| &keys.pages) else { return Vec::new() };
        let hash = hash_of_text(text);
        let from = pages.partition_point(|page| page.0 < hash).saturating_sub(1);
        pages[from..].iter().take_while(|page| page.0 <= hash).map(|page| page.1).collect()
    }

    /// How many objects and shapes were numbered before that place, which a value begins at.
    pub fn counts(&self, message: &[u8], at: usize) -> Result<(u64, u64)> {
        if let Some(places) = self.places(message)? {
            let why = "an index that leads where nothing can be read";
            return places.counts(at as u64).ok_or_else(|| Error::new(ErrorKind::BadFile { why }, at));
        }
        let from = self.checkpoint(|checkpoint| checkpoint.at > at as u64)?;
        let (mut numbers, mut shapes) = (from.numbers, from.shapes);
        let mut r = Window::new(message, &self.at_hand, from.at as usize, true);
        let mut walked = self.walks.begin();
        while r.offset() < at {
            walked.steps += 1;
            if r.is_partial() && r.pass_leaf() {
                continue;
            }
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

    /// Where the value of the object of that number begins.
    pub fn place_of(&self, message: &[u8], number: u64) -> Result<usize> {
        let bad = || Error::new(ErrorKind::BadReference { number }, 0);
        if number >= self.numbers {
            return Err(bad());
        }
        if number == 0 {
            return Ok(1);
        }
        if let Some(places) = self.places(message)? {
            return places.of_number(number).ok_or_else(bad);
        }
        let from = self.checkpoint(|checkpoint| checkpoint.numbers > number)?;
        let mut numbers = from.numbers;
        let mut r = Window::new(message, &self.at_hand, from.at as usize, true);
        let mut walked = self.walks.begin();
        while r.remaining() > 0 {
            walked.steps += 1;
            if r.is_partial() && r.pass_leaf() {
                continue;
            }
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

    /// The shape of that number, and how many objects were numbered before its names.
    pub fn shape<'i>(&self, message: &'i [u8], number: usize) -> Result<(Shape<'i>, u64)> {
        let known = self.shapes.get(number).copied();
        let Some(known) = known else { return Err(Error::new(ErrorKind::BadShape { number: number as u64 }, 0)) };
        match Window::new(message, &self.at_hand, known.at as usize, true).next()? {
            Token::NewShape(shape) => Ok((shape, known.numbers)),
            _ => Err(Error::new(ErrorKind::BadShape { number: number as u64 }, known.at as usize)),
        }
    }

    /// What is lacking, if a way from `at` is long because its page was not read.
    fn lacks_page(&self, at: usize) -> Option<Error> {
        self.missing_page(at).map(|_| self.at_hand.lacks(at))
    }

    fn container(&self, at: usize) -> Option<&Container> {
        let find =
            |containers: &[Container]| containers.binary_search_by_key(&(at as u64), |container| container.at).ok();
        if let Some(found) = find(&self.containers) {
            return self.containers.get(found);
        }
        let near = self.near(at as u64)?;
        near.containers.get(find(&near.containers)?)
    }

    fn keys_of(&self, at: usize) -> Option<&Keys> {
        let find = |keys: &[Keys]| keys.binary_search_by_key(&(at as u64), |keys| keys.at).ok();
        if let Some(found) = find(&self.keys) {
            return self.keys.get(found);
        }
        let near = self.near(at as u64)?;
        near.keys.get(find(&near.keys)?)
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

    /// How many bytes the value takes that begins there, if it is a large container.
    pub fn end_of(&self, at: usize) -> Option<usize> {
        self.container(at).map(|container| container.end as usize)
    }

    /// Passes over the value that begins there: gives where the next begins.
    pub fn skip(&self, message: &[u8], at: usize) -> Result<usize> {
        self.pass(message, at, &mut 0)
    }

    /// As [`Index::skip`]; counts its steps.
    fn pass(&self, message: &[u8], at: usize, steps: &mut u64) -> Result<usize> {
        let mut r = Window::new(message, &self.at_hand, at, true);
        let mut pending: u64 = 1;
        while pending > 0 {
            *steps += 1;
            pending -= 1;
            if r.is_partial() && r.pass_leaf() || r.leaf()?.is_some() {
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

    /// Where the `value`th value of the container at `at` begins, whose first begins at `first`. None where the index says so little of
    /// it that who wants to know had better note places himself: of a container nested too deep, or if it lies.
    pub fn value(&self, message: &[u8], at: usize, first: usize, value: usize) -> Option<Result<usize>> {
        let (mut place, mut left) = (first, value);
        if let Some(container) = self.container(at) {
            let mut nearer = |points: &[Point]| {
                let found = points.partition_point(|point| point.value <= value as u64);
                if let Some(point) = found.checked_sub(1).and_then(|found| points.get(found)) {
                    (place, left) = (point.at as usize, value - point.value as usize);
                }
                place as u64
            };
            let place = nearer(&container.points);
            if let Some(near) = self.near(place).and_then(|near| near.container(container.at)) {
                nearer(&near.points);
            }
        }
        let (mut steps, most) = (0, MOST_STEPS * span(message));
        while left > 0 {
            if steps > most {
                return self.lacks_page(place).map(Err);
            }
            match self.pass(message, place, &mut steps) {
                Ok(next) => place = next,
                Err(error) => return Some(Err(error)),
            }
            left -= 1;
        }
        Some(Ok(place))
    }

    /// Where a text may stand as a key of the dict at `at`, if its keys are in the index. `text` is as a writer writes it;
    /// `file` is the file that the index came from, for the frames that hold keys.
    pub fn search(&self, file: &[u8], at: usize, text: model::Text<'_>) -> Result<Option<Search>> {
        let Some(keys) = self.keys_of(at) else { return Ok(None) };
        let hash = hash_of_text(text);
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
        self.keys_of(at).is_some_and(|keys| keys.complete)
    }

    /// Gives the keys of large dicts to `write`, frame by frame, which says where each is.
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

//! The inline cache. Each dict of a schemaless format repeats its keys, so the keys of the last dict that began alike
//! are expected again. If they come, the dict is a copy of a template whose values are replaced, and a key costs one
//! comparison.
//!
//! Like the caches of names and shapes, it holds only immutable strings.

use crate::budget::hash_cost::HashCost;
use crate::cpython::dict::{self, Pair};
use crate::cpython::{fill, replace, text, Obj, Owned};
use crate::decode::dialect::Dialect;
use crate::decode::frame::{Frame, Kind, LEARNS_KEYS};
use crate::decode::{Decoder, NO_ID};
use crate::error::{raised, Result};
use crate::memory::Vec;
use crate::schema::node::accepts;
use crate::schema::ANY;
use crate::shapes::cache::{DirectMapped, Marks};
use crate::shapes::{Build, Shape};
use crate::state::{Name, StateSlot};
use holdall_format::model::Bytes;
use holdall_format::{Reader, Token};
use pyo3::{ffi, Python};
use std::cell::Cell;
use std::rc::Rc;

const SIZE: usize = 512;
const MOST_KEYS: usize = 64;
/// The names of a shape have at most this many bytes together: half a megabyte for all entries, times `MOST_WAYS`.
const LONGEST: usize = 1024;
/// A shape is dropped once wrong predictions outnumber right ones by this.
const MOST_MISSES: u8 = 4;
/// Then as many dicts with that first key and size come pair by pair before another shape is kept: where keys are there or not by turns,
/// none is right for long, and to keep one takes longer than to read it.
const REST: u8 = 64;

#[derive(Default)]
struct Entry {
    shape: Option<Rc<Shape>>,
    /// Wrong predictions, less the right ones.
    misses: Cell<u8>,
    /// How many dicts are still to come before a shape is kept.
    rest: Cell<u8>,
    /// For formats that do not store the sizes of dicts: the shapes that begin with one key.
    ways: Option<Rc<Ways>>,
}

/// Shapes that begin with the same key, for dicts of unknown size.
struct Ways {
    shapes: Vec<Rc<Shape>>,
    /// The one that was right last.
    last: Cell<usize>,
}

/// At most this many shapes begin with one key. A new one replaces the oldest, but only the 16th time it has no room.
const MOST_WAYS: usize = 8;
const MOST_MISSING: u8 = 16;

impl Shape {
    /// The keys of an expected shape, encoded.
    fn keys(&self) -> &[Vec<u8>] {
        match &self.build {
            Build::Expected(encoded) => encoded,
            _ => &[],
        }
    }
}

impl Ways {
    /// Another shape than `now` that begins with the same `found` keys and fits what comes.
    fn other(&self, now: usize, found: usize, mut fits: impl FnMut(&Shape) -> bool) -> Option<usize> {
        let names = &self.shapes[now].names;
        (0..self.shapes.len()).find(|&at| {
            let shape = &self.shapes[at];
            // The cache of names interns them, so equal names are mostly the same object.
            let alike = shape.names.len() >= found && (0..found).all(|key| shape.names[key].get() == names[key].get());
            at != now && alike && fits(shape)
        })
    }
}

// SAFETY: no other slot has this name.
static CACHE: StateSlot<DirectMapped<Entry, SIZE>> = unsafe { StateSlot::new(Name::InlineShapes) };

// SAFETY: no other slot has this name.
static MARKS: StateSlot<Marks<SIZE>> = unsafe { StateSlot::new(Name::MarksOfInlineShapes) };

fn hash(first: &[u8], len: usize) -> u64 {
    let word = |chunk: Option<&[u8; 4]>| chunk.map_or(0, |chunk| u64::from(u32::from_le_bytes(*chunk)));
    let mix = match first {
        [] => 0,
        [byte, .., last] if first.len() < 4 => u64::from(*byte) | u64::from(*last) << 32,
        [byte] => u64::from(*byte),
        _ => word(first.first_chunk()) | word(first.last_chunk()) << 32,
    };
    (mix ^ (first.len() as u64) << 27 ^ (len as u64) << 59).wrapping_mul(0x9e37_79b9_7f4a_7c15)
}

fn place(first: &[u8], len: usize) -> usize {
    (hash(first, len) >> 55) as usize
}

/// Whether a dict's keys are to be kept: only if the last that was to be kept at this place began alike. Keys that never come again would
/// push out those that do.
fn begins_again(py: Python<'_>, first: &[u8], len: usize) -> bool {
    let (marks, hash) = (MARKS.get(py), hash(first, len));
    let place = (hash >> 55) as usize;
    // The lowest bits say nothing of the size.
    let mark = hash >> 23;
    let again = marks.met(place, mark);
    marks.meet(place, mark);
    again
}

/// What is expected of a dict with some size and first key.
enum Expected {
    /// The keys of this shape.
    Shape(Rc<Shape>),
    /// Nothing yet; its own keys are to be kept for the next.
    Learn,
    /// Nothing: it is the first that begins so, or those before had now these keys and now others.
    Nothing,
}

#[inline(always)]
fn find(py: Python<'_>, first: &[u8], len: usize) -> Expected {
    let found = CACHE.get(py).find(place(first, len), |entry| {
        let Some(shape) = &entry.shape else {
            let rest = entry.rest.get();
            entry.rest.set(rest.saturating_sub(1));
            return (rest > 0).then_some(Expected::Nothing);
        };
        // SAFETY: names are strings, and the shape holds them during the comparison.
        let same = shape.names.len() == len && unsafe { text::ascii(shape.names[0].get()) } == Some(first);
        if !same {
            return None;
        }
        entry.misses.set(entry.misses.get().saturating_sub(1));
        Some(Expected::Shape(shape.clone()))
    });
    match found {
        Some(expected) => expected,
        None if begins_again(py, first, len) => Expected::Learn,
        None => Expected::Nothing,
    }
}

/// The shapes of earlier dicts with this first key.
#[inline(always)]
fn find_ways(py: Python<'_>, first: &[u8]) -> Option<Rc<Ways>> {
    CACHE.get(py).find(place(first, 0), |entry| {
        let ways = entry.ways.as_ref()?;
        // SAFETY: names are strings, and the shapes hold them during the comparison.
        let same = unsafe { text::ascii(ways.shapes[0].names[0].get()) } == Some(first);
        same.then(|| ways.clone())
    })
}

impl<'i, D: Dialect<'i>> Decoder<'i, D> {
    /// A dict of a schemaless format, of which only the size is known.
    pub(crate) fn begin_expected(&mut self, len: usize) -> Result<Option<Owned>> {
        if !(2..=MOST_KEYS).contains(&len) {
            return self.begin_unexpected(len, 0);
        }
        let (before, start) = (self.r.place(), self.r.offset());
        self.r.key();
        let token = self.r.next()?;
        self.r.rewind(before);
        let Token::Text(Bytes::Ascii(first)) = token else { return self.begin_unexpected(len, 0) };
        let shape = match find(self.py, first, len) {
            Expected::Shape(shape) => shape,
            Expected::Learn => return self.begin_unexpected(len, LEARNS_KEYS),
            Expected::Nothing => return self.begin_unexpected(len, 0),
        };
        let Build::Expected(encoded) = &shape.build else { return self.begin_unexpected(len, 0) };
        self.claim(len, 128 + 32 * len)?;
        // SAFETY: the GIL is held while a decoder lives; `dict` is a new copy of the template, which has a slot for each key.
        unsafe {
            let Some(template) = shape.template(start)? else { return self.begin_unexpected(len, 0) };
            let dict = Owned::new(ffi::PyDict_Copy(template.get())).ok_or_else(raised)?;
            let object_id = self.take_id();
            self.opened(object_id, dict.get());
            let mut holds_containers = false;
            for (at, key) in encoded.iter().enumerate() {
                let before = self.r.place();
                let mut value = None;
                if self.r.accept(key) {
                    value = self.next_leaf(accepts::ALL)?;
                    if value.is_none() {
                        value = self.flat(ANY, &mut HashCost::default())?;
                        holds_containers = true;
                    }
                }
                let Some(value) = value else {
                    // The frame reads the key again, and can handle an unexpected one.
                    self.r.rewind(before);
                    let frame = self.frame(Kind::Expected, Some(dict), len, object_id);
                    return Ok(self.push(Frame { at, shape: Some(shape.clone()), ..frame }));
                };
                replace(dict::value_slot(dict.get(), at), value.into_raw());
            }
            if holds_containers {
                fill::track(dict.get());
            }
            self.whole(object_id, dict.get());
            Ok(Some(dict))
        }
    }

    /// A dict that ends at the offset `end`. It is expected to have the keys of an earlier dict with the same first key;
    /// leaves are read until another value comes, or the end.
    pub(crate) fn begin_members(&mut self, end: usize) -> Result<Option<Owned>> {
        if let Some(begun) = D::members(self, end)? {
            return Ok(begun);
        }
        if self.r.offset() == end {
            return self.begin_unexpected(0, 0);
        }
        if D::BACK_REFERENCES && self.object_id != NO_ID && self.object_id != 0 {
            // References must lead to this very dict, but after a wrong guess another dict replaces it.
            let len = self.count(end)?;
            return self.begin_unexpected(len, 0);
        }
        self.tables.leaves.clear();
        let before = self.r.place();
        self.r.key();
        let token = self.r.next()?;
        self.r.rewind(before);
        let (ways, learns) = match token {
            Token::Text(Bytes::Ascii(first)) => match find_ways(self.py, first) {
                Some(ways) => (Some(ways), 0),
                None => (None, if begins_again(self.py, first, 0) { LEARNS_KEYS } else { 0 }),
            },
            _ => (None, 0),
        };
        let Some(ways) = ways else {
            let len = self.count(end)?;
            return self.begin_unexpected(len, learns);
        };
        let mut now = ways.last.get();
        let mut at = 0;
        let mut keys = ways.shapes[now].keys();
        loop {
            let before = self.r.place();
            if at < keys.len() && self.r.offset() < end && self.r.accept(&keys[at]) {
                let Some(value) = self.next_leaf(accepts::ALL)? else {
                    // The frame reads the key again.
                    self.r.rewind(before);
                    break;
                };
                self.tables.leaves.push(value);
                at += 1;
                continue;
            }
            let over = self.r.offset() >= end;
            if over && at == keys.len() {
                break;
            }
            // Another key, or fewer or more keys: those so far may begin another shape.
            let other = ways.other(now, at, |shape| match over {
                true => shape.names.len() == at,
                false => shape.keys().get(at).is_some_and(|key| self.r.accept(key)),
            });
            let Some(other) = other else { break };
            self.r.rewind(before);
            now = other;
            keys = ways.shapes[now].keys();
        }
        let len = match self.r.offset() == end {
            true => at,
            false => at + self.count(end)?,
        };
        if ways.shapes[now].names.len() != len {
            match ways.other(now, at, |shape| shape.names.len() == len) {
                Some(other) => now = other,
                None => return self.unknown_members(&ways.shapes[now], at, len),
            }
        }
        ways.last.set(now);
        self.members_of(&ways.shapes[now], at, len)
    }

    /// Charges a dict of `len` values, of which `here` were read already.
    fn claim_members(&mut self, here: usize, len: usize, bytes: usize) -> Result<()> {
        self.claim(len - here, bytes)?;
        self.bounds.objects = self.bounds.objects.checked_sub(here).ok_or_else(|| self.over(0))?;
        Ok(())
    }

    /// A dict of a known shape, whose first values are in `self.tables.leaves`.
    #[inline(always)]
    fn members_of(&mut self, shape: &Rc<Shape>, here: usize, len: usize) -> Result<Option<Owned>> {
        let start = self.r.offset();
        self.claim_members(here, len, 128 + 32 * len)?;
        // SAFETY: the GIL is held while a decoder lives; `dict` is a new copy of the template, with `len` >= `here` slots.
        unsafe {
            let Some(template) = shape.template(start)? else { return self.unknown_members(shape, here, len) };
            let dict = Owned::new(ffi::PyDict_Copy(template.get())).ok_or_else(raised)?;
            let object_id = self.take_id();
            self.opened(object_id, dict.get());
            // The slots held `None`, so releasing their content runs no code; right afterwards the vector forgets the values.
            for (at, value) in self.tables.leaves.iter().enumerate() {
                replace(dict::value_slot(dict.get(), at), value.get());
            }
            self.tables.leaves.forget_all();
            if here < len {
                let frame = self.frame(Kind::Expected, Some(dict), len, object_id);
                return Ok(self.push(Frame { at: here, shape: Some(shape.clone()), ..frame }));
            }
            self.whole(object_id, dict.get());
            Ok(Some(dict))
        }
    }

    /// A dict of no known shape; its first keys are those of `shape`, their values are in `self.tables.leaves`.
    fn unknown_members(&mut self, shape: &Shape, here: usize, len: usize) -> Result<Option<Owned>> {
        self.claim_members(here, len, 64 + 48 * len)?;
        // SAFETY: the GIL is held while a decoder lives; `shape` holds the keys, which are strings, and the drain the values.
        unsafe {
            let dict = Owned::new(ffi::PyDict_New()).ok_or_else(raised)?;
            let object_id = self.take_id();
            self.opened(object_id, dict.get());
            for (at, value) in self.tables.leaves.drain(..).enumerate() {
                if !dict::set(dict.get(), shape.names[at].get(), value.get()) {
                    return Err(raised());
                }
            }
            let frame = self.frame(Kind::Pairs, Some(dict), 2 * len, object_id);
            Ok(self.push(Frame { at: 2 * here, flags: LEARNS_KEYS, ..frame }))
        }
    }

    fn begin_unexpected(&mut self, len: usize, flags: u8) -> Result<Option<Owned>> {
        // SAFETY: the GIL is held while a decoder lives.
        let dict = unsafe { Owned::new(ffi::PyDict_New()) }.ok_or_else(raised)?;
        self.begin_flagged(dict, len, true, ANY, flags)
    }

    pub(crate) fn run_expected(&mut self) -> Result<Option<Frame<D::Make>>> {
        let depth = self.tables.stack.len();
        let frame = &self.tables.stack[depth - 1];
        let (mut at, len) = (frame.at, frame.len);
        let (Some(object), Some(shape)) = (frame.object.as_ref().map(Owned::get), frame.shape.clone()) else {
            return Ok(self.pop());
        };
        let Build::Expected(encoded) = &shape.build else { return Ok(self.pop()) };
        while at < len {
            if !self.r.accept(&encoded[at]) {
                self.tables.stack[depth - 1].at = at;
                if !(self.r.extents().is_some() && self.another_way(depth, &shape)?) {
                    self.missed(depth, &shape)?;
                }
                return Ok(None);
            }
            self.bounds.owed -= 1;
            match self.value(ANY, accepts::ALL)? {
                // SAFETY: the frame holds the dict, a template's copy; none that can be referred to is built this way.
                Some(value) => unsafe {
                    replace(dict::value_slot(object, at), value.into_raw());
                    at += 1;
                },
                None => {
                    self.tables.stack[depth - 1].at = at;
                    return Ok(None);
                }
            }
        }
        // SAFETY: `object` is a dict, held by the frame, which is popped only below.
        unsafe { fill::track(object) };
        Ok(self.pop())
    }

    /// Handles an unexpected key that another shape has, which is equal up to here: the dict continues with that shape.
    #[cold]
    fn another_way(&mut self, depth: usize, shape: &Shape) -> Result<bool> {
        let frame = &self.tables.stack[depth - 1];
        let (here, len) = (frame.at, frame.len);
        // SAFETY: names are strings, and the shape holds them during the look-up.
        let Some(ways) = (unsafe { text::ascii(shape.names[0].get()) }).and_then(|first| find_ways(self.py, first))
        else {
            return Ok(false);
        };
        let Some(now) = ways.shapes.iter().position(|known| std::ptr::eq(&**known, shape)) else { return Ok(false) };
        let before = self.r.place();
        let other = ways.other(now, here, |shape| match &shape.build {
            Build::Expected(encoded) => shape.names.len() == len && self.r.accept(&encoded[here]),
            _ => false,
        });
        self.r.rewind(before);
        let Some(other) = other.map(|other| &ways.shapes[other]) else { return Ok(false) };
        // SAFETY: the GIL is held while a decoder lives; both dicts are copies of templates with `len` slots, and more than
        // `here`. The frame holds the old one, `dict` the new one.
        unsafe {
            let Some(template) = other.template(self.here())? else { return Ok(false) };
            let dict = Owned::new(ffi::PyDict_Copy(template.get())).ok_or_else(raised)?;
            let frame = &mut self.tables.stack[depth - 1];
            if let Some(expected) = &frame.object {
                for at in 0..here {
                    let value = Owned::borrowed(*dict::value_slot(expected.get(), at));
                    replace(dict::value_slot(dict.get(), at), value.into_raw());
                }
            }
            frame.object = Some(dict);
            frame.shape = Some(other.clone());
        }
        Ok(true)
    }

    /// Handles an unexpected key: the dict continues pair by pair.
    #[cold]
    #[inline(never)]
    fn missed(&mut self, depth: usize, shape: &Shape) -> Result<()> {
        // SAFETY: the GIL is held while a decoder lives; the frame holds the old dict, which has a slot for each name.
        unsafe {
            if let Some(name) = text::ascii(shape.names[0].get()).filter(|_| self.r.extents().is_none()) {
                CACHE.get(self.py).change(place(name, shape.names.len()), |there| {
                    let entry = there.get_or_insert_default();
                    // A prediction has taken one off.
                    entry.misses.set(entry.misses.get() + 2);
                    if entry.misses.get() > MOST_MISSES {
                        *entry = Entry { rest: Cell::new(REST), ..Entry::default() };
                    }
                });
            }
            let dict = Owned::new(ffi::PyDict_New()).ok_or_else(raised)?;
            let frame = &mut self.tables.stack[depth - 1];
            if let Some(expected) = &frame.object {
                for at in 0..frame.at {
                    let value: Obj = *dict::value_slot(expected.get(), at);
                    if !dict::set(dict.get(), shape.names[at].get(), value) {
                        return Err(raised());
                    }
                }
            }
            self.bounds.owed += frame.len - frame.at;
            frame.kind = Kind::Pairs;
            frame.object = Some(dict);
            frame.shape = None;
            // Where sizes are known, one shape was expected, and it stays or none does.
            frame.flags = if self.r.extents().is_some() { LEARNS_KEYS } else { 0 };
            (frame.at, frame.len) = (2 * frame.at, 2 * frame.len);
        }
        Ok(())
    }

    /// Keeps the keys of a dict that was built pair by pair.
    #[inline(never)]
    pub(crate) fn learn(&self, object: Obj, len: usize) {
        // SAFETY: the caller holds the dict in the frame that it popped. No Python code runs that could change it below.
        let Some(entries) = (unsafe { dict::entries(object) }).filter(|entries| entries.len() == len) else { return };
        // SAFETY: the keys of `entries` are strings, which the dict holds.
        let names: Option<Vec<&[u8]>> = entries.iter().map(|&Pair { key, .. }| unsafe { text::ascii(key) }).collect();
        let Some(names) = names else { return };
        let [first, ..] = names[..] else { return };
        // A database reference looks like this: such dicts are built pair by pair, and checked once they are complete.
        if self.r.extents().is_some() && names.iter().any(|name| name.starts_with(b"$")) {
            return;
        }
        if len > MOST_KEYS || names.iter().map(|name| name.len()).sum::<usize>() > LONGEST {
            return;
        }
        let shape = || {
            // SAFETY: the dict holds its keys.
            let mut shape =
                Shape::empty(entries.iter().map(|&Pair { key, .. }| unsafe { Owned::borrowed(key) }).collect());
            shape.build = Build::Expected(names.iter().map(|name| D::Reader::encoded(name)).collect());
            Rc::new(shape)
        };
        let place = place(first, if self.r.extents().is_some() { 0 } else { len });
        CACHE.get(self.py).change(place, |there| {
            let entry = there.get_or_insert_default();
            if self.r.extents().is_some() {
                let is_this =
                    |names: &[Owned]| names.iter().map(Owned::get).eq(entries.iter().map(|&Pair { key, .. }| key));
                entry.learn_way(first, is_this, shape);
            } else {
                *entry = Entry { shape: Some(shape()), ..Entry::default() };
            }
        });
    }
}

impl Entry {
    /// Adds a shape to those that begin with the same key, if it is not among them.
    fn learn_way(&mut self, first: &[u8], is_this: impl Fn(&[Owned]) -> bool, shape: impl FnOnce() -> Rc<Shape>) {
        if let Some(ways) = &self.ways {
            if let Some(known) = ways.shapes.iter().position(|shape| is_this(&shape.names)) {
                return ways.last.set(known);
            }
            if ways.shapes.len() == MOST_WAYS {
                self.misses.set(self.misses.get() + 1);
                if self.misses.get() < MOST_MISSING {
                    return;
                }
            }
        }
        // SAFETY: names are strings, and the shape holds them during the comparison.
        let begins = |shape: &Shape| unsafe { text::ascii(shape.names[0].get()) } == Some(first);
        let mut shapes = match &self.ways {
            Some(ways) if begins(&ways.shapes[0]) => ways.shapes.clone(),
            _ => Vec::new(),
        };
        if shapes.len() == MOST_WAYS {
            shapes.remove(0);
        }
        shapes.push(shape());
        let last = Cell::new(shapes.len() - 1);
        *self = Entry { ways: Some(Rc::new(Ways { shapes, last })), ..Entry::default() };
    }
}

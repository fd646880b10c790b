//! Dicts of plain formats, whose keys stand in every one of them: the keys of the last dict that began alike are expected
//! again. Where they come, the dict is a copy of a template whose values are replaced, and a key costs one comparison.
//!
//! Like the caches of names and layouts, what is kept holds immutable strings only.

use super::frame::{Frame, Kind, GUESSED};
use super::layout::{Build, Layout};
use super::Decoder;
use crate::cpython::{dict, replace, text, Obj, Owned};
use crate::error::{raised, Result};
use crate::schema::node::accepts;
use crate::schema::ANY;
use holdall_format::model::Bytes;
use holdall_format::{Reader, Token};
use pyo3::ffi;
use std::cell::RefCell;
use std::rc::Rc;

const SIZE: usize = 512;
const MOST_KEYS: usize = 64;
/// Together the names of a shape have no more bytes than this: the cache holds at most half a megabyte of them.
const LONGEST: usize = 1024;
/// A shape goes when it was wrong so often in a row.
const MOST_MISSES: u8 = 4;

#[derive(Default)]
struct Entry {
    shape: Option<Rc<Layout>>,
    misses: u8,
}

struct Cache(RefCell<Vec<Entry>>);
// SAFETY: reached only by methods of a decoder, which lives while the GIL is held.
unsafe impl Sync for Cache {}
static CACHE: Cache = Cache(RefCell::new(Vec::new()));

fn place(first: &[u8], len: usize) -> usize {
    let word = |chunk: Option<&[u8; 4]>| chunk.map_or(0, |chunk| u64::from(u32::from_le_bytes(*chunk)));
    let mix = match first {
        [] => 0,
        [byte, .., last] if first.len() < 4 => u64::from(*byte) | u64::from(*last) << 32,
        [byte] => u64::from(*byte),
        _ => word(first.first_chunk()) | word(first.last_chunk()) << 32,
    };
    ((mix ^ (first.len() as u64) << 27 ^ (len as u64) << 59).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 55) as usize
}

/// The shape that dicts of this many items with this first key had.
#[inline(always)]
fn find(first: &[u8], len: usize) -> Option<Rc<Layout>> {
    let cache = CACHE.0.borrow();
    let shape = cache.get(place(first, len))?.shape.as_ref()?;
    // SAFETY: names are strings that the shape holds.
    let same = shape.names.len() == len && unsafe { text::ascii(shape.names[0].get()) } == Some(first);
    same.then(|| shape.clone())
}

impl<'i, R: Reader<'i>> Decoder<'i, R> {
    /// A dict of a plain format of which nothing is known but its size.
    pub(super) fn begin_guessed(&mut self, len: usize) -> Result<Option<Owned>> {
        if !(2..=MOST_KEYS).contains(&len) {
            return self.begin_unguessed(len, 0);
        }
        let before = self.r.offset();
        let token = self.r.next()?;
        self.r.rewind(before);
        let Token::Text(Bytes::Ascii(first)) = token else { return self.begin_unguessed(len, 0) };
        let Some(shape) = find(first, len) else { return self.begin_unguessed(len, GUESSED) };
        let Build::Guessed(encoded) = &shape.build else { return self.begin_unguessed(len, 0) };
        self.claim(len, 128 + 32 * len)?;
        // SAFETY: the GIL is held while a decoder lives; the copy has a place for each name.
        unsafe {
            let Some(template) = shape.template(before)? else { return self.begin_unguessed(len, 0) };
            let dict = Owned::new(ffi::PyDict_Copy(template.get())).ok_or_else(raised)?;
            let mark = self.take_mark();
            self.opened(mark, dict.get());
            for (at, key) in encoded.iter().enumerate() {
                let before = self.r.offset();
                let value = match self.r.accept(key) {
                    true => self.next_leaf(accepts::ALL)?,
                    false => None,
                };
                let Some(value) = value else {
                    // The frame reads the key again: it knows what to do with another one.
                    self.r.rewind(before);
                    let frame = self.frame(Kind::Guessed, Some(dict), len, mark);
                    return Ok(self.push(Frame { at, layout: Some(shape.clone()), ..frame }));
                };
                replace(dict::value_slot(dict.get(), at), value.into_raw());
            }
            self.whole(mark, dict.get());
            Ok(Some(dict))
        }
    }

    fn begin_unguessed(&mut self, len: usize, flags: u8) -> Result<Option<Owned>> {
        // SAFETY: the GIL is held while a decoder lives.
        let dict = unsafe { Owned::new(ffi::PyDict_New()) }.ok_or_else(raised)?;
        let depth = self.stack.len();
        let done = self.begin_pairs(dict, len, true, ANY)?;
        if let Some(frame) = self.stack.get_mut(depth) {
            frame.flags = flags;
        }
        Ok(done)
    }

    pub(super) fn run_guessed(&mut self) -> Result<Option<Frame>> {
        let depth = self.stack.len();
        let frame = &self.stack[depth - 1];
        let (mut at, len) = (frame.at, frame.len);
        let (Some(object), Some(shape)) = (frame.object.as_ref().map(Owned::get), frame.layout.clone()) else {
            return Ok(self.pop());
        };
        let Build::Guessed(encoded) = &shape.build else { return Ok(self.pop()) };
        while at < len {
            if !self.r.accept(&encoded[at]) {
                self.stack[depth - 1].at = at;
                self.missed(depth, &shape)?;
                return Ok(None);
            }
            self.owed -= 1;
            match self.value(ANY, accepts::ALL)? {
                // SAFETY: the frame holds the dict, which nobody else has seen: plain formats have no references.
                Some(value) => unsafe {
                    replace(dict::value_slot(object, at), value.into_raw());
                    at += 1;
                },
                None => {
                    self.stack[depth - 1].at = at;
                    return Ok(None);
                }
            }
        }
        // SAFETY: a dict.
        unsafe { super::fill::track(object) };
        Ok(self.pop())
    }

    /// Another key than the expected: the dict goes on pair by pair.
    #[cold]
    #[inline(never)]
    fn missed(&mut self, depth: usize, shape: &Layout) -> Result<()> {
        // SAFETY: the GIL is held while a decoder lives; the frame holds the dict, with a place for each name.
        unsafe {
            if let Some(name) = text::ascii(shape.names[0].get()) {
                let mut cache = CACHE.0.borrow_mut();
                if let Some(entry) = cache.get_mut(place(name, shape.names.len())) {
                    entry.misses += 1;
                    if entry.misses == MOST_MISSES {
                        *entry = Entry::default();
                    }
                }
            }
            let dict = Owned::new(ffi::PyDict_New()).ok_or_else(raised)?;
            let frame = &mut self.stack[depth - 1];
            if let Some(guessed) = &frame.object {
                for at in 0..frame.at {
                    let value: Obj = *dict::value_slot(guessed.get(), at);
                    if !dict::set(dict.get(), shape.names[at].get(), value) {
                        return Err(raised());
                    }
                }
            }
            self.owed += frame.len - frame.at;
            frame.kind = Kind::Pairs;
            frame.object = Some(dict);
            frame.layout = None;
            frame.flags = GUESSED;
            (frame.at, frame.len) = (2 * frame.at, 2 * frame.len);
        }
        Ok(())
    }

    /// Keeps the keys of a dict that was built pair by pair, if its place is free.
    #[inline(never)]
    pub(super) fn learn(&self, object: Obj, len: usize) {
        // SAFETY: the frame that was just taken down holds the dict.
        let Some(entries) = (unsafe { dict::entries(object) }).filter(|entries| entries.len() == len) else { return };
        // SAFETY: the keys of a live dict.
        let names: Option<Vec<&[u8]>> = entries.iter().map(|&(key, _)| unsafe { text::ascii(key) }).collect();
        let Some(names) = names else { return };
        let [first, ..] = names[..] else { return };
        let mut cache = CACHE.0.borrow_mut();
        if cache.is_empty() {
            cache.resize_with(SIZE, Entry::default);
        }
        let entry = &mut cache[place(first, len)];
        if entry.shape.is_some() || names.iter().map(|name| name.len()).sum::<usize>() > LONGEST {
            return;
        }
        // SAFETY: keys are alive.
        let mut layout = Layout::empty(entries.iter().map(|&(key, _)| unsafe { Owned::borrowed(key) }).collect());
        layout.build = Build::Guessed(names.iter().map(|name| R::encoded(name).into()).collect());
        *entry = Entry { shape: Some(Rc::new(layout)), misses: 0 };
    }
}

//! Shared windows of a log: what a record has named, those after it refer to.

use crate::cpython::{references, text, Obj, Owned};
use crate::encode::dialect::{Dialect, Native, NativeWriter};
use crate::encode::{next_serial, shapes, Encoder, Options, Sharing, Tables, TextKey};
use crate::memory::{HashMap, HashSet, Vec};
use crate::types::walker::BY_PARENT;
use pyo3::ffi;
use pyo3::prelude::*;

/// A longer text has no number: it is unlikely to come again.
const MOST_CHARACTERS: isize = 256;
/// Texts that were met once are remembered by their hash, so many of them.
const MOST_SEEN: usize = 1 << 16;

/// What becomes of a text that is met for the first time in a record.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Lasts {
    /// It is written without a number.
    NoId,
    /// It has one in this record alone.
    No,
    Yes,
}

/// What the records of a shared window have named so far. The shared window's shapes are in its [`Tables`].
pub struct SharedWindow {
    serial: u64,
    texts: HashMap<TextKey, u32, rustc_hash::FxBuildHasher>,
    /// Hashes of texts that were met: the second time such a one comes, it gets a number.
    seen: HashSet<u64, rustc_hash::FxBuildHasher>,
    /// Texts that the record under way has named, in order; and those that have a number in it alone.
    new: Vec<Owned>,
    here: Vec<Owned>,
    /// Classes and names whose addresses stand for them.
    kept: Vec<Owned>,
    /// Objects that have got a number beside the texts.
    objects: u32,
}

impl SharedWindow {
    /// Begins a shared window; forgets the shapes in `tables`.
    pub fn begin(tables: &mut Tables) -> SharedWindow {
        tables.shapes.clear();
        SharedWindow {
            serial: next_serial(),
            texts: HashMap::default(),
            seen: HashSet::default(),
            new: Vec::new(),
            here: Vec::new(),
            kept: Vec::new(),
            objects: 0,
        }
    }

    /// The same shared window, for a message whose first object has that number.
    pub(crate) fn from(self, objects: u32) -> SharedWindow {
        SharedWindow { objects, ..self }
    }

    /// Whether a text that has no number gets one, and whether it keeps it for the records that follow.
    ///
    /// # Safety
    /// `object` is a string.
    pub(crate) unsafe fn meet(&mut self, object: Obj) -> Lasts {
        // SAFETY: a string, says the caller.
        unsafe {
            let short = ffi::PyUnicode_GET_LENGTH(object) <= MOST_CHARACTERS;
            if self.seen.len() >= MOST_SEEN {
                self.seen.clear();
            }
            if short && !self.seen.insert(text::hash(object) as u64) {
                self.new.push(Owned::borrowed(object));
                return Lasts::Yes;
            }
            if references(object) <= BY_PARENT {
                return Lasts::NoId;
            }
            // It may be met again within this record.
            self.here.push(Owned::borrowed(object));
            Lasts::No
        }
    }

    pub(crate) fn named(&mut self, text: Owned) {
        self.new.push(text);
    }

    pub(crate) fn keep(&mut self, object: Owned) {
        self.kept.push(object);
    }
}

impl<'t, W: NativeWriter> Encoder<'t, Native<W>> {
    /// Goes on with a shared window.
    ///
    /// # Safety
    /// The GIL is held while the encoder lives. `tables` are those that the shared window was begun with, and used for
    /// it alone.
    pub unsafe fn of_window(
        py: Python<'t>,
        w: W,
        options: &'t Options,
        tables: &'t mut Tables,
        window: SharedWindow,
    ) -> Self {
        // SAFETY: as the caller says.
        let mut encoder = unsafe { Encoder::with_window(py, w, options, tables, window, Sharing::ByCount) };
        encoder.interns = options.refs;
        encoder
    }

    /// The same; texts have no numbers of their own.
    ///
    /// # Safety
    /// As for [`Encoder::of_window`].
    pub(crate) unsafe fn with_window(
        py: Python<'t>,
        w: W,
        options: &'t Options,
        tables: &'t mut Tables,
        mut window: SharedWindow,
        sharing: Sharing,
    ) -> Self {
        let shapes = std::mem::replace(&mut tables.shapes, shapes::WrittenShapes::new());
        // SAFETY: as the caller says.
        let mut encoder = unsafe { Encoder::new(py, Native::new(), w, options, tables, sharing) };
        encoder.tables.shapes = shapes;
        encoder.serial = window.serial;
        encoder.texts = std::mem::take(&mut window.texts);
        encoder.window = Some(window);
        encoder
    }
}

impl<D: Dialect> Encoder<'_, D> {
    /// The number of the first object.
    pub(crate) fn base(&self) -> u32 {
        match &self.window {
            // What the record itself has named is no part of it.
            Some(window) => window.objects + (self.texts.len() - window.new.len() - window.here.len()) as u32,
            None => 0,
        }
    }

    /// The shared window for the next record. What this one has named keeps its number from now on.
    pub fn into_window(mut self) -> Option<SharedWindow> {
        let mut window = self.window.take()?;
        window.texts = std::mem::take(&mut self.texts);
        for text in window.here.drain(..) {
            window.texts.remove(&TextKey(text));
        }
        let base = window.texts.len() - window.new.len();
        for (at, text) in window.new.drain(..).enumerate() {
            window.texts.insert(TextKey(text), (base + at) as u32);
        }
        Some(window)
    }
}

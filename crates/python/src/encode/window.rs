//! Shared windows of a log: names of a record, to which the following records may refer.

use crate::cpython::{references, text, Obj, Owned};
use crate::encode::dialect::{Dialect, Native, NativeWriter};
use crate::encode::{shapes, Encoder, Options, Sharing, Tables, TextKey};
use crate::memory::{HashMap, HashSet, Vec};
use crate::types::walker::BY_PARENT;
use pyo3::ffi;
use pyo3::prelude::*;

/// Longer texts get no id, because they are unlikely to occur again.
const MOST_CHARACTERS: isize = 256;
/// How many texts that occurred once are remembered, by their hash.
const MOST_SEEN: usize = 1 << 16;

/// How a text is written that occurs for the first time in a record.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Lasts {
    /// Without an id.
    NoId,
    /// With an id for this record only.
    No,
    Yes,
}

/// The names of the records in a shared window so far. The shapes are in its [`Tables`].
pub struct SharedWindow {
    serial: u64,
    texts: HashMap<TextKey, u32, rustc_hash::FxBuildHasher>,
    /// Hashes of texts that occurred: the second time, a text gets an id.
    seen: HashSet<u64, rustc_hash::FxBuildHasher>,
    /// The texts named by the current record, in order.
    new: Vec<Owned>,
    /// The texts with an id in this record only.
    here: Vec<Owned>,
    /// Classes and names, held so that their addresses stay theirs.
    kept: Vec<Owned>,
    /// How many objects other than texts have an id.
    objects: u32,
}

impl SharedWindow {
    /// Begins a shared window; forgets the shapes in `tables`.
    pub fn begin(tables: &mut Tables) -> SharedWindow {
        tables.shapes.clear();
        SharedWindow {
            serial: tables.serials.next(),
            texts: HashMap::default(),
            seen: HashSet::default(),
            new: Vec::new(),
            here: Vec::new(),
            kept: Vec::new(),
            objects: 0,
        }
    }

    /// The same shared window, for a message whose first object has that id.
    pub(crate) fn from(self, objects: u32) -> SharedWindow {
        SharedWindow { objects, ..self }
    }

    /// Whether a text without an id gets one, and whether the following records may use it.
    ///
    /// # Safety
    /// `object` is a string.
    pub(crate) unsafe fn meet(&mut self, object: Obj) -> Lasts {
        // SAFETY: `object` is a string by contract.
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
            // It may occur again within this record.
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
    /// An encoder for the next record of a shared window.
    ///
    /// # Safety
    /// The GIL is held while the encoder lives. `tables` are those with which the shared window was begun, and used for
    /// it alone.
    pub unsafe fn of_window(
        py: Python<'t>,
        w: W,
        options: &'t Options,
        tables: &'t mut Tables,
        window: SharedWindow,
    ) -> Self {
        // SAFETY: the contract is the same.
        let mut encoder = unsafe { Encoder::with_window(py, w, options, tables, window, Sharing::ByCount) };
        encoder.interns = options.refs;
        encoder
    }

    /// The same without ids for texts.
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
        // SAFETY: the contract is the same.
        let mut encoder = unsafe { Encoder::new(py, Native::new(), w, options, tables, sharing) };
        encoder.tables.shapes = shapes;
        encoder.serial = window.serial;
        encoder.tables.texts = std::mem::take(&mut window.texts);
        encoder.window = Some(window);
        encoder
    }
}

impl<D: Dialect> Encoder<'_, D> {
    /// The id of the first object.
    pub(crate) fn base(&self) -> u32 {
        match &self.window {
            // Texts named by this record itself don't count.
            Some(window) => window.objects + (self.tables.texts.len() - window.new.len() - window.here.len()) as u32,
            None => 0,
        }
    }

    /// The shared window for the next record, in which the names of this one keep their ids.
    pub fn into_window(mut self) -> Option<SharedWindow> {
        let mut window = self.window.take()?;
        window.texts = std::mem::take(&mut self.tables.texts);
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

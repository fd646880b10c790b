//! The messages of one pickler: each may refer to objects of those before it.

use super::{Encoder, Options, SharedWindow, Sharing, Tables};
use crate::cpython::{text, Obj, Owned};
use crate::encode::dialect::{Native, NativeWriter};
use crate::encode::memo::{Memo, Met};
use crate::error::Result;
use crate::memory::Vec;
use crate::types::out_of_band::BufferSink;
use pyo3::prelude::*;

/// The ids that the messages of a pickler have assigned so far.
pub struct Series {
    tables: Tables,
    window: SharedWindow,
    /// Objects with an id, held so that their addresses stay theirs.
    kept: Vec<Owned>,
    /// The id of the next message's first object.
    next: u32,
}

impl Series {
    pub fn new() -> Series {
        let mut tables = Tables::new();
        let window = SharedWindow::begin(&mut tables);
        Series { tables, window, kept: Vec::new(), next: 0 }
    }

    /// How many ids have been assigned.
    pub fn objects(&self) -> u32 {
        self.next
    }

    /// How many shapes the next message may use.
    pub fn shapes(&self) -> u32 {
        self.tables.shapes.len()
    }

    /// The objects with their ids.
    pub fn members(&self) -> impl Iterator<Item = (&Owned, u32)> {
        self.kept.iter().filter_map(|object| self.tables.memo.number(object.get()).map(|number| (object, number)))
    }

    /// Gives an object the id that it has in another series.
    pub fn add(&mut self, object: Owned, number: u32) {
        if let Met::Before(_) = self.tables.memo.meet(object.get(), number) {
            self.tables.memo.renumber(object.get(), number);
        }
        self.kept.push(object);
        self.next = self.next.max(number.saturating_add(1));
    }

    /// Marks that many ids as assigned.
    pub fn reach(&mut self, objects: u32) {
        self.next = self.next.max(objects);
    }

    /// Writes another message. After an error the series begins anew, because no reader has the ids assigned meanwhile.
    ///
    /// # Safety
    /// The GIL is held; `root` is alive.
    pub unsafe fn message<W: NativeWriter>(
        &mut self,
        py: Python<'_>,
        w: W,
        options: &Options,
        root: Obj,
        sink: Option<BufferSink>,
    ) -> Result<()> {
        let mut series = std::mem::replace(self, Series::new());
        let memo = std::mem::replace(&mut series.tables.memo, Memo::new());
        let base = series.next;
        let window = series.window.from(base);
        // Every object may be dumped again, even if only its parent holds it now. So all of them get ids, as in a first
        // walk that looks for shared objects.
        let sharing = Sharing::Finding(Default::default());
        // SAFETY: same contract; the tables belong to the shared window.
        let mut encoder = unsafe { Encoder::with_window(py, w, options, &mut series.tables, window, sharing) };
        encoder.tables.memo = memo;
        encoder.buffers.to = sink;
        // SAFETY: `root` is alive by contract.
        unsafe { encoder.again(root, base)? };
        let kept = encoder.take_temporaries();
        let numbered = encoder.tables.memo.number(root) == Some(base);
        series.next = encoder.next_id.max(base + 1);
        let Some(window) = encoder.window.take() else { return Ok(()) };
        drop(encoder);
        series.kept.extend(kept);
        if numbered {
            // SAFETY: `root` is alive by contract.
            series.kept.push(unsafe { Owned::borrowed(root) });
        }
        series.window = window;
        *self = series;
        Ok(())
    }
}

impl<W: NativeWriter> Encoder<'_, Native<W>> {
    /// Writes an object that an earlier message may contain.
    ///
    /// # Safety
    /// `root` is alive.
    unsafe fn again(&mut self, root: Obj, base: u32) -> Result<()> {
        let known = self.tables.memo.number(root);
        // SAFETY: `root` is alive by contract.
        unsafe {
            if known.is_none() && !text::is(root) {
                return self.message(root);
            }
            self.next_id = base + 1;
            if self.asks() && self.by_persistent_id(root)? {
                return self.walk();
            }
            match known {
                Some(number) => self.w.reference(u64::from(number)),
                // A text that is the whole message has no id in other messages.
                None => {
                    self.tables.memo.meet(root, base);
                    self.bare_text(root)?;
                }
            }
        }
        Ok(())
    }
}

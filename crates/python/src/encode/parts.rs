//! The parts of an object that are written next: at once where they need no frame, else by the walk.

use super::value::lone_leaf;
use super::{Encoder, Extra, Frame, Kind, Sharing, Unmade};
use crate::cpython::{text, Obj, Owned};
use crate::encode::dialect::Dialect;
use crate::error::{raised, Result};
use crate::memory::Vec;
use crate::types::walker::{WorkItem, BY_PARENT, BY_PARENT_AND_US};
use holdall_format::model::Text;
use holdall_format::Writer;
use pyo3::{ffi, PyErr};

impl<D: Dialect> Encoder<'_, D> {
    /// Writes these items next, in order.
    pub fn then(&mut self, parts: impl AsRef<[WorkItem]> + Into<Vec<WorkItem>>) {
        // SAFETY: the singleton lives as long as the interpreter; here it means "no object".
        self.then_for(unsafe { Owned::borrowed(ffi::Py_None()) }, parts);
    }

    /// The same for items that are written in place of an object, which is used to detect cycles: the items are new
    /// each time.
    pub fn then_for(&mut self, object: Owned, parts: impl AsRef<[WorkItem]> + Into<Vec<WorkItem>>) {
        let at = self.bare_parts(parts.as_ref());
        if at < parts.as_ref().len() {
            self.parts_from(object, parts.into(), at);
        }
    }

    fn parts_from(&mut self, object: Owned, parts: Vec<WorkItem>, at: usize) {
        let frame =
            Frame { at: at as isize, extra: Some(Extra::Parts(Box::new(parts))), ..Frame::new(object, Kind::Parts) };
        self.tables.stack.push(frame);
    }

    /// Writes the items at the front that are leaves without an identity, which need no frame; says how many these are.
    fn bare_parts(&mut self, parts: &[WorkItem]) -> usize {
        if !D::KEEPS_TYPES || self.looks_closely || self.interns || !matches!(self.sharing, Sharing::ByCount) {
            return 0;
        }
        for (at, part) in parts.iter().enumerate() {
            let (WorkItem::Value(object) | WorkItem::Key(object)) = part else { return at };
            let object = object.get();
            // SAFETY: the item holds its object, which is read as what it is.
            unsafe {
                if text::is(object) {
                    // It may be held by these items and by what they are parts of.
                    let has_none = text::is_singleton(object) || !self.may_be_shared(object, BY_PARENT_AND_US);
                    match text::ascii(object) {
                        Some(ascii) if has_none => self.w.text(Text::Ascii(ascii)),
                        _ => return at,
                    }
                } else if !matches!(lone_leaf(&mut self.w, object), Ok(true)) {
                    return at;
                }
            }
        }
        parts.len()
    }

    /// Writes the parts of an object that exists only when all of them are there, so it can't be one of them.
    pub(crate) fn then_made(&mut self, object: Obj, mut parts: Vec<WorkItem>) {
        if self.tracks() {
            if let Some(number) = self.tables.memo.number(object) {
                self.tables.unmade.insert(number, Unmade::Parts);
                parts.push(WorkItem::Made(number));
            }
        }
        self.then(parts);
    }

    /// Writes the last part of what is being written, which needs no frame to come back to.
    ///
    /// # Safety
    /// As [`Walker::then_last`].
    pub(super) unsafe fn then_last(&mut self, object: Obj) -> Result<()> {
        // SAFETY: by the contract. Its own parts are leaves, so this is not called again within itself.
        unsafe {
            match self.looks_closely {
                true => self.then([WorkItem::Value(Owned::borrowed(object))]),
                false => self.value(object, BY_PARENT)?,
            }
        }
        Ok(())
    }

    /// Writes what a builtin's own iterator gives: the leaves at the front where they are found, the rest with a frame.
    pub(super) fn then_each(&mut self, iterator: &Owned) -> Result<()> {
        let mut rest = Vec::new();
        // SAFETY: `iterator` is one by contract; what it gives is owned.
        unsafe {
            while let Some(item) = Owned::new(ffi::PyIter_Next(iterator.get())) {
                let is_written = rest.is_empty() && !self.looks_closely && self.leaf(item.get(), BY_PARENT_AND_US)?;
                if !is_written {
                    rest.push(WorkItem::Value(item));
                }
            }
        }
        if PyErr::occurred(self.py) {
            return Err(raised());
        }
        self.then(rest);
        Ok(())
    }
}

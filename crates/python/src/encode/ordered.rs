//! Instances as their slots in an order of the format's, which need not be that of the class.

use super::walk::CHANGED;
use super::{Encoder, Extra, Frame, Kind};
use crate::classes::state;
use crate::cpython::{prefetch, Obj, Owned};
use crate::encode::dialect::Dialect;
use crate::error::{encode, Result};
use crate::memory::Vec;
use crate::types::walker::BY_PARENT;
use std::rc::Rc;

impl<D: Dialect> Encoder<'_, D> {
    /// The slots of an instance whose head was written: leaves at once, the rest from a frame.
    ///
    /// # Safety
    /// `object` is an instance of the class that the offsets were read from, and these slots are set.
    #[inline(always)]
    pub(crate) unsafe fn ordered(&mut self, object: Obj, offsets: &Rc<Vec<usize>>) -> Result<()> {
        // SAFETY: an instance of that class, says the caller.
        unsafe {
            for (at, &offset) in offsets.iter().enumerate() {
                let value = state::slot(object, offset);
                if self.leaf(value, BY_PARENT)? {
                    continue;
                }
                let depth = self.tables.stack.len();
                let done = self.shallow(value)?;
                if done && self.tables.stack.len() == depth {
                    continue;
                }
                // After the last slot nothing is left to come back to.
                let at = at + usize::from(done);
                if at < offsets.len() {
                    let frame = Frame {
                        at: at as isize,
                        extra: Some(Extra::Offsets(offsets.clone())),
                        ..Frame::new(Owned::borrowed(object), Kind::Ordered)
                    };
                    self.tables.stack.insert(depth, frame);
                }
                break;
            }
        }
        Ok(())
    }

    pub(crate) unsafe fn walk_ordered(&mut self) -> Result<()> {
        let depth = self.tables.stack.len();
        let frame = &self.tables.stack[depth - 1];
        let (object, mut at) = (frame.object.get(), frame.at as usize);
        let Some(Extra::Offsets(offsets)) = &frame.extra else { return Err(encode("a frame without its offsets")) };
        let offsets = offsets.clone();
        // SAFETY: the frame holds an instance of the class that the offsets were read from. A slot is read anew after
        // all that may run Python code.
        unsafe {
            while let Some(&offset) = offsets.get(at) {
                at += 1;
                let value = state::slot(object, offset);
                if value.is_null() {
                    return Err(encode(CHANGED));
                }
                if self.leaf(value, BY_PARENT)? {
                    continue;
                }
                self.tables.stack[depth - 1].at = at as isize;
                self.value(value, BY_PARENT)?;
                if self.tables.stack.len() != depth {
                    return Ok(());
                }
            }
        }
        self.tables.stack.pop();
        Ok(())
    }

    /// Has the slots of an instance fetched while the one before it is written.
    ///
    /// # Safety
    /// `object` is an instance of the class that the offsets were read from.
    #[inline(always)]
    pub(crate) unsafe fn prefetch_ordered(&self, object: Obj, offsets: &[usize]) {
        for &offset in offsets {
            // SAFETY: an instance of that class, says the caller.
            prefetch(unsafe { state::slot(object, offset) });
        }
    }
}

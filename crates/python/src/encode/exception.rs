//! Exceptions whose arguments and fields are leaves, as those of nearly all are.

use super::dialect::{Native, NativeWriter};
use super::value::is_leaf;
use super::Encoder;
use crate::cpython::{references, Obj};
use crate::encode::sequence::items;
use crate::error::Result;
use crate::types;
use crate::types::walker::BY_PARENT;
use holdall_format::model::Seq;

impl<W: NativeWriter> Encoder<'_, Native<W>> {
    /// Writes the content of an exception: its arguments, and the fields that it has in C. `false`: some need a frame; nothing was written.
    ///
    /// To make a tuple of both, and a dict of the fields, took longer than all else.
    ///
    /// # Safety
    /// `object` is a live exception.
    pub(super) unsafe fn bare_exception(&mut self, object: Obj) -> Result<bool> {
        // SAFETY: by the contract; the exception holds its arguments and fields, and leaves run no code.
        unsafe {
            let Some((arguments, fields)) = types::exception::usual_parts(self.py, object) else { return Ok(false) };
            let (items, fields) = (items(arguments, Seq::Tuple), fields.as_slice());
            let is_own = items.is_empty() || references(arguments) <= BY_PARENT;
            let are_leaves = || items.iter().chain(fields.iter().map(|(_, value)| value)).all(|&item| is_leaf(item));
            if !is_own || self.looks_closely || !are_leaves() {
                return Ok(false);
            }
            self.w.tuple(2);
            self.w.tuple(items.len());
            for &item in items {
                self.leaf(item, BY_PARENT)?;
            }
            if fields.is_empty() {
                self.w.dict(0);
                return Ok(true);
            }
            let is_shape = self.dict_shape(fields.iter().map(|&(name, _)| name))?.is_some();
            if !is_shape {
                self.w.dict(fields.len());
            }
            for &(name, value) in fields {
                if !is_shape {
                    self.leaf(name, BY_PARENT)?;
                }
                self.leaf(value, BY_PARENT)?;
            }
        }
        Ok(true)
    }
}

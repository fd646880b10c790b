//! What pickle knows of objects: `__reduce_ex__` and its like, in trusted messages only.

use crate::cpython::{Obj, Owned};
use crate::encode::{Encoder, Part};
use crate::error::{decode, encode as encode_error, Result};
use holdall_format::Writer;
use pyo3::prelude::*;

impl<W: Writer> Encoder<'_, W> {
    /// Writes an object that has no plain state: through the caller's hook, by reference or by its own recipe.
    ///
    /// # Safety
    /// `object` is alive and its mark was written.
    pub(crate) unsafe fn refused(&mut self, object: Obj, why: &str) -> Result<()> {
        // SAFETY: alive, says the caller.
        let bound = unsafe { Bound::from_borrowed_ptr(self.py, object) };
        if let Some(hook) = &self.options.enc_hook {
            // SAFETY: held.
            let hook = unsafe { Bound::from_borrowed_ptr(self.py, hook.get()) };
            let replacement = hook.call1((&bound,))?;
            self.then(vec![Part::Value(super::owned(&replacement))]);
            return Ok(());
        }
        let name = bound.get_type().fully_qualified_name()?;
        Err(encode_error(format_args!(
            "can't store a `{name}`: {why} `register(..., encode=..., decode=...)`, or `trust=True` if only trusted readers load it"
        )))
    }

    /// Writes a persistent id, where the caller's hook gives one.
    ///
    /// # Safety
    /// `object` is alive.
    pub(crate) unsafe fn persistent(&mut self, _object: Obj) -> Result<bool> {
        Ok(false)
    }

    /// Writes an object by the caller's reducers, where there is one for it.
    ///
    /// # Safety
    /// `object` is alive and its mark was written.
    pub(crate) unsafe fn dispatched(&mut self, _object: Obj) -> Result<bool> {
        Ok(false)
    }
}

/// Makes an object of function and arguments (and keyword arguments, as `flags` say).
pub fn create(_py: Python<'_>, _flags: u8, _parts: &[Owned], at: usize) -> Result<Owned> {
    Err(decode("todo", at))
}

/// Applies what came after function and arguments.
pub fn apply(_py: Python<'_>, _flags: u8, _object: &Owned, _parts: &[Owned], at: usize) -> Result<()> {
    Err(decode("todo", at))
}

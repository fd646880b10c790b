//! NumPy arrays: bytes are taken straight from the input, objects are stored into the array as they come.

use super::frame::{Frame, Kind};
use super::Decoder;
use crate::cpython::Owned;
use crate::decode::dialect::Dialect;
use crate::error::{decode, Result};
use crate::types::buffer::BufferToken;
use crate::types::numpy;
use crate::types::numpy::dtype;
use crate::types::numpy::dtype::{Content, Dtype};
use crate::types::numpy::Head;
use holdall_format::model::Bytes;
use holdall_format::{Reader, Token};
use std::sync::Arc;

impl<'i, D: Dialect<'i>> Decoder<'i, D> {
    /// An array. One of objects is created before its items, so that references from within can reach it.
    pub(crate) fn array(&mut self) -> Result<Option<Owned>> {
        let at = self.here();
        let token = self.r.token()?;
        let dtype = self.dtype(token)?;
        let head = Head::read(&mut self.r, dtype)?;
        if head.dtype.fields > 0 {
            // NumPy takes 130 ns for each field.
            self.rules.work.charge(16 * head.dtype.fields, "arrays of a dtype with many fields", at)?;
        }
        match (head.dtype.content, self.r.token()?) {
            (Content::Bytes, Token::Bytes(items)) => {
                self.claim(0, head.cost.saturating_add(items.len()))?;
                let array = head.of_bytes(self.py, items, at)?;
                self.done(Some(array))
            }
            (Content::Bytes, Token::Buffer { number, out_of_band }) => {
                self.claim(0, head.cost)?;
                let token = BufferToken { number, out_of_band, at };
                let array =
                    self.of_lender(|py, lender, charge| numpy::out_of_band(py, lender, charge, &head, token))?;
                self.done(Some(array))
            }
            (Content::Strings, Token::List(len)) if len == head.count => {
                // Each item is a string at first, then 16 bytes and perhaps a block of its own.
                self.claim(len, (96 * len).saturating_add(head.cost))?;
                let array = head.of_strings(self.py, &mut self.r)?;
                self.done(Some(array))
            }
            (content @ (Content::Objects | Content::Fields), Token::List(len)) if len == head.values(self.py)? => {
                self.claim(len, head.cost.saturating_add(head.count * head.dtype.size))?;
                let (array, places) = match content {
                    Content::Objects => head.of_objects(self.py, at)?,
                    _ => head.of_fields(self.py, at)?,
                };
                if len == 0 {
                    return self.done(Some(array));
                }
                let object_id = self.take_id();
                self.opened(object_id, array.get());
                let frame = self.frame(Kind::Array, Some(array), len, object_id);
                Ok(self.push(Frame { key: Some(places), ..frame }))
            }
            _ => Err(decode("expected as many items as an array's shape says", self.here())),
        }
    }

    /// Stores a value into the array on top of the stack.
    pub(crate) fn array_item(&mut self, at: usize, value: &Owned) -> Result<()> {
        let here = self.here();
        let Some(Frame { key: Some(places), .. }) = self.tables.stack.last() else {
            return Err(decode("a value without its array", here));
        };
        numpy::put(self.py, places, at, value, here)
    }

    pub(crate) fn numpy_scalar(&mut self) -> Result<Option<Owned>> {
        let at = self.here();
        let token = self.r.token()?;
        let made = match numpy::text_scalar(self.py, &mut self.r, token)? {
            Some(made) => made,
            None => {
                let dtype = self.dtype(token)?;
                let item = self.r.token()?;
                self.claim(0, 256 + dtype.size)?;
                numpy::scalar(self.py, &dtype, item, at)?
            }
        };
        self.done(Some(made))
    }

    pub(crate) fn numpy_dtype(&mut self) -> Result<Option<Owned>> {
        let mut cost = dtype::FIELD_BYTES;
        let made = dtype::read(self.py, &mut self.r, &mut cost)?;
        self.claim(0, cost)?;
        self.done(Some(made))
    }

    /// What is known of a dtype; it is examined once, however many arrays refer to it.
    fn dtype_of(&mut self, value: Owned, at: usize) -> Result<Arc<Dtype>> {
        let key = value.get() as usize;
        if let Some((_, known)) = self.memo().dtypes.get(&key) {
            return Ok(known.clone());
        }
        let known = dtype::of_value(self.py, &value, at)?;
        if self.r.indexed().is_some() {
            // Each part of the message counts the fields anew.
            self.rules.work.charge(known.fields.saturating_mul(32), "dtypes with many fields", at)?;
        }
        self.memo().dtypes.insert(key, (value, known.clone()));
        Ok(known)
    }

    /// The dtype of an array or a scalar: a text, or a value that may have come before.
    fn dtype(&mut self, token: Token<'i>) -> Result<Arc<Dtype>> {
        let at = self.here();
        if let Token::Text(Bytes::Ascii(text)) = token {
            return dtype::of_text(self.py, text, at);
        }
        let object_id = self.take_id();
        let value = self.node_of(token)?;
        self.object_id = object_id;
        match value {
            Some(value) => self.dtype_of(value, at),
            None => Err(decode("expected a dtype", at)),
        }
    }
}

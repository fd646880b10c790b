//! Arrays: those of numbers, bits or characters are NumPy's (or bytes, or text), all others a value class that holds objects.

use super::call;
use super::known::{FromLisp, LispMake};
use crate::cpython::{held, new, owned, Owned};
use crate::decode::frame::{Frame, Make};
use crate::decode::{Decoder, Numbered};
use crate::error::{decode, Result};
use crate::memory::Vec;
use crate::schema::ANY;
use holdall_format::model::{ArrayHeader, Dimensions, Element, LispReader};
use holdall_format::Token;
use pyo3::ffi;
use pyo3::prelude::*;
use pyo3::types::{PyByteArray, PyList, PyTuple};

/// Dimensions that any NumPy takes at most.
const MOST_DIMENSIONS: usize = 32;
const BAD_OFFSET: &str = "expected the offset of a displaced array, found another value";

impl<'i, R: LispReader<'i>> Decoder<'i, FromLisp<'i, R>> {
    fn lengths(&self, dimensions: Dimensions<'i>) -> Result<Bound<'i, PyTuple>> {
        let mut lengths = Vec::new();
        for len in R::dimensions(dimensions) {
            if lengths.len() == MOST_DIMENSIONS {
                return Err(decode(format_args!("an array of more than {MOST_DIMENSIONS} dimensions"), self.here()));
            }
            lengths.push(len?);
        }
        Ok(PyTuple::new(self.py, lengths)?)
    }

    /// An array of elements without references; `None` for the dimensions of a vector.
    pub(super) fn packed(
        &mut self,
        element: Element,
        dimensions: Option<Dimensions<'i>>,
        len: usize,
        data: &'i [u8],
    ) -> Result<Option<Owned>> {
        let (py, at) = (self.py, self.here());
        if element == Element::Unsigned8 && dimensions.is_none() {
            self.charge(data.len())?;
            let made = owned(new::bytes(py, data)?.as_any());
            return self.done(Some(made));
        }
        let lengths = dimensions.map(|dimensions| self.lengths(dimensions)).transpose()?;
        // Elements narrower than a byte take one each.
        self.charge(512 + len.max(data.len()))?;
        let lisp = self.dialect.lisp;
        let memory = match &lisp.views {
            Some((owner, base)) => {
                let from = data.as_ptr() as usize - base;
                let slice = pyo3::types::PySlice::new(py, from as isize, (from + data.len()) as isize, 1);
                held(py, owner).get_item(slice)?
            }
            None => {
                self.charge(data.len())?;
                PyByteArray::new(py, data).into_any()
            }
        };
        let made = call(py, &lisp.names.packed, (element as u8, memory, lengths, len));
        let made = owned(&made.map_err(|error| self.refuse(error, at))?);
        self.done(Some(made))
    }

    /// Begins any other array: its element type, then its elements, or the array whose elements it shows.
    pub(super) fn general(&mut self, header: ArrayHeader<'i>) -> Result<Option<Owned>> {
        let (py, at) = (self.py, self.here());
        let outer = self.take_id();
        let element = self.element_type()?;
        let lengths = self.lengths(header.dimensions)?;
        let lisp = self.dialect.lisp;
        self.charge(512)?;
        let arguments = (lengths, held(py, &element), header.fill_pointer, header.adjustable);
        let made = call(py, &lisp.names.array, arguments).map_err(|error| self.refuse(error, at))?;
        let made = owned(&made);
        let offset = match header.displaced {
            true => match self.r.token()? {
                Token::Int(offset) if offset >= 0 => Some(offset as usize),
                _ => return Err(decode(BAD_OFFSET, at)),
            },
            false => None,
        };
        let values = if header.displaced { 1 } else { header.len };
        self.claim(values, 256 + 64 * values)?;
        self.object_id = outer;
        let object_id = self.take_id();
        self.opened(object_id, made.get());
        let make = match offset {
            Some(offset) => LispMake::Displaced { offset },
            None => LispMake::Array,
        };
        let frame = Frame::gather(Make::Dialect(make), Some(made), values, object_id, at);
        match values {
            0 => self.make(frame).map(Some),
            _ => Ok(self.push(frame)),
        }
    }

    /// Begins a simple-vector of a message in which some hold themselves: those are arrays, which can.
    #[cold]
    pub(super) fn simple_vector(&mut self, len: usize) -> Result<Option<Owned>> {
        let (py, at) = (self.py, self.here());
        if !self.dialect.lisp.is_odd(at) {
            return self.begin_tuple(len, ANY, 0);
        }
        self.claim(len, 512 + 64 * len)?;
        let arguments = ((len,), true, py.None(), false);
        let made = call(py, &self.dialect.lisp.names.array, arguments).map_err(|error| self.refuse(error, at))?;
        let made = owned(&made);
        let object_id = self.take_id();
        self.opened(object_id, made.get());
        let frame = Frame::gather(Make::Dialect(LispMake::Array), Some(made), len, object_id, at);
        Ok(self.push(frame))
    }

    /// Before a reference to a simple-vector that is not complete: if the vector directly holds itself, has the message built once
    /// more, with an array in its place. Until then something else stands there.
    pub(super) fn settle_vector(&mut self, number: u64) -> Option<Owned> {
        let Some(Numbered { object: Some(object), hash_cost, .. }) = self.tables.numbered.get(number as usize) else {
            return None;
        };
        // Of an object that is not complete, this is the place of its frame.
        let (place, frame) = (hash_cost.values, self.tables.stack.get(hash_cost.values as usize)?);
        // SAFETY: an owned reference; only its class is looked at. The singleton lives as long as the interpreter.
        unsafe {
            let within = self.tables.stack.last().is_some_and(|top| top.is_value() && place >= top.chain);
            if ffi::PyTuple_CheckExact(object.get()) == 0 || !within {
                return None;
            }
            self.anew(frame.offset);
            Some(Owned::borrowed(ffi::Py_None()))
        }
    }

    /// An element type: T, a symbol, or a list of a symbol and a number.
    fn element_type(&mut self) -> Result<Owned> {
        let before = self.r.place();
        let token = self.r.token()?;
        if let Token::LispValue(holdall_format::model::LispValue::List(2)) = token {
            let name = self.a_symbol()?;
            let width = match self.r.token()? {
                Token::Int(width) => width,
                _ => return Err(decode("expected the width of an array's elements, found another value", self.here())),
            };
            if !self.nil_follows()? {
                return Err(decode("expected the element type of an array, found another list", self.here()));
            }
            let pair = (held(self.py, &name), width).into_pyobject(self.py)?;
            return Ok(owned(pair.as_any()));
        }
        self.r.rewind(before);
        self.a_symbol()
    }

    /// An array with what was gathered for it.
    pub(super) fn filled_array(
        &mut self,
        array: Option<Owned>,
        offset: Option<usize>,
        parts: &[Owned],
        at: usize,
    ) -> Result<Owned> {
        let py = self.py;
        let Some(array) = array else { return Err(decode("an array that was not made", at)) };
        let parts = PyList::new(py, parts.iter().map(|part| held(py, part)))?;
        call(py, &self.dialect.lisp.names.fill_array, (held(py, &array), parts, offset))
            .map_err(|error| self.refuse(error, at))?;
        Ok(array)
    }
}

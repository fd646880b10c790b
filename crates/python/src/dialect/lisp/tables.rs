//! Hash tables. Python's dict holds fewer keys than Lisp's tables: where a key can't be hashed, or equals another, a table
//! becomes pairs.

use super::call;
use super::known::{FromLisp, LispMake};
use crate::budget::hash_cost::may_run_code;
use crate::cpython::{held, owned, Owned};
use crate::decode::frame::{Deferred, Frame, Make};
use crate::decode::hashed::{is_hashable, Adding};
use crate::decode::{Decoder, NO_ID};
use crate::error::{decode, raised, Result};
use crate::memory::Vec;
use holdall_format::model::{LispReader, LispValue};
use holdall_format::Token;
use pyo3::exceptions::PyTypeError;
use pyo3::ffi;
use pyo3::prelude::*;
use pyo3::types::PyTuple;

const BAD_HEADER: &str = "expected the test, the sizes and the weakness of a hash table, found another value";

impl<'i, R: LispReader<'i>> Decoder<'i, FromLisp<'i, R>> {
    /// Begins a hash table: its header, then its keys and values.
    pub(super) fn table(&mut self, count: usize) -> Result<Option<Owned>> {
        let (py, start) = (self.py, self.here());
        let outer = self.take_id();
        let test = self.a_symbol()?;
        let threshold = self.number()?;
        let rehash_size = self.number()?;
        let synchronized = self.a_symbol()?;
        let weakness = self.a_symbol()?;
        let header = [&test, &threshold, &rehash_size, &synchronized, &weakness].map(|part| held(py, part));
        let header = PyTuple::new(py, header)?;
        let lisp = self.dialect.lisp;
        let pairs = lisp.is_odd(start);
        self.object_id = outer;
        self.charge(512)?;
        let made = call(py, if pairs { &lisp.names.pairs } else { &lisp.names.table }, (&header,));
        let made = owned(&made.map_err(|error| self.refuse(error, start))?);
        self.claim(2 * count, 256 + 128 * count)?;
        let object_id = self.take_id();
        self.opened(object_id, made.get());
        if count == 0 {
            self.whole(object_id, made.get());
            return Ok(Some(made));
        }
        let make = Make::Dialect(LispMake::Table { header: owned(header.as_any()), start });
        Ok(self.push(Frame::gather(make, Some(made), 2 * count, object_id, self.here())))
    }

    /// A number within a header.
    fn number(&mut self) -> Result<Owned> {
        let at = self.here();
        let mut token = self.r.token()?;
        let mut object_id = NO_ID;
        if let Token::AssignId = token {
            object_id = self.add_numbered(crate::decode::Numbered::open()) as u32;
            token = self.r.token()?;
        }
        let made = match token {
            Token::Int(_) | Token::Float(_) | Token::LispValue(LispValue::Single(_)) => self.node_of(token)?,
            Token::Reference(number) => {
                let object = self.object_of(number)?;
                // SAFETY: `object` is an owned reference.
                match unsafe { ffi::PyFloat_Check(object.get()) != 0 || ffi::PyLong_Check(object.get()) != 0 } {
                    true => Some(object),
                    false => None,
                }
            }
            _ => None,
        };
        let made = made.ok_or_else(|| decode(BAD_HEADER, at))?;
        self.whole(object_id, made.get());
        Ok(made)
    }

    /// A table with its keys and values, which alternate in `parts`.
    pub(super) fn filled(
        &mut self,
        header: &Owned,
        table: Owned,
        object_id: u32,
        parts: Vec<Owned>,
        (start, at): (usize, usize),
    ) -> Result<Owned> {
        // SAFETY: `table` is an owned reference.
        if unsafe { ffi::PyDict_Check(table.get()) } == 0 {
            return self.as_pairs(&table, parts);
        }
        let adding = Adding::new(&self.r, &self.rules.work, at).again();
        let mut deferred: Vec<Deferred> = Vec::new();
        let mut is_dict = true;
        for pair in parts.chunks_exact(2) {
            let [key, value] = pair else { break };
            // SAFETY: `parts` hold the key and the value, and the frame held the dict until now.
            unsafe {
                let count = ffi::PyDict_Size(table.get());
                if self.late.half_seen && may_run_code(key.get()) {
                    let dict = table.clone();
                    deferred.push(Deferred::Item { dict, key: key.clone(), value: value.clone(), offset: start });
                } else if !is_hashable(key.get()) {
                    is_dict = false;
                } else if !adding.schemaless_item(table.get(), key.get(), value.get())? {
                    let error = PyErr::fetch(self.py);
                    if !error.is_instance_of::<PyTypeError>(self.py) {
                        return Err(self.refuse(error, at));
                    }
                    is_dict = false;
                } else if ffi::PyDict_Size(table.get()) == count {
                    is_dict = false;
                }
            }
            if !is_dict {
                break;
            }
        }
        if is_dict {
            self.late.deferred.extend(deferred);
            return Ok(table);
        }
        self.instead(object_id, start);
        let made = call(self.py, &self.dialect.lisp.names.pairs, (held(self.py, header),));
        let made = owned(&made.map_err(|error| self.refuse(error, at))?);
        self.as_pairs(&made, parts)
    }

    fn as_pairs(&mut self, pairs: &Owned, parts: Vec<Owned>) -> Result<Owned> {
        self.charge(64 * parts.len())?;
        for pair in parts.chunks_exact(2) {
            let [key, value] = pair else { break };
            // SAFETY: the parts are held; `pairs` is of a subclass of list.
            unsafe {
                let pair = Owned::new(ffi::PyTuple_Pack(2, key.get(), value.get())).ok_or_else(raised)?;
                if ffi::PyList_Append(pairs.get(), pair.get()) != 0 {
                    return Err(raised());
                }
            }
        }
        Ok(pairs.clone())
    }

    /// A key that could not be hashed before: where it still can't be, or equals another, the table becomes pairs.
    pub(super) fn set_late(&mut self, dict: &Owned, key: &Owned, value: &Owned, start: usize) -> Result<()> {
        // SAFETY: the caller holds all three.
        unsafe {
            match ffi::PyDict_Contains(dict.get(), key.get()) {
                0 => {
                    let adding = Adding::new(&self.r, &self.rules.work, start);
                    if adding.schemaless_item(dict.get(), key.get(), value.get())? {
                        return Ok(());
                    }
                }
                1 => {
                    self.anew(start);
                    return Ok(());
                }
                _ => {}
            }
        }
        let error = PyErr::fetch(self.py);
        if !error.is_instance_of::<PyTypeError>(self.py) {
            return Err(self.refuse(error, start));
        }
        self.anew(start);
        Ok(())
    }

    /// Has the message built once more, with another form for the value that begins there.
    pub(super) fn anew(&mut self, start: usize) {
        self.dialect.lisp.make_odd(start);
        self.dialect.anew.get_or_insert(start);
    }
}

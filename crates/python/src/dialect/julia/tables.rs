//! Mappings: all their keys come first, then all their values.

use crate::budget::hash_cost::may_run_code;
use crate::cpython::fill;
use crate::cpython::owned;
use crate::cpython::{new, Obj, Owned};
use crate::decode::frame::{Deferred, Frame, Kind, Make, Parts};
use crate::decode::hashed::{is_hashable, Adding};
use crate::decode::{Decoder, State, NO_ID};
use crate::dialect::julia::known::{FromJulia, JuliaMake, JuliaReader};
use crate::dialect::julia::values::{WRONG_DATA, WRONG_SIZE};
use crate::dialect::julia::{bound, call, read_number, Class, Described};
use crate::error::{decode, raised, Asked, Result};
use crate::memory::Vec;
use crate::schema::{NodeId, ANY};
use holdall_format::model::{Dimensions, TypedValue};
use holdall_format::Token;
use pyo3::exceptions::PyTypeError;
use pyo3::ffi;
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::types::{PyList, PySet};
use std::rc::Rc;

impl<'i, R: JuliaReader<'i>> Decoder<'i, FromJulia<'i, R>> {
    /// Starts a mapping: its keys, then its values, for these nodes.
    pub(crate) fn table(&mut self, described: &Rc<Described>, nodes: (NodeId, NodeId)) -> Result<Option<Owned>> {
        self.claim(2, 320)?;
        let (julia, start) = (self.dialect.julia, self.here());
        let dict = match &described.class {
            // By a schema it becomes a plain dict.
            _ if nodes != (ANY, ANY) => owned(new::dict(self.py)?.as_any()),
            Class::Table(_) if julia.is_pairs(start) => {
                let none = new::list(self.py)?;
                owned(&call(self.py, &julia.names.pairs, (bound(self.py, &described.object), &none, &none))?)
            }
            Class::Table(factory) => owned(&call(self.py, factory, (bound(self.py, &described.object),))?),
            _ => return Err(decode(WRONG_DATA, self.here())),
        };
        let object_id = self.take_id();
        self.opened(object_id, dict.get());
        let mut gathered = Vec::with_capacity(2);
        for node in [nodes.0, nodes.1] {
            match self.leaves_of(node)? {
                Some(list) => gathered.push(list),
                None => break,
            }
        }
        let make = Make::Dialect(JuliaMake::Table(described.clone(), nodes, start));
        let parts = Parts { make: Some(make), ..Parts::default() };
        let at = gathered.len();
        let frame = Frame { parts: Some(Box::new(parts)), ..self.frame(Kind::Lists, Some(dict), 2, object_id) };
        let mut frame = Frame { at, ..frame };
        *frame.gathered() = gathered;
        if at == 2 {
            return self.make(frame).map(Some);
        }
        Ok(self.push(frame))
    }

    /// Reads a list of leaves only, or a packed array of numbers; otherwise reads nothing.
    pub(crate) fn leaves_of(&mut self, item: NodeId) -> Result<Option<Owned>> {
        let before = self.r.place();
        let made = match self.r.token()? {
            Token::Items(end) => {
                let accepts = self.rules.node(item).accepts;
                let mut others = false;
                self.tables.leaves.clear();
                while self.r.offset() < end {
                    let Some(value) = self.next_leaf(accepts)? else {
                        self.tables.leaves.clear();
                        others = true;
                        break;
                    };
                    self.tables.leaves.push(value);
                }
                // Of a value that is no leaf the type and name have been read, which may be all of its bytes.
                let whole = self.r.offset() == end && !others;
                let len = self.tables.leaves.len();
                if whole {
                    self.claim(0, 64 + 8 * len)?;
                    self.bounds.objects = self.bounds.objects.checked_sub(len).ok_or_else(|| self.over(0))?;
                    // SAFETY: the GIL is held while a decoder lives.
                    let list = unsafe { Owned::new(ffi::PyList_New(len as isize)) }.ok_or_else(raised)?;
                    // SAFETY: the list was just created with `len` empty slots, one for each leaf.
                    unsafe { fill::first_items(list.get(), &mut self.tables.leaves) };
                    Some(list)
                } else {
                    None
                }
            }
            Token::TypedValue(TypedValue::Packed { element, dimensions, data }) if item == ANY => {
                self.numbers(element, dimensions, data)?
            }
            _ => None,
        };
        if made.is_none() {
            self.tables.leaves.clear();
            self.r.rewind(before);
        }
        Ok(made)
    }

    /// A packed array as a list, if its elements are numbers.
    pub(crate) fn numbers(
        &mut self,
        element: usize,
        dimensions: Dimensions<'i>,
        data: &'i [u8],
    ) -> Result<Option<Owned>> {
        let described = self.described(element)?;
        let Class::Number(_, kind) = &described.class else { return Ok(None) };
        let (dimensions, count) = self.dimensions(dimensions)?;
        if dimensions.len() != 1 {
            return Ok(None);
        }
        let size = self.element_size(count, data)?;
        if size == 0 {
            // Without elements, the size of one can't be seen.
            return match count {
                0 => Ok(Some(owned(new::list(self.py)?.as_any()))),
                _ => Err(decode(WRONG_SIZE, self.here())),
            };
        }
        self.claim(0, 64 + 40 * count)?;
        self.bounds.objects = self.bounds.objects.checked_sub(count).ok_or_else(|| self.over(0))?;
        // SAFETY: the GIL is held while a decoder lives. The slots are filled before others see the list.
        let list = unsafe { Owned::new(ffi::PyList_New(count as isize)) }.ok_or_else(raised)?;
        for (at, bytes) in data.chunks_exact(size).enumerate() {
            let value = read_number(*kind, bytes)?.ok_or_else(|| decode(WRONG_DATA, self.here()))?;
            // SAFETY: `list` is an owned reference to a list with `count` slots; `list_item` checks the index.
            unsafe { fill::list_item(list.get(), at, value) };
        }
        Ok(Some(list))
    }

    /// The parameters of a type, stored as an array of one bits type: each is made as if it stood alone, since nothing
    /// else says its type.
    fn parameters(&mut self, element: usize, dimensions: Dimensions<'i>, data: &'i [u8]) -> Result<Owned> {
        let described = self.described(element)?;
        if let Class::Number(None, _) = &described.class {
            if let Some(list) = self.numbers(element, dimensions, data)? {
                return Ok(list);
            }
        }
        let make = &self.dialect.julia.names.parameters;
        self.values_by(make, element, dimensions, data)
    }

    /// The same for parameters that are all bytes.
    fn parameters_of_bytes(&mut self, data: &'i [u8]) -> Result<Owned> {
        let (py, at, names) = (self.py, self.here(), self.dialect.julia.names);
        self.claim(0, data.len().saturating_mul(64))?;
        let made = call(py, &names.parameters_of_bytes, (new::bytes(py, data)?,));
        Ok(owned(&made.map_err(|error| self.refuse(error, at))?))
    }

    /// A packed array as a list, whatever its elements are.
    fn values_of(&mut self, element: usize, dimensions: Dimensions<'i>, data: &'i [u8]) -> Result<Owned> {
        let make = &self.dialect.julia.names.items;
        self.values_by(make, element, dimensions, data)
    }

    /// A packed array as a list that a function of `holdall.julia` makes.
    fn values_by(&mut self, make: &Owned, element: usize, dimensions: Dimensions<'i>, data: &'i [u8]) -> Result<Owned> {
        let (py, at, julia) = (self.py, self.here(), self.dialect.julia);
        let described = self.described(element)?;
        let (dimensions, count) = self.dimensions(dimensions)?;
        if dimensions.len() != 1 {
            return Err(decode(WRONG_SIZE, at));
        }
        self.element_size(count, data)?;
        self.claim(0, count.saturating_mul(128).saturating_add(data.len().saturating_mul(16)))?;
        let arguments = (bound(py, &described.object), new::bytes(py, data)?, count, bound(py, &julia.types));
        let made = call(py, make, arguments);
        Ok(owned(&made.map_err(|error| self.refuse(error, at))?))
    }

    /// Resumes a `Lists` frame.
    pub(crate) fn run_lists(&mut self) -> Result<Option<Frame<JuliaMake>>> {
        let depth = self.tables.stack.len();
        while self.tables.stack[depth - 1].at < self.tables.stack[depth - 1].len {
            let frame = &self.tables.stack[depth - 1];
            let item = match frame.parts.as_deref() {
                Some(Parts { make: Some(Make::Dialect(JuliaMake::Table(_, nodes, _))), .. }) if frame.at == 0 => {
                    nodes.0
                }
                Some(Parts { make: Some(Make::Dialect(JuliaMake::Table(_, nodes, _))), .. }) => nodes.1,
                _ => ANY,
            };
            let of_type =
                matches!(frame.parts.as_deref(), Some(Parts { make: Some(Make::Dialect(JuliaMake::Type(_))), .. }));
            self.bounds.owed -= 1;
            let before = self.r.place();
            let value = match self.r.token()? {
                Token::Items(end) => self.begin_items(end, item)?,
                Token::TypedValue(TypedValue::Packed { element, dimensions, data }) if of_type => {
                    Some(self.parameters(element, dimensions, data)?)
                }
                Token::Bytes(data) if of_type => Some(self.parameters_of_bytes(data)?),
                Token::TypedValue(TypedValue::Packed { element, dimensions, data }) => {
                    match self.numbers(element, dimensions, data)? {
                        Some(list) if item == ANY => Some(list),
                        Some(list) => Some(self.coerced(list, item)?),
                        None => {
                            let list = self.values_of(element, dimensions, data)?;
                            Some(self.coerced(list, item)?)
                        }
                    }
                }
                _ => {
                    self.r.rewind(before);
                    self.next_node(ANY)?
                }
            };
            match value {
                Some(value) => self.deliver(value)?,
                None => return Ok(None),
            }
        }
        Ok(self.pop())
    }

    /// Coerces each item of a list to a node.
    pub(crate) fn coerced(&self, list: Owned, item: NodeId) -> Result<Owned> {
        if item == ANY {
            return Ok(list);
        }
        let made = new::list(self.py)?;
        for value in bound(self.py, &list).try_iter()? {
            made.append(bound(self.py, &self.as_node(owned(&value?), item)?))?;
        }
        Ok(owned(made.as_any()))
    }

    /// Fills a mapping with its keys and values, or returns pairs if Python can't use a key in a dict.
    pub(crate) fn filled(
        &mut self,
        described: &Described,
        dict: Owned,
        object_id: u32,
        keys: &Owned,
        values: &Owned,
        (start, at): (usize, usize),
    ) -> Result<Owned> {
        let py = self.py;
        let listed = |values| match as_list(py, values).if_taken()? {
            Some(list) => Ok(list),
            None => Err(decode("a mapping whose keys or values are no list", at)),
        };
        let (keys, values) = (listed(keys)?, listed(values)?);
        // SAFETY: both lists are held here. A key's own `__hash__` or `__eq__` could shorten one, so each item is asked for anew, and
        // gets a reference before such code runs.
        unsafe {
            let len = ffi::PyList_Size(keys.get());
            if ffi::PyList_Size(values.get()) != len {
                return Err(decode("a mapping of more keys than values, or fewer", at));
            }
            self.charge(48 * len as usize)?;
            // An earlier round has found that this mapping has to be pairs (`Julia::until_settled`).
            if ffi::PyList_Check(dict.get()) != 0 {
                self.charge(64 * len as usize)?;
                for place in 0..len {
                    let (key, value) =
                        (ffi::PyList_GetItem(keys.get(), place), ffi::PyList_GetItem(values.get(), place));
                    let pair = Owned::new(ffi::PyTuple_Pack(2, key, value)).ok_or_else(raised)?;
                    if ffi::PyList_Append(dict.get(), pair.get()) != 0 {
                        return Err(raised());
                    }
                }
                return Ok(dict);
            }
            let mut deferred = false;
            let adding = Adding::new(&self.r, &self.rules.work, at).again();
            for place in 0..len {
                let (key, value) = (item(&keys, place)?, item(&values, place)?);
                if !is_hashable(key.get()) {
                    return self.pairs(described, object_id, &keys, &values, start);
                }
                if self.late.half_seen && may_run_code(key.get()) {
                    deferred = true;
                    self.late.deferred.push(Deferred::Item { dict: dict.clone(), key, value, offset: start });
                } else if !adding.schemaless_item(dict.get(), key.get(), value.get())? {
                    let error = PyErr::fetch(py);
                    if !error.is_instance_of::<PyTypeError>(py) {
                        return Err(self.refuse(error, at));
                    }
                    return self.pairs(described, object_id, &keys, &values, start);
                }
            }
            // Julia distinguishes some keys that are equal in Python: a text, and a symbol with the same name.
            if !deferred && ffi::PyDict_Size(dict.get()) != len {
                return self.pairs(described, object_id, &keys, &values, start);
            }
        }
        Ok(dict)
    }

    /// Defers the members of a set whose table has keys that can't be hashed yet.
    pub(crate) fn defer_members(&mut self, set: &Owned, table: &Owned) -> Result<()> {
        if self.late.deferred.is_empty() || !bound(self.py, set).is_instance_of::<PySet>() {
            return Ok(());
        }
        let of_table = |deferred: &Deferred| match deferred {
            Deferred::Item { dict, key, offset, .. } if dict.get() == table.get() => {
                Some(Deferred::Member { set: set.clone(), member: key.clone(), offset: *offset })
            }
            _ => None,
        };
        let members: Vec<Deferred> = self.late.deferred.iter().filter_map(of_table).collect();
        if !members.is_empty() {
            // The set takes its order from the table, once that is filled.
            bound(self.py, set).setattr(intern!(self.py, "_order"), bound(self.py, table))?;
        }
        self.late.deferred.extend(members);
        Ok(())
    }

    /// Sets an item whose key could not be hashed when it came. If it still can't be, or equals another key, the mapping at
    /// the offset `start` has to be pairs.
    ///
    /// # Safety
    /// All are alive; `dict` is a dict.
    pub(crate) unsafe fn set_deferred(&mut self, dict: Obj, key: Obj, value: Obj, start: usize) -> Result<()> {
        // SAFETY: all are alive and `dict` is a dict, by contract; the deferred item holds them while keys are compared.
        unsafe {
            match ffi::PyDict_Contains(dict, key) {
                0 if Adding::new(&self.r, &self.rules.work, start).schemaless_item(dict, key, value)? => return Ok(()),
                1 => {}
                _ => {
                    let error = PyErr::fetch(self.py);
                    if !error.is_instance_of::<PyTypeError>(self.py) {
                        return Err(self.refuse(error, start));
                    }
                }
            }
        }
        self.build_anew(start)
    }

    /// Others may have referred to the mapping at this offset as a dict: the message is built again, with pairs instead.
    fn build_anew(&mut self, start: usize) -> Result<()> {
        self.dialect.julia.make_pairs(start);
        self.dialect.anew.get_or_insert(start);
        Ok(())
    }

    /// The pairs that replace a mapping with keys that Python can't use.
    #[cold]
    fn pairs(
        &mut self,
        described: &Described,
        object_id: u32,
        keys: &Owned,
        values: &Owned,
        start: usize,
    ) -> Result<Owned> {
        let py = self.py;
        if object_id != NO_ID {
            if self.tables.numbered[object_id as usize].state == State::Seen {
                self.build_anew(start)?;
            }
            self.tables.numbered[object_id as usize].object = None;
        }
        let pairs = (bound(py, &described.object), bound(py, keys), bound(py, values));
        Ok(owned(&call(py, &self.dialect.julia.names.pairs, pairs)?))
    }
}

/// The item of a list at that place; IndexError if the list has become shorter.
fn item(list: &Owned, place: isize) -> Result<Owned> {
    // SAFETY: `list` is an owned reference to a list; the item is borrowed until it gets a reference, while no Python code runs.
    unsafe {
        match ffi::PyList_GetItem(list.get(), place) {
            item if item.is_null() => Err(raised()),
            item => Ok(Owned::borrowed(item)),
        }
    }
}

/// The items of a sequence or an array, as a list.
fn as_list(py: Python<'_>, object: &Owned) -> PyResult<Owned> {
    let object = bound(py, object);
    if object.is_exact_instance_of::<PyList>() {
        return Ok(owned(&object));
    }
    if let Some(method) = object.getattr_opt("tolist")? {
        return Ok(owned(&method.call0()?));
    }
    // SAFETY: `object` is a live reference; the result is a new reference or null.
    unsafe { Owned::new(ffi::PySequence_List(object.as_ptr())) }.ok_or_else(|| PyErr::fetch(py))
}

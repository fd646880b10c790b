//! Starting containers: each is created empty, with a frame for its content.

use super::frame::{Frame, Kind, Make, DEFAULT_DICT, FIXED, HASHED, LEARNS_KEYS};
use super::Decoder;
use crate::budget::hash_cost::HashCost;
use crate::cpython::fill;
use crate::cpython::Owned;
use crate::decode::dialect::Dialect;
use crate::decode::hashed::Adding;
use crate::decode::run::set_factory;
use crate::error::{decode, raised, Result};
use crate::schema::node::SeqKind;
use crate::schema::{NodeId, ANY};
use crate::types;
use holdall_format::model::KnownType;
use holdall_format::{Reader, Token};
use pyo3::ffi;

/// Lists up to this length are looked at for leaves before they get a frame, in formats that pack leaves of one type.
const FEW: usize = 16;

impl<'i, D: Dialect<'i>> Decoder<'i, D> {
    #[inline(always)]
    pub(crate) fn begin_list(&mut self, len: usize, item: NodeId) -> Result<Option<Owned>> {
        self.claim(len, 64 + 8 * len)?;
        // SAFETY: the GIL is held while a decoder lives. The empty slots are filled before others see the list.
        let list = unsafe { Owned::new(ffi::PyList_New(len as isize)) }.ok_or_else(raised)?;
        if len == 0 {
            return self.done(Some(list));
        }
        let object_id = self.take_id();
        self.opened(object_id, list.get());
        if D::Reader::TYPES && len > FEW {
            let frame = self.frame(Kind::List, Some(list), len, object_id);
            return Ok(self.push(Frame { item, ..frame }));
        }
        self.fill_list(list, 0, len, object_id, item)
    }

    /// Continues a list at index `at`. A list of leaves needs no frame; other than schemaless formats store most of them as
    /// packed runs, so only short ones are tried.
    #[inline(always)]
    fn fill_list(
        &mut self,
        list: Owned,
        mut at: usize,
        len: usize,
        object_id: u32,
        item: NodeId,
    ) -> Result<Option<Owned>> {
        let accepts = self.rules.node(item).accepts;
        while at < len {
            let mut value = self.next_leaf(accepts)?;
            if value.is_none() {
                // A list can't be hashed, so nobody asks what its items cost.
                value = self.flat(item, &mut HashCost::default())?;
            }
            let Some(value) = value else {
                let frame = self.frame(Kind::List, Some(list), len, object_id);
                return Ok(self.push(Frame { at, item, ..frame }));
            };
            // SAFETY: `list` is an owned reference to a list; `list_item` checks the index.
            unsafe { fill::list_item(list.get(), at, value) };
            at += 1;
        }
        self.whole(object_id, list.get());
        Ok(Some(list))
    }

    /// A list that ends at the offset `end`. Leaves are read until another value comes, or the end.
    #[inline(always)]
    pub(crate) fn begin_items(&mut self, end: usize, item: NodeId) -> Result<Option<Owned>> {
        // Leaves are charged only once the length is known: at most this many are read before that.
        const MOST: usize = 1 << 12;
        let accepts = self.rules.node(item).accepts;
        self.tables.leaves.clear();
        let (mut here, mut begun) = (0, false);
        while here < MOST && self.r.offset() < end {
            let Some(value) = self.next_leaf(accepts)? else {
                // The reader has passed the value's type and name, and may be at `end` already.
                begun = true;
                break;
            };
            self.tables.leaves.push(value);
            here += 1;
        }
        let len = match self.r.offset() == end && !begun {
            true => here,
            false => here + self.count(end)?,
        };
        // The leaves read so far are not owed any more.
        self.claim(len - here, 64 + 8 * len)?;
        self.bounds.objects = self.bounds.objects.checked_sub(here).ok_or_else(|| self.over(0))?;
        let object_id = self.take_id();
        // SAFETY: the GIL is held while a decoder lives. The empty slots are filled before others see the list.
        let list = unsafe { Owned::new(ffi::PyList_New(len as isize)) }.ok_or_else(raised)?;
        // SAFETY: the list was just created with `len` empty slots, and there are `here` leaves, at most `len`.
        unsafe { fill::first_items(list.get(), &mut self.tables.leaves) };
        if D::BACK_REFERENCES {
            self.opened(object_id, list.get());
        }
        self.fill_list(list, here, len, object_id, item)
    }

    #[inline(always)]
    pub(crate) fn begin_tuple(&mut self, len: usize, item: NodeId, mut flags: u8) -> Result<Option<Owned>> {
        if self.hashes_next() {
            flags |= HASHED;
        }
        self.claim(len, 48 + 8 * len)?;
        // SAFETY: the GIL is held while a decoder lives. The empty slots are filled before others see the tuple.
        let tuple = unsafe { Owned::new(ffi::PyTuple_New(len as isize)) }.ok_or_else(raised)?;
        if len == 0 {
            return self.done(Some(tuple));
        }
        let (object_id, offset) = (self.take_id(), self.here());
        self.opened(object_id, tuple.get());
        let accepts = self.rules.node(item).accepts;
        let fixed = match self.rules.node(item).seq.as_ref().map(|seq| &seq.kind) {
            Some(SeqKind::Fixed(items)) if flags & FIXED != 0 => Some(items),
            _ => None,
        };
        let mut held = HashCost::default();
        for at in 0..len {
            let accepts = match fixed {
                Some(items) => items.get(at).map_or(0, |&item| self.rules.node(item).accepts),
                None => accepts,
            };
            let mut value = self.next_leaf(accepts)?;
            // In what is hashed, a list of a schemaless format becomes a tuple.
            if value.is_none() && fixed.is_none() && (D::Reader::TYPES || flags & HASHED == 0) {
                value = self.flat(item, &mut held)?;
            }
            let Some(value) = value else {
                let frame = self.frame(Kind::Tuple, Some(tuple), len, object_id);
                return Ok(self.push(Frame { at, item, flags, offset, hash_cost: held, ..frame }));
            };
            // SAFETY: the tuple is new, and `at` is below its length.
            unsafe { fill::tuple_item(tuple.get(), at, value) };
        }
        self.whole(object_id, tuple.get());
        self.costs(object_id, held.around(1, len));
        Ok(Some(tuple))
    }

    /// Adds what hashing a whole object costs, which needed no frame.
    #[inline(always)]
    pub(crate) fn costs(&mut self, object_id: u32, hash_cost: HashCost) {
        let before = std::mem::replace(&mut self.object_id, object_id);
        self.add_hash_cost(hash_cost);
        self.object_id = before;
    }

    /// Whether the next value of a schemaless format will be hashed: it is a key, a set's member, or within one.
    #[inline(always)]
    pub(crate) fn hashes_next(&self) -> bool {
        if D::Reader::TYPES || self.r.typed().is_some() || self.options.msgpack.as_msgpack_python {
            return false;
        }
        self.tables.stack.last().is_some_and(|top| match top.kind {
            Kind::Set => true,
            Kind::Pairs => top.key.is_none(),
            Kind::Tuple => top.flags & HASHED != 0,
            Kind::Gather => {
                let make = top.parts.as_ref().and_then(|parts| parts.make.as_ref());
                matches!(make, Some(Make::FrozenSet))
            }
            _ => false,
        })
    }

    /// Starts to gather the parts of an object.
    pub(crate) fn gather(&mut self, make: Make<D::Make>, len: usize) -> Result<Option<Owned>> {
        self.claim(len, 256 + 64 * len)?;
        let object_id = self.take_id();
        let frame = Frame::gather(make, None, len, object_id, self.here());
        if len == 0 {
            return self.make(frame).map(Some);
        }
        Ok(self.push(frame))
    }

    pub(crate) fn begin_pairs(
        &mut self,
        dict: Owned,
        len: usize,
        hand_over: bool,
        item: NodeId,
    ) -> Result<Option<Owned>> {
        self.begin_flagged(dict, len, hand_over, item, 0)
    }

    /// As [`Decoder::begin_pairs`], with these flags for the frame.
    pub(crate) fn begin_flagged(
        &mut self,
        dict: Owned,
        len: usize,
        hand_over: bool,
        item: NodeId,
        flags: u8,
    ) -> Result<Option<Owned>> {
        self.claim(2 * len, 64 + 48 * len)?;
        let object_id = self.take_id();
        self.opened(object_id, dict.get());
        if len == 0 {
            self.whole(object_id, dict.get());
            return Ok(hand_over.then_some(dict));
        }
        let frame = self.frame(Kind::Pairs, Some(dict), 2 * len, object_id);
        let frame = Frame { hand_over, item, flags, ..frame };
        let is_plain = item == ANY && flags & !(DEFAULT_DICT | LEARNS_KEYS) == 0;
        if D::Reader::COUNTS && is_plain && !self.late.half_seen {
            return self.fill_pairs(frame);
        }
        Ok(self.push(frame))
    }

    pub(crate) fn begin_set(&mut self, set: Owned, len: usize, hand_over: bool, item: NodeId) -> Result<Option<Owned>> {
        self.claim(len, 224 + 40 * len)?;
        let object_id = self.take_id();
        self.opened(object_id, set.get());
        if len == 0 {
            self.whole(object_id, set.get());
            return Ok(hand_over.then_some(set));
        }
        let (accepts, offset) = (self.rules.node(item).accepts, self.here());
        for at in 0..len {
            let Some(member) = self.next_leaf(accepts)? else {
                let frame = self.frame(Kind::Set, Some(set), len, object_id);
                return Ok(self.push(Frame { at, hand_over, item, offset, ..frame }));
            };
            // SAFETY: both are owned references. Hashing a leaf runs no code.
            unsafe { Adding::new(&self.r, &self.rules.work, self.here()).member(set.get(), member.get(), 0)? };
        }
        self.whole(object_id, set.get());
        Ok(hand_over.then_some(set))
    }

    pub(crate) fn begin_frozenset(&mut self, len: usize, item: NodeId) -> Result<Option<Owned>> {
        self.claim(len, 224 + 40 * len)?;
        // SAFETY: the GIL is held while a decoder lives.
        let set = unsafe { Owned::new(ffi::PyFrozenSet_New(std::ptr::null_mut())) }.ok_or_else(raised)?;
        let object_id = self.take_id();
        self.opened(object_id, set.get());
        let (at, before) = (self.here(), self.r.place());
        if len == 0 {
            return self.make(Frame::gather(Make::FrozenSet, Some(set), 0, object_id, at)).map(Some);
        }
        if len > FEW || !self.leaf_members(&set, len, item, at)? {
            self.r.rewind(before);
            let frame = Frame::gather(Make::FrozenSet, Some(set), len, object_id, at);
            return Ok(self.push(Frame { item, ..frame }));
        }
        self.whole(object_id, set.get());
        self.costs(object_id, HashCost { depth: 1, freeing: 0, values: 1 });
        Ok(Some(set))
    }

    /// Fills a frozenset if all its members are leaves; otherwise the caller reads them again.
    fn leaf_members(&mut self, set: &Owned, len: usize, item: NodeId, at: usize) -> Result<bool> {
        let accepts = self.rules.node(item).accepts;
        let mut members = std::mem::take(&mut self.tables.leaves);
        while members.len() < len {
            match self.next_leaf(accepts)? {
                Some(member) => members.push(member),
                None => break,
            }
        }
        let are_leaves = members.len() == len;
        if are_leaves {
            self.fill_now(set, &members, &[], at)?;
        }
        members.clear();
        self.tables.leaves = members;
        Ok(are_leaves)
    }

    pub(crate) fn known(&mut self, known: KnownType) -> Result<Option<Owned>> {
        match known {
            // SAFETY: the datetime API was imported with this module; its UTC lives as long as the interpreter.
            KnownType::Utc => unsafe { self.done(Some(Owned::borrowed(ffi::PyDateTime_TimeZone_UTC()))) },
            KnownType::PythonDeque => {
                let most = self.r.token()?;
                match self.r.token()? {
                    Token::List(len) => self.begin_deque(len, most, ANY),
                    _ => Err(decode("expected the list of a deque's items", self.here())),
                }
            }
            KnownType::PythonOrderedDict | KnownType::PythonCounter => {
                let dict = types::collections::empty(self.py, known)?;
                self.dict_body(dict)
            }
            KnownType::PythonDefaultDict => {
                let dict = types::collections::empty(self.py, known)?;
                self.claim(1, 256)?;
                let object_id = self.take_id();
                self.opened(object_id, dict.get());
                let (at, before) = (self.here(), self.r.place());
                if let Some(factory) = self.quick_factory()? {
                    set_factory(&dict, &factory, at)?;
                    return self.default_dict(dict, object_id, true, DEFAULT_DICT);
                }
                self.r.rewind(before);
                let frame = self.frame(Kind::Factory, Some(dict), 1, object_id);
                Ok(self.push(frame))
            }
            KnownType::NumpyArray => self.array(),
            KnownType::NumpyScalar => self.numpy_scalar(),
            KnownType::NumpyDtype => self.numpy_dtype(),
            _ => self.of_parts(known),
        }
    }

    /// The factory of a default dict, if it is none or a builtin class; otherwise the caller reads it again.
    pub(crate) fn quick_factory(&mut self) -> Result<Option<Owned>> {
        match self.r.token()? {
            // SAFETY: the singleton lives as long as the interpreter.
            Token::None => Ok(Some(unsafe { Owned::borrowed(ffi::Py_None()) })),
            Token::KnownType(known @ KnownType::PythonBuiltinType) => {
                let at = self.here();
                let found = self.of_leaves(known, at)?;
                if found.is_some() {
                    self.claim(0, 256 + 64)?;
                }
                Ok(found.map(|(class, _)| class))
            }
            _ => Ok(None),
        }
    }

    /// A deque of `len` items; `most` is the token of its maxlen.
    pub(crate) fn begin_deque(&mut self, len: usize, most: Token<'i>, item: NodeId) -> Result<Option<Owned>> {
        let deque = types::collections::deque(self.py, most, self.here())?;
        self.claim(len, 640 + 8 * len)?;
        let object_id = self.take_id();
        self.opened(object_id, deque.get());
        let (accepts, offset) = (self.rules.node(item).accepts, self.here());
        for at in 0..len {
            let Some(value) = self.next_leaf(accepts)? else {
                let frame = self.frame(Kind::Append, Some(deque), len, object_id);
                return Ok(self.push(Frame { at, item, offset, ..frame }));
            };
            // SAFETY: both are owned references.
            unsafe { types::collections::append(self.py, deque.get(), value.get())? };
        }
        self.whole(object_id, deque.get());
        self.costs(object_id, HashCost::default().freed(HashCost::OF_DEQUE));
        Ok(Some(deque))
    }

    /// Starts the items of a mapping that was created empty.
    fn dict_body(&mut self, dict: Owned) -> Result<Option<Owned>> {
        match self.r.token()? {
            Token::Dict(len) => self.begin_pairs(dict, len, true, ANY),
            _ => Err(decode("expected the dict of a mapping's items", self.here())),
        }
    }

    /// Starts the items of a default dict whose factory is set. They get a frame with the dict and the id of the old one.
    pub(crate) fn default_dict(
        &mut self,
        dict: Owned,
        object_id: u32,
        hand_over: bool,
        flags: u8,
    ) -> Result<Option<Owned>> {
        match self.r.token()? {
            Token::Dict(len) => {
                self.object_id = object_id;
                self.begin_flagged(dict, len, hand_over, ANY, flags)
            }
            _ => Err(decode("expected the dict of a mapping's items", self.here())),
        }
    }
}

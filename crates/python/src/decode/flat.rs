//! Values that are no leaves, and need no frame either: known types of leaves, packed runs, short lists and tuples of leaves. Most of what
//! holds them needs no frame then: a frame takes as long as three leaves.

use super::frame::{Frame, Kind, DEFAULT_DICT, LEARNS_KEYS};
use super::hashed::{Adding, TWICE};
use super::{Decoder, Numbered, State, NO_ID};
use crate::budget::hash_cost::HashCost;
use crate::cpython::{dict, fill, Owned};
use crate::decode::dialect::Dialect;
use crate::decode::leaves::bytes_of;
use crate::decode::run::{put_field, CHANGED};
use crate::error::{decode, raised, Result};
use crate::schema::node::accepts;
use crate::schema::{NodeId, ANY};
use crate::shapes::{names, Shape};
use holdall_format::model::{KnownType, Leaf, RareLeaf, Seq};
use holdall_format::{Reader, Token};
use pyo3::ffi;
use std::ptr::addr_of_mut;
use std::rc::Rc;

/// Longer lists and tuples get a frame: if one of their items is no leaf, all before it are read a second time.
const SHORT: usize = 16;

impl<'i, D: Dialect<'i>> Decoder<'i, D> {
    /// [`Decoder::field`], or a value of this file. What holds it has to be tracked by the collector.
    #[inline(always)]
    pub(crate) fn field_or_flat(&mut self, node: NodeId, accepts: u32, held: &mut HashCost) -> Result<Option<Owned>> {
        match self.next_leaf(accepts)? {
            None => self.beyond_leaf(node, accepts, held),
            value => Ok(value),
        }
    }

    #[inline(never)]
    fn beyond_leaf(&mut self, node: NodeId, accepts: u32, held: &mut HashCost) -> Result<Option<Owned>> {
        if self.may_be_flat(node) {
            let before = self.r.place();
            // In graphs as frequent as leaves.
            if let Some(Leaf::Reference(number)) = self.r.leaf()? {
                if let Some(known) = self.flat_reference(number) {
                    return Ok(Some(known));
                }
            }
            self.r.rewind(before);
            return match self.marked_flat(accepts)? {
                None => self.read_flat(held),
                value => Ok(value),
            };
        }
        match self.other_field(node, accepts)? {
            None if D::Reader::TYPES => self.empty_field(node),
            value => Ok(value),
        }
    }

    /// The next value, if it is a leaf or an empty dict or list with the mark of an id: what several others hold is often one without
    /// items. Otherwise nothing is read.
    #[inline(always)]
    fn marked_flat(&mut self, accepts: u32) -> Result<Option<Owned>> {
        let before = self.r.place();
        if self.object_id != NO_ID || !self.r.mark() {
            return Ok(None);
        }
        let made = match self.r.leaf()? {
            Some(Leaf::Rare(RareLeaf::EmptyDict)) => {
                self.claim(0, 64)?;
                // SAFETY: the GIL is held while a decoder lives.
                Some(unsafe { Owned::new(ffi::PyDict_New()) }.ok_or_else(raised)?)
            }
            Some(leaf) => self.of_leaf(leaf, accepts)?,
            None => None,
        };
        match &made {
            Some(value) => self.tables.numbered.push(Numbered::whole(value.clone())),
            None => self.r.rewind(before),
        }
        Ok(made)
    }

    /// Whether a value may be made without a frame: near the bound of depth, where it would count as a level with one, it has to count.
    #[inline(always)]
    fn may_be_flat(&self, node: NodeId) -> bool {
        D::Reader::COUNTS
            && node == ANY
            && self.elsewhere.again.is_none()
            && self.r.indexed().is_none()
            && self.tables.stack.len() + 2 < self.bounds.paid_deep
    }

    /// Reads the next value if it is one of this file; adds to `held` what hashing it costs. `None`: nothing was read.
    #[inline(never)]
    pub(crate) fn flat(&mut self, node: NodeId, held: &mut HashCost) -> Result<Option<Owned>> {
        match self.may_be_flat(node) {
            true => self.read_flat(held),
            false if D::Reader::TYPES => self.empty_field(node),
            false => Ok(None),
        }
    }

    #[inline(always)]
    fn read_flat(&mut self, held: &mut HashCost) -> Result<Option<Owned>> {
        let (before, ids) = (self.r.place(), self.object_ids());
        let bounds = (self.bounds.objects, self.bounds.bytes);
        let token = self.r.token()?;
        let made = self.flat_value(token, held)?;
        if made.is_none() {
            self.back_to(before, ids);
            (self.bounds.objects, self.bounds.bytes) = bounds;
        }
        Ok(made)
    }

    /// The value of a token that was read, if it is one of this file; adds to `held` what hashing it costs. `None`: the caller goes
    /// [`Decoder::back_to`] where it begins.
    pub(super) fn flat_value(&mut self, token: Token<'i>, held: &mut HashCost) -> Result<Option<Owned>> {
        match token {
            Token::List(len @ ..=SHORT) => self.flat_items(Seq::List, len),
            Token::Tuple(len @ ..=SHORT) => {
                held.add(if len == 0 { HashCost::default() } else { HashCost::default().around(1, len) });
                self.flat_items(Seq::Tuple, len)
            }
            Token::Dict(0) => {
                self.claim(0, 64)?;
                // SAFETY: the GIL is held while a decoder lives.
                unsafe { Owned::new(ffi::PyDict_New()) }.map(Some).ok_or_else(raised)
            }
            Token::Ints(seq, run) => {
                held.add(cost_of_run(seq, run.len()));
                self.ints(seq, run)
            }
            Token::Floats(seq, run) => {
                held.add(cost_of_run(seq, run.len()));
                self.floats(seq, run)
            }
            Token::Texts(seq, lengths, joined) => {
                held.add(cost_of_run(seq, lengths.len()));
                self.texts(seq, lengths, joined)
            }
            Token::Bools(seq, run) => {
                held.add(cost_of_run(seq, run.len()));
                self.bools(seq, run)
            }
            Token::DateTime { bits, zoned } => self.quick_datetime(bits, zoned),
            Token::Reference(number) => Ok(self.flat_reference(number)),
            Token::AssignId => self.flat_with_id(),
            Token::KnownType(known) if is_flat(known) => {
                let (len, at) = (known.values(), self.here());
                self.claim(len, bytes_of(len))?;
                let Some((made, hash_cost)) = self.of_leaves(known, at)? else { return Ok(None) };
                held.add(hash_cost);
                Ok(Some(made))
            }
            _ => Ok(None),
        }
    }

    /// A complete string, dict or list. Of other objects frames count what hashing and freeing them costs, and which are left out.
    #[inline(always)]
    fn flat_reference(&self, number: u64) -> Option<Owned> {
        let Some(Numbered { object: Some(object), state: State::Whole, .. }) =
            self.tables.numbered.get(number as usize)
        else {
            return None;
        };
        // SAFETY: the table of ids holds the object, and a live object its class.
        let class = unsafe { ffi::Py_TYPE(object.get()) };
        let is_plain = class == addr_of_mut!(ffi::PyUnicode_Type)
            || class == addr_of_mut!(ffi::PyDict_Type)
            || class == addr_of_mut!(ffi::PyList_Type);
        is_plain.then(|| object.clone())
    }

    /// A dict or list of this file whose `AssignId` token was read: what several others hold is often one without items.
    fn flat_with_id(&mut self) -> Result<Option<Owned>> {
        if self.object_id != NO_ID {
            return Ok(None);
        }
        let id = self.add_numbered(Numbered::open());
        let made = match self.r.token()? {
            token @ (Token::Dict(0)
            | Token::List(_)
            | Token::Ints(Seq::List, _)
            | Token::Floats(Seq::List, _)
            | Token::Texts(Seq::List, ..)
            | Token::Bools(Seq::List, _)) => self.flat_value(token, &mut HashCost::default())?,
            _ => None,
        };
        if let Some(made) = &made {
            self.tables.numbered[id] = Numbered::whole(made.clone());
        }
        Ok(made)
    }

    fn flat_items(&mut self, seq: Seq, len: usize) -> Result<Option<Owned>> {
        self.claim(len, 64 + 8 * len)?;
        // SAFETY: the GIL is held while a decoder lives. The new object has `len` empty slots, and nobody else sees it before they are
        // filled, or it is dropped.
        unsafe {
            let (object, places) = super::runs::sequence(seq, len)?;
            for at in 0..len {
                let Some(item) = self.next_leaf(accepts::ALL)? else { return Ok(None) };
                *places.add(at) = item.into_raw();
            }
            Ok(Some(object))
        }
    }

    /// Fills the fields of a new instance, which need no frame as long as their values need none; `held` is what hashing its content
    /// costs.
    pub(crate) fn fill_fields(
        &mut self,
        object: Owned,
        dict: Option<Owned>,
        shape: &Rc<Shape>,
        object_id: u32,
        held: HashCost,
    ) -> Result<Option<Owned>> {
        let len = shape.names.len();
        let frame = self.frame(Kind::Fields, Some(object), len, object_id);
        let mut frame = Frame { shape: Some(shape.clone()), key: dict, hash_cost: held, ..frame };
        while frame.at < len {
            let Some(value) = self.field_or_flat(ANY, accepts::ALL, &mut frame.hash_cost)? else {
                return Ok(self.push(frame));
            };
            let (at, here) = (frame.at, self.here());
            // SAFETY: the frame is of `Kind::Fields`, its object a new instance of the class that its shape is of, and `at` below the
            // number of fields.
            unsafe { put_field(&frame, at, value, here)? };
            frame.at += 1;
        }
        if let Some(dict) = &frame.key {
            // SAFETY: it is the instance's `__dict__`.
            unsafe { fill::track(dict.get()) };
        }
        let Some(object) = frame.object.take() else { return Err(decode(CHANGED, self.here())) };
        self.whole(object_id, object.get());
        self.cost_of_whole(&object, frame.hash_cost, len, object_id);
        Ok(Some(object))
    }
}

impl<'i, D: Dialect<'i>> Decoder<'i, D> {
    /// Fills a dict, which needs no frame as long as neither its keys nor its values need one.
    pub(crate) fn fill_pairs(&mut self, mut frame: Frame<D::Make>) -> Result<Option<Owned>> {
        let Some(dict) = frame.object.clone() else { return Err(decode(CHANGED, self.here())) };
        while frame.at < frame.len {
            let mut cost = HashCost::default();
            let (before, here) = (self.r.place(), self.here());
            let (key, is_name) = match self.r.leaf()? {
                // SAFETY: the GIL is held while a decoder lives; the reader has checked that these bytes are ASCII.
                Some(Leaf::Ascii(name)) => (Some(unsafe { names::name(name) }.ok_or_else(raised)?), true),
                // What is no leaf, a schemaless format may make a tuple of, as it is hashed: its frame does.
                Some(leaf) if !D::Reader::TYPES && !self.options.msgpack.strict_keys => {
                    (self.of_leaf(leaf, accepts::ALL)?, false)
                }
                _ if D::Reader::TYPES => {
                    self.r.rewind(before);
                    (self.field_or_flat(ANY, accepts::ALL, &mut cost)?, false)
                }
                _ => (None, false),
            };
            let Some(key) = key else {
                self.r.rewind(before);
                return Ok(self.push(frame));
            };
            if cost != HashCost::default() {
                self.charge_key(cost, here)?;
            }
            // A dict can't be hashed, so nobody asks what its values cost.
            let Some(value) = self.field_or_flat(ANY, accepts::ALL, &mut HashCost::default())? else {
                frame.at += 1;
                frame.set_key(key, cost.values);
                return Ok(self.push(frame));
            };
            // SAFETY: all are owned references, and `dict` is a dict or of a subclass.
            unsafe { self.add_pair(&dict, &key, &value, is_name, cost)? };
            frame.at += 2;
        }
        if frame.flags & LEARNS_KEYS != 0 {
            self.learn(dict.get(), frame.len / 2);
        }
        self.whole(frame.object_id, dict.get());
        if frame.flags & DEFAULT_DICT != 0 {
            self.costs(frame.object_id, HashCost::default().freed(HashCost::OF_DEQUE));
        }
        Ok(frame.hand_over.then_some(dict))
    }

    /// # Safety
    /// `dict` is a dict or of a subclass; `key` is a string where `is_name` says so.
    #[inline(always)]
    unsafe fn add_pair(
        &mut self,
        dict: &Owned,
        key: &Owned,
        value: &Owned,
        is_name: bool,
        cost: HashCost,
    ) -> Result<()> {
        let here = self.here();
        // SAFETY: by the contract; all are owned references. Hashing a string runs no code.
        unsafe {
            if !is_name || ffi::Py_TYPE(dict.get()) != std::ptr::addr_of_mut!(ffi::PyDict_Type) {
                let adding = Adding::new(&self.r, &self.rules.work, here);
                return adding.item(dict.get(), key.get(), value.get(), cost.values);
            }
            let count = dict::len(dict.get());
            if !dict::set(dict.get(), key.get(), value.get()) {
                return Err(raised());
            }
            match D::Reader::UNIQUE_KEYS && dict::len(dict.get()) == count {
                true => Err(decode(TWICE, here)),
                false => Ok(()),
            }
        }
    }
}

/// What hashing a run costs: a tuple is hashed with what it holds.
fn cost_of_run(seq: Seq, len: usize) -> HashCost {
    match seq {
        Seq::List => HashCost::default(),
        Seq::Tuple => HashCost::default().around(1, len),
    }
}

/// Whether instances are made of leaves, and freed without recursion.
fn is_flat(known: KnownType) -> bool {
    matches!(
        known,
        KnownType::Date
            | KnownType::Time
            | KnownType::Timedelta
            | KnownType::Decimal
            | KnownType::Fraction
            | KnownType::Uuid
            | KnownType::IPv4Address
            | KnownType::IPv6Address
            | KnownType::PythonRange
    )
}

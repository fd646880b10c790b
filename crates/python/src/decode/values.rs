//! The next value: small ones are made at once, a container is started and gets a frame.

use super::frame::{Frame, Kind, Make, HASHED};
use super::schemaless;
use super::{Decoder, Numbered, State, NO_ID};
use crate::budget::hash_cost::HashCost;
use crate::cpython::text::Failure;
use crate::cpython::{dict, float, int, new_bytearray, new_bytes, text as strings, Owned};
use crate::decode::dialect::{Dialect, OUT_OF_PLACE};
use crate::error::{decode, raised, Result};
use crate::schema::node::accepts;
use crate::schema::{time, NodeId, ANY};
use crate::types;
use crate::types::buffer::{BufferToken, Charge, Lender};
use holdall_format::model::{BsonValue, Bytes, KnownType, Leaf, RareLeaf, TextForm};
use holdall_format::{Error as FormatError, ErrorKind, Reader, Token};
use pyo3::ffi;
use pyo3::Python;

/// What hashing an int of that many bytes costs.
fn cost_of_big(bytes: usize) -> HashCost {
    HashCost { values: (bytes / 16) as u32, ..HashCost::default() }
}

impl<'i, D: Dialect<'i>> Decoder<'i, D> {
    /// A string from the bytes of a format.
    #[inline(always)]
    pub(crate) fn string_of(&self, bytes: Bytes<'_>) -> Result<Owned> {
        let (form, bytes) = bytes.split();
        self.string_in(form, bytes)
    }

    #[inline(never)]
    fn string_in(&self, form: TextForm, bytes: &[u8]) -> Result<Owned> {
        // SAFETY: the GIL is held while a decoder lives.
        match unsafe { strings::from_form(form, bytes) } {
            Ok(text) => Ok(text),
            Err(Failure::Raised) => Err(raised()),
            Err(Failure::BadUtf8) => match form {
                TextForm::StrictUtf8 => D::not_utf8(self, bytes),
                _ => None,
            }
            .unwrap_or_else(|| Err(FormatError::new(ErrorKind::BadUtf8, self.here()).into())),
        }
    }

    /// The same from UTF-8 that has not been checked yet.
    pub(crate) fn string(&self, utf8: &[u8]) -> Result<Owned> {
        self.string_of(Bytes::StrictUtf8(utf8))
    }

    /// Calls `ask` with the provider of out-of-band buffers, and charges what that provides to this load.
    pub(crate) fn of_lender<T>(
        &mut self,
        ask: impl FnOnce(Python<'i>, &mut Option<Lender<'i>>, Charge<'_>) -> Result<T>,
    ) -> Result<T> {
        let (py, mut lender) = (self.py, self.lender.take());
        let done = ask(py, &mut lender, &mut |len| self.charge_given(len));
        self.lender = lender;
        done
    }

    /// Reads the next value for a node. `None`: it was started, and its frame pushed.
    ///
    /// `accepts` is that of the node; loops look it up once.
    #[inline(always)]
    pub(crate) fn value(&mut self, node: NodeId, accepts: u32) -> Result<Option<Owned>> {
        let before = self.r.place();
        let Some(leaf) = self.r.leaf()? else { return self.next_node(node) };
        if let Some(value) = self.of_leaf(leaf, accepts)? {
            return Ok(Some(value));
        }
        match leaf {
            // In graphs as frequent as leaves, and as cheap if it bypasses `node`.
            Leaf::Reference(number) if node == ANY => self.numbered(number).map(Some),
            Leaf::Rare(_) if node == ANY => {
                self.r.rewind(before);
                self.rare_value()
            }
            _ => {
                self.r.rewind(before);
                self.next_node(node)
            }
        }
    }

    /// A leaf of the less common kinds, which comes next. (Had it been passed on, all leaves would be kept in memory on their way,
    /// in pieces that the processor has to join again: 4 ns each.)
    #[inline(never)]
    fn rare_value(&mut self) -> Result<Option<Owned>> {
        let Some(Leaf::Rare(leaf)) = self.r.leaf()? else { return Err(decode(OUT_OF_PLACE, self.here())) };
        if self.object_id != NO_ID || self.hashes_next() {
            return self.node_of(leaf.into());
        }
        // SAFETY: the GIL is held while a decoder lives; the bytes are readable for their length.
        let made = unsafe {
            match leaf {
                RareLeaf::BigInt(bytes) => {
                    self.add_hash_cost(cost_of_big(bytes.len()));
                    int::from_bytes(bytes)
                }
                RareLeaf::Complex(real, imag) => Owned::new(ffi::PyComplex_FromDoubles(real, imag)),
                RareLeaf::ByteArray(bytes) => new_bytearray(bytes),
                RareLeaf::EmptyList => {
                    self.claim(0, 64)?;
                    Owned::new(ffi::PyList_New(0))
                }
                RareLeaf::EmptyTuple => {
                    self.claim(0, 48)?;
                    Owned::new(ffi::PyTuple_New(0))
                }
                RareLeaf::EmptyDict => {
                    self.claim(0, 64)?;
                    Owned::new(ffi::PyDict_New())
                }
            }
        };
        made.map(Some).ok_or_else(raised)
    }

    /// Reads the next value if it is an empty container, which needs no frame either: many documents are full of them. What holds it
    /// has to be tracked by the collector.
    #[inline(never)]
    pub(crate) fn empty_field(&mut self, node: NodeId) -> Result<Option<Owned>> {
        // With its frame the container would count as a level: near the bound that has to be so.
        if node == ANY && self.object_id == NO_ID && self.tables.stack.len() + 1 < self.bounds.paid_deep {
            let before = self.r.place();
            match self.r.leaf()? {
                Some(Leaf::Rare(RareLeaf::EmptyList | RareLeaf::EmptyDict | RareLeaf::EmptyTuple)) => {
                    self.r.rewind(before);
                    return self.rare_value();
                }
                _ => self.r.rewind(before),
            }
        }
        Ok(None)
    }

    /// Reads the next value, which is not a leaf that the node accepts unchanged.
    #[inline(never)]
    pub(crate) fn next_node(&mut self, node: NodeId) -> Result<Option<Owned>> {
        if node == ANY {
            if let Some(value) = self.marked_leaf(accepts::ALL)? {
                return Ok(Some(value));
            }
            let token = self.r.next()?;
            return self.node(token);
        }
        let start = self.r.start();
        self.start = start;
        if let (Some(class), Some(rest)) = (&self.rules.node(node).raw, self.r.rest()) {
            return self.raw(class, rest);
        }
        let token = self.r.next()?;
        self.typed(token, node).map_err(|fault| fault.found(start))
    }

    /// Reads the next value if it needs no frame, like leaves (with an id, too), datetimes and references to strings.
    ///
    /// `None`: it is something else, and its token is still unread.
    #[inline(always)]
    pub(crate) fn field(&mut self, node: NodeId, accepts: u32) -> Result<Option<Owned>> {
        match self.next_leaf(accepts)? {
            None => self.other_field(node, accepts),
            value => Ok(value),
        }
    }

    /// Reads the next value if it is a leaf that is accepted unchanged; otherwise reads nothing.
    ///
    /// A leaf stays in registers. A token passed to another function goes through memory, in pieces that the processor has
    /// to join again: passing it on was more than a third of loading small instances.
    #[inline(always)]
    pub(crate) fn next_leaf(&mut self, accepts: u32) -> Result<Option<Owned>> {
        let before = self.r.place();
        let Some(leaf) = self.r.leaf()? else { return Ok(None) };
        let value = self.of_leaf(leaf, accepts)?;
        if value.is_none() {
            self.r.rewind(before);
        }
        Ok(value)
    }

    /// The next value, if it is such a leaf with the mark of an id; otherwise reads nothing. Most texts of small messages are.
    #[inline(always)]
    pub(super) fn marked_leaf(&mut self, accepts: u32) -> Result<Option<Owned>> {
        // A value that is read again has its id already.
        if self.object_id != NO_ID || self.elsewhere.again.is_some() {
            return Ok(None);
        }
        let before = self.r.place();
        if !self.r.mark() {
            return Ok(None);
        }
        let value = self.next_leaf(accepts)?;
        match &value {
            Some(value) => self.tables.numbered.push(Numbered::whole(value.clone())),
            None => self.r.rewind(before),
        }
        Ok(value)
    }

    #[inline(always)]
    pub(crate) fn of_leaf(&mut self, leaf: Leaf<'i>, accepts: u32) -> Result<Option<Owned>> {
        // SAFETY: the GIL is held while a decoder lives; the reader has checked the bytes of `Leaf::Ascii`.
        unsafe {
            let made = match leaf {
                Leaf::Ascii(bytes) if accepts & accepts::STR != 0 => strings::from_ascii(bytes),
                Leaf::Int(value) if accepts & accepts::INT != 0 => int::from_value(value),
                Leaf::Float(value) if accepts & accepts::FLOAT != 0 => float::from_value(value),
                Leaf::None if accepts & accepts::NONE != 0 => Some(Owned::borrowed(ffi::Py_None())),
                Leaf::Bool(value) if accepts & accepts::BOOL != 0 => {
                    Some(Owned::borrowed(if value { ffi::Py_True() } else { ffi::Py_False() }))
                }
                Leaf::Utf8(bytes) if accepts & accepts::STR != 0 => Some(self.string(bytes)?),
                Leaf::Text(bytes) if accepts & accepts::STR != 0 => Some(self.string_of(bytes)?),
                Leaf::Bytes(bytes) if accepts & accepts::BYTES != 0 => new_bytes(bytes),
                _ => return Ok(None),
            };
            made.map(Some).ok_or_else(raised)
        }
    }

    #[inline(never)]
    pub(super) fn other_field(&mut self, node: NodeId, accepts: u32) -> Result<Option<Owned>> {
        if let Some(value) = self.marked_leaf(accepts)? {
            return Ok(Some(value));
        }
        let (before, start) = (self.r.place(), self.r.start());
        let token = self.r.next()?;
        let found = match node {
            ANY => self.shared_field(token, accepts)?,
            _ => self.typed_field(token, node, accepts).map_err(|fault| fault.found(start))?,
        };
        if found.is_none() {
            self.r.rewind(before);
        }
        Ok(found)
    }

    pub(crate) fn shared_field(&mut self, token: Token<'i>, accepts: u32) -> Result<Option<Owned>> {
        match token {
            // It may refer to a container that the collector has to track, or to an unfinished object. Both need the
            // frame of the container that refers to them.
            Token::Reference(_) if self.r.indexed().is_some() => Ok(None),
            Token::Reference(number) => {
                let Some(Numbered { object: Some(known), state: State::Whole, .. }) =
                    self.tables.numbered.get(number as usize)
                else {
                    return Ok(None);
                };
                // SAFETY: the table of ids holds `known`.
                let fits = accepts & accepts::STR != 0 && unsafe { strings::is(known.get()) };
                Ok(fits.then(|| known.clone()))
            }
            Token::AssignId => {
                // A value that is read again has its id already.
                if self.elsewhere.again.is_some() {
                    return Ok(None);
                }
                let Some(value) = self.next_leaf(accepts)? else { return Ok(None) };
                self.tables.numbered.push(Numbered::whole(value.clone()));
                Ok(Some(value))
            }
            Token::DateTime { bits, zoned } => self.quick_datetime(bits, zoned),
            _ => Ok(None),
        }
    }

    /// A datetime without a zone or in UTC; `None` for other zones.
    pub(crate) fn quick_datetime(&mut self, bits: u64, zoned: bool) -> Result<Option<Owned>> {
        let at = self.here();
        // SAFETY: `None` and the UTC of the datetime API, imported with this module, live as long as the interpreter.
        let zone = unsafe {
            match zoned {
                false => Owned::borrowed(ffi::Py_None()),
                true => match self.r.token()? {
                    Token::KnownType(KnownType::Utc) => Owned::borrowed(ffi::PyDateTime_TimeZone_UTC()),
                    _ => return Ok(None),
                },
            }
        };
        // SAFETY: `zone` is an owned reference.
        unsafe { types::datetime::datetime(bits, zone.get(), at) }.map(Some)
    }

    /// The object with this id. `None`: it stands elsewhere in the message, and was started now.
    #[inline(always)]
    pub(crate) fn referred(&mut self, number: u64, id: NodeId) -> Result<Option<Owned>> {
        if self.r.indexed().is_some() {
            return self.far_object(number, id);
        }
        let index = number as usize;
        if D::BACK_REFERENCES && self.tables.numbered.get(index).is_some_and(|known| known.state == State::Skipped) {
            return D::referred(self, index, id);
        }
        self.numbered(number).map(Some)
    }

    /// Reserves the id of the object that follows; `None` if that object exists already.
    pub(crate) fn begin_id(&mut self) -> Result<Option<u32>> {
        if self.object_id != NO_ID {
            return Err(decode("a mark of a mark", self.here()));
        }
        let (object_id, new) = self.add_or_meet(Numbered::open());
        self.object_id = object_id as u32;
        Ok(new.then_some(object_id as u32))
    }

    /// A value that is not a leaf.
    #[inline]
    fn node(&mut self, token: Token<'i>) -> Result<Option<Owned>> {
        match token {
            Token::Reference(number) => self.referred(number, ANY),
            Token::Instance(number) => {
                let shape = self.shape_of(number)?;
                self.instance(&shape)
            }
            Token::AssignId => self.with_id(),
            // A schemaless format has one kind of sequence; where it will be hashed, it becomes a tuple.
            Token::List(len) if self.hashes_next() => self.begin_tuple(len, ANY, HASHED),
            Token::List(len) => self.begin_list(len, ANY),
            Token::Items(end) if self.hashes_next() => {
                let len = self.count(end)?;
                self.begin_tuple(len, ANY, HASHED)
            }
            Token::Items(end) => self.begin_items(end, ANY),
            Token::Members(end) => self.begin_members(end),
            Token::Tuple(len) => D::tuple(self, len),
            Token::Floats(seq, run) => {
                self.add_run_cost(seq, run.len());
                self.floats(seq, run)
            }
            Token::Ints(seq, run) => {
                self.add_run_cost(seq, run.len());
                self.ints(seq, run)
            }
            Token::NewShape(token) => {
                let object_id = self.take_id();
                let shape = self.shape(&token)?;
                self.object_id = object_id;
                self.instance(&shape)
            }
            _ => self.rare(token),
        }
    }

    /// A value whose `AssignId` token was read.
    #[inline(never)]
    fn with_id(&mut self) -> Result<Option<Owned>> {
        let Some(object_id) = self.begin_id()? else { return self.take_again() };
        if let Some(value) = self.next_leaf(accepts::ALL)? {
            self.whole(object_id, value.get());
            self.object_id = NO_ID;
            return Ok(Some(value));
        }
        match self.r.next()? {
            Token::AssignId | Token::Reference(_) => Err(decode("a mark of what has a number", self.here())),
            token => self.node_of(token),
        }
    }

    /// [`Decoder::node`] for callers that have the token already and are called less often: it is not inlined.
    #[inline(never)]
    pub(crate) fn node_of(&mut self, token: Token<'i>) -> Result<Option<Owned>> {
        self.node(token)
    }

    /// Enters a finished object under the reserved id. `None`: an exception was raised.
    pub(crate) fn done(&mut self, value: Option<Owned>) -> Result<Option<Owned>> {
        let value = value.ok_or_else(raised)?;
        let object_id = self.take_id();
        self.whole(object_id, value.get());
        Ok(Some(value))
    }

    pub(crate) fn frame(&self, kind: Kind, object: Option<Owned>, len: usize, object_id: u32) -> Frame<D::Make> {
        Frame::new(kind, object, len, object_id, self.here())
    }

    /// Pushes a frame; from now on its values count as owed (`Bounds::owed`).
    #[inline(always)]
    pub(crate) fn push(&mut self, mut frame: Frame<D::Make>) -> Option<Owned> {
        crate::memory::check();
        self.bounds.owed += frame.len - frame.at;
        frame.chain = match self.tables.stack.last() {
            Some(below) if below.is_value() => below.chain,
            _ => self.tables.stack.len() as u32,
        };
        self.tables.stack.push(frame);
        None
    }

    #[inline(never)]
    fn rare(&mut self, token: Token<'i>) -> Result<Option<Owned>> {
        let here = self.here();
        // SAFETY: the GIL is held while a decoder lives; each slice is readable for the length passed along with it.
        unsafe {
            match token {
                Token::Text(bytes) => {
                    let made = self.string_of(bytes)?;
                    self.done(Some(made))
                }
                // In forms that readers do not return as leaves.
                Token::Int(value) => self.done(int::from_value(value)),
                Token::Float(value) => self.done(float::from_value(value)),
                Token::BigInt(bytes) => {
                    self.add_hash_cost(cost_of_big(bytes.len()));
                    self.done(int::from_bytes(bytes))
                }
                Token::UInt(value) => self.done(Owned::new(ffi::PyLong_FromUnsignedLongLong(value))),
                Token::Timestamp { seconds, nanoseconds } => {
                    let made = if self.options.msgpack.timestamps {
                        schemaless::exact_timestamp(self.py, seconds, nanoseconds)?
                    } else {
                        self.moment(seconds, nanoseconds, self.options.naive, here)?
                    };
                    self.done(Some(made))
                }
                Token::BsonValue(value) => self.bson_value(value, here),
                Token::Extension { code, data } => {
                    let made = schemaless::of_extension(self.py, code, data, self.options.msgpack.ext_hook.as_ref())?;
                    self.done(Some(made))
                }
                Token::Complex(real, imag) => self.done(Owned::new(ffi::PyComplex_FromDoubles(real, imag))),
                Token::TypedValue(value) => D::typed_value(self, value),
                Token::LispValue(value) => D::lisp_value(self, value),
                Token::Bytes(bytes) => D::bytes(self, bytes),
                Token::ByteArray(bytes) => self.done(new_bytearray(bytes)),
                Token::Ellipsis => self.done(Some(Owned::borrowed(ffi::Py_Ellipsis()))),
                Token::NotImplemented => self.done(Some(Owned::borrowed(ffi::Py_NotImplemented()))),
                Token::Bools(seq, run) => {
                    self.add_run_cost(seq, run.len());
                    self.bools(seq, run)
                }
                Token::Texts(seq, lengths, joined) => {
                    self.add_run_cost(seq, lengths.len());
                    self.texts(seq, lengths, joined)
                }
                Token::Dict(len) if !D::Reader::UNIQUE_KEYS => self.begin_expected(len),
                Token::Dict(len) => {
                    let dict = self.sized_dict(len)?;
                    self.begin_pairs(dict, len, true, ANY)
                }
                Token::Set(len) => {
                    let set = Owned::new(ffi::PySet_New(std::ptr::null_mut())).ok_or_else(raised)?;
                    self.begin_set(set, len, true, ANY)
                }
                Token::FrozenSet(len) => self.begin_frozenset(len, ANY),
                Token::DateTime { bits, zoned: false } => {
                    let made = types::datetime::datetime(bits, ffi::Py_None(), here)?;
                    self.done(Some(made))
                }
                Token::DateTime { bits, zoned: true } => self.zoned(bits),
                Token::KnownType(known) => self.known(known),
                Token::Buffer { number, out_of_band } => {
                    let token = BufferToken { number, out_of_band, at: here };
                    let buffer = self.of_lender(|py, lender, charge| types::buffer::take(py, lender, charge, token))?;
                    self.done(Some(buffer))
                }
                Token::Global => self.global(here),
                Token::Persistent => self.gather(Make::Persistent, 1),
                Token::Reduce(flags) => self.recipe(flags, here),
                _ => Err(decode("a token out of place", here)),
            }
        }
    }

    /// An empty dict for so many pairs, which come next: with room for them if the first key is an int, as a table that grows is filled anew
    /// each time. (One that was made with room has a slower kind of table for strings.)
    fn sized_dict(&mut self, len: usize) -> Result<Owned> {
        /// A new dict has room for so many.
        const ROOM: usize = 5;
        let before = self.r.place();
        let sized = len > ROOM && self.r.remaining() / 2 >= len && matches!(self.r.leaf()?, Some(Leaf::Int(_)));
        self.r.rewind(before);
        // SAFETY: the GIL is held while a decoder lives.
        unsafe {
            if sized {
                dict::with_room(len)
            } else {
                Owned::new(ffi::PyDict_New())
            }
        }
        .ok_or_else(raised)
    }

    /// A BSON value. Code with variables needs a frame for them.
    fn bson_value(&mut self, value: BsonValue<'i>, at: usize) -> Result<Option<Owned>> {
        self.charge(types::bson_values::cost(&value))?;
        let made = match value {
            BsonValue::ScopedCode(code) => {
                let code = self.string(code)?;
                return self.gather_scope(code);
            }
            BsonValue::Binary { subtype, data } => D::binary(self, subtype, data)?,
            value => types::bson_values::build(self.py, value, at, |text| self.string(text))?,
        };
        self.done(Some(made))
    }

    /// A datetime for a point in time: in UTC, or without a zone in formats that don't store whether there was one.
    pub(crate) fn moment(&mut self, seconds: i64, nanoseconds: u32, naive: bool, at: usize) -> Result<Owned> {
        if let Some(made) = D::moment(self, seconds, nanoseconds)? {
            return Ok(made);
        }
        if D::Reader::NAIVE_IS_UTC {
            // SAFETY: `None` and UTC live as long as the interpreter.
            let zone = unsafe {
                if naive {
                    ffi::Py_None()
                } else {
                    ffi::PyDateTime_TimeZone_UTC()
                }
            };
            // SAFETY: `zone` is `None` or UTC, which live as long as the interpreter.
            return match unsafe { time::moment_in(seconds, nanoseconds, zone) }? {
                Some(made) => Ok(made),
                None => types::bson_values::datetime_ms(self.py, seconds, nanoseconds),
            };
        }
        schemaless::of_timestamp(seconds, nanoseconds, self.options.msgpack.as_msgpack_python, at)
    }

    /// A datetime with its zone.
    fn zoned(&mut self, bits: u64) -> Result<Option<Owned>> {
        let (before, start, ids) = (self.r.place(), self.r.offset(), self.tables.numbered.len());
        let token = self.r.token()?;
        if matches!(token, Token::KnownType(KnownType::Utc)) {
            // SAFETY: the datetime API was imported with this module; its UTC lives as long as the interpreter.
            let made = unsafe { types::datetime::datetime(bits, ffi::PyDateTime_TimeZone_UTC(), start)? };
            return self.done(Some(made));
        }
        let object_id = self.take_id();
        let mut held = HashCost::default();
        let zone = match token {
            Token::Reference(number) => Some(self.object_of(number)?),
            _ => {
                self.r.rewind(before);
                self.zone(&mut held)?
            }
        };
        self.object_id = object_id;
        let Some(zone) = zone else {
            self.back_to(before, ids);
            return self.gather(Make::DateTime(bits), 1);
        };
        // SAFETY: `zone` is an owned reference.
        let made = unsafe { types::datetime::datetime(bits, zone.get(), start)? };
        if held != HashCost::default() {
            let whole = held.around(1, 1);
            self.add_hash_cost(HashCost { values: whole.values.saturating_add(HashCost::VALUES_OF_CODE), ..whole });
        }
        self.done(Some(made))
    }
}

//! Known types whose parts are leaves: made at once, without a frame that gathers them.

use super::frame::{hash_cost_of_known, Frame, Kind, Make};
use super::recipe::Pairs;
use super::{Decoder, Numbered, State, NO_ID};
use crate::budget::hash_cost::{frees_by_recursion, hash_cost_of_instance, HashCost};
use crate::classes::how::Base;
use crate::cpython::{fill, float, int, new_bytearray, new_bytes, text, Owned, Type};
use crate::decode::dialect::Dialect;
use crate::error::{raised, Result};
use crate::memory::Vec;
use crate::schema::node::accepts;
use crate::shapes::Shape;
use crate::types;
use holdall_format::model::{Bytes, KnownType, Leaf, RareLeaf};
use holdall_format::{Reader, Token};
use pyo3::ffi;
use std::rc::Rc;

/// How deep the content of an instance, and what a class's `decode` is given, hold others and are still read without a frame.
const SMALL: usize = 2;
/// Known types with more parts always gather them.
const MOST: usize = 3;

/// The object that a leaf of a reader's says, uncharged. `None`: it is a reference, or there is no memory or meaning for it.
///
/// # Safety
/// The GIL is held.
#[inline(always)]
pub(super) unsafe fn of_any_leaf(leaf: Leaf<'_>) -> Option<Owned> {
    // SAFETY: the GIL is held, by contract; the reader has checked the bytes of `Leaf::Ascii`, and each slice is readable for its
    // length.
    unsafe {
        match leaf {
            Leaf::Ascii(bytes) => text::from_ascii(bytes),
            Leaf::Int(value) => int::from_value(value),
            Leaf::Float(value) => float::from_value(value),
            Leaf::None => Some(Owned::borrowed(ffi::Py_None())),
            Leaf::Bool(value) => Some(Owned::borrowed(if value { ffi::Py_True() } else { ffi::Py_False() })),
            Leaf::Bytes(bytes) => new_bytes(bytes),
            Leaf::Utf8(bytes) => text::from_bytes(Bytes::StrictUtf8(bytes)).ok(),
            Leaf::Text(bytes) => text::from_bytes(bytes).ok(),
            Leaf::Reference(_) => None,
            Leaf::Rare(leaf) => match leaf {
                RareLeaf::BigInt(bytes) => int::from_bytes(bytes),
                RareLeaf::Complex(real, imag) => Owned::new(ffi::PyComplex_FromDoubles(real, imag)),
                RareLeaf::ByteArray(bytes) => new_bytearray(bytes),
                RareLeaf::EmptyList => Owned::new(ffi::PyList_New(0)),
                RareLeaf::EmptyTuple => Owned::new(ffi::PyTuple_New(0)),
                RareLeaf::EmptyDict => Owned::new(ffi::PyDict_New()),
            },
        }
    }
}

/// The value of a message that is one leaf or empty container and nothing else, which needs no decoder. `None`: it is something else,
/// or damaged, and the reader is where it was. `unbounded`: no limits are set, so nothing has to be charged.
///
/// # Safety
/// The GIL is held.
pub unsafe fn lone_leaf<'i, R: Reader<'i>>(reader: &mut R, unbounded: bool) -> Option<Owned> {
    let (before, start) = (reader.place(), reader.offset());
    let made = match reader.leaf() {
        Ok(Some(Leaf::Rare(_))) if !unbounded => None,
        // SAFETY: the GIL is held, by contract.
        Ok(Some(leaf)) => unsafe { of_any_leaf(leaf) },
        _ => None,
    };
    if made.is_some() && reader.finish().is_ok() {
        return made;
    }
    if reader.offset() != start {
        reader.rewind(before);
        // There may have been no memory for it: the decoder will say so, or find some.
        // SAFETY: the GIL is held, by contract.
        unsafe { ffi::PyErr_Clear() };
    }
    None
}

impl<'i, D: Dialect<'i>> Decoder<'i, D> {
    /// Makes an instance of a known type, or starts to gather its parts if one of them is no leaf.
    ///
    /// The frame and the list of parts took three times as long as making a date.
    pub(crate) fn of_parts(&mut self, known: KnownType) -> Result<Option<Owned>> {
        let len = known.values();
        self.claim(len, bytes_of(len))?;
        if let Some((made, hash_cost)) = self.of_number(known)? {
            self.add_hash_cost(hash_cost);
            return self.done(Some(made));
        }
        let (object_id, at, before, ids) = (self.take_id(), self.here(), self.r.place(), self.object_ids());
        if let Some((made, hash_cost)) = self.of_leaves(known, at)? {
            self.object_id = object_id;
            self.add_hash_cost(hash_cost);
            return self.done(Some(made));
        }
        self.back_to(before, ids);
        Ok(self.push(Frame::gather(Make::Known(known), None, len, object_id, at)))
    }

    /// The zone of a datetime, if it is made of leaves or was met before; perhaps it gets an id. `None`: the caller goes
    /// [`Decoder::back_to`] where the zone begins.
    pub(crate) fn zone(&mut self, held: &mut HashCost) -> Result<Option<Owned>> {
        let mut object_id = NO_ID;
        let mut token = self.r.token()?;
        if matches!(token, Token::AssignId) && self.elsewhere.again.is_none() {
            object_id = self.object_ids() as u32;
            self.tables.numbered.push(Numbered::open());
            token = self.r.token()?;
        }
        let (made, hash_cost) = match token {
            // SAFETY: the datetime API was imported with this module; its UTC lives as long as the interpreter.
            Token::KnownType(KnownType::Utc) => unsafe {
                (Owned::borrowed(ffi::PyDateTime_TimeZone_UTC()), HashCost::default())
            },
            Token::KnownType(known @ (KnownType::Timezone | KnownType::ZoneInfo)) => {
                let (at, len) = (self.here(), known.values());
                match self.of_leaves(known, at)? {
                    Some(made) => {
                        self.claim(0, bytes_of(len))?;
                        made
                    }
                    None => return Ok(None),
                }
            }
            _ => return Ok(None),
        };
        if object_id != NO_ID {
            self.tables.numbered[object_id as usize].hash_cost = hash_cost;
            self.whole(object_id, made.get());
        }
        held.add(hash_cost);
        Ok(Some(made))
    }

    /// An instance of a subclass of an immutable builtin: made at once if its content is small.
    pub(crate) fn based_on_value(&mut self, shape: &Rc<Shape>, class: Type, base: Base) -> Result<Option<Owned>> {
        self.claim(1, bytes_of(1))?;
        let (object_id, at, before, ids) = (self.take_id(), self.here(), self.r.place(), self.object_ids());
        let bounds = (self.bounds.objects, self.bounds.bytes);
        if !matches!(base, Base::Exception | Base::FrozenSet) {
            let mut held = HashCost::default();
            let content = self.small_part(SMALL, &mut held)?;
            if base == Base::StructSequence && content.as_ref().is_some_and(holds_what_recurses) {
                // Frames count how deep freeing it goes.
                self.back_to(before, ids);
                (self.bounds.objects, self.bounds.bytes) = bounds;
            } else if let Some(content) = content {
                let make = Make::Based(shape.clone());
                if !self.r.trusted() {
                    self.charge_made(&make, held, std::slice::from_ref(&content), at)?;
                }
                // SAFETY: the GIL is held; what permits the class holds it. The shape says that it is derived from `base`.
                let made = unsafe { types::new_of(base, class, Some(content)) }.map_err(|fault| fault.found(at))?;
                if !shape.names.is_empty() {
                    self.claim(shape.names.len(), shape.bytes)?;
                    self.opened(object_id, made.get());
                    return self.fill_fields(made, None, shape, object_id, HashCost::default());
                }
                self.object_id = object_id;
                let freeing = u16::from(frees_by_recursion(class)) * HashCost::OF_EXCEPTION;
                self.add_hash_cost(HashCost { freeing, ..gathered(held, 1) });
                return self.done(Some(made));
            }
        }
        Ok(self.push(Frame::gather(Make::Based(shape.clone()), None, 1, object_id, at)))
    }

    /// An instance that the registered `decode` of its class makes: at once if what that is given is small.
    ///
    /// The frames of both took as long as making a point in time of another library's.
    pub(crate) fn custom_on_value(&mut self, shape: &Rc<Shape>) -> Result<Option<Owned>> {
        self.claim(1, bytes_of(1))?;
        let (object_id, at, mut held) = (self.take_id(), self.here(), HashCost::default());
        if let Some(state) = self.small_part(SMALL, &mut held)? {
            let made = super::build::custom(shape, Some(&state), at)?;
            self.object_id = object_id;
            self.add_hash_cost(gathered(held, 1));
            return self.done(Some(made));
        }
        Ok(self.push(Frame::gather(Make::Custom(shape.clone()), None, 1, object_id, at)))
    }

    /// A leaf of any form, without an id.
    fn plain_leaf(&mut self) -> Result<Option<Owned>> {
        if let Some(leaf) = self.next_leaf(accepts::ALL)? {
            return Ok(Some(leaf));
        }
        let token = self.r.token()?;
        self.rare_leaf(token)
    }

    /// A leaf of a form that [`Decoder::next_leaf`] does not read. `None`: it is none.
    pub(super) fn rare_leaf(&mut self, token: Token<'i>) -> Result<Option<Owned>> {
        match token {
            Token::Text(text) => self.string_of(text).map(Some),
            Token::Bytes(bytes) => D::bytes(self, bytes),
            // SAFETY: the GIL is held while a decoder lives.
            Token::Complex(real, imag) => unsafe {
                Owned::new(ffi::PyComplex_FromDoubles(real, imag)).map(Some).ok_or_else(raised)
            },
            _ => Ok(None),
        }
    }

    /// The arguments of an exception and the fields stored beside them, if all of them are leaves and there are few. `None`: the
    /// caller goes [`Decoder::back_to`] where they begin.
    pub(crate) fn bare_arguments(&mut self) -> Result<Option<(Owned, Pairs)>> {
        const FEW: usize = 8;
        if self.elsewhere.again.is_some() || !matches!(self.r.token()?, Token::Tuple(2)) {
            return Ok(None);
        }
        let mut object_id = NO_ID;
        let mut token = self.r.token()?;
        if matches!(token, Token::AssignId) {
            object_id = self.object_ids() as u32;
            self.tables.numbered.push(Numbered::open());
            token = self.r.token()?;
        }
        let Token::Tuple(len @ ..=FEW) = token else { return Ok(None) };
        // SAFETY: the GIL is held while a decoder lives. Nobody else sees the tuple before its slots are filled.
        let arguments = unsafe { Owned::new(ffi::PyTuple_New(len as isize)) }.ok_or_else(raised)?;
        for at in 0..len {
            let argument = self.leaf_or_shared()?;
            let Some(argument) = argument else { return Ok(None) };
            // SAFETY: `at` is below the tuple's length.
            unsafe { fill::tuple_item(arguments.get(), at, argument) };
        }
        let stored = match self.r.token()? {
            Token::Dict(0) => Vec::new(),
            Token::Instance(number) if self.r.indexed().is_none() => {
                // The exception will hold what the dict holds: frames count how deep freeing goes on from there.
                let mut held = HashCost::default();
                match self.small_pairs(number, 0, &mut held)? {
                    Some(pairs) if held == HashCost::default() && has_names_once(&pairs) => pairs,
                    _ => return Ok(None),
                }
            }
            _ => return Ok(None),
        };
        // The pair, the arguments, and the dict of the fields; what they hold was read already.
        self.charge_read(len + 4, 64 + 48 + 8 * len + 64)?;
        self.whole(object_id, arguments.get());
        self.costs_of_entry(object_id, HashCost::default().around(1, len));
        Ok(Some((arguments, stored)))
    }

    /// A leaf of any form, perhaps with an id, or a text that was met before.
    pub(super) fn leaf_or_shared(&mut self) -> Result<Option<Owned>> {
        let before = self.r.place();
        if let Some(leaf) = self.plain_leaf()? {
            return Ok(Some(leaf));
        }
        self.r.rewind(before);
        match self.r.token()? {
            token @ (Token::AssignId | Token::Reference(_)) => self.shared_field(token, accepts::ALL),
            _ => Ok(None),
        }
    }

    /// An exception that has its arguments: its attributes follow.
    pub(crate) fn go_on_with_exception(
        &mut self,
        object: Owned,
        arguments: &Owned,
        shape: &Rc<Shape>,
        object_id: u32,
    ) -> Result<Option<Owned>> {
        let fields = shape.names.len();
        // SAFETY: the arguments are a tuple.
        let len = unsafe { ffi::PyTuple_GET_SIZE(arguments.get()) } as usize;
        // The arguments in a pair, which is the content.
        let held = gathered(HashCost::default().around(1, len).around(1, 2), 1);
        // SAFETY: `object` is an owned reference.
        let freeing = unsafe { u16::from(frees_by_recursion(ffi::Py_TYPE(object.get()))) * HashCost::OF_EXCEPTION };
        let held = HashCost { freeing, ..held };
        if fields == 0 {
            self.whole(object_id, object.get());
            // SAFETY: `object` is an owned reference.
            let hash_cost = unsafe { hash_cost_of_instance(object.get(), held, 0) };
            self.costs(object_id, hash_cost);
            return Ok(Some(object));
        }
        let frame = self.frame(Kind::Fields, Some(object), fields, object_id);
        Ok(self.push(Frame { shape: Some(shape.clone()), hash_cost: held, ..frame }))
    }

    /// Notes what hashing the object with an id costs, but not in its container.
    fn costs_of_entry(&mut self, object_id: u32, hash_cost: HashCost) {
        if let Some(entry) = self.tables.numbered.get_mut(object_id as usize) {
            entry.hash_cost = hash_cost;
        }
    }

    /// How many objects have ids so far.
    pub(crate) fn object_ids(&self) -> usize {
        self.tables.numbered.len()
    }

    /// Goes back to where no more than `ids` objects had ids, after parts were read in vain.
    pub(crate) fn back_to(&mut self, place: <D::Reader as Reader<'i>>::Place, ids: usize) {
        self.r.rewind(place);
        if self.elsewhere.again.is_none() {
            self.tables.numbered.truncate(ids);
        }
    }

    /// A date, a timedelta, or a time without a zone, of the number that comes next, and what hashing it costs. `None`: it is something
    /// else, and nothing was read. Making an int of the number, and looking at that, took as long as making the date.
    #[inline(always)]
    fn of_number(&mut self, known: KnownType) -> Result<Option<(Owned, HashCost)>> {
        match known {
            KnownType::Date | KnownType::Timedelta | KnownType::Time => {}
            KnownType::Decimal | KnownType::Uuid => return self.of_short_leaf(known),
            KnownType::PythonRange | KnownType::PythonSlice => return self.of_bounds(known),
            _ => return Ok(None),
        }
        let before = self.r.place();
        let Some(Leaf::Int(number)) = self.r.leaf()? else {
            self.r.rewind(before);
            return Ok(None);
        };
        if known != KnownType::Time || matches!(self.r.leaf()?, Some(Leaf::None)) {
            if let Some(made) = types::datetime::of_number(known, number) {
                let whole = HashCost::default().around(1, known.values());
                return Ok(Some((made, HashCost { values: whole.values + HashCost::VALUES_OF_CODE, ..whole })));
            }
            // The usual way says what is wrong with it.
            // SAFETY: the GIL is held while a decoder lives.
            unsafe { ffi::PyErr_Clear() };
        }
        self.r.rewind(before);
        Ok(None)
    }

    /// A range of the numbers that come next, or a slice of numbers and `None`, all of them small. `None`: they are not, and nothing was
    /// read.
    #[inline(never)]
    fn of_bounds(&mut self, known: KnownType) -> Result<Option<(Owned, HashCost)>> {
        let (before, at) = (self.r.place(), self.here());
        let mut parts = [None, None, None];
        for part in &mut parts {
            // SAFETY: the GIL is held while a decoder lives.
            *part = unsafe {
                match self.r.leaf()? {
                    Some(Leaf::Int(value)) => int::from_value(value),
                    Some(Leaf::None) if known == KnownType::PythonSlice => Some(Owned::borrowed(ffi::Py_None())),
                    _ => None,
                }
            };
        }
        let [Some(start), Some(stop), Some(step)] = parts else {
            // There may have been no memory: the usual way says so, or finds some.
            // SAFETY: as above.
            unsafe { ffi::PyErr_Clear() };
            self.r.rewind(before);
            return Ok(None);
        };
        if !self.r.trusted() {
            self.rules.work.charge(50, "what is made of shared values, or takes long to make", self.here())?;
            self.charge(96)?;
        }
        let parts = [start, stop, step];
        let made = types::build(self.py, known, &parts, at)?;
        Ok(Some((made, hash_cost_of_known(known, &parts, HashCost::default()))))
    }

    /// A decimal of few digits, or a UUID, of the leaf that comes next. `None`: it is something else, and nothing was read.
    fn of_short_leaf(&mut self, known: KnownType) -> Result<Option<(Owned, HashCost)>> {
        /// Longer ones have the usual way, which charges what their making costs.
        const MOST_DIGITS: usize = 100;
        let (before, start) = (self.r.place(), self.here());
        // SAFETY: the GIL is held and the collector pauses while a decoder lives; the reader has checked the bytes of `Leaf::Ascii`.
        let made = unsafe {
            match (known, self.r.leaf()?) {
                (KnownType::Decimal, Some(Leaf::Ascii(text))) if text.len() <= MOST_DIGITS => {
                    types::number::quick_decimal(self.py, text)
                }
                (KnownType::Uuid, Some(Leaf::Bytes(bytes))) => {
                    bytes.try_into().ok().and_then(|bytes| types::textual::quick_uuid(self.py, bytes))
                }
                _ => None,
            }
        };
        let Some(made) = made else {
            // The usual way says what is wrong with it.
            // SAFETY: the GIL is held while a decoder lives.
            unsafe { ffi::PyErr_Clear() };
            self.r.rewind(before);
            return Ok(None);
        };
        if !self.r.trusted() {
            let len = self.here() - start;
            let (work, bytes) = if known == KnownType::Uuid { (1, 32) } else { (20 + len / 2, 64 + len) };
            self.rules.work.charge(work, "what is made of shared values, or takes long to make", self.here())?;
            self.charge(bytes)?;
        }
        let whole = HashCost::default().around(1, 1);
        Ok(Some((made, HashCost { values: whole.values + HashCost::VALUES_OF_CODE, ..whole })))
    }

    /// An instance of a known type, and what hashing it costs. `None`: one of its parts is no leaf.
    pub(crate) fn of_leaves(&mut self, known: KnownType, at: usize) -> Result<Option<(Owned, HashCost)>> {
        let (len, mut held) = (known.values(), HashCost::default());
        if len > MOST {
            return Ok(None);
        }
        if let Some(made) = self.of_number(known)? {
            return Ok(Some(made));
        }
        // A zone within a time finds the buffer taken, and has one of its own.
        let mut parts = std::mem::take(&mut self.tables.leaves);
        while parts.len() < len {
            match self.known_part(known, &mut held)? {
                Some(part) => parts.push(part),
                None => {
                    parts.clear();
                    self.tables.leaves = parts;
                    return Ok(None);
                }
            }
        }
        let made = self.known_of(known, &parts, at)?;
        let hash_cost = hash_cost_of_known(known, &parts, held);
        parts.clear();
        self.tables.leaves = parts;
        Ok(Some((made, hash_cost)))
    }

    /// Makes an instance of a known type, after charging what that costs.
    fn known_of(&mut self, known: KnownType, parts: &[Owned], at: usize) -> Result<Owned> {
        if !self.r.trusted() {
            self.charge_made(&Make::Known(known), HashCost::default(), parts, at)?;
        }
        match known {
            KnownType::PythonPattern => self.pattern(parts, at),
            known => types::build(self.py, known, parts, at),
        }
    }

    /// The next part, if it is a leaf, perhaps with an id, or an object that was met before; adds the cost of hashing it.
    fn known_part(&mut self, known: KnownType, held: &mut HashCost) -> Result<Option<Owned>> {
        if let Some(leaf) = self.next_leaf(accepts::ALL)? {
            return Ok(Some(leaf));
        }
        let before = self.r.place();
        match self.r.token()? {
            Token::Text(text) => self.string_of(text).map(Some),
            Token::Bytes(bytes) => D::bytes(self, bytes),
            Token::Reference(number) if self.r.indexed().is_none() => match self.tables.numbered.get(number as usize) {
                Some(Numbered { object: Some(object), hash_cost, state: State::Whole, .. }) => {
                    held.add(*hash_cost);
                    Ok(Some(object.clone()))
                }
                _ => Ok(None),
            },
            token @ Token::AssignId if known != KnownType::Time => self.shared_field(token, accepts::ALL),
            _ if known == KnownType::Time => {
                self.r.rewind(before);
                self.zone(held)
            }
            _ => Ok(None),
        }
    }
}

/// The hash cost of what a frame with so many values would have gathered.
fn gathered(held: HashCost, len: usize) -> HashCost {
    let whole = held.around(1, len);
    HashCost { values: whole.values.saturating_add(HashCost::VALUES_OF_CODE), ..whole }
}

/// Whether a tuple directly holds something that CPython may free by recursion.
fn holds_what_recurses(content: &Owned) -> bool {
    // SAFETY: `content` is an owned reference; a tuple holds its items, and they their classes.
    unsafe {
        ffi::PyTuple_CheckExact(content.get()) != 0
            && (0..ffi::PyTuple_GET_SIZE(content.get())).any(|at| {
                let class = ffi::Py_TYPE(ffi::PyTuple_GET_ITEM(content.get(), at));
                ffi::PyType_HasFeature(class, ffi::Py_TPFLAGS_HAVE_GC) != 0 && frees_by_recursion(class)
            })
    }
}

/// Whether no name is there twice.
fn has_names_once(pairs: &[(Owned, Owned)]) -> bool {
    // SAFETY: the pairs hold the names, which are strings.
    let are_equal = |one: &Owned, other: &Owned| unsafe { text::equal(one.get(), other.get()) };
    pairs.iter().enumerate().all(|(at, (name, _))| !pairs[..at].iter().any(|(before, _)| are_equal(before, name)))
}

/// The memory that an object of so many parts is taken to need.
pub(super) fn bytes_of(len: usize) -> usize {
    256 + 64 * len
}

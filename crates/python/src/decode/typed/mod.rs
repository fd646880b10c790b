//! Loading against a schema: each token is taken as the node of its place says, or refused.

mod after;
mod choose;
mod convert;
mod evolve;
mod instances;
mod mappings;
mod members;
mod resolved;
mod sequences;
pub mod shapes;

use super::{Decoder, State, NO_ID};
use crate::cpython::{float, int, new, Owned};
use crate::decode::dialect::Dialect;
use crate::decode::schemaless;
use crate::error::{decode, Fault, Result};
use crate::schema::coerce::third_party::Moment;
use crate::schema::coerce::{expected, kind_of};
use crate::schema::node::{accepts, Node, Scalar, Seq, SeqKind};
use crate::schema::{NodeId, ANY};
use crate::types::bson_values;
use crate::types::resolver::is_skip;
use holdall_format::model::{self, BsonValue, KnownType};
use holdall_format::{Reader, Token};
use pyo3::ffi;

impl<'i, D: Dialect<'i>> Decoder<'i, D> {
    /// Takes a value that the node does not accept unchanged.
    #[inline(never)]
    pub(crate) fn typed(&mut self, token: Token<'i>, id: NodeId) -> Result<Option<Owned>> {
        let node = self.rules.node(id);
        if node.any {
            return self.any(token);
        }
        let object_id = self.object_id;
        if object_id != NO_ID && !matches!(token, Token::AssignId | Token::Reference(_)) {
            // Set before the value is built, for references from within. `checked_object` resets it for leaves.
            self.tables.numbered[object_id as usize].node = id;
        }
        if let Some(made) = D::typed(self, &token, id)? {
            return Ok(made);
        }
        let made = match token {
            Token::Members(end) => match self.only_class(node) {
                Some(class) => {
                    let shape = self.members_shape(class)?;
                    self.begin_uncounted(&shape, end)?
                }
                None => {
                    if let (true, [only]) = (self.may_resolve(node) && node.map.is_none(), &node.classes[..]) {
                        let class = self.class(*only)?;
                        if let Some(shape) = self.shape_of_today(*only, class, usize::MAX, end)? {
                            return self.begin_uncounted(&shape, end);
                        }
                    }
                    let token = Token::Dict(self.count(end)?);
                    return self.typed(token, id);
                }
            },
            Token::Items(end) => match &node.seq {
                Some(Seq { kind: SeqKind::List(item), min: None, max: None }) => self.begin_items(end, *item)?,
                _ => {
                    let token = Token::List(self.count(end)?);
                    return self.typed(token, id);
                }
            },
            Token::List(len) | Token::Tuple(len) | Token::Set(len) | Token::FrozenSet(len) => {
                self.typed_sequence(token, len, node, id)?
            }
            Token::Dict(len) => self.typed_dict(token, len, node, id)?,
            Token::Instance(number) => {
                let shape = self.shape_of(number)?;
                self.typed_instance(&shape, node, id)?
            }
            Token::NewShape(new) => {
                self.object_id = NO_ID;
                let shape = self.shape(&new)?;
                self.object_id = object_id;
                self.typed_instance(&shape, node, id)?
            }
            Token::Ints(..) | Token::Floats(..) | Token::Bools(..) | Token::Texts(..) => {
                self.typed_run(token, node, id)?
            }
            Token::KnownType(KnownType::PythonDeque) => self.typed_deque(token, node, id)?,
            Token::KnownType(
                known @ (KnownType::PythonOrderedDict | KnownType::PythonDefaultDict | KnownType::PythonCounter),
            ) if node.map.is_some() => self.typed_mapping(known, node, id)?,
            Token::AssignId => return self.typed_with_id(node, id),
            Token::Reference(number) if self.r.indexed().is_some() => return self.far_typed(number, id),
            Token::Reference(number) => return self.typed_reference(number, id).map(Some),
            Token::DateTime { .. } if node.accepts & accepts::DATETIME != 0 => return self.node_of(token),
            Token::KnownType(known) if node.is_just(known) => return self.of_parts(known),
            Token::KnownType(KnownType::PythonMappingProxy) if node.map.is_some() => {
                return self.typed_proxy(token, id)
            }
            _ => return self.untyped(token, id),
        };
        Ok(made)
    }

    /// A value whose `AssignId` token was read.
    fn typed_with_id(&mut self, node: &'i Node, id: NodeId) -> Result<Option<Owned>> {
        let Some(object_id) = self.begin_id()? else {
            let index = self.object_id as usize;
            let object = self.take_again()?;
            return object.map(|object| self.known_as(index, object, id)).transpose();
        };
        if let Some(value) = self.next_leaf(node.accepts)? {
            self.whole(object_id, value.get());
            self.object_id = NO_ID;
            return Ok(Some(value));
        }
        let token = self.r.next()?;
        if matches!(token, Token::AssignId | Token::Reference(_)) {
            return Err(decode("a mark of what has a number", self.here()));
        }
        self.typed(token, id)
    }

    /// The dict of a mappingproxy, wrapped again if the node wants a proxy. A dict with an id is built first, then coerced.
    fn typed_proxy(&mut self, token: Token<'i>, id: NodeId) -> Result<Option<Owned>> {
        let before = self.r.place();
        let next = self.r.next()?;
        self.r.rewind(before);
        match next {
            Token::AssignId | Token::Reference(_) => self.untyped(token, id),
            _ => self.next_node(id),
        }
    }

    /// An object that was built or skipped before, as the node wants it.
    fn typed_reference(&mut self, number: u64, id: NodeId) -> Result<Owned> {
        let index = number as usize;
        if self.tables.numbered.get(index).is_some_and(|known| known.state == State::Skipped) {
            return self.read_skipped(index, id);
        }
        let object = self.numbered(number)?;
        if !self.left_out.is_empty() && is_skip(object.get()) {
            return Ok(object);
        }
        self.known_as(index, object, id)
    }

    /// The object of an entry, coerced if it was built for a node that does not suit this one.
    pub(crate) fn known_as(&mut self, index: usize, object: Owned, id: NodeId) -> Result<Owned> {
        let built_as = self.tables.numbered.get(index).map_or(ANY, |known| known.node);
        if built_as == id || (built_as != ANY && self.rules.is_as_good(built_as, id, &object)) {
            return Ok(object);
        }
        // Coerced once for all references from such nodes, so what is shared stays shared.
        let key = (index as u32, id);
        if let Some(known) = self.memo().made_into.get(&key) {
            return Ok(known.clone());
        }
        let whole = self.tables.numbered.get(index).is_some_and(|known| known.state == State::Whole);
        let before = object.get();
        let made = D::coerced(self, object, id)?;
        if whole && built_as == ANY && made.get() == before {
            // As if it had been built for this node: the next references to it don't look it up.
            self.tables.numbered[index].node = id;
        } else if whole {
            self.memo().made_into.insert(key, made.clone());
        }
        Ok(made)
    }

    /// The bytes of the next value, which `rest` begins with, as an object that keeps them unread.
    #[cold]
    pub(crate) fn raw(&mut self, class: &'i Owned, rest: &'i [u8]) -> Result<Option<Owned>> {
        let start = self.r.offset();
        self.skip()?;
        let bytes = &rest[..self.r.offset() - start];
        self.claim(0, 64 + bytes.len())?;
        let bytes = new::bytes(self.py, bytes)?;
        let made = crate::classes::registry::call(class, bytes.as_ptr())?;
        self.done(Some(made))
    }

    /// A value that is accepted unchanged.
    fn any(&mut self, token: Token<'i>) -> Result<Option<Owned>> {
        // SAFETY: the GIL is held while a decoder lives; `None`, `True` and `False` live as long as the interpreter.
        let leaf = unsafe {
            match token {
                Token::Int(value) => int::from_value(value),
                Token::Float(value) => float::from_value(value),
                Token::None => Some(Owned::borrowed(ffi::Py_None())),
                Token::Bool(value) => Some(Owned::borrowed(if value { ffi::Py_True() } else { ffi::Py_False() })),
                Token::Text(bytes) => Some(self.string_of(bytes)?),
                _ => return self.node_of(token),
            }
        };
        self.done(leaf)
    }

    /// A value for a loop over fields, if it needs no frame. `None`: it does, and its token has to be read again.
    #[inline(never)]
    pub(crate) fn typed_field(&mut self, token: Token<'i>, id: NodeId, accepts: u32) -> Result<Option<Owned>> {
        let marks = self.left_out.len();
        let made = self.typed_field_of(token, id, accepts)?;
        if self.left_out.len() > marks || made.as_ref().is_some_and(|made| marks > 0 && is_skip(made.get())) {
            // Only a frame can leave it out: it is read again there.
            self.left_out.truncate(marks);
            return Ok(None);
        }
        Ok(made)
    }

    #[inline(always)]
    fn typed_field_of(&mut self, token: Token<'i>, id: NodeId, accepts: u32) -> Result<Option<Owned>> {
        if self.rules.node(id).raw.is_some() {
            return Ok(None);
        }
        match token {
            Token::Reference(_) | Token::AssignId => self.shared_field(token, accepts),
            Token::DateTime { bits, zoned } if accepts & accepts::DATETIME != 0 => self.quick_datetime(bits, zoned),
            // Runs are built at once.
            Token::Ints(..) | Token::Floats(..) | Token::Bools(..) | Token::Texts(..)
                if self.rules.node(id).seq.is_some() =>
            {
                self.typed_run(token, self.rules.node(id), id)
            }
            Token::Bytes(_) => match D::typed(self, &token, id)? {
                Some(made) => Ok(made),
                None => self.untyped(token, id),
            },
            Token::Text(_)
            | Token::Int(_)
            | Token::Float(_)
            | Token::None
            | Token::Bool(_)
            | Token::UInt(_)
            | Token::BigInt(_)
            | Token::Timestamp { .. }
            | Token::DateTime { zoned: false, .. } => self.untyped(token, id),
            // Its variables need a frame.
            Token::BsonValue(BsonValue::ScopedCode(_)) => Ok(None),
            Token::BsonValue(_) => self.untyped(token, id),
            _ => Ok(None),
        }
    }

    /// A value that is built without the node, and then coerced.
    pub(crate) fn untyped(&mut self, token: Token<'i>, id: NodeId) -> Result<Option<Owned>> {
        match token {
            Token::Timestamp { seconds, nanoseconds } => self.typed_moment(seconds, nanoseconds, id),
            _ => self.looked_at(id, |decoder| decoder.any(token)),
        }
    }

    /// Builds a value without the node and coerces it: now, or once its frame is done.
    pub(crate) fn looked_at(
        &mut self,
        id: NodeId,
        build: impl FnOnce(&mut Self) -> Result<Option<Owned>>,
    ) -> Result<Option<Owned>> {
        let (depth, object_id) = (self.tables.stack.len(), self.object_id);
        match build(self)? {
            Some(object) => self.checked_object(object, id, object_id).map(Some),
            None => {
                // The lowest of the new frames hands over the object.
                if let Some(frame) = self.tables.stack.get_mut(depth) {
                    frame.check = id;
                }
                Ok(None)
            }
        }
    }

    /// A point in time as the node wants it: with or without a zone, or with nanoseconds.
    fn typed_moment(&mut self, seconds: i64, nanoseconds: u32, id: NodeId) -> Result<Option<Owned>> {
        let (here, object_id) = (self.here(), self.object_id);
        let as_it_comes = self.rules.node(id).accepts & accepts::DATETIME != 0;
        let wanted = if as_it_comes { Moment::Any } else { self.rules.moment(id)? };
        let made = match wanted {
            // Only in BSON may a point in time have been a moment without a zone.
            Moment::Naive if D::Reader::NAIVE_IS_UTC => self.moment(seconds, nanoseconds, true, here)?,
            Moment::Aware => self.moment(seconds, nanoseconds, false, here)?,
            Moment::Any | Moment::Naive => self.moment(seconds, nanoseconds, self.options.naive, here)?,
            Moment::Other if D::Reader::NAIVE_IS_UTC => self.moment(seconds, nanoseconds, self.options.naive, here)?,
            Moment::Other => schemaless::exact_timestamp(self.py, seconds, nanoseconds)?,
            Moment::Milliseconds => bson_values::datetime_ms(self.py, seconds, nanoseconds)?,
        };
        // Outside of datetime's years it is another object.
        // SAFETY: `made` is an owned reference; the datetime API was imported with this module.
        if as_it_comes && unsafe { ffi::PyDateTime_Check(made.get()) } != 0 {
            return self.done(Some(made));
        }
        self.checked_object(made, id, object_id).map(Some)
    }

    /// Coerces an object that was built without the node; later references get the coerced object.
    pub(crate) fn checked_object(&mut self, object: Owned, id: NodeId, object_id: u32) -> Result<Owned> {
        let raw = object.get();
        if !self.left_out.is_empty() && is_skip(raw) {
            return Ok(object);
        }
        // SAFETY: `object` is an owned reference.
        let is_leaf = unsafe { kind_of(raw) } != 0;
        let made = match self.evolved(&object, id)? {
            Some(made) if is_skip(made.get()) => {
                self.leaves_out(object_id);
                return Ok(made);
            }
            Some(made) => made,
            None if !self.may_ask() => D::coerced_once(self, object, id)?,
            None => match D::coerced_once(self, object.clone(), id) {
                Err(fault) if fault.is_invalid() => match self.resolved_value(&object, id)? {
                    Some(made) if is_skip(made.get()) => {
                        self.leaves_out(object_id);
                        return Ok(made);
                    }
                    made => made.ok_or(fault)?,
                },
                done => done?,
            },
        };
        if object_id != NO_ID {
            let numbered = &mut self.tables.numbered[object_id as usize];
            if is_leaf {
                // Another place may want it as another type: it is coerced from what was stored each time.
                numbered.node = ANY;
            } else if made.get() != raw {
                numbered.object = Some(made.clone());
            }
        }
        Ok(made)
    }

    #[cold]
    fn mismatch(&self, node: &Node, token: &Token<'i>) -> Fault {
        let got = match token {
            Token::List(_) => "list".to_owned(),
            Token::Tuple(_) => "tuple".to_owned(),
            Token::Set(_) => "set".to_owned(),
            Token::FrozenSet(_) => "frozenset".to_owned(),
            Token::Ints(seq, _) | Token::Floats(seq, _) | Token::Bools(seq, _) | Token::Texts(seq, ..) => {
                if *seq == model::Seq::List { "list" } else { "tuple" }.to_owned()
            }
            Token::KnownType(KnownType::PythonDeque) => "deque".to_owned(),
            _ => "dict".to_owned(),
        };
        expected(&node.name, &got)
    }
}

impl Node {
    /// Whether it is this type and nothing else, without constraints: what is made of the type need not be looked at again.
    fn is_just(&self, known: KnownType) -> bool {
        let [scalar] = &self.scalars[..] else { return false };
        matches!(
            (known, scalar),
            (KnownType::Date, Scalar::Date)
                | (KnownType::Time, Scalar::Time(None))
                | (KnownType::Timedelta, Scalar::Timedelta)
                | (KnownType::Decimal, Scalar::Decimal(None))
                | (KnownType::Uuid, Scalar::Uuid)
        )
    }

    /// Whether one of its forms may be made from a container.
    fn takes_containers(&self) -> bool {
        self.scalars.iter().any(|scalar| {
            matches!(
                scalar,
                Scalar::Complex
                    | Scalar::Numpy { .. }
                    | Scalar::Custom { .. }
                    | Scalar::Registered { .. }
                    | Scalar::Value { .. }
                    | Scalar::Enum { .. }
            )
        })
    }
}

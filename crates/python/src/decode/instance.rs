//! Dicts and instances by their shapes: values come by position, and no key is looked up.

use super::frame::{Frame, Kind, Make, DEFAULT_DICT, NOT_ITS_OWN};
use super::hashed::is_hashable;
use super::{Decoder, NO_ID};
use crate::budget::hash_cost::HashCost;
use crate::classes::how::Base;
use crate::classes::plan::Plan;
use crate::classes::state::allocate;
use crate::cpython::fill;
use crate::cpython::{dict, new_bytearray, Owned, Type};
use crate::decode::dialect::Dialect;
use crate::decode::run::set_factory;
use crate::error::{decode, raised, Result, Step};
use crate::schema::node::accepts;
use crate::schema::{NodeId, ANY};
use crate::shapes::{lacks_keys, Build, Shape, SAME_NAME};
use crate::types;
use holdall_format::model::{KnownType, ShapeKind};
use holdall_format::{Reader, Token};
use pyo3::ffi;
use std::ops::Range;
use std::rc::Rc;

impl<'i, D: Dialect<'i>> Decoder<'i, D> {
    /// Starts an instance of a shape; its values follow.
    #[inline]
    pub(crate) fn instance(&mut self, shape: &Rc<Shape>) -> Result<Option<Owned>> {
        let len = shape.names.len();
        match &shape.build {
            Build::Dict => self.dict(shape, len, ANY),
            Build::Slots { class, offsets } => {
                self.claim(len, shape.bytes)?;
                // SAFETY: the GIL is held; the registration, module or option that permits the class holds it.
                let object = unsafe { allocate(*class, 0)? };
                let object_id = self.take_id();
                self.opened(object_id, object.get());
                let mut held = HashCost::default();
                for (at, &offset) in offsets.iter().enumerate() {
                    let Some(value) = self.field_or_flat(ANY, accepts::ALL, &mut held)? else {
                        let frame = self.frame(Kind::Fields, Some(object), len, object_id);
                        return Ok(self.push(Frame { at, shape: Some(shape.clone()), hash_cost: held, ..frame }));
                    };
                    // SAFETY: `object` is a new instance of the class that the offset was read from; its slot is empty.
                    unsafe { *crate::classes::state::slot_mut(object.get(), offset) = value.into_raw() };
                }
                self.whole(object_id, object.get());
                self.cost_of_whole(&object, held, len, object_id);
                Ok(Some(object))
            }
            _ => self.other_instance(shape, len),
        }
    }

    /// A dict with the keys of a shape.
    #[inline]
    pub(crate) fn dict(&mut self, shape: &Rc<Shape>, len: usize, item: NodeId) -> Result<Option<Owned>> {
        self.claim(len, shape.bytes)?;
        let here = self.r.offset();
        // SAFETY: the GIL is held while a decoder lives; a copy of the template has a slot for each of the `len` names.
        unsafe {
            if !shape.met.replace(true) {
                return self.first_dict(shape, len, item);
            }
            let Some(template) = shape.template(here)? else {
                let dict = Owned::new(ffi::PyDict_New()).ok_or_else(raised)?;
                let object_id = self.take_id();
                self.opened(object_id, dict.get());
                if len == 0 {
                    self.whole(object_id, dict.get());
                    return Ok(Some(dict));
                }
                let frame = self.frame(Kind::Keyed, Some(dict), len, object_id);
                return Ok(self.push(Frame { shape: Some(shape.clone()), item, ..frame }));
            };
            let dict = Owned::new(ffi::PyDict_Copy(template.get())).ok_or_else(raised)?;
            let object_id = self.take_id();
            self.opened(object_id, dict.get());
            let accepts = self.rules.node(item).accepts;
            let mut tracks = item != ANY;
            for at in 0..len {
                let value = match self.field(item, accepts).map_err(|fault| fault.within(|| Step::Some))? {
                    Some(value) => value,
                    // A dict can't be hashed, so nobody asks what its values cost.
                    None => match self.flat(item, &mut HashCost::default())? {
                        Some(value) => {
                            tracks = true;
                            value
                        }
                        None => {
                            let frame = self.frame(Kind::Copied, Some(dict), len, object_id);
                            return Ok(self.push(Frame { at, shape: Some(shape.clone()), item, ..frame }));
                        }
                    },
                };
                crate::cpython::replace(dict::value_slot(dict.get(), at), value.into_raw());
            }
            if tracks {
                fill::track(dict.get());
            }
            self.whole(object_id, dict.get());
            Ok(Some(dict))
        }
    }

    /// The first dict with the keys of a shape: item by item. Most shapes of messages whose keys don't repeat have no other, and a
    /// template to copy takes longer.
    fn first_dict(&mut self, shape: &Rc<Shape>, len: usize, item: NodeId) -> Result<Option<Owned>> {
        let (here, accepts, object_id) = (self.here(), self.rules.node(item).accepts, self.take_id());
        // SAFETY: the GIL is held while a decoder lives; names are strings, as readers check.
        unsafe {
            let dict = Owned::new(ffi::PyDict_New()).ok_or_else(raised)?;
            self.opened(object_id, dict.get());
            for (at, name) in shape.names.iter().enumerate() {
                let value = self
                    .field_or_flat(item, accepts, &mut HashCost::default())
                    .map_err(|fault| fault.within(|| Step::Some))?;
                let Some(value) = value else {
                    let frame = self.frame(Kind::Keyed, Some(dict), len, object_id);
                    return Ok(self.push(Frame { at, shape: Some(shape.clone()), item, offset: here, ..frame }));
                };
                if !dict::set(dict.get(), name.get(), value.get()) {
                    return Err(raised());
                }
            }
            if dict::len(dict.get()) != len {
                return Err(decode(SAME_NAME, here));
            }
            self.whole(object_id, dict.get());
            Ok(Some(dict))
        }
    }

    /// Adds the hash cost of an instance that needed no frame.
    #[inline]
    pub(crate) fn cost_of_whole(&mut self, object: &Owned, held: HashCost, len: usize, object_id: u32) {
        // SAFETY: `object` is an owned reference.
        let hash_cost = unsafe { crate::budget::hash_cost::hash_cost_of_instance(object.get(), held, len) };
        if hash_cost != HashCost::default() {
            let before = std::mem::replace(&mut self.object_id, object_id);
            self.add_hash_cost(hash_cost);
            self.object_id = before;
        }
    }

    #[inline(never)]
    fn other_instance(&mut self, shape: &Rc<Shape>, len: usize) -> Result<Option<Owned>> {
        match &shape.build {
            Build::Attributes { plan } => self.instance_with_dict(plan, shape, len),
            Build::Mixed { plan, places } => {
                // SAFETY: whatever permits the class holds it.
                if unsafe { lacks_keys(plan, places) } {
                    return self.instance_with_dict(plan, shape, len);
                }
                self.claim(len, shape.bytes)?;
                // SAFETY: the GIL is held while a decoder lives; whatever permits the class holds it.
                let object = unsafe { plan.fresh()? };
                let object_id = self.take_id();
                self.opened(object_id, object.get());
                self.fill_fields(object, None, shape, object_id, HashCost::default())
            }
            Build::NamedTuple { class, order } => {
                self.claim(len, shape.bytes)?;
                // SAFETY: the GIL is held while a decoder lives; whatever permits the class holds it.
                let object = unsafe { allocate(*class, len as isize)? };
                let object_id = self.take_id();
                self.opened(object_id, object.get());
                let mut held = HashCost::default();
                for at in 0..len {
                    let Some(value) = self.field_or_flat(ANY, accepts::ALL, &mut held)? else {
                        let frame = self.frame(Kind::Tuple, Some(object), len, object_id);
                        return Ok(self.push(Frame { at, shape: Some(shape.clone()), hash_cost: held, ..frame }));
                    };
                    // SAFETY: the instance has `len` empty slots, and `order` says which is whose.
                    unsafe { fill::tuple_item(object.get(), order[at], value) };
                }
                self.whole(object_id, object.get());
                self.costs(object_id, held.around(1, len));
                Ok(Some(object))
            }
            Build::Based { class, base, .. } => self.based(shape, *class, *base),
            Build::Upgraded { plan, .. } => self.upgraded(shape, plan, len),
            Build::Enum => self.gather(Make::Enum(shape.clone()), 1),
            Build::Custom => self.custom_on_value(shape),
            Build::Record => self.record_of(shape, len),
            Build::Decided(_) => self.decided_instance(shape),
            Build::Unresolved => {
                let shape = self.found_shape(shape)?;
                self.instance(&shape)
            }
            Build::Dict | Build::Slots { .. } | Build::Typed(_) | Build::Expected(_) => {
                Err(decode("a layout out of place", self.here()))
            }
        }
    }

    /// An instance all of whose fields are in its `__dict__`, which is a copy of the shape's template.
    fn instance_with_dict(&mut self, plan: &Plan, shape: &Rc<Shape>, len: usize) -> Result<Option<Owned>> {
        self.claim(len, shape.bytes)?;
        let here = self.here();
        // SAFETY: the GIL is held; the class, which is alive as it is permitted, has a `__dict__`; `object` is new.
        unsafe {
            let object = plan.fresh_without_room()?;
            let object_id = self.take_id();
            self.opened(object_id, object.get());
            let dict = match shape.template(here)? {
                Some(template) => Owned::new(ffi::PyDict_Copy(template.get())),
                None => Owned::new(ffi::PyDict_New()),
            }
            .ok_or_else(raised)?;
            crate::classes::state::set_dict(object.get(), dict.clone())?;
            self.fill_fields(object, Some(dict), shape, object_id, HashCost::default())
        }
    }

    /// An instance whose fields are gathered first. A named tuple is made from them, any other instance exists before.
    fn upgraded(&mut self, shape: &Rc<Shape>, plan: &Plan, len: usize) -> Result<Option<Owned>> {
        self.claim(len, shape.bytes)?;
        // SAFETY: the GIL is held while a decoder lives; whatever permits the class holds it while its plan is in use.
        let object = unsafe {
            match is_tuple(plan.class()) {
                true => None,
                false => Some(plan.fresh()?),
            }
        };
        let object_id = self.take_id();
        if let Some(object) = &object {
            self.opened(object_id, object.get());
        }
        let frame = Frame::gather(Make::Upgraded(shape.clone()), object, len, object_id, self.here());
        if len == 0 {
            return self.make(frame).map(Some);
        }
        Ok(self.push(frame))
    }

    /// A record: it stands for an instance of an unknown class.
    fn record_of(&mut self, shape: &Rc<Shape>, fields: usize) -> Result<Option<Owned>> {
        let len = fields + usize::from(shape.kind != ShapeKind::Object);
        self.claim(len, shape.bytes)?;
        let record = types::record::empty(self.py, shape)?;
        let object_id = self.take_id();
        self.opened(object_id, record.get());
        let mut frame = Frame::gather(Make::Record(shape.clone()), Some(record), len, object_id, self.here());
        if len == 0 {
            return self.make(frame).map(Some);
        }
        if shape.kind == ShapeKind::Based && self.content_refers()? {
            frame.flags |= NOT_ITS_OWN;
        }
        Ok(self.push(frame))
    }

    /// Whether the next token is a reference.
    fn refers(&mut self) -> Result<bool> {
        let place = self.r.place();
        let token = self.r.next()?;
        self.r.rewind(place);
        Ok(matches!(token, Token::Reference(_)))
    }

    /// Whether the content of a record is a reference. One that no builtin has is refused, and so is a container with an id: it
    /// belongs to the instance, which has the id. A tuple may be an exception's content, which is another object.
    pub(crate) fn content_refers(&mut self) -> Result<bool> {
        let place = self.r.place();
        let mut token = self.r.next()?;
        let has_id = matches!(token, Token::AssignId);
        if has_id {
            token = self.r.next()?;
        }
        self.r.rewind(place);
        match token {
            Token::Reference(_) => Ok(true),
            Token::Text(_) | Token::Bytes(_) | Token::Int(_) | Token::BigInt(_) => Ok(false),
            Token::Float(_) | Token::Complex(..) | Token::Buffer { .. } | Token::Tuple(_) => Ok(false),
            Token::List(_) | Token::Dict(_) | Token::Set(_) | Token::FrozenSet(_) if !has_id => Ok(false),
            Token::ByteArray(_) if !has_id => Ok(false),
            Token::KnownType(KnownType::PythonDeque | KnownType::PythonDefaultDict) if !has_id => Ok(false),
            _ => Err(decode("expected the content of a subclass of a builtin", self.here())),
        }
    }

    /// An instance of a subclass of a builtin: its content as that builtin comes first, then its fields.
    fn based(&mut self, shape: &Rc<Shape>, class: Type, base: Base) -> Result<Option<Owned>> {
        let fields = shape.names.len();
        let here = self.here();
        if base == Base::Exception && self.refers()? {
            return Err(decode("an exception whose content is not its own", here));
        }
        match base {
            Base::List | Base::Dict | Base::OrderedDict | Base::ByteArray | Base::Tuple => {}
            Base::Set | Base::FrozenSet | Base::DefaultDict | Base::Deque => {}
            // SAFETY: the GIL is held while a decoder lives; whatever permits the class holds it, and it is an exception.
            Base::Exception if unsafe { !types::exception::is_of_parts(self.py, class)? } => {
                self.claim(fields + 1, shape.bytes + 256)?;
                // SAFETY: `class` is alive and an exception, as for `is_of_parts`.
                let object = unsafe { types::exception::empty(self.py, class, None, here)? };
                let object_id = self.take_id();
                self.opened(object_id, object.get());
                let (before, ids) = (self.r.place(), self.object_ids());
                if let Some((arguments, stored)) = self.bare_arguments()? {
                    types::exception::initialise(self.py, &object, &arguments, &stored, here)?;
                    return self.go_on_with_exception(object, &arguments, shape, object_id);
                }
                self.back_to(before, ids);
                let frame = self.frame(Kind::Fields, Some(object.clone()), fields, object_id);
                self.push(Frame { shape: Some(shape.clone()), ..frame });
                let frame = Frame::gather(Make::Exception, Some(object), 1, NO_ID, here);
                return Ok(self.push(Frame { hand_over: false, ..frame }));
            }
            _ => return self.based_on_value(shape, class, base),
        }
        self.claim(fields + 1, shape.bytes + 256)?;
        // SAFETY: whatever permits the class holds it; only classes derived from `base` get a shape that says so.
        let (object, len) = unsafe { self.empty_based(class, base, here)? };
        let object_id = self.take_id();
        self.opened(object_id, object.get());
        let first = match base {
            Base::List | Base::Tuple | Base::Deque => self.first_leaves(base, &object, len)?,
            _ => 0,
        };
        if first == len && matches!(base, Base::List | Base::Tuple | Base::Deque | Base::ByteArray) {
            let held = match base {
                Base::Tuple if len > 0 => HashCost::default().around(1, len),
                _ => HashCost::default(),
            };
            return self.fill_fields(object, None, shape, object_id, held);
        }
        // SAFETY: `object` is an owned reference.
        if fields == 0 && !unsafe { is_hashable(object.get()) } {
            if let Some(done) = self.content_alone(base, &object, first..len, object_id)? {
                return Ok(done);
            }
        }
        let frame = self.frame(Kind::Fields, Some(object.clone()), fields, object_id);
        // The frame of the content is above that of the fields, because the content comes first.
        self.push(Frame { shape: Some(shape.clone()), ..frame });
        self.begin_content(base, object, first..len, here)?;
        // The content is the instance itself, so it has the containers of the frame below.
        if let [.., fields, content] = &mut self.tables.stack[..] {
            if !content.hand_over && content.is_value() {
                content.chain = fields.chain;
            }
        }
        Ok(None)
    }

    /// An empty instance of a subclass of a builtin, made by the builtin's own constructor, and the number of its items.
    ///
    /// # Safety
    /// `class` is alive, and derived from `base`.
    unsafe fn empty_based(&mut self, class: Type, base: Base, at: usize) -> Result<(Owned, usize)> {
        let token = self.r.token()?;
        // SAFETY: the GIL is held while a decoder lives; `class` is alive and derived from `base`, by contract.
        unsafe {
            Ok(match (base, token) {
                (Base::List, Token::List(len)) => {
                    self.claim(len, 8 * len)?;
                    let object = types::new_of(base, class, None)?;
                    // The instance gets all its slots at once, filled with `None`.
                    let filled = Owned::new(ffi::PyList_New(len as isize)).ok_or_else(raised)?;
                    fill::pad(filled.get());
                    if ffi::PyList_SetSlice(object.get(), 0, 0, filled.get()) != 0 {
                        return Err(raised());
                    }
                    (object, len)
                }
                (Base::Tuple, Token::Tuple(len)) => {
                    self.claim(len, 8 * len)?;
                    (allocate(class, len as isize)?, len)
                }
                (Base::DefaultDict, Token::KnownType(KnownType::PythonDefaultDict)) => {
                    (types::collections::empty_of(self.py, KnownType::PythonDefaultDict, class, None)?, 1)
                }
                (Base::Deque, Token::KnownType(KnownType::PythonDeque)) => {
                    let most = match self.r.token()? {
                        Token::Int(most) if most >= 0 => Some(most),
                        Token::None => None,
                        _ => return Err(decode("expected the maxlen of a deque", at)),
                    };
                    let Token::List(len) = self.r.token()? else {
                        return Err(decode("expected the list of a deque's items", at));
                    };
                    self.claim(len, 640 + 8 * len)?;
                    (types::collections::empty_of(self.py, KnownType::PythonDeque, class, most)?, len)
                }
                (Base::Dict | Base::OrderedDict, Token::Dict(len))
                | (Base::Set, Token::Set(len))
                | (Base::FrozenSet, Token::FrozenSet(len)) => (types::new_of(base, class, None)?, len),
                (Base::ByteArray, Token::ByteArray(bytes)) => {
                    let payload = new_bytearray(bytes).ok_or_else(raised)?;
                    (types::new_of(base, class, Some(payload))?, 0)
                }
                _ => return Err(decode("expected the content of a subclass of a builtin", at)),
            })
        }
    }

    /// Begins the content of an instance of a subclass that has no fields besides: the frame of the content, if it needs one, is that of
    /// the instance. `None`: nothing was read. What hashing the instance costs is not asked.
    fn content_alone(
        &mut self,
        base: Base,
        object: &Owned,
        Range { start: first, end: len }: Range<usize>,
        id: u32,
    ) -> Result<Option<Option<Owned>>> {
        self.object_id = id;
        let done = match base {
            Base::Dict | Base::OrderedDict => self.begin_pairs(object.clone(), len, true, ANY)?,
            Base::Set => self.begin_set(object.clone(), len, true, ANY)?,
            Base::List => {
                self.object_id = NO_ID;
                let frame = self.frame(Kind::List, Some(object.clone()), len, id);
                self.push(Frame { at: first, ..frame })
            }
            Base::DefaultDict => {
                self.object_id = NO_ID;
                let (at, before) = (self.here(), self.r.place());
                let Some(factory) = self.quick_factory()? else {
                    self.r.rewind(before);
                    return Ok(None);
                };
                set_factory(object, &factory, at)?;
                self.default_dict(object.clone(), id, true, 0)?
            }
            _ => {
                self.object_id = NO_ID;
                return Ok(None);
            }
        };
        Ok(Some(done))
    }

    /// Pushes the frame for what an instance of a subclass holds as its builtin.
    fn begin_content(
        &mut self,
        base: Base,
        object: Owned,
        Range { start: first, end: len }: Range<usize>,
        at: usize,
    ) -> Result<()> {
        let frame = match base {
            Base::List => self.frame(Kind::List, Some(object), len, NO_ID),
            Base::Tuple => self.frame(Kind::Tuple, Some(object), len, NO_ID),
            Base::FrozenSet if len > 0 => Frame::gather(Make::FrozenSet, Some(object), len, NO_ID, at),
            Base::DefaultDict => {
                let before = self.r.place();
                if let Some(factory) = self.quick_factory()? {
                    set_factory(&object, &factory, at)?;
                    return self.default_dict(object, NO_ID, false, DEFAULT_DICT).map(drop);
                }
                self.r.rewind(before);
                self.frame(Kind::Factory, Some(object), 1, NO_ID)
            }
            Base::Deque => self.frame(Kind::Append, Some(object), len, NO_ID),
            Base::Dict | Base::OrderedDict => return self.begin_pairs(object, len, false, ANY).map(drop),
            Base::Set => return self.begin_set(object, len, false, ANY).map(drop),
            _ => return Ok(()),
        };
        self.push(Frame { at: first, hand_over: false, ..frame });
        Ok(())
    }

    /// Stores the leaves with which the content of a subclass's instance begins; returns how many there are.
    fn first_leaves(&mut self, base: Base, object: &Owned, len: usize) -> Result<usize> {
        for at in 0..len {
            let Some(value) = self.next_leaf(accepts::ALL)? else { return Ok(at) };
            // SAFETY: `object` is a new instance of a class derived from `base`, with `len` slots if it is a list or tuple.
            unsafe {
                match base {
                    Base::List => {
                        if !fill::list_item(object.get(), at, value) {
                            return Err(decode("a list that has become shorter", self.here()));
                        }
                    }
                    Base::Tuple => fill::tuple_item(object.get(), at, value),
                    _ => types::collections::append(self.py, object.get(), value.get())?,
                }
            }
        }
        Ok(len)
    }
}

/// # Safety
/// `class` is alive.
pub(crate) unsafe fn is_tuple(class: *mut ffi::PyTypeObject) -> bool {
    // SAFETY: `class` is alive by contract; only its flags are read.
    unsafe { ffi::PyType_HasFeature(class, ffi::Py_TPFLAGS_TUPLE_SUBCLASS) != 0 }
}

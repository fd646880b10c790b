//! The loop: reads value after value for the container on top of the stack, and hands it to its parent when it is full.

use super::frame::{
    hash_cost_in_content, Deferred, Frame, Kind, Make, Parts, DEFAULT_DICT, DOCUMENT, FIXED, LEARNS_KEYS, ODD, PROXY,
};
use super::hashed::{Adding, TWICE};
use crate::budget::hash_cost::{may_run_code, HashCost};
use crate::budget::scale;
use crate::cpython::fill;
use crate::cpython::{dict, replace, text, Obj, Owned};
use crate::decode::dialect::{set_item, Dialect};
use crate::decode::left_out::LEFT_OUT;
use crate::decode::{Decoder, NO_ID};
use crate::error::{decode, raised, refused, Fault, Result, Step};
use crate::schema::node::{accepts, SeqKind};
use crate::schema::{NodeId, ANY};
use crate::shapes::names;
use crate::shapes::{put, Build, SAME_NAME};
use crate::types::resolver::is_skip;
use holdall_format::model::Leaf;
use holdall_format::{Reader, Token};
use pyo3::ffi;
use std::ptr::addr_of_mut;

pub(crate) const CHANGED: &str = "a container was changed while it was being loaded";

impl<'i, D: Dialect<'i>> Decoder<'i, D> {
    /// Runs until only `base` frames are left, and returns the object of the last frame popped. Errors get their path.
    pub(crate) fn run(&mut self, base: usize) -> Result<Owned> {
        self.run_down_to(base).map_err(|fault| self.traced(fault))
    }

    pub(crate) fn run_down_to(&mut self, base: usize) -> Result<Owned> {
        loop {
            let Some(top) = self.tables.stack.last() else {
                return Err(decode("a value without its container", self.here()));
            };
            let done = match top.kind {
                Kind::List => self.run_list()?,
                Kind::Tuple => self.run_tuple()?,
                Kind::Copied => self.run_copied()?,
                Kind::Pairs => self.run_pairs()?,
                Kind::Typed => self.run_typed()?,
                Kind::Expected => self.run_expected()?,
                Kind::Lists => D::run_lists(self)?,
                _ => self.run_other()?,
            };
            if let Some(frame) = done {
                let (mut hash_cost, object_id, check) =
                    (D::hash_cost(&frame, self.tables.stack.last()), frame.object_id, frame.check);
                if hash_cost_in_content(&frame, &self.tables.stack) {
                    hash_cost.freeing = hash_cost.freeing.max(frame.hash_cost.freeing);
                }
                let is_content = !frame.hand_over && matches!(frame.kind, Kind::Tuple | Kind::Gather);
                let Some(mut object) = self.finish_frame(frame)? else {
                    // The content of a subclass's instance is complete: the frame of its fields takes over its hash cost.
                    if let (true, Some(fields)) = (is_content, self.tables.stack.last_mut()) {
                        fields.hash_cost.add(hash_cost);
                    }
                    continue;
                };
                if check != ANY {
                    object = self.checked_object(object, check, object_id)?;
                }
                if D::BACK_REFERENCES || self.r.indexed().is_some() {
                    self.back_from(self.tables.stack.len());
                }
                if hash_cost != HashCost::default() && object_id != NO_ID {
                    self.tables.numbered[object_id as usize].hash_cost = hash_cost;
                }
                if self.tables.stack.len() == base {
                    return Ok(object);
                }
                let Some(parent) = self.tables.stack.last_mut() else { return Ok(object) };
                if hash_cost != HashCost::default() {
                    parent.hash_cost.add(hash_cost);
                }
                self.deliver(object)?;
            }
        }
    }

    /// Adds the offset to an error, and to a validation error the path of the value.
    #[cold]
    fn traced(&self, mut fault: Fault) -> Fault {
        fault = fault.found(self.here());
        if fault.is_invalid() {
            for frame in self.tables.stack.iter().rev() {
                if let Some(step) = self.step(frame) {
                    fault = fault.within(|| step);
                }
            }
        }
        fault
    }

    fn step(&self, frame: &Frame<D::Make>) -> Option<Step> {
        match frame.kind {
            Kind::List | Kind::Tuple | Kind::Append | Kind::Set => Some(Step::Index(frame.at)),
            Kind::Gather => match frame.parts.as_deref() {
                Some(Parts { make: Some(Make::FrozenSet), .. }) => Some(Step::Index(frame.at)),
                _ => None,
            },
            Kind::Copied | Kind::Keyed | Kind::Pairs | Kind::Expected => Some(Step::Some),
            Kind::Fields => frame.shape.as_ref()?.names.get(frame.at).cloned().map(Step::Field),
            Kind::Typed => match &frame.shape.as_ref()?.build {
                Build::Typed(typed) => self.step_of_field(typed, frame.field),
                _ => None,
            },
            Kind::Array | Kind::Factory | Kind::Reduce | Kind::Lists => None,
        }
    }

    #[inline(always)]
    pub(crate) fn pop(&mut self) -> Option<Frame<D::Make>> {
        self.tables.stack.pop()
    }

    /// Records which value of the top container failed, for the path of the error.
    #[cold]
    #[inline(never)]
    fn stopped(&mut self, depth: usize, at: usize, fault: Fault) -> Fault {
        self.tables.stack[depth - 1].at = at;
        fault
    }

    #[inline(always)]
    fn run_list(&mut self) -> Result<Option<Frame<D::Make>>> {
        let depth = self.tables.stack.len();
        let frame = &self.tables.stack[depth - 1];
        let (mut at, len, item) = (frame.at, frame.len, frame.item);
        let accepts = self.rules.node(item).accepts;
        let Some(list) = frame.object.as_ref().map(Owned::get) else { return Err(decode(CHANGED, self.here())) };
        while at < len {
            self.bounds.owed -= 1;
            match self.value(item, accepts) {
                // SAFETY: the frame stays on the stack and holds the list; `list_item` checks the index against its length.
                Ok(Some(value)) => unsafe {
                    if !fill::list_item(list, at, value) {
                        return Err(decode(CHANGED, self.here()));
                    }
                    at += 1;
                },
                Ok(None) => {
                    self.tables.stack[depth - 1].at = at;
                    return Ok(None);
                }
                Err(fault) => return Err(self.stopped(depth, at, fault)),
            }
        }
        let frame = self.pop();
        D::end_of_list(self, frame)
    }

    fn run_tuple(&mut self) -> Result<Option<Frame<D::Make>>> {
        let depth = self.tables.stack.len();
        while self.tables.stack[depth - 1].at < self.tables.stack[depth - 1].len {
            self.bounds.owed -= 1;
            let frame = &self.tables.stack[depth - 1];
            let item = if frame.flags & FIXED == 0 {
                frame.item
            } else {
                match self.rules.node(frame.item).seq.as_ref().map(|seq| &seq.kind) {
                    Some(SeqKind::Fixed(items)) => items[frame.at],
                    _ => ANY,
                }
            };
            match self.value(item, self.rules.node(item).accepts)? {
                Some(value) => self.deliver(value)?,
                None => return Ok(None),
            }
        }
        Ok(self.pop())
    }

    #[inline(always)]
    fn run_copied(&mut self) -> Result<Option<Frame<D::Make>>> {
        let depth = self.tables.stack.len();
        let frame = &self.tables.stack[depth - 1];
        let (mut at, len, item) = (frame.at, frame.len, frame.item);
        let accepts = self.rules.node(item).accepts;
        let Some(object) = frame.object.as_ref().map(Owned::get) else { return Err(decode(CHANGED, self.here())) };
        while at < len {
            self.bounds.owed -= 1;
            match self.value(item, accepts)? {
                // SAFETY: the frame holds the dict, and `is_template` has just confirmed that it has a slot for each name.
                Some(value) => unsafe {
                    if !dict::is_template(object, len) {
                        return Err(decode(CHANGED, self.here()));
                    }
                    replace(dict::value_slot(object, at), value.into_raw());
                    at += 1;
                },
                None => {
                    self.tables.stack[depth - 1].at = at;
                    return Ok(None);
                }
            }
        }
        // SAFETY: `object` is a dict, held by the frame, which is popped only below.
        unsafe { fill::track(object) };
        Ok(self.pop())
    }

    fn run_pairs(&mut self) -> Result<Option<Frame<D::Make>>> {
        let depth = self.tables.stack.len();
        let (key_node, value_node) = match &self.rules.node(self.tables.stack[depth - 1].item).map {
            Some(map) => (map.key, map.value),
            None => (ANY, ANY),
        };
        let taken = (self.rules.node(key_node).accepts, self.rules.node(value_node).accepts);
        loop {
            if self.run_named(depth, value_node, taken)? {
                return Ok(None);
            }
            let frame = &self.tables.stack[depth - 1];
            if frame.at >= frame.len {
                return Ok(self.pop());
            }
            self.bounds.owed -= 1;
            let (node, accepts) = if frame.key.is_none() {
                self.r.key();
                if D::Reader::KEYS_ARE_TEXT && taken.0 & accepts::STR == 0 {
                    let key = self.text_key(key_node)?;
                    self.deliver(key)?;
                    continue;
                }
                (key_node, taken.0)
            } else {
                (value_node, taken.1)
            };
            match self.value(node, accepts)? {
                Some(value) => self.deliver(value)?,
                None => return Ok(None),
            }
        }
    }

    /// Reads a key that is stored as text and coerces it to the node's type.
    #[cold]
    fn text_key(&mut self, node: NodeId) -> Result<Owned> {
        let at = self.r.start();
        let Token::Text(bytes) = self.r.token()? else { return Err(decode("a key that is no text", at)) };
        let text = self.string_of(bytes)?;
        self.rules.coerce_key(node, text).map_err(|fault| fault.found(at))
    }

    /// Reads pairs while the keys are leaves. `true`: a value was started that has a frame of its own.
    #[inline(always)]
    fn run_named(&mut self, depth: usize, value_node: NodeId, accepts: (u32, u32)) -> Result<bool> {
        let frame = &self.tables.stack[depth - 1];
        let (mut at, len) = (frame.at, frame.len);
        let Some(dict) = frame.object.as_ref().map(Owned::get) else { return Err(decode(CHANGED, self.here())) };
        // SAFETY: the frame stays on the stack and holds `dict`.
        let is_dict = unsafe { ffi::Py_TYPE(dict) } == addr_of_mut!(ffi::PyDict_Type);
        if frame.key.is_some() || frame.deferring || !is_dict || accepts.0 & accepts::STR == 0 {
            return Ok(false);
        }
        while at < len {
            let before = self.r.place();
            self.r.key();
            let (key, is_name) = match self.r.leaf()? {
                // SAFETY: the GIL is held while a decoder lives; the reader has checked that these bytes are ASCII.
                Some(Leaf::Ascii(name)) => (unsafe { names::name(name) }.ok_or_else(raised)?, true),
                Some(leaf) if !self.options.msgpack.strict_keys => match self.of_leaf(leaf, accepts.0)? {
                    Some(key) => (key, false),
                    None => {
                        self.r.rewind(before);
                        break;
                    }
                },
                _ => {
                    self.r.rewind(before);
                    break;
                }
            };
            self.bounds.owed -= 2;
            match self.next_leaf(accepts.1)? {
                // SAFETY: key and value are owned references, and the frame holds the dict. Hashing a leaf runs no code.
                Some(value) if !is_name => unsafe {
                    let adding = Adding::new(&self.r, &self.rules.work, self.here());
                    adding.item(dict, key.get(), value.get(), 0)?;
                    at += 2;
                },
                // SAFETY: the frame holds the dict, which was an exact dict above, and those can't change their type.
                Some(value) => unsafe {
                    let count = dict::len(dict);
                    if !dict::set(dict, key.get(), value.get()) {
                        return Err(raised());
                    }
                    if D::Reader::UNIQUE_KEYS && dict::len(dict) == count {
                        return Err(decode(TWICE, self.here()));
                    }
                    at += 2;
                },
                None => {
                    let frame = &mut self.tables.stack[depth - 1];
                    (frame.at, frame.key) = (at + 1, Some(key));
                    let Some(value) = self.next_node(value_node)? else { return Ok(true) };
                    self.deliver(value)?;
                    if self.tables.stack[depth - 1].deferring {
                        return Ok(false);
                    }
                    at += 2;
                }
            }
        }
        self.tables.stack[depth - 1].at = at;
        Ok(false)
    }

    #[inline(never)]
    fn run_other(&mut self) -> Result<Option<Frame<D::Make>>> {
        let depth = self.tables.stack.len();
        let item = self.tables.stack[depth - 1].item;
        let accepts = self.rules.node(item).accepts;
        while self.tables.stack[depth - 1].at < self.tables.stack[depth - 1].len {
            self.bounds.owed -= 1;
            match self.value(item, accepts)? {
                Some(value) => {
                    self.deliver(value)?;
                    // A default dict's factory is alone in its frame; the items get another one.
                    if self.tables.stack.len() != depth || self.tables.stack[depth - 1].kind == Kind::Factory {
                        break;
                    }
                }
                None => return Ok(None),
            }
        }
        if self.tables.stack.len() != depth || self.tables.stack[depth - 1].at < self.tables.stack[depth - 1].len {
            return Ok(None);
        }
        Ok(self.pop())
    }

    /// Finishes a full frame. `None`: there is no object to hand to the frame below, or not yet.
    fn finish_frame(&mut self, mut frame: Frame<D::Make>) -> Result<Option<Owned>> {
        if !self.left_out.is_empty() {
            self.leave_out(&mut frame)?;
        }
        if frame.hash_cost.freeing >= HashCost::MOST_FREED {
            return Err(decode("nested too deep in a type that CPython frees by recursion", frame.offset));
        }
        match frame.kind {
            Kind::Gather | Kind::Lists => {
                let (hand_over, check) = (frame.hand_over, frame.check);
                let made = self.make(frame)?;
                // An instance of a subclass of an immutable builtin continues with its fields: it is not complete yet.
                if self.take_made_again() {
                    if let Some(above) = self.tables.stack.last_mut() {
                        above.check = check;
                    }
                    return Ok(None);
                }
                Ok(hand_over.then_some(made))
            }
            Kind::Factory => {
                let Some(object) = frame.object else { return Err(decode(CHANGED, frame.offset)) };
                let depth = self.tables.stack.len();
                let done = self.default_dict(object, frame.object_id, frame.hand_over, DEFAULT_DICT)?;
                if let Some(above) = self.tables.stack.get_mut(depth) {
                    above.check = frame.check;
                }
                Ok(done)
            }
            Kind::Reduce => self.finish_reduce(frame).map(Some),
            Kind::Typed => self.finish_typed(frame).map(Some),
            Kind::Pairs | Kind::Keyed if frame.flags & PROXY != 0 => {
                let Some(object) = frame.object else { return Err(decode(CHANGED, frame.offset)) };
                self.proxy(object, frame.object_id, frame.offset).map(Some)
            }
            _ => {
                let Some(object) = frame.object else { return Err(decode(CHANGED, frame.offset)) };
                if frame.flags & LEARNS_KEYS != 0 {
                    self.learn(object.get(), frame.len / 2);
                }
                if let (Kind::Keyed, 0, Some(shape)) = (frame.kind, frame.flags & ODD, &frame.shape) {
                    // The first dict with these keys: there is no template that would show it.
                    // SAFETY: the frame holds the object, which is a dict where it is not odd.
                    if shape.template.get().is_none() && unsafe { dict::len(object.get()) } < shape.names.len() {
                        return Err(decode(SAME_NAME, frame.offset));
                    }
                }
                if frame.kind == Kind::Fields {
                    if let Some(dict) = &frame.key {
                        // SAFETY: `key` of a `Fields` frame holds the instance's `__dict__`.
                        unsafe { fill::track(dict.get()) };
                    }
                }
                self.whole(frame.object_id, object.get());
                let object = if frame.kind == Kind::Pairs { D::whole_dict(self, object)? } else { object };
                Ok(frame.hand_over.then_some(object))
            }
        }
    }

    /// The index of the next value in the top container, and the cost of comparing the value if it is hashed.
    #[inline(always)]
    fn next_place(&mut self, here: usize) -> Result<(usize, u32)> {
        let Some(frame) = self.tables.stack.last_mut() else {
            return Err(decode("a value without its container", here));
        };
        let at = frame.at;
        frame.at += 1;
        let hash_cost = frame.hash_cost;
        if hash_cost == HashCost::default() || !matches!(frame.kind, Kind::Pairs | Kind::Set | Kind::Lists) {
            return Ok((at, 0));
        }
        frame.hash_cost = HashCost { depth: 0, values: 0, ..hash_cost };
        // In a `Lists` frame, the first list has the keys.
        let is_hashed = match frame.kind {
            Kind::Set => true,
            Kind::Lists => D::LISTS_BEGIN_WITH_KEYS && at == 0,
            _ => frame.key.is_none(),
        };
        if is_hashed {
            self.charge_key(hash_cost, here)?;
        }
        Ok((at, hash_cost.values))
    }

    /// Stores a value into the container on top of the stack.
    // Long: an arm for each kind of frame.
    pub(crate) fn deliver(&mut self, value: Owned) -> Result<()> {
        let here = self.here();
        let half_seen = self.late.half_seen;
        let (at, key_cost) = self.next_place(here)?;
        let Some(frame) = self.tables.stack.last_mut() else {
            return Err(decode("a value without its container", here));
        };
        let missing = || decode(CHANGED, here);
        // SAFETY: the frame holds its object, created with the type that `kind` stands for. Slots of lists and dicts are
        // checked before the write; a tuple has `len` slots, and the loops deliver at most `len` values.
        unsafe {
            match frame.kind {
                Kind::List => {
                    let list = frame.object.as_ref().ok_or_else(missing)?;
                    if !fill::list_item(list.get(), at, value) {
                        return Err(missing());
                    }
                }
                Kind::Tuple => {
                    let tuple = frame.object.as_ref().ok_or_else(missing)?;
                    let place = match frame.shape.as_deref().map(|shape| &shape.build) {
                        Some(Build::NamedTuple { order, .. }) => order[at],
                        _ => at,
                    };
                    fill::tuple_item(tuple.get(), place, value);
                }
                Kind::Copied | Kind::Expected => {
                    let object = frame.object.as_ref().ok_or_else(missing)?;
                    if !dict::is_template(object.get(), frame.len) {
                        return Err(missing());
                    }
                    replace(dict::value_slot(object.get(), at), value.into_raw());
                }
                Kind::Keyed => {
                    let object = frame.object.as_ref().ok_or_else(missing)?;
                    let shape = frame.shape.as_ref().ok_or_else(missing)?;
                    if frame.flags & ODD != 0 {
                        Adding::new(&self.r, &self.rules.work, here).item(
                            object.get(),
                            shape.names[at].get(),
                            value.get(),
                            0,
                        )?;
                    } else if !dict::set(object.get(), shape.names[at].get(), value.get()) {
                        return Err(raised());
                    }
                }
                Kind::Pairs => return self.deliver_to_pairs(value, key_cost),
                Kind::Set => {
                    let set = frame.object.clone().ok_or_else(missing)?;
                    if half_seen && may_run_code(value.get()) {
                        self.late.deferred.push(Deferred::Member { set, member: value, offset: here });
                    } else {
                        Adding::new(&self.r, &self.rules.work, here).member(set.get(), value.get(), key_cost)?;
                    }
                }
                Kind::Fields => put_field(frame, at, value, here)?,
                Kind::Append => {
                    let object = frame.object.clone().ok_or_else(missing)?;
                    crate::types::collections::append(self.py, object.get(), value.get())?;
                }
                Kind::Array => return self.array_item(at, &value),
                Kind::Factory => set_factory(&frame.object.clone().ok_or_else(missing)?, &value, here)?,
                Kind::Gather | Kind::Lists => {
                    let cost_so_far = frame.hash_cost.values;
                    let parts = frame.parts.get_or_insert_default();
                    if matches!(parts.make, Some(Make::FrozenSet)) {
                        parts.hash_costs.push(cost_so_far - std::mem::replace(&mut parts.cost_so_far, cost_so_far));
                    }
                    parts.gathered.push(value);
                }
                Kind::Typed => return self.deliver_field(value),
                Kind::Reduce => {
                    if is_skip(value.get()) {
                        return Err(decode(LEFT_OUT, here));
                    }
                    frame.gathered().push(value);
                    return self.reduce_part();
                }
            }
        }
        Ok(())
    }

    /// Takes a key, or the value for the key that came before.
    ///
    /// # Safety
    /// The top frame is of `Kind::Pairs`, and holds a dict, or with `DOCUMENT` any object that supports item assignment.
    #[inline(always)]
    unsafe fn deliver_to_pairs(&mut self, value: Owned, key_cost: u32) -> Result<()> {
        let (here, half_seen) = (self.here(), self.late.half_seen);
        let Some(frame) = self.tables.stack.last_mut() else { return Err(decode(CHANGED, here)) };
        let Some(key) = frame.key.take() else {
            // SAFETY: `value` is an owned reference.
            if self.options.msgpack.strict_keys && unsafe { !text_or_bytes(value.get()) } {
                return Err(decode("a key that is neither text nor bytes, with strict_map_key=True", here));
            }
            frame.set_key(value, key_cost);
            return Ok(());
        };
        let dict = frame.object.clone().ok_or_else(|| decode(CHANGED, here))?;
        // SAFETY: `dict`, `key` and `value` are owned references; without `DOCUMENT` the object is a dict, by contract.
        unsafe {
            if frame.flags & DOCUMENT != 0 {
                return set_item(dict.get(), key.get(), value.get()).map_err(|fault| D::of_user(self, 1, fault));
            }
            if frame.deferring || (half_seen && may_run_code(key.get())) {
                frame.deferring = true;
                self.late.deferred.push(Deferred::Item { dict, key, value, offset: here });
                return Ok(());
            }
            let hash_cost = frame.key_cost();
            Adding::new(&self.r, &self.rules.work, here).item(dict.get(), key.get(), value.get(), hash_cost)
        }
    }

    /// Charges the cost of hashing a key, before it is hashed.
    #[cold]
    pub(crate) fn charge_key(&mut self, hash_cost: HashCost, at: usize) -> Result<()> {
        scale::charge(&self.rules.work, hash_cost, at)
    }
}

/// # Safety
/// `object` is alive.
unsafe fn text_or_bytes(object: Obj) -> bool {
    // SAFETY: `object` is alive by contract; only its type is read.
    unsafe { text::is(object) || ffi::Py_TYPE(object) == addr_of_mut!(ffi::PyBytes_Type) }
}

/// Stores a value into a field of the frame's instance.
///
/// # Safety
/// The frame is of `Kind::Fields`, its object an instance of the class that its shape was built for, and `at` the index
/// of a field.
#[inline(always)]
pub(super) unsafe fn put_field<M>(frame: &Frame<M>, at: usize, value: Owned, here: usize) -> Result<()> {
    let missing = || decode(CHANGED, here);
    let object = frame.object.as_ref().ok_or_else(missing)?;
    let shape = frame.shape.as_ref().ok_or_else(missing)?;
    // SAFETY: the frame holds the instance and its `__dict__`; offsets and places were found for its class, by contract.
    unsafe {
        match &shape.build {
            Build::Slots { offsets, .. } => {
                replace(crate::classes::state::slot_mut(object.get(), offsets[at]), value.into_raw());
            }
            Build::Mixed { places, .. } | Build::Based { places, .. } if frame.key.is_none() => {
                let object = object.clone();
                put(object.get(), &places[at], value, here)?
            }
            _ => {
                let dict = frame.key.as_ref().ok_or_else(missing)?;
                if dict::is_template(dict.get(), frame.len) {
                    replace(dict::value_slot(dict.get(), at), value.into_raw());
                } else if !dict::set(dict.get(), shape.names[at].get(), value.get()) {
                    return Err(raised());
                }
            }
        }
    }
    Ok(())
}

/// Sets a dict's default factory.
pub(crate) fn set_factory(object: &Owned, factory: &Owned, here: usize) -> Result<()> {
    // SAFETY: `object` is an owned reference, and the caller holds `factory`; the GIL is held wherever a default dict is made.
    unsafe {
        let name = pyo3::intern!(pyo3::Python::assume_attached(), "default_factory").as_ptr();
        if factory.get() != ffi::Py_None() && ffi::PyCallable_Check(factory.get()) == 0 {
            return Err(decode("a default factory that can't be called", here));
        }
        if ffi::PyObject_SetAttr(object.get(), name, factory.get()) != 0 {
            return Err(refused("a default factory can't be set", here));
        }
    }
    Ok(())
}

//! The loop: takes the container on top of the stack on by one value after the other, and hands it over when full.

use super::frame::{Deferred, Frame, Kind, Weight, DEFAULT_DICT};
use super::layout::{put, Build};
use super::{fill, Decoder, UNMARKED};
use crate::cpython::{dict, replace, text, Obj, Owned};
use crate::error::{decode, raised, refused, Result};
use holdall_format::Reader;
use pyo3::ffi;
use std::ptr::addr_of_mut;

const CHANGED: &str = "a container was changed while it was being loaded";

impl<'i, R: Reader<'i>> Decoder<'i, R> {
    /// Works until the stack is empty; gives the object at its bottom.
    pub(super) fn run(&mut self) -> Result<Owned> {
        loop {
            let Some(top) = self.stack.last() else {
                return Err(decode("a value without its container", self.here()));
            };
            let done = match top.kind {
                Kind::List => self.run_list()?,
                Kind::Tuple => self.run_tuple()?,
                Kind::Copied => self.run_copied()?,
                _ => self.run_other()?,
            };
            if let Some(frame) = done {
                let (weight, mark) = (weight_of(&frame), frame.mark);
                let Some(object) = self.finish_frame(frame)? else { continue };
                let Some(parent) = self.stack.last_mut() else { return Ok(object) };
                if weight != Weight::default() {
                    parent.weight.add(weight);
                    if mark != UNMARKED {
                        self.numbered[mark as usize].weight = weight;
                    }
                }
                self.deliver(object)?;
            }
        }
    }

    /// Takes the full container off the stack.
    #[inline(always)]
    fn pop(&mut self) -> Option<Frame> {
        self.stack.pop()
    }

    #[inline(always)]
    fn run_list(&mut self) -> Result<Option<Frame>> {
        let depth = self.stack.len();
        let frame = &self.stack[depth - 1];
        let (mut at, len) = (frame.at, frame.len);
        let Some(list) = frame.object.as_ref().map(Owned::get) else { return Err(decode(CHANGED, self.here())) };
        while at < len {
            self.owed -= 1;
            match self.value()? {
                // SAFETY: the frame holds the list.
                Some(value) => unsafe {
                    if !fill::list_item(list, at, value) {
                        return Err(decode(CHANGED, self.here()));
                    }
                    at += 1;
                },
                None => {
                    self.stack[depth - 1].at = at;
                    return Ok(None);
                }
            }
        }
        Ok(self.pop())
    }

    fn run_tuple(&mut self) -> Result<Option<Frame>> {
        let depth = self.stack.len();
        while self.stack[depth - 1].at < self.stack[depth - 1].len {
            self.owed -= 1;
            match self.value()? {
                Some(value) => self.deliver(value)?,
                None => return Ok(None),
            }
        }
        Ok(self.pop())
    }

    #[inline(always)]
    fn run_copied(&mut self) -> Result<Option<Frame>> {
        let depth = self.stack.len();
        let frame = &self.stack[depth - 1];
        let (mut at, len) = (frame.at, frame.len);
        let Some(object) = frame.object.as_ref().map(Owned::get) else { return Err(decode(CHANGED, self.here())) };
        while at < len {
            self.owed -= 1;
            match self.value()? {
                // SAFETY: the frame holds the dict, and it still has a place for each name.
                Some(value) => unsafe {
                    if !dict::is_template(object, len) {
                        return Err(decode(CHANGED, self.here()));
                    }
                    replace(dict::value_slot(object, at), value.into_raw());
                    at += 1;
                },
                None => {
                    self.stack[depth - 1].at = at;
                    return Ok(None);
                }
            }
        }
        // SAFETY: a dict.
        unsafe { fill::track(object) };
        Ok(self.pop())
    }

    #[inline(never)]
    fn run_other(&mut self) -> Result<Option<Frame>> {
        let depth = self.stack.len();
        while self.stack[depth - 1].at < self.stack[depth - 1].len {
            self.owed -= 1;
            match self.value()? {
                Some(value) => {
                    self.deliver(value)?;
                    // A default dict's factory is followed by a frame for its items.
                    if self.stack.len() != depth || self.stack[depth - 1].kind == Kind::Factory {
                        break;
                    }
                }
                None => return Ok(None),
            }
        }
        if self.stack.len() != depth || self.stack[depth - 1].at < self.stack[depth - 1].len {
            return Ok(None);
        }
        Ok(self.pop())
    }

    /// The object of a full frame, if it is to be handed to the frame below.
    fn finish_frame(&mut self, frame: Frame) -> Result<Option<Owned>> {
        if frame.weight.freeing >= Weight::DEEPEST {
            return Err(decode(
                format_args!("nested deeper than {} in a type that CPython frees by recursion", Weight::DEEPEST),
                frame.offset,
            ));
        }
        match frame.kind {
            Kind::Gather => {
                let hand_over = frame.hand_over;
                let made = self.make(frame)?;
                // A subclass of an immutable builtin goes on to its fields: nothing to hand over yet.
                if self.take_made_again() {
                    return Ok(None);
                }
                Ok(hand_over.then_some(made))
            }
            Kind::Factory => {
                let Some(object) = frame.object else { return Err(decode(CHANGED, frame.offset)) };
                self.default_dict(object, frame.mark, frame.hand_over)
            }
            Kind::Reduce => self.finish_reduce(frame).map(Some),
            _ => {
                let Some(object) = frame.object else { return Err(decode(CHANGED, frame.offset)) };
                if frame.kind == Kind::Fields {
                    if let Some(dict) = &frame.key {
                        // SAFETY: the instance's `__dict__`.
                        unsafe { fill::track(dict.get()) };
                    }
                }
                self.whole(frame.mark, object.get());
                Ok(frame.hand_over.then_some(object))
            }
        }
    }

    /// Puts a value into the container on top of the stack.
    pub(super) fn deliver(&mut self, value: Owned) -> Result<()> {
        let here = self.here();
        let half_seen = self.half_seen;
        let Some(frame) = self.stack.last_mut() else { return Err(decode("a value without its container", here)) };
        let at = frame.at;
        frame.at += 1;
        if frame.weight != Weight::default() && matches!(frame.kind, Kind::Pairs | Kind::Set) {
            let weight = frame.weight;
            frame.weight = Weight { depth: 0, values: 0, ..weight };
            if frame.kind == Kind::Set || frame.key.is_none() {
                self.weigh_key(weight, here)?;
            }
        }
        let Some(frame) = self.stack.last_mut() else { return Err(decode("a value without its container", here)) };
        let missing = || decode(CHANGED, here);
        // SAFETY: a frame's object is of the type that its kind says, and is held by it.
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
                    let place = match frame.layout.as_deref().map(|layout| &layout.build) {
                        Some(Build::NamedTuple { order, .. }) => order[at],
                        _ => at,
                    };
                    fill::tuple_item(tuple.get(), place, value);
                }
                Kind::Copied => {
                    let object = frame.object.as_ref().ok_or_else(missing)?;
                    if !dict::is_template(object.get(), frame.len) {
                        return Err(missing());
                    }
                    replace(dict::value_slot(object.get(), at), value.into_raw());
                }
                Kind::Keyed => {
                    let object = frame.object.as_ref().ok_or_else(missing)?;
                    let layout = frame.layout.as_ref().ok_or_else(missing)?;
                    if !dict::set(object.get(), layout.names[at].get(), value.get()) {
                        return Err(raised());
                    }
                }
                Kind::Pairs => match frame.key.take() {
                    None => frame.key = Some(value),
                    Some(key) => {
                        let dict = frame.object.clone().ok_or_else(missing)?;
                        if frame.deferring || (half_seen && may_run_code(key.get())) {
                            frame.deferring = true;
                            self.deferred.push(Deferred::Item { dict, key, value, offset: here });
                        } else {
                            set_item(dict.get(), key.get(), value.get(), here)?;
                        }
                    }
                },
                Kind::Set => {
                    let set = frame.object.clone().ok_or_else(missing)?;
                    if half_seen && may_run_code(value.get()) {
                        self.deferred.push(Deferred::Member { set, member: value, offset: here });
                    } else {
                        add_member(set.get(), value.get(), here)?;
                    }
                }
                Kind::Fields => {
                    let object = frame.object.clone().ok_or_else(missing)?;
                    let layout = frame.layout.clone().ok_or_else(missing)?;
                    match &layout.build {
                        Build::Slots { offsets, .. } => {
                            replace(crate::class::state::slot_mut(object.get(), offsets[at]), value.into_raw());
                        }
                        Build::Mixed { places, .. } | Build::Based { places, .. } => {
                            put(object.get(), &places[at], value, here)?
                        }
                        _ => {
                            let dict = frame.key.as_ref().ok_or_else(missing)?;
                            if dict::is_template(dict.get(), frame.len) {
                                replace(dict::value_slot(dict.get(), at), value.into_raw());
                            } else if !dict::set(dict.get(), layout.names[at].get(), value.get()) {
                                return Err(raised());
                            }
                        }
                    }
                }
                Kind::Append => {
                    let object = frame.object.clone().ok_or_else(missing)?;
                    crate::objects::collections::append(object.get(), value.get())?;
                }
                Kind::Array => return self.array_item(at, &value),
                Kind::Factory => {
                    let object = frame.object.clone().ok_or_else(missing)?;
                    if value.get() != ffi::Py_None() && ffi::PyCallable_Check(value.get()) == 0 {
                        return Err(decode("a default factory that can't be called", here));
                    }
                    if ffi::PyObject_SetAttrString(object.get(), c"default_factory".as_ptr(), value.get()) != 0 {
                        return Err(refused("a default factory can't be set", here));
                    }
                }
                Kind::Gather => frame.gathered().push(value),
                Kind::Reduce => {
                    frame.gathered().push(value);
                    return self.reduce_part();
                }
            }
        }
        Ok(())
    }

    /// Refuses a key whose hash would recurse too deep, or take time out of proportion to the message.
    #[cold]
    pub(super) fn weigh_key(&mut self, weight: Weight, at: usize) -> Result<()> {
        if weight.depth > Weight::DEEPEST {
            return Err(decode(format_args!("a key nested deeper than {}", Weight::DEEPEST), at));
        }
        match self.hashes_left.checked_sub(weight.values as usize) {
            Some(left) => self.hashes_left = left,
            None => return Err(decode("keys whose hashes take time out of proportion to the message", at)),
        }
        Ok(())
    }

    /// Hashes what could not be hashed while its fields were not all there, from the `from`th on.
    pub(super) fn finish_deferred(&mut self, from: usize) -> Result<()> {
        for deferred in self.deferred.split_off(from) {
            // SAFETY: all are held.
            unsafe {
                match deferred {
                    Deferred::Item { dict, key, value, offset } => {
                        set_item(dict.get(), key.get(), value.get(), offset)?
                    }
                    Deferred::Member { set, member, offset } => {
                        add_member(set.get(), member.get(), offset)?;
                    }
                }
            }
        }
        Ok(())
    }
}

/// What hashing (or freeing) the object of a full frame costs whoever holds it.
#[inline(always)]
fn weight_of(frame: &Frame) -> Weight {
    let held = frame.weight;
    match frame.kind {
        Kind::Pairs if frame.flags == DEFAULT_DICT => {
            Weight { freeing: held.freeing.saturating_add(1), ..Weight::default() }
        }
        Kind::List | Kind::Copied | Kind::Keyed | Kind::Pairs | Kind::Set | Kind::Append | Kind::Factory => {
            Weight::default()
        }
        Kind::Fields | Kind::Reduce => Weight { freeing: 0, ..held },
        Kind::Tuple | Kind::Gather | Kind::Array => Weight {
            depth: held.depth.saturating_add(1),
            freeing: if frame.kind == Kind::Tuple { 0 } else { held.freeing.saturating_add(1) },
            values: held.values.saturating_add(u32::try_from(frame.len).unwrap_or(u32::MAX)),
        },
    }
}

/// Whether hashing it may run Python code, or read an instance that is not all there.
///
/// # Safety
/// `object` is alive.
pub(super) unsafe fn may_run_code(object: Obj) -> bool {
    // SAFETY: alive, says the caller.
    unsafe {
        let class = ffi::Py_TYPE(object);
        !(text::is(object)
            || class == addr_of_mut!(ffi::PyLong_Type)
            || class == addr_of_mut!(ffi::PyFloat_Type)
            || class == addr_of_mut!(ffi::PyBytes_Type))
    }
}

/// Whether an object hashes by what it is, not by what it holds.
///
/// # Safety
/// `object` is alive.
pub(super) unsafe fn hashes_by_identity(object: Obj) -> bool {
    // SAFETY: alive, says the caller; the type is static.
    unsafe {
        let own = (*ffi::Py_TYPE(object)).tp_hash.map(|hash| hash as usize);
        own == (*addr_of_mut!(ffi::PyBaseObject_Type)).tp_hash.map(|hash| hash as usize)
    }
}

/// Sets a dict's item, an ordered dict's by its own way.
///
/// # Safety
/// All are alive, and `dict` is a dict or of a subclass.
unsafe fn set_item(dict: Obj, key: Obj, value: Obj, at: usize) -> Result<()> {
    // SAFETY: alive, says the caller.
    unsafe {
        let before = dict::len(dict);
        let ordered = addr_of_mut!(crate::cpython::PyODict_Type);
        let failed = if ffi::PyType_IsSubtype(ffi::Py_TYPE(dict), ordered) != 0 {
            // Past what a subclass may have overridden.
            match (*(*ordered).tp_as_mapping).mp_ass_subscript {
                Some(set) => set(dict, key, value),
                None => -1,
            }
        } else {
            ffi::PyDict_SetItem(dict, key, value)
        };
        if failed != 0 {
            return Err(refused("a key can't be hashed", at));
        }
        if dict::len(dict) == before {
            return Err(decode("the same key twice", at));
        }
    }
    Ok(())
}

/// Adds a member to a set (or to a frozenset that nobody else has seen).
///
/// # Safety
/// Both are alive, and `set` is a set.
pub(super) unsafe fn add_member(set: Obj, member: Obj, at: usize) -> Result<()> {
    // SAFETY: alive, says the caller.
    unsafe {
        let before = ffi::PySet_Size(set);
        if ffi::PySet_Add(set, member) != 0 {
            return Err(refused("a set's member can't be hashed", at));
        }
        if ffi::PySet_Size(set) == before {
            return Err(decode("the same member twice", at));
        }
    }
    Ok(())
}

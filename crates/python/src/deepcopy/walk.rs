//! The walk: builtin containers, and the loop that continues the copy on top of the stack.

use crate::classes::state;
use crate::cpython::dict::{self, Pair, Position};
use crate::cpython::fill;
use crate::cpython::{replace, Obj, Owned};
use crate::deepcopy::frame::{leaf, places, Extra, Frame, Kind, Parts};
use crate::deepcopy::{fault, Copier, Got, Seen, BY_PARENT, BY_PARENT_AND_COPY, CHANGED, NEVER, NO_ID};
use crate::error::{raised, Result};
use crate::memory::Vec;
use pyo3::ffi;
use std::ptr::addr_of_mut;

/// What is hashed after the walk, when all copies are complete.
pub(super) enum Deferred {
    Item { target: Owned, key: Owned, value: Owned },
    Member { set: Owned, member: Owned },
}

/// The position of the first item from `at` on that is not a leaf.
#[inline(always)]
unsafe fn first_node(places: &[Obj], at: usize) -> Option<usize> {
    // SAFETY: callers pass the filled items of a live object.
    places[at..].iter().position(|&item| unsafe { !leaf(item) }).map(|found| at + found)
}

impl Copier<'_> {
    /// Copies an object. If `whole`, a `Got::Made` is complete: it may be hashed or called.
    ///
    /// # Safety
    /// `object` is alive.
    #[inline(always)]
    pub(super) unsafe fn value(&mut self, object: Obj, held: isize, whole: bool) -> Result<Got> {
        // SAFETY: `object` is alive by contract; the types are static.
        unsafe {
            let class = ffi::Py_TYPE(object);
            let is_dict = class == addr_of_mut!(ffi::PyDict_Type);
            if is_dict || class == addr_of_mut!(ffi::PyList_Type) {
                return match self.seen(object, held)? {
                    Seen::Copied(copy) => Ok(Got::Made(copy)),
                    Seen::New(id) if is_dict => self.dict(object, id, whole),
                    Seen::New(id) => self.list(object, id, whole),
                };
            }
            if class == addr_of_mut!(ffi::PyTuple_Type) {
                // A tuple of leaves is its own copy and needs no look-up.
                return match first_node(places(object), 0) {
                    None => Ok(Got::Same),
                    Some(at) => self.tuple(object, at, held),
                };
            }
            if leaf(object) {
                return Ok(Got::Same);
            }
            self.other(object, held, whole)
        }
    }

    #[inline(always)]
    pub(super) fn push(&mut self, frame: Frame) {
        crate::memory::check();
        self.tables.stack.push(frame);
    }

    /// The result for an object whose frame was pushed.
    #[inline(always)]
    fn pushed(whole: bool, copy: Owned) -> Got {
        if whole {
            Got::Pending
        } else {
            Got::Made(copy)
        }
    }

    #[inline(always)]
    unsafe fn list(&mut self, object: Obj, id: u32, whole: bool) -> Result<Got> {
        // SAFETY: `object` is a list: `value` checked its type.
        unsafe {
            let copy = Owned::new(ffi::PyList_GetSlice(object, 0, ffi::Py_SIZE(object))).ok_or_else(raised)?;
            self.settle(id, &copy);
            let items = places(copy.get());
            let Some(at) = first_node(items, 0) else {
                self.close(id);
                return Ok(Got::Made(copy));
            };
            let (len, object) = (items.len(), copy.clone());
            self.push(Frame { kind: Kind::List, hand_over: whole, id, at, len, object, extra: Extra::None });
            Ok(Self::pushed(whole, copy))
        }
    }

    #[inline(never)]
    pub(super) unsafe fn tuple(&mut self, object: Obj, at: usize, held: isize) -> Result<Got> {
        // SAFETY: `object` is a tuple or named tuple with an item at `at` that is not a leaf.
        unsafe {
            let id = match self.seen(object, held)? {
                Seen::Copied(copy) => return Ok(Got::Made(copy)),
                Seen::New(id) => id,
            };
            let (len, object) = (ffi::Py_SIZE(object) as usize, Owned::borrowed(object));
            self.push(Frame { kind: Kind::Shared, hand_over: true, id, at, len, object, extra: Extra::None });
            Ok(Got::Pending)
        }
    }

    #[inline(always)]
    unsafe fn dict(&mut self, object: Obj, id: u32, whole: bool) -> Result<Got> {
        // SAFETY: `object` is a dict: `value` checked its type.
        unsafe {
            let len = dict::len(object);
            if len == 0 {
                let copy = Owned::new(ffi::PyDict_New()).ok_or_else(raised)?;
                self.settle(id, &copy);
                self.close(id);
                return Ok(Got::Made(copy));
            }
            if dict::entries(object).is_none() && !self.has_fixed_keys(object)? {
                let copy = Owned::new(ffi::PyDict_New()).ok_or_else(raised)?;
                self.settle(id, &copy);
                self.pairs(object, &copy, id, whole);
                return Ok(Self::pushed(whole, copy));
            }
            let copy = Owned::new(ffi::PyDict_Copy(object)).ok_or_else(raised)?;
            self.settle(id, &copy);
            let (kind, at) = match dict::entries(copy.get()) {
                Some(entries) => (Kind::Values, entries.iter().position(|entry| !leaf(entry.value))),
                None => {
                    let (mut position, mut before) = (Position(0), 0);
                    let mut found = None;
                    while let Some((_, value)) = position.next(copy.get()) {
                        if !leaf(value) {
                            found = Some(before);
                            break;
                        }
                        before = position.0 as usize;
                    }
                    (Kind::Keyed, found)
                }
            };
            let Some(at) = at else {
                self.close(id);
                return Ok(Got::Made(copy));
            };
            // The shallow copy of a dict of untracked values isn't tracked by the collector.
            fill::track(copy.get());
            self.push(Frame { kind, hand_over: whole, id, at, len, object: copy.clone(), extra: Extra::None });
            Ok(Self::pushed(whole, copy))
        }
    }

    /// Whether all keys are their own copies.
    unsafe fn has_fixed_keys(&mut self, object: Obj) -> Result<bool> {
        let mut position = Position(0);
        // SAFETY: `object` is a dict; `next` reads it anew at every step, and keys are held while they are examined.
        unsafe {
            while let Some((key, _)) = position.next(object) {
                if !leaf(key) && !self.fixed(&Owned::borrowed(key))? {
                    return Ok(false);
                }
            }
        }
        Ok(true)
    }

    /// Lets the walk copy the items of a dict and put them into `copy`.
    pub(super) unsafe fn pairs(&mut self, source: Obj, copy: &Owned, id: u32, whole: bool) {
        let mut parts = Vec::new();
        let mut position = Position(0);
        // SAFETY: `source` is a dict, and nothing runs that could change it.
        unsafe {
            while let Some((key, value)) = position.next(source) {
                parts.push(Owned::borrowed(key));
                parts.push(Owned::borrowed(value));
            }
        }
        self.parts(Kind::Pairs, parts, copy, id, whole);
    }

    pub(super) fn parts(&mut self, kind: Kind, parts: Vec<Owned>, copy: &Owned, id: u32, whole: bool) {
        let len = parts.len();
        let extra = Extra::Parts(Box::new(Parts { parts, deferring: false }));
        self.push(Frame { kind, hand_over: whole, id, at: 0, len, object: copy.clone(), extra });
    }

    /// Runs until the stack is empty; returns what the lowest frame delivered.
    pub(super) fn run(&mut self) -> Result<Owned> {
        while let Some(frame) = self.tables.stack.last() {
            // SAFETY: a frame holds its object, which is of the type that its kind says.
            unsafe {
                match frame.kind {
                    Kind::List | Kind::Tuple | Kind::Shared => self.run_items(frame.kind)?,
                    Kind::Values => self.run_values()?,
                    Kind::Keyed => self.run_keyed()?,
                    Kind::Slots => self.run_slots()?,
                    Kind::Pairs | Kind::Members => self.run_parts()?,
                    Kind::Recipe => self.run_recipe()?,
                    Kind::Rest => self.finish()?,
                }
            }
        }
        self.result.take().ok_or_else(|| fault("a graph without its root"))
    }

    /// Takes the finished copy off the stack.
    #[inline(always)]
    pub(super) unsafe fn finish(&mut self) -> Result<()> {
        let Some(frame) = self.tables.stack.pop() else { return Ok(()) };
        let mut object = frame.object;
        if frame.kind == Kind::Shared {
            object = match self.adopted(frame.id)? {
                Some(copy) => copy,
                None => {
                    let copy = if let Extra::Tuple(copy) = frame.extra { copy } else { object };
                    self.settle(frame.id, &copy);
                    copy
                }
            };
        }
        self.close(frame.id);
        if frame.hand_over {
            // SAFETY: the frame was popped, so the one that waits for the copy is on top.
            unsafe { self.deliver(object)? };
        }
        Ok(())
    }

    /// Delivers a finished copy to the frame on top of the stack.
    pub(super) unsafe fn deliver(&mut self, copy: Owned) -> Result<()> {
        let Some(depth) = self.tables.stack.len().checked_sub(1) else {
            self.result = Some(copy);
            return Ok(());
        };
        // SAFETY: `depth` is the index of the last frame.
        unsafe { self.place(depth, copy) }
    }

    /// Stores a copy where the frame stands, and advances the frame by one.
    #[inline(always)]
    unsafe fn place(&mut self, depth: usize, copy: Owned) -> Result<()> {
        let frame = &mut self.tables.stack[depth];
        let at = frame.at;
        frame.at += 1;
        // SAFETY: the frame holds its object, which is of the type that its kind says. Lists and dicts may have been
        // changed by user code: their lengths are compared first.
        unsafe {
            match frame.kind {
                Kind::List => {
                    if ffi::Py_SIZE(frame.object.get()) as usize != frame.len
                        || !fill::list_item(frame.object.get(), at, copy)
                    {
                        return Err(fault(CHANGED));
                    }
                }
                Kind::Tuple => fill::tuple_item(frame.object.get(), at, copy),
                Kind::Values => {
                    if entries_of(frame).is_none() {
                        return Err(fault(CHANGED));
                    }
                    replace(dict::value_slot(frame.object.get(), at), copy.into_raw());
                }
                Kind::Keyed => {
                    let mut position = Position(at as isize);
                    let found =
                        position.next(frame.object.get()).filter(|_| dict::len(frame.object.get()) == frame.len);
                    let Some((key, _)) = found else { return Err(fault(CHANGED)) };
                    frame.at = position.0 as usize;
                    let (object, key) = (frame.object.clone(), Owned::borrowed(key));
                    if ffi::PyDict_SetItem(object.get(), key.get(), copy.get()) != 0 {
                        return Err(raised());
                    }
                }
                Kind::Slots => {
                    if let Extra::Plan(plan) = &frame.extra {
                        replace(state::slot_mut(frame.object.get(), plan.slots[at].offset), copy.into_raw());
                    }
                }
                Kind::Shared => return shared_item(frame, at, copy),
                Kind::Pairs | Kind::Members => return self.part(depth, at, copy),
                Kind::Recipe => return self.recipe_part(depth, at, copy),
                Kind::Rest => return crate::deepcopy::fields::set_dict(&frame.object.clone(), copy),
            }
        }
        Ok(())
    }

    unsafe fn run_items(&mut self, kind: Kind) -> Result<()> {
        let depth = self.tables.stack.len();
        let held = match self.tables.stack[depth - 1].id {
            _ if kind != Kind::Shared => BY_PARENT_AND_COPY,
            NO_ID => BY_PARENT,
            // Copying it may start over, and then everything that it holds is met again.
            _ => NEVER,
        };
        loop {
            let frame = &self.tables.stack[depth - 1];
            // SAFETY: the frame holds a list or tuple, whose items are read anew after everything that may run Python
            // code.
            unsafe {
                let items = places(frame.object.get());
                if items.len() != frame.len {
                    return Err(fault(CHANGED));
                }
                let from = frame.at;
                let Some(at) = first_node(items, from) else { return self.skip_rest(depth, kind) };
                let item = items[at];
                if kind == Kind::Shared {
                    // If there is a copy already, it needs the leaves in between.
                    if let Extra::Tuple(copy) = &frame.extra {
                        for (place, &item) in items.iter().enumerate().take(at).skip(from) {
                            fill::tuple_item(copy.get(), place, Owned::borrowed(item));
                        }
                    }
                }
                self.tables.stack[depth - 1].at = at;
                match self.value(item, held, false)? {
                    Got::Same if kind == Kind::Shared => {
                        let item = Owned::borrowed(places(self.tables.stack[depth - 1].object.get())[at]);
                        self.place(depth - 1, item)?;
                    }
                    Got::Same => self.tables.stack[depth - 1].at += 1,
                    Got::Made(copy) => self.place(depth - 1, copy)?,
                    Got::Pending => return Ok(()),
                }
                if self.tables.stack.len() != depth {
                    return Ok(());
                }
            }
        }
    }

    /// Finishes a list or tuple in which only leaves are left.
    unsafe fn skip_rest(&mut self, depth: usize, kind: Kind) -> Result<()> {
        let frame = &self.tables.stack[depth - 1];
        // SAFETY: the frame holds a tuple, and its copy was made with the same length.
        unsafe {
            if let (Kind::Shared, Extra::Tuple(copy)) = (kind, &frame.extra) {
                for (place, &item) in places(frame.object.get()).iter().enumerate().skip(frame.at) {
                    fill::tuple_item(copy.get(), place, Owned::borrowed(item));
                }
            }
            self.finish()
        }
    }

    /// Copies a value of the frame at `depth`, which continues at `after` if the value is its own copy. Returns whether
    /// that frame is still the one to continue.
    #[inline(always)]
    unsafe fn step(&mut self, depth: usize, value: Obj, after: usize) -> Result<bool> {
        // SAFETY: the frame's container holds the value.
        match unsafe { self.value(value, BY_PARENT_AND_COPY, false)? } {
            Got::Same => self.tables.stack[depth - 1].at = after,
            // SAFETY: the copy is of the value at which the frame stands.
            Got::Made(copy) => unsafe { self.place(depth - 1, copy)? },
            Got::Pending => return Ok(false),
        }
        Ok(self.tables.stack.len() == depth)
    }

    unsafe fn run_values(&mut self) -> Result<()> {
        let depth = self.tables.stack.len();
        loop {
            let frame = &mut self.tables.stack[depth - 1];
            // SAFETY: the frame holds a dict, whose entries are read anew after everything that may run Python code.
            unsafe {
                let Some(entries) = entries_of(frame) else { return Err(fault(CHANGED)) };
                let left = &entries[frame.at..];
                let Some(found) = left.iter().position(|entry| !leaf(entry.value)) else { return self.finish() };
                let value = left[found].value;
                frame.at += found;
                let after = frame.at + 1;
                if !self.step(depth, value, after)? {
                    return Ok(());
                }
            }
        }
    }

    unsafe fn run_keyed(&mut self) -> Result<()> {
        let depth = self.tables.stack.len();
        loop {
            let frame = &mut self.tables.stack[depth - 1];
            let mut position = Position(frame.at as isize);
            // SAFETY: the frame holds a dict, which `next` reads anew at every step.
            unsafe {
                let Some((_, value)) = position.next(frame.object.get()) else { return self.finish() };
                let after = position.0 as usize;
                if leaf(value) {
                    frame.at = after;
                    continue;
                }
                if !self.step(depth, value, after)? {
                    return Ok(());
                }
            }
        }
    }

    unsafe fn run_slots(&mut self) -> Result<()> {
        let depth = self.tables.stack.len();
        loop {
            let frame = &mut self.tables.stack[depth - 1];
            let Extra::Plan(plan) = &frame.extra else { return Err(fault("a frame without its plan")) };
            // SAFETY: the frame holds an instance of the plan's class, whose slots are read anew at every step.
            unsafe {
                let Some(slot) = plan.slots.get(frame.at) else { return self.finish() };
                let value = state::slot(frame.object.get(), slot.offset);
                if value.is_null() || leaf(value) {
                    frame.at += 1;
                    continue;
                }
                let after = frame.at + 1;
                if !self.step(depth, value, after)? {
                    return Ok(());
                }
            }
        }
    }

    unsafe fn run_parts(&mut self) -> Result<()> {
        let depth = self.tables.stack.len();
        loop {
            let frame = &self.tables.stack[depth - 1];
            let Extra::Parts(parts) = &frame.extra else { return Err(fault("a frame without its parts")) };
            let Some(part) = parts.parts.get(frame.at) else {
                // SAFETY: this frame is on top of the stack.
                return unsafe { self.finish() };
            };
            // What is hashed must be complete; a value need not be.
            let whole = frame.kind == Kind::Members || frame.at.is_multiple_of(2);
            let part = part.get();
            // SAFETY: the frame holds the part, and replaces it only after `value` has returned.
            unsafe {
                match self.value(part, BY_PARENT_AND_COPY, whole)? {
                    Got::Same => self.place(depth - 1, Owned::borrowed(part))?,
                    Got::Made(copy) => self.place(depth - 1, copy)?,
                    Got::Pending => return Ok(()),
                }
            }
            if self.tables.stack.len() != depth {
                return Ok(());
            }
        }
    }

    /// Stores the copy of a key until its value is copied; sets a pair or a member.
    unsafe fn part(&mut self, depth: usize, at: usize, copy: Owned) -> Result<()> {
        let half_seen = self.half_seen;
        let frame = &mut self.tables.stack[depth];
        let target = frame.object.clone();
        let Extra::Parts(parts) = &mut frame.extra else { return Err(fault("a frame without its parts")) };
        // SAFETY: `target`, key, value and member are held while Python code may run.
        unsafe {
            if frame.kind == Kind::Members {
                if half_seen {
                    self.deferred.push(Deferred::Member { set: target, member: copy });
                } else if ffi::PySet_Add(target.get(), copy.get()) != 0 {
                    return Err(raised());
                }
                return Ok(());
            }
            if at.is_multiple_of(2) {
                drop(std::mem::replace(&mut parts.parts[at], copy));
                return Ok(());
            }
            let key = parts.parts[at - 1].clone();
            if parts.deferring || (half_seen && !leaf(key.get())) {
                parts.deferring = true;
                self.deferred.push(Deferred::Item { target, key, value: copy });
                return Ok(());
            }
            set_item(&target, &key, &copy)
        }
    }

    /// Sets the items and members that could not be hashed before the walk was over.
    pub(super) fn finish_deferred(&mut self) -> Result<()> {
        for deferred in std::mem::take(&mut self.deferred) {
            // SAFETY: each entry holds its objects.
            unsafe {
                match deferred {
                    Deferred::Item { target, key, value } => set_item(&target, &key, &value)?,
                    Deferred::Member { set, member } => {
                        if ffi::PySet_Add(set.get(), member.get()) != 0 {
                            return Err(raised());
                        }
                    }
                }
            }
        }
        Ok(())
    }
}

/// The entries of the dict in a `Values` frame, unless user code has changed their number.
///
/// # Safety
/// The dict stays unchanged while the slice is used.
#[inline(always)]
unsafe fn entries_of<'a>(frame: &Frame) -> Option<&'a [Pair]> {
    // SAFETY: the frame holds a dict; `dict::entries` checks its shape again.
    unsafe {
        if dict::len(frame.object.get()) != frame.len {
            return None;
        }
        dict::entries(frame.object.get())
    }
}

/// Puts an item into the copy of a tuple. The copy is made for the first item that differs.
unsafe fn shared_item(frame: &mut Frame, at: usize, item: Owned) -> Result<()> {
    // SAFETY: the frame holds a tuple, or an instance of a class that adds nothing to one; the copy is as long.
    unsafe {
        if let Extra::Tuple(copy) = &frame.extra {
            fill::tuple_item(copy.get(), at, item);
            return Ok(());
        }
        let items = places(frame.object.get());
        if items[at] == item.get() {
            return Ok(());
        }
        let class = ffi::Py_TYPE(frame.object.get());
        let copy = crate::deepcopy::fields::allocate(class, items.len() as isize)?;
        for (place, &before) in items.iter().enumerate().take(at) {
            fill::tuple_item(copy.get(), place, Owned::borrowed(before));
        }
        fill::tuple_item(copy.get(), at, item);
        frame.extra = Extra::Tuple(copy);
    }
    Ok(())
}

/// Sets an item as the builtin dict or ordered dict does, even if a subclass overrides that.
unsafe fn set_item(target: &Owned, key: &Owned, value: &Owned) -> Result<()> {
    crate::cpython::libpython! {
        fn PyODict_SetItem(dict: Obj, key: Obj, value: Obj) -> i32;
    }
    // SAFETY: all three are owned references; the type is checked before the ordered dict's function is used.
    unsafe {
        let ordered = addr_of_mut!(crate::cpython::PyODict_Type);
        let failed = if ffi::PyType_IsSubtype(ffi::Py_TYPE(target.get()), ordered) != 0 {
            PyODict_SetItem(target.get(), key.get(), value.get())
        } else {
            ffi::PyDict_SetItem(target.get(), key.get(), value.get())
        };
        if failed != 0 {
            return Err(raised());
        }
    }
    Ok(())
}

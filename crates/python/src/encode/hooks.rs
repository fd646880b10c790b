//! The user's code that runs while a graph is walked: persistent ids, and replacements of objects.
//!
//! `persistent_id` is called for every value, even small ones. If it is set, each container is written value by value
//! from parts, so that the loops that write many values at once need not check for it.

use super::{Encoder, Extra, Frame, Kind, Sharing, Unmade};
use crate::classes::registry;
use crate::classes::state;
use crate::cpython::dict::Position;
use crate::cpython::{Obj, Owned};
use crate::encode::dialect::{Dialect, Native, NativeWriter};
use crate::encode::memo::{Met, AGAIN, ONCE};
use crate::encode::shapes;
use crate::error::{encode, Result};
use crate::memory::{vec, Vec};
use crate::types::walker::{WorkItem, BY_PARENT, BY_PARENT_AND_US};
use holdall_format::model::Seq;
use holdall_format::Writer;
use pyo3::exceptions::PyRecursionError;
use pyo3::ffi;
use std::ptr::addr_of_mut;

/// How many replacements may follow each other before the user's code counts as endless.
pub const MOST_REPLACEMENTS: u32 = 1000;

impl<D: Dialect> Encoder<'_, D> {
    /// Whether the user's hook is called for every value.
    #[inline(always)]
    pub(crate) fn asks(&self) -> bool {
        self.options.pickle.as_ref().is_some_and(|hooks| hooks.persistent_id.is_some())
    }

    /// Writes a value, or its persistent id.
    ///
    /// # Safety
    /// `object` is alive.
    pub(crate) unsafe fn asked(&mut self, object: Obj) -> Result<()> {
        // SAFETY: `object` is alive by contract.
        unsafe {
            if D::persistent(self, object)? {
                return Ok(());
            }
            self.value(object, BY_PARENT_AND_US + 1)
        }
    }

    /// Writes a container value by value.
    ///
    /// # Safety
    /// `object` is alive and its id was written.
    pub(crate) unsafe fn open_asked(&mut self, object: Obj) -> Result<()> {
        let depth = self.tables.stack.len();
        // SAFETY: `object` is alive by contract; its type is checked before content is read.
        unsafe {
            let class = ffi::Py_TYPE(object);
            if class == addr_of_mut!(ffi::PyDict_Type) {
                self.dict_body(&Owned::borrowed(object))?;
            } else if class == addr_of_mut!(ffi::PyList_Type) {
                self.w.list(ffi::Py_SIZE(object) as usize);
                self.items(object, Seq::List);
            } else if class == addr_of_mut!(ffi::PyTuple_Type) {
                self.w.tuple(ffi::Py_SIZE(object) as usize);
                self.items(object, Seq::Tuple);
            } else {
                self.other(object, class)?;
            }
            self.take_apart(depth);
        }
        Ok(())
    }

    /// Turns the frames above `depth`, which have just been pushed, into frames of parts.
    pub(crate) fn take_apart(&mut self, depth: usize) {
        for frame in &mut self.tables.stack[depth..] {
            // SAFETY: a frame holds its object, which is of the type that its kind says.
            unsafe { frame.take_apart() };
        }
    }

    /// Writes the user's replacement of an object whose id was written. If the replacement has an id already, that one
    /// counts for the object; else it gets the object's id. Both are alive.
    pub(crate) fn replaced(&mut self, object: Obj, replacement: Owned) -> Result<()> {
        if self.replacing == MOST_REPLACEMENTS {
            return Err(encode(format_args!("`enc_hook` gave what needs it again {MOST_REPLACEMENTS} times over")));
        }
        let raw = replacement.get();
        let number = if self.tracks() { self.tables.memo.number(object) } else { None };
        // SAFETY: `replacement` is held until the end of the call, and kept if its id lasts.
        unsafe {
            if let Some(number) = number {
                self.keep(replacement.clone());
                if crate::cpython::text::is(raw) {
                    return self.bare_text(raw);
                }
                if self.leaf(raw, isize::MAX)? {
                    return Ok(());
                }
                match self.tables.memo.meet(raw, number) {
                    Met::Before(ONCE | AGAIN) => self.tables.memo.renumber(raw, number),
                    Met::Before(known) if D::refer_instead(self, object, known) => return Ok(()),
                    _ => {}
                }
            }
        }
        self.replacing += 1;
        self.then(vec![WorkItem::Instead(replacement, number.is_some())]);
        Ok(())
    }

    /// How many containers are open.
    pub(crate) fn depth(&self) -> usize {
        self.tables.stack.len()
    }

    /// Marks the frames above `depth` as content that the user's code returned, because code that returns new objects
    /// endlessly must be stopped. If `unchecked`, keys within them aren't checked.
    pub(crate) fn given(&mut self, depth: usize, unchecked: bool) -> Result<()> {
        if self.tables.stack.len() == depth {
            return Ok(());
        }
        if self.replacing == MOST_REPLACEMENTS {
            return Err(PyRecursionError::new_err("objects within objects that code of the program's gave").into());
        }
        self.replacing += 1;
        self.unchecked += u32::from(unchecked);
        // SAFETY: the singleton lives as long as the interpreter; here it means "no object".
        let object = unsafe { Owned::borrowed(ffi::Py_None()) };
        let extra = Some(Extra::Parts(Box::new(vec![WorkItem::Given { unchecked }])));
        self.tables.stack.insert(depth, Frame { extra, ..Frame::new(object, Kind::Parts) });
        Ok(())
    }

    /// The arguments of the object with that id are written: from here on it can be referred to.
    pub(crate) fn end_arguments(&mut self, number: u32) {
        self.tables.unmade.remove(&number);
        if self.tables.unmade.is_empty() && matches!(self.sharing, Sharing::ByCount) && !self.tracks_all {
            self.bound = (-1, 0);
        }
    }
}

impl<W: NativeWriter> Encoder<'_, Native<W>> {
    /// Writes the user's persistent id for an object, if the hook returns one.
    ///
    /// # Safety
    /// `object` is alive.
    pub(crate) unsafe fn by_persistent_id(&mut self, object: Obj) -> Result<bool> {
        let Some(hook) = self.options.pickle.as_ref().and_then(|hooks| hooks.persistent_id.as_ref()) else {
            return Ok(false);
        };
        let id = registry::call(hook, object)?;
        // SAFETY: `id` is an owned reference, and then kept until the message is complete.
        unsafe {
            if id.get() == ffi::Py_None() {
                return Ok(false);
            }
            self.w.persistent();
            // The hook isn't called for the id itself, but for its content.
            let id = self.keep(id);
            self.value(id, BY_PARENT)?;
        }
        Ok(true)
    }

    /// Takes back the id of an object, which was written last: the object has the id `known`.
    pub(crate) fn refer_instead(&mut self, object: Obj, known: u32) {
        self.w.rollback(self.w.position() - 1);
        self.next_id -= 1;
        self.tables.memo.renumber(object, known);
        self.w.reference(u64::from(known));
    }

    /// Gives an id to an object that is written by a recipe, even if only its parent holds it, because its own code may
    /// have handed it out. Returns the id, and whether the object is being written again within its own arguments.
    pub(crate) fn begin_recipe(&mut self, object: Obj) -> Result<Option<(u32, bool)>> {
        if !self.tracks() {
            return Ok(None);
        }
        let number = match self.tables.memo.meet(object, self.next_id) {
            Met::Before(number) => number,
            Met::Never => {
                self.w.assign_id();
                // SAFETY: the parent that is being written holds `object`.
                self.keep(unsafe { Owned::borrowed(object) });
                self.number()?
            }
        };
        // Everything among arguments gets an id: a reference that ends the repetition must be possible.
        self.bound = (0, 0);
        Ok(Some((number, *self.tables.unmade.entry(number).or_insert(Unmade::Arguments) == Unmade::Again)))
    }

    /// Writes an object again that occurred before but can't be referred to yet: one whose arguments are being written,
    /// or an unfinished tuple among them. As in pickle, they are repeated until something on the way can be referred
    /// to.
    pub(crate) fn met_unmade(&mut self, object: Obj, number: u32) -> Result<bool> {
        // SAFETY: the memo's objects are alive.
        let class = unsafe { ffi::Py_TYPE(object) };
        match self.tables.unmade.get_mut(&number) {
            Some(Unmade::Parts) => {
                let class = crate::classes::plan::class_name(self.py, class)?;
                Err(encode(format_args!("can't store a `{class}`: what it is made of holds the object itself")))
            }
            Some(Unmade::Again) => {
                let class = crate::classes::plan::class_name(self.py, class)?;
                Err(encode(format_args!(
                    "can't store a `{class}`: the arguments that its `__reduce__` gave hold the object itself (its state may)"
                )))
            }
            Some(unmade) => {
                *unmade = Unmade::Again;
                // SAFETY: the memo's objects are alive; an object with a recipe is not a builtin container.
                unsafe { self.other(object, class)? };
                Ok(true)
            }
            None => {
                let open = class == addr_of_mut!(ffi::PyTuple_Type)
                    && self.tables.unmade.values().any(|&unmade| unmade == Unmade::Again)
                    && self.tables.stack.iter().any(|frame| frame.object.get() == object);
                if open {
                    // The first one belongs to arguments that are thrown away; from here on this one counts.
                    let number = self.number()?;
                    self.tables.memo.renumber(object, number);
                    self.w.assign_id();
                    // SAFETY: `class` says that it is a tuple.
                    unsafe { self.open(object, shapes::NONE)? };
                }
                Ok(open)
            }
        }
    }
}

impl Frame {
    /// Turns the frame into one of parts.
    ///
    /// # Safety
    /// The frame's object is of the type that its kind says.
    unsafe fn take_apart(&mut self) {
        let object = self.object.get();
        let mut parts = Vec::new();
        // SAFETY: the contract says the type; every value gets a reference of its own before anything else runs.
        unsafe {
            let mut add = |value: Obj| parts.push(WorkItem::Value(Owned::borrowed(value)));
            match self.kind {
                Kind::List => super::sequence::items(object, Seq::List).iter().for_each(|&item| add(item)),
                Kind::Tuple => super::sequence::items(object, Seq::Tuple).iter().for_each(|&item| add(item)),
                Kind::Values | Kind::Pairs => {
                    let mut position = Position(0);
                    while let Some((key, value)) = position.next(object) {
                        if self.kind == Kind::Pairs {
                            add(key);
                        }
                        add(value);
                    }
                }
                Kind::Set => {
                    let mut at = 0;
                    while let Some(member) = crate::cpython::set::next_member(object, &mut at) {
                        add(member);
                    }
                }
                Kind::Slots => {
                    let Some(Extra::Plan(plan)) = &self.extra else { return };
                    for slot in &plan.slots {
                        let value = state::slot(object, slot.offset);
                        if !value.is_null() {
                            add(value);
                        }
                    }
                }
                Kind::Attributes => {
                    for at in 0..self.len {
                        if let Some((_, value)) = crate::cpython::split::attribute(object, at) {
                            add(value);
                        }
                    }
                }
                Kind::Parts | Kind::Named | Kind::Ordered => return,
            }
        }
        self.kind = Kind::Parts;
        self.at = 0;
        self.extra = Some(Extra::Parts(Box::new(parts)));
    }
}

//! What runs code of the caller's while a graph is walked: ids that stand for objects, objects that stand for others.
//!
//! `persistent_id` is asked about every value, small ones too. Where it is set, each container is written value by
//! value, from parts: the loops that write many values at once need no question for each then.

use super::{Encoder, Extra, Frame, Kind, Sharing, Unmade};
use crate::classes::registry;
use crate::classes::state;
use crate::cpython::dict::Position;
use crate::cpython::{Obj, Owned};
use crate::encode::dialect::{Dialect, Native, NativeWriter};
use crate::encode::memo::Met;
use crate::encode::shapes;
use crate::error::{encode, Result};
use crate::memory::{vec, Vec};
use crate::types::walker::{WorkItem, BY_PARENT, BY_PARENT_AND_US};
use holdall_format::model::Seq;
use holdall_format::Writer;
use pyo3::exceptions::PyRecursionError;
use pyo3::ffi;
use std::ptr::addr_of_mut;

/// How many replacements within replacements there may be.
pub const MOST_REPLACEMENTS: u32 = 1000;

impl<D: Dialect> Encoder<'_, D> {
    /// Whether every value is to be asked about.
    #[inline(always)]
    pub(crate) fn asks(&self) -> bool {
        self.options.pickle.as_ref().is_some_and(|hooks| hooks.persistent_id.is_some())
    }

    /// Writes a value, or the id that stands for it.
    ///
    /// # Safety
    /// `object` is alive.
    pub(crate) unsafe fn asked(&mut self, object: Obj) -> Result<()> {
        // SAFETY: alive, says the caller.
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
        // SAFETY: alive, says the caller; types are looked at before content is.
        unsafe {
            let class = ffi::Py_TYPE(object);
            if class == addr_of_mut!(ffi::PyDict_Type) {
                self.dict_body(&Owned::borrowed(object));
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

    /// Makes frames of parts of those above `depth`, which have just been pushed.
    pub(crate) fn take_apart(&mut self, depth: usize) {
        for frame in &mut self.tables.stack[depth..] {
            // SAFETY: a frame's object is of the type that its kind says, and is held by it.
            unsafe { frame.take_apart() };
        }
    }

    /// Writes what the caller gave to stand for an object whose id was written: it has the object's number then, or
    /// the object gets its. Alive, both of them.
    pub(crate) fn replaced(&mut self, object: Obj, replacement: Owned) -> Result<()> {
        if self.replacing == MOST_REPLACEMENTS {
            return Err(encode(format_args!("`enc_hook` gave what needs it again {MOST_REPLACEMENTS} times over")));
        }
        let raw = replacement.get();
        let number = if self.tracks() { self.tables.memo.number(object) } else { None };
        // SAFETY: the replacement is alive.
        unsafe {
            if let Some(number) = number {
                self.keep(replacement.clone());
                if crate::cpython::text::is(raw) {
                    return self.bare_text(raw);
                }
                if self.leaf(raw, isize::MAX)? {
                    return Ok(());
                }
                if let Met::Before(known) = self.tables.memo.meet(raw, number) {
                    if D::refer_instead(self, object, known) {
                        return Ok(());
                    }
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

    /// Says that the frames above `depth` are of what the user's code gave: code that gives new objects for ever has to end.
    /// Within them no key is looked at, if so.
    pub(crate) fn given(&mut self, depth: usize, unchecked: bool) -> Result<()> {
        if self.tables.stack.len() == depth {
            return Ok(());
        }
        if self.replacing == MOST_REPLACEMENTS {
            return Err(PyRecursionError::new_err("objects within objects that code of the program's gave").into());
        }
        self.replacing += 1;
        self.unchecked += u32::from(unchecked);
        // SAFETY: the singleton is alive; it stands in for an object.
        let object = unsafe { Owned::borrowed(ffi::Py_None()) };
        let extra = Some(Extra::Parts(Box::new(vec![WorkItem::Given { unchecked }])));
        self.tables.stack.insert(depth, Frame { extra, ..Frame::new(object, Kind::Parts) });
        Ok(())
    }

    /// Writes what an object is made of, which is there only once all of these are: it can't be one of them itself.
    pub(crate) fn then_made(&mut self, object: Obj, mut parts: Vec<WorkItem>) {
        if self.tracks() {
            if let Some(number) = self.tables.memo.number(object) {
                self.unmade.insert(number, Unmade::Parts);
                parts.push(WorkItem::Made(number));
            }
        }
        self.then(parts);
    }

    /// The arguments of the object of that number are written: it can be referred to from here on.
    pub(crate) fn end_arguments(&mut self, number: u32) {
        self.unmade.remove(&number);
        if self.unmade.is_empty() && matches!(self.sharing, Sharing::ByCount) && !self.tracks_all {
            self.bound = (-1, 0);
        }
    }
}

impl<W: NativeWriter> Encoder<'_, Native<W>> {
    /// Writes a persistent id, where the caller's hook gives one.
    ///
    /// # Safety
    /// `object` is alive.
    pub(crate) unsafe fn by_persistent_id(&mut self, object: Obj) -> Result<bool> {
        let Some(hook) = self.options.pickle.as_ref().and_then(|hooks| hooks.persistent_id.as_ref()) else {
            return Ok(false);
        };
        let id = registry::call(hook, object)?;
        // SAFETY: the id is kept alive.
        unsafe {
            if id.get() == ffi::Py_None() {
                return Ok(false);
            }
            self.w.persistent();
            // The id itself is not asked about, what it holds is.
            let id = self.keep(id);
            self.value(id, BY_PARENT)?;
        }
        Ok(true)
    }

    /// Takes back the id of an object, the last thing that was written: it is the object of that number.
    pub(crate) fn refer_instead(&mut self, object: Obj, known: u32) {
        self.w.rollback(self.w.position() - 1);
        self.next_id -= 1;
        self.tables.memo.renumber(object, known);
        self.w.reference(u64::from(known));
    }

    /// Gives an object that is written by a recipe a number, even if nothing but its parent holds it: what its own code
    /// gave may hold it too. Says whether it is written again, among its own arguments.
    pub(crate) fn begin_recipe(&mut self, object: Obj) -> Result<Option<(u32, bool)>> {
        if !self.tracks() {
            return Ok(None);
        }
        let number = match self.tables.memo.meet(object, self.next_id) {
            Met::Before(number) => number,
            Met::Never => {
                self.w.assign_id();
                // SAFETY: the caller has it from its parent.
                self.keep(unsafe { Owned::borrowed(object) });
                self.number()?
            }
        };
        // Among arguments all gets an id: what may end an object that is written again has to be known by then.
        self.bound = (0, 0);
        Ok(Some((number, *self.unmade.entry(number).or_insert(Unmade::Arguments) == Unmade::Again)))
    }

    /// Writes an object that was met before, but can't be referred to: one whose arguments are being written, and tuples
    /// among them that are not whole. As pickle does, these are written again, until something on the way can be
    /// referred to.
    pub(crate) fn met_unmade(&mut self, object: Obj, number: u32) -> Result<bool> {
        // SAFETY: the memo's objects are alive.
        let class = unsafe { ffi::Py_TYPE(object) };
        match self.unmade.get_mut(&number) {
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
                // SAFETY: alive; an object with a recipe is no builtin container.
                unsafe { self.other(object, class)? };
                Ok(true)
            }
            None => {
                let open = class == addr_of_mut!(ffi::PyTuple_Type)
                    && self.unmade.values().any(|&unmade| unmade == Unmade::Again)
                    && self.tables.stack.iter().any(|frame| frame.object.get() == object);
                if open {
                    // The first one goes with the arguments that are thrown away: this one is meant from here on.
                    let number = self.number()?;
                    self.tables.memo.renumber(object, number);
                    self.w.assign_id();
                    // SAFETY: a tuple.
                    unsafe { self.open(object, shapes::NONE)? };
                }
                Ok(open)
            }
        }
    }
}

impl Frame {
    /// # Safety
    /// The frame's object is of the type that its kind says.
    unsafe fn take_apart(&mut self) {
        let object = self.object.get();
        let mut parts = Vec::new();
        // SAFETY: of that type, says the caller; every value is taken hold of before anything else runs.
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
                    while let Some(member) = super::walk::next_member(object, &mut at) {
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
                        if let Some((_, value)) = crate::cpython::dict::attribute(object, at) {
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

//! `deepcopy`: copies a graph without bytes in between.
//!
//! The copy of a container starts as a shallow copy, made at once. Then the contents that are not leaves are replaced
//! by their copies, one after the other. So a copy is a valid object at every moment, and it doesn't matter to the walk
//! what user code does to the source meanwhile.
//!
//! As in `encode`, an object that only its parent (and the parent's shallow copy) holds can't be met again, so it needs
//! no entry in the memo.

mod fields;
mod frame;
mod recipe;
mod reduce;
mod strategy;
mod user_memo;
mod walk;

use crate::cpython::{gc, references, Obj, Owned, Type};
use crate::encode::memo::{Memo, Met};
use crate::error::{detour, Detour, HoldallError, Result};
use crate::memory::{HashMap, Vec};
use crate::state::{Left, Name, StateSlot};
use frame::Frame;
use pyo3::prelude::*;
use std::rc::Rc;
use strategy::ClassInfo;
use user_memo::UserMemo;
use walk::Deferred;

/// No object id: the object can't be met again.
const NO_ID: u32 = u32::MAX;
/// The reference count of an object that only its parent holds.
const BY_PARENT: isize = 1;
/// The same if a shallow copy of the parent, or a temporary reference, holds it as well.
const BY_PARENT_AND_COPY: isize = 2;
/// Below every count: the object is always looked up.
const NEVER: isize = -1;

/// An object that has an id because it may be met again.
struct Tracked {
    /// Held, so that no other object gets its address during the call.
    source: Owned,
    /// `None` until the parts that it is made from are copied.
    copy: Option<Owned>,
    /// Not all of its content is copied yet.
    open: bool,
    /// How many objects had copies when copying it last began.
    begun: u64,
}

/// Tables that the next call reuses.
struct Tables {
    memo: Memo,
    tracked: Vec<Tracked>,
    stack: Vec<Frame>,
}

// SAFETY: no other slot has this name.
static TABLES: StateSlot<Left<Tables>> = unsafe { StateSlot::new(Name::TablesOfCopies) };

/// How many entries the reused tables keep room for.
const KEPT: usize = 1 << 12;

/// The result of copying an object.
enum Got {
    /// It is its own copy.
    Same,
    /// Its copy, whose content is complete or left to frames that were pushed.
    Made(Owned),
    /// A frame was pushed that will deliver the copy to the frame below when it is complete.
    Pending,
}

/// What the memo says about an object.
enum Seen {
    Copied(Owned),
    /// To be copied, with this id.
    New(u32),
}

/// Copies one graph.
struct Copier<'py> {
    py: Python<'py>,
    tables: &'py mut Tables,
    /// By the class's address, which the entry's class reference keeps valid.
    strategies: HashMap<usize, Rc<ClassInfo>, rustc_hash::FxBuildHasher>,
    last: Option<(Type, Rc<ClassInfo>)>,
    user_memo: UserMemo,
    /// User code has been called, so every object is looked up, however many references it has.
    tracks_all: bool,
    /// Some object was left out for its parent alone holding it.
    left_out: bool,
    /// Some object was referred to before its content was complete, so hashing what contains it may give wrong hashes.
    half_seen: bool,
    deferred: Vec<Deferred>,
    /// How many objects have a copy that can be referred to.
    settled: u64,
    /// What the last frame delivered.
    result: Option<Owned>,
    _pause: gc::Pause,
}

/// The copy of the graph of `root`; `memo` is the caller's own, as for `copy.deepcopy`.
///
/// # Safety
/// `root` is alive for the length of the call, and `memo` is a dict.
pub unsafe fn deepcopy(py: Python<'_>, root: Obj, memo: Option<Owned>) -> Result<Owned> {
    let mut tables = TABLES
        .take(py)
        .unwrap_or_else(|| Box::new(Tables { memo: Memo::new(), tracked: Vec::new(), stack: Vec::new() }));
    let copied = crate::encode::tracking_if_asked(|tracks_all| {
        let mut copier = Copier::new(py, &mut tables, memo.clone());
        copier.tracks_all = tracks_all;
        // SAFETY: `root` is alive and `memo` is a dict, by contract.
        let copied = unsafe { copier.copy(root) };
        drop(copier);
        tables.stack.clear();
        tables.tracked.clear();
        tables.memo.clear();
        copied
    });
    tables.tracked.shrink_to(KEPT);
    tables.stack.shrink_to(KEPT);
    TABLES.set(py, tables);
    copied
}

impl<'py> Copier<'py> {
    fn new(py: Python<'py>, tables: &'py mut Tables, memo: Option<Owned>) -> Self {
        Copier {
            py,
            tables,
            strategies: HashMap::default(),
            last: None,
            user_memo: UserMemo::new(memo),
            tracks_all: false,
            left_out: false,
            half_seen: false,
            deferred: Vec::new(),
            settled: 0,
            result: None,
            // SAFETY: `py` proves that the GIL is held, and the copier doesn't outlive it.
            _pause: unsafe { gc::Pause::new() },
        }
    }

    unsafe fn copy(&mut self, root: Obj) -> Result<Owned> {
        // SAFETY: `root` is alive by contract. Its count is not used: it may include references of any kind.
        unsafe {
            if frame::leaf(root) {
                return Ok(Owned::borrowed(root));
            }
            let copy = match self.value(root, NEVER, true)? {
                Got::Same => Owned::borrowed(root),
                Got::Made(copy) => copy,
                Got::Pending => self.run()?,
            };
            self.finish_deferred()?;
            self.finish_user_memo()?;
            Ok(copy)
        }
    }

    /// Looks an object up, and gives it an id if it may be met again: if it has more than `held` references.
    ///
    /// # Safety
    /// `object` is alive.
    #[inline(always)]
    unsafe fn seen(&mut self, object: Obj, held: isize) -> Result<Seen> {
        // SAFETY: `object` is alive by contract.
        if unsafe { references(object) } <= held && !self.tracks_all && !self.user_memo.looks_at_all() {
            self.left_out = true;
            return Ok(Seen::New(NO_ID));
        }
        // SAFETY: `object` is alive by contract.
        unsafe { self.seen_shared(object) }
    }

    #[inline(never)]
    unsafe fn seen_shared(&mut self, object: Obj) -> Result<Seen> {
        let Tables { memo, tracked, .. } = &mut *self.tables;
        let id = tracked.len() as u32;
        match memo.meet(object, id) {
            Met::Before(id) => {
                let entry = &mut tracked[id as usize];
                if let Some(copy) = &entry.copy {
                    self.half_seen |= entry.open;
                    return Ok(Seen::Copied(copy.clone()));
                }
                // It is among the parts that it is made from. Starting over ends once one of those can be referred to;
                // if none has become so since the last start, it would never end.
                if entry.begun == self.settled {
                    return Err(fault("an object that is made of its parts is one of them itself"));
                }
                entry.begun = self.settled;
                Ok(Seen::New(id))
            }
            Met::Never => {
                if id >= NO_ID - 1 {
                    return Err(fault("more than 4,294,967,293 shared objects in one graph"));
                }
                // SAFETY: `object` is alive by contract.
                let source = unsafe { Owned::borrowed(object) };
                tracked.push(Tracked { source, copy: None, open: true, begun: self.settled });
                if let Some(copy) = self.user_memo.find(object)? {
                    self.half_seen = true;
                    let entry = &mut self.tables.tracked[id as usize];
                    entry.copy = Some(copy.clone());
                    entry.open = false;
                    return Ok(Seen::Copied(copy));
                }
                Ok(Seen::New(id))
            }
        }
    }

    /// User code is about to be called, which may create references to anything it can reach. If an object was not
    /// looked up because only its parent held it, the whole graph is copied again with every object looked up.
    fn asks_program(&mut self) -> Result<()> {
        if self.left_out && !self.tracks_all && !self.user_memo.looks_at_all() {
            return Err(detour(Detour::TrackAll));
        }
        self.tracks_all = true;
        Ok(())
    }

    /// Records `copy` as the copy of the object with that id.
    #[inline(always)]
    fn settle(&mut self, id: u32, copy: &Owned) {
        if id != NO_ID {
            self.tables.tracked[id as usize].copy = Some(copy.clone());
            self.settled += 1;
            self.user_memo.note(id);
        }
    }

    /// Marks the copy of the object with that id as complete.
    #[inline(always)]
    fn close(&mut self, id: u32) {
        if id != NO_ID {
            self.tables.tracked[id as usize].open = false;
        }
    }

    /// The copy that was made meanwhile by starting over, for an object that can't be referred to before it is made.
    fn adopted(&mut self, id: u32) -> Result<Option<Owned>> {
        if id == NO_ID {
            return Ok(None);
        }
        let entry = &self.tables.tracked[id as usize];
        match &entry.copy {
            Some(copy) => Ok(Some(copy.clone())),
            None => self.user_memo.find(entry.source.get()),
        }
    }
}

#[cold]
fn fault(why: &'static str) -> crate::error::Fault {
    HoldallError::new_err(why).into()
}

const CHANGED: &str = "a container was changed while it was being copied";

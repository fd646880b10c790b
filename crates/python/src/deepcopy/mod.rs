//! `deepcopy`: a graph once more, without bytes.
//!
//! A container's copy starts as a shallow one: it holds what its source held, at one go. Then the places that hold more
//! than plain values are taken one by one, and what stands there is replaced by its own copy. So a copy is a sound
//! object at any moment, and what user code does to the source meanwhile can't be seen by the walk.
//!
//! As in `encode`, an object that only its parent (and the parent's shallow copy) holds can't be met again, and costs
//! the memo nothing.

mod border;
mod fields;
mod frame;
mod recipe;
mod reduce;
mod walk;
mod way;

use crate::cpython::{gc, references, Obj, Owned, Type};
use crate::encode::memo::{Memo, Met};
use crate::error::{detour, Detour, HoldallError, Result};
use crate::memory::{HashMap, Vec};
use border::Border;
use frame::Frame;
use pyo3::prelude::*;
use std::cell::Cell;
use std::rc::Rc;
use walk::Deferred;
use way::Known;

/// No number: the object can't be met again.
const UNNUMBERED: u32 = u32::MAX;
/// How often an object that nobody else holds is referred to: by its parent.
const BY_PARENT: isize = 1;
/// The same where a shallow copy of its parent, or a temporary of ours, holds it as well.
const BY_PARENT_AND_COPY: isize = 2;
/// No count is as low: the object is looked up in any case.
const NEVER: isize = -1;

/// An object that may be met again.
struct Numbered {
    /// Held, so that its address means nothing else before the copy is whole.
    source: Owned,
    /// `None` while what it is made of is not all there.
    copy: Option<Owned>,
    /// Its content is not all copied.
    open: bool,
    /// How many copies there were to refer to when its copying was last begun.
    begun: u64,
}

/// What the next call uses again.
struct Tables {
    memo: Memo,
    numbered: Vec<Numbered>,
    stack: Vec<Frame>,
}

thread_local! {
    /// Taken for the length of a call: one within another (in a `__deepcopy__`) makes its own.
    static TABLES: Cell<Option<Box<Tables>>> = const { Cell::new(None) };
}

/// More numbered objects than this are not kept room for.
const KEPT: usize = 1 << 12;

/// What became of an object.
enum Got {
    /// It is its own copy.
    Same,
    /// Its copy; the content is all there, or left to frames that were pushed.
    Made(Owned),
    /// A frame was pushed that hands the copy to the frame below once it is whole.
    Pending,
}

/// What the memo says of an object.
enum Seen {
    Copied(Owned),
    /// To be copied, under this number.
    New(u32),
}

/// Copies one graph.
struct Copier<'py> {
    py: Python<'py>,
    tables: &'py mut Tables,
    /// By the address of a class, which `Known` holds.
    ways: HashMap<usize, Rc<Known>, rustc_hash::FxBuildHasher>,
    last: Option<(Type, Rc<Known>)>,
    border: Border,
    /// Code of the program's was asked: every object is looked up, whoever holds it.
    tracks_all: bool,
    /// Some object was left out for its parent alone holding it.
    left_out: bool,
    /// Whether an object was referred to before all its content was there: hashing what holds it would mislead.
    half_seen: bool,
    deferred: Vec<Deferred>,
    /// How many copies can be referred to.
    settled: u64,
    /// What the last frame handed over.
    result: Option<Owned>,
    _pause: gc::Pause,
}

/// The copy of the whole graph of `root`; `memo` is the caller's own, as of `copy.deepcopy`.
///
/// # Safety
/// `root` is alive for the length of the call, and `memo` is a dict.
pub unsafe fn deepcopy(py: Python<'_>, root: Obj, memo: Option<Owned>) -> Result<Owned> {
    let mut tables = TABLES
        .take()
        .unwrap_or_else(|| Box::new(Tables { memo: Memo::new(), numbered: Vec::new(), stack: Vec::new() }));
    let copied = crate::encode::tracking_if_asked(|tracks_all| {
        let mut copier = Copier::new(py, &mut tables, memo.clone());
        copier.tracks_all = tracks_all;
        // SAFETY: as the caller says.
        let copied = unsafe { copier.copy(root) };
        drop(copier);
        tables.stack.clear();
        tables.numbered.clear();
        tables.memo.clear();
        copied
    });
    tables.numbered.shrink_to(KEPT);
    tables.stack.shrink_to(KEPT);
    TABLES.set(Some(tables));
    copied
}

impl<'py> Copier<'py> {
    fn new(py: Python<'py>, tables: &'py mut Tables, memo: Option<Owned>) -> Self {
        Copier {
            py,
            tables,
            ways: HashMap::default(),
            last: None,
            border: Border::new(memo),
            tracks_all: false,
            left_out: false,
            half_seen: false,
            deferred: Vec::new(),
            settled: 0,
            result: None,
            // SAFETY: the GIL is held, as `py` shows, and a copier lives no longer than `py`.
            _pause: unsafe { gc::Pause::new() },
        }
    }

    unsafe fn copy(&mut self, root: Obj) -> Result<Owned> {
        // SAFETY: alive, says the caller. Whether anybody else holds the root can't be told from its count.
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
            self.finish_border()?;
            Ok(copy)
        }
    }

    /// Looks an object up, and numbers it where it may be met again: where there are more than `held` references.
    ///
    /// # Safety
    /// `object` is alive.
    #[inline(always)]
    unsafe fn seen(&mut self, object: Obj, held: isize) -> Result<Seen> {
        // SAFETY: alive, says the caller.
        if unsafe { references(object) } <= held && !self.tracks_all && !self.border.looks_at_all() {
            self.left_out = true;
            return Ok(Seen::New(UNNUMBERED));
        }
        // SAFETY: the same.
        unsafe { self.seen_shared(object) }
    }

    #[inline(never)]
    unsafe fn seen_shared(&mut self, object: Obj) -> Result<Seen> {
        let Tables { memo, numbered, .. } = &mut *self.tables;
        let number = numbered.len() as u32;
        match memo.meet(object, number) {
            Met::Before(number) => {
                let entry = &mut numbered[number as usize];
                if let Some(copy) = &entry.copy {
                    self.half_seen |= entry.open;
                    return Ok(Seen::Copied(copy.clone()));
                }
                // It is being made of parts that hold itself. Begun once more it ends where one of them can be referred
                // to by now; where none can that could not the last time, it would go round for ever.
                if entry.begun == self.settled {
                    return Err(fault("an object that is made of its parts is one of them itself"));
                }
                entry.begun = self.settled;
                Ok(Seen::New(number))
            }
            Met::Never => {
                if number >= UNNUMBERED - 1 {
                    return Err(fault("more than 4,294,967,293 shared objects in one graph"));
                }
                // SAFETY: alive, says the caller.
                let source = unsafe { Owned::borrowed(object) };
                numbered.push(Numbered { source, copy: None, open: true, begun: self.settled });
                if let Some(copy) = self.border.find(object)? {
                    self.half_seen = true;
                    let entry = &mut self.tables.numbered[number as usize];
                    entry.copy = Some(copy.clone());
                    entry.open = false;
                    return Ok(Seen::Copied(copy));
                }
                Ok(Seen::New(number))
            }
        }
    }

    /// Code of the program's is about to be asked. It may give references to whatever it can reach: if an object was left
    /// out for having one holder, the whole graph is copied anew, with every object looked up.
    fn asks_program(&mut self) -> Result<()> {
        if self.left_out && !self.tracks_all && !self.border.looks_at_all() {
            return Err(detour(Detour::TrackAll));
        }
        self.tracks_all = true;
        Ok(())
    }

    /// From now on `copy` is what the object of that number became.
    #[inline(always)]
    fn settle(&mut self, number: u32, copy: &Owned) {
        if number != UNNUMBERED {
            self.tables.numbered[number as usize].copy = Some(copy.clone());
            self.settled += 1;
            self.border.note(number);
        }
    }

    /// The copy of that number is whole.
    #[inline(always)]
    fn close(&mut self, number: u32) {
        if number != UNNUMBERED {
            self.tables.numbered[number as usize].open = false;
        }
    }

    /// The copy that was made, of an object that can't be referred to before, while another of it was being made.
    fn adopted(&mut self, number: u32) -> Result<Option<Owned>> {
        if number == UNNUMBERED {
            return Ok(None);
        }
        let entry = &self.tables.numbered[number as usize];
        match &entry.copy {
            Some(copy) => Ok(Some(copy.clone())),
            None => self.border.find(entry.source.get()),
        }
    }
}

#[cold]
fn fault(why: &'static str) -> crate::error::Fault {
    HoldallError::new_err(why).into()
}

const CHANGED: &str = "a container was changed while it was being copied";

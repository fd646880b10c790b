//! Conses as they are written: those that nothing else refers to as one list, and all of a graph of them without frames.

use super::named::ToLisp;
use crate::classes::state;
use crate::cpython::{references, Obj, Owned};
use crate::encode::Encoder;
use crate::error::{encode, Result};
use crate::memory::{vec, Vec};
use crate::types::walker::{WorkItem, BY_PARENT, BY_PARENT_AND_US};
use holdall_format::model::{LispForm, LispWriter};
use pyo3::ffi;

/// What became of a car or cdr.
enum Part {
    Written,
    /// A `Cons` whose id was written, if it has one.
    Conses,
    /// It needs a frame.
    Other,
}

impl<W: LispWriter> Encoder<'_, ToLisp<W>> {
    /// Conses: those that nothing else refers to are one list, up to its last cdr. Conses within conses take no frame.
    ///
    /// # Safety
    /// `object` is a `Cons`.
    pub(super) unsafe fn conses(&mut self, object: Obj) -> Result<()> {
        // Cdrs that are still to be written, the innermost last.
        let mut waiting: Vec<Owned> = Vec::new();
        // SAFETY: by the contract alive, or held by the cons before it; only instances of `Cons` come here.
        unsafe {
            let mut cons = Owned::borrowed(object);
            loop {
                let [car, cdr] = self.car_and_cdr(cons.get())?;
                let one_by_one = self.dialect.found.one_by_one;
                if !one_by_one && self.is_ours(cdr) {
                    let parts = self.list_of(&cons)?;
                    self.leave(waiting, parts);
                    return Ok(());
                }
                self.w.form(if one_by_one { LispForm::Cons } else { LispForm::List(1) });
                match self.part_of_conses(car, BY_PARENT)? {
                    Part::Written => {}
                    Part::Conses => {
                        waiting.push(Owned::borrowed(cdr));
                        cons = Owned::borrowed(car);
                        continue;
                    }
                    Part::Other => {
                        let parts = [car, cdr].map(|part| WorkItem::Value(Owned::borrowed(part)));
                        self.leave(waiting, Vec::from(parts));
                        return Ok(());
                    }
                }
                let (mut next, mut held) = (Owned::borrowed(cdr), BY_PARENT_AND_US);
                loop {
                    match self.part_of_conses(next.get(), held)? {
                        Part::Written => match waiting.pop() {
                            Some(cdr) => (next, held) = (cdr, BY_PARENT_AND_US),
                            None => return Ok(()),
                        },
                        Part::Conses => {
                            cons = next;
                            break;
                        }
                        Part::Other => {
                            self.leave(waiting, vec![WorkItem::Value(next)]);
                            return Ok(());
                        }
                    }
                }
            }
        }
    }

    /// Has parts written by frames, and then the cdrs that wait.
    fn leave(&mut self, waiting: Vec<Owned>, parts: Vec<WorkItem>) {
        for cdr in waiting {
            self.then(vec![WorkItem::Value(cdr)]);
        }
        self.then(parts);
    }

    /// Writes a car or cdr, if that takes no frame.
    ///
    /// # Safety
    /// `object` is alive.
    #[inline(always)]
    unsafe fn part_of_conses(&mut self, object: Obj, held: isize) -> Result<Part> {
        // SAFETY: by the contract alive.
        unsafe {
            if self.leaf(object, held)? {
                return Ok(Part::Written);
            }
            // Without references, rings are found by the frames.
            if ffi::Py_TYPE(object) != self.dialect.found.names.cons.get().cast() || !self.tracks() {
                return Ok(Part::Other);
            }
            Ok(match self.may_be_shared(object, held) && self.met_twice(object)? {
                true => Part::Written,
                false => Part::Conses,
            })
        }
    }

    /// # Safety
    /// `cons` is a `Cons`.
    unsafe fn car_and_cdr(&self, cons: Obj) -> Result<[Obj; 2]> {
        // SAFETY: by the contract of the class in which the slots were found; an empty one is null.
        let parts = self.dialect.found.names.cons_slots.map(|offset| unsafe { state::slot(cons, offset) });
        match parts.iter().any(|part| part.is_null()) {
            true => Err(encode("a Cons without its car or cdr")),
            false => Ok(parts),
        }
    }

    /// Whether a cdr is a `Cons` to which nothing else refers.
    ///
    /// # Safety
    /// `cdr` is alive.
    unsafe fn is_ours(&self, cdr: Obj) -> bool {
        // SAFETY: by the contract alive.
        unsafe {
            // The count bounds the list where references are not looked for: the way into a ring has two.
            ffi::Py_TYPE(cdr) == self.dialect.found.names.cons.get().cast()
                && references(cdr) <= BY_PARENT
                && !self.may_be_shared(cdr, BY_PARENT)
        }
    }

    /// Begins a list of conses: the cars and the last cdr.
    fn list_of(&mut self, first: &Owned) -> Result<Vec<WorkItem>> {
        let mut parts = Vec::new();
        let mut cons = first.get();
        // SAFETY: each is an instance of `Cons`, held by the one before it, and the first by the caller.
        unsafe {
            loop {
                let [car, cdr] = self.car_and_cdr(cons)?;
                parts.push(WorkItem::Value(Owned::borrowed(car)));
                if !self.is_ours(cdr) {
                    self.w.form(LispForm::List(parts.len()));
                    parts.push(WorkItem::Value(Owned::borrowed(cdr)));
                    return Ok(parts);
                }
                cons = cdr;
            }
        }
    }
}

//! Objects that are met again: which are looked up, and how they are numbered.

use super::memo::Met;
use super::{Encoder, Sharing};
use crate::cpython::{references, Obj, Owned};
use crate::encode::dialect::{Dialect, Native, NativeWriter};
use crate::error::{self, Result};
use pyo3::ffi;
use std::ptr::addr_of_mut;

impl<'t, D: Dialect> Encoder<'t, D> {
    /// Whether this is the walk of a canonical message that only finds what is met again.
    pub(crate) fn is_first_walk(&self) -> bool {
        matches!(self.sharing, Sharing::Finding(_))
    }

    #[inline(always)]
    pub(crate) fn tracks(&self) -> bool {
        D::HAS_REFERENCES && self.options.refs
    }

    /// Whether an object with that many holders may be met again, by its count (or for all, or none: see `bound`).
    ///
    /// # Safety
    /// `object` is alive.
    #[inline(always)]
    pub(crate) unsafe fn may_be_shared(&self, object: Obj, held: isize) -> bool {
        // SAFETY: alive, says the caller.
        D::HAS_REFERENCES && unsafe { references(object) } > held & self.bound.0 | self.bound.1
    }

    /// The number for the next object with an id.
    #[inline(always)]
    pub(crate) fn number(&mut self) -> Result<u32> {
        let number = self.next_id;
        if number == u32::MAX {
            return Err(error::encode("more than 4,294,967,294 shared objects in one message"));
        }
        self.next_id += 1;
        Ok(number)
    }

    /// Writes a reference and says yes if `object` was met before; else gives it an id where it may be met again.
    ///
    /// # Safety
    /// `object` is alive.
    #[inline(always)]
    pub(crate) unsafe fn met(&mut self, object: Obj, held: isize) -> Result<bool> {
        // SAFETY: alive, says the caller.
        if unsafe { !self.may_be_shared(object, held) } {
            return Ok(false);
        }
        // SAFETY: alive, by the same contract.
        unsafe { self.met_shared(object) }
    }

    #[inline(always)]
    pub(crate) unsafe fn met_shared(&mut self, object: Obj) -> Result<bool> {
        // SAFETY: alive, by the same contract.
        unsafe { D::met_shared(self, object) }
    }
}

impl<W: NativeWriter> Encoder<'_, Native<W>> {
    /// Writes a reference to what was met before; else an id, where the object stands.
    #[inline(never)]
    pub(crate) fn met_in_place(&mut self, object: Obj) -> Result<bool> {
        // CPython keeps one object of each of these, of which some of its own functions make more: not the graph's say.
        // SAFETY: alive, as the caller of `met` says.
        let has_twins = unsafe { ffi::Py_TYPE(object) == addr_of_mut!(ffi::PyBytes_Type) && ffi::Py_SIZE(object) <= 1 };
        if self.options.canonical && has_twins {
            return Ok(false);
        }
        match &mut self.sharing {
            Sharing::Found(found) if !found.contains_key(&(object as usize)) => return Ok(false),
            _ => {}
        }
        match self.tables.memo.meet(object, self.next_id) {
            Met::Before(number) => {
                if let Sharing::Finding(found) = &mut self.sharing {
                    *found.entry(object as usize).or_default() += 1;
                }
                // What is only compared is begun anywhere in a circle, and never loaded.
                if self.effort.is_none() && !self.unmade.is_empty() && self.met_unmade(object, number)? {
                    return Ok(true);
                }
                self.link(object);
                self.w.reference(u64::from(number));
                Ok(true)
            }
            Met::Never => {
                self.number()?;
                self.w.assign_id();
                if self.takes_notes {
                    self.note(object);
                }
                Ok(false)
            }
        }
    }

    #[cold]
    fn note(&mut self, object: Obj) {
        if self.effort.is_some() {
            self.met.push(object as usize);
        }
        if self.options.trust || self.tracks_all {
            // Its address must not come to mean another object, whatever the code that is called does to its parent.
            // SAFETY: alive, as the caller of `met` says.
            self.keep(unsafe { Owned::borrowed(object) });
        }
    }
}

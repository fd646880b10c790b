//! Objects that occur again: which are looked up, and which ids they get.

use super::memo::{Met, ONCE};
use super::{Encoder, Sharing};
use crate::cpython::{references, Obj, Owned};
use crate::encode::dialect::{Dialect, Native, NativeWriter};
use crate::error::{self, Result};
use crate::types::walker::BY_PARENT;
use pyo3::ffi;
use std::ptr::addr_of_mut;

impl<'t, D: Dialect> Encoder<'t, D> {
    /// Whether this is the first walk of a canonical message, which only finds shared objects.
    pub(crate) fn is_first_walk(&self) -> bool {
        matches!(self.sharing, Sharing::Finding(_))
    }

    #[inline(always)]
    pub(crate) fn tracks(&self) -> bool {
        D::HAS_REFERENCES && self.options.refs
    }

    /// Whether an object with more than `held` references may occur again (or all of them, or none: see `bound`).
    ///
    /// # Safety
    /// `object` is alive.
    #[inline(always)]
    pub(crate) unsafe fn may_be_shared(&self, object: Obj, held: isize) -> bool {
        // SAFETY: `object` is alive by contract.
        D::HAS_REFERENCES && unsafe { references(object) } > held & self.bound.0 | self.bound.1
    }

    /// The id of the next object that gets one.
    #[inline(always)]
    pub(crate) fn number(&mut self) -> Result<u32> {
        let number = self.next_id;
        if number >= ONCE {
            return Err(error::encode("more than 4,294,967,293 shared objects in one message"));
        }
        self.next_id += 1;
        Ok(number)
    }

    /// Writes a reference and returns true if `object` occurred before; else gives it an id if it may occur again.
    ///
    /// # Safety
    /// `object` is alive.
    #[inline(always)]
    pub(crate) unsafe fn met(&mut self, object: Obj, held: isize) -> Result<bool> {
        // SAFETY: `object` is alive by contract.
        if unsafe { !self.may_be_shared(object, held) } {
            return Ok(false);
        }
        // SAFETY: as above.
        unsafe { self.met_shared(object) }
    }

    /// Writes a reference to what has one; what has none yet is left as it is, and `false` returned.
    ///
    /// # Safety
    /// `object` is alive.
    #[inline(always)]
    pub(crate) unsafe fn referred(&mut self, object: Obj) -> Result<bool> {
        // SAFETY: `object` is alive by contract.
        if self.looks_closely || unsafe { !self.may_be_shared(object, BY_PARENT) } {
            return Ok(false);
        }
        D::referred(self, object)
    }

    #[inline(always)]
    pub(crate) unsafe fn met_shared(&mut self, object: Obj) -> Result<bool> {
        // SAFETY: `object` is alive, as for `met`.
        unsafe { D::met_shared(self, object) }
    }
}

impl<W: NativeWriter> Encoder<'_, Native<W>> {
    /// [`Encoder::referred`] for an object that may be shared, in the usual case: nobody asks which objects are met.
    #[inline(always)]
    pub(crate) fn referred_in_place(&mut self, object: Obj) -> bool {
        if !matches!(self.sharing, Sharing::ByCount) || self.effort.is_some() || !self.tables.unmade.is_empty() {
            return false;
        }
        let Some(number) = self.tables.memo.number(object) else { return false };
        self.link(object);
        self.w.reference(u64::from(number));
        true
    }

    /// Writes a reference if the object occurred before; else assigns an id at its place.
    #[inline(always)]
    pub(crate) fn met_in_place(&mut self, object: Obj) -> Result<bool> {
        // CPython has one object for each of these, but some of its own functions make others, so their sharing is not
        // part of the graph.
        // SAFETY: `object` is alive, as for `met`.
        let has_twins = unsafe { ffi::Py_TYPE(object) == addr_of_mut!(ffi::PyBytes_Type) && ffi::Py_SIZE(object) <= 1 };
        if has_twins {
            return Ok(false);
        }
        self.met_alone(object)
    }

    /// The same for an object without twins.
    #[inline(never)]
    fn met_alone(&mut self, object: Obj) -> Result<bool> {
        match &mut self.sharing {
            Sharing::Found(found) if !found.contains_key(&(object as usize)) => return Ok(false),
            _ => {}
        }
        match self.tables.memo.meet(object, self.next_id) {
            Met::Before(number) => {
                if let Sharing::Finding(found) = &mut self.sharing {
                    *found.entry(object as usize).or_default() += 1;
                }
                // While members are only compared, references may lead anywhere in a cycle, and the result is never
                // loaded.
                if self.effort.is_none() && !self.tables.unmade.is_empty() && self.met_unmade(object, number)? {
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
            self.tables.met.push(object as usize);
        }
        if self.options.trust || self.tracks_all {
            // Kept, so that no other object gets its address, whatever the called code does to its parent.
            // SAFETY: `object` is alive, as for `met`.
            self.keep(unsafe { Owned::borrowed(object) });
        }
    }
}

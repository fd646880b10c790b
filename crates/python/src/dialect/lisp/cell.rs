//! Conses that are being built.

use crate::classes::state::slot_mut;
use crate::cpython::{replace, Owned};
use crate::error::{raised, Result};
use pyo3::ffi;

/// Conses whose last cdr has not come yet.
#[derive(Debug)]
pub struct Cell {
    /// A list, or the first `Cons`.
    pub object: Owned,
    /// The last `Cons`, if it is another one.
    pub last: Option<Owned>,
    /// Where the first car begins.
    pub start: usize,
    pub object_id: u32,
    pub is_list: bool,
    /// The next value is a cdr.
    pub at_cdr: bool,
    /// More conses may follow in place of the last cdr.
    pub one_by_one: bool,
}

impl Cell {
    pub fn last(&self) -> &Owned {
        self.last.as_ref().unwrap_or(&self.object)
    }

    /// Stores a car, at that offset in a `Cons`.
    #[inline(always)]
    pub fn put(&mut self, car_at: usize, car: Owned) -> Result<()> {
        // SAFETY: `object` is a list that is ours to change, or conses in which the slot was found.
        unsafe {
            if self.is_list {
                return append(&self.object, &car);
            }
            replace(slot_mut(self.last().get(), car_at), car.into_raw());
        }
        Ok(())
    }

    /// Appends a `Cons`, as the cdr at that offset.
    pub fn set_last(&mut self, cdr_at: usize, cons: Owned) {
        // SAFETY: an instance of `Cons`, in which the slot was found.
        unsafe { replace(slot_mut(self.last().get(), cdr_at), cons.clone().into_raw()) };
        self.last = Some(cons);
    }

    /// What stands in its place while it is changed.
    pub fn taken(&self) -> Cell {
        let (object, last) = (self.object.clone(), None);
        Cell { object, last, ..*self }
    }
}

pub fn append(list: &Owned, item: &Owned) -> Result<()> {
    // SAFETY: both are held; `list` is a list that is ours to change.
    match unsafe { ffi::PyList_Append(list.get(), item.get()) } {
        0 => Ok(()),
        _ => Err(raised()),
    }
}

pub fn new_list() -> Result<Owned> {
    // SAFETY: the GIL is held while a decoder lives.
    unsafe { Owned::new(ffi::PyList_New(0)) }.ok_or_else(raised)
}

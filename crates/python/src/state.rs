//! What outlives a call: registered classes, plans of classes, caches. It belongs to an interpreter, and this is its one owner.
//!
//! PyO3 lets one interpreter of a process import the module (any other gets an `ImportError`), so that there is one state today,
//! made with the module and never freed, as objects of the module's classes may outlive it. Where a process has several, [`StateSlot::get`]
//! is the one place that has to find the state of the interpreter that `py` is attached to; where threads run without the GIL, the
//! contents of the slots need locks of their own.
//!
//! Caches are no thread's own: what a thread keeps is dropped when it ends, without the GIL, which Python's objects don't allow.

use pyo3::Python;
use std::cell::Cell;
use std::marker::PhantomData;
use std::ptr::null_mut;

/// The slots, each used by one [`StateSlot`]. What is in them is known on the floors that they belong to.
#[derive(Debug, Clone, Copy)]
pub enum Name {
    Registry,
    Plans,
    Names,
    DictShapes,
    ClassShapes,
    InlineShapes,
}

const SLOTS: usize = Name::InlineShapes as usize + 1;

/// Pointers to what the slots hold; null before it is asked for.
struct State([Cell<*mut ()>; SLOTS]);

// SAFETY: only `StateSlot::get` reaches it, whose `Python` token says that the GIL is held.
unsafe impl Sync for State {}

static STATE: State = State([const { Cell::new(null_mut()) }; SLOTS]);

/// A value of the interpreter's, made by `Default` when it is first asked for.
#[derive(Debug)]
pub struct StateSlot<T> {
    name: Name,
    of: PhantomData<fn() -> T>,
}

impl<T: Default + 'static> StateSlot<T> {
    /// # Safety
    /// No other slot of another type has that name.
    pub const unsafe fn new(name: Name) -> StateSlot<T> {
        StateSlot { name, of: PhantomData }
    }

    /// The value, for as long as the GIL is held.
    #[inline(always)]
    pub fn get<'py>(&self, _py: Python<'py>) -> &'py T {
        let place = &STATE.0[self.name as usize];
        if place.get().is_null() {
            Self::make(place);
        }
        // SAFETY: not null, of this type by `new`'s contract, and never freed.
        unsafe { &*place.get().cast::<T>() }
    }

    #[cold]
    #[inline(never)]
    fn make(place: &Cell<*mut ()>) {
        // Before it is stored: what makes the value may ask for the slot.
        let made = Box::new(T::default());
        if place.get().is_null() {
            place.set(Box::into_raw(made).cast());
        }
    }
}

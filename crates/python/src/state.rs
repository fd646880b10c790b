//! State that outlives a call: registered classes, plans of classes, caches. It belongs to the interpreter, and this
//! file alone owns it.
//!
//! PyO3 lets one interpreter of a process import the module (others get an `ImportError`). So there is one state today,
//! created with the module and never freed, because objects of the module's classes may outlive it. For several
//! interpreters, [`StateSlot::get`] is the only place that would have to find the state of the one that `py` is
//! attached to. For threads without the GIL, the contents of the slots would need locks.
//!
//! The caches don't belong to threads: when a thread ends, its values are dropped without the GIL, which Python objects
//! don't allow.

use pyo3::Python;
use std::cell::Cell;
use std::marker::PhantomData;
use std::ptr::null_mut;

/// The slots, each used by one [`StateSlot`]; the modules that use them define their types.
#[derive(Debug, Clone, Copy)]
pub enum Name {
    Registry,
    Plans,
    Names,
    MarksOfNames,
    DictShapes,
    MarksOfDictShapes,
    ClassShapes,
    PermittedClasses,
    InlineShapes,
}

const SLOTS: usize = Name::InlineShapes as usize + 1;

/// Pointers to the values of the slots; null until first used.
struct State([Cell<*mut ()>; SLOTS]);

// SAFETY: it is private, and only `StateSlot::get` reads it, whose `Python` token proves that the GIL is held.
unsafe impl Sync for State {}

static STATE: State = State([const { Cell::new(null_mut()) }; SLOTS]);

/// A value of the interpreter, created by `Default` when first used.
#[derive(Debug)]
pub struct StateSlot<T> {
    name: Name,
    of: PhantomData<fn() -> T>,
}

impl<T: Default + 'static> StateSlot<T> {
    /// A slot's handle.
    ///
    /// # Safety
    /// No slot with the same name has another type.
    pub const unsafe fn new(name: Name) -> StateSlot<T> {
        StateSlot { name, of: PhantomData }
    }

    /// The value, while the GIL is held.
    #[inline(always)]
    pub fn get<'py>(&self, _py: Python<'py>) -> &'py T {
        let place = &STATE.0[self.name as usize];
        if place.get().is_null() {
            Self::make(place);
        }
        // SAFETY: not null, of type `T` by the contract of `new`, and never freed.
        unsafe { &*place.get().cast::<T>() }
    }

    #[cold]
    #[inline(never)]
    fn make(place: &Cell<*mut ()>) {
        // Made first: making it may use the same slot.
        let made = Box::new(T::default());
        if place.get().is_null() {
            place.set(Box::into_raw(made).cast());
        }
    }
}

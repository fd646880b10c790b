//! State that outlives a call: registered classes, plans of classes, caches. It belongs to the interpreter, and this
//! file alone owns it.
//!
//! Each interpreter that imports the module has an image of the extension for itself (`module/`), and so a state of its own. Objects of
//! the module's classes may outlive the module, so it is freed when the interpreter ends, or with the process. For threads without the
//! GIL, the contents of the slots would need locks.
//!
//! Nothing belongs to threads: when a thread ends, its values are dropped without the GIL, which Python objects don't allow; and the
//! library can't be unloaded before, when its interpreter has ended.

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
    SettledWithoutTypes,
    InlineShapes,
    MarksOfInlineShapes,
    Output,
    OutputOfMembers,
    TablesOfLoads,
    TablesOfCopies,
}

const SLOTS: usize = Name::TablesOfCopies as usize + 1;

/// Pointers to the values of the slots, null until first used, and how each is freed.
struct State([(Cell<*mut ()>, Cell<Free>); SLOTS]);

type Free = unsafe fn(*mut ());

// SAFETY: it is private, and only `StateSlot::get` and `end` read it, whose `Python` token proves that the GIL is held.
unsafe impl Sync for State {}

static STATE: State = State([const { (Cell::new(null_mut()), Cell::new(nothing as Free)) }; SLOTS]);

unsafe fn nothing(_: *mut ()) {}

/// Frees all values. What is called later in spite of that finds new ones.
///
/// # Safety
/// No call of this crate is in progress in any thread: the interpreter runs no more code of the program.
pub unsafe fn end(_py: Python<'_>) {
    for (place, free) in &STATE.0 {
        let value = place.replace(null_mut());
        if !value.is_null() {
            // SAFETY: the function of the type that the slot's value was made as; nobody refers to it by the contract.
            unsafe { free.get()(value) };
        }
    }
}

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
        let (place, free) = &STATE.0[self.name as usize];
        if place.get().is_null() {
            Self::make(place, free);
        }
        // SAFETY: not null, of type `T` by the contract of `new`, and freed when no call is in progress any more.
        unsafe { &*place.get().cast::<T>() }
    }

    #[cold]
    #[inline(never)]
    fn make(place: &Cell<*mut ()>, free: &Cell<Free>) {
        // Made first: making it may use the same slot.
        let made = Box::new(T::default());
        if place.get().is_null() {
            free.set(Self::free);
            place.set(Box::into_raw(made).cast());
        }
    }

    /// # Safety
    /// `value` is that of such a slot, and nobody refers to it.
    unsafe fn free(value: *mut ()) {
        // SAFETY: `make` left it so.
        drop(unsafe { Box::from_raw(value.cast::<T>()) });
    }
}

/// What one call leaves for the next: taken out during a call, so that one within it (from a hook) finds none and makes its own.
pub struct Left<T>(Cell<Option<Box<T>>>);

impl<T> Default for Left<T> {
    fn default() -> Self {
        Left(Cell::new(None))
    }
}

impl<T: 'static> StateSlot<Left<T>> {
    #[inline(always)]
    pub fn take(&self, py: Python<'_>) -> Option<Box<T>> {
        self.get(py).0.take()
    }

    #[inline(always)]
    pub fn set(&self, py: Python<'_>, value: Box<T>) {
        self.get(py).0.set(Some(value));
    }
}

//! Layouts whose class was looked up, and permitted, by the same options: it is not looked up again as long as nothing has changed
//! that was asked.

use crate::classes::{names, registry};
use crate::cpython::class::given_version;
use crate::cpython::{held, Obj, Owned, Type};
use crate::decode::Options;
use crate::shapes::cache::DirectMapped;
use crate::shapes::Shape;
use crate::state::{Name, StateSlot};
use pyo3::ffi;
use pyo3::prelude::*;
use pyo3::types::PyModule;
use std::rc::Rc;

const SIZE: usize = 256;

/// A layout as it was read, how instances of it are built, and what must be as it was.
#[derive(Debug)]
struct Entry {
    raw: Rc<Shape>,
    shape: Rc<Shape>,
    registrations: u64,
    signs: Signs,
}

/// Of a class and its metaclass the version tags, and of the class its qualified name, which is set without another version. The name
/// is only compared.
#[derive(Debug, PartialEq, Eq)]
struct Signs(u32, u32, Obj);

impl Signs {
    /// # Safety
    /// `class` is alive.
    #[inline(always)]
    unsafe fn of(class: Type) -> Signs {
        // SAFETY: `class` is alive, and holds its metaclass; classes on the heap have such a name.
        unsafe {
            let qualname = match ffi::PyType_HasFeature(class, ffi::Py_TPFLAGS_HEAPTYPE) {
                0 => std::ptr::null_mut(),
                _ => (*class.cast::<ffi::PyHeapTypeObject>()).ht_qualname,
            };
            Signs(given_version(class), given_version(ffi::Py_TYPE(class.cast())), qualname)
        }
    }
}

/// What was settled by some options.
#[derive(Debug, Default)]
pub struct Settled(DirectMapped<Entry, SIZE>);

// SAFETY: it is private, and its functions take a `Python` token, so the GIL orders all access.
unsafe impl Sync for Settled {}
// SAFETY: as for `Sync`.
unsafe impl Send for Settled {}

// SAFETY: no other slot has this name.
static WITHOUT_TYPES: StateSlot<Settled> = unsafe { StateSlot::new(Name::SettledWithoutTypes) };

impl Settled {
    /// What was settled by those who permit no classes but those that everybody may load.
    pub fn without_types(py: Python<'_>) -> &Settled {
        WITHOUT_TYPES.get(py)
    }

    /// Empties the place for those: its entries hold what was registered before.
    pub fn forget(py: Python<'_>, _: Type) {
        WITHOUT_TYPES.get(py).0.clear();
    }

    /// How instances of a layout are built that a message has which is not trusted; `None`: the class is to be looked up.
    #[inline(always)]
    pub fn find(&self, py: Python<'_>, raw: &Rc<Shape>) -> Option<Rc<Shape>> {
        self.0.find(place(raw), |entry| {
            // Nothing here keeps a class that nobody else has any more.
            let plan = entry.shape.plan.as_ref().filter(|plan| Rc::ptr_eq(&entry.raw, raw) && plan.is_alive())?;
            // SAFETY: the class is alive.
            let same = entry.signs == unsafe { Signs::of(plan.class()) }
                && entry.registrations == registry::generation(py)
                && !registry::has_resolvers(py);
            same.then(|| entry.shape.clone())
        })
    }

    /// Remembers what was found, if it can be told whether it would be found again.
    ///
    /// # Safety
    /// The class of the shape's plan is alive.
    unsafe fn keep(&self, py: Python<'_>, raw: &Rc<Shape>, shape: &Rc<Shape>) {
        let Some(plan) = &shape.plan else { return };
        // SAFETY: the class is alive, by contract, and holds its metaclass.
        unsafe {
            let signs = Signs::of(plan.class());
            if signs.0 != 0 && signs.1 != 0 && names::has_usual_names(py, ffi::Py_TYPE(plan.class().cast())) {
                let (raw, shape, registrations) = (raw.clone(), shape.clone(), registry::generation(py));
                self.0.keep(place(&raw), Entry { raw, shape, registrations, signs });
            }
        }
    }
}

/// Spread as the memo of an encoder spreads addresses: a layout that pushes another out makes both of them be looked up each time.
fn place(raw: &Rc<Shape>) -> usize {
    ((Rc::as_ptr(raw) as u64 >> 4).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> (64 - SIZE.trailing_zeros())) as usize
}

impl Options {
    /// What was settled by these options.
    #[inline(always)]
    pub fn settled<'a>(&'a self, py: Python<'a>) -> &'a Settled {
        match self.types.is_empty() {
            true => Settled::without_types(py),
            false => &self.named.settled,
        }
    }

    /// Remembers how instances of a layout are built in messages that are not trusted. What is permitted by a module is not remembered,
    /// as the module may get another class of that name, nor what a resolver has said.
    ///
    /// # Safety
    /// The class of the shape's plan is alive.
    pub unsafe fn settle(&self, py: Python<'_>, raw: &Rc<Shape>, shape: &Rc<Shape>) {
        let is_module = |of: &Owned| held(py, of).is_instance_of::<PyModule>();
        if self.resolver.is_none() && raw.plan.is_none() && !self.types.iter().any(is_module) {
            // SAFETY: the contract is the same.
            unsafe { self.settled(py).keep(py, raw, shape) };
        }
    }
}

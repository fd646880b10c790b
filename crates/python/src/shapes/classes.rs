//! The cache of classes' shapes: kept from one message to the next, found by their bytes, each with how instances of the
//! classes that it was matched with are built of it. Each schema has one; one more is for messages without a schema.
//! Permission is no part of it: that is the caller's, message by message.

use crate::cpython::Type;
use crate::memory::{HashMap, Vec};
use crate::shapes::dicts::place;
use crate::shapes::Layout;
use crate::state::{Name, StateSlot};
use holdall_format::model::{self, ShapeKind};
use pyo3::prelude::*;
use std::cell::RefCell;
use std::rc::Rc;

const SIZE: usize = 256;
/// Longer blocks are not kept.
const LONGEST: usize = 2048;

#[derive(Debug)]
struct Entry {
    kind: ShapeKind,
    version: u64,
    block: Vec<u8>,
    layout: Rc<Layout>,
}

#[derive(Debug, Default)]
pub struct ClassShapes {
    layouts: RefCell<Vec<Option<Entry>>>,
    /// How classes are built member by member, by their index.
    members: RefCell<HashMap<u32, Rc<Layout>, rustc_hash::FxBuildHasher>>,
}

// SAFETY: reached only by functions that take a `Python` token: the GIL orders all access. A schema, which holds one, is an object of
// Python's, and goes from thread to thread.
unsafe impl Sync for ClassShapes {}
// SAFETY: the same.
unsafe impl Send for ClassShapes {}

// SAFETY: the only slot of that name.
static WITHOUT_SCHEMA: StateSlot<ClassShapes> = unsafe { StateSlot::new(Name::ClassShapes) };

/// The cache for messages without a schema.
pub fn without_schema(py: Python<'_>) -> &ClassShapes {
    WITHOUT_SCHEMA.get(py)
}

/// Forgets its shapes: what they were matched with holds what was registered before.
pub fn forget(py: Python<'_>, _: Type) {
    drop(WITHOUT_SCHEMA.get(py).layouts.take());
}

impl ClassShapes {
    pub fn find(&self, _py: Python<'_>, token: &model::Shape<'_>) -> Option<Rc<Layout>> {
        let layouts = self.layouts.borrow();
        let entry = layouts.get(place(token.block))?.as_ref()?;
        let same = entry.kind == token.kind && entry.version == token.version && *entry.block == *token.block;
        same.then(|| entry.layout.clone())
    }

    pub fn keep(&self, _py: Python<'_>, token: &model::Shape<'_>, layout: &Rc<Layout>) {
        if token.block.len() > LONGEST {
            return;
        }
        let (kind, version, layout) = (token.kind, token.version, layout.clone());
        let old = {
            let mut layouts = self.layouts.borrow_mut();
            if layouts.is_empty() {
                layouts.resize_with(SIZE, || None);
            }
            layouts[place(token.block)].replace(Entry { kind, version, block: token.block.into(), layout })
        };
        drop(old); // outside of the cache: destructors may run Python code
    }

    pub fn members(&self, _py: Python<'_>, class: u32) -> Option<Rc<Layout>> {
        self.members.borrow().get(&class).cloned()
    }

    pub fn keep_members(&self, _py: Python<'_>, class: u32, layout: &Rc<Layout>) {
        self.members.borrow_mut().insert(class, layout.clone());
    }
}

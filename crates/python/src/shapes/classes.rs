//! The shape cache for classes. It keeps shapes from one message to the next, found by their bytes, each with the way
//! to build instances of the classes that it was matched with. Each schema has a cache; one more serves messages
//! without a schema. What a caller permits is not part of it and is checked for each message.

use crate::cpython::Type;
use crate::memory::{HashMap, Vec};
use crate::shapes::cache::DirectMapped;
use crate::shapes::dicts::place;
use crate::shapes::Shape;
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
    shape: Rc<Shape>,
}

#[derive(Debug, Default)]
pub struct ClassShapes {
    shapes: DirectMapped<Entry, SIZE>,
    /// How to build classes whose fields come by key, by the class's index.
    members: RefCell<HashMap<u32, Rc<Shape>, rustc_hash::FxBuildHasher>>,
}

// SAFETY: all functions that reach it take a `Python` token, so the GIL orders all access. A schema, which holds one,
// is a Python object and moves between threads.
unsafe impl Sync for ClassShapes {}
// SAFETY: as for `Sync`.
unsafe impl Send for ClassShapes {}

// SAFETY: no other slot has this name.
static WITHOUT_SCHEMA: StateSlot<ClassShapes> = unsafe { StateSlot::new(Name::ClassShapes) };

/// The cache for messages without a schema.
pub fn without_schema(py: Python<'_>) -> &ClassShapes {
    WITHOUT_SCHEMA.get(py)
}

/// Empties the cache: its entries hold what was registered before.
pub fn forget(py: Python<'_>, _: Type) {
    WITHOUT_SCHEMA.get(py).shapes.clear();
}

impl ClassShapes {
    pub fn find(&self, _py: Python<'_>, token: &model::Shape<'_>) -> Option<Rc<Shape>> {
        self.shapes.find(place(token.block), |entry| {
            let same = entry.kind == token.kind && entry.version == token.version && *entry.block == *token.block;
            same.then(|| entry.shape.clone())
        })
    }

    pub fn keep(&self, _py: Python<'_>, token: &model::Shape<'_>, shape: &Rc<Shape>) {
        if token.block.len() > LONGEST {
            return;
        }
        let (kind, version, shape) = (token.kind, token.version, shape.clone());
        self.shapes.keep(place(token.block), Entry { kind, version, block: token.block.into(), shape });
    }

    pub fn members(&self, _py: Python<'_>, class: u32) -> Option<Rc<Shape>> {
        self.members.borrow().get(&class).cloned()
    }

    pub fn keep_members(&self, _py: Python<'_>, class: u32, shape: &Rc<Shape>) {
        self.members.borrow_mut().insert(class, shape.clone());
    }
}

//! What a schema keeps from one message to the next: layouts of classes, found by their bytes, each with how the schema's
//! classes are built of it. Permission is no part of it: that is the caller's, message by message.

use super::layout::Layout;
use holdall_format::model;
use pyo3::prelude::*;
use std::cell::RefCell;
use std::collections::HashMap;
use std::rc::Rc;

/// Layouts of more than this are not kept: whoever sends ever new ones gets no more memory.
const MOST: usize = 256;
const LONGEST: usize = 4096;

type Key = (u8, u64, Box<[u8]>);

/// One for each schema.
#[derive(Debug, Default)]
pub struct Shelf {
    layouts: RefCell<HashMap<Key, Rc<Layout>, rustc_hash::FxBuildHasher>>,
    /// How classes are built member by member, by their index.
    members: RefCell<HashMap<u32, Rc<Layout>, rustc_hash::FxBuildHasher>>,
}

// SAFETY: reached only by functions that take a `Python` token: the GIL orders all access.
unsafe impl Sync for Shelf {}
// SAFETY: the same.
unsafe impl Send for Shelf {}

impl Shelf {
    pub fn find(&self, _py: Python<'_>, token: &model::Layout<'_>) -> Option<Rc<Layout>> {
        if token.block.len() > LONGEST {
            return None;
        }
        self.layouts.borrow().get(&key(token)).cloned()
    }

    pub fn keep(&self, _py: Python<'_>, token: &model::Layout<'_>, layout: &Rc<Layout>) {
        let mut layouts = self.layouts.borrow_mut();
        if layouts.len() < MOST && token.block.len() <= LONGEST {
            layouts.insert(key(token), layout.clone());
        }
    }

    pub fn members(&self, _py: Python<'_>, class: u32) -> Option<Rc<Layout>> {
        self.members.borrow().get(&class).cloned()
    }

    pub fn keep_members(&self, _py: Python<'_>, class: u32, layout: &Rc<Layout>) {
        self.members.borrow_mut().insert(class, layout.clone());
    }
}

fn key(token: &model::Layout<'_>) -> Key {
    (token.kind as u8, token.version, token.block.into())
}

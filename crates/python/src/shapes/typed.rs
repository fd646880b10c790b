//! How instances of a schema's class are built of what is stored.

use crate::memory::Vec;
use crate::shapes::Place;
use std::cell::RefCell;

/// A node of a schema, by its place in the schema.
pub type NodeId = u32;

/// The node that takes whatever comes.
pub const ANY: NodeId = 0;

/// A stored value that no field takes.
pub const SKIPPED: u16 = u16::MAX;
/// The value that tells which class of several it is.
pub const TAG: u16 = u16::MAX - 1;

/// How a class of the schema is built of what is stored.
#[derive(Debug)]
pub struct Typed {
    /// An index in the schema's classes.
    pub class: u32,
    pub way: Way,
    pub form: Form,
    /// By position: for each stored value. By key: for each field.
    pub steps: Vec<Member>,
    /// By position: the fields that were not stored.
    pub missing: Vec<(u16, Place)>,
    /// Why no instance can be built of this layout.
    pub refusal: Option<String>,
    /// By key: the keys of instances as they came last time, those that no field takes too.
    pub order: RefCell<Vec<Expected>>,
    /// The usual case, which has a loop of its own: by position, every stored value into a slot, nothing to do after.
    pub slots: Option<Box<[Slot]>>,
}

/// A key as the format writes it, and the field that it means.
#[derive(Debug)]
pub struct Expected {
    pub encoded: Vec<u8>,
    pub field: u16,
}

#[derive(Debug)]
pub struct Slot {
    pub offset: u32,
    pub accepts: u32,
    pub node: NodeId,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Form {
    Positions,
    Keys,
}

/// Where the fields are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Way {
    /// In slots, all of them.
    Slots,
    /// In slots or in `__dict__`.
    Instance,
    Tuple,
    Dict,
}

#[derive(Debug)]
pub struct Member {
    pub field: u16,
    pub node: NodeId,
    pub accepts: u32,
    pub place: Place,
}

impl Member {
    /// A value that no field takes.
    pub fn passed_over(field: u16) -> Member {
        Member { field, node: ANY, accepts: 0, place: Place::Nowhere }
    }
}

impl Typed {
    /// How many values are stored of an instance.
    pub fn stored(&self) -> usize {
        self.steps.len()
    }
}

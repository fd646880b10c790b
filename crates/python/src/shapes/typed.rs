//! How to build instances of a schema's class from stored values.

use crate::memory::{FxHashMap, Vec};
use crate::shapes::decided::Answer;
use crate::shapes::Place;
use std::cell::RefCell;
use std::rc::Rc;

/// A node of a schema, by index.
pub type NodeId = u32;

/// The node that accepts any value.
pub const ANY: NodeId = 0;

/// A stored value that belongs to no field.
pub const SKIPPED: u16 = u16::MAX;
/// The value that says which of several classes it is.
pub const TAG: u16 = u16::MAX - 1;

/// How to build a class of the schema from stored values.
#[derive(Debug)]
pub struct Typed {
    /// An index into the schema's classes.
    pub class: u32,
    pub way: FieldPlaces,
    pub form: StoredBy,
    /// If fields come by position: for each stored value. By key: for each field.
    pub steps: Vec<Member>,
    /// If fields come by position: the fields that are not stored.
    pub missing: Vec<(u16, Place)>,
    /// Why no instance can be built from this shape.
    pub refusal: Option<String>,
    /// If fields come by key: the keys of the last instance in their order, including keys without a field.
    pub order: RefCell<Vec<Expected>>,
    /// If fields come by key: what the class's resolver said of dicts with certain keys.
    pub answers: RefCell<FxHashMap<Vec<u8>, Rc<Answer>>>,
    /// The keys of instances as they are stored today, in each format by its function that encodes them; `None` if the resolver has
    /// something to say of those.
    pub today: RefCell<Vec<(usize, Option<Rc<Today>>)>>,
    /// For the usual case, which has its own loop: fields by position, each value into a slot, nothing to do
    /// afterwards.
    pub slots: Option<Box<[Slot]>>,
}

/// The encoded keys of instances as they are stored today.
#[derive(Debug)]
pub struct Today {
    /// The keys of the tag and of the version come first.
    pub keys: Vec<Vec<u8>>,
    pub marks: usize,
}

/// An encoded key, and the field that it means.
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
pub enum StoredBy {
    Positions,
    Keys,
}

/// Where instances keep their fields.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FieldPlaces {
    /// All in slots.
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
    /// A value that belongs to no field.
    pub fn passed_over(field: u16) -> Member {
        Member { field, node: ANY, accepts: 0, place: Place::Nowhere }
    }
}

impl Typed {
    /// How many values of an instance are stored.
    pub fn stored(&self) -> usize {
        self.steps.len()
    }
}

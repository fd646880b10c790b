//! What an encoder knows of Julia's types, and of classes that have one.

use crate::cpython::{Obj, Owned, Type};
use crate::dialect::julia::{bound, Names, Types};
use crate::memory::{HashMap, HashSet, Vec, VecDeque};
use crate::types::walker::BY_PARENT_AND_US;
use holdall_format::julia::Number;
use pyo3::prelude::*;
use std::cell::OnceCell;
use std::rc::Rc;

/// What an encoder knows of Julia's types while it writes a message.
pub struct Lowering {
    pub(crate) names: &'static Names,
    pub types: Types,
    pub(crate) classes: HashMap<usize, Rc<ClassForm>, rustc_hash::FxBuildHasher>,
    pub(crate) last: Option<(usize, Rc<ClassForm>)>,
    /// Classes whose instances are what they are by their value: one that is met again is written again.
    pub(crate) values: HashSet<usize, rustc_hash::FxBuildHasher>,
    /// By type: how its mappings are packed, if they are.
    pub(crate) tables: HashMap<usize, Option<Rc<Packed>>, rustc_hash::FxBuildHasher>,
    pub(crate) nothing: Rc<Vec<u8>>,
    /// Classes whose instances are made of their parts, and those of them that are on a way to themselves.
    pub(crate) made: HashSet<usize, rustc_hash::FxBuildHasher>,
    pub(crate) in_place: HashSet<usize, rustc_hash::FxBuildHasher>,
    /// By a set's address: the table that it consists of, held so often that it counts as shared.
    pub(crate) tables_of_sets: HashMap<usize, [Owned; BY_PARENT_AND_US as usize + 1], rustc_hash::FxBuildHasher>,
    /// What is referred to and not written yet, in the order of its numbers.
    pub(crate) back_references: VecDeque<BackReference>,
}

/// A type of mappings from text to numbers.
pub struct Packed {
    pub(super) number: u32,
    /// The type of the numbers.
    pub(super) value: u32,
    pub(super) kind: Number,
    pub(super) size: usize,
}

pub(crate) enum BackReference {
    Object(Owned),
    Type(u32),
}

/// How instances of a class are written.
pub(crate) enum ClassForm {
    Mapped(Mapped),
    /// A dict that knows its type, which may be packed.
    Table,
    Lowered,
}

/// By position: fields in this order, of that type. Where instances may have one of their `own`, that comes first.
pub(crate) struct Mapped {
    pub(crate) of_type: Option<Owned>,
    pub(crate) fields: Vec<Owned>,
    /// Where each field is, where all are in slots.
    pub(crate) offsets: Option<Rc<Vec<usize>>>,
    pub(crate) own: bool,
    /// The number of its type; none where that is described by objects of its own.
    pub(crate) number: OnceCell<Option<u32>>,
}

impl Lowering {
    pub fn new(py: Python<'_>) -> PyResult<Lowering> {
        let names = Names::get(py)?;
        let values = bound(py, &names.values).try_iter()?.map(|class| class.map(|class| class.as_ptr() as usize));
        Ok(Lowering {
            names,
            types: Types::default(),
            classes: HashMap::default(),
            last: None,
            values: values.collect::<PyResult<_>>()?,
            tables: HashMap::default(),
            made: HashSet::default(),
            in_place: HashSet::default(),
            tables_of_sets: HashMap::default(),
            nothing: Rc::default(),
            back_references: VecDeque::new(),
        })
    }

    /// Whether instances of a class have no identity to keep.
    pub fn is_value(&self, class: Type) -> bool {
        self.values.contains(&(class as usize))
    }

    /// Whether instances of a class are made once all their parts are there.
    pub fn is_made(&self, class: Type) -> bool {
        self.made.contains(&(class as usize))
    }

    /// Whether there are such classes at all.
    pub fn makes(&self) -> bool {
        !self.made.is_empty()
    }

    /// Has an object written wherever it is met.
    pub fn put_in_place(&mut self, object: Obj) {
        self.in_place.insert(object as usize);
    }

    pub fn is_in_place(&self, object: usize) -> bool {
        self.in_place.contains(&object)
    }

    /// What is to be written apart, later.
    pub fn add_back_reference(&mut self, object: Owned) {
        self.back_references.push_back(BackReference::Object(object));
    }
}

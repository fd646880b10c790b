//! What an encoder knows of Julia's types, and of the classes that have one.

use crate::cpython::{Obj, Owned, Type};
use crate::dialect::julia::{bound, Names, Types};
use crate::memory::{HashMap, HashSet, Vec, VecDeque};
use crate::types::walker::BY_PARENT_AND_US;
use holdall_format::julia::Number;
use pyo3::prelude::*;
use std::cell::OnceCell;
use std::rc::Rc;

/// The state of encoding a message as Julia's values.
pub struct Lowering {
    pub(crate) names: &'static Names,
    pub types: Types,
    pub(crate) classes: HashMap<usize, Rc<ClassForm>, rustc_hash::FxBuildHasher>,
    pub(crate) last: Option<(usize, Rc<ClassForm>)>,
    /// Classes whose instances have no identity to keep: one that occurs again is written again.
    pub(crate) values: HashSet<usize, rustc_hash::FxBuildHasher>,
    /// By address of a type: how its mappings are packed, if they are.
    pub(crate) tables: HashMap<usize, Option<Rc<Packed>>, rustc_hash::FxBuildHasher>,
    pub(crate) nothing: Rc<Vec<u8>>,
    /// Classes whose instances are made from their parts; addresses of such instances that are part of a cycle.
    pub(crate) made: HashSet<usize, rustc_hash::FxBuildHasher>,
    pub(crate) in_place: HashSet<usize, rustc_hash::FxBuildHasher>,
    /// By address of a set: the table that it consists of, held so often that it counts as shared.
    pub(crate) tables_of_sets: HashMap<usize, [Owned; BY_PARENT_AND_US as usize + 1], rustc_hash::FxBuildHasher>,
    /// What belongs into the back-reference table and is not written yet, in the order of ids.
    pub(crate) back_references: VecDeque<BackReference>,
}

/// A type of mappings from text to numbers.
pub struct Packed {
    pub(super) number: u32,
    /// The number of the values' type.
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
    /// As a dict that knows its type, and may be packed.
    Table,
    Lowered,
}

/// By position: the type and its fields in order. `own`: an instance may have a type of its own, which goes first.
pub(crate) struct Mapped {
    pub(crate) of_type: Option<Owned>,
    pub(crate) fields: Vec<Owned>,
    /// The offset of each field, if all are in slots.
    pub(crate) offsets: Option<Rc<Vec<usize>>>,
    pub(crate) own: bool,
    /// The number of the type; `Some(None)` if that is described by objects of its own.
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

    /// Whether instances of a class are made only once all their parts are there.
    pub fn is_made(&self, class: Type) -> bool {
        self.made.contains(&(class as usize))
    }

    /// Whether there are any such classes.
    pub fn makes(&self) -> bool {
        !self.made.is_empty()
    }

    /// Marks an object to be written at each of its places.
    pub fn put_in_place(&mut self, object: Obj) {
        self.in_place.insert(object as usize);
    }

    pub fn is_in_place(&self, object: usize) -> bool {
        self.in_place.contains(&object)
    }

    /// Adds an object to the back-reference table, to be written later.
    pub fn add_back_reference(&mut self, object: Owned) {
        self.back_references.push_back(BackReference::Object(object));
    }
}

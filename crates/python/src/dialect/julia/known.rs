//! The state of this dialect while a message is decoded.

use super::{Described, Julia};
use crate::cpython::Owned;
use crate::memory::{HashMap, Vec};
use crate::schema::NodeId;
use holdall_format::model::TypedReader;
use holdall_format::Reader;
use std::rc::Rc;

/// The capabilities that this dialect requires of a reader.
pub trait JuliaReader<'i>: Reader<'i> + TypedReader<'i, <Self as Reader<'i>>::Place> {}

impl<'i, R: Reader<'i> + TypedReader<'i, <R as Reader<'i>>::Place>> JuliaReader<'i> for R {}

/// BSON as Julia's BSON.jl and BSONqs write it.
pub struct FromJulia<'i, R: JuliaReader<'i>> {
    pub(super) julia: &'i Julia,
    /// Where the values of the back-reference table are.
    pub(super) back_references: Vec<R::Place>,
    /// Types by their numbers; how many descriptions are being read, one within the other; classes to keep alive.
    pub(super) described: Vec<Option<Rc<Described>>>,
    pub(super) describing: u32,
    pub(super) classes_held: Vec<Owned>,
    pub(super) symbols: HashMap<&'i [u8], Owned>,
    /// Coerced sets, by address of the set and by node; the entry holds the set, so the address stays its own.
    pub(super) sets_into: HashMap<(usize, NodeId), (Owned, Owned), rustc_hash::FxBuildHasher>,
    /// The offset of a mapping that turned into pairs after others had referred to it as a dict: the message is built anew.
    pub(super) anew: Option<usize>,
}

impl<'i, R: JuliaReader<'i>> FromJulia<'i, R> {
    pub fn new(julia: &'i Julia) -> Self {
        FromJulia {
            julia,
            back_references: Vec::new(),
            described: Vec::new(),
            describing: 0,
            classes_held: Vec::new(),
            symbols: HashMap::new(),
            sets_into: HashMap::default(),
            anew: None,
        }
    }
}

/// What a frame makes from the values that it gathers.
#[derive(Debug, Clone)]
pub enum JuliaMake {
    /// What a function makes from a type and the values of its fields.
    Value(Rc<Described>),
    /// The mapping in the frame gets its items: the nodes of keys and values, and the mapping's offset.
    Table(Rc<Described>, (NodeId, NodeId), usize),
    /// A type with this path; the frame gathers its parameters.
    Type(Owned),
    Simple,
    UnionAll,
    Anonymous,
}

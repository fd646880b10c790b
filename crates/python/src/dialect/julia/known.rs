//! What the decoder of this dialect knows while it reads a message.

use super::{Described, Julia};
use crate::cpython::Owned;
use crate::memory::{HashMap, Vec};
use crate::schema::NodeId;
use holdall_format::model::TypedReader;
use holdall_format::Reader;
use std::rc::Rc;

/// What a reader of this dialect can do.
pub trait JuliaReader<'i>: Reader<'i> + TypedReader<'i, <Self as Reader<'i>>::Place> {}

impl<'i, R: Reader<'i> + TypedReader<'i, <R as Reader<'i>>::Place>> JuliaReader<'i> for R {}

/// BSON as Julia's BSON.jl and BSONqs write it.
pub struct FromJulia<'i, R: JuliaReader<'i>> {
    pub(super) julia: &'i Julia,
    /// Where the values stand that are referred to.
    pub(super) back_references: Vec<R::Place>,
    /// Types by their numbers; how many are being described, one within the other; and their classes.
    pub(super) described: Vec<Option<Rc<Described>>>,
    pub(super) describing: u32,
    pub(super) classes_held: Vec<Owned>,
    pub(super) symbols: HashMap<&'i [u8], Owned>,
    /// By the address of a set that is met again by its table, and a node: the set itself, and what was made of it.
    pub(super) sets_into: HashMap<(usize, NodeId), (Owned, Owned), rustc_hash::FxBuildHasher>,
    /// Where a mapping turned out to be pairs after others had referred to it as a dict: what was built is wrong there.
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

/// What a frame makes of the values that it gathers.
#[derive(Debug, Clone)]
pub enum JuliaMake {
    /// What a function makes of a type and the values of its fields.
    Value(Rc<Described>),
    /// A mapping, which the frame holds: its keys and values, which are of these nodes, and where it begins.
    Table(Rc<Described>, (NodeId, NodeId), usize),
    /// A type of that path: its parameters.
    Type(Owned),
    Simple,
    UnionAll,
    Anonymous,
}

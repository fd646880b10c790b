//! What bytes contain, without building it: a tree of values with their offsets and sizes, and totals.
//!
//! The bytes are read once, token by token. Memory grows only with what a reader has to remember: about 40 bytes for an
//! open container, 28 for an object with an id, 80 for a shape. Damage ends the walk but isn't an error: the result
//! describes what comes before it.
//!
//! Every byte counts for one value. The *own* bytes of a leaf are all of its bytes; those of a container are what its
//! members don't take (its head, its shape if it is new, the names of members in formats in which these aren't values).
//! Parts that aren't values for the program (the number of a date, the dimensions of an array) are own bytes as well.

mod kind;
mod text;
mod walk;

#[cfg(test)]
mod tests;

use crate::memory::Vec;
pub use kind::ValueKind;

use crate::error::Error;
use crate::model::{Reader, ShapeKind};

/// How much is shown.
#[derive(Debug, Clone, Copy)]
pub struct Options {
    /// How many levels below the outermost value.
    pub depth: usize,
    /// How many members of a container; how many of the objects with most references, and of shapes.
    pub most: usize,
    /// Whether short values are shown.
    pub values: bool,
    /// Whether bytes after the message count as damage.
    pub whole: bool,
}

/// The number of values, and the bytes that they take.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Sum {
    pub values: u64,
    pub bytes: u64,
}

impl Sum {
    /// Differences may be negative for a while, because a value's parts may be anywhere in the data.
    fn add(&mut self, values: u64, bytes: usize) {
        self.values += values;
        self.bytes = self.bytes.wrapping_add(bytes as u64);
    }
}

/// Where a value is in its container. Text is shortened, and its control characters are escaped.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Key {
    /// The outermost value.
    Root,
    /// In the back-reference table.
    BackReferences,
    Item(u64),
    Text(String),
    /// Under a key that isn't text; says the kind of the key.
    Other(String),
    Field(String),
    /// A part of an instance besides its fields, or the value that it is made from.
    Content,
}

/// A value that is shown.
#[derive(Debug, Clone)]
pub struct Node {
    /// The number of containers around it. Nodes come before what they contain.
    pub depth: usize,
    pub key: Key,
    pub kind: ValueKind,
    /// More about the kind: a class, the type and dimensions of an array.
    pub name: Option<String>,
    pub offset: usize,
    /// All of its bytes, including its content.
    pub bytes: usize,
    /// The number of items, pairs or fields.
    pub items: u64,
    /// Its object id, and the number of references to it.
    pub number: Option<u64>,
    pub references: u32,
    /// For a reference, the object id that it refers to.
    pub target: Option<u64>,
    pub value: Option<String>,
    /// The members that are not shown: their kinds and sizes, including content.
    pub rest: Vec<Rest>,
    /// Whether it is complete.
    pub whole: bool,
}

/// Members of one kind that are not shown.
#[derive(Debug, Clone)]
pub struct Rest {
    /// `None` for kinds beyond the most that are counted separately.
    pub kind: Option<ValueKind>,
    pub name: Option<String>,
    pub sum: Sum,
}

/// The instances of a shape, or of a described type.
#[derive(Debug, Clone)]
pub struct Class {
    pub name: Option<String>,
    /// `None` if the type is described instead.
    pub kind: Option<ShapeKind>,
    pub version: u64,
    pub fields: Vec<String>,
    pub field_count: usize,
    /// The instances, and their size with content; an instance within another of its class counts once.
    pub sum: Sum,
}

/// An object with references.
#[derive(Debug, Clone)]
pub struct Referred {
    pub number: u64,
    pub references: u32,
    pub kind: ValueKind,
    pub name: Option<String>,
    /// `None` for a shape's name.
    pub offset: Option<usize>,
}

/// What bytes contain.
#[derive(Debug)]
pub struct Inspection {
    /// In the order of the bytes.
    pub nodes: Vec<Node>,
    /// The kinds that occur, with their own bytes; the largest first.
    pub kinds: Vec<(ValueKind, Sum)>,
    /// The largest first.
    pub classes: Vec<Class>,
    pub class_count: usize,
    /// Those with most references first.
    pub referred: Vec<Referred>,
    /// Objects with an id; how many of them have references, and how many references there are.
    pub numbered: u64,
    pub shared: u64,
    pub references: u64,
    /// Bytes before the outermost value.
    pub head: usize,
    /// Bytes up to the end of the last value, or up to the damage: the sum of `head` and `kinds`.
    pub read: usize,
    /// The error that ended the walk, if one did.
    pub error: Option<Error>,
}

impl Inspection {
    /// For bytes that no reader accepts.
    pub fn of_nothing(error: Error) -> Inspection {
        Inspection {
            nodes: Vec::new(),
            kinds: Vec::new(),
            classes: Vec::new(),
            class_count: 0,
            referred: Vec::new(),
            numbered: 0,
            shared: 0,
            references: 0,
            head: 0,
            read: 0,
            error: Some(error),
        }
    }
}

/// Inspects the value that `reader` comes to next; `input` is all that it reads.
pub fn inspect<'i, R: Reader<'i>>(reader: R, input: &'i [u8], options: Options) -> Inspection {
    walk::Walk::new(reader, input, options).inspect()
}

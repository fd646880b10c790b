//! What bytes hold, without building it: a tree of what stands where and takes how much, and totals.
//!
//! The bytes are gone through once, token by token. Memory does not grow with them, but for what a reader has to know of them:
//! about 40 bytes for a container that is open, 28 for a numbered object, 80 for a shape. Damage ends the walk, not the
//! inspect: it says what stands before it.
//!
//! Every byte is accounted to one value: the *own* bytes of a leaf are all that it takes, those of a container what it takes
//! beside its members (its head, its shape if it is new, its members' names in formats where these are no values). Parts that
//! are no values to whoever made them (the ordinal of a date, the dimensions of an array) are its own.

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
    /// How many members of a container; how many of the objects that are referred to most, and of shapes.
    pub most: usize,
    /// Whether short values are told.
    pub values: bool,
    /// Whether bytes behind the message are damage.
    pub whole: bool,
}

/// How many values, and how many bytes they take.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Sum {
    pub values: u64,
    pub bytes: u64,
}

impl Sum {
    /// What follows in order may stand anywhere, so that a difference may be negative for a while.
    fn add(&mut self, values: u64, bytes: usize) {
        self.values += values;
        self.bytes = self.bytes.wrapping_add(bytes as u64);
    }
}

/// Where a value is in what holds it. Text is shortened, and shows no control characters.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Key {
    /// The outermost value.
    Root,
    /// One of the values that stand apart, to be referred to.
    BackReferences,
    Item(u64),
    Text(String),
    /// Under a key that is no text: what it is.
    Other(String),
    Field(String),
    /// What an instance is beside its fields, or is made of.
    Content,
}

/// A value that is shown.
#[derive(Debug, Clone)]
pub struct Node {
    /// Containers around it: nodes stand before what they hold.
    pub depth: usize,
    pub key: Key,
    pub kind: ValueKind,
    /// What more there is to say of the kind: a class, the type and dimensions of an array.
    pub name: Option<String>,
    pub offset: usize,
    /// All that it takes, with what it holds.
    pub bytes: usize,
    /// Items, pairs or fields.
    pub items: u64,
    /// The number that it can be referred to by, and how often it is.
    pub number: Option<u64>,
    pub references: u32,
    /// Of a reference, the number of what it refers to.
    pub target: Option<u64>,
    pub value: Option<String>,
    /// Members that are not shown: what they are, and what they take with all that they hold.
    pub rest: Vec<Rest>,
    /// Whether all of it is there.
    pub whole: bool,
}

/// Members of one kind that are not shown.
#[derive(Debug, Clone)]
pub struct Rest {
    /// Nothing for kinds that there was no room for.
    pub kind: Option<ValueKind>,
    pub name: Option<String>,
    pub sum: Sum,
}

/// Instances of one shape, or of one described type.
#[derive(Debug, Clone)]
pub struct Class {
    pub name: Option<String>,
    /// Nothing where the type is described instead.
    pub kind: Option<ShapeKind>,
    pub version: u64,
    pub fields: Vec<String>,
    pub field_count: usize,
    /// Instances, and what they take with what they hold; what is within others of the same class counts once.
    pub sum: Sum,
}

/// An object that is referred to.
#[derive(Debug, Clone)]
pub struct Referred {
    pub number: u64,
    pub references: u32,
    pub kind: ValueKind,
    pub name: Option<String>,
    /// Nothing for a shape's name.
    pub offset: Option<usize>,
}

/// What bytes hold.
#[derive(Debug)]
pub struct Inspection {
    /// In the order of the bytes.
    pub nodes: Vec<Node>,
    /// Values, with their own bytes; those that were met, the largest first.
    pub kinds: Vec<(ValueKind, Sum)>,
    /// The largest first.
    pub classes: Vec<Class>,
    pub class_count: usize,
    /// Those most referred to, first.
    pub referred: Vec<Referred>,
    /// Objects with a number; how many of them are referred to, and how often.
    pub numbered: u64,
    pub shared: u64,
    pub references: u64,
    /// Bytes before the outermost value.
    pub head: usize,
    /// Bytes up to where the last value ends, or the damage begins: those of `head` and of `kinds` together.
    pub read: usize,
    /// What ended it, if anything did.
    pub error: Option<Error>,
}

impl Inspection {
    /// Of bytes that no reader begins with.
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

/// The inspect of the value that `reader` comes to next; `input` is all that it reads.
pub fn inspect<'i, R: Reader<'i>>(reader: R, input: &'i [u8], options: Options) -> Inspection {
    walk::Walk::new(reader, input, options).inspect()
}

//! What a family of types asks of the walk that writes one of its instances.

use crate::cpython::{Obj, Owned};
use crate::error::Result;
use crate::memory::Vec;
use crate::types::numpy::dtype::Dtypes;
use crate::types::out_of_band::SentBuffers;
use holdall_format::model::{ShapeKind, TypeWriter};
use holdall_format::Writer;
use pyo3::prelude::*;

/// How many references there are to an object that nobody else holds: its parent's.
pub const BY_PARENT: isize = 1;
/// The same where a temporary of ours holds it as well.
pub const BY_PARENT_AND_US: isize = 2;

/// Something to write that may need a frame of its own.
#[derive(Debug, Clone)]
pub enum WorkItem {
    /// A value like any other.
    Value(Owned),
    /// A dict's key: the item after it is its value.
    Key(Owned),
    /// The same of a class's field, in a schemaless format: text, which errors may show.
    Field(Owned),
    /// A dict with its header, pair by pair, without its identity.
    Table(Owned),
    /// A builtin value with its header, without its identity: the content of a subclass's instance.
    Body(Owned),
    /// The bytes of a buffer.
    Octets(Owned),
    /// What stands for an object; whether it takes that one's id.
    Instead(Owned, bool),
    /// Nothing; but the object of that id can be referred to from here on.
    Made(u32),
    /// Nothing; but that set was walked over, with all within it.
    Walked(Owned),
    /// Nothing; but what the user's code gave ends here, and with it, if so, the document whose keys are not checked.
    Given { unchecked: bool },
}

/// Writes the parts of an object, in any format that has a form for its type.
pub trait Walker<'py> {
    type Writer: Writer;

    fn py(&self) -> Python<'py>;
    fn w(&mut self) -> &mut Self::Writer;

    /// Whether equal graphs are to give equal bytes.
    fn is_canonical(&self) -> bool;

    /// Writes `items` next, in order.
    fn then(&mut self, items: Vec<WorkItem>);

    /// The same of what `object` is made of, which is there only once all of these are: it can't be one of them itself.
    fn then_made(&mut self, object: Obj, items: Vec<WorkItem>);

    /// A dict with its header, pair by pair.
    fn dict_body(&mut self, dict: &Owned);

    /// Writes a reference and says yes if `object` was met before; else gives it an id, if more than `held` references say
    /// that it may be met again.
    ///
    /// # Safety
    /// `object` is alive.
    unsafe fn met(&mut self, object: Obj, held: isize) -> Result<bool>;

    /// Writes an object that has no form of its own by the caller's hook, or as a trusted message may; else says why not.
    ///
    /// # Safety
    /// `object` is alive and its id was written.
    unsafe fn refused(&mut self, object: Obj, why: &str) -> Result<()>;

    /// Says that the program's own code is about to run, after which reference counts tell nothing.
    fn asks_program(&mut self) -> Result<()>;

    /// Keeps a temporary alive until the message is whole.
    fn keep(&mut self, object: Owned) -> Obj;
}

/// The same in a format that has forms for all types.
pub trait TypeWalker<'py>: Walker<'py, Writer: TypeWriter> {
    /// Begins an instance of a class that is not there, by its name and those of its fields.
    fn record(&mut self, kind: ShapeKind, class: &str, version: u64, names: Vec<Owned>) -> Result<()>;

    /// The buffers that stand outside the message.
    fn buffers(&mut self) -> &mut SentBuffers;

    /// NumPy's dtypes that this message has met.
    fn dtypes(&mut self) -> &mut Dtypes;
}

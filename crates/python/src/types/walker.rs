//! What a family of types needs from the walk that writes its instances.

use crate::cpython::{Obj, Owned};
use crate::error::Result;
use crate::memory::{FxHashMap, Vec};
use crate::types::numpy::dtype::Dtypes;
use crate::types::out_of_band::SentBuffers;
use holdall_format::model::{ShapeKind, TypeWriter};
use holdall_format::Writer;
use pyo3::prelude::*;

/// The reference count of an object that only its parent holds.
pub const BY_PARENT: isize = 1;
/// The same if a temporary reference holds it as well.
pub const BY_PARENT_AND_US: isize = 2;

/// Something to write that may need a frame of its own.
#[derive(Debug, Clone)]
pub enum WorkItem {
    /// A value like any other.
    Value(Owned),
    /// A dict's key; the next item is its value.
    Key(Owned),
    /// The same for a class's field in a schemaless format: text that errors may show.
    Field(Owned),
    /// A dict with its head, pair by pair, without an id.
    Table(Owned),
    /// A builtin value with its head, without an id: the content of a subclass's instance.
    Body(Owned),
    /// The bytes of a buffer.
    Octets(Owned),
    /// A replacement object, and whether it takes over the original's id.
    Instead(Owned, bool),
    /// Writes nothing: from here on the object with that id can be referred to.
    Made(u32),
    /// Writes nothing: that set and everything in it has been walked over.
    Walked(Owned),
    /// Writes nothing: marks the end of what a hook returned and, if `unchecked`, of a document whose keys aren't
    /// checked.
    Given { unchecked: bool },
}

/// Writes the parts of an object, in any format that has a form for its type.
pub trait Walker<'py> {
    type Writer: Writer;

    fn py(&self) -> Python<'py>;
    fn w(&mut self) -> &mut Self::Writer;

    /// Whether equal graphs must give equal bytes.
    fn is_canonical(&self) -> bool;

    /// Writes `items` next, in order. Few are best given as an array: those that need no frame then need no memory either.
    fn then(&mut self, items: impl AsRef<[WorkItem]> + Into<Vec<WorkItem>>);

    /// Writes `object`, which the object that is being written holds as its last part.
    ///
    /// # Safety
    /// `object` is alive, and all that it holds are leaves.
    unsafe fn then_last(&mut self, object: Obj) -> Result<()>;

    /// Writes what a builtin's own iterator gives, which runs no code of Python's.
    fn then_each(&mut self, iterator: &Owned) -> Result<()>;

    /// The same for the parts of `object`, which exists only when all of them are there, so it can't be one of them.
    fn then_made(&mut self, object: Obj, items: Vec<WorkItem>);

    /// Writes a dict with its head, pair by pair.
    fn dict_body(&mut self, dict: &Owned) -> Result<()>;

    /// The same for an ordered dict, in its own order.
    ///
    /// # Safety
    /// `object` is an ordered dict, and alive.
    unsafe fn ordered_body(&mut self, object: Obj) -> Result<()>;

    /// Writes a reference and returns true if `object` occurred before; else gives it an id if it has more than `held`
    /// references and may occur again.
    ///
    /// # Safety
    /// `object` is alive.
    unsafe fn met(&mut self, object: Obj, held: isize) -> Result<bool>;

    /// Writes an object without a form of its own by the user's hook, or as a trusted message may; else says why not.
    ///
    /// # Safety
    /// `object` is alive and its id was written.
    unsafe fn refused(&mut self, object: Obj, why: &str) -> Result<()>;

    /// Says that the program's own code is about to run, after which reference counts no longer count.
    fn asks_program(&mut self) -> Result<()>;

    /// Keeps a temporary object alive until the message is complete.
    fn keep(&mut self, object: Owned) -> Obj;

    /// Whether parts without identity may be written where they are found: nobody is asked about them, and equal texts are not looked up.
    fn writes_at_once(&self) -> bool;

    /// Writes an ASCII text that is no object of the program's.
    fn text_once(&mut self, text: &str) -> Result<()>;
}

/// The same for a format with forms for all types.
pub trait TypeWalker<'py>: Walker<'py, Writer: TypeWriter> {
    /// Begins an instance of a missing class, by its name and those of its fields.
    fn record(&mut self, kind: ShapeKind, class: &str, version: u64, names: Vec<Owned>) -> Result<()>;

    /// The out-of-band buffers.
    fn buffers(&mut self) -> &mut SentBuffers;

    /// The NumPy dtypes that occurred in this message.
    fn dtypes(&mut self) -> &mut Dtypes;

    /// The addresses of the NumPy arrays whose memory held objects of this message.
    fn item_owners(&mut self) -> &mut Option<FxHashMap<usize, ()>>;
}

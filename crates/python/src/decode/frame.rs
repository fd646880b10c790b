//! A container that is being built.

use super::layout::Layout;
use crate::cpython::Owned;
use holdall_format::model::Known;
use std::rc::Rc;

/// What to do with the values that come.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// Into a list's next place.
    List,
    /// Into a tuple's next place.
    Tuple,
    /// Into the next value of a dict that was copied from its layout's template.
    Copied,
    /// Under the next key of the layout.
    Keyed,
    /// In turns a key, and the value to set under it.
    Pairs,
    /// Into a set.
    Set,
    /// Into the next field of an instance.
    Fields,
    /// Appended, by the object's own method.
    Append,
    /// As the default factory of a dict, whose items follow.
    Factory,
    /// Gathered; then the object is made of them.
    Gather,
    /// A trusted message's recipe, part by part.
    Reduce,
}

/// What a `Gather` frame makes.
#[derive(Debug, Clone)]
pub enum Make {
    FrozenSet,
    Known(Known),
    DateTime(u64),
    /// An instance of a class by its registered function.
    Custom(Rc<Layout>),
    Enum(Rc<Layout>),
    /// A subclass of an immutable builtin; its fields follow.
    Based(Rc<Layout>),
    /// An instance whose fields go through `upgrade` or have a place of another name.
    Upgraded(Rc<Layout>),
    Record(Rc<Layout>),
    /// Module and name.
    Global,
    Persistent,
}

#[derive(Debug)]
pub struct Frame {
    pub kind: Kind,
    /// Whether the object goes to the frame below when it is full; else it is there already.
    pub hand_over: bool,
    /// Values that are no leaves: the collector must know the dict.
    pub tracked: bool,
    /// Items are set at the end of the load, as some key can't be hashed before.
    pub deferring: bool,
    pub mark: u32,
    pub at: usize,
    pub len: usize,
    /// The offset of the container, for errors.
    pub offset: usize,
    pub object: Option<Owned>,
    pub layout: Option<Rc<Layout>>,
    /// In `Pairs`: the key whose value comes.
    pub key: Option<Owned>,
    pub gathered: Vec<Owned>,
    pub make: Option<Make>,
    /// In `Reduce`: flags that are still to come.
    pub flags: u8,
}

/// Something to hash once every instance has its fields.
#[derive(Debug)]
pub enum Deferred {
    Item { dict: Owned, key: Owned, value: Owned, offset: usize },
    Member { set: Owned, member: Owned, offset: usize },
}

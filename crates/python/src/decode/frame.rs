//! A container that is being built.

use crate::budget::hash_cost::{frees_by_recursion, hash_cost_of_instance, HashCost};
use crate::classes::how::Base;
use crate::cpython::Owned;
use crate::memory::Vec;
use crate::schema::{NodeId, ANY};
use crate::shapes::{Build, Shape};
use crate::types::extent;
use holdall_format::model::KnownType;
use pyo3::ffi;
use std::rc::Rc;

/// What to do with the values that come.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// Into a list's next place.
    List,
    /// Into a tuple's next place.
    Tuple,
    /// Into the next value of a dict that was copied from its shape's template.
    Copied,
    /// Under the next key of the shape.
    Keyed,
    /// In turns a key, and the value to set under it.
    Pairs,
    /// Into a set.
    Set,
    /// Into the next field of an instance.
    Fields,
    /// Appended, by the object's own method.
    Append,
    /// Into the next place of an array; `key` has the places.
    Array,
    /// As the default factory of a dict, whose items follow.
    Factory,
    /// Gathered; then the object is made of them.
    Gather,
    /// The same, where arrays among them come as lists.
    Lists,
    /// A trusted message's recipe, part by part.
    Reduce,
    /// Into the fields of an instance of a schema's class, each by its own type.
    Typed,
    /// Into the next value of a dict whose keys are expected.
    Expected,
}

/// What a `Gather` frame makes.
#[derive(Debug, Clone)]
pub enum Make<M> {
    FrozenSet,
    Known(KnownType),
    DateTime(u64),
    /// An instance of a class by its registered function.
    Custom(Rc<Shape>),
    Enum(Rc<Shape>),
    /// A subclass of an immutable builtin; its fields follow.
    Based(Rc<Shape>),
    /// An instance whose fields go through `upgrade` or have a place of another name.
    Upgraded(Rc<Shape>),
    Record(Rc<Shape>),
    /// The arguments of the exception that the frame holds.
    Exception,
    /// Module and name.
    Global,
    Persistent,
    /// What the format's dialect makes.
    Dialect(M),
    /// Code of that text; its variables follow.
    ScopedCode(Owned),
    /// What a recipe's object is made of, then what is done with it.
    Recipe {
        /// Of what is done with it, those that are still to come.
        flags: u8,
        /// How many items were waiting to be hashed when it began: later ones are of its own parts.
        deferred: usize,
    },
}

/// In a frame's flags. Its dict is a default dict.
pub const DEFAULT_DICT: u8 = 1;
/// Each item of the tuple has a type of its own: `item` is the tuple's node.
pub const FIXED: u8 = 2;
/// The dict is no plain one, or its keys are no strings.
pub const ODD: u8 = 4;
/// The dict is to be shown through a proxy.
pub const PROXY: u8 = 8;
/// The dict's keys are worth to be kept: others may have them too.
pub const LEARNS_KEYS: u8 = 16;
/// The dict is of a class of the user's, whose own way of setting an item is used.
pub const DOCUMENT: u8 = 32;
/// The tuple is a key, or a member of a set, or within one: so lists in it are tuples too.
pub const HASHED: u8 = 64;
/// The content of the record is a reference.
pub const NOT_ITS_OWN: u8 = 128;

/// Classes with more fields than this are built with what they lack looked up by reading it back.
pub const MOST_SEEN: usize = 64;

/// Which fields of an instance have come: one word, as every frame has it.
#[derive(Debug, Default, Clone, Copy)]
pub struct Seen(u64);

impl Seen {
    #[inline(always)]
    pub fn add(&mut self, field: usize) {
        self.0 |= 1 << (field % MOST_SEEN);
    }

    #[inline(always)]
    pub fn has(self, field: usize) -> bool {
        self.0 >> (field % MOST_SEEN) & 1 == 1
    }

    /// Whether the first `fields` have come, all of them; of more than it can tell, never.
    #[inline(always)]
    pub fn is_full(self, fields: usize) -> bool {
        match fields {
            0..MOST_SEEN => self.0 == (1 << fields) - 1,
            MOST_SEEN => self.0 == u64::MAX,
            _ => false,
        }
    }
}

#[derive(Debug)]
pub struct Frame<M> {
    pub kind: Kind,
    /// Whether the object goes to the frame below when it is full; else it is there already.
    pub hand_over: bool,
    /// Items are set at the end of the load, as some key can't be hashed before.
    pub deferring: bool,
    pub object_id: u32,
    /// Where on the stack the tuples (and the like) begin that directly hold this one.
    pub chain: u32,
    pub at: usize,
    pub len: usize,
    /// The offset of the container, for errors.
    pub offset: usize,
    pub object: Option<Owned>,
    pub shape: Option<Rc<Shape>>,
    /// In `Pairs`: the key whose value comes.
    pub key: Option<Owned>,
    /// `DEFAULT_DICT` and the like.
    pub flags: u8,
    /// What its values must be; in `Pairs`, and where `FIXED`, the node of the container itself.
    pub item: NodeId,
    /// What the object must be made into once it is whole.
    pub check: NodeId,
    /// In `Typed`: the field whose value comes, and the one expected after it; then, which have come. In `Pairs`, `next` is the bits of
    /// what comparing the key costs (`key_cost`): a frame is moved for every container, and has no room to spare.
    pub field: u16,
    pub next: u16,
    pub seen: Seen,
    /// How deep, and how much in all, hashing the object would go (see `HashCost`).
    pub hash_cost: HashCost,
    /// What few frames need, apart: a frame is moved for every container.
    pub parts: Option<Box<Parts<M>>>,
}

/// What is gathered, and for what.
#[derive(Debug)]
pub struct Parts<M> {
    pub gathered: Vec<Owned>,
    /// Of a frozenset's members, what comparing each costs (`HashCost::values`), and what those so far weigh in all.
    pub hash_costs: Vec<u32>,
    pub cost_so_far: u32,
    pub make: Option<Make<M>>,
}

impl<M> Default for Parts<M> {
    fn default() -> Self {
        Parts { gathered: Vec::new(), hash_costs: Vec::new(), cost_so_far: 0, make: None }
    }
}

impl<M> Frame<M> {
    #[inline(always)]
    pub fn new(kind: Kind, object: Option<Owned>, len: usize, object_id: u32, offset: usize) -> Self {
        Frame {
            kind,
            hand_over: true,
            deferring: false,
            flags: 0,
            hash_cost: HashCost::default(),
            object_id,
            chain: 0,
            at: 0,
            len,
            offset,
            object,
            shape: None,
            key: None,
            item: ANY,
            check: ANY,
            field: 0,
            next: 0,
            seen: Seen::default(),
            parts: None,
        }
    }

    /// A frame that gathers what an object is made of.
    pub fn gather(make: Make<M>, object: Option<Owned>, len: usize, object_id: u32, offset: usize) -> Self {
        let parts = Parts { gathered: Vec::with_capacity(len.min(64)), make: Some(make), ..Parts::default() };
        Frame { parts: Some(Box::new(parts)), ..Frame::new(Kind::Gather, object, len, object_id, offset) }
    }

    /// In `Pairs`: the key whose value comes, and what comparing it costs (`HashCost::values`, rounded up to bits).
    pub fn set_key(&mut self, key: Owned, hash_cost: u32) {
        self.key = Some(key);
        self.next = (u32::BITS - hash_cost.leading_zeros()) as u16;
    }

    pub fn key_cost(&self) -> u32 {
        u32::MAX.checked_shr(u32::BITS - u32::from(self.next)).unwrap_or(0)
    }

    /// Whether what it builds has its value from what it holds, and can't be changed: it can't hold itself through
    /// its like alone.
    pub fn is_value(&self) -> bool {
        match self.kind {
            Kind::Tuple => true,
            Kind::Gather | Kind::Lists => {
                self.object.is_none()
                    || self.parts.as_ref().is_some_and(|parts| matches!(parts.make, Some(Make::FrozenSet)))
            }
            _ => false,
        }
    }

    pub fn gathered(&mut self) -> &mut Vec<Owned> {
        &mut self.parts.get_or_insert_default().gathered
    }
}

/// Something to hash once every instance has its fields.
#[derive(Debug)]
pub enum Deferred {
    Item {
        dict: Owned,
        key: Owned,
        value: Owned,
        offset: usize,
    },
    Member {
        set: Owned,
        member: Owned,
        offset: usize,
    },
    /// A frozenset's members, all of them.
    Frozen {
        set: Owned,
        members: Vec<Owned>,
        offset: usize,
    },
}

impl Deferred {
    /// What is hashed by itself, and where it stands.
    pub fn key(&self) -> Option<(&Owned, usize)> {
        match self {
            Deferred::Item { key, offset, .. } | Deferred::Member { member: key, offset, .. } => Some((key, *offset)),
            Deferred::Frozen { .. } => None,
        }
    }
}

fn is_of_exception<M>(make: &Make<M>) -> bool {
    match make {
        Make::Exception => true,
        Make::Based(shape) => matches!(shape.build, Build::Based { base: Base::Exception, .. }),
        _ => false,
    }
}

/// Whether a dict or tuple is only there to tell what an exception is made of: then freeing goes past it.
#[inline(always)]
pub(crate) fn hash_cost_in_content<M>(frame: &Frame<M>, below: &[Frame<M>]) -> bool {
    let is_of_exception = |frame: Option<&Frame<M>>| {
        let make = frame.and_then(|frame| frame.parts.as_deref()?.make.as_ref());
        make.is_some_and(is_of_exception)
    };
    if frame.hash_cost.freeing == 0 {
        return false;
    }
    match frame.kind {
        Kind::Tuple => is_of_exception(below.last()),
        Kind::Copied | Kind::Keyed | Kind::Pairs => {
            let under = below.len().checked_sub(2).and_then(|at| below.get(at));
            below.last().is_some_and(|tuple| tuple.kind == Kind::Tuple) && is_of_exception(under)
        }
        _ => false,
    }
}

/// What hashing (or freeing) the object of a full frame costs whoever holds it.
#[inline(always)]
pub(crate) fn hash_cost_of<M>(frame: &Frame<M>) -> HashCost {
    let held = frame.hash_cost;
    match frame.kind {
        Kind::Pairs if frame.flags & DEFAULT_DICT == 0 => HashCost::default(),
        Kind::Pairs | Kind::Append => held.freed(HashCost::OF_DEQUE),
        Kind::List | Kind::Copied | Kind::Expected | Kind::Keyed | Kind::Set | Kind::Lists | Kind::Factory => {
            HashCost::default()
        }
        Kind::Fields | Kind::Reduce | Kind::Typed => match &frame.object {
            // SAFETY: held.
            Some(object) => unsafe { hash_cost_of_instance(object.get(), held, frame.len) },
            None => held,
        },
        // It keeps its hash, and CPython frees it without recursion.
        Kind::Gather if is_frozenset(frame) => HashCost { depth: 1, freeing: 0, values: 1 },
        Kind::Tuple => held.around(1, frame.len),
        Kind::Array => held.freed(HashCost::OF_ARRAY),
        Kind::Gather => {
            let whole = held.around(1, frame.len);
            let freeing = match frame.parts.as_deref().and_then(|parts| parts.make.as_ref()) {
                Some(Make::Known(KnownType::PythonSlice)) => held.freed(HashCost::OF_SLICE).freeing,
                Some(make) if is_of_exception(make) => {
                    let class = match make {
                        Make::Based(shape) => match &shape.build {
                            Build::Based { class, .. } => *class,
                            _ => std::ptr::null_mut(),
                        },
                        // SAFETY: held, where it is there.
                        _ => frame
                            .object
                            .as_ref()
                            .map_or(std::ptr::null_mut(), |made| unsafe { ffi::Py_TYPE(made.get()) }),
                    };
                    match class.is_null() || frees_by_recursion(class) {
                        true => held.freed(HashCost::OF_EXCEPTION).freeing,
                        false => 0,
                    }
                }
                _ => 0,
            };
            HashCost { freeing, values: whole.values.saturating_add(own_values(frame)), ..whole }
        }
    }
}

/// What hashing costs beside the parts: code of the standard library's; of a pattern, the program that it was compiled to.
fn own_values<M>(frame: &Frame<M>) -> u32 {
    /// The most for a byte: a set of characters in several ranges.
    const OF_PATTERN: usize = 128;
    match frame.parts.as_deref() {
        Some(Parts { make: Some(Make::Known(KnownType::PythonPattern)), gathered, .. }) => {
            let text = gathered.first().map_or(0, extent);
            u32::try_from(OF_PATTERN * text).unwrap_or(u32::MAX)
        }
        // Its hash is a power, modulo a prime.
        Some(Parts { make: Some(Make::Known(KnownType::Fraction)), gathered, .. }) => {
            u32::try_from(gathered.iter().map(extent).sum::<usize>()).unwrap_or(u32::MAX).saturating_add(100)
        }
        _ => HashCost::VALUES_OF_CODE,
    }
}

fn is_frozenset<M>(frame: &Frame<M>) -> bool {
    matches!(frame.parts.as_deref(), Some(Parts { make: Some(Make::FrozenSet), .. }))
}

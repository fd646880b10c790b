//! A frame: a container that is being built.

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

/// What the frame does with each value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// Stores it into the list's next slot.
    List,
    /// Stores it into the tuple's next slot.
    Tuple,
    /// Replaces the next value of a dict that is a copy of its shape's template.
    Copied,
    /// Sets it under the shape's next key.
    Keyed,
    /// Takes it as a key, or as the value for the key before, by turns.
    Pairs,
    /// Adds it to a set.
    Set,
    /// Stores it into the instance's next field.
    Fields,
    /// Appends it by the object's own method.
    Append,
    /// Stores it into the array's next item, through the view (or list of views) in `key`.
    Array,
    /// Sets it as the default factory of a dict, whose items follow.
    Factory,
    /// Gathers it; the object is made from all of them.
    Gather,
    /// The same for the keys and values of a Julia table, which come as lists.
    Lists,
    /// Takes it as the next part of a recipe, in a trusted message.
    Reduce,
    /// Stores it into a field of an instance of a schema's class; each field has its own node.
    Typed,
    /// Replaces the next value of a dict whose keys the inline cache predicts.
    Expected,
}

/// What to make from the gathered values.
#[derive(Debug, Clone)]
pub enum Make<M> {
    FrozenSet,
    Known(KnownType),
    DateTime(u64),
    /// An instance, by the registered `decode` of its class.
    Custom(Rc<Shape>),
    Enum(Rc<Shape>),
    /// An instance of a subclass of an immutable builtin; its fields follow.
    Based(Rc<Shape>),
    /// An instance whose fields go through `upgrade`, or lack some that have defaults.
    Upgraded(Rc<Shape>),
    Record(Rc<Shape>),
    /// What a resolver has decided on.
    Decided(Rc<Shape>),
    /// The exception in the frame gets its arguments.
    Exception,
    /// An object by module and name.
    Global,
    Persistent,
    /// A value of the dialect's own.
    Dialect(M),
    /// Code with this text; its variables follow.
    ScopedCode(Owned),
    /// The object of a recipe, to which later parts are applied.
    Recipe {
        /// The kinds of parts that are still to come after the object was made.
        flags: u8,
        /// How many items were deferred when it began: later ones belong to its own parts.
        deferred: usize,
    },
}

/// A frame's flags. This one: the dict is a default dict.
pub const DEFAULT_DICT: u8 = 1;
/// Each item of the tuple has its own node; `item` is the node of the tuple.
pub const FIXED: u8 = 2;
/// The dict is not a plain dict, or its keys are not strings.
pub const ODD: u8 = 4;
/// The dict will be wrapped in a mappingproxy.
pub const PROXY: u8 = 8;
/// The inline cache keeps the dict's keys, since later dicts may have the same.
pub const LEARNS_KEYS: u8 = 16;
/// The mapping is of a class that the user chose, and items are set by its own `__setitem__`.
pub const DOCUMENT: u8 = 32;
/// The tuple is a dict's key or a set's member, or within one: lists in it become tuples too.
pub const HASHED: u8 = 64;
/// The content of the record is a reference.
pub const NOT_ITS_OWN: u8 = 128;

/// Of classes with more fields than this, missing fields are found by reading the instance.
pub const MOST_SEEN: usize = 64;

/// Which fields of an instance have come: one word, since every frame has it.
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

    /// Whether all of the first `fields` have come; `false` for more fields than there are bits.
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
    /// Whether the finished object goes to the frame below; if not, it is there already.
    pub hand_over: bool,
    /// The items are set at the end of the load, because some key can't be hashed earlier.
    pub deferring: bool,
    pub object_id: u32,
    /// The stack index where the unbroken run of tuples (and the like) begins that contains this frame.
    pub chain: u32,
    pub at: usize,
    pub len: usize,
    /// The container's offset in the message, for errors.
    pub offset: usize,
    pub object: Option<Owned>,
    pub shape: Option<Rc<Shape>>,
    /// In `Pairs`: the key whose value comes next. Other kinds keep an object here that they need besides.
    pub key: Option<Owned>,
    /// [`DEFAULT_DICT`] and the constants after it.
    pub flags: u8,
    /// The node of its values; in `Pairs` and with `FIXED`, the node of the container itself.
    pub item: NodeId,
    /// The node that the finished object is coerced to.
    pub check: NodeId,
    /// In `Typed`: the field whose value comes; the place in `Typed::order` expected next; the fields that have come.
    /// In `Pairs`, `next` is the bit length of the cost of comparing the key (`key_cost`): a frame is moved for every
    /// container and has no room to spare.
    pub field: u16,
    pub next: u16,
    pub seen: Seen,
    /// The hash cost of the content so far.
    pub hash_cost: HashCost,
    /// Rarely used data, boxed because a frame is moved for every container.
    pub parts: Option<Box<Parts<M>>>,
}

/// The gathered values, and what to make from them.
#[derive(Debug)]
pub struct Parts<M> {
    pub gathered: Vec<Owned>,
    /// For a frozenset: what comparing each member costs (`HashCost::values`), and the sum of those so far.
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

    /// A frame that gathers the parts of an object.
    pub fn gather(make: Make<M>, object: Option<Owned>, len: usize, object_id: u32, offset: usize) -> Self {
        let parts = Parts { gathered: Vec::with_capacity(len.min(64)), make: Some(make), ..Parts::default() };
        Frame { parts: Some(Box::new(parts)), ..Frame::new(Kind::Gather, object, len, object_id, offset) }
    }

    /// In `Pairs`: stores the key, and what comparing it costs (`HashCost::values`, rounded up to a bit length).
    pub fn set_key(&mut self, key: Owned, hash_cost: u32) {
        self.key = Some(key);
        self.next = (u32::BITS - hash_cost.leading_zeros()) as u16;
    }

    pub fn key_cost(&self) -> u32 {
        u32::MAX.checked_shr(u32::BITS - u32::from(self.next)).unwrap_or(0)
    }

    /// Whether the object's value is its content and can't change: such objects can't contain themselves through
    /// objects of this kind alone.
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

/// Something that is hashed only once every instance has its fields.
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
    /// All members of a frozenset.
    Frozen {
        set: Owned,
        members: Vec<Owned>,
        offset: usize,
    },
}

impl Deferred {
    /// The key or member to hash, and its offset.
    pub fn key(&self) -> Option<(&Owned, usize)> {
        match self {
            Deferred::Item { key, offset, .. } | Deferred::Member { member: key, offset, .. } => Some((key, *offset)),
            Deferred::Frozen { .. } => None,
        }
    }
}

/// Whether the object will hold what is in the tuple that it is made of: an exception, a struct sequence.
fn takes_content<M>(make: &Make<M>) -> bool {
    match make {
        Make::Exception => true,
        Make::Based(shape) => matches!(shape.build, Build::Based { base: Base::Exception | Base::StructSequence, .. }),
        _ => false,
    }
}

/// Whether a dict or tuple only carries the content of an exception or a struct sequence: that will hold what is in it, so the depth of
/// freeing goes on from there.
#[inline(always)]
pub(crate) fn hash_cost_in_content<M>(frame: &Frame<M>, below: &[Frame<M>]) -> bool {
    let takes_content = |frame: Option<&Frame<M>>| {
        let make = frame.and_then(|frame| frame.parts.as_deref()?.make.as_ref());
        make.is_some_and(takes_content)
    };
    if frame.hash_cost.freeing == 0 {
        return false;
    }
    match frame.kind {
        Kind::Tuple => takes_content(below.last()),
        Kind::Copied | Kind::Keyed | Kind::Pairs => {
            let under = below.len().checked_sub(2).and_then(|at| below.get(at));
            below.last().is_some_and(|tuple| tuple.kind == Kind::Tuple) && takes_content(under)
        }
        _ => false,
    }
}

/// The hash cost that the object of a full frame adds to its container.
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
            // SAFETY: the frame holds `object`.
            Some(object) => unsafe { hash_cost_of_instance(object.get(), held, frame.len) },
            None => held,
        },
        // A frozenset stores its hash, and CPython frees it without recursion.
        Kind::Gather if is_frozenset(frame) => HashCost { depth: 1, freeing: 0, values: 1 },
        Kind::Tuple => held.around(1, frame.len),
        Kind::Array => held.freed(HashCost::OF_ARRAY),
        Kind::Gather => {
            if let Some(Parts { make: Some(Make::Known(known)), gathered, .. }) = frame.parts.as_deref() {
                return hash_cost_of_known(*known, gathered, held);
            }
            let whole = held.around(1, frame.len);
            let freeing = match frame.parts.as_deref().and_then(|parts| parts.make.as_ref()) {
                Some(make) if takes_content(make) => {
                    let class = match make {
                        Make::Based(shape) => match &shape.build {
                            Build::Based { class, .. } => *class,
                            _ => std::ptr::null_mut(),
                        },
                        // SAFETY: the frame holds the exception, if it has been made.
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
            HashCost { freeing, values: whole.values.saturating_add(HashCost::VALUES_OF_CODE), ..whole }
        }
    }
}

/// The hash cost of an object of a known type that is made from its parts: theirs, and that of code in the standard
/// library; of a pattern, that of the program compiled from it.
pub(crate) fn hash_cost_of_known(known: KnownType, parts: &[Owned], held: HashCost) -> HashCost {
    /// The most for a byte of the pattern: a set of characters in several ranges.
    const OF_PATTERN: usize = 128;
    let own = match known {
        KnownType::PythonPattern => {
            let text = parts.first().map_or(0, extent);
            u32::try_from(OF_PATTERN * text).unwrap_or(u32::MAX)
        }
        // The hash of a fraction is a power modulo a prime.
        KnownType::Fraction => {
            u32::try_from(parts.iter().map(extent).sum::<usize>()).unwrap_or(u32::MAX).saturating_add(100)
        }
        _ => HashCost::VALUES_OF_CODE,
    };
    let freeing = if known == KnownType::PythonSlice { held.freed(HashCost::OF_SLICE).freeing } else { 0 };
    let whole = held.around(1, parts.len());
    HashCost { freeing, values: whole.values.saturating_add(own), ..whole }
}

fn is_frozenset<M>(frame: &Frame<M>) -> bool {
    matches!(frame.parts.as_deref(), Some(Parts { make: Some(Make::FrozenSet), .. }))
}

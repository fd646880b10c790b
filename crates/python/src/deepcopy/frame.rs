//! An unfinished copy, and the content that it still needs.

use crate::classes::how::Base;
use crate::classes::plan::Plan;
use crate::cpython::{float, int, text, Obj, Owned};
use crate::deepcopy::NO_ID;
use crate::memory::Vec;
use pyo3::ffi;
use std::ptr::addr_of_mut;
use std::rc::Rc;

/// Which contents of a copy are still to be copied.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// The items of a list.
    List,
    /// The items of a tuple of a class whose instances are always copied.
    Tuple,
    /// The values of a dict whose keys are strings, by position.
    Values,
    /// The values of a dict whose keys are their own copies, by key.
    Keyed,
    /// The slots of an instance.
    Slots,
    /// The items of a tuple that is its own copy if they all are: `object` is the source.
    Shared,
    /// Alternating keys and values, to be put into a dict.
    Pairs,
    /// Members, to be put into a set.
    Members,
    /// Parts that an object is made from: see `recipe`.
    Recipe,
    /// None: it waits for the frames above. A dict delivered to it becomes the instance's `__dict__`.
    Rest,
}

/// An unfinished copy.
pub struct Frame {
    pub kind: Kind,
    /// Whether the copy is delivered to the frame below when it is complete; else its parent has it already.
    pub hand_over: bool,
    pub id: u32,
    pub at: usize,
    pub len: usize,
    pub object: Owned,
    pub extra: Extra,
}

pub enum Extra {
    None,
    /// For `Slots`.
    Plan(Rc<Plan>),
    /// For `Shared`: the copy, made once an item's copy differs from the item.
    Tuple(Owned),
    /// For `Pairs` and `Members`.
    Parts(Box<Parts>),
    Recipe(Box<Recipe>),
}

/// What is made from the parts. The first four stay the same object if all parts do.
pub enum Make {
    FrozenSet,
    Slice,
    /// A method: this function, bound to the part.
    Method(Owned),
    Proxy,
    /// An instance of a subclass of an immutable builtin, from a value of that builtin.
    Based(Base, Rc<Plan>),
    /// The part holds its arguments and fields. An exception group is made from them; other exceptions are filled with
    /// them.
    Exception(Rc<Plan>),
    /// An array of objects that exists already: the parts are stored through this flat view.
    Array(Owned),
    /// What `__reduce_ex__` returned.
    Reduce(Reduce),
}

pub struct Recipe {
    pub parts: Vec<Owned>,
    /// The object is made from this many parts; the others are put into it afterwards.
    pub made_of: usize,
    pub make: Make,
    /// The copy, once it is made.
    pub made: Option<Owned>,
    /// Some part's copy differs from the part.
    pub changed: bool,
}

/// The parts after the arguments, in order: the state, items to append, keys and values to set.
pub struct Reduce {
    pub function: Owned,
    pub has_state: bool,
    pub setter: Option<Owned>,
    pub items: usize,
}

pub struct Parts {
    pub parts: Vec<Owned>,
    /// Items are set after the walk, because a key could not be hashed yet.
    pub deferring: bool,
}

/// Whether an object is of one of the common types whose objects are their own copies.
///
/// # Safety
/// `object` is alive.
#[inline(always)]
pub unsafe fn leaf(object: Obj) -> bool {
    // SAFETY: `object` is alive by contract.
    unsafe {
        text::is(object)
            || int::is(object)
            || float::is(object)
            || object == ffi::Py_None()
            || ffi::Py_TYPE(object) == addr_of_mut!(ffi::PyBool_Type)
            || ffi::Py_TYPE(object) == addr_of_mut!(ffi::PyBytes_Type)
    }
}

/// The items of a list or tuple (or of a subclass's instance).
///
/// # Safety
/// `object` is a list or tuple that stays unchanged while the slice is used.
#[inline(always)]
pub unsafe fn places<'a>(object: Obj) -> &'a [Obj] {
    // SAFETY: the type says which array there is, and `Py_SIZE` is its length; the contract keeps the object unchanged.
    unsafe {
        let len = ffi::Py_SIZE(object) as usize;
        let start: *const Obj = if ffi::PyList_Check(object) != 0 {
            (*object.cast::<ffi::PyListObject>()).ob_item
        } else {
            addr_of_mut!((*object.cast::<ffi::PyTupleObject>()).ob_item).cast()
        };
        // An empty list's array may be null, which a slice's address must not be.
        if len == 0 {
            return &[];
        }
        std::slice::from_raw_parts(start, len)
    }
}

/// A frame that waits for those above it.
pub fn rest(object: &Owned, id: u32, whole: bool) -> Frame {
    Frame { kind: Kind::Rest, hand_over: whole, id, at: 0, len: 0, object: object.clone(), extra: Extra::None }
}

/// A frame that replaces content in place, for the `Rest` frame below it.
pub fn content(kind: Kind, object: &Owned, len: usize, extra: Extra) -> Frame {
    Frame { kind, hand_over: false, id: NO_ID, at: 0, len, object: object.clone(), extra }
}

//! A copy that is not whole, and what it holds.

use crate::classes::how::Base;
use crate::classes::plan::Plan;
use crate::cpython::{float, int, text, Obj, Owned};
use crate::deepcopy::UNNUMBERED;
use crate::memory::Vec;
use pyo3::ffi;
use std::ptr::addr_of_mut;
use std::rc::Rc;

/// Which places of a copy are still to be looked at.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// Of a list.
    List,
    /// Of a tuple of a class whose instances are always copied.
    Tuple,
    /// Values of a dict whose keys are strings, by their place.
    Values,
    /// Values of a dict whose keys are their own copies, by key.
    Keyed,
    /// Of an instance.
    Slots,
    /// A tuple, which is its own copy if its items are: `object` is the source.
    Shared,
    /// Keys and values in turn, put into a dict.
    Pairs,
    /// Members, put into a set.
    Members,
    /// Parts that an object is made of: see `recipe`.
    Recipe,
    /// None: it waits for the frames above. What is handed to it becomes the instance's `__dict__`.
    Rest,
}

/// A copy that is not whole.
pub struct Frame {
    pub kind: Kind,
    /// Whether it goes to the frame below once it is whole; else it is there already.
    pub hand_over: bool,
    pub number: u32,
    pub at: usize,
    pub len: usize,
    pub object: Owned,
    pub extra: Extra,
}

pub enum Extra {
    None,
    /// In `Slots`.
    Plan(Rc<Plan>),
    /// In `Shared`: the copy, once an item has turned out to differ.
    Tuple(Owned),
    /// In `Pairs` and `Members`.
    Parts(Box<Parts>),
    Recipe(Box<Recipe>),
}

/// What the parts become. The first four are their own copies if their parts are.
pub enum Make {
    FrozenSet,
    Slice,
    /// The parts' instance with this function.
    Method(Owned),
    Proxy,
    /// An instance of a subclass of an immutable builtin, of that builtin's value.
    Based(Base, Rc<Plan>),
    /// The part is its arguments and fields: of which it is made, if it is a group, or which are put into it.
    Exception(Rc<Plan>),
    /// An array of objects, made already: the parts go into this flat view of it.
    Array(Owned),
    /// What `__reduce_ex__` said.
    Reduce(Reduce),
}

pub struct Recipe {
    pub parts: Vec<Owned>,
    /// The object is made of so many of them; the rest is put into it.
    pub made_of: usize,
    pub make: Make,
    /// The copy, once it is made.
    pub made: Option<Owned>,
    /// Some part is not its own copy.
    pub changed: bool,
}

/// What comes after the arguments, in the order of the parts: a state, items to append, keys and values.
pub struct Reduce {
    pub function: Owned,
    pub has_state: bool,
    pub setter: Option<Owned>,
    pub items: usize,
}

pub struct Parts {
    pub parts: Vec<Owned>,
    /// Items are set at the end, as some key could not be hashed before.
    pub deferring: bool,
}

/// Whether an object is its own copy, and of the types that most objects are.
///
/// # Safety
/// `object` is alive.
#[inline(always)]
pub unsafe fn leaf(object: Obj) -> bool {
    // SAFETY: alive, says the caller.
    unsafe {
        text::is(object)
            || int::is(object)
            || float::is(object)
            || object == ffi::Py_None()
            || ffi::Py_TYPE(object) == addr_of_mut!(ffi::PyBool_Type)
            || ffi::Py_TYPE(object) == addr_of_mut!(ffi::PyBytes_Type)
    }
}

/// The places of a list or tuple (or of a subclass's instance).
///
/// # Safety
/// `object` is one, and unchanged while the slice is used.
#[inline(always)]
pub unsafe fn places<'a>(object: Obj) -> &'a [Obj] {
    // SAFETY: of that type, says the caller.
    unsafe {
        let len = ffi::Py_SIZE(object) as usize;
        let start: *const Obj = if ffi::PyList_Check(object) != 0 {
            (*object.cast::<ffi::PyListObject>()).ob_item
        } else {
            addr_of_mut!((*object.cast::<ffi::PyTupleObject>()).ob_item).cast()
        };
        // An empty list's array is null, which a slice must not be.
        if len == 0 {
            return &[];
        }
        std::slice::from_raw_parts(start, len)
    }
}

/// A frame that waits for those above.
pub fn rest(object: &Owned, number: u32, whole: bool) -> Frame {
    Frame { kind: Kind::Rest, hand_over: whole, number, at: 0, len: 0, object: object.clone(), extra: Extra::None }
}

/// A frame that transforms in place, and belongs to one of kind `Rest` below.
pub fn content(kind: Kind, object: &Owned, len: usize, extra: Extra) -> Frame {
    Frame { kind, hand_over: false, number: UNNUMBERED, at: 0, len, object: object.clone(), extra }
}

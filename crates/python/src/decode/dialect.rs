//! What a dialect changes in the loop: it reads a format as another program writes it.
//!
//! Each dialect has a folder in `dialect/`. The loop is compiled once for each, so a hook that a dialect does not
//! override costs nothing.

use super::frame::{hash_cost_of, Frame};
use super::hashed::Adding;
use super::{scratch, Decoder};
use crate::budget::hash_cost::HashCost;
use crate::cpython::{new_bytes, Obj, Owned};
use crate::error::{decode, raised, Fault, Result};
use crate::memory::Vec;
use crate::schema::{NodeId, ANY};
use crate::types::bson_values;
use holdall_format::model::{LispValue, TypedValue};
use holdall_format::{Reader, Token};
use pyo3::ffi;
use std::convert::Infallible;
use std::fmt::Debug;
use std::marker::PhantomData;

pub(super) const OUT_OF_PLACE: &str = "a token out of place";

/// The rules by which a decoder builds objects.
pub trait Dialect<'i>: Sized {
    type Reader: Reader<'i>;
    /// What can be made from gathered values, in addition to what all formats have.
    type Make: Clone + Debug + 'static;

    /// Objects that are referred to are in a table, and are built at the first reference.
    const BACK_REFERENCES: bool = false;

    /// The first list that a `Lists` frame gathers holds keys.
    const LISTS_BEGIN_WITH_KEYS: bool = false;

    /// Whether [`Dialect::make`] hashes parts that it gets for this.
    #[inline(always)]
    fn hashes_parts(_make: &Self::Make) -> bool {
        false
    }

    /// Where a thread keeps the tables of a decoder for the next; none: they are made anew.
    #[inline(always)]
    fn scratch() -> Option<&'static scratch::Place<Self::Make>> {
        None
    }

    /// Called before the outermost value is read.
    #[inline(always)]
    fn start(_: &mut Decoder<'i, Self>) -> Result<()> {
        Ok(())
    }

    /// Called after all values are built.
    #[inline(always)]
    fn finish(_: &mut Decoder<'i, Self>) -> Result<()> {
        Ok(())
    }

    /// Makes a string from bytes that are not UTF-8. `None`: they are an error.
    #[cold]
    fn not_utf8(_: &Decoder<'i, Self>, _bytes: &[u8]) -> Option<Result<Owned>> {
        None
    }

    /// Makes an object from bytes.
    #[inline(always)]
    fn bytes(decoder: &mut Decoder<'i, Self>, bytes: &'i [u8]) -> Result<Option<Owned>> {
        // SAFETY: the GIL is held while a decoder lives.
        decoder.done(unsafe { new_bytes(bytes) })
    }

    /// Makes an object from bytes with a BSON subtype.
    fn binary(decoder: &Decoder<'i, Self>, subtype: u8, data: &[u8]) -> Result<Owned> {
        bson_values::binary(decoder.py, subtype, data)
    }

    /// Makes or starts a typed value.
    fn typed_value(decoder: &mut Decoder<'i, Self>, _value: TypedValue<'i>) -> Result<Option<Owned>> {
        Err(decode(OUT_OF_PLACE, decoder.here()))
    }

    /// Makes or begins a value of Common Lisp.
    fn lisp_value(decoder: &mut Decoder<'i, Self>, _value: LispValue<'i>) -> Result<Option<Owned>> {
        Err(decode(OUT_OF_PLACE, decoder.here()))
    }

    /// Begins a tuple.
    #[inline(always)]
    fn tuple(decoder: &mut Decoder<'i, Self>, len: usize) -> Result<Option<Owned>> {
        decoder.begin_tuple(len, ANY, 0)
    }

    /// Called with the frame of a list that has all its items, which was taken off the stack. Returns it, unless more of the list
    /// follows, for which a frame was pushed.
    #[inline(always)]
    fn end_of_list(_: &mut Decoder<'i, Self>, frame: Option<Frame<Self::Make>>) -> Result<Option<Frame<Self::Make>>> {
        Ok(frame)
    }

    /// Makes an object from a point in time. `None`: the default does.
    #[inline(always)]
    fn moment(_: &Decoder<'i, Self>, _seconds: i64, _nanoseconds: u32) -> Result<Option<Owned>> {
        Ok(None)
    }

    /// Starts a dict that ends at the offset `end`. Outer `None`: the default does; inner `None`: it has a frame.
    #[inline(always)]
    fn members(_: &mut Decoder<'i, Self>, _end: usize) -> Result<Option<Option<Owned>>> {
        Ok(None)
    }

    /// Replaces a finished dict by what it stands for.
    #[inline(always)]
    fn whole_dict(_: &mut Decoder<'i, Self>, dict: Owned) -> Result<Owned> {
        Ok(dict)
    }

    /// Called when something refers to the object of this id, whose content has not all come yet. Returns what stands in its
    /// place, if it can't be referred to.
    #[inline(always)]
    fn refers_to_open(_: &mut Decoder<'i, Self>, _number: u64) -> Result<Option<Owned>> {
        Ok(None)
    }

    /// How many values belong to a value of Common Lisp that is skipped.
    fn skipped(_: &mut Decoder<'i, Self>, value: &LispValue<'i>) -> Result<u64> {
        Ok(value.values())
    }

    /// Sets an item whose key could not be hashed when it came.
    ///
    /// # Safety
    /// All are alive; `dict` is a dict.
    #[inline(always)]
    unsafe fn set_deferred(
        decoder: &mut Decoder<'i, Self>,
        dict: Obj,
        key: Obj,
        value: Obj,
        hash_cost: u32,
        at: usize,
    ) -> Result<()> {
        // SAFETY: the contract of `item` is that of this function.
        unsafe { Adding::new(&decoder.r, &decoder.rules.work, at).item(dict, key, value, hash_cost) }
    }

    /// The node of the variables of a code value.
    #[inline(always)]
    fn node_within(_: &Decoder<'i, Self>) -> NodeId {
        ANY
    }

    /// An error raised by the user's code. `outermost` is the stack's depth while the outermost document is being filled.
    #[inline(always)]
    fn of_user(_: &Decoder<'i, Self>, _outermost: usize, fault: Fault) -> Fault {
        fault
    }

    /// Makes or starts a value against a node. Outer `None`: the default does; inner `None`: it has a frame.
    #[inline(always)]
    fn typed(_: &mut Decoder<'i, Self>, _token: &Token<'i>, _id: NodeId) -> Result<Option<Option<Owned>>> {
        Ok(None)
    }

    /// Coerces an object to what a node wants.
    #[inline(always)]
    fn coerced(decoder: &Decoder<'i, Self>, object: Owned, id: NodeId) -> Result<Owned> {
        decoder.rules.coerce(id, object)
    }

    /// The same for an object that was just built.
    #[inline(always)]
    fn coerced_once(decoder: &mut Decoder<'i, Self>, object: Owned, id: NodeId) -> Result<Owned> {
        Self::coerced(decoder, object, id)
    }

    /// Makes or starts the object of a back reference that is not there yet.
    #[cold]
    fn referred(decoder: &mut Decoder<'i, Self>, _number: usize, _id: NodeId) -> Result<Option<Owned>> {
        Err(decode(OUT_OF_PLACE, decoder.here()))
    }

    /// Makes an object from the values that a frame has gathered.
    fn make(
        decoder: &mut Decoder<'i, Self>,
        make: Self::Make,
        object: Option<Owned>,
        object_id: u32,
        gathered: Vec<Owned>,
        at: usize,
    ) -> Result<Owned>;

    /// Resumes a `Lists` frame.
    fn run_lists(decoder: &mut Decoder<'i, Self>) -> Result<Option<Frame<Self::Make>>> {
        Err(decode(OUT_OF_PLACE, decoder.here()))
    }

    /// The hash cost that the object of a full frame adds to its container.
    #[inline(always)]
    fn hash_cost(frame: &Frame<Self::Make>, _parent: Option<&Frame<Self::Make>>) -> HashCost {
        hash_cost_of(frame)
    }
}

/// A format by its own rules alone.
pub struct Native<R>(PhantomData<fn() -> R>);

impl<R> Native<R> {
    pub fn new() -> Self {
        Native(PhantomData)
    }
}

impl<'i, R: Reader<'i>> Dialect<'i> for Native<R> {
    type Reader = R;
    type Make = Infallible;

    #[inline(always)]
    fn scratch() -> Option<&'static scratch::Place<Infallible>> {
        Some(&scratch::PLAIN)
    }

    fn make(
        _: &mut Decoder<'i, Self>,
        make: Infallible,
        _: Option<Owned>,
        _: u32,
        _: Vec<Owned>,
        _: usize,
    ) -> Result<Owned> {
        match make {}
    }
}

/// Sets an item by the object's own method.
///
/// # Safety
/// All are alive.
pub(super) unsafe fn set_item(document: Obj, key: Obj, value: Obj) -> Result<()> {
    // SAFETY: all three are alive, by contract.
    match unsafe { ffi::PyObject_SetItem(document, key, value) } {
        0 => Ok(()),
        _ => Err(raised()),
    }
}

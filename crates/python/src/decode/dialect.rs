//! What a dialect changes of the loop: a format's values as another program reads them.
//!
//! Each dialect has a folder in `dialect/`. The loop is compiled once for each, so a hook that a dialect leaves as it is
//! costs nothing.

use super::frame::{hash_cost_of, Frame};
use super::hashed::Adding;
use super::Decoder;
use crate::budget::hash_cost::HashCost;
use crate::cpython::{Obj, Owned};
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

/// The rules that a decoder builds by.
pub trait Dialect<'i>: Sized {
    type Reader: Reader<'i>;
    /// What is made of gathered values, beside what all formats have.
    type Make: Clone + Debug;

    /// What is referred to stands in a table, and is built where it is met first.
    const BACK_REFERENCES: bool = false;

    /// Parts that [`Dialect::make`] gets may be hashed by it.
    const HASHES_PARTS: bool = false;
    /// The first of a frame's lists has keys.
    const LISTS_BEGIN_WITH_KEYS: bool = false;

    /// Comes before the outermost value.
    #[inline(always)]
    fn start(_: &mut Decoder<'i, Self>) -> Result<()> {
        Ok(())
    }

    /// Comes after all values are there.
    #[inline(always)]
    fn finish(_: &mut Decoder<'i, Self>) -> Result<()> {
        Ok(())
    }

    /// Makes text of bytes that are not UTF-8; `None` where that is an error.
    #[cold]
    fn not_utf8(_: &Decoder<'i, Self>, _bytes: &[u8]) -> Option<Result<Owned>> {
        None
    }

    /// Makes an object of bytes.
    #[inline(always)]
    fn bytes(decoder: &mut Decoder<'i, Self>, bytes: &'i [u8]) -> Result<Option<Owned>> {
        // SAFETY: the GIL is held while a decoder lives; the slice is readable for its length.
        decoder.done(unsafe { Owned::new(ffi::PyBytes_FromStringAndSize(bytes.as_ptr().cast(), bytes.len() as isize)) })
    }

    /// Makes an object of bytes with a subtype of BSON's.
    fn binary(decoder: &Decoder<'i, Self>, subtype: u8, data: &[u8]) -> Result<Owned> {
        bson_values::binary(decoder.py, subtype, data)
    }

    /// Makes or begins a value with a type of its own.
    fn typed_value(decoder: &mut Decoder<'i, Self>, _value: TypedValue<'i>) -> Result<Option<Owned>> {
        Err(decode(OUT_OF_PLACE, decoder.here()))
    }

    /// Makes or begins a value of Common Lisp.
    fn lisp_value(decoder: &mut Decoder<'i, Self>, _value: LispValue<'i>) -> Result<Option<Owned>> {
        Err(decode(OUT_OF_PLACE, decoder.here()))
    }

    /// Comes after the last item of a list's frame, which was just taken off the stack: it is done, unless more of it follows.
    #[inline(always)]
    fn end_of_list(
        _: &mut Decoder<'i, Self>,
        frame: Option<Frame<Self::Make>>,
    ) -> Result<Option<Frame<Self::Make>>> {
        Ok(frame)
    }

    /// Makes an object of a point in time; `None` where it is like any other.
    #[inline(always)]
    fn moment(_: &Decoder<'i, Self>, _seconds: i64, _nanoseconds: u32) -> Result<Option<Owned>> {
        Ok(None)
    }

    /// Begins a dict that ends at that offset, if it is not like any other; the inner `None` says that it has a frame.
    #[inline(always)]
    fn members(_: &mut Decoder<'i, Self>, _end: usize) -> Result<Option<Option<Owned>>> {
        Ok(None)
    }

    /// Makes of a dict that is whole what it stands for.
    #[inline(always)]
    fn whole_dict(_: &mut Decoder<'i, Self>, dict: Owned) -> Result<Owned> {
        Ok(dict)
    }

    /// Sets an item whose key could not be hashed before.
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
        // SAFETY: the same contract.
        unsafe { Adding::new(&decoder.r, &decoder.rules.work, at).item(dict, key, value, hash_cost) }
    }

    /// The node of what belongs to a BSON value: the variables of code.
    #[inline(always)]
    fn node_within(_: &Decoder<'i, Self>) -> NodeId {
        ANY
    }

    /// What the user's code raised, given how many containers are open in the outermost document.
    #[inline(always)]
    fn of_user(_: &Decoder<'i, Self>, _outermost: usize, fault: Fault) -> Fault {
        fault
    }

    /// Makes or begins a value against a node; `None` where it is like any other.
    #[inline(always)]
    fn typed(_: &mut Decoder<'i, Self>, _token: &Token<'i>, _id: NodeId) -> Result<Option<Option<Owned>>> {
        Ok(None)
    }

    /// An object as a node wants it.
    #[inline(always)]
    fn coerced(decoder: &Decoder<'i, Self>, object: Owned, id: NodeId) -> Result<Owned> {
        decoder.rules.coerce(id, object)
    }

    /// The same of an object that was just built.
    #[inline(always)]
    fn coerced_once(decoder: &mut Decoder<'i, Self>, object: Owned, id: NodeId) -> Result<Owned> {
        Self::coerced(decoder, object, id)
    }

    /// Makes or begins the object of a back reference that is not there yet.
    #[cold]
    fn referred(decoder: &mut Decoder<'i, Self>, _number: usize, _id: NodeId) -> Result<Option<Owned>> {
        Err(decode(OUT_OF_PLACE, decoder.here()))
    }

    /// Makes an object of what a frame has gathered.
    fn make(
        decoder: &mut Decoder<'i, Self>,
        make: Self::Make,
        object: Option<Owned>,
        object_id: u32,
        gathered: Vec<Owned>,
        at: usize,
    ) -> Result<Owned>;

    /// Goes on with a frame that gathers lists.
    fn run_lists(decoder: &mut Decoder<'i, Self>) -> Result<Option<Frame<Self::Make>>> {
        Err(decode(OUT_OF_PLACE, decoder.here()))
    }

    /// What hashing the object of a full frame costs whoever holds it.
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

/// Sets an item by the object's own way.
///
/// # Safety
/// All are alive.
pub(super) unsafe fn set_item(document: Obj, key: Obj, value: Obj) -> Result<()> {
    // SAFETY: alive, as the caller promises.
    match unsafe { ffi::PyObject_SetItem(document, key, value) } {
        0 => Ok(()),
        _ => Err(raised()),
    }
}

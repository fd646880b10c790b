//! What a dialect changes of the walk: a format's values by another program's rules.
//!
//! Each dialect has a folder in `dialect/`. The walk is compiled once for each, so a hook that a dialect leaves as it is
//! costs nothing.

use crate::cpython::{Obj, Type};
use crate::encode::Encoder;
use crate::error::{encode, Fault, Result};
use crate::memory::vec;
use crate::types::bson_values::int_out_of_range;
use crate::types::walker::WorkItem;
use holdall_format::Writer;
use pyo3::prelude::*;
use std::marker::PhantomData;

/// The rules that an encoder writes by.
pub trait Dialect: Sized {
    type Writer: Writer;

    /// Ints of more than 64 bits are no leaves, but go to [`Dialect::value`].
    const BIG_INTS_ARE_VALUES: bool = false;
    /// What is met again stands in a table at the end, which a first walk finds by reference counts.
    const SHARED_STAND_APART: bool = false;
    /// Patterns keep whatever flags they have; else those that have no form are refused.
    const TAKES_ALL_FLAGS: bool = false;

    /// Writes the outermost object, with all that it holds; says no where it is like any other.
    ///
    /// # Safety
    /// `root` is alive.
    #[inline(always)]
    unsafe fn root(_: &mut Encoder<'_, Self>, _root: Obj) -> Result<bool> {
        Ok(false)
    }

    /// Whether every key goes to [`Dialect::key`], and not only those that are no `str`.
    #[inline(always)]
    fn checks_keys(&self) -> bool {
        false
    }

    /// Writes a key of a format whose keys are text; says no where it is like any other.
    ///
    /// # Safety
    /// `key` is alive.
    #[inline(always)]
    unsafe fn key(_: &mut Encoder<'_, Self>, _key: Obj) -> Result<bool> {
        Ok(false)
    }

    /// Writes a dict, or what holds its items; says no where it is like any other.
    ///
    /// # Safety
    /// `object` is a dict whose id was written.
    #[inline(always)]
    unsafe fn dict(_: &mut Encoder<'_, Self>, _object: Obj) -> Result<bool> {
        Ok(false)
    }

    /// Writes what is neither a leaf nor `bytes`, dict, list or tuple; says no where it is like any other.
    ///
    /// # Safety
    /// `object` is alive, of that class, and its id was written.
    #[inline(always)]
    unsafe fn value(_: &mut Encoder<'_, Self>, _object: Obj, _class: Type) -> Result<bool> {
        Ok(false)
    }

    /// Writes an instance of the class that was written last, by what is known of that; says no to others.
    ///
    /// # Safety
    /// `object` is alive.
    #[inline(always)]
    unsafe fn like_the_last(_: &mut Encoder<'_, Self>, _object: Obj) -> Result<bool> {
        Ok(false)
    }

    /// Has the fields of an object fetched that [`Dialect::like_the_last`] will soon be asked about.
    ///
    /// # Safety
    /// `object` is alive.
    #[inline(always)]
    unsafe fn prefetch(_: &Encoder<'_, Self>, _object: Obj) {}

    /// Writes a reference and says yes if `object` was met before; else gives it an id, where it may be met again.
    ///
    /// # Safety
    /// `object` is alive.
    #[inline(always)]
    unsafe fn met_shared(encoder: &mut Encoder<'_, Self>, object: Obj) -> Result<bool> {
        encoder.met_in_place(object)
    }

    /// Whether an object that a first walk met again is written wherever it stands all the same.
    fn is_in_place(&self, _object: usize) -> bool {
        false
    }

    /// Refuses a point in time, in microseconds since 1970, that a timestamp must not have.
    #[inline(always)]
    fn check_moment(_microseconds: i64) -> Result<()> {
        Ok(())
    }

    /// Writes a document that belongs to a BSON value: the variables of code, the fields of a reference.
    fn document(encoder: &mut Encoder<'_, Self>, document: &Bound<'_, PyAny>) -> Result<()> {
        encoder.then(vec![WorkItem::Value(crate::cpython::owned(document))]);
        Ok(())
    }

    /// Why the text of a BSON value has no form, given what Python raised about it.
    fn not_text(py: Python<'_>, raised: Option<PyErr>, why: &str) -> Fault {
        match raised {
            Some(error) if !crate::error::is_of_values(py, &error) => error.into(),
            _ => encode(format_args!("can't store {why} in this format")),
        }
    }

    /// The same of an attribute that is no int of 64 bits.
    fn not_int(py: Python<'_>, raised: PyErr) -> Fault {
        int_out_of_range(py, raised)
    }

    /// The same of an `Int64`.
    fn not_int64(py: Python<'_>, raised: PyErr) -> Fault {
        int_out_of_range(py, raised)
    }
}

/// A format by its own rules alone.
pub struct Native<W>(PhantomData<fn() -> W>);

impl<W> Native<W> {
    pub fn new() -> Self {
        Native(PhantomData)
    }
}

impl<W: Writer> Dialect for Native<W> {
    type Writer = W;
}

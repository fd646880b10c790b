//! What a dialect changes in the walk: a format's values by another program's rules.
//!
//! Each dialect has a folder in `dialect/`. The walk is compiled separately for each, so hooks that a dialect leaves
//! out cost nothing.

use crate::classes::marker::Marker;
use crate::cpython::{bytes_of, Obj, Type};
use crate::encode::Encoder;
use crate::error::{encode, Fault, Result};
use crate::memory::vec;
use crate::types::bson_values::{self, int_out_of_range};
use crate::types::walker::WorkItem;
use holdall_format::model::{
    BsonWriter, ExtensionWriter, KnownType, ReferenceWriter, RunWriter, Seq, ShapeWriter, TimestampWriter, TypeWriter,
};
use holdall_format::Writer;
use pyo3::prelude::*;
use std::marker::PhantomData;

/// The rules by which an encoder writes.
pub trait Dialect: Sized {
    type Writer: Writer;

    /// A load restores objects of all types, so objects that could not be freed or hashed are refused.
    const KEEPS_TYPES: bool = false;
    /// An object that occurs again is written as a reference.
    const HAS_REFERENCES: bool = false;
    /// Ints of more than 64 bits are not leaves but go to [`Dialect::value`].
    const BIG_INTS_ARE_VALUES: bool = false;
    /// Shared objects are written to a table at the end; a first walk finds them by reference counts.
    const SHARED_STAND_APART: bool = false;
    /// All flags of patterns are kept; else patterns with flags that have no form are refused.
    const TAKES_ALL_FLAGS: bool = false;

    /// Writes the outermost object with all of its content. `false`: it is written like any other.
    ///
    /// # Safety
    /// `root` is alive.
    #[inline(always)]
    unsafe fn root(_: &mut Encoder<'_, Self>, _root: Obj) -> Result<bool> {
        Ok(false)
    }

    /// Whether every key goes to [`Dialect::key`], not only keys that aren't `str`.
    #[inline(always)]
    fn checks_keys(&self) -> bool {
        false
    }

    /// Writes a key of a format whose keys are text. `false`: it is written like any other.
    ///
    /// # Safety
    /// `key` is alive.
    #[inline(always)]
    unsafe fn key(_: &mut Encoder<'_, Self>, _key: Obj) -> Result<bool> {
        Ok(false)
    }

    /// Writes a dict, or an object's items as one. `hint`: the shape that it is likely to have.
    ///
    /// # Safety
    /// `object` is a dict whose id was written.
    unsafe fn dict(_: &mut Encoder<'_, Self>, object: Obj, hint: u32) -> Result<()>;

    /// Continues the dict on top of the stack by a faster loop. `false`: a key needs a frame.
    ///
    /// # Safety
    /// The frame on top holds a dict.
    #[inline(always)]
    unsafe fn walk_pairs(encoder: &mut Encoder<'_, Self>) -> Result<bool> {
        // SAFETY: the contract is the same.
        unsafe { encoder.walk_schemaless_pairs() }
    }

    /// Whether something is written before each item of a list, by [`Dialect::mark_item`], in place of the list's head.
    #[inline(always)]
    fn marks_items(&self) -> bool {
        false
    }

    #[inline(always)]
    fn mark_item(_: &mut Encoder<'_, Self>) {}

    /// Writes what follows the items of a list that isn't empty.
    #[inline(always)]
    fn end_list(_: &mut Encoder<'_, Self>) {}

    /// Writes the items of a list or tuple as one packed run. `Some(false)`: they have no such form. `None`: the format
    /// has no runs.
    ///
    /// # Safety
    /// `items` are alive.
    #[inline(always)]
    unsafe fn run(_: &mut Encoder<'_, Self>, _items: &[Obj], _: Seq) -> Option<bool> {
        None
    }

    /// Writes `bytes`.
    ///
    /// # Safety
    /// `object` is `bytes`, and its id was written.
    #[inline(always)]
    unsafe fn bytes(encoder: &mut Encoder<'_, Self>, object: Obj) -> Result<()> {
        // SAFETY: `object` is `bytes` by contract.
        encoder.w.bytes(unsafe { bytes_of(object) });
        Ok(())
    }

    /// Writes an object other than a leaf, `bytes`, dict, list or tuple.
    ///
    /// # Safety
    /// `object` is alive, of that class, and its id was written.
    unsafe fn value(_: &mut Encoder<'_, Self>, object: Obj, class: Type) -> Result<()>;

    /// Writes an instance of the same class as the last one, by what is known of that class. `false`: it is another
    /// class.
    ///
    /// # Safety
    /// `object` is alive.
    #[inline(always)]
    unsafe fn like_the_last(_: &mut Encoder<'_, Self>, _object: Obj) -> Result<bool> {
        Ok(false)
    }

    /// Prefetches the fields of an object to which [`Dialect::like_the_last`] will soon be applied.
    ///
    /// # Safety
    /// `object` is alive.
    #[inline(always)]
    unsafe fn prefetch(_: &Encoder<'_, Self>, _object: Obj) {}

    /// Writes a reference and returns true if `object` occurred before; else gives it an id if it may occur again.
    ///
    /// # Safety
    /// `object` is alive.
    #[inline(always)]
    unsafe fn met_shared(_: &mut Encoder<'_, Self>, _object: Obj) -> Result<bool> {
        Ok(false)
    }

    /// Writes a reference to an object that has one, if that needs nothing else.
    #[inline(always)]
    fn referred(_: &mut Encoder<'_, Self>, _object: Obj) -> Result<bool> {
        Ok(false)
    }

    /// The same for a string, if it has more than `held` references or if equal strings are written once.
    ///
    /// # Safety
    /// `object` is a string.
    #[inline(always)]
    unsafe fn met_text(_: &mut Encoder<'_, Self>, _object: Obj, _held: isize) -> Result<bool> {
        Ok(false)
    }

    /// Takes back the id that was just given to `object`, and writes a reference to `known` instead. `false`: an id
    /// can't be taken back.
    #[cold]
    fn refer_instead(_: &mut Encoder<'_, Self>, _object: Obj, _known: u32) -> bool {
        false
    }

    /// Writes the persistent id that the user's hook returns for an object. `false`: it returns none.
    ///
    /// # Safety
    /// `object` is alive.
    #[inline(always)]
    unsafe fn persistent(_: &mut Encoder<'_, Self>, _object: Obj) -> Result<bool> {
        Ok(false)
    }

    /// In trusted messages, writes an object by reference or as its `__reduce_ex__` says. Returns the reason if neither
    /// is possible.
    #[cold]
    fn own_recipe(_: &mut Encoder<'_, Self>, _object: &Bound<'_, PyAny>) -> Result<Option<String>> {
        Ok(Some(String::from("the format has no form for it")))
    }

    /// Writes an object that the format has no form for by the registration that is there for such. `false`: there is none.
    #[cold]
    fn by_registration(_: &mut Encoder<'_, Self>, _object: &Bound<'_, PyAny>) -> Result<bool> {
        Ok(false)
    }

    /// Whether an object that a first walk found to be shared is still written at each of its places.
    fn is_in_place(&self, _object: usize) -> bool {
        false
    }

    /// Writes an `Ext`.
    #[cold]
    fn extension(_: &mut Encoder<'_, Self>, _code: i8, _data: &[u8]) -> Result<()> {
        Err(encode("can't store an `Ext`: only MessagePack has a form for it"))
    }

    /// Writes a `Raw`, whose content is written already. Returns the reason if that is not possible.
    #[cold]
    fn encoded(_: &mut Encoder<'_, Self>, _value: &[u8]) -> std::result::Result<(), &'static str> {
        Err("only MessagePack has a form for it")
    }

    /// Writes an object whose class has a BSON marker. `false`: the format has no such value.
    #[cold]
    fn bson_value(_: &mut Encoder<'_, Self>, _: Marker, _object: &Bound<'_, PyAny>) -> Result<bool> {
        Ok(false)
    }

    /// Writes an object of a known type for which the format itself has a type. `false`: it has none.
    #[inline(always)]
    fn known_type(_: &mut Encoder<'_, Self>, _: KnownType, _object: &Bound<'_, PyAny>) -> Result<bool> {
        Ok(false)
    }

    /// Refuses a point in time (in microseconds since 1970) that a timestamp must not have.
    #[inline(always)]
    fn check_moment(_microseconds: i64) -> Result<()> {
        Ok(())
    }

    /// Writes a document within a BSON value: the variables of code, the fields of a reference.
    fn document(encoder: &mut Encoder<'_, Self>, document: &Bound<'_, PyAny>) -> Result<()> {
        encoder.then(vec![WorkItem::Value(crate::cpython::owned(document))]);
        Ok(())
    }

    /// The error for a text within a BSON value that has no form, given the exception that Python raised.
    fn not_text(py: Python<'_>, raised: Option<PyErr>, why: &str) -> Fault {
        match raised {
            Some(error) if !crate::error::is_of_values(py, &error) => error.into(),
            _ => encode(format_args!("can't store {why} in this format")),
        }
    }

    /// The error for an attribute that isn't an int of 64 bits.
    fn not_int(py: Python<'_>, raised: PyErr) -> Fault {
        int_out_of_range(py, raised)
    }

    /// The error for an `Int64`.
    fn not_int64(py: Python<'_>, raised: PyErr) -> Fault {
        int_out_of_range(py, raised)
    }
}

/// The capabilities of holdall's own format.
pub trait NativeWriter: ReferenceWriter + ShapeWriter + RunWriter + TypeWriter {}

impl<W: ReferenceWriter + ShapeWriter + RunWriter + TypeWriter> NativeWriter for W {}

/// Holdall's own format.
pub struct Native<W>(PhantomData<fn() -> W>);

impl<W> Native<W> {
    pub fn new() -> Self {
        Native(PhantomData)
    }
}

impl<W: NativeWriter> Dialect for Native<W> {
    type Writer = W;

    const KEEPS_TYPES: bool = true;
    const HAS_REFERENCES: bool = true;

    #[inline(always)]
    unsafe fn dict(encoder: &mut Encoder<'_, Self>, object: Obj, hint: u32) -> Result<()> {
        // SAFETY: the contract is the same.
        unsafe { encoder.native_dict(object, hint) }
    }

    // Dicts whose keys are all names are written by shape, so few come here.
    #[inline(always)]
    unsafe fn walk_pairs(_: &mut Encoder<'_, Self>) -> Result<bool> {
        Ok(false)
    }

    #[inline(always)]
    unsafe fn run(encoder: &mut Encoder<'_, Self>, items: &[Obj], seq: Seq) -> Option<bool> {
        // SAFETY: the contract is the same.
        Some(unsafe { encoder.packed_run(items, seq) })
    }

    #[inline(always)]
    unsafe fn bytes(encoder: &mut Encoder<'_, Self>, object: Obj) -> Result<()> {
        // SAFETY: the contract is the same.
        unsafe { encoder.native_bytes(object) }
    }

    #[inline(always)]
    unsafe fn value(encoder: &mut Encoder<'_, Self>, object: Obj, class: Type) -> Result<()> {
        // SAFETY: the contract is the same.
        unsafe { encoder.native_value(object, class) }
    }

    #[inline(always)]
    unsafe fn like_the_last(encoder: &mut Encoder<'_, Self>, object: Obj) -> Result<bool> {
        // SAFETY: the contract is the same.
        unsafe { encoder.like_the_last(object) }
    }

    #[inline(always)]
    unsafe fn prefetch(encoder: &Encoder<'_, Self>, object: Obj) {
        // SAFETY: the contract is the same.
        unsafe { encoder.prefetch_slots(object) }
    }

    #[inline(always)]
    unsafe fn met_shared(encoder: &mut Encoder<'_, Self>, object: Obj) -> Result<bool> {
        encoder.met_in_place(object)
    }

    #[inline(always)]
    fn referred(encoder: &mut Encoder<'_, Self>, object: Obj) -> Result<bool> {
        Ok(encoder.referred_in_place(object))
    }

    #[inline(always)]
    unsafe fn met_text(encoder: &mut Encoder<'_, Self>, object: Obj, held: isize) -> Result<bool> {
        // SAFETY: the contract is the same.
        unsafe { encoder.met_native_text(object, held) }
    }

    fn refer_instead(encoder: &mut Encoder<'_, Self>, object: Obj, known: u32) -> bool {
        encoder.refer_instead(object, known);
        true
    }

    unsafe fn persistent(encoder: &mut Encoder<'_, Self>, object: Obj) -> Result<bool> {
        // SAFETY: the contract is the same.
        unsafe { encoder.by_persistent_id(object) }
    }

    fn own_recipe(encoder: &mut Encoder<'_, Self>, object: &Bound<'_, PyAny>) -> Result<Option<String>> {
        encoder.own_recipe(object)
    }

    fn by_registration(encoder: &mut Encoder<'_, Self>, object: &Bound<'_, PyAny>) -> Result<bool> {
        encoder.by_registration(object)
    }
}

/// MessagePack.
pub struct MessagePack<W>(PhantomData<fn() -> W>);

impl<W> MessagePack<W> {
    pub fn new() -> Self {
        MessagePack(PhantomData)
    }
}

impl<W: TimestampWriter + ExtensionWriter> Dialect for MessagePack<W> {
    type Writer = W;

    #[inline(always)]
    unsafe fn dict(encoder: &mut Encoder<'_, Self>, object: Obj, _: u32) -> Result<()> {
        // SAFETY: the contract is the same.
        unsafe { encoder.schemaless_dict(object) }
    }

    unsafe fn value(encoder: &mut Encoder<'_, Self>, object: Obj, class: Type) -> Result<()> {
        // SAFETY: the contract is the same.
        unsafe { encoder.schemaless_builtin(object, class) }
    }

    fn extension(encoder: &mut Encoder<'_, Self>, code: i8, data: &[u8]) -> Result<()> {
        encoder.w.extension(code, data);
        Ok(())
    }

    fn encoded(encoder: &mut Encoder<'_, Self>, value: &[u8]) -> std::result::Result<(), &'static str> {
        encoder.w.encoded(value)
    }
}

/// BSON with its own rules.
pub struct Bson<W>(PhantomData<fn() -> W>);

impl<W> Bson<W> {
    pub fn new() -> Self {
        Bson(PhantomData)
    }
}

impl<W: BsonWriter> Dialect for Bson<W> {
    type Writer = W;

    #[inline(always)]
    unsafe fn dict(encoder: &mut Encoder<'_, Self>, object: Obj, _: u32) -> Result<()> {
        // SAFETY: the contract is the same.
        unsafe { encoder.schemaless_dict(object) }
    }

    unsafe fn value(encoder: &mut Encoder<'_, Self>, object: Obj, class: Type) -> Result<()> {
        // SAFETY: the contract is the same.
        unsafe { encoder.schemaless_builtin(object, class) }
    }

    fn bson_value(encoder: &mut Encoder<'_, Self>, marker: Marker, object: &Bound<'_, PyAny>) -> Result<bool> {
        bson_values::encode(encoder, marker, object)?;
        Ok(true)
    }

    fn known_type(encoder: &mut Encoder<'_, Self>, known: KnownType, object: &Bound<'_, PyAny>) -> Result<bool> {
        match known {
            KnownType::Uuid => bson_values::encode_uuid(encoder, object)?,
            KnownType::Decimal => bson_values::encode_decimal(encoder, object)?,
            KnownType::PythonPattern => bson_values::encode_regex(encoder, object)?,
            _ => return Ok(false),
        }
        Ok(true)
    }
}

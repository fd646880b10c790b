//! What a host that writes asks of a format: [`Writer`] has what all formats have, the other traits one capability each.
//!
//! A format has a capability if its writer implements the trait: a host can't call what a format lacks.

use super::{BsonValue, Element, KnownType, LispForm, OutOfBand, Seq, ShapeKind, Text, TypedForm};
use crate::memory::Vec;

/// Turns tokens into bytes.
///
/// Nothing here fails where it is called: what the format can't hold, though it has a form for others of its kind (an int
/// that is too large), [`Writer::refusal`] says in the end.
pub trait Writer {
    /// Whether a dict's keys are text alone. [`Writer::key`] writes them.
    const KEYS_ARE_TEXT: bool;

    /// Writes text whose UTF-8 the host has at hand.
    #[inline(always)]
    fn text_with_utf8(&mut self, _text: Text<'_>, utf8: &[u8]) {
        self.text(Text::Utf8(utf8));
    }

    /// A key of a dict that is text: its value comes next.
    fn key(&mut self, text: Text<'_>) {
        self.text(text);
    }

    fn none(&mut self);
    fn bool(&mut self, value: bool);
    fn int(&mut self, value: i64);
    /// Two's complement, little-endian, no shorter than needed.
    fn bigint(&mut self, bytes: &[u8]);
    fn float(&mut self, value: f64);
    fn text(&mut self, text: Text<'_>);
    fn bytes(&mut self, bytes: &[u8]);
    fn list(&mut self, len: usize);
    fn dict(&mut self, len: usize);

    /// A list, where the format does not tell the two apart.
    #[inline(always)]
    fn tuple(&mut self, len: usize) {
        self.list(len);
    }

    /// How many bytes there are so far; with [`Writer::rollback`], to take back a run that broke off.
    fn position(&self) -> usize;
    fn rollback(&mut self, position: usize);

    /// What was given that the format can't hold, if anything: what was written is void then.
    fn refusal(&self) -> Option<&'static str> {
        None
    }
}

/// Objects that are met again are written once, and referred to by number.
pub trait ReferenceWriter: Writer {
    /// The value that comes next gets the next number.
    fn assign_id(&mut self);

    /// The same of a text that records after this one may refer to as well.
    fn assign_named_id(&mut self) {
        self.assign_id();
    }

    fn reference(&mut self, number: u64);
}

/// Shapes: the names of fields, or the keys of dicts, are written once and referred to by number.
pub trait ShapeWriter: Writer {
    /// Starts a new shape: its names follow ([`Writer::text`], [`ReferenceWriter::reference`]; a class's own name first),
    /// then [`ShapeWriter::shape_end`], then the first instance.
    fn shape_begin(&mut self, kind: ShapeKind, version: u64, fields: usize) -> usize;
    /// `block` is what [`ShapeWriter::shape_begin`] gave.
    fn shape_end(&mut self, block: usize);
    fn instance(&mut self, shape: usize);
    /// All that these three write of a shape whose names are these texts and no references, to be written again and again.
    fn prepared(kind: ShapeKind, version: u64, names: &[Text<'_>]) -> Vec<u8>;
    /// Writes what [`ShapeWriter::prepared`] made.
    fn shape_again(&mut self, prepared: &[u8]);
}

/// Lists and tuples whose values are all of one type, in a form of their own.
pub trait RunWriter: Writer {
    /// Starts a run of `len` integers; all of them are then given, block by block, to [`RunWriter::ints`].
    fn ints_begin(&mut self, seq: Seq, len: usize, first: &[i64]) -> IntRun;
    fn ints(&mut self, run: &mut IntRun, block: &[i64]);
    fn floats_begin(&mut self, seq: Seq, len: usize);
    fn floats(&mut self, block: &[f64]);
    fn bools(&mut self, seq: Seq, run: &[u8]);
    /// A run of ASCII texts shorter than 256 bytes: all their lengths, then all their bytes.
    fn texts(&mut self, seq: Seq, lengths: &[u8]);
    fn texts_bytes(&mut self, text: &[u8]);
}

/// Types that schemaless formats don't have: sets, complex numbers, dates, all the [`KnownType`] types, and in trusted messages
/// code by its name.
pub trait TypeWriter: Writer {
    fn complex(&mut self, real: f64, imag: f64);
    fn bytearray(&mut self, bytes: &[u8]);
    fn ellipsis(&mut self);
    fn not_implemented(&mut self);
    fn set(&mut self, len: usize);
    fn frozenset(&mut self, len: usize);
    /// As [`Moment::pack`](super::Moment::pack) packs it; a zone follows where `zoned`.
    fn datetime(&mut self, bits: u64, zoned: bool);
    fn known(&mut self, code: KnownType);
    fn buffer(&mut self, number: u64, out_of_band: OutOfBand);
    fn global(&mut self);
    fn reduce(&mut self, flags: u8);
    fn persistent(&mut self);
}

/// Points in time, the only ones that a schemaless format has.
pub trait TimestampWriter: Writer {
    /// Whether a moment without a zone is one in UTC; else it is no point in time.
    const NAIVE_IS_UTC: bool;

    /// Since 1970-01-01 UTC; nanoseconds below 1,000,000,000.
    fn timestamp(&mut self, seconds: i64, nanoseconds: u32);
}

/// Types of an application's own, as MessagePack has them.
pub trait ExtensionWriter: Writer {
    fn extension(&mut self, code: i8, data: &[u8]);
    /// A value that is written already: checked, and taken as it is. Says why not.
    fn encoded(&mut self, value: &[u8]) -> Result<(), &'static str>;
}

/// BSON values.
pub trait BsonWriter: TimestampWriter {
    fn bson_value(&mut self, value: BsonValue<'_>);
}

/// Typed values: the description of a value's type stands beside it.
///
/// What is met again stands in a table at the end, and references in all its places, the first too.
pub trait TypedWriter: Writer {
    /// An instance of the type with that description: its fields come next.
    fn structure(&mut self, class: &[u8], fields: usize);
    /// A value of a primitive type.
    fn bits(&mut self, class: &[u8], data: &[u8]);
    /// An array whose elements have no references.
    fn packed(&mut self, element: &[u8], dimensions: &[usize], data: &[u8]);
    /// Any other array: its elements come next.
    fn boxed(&mut self, element: &[u8], dimensions: &[usize], len: usize);
    /// A typed value whose parts are values themselves: they come next, in the order that the form says.
    fn typed_value(&mut self, form: TypedForm);
    /// A type, as a value: its description.
    fn description(&mut self, description: &[u8]);
    fn module(&mut self, path: &[&[u8]]);
    fn symbol(&mut self, name: &[u8]);
    /// An int that takes 32 bits by its type.
    fn int32(&mut self, value: i32);
    /// Text as bytes that need not be UTF-8.
    fn raw_text(&mut self, bytes: &[u8]);
    fn reference(&mut self, number: u64);
    /// From here on, all that was referred to, in the order of numbers from 1 on: `len` values follow.
    fn back_references(&mut self, len: usize);
}

/// Values of Common Lisp.
pub trait LispWriter: ReferenceWriter {
    fn form(&mut self, form: LispForm<'_>);
    /// As [`ReferenceWriter::assign_id`]; the id that the next value gets, from 1 on.
    fn assign(&mut self) -> u64;
    /// How many doubles will get an id: the writer gives it to those that occur again.
    fn ids_of_doubles(&self) -> usize;
    /// A vector of `len` elements without references, as they are stored.
    fn vector(&mut self, element: Element, len: usize, data: &[u8]);
    /// An array of such elements, the last index running fastest.
    fn packed(&mut self, element: Element, dimensions: &[usize], data: &[u8]);
}

/// A run of integers under way: its width grows as its values need it.
#[derive(Debug)]
pub struct IntRun {
    /// Where the run's tag stands.
    pub tag_at: usize,
    /// Where its values begin.
    pub data_at: usize,
    /// log2 of the bytes a value.
    pub width: u8,
    pub seq: Seq,
}

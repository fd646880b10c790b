//! What a format is asked for by a host that writes: a function for every token.

use super::{BsonValue, KnownType, OutOfBand, Seq, ShapeKind, Text, TypedForm, UNTAGGED};

const PLAIN: &str = "a plain format";

/// Turns tokens into bytes.
///
/// Nothing here fails where it is called: what a format has no form for, its constants say beforehand; what it can't hold
/// of what it has a form for, [`Writer::refusal`] says in the end. The functions that a constant says no to are never
/// called.
pub trait Writer {
    /// Whether [`Writer::assign_id`] and [`Writer::reference`] exist.
    const REFERENCES: bool;
    /// Whether [`Writer::shape_begin`] and [`Writer::instance`] exist.
    const SHAPES: bool;
    /// Whether runs of one type have a form of their own: [`Writer::ints_begin`] to [`Writer::texts_bytes`].
    const RUNS: bool;
    /// Whether there are forms for tuples, sets, complex numbers, dates and all the [`KnownType`] types. A plain format has
    /// none, bool, int, float, text, bytes, list, dict and timestamp: a host makes the others of these.
    const TYPES: bool;
    /// Whether keys are text, which [`Writer::key`] writes.
    const TEXT_KEYS: bool;
    /// Whether there are forms for [`BsonValue`] values. Points in time without a zone are in UTC then.
    const BSON_VALUES: bool;
    /// Whether there are forms for [`TypedValue`](super::TypedValue) values, and what is met again stands apart: in its places, the first too, there
    /// are references, and all such values come at the end.
    const TYPED_VALUES: bool = false;

    /// A key of a dict: its value comes next.
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

    /// Since 1970-01-01 UTC; nanoseconds below 1,000,000,000.
    fn timestamp(&mut self, _seconds: i64, _nanoseconds: u32) {
        unreachable!("a format without timestamps")
    }

    /// A value that is written already: checked, and taken as it is. Says why not.
    fn encoded(&mut self, _value: &[u8]) -> Result<(), &'static str> {
        Err("only MessagePack has a form for it")
    }

    fn extension(&mut self, _code: i8, _data: &[u8]) {
        unreachable!("a format without extensions")
    }

    fn bson_value(&mut self, _value: BsonValue<'_>) {
        unreachable!("a format without a database's values")
    }

    /// An instance of the type with that description: its fields come next.
    fn structure(&mut self, _class: &[u8], _fields: usize) {
        unreachable!("{UNTAGGED}")
    }

    /// A value of a primitive type.
    fn bits(&mut self, _class: &[u8], _data: &[u8]) {
        unreachable!("{UNTAGGED}")
    }

    /// An array whose elements have no references.
    fn packed(&mut self, _element: &[u8], _dimensions: &[usize], _data: &[u8]) {
        unreachable!("{UNTAGGED}")
    }

    /// Any other array: its elements come next.
    fn boxed(&mut self, _element: &[u8], _dimensions: &[usize], _len: usize) {
        unreachable!("{UNTAGGED}")
    }

    /// A tagged value whose parts are values themselves: they come next, in the order that the form says.
    fn typed_value(&mut self, _form: TypedForm) {
        unreachable!("{UNTAGGED}")
    }

    /// A type, as a value: its description.
    fn description(&mut self, _description: &[u8]) {
        unreachable!("{UNTAGGED}")
    }

    fn module(&mut self, _path: &[&[u8]]) {
        unreachable!("{UNTAGGED}")
    }

    fn symbol(&mut self, _name: &[u8]) {
        unreachable!("{UNTAGGED}")
    }

    /// An int that takes 32 bits by its type.
    fn int32(&mut self, _value: i32) {
        unreachable!("{UNTAGGED}")
    }

    /// Text as bytes that need not be UTF-8.
    fn raw_text(&mut self, _bytes: &[u8]) {
        unreachable!("{UNTAGGED}")
    }

    /// From here on, all that was referred to, in the order of numbers from 1 on: `len` values follow.
    fn back_references(&mut self, _len: usize) {
        unreachable!("{UNTAGGED}")
    }

    fn complex(&mut self, _real: f64, _imag: f64) {
        unreachable!("{PLAIN}")
    }

    fn bytearray(&mut self, _bytes: &[u8]) {
        unreachable!("{PLAIN}")
    }

    fn ellipsis(&mut self) {
        unreachable!("{PLAIN}")
    }

    fn not_implemented(&mut self) {
        unreachable!("{PLAIN}")
    }

    fn tuple(&mut self, _len: usize) {
        unreachable!("{PLAIN}")
    }

    fn set(&mut self, _len: usize) {
        unreachable!("{PLAIN}")
    }

    fn frozenset(&mut self, _len: usize) {
        unreachable!("{PLAIN}")
    }

    /// Starts a run of `len` integers; all of them are then given, block by block, to [`Writer::ints`].
    fn ints_begin(&mut self, _seq: Seq, _len: usize, _first: &[i64]) -> IntRun {
        unreachable!("a format without runs")
    }

    fn ints(&mut self, _run: &mut IntRun, _block: &[i64]) {
        unreachable!("a format without runs")
    }

    fn floats_begin(&mut self, _seq: Seq, _len: usize) {
        unreachable!("a format without runs")
    }

    fn floats(&mut self, _block: &[f64]) {
        unreachable!("a format without runs")
    }

    fn bools(&mut self, _seq: Seq, _run: &[u8]) {
        unreachable!("a format without runs")
    }

    /// A run of ASCII texts shorter than 256 bytes: all their lengths, then all their bytes.
    fn texts(&mut self, _seq: Seq, _lengths: &[u8]) {
        unreachable!("a format without runs")
    }

    fn texts_bytes(&mut self, _text: &[u8]) {
        unreachable!("a format without runs")
    }

    /// Starts a new shape: its names follow ([`Writer::text`], [`Writer::reference`]; a class's own name first),
    /// then [`Writer::shape_end`], then the first instance.
    fn shape_begin(&mut self, _kind: ShapeKind, _version: u64, _fields: usize) -> usize {
        unreachable!("a format without layouts")
    }

    fn shape_end(&mut self, _block: usize) {
        unreachable!("a format without layouts")
    }

    fn instance(&mut self, _shape: usize) {
        unreachable!("a format without layouts")
    }

    fn assign_id(&mut self) {
        unreachable!("a format without references")
    }

    /// The same of a text that records after this one may refer to as well.
    fn assign_named_id(&mut self) {
        self.assign_id();
    }

    fn reference(&mut self, _number: u64) {
        unreachable!("a format without references")
    }

    fn datetime(&mut self, _bits: u64, _zoned: bool) {
        unreachable!("{PLAIN}")
    }

    fn known(&mut self, _code: KnownType) {
        unreachable!("{PLAIN}")
    }

    fn buffer(&mut self, _number: u64, _lent: OutOfBand) {
        unreachable!("{PLAIN}")
    }

    fn global(&mut self) {
        unreachable!("{PLAIN}")
    }

    fn reduce(&mut self, _flags: u8) {
        unreachable!("{PLAIN}")
    }

    fn persistent(&mut self) {
        unreachable!("{PLAIN}")
    }

    /// How many bytes there are so far; with [`Writer::rollback`], to take back a run that broke off.
    fn position(&self) -> usize;
    fn rollback(&mut self, position: usize);

    /// What was given that the format can't hold, if anything: what was written is void then.
    fn refusal(&self) -> Option<&'static str> {
        None
    }
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

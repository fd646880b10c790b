//! Tokens to bytes. [`super::Reader`] mirrors it, function by function.
//!
//! A value's type stands before its name, which is written first: a place is left for it. A document's length stands
//! before all of it: it is filled in when the last of its values is written, of which the host has told the number.

use super::tag;
use crate::memory::Vec;
use crate::model::{self, BsonValue, Text};
use crate::sink::Sink;
use crate::text;

/// What a host may give that BSON can't hold.
pub mod refusal {
    pub const ROOT: &str = "a root that is no dict";
    pub const TOO_LONG: &str = "text or bytes of more than 2,147,483,647 bytes";
    pub const DOCUMENT_TOO_LONG: &str = "a document of more than 2,147,483,647 bytes";
    pub const TOO_BIG: &str = "an int beyond 64 bits";
    pub const SURROGATE: &str = "text with a lone surrogate";
    pub const NUL: &str = "a key or pattern with a NUL";
}

/// Instead of where a keyed value's type goes: the value is an item of an array.
const ITEM: usize = usize::MAX;
/// The same: a document that is no element, as the outermost.
const BARE: usize = usize::MAX - 1;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Form {
    Document,
    Array,
    /// Code and its scope: a length, but no end.
    Code,
    /// A document whose names are known: those from that place on of [`Writer::parts`].
    Parts,
    /// An array that is the last element of a document, which ends with it; so far before its length stands that one's.
    Last(u32),
}

/// A container whose values are not all written.
#[derive(Debug, Clone, Copy)]
struct Open {
    form: Form,
    /// Where its length goes.
    start: usize,
    /// How many values are still to come.
    left: usize,
    /// How many items have come: the next one's name.
    items: u32,
}

/// The number of the first part of a document of parts: arrays don't get so far.
const PART: u32 = 1 << 31;

impl Open {
    const NONE: Open = Open { form: Form::Document, start: 0, left: usize::MAX, items: 0 };
}

/// The digits of the numbers below 1,000, the first in the lowest byte.
static DIGITS: [u32; 1000] = digits();

const fn digits() -> [u32; 1000] {
    let mut digits = [0; 1000];
    let mut number = 0;
    while number < 1000 {
        let (mut rest, mut word) = (number as u32, 0);
        loop {
            word = word << 8 | (b'0' as u32 + rest % 10);
            rest /= 10;
            if rest == 0 {
                break;
            }
        }
        digits[number] = word;
        number += 1;
    }
    digits
}

/// Writes a document into a [`Sink`].
#[derive(Debug)]
pub struct Writer<S: Sink> {
    pub out: S,
    refusal: Option<&'static str>,
    /// Where the type of the next value goes, or [`ITEM`] or [`BARE`].
    type_at: usize,
    /// The innermost container, and those that hold it.
    open: Open,
    outer: Vec<Open>,
    /// Names that a dialect gives the elements of its documents, in the order in which they follow each other.
    parts: &'static [&'static str],
}

impl<S: Sink> Writer<S> {
    /// Starts a document.
    pub fn new(out: S) -> Self {
        Writer { out, refusal: None, type_at: BARE, open: Open::NONE, outer: Vec::new(), parts: &[] }
    }

    /// The same, with the names of a dialect's parts.
    pub(crate) fn with_parts(out: S, parts: &'static [&'static str]) -> Self {
        Writer { parts, ..Writer::new(out) }
    }

    /// Begins a document of `head` (whole elements), and `len` parts more: those named from `first` on.
    pub(crate) fn begin_parts(&mut self, head: &[u8], first: usize, len: usize) {
        self.document_element();
        let start = self.out.len();
        self.out.put_array([0; 4]);
        self.out.put(head);
        if len == 0 {
            return self.end_document(start);
        }
        #[allow(clippy::cast_possible_truncation)]
        let items = PART + first as u32;
        self.outer.push(std::mem::replace(&mut self.open, Open { form: Form::Parts, start, left: len, items }));
    }

    /// Begins a document of `head`, which ends with the type and the name of an array, and that array, of `len` items.
    #[inline(always)]
    pub(crate) fn begin_last(&mut self, head: &[u8], len: usize) {
        self.document_element();
        let start = self.out.len();
        self.out.put_array([0; 4]);
        self.out.put(head);
        if len == 0 {
            self.out.put_array([5, 0, 0, 0, tag::END]);
            return self.end_document(start);
        }
        #[allow(clippy::cast_possible_truncation)]
        let form = Form::Last((4 + head.len()) as u32);
        let start = self.out.len();
        self.out.put_array([0; 4]);
        self.outer.push(std::mem::replace(&mut self.open, Open { form, start, left: len, items: 0 }));
    }

    /// A document of `head`, and bytes as its last element, whose type and name end the head.
    pub(crate) fn whole(&mut self, head: &[u8], data: Option<&[u8]>) {
        self.document_element();
        let start = self.out.len();
        self.out.put_array([0; 4]);
        self.out.put(head);
        if let Some(data) = data {
            let [a, b, c, d] = self.length(data.len());
            self.out.put_array([a, b, c, d, 0]);
            self.out.put(data);
        }
        self.end_document(start);
    }

    fn end_document(&mut self, start: usize) {
        self.out.put_array([tag::END]);
        let len = self.document_length(self.out.len() - start);
        self.out.written(start)[..4].copy_from_slice(&len);
        self.done();
    }

    /// Text of bytes that need not be UTF-8.
    pub(crate) fn text_of(&mut self, bytes: &[u8]) {
        self.string(tag::STRING, bytes);
        self.done();
    }

    pub(crate) fn int32(&mut self, value: i32) {
        self.element(tag::INT_32);
        self.out.put_array(value.to_le_bytes());
        self.done();
    }

    #[cold]
    #[inline(never)]
    fn refuse(&mut self, why: &'static str) {
        self.refusal.get_or_insert(why);
    }

    /// The type and name of the next value; the name of a keyed one is there.
    #[inline(always)]
    fn element(&mut self, tag: u8) {
        if self.type_at < BARE {
            self.out.written(self.type_at)[0] = tag;
            self.type_at = ITEM;
        } else if self.type_at == ITEM {
            let number = self.open.items;
            self.open.items = number.wrapping_add(1);
            match DIGITS.get(number as usize) {
                // Type, name and NUL in one word.
                Some(&digits) => {
                    let len = 3 + usize::from(number > 9) + usize::from(number > 99);
                    self.out.put_part((u64::from(digits) << 8 | u64::from(tag)).to_le_bytes(), len);
                }
                None => self.long_name(tag, number),
            }
        } else {
            self.refuse(refusal::ROOT);
        }
    }

    /// The same of a document, which needs neither as the outermost one or as the variables of code.
    #[inline(always)]
    fn document_element(&mut self) {
        if self.type_at == BARE {
            self.type_at = ITEM;
        } else {
            self.element(tag::DOCUMENT);
        }
    }

    #[inline(never)]
    fn long_name(&mut self, tag: u8, number: u32) {
        if self.open.form == Form::Parts {
            let name = self.parts.get((number - PART) as usize).copied().unwrap_or_default();
            self.out.put_closed([tag], name.as_bytes());
            return;
        }
        // 10 digits at most.
        let (mut block, mut at, mut rest) = ([0; 12], 11, number);
        while rest > 0 {
            at -= 1;
            block[at] = b'0' + (rest % 10) as u8;
            rest /= 10;
        }
        block[at - 1] = tag;
        self.out.put(&block[at - 1..]);
    }

    /// Says that a value is written.
    #[inline(always)]
    fn done(&mut self) {
        self.open.left = self.open.left.wrapping_sub(1);
        if self.open.left == 0 {
            self.close();
        }
    }

    /// Ends the innermost container, and those that end with it.
    #[inline(never)]
    fn close(&mut self) {
        while self.open.left == 0 {
            let Some(outer) = self.outer.pop() else { return };
            let Open { form, start, .. } = std::mem::replace(&mut self.open, outer);
            if form != Form::Code {
                self.out.put_array([tag::END]);
            }
            let len = self.document_length(self.out.len() - start);
            self.out.written(start)[..4].copy_from_slice(&len);
            if let Form::Last(before) = form {
                self.out.put_array([tag::END]);
                let start = start - before as usize;
                let len = self.document_length(self.out.len() - start);
                self.out.written(start)[..4].copy_from_slice(&len);
            }
            self.open.left = self.open.left.wrapping_sub(1);
        }
    }

    #[inline(always)]
    fn document_length(&mut self, len: usize) -> [u8; 4] {
        if len > tag::LENGTH_MAX {
            self.refuse(refusal::DOCUMENT_TOO_LONG);
        }
        self.length(len)
    }

    #[inline(always)]
    fn length(&mut self, len: usize) -> [u8; 4] {
        if len > tag::LENGTH_MAX {
            self.refuse(refusal::TOO_LONG);
        }
        #[allow(clippy::cast_possible_truncation)]
        (len as u32).to_le_bytes()
    }

    /// Begins a container whose length goes here.
    #[inline(always)]
    fn begin(&mut self, form: Form, left: usize) {
        let start = self.out.len();
        if left == 0 {
            self.out.put_array([5, 0, 0, 0, tag::END]);
            return self.done();
        }
        self.out.put_array([0; 4]);
        self.outer.push(std::mem::replace(&mut self.open, Open { form, start, left, ..Open::NONE }));
        self.type_at = ITEM;
    }

    #[inline(always)]
    fn string(&mut self, tag: u8, bytes: &[u8]) {
        self.element(tag);
        let len = self.length(bytes.len() + 1);
        self.out.put_closed(len, Self::fitting(bytes));
    }

    /// The content of an element; of one whose length is refused nothing, as two gigabytes are not copied for nothing.
    #[inline(always)]
    fn fitting(bytes: &[u8]) -> &[u8] {
        if bytes.len() < tag::LENGTH_MAX {
            bytes
        } else {
            &[]
        }
    }

    /// Text that is to become UTF-8.
    fn wide<U: text::Unit>(&mut self, units: &[U]) {
        self.element(tag::STRING);
        if text::has_surrogate(units) {
            self.refuse(refusal::SURROGATE);
        }
        let len = self.length(text::utf8_len(units) + 1);
        self.out.put_array(len);
        text::push_utf8(units, &mut self.out);
        self.out.put_array([tag::END]);
    }

    fn wide_key<U: text::Unit>(&mut self, units: &[U]) {
        // A key that is refused is empty: the value's type has its place all the same.
        self.out.put_array([tag::END]);
        if text::has_surrogate(units) {
            self.refuse(refusal::SURROGATE);
        } else if units.iter().any(|&unit| unit.into() == 0) {
            self.refuse(refusal::NUL);
        } else {
            text::push_utf8(units, &mut self.out);
        }
        self.out.put_array([tag::END]);
    }

    /// Bytes that end with the first NUL.
    #[inline(always)]
    fn cstring<const N: usize>(&mut self, head: [u8; N], bytes: &[u8]) {
        if text::has_nul(bytes) {
            self.refuse(refusal::NUL);
        }
        self.out.put_closed(head, bytes);
    }

    fn binary(&mut self, subtype: u8, data: &[u8]) {
        self.element(tag::BINARY);
        let old = if subtype == tag::SUBTYPE_OLD { 4 } else { 0 };
        let [a, b, c, d] = self.length(data.len() + old);
        self.out.put_array([a, b, c, d, subtype]);
        if old != 0 {
            let len = self.length(data.len());
            self.out.put_array(len);
        }
        self.out.put(if self.refusal.is_none() { data } else { &[] });
    }
}

impl<S: Sink> model::Writer for Writer<S> {
    const KEYS_ARE_TEXT: bool = true;

    #[inline(always)]
    fn key(&mut self, text: Text<'_>) {
        self.type_at = self.out.len();
        match text {
            // The type is still to come: the end of a document keeps its place.
            Text::Ascii(bytes) | Text::Utf8(bytes) => self.cstring([tag::END], bytes),
            Text::Latin1(bytes) => self.wide_key(bytes),
            Text::Ucs2(units) => self.wide_key(units),
            Text::Ucs4(units) => self.wide_key(units),
        }
    }

    #[inline(always)]
    fn none(&mut self) {
        self.element(tag::NULL);
        self.done();
    }

    #[inline(always)]
    fn bool(&mut self, value: bool) {
        self.element(tag::BOOL);
        self.out.put_array([u8::from(value)]);
        self.done();
    }

    #[inline(always)]
    fn int(&mut self, value: i64) {
        match i32::try_from(value) {
            Ok(value) => {
                self.element(tag::INT_32);
                self.out.put_array(value.to_le_bytes());
            }
            Err(_) => {
                self.element(tag::INT_64);
                self.out.put_array(value.to_le_bytes());
            }
        }
        self.done();
    }

    fn bigint(&mut self, bytes: &[u8]) {
        let sign = if bytes.last().is_some_and(|&byte| byte >= 0x80) { u8::MAX } else { 0 };
        let (low, high) = bytes.split_at(bytes.len().min(size_of::<i64>()));
        let mut value = [sign; size_of::<i64>()];
        value[..low.len()].copy_from_slice(low);
        let value = i64::from_le_bytes(value);
        // More bytes may only repeat the sign.
        if high.iter().any(|&byte| byte != sign) || (value < 0) != (sign != 0) {
            self.refuse(refusal::TOO_BIG);
        }
        self.int(value);
    }

    #[inline(always)]
    fn float(&mut self, value: f64) {
        self.element(tag::DOUBLE);
        self.out.put_array(value.to_bits().to_le_bytes());
        self.done();
    }

    #[inline(always)]
    fn text(&mut self, text: Text<'_>) {
        match text {
            Text::Ascii(bytes) | Text::Utf8(bytes) => self.string(tag::STRING, bytes),
            Text::Latin1(bytes) => self.wide(bytes),
            Text::Ucs2(units) => self.wide(units),
            Text::Ucs4(units) => self.wide(units),
        }
        self.done();
    }

    fn bytes(&mut self, bytes: &[u8]) {
        self.binary(0, bytes);
        self.done();
    }

    #[inline(always)]
    fn list(&mut self, len: usize) {
        self.element(tag::ARRAY);
        self.begin(Form::Array, len);
    }

    #[inline(always)]
    fn dict(&mut self, len: usize) {
        self.document_element();
        self.begin(Form::Document, len);
    }

    #[inline(always)]
    fn position(&self) -> usize {
        self.out.len()
    }

    fn rollback(&mut self, position: usize) {
        self.out.truncate(position);
    }

    fn refusal(&self) -> Option<&'static str> {
        self.refusal
    }
}

impl<S: Sink> model::TimestampWriter for Writer<S> {
    const NAIVE_IS_UTC: bool = true;

    /// To the millisecond, the one before.
    fn timestamp(&mut self, seconds: i64, nanoseconds: u32) {
        self.element(tag::DATETIME);
        let milliseconds = i128::from(seconds) * 1000 + i128::from(nanoseconds / 1_000_000);
        let milliseconds = milliseconds.clamp(i128::from(i64::MIN), i128::from(i64::MAX)) as i64;
        self.out.put_array(milliseconds.to_le_bytes());
        self.done();
    }
}

impl<S: Sink> model::BsonWriter for Writer<S> {
    fn bson_value(&mut self, value: BsonValue<'_>) {
        match value {
            BsonValue::MinKey => self.element(tag::MIN_KEY),
            BsonValue::MaxKey => self.element(tag::MAX_KEY),
            BsonValue::ObjectId(id) => {
                self.element(tag::OBJECT_ID);
                self.out.put_array(*id);
            }
            BsonValue::Binary { subtype, data } => self.binary(subtype, data),
            BsonValue::Regex { pattern, options } => {
                self.element(tag::REGEX);
                self.cstring([], pattern);
                self.cstring([], options);
            }
            BsonValue::Pointer { collection, id } => {
                self.string(tag::POINTER, collection);
                self.out.put_array(*id);
            }
            BsonValue::Code(code) => self.string(tag::CODE, code),
            BsonValue::ScopedCode(code) => {
                self.element(tag::SCOPED_CODE);
                self.begin(Form::Code, 1);
                let len = self.length(code.len() + 1);
                self.out.put_closed(len, code);
                self.type_at = BARE;
                return;
            }
            BsonValue::Long(value) => {
                self.element(tag::INT_64);
                self.out.put_array(value.to_le_bytes());
            }
            BsonValue::Clock { seconds, count } => {
                self.element(tag::CLOCK);
                self.out.put_array((u64::from(seconds) << 32 | u64::from(count)).to_le_bytes());
            }
            BsonValue::Decimal(bytes) => {
                self.element(tag::DECIMAL);
                self.out.put_array(*bytes);
            }
            BsonValue::Document(bytes) => {
                self.document_element();
                self.out.put(bytes);
            }
        }
        self.done();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use model::Writer as _;
    use std::vec::Vec;

    #[test]
    fn names_of_items_no_document_has_room_for() {
        let mut w = Writer::new(Vec::new());
        w.dict(1);
        w.list(usize::MAX);
        for number in [9, 99, 100, 999, 1000, 1_000_000, 999_999_999, 1_000_000_000, u32::MAX - 1, u32::MAX] {
            w.open.items = number;
            let before = w.out.len();
            w.none();
            assert_eq!(w.out[before..], format!("\x0A{number}\0").into_bytes());
        }
        // They begin anew, which nobody sees: the document is longer than its length can say.
        assert_eq!(w.open.items, 0);
    }

    #[test]
    fn lengths_of_more_than_31_bits_are_refused() {
        let mut w = Writer::new(Vec::new());
        assert_eq!(w.length(0x7FFF_FFFF), [255, 255, 255, 127]);
        assert_eq!(w.refusal(), None);
        w.length(0x8000_0000);
        assert_eq!(w.refusal(), Some("text or bytes of more than 2,147,483,647 bytes"));
        let mut w = Writer::new(Vec::new());
        assert_eq!(w.document_length(0x7FFF_FFFF), [255, 255, 255, 127]);
        w.document_length(0x8000_0000);
        assert_eq!(w.refusal(), Some("a document of more than 2,147,483,647 bytes"));
    }

    #[test]
    #[cfg(target_pointer_width = "64")]
    fn what_is_refused_for_its_length_is_not_copied() {
        // Pages that nobody touches take no memory.
        let much = vec![0; 0x8000_0000];
        let mut w = Writer::new(Vec::new());
        w.dict(1);
        w.list(1);
        w.binary(0, &much);
        assert_eq!(w.refusal(), Some("text or bytes of more than 2,147,483,647 bytes"));
        assert!(w.out.len() < 64);
    }
}

//! Tokens to bytes. [`super::Reader`] mirrors it.
//!
//! What is met more than once stands apart, also in the place where it is met first: a first walk finds it ([`Survey`]), a second
//! writes.

use super::tag::{self, Row, Tag};
use crate::bson::{self, tag as bytes};
use crate::memory::{vec, Vec};
use crate::model::{self, BsonValue, BsonWriter as _, Text, TypedForm, TypedWriter as _, Writer as _};
use crate::sink::Sink;
use crate::text;

/// The names of parts that are values, each form's in their order.
static PARTS: [&str; 11] = [
    tag::TYPE,
    tag::DATA, // a struct; its last alone, a tuple
    tag::TYPE,
    tag::SIZE,
    tag::DATA,
    tag::PARAMS,
    tag::NAME,
    tag::VAR,
    tag::BODY,
    tag::PARAMS,
    tag::TYPENAME,
];

/// A parameter of a type.
#[derive(Debug, Clone, Copy)]
pub enum Parameter<'a> {
    /// The description of another type.
    Type(&'a [u8]),
    Int(i64),
    Bool(bool),
    Float(f64),
    Symbol(&'a [u8]),
    /// That many of the next parameters are one: a tuple of them.
    Tuple(usize),
}

impl Parameter<'_> {
    /// The name of its type, if that is one of bits.
    fn bits_type(&self) -> Option<&'static [u8]> {
        match self {
            Parameter::Int(_) => Some(b"Int64"),
            Parameter::Bool(_) => Some(b"Bool"),
            Parameter::Float(_) => Some(b"Float64"),
            Parameter::Type(_) | Parameter::Symbol(_) | Parameter::Tuple(_) => None,
        }
    }

    fn bits(&self) -> Vec<u8> {
        match self {
            Parameter::Int(value) => Vec::from(value.to_le_bytes()),
            Parameter::Bool(value) => vec![u8::from(*value)],
            Parameter::Float(value) => Vec::from(value.to_le_bytes()),
            Parameter::Type(_) | Parameter::Symbol(_) | Parameter::Tuple(_) => Vec::new(),
        }
    }
}

/// Writes a document of Julia's into a [`Sink`].
#[derive(Debug)]
pub struct Writer<S: Sink> {
    bson: bson::Writer<S>,
    /// What a document's head is put together in.
    head: Vec<u8>,
}

impl<S: Sink> Writer<S> {
    /// Starts a document.
    pub fn new(out: S) -> Self {
        Writer { bson: bson::Writer::with_parts(out, &PARTS), head: Vec::with_capacity(256) }
    }

    pub fn into_sink(self) -> S {
        self.bson.out
    }

    fn put_name(&mut self, kind: u8, name: &str) {
        self.head.push(kind);
        self.head.extend_from_slice(name.as_bytes());
        self.head.push(0);
    }

    fn put_string(&mut self, string: &[u8]) {
        // One that is too long for a length is too long for the document, which refuses it.
        self.head.extend_from_slice(&(string.len() as u32).wrapping_add(1).to_le_bytes());
        self.head.extend_from_slice(string);
        self.head.push(0);
    }

    /// Begins a head: which document it is.
    fn put_tag(&mut self, row: &Row) {
        self.head.clear();
        self.put_name(bytes::STRING, tag::TAG);
        self.put_string(row.name.as_bytes());
    }

    /// The head of an instance, and of what begins like one.
    fn put_class(&mut self, tag: Tag, class: &[u8]) {
        self.put_tag(tag.row());
        self.put_name(bytes::DOCUMENT, tag::TYPE);
        self.head.extend_from_slice(class);
    }

    fn put_dimensions(&mut self, dimensions: &[usize]) {
        self.put_name(bytes::ARRAY, tag::SIZE);
        let start = self.head.len();
        self.head.extend_from_slice(&[0; 4]);
        for (at, &len) in dimensions.iter().enumerate() {
            self.put_name(bytes::INT_64, &at.to_string());
            self.head.extend_from_slice(&(len as u64).to_le_bytes());
        }
        self.head.push(bytes::END);
        let len = (self.head.len() - start) as u32;
        self.head[start..start + 4].copy_from_slice(&len.to_le_bytes());
    }

    /// Text of which lone surrogates stand for bytes that are no UTF-8, or else for themselves.
    fn odd_text<U: text::Unit>(units: &[U]) -> Vec<u8> {
        let mut made = Vec::with_capacity(units.len());
        for &unit in units {
            match unit.into() {
                escaped @ 0xdc80..=0xdcff => made.push((escaped & 0xff) as u8),
                _ => text::push_utf8(&[unit], &mut made),
            }
        }
        made
    }
}

/// The description of a type: its modules and name, and its parameters.
pub fn description<'p>(path: impl ExactSizeIterator<Item = &'p [u8]>, parameters: &[Parameter<'_>]) -> Vec<u8> {
    let mut w = Writer::new(Vec::new());
    w.typed_value(TypedForm::Type);
    put_parameters(&mut w, parameters);
    w.list(path.len());
    for name in path {
        w.raw_text(name);
    }
    w.into_sink()
}

fn put_parameters(w: &mut Writer<Vec<u8>>, parameters: &[Parameter<'_>]) {
    // Julia keeps them in a vector, which is packed where all are of one type of bits. The caller has others of that kind written as values.
    if let Some(name) = parameters.first().and_then(Parameter::bits_type) {
        if parameters.iter().all(|parameter| parameter.bits_type() == Some(name)) {
            let element = description([&b"Core"[..], name].into_iter(), &[]);
            let data: Vec<u8> = parameters.iter().flat_map(Parameter::bits).collect();
            return w.packed(&element, &[parameters.len()], &data);
        }
    }
    // What a tuple holds belongs to it.
    let mut len = 0;
    let mut at = 0;
    while at < parameters.len() {
        at = end_of(parameters, at);
        len += 1;
    }
    w.list(len);
    for parameter in parameters {
        match *parameter {
            Parameter::Type(description) => w.bson.bson_value(BsonValue::Document(description)),
            Parameter::Int(value) => w.int(value),
            Parameter::Bool(value) => w.bool(value),
            Parameter::Float(value) => w.float(value),
            Parameter::Symbol(name) => w.symbol(name),
            Parameter::Tuple(len) => w.tuple(len),
        }
    }
}

/// Where the parameter after the `at`th begins.
fn end_of(parameters: &[Parameter<'_>], at: usize) -> usize {
    let (mut at, mut left) = (at, 1);
    while left > 0 {
        if let Some(Parameter::Tuple(len)) = parameters.get(at) {
            left += len;
        }
        at += 1;
        left -= 1;
    }
    at
}

/// The description of a type that stands apart.
pub fn reference(number: u64) -> Vec<u8> {
    let mut w = Writer::new(Vec::new());
    w.reference(number);
    w.into_sink()
}

impl<S: Sink> model::Writer for Writer<S> {
    const KEYS_ARE_TEXT: bool = true;

    #[inline(always)]
    fn key(&mut self, text: Text<'_>) {
        match text {
            Text::Ucs2(units) if text::has_surrogate(units) => self.bson.key(Text::Utf8(&Self::odd_text(units))),
            Text::Ucs4(units) if text::has_surrogate(units) => self.bson.key(Text::Utf8(&Self::odd_text(units))),
            _ => self.bson.key(text),
        }
    }

    #[inline(always)]
    fn none(&mut self) {
        self.bson.none();
    }

    #[inline(always)]
    fn bool(&mut self, value: bool) {
        self.bson.bool(value);
    }

    #[inline(always)]
    fn int(&mut self, value: i64) {
        self.bson.bson_value(BsonValue::Long(value));
    }

    fn bigint(&mut self, bytes: &[u8]) {
        self.bson.bigint(bytes);
    }

    #[inline(always)]
    fn float(&mut self, value: f64) {
        self.bson.float(value);
    }

    #[inline(always)]
    fn text(&mut self, text: Text<'_>) {
        match text {
            Text::Ucs2(units) if text::has_surrogate(units) => self.bson.text_of(&Self::odd_text(units)),
            Text::Ucs4(units) if text::has_surrogate(units) => self.bson.text_of(&Self::odd_text(units)),
            _ => self.bson.text(text),
        }
    }

    fn bytes(&mut self, bytes: &[u8]) {
        self.bson.bytes(bytes);
    }

    #[inline(always)]
    fn list(&mut self, len: usize) {
        self.bson.list(len);
    }

    #[inline(always)]
    fn dict(&mut self, len: usize) {
        self.bson.dict(len);
    }

    fn tuple(&mut self, len: usize) {
        self.put_tag(Tag::Tuple.row());
        self.put_name(bytes::ARRAY, tag::DATA);
        self.bson.begin_last(&self.head, len);
    }

    #[inline(always)]
    fn position(&self) -> usize {
        self.bson.position()
    }

    fn rollback(&mut self, position: usize) {
        self.bson.rollback(position);
    }

    fn refusal(&self) -> Option<&'static str> {
        self.bson.refusal()
    }
}

impl<S: Sink> model::TypedWriter for Writer<S> {
    #[inline(always)]
    fn structure(&mut self, class: &[u8], fields: usize) {
        let head = &mut self.head;
        head.clear();
        head.extend_from_slice(tag::STRUCT_HEAD);
        head.extend_from_slice(class);
        head.extend_from_slice(tag::FIELDS_HEAD);
        self.bson.begin_last(head, fields);
    }

    fn bits(&mut self, class: &[u8], data: &[u8]) {
        self.put_class(Tag::Struct, class);
        self.put_name(bytes::BINARY, tag::DATA);
        self.bson.whole(&self.head, Some(data));
    }

    fn packed(&mut self, element: &[u8], dimensions: &[usize], data: &[u8]) {
        self.put_class(Tag::Array, element);
        self.put_dimensions(dimensions);
        self.put_name(bytes::BINARY, tag::DATA);
        self.bson.whole(&self.head, Some(data));
    }

    fn boxed(&mut self, element: &[u8], dimensions: &[usize], len: usize) {
        self.put_class(Tag::Array, element);
        self.put_dimensions(dimensions);
        self.put_name(bytes::ARRAY, tag::DATA);
        self.bson.begin_last(&self.head, len);
    }

    fn typed_value(&mut self, form: TypedForm) {
        let (tag, first, len) = match form {
            TypedForm::Struct => (Tag::Struct, 0, 2),
            TypedForm::Array => (Tag::Array, 2, 3),
            TypedForm::Type => (Tag::Type, 5, 2),
            TypedForm::UnionAll => (Tag::UnionAll, 7, 2),
            TypedForm::Anonymous => (Tag::Anonymous, 9, 2),
            TypedForm::Simple => (Tag::Simple, 1, 1),
            TypedForm::Bottom => (Tag::Bottom, 0, 0),
        };
        self.put_tag(tag.row());
        self.bson.begin_parts(&self.head, first, len);
    }

    fn description(&mut self, description: &[u8]) {
        self.bson.bson_value(BsonValue::Document(description));
    }

    fn symbol(&mut self, name: &[u8]) {
        self.put_tag(Tag::Symbol.row());
        self.put_name(bytes::STRING, tag::NAME);
        self.put_string(name);
        self.bson.whole(&self.head, None);
    }

    fn module(&mut self, path: &[&[u8]]) {
        self.put_tag(Tag::Module.row());
        self.put_name(bytes::ARRAY, tag::PATH);
        self.bson.begin_last(&self.head, path.len());
        for name in path {
            self.bson.text_of(name);
        }
    }

    fn int32(&mut self, value: i32) {
        self.bson.int32(value);
    }

    fn raw_text(&mut self, bytes: &[u8]) {
        self.bson.text_of(bytes);
    }

    fn reference(&mut self, number: u64) {
        self.put_tag(Tag::Reference.row());
        self.put_name(bytes::INT_64, tag::REF);
        self.head.extend_from_slice(&number.to_le_bytes());
        self.bson.whole(&self.head, None);
    }

    fn back_references(&mut self, len: usize) {
        self.bson.key(Text::Ascii(tag::APART.as_bytes()));
        self.bson.list(len);
    }
}

/// Writes nothing: for the walk that finds what is met more than once.
#[derive(Debug, Default)]
pub struct Survey;

impl model::Writer for Survey {
    const KEYS_ARE_TEXT: bool = true;

    fn key(&mut self, _text: Text<'_>) {}

    fn none(&mut self) {}

    fn bool(&mut self, _value: bool) {}

    fn int(&mut self, _value: i64) {}

    fn bigint(&mut self, _bytes: &[u8]) {}

    fn float(&mut self, _value: f64) {}

    fn text(&mut self, _text: Text<'_>) {}

    fn bytes(&mut self, _bytes: &[u8]) {}

    fn list(&mut self, _len: usize) {}

    fn dict(&mut self, _len: usize) {}

    fn tuple(&mut self, _len: usize) {}

    fn position(&self) -> usize {
        0
    }

    fn rollback(&mut self, _position: usize) {}
}

impl model::TypedWriter for Survey {
    fn structure(&mut self, _class: &[u8], _fields: usize) {}
    fn bits(&mut self, _class: &[u8], _data: &[u8]) {}
    fn packed(&mut self, _element: &[u8], _dimensions: &[usize], _data: &[u8]) {}
    fn boxed(&mut self, _element: &[u8], _dimensions: &[usize], _len: usize) {}
    fn typed_value(&mut self, _form: TypedForm) {}
    fn description(&mut self, _description: &[u8]) {}
    fn symbol(&mut self, _name: &[u8]) {}
    fn module(&mut self, _path: &[&[u8]]) {}
    fn int32(&mut self, _value: i32) {}
    fn raw_text(&mut self, _bytes: &[u8]) {}
    fn reference(&mut self, _number: u64) {}
    fn back_references(&mut self, _len: usize) {}
}

//! Any tree of values: the reader gives back what was written, and all of it is one document by the specification.
#![no_main]

use arbitrary::Arbitrary;
use holdall_format::bson::{Reader, Writer};
use holdall_format::model::{BsonValue, BsonWriter as _, Bytes, ExtentReader as _, Reader as _, Text, TimestampWriter as _, Token, Writer as _};
use libfuzzer_sys::fuzz_target;

#[path = "../../src/bson/tests/strict.rs"]
mod strict;

#[derive(Debug, Arbitrary)]
enum Value {
    None,
    Bool(bool),
    Int(i64),
    BigInt(Vec<u8>),
    Long(i64),
    Float(u64),
    Text(Units),
    Bytes(Vec<u8>),
    Time(i32, u16),
    MinKey,
    MaxKey,
    ObjectId([u8; 12]),
    Binary(u8, Vec<u8>),
    Regex(Vec<u8>, Vec<u8>),
    Pointer(String, [u8; 12]),
    Code(String),
    Scoped(String, Vec<(Units, Value)>),
    Clock(u32, u32),
    Decimal([u8; 16]),
    List(Vec<Value>),
    /// So many nulls: names of items of every length.
    Nulls(u16),
    Dict(Vec<(Units, Value)>),
    Raw(Vec<(Units, Value)>),
}

/// Text at the widths that hosts keep it in.
#[derive(Debug, Arbitrary)]
enum Units {
    Narrow(String),
    Latin1(Vec<u8>),
    Ucs2(Vec<u16>),
    Ucs4(Vec<char>),
}

impl Units {
    /// The text that it is, if it is one.
    fn text(&self) -> Option<String> {
        match self {
            Units::Narrow(text) => Some(text.clone()),
            Units::Latin1(bytes) => Some(bytes.iter().map(|&byte| char::from(byte)).collect()),
            Units::Ucs2(units) => units.iter().map(|&unit| char::from_u32(u32::from(unit))).collect(),
            Units::Ucs4(chars) => Some(chars.iter().collect()),
        }
    }

    fn give<T>(&self, take: impl FnOnce(Text<'_>) -> T) -> T {
        match self {
            Units::Narrow(text) if text.is_ascii() => take(Text::Ascii(text.as_bytes())),
            Units::Narrow(text) => take(Text::Utf8(text.as_bytes())),
            Units::Latin1(bytes) => take(Text::Latin1(bytes)),
            Units::Ucs2(units) => take(Text::Ucs2(units)),
            Units::Ucs4(chars) => take(Text::Ucs4(&chars.iter().map(|&c| u32::from(c)).collect::<Vec<_>>())),
        }
    }
}

fn members(w: &mut Writer<Vec<u8>>, members: &[(Units, Value)]) -> bool {
    w.dict(members.len());
    members.iter().fold(true, |good, (name, value)| {
        name.give(|text| w.key(text));
        let named = name.text().is_some_and(|name| !name.contains('\0'));
        write(w, value) && good && named
    })
}

/// Says whether there is a form for it.
fn write(w: &mut Writer<Vec<u8>>, value: &Value) -> bool {
    match value {
        Value::None => w.none(),
        Value::Bool(value) => w.bool(*value),
        Value::Int(value) => w.int(*value),
        Value::BigInt(bytes) => {
            w.bigint(bytes);
            return int(bytes).is_some();
        }
        Value::Long(value) => w.bson_value(BsonValue::Long(*value)),
        Value::Float(bits) => w.float(f64::from_bits(*bits)),
        Value::Text(units) => {
            units.give(|text| w.text(text));
            return units.text().is_some();
        }
        Value::Bytes(bytes) => w.bytes(bytes),
        Value::Time(seconds, milliseconds) => w.timestamp(i64::from(*seconds), nanoseconds(*milliseconds)),
        Value::MinKey => w.bson_value(BsonValue::MinKey),
        Value::MaxKey => w.bson_value(BsonValue::MaxKey),
        Value::ObjectId(id) => w.bson_value(BsonValue::ObjectId(id)),
        Value::Binary(subtype, data) => w.bson_value(BsonValue::Binary { subtype: *subtype, data }),
        Value::Regex(pattern, options) => {
            w.bson_value(BsonValue::Regex { pattern, options });
            return !pattern.contains(&0) && !options.contains(&0);
        }
        Value::Pointer(collection, id) => w.bson_value(BsonValue::Pointer { collection: collection.as_bytes(), id }),
        Value::Code(code) => w.bson_value(BsonValue::Code(code.as_bytes())),
        Value::Scoped(code, scope) => {
            w.bson_value(BsonValue::ScopedCode(code.as_bytes()));
            return members(w, scope);
        }
        Value::Clock(seconds, count) => w.bson_value(BsonValue::Clock { seconds: *seconds, count: *count }),
        Value::Decimal(bytes) => w.bson_value(BsonValue::Decimal(bytes)),
        Value::List(values) => {
            w.list(values.len());
            return values.iter().fold(true, |good, value| write(w, value) && good);
        }
        Value::Nulls(len) => {
            w.list(items(*len));
            (0..items(*len)).for_each(|_| w.none());
        }
        Value::Dict(of) => return members(w, of),
        Value::Raw(of) => {
            let mut within = Writer::new(Vec::new());
            let good = members(&mut within, of);
            w.bson_value(BsonValue::Document(&within.out));
            return good;
        }
    }
    true
}

/// Enough for names of every length that a table or a loop makes.
fn items(len: u16) -> usize {
    usize::from(len) % 1200
}

fn nanoseconds(milliseconds: u16) -> u32 {
    u32::from(milliseconds % 1000) * 1_000_000
}

/// The number that two's complement of any length says, if it has 64 bits.
fn int(bytes: &[u8]) -> Option<i64> {
    let negative = bytes.last().is_some_and(|&byte| byte >= 0x80);
    let fill = if negative { 0xFF } else { 0 };
    let mut wide = [fill; 9];
    for (at, &byte) in bytes.iter().enumerate() {
        match wide.get_mut(at) {
            Some(place) => *place = byte,
            None if byte == fill => {}
            None => return None,
        }
    }
    let (low, high) = wide.split_first_chunk()?;
    let value = i64::from_le_bytes(*low);
    (high[0] == fill && (value < 0) == negative).then_some(value)
}

fn check_members(r: &mut Reader<'_>, token: Token<'_>, members: &[(Units, Value)]) {
    let Token::Members(end) = token else { panic!("{token:?}") };
    assert_eq!(r.count(end).expect("what was written is counted"), members.len());
    for (name, value) in members {
        r.key();
        let name = name.text().expect("was written");
        assert_eq!(text(r.next().expect("a name")), name);
        check(r, value);
    }
}

fn text(token: Token<'_>) -> String {
    match token {
        Token::Text(Bytes::Ascii(bytes) | Bytes::StrictUtf8(bytes)) => {
            String::from_utf8(bytes.to_vec()).expect("what was written is text")
        }
        other => panic!("{other:?}"),
    }
}

fn check(r: &mut Reader<'_>, value: &Value) {
    let token = r.next().expect("what was written is read");
    match (value, token) {
        (Value::None, Token::None) | (Value::MinKey, Token::BsonValue(BsonValue::MinKey)) => {}
        (Value::MaxKey, Token::BsonValue(BsonValue::MaxKey)) => {}
        (Value::Bool(value), Token::Bool(found)) => assert_eq!(*value, found),
        (Value::Int(value) | Value::Long(value), Token::Int(found)) => assert_eq!(*value, found),
        (Value::BigInt(bytes), Token::Int(found)) => assert_eq!(int(bytes), Some(found)),
        (Value::Float(bits), Token::Float(found)) => assert_eq!(*bits, found.to_bits()),
        (Value::Text(units), token) => assert_eq!(units.text(), Some(text(token))),
        (Value::Bytes(bytes) | Value::Binary(0, bytes), Token::Bytes(found)) => assert_eq!(bytes, found),
        (Value::Time(seconds, fraction), Token::Timestamp { seconds: found, nanoseconds: with }) => {
            assert_eq!((i64::from(*seconds), nanoseconds(*fraction)), (found, with));
        }
        (Value::ObjectId(id), Token::BsonValue(BsonValue::ObjectId(found))) => assert_eq!(id, found),
        (Value::Binary(of, data), Token::BsonValue(BsonValue::Binary { subtype, data: found })) => {
            assert_eq!((*of, &data[..]), (subtype, found));
        }
        (Value::Regex(of, letters), Token::BsonValue(BsonValue::Regex { pattern, options })) => {
            assert_eq!((&of[..], &letters[..]), (pattern, options));
        }
        (Value::Pointer(of, number), Token::BsonValue(BsonValue::Pointer { collection, id })) => {
            assert_eq!((of.as_bytes(), number), (collection, id));
        }
        (Value::Code(code), Token::BsonValue(BsonValue::Code(found))) => assert_eq!(code.as_bytes(), found),
        (Value::Scoped(code, scope), Token::BsonValue(BsonValue::ScopedCode(found))) => {
            assert_eq!(code.as_bytes(), found);
            let token = r.next().expect("its variables");
            check_members(r, token, scope);
        }
        (Value::Clock(of, number), Token::BsonValue(BsonValue::Clock { seconds, count })) => {
            assert_eq!((*of, *number), (seconds, count));
        }
        (Value::Decimal(bytes), Token::BsonValue(BsonValue::Decimal(found))) => assert_eq!(bytes, found),
        (Value::List(values), Token::Items(end)) => {
            assert_eq!(r.count(end).expect("what was written is counted"), values.len());
            values.iter().for_each(|value| check(r, value));
        }
        (Value::Nulls(len), Token::Items(end)) => {
            assert_eq!(r.count(end).expect("what was written is counted"), items(*len));
            (0..items(*len)).for_each(|_| assert!(matches!(r.next(), Ok(Token::None))));
        }
        (Value::Dict(of) | Value::Raw(of), token) => check_members(r, token, of),
        (value, token) => panic!("{value:?} is {token:?}"),
    }
}

fuzz_target!(|root: Vec<(Units, Value)>| {
    let mut w = Writer::new(Vec::new());
    let good = members(&mut w, &root);
    if !good {
        // What is void within a raw document is its own writer's to say.
        assert!(w.refusal().is_some() || format!("{root:?}").contains("Raw("));
        return;
    }
    assert_eq!(w.refusal(), None);
    let mut r = Reader::new(&w.out);
    let token = r.next().expect("a document");
    check_members(&mut r, token, &root);
    r.finish().expect("nothing is left");
    assert!(strict::strictly(&w.out).is_some());
});

//! Both sides at once: hand-written bytes, every prefix of them, every length at its extremes, every byte damaged.

use super::{refusal, split_first, tag, Element, Elements, Reader, Writer};
use crate::error::{ErrorKind, Result};
use crate::model::{
    self, BsonValue, BsonWriter as _, ExtentReader as _, Reader as _, Text, TimestampWriter as _, Token, Writer as _,
};
use std::vec;
use std::vec::Vec;

mod bounds;
mod strict;
mod walk;

use strict::strictly;
use walk::{by_elements, by_tokens};

type Write = fn(&mut Writer<Vec<u8>>);

/// A document of these elements.
fn document(elements: &[u8]) -> Vec<u8> {
    let len = (elements.len() + 5) as u32;
    [&len.to_le_bytes(), elements, &[0]].concat()
}

/// A document of one value, whose name is "k".
fn keyed(tag: u8, value: &[u8]) -> Vec<u8> {
    document(&[&[tag, b'k', 0], value].concat())
}

fn sized(len: i32, bytes: &[u8]) -> Vec<u8> {
    [&len.to_le_bytes(), bytes].concat()
}

/// What is written as the value of the key "k".
fn written(write: Write) -> Writer<Vec<u8>> {
    let mut w = Writer::new(Vec::new());
    w.dict(1);
    w.key(Text::Ascii(b"k"));
    write(&mut w);
    w
}

/// All of a document, as hosts of all kinds read it, and as the specification has it; they agree, or this panics.
fn ends(input: &[u8]) -> Result<Vec<usize>> {
    let found = by_tokens(Reader::new(input), false);
    let (known, strict) = (found.as_ref().ok(), strictly(input));
    assert_eq!(known, strict.as_ref(), "counted: {input:?}");
    assert_eq!(by_tokens(Reader::new(input), true).ok().as_ref(), known, "uncounted: {input:?}");
    assert_eq!(by_elements(input).ok().as_ref(), known, "elements: {input:?}");
    found
}

fn debug(token: Result<Token<'_>>) -> String {
    token.map_or_else(|error| format!("{error} at {}", error.offset()), |token| format!("{token:?}"))
}

/// Every type at its boundaries: what is written, its type and bytes, the token (or its beginning) that is read.
fn cases() -> Vec<(Write, u8, Vec<u8>, &'static str)> {
    const ID: &[u8; 12] = b"\x00\x01\x02\x03\x04\x05\x06\x07\x08\x09\x0A\x0B";
    vec![
        (|w| w.none(), 0x0A, vec![], "None"),
        (|w| w.bool(false), 0x08, vec![0], "Bool(false)"),
        (|w| w.bool(true), 0x08, vec![1], "Bool(true)"),
        (|w| w.int(0), 0x10, vec![0; 4], "Int(0)"),
        (|w| w.int(1), 0x10, vec![1, 0, 0, 0], "Int(1)"),
        (|w| w.int(-1), 0x10, vec![255; 4], "Int(-1)"),
        (|w| w.int(0x7FFF_FFFF), 0x10, vec![255, 255, 255, 0x7F], "Int(2147483647)"),
        (|w| w.int(0x8000_0000), 0x12, vec![0, 0, 0, 0x80, 0, 0, 0, 0], "Int(2147483648)"),
        (|w| w.int(-0x8000_0000), 0x10, vec![0, 0, 0, 0x80], "Int(-2147483648)"),
        (|w| w.int(-0x8000_0001), 0x12, vec![255, 255, 255, 0x7F, 255, 255, 255, 255], "Int(-2147483649)"),
        (|w| w.int(i64::MAX), 0x12, vec![255, 255, 255, 255, 255, 255, 255, 0x7F], "Int(9223372036854775807)"),
        (|w| w.int(i64::MIN), 0x12, vec![0, 0, 0, 0, 0, 0, 0, 0x80], "Int(-9223372036854775808)"),
        (|w| w.bigint(&[]), 0x10, vec![0; 4], "Int(0)"),
        (|w| w.bigint(&[0x80]), 0x10, vec![0x80, 255, 255, 255], "Int(-128)"),
        (|w| w.bigint(&[0x80, 0]), 0x10, vec![0x80, 0, 0, 0], "Int(128)"),
        (|w| w.bigint(&[0xFF; 12]), 0x10, vec![255; 4], "Int(-1)"),
        (|w| w.bigint(&[0; 9]), 0x10, vec![0; 4], "Int(0)"),
        (
            |w| w.bigint(&[0, 0, 0, 0, 0, 0, 0, 0x80]),
            0x12,
            vec![0, 0, 0, 0, 0, 0, 0, 0x80],
            "Int(-9223372036854775808)",
        ),
        (|w| w.float(1.5), 0x01, vec![0, 0, 0, 0, 0, 0, 0xF8, 0x3F], "Float(1.5)"),
        (|w| w.float(-0.0), 0x01, vec![0, 0, 0, 0, 0, 0, 0, 0x80], "Float(-0.0)"),
        (|w| w.float(f64::from_bits(0x7FF8_0000_0000_0007)), 0x01, vec![7, 0, 0, 0, 0, 0, 0xF8, 0x7F], "Float(NaN)"),
        (|w| w.text(Text::Ascii(b"")), 0x02, sized(1, b"\0"), "Text(Ascii([]))"),
        (|w| w.text(Text::Ascii(b"a\0b")), 0x02, sized(4, b"a\0b\0"), "Text(Ascii([97, 0, 98]))"),
        (
            |w| w.text(Text::Ascii(&[b'x'; 300])),
            0x02,
            sized(301, &[&[b'x'; 300][..], b"\0"].concat()),
            "Text(Ascii([120",
        ),
        (
            |w| w.text(Text::Latin1(&[0x61, 0xE9])),
            0x02,
            sized(4, "aé\0".as_bytes()),
            "Text(StrictUtf8([97, 195, 169]))",
        ),
        (
            |w| w.text(Text::Ucs2(&[0x65E5, 0])),
            0x02,
            sized(5, "日\0\0".as_bytes()),
            "Text(StrictUtf8([230, 151, 165, 0]))",
        ),
        (
            |w| w.text(Text::Ucs4(&[0x1_F600])),
            0x02,
            sized(5, "😀\0".as_bytes()),
            "Text(StrictUtf8([240, 159, 152, 128]))",
        ),
        (|w| w.text(Text::Utf8("é".as_bytes())), 0x02, sized(3, "é\0".as_bytes()), "Text(StrictUtf8([195, 169]))"),
        (|w| w.bytes(b""), 0x05, sized(0, b"\0"), "Bytes([])"),
        (|w| w.bytes(b"\0\xFF"), 0x05, sized(2, b"\0\0\xFF"), "Bytes([0, 255])"),
        (|w| w.list(0), 0x04, document(b""), "Items("),
        (|w| w.dict(0), 0x03, document(b""), "Members("),
        (|w| w.timestamp(0, 0), 0x09, vec![0; 8], "Timestamp { seconds: 0, nanoseconds: 0 }"),
        (|w| w.timestamp(0, 999_999), 0x09, vec![0; 8], "Timestamp { seconds: 0, nanoseconds: 0 }"),
        (|w| w.timestamp(1, 1_999_999), 0x09, sized(1001, &[0; 4]), "Timestamp { seconds: 1, nanoseconds: 1000000 }"),
        (|w| w.timestamp(-1, 999_999_999), 0x09, vec![255; 8], "Timestamp { seconds: -1, nanoseconds: 999000000 }"),
        (
            |w| w.timestamp(9_223_372_036_854_775, 807_000_000),
            0x09,
            i64::MAX.to_le_bytes().to_vec(),
            "Timestamp { seconds: 9223372036854775, nanoseconds: 807000000 }",
        ),
        (
            |w| w.timestamp(i64::MAX, 0),
            0x09,
            i64::MAX.to_le_bytes().to_vec(),
            "Timestamp { seconds: 9223372036854775, nanoseconds: 807000000 }",
        ),
        (
            |w| w.timestamp(i64::MIN, 0),
            0x09,
            i64::MIN.to_le_bytes().to_vec(),
            "Timestamp { seconds: -9223372036854776, nanoseconds: 192000000 }",
        ),
        (|w| w.bson_value(BsonValue::MinKey), 0xFF, vec![], "BsonValue(MinKey)"),
        (|w| w.bson_value(BsonValue::MaxKey), 0x7F, vec![], "BsonValue(MaxKey)"),
        (|w| w.bson_value(BsonValue::ObjectId(ID)), 0x07, ID.to_vec(), "BsonValue(ObjectId([0, 1, 2, 3"),
        (|w| w.bson_value(BsonValue::Binary { subtype: 0, data: b"a" }), 0x05, sized(1, b"\0a"), "Bytes([97])"),
        (
            |w| w.bson_value(BsonValue::Binary { subtype: 255, data: b"a" }),
            0x05,
            sized(1, b"\xFFa"),
            "BsonValue(Binary { subtype: 255, data: [97] })",
        ),
        (
            |w| w.bson_value(BsonValue::Binary { subtype: 4, data: &[7; 16] }),
            0x05,
            [&[16, 0, 0, 0, 4][..], &[7; 16]].concat(),
            "BsonValue(Binary { subtype: 4, data: [7, 7",
        ),
        // The length within counts four bytes less.
        (
            |w| w.bson_value(BsonValue::Binary { subtype: 2, data: b"ab" }),
            0x05,
            sized(6, b"\x02\x02\0\0\0ab"),
            "BsonValue(Binary { subtype: 2, data: [97, 98] })",
        ),
        (
            |w| w.bson_value(BsonValue::Binary { subtype: 2, data: b"" }),
            0x05,
            sized(4, b"\x02\0\0\0\0"),
            "BsonValue(Binary { subtype: 2, data: [] })",
        ),
        (
            |w| w.bson_value(BsonValue::Regex { pattern: b"", options: b"" }),
            0x0B,
            vec![0, 0],
            "BsonValue(Regex { pattern: [], options: [] })",
        ),
        (
            |w| w.bson_value(BsonValue::Regex { pattern: b"a.b", options: b"im" }),
            0x0B,
            b"a.b\0im\0".to_vec(),
            "BsonValue(Regex { pattern: [97, 46, 98], options: [105, 109] })",
        ),
        (
            |w| w.bson_value(BsonValue::Pointer { collection: b"db.c", id: ID }),
            0x0C,
            [&sized(5, b"db.c\0"), &ID[..]].concat(),
            "BsonValue(Pointer { collection: [100, 98, 46, 99], id: [0, 1",
        ),
        (|w| w.bson_value(BsonValue::Code(b"f()")), 0x0D, sized(4, b"f()\0"), "BsonValue(Code([102, 40, 41]))"),
        (
            |w| scoped(w, b"", |w| w.dict(0)),
            0x0F,
            sized(14, &[&sized(1, b"\0")[..], &document(b"")].concat()),
            "BsonValue(ScopedCode([]))",
        ),
        (
            |w| {
                scoped(w, b"f", |w| {
                    w.dict(1);
                    w.key(Text::Ascii(b"x"));
                    w.none();
                });
            },
            0x0F,
            sized(18, &[&sized(2, b"f\0")[..], &document(b"\x0Ax\0")].concat()),
            "BsonValue(ScopedCode([102]))",
        ),
        // Variables that are bytes already.
        (
            |w| scoped(w, b"f", |w| w.bson_value(BsonValue::Document(b"\x08\0\0\0\x0Ax\0\0"))),
            0x0F,
            sized(18, &[&sized(2, b"f\0")[..], &document(b"\x0Ax\0")].concat()),
            "BsonValue(ScopedCode([102]))",
        ),
        (|w| w.bson_value(BsonValue::Document(b"\x08\0\0\0\x0Ax\0\0")), 0x03, document(b"\x0Ax\0"), "Members("),
        (
            |w| w.bson_value(BsonValue::Clock { seconds: 1, count: 2 }),
            0x11,
            vec![2, 0, 0, 0, 1, 0, 0, 0],
            "BsonValue(Clock",
        ),
        (
            |w| w.bson_value(BsonValue::Clock { seconds: u32::MAX, count: u32::MAX }),
            0x11,
            vec![255; 8],
            "BsonValue(Clock { seconds: 4294967295, count: 4294967295 })",
        ),
        (
            |w| w.bson_value(BsonValue::Decimal(b"0123456789abcdef")),
            0x13,
            b"0123456789abcdef".to_vec(),
            "BsonValue(Decimal([48",
        ),
    ]
}

fn scoped(w: &mut Writer<Vec<u8>>, code: &[u8], scope: Write) {
    w.bson_value(BsonValue::ScopedCode(code));
    scope(w);
}

/// What is read and never written.
fn read_only() -> Vec<(u8, Vec<u8>, &'static str)> {
    vec![
        (0x06, vec![], "None"),
        (0x0E, sized(2, b"a\0"), "Text(Ascii([97]))"),
        (0x0E, sized(3, "é\0".as_bytes()), "Text(StrictUtf8([195, 169]))"),
        // A length of 64 bits that 32 were enough for.
        (0x12, vec![1, 0, 0, 0, 0, 0, 0, 0], "Int(1)"),
        // Text that is none is not looked at here.
        (0x02, sized(2, b"\xFF\0"), "Text(StrictUtf8([255]))"),
    ]
}

/// A sample of every type, and of all of them together.
fn samples() -> Vec<Vec<u8>> {
    let mut found = vec![document(b"")];
    let (mut together, mut items) = (Vec::new(), Vec::new());
    let values = cases().into_iter().map(|(_, tag, bytes, _)| (tag, bytes));
    let values = values.chain(read_only().into_iter().map(|(tag, bytes, _)| (tag, bytes)));
    for (at, (tag, bytes)) in values.filter(|(_, bytes)| bytes.len() < 100).enumerate() {
        found.push(keyed(tag, &bytes));
        found.push(keyed(tag::ARRAY, &document(&[&[tag, b'0', 0], &bytes[..], &[tag, b'1', 0], &bytes].concat())));
        together.extend([&[tag][..], format!("name {at}\0").as_bytes(), &bytes].concat());
        items.extend([&[tag][..], format!("{at}\0").as_bytes(), &bytes].concat());
    }
    found.push(document(&together));
    let items = keyed(tag::ARRAY, &document(&items));
    found.push(document(&[&[tag::DOCUMENT, 0][..], &document(&together), &[tag::DOCUMENT, b'x', 0], &items].concat()));
    found
}

#[test]
fn boundaries_both_ways_and_every_prefix() {
    for (write, tag, bytes, token) in cases() {
        let expected = keyed(tag, &bytes);
        let w = written(write);
        assert_eq!(w.refusal(), None);
        assert!(w.out == expected, "{token}: {:?}", &w.out[..w.out.len().min(60)]);
        value_is_read(tag, &bytes, token);

        let mut w = Writer::new(Vec::new());
        w.dict(1);
        w.key(Text::Ascii(b"k"));
        w.list(2);
        write(&mut w);
        write(&mut w);
        let items = [&[tag, b'0', 0], &bytes[..], &[tag, b'1', 0], &bytes].concat();
        assert!(w.out == keyed(tag::ARRAY, &document(&items)), "two items: {token}");
        ends(&w.out).unwrap();
    }
    for (tag, bytes, token) in read_only() {
        value_is_read(tag, &bytes, token);
    }
}

/// As a key's value, as an item, and by itself; no part of it is.
fn value_is_read(tag: u8, bytes: &[u8], token: &str) {
    let input = keyed(tag, bytes);
    let mut r = Reader::new(&input);
    assert!(matches!(r.next(), Ok(Token::Members(end)) if end == input.len() - 1 && r.count(end).unwrap() == 1));
    r.key();
    assert!(matches!(r.next(), Ok(Token::Text(model::Bytes::Ascii(b"k")))));
    let before = r.place();
    let found = debug(r.next());
    assert!(found.starts_with(token), "expected {token}, found {found}");
    r.rewind(before);
    assert_eq!(debug(r.next()), found);
    r.rewind(before);
    assert!(r.skip().unwrap());
    assert_eq!((r.offset(), r.remaining()), (input.len() - 1, 1));
    r.finish().unwrap();

    let mut alone = Reader::of_value(tag, bytes);
    let alone_found = debug(alone.next());
    // Where a container ends is told from the start of the input.
    let contains = matches!(tag, tag::DOCUMENT | tag::ARRAY);
    assert!(alone_found == found || contains, "expected {token}, found {alone_found}");
    ends(&input).unwrap();

    for len in 0..bytes.len() {
        let error = by_tokens(Reader::of_value(tag, &bytes[..len]), true).unwrap_err();
        assert!(error.offset() <= len, "{token} at {len}: {error}");
        if let ErrorKind::Truncated { needed } = *error.kind() {
            assert!(needed > 0 && len + needed <= bytes.len(), "{token} at {len} needs {needed}");
        }
    }
    for len in 0..input.len() {
        let error = ends(&input[..len]).unwrap_err();
        let ErrorKind::Truncated { needed } = *error.kind() else { panic!("{token} at {len}: {error}") };
        // Of a length that is there all is known.
        assert_eq!(needed, if len < 4 { 4 - len } else { input.len() - len });
        assert!(error.offset() <= len);
        if let Some(elements) = input.get(4..len) {
            let error = ends(&[&(len as u32).to_le_bytes(), elements].concat()).unwrap_err();
            assert!(error.offset() <= len, "{token} in a document of {len}: {error}");
        }
    }
}

#[test]
fn longs_are_told_apart_where_they_are_wanted() {
    let input = document(b"\x12a\0\x01\0\0\0\0\0\0\0\x10b\0\x01\0\0\0");
    let mut r = Reader::new(&input).with_longs();
    let mut found = Vec::new();
    r.next().unwrap();
    for _ in 0..2 {
        r.key();
        r.next().unwrap();
        found.push(debug(r.next()));
    }
    assert_eq!(found, ["BsonValue(Long(1))", "Int(1)"]);
    let mut w = Writer::new(Vec::new());
    w.dict(1);
    w.key(Text::Ascii(b"a"));
    w.bson_value(BsonValue::Long(1));
    assert_eq!(w.out, document(b"\x12a\0\x01\0\0\0\0\0\0\0"));
}

#[test]
fn every_type_byte_is_read_or_refused() {
    for tag in 1..=u8::MAX {
        let row = tag::TABLE.iter().find(|row| (row.first..=row.last).contains(&tag)).unwrap();
        let samples = cases().into_iter().map(|(_, tag, bytes, _)| (tag, bytes));
        let samples = samples.chain(read_only().into_iter().map(|(tag, bytes, _)| (tag, bytes)));
        let sample = samples.into_iter().find(|(known, _)| *known == tag);
        assert_eq!(row.payload.is_empty(), sample.is_none(), "{}", row.name);
        let input = keyed(tag, sample.as_ref().map_or(&[0; 32][..], |(_, bytes)| bytes));
        match ends(&input) {
            Ok(_) => assert!(sample.is_some(), "{}", row.name),
            Err(error) => {
                assert_eq!((sample, error.kind()), (None, &ErrorKind::UnknownTag { tag }));
                let error = Reader::of_value(tag, &[0; 32]).skip().unwrap_err();
                assert_eq!(error.kind(), &ErrorKind::UnknownTag { tag });
            }
        }
    }
    // The end of a document is no value.
    let error = Reader::of_value(tag::END, &[0; 8]).next().unwrap_err();
    assert_eq!(error.kind(), &ErrorKind::UnknownTag { tag: 0 });
}

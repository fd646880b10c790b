//! Both sides at once: every form at its boundaries, every prefix of it, every first byte; what is skipped, and where a scan stops.

use super::{scan, tag, Reader, Writer};
use crate::error::ErrorKind;
use crate::model::{self, ExtensionWriter as _, Reader as _, Text, TimestampWriter as _, Token, Writer as _};
use std::vec;
use std::vec::Vec;

type Write = fn(&mut Writer<Vec<u8>>);

/// Boundaries: what is written, its bytes, the token (or its beginning) that is read.
fn cases() -> Vec<(Write, Vec<u8>, &'static str)> {
    let filled_with = |head: &[u8], byte: u8, len: usize| [head, &vec![byte; len]].concat();
    let ascii = |head: &[u8], len: usize| filled_with(head, b'x', len);
    vec![
        (|w| w.none(), vec![0xC0], "None"),
        (|w| w.bool(false), vec![0xC2], "Bool(false)"),
        (|w| w.bool(true), vec![0xC3], "Bool(true)"),
        (|w| w.int(0), vec![0x00], "Int(0)"),
        (|w| w.int(127), vec![0x7F], "Int(127)"),
        (|w| w.int(128), vec![0xCC, 0x80], "Int(128)"),
        (|w| w.int(255), vec![0xCC, 0xFF], "Int(255)"),
        (|w| w.int(256), vec![0xCD, 1, 0], "Int(256)"),
        (|w| w.int(65_535), vec![0xCD, 0xFF, 0xFF], "Int(65535)"),
        (|w| w.int(65_536), vec![0xCE, 0, 1, 0, 0], "Int(65536)"),
        (|w| w.int(0xFFFF_FFFF), vec![0xCE, 0xFF, 0xFF, 0xFF, 0xFF], "Int(4294967295)"),
        (|w| w.int(1 << 32), vec![0xCF, 0, 0, 0, 1, 0, 0, 0, 0], "Int(4294967296)"),
        (|w| w.int(i64::MAX), filled_with(&[0xCF, 0x7F], 0xFF, 7), "Int(9223372036854775807)"),
        (|w| w.int(-1), vec![0xFF], "Int(-1)"),
        (|w| w.int(-32), vec![0xE0], "Int(-32)"),
        (|w| w.int(-33), vec![0xD0, 0xDF], "Int(-33)"),
        (|w| w.int(-128), vec![0xD0, 0x80], "Int(-128)"),
        (|w| w.int(-129), vec![0xD1, 0xFF, 0x7F], "Int(-129)"),
        (|w| w.int(-32_768), vec![0xD1, 0x80, 0], "Int(-32768)"),
        (|w| w.int(-32_769), vec![0xD2, 0xFF, 0xFF, 0x7F, 0xFF], "Int(-32769)"),
        (|w| w.int(-1 << 31), vec![0xD2, 0x80, 0, 0, 0], "Int(-2147483648)"),
        (|w| w.int((-1 << 31) - 1), [&[0xD3][..], &(-2_147_483_649i64).to_be_bytes()].concat(), "Int(-2147483649)"),
        (|w| w.int(i64::MIN), filled_with(&[0xD3, 0x80], 0, 7), "Int(-9223372036854775808)"),
        (|w| w.bigint(&[]), vec![0], "Int(0)"),
        (|w| w.bigint(&[0x80]), vec![0xD0, 0x80], "Int(-128)"),
        (|w| w.bigint(&[0x80, 0]), vec![0xCC, 0x80], "Int(128)"),
        (|w| w.bigint(&[0xFF; 12]), vec![0xFF], "Int(-1)"),
        (|w| w.bigint(&[0, 0, 0, 0, 0, 0, 0, 0x80, 0]), filled_with(&[0xCF, 0x80], 0, 7), "UInt(9223372036854775808)"),
        (
            |w| w.bigint(&[0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0, 0]),
            filled_with(&[0xCF], 0xFF, 8),
            "UInt(18446744073709551615)",
        ),
        (|w| w.bigint(&[0, 0, 0, 0, 0, 0, 0, 0x80]), filled_with(&[0xD3, 0x80], 0, 7), "Int(-9223372036854775808)"),
        (|w| w.float(1.5), vec![0xCB, 0x3F, 0xF8, 0, 0, 0, 0, 0, 0], "Float(1.5)"),
        (|w| w.float(-0.0), filled_with(&[0xCB, 0x80], 0, 7), "Float(-0.0)"),
        (|w| w.text(Text::Ascii(b"")), vec![0xA0], "Text(Ascii([]))"),
        (|w| w.text(Text::Ascii(&[b'x'; 31])), ascii(&[0xBF], 31), "Text(Ascii([120"),
        (|w| w.text(Text::Ascii(&[b'x'; 32])), ascii(&[0xD9, 32], 32), "Text(Ascii([120"),
        (|w| w.text(Text::Ascii(&[b'x'; 255])), ascii(&[0xD9, 255], 255), "Text(Ascii([120"),
        (|w| w.text(Text::Ascii(&[b'x'; 256])), ascii(&[0xDA, 1, 0], 256), "Text(Ascii([120"),
        (|w| w.text(Text::Ascii(&[b'x'; 65_535])), ascii(&[0xDA, 255, 255], 65_535), "Text(Ascii([120"),
        (|w| w.text(Text::Ascii(&[b'x'; 65_536])), ascii(&[0xDB, 0, 1, 0, 0], 65_536), "Text(Ascii([120"),
        (|w| w.text(Text::Latin1(&[0x61, 0xE9])), vec![0xA3, 0x61, 0xC3, 0xA9], "Text(StrictUtf8([97, 195, 169]))"),
        (
            |w| w.text(Text::Latin1(&[0xFF; 15])),
            [&[0xBE][..], &[0xC3, 0xBF].repeat(15)].concat(),
            "Text(StrictUtf8([195, 191",
        ),
        (
            |w| w.text(Text::Latin1(&[0xFF; 16])),
            [&[0xD9, 32][..], &[0xC3, 0xBF].repeat(16)].concat(),
            "Text(StrictUtf8([195, 191",
        ),
        (
            |w| w.text(Text::Ucs2(&[0x65E5; 22_000])),
            [&[0xDB, 0, 1, 0x01, 0xD0][..], &"日".as_bytes().repeat(22_000)].concat(),
            "Text(StrictUtf8([230, 151, 165",
        ),
        (
            |w| w.text(Text::Ucs4(&[0x1F600, 0x61])),
            vec![0xA5, 0xF0, 0x9F, 0x98, 0x80, 0x61],
            "Text(StrictUtf8([240, 159, 152, 128, 97]))",
        ),
        (|w| w.text(Text::Utf8("é".as_bytes())), vec![0xA2, 0xC3, 0xA9], "Text(StrictUtf8([195, 169]))"),
        (|w| w.bytes(b""), vec![0xC4, 0], "Bytes([])"),
        (|w| w.bytes(&[1; 255]), filled_with(&[0xC4, 255], 1, 255), "Bytes([1"),
        (|w| w.bytes(&[1; 256]), filled_with(&[0xC5, 1, 0], 1, 256), "Bytes([1"),
        (|w| w.bytes(&[1; 65_536]), filled_with(&[0xC6, 0, 1, 0, 0], 1, 65_536), "Bytes([1"),
        (|w| w.list(0), vec![0x90], "List(0)"),
        (|w| filled(w, |w| w.list(15), 15), filled_with(&[0x9F], 0, 15), "List(15)"),
        (|w| filled(w, |w| w.list(16), 16), filled_with(&[0xDC, 0, 16], 0, 16), "List(16)"),
        (|w| filled(w, |w| w.list(65_536), 65_536), filled_with(&[0xDD, 0, 1, 0, 0], 0, 65_536), "List(65536)"),
        (|w| w.dict(0), vec![0x80], "Dict(0)"),
        (|w| filled(w, |w| w.dict(15), 30), filled_with(&[0x8F], 0, 30), "Dict(15)"),
        (|w| filled(w, |w| w.dict(16), 32), filled_with(&[0xDE, 0, 16], 0, 32), "Dict(16)"),
        (|w| filled(w, |w| w.dict(65_536), 131_072), filled_with(&[0xDF, 0, 1, 0, 0], 0, 131_072), "Dict(65536)"),
        (|w| w.timestamp(0, 0), vec![0xD6, 0xFF, 0, 0, 0, 0], "Timestamp { seconds: 0, nanoseconds: 0 }"),
        (
            |w| w.timestamp(0xFFFF_FFFF, 0),
            vec![0xD6, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF],
            "Timestamp { seconds: 4294967295, nanoseconds: 0 }",
        ),
        (
            |w| w.timestamp(1 << 32, 0),
            vec![0xD7, 0xFF, 0, 0, 0, 1, 0, 0, 0, 0],
            "Timestamp { seconds: 4294967296, nanoseconds: 0 }",
        ),
        (|w| w.timestamp(0, 1), vec![0xD7, 0xFF, 0, 0, 0, 4, 0, 0, 0, 0], "Timestamp { seconds: 0, nanoseconds: 1 }"),
        (
            |w| w.timestamp((1 << 34) - 1, 999_999_999),
            vec![0xD7, 0xFF, 0xEE, 0x6B, 0x27, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF],
            "Timestamp { seconds: 17179869183, nanoseconds: 999999999 }",
        ),
        (
            |w| w.timestamp(1 << 34, 0),
            vec![0xC7, 12, 0xFF, 0, 0, 0, 0, 0, 0, 0, 4, 0, 0, 0, 0],
            "Timestamp { seconds: 17179869184, nanoseconds: 0 }",
        ),
        (
            |w| w.timestamp(-1, 999_999_999),
            filled_with(&[0xC7, 12, 0xFF, 0x3B, 0x9A, 0xC9, 0xFF], 0xFF, 8),
            "Timestamp { seconds: -1, nanoseconds: 999999999 }",
        ),
        (|w| w.extension(7, &[]), vec![0xC7, 0, 7], "Extension { code: 7, data: [] }"),
        (|w| w.extension(7, &[1]), vec![0xD4, 7, 1], "Extension { code: 7, data: [1] }"),
        (|w| w.extension(-128, &[1; 2]), vec![0xD5, 0x80, 1, 1], "Extension { code: -128, data: [1, 1] }"),
        (|w| w.extension(7, &[1; 3]), vec![0xC7, 3, 7, 1, 1, 1], "Extension { code: 7, data: [1, 1, 1] }"),
        (|w| w.extension(7, &[1; 4]), filled_with(&[0xD6, 7], 1, 4), "Extension { code: 7, data: [1, 1, 1, 1] }"),
        (|w| w.extension(7, &[1; 8]), filled_with(&[0xD7, 7], 1, 8), "Extension { code: 7, data: [1"),
        (|w| w.extension(127, &[1; 16]), filled_with(&[0xD8, 127], 1, 16), "Extension { code: 127, data: [1"),
        (|w| w.extension(7, &[1; 17]), filled_with(&[0xC7, 17, 7], 1, 17), "Extension { code: 7, data: [1"),
        (|w| w.extension(7, &[1; 255]), filled_with(&[0xC7, 255, 7], 1, 255), "Extension { code: 7, data: [1"),
        (|w| w.extension(7, &[1; 256]), filled_with(&[0xC8, 1, 0, 7], 1, 256), "Extension { code: 7, data: [1"),
        (
            |w| w.extension(7, &[1; 65_536]),
            filled_with(&[0xC9, 0, 1, 0, 0, 7], 1, 65_536),
            "Extension { code: 7, data: [1",
        ),
    ]
}

fn filled(w: &mut Writer<Vec<u8>>, head: Write, values: usize) {
    head(w);
    (0..values).for_each(|_| w.int(0));
}

#[test]
fn boundaries_both_ways_and_every_prefix() {
    for (write, expected, token) in cases() {
        let mut w = Writer::new(Vec::new());
        write(&mut w);
        assert!(w.out == expected, "{token}: {:?}", &w.out[..w.out.len().min(40)]);
        assert_eq!(w.refusal(), None);
        let mut r = Reader::new(&w.out);
        let found = format!("{:?}", r.next().unwrap());
        assert!(found.starts_with(token), "expected {token}, found {}", &found[..found.len().min(80)]);
        let mut r = Reader::new(&w.out);
        assert!(model::Reader::skip(&mut r).unwrap());
        r.finish().unwrap();
        for len in 0..w.out.len() {
            for error in [Reader::new(&w.out[..len]).next().err(), Reader::new(&w.out[..len]).skip().err()] {
                let error = error.unwrap_or_else(|| panic!("{token} at {len} is read"));
                let ErrorKind::Truncated { needed } = *error.kind() else { panic!("{token} at {len}: {error}") };
                assert!(needed > 0 && len + needed <= w.out.len(), "{token} at {len} needs {needed}");
                assert!(error.offset() <= len);
            }
        }
    }
}

#[test]
fn what_has_no_form_is_refused() {
    let beyond: [(Write, &str); 9] = [
        (|w| w.bigint(&[0, 0, 0, 0, 0, 0, 0, 0, 1]), "an int beyond 64 bits"),
        (|w| w.bigint(&[0, 0, 0, 0, 0, 0, 0, 0, 0xFF]), "an int beyond 64 bits"),
        (|w| w.bigint(&[0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0x7F, 0xFF]), "an int beyond 64 bits"),
        (|w| w.bigint(&[0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 0]), "an int beyond 64 bits"),
        (|w| w.text(Text::Ucs2(&[0x61, 0xD800])), "text with a lone surrogate"),
        (|w| w.text(Text::Ucs4(&[0x1F600, 0xDFFF])), "text with a lone surrogate"),
        (|w| w.list(1 << 32), "more than 4,294,967,295 bytes or values in one value"),
        (|w| w.dict(1 << 32), "more than 4,294,967,295 bytes or values in one value"),
        // The first one counts.
        (
            |w| {
                w.text(Text::Ucs2(&[0xDC00]));
                w.list(usize::MAX);
            },
            "text with a lone surrogate",
        ),
    ];
    for (write, why) in beyond {
        let mut w = Writer::new(Vec::new());
        write(&mut w);
        w.none();
        assert_eq!(w.refusal(), Some(why));
    }
    let mut w = Writer::new(Vec::new());
    w.list(u32::MAX as usize);
    w.dict(u32::MAX as usize);
    assert_eq!(w.out, [0xDD, 255, 255, 255, 255, 0xDF, 255, 255, 255, 255]);
    assert_eq!(w.refusal(), None);
}

#[test]
fn bad_timestamps() {
    for input in [
        &[0xD4, 0xFF, 0][..],
        &[0xC7, 0, 0xFF],
        &[0xC7, 11, 0xFF, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0],
        &[0xD8, 0xFF, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0],
        &[0xD7, 0xFF, 0xEE, 0x6B, 0x28, 0, 0, 0, 0, 0],
        &[0xD7, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF],
        &[0xC7, 12, 0xFF, 0x3B, 0x9A, 0xCA, 0, 0, 0, 0, 0, 0, 0, 0, 0],
    ] {
        let error = Reader::new(input).next().unwrap_err();
        assert_eq!((error.kind(), error.offset()), (&ErrorKind::BadTimestamp, input.len()));
        // Nobody asked what it is.
        Reader::new(input).skip().unwrap();
    }
}

#[test]
fn counts_are_held_against_what_is_left() {
    for row in tag::TABLE.iter().filter(|row| row.payload.starts_with("length")) {
        let input = [&[row.first], &[0xFF; 4][..], &[0; 40]].concat();
        let error = Reader::new(&input).next().err().into_iter().chain(Reader::new(&input).skip().err());
        let kinds: Vec<bool> = error.map(|error| matches!(error.kind(), ErrorKind::Truncated { .. })).collect();
        assert_eq!(kinds, [true, true], "{}", row.name);
    }
    // Each head alone could be true; all of them together ask for more than there is.
    let nested = [0xDD, 0, 0, 0, 50].repeat(20);
    let error = Reader::new(&nested).skip().unwrap_err();
    assert_eq!((error.kind(), error.offset()), (&ErrorKind::Truncated { needed: 49 + 50 - 90 }, 10));
}

#[test]
fn every_byte_is_read_or_refused() {
    for tag in 0..=u8::MAX {
        let input = [&[tag][..], &[0; 64]].concat();
        let (mut read, mut skipped) = (Reader::new(&input), Reader::new(&input));
        match (read.next(), skipped.skip()) {
            (Err(error), Err(other)) => {
                assert_eq!(tag, tag::NEVER_USED);
                assert_eq!((error.kind(), error.offset()), (&ErrorKind::UnknownTag { tag }, 1));
                assert_eq!((other.kind(), other.offset()), (&ErrorKind::UnknownTag { tag }, 1));
            }
            (Ok(token), Ok(())) => {
                // Every value of a container is one byte here.
                let values = match token {
                    Token::List(len) => len,
                    Token::Dict(len) => 2 * len,
                    _ => 0,
                };
                assert_eq!(skipped.offset(), read.offset() + values, "tag {tag:#x}");
            }
            (read, skipped) => panic!("tag {tag:#x}: {read:?}, {skipped:?}"),
        }
    }
}

#[test]
fn skips_to_the_value_behind() {
    let mut w = Writer::new(Vec::new());
    w.dict(2);
    w.text(Text::Ascii(b"skipped"));
    w.list(20);
    (0..20).for_each(|_| {
        w.dict(1);
        w.text(Text::Ascii(&[b'k'; 40]));
        w.extension(3, &[0xC1; 5]);
    });
    w.text(Text::Ascii(b"next"));
    w.int(5);
    w.bytes(b"");
    let mut r = Reader::new(&w.out);
    assert!(matches!(r.next(), Ok(Token::Dict(2))));
    assert!(r.accept(&Reader::encoded(b"skipped")));
    r.skip().unwrap();
    assert!(!r.accept(&Reader::encoded(b"nex")));
    assert!(r.accept(&Reader::encoded(b"next")));
    let before = r.offset();
    r.skip().unwrap();
    r.rewind(before);
    assert!(matches!(r.next(), Ok(Token::Int(5))));
    assert_eq!(r.finish().unwrap_err().kind(), &ErrorKind::Trailing { count: 2 });
    assert_eq!(r.remaining(), 2);
    r.skip().unwrap();
    r.finish().unwrap();
    // A million open lists: nothing is kept of them but their number.
    let deep = [vec![0x91; 1_000_000], vec![0x90]].concat();
    let mut r = Reader::new(&deep);
    r.skip().unwrap();
    r.finish().unwrap();
}

#[test]
fn names_are_matched_in_their_shortest_form() {
    for len in [0, 1, 31, 32, 255, 256] {
        let name = vec![b'n'; len];
        let mut w = Writer::new(Vec::new());
        w.text(Text::Ascii(&name));
        assert_eq!(Reader::encoded(&name), w.out);
    }
}

#[test]
fn a_scan_stops_after_the_last_whole_token() {
    let mut w = Writer::new(Vec::new());
    w.list(2);
    w.text(Text::Ascii(b"abc"));
    w.dict(1);
    w.int(1000);
    w.none();
    let ends = [(1, 2), (5, 1), (6, 2), (9, 1), (10, 0)];
    for len in 0..=w.out.len() {
        let expected = ends.iter().rev().find(|(end, _)| *end <= len).copied().unwrap_or((0, 1));
        assert_eq!(scan(&w.out[..len], 1).unwrap(), expected, "{len} bytes");
        // Going on from there comes to the same end.
        let (rest, owed) = scan(&w.out[expected.0..], expected.1).unwrap();
        assert_eq!((expected.0 + rest, owed), (10, 0));
    }
    assert!(matches!(scan(&[0xC1], 1).unwrap_err().kind(), ErrorKind::UnknownTag { tag: 0xC1 }));
}

#[test]
fn text_as_bytes_and_arrays_as_tuples() {
    let input = [0x91, 0xA1, 0xFF, 0xDC, 0, 1, 0xC0];
    let mut r = Reader::new(&input).with_raw_text().with_tuples();
    assert!(matches!(r.next().unwrap(), Token::Tuple(1)));
    assert!(matches!(r.next().unwrap(), Token::Bytes([0xFF])));
    assert!(matches!(r.next().unwrap(), Token::Tuple(1)));
}

use super::super::Writer;
use super::*;
use model::{
    KnownType, ReferenceWriter as _, RunWriter as _, ShapeReader as _, ShapeWriter as _, Text, TypeWriter as _,
    Writer as _,
};
use std::vec;
use std::vec::Vec;

type Write = fn(&mut Writer<Vec<u8>>);

/// Boundaries: what is written, its bytes after the version, the token (or its beginning) that is read.
fn cases() -> Vec<(Write, Vec<u8>, &'static str)> {
    let ascii = |head: &[u8], len: usize| [head, &vec![b'x'; len]].concat();
    vec![
        (|w| w.none(), vec![0xAA], "None"),
        (|w| w.bool(false), vec![0xAB], "Bool(false)"),
        (|w| w.bool(true), vec![0xAC], "Bool(true)"),
        (|w| w.int(0), vec![0x00], "Int(0)"),
        (|w| w.int(47), vec![0x2F], "Int(47)"),
        (|w| w.int(48), vec![0xAD, 48], "Int(48)"),
        (|w| w.int(-1), vec![0x3F], "Int(-1)"),
        (|w| w.int(-16), vec![0x30], "Int(-16)"),
        (|w| w.int(-17), vec![0xAD, 0xEF], "Int(-17)"),
        (|w| w.int(127), vec![0xAD, 127], "Int(127)"),
        (|w| w.int(128), vec![0xAE, 128, 0], "Int(128)"),
        (|w| w.int(-128), vec![0xAD, 128], "Int(-128)"),
        (|w| w.int(-129), vec![0xAE, 0x7F, 0xFF], "Int(-129)"),
        (|w| w.int(32_767), vec![0xAE, 0xFF, 0x7F], "Int(32767)"),
        (|w| w.int(32_768), vec![0xAF, 0, 0x80, 0, 0], "Int(32768)"),
        (|w| w.int(-32_769), vec![0xAF, 0xFF, 0x7F, 0xFF, 0xFF], "Int(-32769)"),
        (|w| w.int(1 << 31), vec![0xB0, 0, 0, 0, 0x80, 0, 0, 0, 0], "Int(2147483648)"),
        (|w| w.int(i64::MIN), vec![0xB0, 0, 0, 0, 0, 0, 0, 0, 0x80], "Int(-9223372036854775808)"),
        (|w| w.bigint(&[1, 2]), vec![0xB1, 2, 1, 2], "BigInt([1, 2])"),
        (|w| w.float(1.5), vec![0xB2, 0, 0, 0, 0, 0, 0, 0xF8, 0x3F], "Float(1.5)"),
        (|w| w.complex(0.0, -0.0), [&[0xB3][..], &[0; 15], &[0x80]].concat(), "Complex(0.0, -0.0)"),
        (|w| w.text(Text::Ascii(b"")), vec![0x40], "Text(Ascii([]))"),
        (|w| w.text(Text::Ascii(&[b'x'; 47])), ascii(&[0x6F], 47), "Text(Ascii([120"),
        (|w| w.text(Text::Ascii(&[b'x'; 48])), ascii(&[0xB4, 48], 48), "Text(Ascii([120"),
        (|w| w.text(Text::Ascii(&[b'x'; 251])), ascii(&[0xB4, 251], 251), "Text(Ascii([120"),
        (|w| w.text(Text::Ascii(&[b'x'; 252])), ascii(&[0xB4, 252, 252, 0], 252), "Text(Ascii([120"),
        (|w| w.text(Text::Ascii(&[b'x'; 65_535])), ascii(&[0xB4, 252, 255, 255], 65_535), "Text(Ascii([120"),
        (|w| w.text(Text::Ascii(&[b'x'; 65_536])), ascii(&[0xB4, 253, 0, 0, 1, 0], 65_536), "Text(Ascii([120"),
        (|w| w.text(Text::Latin1(&[0xE9])), vec![0xB5, 1, 0xE9], "Text(Latin1([233]))"),
        (|w| w.text(Text::Ucs2(&[0x65E5])), vec![0xB6, 1, 0xE5, 0x65], "Text(Ucs2([229, 101]))"),
        (|w| w.text(Text::Ucs2(&[0x61, 0x100])), vec![0xB7, 3, 0x61, 0xC4, 0x80], "Text(Utf8([97, 196, 128]))"),
        (|w| w.text(Text::Ucs2(&[0x100])), vec![0xB6, 1, 0, 1], "Text(Ucs2([0, 1]))"),
        (|w| w.text(Text::Ucs4(&[0x1F600])), vec![0xB7, 4, 0xF0, 0x9F, 0x98, 0x80], "Text(Utf8([240, 159, 152, 128]))"),
        (|w| w.bytes(b"ab"), vec![0xB8, 2, 97, 98], "Bytes([97, 98])"),
        (|w| w.bytearray(b""), vec![0xB9, 0], "ByteArray([])"),
        (|w| w.ellipsis(), vec![0xC6], "Ellipsis"),
        (|w| w.not_implemented(), vec![0xC7], "NotImplemented"),
        (|w| filled(w, |w| w.list(15), 15), [&[0x7F][..], &[0; 15]].concat(), "List(15)"),
        (|w| filled(w, |w| w.list(16), 16), [&[0xBA, 16][..], &[0; 16]].concat(), "List(16)"),
        (|w| filled(w, |w| w.tuple(7), 7), [&[0x87][..], &[0; 7]].concat(), "Tuple(7)"),
        (|w| filled(w, |w| w.tuple(8), 8), [&[0xBB, 8][..], &[0; 8]].concat(), "Tuple(8)"),
        (|w| w.set(0), vec![0xBE, 0], "Set(0)"),
        (|w| filled(w, |w| w.frozenset(1), 1), vec![0xBF, 1, 0], "FrozenSet(1)"),
        (|w| w.dict(0), vec![0xBD], "Dict(0)"),
        (|w| filled(w, |w| w.dict(1), 2), vec![0xBC, 1, 0, 0], "Dict(1)"),
        (|w| run(w, &[1, -128]), vec![0xC8, 2, 1, 0x80], "Ints(List, I8([1, 128]))"),
        (|w| run(w, &[1, 128]), vec![0xC9, 2, 1, 0, 128, 0], "Ints(List, I16([[1, 0], [128, 0]]))"),
        (|w| run(w, &[-32_769]), vec![0xCA, 1, 0xFF, 0x7F, 0xFF, 0xFF], "Ints(List, I32([[255, 127, 255, 255]]))"),
        (
            |w| run(w, &[1 << 31]),
            vec![0xCB, 1, 0, 0, 0, 0x80, 0, 0, 0, 0],
            "Ints(List, I64([[0, 0, 0, 128, 0, 0, 0, 0]]))",
        ),
        (|w| run(w, &[]), vec![0xC8, 0], "Ints(List, I8([]))"),
        (|w| w.bools(Seq::Tuple, &[1, 0]), vec![0xD4, 2, 1, 0], "Bools(Tuple, [1, 0])"),
        (
            |w| {
                w.texts(Seq::List, &[1, 0]);
                w.texts_bytes(b"a");
            },
            vec![0xCE, 2, 1, 0, 97],
            "Texts(List, [1, 0], [97])",
        ),
        (
            |w| {
                w.floats_begin(Seq::Tuple, 1);
                w.floats(&[1.0]);
            },
            vec![0xD3, 1, 0, 0, 0, 0, 0, 0, 0xF0, 0x3F],
            "Floats(Tuple, [[0, 0, 0, 0, 0, 0, 240, 63]])",
        ),
        (|w| w.instance(31), vec![0xA7], "Instance(31)"),
        (|w| w.instance(32), vec![0xA8, 0], "Instance(32)"),
        (|w| w.instance(287), vec![0xA8, 255], "Instance(287)"),
        (|w| w.instance(288), vec![0xA9, 0x20, 1, 0, 0], "Instance(288)"),
        (|w| w.assign_id(), vec![0xC0], "AssignId"),
        (|w| w.reference(255), vec![0xC1, 255], "Reference(255)"),
        (|w| w.reference(256), vec![0xC2, 0, 1], "Reference(256)"),
        (|w| w.reference(65_536), vec![0xC3, 0, 0, 1, 0], "Reference(65536)"),
        (|w| w.datetime(1, false), vec![0xD7, 1, 0, 0, 0, 0, 0, 0, 0], "DateTime { bits: 1, zoned: false }"),
        (|w| w.datetime(2, true), vec![0xD8, 2, 0, 0, 0, 0, 0, 0, 0], "DateTime { bits: 2, zoned: true }"),
        (|w| w.known(KnownType::Date), vec![0xD6, 1], "KnownType(Date)"),
        (
            |w| w.buffer(300, model::OutOfBand::ReadOnly),
            vec![0xD9, 1, 252, 44, 1],
            "Buffer { number: 300, out_of_band: ReadOnly }",
        ),
        (|w| w.global(), vec![0xFD], "Global"),
        (|w| w.reduce(3), vec![0xFE, 3], "Reduce(3)"),
        (|w| w.persistent(), vec![0xFF], "Persistent"),
    ]
}

fn filled(w: &mut Writer<Vec<u8>>, head: Write, values: usize) {
    head(w);
    (0..values).for_each(|_| w.int(0));
}

fn run(w: &mut Writer<Vec<u8>>, values: &[i64]) {
    let mut run = w.ints_begin(Seq::List, values.len(), &[]);
    for value in values {
        w.ints(&mut run, &[*value]);
    }
}

#[test]
fn boundaries_both_ways_and_every_prefix() {
    for (write, expected, token) in cases() {
        let mut w = Writer::new(Vec::new(), true);
        write(&mut w);
        assert_eq!(w.out[1..], expected, "{token}");
        let mut r = Reader::new(&w.out, true).unwrap();
        let found = format!("{:?}", r.next().unwrap());
        assert!(found.starts_with(token), "expected {token}, found {found}");
        for len in 1..w.out.len() {
            let mut r = Reader::new(&w.out[..len], true).unwrap();
            match r.next() {
                Err(error) => {
                    assert!(matches!(error.kind(), ErrorKind::Truncated { .. }), "{token} at {len}: {error}")
                }
                // A head that is there already: values that it counts are another token's business.
                Ok(found) => panic!("{token} at {len}: {found:?}"),
            }
        }
    }
}

#[test]
fn shapes_both_ways() {
    for (kind, fields, block) in [
        (ShapeKind::Dict, 2, 4),
        (ShapeKind::Object, 1, 4),
        (ShapeKind::Based, 0, 2),
        (ShapeKind::Enum, 0, 2),
        (ShapeKind::Custom, 0, 2),
        (ShapeKind::Object, 100, 202),
        (ShapeKind::Dict, 126, 252),
    ] {
        let mut w = Writer::new(Vec::new(), false);
        let version = if kind == ShapeKind::Dict { 0 } else { 7 };
        let begun = w.shape_begin(kind, version, fields);
        for _ in 0..block / 2 - 1 {
            w.text(Text::Ascii(b"n"));
        }
        w.reference(3);
        w.shape_end(begun);
        let mut r = Reader::new(&w.out, false).unwrap();
        let Ok(Token::NewShape(shape)) = r.next() else { panic!("no layout") };
        assert_eq!((shape.kind, shape.version, shape.fields), (kind, version, fields));
        assert_eq!(shape.block.len(), block);
        assert_eq!(shape.at + block, w.out.len());
        let names: Vec<Name<'_>> = Reader::names(&shape).map(Result::unwrap).collect();
        assert_eq!(names.len(), block / 2);
        assert_eq!(names[0], if block == 2 { Name::Reference(3) } else { Name::Text(Bytes::Ascii(b"n")) });
        assert_eq!(names[block / 2 - 1], Name::Reference(3));
        r.finish().unwrap();
        for len in 1..w.out.len() {
            assert!(Reader::new(&w.out[..len], false).unwrap().next().is_err(), "{len} bytes");
        }
    }
}

#[test]
fn counts_are_held_against_what_is_left() {
    let huge = [0xFE, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0x7F];
    for row in tag::TABLE.iter().filter(|row| row.payload.starts_with("length")) {
        let input = [&[tag::VERSION, row.first][..], &huge, &[0; 40]].concat();
        let error = Reader::new(&input, false).unwrap().next().expect_err(row.name);
        let refused = matches!(error.kind(), ErrorKind::Truncated { .. } | ErrorKind::TooLong | ErrorKind::BadName);
        assert!(refused, "{}: {error}", row.name);
    }
}

#[test]
fn tags_of_trusted_messages_are_unknown_in_others() {
    for tag in [tag::GLOBAL, tag::REDUCE, tag::PERSISTENT] {
        let ordinary = [tag::VERSION, tag, 0];
        let error = Reader::new(&ordinary, true).unwrap().next().unwrap_err();
        assert_eq!((error.kind(), error.offset()), (&ErrorKind::UnknownTag { tag }, 2));
        let trusted = [tag::VERSION_TRUSTED, tag, 0];
        assert!(Reader::new(&trusted, true).unwrap().next().is_ok());
        assert_eq!(Reader::new(&trusted, false).unwrap_err().kind(), &ErrorKind::Trusted);
    }
}

#[test]
fn a_message_that_goes_on_with_others() {
    for objects in [1, 251, 252, 70_000] {
        let mut w = Writer::continued(Vec::new(), objects, 7);
        w.reference(3);
        let (mut r, found, shapes) = Reader::continued(&w.out, true).unwrap();
        assert_eq!((found, shapes, r.trusted()), (objects, 7, true));
        assert!(matches!(r.next(), Ok(Token::Reference(3))));
        r.finish().unwrap();
        assert_eq!(Reader::continued(&w.out, false).unwrap_err().kind(), &ErrorKind::Trusted);
        assert_eq!(Reader::new(&w.out, true).unwrap_err().kind(), &ErrorKind::Continued);
        assert_eq!(Reader::new(&w.out, false).unwrap_err().kind(), &ErrorKind::Trusted);
        let head = w.out.len() - 2;
        assert!((1..head).all(|len| Reader::continued(&w.out[..len], true).is_err()));
    }
    let alone = Writer::new(Vec::new(), true).out;
    assert_eq!(Reader::continued(&alone, true).unwrap().1, 0);
}

#[test]
fn every_byte_is_read_or_refused() {
    for tag in 0..=u8::MAX {
        let input = [&[tag::VERSION, tag][..], &[0; 64]].concat();
        let mut r = Reader::new(&input, false).unwrap();
        let known = tag < tag::NAMED && tag != tag::KNOWN_TYPE;
        assert_eq!(r.next().is_ok(), known, "tag {tag:#x}");
    }
}

#[test]
fn only_text_is_named() {
    for tag in 0..=u8::MAX {
        let input = [tag::VERSION_TRUSTED, tag::NAMED, tag];
        let mut r = Reader::new(&input, true).unwrap();
        let is_text = (tag::ASCII_FIX..tag::LIST_FIX).contains(&tag) || (tag::ASCII..=tag::UTF_8).contains(&tag);
        assert_eq!(matches!(r.next(), Ok(Token::AssignId)), is_text, "tag {tag:#x}");
        let mut r = Reader::new(&input, true).unwrap();
        assert_eq!((r.mark(), r.offset()), (is_text, 1 + usize::from(is_text)), "tag {tag:#x}");
    }
    let mut r = Reader::new(&[tag::VERSION, tag::NAMED], false).unwrap();
    assert!(matches!(r.next().unwrap_err().kind(), ErrorKind::Truncated { .. }));
}

#[test]
fn members_of_enumerations_and_what_functions_gave_have_no_fields() {
    for kind in [ShapeKind::Enum, ShapeKind::Custom] {
        let mut w = Writer::new(Vec::new(), false);
        let begun = w.shape_begin(kind, 1, 1);
        w.text(Text::Ascii(b"n"));
        w.text(Text::Ascii(b"x"));
        w.shape_end(begun);
        let error = Reader::new(&w.out, false).unwrap().next().unwrap_err();
        assert_eq!((error.to_string().as_str(), error.offset()), ("a layout with fields, of a kind that has none", 10));
    }
}

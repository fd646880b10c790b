//! Both sides at once: every form at its boundaries, every prefix of it, every first byte.

use super::{tag, Reader, Structure, Writer};
use crate::error::ErrorKind;
use crate::model::{
    Element, LispForm, LispReader as _, LispWriter as _, Reader as _, ReferenceWriter as _, Text, Token, Writer as _,
};
use std::vec;
use std::vec::Vec;

type Write = fn(&mut Writer<Vec<u8>>);

fn joined(parts: &[&[u8]]) -> Vec<u8> {
    parts.concat()
}

/// Boundaries: what is written, its bytes, the token (or its beginning) that is read.
fn cases() -> Vec<(Write, Vec<u8>, &'static str)> {
    vec![
        (|w| w.none(), vec![5], "None"),
        (|w| w.bool(false), vec![5], "None"),
        (|w| w.bool(true), vec![20], "Bool(true)"),
        (|w| w.int(0), vec![0xD0], "Int(0)"),
        (|w| w.int(16), vec![0xE0], "Int(16)"),
        (|w| w.int(-16), vec![0xC0], "Int(-16)"),
        (|w| w.int(17), vec![0, 17], "Int(17)"),
        (|w| w.int(255), vec![0, 255], "Int(255)"),
        (|w| w.int(256), vec![1, 0, 1], "Int(256)"),
        (|w| w.int(65_535), vec![1, 255, 255], "Int(65535)"),
        (|w| w.int(65_536), vec![2, 0, 0, 1, 0], "Int(65536)"),
        (|w| w.int(0xFFFF_FFFF), vec![2, 255, 255, 255, 255], "Int(4294967295)"),
        (|w| w.int(1 << 32), vec![3, 0, 0, 0, 0, 1, 0, 0, 0], "Int(4294967296)"),
        (|w| w.int(-17), vec![6, 17], "Int(-17)"),
        (|w| w.int(-255), vec![6, 255], "Int(-255)"),
        (|w| w.int(-256), vec![7, 0, 1], "Int(-256)"),
        (|w| w.int(-65_536), vec![8, 0, 0, 1, 0], "Int(-65536)"),
        (|w| w.int(-(1 << 32)), joined(&[&[3], &(-1i64 << 32).to_le_bytes()]), "Int(-4294967296)"),
        (|w| w.int((1 << 62) - 1), joined(&[&[3], &((1u64 << 62) - 1).to_le_bytes()]), "Int(4611686018427387903)"),
        (|w| w.int(-(1 << 62)), joined(&[&[3], &(-1i64 << 62).to_le_bytes()]), "Int(-4611686018427387904)"),
        (|w| w.int(1 << 62), joined(&[&[9, 0xD2], &(1u64 << 62).to_le_bytes()]), "LispValue(Bignum { negative: false,"),
        (|w| w.int(i64::MIN), joined(&[&[9, 0xCE], &(1u64 << 63).to_le_bytes()]), "LispValue(Bignum { negative: true,"),
        (|w| w.bigint(&[0xFF]), vec![0xCF], "Int(-1)"),
        (
            |w| w.bigint(&[0, 0, 0, 0, 0, 0, 0, 0, 1]),
            vec![9, 0xD3, 0, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0],
            "LispValue(Bignum { negative: false, magnitude: [0, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0]",
        ),
        (
            |w| w.bigint(&[0, 0, 0, 0, 0, 0, 0, 0, 0xFF]),
            vec![9, 0xCD, 0, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0],
            "LispValue(Bignum { negative: true,",
        ),
        (|w| w.float(0.0), vec![12], "Float(0.0)"),
        (|w| w.float(-0.0), vec![11, 0, 0, 0, 0, 0, 0, 0, 0x80], "Float(-0.0)"),
        (|w| w.float(1.5), vec![11, 0, 0, 0, 0, 0, 0, 0xF8, 0x3F], "Float(1.5)"),
        (|w| w.text(Text::Ascii(b"abc")), vec![30, 7, 97, 98, 99], "Text(Ascii([97, 98, 99]))"),
        (|w| w.text(Text::Latin1(&[0xE9])), vec![30, 6, 0xC3, 0xA9], "Text(StrictUtf8([195, 169]))"),
        (|w| w.text(Text::Ascii(&[b'x'; 251])), joined(&[&[30, 255], &[b'x'; 251]]), "Text(Ascii([120,"),
        (|w| w.text(Text::Ascii(&[b'x'; 252])), joined(&[&[30, 0, 0], &[b'x'; 252]]), "Text(Ascii([120,"),
        (|w| w.text(Text::Ascii(&[b'x'; 508])), joined(&[&[30, 1, 0, 1], &[b'x'; 508]]), "Text(Ascii([120,"),
        (
            |w| w.text(Text::Ascii(&[b'x'; 70_000])),
            joined(&[&[30, 2, 0x74, 0x10, 1, 0], &[b'x'; 70_000]]),
            "Text(Ascii([120,",
        ),
        (
            |w| w.bytes(b"\x01\x02"),
            vec![21, 6, 13, 1, 2],
            "LispValue(Vector { element: Unsigned8, len: 2, data: [1, 2] })",
        ),
        (|w| w.list(0), vec![5], "None"),
        (|w| w.tuple(0), vec![22, 4], "Tuple(0)"),
        (|w| w.assign_id(), vec![34], "AssignId"),
        (|w| w.reference(1), vec![35], "Reference(1)"),
        (|w| w.reference(29), vec![63], "Reference(29)"),
        (|w| w.reference(30), vec![64, 0], "Reference(30)"),
        (|w| w.reference(93), vec![127, 0], "Reference(93)"),
        (|w| w.reference(94), vec![64, 1], "Reference(94)"),
        (|w| w.reference(16_350), vec![64, 255], "Reference(16350)"),
        (|w| w.reference(16_351), vec![128, 0, 0], "Reference(16351)"),
        (|w| w.reference(4_210_591), vec![128, 255, 255], "Reference(4210591)"),
        (|w| w.reference(4_210_592), vec![33, 0xC0], "Reference(4210592)"),
        (|w| w.reference(4_210_608), vec![33, 0xD0], "Reference(4210608)"),
        (|w| w.reference(4_211_000), vec![33, 1, 0x88, 1], "Reference(4211000)"),
        (|w| w.form(LispForm::Cons), vec![4], "LispValue(Cons)"),
        (|w| w.form(LispForm::Ratio), vec![13], "LispValue(Ratio)"),
        (|w| w.form(LispForm::Complex), vec![14], "LispValue(Complex)"),
        (|w| w.form(LispForm::Single(1.5)), vec![10, 0, 0, 0xC0, 0x3F], "LispValue(Single(1.5))"),
        (
            |w| w.form(LispForm::ComplexSingle(1.0, 2.0)),
            vec![16, 0, 0, 0x80, 0x3F, 0, 0, 0, 0x40],
            "LispValue(ComplexSingle(1.0, 2.0))",
        ),
        (
            |w| w.form(LispForm::ComplexDouble(1.0, 2.0)),
            joined(&[&[15], &1f64.to_le_bytes(), &2f64.to_le_bytes()]),
            "Complex(1.0, 2.0)",
        ),
        (|w| w.form(LispForm::Symbol(b"A")), vec![17, 29, 5, 65], "LispValue(Symbol(Ascii([65])))"),
        (|w| w.form(LispForm::Uninterned(b"A")), vec![18, 29, 5, 65], "LispValue(Uninterned(Ascii([65])))"),
        (|w| w.form(LispForm::Symbol("α".as_bytes())), vec![17, 30, 6, 0xCE, 0xB1], "LispValue(Symbol(StrictUtf8("),
        (|w| w.form(LispForm::BaseString(b"A")), vec![29, 5, 65], "Text(Ascii([65]))"),
        (|w| w.form(LispForm::Object), vec![19], "LispValue(Object)"),
        (|w| w.form(LispForm::Info(0)), vec![25, 0xD0], "LispValue(Info { slots: 0 })"),
        (|w| w.form(LispForm::KnownInfo(2)), vec![25, 0xCE], "LispValue(KnownInfo(2))"),
        (|w| w.form(LispForm::Unbound), vec![26], "LispValue(Unbound)"),
        (|w| w.form(LispForm::Pathname), vec![27], "LispValue(Pathname)"),
        (
            |w| w.form(LispForm::HashTable { count: 0, size: 7 }),
            vec![28, 0xD0, 0xD7],
            "LispValue(HashTable { count: 0, size: 7 })",
        ),
        (
            |w| w.packed(Element::Double, &[0, 3], &[]),
            vec![23, 2, 0xD0, 0xD3, 5],
            "LispValue(Packed { element: Double, dimensions: Dimensions([208, 211], 2), len: 0, data: [] })",
        ),
        (
            |w| w.vector(Element::Bit, 9, &[0x81, 1]),
            vec![21, 13, 0, 0x81, 1],
            "LispValue(Vector { element: Bit, len: 9,",
        ),
        (
            |w| {
                w.form(LispForm::Array { fill_pointer: Some(2), adjustable: true, displaced: true, dimensions: &[4] });
            },
            vec![24, 20, 0xD2, 20, 1, 0xD4, 20],
            "LispValue(Array(ArrayHeader { fill_pointer: Some(2), adjustable: true, displaced: true,",
        ),
    ]
}

#[test]
fn every_form_both_ways() {
    for (write, bytes, token) in cases() {
        let mut w = Writer::new(Vec::new());
        write(&mut w);
        assert_eq!(w.out, bytes, "{token}");
        assert_eq!(w.refusal(), None);
        let mut r = Reader::new(&bytes);
        let found = format!("{:?}", r.next().unwrap());
        assert!(found.starts_with(token), "{found} instead of {token}");
        r.finish().unwrap();
        for len in 0..bytes.len() {
            let mut r = Reader::new(&bytes[..len]);
            let error = r.next().unwrap_err();
            assert!(matches!(error.kind(), ErrorKind::Truncated { .. }), "{token} of {len} bytes: {error}");
        }
    }
}

#[test]
fn every_first_byte_is_read_or_refused() {
    for first in 0..=u8::MAX {
        for rest in [0u8, 4, 5, 20, 29, 0xD1, 255] {
            let bytes = [&[first][..], &[rest; 40]].concat();
            let mut r = Reader::new(&bytes);
            match r.next() {
                Ok(_) => assert!(r.offset() > 0 && r.offset() <= bytes.len()),
                Err(error) => assert!(error.offset() <= bytes.len()),
            }
        }
    }
}

#[test]
fn a_table_as_lisp_makes_it() {
    let mut w = Writer::new(Vec::new());
    w.dict(2);
    let expected = joined(&[
        &[28, 0xD2, 0xD7, 17, 29, 9],
        b"EQUAL",
        &[29, 15],
        b"COMMON-LISP",
        &[10, 0, 0, 0x80, 0x3F, 10, 0, 0, 0xC0, 0x3F, 5, 5],
    ]);
    assert_eq!(w.out, expected);
}

#[test]
fn what_stands_between_values() {
    let mut w = Writer::new(Vec::new());
    w.form(LispForm::Version);
    w.form(LispForm::ReferenceCount(2101));
    w.int(7);
    w.int(8);
    w.form(LispForm::End);
    w.out.extend_from_slice(b"whatever");
    assert_eq!(w.out[..8], [31, 0, 0xD1, 31, 1, 1, 0x35, 8]);
    let mut r = Reader::new(&w.out);
    let mut found = vec![];
    while r.more().unwrap() {
        found.push(format!("{:?}", r.next().unwrap()));
    }
    assert_eq!(found, ["Int(7)", "Int(8)"]);
    r.finish().unwrap();
    for (bytes, why) in [
        (&[31u8, 0, 0xD2][..], "expected version 1 of cl-binary-store's basic codespace, found another"),
        (&[31, 9], "expected a version, a count of references or an end, found an unknown action"),
        (&[31, 0, 20], "expected an integer of at most 64 bits, found another value"),
    ] {
        assert_eq!(Reader::new(bytes).more().unwrap_err().to_string(), why);
    }
    assert_eq!(
        Reader::new(&[31, 2]).next().unwrap_err().to_string(),
        "a version, a count of references or an end within a value"
    );
}

#[test]
fn dimensions_are_read_again() {
    let bytes = [24, 5, 5, 3, 0xD2, 1, 0, 1, 0xD0, 20];
    let Token::LispValue(crate::model::LispValue::Array(header)) = Reader::new(&bytes).next().unwrap() else {
        panic!()
    };
    let found: Vec<usize> = Reader::dimensions(header.dimensions).map(|len| len.unwrap()).collect();
    assert_eq!((found, header.len), (vec![2, 256, 0], 0));
}

#[test]
fn lengths_that_cannot_be_are_refused() {
    for bytes in [
        &[32u8, 3, 255, 255, 255, 255, 255, 255, 255, 255][..],
        &[22, 2, 255, 255, 255, 255],
        &[21, 3, 0, 0, 0, 0, 0, 0, 0, 0x20, 5],
        &[23, 3, 3, 0, 0, 0, 0, 0, 0, 0, 0x20, 3, 0, 0, 0, 0, 0, 0, 0, 0x20, 3, 0, 0, 0, 0, 0, 0, 0, 0x20, 5],
        &[28, 2, 255, 255, 255, 255, 0xD0],
        &[25, 3, 255, 255, 255, 255, 255, 255, 255, 0x7F],
        &[24, 5, 5, 1, 2, 255, 255, 255, 255, 5, 20],
        &[9, 3, 255, 255, 255, 255, 255, 255, 255, 0x7F],
    ] {
        let error = Reader::new(bytes).next().unwrap_err();
        assert!(matches!(error.kind(), ErrorKind::Truncated { .. } | ErrorKind::TooLong), "{bytes:?}: {error}");
    }
    assert!(tag::element(20).is_none() && tag::ELEMENTS.len() == Element::ALL.len());
}

#[test]
fn structure_is_known_without_building() {
    // (1 2), (3 . 4), #1=(5 #1#), a structure described once and referred to.
    let info: &[u8] = &[0x13, 0x22, 0x19, 0xD1, 0x11, 0x1D, 5, b'P', 0x1D, 5, b'K', 0x11, 0x1D, 5, b'X', 0x1D, 5, b'K'];
    let parts: [&[u8]; 6] =
        [&[0x20, 9], &[0x20, 6, 0xD1, 0xD2, 5], &[0x20, 5, 0xD3, 0xD4], &[0x22, 4, 0xD5, 4, 0x23, 5], info, &[0xD7]];
    let mut message = joined(&parts);
    message.extend([0x13, 0x24, 0xD8, 5]);
    let structure = Structure::of(&message).unwrap();
    let improper: Vec<usize> = (0..message.len()).filter(|&at| structure.is_improper(at)).collect();
    assert_eq!(improper, [9], "only (3 . 4) doesn't end in NIL");
    assert_eq!(structure.roots(), [0]);
    assert_eq!((structure.place_of(1), structure.id_at(12), structure.ids_before(11)), (Some(12), Some(1), 0));
    assert_eq!(structure.place_of(3), None);
    assert_eq!(structure.info_place(1), structure.place_of(2));
    assert_eq!(structure.end(&message, 0).unwrap(), message.len());
    let second = message.len() - 4;
    assert_eq!(structure.slots(&message, second + 1).unwrap(), (1, second + 2));
    assert_eq!(structure.end(&message, second).unwrap(), message.len() - 1);
    for end in 0..message.len() {
        let found = Structure::of(&message[..end]);
        assert!(end == 0 || found.is_err(), "{end} bytes are no whole message");
    }
    // Descriptions that stand where a description's symbols should, one within the other.
    assert!(Structure::of(&[0x13, 0x19, 0xD0].repeat(1_000_000)).is_err());
    // A list within a list, and so on: no depth is too much.
    assert!(Structure::of(&[[4].repeat(1_000_000), vec![0xD1], [5].repeat(1_000_000)].concat()).is_ok());
}

#[test]
fn doubles_of_any_bits_are_told_apart() {
    // Bits that differ in the highest places only, or in the lowest, or by the step of a common hash.
    for step in [1u64, 1 << 12, 1 << 29, 1 << 45, 0x9e37_79b9_7f4a_7c15] {
        let mut first = Writer::gathering(crate::sink::Nowhere);
        (1..=100_000u64).for_each(|n| first.float(f64::from_bits(n.wrapping_mul(step))));
        [7u64, 99_999, 7].iter().for_each(|n| first.float(f64::from_bits(n.wrapping_mul(step))));
        assert_eq!(Writer::again(Vec::new(), first.take_doubles()).ids_of_doubles(), 2);
    }
}

#[test]
fn doubles_that_occur_again_get_an_id() {
    // Few and many, so that both ways of finding them are taken.
    for count in [3usize, 5_000] {
        let values: Vec<f64> =
            (0..count).map(|n| n as f64 / 7.0 - 1.0).chain([2.5, 0.0, -0.0, 2.5, 0.0, -0.0]).collect();
        let mut first = Writer::gathering(crate::sink::Nowhere);
        values.iter().for_each(|&value| first.float(value));
        let mut second = Writer::again(Vec::new(), first.take_doubles());
        let ids = second.ids_of_doubles();
        values.iter().for_each(|&value| second.float(value));
        let written = second.out;
        let (mut reader, mut read, mut met) = (Reader::new(&written), Vec::new(), Vec::new());
        while reader.remaining() > 0 {
            match reader.next().unwrap() {
                Token::AssignId => {
                    let Token::Float(value) = reader.next().unwrap() else { panic!("an id for a double") };
                    met.push(value);
                    read.push(value);
                }
                Token::Float(value) => read.push(value),
                Token::Reference(id) => read.push(met[id as usize - 1]),
                token => panic!("{token:?}"),
            }
        }
        let bits = |values: &[f64]| values.iter().map(|value| value.to_bits()).collect::<Vec<u64>>();
        assert_eq!(bits(&read), bits(&values));
        assert_eq!((met.len(), met.contains(&2.5)), (ids, true));
    }
}

//! What is written is read, form by form; parts in any order; `_backrefs` wherever they stand; every prefix fails.

mod walk;

use super::*;
use crate::bson;
use crate::error::Result;
use crate::model::{
    self, Reader as _, Text, Token, TypedForm, TypedReader as _, TypedValue, TypedWriter as _, Writer as _,
};
use std::vec;
use std::vec::Vec;
use walk::{told, told_by};

fn written(write: impl FnOnce(&mut Writer<Vec<u8>>)) -> Vec<u8> {
    let mut w = Writer::new(Vec::new());
    write(&mut w);
    assert_eq!(w.refusal(), None);
    w.into_sink()
}

fn member(w: &mut Writer<Vec<u8>>, name: &str) {
    w.key(Text::Ascii(name.as_bytes()));
}

/// `Main.Point`, without parameters.
fn point() -> Vec<u8> {
    description([&b"Main"[..], b"Point"].into_iter(), &[]).into_std()
}

fn every_form() -> Vec<u8> {
    let point = point();
    written(|w| {
        w.dict(13);
        member(w, "structure");
        w.structure(&point, 2);
        w.float(1.5);
        w.int(2);
        member(w, "again");
        w.structure(&point, 0);
        member(w, "bits");
        w.bits(&point, &[1, 2, 3]);
        member(w, "packed");
        w.packed(&point, &[2, 1], &[5, 6]);
        member(w, "boxed");
        w.boxed(&point, &[], 1);
        w.none();
        member(w, "tuple");
        w.tuple(2);
        w.tuple(0);
        w.bool(true);
        member(w, "simple");
        w.typed_value(TypedForm::Simple);
        w.list(1);
        w.int32(7);
        member(w, "symbol");
        w.symbol(b"a");
        member(w, "type");
        w.description(&point);
        member(w, "where");
        w.typed_value(TypedForm::UnionAll);
        w.symbol(b"T");
        w.typed_value(TypedForm::Bottom);
        member(w, "closure");
        w.typed_value(TypedForm::Anonymous);
        w.list(0);
        w.symbol(b"#1");
        member(w, "module");
        w.module(&[b"Main", b"Lab"]);
        member(w, "odd");
        w.typed_value(TypedForm::Struct);
        w.typed_value(TypedForm::Type);
        w.list(0);
        w.list(1);
        w.raw_text(b"\xff");
        w.bytes(&[9]);
    })
}

#[test]
fn every_form_is_read_as_it_was_written() {
    let lines = told(&every_form()).unwrap();
    let expected = [
        "dict of 13",
        "Text(Ascii(structure)): Struct { class: 0, fields: 2 }",
        "Float(1.5)",
        "Int(2)",
        "Text(Ascii(again)): Struct { class: 0, fields: 0 }",
        "Text(Ascii(bits)): Bits { class: 0, data: [1, 2, 3] }",
        "Text(Ascii(packed)): packed 0 [2, 1] [5, 6]",
        "Text(Ascii(boxed)): boxed 0 [] 1",
        "None",
        "Text(Ascii(tuple)): Tuple(2)",
        "Tuple(0)",
        "Bool(true)",
        "Text(Ascii(simple)): Simple(1)",
        "Int32(7)",
        "Text(Ascii(symbol)): Symbol([97])",
        "Text(Ascii(type)): type [\"Main\", \"Point\"] true",
        "list of 0",
        "Text(Ascii(where)): UnionAll",
        "Symbol([84])",
        "Bottom",
        "Text(Ascii(closure)): Anonymous",
        "list of 0",
        "Symbol([35, 49])",
        "Text(Ascii(module)): module [\"Main\", \"Lab\"]",
        "Text(Ascii(odd)): Bits { class: 1, data: [9] }",
    ];
    let expected: Vec<String> = expected.iter().map(|line| with_bytes(line)).collect();
    assert_eq!(lines, expected);
}

/// Names of members as the tokens show them: their bytes.
fn with_bytes(line: &str) -> String {
    match line.split_once("Ascii(").and_then(|(_, rest)| rest.split_once("))")) {
        Some((name, rest)) => format!("Text(Ascii({:?})){rest}", name.as_bytes()),
        None => line.to_owned(),
    }
}

#[test]
fn every_prefix_fails_and_none_panics() {
    let whole = every_form();
    for len in 0..whole.len() {
        assert!(told(&whole[..len]).is_err(), "{len}");
        // The same with a length that fits: what is missing is missed further in, or the rest is a document.
        let mut cut = whole[..len].to_vec();
        if len >= 5 {
            cut[..4].copy_from_slice(&(len as u32).to_le_bytes());
            cut[len - 1] = 0;
            let _ = told(&cut);
        }
    }
}

/// A document of BSON's own, element by element.
fn document(elements: &[(&str, u8, Vec<u8>)]) -> Vec<u8> {
    let mut made = vec![0; 4];
    for (name, tag, value) in elements {
        made.push(*tag);
        made.extend_from_slice(name.as_bytes());
        made.push(0);
        made.extend_from_slice(value);
    }
    made.push(0);
    let len = made.len() as u32;
    made[..4].copy_from_slice(&len.to_le_bytes());
    made
}

fn text(text: &str) -> Vec<u8> {
    [&(text.len() as u32 + 1).to_le_bytes()[..], text.as_bytes(), &[0]].concat()
}

fn int(value: i64) -> Vec<u8> {
    value.to_le_bytes().to_vec()
}

fn list(values: &[(u8, Vec<u8>)]) -> Vec<u8> {
    let names: Vec<String> = (0..values.len()).map(|at| at.to_string()).collect();
    let elements: Vec<_> =
        names.iter().zip(values).map(|(name, (tag, value))| (&name[..], *tag, value.clone())).collect();
    document(&elements)
}

use bson::tag::{ARRAY, DOCUMENT, INT_64, NULL, STRING};

/// All orders of so many elements.
fn orders(elements: &[(&'static str, u8, Vec<u8>)]) -> Vec<Vec<(&'static str, u8, Vec<u8>)>> {
    if elements.is_empty() {
        return vec![Vec::new()];
    }
    (0..elements.len())
        .flat_map(|at| {
            let mut rest = elements.to_vec();
            let first = rest.remove(at);
            orders(&rest).into_iter().map(move |order| [vec![first.clone()], order].concat())
        })
        .collect()
}

#[test]
fn parts_stand_in_any_order() {
    let fields = list(&[(INT_64, int(1)), (ARRAY, list(&[(INT_64, int(2))]))]);
    let structure = [("tag", STRING, text("struct")), ("type", DOCUMENT, point()), ("data", ARRAY, fields)];
    let array = [
        ("tag", STRING, text("array")),
        ("type", DOCUMENT, point()),
        ("size", ARRAY, list(&[(INT_64, int(1))])),
        ("data", ARRAY, list(&[(NULL, Vec::new())])),
    ];
    let body = document(&[("tag", STRING, text("tuple")), ("data", ARRAY, list(&[(INT_64, int(4))]))]);
    let union_all = [("tag", STRING, text("unionall")), ("var", INT_64, int(3)), ("body", DOCUMENT, body)];
    let cases: [(&[_], &[&str]); 3] = [
        (&structure, &["Struct { class: 0, fields: 2 }", "Int(1)", "list of 1", "Int(2)"]),
        (&array, &["boxed 0 [1] 1", "None"]),
        (&union_all, &["UnionAll", "Int(3)", "Tuple(1)", "Int(4)"]),
    ];
    for (parts, expected) in cases {
        for order in orders(parts) {
            // Within a list, so that something comes after; twice, as the second is another place.
            let one = (DOCUMENT, document(&order));
            let whole = document(&[("a", ARRAY, list(&[one.clone(), one, (INT_64, int(9))]))]);
            let lines = told(&whole).unwrap_or_else(|error| panic!("{order:?}: {error:?}"));
            let twice: Vec<&str> = [expected, expected, &["Int(9)"]].concat();
            assert_eq!(lines[2..], twice, "{order:?}");
        }
    }
}

#[test]
fn what_stands_apart_is_no_member() {
    let reference = |number| (DOCUMENT, document(&[("tag", STRING, text("backref")), ("ref", INT_64, int(number))]));
    let members = [("a", reference(1)), ("b", reference(2))];
    let apart = ("_backrefs", (ARRAY, list(&[(INT_64, int(5)), (DOCUMENT, point())])));
    for at in 0..=members.len() {
        let mut elements = members.to_vec();
        elements.insert(at, apart.clone());
        let elements: Vec<_> = elements.into_iter().map(|(name, (tag, value))| (name, tag, value)).collect();
        let whole = document(&elements);
        let lines = told(&whole).unwrap();
        assert_eq!(lines.len(), 3, "{at}");
        assert_eq!(lines[0], "dict of 2");
        assert!(lines[1].ends_with("Reference(1)") && lines[2].ends_with("Reference(2)"), "{lines:?}");
        let mut r = Reader::new(&whole).unwrap();
        let places = r.back_references().unwrap();
        r.rewind(places[0]);
        assert!(matches!(r.next().unwrap(), Token::Int(5)));
        r.rewind(places[1]);
        assert!(matches!(r.next().unwrap(), Token::TypedValue(TypedValue::Type { .. })));
    }
    // Alone, it leaves no member.
    let whole = document(&[("_backrefs", ARRAY, list(&[]))]);
    assert_eq!(told(&whole).unwrap(), ["dict of 0"]);
    let whole = document(&[("_backrefs", INT_64, int(1))]);
    let error = told(&whole).unwrap_err();
    assert_eq!(error.to_string(), "expected a list of values that are referred to, found another value");
}

#[test]
fn raw_documents_are_dicts() {
    let whole = document(&[("a", DOCUMENT, document(&[("tag", STRING, text("symbol")), ("name", STRING, text("x"))]))]);
    let lines = told_by(Reader::new(&whole).unwrap().raw()).unwrap();
    assert_eq!(lines[1], with_bytes("Text(Ascii(a)): dict of 2"));
}

#[test]
fn what_is_no_tag_is_a_dict() {
    let others: [Vec<u8>; 4] = [
        document(&[("tag", STRING, text("hello")), ("data", INT_64, int(1))]),
        document(&[("tag", INT_64, int(1))]),
        document(&[("name", STRING, text("symbol"))]),
        document(&[
            ("tag", STRING, text("symbol")),
            ("a", NULL, vec![]),
            ("b", NULL, vec![]),
            ("c", NULL, vec![]),
            ("d", NULL, vec![]),
        ]),
    ];
    for other in others {
        assert!(!is_tagged(&other));
        let whole = document(&[("a", DOCUMENT, other)]);
        assert!(told(&whole).unwrap()[1].contains("dict of"));
    }
}

#[test]
fn texts_of_what_is_wrong_with_tagged_documents() {
    let tagged = |parts: &[(&str, u8, Vec<u8>)]| document(&[("a", DOCUMENT, document(parts))]);
    let lacks = "a tagged document that lacks one of its parts";
    let bad = "a tagged document with a part of another type than it has";
    let cases = [
        (tagged(&[("tag", STRING, text("struct")), ("data", ARRAY, list(&[]))]), lacks),
        (tagged(&[("tag", STRING, text("struct")), ("type", DOCUMENT, point())]), lacks),
        (tagged(&[("tag", STRING, text("backref"))]), lacks),
        (tagged(&[("tag", STRING, text("struct")), ("type", INT_64, int(1)), ("data", ARRAY, list(&[]))]), bad),
        (tagged(&[("tag", STRING, text("struct")), ("type", DOCUMENT, point()), ("data", INT_64, int(1))]), bad),
        (tagged(&[("tag", STRING, text("symbol")), ("name", INT_64, int(1))]), bad),
        (tagged(&[("tag", STRING, text("tuple")), ("data", INT_64, int(1))]), bad),
        (tagged(&[("tag", STRING, text("backref")), ("ref", INT_64, int(0))]), bad),
        (tagged(&[("tag", STRING, text("backref")), ("ref", STRING, text("1"))]), bad),
        (
            tagged(&[("tag", STRING, text("ref")), ("path", ARRAY, list(&[(INT_64, int(1))]))]),
            "expected the names of a type or module, found another value",
        ),
    ];
    for (whole, expected) in cases {
        assert_eq!(told(&whole).unwrap_err().to_string(), expected);
    }
    let dimensions = list(&[(INT_64, int(-1))]);
    let array = tagged(&[
        ("tag", STRING, text("array")),
        ("type", DOCUMENT, point()),
        ("size", ARRAY, dimensions),
        ("data", ARRAY, list(&[])),
    ]);
    assert_eq!(
        told(&array).unwrap_err().to_string(),
        "expected the lengths of an array's dimensions, found another value"
    );
}

#[test]
fn parameters_of_types() {
    let inner = point();
    let made = description(
        [&b"Core"[..], b"NamedTuple"].into_iter(),
        &[
            Parameter::Tuple(2),
            Parameter::Symbol(b"a"),
            Parameter::Symbol(b"b"),
            Parameter::Type(&inner),
            Parameter::Bool(true),
            Parameter::Float(0.5),
        ],
    );
    let whole = document(&[("t", DOCUMENT, made.into_std())]);
    let expected = [
        "list of 4",
        "Tuple(2)",
        "Symbol([97])",
        "Symbol([98])",
        "type [\"Main\", \"Point\"] true",
        "list of 0",
        "Bool(true)",
        "Float(0.5)",
    ];
    assert_eq!(told(&whole).unwrap()[2..], expected);
    // All ints are packed, as Julia has them in a list of their own.
    let made = description([&b"Base"[..], b"BitArray"].into_iter(), &[Parameter::Int(2)]);
    let whole = document(&[("t", DOCUMENT, made.into_std())]);
    assert_eq!(told(&whole).unwrap()[2..], ["packed 0 [1] [2, 0, 0, 0, 0, 0, 0, 0]"]);
    // So are all bools, and all floats; not what is of several types.
    for (parameters, expected) in [
        (&[Parameter::Bool(true), Parameter::Bool(false)][..], "packed 0 [2] [1, 0]"),
        (&[Parameter::Float(-0.0)][..], "packed 0 [1] [0, 0, 0, 0, 0, 0, 0, 128]"),
        (&[Parameter::Int(1), Parameter::Bool(true)][..], "list of 2"),
        (&[][..], "list of 0"),
    ] {
        let made = description([&b"Main"[..], b"V"].into_iter(), parameters);
        let whole = document(&[("t", DOCUMENT, made.into_std())]);
        assert_eq!(told(&whole).unwrap()[2], expected);
    }
}

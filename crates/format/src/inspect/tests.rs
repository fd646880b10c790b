use super::*;
use crate::model::{
    KnownType, ReferenceWriter as _, RunWriter as _, Seq, ShapeWriter as _, Text, TypeWriter as _, Writer as _,
};
use crate::{bson, hold, julia, msgpack, ErrorKind};
use std::collections::HashSet;
use std::vec;
use std::vec::Vec;

const ALL: Options = Options { depth: 99, most: 99, values: true, whole: true };

fn of_message(message: &[u8], options: Options) -> Inspection {
    let made = inspect(hold::Reader::new(message, true).unwrap(), message, options);
    added_up(&made, message.len());
    made
}

/// Every byte that was read is some value's own.
fn added_up(made: &Inspection, len: usize) {
    let own = made.kinds.iter().fold(0u64, |own, (_, sum)| own.wrapping_add(sum.bytes));
    assert_eq!(made.head as u64 + own, made.read as u64, "{made:?}");
    assert!(made.read <= len && (made.error.is_some() || made.read == len), "{made:?}");
    for node in &made.nodes {
        assert!(node.offset + node.bytes <= len, "{node:?}");
    }
}

/// A line for each node.
fn lines(made: &Inspection) -> Vec<String> {
    let lines = made.nodes.iter().map(|node| {
        let name = node.name.as_ref().map_or(String::new(), |name| format!(" {name}"));
        format!("{} {:?} {:?}{name} {}+{}", node.depth, node.key, node.kind, node.offset, node.bytes)
    });
    lines.collect()
}

/// `{"a": [1, None], 2: (that list again, x=True)}`, the last an instance; and a date.
fn message() -> Vec<u8> {
    let mut w = hold::Writer::new(Vec::new(), false);
    w.list(2);
    w.dict(2);
    w.text(Text::Ascii(b"a"));
    w.assign_id();
    w.list(2);
    w.int(1);
    w.none();
    w.int(2);
    let begun = w.shape_begin(ShapeKind::Based, 1, 1);
    w.text(Text::Ascii(b"m.C"));
    w.text(Text::Ascii(b"x"));
    w.shape_end(begun);
    w.reference(1);
    w.bool(true);
    w.known(KnownType::Date);
    w.int(738_000);
    w.out
}

#[test]
fn what_is_shown_of_a_message() {
    let message = message();
    let made = of_message(&message, ALL);
    assert_eq!(
        lines(&made),
        [
            "0 Root list 1+31",
            "1 Item(0) dict 2+23",
            "2 Text(\"a\") list 6+4",
            "3 Item(0) int 8+1",
            "3 Item(1) None 9+1",
            "2 Other(\"int\") instance m.C 11+14",
            "3 Content reference 22+2",
            "3 Field(\"x\") bool 24+1",
            "1 Item(1) date 25+7",
        ]
    );
    assert_eq!((made.numbered, made.shared, made.references), (4, 1, 1));
    assert_eq!(made.nodes[2].number, Some(1));
    assert_eq!(made.nodes[6].target, Some(1));
    assert_eq!(made.classes[0].fields[..], ["x"]);
}

#[test]
fn every_prefix_is_told_as_far_as_it_goes() {
    let message = message();
    let whole = of_message(&message, ALL);
    for len in 1..message.len() {
        let made = of_message(&message[..len], ALL);
        assert!(
            matches!(made.error.as_ref().map(Error::kind), Some(ErrorKind::Truncated { .. })),
            "{len} bytes: {made:?}"
        );
        for (node, same) in made.nodes.iter().zip(&whole.nodes) {
            assert_eq!((node.offset, node.kind, &node.key), (same.offset, same.kind, &same.key));
            assert!(!node.whole || node.bytes == same.bytes);
        }
    }
}

#[test]
fn every_byte_of_a_message_may_be_any() {
    let message = message();
    for at in 1..message.len() {
        for byte in 0..=u8::MAX {
            let mut bad = message.clone();
            bad[at] = byte;
            of_message(&bad, ALL);
        }
    }
}

#[test]
fn what_is_not_shown_is_summed() {
    let message = message();
    let made = of_message(&message, Options { depth: 1, most: 1, ..ALL });
    assert_eq!(lines(&made), ["0 Root list 1+31", "1 Item(0) dict 2+23"]);
    let rest: Vec<_> = made.nodes.iter().flat_map(|node| &node.rest).collect();
    let rest: Vec<_> = rest.iter().map(|rest| (rest.kind, rest.name.as_deref(), rest.sum)).collect();
    let sum = |bytes| Sum { values: 1, bytes };
    assert_eq!(
        rest,
        [
            (Some(ValueKind::known(KnownType::Date)), None, sum(7)),
            (Some(ValueKind::List), None, sum(4)),
            (Some(ValueKind::Instance), Some("m.C"), sum(14)),
        ]
    );
}

#[test]
fn packed_runs() {
    let mut w = hold::Writer::new(Vec::new(), false);
    w.tuple(3);
    w.floats_begin(Seq::List, 2);
    w.floats(&[1.0, 2.0]);
    w.bools(Seq::Tuple, &[1, 0, 1]);
    w.texts(Seq::List, &[1, 0]);
    w.texts_bytes(b"a");
    let made = of_message(&w.out, ALL);
    let values = |kind| made.kinds.iter().find(|row| row.0 == kind).map(|row| (row.1.values, row.1.bytes));
    assert_eq!(values(ValueKind::Float), Some((2, 16)));
    assert_eq!(values(ValueKind::Bool), Some((3, 3)));
    assert_eq!(values(ValueKind::Str), Some((2, 3)));
    assert_eq!(values(ValueKind::List), Some((2, 4)));
    assert_eq!(values(ValueKind::Tuple), Some((2, 3)));
}

#[test]
fn a_shape_whose_names_do_not_agree_with_it() {
    for (fields, names) in [(1, 1), (2, 2), (0, 3)] {
        let mut w = hold::Writer::new(Vec::new(), false);
        let begun = w.shape_begin(ShapeKind::Object, 1, fields);
        (0..names).for_each(|_| w.text(Text::Ascii(b"n")));
        w.shape_end(begun);
        (0..fields).for_each(|_| w.none());
        let made = inspect(hold::Reader::new(&w.out, false).unwrap(), &w.out, ALL);
        assert_eq!(made.error.as_ref().map(Error::kind), Some(&ErrorKind::BadName), "{fields} {names}");
    }
}

#[test]
fn documents() {
    let mut w = bson::Writer::new(Vec::new());
    w.dict(2);
    w.key(Text::Ascii(b"a"));
    w.list(1);
    w.int(1);
    w.key(Text::Ascii(b"b"));
    w.float(1.0);
    let document = w.out;
    let made = inspect(bson::Reader::new(&document).damaged(), &document, ALL);
    added_up(&made, document.len());
    assert_eq!(
        lines(&made),
        ["0 Root dict 0+31", "1 Text(\"a\") list 7+12", "2 Item(0) int 14+4", "1 Text(\"b\") float 22+8"]
    );
    let same = inspect(julia::Reader::damaged(&document), &document, ALL);
    added_up(&same, document.len());
    assert_eq!(same.nodes.len(), 4);
    for len in 0..document.len() {
        for made in [
            inspect(bson::Reader::new(&document[..len]).damaged(), &document[..len], ALL),
            inspect(julia::Reader::damaged(&document[..len]), &document[..len], ALL),
        ] {
            added_up(&made, len);
            assert!(made.error.is_some(), "{len} bytes");
        }
    }
}

#[test]
fn bytes_behind_a_value_are_damage_where_it_should_be_all() {
    let input = [0x91, 0x01, 0x02];
    for whole in [false, true] {
        let made = inspect(msgpack::Reader::new(&input), &input, Options { whole, ..ALL });
        assert_eq!(made.read, 2);
        let trailing = matches!(made.error.as_ref().map(Error::kind), Some(ErrorKind::Trailing { count: 1 }));
        assert_eq!(trailing, whole);
    }
}

#[test]
fn kinds_have_names_of_their_own() {
    let labels: Vec<_> = ValueKind::all().map(ValueKind::label).filter(|label| *label != "timezone").collect();
    assert_eq!(labels.iter().collect::<HashSet<_>>().len(), labels.len());
    assert!(labels.iter().all(|label| !label.is_empty()));
    for known in KnownType::ALL {
        let kind = ValueKind::known(*known);
        assert!(kind.index() < ValueKind::COUNT && !kind.label().is_empty());
    }
}

#[test]
fn an_open_container_takes_little() {
    let mut message = vec![hold::tag::VERSION];
    message.resize(1_000_001, hold::tag::LIST_FIX + 1);
    message.push(0);
    let made = of_message(&message, Options { depth: 2, most: 1, ..ALL });
    assert_eq!((made.nodes.len(), made.kinds.len()), (3, 2));
    assert!(size_of::<walk::OpenValue>() <= 48);
}

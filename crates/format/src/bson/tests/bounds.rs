//! Lengths, nesting, names of items, and what is refused.

use super::*;
use std::vec;
use std::vec::Vec;

/// Values of a length field that are wrong, or nearly so; `right` is what it should be.
fn extremes(right: i32, whole: usize) -> Vec<i32> {
    let mut found =
        vec![i32::MIN, i32::MIN + 1, -1, 0, 1, 3, 4, 5, 6, 13, 14, 255, 256, 65_536, i32::MAX - 1, i32::MAX];
    found.extend((-5..=5).map(|by| right + by));
    found.extend((-2..=2).map(|by| whole as i32 + by));
    found
}

#[test]
fn lengths_at_their_extremes() {
    // Every word is tried: each length field is one of them, and so is much else.
    let (mut read, mut refused) = (0, 0);
    for sample in samples().iter().filter(|sample| sample.len() < 300) {
        for at in 0..=sample.len() - 4 {
            let mut input = sample.clone();
            let word = i32::from_le_bytes(input[at..at + 4].try_into().unwrap());
            for value in extremes(if word.unsigned_abs() < 1 << 16 { word } else { 0 }, input.len()) {
                input[at..at + 4].copy_from_slice(&value.to_le_bytes());
                match ends(&input) {
                    Ok(_) => read += 1,
                    Err(error) => {
                        assert!(error.offset() <= input.len());
                        refused += 1;
                    }
                }
            }
        }
    }
    assert!(read > 1000 && refused > 10_000, "{read} read, {refused} refused");
}

#[test]
fn every_byte_damaged() {
    for sample in samples().iter().filter(|sample| sample.len() < 300) {
        for at in 0..sample.len() {
            let mut input = sample.clone();
            for byte in
                [0, 1, 2, 3, 4, 5, 0x0A, 0x0F, 0x10, 0x30, 0x7F, 0x80, 0xFF, input[at] ^ 1, input[at].wrapping_add(1)]
            {
                input[at] = byte;
                let _ = ends(&input);
            }
            // One more, and one less, in a document that says so.
            let mut longer = sample.clone();
            longer.insert(at, 0);
            let mut shorter = sample.clone();
            shorter.remove(at);
            for mut input in [longer, shorter] {
                let _ = ends(&input);
                let len = (input.len() as u32).to_le_bytes();
                if let Some(head) = input.first_chunk_mut() {
                    *head = len;
                }
                let _ = ends(&input);
            }
        }
    }
}

/// The error of reading a document, and that the others refuse it too.
fn flaw(input: &[u8]) -> (String, usize) {
    let error = ends(input).unwrap_err();
    (error.to_string(), error.offset())
}

#[test]
fn texts_and_places_of_what_is_wrong() {
    const SHORT: &str = "expected a document of at least 5 bytes, found a smaller length";
    const OPEN: &str = "a document that does not end where its length says";
    const TEXT: &str = "expected the length of a text, 1 or more, found a smaller number";
    const CODE: &str = "code with variables that do not end where its length says";
    const OLD: &str = "a binary of subtype 2 whose two lengths do not agree";
    const NEGATIVE: &str = "expected a length, found a negative number";
    let cases: Vec<(Vec<u8>, &str, usize)> = vec![
        (vec![], "truncated: needs at least 4 more bytes", 0),
        (vec![5, 0, 0], "truncated: needs at least 1 more bytes", 0),
        (vec![5, 0, 0, 0], "truncated: needs at least 1 more bytes", 0),
        (vec![4, 0, 0, 0, 0], SHORT, 0),
        (vec![255; 5], SHORT, 0),
        (vec![5, 0, 0, 0, 0, 0, 0], "2 bytes left over after the message", 5),
        (vec![255, 255, 255, 127, 0], "truncated: needs at least 2147483642 more bytes", 0),
        (vec![5, 0, 0, 0, 1], OPEN, 4),
        (vec![6, 0, 0, 0, 0, 0], OPEN, 4),
        (document(b"\x0Ak"), OPEN, 7),
        (document(b"\x0Akk"), OPEN, 8),
        (keyed(0x10, &[0; 2]), OPEN, 7),
        // The end is taken for the number's last byte.
        (keyed(0x10, &[0; 3]), OPEN, 11),
        (keyed(0x14, &[]), "unknown tag 0x14 (damaged, or written by a newer version)", 7),
        (keyed(0x08, &[2]), "expected a bool of 0 or 1, found another byte", 8),
        (keyed(0x02, &[0; 4]), TEXT, 11),
        (keyed(0x02, &[255; 4]), NEGATIVE, 7),
        (keyed(0x02, &sized(2, b"ab")), "a text that does not end with a NUL", 13),
        (keyed(0x02, &sized(9, b"a\0")), OPEN, 7),
        (keyed(0x02, &[1, 0]), "truncated: needs at least 1 more bytes", 7),
        (keyed(0x0E, &sized(1, b"a")), "a text that does not end with a NUL", 12),
        (keyed(0x05, &sized(-1, b"\0")), NEGATIVE, 7),
        (keyed(0x05, &sized(4, b"\x02\x01\0\0\0")), OLD, 16),
        (keyed(0x05, &sized(3, b"\x02\0\0\0")), OLD, 15),
        (keyed(0x0B, b"ab"), "a text that does not end with a NUL", 7),
        (keyed(0x03, &[4, 0, 0, 0, 0]), SHORT, 7),
        (keyed(0x03, &[6, 0, 0, 0, 1, 1]), OPEN, 11),
        (keyed(0x04, &[6, 0, 0, 0, 1, 1]), OPEN, 11),
        (keyed(0x0F, &sized(4, b"")), SHORT, 7),
        (keyed(0x0F, &sized(15, &[&sized(1, b"\0")[..], &document(b""), b"\0"].concat())), CODE, 16),
        (keyed(0x0F, &sized(13, &[&sized(1, b"\0")[..], &document(b"")[..4]].concat())), CODE, 16),
        (keyed(0x0F, &sized(14, &[&sized(0, b"")[..], &[0; 6]].concat())), TEXT, 15),
    ];
    for (input, text, at) in cases {
        assert_eq!(flaw(&input), (text.to_owned(), at), "{input:?}");
    }
    // What only a value by itself comes to.
    let alone = |tag, bytes: &[u8]| debug(Reader::of_value(tag, bytes).next());
    assert_eq!(alone(0x0B, b"ab"), "a name that does not end at 0");
    assert_eq!(alone(0x0F, &[255; 20]), "expected a length, found a negative number at 4");
    assert_eq!(debug_error(by_elements(&[5, 0, 0, 0, 1])), "a name that does not end at 4");
    assert_eq!(alone(0x10, &[0; 3]), "truncated: needs at least 1 more bytes at 0");
}

#[test]
fn an_end_among_items_is_no_end() {
    // Items that are taken uncounted: nothing but their own names and sizes says where they are.
    for items in [&b"\0"[..], b"\0\x0A0\0", b"\x0A0\0\0", b"\x0A0\0\0\x0A1\0", b"\0\0\0\x100\0\x05\0\0\0"] {
        for form in [tag::ARRAY, tag::DOCUMENT] {
            let input = document(&[&[form, b'a', 0], &document(items)[..], b"\x10b\0\x01\0\0\0"].concat());
            assert_eq!(flaw(&input).0, "a document that does not end where its length says");
        }
    }
    // Nor is it passed over on the way to a key that is expected.
    let input = document(b"\0\x0A0\0");
    let mut r = Reader::new(&input);
    r.next().unwrap();
    assert!(!r.accept(b"0\0"));
    r.key();
    assert_eq!(debug(r.next()), "a document that does not end where its length says at 5");
    // The ends of what stood before are.
    let inner =
        document(&[&[3, b'0', 0], &document(b"")[..], &[4, b'1', 0], &document(b"\x0A0\0"), b"\x0A2\0"].concat());
    let input = keyed(4, &document(&[&[4, b'0', 0], &inner[..], &[4, b'1', 0], &inner, b"\x0A2\0"].concat()));
    ends(&input).unwrap();
    // Also by a reader that looked ahead and came back.
    let input =
        document(&[&[3, b'a', 0], &document(b"\x0Ax\0")[..], &[4, b'b', 0], &document(b"\x0A0\0\x0A1\0")].concat());
    let mut r = Reader::new(&input);
    r.next().unwrap();
    r.key();
    r.next().unwrap();
    r.next().unwrap();
    let within = r.place();
    for _ in 0..2 {
        r.key();
        assert_eq!(debug(r.next()), "Text(Ascii([120]))");
        r.next().unwrap();
        r.key();
        assert_eq!(debug(r.next()), "Text(Ascii([98]))");
        let Token::Items(end) = r.next().unwrap() else { panic!("no list") };
        assert_eq!(r.count(end).unwrap(), 2);
        r.next().unwrap();
        assert_eq!(r.count(end).unwrap(), 1);
        r.next().unwrap();
        assert_eq!((r.count(end).unwrap(), r.offset()), (0, end));
        r.finish().unwrap();
        r.rewind(within);
    }
}

#[test]
fn items_are_named_by_their_numbers() {
    // On both sides of each power of ten that a name is longer from.
    for len in [0, 1, 2, 9, 10, 11, 12, 99, 100, 101, 102, 999, 1000, 1001, 9999, 10_000, 10_001, 100_001, 1_000_001] {
        let mut w = Writer::new(Vec::new());
        w.dict(1);
        w.key(Text::Ascii(b"k"));
        w.list(len);
        (0..len).for_each(|_| w.none());
        let items: Vec<u8> = (0..len).flat_map(|at| format!("\x0A{at}\0").into_bytes()).collect();
        assert!(w.out == keyed(tag::ARRAY, &document(&items)), "{len} items");
        if len <= 10_001 {
            assert_eq!(ends(&w.out).unwrap().len(), 2 + len);
        }
    }
    // Whatever they are named: only their order counts.
    for name in [&b""[..], b"7", b"12", b"name", "é".as_bytes()] {
        let item = [&[0x10], name, b"\0\x05\0\0\0"].concat();
        let input = keyed(tag::ARRAY, &document(&item.repeat(3)));
        assert_eq!(ends(&input).unwrap().len(), 5);
    }
}

#[test]
fn empty_containers_at_every_place() {
    let (empty, none) = (document(b""), &b"\x0A0\0"[..]);
    for form in [tag::DOCUMENT, tag::ARRAY] {
        let held = [&[form, b'0', 0], &empty[..]].concat();
        let code = sized(14, &[&sized(1, b"\0")[..], &empty].concat());
        let code = [&[tag::SCOPED_CODE, b'0', 0], &code[..]].concat();
        for elements in [
            [&held[..], none].concat(),
            [none, &held].concat(),
            [&held[..], &held].concat(),
            [none, &held, none].concat(),
            [&held[..], &code, &held].concat(),
            [&code[..], &code].concat(),
        ] {
            for outer in [tag::DOCUMENT, tag::ARRAY] {
                let inner = [&[outer, b'k', 0], &document(&elements)[..]].concat();
                ends(&document(&inner)).unwrap();
                ends(&document(&[&inner[..], &inner].concat())).unwrap();
                ends(&document(&[&inner[..], none].concat())).unwrap();
            }
        }
    }
    let mut w = Writer::new(Vec::new());
    w.dict(4);
    w.key(Text::Ascii(b"a"));
    w.dict(0);
    w.key(Text::Ascii(b"b"));
    w.list(3);
    w.list(0);
    w.dict(1);
    w.key(Text::Ascii(b""));
    w.list(0);
    w.dict(0);
    w.key(Text::Ascii(b"c"));
    scoped(&mut w, b"", |w| w.dict(0));
    w.key(Text::Ascii(b"d"));
    w.none();
    let list = document(
        &[&b"\x040\0"[..], &empty, b"\x031\0", &document(&[&[4, 0], &empty[..]].concat()), b"\x032\0", &empty].concat(),
    );
    let code = sized(14, &[&sized(1, b"\0")[..], &empty].concat());
    let elements = [b"\x03a\0", &empty[..], b"\x04b\0", &list, b"\x0Fc\0", &code, b"\x0Ad\0"].concat();
    assert_eq!(w.out, document(&elements));
    ends(&w.out).unwrap();
}

#[test]
fn nested_deep() {
    const DEEP: usize = 100_000;
    for list in [false, true] {
        let mut w = Writer::new(Vec::new());
        w.dict(1);
        for _ in 0..DEEP {
            if list {
                w.key(Text::Ascii(b"a"));
                w.list(1);
            } else {
                w.key(Text::Ascii(b"aaa"));
            }
            w.dict(1);
        }
        w.key(Text::Ascii(b"a"));
        w.none();
        // The innermost holds a null of three bytes; each around it adds its head, its end, and 3 or 5 for the name.
        let each = if list { 2 * 8 } else { 10 };
        assert_eq!(w.out.len(), 8 + DEEP * each);
        assert_eq!(w.out[..4], (w.out.len() as u32).to_le_bytes());
        assert_eq!(w.refusal(), None);
        for leaves_first in [false, true] {
            let found = by_tokens(Reader::new(&w.out), leaves_first).unwrap();
            assert_eq!(found.len(), 2 + DEEP * (1 + usize::from(list)));
        }
        assert_eq!(by_elements(&w.out).unwrap().len(), 2 + DEEP * (1 + usize::from(list)));
        let mut r = Reader::new(&w.out);
        r.skip().unwrap();
        assert_eq!(r.remaining(), 0);
    }
}

#[test]
fn the_root_is_a_document() {
    let roots: [Write; 7] = [
        |w| w.none(),
        |w| w.int(1),
        |w| w.text(Text::Ascii(b"a")),
        |w| w.text(Text::Ucs2(&[0xD800])),
        |w| w.bytes(b""),
        |w| {
            w.list(1);
            w.none();
        },
        |w| scoped(w, b"", |w| w.dict(0)),
    ];
    for root in roots {
        let mut w = Writer::new(Vec::new());
        root(&mut w);
        assert_eq!(w.refusal(), Some(refusal::ROOT));
    }
    for root in [(|w| w.dict(0)) as Write, |w| w.bson_value(BsonValue::Document(&[5, 0, 0, 0, 0]))] {
        let mut w = Writer::new(Vec::new());
        root(&mut w);
        assert_eq!((w.refusal(), &w.out[..]), (None, &[5, 0, 0, 0, 0][..]));
    }
    // Variables of code are a document too.
    assert_eq!(written(|w| scoped(w, b"", |w| w.none())).refusal(), Some(refusal::ROOT));
}

#[test]
fn what_has_no_form_is_refused() {
    let beyond: [(Write, &str); 15] = [
        (|w| w.bigint(&[0, 0, 0, 0, 0, 0, 0, 0x80, 0]), "an int beyond 64 bits"),
        (|w| w.bigint(&[255, 255, 255, 255, 255, 255, 255, 0x7F, 255]), "an int beyond 64 bits"),
        (|w| w.bigint(&[0, 0, 0, 0, 0, 0, 0, 0, 1]), "an int beyond 64 bits"),
        (|w| w.bigint(&[0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 0]), "an int beyond 64 bits"),
        (|w| w.text(Text::Ucs2(&[0x61, 0xD800])), "text with a lone surrogate"),
        (|w| w.text(Text::Ucs4(&[0x1_F600, 0xDFFF])), "text with a lone surrogate"),
        (|w| keyed_by(w, Text::Ucs2(&[0xDC00])), "text with a lone surrogate"),
        (|w| keyed_by(w, Text::Ucs4(&[0x1_F600, 0xDC00, 0])), "text with a lone surrogate"),
        (|w| keyed_by(w, Text::Ascii(b"a\0")), "a key or pattern with a NUL"),
        (|w| keyed_by(w, Text::Utf8("\0é".as_bytes())), "a key or pattern with a NUL"),
        (|w| keyed_by(w, Text::Latin1(&[0xE9, 0])), "a key or pattern with a NUL"),
        (|w| keyed_by(w, Text::Ucs2(&[0x65E5, 0])), "a key or pattern with a NUL"),
        (|w| keyed_by(w, Text::Ucs4(&[0, 0x1_F600])), "a key or pattern with a NUL"),
        (|w| w.bson_value(BsonValue::Regex { pattern: b"a\0", options: b"" }), "a key or pattern with a NUL"),
        (|w| w.bson_value(BsonValue::Regex { pattern: b"", options: b"\0" }), "a key or pattern with a NUL"),
    ];
    for (write, why) in beyond {
        assert_eq!(written(write).refusal(), Some(why));
        // Whatever comes after, what was written is void, and nothing else happens: the first refusal counts.
        for (after, ..) in cases().into_iter().chain(beyond.map(|(write, why)| (write, 0, vec![], why))) {
            let mut w = Writer::new(Vec::new());
            w.dict(3);
            w.key(Text::Ascii(b"a"));
            write(&mut w);
            w.key(Text::Latin1(&[0xE9]));
            w.list(2);
            after(&mut w);
            write(&mut w);
            w.key(Text::Ascii(b"b"));
            after(&mut w);
            assert_eq!(w.refusal(), Some(why));
        }
    }
}

/// A document of one value, whose key is refused.
fn keyed_by(w: &mut Writer<Vec<u8>>, key: Text<'_>) {
    w.dict(1);
    w.key(key);
    w.none();
}

#[test]
fn keys_of_every_width() {
    let keys: [(Text<'_>, &str); 8] = [
        (Text::Ascii(b""), ""),
        (Text::Ascii(b"0123456789012345678"), "0123456789012345678"),
        (Text::Latin1(&[0xE9]), "é"),
        (Text::Latin1(b"a"), "a"),
        (Text::Ucs2(&[0x65E5, 0x61]), "日a"),
        (Text::Ucs4(&[0x1_F600]), "😀"),
        (Text::Utf8("é".as_bytes()), "é"),
        (Text::Utf8(b"$.a b"), "$.a b"),
    ];
    for (key, name) in keys {
        let mut w = Writer::new(Vec::new());
        w.dict(2);
        w.key(key);
        w.bool(true);
        w.key(key);
        w.dict(1);
        w.key(key);
        w.none();
        let inner = document(&[&[0x0A], name.as_bytes(), &[0]].concat());
        let elements = [&[8], name.as_bytes(), &[0, 1, 3], name.as_bytes(), &[0], &inner].concat();
        assert_eq!(w.out, document(&elements));
        ends(&w.out).unwrap();
        let mut r = Reader::new(&w.out);
        r.next().unwrap();
        r.key();
        let is_ascii = matches!(r.next().unwrap(), Token::Text(model::Bytes::Ascii(found)) if found == name.as_bytes());
        assert_eq!(is_ascii, name.is_ascii());
    }
}

#[test]
fn names_are_matched_as_they_are_written() {
    assert_eq!(Reader::encoded(b""), b"\0");
    assert_eq!(Reader::encoded(b"ab"), b"ab\0");
    // Never a key.
    assert_eq!(Reader::encoded(b"a\0b"), b"");
    let inner =
        document(&[&[3, b'a', 0], &document(&[&[4, b'a', 0], &document(b"\x0A0\0")[..]].concat())[..]].concat());
    let input = document(&[&[3, b'a', 0], &inner[..], b"\x10ab\0\x07\0\0\0\x0A\0"].concat());
    let mut r = Reader::new(&input);
    r.next().unwrap();
    for _ in 0..3 {
        assert!(r.accept(b"a\0"));
        let token = r.next().unwrap();
        if let Token::Items(end) = token {
            assert_eq!(r.count(end).unwrap(), 1);
            assert_eq!(debug(r.next()), "None");
        }
    }
    // Three documents and a list end before the next name.
    assert_eq!(input[r.offset()..][..3], [0, 0, 0]);
    let before = r.place();
    for wrong in [&b""[..], b"\0", b"a\0", b"abc\0", b"b\0", b"ab\0\x07\0\0\0\x0A\0\0\0"] {
        assert!(!r.accept(wrong), "{wrong:?}");
    }
    r.rewind(before);
    assert!(r.accept(b"ab\0"));
    assert_eq!(debug(r.next()), "Int(7)");
    assert!(!r.accept(b"a\0"));
    assert!(r.accept(b"\0"));
    assert!(r.skip().unwrap());
    assert!(!r.accept(b"a\0"));
    r.finish().unwrap();
    // What is not looked at is skipped: keys as keys, values as wholes.
    let mut r = Reader::new(&input);
    r.next().unwrap();
    r.key();
    assert!(r.skip().unwrap());
    assert_eq!(r.offset(), 7);
    let mut seen = r.clone();
    assert!(matches!(seen.next().unwrap(), Token::Members(_)));
    assert!(r.skip().unwrap());
    assert_eq!(r.offset(), 7 + inner.len());
    assert_eq!(r.finish().unwrap_err().kind(), &ErrorKind::Trailing { count: r.remaining() });
}

#[test]
fn items_are_counted_from_where_the_reader_is() {
    let items = [&b"\x0A0\0\x101\0\x05\0\0\0\xFF2\0\x0A3\0\x034\0"[..], &document(b"")].concat();
    let input = keyed(tag::ARRAY, &document(&items));
    let mut r = Reader::new(&input);
    r.next().unwrap();
    r.key();
    r.next().unwrap();
    let Token::Items(end) = r.next().unwrap() else { panic!("no list") };
    assert_eq!(end, input.len() - 2);
    for (left, token) in [(5, "None"), (4, "Int(5)"), (3, "BsonValue(MinKey)"), (2, "None"), (1, "Members(34)")] {
        assert_eq!(r.count(end).unwrap(), left);
        let before = r.place();
        if r.leaf().unwrap().is_none() {
            // Its type and name were read: it still counts.
            assert_eq!(r.count(end).unwrap(), left);
            assert_eq!(debug(r.next()), token);
            r.rewind(before);
            assert!(r.leaf().unwrap().is_none());
            assert!(r.skip().unwrap());
            r.rewind(before);
        }
        r.rewind(before);
        assert_eq!(debug(r.next()), token);
    }
    // An end that it is behind, or that is not there.
    for end in [0, end - 2, input.len(), usize::MAX - 1, usize::MAX] {
        let error = r.count(end).unwrap_err();
        assert_eq!(error.to_string(), "a document that does not end where its length says");
    }
}

#[test]
fn elements_one_by_one() {
    let input = document(
        &[&b"\x10a\0\x05\0\0\0\x03b\0"[..], &document(b"\x0Ac\0"), "\x02é\0\x02\0\0\0x\0".as_bytes()].concat(),
    );
    let found: Vec<Element<'_>> = Elements::new(&input).unwrap().map(Result::unwrap).collect();
    let expected = [
        Element { tag: 0x10, name: b"a", value: &[5, 0, 0, 0], at: 7 },
        Element { tag: 0x03, name: b"b", value: &document(b"\x0Ac\0"), at: 14 },
        Element { tag: 0x02, name: "é".as_bytes(), value: b"\x02\0\0\0x\0", at: 26 },
    ];
    assert_eq!(found, expected);
    // On from any of them.
    for (at, element) in expected.iter().enumerate() {
        let from = element.at - element.name.len() - 2;
        let rest: Vec<Element<'_>> = Elements::at(&input, from).map(Result::unwrap).collect();
        assert_eq!(rest, expected[at..]);
    }
    assert!(Elements::at(&input, input.len() - 1).next().is_none());
    // One that is malformed is the last.
    for (from, at) in [(5, 5), (input.len(), input.len()), (usize::MAX, input.len())] {
        let mut elements = Elements::at(&input, from);
        assert!(elements.next().unwrap().unwrap_err().offset() >= at);
        assert!(elements.next().is_none());
    }
    let mut elements = Elements::at(b"", 4);
    assert!(elements.next().unwrap().is_err());
    assert!(elements.next().is_none() && elements.next().is_none());
    // Where the document says that it ends is checked first, all else when it is come to.
    assert_eq!(debug_error(Elements::new(&input[..20])), "truncated: needs at least 13 more bytes at 0");
    assert_eq!(
        debug_error(Elements::new(b"\x04\0\0\0")),
        "expected a document of at least 5 bytes, found a smaller length at 0"
    );
    let mut elements = Elements::new(b"\x0A\0\0\0\x0Aa\0\x01b\0").unwrap();
    assert!(elements.next().unwrap().is_ok());
    assert_eq!(debug_error(elements.next().unwrap()), "a document that does not end where its length says at 10");
    assert!(elements.next().is_none());
}

fn debug_error<T: std::fmt::Debug>(result: Result<T>) -> String {
    let error = result.unwrap_err();
    format!("{error} at {}", error.offset())
}

#[test]
fn documents_one_behind_the_other() {
    let (a, b) = (document(b"\x0Aa\0"), document(b""));
    let input = [&a[..], &b, &[9]].concat();
    assert_eq!(split_first(&input).unwrap(), (&a[..], &input[a.len()..]));
    assert_eq!(split_first(&input[a.len()..]).unwrap(), (&b[..], &[9][..]));
    assert_eq!(debug_error(split_first(&[9])), "truncated: needs at least 3 more bytes at 0");
    assert_eq!(debug_error(split_first(&[])), "truncated: needs at least 4 more bytes at 0");
    assert_eq!(debug_error(split_first(&a[..6])), "truncated: needs at least 2 more bytes at 0");
    for len in [i32::MIN, -1, 0, 4] {
        let error = debug_error(split_first(&sized(len, &[0; 20])));
        assert_eq!(error, "expected a document of at least 5 bytes, found a smaller length at 0");
    }
    // Only the length is looked at.
    assert_eq!(split_first(&[5, 0, 0, 0, 7]).unwrap(), (&[5, 0, 0, 0, 7][..], &[][..]));
}

#[test]
fn where_the_bytes_of_a_binary_are() {
    for (value, expected) in [
        (sized(0, b"\0"), (5, 0)),
        (sized(2, b"\0ab"), (5, 2)),
        (sized(2, b"\x80ab"), (5, 2)),
        (sized(6, b"\x02\x02\0\0\0ab"), (9, 2)),
        (sized(4, b"\x02\0\0\0\0"), (9, 0)),
    ] {
        assert_eq!(Reader::of_value(tag::BINARY, &value).binary_data().unwrap(), expected);
        for len in 0..value.len() {
            Reader::of_value(tag::BINARY, &value[..len]).binary_data().unwrap_err();
        }
    }
    let error = Reader::of_value(tag::BINARY, &sized(-1, b"\0")).binary_data().unwrap_err();
    assert_eq!(error.to_string(), "expected a length, found a negative number");
}

//! MessagePack, both ways: every form of a value is read as that value, and the shortest of them is what is written.
//!
//! The conformance suite is shared data outside of this repository; the vectors here stand without it.

use holdall_format::model::{self, Bytes, Text, Token};
use holdall_format::msgpack::{tag, Reader, Writer};
use holdall_format::{Error, ErrorKind};
use model::{ExtensionWriter as _, Reader as _, TimestampWriter as _, Writer as _};
use serde_json::Value as Json;
use std::path::PathBuf;

#[derive(Debug, Clone, PartialEq)]
enum Value {
    None,
    Bool(bool),
    /// Every int of both signs.
    Int(i128),
    Float(f64),
    Text(String),
    Bytes(Vec<u8>),
    List(Vec<Value>),
    Dict(Vec<(Value, Value)>),
    Timestamp(i64, u32),
    Extension(i8, Vec<u8>),
}

fn read(r: &mut Reader<'_>) -> Result<Value, Error> {
    Ok(match r.next()? {
        Token::None => Value::None,
        Token::Bool(value) => Value::Bool(value),
        Token::Int(value) => Value::Int(value.into()),
        Token::UInt(value) => Value::Int(value.into()),
        Token::Float(value) => Value::Float(value),
        Token::Text(Bytes::Ascii(bytes) | Bytes::StrictUtf8(bytes)) => {
            Value::Text(String::from_utf8(bytes.to_vec()).expect("UTF-8"))
        }
        Token::Bytes(bytes) => Value::Bytes(bytes.to_vec()),
        Token::List(len) => Value::List((0..len).map(|_| read(r)).collect::<Result<_, _>>()?),
        Token::Dict(len) => Value::Dict((0..len).map(|_| Ok((read(r)?, read(r)?))).collect::<Result<_, Error>>()?),
        Token::Timestamp { seconds, nanoseconds } => Value::Timestamp(seconds, nanoseconds),
        Token::Extension { code, data } => Value::Extension(code, data.to_vec()),
        other => panic!("not of this format: {other:?}"),
    })
}

/// Reads one message to its end; skipping it must come to the same.
fn whole(message: &[u8]) -> Result<Value, Error> {
    let mut skipped = Reader::new(message);
    let skip = skipped.skip();
    let mut r = Reader::new(message);
    let value = read(&mut r)?;
    r.finish()?;
    skip?;
    skipped.finish()?;
    Ok(value)
}

fn write(w: &mut Writer<Vec<u8>>, value: &Value) {
    match value {
        Value::None => w.none(),
        Value::Bool(value) => w.bool(*value),
        Value::Int(value) => match i64::try_from(*value) {
            Ok(value) => w.int(value),
            Err(_) => w.bigint(&value.to_le_bytes()),
        },
        Value::Float(value) => w.float(*value),
        Value::Text(text) => {
            let points: Vec<u32> = text.chars().map(u32::from).collect();
            let units: Option<Vec<u16>> = points.iter().map(|&point| point.try_into().ok()).collect();
            let narrow: Option<Vec<u8>> = points.iter().map(|&point| point.try_into().ok()).collect();
            match (narrow, units) {
                _ if text.is_ascii() => w.text(Text::Ascii(text.as_bytes())),
                (Some(bytes), _) => w.text(Text::Latin1(&bytes)),
                (_, Some(units)) => w.text(Text::Ucs2(&units)),
                _ => w.text(Text::Ucs4(&points)),
            }
        }
        Value::Bytes(bytes) => w.bytes(bytes),
        Value::List(values) => {
            w.list(values.len());
            values.iter().for_each(|value| write(w, value));
        }
        Value::Dict(items) => {
            w.dict(items.len());
            items.iter().for_each(|(key, value)| {
                write(w, key);
                write(w, value);
            });
        }
        Value::Timestamp(seconds, nanoseconds) => w.timestamp(*seconds, *nanoseconds),
        Value::Extension(code, data) => w.extension(*code, data),
    }
}

fn written(value: &Value) -> Vec<u8> {
    let mut w = Writer::new(Vec::new());
    write(&mut w, value);
    assert_eq!(w.refusal(), None, "{value:?}");
    w.out
}

/// All forms of a value: each is read, every prefix of each is refused, the first is written.
fn forms(value: &Value, forms: &[Vec<u8>]) {
    assert_eq!(written(value), forms[0], "{value:?}");
    for form in forms {
        assert!(form.len() >= forms[0].len());
        assert_eq!(&whole(form).unwrap(), value, "{form:x?}");
        for len in 0..form.len() {
            let error = whole(&form[..len]).expect_err("a prefix");
            assert!(matches!(error.kind(), ErrorKind::Truncated { .. }), "{:x?}: {error}", &form[..len]);
        }
        let error = whole(&[&form[..], &[0xC0]].concat()).expect_err("a value too many");
        assert_eq!(error.kind(), &ErrorKind::Trailing { count: 1 });
    }
}

fn bytes(hex: &str) -> Vec<u8> {
    hex.split(['-', ' ']).filter(|pair| !pair.is_empty()).map(|pair| u8::from_str_radix(pair, 16).unwrap()).collect()
}

#[test]
fn every_form_of_a_value() {
    let text = |text: &str| Value::Text(text.to_owned());
    for (value, all) in [
        (Value::Int(5), &["05", "cc 05", "cd 00 05", "ce 00 00 00 05", "cf 00 00 00 00 00 00 00 05"][..]),
        (Value::Int(5), &["05", "d0 05", "d1 00 05", "d2 00 00 00 05", "d3 00 00 00 00 00 00 00 05"]),
        (Value::Int(-5), &["fb", "d0 fb", "d1 ff fb", "d2 ff ff ff fb", "d3 ff ff ff ff ff ff ff fb"]),
        (Value::Int(1 << 63), &["cf 80 00 00 00 00 00 00 00"]),
        (Value::Int(u64::MAX.into()), &["cf ff ff ff ff ff ff ff ff"]),
        (Value::Int(i64::MIN.into()), &["d3 80 00 00 00 00 00 00 00"]),
        (Value::Float(0.1), &["cb 3f b9 99 99 99 99 99 9a"]),
        (text("a"), &["a1 61", "d9 01 61", "da 00 01 61", "db 00 00 00 01 61"]),
        (text("é"), &["a2 c3 a9", "d9 02 c3 a9", "da 00 02 c3 a9", "db 00 00 00 02 c3 a9"]),
        (text("é日"), &["a5 c3 a9 e6 97 a5"]),
        (text("😀"), &["a4 f0 9f 98 80"]),
        (Value::Bytes(vec![255]), &["c4 01 ff", "c5 00 01 ff", "c6 00 00 00 01 ff"]),
        (Value::List(vec![Value::None]), &["91 c0", "dc 00 01 c0", "dd 00 00 00 01 c0"]),
        (
            Value::Dict(vec![(Value::Bool(true), Value::Bool(false))]),
            &["81 c3 c2", "de 00 01 c3 c2", "df 00 00 00 01 c3 c2"],
        ),
        // The same key twice: whoever builds the dict says which one counts.
        (Value::Dict(vec![(text("a"), Value::Int(1)), (text("a"), Value::Int(2))]), &["82 a1 61 01 a1 61 02"]),
        (Value::Extension(-2, vec![7]), &["d4 fe 07", "c7 01 fe 07", "c8 00 01 fe 07", "c9 00 00 00 01 fe 07"]),
        (Value::Timestamp(9, 0), &["d6 ff 00 00 00 09", "c7 04 ff 00 00 00 09", "d7 ff 00 00 00 00 00 00 00 09"]),
        (Value::Timestamp(9, 1), &["d7 ff 00 00 00 04 00 00 00 09", "c8 00 08 ff 00 00 00 04 00 00 00 09"]),
        (Value::Timestamp(-1, 0), &["c7 0c ff 00 00 00 00 ff ff ff ff ff ff ff ff"]),
    ] {
        forms(&value, &all.iter().map(|form| bytes(form)).collect::<Vec<_>>());
    }
    // A float of 32 bits is read, and written with 64.
    let float = whole(&bytes("ca 3f c0 00 00")).unwrap();
    assert_eq!(float, Value::Float(1.5));
    assert_eq!(written(&float), bytes("cb 3f f8 00 00 00 00 00 00"));
}

#[test]
fn damaged_messages_never_panic() {
    let value = Value::Dict(vec![
        (Value::Text("日本語 text".to_owned()), Value::List(vec![Value::Int(-70_000), Value::Float(0.1), Value::None])),
        (Value::Timestamp(-1, 5), Value::Extension(3, vec![1; 20])),
        (Value::Bytes(vec![0xDF; 9]), Value::Int(u64::MAX.into())),
    ]);
    let message = written(&value);
    let (mut read, mut refused) = (0, 0);
    for at in 0..message.len() {
        for byte in 0..=u8::MAX {
            let mut message = message.clone();
            message[at] = byte;
            // Text is not checked as UTF-8 here, so tokens are all there is to look at.
            let mut r = Reader::new(&message);
            while r.remaining() > 0 {
                let before = r.offset();
                match r.next() {
                    Ok(_) => assert!(r.offset() > before),
                    Err(error) => {
                        assert!(error.offset() <= message.len());
                        refused += 1;
                        break;
                    }
                }
            }
            read += usize::from(r.remaining() == 0);
            let mut r = Reader::new(&message);
            let end = r.skip().map_or_else(|error| error.offset(), |()| r.offset());
            assert!(end <= message.len());
        }
    }
    assert!(read > 1000 && refused > 1000, "{read} were read, {refused} refused");
}

fn suite() -> Option<Json> {
    let shared = std::env::var_os("HOLDALL_SHARED")
        .map_or_else(|| PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/../../../shared")), PathBuf::from);
    let fetched = PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/../../.corpora"));
    let found = [shared.join("data"), fetched].map(|folder| folder.join("msgpack/msgpack-test-suite.json"));
    let Some(path) = found.iter().find(|path| path.is_file()) else {
        eprintln!("skipped: no conformance suite at {}; `make corpora` fetches it", found[0].display());
        return None;
    };
    Some(serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap())
}

fn plain(json: &Json) -> Value {
    match json {
        Json::Null => Value::None,
        Json::Bool(value) => Value::Bool(*value),
        Json::Number(number) => {
            number.as_i64().map_or_else(|| Value::Float(number.as_f64().unwrap()), |value| Value::Int(value.into()))
        }
        Json::String(text) => Value::Text(text.clone()),
        Json::Array(values) => Value::List(values.iter().map(plain).collect()),
        Json::Object(items) => {
            Value::Dict(items.iter().map(|(key, value)| (Value::Text(key.clone()), plain(value))).collect())
        }
    }
}

/// The value of a case of the suite, by the key that names its type.
fn value_of(case: &Json) -> Value {
    if let Some(number) = case["bignum"].as_str() {
        return Value::Int(number.parse().unwrap());
    }
    let case = case.as_object().unwrap();
    let (kind, value) = case.iter().find(|(key, _)| *key != "msgpack").unwrap();
    match kind.as_str() {
        "nil" | "bool" | "number" | "string" | "array" | "map" => plain(value),
        "binary" => Value::Bytes(bytes(value.as_str().unwrap())),
        "timestamp" => Value::Timestamp(value[0].as_i64().unwrap(), value[1].as_u64().unwrap().try_into().unwrap()),
        "ext" => Value::Extension(value[0].as_i64().unwrap().try_into().unwrap(), bytes(value[1].as_str().unwrap())),
        other => panic!("no type is called {other}"),
    }
}

#[test]
fn the_conformance_suite() {
    let Some(suite) = suite() else { return };
    let mut count = 0;
    for case in suite.as_object().unwrap().values().flat_map(|cases| cases.as_array().unwrap()) {
        let value = value_of(case);
        let listed: Vec<Vec<u8>> =
            case["msgpack"].as_array().unwrap().iter().map(|form| bytes(form.as_str().unwrap())).collect();
        count += listed.len();
        // The suite lists floats of a number's value beside its ints: read as floats, they are not the shortest form.
        let (floats, mut all): (Vec<_>, Vec<_>) =
            listed.into_iter().partition(|form| matches!(form[0], tag::FLOAT_32 | tag::FLOAT_64));
        for form in &floats {
            let Value::Float(found) = whole(form).unwrap() else { panic!("{form:x?} is no float") };
            match value {
                Value::Int(expected) => assert_eq!(found, expected as f64),
                _ => assert_eq!(Value::Float(found), value),
            }
        }
        if matches!(value, Value::Float(_)) {
            assert!(floats.contains(&written(&value)), "{value:?}");
            continue;
        }
        // Ours first: of two forms of one length the writer prefers the unsigned one.
        let ours = written(&value);
        let at = all.iter().position(|form| *form == ours).unwrap_or_else(|| panic!("{value:?}: {ours:x?}"));
        all.swap(0, at);
        forms(&value, &all);
    }
    assert!(count > 200, "{count} forms");
}

//! The vectors of `tests/vectors`: every token is read, and what is canonical is written again to the same bytes.

use holdall_format::hold::file::{self, Fault, Parts};
use holdall_format::hold::{frame, tag, Reader, Writer};
use holdall_format::memory;
use holdall_format::model::{self, Bytes, Ints, Name, Seq, ShapeReader as _, Text, Token};
use holdall_format::{Error, ErrorKind};
use model::{Reader as _, ReferenceWriter as _, RunWriter as _, ShapeWriter as _, TypeWriter as _, Writer as _};
use serde_json::Value;
use std::path::PathBuf;

fn folder() -> PathBuf {
    PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/vectors"))
}

fn vectors(group: &str) -> Vec<Value> {
    let text = std::fs::read_to_string(folder().join(format!("{group}.json"))).unwrap();
    let all: Value = serde_json::from_str(&text).unwrap();
    assert_eq!(all["format"], 1);
    all["vectors"].as_array().unwrap().clone()
}

fn bytes(hex: &Value) -> Vec<u8> {
    let hex = hex.as_str().unwrap();
    (0..hex.len()).step_by(2).map(|at| u8::from_str_radix(&hex[at..at + 2], 16).unwrap()).collect()
}

/// Code points of UTF-8 in which surrogates stand by themselves.
fn code_points(bytes: &[u8]) -> Vec<u32> {
    let mut found: Vec<u32> = Vec::new();
    for &byte in bytes {
        match byte {
            0..0x80 => found.push(u32::from(byte)),
            0x80..0xc0 => *found.last_mut().unwrap() = found.last().unwrap() << 6 | u32::from(byte & 0x3f),
            0xc0..0xe0 => found.push(u32::from(byte & 0x1f)),
            0xe0..0xf0 => found.push(u32::from(byte & 0x0f)),
            _ => found.push(u32::from(byte & 0x07)),
        }
    }
    found
}

fn write_text(w: &mut Writer<Vec<u8>>, text: Bytes<'_>) {
    match text {
        Bytes::Ascii(bytes) => w.text(Text::Ascii(bytes)),
        Bytes::Latin1(bytes) => w.text(Text::Latin1(bytes)),
        Bytes::Ucs2(bytes) => {
            let units: Vec<u16> = bytes.as_chunks().0.iter().map(|&pair| u16::from_le_bytes(pair)).collect();
            w.text(Text::Ucs2(&units));
        }
        Bytes::Utf8(bytes) | Bytes::StrictUtf8(bytes) => {
            let points = code_points(bytes);
            match points.iter().map(|&point| u16::try_from(point)).collect::<Result<Vec<u16>, _>>() {
                Ok(units) => w.text(Text::Ucs2(&units)),
                Err(_) => w.text(Text::Ucs4(&points)),
            }
        }
    }
}

fn write_ints(w: &mut Writer<Vec<u8>>, seq: Seq, run: Ints<'_>) {
    let values: Vec<i64> = match run {
        Ints::I8(run) => run.iter().map(|&byte| i64::from(byte as i8)).collect(),
        Ints::I16(run) => run.iter().map(|&bytes| i64::from(i16::from_le_bytes(bytes))).collect(),
        Ints::I32(run) => run.iter().map(|&bytes| i64::from(i32::from_le_bytes(bytes))).collect(),
        Ints::I64(run) => run.iter().map(|&bytes| i64::from_le_bytes(bytes)).collect(),
    };
    // Small blocks, so that runs widen on the way.
    let mut blocks = values.chunks(3);
    let first = blocks.next().unwrap_or(&[]);
    let mut run = w.ints_begin(seq, values.len(), first);
    w.ints(&mut run, first);
    for block in blocks {
        w.ints(&mut run, block);
    }
}

fn write(w: &mut Writer<Vec<u8>>, token: Token<'_>) -> Result<(), Error> {
    match token {
        Token::None => w.none(),
        Token::Bool(value) => w.bool(value),
        Token::Int(value) => w.int(value),
        Token::BigInt(bytes) => w.bigint(bytes),
        Token::Float(value) => w.float(value),
        Token::Complex(real, imag) => w.complex(real, imag),
        Token::Text(text) => write_text(w, text),
        Token::Bytes(bytes) => w.bytes(bytes),
        Token::ByteArray(bytes) => w.bytearray(bytes),
        Token::Ellipsis => w.ellipsis(),
        Token::NotImplemented => w.not_implemented(),
        Token::List(len) => w.list(len),
        Token::Tuple(len) => w.tuple(len),
        Token::Set(len) => w.set(len),
        Token::FrozenSet(len) => w.frozenset(len),
        Token::Dict(len) => w.dict(len),
        Token::Ints(seq, run) => write_ints(w, seq, run),
        Token::Floats(seq, run) => {
            w.floats_begin(seq, run.len());
            let values: Vec<f64> = run.iter().map(|&bytes| f64::from_le_bytes(bytes)).collect();
            w.floats(&values);
        }
        Token::Bools(seq, run) => w.bools(seq, run),
        Token::Texts(seq, lengths, joined) => {
            w.texts(seq, lengths);
            w.texts_bytes(joined);
        }
        Token::NewShape(shape) => {
            let block = w.shape_begin(shape.kind, shape.version, shape.fields);
            for name in Reader::names(&shape) {
                match name? {
                    Name::Text(text) => write_text(w, text),
                    Name::Reference(number) => w.reference(number),
                }
            }
            w.shape_end(block);
        }
        Token::Instance(shape) => w.instance(shape),
        Token::AssignId => w.assign_id(),
        Token::Reference(number) => w.reference(number),
        Token::DateTime { bits, zoned } => w.datetime(bits, zoned),
        Token::KnownType(known) => w.known(known),
        Token::Buffer { number, out_of_band } => w.buffer(number, out_of_band),
        Token::Global => w.global(),
        Token::Reduce(flags) => w.reduce(flags),
        Token::Persistent => w.persistent(),
        Token::UInt(_)
        | Token::Items(_)
        | Token::Members(_)
        | Token::Timestamp { .. }
        | Token::Extension { .. }
        | Token::BsonValue(_)
        | Token::TypedValue(_)
        | Token::LispValue(_) => {
            unreachable!("not of this format")
        }
    }
    Ok(())
}

/// How many values are still to come after `token`.
fn owed(token: &Token<'_>, shapes: &mut Vec<usize>) -> usize {
    match token {
        Token::List(len) | Token::Tuple(len) | Token::Set(len) | Token::FrozenSet(len) => *len,
        Token::Dict(len) => 2 * len,
        Token::NewShape(shape) => {
            let content = usize::from(!matches!(shape.kind, model::ShapeKind::Dict | model::ShapeKind::Object));
            shapes.push(shape.fields + content);
            shape.fields + content
        }
        Token::Instance(number) => shapes.get(*number).copied().unwrap_or(0),
        Token::AssignId | Token::DateTime { zoned: true, .. } => 1,
        Token::KnownType(known) => arity(*known),
        _ => 0,
    }
}

fn arity(known: model::KnownType) -> usize {
    use model::KnownType::*;
    match known {
        Utc => 0,
        Time | Timezone | Fraction | PythonPattern | PythonArray | PythonDeque | PythonDefaultDict | NumpyScalar => 2,
        PythonRange | PythonSlice => 3,
        NumpyArray => 4,
        _ => 1,
    }
}

/// Reads a message to its end, and writes it again.
fn again(message: &[u8]) -> Result<Vec<u8>, Error> {
    let mut r = Reader::new(message, false)?;
    let mut w = Writer::new(Vec::new(), false);
    let mut shapes = Vec::new();
    let mut left = 1;
    while left > 0 {
        let token = r.next()?;
        left = left - 1 + owed(&token, &mut shapes);
        write(&mut w, token)?;
    }
    r.finish()?;
    Ok(w.out)
}

#[test]
fn valid_messages_are_read_and_written_again() {
    let mut count = 0;
    for group in ["scalars", "text", "containers", "references", "layouts", "known", "numpy", "buffers"] {
        for vector in vectors(group).into_iter().filter(|vector| vector["error"].is_null()) {
            let message = bytes(&vector["bytes"]);
            let written = again(&message).unwrap_or_else(|error| panic!("{}: {error}", vector["name"]));
            if vector["canonical"] == true {
                assert_eq!(written, message, "{}", vector["name"]);
            } else {
                // The other form of the same: to be written once more as it is.
                assert_eq!(again(&written).unwrap(), written, "{}", vector["name"]);
            }
            // Every shorter input is refused; the ways in which it is are those of a message that ends early.
            for len in 0..message.len().min(200) {
                assert!(again(&message[..len]).is_err(), "{}: {len} bytes", vector["name"]);
            }
            count += 1;
        }
    }
    assert!(count > 150, "{count} vectors");
}

fn name(kind: &ErrorKind) -> &'static str {
    match kind {
        ErrorKind::Truncated { .. } => "truncated",
        ErrorKind::UnknownVersion { .. } => "version",
        ErrorKind::Trusted => "trusted",
        ErrorKind::UnknownTag { .. } => "tag",
        ErrorKind::UnknownCode { .. } => "code",
        ErrorKind::NotAscii => "ascii",
        ErrorKind::TooLong => "length",
        ErrorKind::Trailing { .. } => "trailing",
        ErrorKind::Checksum => "checksum",
        ErrorKind::BadFile { .. } => "file",
        ErrorKind::Bomb { .. } => "bomb",
        _ => "other",
    }
}

#[test]
fn invalid_messages_are_refused() {
    for vector in vectors("invalid").iter().filter(|vector| vector["tokens"] == true) {
        let error = again(&bytes(&vector["bytes"])).expect_err(vector["name"].as_str().unwrap());
        // A byte that is no bool is reported as an unknown tag.
        let expected = if vector["error"] == "bool" { "tag" } else { vector["error"].as_str().unwrap() };
        assert_eq!(name(error.kind()), expected, "{}", vector["name"]);
        assert_eq!(error.offset() as u64, vector["offset"], "{}", vector["name"]);
    }
}

/// A file's message and its buffers, read front to back.
fn streamed(data: &[u8], buffers: usize) -> Result<Vec<Vec<u8>>, Error> {
    let kind = frame::parse_start(data)?;
    let mut reader = file::Reader::new(&data[frame::START..], Some(data.len() as u64));
    let mut body = |kind: u8| {
        let body = reader.body(kind)?;
        reader.collect(&body, &mut |_| Ok(())).map(memory::Vec::into_std)
    };
    let mut read = || {
        let mut found = vec![body(tag::MESSAGE)?];
        for _ in 0..buffers {
            found.push(body(tag::BUFFER_FRAME)?);
        }
        Ok(found)
    };
    let bytes = |fault| match fault {
        Fault::Bytes(error) => error,
        Fault::Io(error) => panic!("{error}"),
    };
    let found = read().map_err(bytes)?;
    reader.finish(kind).map_err(bytes)?;
    match data.len() as u64 - reader.offset() {
        0 => Ok(found),
        count => Err(Error::new(ErrorKind::Trailing { count: count as usize }, data.len())),
    }
}

/// The same from a file that is at hand whole.
fn at_hand(data: &[u8]) -> Result<Vec<Vec<u8>>, Error> {
    let parts = Parts::of(data)?;
    let mut found = vec![file::unpacked(data, &parts.message, tag::MESSAGE)?.into_std()];
    for extent in &parts.buffers {
        let body = file::unpacked(data, extent, tag::BUFFER_FRAME)?;
        if let Some(plain) = file::plain(data, extent, tag::BUFFER_FRAME, true)? {
            assert_eq!(body, plain);
        }
        found.push(body.into_std());
    }
    Ok(found)
}

#[test]
fn files() {
    for vector in vectors("files") {
        let data = bytes(&vector["file"]);
        let name_of = &vector["name"];
        if vector["message"].is_string() {
            let buffers = vector["buffers"].as_array().unwrap();
            let found = streamed(&data, buffers.len()).unwrap_or_else(|error| panic!("{name_of}: {error}"));
            assert_eq!(found[0], bytes(&vector["message"]), "{name_of}");
            for (body, known) in found[1..].iter().zip(buffers) {
                assert_eq!(body.len() as u64, known["bytes"], "{name_of}");
                assert_eq!(format!("{:016x}", frame::sum(body)), known["xxh3"], "{name_of}");
            }
            assert_eq!(at_hand(&data).unwrap(), found, "{name_of}");
            continue;
        }
        let buffers = usize::from(vector["name"].as_str().unwrap().starts_with("buffer"));
        let error = streamed(&data, buffers).expect_err(name_of.as_str().unwrap());
        let expected = match vector["error"].as_str().unwrap() {
            "not a file" => "file",
            expected => expected,
        };
        assert_eq!(name(error.kind()), expected, "{name_of}");
        assert!(at_hand(&data).is_err(), "{name_of}");
    }
}

#[test]
fn released_files_stay_readable() {
    let mut count = 0;
    for version in std::fs::read_dir(folder().join("golden")).unwrap() {
        for path in std::fs::read_dir(version.unwrap().path()).unwrap() {
            let path = path.unwrap().path();
            if path.extension().is_some_and(|extension| extension == "hold") {
                let data = std::fs::read(&path).unwrap();
                let bodies = at_hand(&data).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
                again(&bodies[0]).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
                count += 1;
            }
        }
    }
    assert!(count >= 14);
}

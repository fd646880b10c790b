//! Any program of calls to a writer: the reader gives back what was written, token by token.
#![no_main]

use arbitrary::Arbitrary;
use holdall_format::hold::file::{self, Graph, Parts};
use holdall_format::hold::{tag, Reader, Writer};
use holdall_format::model::{
    reduce, Bytes, Ints, KnownType, ShapeKind, OutOfBand, Name, Reader as _, Seq, Text, Token, ReferenceWriter as _, RunWriter as _, ShapeReader as _, ShapeWriter as _, TypeWriter as _, Writer as _,
};
use libfuzzer_sys::fuzz_target;

#[derive(Debug, Arbitrary)]
enum Call {
    None,
    Bool(bool),
    Int(i64),
    BigInt(Vec<u8>),
    Float(u64),
    Complex(u64, u64),
    Ascii(Vec<u8>),
    Latin1(Vec<u8>),
    Ucs2(Vec<u16>),
    Ucs4(Vec<u32>),
    Bytes(Vec<u8>),
    ByteArray(Vec<u8>),
    Ellipsis,
    NotImplemented,
    /// Which container, and of how many empty ones.
    Container(u8, u8),
    Ints(bool, Vec<i64>, u8),
    Floats(bool, Vec<u64>),
    Bools(bool, Vec<bool>),
    Texts(bool, Vec<Vec<u8>>),
    /// ErrorKind, version, names (a reference where there is no text).
    Shape(u8, u32, Vec<Option<Vec<u8>>>),
    Instance(u32),
    AssignId,
    Reference(u32),
    DateTime(u64, bool),
    KnownType(u8),
    Buffer(u64, u8),
    Global,
    Reduce(u8),
    Persistent,
}

fn out_of_band(form: u8) -> OutOfBand {
    tag::OUT_OF_BAND[usize::from(form) % tag::OUT_OF_BAND.len()].1
}

fn seq(tuple: bool) -> Seq {
    if tuple {
        Seq::Tuple
    } else {
        Seq::List
    }
}

fn ascii(bytes: &[u8]) -> Vec<u8> {
    bytes.iter().map(|byte| byte & 0x7f).collect()
}

/// Code points of text as bytes hold it; surrogates stand by themselves.
fn code_points(text: Bytes<'_>) -> Vec<u32> {
    match text {
        Bytes::Ascii(bytes) | Bytes::Latin1(bytes) => {
            bytes.iter().map(|&byte| u32::from(byte)).collect()
        }
        Bytes::Ucs2(bytes) => bytes
            .chunks(2)
            .map(|pair| u32::from(u16::from_le_bytes([pair[0], pair[1]])))
            .collect(),
        Bytes::Utf8(bytes) | Bytes::StrictUtf8(bytes) => {
            let mut found: Vec<u32> = Vec::new();
            for &byte in bytes {
                match byte {
                    0..0x80 => found.push(u32::from(byte)),
                    0x80..0xc0 => {
                        let last = found.last_mut().expect("a first byte");
                        *last = *last << 6 | u32::from(byte & 0x3f);
                    }
                    0xc0..0xe0 => found.push(u32::from(byte & 0x1f)),
                    0xe0..0xf0 => found.push(u32::from(byte & 0x0f)),
                    _ => found.push(u32::from(byte & 0x07)),
                }
            }
            found
        }
    }
}

fn kind(code: u8) -> ShapeKind {
    [
        ShapeKind::Dict,
        ShapeKind::Object,
        ShapeKind::Based,
        ShapeKind::Enum,
        ShapeKind::Custom,
    ][usize::from(code) % 5]
}

fn write(w: &mut Writer<Vec<u8>>, call: &Call) {
    match call {
        Call::None => w.none(),
        Call::Bool(value) => w.bool(*value),
        Call::Int(value) => w.int(*value),
        Call::BigInt(bytes) => w.bigint(bytes),
        Call::Float(bits) => w.float(f64::from_bits(*bits)),
        Call::Complex(real, imag) => w.complex(f64::from_bits(*real), f64::from_bits(*imag)),
        Call::Ascii(bytes) => w.text(Text::Ascii(&ascii(bytes))),
        Call::Latin1(bytes) => w.text(Text::Latin1(bytes)),
        Call::Ucs2(units) => w.text(Text::Ucs2(units)),
        Call::Ucs4(points) => w.text(Text::Ucs4(
            &points
                .iter()
                .map(|point| point % 0x11_0000)
                .collect::<Vec<_>>(),
        )),
        Call::Bytes(bytes) => w.bytes(bytes),
        Call::ByteArray(bytes) => w.bytearray(bytes),
        Call::Ellipsis => w.ellipsis(),
        Call::NotImplemented => w.not_implemented(),
        Call::Container(which, len) => {
            let len = usize::from(*len);
            match which % 5 {
                0 => w.list(len),
                1 => w.tuple(len),
                2 => w.set(len),
                3 => w.frozenset(len),
                _ => w.dict(len),
            }
            (0..if which % 5 == 4 { 2 * len } else { len }).for_each(|_| w.none());
        }
        Call::Ints(tuple, values, block) => {
            let mut blocks = values.chunks(usize::from(*block) % 7 + 1);
            let first = blocks.next().unwrap_or(&[]);
            let mut run = w.ints_begin(seq(*tuple), values.len(), first);
            w.ints(&mut run, first);
            blocks.for_each(|block| w.ints(&mut run, block));
        }
        Call::Floats(tuple, bits) => {
            w.floats_begin(seq(*tuple), bits.len());
            w.floats(
                &bits
                    .iter()
                    .map(|&bits| f64::from_bits(bits))
                    .collect::<Vec<_>>(),
            );
        }
        Call::Bools(tuple, values) => w.bools(
            seq(*tuple),
            &values
                .iter()
                .map(|&value| u8::from(value))
                .collect::<Vec<_>>(),
        ),
        Call::Texts(tuple, texts) => {
            let texts: Vec<Vec<u8>> = texts
                .iter()
                .map(|text| ascii(&text[..text.len().min(255)]))
                .collect();
            w.texts(
                seq(*tuple),
                &texts
                    .iter()
                    .map(|text| text.len() as u8)
                    .collect::<Vec<_>>(),
            );
            texts.iter().for_each(|text| w.texts_bytes(text));
        }
        Call::Shape(code, version, names) => {
            let block = w.shape_begin(kind(*code), u64::from(*version), names.len());
            for name in names {
                match name {
                    Some(text) => w.text(Text::Ascii(&ascii(text))),
                    None => w.reference(7),
                }
            }
            w.shape_end(block);
        }
        Call::Instance(number) => w.instance(*number as usize),
        Call::AssignId => w.assign_id(),
        Call::Reference(number) => w.reference(u64::from(*number)),
        Call::DateTime(bits, zoned) => w.datetime(*bits, *zoned),
        Call::KnownType(code) => w.known(KnownType::ALL[usize::from(*code) % KnownType::ALL.len()]),
        Call::Buffer(number, form) => w.buffer(number >> 1, out_of_band(*form)),
        Call::Global => w.global(),
        Call::Reduce(flags) => w.reduce(flags & reduce::ALL),
        Call::Persistent => w.persistent(),
    }
}

fn check(r: &mut Reader<'_>, call: &Call) {
    let token = r.next().expect("what was written is read");
    match (call, token) {
        (Call::None, Token::None)
        | (Call::Ellipsis, Token::Ellipsis)
        | (Call::NotImplemented, Token::NotImplemented)
        | (Call::AssignId, Token::AssignId)
        | (Call::Global, Token::Global)
        | (Call::Persistent, Token::Persistent) => {}
        (Call::Bool(value), Token::Bool(found)) => assert_eq!(*value, found),
        (Call::Int(value), Token::Int(found)) => assert_eq!(*value, found),
        (Call::BigInt(bytes), Token::BigInt(found))
        | (Call::Bytes(bytes), Token::Bytes(found))
        | (Call::ByteArray(bytes), Token::ByteArray(found)) => assert_eq!(bytes, found),
        (Call::Float(bits), Token::Float(found)) => assert_eq!(*bits, found.to_bits()),
        (Call::Complex(real, imag), Token::Complex(r, i)) => {
            assert_eq!((*real, *imag), (r.to_bits(), i.to_bits()))
        }
        (Call::Ascii(bytes), Token::Text(Bytes::Ascii(found))) => assert_eq!(ascii(bytes), found),
        (Call::Latin1(bytes), Token::Text(Bytes::Latin1(found))) => assert_eq!(bytes, found),
        (Call::Ucs2(units), Token::Text(text)) => {
            assert_eq!(
                units
                    .iter()
                    .map(|&unit| u32::from(unit))
                    .collect::<Vec<_>>(),
                code_points(text)
            );
        }
        (Call::Ucs4(points), Token::Text(text)) => {
            assert_eq!(
                points
                    .iter()
                    .map(|point| point % 0x11_0000)
                    .collect::<Vec<_>>(),
                code_points(text)
            );
        }
        (Call::Container(which, len), token) => {
            let (found, items) = match (which % 5, token) {
                (0, Token::List(found))
                | (1, Token::Tuple(found))
                | (2, Token::Set(found))
                | (3, Token::FrozenSet(found)) => (found, found),
                (4, Token::Dict(found)) => (found, 2 * found),
                (_, other) => panic!("{other:?}"),
            };
            assert_eq!(usize::from(*len), found);
            (0..items).for_each(|_| assert!(matches!(r.next(), Ok(Token::None))));
        }
        (Call::Ints(tuple, values, _), Token::Ints(found, run)) => {
            assert_eq!(seq(*tuple), found);
            let found: Vec<i64> = match run {
                Ints::I8(run) => run.iter().map(|&byte| i64::from(byte as i8)).collect(),
                Ints::I16(run) => run
                    .iter()
                    .map(|&bytes| i64::from(i16::from_le_bytes(bytes)))
                    .collect(),
                Ints::I32(run) => run
                    .iter()
                    .map(|&bytes| i64::from(i32::from_le_bytes(bytes)))
                    .collect(),
                Ints::I64(run) => run.iter().map(|&bytes| i64::from_le_bytes(bytes)).collect(),
            };
            assert_eq!(*values, found);
        }
        (Call::Floats(tuple, bits), Token::Floats(found, run)) => {
            assert_eq!(seq(*tuple), found);
            assert_eq!(
                *bits,
                run.iter()
                    .map(|&bytes| u64::from_le_bytes(bytes))
                    .collect::<Vec<_>>()
            );
        }
        (Call::Bools(tuple, values), Token::Bools(found, run)) => {
            assert_eq!(seq(*tuple), found);
            assert_eq!(
                *values,
                run.iter().map(|&byte| byte == 1).collect::<Vec<_>>()
            );
        }
        (Call::Texts(tuple, texts), Token::Texts(found, lengths, joined)) => {
            assert_eq!(seq(*tuple), found);
            assert_eq!(texts.len(), lengths.len());
            let all: Vec<u8> = texts
                .iter()
                .flat_map(|text| ascii(&text[..text.len().min(255)]))
                .collect();
            assert_eq!(all, joined);
        }
        (Call::Shape(code, version, names), Token::NewShape(shape)) => {
            assert_eq!((kind(*code), names.len()), (shape.kind, shape.fields));
            assert_eq!(
                if shape.kind == ShapeKind::Dict {
                    0
                } else {
                    u64::from(*version)
                },
                shape.version
            );
            let found: Vec<Name<'_>> = Reader::names(&shape)
                .map(|name| name.expect("what was written is read"))
                .collect();
            assert_eq!(found.len(), names.len());
            for (name, found) in names.iter().zip(found) {
                match (name, found) {
                    (Some(text), Name::Text(Bytes::Ascii(found))) => assert_eq!(ascii(text), found),
                    (None, Name::Reference(7)) => {}
                    other => panic!("{other:?}"),
                }
            }
        }
        (Call::Instance(number), Token::Instance(found)) => assert_eq!(*number as usize, found),
        (Call::Reference(number), Token::Reference(found)) => assert_eq!(u64::from(*number), found),
        (
            Call::DateTime(bits, zoned),
            Token::DateTime {
                bits: found,
                zoned: with,
            },
        ) => {
            assert_eq!((*bits, *zoned), (found, with));
        }
        (Call::KnownType(code), Token::KnownType(found)) => {
            assert_eq!(KnownType::ALL[usize::from(*code) % KnownType::ALL.len()], found)
        }
        (
            Call::Buffer(number, form),
            Token::Buffer {
                number: found,
                out_of_band: with,
            },
        ) => {
            assert_eq!((number >> 1, out_of_band(*form)), (found, with));
        }
        (Call::Reduce(flags), Token::Reduce(found)) => assert_eq!(flags & reduce::ALL, found),
        other => panic!("{other:?}"),
    }
}

fuzz_target!(|program: Vec<Call>| {
    let mut w = Writer::new(Vec::new(), true);
    program.iter().for_each(|call| write(&mut w, call));
    let message = w.out;
    let graph = Graph {
        message: &message,
        buffers: &[&message],
        compression: None,
        threads: 1,
    };
    let mut whole = holdall_format::memory::Vec::new();
    file::write(&mut whole, &graph, &mut |_| Ok(())).expect("written to memory");
    let parts = Parts::of(&whole).expect("a file");
    assert_eq!(
        file::unpacked(&whole, &parts.message, tag::MESSAGE).expect("the message"),
        message
    );
    assert_eq!(
        file::unpacked(&whole, &parts.buffers[0], tag::BUFFER_FRAME).expect("the buffer"),
        message
    );
    let mut r = Reader::new(&message, true).expect("a trusted message");
    program.iter().for_each(|call| check(&mut r, call));
    r.finish().expect("nothing is left");
});

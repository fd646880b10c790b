//! Any bytes: tokens until an error or the end, the names of every shape, and files. Nothing may panic, and no token
//! may claim more than the input holds.
#![no_main]

use holdall_format::hold::file::{self, Parts};
use holdall_format::hold::index::Index;
use holdall_format::hold::{frame, tag, Reader};
use holdall_format::model::{Bytes, Ints, Name, Reader as _, ShapeReader as _, Token};
use libfuzzer_sys::fuzz_target;

fn is_within(text: Bytes<'_>, input: &[u8]) {
    let (Bytes::Ascii(bytes)
    | Bytes::Latin1(bytes)
    | Bytes::Ucs2(bytes)
    | Bytes::Utf8(bytes)
    | Bytes::StrictUtf8(bytes)) = text;
    assert!(bytes.len() <= input.len());
    if let Bytes::Ascii(bytes) = text {
        assert!(bytes.is_ascii());
    }
}

fn tokens(input: &[u8], trust: bool) {
    let Ok(mut r) = Reader::new(input, trust) else {
        return;
    };
    loop {
        let before = r.offset();
        let Ok(token) = r.next() else { return };
        // Each token takes a byte, so this ends.
        assert!(r.offset() > before && r.offset() + r.remaining() == input.len());
        match token {
            Token::List(len) | Token::Tuple(len) | Token::Set(len) | Token::FrozenSet(len) => {
                assert!(len <= r.remaining());
            }
            Token::Dict(len) => assert!(len <= r.remaining() / 2),
            Token::Text(text) => is_within(text, input),
            Token::Ints(_, run) => {
                assert!(run.len() <= input.len());
                assert!(!matches!(run, Ints::I64(run) if run.len() * 8 > input.len()));
            }
            Token::Texts(_, lengths, joined) => {
                assert_eq!(
                    lengths.iter().map(|&len| usize::from(len)).sum::<usize>(),
                    joined.len()
                );
            }
            Token::Bools(_, run) => assert!(run.iter().all(|&byte| byte < 2)),
            Token::NewShape(shape) => {
                assert!(shape.fields <= shape.block.len());
                for name in Reader::names(&shape) {
                    match name {
                        Ok(Name::Text(text)) => is_within(text, input),
                        Ok(Name::Reference(_)) => {}
                        Err(error) => {
                            assert!(error.offset() <= shape.at + shape.block.len());
                            break;
                        }
                    }
                }
            }
            Token::Global | Token::Reduce(_) | Token::Persistent => assert!(r.trusted()),
            _ => {}
        }
    }
}

/// A file that is at hand whole, then front to back.
fn whole(input: &[u8]) {
    if let Ok(parts) = Parts::of(input) {
        if let Ok(message) = file::unpacked(input, &parts.message, tag::MESSAGE) {
            tokens(&message, true);
            parts_of(&message, parts.index.as_ref());
        }
        for extent in &parts.buffers {
            let _ = file::unpacked(input, extent, tag::BUFFER_FRAME);
        }
    }
    let Ok(kind) = frame::parse_start(input) else { return };
    let mut reader = file::Reader::new(&input[frame::START..], Some(input.len() as u64));
    if let Ok(body) = reader.body(tag::MESSAGE) {
        if reader.collect(&body, &mut |_| Ok(())).is_ok() {
            let _ = reader.finish(kind);
        }
    }
}

/// Whatever an index says, what is found by it is an error or a place.
fn parts_of(message: &[u8], index: Option<&Index>) {
    let made = Index::of_message(message);
    for index in index.into_iter().chain([&made]) {
        for number in 0..8 {
            let _ = index.place_of(message, number);
            let _ = index.shape(message, number as usize);
        }
        for at in 0..message.len().min(64) {
            let _ = index.counts(message, at);
            let _ = index.skip(message, at);
            let _ = index.value(message, 1, at, 3);
        }
    }
}

fuzz_target!(|input: &[u8]| {
    tokens(input, false);
    tokens(input, true);
    if frame::is_file(input) {
        whole(input);
    }
});

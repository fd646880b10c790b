//! Any bytes: tokens until an error or the end. Nothing may panic, no token may claim more than the input holds, and
//! skipping a value ends where its last token does.
#![no_main]

use holdall_format::model::{Bytes, Reader as _, Token};
use holdall_format::msgpack::Reader;
use libfuzzer_sys::fuzz_target;

/// Reads a whole value, token by token; says whether there was one.
fn value(r: &mut Reader<'_>, input: &[u8]) -> bool {
    let mut pending: u64 = 1;
    while pending > 0 {
        let before = r.offset();
        let Ok(token) = r.next() else {
            return false;
        };
        // Each token takes a byte, so this ends.
        assert!(r.offset() > before && r.offset() + r.remaining() == input.len());
        pending -= 1;
        match token {
            Token::List(len) => {
                assert!(len <= r.remaining());
                pending += len as u64;
            }
            Token::Dict(len) => {
                assert!(len <= r.remaining() / 2);
                pending += 2 * len as u64;
            }
            Token::Text(Bytes::Ascii(bytes)) => assert!(bytes.is_ascii()),
            Token::Text(Bytes::StrictUtf8(bytes)) => assert!(!bytes.is_ascii()),
            Token::UInt(value) => assert!(i64::try_from(value).is_err()),
            Token::Timestamp { nanoseconds, .. } => assert!(nanoseconds < 1_000_000_000),
            Token::Extension { code, .. } => assert_ne!(code, -1),
            Token::None | Token::Bool(_) | Token::Int(_) | Token::Float(_) | Token::Bytes(_) => {}
            other => panic!("not of this format: {other:?}"),
        }
    }
    true
}

fuzz_target!(|input: &[u8]| {
    let mut r = Reader::new(input);
    while r.remaining() > 0 {
        let mut skipped = r.clone();
        let skip = skipped.skip();
        if !value(&mut r, input) {
            return;
        }
        assert!(skip.is_ok());
        assert_eq!(skipped.offset(), r.offset());
    }
    assert!(r.finish().is_ok());
});

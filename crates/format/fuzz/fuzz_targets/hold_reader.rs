//! Any bytes: tokens until an error or the end, the names of every layout, and files. Nothing may panic, and no token
//! may claim more than the input holds.
#![no_main]

use holdall_format::hold::{file, Reader};
use holdall_format::model::{Bytes, Ints, Name, Reader as _, Token};
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
            Token::NewLayout(layout) => {
                assert!(layout.fields <= layout.block.len());
                for name in r.names(&layout) {
                    match name {
                        Ok(Name::Text(text)) => is_within(text, input),
                        Ok(Name::Reference(_)) => {}
                        Err(error) => {
                            assert!(error.offset() <= layout.at + layout.block.len());
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

fuzz_target!(|input: &[u8]| {
    tokens(input, false);
    tokens(input, true);
    if let Ok(body) = file::body(input) {
        assert!(file::is_file(input));
        tokens(body, true);
    }
});

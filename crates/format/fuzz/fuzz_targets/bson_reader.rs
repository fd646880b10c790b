//! Any bytes: all ways to read a document agree with each other and with the specification, on what is one and on where its
//! values end; skipping a value ends where reading it does. Nothing may panic.
#![no_main]

use holdall_format::bson::{split_first, tag, Elements, Reader};
use holdall_format::model::{self, Reader as _};
use holdall_format::Result;
use libfuzzer_sys::fuzz_target;

#[path = "../../src/bson/tests/strict.rs"]
mod strict;
#[path = "../../src/bson/tests/walk.rs"]
mod walk;

fuzz_target!(|input: &[u8]| {
    // As it is, and as a document whose length is right, without which most inputs end at once.
    let len = (input.len() as u32 + 5).to_le_bytes();
    for input in [input, &[&len, input, &[0]].concat()] {
        let ends = strict::strictly(input);
        for leaves_first in [false, true] {
            assert_eq!(walk::by_tokens(Reader::new(input), leaves_first).ok(), ends);
            assert_eq!(walk::by_tokens(Reader::new(input).with_longs(), leaves_first).ok(), ends);
        }
        assert_eq!(walk::by_elements(input).ok(), ends);
        if let Ok((document, behind)) = split_first(input) {
            assert_eq!(document.len() + behind.len(), input.len());
        }
    }
    // A value by itself, and elements from anywhere on.
    if let Some((&tag, value)) = input.split_first() {
        let _ = walk::by_tokens(Reader::of_value(tag, value), true);
        if let Ok((at, len)) = Reader::of_value(tag::BINARY, value).binary_data() {
            assert!(at + len <= value.len());
        }
        Elements::at(value, usize::from(tag)).for_each(drop);
        let mut r = Reader::of_value(tag, value);
        while r.next().is_ok() && r.remaining() > 0 {}
    }
});

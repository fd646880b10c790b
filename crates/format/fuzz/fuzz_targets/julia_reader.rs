//! Any bytes, and any bytes between tagged documents: reading ends, and nothing panics; what is apart and what
//! describes types can be read by itself.
#![no_main]

use holdall_format::julia::{instance, is_tagged, Reader};
use holdall_format::model::{self, Reader as _, TypedReader as _};
use holdall_format::Result;
use libfuzzer_sys::fuzz_target;

#[path = "../../src/julia/tests/walk.rs"]
mod walk;

fuzz_target!(|input: &[u8]| {
    // As it is, and as a document whose length is right, without which most inputs end at once.
    let len = (input.len() as u32 + 5).to_le_bytes();
    for input in [input, &[&len, input, &[0]].concat()] {
        let _ = walk::told(input);
        let _ = (is_tagged(input), instance(input));
        let Ok(mut r) = Reader::new(input) else { continue };
        let _ = walk::told_by(Reader::new(input).expect("it was one before").raw());
        for place in r.back_references().unwrap_or_default().into_iter().take(64) {
            r.rewind(place);
            let _ = r.next();
            let class = r.type_place(0);
            r.rewind(class);
            let _ = r.next();
        }
    }
});

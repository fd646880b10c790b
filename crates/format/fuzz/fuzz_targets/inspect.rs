//! Any bytes, in any format: an inspect ends, nothing panics, and every byte that was read is accounted to one value.
#![no_main]

use holdall_format::inspect::{inspect, Options, Inspection};
use holdall_format::{bson, hold, julia, msgpack};
use libfuzzer_sys::fuzz_target;

fn check(made: &Inspection, len: usize) {
    let own = made.kinds.iter().fold(0u64, |own, (_, sum)| own.wrapping_add(sum.bytes));
    assert_eq!(made.head as u64 + own, made.read as u64);
    assert!(made.read <= len);
}

fuzz_target!(|input: &[u8]| {
    let Some((&[depth, most], body)) = input.split_first_chunk() else { return };
    let options = Options {
        depth: usize::from(depth % 16),
        most: usize::from(most % 16),
        values: depth & 0x80 != 0,
        whole: most & 0x80 != 0,
    };
    let message = [&[hold::tag::VERSION_TRUSTED], body].concat();
    if let Ok(reader) = hold::Reader::new(&message, true) {
        check(&inspect(reader, &message, options), message.len());
    }
    // A document whose length is right, without which most inputs end at once.
    let document = [&(body.len() as u32 + 5).to_le_bytes(), body, &[0]].concat();
    for bytes in [body, &document] {
        check(&inspect(bson::Reader::new(bytes).damaged(), bytes, options), bytes.len());
        check(&inspect(julia::Reader::damaged(bytes), bytes, options), bytes.len());
    }
    check(&inspect(msgpack::Reader::new(body), body, options), body.len());
});

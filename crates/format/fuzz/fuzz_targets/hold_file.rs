//! Files and logs made of arbitrary frames whose checks and checksums hold: what is wrong with them only the other checks can
//! see. Nothing may panic, all ways to read a file agree on its message, and a search for frames ends.
#![no_main]

use arbitrary::Arbitrary;
use holdall_format::hold::codec::{self, Codec, Compression};
use holdall_format::hold::file::{self, Parts};
use holdall_format::hold::frame::{self, Head, HEAD, START};
use holdall_format::hold::index::Index;
use holdall_format::hold::log::{self, Next};
use holdall_format::hold::tag;
use holdall_format::model::Text;
use libfuzzer_sys::fuzz_target;

#[derive(Debug, Arbitrary)]
enum Body {
    /// As it is.
    Plain(Vec<u8>),
    /// Compressed, and said to become that much more or less.
    Packed(Vec<u8>, i8),
    /// A body that goes on begins with its size.
    Whole(u64, Vec<u8>),
    /// What an end says: where the index is, and how long the file is, both as far from the truth as that.
    End(i8, i8),
    /// What a restart says.
    Restart(Vec<u64>),
    /// The index of the message before, of which one byte is another.
    Index(u16, u8),
}

#[derive(Debug, Arbitrary)]
struct Frame {
    kind: u8,
    codec: u8,
    more: bool,
    padding: u8,
    body: Body,
    /// One of the bits of its head is another, and the check holds.
    flip: Option<u8>,
}

#[derive(Debug, Arbitrary)]
struct File {
    kind: u8,
    frames: Vec<Frame>,
    cut: Option<u16>,
}

fn codec(number: u8) -> Codec {
    Codec::of(number % 3).expect("one of three")
}

fn made(file: &File) -> Vec<u8> {
    let mut out = frame::start(1 + file.kind % 3).to_vec();
    let mut message: Vec<u8> = Vec::new();
    let mut index_at = 0;
    for frame in file.frames.iter().take(40) {
        out.resize(out.len() + usize::from(frame.padding % 70) * usize::from(frame.padding > 180), 0);
        let at = out.len();
        let kind = frame.kind % 11;
        let how = codec(frame.codec);
        let body = match &frame.body {
            Body::Plain(bytes) => bytes.clone(),
            Body::Packed(bytes, off) => packed(how, bytes, *off),
            Body::Whole(total, bytes) => [&total.to_le_bytes(), &bytes[..]].concat(),
            Body::End(one, other) => {
                let size = (at + HEAD + 16 + frame::TAIL) as i64 + i64::from(*other);
                [(index_at as i64 + i64::from(*one)).to_le_bytes(), size.to_le_bytes()].concat()
            }
            Body::Restart(values) => values.iter().flat_map(|value| value.to_le_bytes()).collect(),
            Body::Index(place, byte) => {
                let mut body = Index::of_message(&message).to_bytes();
                let place = usize::from(*place) % body.len().max(1);
                if let Some(at) = body.get_mut(place) {
                    *at = at.wrapping_add(*byte);
                }
                body.to_vec()
            }
        };
        if kind == tag::MESSAGE {
            message.clone_from(&body);
        }
        if kind == tag::INDEX {
            index_at = at;
        }
        let stored = matches!(frame.body, Body::Index(..) | Body::End(..) | Body::Restart(_));
        let head = Head {
            kind: kind.max(1),
            codec: if stored { Codec::Stored } else { how },
            more: frame.more,
            len: body.len() as u64,
        };
        let mut bytes = head.to_bytes(at as u64);
        if let Some(bit) = frame.flip {
            bytes[usize::from(bit / 8) % 8] ^= 1 << (bit % 8);
        }
        let tail = frame::tail(&body, frame::seed(bytes, at as u64));
        out.extend_from_slice(&bytes);
        out.extend_from_slice(&body);
        out.extend_from_slice(&tail);
    }
    if let Some(cut) = file.cut {
        out.truncate(out.len().saturating_sub(usize::from(cut) % 64));
    }
    out
}

/// A compressed block by the writer's own means; its claim is off by that.
fn packed(how: Codec, bytes: &[u8], off: i8) -> Vec<u8> {
    let mut log = holdall_format::memory::Vec::new();
    let compression = match how {
        Codec::Zstd => Some(Compression { codec: Codec::Zstd, level: 1 }),
        Codec::Lz4 => Some(Compression { codec: Codec::Lz4, level: 0 }),
        Codec::Stored => None,
    };
    log::put_record(&mut log, 0, log::Named::default(), bytes, compression);
    let mut body = log.get(HEAD..log.len() - frame::TAIL).unwrap_or_default().to_vec();
    if let Some(claim) = body.first_chunk_mut::<4>() {
        *claim = u32::from_le_bytes(*claim).wrapping_add_signed(i32::from(off)).to_le_bytes();
    }
    body
}

fn whole(input: &[u8]) {
    let by_parts = Parts::of(input).ok().and_then(|parts| {
        let message = file::unpacked(input, &parts.message, tag::MESSAGE).ok()?;
        if let Some(index) = &parts.index {
            for at in 0..message.len().min(64) {
                let _ = (index.counts(&message, at), index.skip(&message, at), index.end_of(at));
                let _ = index.value(&message, 1, at, 3);
                let _ = index.search(input, at, Text::Ascii(b"a"));
            }
            for number in 0..8 {
                let _ = (index.place_of(&message, number), index.shape(&message, number as usize));
            }
        }
        for extent in &parts.buffers {
            let _ = file::unpacked(input, extent, tag::BUFFER_FRAME);
        }
        Some(message)
    });
    let Ok(kind) = frame::parse_start(input) else { return };
    let mut reader = file::Reader::new(&input[START..], Some(input.len() as u64));
    let Ok(body) = reader.body(tag::MESSAGE) else { return };
    let Ok(message) = reader.collect(&body, &mut |_| Ok(())) else { return };
    if let Some(other) = by_parts {
        assert!(kind != tag::FILE_LOG);
        assert_eq!(other, message, "another message by the index");
    }
    let _ = reader.finish(kind);
}

fn records(input: &[u8]) {
    let mut at = START;
    let mut search = log::Search::new(at as u64, input.len() as u64);
    let mut found = 0;
    while at < input.len() {
        match log::next(input, at, 0) {
            Next::Frame(frame) => {
                assert!(frame.end > at);
                let unpacked = log::unpacked(input, &frame);
                if let Ok(unpacked) = unpacked {
                    let body = unpacked.as_deref().unwrap_or(&input[frame.body.clone()]);
                    let _ = log::record(body);
                    let _ = log::Restart::parse(body, at as u64);
                    if let Ok(mut names) = log::NamesReader::new(body) {
                        while let Ok(Some(_)) = names.token() {}
                    }
                }
                found += 1;
                at = frame.end;
            }
            Next::More(_) => break,
            Next::Damaged(_, _) => match log::find(input, at + 1, 0) {
                Some(frame) => {
                    assert!(frame.at > at);
                    at = frame.at;
                }
                None => break,
            },
        }
    }
    // In pieces it finds the first of them too.
    let first = (0..=input.len()).step_by(7).chain([input.len()]).find_map(|end| search.next(&input[..end], 0));
    assert!(found == 0 || first.is_some());
    let _ = log::last_restart(input, input.len(), 0);
}

fuzz_target!(|file: File| {
    let input = made(&file);
    if let Ok(kind) = frame::parse_start(&input) {
        if kind == tag::FILE_LOG {
            records(&input);
        }
        whole(&input);
    }
    // A block by itself, whatever it says.
    for frame in &file.frames {
        if let Body::Plain(bytes) = &frame.body {
            let mut to = vec![0; usize::from(frame.kind) * 16];
            let _ = codec::decompress(codec(frame.codec), bytes, &mut to, 0);
        }
    }
});

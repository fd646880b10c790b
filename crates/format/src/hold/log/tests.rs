//! Logs that are written and read: what records name, damage at every bit, searches over it piece by piece, restarts.

use super::*;
use crate::memory::vec;
use crate::model::{Text, Writer as _};

fn message(numbers: u64) -> Vec<u8> {
    let mut w = writer::Writer::new(Vec::new(), false);
    w.list(4);
    let block = w.shape_begin(ShapeKind::Dict, 0, 2);
    w.text(Text::Ascii(b"id"));
    w.text(Text::Ascii(b"name"));
    w.shape_end(block);
    w.int(1);
    w.assign_named_id();
    w.text(Text::Ascii(b"ann"));
    w.assign_id();
    w.text(Text::Ascii(b"bob"));
    w.assign_id();
    w.list(0);
    w.reference(numbers + 3);
    w.out
}

#[test]
fn names_are_what_a_record_has_named() {
    for texts in [0, 5] {
        let mut out = Vec::new();
        let named = Named { window: 2, texts, shapes: 4 };
        let after = put_names(&mut out, 8, named, &message(texts)).unwrap();
        assert_eq!(after, Named { texts: texts + 3, shapes: 5, ..named });
        let frame = Frame::within(&out, 0, 8).unwrap().unwrap();
        let mut names = NamesReader::new(frame.verified(&out).unwrap()).unwrap();
        assert_eq!((names.window, names.named), (2, texts + 4));
        let mut found = Vec::new();
        while let Some(token) = names.token().unwrap() {
            found.push(match token {
                Token::Text(text) => format!("{text:?}"),
                Token::NewShape(shape) => {
                    let names: Vec<_> = Reader::names(&shape).map(|name| name.unwrap()).collect();
                    assert_eq!(names, [Name::Reference(texts), Name::Reference(texts + 1)]);
                    format!("{:?} of {}", shape.kind, shape.fields)
                }
                _ => unreachable!(),
            });
        }
        assert_eq!(found[3], "Dict of 2");
        assert_eq!(found.len(), 4);
    }
    let mut w = writer::Writer::new(Vec::new(), false);
    w.int(5);
    assert_eq!(put_names(&mut Vec::new(), 0, Named::default(), &w.out).unwrap(), Named::default());
}

fn log() -> (Vec<u8>, Vec<usize>) {
    let mut out = Vec::from(start());
    let mut ends = vec![out.len()];
    let mut put = |write: &dyn Fn(&mut Vec<u8>, u64)| {
        let at = out.len() as u64;
        write(&mut out, at);
        ends.push(out.len());
    };
    put(&|out, at| put_restart(out, at, 0, 0, &[]));
    put(&|out, at| put_record(out, at, Named::default(), &message(0), None));
    put(&|out, at| {
        put_names(out, at, Named::default(), &message(0)).unwrap();
    });
    put(&|out, at| put_record(out, at, Named { texts: 3, shapes: 1, window: 0 }, &[0xC1, 5], None));
    put(&|out, at| put_restart(out, at, 2, 1, &[8]));
    (out, ends)
}

/// The next whole frame, or else from where on one may still come.
fn behind(bytes: &[u8], from: usize) -> usize {
    let mut search = Search::new(from as u64, u64::MAX);
    search.next(bytes, 0).map_or_else(|| place(search.needs()), |frame| frame.at)
}

#[test]
fn frame_after_frame_and_over_damage() {
    let (log, ends) = log();
    for pair in ends.windows(2) {
        assert!(matches!(next(&log, pair[0], 0), Next::Frame(frame) if frame.end == pair[1]));
        for len in pair[0]..pair[1] {
            assert!(matches!(next(&log[..len], pair[0], 0), Next::More(_)), "{len}");
        }
        for bit in pair[0] * 8..pair[1] * 8 {
            let mut bad = log.clone();
            bad[bit / 8] ^= 1 << (bit % 8);
            let Next::Damaged(_, damaged) = next(&bad, pair[0], 0) else { panic!("bit {bit}") };
            // Where the head holds, the next frame is known; else it is found.
            let found = damaged.map_or_else(|| behind(&bad, pair[0] + 1), |frame| frame.end);
            // Of the last bytes it can't be told yet that no frame begins there.
            let last = pair[1] == log.len() && found > pair[1] - HEAD;
            assert!(found == pair[1] || last, "bit {bit}");
        }
    }
    assert!(matches!(next(&log, log.len(), 0), Next::More(_)));
}

#[test]
fn how_far_frames_are_intact() {
    let (log, ends) = log();
    for (number, &at) in ends.iter().enumerate() {
        assert_eq!(intact(&log, at, 0), log.len());
        let is_record = matches!(next(&log, at, 0), Next::Frame(frame) if frame.head.kind == tag::RECORD);
        let body = record_within(&log, at);
        assert_eq!(body.is_some(), is_record);
        assert_eq!(format!("{:?}", next_within(&log, at, 0)), format!("{:?}", next(&log, at, 0)));
        assert!(body.is_none_or(|body| body == (at + HEAD..ends[number + 1] - TAIL)));
        for len in 0..log.len() {
            assert!(record_within(&log[..len], at).is_none_or(|body| body.end + TAIL <= len));
        }
    }
    for pair in ends.windows(2) {
        for bit in pair[0] * 8..pair[1] * 8 {
            let mut bad = log.clone();
            bad[bit / 8] ^= 1 << (bit % 8);
            assert_eq!(intact(&bad, ends[0], 0), pair[0], "bit {bit}");
        }
    }
    // What is packed is no such record.
    let mut out = Vec::new();
    let long = Vec::from([&[0xC1, 0xA0][..], &[b'x'; 4000]].concat());
    put_record(&mut out, 8, Named::default(), &long, Some(Compression { codec: Codec::Lz4, level: 0 }));
    assert!(intact(&out, 0, 8) == out.len() && record_within(&out, 0).is_none());
}

#[test]
fn a_log_within_a_record_is_not_taken_for_the_log() {
    let (inner, _) = log();
    let mut w = writer::Writer::new(Vec::new(), false);
    w.bytes(&inner);
    let mut out = Vec::from(start());
    put_record(&mut out, 8, Named::default(), &w.out, None);
    out[9] ^= 1;
    assert!(find(&out, 8, 0).is_none() && behind(&out, 8) > out.len() - HEAD);
}

#[test]
fn a_search_goes_on_where_it_was() {
    let (log, ends) = log();
    // All that is needed is kept, and nothing else.
    for step in [1, 3, 7, 8, 40, 1000] {
        let mut search = Search::new(9, u64::MAX);
        let (mut kept, mut from, mut to) = (Vec::new(), 9, 9);
        let found = loop {
            if let Some(frame) = search.next(&kept, from as u64) {
                break Some(from + frame.at);
            }
            if to == log.len() {
                break None;
            }
            kept.drain(..place(search.needs()) - from);
            from = place(search.needs());
            let next = log.len().min(to + step);
            kept.extend_from_slice(&log[to..next]);
            to = next;
        };
        assert_eq!(found, Some(ends[1]), "{step}");
    }
}

#[test]
fn heads_by_chance_are_waited_for_while_the_log_may_have_them() {
    let head = Head::new(tag::RECORD, 1000).to_bytes(20);
    let mut bytes = Vec::from([&[0; 20][..], &head, &[0; 100]].concat());
    let mut search = Search::new(0, u64::MAX);
    assert!(search.next(&bytes, 0).is_none() && search.needs() == 20);
    // What is whole behind it is found meanwhile.
    let at = bytes.len() as u64;
    put_restart(&mut bytes, at, 0, 0, &[]);
    assert_eq!(search.next(&bytes, 0).map(|frame| frame.at), Some(at as usize));
    // Where the log ends before, it is none.
    let mut search = Search::new(0, 20 + 1000 + 15);
    assert!(search.next(&bytes[..128], 0).is_none() && search.needs() == 128 - 7);
    let mut search = Search::new(0, 20 + 1000 + 16);
    assert!(search.next(&bytes[..128], 0).is_none() && search.needs() == 20);
    bytes.truncate(128);
    bytes.resize(2000, 0);
    assert!(search.next(&bytes, 0).is_none() && search.needs() == 20 + 1000 + 16 - 7);
}

#[test]
fn a_search_among_hostile_heads_ends_soon() {
    let mut bytes = Vec::new();
    while bytes.len() < 1 << 20 {
        bytes.extend_from_slice(&Head::new(tag::RECORD, 1 << 19).to_bytes(bytes.len() as u64));
    }
    let mut search = Search::new(0, bytes.len() as u64);
    assert!(search.next(&bytes, 0).is_none());
    assert!(search.spent > 15 << 20 && search.spent <= 16 << 20 && search.needs() == bytes.len() as u64 - 7);
}

#[test]
fn restarts_know_others() {
    let (log, ends) = log();
    let last = last_restart(&log, log.len(), 0).unwrap();
    assert_eq!(last, Restart { at: ends[4] as u64, record: 2, number: 1, before: vec![8] });
    assert_eq!(last_restart(&log, ends[4], 0).unwrap().number, 0);
    assert_eq!(last.known_to(2, |number| (number == 0).then_some(8)), vec![last.at, 8]);
    assert_eq!(last_restart(&log[8..], ends[4] - 8, 8).unwrap().at, 8);
}

#[test]
fn a_restart_is_not_looked_for_further_than_one_reaches() {
    for (places, found) in [(64, true), (65, false)] {
        let mut bytes = Vec::new();
        bytes.extend_from_slice(&start());
        let at = bytes.len() as u64;
        put_restart(&mut bytes, at, 0, 0, &[0; 65][..places]);
        assert_eq!(last_restart(&bytes, bytes.len(), 0).is_some(), found);
    }
}

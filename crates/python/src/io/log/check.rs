//! Which parts of a file are intact.

use crate::cpython::{detached, new, View};
use crate::error::Fault;
use crate::error::{door, door_giving};
use crate::io::log::Damage;
use crate::io::streams::{Progress, Raised, Sink};
use crate::memory::{vec, HashMap, Vec};
use crate::message::foreign;
use holdall_format::detect::Format;
use holdall_format::hold::codec;
use holdall_format::hold::file::{self, Parts};
use holdall_format::hold::frame::Frame;
use holdall_format::hold::index::Index;
use holdall_format::hold::log::{self, Next, Restart};
use holdall_format::hold::{frame, tag, Reader};
use holdall_format::{Error, ErrorKind};
use pyo3::prelude::*;
use pyo3::types::PyBytes;

/// Kind of file, number of frames, number of records (of a log), damaged parts.
type Found = (&'static str, u64, Option<u64>, std::vec::Vec<Damage>);

fn damage(offset: usize, end: usize, error: &Error) -> Damage {
    Damage { offset: offset as u64, size: end.saturating_sub(offset) as u64, reason: error.to_string() }
}

/// Compares every checksum of a mapped file.
#[pyfunction]
#[pyo3(name = "file_verify")]
pub fn verify(data: &Bound<'_, PyAny>, progress: Option<&Bound<'_, PyAny>>) -> PyResult<Py<PyAny>> {
    door_giving(data.py(), || {
        let py = data.py();
        let view = View::new(data)?;
        let input = view.as_slice();
        let mut progress = Progress::new(progress, input.len() as u64)?;
        detached(py, || {
            if !frame::is_file(input) {
                let found = Index::scan(input).err().map(|error| {
                    let mut found = damage(error.offset(), input.len(), &error);
                    if let Some(clause) = foreign::what(input, Format::Hold) {
                        found.reason = format!("{}; {clause}", found.reason);
                    }
                    found
                });
                return Ok(("message", 0, None, found.into_iter().collect()));
            }
            match frame::parse_start(input) {
                Ok(tag::FILE_LOG) => verify_log(input, Vec::new(), &mut progress),
                Ok(_) => verify_graph(input, &mut progress),
                // What follows shows whether it was a log.
                Err(error) => {
                    let first = damage(0, frame::START, &error);
                    let is_log = matches!(log::next(input, frame::START, 0), Next::Frame(_));
                    if is_log {
                        return verify_log(input, vec![first], &mut progress);
                    }
                    Ok(("graph", 0, None, std::vec![first]))
                }
            }
        })
    })
}

fn verify_graph(input: &[u8], progress: &mut Progress) -> PyResult<Found> {
    let (mut at, mut frames, mut found) = (frame::START, 0, Vec::new());
    loop {
        match Frame::at(input, at) {
            Ok(None) => break,
            Ok(Some(frame)) => {
                frames += 1;
                if let Err(error) = frame.verified(input) {
                    found.push(damage(frame.at, frame.end, &error));
                }
                at = frame.end;
                progress.at(at as u64)?;
            }
            // Without its head, the next frame can't be located.
            Err(error) => {
                found.push(damage(at, input.len(), &error));
                break;
            }
        }
    }
    if found.is_empty() {
        if let Err(error) = Parts::of(input) {
            found.push(damage(error.offset().min(input.len()), input.len(), &error));
        }
    }
    Ok(("graph", frames, None, found.into_std()))
}

/// Visits the frames of a log; `see` gets each intact one.
fn over(input: &[u8], found: &mut Vec<Damage>, mut see: impl FnMut(&Frame) -> PyResult<()>) -> PyResult<()> {
    let mut at = frame::START;
    while at < input.len() {
        match log::next(input, at, 0) {
            Next::Frame(frame) => {
                see(&frame)?;
                at = frame.end;
            }
            Next::Damaged(error, Some(damaged)) => {
                found.push(damage(at, damaged.end, &error));
                at = damaged.end;
            }
            other => {
                let error = match other {
                    Next::Damaged(error, _) => error,
                    Next::More(needed) => Error::new(
                        ErrorKind::Truncated { needed: needed.saturating_sub(input.len() - at) },
                        input.len(),
                    ),
                    Next::Frame(_) => continue,
                };
                let next = log::find(input, at + 1, 0).map_or(input.len(), |frame| frame.at);
                found.push(damage(at, next, &error));
                at = next;
            }
        }
    }
    Ok(())
}

fn verify_log(input: &[u8], mut found: Vec<Damage>, progress: &mut Progress) -> PyResult<Found> {
    let (mut frames, mut records) = (0, 0);
    over(input, &mut found, |frame| {
        frames += 1;
        records += u64::from(frame.head.kind == tag::RECORD);
        progress.at(frame.end as u64)
    })?;
    progress.at(input.len() as u64)?;
    Ok(("log", frames, Some(records), found.into_std()))
}

/// Copies the intact parts of a mapped log to a descriptor, or to a function that accepts all bytes that it is given;
/// returns the number of records.
#[pyfunction]
#[pyo3(name = "log_repair")]
pub fn repair(data: &Bound<'_, PyAny>, sink: &Bound<'_, PyAny>) -> PyResult<Py<PyAny>> {
    door_giving(data.py(), || {
        let py = data.py();
        let view = View::new(data)?;
        let input = view.as_slice();
        let mut sink = Sink::new(sink)?;
        let (mut out, mut at, mut records) = (Vec::from(log::start()), 0u64, 0);
        let (mut last, mut places): (Option<Restart>, HashMap<u64, u64>) = (None, HashMap::new());
        let mut flush = |out: &mut Vec<u8>, at: &mut u64, least: usize| -> PyResult<()> {
            if out.len() < least {
                return Ok(());
            }
            let mut raised = Raised::default();
            let written = detached(py, || sink.write(out, &mut raised));
            written.map_err(|error| raised.or(&error))?;
            *at += out.len() as u64;
            out.clear();
            Ok(())
        };
        over(input, &mut Vec::new(), |frame| {
            let here = at + out.len() as u64;
            let restart = || {
                let unpacked = log::unpacked(input, frame)?;
                Restart::parse(unpacked.as_deref().unwrap_or(&input[frame.body.clone()]), frame.at as u64)
            };
            if frame.head.kind == tag::RESTART {
                // The same restart, with the new offsets.
                let old = restart().map_err(|error| Fault::from(error).into_py(0))?;
                let (record, number) = (old.record, old.number);
                let before = last
                    .as_ref()
                    .map_or(Vec::new(), |last| last.known_to(number, |number| places.get(&number).copied()));
                log::put_restart(&mut out, here, record, number, &before);
                places.insert(number, here);
                last = Some(Restart { at: here, record, number, before });
            } else {
                records += u64::from(frame.head.kind == tag::RECORD);
                log::put_again(&mut out, here, frame, input);
            }
            flush(&mut out, &mut at, 1 << 18)
        })?;
        flush(&mut out, &mut at, 0)?;
        Ok(records)
    })
}

/// The kind of a file by its first bytes: "graph", "log" or "message"; None for anything else.
#[pyfunction]
pub fn file_kind(start: &[u8]) -> Option<&'static str> {
    match frame::parse_start(start) {
        Ok(tag::FILE_LOG) => Some("log"),
        Ok(_) => Some("graph"),
        Err(_) => Reader::new(start, true).is_ok().then_some("message"),
    }
}

/// The frame at that offset, and whether it is complete.
fn frame_or_rest(input: &[u8], at: usize) -> Option<(Frame, bool)> {
    match Frame::at(input, at) {
        Ok(frame) => Some((frame?, true)),
        Err(_) => Frame::cut_short(input, at).map(|frame| (frame, false)),
    }
}

/// The frames of a file, as far as they can be located. Each is a dict with `kind`, `codec`, `at` (its offset),
/// `offset` and `size` of its body, `raw_size` (the body's size before compression), and `ok` (whether its checksum is
/// right). `most`: the largest size of a body whose checksum is compared.
#[pyfunction]
#[pyo3(name = "file_frames_of", signature = (data, /, *, most = 1 << 20))]
pub fn frames_of<'py>(data: &Bound<'py, PyAny>, most: usize) -> PyResult<Py<PyAny>> {
    door_giving(data.py(), || {
        let py = data.py();
        let view = View::new(data)?;
        let input = view.as_slice();
        let (mut at, mut found) = (frame::START, Vec::new());
        while let Some((frame, whole)) = frame_or_rest(input, at) {
            let told = new::dict(py)?;
            let name = tag::FRAMES.iter().find(|row| row.code == frame.head.kind).map_or("", |row| row.name);
            let name = name.trim_end_matches("_FRAME").to_ascii_lowercase();
            told.set_item("kind", name)?;
            told.set_item("codec", frame.head.codec.name())?;
            told.set_item("at", frame.at)?;
            told.set_item("offset", frame.body.start)?;
            told.set_item("size", frame.body.len())?;
            let raw = codec::raw_len(&input[frame.body.clone()], 0).ok();
            told.set_item("raw_size", raw.filter(|_| frame.head.codec != codec::Codec::Stored && !frame.head.more))?;
            let ok = (found.len() < most || !whole).then(|| whole && detached(py, || frame.verified(input).is_ok()));
            told.set_item("ok", ok)?;
            at = frame.end;
            found.push(told);
        }
        Ok(found.into_std())
    })
}

/// The decompressed body that begins with the frame at `at`.
///
/// Raises DecodeError if it is damaged.
#[pyfunction]
pub fn file_body<'py>(data: &Bound<'py, PyAny>, at: u64, message: bool) -> PyResult<Bound<'py, PyBytes>> {
    door(|| {
        let view = View::new(data)?;
        let kind = if message { tag::MESSAGE } else { tag::BUFFER_FRAME };
        let body = file::unpacked_at(view.as_slice(), at, kind).map_err(|error| Fault::from(error).into_py(0))?;
        new::bytes(data.py(), &body)
    })
}

//! A log: records one after the other, each in a frame of its own, appended for ever.
//!
//! Records of one *window* share names: shapes, and texts that were marked as named, keep their numbers for the records that follow. So
//! that a record that is lost takes no other with it, what it has named is written once more behind it, in a frame of names.
//! A window begins with a restart, where nothing has a name: here a reader can begin. Restarts know where others are before them:
//! the one with number `n` knows those 1, 2, 4 ... before it, as far as these divide `n`.

use super::codec::{self, Codec, Compression, BLOCK};
use super::frame::{self, Frame, Head, HEAD, START, TAIL};
use super::reader::{self, Reader};
use super::{tag, writer};
use crate::cursor::Cursor;
use crate::error::{Error, ErrorKind, Result};
use crate::memory::{vec, Vec};
use crate::model::{
    Name, Reader as _, ReferenceWriter as _, Shape, ShapeKind, ShapeReader as _, ShapeWriter as _, Token,
};
use std::ops::Range;

/// Records of fewer bytes are not compressed.
const LEAST_COMPRESSED: usize = 256;

/// Appends a frame that begins at offset `at` of its file.
fn put(out: &mut Vec<u8>, at: u64, kind: u8, parts: [&[u8]; 2]) {
    put_as(out, at, Head::new(kind, (parts[0].len() + parts[1].len()) as u64), parts);
}

fn put_as(out: &mut Vec<u8>, at: u64, head: Head, parts: [&[u8]; 2]) {
    let head = head.to_bytes(at);
    out.extend_from_slice(&head);
    let body = out.len();
    out.extend_from_slice(parts[0]);
    out.extend_from_slice(parts[1]);
    let tail = frame::tail(&out[body..], frame::seed(head, at));
    out.extend_from_slice(&tail);
}

/// What a record needs of its window.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Named {
    /// The window's number: that of its restart.
    pub window: u64,
    /// How many texts and shapes had names before.
    pub texts: u64,
    pub shapes: u64,
}

impl Named {
    fn all(self) -> u64 {
        self.texts + self.shapes
    }
}

/// Appends a record to `out`, which begins at `at` in the file.
pub fn put_record(out: &mut Vec<u8>, at: u64, named: Named, message: &[u8], how: Option<Compression>) {
    let mut head = Vec::with_capacity(18);
    writer::length(&mut head, named.window);
    writer::length(&mut head, named.all());
    // A small record has nothing to gain, and a large one would have to be cut.
    let how = how.filter(|_| (LEAST_COMPRESSED..BLOCK - head.len()).contains(&message.len()));
    if let Some((how, body)) = how.and_then(|how| Some((how, codec::compress(&joined(&head, message), how)?))) {
        put_as(out, at, Head { codec: how.codec, ..Head::new(tag::RECORD, body.len() as u64) }, [&body, &[]]);
        return;
    }
    put(out, at, tag::RECORD, [&head, message]);
}

fn joined(head: &[u8], body: &[u8]) -> Vec<u8> {
    let mut both = Vec::with_capacity(head.len() + body.len());
    both.extend_from_slice(head);
    both.extend_from_slice(body);
    both
}

/// Appends what a record has named, if anything; gives what there is now.
pub fn put_names(out: &mut Vec<u8>, at: u64, named: Named, message: &[u8]) -> Result<Named> {
    let Some((body, named)) = names_body(named, message)? else { return Ok(named) };
    put(out, at, tag::NAMES, [&body, &[]]);
    Ok(named)
}

/// The body of a frame of what a record has named, if anything; and what there is then.
pub fn names_body(named: Named, message: &[u8]) -> Result<Option<(Vec<u8>, Named)>> {
    let Names { new_texts, shapes } = names_of(named.texts, message)?;
    let (texts, shape_count) = (new_texts.len() as u64, shapes.len() as u64);
    if texts + shape_count == 0 {
        return Ok(None);
    }
    let mut w = writer::Writer::new(Vec::new(), false);
    w.out.clear();
    writer::length(&mut w.out, named.window);
    writer::length(&mut w.out, named.all());
    writer::length(&mut w.out, texts);
    new_texts.iter().for_each(|text| w.out.extend_from_slice(text));
    writer::length(&mut w.out, shape_count);
    for shape in shapes {
        let block = w.shape_begin(shape.kind, shape.version, shape.fields);
        shape.names.iter().for_each(|&name| w.reference(name));
        w.shape_end(block);
    }
    Ok(Some((w.out, Named { texts: named.texts + texts, shapes: named.shapes + shape_count, ..named })))
}

struct Names<'i> {
    /// As they are written.
    new_texts: Vec<&'i [u8]>,
    shapes: Vec<NewShape>,
}

struct NewShape {
    kind: ShapeKind,
    version: u64,
    fields: usize,
    /// Numbers of texts, a class's own first.
    names: Vec<u64>,
}

impl<'i> Names<'i> {
    /// Gives a text the next number that lasts; `texts` had one before.
    fn text(&mut self, texts: u64, lasting: &mut Vec<Option<u64>>, bytes: &'i [u8]) -> u64 {
        let number = texts + self.new_texts.len() as u64;
        self.new_texts.push(bytes);
        lasting.push(Some(number));
        number
    }
}

/// What a message names that begins with `texts` numbered ones.
fn names_of(texts: u64, message: &[u8]) -> Result<Names<'_>> {
    let mut r = Reader::new(message, true)?;
    let mut names = Names { new_texts: Vec::new(), shapes: Vec::new() };
    // What of the message's own numbers is a text: its number for the records that follow.
    let mut lasting: Vec<Option<u64>> = vec![None];
    while r.remaining() > 0 {
        if r.leaf()?.is_some() {
            continue;
        }
        let at = r.offset();
        match r.next()? {
            Token::AssignId => {
                let (before, place) = (r.offset(), r.place());
                let lasts = message.get(at) == Some(&tag::NAMED);
                match r.next()? {
                    Token::Text(_) if lasts => {
                        let bytes = message.get(before..r.offset()).unwrap_or_default();
                        names.text(texts, &mut lasting, bytes);
                    }
                    _ => {
                        lasting.push(None);
                        r.rewind(place);
                    }
                }
            }
            Token::NewShape(shape) => {
                let named = shape_names(message, &shape, |name| match name {
                    Ok(bytes) => Some(names.text(texts, &mut lasting, bytes)),
                    Err(number) if number < texts => Some(number),
                    Err(number) => lasting.get((number - texts) as usize).copied().flatten(),
                })?;
                names.shapes.push(named);
            }
            _ => {}
        }
    }
    Ok(names)
}

/// The names of a shape by their numbers; `number` gives that of a text, or of what is referred to.
fn shape_names<'i>(
    message: &'i [u8],
    shape: &Shape<'i>,
    mut number: impl FnMut(std::result::Result<&'i [u8], u64>) -> Option<u64>,
) -> Result<NewShape> {
    let bad = || Error::new(ErrorKind::BadName, shape.at);
    let mut block = Reader::from(&message[..shape.at + shape.block.len()], shape.at, false);
    let mut names = Vec::with_capacity(shape.fields + 1);
    for name in Reader::names(shape) {
        let before = block.offset();
        block.next()?;
        let found = match name? {
            Name::Text(_) => number(Ok(&message[before..block.offset()])),
            Name::Reference(name) => number(Err(name)),
        };
        names.push(found.ok_or_else(bad)?);
    }
    Ok(NewShape { kind: shape.kind, version: shape.version, fields: shape.fields, names })
}

/// Appends a restart: `record` is the number of the record that comes next, `number` that of the restart, `before` where those are
/// that it knows.
pub fn put_restart(out: &mut Vec<u8>, at: u64, record: u64, number: u64, before: &[u64]) {
    let body: Vec<u8> = [record, number].iter().chain(before).flat_map(|value| value.to_le_bytes()).collect();
    put(out, at, tag::RESTART, [&body, &[]]);
}

/// A place to begin.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Restart {
    /// Where its frame begins.
    pub at: u64,
    /// The number of the record that comes next.
    pub record: u64,
    pub number: u64,
    /// Where the restarts are that stand 1, 2, 4 ... before it.
    pub before: Vec<u64>,
}

impl Restart {
    /// Bytes of the largest: two numbers, and as many places as there are powers of two.
    const MOST: usize = 8 * (2 + 64);

    pub fn parse(body: &[u8], at: u64) -> Result<Restart> {
        let bad = || Error::new(ErrorKind::BadFile { why: "a restart that says nothing" }, place(at));
        let (values, rest) = body.as_chunks::<8>();
        let mut values = values.iter().map(|value| u64::from_le_bytes(*value));
        let (Some(record), Some(number), []) = (values.next(), values.next(), rest) else { return Err(bad()) };
        Ok(Restart { at, record, number, before: values.collect() })
    }

    /// The places that a restart knows which has the number `next`, and comes after this one.
    pub fn known_to(&self, next: u64, earlier: impl Fn(u64) -> Option<u64>) -> Vec<u64> {
        (0..=next.trailing_zeros())
            .map_while(|power| match power {
                0 => Some(self.at),
                _ => earlier(next.checked_sub(1 << power)?),
            })
            .collect()
    }
}

/// A frame's body, unpacked; nothing where it is stored as it is.
pub fn unpacked(bytes: &[u8], frame: &Frame) -> Result<Option<Vec<u8>>> {
    let body = &bytes[frame.body.clone()];
    if frame.head.codec == Codec::Stored {
        return Ok(None);
    }
    let mut to = vec![0; codec::raw_len(body, frame.body.start)?];
    codec::decompress(frame.head.codec, body, &mut to, frame.body.start)?;
    Ok(Some(to))
}

/// The same frame as it would be written at another place.
pub fn put_again(out: &mut Vec<u8>, at: u64, frame: &Frame, bytes: &[u8]) {
    put_as(out, at, frame.head, [&bytes[frame.body.clone()], &[]]);
}

/// A record's window, how many names that had before it, and its message.
pub fn record(body: &[u8]) -> Result<(u64, u64, &[u8])> {
    let mut input = Cursor::new(body);
    let window = reader::length(&mut input)?;
    let named = reader::length(&mut input)?;
    Ok((window as u64, named as u64, input.rest()))
}

/// What a frame of names holds: texts, then shapes, to be read by a [`Reader`].
#[derive(Debug)]
pub struct NamesReader<'i> {
    pub window: u64,
    /// How many names there were before.
    pub named: u64,
    body: &'i [u8],
    at: usize,
    left: usize,
    in_shapes: bool,
}

impl<'i> NamesReader<'i> {
    pub fn new(body: &'i [u8]) -> Result<Self> {
        let mut input = Cursor::new(body);
        let window = reader::length(&mut input)? as u64;
        let named = reader::length(&mut input)? as u64;
        let left = reader::length(&mut input)?;
        Ok(NamesReader { window, named, body, at: input.offset(), left, in_shapes: false })
    }

    /// A reader of the shapes' blocks.
    pub fn reader(&self) -> Reader<'i> {
        Reader::from(self.body, self.body.len(), false)
    }

    /// The next text or shape.
    pub fn token(&mut self) -> Result<Option<Token<'i>>> {
        while self.left == 0 {
            if self.in_shapes {
                return Ok(None);
            }
            let mut input = Cursor::new(self.body);
            input.skip_over(self.at);
            self.left = reader::length(&mut input)?;
            (self.at, self.in_shapes) = (input.offset(), true);
        }
        let mut r = Reader::from(self.body, self.at, false);
        let token = r.next()?;
        (self.at, self.left) = (r.offset(), self.left - 1);
        match (&token, self.in_shapes) {
            (Token::Text(_), false) | (Token::NewShape(_), true) => Ok(Some(token)),
            _ => Err(Error::new(ErrorKind::BadName, self.at)),
        }
    }
}

fn place(at: u64) -> usize {
    usize::try_from(at).unwrap_or(usize::MAX)
}

/// What stands next in a log.
#[derive(Debug)]
pub enum Next {
    Frame(Frame),
    /// The bytes end here, or before the frame does: so many are needed in all, at least.
    More(usize),
    /// No frame stands here; or one whose body is damaged.
    Damaged(Error, Option<Frame>),
}

/// Looks at the frame at `at` of `bytes`, which begin `base` bytes into the log.
pub fn next(bytes: &[u8], at: usize, base: u64) -> Next {
    match next_within(bytes, at, base) {
        Next::Frame(frame) => match frame.verified(bytes) {
            Ok(_) => Next::Frame(frame),
            Err(error) => Next::Damaged(error, Some(frame)),
        },
        other => other,
    }
}

/// The same of bytes that are [`intact`] there: the checksum is not compared again.
pub fn next_within(bytes: &[u8], at: usize, base: u64) -> Next {
    let rest = bytes.len().saturating_sub(at);
    if rest < HEAD {
        return Next::More(HEAD + TAIL);
    }
    match Frame::within(bytes, at, base) {
        Ok(Some(frame)) if matches!(frame.head.kind, tag::RECORD | tag::NAMES | tag::RESTART) && frame.at == at => {
            Next::Frame(frame)
        }
        Ok(_) => Next::Damaged(Error::new(ErrorKind::Checksum, place(base) + at), None),
        Err(error) => match error.kind() {
            ErrorKind::Truncated { needed } => Next::More(rest + needed),
            _ => Next::Damaged(error, None),
        },
    }
}

/// Where the intact frames end that stand one behind the other from `at` on.
pub fn intact(bytes: &[u8], mut at: usize, base: u64) -> usize {
    while let Next::Frame(frame) = next(bytes, at, base) {
        at = frame.end;
    }
    at
}

/// The body of a record that is stored as it is, whose frame stands at `at` of bytes that are [`intact`].
#[inline(always)]
pub fn record_within(bytes: &[u8], at: usize) -> Option<Range<usize>> {
    let head = *bytes.get(at..)?.first_chunk::<HEAD>()?;
    let len = usize::try_from(u64::from_le_bytes(head) >> 8 & frame::MOST).ok()?;
    let body = at + HEAD;
    let end = body.checked_add(len)?;
    // With no codec and nothing that follows, the kind is all that the first byte says.
    (head[0] == tag::RECORD && end.checked_add(TAIL)? <= bytes.len()).then_some(body..end)
}

/// The first whole frame at or behind `from` of bytes that are all there are.
pub fn find(bytes: &[u8], from: usize, base: u64) -> Option<Frame> {
    Search::new(base + from as u64, base + bytes.len() as u64).next(bytes, base)
}

/// Looks for a whole frame behind a damage, in bytes that come piece by piece; no place is looked at twice.
#[derive(Debug)]
pub struct Search {
    from: u64,
    /// As far as the log goes, if that is known: what would go on behind it is no frame.
    size: u64,
    /// All places before were looked at.
    looked: u64,
    /// Places where heads stand whose frames are not all there, and where these end.
    waiting: Vec<[u64; 2]>,
    /// Bytes of bodies whose checksums were made.
    spent: u64,
}

impl Search {
    /// What looks like a head once in 65,536 places costs a look at its body; hostile bytes may have more of those. So many
    /// times each byte is looked at, at most.
    const LOOKS: u64 = 16;
    /// Terabytes of damage do not have as many heads by chance.
    const MOST_WAITING: usize = 1 << 16;

    /// Looks from that offset of a log on, which has so many bytes, or `u64::MAX`: that is not known.
    pub fn new(from: u64, size: u64) -> Search {
        Search { from, size, looked: from, waiting: Vec::new(), spent: 0 }
    }

    /// From here on bytes are still needed.
    pub fn needs(&self) -> u64 {
        self.waiting.first().map_or(self.looked, |&[at, _]| at)
    }

    /// The next whole frame in `bytes`, which begin `base` bytes into the log, at [`Search::needs`] or before.
    pub fn next(&mut self, bytes: &[u8], base: u64) -> Option<Frame> {
        let end = base.saturating_add(bytes.len() as u64).min(self.size);
        for [at, ends] in std::mem::take(&mut self.waiting) {
            if ends > end {
                self.waiting.push([at, ends]);
            } else if let Some(frame) = self.whole(bytes, base, [at, ends], end) {
                return Some(frame);
            }
        }
        while self.looked + HEAD as u64 <= end {
            let at = self.looked;
            self.looked += 1;
            let Some(&head) = bytes.get(place(at.checked_sub(base)?)..).and_then(|rest| rest.first_chunk()) else {
                break;
            };
            if !matches!(head[0] & 15, tag::RECORD | tag::NAMES | tag::RESTART) {
                continue;
            }
            let Ok(head) = Head::parse(head, at) else { continue };
            let ends = (at + (HEAD + TAIL) as u64).saturating_add(head.len);
            if ends <= end {
                if let Some(frame) = self.whole(bytes, base, [at, ends], end) {
                    return Some(frame);
                }
            } else if ends <= self.size && self.waiting.len() < Self::MOST_WAITING {
                self.waiting.push([at, ends]);
            }
        }
        None
    }

    fn whole(&mut self, bytes: &[u8], base: u64, [at, ends]: [u64; 2], end: u64) -> Option<Frame> {
        let spent = self.spent.saturating_add(ends - at);
        if spent > (end - self.from).saturating_mul(Self::LOOKS) {
            return None;
        }
        self.spent = spent;
        match next(bytes, place(at.checked_sub(base)?), base) {
            Next::Frame(frame) => Some(frame),
            _ => None,
        }
    }
}

/// The restart whose frame begins at `at` of `bytes`.
fn restart_within(bytes: &[u8], at: usize, base: u64) -> Option<Restart> {
    if bytes[at] != tag::RESTART {
        return None;
    }
    // No further than a restart can reach: a head at every place, each with a body up to the end, would be summed up again and again.
    let near = &bytes[..bytes.len().min(at + RESTART_FRAME)];
    match next(near, at, base) {
        Next::Frame(frame) => Restart::parse(&bytes[frame.body], base + at as u64).ok(),
        _ => None,
    }
}

/// Bytes that the frame of a restart takes at most.
pub const RESTART_FRAME: usize = HEAD + Restart::MOST + TAIL;

/// The last restart that begins before `end` of `bytes`.
pub fn last_restart(bytes: &[u8], end: usize, base: u64) -> Option<Restart> {
    (0..end.min(bytes.len())).rev().find_map(|at| restart_within(bytes, at, base))
}

/// The first restart that begins before `end` of `bytes`.
pub fn first_restart(bytes: &[u8], end: usize, base: u64) -> Option<Restart> {
    (0..end.min(bytes.len())).find_map(|at| restart_within(bytes, at, base))
}

/// The first bytes of a log.
pub fn start() -> [u8; START] {
    frame::start(tag::FILE_LOG)
}

#[cfg(test)]
mod tests;

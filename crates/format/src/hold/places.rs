//! Places of a message's objects and shapes, for those who begin in its middle: by a walk from the nearest that is known, or from a
//! list of all.

use super::reader::Reader;
use crate::error::Result;
use crate::model::{Reader as _, Shape, Token};
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::sync::OnceLock;

/// Ways from a checkpoint to a place. Each is short if the index is right, but there may be many, and an index may lie: once all of
/// them together were as long as the message, its places are noted.
#[derive(Debug, Default)]
pub struct Walks {
    /// Tokens and names that were passed.
    spent: AtomicU64,
    places: OnceLock<Places>,
}

impl Walks {
    pub fn begin(&self) -> Walk<'_> {
        Walk { walks: self, steps: 0 }
    }

    /// Whether they were as long as the message.
    pub fn are_many(&self, message: &[u8]) -> bool {
        self.spent.load(Relaxed) >= message.len() as u64
    }

    /// All places of the message, if it was worth it to note them.
    pub fn places(&self, message: &[u8]) -> Option<&Places> {
        if !self.are_many(message) {
            return None;
        }
        Some(self.places.get_or_init(|| Places::of(message)))
    }
}

/// A copy walks for itself.
impl Clone for Walks {
    fn clone(&self) -> Self {
        Walks::default()
    }
}

/// They are nothing that an index says.
impl PartialEq for Walks {
    fn eq(&self, _: &Self) -> bool {
        true
    }
}

impl Eq for Walks {}

/// Where each name of a shape stands, and whether it is text (which has a number).
pub(super) fn names_at<'i>(
    message: &'i [u8],
    shape: &Shape<'i>,
) -> impl Iterator<Item = (usize, Result<bool>)> + use<'i> {
    let end = shape.at + shape.block.len();
    let mut r = Reader::from(message, shape.at, false);
    std::iter::from_fn(move || {
        let at = r.offset();
        if at >= end {
            return None;
        }
        Some((at, r.next().map(|token| matches!(token, Token::Text(_)))))
    })
}

/// Where things stand in a message, up to its end, or to where it can't be read any more.
#[derive(Debug)]
pub struct Places {
    /// The value of each numbered object. They go up, as numbers do.
    numbered: Vec<u64>,
    shapes: Vec<u64>,
    end: u64,
}

/// A way that is being gone; it is counted at its end, however it ends.
pub struct Walk<'w> {
    walks: &'w Walks,
    /// Tokens and names that were passed.
    pub steps: u64,
}

impl Drop for Walk<'_> {
    fn drop(&mut self) {
        self.walks.spent.fetch_add(self.steps, Relaxed);
    }
}

impl Places {
    fn of(message: &[u8]) -> Places {
        // The message's first value has number 0.
        let mut places = Places { numbered: vec![1], shapes: Vec::new(), end: 1 };
        let mut r = Reader::from(message, 1, true);
        while r.remaining() > 0 {
            let at = r.offset() as u64;
            let Ok(token) = r.next() else { break };
            match token {
                Token::AssignId => places.numbered.push(r.offset() as u64),
                Token::NewShape(shape) => {
                    places.shapes.push(at);
                    let names = names_at(message, &shape).map_while(|(at, name)| Some((at, name.ok()?)));
                    places.numbered.extend(names.filter(|(_, is_text)| *is_text).map(|(at, _)| at as u64));
                }
                _ => {}
            }
            places.end = r.offset() as u64;
        }
        places
    }

    /// How many objects and shapes were numbered before that place. None beyond what can be read.
    pub fn counts(&self, at: u64) -> Option<(u64, u64)> {
        let numbers = self.numbered.partition_point(|&place| place <= at);
        let shapes = self.shapes.partition_point(|&place| place < at);
        (at <= self.end).then_some((numbers as u64, shapes as u64))
    }

    /// Where the value of the object of that number begins.
    pub fn of_number(&self, number: u64) -> Option<usize> {
        self.numbered.get(usize::try_from(number).ok()?).map(|&at| at as usize)
    }
}

#[cfg(test)]
mod tests {
    use super::super::index::Index;
    use super::super::writer;
    use crate::model::{ReferenceWriter as _, ShapeKind, ShapeWriter as _, Text, Writer as _};

    /// Marks, shapes and names among lists, and where each value begins.
    fn message() -> Vec<u8> {
        let mut w = writer::Writer::new(Vec::new(), false);
        w.list(300);
        for number in 0..100u32 {
            w.assign_id();
            w.list(1);
            w.int(i64::from(number));
            let block = w.shape_begin(ShapeKind::Dict, 0, 2);
            w.text(Text::Ascii(format!("a{number}").as_bytes()));
            w.text(Text::Ascii(b"b"));
            w.shape_end(block);
            w.int(1);
            w.assign_id();
            w.list(0);
            w.reference(1);
        }
        w.out
    }

    #[test]
    fn a_list_of_all_places_says_what_walks_say() {
        let message = message();
        let index = Index::scan(&message).unwrap();
        let walked = |number| index.clone().place_of(&message, number).unwrap();
        let noted = index.clone();
        noted.walks().begin().steps = message.len() as u64;
        assert!(index.walks().places(&message).is_none() && noted.walks().places(&message).is_some());
        let numbers = 1 + 100 * 4;
        for number in 0..numbers {
            let at = walked(number);
            assert_eq!(noted.place_of(&message, number).unwrap(), at);
            // The second and the third of four are names, where no value begins.
            if number % 4 < 2 {
                let counts = noted.counts(&message, at).unwrap();
                assert_eq!((counts, counts.0), (index.clone().counts(&message, at).unwrap(), number + 1));
            }
        }
        assert!(noted.place_of(&message, numbers).is_err() && index.place_of(&message, numbers).is_err());
        assert!(noted.counts(&message, message.len() + 1).is_err());
    }

    #[test]
    fn walks_as_long_as_the_message_are_the_last() {
        let message = message();
        let index = Index::scan(&message).unwrap();
        for _ in 0..message.len() {
            index.place_of(&message, 400).unwrap();
        }
        let spent = index.walks().spent.load(super::Relaxed);
        assert!(spent >= message.len() as u64 && spent < 2 * message.len() as u64);
    }

    #[test]
    fn what_can_be_read_is_noted() {
        let mut message = message();
        let whole = Index::scan(&message).unwrap();
        let (early, late) = (whole.place_of(&message, 100).unwrap(), whole.place_of(&message, 300).unwrap());
        let between = whole.place_of(&message, 200).unwrap();
        message[between] = 0xE0;
        let places = super::Places::of(&message);
        assert_eq!((places.of_number(100), places.of_number(300)), (Some(early), None));
        assert!(places.counts(early as u64).is_some() && places.counts(late as u64).is_none());
    }
}

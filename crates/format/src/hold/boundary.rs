//! Where a bare message ends, found out while its bytes come in.
//!
//! A message has no length in front. But each value says how many follow it, and each of those takes at least a byte: so at any
//! point it is known how many bytes there must be at least, and a stream that can't be sought need never be read beyond the end.

use super::reader::Reader;
use super::tag;
use crate::error::{Error, ErrorKind, Result};
use crate::memory::Vec;
use crate::model::{Reader as _, Token};

/// What the bytes that are there say.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Found {
    /// The message takes so many bytes.
    End(usize),
    /// It takes at least so many bytes, which are more than there are.
    AtLeast(usize),
}

/// Goes over a message's tokens, as far as they are there, and goes on from there next time.
#[derive(Debug)]
pub struct Boundary {
    at: usize,
    /// Values that are still to come.
    owed: usize,
    /// How many values an instance of each shape has.
    shapes: Vec<u64>,
}

impl Default for Boundary {
    fn default() -> Self {
        Boundary { at: 0, owed: 1, shapes: Vec::new() }
    }
}

impl Boundary {
    /// `message`: the bytes of the call before, and more of them.
    pub fn look(&mut self, message: &[u8]) -> Result<Found> {
        if self.at == 0 {
            let Some(&first) = message.first() else { return Ok(Found::AtLeast(2)) };
            if first != tag::VERSION && first != tag::VERSION_TRUSTED {
                // Says what is wrong with it.
                Reader::new(message, true)?;
            }
            self.at = 1;
        }
        let mut r = Reader::from(message, self.at, true);
        while self.owed > 0 {
            let token = match r.leaf() {
                Ok(Some(_)) => Ok(None),
                Ok(None) => r.next().map(Some),
                Err(error) => Err(error),
            };
            let more = match token {
                Ok(None) => 0,
                Ok(Some(Token::AssignId)) => 1,
                Ok(Some(token)) => self.values(&token)?,
                Err(error) => match error.kind() {
                    ErrorKind::Truncated { needed } => {
                        let least = message.len().saturating_add(*needed).saturating_add(self.owed - 1);
                        return Ok(Found::AtLeast(least));
                    }
                    _ => return Err(error),
                },
            };
            self.at = r.offset();
            self.owed = (self.owed - 1).saturating_add(usize::try_from(more).unwrap_or(usize::MAX));
            let there = message.len() - self.at;
            if self.owed > there {
                return Ok(Found::AtLeast(self.at.saturating_add(self.owed)));
            }
        }
        Ok(Found::End(self.at))
    }

    /// How many values follow a token that belong to it.
    fn values(&mut self, token: &Token<'_>) -> Result<u64> {
        match token {
            Token::Instance(number) => match self.shapes.get(*number) {
                Some(&values) => Ok(values),
                None => Err(Error::new(ErrorKind::BadShape { number: *number as u64 }, self.at)),
            },
            Token::NewShape(shape) => {
                let values = shape.kind.values(shape.fields);
                self.shapes.push(values);
                Ok(values)
            }
            _ => Ok(token.values()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::Writer;
    use super::*;
    use crate::model::{
        reduce, KnownType, ReferenceWriter as _, RunWriter as _, Seq, ShapeKind, ShapeWriter as _, Text,
        TypeWriter as _, Writer as _,
    };
    use std::vec::Vec;

    /// A message of all kinds of tokens.
    fn message() -> Vec<u8> {
        let mut w = Writer::new(Vec::new(), true);
        w.tuple(9);
        w.text(Text::Ascii(&[b'x'; 300]));
        w.assign_id();
        w.list(2);
        w.none();
        w.reference(1);
        for _ in 0..2 {
            let begun = w.shape_begin(ShapeKind::Object, 1, 2);
            ["module.Class", "a", "b"].iter().for_each(|name| w.text(Text::Ascii(name.as_bytes())));
            w.shape_end(begun);
            w.int(1);
            w.float(0.5);
        }
        w.instance(1);
        w.int(1000);
        w.bytes(&[7; 70_000]);
        w.known(KnownType::PythonRange);
        (0..3).for_each(|at| w.int(at));
        w.texts(Seq::List, &[3, 0, 2]);
        w.texts_bytes(b"abcde");
        w.reduce(reduce::STATE);
        w.global();
        w.text(Text::Ascii(b"builtins"));
        w.text(Text::Ascii(b"list"));
        w.tuple(0);
        w.dict(1);
        w.complex(1.0, 2.0);
        w.set(0);
        w.floats_begin(Seq::Tuple, 2);
        w.floats(&[1.0, 2.0]);
        w.out
    }

    /// Asks for no more than is said to be there, as a reader of a pipe does; gives how often it asked.
    fn asked(whole: &[u8]) -> (Found, usize) {
        let (mut boundary, mut have, mut times) = (Boundary::default(), 0, 0);
        loop {
            match boundary.look(&whole[..have]).unwrap() {
                Found::AtLeast(least) => {
                    assert!(least > have && least <= whole.len(), "{have} {least}");
                    (have, times) = (least, times + 1);
                }
                end => return (end, times),
            }
        }
    }

    #[test]
    fn a_stream_is_never_asked_for_more_than_the_message_has() {
        let whole = message();
        let (end, times) = asked(&whole);
        assert_eq!(end, Found::End(whole.len()));
        assert!(times < 40, "{times}");
        for small in [&[tag::VERSION, 0][..], &[tag::VERSION_TRUSTED, tag::MARK, tag::NONE]] {
            assert_eq!(asked(small).0, Found::End(small.len()));
        }
    }

    #[test]
    fn what_follows_is_not_looked_at() {
        let mut bytes = message();
        let len = bytes.len();
        bytes.extend([0xFF; 100]);
        assert_eq!(Boundary::default().look(&bytes).unwrap(), Found::End(len));
    }

    #[test]
    fn a_byte_at_a_time() {
        let whole = message();
        let mut boundary = Boundary::default();
        for have in 0..whole.len() {
            match boundary.look(&whole[..have]).unwrap() {
                Found::AtLeast(least) => assert!(least > have && least <= whole.len()),
                Found::End(end) => panic!("ends at {end} of {}", whole.len()),
            }
        }
        assert_eq!(boundary.look(&whole).unwrap(), Found::End(whole.len()));
    }

    #[test]
    fn bytes_that_are_no_message() {
        for bytes in [&b"\x80\x04."[..], b"HOLD", &[tag::VERSION, tag::INSTANCE_FIX], &[tag::VERSION, tag::RESERVED]] {
            assert!(Boundary::default().look(bytes).is_err(), "{bytes:?}");
        }
        // A length that nothing can be: as many bytes are asked for, and nothing is allocated.
        let huge = [tag::VERSION, tag::BYTES, 0xFE, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0x7F];
        assert!(matches!(Boundary::default().look(&huge).unwrap(), Found::AtLeast(least) if least > 1 << 62));
    }
}

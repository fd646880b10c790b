//! What a host that reads asks of a format: [`Reader`] has what all formats have, the other traits one capability each.
//!
//! A capability is a value that a format has or does not have: code for all formats asks for it, and can call nothing else.

use super::{Dimensions, Leaf, LispNumbers, Name, Offsets, Path, Shape, Token};
use crate::error::Result;
use crate::memory::Vec;
use std::sync::Arc;

/// Turns bytes into tokens. Borrows from the input and allocates nothing.
pub trait Reader<'i> {
    /// Whether a dict with the same key twice is an error; else the last of them counts.
    const UNIQUE_KEYS: bool;
    /// As [`Writer::KEYS_ARE_TEXT`](super::Writer::KEYS_ARE_TEXT): other keys are stored as their text.
    const KEYS_ARE_TEXT: bool;
    /// As [`TimestampWriter::NAIVE_IS_UTC`](super::TimestampWriter::NAIVE_IS_UTC): a point in time may have been a moment without a
    /// zone.
    const NAIVE_IS_UTC: bool;
    /// Whether a name stands before every value, in lists too: [`Reader::start`] says where the value begins.
    const VALUES_ARE_NAMED: bool;
    /// Whether types are told apart; else text, lists and dicts may stand for others.
    const TYPES: bool;
    /// Whether the token of every list and dict says how many values it has, and all of them follow.
    const COUNTS: bool;
    /// Where a reader is, to go back to.
    type Place: Copy;
    /// Capabilities of the format, each [`Never`](super::Never) where it lacks it. The function of the same name gives what they are
    /// called on.
    type Shapes: ShapeReader<'i>;
    type Extents: ExtentReader;
    type Typed: TypedReader<'i, Self::Place>;
    type Indexed: IndexedReader<'i, Self::Place>;

    fn next(&mut self) -> Result<Token<'i>>;

    /// As [`Reader::next`], which is compiled into each place that calls it. This one is compiled once a format, for what isn't
    /// done for every value of a message: a nanosecond a call, and a fifth of the build.
    #[inline(never)]
    fn token(&mut self) -> Result<Token<'i>> {
        self.next()
    }

    /// Says that the next value is a dict's key: some formats have keys of a form of their own.
    #[inline(always)]
    fn key(&mut self) {}

    /// The next token, if it is one of the small ones; `None` leaves it to [`Reader::next`].
    fn leaf(&mut self) -> Result<Option<Leaf<'i>>>;

    /// The bytes of an ASCII text as a key in its shortest form, for [`Reader::accept`]; none where it can't be a key.
    fn encoded(text: &[u8]) -> Vec<u8>;

    /// Goes on behind the key `encoded` and says yes, if that comes next: one comparison instead of a token.
    fn accept(&mut self, encoded: &[u8]) -> bool;

    /// Goes on behind the mark of a value that gets an id and says yes, if that comes next. A reader may leave it to [`Reader::next`].
    #[inline(always)]
    fn mark(&mut self) -> bool {
        false
    }

    /// Bytes from the start of the input to the next token.
    fn offset(&self) -> usize;
    /// The same to the next value itself (or the key, once [`Reader::key`] was called), where something stands before it.
    #[inline(always)]
    fn start(&self) -> usize {
        self.offset()
    }
    /// Bytes that are left. Every value takes at least one: what claims more than that is refused before it costs.
    fn remaining(&self) -> usize;
    /// The bytes that are left, where a value's own bytes are a message of their own.
    fn rest(&self) -> Option<&'i [u8]> {
        None
    }
    fn place(&self) -> Self::Place;
    /// Goes back to a [`Reader::place`] of before.
    fn rewind(&mut self, place: Self::Place);
    /// Checks that nothing is left.
    fn finish(&self) -> Result<()>;

    /// Whether one more outermost value follows, of formats that may have several.
    fn another(&mut self) -> Result<bool> {
        Ok(false)
    }

    /// Skips a whole value, where that needs no knowledge of what was before it (no shapes, no numbers); says no where
    /// it does.
    fn skip(&mut self) -> Result<bool> {
        Ok(false)
    }

    /// Whether the message is of the kind that may name code.
    fn trusted(&self) -> bool {
        false
    }

    #[inline(always)]
    fn extents(&self) -> Option<&Self::Extents> {
        None
    }
    #[inline(always)]
    fn typed(&self) -> Option<&Self::Typed> {
        None
    }
    #[inline(always)]
    fn indexed(&self) -> Option<&Self::Indexed> {
        None
    }
}

/// Shapes: mirror of [`ShapeWriter`](super::ShapeWriter).
pub trait ShapeReader<'i> {
    /// The names of a shape, one after the other.
    fn names(shape: &Shape<'i>) -> impl Iterator<Item = Result<Name<'i>>>;
}

/// Lists and dicts that say where they end, not how many values they have: [`Token::Items`] and [`Token::Members`].
pub trait ExtentReader {
    /// How many values, or pairs, are left up to that offset.
    fn count(&self, end: usize) -> Result<usize>;
}

/// Typed values: mirror of [`TypedWriter`](super::TypedWriter). `P` is the reader's [`Reader::Place`].
pub trait TypedReader<'i, P> {
    /// Where the values stand that are referred to, in the order of their numbers, from 1 on.
    fn back_references(&self) -> Result<Vec<P>>;
    /// Where the description of the type of that number stands.
    fn type_place(&self, class: usize) -> P;
    fn dimensions(dimensions: Dimensions<'i>) -> impl Iterator<Item = Result<usize>>;
    fn path(path: Path<'i>) -> impl Iterator<Item = Result<&'i [u8]>>;
}

/// An index of a message, which a reader has that begins anywhere in it: what stands before and behind. [`Reader::leaf`] leaves
/// references to [`Reader::next`] then. `P` is the reader's [`Reader::Place`].
pub trait IndexedReader<'i, P> {
    /// How many objects and shapes were numbered before this place.
    fn counts(&self) -> Result<(u64, u64)>;
    /// Where the value of the object of that number begins.
    fn place_of(&self, number: u64) -> Result<P>;
    /// The shape of that number, and how many objects were numbered before its names.
    fn shape_of(&self, number: usize) -> Result<(Shape<'i>, u64)>;
}

/// Values of Common Lisp: mirror of [`LispWriter`](super::LispWriter).
pub trait LispReader<'i>: Reader<'i> {
    /// Steps over what may stand between outermost values. `false`: no other follows.
    fn more(&mut self) -> Result<bool>;
    /// Takes up to `most` numbers that follow each other in the same form, if there are several.
    fn numbers(&mut self, most: usize) -> Option<LispNumbers<'i>>;
    /// Walks over the whole message, with 24 bytes for each value that is open: where the first car begins of conses that don't
    /// end in NIL.
    fn improper(&self) -> Result<Arc<Offsets>>;
    /// Where the description of that number begins, of a message that is read in parts.
    fn info_place(&self, number: u64) -> Option<Self::Place>;
    fn dimensions(dimensions: Dimensions<'i>) -> impl Iterator<Item = Result<usize>>;
}

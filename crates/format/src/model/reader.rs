//! What a format is asked for by a host that reads: the next token, and what stands around it.

use super::{Dimensions, Leaf, Name, Path, Shape, Token, UNTAGGED};
use crate::error::Result;
use crate::memory::Vec;

const WHOLE: &str = "a reader that begins at the message's start";

/// Turns bytes into tokens. Borrows from the input and allocates nothing.
pub trait Reader<'i> {
    /// Whether a dict with the same key twice is an error; else the last of them counts.
    const UNIQUE_KEYS: bool;
    /// As [`Writer::TYPES`](super::Writer::TYPES): whether types are told apart; else text, lists and dicts may stand
    /// for others.
    const TYPES: bool;
    /// As [`Writer::TEXT_KEYS`](super::Writer::TEXT_KEYS): other keys are stored as their text.
    const TEXT_KEYS: bool;
    /// Where a reader is, to go back to.
    type Place: Copy;

    fn next(&mut self) -> Result<Token<'i>>;

    /// Says that the next value is a dict's key: some formats have keys of a form of their own.
    #[inline(always)]
    fn key(&mut self) {}

    /// The next token, if it is one of the small ones; `None` leaves it to [`Reader::next`].
    fn leaf(&mut self) -> Result<Option<Leaf<'i>>>;

    /// The names of a shape, one after the other.
    fn names(&self, _shape: &Shape<'i>) -> impl Iterator<Item = Result<Name<'i>>> {
        std::iter::empty()
    }

    /// The bytes of an ASCII text as a key in its shortest form, for [`Reader::accept`]; none where it can't be a key.
    fn encoded(text: &[u8]) -> Vec<u8>;

    /// Goes on behind the key `encoded` and says yes, if that comes next: one comparison instead of a token.
    fn accept(&mut self, encoded: &[u8]) -> bool;

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

    /// How many values of [`Token::Items`], or pairs of [`Token::Members`], are left up to that offset.
    fn count(&self, _end: usize) -> Result<usize> {
        unreachable!("a format whose lists say how long they are")
    }

    /// Whether there are [`Token::TypedValue`], and values that stand apart, to be referred to by number from 1 on.
    const TYPED_VALUES: bool = false;

    /// Where the values stand that are referred to, in the order of their numbers.
    fn back_references(&mut self) -> Result<Vec<Self::Place>> {
        Ok(Vec::new())
    }

    /// Where the description of the type of that number stands.
    fn type_place(&self, _class: usize) -> Self::Place {
        unreachable!("{UNTAGGED}")
    }

    fn dimensions(_dimensions: Dimensions<'i>) -> impl Iterator<Item = Result<usize>> {
        std::iter::empty()
    }

    fn path(_path: Path<'i>) -> impl Iterator<Item = Result<&'i [u8]>> {
        std::iter::empty()
    }

    /// Whether it may begin anywhere in a message: [`Reader::counts`], [`Reader::place_of`] and [`Reader::shape_of`]
    /// know what stands before and behind, and [`Reader::leaf`] leaves references to [`Reader::next`].
    const PARTIAL: bool = false;

    /// How many objects and shapes were numbered before this place.
    fn counts(&self) -> Result<(u64, u64)> {
        unreachable!("{WHOLE}")
    }

    /// Where the value of the object of that number begins.
    fn place_of(&self, _number: u64) -> Result<Self::Place> {
        unreachable!("{WHOLE}")
    }

    /// The shape of that number, and how many objects were numbered before its names.
    fn shape_of(&self, _number: usize) -> Result<(Shape<'i>, u64)> {
        unreachable!("{WHOLE}")
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
}

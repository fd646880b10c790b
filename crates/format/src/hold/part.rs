//! A part of a message: [`super::Reader`], begun anywhere, with an index for what stands elsewhere.

use super::index::Index;
use super::Reader;
use crate::error::Result;
use crate::memory::Vec;
use crate::model::{self, Never, Reader as _, Shape, Token};

/// Reads values from anywhere in a message.
#[derive(Debug, Clone)]
pub struct PartialReader<'i> {
    r: Reader<'i>,
    message: &'i [u8],
    index: &'i Index,
}

impl<'i> PartialReader<'i> {
    /// Begins with the value at `at`. A trusted message is refused, unless `trust`.
    pub fn new(message: &'i [u8], index: &'i Index, at: usize, trust: bool) -> Result<Self> {
        let whole = Reader::new(message, trust)?;
        Ok(PartialReader { r: Reader::from(message, at, whole.trusted()), message, index })
    }
}

/// Of a run of bools or texts that stands there: how many items it has, and where its block begins, which is not looked at.
pub fn run_at(message: &[u8], at: usize) -> Option<(usize, usize)> {
    Reader::from(message, at, false).run_head()
}

impl<'i> model::Reader<'i> for PartialReader<'i> {
    const UNIQUE_KEYS: bool = true;
    const KEYS_ARE_TEXT: bool = false;
    const NAIVE_IS_UTC: bool = false;
    const VALUES_ARE_NAMED: bool = false;
    const TYPES: bool = true;
    type Place = usize;
    type Shapes = Reader<'i>;
    type Extents = Never;
    type Typed = Never;
    type Indexed = Self;

    #[inline]
    fn next(&mut self) -> Result<Token<'i>> {
        self.r.next()
    }

    #[inline(always)]
    fn leaf(&mut self) -> Result<Option<model::Leaf<'i>>> {
        let before = self.r.place();
        match self.r.leaf()? {
            // What is referred to may have to be read first.
            Some(model::Leaf::Reference(_)) => {
                self.r.rewind(before);
                Ok(None)
            }
            leaf => Ok(leaf),
        }
    }

    fn encoded(text: &[u8]) -> Vec<u8> {
        Reader::encoded(text)
    }

    #[inline(always)]
    fn accept(&mut self, encoded: &[u8]) -> bool {
        self.r.accept(encoded)
    }

    #[inline(always)]
    fn offset(&self) -> usize {
        self.r.offset()
    }

    #[inline(always)]
    fn remaining(&self) -> usize {
        self.r.remaining()
    }

    #[inline(always)]
    fn place(&self) -> usize {
        self.r.place()
    }

    #[inline(always)]
    fn rewind(&mut self, place: usize) {
        self.r.rewind(place);
    }

    /// What follows is not its own.
    fn finish(&self) -> Result<()> {
        Ok(())
    }

    fn trusted(&self) -> bool {
        self.r.trusted()
    }

    #[inline(always)]
    fn indexed(&self) -> Option<&Self::Indexed> {
        Some(self)
    }
}

impl<'i> model::IndexedReader<'i, usize> for PartialReader<'i> {
    fn counts(&self) -> Result<(u64, u64)> {
        self.index.counts(self.message, self.r.offset())
    }

    fn place_of(&self, number: u64) -> Result<usize> {
        self.index.place_of(self.message, number)
    }

    fn shape_of(&self, number: usize) -> Result<(Shape<'i>, u64)> {
        self.index.shape(self.message, number)
    }
}

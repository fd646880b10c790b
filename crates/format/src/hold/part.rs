//! Reading a part of a message: [`super::Reader`], starting anywhere, with an index for what is elsewhere.

use super::index::Index;
use super::Reader;
use crate::error::Result;
use crate::memory::Vec;
use crate::model::{self, Reader as _, Shape, Token};

/// Reads values anywhere in a message.
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

/// For a run of bools or texts at `at`: the number of its items, and the offset of its block, which is not checked.
pub fn run_at(message: &[u8], at: usize) -> Option<(usize, usize)> {
    Reader::from(message, at, false).run_head()
}

impl<'i> model::Reader<'i> for PartialReader<'i> {
    const UNIQUE_KEYS: bool = true;
    const TYPES: bool = true;
    const TEXT_KEYS: bool = false;
    const PARTIAL: bool = true;
    type Place = usize;

    #[inline(always)]
    fn next(&mut self) -> Result<Token<'i>> {
        self.r.next()
    }

    #[inline(always)]
    fn leaf(&mut self) -> Result<Option<model::Leaf<'i>>> {
        let before = self.r.place();
        match self.r.leaf()? {
            // The object may have to be read first.
            Some(model::Leaf::Reference(_)) => {
                self.r.rewind(before);
                Ok(None)
            }
            leaf => Ok(leaf),
        }
    }

    fn names(&self, shape: &Shape<'i>) -> impl Iterator<Item = Result<model::Name<'i>>> {
        self.r.names(shape)
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

    /// What follows belongs to other values.
    fn finish(&self) -> Result<()> {
        Ok(())
    }

    fn trusted(&self) -> bool {
        self.r.trusted()
    }

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

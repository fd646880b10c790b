//! A part of a message: [`super::Reader`], begun anywhere, with an index for what stands elsewhere.

use super::index::Index;
use super::window::Window;
use super::Reader;
use crate::error::Result;
use crate::memory::Vec;
use crate::model::{self, Never, Reader as _, Shape, Token};

/// Reads values from anywhere in a message.
#[derive(Debug, Clone)]
pub struct PartialReader<'i> {
    r: Window<'i, 'i>,
    message: &'i [u8],
    index: &'i Index,
}

impl<'i> PartialReader<'i> {
    /// Begins with the value at `at`. A trusted message is refused, unless `trust`.
    pub fn new(message: &'i [u8], index: &'i Index, at: usize, trust: bool) -> Result<Self> {
        let whole = Reader::new(message, trust)?;
        Ok(PartialReader { r: Window::new(message, &index.at_hand, at, whole.trusted()), message, index })
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
    const COUNTS: bool = true;
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
        let before = self.r.offset();
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
        self.r.offset()
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

#[cfg(test)]
mod tests {
    use super::super::window::{AtHand, Present};
    use super::super::writer;
    use super::*;
    use crate::error::{Error, ErrorKind};
    use crate::model::{Text, Writer as _};
    use std::sync::Arc;
    use std::vec;
    use std::vec::Vec;

    fn message() -> Vec<u8> {
        let mut w = writer::Writer::new(Vec::new(), false);
        w.list(3000);
        for number in 0..3000u32 {
            w.list(2);
            w.int(i64::from(number));
            w.text(Text::Ascii(&vec![b'a'; 20 + number as usize % 70]));
        }
        w.out
    }

    /// What a walk of a message needs is asked for, until it is there; what it doesn't need stays away.
    #[test]
    fn what_is_not_there_is_asked_for() {
        let message = message();
        let whole = Index::scan(&message).unwrap();
        for value in [0, 1, 7, 1500, 2999] {
            let at = whole.value(&message, 1, 4, value).unwrap().unwrap();
            let present = Arc::new(Present::default());
            let mut index = whole.clone();
            index.at_hand = AtHand(Some(present.clone()));
            // What is away reads as anything but what it is.
            let mut sparse = vec![0x7F; message.len()];
            sparse[0] = message[0];
            let mut asked = 0;
            let found = loop {
                let ask = || {
                    let at = index.value(&sparse, 1, 4, value).unwrap()?;
                    let mut r = PartialReader::new(&sparse, &index, at, true)?;
                    let (list, number, text) = (r.next()?, r.next()?, r.next()?);
                    Ok::<_, Error>((at, std::format!("{list:?} {number:?} {text:?}")))
                };
                match ask() {
                    Ok(found) => break found,
                    Err(error) => {
                        assert!(matches!(error.kind(), ErrorKind::Truncated { .. }), "{error}");
                        let wanted = present.take_wanted().unwrap();
                        assert!(wanted.start < wanted.end && present.end(wanted.start) == wanted.start);
                        sparse[wanted.clone()].copy_from_slice(&message[wanted.clone()]);
                        present.add(wanted);
                        asked += 1;
                    }
                }
            };
            let mut r = PartialReader::new(&message, &whole, at, true).unwrap();
            let (list, number, text) = (r.next().unwrap(), r.next().unwrap(), r.next().unwrap());
            assert_eq!(found, (at, std::format!("{list:?} {number:?} {text:?}")));
            assert!(asked > 0 && sparse.iter().filter(|&&byte| byte != 0x7F).count() < 3 * 4096);
        }
    }

    #[test]
    fn a_message_cut_short_is_not_asked_for() {
        let mut message = message();
        let present = Arc::new(Present::default());
        message.truncate(5000);
        present.add(0..5000);
        let mut index = Index::default();
        index.at_hand = AtHand(Some(present.clone()));
        let mut r = PartialReader::new(&message, &index, 1, true).unwrap();
        let error = std::iter::repeat_with(|| r.next()).find_map(Result::err).unwrap();
        assert!(matches!(error.kind(), ErrorKind::Truncated { .. }));
        assert_eq!(present.take_wanted(), None);
    }
}

//! Shared windows of a log: records refer to names that earlier records have introduced.

use crate::budget::Allowance;
use crate::cpython::Owned;
use crate::decode::dialect::Dialect;
use crate::decode::few::Before;
use crate::decode::{Decoder, Numbered};
use crate::error::Result;
use crate::memory::Vec;
use crate::shapes::Shape;
use holdall_format::hold::log::NamesReader;
use holdall_format::Token;
use std::rc::Rc;

/// The texts and shapes that the records of a shared window have named so far, in the order of their ids.
#[derive(Default)]
pub struct SharedWindow {
    texts: Vec<Numbered>,
    shapes: Vec<Rc<Shape>>,
}

// SAFETY: it belongs to a Python object, and is used and dropped only with the GIL held, as its content requires.
unsafe impl Send for SharedWindow {}
// SAFETY: as for `Send`; the GIL makes other threads wait.
unsafe impl Sync for SharedWindow {}

impl SharedWindow {
    /// The number of names.
    pub fn named(&self) -> u64 {
        (self.texts.len() + self.shapes.len()) as u64
    }

    pub fn texts(&self) -> u64 {
        self.texts.len() as u64
    }

    pub fn shapes(&self) -> u64 {
        self.shapes.len() as u64
    }

    /// For who reads a record without a decoder.
    pub fn before(&self) -> Before<'_> {
        Before { texts: &self.texts, shapes: &self.shapes }
    }

    /// Drops all names but the first ones.
    pub fn cut(&mut self, texts: u64, shapes: u64) {
        self.texts.truncate(texts as usize);
        self.shapes.truncate(shapes as usize);
    }

    pub fn clear(&mut self) {
        self.texts.clear();
        self.shapes.clear();
    }
}

impl<'i, D: Dialect<'i>> Decoder<'i, D> {
    /// Builds a record. The names that it introduces are not kept here: the frame after it has them once more.
    pub fn log_record(&mut self, window: &mut SharedWindow, allowance: &mut Allowance) -> Result<Owned> {
        self.begin_allowance(allowance);
        self.tables.numbered = std::mem::take(&mut window.texts);
        self.tables.shapes = std::mem::take(&mut window.shapes);
        let (texts, shapes) = (self.tables.numbered.len(), self.tables.shapes.len());
        let made = crate::error::guarded(|| self.message());
        self.end_allowance(allowance);
        self.tables.numbered.truncate(texts);
        self.tables.shapes.truncate(shapes);
        window.texts = std::mem::take(&mut self.tables.numbered);
        window.shapes = std::mem::take(&mut self.tables.shapes);
        made
    }

    /// Adds the names of a record.
    pub fn learn_names(&mut self, window: &mut SharedWindow, names: &mut NamesReader<'i>) -> Result<()> {
        self.tables.numbered = std::mem::take(&mut window.texts);
        self.tables.shapes = std::mem::take(&mut window.shapes);
        self.learns = true;
        let learnt = crate::error::guarded(|| self.names(names));
        window.texts = std::mem::take(&mut self.tables.numbered);
        window.shapes = std::mem::take(&mut self.tables.shapes);
        learnt
    }

    fn names(&mut self, names: &mut NamesReader<'i>) -> Result<()> {
        while let Some(token) = names.token()? {
            crate::memory::check();
            match token {
                Token::Text(bytes) => {
                    let text = self.string_of(bytes)?;
                    self.tables.numbered.push(Numbered::whole(text));
                }
                Token::NewShape(shape) => {
                    self.shape(&shape)?;
                }
                _ => {}
            }
        }
        Ok(())
    }
}

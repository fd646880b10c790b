//! A walk over values that builds none: where objects with an id stand, and which conses are no proper list.

use super::reader::Head;
use super::Reader;
use crate::error::{Error, ErrorKind, Result};
use crate::memory::Vec;
use crate::model::{Leaf, LispNumbers, LispReader as _, LispValue, Offsets, Reader as _, Token};
use std::sync::Arc;

const NO_INFO: &str = "expected the description of an object, found another value";
const NO_SYMBOL: &str = "expected a symbol, found another value";

/// Of so many values or more, runs of numbers are stepped over at once.
const LEAST_RUN: u64 = 16;

/// What a message is made of.
#[derive(Debug, Default)]
pub struct Structure {
    /// Where the first car begins of conses that don't end in NIL.
    improper: Arc<Offsets>,
    /// Where the values with an id begin, in the order of their ids, from 1 on.
    places: Vec<usize>,
    /// Where the descriptions of objects begin, in their order, from 1 on.
    infos: Vec<usize>,
    /// Where outermost values begin.
    roots: Vec<usize>,
}

impl Structure {
    /// Walks over all values of `input`, with 24 bytes for each that is open.
    pub fn of(input: &[u8]) -> Result<Structure> {
        let notes = Structure { improper: Arc::new(Offsets::none(input.len())), ..Structure::default() };
        let mut walk = Walk { notes, reader: Reader::new(input), input, stack: Vec::new() };
        while walk.reader.more()? {
            walk.notes.roots.push(walk.reader.offset());
            walk.value()?;
        }
        Ok(walk.notes)
    }

    pub fn improper(&self) -> Arc<Offsets> {
        self.improper.clone()
    }

    /// Whether the conses whose first car begins there end in something else than NIL.
    pub fn is_improper(&self, car: usize) -> bool {
        self.improper.contains(car)
    }

    pub fn roots(&self) -> &[usize] {
        &self.roots
    }

    /// The id of the value that begins there, if it has one.
    pub fn id_at(&self, at: usize) -> Option<u64> {
        self.places.as_slice().binary_search(&at).ok().map(|index| index as u64 + 1)
    }

    /// How many ids were given out before `at`.
    pub fn ids_before(&self, at: usize) -> usize {
        self.places.as_slice().partition_point(|&place| place <= at)
    }

    pub fn place_of(&self, id: u64) -> Option<usize> {
        usize::try_from(id).ok()?.checked_sub(1).and_then(|index| self.places.get(index)).copied()
    }

    /// Where the description of that number begins.
    pub fn info_place(&self, number: u64) -> Option<usize> {
        usize::try_from(number).ok()?.checked_sub(1).and_then(|index| self.infos.get(index)).copied()
    }

    /// The offset after the value that begins at `at`.
    pub fn end(&self, input: &[u8], at: usize) -> Result<usize> {
        let mut walk = Walk { notes: self, reader: Reader::from(input, at), input, stack: Vec::new() };
        walk.value()?;
        Ok(walk.reader.offset())
    }

    /// How many slots an object has whose code ends at `at`, and where their values begin.
    pub fn slots(&self, input: &[u8], at: usize) -> Result<(u64, usize)> {
        let mut walk = Walk { notes: self, reader: Reader::from(input, at), input, stack: Vec::new() };
        let slots = walk.description()?;
        Ok((slots, walk.reader.offset()))
    }
}

/// What a walk notes, and looks up.
trait Notes {
    fn assigned(&mut self, place: usize);
    fn improper(&mut self, car: usize);
    fn info(&mut self, place: usize);
    fn known(&self) -> &Structure;
}

impl Notes for Structure {
    fn assigned(&mut self, place: usize) {
        self.places.push(place);
    }

    fn improper(&mut self, car: usize) {
        if let Some(improper) = Arc::get_mut(&mut self.improper) {
            improper.insert(car);
        }
    }

    fn info(&mut self, place: usize) {
        self.infos.push(place);
    }

    fn known(&self) -> &Structure {
        self
    }
}

/// A second walk over what is known.
impl Notes for &Structure {
    fn assigned(&mut self, _: usize) {}

    fn improper(&mut self, _: usize) {}

    fn info(&mut self, _: usize) {}

    fn known(&self) -> &Structure {
        self
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    Values,
    /// Conses: the last value is their last cdr.
    List,
    /// The same, one by one: more of them may follow in place of the last cdr.
    Conses,
}

/// A container that is not at its end.
#[derive(Debug, Clone, Copy)]
struct Open {
    left: u64,
    /// Where its first value begins.
    start: usize,
    kind: Kind,
}

struct Walk<'i, N> {
    notes: N,
    reader: Reader<'i>,
    input: &'i [u8],
    stack: Vec<Open>,
}

impl<'i, N: Notes> Walk<'i, N> {
    /// Steps over one value.
    fn value(&mut self) -> Result<()> {
        self.one()?;
        while let Some(&Open { left, start, kind }) = self.stack.last() {
            let mut left = left;
            if left >= LEAST_RUN {
                left -= self.run(left - 1);
            }
            if left == 1 && kind != Kind::Values && self.last_cdr(kind, start)? {
                left = 2;
            }
            match left {
                0 => {
                    self.stack.pop();
                }
                _ => {
                    if let Some(open) = self.stack.last_mut() {
                        open.left = left - 1;
                    }
                    self.one()?;
                }
            }
        }
        Ok(())
    }

    /// Before the last cdr of conses: whether it is one more of them, over whose code it steps.
    fn last_cdr(&mut self, kind: Kind, start: usize) -> Result<bool> {
        let before = self.reader.place();
        match self.reader.leaf()? {
            Some(Leaf::None) => {}
            Some(_) => self.notes.improper(start),
            None => match self.reader.token()? {
                Token::LispValue(LispValue::Cons) if kind == Kind::Conses => return Ok(true),
                Token::AssignId if matches!(self.reader.leaf()?, Some(Leaf::None)) => {}
                _ => self.notes.improper(start),
            },
        }
        self.reader.rewind(before);
        Ok(false)
    }

    fn run(&mut self, most: u64) -> u64 {
        match self.reader.numbers(usize::try_from(most).unwrap_or(usize::MAX)) {
            Some(LispNumbers::Small(run, _, _)) => run.len() as u64,
            Some(LispNumbers::Ints(run) | LispNumbers::Floats(run)) => run.len() as u64,
            None => 0,
        }
    }

    /// Steps over a leaf, or begins what holds other values.
    #[inline(always)]
    fn one(&mut self) -> Result<()> {
        loop {
            let (left, kind) = match self.reader.head() {
                Some(Head::AssignId) => {
                    self.notes.assigned(self.reader.offset());
                    continue;
                }
                Some(Head::Cons) => (2, Kind::Conses),
                Some(Head::List(len)) => (u64::from(len) + 1, Kind::List),
                None if self.reader.leaf()?.is_some() => return Ok(()),
                None => self.other()?,
            };
            if left > 0 {
                self.stack.push(Open { left, start: self.reader.offset(), kind });
            }
            return Ok(());
        }
    }

    /// Steps over the code of any other value: how many values follow.
    #[inline(never)]
    fn other(&mut self) -> Result<(u64, Kind)> {
        let start = self.reader.offset();
        Ok(match self.reader.token()? {
            Token::LispValue(value @ LispValue::List(_)) => (value.values(), Kind::List),
            Token::LispValue(LispValue::Object) => (self.description()?, Kind::Values),
            Token::LispValue(value @ LispValue::Info { .. }) => {
                self.notes.info(start);
                (value.values(), Kind::Values)
            }
            token => (token.values(), Kind::Values),
        })
    }

    /// Steps over what describes an object: how many values follow.
    fn description(&mut self) -> Result<u64> {
        let at = self.reader.offset();
        let mut place = at;
        let described = match self.reader.token()? {
            Token::AssignId => {
                place = self.reader.offset();
                self.notes.assigned(place);
                self.reader.token()?
            }
            token => token,
        };
        let place = match described {
            Token::LispValue(value @ LispValue::Info { slots }) => {
                self.notes.info(place);
                for _ in 0..value.values() {
                    self.symbol()?;
                }
                return Ok(slots as u64);
            }
            Token::LispValue(LispValue::KnownInfo(number)) => self.notes.known().info_place(number),
            Token::Reference(id) => self.notes.known().place_of(id),
            _ => None,
        };
        let info = place.map(|place| Reader::from(self.input, place).token()).transpose()?;
        match info {
            Some(Token::LispValue(LispValue::Info { slots })) => Ok(slots as u64),
            _ => Err(Error::new(ErrorKind::Malformed { why: NO_INFO }, at)),
        }
    }

    /// Steps over a symbol within a description. Nothing else may stand there: other values could be descriptions again, and
    /// each of them would take some of the stack.
    fn symbol(&mut self) -> Result<()> {
        let at = self.reader.offset();
        let is_symbol = match self.marked()? {
            Token::LispValue(LispValue::Symbol(_)) => matches!(self.marked()?, Token::Text(_) | Token::Reference(_)),
            Token::LispValue(LispValue::Uninterned(_)) | Token::Reference(_) | Token::None | Token::Bool(true) => true,
            _ => false,
        };
        match is_symbol {
            true => Ok(()),
            false => Err(Error::new(ErrorKind::Malformed { why: NO_SYMBOL }, at)),
        }
    }

    /// The next token, which may have an id.
    fn marked(&mut self) -> Result<Token<'i>> {
        let token = self.reader.token()?;
        if let Token::AssignId = token {
            self.notes.assigned(self.reader.offset());
            return self.reader.token();
        }
        Ok(token)
    }
}

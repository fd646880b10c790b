//! Common Lisp's values: what describes objects, and lists up to their last cdr.

use super::super::text::{self, shortened};
use super::{frame, kind_of, Error, ErrorKind, Members, Met, Numbered, OpenValue, Result, Row, Told, ValueKind, Walk};
use super::{MOST_FIELDS, MOST_PARTS};
use crate::lisp::tag::ELEMENTS;
use crate::memory::{HashMap, Vec};
use crate::model::{Dimensions, Element, Leaf, LispReader as _, LispValue, Reader, Token};

const NO_INFO: &str = "expected the description of an object, found another value";
/// Test, rehash threshold, rehash size, synchronized, weakness.
const HEADER_OF_TABLE: u64 = 5;

/// A type of objects, in the order in which the types are described: the same as that of the rows.
#[derive(Debug, Default)]
pub(super) struct LispTypes {
    types: Vec<LispType>,
    /// Their places here, by their numbers.
    by_number: HashMap<u64, usize>,
}

#[derive(Debug)]
struct LispType {
    name: String,
    /// Those that are told.
    slots: Vec<String>,
    slot_count: usize,
}

impl<'i, R: Reader<'i>> Walk<'i, R> {
    pub(super) fn lisp(&mut self, value: LispValue<'i>, met: Met) -> Result<()> {
        let token = Token::LispValue(value);
        let kind = kind_of(&token);
        match value {
            LispValue::List(len) => {
                let new = OpenValue { left: len as u64, has_end: true, ..frame(met, kind) };
                self.open_frame(met, Told::default(), new);
            }
            LispValue::Symbol(name) => {
                self.absorb(1, false)?;
                let value = met.shown.then(|| shortened(name));
                self.leaf(met, kind, Told { value, ..Told::default() });
            }
            LispValue::Object => {
                let class = self.lisp_description()?;
                let left = self.lisp.types.get(class).map_or(0, |known| known.slot_count) as u64;
                let new = OpenValue { left, class: class as u32 + 1, members: Members::Fields, ..frame(met, kind) };
                self.open_frame(met, Told::default(), new);
            }
            LispValue::Info { slots } => {
                self.lisp_type(slots, met.number)?;
                self.leaf(met, kind, Told::default());
            }
            LispValue::HashTable { count, .. } => {
                self.absorb(HEADER_OF_TABLE, false)?;
                self.open(met, kind, 2 * count as u64, Members::Pairs);
            }
            LispValue::Vector { element, len, .. } => {
                let name = met.shown.then(|| named(element, &[len.to_string()]));
                self.leaf(met, kind, Told { name, items: len as u64, ..Told::default() });
            }
            LispValue::Packed { element, dimensions, len, .. } => {
                let name = met.shown.then(|| named(element, &lengths(dimensions)));
                self.leaf(met, kind, Told { name, items: len as u64, ..Told::default() });
            }
            LispValue::Array(_) => {
                self.absorb(1, false)?;
                self.open(met, kind, value.values() - 1, Members::Items);
            }
            _ => match value.values() {
                0 => self.plain_leaf(&token, met),
                left => self.open(met, kind, left, Members::Items),
            },
        }
        Ok(())
    }

    /// After the cars of a list: whether NIL follows, which is a part of the list. Another cdr is one more member.
    pub(super) fn end_of_list(&mut self) -> Result<bool> {
        let before = self.r.place();
        if let Some(Leaf::None) = self.r.leaf()? {
            let end = self.r.offset();
            self.sums[ValueKind::List.index()].add(0, end.wrapping_sub(self.at));
            self.at = end;
            return Ok(true);
        }
        self.r.rewind(before);
        Ok(false)
    }

    /// Reads what describes an object: the place of its type.
    fn lisp_description(&mut self) -> Result<usize> {
        let at = self.r.offset();
        let mut number = None;
        let known = match self.r.token()? {
            Token::AssignId => {
                number = Some(self.numbers.len() as u64);
                self.add_number(Numbered::Value(self.r.place()));
                match self.r.token()? {
                    Token::LispValue(LispValue::Info { slots }) => Some(self.lisp_type(slots, number)?),
                    _ => None,
                }
            }
            Token::LispValue(LispValue::Info { slots }) => Some(self.lisp_type(slots, number)?),
            Token::LispValue(LispValue::KnownInfo(known)) => usize::try_from(known).ok().and_then(|n| n.checked_sub(1)),
            Token::Reference(number) => {
                self.refer(number)?;
                self.lisp.by_number.get(&number).copied()
            }
            _ => None,
        };
        let bad = || Error::new(ErrorKind::Malformed { why: NO_INFO }, at);
        known.filter(|&known| known < self.lisp.types.len()).ok_or_else(bad)
    }

    /// Reads a description: the place of the type.
    fn lisp_type(&mut self, slots: usize, number: Option<u64>) -> Result<usize> {
        let name = self.symbol_name()?;
        let mut told = Vec::new();
        for _ in 0..slots {
            let slot = self.symbol_name()?;
            if told.len() < MOST_FIELDS {
                told.push(slot);
            }
        }
        let place = self.lisp.types.len();
        self.lisp.types.push(LispType { name, slots: told, slot_count: slots });
        self.rows.push(Row::default());
        if let Some(number) = number {
            self.lisp.by_number.insert(number, place);
        }
        Ok(place)
    }

    /// Reads a symbol within a description.
    fn symbol_name(&mut self) -> Result<String> {
        let mut token = self.r.token()?;
        if let Token::AssignId = token {
            self.add_number(Numbered::Value(self.r.place()));
            token = self.r.token()?;
        }
        match token {
            Token::LispValue(LispValue::Symbol(name)) => {
                self.absorb(1, false)?;
                Ok(shortened(name))
            }
            Token::LispValue(LispValue::Uninterned(name)) => Ok(shortened(name)),
            Token::None => Ok("NIL".into()),
            Token::Bool(true) => Ok("T".into()),
            Token::Reference(number) => {
                self.refer(number)?;
                let place = usize::try_from(number).ok().and_then(|number| self.numbers.get(number)).copied();
                match place {
                    Some(Numbered::Value(place)) => match self.token_at(place) {
                        Some(Token::LispValue(LispValue::Symbol(name) | LispValue::Uninterned(name))) => {
                            Ok(shortened(name))
                        }
                        _ => Ok(String::new()),
                    },
                    _ => Ok(String::new()),
                }
            }
            _ => Err(Error::new(ErrorKind::Malformed { why: NO_INFO }, self.r.offset())),
        }
    }

    /// The name of the type of that row, and its slots.
    pub(super) fn lisp_class(&self, at: usize) -> Option<(&str, &[String], usize)> {
        let known = self.lisp.types.get(at)?;
        Some((&known.name, known.slots.as_slice(), known.slot_count))
    }
}

fn named(element: Element, lengths: &[String]) -> String {
    format!("{} {}", ELEMENTS[element as usize].name, text::dimensions(lengths))
}

/// The lengths of an array's dimensions, each an integer of its own.
fn lengths(dimensions: Dimensions<'_>) -> std::vec::Vec<String> {
    let lengths = crate::lisp::Reader::dimensions(dimensions).take(MOST_PARTS);
    lengths.map_while(Result::ok).map(|len| len.to_string()).collect()
}

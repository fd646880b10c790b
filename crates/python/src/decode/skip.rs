//! Skipping values that nobody asked for. Later references may still lead to objects in them; such an object is read
//! when it is asked for.

use super::{Decoder, Numbered, State, NO_ID};
use crate::budget;
use crate::budget::hash_cost::HashCost;
use crate::cpython::Owned;
use crate::decode::dialect::Dialect;
use crate::error::{decode, Result};
use crate::schema::{NodeId, ANY};
use crate::shapes::Shape;
use crate::types;
use crate::types::buffer::BufferToken;
use holdall_format::{Reader, Token};
use std::rc::Rc;

/// How deep skipped objects may refer to other skipped ones: each level takes some of the C stack.
const MOST_WITHIN: usize = 100;

/// A skipped object that has an id.
#[derive(Debug, Clone, Copy)]
pub struct Skipped<P> {
    /// Where its value begins, and how many shapes came before it.
    place: P,
    at: usize,
    shapes: usize,
}

/// The next object id and shape number while bytes are read again or out of order, and how deep that is nested.
#[derive(Debug, Clone, Copy)]
pub struct Again {
    pub(crate) number: usize,
    pub(crate) shape: usize,
    pub(crate) depth: usize,
}

impl<'i, D: Dialect<'i>> Decoder<'i, D> {
    /// Skips one value.
    pub(crate) fn skip(&mut self) -> Result<()> {
        if self.r.skip()? {
            return Ok(());
        }
        // The number of values to come. Each takes at least a byte, so the loop ends with the input at the latest.
        let mut pending: u64 = 1;
        while pending > 0 {
            pending -= 1;
            pending += self.skip_one()?;
        }
        Ok(())
    }

    /// Skips one token, and returns how many values belong to it.
    fn skip_one(&mut self) -> Result<u64> {
        let token = self.r.token()?;
        match &token {
            Token::AssignId => {
                let mut place = HashCost::default();
                // A value that is skipped again is in the list already.
                if self.elsewhere.again.is_none() {
                    place.values = self.elsewhere.skipped.len() as u32;
                    self.elsewhere.skipped.push(Skipped {
                        place: self.r.place(),
                        at: self.r.offset(),
                        shapes: self.tables.shapes.len(),
                    });
                }
                self.add_numbered(Numbered { object: None, hash_cost: place, state: State::Skipped, node: ANY });
            }
            Token::NewShape(new) => {
                self.shape(new)?;
            }
            Token::Instance(number) => {
                let shape = self.shape_of(*number)?;
                return Ok(shape.kind.values(shape.names.len()));
            }
            Token::Buffer { number, out_of_band } if self.elsewhere.ahead == 0 => {
                // Buffers come in order: the provider has to pass over this one too.
                let token = BufferToken { number: *number, out_of_band: *out_of_band, at: self.here() };
                self.of_lender(|py, lender, charge| types::buffer::pass(py, lender, charge, token))?
            }
            Token::LispValue(value) => return D::skipped(self, value),
            _ => {}
        }
        Ok(token.values())
    }

    /// The next object id, for a value that is read again and has that id already: a skipped object is built now, one
    /// that was built stays.
    ///
    /// The flag says whether to build it here.
    #[cold]
    pub(crate) fn renumbered(&mut self, entry: Numbered) -> (usize, bool) {
        let Some(again) = &mut self.elsewhere.again else { return (0, false) };
        let number = again.number;
        again.number += 1;
        if self.r.indexed().is_some() {
            return self.met_in_part(number as u64, entry);
        }
        match self.tables.numbered.get_mut(number) {
            Some(known) if known.state == State::Skipped && entry.state != State::Skipped => {
                *known = entry;
                (number, true)
            }
            _ => (number, false),
        }
    }

    /// The next shape, for a shape that is read again.
    #[cold]
    pub(crate) fn shape_again(&mut self) -> Result<Rc<Shape>> {
        let here = self.here();
        let Some(again) = &mut self.elsewhere.again else { return Err(decode("a layout out of place", here)) };
        if self.r.indexed().is_some() {
            let number = again.shape;
            again.shape += 1;
            let before = again.number;
            let shape = self.far_shape(number)?;
            if let Some(again) = &mut self.elsewhere.again {
                again.number = before + shape.numbers;
            }
            return Ok(shape);
        }
        let shape =
            self.tables.shapes.get(again.shape).cloned().ok_or_else(|| decode("a layout out of place", here))?;
        again.shape += 1;
        again.number += shape.numbers;
        Ok(shape)
    }

    /// An existing object, met again where its value is; `begin_id` has taken its id. Skips the value.
    pub(crate) fn take_again(&mut self) -> Result<Option<Owned>> {
        let object_id = self.take_id();
        // An enclosing frame may still be building it.
        let object = self.numbered(u64::from(object_id))?;
        let before = self.r.offset();
        self.skip()?;
        self.read_more_than_once(self.r.offset() - before)?;
        Ok(Some(object))
    }

    /// Charges bytes that are read again: the message decides what refers to what in fields that nobody wants.
    pub(crate) fn read_more_than_once(&mut self, bytes: usize) -> Result<()> {
        let units = bytes.div_ceil(budget::READ_FOR_A_UNIT);
        self.rules.work.charge(units, "the same bytes are read again and again", self.here())
    }

    /// Builds a skipped object for the node that asks for it first.
    #[cold]
    pub(crate) fn read_skipped(&mut self, number: usize, id: NodeId) -> Result<Owned> {
        let place = self.tables.numbered[number].hash_cost.values as usize;
        let Some(&Skipped { place, at, shapes }) = self.elsewhere.skipped.get(place) else {
            return Err(decode("an object out of place", self.here()));
        };
        let depth = self.elsewhere.again.map_or(0, |again| again.depth) + 1;
        if depth > MOST_WITHIN {
            return Err(decode(
                format_args!("objects of fields that are not wanted refer to each other deeper than {MOST_WITHIN}"),
                at,
            ));
        }
        let (before, back, object_id) = (self.elsewhere.again, self.r.place(), self.take_id());
        self.r.rewind(place);
        self.elsewhere.again = Some(Again { number: number + 1, shape: shapes, depth });
        self.tables.numbered[number] = Numbered::open();
        self.object_id = number as u32;
        let base = self.tables.stack.len();
        // What the frames below are owed does not follow at this place.
        let owed = std::mem::take(&mut self.bounds.owed);
        let made = match self.next_leaf(self.rules.node(id).accepts)? {
            Some(value) => {
                self.whole(number as u32, value.get());
                self.object_id = NO_ID;
                Some(value)
            }
            None => self.next_node(id)?,
        };
        let object = match made {
            Some(object) => object,
            None => self.run_down_to(base)?,
        };
        self.read_more_than_once(self.r.offset() - at)?;
        self.bounds.owed = owed;
        (self.elsewhere.again, self.object_id) = (before, object_id);
        self.r.rewind(back);
        Ok(object)
    }
}

//! Known types whose parts are leaves: made at once, without a frame that gathers them.

use super::frame::{hash_cost_of_known, Frame, Make};
use super::{Decoder, Numbered, State, NO_ID};
use crate::budget::hash_cost::HashCost;
use crate::cpython::Owned;
use crate::decode::dialect::Dialect;
use crate::error::Result;
use crate::schema::node::accepts;
use crate::types;
use holdall_format::model::KnownType;
use holdall_format::{Reader, Token};

/// Known types with more parts always gather them.
const MOST: usize = 3;

impl<'i, D: Dialect<'i>> Decoder<'i, D> {
    /// Makes an instance of a known type, or starts to gather its parts if one of them is no leaf.
    ///
    /// The frame and the list of parts took three times as long as making a date.
    pub(crate) fn of_parts(&mut self, known: KnownType) -> Result<Option<Owned>> {
        let len = known.values();
        self.claim(len, bytes_of(len))?;
        let (object_id, at, before, ids) = (self.take_id(), self.here(), self.r.place(), self.numbered.len());
        if let Some((made, hash_cost)) = self.of_leaves(known, at)? {
            self.object_id = object_id;
            self.add_hash_cost(hash_cost);
            return self.done(Some(made));
        }
        self.back_to(before, ids);
        Ok(self.push(Frame::gather(Make::Known(known), None, len, object_id, at)))
    }

    /// The zone of a datetime, if it is made of leaves or was met before; perhaps it gets an id. `None`: the caller goes
    /// [`Decoder::back_to`] where the zone begins.
    pub(crate) fn zone(&mut self, held: &mut HashCost) -> Result<Option<Owned>> {
        let mut object_id = NO_ID;
        let mut token = self.r.token()?;
        if matches!(token, Token::AssignId) && self.elsewhere.again.is_none() {
            object_id = self.numbered.len() as u32;
            self.numbered.push(Numbered::open());
            token = self.r.token()?;
        }
        let (made, hash_cost) = match token {
            // SAFETY: the datetime API was imported with this module; its UTC lives as long as the interpreter.
            Token::KnownType(KnownType::Utc) => unsafe {
                (Owned::borrowed(pyo3::ffi::PyDateTime_TimeZone_UTC()), HashCost::default())
            },
            Token::KnownType(known @ (KnownType::Timezone | KnownType::ZoneInfo)) => {
                let (at, len) = (self.here(), known.values());
                match self.of_leaves(known, at)? {
                    Some(made) => {
                        self.claim(0, bytes_of(len))?;
                        made
                    }
                    None => return Ok(None),
                }
            }
            _ => return Ok(None),
        };
        if object_id != NO_ID {
            self.numbered[object_id as usize].hash_cost = hash_cost;
            self.whole(object_id, made.get());
        }
        held.add(hash_cost);
        Ok(Some(made))
    }

    /// Goes back to where no more than `ids` objects had ids, after parts were read in vain.
    pub(crate) fn back_to(&mut self, place: <D::Reader as Reader<'i>>::Place, ids: usize) {
        self.r.rewind(place);
        if self.elsewhere.again.is_none() {
            self.numbered.truncate(ids);
        }
    }

    /// An instance of a known type, and what hashing it costs. `None`: one of its parts is no leaf.
    fn of_leaves(&mut self, known: KnownType, at: usize) -> Result<Option<(Owned, HashCost)>> {
        let (len, mut held) = (known.values(), HashCost::default());
        if len > MOST {
            return Ok(None);
        }
        // A zone within a time finds the buffer taken, and has one of its own.
        let mut parts = std::mem::take(&mut self.leaves);
        while parts.len() < len {
            match self.known_part(known, &mut held)? {
                Some(part) => parts.push(part),
                None => {
                    parts.clear();
                    self.leaves = parts;
                    return Ok(None);
                }
            }
        }
        let made = self.known_of(known, &parts, at)?;
        let hash_cost = hash_cost_of_known(known, &parts, held);
        parts.clear();
        self.leaves = parts;
        Ok(Some((made, hash_cost)))
    }

    /// Makes an instance of a known type, after charging what that costs.
    fn known_of(&mut self, known: KnownType, parts: &[Owned], at: usize) -> Result<Owned> {
        if !self.r.trusted() {
            self.charge_made(&Make::Known(known), HashCost::default(), parts, at)?;
        }
        match known {
            KnownType::PythonPattern => self.pattern(parts, at),
            known => types::build(self.py, known, parts, at),
        }
    }

    /// The next part, if it is a leaf, perhaps with an id, or an object that was met before; adds the cost of hashing it.
    fn known_part(&mut self, known: KnownType, held: &mut HashCost) -> Result<Option<Owned>> {
        if let Some(leaf) = self.next_leaf(accepts::ALL)? {
            return Ok(Some(leaf));
        }
        let before = self.r.place();
        match self.r.token()? {
            Token::Text(text) => self.string_of(text).map(Some),
            Token::Bytes(bytes) => D::bytes(self, bytes),
            Token::Reference(number) if self.r.indexed().is_none() => match self.numbered.get(number as usize) {
                Some(Numbered { object: Some(object), hash_cost, state: State::Whole, .. }) => {
                    held.add(*hash_cost);
                    Ok(Some(object.clone()))
                }
                _ => Ok(None),
            },
            token @ Token::AssignId if known != KnownType::Time => self.shared_field(token, accepts::ALL),
            _ if known == KnownType::Time => {
                self.r.rewind(before);
                self.zone(held)
            }
            _ => Ok(None),
        }
    }
}

/// The memory that an object of so many parts is taken to need.
fn bytes_of(len: usize) -> usize {
    256 + 64 * len
}

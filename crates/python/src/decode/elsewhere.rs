//! Objects that are elsewhere in the message than where they are needed: the reader jumps there, and returns afterwards.

use super::dialect::Dialect;
use super::partial::Far;
use super::skip::{Again, Skipped};
use super::{Decoder, Numbered, Place, NO_ID};
use crate::cpython::Owned;
use crate::error::{decode, Result};
use crate::memory::Vec;
use crate::schema::NodeId;
use holdall_format::{Reader, Token};

/// Where to continue after an object that is elsewhere, and the state to restore there.
pub struct Back<P> {
    pub(crate) place: P,
    pub(crate) object_id: u32,
    pub(crate) owed: usize,
    pub(crate) depth: usize,
    pub(crate) again: Option<Again>,
}

/// State of reading a message out of order.
pub(crate) struct Elsewhere<P> {
    /// Skipped objects, to which a reference may still lead.
    pub(crate) skipped: Vec<Skipped<P>>,
    /// The number of nested look-aheads in progress.
    pub(crate) ahead: u32,
    /// Where to return from the objects elsewhere that are being built; the innermost is last.
    pub(crate) backs: Vec<Back<P>>,
    /// Set while a skipped object is read after all, or a part of a message is.
    pub(crate) again: Option<Again>,
    /// For a part of a message: what is known of the rest.
    pub(crate) far: Option<Box<Far>>,
}

impl<P> Default for Elsewhere<P> {
    fn default() -> Self {
        Elsewhere { skipped: Vec::new(), ahead: 0, backs: Vec::new(), again: None, far: None }
    }
}

impl<'i, D: Dialect<'i>> Decoder<'i, D> {
    /// Starts the object in entry `number` at `place`, and arranges the return. `again`: the ids that are next there.
    pub(crate) fn begin_at(
        &mut self,
        place: Place<'i, D>,
        number: usize,
        id: NodeId,
        again: Option<Again>,
    ) -> Result<Option<Owned>> {
        let back = Back {
            again: std::mem::replace(&mut self.elsewhere.again, again),
            place: self.r.place(),
            object_id: self.take_id(),
            owed: std::mem::take(&mut self.bounds.owed),
            depth: self.tables.stack.len(),
        };
        self.r.rewind(place);
        self.tables.numbered[number] = Numbered::open();
        self.tables.numbered[number].node = id;
        self.object_id = number as u32;
        let made = match self.next_leaf(self.rules.node(id).accepts)? {
            Some(value) => {
                self.object_id = NO_ID;
                self.whole(number as u32, value.get());
                Some(value)
            }
            None => {
                let before = self.r.place();
                if let Token::Reference(_) = self.r.token()? {
                    return Err(decode("a reference that stands apart itself", self.here()));
                }
                self.r.rewind(before);
                self.next_node(id)?
            }
        };
        match made {
            Some(_) => self.come_back(back),
            None => self.elsewhere.backs.push(back),
        }
        Ok(made)
    }

    fn come_back(&mut self, back: Back<Place<'i, D>>) {
        self.r.rewind(back.place);
        (self.object_id, self.bounds.owed, self.elsewhere.again) = (back.object_id, back.owed, back.again);
    }

    /// After an object is complete: returns to the reference to it, if the object is elsewhere.
    #[inline(always)]
    pub(crate) fn back_from(&mut self, depth: usize) {
        if self.elsewhere.backs.last().is_some_and(|back| back.depth == depth) {
            if let Some(back) = self.elsewhere.backs.pop() {
                self.come_back(back);
            }
        }
    }
}

//! Parts of a message: a value is built from anywhere in it, and the objects that it refers to are built where they are.
//!
//! Object ids are those of the whole message. An object that a part needs gets an entry in the table, in the order of
//! meeting them; `Far` finds it. What was built is kept for the next part, so that two parts share their objects.

use super::resolve::shape_named;
use super::skip::Again;
use super::{Decoder, Numbered, Shared, State, NO_ID};
use crate::cpython::{text, Owned};
use crate::decode::dialect::Dialect;
use crate::decode::Place;
use crate::error::{decode, Result};
use crate::memory::{FxHashMap, Vec};
use crate::schema::{NodeId, ANY};
use crate::shapes::Shape;
use crate::types::resolver::is_skip;
use holdall_format::model::{IndexedReader as _, Name, ShapeReader as _};
use holdall_format::Reader;
use std::rc::Rc;

/// How deep objects may need each other before they can continue: each level takes some of the C stack.
const MOST_WITHIN: usize = 100;

/// What is known of the message outside of the part that is being read.
#[derive(Default)]
pub struct Far {
    /// The index in the table of each object that was met, by its id in the message.
    entries: FxHashMap<u64, u32>,
    kept: Kept,
}

/// What was built from a message, handed from one part to the next.
#[derive(Default)]
pub struct Kept {
    objects: FxHashMap<u64, Shared>,
    shapes: FxHashMap<usize, Rc<Shape>>,
    /// The dict of compiled patterns: a shared text pays for itself once, not in each part.
    patterns: Option<Owned>,
}

// SAFETY: it belongs to a Python object, and is used and dropped only with the GIL held, as its content requires.
unsafe impl Send for Kept {}

impl Kept {
    /// What parts that are built by a schema share with others: only the patterns.
    pub fn untyped(&self) -> Kept {
        Kept { patterns: self.patterns.clone(), ..Kept::default() }
    }

    /// Adds what a nested call has built meanwhile; existing entries stay.
    pub fn merge(&mut self, other: Kept) {
        // Patterns of a nested call are lost if there are others, and may have to pay again. That is rare.
        self.patterns = self.patterns.take().or(other.patterns);
        for (number, object) in other.objects {
            self.objects.entry(number).or_insert(object);
        }
        for (number, shape) in other.shapes {
            self.shapes.entry(number).or_insert(shape);
        }
    }
}

impl<'i, D: Dialect<'i>> Decoder<'i, D> {
    /// Builds the next value, or the object with this id, and returns what is known now.
    pub fn part(&mut self, kept: Kept, number: Option<u64>) -> (Result<Owned>, Kept) {
        self.far().kept = kept;
        self.patterns = self.far().kept.patterns.take();
        let made = self.next_part(number);
        let Far { entries, mut kept } = *self.elsewhere.far.take().unwrap_or_default();
        kept.patterns = self.patterns.take();
        if made.is_ok() {
            for (&number, &entry) in &entries {
                if let Some(Numbered { object: Some(object), hash_cost, state: State::Whole, node: ANY }) =
                    self.tables.numbered.get(entry as usize)
                {
                    kept.objects
                        .entry(number)
                        .or_insert_with(|| Shared { object: object.clone(), hash_cost: *hash_cost });
                }
            }
        }
        (made, kept)
    }

    fn far(&mut self) -> &mut Far {
        self.elsewhere.far.get_or_insert_default()
    }

    fn next_part(&mut self, number: Option<u64>) -> Result<Owned> {
        // A leaf has no id and no shape: what comes before it, and may lie far away, is not asked for.
        let begins = self.r.place();
        let is_leaf = number.is_none() && matches!(self.r.leaf(), Ok(Some(_)));
        self.r.rewind(begins);
        self.elsewhere.again = Some(if is_leaf { Again { number: 0, shape: 0, depth: 0 } } else { self.numbering(0)? });
        let node = self.options.schema.as_ref().map_or(ANY, |schema| self.options.node.unwrap_or(schema.root));
        let accepts = self.rules.node(node).accepts;
        let made = match number {
            Some(number) => self.far_object(number, node),
            None => self.value(node, accepts),
        };
        let root = match made.map_err(|fault| fault.found(self.here()))? {
            Some(root) => root,
            None => self.run(0)?,
        };
        self.finish_deferred(0)?;
        D::finish(self)?;
        self.rooted(root)
    }

    /// The next object id and shape number at the reader's position.
    fn numbering(&self, depth: usize) -> Result<Again> {
        let (number, shape) = self.index()?.counts()?;
        Ok(Again { number: number as usize, shape: shape as usize, depth })
    }

    /// The entry of an object that this part has met, or that was kept from another.
    fn entry(&mut self, number: u64) -> Option<usize> {
        if let Some(&entry) = self.far().entries.get(&number) {
            return Some(entry as usize);
        }
        // With a schema, the object may have to be another one.
        if self.rules.schema.is_some() {
            return None;
        }
        let Shared { object, hash_cost } = self.far().kept.objects.get(&number)?;
        let entry = Numbered { hash_cost: *hash_cost, ..Numbered::whole(object.clone()) };
        Some(self.add_entry(number, entry))
    }

    fn add_entry(&mut self, number: u64, entry: Numbered) -> usize {
        self.tables.numbered.push(entry);
        let at = self.tables.numbered.len() - 1;
        self.far().entries.insert(number, at as u32);
        at
    }

    /// The entry of an object whose value is here, and whether to build it here.
    pub(crate) fn met_in_part(&mut self, number: u64, entry: Numbered) -> (usize, bool) {
        match self.entry(number) {
            Some(known) => (known, false),
            None if entry.state == State::Skipped => (NO_ID as usize, false),
            None => (self.add_entry(number, entry), true),
        }
    }

    /// Forgets the entries from index `len` on, which were removed from the table.
    pub(crate) fn forget_far(&mut self, len: usize) {
        if self.r.indexed().is_some() {
            self.far().entries.retain(|_, entry| (*entry as usize) < len);
        }
    }

    /// The object with this id. If it is not there yet, it is started at its place in the message.
    #[cold]
    #[inline(never)]
    pub(crate) fn far_object(&mut self, number: u64, id: NodeId) -> Result<Option<Owned>> {
        if let Some(entry) = self.entry(number) {
            return self.numbered(entry as u64).map(Some);
        }
        let (place, again) = self.far_place(number)?;
        let entry = self.add_entry(number, Numbered::open());
        self.begin_at(place, entry, id, Some(again))
    }

    /// The same, as the node wants it.
    pub(crate) fn far_typed(&mut self, number: u64, id: NodeId) -> Result<Option<Owned>> {
        match self.entry(number) {
            Some(entry) => {
                let object = self.numbered(entry as u64)?;
                if is_skip(object.get()) {
                    return Ok(Some(object));
                }
                self.known_as(entry, object, id).map(Some)
            }
            None => self.far_object(number, id),
        }
    }

    fn far_place(&mut self, number: u64) -> Result<(Place<'i, D>, Again)> {
        let place = self.index()?.place_of(number)?;
        let (back, depth) = (self.r.place(), self.elsewhere.again.map_or(0, |again| again.depth));
        self.r.rewind(place);
        let again = self.numbering(depth);
        self.r.rewind(back);
        Ok((place, again?))
    }

    /// The object with this id, complete, for callers that can't leave it to a frame.
    pub(crate) fn object_of(&mut self, number: u64) -> Result<Owned> {
        if self.r.indexed().is_none() {
            return self.numbered(number);
        }
        if let Some(entry) = self.entry(number) {
            return self.numbered(entry as u64);
        }
        let (place, mut again) = self.far_place(number)?;
        again.depth += 1;
        if again.depth > MOST_WITHIN {
            return Err(decode(format_args!("objects that need each other deeper than {MOST_WITHIN}"), self.here()));
        }
        let (object_id, owed) = (self.take_id(), std::mem::take(&mut self.bounds.owed));
        let back = self.r.place();
        let before = self.elsewhere.again.replace(again);
        let base = self.tables.stack.len();
        let entry = self.add_entry(number, Numbered::open());
        self.r.rewind(place);
        self.object_id = entry as u32;
        let object = match self.next_node(ANY)? {
            Some(object) => object,
            None => self.run_down_to(base)?,
        };
        self.whole(entry as u32, object.get());
        self.r.rewind(back);
        (self.elsewhere.again, self.object_id, self.bounds.owed) = (before, object_id, owed);
        Ok(object)
    }

    /// The shape with this number.
    #[cold]
    #[inline(never)]
    pub(crate) fn far_shape(&mut self, number: usize) -> Result<Rc<Shape>> {
        if let Some(known) = self.far().kept.shapes.get(&number) {
            return Ok(known.clone());
        }
        let (token, mut next) = self.index()?.shape_of(number)?;
        self.claim(0, 64 * token.fields.min(token.block.len()))?;
        let names = <D::Reader as Reader<'i>>::Shapes::names(&token).collect::<std::result::Result<Vec<_>, _>>()?;
        let (mut held, mut references) = (Vec::with_capacity(names.len()), Vec::new());
        for (at, name) in names.into_iter().enumerate() {
            held.push(match name {
                Name::Reference(number) => {
                    references.push((at, number));
                    self.object_of(number)?
                }
                Name::Text(bytes) => {
                    let made = self.string_of(bytes)?;
                    let (entry, new) = self.met_in_part(next, Numbered::whole(made.clone()));
                    next += 1;
                    if new {
                        made
                    } else {
                        self.numbered(entry as u64)?
                    }
                }
            });
            // SAFETY: `held` owns the name, and the GIL is held while a decoder lives.
            if held.last().is_some_and(|name| unsafe { !text::is(name.get()) }) {
                return Err(decode("a layout's name refers to no text", token.at));
            }
        }
        let read = shape_named(&token, held, references)?;
        let shape = self.settled(read, token.at)?;
        self.far().kept.shapes.insert(number, shape.clone());
        Ok(shape)
    }
}

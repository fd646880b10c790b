//! Values elsewhere in the file: the descriptions of types, each built once per message, and the values of the
//! back-reference table, each built at the first reference to it.

use crate::budget::hash_cost::HashCost;
use crate::classes::plan;
use crate::cpython::owned;
use crate::cpython::Owned;
use crate::decode::{Decoder, Numbered, Shared, State};
use crate::dialect::julia;
use crate::dialect::julia::known::{FromJulia, JuliaReader};
use crate::dialect::julia::{Answer, Class, Described};
use crate::error::{decode, Result};
use crate::schema::{NodeId, ANY};
use crate::shapes::Shape;
use pyo3::prelude::*;
use std::rc::Rc;
use std::sync::PoisonError;

/// How deep types may be described within each other: each level takes some of the C stack.
const MOST_DESCRIBED: u32 = 64;

impl<'i, R: JuliaReader<'i>> Decoder<'i, FromJulia<'i, R>> {
    /// Gives the values of the back-reference table their ids. They are built when they are referred to.
    pub(crate) fn find_back_references(&mut self) -> Result<()> {
        self.dialect.back_references = self.r.back_references()?;
        let len = self.dialect.back_references.len();
        self.charge(len.saturating_mul(128))?;
        // With a schema, they may have to be other objects.
        let untyped = self.options.schema.is_none().then_some(self.dialect.julia);
        let shared = untyped.and_then(|julia| julia.shared.as_ref());
        let known = shared.map(|shared| shared.lock().unwrap_or_else(PoisonError::into_inner));
        for place in 0..len {
            self.tables.numbered.push(match known.as_ref().and_then(|known| known.get(place)) {
                Some(Some(Shared { object, hash_cost })) => {
                    Numbered { hash_cost: *hash_cost, ..Numbered::whole(object.clone()) }
                }
                _ => {
                    let hash_cost = HashCost { values: place as u32, ..HashCost::default() };
                    Numbered { object: None, hash_cost, state: State::Skipped, node: ANY }
                }
            });
        }
        Ok(())
    }

    /// Keeps the finished objects of the table for later reads of the same document. Those built for a schema's node are not
    /// shared.
    pub(crate) fn keep_back_references(&self) {
        let Some(shared) = &self.dialect.julia.shared else { return };
        let mut shared = shared.lock().unwrap_or_else(PoisonError::into_inner);
        shared.resize(self.dialect.back_references.len(), None);
        for (kept, numbered) in shared.iter_mut().zip(self.tables.numbered.iter().skip(1)) {
            if let (None, Numbered { object: Some(object), hash_cost, state: State::Whole, node: ANY }) =
                (&kept, numbered)
            {
                *kept = Some(Shared { object: object.clone(), hash_cost: *hash_cost });
            }
        }
    }

    /// Whether the object with this id is in the table, and still to be built.
    pub(crate) fn stands_elsewhere(&self, number: u64) -> bool {
        self.tables.numbered.get(number as usize).is_some_and(|known| known.state == State::Skipped)
    }

    /// The type with this number.
    pub(crate) fn described(&mut self, number: usize) -> Result<Rc<Described>> {
        if let Some(Some(known)) = self.dialect.described.get(number) {
            return Ok(known.clone());
        }
        let described = self.describe(number)?;
        if self.dialect.described.len() <= number {
            self.dialect.described.resize(number + 1, None);
        }
        self.dialect.described[number] = Some(described.clone());
        Ok(described)
    }

    #[cold]
    #[inline(never)]
    pub(crate) fn describe(&mut self, number: usize) -> Result<Rc<Described>> {
        let (py, julia, at) = (self.py, self.dialect.julia, self.here());
        self.dialect.describing += 1;
        if self.dialect.describing > MOST_DESCRIBED {
            return Err(decode(format_args!("types described by each other deeper than {MOST_DESCRIBED}"), at));
        }
        let object = self.elsewhere(self.r.type_place(number))?;
        self.dialect.describing -= 1;
        let class = match julia::resolve(py, julia, &object).map_err(|error| self.refuse(error, at))? {
            Answer::Class(class) => class,
            Answer::Fields { class, names, keeps, ours } => {
                // SAFETY: the GIL is held; `class` is a reference of our own, which `classes_held` keeps afterwards.
                let plan = unsafe { plan::of(py, class.as_ptr().cast())? };
                let mut shape = Shape::of_object(names, plan.version);
                let name: String = class.getattr("__qualname__")?.extract()?;
                self.resolve_shape(&plan, &mut shape, &name, at)?;
                self.dialect.classes_held.push(owned(&class));
                Class::Fields { shape: Rc::new(shape), keeps, ours }
            }
        };
        Ok(Rc::new(Described::new(object, class)))
    }

    /// Builds a value that is elsewhere, and returns to where the reader was.
    pub(crate) fn elsewhere(&mut self, place: R::Place) -> Result<Owned> {
        let (back, object_id, owed) = (self.r.place(), self.take_id(), std::mem::take(&mut self.bounds.owed));
        let base = self.tables.stack.len();
        self.r.rewind(place);
        let from = self.r.offset();
        let made = match self.next_node(ANY)? {
            Some(made) => made,
            None => self.run_down_to(base)?,
        };
        self.read_more_than_once(self.r.offset().saturating_sub(from))?;
        self.r.rewind(back);
        (self.object_id, self.bounds.owed) = (object_id, owed);
        Ok(made)
    }

    /// Starts an object of the table, for the first reference to it.
    #[cold]
    #[inline(never)]
    pub(crate) fn begin_back_reference(&mut self, number: usize, id: NodeId) -> Result<Option<Owned>> {
        let place = self.tables.numbered[number].hash_cost.values as usize;
        let Some(place) = self.dialect.back_references.get(place).copied() else {
            return Err(decode("an object out of place", self.here()));
        };
        self.begin_at(place, number, id, None)
    }
}

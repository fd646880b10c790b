//! What stands elsewhere: the descriptions of types, each built once a message, and values that are referred to, each built where
//! it is met first.

use crate::budget::hash_cost::Weight;
use crate::classes::plan;
use crate::cpython::owned;
use crate::cpython::Owned;
use crate::decode::skip::Again;
use crate::decode::{Decoder, Numbered, Shared, State, UNMARKED};
use crate::dialect::julia;
use crate::dialect::julia::{Answer, Class, Described, Julia};
use crate::error::{decode, Result};
use crate::schema::{NodeId, ANY};
use crate::shapes::Layout;
use holdall_format::{Reader, Token};
use pyo3::prelude::*;
use std::rc::Rc;
use std::sync::PoisonError;

/// Types within types: each takes a bit of the C stack.
const MOST_DESCRIBED: u32 = 64;

/// Where to go on after an object that stood apart.
pub struct Back<P> {
    pub(crate) place: P,
    pub(crate) mark: u32,
    pub(crate) owed: usize,
    pub(crate) depth: usize,
    pub(crate) again: Option<Again>,
}

impl<'i, R: Reader<'i>> Decoder<'i, R> {
    pub(crate) fn julia(&self) -> Result<&'i Julia> {
        self.options.julia.as_deref().ok_or_else(|| decode("a tagged value out of place", self.here()))
    }

    /// Numbers the values that stand apart: they are built when they are referred to.
    pub(crate) fn find_apart(&mut self) -> Result<()> {
        self.apart = self.r.back_references()?;
        let len = self.apart.len();
        self.charge(len.saturating_mul(128))?;
        // By a type they may be something else.
        let untyped = self.options.julia.as_ref().filter(|_| self.options.schema.is_none());
        let shared = untyped.and_then(|julia| julia.shared.as_ref());
        let known = shared.map(|shared| shared.lock().unwrap_or_else(PoisonError::into_inner));
        for place in 0..len {
            self.numbered.push(match known.as_ref().and_then(|known| known.get(place)) {
                Some(Some(Shared { object, weight })) => {
                    Numbered { weight: *weight, ..Numbered::whole(object.clone()) }
                }
                _ => {
                    let weight = Weight { values: place as u32, ..Weight::default() };
                    Numbered { object: None, weight, state: State::Skipped, node: ANY }
                }
            });
        }
        Ok(())
    }

    /// Keeps what stands apart and was built, for whoever reads the same document again. What was built by a type is
    /// nobody else's.
    pub(crate) fn keep_apart(&self) {
        let Some(shared) = self.options.julia.as_ref().and_then(|julia| julia.shared.as_ref()) else { return };
        let mut shared = shared.lock().unwrap_or_else(PoisonError::into_inner);
        shared.resize(self.apart.len(), None);
        for (kept, numbered) in shared.iter_mut().zip(self.numbered.iter().skip(1)) {
            if let (None, Numbered { object: Some(object), weight, state: State::Whole, node: ANY }) = (&kept, numbered)
            {
                *kept = Some(Shared { object: object.clone(), weight: *weight });
            }
        }
    }

    /// Whether the object of that number stands apart, and is still to be built.
    pub(crate) fn stands_apart(&self, number: u64) -> bool {
        self.numbered.get(number as usize).is_some_and(|known| known.state == State::Skipped)
    }

    /// The type of that number.
    pub(crate) fn described(&mut self, number: usize) -> Result<Rc<Described>> {
        if let Some(Some(known)) = self.described.get(number) {
            return Ok(known.clone());
        }
        let described = self.describe(number)?;
        if self.described.len() <= number {
            self.described.resize(number + 1, None);
        }
        self.described[number] = Some(described.clone());
        Ok(described)
    }

    #[cold]
    #[inline(never)]
    pub(crate) fn describe(&mut self, number: usize) -> Result<Rc<Described>> {
        let (py, julia, at) = (self.py, self.julia()?, self.here());
        self.describing += 1;
        if self.describing > MOST_DESCRIBED {
            return Err(decode(format_args!("types described by each other deeper than {MOST_DESCRIBED}"), at));
        }
        let object = self.elsewhere(self.r.type_place(number))?;
        self.describing -= 1;
        let class = match julia::resolve(py, julia, &object).map_err(|error| self.refuse(error, at))? {
            Answer::Class(class) => class,
            Answer::Fields { class, names, keeps, ours } => {
                // SAFETY: the GIL is held; the class is held by the answer, and by its plan's weak reference from then on.
                let plan = unsafe { plan::of(py, class.as_ptr().cast())? };
                let mut layout = Layout::of_object(names, plan.version);
                let name: String = class.getattr("__qualname__")?.extract()?;
                self.resolve_layout(&plan, &mut layout, &name, at)?;
                self.classes_held.push(owned(&class));
                Class::Fields { layout: Rc::new(layout), keeps, ours }
            }
        };
        Ok(Rc::new(Described::new(object, class)))
    }

    /// Builds a value that stands elsewhere, and comes back.
    pub(crate) fn elsewhere(&mut self, place: R::Place) -> Result<Owned> {
        let (back, mark, owed) = (self.r.place(), self.take_mark(), std::mem::take(&mut self.owed));
        let base = self.stack.len();
        self.r.rewind(place);
        let from = self.r.offset();
        let made = match self.next_node(ANY)? {
            Some(made) => made,
            None => self.run_down_to(base)?,
        };
        self.read_more_than_once(self.r.offset().saturating_sub(from))?;
        self.r.rewind(back);
        (self.mark, self.owed) = (mark, owed);
        Ok(made)
    }

    /// Begins an object that stands apart, for whoever refers to it first.
    #[cold]
    #[inline(never)]
    pub(crate) fn begin_apart(&mut self, number: usize, id: NodeId) -> Result<Option<Owned>> {
        let place = self.numbered[number].weight.values as usize;
        let Some(place) = self.apart.get(place).copied() else {
            return Err(decode("an object out of place", self.here()));
        };
        self.begin_at(place, number, id, None)
    }

    /// Begins the object of that number where it stands, and has whoever needs it come back here. `again`: what is numbered there.
    pub(crate) fn begin_at(
        &mut self,
        place: R::Place,
        number: usize,
        id: NodeId,
        again: Option<Again>,
    ) -> Result<Option<Owned>> {
        let back = Back {
            again: std::mem::replace(&mut self.again, again),
            place: self.r.place(),
            mark: self.take_mark(),
            owed: std::mem::take(&mut self.owed),
            depth: self.stack.len(),
        };
        self.r.rewind(place);
        self.numbered[number] = Numbered::open();
        self.numbered[number].node = id;
        self.mark = number as u32;
        let made = match self.next_leaf(self.rules.node(id).accepts)? {
            Some(value) => {
                self.mark = UNMARKED;
                self.whole(number as u32, value.get());
                Some(value)
            }
            None => {
                let before = self.r.place();
                if let Token::Reference(_) = self.r.next()? {
                    return Err(decode("a reference that stands apart itself", self.here()));
                }
                self.r.rewind(before);
                self.next_node(id)?
            }
        };
        match made {
            Some(_) => self.come_back(back),
            None => self.backs.push(back),
        }
        Ok(made)
    }

    pub(crate) fn come_back(&mut self, back: Back<R::Place>) {
        self.r.rewind(back.place);
        (self.mark, self.owed, self.again) = (back.mark, back.owed, back.again);
    }

    /// After an object is whole: goes back to where it was referred to, if it stood apart.
    #[inline(always)]
    pub(crate) fn back_from(&mut self, depth: usize) {
        if self.backs.last().is_some_and(|back| back.depth == depth) {
            if let Some(back) = self.backs.pop() {
                self.come_back(back);
            }
        }
    }
}

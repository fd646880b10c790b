//! The tables that one load leaves for the next: empty, but with their memory.

use super::frame::Frame;
use super::Numbered;
use crate::cpython::Owned;
use crate::memory::Vec;
use crate::shapes::Shape;
use crate::state::{Left, Name, StateSlot};
use pyo3::Python;
use std::convert::Infallible;
use std::rc::Rc;

/// More entries of a table than this are not kept.
const MOST: usize = 1 << 10;

/// The tables of a decoder; `M` is what its dialect makes.
pub struct Scratch<M> {
    pub(crate) stack: Vec<Frame<M>>,
    pub(crate) numbered: Vec<Numbered>,
    pub(crate) shapes: Vec<Rc<Shape>>,
    /// The first leaves of a list or dict whose length is not known yet; empty between such containers.
    pub(crate) leaves: Vec<Owned>,
}

/// Where they are kept.
pub type Place<M> = StateSlot<Left<Scratch<M>>>;

/// For all dialects that make nothing of their own.
// SAFETY: no other slot has this name.
pub(crate) static PLAIN: Place<Infallible> = unsafe { StateSlot::new(Name::TablesOfLoads) };

impl<M: 'static> Scratch<M> {
    #[inline(always)]
    pub(super) fn take(py: Python<'_>, place: Option<&'static Place<M>>) -> Box<Self> {
        place.and_then(|place| place.take(py)).unwrap_or_else(Self::new)
    }

    #[cold]
    fn new() -> Box<Self> {
        Box::new(Scratch { stack: Vec::new(), numbered: Vec::new(), shapes: Vec::new(), leaves: Vec::new() })
    }

    /// Makes room for what a message of that many bytes is likely to have: growing by doubling costs a small one five calls.
    #[inline(always)]
    pub(super) fn expect(&mut self, bytes: usize) {
        if self.numbered.capacity() < (bytes / 32).min(64) || self.stack.capacity() < (bytes / 128).min(16) {
            self.stack.reserve((bytes / 128).min(16));
            self.numbered.reserve((bytes / 32).min(64));
            self.shapes.reserve((bytes / 256).min(8));
        }
    }

    /// Gives the tables back, whose objects are let go before.
    #[inline(always)]
    pub(super) fn keep(mut self: Box<Self>, py: Python<'_>, place: &'static Place<M>) {
        self.stack.clear();
        self.numbered.clear();
        self.shapes.clear();
        self.leaves.clear();
        let most = self.stack.capacity().max(self.numbered.capacity());
        if most.max(self.shapes.capacity()).max(self.leaves.capacity()) <= MOST {
            place.set(py, self);
        }
    }
}

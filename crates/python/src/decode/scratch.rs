//! The tables that one load leaves for the next of its thread: empty, but with their memory.

use super::frame::Frame;
use super::Numbered;
use crate::cpython::Owned;
use crate::memory::Vec;
use crate::shapes::Shape;
use std::cell::Cell;
use std::convert::Infallible;
use std::rc::Rc;
use std::thread::LocalKey;

/// More entries of a table than this are not kept.
const MOST: usize = 1 << 10;

/// The tables of a decoder; `M` is what its dialect makes.
pub struct Scratch<M> {
    pub(super) stack: Vec<Frame<M>>,
    pub(super) numbered: Vec<Numbered>,
    pub(super) shapes: Vec<Rc<Shape>>,
    pub(super) leaves: Vec<Owned>,
}

/// Where a thread keeps them. They are taken out during a load: one within it, from a hook, makes its own.
pub type Place<M> = LocalKey<Cell<Option<Scratch<M>>>>;

thread_local! {
    /// For all dialects that make nothing of their own.
    pub(crate) static PLAIN: Cell<Option<Scratch<Infallible>>> = const { Cell::new(None) };
}

impl<M> Scratch<M> {
    #[inline(always)]
    pub(super) fn take(place: Option<&'static Place<M>>) -> Self {
        // A thread that ends has no place any more.
        let kept = place.and_then(|place| place.try_with(Cell::take).ok().flatten());
        kept.unwrap_or(Scratch { stack: Vec::new(), numbered: Vec::new(), shapes: Vec::new(), leaves: Vec::new() })
    }

    /// Gives the tables back, whose objects are let go before.
    #[inline(always)]
    pub(super) fn keep(mut self, place: &'static Place<M>) {
        self.stack.clear();
        self.numbered.clear();
        self.shapes.clear();
        self.leaves.clear();
        let most = self.stack.capacity().max(self.numbered.capacity()).max(self.shapes.capacity());
        if most.max(self.leaves.capacity()) <= MOST {
            let _ = place.try_with(|place| place.set(Some(self)));
        }
    }
}

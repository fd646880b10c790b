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
    pub(crate) stack: Vec<Frame<M>>,
    pub(crate) numbered: Vec<Numbered>,
    pub(crate) shapes: Vec<Rc<Shape>>,
    /// The first leaves of a list or dict whose length is not known yet; empty between such containers.
    pub(crate) leaves: Vec<Owned>,
}

/// Where a thread keeps them. They are taken out during a load: one within it, from a hook, makes its own.
pub type Place<M> = LocalKey<Cell<Option<Box<Scratch<M>>>>>;

thread_local! {
    /// For all dialects that make nothing of their own.
    pub(crate) static PLAIN: Cell<Option<Box<Scratch<Infallible>>>> = const { Cell::new(None) };
}

impl<M> Scratch<M> {
    #[inline(always)]
    pub(super) fn take(place: Option<&'static Place<M>>) -> Box<Self> {
        // A thread that ends has no place any more.
        place.and_then(|place| place.try_with(Cell::take).ok().flatten()).unwrap_or_else(Self::new)
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
    pub(super) fn keep(mut self: Box<Self>, place: &'static Place<M>) {
        self.stack.clear();
        self.numbered.clear();
        self.shapes.clear();
        self.leaves.clear();
        let most = self.stack.capacity().max(self.numbered.capacity());
        if most.max(self.shapes.capacity()).max(self.leaves.capacity()) <= MOST {
            let _ = place.try_with(|place| place.set(Some(self)));
        }
    }
}

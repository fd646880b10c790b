//! The form of all caches of names and shapes: each key has one place, in which the last that came stays.

use crate::memory::Vec;
use std::cell::{Cell, RefCell};

/// A direct-mapped cache of `SIZE` entries, which takes no memory before the first. An entry says itself which key it is of.
#[derive(Debug)]
pub struct DirectMapped<E, const SIZE: usize>(RefCell<Vec<Option<E>>>);

impl<E, const SIZE: usize> Default for DirectMapped<E, SIZE> {
    fn default() -> Self {
        DirectMapped(RefCell::default())
    }
}

impl<E, const SIZE: usize> DirectMapped<E, SIZE> {
    /// What `known` takes of the entry at a place; it says no to that of another key.
    #[inline(always)]
    pub fn find<T>(&self, place: usize, known: impl FnOnce(&E) -> Option<T>) -> Option<T> {
        known(self.0.borrow().get(place)?.as_ref()?)
    }

    /// Puts an entry in the place of whatever is there.
    pub fn keep(&self, place: usize, entry: E) {
        let old = self.change(place, |there| there.replace(entry));
        drop(old); // outside of the cache: destructors may run Python code
    }

    /// Has a place changed. `change` must not drop what may run Python code.
    pub fn change<T>(&self, place: usize, change: impl FnOnce(&mut Option<E>) -> T) -> T {
        let mut entries = self.0.borrow_mut();
        if entries.is_empty() {
            entries.resize_with(SIZE, || None);
        }
        change(&mut entries[place])
    }

    pub fn clear(&self) {
        drop(self.0.take());
    }
}

/// What came last to each place of such a cache, by a mark of 32 bits: what never comes again is not entered there, where it would push
/// out what does, and is known not to be there without a look at what is.
pub struct Marks<const SIZE: usize>([Cell<u32>; SIZE]);

impl<const SIZE: usize> Default for Marks<SIZE> {
    fn default() -> Self {
        Marks([const { Cell::new(0) }; SIZE])
    }
}

impl<const SIZE: usize> Marks<SIZE> {
    /// Whether what has this hash came to that place the last time.
    #[inline(always)]
    pub fn met(&self, place: usize, hash: u64) -> bool {
        self.0[place].get() == hash as u32
    }

    /// Whether nothing came to that place yet.
    pub fn is_free(&self, place: usize) -> bool {
        self.0[place].get() == 0
    }

    /// Notes that it came.
    #[inline(always)]
    pub fn meet(&self, place: usize, hash: u64) {
        self.0[place].set(hash as u32);
    }
}

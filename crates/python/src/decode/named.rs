//! The names of permitted classes.

use super::settled::Settled;
use crate::memory::FxHashMap;
use std::cell::RefCell;

/// Which of the permitted classes has a stored name, found out once: of many, each is asked.
#[derive(Debug, Default)]
pub struct Named {
    places: RefCell<FxHashMap<String, usize>>,
    pub(super) settled: Settled,
}

// SAFETY: it is private, and only decoders, which hold the GIL, reach it.
unsafe impl Sync for Named {}
// SAFETY: as for `Sync`.
unsafe impl Send for Named {}

impl Clone for Named {
    /// Of the same options nothing is known yet.
    fn clone(&self) -> Named {
        Named::default()
    }
}

impl Named {
    /// Data decides how many names there are.
    const MOST: usize = 1024;

    pub(crate) fn find(&self, name: &str) -> Option<usize> {
        self.places.borrow().get(name).copied()
    }

    pub(crate) fn keep(&self, name: &str, at: usize) {
        let mut known = self.places.borrow_mut();
        if known.len() < Named::MOST {
            known.insert(name.to_owned(), at);
        }
    }
}

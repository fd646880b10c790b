//! A `VecDeque` that unwinds if it can't grow. Everything that doesn't add to it is the standard library's, by `Deref`.

use super::or_unwind;
use std::collections::vec_deque;
use std::ops::{Deref, DerefMut};

/// A `VecDeque` that unwinds if it can't grow.
#[derive(Debug)]
pub struct VecDeque<T>(vec_deque::VecDeque<T>);

impl<T> VecDeque<T> {
    #[must_use]
    pub const fn new() -> Self {
        VecDeque(vec_deque::VecDeque::new())
    }

    #[inline]
    pub fn push_back(&mut self, item: T) {
        or_unwind(self.0.try_reserve(1));
        self.0.push_back(item);
    }
}

impl<T> Default for VecDeque<T> {
    fn default() -> Self {
        VecDeque::new()
    }
}

impl<T> Deref for VecDeque<T> {
    type Target = vec_deque::VecDeque<T>;

    fn deref(&self) -> &Self::Target {
        &self.0
    }
}

impl<T> DerefMut for VecDeque<T> {
    fn deref_mut(&mut self) -> &mut Self::Target {
        &mut self.0
    }
}

//! A `HashSet` that unwinds if it can't grow. Everything that doesn't add to it is the standard library's, by `Deref`.

use super::or_unwind;
use std::collections::hash_set;
use std::fmt;
use std::hash::{BuildHasher, Hash, RandomState};
use std::ops::{Deref, DerefMut};

/// A `HashSet` that unwinds if it can't grow.
pub struct HashSet<T, S = RandomState>(hash_set::HashSet<T, S>);

impl<T: fmt::Debug, S> fmt::Debug for HashSet<T, S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl<T> HashSet<T> {
    #[must_use]
    pub fn new() -> Self {
        HashSet::default()
    }
}

impl<T: Eq + Hash, S: BuildHasher> HashSet<T, S> {
    #[inline]
    pub fn insert(&mut self, item: T) -> bool {
        self.reserve(1);
        self.0.insert(item)
    }

    #[inline]
    pub fn reserve(&mut self, more: usize) {
        or_unwind(self.0.try_reserve(more));
    }
}

impl<T, S: Default> Default for HashSet<T, S> {
    fn default() -> Self {
        HashSet(hash_set::HashSet::default())
    }
}

impl<T, S> Deref for HashSet<T, S> {
    type Target = hash_set::HashSet<T, S>;

    #[inline(always)]
    fn deref(&self) -> &Self::Target {
        &self.0
    }
}

impl<T, S> DerefMut for HashSet<T, S> {
    #[inline(always)]
    fn deref_mut(&mut self) -> &mut Self::Target {
        &mut self.0
    }
}

impl<T: Eq + Hash, S: BuildHasher> Extend<T> for HashSet<T, S> {
    fn extend<I: IntoIterator<Item = T>>(&mut self, items: I) {
        let items = items.into_iter();
        self.reserve(items.size_hint().0);
        for item in items {
            self.insert(item);
        }
    }
}

impl<T: Eq + Hash, S: BuildHasher + Default> FromIterator<T> for HashSet<T, S> {
    fn from_iter<I: IntoIterator<Item = T>>(items: I) -> Self {
        let mut made = HashSet::default();
        made.extend(items);
        made
    }
}

impl<'a, T, S> IntoIterator for &'a HashSet<T, S> {
    type Item = &'a T;
    type IntoIter = hash_set::Iter<'a, T>;

    fn into_iter(self) -> Self::IntoIter {
        self.0.iter()
    }
}

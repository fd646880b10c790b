//! A `HashMap` that unwinds if it can't grow. Everything that doesn't add to it is the standard library's, by `Deref`.

use super::or_unwind;
use std::collections::hash_map;
use std::fmt;
use std::hash::{BuildHasher, Hash, RandomState};
use std::ops::{Deref, DerefMut};

/// A `HashMap` that unwinds if it can't grow.
pub struct HashMap<K, V, S = RandomState>(hash_map::HashMap<K, V, S>);

impl<K: fmt::Debug, V: fmt::Debug, S> fmt::Debug for HashMap<K, V, S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl<K, V> HashMap<K, V> {
    #[must_use]
    pub fn new() -> Self {
        HashMap::default()
    }
}

impl<K, V, S> HashMap<K, V, S> {
    #[must_use]
    pub const fn with_hasher(hasher: S) -> Self {
        HashMap(hash_map::HashMap::with_hasher(hasher))
    }
}

impl<K: Eq + Hash, V, S: BuildHasher> HashMap<K, V, S> {
    #[inline]
    pub fn insert(&mut self, key: K, value: V) -> Option<V> {
        self.reserve(1);
        self.0.insert(key, value)
    }

    #[inline]
    pub fn entry(&mut self, key: K) -> hash_map::Entry<'_, K, V> {
        self.reserve(1);
        self.0.entry(key)
    }

    #[inline]
    pub fn reserve(&mut self, more: usize) {
        or_unwind(self.0.try_reserve(more));
    }
}

impl<K, V, S: Default> Default for HashMap<K, V, S> {
    fn default() -> Self {
        HashMap(hash_map::HashMap::default())
    }
}

impl<K, V, S> Deref for HashMap<K, V, S> {
    type Target = hash_map::HashMap<K, V, S>;

    #[inline(always)]
    fn deref(&self) -> &Self::Target {
        &self.0
    }
}

impl<K, V, S> DerefMut for HashMap<K, V, S> {
    #[inline(always)]
    fn deref_mut(&mut self) -> &mut Self::Target {
        &mut self.0
    }
}

impl<K: Eq + Hash, V, S: BuildHasher> Extend<(K, V)> for HashMap<K, V, S> {
    fn extend<I: IntoIterator<Item = (K, V)>>(&mut self, items: I) {
        let items = items.into_iter();
        self.reserve(items.size_hint().0);
        for (key, value) in items {
            self.insert(key, value);
        }
    }
}

impl<K: Eq + Hash, V, S: BuildHasher + Default> FromIterator<(K, V)> for HashMap<K, V, S> {
    fn from_iter<I: IntoIterator<Item = (K, V)>>(items: I) -> Self {
        let mut made = HashMap::default();
        made.extend(items);
        made
    }
}

impl<K, V, S> IntoIterator for HashMap<K, V, S> {
    type Item = (K, V);
    type IntoIter = hash_map::IntoIter<K, V>;

    fn into_iter(self) -> Self::IntoIter {
        self.0.into_iter()
    }
}

impl<'a, K, V, S> IntoIterator for &'a HashMap<K, V, S> {
    type Item = (&'a K, &'a V);
    type IntoIter = hash_map::Iter<'a, K, V>;

    fn into_iter(self) -> Self::IntoIter {
        self.0.iter()
    }
}

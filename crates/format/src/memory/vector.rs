//! A `Vec` that unwinds if it can't grow, its `vec!`, and functions for which the standard library would allocate.

use super::{or_unwind, out_of_memory};
use bytemuck::Zeroable;
use std::borrow::Borrow;
use std::hash::Hash;
use std::ops::{Deref, DerefMut, RangeBounds};
use std::{fmt, io, slice};

/// A `Vec` that unwinds if it can't grow.
pub struct Vec<T>(std::vec::Vec<T>);

impl<T> Vec<T> {
    #[inline(always)]
    #[must_use]
    pub const fn new() -> Vec<T> {
        Vec(std::vec::Vec::new())
    }

    #[inline]
    #[must_use]
    pub fn with_capacity(capacity: usize) -> Vec<T> {
        let mut made = std::vec::Vec::new();
        or_unwind(made.try_reserve_exact(capacity));
        Vec(made)
    }

    #[cold]
    #[inline(never)]
    fn grow(&mut self) {
        or_unwind(self.0.try_reserve(1));
    }

    #[inline(always)]
    pub fn push(&mut self, item: T) {
        if self.0.len() == self.0.capacity() {
            self.grow();
        }
        self.0.push(item);
    }

    #[inline]
    pub fn insert(&mut self, at: usize, item: T) {
        or_unwind(self.0.try_reserve(1));
        self.0.insert(at, item);
    }

    #[inline]
    pub fn reserve(&mut self, more: usize) {
        or_unwind(self.0.try_reserve(more));
    }

    #[inline]
    pub fn reserve_exact(&mut self, more: usize) {
        or_unwind(self.0.try_reserve_exact(more));
    }

    pub fn append(&mut self, other: &mut Vec<T>) {
        or_unwind(self.0.try_reserve(other.0.len()));
        self.0.append(&mut other.0);
    }

    #[must_use]
    pub fn split_off(&mut self, at: usize) -> Vec<T> {
        let mut rest = Vec::with_capacity(self.0.len().saturating_sub(at));
        rest.0.extend(self.0.drain(at..));
        rest
    }

    pub fn resize_with(&mut self, len: usize, item: impl FnMut() -> T) {
        or_unwind(self.0.try_reserve(len.saturating_sub(self.0.len())));
        self.0.resize_with(len, item);
    }

    #[inline(always)]
    #[must_use]
    pub const fn capacity(&self) -> usize {
        self.0.capacity()
    }

    #[inline(always)]
    #[must_use]
    pub const fn len(&self) -> usize {
        self.0.len()
    }

    #[inline(always)]
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    #[inline(always)]
    #[must_use]
    pub fn as_slice(&self) -> &[T] {
        &self.0
    }

    #[inline(always)]
    pub fn pop(&mut self) -> Option<T> {
        self.0.pop()
    }

    #[inline(always)]
    pub fn truncate(&mut self, len: usize) {
        self.0.truncate(len);
    }

    #[inline(always)]
    pub fn clear(&mut self) {
        self.0.clear();
    }

    pub fn remove(&mut self, at: usize) -> T {
        self.0.remove(at)
    }

    pub fn swap_remove(&mut self, at: usize) -> T {
        self.0.swap_remove(at)
    }

    pub fn retain(&mut self, keep: impl FnMut(&T) -> bool) {
        self.0.retain(keep);
    }

    #[inline]
    pub fn shrink_to(&mut self, capacity: usize) {
        self.0.shrink_to(capacity);
    }

    /// Empties it without dropping the items, which have been moved elsewhere.
    #[inline(always)]
    pub fn forget_all(&mut self) {
        self.0.drain(..).for_each(std::mem::forget);
    }

    pub fn drain(&mut self, range: impl RangeBounds<usize>) -> std::vec::Drain<'_, T> {
        self.0.drain(range)
    }

    /// The items, in a block without spare capacity.
    #[must_use]
    pub fn into_boxed_slice(self) -> Box<[T]> {
        self.0.into_boxed_slice()
    }

    /// The standard library's `Vec` of the items.
    #[inline(always)]
    #[must_use]
    pub fn into_std(self) -> std::vec::Vec<T> {
        self.0
    }
}

impl<T: Clone> Vec<T> {
    #[inline(always)]
    pub fn extend_from_slice(&mut self, items: &[T]) {
        if self.0.capacity() - self.0.len() < items.len() {
            or_unwind(self.0.try_reserve(items.len()));
        }
        self.0.extend_from_slice(items);
    }

    pub fn resize(&mut self, len: usize, item: T) {
        or_unwind(self.0.try_reserve(len.saturating_sub(self.0.len())));
        self.0.resize(len, item);
    }
}

/// `vec![item; len]`.
pub fn filled<T: Clone>(item: T, len: usize) -> Vec<T> {
    let mut made = Vec::with_capacity(len);
    made.0.resize(len, item);
    made
}

/// `vec![0; len]`, with pages that the system gives zeroed.
#[must_use]
pub fn zeroed<T: Zeroable>(len: usize) -> Vec<T> {
    Vec(bytemuck::try_zeroed_vec(len).unwrap_or_else(|()| out_of_memory()))
}

/// The `vec!` of [`Vec`].
#[macro_export]
#[doc(hidden)]
macro_rules! fallible_vec {
    () => { $crate::memory::Vec::new() };
    (0; $len:expr) => { $crate::memory::zeroed($len) };
    ($item:expr; $len:expr) => { $crate::memory::filled($item, $len) };
    ($($item:expr),+ $(,)?) => { $crate::memory::Vec::from([$($item),+]) };
}
pub use fallible_vec as vec;

impl<T> Default for Vec<T> {
    fn default() -> Self {
        Vec::new()
    }
}

impl<T: Clone> Clone for Vec<T> {
    fn clone(&self) -> Self {
        Vec::from(self.as_slice())
    }
}

impl<T: fmt::Debug> fmt::Debug for Vec<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl<T, O: ?Sized> PartialEq<O> for Vec<T>
where
    O: AsRef<[T]>,
    T: PartialEq,
{
    fn eq(&self, other: &O) -> bool {
        self.as_slice() == other.as_ref()
    }
}

impl<T: PartialEq> PartialEq<Vec<T>> for std::vec::Vec<T> {
    fn eq(&self, other: &Vec<T>) -> bool {
        self.as_slice() == other.as_slice()
    }
}

impl<T: Eq> Eq for Vec<T> {}

impl<T: Hash> Hash for Vec<T> {
    fn hash<H: std::hash::Hasher>(&self, state: &mut H) {
        self.as_slice().hash(state);
    }
}

impl<T: PartialOrd> PartialOrd for Vec<T> {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        self.0.partial_cmp(&other.0)
    }
}

impl<T: Ord> Ord for Vec<T> {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        self.0.cmp(&other.0)
    }
}

impl<T> Deref for Vec<T> {
    type Target = [T];

    #[inline(always)]
    fn deref(&self) -> &[T] {
        &self.0
    }
}

impl<T> DerefMut for Vec<T> {
    #[inline(always)]
    fn deref_mut(&mut self) -> &mut [T] {
        &mut self.0
    }
}

impl<T> AsRef<[T]> for Vec<T> {
    fn as_ref(&self) -> &[T] {
        &self.0
    }
}

impl<T> Borrow<[T]> for Vec<T> {
    fn borrow(&self) -> &[T] {
        &self.0
    }
}

impl<T: Clone> From<&[T]> for Vec<T> {
    fn from(items: &[T]) -> Self {
        let mut made = Vec::with_capacity(items.len());
        made.0.extend_from_slice(items);
        made
    }
}

impl<T, const N: usize> From<[T; N]> for Vec<T> {
    fn from(items: [T; N]) -> Self {
        let mut made = Vec::with_capacity(N);
        made.0.extend(items);
        made
    }
}

impl<T> From<std::vec::Vec<T>> for Vec<T> {
    fn from(items: std::vec::Vec<T>) -> Self {
        Vec(items)
    }
}

impl<T> From<Vec<T>> for Box<[T]> {
    fn from(items: Vec<T>) -> Self {
        items.into_boxed_slice()
    }
}

impl<T> FromIterator<T> for Vec<T> {
    fn from_iter<I: IntoIterator<Item = T>>(items: I) -> Self {
        let mut made = Vec::new();
        made.extend(items);
        made
    }
}

impl<T> Extend<T> for Vec<T> {
    fn extend<I: IntoIterator<Item = T>>(&mut self, items: I) {
        let items = items.into_iter();
        // The size that the iterator promises is reserved at once; it may yield more.
        let (least, most) = items.size_hint();
        or_unwind(self.0.try_reserve(least));
        if most == Some(least) {
            // Reserved for all: one call, which may compile to vector code.
            return self.0.extend(items);
        }
        for item in items {
            self.push(item);
        }
    }
}

impl<'a, T: Copy + 'a> Extend<&'a T> for Vec<T> {
    fn extend<I: IntoIterator<Item = &'a T>>(&mut self, items: I) {
        self.extend(items.into_iter().copied());
    }
}

impl<T> IntoIterator for Vec<T> {
    type Item = T;
    type IntoIter = std::vec::IntoIter<T>;

    fn into_iter(self) -> Self::IntoIter {
        self.0.into_iter()
    }
}

impl<'a, T> IntoIterator for &'a Vec<T> {
    type Item = &'a T;
    type IntoIter = slice::Iter<'a, T>;

    fn into_iter(self) -> Self::IntoIter {
        self.0.iter()
    }
}

impl<'a, T> IntoIterator for &'a mut Vec<T> {
    type Item = &'a mut T;
    type IntoIter = slice::IterMut<'a, T>;

    fn into_iter(self) -> Self::IntoIter {
        self.0.iter_mut()
    }
}

impl io::Write for Vec<u8> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// The slice's method of that name: a stable sort that computes each key once.
pub fn sort_by_cached_key<T, K: Ord>(items: &mut [T], key: impl FnMut(&T) -> K) {
    let mut order: Vec<(K, usize)> = items.iter().map(key).zip(0..).collect();
    order.sort_unstable();
    for at in 0..items.len() {
        // The item may have been swapped to another place already.
        let mut from = order[at].1;
        while from < at {
            from = order[from].1;
        }
        order[at].1 = from;
        items.swap(at, from);
    }
}

/// Appends all bytes of `from`; returns how many.
///
/// # Errors
/// Those of `from`.
pub fn read_to_end(from: &mut impl io::Read, to: &mut Vec<u8>) -> io::Result<usize> {
    // `std::io::Read::read_to_end` reserves memory itself, and reports failure.
    from.read_to_end(&mut to.0).inspect_err(|error| {
        if error.kind() == io::ErrorKind::OutOfMemory {
            out_of_memory();
        }
    })
}

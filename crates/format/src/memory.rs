//! Collections whose growth may fail: what the data decide the size of is kept in these.
//!
//! Stable Rust ends the process where a `Vec`, a `HashMap` or a `HashSet` can't grow. The types here have the same names and
//! the same functions, but ask for room first; where there is none they unwind with [`OutOfMemory`], which [`caught`] turns
//! into a value. A module brings them in by `use crate::memory::{vec, Vec}`, and each `push` in it can fail.
//!
//! Why not a `Result` of every `push`: a writer has no way to report one (its calls are a token each, and most can't fail),
//! and what unwinds costs the loops nothing. [`text`] makes a `String` in the same way.

pub use bytemuck::Zeroable;
use std::borrow::Borrow;
use std::collections::{hash_map, hash_set, vec_deque};
use std::hash::{BuildHasher, Hash, RandomState};
use std::ops::{Deref, DerefMut, RangeBounds};
use std::panic::{catch_unwind, resume_unwind, AssertUnwindSafe};
use std::{fmt, io, slice};

/// What unwinds where memory runs out. No panic: the hook that reports those isn't called.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct OutOfMemory;

impl fmt::Display for OutOfMemory {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "out of memory")
    }
}

impl std::error::Error for OutOfMemory {}

/// Unwinds to [`caught`].
#[cold]
#[inline(never)]
pub fn out_of_memory() -> ! {
    resume_unwind(Box::new(OutOfMemory))
}

/// Runs `work`, and says so where memory runs out in it. Whatever else unwinds goes on.
///
/// What `work` was changing may be half done by then: it's the caller's to throw it away.
///
/// # Errors
/// [`OutOfMemory`].
///
/// ```
/// use holdall_format::memory::{caught, OutOfMemory, Vec};
/// assert_eq!(caught(|| Vec::<u64>::with_capacity(1 << 58).len()), Err(OutOfMemory));
/// ```
pub fn caught<T>(work: impl FnOnce() -> T) -> Result<T, OutOfMemory> {
    catch_unwind(AssertUnwindSafe(work)).map_err(|panic| match panic.downcast::<OutOfMemory>() {
        Ok(found) => *found,
        Err(panic) => resume_unwind(panic),
    })
}

/// Unwinds where `room` is an error.
#[inline(always)]
fn or_unwind<E>(room: Result<(), E>) {
    if room.is_err() {
        out_of_memory();
    }
}

/// A `Vec` that unwinds where it can't grow.
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

    /// Empties it without dropping the items: they are somebody else's now.
    #[inline(always)]
    pub fn forget_all(&mut self) {
        self.0.drain(..).for_each(std::mem::forget);
    }

    pub fn drain(&mut self, range: impl RangeBounds<usize>) -> std::vec::Drain<'_, T> {
        self.0.drain(range)
    }

    /// The items, in a block without room to spare.
    #[must_use]
    pub fn into_boxed_slice(self) -> Box<[T]> {
        self.0.into_boxed_slice()
    }

    /// What the standard library calls a `Vec`, for those who want one.
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

/// `vec![item; len]`, asked for first.
pub fn filled<T: Clone>(item: T, len: usize) -> Vec<T> {
    let mut made = Vec::with_capacity(len);
    made.0.resize(len, item);
    made
}

/// `vec![0; len]`, asked for first: pages that the system gives zeroed.
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
        // What an iterator says it has is asked for at once; it may have more.
        let (least, most) = items.size_hint();
        or_unwind(self.0.try_reserve(least));
        if most == Some(least) {
            // There is room for them all: in one go, which the compiler may do many at a time.
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

/// The slice's function of that name: a stable sort, which computes each key once.
pub fn sort_by_cached_key<T, K: Ord>(items: &mut [T], key: impl FnMut(&T) -> K) {
    let mut order: Vec<(K, usize)> = items.iter().map(key).zip(0..).collect();
    order.sort_unstable();
    for at in 0..items.len() {
        // Who stood there may have been swapped to where it is now.
        let mut from = order[at].1;
        while from < at {
            from = order[from].1;
        }
        order[at].1 = from;
        items.swap(at, from);
    }
}

/// Appends all that `from` has; gives how many bytes those are.
///
/// # Errors
/// Those of `from`.
pub fn read_to_end(from: &mut impl io::Read, to: &mut Vec<u8>) -> io::Result<usize> {
    // The standard library's asks for room itself.
    from.read_to_end(&mut to.0).inspect_err(|error| {
        if error.kind() == io::ErrorKind::OutOfMemory {
            out_of_memory();
        }
    })
}

/// The `format!` of texts that show what others wrote.
#[macro_export]
#[doc(hidden)]
macro_rules! fallible_format {
    ($($content:tt)*) => { $crate::memory::text(format_args!($($content)*)) };
}
pub use fallible_format as format;

/// A text, whose room is asked for first.
#[must_use]
pub fn text(content: fmt::Arguments<'_>) -> String {
    let mut made = String::new();
    push(&mut made, content);
    made
}

/// Appends to a text.
pub fn push(to: &mut String, content: fmt::Arguments<'_>) {
    struct Text<'t>(&'t mut String);
    impl fmt::Write for Text<'_> {
        fn write_str(&mut self, part: &str) -> fmt::Result {
            or_unwind(self.0.try_reserve(part.len()));
            self.0.push_str(part);
            Ok(())
        }
    }
    // Only what it writes to could fail.
    let _ = fmt::Write::write_fmt(&mut Text(to), content);
}

/// A `HashMap` that unwinds where it can't grow.
pub struct HashMap<K, V, S = RandomState>(hash_map::HashMap<K, V, S>);

impl<K: fmt::Debug, V: fmt::Debug, S> fmt::Debug for HashMap<K, V, S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl<T: fmt::Debug, S> fmt::Debug for HashSet<T, S> {
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

/// A `HashSet` that unwinds where it can't grow.
pub struct HashSet<T, S = RandomState>(hash_set::HashSet<T, S>);

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

/// A `VecDeque` that unwinds where it can't grow.
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::memory::vec;

    const TOO_MANY: usize = isize::MAX as usize / 8 - 8;

    /// Each way to grow, by more than there is, leaves what was there.
    #[test]
    fn every_way_to_grow_unwinds() {
        struct Endless(usize);
        impl Iterator for Endless {
            type Item = u64;
            fn next(&mut self) -> Option<u64> {
                None
            }
            fn size_hint(&self) -> (usize, Option<usize>) {
                (self.0, None)
            }
        }
        type Call = fn(&mut Vec<u64>);
        let calls: [Call; 5] = [
            |it| it.reserve(TOO_MANY),
            |it| it.reserve_exact(TOO_MANY),
            |it| it.resize(TOO_MANY, 0),
            |it| it.resize_with(TOO_MANY, || 0),
            |it| it.extend(Endless(TOO_MANY)),
        ];
        for call in calls {
            let mut it = vec![1u64, 2];
            assert_eq!(caught(|| call(&mut it)), Err(OutOfMemory));
            assert_eq!(it, [1, 2]);
        }
        assert_eq!(caught(|| vec![0u64; TOO_MANY].len()), Err(OutOfMemory));
        assert_eq!(caught(|| Endless(TOO_MANY).collect::<Vec<_>>().len()), Err(OutOfMemory));
        let mut map = HashMap::<u64, u64>::new();
        assert_eq!(caught(|| map.reserve(TOO_MANY)), Err(OutOfMemory));
        let mut set = HashSet::<u64>::new();
        assert_eq!(caught(|| set.extend(Endless(TOO_MANY))), Err(OutOfMemory));
        assert_eq!((map.len(), set.len()), (0, 0));
    }

    /// They hold what those of the standard library hold.
    #[test]
    fn what_goes_in_comes_out() {
        let mut it: Vec<u32> = (0..10).collect();
        it.push(10);
        it.insert(0, 99);
        it.extend_from_slice(&[11, 12]);
        it.extend([13]);
        it.extend(&[14]);
        it.append(&mut vec![15, 16]);
        let rest = it.split_off(15);
        assert_eq!(it, [99, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13]);
        assert_eq!(rest.clone().into_std(), [14, 15, 16]);
        assert_eq!(rest.into_boxed_slice().as_ref(), [14, 15, 16]);
        assert_eq!(vec![7u8; 3], [7, 7, 7]);
        let mut map: HashMap<_, _> = [(1, 'a'), (2, 'b')].into_iter().collect();
        *map.entry(1).or_insert('z') = 'c';
        assert_eq!((map.insert(2, 'd'), map[&1], map[&2]), (Some('b'), 'c', 'd'));
        let mut set: HashSet<_> = [1, 2].into_iter().collect();
        assert!(!set.insert(2) && set.insert(3) && set.contains(&1));
        let mut queue = VecDeque::new();
        queue.push_back(1);
        queue.push_back(2);
        assert_eq!((queue.pop_front(), queue.len()), (Some(1), 1));
    }

    #[test]
    fn sorts_by_keys() {
        let mut items: std::vec::Vec<(u32, u32)> = (0..50).map(|at| (at * 7 % 11, at)).collect();
        let mut expected = items.clone();
        expected.sort_by_cached_key(|(key, _)| *key);
        sort_by_cached_key(&mut items, |(key, _)| *key);
        assert_eq!(items, expected);
    }

    /// Other panics are nobody's lack of memory.
    #[test]
    fn only_a_lack_of_memory_is_caught() {
        let outer = catch_unwind(|| caught(|| resume_unwind(Box::new("another"))));
        assert_eq!(outer.unwrap_err().downcast_ref(), Some(&"another"));
    }
}

//! A collection that can't grow unwinds and keeps its content; one that can holds what the standard library's would.

use super::*;
use crate::memory::vec;

const TOO_MANY: usize = isize::MAX as usize / 8 - 8;

/// Each way to grow unwinds if it fails, and leaves the content.
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

/// Collections hold what those of the standard library hold.
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

/// Other panics are not caught.
#[test]
fn only_a_lack_of_memory_is_caught() {
    let outer = catch_unwind(|| caught(|| resume_unwind(Box::new("another"))));
    assert_eq!(outer.unwrap_err().downcast_ref(), Some(&"another"));
}

//! Doubles are told by their values: one that occurs again is written once, as SBCL can't tell two of a value apart.

use crate::memory::{vec, HashMap, Vec};
use std::hash::{BuildHasher, RandomState};

/// Values are looked up in so many parts, each of which stays in a near cache.
const PARTS: usize = 256;
/// Up to so many are one part.
const FEW: usize = 1 << 11;

/// Doubles that were written, or are to be written.
#[derive(Debug, Default)]
pub enum Doubles {
    /// Each is written where it stands.
    #[default]
    Apart,
    /// Nothing is written: the bits of all are gathered.
    Gathered(Vec<u64>),
    /// The bits of those that occur again, with the id of each that was written.
    Again(HashMap<u64, Option<u64>>),
}

impl Doubles {
    /// After a walk that has gathered all: which of them occur again.
    pub fn settled(self) -> Doubles {
        match self {
            Doubles::Gathered(all) => Doubles::Again(again(&all)),
            settled => settled,
        }
    }

    /// How many values occur again.
    pub fn count(&self) -> usize {
        match self {
            Doubles::Again(again) => again.len(),
            _ => 0,
        }
    }
}

/// The values that occur more than once; 0 is none of them.
fn again(all: &[u64]) -> HashMap<u64, Option<u64>> {
    let (key, mut again) = (Key::new(), HashMap::new());
    if all.len() <= FEW {
        repeated(all, &key, &mut again);
        return again;
    }
    let part = |bits: u64| (key.hash(bits) >> 56) as usize;
    let mut ends = [0; PARTS];
    for &bits in all {
        ends[part(bits)] += 1;
    }
    let mut end = 0;
    for of_part in &mut ends {
        (*of_part, end) = (end, end + *of_part);
    }
    let mut sorted = vec![0; all.len()];
    for &bits in all {
        let end = &mut ends[part(bits)];
        sorted[*end] = bits;
        *end += 1;
    }
    let mut start = 0;
    for end in ends {
        repeated(&sorted[start..end], &key, &mut again);
        start = end;
    }
    again
}

fn repeated(all: &[u64], key: &Key, again: &mut HashMap<u64, Option<u64>>) {
    let mask = (2 * all.len()).next_power_of_two() - 1;
    let mut table = vec![0; mask + 1];
    for &bits in all {
        let mut at = key.hash(bits) as usize & mask;
        while table[at] != 0 && table[at] != bits {
            at = (at + 1) & mask;
        }
        if table[at] == bits {
            again.insert(bits, None);
        }
        table[at] = bits;
    }
}

/// What nobody knows who chooses the doubles: else all of them could meet in one place.
struct Key(u64, u64);

impl Key {
    fn new() -> Key {
        let random = |of: u64| RandomState::new().hash_one(of);
        Key(random(0), random(1) | 1)
    }

    #[inline(always)]
    #[allow(clippy::cast_possible_truncation)]
    fn hash(&self, bits: u64) -> u64 {
        let product = u128::from(bits ^ self.0) * u128::from(self.1);
        product as u64 ^ (product >> 64) as u64
    }
}

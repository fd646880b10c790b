//! Doubles are told by their values: one that occurs again is written once, as SBCL can't tell two of a value apart.

use crate::memory::{vec, HashMap, Vec};

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
    let mut again = HashMap::new();
    if all.len() <= FEW {
        repeated(all, &mut again);
        return again;
    }
    let part = |bits: u64| (spread(bits) >> 56) as usize;
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
        repeated(&sorted[start..end], &mut again);
        start = end;
    }
    again
}

fn repeated(all: &[u64], again: &mut HashMap<u64, Option<u64>>) {
    let mask = (2 * all.len()).next_power_of_two() - 1;
    let mut table = vec![0; mask + 1];
    for &bits in all {
        let mut at = spread(bits) as usize & mask;
        while table[at] != 0 && table[at] != bits {
            at = (at + 1) & mask;
        }
        if table[at] == bits {
            again.insert(bits, None);
        }
        table[at] = bits;
    }
}

/// Numbers of few digits differ in few bits.
fn spread(bits: u64) -> u64 {
    let product = bits.wrapping_mul(0x9e37_79b9_7f4a_7c15);
    product ^ product >> 29
}

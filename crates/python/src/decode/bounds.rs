//! What is left of the bounds of a load.

use crate::budget::{self, Limits};

#[derive(Debug)]
pub(crate) struct Bounds {
    /// Values that open containers still wait for: each takes at least a byte, so that there can't be more than bytes.
    pub(crate) owed: usize,
    pub(crate) most_deep: usize,
    /// How many frames have their memory.
    pub(crate) paid_deep: usize,
    pub(crate) objects: usize,
    pub(crate) bytes: usize,
}

impl Bounds {
    /// For an input of so many bytes.
    #[inline(always)]
    pub(crate) fn new(limits: &Limits, input: usize) -> Bounds {
        let most_deep = limits.depth.unwrap_or(usize::MAX);
        Bounds {
            owed: 0,
            most_deep,
            paid_deep: most_deep.min(16),
            objects: limits.objects.unwrap_or(usize::MAX),
            bytes: limits.bytes.unwrap_or(budget::default_bytes(input)),
        }
    }
}

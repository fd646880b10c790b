//! The remaining budget of a load.

use crate::budget::{self, Limits};

#[derive(Debug)]
pub(crate) struct Bounds {
    /// Values that open containers still wait for. Each takes a byte at least, so there can't be more than bytes.
    pub(crate) owed: usize,
    pub(crate) most_deep: usize,
    /// The number of frames whose memory is paid for.
    pub(crate) paid_deep: usize,
    pub(crate) objects: usize,
    pub(crate) bytes: usize,
}

impl Bounds {
    /// The budget for an input of this many bytes.
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

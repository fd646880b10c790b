//! What loading a message may cost: bounds that the user set, or default bounds that grow with its size.

pub mod chance;
pub mod hash_cost;
pub mod rings;
pub mod scale;

use crate::error::{limit, Result};
use crate::memory::HashSet;
use std::cell::Cell;

/// Bounds on the cost of a message; `None` means the default.
#[derive(Debug, Clone, Copy, Default)]
pub struct Limits {
    pub depth: Option<usize>,
    pub objects: Option<usize>,
    pub bytes: Option<usize>,
    pub work: Option<usize>,
}

impl Limits {
    /// Whether the user has set none of them.
    pub fn is_unset(&self) -> bool {
        let Limits { depth, objects, bytes, work } = self;
        [depth, objects, bytes, work].into_iter().all(Option::is_none)
    }
}

/// The memory that any message may take, and how much more for each of its bytes. In honest messages, the most
/// expensive byte is an instance with a `__dict__` in another one: about 600 bytes with its frame.
pub const FREE_BYTES: usize = 1 << 20;
pub const BYTES_PER_BYTE: usize = 1024;
/// Likewise for work: a unit is one value hashed or compared, some nanoseconds.
pub const FREE_WORK: usize = 1 << 22;
pub const WORK_PER_BYTE: usize = 192;

/// How many bytes of a second reading cost one unit of work. Usually a value is read once for each union around it.
pub const READ_FOR_A_UNIT: usize = 4;

pub fn default_bytes(input: usize) -> usize {
    FREE_BYTES.saturating_add(input.saturating_mul(BYTES_PER_BYTE))
}

/// What the records of a log may cost together. The free amounts of a message are free once for the whole log, and each
/// record adds to them by its size. A short record may refer to a long text that an earlier one has named.
#[derive(Debug, Clone, Copy)]
pub struct Allowance {
    pub bytes: usize,
    pub work: usize,
}

/// What each record adds whatever its size: the objects that `Writer` gives names to may take this much to build.
const BYTES_OF_RECORD: usize = 1 << 14;
const WORK_OF_RECORD: usize = 1 << 14;

impl Default for Allowance {
    fn default() -> Self {
        Allowance { bytes: FREE_BYTES, work: FREE_WORK }
    }
}

impl Allowance {
    /// Adds the amounts of a record of that many bytes.
    pub fn add(&mut self, input: usize) {
        self.bytes = self.bytes.saturating_add(BYTES_OF_RECORD + input.saturating_mul(BYTES_PER_BYTE));
        self.work = self.work.saturating_add(WORK_OF_RECORD + input.saturating_mul(WORK_PER_BYTE));
    }
}

/// What parts of a message may cost that are built one by one, as by a `Document`: together as much as the whole
/// message, and each a little in addition. A short part may refer to much that others refer to as well. (The whole
/// message is not a part: it has bounds of its own.)
#[derive(Debug)]
pub struct Shares {
    whole: Allowance,
    left: Allowance,
    /// Where parts begin that took more than the free amount: building them again costs only those who ask for it.
    paid: HashSet<usize>,
}

const BYTES_OF_PART: usize = 1 << 9;
const WORK_OF_PART: usize = 1 << 9;

impl Shares {
    /// The shares of a message of that many bytes. What several parts refer to counts for each of them.
    pub fn of(input: usize) -> Shares {
        let work = FREE_WORK.saturating_add(input.saturating_mul(WORK_PER_BYTE));
        let whole = Allowance { bytes: default_bytes(input), work };
        Shares { whole, left: whole, paid: HashSet::default() }
    }

    /// What the part that begins at `place` may cost; `None` means the whole message.
    pub fn begin(&self, place: Option<usize>) -> Allowance {
        if place.is_none_or(|place| self.paid.contains(&place)) {
            return self.whole;
        }
        Allowance {
            bytes: self.left.bytes.saturating_add(BYTES_OF_PART),
            work: self.left.work.saturating_add(WORK_OF_PART),
        }
    }

    /// Charges a part for what it took: the difference between `begun` and `left`.
    pub fn end(&mut self, place: Option<usize>, begun: Allowance, left: Allowance, made: bool) {
        let Some(place) = place.filter(|place| !self.paid.contains(place)) else { return };
        let bytes = begun.bytes.saturating_sub(left.bytes).saturating_sub(BYTES_OF_PART);
        let work = begun.work.saturating_sub(left.work).saturating_sub(WORK_OF_PART);
        self.left.bytes = self.left.bytes.saturating_sub(bytes);
        self.left.work = self.left.work.saturating_sub(work);
        if made && (bytes, work) != (0, 0) {
            self.paid.insert(place);
        }
    }
}

/// The work that a message may still cause beyond reading its bytes once. Whatever may take disproportionate time is
/// charged here before it is done.
#[derive(Debug)]
pub struct Work {
    pub left: Cell<usize>,
    set: Option<usize>,
}

impl Work {
    pub fn new(set: Option<usize>, input: usize) -> Work {
        let default = FREE_WORK.saturating_add(input.saturating_mul(WORK_PER_BYTE));
        Work { left: Cell::new(set.unwrap_or(default)), set }
    }

    /// Charges `units`. If they exceed what is left, the error says that `what` takes too long.
    #[inline(always)]
    pub fn charge(&self, units: usize, what: &str, at: usize) -> Result<()> {
        match self.left.get().checked_sub(units) {
            Some(left) => self.left.set(left),
            None => return Err(self.over(what, at)),
        }
        Ok(())
    }

    #[cold]
    #[inline(never)]
    fn over(&self, what: &str, at: usize) -> crate::error::Fault {
        match self.set {
            Some(work) => limit(format_args!("{what}: more than limits.work={work}"), at),
            None => limit(format_args!("{what}: time out of proportion to the message; `limits.work` allows more"), at),
        }
    }
}

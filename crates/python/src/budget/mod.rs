//! What a message may cost: bounds that somebody set, or such as follow from its size.

pub mod hash_cost;
pub mod rings;
pub mod scale;

use crate::error::{limit, Result};
use crate::memory::HashSet;
use std::cell::Cell;

/// Bounds on what a message may cost; `None` is the default.
#[derive(Debug, Clone, Copy, Default)]
pub struct Limits {
    pub depth: Option<usize>,
    pub objects: Option<usize>,
    pub bytes: Option<usize>,
    pub work: Option<usize>,
}

/// Memory that a message may cost, whatever its size; and how many times its own bytes, beyond that. What takes most for
/// a byte that honest messages have is an instance with a `__dict__` within another: some 600 bytes, with its frame.
pub const FREE_BYTES: usize = 1 << 20;
pub const BYTES_PER_BYTE: usize = 1024;
/// Work likewise: a unit is a value that is hashed or compared, some nanoseconds.
pub const FREE_WORK: usize = 1 << 22;
pub const WORK_PER_BYTE: usize = 192;

/// Bytes that are read for the second time for a unit of work: each is read as often as there are unions around it, mostly.
pub const READ_FOR_A_UNIT: usize = 4;

pub fn default_bytes(input: usize) -> usize {
    FREE_BYTES.saturating_add(input.saturating_mul(BYTES_PER_BYTE))
}

/// What the records of a log may cost, one after the other: what is free for a message is so for the log as a whole, and each
/// record adds what its bytes are good for. A record of few bytes may refer to a long text that another has named.
#[derive(Debug, Clone, Copy)]
pub struct Allowance {
    pub bytes: usize,
    pub work: usize,
}

/// What each record adds besides: what `Writer` gives a name to may take so much to be made into a value.
const BYTES_OF_RECORD: usize = 1 << 14;
const WORK_OF_RECORD: usize = 1 << 14;

impl Default for Allowance {
    fn default() -> Self {
        Allowance { bytes: FREE_BYTES, work: FREE_WORK }
    }
}

impl Allowance {
    /// A record of so many bytes comes.
    pub fn add(&mut self, input: usize) {
        self.bytes = self.bytes.saturating_add(BYTES_OF_RECORD + input.saturating_mul(BYTES_PER_BYTE));
        self.work = self.work.saturating_add(WORK_OF_RECORD + input.saturating_mul(WORK_PER_BYTE));
    }
}

/// What the parts of a message may cost that are built one by one, as a `Document` does: all of them together what the whole may,
/// and each a little besides. A part of few bytes may refer to much that others refer to as well. (The whole is no part: it has bounds
/// of its own.)
#[derive(Debug)]
pub struct Shares {
    whole: Allowance,
    left: Allowance,
    /// Where the parts begin that took more than that little: to build them again costs nobody more than they ask for.
    paid: HashSet<usize>,
}

const BYTES_OF_PART: usize = 1 << 9;
const WORK_OF_PART: usize = 1 << 9;

impl Shares {
    /// The shares of a message of so many bytes. What is met on the way to several parts counts for each of them.
    pub fn of(input: usize) -> Shares {
        let work = FREE_WORK.saturating_add(input.saturating_mul(WORK_PER_BYTE));
        let whole = Allowance { bytes: default_bytes(input), work };
        Shares { whole, left: whole, paid: HashSet::default() }
    }

    /// What the part may cost that begins at `place`; none: the whole message.
    pub fn begin(&self, place: Option<usize>) -> Allowance {
        if place.is_none_or(|place| self.paid.contains(&place)) {
            return self.whole;
        }
        Allowance {
            bytes: self.left.bytes.saturating_add(BYTES_OF_PART),
            work: self.left.work.saturating_add(WORK_OF_PART),
        }
    }

    /// What it has cost: what is left of what it might.
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

/// Work that a message may still cause beyond what its bytes are read for: whatever takes more time than in proportion is
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

    /// `what` takes time out of proportion, if it does.
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

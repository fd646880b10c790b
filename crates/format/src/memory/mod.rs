//! Collections whose growth may fail, for everything whose size depends on the data.
//!
//! Stable Rust ends the process if a `Vec`, a `HashMap` or a `HashSet` can't grow. The types here have the same names
//! and functions, but request memory first; if there is none, they unwind with [`OutOfMemory`], which [`caught`] turns
//! into a value. A module imports them with `use crate::memory::{vec, Vec}`.
//!
//! Why `push` returns no `Result`: a writer has no way to report one (it is called for each token, and most calls can't
//! fail), and unwinding costs the loops nothing. [`text`] makes a `String` in the same way.

mod map;
mod queue;
mod set;
mod string;
#[cfg(test)]
mod tests;
mod vector;

pub use bytemuck::Zeroable;
pub use map::HashMap;
pub use queue::VecDeque;
pub use set::HashSet;
pub use string::{format, push, text};
pub use vector::{filled, read_to_end, sort_by_cached_key, vec, zeroed, Vec};

use std::fmt;
use std::panic::{catch_unwind, resume_unwind, AssertUnwindSafe};

/// What unwinds when memory runs out. It isn't a panic: no panic hook is called.
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

/// Runs `work`, and returns an error if memory runs out in it. Other panics continue.
///
/// What `work` was changing may be half done then, and the caller has to drop it.
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

/// Unwinds if `room` is an error.
#[inline(always)]
fn or_unwind<E>(room: Result<(), E>) {
    if room.is_err() {
        out_of_memory();
    }
}

//! How much of the thread's stack is left. CPython counts calls between Python and C as one level each, whatever they take of it; a load
//! within a hook of a load takes as much as twenty of them, and data says how often.

use std::cell::Cell;

thread_local! {
    /// The most that was left so far: about the size of the stack.
    static MOST: Cell<usize> = const { Cell::new(0) };
}

/// What a call of ours may need on a large stack: hashing and freeing recurse in CPython's C code, which is bounded for that much.
const ENOUGH: usize = 640 << 10;
/// On a smaller stack, this part of it has to do.
const PART: usize = 8;

/// Whether so little of the stack is left that a call should not begin. `false` where nobody knows: nothing is said to be left where a
/// library runs this thread on a stack of its own.
#[inline]
pub fn is_short() -> bool {
    let Some(left @ 1..) = stacker::remaining_stack() else { return false };
    MOST.with(|most| {
        most.set(most.get().max(left));
        left < ENOUGH.min(most.get() / PART)
    })
}

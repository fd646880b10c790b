//! Restarts of a log that is read at any offset, by a function that gives up to so many bytes from there.

use crate::memory::Vec;
use holdall_format::hold::log::{self, Next, Restart, RESTART_FRAME};
use holdall_format::hold::{frame, tag};
use std::io;

/// How many bytes are searched at once for a restart, from the end backwards.
const STEP: u64 = 3 << 19;
/// The same, forwards.
const FORWARD: usize = 1 << 18;

/// The last restart before `end`.
pub fn last_restart(mut read: impl FnMut(u64, usize) -> io::Result<Vec<u8>>, end: u64) -> io::Result<Option<Restart>> {
    let mut upper = end;
    while upper > frame::START as u64 {
        let from = upper.saturating_sub(STEP).max(frame::START as u64);
        // A restart that begins before `upper` may end after it.
        let len = usize::try_from(upper - from).unwrap_or(usize::MAX) + RESTART_FRAME;
        let bytes = read(from, len)?;
        let within = usize::try_from(upper - from).unwrap_or(usize::MAX);
        if let Some(restart) = log::last_restart(&bytes, within, from) {
            return Ok(Some(restart));
        }
        upper = from;
    }
    Ok(None)
}

/// The first restart that begins at `from` or behind it, and before `end`.
pub fn first_restart(
    mut read: impl FnMut(u64, usize) -> io::Result<Vec<u8>>,
    from: u64,
    end: u64,
) -> io::Result<Option<u64>> {
    let mut at = from;
    while at < end {
        let bytes = read(at, FORWARD + RESTART_FRAME)?;
        let within = usize::try_from(end - at).unwrap_or(usize::MAX).min(FORWARD);
        if let Some(restart) = log::first_restart(&bytes, within, at) {
            return Ok(Some(restart.at));
        }
        if bytes.len() < FORWARD + RESTART_FRAME {
            break;
        }
        at += FORWARD as u64;
    }
    Ok(None)
}

/// The restart whose frame begins at `at`.
pub fn restart_at(mut read: impl FnMut(u64, usize) -> io::Result<Vec<u8>>, at: u64) -> io::Result<Option<Restart>> {
    let bytes = read(at, RESTART_FRAME)?;
    Ok(match log::next(&bytes, 0, at) {
        Next::Frame(frame) if frame.head.kind == tag::RESTART => Restart::parse(&bytes[frame.body], at).ok(),
        _ => None,
    })
}

/// The last restart of a log of that size which begins before that record, or right with it.
pub fn restart_before(
    mut read: impl FnMut(u64, usize) -> io::Result<Vec<u8>>,
    size: u64,
    record: u64,
) -> io::Result<Option<Restart>> {
    let mut at = last_restart(&mut read, size)?;
    while let Some(restart) = &at {
        if restart.record <= record {
            break;
        }
        // As far back as possible without passing it: a restart knows those 1, 2, 4 ... before it.
        let mut next = None;
        for &place in restart.before.iter().rev().filter(|&&place| place < restart.at) {
            next = restart_at(&mut read, place)?;
            if next.as_ref().is_some_and(|next| next.record > record) {
                break;
            }
        }
        at = match next {
            Some(next) => Some(next),
            None => last_restart(&mut read, restart.at)?,
        };
    }
    Ok(at)
}

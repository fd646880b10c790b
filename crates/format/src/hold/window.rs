//! A message of which only parts are at hand yet, as of a file that lies elsewhere: what isn't there is never looked at, and is
//! noted, so that whoever can will bring it and ask again.

use super::Reader;
use crate::error::{Error, ErrorKind, Result};
use crate::model::{Leaf, Reader as _, Token};
use std::ops::Range;
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::{current, ThreadId};

/// Which bytes of a message are at hand.
#[derive(Debug, Default)]
pub struct Present(Mutex<State>);

#[derive(Debug, Default)]
struct State {
    /// Apart from each other, and in order.
    runs: Vec<Range<usize>>,
    /// By each thread.
    wanted: Vec<(ThreadId, Range<usize>)>,
}

impl Present {
    fn state(&self) -> std::sync::MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// These bytes are at hand from now on.
    pub fn add(&self, added: Range<usize>) {
        let mut state = self.state();
        let (mut added, mut runs) = (added, Vec::with_capacity(state.runs.len() + 1));
        for run in state.runs.drain(..) {
            if run.end < added.start || run.start > added.end {
                runs.push(run);
            } else {
                added = added.start.min(run.start)..added.end.max(run.end);
            }
        }
        runs.insert(runs.partition_point(|run| run.start < added.start), added);
        state.runs = runs;
    }

    /// As far as bytes are there from `at` on: `at` itself, where there are none.
    pub fn end(&self, at: usize) -> usize {
        let state = self.state();
        let found = state.runs.partition_point(|run| run.start <= at).checked_sub(1);
        found.and_then(|found| state.runs.get(found)).map_or(at, |run| run.end.max(at))
    }

    /// What of a range is not there.
    pub fn missing(&self, range: Range<usize>) -> Vec<Range<usize>> {
        let state = self.state();
        let (mut at, mut missing) = (range.start, Vec::new());
        for run in state.runs.iter().filter(|run| run.end > range.start && run.start < range.end) {
            if run.start > at {
                missing.push(at..run.start);
            }
            at = run.end;
        }
        if at < range.end {
            missing.push(at..range.end);
        }
        missing
    }

    /// Notes bytes that this thread needed and that were not there.
    fn want(&self, wanted: Range<usize>) {
        self.take_wanted();
        self.state().wanted.push((current().id(), wanted));
    }

    /// Whether something was needed last that was not there.
    pub fn is_wanting(&self) -> bool {
        self.state().wanted.iter().any(|(thread, _)| *thread == current().id())
    }

    /// What was needed last and was not there, if an error came of that.
    pub fn take_wanted(&self) -> Option<Range<usize>> {
        let mut state = self.state();
        let found = state.wanted.iter().position(|(thread, _)| *thread == current().id())?;
        Some(state.wanted.swap_remove(found).1)
    }
}

/// What an index knows of it; nothing, if the message is at hand whole.
#[derive(Debug, Clone, Default)]
pub struct AtHand(pub Option<Arc<Present>>);

/// It is nothing that an index says.
impl PartialEq for AtHand {
    fn eq(&self, _: &Self) -> bool {
        true
    }
}

impl Eq for AtHand {}

impl AtHand {
    /// Notes that something is needed of what there is to know of that place.
    pub(super) fn lacks(&self, at: usize) -> Error {
        if let Some(present) = &self.0 {
            present.want(at..at + 1);
        }
        Error::new(ErrorKind::Truncated { needed: 1 }, at)
    }

    /// Says yes, if all of the message is there; else that all of it is needed.
    pub(super) fn whole(&self, message: &[u8]) -> Result<()> {
        match self.0.as_ref().and_then(|present| Some((present, present.missing(0..message.len()).first()?.start))) {
            None => Ok(()),
            Some((present, at)) => {
                present.want(at..message.len());
                Err(Error::new(ErrorKind::Truncated { needed: message.len() - at }, at))
            }
        }
    }
}

/// Reads a message from anywhere on, as far as it is there.
#[derive(Debug, Clone)]
pub(super) struct Window<'i, 'p> {
    r: Reader<'i>,
    message: &'i [u8],
    trusted: bool,
    present: Option<&'p Present>,
    /// Bytes of the message behind those that `r` sees.
    beyond: usize,
}

impl<'i, 'p> Window<'i, 'p> {
    pub(super) fn new(message: &'i [u8], at_hand: &'p AtHand, at: usize, trusted: bool) -> Self {
        let present = at_hand.0.as_deref();
        let (r, beyond) = seen(message, present, at, trusted);
        Window { r, message, trusted, present, beyond }
    }

    #[inline(always)]
    pub(super) fn next(&mut self) -> Result<Token<'i>> {
        match self.present {
            None => self.r.next(),
            Some(present) => self.next_of_parts(present),
        }
    }

    #[inline(always)]
    pub(super) fn leaf(&mut self) -> Result<Option<Leaf<'i>>> {
        match self.present {
            None => self.r.leaf(),
            Some(present) => self.r.leaf().map_err(|error| self.lacks(present, error)),
        }
    }

    #[inline(never)]
    fn next_of_parts(&mut self, present: &Present) -> Result<Token<'i>> {
        let before = self.r.place();
        let error = match self.r.next() {
            Ok(token) => return Ok(token),
            Err(error) => error,
        };
        // How many values follow is measured by what the message has, and not by what is at hand of it.
        self.r.rewind(before);
        match self.r.count(self.beyond) {
            Some(token) => Ok(token),
            None => Err(self.lacks(present, error)),
        }
    }

    /// If the bytes at hand end here, and not the message, that is noted.
    #[cold]
    fn lacks(&self, present: &Present, error: Error) -> Error {
        if let ErrorKind::Truncated { needed } = *error.kind() {
            let end = self.message.len() - self.beyond;
            if needed <= self.beyond {
                present.want(end..end + needed);
            }
        }
        error
    }

    /// Passes over a leaf whose length is known, without its bytes.
    pub(super) fn pass_leaf(&mut self) -> bool {
        let before = self.r.place();
        match self.r.leaf_len().and_then(|len| self.r.offset().checked_add(len)) {
            Some(end) if end <= self.message.len() => {
                self.rewind(end);
                true
            }
            _ => {
                self.r.rewind(before);
                false
            }
        }
    }

    pub(super) fn is_partial(&self) -> bool {
        self.present.is_some()
    }

    #[inline(always)]
    pub(super) fn accept(&mut self, encoded: &[u8]) -> bool {
        self.r.accept(encoded)
    }

    #[inline(always)]
    pub(super) fn offset(&self) -> usize {
        self.r.offset()
    }

    #[inline(always)]
    pub(super) fn remaining(&self) -> usize {
        self.r.remaining() + self.beyond
    }

    #[inline(always)]
    pub(super) fn rewind(&mut self, place: usize) {
        match self.present {
            None => self.r.rewind(place),
            Some(_) => (self.r, self.beyond) = seen(self.message, self.present, place, self.trusted),
        }
    }

    pub(super) fn trusted(&self) -> bool {
        self.trusted
    }
}

/// A reader of what is there from `at` on, and how many bytes of the message are behind that.
fn seen<'i>(message: &'i [u8], present: Option<&Present>, at: usize, trusted: bool) -> (Reader<'i>, usize) {
    let end = present.map_or(message.len(), |present| present.end(at).min(message.len()));
    (Reader::from(&message[..end], at, trusted), message.len() - end)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::vec;

    #[test]
    fn runs_are_joined() {
        let present = Present::default();
        for range in [10..20, 30..40, 50..60] {
            present.add(range);
        }
        assert_eq!(present.missing(0..70), vec![0..10, 20..30, 40..50, 60..70]);
        assert_eq!((present.end(9), present.end(10), present.end(19), present.end(20)), (9, 20, 20, 20));
        present.add(20..35);
        assert_eq!(present.missing(15..55), vec![40..50]);
        present.add(0..100);
        assert_eq!((present.missing(0..100), present.end(5)), (vec![], 100));
    }
}

//! A place in bytes that come from outside: every length is checked against what is left.

use crate::error::{Error, ErrorKind, Result};
use crate::text;

/// Reads front to back; an error tells where.
#[derive(Debug, Clone)]
pub(crate) struct Cursor<'i> {
    whole: &'i [u8],
    rest: &'i [u8],
}

impl<'i> Cursor<'i> {
    pub(crate) fn new(whole: &'i [u8]) -> Self {
        Cursor { whole, rest: whole }
    }

    pub(crate) fn whole(&self) -> &'i [u8] {
        self.whole
    }

    #[cold]
    #[inline(never)]
    pub(crate) fn error<T>(&self, kind: ErrorKind) -> Result<T> {
        Err(Error::new(kind, self.offset()))
    }

    #[inline(always)]
    pub(crate) fn take(&mut self, len: usize) -> Result<&'i [u8]> {
        match self.rest.split_at_checked(len) {
            Some((head, rest)) => {
                self.rest = rest;
                Ok(head)
            }
            None => self.error(ErrorKind::Truncated { needed: len - self.rest.len() }),
        }
    }

    #[inline(always)]
    pub(crate) fn array<const N: usize>(&mut self) -> Result<[u8; N]> {
        match self.rest.split_first_chunk() {
            Some((head, rest)) => {
                self.rest = rest;
                Ok(*head)
            }
            None => self.error(ErrorKind::Truncated { needed: N - self.rest.len() }),
        }
    }

    /// `len` items of `N` bytes.
    #[inline(always)]
    pub(crate) fn chunks<const N: usize>(&mut self, len: usize) -> Result<&'i [[u8; N]]> {
        match len.checked_mul(N) {
            Some(bytes) => Ok(self.take(bytes)?.as_chunks().0),
            None => self.error(ErrorKind::TooLong),
        }
    }

    /// A count of values that follow, each of `least` bytes or more: checked against what is left, so that a host may
    /// allocate for them.
    #[inline(always)]
    pub(crate) fn claim(&self, len: usize, least: usize) -> Result<usize> {
        if len > self.rest.len() / least {
            return self.error(ErrorKind::Truncated { needed: len.saturating_mul(least) - self.rest.len() });
        }
        Ok(len)
    }

    /// Steps over `expected`, if it comes next.
    #[inline(always)]
    pub(crate) fn accept(&mut self, expected: &[u8]) -> bool {
        match self.rest.split_at_checked(expected.len()) {
            Some((head, rest)) if text::same_short(head, expected) => {
                self.rest = rest;
                true
            }
            _ => false,
        }
    }

    /// Steps over bytes that were looked at: `len` of [`Self::rest`], or all of them.
    #[inline(always)]
    pub(crate) fn skip_over(&mut self, len: usize) {
        self.rest = self.rest.get(len..).unwrap_or_default();
    }

    /// All that is left.
    #[inline(always)]
    pub(crate) fn rest(&self) -> &'i [u8] {
        self.rest
    }

    #[inline(always)]
    pub(crate) fn offset(&self) -> usize {
        self.whole.len() - self.rest.len()
    }

    #[inline(always)]
    pub(crate) fn remaining(&self) -> usize {
        self.rest.len()
    }

    /// Back to an offset that [`Self::offset`] gave.
    #[inline(always)]
    pub(crate) fn rewind(&mut self, offset: usize) {
        self.rest = &self.whole[offset..];
    }

    /// Back by the one byte that was read last. (Had a copy of the cursor been kept to go back to, it would be loaded as a whole just
    /// after its halves were stored, for which the processor has to wait: 4 ns for each leaf.)
    #[inline(always)]
    pub(crate) fn step_back(&mut self) {
        self.rest = self.whole.get(self.offset().wrapping_sub(1)..).unwrap_or_default();
    }

    pub(crate) fn finish(&self) -> Result<()> {
        match self.remaining() {
            0 => Ok(()),
            count => self.error(ErrorKind::Trailing { count }),
        }
    }
}

//! Numbers of arrays, whatever their width: ranges and order, in loops that the compiler makes several at a time of.

use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;

/// The numbers of a buffer.
pub enum Numbers<'a> {
    I8(&'a [u8]),
    I16(&'a [u8]),
    I32(&'a [u8]),
    I64(&'a [u8]),
    U8(&'a [u8]),
    U16(&'a [u8]),
    U32(&'a [u8]),
    U64(&'a [u8]),
}

/// Calls one of the functions below for the width: bytes need not be aligned for numbers.
macro_rules! each {
    ($numbers:expr, $function:ident $(, $more:expr)*) => {
        match $numbers {
            Numbers::I8(bytes) => $function(bytes, i8::from_ne_bytes $(, $more)*),
            Numbers::I16(bytes) => $function(bytes, i16::from_ne_bytes $(, $more)*),
            Numbers::I32(bytes) => $function(bytes, i32::from_ne_bytes $(, $more)*),
            Numbers::I64(bytes) => $function(bytes, i64::from_ne_bytes $(, $more)*),
            Numbers::U8(bytes) => $function(bytes, u8::from_ne_bytes $(, $more)*),
            Numbers::U16(bytes) => $function(bytes, u16::from_ne_bytes $(, $more)*),
            Numbers::U32(bytes) => $function(bytes, u32::from_ne_bytes $(, $more)*),
            Numbers::U64(bytes) => $function(bytes, u64::from_ne_bytes $(, $more)*),
        }
    };
}

impl<'a> Numbers<'a> {
    /// code: a letter as NumPy's and `struct`'s, large for unsigned ones.
    pub fn of(bytes: &'a [u8], code: char, width: isize) -> PyResult<Numbers<'a>> {
        let is_signed = match code {
            'b' | 'h' | 'i' | 'l' | 'q' => true,
            'B' | 'H' | 'I' | 'L' | 'Q' => false,
            _ => return Err(PyTypeError::new_err("expected an array of ints")),
        };
        Ok(match (is_signed, width) {
            (true, 1) => Numbers::I8(bytes),
            (true, 2) => Numbers::I16(bytes),
            (true, 4) => Numbers::I32(bytes),
            (true, 8) => Numbers::I64(bytes),
            (false, 1) => Numbers::U8(bytes),
            (false, 2) => Numbers::U16(bytes),
            (false, 4) => Numbers::U32(bytes),
            (false, 8) => Numbers::U64(bytes),
            _ => return Err(PyTypeError::new_err("expected an array of ints")),
        })
    }

    pub fn len(&self) -> usize {
        each!(self, count)
    }

    pub fn first(&self) -> Option<i128> {
        each!(self, first)
    }

    /// Whether each is `low` or more, and below `high`.
    pub fn within(&self, low: i64, high: i64) -> bool {
        each!(self, within, low, high)
    }

    /// Whether each is as large as the one before, the first none below 0, and the last none above `last`.
    pub fn rise_below(&self, last: i64) -> bool {
        let ends = (each!(self, first), each!(self, end));
        ends.0 >= Some(0) && ends.1 <= Some(last.into()) && each!(self, rise)
    }
}

fn count<T, const N: usize>(bytes: &[u8], _: fn([u8; N]) -> T) -> usize {
    bytes.len() / N
}

fn first<T: Into<i128>, const N: usize>(bytes: &[u8], number: fn([u8; N]) -> T) -> Option<i128> {
    bytes.first_chunk().map(|bytes| number(*bytes).into())
}

fn end<T: Into<i128>, const N: usize>(bytes: &[u8], number: fn([u8; N]) -> T) -> Option<i128> {
    bytes.last_chunk().map(|bytes| number(*bytes).into())
}

fn numbers<'a, T, const N: usize>(bytes: &'a [u8], number: impl Fn([u8; N]) -> T + 'a) -> impl Iterator<Item = T> + 'a {
    bytes.as_chunks::<N>().0.iter().map(move |bytes| number(*bytes))
}

// Inlined, so that what makes a number of bytes is known within the loop.
#[inline(always)]
fn within<T, const N: usize>(bytes: &[u8], number: impl Fn([u8; N]) -> T + Copy, low: i64, high: i64) -> bool
where
    T: Copy + Ord + TryFrom<i64> + Into<i128>,
{
    if bytes.len() < N {
        return true;
    }
    if high <= low {
        return false;
    }
    // What the numbers can't be is no bound.
    let low = T::try_from(low).ok();
    let most = T::try_from(high - 1).ok();
    let below = |limit: T| numbers(bytes, number).fold(false, |bad, each| bad | (each < limit));
    let above = |limit: T| numbers(bytes, number).fold(false, |bad, each| bad | (each > limit));
    match (low, most) {
        (Some(low), Some(most)) => !numbers(bytes, number).fold(false, |bad, each| bad | (each < low) | (each > most)),
        (Some(low), None) => !below(low),
        (None, Some(most)) => !above(most),
        (None, None) => true,
    }
}

#[inline(always)]
fn rise<T: Copy + Ord, const N: usize>(bytes: &[u8], number: impl Fn([u8; N]) -> T + Copy) -> bool {
    let after = bytes.get(N..).unwrap_or(&[]);
    let pairs = numbers(bytes, number).zip(numbers(after, number));
    !pairs.fold(false, |bad, (one, next)| bad | (next < one))
}

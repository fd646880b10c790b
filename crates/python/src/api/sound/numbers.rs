//! Numbers of arrays, whatever their width: ranges and order, in loops that the compiler makes several at a time of.

use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use std::ops::BitOr;

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

    /// Whether each is `low` (0 or -1) or more, and below `high`.
    pub fn within(&self, low: i64, high: i64) -> bool {
        match self {
            Numbers::I8(bytes) => signed(bytes, i8::from_ne_bytes, low, high),
            Numbers::I16(bytes) => signed(bytes, i16::from_ne_bytes, low, high),
            Numbers::I32(bytes) => signed(bytes, i32::from_ne_bytes, low, high),
            Numbers::I64(bytes) => signed(bytes, i64::from_ne_bytes, low, high),
            // What has the highest bit set is negative when it is taken for signed.
            Numbers::U8(bytes) => signed(bytes, i8::from_ne_bytes, low.max(0), high),
            Numbers::U16(bytes) => signed(bytes, i16::from_ne_bytes, low.max(0), high),
            Numbers::U32(bytes) => signed(bytes, i32::from_ne_bytes, low.max(0), high),
            Numbers::U64(bytes) => signed(bytes, i64::from_ne_bytes, low.max(0), high),
        }
        .unwrap_or_else(|| each!(self, within, low, high))
    }

    /// Whether each is as large as the one before, the first none below 0, and the last none above `last`.
    pub fn rise_below(&self, last: i64) -> bool {
        let ends = (each!(self, first), each!(self, end));
        ends.0 >= Some(0)
            && ends.1 <= Some(last.into())
            && match self {
                Numbers::I32(bytes) => signed_rise(bytes, i32::from_ne_bytes),
                Numbers::I64(bytes) => signed_rise(bytes, i64::from_ne_bytes),
                _ => each!(self, rise),
            }
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

/// Calls one of the functions below, in the instructions of processors that add twice as many numbers at a time where this is one: of
/// numbers in the cache that takes two thirds of the time.
macro_rules! by_signs {
    ($function:ident($bytes:expr, $number:expr $(, $more:ident)*)) => {{
        #[cfg(target_arch = "x86_64")]
        #[target_feature(enable = "avx2")]
        fn wide<T: Signed, const N: usize>(bytes: &[u8], number: impl Fn([u8; N]) -> T $(, $more: T)*) -> T {
            $function(bytes, number $(, $more)*)
        }
        #[cfg(target_arch = "x86_64")]
        let found = match is_x86_feature_detected!("avx2") {
            // SAFETY: the processor has these instructions.
            true => unsafe { wide($bytes, $number $(, $more)*) },
            false => $function($bytes, $number $(, $more)*),
        };
        #[cfg(not(target_arch = "x86_64"))]
        let found = $function($bytes, $number $(, $more)*);
        found
    }};
}

/// What tells by the signs of sums whether numbers are in order. Every processor adds several at a time; what a build for all of them may
/// use compares none of 64 bits, and took twice as long.
trait Signed: Copy + BitOr<Output = Self> + TryFrom<i64> + Default {
    fn minus(self, other: Self) -> Self;
    fn is_negative(self) -> bool;
}

macro_rules! is_signed {
    ($($number:ty)*) => {
        $(impl Signed for $number {
            #[inline(always)]
            fn minus(self, other: Self) -> Self {
                self.wrapping_sub(other)
            }

            #[inline(always)]
            fn is_negative(self) -> bool {
                self < 0
            }
        })*
    };
}

is_signed!(i8 i16 i32 i64);

/// Whether each is from `low` (0 or -1) to below `high`, if there are no more such numbers than are 0 or above.
fn signed<T: Signed, const N: usize>(
    bytes: &[u8],
    number: impl Fn([u8; N]) -> T + Copy,
    low: i64,
    high: i64,
) -> Option<bool> {
    let most = T::try_from(high.checked_sub(1)?.checked_sub(low)?).ok().filter(|most| !most.is_negative())?;
    let low = T::try_from(low).ok()?;
    Some(!by_signs!(beyond(bytes, number, low, most)).is_negative())
}

/// Negative if some number is below `low` or more than `most` above it.
#[inline(always)]
fn beyond<T: Signed, const N: usize>(bytes: &[u8], number: impl Fn([u8; N]) -> T, low: T, most: T) -> T {
    let all = bytes.as_chunks::<N>().0.iter();
    all.fold(T::default(), |signs, bytes| {
        let each = number(*bytes).minus(low);
        // Where the first is negative the second doesn't matter.
        signs | each | most.minus(each)
    })
}

/// Whether each is as large as the one before, of which the first is not negative.
fn signed_rise<T: Signed, const N: usize>(bytes: &[u8], number: impl Fn([u8; N]) -> T + Copy) -> bool {
    !by_signs!(falls(bytes, number)).is_negative()
}

/// Negative if some number but the first is, or is less than the one before.
#[inline(always)]
fn falls<T: Signed, const N: usize>(bytes: &[u8], number: impl Fn([u8; N]) -> T) -> T {
    let after = bytes.get(N..).unwrap_or(&[]).as_chunks::<N>().0;
    bytes.as_chunks::<N>().0.iter().zip(after).fold(T::default(), |signs, (one, next)| {
        let next = number(*next);
        // Two that are not negative have no difference that is too large.
        signs | next | next.minus(number(*one))
    })
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

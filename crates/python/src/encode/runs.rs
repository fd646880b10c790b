//! Packed runs: what lists and tuples become whose items are of one type.

use crate::cpython::{float, int, references, text, Obj};
use crate::memory::Vec;
use holdall_format::model::{RunWriter, Seq};
use pyo3::ffi;
use std::ptr::addr_of_mut;

/// How many values are passed to the format at once: few enough for the nearest cache.
pub const BLOCK: usize = 512;
/// A block for runs of up to so many values. Zeroing one of [`BLOCK`] took longer than to write thirty.
const SHORT: usize = 32;
/// Runs up to this length (coordinates, say) are written value by value.
const FEW: usize = 8;
/// The shortest runs that are packed. Two floats are smaller packed; small ints take a byte each anyway, so more are
/// needed.
const LEAST_FLOATS: usize = 2;
const LEAST: usize = 4;

/// Which texts may be written as a run, in which none has an identity.
#[derive(Clone, Copy)]
pub(super) enum Texts {
    /// None.
    Apart,
    /// Those that nobody else holds.
    Unshared,
    /// All.
    Any,
}

/// Writes `items` as one packed run. `false`: they are not of one type with such runs.
///
/// # Safety
/// `items` are alive.
#[inline(always)]
pub(super) unsafe fn packed<W: RunWriter>(w: &mut W, items: &[Obj], seq: Seq, texts: Texts) -> bool {
    // SAFETY: `items` are alive by contract.
    unsafe {
        if items.len() < LEAST_FLOATS {
            return false;
        }
        let (first, last) = (items[0], items[items.len() - 1]);
        if ffi::Py_TYPE(first) != ffi::Py_TYPE(last) {
            return false;
        }
        if float::is(first) {
            return floats(w, items, seq);
        }
        if items.len() < LEAST {
            return false;
        }
        if int::is(first) {
            return ints(w, items, seq);
        }
        if text::is(first) {
            return match texts {
                Texts::Apart => false,
                Texts::Unshared => short_texts(w, items, seq, true),
                Texts::Any => short_texts(w, items, seq, false),
            };
        }
        ffi::Py_TYPE(first) == addr_of_mut!(ffi::PyBool_Type) && bools(w, items, seq)
    }
}

#[inline(never)]
unsafe fn floats<W: RunWriter>(w: &mut W, items: &[Obj], seq: Seq) -> bool {
    let start = w.position();
    w.floats_begin(seq, items.len());
    if items.len() <= FEW {
        for &item in items {
            // SAFETY: `items` are alive, as for `packed`.
            unsafe {
                if !float::is(item) {
                    w.rollback(start);
                    return false;
                }
                w.floats(&[float::value(item)]);
            }
        }
        return true;
    }
    // SAFETY: `items` are alive, as for `packed`.
    unsafe {
        match items.len() <= SHORT {
            true => floats_by::<W, SHORT>(w, items, start),
            false => floats_by::<W, { BLOCK / 4 }>(w, items, start),
        }
    }
}

/// The same by blocks of so many.
///
/// # Safety
/// `items` are alive.
unsafe fn floats_by<W: RunWriter, const N: usize>(w: &mut W, items: &[Obj], start: usize) -> bool {
    let mut block = [0f64; N];
    for chunk in items.chunks(block.len()) {
        for (value, &item) in block.iter_mut().zip(chunk) {
            // SAFETY: `items` are alive, as for `packed`.
            unsafe {
                if !float::is(item) {
                    w.rollback(start);
                    return false;
                }
                *value = float::value(item);
            }
        }
        w.floats(&block[..chunk.len()]);
    }
    true
}

#[inline(always)]
unsafe fn ints<W: RunWriter>(w: &mut W, items: &[Obj], seq: Seq) -> bool {
    // SAFETY: `items` are alive, as for `packed`.
    unsafe {
        match items.len() <= SHORT {
            true => ints_by::<W, SHORT>(w, items, seq),
            false => ints_by::<W, { BLOCK / 4 }>(w, items, seq),
        }
    }
}

/// The same by blocks of so many.
///
/// # Safety
/// `items` are alive.
#[inline(never)]
unsafe fn ints_by<W: RunWriter, const N: usize>(w: &mut W, items: &[Obj], seq: Seq) -> bool {
    let start = w.position();
    let mut run = None;
    let mut block = [0i64; N];
    for chunk in items.chunks(block.len()) {
        for (value, &item) in block.iter_mut().zip(chunk) {
            // SAFETY: `items` are alive, as for `packed`.
            let number = unsafe {
                if int::is(item) {
                    int::value(item)
                } else {
                    None
                }
            };
            let Some(number) = number else {
                w.rollback(start);
                return false;
            };
            *value = number;
        }
        let block = &block[..chunk.len()];
        let run = run.get_or_insert_with(|| w.ints_begin(seq, items.len(), block));
        w.ints(run, block);
    }
    true
}

#[inline(never)]
unsafe fn bools<W: RunWriter>(w: &mut W, items: &[Obj], seq: Seq) -> bool {
    // SAFETY: `items` are alive, as for `packed`.
    unsafe {
        if items.iter().any(|&item| ffi::Py_TYPE(item) != addr_of_mut!(ffi::PyBool_Type)) {
            return false;
        }
        let run: Vec<u8> = items.iter().map(|&item| u8::from(item == ffi::Py_True())).collect();
        w.bools(seq, &run);
    }
    true
}

/// Writes short ASCII strings that nobody else holds; others have an identity to preserve.
#[inline(never)]
unsafe fn short_texts<W: RunWriter>(w: &mut W, items: &[Obj], seq: Seq, tracks: bool) -> bool {
    // SAFETY: `items` are alive, as for `packed`.
    unsafe {
        let plain = |item: Obj| {
            if !text::is(item) || (tracks && references(item) > 1 && !text::is_singleton(item)) {
                return None;
            }
            text::ascii(item).filter(|text| text.len() < 256)
        };
        let mut lengths = Vec::with_capacity(items.len());
        for &item in items {
            match plain(item) {
                Some(text) => lengths.push(text.len() as u8),
                None => return false,
            }
        }
        w.texts(seq, &lengths);
        for &item in items {
            if let Some(text) = text::ascii(item) {
                w.texts_bytes(text);
            }
        }
    }
    true
}

//! Lists and tuples, and the packed runs that those of one type become.

use super::{Encoder, Frame, Kind, Sharing};
use crate::cpython::{float, int, references, text, Obj, Owned};
use crate::encode::dialect::{Dialect, Native, NativeWriter};
use crate::error::Result;
use crate::memory::Vec;
use holdall_format::model::Seq;
use holdall_format::Writer;
use pyo3::ffi;
use std::ptr::addr_of_mut;

/// How many values are gathered before they are given to the format: few enough to stay in the nearest cache.
pub const BLOCK: usize = 512;
/// Runs up to this length, of which coordinates are made, are written value by value.
const FEW: usize = 8;
/// The shortest runs worth packing. Two floats are smaller packed; ints need more, as small ones are a byte each anyway.
const LEAST_FLOATS: usize = 2;
const LEAST: usize = 4;

impl<D: Dialect> Encoder<'_, D> {
    /// # Safety
    /// `object` is a list (or a tuple, as `seq` says) whose id was written.
    #[inline(always)]
    pub(crate) unsafe fn sequence(&mut self, object: Obj, seq: Seq) -> Result<()> {
        // SAFETY: of that type, says the caller; nothing below runs Python code before the frame is pushed.
        unsafe {
            let items = items(object, seq);
            let run = D::run(self, items, seq);
            if run == Some(true) {
                return Ok(());
            }
            match seq {
                Seq::Tuple => self.w.tuple(items.len()),
                Seq::List => self.w.list(items.len()),
            }
            let mut at = 0;
            if run.is_none() {
                // Lists of leaves, which others would have as a run, need no frame.
                while at < items.len() && self.leaf(items[at], crate::types::walker::BY_PARENT)? {
                    at += 1;
                }
            }
            if at == items.len() {
                return Ok(());
            }
            let kind = if seq == Seq::List { Kind::List } else { Kind::Tuple };
            let frame = Frame { at: at as isize, len: items.len(), ..Frame::new(Owned::borrowed(object), kind) };
            self.tables.stack.push(frame);
        }
        Ok(())
    }
}

impl<W: NativeWriter> Encoder<'_, Native<W>> {
    /// Writes `items` as one packed run, if they are of one type that has such runs.
    ///
    /// # Safety
    /// `items` are alive.
    #[inline(always)]
    pub(crate) unsafe fn packed_run(&mut self, items: &[Obj], seq: Seq) -> bool {
        // SAFETY: alive, says the caller.
        unsafe {
            if items.len() < LEAST_FLOATS {
                return false;
            }
            let (first, last) = (items[0], items[items.len() - 1]);
            if ffi::Py_TYPE(first) != ffi::Py_TYPE(last) {
                return false;
            }
            if float::is(first) {
                return self.floats(items, seq);
            }
            if items.len() < LEAST {
                return false;
            }
            if int::is(first) {
                return self.ints(items, seq);
            }
            if text::is(first) {
                return self.texts(items, seq);
            }
            ffi::Py_TYPE(first) == addr_of_mut!(ffi::PyBool_Type) && self.bools(items, seq)
        }
    }

    #[inline(never)]
    unsafe fn floats(&mut self, items: &[Obj], seq: Seq) -> bool {
        let start = self.w.position();
        self.w.floats_begin(seq, items.len());
        if items.len() <= FEW {
            for &item in items {
                // SAFETY: alive, says the caller.
                unsafe {
                    if !float::is(item) {
                        self.w.rollback(start);
                        return false;
                    }
                    self.w.floats(&[float::value(item)]);
                }
            }
            return true;
        }
        let mut block = [0f64; BLOCK / 4];
        for chunk in items.chunks(block.len()) {
            for (value, &item) in block.iter_mut().zip(chunk) {
                // SAFETY: alive, says the caller.
                unsafe {
                    if !float::is(item) {
                        self.w.rollback(start);
                        return false;
                    }
                    *value = float::value(item);
                }
            }
            self.w.floats(&block[..chunk.len()]);
        }
        true
    }

    #[inline(never)]
    unsafe fn ints(&mut self, items: &[Obj], seq: Seq) -> bool {
        let start = self.w.position();
        let mut run = None;
        let mut block = [0i64; BLOCK / 4];
        for chunk in items.chunks(block.len()) {
            for (value, &item) in block.iter_mut().zip(chunk) {
                // SAFETY: alive, says the caller.
                let number = unsafe {
                    if int::is(item) {
                        int::value(item)
                    } else {
                        None
                    }
                };
                let Some(number) = number else {
                    self.w.rollback(start);
                    return false;
                };
                *value = number;
            }
            let block = &block[..chunk.len()];
            let run = run.get_or_insert_with(|| self.w.ints_begin(seq, items.len(), block));
            self.w.ints(run, block);
        }
        true
    }

    #[inline(never)]
    unsafe fn bools(&mut self, items: &[Obj], seq: Seq) -> bool {
        // SAFETY: alive, says the caller.
        unsafe {
            if items.iter().any(|&item| ffi::Py_TYPE(item) != addr_of_mut!(ffi::PyBool_Type)) {
                return false;
            }
            let run: Vec<u8> = items.iter().map(|&item| u8::from(item == ffi::Py_True())).collect();
            self.w.bools(seq, &run);
        }
        true
    }

    /// Short ASCII strings that nobody else holds: others have an identity to keep.
    #[inline(never)]
    unsafe fn texts(&mut self, items: &[Obj], seq: Seq) -> bool {
        if self.options.intern || !matches!(self.sharing, Sharing::ByCount) {
            return false;
        }
        let tracks = self.tracks();
        // SAFETY: alive, says the caller.
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
            self.w.texts(seq, &lengths);
            for &item in items {
                if let Some(text) = text::ascii(item) {
                    self.w.texts_bytes(text);
                }
            }
        }
        true
    }
}

/// The items of a list or tuple.
///
/// # Safety
/// `object` is of that type, and unchanged while the slice is used.
#[inline(always)]
pub(crate) unsafe fn items<'a>(object: Obj, seq: Seq) -> &'a [Obj] {
    // SAFETY: of that type, says the caller.
    unsafe {
        let len = ffi::Py_SIZE(object) as usize;
        let start = match seq {
            Seq::List => (*object.cast::<ffi::PyListObject>()).ob_item,
            Seq::Tuple => addr_of_mut!((*object.cast::<ffi::PyTupleObject>()).ob_item).cast(),
        };
        // An empty list's array is null, which a slice must not be.
        if len == 0 {
            return &[];
        }
        std::slice::from_raw_parts(start, len)
    }
}

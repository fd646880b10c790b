//! Lists and tuples, and the packed runs that they become if their items are of one type.

use super::{Encoder, Frame, Kind, Sharing};
use crate::cpython::{float, int, references, text, Obj, Owned};
use crate::encode::dialect::{Dialect, Native, NativeWriter};
use crate::error::Result;
use crate::memory::Vec;
use holdall_format::model::Seq;
use holdall_format::Writer;
use pyo3::ffi;
use std::ptr::addr_of_mut;

/// How many values are passed to the format at once: few enough for the nearest cache.
pub const BLOCK: usize = 512;
/// Runs up to this length (coordinates, say) are written value by value.
const FEW: usize = 8;
/// So many leaves at the front of a list that is no run are written without a frame: from there on the walk looks ahead.
const MOST_LEAVES: usize = 16;
/// The shortest runs that are packed. Two floats are smaller packed; small ints take a byte each anyway, so more are
/// needed.
const LEAST_FLOATS: usize = 2;
const LEAST: usize = 4;

impl<D: Dialect> Encoder<'_, D> {
    /// Writes a list or tuple.
    ///
    /// # Safety
    /// `object` is a list (or a tuple, as `seq` says) whose id was written.
    #[inline(always)]
    pub(crate) unsafe fn sequence(&mut self, object: Obj, seq: Seq) -> Result<()> {
        // SAFETY: by contract a list or tuple; nothing below runs Python code before the frame is pushed.
        unsafe {
            let items = items(object, seq);
            let run = D::run(self, items, seq);
            if run == Some(true) {
                return Ok(());
            }
            let marks_items = seq == Seq::List && self.dialect.marks_items() && !items.is_empty();
            match seq {
                _ if marks_items => {}
                Seq::Tuple => self.w.tuple(items.len()),
                Seq::List => self.w.list(items.len()),
            }
            let mut at = 0;
            if !marks_items {
                // Leaves need no frame: neither lists of them, where the format has no runs, nor what is too short or too mixed for one.
                let leaves = if run.is_none() { items.len() } else { items.len().min(MOST_LEAVES) };
                while at < leaves && self.leaf(items[at], crate::types::walker::BY_PARENT)? {
                    at += 1;
                }
            }
            if at == items.len() {
                if at > 0 && seq == Seq::List {
                    D::end_list(self);
                }
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
    /// Writes `items` as one packed run. `false`: they are not of one type with such runs.
    ///
    /// # Safety
    /// `items` are alive.
    #[inline(always)]
    pub(crate) unsafe fn packed_run(&mut self, items: &[Obj], seq: Seq) -> bool {
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
                // SAFETY: `items` are alive, as for `packed_run`.
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
                // SAFETY: `items` are alive, as for `packed_run`.
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
                // SAFETY: `items` are alive, as for `packed_run`.
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
        // SAFETY: `items` are alive, as for `packed_run`.
        unsafe {
            if items.iter().any(|&item| ffi::Py_TYPE(item) != addr_of_mut!(ffi::PyBool_Type)) {
                return false;
            }
            let run: Vec<u8> = items.iter().map(|&item| u8::from(item == ffi::Py_True())).collect();
            self.w.bools(seq, &run);
        }
        true
    }

    /// Writes short ASCII strings that nobody else holds; others have an identity to preserve.
    #[inline(never)]
    unsafe fn texts(&mut self, items: &[Obj], seq: Seq) -> bool {
        if self.options.intern || !matches!(self.sharing, Sharing::ByCount) {
            return false;
        }
        let tracks = self.tracks();
        // SAFETY: `items` are alive, as for `packed_run`.
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
/// `object` is a list or tuple, as `seq` says, and unchanged while the slice is used.
#[inline(always)]
pub(crate) unsafe fn items<'a>(object: Obj, seq: Seq) -> &'a [Obj] {
    // SAFETY: by contract an object of that type, whose array has `Py_SIZE` items.
    unsafe {
        let len = ffi::Py_SIZE(object) as usize;
        let start = match seq {
            Seq::List => (*object.cast::<ffi::PyListObject>()).ob_item,
            Seq::Tuple => addr_of_mut!((*object.cast::<ffi::PyTupleObject>()).ob_item).cast(),
        };
        // An empty list's array may be null, which a slice's address must not be.
        if len == 0 {
            return &[];
        }
        std::slice::from_raw_parts(start, len)
    }
}

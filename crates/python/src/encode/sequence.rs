//! Lists and tuples.

use super::runs::{self, Texts};
use super::{Encoder, Frame, Kind, Sharing};
use crate::cpython::{Obj, Owned};
use crate::encode::dialect::{Dialect, Native, NativeWriter};
use crate::error::Result;
use holdall_format::model::Seq;
use holdall_format::Writer;
use pyo3::ffi;
use std::ptr::addr_of_mut;

/// So many leaves at the front of a list that is no run are written without a frame: from there on the walk looks ahead.
const MOST_LEAVES: usize = 16;
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
        let texts = match (self.options.intern || !matches!(self.sharing, Sharing::ByCount), self.tracks()) {
            (true, _) => Texts::Apart,
            (false, true) => Texts::Unshared,
            (false, false) => Texts::Any,
        };
        // SAFETY: `items` are alive by contract.
        unsafe { runs::packed(&mut self.w, items, seq, texts) }
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

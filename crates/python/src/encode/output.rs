//! The output of an encoder: a reused buffer for small messages, a growing `bytes` for large ones.

use crate::blocks::in_large_pages;
use crate::cpython::text::copy_short;
use crate::cpython::{_PyBytes_Resize, Obj, Owned};
use crate::error::{raised, Result};
use crate::memory::{out_of_memory, Vec};
use holdall_format::Sink;
use pyo3::ffi;
use std::mem::MaybeUninit;

/// From this size on the result is built in a `bytes` object, which saves copying it.
const SCRATCH: usize = 256 << 10;
/// So much is taken at once if the message before had a use for it, whether or not this one turns out to: what it leaves is given back, and
/// was never touched.
const ROOMY: usize = 64 << 20;
/// More than that is taken at once if this message has so great a part of it already.
const LIKELY: usize = 8;
/// Space that is always kept behind the end, so that small writes need no check beforehand.
const SLACK: usize = 64;

/// The output of a message whose greatest size is known beforehand.
pub struct Bounded<'b> {
    block: &'b mut [MaybeUninit<u8>],
    /// How many bytes of the block were written.
    len: usize,
    /// There was no room for some: what was written is worth nothing.
    over: bool,
}

impl<'b> Bounded<'b> {
    /// What the output of a short message takes, on the stack.
    pub const SHORT: usize = 512;

    #[inline(always)]
    pub fn new(block: &'b mut [MaybeUninit<u8>]) -> Self {
        Bounded { block, len: 0, over: false }
    }

    /// The result. `None`: there was no room for it, or there is no memory.
    #[inline(always)]
    pub fn bytes(&self) -> Option<Owned> {
        if self.over {
            return None;
        }
        // SAFETY: the GIL is held by whoever encodes; `len` bytes were written.
        unsafe {
            let made = Owned::new(ffi::PyBytes_FromStringAndSize(self.block.as_ptr().cast(), self.len as isize));
            if made.is_none() {
                ffi::PyErr_Clear();
            }
            made
        }
    }
}

/// `bytes` of at most `room` bytes that `write` writes in their place. `None`: it says no, or there is no memory.
///
/// # Safety
/// The GIL is held.
pub unsafe fn bytes_within(room: usize, write: impl FnOnce(&mut Bounded) -> bool) -> Option<Owned> {
    // SAFETY: the GIL is held, by contract; nobody else has the new object, which has `room` bytes.
    unsafe {
        let mut object = ffi::PyBytes_FromStringAndSize(std::ptr::null(), isize::try_from(room).ok()?);
        if !object.is_null() {
            let start = ffi::PyBytes_AS_STRING(object).cast_mut().cast();
            let mut output = Bounded::new(std::slice::from_raw_parts_mut(start, room));
            let len = if write(&mut output) && !output.over { output.len } else { 0 };
            _PyBytes_Resize(&mut object, len as isize);
            if len > 0 && !object.is_null() {
                return Owned::new(object);
            }
        }
        Owned::new(object);
        ffi::PyErr_Clear();
        None
    }
}

impl Sink for &mut Bounded<'_> {
    #[inline(always)]
    fn put(&mut self, bytes: &[u8]) {
        if bytes.len() > self.block.len() - self.len {
            self.over = true;
            return;
        }
        // SAFETY: there is room for `bytes`, which are elsewhere.
        unsafe { copy_short(bytes, self.block.as_mut_ptr().cast::<u8>().add(self.len)) };
        self.len += bytes.len();
    }

    #[inline(always)]
    fn put_array<const N: usize>(&mut self, bytes: [u8; N]) {
        self.put(&bytes);
    }

    #[inline(always)]
    fn put_tagged(&mut self, head: u8, bytes: &[u8]) {
        self.put(&[head]);
        self.put(bytes);
    }

    #[inline(always)]
    fn put_part<const N: usize>(&mut self, block: [u8; N], len: usize) {
        if N > self.block.len() - self.len {
            return self.put(&block[..len.min(N)]);
        }
        // SAFETY: there is room for the whole block; bytes after `len` don't count.
        unsafe { self.block.as_mut_ptr().add(self.len).cast::<[u8; N]>().write_unaligned(block) };
        self.len += len.min(N);
    }

    fn len(&self) -> usize {
        self.len
    }

    fn truncate(&mut self, len: usize) {
        self.len = self.len.min(len);
    }

    fn written(&mut self, from: usize) -> &mut [u8] {
        let from = from.min(self.len);
        let len = self.len - from;
        // SAFETY: what stands before `self.len` was written, and `self` is borrowed while the slice lives.
        unsafe { std::slice::from_raw_parts_mut(self.block.as_mut_ptr().cast::<u8>().add(from), len) }
    }
}

/// An output buffer. `scratch` owns the memory while `bytes` is `None`.
pub struct Output {
    start: *mut u8,
    len: usize,
    /// How far writes may go: [`SLACK`] bytes less than the allocated size.
    limit: usize,
    scratch: Vec<u8>,
    bytes: Option<Obj>,
    /// The size of the last large result, or what is left of a larger one before: if the next is as large, it fits without waste, and
    /// where sizes go up and down, too. What takes more than what was released last comes from the system, page by page.
    last: usize,
}

impl Output {
    pub fn new() -> Output {
        let mut scratch = Vec::with_capacity(SCRATCH);
        Output { start: scratch.as_mut_ptr(), len: 0, limit: scratch.capacity() - SLACK, scratch, bytes: None, last: 0 }
    }

    #[cold]
    #[inline(never)]
    fn grow(&mut self, more: usize) {
        let needed = self.len.saturating_add(more);
        let doubled = needed.max(self.limit.saturating_mul(2));
        // Memory that was just released can be taken again without page faults if it is large enough, and all at once, so that nothing is
        // copied or moved from one size to the next.
        let again = needed <= self.last && self.last < doubled.saturating_mul(LIKELY).max(ROOMY);
        let wanted = if again { self.last } else { doubled }.saturating_add(SLACK);
        let Ok(size) = isize::try_from(wanted) else { out_of_memory() };
        // SAFETY: whoever encodes holds the GIL. Nobody else has `bytes`, so it may be resized; otherwise `start` has
        // `len` written bytes, and the new object has space for more.
        unsafe {
            let mut object = match self.bytes.take() {
                Some(mut object) => {
                    _PyBytes_Resize(&mut object, size);
                    object
                }
                None => {
                    let object = ffi::PyBytes_FromStringAndSize(std::ptr::null(), size);
                    if !object.is_null() {
                        std::ptr::copy_nonoverlapping(
                            self.start,
                            ffi::PyBytes_AS_STRING(object).cast_mut().cast(),
                            self.len,
                        );
                    }
                    object
                }
            };
            if object.is_null() {
                ffi::PyErr_Clear();
                self.reset();
                out_of_memory();
            }
            self.start = ffi::PyBytes_AS_STRING(object).cast_mut().cast();
            in_large_pages(self.start, wanted);
            self.bytes = Some(std::mem::replace(&mut object, std::ptr::null_mut()));
        }
        self.limit = wanted - SLACK;
    }

    #[inline(always)]
    fn room(&mut self, more: usize) {
        if self.limit - self.len < more {
            self.grow(more);
        }
    }

    /// The result as `bytes`; empties the output.
    pub fn take(&mut self) -> Result<Owned> {
        // SAFETY: the GIL is held; `len` bytes from `start` were written; nobody else has `bytes`.
        let object = unsafe {
            match self.bytes.take() {
                Some(mut object) => {
                    self.last = self.len.max(self.last - self.last / 8);
                    _PyBytes_Resize(&mut object, self.len as isize);
                    Owned::new(object)
                }
                None => Owned::new(ffi::PyBytes_FromStringAndSize(self.start.cast(), self.len as isize)),
            }
        };
        self.reset();
        object.ok_or_else(raised)
    }

    pub fn as_slice(&self) -> &[u8] {
        // SAFETY: `len` bytes from `start` were written.
        unsafe { std::slice::from_raw_parts(self.start, self.len) }
    }

    /// Empties the output; a large buffer is released.
    pub fn reset(&mut self) {
        if let Some(object) = self.bytes.take() {
            // SAFETY: the reference is this output's own.
            unsafe { ffi::Py_DECREF(object) };
        }
        self.start = self.scratch.as_mut_ptr();
        self.limit = self.scratch.capacity() - SLACK;
        self.len = 0;
    }
}

impl Drop for Output {
    fn drop(&mut self) {
        self.reset();
    }
}

impl Sink for &mut Output {
    #[inline(always)]
    fn put(&mut self, bytes: &[u8]) {
        self.room(bytes.len());
        // SAFETY: `room` made space for `bytes`, which don't overlap the output.
        unsafe { copy_short(bytes, self.start.add(self.len)) };
        self.len += bytes.len();
    }

    #[inline(always)]
    fn put_array<const N: usize>(&mut self, bytes: [u8; N]) {
        const { assert!(N <= SLACK) };
        // SAFETY: at least `SLACK` bytes are free, and `N` is at most that (asserted).
        unsafe { self.start.add(self.len).cast::<[u8; N]>().write_unaligned(bytes) };
        self.len += N;
        if self.len > self.limit {
            self.grow(0);
        }
    }

    #[inline(always)]
    fn put_tagged(&mut self, head: u8, bytes: &[u8]) {
        self.room(1 + bytes.len());
        // SAFETY: `room` made space for the tag and `bytes`, which don't overlap the output.
        unsafe {
            let to = self.start.add(self.len);
            *to = head;
            copy_short(bytes, to.add(1));
        }
        self.len += 1 + bytes.len();
    }

    #[inline(always)]
    fn put_headed<const N: usize>(&mut self, head: [u8; N], bytes: &[u8]) {
        self.room(N + bytes.len());
        // SAFETY: `room` made space for the head and `bytes`, which don't overlap the output.
        unsafe {
            let to = self.start.add(self.len);
            to.cast::<[u8; N]>().write_unaligned(head);
            copy_short(bytes, to.add(N));
        }
        self.len += N + bytes.len();
    }

    #[inline(always)]
    fn put_closed<const N: usize>(&mut self, head: [u8; N], bytes: &[u8]) {
        self.room(N + bytes.len() + 1);
        // SAFETY: `room` made space for the head, `bytes` and the zero; `bytes` don't overlap the output.
        unsafe {
            let to = self.start.add(self.len);
            to.cast::<[u8; N]>().write_unaligned(head);
            copy_short(bytes, to.add(N));
            *to.add(N + bytes.len()) = 0;
        }
        self.len += N + bytes.len() + 1;
    }

    #[inline(always)]
    fn put_part<const N: usize>(&mut self, block: [u8; N], len: usize) {
        const { assert!(N <= SLACK) };
        // SAFETY: at least `SLACK` bytes are free, and `N` is at most that (asserted); bytes after `len` don't count.
        unsafe { self.start.add(self.len).cast::<[u8; N]>().write_unaligned(block) };
        self.len += len.min(N);
        if self.len > self.limit {
            self.grow(0);
        }
    }

    #[inline(always)]
    fn len(&self) -> usize {
        self.len
    }

    fn truncate(&mut self, len: usize) {
        self.len = self.len.min(len);
    }

    fn written(&mut self, from: usize) -> &mut [u8] {
        let from = from.min(self.len);
        let len = self.len - from;
        // SAFETY: `from..self.len` was written, and `self` is borrowed while the slice lives.
        unsafe { std::slice::from_raw_parts_mut(self.start.add(from), len) }
    }
}

//! Where out-of-band buffers go: to the caller's list or function, or to the file that the message goes to.

use crate::cpython::{Owned, View};
use crate::error::{raised, Result};
use crate::memory::Vec;
use pyo3::ffi;

/// Smaller buffers stand in the message, where they cost least.
const LENT_FROM: usize = 1 << 12;

/// Who gets the buffers that stand outside a message.
pub enum BufferSink {
    /// A list or a function of the caller's.
    Given(Owned),
    /// The file that the message goes to: their memory is written there as it is.
    File(Vec<View>),
}

impl BufferSink {
    /// How many buffers a list or a file has; a function is not asked.
    pub fn len(&self) -> Result<usize> {
        match self {
            // SAFETY: held by the sink; it is asked as a list only if it is one.
            BufferSink::Given(list) => unsafe {
                if ffi::PyList_Check(list.get()) == 0 {
                    return Ok(0);
                }
                Ok(ffi::PyList_Size(list.get()) as usize)
            },
            BufferSink::File(views) => Ok(views.len()),
        }
    }

    /// Takes back what a message that is begun anew has given since.
    pub fn cut(&mut self, len: usize) -> Result<()> {
        match self {
            // SAFETY: held by the sink, and a list; the slice up to `isize::MAX` is cut at the list's end.
            BufferSink::Given(list) => unsafe {
                if ffi::PyList_Check(list.get()) != 0
                    && ffi::PyList_SetSlice(list.get(), len as isize, isize::MAX, std::ptr::null_mut()) != 0
                {
                    return Err(raised());
                }
            },
            BufferSink::File(views) => views.truncate(len),
        }
        Ok(())
    }
}

/// The buffers that stand outside the message that is being written: who gets them, and how many there are.
#[derive(Default)]
pub struct SentBuffers {
    pub to: Option<BufferSink>,
    count: u64,
}

impl SentBuffers {
    /// Whether a buffer of so many bytes goes to the file beside the message.
    pub fn sends(&self, len: usize) -> bool {
        len >= LENT_FROM && matches!(self.to, Some(BufferSink::File(_)))
    }

    /// Whether the caller wants large buffers.
    pub fn gives(&self) -> bool {
        matches!(self.to, Some(BufferSink::Given(_)))
    }

    /// The number of the next buffer.
    pub fn next(&mut self) -> u64 {
        self.count += 1;
        self.count - 1
    }
}

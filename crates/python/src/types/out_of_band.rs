//! Where out-of-band buffers go: to the user's list or function, or to the file of the message.

use crate::cpython::{Owned, View};
use crate::error::{raised, Result};
use crate::memory::Vec;
use pyo3::ffi;

/// Smaller buffers are written into the message, which costs least.
const LENT_FROM: usize = 1 << 12;

/// The receiver of out-of-band buffers.
pub enum BufferSink {
    /// A list or a function of the user's.
    Given(Owned),
    /// The file of the message, to which their memory is written as it is.
    File(Vec<View>),
}

impl BufferSink {
    /// The number of buffers in a list or a file; 0 for a function.
    pub fn len(&self) -> Result<usize> {
        match self {
            // SAFETY: the sink holds the object, which is read as a list only if it is one.
            BufferSink::Given(list) => unsafe {
                if ffi::PyList_Check(list.get()) == 0 {
                    return Ok(0);
                }
                Ok(ffi::PyList_Size(list.get()) as usize)
            },
            BufferSink::File(views) => Ok(views.len()),
        }
    }

    /// Removes the buffers of a message that is begun again.
    pub fn cut(&mut self, len: usize) -> Result<()> {
        match self {
            // SAFETY: the sink holds the list; a slice up to `isize::MAX` ends at the list's end.
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

/// The out-of-band buffers of the message that is being written: their receiver and their number.
#[derive(Default)]
pub struct SentBuffers {
    pub to: Option<BufferSink>,
    count: u64,
}

impl SentBuffers {
    /// Whether a buffer of that size goes to the file separately.
    pub fn sends(&self, len: usize) -> bool {
        len >= LENT_FROM && matches!(self.to, Some(BufferSink::File(_)))
    }

    /// Whether the user wants large buffers.
    pub fn gives(&self) -> bool {
        matches!(self.to, Some(BufferSink::Given(_)))
    }

    /// The number of the next buffer.
    pub fn next(&mut self) -> u64 {
        self.count += 1;
        self.count - 1
    }
}

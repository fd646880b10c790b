//! Open files by their descriptors.

use crate::io::system;
use crate::memory::Vec;
use pyo3::prelude::*;
use std::fs::File;
use std::io::{self, Read, Write};
use std::mem::ManuallyDrop;

/// An open file. The caller closes it, unless it is owned.
pub struct Descriptor {
    file: ManuallyDrop<File>,
    owned: bool,
}

impl Descriptor {
    /// The file of a descriptor; `None` if the object isn't one. `owned`: the file is closed when this is dropped.
    pub fn of(object: &Bound<'_, PyAny>, owned: bool) -> PyResult<Option<Descriptor>> {
        let Some(descriptor) = object.extract().ok() else { return Ok(None) };
        let file = system::file_of(object.py(), descriptor, owned)?;
        Ok(Some(Descriptor { file, owned }))
    }

    /// Writes at the file's own position.
    pub fn write(&self, bytes: &[u8]) -> io::Result<()> {
        (&*self.file).write_all(bytes)
    }

    pub fn write_at(&self, bytes: &[u8], at: u64) -> io::Result<()> {
        system::write_at(&self.file, bytes, at)
    }

    /// Up to `len` bytes at that offset.
    pub fn read_at(&self, at: u64, len: usize) -> io::Result<Vec<u8>> {
        let left = usize::try_from(self.size()?.saturating_sub(at)).unwrap_or(usize::MAX);
        let mut bytes = Vec::with_capacity(left.min(len));
        let mut filled = 0;
        bytes.resize(left.min(len), 0);
        while filled < bytes.len() {
            match system::read_at(&self.file, &mut bytes[filled..], at + filled as u64) {
                Ok(0) => break,
                Ok(count) => filled += count,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
        bytes.truncate(filled);
        Ok(bytes)
    }

    pub fn size(&self) -> io::Result<u64> {
        self.file.metadata().map(|status| status.len())
    }

    pub fn cut(&self, size: u64) -> io::Result<()> {
        self.file.set_len(size)
    }

    /// Waits until everything is on the disk.
    pub fn sync(&self) -> io::Result<()> {
        self.file.sync_data()
    }

    /// Makes the disk begin writing a part, without waiting for it.
    pub fn begin_sync(&self, from: u64, len: u64) {
        system::begin_sync(&self.file, from, len);
    }
}

impl Drop for Descriptor {
    fn drop(&mut self) {
        if self.owned {
            // SAFETY: the file is not used after this.
            unsafe { ManuallyDrop::drop(&mut self.file) };
        }
    }
}

impl Read for Descriptor {
    fn read(&mut self, to: &mut [u8]) -> io::Result<usize> {
        self.file.read(to)
    }
}

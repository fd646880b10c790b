//! Open files by their descriptors, on POSIX systems.

#[cfg(unix)]
pub use crate::io::descriptor::posix::Descriptor;
use crate::memory::Vec;
use pyo3::prelude::*;
use std::io;

#[cfg(unix)]
mod posix {
    use super::*;
    use std::fs::File;
    use std::io::{Read, Write};
    use std::mem::ManuallyDrop;
    use std::os::fd::{AsRawFd, FromRawFd};
    use std::os::unix::fs::FileExt;

    /// An open file. The caller closes it, unless it is owned.
    pub struct Descriptor {
        file: ManuallyDrop<File>,
        owned: bool,
    }

    impl Descriptor {
        /// The file of a descriptor; `None` if the object isn't one. `owned`: the file is closed when this is dropped.
        pub fn of(object: &Bound<'_, PyAny>, owned: bool) -> Option<Descriptor> {
            let descriptor: i32 = object.extract().ok()?;
            // SAFETY: the caller keeps the descriptor open while this lives, or hands it over for good. `ManuallyDrop`
            // leaves closing to `drop`, which does it only for an owned one.
            let file = ManuallyDrop::new(unsafe { File::from_raw_fd(descriptor) });
            Some(Descriptor { file, owned })
        }

        /// Writes at the file's own position.
        pub fn write(&self, bytes: &[u8]) -> io::Result<()> {
            (&*self.file).write_all(bytes)
        }

        pub fn write_at(&self, bytes: &[u8], at: u64) -> io::Result<()> {
            self.file.write_all_at(bytes, at)
        }

        /// Up to `len` bytes at that offset.
        pub fn read_at(&self, at: u64, len: usize) -> io::Result<Vec<u8>> {
            let left = usize::try_from(self.size()?.saturating_sub(at)).unwrap_or(usize::MAX);
            let mut bytes = Vec::with_capacity(left.min(len));
            let mut filled = 0;
            bytes.resize(left.min(len), 0);
            while filled < bytes.len() {
                match self.file.read_at(&mut bytes[filled..], at + filled as u64) {
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

        /// Makes the disk begin writing a part, without waiting for it. On systems without that call, the system
        /// chooses when.
        pub fn begin_sync(&self, from: u64, len: u64) {
            #[cfg(target_os = "linux")]
            // SAFETY: the descriptor is open; the call accesses no memory of ours.
            unsafe {
                let (from, len) = (from as libc::off64_t, len as libc::off64_t);
                libc::sync_file_range(self.file.as_raw_fd(), from, len, libc::SYNC_FILE_RANGE_WRITE);
            }
            #[cfg(not(target_os = "linux"))]
            let _ = (from, len, self.file.as_raw_fd());
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
}

/// Systems without descriptors use file objects.
#[cfg(not(unix))]
pub enum Descriptor {}

#[cfg(not(unix))]
impl Descriptor {
    pub fn of(_object: &Bound<'_, PyAny>, _owned: bool) -> Option<Descriptor> {
        None
    }

    pub fn write(&self, _bytes: &[u8]) -> io::Result<()> {
        match *self {}
    }

    pub fn write_at(&self, _bytes: &[u8], _at: u64) -> io::Result<()> {
        match *self {}
    }

    pub fn read_at(&self, _at: u64, _len: usize) -> io::Result<Vec<u8>> {
        match *self {}
    }

    pub fn size(&self) -> io::Result<u64> {
        match *self {}
    }

    pub fn cut(&self, _size: u64) -> io::Result<()> {
        match *self {}
    }

    pub fn sync(&self) -> io::Result<()> {
        match *self {}
    }

    pub fn begin_sync(&self, _from: u64, _len: u64) {
        match *self {}
    }
}

#[cfg(not(unix))]
impl io::Read for Descriptor {
    fn read(&mut self, _to: &mut [u8]) -> io::Result<usize> {
        match *self {}
    }
}

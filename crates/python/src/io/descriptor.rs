//! Open files by their descriptors, which POSIX systems have.

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

    /// A file that stays the caller's to close, unless it is owned.
    pub struct Descriptor {
        file: ManuallyDrop<File>,
        owned: bool,
    }

    impl Descriptor {
        /// The file of a descriptor; none where that is something else. `owned`: it is closed with this.
        pub fn of(object: &Bound<'_, PyAny>, owned: bool) -> Option<Descriptor> {
            let descriptor: i32 = object.extract().ok()?;
            // SAFETY: the caller has it open for as long as this lives, or leaves it to us, and to nobody else.
            let file = ManuallyDrop::new(unsafe { File::from_raw_fd(descriptor) });
            Some(Descriptor { file, owned })
        }

        /// Writes where the file's own position is.
        pub fn write(&self, bytes: &[u8]) -> io::Result<()> {
            (&*self.file).write_all(bytes)
        }

        pub fn write_at(&self, bytes: &[u8], at: u64) -> io::Result<()> {
            self.file.write_all_at(bytes, at)
        }

        /// Up to `len` bytes from that place on.
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

        /// Waits until all is on the disk.
        pub fn sync(&self) -> io::Result<()> {
            self.file.sync_data()
        }

        /// Has the disk begin with a part, without waiting for it; where that can't be said, the system chooses when.
        pub fn begin_sync(&self, from: u64, len: u64) {
            #[cfg(target_os = "linux")]
            // SAFETY: the descriptor is open; nothing is read or written here.
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
                // SAFETY: it is not used after this.
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

/// There are none here: files are file objects.
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

//! What systems do differently with open files: everything of the crate that depends on the system stands here.

#[cfg(not(any(unix, windows)))]
compile_error!("holdall opens files by their descriptors, which POSIX and Windows have");

#[cfg(unix)]
pub use posix::{file_of, os_error, read_at, write_at};
#[cfg(windows)]
pub use windows::{file_of, os_error, read_at, write_at};

use std::fs::File;

/// Makes the disk begin writing a part, without waiting for it. On systems without that call, the system chooses when.
pub fn begin_sync(file: &File, from: u64, len: u64) {
    #[cfg(target_os = "linux")]
    // SAFETY: the descriptor is open; the call accesses no memory of ours.
    unsafe {
        // What the offset's type is called differs by C library.
        let (from, len) = (from as i64, len as i64);
        libc::sync_file_range(std::os::fd::AsRawFd::as_raw_fd(file), from, len, libc::SYNC_FILE_RANGE_WRITE);
    }
    #[cfg(not(target_os = "linux"))]
    let _ = (file, from, len);
}

#[cfg(unix)]
mod posix {
    use pyo3::exceptions::PyOSError;
    use pyo3::prelude::*;
    use std::fs::File;
    use std::io;
    use std::mem::ManuallyDrop;
    use std::os::fd::FromRawFd;
    use std::os::unix::fs::FileExt;

    /// The file of a descriptor. Of one that is handed over (`owned`), the file is all that is left.
    pub fn file_of(_py: Python<'_>, descriptor: i32, _owned: bool) -> PyResult<ManuallyDrop<File>> {
        // SAFETY: the caller keeps the descriptor open while the file is used, or hands it over for good; and drops the
        // file in the second case alone.
        Ok(ManuallyDrop::new(unsafe { File::from_raw_fd(descriptor) }))
    }

    /// The exception for the system's own number of an error.
    pub fn os_error(py: Python<'_>, code: i32) -> PyResult<PyErr> {
        let text = py.import("os")?.call_method1("strerror", (code,))?;
        Ok(PyOSError::new_err((code, text.unbind())))
    }

    pub fn read_at(file: &File, to: &mut [u8], at: u64) -> io::Result<usize> {
        file.read_at(to, at)
    }

    pub fn write_at(file: &File, bytes: &[u8], at: u64) -> io::Result<()> {
        file.write_all_at(bytes, at)
    }
}

#[cfg(windows)]
mod windows {
    use pyo3::exceptions::PyOSError;
    use pyo3::prelude::*;
    use std::fs::File;
    use std::io::{self, Seek, SeekFrom, Write};
    use std::mem::ManuallyDrop;
    use std::os::windows::fs::FileExt;
    use std::os::windows::io::{BorrowedHandle, FromRawHandle, RawHandle};

    /// The file of a descriptor. Of one that is handed over (`owned`), the file is all that is left.
    ///
    /// Descriptors are the C library's own, by which the system knows nothing; and which of the C libraries' knows only the
    /// one that Python goes by. So Python is asked for the handle, and told to close what is handed over.
    pub fn file_of(py: Python<'_>, descriptor: i32, owned: bool) -> PyResult<ManuallyDrop<File>> {
        let handle: isize = py.import("msvcrt")?.call_method1("get_osfhandle", (descriptor,))?.extract()?;
        let handle = handle as RawHandle;
        if !owned {
            // SAFETY: the caller keeps the descriptor, and with it the handle, open while the file is used.
            return Ok(ManuallyDrop::new(unsafe { File::from_raw_handle(handle) }));
        }
        // SAFETY: the descriptor is open until it is closed below.
        let own = unsafe { BorrowedHandle::borrow_raw(handle) }.try_clone_to_owned()?;
        py.import("os")?.call_method1("close", (descriptor,))?;
        Ok(ManuallyDrop::new(File::from(own)))
    }

    /// The exception for the system's own number of an error.
    pub fn os_error(_py: Python<'_>, code: i32) -> PyResult<PyErr> {
        let text = io::Error::from_raw_os_error(code).to_string();
        let text = text.rsplit_once(" (os error").map_or(text.as_str(), |(text, _)| text).to_owned();
        // It is no number of C's: that one, and the class, Python chooses by it.
        Ok(PyOSError::new_err((0, text, None::<i32>, code)))
    }

    /// Calls with an offset move the file's own position here, where others go on: it is set back.
    fn in_place<T>(mut file: &File, act: impl FnOnce(&File) -> io::Result<T>) -> io::Result<T> {
        let position = file.stream_position()?;
        let done = act(file);
        file.seek(SeekFrom::Start(position))?;
        done
    }

    pub fn read_at(file: &File, to: &mut [u8], at: u64) -> io::Result<usize> {
        in_place(file, |file| file.seek_read(to, at))
    }

    pub fn write_at(file: &File, bytes: &[u8], at: u64) -> io::Result<()> {
        in_place(file, |mut file| {
            file.seek(SeekFrom::Start(at))?;
            file.write_all(bytes)
        })
    }
}

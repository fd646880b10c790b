//! Images of the extension: the loader is given a copy of the library's file, because it loads a file only once.

use crate::cpython::Obj;
use std::ffi::c_int;

/// What fills a module: `holdall_fill` of an image.
pub type Fill = unsafe extern "C" fn(Obj) -> c_int;

#[cfg(not(unix))]
pub fn of(_interpreter: i64) -> Result<Fill, String> {
    Err("this system has no way to it".into())
}
#[cfg(unix)]
pub use posix::of;

#[cfg(unix)]
mod posix {
    use super::Fill;
    use pyo3::ffi;
    use std::ffi::{c_void, CStr, CString, OsString};
    use std::fs::{File, OpenOptions};
    use std::mem::MaybeUninit;
    use std::os::unix::fs::OpenOptionsExt;
    use std::sync::atomic::{AtomicU64, Ordering};
    use std::sync::{Mutex, PoisonError};
    use std::{io, ptr};

    /// An image, and the interpreter that it belongs to.
    struct Image {
        interpreter: i64,
        handle: *mut c_void,
        /// Once the interpreter has ended: which threads were there then, and may still have something of the image to clear away.
        threads: Option<Vec<OsString>>,
    }

    // SAFETY: a handle of the loader's is good in every thread.
    unsafe impl Send for Image {}

    static IMAGES: Mutex<Vec<Image>> = Mutex::new(Vec::new());

    /// `holdall_fill` of the image of the interpreter that the thread is attached to. It is loaded if there is none.
    pub fn of(interpreter: i64) -> Result<Fill, String> {
        // Nothing of Python's runs below: whoever waits here for another interpreter waits for the loader alone.
        let mut images = IMAGES.lock().unwrap_or_else(PoisonError::into_inner);
        images.retain_mut(|image| !gone(image));
        let handle = match images.iter().find(|image| image.interpreter == interpreter) {
            Some(image) => image.handle,
            None => {
                let handle = load()?;
                images.push(Image { interpreter, handle, threads: None });
                handle
            }
        };
        // SAFETY: the handle is open. The symbol is a function of that type, since the file is that of this very crate.
        unsafe {
            let found = libc::dlsym(handle, c"holdall_fill".as_ptr());
            if found.is_null() {
                return Err("its file is another by now".into());
            }
            Ok(std::mem::transmute::<*mut c_void, Fill>(found))
        }
    }

    /// Unloads the image of an interpreter that has ended, once nothing is left that could call into it: a thread that ends calls
    /// what Rust's standard library has left with it, in each image that it ever ran in.
    fn gone(image: &mut Image) -> bool {
        // Before 3.12, classes of C code that are no static ones stay in the lists of their bases for good.
        if cfg!(not(Py_3_12)) {
            return false;
        }
        if image.threads.is_none() && has_ended(image.interpreter) {
            image.threads = threads();
        }
        match (&mut image.threads, threads()) {
            (Some(then), Some(now)) => {
                then.retain(|thread| now.contains(thread));
                // SAFETY: the interpreter and all threads that ran in it are gone, and with them all that knew of the image.
                then.is_empty() && unsafe { libc::dlclose(image.handle) } == 0
            }
            _ => false,
        }
    }

    fn has_ended(interpreter: i64) -> bool {
        type LookUp = unsafe extern "C" fn(i64) -> *mut ffi::PyInterpreterState;
        // SAFETY: the function has this type in all versions that have it; no exception is set, and none is left.
        unsafe {
            let found = libc::dlsym(libc::RTLD_DEFAULT, c"_PyInterpreterState_LookUpID".as_ptr());
            if found.is_null() {
                return false;
            }
            let look_up = std::mem::transmute::<*mut c_void, LookUp>(found);
            let ended = look_up(interpreter).is_null();
            if ended {
                ffi::PyErr_Clear();
            }
            ended
        }
    }

    /// The process's threads but the main one, which ends with it. `None`: the system doesn't tell.
    fn threads() -> Option<Vec<OsString>> {
        let main = OsString::from(std::process::id().to_string());
        let mut found = Vec::new();
        for thread in std::fs::read_dir("/proc/self/task").ok()? {
            found.push(thread.ok()?.file_name());
        }
        found.retain(|thread| *thread != main);
        Some(found)
    }

    /// Loads a copy of the file that this code is from.
    fn load() -> Result<*mut c_void, String> {
        let copy = Copy::made().map_err(|error| error.to_string())?;
        // SAFETY: the path is text; code that runs when the library is loaded is this crate's own.
        unsafe {
            let handle = libc::dlopen(copy.path.as_ptr(), libc::RTLD_NOW | libc::RTLD_LOCAL);
            if !handle.is_null() {
                return Ok(handle);
            }
            let why = libc::dlerror();
            Err(match why.is_null() {
                true => "the loader doesn't say why".into(),
                false => CStr::from_ptr(why).to_string_lossy().into_owned(),
            })
        }
    }

    /// A copy of the library's file, which goes away once it is loaded.
    struct Copy {
        path: CString,
        /// The path of a file of memory is that of its descriptor.
        file: File,
        is_on_disk: bool,
    }

    impl Drop for Copy {
        fn drop(&mut self) {
            if self.is_on_disk {
                // SAFETY: the path is text.
                unsafe { libc::unlink(self.path.as_ptr()) };
            }
        }
    }

    impl Copy {
        fn made() -> io::Result<Copy> {
            static MADE: AtomicU64 = AtomicU64::new(1);
            let serial = MADE.fetch_add(1, Ordering::Relaxed);
            let mut from = File::open(own_path()?)?;
            let (path, file, is_on_disk) = match of_memory(serial) {
                Some((path, file)) => (path, file, false),
                None => on_disk(serial).map(|(path, file)| (path, file, true))?,
            };
            let copy = Copy { path, file, is_on_disk };
            io::copy(&mut from, &mut &copy.file)?;
            Ok(copy)
        }
    }

    /// Where the library is that this code is from.
    fn own_path() -> io::Result<std::path::PathBuf> {
        use std::os::unix::ffi::OsStrExt;
        let mut found = MaybeUninit::<libc::Dl_info>::uninit();
        // SAFETY: the function fills what it is given; the path lives as long as the library is loaded, as it is while it runs.
        unsafe {
            if libc::dladdr(ptr::from_ref(&IMAGES).cast(), found.as_mut_ptr()) == 0 {
                return Err(io::Error::other("the loader doesn't know where it is"));
            }
            let name = CStr::from_ptr(found.assume_init().dli_fname);
            Ok(std::ffi::OsStr::from_bytes(name.to_bytes()).into())
        }
    }

    /// An empty file of memory, where the system has such.
    #[cfg(target_os = "linux")]
    fn of_memory(serial: u64) -> Option<(CString, File)> {
        use std::os::fd::{AsRawFd, FromRawFd};
        // SAFETY: the name is text, and the new descriptor nobody else's.
        let file = unsafe {
            let descriptor = libc::memfd_create(c"holdall".as_ptr(), libc::MFD_CLOEXEC);
            (descriptor >= 0).then(|| File::from_raw_fd(descriptor))?
        };
        // The loader takes a path that it knows for the library that it loaded from there, and a descriptor's number comes again. So
        // the path is written in another way each time: the serial number's bits, as steps that lead nowhere.
        let steps = format!("{serial:b}").replace('0', "./").replace('1', "/");
        let path = format!("/proc/self/fd/{steps}{}", file.as_raw_fd());
        std::path::Path::new(&path).exists().then_some((CString::new(path).ok()?, file))
    }
    #[cfg(not(target_os = "linux"))]
    fn of_memory(_serial: u64) -> Option<(CString, File)> {
        None
    }

    /// An empty file that nobody else can write to.
    fn on_disk(serial: u64) -> io::Result<(CString, File)> {
        let path = std::env::temp_dir().join(format!("holdall-{}-{serial}.so", std::process::id()));
        let file = OpenOptions::new().write(true).create_new(true).mode(0o700).open(&path)?;
        Ok((CString::new(path.into_os_string().into_encoded_bytes())?, file))
    }
}

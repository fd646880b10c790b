//! Where files go to and come from: descriptors and file objects; and how far they are.

use crate::cpython::part;
use holdall_format::hold::file::{self, Graph, Output};
use pyo3::exceptions::{PyOSError, PyTypeError};
use pyo3::prelude::*;
use pyo3::types::{PyByteArray, PyBytes, PyMemoryView};
use std::io::{self, Read, Write};
use std::sync::mpsc::{sync_channel, Receiver, SyncSender};

/// How often progress is told, and signals are looked for: every so many bytes.
const STEP: u64 = 8 << 20;

/// An exception of the operating system, as Python raises it.
pub fn os_error(error: &io::Error) -> PyErr {
    match error.raw_os_error() {
        // Python finds the class and the text by the number.
        Some(code) => Python::attach(|py| {
            let text = py.import("os").and_then(|os| os.call_method1("strerror", (code,)));
            match text {
                Ok(text) => PyOSError::new_err((code, text.unbind())),
                Err(error) => error,
            }
        }),
        None => PyOSError::new_err(error.to_string()),
    }
}

/// Carries exceptions through code that knows none: the first one is kept.
#[derive(Default)]
pub struct Raised(pub Option<PyErr>);

impl Raised {
    pub fn keep<T>(&mut self, result: PyResult<T>) -> io::Result<T> {
        result.map_err(|error| {
            self.0.get_or_insert(error);
            io::Error::other("an exception")
        })
    }

    pub fn or(self, error: &io::Error) -> PyErr {
        self.0.unwrap_or_else(|| os_error(error))
    }
}

/// Tells a caller's function how far something is, now and then.
pub struct Progress {
    callback: Option<Py<PyAny>>,
    pub total: u64,
    pub told: u64,
}

impl Progress {
    pub fn new(callback: Option<&Bound<'_, PyAny>>, total: u64) -> PyResult<Progress> {
        let callback = match callback.filter(|callback| !callback.is_none()) {
            Some(callback) if !callback.is_callable() => {
                return Err(PyTypeError::new_err("`progress` must be callable or None"))
            }
            callback => callback.map(|callback| callback.clone().unbind()),
        };
        Ok(Progress { callback, total, told: 0 })
    }

    /// `done` bytes are done.
    pub fn at(&mut self, done: u64) -> PyResult<()> {
        if done < self.told + STEP && (done < self.total || done == self.told) {
            return Ok(());
        }
        self.told = done;
        Python::attach(|py| {
            py.check_signals()?;
            match &self.callback {
                Some(callback) => callback.call1(py, (done, self.total.max(done))).map(drop),
                None => Ok(()),
            }
        })
    }
}

/// Where a file goes to.
pub enum Sink {
    #[cfg(unix)]
    Descriptor(Descriptor),
    /// A function that takes bytes, all of them; and one that has them on the disk.
    Function(Py<PyAny>, Option<Py<PyAny>>),
}

impl Sink {
    pub fn new(sink: &Bound<'_, PyAny>) -> PyResult<Sink> {
        Sink::with_flush(sink, None)
    }

    pub fn with_flush(sink: &Bound<'_, PyAny>, flush: Option<Py<PyAny>>) -> PyResult<Sink> {
        #[cfg(unix)]
        if let Ok(descriptor) = sink.extract::<i32>() {
            return Ok(Sink::Descriptor(Descriptor::new(descriptor, false)));
        }
        Ok(Sink::Function(sink.clone().unbind(), flush))
    }

    pub fn write(&mut self, bytes: &[u8], raised: &mut Raised) -> io::Result<()> {
        match self {
            #[cfg(unix)]
            Sink::Descriptor(file) => file.0.write_all(bytes),
            Sink::Function(write, _) => {
                raised.keep(Python::attach(|py| write.call1(py, (PyBytes::new(py, bytes),)).map(drop)))
            }
        }
    }

    /// Writes to that place of a file; to a function, what comes next.
    pub fn write_at(&mut self, bytes: &[u8], _at: u64, raised: &mut Raised) -> io::Result<()> {
        match self {
            #[cfg(unix)]
            Sink::Descriptor(file) => std::os::unix::fs::FileExt::write_all_at(&*file.0, bytes, _at),
            Sink::Function(..) => self.write(bytes, raised),
        }
    }

    /// Takes over the descriptor: it is closed with this.
    pub fn own(&mut self) {
        #[cfg(unix)]
        if let Sink::Descriptor(descriptor) = self {
            descriptor.1 = true;
        }
    }

    /// Writes a file; says after each part how many bytes of the graph are done. `sync`: the caller is going to wait until it is on
    /// the disk.
    pub fn write_graph(
        &mut self,
        raised: &mut Raised,
        graph: &Graph<'_>,
        sync: bool,
        progress: &mut dyn FnMut(u64) -> io::Result<()>,
    ) -> io::Result<u64> {
        if graph.len() >= AHEAD_FROM && self.is_file() {
            return write_ahead(self, raised, graph, sync, progress);
        }
        file::write(&mut Direct { sink: self, raised }, graph, progress)
    }

    fn is_file(&self) -> bool {
        match self {
            #[cfg(unix)]
            Sink::Descriptor(_) => true,
            Sink::Function(..) => false,
        }
    }

    /// Has the disk begin with a part of a file, without waiting for it; where that can't be said, the system chooses when.
    fn begin_sync(&self, _from: u64, _len: u64) {
        #[cfg(target_os = "linux")]
        if let Sink::Descriptor(file) = self {
            use std::os::fd::AsRawFd;
            // SAFETY: the descriptor is open; nothing is read or written here.
            unsafe {
                libc::sync_file_range(
                    file.0.as_raw_fd(),
                    _from as libc::off64_t,
                    _len as libc::off64_t,
                    libc::SYNC_FILE_RANGE_WRITE,
                );
            }
        }
    }

    /// Waits until all is on the disk.
    pub fn sync(&mut self, raised: &mut Raised) -> io::Result<()> {
        match self {
            #[cfg(unix)]
            Sink::Descriptor(file) => file.0.sync_data(),
            Sink::Function(_, Some(flush)) => raised.keep(Python::attach(|py| flush.call0(py).map(drop))),
            Sink::Function(_, None) => Ok(()),
        }
    }

    /// Cuts a file to that size.
    pub fn cut(&mut self, _size: u64) -> io::Result<()> {
        match self {
            #[cfg(unix)]
            Sink::Descriptor(file) => file.0.set_len(_size),
            Sink::Function(..) => Err(io::ErrorKind::Unsupported.into()),
        }
    }

    pub fn size(&self) -> io::Result<u64> {
        match self {
            #[cfg(unix)]
            Sink::Descriptor(file) => file.0.metadata().map(|status| status.len()),
            Sink::Function(..) => Err(io::ErrorKind::Unsupported.into()),
        }
    }

    /// Up to `len` bytes of a file from that place on.
    pub fn read_at(&self, _at: u64, _len: usize) -> io::Result<Vec<u8>> {
        match self {
            #[cfg(unix)]
            Sink::Descriptor(file) => {
                let left = self.size()?.saturating_sub(_at);
                let mut bytes = vec![0; usize::try_from(left).unwrap_or(usize::MAX).min(_len)];
                let mut filled = 0;
                while filled < bytes.len() {
                    match std::os::unix::fs::FileExt::read_at(&*file.0, &mut bytes[filled..], _at + filled as u64) {
                        Ok(0) => break,
                        Ok(count) => filled += count,
                        Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                        Err(error) => return Err(error),
                    }
                }
                bytes.truncate(filled);
                Ok(bytes)
            }
            Sink::Function(..) => Err(io::ErrorKind::Unsupported.into()),
        }
    }
}

/// A file that stays the caller's to close, unless it is owned.
#[cfg(unix)]
pub struct Descriptor(std::mem::ManuallyDrop<std::fs::File>, bool);

#[cfg(unix)]
impl Descriptor {
    fn new(descriptor: i32, owned: bool) -> Descriptor {
        use std::os::fd::FromRawFd;
        // SAFETY: the caller has it open for as long as it is used here, or leaves it to us, and to nobody else.
        Descriptor(std::mem::ManuallyDrop::new(unsafe { std::fs::File::from_raw_fd(descriptor) }), owned)
    }
}

#[cfg(unix)]
impl Drop for Descriptor {
    fn drop(&mut self) {
        if self.1 {
            // SAFETY: it is not used after this.
            unsafe { std::mem::ManuallyDrop::drop(&mut self.0) };
        }
    }
}

#[cfg(unix)]
impl Read for Descriptor {
    fn read(&mut self, to: &mut [u8]) -> io::Result<usize> {
        self.0.read(to)
    }
}

/// Writes each part before it takes the next.
struct Direct<'s> {
    sink: &'s mut Sink,
    raised: &'s mut Raised,
}

impl Output for Direct<'_> {
    fn take(&mut self, part: Vec<u8>) -> io::Result<Vec<u8>> {
        self.sink.write(&part, self.raised).map(|()| part)
    }
}

/// From so many bytes on a thread of its own writes what another has gathered: making the checksums takes a third as long as
/// writing.
const AHEAD_FROM: u64 = 4 << 20;
/// Parts that may be on their way: few enough to stay in the processor's cache.
const AHEAD: usize = 2;

/// Hands parts to a thread that writes them.
struct Ahead {
    parts: SyncSender<Vec<u8>>,
    written: Receiver<Vec<u8>>,
    /// How many parts were made.
    made: usize,
}

impl Output for Ahead {
    fn take(&mut self, part: Vec<u8>) -> io::Result<Vec<u8>> {
        let gone = || io::Error::other("the thread that writes has ended");
        let size = part.capacity();
        self.parts.send(part).map_err(|_| gone())?;
        if self.made <= AHEAD {
            self.made += 1;
            return Ok(Vec::with_capacity(size));
        }
        self.written.recv().map_err(|_| gone())
    }
}

/// Has the disk begin with what was written before all of it is, if the caller is going to wait for that.
const DISK_STEP: u64 = 16 << 20;

fn write_ahead(
    sink: &mut Sink,
    raised: &mut Raised,
    graph: &Graph<'_>,
    sync: bool,
    progress: &mut dyn FnMut(u64) -> io::Result<()>,
) -> io::Result<u64> {
    std::thread::scope(|scope| {
        let (parts, incoming) = sync_channel::<Vec<u8>>(AHEAD);
        let (back, written) = std::sync::mpsc::channel();
        let writer = scope.spawn(move || {
            let (mut at, mut begun) = (0, 0);
            for part in incoming {
                sink.write(&part, raised)?;
                at += part.len() as u64;
                if sync && at - begun >= DISK_STEP {
                    sink.begin_sync(begun, at - begun);
                    begun = at;
                }
                // Whoever would use it again may be done.
                let _ = back.send(part);
            }
            io::Result::Ok(())
        });
        let mut ahead = Ahead { parts, written, made: 1 };
        let done = file::write(&mut ahead, graph, progress);
        drop(ahead);
        match writer.join() {
            Ok(Ok(())) => done,
            Ok(Err(error)) => Err(error),
            Err(panic) => std::panic::resume_unwind(panic),
        }
    })
}

/// Where a file comes from, front to back.
enum Input {
    #[cfg(unix)]
    Descriptor(io::BufReader<Descriptor>),
    /// A function that fills a buffer, and what it fills.
    Function(Py<PyAny>, Py<PyByteArray>),
}

/// What is asked of a file object at once, at most.
const CHUNK: usize = 1 << 18;

pub struct Stream {
    input: Input,
    pub raised: Raised,
}

impl Stream {
    pub fn new(source: &Bound<'_, PyAny>) -> PyResult<Stream> {
        let py = source.py();
        #[cfg(unix)]
        if let Ok(descriptor) = source.extract::<i32>() {
            let input = Input::Descriptor(io::BufReader::with_capacity(1 << 16, Descriptor::new(descriptor, false)));
            return Ok(Stream { input, raised: Raised::default() });
        }
        let scratch = PyByteArray::new(py, &[]).unbind();
        Ok(Stream { input: Input::Function(source.clone().unbind(), scratch), raised: Raised::default() })
    }
}

impl Read for Stream {
    fn read(&mut self, to: &mut [u8]) -> io::Result<usize> {
        match &mut self.input {
            #[cfg(unix)]
            Input::Descriptor(file) => file.read(to),
            Input::Function(fill, scratch) => {
                let len = to.len().min(CHUNK);
                let filled = Python::attach(|py| {
                    let scratch = scratch.bind(py);
                    if scratch.len() < len {
                        scratch.resize(len)?;
                    }
                    let view = PyMemoryView::from(scratch.as_any())?;
                    let part = part(view.as_any(), 0, len)?;
                    let count: usize = fill.bind(py).call1((&part,))?.extract()?;
                    part.call_method0("release")?;
                    view.call_method0("release")?;
                    let count = count.min(len);
                    // SAFETY: the GIL is held, and no Python code runs while the bytes are copied.
                    to[..count].copy_from_slice(unsafe { &scratch.as_bytes()[..count] });
                    Ok(count)
                });
                self.raised.keep(filled)
            }
        }
    }
}

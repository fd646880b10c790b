//! Sources and destinations of files: descriptors and file objects; and reporting progress.

use crate::cpython::{attached, new, part};
use crate::io::descriptor::Descriptor;
use crate::io::system;
use crate::memory::Vec;
use holdall_format::aside;
use holdall_format::hold::file::{self, Graph, Output};
use pyo3::exceptions::{PyMemoryError, PyOSError, PyTypeError};
use pyo3::prelude::*;
use pyo3::types::{PyByteArray, PyMemoryView};
use std::io::{self, Read};
use std::sync::mpsc::{sync_channel, Receiver, SyncSender};
use std::thread::Builder;

/// After how many bytes progress is reported and signals are handled.
const STEP: u64 = 8 << 20;

/// An operating system's error, as Python raises it.
pub fn os_error(error: &io::Error) -> PyErr {
    match error.raw_os_error() {
        // Python chooses the class by the number.
        Some(code) => attached(|py| system::os_error(py, code).unwrap_or_else(|error| error)),
        None => PyOSError::new_err(error.to_string()),
    }
}

/// Carries an exception through code that knows only `io::Error`; the first one is kept.
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

/// Reports progress to the caller's function from time to time.
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

    /// `done` bytes are finished.
    pub fn at(&mut self, done: u64) -> PyResult<()> {
        let at_the_end = self.total > 0 && done >= self.total && done != self.told;
        if done < self.told + STEP && !at_the_end {
            return Ok(());
        }
        self.told = done;
        attached(|py| {
            py.check_signals()?;
            match &self.callback {
                Some(callback) => callback.call1(py, (done, self.total.max(done))).map(drop),
                None => Ok(()),
            }
        })
    }
}

/// Where a file is written to.
pub enum Sink {
    Descriptor(Descriptor),
    /// A function that accepts all bytes that it is given, and one that puts them on the disk.
    Function(Py<PyAny>, Option<Py<PyAny>>),
}

impl Sink {
    /// A descriptor that the caller closes, or a function.
    pub fn new(sink: &Bound<'_, PyAny>) -> PyResult<Sink> {
        Ok(match Descriptor::of(sink, false)? {
            Some(descriptor) => Sink::Descriptor(descriptor),
            None => Sink::Function(sink.clone().unbind(), None),
        })
    }

    pub fn write(&mut self, bytes: &[u8], raised: &mut Raised) -> io::Result<()> {
        match self {
            Sink::Descriptor(file) => file.write(bytes),
            Sink::Function(write, _) => {
                raised.keep(attached(|py| write.call1(py, (new::bytes(py, bytes)?,)).map(drop)))
            }
        }
    }

    /// Writes at that offset of a file; a function gets the bytes in order.
    pub fn write_at(&mut self, bytes: &[u8], at: u64, raised: &mut Raised) -> io::Result<()> {
        match self {
            Sink::Descriptor(file) => file.write_at(bytes, at),
            Sink::Function(..) => self.write(bytes, raised),
        }
    }

    /// Waits until everything is on the disk.
    pub fn sync(&mut self, raised: &mut Raised) -> io::Result<()> {
        match self {
            Sink::Descriptor(file) => file.sync(),
            Sink::Function(_, Some(flush)) => raised.keep(attached(|py| flush.call0(py).map(drop))),
            Sink::Function(_, None) => Ok(()),
        }
    }

    /// Removes what was written after that offset, if possible.
    pub fn cut(&mut self, size: u64) -> io::Result<()> {
        match self {
            Sink::Descriptor(file) => file.cut(size),
            Sink::Function(..) => Err(io::ErrorKind::Unsupported.into()),
        }
    }

    /// Writes a file; reports after each part how many bytes of the graph are done. `sync`: the caller will wait until
    /// the file is on the disk.
    pub fn write_graph(
        &mut self,
        raised: &mut Raised,
        graph: &Graph<'_>,
        sync: bool,
        progress: &mut dyn FnMut(u64) -> io::Result<()>,
    ) -> io::Result<u64> {
        if let (Sink::Descriptor(file), true) = (&*self, graph.len() >= AHEAD_FROM) {
            if let Some(written) = write_ahead(file, graph, sync, progress) {
                return written;
            }
        }
        file::write(&mut Direct { sink: self, raised }, graph, progress)
    }
}

/// Writes each part before the next is made.
struct Direct<'s> {
    sink: &'s mut Sink,
    raised: &'s mut Raised,
}

impl Output for Direct<'_> {
    fn take(&mut self, part: Vec<u8>) -> io::Result<Vec<u8>> {
        self.sink.write(&part, self.raised).map(|()| part)
    }
}

/// From this size on, another thread does the writing: computing the checksums takes a third as long as writing.
const AHEAD_FROM: u64 = 4 << 20;
/// How many parts may wait for the writing thread: few enough to stay in the processor's cache.
const AHEAD: usize = 2;

/// Passes parts to the writing thread.
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

/// How often the disk is told to begin writing, if the caller will wait for it.
const DISK_STEP: u64 = 16 << 20;

/// `None` if no thread could be started; then nothing was written.
fn write_ahead(
    file: &Descriptor,
    graph: &Graph<'_>,
    sync: bool,
    progress: &mut dyn FnMut(u64) -> io::Result<()>,
) -> Option<io::Result<u64>> {
    if !aside::has_room() {
        return None;
    }
    std::thread::scope(|scope| {
        let (parts, incoming) = sync_channel::<Vec<u8>>(AHEAD);
        let (back, written) = std::sync::mpsc::channel();
        let writer = Builder::new().spawn_scoped(scope, move || {
            let (mut at, mut begun) = (0, 0);
            for part in incoming {
                file.write(&part)?;
                at += part.len() as u64;
                if sync && at - begun >= DISK_STEP {
                    file.begin_sync(begun, at - begun);
                    begun = at;
                }
                // The other side may be done and need no more parts.
                let _ = back.send(part);
            }
            io::Result::Ok(())
        });
        let writer = writer.ok()?;
        let mut ahead = Ahead { parts, written, made: 1 };
        let done = file::write(&mut ahead, graph, progress);
        drop(ahead);
        match writer.join() {
            Ok(Ok(())) => Some(done),
            Ok(Err(error)) => Some(Err(error)),
            Err(panic) => std::panic::resume_unwind(panic),
        }
    })
}

/// Where a file is read from, front to back.
enum Input {
    Descriptor(io::BufReader<Descriptor>),
    /// A function that fills a buffer, and that buffer.
    Function(Py<PyAny>, Py<PyByteArray>),
}

/// The most that is requested of a file object at once.
const CHUNK: usize = 1 << 18;

pub struct Stream {
    input: Input,
    pub raised: Raised,
}

impl Stream {
    pub fn new(source: &Bound<'_, PyAny>) -> PyResult<Stream> {
        let input = match Descriptor::of(source, false)? {
            Some(descriptor) => Input::Descriptor(io::BufReader::with_capacity(1 << 16, descriptor)),
            None => Input::Function(source.clone().unbind(), PyByteArray::new(source.py(), &[]).unbind()),
        };
        Ok(Stream { input, raised: Raised::default() })
    }
}

impl Read for Stream {
    fn read(&mut self, to: &mut [u8]) -> io::Result<usize> {
        match &mut self.input {
            Input::Descriptor(file) => file.read(to),
            Input::Function(fill, scratch) => {
                let len = to.len().min(CHUNK);
                let filled = attached(|py| {
                    let scratch = scratch.bind(py);
                    if scratch.len() < len {
                        scratch.resize(len)?;
                    }
                    let view = PyMemoryView::from(scratch.as_any())?;
                    let part = part(view.as_any(), 0, len)?;
                    let count: usize = fill.bind(py).call1((&part,))?.extract()?;
                    let count = count.min(len);
                    // SAFETY: the GIL is held, and no Python code that could resize the bytearray runs while the bytes
                    // are copied.
                    to[..count].copy_from_slice(unsafe { &scratch.as_bytes()[..count] });
                    // The bytes that were read must not be lost: a view that can't be released now is released when it
                    // is dropped.
                    for view in [part, view.into_any()] {
                        if let Err(error) = view.call_method0("release") {
                            if !error.is_instance_of::<PyMemoryError>(py) {
                                return Err(error);
                            }
                        }
                    }
                    Ok(count)
                });
                self.raised.keep(filled)
            }
        }
    }
}

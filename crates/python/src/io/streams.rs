//! Where files go to and come from: descriptors and file objects; and how far they are.

use crate::cpython::{new, part};
use crate::io::descriptor::Descriptor;
use crate::memory::Vec;
use holdall_format::aside;
use holdall_format::hold::file::{self, Graph, Output};
use pyo3::exceptions::{PyMemoryError, PyOSError, PyTypeError};
use pyo3::prelude::*;
use pyo3::types::{PyByteArray, PyMemoryView};
use std::io::{self, Read};
use std::sync::mpsc::{sync_channel, Receiver, SyncSender};
use std::thread::Builder;

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
        let at_the_end = self.total > 0 && done >= self.total && done != self.told;
        if done < self.told + STEP && !at_the_end {
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
    Descriptor(Descriptor),
    /// A function that takes bytes, all of them; and one that has them on the disk.
    Function(Py<PyAny>, Option<Py<PyAny>>),
}

impl Sink {
    /// A descriptor that stays the caller's, or a function.
    pub fn new(sink: &Bound<'_, PyAny>) -> Sink {
        match Descriptor::of(sink, false) {
            Some(descriptor) => Sink::Descriptor(descriptor),
            None => Sink::Function(sink.clone().unbind(), None),
        }
    }

    pub fn write(&mut self, bytes: &[u8], raised: &mut Raised) -> io::Result<()> {
        match self {
            Sink::Descriptor(file) => file.write(bytes),
            Sink::Function(write, _) => {
                raised.keep(Python::attach(|py| write.call1(py, (new::bytes(py, bytes)?,)).map(drop)))
            }
        }
    }

    /// Writes to that place of a file; to a function, what comes next.
    pub fn write_at(&mut self, bytes: &[u8], at: u64, raised: &mut Raised) -> io::Result<()> {
        match self {
            Sink::Descriptor(file) => file.write_at(bytes, at),
            Sink::Function(..) => self.write(bytes, raised),
        }
    }

    /// Waits until all is on the disk.
    pub fn sync(&mut self, raised: &mut Raised) -> io::Result<()> {
        match self {
            Sink::Descriptor(file) => file.sync(),
            Sink::Function(_, Some(flush)) => raised.keep(Python::attach(|py| flush.call0(py).map(drop))),
            Sink::Function(_, None) => Ok(()),
        }
    }

    /// Takes back what was written behind that place, where that can be done.
    pub fn cut(&mut self, size: u64) -> io::Result<()> {
        match self {
            Sink::Descriptor(file) => file.cut(size),
            Sink::Function(..) => Err(io::ErrorKind::Unsupported.into()),
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
        if let (Sink::Descriptor(file), true) = (&*self, graph.len() >= AHEAD_FROM) {
            if let Some(written) = write_ahead(file, graph, sync, progress) {
                return written;
            }
        }
        file::write(&mut Direct { sink: self, raised }, graph, progress)
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

/// None where no thread was to be had, and nothing was written.
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
                // Whoever would use it again may be done.
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

/// Where a file comes from, front to back.
enum Input {
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
    pub fn new(source: &Bound<'_, PyAny>) -> Stream {
        let input = match Descriptor::of(source, false) {
            Some(descriptor) => Input::Descriptor(io::BufReader::with_capacity(1 << 16, descriptor)),
            None => Input::Function(source.clone().unbind(), PyByteArray::new(source.py(), &[]).unbind()),
        };
        Stream { input, raised: Raised::default() }
    }
}

impl Read for Stream {
    fn read(&mut self, to: &mut [u8]) -> io::Result<usize> {
        match &mut self.input {
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
                    let count = count.min(len);
                    // SAFETY: the GIL is held, and no Python code runs while the bytes are copied.
                    to[..count].copy_from_slice(unsafe { &scratch.as_bytes()[..count] });
                    // What was read is not to be lost: a view that can't be let go of now goes when it is dropped.
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

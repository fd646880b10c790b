//! Files: graphs written to and read from descriptors, file objects and maps.

use super::functions::{decode_by, decoded, encode_into, with_workshop, Workshop};
use super::options;
use super::types::Limits;
use crate::cpython::{part, View};
use crate::decode;
use crate::encode::Borrower;
use crate::error::{Fault, Result as HostResult};
use crate::objects::buffer::{Lender, Source};
use holdall_format::hold::codec::{Codec, Compression};
use holdall_format::hold::file::{self, Body, Graph, Output, Parts};
use holdall_format::hold::{frame, tag, Reader};
use holdall_format::model::Lent;
use pyo3::exceptions::{PyOSError, PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyByteArray, PyBytes, PyMemoryView};
use std::io::{self, Read, Write};
use std::sync::mpsc::{sync_channel, Receiver, SyncSender};

use crate::cpython::Owned;

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
    total: u64,
    told: u64,
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
    fn new(sink: &Bound<'_, PyAny>) -> PyResult<Sink> {
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

/// How bodies are to be compressed: None, "zstd", "lz4", or a pair of "zstd" and its level.
pub fn compression(compress: Option<&Bound<'_, PyAny>>) -> PyResult<Option<Compression>> {
    let Some(compress) = compress.filter(|compress| !compress.is_none()) else { return Ok(None) };
    let wrong = || PyValueError::new_err("compress: expected None, \"zstd\", \"lz4\" or (\"zstd\", level 1 to 22)");
    let (name, level) = match compress.extract::<String>() {
        Ok(name) => (name, 3),
        Err(_) => compress.extract::<(String, i32)>().map_err(|_| wrong())?,
    };
    match name.as_str() {
        "zstd" if (1..=22).contains(&level) => Ok(Some(Compression { codec: Codec::Zstd, level })),
        "lz4" => Ok(Some(Compression { codec: Codec::Lz4, level: 0 })),
        _ => Err(wrong()),
    }
}

/// Writes a file to a descriptor, or to a function that takes all the bytes it gets.
#[pyfunction]
#[pyo3(name = "file_dump", signature = (obj, sink, /, *, refs, canonical, trust, intern, enc_hook, compress, sync, progress))]
#[allow(clippy::too_many_arguments)]
pub fn dump(
    obj: &Bound<'_, PyAny>,
    sink: &Bound<'_, PyAny>,
    refs: bool,
    canonical: bool,
    trust: bool,
    intern: bool,
    enc_hook: Option<&Bound<'_, PyAny>>,
    compress: Option<&Bound<'_, PyAny>>,
    sync: bool,
    progress: Option<&Bound<'_, PyAny>>,
) -> PyResult<u64> {
    let options = options::encoding(refs, canonical, trust, intern, enc_hook)?;
    let compression = compression(compress)?;
    let sink = Sink::new(sink)?;
    let progress = Progress::new(progress, 0)?;
    with_workshop(|workshop: &mut Workshop| {
        let views = encode_into(workshop, obj, &options, Some(Borrower::File(Vec::new())))?;
        let buffers: Vec<&[u8]> = views.iter().map(View::as_slice).collect();
        let how = How { compression, sync };
        write(obj.py(), workshop.output.as_slice(), &buffers, sink, how, progress).map_err(Fault::from)
    })
}

/// Writes a message that is there already as a file; for `holdall.pickle`.
#[pyfunction]
pub fn file_write(py: Python<'_>, message: &[u8], sink: &Bound<'_, PyAny>) -> PyResult<u64> {
    let how = How { compression: None, sync: false };
    write(py, message, &[], Sink::new(sink)?, how, Progress::new(None, 0)?)
}

/// How a file is written.
struct How {
    compression: Option<Compression>,
    /// Whether the caller is going to wait until it is on the disk.
    sync: bool,
}

fn write(
    py: Python<'_>,
    message: &[u8],
    buffers: &[&[u8]],
    mut sink: Sink,
    how: How,
    mut progress: Progress,
) -> PyResult<u64> {
    let threads = std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
    let graph = Graph { message, buffers, compression: how.compression, threads };
    progress.total = graph.len();
    let (mut raised, mut told) = (Raised::default(), Raised::default());
    let written = py.detach(|| {
        let progress = &mut |done| told.keep(progress.at(done));
        if graph.len() >= AHEAD_FROM && sink.is_file() {
            return write_ahead(&mut sink, &mut raised, &graph, how.sync, progress);
        }
        file::write(&mut Direct { sink: &mut sink, raised: &mut raised }, &graph, progress)
    });
    written.map_err(|error| Raised(raised.0.or(told.0)).or(&error))
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

/// The buffers of a file that is read front to back: they come in order, each once.
struct InOrder<'r, R> {
    reader: &'r mut file::Reader<R>,
    next: u64,
    body: Option<Body>,
    /// A body whose length could not be believed before it was read.
    collected: Option<Vec<u8>>,
    progress: &'r mut Progress,
    raised: Raised,
}

impl<R: Read + Send> InOrder<'_, R> {
    fn fault(&mut self, fault: file::Fault) -> Fault {
        match fault {
            file::Fault::Bytes(error) => Outside(error).into(),
            file::Fault::Io(error) => match self.raised.0.take() {
                Some(error) => error.into(),
                None => Outside(error).into(),
            },
        }
    }
}

/// What is wrong with the file, not with the message in it: its offset counts from the file's start.
struct Outside<E>(E);

impl From<Outside<holdall_format::Error>> for Fault {
    fn from(error: Outside<holdall_format::Error>) -> Fault {
        Fault::from(Fault::from(error.0).into_py(0))
    }
}

impl From<Outside<io::Error>> for Fault {
    fn from(error: Outside<io::Error>) -> Fault {
        os_error(&error.0).into()
    }
}

impl<R: Read + Send> Source for InOrder<'_, R> {
    fn view(&mut self, _py: Python<'_>, _number: u64, _lent: Lent, _at: usize) -> HostResult<Option<Owned>> {
        Ok(None)
    }

    fn len(&mut self, py: Python<'_>, number: u64, at: usize) -> HostResult<usize> {
        if number < self.next {
            return Err(crate::error::decode("a buffer that was there before", at));
        }
        let (reader, next) = (&mut *self.reader, &mut self.next);
        let (progress, raised) = (&mut *self.progress, &mut self.raised);
        let found = py.detach(|| loop {
            let body = reader.body(tag::BUFFER_FRAME)?;
            let wanted = *next == number;
            *next += 1;
            if !wanted {
                reader.pass(&body)?;
                continue;
            }
            let sure = file::Reader::<R>::is_exact(&body) && reader.is_plausible(&body);
            let collected = match sure {
                true => None,
                false => Some(reader.collect(&body, &mut |at| raised.keep(progress.at(at)))?),
            };
            return Ok((body, collected));
        });
        let (body, collected) = found.map_err(|fault| self.fault(fault))?;
        let len = collected.as_ref().map_or(body.len, |bytes| bytes.len() as u64);
        (self.body, self.collected) = (Some(body), collected);
        usize::try_from(len).map_err(|_| crate::error::decode("a length beyond the address space", at))
    }

    fn fill(&mut self, py: Python<'_>, to: &mut [u8]) -> HostResult<()> {
        if let Some(bytes) = self.collected.take() {
            to.copy_from_slice(&bytes);
            return Ok(());
        }
        let Some(body) = self.body.take() else { return Ok(()) };
        let (reader, progress, raised) = (&mut *self.reader, &mut *self.progress, &mut self.raised);
        let filled = py.detach(|| reader.fill(&body, to, &mut |at| raised.keep(progress.at(at))));
        filled.map_err(|fault| self.fault(fault))
    }
}

/// The graph that comes next in a reader whose start was read.
fn graph<R: Read + Send>(
    py: Python<'_>,
    reader: &mut file::Reader<R>,
    kind: u8,
    options: &decode::Options,
    given: Option<Owned>,
    progress: &mut Progress,
) -> Result<Py<PyAny>, Fault> {
    if kind == tag::FILE_LOG {
        let why = "a log of records: read it with holdall.Reader";
        let error = holdall_format::Error::new(holdall_format::Kind::BadFile { why }, 5);
        return Err(Outside(error).into());
    }
    let mut raised = Raised::default();
    let read = py.detach(|| {
        let body = reader.body(tag::MESSAGE)?;
        let base = reader.offset();
        Ok((reader.collect(&body, &mut |done| raised.keep(progress.at(done)))?, base))
    });
    let (message, base) = match read {
        Ok(read) => read,
        Err(file::Fault::Bytes(error)) => return Err(Outside(error).into()),
        Err(file::Fault::Io(error)) => return Err(raised.or(&error).into()),
    };
    let base = usize::try_from(base).unwrap_or(usize::MAX);
    let hold = Reader::new(&message, options.trust).map_err(|error| Outside(error.shifted(base)))?;
    let mut source = InOrder { reader, next: 0, body: None, collected: None, progress, raised: Raised::default() };
    let lender = given.map_or(Lender::File(&mut source), |given| Lender::Given(given, 0));
    let made = decoded(py, hold, options, Some(lender));
    let made = made.map_err(|fault| Fault::from(fault.into_py(base)))?;
    let finished = py.detach(|| reader.finish(kind));
    match finished {
        Ok(()) => {
            progress.at(progress.total.max(progress.told))?;
            Ok(made)
        }
        Err(file::Fault::Bytes(error)) => Err(Outside(error).into()),
        Err(file::Fault::Io(error)) => Err(os_error(&error).into()),
    }
}

/// Builds what a file's bytes hold.
pub fn load_bytes(
    py: Python<'_>,
    input: &[u8],
    options: &decode::Options,
    given: Option<Owned>,
) -> PyResult<Py<PyAny>> {
    let kind = frame::parse_start(input).map_err(|error| Fault::from(error).into_py(0))?;
    let mut reader = file::Reader::new(&input[frame::START..], Some(input.len() as u64));
    let mut progress = Progress::new(None, 0)?;
    let made = graph(py, &mut reader, kind, options, given, &mut progress).map_err(|fault| fault.into_py(0))?;
    trailing(input.len() as u64, reader.offset())?;
    Ok(made)
}

fn trailing(size: u64, end: u64) -> PyResult<()> {
    if size > end {
        let kind = holdall_format::Kind::Trailing { count: usize::try_from(size - end).unwrap_or(usize::MAX) };
        let error = holdall_format::Error::new(kind, usize::try_from(end).unwrap_or(usize::MAX));
        return Err(Fault::from(error).into_py(0));
    }
    Ok(())
}

/// Builds what a descriptor's file holds (all of it, `size` bytes), or the next graph of a function that fills a buffer.
///
/// What does not begin like a file is a bare message up to the end.
#[pyfunction]
#[pyo3(name = "file_load", signature = (source, size, /, *, r#type, types, trust, strict, dec_hook, limits, progress))]
#[allow(clippy::too_many_arguments)]
pub fn load(
    source: &Bound<'_, PyAny>,
    size: Option<u64>,
    r#type: Option<&Bound<'_, PyAny>>,
    types: Option<&Bound<'_, PyAny>>,
    trust: bool,
    strict: bool,
    dec_hook: Option<&Bound<'_, PyAny>>,
    limits: Option<&Limits>,
    progress: Option<&Bound<'_, PyAny>>,
) -> PyResult<Py<PyAny>> {
    let options = options::decoding(r#type, types, trust, strict, dec_hook, limits)?;
    load_by(source, size, &options, None, Progress::new(progress, size.unwrap_or(0))?)
}

/// The next graph of a function that fills a buffer, with pickle's hooks; for `holdall.pickle`.
#[pyfunction]
#[pyo3(signature = (fill, persistent_load, find_class, buffers, /))]
pub fn load_pickle(
    fill: &Bound<'_, PyAny>,
    persistent_load: Option<&Bound<'_, PyAny>>,
    find_class: Option<&Bound<'_, PyAny>>,
    buffers: Option<&Bound<'_, PyAny>>,
) -> PyResult<Py<PyAny>> {
    let options = options::unpickling(persistent_load, find_class)?;
    let given = buffers.filter(|buffers| !buffers.is_none()).map(options::owned);
    load_by(fill, None, &options, given, Progress::new(None, 0)?)
}

fn load_by(
    source: &Bound<'_, PyAny>,
    size: Option<u64>,
    options: &decode::Options,
    given: Option<Owned>,
    mut progress: Progress,
) -> PyResult<Py<PyAny>> {
    let py = source.py();
    let mut stream = Stream::new(source)?;
    let mut head = Vec::with_capacity(frame::START);
    let taken = py.detach(|| (&mut stream).take(frame::START as u64).read_to_end(&mut head));
    taken.map_err(|error| std::mem::take(&mut stream.raised).or(&error))?;
    if !frame::is_file(&head) {
        let rest = py.detach(|| stream.read_to_end(&mut head));
        rest.map_err(|error| std::mem::take(&mut stream.raised).or(&error))?;
        return match Reader::new(&head, options.trust) {
            Ok(reader) => decode_by(py, reader, options, given.map(|given| Lender::Given(given, 0)), 0),
            Err(error) => Err(Fault::from(error).into_py(0)),
        };
    }
    let kind = frame::parse_start(&head).map_err(|error| Fault::from(error).into_py(0))?;
    let mut reader = file::Reader::new(stream, size);
    let made = graph(py, &mut reader, kind, options, given, &mut progress);
    let made = made.map_err(|fault| match reader.input.raised.0.take() {
        Some(error) => error,
        None => fault.into_py(0),
    })?;
    if let Some(size) = size {
        trailing(size, reader.offset())?;
    }
    Ok(made)
}

/// The buffers of a file that is mapped into memory: views of it, in any order.
pub struct Mapped<'p> {
    pub data: &'p Py<PyAny>,
    pub file: &'p [u8],
    pub parts: &'p Parts,
    /// Views may be written to: what is written stays in memory.
    pub writable: bool,
    unpacked: Option<Vec<u8>>,
    /// What may yet be unpacked.
    left: u64,
}

impl<'p> Mapped<'p> {
    pub fn new(data: &'p Py<PyAny>, file: &'p [u8], parts: &'p Parts, writable: bool) -> Self {
        let left = (64u64 << 20).saturating_add((file.len() as u64).saturating_mul(128));
        Mapped { data, file, parts, writable, unpacked: None, left }
    }
}

impl Source for Mapped<'_> {
    fn view(&mut self, py: Python<'_>, number: u64, lent: Lent, at: usize) -> HostResult<Option<Owned>> {
        let extent = usize::try_from(number).ok().and_then(|number| self.parts.buffers.get(number));
        let Some(extent) = extent else { return Err(crate::error::decode("a buffer that is not there", at)) };
        let body = file::plain(self.file, extent, tag::BUFFER_FRAME, false).map_err(Outside)?;
        let Some(body) = body else {
            self.left = self
                .left
                .checked_sub(extent.len)
                .ok_or_else(|| crate::error::limit("compressed buffers that are unpacked again and again", at))?;
            self.unpacked = Some(py.detach(|| file::unpacked(self.file, extent, tag::BUFFER_FRAME)).map_err(Outside)?);
            return Ok(None);
        };
        let start = body.as_ptr() as usize - self.file.as_ptr() as usize;
        let whole = PyMemoryView::from(self.data.bind(py))?;
        let mut view = part(whole.as_any(), start, start + body.len())?;
        if lent != Lent::ByteArray && lent != Lent::Writable || !self.writable {
            view = view.call_method0("toreadonly")?;
        }
        Ok(Some(options::owned(&view)))
    }

    fn len(&mut self, _py: Python<'_>, _number: u64, _at: usize) -> HostResult<usize> {
        Ok(self.unpacked.as_ref().map_or(0, Vec::len))
    }

    fn fill(&mut self, _py: Python<'_>, to: &mut [u8]) -> HostResult<()> {
        if let Some(bytes) = self.unpacked.take() {
            to.copy_from_slice(&bytes);
        }
        Ok(())
    }
}

/// Builds what a map of a file holds: large buffers are views of it.
#[pyfunction]
#[pyo3(name = "file_load_mapped", signature = (data, writable, /, *, r#type, types, trust, strict, dec_hook, limits))]
#[allow(clippy::too_many_arguments)]
pub fn load_mapped(
    data: &Bound<'_, PyAny>,
    writable: bool,
    r#type: Option<&Bound<'_, PyAny>>,
    types: Option<&Bound<'_, PyAny>>,
    trust: bool,
    strict: bool,
    dec_hook: Option<&Bound<'_, PyAny>>,
    limits: Option<&Limits>,
) -> PyResult<Py<PyAny>> {
    let py = data.py();
    let options = options::decoding(r#type, types, trust, strict, dec_hook, limits)?;
    let view = View::new(data)?;
    let input = view.as_slice();
    let raise = |error| Fault::from(error).into_py(0);
    if !frame::is_file(input) {
        let reader = Reader::new(input, options.trust).map_err(raise)?;
        return decode_by(py, reader, &options, None, 0);
    }
    let parts = Parts::of(input).map_err(raise)?;
    let stored = file::plain(input, &parts.message, tag::MESSAGE, true).map_err(raise)?;
    let (unpacked, base);
    let message = match stored {
        Some(message) => {
            base = message.as_ptr() as usize - input.as_ptr() as usize;
            message
        }
        None => {
            base = 0;
            unpacked = py.detach(|| file::unpacked(input, &parts.message, tag::MESSAGE)).map_err(raise)?;
            &unpacked
        }
    };
    let data = data.clone().unbind();
    let mut source = Mapped::new(&data, input, &parts, writable);
    let reader = Reader::new(message, options.trust).map_err(|error| raise(error.shifted(base)))?;
    decode_by(py, reader, &options, Some(Lender::File(&mut source)), base)
}

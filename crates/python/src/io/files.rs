//! Files: graphs written to and read from descriptors, file objects and memory maps.

use crate::cpython::{detached, part, Owned, View};
use crate::decode::dialect::Native;
use crate::decode::{self, Decoder};
use crate::encode::scratch::{with_scratch, Scratch};
use crate::error::{door, door_giving};
use crate::error::{Asked, Fault, Result as HostResult};
use crate::io::remote::Remote;
use crate::io::streams::{os_error, Progress, Raised, Sink, Stream};
use crate::memory::{read_to_end, Vec};
use crate::message::encode_message;
use crate::message::limits::Limits;
use crate::message::load_args::LoadArgs;
use crate::message::options;
use crate::message::options::Wanted;
use crate::message::{decode_bare, decode_by, decoded, encode_into};
use crate::types::buffer::{Lender, Source};
use crate::types::out_of_band::BufferSink;
use holdall_format::detect::Format;
use holdall_format::hold::boundary::{Boundary, Found};
use holdall_format::hold::codec::{Codec, Compression};
use holdall_format::hold::file::{self, Body, Graph, Parts};
use holdall_format::hold::{frame, tag, Reader};
use holdall_format::model::OutOfBand;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyBytes;
use pyo3::types::PyMemoryView;
use std::io::{self, Read};

/// The argument `compress`: None, "zstd", "lz4", or a pair of "zstd" and a level.
pub fn compression(compress: Option<&Bound<'_, PyAny>>) -> PyResult<Option<Compression>> {
    let Some(compress) = compress.filter(|compress| !compress.is_none()) else { return Ok(None) };
    let wrong = || PyValueError::new_err("compress: expected None, \"zstd\", \"lz4\" or (\"zstd\", level 1 to 22)");
    let (name, level) = match compress.extract::<String>().if_taken()? {
        Some(name) => (name, 3),
        None => compress.extract::<(String, i32)>().if_taken()?.ok_or_else(wrong)?,
    };
    match name.as_str() {
        "zstd" if (1..=22).contains(&level) => Ok(Some(Compression { codec: Codec::Zstd, level })),
        "lz4" => Ok(Some(Compression { codec: Codec::Lz4, level: 0 })),
        _ => Err(wrong()),
    }
}

/// Writes a file to a descriptor, or to a function that accepts all bytes that it is given.
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
) -> PyResult<Py<PyAny>> {
    door_giving(obj.py(), || {
        let options = options::encoding(refs, canonical, trust, intern, enc_hook)?;
        let compression = compression(compress)?;
        let sink = Sink::new(sink)?;
        let progress = Progress::new(progress, 0)?;
        with_scratch(obj.py(), |scratch: &mut Scratch| {
            let views = encode_into(scratch, obj, &options, Some(BufferSink::File(Vec::new())))?;
            let buffers: Vec<&[u8]> = views.iter().map(View::as_slice).collect();
            let how = How { compression, sync };
            write(obj.py(), scratch.output.as_slice(), &buffers, sink, how, progress).map_err(Fault::from)
        })
    })
}

/// Writes an existing message as a file; for `holdall.pickle` and the integrations.
#[pyfunction]
#[pyo3(signature = (message, sink, /, compress = None))]
pub fn file_write(
    py: Python<'_>,
    message: &[u8],
    sink: &Bound<'_, PyAny>,
    compress: Option<&Bound<'_, PyAny>>,
) -> PyResult<Py<PyAny>> {
    door_giving(py, || {
        let how = How { compression: compression(compress)?, sync: false };
        write(py, message, &[], Sink::new(sink)?, how, Progress::new(None, 0)?)
    })
}

/// How a file is written.
struct How {
    compression: Option<Compression>,
    /// Whether the caller will wait until the file is on the disk.
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
    // Asked only if it matters: the system reads files for the answer, which takes longer than a small dump.
    let threads = match how.compression {
        Some(_) => std::thread::available_parallelism().map_or(1, std::num::NonZero::get),
        None => 1,
    };
    let graph = Graph { message, buffers, compression: how.compression, threads };
    progress.total = graph.len();
    let (mut raised, mut told) = (Raised::default(), Raised::default());
    let written =
        detached(py, || sink.write_graph(&mut raised, &graph, how.sync, &mut |done| told.keep(progress.at(done))));
    written.map_err(|error| Raised(raised.0.or(told.0)).or(&error))
}

/// The buffers of a file that is read from front to back: they are needed in order, each once.
struct InOrder<'r, R> {
    reader: &'r mut file::Reader<R>,
    next: u64,
    body: Option<Body>,
    /// A body whose claimed length had to be checked by reading it.
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

/// An error in the file and not in its message: its offset counts from the start of the file.
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
    fn view(&mut self, _py: Python<'_>, _number: u64, _lent: OutOfBand, _at: usize) -> HostResult<Option<Owned>> {
        Ok(None)
    }

    fn len(&mut self, py: Python<'_>, number: u64, at: usize) -> HostResult<usize> {
        if number < self.next {
            return Err(crate::error::decode("a buffer that was there before", at));
        }
        let (reader, next) = (&mut *self.reader, &mut self.next);
        let (progress, raised) = (&mut *self.progress, &mut self.raised);
        let found = detached(py, || loop {
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
        let filled = detached(py, || reader.fill(&body, to, &mut |at| raised.keep(progress.at(at))));
        filled.map_err(|fault| self.fault(fault))
    }
}

/// The next graph of a reader that has read the file's start.
fn graph<R: Read + Send>(
    py: Python<'_>,
    reader: &mut file::Reader<R>,
    kind: u8,
    options: &decode::Options,
    given: Given<'_>,
    progress: &mut Progress,
) -> Result<Py<PyAny>, Fault> {
    if kind == tag::FILE_LOG {
        let why = "a log of records: read it with holdall.Reader";
        let error = holdall_format::Error::new(holdall_format::ErrorKind::BadFile { why }, 5);
        return Err(Outside(error).into());
    }
    let mut raised = Raised::default();
    let read = detached(py, || {
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
    let mut source = InOrder { reader, next: 0, body: None, collected: None, progress, raised: Raised::default() };
    let lender = given.buffers.map_or(Lender::File(&mut source), |given| Lender::Given(given, 0));
    let made = decoded_in(py, &message, options, Some(lender), given.series);
    let made = made.map_err(|fault| Fault::from(fault.into_py(base)))?;
    let finished = detached(py, || reader.finish(kind));
    match finished {
        Ok(()) => {
            progress.at(progress.total.max(progress.told))?;
            Ok(made)
        }
        Err(file::Fault::Bytes(error)) => Err(Outside(error).into()),
        Err(file::Fault::Io(error)) => Err(os_error(&error).into()),
    }
}

/// Builds the value of a message, which may continue a series of messages.
fn decoded_in<'i>(
    py: Python<'i>,
    message: &'i [u8],
    options: &'i decode::Options,
    lender: Option<Lender<'i>>,
    series: Option<&mut decode::Series>,
) -> Result<Py<PyAny>, Fault> {
    let Some(series) = series else {
        return decoded(py, Native::new(), Reader::new(message, options.trust)?, options, lender);
    };
    let (reader, objects, shapes) = Reader::continued(message, options.trust)?;
    // SAFETY: `py` proves that the GIL is held.
    let object =
        unsafe { Decoder::new(py, Native::new(), reader, options, lender) }.in_series(series, objects, shapes)?;
    // SAFETY: `object` is a reference of ours, which the `Bound` takes over.
    Ok(unsafe { Bound::from_owned_ptr(py, object.into_raw()) }.unbind())
}

/// Builds the value of a file that is in memory.
pub fn load_bytes(
    py: Python<'_>,
    input: &[u8],
    options: &decode::Options,
    given: Option<Owned>,
) -> PyResult<Py<PyAny>> {
    let kind = frame::parse_start(input).map_err(|error| Fault::from(error).into_py(0))?;
    let mut reader = file::Reader::new(&input[frame::START..], Some(input.len() as u64));
    let mut progress = Progress::new(None, 0)?;
    let given = Given { buffers: given, series: None };
    let made = graph(py, &mut reader, kind, options, given, &mut progress).map_err(|fault| fault.into_py(0))?;
    if !options.pickle.ignores_rest {
        trailing(input.len() as u64, reader.offset())?;
    }
    Ok(made)
}

fn trailing(size: u64, end: u64) -> PyResult<()> {
    if size > end {
        let kind = holdall_format::ErrorKind::Trailing { count: usize::try_from(size - end).unwrap_or(usize::MAX) };
        let error = holdall_format::Error::new(kind, usize::try_from(end).unwrap_or(usize::MAX));
        return Err(Fault::from(error).into_py(0));
    }
    Ok(())
}

/// Builds the value of a descriptor's file, or of the next graph from a function that fills a buffer. `size`: the
/// number of bytes, if known. `whole`: the graph is everything that there is.
///
/// Data that don't begin like a file are a message up to the end.
#[pyfunction]
#[pyo3(name = "file_load", signature = (source, size, /, *, whole, r#type, types, trust, strict, dec_hook, resolver, limits, progress))]
#[allow(clippy::too_many_arguments)]
pub fn load(
    source: &Bound<'_, PyAny>,
    size: Option<u64>,
    whole: bool,
    r#type: Wanted<'_>,
    types: Option<&Bound<'_, PyAny>>,
    trust: bool,
    strict: bool,
    dec_hook: Option<&Bound<'_, PyAny>>,
    resolver: Option<&Bound<'_, PyAny>>,
    limits: Option<&Limits>,
    progress: Option<&Bound<'_, PyAny>>,
) -> PyResult<Py<PyAny>> {
    door(|| {
        let options = LoadArgs { wanted: &r#type, types, trust, strict, dec_hook, resolver, limits }.hold()?;
        let given = Given { buffers: None, series: None };
        load_by(source, size, whole, Ahead::All, &options, given, Progress::new(progress, size.unwrap_or(0))?)
    })
}

/// How to find the end of a message outside of a file, which doesn't begin with its length.
#[derive(Clone, Copy)]
pub enum Ahead<'a, 'py> {
    /// It is the end of the input.
    All,
    /// Read up to the last value and not beyond.
    Exact,
    /// The same, with a function that shows the next bytes without consuming them.
    Seen(&'a Bound<'py, PyAny>),
}

/// What a message may need from elsewhere.
pub struct Given<'s> {
    /// An iterator over buffers outside of the file.
    pub buffers: Option<Owned>,
    /// The objects of the messages before it in the series.
    pub series: Option<&'s mut decode::Series>,
}

/// The least that is requested from a function that doesn't consume it.
const LEAST_AHEAD: usize = 1 << 13;

/// The bytes of a message outside of a file, whose first byte is in `message` already.
fn bare(stream: &mut Stream, ahead: Ahead<'_, '_>, message: &mut Vec<u8>) -> PyResult<()> {
    let mut read = |message: &mut Vec<u8>, more: u64| match read_to_end(&mut (&mut *stream).take(more), message) {
        Ok(_) => Ok(()),
        Err(error) => Err(std::mem::take(&mut stream.raised).or(&error)),
    };
    let raise = |error| Fault::from(error).into_py(0);
    let mut boundary = Boundary::default();
    loop {
        let have = message.len();
        let least = match boundary.look(message).map_err(raise)? {
            Found::End(_) => return Ok(()),
            Found::AtLeast(least) => least - have,
        };
        let mut sure = least as u64;
        match ahead {
            Ahead::All | Ahead::Exact => {}
            Ahead::Seen(peek) => {
                // Each request doubles the amount, so a message of any size takes few of them.
                let seen = peek.call1((least.max(LEAST_AHEAD).max(have),))?;
                let seen = View::new(&seen)?;
                if seen.as_slice().len() >= least {
                    message.extend_from_slice(seen.as_slice());
                    let end = match boundary.look(message).map_err(raise)? {
                        Found::End(end) => end,
                        Found::AtLeast(_) => message.len(),
                    };
                    message.truncate(have);
                    sure = (end - have) as u64;
                }
            }
        }
        read(message, sure)?;
        if message.len() < have + least {
            return Ok(()); // cut short, which the decoder will report
        }
    }
}

pub fn load_by(
    source: &Bound<'_, PyAny>,
    size: Option<u64>,
    whole: bool,
    ahead: Ahead<'_, '_>,
    options: &decode::Options,
    given: Given<'_>,
    mut progress: Progress,
) -> PyResult<Py<PyAny>> {
    let py = source.py();
    let mut stream = Stream::new(source)?;
    let mut head = Vec::with_capacity(frame::START);
    // The shortest message has two bytes, and its first byte isn't that of a file.
    let mut first = if matches!(ahead, Ahead::All) { frame::START } else { 1 };
    if let Ahead::Seen(peek) = ahead {
        let seen = peek.call1((LEAST_AHEAD,))?;
        let seen = View::new(&seen)?;
        // A small file is read at once.
        first = frame::message_size(seen.as_slice()).filter(|&size| size <= seen.as_slice().len()).unwrap_or(first);
    }
    let taken = detached(py, || {
        read_to_end(&mut (&mut stream).take(first as u64), &mut head)?;
        let more = if frame::is_file(&head) { frame::START.saturating_sub(head.len()) } else { 0 };
        read_to_end(&mut (&mut stream).take(more as u64), &mut head)
    });
    taken.map_err(|error| std::mem::take(&mut stream.raised).or(&error))?;
    if !frame::is_file(&head) {
        match ahead {
            Ahead::All => {
                let rest = detached(py, || read_to_end(&mut stream, &mut head));
                rest.map_err(|error| std::mem::take(&mut stream.raised).or(&error))?;
            }
            _ => {
                if let Err(error) = bare(&mut stream, ahead, &mut head) {
                    // What was read may be too little to recognize the format.
                    if let Ahead::Seen(peek) = ahead {
                        head.extend_from_slice(View::new(&peek.call1((LEAST_AHEAD,))?)?.as_slice());
                    }
                    return Err(crate::message::foreign::named(py, error, Format::Hold, &head));
                }
            }
        }
        let made = decoded_in(py, &head, options, given.buffers.map(|given| Lender::Given(given, 0)), given.series);
        return made.map_err(|fault| crate::message::foreign::named(py, fault.into_py(0), Format::Hold, &head));
    }
    let kind = frame::parse_start(&head).map_err(|error| Fault::from(error).into_py(0))?;
    if head.len() > frame::START {
        let mut reader = file::Reader::new(&head[frame::START..], Some(head.len() as u64));
        return graph(py, &mut reader, kind, options, given, &mut progress).map_err(|fault| fault.into_py(0));
    }
    let mut reader = file::Reader::new(stream, size);
    let made = graph(py, &mut reader, kind, options, given, &mut progress);
    let made = made.map_err(|fault| match reader.input.raised.0.take() {
        Some(error) => error,
        None => fault.into_py(0),
    })?;
    if let Some(size) = size.filter(|_| whole) {
        trailing(size, reader.offset())?;
    }
    Ok(made)
}

/// The buffers of a mapped file: views of it, needed in any order.
pub struct Mapped<'p> {
    pub data: &'p Py<PyAny>,
    pub file: &'p [u8],
    pub parts: &'p Parts,
    /// Views are writable; what is written stays in memory.
    pub writable: bool,
    /// Where buffers have to be brought from.
    pub remote: Option<&'p Remote>,
    unpacked: Option<Vec<u8>>,
    /// How many bytes may still be decompressed.
    left: u64,
}

impl<'p> Mapped<'p> {
    pub fn new(data: &'p Py<PyAny>, file: &'p [u8], parts: &'p Parts, writable: bool) -> Self {
        Mapped {
            data,
            file,
            parts,
            writable,
            remote: None,
            unpacked: None,
            left: file::most_unpacked(file.len() as u64),
        }
    }
}

impl Source for Mapped<'_> {
    fn view(&mut self, py: Python<'_>, number: u64, out_of_band: OutOfBand, at: usize) -> HostResult<Option<Owned>> {
        let extent = usize::try_from(number).ok().and_then(|number| self.parts.buffers.get(number));
        let Some(extent) = extent else { return Err(crate::error::decode("a buffer that is not there", at)) };
        if let Some(remote) = self.remote {
            remote.bring(py, extent.at..self.parts.reach(extent))?;
        }
        let body = file::plain(self.file, extent, tag::BUFFER_FRAME, false).map_err(Outside)?;
        let Some(body) = body else {
            self.left = self
                .left
                .checked_sub(extent.len)
                .ok_or_else(|| crate::error::limit("compressed buffers that are unpacked again and again", at))?;
            self.unpacked =
                Some(detached(py, || file::unpacked(self.file, extent, tag::BUFFER_FRAME)).map_err(Outside)?);
            return Ok(None);
        };
        let start = body.as_ptr() as usize - self.file.as_ptr() as usize;
        let whole = PyMemoryView::from(self.data.bind(py))?;
        let mut view = part(whole.as_any(), start, start + body.len())?;
        if out_of_band != OutOfBand::ByteArray && out_of_band != OutOfBand::Writable || !self.writable {
            view = view.call_method0("toreadonly")?;
        }
        Ok(Some(crate::cpython::owned(&view)))
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

/// Builds the value of a mapped file; large buffers are views of the map.
#[pyfunction]
#[pyo3(name = "file_load_mapped", signature = (data, writable, /, *, r#type, types, trust, strict, dec_hook, resolver, limits))]
#[allow(clippy::too_many_arguments)]
pub fn load_mapped(
    data: &Bound<'_, PyAny>,
    writable: bool,
    r#type: Wanted<'_>,
    types: Option<&Bound<'_, PyAny>>,
    trust: bool,
    strict: bool,
    dec_hook: Option<&Bound<'_, PyAny>>,
    resolver: Option<&Bound<'_, PyAny>>,
    limits: Option<&Limits>,
) -> PyResult<Py<PyAny>> {
    door(|| {
        let py = data.py();
        let options = LoadArgs { wanted: &r#type, types, trust, strict, dec_hook, resolver, limits }.hold()?;
        let view = View::new(data)?;
        let input = view.as_slice();
        let raise = |error| Fault::from(error).into_py(0);
        if !frame::is_file(input) {
            return decode_bare(py, input, &options, None);
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
                unpacked = detached(py, || file::unpacked(input, &parts.message, tag::MESSAGE)).map_err(raise)?;
                &unpacked
            }
        };
        let data = data.clone().unbind();
        let mut source = Mapped::new(&data, input, &parts, writable);
        let reader = Reader::new(message, options.trust).map_err(|error| raise(error.shifted(base)))?;
        decode_by(py, reader, &options, Some(Lender::File(&mut source)), base)
    })
}

/// Builds the value of `data`, a message or a file.
pub fn decode_message(
    data: &Bound<'_, PyAny>,
    options: &decode::Options,
    buffers: Option<&Bound<'_, PyAny>>,
) -> PyResult<Py<PyAny>> {
    let py = data.py();
    let given = match buffers.filter(|buffers| !buffers.is_none()) {
        Some(buffers) => Some(crate::cpython::owned(&buffers.try_iter()?.into_any())),
        None => None,
    };
    // `bytes` can't change; for other types a buffer keeps the memory in place.
    let view;
    let input = match data.cast_exact::<PyBytes>() {
        Ok(bytes) => bytes.as_bytes(),
        Err(_) => {
            view = View::new(data)?;
            view.as_slice()
        }
    };
    if frame::is_file(input) {
        return load_bytes(py, input, options, given);
    }
    decode_bare(py, input, options, given)
}

/// An object as the type of the options wants it.
pub fn converted<'py>(object: &Bound<'py, PyAny>, options: &decode::Options) -> PyResult<Bound<'py, PyAny>> {
    let message = encode_message(object, &options::encoding(true, false, false, false, None)?, None)?;
    Ok(decode_message(message.bind(object.py()), options, None)?.into_bound(object.py()))
}

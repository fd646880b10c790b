//! One message: the options of a call, and encoding and decoding by them.

pub mod foreign;
pub mod limits;
pub mod load_args;
pub mod options;

use crate::cpython::{Owned, View};
use crate::decode::dialect::Native as FromNative;
use crate::decode::{self, Decoder};
use crate::dialect::julia::{FromJulia, Julia};
use crate::encode::canonical::first_walk;
use crate::encode::dialect::{Dialect, Native};
use crate::encode::scratch::{with_scratch, Scratch};
use crate::encode::{self, Encoder, Sharing, Tables};
use crate::error::Fault;
use crate::memory::Vec;
use crate::types::buffer::Lender;
use crate::types::out_of_band::BufferSink;
use foreign::named;
use holdall_format::detect::Format;
use holdall_format::hold::{Reader, Writer};
use pyo3::prelude::*;
use pyo3::types::PyBytes;

/// Writes `object` as a message by a dialect; shows the writer as it is in the end.
pub fn write_and<D: Dialect>(
    dialect: D,
    writer: D::Writer,
    tables: &mut Tables,
    object: &Bound<'_, PyAny>,
    options: &encode::Options,
    see: impl FnOnce(&D::Writer),
) -> Result<(), Fault> {
    // SAFETY: the GIL is held, as `object` shows.
    let mut encoder = unsafe { Encoder::new(object.py(), dialect, writer, options, tables, Sharing::ByCount) };
    let result = encoder.message(object.as_ptr());
    see(&encoder.w);
    result
}

/// The message that `write` leaves in scratch buffers, as bytes.
pub fn finished_message(py: Python<'_>, write: impl FnOnce(&mut Scratch) -> Result<(), Fault>) -> PyResult<Py<PyAny>> {
    let made = with_scratch(|scratch| {
        write(scratch)?;
        scratch.output.take()
    })?;
    // SAFETY: a new reference.
    Ok(unsafe { Bound::from_owned_ptr(py, made.into_raw()) }.unbind())
}

/// Reads the bytes of an object. `bytes` never change; of all else a view keeps them in place.
pub fn with_bytes<T>(data: &Bound<'_, PyAny>, read: impl FnOnce(&[u8]) -> PyResult<T>) -> PyResult<T> {
    match data.cast_exact::<PyBytes>() {
        Ok(bytes) => read(bytes.as_bytes()),
        Err(_) => read(View::new(data)?.as_slice()),
    }
}

/// Writes `object` as a message into the scratch buffers's output; gives the buffers that a file is to have beside it.
pub fn encode_into(
    scratch: &mut Scratch,
    object: &Bound<'_, PyAny>,
    options: &encode::Options,
    sink: Option<BufferSink>,
) -> Result<Vec<View>, Fault> {
    let given = sink.as_ref().map(BufferSink::len).transpose()?;
    let mut sink = sink;
    encode::tracking_if_asked(|track_all| {
        if track_all {
            // What the first attempt has left.
            scratch.output.reset();
            if let (Some(sink), Some(given)) = (&mut sink, given) {
                sink.cut(given)?;
            }
        }
        encode_once(scratch, object, options, &mut sink, track_all)
    })
}

#[inline(always)]
fn encode_once(
    scratch: &mut Scratch,
    object: &Bound<'_, PyAny>,
    options: &encode::Options,
    sink: &mut Option<BufferSink>,
    track_all: bool,
) -> Result<Vec<View>, Fault> {
    let py = object.py();
    let first = if options.canonical { Some(first_walk(scratch, object, options)?) } else { None };
    let Scratch { output, tables } = scratch;
    let writer = Writer::new(&mut *output, options.trust);
    // SAFETY: the GIL is held, as `py` shows.
    let mut encoder = unsafe { Encoder::new(py, Native::new(), writer, options, tables, Sharing::ByCount) };
    // Until the second walk is done, what the first made keeps its addresses.
    let mut _kept = None;
    if let Some(first) = first {
        encoder.shares(first.sharing);
        encoder.recipes = first.recipes;
        encoder.orders = Some(first.orders);
        _kept = Some(first.temporaries);
    }
    if track_all {
        encoder.track_all();
    }
    encoder.buffers.to = sink.take();
    let result = encoder.message(object.as_ptr());
    *sink = encoder.buffers.to.take();
    result?;
    match sink.take() {
        Some(BufferSink::File(views)) => Ok(views),
        _ => Ok(Vec::new()),
    }
}

pub fn encode_message(
    object: &Bound<'_, PyAny>,
    options: &encode::Options,
    buffers: Option<&Bound<'_, PyAny>>,
) -> PyResult<Py<PyAny>> {
    let sink = options::buffer_sink(buffers)?;
    finished_message(object.py(), |scratch| encode_into(scratch, object, options, sink).map(drop))
}

/// Builds what a message without a file around it holds.
pub fn decode_bare(
    py: Python<'_>,
    input: &[u8],
    options: &decode::Options,
    given: Option<Owned>,
) -> PyResult<Py<PyAny>> {
    let made = match Reader::new(input, options.trust) {
        Ok(reader) => decode_by(py, reader, options, given.map(|given| Lender::Given(given, 0)), 0),
        Err(error) => Err(Fault::from(error).into_py(0)),
    };
    made.map_err(|error| named(py, error, Format::Hold, input))
}

/// Builds what a reader reads, which began `base` bytes into what the user gave.
pub fn decode_by<'i, R: holdall_format::Reader<'i>>(
    py: Python<'i>,
    reader: R,
    options: &'i decode::Options,
    lender: Option<Lender<'i>>,
    base: usize,
) -> PyResult<Py<PyAny>> {
    decoded(py, FromNative::new(), reader, options, lender).map_err(|fault| fault.into_py(base))
}

/// The same of a file of Julia's.
pub fn decode_julia<'i, R: holdall_format::Reader<'i>>(
    py: Python<'i>,
    julia: &'i Julia,
    reader: R,
    options: &'i decode::Options,
) -> PyResult<Py<PyAny>> {
    decoded(py, FromJulia::new(julia), reader, options, None).map_err(|fault| fault.into_py(0))
}

/// The same by a dialect, before a fault becomes an exception.
pub fn decoded<'i, D: decode::dialect::Dialect<'i>>(
    py: Python<'i>,
    dialect: D,
    reader: D::Reader,
    options: &'i decode::Options,
    lender: Option<Lender<'i>>,
) -> Result<Py<PyAny>, Fault> {
    // SAFETY: the GIL is held, as `py` shows.
    let object = unsafe { Decoder::new(py, dialect, reader, options, lender) }.message()?;
    // SAFETY: a new reference, which becomes the result's.
    Ok(unsafe { Bound::from_owned_ptr(py, object.into_raw()) }.unbind())
}

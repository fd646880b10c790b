//! A single message: the options of a call, and encoding and decoding with them.

pub mod foreign;
pub mod limits;
pub mod load_args;
pub mod options;
pub mod sealed;

use crate::cpython::{Owned, View};
use crate::decode::dialect::Native as FromNative;
use crate::decode::{self, Decoder};
use crate::dialect::julia::{FromJulia, Julia, JuliaReader};
use crate::encode::canonical::first_walk;
use crate::encode::dialect::{Dialect, Native};
use crate::encode::scratch::{with_scratch, Scratch};
use crate::encode::value::{is_leaf, lone_leaf};
use crate::encode::{self, Encoder, Sharing, Tables};
use crate::error::Fault;
use crate::memory::Vec;
use crate::types::buffer::Lender;
use crate::types::out_of_band::BufferSink;
use foreign::named;
use holdall_format::detect::Format;
use holdall_format::hold::{Reader, Writer};
use holdall_format::Writer as FormatWriter;
use pyo3::prelude::*;
use pyo3::types::PyBytes;

/// Writes `object` as a message by a dialect; `see` gets the writer as it is at the end.
pub fn write_in_dialect<D: Dialect>(
    dialect: D,
    writer: D::Writer,
    tables: &mut Tables,
    object: &Bound<'_, PyAny>,
    options: &encode::Options,
    see: impl FnOnce(&D::Writer),
) -> Result<(), Fault> {
    // SAFETY: `object` proves that the GIL is held.
    let mut encoder = unsafe { Encoder::new(object.py(), dialect, writer, options, tables, Sharing::ByCount) };
    let result = encoder.message(object.as_ptr());
    see(&encoder.w);
    result
}

/// The message that `write` leaves in the scratch buffers, as bytes.
pub fn finished_message(py: Python<'_>, write: impl FnOnce(&mut Scratch) -> Result<(), Fault>) -> PyResult<Py<PyAny>> {
    let made = with_scratch(py, |scratch| {
        write(scratch)?;
        scratch.output.take()
    })?;
    // SAFETY: `made` is a reference of ours, which the `Bound` takes over.
    Ok(unsafe { Bound::from_owned_ptr(py, made.into_raw()) }.unbind())
}

/// Reads the bytes of an object. `bytes` can't change; for other types a buffer keeps the memory in place.
pub fn with_bytes<T>(data: &Bound<'_, PyAny>, read: impl FnOnce(&[u8]) -> PyResult<T>) -> PyResult<T> {
    match data.cast_exact::<PyBytes>() {
        Ok(bytes) => read(bytes.as_bytes()),
        Err(_) => read(View::new(data)?.as_slice()),
    }
}

/// Whether [`wrote_leaf`] is worth a try.
#[inline(always)]
pub fn is_lone_leaf(object: &Bound<'_, PyAny>, options: &encode::Options) -> bool {
    // SAFETY: the `Bound` holds the object.
    unsafe { is_leaf(object.as_ptr()) && !options.canonical && options.pickle.is_none() }
}

/// Writes the message of a leaf, which needs no encoder: a third of the time of a call. `false`: the encoder has to say what is
/// wrong with it, and the output has to be reset.
pub fn wrote_leaf<W: FormatWriter>(mut writer: W, object: &Bound<'_, PyAny>) -> Result<bool, Fault> {
    // SAFETY: the `Bound` holds the object, and proves that the GIL is held.
    let wrote = unsafe { lone_leaf(&mut writer, object.as_ptr()) }?;
    Ok(wrote && writer.refusal().is_none())
}

/// Writes `object` as a message into the output buffer of `scratch`; returns the buffers to be stored beside it in a
/// file.
pub fn encode_into(
    scratch: &mut Scratch,
    object: &Bound<'_, PyAny>,
    options: &encode::Options,
    sink: Option<BufferSink>,
) -> Result<Vec<View>, Fault> {
    if is_lone_leaf(object, options) {
        if wrote_leaf(Writer::new(&mut scratch.output, options.trust), object)? {
            return Ok(Vec::new());
        }
        scratch.output.reset();
    }
    let given = sink.as_ref().map(BufferSink::len).transpose()?;
    let mut sink = sink;
    encode::tracking_if_asked(|track_all| {
        if track_all {
            // Removes what the first attempt left.
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
    // SAFETY: `py` proves that the GIL is held.
    let mut encoder = unsafe { Encoder::new(py, Native::new(), writer, options, tables, Sharing::ByCount) };
    // Held until the second walk is over: both walks identify its objects by address.
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

/// Builds the value of a message without a file around it.
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

/// Builds the value of a reader's input, which began `base` bytes into what the user gave.
pub fn decode_by<'i, R: holdall_format::Reader<'i>>(
    py: Python<'i>,
    reader: R,
    options: &'i decode::Options,
    lender: Option<Lender<'i>>,
    base: usize,
) -> PyResult<Py<PyAny>> {
    decoded(py, FromNative::new(), reader, options, lender).map_err(|fault| fault.into_py(base))
}

/// The same for a Julia file.
pub fn decode_julia<'i, R: JuliaReader<'i>>(
    py: Python<'i>,
    julia: &'i Julia,
    reader: R,
    options: &'i decode::Options,
) -> PyResult<Py<PyAny>> {
    decoded(py, FromJulia::new(julia), reader, options, None).map_err(|fault| fault.into_py(0))
}

/// The same in a dialect, before a fault becomes an exception.
pub fn decoded<'i, D: decode::dialect::Dialect<'i>>(
    py: Python<'i>,
    dialect: D,
    reader: D::Reader,
    options: &'i decode::Options,
    lender: Option<Lender<'i>>,
) -> Result<Py<PyAny>, Fault> {
    // SAFETY: `py` proves that the GIL is held.
    let mut decoder = unsafe { Decoder::new(py, dialect, reader, options, lender) };
    let object = decoder.message()?;
    decoder.done_with();
    // SAFETY: `object` is a reference of ours, which the `Bound` takes over.
    Ok(unsafe { Bound::from_owned_ptr(py, object.into_raw()) }.unbind())
}

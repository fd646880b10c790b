//! Julia's files: the functions of `holdall.julia`, for the dialect of BSON that BSON.jl and BSONqs write.

use crate::cpython::Owned;
use crate::dialect::julia::{Lowering, ToJulia};
use crate::encode::scratch::Scratch;
use crate::encode::{self, Encoder, Sharing};
use crate::error::door;
use crate::error::Fault;
use crate::lazy::{open_julia, Document};
use crate::message::foreign::named;
use crate::message::limits::Limits;
use crate::message::load_args::LoadArgs;
use crate::message::options;
use crate::message::options::Wanted;
use crate::message::{decode_julia, finished_message, with_bytes};
use crate::types::numpy;
use holdall_format::detect::Format;
use holdall_format::julia::{tag, Reader, Survey, Writer};
use pyo3::prelude::*;
use pyo3::types::PyTuple;

/// The tags of typed values.
pub fn tags(py: Python<'_>) -> PyResult<Bound<'_, PyTuple>> {
    PyTuple::new(py, tag::ROWS.iter().map(|row| row.name))
}

fn encode_into(scratch: &mut Scratch, object: &Bound<'_, PyAny>, options: &encode::Options) -> Result<(), Fault> {
    encode::tracking_if_asked(|track_all| encode_once(scratch, object, options, track_all))
}

fn encode_once(
    scratch: &mut Scratch,
    object: &Bound<'_, PyAny>,
    options: &encode::Options,
    track_all: bool,
) -> Result<(), Fault> {
    let Scratch { output, tables } = scratch;
    let py = object.py();
    // The first walk only finds objects that occur more than once.
    let dialect = ToJulia::new(Lowering::new(py)?);
    // SAFETY: `py` proves that the GIL is held.
    let mut survey =
        unsafe { Encoder::new(py, dialect, Survey, options, tables, Sharing::Finding(Default::default())) };
    if track_all {
        survey.track_all();
    }
    survey.message(object.as_ptr())?;
    // Objects made during the first walk are made again in the second. Until then they are kept, so that their
    // addresses can't be reused.
    let _made = survey.take_temporaries();
    let (sharing, dialect) = survey.into_found();
    let dialect = ToJulia::new(dialect.into_lowering());
    // SAFETY: `py` proves that the GIL is held.
    let mut encoder = unsafe { Encoder::new(py, dialect, Writer::new(&mut *output), options, tables, sharing) };
    encoder.message(object.as_ptr())
}

/// Store `obj`, a dict with names as keys, as BSON.jl would: the bytes that `BSON.load` reads.
///
/// `docs/julia.md` says what each type becomes. Shared objects stay shared, and cycles work.
///
/// enc_hook: called with an object that can't be stored; what it returns is stored instead.
///
/// Raises EncodeError: an object without a known Julia type; the message names its class and the remedy.
///
/// >>> from holdall import julia
/// >>> julia.loads(julia.dumps({"n": 1}))
/// {'n': 1}
#[pyfunction]
#[pyo3(name = "julia_dumps", signature = (obj, /, *, enc_hook = None))]
pub fn dumps(obj: &Bound<'_, PyAny>, enc_hook: Option<&Bound<'_, PyAny>>) -> PyResult<Py<PyAny>> {
    door(|| {
        let options = options::encoding(true, false, false, false, enc_hook)?;
        finished_message(obj.py(), |scratch| encode_into(scratch, obj, &options))
    })
}

/// The memory of `data`, for arrays that are views of it, and its address.
fn memory_of(data: &Bound<'_, PyAny>) -> PyResult<Option<(Owned, usize)>> {
    let base = with_bytes(data, |input| Ok(input.as_ptr() as usize))?;
    Ok(numpy::octets(data)?.map(|owner| (owner, base)))
}

/// Restore what `data` holds, a document of BSON.jl's or BSONqs's.
///
/// type, strict, dec_hook, limits: as for `holdall.loads`.
/// types: classes that Julia's types become, besides those that `struct` has mapped: classes (found by their names),
/// modules, or a dict of paths and classes.
/// views: arrays are views of `data`, which they keep alive; else they are copies.
///
/// Runs and imports nothing that the data names: functions and methods come as records.
///
/// Raises DecodeError: malformed or left-over bytes; `.offset` counts bytes from the start of `data`.
/// Raises ValidationError: well formed, but not a `type`. Raises LimitError: a bound was exceeded.
///
/// >>> from holdall import julia
/// >>> julia.loads(julia.dumps({"n": 1}), type=dict[str, int])
/// {'n': 1}
#[pyfunction]
#[pyo3(name = "julia_loads", signature = (data, /, *, types = None, r#type = Wanted::ANY, strict = true, dec_hook = None, limits = None, views = false), text_signature = "(data, /, *, types=None, type='Any', strict=True, dec_hook=None, limits=None, views=False)")]
#[allow(clippy::too_many_arguments)]
pub fn loads(
    data: &Bound<'_, PyAny>,
    types: Option<&Bound<'_, PyAny>>,
    r#type: Wanted<'_>,
    strict: bool,
    dec_hook: Option<&Bound<'_, PyAny>>,
    limits: Option<&Limits>,
    views: bool,
) -> PyResult<Py<PyAny>> {
    door(|| {
        let args = LoadArgs { wanted: &r#type, types, strict, dec_hook, resolver: None, limits, trust: false };
        let (options, mut julia) = args.julia(data.py())?;
        if views {
            julia.views = memory_of(data)?;
        }
        with_bytes(data, |input| {
            let made = julia.until_settled(|| {
                let reader = Reader::new(input).map_err(|error| Fault::from(error).into_py(0))?;
                decode_julia(data.py(), &julia, reader, &options)
            });
            made.map_err(|error| named(data.py(), error, Format::Julia, input))
        })
    })
}

/// The tagged documents of `data` as dicts, as they are in the file; shared ones are one object.
///
/// Raises DecodeError: malformed or left-over bytes.
///
/// >>> from holdall import julia
/// >>> julia.parse(julia.dumps({"t": (1, 2)}))
/// {'t': {'tag': 'tuple', 'data': [1, 2]}}
#[pyfunction]
#[pyo3(name = "julia_parse", signature = (data, /, *, limits = None))]
pub fn parse(data: &Bound<'_, PyAny>, limits: Option<&Limits>) -> PyResult<Py<PyAny>> {
    door(|| {
        let (options, mut julia) = LoadArgs { limits, ..LoadArgs::default() }.julia(data.py())?;
        julia.raw = true;
        with_bytes(data, |input| {
            let made = match Reader::new(input) {
                Ok(reader) => decode_julia(data.py(), &julia, reader.raw(), &options),
                Err(error) => Err(Fault::from(error).into_py(0)),
            };
            made.map_err(|error| named(data.py(), error, Format::Julia, input))
        })
    })
}

/// A document whose members are found without being read, and built when you ask for them.
///
/// owned: whether closing it closes `data`, a map that was made for it.
#[pyfunction]
#[pyo3(name = "julia_open", signature = (data, /, *, owned, types = None, r#type = Wanted::ANY, strict = true, dec_hook = None, limits = None, views = false))]
#[allow(clippy::too_many_arguments)]
pub fn open(
    data: &Bound<'_, PyAny>,
    owned: bool,
    types: Option<&Bound<'_, PyAny>>,
    r#type: Wanted<'_>,
    strict: bool,
    dec_hook: Option<&Bound<'_, PyAny>>,
    limits: Option<&Limits>,
    views: bool,
) -> PyResult<Document> {
    door(|| {
        let args = LoadArgs { wanted: &r#type, types, strict, dec_hook, resolver: None, limits, trust: false };
        let (options, mut julia) = args.julia(data.py())?;
        if views {
            julia.views = memory_of(data)?;
        }
        open_julia(data, owned, options, julia)
    })
}

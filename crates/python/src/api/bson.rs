//! BSON: the functions and classes of `holdall.bson`, and PyMongo's functions with its options.

use crate::cpython::{new, View};
use crate::dialect::pymongo;
use crate::dialect::pymongo::{FromPyMongo, PyMongo, RawDocuments, ToPyMongo};
use crate::encode::dialect::Bson;
use crate::encode::forms::Forms;
use crate::encode::scratch::Scratch;
use crate::error::door;
use crate::error::Fault;
use crate::message::foreign::{explain, named, what};
use crate::message::limits::Limits;
use crate::message::load_args::LoadArgs;
use crate::message::options;
use crate::message::options::Wanted;
use crate::message::{decode_by, decoded, finished_message, with_bytes, write_in_dialect};
use crate::{decode, encode};
use holdall_format::bson::{Reader, Writer};
use holdall_format::detect::Format;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::{PyByteArray, PyBytes, PyList};
use std::sync::Arc;

fn encode_into(scratch: &mut Scratch, object: &Bound<'_, PyAny>, options: &encode::Options) -> Result<(), Fault> {
    let Scratch { output, tables } = scratch;
    write_in_dialect(Bson::new(), Writer::new(&mut *output), tables, object, options, |_| ())
}

fn encode_message(object: &Bound<'_, PyAny>, options: &encode::Options) -> PyResult<Py<PyAny>> {
    finished_message(object.py(), |scratch| encode_into(scratch, object, options))
}

fn encoding(enc_hook: Option<&Bound<'_, PyAny>>, order: Option<&str>, hook_objects: bool) -> PyResult<encode::Options> {
    let mut options = options::encoding(false, false, false, false, enc_hook)?;
    options.forms = Forms { order: options::order(order)?, hook_objects, ..Forms::default() };
    Ok(options)
}

fn decode_message(data: &Bound<'_, PyAny>, options: &decode::Options) -> PyResult<Py<PyAny>> {
    let py = data.py();
    with_bytes(data, |input| {
        decode_by(py, Reader::new(input), options, None, 0).map_err(|error| named(py, error, Format::Bson, input))
    })
}

/// Store `obj` as a BSON document.
///
/// The outermost value must be a dict, or an instance of a class, which becomes one. Shared objects are written at each of
/// their places; a cycle is an EncodeError. Datetimes are truncated to milliseconds; those without a zone count as UTC.
/// `docs/bson.md` says what each type becomes.
///
/// enc_hook: called with an object that can't be stored; what it returns is stored instead.
/// order: "deterministic" sorts dicts and sets, "sorted" also the fields of classes; None sorts nothing.
/// hook_objects: objects of classes that declare no fields go to `enc_hook` too.
///
/// Raises EncodeError: an object, a key, or an int beyond 64 bits, that the format can't hold.
///
/// >>> from holdall import bson
/// >>> bson.dumps({"a": 1})
/// b'\x0c\x00\x00\x00\x10a\x00\x01\x00\x00\x00\x00'
#[pyfunction]
#[pyo3(name = "bson_dumps", signature = (obj, /, *, enc_hook = None, order = None, hook_objects = false))]
pub fn dumps(
    obj: &Bound<'_, PyAny>,
    enc_hook: Option<&Bound<'_, PyAny>>,
    order: Option<&str>,
    hook_objects: bool,
) -> PyResult<Py<PyAny>> {
    door(|| encode_message(obj, &encoding(enc_hook, order, hook_objects)?))
}

/// Restore what `data` holds, one BSON document.
///
/// type, strict, dec_hook, resolver, limits: as for `holdall.loads`. Text is accepted for dates and the like if `type` wants them.
/// tz_aware: points in time come as datetimes in UTC; else without a zone. Those beyond datetime's years are `DatetimeMS`.
///
/// ObjectId, Decimal128 and the like are PyMongo's classes, from `holdall[bson]`.
///
/// Raises DecodeError: malformed or left-over bytes; `.offset` counts bytes from the start of `data`.
/// Raises ValidationError: well formed, but not a `type`. Raises LimitError: a bound was exceeded.
/// Raises ImportError: a value needs a class of PyMongo's, which is not installed.
///
/// >>> from holdall import bson
/// >>> bson.loads(bson.dumps({"a": 1}), type=dict[str, int])
/// {'a': 1}
#[pyfunction]
#[pyo3(name = "bson_loads", signature = (data, /, *, r#type = Wanted::ANY, strict = true, dec_hook = None, resolver = None, limits = None, tz_aware = true), text_signature = "(data, /, *, type='Any', strict=True, dec_hook=None, resolver=None, limits=None, tz_aware=True)")]
pub fn loads(
    data: &Bound<'_, PyAny>,
    r#type: Wanted<'_>,
    strict: bool,
    dec_hook: Option<&Bound<'_, PyAny>>,
    resolver: Option<&Bound<'_, PyAny>>,
    limits: Option<&Limits>,
    tz_aware: bool,
) -> PyResult<Py<PyAny>> {
    door(|| {
        decode_message(
            data,
            &LoadArgs { wanted: &r#type, strict, dec_hook, resolver, limits, ..LoadArgs::default() }.bson(tz_aware)?,
        )
    })
}

/// Stores objects as BSON documents; takes the options of `dumps` once.
///
/// >>> from holdall import bson
/// >>> bson.Encoder().encode({})
/// b'\x05\x00\x00\x00\x00'
#[pyclass(module = "holdall.bson", name = "Encoder", frozen)]
pub struct BsonEncoder {
    options: encode::Options,
}

#[pymethods]
impl BsonEncoder {
    #[new]
    #[pyo3(signature = (*, enc_hook = None, order = None, hook_objects = false))]
    fn new(enc_hook: Option<&Bound<'_, PyAny>>, order: Option<&str>, hook_objects: bool) -> PyResult<BsonEncoder> {
        door(|| Ok(BsonEncoder { options: encoding(enc_hook, order, hook_objects)? }))
    }

    /// Store `obj` as bytes; see `dumps`.
    fn encode(&self, obj: &Bound<'_, PyAny>) -> PyResult<Py<PyAny>> {
        door(|| encode_message(obj, &self.options))
    }

    /// Store `obj` into `buffer` from `offset` on; returns the offset of its end, where `buffer` then ends.
    #[pyo3(signature = (obj, buffer, offset = 0))]
    fn encode_into(
        &self,
        obj: &Bound<'_, PyAny>,
        buffer: &Bound<'_, PyByteArray>,
        offset: usize,
    ) -> PyResult<Py<PyAny>> {
        crate::api::codec::put_into(buffer, offset, |scratch| encode_into(scratch, obj, &self.options))
    }
}

/// Loads objects of BSON documents; takes the options of `loads` once.
///
/// >>> from holdall import bson
/// >>> bson.Decoder(type=dict[str, int]).decode(bson.dumps({"a": 1}))
/// {'a': 1}
#[pyclass(module = "holdall.bson", name = "Decoder", frozen)]
pub struct BsonDecoder {
    options: decode::Options,
}

#[pymethods]
impl BsonDecoder {
    #[new]
    #[pyo3(signature = (*, r#type = Wanted::ANY, strict = true, dec_hook = None, resolver = None, limits = None, tz_aware = true), text_signature = "(*, type='Any', strict=True, dec_hook=None, resolver=None, limits=None, tz_aware=True)")]
    fn new(
        r#type: Wanted<'_>,
        strict: bool,
        dec_hook: Option<&Bound<'_, PyAny>>,
        resolver: Option<&Bound<'_, PyAny>>,
        limits: Option<&Limits>,
        tz_aware: bool,
    ) -> PyResult<BsonDecoder> {
        door(|| {
            Ok(BsonDecoder {
                options: LoadArgs { wanted: &r#type, strict, dec_hook, resolver, limits, ..LoadArgs::default() }
                    .bson(tz_aware)?,
            })
        })
    }

    /// Restore what `data` holds; see `loads`.
    fn decode(&self, data: &Bound<'_, PyAny>) -> PyResult<Py<PyAny>> {
        door(|| decode_message(data, &self.options))
    }
}

/// PyMongo's `encode` without its checks of arguments: a mapping as a document, `_id` first.
#[pyfunction]
#[pyo3(name = "bson_encode", signature = (document, check_keys, codec_options, /))]
pub fn pymongo_encode(
    document: &Bound<'_, PyAny>,
    check_keys: u8,
    codec_options: &Bound<'_, PyAny>,
) -> PyResult<Py<PyAny>> {
    door(|| {
        let py = document.py();
        let rules = PyMongo::of(codec_options, check_keys != 0)?;
        if let Some(raw) = pymongo::raw_bytes(document)? {
            return Ok(raw);
        }
        let options = encoding(None, None, false)?;
        finished_message(py, |scratch| {
            let Scratch { output, tables } = scratch;
            let mut refusal = None;
            let written = write_in_dialect(
                ToPyMongo::new(rules),
                Writer::new(&mut *output),
                tables,
                document,
                &options,
                |writer| {
                    refusal = holdall_format::Writer::refusal(writer);
                },
            );
            // PyMongo would have refused the document before the error that ended the walk.
            let written = refusal.map_or(written, |why| Err(pymongo::refused(py, why).into()));
            written.map_err(|fault| pymongo::encode_error(document, fault).into())
        })
    })
}

fn pymongo_options(codec_options: &Bound<'_, PyAny>) -> PyResult<(decode::Options, Arc<PyMongo>)> {
    let pymongo = PyMongo::of(codec_options, false)?;
    Ok((decode::Options { schema: pymongo.schema(), ..LoadArgs::default().hold()? }, pymongo))
}

/// An error of PyMongo's, with the format that the bytes are in.
#[cold]
fn pymongo_error(py: Python<'_>, error: PyErr, input: &[u8]) -> PyErr {
    if let Some(clause) = what(input, Format::Bson) {
        explain(py, &error, &clause);
    }
    error
}

fn pymongo_document(
    py: Python<'_>,
    input: &[u8],
    pymongo: &PyMongo,
    options: &decode::Options,
    base: usize,
) -> PyResult<Py<PyAny>> {
    let reader = Reader::new(input).with_longs();
    decoded(py, FromPyMongo::new(pymongo), reader, options, None)
        .map_err(|fault| pymongo::decode_error(py, fault, base))
}

/// Calls `read` with the bytes of an object that PyMongo accepts as bytes.
fn with_octets<T>(data: &Bound<'_, PyAny>, read: impl FnOnce(&[u8]) -> PyResult<T>) -> PyResult<T> {
    if let Ok(bytes) = data.cast_exact::<PyBytes>() {
        return read(bytes.as_bytes());
    }
    let view = View::new(data)?;
    match view.item_size() {
        1 => read(view.as_slice()),
        _ => Err(PyValueError::new_err("expected a buffer of bytes, found one of larger items")),
    }
}

/// PyMongo's `decode` without its checks of arguments.
#[pyfunction]
#[pyo3(name = "bson_decode", signature = (data, codec_options, /))]
pub fn pymongo_decode(data: &Bound<'_, PyAny>, codec_options: &Bound<'_, PyAny>) -> PyResult<Py<PyAny>> {
    door(|| {
        let (options, rules) = pymongo_options(codec_options)?;
        with_octets(data, |input| match RawDocuments::new(&rules, data, input) {
            Some(mut raw) => raw.document(0..input.len()),
            None => pymongo_document(data.py(), input, &rules, &options, 0)
                .map_err(|error| pymongo_error(data.py(), error, input)),
        })
    })
}

/// PyMongo's `decode_all` without its checks of arguments: consecutive documents.
#[pyfunction]
#[pyo3(name = "bson_decode_all", signature = (data, codec_options, /))]
pub fn pymongo_decode_all<'py>(
    data: &Bound<'py, PyAny>,
    codec_options: &Bound<'py, PyAny>,
) -> PyResult<Bound<'py, PyList>> {
    door(|| {
        let py = data.py();
        let (options, rules) = pymongo_options(codec_options)?;
        let documents = new::list(py)?;
        with_octets(data, |input| {
            let mut raw = RawDocuments::new(&rules, data, input);
            let mut at = 0;
            while at < input.len() {
                let (document, _) = holdall_format::bson::split_first(&input[at..])
                    .map_err(|error| pymongo_error(py, pymongo::invalid_bson(py, error.shifted(at)), input))?;
                let end = at + document.len();
                documents.append(match &mut raw {
                    Some(raw) => raw.document(at..end)?,
                    None => pymongo_document(py, document, &rules, &options, at)?,
                })?;
                at = end;
            }
            Ok(())
        })?;
        Ok(documents)
    })
}

//! MessagePack: the functions and classes of `holdall.msgpack`.

use crate::api::quick::{self, quick};
use crate::budget::chance::Chance;
use crate::cpython::View;
use crate::decode::few::{Asked, Classes};
use crate::encode::dialect::MessagePack;
use crate::encode::few::Plain;
use crate::encode::forms::{Forms, Order};
use crate::encode::scratch::Scratch;
use crate::error::Fault;
use crate::error::{door, door_giving};
use crate::message::foreign::named;
use crate::message::limits::Limits;
use crate::message::load_args::LoadArgs;
use crate::message::options;
use crate::message::options::Wanted;
use crate::message::{decode_by, finished_message, is_lone_leaf, with_bytes, write_in_dialect, wrote_leaf};
use crate::{decode, encode};
use holdall_format::detect::Format;
use holdall_format::msgpack::{Reader, Writer};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyByteArray;

fn encode_into(scratch: &mut Scratch, object: &Bound<'_, PyAny>, options: &encode::Options) -> Result<(), Fault> {
    if is_lone_leaf(object, options) {
        if wrote_leaf(Writer::new(&mut scratch.output), object)? {
            return Ok(());
        }
        scratch.output.reset();
    }
    let Scratch { output, tables } = scratch;
    write_in_dialect(MessagePack::new(), Writer::new(&mut *output), tables, object, options, |_| ())
}

fn encode_message(object: &Bound<'_, PyAny>, options: &encode::Options) -> PyResult<Py<PyAny>> {
    finished_message(object.py(), |scratch| encode_into(scratch, object, options))
}

fn encoding(
    enc_hook: Option<&Bound<'_, PyAny>>,
    order: Option<&str>,
    uuid_format: &str,
    decimal_format: Option<&Bound<'_, PyAny>>,
    hook_objects: bool,
) -> PyResult<encode::Options> {
    let mut options = options::encoding(false, false, false, false, enc_hook)?;
    options.forms = Forms {
        order: options::order(order)?,
        uuid: options::uuid_form(uuid_format)?,
        decimal: options::decimal_form(decimal_format)?,
        hook_objects,
    };
    Ok(options)
}

fn decode_message(
    data: &Bound<'_, PyAny>,
    options: &decode::Options,
    form: fn(Reader<'_>) -> Reader<'_>,
) -> PyResult<Py<PyAny>> {
    let py = data.py();
    with_bytes(data, |input| {
        decode_by(py, form(Reader::new(input)), options, None, 0)
            .map_err(|error| named(py, error, Format::Msgpack, input))
    })
}

/// Store `obj` as MessagePack.
///
/// Shared objects are written at each of their places; a cycle is an EncodeError. Instances become maps of their fields;
/// `docs/msgpack.md` says what each type becomes.
///
/// enc_hook: called with an object that can't be stored; what it returns is stored instead.
/// order: "deterministic" sorts dicts and sets, "sorted" also the fields of classes; None sorts nothing.
/// uuid_format: "canonical", "hex" or "bytes". decimal_format: "string", "number" (a float), or a function whose result
/// is stored. hook_objects: objects of classes that declare no fields go to `enc_hook` too.
///
/// Raises EncodeError: an object, or an int beyond 64 bits, that the format can't hold; with `order`, what can't be sorted.
///
/// >>> from holdall import msgpack
/// >>> msgpack.dumps({"a": 1})
/// b'\x81\xa1a\x01'
#[pyfunction]
#[pyo3(name = "msgpack_dumps", signature = (obj, /, *, enc_hook = None, order = None, uuid_format = "canonical", decimal_format = None, hook_objects = false))]
pub fn dumps(
    obj: &Bound<'_, PyAny>,
    enc_hook: Option<&Bound<'_, PyAny>>,
    order: Option<&str>,
    uuid_format: &str,
    decimal_format: Option<&Bound<'_, PyAny>>,
    hook_objects: bool,
) -> PyResult<Py<PyAny>> {
    door(|| encode_message(obj, &encoding(enc_hook, order, uuid_format, decimal_format, hook_objects)?))
}

/// Restore what `data` holds, one value of MessagePack.
///
/// type, strict, dec_hook, resolver, limits: as for `holdall.loads`. Text is accepted for dates, decimals and the like if `type`
/// wants them.
/// ext_hook: called as `ext_hook(code, data)` for an extension type; without it, an `Ext`.
///
/// Raises DecodeError: malformed or left-over bytes; `.offset` counts bytes from the start of `data`.
/// Raises ValidationError: well formed, but not a `type`. Raises LimitError: a bound was exceeded.
///
/// >>> from holdall import msgpack
/// >>> msgpack.loads(b'\x81\xa1a\x01', type=dict[str, int])
/// {'a': 1}
#[pyfunction]
#[pyo3(name = "msgpack_loads", signature = (data, /, *, r#type = Wanted::ANY, strict = true, dec_hook = None, resolver = None, ext_hook = None, limits = None), text_signature = "(data, /, *, type='Any', strict=True, dec_hook=None, resolver=None, ext_hook=None, limits=None)")]
pub fn loads(
    data: &Bound<'_, PyAny>,
    r#type: Wanted<'_>,
    strict: bool,
    dec_hook: Option<&Bound<'_, PyAny>>,
    resolver: Option<&Bound<'_, PyAny>>,
    ext_hook: Option<&Bound<'_, PyAny>>,
    limits: Option<&Limits>,
) -> PyResult<Py<PyAny>> {
    door(|| {
        let options = LoadArgs { wanted: &r#type, strict, dec_hook, resolver, limits, ..LoadArgs::default() }
            .msgpack(ext_hook)?;
        decode_message(data, &options, |reader| reader)
    })
}

/// Stores objects as MessagePack; takes the options of `dumps` once.
///
/// builtin_only: everything that is not of a builtin type, an `Ext` or a `Timestamp` goes to `enc_hook`.
///
/// >>> from holdall import msgpack
/// >>> msgpack.Encoder().encode([1, None])
/// b'\x92\x01\xc0'
#[pyclass(module = "holdall.msgpack", name = "Encoder", frozen)]
pub struct MsgpackEncoder {
    options: encode::Options,
    chance: Chance,
}

#[pymethods]
impl MsgpackEncoder {
    #[new]
    #[pyo3(signature = (*, enc_hook = None, order = None, uuid_format = "canonical", decimal_format = None, hook_objects = false, builtin_only = false))]
    fn new(
        enc_hook: Option<&Bound<'_, PyAny>>,
        order: Option<&str>,
        uuid_format: &str,
        decimal_format: Option<&Bound<'_, PyAny>>,
        hook_objects: bool,
        builtin_only: bool,
    ) -> PyResult<MsgpackEncoder> {
        door(|| {
            let mut options = encoding(enc_hook, order, uuid_format, decimal_format, hook_objects)?;
            options.builtin_only = builtin_only;
            Ok(MsgpackEncoder { options, chance: Chance::new() })
        })
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

/// Loads objects of MessagePack; takes the options of `loads` once.
///
/// raw: text comes as bytes. use_list: arrays come as lists, else as tuples. strict_map_key: keys must be text or bytes.
/// timestamps: points in time come as `Timestamp`, which keeps nanoseconds, instead of datetimes in UTC. as_msgpack_python:
/// nanoseconds that datetimes can't hold are truncated, not rounded; an array can't be a key.
///
/// >>> from holdall import msgpack
/// >>> msgpack.Decoder(type=list[int]).decode(b'\x91\x01')
/// [1]
#[pyclass(module = "holdall.msgpack", name = "Decoder", frozen)]
pub struct MsgpackDecoder {
    options: decode::Options,
    form: fn(Reader<'_>) -> Reader<'_>,
    chance: Chance,
}

#[pymethods]
impl MsgpackDecoder {
    #[new]
    #[pyo3(signature = (*, r#type = Wanted::ANY, strict = true, dec_hook = None, resolver = None, ext_hook = None, limits = None, raw = false, use_list = true, strict_map_key = false, timestamps = false, as_msgpack_python = false), text_signature = "(*, type='Any', strict=True, dec_hook=None, resolver=None, ext_hook=None, limits=None, raw=False, use_list=True, strict_map_key=False, timestamps=False, as_msgpack_python=False)")]
    #[allow(clippy::too_many_arguments)]
    fn new(
        r#type: Wanted<'_>,
        strict: bool,
        dec_hook: Option<&Bound<'_, PyAny>>,
        resolver: Option<&Bound<'_, PyAny>>,
        ext_hook: Option<&Bound<'_, PyAny>>,
        limits: Option<&Limits>,
        raw: bool,
        use_list: bool,
        strict_map_key: bool,
        timestamps: bool,
        as_msgpack_python: bool,
    ) -> PyResult<MsgpackDecoder> {
        door(|| {
            let mut options = LoadArgs { wanted: &r#type, strict, dec_hook, resolver, limits, ..LoadArgs::default() }
                .msgpack(ext_hook)?;
            options.msgpack.strict_keys = strict_map_key;
            options.msgpack.timestamps = timestamps;
            options.msgpack.as_msgpack_python = as_msgpack_python;
            let form: fn(Reader<'_>) -> Reader<'_> = match (raw, use_list) {
                (false, true) => |reader| reader,
                (false, false) => |reader| reader.with_tuples(),
                (true, true) => |reader| reader.with_raw_text(),
                (true, false) => |reader| reader.with_raw_text().with_tuples(),
            };
            Ok(MsgpackDecoder { options, form, chance: Chance::new() })
        })
    }

    /// Restore what `data` holds; see `loads`.
    fn decode(&self, data: &Bound<'_, PyAny>) -> PyResult<Py<PyAny>> {
        door(|| decode_message(data, &self.options, self.form))
    }
}

quick!(ENCODE, "encode", |of, given| {
    // SAFETY: CPython calls a method with an instance of its class, and holds the GIL and both objects. No other option concerns leaves.
    unsafe {
        let encoder = quick::instance::<MsgpackEncoder>(of);
        match encoder.options.forms.order {
            Order::Own => {
                quick::written(given, |short| quick::wrote(Writer::new(short), || Plain, given, &encoder.chance))
            }
            Order::Deterministic | Order::Sorted => None,
        }
    }
});

quick!(DECODE, "decode", |of, given| {
    // SAFETY: as above; CPython calls a method with an instance of its class.
    unsafe {
        let decoder = quick::instance::<MsgpackDecoder>(of);
        quick::read_by(given, &decoder.options, &decoder.chance, |input| Some((decoder.form)(Reader::new(input))))
    }
});

quick!(DUMPS, "msgpack_dumps", |_of, given| {
    static CHANCE: Chance = Chance::new();
    // SAFETY: as above.
    unsafe { quick::written(given, |short| quick::wrote(Writer::new(short), || Plain, given, &CHANCE)) }
});

quick!(LOADS, "msgpack_loads", |_of, given| {
    static CHANCE: Chance = Chance::new();
    // SAFETY: as above.
    unsafe { quick::read(given, Asked::of(Classes::Nobody), &CHANCE, |input| Some(Reader::new(input))) }
});

/// Searches for the end of a value in a stream, from `start`, where `pending` values are incomplete (1 at the beginning
/// of a value). Returns the offset after the last complete token, and how many values are incomplete there: 0 means a
/// whole value.
#[pyfunction]
#[pyo3(name = "msgpack_scan", signature = (data, start, pending, /))]
pub fn scan(data: &Bound<'_, PyAny>, start: usize, pending: u64) -> PyResult<Py<PyAny>> {
    door_giving(data.py(), || {
        let view = View::new(data)?;
        let Some(rest) = view.as_slice().get(start..) else {
            return Err(PyValueError::new_err("`start` is beyond the end of `data`"));
        };
        let (len, pending) = holdall_format::msgpack::scan(rest, pending).map_err(|error| {
            let error = Fault::from(error).into_py(start);
            // A later error is damage, not another format.
            if start == 0 {
                named(data.py(), error, Format::Msgpack, rest)
            } else {
                error
            }
        })?;
        Ok((start + len, pending))
    })
}

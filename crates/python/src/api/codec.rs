//! `Encoder` and `Decoder`: options that are read once for many messages.

use crate::api::quick::{self, quick};
use crate::budget::chance::Chance;
use crate::encode::few::Numbered;
use crate::encode::scratch::{with_scratch, Scratch};
use crate::error::Fault;
use crate::error::{door, door_giving};
use crate::io::files::decode_message;
use crate::message::limits::Limits;
use crate::message::load_args::LoadArgs;
use crate::message::options;
use crate::message::options::Wanted;
use crate::message::sealed::Seal;
use crate::message::{encode_into, encode_message, with_bytes};
use crate::{decode, encode};
use holdall_format::hold::{Reader, Writer};
use holdall_format::Sink as _;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyByteArray;

/// Stores objects; takes the options of `dumps` once.
///
/// Keeps nothing of one message for the next. Several threads may use it, and it may be used within its own hook.
///
/// >>> encoder = Encoder(refs=False)
/// >>> loads(encoder.encode({"a": 1}))
/// {'a': 1}
#[pyclass(module = "holdall", frozen)]
pub struct Encoder {
    options: encode::Options,
    seal: Option<Seal>,
    chance: Chance,
}

#[pymethods]
impl Encoder {
    #[new]
    #[pyo3(signature = (*, refs = true, canonical = false, trust = false, intern = false, enc_hook = None, seal = None))]
    fn new(
        refs: bool,
        canonical: bool,
        trust: bool,
        intern: bool,
        enc_hook: Option<&Bound<'_, PyAny>>,
        seal: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<Encoder> {
        door(|| {
            let options = options::encoding(refs, canonical, trust, intern, enc_hook)?;
            Ok(Encoder { options, seal: seal.map(Seal::new).transpose()?, chance: Chance::new() })
        })
    }

    /// Store the graph of `obj` as bytes; see `dumps`.
    #[pyo3(signature = (obj, buffers = None))]
    fn encode(&self, obj: &Bound<'_, PyAny>, buffers: Option<&Bound<'_, PyAny>>) -> PyResult<Py<PyAny>> {
        door(|| match &self.seal {
            None => encode_message(obj, &self.options, buffers),
            Some(seal) => seal.write(buffers, || encode_message(obj, &self.options, None)),
        })
    }

    /// Store the graph of `obj` into `buffer` from `offset` on; returns the offset of its end, where `buffer` then ends.
    #[pyo3(signature = (obj, buffer, offset = 0))]
    fn encode_into(
        &self,
        obj: &Bound<'_, PyAny>,
        buffer: &Bound<'_, PyByteArray>,
        offset: usize,
    ) -> PyResult<Py<PyAny>> {
        let Some(seal) = &self.seal else {
            return put_into(buffer, offset, |scratch| encode_into(scratch, obj, &self.options, None).map(drop));
        };
        let sealed = door(|| seal.write(None, || encode_message(obj, &self.options, None)))?;
        put_into(buffer, offset, |scratch| {
            with_bytes(sealed.bind(obj.py()), |bytes| {
                (&mut scratch.output).put(bytes);
                Ok(())
            })
            .map_err(Fault::from)
        })
    }
}

quick!(ENCODE, "encode", |of, given| {
    // SAFETY: CPython calls a method with an instance of its class, and holds the GIL and both objects.
    unsafe {
        let Encoder { options, seal, chance } = quick::instance::<Encoder>(of);
        if seal.is_some() || options.canonical || options.intern || options.pickle.is_some() {
            return None;
        }
        quick::written(given, |short| {
            quick::wrote(
                Writer::new(short, options.trust),
                || Numbered::new(options.refs, !options.trust),
                given,
                chance,
            )
        })
    }
});

quick!(DECODE, "decode", |of, given| {
    // SAFETY: as above.
    unsafe {
        let Decoder { options, seal, chance } = quick::instance::<Decoder>(of);
        if seal.is_some() {
            return None;
        }
        quick::read_by(given, options, chance, |input| Reader::new(input, options.trust).ok())
    }
});

/// Writes the message of `encode` into `buffer` at `offset`, which then ends with it; returns the offset of the end.
pub fn put_into(
    buffer: &Bound<'_, PyByteArray>,
    offset: usize,
    encode: impl FnOnce(&mut Scratch) -> Result<(), Fault>,
) -> PyResult<Py<PyAny>> {
    door_giving(buffer.py(), || {
        with_scratch(buffer.py(), |scratch| {
            encode(scratch)?;
            if offset > buffer.len() {
                return Err(PyValueError::new_err("`offset` is beyond the end of `buffer`").into());
            }
            let message = scratch.output.as_slice();
            let end = offset + message.len();
            buffer.resize(end)?;
            // SAFETY: the GIL is held, no Python code runs meanwhile, and the bytearray was just made large enough.
            unsafe { buffer.as_bytes_mut()[offset..].copy_from_slice(message) };
            Ok(end)
        })
    })
}

/// Loads objects; takes the options of `loads` once.
///
/// >>> Decoder(limits=Limits(depth=10)).decode(dumps([1]))
/// [1]
#[pyclass(module = "holdall", frozen)]
pub struct Decoder {
    options: decode::Options,
    seal: Option<Seal>,
    chance: Chance,
}

#[pymethods]
impl Decoder {
    #[new]
    #[pyo3(signature = (*, r#type = Wanted::ANY, types = None, trust = false, strict = true, dec_hook = None, resolver = None, limits = None, seal = None), text_signature = "(*, type='Any', types=(), trust=False, strict=True, dec_hook=None, resolver=None, limits=None, seal=None)")]
    #[allow(clippy::too_many_arguments)]
    fn new(
        r#type: Wanted<'_>,
        types: Option<&Bound<'_, PyAny>>,
        trust: bool,
        strict: bool,
        dec_hook: Option<&Bound<'_, PyAny>>,
        resolver: Option<&Bound<'_, PyAny>>,
        limits: Option<&Limits>,
        seal: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<Decoder> {
        door(|| {
            let options = LoadArgs { wanted: &r#type, types, trust, strict, dec_hook, resolver, limits }.hold()?;
            Ok(Decoder { options, seal: seal.map(Seal::new).transpose()?, chance: Chance::new() })
        })
    }

    /// Restore the graph in `data`; see `loads`.
    #[pyo3(signature = (data, buffers = None))]
    fn decode(&self, data: &Bound<'_, PyAny>, buffers: Option<&Bound<'_, PyAny>>) -> PyResult<Py<PyAny>> {
        door(|| match &self.seal {
            None => decode_message(data, &self.options, buffers),
            Some(seal) => seal.read(data, buffers, |data| decode_message(data, &self.options, None)),
        })
    }
}

//! `dumps` and `loads`.

use crate::api::quick::{self, quick};
use crate::budget::chance::Chance;
use crate::decode::few::{Asked, Classes};
use crate::decode::Settled;
use crate::encode::few::Numbered;
use crate::error::door;
use crate::io::files::decode_message;
use crate::message::encode_message;
use crate::message::limits::Limits;
use crate::message::load_args::LoadArgs;
use crate::message::options;
use crate::message::options::Wanted;
use crate::message::sealed::Seal;
use holdall_format::hold::{Reader, Writer};
use pyo3::prelude::*;
use pyo3::types::PyAny;

/// Store the object graph of `obj` as bytes.
///
/// refs: keep identity: shared objects stay shared, and cycles work. Without it, shared objects are written at each of
/// their places, and a cycle is an EncodeError.
/// canonical: equal graphs give equal bytes, whatever their history: sets in order, equal strings once. Slower: the
/// graph is walked twice, and a set's members are stored a second time to sort them. `docs/guide-classes.md` defines
/// equal graphs.
/// trust: also store what only code can restore: classes and functions by reference, objects with `__reduce_ex__` or
/// `__getstate__`. Only `loads(..., trust=True)` accepts such a message.
/// intern: write equal strings once; they come back as one object. Smaller if strings repeat; costs a hash of each.
/// enc_hook: called with an object that can't be stored; what it returns is stored instead.
/// buffers: a list that receives large buffers out of band, like pickle's `buffer_callback` (a callable works too).
/// seal: a `Seal`, whose keyed check is put around the message.
///
/// Integers, floats, booleans and None have no identity. The cyclic collector is paused during the call.
///
/// Raises EncodeError: an object that can't be stored; the message names its type and the remedy. In canonical form, also a set
/// whose order the graph does not define.
///
/// >>> len(dumps(1)), len(dumps("abcd"))
/// (2, 6)
#[pyfunction]
#[pyo3(signature = (obj, /, *, refs = true, canonical = false, trust = false, intern = false, enc_hook = None, buffers = None, seal = None))]
#[allow(clippy::too_many_arguments)]
pub fn dumps(
    obj: &Bound<'_, PyAny>,
    refs: bool,
    canonical: bool,
    trust: bool,
    intern: bool,
    enc_hook: Option<&Bound<'_, PyAny>>,
    buffers: Option<&Bound<'_, PyAny>>,
    seal: Option<&Bound<'_, PyAny>>,
) -> PyResult<Py<PyAny>> {
    door(|| {
        let options = options::encoding(refs, canonical, trust, intern, enc_hook)?;
        match seal {
            None => encode_message(obj, &options, buffers),
            Some(seal) => Seal::new(seal)?.write(buffers, || encode_message(obj, &options, None)),
        }
    })
}

/// Restore the object graph in `data`.
///
/// data: bytes-like, C-contiguous: a message of `dumps` or a file of `dump`. Read only during the call.
/// type: an annotation, which the graph must match and is built as; see `docs/guide-typed.md`. Any accepts everything; None
/// means the type of None.
/// types: a class, a module, `Record`, or an iterable of them: classes that may be built by name. Registered classes and the
/// standard library's value types always may be, and PyMongo's if the program has imported them.
/// trust: also accept trusted messages, which import and call what they name: only from sources that you trust.
/// strict: with `type`, refuse text for a number, and the like; False converts it.
/// dec_hook: with `type`, called as `dec_hook(annotation, value)` to build values of types that holdall does not know.
/// resolver: called as `resolver(stored)` with a `holdall.resolve.Stored` for each layout of a class, before that class's own; says what
/// becomes of it. See `holdall.resolve`. In MessagePack and BSON it needs `type`.
/// limits: bounds on depth, objects and memory; `Limits` has the defaults.
/// buffers: the out-of-band buffers that `dumps(..., buffers=)` collected, in order.
/// seal: a `Seal`; only what was sealed with one of its keys is read, and nothing of it before the check holds. Offsets in errors then
/// count within the seal.
///
/// Imports nothing and calls nothing that `data` names, unless `trust`. The cyclic collector is paused during the call.
///
/// Raises DecodeError: malformed or left-over bytes; `.offset` counts bytes from the start of `data`. If the bytes are in another
/// format, the text names it.
/// Raises ValidationError: well formed, but not a `type`; `.path` says where, as in ("users", 3, "name").
/// Raises UnknownTypeError: a class that is not permitted. Raises LimitError: a bound was exceeded.
///
/// >>> a, b = loads(dumps([x := [1], x])); a is b
/// True
#[pyfunction]
#[pyo3(signature = (data, /, *, r#type = Wanted::ANY, types = None, trust = false, strict = true, dec_hook = None, resolver = None, limits = None, buffers = None, seal = None), text_signature = "(data, /, *, type='Any', types=(), trust=False, strict=True, dec_hook=None, resolver=None, limits=None, buffers=None, seal=None)")]
#[allow(clippy::too_many_arguments)]
pub fn loads(
    data: &Bound<'_, PyAny>,
    r#type: Wanted<'_>,
    types: Option<&Bound<'_, PyAny>>,
    trust: bool,
    strict: bool,
    dec_hook: Option<&Bound<'_, PyAny>>,
    resolver: Option<&Bound<'_, PyAny>>,
    limits: Option<&Limits>,
    buffers: Option<&Bound<'_, PyAny>>,
    seal: Option<&Bound<'_, PyAny>>,
) -> PyResult<Py<PyAny>> {
    door(|| {
        let options = LoadArgs { wanted: &r#type, types, trust, strict, dec_hook, resolver, limits }.hold()?;
        match seal {
            None => decode_message(data, &options, buffers),
            Some(seal) => Seal::new(seal)?.read(data, buffers, |data| decode_message(data, &options, None)),
        }
    })
}

quick!(DUMPS, "dumps", |_of, given| {
    static CHANCE: Chance = Chance::new();
    // SAFETY: CPython holds the GIL and the object.
    unsafe {
        quick::written(given, |short| {
            quick::wrote(Writer::new(short, false), || Numbered::new(true, true), given, &CHANCE)
        })
    }
});

quick!(LOADS, "loads", |_of, given| {
    static CHANCE: Chance = Chance::new();
    // SAFETY: as above.
    unsafe {
        let classes = Classes::Settled(Settled::without_types(Python::assume_attached()));
        quick::read(given, Asked::of(classes), &CHANCE, |input| Reader::new(input, false).ok())
    }
});

//! `dumps` and `loads`, and what files and `holdall.pickle` need of them.

use super::foreign::named;
use super::options::{self, Wanted};
use super::types::Limits;
use crate::cpython::{Owned, View};
use crate::decode::{self, Decoder};
use crate::encode::output::Output;
use crate::encode::{self, sets, Borrower, Encoder, Recipes, Sharing, Tables};
use crate::error::Fault;
use crate::memory::{door, Vec};
use crate::objects::buffer::Lender;
use holdall_format::detect::Format;
use holdall_format::hold::{frame, Reader, Writer};
use pyo3::prelude::*;
use pyo3::types::{PyAny, PyBytes};
use std::cell::Cell;

/// What a call of `dumps` uses and the next uses again.
pub struct Workshop {
    pub output: Output,
    pub tables: Tables,
}

impl Workshop {
    pub fn new() -> Box<Workshop> {
        Box::new(Workshop { output: Output::new(), tables: Tables::new() })
    }
}

thread_local! {
    /// Taken for the length of a call: one within another (in a hook) makes its own.
    static WORKSHOP: Cell<Option<Box<Workshop>>> = const { Cell::new(None) };
    /// The same of the next member of a set.
    static SMALL_WORKSHOP: Cell<Option<Box<Workshop>>> = const { Cell::new(None) };
}

/// Runs `work` with a workshop, which goes if that unwinds: nobody knows in what state it is.
pub fn with_workshop<T>(work: impl FnOnce(&mut Workshop) -> Result<T, Fault>) -> PyResult<T> {
    let mut workshop = WORKSHOP.take().unwrap_or_else(Workshop::new);
    let result = work(&mut workshop);
    workshop.output.reset();
    WORKSHOP.set(Some(workshop));
    result.map_err(|fault| fault.into_py(0))
}

/// Writes `object` as a message of a plain format.
pub fn write_plain<W: holdall_format::Writer>(
    writer: W,
    tables: &mut Tables,
    object: &Bound<'_, PyAny>,
    options: &encode::Options,
) -> Result<(), Fault> {
    write_and(writer, tables, object, options, |_| ())
}

/// The same; shows the writer as it is in the end.
pub fn write_and<W: holdall_format::Writer>(
    writer: W,
    tables: &mut Tables,
    object: &Bound<'_, PyAny>,
    options: &encode::Options,
    see: impl FnOnce(&W),
) -> Result<(), Fault> {
    // SAFETY: the GIL is held, as `object` shows.
    let mut encoder = unsafe { Encoder::new(object.py(), writer, options, tables, Sharing::ByCount) };
    let result = encoder.message(object.as_ptr());
    see(&encoder.w);
    result
}

/// The message that `write` leaves in a workshop, as bytes.
pub fn finished_message(py: Python<'_>, write: impl FnOnce(&mut Workshop) -> Result<(), Fault>) -> PyResult<Py<PyAny>> {
    let made = with_workshop(|workshop| {
        write(workshop)?;
        workshop.output.take()
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

/// Writes `object` as a message into the workshop's output; gives the buffers that a file is to have beside it.
pub fn encode_into(
    workshop: &mut Workshop,
    object: &Bound<'_, PyAny>,
    options: &encode::Options,
    borrower: Option<Borrower>,
) -> Result<Vec<View>, Fault> {
    let given = borrower.as_ref().map(Borrower::len).transpose()?;
    let mut borrower = borrower;
    encode::tracking_if_asked(|track_all| {
        if track_all {
            // What the first attempt has left.
            workshop.output.reset();
            if let (Some(borrower), Some(given)) = (&mut borrower, given) {
                borrower.cut(given)?;
            }
        }
        encode_once(workshop, object, options, &mut borrower, track_all)
    })
}

#[inline(always)]
fn encode_once(
    workshop: &mut Workshop,
    object: &Bound<'_, PyAny>,
    options: &encode::Options,
    borrower: &mut Option<Borrower>,
    track_all: bool,
) -> Result<Vec<View>, Fault> {
    let py = object.py();
    let first = if options.canonical { Some(first_walk(workshop, object, options)?) } else { None };
    let Workshop { output, tables } = workshop;
    let writer = Writer::new(&mut *output, options.trust);
    // SAFETY: the GIL is held, as `py` shows.
    let mut encoder = unsafe { Encoder::new(py, writer, options, tables, Sharing::ByCount) };
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
    encoder.borrower = borrower.take();
    let result = encoder.message(object.as_ptr());
    *borrower = encoder.borrower.take();
    result?;
    match borrower.take() {
        Some(Borrower::File(views)) => Ok(views),
        _ => Ok(Vec::new()),
    }
}

/// What the first of two walks finds, which a canonical message takes: the second writes.
struct FirstWalk {
    sharing: Sharing,
    recipes: Recipes,
    temporaries: Vec<Owned>,
    /// Both walks share it.
    orders: sets::Shared,
}

#[cold]
#[inline(never)]
fn first_walk(
    workshop: &mut Workshop,
    object: &Bound<'_, PyAny>,
    options: &encode::Options,
) -> Result<FirstWalk, Fault> {
    let py = object.py();
    let Workshop { output, tables } = workshop;
    let orders = sets::Shared::default();
    let writer = Writer::new(&mut *output, options.trust);
    // SAFETY: the GIL is held, as `py` shows.
    let mut encoder = unsafe { Encoder::new(py, writer, options, tables, Sharing::Finding(Default::default())) };
    encoder.orders = Some(orders.clone());
    encoder.message(object.as_ptr())?;
    let (temporaries, recipes) = (encoder.take_temporaries(), encoder.recipes.take());
    let objects = encoder.met_objects();
    let sharing = encoder.into_found();
    output.reset();
    if let Sharing::Found(again) = &sharing {
        sets::Orders::settle(py, &orders, options, again, objects)?;
    }
    Ok(FirstWalk { sharing, recipes, temporaries, orders })
}

pub fn encode_message(
    object: &Bound<'_, PyAny>,
    options: &encode::Options,
    buffers: Option<&Bound<'_, PyAny>>,
) -> PyResult<Py<PyAny>> {
    let borrower = options::borrower(buffers)?;
    finished_message(object.py(), |workshop| encode_into(workshop, object, options, borrower).map(drop))
}

/// What a member of a set is written as by itself, as far as `effort` goes.
pub fn canonical_key(
    py: Python<'_>,
    member: &Owned,
    options: &encode::Options,
    orders: &sets::Shared,
    effort: sets::Effort,
) -> Result<sets::Key, Fault> {
    let mut workshop = SMALL_WORKSHOP.take().unwrap_or_else(Workshop::new);
    let Workshop { output, tables } = &mut *workshop;
    let writer = Writer::new(&mut *output, options.trust);
    // SAFETY: the GIL is held, as `py` shows.
    let mut encoder = unsafe { Encoder::new(py, writer, options, tables, Sharing::Finding(Default::default())) };
    encoder.orders = Some(orders.clone());
    encoder.only_compares(effort);
    encoder.met.push(member.get() as usize);
    let written = encoder.message(member.get());
    let (met, effort) = (std::mem::take(&mut encoder.met), encoder.effort().unwrap_or(effort));
    let again = match encoder.into_found() {
        Sharing::Found(again) => again,
        _ => Default::default(),
    };
    let bytes = Vec::from(output.as_slice());
    output.reset();
    SMALL_WORKSHOP.set(Some(workshop));
    written?;
    let met = met.into_iter().map(|object| (object, again.get(&object).copied().unwrap_or(0))).collect();
    Ok(sets::Key { bytes, effort, met })
}

/// Builds what `data` holds, a message or a file.
pub fn decode_message(
    data: &Bound<'_, PyAny>,
    options: &decode::Options,
    buffers: Option<&Bound<'_, PyAny>>,
) -> PyResult<Py<PyAny>> {
    let py = data.py();
    let given = match buffers.filter(|buffers| !buffers.is_none()) {
        Some(buffers) => Some(options::owned(&buffers.try_iter()?.into_any())),
        None => None,
    };
    // `bytes` never change; of all else a view keeps them in place.
    let view;
    let input = match data.cast_exact::<PyBytes>() {
        Ok(bytes) => bytes.as_bytes(),
        Err(_) => {
            view = View::new(data)?;
            view.as_slice()
        }
    };
    if frame::is_file(input) {
        return super::files::load_bytes(py, input, options, given);
    }
    decode_bare(py, input, options, given)
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
    decoded(py, reader, options, lender).map_err(|fault| fault.into_py(base))
}

/// The same, before a fault becomes an exception.
pub fn decoded<'i, R: holdall_format::Reader<'i>>(
    py: Python<'i>,
    reader: R,
    options: &'i decode::Options,
    lender: Option<Lender<'i>>,
) -> Result<Py<PyAny>, Fault> {
    // SAFETY: the GIL is held, as `py` shows.
    let object = unsafe { Decoder::new(py, reader, options, lender) }.message()?;
    // SAFETY: a new reference.
    Ok(unsafe { Bound::from_owned_ptr(py, object.into_raw()) }.unbind())
}

/// An object as the options' type wants it.
pub fn converted<'py>(object: &Bound<'py, PyAny>, options: &decode::Options) -> PyResult<Bound<'py, PyAny>> {
    let message = encode_message(object, &options::encoding(true, false, false, false, None)?, None)?;
    Ok(decode_message(message.bind(object.py()), options, None)?.into_bound(object.py()))
}

/// Store the object graph of `obj` as bytes.
///
/// refs: keep identity: what is one object stays one, and cycles are fine. Without it, shared objects are written
/// again wherever they are met, and a cycle is an EncodeError.
/// canonical: equal graphs give equal bytes, whatever their history: sets in order, equal strings once. Slower: the
/// graph is walked twice, and a set's members are stored once more to be put in order. `docs/guide-classes.md` says what
/// equal graphs are.
/// trust: also what only code can restore: classes and functions by reference, objects with `__reduce_ex__` or
/// `__getstate__`. Only `loads(..., trust=True)` takes such a message.
/// intern: write equal strings once; they come back as one object. Smaller where strings repeat; costs a hash of each.
/// enc_hook: called with an object that can't be stored; what it gives is stored instead.
/// buffers: a list that takes large buffers out of band, as pickle's `buffer_callback` does (a callable works too).
///
/// Integers, floats, booleans and None have no identity. The cyclic collector is paused meanwhile.
///
/// Raises EncodeError: an object that can't be stored; the message names its type and the remedy. In canonical form also a set
/// whose members have no order that the graph tells.
///
/// >>> len(dumps(1)), len(dumps("abcd"))
/// (2, 6)
#[pyfunction]
#[pyo3(signature = (obj, /, *, refs = true, canonical = false, trust = false, intern = false, enc_hook = None, buffers = None))]
pub fn dumps(
    obj: &Bound<'_, PyAny>,
    refs: bool,
    canonical: bool,
    trust: bool,
    intern: bool,
    enc_hook: Option<&Bound<'_, PyAny>>,
    buffers: Option<&Bound<'_, PyAny>>,
) -> PyResult<Py<PyAny>> {
    door(|| {
        let options = options::encoding(refs, canonical, trust, intern, enc_hook)?;
        encode_message(obj, &options, buffers)
    })
}

/// Restore the object graph in `data`.
///
/// data: bytes-like, C-contiguous: a message of `dumps` or a file of `dump`. Read only during the call.
/// type: an annotation: what the graph must be, and is built as; `docs/guide-typed.md` says what for. Any takes what comes; None
/// means the type of None.
/// types: a class, a module, `Record`, or an iterable of them: classes that may be built by name. Registered classes
/// and the standard library's value types always may, and PyMongo's where the program has imported them.
/// trust: also take trusted messages, which import and call what they name: only from sources that you trust.
/// strict: with `type`, refuse text where a number is wanted, and the like; False converts it.
/// dec_hook: with `type`, called as `dec_hook(annotation, value)` to make what only you know how to make.
/// limits: bounds on depth, objects and memory; see `Limits` for what holds without.
/// buffers: the out-of-band buffers that `dumps(..., buffers=)` gave, in order.
///
/// Nothing is imported and nothing called that `data` names, unless `trust`. The cyclic collector is paused meanwhile.
///
/// Raises DecodeError: malformed or left-over bytes; `.offset` counts bytes from the start of `data`. The text names another
/// format where they are in that.
/// Raises ValidationError: well formed, but not a `type`; `.path` says where, as in ("users", 3, "name").
/// Raises UnknownTypeError: a class that is not permitted. Raises LimitError: a bound was passed.
///
/// >>> a, b = loads(dumps([x := [1], x])); a is b
/// True
#[pyfunction]
#[pyo3(signature = (data, /, *, r#type = Wanted::ANY, types = None, trust = false, strict = true, dec_hook = None, limits = None, buffers = None), text_signature = "(data, /, *, type='Any', types=(), trust=False, strict=True, dec_hook=None, limits=None, buffers=None)")]
#[allow(clippy::too_many_arguments)]
pub fn loads(
    data: &Bound<'_, PyAny>,
    r#type: Wanted<'_>,
    types: Option<&Bound<'_, PyAny>>,
    trust: bool,
    strict: bool,
    dec_hook: Option<&Bound<'_, PyAny>>,
    limits: Option<&Limits>,
    buffers: Option<&Bound<'_, PyAny>>,
) -> PyResult<Py<PyAny>> {
    door(|| {
        let options = options::decoding(&r#type, types, trust, strict, dec_hook, limits)?;
        decode_message(data, &options, buffers)
    })
}

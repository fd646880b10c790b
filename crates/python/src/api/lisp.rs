//! Common Lisp's files: the functions of `holdall.lisp`, for what cl-binary-store writes.

use crate::cpython::Owned;
use crate::decode::Decoder;
use crate::dialect::lisp::{Form, Found, FromLisp, ToLisp};
use crate::encode::scratch::Scratch;
use crate::encode::{self, Encoder, Sharing};
use crate::error::door;
use crate::error::Fault;
use crate::lazy::{open_lisp, Document};
use crate::message::foreign::named;
use crate::message::limits::Limits;
use crate::message::load_args::LoadArgs;
use crate::message::options;
use crate::message::options::Wanted;
use crate::message::{decoded, finished_message, with_bytes};
use holdall_format::detect::Format;
use holdall_format::lisp::{Reader, Writer};
use holdall_format::sink::Nowhere;
use pyo3::prelude::*;

fn encode_into(
    scratch: &mut Scratch,
    object: &Bound<'_, PyAny>,
    options: &encode::Options,
    form: Form,
) -> Result<(), Fault> {
    encode::tracking_if_asked(|track_all| encode_once(scratch, object, options, form, track_all))
}

fn encode_once(
    scratch: &mut Scratch,
    object: &Bound<'_, PyAny>,
    options: &encode::Options,
    form: Form,
    track_all: bool,
) -> Result<(), Fault> {
    let Scratch { output, tables } = scratch;
    let py = object.py();
    let found = Found::new(py, form)?;
    if !options.refs {
        let writer = Writer::new(&mut *output);
        // SAFETY: `py` proves that the GIL is held.
        let mut encoder = unsafe { Encoder::new(py, ToLisp::new(found), writer, options, tables, Sharing::ByCount) };
        return encoder.message(object.as_ptr());
    }
    // The first walk only finds what occurs more than once: an id stands before the first occurrence.
    let finding = Sharing::Finding(Default::default());
    // SAFETY: `py` proves that the GIL is held.
    let mut survey =
        unsafe { Encoder::new(py, ToLisp::new(found), Writer::gathering(Nowhere), options, tables, finding) };
    if track_all {
        survey.track_all();
    }
    survey.message(object.as_ptr())?;
    // Objects made during the first walk are made again in the second. Until then they are kept, so that their
    // addresses can't be reused.
    let _made = survey.take_temporaries();
    let doubles = survey.w.take_doubles();
    let dialect = ToLisp::new(survey.into_found().1.into_found());
    let writer = Writer::again(&mut *output, doubles);
    // SAFETY: `py` proves that the GIL is held.
    let mut encoder = unsafe { Encoder::new(py, dialect, writer, options, tables, Sharing::InMemo) };
    encoder.message(object.as_ptr())
}

/// Store `obj` as cl-binary-store would: the bytes that `(cl-binary-store:restore ...)` reads in SBCL.
///
/// `docs/lisp.md` says what each type becomes. Shared objects stay shared, and cycles work.
///
/// refs: as for `holdall.dumps`; False is `(store ... :track-references nil)`.
/// version: the number of the format's version comes first, as by `:output-magic-number t`.
/// all: `obj` is an iterable of several values, each of which `restore` returns.
/// shared_lists: lists are written cons by cons, as with `*support-shared-list-structures*`; what `Cons` objects share is kept in any
///     case.
/// enc_hook: called with an object that can't be stored; what it returns is stored instead.
///
/// Raises EncodeError: an object that Lisp has no type for; the message names its class and the remedy.
///
/// >>> from holdall import lisp
/// >>> lisp.loads(lisp.dumps([1, 2]))
/// [1, 2]
#[pyfunction]
#[pyo3(name = "lisp_dumps", signature = (obj, /, *, refs = true, version = false, all = false, shared_lists = false, enc_hook = None))]
pub fn dumps(
    obj: &Bound<'_, PyAny>,
    refs: bool,
    version: bool,
    all: bool,
    shared_lists: bool,
    enc_hook: Option<&Bound<'_, PyAny>>,
) -> PyResult<Py<PyAny>> {
    door(|| {
        let options = options::encoding(refs, false, false, false, enc_hook)?;
        let form = Form { version, all, one_by_one: shared_lists };
        finished_message(obj.py(), |scratch| encode_into(scratch, obj, &options, form))
    })
}

/// The memory of `data`, for arrays that are views of it, and its address.
fn memory_of(data: &Bound<'_, PyAny>) -> PyResult<(Owned, usize)> {
    let base = with_bytes(data, |input| Ok(input.as_ptr() as usize))?;
    let view = data.py().import("builtins")?.getattr("memoryview")?.call1((data,))?.call_method1("cast", ("B",))?;
    Ok((crate::cpython::owned(&view), base))
}

/// Restore the value that `data` holds, as one call of `store` wrote it.
///
/// type, strict, dec_hook, limits: as for `holdall.loads`.
/// types: classes that Lisp's types become, besides those that `struct` has mapped: a dict of names and classes.
/// views: arrays are views of `data`, which they keep alive; else they are copies.
/// all: a list of all values, for data that hold several or none.
///
/// Runs and imports nothing that the data names.
///
/// Raises DecodeError: malformed or left-over bytes; `.offset` counts bytes from the start of `data`.
/// Raises ValidationError: well formed, but not a `type`. Raises LimitError: a bound was exceeded.
///
/// >>> from holdall import lisp
/// >>> lisp.loads(lisp.dumps([1, 2]), type=list[int])
/// [1, 2]
#[pyfunction]
#[pyo3(name = "lisp_loads", signature = (data, /, *, types = None, r#type = Wanted::ANY, strict = true, dec_hook = None, limits = None, views = false, all = false), text_signature = "(data, /, *, types=None, type='Any', strict=True, dec_hook=None, limits=None, views=False, all=False)")]
#[allow(clippy::too_many_arguments)]
pub fn loads(
    data: &Bound<'_, PyAny>,
    types: Option<&Bound<'_, PyAny>>,
    r#type: Wanted<'_>,
    strict: bool,
    dec_hook: Option<&Bound<'_, PyAny>>,
    limits: Option<&Limits>,
    views: bool,
    all: bool,
) -> PyResult<Py<PyAny>> {
    door(|| {
        let py = data.py();
        let args = LoadArgs { wanted: &r#type, types, strict, dec_hook, resolver: None, limits, trust: false };
        let (options, mut lisp) = args.lisp(py)?;
        if views {
            lisp.views = Some(memory_of(data)?);
        }
        with_bytes(data, |input| {
            let made = lisp.until_settled(|| {
                let reader = Reader::new(input);
                if !all {
                    return decoded(py, FromLisp::new(&lisp), reader, &options, None).map_err(|fault| fault.into_py(0));
                }
                // SAFETY: `py` proves that the GIL is held.
                let mut decoder = unsafe { Decoder::new(py, FromLisp::new(&lisp), reader, &options, None) };
                let made = decoder.all_values().map_err(|fault| fault.into_py(0))?;
                Ok(crate::cpython::held(py, &made).unbind())
            });
            made.map_err(|error| named(py, error, Format::Lisp, input))
        })
    })
}

/// A document whose members are found without being built, and built when you ask for them.
///
/// owned: whether closing it closes `data`, a map that was made for it.
#[pyfunction]
#[pyo3(name = "lisp_open", signature = (data, /, *, owned, types = None, r#type = Wanted::ANY, strict = true, dec_hook = None, limits = None, views = false))]
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
        let (options, mut lisp) = args.lisp(data.py())?;
        if views {
            lisp.views = Some(memory_of(data)?);
        }
        open_lisp(data, owned, options, lisp)
    })
}

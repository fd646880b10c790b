//! Errors about bytes of another format: they name the format and the function that reads it.

use crate::error::{door, door_giving};
use crate::error::{DecodeError, LimitError, UnknownTypeError, ValidationError};
use holdall_format::detect::{self, Format, Looks};
use holdall_format::hold::tag;
use pyo3::prelude::*;
use pyo3::types::PyTuple;

/// What the bytes are, as a clause of an error message.
fn clause(looks: Looks) -> String {
    let known = |what: &str, reader: &str| format!("this {what}, which holdall.{reader} reads");
    match looks {
        Looks::HoldMessage => known("is a hold message", "loads"),
        Looks::HoldFile => known("is a hold file", "load"),
        Looks::HoldLog => known("is a log of hold records", "Reader"),
        Looks::As(Format::Hold) => known("looks like hold", "load"),
        Looks::As(Format::Bson) => known("looks like BSON", "bson"),
        Looks::As(Format::Julia) => known("looks like BSON of Julia's", "julia"),
        Looks::As(Format::Lisp) => known("looks like a file of Common Lisp's cl-binary-store", "lisp"),
        Looks::As(Format::Msgpack) => known("looks like MessagePack", "msgpack"),
        Looks::As(Format::Json) => "this looks like JSON".to_owned(),
        Looks::As(Format::Pickle) => {
            "this looks like a pickle, which runs code where it is loaded; `holdall convert` reads it as data"
                .to_owned()
        }
        Looks::Packed(by) => format!("this is compressed by {by}: unpack it first"),
        Looks::Other(what) => format!("this is {what}"),
    }
}

/// The error of a reader that could not read `data`; if `data` looks like another format, the message says which.
///
/// Only for the way out of a failure, as all of `data` may be inspected.
#[cold]
#[inline(never)]
pub fn named(py: Python<'_>, error: PyErr, reader: Format, data: &[u8]) -> PyErr {
    // Errors about bounds, permissions or a place within the value mean that the bytes were read well so far.
    let is_about_bytes = error.is_instance_of::<DecodeError>(py)
        && !error.is_instance_of::<UnknownTypeError>(py)
        && (!error.is_instance_of::<LimitError>(py) || reader != Format::Hold);
    if !is_about_bytes {
        return error;
    }
    if error.is_instance_of::<ValidationError>(py) {
        let path = error.value(py).getattr("path").ok();
        if path.is_some_and(|path| path.cast::<PyTuple>().is_ok_and(|path| !path.is_empty())) {
            return error;
        }
    }
    if let Some(clause) = what(data, reader) {
        explain(py, &error, &clause);
    } else if reader == Format::Hold && matches!(data.first(), Some(&(tag::SEALED | tag::SEALED_LOG))) {
        explain(py, &error, "if this is sealed, `seal=` opens it");
    }
    error
}

/// The format of bytes that a reader refuses, as a clause; `None` if they may be of the reader's own format.
pub fn what(data: &[u8], reader: Format) -> Option<String> {
    detect::foreign(data, reader).map(clause)
}

/// The same for the reader of a log, which also refuses messages outside of files.
pub fn named_log(py: Python<'_>, error: PyErr, data: &[u8]) -> PyErr {
    if data.first() == Some(&tag::VERSION) && what(data, Format::Hold).is_none() {
        explain(py, &error, &clause(Looks::HoldMessage));
        return error;
    }
    named(py, error, Format::Hold, data)
}

/// The format in which to read bytes if the user doesn't say, judged by their structure alone and never by their
/// content. So documents with Julia's types count as BSON here.
pub fn detected_format(py: Python<'_>, data: &[u8]) -> PyResult<&'static str> {
    let refused = |why: String| {
        let error = DecodeError::new_err(format!("{why} - at byte 0"));
        error.value(py).setattr("offset", 0).map(|()| error)
    };
    if let Some(looks) = detect::signature(data) {
        return Err(refused(clause(looks))?);
    }
    match detect::detect(data) {
        Some(Format::Hold) => Ok("hold"),
        Some(Format::Bson | Format::Julia) => Ok("bson"),
        None | Some(Format::Msgpack) if detect::is_msgpack(data) => Ok("msgpack"),
        Some(format) => Err(refused(clause(Looks::As(format)))?),
        None if detect::is_lisp(data) => Err(refused(clause(Looks::As(Format::Lisp)))?),
        None => Err(refused("bytes that look like no whole document: say which `format` they have".to_owned())?),
    }
}

/// Adds a clause to an error's message, before the place.
pub fn explain(py: Python<'_>, error: &PyErr, clause: &str) {
    let text = error.value(py).to_string();
    let (why, place) = match text.rfind(" - at ") {
        Some(at) => text.split_at(at),
        None => (&text[..], ""),
    };
    // Added only once: entry points call each other.
    if !why.ends_with(clause) {
        let _ = error.value(py).setattr("args", (format!("{why}; {clause}{place}"),));
    }
}

/// What bytes are that begin like another kind of file, as a clause; for the command line.
#[pyfunction]
pub fn foreign_format(data: &Bound<'_, PyAny>) -> PyResult<Py<PyAny>> {
    door_giving(data.py(), || crate::message::with_bytes(data, |data| Ok(detect::signature(data).map(clause))))
}

/// Adds the format's name to the error of a reader that refused bytes of another format; for entry points in Python.
#[pyfunction]
pub fn name_foreign(error: &Bound<'_, PyAny>, data: &Bound<'_, PyAny>, format: &str) -> PyResult<()> {
    door(|| {
        let format = match format {
            "hold" => Format::Hold,
            "msgpack" => Format::Msgpack,
            _ => Format::Bson,
        };
        crate::message::with_bytes(data, |data| {
            named(error.py(), PyErr::from_value(error.clone()), format, data);
            Ok(())
        })
    })
}

/// Adds a clause to an error's message; for entry points in Python.
#[pyfunction]
pub fn explain_error(error: &Bound<'_, PyAny>, why: &str) {
    explain(error.py(), &PyErr::from_value(error.clone()), why);
}

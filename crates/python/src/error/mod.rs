//! What can go wrong in the host, and the exceptions that it becomes.

mod door;

pub use door::{door, door_giving, extracted, guarded, quiet_lack_of_memory};

use crate::cpython::Owned;
use crate::memory::{format, push, text, Vec};
use holdall_format::{Error as FormatError, ErrorKind};
use pyo3::exceptions::{PyException, PyMemoryError, PyRecursionError, PySystemError, PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyEllipsis, PyTuple};
use pyo3::{create_exception, ffi};
use std::fmt::Display;

create_exception!(
    holdall,
    HoldallError,
    PyValueError,
    "Base of everything that holdall itself raises.\n\n>>> issubclass(HoldallError, ValueError)\nTrue\n"
);
create_exception!(holdall, EncodeError, HoldallError, "An object can't be stored; the message names its type and the remedy.\n\n>>> try:\n...     dumps(lambda: 1)\n... except EncodeError as error:\n...     print(\"trust=True\" in str(error))\nTrue\n");
create_exception!(holdall, DecodeError, HoldallError, "Bytes can't be loaded.\n\n`offset`: bytes from the start of the input to the value that was wrong.\n\n>>> try:\n...     loads(dumps(1) + b\"x\")\n... except DecodeError as error:\n...     error.offset\n2\n");
create_exception!(holdall, TruncatedError, DecodeError, "The input ended early.\n\n>>> try:\n...     loads(dumps(\"abcd\")[:-1])\n... except TruncatedError as error:\n...     print(error)\ntruncated: needs at least 1 more bytes - at byte 2\n");
create_exception!(
    holdall,
    ChecksumError,
    DecodeError,
    "A file's bytes do not match their checksum.\n\n>>> issubclass(ChecksumError, DecodeError)\nTrue\n"
);
create_exception!(holdall, LimitError, DecodeError, "One of `Limits` stopped the load; the message names it.\n\n>>> try:\n...     loads(dumps([[[]]]), limits=Limits(depth=2))\n... except LimitError as error:\n...     print(error)\nnested deeper than limits.depth=2 - at byte 3\n");
create_exception!(holdall, UnknownTypeError, DecodeError, "A class that was not permitted; `type_name` is its stored name, and the message names the remedies.\n\n>>> issubclass(UnknownTypeError, DecodeError)\nTrue\n");
create_exception!(holdall, ValidationError, DecodeError, "Well formed, but not what was asked for; `path` says where.\n\n>>> issubclass(ValidationError, DecodeError)\nTrue\n");

/// One word, so that a `Result` of a pointer fits into registers.
#[derive(Debug)]
pub struct Fault(Box<Inner>);

#[derive(Debug)]
enum Inner {
    Raised(PyErr),
    /// An exception of the user's code, which passes through unchanged.
    LetThrough(PyErr),
    Format(FormatError),
    Encode(String),
    Decode {
        why: String,
        at: usize,
    },
    Limit {
        why: String,
        at: usize,
    },
    Unknown {
        name: String,
        why: String,
        at: usize,
    },
    /// Not an error: the work continues in another way.
    Detour(Detour),
    /// A value that doesn't match its type, and the path to it, innermost step first.
    Invalid {
        why: String,
        path: Vec<Step>,
        at: Option<usize>,
    },
}

/// Why a walk continues in another way.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Detour {
    /// From the beginning, with every object looked up. Code of the program is about to be called, which can create
    /// references to objects that only their parents held so far.
    TrackAll,
    /// By the instance's own methods: its `__dict__` has a method that pickle asks for, or a key that isn't text.
    OwnWay(&'static str),
}

/// A step from a container to a value in it.
#[derive(Debug)]
pub enum Step {
    Field(Owned),
    Index(usize),
    /// A key, a member, or the value under a key: naming it would show the user's data.
    Some,
}

pub type Result<T> = std::result::Result<T, Fault>;

/// The offset of an error in a check that doesn't know where the object's bytes are: [`Fault::found`] fills it in.
pub const NOWHERE: usize = usize::MAX;

impl From<FormatError> for Fault {
    #[cold]
    fn from(error: FormatError) -> Self {
        Fault(Box::new(Inner::Format(error)))
    }
}

impl From<PyErr> for Fault {
    #[cold]
    fn from(error: PyErr) -> Self {
        Fault(Box::new(Inner::Raised(error)))
    }
}

/// The exception that an API call has just set.
#[cold]
#[inline(never)]
pub fn raised() -> Fault {
    // SAFETY: whoever calls the API holds the GIL.
    let py = unsafe { Python::assume_attached() };
    PyErr::fetch(py).into()
}

#[cold]
#[inline(never)]
pub fn encode(why: impl Display) -> Fault {
    Fault(Box::new(Inner::Encode(text(format_args!("{why}")))))
}

#[cold]
#[inline(never)]
pub fn decode(why: impl Display, at: usize) -> Fault {
    Fault(Box::new(Inner::Decode { why: text(format_args!("{why}")), at }))
}

#[cold]
#[inline(never)]
pub fn limit(why: impl Display, at: usize) -> Fault {
    Fault(Box::new(Inner::Limit { why: text(format_args!("{why}")), at }))
}

#[cold]
#[inline(never)]
pub fn detour(way: Detour) -> Fault {
    Fault(Box::new(Inner::Detour(way)))
}

#[cold]
pub fn unknown_type(name: String, why: String, at: usize) -> Fault {
    Fault(Box::new(Inner::Unknown { name, why, at }))
}

/// For a value that is well formed but doesn't match its type.
#[cold]
#[inline(never)]
pub fn invalid(why: impl Display) -> Fault {
    Fault(Box::new(Inner::Invalid { why: text(format_args!("{why}")), path: Vec::new(), at: None }))
}

/// Whether an exception says something about the values that a function was given. Code that catches errors of called
/// functions must pass on all others: lack of memory, an interrupt or what a signal handler raises (`SystemExit`, say),
/// a fault in the interpreter or an extension (`SystemError`), and a full Python stack if the caller had used up most
/// of it. (Deeply nested data can fill the stack, too.)
pub fn is_of_values(py: Python<'_>, error: &PyErr) -> bool {
    let is_ordinary = error.is_instance_of::<PyException>(py)
        && !error.is_instance_of::<PyMemoryError>(py)
        && !error.is_instance_of::<PySystemError>(py);
    is_ordinary && (!error.is_instance_of::<PyRecursionError>(py) || !is_deep())
}

/// Whether more than half of Python's stack is in use.
#[cold]
fn is_deep() -> bool {
    // SAFETY: whoever has an exception holds the GIL. `frame` is a reference of ours, which is released after its
    // caller was asked for.
    unsafe {
        let mut left = ffi::Py_GetRecursionLimit() / 2;
        let mut frame = ffi::PyThreadState_GetFrame(ffi::PyThreadState_Get());
        while !frame.is_null() && left > 0 {
            let back = ffi::PyFrame_GetBack(frame);
            ffi::Py_DECREF(frame.cast());
            (frame, left) = (back, left - 1);
        }
        ffi::Py_XDECREF(frame.cast());
        left == 0
    }
}

/// What a called function returned or raised, for callers that continue if it refused its values.
pub trait Asked<T> {
    /// The result, or the exception if it is about the values. Raises all others.
    fn answer(self) -> PyResult<PyResult<T>>;

    /// The result; `None` if the function refused the values. Raises exceptions that are not about them.
    fn if_taken(self) -> PyResult<Option<T>>;
}

impl<T> Asked<T> for PyResult<T> {
    #[inline]
    fn answer(self) -> PyResult<PyResult<T>> {
        match self {
            Ok(found) => Ok(Ok(found)),
            Err(error) => of_values(error).map(Err),
        }
    }

    #[inline]
    fn if_taken(self) -> PyResult<Option<T>> {
        Ok(self.answer()?.ok())
    }
}

/// The exception, if it is about the values; raises all others.
#[cold]
#[inline(never)]
fn of_values(error: PyErr) -> PyResult<PyErr> {
    // SAFETY: an exception exists, so whoever raised it holds the GIL.
    match is_of_values(unsafe { Python::assume_attached() }, &error) {
        true => Ok(error),
        false => Err(error),
    }
}

/// The exception that an API call has just set, if it is about the values that the call was given; it is cleared.
/// Raises all others.
pub fn refusal() -> PyResult<PyErr> {
    // SAFETY: whoever calls the API holds the GIL.
    of_values(PyErr::fetch(unsafe { Python::assume_attached() }))
}

/// The exception that an API call has just set, as a `DecodeError` at `at`: CPython refused data of the message.
#[cold]
#[inline(never)]
pub fn refused(what: &str, at: usize) -> Fault {
    match refusal() {
        Ok(error) => {
            // SAFETY: whoever calls the API holds the GIL.
            let class = error.get_type(unsafe { Python::assume_attached() }).name();
            decode(format_args!("{what} ({})", class.map(|name| name.to_string()).unwrap_or_default()), at)
        }
        Err(error) => error.into(),
    }
}

impl Fault {
    /// Adds the step that leads from a container to the value at fault.
    #[cold]
    #[inline(never)]
    pub fn within(mut self, step: impl FnOnce() -> Step) -> Fault {
        if let Inner::Invalid { path, .. } = &mut *self.0 {
            path.push(step());
        }
        self
    }

    /// Adds the offset into the input, unless it is known already.
    #[cold]
    #[inline(never)]
    pub fn found(mut self, offset: usize) -> Fault {
        match &mut *self.0 {
            Inner::Invalid { at: at @ None, .. } => *at = Some(offset),
            Inner::Decode { at: at @ NOWHERE, .. } | Inner::Limit { at: at @ NOWHERE, .. } => *at = offset,
            _ => {}
        }
        self
    }

    /// For what a method of the user's class raised: a `ValueError` or `TypeError` becomes a validation error with its
    /// message.
    #[cold]
    pub fn of_user(self, py: Python<'_>) -> Fault {
        match *self.0 {
            Inner::Raised(error)
                if (error.is_instance_of::<PyValueError>(py) || error.is_instance_of::<PyTypeError>(py))
                    && !error.is_instance_of::<HoldallError>(py) =>
            {
                match error.value(py).str().if_taken() {
                    Ok(why) => invalid(why.map_or_else(String::new, |text| text.to_string())),
                    Err(error) => error.into(),
                }
            }
            inner => Fault(Box::new(inner)),
        }
    }

    /// For what our own Python code raised that works on the user's data: an ordinary exception is about the data.
    #[cold]
    pub fn of_data(self, what: &str, at: usize) -> Fault {
        match *self.0 {
            Inner::Raised(error) => {
                // SAFETY: an exception exists, so whoever raised it holds the GIL.
                error.restore(unsafe { Python::assume_attached() });
                refused(what, at)
            }
            inner => Fault(Box::new(inner)),
        }
    }

    /// Marks an exception to be passed on unchanged.
    #[cold]
    pub fn let_through(self) -> Fault {
        match *self.0 {
            Inner::Raised(error) => Fault(Box::new(Inner::LetThrough(error))),
            inner => Fault(Box::new(inner)),
        }
    }

    pub fn is_let_through(&self) -> bool {
        matches!(*self.0, Inner::LetThrough(_))
    }

    pub fn detour(&self) -> Option<Detour> {
        match &*self.0 {
            Inner::Detour(way) => Some(*way),
            _ => None,
        }
    }

    pub fn is_unknown(&self) -> bool {
        matches!(*self.0, Inner::Unknown { .. })
    }

    pub fn is_invalid(&self) -> bool {
        matches!(*self.0, Inner::Invalid { .. })
    }

    /// The exception, for an input that begins `base` bytes into what the user gave.
    pub fn into_py(self, base: usize) -> PyErr {
        // SAFETY: called while a function that Python called returns.
        let py = unsafe { Python::assume_attached() };
        let located = |class: fn(String) -> PyErr, why: &dyn Display, at: usize| {
            // Nobody said where: the beginning of the input, as for `Invalid`.
            let at = if at == NOWHERE { 0 } else { at };
            let error = class(format!("{why} - at byte {}", at + base));
            let _ = error.value(py).setattr("offset", at + base);
            error
        };
        match *self.0 {
            Inner::Raised(error) | Inner::LetThrough(error) => error,
            Inner::Encode(why) => EncodeError::new_err(why),
            Inner::Detour(_) => EncodeError::new_err("code of the program's changed how an object is stored"),
            Inner::Format(error) => {
                let class = match error.kind() {
                    ErrorKind::Truncated { .. } => TruncatedError::new_err::<String>,
                    ErrorKind::Checksum => ChecksumError::new_err::<String>,
                    ErrorKind::Bomb { .. } => LimitError::new_err::<String>,
                    _ => DecodeError::new_err::<String>,
                };
                let foreign = matches!(
                    error.kind(),
                    ErrorKind::UnknownVersion { .. }
                        | ErrorKind::Trusted
                        | ErrorKind::Continued
                        | ErrorKind::BadFile { .. }
                );
                let located = located(class, &error, error.offset());
                if foreign {
                    // The bytes are of another kind than asked for, not damaged: `holdall.safe_pickle` tells the two
                    // apart.
                    let _ = located.value(py).setattr("foreign", true);
                }
                located
            }
            Inner::Decode { why, at } => located(DecodeError::new_err::<String>, &why, at),
            Inner::Invalid { why, path, at } => invalid_error(py, why, &path, at.unwrap_or(0) + base),
            Inner::Limit { why, at } => located(LimitError::new_err::<String>, &why, at),
            Inner::Unknown { name, why, at } => {
                let error = located(UnknownTypeError::new_err::<String>, &why, at);
                let _ = error.value(py).setattr("type_name", name);
                error
            }
        }
    }
}

/// A `ValidationError` whose message ends with the path, like `$.users[3].age`.
fn invalid_error(py: Python<'_>, why: String, path: &[Step], at: usize) -> PyErr {
    let (mut place, mut parts) = ("$".to_owned(), Vec::new());
    for step in path.iter().rev() {
        match step {
            Step::Field(name) => {
                // SAFETY: the step holds its name.
                let name = unsafe { Bound::from_borrowed_ptr(py, name.get()) };
                push(&mut place, format_args!(".{name}"));
                parts.push(name);
            }
            Step::Index(index) => {
                push(&mut place, format_args!("[{index}]"));
                parts.extend(index.into_pyobject(py).map(Bound::into_any));
            }
            Step::Some => {
                push(&mut place, format_args!("[...]"));
                parts.push(PyEllipsis::get(py).to_owned().into_any());
            }
        }
    }
    let error = if parts.is_empty() {
        ValidationError::new_err(why)
    } else {
        ValidationError::new_err(format!("{why} - at `{place}`"))
    };
    let _ = error.value(py).setattr("offset", at);
    let _ = PyTuple::new(py, parts).and_then(|path| error.value(py).setattr("path", path));
    error
}

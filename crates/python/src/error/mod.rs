//! What can go wrong in the host, and the exceptions it becomes.

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

/// One word wide, so that a `Result` of a pointer stays in registers.
#[derive(Debug)]
pub struct Fault(Box<Inner>);

#[derive(Debug)]
enum Inner {
    Raised(PyErr),
    /// An exception of the user's own code, which is no other's to explain.
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
    /// No error: the work goes on in another way.
    Detour(Detour),
    /// Not what the type says; the path from the value outwards.
    Invalid {
        why: String,
        path: Vec<Step>,
        at: Option<usize>,
    },
}

/// Why a walk goes on in another way.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Detour {
    /// From the beginning, with every object looked up: code of the program's is about to be asked, and can hand out
    /// references to what was taken for its parent's alone.
    TrackAll,
    /// By the instance's own methods: its `__dict__` has one that pickle asks, or a key that is no text.
    OwnWay(&'static str),
}

/// A step from a container to a value in it.
#[derive(Debug)]
pub enum Step {
    Field(Owned),
    Index(usize),
    /// A value under a key, or a key, or a member: which one would show the user's data.
    Some,
}

pub type Result<T> = std::result::Result<T, Fault>;

/// The offset that is given by what checks an object and does not know where its bytes are: [`Fault::found`] says it.
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
    // SAFETY: the GIL is held wherever the API is called.
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

/// A value that is well formed, but not what the type says.
#[cold]
#[inline(never)]
pub fn invalid(why: impl Display) -> Fault {
    Fault(Box::new(Inner::Invalid { why: text(format_args!("{why}")), path: Vec::new(), at: None }))
}

/// Whether an exception says something of the values that a function was given. What does not is passed on, wherever an error
/// of a called function is caught: no memory, an interrupt, what a signal's handler raises (`SystemExit`, say), what is wrong in
/// the interpreter or an extension itself (`SystemError`), and the end of Python's stack where the caller has used most of it up.
/// (Data that nest deep meet that end, too.)
pub fn is_of_values(py: Python<'_>, error: &PyErr) -> bool {
    let is_ordinary = error.is_instance_of::<PyException>(py)
        && !error.is_instance_of::<PyMemoryError>(py)
        && !error.is_instance_of::<PySystemError>(py);
    is_ordinary && (!error.is_instance_of::<PyRecursionError>(py) || !is_deep())
}

/// Whether more than half of Python's stack is in use below us.
#[cold]
fn is_deep() -> bool {
    // SAFETY: the GIL is held by whoever has an exception; each frame is held while its caller is asked for.
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

/// What a called function gave or raised, for those who go on where it refused what it was given.
pub trait Asked<T> {
    /// The result, or the exception, if that is about the values. Raises any other.
    fn answer(self) -> PyResult<PyResult<T>>;

    /// The result; `None` where the function refused the values. Raises what is not about them.
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

/// The exception, if it is about the values; raises any other.
#[cold]
#[inline(never)]
fn of_values(error: PyErr) -> PyResult<PyErr> {
    // SAFETY: the GIL is held wherever something can be raised.
    match is_of_values(unsafe { Python::assume_attached() }, &error) {
        true => Ok(error),
        false => Err(error),
    }
}

/// The exception that an API call has just set, if it is about the values that the call was given: it is set no more. Raises any
/// other.
pub fn refusal() -> PyResult<PyErr> {
    // SAFETY: the GIL is held wherever the API is called.
    of_values(PyErr::fetch(unsafe { Python::assume_attached() }))
}

/// The exception that an API call has just set as a `DecodeError` at `at`, where it comes from data that CPython refused.
#[cold]
#[inline(never)]
pub fn refused(what: &str, at: usize) -> Fault {
    match refusal() {
        Ok(error) => {
            // SAFETY: the GIL is held wherever the API is called.
            let class = error.get_type(unsafe { Python::assume_attached() }).name();
            decode(format_args!("{what} ({})", class.map(|name| name.to_string()).unwrap_or_default()), at)
        }
        Err(error) => error.into(),
    }
}

impl Fault {
    /// The same fault, seen from the container that holds the value.
    #[cold]
    #[inline(never)]
    pub fn within(mut self, step: impl FnOnce() -> Step) -> Fault {
        if let Inner::Invalid { path, .. } = &mut *self.0 {
            path.push(step());
        }
        self
    }

    /// The same fault, found `at` bytes into the input, unless it was found before that.
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

    /// What a method of the user's class raised: a `ValueError` or `TypeError` says in its own words what is wrong.
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

    /// What code of ours raised that was given the user's data: an ordinary exception is about those.
    #[cold]
    pub fn of_data(self, what: &str, at: usize) -> Fault {
        match *self.0 {
            Inner::Raised(error) => {
                // SAFETY: the GIL is held wherever something can be raised.
                error.restore(unsafe { Python::assume_attached() });
                refused(what, at)
            }
            inner => Fault(Box::new(inner)),
        }
    }

    /// An exception that was raised, to be let through as it is.
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

    /// The exception, for an input that began `base` bytes into what the user gave.
    pub fn into_py(self, base: usize) -> PyErr {
        // SAFETY: called on the way out of a function that Python called.
        let py = unsafe { Python::assume_attached() };
        let located = |class: fn(String) -> PyErr, why: &dyn Display, at: usize| {
            // As for `Invalid`: the whole, where nobody said which part.
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
                    // No message of the kind that was asked for: `holdall.safe_pickle` tells it from a damaged one.
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

/// A `ValidationError` whose text ends with the path, as in `$.users[3].age`.
fn invalid_error(py: Python<'_>, why: String, path: &[Step], at: usize) -> PyErr {
    let (mut place, mut parts) = ("$".to_owned(), Vec::new());
    for step in path.iter().rev() {
        match step {
            Step::Field(name) => {
                // SAFETY: held.
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

//! Decimal and Fraction.

use crate::cpython::{class, gc, held, int, owned, text, Obj, Owned};
use crate::error::Result;
use crate::types::library::{Library, Slots};
use crate::types::walker::{TypeWalker, WorkItem};
use holdall_format::model::{KnownType, TypeWriter};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::{PyInt, PyString};
use pyo3::{ffi, intern};
use std::ptr::addr_of_mut;

/// The size of a denominator in bits from which on a fraction isn't reduced again.
const LARGE: usize = 1 << 14;

pub fn encode<'py, E: TypeWalker<'py>>(encoder: &mut E, known: KnownType, object: &Bound<'_, PyAny>) -> Result<()> {
    encoder.w().known(known);
    if known == KnownType::Decimal {
        // The text is complete: sign, digits, exponent, and the payload of a NaN.
        encoder.then([WorkItem::Value(owned(object.str()?.as_any()))]);
    } else if let Some(parts) = FRACTION.read(object)? {
        // SAFETY: the slots of `object`, which the `Bound` holds, hold them.
        encoder.then(parts.map(|part| WorkItem::Value(unsafe { Owned::borrowed(part) })));
    } else {
        let names = [intern!(object.py(), "numerator"), intern!(object.py(), "denominator")];
        let [above, below] = names.map(|name| object.getattr(name));
        encoder.then([WorkItem::Value(owned(&above?)), WorkItem::Value(owned(&below?))]);
    }
    Ok(())
}

/// The text of a decimal, without any code of Python's own. `None`: the class is written in Python, or there is no memory.
///
/// # Safety
/// `object` is a decimal, and the GIL held.
pub unsafe fn text_of_decimal(py: Python<'_>, object: Obj) -> Option<Owned> {
    // SAFETY: by the contract. A context may be made for the thread, which must not wake the collector: it runs code.
    unsafe {
        if !is_in_c(py) {
            return None;
        }
        let _pause = gc::Pause::new();
        let made = Owned::new(ffi::PyObject_Str(object));
        if made.is_none() {
            ffi::PyErr_Clear();
        }
        made
    }
}

/// Whether the class of decimals is the one written in C. `false`, too, if nobody has used it yet.
fn is_in_c(py: Python<'_>) -> bool {
    static IN_C: PyOnceLock<bool> = PyOnceLock::new();
    let Some(class) = Library::Decimal.known(py) else { return false };
    // SAFETY: `class` is a class, and holds what is found.
    *IN_C.get_or_init(py, || unsafe {
        let found = class::_PyType_Lookup(class.as_ptr().cast(), intern!(py, "__str__").as_ptr());
        !found.is_null() && ffi::Py_TYPE(found) == addr_of_mut!(ffi::PyWrapperDescr_Type)
    })
}

/// A decimal of its text. `None`: the text is none of a decimal, or the class is not the one written in C.
///
/// # Safety
/// The GIL is held, the collector pauses, and every byte is ASCII.
pub unsafe fn quick_decimal(py: Python<'_>, ascii: &[u8]) -> Option<Owned> {
    if !is_in_c(py) || !is_decimal(ascii) {
        return None;
    }
    // SAFETY: by the contract; the caller clears the exception where there is no memory.
    unsafe {
        let text = text::from_ascii(ascii)?;
        let class = Library::Decimal.known(py)?;
        let arguments = Owned::new(ffi::PyTuple_Pack(1, text.get()))?;
        let make = (*class.as_type_ptr()).tp_new?;
        Owned::new(make(class.as_type_ptr(), arguments.get(), std::ptr::null_mut()))
    }
}

static FRACTION: Slots<2> = Slots::new(|py| Library::Fraction.get(py), [b"_numerator", b"_denominator"]);

/// Whether two numbers have no divisor in common but 1.
fn is_reduced(mut one: u64, mut other: u64) -> bool {
    while other != 0 {
        (one, other) = (other, one % other);
    }
    one == 1
}

/// Whether a text is as `str` gives a decimal. The constructor takes more: blanks, underscores, digits of other scripts.
fn is_decimal(text: &[u8]) -> bool {
    fn digits(text: &[u8]) -> (usize, &[u8]) {
        let count = text.iter().take_while(|byte| byte.is_ascii_digit()).count();
        (count, &text[count..])
    }
    let text = text.strip_prefix(b"-").unwrap_or(text);
    if text == b"Infinity" {
        return true;
    }
    if let Some(payload) = text.strip_prefix(b"NaN").or_else(|| text.strip_prefix(b"sNaN")) {
        return payload.iter().all(u8::is_ascii_digit);
    }
    let (mut whole, mut rest) = digits(text);
    if let Some(fraction) = rest.strip_prefix(b".") {
        let (count, after) = digits(fraction);
        (whole, rest) = (whole.min(count), after);
    }
    match rest {
        [] => whole > 0,
        [b'E' | b'e', b'+' | b'-', exponent @ ..] => {
            whole > 0 && !exponent.is_empty() && exponent.iter().all(u8::is_ascii_digit)
        }
        _ => false,
    }
}

pub fn build<'py>(py: Python<'py>, known: KnownType, parts: &[Bound<'py, PyAny>]) -> PyResult<Bound<'py, PyAny>> {
    match (known, parts) {
        (KnownType::Decimal, [text]) => {
            let text = text.cast::<PyString>()?;
            // SAFETY: `text` holds its characters.
            if !unsafe { text::ascii(text.as_ptr()) }.is_some_and(is_decimal) {
                return Err(PyValueError::new_err("no text of a decimal"));
            }
            // The constructor takes the text as it is, whatever the context's precision.
            Library::Decimal.get(py)?.call1((text,))
        }
        (KnownType::Fraction, [numerator, denominator]) => {
            let (numerator, denominator) = (numerator.cast::<PyInt>()?, denominator.cast::<PyInt>()?);
            // Stored fractions are reduced already.
            // SAFETY: the `Bound`s hold both, whose types are checked first.
            let exact = |number: &Bound<'_, PyInt>| unsafe {
                int::is(number.as_ptr()).then(|| int::value(number.as_ptr())).flatten()
            };
            let small = (exact(numerator), exact(denominator));
            if let (Some(above), Some(below @ 1..)) = small {
                if is_reduced(above.unsigned_abs(), below.unsigned_abs()) {
                    let made = FRACTION.make(py, [owned(numerator.as_any()), owned(denominator.as_any())]);
                    if let Some(made) = made.map_err(|fault| fault.into_py(0))? {
                        return Ok(held(py, &made));
                    }
                }
            }
            if denominator.lt(1)? {
                return Err(PyValueError::new_err("a denominator below 1"));
            }
            let class = Library::Fraction.get(py)?;
            let bits: usize = denominator.call_method0(intern!(denominator.py(), "bit_length"))?.extract()?;
            if bits < LARGE {
                return class.call1((numerator, denominator));
            }
            // Reducing would take quadratic time. Stored fractions are reduced already; a message that lies gets the
            // fraction it states.
            let fraction = class.call_method1("__new__", (class, 0))?;
            fraction.setattr("_numerator", numerator)?;
            fraction.setattr("_denominator", denominator)?;
            Ok(fraction)
        }
        _ => Err(PyValueError::new_err("another count of values")),
    }
}

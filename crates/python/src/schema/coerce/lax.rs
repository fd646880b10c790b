//! Numbers from values of other types: floats from ints, and with `strict=False` numbers and bools from text.

use super::{kind_of, Rules, Taken};
use crate::cpython::{float, int, text, Owned};
use crate::error::{raised, refusal, Asked, Result};
use crate::schema::node::accepts;
use pyo3::ffi;
use pyo3::prelude::*;
use pyo3::types::{PyList, PyTuple};
use std::ptr::addr_of_mut;

impl Rules<'_> {
    /// A bool from 0 or 1, or from text.
    pub(crate) fn lax_bool(&self, object: &Owned) -> Taken {
        // SAFETY: `object` is an owned reference; its type is checked before it is read as an int or a string.
        let value = unsafe {
            match kind_of(object.get()) {
                accepts::INT => match int::value(object.get()) {
                    Some(0) => Some(false),
                    Some(1) => Some(true),
                    _ => None,
                },
                accepts::STR => match text::ascii(object.get()) {
                    Some(b"0") => Some(false),
                    Some(b"1") => Some(true),
                    Some(text) if text.eq_ignore_ascii_case(b"false") => Some(false),
                    Some(text) if text.eq_ignore_ascii_case(b"true") => Some(true),
                    _ => None,
                },
                _ => None,
            }
        };
        // SAFETY: the singletons live as long as the interpreter.
        value.map_or(Taken::No, |value| unsafe {
            Taken::Yes(Owned::borrowed(if value { ffi::Py_True() } else { ffi::Py_False() }))
        })
    }

    /// An int from decimal text, or from a float without a fraction.
    pub(crate) fn lax_int(&self, object: &Owned) -> Result<Option<Owned>> {
        // SAFETY: `object` is an owned reference; its type is checked before it is read as a float or a string. Results are
        // new references or null.
        unsafe {
            let kind = kind_of(object.get());
            if kind == accepts::FLOAT {
                let value = float::value(object.get());
                // Beyond 2**53 a float stands for several ints.
                if !value.is_finite() || value.fract() != 0.0 || value.abs() > (1u64 << 53) as f64 {
                    return Ok(None);
                }
                return Owned::new(ffi::PyLong_FromDouble(value)).map(Some).ok_or_else(raised);
            }
            if kind != accepts::STR {
                return Ok(None);
            }
            let Some(digits) = text::ascii(object.get()) else { return Ok(None) };
            let unsigned = digits.strip_prefix(b"-").unwrap_or(digits);
            // As in JSON: no plus sign, blanks, underscores or leading zeros; and no more digits than Python reads by
            // default.
            let leading_zero = unsigned.len() > 1 && unsigned[0] == b'0';
            if unsigned.is_empty() || leading_zero || unsigned.len() > 4300 || !unsigned.iter().all(u8::is_ascii_digit)
            {
                return Ok(None);
            }
            let text = Owned::new(ffi::PyTuple_Pack(1, object.get())).ok_or_else(raised)?;
            Owned::new(ffi::PyObject_CallObject(addr_of_mut!(ffi::PyLong_Type).cast(), text.get()))
                .map(Some)
                .ok_or_else(raised)
        }
    }

    /// A number of seconds, or its text, where it may stand for a point in time or a duration.
    pub(crate) fn lax_seconds(&self, object: &Owned) -> Result<Option<Owned>> {
        // SAFETY: `object` is an owned reference.
        Ok(match unsafe { kind_of(object.get()) } {
            _ if self.strict => None,
            accepts::INT | accepts::FLOAT => Some(object.clone()),
            accepts::STR => match self.lax_int(object)? {
                Some(made) => Some(made),
                None => self.text_as_float(object)?,
            },
            _ => None,
        })
    }

    /// A float from an int; `None` if the int is too large.
    pub(crate) fn number_as_float(&self, object: &Owned) -> Result<Option<Owned>> {
        // SAFETY: `object` is an owned reference, and an int if it is read as one; the API's function takes any object.
        unsafe {
            let small = if int::is(object.get()) { int::value(object.get()) } else { None };
            if let Some(value) = small {
                return float::from_value(value as f64).map(Some).ok_or_else(raised);
            }
            let value = ffi::PyLong_AsDouble(object.get());
            if value == -1.0 && !ffi::PyErr_Occurred().is_null() {
                refusal()?;
                return Ok(None);
            }
            float::from_value(value).map(Some).ok_or_else(raised)
        }
    }

    /// A float from its text.
    pub(crate) fn text_as_float(&self, object: &Owned) -> Result<Option<Owned>> {
        // SAFETY: `object` is an owned reference, and a string if it is read as one.
        let digits = unsafe { text::is(object.get()).then(|| text::ascii(object.get())).flatten() };
        let digits = digits.and_then(|digits| std::str::from_utf8(digits).ok());
        // Rust accepts "inf" and a leading plus sign: JSON has neither, msgspec accepts "inf", "infinity" and "nan".
        let Some(value) = digits.and_then(|digits| digits.parse().ok()) else { return Ok(None) };
        // SAFETY: the GIL is held, as `self.py` proves.
        unsafe { float::from_value(value) }.map(Some).ok_or_else(raised)
    }

    /// A complex number from a list or tuple of two parts. Other sequences, such as a range, may be endless.
    pub(crate) fn pair_as_complex(&self, object: &Owned) -> Result<Option<Owned>> {
        let object = self.bound(object);
        if object.is_instance_of::<PyList>() || object.is_instance_of::<PyTuple>() {
            if let Some([real, imag]) = object.extract::<[f64; 2]>().if_taken()? {
                // SAFETY: the result is a new reference or null.
                return unsafe { Owned::new(ffi::PyComplex_FromDoubles(real, imag)) }.map(Some).ok_or_else(raised);
            }
        }
        Ok(None)
    }
}

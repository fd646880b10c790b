//! Numbers of what is not quite one: ints where floats are wanted, and, with `strict=False`, text.

use super::coerce::{Rules, Taken};
use super::node::accepts;
use crate::cpython::{float, int, text, Owned};
use crate::error::{raised, refusal, Asked, Result};
use pyo3::ffi;
use pyo3::prelude::*;
use pyo3::types::{PyList, PyTuple};
use std::ptr::addr_of_mut;

impl Rules<'_> {
    pub(crate) fn lax_bool(&self, object: &Owned, kind: u32) -> Taken {
        // SAFETY: of the type that `kind` says.
        let value = unsafe {
            if kind == accepts::INT {
                match int::value(object.get()) {
                    Some(0) => Some(false),
                    Some(1) => Some(true),
                    _ => None,
                }
            } else {
                match text::ascii(object.get()) {
                    Some(b"0") => Some(false),
                    Some(b"1") => Some(true),
                    Some(text) if text.eq_ignore_ascii_case(b"false") => Some(false),
                    Some(text) if text.eq_ignore_ascii_case(b"true") => Some(true),
                    _ => None,
                }
            }
        };
        // SAFETY: the singletons are alive.
        value.map_or(Taken::No, |value| unsafe {
            Taken::Yes(Owned::borrowed(if value { ffi::Py_True() } else { ffi::Py_False() }))
        })
    }

    /// An int of its decimal text, or of a float without a fraction.
    pub(crate) fn lax_int(&self, object: &Owned, kind: u32) -> Result<Option<Owned>> {
        // SAFETY: of the type that `kind` says; results are new references or null.
        unsafe {
            if kind == accepts::FLOAT {
                let value = float::value(object.get());
                // Beyond these the float stands for several ints.
                if !value.is_finite() || value.fract() != 0.0 || value.abs() > (1u64 << 53) as f64 {
                    return Ok(None);
                }
                return Owned::new(ffi::PyLong_FromDouble(value)).map(Some).ok_or_else(raised);
            }
            let Some(digits) = text::ascii(object.get()) else { return Ok(None) };
            let unsigned = digits.strip_prefix(b"-").unwrap_or(digits);
            // As JSON has them: no signs, blanks or underscores; and no more than what is read in a moment.
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

    /// A number of seconds, or the text of one, where it may stand for a point in time or a duration.
    pub(crate) fn lax_seconds(&self, object: &Owned, kind: u32) -> Result<Option<Owned>> {
        Ok(match kind {
            _ if self.strict => None,
            accepts::INT | accepts::FLOAT => Some(object.clone()),
            accepts::STR => match self.lax_int(object, kind)? {
                Some(made) => Some(made),
                None => self.text_as_float(object)?,
            },
            _ => None,
        })
    }

    /// Nothing where there is no float of that size.
    pub(crate) fn number_as_float(&self, object: &Owned) -> Result<Option<Owned>> {
        // SAFETY: an int.
        unsafe {
            if let Some(value) = int::value(object.get()) {
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

    pub(crate) fn text_as_float(&self, object: &Owned) -> Result<Option<Owned>> {
        // SAFETY: a string.
        let digits = unsafe { text::ascii(object.get()) }.and_then(|digits| std::str::from_utf8(digits).ok());
        // Rust takes "inf" and a leading sign; JSON has none of that, msgspec takes the three names.
        let Some(value) = digits.and_then(|digits| digits.parse().ok()) else { return Ok(None) };
        // SAFETY: the GIL is held.
        unsafe { float::from_value(value) }.map(Some).ok_or_else(raised)
    }

    /// A complex number of its two parts: of a list or a tuple. Other sequences, such as a range, may go on for ever.
    pub(crate) fn pair_as_complex(&self, object: &Owned) -> Result<Option<Owned>> {
        let object = self.bound(object);
        if object.is_instance_of::<PyList>() || object.is_instance_of::<PyTuple>() {
            if let Some([real, imag]) = object.extract::<[f64; 2]>().if_taken()? {
                // SAFETY: a new reference or null.
                return unsafe { Owned::new(ffi::PyComplex_FromDoubles(real, imag)) }.map(Some).ok_or_else(raised);
            }
        }
        Ok(None)
    }
}

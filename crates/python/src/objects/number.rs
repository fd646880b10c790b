//! Decimal and Fraction.

use super::owned;
use crate::encode::{Encoder, Part};
use crate::error::Result;
use holdall_format::model::Known;
use holdall_format::Writer;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::{PyInt, PyString};

pub fn encode<W: Writer>(encoder: &mut Encoder<'_, W>, known: Known, object: &Bound<'_, PyAny>) -> Result<()> {
    encoder.w.known(known);
    let parts = if known == Known::Decimal {
        // The text says everything: sign, digits, exponent, and the payload of a NaN.
        vec![Part::Value(owned(object.str()?.as_any()))]
    } else {
        vec![Part::Value(owned(&object.getattr("numerator")?)), Part::Value(owned(&object.getattr("denominator")?))]
    };
    encoder.then(parts);
    Ok(())
}

pub fn build<'py>(py: Python<'py>, known: Known, parts: &[Bound<'py, PyAny>]) -> PyResult<Bound<'py, PyAny>> {
    match (known, parts) {
        (Known::Decimal, [text]) => {
            let text = text.cast::<PyString>()?;
            // The constructor takes the text as it is, whatever the context's precision.
            py.import("decimal")?.getattr("Decimal")?.call1((text,))
        }
        (Known::Fraction, [numerator, denominator]) => {
            let (numerator, denominator) = (numerator.cast::<PyInt>()?, denominator.cast::<PyInt>()?);
            py.import("fractions")?.getattr("Fraction")?.call1((numerator, denominator))
        }
        _ => Err(PyValueError::new_err("another count of values")),
    }
}

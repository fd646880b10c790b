//! Decimal and Fraction.

use crate::cpython::owned;
use crate::error::Result;
use crate::memory::vec;
use crate::types::walker::{TypeWalker, WorkItem};
use holdall_format::model::{KnownType, TypeWriter};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::{PyInt, PyString};

/// The size of a denominator in bits from which on a fraction isn't reduced again.
const LARGE: usize = 1 << 14;

pub fn encode<'py, E: TypeWalker<'py>>(encoder: &mut E, known: KnownType, object: &Bound<'_, PyAny>) -> Result<()> {
    encoder.w().known(known);
    let parts = if known == KnownType::Decimal {
        // The text is complete: sign, digits, exponent, and the payload of a NaN.
        vec![WorkItem::Value(owned(object.str()?.as_any()))]
    } else {
        vec![
            WorkItem::Value(owned(&object.getattr("numerator")?)),
            WorkItem::Value(owned(&object.getattr("denominator")?)),
        ]
    };
    encoder.then(parts);
    Ok(())
}

pub fn build<'py>(py: Python<'py>, known: KnownType, parts: &[Bound<'py, PyAny>]) -> PyResult<Bound<'py, PyAny>> {
    match (known, parts) {
        (KnownType::Decimal, [text]) => {
            let text = text.cast::<PyString>()?;
            // The constructor takes the text as it is, whatever the context's precision.
            py.import("decimal")?.getattr("Decimal")?.call1((text,))
        }
        (KnownType::Fraction, [numerator, denominator]) => {
            let (numerator, denominator) = (numerator.cast::<PyInt>()?, denominator.cast::<PyInt>()?);
            let class = py.import("fractions")?.getattr("Fraction")?;
            let bits: usize = denominator.call_method0("bit_length")?.extract()?;
            if bits < LARGE || denominator.lt(1)? {
                return class.call1((numerator, denominator));
            }
            // Reducing would take quadratic time. Stored fractions are reduced already; a message that lies gets the
            // fraction it states.
            let fraction = class.call_method1("__new__", (&class, 0))?;
            fraction.setattr("_numerator", numerator)?;
            fraction.setattr("_denominator", denominator)?;
            Ok(fraction)
        }
        _ => Err(PyValueError::new_err("another count of values")),
    }
}

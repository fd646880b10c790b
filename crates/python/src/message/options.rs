//! Converts Python arguments into options.

use crate::cpython::{owned, Owned};
use crate::encode;
use crate::encode::forms::{DecimalForm, Forms, Order, UuidForm};
use crate::error::Asked;
use crate::types::out_of_band::BufferSink;
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use std::convert::Infallible;

/// The value of `type=`. None is an annotation like others (the type of None), so it differs from leaving `type=` out.
#[derive(Debug)]
pub struct Wanted<'py>(pub Option<Bound<'py, PyAny>>);

impl Wanted<'_> {
    /// Left out: any type. Signatures can't show an object of `typing`, so they show `'Any'`, which means the same.
    pub const ANY: Self = Wanted(None);
}

impl<'a, 'py> FromPyObject<'a, 'py> for Wanted<'py> {
    type Error = Infallible;

    fn extract(given: Borrowed<'a, 'py, PyAny>) -> Result<Self, Infallible> {
        Ok(Wanted(Some(given.to_owned())))
    }
}

pub fn hook(object: Option<&Bound<'_, PyAny>>, what: &str) -> PyResult<Option<Owned>> {
    match object {
        Some(hook) if hook.is_none() => Ok(None),
        Some(hook) if hook.is_callable() => Ok(Some(owned(hook))),
        Some(_) => Err(PyTypeError::new_err(format!("`{what}` must be callable or None"))),
        None => Ok(None),
    }
}

pub fn encoding(
    refs: bool,
    canonical: bool,
    trust: bool,
    intern: bool,
    enc_hook: Option<&Bound<'_, PyAny>>,
) -> PyResult<encode::Options> {
    Ok(encode::Options {
        // Canonical form writes equal strings once, whether they are the same object or not.
        refs: refs || canonical,
        canonical,
        trust,
        intern: intern || canonical,
        enc_hook: hook(enc_hook, "enc_hook")?,
        builtin_only: false,
        forms: Forms::default(),
        pickle: None,
    })
}

pub fn order(name: Option<&str>) -> PyResult<Order> {
    match name {
        None => Ok(Order::Own),
        Some("deterministic") => Ok(Order::Deterministic),
        Some("sorted") => Ok(Order::Sorted),
        Some(_) => Err(PyValueError::new_err("`order` must be one of `{None, 'deterministic', 'sorted'}`")),
    }
}

pub fn uuid_form(name: &str) -> PyResult<UuidForm> {
    match name {
        "canonical" => Ok(UuidForm::Canonical),
        "hex" => Ok(UuidForm::Hex),
        "bytes" => Ok(UuidForm::Bytes),
        _ => Err(PyValueError::new_err("`uuid_format` must be 'canonical', 'hex', or 'bytes'")),
    }
}

pub fn decimal_form(given: Option<&Bound<'_, PyAny>>) -> PyResult<DecimalForm> {
    let Some(given) = given else { return Ok(DecimalForm::Text) };
    match given.extract::<&str>().answer()? {
        Ok("string") => Ok(DecimalForm::Text),
        Ok("number") => Ok(DecimalForm::Number),
        Err(_) if given.is_callable() => Ok(DecimalForm::Function(owned(given))),
        _ => Err(PyValueError::new_err("`decimal_format` must be 'string', 'number', or a callable")),
    }
}

/// The list or function that receives out-of-band buffers, if there is one.
pub fn buffer_sink(buffers: Option<&Bound<'_, PyAny>>) -> PyResult<Option<BufferSink>> {
    let Some(buffers) = buffers.filter(|buffers| !buffers.is_none()) else { return Ok(None) };
    if !buffers.is_callable() && !buffers.hasattr("append")? {
        return Err(PyTypeError::new_err("`buffers` must be a list, a callable or None"));
    }
    Ok(Some(BufferSink::Given(owned(buffers))))
}

//! Classes and functions by name. In an ordinary message only the plain builtin classes, by a fixed list, as the default
//! factories that they are; in a trusted one whatever can be imported.

use crate::cpython::Owned;
use crate::decode::Decoder;
use crate::encode::Encoder;
use crate::error::{decode, Result};
use holdall_format::model::{Known, Text};
use holdall_format::{Reader, Writer};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

/// Builtin classes whose call with no arguments gives an empty value, and does nothing else.
const BUILTINS: &[&str] =
    &["int", "float", "complex", "bool", "str", "bytes", "bytearray", "list", "tuple", "dict", "set", "frozenset", "object"];

/// Writes None, or a class of the fixed list, as one; says no to everything else.
pub fn write_builtin<W: Writer>(encoder: &mut Encoder<'_, W>, object: &Bound<'_, PyAny>) -> Result<bool> {
    if object.is_none() {
        encoder.w.none();
        return Ok(true);
    }
    let builtins = object.py().import("builtins")?;
    for name in BUILTINS {
        if builtins.getattr(*name)?.is(object) {
            encoder.w.known(Known::BuiltinType);
            encoder.w.text(Text::Ascii(name.as_bytes()));
            return Ok(true);
        }
    }
    Ok(false)
}

pub fn builtin<'py>(py: Python<'py>, parts: &[Bound<'py, PyAny>]) -> PyResult<Bound<'py, PyAny>> {
    let [name] = parts else { return Err(PyValueError::new_err("another count of values")) };
    let name: String = name.extract()?;
    if !BUILTINS.contains(&name.as_str()) {
        return Err(PyValueError::new_err("a class that is not of the list"));
    }
    py.import("builtins")?.getattr(name.as_str())
}

/// Trusted messages: what a module has under a qualified name.
pub fn find<'i, R: Reader<'i>>(_decoder: &mut Decoder<'i, R>, _parts: &[Owned], at: usize) -> Result<Owned> {
    Err(decode("todo", at))
}

/// Trusted messages: what the caller's hook gives for an id.
pub fn persistent<'i, R: Reader<'i>>(_decoder: &mut Decoder<'i, R>, _parts: &[Owned], at: usize) -> Result<Owned> {
    Err(decode("todo", at))
}

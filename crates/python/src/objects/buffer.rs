//! Blocks of bytes that others own: memoryview (as its bytes), PickleBuffer, array.array; and out-of-band buffers.

use super::owned;
use crate::cpython::Owned;
use crate::decode::Decoder;
use crate::encode::{Encoder, Part};
use crate::error::{decode, Result};
use holdall_format::model::Known;
use holdall_format::{Reader, Writer};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyString};

/// A memoryview as its bytes; a PickleBuffer out of band where there is a list for it, else as bytes or bytearray.
pub fn encode<W: Writer>(encoder: &mut Encoder<'_, W>, object: &Bound<'_, PyAny>) -> Result<()> {
    let py = object.py();
    let view = py.import("builtins")?.getattr("memoryview")?.call1((object,))?;
    let readonly = view.getattr("readonly")?.is_truthy()?;
    let is_view = object.is_instance_of::<pyo3::types::PyMemoryView>();
    if !is_view && out_of_band(encoder, object, readonly)? {
        return Ok(());
    }
    let bytes = view.call_method0("tobytes")?;
    let bytes = bytes.cast::<PyBytes>().map_err(PyErr::from)?;
    if is_view || readonly {
        encoder.w.bytes(bytes.as_bytes());
    } else {
        encoder.w.bytearray(bytes.as_bytes());
    }
    Ok(())
}

/// Gives a buffer to the caller's list, and writes its number; says no where there is no list, or it declines.
pub fn out_of_band<W: Writer>(encoder: &mut Encoder<'_, W>, buffer: &Bound<'_, PyAny>, readonly: bool) -> Result<bool> {
    let Some(list) = encoder.buffers.clone() else { return Ok(false) };
    let py = buffer.py();
    // SAFETY: held.
    let list = unsafe { Bound::from_borrowed_ptr(py, list.get()) };
    if list.is_callable() {
        // As pickle's `buffer_callback`: a true answer means "keep it in band".
        if list.call1((buffer,))?.is_truthy()? {
            return Ok(false);
        }
    } else {
        list.call_method1("append", (buffer,))?;
    }
    encoder.w.buffer(encoder.buffer_count, readonly);
    encoder.buffer_count += 1;
    Ok(true)
}

/// The next out-of-band buffer, as the loader's caller gave it; read-only if it was.
pub fn take<'i, R: Reader<'i>>(decoder: &mut Decoder<'i, R>, number: u64, readonly: bool, at: usize) -> Result<Owned> {
    let py = decoder.py;
    let Some(buffers) = &decoder.buffers else {
        return Err(decode("the message was stored with buffers out of band: load it with `buffers=`", at));
    };
    if number != decoder.buffer_count {
        return Err(decode("an out-of-band buffer out of order", at));
    }
    decoder.buffer_count += 1;
    // SAFETY: held.
    let mut buffers = unsafe { Bound::from_borrowed_ptr(py, buffers.get()) }.try_iter()?;
    let Some(given) = buffers.next().transpose()? else {
        return Err(decode(format_args!("out-of-band buffer {number} was not given"), at));
    };
    let buffer = owned(&given);
    if !readonly {
        return Ok(buffer);
    }
    let view = py.import("builtins")?.getattr("memoryview")?.call1((&given,))?;
    if view.getattr("readonly")?.is_truthy()? {
        return Ok(buffer);
    }
    Ok(owned(&view.call_method0("toreadonly")?))
}

pub fn encode_array<W: Writer>(encoder: &mut Encoder<'_, W>, object: &Bound<'_, PyAny>) -> Result<()> {
    let code: String = object.getattr("typecode")?.extract()?;
    encoder.w.known(Known::Array);
    let mut parts = vec![Part::Value(owned(PyString::new(object.py(), &code).as_any()))];
    if code == "u" || code == "w" {
        // Wide characters: their width is the platform's.
        parts.push(Part::Value(owned(&object.call_method0("tounicode")?)));
    } else {
        parts.push(Part::Value(owned(&little(object)?.call_method0("tobytes")?)));
    }
    encoder.then(parts);
    Ok(())
}

/// The array with its items in little-endian order, which is this machine's almost always.
fn little<'py>(array: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
    if cfg!(target_endian = "little") {
        return Ok(array.clone());
    }
    let copy = array.py().import("copy")?.getattr("copy")?.call1((array,))?;
    copy.call_method0("byteswap")?;
    Ok(copy)
}

/// Item sizes in a message: those of Linux and macOS, where a C long is 8 bytes.
fn stored_size(code: &str) -> Option<usize> {
    Some(match code {
        "b" | "B" => 1,
        "h" | "H" => 2,
        "i" | "I" | "f" => 4,
        "l" | "L" | "q" | "Q" | "d" => 8,
        _ => return None,
    })
}

pub fn build_array<'py>(py: Python<'py>, parts: &[Bound<'py, PyAny>]) -> PyResult<Bound<'py, PyAny>> {
    let [code, items] = parts else { return Err(PyValueError::new_err("another count of values")) };
    let code: String = code.extract()?;
    let class = py.import("array")?.getattr("array")?;
    if code == "u" || code == "w" {
        return class.call1((code, items.cast::<PyString>()?));
    }
    let items = items.cast::<PyBytes>()?;
    let array = class.call1((&code,))?;
    let here: usize = array.getattr("itemsize")?.extract()?;
    if stored_size(&code) != Some(here) {
        return Err(PyValueError::new_err("items of another size on this platform"));
    }
    array.call_method1("frombytes", (items,))?;
    little(&array)
}

//! Blocks of bytes: memoryview (stored as its bytes), PickleBuffer, array.array; and out-of-band buffers.

use crate::cpython::owned;
use crate::cpython::{empty_bytearray, empty_bytes, Obj, Owned, View};
use crate::error::{decode, raised, Asked, Result};
use crate::memory::vec;
use crate::types::library::Library;
use crate::types::out_of_band::BufferSink;
use crate::types::walker::{TypeWalker, WorkItem};
use holdall_format::model::{KnownType, OutOfBand, Text, TypeWriter};
use holdall_format::Writer;
use pyo3::exceptions::PyValueError;
use pyo3::ffi;
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyMemoryView, PyString};
use std::ffi::c_long;

/// The source of a message's out-of-band buffers.
pub enum Lender<'i> {
    /// An iterator from the caller of the load, and how many buffers it has given.
    Given(Owned, u64),
    File(&'i mut dyn Source),
}

/// Charges memory, for which the message has no bytes, to the bounds of a load.
pub type Charge<'a> = &'a mut dyn FnMut(usize) -> Result<()>;

/// The buffers of a file.
pub trait Source {
    /// The buffer with that number as a view of the mapped file; `None` if it must be copied.
    fn view(&mut self, py: Python<'_>, number: u64, out_of_band: OutOfBand, at: usize) -> Result<Option<Owned>>;
    /// The size of the buffer with that number. The buffers of a stream come in order.
    fn len(&mut self, py: Python<'_>, number: u64, at: usize) -> Result<usize>;
    /// Reads the buffer whose size was asked for last.
    fn fill(&mut self, py: Python<'_>, to: &mut [u8]) -> Result<()>;
}

/// Sends a buffer to the file of the message.
pub fn send<'py, E: TypeWalker<'py>>(encoder: &mut E, view: View, out_of_band: OutOfBand) {
    let number = encoder.buffers().next();
    encoder.w().buffer(number, out_of_band);
    if let Some(BufferSink::File(views)) = &mut encoder.buffers().to {
        views.push(view);
    }
}

/// The same for bytes or a bytearray, if they are large and there is a file.
///
/// # Safety
/// `object` is alive.
#[inline(always)]
pub unsafe fn send_bytes<'py, E: TypeWalker<'py>>(
    encoder: &mut E,
    object: Obj,
    len: usize,
    out_of_band: OutOfBand,
) -> Result<bool> {
    if !encoder.buffers().sends(len) {
        return Ok(false);
    }
    // SAFETY: `object` is alive by contract, and the view holds it.
    let view = View::new(unsafe { &Bound::from_borrowed_ptr(encoder.py(), object) })?;
    send(encoder, view, out_of_band);
    Ok(true)
}

/// Writes a memoryview as its bytes; a PickleBuffer out of band if the user collects buffers, else as bytes or
/// bytearray.
pub fn encode<'py, E: TypeWalker<'py>>(encoder: &mut E, object: &Bound<'_, PyAny>) -> Result<()> {
    let is_view = object.is_instance_of::<PyMemoryView>();
    if is_view {
        if let Some(whole) = View::new(object).if_taken()? {
            match encoder.buffers().sends(whole.len()) {
                true => send(encoder, whole, OutOfBand::Bytes),
                false => encoder.w().bytes(whole.as_slice()),
            }
            return Ok(());
        }
    }
    let view = PyMemoryView::from(object)?;
    let readonly = view.getattr(intern!(object.py(), "readonly"))?.is_truthy()?;
    if !is_view && out_of_band(encoder, object, readonly)? {
        return Ok(());
    }
    let as_bytes = is_view || readonly;
    if let Some(whole) = View::new(object).if_taken()? {
        if encoder.buffers().sends(whole.len()) {
            send(encoder, whole, if as_bytes { OutOfBand::Bytes } else { OutOfBand::ByteArray });
        } else if as_bytes {
            encoder.w().bytes(whole.as_slice());
        } else {
            encoder.w().bytearray(whole.as_slice());
        }
        return Ok(());
    }
    let bytes = view.call_method0(intern!(view.py(), "tobytes"))?;
    let bytes = bytes.cast::<PyBytes>().map_err(PyErr::from)?;
    if as_bytes {
        encoder.w().bytes(bytes.as_bytes());
    } else {
        encoder.w().bytearray(bytes.as_bytes());
    }
    Ok(())
}

/// Passes a buffer to the user's list and writes its number. `false`: there is no list, or the user's function
/// declines.
pub fn out_of_band<'py, E: TypeWalker<'py>>(
    encoder: &mut E,
    buffer: &Bound<'_, PyAny>,
    readonly: bool,
) -> Result<bool> {
    let Some(BufferSink::Given(list)) = &encoder.buffers().to else { return Ok(false) };
    let list = list.clone();
    let py = buffer.py();
    // SAFETY: the encoder holds the list.
    let list = unsafe { Bound::from_borrowed_ptr(py, list.get()) };
    if list.is_callable() {
        // It must be called once for each buffer, even if the message is begun again.
        encoder.asks_program()?;
        // As for pickle's `buffer_callback`, a true result means "keep it in band".
        if list.call1((buffer,))?.is_truthy()? {
            return Ok(false);
        }
    } else {
        list.call_method1("append", (buffer,))?;
    }
    let number = encoder.buffers().next();
    encoder.w().buffer(number, if readonly { OutOfBand::ReadOnly } else { OutOfBand::Writable });
    Ok(true)
}

/// The token of an out-of-band buffer: its number, what it stands for, and the token's offset.
#[derive(Debug, Clone, Copy)]
pub struct BufferToken {
    pub number: u64,
    pub out_of_band: OutOfBand,
    pub at: usize,
}

/// The buffer of a token.
pub fn take(py: Python<'_>, lender: &mut Option<Lender<'_>>, charge: Charge<'_>, token: BufferToken) -> Result<Owned> {
    let BufferToken { number, out_of_band, at } = token;
    match lender {
        None => Err(decode("the message was stored with buffers out of band: load it with `buffers=`", at)),
        Some(Lender::Given(buffers, count)) => {
            if number != *count {
                *lender = None;
                return Err(decode("an out-of-band buffer out of order", at));
            }
            *count += 1;
            next_given(py, buffers, number, out_of_band, at)
        }
        Some(Lender::File(source)) => from_file(py, *source, charge, token),
    }
}

/// The next out-of-band buffer from the caller of the load; read-only if it was.
fn next_given(py: Python<'_>, buffers: &Owned, number: u64, out_of_band: OutOfBand, at: usize) -> Result<Owned> {
    // SAFETY: the lender holds the iterator.
    let mut buffers = unsafe { Bound::from_borrowed_ptr(py, buffers.get()) }.try_iter()?;
    let Some(given) = buffers.next().transpose()? else {
        return Err(decode(format_args!("out-of-band buffer {number} was not given"), at));
    };
    let buffer = owned(&given);
    match out_of_band {
        OutOfBand::Writable => return Ok(buffer),
        OutOfBand::ReadOnly => {}
        OutOfBand::Bytes | OutOfBand::ByteArray => return Err(decode("bytes that stand outside their message", at)),
    }
    let view = py.import("builtins")?.getattr("memoryview")?.call1((&given,))?;
    if view.getattr(intern!(view.py(), "readonly"))?.is_truthy()? {
        return Ok(buffer);
    }
    Ok(owned(&view.call_method0(intern!(view.py(), "toreadonly"))?))
}

fn from_file(py: Python<'_>, source: &mut dyn Source, charge: Charge<'_>, token: BufferToken) -> Result<Owned> {
    let BufferToken { number, out_of_band, at } = token;
    if let Some(view) = source.view(py, number, out_of_band, at)? {
        return Ok(view);
    }
    let len = source.len(py, number, at)?;
    charge(len)?;
    // SAFETY: the object is new, has `len` bytes and is held by `made`; nobody else has seen it, and the GIL is held.
    unsafe {
        let (made, data) = if out_of_band == OutOfBand::Bytes {
            let made = empty_bytes(len).ok_or_else(raised)?;
            let data = ffi::PyBytes_AS_STRING(made.get()).cast_mut();
            (made, data)
        } else {
            let made = empty_bytearray(len).ok_or_else(raised)?;
            let data = ffi::PyByteArray_AsString(made.get());
            (made, data)
        };
        source.fill(py, std::slice::from_raw_parts_mut(data.cast(), len))?;
        Ok(made)
    }
}

/// Skips an unused buffer. Buffers come in order, so one from the caller is taken all the same.
pub fn pass(py: Python<'_>, lender: &mut Option<Lender<'_>>, charge: Charge<'_>, token: BufferToken) -> Result<()> {
    match lender {
        Some(Lender::File(_)) => Ok(()),
        _ => take(py, lender, charge, token).map(drop),
    }
}

pub fn encode_array<'py, E: TypeWalker<'py>>(encoder: &mut E, object: &Bound<'_, PyAny>) -> Result<()> {
    let code = object.getattr(intern!(object.py(), "typecode"))?.cast_into::<PyString>().map_err(PyErr::from)?;
    encoder.w().known(KnownType::PythonArray);
    if cfg!(target_endian = "little") && encoder.writes_at_once() {
        let name = code.to_str()?;
        if !matches!(name, "u" | "w") && stored_code(name) == name {
            let items = View::new(object)?;
            encoder.w().text(Text::Ascii(name.as_bytes()));
            match encoder.buffers().sends(items.len()) {
                true => send(encoder, items, OutOfBand::Bytes),
                false => encoder.w().bytes(items.as_slice()),
            }
            return Ok(());
        }
    }
    let mut parts = vec![WorkItem::Value(owned(code.as_any()))];
    let code = code.to_str()?;
    if code == "u" || code == "w" {
        // Wide characters, whose size depends on the platform.
        parts.push(WorkItem::Value(owned(&object.call_method0(intern!(object.py(), "tounicode"))?)));
    } else {
        let items = match stored_code(code) {
            same if same == code => little(object)?,
            wide => little(&Library::Array.get(object.py())?.call1((wide, object))?)?,
        };
        // A memoryview is written as its bytes, directly from the array's memory.
        parts.push(WorkItem::Value(owned(PyMemoryView::from(&items)?.as_any())));
    }
    encoder.then(parts);
    Ok(())
}

/// The array with its items in little-endian order, which nearly every machine uses.
fn little<'py>(array: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
    if cfg!(target_endian = "little") {
        return Ok(array.clone());
    }
    let copy = array.py().import("copy")?.getattr("copy")?.call1((array,))?;
    copy.call_method0(intern!(copy.py(), "byteswap"))?;
    Ok(copy)
}

/// The code here of items of the size that a message has for a code: a C long has 8 bytes there, but 4 on Windows.
fn stored_code(code: &str) -> &str {
    match code {
        "l" if size_of::<c_long>() != 8 => "q",
        "L" if size_of::<c_long>() != 8 => "Q",
        _ => code,
    }
}

/// Whether items of 8 bytes are C longs of 4, too.
fn all_long(code: &str, items: &[u8]) -> bool {
    items.chunks_exact(8).filter_map(|item| item.try_into().ok()).all(|item| match code {
        "l" => i32::try_from(i64::from_le_bytes(item)).is_ok(),
        _ => u32::try_from(u64::from_le_bytes(item)).is_ok(),
    })
}

/// Item sizes in a message are those of Linux and macOS, where a C long has 8 bytes.
fn stored_size(code: &str) -> Option<usize> {
    Some(match code {
        "b" | "B" => 1,
        "h" | "H" | "e" => 2,
        "i" | "I" | "f" => 4,
        "l" | "L" | "q" | "Q" | "d" | "Zf" => 8,
        "Zd" => 16,
        _ => return None,
    })
}

pub fn build_array<'py>(py: Python<'py>, parts: &[Bound<'py, PyAny>]) -> PyResult<Bound<'py, PyAny>> {
    let [code, items] = parts else { return Err(PyValueError::new_err("another count of values")) };
    let code = code.cast::<PyString>()?.to_str()?;
    let class = Library::Array.get(py)?;
    if code == "u" || code == "w" {
        return class.call1((code, items.cast::<PyString>()?));
    }
    if let Ok(view) = items.cast::<PyMemoryView>() {
        // A view of a mapped file.
        return match stored_size(code) {
            Some(_) => view.call_method1("cast", (stored_code(code),)),
            None => Err(PyValueError::new_err("items of another size on this platform")),
        };
    }
    let items = items.cast::<PyBytes>()?;
    if stored_size(code).is_none() {
        return Err(PyValueError::new_err("items of another size on this platform"));
    }
    let wide = stored_code(code);
    let array = little(&class.call1((wide, items))?)?;
    // What is no long here keeps its size, and loses the code.
    match wide != code && all_long(code, items.as_bytes()) {
        true => class.call1((code, array)),
        false => Ok(array),
    }
}

//! Blocks of bytes that others own: memoryview (as its bytes), PickleBuffer, array.array; and out-of-band buffers.

use crate::cpython::owned;
use crate::cpython::{new, Obj, Owned, View};
use crate::decode::Decoder;
use crate::encode::{Borrower, Encoder, Part};
use crate::error::{decode, raised, Asked, Result};
use crate::memory::vec;
use crate::types::numpy::{octets, Head};
use holdall_format::model::{KnownType, OutOfBand};
use holdall_format::{Reader, Writer};
use pyo3::exceptions::PyValueError;
use pyo3::ffi;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyString};

/// Smaller buffers stand in the message, where they cost least.
const LENT_FROM: usize = 1 << 12;

/// Where the buffers of a message come from.
pub enum Lender<'i> {
    /// The caller of the load gives them, one by one; and how many it has given.
    Given(Owned, u64),
    File(&'i mut dyn Source),
}

/// The buffers of a file.
pub trait Source {
    /// The buffer of that number as a view of memory that the file is mapped to; none where it has to be copied.
    fn view(&mut self, py: Python<'_>, number: u64, out_of_band: OutOfBand, at: usize) -> Result<Option<Owned>>;
    /// How many bytes the buffer of that number has. Those of a stream come in order.
    fn len(&mut self, py: Python<'_>, number: u64, at: usize) -> Result<usize>;
    /// Reads the buffer whose length was asked for last.
    fn fill(&mut self, py: Python<'_>, to: &mut [u8]) -> Result<()>;
}

/// Whether a buffer of so many bytes goes to the file beside the message.
pub fn is_lent<W: Writer>(encoder: &Encoder<'_, W>, len: usize) -> bool {
    len >= LENT_FROM && matches!(encoder.borrower, Some(Borrower::File(_)))
}

/// Leaves a buffer to the file that the message goes to.
pub fn lend<W: Writer>(encoder: &mut Encoder<'_, W>, view: View, out_of_band: OutOfBand) {
    encoder.w.buffer(encoder.buffer_count, out_of_band);
    encoder.buffer_count += 1;
    if let Some(Borrower::File(views)) = &mut encoder.borrower {
        views.push(view);
    }
}

/// The same of bytes or a bytearray, where they are large and there is a file.
///
/// # Safety
/// `object` is alive.
pub unsafe fn lend_bytes<W: Writer>(
    encoder: &mut Encoder<'_, W>,
    object: Obj,
    len: usize,
    out_of_band: OutOfBand,
) -> Result<bool> {
    if !W::TYPES || !is_lent(encoder, len) {
        return Ok(false);
    }
    // SAFETY: alive, says the caller.
    let view = View::new(unsafe { &Bound::from_borrowed_ptr(encoder.py, object) })?;
    lend(encoder, view, out_of_band);
    Ok(true)
}

/// A memoryview as its bytes; a PickleBuffer out of band where there is a list for it, else as bytes or bytearray.
pub fn encode<W: Writer>(encoder: &mut Encoder<'_, W>, object: &Bound<'_, PyAny>) -> Result<()> {
    let py = object.py();
    let view = py.import("builtins")?.getattr("memoryview")?.call1((object,))?;
    let readonly = view.getattr("readonly")?.is_truthy()?;
    let is_view = object.is_instance_of::<pyo3::types::PyMemoryView>();
    if !is_view && out_of_band(encoder, object, readonly)? {
        return Ok(());
    }
    let as_bytes = is_view || readonly;
    if let Some(whole) = View::new(object).if_taken()? {
        if is_lent(encoder, whole.len()) {
            lend(encoder, whole, if as_bytes { OutOfBand::Bytes } else { OutOfBand::ByteArray });
            return Ok(());
        }
    }
    let bytes = view.call_method0("tobytes")?;
    let bytes = bytes.cast::<PyBytes>().map_err(PyErr::from)?;
    if as_bytes {
        encoder.w.bytes(bytes.as_bytes());
    } else {
        encoder.w.bytearray(bytes.as_bytes());
    }
    Ok(())
}

/// Gives a buffer to the caller's list, and writes its number; says no where there is no list, or it declines.
pub fn out_of_band<W: Writer>(encoder: &mut Encoder<'_, W>, buffer: &Bound<'_, PyAny>, readonly: bool) -> Result<bool> {
    let Some(Borrower::Given(list)) = &encoder.borrower else { return Ok(false) };
    let list = list.clone();
    let py = buffer.py();
    // SAFETY: held.
    let list = unsafe { Bound::from_borrowed_ptr(py, list.get()) };
    if list.is_callable() {
        // Called once for each buffer, also where the message has to be begun anew.
        encoder.asks_program()?;
        // As pickle's `buffer_callback`: a true answer means "keep it in band".
        if list.call1((buffer,))?.is_truthy()? {
            return Ok(false);
        }
    } else {
        list.call_method1("append", (buffer,))?;
    }
    encoder.w.buffer(encoder.buffer_count, if readonly { OutOfBand::ReadOnly } else { OutOfBand::Writable });
    encoder.buffer_count += 1;
    Ok(true)
}

/// What a buffer outside the message stands for.
pub fn take<'i, R: Reader<'i>>(
    decoder: &mut Decoder<'i, R>,
    number: u64,
    out_of_band: OutOfBand,
    at: usize,
) -> Result<Owned> {
    let py = decoder.py;
    match decoder.lender.take() {
        None => Err(decode("the message was stored with buffers out of band: load it with `buffers=`", at)),
        Some(Lender::Given(buffers, count)) => {
            if number != count {
                return Err(decode("an out-of-band buffer out of order", at));
            }
            let given = next_given(py, &buffers, number, out_of_band, at);
            decoder.lender = Some(Lender::Given(buffers, count + 1));
            given
        }
        Some(Lender::File(source)) => {
            let made = from_file(decoder, source, number, out_of_band, at);
            decoder.lender = Some(Lender::File(source));
            made
        }
    }
}

/// The next out-of-band buffer, as the loader's caller gave it; read-only if it was.
fn next_given(py: Python<'_>, buffers: &Owned, number: u64, out_of_band: OutOfBand, at: usize) -> Result<Owned> {
    // SAFETY: held.
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
    if view.getattr("readonly")?.is_truthy()? {
        return Ok(buffer);
    }
    Ok(owned(&view.call_method0("toreadonly")?))
}

fn from_file<'i, R: Reader<'i>>(
    decoder: &mut Decoder<'i, R>,
    source: &mut dyn Source,
    number: u64,
    out_of_band: OutOfBand,
    at: usize,
) -> Result<Owned> {
    let py = decoder.py;
    if let Some(view) = source.view(py, number, out_of_band, at)? {
        return Ok(view);
    }
    let len = source.len(py, number, at)?;
    decoder.charge_given(len)?;
    // SAFETY: the objects are new and hold `len` bytes, which nobody else has seen; the GIL is held.
    unsafe {
        let (made, data) = if out_of_band == OutOfBand::Bytes {
            let made = Owned::new(ffi::PyBytes_FromStringAndSize(std::ptr::null(), len as isize)).ok_or_else(raised)?;
            let data = ffi::PyBytes_AS_STRING(made.get()).cast_mut();
            (made, data)
        } else {
            let made =
                Owned::new(ffi::PyByteArray_FromStringAndSize(std::ptr::null(), len as isize)).ok_or_else(raised)?;
            let data = ffi::PyByteArray_AsString(made.get());
            (made, data)
        };
        source.fill(py, std::slice::from_raw_parts_mut(data.cast(), len))?;
        Ok(made)
    }
}

/// An array whose items stand outside the message.
pub fn array<'i, R: Reader<'i>>(
    decoder: &mut Decoder<'i, R>,
    head: &Head,
    number: u64,
    out_of_band: OutOfBand,
    at: usize,
) -> Result<Owned> {
    let py = decoder.py;
    if matches!(decoder.lender, Some(Lender::File(_))) {
        let Some(Lender::File(source)) = decoder.lender.take() else { return Err(decode("no file", at)) };
        let made = (|| {
            if let Some(view) = source.view(py, number, out_of_band, at)? {
                // An array of a memoryview would not keep its memory in place.
                // SAFETY: held.
                let octets = octets(unsafe { &Bound::from_borrowed_ptr(py, view.get()) })?;
                return head.of_buffer(py, octets.as_ref().unwrap_or(&view), at);
            }
            let len = source.len(py, number, at)?;
            decoder.charge_given(len)?;
            head.of_source(py, len, |to| source.fill(py, to), at)
        })();
        decoder.lender = Some(Lender::File(source));
        return made;
    }
    let buffer = take(decoder, number, out_of_band, at)?;
    head.of_buffer(py, &buffer, at)
}

/// Passes over a buffer that nobody asked for. They come in order: that of a caller is taken nevertheless.
pub fn pass<'i, R: Reader<'i>>(
    decoder: &mut Decoder<'i, R>,
    number: u64,
    out_of_band: OutOfBand,
    at: usize,
) -> Result<()> {
    match decoder.lender {
        Some(Lender::File(_)) => Ok(()),
        _ => take(decoder, number, out_of_band, at).map(drop),
    }
}

pub fn encode_array<W: Writer>(encoder: &mut Encoder<'_, W>, object: &Bound<'_, PyAny>) -> Result<()> {
    let code: String = object.getattr("typecode")?.extract()?;
    encoder.w.known(KnownType::PythonArray);
    let mut parts = vec![Part::Value(owned(new::text(object.py(), &code)?.as_any()))];
    if code == "u" || code == "w" {
        // Wide characters: their width is the platform's.
        parts.push(Part::Value(owned(&object.call_method0("tounicode")?)));
    } else {
        let items = little(object)?;
        // A memoryview is written as its bytes: straight from the array's memory.
        parts.push(Part::Value(owned(pyo3::types::PyMemoryView::from(&items)?.as_any())));
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
    if let Ok(view) = items.cast::<pyo3::types::PyMemoryView>() {
        // Of a file that is mapped.
        return match stored_size(&code) {
            Some(_) => view.call_method1("cast", (&code,)),
            None => Err(PyValueError::new_err("items of another size on this platform")),
        };
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

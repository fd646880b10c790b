//! Types that are stored as their text: paths and network addresses; and UUIDs, which are stored as bytes.

use crate::cpython::{held, int, new, owned, text, Obj, Owned};
use crate::error::Result;
use crate::memory::Vec;
use crate::types::bson_values::classes::of_little;
use crate::types::library::{Library, Slots};
use crate::types::walker::{TypeWalker, WorkItem};
use crate::types::{network, path};
use holdall_format::model::{KnownType, TypeWriter};
use holdall_format::Writer;
use pyo3::exceptions::PyValueError;
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::{PyBytes, PyString};

pub fn encode<'py, E: TypeWalker<'py>>(encoder: &mut E, known: KnownType, object: &Bound<'_, PyAny>) -> Result<()> {
    encoder.w().known(known);
    if known == KnownType::Uuid {
        // SAFETY: the `Bound` holds it, and proves that the GIL is held.
        if let Some(bytes) = unsafe { usual_uuid(object.py(), object.as_ptr()) } {
            encoder.w().bytes(&bytes);
            return Ok(());
        }
        let mut bytes = match uuid_bytes(object)? {
            Some(bytes) => Vec::from(&bytes[..]),
            None => Vec::from(
                object.getattr(intern!(object.py(), "bytes"))?.cast::<PyBytes>().map_err(PyErr::from)?.as_bytes(),
            ),
        };
        let safety = object.getattr(intern!(object.py(), "is_safe"))?;
        // Whether the system made it safely for several processes: 0 or -1, or None if unknown.
        if !safety.is(unknown(object.py())?) {
            if let Some(safety) = safety.getattr(intern!(object.py(), "value"))?.extract::<Option<i8>>()? {
                bytes.push(safety as u8);
            }
        }
        encoder.w().bytes(&bytes);
        return Ok(());
    }
    if let Some(text) = network::text_of(known, object)? {
        return encoder.text_once(&text);
    }
    let text = match class_of(known).map(|class| path::known_text(object, class)).transpose()?.flatten() {
        Some(kept) => kept,
        None => object.str()?,
    };
    // Whether a path keeps its text is not part of the graph: who else holds that makes no difference.
    // SAFETY: `text` holds its characters.
    let ascii = unsafe { text::ascii(text.as_ptr()) }.and_then(|ascii| std::str::from_utf8(ascii).ok());
    match ascii {
        Some(ascii) if encoder.writes_at_once() => encoder.text_once(ascii)?,
        _ => encoder.then([WorkItem::Value(owned(text.as_any()))]),
    }
    Ok(())
}

pub fn build<'py>(py: Python<'py>, known: KnownType, parts: &[Bound<'py, PyAny>]) -> PyResult<Bound<'py, PyAny>> {
    let [part] = parts else { return Err(PyValueError::new_err("another count of values")) };
    if known == KnownType::Uuid {
        let bytes = part.cast::<PyBytes>()?.as_bytes();
        if let Ok(bytes) = bytes.try_into() {
            return uuid(py, bytes).map(|made| held(py, &made)).map_err(|fault| fault.into_py(0));
        }
        return uuid_of(py, bytes);
    }
    let text = part.cast::<PyString>()?;
    let Some(class) = class_of(known) else { return Err(PyValueError::new_err("no text of its own")) };
    let quick = match known {
        KnownType::IPv4Address | KnownType::IPv6Address => network::address(py, known, text),
        KnownType::IPv4Network | KnownType::IPv6Network => network::of_text(py, class, text),
        _ => path::of_text(py, class, text),
    };
    match quick.map_err(|fault| fault.into_py(0))? {
        Some(made) => Ok(held(py, &made)),
        None => class.get(py)?.call1((text,)),
    }
}

/// The class of what is stored as text.
fn class_of(known: KnownType) -> Option<Library> {
    Some(match known {
        KnownType::PurePosixPath => Library::PurePosixPath,
        KnownType::PureWindowsPath => Library::PureWindowsPath,
        // A path of another system can't be made here; its pure form has the same content.
        KnownType::PosixPath if cfg!(windows) => Library::PurePosixPath,
        KnownType::PosixPath => Library::PosixPath,
        KnownType::WindowsPath if cfg!(windows) => Library::WindowsPath,
        KnownType::WindowsPath => Library::PureWindowsPath,
        KnownType::IPv4Address => Library::IPv4Address,
        KnownType::IPv6Address => Library::IPv6Address,
        KnownType::IPv4Network => Library::IPv4Network,
        KnownType::IPv6Network => Library::IPv6Network,
        KnownType::IPv4Interface => Library::IPv4Interface,
        KnownType::IPv6Interface => Library::IPv6Interface,
        _ => return None,
    })
}

static UUID: Slots<2> = Slots::new(|py| Library::Uuid.get(py), [b"int", b"is_safe"]);
/// A UUID of which nobody knows how it was made.
pub fn uuid(py: Python<'_>, bytes: &[u8; 16]) -> Result<Owned> {
    let mut little = *bytes;
    little.reverse();
    match UUID.make(py, [of_little(&little)?, owned(unknown(py)?)])? {
        Some(made) => Ok(made),
        None => Ok(owned(&uuid_of(py, bytes)?)),
    }
}

static UNKNOWN: PyOnceLock<Py<PyAny>> = PyOnceLock::new();

/// The same, once the class is known: then no code of Python's runs.
pub fn quick_uuid(py: Python<'_>, bytes: &[u8; 16]) -> Option<Owned> {
    let mut little = *bytes;
    little.reverse();
    let unknown = UNKNOWN.get(py)?;
    UUID.make_known(py, || Some([of_little(&little).ok()?, owned(unknown.bind(py))]))
}

/// What most UUIDs say of how they were made.
fn unknown(py: Python<'_>) -> PyResult<&Bound<'_, PyAny>> {
    let find = || PyResult::Ok(Library::SafeUuid.get(py)?.getattr("unknown")?.unbind());
    Ok(UNKNOWN.get_or_try_init(py, find)?.bind(py))
}

/// A UUID by its constructor; a 17th byte says whether the system made it safely.
fn uuid_of<'py>(py: Python<'py>, mut bytes: &[u8]) -> PyResult<Bound<'py, PyAny>> {
    let keywords = new::dict(py)?;
    if let [number @ .., safety] = bytes {
        if number.len() == 16 {
            keywords.set_item("is_safe", Library::SafeUuid.get(py)?.call1((*safety as i8,))?)?;
            bytes = number;
        }
    }
    keywords.set_item("bytes", new::bytes(py, bytes)?)?;
    Library::Uuid.get(py)?.call((), Some(&keywords))
}

/// The bytes of a `UUID`, if they can be read without its own code.
pub fn uuid_bytes(object: &Bound<'_, PyAny>) -> Result<Option<[u8; 16]>> {
    let Some([number, _]) = UUID.read(object)? else { return Ok(None) };
    // SAFETY: the instance holds `number`.
    Ok(unsafe { int::unsigned(number) }.map(u128::to_be_bytes))
}

/// The bytes of a UUID of which nobody knows how it was made, as long as that is known without any code of its own.
///
/// # Safety
/// `object` is alive, and the GIL held.
pub unsafe fn usual_uuid(py: Python<'_>, object: Obj) -> Option<[u8; 16]> {
    // SAFETY: by the contract.
    let [number, safety] = unsafe { UUID.read_known(py, object)? };
    if UNKNOWN.get(py)?.as_ptr() != safety {
        return None;
    }
    // SAFETY: the instance holds `number`.
    unsafe { int::unsigned(number) }.map(u128::to_be_bytes)
}

/// A UUID's text, as `str` gives it: ASCII.
pub fn uuid_text(bytes: &[u8; 16]) -> [u8; 36] {
    let mut text = [b'-'; 36];
    let mut digits = bytes.iter().flat_map(|byte| [byte >> 4, byte & 15]);
    for (at, place) in text.iter_mut().enumerate() {
        if !matches!(at, 8 | 13 | 18 | 23) {
            *place = digits.next().map_or(b'0', |digit| b"0123456789abcdef"[usize::from(digit)]);
        }
    }
    text
}

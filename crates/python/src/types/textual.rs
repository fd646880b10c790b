//! Types that are stored as their text: paths and network addresses; and UUIDs, which are stored as bytes.

use crate::cpython::{held, int, new, owned, text, Obj, Owned};
use crate::error::Result;
use crate::memory::{format, vec, Vec};
use crate::types::bson_values::classes::of_little;
use crate::types::library::{Library, Slots};
use crate::types::walker::{TypeWalker, WorkItem};
use holdall_format::model::{KnownType, TypeWriter};
use holdall_format::Writer;
use pyo3::exceptions::PyValueError;
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::{PyBytes, PyString};
use std::net::{Ipv4Addr, Ipv6Addr};

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
    if known == KnownType::IPv4Address {
        if let Some([number]) = IPV4.read(object)? {
            // SAFETY: the instance holds what is in its slot, whose type is checked first.
            let number = unsafe { int::is(number).then(|| int::value(number)).flatten() };
            if let Some(number) = number.and_then(|number| u32::try_from(number).ok()) {
                return encoder.text_once(&format!("{}", Ipv4Addr::from(number)));
            }
        }
    }
    if known == KnownType::IPv4Network {
        if let Some(text) = network_text(object)? {
            return encoder.text_once(&text);
        }
    }
    if known == KnownType::IPv6Address {
        if let Some([number, scope]) = IPV6.read(object)? {
            // SAFETY: the instance holds what is in its slots.
            let number = unsafe { unsigned(number) }.filter(|_| held_none(scope));
            if let Some(number) = number {
                return encoder.text_once(&ipv6_text(number));
            }
        }
    }
    encoder.then(vec![WorkItem::Value(owned(object.str()?.as_any()))]);
    Ok(())
}

/// A network of version 4 as Python writes it, if its parts are the usual ones.
fn network_text(object: &Bound<'_, PyAny>) -> Result<Option<String>> {
    let py = object.py();
    let (address, prefix) =
        (object.getattr(intern!(py, "network_address"))?, object.getattr(intern!(py, "_prefixlen"))?);
    let Some([number]) = IPV4.read(&address)? else { return Ok(None) };
    // SAFETY: the instances hold both, whose types are checked first.
    let exact = |object: Obj| unsafe { int::is(object).then(|| int::value(object)).flatten() };
    Ok(match (exact(number).map(u32::try_from), exact(prefix.as_ptr())) {
        (Some(Ok(number)), Some(prefix @ 0..=32)) => Some(format!("{}/{prefix}", Ipv4Addr::from(number))),
        _ => None,
    })
}

fn held_none(object: Obj) -> bool {
    // SAFETY: the singleton lives as long as the interpreter; only addresses are compared.
    object == unsafe { pyo3::ffi::Py_None() }
}

/// An address as Python writes it up to 3.12. Since then it writes those that stand for one of version 4 in another way, and so does
/// Rust; equal messages need one way.
fn ipv6_text(number: u128) -> String {
    match number >> 32 {
        0xffff => format!("::ffff:{:x}:{:x}", number >> 16 & 0xffff, number & 0xffff),
        _ => format!("{}", Ipv6Addr::from(number)),
    }
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
    let class = match known {
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
        _ => return Err(PyValueError::new_err("no text of its own")),
    };
    match address(py, known, text).map_err(|fault| fault.into_py(0))? {
        Some(made) => Ok(held(py, &made)),
        None => class.get(py)?.call1((text,)),
    }
}

static UUID: Slots<2> = Slots::new(|py| Library::Uuid.get(py), [b"int", b"is_safe"]);
static IPV4: Slots<1> = Slots::new(|py| Library::IPv4Address.get(py), [b"_ip"]);
static IPV6: Slots<2> = Slots::new(|py| Library::IPv6Address.get(py), [b"_ip", b"_scope_id"]);

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
    Ok(unsafe { unsigned(number) }.map(u128::to_be_bytes))
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
    unsafe { unsigned(number) }.map(u128::to_be_bytes)
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

/// The value of an unsigned int of up to 128 bits.
///
/// # Safety
/// `object` is alive.
unsafe fn unsigned(object: Obj) -> Option<u128> {
    let mut block = [0; int::FEW_BYTES];
    // SAFETY: `object` is alive by contract, and its type is checked first.
    let little = unsafe { int::is(object).then(|| int::few_bytes(object, &mut block)).flatten() }?;
    // Without a sign there may be one byte more; leading zeros are left out.
    let (number, sign) = little.split_at(little.len().min(16));
    if little.last().is_some_and(|&highest| highest >= 0x80) || sign.iter().any(|&byte| byte != 0) || sign.len() > 1 {
        return None;
    }
    let mut whole = [0; 16];
    whole[..number.len()].copy_from_slice(number);
    Some(u128::from_le_bytes(whole))
}

/// An address in its usual form. `None`: any other form, which the class itself may know.
fn address(py: Python<'_>, known: KnownType, text: &Bound<'_, PyString>) -> Result<Option<Owned>> {
    if !matches!(known, KnownType::IPv4Address | KnownType::IPv6Address) {
        return Ok(None);
    }
    // SAFETY: `text` holds its characters.
    let Some(text) = (unsafe { text::ascii(text.as_ptr()) }).and_then(|text| std::str::from_utf8(text).ok()) else {
        return Ok(None);
    };
    Ok(match known {
        KnownType::IPv4Address => match text.parse::<Ipv4Addr>() {
            Ok(address) => IPV4.make(py, [of_little(&u32::from(address).to_le_bytes())?])?,
            Err(_) => None,
        },
        _ => match text.parse::<Ipv6Addr>() {
            Ok(address) => {
                IPV6.make(py, [of_little(&u128::from(address).to_le_bytes())?, owned(&py.None().into_bound(py))])?
            }
            Err(_) => None,
        },
    })
}

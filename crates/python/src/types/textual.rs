//! Types that are stored as their text: paths and network addresses; and UUIDs, which are stored as bytes.

use crate::cpython::new;
use crate::cpython::owned;
use crate::error::Result;
use crate::memory::{vec, Vec};
use crate::types::walker::{TypeWalker, WorkItem};
use holdall_format::model::{KnownType, TypeWriter};
use holdall_format::Writer;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyString};

pub fn encode<'py, E: TypeWalker<'py>>(encoder: &mut E, known: KnownType, object: &Bound<'_, PyAny>) -> Result<()> {
    encoder.w().known(known);
    if known == KnownType::Uuid {
        let bytes = object.getattr("bytes")?;
        let mut bytes = Vec::from(bytes.cast::<PyBytes>().map_err(PyErr::from)?.as_bytes());
        // Whether the system made it safely for several processes: 0 or -1, or None if unknown.
        if let Some(safety) = object.getattr("is_safe")?.getattr("value")?.extract::<Option<i8>>()? {
            bytes.push(safety as u8);
        }
        encoder.w().bytes(&bytes);
        return Ok(());
    }
    encoder.then(vec![WorkItem::Value(owned(object.str()?.as_any()))]);
    Ok(())
}

pub fn build<'py>(py: Python<'py>, known: KnownType, parts: &[Bound<'py, PyAny>]) -> PyResult<Bound<'py, PyAny>> {
    let [part] = parts else { return Err(PyValueError::new_err("another count of values")) };
    if known == KnownType::Uuid {
        let module = py.import("uuid")?;
        let keywords = new::dict(py)?;
        let mut bytes = part.cast::<PyBytes>()?.as_bytes();
        if let [number @ .., safety] = bytes {
            if number.len() == 16 {
                keywords.set_item("is_safe", module.getattr("SafeUUID")?.call1((*safety as i8,))?)?;
                bytes = number;
            }
        }
        keywords.set_item("bytes", new::bytes(py, bytes)?)?;
        return module.getattr("UUID")?.call((), Some(&keywords));
    }
    let text = part.cast::<PyString>()?;
    let (module, class) = match known {
        KnownType::PurePosixPath => ("pathlib", "PurePosixPath"),
        KnownType::PureWindowsPath => ("pathlib", "PureWindowsPath"),
        // A path of another system can't be made here; its pure form has the same content.
        KnownType::PosixPath if cfg!(windows) => ("pathlib", "PurePosixPath"),
        KnownType::PosixPath => ("pathlib", "PosixPath"),
        KnownType::WindowsPath if cfg!(windows) => ("pathlib", "WindowsPath"),
        KnownType::WindowsPath => ("pathlib", "PureWindowsPath"),
        KnownType::IPv4Address => ("ipaddress", "IPv4Address"),
        KnownType::IPv6Address => ("ipaddress", "IPv6Address"),
        KnownType::IPv4Network => ("ipaddress", "IPv4Network"),
        KnownType::IPv6Network => ("ipaddress", "IPv6Network"),
        KnownType::IPv4Interface => ("ipaddress", "IPv4Interface"),
        KnownType::IPv6Interface => ("ipaddress", "IPv6Interface"),
        _ => return Err(PyValueError::new_err("no text of its own")),
    };
    py.import(module)?.getattr(class)?.call1((text,))
}

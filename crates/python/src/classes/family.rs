//! Types with code of their own, each family in a file of `types/`: which class belongs to which family.

use crate::classes::numpy;
use crate::cpython::Type;
use crate::error::Result;
use holdall_format::model::KnownType;
use pyo3::ffi;
use pyo3::prelude::*;
use std::ptr::addr_of_mut;

/// A type with code of its own.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Family {
    Known(KnownType),
    DateTime,
    MemoryView,
    PickleBuffer,
    Record,
}

/// Module, name, family. A class belongs to the family only if it is the very object that the module has under the
/// name.
const NAMES: &[(&str, &str, Family)] = &[
    ("datetime", "datetime", Family::DateTime),
    ("datetime", "date", Family::Known(KnownType::Date)),
    ("datetime", "time", Family::Known(KnownType::Time)),
    ("datetime", "timedelta", Family::Known(KnownType::Timedelta)),
    ("datetime", "timezone", Family::Known(KnownType::Timezone)),
    ("zoneinfo", "ZoneInfo", Family::Known(KnownType::ZoneInfo)),
    ("decimal", "Decimal", Family::Known(KnownType::Decimal)),
    ("fractions", "Fraction", Family::Known(KnownType::Fraction)),
    ("uuid", "UUID", Family::Known(KnownType::Uuid)),
    ("pathlib", "PurePosixPath", Family::Known(KnownType::PurePosixPath)),
    ("pathlib", "PureWindowsPath", Family::Known(KnownType::PureWindowsPath)),
    ("pathlib", "PosixPath", Family::Known(KnownType::PosixPath)),
    ("pathlib", "WindowsPath", Family::Known(KnownType::WindowsPath)),
    ("ipaddress", "IPv4Address", Family::Known(KnownType::IPv4Address)),
    ("ipaddress", "IPv6Address", Family::Known(KnownType::IPv6Address)),
    ("ipaddress", "IPv4Network", Family::Known(KnownType::IPv4Network)),
    ("ipaddress", "IPv6Network", Family::Known(KnownType::IPv6Network)),
    ("ipaddress", "IPv4Interface", Family::Known(KnownType::IPv4Interface)),
    ("ipaddress", "IPv6Interface", Family::Known(KnownType::IPv6Interface)),
    ("re", "Pattern", Family::Known(KnownType::PythonPattern)),
    ("array", "array", Family::Known(KnownType::PythonArray)),
    ("collections", "deque", Family::Known(KnownType::PythonDeque)),
    ("collections", "OrderedDict", Family::Known(KnownType::PythonOrderedDict)),
    ("collections", "defaultdict", Family::Known(KnownType::PythonDefaultDict)),
    ("collections", "Counter", Family::Known(KnownType::PythonCounter)),
    ("pickle", "PickleBuffer", Family::PickleBuffer),
    ("holdall", "Record", Family::Record),
];

/// The family of a class, if it has one.
pub fn family_of(py: Python<'_>, class: Type, name: &str) -> Result<Option<Family>> {
    let statics = [
        (addr_of_mut!(ffi::PyRange_Type), Family::Known(KnownType::PythonRange)),
        (addr_of_mut!(ffi::PySlice_Type), Family::Known(KnownType::PythonSlice)),
        (addr_of_mut!(ffi::PyDictProxy_Type), Family::Known(KnownType::PythonMappingProxy)),
        (addr_of_mut!(ffi::PyMemoryView_Type), Family::MemoryView),
    ];
    if let Some((_, family)) = statics.iter().find(|(known, _)| *known == class) {
        return Ok(Some(*family));
    }
    let (module, last) = name.rsplit_once('.').unwrap_or(("", name));
    // Since 3.13, paths are in a module of their own, which their `__module__` names.
    let module = module.strip_suffix("._local").unwrap_or(module).trim_start_matches('_');
    for &(home, known, family) in NAMES {
        if known == last && home == module {
            let found = py.import(home)?.getattr(known)?;
            // The C API reads only datetimes that are implemented in C; a class of that name may be implemented in
            // Python.
            if found.as_ptr() == class.cast() && (home != "datetime" || is_of_c(class)) {
                return Ok(Some(family));
            }
        }
    }
    Ok(numpy::known_type(py, class)?.map(Family::Known))
}

/// Whether a class is one of those that the C API makes and reads.
fn is_of_c(class: Type) -> bool {
    // SAFETY: importing the module imported the datetime API.
    let api = unsafe { &*ffi::PyDateTimeAPI() };
    // SAFETY: the singleton lives as long as the interpreter.
    let timezone = unsafe { ffi::Py_TYPE(api.TimeZone_UTC) };
    [api.DateType, api.DateTimeType, api.TimeType, api.DeltaType, timezone].contains(&class)
}

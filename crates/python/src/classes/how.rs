//! How instances of a class are stored and made, judged by its bases, methods and names.

pub use crate::classes::base::Base;
use crate::classes::copyreg;
use crate::classes::family::{family_of, Family};
use crate::classes::marker::{marked, Marker};
use crate::classes::memory;
use crate::classes::memory::Memory;
use crate::classes::methods;
use crate::classes::methods::Own;
use crate::classes::registration::Registration;
use crate::cpython::class::{lookup, managed_dict};
use crate::cpython::{Owned, Type};
use crate::error::{raised, Result};
use crate::memory::Vec;
use pyo3::ffi;
use pyo3::prelude::*;
use pyo3::types::{PyString, PyType};
use std::ptr::addr_of_mut;

/// The one field of what is made empty and filled by registered functions.
pub const STATE: &str = "state";

/// How instances are stored and made.
#[derive(Debug)]
pub enum How {
    /// Slots and `__dict__` are all their state.
    Fields,
    /// A tuple whose items have names.
    NamedTuple(Vec<Owned>),
    /// A builtin's content, then slots and `__dict__`.
    Based(Base),
    /// A member of an enumeration.
    Enum,
    /// By the registered functions.
    Custom,
    /// A type with code of its own in `types/`.
    Family(Family),
    /// Stored as None: a cached value that is valid in one process only.
    Nothing,
    /// Not in an ordinary message; says why.
    Refused(String),
}

/// Classes written in Python that schemaless formats don't write as fields.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Special {
    Extension,
    Timestamp,
    /// Bytes that already are MessagePack.
    Encoded,
    /// The value of a field that is left out.
    Unset,
    Mapping,
    Sequence,
    Text,
    /// A class of a database's values.
    Database(Marker),
}

/// Classes written in Python that schemaless formats write in their own way: module, name, kind.
const SPECIALS: &[(&str, &str, Special)] = &[
    ("holdall._values", "Ext", Special::Extension),
    ("holdall._values", "Timestamp", Special::Timestamp),
    ("holdall._values", "Raw", Special::Encoded),
    ("msgspec", "Raw", Special::Encoded),
    ("holdall._values", "UnsetType", Special::Unset),
    ("msgspec", "UnsetType", Special::Unset),
    ("collections", "UserDict", Special::Mapping),
    ("collections", "ChainMap", Special::Mapping),
    ("collections", "UserList", Special::Sequence),
    ("collections", "UserString", Special::Text),
];

pub(super) fn special_of(class: &Bound<'_, PyType>) -> Result<Option<Special>> {
    let name = class.name()?;
    for (module, known, special) in SPECIALS {
        // The very object in that module, not just a class of the same name.
        if name == *known && memory::loaded(class.py(), module, known)?.is_some_and(|known| known.is(class)) {
            return Ok(Some(*special));
        }
    }
    Ok(marked(class.as_any())?.map(Special::Database))
}

/// Finds out how instances of a class are stored and made.
///
/// # Safety
/// `class` is alive.
pub(super) unsafe fn find_how(
    py: Python<'_>,
    class: Type,
    name: &str,
    memory: &Memory,
    own: &Own,
    registration: Option<&Registration>,
) -> Result<How> {
    if registration.is_some_and(|registration| registration.encode.is_some() && !registration.remaining) {
        return Ok(How::Custom);
    }
    if let Some(family) = family_of(py, class, name)? {
        return Ok(How::Family(family));
    }
    // SAFETY: `class` is alive by contract, and a class keeps its bases alive.
    unsafe {
        let bound = Bound::from_borrowed_ptr(py, class.cast()).cast_into_unchecked::<PyType>();
        let metaclass = ffi::Py_TYPE(class.cast());
        if ffi::PyType_IsSubtype(class, addr_of_mut!(ffi::PyType_Type)) != 0 {
            return Ok(How::Refused("a class is stored by reference only, which needs".into()));
        }
        if copyreg::has(&bound)? {
            return Ok(How::Refused("`copyreg` has a function for its class, which needs".into()));
        }
        let enum_type = py.import("enum")?.getattr("EnumMeta")?;
        if ffi::PyType_IsSubtype(metaclass, enum_type.as_ptr().cast()) != 0 {
            return Ok(match methods::is_usual_enum(py, class)? {
                true => How::Enum,
                false => How::Refused("its class defines `__reduce_ex__`, which needs".into()),
            });
        }
        if methods::is_kept_hash(py, class)? {
            return Ok(How::Nothing);
        }
        if let Some(own) = own.way {
            return Ok(How::Refused(format!("its class defines `{own}`, which needs")));
        }
        // Without a constructor only C code makes instances; msgspec's classes are called in another way.
        let makes_none = (*class).tp_new.is_none() && !memory::is_msgspec_struct(py, class)?;
        if memory.is_foreign || makes_none {
            return Ok(How::Refused("it holds state that only its own code can read, which needs".into()));
        }
        if memory.base == Some(Base::Tuple) && (*class).tp_dictoffset == 0 && !managed_dict(class) {
            if let Some(names) = named_fields(&bound)? {
                return Ok(How::NamedTuple(names));
            }
        }
        Ok(memory.base.map_or(How::Fields, How::Based))
    }
}

/// The names of a tuple's items, if its class defines some.
fn named_fields(class: &Bound<'_, PyType>) -> Result<Option<Vec<Owned>>> {
    // SAFETY: `class` holds itself and its attributes.
    let fields = unsafe { lookup(class.as_ptr().cast(), c"_fields") }.ok_or_else(raised)?;
    // SAFETY: null, or an attribute that the class holds while the `Bound` takes a reference.
    let fields = unsafe { Bound::from_borrowed_ptr_or_opt(class.py(), fields) };
    let Some(Ok(fields)) = fields.map(|fields| fields.cast_into::<pyo3::types::PyTuple>()) else { return Ok(None) };
    let mut names = Vec::new();
    for field in &fields {
        if !field.is_exact_instance_of::<PyString>() {
            return Ok(None);
        }
        let mut field = field.into_ptr();
        // SAFETY: `field` is a reference of ours to a string, which interning may exchange for an equal string.
        names.push(unsafe {
            ffi::PyUnicode_InternInPlace(&mut field);
            Owned::new(field).ok_or_else(raised)?
        });
    }
    Ok((!names.is_empty()).then_some(names))
}

//! One file per family of Python types: how it is written, and beside it how it is made again.

pub mod bson_values;
pub mod buffer;
pub mod collections;
pub mod constant;
pub mod datetime;
pub mod enumeration;
pub mod exception;
pub mod library;
pub mod network;
pub mod number;
pub mod numpy;
pub mod out_of_band;
pub mod path;
pub mod pattern;

pub mod record;

pub mod reduce;
pub mod reference;
pub mod resolver;
pub mod span;

pub mod struct_sequence;
pub mod textual;
pub mod upgrade;
pub mod walker;

pub use crate::classes::family::Family;

use crate::classes::how::Base;
use crate::cpython::{bytes_of, bytes_of_class, float, held, int, owned, Obj, Owned, Type};
use crate::error::{decode, encode as encode_error, raised, refused, Asked, Result};
use crate::memory::{FxHashMap, Vec};
use crate::state::{Name, StateSlot};
use crate::types::walker::TypeWalker;
use holdall_format::model::{KnownType, Text};
use pyo3::exceptions::PyValueError;
use pyo3::ffi;
use pyo3::prelude::*;
use std::cell::RefCell;
use std::ptr::addr_of_mut;

/// Writes an instance of a family, whose id was written.
///
/// # Safety
/// `object` is alive, and of that family.
pub unsafe fn encode<'py, E: TypeWalker<'py>>(encoder: &mut E, family: Family, object: Obj) -> Result<()> {
    // SAFETY: `object` is alive by contract.
    let bound = unsafe { Bound::from_borrowed_ptr(encoder.py(), object) };
    match family {
        Family::DateTime => datetime::encode(encoder, &bound),
        Family::MemoryView | Family::PickleBuffer => buffer::encode(encoder, &bound),
        Family::Record => record::encode(encoder, &bound),
        Family::Known(known) => match known {
            KnownType::Date
            | KnownType::Time
            | KnownType::Timedelta
            | KnownType::Utc
            | KnownType::Timezone
            | KnownType::ZoneInfo => datetime::encode_part(encoder, known, &bound),
            KnownType::Decimal | KnownType::Fraction => number::encode(encoder, known, &bound),
            KnownType::PythonPattern => pattern::encode(encoder, &bound),
            KnownType::PythonRange | KnownType::PythonSlice => span::encode(encoder, known, &bound),
            KnownType::PythonArray => buffer::encode_array(encoder, &bound),
            KnownType::PythonDeque
            | KnownType::PythonOrderedDict
            | KnownType::PythonDefaultDict
            | KnownType::PythonCounter
            | KnownType::PythonMappingProxy => collections::encode(encoder, known, &bound),
            KnownType::NumpyArray | KnownType::NumpyScalar | KnownType::NumpyDtype => {
                numpy::encode(encoder, known, &bound)
            }
            KnownType::PythonBuiltinType => Err(encode_error("a type out of place")),
            _ => textual::encode(encoder, known, &bound),
        },
    }
}

/// The cost of making an object beyond what its message pays for.
#[derive(Debug, Clone, Copy, Default)]
pub struct Cost {
    /// In units of work.
    pub work: usize,
    /// Memory in bytes.
    pub bytes: usize,
}

/// The cost of making an object of a known type. Usually it is far less than its bytes allow. But values may be
/// references of a byte or two, and what is made from them copies or computes.
pub fn cost(py: Python<'_>, known: KnownType, parts: &[Owned]) -> Result<Cost> {
    let extents = || parts.iter().map(extent);
    let whole: usize = extents().sum();
    Ok(match known {
        KnownType::PythonPattern => {
            let parts: Vec<Bound<'_, PyAny>> = parts.iter().map(|part| held(py, part)).collect();
            // A malformed pattern is reported when it is made.
            pattern::cost(&parts).if_taken()?.unwrap_or_default()
        }
        KnownType::ZoneInfo => datetime::zone_cost(py, parts),
        // These are reduced and divided digit by digit.
        KnownType::Fraction | KnownType::PythonRange => {
            let digits = |bytes: usize| 1 + bytes / 4;
            let mut product = extents().map(digits).fold((1, 1), |(first, second), digits| (second.max(first), digits));
            if known == KnownType::PythonRange {
                let step = parts.last().map_or(1, |step| digits(extent(step)));
                product = (digits(whole).saturating_sub(step), step.saturating_sub(1));
            }
            Cost { work: 50 + product.0.saturating_mul(product.1) / 4, bytes: 3 * whole }
        }
        // Each part of a path takes a place in a list, and perhaps Python code visits it. Where there are many, equal ones are interned.
        KnownType::PurePosixPath | KnownType::PureWindowsPath | KnownType::PosixPath | KnownType::WindowsPath => {
            let separators = parts.first().map_or(0, separators);
            let apart = 48 * separators.min(path::SEVERAL).min(whole / 3);
            Cost { work: 250 + whole / 8 + 40 * separators, bytes: 320 + whole / 2 + 16 * separators + apart }
        }
        KnownType::PythonArray => Cost { work: whole / 16, bytes: 64 + 4 * whole },
        KnownType::Decimal => Cost { work: 20 + whole / 2, bytes: 64 + whole },
        _ => Cost { work: whole / 16, bytes: 2 * whole },
    })
}

/// How many parts a path in this text may have.
fn separators(text: &Owned) -> usize {
    let is_one = |unit: u32| unit == u32::from(b'/') || unit == u32::from(b'\\');
    // SAFETY: the caller holds `text`; it is read as a string only if it is one.
    let parts = unsafe {
        if !crate::cpython::text::is(text.get()) {
            return 0;
        }
        crate::cpython::text::parts(text.get())
    };
    match parts {
        Some(Text::Ascii(units) | Text::Latin1(units) | Text::Utf8(units)) => {
            units.iter().filter(|unit| is_one(u32::from(**unit))).count()
        }
        Some(Text::Ucs2(units)) => units.iter().filter(|unit| is_one(u32::from(**unit))).count(),
        Some(Text::Ucs4(units)) => units.iter().filter(|unit| is_one(**unit)).count(),
        None => 0,
    }
}

/// The size of a value's content, if that is one block; for a tuple or list, of its slots.
pub fn extent(value: &Owned) -> usize {
    // SAFETY: the caller holds `value`; sizes are read by its type.
    unsafe {
        let object = value.get();
        let class = ffi::Py_TYPE(object);
        let size = || ffi::Py_SIZE(object).unsigned_abs();
        if crate::cpython::text::is(object) {
            crate::cpython::text::extent(object)
        } else if class == addr_of_mut!(ffi::PyBytes_Type) || class == addr_of_mut!(ffi::PyByteArray_Type) {
            size()
        } else if class == addr_of_mut!(ffi::PyLong_Type) {
            int::bits(object) / 7 // digits of 30 bits in 32
        } else if class == addr_of_mut!(ffi::PyTuple_Type) || class == addr_of_mut!(ffi::PyList_Type) {
            8 * size()
        } else {
            0
        }
    }
}

/// Makes an instance of a known type.
pub fn build(py: Python<'_>, known: KnownType, parts: &[Owned], at: usize) -> Result<Owned> {
    // SAFETY: `parts` holds the objects.
    if !parts.iter().take(ints_of(known)).all(|part| unsafe { int::is(part.get()) }) {
        return Err(decode(format_args!("a value that {} does not take (no int)", known.name()), at));
    }
    let made = match parts {
        [one] => build_of(py, known, &[held(py, one)]),
        [one, two] => build_of(py, known, &[held(py, one), held(py, two)]),
        [one, two, three] => build_of(py, known, &[held(py, one), held(py, two), held(py, three)]),
        _ => return Err(decode("a type out of place", at)),
    };
    match made {
        Ok(made) => Ok(owned(&made)),
        Err(error) => {
            error.restore(py);
            Err(refused(&format!("a value that {} does not take", known.name()), at))
        }
    }
}

/// How many values of a known type are ints, from the first on. Bools and instances are no ints in a message, though Python's
/// constructors take them.
fn ints_of(known: KnownType) -> usize {
    match known {
        KnownType::Date | KnownType::Time | KnownType::Timedelta | KnownType::Timezone => 1,
        KnownType::Fraction => 2,
        KnownType::PythonRange => 3,
        _ => 0,
    }
}

fn build_of<'py>(py: Python<'py>, known: KnownType, parts: &[Bound<'py, PyAny>]) -> PyResult<Bound<'py, PyAny>> {
    match known {
        KnownType::Date
        | KnownType::Time
        | KnownType::Timedelta
        | KnownType::Utc
        | KnownType::Timezone
        | KnownType::ZoneInfo => datetime::build(py, known, parts),
        KnownType::Decimal | KnownType::Fraction => number::build(py, known, parts),
        KnownType::PythonPattern => pattern::build(py, parts),
        KnownType::PythonRange | KnownType::PythonSlice => span::build(py, known, parts),
        KnownType::PythonArray => buffer::build_array(py, parts),
        KnownType::PythonMappingProxy => collections::build_proxy(py, parts),
        KnownType::PythonBuiltinType => reference::builtin(py, parts),
        KnownType::PythonDeque
        | KnownType::PythonOrderedDict
        | KnownType::PythonDefaultDict
        | KnownType::PythonCounter
        | KnownType::NumpyArray
        | KnownType::NumpyScalar
        | KnownType::NumpyDtype => Err(PyValueError::new_err("a type out of place")),
        _ => textual::build(py, known, parts),
    }
}

// SAFETY: no other slot has this name.
static PERMITTED: StateSlot<RefCell<FxHashMap<String, Owned>>> = unsafe { StateSlot::new(Name::PermittedClasses) };

/// Classes of the standard library that are plain data: they may be built by name without permission. Each is looked up once: to
/// import its module again took as long as the rest of a message with one exception.
pub fn permitted(py: Python<'_>, name: &str) -> Result<Option<Owned>> {
    if let Some(known) = PERMITTED.get(py).borrow().get(name) {
        return Ok(Some(known.clone()));
    }
    let found = look_up_permitted(py, name)?;
    if let Some(class) = &found {
        PERMITTED.get(py).borrow_mut().insert(name.to_owned(), class.clone());
    }
    Ok(found)
}

fn look_up_permitted(py: Python<'_>, name: &str) -> Result<Option<Owned>> {
    let (module, last) = name.rsplit_once('.').unwrap_or(("", name));
    let is_plain = matches!(
        name,
        "collections.UserDict"
            | "collections.UserList"
            | "collections.UserString"
            | "collections.ChainMap"
            | "types.SimpleNamespace"
            | "builtins.object"
            | "holdall._values.Ext"
            | "holdall._values.Timestamp"
    );
    if !is_plain && module != "builtins" {
        return Ok(None);
    }
    let Some(found) = py.import(module)?.getattr(last).if_taken()? else { return Ok(None) };
    if !is_plain && !crate::classes::memory::is_builtin_exception(&found)? {
        return Ok(None);
    }
    // SAFETY: `found` is held by its `Bound`.
    Ok(Some(unsafe { Owned::borrowed(found.as_ptr()) }))
}

/// A new instance of a subclass of a builtin, made by the builtin's own constructor.
///
/// # Safety
/// The GIL is held; `class` is alive and a subclass of what `base` names.
pub unsafe fn new_of(base: Base, class: Type, payload: Option<Owned>) -> Result<Owned> {
    if base == Base::StructSequence {
        let Some(payload) = &payload else { return Err(decode("a struct sequence without fields", 0)) };
        // SAFETY: the base says that `class` is a struct sequence.
        return unsafe { struct_sequence::build(class, payload, 0) };
    }
    // SAFETY: the builtin types are static; their constructors take a class, a tuple, and keywords or null.
    unsafe {
        let of = match base {
            Base::List => addr_of_mut!(ffi::PyList_Type),
            Base::Dict => addr_of_mut!(ffi::PyDict_Type),
            Base::OrderedDict => addr_of_mut!(crate::cpython::PyODict_Type),
            Base::Set => addr_of_mut!(ffi::PySet_Type),
            Base::FrozenSet => addr_of_mut!(ffi::PyFrozenSet_Type),
            Base::Tuple => addr_of_mut!(ffi::PyTuple_Type),
            Base::Str => addr_of_mut!(ffi::PyUnicode_Type),
            Base::Bytes => addr_of_mut!(ffi::PyBytes_Type),
            Base::ByteArray => addr_of_mut!(ffi::PyByteArray_Type),
            Base::Int => addr_of_mut!(ffi::PyLong_Type),
            Base::Float => addr_of_mut!(ffi::PyFloat_Type),
            Base::Complex => addr_of_mut!(ffi::PyComplex_Type),
            Base::Exception | Base::DefaultDict | Base::Deque | Base::StructSequence => {
                return Err(decode("a builtin out of place", 0))
            }
        };
        // The content must be of exactly the builtin type, because `str(3)` would accept anything.
        if let Some(payload) = &payload {
            if ffi::Py_TYPE(payload.get()) != of {
                return Err(decode("the content of a subclass of a builtin is of another type", 0));
            }
        }
        // What the constructors of these do besides takes as long as the rest of the instance.
        let quick = match (&payload, base) {
            (Some(payload), Base::Float) => float::of_class(class, float::value(payload.get())),
            (Some(payload), Base::Bytes) => bytes_of_class(class, bytes_of(payload.get())),
            (Some(payload), Base::Int) => int::value(payload.get()).and_then(|value| int::of_class(class, value)),
            _ => None,
        };
        if let Some(made) = quick {
            return Ok(made);
        }
        let Some(new) = (*of).tp_new else { return Err(decode("a builtin without a constructor", 0)) };
        let args = match &payload {
            // A bytearray receives its content afterwards, as its initializer gives it.
            Some(payload) if base != Base::ByteArray => ffi::PyTuple_Pack(1, payload.get()),
            _ => ffi::PyTuple_New(0),
        };
        let args = Owned::new(args).ok_or_else(raised)?;
        let made = Owned::new(new(class, args.get(), std::ptr::null_mut()))
            .ok_or_else(|| refused("a subclass of a builtin can't be made", 0))?;
        if let (Base::ByteArray, Some(payload)) = (base, &payload) {
            let len = ffi::PyByteArray_Size(payload.get());
            if ffi::PyByteArray_Resize(made.get(), len) != 0 {
                return Err(raised());
            }
            let (from, to) = (ffi::PyByteArray_AsString(payload.get()), ffi::PyByteArray_AsString(made.get()));
            std::ptr::copy_nonoverlapping(from, to, len as usize);
        }
        Ok(made)
    }
}

/// A copy of an instance's `__dict__` in the order of its names, for canonical form.
pub fn sorted_dict(dict: &Owned) -> Result<Owned> {
    // SAFETY: `dict` holds a dict; results are new references or null.
    unsafe {
        let keys = Owned::new(ffi::PyDict_Keys(dict.get())).ok_or_else(raised)?;
        if ffi::PyList_Sort(keys.get()) != 0 {
            return Err(refused("an instance's attributes have no order", 0));
        }
        let sorted = Owned::new(ffi::PyDict_New()).ok_or_else(raised)?;
        for at in 0..ffi::PyList_GET_SIZE(keys.get()) {
            let key = ffi::PyList_GET_ITEM(keys.get(), at);
            if ffi::PyDict_SetItem(sorted.get(), key, ffi::PyDict_GetItem(dict.get(), key)) != 0 {
                return Err(raised());
            }
        }
        Ok(sorted)
    }
}

//! Classes of the standard library, looked up when one is first needed, and fast access to those of them whose instances
//! consist of Python slots: if a class has exactly the expected ones, instances are made and read through these, otherwise
//! through the public API.

use crate::classes::plan;
use crate::classes::state::{allocate, slot, slot_mut};
use crate::cpython::owned;
use crate::cpython::{text, Obj, Owned};
use crate::error::Result;
use pyo3::ffi;
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::PyType;

/// A class of the standard library.
#[derive(Debug, Clone, Copy)]
pub enum Library {
    Array,
    Counter,
    Decimal,
    DefaultDict,
    Deque,
    Fraction,
    IPv4Address,
    IPv4Interface,
    IPv4Network,
    IPv6Address,
    IPv6Interface,
    IPv6Network,
    MappingProxy,
    OrderedDict,
    PosixPath,
    PurePosixPath,
    PureWindowsPath,
    SafeUuid,
    Uuid,
    WindowsPath,
    ZoneInfo,
}

const COUNT: usize = Library::ZoneInfo as usize + 1;

impl Library {
    /// Module and name.
    fn home(self) -> (&'static str, &'static str) {
        match self {
            Library::Array => ("array", "array"),
            Library::Counter => ("collections", "Counter"),
            Library::Decimal => ("decimal", "Decimal"),
            Library::DefaultDict => ("collections", "defaultdict"),
            Library::Deque => ("collections", "deque"),
            Library::Fraction => ("fractions", "Fraction"),
            Library::IPv4Address => ("ipaddress", "IPv4Address"),
            Library::IPv4Interface => ("ipaddress", "IPv4Interface"),
            Library::IPv4Network => ("ipaddress", "IPv4Network"),
            Library::IPv6Address => ("ipaddress", "IPv6Address"),
            Library::IPv6Interface => ("ipaddress", "IPv6Interface"),
            Library::IPv6Network => ("ipaddress", "IPv6Network"),
            Library::MappingProxy => ("types", "MappingProxyType"),
            Library::OrderedDict => ("collections", "OrderedDict"),
            Library::PosixPath => ("pathlib", "PosixPath"),
            Library::PurePosixPath => ("pathlib", "PurePosixPath"),
            Library::PureWindowsPath => ("pathlib", "PureWindowsPath"),
            Library::SafeUuid => ("uuid", "SafeUUID"),
            Library::Uuid => ("uuid", "UUID"),
            Library::WindowsPath => ("pathlib", "WindowsPath"),
            Library::ZoneInfo => ("zoneinfo", "ZoneInfo"),
        }
    }

    /// The class. To import its module and ask that by name took longer than to make most instances.
    #[inline]
    pub fn get(self, py: Python<'_>) -> PyResult<&Bound<'_, PyType>> {
        let found = FOUND[self as usize].get_or_try_init(py, || {
            let (module, name) = self.home();
            PyResult::Ok(py.import(module)?.getattr(name)?.cast_into::<PyType>()?.unbind())
        })?;
        Ok(found.bind(py))
    }

    /// The class, if it was looked up before.
    #[inline]
    pub fn known(self, py: Python<'_>) -> Option<&Bound<'_, PyType>> {
        Some(FOUND[self as usize].get(py)?.bind(py))
    }
}

static FOUND: [PyOnceLock<Py<PyType>>; COUNT] = [const { PyOnceLock::new() }; COUNT];

/// Looks a class up.
type Find = for<'p> fn(Python<'p>) -> PyResult<&'p Bound<'p, PyType>>;

/// A class whose instances consist of these slots, while its constructor and properties are Python code.
pub struct Slots<const N: usize> {
    class: Find,
    names: [&'static [u8]; N],
    places: PyOnceLock<Option<(Owned, [usize; N])>>,
}

impl<const N: usize> Slots<N> {
    pub const fn new(class: Find, names: [&'static [u8]; N]) -> Self {
        Slots { class, names, places: PyOnceLock::new() }
    }

    /// The class and the offsets of its slots; `None` if this version of the class is different.
    #[inline]
    fn places(&self, py: Python<'_>) -> Result<Option<&(Owned, [usize; N])>> {
        match self.places.get(py) {
            Some(known) => Ok(known.as_ref()),
            None => {
                let found = self.find(py)?;
                Ok(self.places.get_or_init(py, || found).as_ref())
            }
        }
    }

    #[cold]
    fn find(&self, py: Python<'_>) -> Result<Option<(Owned, [usize; N])>> {
        let class = (self.class)(py)?;
        // SAFETY: a `PyType` is a class.
        let plan = unsafe { plan::of(py, class.as_ptr().cast())? };
        if plan.slots.len() != N || plan.has_dict || !plan.is_bare() {
            return Ok(None);
        }
        let mut offsets = [0; N];
        for (offset, name) in offsets.iter_mut().zip(self.names) {
            // SAFETY: names of slots are strings.
            let found = plan.slots.iter().find(|slot| unsafe { text::ascii(slot.name.get()) } == Some(name));
            match found {
                Some(slot) => *offset = slot.offset,
                None => return Ok(None),
            }
        }
        Ok(Some((owned(class.as_any()), offsets)))
    }

    /// An instance with these values.
    pub fn make(&self, py: Python<'_>, values: [Owned; N]) -> Result<Option<Owned>> {
        self.places(py)?.map(|places| make_at(places, values)).transpose()
    }

    /// The same, once the places are known.
    #[inline]
    pub fn make_known(&self, py: Python<'_>, values: impl FnOnce() -> Option<[Owned; N]>) -> Option<Owned> {
        make_at(self.places.get(py)?.as_ref()?, values()?).ok()
    }

    /// The values of an instance of exactly this class, borrowed. `None` for others, and if a slot isn't set.
    pub fn read(&self, object: &Bound<'_, PyAny>) -> Result<Option<[Obj; N]>> {
        let Some(places) = self.places(object.py())? else { return Ok(None) };
        // SAFETY: the `Bound` holds it.
        Ok(unsafe { read_at(places, object.as_ptr()) })
    }

    /// The same, once the places are known.
    ///
    /// # Safety
    /// `object` is alive.
    #[inline]
    pub unsafe fn read_known(&self, py: Python<'_>, object: Obj) -> Option<[Obj; N]> {
        // SAFETY: by the contract.
        unsafe { read_at(self.places.get(py)?.as_ref()?, object) }
    }
}

#[inline]
fn make_at<const N: usize>((class, offsets): &(Owned, [usize; N]), values: [Owned; N]) -> Result<Owned> {
    // SAFETY: the GIL is held, as what is owned says. The class is laid out as its plan says, and the slots of a new instance are empty.
    unsafe {
        let made = allocate(class.get().cast(), 0)?;
        for (offset, value) in offsets.iter().zip(values) {
            *slot_mut(made.get(), *offset) = value.into_raw();
        }
        Ok(made)
    }
}

/// # Safety
/// `object` is alive.
#[inline]
unsafe fn read_at<const N: usize>((class, offsets): &(Owned, [usize; N]), object: Obj) -> Option<[Obj; N]> {
    // SAFETY: the slots are read only if the object is an instance of the class from which the offsets come.
    unsafe {
        if !std::ptr::eq(ffi::Py_TYPE(object), class.get().cast::<ffi::PyTypeObject>()) {
            return None;
        }
        let values = offsets.map(|offset| slot(object, offset));
        values.iter().all(|value| !value.is_null()).then_some(values)
    }
}

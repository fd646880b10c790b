//! The state of an instance, read and written directly: its slots by offset, its `__dict__` as a dict. Nothing that the
//! class defines gets in between (`__getattr__`, frozen classes).

use crate::cpython::class::{_PyType_Lookup, managed_dict};
use crate::cpython::split;
use crate::cpython::{Obj, Owned, Type};
use crate::error::{raised, Result};
use pyo3::ffi;
use std::ptr::addr_of;

crate::cpython::libpython! {
    fn _PyObject_GetDictPtr(object: Obj) -> *mut Obj;
}

/// The value in a slot, borrowed; null if it is not set.
///
/// # Safety
/// `object` is an instance of the class that `offset` was read from.
#[inline(always)]
pub unsafe fn slot(object: Obj, offset: usize) -> Obj {
    // SAFETY: `offset` is within the instance and holds an object, by contract.
    unsafe { *object.cast::<u8>().add(offset).cast::<Obj>() }
}

/// The memory of a slot.
///
/// # Safety
/// As [`slot`].
#[inline(always)]
pub unsafe fn slot_mut(object: Obj, offset: usize) -> *mut Obj {
    // SAFETY: `offset` is within the instance and holds an object, by contract.
    unsafe { object.cast::<u8>().add(offset).cast::<Obj>() }
}

/// The instance's `__dict__`, if it has items. `managed`: the interpreter manages it, and creates it when asked.
///
/// # Safety
/// `object` is an instance of a class with such a `__dict__`.
pub unsafe fn dict_of(object: Obj, managed: bool) -> Result<Option<Owned>> {
    // SAFETY: `object` is an instance of a class with a `__dict__`, by contract; what `_PyObject_GetDictPtr` finds is
    // held by the instance while a reference is taken.
    unsafe {
        let dict = if managed {
            Owned::new(ffi::PyObject_GenericGetDict(object, std::ptr::null_mut())).ok_or_else(raised)?
        } else {
            let at = _PyObject_GetDictPtr(object);
            if at.is_null() || (*at).is_null() {
                return Ok(None);
            }
            Owned::borrowed(*at)
        };
        Ok((crate::cpython::dict::len(dict.get()) > 0).then_some(dict))
    }
}

/// Sets the `__dict__` of a new instance.
///
/// # Safety
/// `object` is an instance, made by its allocator, of a class that has a `__dict__`.
pub unsafe fn set_dict(object: Obj, dict: Owned) -> Result<()> {
    // SAFETY: `object` is alive by contract.
    unsafe {
        let class: Type = ffi::Py_TYPE(object);
        if !managed_dict(class) {
            let at = _PyObject_GetDictPtr(object);
            if !at.is_null() {
                crate::cpython::replace(at, dict.into_raw());
                return Ok(());
            }
        }
        if split::give_dict(object, dict.get()) {
            return Ok(());
        }
        let failed = if cfg!(Py_3_13) {
            // Since 3.13 `PyObject_GenericSetDict` leaves the values within the instance valid, and those are looked up
            // first. The descriptor of `__dict__` does it right.
            let name = Owned::new(ffi::PyUnicode_InternFromString(c"__dict__".as_ptr())).ok_or_else(raised)?;
            ffi::PyObject_GenericSetAttr(object, name.get(), dict.get())
        } else {
            ffi::PyObject_GenericSetDict(object, dict.get(), std::ptr::null_mut())
        };
        if failed != 0 {
            return Err(raised());
        }
    }
    Ok(())
}

/// Sets an attribute of an instance as `object.__setattr__` does, whatever its class has in that method's place: by the data descriptor
/// of that name, if the class has one by now. `false`: an exception is set.
///
/// # Safety
/// `object` is alive; `name` is an interned string.
#[inline(always)]
pub unsafe fn set_attribute(object: Obj, name: Obj, value: Owned) -> bool {
    // SAFETY: by the contract.
    unsafe {
        match has_setter(ffi::Py_TYPE(object), name) {
            true => ffi::PyObject_GenericSetAttr(object, name, value.get()) == 0,
            false => set_plain_attribute(object, name, value),
        }
    }
}

/// Whether the class has a data descriptor of that name, which would run code, or store the value elsewhere.
///
/// # Safety
/// `class` is alive, and `name` a string.
#[inline(always)]
pub unsafe fn has_setter(class: Type, name: Obj) -> bool {
    // SAFETY: by the contract; the class holds the attribute that is found.
    unsafe {
        let found = _PyType_Lookup(class, name);
        !found.is_null() && (*ffi::Py_TYPE(found)).tp_descr_set.is_some()
    }
}

/// [`set_attribute`] for a class that has no data descriptor of that name.
///
/// # Safety
/// `object` is alive; `name` is an interned string.
#[inline(always)]
pub unsafe fn set_plain_attribute(object: Obj, name: Obj, value: Owned) -> bool {
    // SAFETY: by the contract; instances whose dict CPython manages are asked for what such have.
    unsafe {
        let value = match managed_dict(ffi::Py_TYPE(object)) {
            true => match split::set_new(object, name, value) {
                Ok(()) => return true,
                Err(value) => value,
            },
            false => value,
        };
        ffi::PyObject_GenericSetAttr(object, name, value.get()) == 0
    }
}

/// A new instance of a class that manages its instances' dicts: with room for their values, which the allocator alone does not make
/// before 3.13. `None`: the class has to be asked.
///
/// # Safety
/// `class` is alive, and no builtin class but `object` decides how its instances are laid out.
#[inline(always)]
pub unsafe fn with_room(class: Type) -> Option<Result<Owned>> {
    const ABSTRACT: std::ffi::c_ulong = 1 << 20;
    // SAFETY: by the contract; `object` takes a class, an empty tuple and null, and refuses abstract classes alone.
    unsafe {
        if cfg!(Py_3_13) || !managed_dict(class) || ffi::PyType_HasFeature(class, ABSTRACT) != 0 {
            return None;
        }
        let new = (*addr_of!(ffi::PyBaseObject_Type)).tp_new?;
        let none = Owned::new(ffi::PyTuple_New(0))?;
        Some(Owned::new(new(class, none.get(), std::ptr::null_mut())).ok_or_else(raised))
    }
}

/// A new instance from its class's allocator, without `__new__` and `__init__`.
///
/// # Safety
/// The GIL is held; `class` is alive, and laid out as its plan says.
#[inline(always)]
pub unsafe fn allocate(class: Type, items: isize) -> Result<Owned> {
    // SAFETY: `class` is alive by contract; its allocator returns a new reference or null.
    unsafe {
        match (*class).tp_alloc {
            Some(alloc) => {
                let made = Owned::new(alloc(class, items)).ok_or_else(raised)?;
                if cfg!(Py_3_14) && ffi::PyType_HasFeature(class, ffi::Py_TPFLAGS_TUPLE_SUBCLASS) != 0 {
                    crate::cpython::fill::forget_hash(made.get());
                }
                Ok(made)
            }
            None => Err(crate::error::refused("a class without an allocator", 0)),
        }
    }
}

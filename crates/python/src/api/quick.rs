//! The commonest call of a function, ahead of PyO3's: one value by position, and nothing else. Where that value is one leaf, the
//! parsing of arguments, the thread's tables and the guards took twice the time of the work.

use crate::budget::chance::Chance;
use crate::cpython::{bytes_of, text, Obj, Owned};
use crate::decode::few::{Asked, Before};
use crate::decode::{self, small};
use crate::encode::few;
use crate::encode::output::{bytes_within, Bounded};
use crate::encode::value::{lone_big, lone_leaf, lone_other};
use holdall_format::{Reader, Writer};
use pyo3::exceptions::PyImportError;
use pyo3::prelude::*;
use pyo3::{ffi, PyClass, PyTypeInfo};
use std::mem::MaybeUninit;
use std::panic::{catch_unwind, AssertUnwindSafe};
use std::ptr::addr_of_mut;
use std::sync::OnceLock;

/// A function as CPython calls it: itself or its object, the arguments, how many are positional, the names of the others.
type Raw = unsafe extern "C" fn(Obj, *const Obj, isize, Obj) -> Obj;

/// What is called first. It runs no code of the program's and leaves no exception; `None`: the function itself is to be called.
pub type Attempt = unsafe fn(of: Obj, given: Obj) -> Option<Owned>;

/// A function with something that is called first.
pub struct Quick {
    /// Of the class, or of the module.
    pub name: &'static str,
    pub first: Attempt,
    pub raw: Raw,
    pub itself: OnceLock<Raw>,
}

/// Declares a [`Quick`], whose C function needs a place of its own for the function itself.
macro_rules! quick {
    ($place:ident, $name:literal, $first:expr) => {
        pub static $place: $crate::api::quick::Quick = {
            unsafe extern "C" fn raw(
                of: $crate::cpython::Obj,
                given: *const $crate::cpython::Obj,
                len: isize,
                names: $crate::cpython::Obj,
            ) -> $crate::cpython::Obj {
                // SAFETY: CPython's own arguments.
                unsafe { $place.call(of, given, len, names) }
            }
            $crate::api::quick::Quick { name: $name, first: $first, raw, itself: std::sync::OnceLock::new() }
        };
    };
}
pub(crate) use quick;

impl Quick {
    /// # Safety
    /// The arguments are those with which CPython calls a function, and [`Quick::put`] or [`Quick::put_before_method`] was called.
    #[inline(always)]
    pub unsafe fn call(&self, of: Obj, given: *const Obj, len: isize, names: Obj) -> Obj {
        // SAFETY: the first argument is there if there is one. The function itself gets what CPython passed.
        unsafe {
            if len == 1 && names.is_null() {
                let first = self.first;
                // A panic would end the process at the border to C: the function itself will meet it again, and has a door.
                if let Ok(Some(made)) = catch_unwind(AssertUnwindSafe(|| first(of, *given))) {
                    return made.into_raw();
                }
            }
            match self.itself.get() {
                Some(itself) => itself(of, given, len, names),
                None => {
                    ffi::PyErr_SetString(ffi::PyExc_SystemError, c"the module is not complete".as_ptr());
                    std::ptr::null_mut()
                }
            }
        }
    }

    /// A copy of the definition of a function that takes arguments as a C array, with this in its place. It lives as long as the
    /// process, like the one that PyO3 made.
    unsafe fn definition(&self, known: *mut ffi::PyMethodDef) -> PyResult<*mut ffi::PyMethodDef> {
        // SAFETY: `known` is the definition of a live function; the member of its union is the one that the flags say.
        unsafe {
            if (*known).ml_flags & !ffi::METH_STATIC != ffi::METH_FASTCALL | ffi::METH_KEYWORDS {
                return Err(PyImportError::new_err("a function of holdall's is called in an unknown way"));
            }
            let itself = (*known).ml_meth.PyCFunctionFastWithKeywords;
            self.itself.get_or_init(|| itself);
            Ok(Box::leak(Box::new(ffi::PyMethodDef {
                ml_name: (*known).ml_name,
                ml_meth: ffi::PyMethodDefPointer { PyCFunctionFastWithKeywords: self.raw },
                ml_flags: (*known).ml_flags,
                ml_doc: (*known).ml_doc,
            })))
        }
    }

    /// Takes the place of a function of the module.
    pub fn put(&self, module: &Bound<'_, PyModule>) -> PyResult<()> {
        let function = module.getattr(self.name)?;
        // SAFETY: the type is checked before fields of it are read; the new function is an owned reference or null.
        unsafe {
            if ffi::PyCFunction_CheckExact(function.as_ptr()) == 0 {
                return Err(PyImportError::new_err("a function of holdall's is of an unknown type"));
            }
            let known = function.as_ptr().cast::<ffi::PyCFunctionObject>();
            let definition = self.definition((*known).m_ml)?;
            let made = ffi::PyCMethod_New(definition, (*known).m_self, (*known).m_module, std::ptr::null_mut());
            module.setattr(self.name, Bound::from_owned_ptr_or_err(module.py(), made)?)
        }
    }

    /// Takes the place of a method of that class, whose instances alone it will be called with.
    pub fn put_before_method<T: PyTypeInfo>(&self, py: Python<'_>) -> PyResult<()> {
        let class = py.get_type::<T>();
        let method = class.getattr(self.name)?;
        // SAFETY: as for `put`.
        unsafe {
            if ffi::Py_TYPE(method.as_ptr()) != addr_of_mut!(ffi::PyMethodDescr_Type) {
                return Err(PyImportError::new_err("a method of holdall's is of an unknown type"));
            }
            let definition = self.definition((*method.as_ptr().cast::<ffi::PyMethodDescrObject>()).d_method)?;
            let made = ffi::PyDescr_NewMethod(class.as_type_ptr(), definition);
            class.setattr(self.name, Bound::from_owned_ptr_or_err(py, made)?)
        }
    }
}

/// The object behind a method's first argument.
///
/// # Safety
/// `of` is an instance of `T`, alive as long as the reference; the GIL is held.
#[inline(always)]
pub unsafe fn instance<'a, T: PyClass<Frozen = pyo3::pyclass::boolean_struct::True> + Sync>(of: Obj) -> &'a T {
    // SAFETY: by the contract.
    unsafe { &*std::ptr::from_ref(Borrowed::from_ptr(Python::assume_attached(), of).cast_unchecked::<T>().get()) }
}

/// A message that is short or one long leaf, which `write` writes by [`wrote`].
///
/// # Safety
/// The GIL is held, and `given` alive.
#[inline(always)]
pub unsafe fn written(given: Obj, write: impl FnOnce(&mut Bounded) -> bool) -> Option<Owned> {
    /// What precedes the bytes of a leaf at most.
    const HEAD: usize = 16;
    /// Wide texts that may take more are written into a buffer that grows.
    const WIDE: usize = 64 << 10;
    // SAFETY: by the contract; strings and `bytes` are read as what they are.
    unsafe {
        let size = match () {
            () if text::is(given) => text::most_bytes(given),
            () if ffi::PyBytes_CheckExact(given) != 0 => ffi::Py_SIZE(given) as usize,
            () => 0,
        };
        if size > Bounded::SHORT - HEAD {
            // Of a wide text it is not known how long it becomes: what is far too much is not asked for.
            return match text::is(given) && text::ascii(given).is_none() && size > WIDE {
                true => None,
                false => bytes_within(size + HEAD, write),
            };
        }
        let mut block = [MaybeUninit::uninit(); Bounded::SHORT];
        let mut short = Bounded::new(&mut block);
        if write(&mut short) {
            short.bytes()
        } else {
            None
        }
    }
}

/// Writes a leaf, or a container that is empty or small. `false`: it is none for this format, and the output is void.
///
/// # Safety
/// The GIL is held, and `given` alive.
#[inline(always)]
pub unsafe fn wrote<W: Writer, F: few::Form<W>>(
    mut writer: W,
    form: impl FnOnce() -> F,
    given: Obj,
    chance: &Chance,
) -> bool {
    // SAFETY: by the contract.
    let wrote = unsafe {
        matches!(lone_leaf(&mut writer, given), Ok(true))
            || lone_other(&mut writer, given)
            || lone_big(&mut writer, given)
            || chance.take(|| wrote_few(&mut writer, form, given).then_some(())).is_some()
    };
    wrote && writer.refusal().is_none()
}

/// By itself, so that a leaf does not pay for the room that this takes on the stack.
///
/// # Safety
/// As for [`wrote`].
#[inline(never)]
unsafe fn wrote_few<W: Writer, F: few::Form<W>>(writer: &mut W, form: impl FnOnce() -> F, given: Obj) -> bool {
    // SAFETY: by the contract.
    unsafe { few::wrote(writer, &mut form(), given) }
}

/// The value of a message that comes as `bytes`, if it needs no decoder: [`small::made`].
///
/// # Safety
/// The GIL is held, and `given` alive.
#[inline(always)]
pub unsafe fn read<'i, R: Reader<'i>>(
    given: Obj,
    asked: Asked<'_>,
    chance: &Chance,
    reader: impl FnOnce(&'i [u8]) -> Option<R>,
) -> Option<Owned> {
    // SAFETY: `bytes` don't change, and the caller of the function holds them during the call.
    unsafe {
        if ffi::PyBytes_CheckExact(given) == 0 {
            return None;
        }
        small::made(&mut reader(bytes_of(given))?, asked, true, chance)
    }
}

/// The same by these options: [`small::made_by`].
///
/// # Safety
/// As for [`read`].
#[inline(always)]
pub unsafe fn read_by<'i, R: Reader<'i>>(
    given: Obj,
    options: &decode::Options,
    chance: &Chance,
    reader: impl FnOnce(&'i [u8]) -> Option<R>,
) -> Option<Owned> {
    // SAFETY: as for `read`.
    unsafe {
        if ffi::PyBytes_CheckExact(given) == 0 {
            return None;
        }
        small::made_by(&mut reader(bytes_of(given))?, options, Before::default(), chance)
    }
}

//! Classes as CPython sees them: attributes looked up past the metaclass, and the version tag of their state.

use super::{Obj, Owned, Type};
use pyo3::ffi;
use std::ptr::addr_of;
use std::sync::atomic::{AtomicPtr, Ordering};

/// `types.SimpleNamespace`, whose type object CPython keeps to itself since 3.14; set by `self_test`.
static NAMESPACE: AtomicPtr<ffi::PyTypeObject> = AtomicPtr::new(std::ptr::null_mut());

super::libpython! {
    pub fn _PyType_Lookup(class: Type, name: Obj) -> Obj;
}

/// `PyObject_HashNotImplemented`, as a type has it that has no hash. Where Python is a DLL, a program may know its functions by
/// the addresses of jumps to them, which are not those in the types.
#[inline(always)]
pub fn no_hash() -> usize {
    // SAFETY: the type is static, and ready before any module is loaded.
    unsafe { (*addr_of!(ffi::PyList_Type)).tp_hash.map_or(0, |hash| hash as usize) }
}

/// `PyObject_GenericGetAttr`, in the same way.
#[inline(always)]
pub fn usual_getattr() -> usize {
    // SAFETY: the type is static, and ready before any module is loaded.
    unsafe { (*addr_of!(ffi::PyBaseObject_Type)).tp_getattro.map_or(0, |getattr| getattr as usize) }
}

/// CPython's version tag of a class: a new number each time an attribute of the class or of a base is set or deleted. A
/// change within an attribute's value doesn't count. 0: CPython gave no tag. `None`: an exception was raised.
///
/// # Safety
/// `class` is alive.
pub unsafe fn version_of(class: Type) -> Option<u32> {
    // SAFETY: `class` is alive, and `given_version` and `lookup` need nothing else.
    unsafe {
        if given_version(class) == 0 {
            // CPython assigns the tag during an attribute look-up.
            lookup(class, c"__slots__")?;
        }
        Some(given_version(class))
    }
}

/// The version tag if the class has one already; else 0.
///
/// # Safety
/// `class` is alive.
pub unsafe fn given_version(class: Type) -> u32 {
    // Before 3.12 the number counts only while this type flag is set.
    const VALID: std::ffi::c_ulong = 1 << 19;
    // SAFETY: `class` is alive, so its type object can be read.
    unsafe {
        match (*class).tp_version_tag {
            version if cfg!(Py_3_12) || ffi::PyType_HasFeature(class, VALID) != 0 => version,
            _ => 0,
        }
    }
}

/// An attribute that `class` itself or a base defines, without asking the metaclass: borrowed, or null if there is
/// none. `None`: an exception was raised.
///
/// # Safety
/// `class` is alive.
pub unsafe fn lookup(class: Type, name: &std::ffi::CStr) -> Option<Obj> {
    // SAFETY: `class` is alive, and `name` is a string that is held during the look-up.
    unsafe {
        let name = Owned::new(ffi::PyUnicode_InternFromString(name.as_ptr()))?;
        Some(_PyType_Lookup(class, name.get()))
    }
}

/// Whether CPython itself manages the `__dict__` of the class's instances (since 3.11).
///
/// # Safety
/// `class` is alive.
pub unsafe fn managed_dict(class: Type) -> bool {
    const MANAGED_DICT: std::ffi::c_ulong = 1 << 4;
    // SAFETY: `class` is alive, so its flags can be read.
    cfg!(Py_3_11) && unsafe { ffi::PyType_HasFeature(class, MANAGED_DICT) != 0 }
}

/// How CPython frees instances of classes that Python code made; set by `self_test`.
static FREES_INSTANCES: AtomicPtr<std::ffi::c_void> = AtomicPtr::new(std::ptr::null_mut());

/// Whether instances are freed as those of classes that Python code made, whose recursion CPython bounds. (Those of its classes in C
/// that are no static ones, as `deque` since 3.12, have code of their own.)
///
/// # Safety
/// `class` is alive.
#[inline(always)]
pub unsafe fn has_trash_can(class: Type) -> bool {
    // SAFETY: `class` is alive, so its type object can be read.
    let frees = unsafe { (*class).tp_dealloc };
    frees.is_some_and(|frees| frees as *mut std::ffi::c_void == FREES_INSTANCES.load(Ordering::Relaxed))
}

/// The class `types.SimpleNamespace`, which is static.
pub fn namespace() -> Type {
    NAMESPACE.load(Ordering::Relaxed)
}

/// The object of a weak reference, only to be compared. `None`: it is gone.
///
/// # Safety
/// `weak` is a weak reference.
#[inline(always)]
pub unsafe fn weak_target(weak: Obj) -> Option<Obj> {
    // SAFETY: `weak` is a weak reference, by contract. Whoever else holds the target goes on doing so.
    unsafe {
        #[cfg(Py_3_13)]
        {
            let mut target = std::ptr::null_mut();
            ffi::PyWeakref_GetRef(weak, &mut target);
            Owned::new(target).map(|target| target.get())
        }
        #[cfg(not(Py_3_13))]
        {
            Some(ffi::PyWeakref_GetObject(weak)).filter(|&target| target != ffi::Py_None())
        }
    }
}

pub(super) unsafe fn self_test() -> Result<(), &'static str> {
    // SAFETY: the GIL is held while the module is imported. `sys.implementation` is such a namespace, borrowed here.
    unsafe {
        let model = ffi::PySys_GetObject(c"implementation".as_ptr());
        if model.is_null() {
            return Err("this Python has no sys.implementation");
        }
        NAMESPACE.store(ffi::Py_TYPE(model), Ordering::Relaxed);
        let arguments = Owned::new(ffi::Py_BuildValue(c"s(){}".as_ptr(), c"Model".as_ptr())).ok_or("no memory")?;
        let made = ffi::PyObject_CallObject((&raw mut ffi::PyType_Type).cast(), arguments.get());
        let made = Owned::new(made).ok_or("no memory")?;
        let frees =
            (*made.get().cast::<ffi::PyTypeObject>()).tp_dealloc.ok_or("classes of this CPython free nothing")?;
        FREES_INSTANCES.store(frees as *mut std::ffi::c_void, Ordering::Relaxed);
    }
    Ok(())
}

//! The module as CPython imports it, and an image of the extension for each interpreter of the process.
//!
//! What is made once (classes, exceptions, interned names, registrations, plans, caches) stands in statics: PyO3's, and those of this
//! crate. Statics belong to an image, which is what the system's loader makes of a shared library. So that no two interpreters have an
//! object in common, the first that imports the module takes the image that CPython loaded, and each of the others has one of its own.
//! That is what the slot for interpreters with a GIL of their own promises. (PyO3's definition has no such slot, and fills the module
//! in one interpreter as in another, with the same objects.)

mod image;

use crate::cpython::Obj;
use pyo3::ffi;
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::types::PyDict;
use std::cell::UnsafeCell;
use std::ffi::{c_int, CString};
use std::ptr::null_mut;
use std::sync::atomic::{AtomicI64, Ordering};

/// Which interpreter this image belongs to. Numbers of interpreters are never given twice.
static OWNER: AtomicI64 = AtomicI64::new(NOBODY);
const NOBODY: i64 = -1;

const SLOTS: usize = 2 + cfg!(Py_3_12) as usize + cfg!(Py_3_13) as usize;

struct Definition(UnsafeCell<ffi::PyModuleDef>);
struct Slots(UnsafeCell<[ffi::PyModuleDef_Slot; SLOTS]>);

// SAFETY: CPython alone reads and writes them, under its own locks.
unsafe impl Sync for Definition {}
// SAFETY: as above.
unsafe impl Sync for Slots {}

static MODULE_SLOTS: Slots = Slots(UnsafeCell::new([
    ffi::PyModuleDef_Slot { slot: ffi::Py_mod_exec, value: exec as *mut _ },
    #[cfg(Py_3_12)]
    ffi::PyModuleDef_Slot { slot: ffi::Py_mod_multiple_interpreters, value: ffi::Py_MOD_PER_INTERPRETER_GIL_SUPPORTED },
    #[cfg(Py_3_13)]
    ffi::PyModuleDef_Slot { slot: ffi::Py_mod_gil, value: ffi::Py_MOD_GIL_USED },
    ffi::PyModuleDef_Slot { slot: 0, value: null_mut() },
]));

static DEFINITION: Definition = Definition(UnsafeCell::new(ffi::PyModuleDef {
    m_base: ffi::PyModuleDef_HEAD_INIT,
    m_name: c"_core".as_ptr(),
    m_doc: c"The native part of holdall.".as_ptr(),
    m_size: 0,
    m_methods: null_mut(),
    m_slots: MODULE_SLOTS.0.get().cast(),
    m_traverse: None,
    m_clear: None,
    m_free: None,
}));

/// What CPython calls when it has loaded the library.
///
/// # Safety
/// A thread is attached to an interpreter.
#[export_name = "PyInit__core"]
pub unsafe extern "C" fn init() -> Obj {
    // SAFETY: the definition lives as long as the process.
    unsafe { ffi::PyModuleDef_Init(DEFINITION.0.get()) }
}

/// Fills a new module, by the image that belongs to the interpreter.
unsafe extern "C" fn exec(module: Obj) -> c_int {
    // SAFETY: CPython calls this with a new module, by a thread that is attached to the interpreter that imports it.
    unsafe {
        let interpreter = ffi::PyInterpreterState_GetID(ffi::PyInterpreterState_Get());
        match OWNER.compare_exchange(NOBODY, interpreter, Ordering::Relaxed, Ordering::Relaxed) {
            Err(owner) if owner != interpreter => match image::of(interpreter) {
                Ok(fill) => fill(module),
                Err(why) => {
                    let why = CString::new(format!("holdall can't be loaded once more for this interpreter: {why}"));
                    ffi::PyErr_SetString(ffi::PyExc_ImportError, why.unwrap_or_default().as_ptr());
                    -1
                }
            },
            _ => holdall_fill(module),
        }
    }
}

/// Fills a module with this image's classes and functions. Another image finds it by its name.
///
/// # Safety
/// `module` is one, alive, of the interpreter that this image belongs to, to which the thread is attached.
#[no_mangle]
pub unsafe extern "C" fn holdall_fill(module: Obj) -> c_int {
    // SAFETY: by the contract.
    unsafe {
        let py = Python::assume_attached();
        let module = Borrowed::from_ptr(py, module);
        match wrap_pyfunction!(fill, py).and_then(|fill| fill.call1((module,))) {
            Ok(_) => 0,
            Err(error) => {
                error.restore(py);
                -1
            }
        }
    }
}

/// As a function of Python's: PyO3 sees to panics, and knows that the thread is attached.
#[pyfunction]
fn fill(module: &Bound<'_, PyModule>) -> PyResult<()> {
    end_with_interpreter(module.py())?;
    crate::api::fill(module)
}

/// Has the state freed when an interpreter beside the main one ends. (The main one ends with the process.)
fn end_with_interpreter(py: Python<'_>) -> PyResult<()> {
    unsafe extern "C" fn ended(_capsule: Obj) {
        // SAFETY: the interpreter clears its own dict when it runs no more code of the program, by a thread that is attached to it.
        unsafe { crate::state::end(Python::assume_attached()) }
    }
    // SAFETY: a thread is attached; the dict is borrowed from the interpreter; the name is text that lives as long as this image.
    unsafe {
        let interpreter = ffi::PyInterpreterState_Get();
        if ffi::PyInterpreterState_GetID(interpreter) == 0 {
            return Ok(());
        }
        let of_interpreter = ffi::PyInterpreterState_GetDict(interpreter);
        if of_interpreter.is_null() {
            return Err(PyErr::fetch(py));
        }
        let of_interpreter = Borrowed::from_ptr(py, of_interpreter).cast_unchecked::<PyDict>();
        // Where the module is imported once more, the first capsule stays: it must not go before the interpreter does.
        if !of_interpreter.contains(intern!(py, "holdall.state"))? {
            // Any address will do that is none: what matters is that it goes.
            let capsule = ffi::PyCapsule_New(DEFINITION.0.get().cast(), std::ptr::null(), Some(ended));
            let capsule = Bound::from_owned_ptr_or_err(py, capsule)?;
            of_interpreter.set_item(intern!(py, "holdall.state"), capsule)?;
        }
    }
    Ok(())
}

//! NumPy's classes and functions. Nothing here imports NumPy before one of its objects occurs.

use crate::cpython::Type;
use crate::error::{decode, Result};
use holdall_format::model::KnownType;
use pyo3::ffi;
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::{PyDict, PyModule};

/// What is used of NumPy, looked up once.
pub struct Numpy {
    pub(crate) module: Py<PyModule>,
    pub(crate) ndarray: Py<PyAny>,
    pub(crate) generic: Py<PyAny>,
    pub(crate) dtype: Py<PyAny>,
    pub(crate) void: Py<PyAny>,
    pub(crate) record: Py<PyAny>,
    pub(crate) str_: Py<PyAny>,
    pub(crate) bytes_: Py<PyAny>,
    pub(crate) empty: Py<PyAny>,
    pub(crate) uint8: Py<PyAny>,
    fraction_bits: PyOnceLock<i32>,
}

static NUMPY: PyOnceLock<Numpy> = PyOnceLock::new();

impl Numpy {
    /// NumPy, for a value stored at offset `at`.
    pub(crate) fn get(py: Python<'_>, at: usize) -> Result<&Numpy> {
        if let Some(numpy) = NUMPY.get(py) {
            return Ok(numpy);
        }
        match py.import("numpy") {
            Ok(module) => Ok(NUMPY.get_or_try_init(py, || Numpy::of(&module))?),
            Err(error) if error.is_instance_of::<pyo3::exceptions::PyImportError>(py) => Err(decode(
                "the message holds NumPy data: loading it needs the package numpy, which can't be imported",
                at,
            )),
            Err(error) => Err(error.into()),
        }
    }

    /// NumPy, if the program has imported it.
    pub(crate) fn imported(py: Python<'_>) -> Result<Option<&Numpy>> {
        if let Some(numpy) = NUMPY.get(py) {
            return Ok(Some(numpy));
        }
        let modules = py.import("sys")?.getattr("modules")?;
        let Some(module) = modules.cast::<PyDict>().map_err(PyErr::from)?.get_item("numpy")? else { return Ok(None) };
        // Another module of that name, or one that is only partly imported, has no arrays.
        let Ok(module) = module.cast_into::<PyModule>() else { return Ok(None) };
        for name in ["ndarray", "generic", "dtype", "record", "empty"] {
            if module.getattr_opt(name)?.is_none() {
                return Ok(None);
            }
        }
        Ok(Some(NUMPY.get_or_try_init(py, || Numpy::of(&module))?))
    }

    fn of(module: &Bound<'_, PyModule>) -> PyResult<Numpy> {
        let get = |name: &str| module.getattr(name).map(Bound::unbind);
        Ok(Numpy {
            module: module.clone().unbind(),
            ndarray: get("ndarray")?,
            generic: get("generic")?,
            dtype: get("dtype")?,
            void: get("void")?,
            record: get("record")?,
            str_: get("str_")?,
            bytes_: get("bytes_")?,
            empty: get("empty")?,
            uint8: module.getattr("dtype")?.call1(("uint8",))?.unbind(),
            fraction_bits: PyOnceLock::new(),
        })
    }

    /// The number of bits in the fraction of a long double on this platform.
    pub(crate) fn fraction_bits(&self, py: Python<'_>) -> PyResult<i32> {
        let find = || {
            let module = self.module.bind(py);
            module.getattr("finfo")?.call1((module.getattr("longdouble")?,))?.getattr("nmant")?.extract()
        };
        self.fraction_bits.get_or_try_init(py, find).copied()
    }
}

/// The known type of a class, if it is one of NumPy's own.
pub fn known_type(py: Python<'_>, class: Type) -> Result<Option<KnownType>> {
    let Some(numpy) = Numpy::imported(py)? else { return Ok(None) };
    let is = |base: &Py<PyAny>| class.cast() == base.as_ptr();
    // SAFETY: callers hold `class`; `numpy` holds the others.
    let is_below = |base: &Py<PyAny>| unsafe { ffi::PyType_IsSubtype(class, base.as_ptr().cast()) != 0 };
    // SAFETY: as above. Classes made in Python are heap types; of NumPy's own, only `record` is one.
    let is_made = unsafe { ffi::PyType_HasFeature(class, ffi::Py_TPFLAGS_HEAPTYPE) != 0 };
    Ok(if is(&numpy.ndarray) {
        Some(KnownType::NumpyArray)
    } else if is_below(&numpy.generic) && (!is_made || is(&numpy.record)) {
        Some(KnownType::NumpyScalar)
    } else if is_below(&numpy.dtype) {
        Some(KnownType::NumpyDtype)
    } else {
        None
    })
}

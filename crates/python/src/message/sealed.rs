//! Messages within a seal: `holdall.Seal` puts a keyed check around one, and compares it before anything within is read.

use crate::cpython::attached;
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::PyType;

/// What `seal=` was given.
pub struct Seal(Py<PyAny>);

static CLASS: PyOnceLock<Py<PyType>> = PyOnceLock::new();

impl Seal {
    /// Anything but a Seal is refused: a key that is missing must not mean that nothing is checked.
    pub fn new(given: &Bound<'_, PyAny>) -> PyResult<Seal> {
        let class = CLASS.import(given.py(), "holdall._seal", "Seal")?;
        if !given.is_instance(class)? {
            let name = given.get_type().name()?;
            return Err(PyTypeError::new_err(format!("seal: expected a holdall.Seal or None, got {name}")));
        }
        Ok(Seal(given.clone().unbind()))
    }

    fn without_buffers(buffers: Option<&Bound<'_, PyAny>>) -> PyResult<()> {
        match buffers.filter(|buffers| !buffers.is_none()) {
            None => Ok(()),
            Some(_) => {
                Err(PyValueError::new_err("seal: buffers out of band would not be covered by it; leave `buffers` out"))
            }
        }
    }

    /// Seals the message of `encode`.
    pub fn write(
        &self,
        buffers: Option<&Bound<'_, PyAny>>,
        encode: impl FnOnce() -> PyResult<Py<PyAny>>,
    ) -> PyResult<Py<PyAny>> {
        Seal::without_buffers(buffers)?;
        let message = encode()?;
        attached(|py| self.0.call_method1(py, "wrap", (message,)))
    }

    /// Reads what is within the seal, if it holds.
    pub fn read(
        &self,
        data: &Bound<'_, PyAny>,
        buffers: Option<&Bound<'_, PyAny>>,
        decode: impl FnOnce(&Bound<'_, PyAny>) -> PyResult<Py<PyAny>>,
    ) -> PyResult<Py<PyAny>> {
        Seal::without_buffers(buffers)?;
        decode(self.0.bind(data.py()).call_method1("unwrap", (data,))?.as_any())
    }
}

//! The functions that programs have registered with `copyreg`.

use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::{PyDict, PyType};

/// The functions of `copyreg` by class.
pub fn table(py: Python<'_>) -> PyResult<Bound<'_, PyDict>> {
    static TABLE: PyOnceLock<Py<PyDict>> = PyOnceLock::new();
    let table = TABLE.get_or_try_init(py, || {
        let table = py.import("copyreg")?.getattr("dispatch_table")?;
        Ok::<_, PyErr>(table.cast_into::<PyDict>()?.unbind())
    })?;
    Ok(table.bind(py).clone())
}

/// Whether a class has a function in `copyreg`.
pub fn has(class: &Bound<'_, PyType>) -> PyResult<bool> {
    table(class.py())?.contains(class)
}

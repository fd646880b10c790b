//! `deepcopy`: the graph once more, without bytes.

use pyo3::prelude::*;

/// Copy the object graph of `obj`.
///
/// >>> a = [[1]]; b = deepcopy(a); b == a, b[0] is a[0]
/// (True, False)
#[pyfunction]
#[pyo3(signature = (obj, memo = None, /))]
pub fn deepcopy<'py>(obj: &Bound<'py, PyAny>, memo: Option<&Bound<'py, PyAny>>) -> PyResult<Bound<'py, PyAny>> {
    obj.py().import("copy")?.getattr("deepcopy")?.call1((obj, memo))
}

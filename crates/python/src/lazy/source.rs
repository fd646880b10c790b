//! The bytes that a document and all documents within it share.

use crate::cpython::{part, View};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyMemoryView;
use std::sync::{Arc, Mutex, PoisonError};

pub struct Source {
    view: Mutex<Option<Arc<View>>>,
    pub data: Py<PyAny>,
    /// Whether closing the document closes `data`, a map that was made for it.
    owned: bool,
}

impl Source {
    pub fn new(data: &Bound<'_, PyAny>, owned: bool) -> PyResult<Source> {
        Ok(Source { view: Mutex::new(Some(Arc::new(View::new(data)?))), data: data.clone().unbind(), owned })
    }

    pub fn view(&self) -> PyResult<Arc<View>> {
        let view = self.view.lock().unwrap_or_else(PoisonError::into_inner);
        view.clone().ok_or_else(|| PyValueError::new_err("the document is closed"))
    }

    /// A part of the bytes, not copied.
    pub fn part<'py>(&self, py: Python<'py>, start: usize, len: usize) -> PyResult<Bound<'py, PyAny>> {
        self.view()?;
        let whole = PyMemoryView::from(self.data.bind(py))?;
        let whole = whole.call_method0("toreadonly")?.call_method1("cast", ("B",))?;
        part(&whole, start, start + len)
    }

    pub fn close(&self, py: Python<'_>) -> PyResult<()> {
        let view = self.view.lock().unwrap_or_else(PoisonError::into_inner).take();
        let was_open = view.is_some();
        drop(view);
        if was_open && self.owned {
            // While views of a map are in use it stays open; the last of them closes it.
            if let Err(error) = self.data.bind(py).call_method0("close") {
                let in_use = error.is_instance_of::<pyo3::exceptions::PyBufferError>(py);
                // For an empty file, `data` is a `bytes` and not a map.
                if !in_use && !error.is_instance_of::<pyo3::exceptions::PyAttributeError>(py) {
                    return Err(error);
                }
            }
        }
        Ok(())
    }
}

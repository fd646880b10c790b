//! Iterating over the members of a document.

use crate::error::door;
use crate::lazy::{Cursor, Document};
use pyo3::prelude::*;

#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Yields {
    Keys,
    Values,
    Items,
}

/// An iterator over a document's members, which needs no index of them.
#[pyclass(module = "holdall", name = "Members")]
pub struct Members {
    document: Py<Document>,
    at: Cursor,
    yields: Yields,
}

impl Members {
    pub fn new(document: &Bound<'_, Document>, yields: Yields) -> PyResult<Members> {
        document.get().inside.meet(document)?;
        let at = document.get().inside.start()?;
        Ok(Members { document: document.clone().unbind(), at, yields })
    }
}

#[pymethods]
impl Members {
    fn __iter__(slf: PyRef<'_, Self>) -> PyRef<'_, Self> {
        slf
    }

    fn __next__<'py>(&mut self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyAny>>> {
        door(|| {
            let inside = &self.document.get().inside;
            let Some((member, next)) = inside.next(py, self.at)? else { return Ok(None) };
            let made = match self.yields {
                Yields::Keys => inside.key(py, &member)?,
                Yields::Values => inside.value(py, &member)?,
                Yields::Items => (inside.key(py, &member)?, inside.value(py, &member)?).into_pyobject(py)?.into_any(),
            };
            self.at = next;
            Ok(Some(made))
        })
    }
}

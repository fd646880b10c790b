//! Going through a document that stays bytes, member by member.

use super::document::{Document, Place};
use holdall_format::bson::{tag, Elements};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyString};

#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Yields {
    Keys,
    Values,
    Items,
}

/// Goes from member to member, without an index of them.
#[pyclass(module = "holdall.bson", name = "Members")]
pub struct Members {
    document: Py<Document>,
    /// Where the next element begins.
    at: usize,
    yields: Yields,
}

impl Members {
    pub fn new(document: &Bound<'_, Document>, yields: Yields) -> PyResult<Members> {
        let at = document.get().see(|bytes| {
            Elements::new(bytes).map_err(|error| document.get().fault(error))?;
            Ok(tag::HEAD)
        })?;
        Ok(Members { document: document.clone().unbind(), at, yields })
    }
}

#[pymethods]
impl Members {
    fn __iter__(slf: PyRef<'_, Self>) -> PyRef<'_, Self> {
        slf
    }

    fn __next__<'py>(&mut self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyAny>>> {
        let document = self.document.get();
        let (at, yields) = (self.at, self.yields);
        let found = document.see(|bytes| {
            let mut elements = Elements::at(bytes, at);
            let mut element = elements.next().transpose().map_err(|error| document.fault(error))?;
            if element.is_some_and(|element| document.is_apart(element.at)) {
                element = elements.next().transpose().map_err(|error| document.fault(error))?;
            }
            let Some(element) = element else { return Ok(None) };
            let place = Place::new(&element);
            let field = document.field_name(element.name);
            let key = || match std::str::from_utf8(field.map_or(element.name, str::as_bytes)) {
                Ok(name) => Ok(PyString::new(py, name).into_any()),
                // Names that Julia allows come as they do in a load.
                Err(_) if document.has_odd_names() => {
                    PyBytes::new(py, element.name).call_method1("decode", ("utf-8", "surrogateescape"))
                }
                Err(_) => {
                    let error = holdall_format::Error::new(holdall_format::Kind::BadUtf8, element.at);
                    Err(document.fault(error))
                }
            };
            let value = || document.value(py, bytes, place, (!document.array).then_some(element.name));
            let made = match yields {
                Yields::Keys => key()?,
                Yields::Values => value()?,
                Yields::Items => (key()?, value()?).into_pyobject(py)?.into_any(),
            };
            Ok(Some((made, element.at + element.value.len())))
        })?;
        Ok(found.map(|(made, behind)| {
            self.at = behind;
            made
        }))
    }
}

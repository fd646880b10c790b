//! Documents that stay bytes until they are looked into, as PyMongo's `RawBSONDocument`; their class says so.

use crate::cpython::held;
use crate::cpython::{new, part};
use crate::dialect::pymongo::PyMongo;
use crate::error::Asked;
use holdall_format::bson;
use pyo3::ffi;
use pyo3::prelude::*;
use pyo3::types::{PyByteArray, PyBytes, PyMemoryView};
use std::ops::Range;

/// Whether a class, or an instance, is marked as such a document.
pub fn is_raw(object: &Bound<'_, PyAny>) -> PyResult<bool> {
    const RAW: u8 = 101;
    let marker = object.getattr_opt(pyo3::intern!(object.py(), "_type_marker"))?;
    Ok(match marker {
        Some(marker) => marker.extract::<u8>().if_taken()? == Some(RAW),
        None => false,
    })
}

/// The bytes of an outermost document that is bytes already; `None` for other documents.
pub fn raw_bytes(document: &Bound<'_, PyAny>) -> PyResult<Option<Py<PyAny>>> {
    if document.is_exact_instance_of::<pyo3::types::PyDict>() || !is_raw(document)? {
        return Ok(None);
    }
    let raw = document.getattr("raw")?;
    if raw.is_instance_of::<PyBytes>() {
        return Ok(Some(raw.unbind()));
    }
    // SAFETY: `raw` is a live reference; the result is a new reference or null.
    Ok(Some(unsafe { Bound::from_owned_ptr_or_err(document.py(), ffi::PyBytes_FromObject(raw.as_ptr()))? }.unbind()))
}

/// Makes raw documents from parts of some bytes.
pub struct RawDocuments<'a, 'py> {
    pymongo: &'a PyMongo,
    class: Bound<'py, PyAny>,
    data: &'a Bound<'py, PyAny>,
    input: &'a [u8],
    /// Immutable bytes that documents may be views of: the data itself, or a copy made when first needed.
    whole: Option<Bound<'py, PyAny>>,
}

impl<'a, 'py> RawDocuments<'a, 'py> {
    /// `None`: documents do not stay bytes. `input` is what `data` holds.
    pub fn new(pymongo: &'a PyMongo, data: &'a Bound<'py, PyAny>, input: &'a [u8]) -> Option<Self> {
        let class = pymongo.document_class.as_ref().filter(|_| pymongo.raw)?;
        let whole = data.is_instance_of::<PyBytes>().then(|| data.clone());
        Some(RawDocuments { pymongo, class: held(data.py(), class), data, input, whole })
    }

    /// The document at this place.
    pub fn document(&mut self, at: Range<usize>) -> PyResult<Py<PyAny>> {
        let (py, document) = (self.data.py(), &self.input[at.clone()]);
        if !bson::is_framed(document) {
            return Err(crate::dialect::pymongo::invalid_bson(
                py,
                "a document that does not end where its length says",
            ));
        }
        let is_whole = document.len() == self.input.len();
        let content = match &self.whole {
            Some(whole) if is_whole => whole.clone(),
            _ if is_whole || !self.may_be_view(document.len()) => new::bytes(py, document)?.into_any(),
            _ => {
                let whole = match self.whole.take() {
                    Some(whole) => whole,
                    None => new::bytes(py, self.input)?.into_any(),
                };
                part(PyMemoryView::from(self.whole.insert(whole))?.as_any(), at.start, at.end)?
            }
        };
        Ok(self.class.call1((content, held(py, &self.pymongo.options)))?.unbind())
    }

    fn may_be_view(&self, len: usize) -> bool {
        self.pymongo.views_from.is_some_and(|least| len >= least) && !self.data.is_instance_of::<PyByteArray>()
    }
}

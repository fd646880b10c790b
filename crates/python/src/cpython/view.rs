//! Memory that an object of somebody's exports.

use pyo3::exceptions::PyTypeError;
use pyo3::ffi;
use pyo3::prelude::*;
use pyo3::types::{PySlice, PyString};

/// A view of somebody's memory, released when dropped.
pub struct View(ffi::Py_buffer);

/// What to do with what is no data, but says where data are.
#[cold]
fn remedy(object: &Bound<'_, PyAny>) -> PyResult<&'static str> {
    Ok(if object.is_instance_of::<PyString>() || object.hasattr("__fspath__")? || object.hasattr("read")? {
        "; `load` and `open` take paths, and `load` takes file objects"
    } else {
        ""
    })
}

impl View {
    /// The bytes of any object that has them in one run.
    pub fn new(object: &Bound<'_, PyAny>) -> PyResult<View> {
        View::with(object, ffi::PyBUF_SIMPLE).map_err(|error| {
            if !error.is_instance_of::<PyTypeError>(object.py()) {
                return error;
            }
            match object.get_type().name().and_then(|name| Ok((name, remedy(object)?))) {
                Ok((name, remedy)) => PyTypeError::new_err(format!("expected bytes-like data, got `{name}`{remedy}")),
                Err(error) => error,
            }
        })
    }

    /// What the exporter gives for these flags, which ask for memory in one run, or for its strides.
    pub fn with(object: &Bound<'_, PyAny>, flags: std::ffi::c_int) -> PyResult<View> {
        let mut view = ffi::Py_buffer::new();
        // SAFETY: `object` is alive; the view is released in `drop`. While it lives the exporter keeps its bytes where they are.
        if unsafe { ffi::PyObject_GetBuffer(object.as_ptr(), &mut view, flags) } != 0 {
            return Err(PyErr::fetch(object.py()));
        }
        Ok(View(view))
    }

    pub fn len(&self) -> usize {
        self.0.len as usize
    }

    pub fn is_read_only(&self) -> bool {
        self.0.readonly != 0
    }

    /// How many bytes the exporter takes for one item.
    pub fn item_size(&self) -> isize {
        self.0.itemsize
    }

    /// Lengths by dimension, of a view that was asked for with its strides.
    pub fn dims(&self) -> &[isize] {
        if self.0.ndim == 0 || self.0.shape.is_null() {
            return &[];
        }
        // SAFETY: given with the view, which owns as many lengths as dimensions.
        unsafe { std::slice::from_raw_parts(self.0.shape, self.0.ndim as usize) }
    }

    pub fn is_contiguous(&self, order: u8) -> bool {
        // SAFETY: a view that is not released.
        unsafe { ffi::PyBuffer_IsContiguous(&self.0, order as std::ffi::c_char) != 0 }
    }

    /// The bytes of a contiguous view.
    pub fn as_slice(&self) -> &[u8] {
        if self.0.len == 0 {
            return &[];
        }
        // SAFETY: contiguous: there are `len` readable bytes for as long as the view lives. A bytearray can't be resized
        // meanwhile; another thread, or a hook, that writes into it changes values that are copied out once each.
        unsafe { std::slice::from_raw_parts(self.0.buf.cast(), self.len()) }
    }
}

impl View {
    /// The same of memory that may be written to.
    ///
    /// # Safety
    /// The view was asked for as a writable one, and nobody else reads or writes its bytes while the slice lives.
    #[allow(clippy::mut_from_ref)]
    pub unsafe fn as_mut_slice(&self) -> &mut [u8] {
        if self.0.len == 0 {
            return &mut [];
        }
        // SAFETY: as in `as_slice`; that nobody else uses it, the caller says.
        unsafe { std::slice::from_raw_parts_mut(self.0.buf.cast(), self.len()) }
    }
}

/// A part of an object that takes slices. (`PySlice::new` of PyO3 0.30 never gives back the numbers it makes.)
pub fn part<'py>(of: &Bound<'py, PyAny>, start: usize, end: usize) -> PyResult<Bound<'py, PyAny>> {
    of.get_item(of.py().get_type::<PySlice>().call1((start, end))?)
}

// SAFETY: `as_slice` reads what the exporter keeps in place while the view lives, and dropping one happens with the GIL held,
// as whatever holds a view is an object of Python's or lives within a call.
unsafe impl Send for View {}
// SAFETY: the same.
unsafe impl Sync for View {}

impl Drop for View {
    fn drop(&mut self) {
        // SAFETY: filled by `PyObject_GetBuffer`; the GIL is held (see above).
        unsafe { ffi::PyBuffer_Release(&mut self.0) };
    }
}

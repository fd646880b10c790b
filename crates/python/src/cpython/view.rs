//! Buffers: memory that a Python object exports.

use pyo3::exceptions::PyTypeError;
use pyo3::ffi;
use pyo3::prelude::*;
use pyo3::types::{PySlice, PyString};

/// A buffer of a Python object, released when dropped.
pub struct View(ffi::Py_buffer);

/// A hint for the error message if the object isn't data but says where the data are.
#[cold]
fn remedy(object: &Bound<'_, PyAny>) -> PyResult<&'static str> {
    Ok(if object.is_instance_of::<PyString>() || object.hasattr("__fspath__")? || object.hasattr("read")? {
        "; `load` and `open` take paths, and `load` takes file objects"
    } else {
        ""
    })
}

impl View {
    /// The bytes of any object that exports them contiguously.
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

    /// The buffer that the exporter gives for these flags, which ask for contiguous memory or for strides.
    pub fn with(object: &Bound<'_, PyAny>, flags: std::ffi::c_int) -> PyResult<View> {
        let mut view = ffi::Py_buffer::new();
        // SAFETY: `object` is alive, `view` is writable. The exporter keeps the memory in place until `drop` releases
        // the buffer.
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

    /// Bytes of one item, as the exporter says.
    pub fn item_size(&self) -> isize {
        self.0.itemsize
    }

    /// The length of each dimension, if the buffer was asked for with strides.
    pub fn dims(&self) -> &[isize] {
        if self.0.ndim == 0 || self.0.shape.is_null() {
            return &[];
        }
        // SAFETY: `shape` is not null and has `ndim` lengths, which the exporter keeps while the buffer is held.
        unsafe { std::slice::from_raw_parts(self.0.shape, self.0.ndim as usize) }
    }

    pub fn is_contiguous(&self, order: u8) -> bool {
        // SAFETY: the buffer is held until `drop`.
        unsafe { ffi::PyBuffer_IsContiguous(&self.0, order as std::ffi::c_char) != 0 }
    }

    /// The bytes of a contiguous buffer.
    pub fn as_slice(&self) -> &[u8] {
        if self.0.len == 0 {
            return &[];
        }
        // SAFETY: the buffer is contiguous, so `len` bytes are readable while it is held. A bytearray can't be resized
        // meanwhile; if another thread or a hook writes into it, values change that are copied out once each.
        unsafe { std::slice::from_raw_parts(self.0.buf.cast(), self.len()) }
    }
}

impl View {
    /// Like `as_slice`, for writing.
    ///
    /// # Safety
    /// The buffer was requested as writable, and nobody else reads or writes its bytes while the slice lives.
    #[allow(clippy::mut_from_ref)]
    pub unsafe fn as_mut_slice(&self) -> &mut [u8] {
        if self.0.len == 0 {
            return &mut [];
        }
        // SAFETY: as in `as_slice`; the contract says that nobody else uses the bytes.
        unsafe { std::slice::from_raw_parts_mut(self.0.buf.cast(), self.len()) }
    }
}

/// A slice of an object. (`PySlice::new` of PyO3 0.30 leaks the ints that it makes.)
pub fn part<'py>(of: &Bound<'py, PyAny>, start: usize, end: usize) -> PyResult<Bound<'py, PyAny>> {
    of.get_item(of.py().get_type::<PySlice>().call1((start, end))?)
}

// SAFETY: the exporter keeps the memory in place while the buffer is held, wherever it is read from. Whatever holds a
// `View` is a Python object or lives within a call, so that it is dropped with the GIL held.
unsafe impl Send for View {}
// SAFETY: as for `Send`.
unsafe impl Sync for View {}

impl Drop for View {
    fn drop(&mut self) {
        // SAFETY: `PyObject_GetBuffer` filled it, and it is released once; the GIL is held (see `Send`).
        unsafe { ffi::PyBuffer_Release(&mut self.0) };
    }
}

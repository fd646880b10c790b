//! Arrays, scalars and dtypes from what a message holds of them.

use crate::cpython::owned;
use crate::cpython::{new, Owned, View};
use crate::error::{decode, refused, Asked, Result};
use crate::memory::{vec, Vec};
use crate::types::buffer;
use crate::types::buffer::{BufferToken, Charge, Lender};
use crate::types::numpy::dtype::{refuse, ArrayShape, Content, Dtype};
use crate::types::numpy::{dtype, Numpy};
use holdall_format::model::Bytes;
use holdall_format::{Reader, Token};
use pyo3::ffi;
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList, PyTuple};
use std::sync::Arc;

/// Whether an array is read-only, and its axes in the order of memory, unless that is C order.
fn read_order<'i, R: Reader<'i>>(r: &mut R, dimensions: usize) -> Result<(bool, Option<Vec<usize>>)> {
    let wrong = |r: &R| decode("expected the order of an array's items", r.offset());
    let Token::Bool(read_only) = r.token()? else { return Err(wrong(r)) };
    let mut axes = Vec::with_capacity(dimensions);
    for _ in 0..dimensions {
        match r.token()? {
            Token::Int(axis) if (0..dimensions as i64).contains(&axis) && !axes.contains(&(axis as usize)) => {
                axes.push(axis as usize);
            }
            _ => return Err(wrong(r)),
        }
    }
    let in_order = axes.iter().enumerate().all(|(at, &axis)| at == axis);
    Ok((read_only, (!in_order).then_some(axes)))
}

/// An array's dtype, shape and order, as they were read.
pub struct Head {
    pub dtype: Arc<Dtype>,
    shape: ArrayShape,
    fortran: bool,
    read_only: bool,
    /// If the items are in an order of their own: the axes along which they are in C order; `shape` is along these.
    axes: Option<Vec<usize>>,
    pub count: usize,
    /// Memory that it takes in addition to the stored items.
    pub cost: usize,
}

impl Head {
    /// Reads what follows the dtype.
    pub fn read<'i, R: Reader<'i>>(r: &mut R, dtype: Arc<Dtype>) -> Result<Head> {
        let mut cost: usize = 256;
        if dtype.is_sub {
            return Err(decode("an array of a subarray's dtype", r.offset()));
        }
        let shape = ArrayShape::read(r)?;
        let Some(count) = shape.count().filter(|count| count.checked_mul(dtype.size.max(1)).is_some()) else {
            return Err(decode("an array larger than any memory", r.offset()));
        };
        let (fortran, read_only, axes) = match r.token()? {
            Token::Bool(fortran) => (fortran, false, None),
            Token::Tuple(len) if len == 1 + shape.len => {
                let (read_only, axes) = read_order(r, shape.len)?;
                let is_reversed = |axes: &[usize]| axes.iter().rev().enumerate().all(|(at, &axis)| at == axis);
                let fortran = axes.as_deref().is_some_and(is_reversed);
                (fortran, read_only, axes.filter(|_| !fortran))
            }
            _ => return Err(decode("expected the order of an array's items", r.offset())),
        };
        let shape = match &axes {
            Some(axes) => shape.along(axes),
            None => shape,
        };
        if dtype.size == 0 {
            cost = cost.saturating_add(count); // so that items without bytes can't claim without end
        }
        Ok(Head { dtype, shape, fortran, read_only, axes, count, cost })
    }

    /// A new array, not yet filled; NumPy puts None where objects belong.
    fn empty<'py>(&self, py: Python<'py>, at: usize) -> Result<Bound<'py, PyAny>> {
        let numpy = Numpy::get(py, at)?;
        let dtype = self.dtype.object.bind(py);
        let made = if self.dtype.size == 0 {
            // `empty` would make texts of length 0 texts of length 1.
            numpy.ndarray.bind(py).call1((self.shape.tuple(py)?, dtype))
        } else if self.fortran {
            numpy.empty.bind(py).call1((self.shape.tuple(py)?, dtype, intern!(py, "F")))
        } else {
            numpy.empty.bind(py).call1((self.shape.tuple(py)?, dtype))
        };
        made.map_err(|error| refuse(py, error, at))
    }

    fn is_size(&self, len: usize, at: usize) -> Result<()> {
        if self.count * self.dtype.size == len {
            return Ok(());
        }
        Err(decode(format_args!("an array of {} items with {len} bytes for them", self.count), at))
    }

    pub fn of_bytes(&self, py: Python<'_>, items: &[u8], at: usize) -> Result<Owned> {
        let copy = |to: &mut [u8]| {
            to.copy_from_slice(items);
            Ok(())
        };
        self.of_source(py, items.len(), copy, at)
    }

    /// An array of `len` bytes, which `fill` writes into its memory.
    pub fn of_source(
        &self,
        py: Python<'_>,
        len: usize,
        fill: impl FnOnce(&mut [u8]) -> Result<()>,
        at: usize,
    ) -> Result<Owned> {
        self.is_size(len, at)?;
        let array = self.empty(py, at)?;
        if len > 0 {
            let view = View::with(&array, ffi::PyBUF_WRITABLE | ffi::PyBUF_STRIDES)?;
            if view.len() != len || !(view.is_contiguous(b'C') || view.is_contiguous(b'F')) {
                return Err(decode("an array of another size than was asked for", at));
            }
            // SAFETY: the buffer is writable and of an array that nobody else has seen; its dtype has no object
            // pointers.
            fill(unsafe { view.as_mut_slice() })?;
        }
        self.finished(array)
    }

    /// The finished array, as it was stored: with its axes in their order, and read-only if it was.
    fn finished(&self, array: Bound<'_, PyAny>) -> Result<Owned> {
        let mut array = array;
        if let Some(axes) = &self.axes {
            let mut places = vec![0; axes.len()];
            for (at, &axis) in axes.iter().enumerate() {
                places[axis] = at;
            }
            array = array.call_method1("transpose", (&places[..],))?;
        }
        if self.read_only {
            array.getattr(intern!(array.py(), "flags"))?.setattr("writeable", false)?;
        }
        Ok(owned(&array))
    }

    /// A view of memory from the caller of the load.
    pub fn of_buffer(&self, py: Python<'_>, buffer: &Owned, at: usize) -> Result<Owned> {
        // SAFETY: the caller holds `buffer`.
        let buffer = unsafe { Bound::from_borrowed_ptr(py, buffer.get()) };
        let refuse = |error| refuse(py, error, at);
        let len = View::with(&buffer, ffi::PyBUF_SIMPLE).map_err(refuse)?.len();
        self.is_size(len, at)?;
        let order = if self.fortran { "F" } else { "C" };
        let parts = (self.shape.tuple(py)?, self.dtype.object.bind(py), buffer, 0, py.None(), order);
        self.finished(Numpy::get(py, at)?.ndarray.bind(py).call1(parts).map_err(refuse)?)
    }

    /// An array of objects, and a view of all its items in one row, to be filled.
    pub fn of_objects(&self, py: Python<'_>, at: usize) -> Result<(Owned, Owned)> {
        let array = self.empty(py, at)?;
        let row = array.call_method("reshape", (-1,), Some(&self.order(py)?))?;
        Ok((self.finished(array)?, owned(&row)))
    }

    /// An array with fields that are objects, and a view of each field, to be filled.
    pub fn of_fields(&self, py: Python<'_>, at: usize) -> Result<(Owned, Owned)> {
        let array = self.empty(py, at)?;
        // For bytes that no field covers.
        array.call_method1("fill", (0,)).map_err(|error| refuse(py, error, at))?;
        let views = new::list(py)?;
        for name in self.dtype.object.bind(py).getattr("names")?.try_iter()? {
            let view = array.get_item(name?)?;
            views.append(view)?;
        }
        Ok((self.finished(array)?, owned(views.as_any())))
    }

    /// An array of strings of any length, whose items come from `r`.
    pub fn of_strings<'i, R: Reader<'i>>(&self, py: Python<'_>, r: &mut R) -> Result<Owned> {
        let at = r.offset();
        let dtype = self.dtype.object.bind(py);
        let items = new::list(py)?;
        for _ in 0..self.count {
            match r.token()? {
                Token::Text(bytes) => items.append(dtype::string(py, bytes, r.offset())?)?,
                Token::None => match dtype.getattr_opt(intern!(dtype.py(), "na_object"))? {
                    Some(missing) => items.append(missing)?,
                    None => return Err(decode("a missing text where none can be", r.offset())),
                },
                _ => return Err(decode("expected a text", r.offset())),
            }
        }
        let array = self.empty(py, at)?;
        let row = array.call_method("reshape", (-1,), Some(&self.order(py)?))?;
        row.set_item(py.Ellipsis(), items).map_err(|error| refuse(py, error, at))?;
        self.finished(array)
    }

    fn order<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let order = new::dict(py)?;
        order.set_item("order", if self.fortran { "F" } else { "C" })?;
        Ok(order)
    }

    /// The length of the list as which an array of objects or fields is stored.
    pub fn values(&self, py: Python<'_>) -> Result<usize> {
        match self.dtype.content {
            Content::Fields => Ok(self.dtype.object.bind(py).getattr("names")?.len()?),
            _ => Ok(self.count),
        }
    }
}

/// The dtype of bytes.
pub fn uint8(py: Python<'_>, at: usize) -> Result<Owned> {
    Ok(owned(Numpy::get(py, at)?.uint8.bind(py)))
}

/// A whole buffer as an array of bytes that keeps the memory in place, as do arrays made from that array; those that
/// NumPy makes from a buffer or a memoryview itself don't. `None` without NumPy, or for an empty buffer.
pub fn octets(data: &Bound<'_, PyAny>) -> PyResult<Option<Owned>> {
    let py = data.py();
    if View::new(data)?.len() == 0 {
        return Ok(None);
    }
    let Some(numpy) = py.import("numpy").if_taken()? else { return Ok(None) };
    Ok(Some(owned(&numpy.call_method1("frombuffer", (data, "uint8"))?)))
}

/// A new array of that shape, the first index changing fastest.
fn in_columns<'py>(dtype: &Bound<'py, PyAny>, shape: &[usize], at: usize) -> Result<Bound<'py, PyAny>> {
    let py = dtype.py();
    let made = Numpy::get(py, at)?.empty.bind(py).call1((PyTuple::new(py, shape)?, dtype, intern!(py, "F")));
    made.map_err(|error| refuse(py, error, at))
}

/// The same with these bytes.
pub fn copy_in_columns(dtype: &Bound<'_, PyAny>, shape: &[usize], items: &[u8], at: usize) -> Result<Owned> {
    let array = in_columns(dtype, shape, at)?;
    fill(&array, items, at)?;
    Ok(owned(&array))
}

/// The same as a view of another object's memory from `offset` on.
pub fn view_in_columns(
    dtype: &Bound<'_, PyAny>,
    shape: &[usize],
    owner: &Bound<'_, PyAny>,
    offset: usize,
    at: usize,
) -> Result<Owned> {
    let py = dtype.py();
    let parts = (PyTuple::new(py, shape)?, dtype, owner, offset, py.None(), intern!(py, "F"));
    Ok(owned(&Numpy::get(py, at)?.ndarray.bind(py).call1(parts).map_err(|error| refuse(py, error, at))?))
}

/// The same for objects, with a view of all its items in one row, to be filled.
pub fn objects_in_columns(dtype: &Bound<'_, PyAny>, shape: &[usize], at: usize) -> Result<(Owned, Owned)> {
    let array = in_columns(dtype, shape, at)?;
    let order = new::dict(dtype.py())?;
    order.set_item("order", "F")?;
    let row = array.call_method("reshape", (-1,), Some(&order))?;
    Ok((owned(&array), owned(&row)))
}

/// Stores a value at its place in a view from `of_objects` or `of_fields`.
pub fn put(py: Python<'_>, places: &Owned, at: usize, value: &Owned, here: usize) -> Result<()> {
    // SAFETY: the caller holds both.
    let (places, value) =
        unsafe { (Bound::from_borrowed_ptr(py, places.get()), Bound::from_borrowed_ptr(py, value.get())) };
    let Ok(views) = places.cast::<PyList>() else {
        // SAFETY: both are held; the array's own assignment stores the value as it is.
        return match unsafe { ffi::PySequence_SetItem(places.as_ptr(), at as isize, value.as_ptr()) } {
            0 => Ok(()),
            _ => Err(refused("an array's item can't be set", here)),
        };
    };
    let view = views.get_item(at)?;
    let fits = value.get_type().is(&Numpy::get(py, here)?.ndarray)
        && value.getattr(intern!(value.py(), "dtype"))?.eq(view.getattr(intern!(view.py(), "dtype"))?)?
        && value.getattr(intern!(value.py(), "shape"))?.eq(view.getattr(intern!(view.py(), "shape"))?)?;
    if !fits {
        return Err(decode("expected an array for a field, of its dtype and shape", here));
    }
    view.set_item(py.Ellipsis(), value).map_err(|error| refuse(py, error, here))
}

/// Copies bytes into a new array.
fn fill(array: &Bound<'_, PyAny>, items: &[u8], at: usize) -> Result<()> {
    if items.is_empty() {
        return Ok(());
    }
    let view = View::with(array, ffi::PyBUF_WRITABLE | ffi::PyBUF_STRIDES)?;
    if view.len() != items.len() || !(view.is_contiguous(b'C') || view.is_contiguous(b'F')) {
        return Err(decode("an array of another size than was asked for", at));
    }
    // SAFETY: the array is new, contiguous, writable and of that many bytes; its dtype has no object pointers.
    unsafe { view.as_mut_slice() }.copy_from_slice(items);
    Ok(())
}

/// A text or bytes as a scalar, if `token` begins one.
pub fn text_scalar<'i, R: Reader<'i>>(py: Python<'_>, r: &mut R, token: Token<'i>) -> Result<Option<Owned>> {
    let at = r.offset();
    let Token::Text(Bytes::Ascii(code @ (b"U" | b"S"))) = token else { return Ok(None) };
    let numpy = Numpy::get(py, at)?;
    let made = match (code, r.token()?) {
        (b"U", Token::Text(bytes)) => numpy.str_.bind(py).call1((dtype::string(py, bytes, at)?,)),
        (b"S", Token::Bytes(bytes)) => numpy.bytes_.bind(py).call1((new::bytes(py, bytes)?,)),
        _ => return Err(decode("expected the text or the bytes of a scalar", at)),
    };
    Ok(Some(owned(&made.map_err(|error| refuse(py, error, at))?)))
}

/// A scalar of a dtype, from its bytes.
pub fn scalar(py: Python<'_>, dtype: &Dtype, token: Token<'_>, at: usize) -> Result<Owned> {
    let Token::Bytes(item) = token else { return Err(decode("expected the bytes of a scalar", at)) };
    if dtype.content != Content::Bytes || dtype.is_sub || dtype.size != item.len() {
        return Err(decode("a scalar of another size", at));
    }
    let array = dtype.place(py, Numpy::get(py, at)?)?;
    fill(&array, item, at)?;
    Ok(owned(&array.get_item(PyTuple::empty(py)).map_err(|error| refuse(py, error, at))?))
}

impl Dtype {
    /// An array without dimensions, from which a scalar is made. The scalar is a copy of its item, except for a void:
    /// then it is a view, and each needs an array of its own.
    fn place<'py>(&self, py: Python<'py>, numpy: &Numpy) -> PyResult<Bound<'py, PyAny>> {
        let make = || numpy.ndarray.call1(py, ((), &self.object));
        if self.is_void {
            return Ok(make()?.into_bound(py));
        }
        Ok(self.place.get_or_try_init(py, make)?.bind(py).clone())
    }
}

/// An array whose items are out of band.
pub fn out_of_band(
    py: Python<'_>,
    lender: &mut Option<Lender<'_>>,
    charge: Charge<'_>,
    head: &Head,
    token: BufferToken,
) -> Result<Owned> {
    let BufferToken { number, out_of_band, at } = token;
    if let Some(Lender::File(source)) = lender {
        if let Some(view) = source.view(py, number, out_of_band, at)? {
            // An array of a memoryview would not keep its memory in place.
            // SAFETY: `view` holds the object.
            let octets = octets(unsafe { &Bound::from_borrowed_ptr(py, view.get()) })?;
            return head.of_buffer(py, octets.as_ref().unwrap_or(&view), at);
        }
        let len = source.len(py, number, at)?;
        charge(len)?;
        return head.of_source(py, len, |to| source.fill(py, to), at);
    }
    let buffer = buffer::take(py, lender, charge, token)?;
    head.of_buffer(py, &buffer, at)
}

//! NumPy arrays, scalars and dtypes. NumPy is optional: nothing here imports it before an object of its own is met.
//!
//! Only what is wholly NumPy's own has a form here. Subclasses, dtypes of other packages or with metadata are left to
//! `register` and to trusted messages, in which NumPy's own recipe stores them.

pub mod dtype;

use super::{buffer, owned, Family};
use crate::cpython::{bytes_of, new, text, Owned, Type, View};
use crate::encode::{Encoder, Part, BY_PARENT_AND_US};
use crate::error::{decode, encode as encode_error, raised, refused, Asked, Fault, Result};
use crate::memory::{extracted, vec, Vec};
use dtype::{Content, Dtype, Form, Shape};
use holdall_format::model::{Bytes, Known, Lent, Text};
use holdall_format::{Reader, Token, Writer};
use pyo3::ffi;
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::{PyDict, PyList, PyModule, PyString, PyTuple};
use std::rc::Rc;
use std::sync::Arc;

/// What is used of NumPy, looked up once.
pub struct Numpy {
    module: Py<PyModule>,
    ndarray: Py<PyAny>,
    generic: Py<PyAny>,
    dtype: Py<PyAny>,
    void: Py<PyAny>,
    record: Py<PyAny>,
    str_: Py<PyAny>,
    bytes_: Py<PyAny>,
    empty: Py<PyAny>,
    uint8: Py<PyAny>,
    fraction_bits: PyOnceLock<i32>,
}

static NUMPY: PyOnceLock<Numpy> = PyOnceLock::new();

impl Numpy {
    /// NumPy, for what was stored at `at`.
    fn get(py: Python<'_>, at: usize) -> Result<&Numpy> {
        if let Some(numpy) = NUMPY.get(py) {
            return Ok(numpy);
        }
        match py.import("numpy") {
            Ok(module) => Ok(NUMPY.get_or_try_init(py, || Numpy::of(&module))?),
            Err(error) if error.is_instance_of::<pyo3::exceptions::PyImportError>(py) => Err(decode(
                "the message holds NumPy data: loading it needs the package numpy, which can't be imported",
                at,
            )),
            Err(error) => Err(error.into()),
        }
    }

    /// NumPy, if anybody has imported it.
    fn imported(py: Python<'_>) -> Result<Option<&Numpy>> {
        if let Some(numpy) = NUMPY.get(py) {
            return Ok(Some(numpy));
        }
        let modules = py.import("sys")?.getattr("modules")?;
        let Some(module) = modules.cast::<PyDict>().map_err(PyErr::from)?.get_item("numpy")? else { return Ok(None) };
        // Another module of that name, or one that is just being imported, has no arrays.
        let Ok(module) = module.cast_into::<PyModule>() else { return Ok(None) };
        for name in ["ndarray", "generic", "dtype", "record", "empty"] {
            if module.getattr_opt(name)?.is_none() {
                return Ok(None);
            }
        }
        Ok(Some(NUMPY.get_or_try_init(py, || Numpy::of(&module))?))
    }

    fn of(module: &Bound<'_, PyModule>) -> PyResult<Numpy> {
        let get = |name: &str| module.getattr(name).map(Bound::unbind);
        Ok(Numpy {
            module: module.clone().unbind(),
            ndarray: get("ndarray")?,
            generic: get("generic")?,
            dtype: get("dtype")?,
            void: get("void")?,
            record: get("record")?,
            str_: get("str_")?,
            bytes_: get("bytes_")?,
            empty: get("empty")?,
            uint8: module.getattr("dtype")?.call1(("uint8",))?.unbind(),
            fraction_bits: PyOnceLock::new(),
        })
    }

    /// How many bits the fraction of a long double has on this platform.
    fn fraction_bits(&self, py: Python<'_>) -> PyResult<i32> {
        let find = || {
            let module = self.module.bind(py);
            module.getattr("finfo")?.call1((module.getattr("longdouble")?,))?.getattr("nmant")?.extract()
        };
        self.fraction_bits.get_or_try_init(py, find).copied()
    }
}

/// The family of a class, if it is one of NumPy's own.
pub fn family_of(py: Python<'_>, class: Type) -> Result<Option<Family>> {
    let Some(numpy) = Numpy::imported(py)? else { return Ok(None) };
    let is = |base: &Py<PyAny>| class.cast() == base.as_ptr();
    // SAFETY: classes that are alive, the one by the caller's duty, the others held by `numpy`.
    let is_below = |base: &Py<PyAny>| unsafe { ffi::PyType_IsSubtype(class, base.as_ptr().cast()) != 0 };
    // SAFETY: as above. Classes that Python code has made are on the heap; NumPy's own are not, but for `record`.
    let is_made = unsafe { ffi::PyType_HasFeature(class, ffi::Py_TPFLAGS_HEAPTYPE) != 0 };
    Ok(if is(&numpy.ndarray) {
        Some(Family::Known(Known::NdArray))
    } else if is_below(&numpy.generic) && (!is_made || is(&numpy.record)) {
        Some(Family::Known(Known::NumpyScalar))
    } else if is_below(&numpy.dtype) {
        Some(Family::Known(Known::NumpyDtype))
    } else {
        None
    })
}

/// Writes an array, a scalar or a dtype whose mark was written.
pub fn encode<W: Writer>(encoder: &mut Encoder<'_, W>, known: Known, object: &Bound<'_, PyAny>) -> Result<()> {
    let Some(numpy) = Numpy::imported(object.py())? else { return Err(encode_error("an array without NumPy")) };
    match known {
        Known::NdArray => encode_array(encoder, numpy, object),
        Known::NumpyScalar => encode_scalar(encoder, numpy, object),
        _ => match describe(encoder, numpy, object)? {
            Ok(form) => {
                encoder.w.known(Known::NumpyDtype);
                form.write(&mut encoder.w)
            }
            Err(why) => refuse_to_store(encoder, object, why),
        },
    }
}

/// A dtype taken apart, once in a message.
fn describe<W: Writer>(
    encoder: &mut Encoder<'_, W>,
    numpy: &Numpy,
    dtype: &Bound<'_, PyAny>,
) -> Result<std::result::Result<Rc<Form>, &'static str>> {
    let address = dtype.as_ptr() as usize;
    if let Some(form) = encoder.dtypes.as_ref().and_then(|dtypes| dtypes.get(&address)) {
        return Ok(Ok(form.clone()));
    }
    let form = match dtype::describe(numpy, dtype)? {
        Ok(form) => Rc::new(form),
        Err(why) => return Ok(Err(why)),
    };
    encoder.dtypes.get_or_insert_default().insert(address, form.clone());
    encoder.keep(owned(dtype));
    Ok(Ok(form))
}

/// Writes the dtype of an array or a scalar: its text, or a value of its own, which is one where arrays share it. In
/// canonical form it is none: whether arrays share a dtype is no part of what they are.
fn write_dtype<W: Writer>(encoder: &mut Encoder<'_, W>, dtype: &Bound<'_, PyAny>, form: &Form) -> Result<()> {
    if !form.is_plain() {
        // SAFETY: alive, and kept until the message is whole. Its holders: the array, us, and the temporaries.
        if !encoder.options.canonical && unsafe { encoder.met(dtype.as_ptr(), BY_PARENT_AND_US + 1)? } {
            return Ok(());
        }
        encoder.w.known(Known::NumpyDtype);
    }
    form.write(&mut encoder.w)
}

fn refuse_to_store<W: Writer>(encoder: &mut Encoder<'_, W>, object: &Bound<'_, PyAny>, why: &str) -> Result<()> {
    // SAFETY: alive, and its mark was written.
    unsafe { encoder.refused(object.as_ptr(), why) }
}

fn encode_array<W: Writer>(encoder: &mut Encoder<'_, W>, numpy: &Numpy, array: &Bound<'_, PyAny>) -> Result<()> {
    let py = array.py();
    let dtype = array.getattr(intern!(py, "dtype"))?;
    let form = match describe(encoder, numpy, &dtype)? {
        Ok(form) => form,
        Err(why) => return refuse_to_store(encoder, array, why),
    };
    if form.content() == Content::Bytes {
        return encode_bytes(encoder, numpy, array, &dtype, &form);
    }
    let flags = array.getattr("flags")?;
    let flag = |name: &str| flags.getattr(name)?.is_truthy();
    let fortran = flag("f_contiguous")? && !flag("c_contiguous")?;
    let order = match in_own_order(array, fortran || flag("c_contiguous")?)? {
        Some((axes, _)) => Order::Axes(axes),
        None if fortran => Order::Fortran,
        None => Order::C,
    };
    let dims: Vec<isize> = extracted(&array.getattr("shape")?)?;
    head(encoder, &dtype, &form, &dims, &order, !flag("writeable")?)?;
    let array = &match &order {
        Order::Axes(axes) => array.call_method1("transpose", (&axes[..],))?,
        _ => array.clone(),
    };
    if form.content() == Content::Fields {
        let mut parts = Vec::new();
        for name in dtype.getattr("names")?.try_iter()? {
            parts.push(Part::Value(owned(&array.get_item(name?)?)));
        }
        encoder.w.list(parts.len());
        encoder.then(parts);
        return Ok(());
    }
    let items = array.call_method1("ravel", (if fortran { "F" } else { "C" },))?.call_method0("tolist")?;
    let items = items.cast_into::<PyList>().map_err(PyErr::from)?;
    encoder.w.list(items.len());
    if form.content() == Content::Strings {
        for item in &items {
            match item.cast_exact::<PyString>() {
                // SAFETY: a string that the list holds.
                Ok(item) => unsafe { encoder.w.text(text::parts(item.as_ptr()).ok_or_else(raised)?) },
                Err(_) => encoder.w.none(),
            }
        }
        return Ok(());
    }
    let parts = items.iter().map(|item| Part::Value(owned(&item))).collect();
    drop(items); // so that each item is held by the array and its part alone
    encoder.then(parts);
    Ok(())
}

/// The order of an array's items.
enum Order {
    C,
    Fortran,
    /// C order of these axes.
    Axes(Vec<usize>),
}

/// The axes of an array that is in neither order, and the same array along these, if that has no gaps: the axis along
/// which neighbours are farthest apart comes first.
fn in_own_order<'py>(
    array: &Bound<'py, PyAny>,
    in_usual_order: bool,
) -> Result<Option<(Vec<usize>, Bound<'py, PyAny>)>> {
    if in_usual_order {
        return Ok(None);
    }
    let strides: Vec<isize> = extracted(&array.getattr("strides")?)?;
    let mut axes: Vec<usize> = (0..strides.len()).collect();
    axes.sort_by_key(|&axis| std::cmp::Reverse(strides[axis]));
    let along = array.call_method1("transpose", (&axes[..],))?;
    let is_dense = along.getattr("flags")?.getattr("c_contiguous")?.is_truthy()?;
    Ok(is_dense.then_some((axes, along)))
}

/// Whether the items of an array lie without gaps, whatever the order of its axes.
pub fn has_an_order(array: &Bound<'_, PyAny>) -> Result<bool> {
    let in_usual_order = array.getattr("flags")?.getattr("forc")?.is_truthy()?;
    Ok(in_usual_order || in_own_order(array, false)?.is_some())
}

fn head<W: Writer>(
    encoder: &mut Encoder<'_, W>,
    dtype: &Bound<'_, PyAny>,
    form: &Form,
    dims: &[isize],
    order: &Order,
    read_only: bool,
) -> Result<()> {
    encoder.w.known(Known::NdArray);
    write_dtype(encoder, dtype, form)?;
    encoder.w.tuple(dims.len());
    dims.iter().for_each(|&dim| encoder.w.int(dim as i64));
    match order {
        Order::C if !read_only => encoder.w.bool(false),
        Order::Fortran if !read_only => encoder.w.bool(true),
        _ => {
            encoder.w.tuple(1 + dims.len());
            encoder.w.bool(read_only);
            for at in 0..dims.len() {
                let axis = match order {
                    Order::C => at,
                    Order::Fortran => dims.len() - 1 - at,
                    Order::Axes(axes) => axes[at],
                };
                encoder.w.int(axis as i64);
            }
        }
    }
    Ok(())
}

/// An array whose items are bytes: straight from its memory where that has no gaps.
fn encode_bytes<W: Writer>(
    encoder: &mut Encoder<'_, W>,
    numpy: &Numpy,
    array: &Bound<'_, PyAny>,
    dtype: &Bound<'_, PyAny>,
    form: &Form,
) -> Result<()> {
    let view = View::with(array, ffi::PyBUF_STRIDES)?;
    let in_order = view.is_contiguous(b'C');
    let (view, order, source) = if in_order {
        (view, Order::C, array.clone())
    } else if view.is_contiguous(b'F') {
        (view, Order::Fortran, array.getattr("T")?)
    } else if let Some((axes, along)) = in_own_order(array, false)? {
        (View::with(&along, ffi::PyBUF_STRIDES)?, Order::Axes(axes), along)
    } else {
        drop(view);
        return encode_bytes(encoder, numpy, &array.call_method0("copy")?, dtype, form);
    };
    let dims: Vec<isize> = match &order {
        Order::Axes(_) => extracted(&array.getattr("shape")?)?,
        _ => Vec::from(view.dims()),
    };
    head(encoder, dtype, form, &dims, &order, view.is_read_only())?;
    let mask = form.mask();
    if mask.is_none() && buffer::is_lent(encoder, view.len()) {
        buffer::lend(encoder, view, Lent::Writable);
        return Ok(());
    }
    if encoder.gives_buffers() && view.len() > 0 && mask.is_none() {
        // As plain bytes: some dtypes can't be exported as what they are.
        let bytes = numpy.ndarray.bind(array.py()).call1(((view.len(),), &numpy.uint8, source))?;
        let block = array.py().import("pickle")?.getattr("PickleBuffer")?.call1((bytes,))?;
        if buffer::out_of_band(encoder, &block, view.is_read_only())? {
            return Ok(());
        }
    }
    match mask {
        None => encoder.w.bytes(view.as_slice()),
        Some(mask) => encoder.w.bytes(&masked(view.as_slice(), &mask)),
    }
    Ok(())
}

fn masked(items: &[u8], mask: &[u8]) -> Vec<u8> {
    items.iter().zip(mask.iter().cycle()).map(|(&byte, &bits)| byte & bits).collect()
}

fn encode_scalar<W: Writer>(encoder: &mut Encoder<'_, W>, numpy: &Numpy, scalar: &Bound<'_, PyAny>) -> Result<()> {
    let class = scalar.get_type();
    // As they are, not by their items: an array would cut the zeros off their end.
    if class.is(&numpy.str_) {
        encoder.w.known(Known::NumpyScalar);
        encoder.w.text(Text::Ascii(b"U"));
        // SAFETY: a subclass of `str`.
        encoder.w.text(unsafe { text::parts(scalar.as_ptr()) }.ok_or_else(raised)?);
        return Ok(());
    }
    if class.is(&numpy.bytes_) {
        encoder.w.known(Known::NumpyScalar);
        encoder.w.text(Text::Ascii(b"S"));
        // SAFETY: a subclass of `bytes`, which the caller holds.
        encoder.w.bytes(unsafe { bytes_of(scalar.as_ptr()) });
        return Ok(());
    }
    let dtype = scalar.getattr(intern!(scalar.py(), "dtype"))?;
    let form = match describe(encoder, numpy, &dtype)? {
        Ok(form) if form.content() == Content::Bytes => form,
        Ok(_) => return refuse_to_store(encoder, scalar, "it has fields that are objects, which needs"),
        Err(why) => return refuse_to_store(encoder, scalar, why),
    };
    encoder.w.known(Known::NumpyScalar);
    write_dtype(encoder, &dtype, &form)?;
    let view = View::with(scalar, ffi::PyBUF_SIMPLE)?;
    match form.mask() {
        None => encoder.w.bytes(view.as_slice()),
        Some(mask) => encoder.w.bytes(&masked(view.as_slice(), &mask)),
    }
    Ok(())
}

/// Whether an array may not be written to, and its axes in the order of memory, unless that is C order.
fn read_order<'i, R: Reader<'i>>(r: &mut R, dimensions: usize) -> Result<(bool, Option<Vec<usize>>)> {
    let wrong = |r: &R| decode("expected the order of an array's items", r.offset());
    let Token::Bool(read_only) = r.next()? else { return Err(wrong(r)) };
    let mut axes = Vec::with_capacity(dimensions);
    for _ in 0..dimensions {
        match r.next()? {
            Token::Int(axis) if (0..dimensions as i64).contains(&axis) && !axes.contains(&(axis as usize)) => {
                axes.push(axis as usize);
            }
            _ => return Err(wrong(r)),
        }
    }
    let in_order = axes.iter().enumerate().all(|(at, &axis)| at == axis);
    Ok((read_only, (!in_order).then_some(axes)))
}

/// What NumPy refused to build.
#[cold]
fn refuse(py: Python<'_>, error: PyErr, at: usize) -> Fault {
    error.restore(py);
    refused("values that NumPy does not take", at)
}

/// An array's dtype, shape and order, as they were read.
pub struct Head {
    pub dtype: Arc<Dtype>,
    shape: Shape,
    fortran: bool,
    read_only: bool,
    /// The items are in C order along these axes, if they are in an order of their own; `shape` is along them, too.
    axes: Option<Vec<usize>>,
    pub count: usize,
    /// Memory that it takes beside what is stored of its items.
    pub cost: usize,
}

impl Head {
    /// What follows the dtype.
    pub fn read<'i, R: Reader<'i>>(r: &mut R, dtype: Arc<Dtype>) -> Result<Head> {
        let mut cost: usize = 256;
        if dtype.is_sub {
            return Err(decode("an array of a subarray's dtype", r.offset()));
        }
        let shape = Shape::read(r)?;
        let Some(count) = shape.count().filter(|count| count.checked_mul(dtype.size.max(1)).is_some()) else {
            return Err(decode("an array larger than any memory", r.offset()));
        };
        let (fortran, read_only, axes) = match r.next()? {
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
            cost = cost.saturating_add(count); // items that take no bytes are no reason to claim without end
        }
        Ok(Head { dtype, shape, fortran, read_only, axes, count, cost })
    }

    /// An array with memory of its own, not yet filled: NumPy puts None where objects go.
    fn empty<'py>(&self, py: Python<'py>, at: usize) -> Result<Bound<'py, PyAny>> {
        let numpy = Numpy::get(py, at)?;
        let dtype = self.dtype.object.bind(py);
        let made = if self.dtype.size == 0 {
            // `empty` makes texts of no characters texts of one.
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

    /// An array of `len` bytes, which `fill` puts into its memory.
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
            // SAFETY: writable, and of an array that nobody has seen yet; its dtype has no object pointers.
            fill(unsafe { view.as_mut_slice() })?;
        }
        self.finished(array)
    }

    /// An array with the memory it needs, as it was stored: with its axes in their places, and not to be written to if
    /// it was not.
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
            array.getattr("flags")?.setattr("writeable", false)?;
        }
        Ok(owned(&array))
    }

    /// A view of memory that the caller of the load gave.
    pub fn of_buffer(&self, py: Python<'_>, buffer: &Owned, at: usize) -> Result<Owned> {
        // SAFETY: held.
        let buffer = unsafe { Bound::from_borrowed_ptr(py, buffer.get()) };
        let refuse = |error| refuse(py, error, at);
        let len = View::with(&buffer, ffi::PyBUF_SIMPLE).map_err(refuse)?.len();
        self.is_size(len, at)?;
        let order = if self.fortran { "F" } else { "C" };
        let parts = (self.shape.tuple(py)?, self.dtype.object.bind(py), buffer, 0, py.None(), order);
        self.finished(Numpy::get(py, at)?.ndarray.bind(py).call1(parts).map_err(refuse)?)
    }

    /// An array of objects, and the places for what it holds: all items in one row.
    pub fn of_objects(&self, py: Python<'_>, at: usize) -> Result<(Owned, Owned)> {
        let array = self.empty(py, at)?;
        let row = array.call_method("reshape", (-1,), Some(&self.order(py)?))?;
        Ok((self.finished(array)?, owned(&row)))
    }

    /// An array with fields that are objects, and the places for what it holds: a view of each field.
    pub fn of_fields(&self, py: Python<'_>, at: usize) -> Result<(Owned, Owned)> {
        let array = self.empty(py, at)?;
        // What no field covers.
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
            match r.next()? {
                Token::Text(bytes) => items.append(dtype::string(py, bytes, r.offset())?)?,
                Token::None => match dtype.getattr_opt("na_object")? {
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

    /// How many values stand in the list that an array of objects or fields is stored as.
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

/// All of a buffer as an array of bytes, which keeps its memory in place: what is made of that array does so, too, and what
/// NumPy makes of a buffer (or a memoryview) itself does not. None without NumPy, or of no bytes.
pub fn octets(data: &Bound<'_, PyAny>) -> PyResult<Option<Owned>> {
    let py = data.py();
    if View::new(data)?.len() == 0 {
        return Ok(None);
    }
    let Some(numpy) = py.import("numpy").if_taken()? else { return Ok(None) };
    Ok(Some(owned(&numpy.call_method1("frombuffer", (data, "uint8"))?)))
}

/// An array of that shape, the first index running fastest, with memory of its own.
fn in_columns<'py>(dtype: &Bound<'py, PyAny>, shape: &[usize], at: usize) -> Result<Bound<'py, PyAny>> {
    let py = dtype.py();
    let made = Numpy::get(py, at)?.empty.bind(py).call1((PyTuple::new(py, shape)?, dtype, intern!(py, "F")));
    made.map_err(|error| refuse(py, error, at))
}

/// The same, of these bytes.
pub fn copy_in_columns(dtype: &Bound<'_, PyAny>, shape: &[usize], items: &[u8], at: usize) -> Result<Owned> {
    let array = in_columns(dtype, shape, at)?;
    fill(&array, items, at)?;
    Ok(owned(&array))
}

/// The same, as a view of another object's memory from there on.
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

/// The same of objects, and the places for what it holds, in one row.
pub fn objects_in_columns(dtype: &Bound<'_, PyAny>, shape: &[usize], at: usize) -> Result<(Owned, Owned)> {
    let array = in_columns(dtype, shape, at)?;
    let order = new::dict(dtype.py())?;
    order.set_item("order", "F")?;
    let row = array.call_method("reshape", (-1,), Some(&order))?;
    Ok((owned(&array), owned(&row)))
}

/// Puts a value into its place of those that `of_objects` or `of_fields` gave.
pub fn put(py: Python<'_>, places: &Owned, at: usize, value: &Owned, here: usize) -> Result<()> {
    // SAFETY: held.
    let (places, value) =
        unsafe { (Bound::from_borrowed_ptr(py, places.get()), Bound::from_borrowed_ptr(py, value.get())) };
    let Ok(views) = places.cast::<PyList>() else {
        // SAFETY: alive both; the sequence's own assignment, which takes the value as it is, whatever it holds.
        return match unsafe { ffi::PySequence_SetItem(places.as_ptr(), at as isize, value.as_ptr()) } {
            0 => Ok(()),
            _ => Err(refused("an array's item can't be set", here)),
        };
    };
    let view = views.get_item(at)?;
    let fits = value.get_type().is(&Numpy::get(py, here)?.ndarray)
        && value.getattr("dtype")?.eq(view.getattr("dtype")?)?
        && value.getattr("shape")?.eq(view.getattr("shape")?)?;
    if !fits {
        return Err(decode("expected an array for a field, of its dtype and shape", here));
    }
    view.set_item(py.Ellipsis(), value).map_err(|error| refuse(py, error, here))
}

/// Copies bytes into a fresh array.
fn fill(array: &Bound<'_, PyAny>, items: &[u8], at: usize) -> Result<()> {
    if items.is_empty() {
        return Ok(());
    }
    let view = View::with(array, ffi::PyBUF_WRITABLE | ffi::PyBUF_STRIDES)?;
    if view.len() != items.len() || !(view.is_contiguous(b'C') || view.is_contiguous(b'F')) {
        return Err(decode("an array of another size than was asked for", at));
    }
    // SAFETY: the array is new, contiguous, and of as many bytes; no object pointers are among them, as its dtype has
    // none.
    unsafe { view.as_mut_slice() }.copy_from_slice(items);
    Ok(())
}

/// A text or bytes as a scalar, if `token` says that it is one.
pub fn text_scalar<'i, R: Reader<'i>>(py: Python<'_>, r: &mut R, token: Token<'i>) -> Result<Option<Owned>> {
    let at = r.offset();
    let Token::Text(Bytes::Ascii(code @ (b"U" | b"S"))) = token else { return Ok(None) };
    let numpy = Numpy::get(py, at)?;
    let made = match (code, r.next()?) {
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
    /// An array without dimensions, to make a scalar of. The scalar is a copy of its item, unless it is a void: then it
    /// is a view, and each needs an array of its own.
    fn place<'py>(&self, py: Python<'py>, numpy: &Numpy) -> PyResult<Bound<'py, PyAny>> {
        let make = || numpy.ndarray.call1(py, ((), &self.object));
        if self.is_void {
            return Ok(make()?.into_bound(py));
        }
        Ok(self.place.get_or_try_init(py, make)?.bind(py).clone())
    }
}

/// Whether an array's items are numbers, which lists of lists hold as well.
pub fn is_numeric(array: &Bound<'_, PyAny>) -> PyResult<bool> {
    let kind: String = array.getattr("dtype")?.getattr("kind")?.extract()?;
    Ok(matches!(kind.as_str(), "b" | "i" | "u" | "f" | "U"))
}

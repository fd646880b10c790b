//! NumPy arrays, scalars and dtypes. NumPy is optional: nothing here imports it before one of its objects occurs.
//!
//! Only NumPy's own classes have a form here. Subclasses, and dtypes of other packages or with metadata, are left to
//! `register` and to trusted messages, in which NumPy's own recipe stores them.

pub mod dtype;
mod restore;

pub use restore::{
    copy_in_columns, objects_in_columns, octets, out_of_band, put, scalar, text_scalar, uint8, view_in_columns, Head,
};

pub use crate::classes::numpy::Numpy;
use crate::cpython::owned;
use crate::cpython::{bytes_of, text, View};
use crate::error::extracted;
use crate::error::{encode as encode_error, raised, Result};
use crate::memory::Vec;
use crate::types::buffer;
use crate::types::walker::{TypeWalker, WorkItem, BY_PARENT_AND_US};
use dtype::{Content, DtypeForm};
use holdall_format::model::{KnownType, OutOfBand, Text, TypeWriter};
use holdall_format::Writer;
use pyo3::ffi;
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::types::{PyList, PyString};
use std::rc::Rc;

/// Writes an array, a scalar or a dtype whose id was written.
pub fn encode<'py, E: TypeWalker<'py>>(encoder: &mut E, known: KnownType, object: &Bound<'_, PyAny>) -> Result<()> {
    let Some(numpy) = Numpy::imported(object.py())? else { return Err(encode_error("an array without NumPy")) };
    match known {
        KnownType::NumpyArray => encode_array(encoder, numpy, object),
        KnownType::NumpyScalar => encode_scalar(encoder, numpy, object),
        _ => match describe(encoder, numpy, object)? {
            Ok(form) => {
                encoder.w().known(KnownType::NumpyDtype);
                form.write(encoder.w())
            }
            Err(why) => refuse_to_store(encoder, object, why),
        },
    }
}

/// A dtype taken apart, once per message.
fn describe<'py, E: TypeWalker<'py>>(
    encoder: &mut E,
    numpy: &Numpy,
    dtype: &Bound<'_, PyAny>,
) -> Result<std::result::Result<Rc<DtypeForm>, &'static str>> {
    let address = dtype.as_ptr() as usize;
    if let Some(form) = encoder.dtypes().as_ref().and_then(|dtypes| dtypes.get(&address)) {
        return Ok(Ok(form.clone()));
    }
    let form = match dtype::describe(numpy, dtype)? {
        Ok(form) => Rc::new(form),
        Err(why) => return Ok(Err(why)),
    };
    encoder.dtypes().get_or_insert_default().insert(address, form.clone());
    encoder.keep(owned(dtype));
    Ok(Ok(form))
}

/// Writes the dtype of an array or a scalar: as text, or as a value with an id, which arrays may share. In canonical
/// form it has no id, because sharing a dtype makes arrays no different.
fn write_dtype<'py, E: TypeWalker<'py>>(encoder: &mut E, dtype: &Bound<'_, PyAny>, form: &DtypeForm) -> Result<()> {
    if !form.is_plain() {
        // SAFETY: `dtype` is alive, and kept until the message is complete. Three hold it: the array, this function and
        // the temporaries.
        if !encoder.is_canonical() && unsafe { encoder.met(dtype.as_ptr(), BY_PARENT_AND_US + 1)? } {
            return Ok(());
        }
        encoder.w().known(KnownType::NumpyDtype);
    }
    form.write(encoder.w())
}

fn refuse_to_store<'py, E: TypeWalker<'py>>(encoder: &mut E, object: &Bound<'_, PyAny>, why: &str) -> Result<()> {
    // SAFETY: `object` is held by the `Bound`, and its id was written.
    unsafe { encoder.refused(object.as_ptr(), why) }
}

fn encode_array<'py, E: TypeWalker<'py>>(encoder: &mut E, numpy: &Numpy, array: &Bound<'_, PyAny>) -> Result<()> {
    let py = array.py();
    let dtype = array.getattr(intern!(py, "dtype"))?;
    let form = match describe(encoder, numpy, &dtype)? {
        Ok(form) => form,
        Err(why) => return refuse_to_store(encoder, array, why),
    };
    if form.content() == Content::Bytes {
        return encode_bytes(encoder, numpy, array, &dtype, &form);
    }
    meet_owner(encoder, array)?;
    let flags = array.getattr(intern!(array.py(), "flags"))?;
    let flag = |name: &str| flags.getattr(name)?.is_truthy();
    let fortran = flag("f_contiguous")? && !flag("c_contiguous")?;
    let order = match in_own_order(array, fortran || flag("c_contiguous")?)? {
        Some((axes, _)) => Order::Axes(axes),
        None if fortran => Order::Fortran,
        None => Order::C,
    };
    let dims: Vec<isize> = extracted(&array.getattr(intern!(array.py(), "shape"))?)?;
    head(encoder, &dtype, &form, &dims, &order, !flag("writeable")?)?;
    let array = &match &order {
        Order::Axes(axes) => array.call_method1("transpose", (&axes[..],))?,
        _ => array.clone(),
    };
    if form.content() == Content::Fields {
        let mut parts = Vec::new();
        for name in dtype.getattr(intern!(dtype.py(), "names"))?.try_iter()? {
            // A copy, which is no view of memory that occurs twice.
            let field = array.get_item(name?)?.call_method0(intern!(array.py(), "copy"))?;
            parts.push(WorkItem::Value(owned(&field)));
        }
        encoder.w().list(parts.len());
        encoder.then(parts);
        return Ok(());
    }
    let items = array.call_method1("ravel", (if fortran { "F" } else { "C" },))?.call_method0("tolist")?;
    let items = items.cast_into::<PyList>().map_err(PyErr::from)?;
    encoder.w().list(items.len());
    if form.content() == Content::Strings {
        for item in &items {
            match item.cast_exact::<PyString>() {
                // SAFETY: the list holds the item, which the cast says to be a string.
                Ok(item) => unsafe { encoder.w().text(text::parts(item.as_ptr()).ok_or_else(raised)?) },
                Err(_) => encoder.w().none(),
            }
        }
        return Ok(());
    }
    let parts = items.iter().map(|item| WorkItem::Value(owned(&item))).collect::<Vec<_>>();
    drop(items); // so that only the array and its work item hold each item
    encoder.then(parts);
    Ok(())
}

/// Has all objects looked up if another array of the message is a view of the same memory, as references to an item say nothing of
/// that.
fn meet_owner<'py, E: TypeWalker<'py>>(encoder: &mut E, array: &Bound<'_, PyAny>) -> Result<()> {
    let base = array.getattr(intern!(array.py(), "base"))?;
    let owner = if base.is_none() { array.as_ptr() } else { base.as_ptr() };
    // The array holds its base, and is held itself until the message is complete where it may occur again.
    match encoder.item_owners().get_or_insert_default().insert(owner as usize, ()) {
        None => Ok(()),
        Some(()) => encoder.asks_program(),
    }
}

/// The order of an array's items.
enum Order {
    C,
    Fortran,
    /// C order of these axes.
    Axes(Vec<usize>),
}

/// For an array in neither order: its axes sorted by decreasing stride, and the array in that order if it has no gaps.
fn in_own_order<'py>(
    array: &Bound<'py, PyAny>,
    in_usual_order: bool,
) -> Result<Option<(Vec<usize>, Bound<'py, PyAny>)>> {
    if in_usual_order {
        return Ok(None);
    }
    let strides: Vec<isize> = extracted(&array.getattr(intern!(array.py(), "strides"))?)?;
    let mut axes: Vec<usize> = (0..strides.len()).collect();
    axes.sort_by_key(|&axis| std::cmp::Reverse(strides[axis]));
    let along = array.call_method1("transpose", (&axes[..],))?;
    let is_dense = along.getattr(intern!(along.py(), "flags"))?.getattr("c_contiguous")?.is_truthy()?;
    Ok(is_dense.then_some((axes, along)))
}

/// Whether the items of an array are stored without gaps, in whatever order of axes.
pub fn has_an_order(array: &Bound<'_, PyAny>) -> Result<bool> {
    let in_usual_order = array.getattr(intern!(array.py(), "flags"))?.getattr("forc")?.is_truthy()?;
    Ok(in_usual_order || in_own_order(array, false)?.is_some())
}

fn head<'py, E: TypeWalker<'py>>(
    encoder: &mut E,
    dtype: &Bound<'_, PyAny>,
    form: &DtypeForm,
    dims: &[isize],
    order: &Order,
    read_only: bool,
) -> Result<()> {
    encoder.w().known(KnownType::NumpyArray);
    write_dtype(encoder, dtype, form)?;
    encoder.w().tuple(dims.len());
    dims.iter().for_each(|&dim| encoder.w().int(dim as i64));
    match order {
        Order::C if !read_only => encoder.w().bool(false),
        Order::Fortran if !read_only => encoder.w().bool(true),
        _ => {
            encoder.w().tuple(1 + dims.len());
            encoder.w().bool(read_only);
            for at in 0..dims.len() {
                let axis = match order {
                    Order::C => at,
                    Order::Fortran => dims.len() - 1 - at,
                    Order::Axes(axes) => axes[at],
                };
                encoder.w().int(axis as i64);
            }
        }
    }
    Ok(())
}

/// Writes an array whose items are bytes, directly from its memory if that has no gaps.
fn encode_bytes<'py, E: TypeWalker<'py>>(
    encoder: &mut E,
    numpy: &Numpy,
    array: &Bound<'_, PyAny>,
    dtype: &Bound<'_, PyAny>,
    form: &DtypeForm,
) -> Result<()> {
    let view = View::with(array, ffi::PyBUF_STRIDES)?;
    let in_order = view.is_contiguous(b'C');
    let (view, order, source) = if in_order {
        (view, Order::C, array.clone())
    } else if view.is_contiguous(b'F') {
        (view, Order::Fortran, array.getattr(intern!(array.py(), "T"))?)
    } else if let Some((axes, along)) = in_own_order(array, false)? {
        (View::with(&along, ffi::PyBUF_STRIDES)?, Order::Axes(axes), along)
    } else {
        drop(view);
        return encode_bytes(encoder, numpy, &array.call_method0(intern!(array.py(), "copy"))?, dtype, form);
    };
    let dims: Vec<isize> = match &order {
        Order::Axes(_) => extracted(&array.getattr(intern!(array.py(), "shape"))?)?,
        _ => Vec::from(view.dims()),
    };
    head(encoder, dtype, form, &dims, &order, view.is_read_only())?;
    let mask = form.mask();
    if mask.is_none() && encoder.buffers().sends(view.len()) {
        buffer::send(encoder, view, OutOfBand::Writable);
        return Ok(());
    }
    if encoder.buffers().gives() && view.len() > 0 && mask.is_none() {
        // As plain bytes, because some dtypes can't be exported as buffers.
        let bytes = numpy.ndarray.bind(array.py()).call1(((view.len(),), &numpy.uint8, source))?;
        let block = array.py().import("pickle")?.getattr("PickleBuffer")?.call1((bytes,))?;
        if buffer::out_of_band(encoder, &block, view.is_read_only())? {
            return Ok(());
        }
    }
    match mask {
        None => encoder.w().bytes(view.as_slice()),
        Some(mask) => encoder.w().bytes(&masked(view.as_slice(), &mask)),
    }
    Ok(())
}

fn masked(items: &[u8], mask: &[u8]) -> Vec<u8> {
    // Item by item, which the compiler does many bytes at a time.
    let mut kept = Vec::with_capacity(items.len());
    for item in items.chunks(mask.len().max(1)) {
        kept.extend(item.iter().zip(mask).map(|(&byte, &bits)| byte & bits));
    }
    kept
}

fn encode_scalar<'py, E: TypeWalker<'py>>(encoder: &mut E, numpy: &Numpy, scalar: &Bound<'_, PyAny>) -> Result<()> {
    let class = scalar.get_type();
    // As text and bytes, because an array would cut trailing zeros.
    if class.is(&numpy.str_) {
        encoder.w().known(KnownType::NumpyScalar);
        encoder.w().text(Text::Ascii(b"U"));
        // SAFETY: `str_` is a subclass of str.
        encoder.w().text(unsafe { text::parts(scalar.as_ptr()) }.ok_or_else(raised)?);
        return Ok(());
    }
    if class.is(&numpy.bytes_) {
        encoder.w().known(KnownType::NumpyScalar);
        encoder.w().text(Text::Ascii(b"S"));
        // SAFETY: `bytes_` is a subclass of bytes, which the caller holds.
        encoder.w().bytes(unsafe { bytes_of(scalar.as_ptr()) });
        return Ok(());
    }
    let dtype = scalar.getattr(intern!(scalar.py(), "dtype"))?;
    let form = match describe(encoder, numpy, &dtype)? {
        Ok(form) if form.content() == Content::Bytes => form,
        Ok(_) => return refuse_to_store(encoder, scalar, "it has fields that are objects, which needs"),
        Err(why) => return refuse_to_store(encoder, scalar, why),
    };
    encoder.w().known(KnownType::NumpyScalar);
    write_dtype(encoder, &dtype, &form)?;
    let view = View::with(scalar, ffi::PyBUF_SIMPLE)?;
    match form.mask() {
        None => encoder.w().bytes(view.as_slice()),
        Some(mask) => encoder.w().bytes(&masked(view.as_slice(), &mask)),
    }
    Ok(())
}

/// Whether an array's items are numbers or text, which nested lists can hold as well.
pub fn is_numeric(array: &Bound<'_, PyAny>) -> PyResult<bool> {
    let kind: String = array.getattr(intern!(array.py(), "dtype"))?.getattr("kind")?.extract()?;
    Ok(matches!(kind.as_str(), "b" | "i" | "u" | "f" | "U"))
}

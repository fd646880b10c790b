//! deque, OrderedDict, defaultdict, Counter and mappingproxy. The first four may contain themselves, so they are made
//! empty and then filled.

use crate::classes::how::Base;
use crate::cpython::owned;
use crate::cpython::{gc, Obj, Owned, Type};
use crate::error::{decode, encode as encode_error, raised, Result};
use crate::memory::{vec, Vec};
use crate::types::library::Library;
use crate::types::walker::{TypeWalker, WorkItem};
use crate::types::{new_of, reference};
use holdall_format::model::{KnownType, TypeWriter};
use holdall_format::{Token, Writer};
use pyo3::exceptions::PyValueError;
use pyo3::ffi;
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::types::PyDict;

pub fn encode<'py, E: TypeWalker<'py>>(encoder: &mut E, known: KnownType, object: &Bound<'_, PyAny>) -> Result<()> {
    if matches!(known, KnownType::PythonOrderedDict | KnownType::PythonCounter) && is_exact(object, known)? {
        // Instances of these two may have attributes, for which the known type has no place.
        if object.getattr(intern!(object.py(), "__dict__"))?.len()? > 0 {
            // SAFETY: `object` is held by the `Bound`, and its id was written.
            return unsafe { encoder.refused(object.as_ptr(), "it carries attributes of its own, which needs") };
        }
    }
    encoder.w().known(known);
    match known {
        KnownType::PythonDeque => {
            match object.getattr(intern!(object.py(), "maxlen"))?.extract::<Option<i64>>()? {
                Some(most) => encoder.w().int(most),
                None => encoder.w().none(),
            }
            // SAFETY: the `Bound` holds the deque, whose own length and iterator are used, even if a subclass overrides them.
            unsafe {
                let class = Library::Deque.get(object.py())?.as_type_ptr();
                let len = (*class).tp_as_sequence.as_ref().and_then(|methods| methods.sq_length);
                let (Some(len), Some(iterate)) = (len, (*class).tp_iter) else {
                    return Err(encode_error("a deque without an order"));
                };
                let iterator = Owned::new(iterate(object.as_ptr())).ok_or_else(raised)?;
                encoder.w().list(len(object.as_ptr()) as usize);
                encoder.then_each(&iterator)?;
            }
        }
        KnownType::PythonOrderedDict => {
            // SAFETY: `known` says that it is an ordered dict.
            unsafe { encoder.ordered_body(object.as_ptr())? };
        }
        KnownType::PythonDefaultDict => {
            let factory = object.getattr(intern!(object.py(), "default_factory"))?;
            let dict = owned(object);
            if reference::write_builtin(encoder, &factory)? {
                encoder.dict_body(&dict)?;
            } else {
                encoder.then([WorkItem::Value(owned(&factory)), WorkItem::Table(dict)]);
            }
        }
        KnownType::PythonCounter => encoder.dict_body(&owned(object))?,
        _ => {
            let (proxy, shown) = shown_by(object)?;
            let shown = if shown.is_exact_instance_of::<PyDict>() {
                shown
            } else {
                proxy.call_method0(intern!(proxy.py(), "copy"))?
            };
            encoder.then_made(object.as_ptr(), vec![WorkItem::Value(owned(&shown))]);
        }
    }
    Ok(())
}

/// The mapping at the end of a chain of proxies, and the innermost proxy. A proxy calls the next one by recursion, so
/// long chains must be followed here.
pub fn shown_by<'py>(object: &Bound<'py, PyAny>) -> Result<(Bound<'py, PyAny>, Bound<'py, PyAny>)> {
    let mut proxy = object.clone();
    loop {
        // SAFETY: the first is a mappingproxy, and the loop continues only with objects of the same class.
        let shown = unsafe { gc::shown(proxy.as_ptr()) };
        let shown = shown.ok_or_else(|| encode_error("a mappingproxy of nothing"))?;
        // SAFETY: `shown` is an owned reference, and `object` proves that the GIL is held.
        let shown = unsafe { Bound::from_borrowed_ptr(object.py(), shown.get()) };
        if !shown.get_type().is(object.get_type()) {
            return Ok((proxy, shown));
        }
        proxy = shown;
    }
}

fn is_exact(object: &Bound<'_, PyAny>, known: KnownType) -> Result<bool> {
    let class = if known == KnownType::PythonCounter { Library::Counter } else { Library::OrderedDict };
    Ok(object.get_type().is(class.get(object.py())?))
}

/// Alternating keys and values in an ordered dict's own order, which its table doesn't have.
///
/// # Safety
/// `object` is an ordered dict.
pub unsafe fn ordered_items(object: Obj) -> Result<Vec<WorkItem>> {
    // SAFETY: `object` is an ordered dict by contract; the builtin's own iterator is used, even if a subclass overrides
    // it.
    unsafe {
        let ordered = std::ptr::addr_of_mut!(crate::cpython::PyODict_Type);
        let Some(iterate) = (*ordered).tp_iter else { return Err(decode("an ordered dict without an order", 0)) };
        let keys = Owned::new(iterate(object)).ok_or_else(raised)?;
        let mut parts = Vec::new();
        while let Some(key) = Owned::new(ffi::PyIter_Next(keys.get())) {
            let value = ffi::PyDict_GetItemWithError(object, key.get());
            if value.is_null() {
                return Err(raised());
            }
            parts.push(WorkItem::Key(key));
            parts.push(WorkItem::Value(Owned::borrowed(value)));
        }
        if !ffi::PyErr_Occurred().is_null() {
            return Err(raised());
        }
        Ok(parts)
    }
}

/// An empty deque; `most` is its maxlen or None.
pub fn deque(py: Python<'_>, most: Token<'_>, at: usize) -> Result<Owned> {
    let class = Library::Deque.get(py)?;
    let made = match most {
        Token::None => class.call0()?,
        Token::Int(most) if most >= 0 => class.call1(((), most))?,
        _ => return Err(decode("expected the maxlen of a deque", at)),
    };
    Ok(owned(&made))
}

/// An empty instance of a subclass of deque or defaultdict; `most` is a deque's maxlen or None.
pub fn empty_of(py: Python<'_>, known: KnownType, class: Type, most: Option<i64>) -> Result<Owned> {
    let base = if known == KnownType::PythonDeque { Library::Deque } else { Library::DefaultDict }.get(py)?;
    // SAFETY: callers pass the class of a shape, which holds it, and which is derived from `base`: its constructor takes a
    // class, a tuple, and keywords or null.
    unsafe {
        let of: Type = base.as_ptr().cast();
        let (Some(new), Some(init)) = ((*of).tp_new, (*of).tp_init) else {
            return Err(decode("a collection without a constructor", 0));
        };
        let none = Owned::new(ffi::PyTuple_New(0)).ok_or_else(raised)?;
        let made = Owned::new(new(class, none.get(), std::ptr::null_mut())).ok_or_else(raised)?;
        if known == KnownType::PythonDeque {
            let args = ((), most).into_pyobject(py)?;
            if init(made.get(), args.as_ptr(), std::ptr::null_mut()) != 0 {
                return Err(raised());
            }
        }
        Ok(made)
    }
}

/// Appends an item to a deque.
///
/// # Safety
/// Both are alive, and `deque` is a deque.
pub unsafe fn append(py: Python<'_>, deque: Obj, item: Obj) -> Result<()> {
    let arguments = [deque, item];
    // SAFETY: both are alive by contract, and the array has two of them.
    let done = unsafe {
        let name = intern!(py, "append").as_ptr();
        Owned::new(ffi::PyObject_VectorcallMethod(name, arguments.as_ptr(), 2, std::ptr::null_mut()))
    };
    done.map(drop).ok_or_else(raised)
}

pub fn empty(py: Python<'_>, known: KnownType) -> Result<Owned> {
    let class = match known {
        KnownType::PythonOrderedDict => Library::OrderedDict,
        KnownType::PythonDefaultDict => Library::DefaultDict,
        _ => {
            let class = Library::Counter.get(py)?;
            // What the constructor of a counter does besides is Python code that finds nothing to count.
            // SAFETY: the class is a subclass of dict.
            return unsafe { new_of(Base::Dict, class.as_ptr().cast(), None) };
        }
    };
    Ok(owned(&class.get(py)?.call0()?))
}

pub fn build_proxy<'py>(py: Python<'py>, parts: &[Bound<'py, PyAny>]) -> PyResult<Bound<'py, PyAny>> {
    let [shown] = parts else { return Err(PyValueError::new_err("another count of values")) };
    Library::MappingProxy.get(py)?.call1((shown.cast::<PyDict>()?,))
}

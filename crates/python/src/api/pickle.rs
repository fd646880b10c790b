//! The native functions and classes of `holdall.pickle` and `holdall.safe_pickle`.

use crate::cpython::new;
use crate::decode;
use crate::encode::scratch::Scratch;
use crate::encode::{self, PickleHooks};
use crate::error::door;
use crate::io::files::decode_message;
use crate::io::files::{load_by, Ahead, Given};
use crate::io::streams::Progress;
use crate::memory::Vec;
use crate::message::load_args;
use crate::message::load_args::LoadArgs;
use crate::message::options;
use crate::message::options::buffer_sink;
use crate::message::{encode_message, finished_message};
use holdall_format::hold::Writer;
use pyo3::exceptions::{PyRuntimeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyTuple};
use std::sync::{Arc, Mutex, PoisonError};

/// State that one call at a time may use.
struct Turn<T>(Mutex<Option<T>>);

impl<T> Turn<T> {
    fn new(state: T) -> Turn<T> {
        Turn(Mutex::new(Some(state)))
    }

    /// Taken out while it is used: a hook that calls again, or another thread, finds nothing.
    fn with<U>(&self, act: impl FnOnce(&mut T) -> PyResult<U>) -> PyResult<U> {
        let taken = self.0.lock().unwrap_or_else(PoisonError::into_inner).take();
        let Some(mut state) = taken else {
            return Err(PyRuntimeError::new_err(
                "the pickler or unpickler is in use: by another thread, or by the call that called this one",
            ));
        };
        let done = door(|| act(&mut state));
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = Some(state);
        done
    }
}

// SAFETY: it belongs to a Python object, and is used and dropped with the GIL held, as its Python objects need.
unsafe impl Send for encode::Series {}

/// What a `Pickler` has written: objects that the next message may refer to.
#[pyclass(module = "holdall.pickle", frozen)]
pub struct PicklerMemo(Turn<encode::Series>);

#[pymethods]
impl PicklerMemo {
    /// known: another such memo, or what `copy` gave; it may belong to another pickler.
    #[new]
    #[pyo3(signature = (known = None, /))]
    fn new(known: Option<&Bound<'_, PyAny>>) -> PyResult<PicklerMemo> {
        door(|| {
            let mut series = encode::Series::new();
            let mut dict = None;
            if let Some(known) = known {
                match known.cast::<PicklerMemo>() {
                    Ok(memo) => {
                        memo.get().0.with(|other| {
                            other.members().for_each(|(object, number)| series.add(object.clone(), number));
                            series.reach(other.objects());
                            Ok(())
                        })?;
                    }
                    Err(_) => dict = Some(known.cast::<PyDict>()?),
                }
            }
            for (_, entry) in dict.into_iter().flatten() {
                let (number, object): (u32, Bound<'_, PyAny>) = entry.cast::<PyTuple>()?.extract()?;
                series.add(crate::cpython::owned(&object), number);
            }
            Ok(PicklerMemo(Turn::new(series)))
        })
    }

    fn clear(&self) -> PyResult<()> {
        door(|| {
            // Dropped after the borrow: a destructor may run code that uses the pickler.
            self.0.with(|series| Ok(std::mem::replace(series, encode::Series::new()))).map(drop)
        })
    }

    /// {`id()` of an object: (its object id, the object)}, as in pickle.
    fn copy<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        door(|| {
            let dict = new::dict(py)?;
            self.0.with(|series| {
                for (object, number) in series.members() {
                    // SAFETY: the series holds the object.
                    let bound = unsafe { Bound::from_borrowed_ptr(py, object.get()) };
                    dict.set_item(object.get() as usize, (number, bound))?;
                }
                Ok(())
            })?;
            Ok(dict)
        })
    }

    fn __reduce__<'py>(&self, py: Python<'py>) -> PyResult<(Bound<'py, PyAny>, (Bound<'py, PyDict>,))> {
        door(|| Ok((py.get_type::<PyDict>().into_any(), (self.copy(py)?,))))
    }
}

/// What an `Unpickler` has read: objects that the next message may refer to.
#[pyclass(module = "holdall.pickle", frozen)]
pub struct UnpicklerMemo(Turn<decode::Series>);

#[pymethods]
impl UnpicklerMemo {
    /// known: another such memo, or what `copy` gave; it may belong to another unpickler.
    #[new]
    #[pyo3(signature = (known = None, /))]
    fn new(known: Option<&Bound<'_, PyAny>>) -> PyResult<UnpicklerMemo> {
        door(|| {
            let mut series = decode::Series::default();
            let Some(known) = known else { return Ok(UnpicklerMemo(Turn::new(series))) };
            match known.cast::<UnpicklerMemo>() {
                Ok(memo) => memo.get().0.with(|other| {
                    series.adopt(other);
                    Ok(())
                })?,
                Err(_) => {
                    let dict = known.cast::<PyDict>()?;
                    let mut entries = Vec::new();
                    for (number, object) in dict {
                        let number: isize = number.extract()?;
                        let number = usize::try_from(number)
                            .map_err(|_| PyValueError::new_err("memo key must be positive integers."))?;
                        entries.push((number, crate::cpython::owned(&object)));
                    }
                    entries.sort_unstable_by_key(|entry| entry.0);
                    let last = entries.last().map_or(0, |entry| entry.0 + 1);
                    if last > entries.len().saturating_mul(16) + 1024 {
                        return Err(PyValueError::new_err("memo keys are numbers of objects, one after the other"));
                    }
                    let mut entries = entries.into_iter().peekable();
                    for number in 0..last {
                        series.push(entries.next_if(|entry| entry.0 == number).map(|entry| entry.1));
                    }
                }
            }
            Ok(UnpicklerMemo(Turn::new(series)))
        })
    }

    fn clear(&self) -> PyResult<()> {
        door(|| self.0.with(|series| Ok(std::mem::take(series))).map(drop))
    }

    /// {object id: object}, as in pickle.
    fn copy<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        door(|| {
            let dict = new::dict(py)?;
            self.0.with(|series| {
                for (number, object) in series.members() {
                    // SAFETY: the series holds the object.
                    dict.set_item(number, unsafe { Bound::from_borrowed_ptr(py, object.get()) })?;
                }
                Ok(())
            })?;
            Ok(dict)
        })
    }

    fn __reduce__<'py>(&self, py: Python<'py>) -> PyResult<(Bound<'py, PyAny>, (Bound<'py, PyDict>,))> {
        door(|| Ok((py.get_type::<PyDict>().into_any(), (self.copy(py)?,))))
    }
}

/// `dumps` with pickle's hooks. With a memo, the message may refer to those before it.
#[pyfunction]
#[pyo3(signature = (obj, persistent_id, reducer_override, dispatch_table, buffer_callback, memo, /))]
pub fn dumps_pickle(
    obj: &Bound<'_, PyAny>,
    persistent_id: Option<&Bound<'_, PyAny>>,
    reducer_override: Option<&Bound<'_, PyAny>>,
    dispatch_table: Option<&Bound<'_, PyAny>>,
    buffer_callback: Option<&Bound<'_, PyAny>>,
    memo: Option<&Bound<'_, PicklerMemo>>,
) -> PyResult<Py<PyAny>> {
    door(|| {
        let mut options = options::encoding(true, false, true, false, None)?;
        options.pickle = Some(Arc::new(PickleHooks {
            persistent_id: options::hook(persistent_id, "persistent_id")?,
            reducer_override: options::hook(reducer_override, "reducer_override")?,
            dispatch_table: dispatch_table.filter(|table| !table.is_none()).map(crate::cpython::owned),
        }));
        let Some(memo) = memo else { return encode_message(obj, &options, buffer_callback) };
        let sink = buffer_sink(buffer_callback)?;
        let py = obj.py();
        memo.get().0.with(|series| {
            finished_message(py, |scratch: &mut Scratch| {
                let writer = match series.objects() {
                    0 => Writer::new(&mut scratch.output, true),
                    objects => Writer::continued(&mut scratch.output, u64::from(objects), u64::from(series.shapes())),
                };
                // SAFETY: `py` proves that the GIL is held, and `obj` is alive.
                unsafe { series.message(py, writer, &options, obj.as_ptr(), sink) }
            })
        })
    })
}

/// The options of loading: for trusted messages with pickle's hooks, for safe ones with the classes that the caller
/// permits.
fn reading(
    persistent_load: Option<&Bound<'_, PyAny>>,
    find_class: Option<&Bound<'_, PyAny>>,
    types: Option<&Bound<'_, PyAny>>,
) -> PyResult<decode::Options> {
    let mut options = match types {
        None => load_args::unpickling(persistent_load, find_class)?,
        Some(types) => LoadArgs { types: Some(types), ..LoadArgs::default() }.hold()?,
    };
    options.pickle.ignores_rest = true;
    Ok(options)
}

/// `loads` as in pickle: bytes after the message are ignored. With `types`, the message must be a safe one.
#[pyfunction]
#[pyo3(signature = (data, persistent_load, find_class, buffers, types, /))]
pub fn loads_pickle(
    data: &Bound<'_, PyAny>,
    persistent_load: Option<&Bound<'_, PyAny>>,
    find_class: Option<&Bound<'_, PyAny>>,
    buffers: Option<&Bound<'_, PyAny>>,
    types: Option<&Bound<'_, PyAny>>,
) -> PyResult<Py<PyAny>> {
    door(|| decode_message(data, &reading(persistent_load, find_class, types)?, buffers))
}

/// The next graph from a function that fills a buffer; nothing is read beyond it.
///
/// `peek`: a function that is called with a size and returns the next bytes (that many, fewer or more) without
/// consuming them; or None. Without it, a message outside of a file is read in many small pieces.
#[pyfunction]
#[pyo3(signature = (fill, peek, persistent_load, find_class, buffers, types, memo, /))]
pub fn load_pickle(
    fill: &Bound<'_, PyAny>,
    peek: Option<&Bound<'_, PyAny>>,
    persistent_load: Option<&Bound<'_, PyAny>>,
    find_class: Option<&Bound<'_, PyAny>>,
    buffers: Option<&Bound<'_, PyAny>>,
    types: Option<&Bound<'_, PyAny>>,
    memo: Option<&Bound<'_, UnpicklerMemo>>,
) -> PyResult<Py<PyAny>> {
    door(|| {
        let options = reading(persistent_load, find_class, types)?;
        let buffers = buffers.filter(|buffers| !buffers.is_none()).map(crate::cpython::owned);
        let ahead = peek.map_or(Ahead::Exact, Ahead::Seen);
        let load = |series: Option<&mut decode::Series>| {
            let given = Given { buffers: buffers.clone(), series };
            load_by(fill, None, false, ahead, &options, given, Progress::new(None, 0)?)
        };
        match memo {
            Some(memo) => memo.get().0.with(|series| load(Some(series))),
            None => load(None),
        }
    })
}

//! `deepcopy`: copying a graph without bytes in between.

use crate::cpython::owned;
use crate::error::door;
use pyo3::prelude::*;
use pyo3::types::PyDict;

/// Clone the object graph of `obj` without bytes: the result of `copy.deepcopy`, faster and at any depth.
///
/// Sharing, cycles and order are kept. Immutable values are shared with the original (numbers, text, bytes, dates, paths,
/// functions, classes, members of enumerations, and tuples and frozensets of nothing else). Everything else is made
/// anew: instances are allocated and their fields copied, without `__init__`. A `__deepcopy__` is called, and so is
/// `__reduce_ex__` if a class defines its own or keeps state that only its own code can read.
/// Attributes of subclasses of builtins and causes of exceptions are copied too; tracebacks are left out.
/// The garbage collector is paused during the call.
///
/// memo: as for `copy.deepcopy`, {id of an object: its copy}, which is read and filled. This costs a lookup for every
/// object; without it, only objects with more than one reference are looked up. Numbers, text and bytes never are.
///
/// Raises HoldallError if user code changes a container of the copy meanwhile, or if an object is made of parts that
/// contain the object itself. Exceptions of `__deepcopy__` and `__reduce_ex__` are passed on, and so is the TypeError for
/// what can't be copied (a file, a lock).
///
/// >>> a = [[]]; a.append(a)
/// >>> b = deepcopy(a)
/// >>> b[1] is b, b[0] is a[0]
/// (True, False)
/// >>> chain = []
/// >>> for _ in range(100_000): chain = [chain]
/// >>> deepcopy(chain) is chain
/// False
/// >>> import threading
/// >>> lock = threading.Lock()
/// >>> deepcopy({"lock": lock, "rows": [1]}, {id(lock): lock})["lock"] is lock
/// True
#[pyfunction]
#[pyo3(signature = (obj, memo = None))]
pub fn deepcopy<'py>(obj: &Bound<'py, PyAny>, memo: Option<&Bound<'py, PyDict>>) -> PyResult<Bound<'py, PyAny>> {
    door(|| {
        let py = obj.py();
        // SAFETY: `obj` is alive, and a `PyDict` is a dict; the copy is a reference of ours, which the `Bound` takes
        // over.
        unsafe {
            let copy = crate::deepcopy::deepcopy(py, obj.as_ptr(), memo.map(|memo| owned(memo.as_any())));
            Ok(Bound::from_owned_ptr(py, copy.map_err(|fault| fault.into_py(0))?.into_raw()))
        }
    })
}

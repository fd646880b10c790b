//! `deepcopy`: the graph once more, without bytes.

use crate::cpython::owned;
use crate::error::door;
use pyo3::prelude::*;
use pyo3::types::PyDict;

/// The object graph of `obj`, cloned without bytes: what `copy.deepcopy` gives, faster and at any depth.
///
/// Who is shared with whom, cycles and order are kept. Immutable values are shared with the original (numbers, text,
/// bytes, dates, paths, functions, classes, members of enumerations, and tuples and frozensets of nothing else);
/// everything else is made anew: instances by allocation and their fields, without `__init__`. A `__deepcopy__` is
/// called, and `__reduce_ex__` is asked where a class defines its own or keeps state that only its own code can read.
/// Attributes of subclasses of builtins and causes of exceptions are copied too; tracebacks are left out.
/// The garbage collector is paused for the length of the call.
///
/// memo: as for `copy.deepcopy`, {id of an object: its copy}: read and filled. That costs a lookup for every object;
/// without it only objects that more than one place refers to are looked up. Numbers, text and bytes never are.
///
/// Raises HoldallError if a container of the copy is changed by user code meanwhile, or if an object is made of parts
/// that can't be without it. What `__deepcopy__` and `__reduce_ex__` raise comes through, as does the TypeError of what
/// can't be copied (a file, a lock).
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
        // SAFETY: `obj` is alive, and a `PyDict` is a dict; the copy is a new reference.
        unsafe {
            let copy = crate::deepcopy::deepcopy(py, obj.as_ptr(), memo.map(|memo| owned(memo.as_any())));
            Ok(Bound::from_owned_ptr(py, copy.map_err(|fault| fault.into_py(0))?.into_raw()))
        }
    })
}

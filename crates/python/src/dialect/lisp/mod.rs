//! Common Lisp's values: which Python classes they become, found out by `holdall.lisp` once for each class of a message.
//!
//! `decode.rs` has the hooks in the loop that builds them, `encode.rs` the walk that writes them.

mod arrays;
mod cell;
mod conses;
mod decode;
mod encode;
mod known;
mod lists;
mod named;
mod objects;
mod symbols;
mod tables;
mod written_conses;

pub use known::{FromLisp, Lisp};
pub use named::{Form, Found, ToLisp};

use crate::classes::plan;
use crate::cpython::{held, owned, text, Owned};
use pyo3::exceptions::PySystemError;
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;

/// What of `holdall.lisp` is called from here, looked up once.
#[derive(Debug)]
pub struct Names {
    pub symbol: Owned,
    /// Where a symbol has its name and its package.
    pub symbol_slots: [usize; 2],
    pub cons: Owned,
    pub cons_slots: [usize; 2],
    pub record: Owned,
    /// Where a record has its type and its values.
    pub record_slots: [usize; 2],
    pub single: Owned,
    pub unbound: Owned,
    pub of_type: Owned,
    pub resolve: Owned,
    pub permitted: Owned,
    pub table: Owned,
    pub pairs: Owned,
    pub packed: Owned,
    pub array: Owned,
    pub fill_array: Owned,
    pub pathname: Owned,
    pub ratio: Owned,
    pub complex: Owned,
    pub complex_single: Owned,
    pub class_of: Owned,
    pub lower: Owned,
}

static NAMES: PyOnceLock<Names> = PyOnceLock::new();

impl Names {
    pub fn get(py: Python<'_>) -> PyResult<&'static Names> {
        NAMES.get_or_try_init(py, || {
            let host = py.import("holdall.lisp._host")?;
            let get = |name: &str| host.getattr(name).map(|found| owned(&found));
            let slots = |class: &str, names: [&[u8]; 2]| -> PyResult<[usize; 2]> {
                let class = host.getattr(class)?;
                // SAFETY: the GIL is held, and so is the class.
                let plan = unsafe { plan::of(py, class.as_ptr().cast()) }.map_err(|fault| fault.into_py(0))?;
                let slot = |name: &[u8]| {
                    // SAFETY: the plan holds the strings of its slots' names.
                    let found = plan.slots.iter().find(|slot| unsafe { text::ascii(slot.name.get()) } == Some(name));
                    found
                        .map(|slot| slot.offset)
                        .ok_or_else(|| PySystemError::new_err("a value class without its slots"))
                };
                Ok([slot(names[0])?, slot(names[1])?])
            };
            Ok(Names {
                symbol: get("Symbol")?,
                symbol_slots: slots("Symbol", [b"name", b"package"])?,
                cons: get("Cons")?,
                cons_slots: slots("Cons", [b"car", b"cdr"])?,
                record: get("LispObject")?,
                record_slots: slots("LispObject", [b"type", b"values"])?,
                single: get("SingleFloat")?,
                unbound: get("UNBOUND")?,
                of_type: get("Type")?,
                resolve: get("resolve")?,
                permitted: get("permitted")?,
                table: get("table")?,
                pairs: get("pairs")?,
                packed: get("packed")?,
                array: get("array")?,
                fill_array: get("fill_array")?,
                pathname: get("pathname")?,
                ratio: get("ratio")?,
                complex: get("complex_of")?,
                complex_single: get("complex_single")?,
                class_of: get("class_of")?,
                lower: get("lower")?,
            })
        })
    }
}

/// Calls a function of `holdall.lisp`'s.
pub fn call<'py>(
    py: Python<'py>,
    function: &Owned,
    arguments: impl pyo3::call::PyCallArgs<'py>,
) -> PyResult<Bound<'py, PyAny>> {
    held(py, function).call1(arguments)
}

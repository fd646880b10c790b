//! What the bundles of other libraries' objects ask of stored parts, in one pass: what those libraries' own code takes for granted.
//!
//! Each function says whether it is so. Nothing here builds anything, and nothing runs Python code but the parts' own buffers.

mod arrow;
mod numbers;
mod trees;

use crate::cpython::dict::Position;
use crate::cpython::View;
use crate::error::door;
use crate::memory::{HashSet, Vec};
use numbers::Numbers;
use pyo3::ffi;
use pyo3::prelude::*;
use pyo3::types::PyDict;
use rustc_hash::FxBuildHasher;

/// Puts these functions into the module.
pub fn fill(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_function(wrap_pyfunction!(all_within, module)?)?;
    module.add_function(wrap_pyfunction!(sound_rows, module)?)?;
    module.add_function(wrap_pyfunction!(are_dicts, module)?)?;
    module.add_function(wrap_pyfunction!(trees::tree_levels, module)?)?;
    module.add_function(wrap_pyfunction!(arrow::sound_arrow, module)?)
}

/// The buffer of an array in one piece, in either order.
fn in_one_piece(array: &Bound<'_, PyAny>) -> PyResult<View> {
    View::with(array, ffi::PyBUF_STRIDES | ffi::PyBUF_ANY_CONTIGUOUS)
}

/// Whether all numbers of an array are `low` (0 or -1) or more, and below `high`.
///
/// array: of NumPy's, in one piece. code: what NumPy calls its dtype, of ints in the machine's order: "b", "H", "l" ...
///
/// Raises BufferError: not in one piece. ValueError: another dtype.
#[pyfunction]
#[pyo3(signature = (array, code, low, high, /))]
pub fn all_within(array: &Bound<'_, PyAny>, code: char, low: i64, high: i64) -> PyResult<bool> {
    door(|| {
        let view = in_one_piece(array)?;
        Ok(Numbers::of(view.as_slice(), code, view.item_size())?.within(low, high))
    })
}

/// Whether compressed rows are what they say: their ends rise from 0 to no more than there are places, and each place is below `minor`.
///
/// ends, places: arrays of NumPy's, in one piece, of one dtype, whose `code` is as for `all_within`.
#[pyfunction]
#[pyo3(signature = (ends, places, code, minor, /))]
pub fn sound_rows(ends: &Bound<'_, PyAny>, places: &Bound<'_, PyAny>, code: char, minor: i64) -> PyResult<bool> {
    door(|| {
        let (ends, places) = (in_one_piece(ends)?, in_one_piece(places)?);
        let all = Numbers::of(places.as_slice(), code, places.item_size())?;
        let ends = Numbers::of(ends.as_slice(), code, ends.item_size())?;
        let begins = ends.first() == Some(0);
        Ok(begins && ends.rise_below(all.len() as i64) && all.within(0, minor))
    })
}

/// Whether a value is a dict whose values are dicts, whose values are dicts, down to so many levels below it. Exact dicts all.
#[pyfunction]
#[pyo3(signature = (table, levels, /))]
pub fn are_dicts(table: &Bound<'_, PyAny>, levels: usize) -> PyResult<bool> {
    door(|| {
        let py = table.py();
        let Ok(table) = table.cast_exact::<PyDict>() else { return Ok(false) };
        let mut level = Vec::new();
        level.push(table.clone());
        for left in (0..levels).rev() {
            let mut below = Vec::new();
            // What is met again was looked at.
            let mut met = HashSet::<usize, FxBuildHasher>::default();
            for dict in &level {
                let mut position = Position(0);
                // SAFETY: `dict` is a dict, held in `level`. Its values are alive while nothing runs that could take them out.
                while let Some((_, value)) = unsafe { position.next(dict.as_ptr()) } {
                    // SAFETY: as above.
                    if unsafe { ffi::PyDict_CheckExact(value) } == 0 {
                        return Ok(false);
                    }
                    if left > 0 && met.insert(value as usize) {
                        // SAFETY: as above.
                        below.push(unsafe { Bound::from_borrowed_ptr(py, value) }.cast_into::<PyDict>()?);
                    }
                }
            }
            level = below;
        }
        Ok(true)
    })
}

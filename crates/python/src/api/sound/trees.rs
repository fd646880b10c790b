//! Trees of scikit-learn's, whose nodes are records of an array.

use super::in_one_piece;
use crate::error::door;
use crate::memory::zeroed;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

/// Where a record has what: its size; the children, and how wide they are; the byte that says that it is a leaf, or None where a left
/// child of -1 does; the feature, of 64 bits.
type Layout = (usize, usize, usize, usize, Option<usize>, usize);

/// How many levels a tree has below its root. Each node but the first is the child of one before it, and features of inner nodes are
/// below `features`.
///
/// nodes: an array of NumPy's, in one piece, of records with that layout, in the machine's order of bytes.
///
/// Raises ValueError: it is no such tree.
#[pyfunction]
#[pyo3(signature = (nodes, layout, features, /))]
pub fn tree_levels(nodes: &Bound<'_, PyAny>, layout: Layout, features: i64) -> PyResult<u32> {
    door(|| {
        let view = in_one_piece(nodes)?;
        match levels(view.as_slice(), layout, features) {
            Some(levels) => Ok(levels),
            None => Err(PyValueError::new_err("nodes that make no tree")),
        }
    })
}

fn levels(nodes: &[u8], (size, left, right, width, leaf, feature): Layout, features: i64) -> Option<u32> {
    let count = nodes.len().checked_div(size).filter(|&count| (1..1 << 31).contains(&count))?;
    // Of each node, 1 + its level once its parent was seen.
    let mut level = zeroed::<u32>(count);
    level[0] = 1;
    let mut deepest = 1;
    let mut inner = 0usize;
    for (at, node) in nodes.chunks_exact(size).enumerate() {
        let of_node = level[at];
        if of_node == 0 {
            return None;
        }
        let (left, right) = (child(node, left, width)?, child(node, right, width)?);
        let is_leaf = match leaf {
            Some(leaf) => *node.get(leaf)? != 0,
            None if left == -1 && right != -1 => return None,
            None => left == -1,
        };
        if is_leaf {
            continue;
        }
        inner += 1;
        deepest = deepest.max(of_node + 1);
        for child in [left, right] {
            let place = usize::try_from(child).ok().filter(|&place| place > at && place < count)?;
            if level[place] != 0 {
                return None;
            }
            level[place] = of_node + 1;
        }
        if !(0..features).contains(&child(node, feature, 8)?) {
            return None;
        }
    }
    (count == 2 * inner + 1).then_some(deepest - 1)
}

/// A number of a record: unsigned, if it is of 32 bits.
fn child(node: &[u8], at: usize, width: usize) -> Option<i64> {
    let bytes = node.get(at..)?;
    match width {
        4 => Some(u32::from_ne_bytes(*bytes.first_chunk()?).into()),
        _ => Some(i64::from_ne_bytes(*bytes.first_chunk()?)),
    }
}

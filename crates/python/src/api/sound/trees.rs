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
    // A loop for each kind of tree: nodes are small, and asking each what kind it is took half of the time.
    let short = |node: &[u8], at| number(node, at).map(u32::from_ne_bytes);
    let long = |node: &[u8], at| number(node, at).map(i64::from_ne_bytes);
    let tree = Tree { nodes, size, count, left, right, feature, features };
    match (width, leaf) {
        (4, Some(leaf)) => tree.levels(short, |node, _, _| Some(*node.get(leaf)? != 0)),
        (8, Some(leaf)) => tree.levels(long, |node, _, _| Some(*node.get(leaf)? != 0)),
        (8, None) => tree.levels(long, |_, left, right| match left {
            -1 => (right == -1).then_some(true),
            _ => Some(false),
        }),
        _ => None,
    }
}

/// The nodes of a tree: how many there are, how many bytes each has, and where in it the children and the feature are.
struct Tree<'a> {
    nodes: &'a [u8],
    size: usize,
    count: usize,
    left: usize,
    right: usize,
    feature: usize,
    features: i64,
}

impl Tree<'_> {
    /// child: the number of a child that stands there. is_leaf: whether a node with these children is one.
    #[inline(always)]
    fn levels<N: Into<i64>>(
        &self,
        child: impl Fn(&[u8], usize) -> Option<N>,
        is_leaf: impl Fn(&[u8], i64, i64) -> Option<bool>,
    ) -> Option<u32> {
        // Of each node, 1 + its level once its parent was seen.
        let mut level = zeroed::<u32>(self.count);
        level[0] = 1;
        let mut deepest = 1;
        let mut inner = 0usize;
        for (at, node) in self.nodes.chunks_exact(self.size).enumerate() {
            let of_node = level[at];
            if of_node == 0 {
                return None;
            }
            let (left, right): (i64, i64) = (child(node, self.left)?.into(), child(node, self.right)?.into());
            if is_leaf(node, left, right)? {
                continue;
            }
            inner += 1;
            deepest = deepest.max(of_node + 1);
            for child in [left, right] {
                let place = usize::try_from(child).ok().filter(|&place| place > at && place < self.count)?;
                if level[place] != 0 {
                    return None;
                }
                level[place] = of_node + 1;
            }
            if !(0..self.features).contains(&i64::from_ne_bytes(number(node, self.feature)?)) {
                return None;
            }
        }
        (self.count == 2 * inner + 1).then_some(deepest - 1)
    }
}

/// The bytes of a number of a record.
#[inline(always)]
fn number<const N: usize>(node: &[u8], at: usize) -> Option<[u8; N]> {
    node.get(at..)?.first_chunk().copied()
}

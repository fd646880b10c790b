//! `Limits`, as Python sees it.

use pyo3::prelude::*;

/// Bounds on what loading a message may cost.
///
/// depth: containers within containers; None is no bound (nothing recurses, so that depth alone does no harm).
/// objects: values in all; None is no bound but the input's size, as each takes a byte.
/// bytes: estimated memory of all containers and instances; None is 1 MiB and 1,024 times the input's size.
/// work: what may be done again and again for the same bytes (hashing what several keys share, comparing keys whose hashes
/// collide, compiling patterns, ...), in units of some nanoseconds; None is 4 Mi and 192 for each byte of the input.
///
/// `Limits.strict()` is for what strangers send: 100 deep, 1 million values, 64 MiB, 16 Mi units.
///
/// Raises LimitError where one is passed, before the memory is taken.
///
/// >>> loads(dumps([1, [2]]), limits=Limits(depth=2))
/// [1, [2]]
#[pyclass(module = "holdall", frozen, from_py_object)]
#[derive(Debug, Clone)]
pub struct Limits {
    #[pyo3(get)]
    depth: Option<usize>,
    #[pyo3(get)]
    objects: Option<usize>,
    #[pyo3(get)]
    bytes: Option<usize>,
    #[pyo3(get)]
    work: Option<usize>,
}

#[pymethods]
impl Limits {
    #[new]
    #[pyo3(signature = (*, depth = None, objects = None, bytes = None, work = None))]
    fn new(depth: Option<usize>, objects: Option<usize>, bytes: Option<usize>, work: Option<usize>) -> Limits {
        Limits { depth, objects, bytes, work }
    }

    /// Bounds for what strangers send: what an ordinary request or job needs, and a fraction of a second at most. Those that are
    /// given are taken instead.
    ///
    /// >>> Limits.strict(depth=20)
    /// Limits(depth=20, objects=1000000, bytes=67108864, work=16777216)
    #[staticmethod]
    #[pyo3(signature = (*, depth = 100, objects = 1_000_000, bytes = 64 << 20, work = 16 << 20))]
    fn strict(depth: usize, objects: usize, bytes: usize, work: usize) -> Limits {
        Limits { depth: Some(depth), objects: Some(objects), bytes: Some(bytes), work: Some(work) }
    }

    fn __repr__(&self) -> String {
        let show = |bound: Option<usize>| bound.map_or_else(|| "None".to_owned(), |bound| bound.to_string());
        let [depth, objects, bytes, work] = [self.depth, self.objects, self.bytes, self.work].map(show);
        format!("Limits(depth={depth}, objects={objects}, bytes={bytes}, work={work})")
    }
}

impl Limits {
    pub fn bounds(&self) -> crate::budget::Limits {
        crate::budget::Limits { depth: self.depth, objects: self.objects, bytes: self.bytes, work: self.work }
    }
}

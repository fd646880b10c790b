//! The cost of hashing a finished object: of a key whose hashing was put off because it was referred to before it was
//! complete, and of a key to be stored whose cost isn't obvious.
//!
//! The costs of all other keys are added up while they are built (`HashCost`).

use crate::budget::hash_cost::HashCost;
use crate::budget::hash_cost::{hashes_by_identity, may_run_code};
use crate::budget::rings;
use crate::budget::Work;
use crate::classes::{plan, state};
use crate::cpython::dict::Position;
use crate::cpython::{references, Obj, Owned};
use crate::error::{decode, Result};
use crate::memory::{vec, FxHashMap, Vec};
use crate::types::extent;
use pyo3::ffi;
use pyo3::Python;
use std::ptr::addr_of_mut;

/// The costs of the objects that keys consist of: each is computed once, however often it occurs.
#[derive(Default)]
pub struct Scale {
    known: FxHashMap<usize, HashCost>,
    /// The objects of `known`, held so that their addresses stay theirs.
    held: Vec<Owned>,
}

/// An object whose cost is being computed.
struct Open {
    object: Owned,
    parts: Vec<Owned>,
    at: usize,
    hash_cost: HashCost,
    /// Whether code of its class hashes it.
    by_code: bool,
    /// Whether there are references other than its container's, so that it may occur again.
    shared: bool,
}

impl Scale {
    /// The cost of hashing `key`, whose content must not change while the scale is used.
    pub fn hash_cost(&mut self, py: Python<'_>, key: &Owned) -> Result<HashCost> {
        let mut stack = vec![Open::new(py, key, 1)?];
        loop {
            let Some(open) = stack.last_mut() else { return Ok(HashCost::default()) };
            if let Some(part) = open.parts.get(open.at).cloned() {
                open.at += 1;
                match self.known.get(&(part.get() as usize)) {
                    Some(&known) => open.hash_cost.add(known),
                    None => {
                        let open = Open::new(py, &part, 2)?;
                        if open.shared {
                            // A cycle counts as 0: recursion through class code ends by itself, and `rings` refuses the
                            // others.
                            self.known.insert(part.get() as usize, HashCost::default());
                            self.held.push(part);
                        }
                        stack.push(open);
                    }
                }
                continue;
            }
            let Some(whole) = stack.pop() else { return Ok(HashCost::default()) };
            let hash_cost = whole.hash_cost();
            if whole.shared {
                self.known.insert(whole.object.get() as usize, hash_cost);
            }
            match stack.last_mut() {
                Some(holder) => holder.hash_cost.add(hash_cost),
                None => return Ok(hash_cost),
            }
        }
    }
}

impl Open {
    /// `ours`: how many references to the object are temporaries of the scale.
    fn new(py: Python<'_>, object: &Owned, ours: isize) -> Result<Open> {
        // SAFETY: `object` is an owned reference.
        unsafe {
            let shared = references(object.get()) > ours + 1;
            let (parts, by_code) = hashed_by(py, object.get())?;
            Ok(Open { object: object.clone(), parts, at: 0, hash_cost: HashCost::default(), by_code, shared })
        }
    }

    fn hash_cost(&self) -> HashCost {
        let leaf = if self.parts.is_empty() { extent(&self.object) / 16 } else { self.parts.len() };
        let own = u32::try_from(leaf).unwrap_or(u32::MAX);
        let values = own.saturating_add(HashCost::VALUES_OF_CODE);
        let levels = if self.by_code { HashCost::OF_CODE } else { 1 };
        HashCost {
            depth: self.hash_cost.depth.saturating_add(levels),
            values: self.hash_cost.values.saturating_add(values),
            freeing: 0,
        }
    }
}

/// Charges the cost of hashing a value that is about to be hashed, and refuses a value whose hash would never end.
pub fn hashed_now(py: Python<'_>, work: &Work, value: &Owned, at: usize) -> Result<()> {
    // SAFETY: `value` is an owned reference.
    if !unsafe { may_run_code(value.get()) } {
        return Ok(());
    }
    rings::refuse(py, work, std::iter::once(value.clone()), at)?;
    charge(work, Scale::default().hash_cost(py, value)?, at)
}

/// Refuses a key whose hash would recurse too deep or take disproportionate time.
pub(crate) fn charge(work: &Work, hash_cost: HashCost, at: usize) -> Result<()> {
    if hash_cost.depth > HashCost::DEEPEST {
        return Err(decode(format_args!("a key nested deeper than {}", HashCost::DEEPEST), at));
    }
    work.charge(hash_cost.values as usize, "keys are hashed again and again", at)
}

/// The parts that an object's hash is computed from, and whether code of its class does that: the items of a tuple, the
/// fields of an instance whose class defines a hash.
///
/// # Safety
/// `object` is alive.
pub(crate) unsafe fn hashed_by(py: Python<'_>, object: Obj) -> Result<(Vec<Owned>, bool)> {
    let mut parts = Vec::new();
    // SAFETY: `object` is alive by contract. The type is checked before content is read.
    unsafe {
        let class = ffi::Py_TYPE(object);
        let is_tuple = ffi::PyType_HasFeature(class, ffi::Py_TPFLAGS_TUPLE_SUBCLASS) != 0;
        if is_tuple {
            let items = (0..ffi::PyTuple_GET_SIZE(object)).map(|at| ffi::PyTuple_GET_ITEM(object, at));
            parts.extend(items.filter(|item| !item.is_null()).map(|item| Owned::borrowed(item)));
        }
        let hash = |class: *mut ffi::PyTypeObject| (*class).tp_hash.map(|hash| hash as usize);
        let by_items = is_tuple && hash(class) == hash(addr_of_mut!(ffi::PyTuple_Type));
        let is_made = ffi::PyType_HasFeature(class, ffi::Py_TPFLAGS_HEAPTYPE) != 0;
        let by_code = is_made && !by_items && !hashes_by_identity(object);
        if by_code {
            let plan = plan::of(py, class)?;
            for slot in &plan.slots {
                let value = state::slot(object, slot.offset);
                if !value.is_null() {
                    parts.push(Owned::borrowed(value));
                }
            }
            if let Some(dict) = plan.dict_of(object)? {
                let mut position = Position(0);
                while let Some((_, value)) = position.next(dict.get()) {
                    parts.push(Owned::borrowed(value));
                }
            }
        }
        Ok((parts, by_code))
    }
}

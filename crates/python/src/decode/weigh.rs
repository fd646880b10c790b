//! What hashing costs that was put off, as a key was referred to before all of it was there: found out once it is.
//!
//! All other keys are weighed while they are built (`Weight`). What such a key will hold is not known then.

use super::frame::Weight;
use super::run::hashes_by_identity;
use crate::class::{plan, state};
use crate::cpython::dict::Position;
use crate::cpython::{Obj, Owned};
use crate::error::Result;
use crate::memory::{vec, FxHashMap, Vec};
use pyo3::ffi;
use pyo3::Python;
use std::ptr::addr_of_mut;

/// The costs of the objects that keys consist of; each is looked at once, however often it is met.
#[derive(Default)]
pub struct Scale {
    known: FxHashMap<usize, Weight>,
}

/// An object that is being weighed.
struct Open {
    object: Owned,
    parts: Vec<Owned>,
    at: usize,
    weight: Weight,
}

impl Scale {
    /// What hashing `key` costs. What it consists of stays as it is while the scale is used.
    pub fn weigh(&mut self, py: Python<'_>, key: &Owned) -> Result<Weight> {
        let mut stack = vec![Open::new(py, key)?];
        loop {
            let Some(open) = stack.last_mut() else { return Ok(Weight::default()) };
            if let Some(part) = open.parts.get(open.at).cloned() {
                open.at += 1;
                match self.known.get(&(part.get() as usize)) {
                    Some(&known) => open.weight.add(known),
                    None => {
                        // In a circle it counts as nothing: hashing it would not end, and CPython ends that.
                        self.known.insert(part.get() as usize, Weight::default());
                        stack.push(Open::new(py, &part)?);
                    }
                }
                continue;
            }
            let Some(whole) = stack.pop() else { return Ok(Weight::default()) };
            let weight = whole.weight();
            self.known.insert(whole.object.get() as usize, weight);
            match stack.last_mut() {
                Some(holder) => holder.weight.add(weight),
                None => return Ok(weight),
            }
        }
    }
}

impl Open {
    fn new(py: Python<'_>, object: &Owned) -> Result<Open> {
        // SAFETY: held.
        let parts = unsafe { parts(py, object.get())? };
        Ok(Open { object: object.clone(), parts, at: 0, weight: Weight::default() })
    }

    fn weight(&self) -> Weight {
        let own = u32::try_from(self.parts.len()).unwrap_or(u32::MAX);
        let values = own.saturating_add(Weight::VALUES_OF_CODE);
        Weight {
            depth: self.weight.depth.saturating_add(1),
            values: self.weight.values.saturating_add(values),
            freeing: 0,
        }
    }
}

/// What an object is hashed by: the items of a tuple, the fields of an instance whose class has a hash of its own.
///
/// # Safety
/// `object` is alive.
unsafe fn parts(py: Python<'_>, object: Obj) -> Result<Vec<Owned>> {
    let mut parts = Vec::new();
    // SAFETY: alive, says the caller; content is looked at by the type that the object is of.
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
        if is_made && !by_items && !hashes_by_identity(object) {
            let plan = plan::of(py, class)?;
            for slot in &plan.slots {
                let value = state::slot(object, slot.offset);
                if !value.is_null() {
                    parts.push(Owned::borrowed(value));
                }
            }
            if let Some(dict) = state::dict_of(object, &plan)? {
                let mut position = Position(0);
                while let Some((_, value)) = position.next(dict.get()) {
                    parts.push(Owned::borrowed(value));
                }
            }
        }
    }
    Ok(parts)
}

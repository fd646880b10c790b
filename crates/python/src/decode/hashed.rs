//! Adding keys to dicts and members to sets. If somebody else may have chosen the keys, collisions are charged before.

use crate::budget::hash_cost::may_run_code;
use crate::budget::Work;
use crate::cpython::class::no_hash;
use crate::cpython::crowd::{self, Crowd};
use crate::cpython::{dict, set, text, Obj};
use crate::error::{decode, refused, Result};
use holdall_format::Reader;
use pyo3::ffi;
use std::ptr::addr_of_mut;

const BAD_KEY: &str = "a key can't be hashed";
const BAD_MEMBER: &str = "a set's member can't be hashed";
pub const TWICE: &str = "the same key twice";
/// A probe sequence up to this long is ordinary, and not charged.
const ORDINARY: usize = 8;
/// Table entries probed per unit of work.
const PASSED_FOR_A_UNIT: usize = 2;

/// The least cost of comparing keys by code of their class, as `HashCost::values`: up to 200 ns (a UUID).
const OF_CODE: u32 = 96;

/// # Safety
/// `key` is alive.
unsafe fn is_compared_by_code(key: Obj) -> bool {
    // SAFETY: `key` is alive by contract, so its type can be read.
    let class = unsafe { ffi::Py_TYPE(key) };
    let containers = [addr_of_mut!(ffi::PyTuple_Type), addr_of_mut!(ffi::PyFrozenSet_Type)];
    // SAFETY: `key` is alive by contract.
    !containers.contains(&class) && unsafe { may_run_code(key) }
}

/// Whether an object's class defines a hash.
///
/// # Safety
/// `object` is alive.
pub unsafe fn is_hashable(object: Obj) -> bool {
    // SAFETY: `object` is alive by contract, and holds its class; no Python code runs.
    let hash = unsafe { (*ffi::Py_TYPE(object)).tp_hash };
    hash.is_some_and(|hash| hash as usize != no_hash())
}

/// How keys and members are added.
#[derive(Clone, Copy)]
pub struct Adding<'w> {
    /// Where collisions are charged; `None` in a trusted message.
    work: Option<&'w Work>,
    /// Equal keys are an error.
    unique: bool,
    pub at: usize,
}

impl<'w> Adding<'w> {
    /// A trusted message may have equal keys: as in a pickle, equality is up to the program's classes and may have changed.
    #[inline(always)]
    pub fn new<'i, R: Reader<'i>>(r: &R, work: &'w Work, at: usize) -> Adding<'w> {
        let trusted = r.trusted();
        Adding { work: (!trusted).then_some(work), unique: R::UNIQUE_KEYS && !trusted, at }
    }

    /// The same, but equal keys become one.
    pub fn again(self) -> Adding<'w> {
        Adding { unique: false, ..self }
    }

    /// Charges the collisions that adding the key causes, and returns its hash. `None`: nobody can choose collisions, and
    /// the key was not hashed.
    /// `hash_cost` is what comparing the key costs, `unhashable` the error for a key without a hash.
    unsafe fn counted(
        &self,
        key: Obj,
        hash_cost: u32,
        unhashable: &str,
        meets: impl FnOnce(isize) -> Crowd,
    ) -> Result<Option<isize>> {
        let Some(work) = self.work else { return Ok(None) };
        // SAFETY: callers hold `key`, also while its class's `__hash__` runs.
        let hash = unsafe {
            // Hashed with a secret, so nobody can choose collisions.
            if text::is(key) || ffi::Py_TYPE(key) == addr_of_mut!(ffi::PyBytes_Type) {
                return Ok(None);
            }
            ffi::PyObject_Hash(key)
        };
        if hash == -1 {
            return Err(refused(unhashable, self.at));
        }
        let crowd = meets(hash);
        if crowd.steps > ORDINARY || crowd.alike > 0 {
            // SAFETY: callers hold `key`.
            let each = if unsafe { is_compared_by_code(key) } {
                hash_cost.max(OF_CODE) / 4
            } else if hash_cost > 0 {
                // Comparing two tuples is a call in addition to those for their items.
                2 + hash_cost / 2
            } else {
                0
            };
            let compared = crowd.alike.saturating_mul(1 + each as usize);
            let units = (crowd.steps / PASSED_FOR_A_UNIT).saturating_add(compared);
            work.charge(units, "keys whose hashes collide", self.at)?;
        }
        Ok(Some(hash))
    }

    /// Sets an item of a dict; of an ordered dict by that class's own method.
    ///
    /// # Safety
    /// All are alive, and `dict` is a dict or of a subclass.
    pub unsafe fn item(&self, dict: Obj, key: Obj, value: Obj, hash_cost: u32) -> Result<()> {
        // SAFETY: by contract all are alive and `dict` is a dict; `set` is called only if `dict` is an ordered one.
        unsafe {
            let before = dict::len(dict);
            let (ordered, class) = (addr_of_mut!(crate::cpython::PyODict_Type), ffi::Py_TYPE(dict));
            let is_plain = class == addr_of_mut!(ffi::PyDict_Type);
            let is_ordered = !is_plain && ffi::PyType_IsSubtype(class, ordered) != 0;
            // An ordered dict looks a key up several times.
            let times = if is_ordered { 3 } else { 1 };
            // Among so few an int meets no more than an ordinary number of others, whatever it is.
            let are_few = is_plain && before <= ORDINARY && ffi::Py_TYPE(key) == addr_of_mut!(ffi::PyLong_Type);
            let hash = match are_few {
                true => None,
                false => self.counted(key, hash_cost, BAD_KEY, |hash| crowd::in_dict(dict, hash).times(times))?,
            };
            let failed = if is_ordered {
                // Bypasses a subclass's override.
                match (*(*ordered).tp_as_mapping).mp_ass_subscript {
                    Some(set) => set(dict, key, value) != 0,
                    None => true,
                }
            } else if let Some(hash) = hash {
                !dict::set_hashed(dict, key, value, hash)
            } else {
                ffi::PyDict_SetItem(dict, key, value) != 0
            };
            if failed {
                return Err(refused(BAD_KEY, self.at));
            }
            if self.unique && dict::len(dict) == before {
                return Err(decode(TWICE, self.at));
            }
        }
        Ok(())
    }

    /// Sets a dict's item. `false`: the key can't be hashed, and an exception is set.
    ///
    /// # Safety
    /// All are alive, and `dict` is a dict.
    pub unsafe fn schemaless_item(&self, dict: Obj, key: Obj, value: Obj) -> Result<bool> {
        // SAFETY: by contract all are alive and `dict` is a dict; `hash` was just computed from `key`.
        unsafe {
            let hash = ffi::PyObject_Hash(key);
            if hash == -1 {
                return Ok(false);
            }
            self.counted(key, 0, BAD_KEY, |hash| crowd::in_dict(dict, hash))?;
            Ok(dict::set_hashed(dict, key, value, hash))
        }
    }

    /// Adds a member to a set, or to a frozenset that nobody else has seen, after charging the collisions that this causes. May run
    /// out of memory, and unwind.
    ///
    /// # Safety
    /// Both are alive, and `set` is a set or frozenset.
    pub unsafe fn member(&self, set: Obj, member: Obj, hash_cost: u32) -> Result<()> {
        // SAFETY: both are alive, and `set` is a set or frozenset, by contract, whose layout `in_set` reads.
        unsafe {
            let mut place = None;
            let counted = self.counted(member, hash_cost, BAD_MEMBER, |hash| {
                let crowd = crowd::in_set(set, hash);
                place = crowd.free;
                crowd
            })?;
            let hash = counted.unwrap_or_else(|| ffi::PyObject_Hash(member));
            if hash == -1 {
                return Err(refused(BAD_MEMBER, self.at));
            }
            if counted.is_none() {
                place = crowd::in_set(set, hash).free;
            }
            // The probing has found the place, and that no member has the same hash: no code has run since.
            if place.is_some_and(|place| set::put(set, member, hash, place)) {
                return Ok(());
            }
            let before = ffi::PySet_Size(set);
            if ffi::PySet_Add(set, member) != 0 {
                return Err(refused(BAD_MEMBER, self.at));
            }
            if self.unique && ffi::PySet_Size(set) == before {
                return Err(decode("the same member twice", self.at));
            }
        }
        Ok(())
    }
}

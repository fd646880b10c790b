//! Keys into dicts and members into sets. Of keys that somebody else chose, what adding them costs is counted before.

use crate::budget::hash_cost::may_run_code;
use crate::budget::Work;
use crate::cpython::crowd::{self, Crowd};
use crate::cpython::{dict, text, Obj};
use crate::error::{decode, refused, Result};
use holdall_format::Reader;
use pyo3::ffi;
use std::ptr::addr_of_mut;

pub const TWICE: &str = "the same key twice";
/// A way past so many others is an ordinary one.
const ORDINARY: usize = 8;
/// Places of a table that are passed for a unit of work.
const PASSED_FOR_A_UNIT: usize = 2;

/// What comparing costs at the least where a class has a way of its own, as `HashCost::values`: up to 200 ns (a UUID).
const OF_CODE: u32 = 96;

/// # Safety
/// `key` is alive.
unsafe fn is_compared_by_code(key: Obj) -> bool {
    // SAFETY: the contract has `key` alive, so its type is there to be read.
    let class = unsafe { ffi::Py_TYPE(key) };
    let containers = [addr_of_mut!(ffi::PyTuple_Type), addr_of_mut!(ffi::PyFrozenSet_Type)];
    // SAFETY: as above.
    !containers.contains(&class) && unsafe { may_run_code(key) }
}

/// What is known of keys that are added.
#[derive(Clone, Copy)]
pub struct Adding<'w> {
    /// What it costs is counted here; nowhere in a trusted message.
    work: Option<&'w Work>,
    /// A key has to be new.
    unique: bool,
    pub at: usize,
}

impl<'w> Adding<'w> {
    /// In a trusted message, as in a pickle, equality is the program's own, which may have changed.
    #[inline(always)]
    pub fn new<'i, R: Reader<'i>>(r: &R, work: &'w Work, at: usize) -> Adding<'w> {
        let trusted = r.trusted();
        Adding { work: (!trusted).then_some(work), unique: R::UNIQUE_KEYS && !trusted, at }
    }

    /// The same, where equal keys become one.
    pub fn again(self) -> Adding<'w> {
        Adding { unique: false, ..self }
    }

    /// The key's hash, if that is to be had before: then what the key meets was counted. `hash_cost` is what comparing it costs.
    unsafe fn counted(&self, key: Obj, hash_cost: u32, meets: impl FnOnce(isize) -> Crowd) -> Result<Option<isize>> {
        let Some(work) = self.work else { return Ok(None) };
        // SAFETY: all callers hold `key`; the hash of an exact string or bytes is not asked for, others may run Python code while it is held.
        let hash = unsafe {
            // Hashed with a secret: nobody can choose what they meet.
            if text::is(key) || ffi::Py_TYPE(key) == addr_of_mut!(ffi::PyBytes_Type) {
                return Ok(None);
            }
            ffi::PyObject_Hash(key)
        };
        if hash == -1 {
            return Err(refused("a key can't be hashed", self.at));
        }
        let crowd = meets(hash);
        if crowd.steps > ORDINARY || crowd.alike > 0 {
            // SAFETY: as above.
            let each = if unsafe { is_compared_by_code(key) } {
                hash_cost.max(OF_CODE) / 4
            } else if hash_cost > 0 {
                // A tuple's own comparing is a call besides those of its values.
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

    /// Sets a dict's item, an ordered dict's by its own way.
    ///
    /// # Safety
    /// All are alive, and `dict` is a dict or of a subclass.
    pub unsafe fn item(&self, dict: Obj, key: Obj, value: Obj, hash_cost: u32) -> Result<()> {
        // SAFETY: the contract has all three alive and `dict` of a dict's layout; `set` is the method of the type that the dict was just seen to be of.
        unsafe {
            let before = dict::len(dict);
            let ordered = addr_of_mut!(crate::cpython::PyODict_Type);
            let is_ordered = ffi::PyType_IsSubtype(ffi::Py_TYPE(dict), ordered) != 0;
            // An ordered dict looks for a key several times.
            let times = if is_ordered { 3 } else { 1 };
            let hash = self.counted(key, hash_cost, |hash| crowd::in_dict(dict, hash).times(times))?;
            let failed = if is_ordered {
                // Past what a subclass may have overridden.
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
                return Err(refused("a key can't be hashed", self.at));
            }
            if self.unique && dict::len(dict) == before {
                return Err(decode(TWICE, self.at));
            }
        }
        Ok(())
    }

    /// Sets a dict's item; says no, with Python's error set, where the key can't be hashed.
    ///
    /// # Safety
    /// All are alive, and `dict` is a dict.
    pub unsafe fn schemaless_item(&self, dict: Obj, key: Obj, value: Obj) -> Result<bool> {
        // SAFETY: by the contract `dict` is a dict; the hash is the one that its key just gave.
        unsafe {
            let hash = ffi::PyObject_Hash(key);
            if hash == -1 {
                return Ok(false);
            }
            self.counted(key, 0, |hash| crowd::in_dict(dict, hash))?;
            Ok(dict::set_hashed(dict, key, value, hash))
        }
    }

    /// Adds a member to a set, or to a frozenset that nobody else has seen.
    ///
    /// # Safety
    /// Both are alive, and `set` is a set.
    pub unsafe fn member(&self, set: Obj, member: Obj, hash_cost: u32) -> Result<()> {
        // SAFETY: the same contract as that of both.
        unsafe {
            self.charge_member(set, member, hash_cost)?;
            self.add_charged(set, member)
        }
    }

    /// Charges what adding a member costs. May run out of memory, and unwind.
    ///
    /// # Safety
    /// Both are alive, and `set` is a set.
    pub unsafe fn charge_member(&self, set: Obj, member: Obj, hash_cost: u32) -> Result<()> {
        // SAFETY: by the contract `set` has the layout that `in_set` reads.
        unsafe { self.counted(member, hash_cost, |hash| crowd::in_set(set, hash)).map(drop) }
    }

    /// Adds a member whose cost was charged before.
    ///
    /// # Safety
    /// Both are alive, and `set` is a set.
    pub unsafe fn add_charged(&self, set: Obj, member: Obj) -> Result<()> {
        // SAFETY: both are alive by the contract; `PySet_Add` checks the type itself.
        unsafe {
            let before = ffi::PySet_Size(set);
            if ffi::PySet_Add(set, member) != 0 {
                return Err(refused("a set's member can't be hashed", self.at));
            }
            if self.unique && ffi::PySet_Size(set) == before {
                return Err(decode("the same member twice", self.at));
            }
        }
        Ok(())
    }
}

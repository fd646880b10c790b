//! Keys and members whose hashes depend on objects that are still incomplete: they are kept, and added once everything is
//! there. The same goes for the members of frozensets, to which others may refer meanwhile.

use super::frame::Deferred;
use super::hashed::Adding;
use crate::budget::hash_cost::hashes_by_identity;
use crate::budget::hash_cost::may_run_code;
use crate::budget::rings;
use crate::budget::scale::{hashed_by, Scale};
use crate::cpython::class::no_hash;
use crate::cpython::{references, set, Obj, Owned};
use crate::decode::dialect::Dialect;
use crate::decode::{Decoder, State};
use crate::error::{decode, raised, Result};
use crate::memory::{vec, FxHashMap, HashSet, Vec};
use crate::types::resolver::is_skip;
use holdall_format::Reader;
use pyo3::ffi;

/// What has to wait until objects that are being built are complete.
#[derive(Default)]
pub(crate) struct Late {
    /// Whether some unfinished object was referred to whose content a hash may depend on: hashing it now would be wrong.
    pub(crate) half_seen: bool,
    /// Keys and members that could not be hashed when they came.
    pub(crate) deferred: Vec<Deferred>,
    pub(crate) half: Option<Box<Half>>,
}

const NOT_THERE: &str = "a key or member that is not all there";

/// Objects whose hashes have to wait; boxed, since few messages have any.
#[derive(Default)]
pub(crate) struct Half {
    /// The ids of unfinished objects that were referred to, by address.
    numbers: FxHashMap<usize, u32>,
    /// The addresses of frozensets whose members are kept.
    unfilled: HashSet<usize>,
}

/// A frozenset that is still empty, and its members.
struct Kept {
    set: Owned,
    members: Vec<Owned>,
    offset: usize,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Progress {
    Empty,
    /// Frozensets that its members' hashes depend on are filled first.
    Begun,
    Filled,
}

/// What is incomplete among the objects that some hashes depend on.
#[derive(Default)]
struct Awaited {
    /// Some object is still being built.
    open: bool,
    /// The addresses of frozensets whose members are kept.
    sets: Vec<usize>,
}

impl<'i, D: Dialect<'i>> Decoder<'i, D> {
    /// Notes an object that is referred to while it is being built, if a hash may depend on its content: its own, or that
    /// of an object whose Python code reads its attributes.
    pub(crate) fn note_half(&mut self, object: Obj, number: u32) {
        // SAFETY: callers pass an object that the table of ids holds.
        let (may_hash, is_made) = unsafe {
            let class = ffi::Py_TYPE(object);
            let hash = (*class).tp_hash.map_or(0, |hash| hash as usize);
            let may_hash = hash != no_hash() && !hashes_by_identity(object);
            (may_hash, ffi::PyType_HasFeature(class, ffi::Py_TPFLAGS_HEAPTYPE) != 0)
        };
        self.late.half_seen |= may_hash || is_made;
        if may_hash {
            self.late.half.get_or_insert_default().numbers.insert(object as usize, number);
        }
    }

    /// Fills a frozenset that was created empty, or keeps its members if some can't be hashed yet.
    pub(crate) fn fill_frozenset(
        &mut self,
        set: &Owned,
        members: Vec<Owned>,
        hash_costs: &[u32],
        at: usize,
    ) -> Result<()> {
        if self.late.half_seen {
            let awaited = self.awaited(Some(set), &members, at)?;
            if awaited.open || !awaited.sets.is_empty() {
                self.late.half.get_or_insert_default().unfilled.insert(set.get() as usize);
                self.late.deferred.push(Deferred::Frozen { set: set.clone(), members, offset: at });
                return Ok(());
            }
        }
        self.fill_now(set, &members, hash_costs, at)
    }

    pub(crate) fn fill_now(&self, set: &Owned, members: &[Owned], hash_costs: &[u32], at: usize) -> Result<()> {
        // SAFETY: the caller holds the set and its members. `set` is empty, and nobody else can iterate over `apart`.
        unsafe {
            // CPython adds members only to a frozenset with one reference. One that others refer to gets all at once.
            let apart = match references(set.get()) {
                1 => None,
                _ => Some(Owned::new(ffi::PySet_New(std::ptr::null_mut())).ok_or_else(raised)?),
            };
            let target = apart.as_ref().unwrap_or(set);
            for (place, member) in members.iter().enumerate() {
                let hash_cost = hash_costs.get(place).copied().unwrap_or(0);
                Adding::new(&self.r, &self.rules.work, at).member(target.get(), member.get(), hash_cost)?;
            }
            let is_there = members.is_empty() || apart.is_none_or(|from| set::take_members(set.get(), from.get()));
            match is_there {
                true => Ok(()),
                false => Err(decode("a frozenset that this Python can't fill where others refer to it", at)),
            }
        }
    }

    /// What is incomplete among the objects that these objects' hashes depend on. It is an error if `within` is among them.
    #[cold]
    fn awaited(&self, within: Option<&Owned>, objects: &[Owned], at: usize) -> Result<Awaited> {
        let mut found = Awaited::default();
        let Some(half) = &self.late.half else { return Ok(found) };
        let mut seen: HashSet<usize> = HashSet::default();
        let mut met = Vec::new();
        let mut next: Vec<Owned> = objects.iter().cloned().collect();
        while let Some(object) = next.pop() {
            let address = object.get() as usize;
            if within.is_some_and(|set| set.get() == object.get()) {
                return Err(decode("a frozenset that its own member's hash is made of", at));
            }
            // SAFETY: `object` is an owned reference.
            if !unsafe { may_run_code(object.get()) } || !seen.insert(address) {
                continue;
            }
            if let Some(&number) = half.numbers.get(&address) {
                found.open |= self.tables.numbered.get(number as usize).is_some_and(|entry| entry.state == State::Seen);
            }
            if half.unfilled.contains(&address) {
                found.sets.push(address);
            }
            met.push(object.clone());
            // SAFETY: `object` is an owned reference.
            let (parts, _) = unsafe { hashed_by(self.py, object.get())? };
            self.rules.work.charge(1 + parts.len(), "members of sets that are looked through again and again", at)?;
            next.extend(parts);
        }
        rings::refuse(self.py, &self.rules.work, met.into_iter(), at)?;
        Ok(found)
    }

    /// Hashes the deferred keys and members from index `from` on, and adds them.
    #[inline(always)]
    pub(crate) fn finish_deferred(&mut self, from: usize) -> Result<()> {
        if self.late.deferred.len() <= from && self.late.half.is_none() {
            return Ok(());
        }
        self.finish_late(from)
    }

    #[inline(never)]
    fn finish_late(&mut self, from: usize) -> Result<()> {
        if let Some(half) = self.late.half.as_ref().filter(|_| from == 0 && !self.r.trusted()) {
            let objects =
                half.numbers.values().filter_map(|&number| self.tables.numbered.get(number as usize)?.object.clone());
            rings::refuse(self.py, &self.rules.work, objects, self.here())?;
        }
        let (mut kept, mut keyed) = (Vec::new(), Vec::new());
        for deferred in self.late.deferred.split_off(from) {
            match deferred {
                Deferred::Frozen { set, members, offset } => kept.push(Kept { set, members, offset }),
                keys => keyed.push(keys),
            }
        }
        if !kept.is_empty() {
            self.fill_kept(&kept)?;
        }
        let mut hash_costs = vec![0; keyed.len()];
        if !self.r.trusted() {
            let mut scale = Scale::default();
            for (deferred, key_cost) in keyed.iter().zip(&mut hash_costs) {
                let Some((key, offset)) = deferred.key() else { continue };
                let hash_cost = scale.hash_cost(self.py, key)?;
                self.charge_key(hash_cost, offset)?;
                *key_cost = hash_cost.values;
            }
        }
        for (deferred, hash_cost) in keyed.into_iter().zip(hash_costs) {
            if let Some((key, offset)) = deferred.key().filter(|_| !self.tables.stack.is_empty()) {
                // A recipe's function is called next, and must see its arguments complete.
                if self.awaited(None, std::slice::from_ref(key), offset)?.open {
                    return Err(decode(NOT_THERE, offset));
                }
            }
            let is_left_out = match &deferred {
                Deferred::Item { key, value, .. } => is_skip(key.get()) || is_skip(value.get()),
                Deferred::Member { member, .. } => is_skip(member.get()),
                Deferred::Frozen { .. } => false,
            };
            if is_left_out {
                continue;
            }
            // SAFETY: `deferred` owns the objects, and was given a dict or a set by whoever deferred the item.
            unsafe {
                match deferred {
                    Deferred::Item { dict, key, value, offset } => {
                        D::set_deferred(self, dict.get(), key.get(), value.get(), hash_cost, offset)?
                    }
                    Deferred::Member { set, member, offset } => {
                        Adding::new(&self.r, &self.rules.work, offset).member(set.get(), member.get(), hash_cost)?;
                    }
                    Deferred::Frozen { .. } => {}
                }
            }
        }
        Ok(())
    }

    /// Fills the frozensets whose members were kept, each after those that its members' hashes depend on.
    fn fill_kept(&mut self, kept: &[Kept]) -> Result<()> {
        let places: FxHashMap<usize, usize> =
            kept.iter().enumerate().map(|(place, kept)| (kept.set.get() as usize, place)).collect();
        let mut progress = vec![Progress::Empty; kept.len()];
        let mut scale = Scale::default();
        for start in 0..kept.len() {
            let mut stack = Vec::new();
            if progress[start] == Progress::Empty {
                progress[start] = Progress::Begun;
                stack.push((start, self.filled_before(&kept[start], &places)?));
            }
            while let Some((place, before)) = stack.last_mut() {
                let Kept { set, members, offset } = &kept[*place];
                match before.pop() {
                    Some(other) if progress[other] == Progress::Empty => {
                        progress[other] = Progress::Begun;
                        let before = self.filled_before(&kept[other], &places)?;
                        stack.push((other, before));
                    }
                    Some(other) if progress[other] == Progress::Begun => {
                        return Err(decode("frozensets that each other's members' hashes are made of", *offset));
                    }
                    Some(_) => {}
                    None => {
                        let mut hash_costs = Vec::with_capacity(members.len());
                        if !self.r.trusted() {
                            for member in members {
                                let hash_cost = scale.hash_cost(self.py, member)?;
                                self.charge_key(hash_cost, *offset)?;
                                hash_costs.push(hash_cost.values);
                            }
                        }
                        self.fill_now(set, members, &hash_costs, *offset)?;
                        progress[*place] = Progress::Filled;
                        if let Some(half) = &mut self.late.half {
                            half.unfilled.remove(&(set.get() as usize));
                        }
                        stack.pop();
                    }
                }
            }
        }
        Ok(())
    }

    /// The indices of the frozensets that have to be filled before this one.
    fn filled_before(&self, kept: &Kept, places: &FxHashMap<usize, usize>) -> Result<Vec<usize>> {
        let awaited = self.awaited(Some(&kept.set), &kept.members, kept.offset)?;
        let before: Option<Vec<usize>> = awaited.sets.iter().map(|address| places.get(address).copied()).collect();
        match before {
            Some(before) if !awaited.open => Ok(before),
            _ => Err(decode(NOT_THERE, kept.offset)),
        }
    }
}

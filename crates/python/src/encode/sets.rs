//! Canonical form: an order of sets' members that depends on the graph alone.
//!
//! A member's *key* is its own encoding. Members are first compared by a few objects each, without looking into sets
//! within them. Those that are equal so far are compared further, and then with the sets within them, which are put in
//! order themselves.
//!
//! Members that are equal to the end differ at most in what else refers to their parts. If nothing does, or if the same
//! objects do, they can be exchanged, and any order gives the same bytes. Otherwise they are ordered by the ids that
//! those objects got earlier. If they have none yet, the graph defines no order and the message is refused.

use super::{Encoder, Options, Sharing};
use crate::cpython::set::next_member;
use crate::cpython::{Obj, Owned};
use crate::encode::dialect::Dialect;
use crate::encode::dialect::Native;
use crate::encode::scratch::{Scratch, SMALL_SCRATCH};
use crate::error::{encode, Result};
use crate::memory::{sort_by_cached_key, vec, FxHashMap, Vec};
use crate::types::walker::WorkItem;
use holdall_format::hold::Writer;
use pyo3::ffi;
use pyo3::Python;
use std::cell::RefCell;
use std::ops::Range;
use std::rc::Rc;

/// How many objects of each member are compared first; then that many times more whenever that isn't enough.
const FIRST_LOOK: usize = 16;
const FURTHER: usize = 8;
/// How many objects may be visited for each object of the graph, and in addition.
const WORK: (usize, usize) = (64, 1 << 20);
/// How deep ordering sets may recurse. Sets of the graph are ordered inner ones first; deeper recursion happens only in
/// cycles, and for objects that users' code makes anew each time.
const MOST_NESTED: usize = 32;

const ALIKE: &str = "a set's members have no order in canonical form: some are alike but for what else refers to them";
const CIRCLE: &str =
    "a set's members have no order in canonical form: those alike differ in a set whose order hangs on theirs";
const TOO_FAR: &str = "a set's members have no order in canonical form: they are alike as far as was looked";

/// How far to look at a member.
#[derive(Debug, Clone, Copy)]
pub struct Effort {
    /// How many more objects may be visited.
    pub objects: usize,
    /// Whether sets of two members or more are looked into.
    pub into_sets: bool,
    /// The member has more objects than were visited.
    pub cut_short: bool,
    /// The member has sets that were not looked into.
    pub passed_sets: bool,
}

/// The result of looking at a member.
#[derive(Debug)]
pub struct Key {
    pub bytes: Vec<u8>,
    pub effort: Effort,
    /// The objects that occurred, in order, and how often each occurred again within the member.
    pub met: Vec<(usize, u32)>,
}

/// The orders of the sets of one message.
#[derive(Debug, Default)]
pub struct Orders {
    /// The sets of two members or more, inner ones first.
    sets: Vec<Owned>,
    known: FxHashMap<usize, Rc<Order>>,
    /// The sets that are being ordered, each within the one before.
    begun: Vec<usize>,
    /// How often objects occur again in the whole graph.
    again: FxHashMap<usize, u32>,
    /// How many more objects may be visited.
    left: usize,
}

pub type Shared = Rc<RefCell<Orders>>;

#[derive(Debug)]
struct Order {
    /// Held, so that no other object gets its address.
    set: Owned,
    members: Vec<Owned>,
    contested: Vec<Contested>,
}

/// Equal members, for positions that earlier ids will decide.
#[derive(Debug)]
struct Contested {
    places: Range<usize>,
    /// For each of them, the objects that are also referred to from outside.
    known_outside: Vec<Vec<usize>>,
}

impl Orders {
    /// Orders all sets of the graph that the first walk visited. `again`: how often objects occurred again; `objects`:
    /// their number.
    pub fn settle(
        py: Python<'_>,
        orders: &Shared,
        options: &Options,
        again: &FxHashMap<usize, u32>,
        objects: usize,
    ) -> Result<()> {
        let sets = {
            let mut orders = orders.borrow_mut();
            orders.left = objects.saturating_mul(WORK.0).saturating_add(WORK.1);
            if orders.sets.is_empty() {
                return Ok(());
            }
            orders.again.clone_from(again);
            std::mem::take(&mut orders.sets)
        };
        for set in sets {
            order_of(py, &set, options, orders)?;
        }
        Ok(())
    }
}

/// The order of a set's members, computed when it is first needed.
fn order_of(py: Python<'_>, set: &Owned, options: &Options, orders: &Shared) -> Result<Rc<Order>> {
    let address = set.get() as usize;
    if let Some(known) = orders.borrow().known.get(&address) {
        return Ok(known.clone());
    }
    {
        let mut orders = orders.borrow_mut();
        if orders.begun.contains(&address) || orders.begun.len() == MOST_NESTED {
            return Err(encode(CIRCLE));
        }
        orders.begun.push(address);
    }
    let made = make(py, set, options, orders);
    let mut orders = orders.borrow_mut();
    orders.begun.pop();
    let made = Rc::new(made?);
    orders.known.insert(address, made.clone());
    Ok(made)
}

/// A range of members that are equal so far, and how to look at them next.
struct Alike {
    range: Range<usize>,
    objects: usize,
    into_sets: bool,
}

fn make(py: Python<'_>, set: &Owned, options: &Options, orders: &Shared) -> Result<Order> {
    let mut members = Vec::new();
    let mut at = 0;
    // SAFETY: `order_of` passes sets only; no Python code runs while members are read.
    unsafe {
        while let Some(member) = next_member(set.get(), &mut at) {
            members.push(Owned::borrowed(member));
        }
    }
    let mut contested = Vec::new();
    let mut open = vec![Alike { range: 0..members.len(), objects: FIRST_LOOK, into_sets: false }];
    while let Some(Alike { range, objects, into_sets }) = open.pop() {
        let mut looked_at = Vec::with_capacity(range.len());
        for member in &members[range.clone()] {
            let effort = Effort { objects, into_sets, cut_short: false, passed_sets: false };
            let key = canonical_key(py, member, options, orders, effort)?;
            spend(orders, objects - key.effort.objects + 1)?;
            looked_at.push((key, member.clone()));
        }
        looked_at.sort_unstable_by(|(one, _), (other, _)| one.bytes.cmp(&other.bytes));
        for (place, (_, member)) in members[range.clone()].iter_mut().zip(&looked_at) {
            *place = member.clone();
        }
        let mut from = range.start;
        for alike in looked_at.chunk_by_mut(|(one, _), (other, _)| one.bytes == other.bytes) {
            let range = from..from + alike.len();
            from = range.end;
            let effort = alike[0].0.effort;
            if range.len() == 1 {
                continue;
            } else if effort.cut_short {
                open.push(Alike { range, objects: objects * FURTHER, into_sets });
            } else if effort.passed_sets {
                open.push(Alike { range, objects: FIRST_LOOK, into_sets: true });
            } else {
                settle_alike(alike, &range, &orders.borrow().again, &mut contested);
                for (place, (_, member)) in members[range].iter_mut().zip(alike) {
                    *place = member.clone();
                }
            }
        }
    }
    Ok(Order { set: set.clone(), members, contested })
}

fn spend(orders: &Shared, objects: usize) -> Result<()> {
    let mut orders = orders.borrow_mut();
    match orders.left.checked_sub(objects) {
        Some(left) => orders.left = left,
        None => return Err(encode(TOO_FAR)),
    }
    Ok(())
}

/// Orders members that are equal to the end by those of their parts that are referred to from outside.
fn settle_alike(
    alike: &mut [(Key, Owned)],
    range: &Range<usize>,
    again: &FxHashMap<usize, u32>,
    contested: &mut Vec<Contested>,
) {
    let known_outside = |key: &Key| -> Vec<(usize, usize)> {
        let met = key.met.iter().enumerate();
        let outside = met.filter(|(_, (object, inside))| again.get(object).is_some_and(|again| again > inside));
        outside.map(|(at, &(object, _))| (at, object)).collect()
    };
    let places = |key: &Key| known_outside(key).into_iter().map(|(at, _)| at).collect::<Vec<_>>();
    sort_by_cached_key(alike, |(key, _)| places(key));
    let mut from = range.start;
    for same in alike.chunk_by(|(one, _), (other, _)| places(one) == places(other)) {
        let range = from..from + same.len();
        from = range.end;
        let objects = |key: &Key| known_outside(key).into_iter().map(|(_, object)| object).collect::<Vec<_>>();
        let known_outside: Vec<_> = same.iter().map(|(key, _)| objects(key)).collect();
        // Members that hold the same shared objects can be exchanged.
        if known_outside.windows(2).any(|pair| pair[0] != pair[1]) {
            contested.push(Contested { places: range, known_outside });
        }
    }
}

impl<D: Dialect> Encoder<'_, D> {
    /// Writes the members of a set whose head was written, in canonical form.
    ///
    /// # Safety
    /// `set` is a set.
    pub(crate) unsafe fn ordered_members(&mut self, set: Obj) -> Result<()> {
        // SAFETY: `set` is a set by contract.
        let (set, len) = unsafe { (Owned::borrowed(set), ffi::PySet_Size(set) as usize) };
        let mut at = 0;
        // SAFETY: as above; the set holds its members.
        unsafe {
            while let Some(member) = next_member(set.get(), &mut at) {
                self.check_key(member)?;
            }
        }
        let Some(orders) = self.orders.clone().filter(|_| len > 1) else {
            let mut at = 0;
            // SAFETY: as above.
            let only = unsafe { next_member(set.get(), &mut at).map(|member| Owned::borrowed(member)) };
            self.then(only.into_iter().map(WorkItem::Value).collect::<Vec<_>>());
            return Ok(());
        };
        if let Some(effort) = &mut self.effort {
            if !effort.into_sets {
                effort.passed_sets = true;
                return Ok(());
            }
            // The set whose members are being compared is the same for all of them.
            if orders.borrow().begun.last() == Some(&(set.get() as usize)) {
                return Ok(());
            }
        } else if self.is_first_walk() {
            // Nothing is written yet that depends on the order.
            let mut parts = Vec::with_capacity(len + 1);
            let mut at = 0;
            // SAFETY: as above; no Python code runs while members are read.
            unsafe {
                while let Some(member) = next_member(set.get(), &mut at) {
                    parts.push(WorkItem::Value(Owned::borrowed(member)));
                }
            }
            parts.push(WorkItem::Walked(set));
            self.then(parts);
            return Ok(());
        }
        let order = order_of(self.py, &set, self.options, &orders)?;
        if order.members.len() != len || order.set.get() != set.get() {
            return Err(encode(super::CHANGED));
        }
        let members = self.settled(&order)?;
        self.then(members.into_iter().map(WorkItem::Value).collect::<Vec<_>>());
        Ok(())
    }

    /// The walk has visited that set and all sets within it.
    pub(crate) fn walked(&mut self, set: &Owned) {
        if let Some(orders) = &self.orders {
            orders.borrow_mut().sets.push(set.clone());
        }
    }

    /// The members in order, where some of them are decided by the ids of objects written before.
    fn settled(&mut self, order: &Order) -> Result<Vec<Owned>> {
        let mut members = order.members.clone();
        for contested in &order.contested {
            // While members are compared one by one, ids mean nothing.
            if self.effort.is_some() {
                return Err(encode(ALIKE));
            }
            let mut alike = Vec::with_capacity(contested.places.len());
            for (member, objects) in members[contested.places.clone()].iter().zip(&contested.known_outside) {
                let number = |&object: &usize| self.tables.memo.number(object as Obj).unwrap_or(u32::MAX);
                alike.push((objects.iter().map(number).collect::<Vec<_>>(), objects, member.clone()));
            }
            alike.sort_unstable_by(|one, other| one.0.cmp(&other.0));
            // Equal ids belong to the same objects, or to objects without an id yet.
            if alike.windows(2).any(|pair| pair[0].0 == pair[1].0 && pair[0].1 != pair[1].1) {
                return Err(encode(ALIKE));
            }
            for (place, (_, _, member)) in members[contested.places.clone()].iter_mut().zip(alike) {
                *place = member;
            }
        }
        Ok(members)
    }
}

/// The encoding of a single member of a set, as far as `effort` goes.
fn canonical_key(py: Python<'_>, member: &Owned, options: &Options, orders: &Shared, effort: Effort) -> Result<Key> {
    let mut scratch = SMALL_SCRATCH.take(py).unwrap_or_else(Scratch::new);
    let Scratch { output, tables } = &mut *scratch;
    let writer = Writer::new(&mut *output, options.trust);
    // SAFETY: `py` proves that the GIL is held.
    let mut encoder =
        unsafe { Encoder::new(py, Native::new(), writer, options, tables, Sharing::Finding(Default::default())) };
    encoder.orders = Some(orders.clone());
    encoder.only_compares(effort);
    encoder.tables.met.push(member.get() as usize);
    let written = encoder.message(member.get());
    let (met, effort) = (std::mem::take(&mut encoder.tables.met), encoder.effort().unwrap_or(effort));
    let again = match encoder.into_found().0 {
        Sharing::Found(again) => again,
        _ => Default::default(),
    };
    let bytes = Vec::from(output.as_slice());
    scratch.let_go();
    SMALL_SCRATCH.set(py, scratch);
    written?;
    let met = met.into_iter().map(|object| (object, again.get(&object).copied().unwrap_or(0))).collect();
    Ok(Key { bytes, effort, met })
}

//! Refuses objects that no load could restore because of their depth: keys whose hash, and objects whose deallocation,
//! recurse in C. Containers nested in each other are on the stack; references between objects are followed here.

use super::{Encoder, Extra, Frame, Kind};
use crate::budget::hash_cost::frees_by_recursion;
use crate::budget::hash_cost::hashes_by_identity;
use crate::budget::hash_cost::HashCost;
use crate::budget::scale::Scale;
use crate::cpython::class::has_trash_can;
use crate::cpython::{Obj, Owned};
use crate::encode::dialect::Dialect;
use crate::error::{encode, raised, Fault, Result};
use crate::memory::{format, vec, FxHashMap, Vec};
use crate::types::walker::WorkItem;
use pyo3::ffi;
use pyo3::prelude::*;
use std::ffi::{c_int, c_void};
use std::ptr::addr_of_mut;

/// The stack is inspected whenever its number of frames passes a multiple of this power of two.
const LOOKED_AT: usize = 64;
/// How many frames are inspected: more than the deepest deallocation by recursion that a load accepts.
const MOST_FRAMES: usize = 2 * HashCost::MOST_FREED as usize;
/// Keys of up to this many items per tuple and this many levels need no bookkeeping.
const FLAT_ITEMS: isize = 16;
const FLAT_LEVELS: usize = 4;
/// CPython's default limit, below which a hash in a class's own code never recurses deeper than a load accepts. (Since 3.12 a level
/// counts once instead of twice, so that instances which refer to each other are counted, too.)
const USUAL_RECURSION: c_int = 1_000;
/// A dict or tuple with an exception's arguments or fields is between the exception and its content.
const BETWEEN: usize = 2;

/// Flags of classes whose instances are freed without recursion.
const NEVER: std::ffi::c_ulong = ffi::Py_TPFLAGS_LIST_SUBCLASS
    | ffi::Py_TPFLAGS_UNICODE_SUBCLASS
    | ffi::Py_TPFLAGS_BYTES_SUBCLASS
    | ffi::Py_TPFLAGS_LONG_SUBCLASS
    | ffi::Py_TPFLAGS_TYPE_SUBCLASS;

/// References between the objects of one message, as far as they matter here. Most messages need nothing of this.
#[derive(Default)]
pub(crate) struct Deep {
    scale: Scale,
    /// Objects that are freed by recursion and lead to other such objects by references.
    linked: Vec<Owned>,
}

impl<D: Dialect> Encoder<'_, D> {
    /// Refuses a key, or a member of a set, whose hash would recurse too deep.
    ///
    /// # Safety
    /// `key` is alive.
    #[inline(always)]
    pub(crate) unsafe fn check_key(&mut self, key: Obj) -> Result<()> {
        // SAFETY: `key` is alive by contract.
        if D::KEEPS_TYPES && unsafe { !self.is_flat(key, FLAT_LEVELS) } {
            return self.charge_key(key);
        }
        Ok(())
    }

    /// Whether a quick look shows that hashing a key recurses only a few levels.
    ///
    /// # Safety
    /// `key` is alive.
    unsafe fn is_flat(&self, key: Obj, levels: usize) -> bool {
        // SAFETY: `key` is alive by contract, and a tuple holds its items.
        unsafe {
            let class = ffi::Py_TYPE(key);
            if ffi::PyType_HasFeature(class, ffi::Py_TPFLAGS_TUPLE_SUBCLASS) != 0 {
                let len = ffi::PyTuple_GET_SIZE(key);
                return levels > 0
                    && len <= FLAT_ITEMS
                    && (0..len).all(|at| self.is_flat(ffi::PyTuple_GET_ITEM(key, at), levels - 1));
            }
            // An instance can only be deep by a tuple, or by other instances, whose code CPython itself stops in time.
            ffi::PyType_HasFeature(class, ffi::Py_TPFLAGS_HEAPTYPE) == 0
                || hashes_by_identity(key)
                || (self.linked_tuples < LOOKED_AT
                    && (cfg!(not(Py_3_12)) || self.linked_instances < LOOKED_AT)
                    && ffi::Py_GetRecursionLimit() <= USUAL_RECURSION)
        }
    }

    #[cold]
    #[inline(never)]
    fn charge_key(&mut self, key: Obj) -> Result<()> {
        // SAFETY: `check_key`, the only caller, demands a live key.
        let key = unsafe { Owned::borrowed(key) };
        let hash_cost = self.deep.get_or_insert_default().scale.hash_cost(self.py, &key)?;
        if hash_cost.depth > HashCost::DEEPEST {
            return Err(encode(format!(
                "a key nested deeper than {}: its hash could not be computed",
                HashCost::DEEPEST
            )));
        }
        Ok(())
    }

    /// Records a reference to an object elsewhere: its holder may be deeper than the stack shows.
    #[inline(always)]
    pub(crate) fn link(&mut self, object: Obj) {
        if !D::KEEPS_TYPES {
            return;
        }
        // SAFETY: whoever writes a reference to an object holds it.
        let class = unsafe { ffi::Py_TYPE(object) };
        if class == self.harmless {
            return;
        }
        // SAFETY: a live object holds its class.
        let has = |flags| unsafe { ffi::PyType_HasFeature(class, flags) != 0 };
        let (is_tuple, is_instance) =
            (has(ffi::Py_TPFLAGS_TUPLE_SUBCLASS), cfg!(Py_3_12) && has(ffi::Py_TPFLAGS_HEAPTYPE));
        self.linked_tuples += usize::from(is_tuple);
        self.linked_instances += usize::from(is_instance);
        let is_deep = !has(NEVER) && freed_by_recursion(class) != 0;
        if is_deep && self.link_holder() {
            // SAFETY: as above.
            self.deep.get_or_insert_default().linked.push(unsafe { Owned::borrowed(object) });
        }
        if !is_tuple && !is_instance && !is_deep {
            self.harmless = class;
        }
    }

    /// Marks the frame of the object being written as leading to an object elsewhere. `false`: that object isn't freed
    /// by recursion. Objects that are, are written from parts or are default dicts.
    #[cold]
    fn link_holder(&mut self) -> bool {
        let mut above = self.tables.stack.iter_mut().rev().take(1 + BETWEEN);
        // SAFETY: the frame holds the object.
        let is_default_dict = |frame: &Frame| unsafe { freed_by_recursion(ffi::Py_TYPE(frame.object.get())) != 0 };
        let is_holder =
            |frame: &Frame| frame.kind == Kind::Parts || (frame.kind == Kind::Pairs && is_default_dict(frame));
        match above.find(|frame| is_holder(frame)) {
            Some(holder) => {
                holder.linked = true;
                true
            }
            None => false,
        }
    }

    /// Pops the frame on top, which is finished.
    #[inline(always)]
    pub(super) fn pop_linked(&mut self) -> Option<Frame> {
        let frame = self.tables.stack.pop();
        if let Some(frame) = frame.as_ref().filter(|frame| frame.linked) {
            self.linked(frame);
        }
        frame
    }

    /// Records that an object which has been written leads to an object elsewhere.
    #[cold]
    #[inline(never)]
    fn linked(&mut self, frame: &Frame) {
        let parts = match &frame.extra {
            Some(Extra::Parts(parts)) => &parts[..],
            _ => &[],
        };
        let values = parts.iter().filter_map(|part| match part {
            WorkItem::Value(object) | WorkItem::Table(object) | WorkItem::Body(object) => Some(object),
            _ => None,
        });
        for object in values.chain([&frame.object]) {
            // SAFETY: the frame holds the object, and the object its class.
            if freed_by_recursion(unsafe { ffi::Py_TYPE(object.get()) }) != 0 {
                self.deep.get_or_insert_default().linked.push(object.clone());
            }
        }
        self.link_holder();
    }

    /// When the message is complete: refuses objects that are too deep through references.
    #[inline(always)]
    pub(crate) fn refuse_linked(&mut self) -> Result<()> {
        match self.deep.take() {
            Some(deep) => self.cost_of_linked(&deep.linked),
            None => Ok(()),
        }
    }

    #[cold]
    #[inline(never)]
    fn cost_of_linked(&self, linked: &[Owned]) -> Result<()> {
        let mut known = FxHashMap::default();
        for object in linked {
            // The object that holds the ones recorded last isn't recorded itself.
            let own = usize::from(HashCost::OF_ARRAY);
            if freed_depth(self.py, object, &mut known)? + own > usize::from(HashCost::MOST_FREED) {
                return Err(self.too_deep(object.get()));
            }
        }
        Ok(())
    }

    #[cold]
    fn too_deep(&self, object: Obj) -> Fault {
        // SAFETY: `object` is alive, so its class is.
        let class = unsafe { Bound::<PyAny>::from_borrowed_ptr(self.py, ffi::Py_TYPE(object).cast()) };
        match class.getattr("__qualname__") {
            Ok(name) => encode(format!(
                "`{name}` nested too deep: CPython frees it by recursion, so that it could not be restored"
            )),
            Err(error) => error.into(),
        }
    }

    /// Refuses objects nested so deep in types that CPython frees by recursion that freeing them would overflow the C
    /// stack.
    #[inline(always)]
    pub(crate) fn refuse_deep(&mut self) -> Result<()> {
        match D::KEEPS_TYPES && self.tables.stack.len() & (LOOKED_AT - 1) == LOOKED_AT - 1 {
            true => self.look_at_stack(),
            false => Ok(()),
        }
    }

    #[cold]
    #[inline(never)]
    fn look_at_stack(&mut self) -> Result<()> {
        // What is this deep may be referred to by a key.
        self.linked_tuples += LOOKED_AT;
        let stack = &self.tables.stack;
        let is_made = |frame: &Frame| match frame.kind {
            Kind::Parts => true,
            // SAFETY: the frame holds the object, and the object its class.
            Kind::Pairs => unsafe { freed_by_recursion(ffi::Py_TYPE(frame.object.get())) != 0 },
            _ => false,
        };
        if !stack.iter().rev().take(2 + BETWEEN).any(is_made) {
            return Ok(());
        }
        let (mut levels, mut between) = (0, 0);
        for frame in &stack[stack.len().saturating_sub(MOST_FRAMES)..] {
            let object = match &frame.extra {
                Some(Extra::Parts(parts)) if frame.stands_for_none() => {
                    match parts.get((frame.at as usize).wrapping_sub(1)) {
                        Some(WorkItem::Value(object) | WorkItem::Table(object) | WorkItem::Body(object)) => {
                            object.get()
                        }
                        _ => continue,
                    }
                }
                _ => frame.object.get(),
            };
            // SAFETY: the frame holds the object, and the object its class.
            let class = unsafe { ffi::Py_TYPE(object) };
            levels = match freed_by_recursion(class) {
                0 if between > 0 => {
                    between -= 1;
                    levels
                }
                0 => 0,
                more => {
                    between = if is_exception(class) { BETWEEN } else { 0 };
                    levels + more
                }
            };
            if levels + LOOKED_AT * freed_by_recursion(class) > usize::from(HashCost::MOST_FREED) {
                return Err(self.too_deep(object));
            }
        }
        Ok(())
    }
}

/// An object whose depth is being computed.
struct Open {
    object: Owned,
    parts: Vec<Owned>,
    deepest: usize,
}

/// How deep freeing an object recurses, in the units of `HashCost`; `known` has the depths of visited objects.
fn freed_depth(py: Python<'_>, object: &Owned, known: &mut FxHashMap<usize, usize>) -> Result<usize> {
    let open = |object: &Owned| -> Result<Open> {
        // SAFETY: `object` is an owned reference.
        let parts = unsafe { freed_with(py, object.get())? };
        Ok(Open { object: object.clone(), parts, deepest: 0 })
    };
    if let Some(&depth) = known.get(&(object.get() as usize)) {
        return Ok(depth);
    }
    let mut stack = vec![open(object)?];
    loop {
        let Some(top) = stack.last_mut() else { return Ok(0) };
        if let Some(part) = top.parts.pop() {
            match known.get(&(part.get() as usize)) {
                Some(&depth) => top.deepest = top.deepest.max(depth),
                None => {
                    // In a cycle it counts as 0, because the collector frees cycles.
                    known.insert(part.get() as usize, 0);
                    stack.push(open(&part)?);
                }
            }
            continue;
        }
        let Some(whole) = stack.pop() else { return Ok(0) };
        // SAFETY: `whole` holds the object, and the object its class.
        let depth = whole.deepest + freed_by_recursion(unsafe { ffi::Py_TYPE(whole.object.get()) });
        known.insert(whole.object.get() as usize, depth);
        match stack.last_mut() {
            Some(holder) => holder.deepest = holder.deepest.max(depth),
            None => return Ok(depth),
        }
    }
}

/// Collects what an object holds directly, as it reports to the collector. `false`: it reports nothing.
///
/// # Safety
/// `object` is alive.
unsafe fn visit_all(object: Obj, found: &mut std::vec::Vec<Owned>) -> bool {
    extern "C" fn visit(part: Obj, found: *mut c_void) -> c_int {
        // SAFETY: `found` is the vector that the caller passes below, and `part` is held by the visited object. Nothing
        // may unwind through CPython's code, so a lack of memory is reported by the result.
        unsafe {
            let found = &mut *found.cast::<std::vec::Vec<Owned>>();
            if found.try_reserve(1).is_err() {
                return -1;
            }
            found.push(Owned::borrowed(part));
        }
        0
    }
    // SAFETY: `object` is alive by contract, and its type's traversal calls `visit` with the pointer passed here.
    unsafe {
        let Some(traverse) = (*ffi::Py_TYPE(object)).tp_traverse else { return false };
        if traverse(object, visit, std::ptr::from_mut(found).cast()) != 0 {
            crate::memory::out_of_memory();
        }
    }
    true
}

/// Whether objects of a class are only the parts of another object.
fn passes_on(class: *mut ffi::PyTypeObject) -> bool {
    let known = [addr_of_mut!(ffi::PyTuple_Type), addr_of_mut!(ffi::PyList_Type), addr_of_mut!(ffi::PyDict_Type)];
    known.contains(&class)
}

/// The objects freed by recursion that an object holds directly or through parts.
///
/// # Safety
/// `object` is alive.
unsafe fn freed_with(py: Python<'_>, object: Obj) -> Result<Vec<Owned>> {
    // SAFETY: `object` is alive by contract.
    unsafe {
        let class = ffi::Py_TYPE(object);
        let mut found = std::vec::Vec::new();
        // Arrays report nothing to the collector.
        let is_array = !visit_all(object, &mut found);
        if is_array {
            let items = Bound::<PyAny>::from_borrowed_ptr(py, object).call_method0("ravel")?.call_method0("tolist")?;
            found.push(Owned::new(items.into_ptr()).ok_or_else(raised)?);
        }
        // An array's items come in a list, those with fields in tuples; an exception's content in a tuple and a dict.
        let passed = if is_array { 1 + BETWEEN } else { usize::from(is_exception(class)) };
        let mut parts = Vec::new();
        for pass in 0..=passed {
            let mut within = std::vec::Vec::new();
            for part in found.drain(..) {
                let of = ffi::Py_TYPE(part.get());
                if freed_by_recursion(of) != 0 {
                    parts.push(part);
                } else if pass < passed && passes_on(of) {
                    within.push(part);
                }
            }
            for holder in within {
                visit_all(holder.get(), &mut found);
            }
        }
        Ok(parts)
    }
}

/// How many levels an instance of a class counts as when it is freed: 0 if CPython frees it without recursion.
fn freed_by_recursion(class: *mut ffi::PyTypeObject) -> usize {
    // SAFETY: callers pass the class of a live object; the other types are static, and every class has a name.
    unsafe {
        let has = |flags| ffi::PyType_HasFeature(class, flags) != 0;
        let deque = usize::from(HashCost::OF_DEQUE);
        let is_builtin = class == addr_of_mut!(ffi::PyDict_Type) || class == addr_of_mut!(ffi::PyTuple_Type);
        if has(NEVER) || is_builtin || has_trash_can(class) {
            0
        } else if class == addr_of_mut!(ffi::PySlice_Type) {
            usize::from(HashCost::OF_SLICE)
        } else if has(ffi::Py_TPFLAGS_DICT_SUBCLASS) {
            deque * usize::from(class != addr_of_mut!(crate::cpython::PyODict_Type))
        } else if is_exception(class) || has(ffi::Py_TPFLAGS_TUPLE_SUBCLASS) {
            // A load makes it in two steps. (A tuple of a class of CPython's own is a struct sequence.)
            2 * usize::from(HashCost::OF_EXCEPTION) * usize::from(frees_by_recursion(class))
        } else {
            match std::ffi::CStr::from_ptr((*class).tp_name).to_bytes() {
                b"collections.deque" => deque,
                b"numpy.ndarray" => usize::from(HashCost::OF_ARRAY),
                _ => 0,
            }
        }
    }
}

fn is_exception(class: *mut ffi::PyTypeObject) -> bool {
    // SAFETY: callers pass the class of a live object.
    unsafe { ffi::PyType_FastSubclass(class, ffi::Py_TPFLAGS_BASE_EXC_SUBCLASS) != 0 }
}

//! Instances, and builtins other than lists, tuples and dicts.

use crate::classes::how::Base;
use crate::classes::plan::Plan;
use crate::classes::{methods, state};
use crate::cpython::fill;
use crate::cpython::{bytes_of, dict, float, gc, int, new, references, Obj, Owned, Type};
use crate::deepcopy::frame::Make;
use crate::deepcopy::frame::{content, leaf, places, rest, Extra, Frame, Kind};
use crate::deepcopy::strategy::{ClassInfo, Strategy};
use crate::deepcopy::{fault, Copier, Got, Seen, BY_PARENT_AND_COPY, NO_ID};
use crate::error::{raised, Result};
use crate::memory::{vec, Vec};
use crate::types;
use crate::types::walker::WorkItem;
use pyo3::prelude::*;
use pyo3::{ffi, intern};
use std::ptr::addr_of_mut;
use std::rc::Rc;

impl Copier<'_> {
    /// Copies any object other than lists, tuples and dicts.
    ///
    /// # Safety
    /// `object` is alive.
    #[inline(never)]
    pub(super) unsafe fn other(&mut self, object: Obj, held: isize, whole: bool) -> Result<Got> {
        // SAFETY: `object` is alive by contract. Everything that may run Python code holds it first; that includes
        // looking into a class for the first time.
        unsafe {
            let class = ffi::Py_TYPE(object);
            let known = if self.is_last(class) {
                self.strategy(class)?
            } else {
                // Released before references are counted below.
                let _held = Owned::borrowed(object);
                self.strategy(class)?
            };
            if matches!(known.strategy, Strategy::Atom) {
                return Ok(Got::Same);
            }
            if matches!(known.strategy, Strategy::NamedTuple) && !known.asks {
                let at = places(object).iter().position(|&item| !leaf(item));
                return self.tuple(object, at.unwrap_or(0), held);
            }
            let id = match self.seen(object, held)? {
                Seen::Copied(copy) => return Ok(Got::Made(copy)),
                Seen::New(id) => id,
            };
            if known.asks {
                if let Some(hook) = asked(self.py, object)? {
                    return self.call_hook(hook.get(), object, false, id);
                }
            }
            match &known.strategy {
                Strategy::Fields(plan) => self.fields(object, plan, id, whole),
                _ => self.by_strategy(object, &known, id, whole),
            }
        }
    }

    #[inline(always)]
    fn is_last(&self, class: Type) -> bool {
        self.last.as_ref().is_some_and(|(last, _)| *last == class)
    }

    /// Copies an object by the strategy that was found for its class.
    ///
    /// # Safety
    /// `object` is alive and an instance of that class.
    #[inline(never)]
    unsafe fn by_strategy(&mut self, object: Obj, known: &ClassInfo, id: u32, whole: bool) -> Result<Got> {
        // SAFETY: `object` is alive and of the type that the strategy was found for, by contract.
        unsafe {
            match &known.strategy {
                Strategy::Atom | Strategy::Value => self.same(object, id),
                Strategy::Fields(plan) => self.fields(object, plan, id, whole),
                Strategy::Based(plan, base) => self.based(object, plan, *base, id, whole),
                Strategy::NamedTuple => {
                    let (len, object) = (ffi::Py_SIZE(object) as usize, Owned::borrowed(object));
                    let extra = Extra::None;
                    self.push(Frame { kind: Kind::Shared, hand_over: true, id, at: 0, len, object, extra });
                    Ok(Got::Pending)
                }
                Strategy::Set => self.set(object, id, whole),
                Strategy::FrozenSet => {
                    let members = members(object)?;
                    self.recipe(object, members, Make::FrozenSet, id)
                }
                Strategy::ByteArray => {
                    let copy = bytearray(object)?;
                    self.whole(&copy, id)
                }
                Strategy::Slice => {
                    let slice = object.cast::<ffi::PySliceObject>();
                    let parts = [(*slice).start, (*slice).stop, (*slice).step].map(|part| Owned::borrowed(part));
                    self.recipe(object, parts.into(), Make::Slice, id)
                }
                Strategy::Method => {
                    let bound = Bound::from_borrowed_ptr(self.py, object);
                    let instance = crate::cpython::owned(&bound.getattr("__self__")?);
                    let function = crate::cpython::owned(&bound.getattr("__func__")?);
                    self.recipe(object, vec![instance], Make::Method(function), id)
                }
                Strategy::Proxy => {
                    let shown = gc::shown(object).ok_or_else(|| fault("a mappingproxy of nothing"))?;
                    self.recipe(object, vec![shown], Make::Proxy, id)
                }
                Strategy::Zoned => {
                    let bound = Bound::from_borrowed_ptr(self.py, object);
                    let zone = crate::cpython::owned(&bound.getattr(intern!(self.py, "tzinfo"))?);
                    // A zone that is its own copy needs no frame.
                    let class = ffi::Py_TYPE(zone.get());
                    if leaf(zone.get()) {
                        return self.same(object, id);
                    }
                    if matches!(self.strategy(class)?.strategy, Strategy::Value) {
                        if let Got::Same = self.value(zone.get(), BY_PARENT_AND_COPY, true)? {
                            return self.same(object, id);
                        }
                    }
                    self.reduce(object, None, id, true)
                }
                Strategy::Array => {
                    let (bound, memo) = (Bound::from_borrowed_ptr(self.py, object), new::dict(self.py)?);
                    let copy = bound.call_method1(intern!(self.py, "__deepcopy__"), (memo,))?;
                    self.whole(&crate::cpython::owned(&copy), id)
                }
                Strategy::NdArray => self.ndarray(object, id),
                Strategy::Hook => {
                    let hook = asked(self.py, object)?;
                    match hook {
                        Some(hook) => self.call_hook(hook.get(), object, false, id),
                        None => self.reduce(object, None, id, true),
                    }
                }
                Strategy::Copier(copier) => self.call_hook(copier.get(), object, true, id),
                Strategy::Reduce(reducer, asks) => self.reduce(object, reducer.as_ref(), id, *asks),
            }
        }
    }

    /// A NumPy array, copied in F order if it is stored so, else in C order; the objects in it are copied by the walk.
    unsafe fn ndarray(&mut self, object: Obj, id: u32) -> Result<Got> {
        // SAFETY: `object` is alive, being an array that its parent holds.
        unsafe {
            let bound = Bound::from_borrowed_ptr(self.py, object);
            let dtype = bound.getattr(intern!(self.py, "dtype"))?;
            let is_objects = dtype.getattr(intern!(self.py, "hasobject"))?.is_truthy()?;
            if is_objects && dtype.getattr(intern!(self.py, "kind"))?.ne("O")? {
                // Objects beside other fields: NumPy's own `__deepcopy__`.
                let hook = crate::cpython::owned(&bound.getattr(intern!(self.py, "__deepcopy__"))?);
                return self.call_hook(hook.get(), object, false, id);
            }
            let keep = intern!(self.py, "K");
            let keeps = types::numpy::has_an_order(&bound)?;
            let copy =
                bound.call_method1(intern!(self.py, "copy"), (if keeps { keep } else { intern!(self.py, "C") },))?;
            if !is_objects {
                return self.whole(&crate::cpython::owned(&copy), id);
            }
            // A flat view of the copy, which is contiguous in that order.
            let flat = copy.call_method1(intern!(self.py, "ravel"), (keep,))?;
            let items = flat.call_method0(intern!(self.py, "tolist"))?;
            let items = items.try_iter()?.map(|item| Ok(crate::cpython::owned(&item?)));
            let items = items.collect::<PyResult<Vec<_>>>()?;
            let copy = crate::cpython::owned(&copy);
            self.settle(id, &copy);
            self.recipe_of(object, items, 0, Make::Array(crate::cpython::owned(&flat)), id)?;
            self.already(copy);
            Ok(Got::Pending)
        }
    }

    fn whole(&mut self, copy: &Owned, id: u32) -> Result<Got> {
        self.settle(id, copy);
        self.close(id);
        Ok(Got::Made(copy.clone()))
    }

    unsafe fn same(&mut self, object: Obj, id: u32) -> Result<Got> {
        // SAFETY: `object` is alive: its parent holds it.
        self.settle(id, &unsafe { Owned::borrowed(object) });
        self.close(id);
        Ok(Got::Same)
    }

    /// Whether an object is certainly its own copy.
    pub(super) fn fixed(&mut self, object: &Owned) -> Result<bool> {
        let object = object.get();
        // SAFETY: `object` is an owned reference.
        unsafe {
            let class = ffi::Py_TYPE(object);
            if leaf(object) {
                return Ok(true);
            }
            if class == addr_of_mut!(ffi::PyTuple_Type) {
                return Ok(places(object).iter().all(|&item| leaf(item)));
            }
            if class == addr_of_mut!(ffi::PyDict_Type) || class == addr_of_mut!(ffi::PyList_Type) {
                return Ok(false);
            }
            Ok(match self.strategy(class)?.strategy {
                Strategy::Atom => true,
                // Unless the memo may hold another copy. Two references: its parent's and the caller's.
                Strategy::Value => references(object) <= BY_PARENT_AND_COPY && !self.user_memo.looks_at_all(),
                _ => false,
            })
        }
    }

    /// An instance whose slots and `__dict__` are all its state: made by its class's allocator.
    #[inline(always)]
    unsafe fn fields(&mut self, source: Obj, plan: &Rc<Plan>, id: u32, whole: bool) -> Result<Got> {
        // SAFETY: `source` is an instance of the plan's class: `find` made the plan from it.
        unsafe {
            if plan.has_dict {
                return self.fields_and_dict(source, plan, id, whole);
            }
            let copy = allocate(plan.class(), 0)?;
            plan.reset(copy.get());
            self.settle(id, &copy);
            if !copy_slots(source, &copy, plan) {
                self.close(id);
                return Ok(Got::Made(copy));
            }
            let frame = content(Kind::Slots, &copy, 0, Extra::Plan(plan.clone()));
            self.push(Frame { hand_over: whole, id, ..frame });
            Ok(if whole { Got::Pending } else { Got::Made(copy) })
        }
    }

    unsafe fn fields_and_dict(&mut self, source: Obj, plan: &Rc<Plan>, id: u32, whole: bool) -> Result<Got> {
        // SAFETY: as in `fields`.
        unsafe {
            let mut dict = plan.dict_of(source)?;
            if dict.is_none() && !plan.managed_dict {
                // Code in C may rely on the instance's dict.
                dict = Some(Owned::new(ffi::PyDict_New()).ok_or_else(raised)?);
            }
            let names = dict.as_ref().and_then(|dict| dict::shared_names(dict.get()));
            let asked_before = names.is_some() && names == plan.unasked.get();
            if let Some(dict) = dict.as_ref().filter(|_| !asked_before) {
                // `copy` looks the method up on the instance, so an attribute of that name counts.
                let name = intern!(self.py, "__deepcopy__");
                let hook = ffi::PyDict_GetItemWithError(dict.get(), name.as_ptr());
                if !hook.is_null() && hook != ffi::Py_None() {
                    return self.call_hook(hook, source, false, id);
                }
                for name in methods::asked(self.py) {
                    if !ffi::PyDict_GetItemWithError(dict.get(), name.as_ptr()).is_null() {
                        return self.reduce(source, None, id, true);
                    }
                }
                // Remembered for this key table only if the instance had all of its names: else others might have more.
                plan.unasked.set(names.filter(|&(_, count)| count == dict::len(dict.get()) as isize));
            }
            let copy = allocate(plan.class(), 0)?;
            plan.reset(copy.get());
            self.settle(id, &copy);
            let base = self.begin(&copy, id, whole);
            self.state(source, &copy, plan, dict)?;
            Ok(self.end(base, copy))
        }
    }

    /// Pushes the frame below the frames of a copy's content.
    pub(super) fn begin(&mut self, copy: &Owned, id: u32, whole: bool) -> usize {
        self.push(rest(copy, id, whole));
        self.tables.stack.len()
    }

    /// Takes that frame off again if no frame was pushed above it.
    pub(super) fn end(&mut self, base: usize, copy: Owned) -> Got {
        if self.tables.stack.len() == base {
            if let Some(frame) = self.tables.stack.pop() {
                self.close(frame.id);
            }
            return Got::Made(copy);
        }
        if self.tables.stack[base - 1].hand_over {
            Got::Pending
        } else {
            Got::Made(copy)
        }
    }

    /// Copies slots and `__dict__` to an instance that has neither yet.
    pub(super) unsafe fn state(
        &mut self,
        source: Obj,
        copy: &Owned,
        plan: &Rc<Plan>,
        dict: Option<Owned>,
    ) -> Result<()> {
        // SAFETY: both are instances of the plan's class, the second one new.
        unsafe {
            if copy_slots(source, copy, plan) {
                self.push(content(Kind::Slots, copy, 0, Extra::Plan(plan.clone())));
            }
            let Some(dict) = dict else { return Ok(()) };
            let is_plain = ffi::Py_TYPE(dict.get()) == addr_of_mut!(ffi::PyDict_Type);
            if !is_plain {
                // The dict may come later, and then to this frame.
                self.push(rest(copy, NO_ID, false));
            }
            // The instance and `dict` hold it.
            match self.value(dict.get(), BY_PARENT_AND_COPY, false)? {
                Got::Same => set_dict(copy, dict),
                Got::Made(dict) => set_dict(copy, dict),
                Got::Pending => Ok(()),
            }
        }
    }

    unsafe fn set(&mut self, object: Obj, id: u32, whole: bool) -> Result<Got> {
        // SAFETY: `object` is a set, as the strategy says.
        unsafe {
            let members = members(object)?;
            let plain = members.iter().all(|member| leaf(member.get()));
            let copy = ffi::PySet_New(if plain { object } else { std::ptr::null_mut() });
            let copy = Owned::new(copy).ok_or_else(raised)?;
            self.settle(id, &copy);
            if plain {
                self.close(id);
                return Ok(Got::Made(copy));
            }
            self.parts(Kind::Members, members, &copy, id, whole);
            Ok(if whole { Got::Pending } else { Got::Made(copy) })
        }
    }

    /// An instance of a builtin's subclass.
    unsafe fn based(&mut self, source: Obj, plan: &Rc<Plan>, base: Base, id: u32, whole: bool) -> Result<Got> {
        let class = plan.class();
        // SAFETY: the plan says that `source` is an instance of a subclass of `base`. No method of the class is called.
        unsafe {
            let payload = match base {
                Base::FrozenSet => {
                    let content = Owned::new(ffi::PyFrozenSet_New(source)).ok_or_else(raised)?;
                    return self.recipe(source, vec![content], Make::Based(base, plan.clone()), id);
                }
                Base::Exception => return self.exception(source, plan, id),
                Base::DefaultDict | Base::Deque | Base::StructSequence => return self.reduce(source, None, id, false),
                Base::Tuple => {
                    let items = places(source);
                    let copy = allocate(class, items.len() as isize)?;
                    for (at, &item) in items.iter().enumerate() {
                        fill::tuple_item(copy.get(), at, Owned::borrowed(item));
                    }
                    return self.filled(source, copy, plan, base, id, whole);
                }
                Base::List | Base::Dict | Base::OrderedDict | Base::Set => None,
                Base::Str => Some(ffi::PyUnicode_FromObject(source)),
                Base::Bytes => {
                    let bytes = bytes_of(source);
                    Some(ffi::PyBytes_FromStringAndSize(bytes.as_ptr().cast(), bytes.len() as isize))
                }
                Base::ByteArray => Some(bytearray(source)?.into_raw()),
                Base::Int => {
                    let bytes = int::bytes(source).ok_or_else(raised)?;
                    Some(int::from_bytes(&bytes).ok_or_else(raised)?.into_raw())
                }
                Base::Float => Some(float::from_value(float::value(source)).ok_or_else(raised)?.into_raw()),
                Base::Complex => {
                    let value = (*source.cast::<ffi::PyComplexObject>()).cval;
                    Some(ffi::PyComplex_FromDoubles(value.real, value.imag))
                }
            };
            let payload = payload.map(|made| Owned::new(made).ok_or_else(raised)).transpose()?;
            let copy = types::new_of(base, class, payload)?;
            self.filled(source, copy, plan, base, id, whole)
        }
    }

    /// Completes an instance of a builtin's subclass: a container's content, and the state.
    pub(super) unsafe fn filled(
        &mut self,
        source: Obj,
        copy: Owned,
        plan: &Rc<Plan>,
        base: Base,
        id: u32,
        whole: bool,
    ) -> Result<Got> {
        self.settle(id, &copy);
        let frame = self.begin(&copy, id, whole);
        // SAFETY: both are instances of the plan's class; the copy has neither content nor state yet.
        unsafe {
            match base {
                Base::List => {
                    let len = ffi::Py_SIZE(source);
                    let items = Owned::new(ffi::PyList_GetSlice(source, 0, len)).ok_or_else(raised)?;
                    if ffi::PyList_SetSlice(copy.get(), 0, 0, items.get()) != 0 {
                        return Err(raised());
                    }
                    self.push(content(Kind::List, &copy, len as usize, Extra::None));
                }
                Base::Tuple => self.push(content(Kind::Tuple, &copy, ffi::Py_SIZE(source) as usize, Extra::None)),
                Base::Dict => self.pairs(source, &copy, NO_ID, false),
                Base::OrderedDict => {
                    let items = types::collections::ordered_items(source)?;
                    let value =
                        |part| if let WorkItem::Key(part) | WorkItem::Value(part) = part { Some(part) } else { None };
                    let items = items.into_iter().filter_map(value).collect();
                    self.parts(Kind::Pairs, items, &copy, NO_ID, false);
                }
                Base::Set => self.parts(Kind::Members, members(source)?, &copy, NO_ID, false),
                _ => {}
            }
            self.state(source, &copy, plan, plan.dict_of(source)?)?;
        }
        Ok(self.end(frame, copy))
    }
}

/// Fills the slots of a new instance with what the source's slots hold; returns whether there is more than leaves.
///
/// # Safety
/// Both are instances of the plan's class; the slots of the new one are empty.
#[inline(always)]
unsafe fn copy_slots(source: Obj, copy: &Owned, plan: &Plan) -> bool {
    let mut has_nodes = false;
    for slot in &plan.slots {
        // SAFETY: the offsets were read from the class of both instances, and the new one's slots are empty.
        unsafe {
            let value = state::slot(source, slot.offset);
            if !value.is_null() {
                has_nodes |= !leaf(value);
                *state::slot_mut(copy.get(), slot.offset) = Owned::borrowed(value).into_raw();
            }
        }
    }
    has_nodes
}

/// A new instance from its class's allocator, without `__new__` and `__init__`.
///
/// # Safety
/// `class` is alive, and a class that its plan allows to be filled by offset.
#[inline(always)]
pub(super) unsafe fn allocate(class: Type, items: isize) -> Result<Owned> {
    // SAFETY: `class` is alive; every class has an allocator. Tuples come from their own free list.
    unsafe {
        if class == addr_of_mut!(ffi::PyTuple_Type) {
            return Owned::new(ffi::PyTuple_New(items)).ok_or_else(raised);
        }
        state::allocate(class, items)
    }
}

/// Sets an instance's `__dict__`, which a hook or the caller's memo may have made.
pub(super) fn set_dict(object: &Owned, dict: Owned) -> Result<()> {
    // SAFETY: both are owned references; callers pass instances whose class has a `__dict__`.
    unsafe {
        if ffi::PyDict_Check(dict.get()) == 0 {
            return Err(fault("the copy of a `__dict__` is no dict"));
        }
        state::set_dict(object.get(), dict)
    }
}

/// The present members of a set.
///
/// # Safety
/// `set` is a set or frozenset.
unsafe fn members(set: Obj) -> Result<Vec<Owned>> {
    // SAFETY: `set` is a set by contract. The frozenset is of the exact type, so no code of a subclass runs.
    unsafe {
        let exact = Owned::new(ffi::PyFrozenSet_New(set)).ok_or_else(raised)?;
        let tuple = Owned::new(ffi::PySequence_Tuple(exact.get())).ok_or_else(raised)?;
        Ok(places(tuple.get()).iter().map(|&member| Owned::borrowed(member)).collect())
    }
}

/// A copy of the bytes.
///
/// # Safety
/// `object` is a bytearray or of a subclass.
unsafe fn bytearray(object: Obj) -> Result<Owned> {
    // SAFETY: `object` is a bytearray by contract; nothing runs between reading its address and copying.
    unsafe {
        let (start, len) = (ffi::PyByteArray_AsString(object), ffi::PyByteArray_Size(object));
        Owned::new(ffi::PyByteArray_FromStringAndSize(start, len)).ok_or_else(raised)
    }
}

/// The instance's `__deepcopy__`, looked up as `copy` does.
///
/// # Safety
/// `object` is alive.
unsafe fn asked(py: Python<'_>, object: Obj) -> Result<Option<Owned>> {
    // SAFETY: `object` is alive by contract; callers hold it while this runs code of its class.
    let bound = unsafe { Bound::from_borrowed_ptr(py, object) };
    let hook = bound.getattr_opt(intern!(py, "__deepcopy__"))?;
    Ok(hook.filter(|hook| !hook.is_none()).map(|hook| crate::cpython::owned(&hook)))
}

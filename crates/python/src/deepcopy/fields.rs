//! Instances, and builtins other than lists, tuples and dicts.

use crate::classes::how::Base;
use crate::classes::plan::Plan;
use crate::classes::{methods, state};
use crate::cpython::fill;
use crate::cpython::{bytes_of, dict, float, gc, int, new, references, Obj, Owned, Type};
use crate::deepcopy::frame::Make;
use crate::deepcopy::frame::{content, leaf, places, rest, Extra, Frame, Kind};
use crate::deepcopy::way::{Known, Way};
use crate::deepcopy::{fault, Copier, Got, Seen, BY_PARENT_AND_COPY, UNNUMBERED};
use crate::error::{raised, Result};
use crate::memory::{vec, Vec};
use crate::types;
use crate::types::walker::WorkItem;
use pyo3::prelude::*;
use pyo3::{ffi, intern};
use std::ptr::addr_of_mut;
use std::rc::Rc;

impl Copier<'_> {
    /// Copies what is no list, tuple or dict.
    ///
    /// # Safety
    /// `object` is alive.
    #[inline(never)]
    pub(super) unsafe fn other(&mut self, object: Obj, held: isize, whole: bool) -> Result<Got> {
        // SAFETY: alive, says the caller. What may run Python code holds `object` before it does; the class that is
        // met for the first time is looked into with its instance held.
        unsafe {
            let class = ffi::Py_TYPE(object);
            let known = if self.is_last(class) {
                self.way(class)?
            } else {
                // The reference is gone again before references are counted.
                let _held = Owned::borrowed(object);
                self.way(class)?
            };
            if matches!(known.way, Way::Atom) {
                return Ok(Got::Same);
            }
            if matches!(known.way, Way::NamedTuple) && !known.asks {
                let at = places(object).iter().position(|&item| !leaf(item));
                return self.tuple(object, at.unwrap_or(0), held);
            }
            let number = match self.seen(object, held)? {
                Seen::Copied(copy) => return Ok(Got::Made(copy)),
                Seen::New(number) => number,
            };
            if known.asks {
                if let Some(hook) = asked(self.py, object)? {
                    return self.call_hook(hook.get(), object, false, number);
                }
            }
            match &known.way {
                Way::Fields(plan) => self.fields(object, plan, number, whole),
                _ => self.by_way(object, &known, number, whole),
            }
        }
    }

    #[inline(always)]
    fn is_last(&self, class: Type) -> bool {
        self.last.as_ref().is_some_and(|(last, _)| *last == class)
    }

    #[inline(never)]
    unsafe fn by_way(&mut self, object: Obj, known: &Known, number: u32, whole: bool) -> Result<Got> {
        // SAFETY: alive and of the type that the way was found for, says the caller.
        unsafe {
            match &known.way {
                Way::Atom | Way::Value => self.same(object, number),
                Way::Fields(plan) => self.fields(object, plan, number, whole),
                Way::Based(plan, base) => self.based(object, plan, *base, number, whole),
                Way::NamedTuple => {
                    let (len, object) = (ffi::Py_SIZE(object) as usize, Owned::borrowed(object));
                    let extra = Extra::None;
                    self.push(Frame { kind: Kind::Shared, hand_over: true, number, at: 0, len, object, extra });
                    Ok(Got::Pending)
                }
                Way::Set => self.set(object, number, whole),
                Way::FrozenSet => {
                    let members = members(object)?;
                    self.recipe(object, members, Make::FrozenSet, number)
                }
                Way::ByteArray => {
                    let copy = bytearray(object)?;
                    self.whole(&copy, number)
                }
                Way::Slice => {
                    let slice = object.cast::<ffi::PySliceObject>();
                    let parts = [(*slice).start, (*slice).stop, (*slice).step].map(|part| Owned::borrowed(part));
                    self.recipe(object, parts.into(), Make::Slice, number)
                }
                Way::Method => {
                    let bound = Bound::from_borrowed_ptr(self.py, object);
                    let instance = crate::cpython::owned(&bound.getattr("__self__")?);
                    let function = crate::cpython::owned(&bound.getattr("__func__")?);
                    self.recipe(object, vec![instance], Make::Method(function), number)
                }
                Way::Proxy => {
                    let shown = gc::shown(object).ok_or_else(|| fault("a mappingproxy of nothing"))?;
                    self.recipe(object, vec![shown], Make::Proxy, number)
                }
                Way::Zoned => {
                    let bound = Bound::from_borrowed_ptr(self.py, object);
                    let zone = crate::cpython::owned(&bound.getattr(intern!(self.py, "tzinfo"))?);
                    // A zone that is a value is answered at once.
                    let class = ffi::Py_TYPE(zone.get());
                    if leaf(zone.get()) {
                        return self.same(object, number);
                    }
                    if matches!(self.way(class)?.way, Way::Value) {
                        if let Got::Same = self.value(zone.get(), BY_PARENT_AND_COPY, true)? {
                            return self.same(object, number);
                        }
                    }
                    self.reduce(object, None, number, true)
                }
                Way::Array => {
                    let (bound, memo) = (Bound::from_borrowed_ptr(self.py, object), new::dict(self.py)?);
                    let copy = bound.call_method1(intern!(self.py, "__deepcopy__"), (memo,))?;
                    self.whole(&crate::cpython::owned(&copy), number)
                }
                Way::NdArray => self.ndarray(object, number),
                Way::Hook => {
                    let hook = asked(self.py, object)?;
                    match hook {
                        Some(hook) => self.call_hook(hook.get(), object, false, number),
                        None => self.reduce(object, None, number, true),
                    }
                }
                Way::Copier(copier) => self.call_hook(copier.get(), object, true, number),
                Way::Reduce(reducer, asks) => self.reduce(object, reducer.as_ref(), number, *asks),
            }
        }
    }

    /// An array of NumPy: in C order, or in F order if it is in that; objects in it are copied on the walk.
    unsafe fn ndarray(&mut self, object: Obj, number: u32) -> Result<Got> {
        // SAFETY: alive, says the caller.
        unsafe {
            let bound = Bound::from_borrowed_ptr(self.py, object);
            let dtype = bound.getattr(intern!(self.py, "dtype"))?;
            let is_objects = dtype.getattr(intern!(self.py, "hasobject"))?.is_truthy()?;
            if is_objects && dtype.getattr(intern!(self.py, "kind"))?.ne("O")? {
                // Objects among other fields: by its own way.
                let hook = crate::cpython::owned(&bound.getattr(intern!(self.py, "__deepcopy__"))?);
                return self.call_hook(hook.get(), object, false, number);
            }
            let keep = intern!(self.py, "K");
            let keeps = types::numpy::has_an_order(&bound)?;
            let copy =
                bound.call_method1(intern!(self.py, "copy"), (if keeps { keep } else { intern!(self.py, "C") },))?;
            if !is_objects {
                return self.whole(&crate::cpython::owned(&copy), number);
            }
            // A view of the copy, which is contiguous in that order.
            let flat = copy.call_method1(intern!(self.py, "ravel"), (keep,))?;
            let items = flat.call_method0(intern!(self.py, "tolist"))?;
            let items = items.try_iter()?.map(|item| Ok(crate::cpython::owned(&item?)));
            let items = items.collect::<PyResult<Vec<_>>>()?;
            let copy = crate::cpython::owned(&copy);
            self.settle(number, &copy);
            self.recipe_of(object, items, 0, Make::Array(crate::cpython::owned(&flat)), number)?;
            self.already(copy);
            Ok(Got::Pending)
        }
    }

    fn whole(&mut self, copy: &Owned, number: u32) -> Result<Got> {
        self.settle(number, copy);
        self.close(number);
        Ok(Got::Made(copy.clone()))
    }

    unsafe fn same(&mut self, object: Obj, number: u32) -> Result<Got> {
        // SAFETY: alive, says the caller.
        self.settle(number, &unsafe { Owned::borrowed(object) });
        self.close(number);
        Ok(Got::Same)
    }

    /// Whether an object is surely its own copy.
    pub(super) fn fixed(&mut self, object: &Owned) -> Result<bool> {
        let object = object.get();
        // SAFETY: held by the caller.
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
            Ok(match self.way(class)?.way {
                Way::Atom => true,
                // Unless others may have a copy of it: held by its parent and by the caller.
                Way::Value => references(object) <= BY_PARENT_AND_COPY && !self.border.looks_at_all(),
                _ => false,
            })
        }
    }

    /// An instance whose slots and `__dict__` are the whole state: made by its class's allocator.
    #[inline(always)]
    unsafe fn fields(&mut self, source: Obj, plan: &Rc<Plan>, number: u32, whole: bool) -> Result<Got> {
        // SAFETY: an instance of the plan's class, says the caller.
        unsafe {
            if plan.has_dict {
                return self.fields_and_dict(source, plan, number, whole);
            }
            let copy = allocate(plan.class(), 0)?;
            plan.reset(copy.get());
            self.settle(number, &copy);
            if !copy_slots(source, &copy, plan) {
                self.close(number);
                return Ok(Got::Made(copy));
            }
            let frame = content(Kind::Slots, &copy, 0, Extra::Plan(plan.clone()));
            self.push(Frame { hand_over: whole, number, ..frame });
            Ok(if whole { Got::Pending } else { Got::Made(copy) })
        }
    }

    unsafe fn fields_and_dict(&mut self, source: Obj, plan: &Rc<Plan>, number: u32, whole: bool) -> Result<Got> {
        // SAFETY: an instance of the plan's class, says the caller.
        unsafe {
            let mut dict = plan.dict_of(source)?;
            if dict.is_none() && !plan.managed_dict {
                // Classes of C code may rely on theirs.
                dict = Some(Owned::new(ffi::PyDict_New()).ok_or_else(raised)?);
            }
            let names = dict.as_ref().and_then(|dict| dict::shared_names(dict.get()));
            let asked_before = names.is_some() && names == plan.unasked.get();
            if let Some(dict) = dict.as_ref().filter(|_| !asked_before) {
                // `copy` asks the instance, which may have methods of its own.
                let name = intern!(self.py, "__deepcopy__");
                let hook = ffi::PyDict_GetItemWithError(dict.get(), name.as_ptr());
                if !hook.is_null() && hook != ffi::Py_None() {
                    return self.call_hook(hook, source, false, number);
                }
                for name in methods::asked(self.py) {
                    if !ffi::PyDict_GetItemWithError(dict.get(), name.as_ptr()).is_null() {
                        return self.reduce(source, None, number, true);
                    }
                }
                // One that has not all of the names says nothing of those that others have.
                plan.unasked.set(names.filter(|&(_, count)| count == dict::len(dict.get()) as isize));
            }
            let copy = allocate(plan.class(), 0)?;
            plan.reset(copy.get());
            self.settle(number, &copy);
            let base = self.begin(&copy, number, whole);
            self.state(source, &copy, plan, dict)?;
            Ok(self.end(base, copy))
        }
    }

    /// Pushes the frame on which those of a copy's content stand.
    pub(super) fn begin(&mut self, copy: &Owned, number: u32, whole: bool) -> usize {
        self.push(rest(copy, number, whole));
        self.tables.stack.len()
    }

    /// Takes that frame off again where no content was left to others.
    pub(super) fn end(&mut self, base: usize, copy: Owned) -> Got {
        if self.tables.stack.len() == base {
            if let Some(frame) = self.tables.stack.pop() {
                self.close(frame.number);
            }
            return Got::Made(copy);
        }
        if self.tables.stack[base - 1].hand_over {
            Got::Pending
        } else {
            Got::Made(copy)
        }
    }

    /// Copies slots and `__dict__` into an instance that has none of them yet.
    pub(super) unsafe fn state(
        &mut self,
        source: Obj,
        copy: &Owned,
        plan: &Rc<Plan>,
        dict: Option<Owned>,
    ) -> Result<()> {
        // SAFETY: instances of the plan's class, says the caller.
        unsafe {
            if copy_slots(source, copy, plan) {
                self.push(content(Kind::Slots, copy, 0, Extra::Plan(plan.clone())));
            }
            let Some(dict) = dict else { return Ok(()) };
            let is_plain = ffi::Py_TYPE(dict.get()) == addr_of_mut!(ffi::PyDict_Type);
            if !is_plain {
                // It may come later: then to this frame.
                self.push(rest(copy, UNNUMBERED, false));
            }
            // Held by the instance and by us.
            match self.value(dict.get(), BY_PARENT_AND_COPY, false)? {
                Got::Same => set_dict(copy, dict),
                Got::Made(dict) => set_dict(copy, dict),
                Got::Pending => Ok(()),
            }
        }
    }

    unsafe fn set(&mut self, object: Obj, number: u32, whole: bool) -> Result<Got> {
        // SAFETY: a set, says the caller.
        unsafe {
            let members = members(object)?;
            let plain = members.iter().all(|member| leaf(member.get()));
            let copy = ffi::PySet_New(if plain { object } else { std::ptr::null_mut() });
            let copy = Owned::new(copy).ok_or_else(raised)?;
            self.settle(number, &copy);
            if plain {
                self.close(number);
                return Ok(Got::Made(copy));
            }
            self.parts(Kind::Members, members, &copy, number, whole);
            Ok(if whole { Got::Pending } else { Got::Made(copy) })
        }
    }

    /// An instance that is also a builtin value.
    unsafe fn based(&mut self, source: Obj, plan: &Rc<Plan>, base: Base, number: u32, whole: bool) -> Result<Got> {
        let class = plan.class();
        // SAFETY: an instance of a subclass of `base`, says the plan. No method of the class is called.
        unsafe {
            let payload = match base {
                Base::FrozenSet => {
                    let content = Owned::new(ffi::PyFrozenSet_New(source)).ok_or_else(raised)?;
                    return self.recipe(source, vec![content], Make::Based(base, plan.clone()), number);
                }
                Base::Exception => return self.exception(source, plan, number),
                Base::DefaultDict | Base::Deque | Base::StructSequence => {
                    return self.reduce(source, None, number, false)
                }
                Base::Tuple => {
                    let items = places(source);
                    let copy = allocate(class, items.len() as isize)?;
                    for (at, &item) in items.iter().enumerate() {
                        fill::tuple_item(copy.get(), at, Owned::borrowed(item));
                    }
                    return self.filled(source, copy, plan, base, number, whole);
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
            self.filled(source, copy, plan, base, number, whole)
        }
    }

    /// The rest of an instance of a builtin's subclass: what a container contains, and the state.
    pub(super) unsafe fn filled(
        &mut self,
        source: Obj,
        copy: Owned,
        plan: &Rc<Plan>,
        base: Base,
        number: u32,
        whole: bool,
    ) -> Result<Got> {
        self.settle(number, &copy);
        let frame = self.begin(&copy, number, whole);
        // SAFETY: instances of the plan's class, the copy without content and state.
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
                Base::Dict => self.pairs(source, &copy, UNNUMBERED, false),
                Base::OrderedDict => {
                    let items = types::collections::ordered_items(source)?;
                    let value =
                        |part| if let WorkItem::Key(part) | WorkItem::Value(part) = part { Some(part) } else { None };
                    let items = items.into_iter().filter_map(value).collect();
                    self.parts(Kind::Pairs, items, &copy, UNNUMBERED, false);
                }
                Base::Set => self.parts(Kind::Members, members(source)?, &copy, UNNUMBERED, false),
                _ => {}
            }
            self.state(source, &copy, plan, plan.dict_of(source)?)?;
        }
        Ok(self.end(frame, copy))
    }
}

/// Fills the slots of a new instance with what its source has there; says whether that is more than plain values.
///
/// # Safety
/// Both are instances of the plan's class; the slots of the new one are empty.
#[inline(always)]
unsafe fn copy_slots(source: Obj, copy: &Owned, plan: &Plan) -> bool {
    let mut has_nodes = false;
    for slot in &plan.slots {
        // SAFETY: offsets of that class, says the caller.
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

/// A fresh instance, by its class's allocator: no `__new__`, no `__init__`.
///
/// # Safety
/// `class` is alive, and laid out as its plan says.
#[inline(always)]
pub(super) unsafe fn allocate(class: Type, items: isize) -> Result<Owned> {
    // SAFETY: alive, says the caller; every class has an allocator. Tuples have their own free list.
    unsafe {
        if class == addr_of_mut!(ffi::PyTuple_Type) {
            return Owned::new(ffi::PyTuple_New(items)).ok_or_else(raised);
        }
        state::allocate(class, items)
    }
}

/// Gives an instance its `__dict__`, which a hook or the caller's memo may have made.
pub(super) fn set_dict(object: &Owned, dict: Owned) -> Result<()> {
    // SAFETY: both are held; the object is of a class with a `__dict__`.
    unsafe {
        if ffi::PyDict_Check(dict.get()) == 0 {
            return Err(fault("the copy of a `__dict__` is no dict"));
        }
        state::set_dict(object.get(), dict)
    }
}

/// The members of a set, as it has them now.
///
/// # Safety
/// `set` is a set or frozenset.
unsafe fn members(set: Obj) -> Result<Vec<Owned>> {
    // SAFETY: a set, says the caller. The frozenset is exact: no code of a subclass runs.
    unsafe {
        let exact = Owned::new(ffi::PyFrozenSet_New(set)).ok_or_else(raised)?;
        let tuple = Owned::new(ffi::PySequence_Tuple(exact.get())).ok_or_else(raised)?;
        Ok(places(tuple.get()).iter().map(|&member| Owned::borrowed(member)).collect())
    }
}

/// # Safety
/// `object` is a bytearray or of a subclass.
unsafe fn bytearray(object: Obj) -> Result<Owned> {
    // SAFETY: of that type, says the caller.
    unsafe {
        let (start, len) = (ffi::PyByteArray_AsString(object), ffi::PyByteArray_Size(object));
        Owned::new(ffi::PyByteArray_FromStringAndSize(start, len)).ok_or_else(raised)
    }
}

/// The instance's `__deepcopy__`, as `copy` asks for it.
///
/// # Safety
/// `object` is alive.
unsafe fn asked(py: Python<'_>, object: Obj) -> Result<Option<Owned>> {
    // SAFETY: alive, says the caller; held while its class's code runs.
    let bound = unsafe { Bound::from_borrowed_ptr(py, object) };
    let hook = bound.getattr_opt(intern!(py, "__deepcopy__"))?;
    Ok(hook.filter(|hook| !hook.is_none()).map(|hook| crate::cpython::owned(&hook)))
}

//! Objects that are copied by `__reduce_ex__`, as `copy.deepcopy` does it, with the parts copied on the explicit stack.

use crate::classes::{plan, registry, state};
use crate::cpython::{new, Obj, Owned};
use crate::deepcopy::frame::{Extra, Make, Reduce};
use crate::deepcopy::{fault, Copier, Got};
use crate::error::{raised, Result};
use crate::memory::Vec;
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyString, PyTuple};
use pyo3::{ffi, intern};

/// The pickle protocol that `copy` asks for.
const PROTOCOL: i32 = 4;

impl Reduce {
    /// Calls the function.
    ///
    /// # Safety
    /// The GIL is held.
    pub unsafe fn call(&self, args: &[Owned]) -> Result<Owned> {
        // SAFETY: every argument is held; each slot of the new tuple takes over a reference of its own.
        unsafe {
            let tuple = Owned::new(ffi::PyTuple_New(args.len() as isize)).ok_or_else(raised)?;
            for (at, arg) in args.iter().enumerate() {
                ffi::PyTuple_SET_ITEM(tuple.get(), at as isize, arg.clone().into_raw());
            }
            let function = self.function.clone();
            Owned::new(ffi::PyObject_Call(function.get(), tuple.get(), std::ptr::null_mut())).ok_or_else(raised)
        }
    }
}

impl Copier<'_> {
    /// Asks an object how to make it. `asks_program`: the answer may come from code outside of the interpreter.
    ///
    /// # Safety
    /// `object` is alive.
    pub(super) unsafe fn reduce(
        &mut self,
        object: Obj,
        reducer: Option<&Owned>,
        id: u32,
        asks_program: bool,
    ) -> Result<Got> {
        if asks_program {
            self.asks_program()?;
        }
        // SAFETY: `object` is alive by contract, and held while code of its class runs.
        unsafe {
            let source = Owned::borrowed(object);
            let bound = Bound::from_borrowed_ptr(self.py, object);
            let said = match reducer {
                Some(reducer) => Bound::from_borrowed_ptr(self.py, registry::call(reducer, object)?.get()),
                // As `copy` does it: a class may set `__reduce_ex__` to None.
                None => match bound.getattr_opt(intern!(self.py, "__reduce_ex__"))?.filter(|found| !found.is_none()) {
                    Some(reduce_ex) => reduce_ex.call1((PROTOCOL,))?,
                    None => bound.call_method0(intern!(self.py, "__reduce__"))?,
                },
            };
            if said.is_instance_of::<PyString>() {
                self.settle(id, &source);
                self.close(id);
                return Ok(Got::Made(source));
            }
            let malformed = || PyTypeError::new_err("`__reduce_ex__` must give a string or a tuple of two to six");
            let said = said.cast_into::<PyTuple>().map_err(|_| malformed())?;
            if !(2..=6).contains(&said.len()) {
                return Err(malformed().into());
            }
            let part = |at: usize| said.get_item(at).ok().filter(|part| !part.is_none());
            let mut parts: Vec<Owned> = Vec::new();
            for arg in said.get_item(1)?.try_iter()? {
                parts.push(crate::cpython::owned(&arg?));
            }
            let made_of = parts.len();
            let state = match part(2) {
                Some(state) => Some(crate::cpython::owned(&state)),
                None if reducer.is_none() => self.untold_state(&bound)?,
                None => None,
            };
            let has_state = state.is_some();
            parts.extend(state);
            let before = parts.len();
            if let Some(items) = part(3) {
                for item in items.try_iter()? {
                    parts.push(crate::cpython::owned(&item?));
                }
            }
            let items = parts.len() - before;
            if let Some(pairs) = part(4) {
                for pair in pairs.try_iter()? {
                    let (key, value): (Bound<'_, PyAny>, Bound<'_, PyAny>) = pair?.extract()?;
                    parts.push(crate::cpython::owned(&key));
                    parts.push(crate::cpython::owned(&value));
                }
            }
            let setter = part(5).map(|setter| crate::cpython::owned(&setter));
            let function = crate::cpython::owned(&said.get_item(0)?);
            let reduce = Reduce { function, has_state, setter, items };
            self.recipe_of(object, parts, made_of, Make::Reduce(reduce), id)
        }
    }

    /// The attributes of an instance of a defaultdict's subclass, which the builtin's `__reduce__` leaves out.
    fn untold_state(&self, object: &Bound<'_, PyAny>) -> Result<Option<Owned>> {
        let class = object.get_type();
        let py = self.py;
        let is_usual = |name: &Bound<'_, PyString>, of: &Bound<'_, PyAny>| {
            Ok::<_, PyErr>(class.getattr(name)?.is(&of.getattr(name)?))
        };
        let defaults = py.import("collections")?.getattr("defaultdict")?;
        if !is_usual(intern!(py, "__reduce__"), &defaults)?
            || !is_usual(intern!(py, "__reduce_ex__"), py.get_type::<PyAny>().as_any())?
            || object.hasattr(intern!(py, "__setstate__"))?
        {
            return Ok(None);
        }
        let slots = new::dict(self.py)?;
        // SAFETY: `object` holds itself and its class, and the plan is that class's.
        let dict = unsafe {
            let plan = plan::of(self.py, class.as_ptr().cast())?;
            for slot in &plan.slots {
                let value = state::slot(object.as_ptr(), slot.offset);
                if !value.is_null() {
                    let name = Bound::from_borrowed_ptr(self.py, slot.name.get());
                    slots.set_item(name, Bound::from_borrowed_ptr(self.py, value))?;
                }
            }
            plan.dict_of(object.as_ptr())?
        };
        if slots.is_empty() {
            return Ok(dict);
        }
        // SAFETY: `dict` is held until the tuple has a reference of its own.
        let dict = dict.map(|dict| unsafe { Bound::from_borrowed_ptr(self.py, dict.get()) });
        Ok(Some(crate::cpython::owned((dict, slots).into_pyobject(self.py)?.as_any())))
    }

    /// Puts a part into the object that was made.
    ///
    /// # Safety
    /// The frame is a recipe's, whose parts up to `at` are copies.
    pub(super) unsafe fn reduce_part(&mut self, depth: usize, at: usize, made: &Owned, part: Owned) -> Result<()> {
        let Extra::Recipe(recipe) = &self.tables.stack[depth].extra else {
            return Err(fault("a frame without its recipe"));
        };
        let Make::Reduce(reduce) = &recipe.make else { return Ok(()) };
        let place = at - recipe.made_of;
        let state = usize::from(reduce.has_state);
        if place < state {
            let setter = reduce.setter.clone();
            return set_state(self.py, made, part, setter);
        }
        let place = place - state;
        // SAFETY: `made`, `key` and `part` are held during the calls.
        unsafe {
            if place < reduce.items {
                let name = intern!(self.py, "append").as_ptr();
                let end = std::ptr::null_mut::<ffi::PyObject>();
                return Owned::new(ffi::PyObject_CallMethodObjArgs(made.get(), name, part.get(), end))
                    .map(drop)
                    .ok_or_else(raised);
            }
            if (place - reduce.items) % 2 == 1 {
                let key = recipe.parts[at - 1].clone();
                if ffi::PyObject_SetItem(made.get(), key.get(), part.get()) != 0 {
                    return Err(raised());
                }
            }
        }
        Ok(())
    }
}

/// Sets an object's state as `copy` does: by the setter, by `__setstate__`, or in `__dict__` and slots.
fn set_state(py: Python<'_>, object: &Owned, state: Owned, setter: Option<Owned>) -> Result<()> {
    // SAFETY: both are owned references.
    let (object, state) =
        unsafe { (Bound::from_borrowed_ptr(py, object.get()), Bound::from_borrowed_ptr(py, state.get())) };
    if let Some(setter) = setter {
        // SAFETY: `setter` is an owned reference.
        unsafe { Bound::from_borrowed_ptr(py, setter.get()) }.call1((&object, &state))?;
        return Ok(());
    }
    if let Some(method) = object.getattr_opt(intern!(py, "__setstate__"))? {
        method.call1((&state,))?;
        return Ok(());
    }
    let (fields, slots) = match state.cast::<PyTuple>() {
        Ok(both) if both.len() == 2 => (both.get_item(0)?, Some(both.get_item(1)?)),
        _ => (state, None),
    };
    if !fields.is_none() {
        object.getattr(intern!(py, "__dict__"))?.call_method1(intern!(py, "update"), (fields,))?;
    }
    if let Some(slots) = slots.filter(|slots| !slots.is_none()) {
        let slots = slots.cast::<PyDict>().map_err(PyErr::from)?;
        for (name, value) in slots {
            object.setattr(name.cast::<PyString>().map_err(PyErr::from)?, value)?;
        }
    }
    Ok(())
}

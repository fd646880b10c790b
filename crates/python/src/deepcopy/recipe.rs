//! Objects that are made from their parts, and exist only once the parts are copied.

use crate::classes::plan::Plan;
use crate::cpython::{Obj, Owned};
use crate::deepcopy::frame::{Extra, Frame, Kind, Make, Recipe};
use crate::deepcopy::{fault, Copier, Got, BY_PARENT_AND_COPY, NEVER, NO_ID};
use crate::error::{raised, Result};
use crate::memory::{vec, Vec};
use crate::types;
use crate::types::walker::WorkItem;
use pyo3::ffi;
use std::rc::Rc;

crate::cpython::libpython! {
    fn PyMethod_New(function: Obj, instance: Obj) -> Obj;
}

impl Copier<'_> {
    /// Lets the walk copy all parts and make an object from them.
    ///
    /// # Safety
    /// `source` is alive.
    pub(super) unsafe fn recipe(&mut self, source: Obj, parts: Vec<Owned>, make: Make, id: u32) -> Result<Got> {
        let made_of = parts.len();
        // SAFETY: `source` is alive by contract.
        unsafe { self.recipe_of(source, parts, made_of, make, id) }
    }

    /// The same if only the first `made_of` parts are needed to make the object.
    ///
    /// # Safety
    /// `source` is alive.
    pub(super) unsafe fn recipe_of(
        &mut self,
        source: Obj,
        parts: Vec<Owned>,
        made_of: usize,
        make: Make,
        id: u32,
    ) -> Result<Got> {
        // SAFETY: `source` is alive by contract.
        let object = unsafe { Owned::borrowed(source) };
        let len = parts.len();
        let recipe = Recipe { parts, made_of, make, made: None, changed: false };
        let extra = Extra::Recipe(Box::new(recipe));
        self.push(Frame { kind: Kind::Recipe, hand_over: true, id, at: 0, len, object, extra });
        Ok(Got::Pending)
    }

    /// Says that the recipe just pushed has its object already.
    pub(super) fn already(&mut self, made: Owned) {
        if let Some(Frame { extra: Extra::Recipe(recipe), .. }) = self.tables.stack.last_mut() {
            recipe.made = Some(made);
        }
    }

    /// Copies an exception: its arguments and fields are one part.
    ///
    /// # Safety
    /// `source` is alive and an exception.
    pub(super) unsafe fn exception(&mut self, source: Obj, plan: &Rc<Plan>, id: u32) -> Result<Got> {
        // SAFETY: `source` is alive and an exception, by contract.
        unsafe {
            let parts = types::exception::parts(self.py, source)?;
            let Some(WorkItem::Value(both)) = parts.into_iter().next() else {
                return Err(fault("an exception without its arguments"));
            };
            let made_of = usize::from(types::exception::is_of_parts(self.py, plan.class())?);
            self.recipe_of(source, vec![both], made_of, Make::Exception(plan.clone()), id)
        }
    }

    /// Continues the recipe on top of the stack.
    pub(super) unsafe fn run_recipe(&mut self) -> Result<()> {
        let depth = self.tables.stack.len();
        loop {
            let frame = &self.tables.stack[depth - 1];
            let at = frame.at;
            let Extra::Recipe(recipe) = &frame.extra else { return Err(fault("a frame without its recipe")) };
            if at >= recipe.made_of && recipe.made.is_none() {
                // SAFETY: the frame is on top of the stack, and its first `made_of` parts are copied.
                if unsafe { self.make(depth)? } {
                    return Ok(());
                }
                if self.tables.stack.len() != depth {
                    return Ok(());
                }
                continue;
            }
            let Some(part) = recipe.parts.get(at) else {
                let Some(frame) = self.tables.stack.pop() else { return Ok(()) };
                self.close(frame.id);
                let Extra::Recipe(recipe) = frame.extra else { return Ok(()) };
                // SAFETY: the frame was popped, so the one that waits for the copy is on top.
                return unsafe { self.deliver(recipe.made.unwrap_or(frame.object)) };
            };
            let part = part.get();
            // Copying the recipe may start over (see `seen_shared`), and then the part is met again.
            let held = if frame.id == NO_ID { BY_PARENT_AND_COPY } else { NEVER };
            // SAFETY: the frame holds the part, and replaces it only after `value` has returned.
            unsafe {
                match self.value(part, held, true)? {
                    Got::Same => self.recipe_next(depth - 1, Owned::borrowed(part))?,
                    Got::Made(copy) => self.recipe_next(depth - 1, copy)?,
                    Got::Pending => return Ok(()),
                }
            }
        }
    }

    unsafe fn recipe_next(&mut self, depth: usize, copy: Owned) -> Result<()> {
        let frame = &mut self.tables.stack[depth];
        let at = frame.at;
        frame.at += 1;
        // SAFETY: the frame at `depth` is a recipe's, which has this part.
        unsafe { self.recipe_part(depth, at, copy) }
    }

    /// Stores the copy of a part.
    pub(super) unsafe fn recipe_part(&mut self, depth: usize, at: usize, copy: Owned) -> Result<()> {
        let Extra::Recipe(recipe) = &mut self.tables.stack[depth].extra else {
            return Err(fault("a frame without its recipe"));
        };
        recipe.changed |= copy.get() != recipe.parts[at].get();
        let before = std::mem::replace(&mut recipe.parts[at], copy.clone());
        let made = recipe.made.clone();
        let flat = if let Make::Array(flat) = &recipe.make { Some(flat.clone()) } else { None };
        let is_exception = matches!(recipe.make, Make::Exception(_));
        drop(before); // outside of the borrow: a destructor may run Python code
        let Some(made) = made else { return Ok(()) };
        if is_exception {
            return types::exception::fill(self.py, &made, &copy, 0);
        }
        if let Some(flat) = flat {
            // SAFETY: `flat` and `copy` are held; NumPy checks the index.
            if unsafe { ffi::PySequence_SetItem(flat.get(), at as isize, copy.get()) } != 0 {
                return Err(raised());
            }
            return Ok(());
        }
        // SAFETY: the frame is a recipe's, and its parts up to `at` are copied.
        unsafe { self.reduce_part(depth, at, &made, copy) }
    }

    /// Makes the object. `true`: the frame is gone, because starting over had made the object already.
    unsafe fn make(&mut self, depth: usize) -> Result<bool> {
        let frame = &self.tables.stack[depth - 1];
        let (id, source) = (frame.id, frame.object.clone());
        if let Some(copy) = self.adopted(id)? {
            self.tables.stack.pop();
            self.close(id);
            // SAFETY: the frame was popped, so the one that waits for the copy is on top.
            unsafe { self.deliver(copy)? };
            return Ok(true);
        }
        let Extra::Recipe(recipe) = &self.tables.stack[depth - 1].extra else { return Ok(false) };
        let parts = &recipe.parts;
        let part = |at: usize| parts[at].get();
        // SAFETY: the frame holds the parts, and what runs here doesn't touch the stack.
        unsafe {
            let own = if recipe.changed { None } else { Some(source.clone()) };
            let made = match (&recipe.make, own) {
                (Make::FrozenSet | Make::Slice | Make::Method(_) | Make::Proxy, Some(own)) => own,
                (Make::FrozenSet, None) => {
                    let set = Owned::new(ffi::PyFrozenSet_New(std::ptr::null_mut())).ok_or_else(raised)?;
                    for part in parts {
                        if ffi::PySet_Add(set.get(), part.get()) != 0 {
                            return Err(raised());
                        }
                    }
                    set
                }
                (Make::Slice, None) => Owned::new(ffi::PySlice_New(part(0), part(1), part(2))).ok_or_else(raised)?,
                (Make::Method(function), None) => {
                    Owned::new(PyMethod_New(function.get(), part(0))).ok_or_else(raised)?
                }
                (Make::Proxy, None) => Owned::new(ffi::PyDictProxy_New(part(0))).ok_or_else(raised)?,
                (Make::Based(base, plan), _) => {
                    let (base, plan, payload) = (*base, plan.clone(), parts[0].clone());
                    let made = types::new_of(base, plan.class(), Some(payload))?;
                    return self.made(depth, source, made, id, Some(plan));
                }
                (Make::Exception(plan), _) => {
                    let (plan, args) = (plan.clone(), parts[..recipe.made_of].first().cloned());
                    let made = types::exception::empty(self.py, plan.class(), args.as_ref(), 0)?;
                    if let Some(args) = &args {
                        types::exception::fill(self.py, &made, args, 0)?;
                    }
                    return self.made(depth, source, made, id, Some(plan));
                }
                (Make::Array(_), _) => return Err(fault("an array without its copy")),
                (Make::Reduce(reduce), _) => reduce.call(&parts[..recipe.made_of])?,
            };
            self.made(depth, source, made, id, None)
        }
    }

    /// Records the object that was made, and lets the walk copy slots and `__dict__`.
    unsafe fn made(
        &mut self,
        depth: usize,
        source: Owned,
        made: Owned,
        id: u32,
        plan: Option<Rc<Plan>>,
    ) -> Result<bool> {
        self.settle(id, &made);
        if let Extra::Recipe(recipe) = &mut self.tables.stack[depth - 1].extra {
            recipe.made = Some(made.clone());
        }
        if let Some(plan) = plan {
            // SAFETY: both are instances of the plan's class, and the new one has no state yet.
            unsafe {
                let dict = plan.dict_of(source.get())?;
                self.state(source.get(), &made, &plan, dict)?;
            }
        }
        Ok(false)
    }
}

//! Writes the values of an instance: its slots, attributes or fields, in the order of the class or of the format.

use super::value::Stopped;
use super::walk::CHANGED;
use super::{Encoder, Extra, Frame, Kind};
use crate::classes::plan::Plan;
use crate::classes::state;
use crate::cpython::{prefetch, split, Obj, Owned};
use crate::encode::dialect::Dialect;
use crate::error::{encode, Result};
use crate::memory::Vec;
use crate::types::walker::BY_PARENT;
use std::rc::Rc;

const NO_PLAN: &str = "a frame without its plan";

impl<D: Dialect> Encoder<'_, D> {
    /// Writes the slots of an instance whose head was written: leaves at once, the rest from a frame.
    ///
    /// # Safety
    /// `object` is an instance of the class that the offsets were read from, and these slots are set.
    #[inline(always)]
    pub(crate) unsafe fn ordered(&mut self, object: Obj, offsets: &Rc<Vec<usize>>) -> Result<()> {
        // SAFETY: by contract an instance of the class from which the offsets were read.
        unsafe {
            for (at, &offset) in offsets.iter().enumerate() {
                let value = state::slot(object, offset);
                let Some(Stopped { depth, done }) = self.frameless(value)? else { continue };
                // After the last slot nothing is left to return to.
                let at = at + usize::from(done);
                if at < offsets.len() {
                    let frame = Frame {
                        at: at as isize,
                        extra: Some(Extra::Offsets(offsets.clone())),
                        ..Frame::new(Owned::borrowed(object), Kind::Ordered)
                    };
                    self.tables.stack.insert(depth, frame);
                }
                break;
            }
        }
        Ok(())
    }

    /// Continues the frame on top, value by value. `next` returns a value by its position (null if there is nothing to
    /// write, `None` after the last one) and writes what comes before it.
    ///
    /// # Safety
    /// What `next` returns is alive until Python code runs; `next` reads it anew each time.
    #[inline(always)]
    unsafe fn walk_places(&mut self, mut next: impl FnMut(&mut Self, usize) -> Result<Option<Obj>>) -> Result<()> {
        let depth = self.tables.stack.len();
        let mut at = self.tables.stack[depth - 1].at as usize;
        while let Some(value) = next(self, at)? {
            at += 1;
            // SAFETY: nothing has run since the value was read; leaves run no Python code.
            unsafe {
                if value.is_null() || self.leaf(value, BY_PARENT)? {
                    continue;
                }
                self.tables.stack[depth - 1].at = at as isize;
                self.value(value, BY_PARENT)?;
            }
            if self.tables.stack.len() != depth {
                return Ok(());
            }
        }
        self.tables.stack.pop();
        Ok(())
    }

    /// Continues the slots of an instance.
    ///
    /// # Safety
    /// The frame on top is of `Kind::Slots`, and holds an instance of its plan's class.
    pub(crate) unsafe fn walk_slots(&mut self) -> Result<()> {
        let (object, plan) = self.top_plan()?;
        // SAFETY: the frame holds the instance, whose class is the plan's. If a hook deletes a slot's value, too few
        // values are written, which is noticed at the end.
        unsafe { self.walk_places(|_, at| Ok(plan.slots.get(at).map(|slot| state::slot(object, slot.offset)))) }
    }

    /// Continues the attributes of an instance without a `__dict__` object.
    ///
    /// # Safety
    /// The frame on top is of `Kind::Attributes`, and holds an instance whose attributes stand within it.
    pub(crate) unsafe fn walk_attributes(&mut self) -> Result<()> {
        let Some(frame) = self.tables.stack.last() else { return Err(encode(CHANGED)) };
        let (object, len) = (frame.object.get(), frame.len);
        // SAFETY: the frame holds the instance; an attribute is looked up anew after everything that may run Python
        // code.
        unsafe {
            self.walk_places(|_, at| match (split::attribute(object, at), at < len) {
                (Some((_, value)), true) => Ok(Some(value)),
                (None, false) => Ok(None),
                _ => Err(encode(CHANGED)),
            })
        }
    }

    /// Continues the slots of an instance in the format's order.
    ///
    /// # Safety
    /// The frame on top is of `Kind::Ordered`, and holds an instance of the class that its offsets were read from.
    pub(crate) unsafe fn walk_ordered(&mut self) -> Result<()> {
        let Some(Frame { object, extra: Some(Extra::Offsets(offsets)), .. }) = self.tables.stack.last() else {
            return Err(encode("a frame without its offsets"));
        };
        let (object, offsets) = (object.get(), offsets.clone());
        // SAFETY: the frame holds the instance, of the class from which the offsets were read.
        unsafe {
            self.walk_places(|_, at| {
                let Some(&offset) = offsets.get(at) else { return Ok(None) };
                set(state::slot(object, offset))
            })
        }
    }

    /// Continues the fields of an instance under their keys.
    ///
    /// # Safety
    /// The frame on top is of `Kind::Named`, and holds an instance of its plan's class.
    pub(crate) unsafe fn walk_named(&mut self) -> Result<()> {
        let (object, plan) = self.top_plan()?;
        let form = plan.schemaless_form(self.py)?;
        let Some(fields) = &form.fields else { return Err(encode(NO_PLAN)) };
        let mut key_written = self.tables.stack.last().is_some_and(|frame| frame.value_next);
        // SAFETY: the frame holds the instance, whose class is the plan's; names are strings that the plan holds.
        unsafe {
            self.walk_places(|encoder, at| {
                let Some(field) = fields.get(at) else { return Ok(None) };
                if !std::mem::take(&mut key_written) && !form.array_like {
                    encoder.name_key(field.key.get())?;
                }
                if let Some(frame) = encoder.tables.stack.last_mut() {
                    frame.value_next = false;
                }
                set(field.slot.map_or(std::ptr::null_mut(), |offset| state::slot(object, offset)))
            })
        }
    }

    /// The instance and the plan of the frame on top.
    fn top_plan(&self) -> Result<(Obj, Rc<Plan>)> {
        match self.tables.stack.last() {
            Some(Frame { object, extra: Some(Extra::Plan(plan)), .. }) => Ok((object.get(), plan.clone())),
            _ => Err(encode(NO_PLAN)),
        }
    }

    /// Prefetches the slots of an instance while the one before it is written.
    ///
    /// # Safety
    /// `object` is an instance of the class that the offsets were read from.
    #[inline(always)]
    pub(crate) unsafe fn prefetch_ordered(&self, object: Obj, offsets: &[usize]) {
        for &offset in offsets {
            // SAFETY: by contract an instance of that class.
            prefetch(unsafe { state::slot(object, offset) });
        }
    }
}

/// The value of a slot that was set when the instance was begun.
fn set(value: Obj) -> Result<Option<Obj>> {
    match value.is_null() {
        true => Err(encode(CHANGED)),
        false => Ok(Some(value)),
    }
}

//! Dicts, sets and instances in schemaless formats, whose keys are written beside their values.

mod values;

use crate::classes::plan::{Plain, PlainField, Plan};
use crate::classes::state;
use crate::cpython::attributes::Attributes;
use crate::cpython::dict::{self, Pair};
use crate::cpython::{owned, split, text, Obj, Owned, Type};
use crate::encode::dialect::Dialect;
use crate::encode::forms::Order;
use crate::encode::value::Stopped;
use crate::encode::{Encoder, Extra, Frame, Kind};
use crate::error::{encode, raised, Result};
use crate::memory::Vec;
use crate::types::walker::{WorkItem, BY_PARENT};
use holdall_format::model::Text;
use holdall_format::model::TimestampWriter;
use holdall_format::Writer;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyString};
use pyo3::{ffi, Bound};
use std::ptr::addr_of_mut;
use std::rc::Rc;

impl<D: Dialect> Encoder<'_, D> {
    /// Writes a dict pair by pair: leaves at once, the rest from a frame.
    ///
    /// # Safety
    /// `object` is a dict.
    #[inline(always)]
    pub(crate) unsafe fn schemaless_dict(&mut self, object: Obj) -> Result<()> {
        // SAFETY: `object` is a dict by contract; leaves run no Python code, so its entries stay valid.
        unsafe {
            if self.options.forms.order != Order::Own {
                return self.sorted_dict(object);
            }
            let len = dict::len(object);
            self.w.dict(len);
            let Some(entries) = dict::entries(object) else {
                self.pairs(object);
                return Ok(());
            };
            for (at, &Pair { key, value, .. }) in entries.iter().enumerate() {
                if !self.key(key, BY_PARENT)? {
                    let frame =
                        Frame { at: at as isize, len: len - at, ..Frame::new(Owned::borrowed(object), Kind::Pairs) };
                    self.tables.stack.push(frame);
                    return Ok(());
                }
                let Some(Stopped { depth, done }) = self.frameless(value)? else { continue };
                // The rest continues after the value's frame. The frame is needed even if nothing is left, because it
                // is part of the path to the value.
                let at = at + usize::from(done);
                let frame = Frame {
                    at: at as isize,
                    len: len - at,
                    value_next: !done,
                    ..Frame::new(Owned::borrowed(object), Kind::Pairs)
                };
                self.tables.stack.insert(depth, frame);
                return Ok(());
            }
        }
        Ok(())
    }

    /// Continues a dict whose entries are one array. `false`: it isn't one, or a key needs a frame.
    ///
    /// # Safety
    /// The frame on top holds a dict.
    #[inline(always)]
    pub(crate) unsafe fn walk_schemaless_pairs(&mut self) -> Result<bool> {
        let depth = self.tables.stack.len();
        let frame = &self.tables.stack[depth - 1];
        let (object, mut at, mut value_next) = (frame.object.get(), frame.at as usize, frame.value_next);
        let len = at + frame.len;
        // SAFETY: the frame holds the dict; its entries are read anew after everything that may run Python code.
        unsafe {
            loop {
                let Some(entries) = dict::entries(object).filter(|entries| entries.len() == len) else {
                    return Ok(false);
                };
                let Some(&Pair { key, value, .. }) = entries.get(at) else { break };
                if !std::mem::take(&mut value_next) && !self.key(key, BY_PARENT)? {
                    let frame = &mut self.tables.stack[depth - 1];
                    (frame.at, frame.len, frame.value_next) = (at as isize, len - at, false);
                    return Ok(false);
                }
                at += 1;
                if self.leaf(value, BY_PARENT)? {
                    continue;
                }
                let frame = &mut self.tables.stack[depth - 1];
                (frame.at, frame.len, frame.value_next) = (at as isize, len - at, false);
                self.node(value, BY_PARENT, crate::encode::shapes::NONE)?;
                if self.tables.stack.len() != depth {
                    return Ok(true);
                }
            }
        }
        self.tables.stack.pop();
        Ok(true)
    }

    /// Writes a dict's key. `false`: it needs a frame.
    ///
    /// # Safety
    /// `key` is alive.
    #[inline(always)]
    pub(crate) unsafe fn key(&mut self, key: Obj, held: isize) -> Result<bool> {
        // SAFETY: `key` is alive by contract.
        unsafe {
            if !D::Writer::KEYS_ARE_TEXT {
                return self.leaf(key, held);
            }
            match text::is(key) && !self.dialect.checks_keys() {
                true => self.name_key(key)?,
                false => self.odd_key(key)?,
            }
        }
        Ok(true)
    }

    /// Writes a key that is text.
    ///
    /// # Safety
    /// `key` is a string.
    #[inline(always)]
    pub(crate) unsafe fn name_key(&mut self, key: Obj) -> Result<()> {
        // SAFETY: `key` is a string by contract.
        let name = unsafe {
            match text::ascii(key) {
                Some(bytes) => Text::Ascii(bytes),
                None => match text::cached_utf8(key) {
                    Some(utf8) => Text::Utf8(utf8),
                    None => text::parts(key).ok_or_else(raised)?,
                },
            }
        };
        self.w.key(name);
        Ok(())
    }

    /// Writes a key that isn't a `str`, in a format whose keys are text.
    #[cold]
    #[inline(never)]
    unsafe fn odd_key(&mut self, key: Obj) -> Result<()> {
        // SAFETY: `key` is alive, as for `key`.
        if unsafe { D::key(self, key)? } {
            return Ok(());
        }
        // SAFETY: as above.
        let bound = unsafe { Bound::from_borrowed_ptr(self.py, key) };
        let text = values::key_text(&bound)?;
        // A key of a subclass of str equals its text, so the dict has no other key with that text.
        let is_string = bound.is_instance_of::<PyString>();
        if let (Some(Frame { kind: Kind::Pairs, object, .. }), false) = (self.tables.stack.last(), is_string) {
            // SAFETY: the frame holds a dict; the key is a string.
            match unsafe { ffi::PyDict_Contains(object.get(), text.get()) } {
                0 => {}
                1 => {
                    return Err(encode(
                        "can't store a dict with two keys of the same text: keys are text in this format",
                    ))
                }
                _ => return Err(raised()),
            }
        }
        // SAFETY: `text` is a string.
        unsafe { self.name_key(text.get()) }
    }

    /// Writes what comes before so many fields of an instance: the head of its dict or list, the tag and the version.
    #[inline(always)]
    fn head_of_fields(&mut self, form: &Plain, fields: usize) -> Result<()> {
        match form.array_like {
            true => self.w.list(fields + form.marks.len()),
            false => self.w.dict(fields + form.marks.len()),
        }
        for (field, value) in &form.marks {
            // SAFETY: the form holds both; the field is a string.
            unsafe {
                if !form.array_like {
                    self.name_key(field.get())?;
                }
                self.leaf(value.get(), isize::MAX)?;
            }
        }
        Ok(())
    }

    /// Writes an instance whose fields are all in slots. `false`: one of them isn't set.
    ///
    /// # Safety
    /// `object` is an instance of the plan's class.
    #[inline(always)]
    pub(crate) unsafe fn schemaless_slots(&mut self, object: Obj, plan: &Rc<Plan>) -> Result<bool> {
        let form = plan.schemaless_form(self.py)?;
        let Some(fields) = form.fields.as_ref().filter(|_| form.in_slots && self.options.forms.order != Order::Sorted)
        else {
            return Ok(false);
        };
        // SAFETY: by contract an instance of the class from which the slots' offsets were read.
        unsafe {
            let value = |slot: Option<usize>| slot.map_or(std::ptr::null_mut(), |offset| state::slot(object, offset));
            if fields.iter().any(|field| value(field.slot).is_null()) {
                return Ok(false);
            }
            self.head_of_fields(form, fields.len())?;
            for (at, field) in fields.iter().enumerate() {
                if !form.array_like {
                    self.name_key(field.key.get())?;
                }
                if !self.leaf(value(field.slot), BY_PARENT)? {
                    // The key is written: the frame continues with the value.
                    let frame = Frame {
                        at: at as isize,
                        value_next: true,
                        extra: Some(Extra::Plan(plan.clone())),
                        ..Frame::new(Owned::borrowed(object), Kind::Named)
                    };
                    self.tables.stack.push(frame);
                    break;
                }
            }
        }
        Ok(true)
    }
}

/// Instances with more fields than this are taken apart before they are written.
const MOST_ATTRIBUTES: usize = 24;

impl<D: Dialect> Encoder<'_, D> {
    /// Writes an instance whose fields are all in its `__dict__`, in the order of its class. `false`: they are not, and nothing was
    /// written.
    ///
    /// # Safety
    /// `object` is an instance of the plan's class.
    #[inline(always)]
    pub(crate) unsafe fn schemaless_attributes(&mut self, object: Obj, plan: &Rc<Plan>) -> Result<bool> {
        let form = plan.schemaless_form(self.py)?;
        let usual = form.may_be_attributes && self.options.forms.order != Order::Sorted && !self.asks();
        let is_usual =
            |fields: &&Vec<PlainField>| usual && fields.len() <= MOST_ATTRIBUTES && plan.finds_in_dict(form, fields);
        let Some(fields) = form.fields.as_ref().filter(is_usual) else { return Ok(false) };
        let mut values = [std::ptr::null_mut(); MOST_ATTRIBUTES];
        // SAFETY: by contract an instance of the plan's class, which holds the values. Leaves run no code, so they stay; what comes after
        // them is held by its work item.
        unsafe {
            if !attributes(object, plan, fields, &mut values)? {
                return Ok(false);
            }
            self.head_of_fields(form, fields.len())?;
            for (at, field) in fields.iter().enumerate() {
                if !form.array_like {
                    self.name_key(field.key.get())?;
                }
                if !self.leaf(values[at], BY_PARENT)? {
                    let mut rest = Vec::with_capacity(2 * (fields.len() - at));
                    for (field, &value) in fields.iter().zip(&values).skip(at) {
                        if !form.array_like {
                            rest.push(WorkItem::Field(field.key.clone()));
                        }
                        rest.push(WorkItem::Value(Owned::borrowed(value)));
                    }
                    self.then(rest);
                    // The key is written: the frame goes on with the value.
                    if let (Some(frame), false) = (self.tables.stack.last_mut(), form.array_like) {
                        frame.at = 1;
                    }
                    break;
                }
            }
        }
        Ok(true)
    }
}

/// The values of an instance's attributes, borrowed, if these begin with the fields, in their order.
///
/// # Safety
/// `object` is an instance of the plan's class.
unsafe fn attributes(object: Obj, plan: &Plan, fields: &[PlainField], values: &mut [Obj]) -> Result<bool> {
    // SAFETY: by the contract; a `__dict__` that was found is held by the instance.
    unsafe {
        let dict = match plan.managed_dict && split::attribute(object, 0).is_some() {
            true => None,
            false => match plan.dict_of(object)? {
                Some(dict) => Some(dict),
                None => return Ok(false),
            },
        };
        let mut attributes = Attributes::within(object, dict.as_ref().map(Owned::get));
        for (field, value) in fields.iter().zip(values) {
            match attributes.next() {
                Some((name, found)) if name == field.name.get() => *value = found,
                _ => return Ok(false),
            }
        }
    }
    Ok(true)
}

impl<D: Dialect<Writer: TimestampWriter>> Encoder<'_, D> {
    /// Adds what the `__dict__` of an instance holds besides the fields that its class declares.
    fn kept_fields(
        &mut self,
        object: &Bound<'_, PyAny>,
        plan: &Rc<Plan>,
        fields: &[PlainField],
        parts: &mut Vec<WorkItem>,
    ) -> Result<()> {
        // SAFETY: `object` is an instance of the plan's class.
        let Some(dict) = (unsafe { plan.dict_of(object.as_ptr())? }) else { return Ok(()) };
        // SAFETY: `dict` is an owned reference.
        let dict = unsafe { Bound::from_borrowed_ptr(self.py, dict.get()) };
        for (name, value) in dict.cast::<PyDict>().map_err(PyErr::from)? {
            // SAFETY: both are strings: the first is checked, the second is a field's name.
            let is_it = |field: &PlainField| unsafe { text::equal(field.name.get(), name.as_ptr()) };
            if name.is_instance_of::<PyString>() && !fields.iter().any(is_it) {
                parts.push(WorkItem::Field(owned(&name)));
                parts.push(WorkItem::Value(owned(&value)));
            }
        }
        Ok(())
    }

    /// Writes a builtin value for which schemaless formats have no form.
    ///
    /// # Safety
    /// `object` is alive, and of that class.
    #[inline(always)]
    pub(crate) unsafe fn schemaless_builtin(&mut self, object: Obj, class: Type) -> Result<()> {
        // SAFETY: `object` is alive and of `class`, by contract; the type is checked before content is read.
        unsafe {
            if self.options.builtin_only && class != addr_of_mut!(ffi::PyByteArray_Type) {
                self.schemaless_instance(object, class)
            } else if class == addr_of_mut!(ffi::PySet_Type) || class == addr_of_mut!(ffi::PyFrozenSet_Type) {
                self.w.list(ffi::PySet_Size(object) as usize);
                self.schemaless_members(object)
            } else if class == addr_of_mut!(ffi::PyByteArray_Type) {
                let len = ffi::PyByteArray_Size(object) as usize;
                self.w.bytes(std::slice::from_raw_parts(ffi::PyByteArray_AsString(object).cast(), len));
                Ok(())
            } else if class == addr_of_mut!(ffi::PyComplex_Type) {
                self.schemaless_complex(object);
                Ok(())
            } else if object == ffi::Py_Ellipsis() || object == ffi::Py_NotImplemented() {
                self.refused(object, "the format has no form for it, which needs")
            } else {
                self.schemaless_instance(object, class)
            }
        }
    }

    /// Writes an instance by its class's plan.
    ///
    /// # Safety
    /// `object` is alive, and of that class.
    #[inline(always)]
    unsafe fn schemaless_instance(&mut self, object: Obj, class: Type) -> Result<()> {
        // SAFETY: the contract is the same.
        unsafe {
            let plan = self.plan(class)?;
            self.plain(object, &plan)
        }
    }
}

//! Layouts of a message: dict keys with a template to copy, classes with the place of each field.

pub mod classes;
pub mod dicts;
pub mod names;
pub mod typed;

use crate::classes::defaults::Defaulted;
use crate::classes::how::Base;
use crate::classes::plan::Plan;
use crate::cpython::class::_PyType_Lookup;
use crate::cpython::{dict, Obj, Owned, Type};
use crate::error::{decode, raised, refusal, refused, Result};
use crate::memory::Vec;
use holdall_format::model::ShapeKind;
use pyo3::ffi;
use pyo3::prelude::*;
use std::cell::{OnceCell, RefCell};
use std::rc::Rc;
use typed::Typed;

/// Where a field's value goes.
#[derive(Debug)]
pub enum Place {
    Slot(usize),
    /// The instance's `__dict__`, through the generic setter, which keeps it compact.
    Attribute(Owned),
    /// The instance's `__dict__` itself: some data descriptor has the name.
    Hidden(Owned),
    /// The class has no such field any more.
    Nowhere,
    /// A tuple's place.
    Item(usize),
    /// A dict's item.
    Key(Owned),
}

#[derive(Debug)]
pub enum Build {
    Dict,
    /// Slots only.
    Slots {
        class: Type,
        offsets: Vec<usize>,
    },
    /// `__dict__` only, which is copied from the template and filled in place.
    Attributes {
        plan: Rc<Plan>,
    },
    Mixed {
        plan: Rc<Plan>,
        places: Vec<Place>,
    },
    /// The place of each field in the tuple.
    NamedTuple {
        class: Type,
        order: Vec<usize>,
    },
    Based {
        class: Type,
        base: Base,
        places: Vec<Place>,
    },
    /// Through a dict of the fields by name. lacking: what the class has a default for and the layout has not; where the fields go
    /// through a function of the program's, that is known after it.
    Upgraded {
        plan: Rc<Plan>,
        lacking: Option<Vec<Defaulted>>,
    },
    Enum,
    Custom,
    Record,
    /// A class of the schema.
    Typed(Typed),
    /// A dict of a plain format, with its keys as the format writes them.
    Guessed(Vec<Vec<u8>>),
    /// Nobody has asked yet which class it is.
    Unresolved,
}

#[derive(Debug)]
pub struct Layout {
    pub kind: ShapeKind,
    pub names: Vec<Owned>,
    /// Names (by their place in the message) that were references, and to which number.
    pub(crate) references: Vec<(usize, u64)>,
    /// How many of its names have a number, in the message that it was read from.
    pub numbers: usize,
    /// The stored class name, and its version.
    pub type_name: Option<Owned>,
    pub version: u64,
    pub plan: Option<Rc<Plan>>,
    pub build: Build,
    /// Memory that an instance takes, about, beside its values.
    pub bytes: usize,
    /// What it was matched with, and how instances are built of this layout then: a schema's serial number with a class
    /// in it, or a plan's with the version of its class.
    pub matched: RefCell<Vec<(u64, u32, Rc<Layout>)>>,
    pub(crate) template: OnceCell<Option<Owned>>,
}

impl Layout {
    /// How instances are built of this layout, if that was found out.
    #[inline(always)]
    pub fn matched_with(&self, serial: u64, class: u32) -> Option<Rc<Layout>> {
        let matched = self.matched.borrow();
        matched.iter().find(|known| known.0 == serial && known.1 == class).map(|(_, _, layout)| layout.clone())
    }

    /// Keeps what was found out.
    pub fn match_with(&self, serial: u64, class: u32, layout: &Rc<Layout>) {
        let mut matched = self.matched.borrow_mut();
        // Schemas and plans come and go; those in use find their way back in.
        let old = (matched.len() >= 8).then(|| matched.remove(0));
        matched.push((serial, class, layout.clone()));
        drop(matched);
        drop(old); // after: destructors may run Python code
    }

    /// A layout of the schema's own, which no message has written.
    pub fn empty(names: Vec<Owned>) -> Layout {
        Layout {
            kind: ShapeKind::Dict,
            bytes: 128,
            names,
            references: Vec::new(),
            numbers: 0,
            type_name: None,
            version: 0,
            plan: None,
            build: Build::Unresolved,
            matched: RefCell::default(),
            template: OnceCell::new(),
        }
    }

    /// Of instances whose fields have these names, in this order.
    pub fn of_object(names: Vec<Owned>, version: u64) -> Layout {
        Layout { kind: ShapeKind::Object, version, ..Layout::empty(names) }
    }

    /// Another way to build what this layout says.
    pub fn like(&self, build: Build, names: Vec<Owned>) -> Layout {
        Layout {
            kind: self.kind,
            names,
            references: Vec::new(),
            numbers: self.numbers,
            type_name: self.type_name.clone(),
            version: self.version,
            plan: self.plan.clone(),
            build,
            bytes: self.bytes,
            matched: RefCell::default(),
            template: OnceCell::new(),
        }
    }

    /// All names in the order of the message: a class's own comes first.
    pub(crate) fn all_names(&self) -> impl Iterator<Item = &Owned> {
        self.type_name.iter().chain(&self.names)
    }

    pub(crate) fn name(&self, at: usize) -> Option<&Owned> {
        self.all_names().nth(at)
    }

    pub fn stored_name(&self, _py: Python<'_>) -> Result<&str> {
        let Some(name) = &self.type_name else { return Ok("dict") };
        // SAFETY: a string that is held, and that keeps its UTF-8.
        unsafe {
            let mut len = 0;
            let data = ffi::PyUnicode_AsUTF8AndSize(name.get(), &mut len);
            if data.is_null() {
                refusal()?;
                return Err(decode("a class's name with a lone surrogate", 0));
            }
            Ok(std::str::from_utf8_unchecked(std::slice::from_raw_parts(data.cast(), len as usize)))
        }
    }

    /// A dict of the layout's names, all with `None`, to be copied; `None` where copies can't be filled in place.
    ///
    /// # Safety
    /// The GIL is held.
    #[inline(always)]
    pub unsafe fn template(&self, at: usize) -> Result<Option<&Owned>> {
        if let Some(template) = self.template.get() {
            return Ok(template.as_ref());
        }
        // SAFETY: the GIL is held, says the caller.
        unsafe { self.make_template(at)? };
        Ok(self.template.get().and_then(Option::as_ref))
    }

    #[cold]
    unsafe fn make_template(&self, at: usize) -> Result<()> {
        // SAFETY: the GIL is held, says the caller; names are strings.
        unsafe {
            let made = Owned::new(ffi::PyDict_New()).ok_or_else(raised)?;
            for name in &self.names {
                if !dict::set(made.get(), name.get(), ffi::Py_None()) {
                    return Err(raised());
                }
            }
            if dict::len(made.get()) != self.names.len() {
                return Err(decode("a layout has the same name twice", at));
            }
            let fits = dict::is_template(made.get(), self.names.len());
            let _ = self.template.set(fits.then_some(made));
        }
        Ok(())
    }
}

/// The place of each field in instances of the plan's class. Names are interned.
pub(crate) fn places(plan: &Plan, names: &[Owned]) -> Result<Vec<Place>> {
    names
        .iter()
        .map(|name| {
            if let Some(slot) = plan.slots.iter().find(|slot| slot.name.get() == name.get()) {
                return Ok(Place::Slot(slot.offset));
            }
            if !plan.has_dict {
                return Ok(Place::Nowhere);
            }
            // SAFETY: the plan's class is alive, and so is what it has under a name.
            unsafe {
                let found = _PyType_Lookup(plan.class(), name.get());
                // A data descriptor would run code, or set something else than the instance's own attribute.
                let is_data = !found.is_null() && (*ffi::Py_TYPE(found)).tp_descr_set.is_some();
                Ok(if is_data { Place::Hidden(name.clone()) } else { Place::Attribute(name.clone()) })
            }
        })
        .collect()
}

/// Puts a field's value into its place.
///
/// # Safety
/// `object` is an instance of the class that the place was found for.
pub unsafe fn put(object: Obj, place: &Place, value: Owned, at: usize) -> Result<()> {
    // SAFETY: an instance of that class, says the caller.
    unsafe {
        match place {
            Place::Slot(offset) => {
                crate::cpython::replace(crate::classes::state::slot_mut(object, *offset), value.into_raw())
            }
            Place::Attribute(name) => {
                if ffi::PyObject_GenericSetAttr(object, name.get(), value.get()) != 0 {
                    return Err(refused("an attribute can't be set", at));
                }
            }
            Place::Hidden(name) => {
                let dict = Owned::new(ffi::PyObject_GenericGetDict(object, std::ptr::null_mut())).ok_or_else(raised)?;
                if !dict::set(dict.get(), name.get(), value.get()) {
                    return Err(raised());
                }
            }
            Place::Item(at) => crate::cpython::fill::tuple_item(object, *at, value),
            Place::Key(name) => {
                if !dict::set(object, name.get(), value.get()) {
                    return Err(raised());
                }
            }
            Place::Nowhere => {}
        }
    }
    Ok(())
}

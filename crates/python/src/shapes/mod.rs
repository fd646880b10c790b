//! The shapes of a message: a dict's keys with a template to copy, a class's fields with the place of each in an
//! instance.

pub mod cache;
pub mod classes;
pub mod decided;
pub mod dicts;
pub mod names;
pub mod typed;

use crate::classes::defaults::Defaulted;
use crate::classes::how::Base;
use crate::classes::plan::Plan;
use crate::classes::state::{has_setter, set_plain_attribute};
use crate::cpython::{dict, split, Obj, Owned, Type};
use crate::error::{decode, raised, refusal, refused, Result, NOWHERE};
use crate::memory::Vec;
use decided::{Decided, Verdict, Verdicts};
use holdall_format::model::ShapeKind;
use pyo3::ffi;
use std::cell::{Cell, OnceCell, RefCell};
use std::rc::Rc;
use typed::Typed;

/// Where to store a field's value.
#[derive(Debug)]
pub enum Place {
    Slot(usize),
    /// The instance's `__dict__`, through the generic setter, which keeps the dict compact.
    Attribute(Owned),
    /// The instance's `__dict__` itself, because a data descriptor of the class has the name.
    Hidden(Owned),
    /// The class no longer has this field.
    Nowhere,
    /// A tuple's item.
    Item(usize),
    /// A dict's value.
    Key(Owned),
}

#[derive(Debug)]
pub enum Build {
    Dict,
    /// All fields in slots.
    Slots {
        class: Type,
        offsets: Vec<usize>,
    },
    /// All fields in `__dict__`, which is a copy of the template, filled in place.
    Attributes {
        plan: Rc<Plan>,
    },
    Mixed {
        plan: Rc<Plan>,
        places: Vec<Place>,
    },
    /// The tuple index of each field.
    NamedTuple {
        class: Type,
        order: Vec<usize>,
    },
    Based {
        class: Type,
        base: Base,
        places: Vec<Place>,
    },
    /// Through a dict of the fields by name. `lacking`: the fields that have a default and are not in the shape; `None`
    /// if that is known only after a function of the program has changed the fields.
    Upgraded {
        plan: Rc<Plan>,
        lacking: Option<Vec<Defaulted>>,
    },
    Enum,
    Custom,
    Record,
    /// As a resolver has decided.
    Decided(Decided),
    /// A class of the schema.
    Typed(Typed),
    /// A dict of a schemaless format, with its keys as encoded.
    Expected(Vec<Vec<u8>>),
    /// The class has not been looked up yet.
    Unresolved,
}

pub(crate) const SAME_NAME: &str = "a layout has the same name twice";

#[derive(Debug)]
pub struct Shape {
    pub kind: ShapeKind,
    pub names: Vec<Owned>,
    /// Names (by position) that were references in the message, with their object ids.
    pub(crate) references: Vec<(usize, u64)>,
    /// How many of its names got an object id in the message that it was read from.
    pub numbers: usize,
    /// The stored name of the class, and its version.
    pub type_name: Option<Owned>,
    pub version: u64,
    pub plan: Option<Rc<Plan>>,
    pub build: Build,
    /// Estimated memory of an instance, without its values.
    pub bytes: usize,
    /// What this shape was matched with, and the shape that says how to build it then. The key is a schema's serial
    /// number with a class's index, or a plan's serial number with the class's version tag.
    pub matched: RefCell<Vec<(u64, u32, Rc<Shape>)>>,
    /// What the resolvers of classes said of it.
    pub(crate) verdicts: RefCell<Verdicts>,
    pub(crate) template: OnceCell<Option<Owned>>,
    /// Whether a dict with these keys was made.
    pub(crate) met: Cell<bool>,
}

/// A class's stored name. One with a lone surrogate is refused; whoever calls this says where it is.
pub fn class_name(name: &Owned) -> Result<&str> {
    // SAFETY: `name` is a string that its owner holds; its UTF-8 is cached in it, `len` bytes long.
    unsafe {
        let mut len = 0;
        let data = ffi::PyUnicode_AsUTF8AndSize(name.get(), &mut len);
        if data.is_null() {
            refusal()?;
            return Err(decode("a class's name with a lone surrogate", NOWHERE));
        }
        Ok(std::str::from_utf8_unchecked(std::slice::from_raw_parts(data.cast(), len as usize)))
    }
}

impl Shape {
    /// How to build instances of this shape for that schema and class, if it is known.
    #[inline(always)]
    pub fn matched_with(&self, serial: u64, class: u32) -> Option<Rc<Shape>> {
        let matched = self.matched.borrow();
        matched.iter().find(|known| known.0 == serial && known.1 == class).map(|(_, _, shape)| shape.clone())
    }

    /// Remembers how to build instances for that schema and class.
    pub fn match_with(&self, serial: u64, class: u32, shape: &Rc<Shape>) {
        let mut matched = self.matched.borrow_mut();
        // A few are kept: schemas and plans come and go, and those in use are added again.
        let old = (matched.len() >= 8).then(|| matched.remove(0));
        matched.push((serial, class, shape.clone()));
        drop(matched);
        drop(old); // after the borrow: a destructor may run Python code
    }

    /// What the resolver with this number said of it, if it was asked.
    pub fn verdict_by(&self, serial: u64) -> Option<Option<Rc<Verdict>>> {
        self.verdicts.borrow().iter().find(|known| known.0 == serial).map(|(_, verdict)| verdict.clone())
    }

    pub fn remember_verdict(&self, serial: u64, verdict: Option<Rc<Verdict>>) {
        let mut verdicts = self.verdicts.borrow_mut();
        // One of the call, one of the class.
        let at = verdicts.iter().position(|known| known.0 == serial).or((verdicts.len() >= 2).then_some(0));
        let old = at.map(|at| verdicts.remove(at));
        verdicts.push((serial, verdict));
        drop(verdicts);
        drop(old); // after the borrow: a destructor may run Python code
    }

    /// A shape that the schema itself makes; no message has written it.
    pub fn empty(names: Vec<Owned>) -> Shape {
        Shape {
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
            verdicts: RefCell::default(),
            template: OnceCell::new(),
            met: Cell::default(),
        }
    }

    /// The shape of instances whose fields have these names in this order.
    pub fn of_object(names: Vec<Owned>, version: u64) -> Shape {
        Shape { kind: ShapeKind::Object, version, ..Shape::empty(names) }
    }

    /// The same shape, built in another way.
    pub fn like(&self, build: Build, names: Vec<Owned>) -> Shape {
        Shape {
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
            verdicts: RefCell::default(),
            template: OnceCell::new(),
            met: Cell::default(),
        }
    }

    /// All names in the order of the message: a class's name comes first.
    pub(crate) fn all_names(&self) -> impl Iterator<Item = &Owned> {
        self.type_name.iter().chain(&self.names)
    }

    pub(crate) fn name(&self, at: usize) -> Option<&Owned> {
        self.all_names().nth(at)
    }

    pub fn stored_name(&self) -> Result<&str> {
        self.type_name.as_ref().map_or(Ok("dict"), class_name)
    }

    /// A dict of the shape's names with `None` as each value, to be copied; `None` if copies can't be filled in place.
    ///
    /// # Safety
    /// The GIL is held.
    #[inline(always)]
    pub unsafe fn template(&self, at: usize) -> Result<Option<&Owned>> {
        if let Some(template) = self.template.get() {
            return Ok(template.as_ref());
        }
        // SAFETY: the GIL is held, by contract.
        unsafe { self.make_template(at)? };
        Ok(self.template.get().and_then(Option::as_ref))
    }

    #[cold]
    unsafe fn make_template(&self, at: usize) -> Result<()> {
        // SAFETY: the GIL is held, by contract; names are strings, as readers check.
        unsafe {
            let made = Owned::new(ffi::PyDict_New()).ok_or_else(raised)?;
            for name in &self.names {
                if !dict::set(made.get(), name.get(), ffi::Py_None()) {
                    return Err(raised());
                }
            }
            if dict::len(made.get()) != self.names.len() {
                return Err(decode(SAME_NAME, at));
            }
            let fits = dict::is_template(made.get(), self.names.len());
            let _ = self.template.set(fits.then_some(made));
        }
        Ok(())
    }
}

/// Where each field is stored in instances of the plan's class. Names are interned, so they are compared by address.
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
            // SAFETY: the class is alive while its plan is made use of.
            let is_data = unsafe { has_setter(plan.class(), name.get()) };
            Ok(if is_data { Place::Hidden(name.clone()) } else { Place::Attribute(name.clone()) })
        })
        .collect()
}

/// Whether all fields are attributes, and the class has no room for them among the keys that its instances share: each instance gets a
/// dict of its own then, which is made sooner as a whole than attribute by attribute.
///
/// # Safety
/// The plan's class is alive.
#[inline(always)]
pub unsafe fn lacks_keys(plan: &Plan, places: &[Place]) -> bool {
    // SAFETY: by the contract; only the keys of a class are looked at whose instances' dicts CPython manages.
    plan.managed_dict && plan.is_bare() && unsafe { !split::has_room(plan.class(), places.iter().map(attribute)) }
}

/// The name of an attribute's place; null: it is another place.
#[inline(always)]
fn attribute(place: &Place) -> Obj {
    match place {
        Place::Attribute(name) => name.get(),
        _ => std::ptr::null_mut(),
    }
}

/// Stores a field's value.
///
/// # Safety
/// `object` is an instance of the class that the place was found for.
pub unsafe fn put(object: Obj, place: &Place, value: Owned, at: usize) -> Result<()> {
    // SAFETY: `object` is an instance of the class that `place` was found for, by contract: offset and index are within
    // it.
    unsafe {
        match place {
            Place::Slot(offset) => {
                crate::cpython::replace(crate::classes::state::slot_mut(object, *offset), value.into_raw())
            }
            Place::Attribute(name) => {
                if !set_plain_attribute(object, name.get(), value) {
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

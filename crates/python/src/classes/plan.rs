//! Class plans: how instances of a class are stored and made. Found out once per class and cached.

use crate::classes::declared::Declared;
use crate::classes::how::{find_how, special_of, How, Special};
use crate::classes::memory;
use crate::classes::memory::Memory;
pub use crate::classes::memory::Slot;
use crate::classes::methods;
use crate::classes::methods::Methods;
pub use crate::classes::names::{class_name, is_named, shown_class};
use crate::classes::registry;
use crate::classes::registry::{Registration, Unknown};
use crate::classes::serial::next_serial;
use crate::classes::state;
use crate::cpython::class::{
    _PyType_Lookup, given_version, lookup, managed_dict, usual_getattr, version_of, weak_target,
};
use crate::cpython::{new, owned, text, Obj, Owned, Type};
use crate::error::{raised, Result};
use crate::memory::{HashMap, Vec};
use crate::state::{Name, StateSlot};
use pyo3::ffi;
use pyo3::prelude::*;
use pyo3::types::PyDict;
use std::cell::{Cell, OnceCell, RefCell};
use std::ptr::addr_of_mut;
use std::rc::Rc;

#[derive(Debug)]
pub struct Plan {
    class: Type,
    /// The number by which shapes remember this plan; no other plan has it, not even a later one of the same class.
    pub serial: u64,
    /// A weak reference to `class`, which tells whether the address still belongs to it.
    weak: Owned,
    /// The version tag of the class when `methods` were last checked.
    known_as: Cell<u32>,
    methods: Methods,
    /// The stored name: "module.qualname" unless another one is registered.
    pub name: Owned,
    pub version: u64,
    pub how: How,
    pub slots: Vec<Slot>,
    /// The offset of a slot that is not state and must be None in a new instance.
    reset: Option<usize>,
    /// Instances have memory that C code owns, so only their class can make them.
    is_foreign: bool,
    pub has_dict: bool,
    /// The interpreter manages the `__dict__` (since 3.11); it isn't at a fixed offset.
    pub managed_dict: bool,
    /// Makes an empty instance if a base in C needs more than allocated memory.
    base_new: Option<ffi::newfunc>,
    /// The class has its own `__new__`, which pickle calls.
    pub own_new: bool,
    /// The class has its own way of looking up attributes, which pickle uses.
    pub answers: bool,
    /// Whether the class was found under its name, as pickle looks for it when loading.
    pub is_findable: Cell<bool>,
    pub registration: Option<Rc<Registration>>,
    /// The shape of instances with all the fields that the class names: its number in the message with that serial
    /// number.
    pub shape: Cell<(u64, u32)>,
    /// A key table that instances share, in which pickle and `copy` find nothing that they ask for.
    pub unasked: Cell<Option<(usize, isize)>>,
    /// How schemaless formats write instances.
    plain: OnceCell<Plain>,
    /// The layout of its instances as bytes, for small messages.
    pub prepared: RefCell<Option<Rc<Prepared>>>,
    /// The fields that the class declared when it had that version tag.
    pub fields: RefCell<Option<(u32, Rc<Vec<Declared>>)>>,
    pub special: Option<Special>,
    /// Whether instances may override the class's `_type_marker`.
    pub own_marker: bool,
}

/// The layout of a class as bytes.
#[derive(Debug)]
pub struct Prepared {
    /// The version tag that the class had.
    pub version: u32,
    pub names: Vec<Owned>,
    pub bytes: Vec<u8>,
}

/// How schemaless formats write instances: fields under their keys.
#[derive(Debug)]
pub struct Plain {
    /// `None` if the class declares no fields: then everything that an instance holds.
    pub fields: Option<Vec<PlainField>>,
    /// As a list, without keys.
    pub array_like: bool,
    /// Keys and values that come before the fields: the tag that identifies the class, and the class's version.
    pub marks: Vec<(Owned, Owned)>,
    /// Whether every field is in a slot and always written.
    pub in_slots: bool,
    /// Whether every field may be an attribute in the `__dict__`, and is always written.
    pub may_be_attributes: bool,
    /// Whether `object.__getattribute__` finds each of them there, at that version of the class: descriptors come and go.
    finds_in_dict: Cell<(u32, bool)>,
    /// Some fields are left out for certain values.
    pub omits: bool,
    /// What else the `__dict__` of an instance holds is written too.
    pub keeps: bool,
}

#[derive(Debug)]
pub struct PlainField {
    pub name: Owned,
    pub key: Owned,
    pub slot: Option<usize>,
    /// For classes that leave out defaults.
    pub default: Option<PlainDefault>,
}

/// The value for which a field is left out.
#[derive(Debug)]
pub enum PlainDefault {
    Value(Owned),
    /// An empty list, dict or set.
    Empty(Owned),
}

type Plans = RefCell<HashMap<usize, Rc<Plan>, rustc_hash::FxBuildHasher>>;
// SAFETY: no other slot has this name.
static PLANS: StateSlot<Plans> = unsafe { StateSlot::new(Name::Plans) };

/// The plan of a class, made on first use.
///
/// # Safety
/// `class` is alive.
pub unsafe fn of(py: Python<'_>, class: Type) -> Result<Rc<Plan>> {
    let known = PLANS.get(py).borrow().get(&(class as usize)).cloned();
    if let Some(plan) = known {
        // SAFETY: `class` is alive by contract.
        if plan.is_alive() && unsafe { plan.is_current(py)? } {
            return Ok(plan);
        }
    }
    // SAFETY: `class` is alive by contract.
    let plan = Rc::new(unsafe { make(py, class)? });
    let old = {
        let mut plans = PLANS.get(py).borrow_mut();
        // Plans of classes that no longer exist are removed at times, so that the cache doesn't grow without bound.
        let mut gone = Vec::new();
        if plans.len().is_power_of_two() && plans.len() >= 64 {
            plans.retain(|_, plan| {
                let alive = plan.is_alive();
                if !alive {
                    gone.push(plan.clone());
                }
                alive
            });
        }
        (plans.insert(class as usize, plan.clone()), gone)
    };
    drop(old); // after the borrow: a destructor may run Python code
    Ok(plan)
}

/// The plan of a class if there is one, and the class is as it was. No code runs.
///
/// # Safety
/// `class` is alive.
pub unsafe fn known(py: Python<'_>, class: Type) -> Option<Rc<Plan>> {
    let plan = PLANS.get(py).borrow().get(&(class as usize)).cloned()?;
    let known_as = plan.known_as.get();
    // SAFETY: `class` is alive by contract.
    (plan.is_alive() && known_as != 0 && unsafe { given_version(class) } == known_as).then_some(plan)
}

/// Drops the plan of a class that was registered anew.
pub fn forget(py: Python<'_>, class: Type) {
    let old = PLANS.get(py).borrow_mut().remove(&(class as usize));
    drop(old);
}

/// Makes the plan of a class.
///
/// # Safety
/// `class` is alive.
unsafe fn make(py: Python<'_>, class: Type) -> Result<Plan> {
    let registration = registry::by_class(py, class)?;
    let name = match &registration {
        Some(registration) => registration.name.clone(),
        None => class_name(py, class)?,
    };
    // SAFETY: `class` is alive by contract; every object made here is held.
    unsafe {
        // The version comes first: a later change of the class then makes the plan outdated.
        let known_as = version_of(class).ok_or_else(raised)?;
        let methods = Methods::of(py, class);
        let weak = Owned::new(ffi::PyWeakref_NewRef(class.cast(), std::ptr::null_mut())).ok_or_else(raised)?;
        let memory = memory::of(py, class)?;
        let own = methods.own(py, class, memory.solid)?;
        let has_dict = (*class).tp_dictoffset != 0 || managed_dict(class);
        // A family is found by the class's own name, which it keeps where it is registered for what its format has no form for.
        let own_name = match &registration {
            Some(registration) if registration.remaining => class_name(py, class)?,
            _ => name.clone(),
        };
        let how = find_how(py, class, &own_name, &memory, &own, registration.as_deref())?;
        let Memory { solid, mut slots, is_foreign, .. } = memory;
        let is_named = |slot: &Slot, name: &[u8]| text::ascii(slot.name.get()) == Some(name);
        let reset = own.reset.and_then(|name| slots.iter().find(|slot| is_named(slot, name.as_bytes())));
        let reset = reset.map(|slot| slot.offset);
        slots.retain(|slot| !own.left_out.iter().any(|name| text::equal(slot.name.get(), name.get())));
        let stored = name;
        let name = Owned::new(ffi::PyUnicode_FromStringAndSize(stored.as_ptr().cast(), stored.len() as isize))
            .ok_or_else(raised)?;
        let base_new = if solid == addr_of_mut!(ffi::PyBaseObject_Type) { None } else { (*solid).tp_new };
        // Members of enumerations are made by name; only `enum`'s mark for unpicklable ones counts as their own
        // `__new__`.
        let own_new = match how {
            How::Enum => methods::is_unpicklable_enum(py, class)?,
            _ => own.new,
        };
        Ok(Plan {
            class,
            serial: next_serial(),
            weak,
            known_as: Cell::new(known_as),
            methods,
            name,
            version: registration.as_ref().map_or(1, |registration| registration.version),
            how,
            slots: slots.into(),
            reset,
            is_foreign,
            has_dict,
            managed_dict: managed_dict(class),
            base_new,
            own_new,
            answers: own.answers,
            is_findable: Cell::new(false),
            registration,
            shape: Cell::new((0, 0)),
            unasked: Cell::new(None),
            plain: OnceCell::new(),
            prepared: RefCell::default(),
            fields: RefCell::default(),
            special: special_of(&Bound::from_borrowed_ptr(py, class.cast()).cast_into_unchecked())?,
            own_marker: {
                let found = lookup(class, c"_type_marker").ok_or_else(raised)?;
                has_dict
                    || (*class).tp_getattro.map(|own| own as usize) != Some(usual_getattr())
                    || !(found.is_null() || crate::cpython::int::is(found))
            },
        })
    }
}

impl Plan {
    /// The `__dict__` of an instance, if it has one with items.
    ///
    /// # Safety
    /// `object` is an instance of the plan's class.
    pub unsafe fn dict_of(&self, object: Obj) -> Result<Option<Owned>> {
        match self.has_dict {
            // SAFETY: `object` is an instance of the plan's class, which has a `__dict__` that is kept as the plan
            // says.
            true => unsafe { state::dict_of(object, self.managed_dict) },
            false => Ok(None),
        }
    }

    /// How schemaless formats write instances; found out on first use.
    pub fn schemaless_form(&self, py: Python<'_>) -> Result<&Plain> {
        if let Some(known) = self.plain.get() {
            return Ok(known);
        }
        // SAFETY: the plan's class is alive while an instance of it is written.
        let class = unsafe { Bound::from_borrowed_ptr(py, self.class.cast()) };
        type Pair<'py> = (Bound<'py, PyAny>, Bound<'py, PyAny>);
        let found = py.import("holdall._schemas")?.call_method1("plain_form", (class,))?;
        type Pairs<'py> = std::vec::Vec<Pair<'py>>;
        type Form<'py> = (Option<Pairs<'py>>, bool, Pairs<'py>, Option<Bound<'py, PyDict>>);
        let (named, array_like, marks, defaults): Form<'_> = found.extract()?;
        let omits = defaults.is_some();
        let default_of = |name: &Bound<'_, PyAny>| -> Result<Option<PlainDefault>> {
            let Some(known) = defaults.as_ref().map(|defaults| defaults.get_item(name)).transpose()?.flatten() else {
                return Ok(None);
            };
            let (default, empty): (Bound<'_, PyAny>, bool) = known.extract()?;
            Ok(Some(if empty { PlainDefault::Empty(owned(&default)) } else { PlainDefault::Value(owned(&default)) }))
        };
        let mut fields = named.as_ref().map(|_| Vec::new());
        for (name, key) in named.iter().flatten() {
            let slot = self.slots.iter().find(|slot| slot.name.get() == name.as_ptr()).map(|slot| slot.offset);
            let field = PlainField { name: owned(name), key: owned(key), slot, default: default_of(name)? };
            fields.get_or_insert_default().push(field);
        }
        let in_slots = fields.as_ref().is_some_and(|fields| !omits && fields.iter().all(|field| field.slot.is_some()));
        let keeps = self.registration.as_ref().is_some_and(|known| known.unknown == Unknown::Keep) && !array_like;
        let in_slots = in_slots && !keeps;
        let are_attributes = |fields: &Vec<PlainField>| fields.iter().all(|field| field.slot.is_none());
        let may_be_attributes = !omits && !keeps && self.has_dict && fields.as_ref().is_some_and(are_attributes);
        let marks = marks.iter().map(|(field, value)| (owned(field), owned(value))).collect();
        Ok(self.plain.get_or_init(|| Plain {
            fields,
            array_like,
            marks,
            in_slots,
            may_be_attributes,
            finds_in_dict: Cell::default(),
            omits,
            keeps,
        }))
    }

    /// Whether today's class lets each field be read from the `__dict__` of an instance.
    #[inline(always)]
    pub fn finds_in_dict(&self, form: &Plain, fields: &[PlainField]) -> bool {
        // SAFETY: the plan's class is alive while an instance of it is written, and so are the fields' names.
        unsafe {
            let version = given_version(self.class);
            match form.finds_in_dict.get() {
                (known, found) if known == version && version != 0 => found,
                _ => {
                    let found = finds_in_dict(self.class, fields);
                    form.finds_in_dict.set((given_version(self.class), found));
                    found
                }
            }
        }
    }

    /// Fields by name that a version has stored, of which those that were stored under an older name have their own.
    pub fn renamed_fields<'py>(&self, fields: &Bound<'py, PyDict>, version: u64) -> Result<Bound<'py, PyDict>> {
        let py = fields.py();
        let mut names: Vec<Owned> = fields.keys().iter().map(|name| owned(&name)).collect();
        self.rename(py, &mut names, version)?;
        let renamed = new::dict(py)?;
        for (name, value) in names.iter().zip(fields.values()) {
            // SAFETY: `name` is an owned reference.
            renamed.set_item(unsafe { Bound::from_borrowed_ptr(py, name.get()) }, value)?;
        }
        Ok(renamed)
    }

    /// Whether the class has a `__setstate__`.
    pub fn sets_state(&self, py: Python<'_>) -> Result<bool> {
        // SAFETY: the plan's class is alive while the plan is in use.
        let class = unsafe { Bound::from_borrowed_ptr(py, self.class().cast()) };
        Ok(class.hasattr(pyo3::intern!(py, "__setstate__"))?)
    }

    /// Whether some instances at least are stored as what a registered `encode` gives.
    pub fn is_custom(&self) -> bool {
        matches!(self.how, How::Custom) || self.registration.as_ref().is_some_and(|known| known.remaining)
    }

    /// Whether an instance is nothing but memory of the class's size.
    pub fn is_bare(&self) -> bool {
        self.base_new.is_none() && self.reset.is_none() && !self.is_foreign
    }

    /// Whether instances have memory that C code owns.
    pub fn is_foreign(&self) -> bool {
        self.is_foreign
    }

    /// Whether the class still defines the same methods as when the plan was made.
    ///
    /// # Safety
    /// The class is alive.
    unsafe fn is_current(&self, py: Python<'_>) -> Result<bool> {
        // SAFETY: the class is alive by contract.
        unsafe {
            let known_as = self.known_as.get();
            if known_as != 0 && given_version(self.class) == known_as {
                return Ok(true);
            }
            let known_as = version_of(self.class).ok_or_else(raised)?;
            let is_same = Methods::of(py, self.class) == self.methods;
            if is_same {
                self.known_as.set(known_as);
            }
            Ok(is_same)
        }
    }

    /// Sets the slot to None that must not keep its value in a new instance.
    ///
    /// # Safety
    /// `object` is a fresh instance of the plan's class.
    #[inline(always)]
    pub unsafe fn reset(&self, object: Obj) {
        if let Some(offset) = self.reset {
            // SAFETY: the offset was read from the plan's class, and `object` is an instance of it.
            unsafe {
                crate::cpython::replace(state::slot_mut(object, offset), Owned::borrowed(ffi::Py_None()).into_raw())
            }
        }
    }

    /// An empty instance, made without `__new__` and `__init__` of Python code.
    ///
    /// # Safety
    /// The GIL is held, and the class is alive.
    pub unsafe fn fresh(&self) -> Result<Owned> {
        if self.managed_dict && self.base_new.is_none() && !self.is_foreign {
            // SAFETY: the class is alive, by contract, and none but `object` lays out its instances.
            if let Some(made) = unsafe { state::with_room(self.class) } {
                let made = made?;
                // SAFETY: `made` is a fresh instance.
                unsafe { self.reset(made.get()) };
                return Ok(made);
            }
        }
        // SAFETY: the contract is the same.
        unsafe { self.fresh_without_room() }
    }

    /// The same for an instance that will be given a dict.
    ///
    /// # Safety
    /// As for [`Plan::fresh`].
    pub unsafe fn fresh_without_room(&self) -> Result<Owned> {
        if self.is_foreign {
            return Err(crate::error::decode("an instance has memory that only its own class can fill", 0));
        }
        // SAFETY: the class is alive by contract; allocators and `tp_new` return a new reference or null.
        unsafe {
            let made = match (self.base_new, (*self.class).tp_alloc) {
                (Some(new), _) => {
                    let args = Owned::new(ffi::PyTuple_New(0)).ok_or_else(raised)?;
                    new(self.class, args.get(), std::ptr::null_mut())
                }
                (None, Some(alloc)) => alloc(self.class, 0),
                (None, None) => std::ptr::null_mut(),
            };
            let made = Owned::new(made)
                .ok_or_else(|| crate::error::refused("an instance can't be made without arguments", 0))?;
            self.reset(made.get());
            Ok(made)
        }
    }

    pub fn class(&self) -> Type {
        self.class
    }

    /// Whether the class still exists.
    #[inline(always)]
    pub fn is_alive(&self) -> bool {
        // SAFETY: the plan holds the weak reference, whose target is only compared.
        unsafe { weak_target(self.weak.get()) == Some(self.class.cast()) }
    }
}

/// Whether instances are asked for their attributes in the usual way, and no descriptor of the class comes before these.
///
/// # Safety
/// The class is alive, and so are the names.
unsafe fn finds_in_dict(class: Type, fields: &[PlainField]) -> bool {
    // SAFETY: by the contract; what the class has is held by it while it is looked at.
    unsafe {
        let usual = (*class).tp_getattro.is_some_and(|own| own as usize == usual_getattr());
        usual
            && fields.iter().all(|field| {
                let found = _PyType_Lookup(class, field.name.get());
                found.is_null() || (*ffi::Py_TYPE(found)).tp_descr_set.is_none()
            })
    }
}

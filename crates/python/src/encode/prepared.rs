//! Instances in small messages: the layout of a class is written from bytes that were prepared, and only what the first message with an
//! instance of the class has found out is used. What is not known yet, or has changed since, is left to an encoder.

use crate::classes::family::Family;
use crate::classes::how::How;
use crate::classes::plan::{self, Plan, Prepared};
use crate::classes::{methods, state};
use crate::cpython::attributes::Attributes;
use crate::cpython::class::{_PyType_Lookup, given_version, usual_getattr};
use crate::cpython::{text, Obj, Owned, Type};
use crate::encode::dialect::NativeWriter;
use crate::memory::Vec;
use crate::types::{self, number, textual};
use holdall_format::model::{KnownType, ShapeKind, Text};
use pyo3::{ffi, intern, Python};
use std::rc::Rc;

/// What a known type takes at most: the text of a long decimal is left to an encoder.
pub const KNOWN: usize = 64;

/// The plan of an object's class, if instances of it may be part of a small message.
///
/// # Safety
/// `object` is alive, and the GIL held.
#[inline]
pub unsafe fn plan_of(object: Obj) -> Option<Rc<Plan>> {
    // SAFETY: by the contract.
    let plan = unsafe { plan::known(Python::assume_attached(), ffi::Py_TYPE(object))? };
    let is_small = match &plan.how {
        How::Fields => !plan.has_dict || (plan.managed_dict && plan.slots.is_empty()),
        How::NamedTuple(_) | How::Enum => true,
        How::Family(Family::Known(KnownType::Decimal | KnownType::Uuid)) => plan.registration.is_none(),
        _ => false,
    };
    (is_small && !plan.answers && !types::constant::may_be(&plan)).then_some(plan)
}

/// What the layout takes at most.
///
/// # Safety
/// The plan's class is alive.
pub unsafe fn size(plan: &Plan) -> usize {
    /// The layout of a class that has none yet is small, or doesn't fit.
    const USUAL: usize = 64;
    plan.prepared.borrow().as_ref().map_or(USUAL, |prepared| prepared.bytes.len())
}

/// Calls `each` with the names and values of an instance that has all of its fields. `false`: it lacks some, or keeps them in another
/// way, or `each` said no.
///
/// # Safety
/// `object` is an instance of the plan's class, and `each` runs none of the program's code.
#[inline(always)]
pub unsafe fn all_fields(plan: &Plan, object: Obj, mut each: impl FnMut(usize, Obj, Obj) -> bool) -> bool {
    // SAFETY: by the contract; slots and items are those that the plan says.
    unsafe {
        match &plan.how {
            How::Fields if !plan.has_dict => plan.slots.iter().enumerate().all(|(at, slot)| {
                let value = state::slot(object, slot.offset);
                !value.is_null() && each(at, slot.name.get(), value)
            }),
            How::Fields => {
                let mut attributes = Attributes::of(object);
                while let Some((name, value)) = attributes.next() {
                    if !each(attributes.count() - 1, name, value) {
                        return false;
                    }
                }
                attributes.count() > 0
            }
            How::NamedTuple(names) if names.len() == ffi::Py_SIZE(object) as usize => names
                .iter()
                .enumerate()
                .all(|(at, name)| each(at, name.get(), ffi::PyTuple_GET_ITEM(object, at as isize))),
            _ => false,
        }
    }
}

/// The layout of an instance's class, if it has these names in the class of today.
///
/// # Safety
/// As for [`all_fields`].
#[inline]
pub unsafe fn layout<W: NativeWriter>(plan: &Plan, object: Obj) -> Option<Rc<Prepared>> {
    // SAFETY: by the contract.
    unsafe {
        let version = given_version(plan.class());
        if let Some(known) = &*plan.prepared.borrow() {
            if known.version == version && (has_names(plan, object, &known.names)) {
                return Some(known.clone());
            }
        }
        prepare::<W>(plan, object, version)
    }
}

/// Whether an instance has exactly these names, as objects.
///
/// # Safety
/// As for [`all_fields`].
#[inline(always)]
pub unsafe fn has_names(plan: &Plan, object: Obj, names: &[Owned]) -> bool {
    if !matches!(plan.how, How::Fields) || !plan.has_dict {
        return true;
    }
    let mut count = 0;
    // SAFETY: by the contract.
    let same = unsafe {
        all_fields(plan, object, |at, name, _| {
            count += 1;
            names.get(at).is_some_and(|known| known.get() == name)
        })
    };
    same && count == names.len()
}

/// What an encoder checks when it writes the layout, as far as that is known without running code.
///
/// # Safety
/// As for [`all_fields`].
#[cold]
#[inline(never)]
unsafe fn prepare<W: NativeWriter>(plan: &Plan, object: Obj, version: u32) -> Option<Rc<Prepared>> {
    let (kind, mut names) = (kind_of(plan), Vec::new());
    // SAFETY: by the contract; the plan holds its name, the instance or its class the others.
    unsafe {
        if kind == ShapeKind::Object {
            let whole = all_fields(plan, object, |_, name, _| {
                names.push(Owned::borrowed(name));
                true
            });
            if !whole || !lacks_nothing(plan, &names, version) {
                return None;
            }
        }
        let mut texts = Vec::new();
        for (at, name) in std::iter::once(&plan.name).chain(&names).enumerate() {
            let is_odd = |name: &Owned| {
                let found = text::ascii(name.get());
                found == Some(b"__orig_class__") || found.is_none() || methods::is_asked(name.get())
            };
            let before = std::iter::once(&plan.name).chain(&names).take(at).any(|known| known.get() == name.get());
            if before || !text::is(name.get()) || is_odd(name) {
                return None;
            }
            texts.push(Text::Ascii(text::ascii(name.get())?));
        }
        let bytes = W::prepared(kind, plan.version, &texts);
        let made = Rc::new(Prepared { version, names, bytes });
        let old = plan.prepared.replace(Some(made.clone()));
        drop(old); // after the borrow
        Some(made)
    }
}

/// Whether an encoder has asked which fields the class of today declares, and those that are required are there.
fn lacks_nothing(plan: &Plan, names: &[Owned], version: u32) -> bool {
    if plan.registration.as_ref().is_some_and(|known| known.may_lack) {
        return true;
    }
    match &*plan.fields.borrow() {
        Some((known_as, declared)) if *known_as == version && version != 0 => {
            declared.iter().all(|field| !field.required || names.iter().any(|name| name.get() == field.name.get()))
        }
        _ => false,
    }
}

pub fn kind_of(plan: &Plan) -> ShapeKind {
    match plan.how {
        How::Enum => ShapeKind::Enum,
        _ => ShapeKind::Object,
    }
}

/// The name of a member of an enumeration. `None`: it has none, or it takes code to find out.
///
/// # Safety
/// `object` is an instance of the plan's class, which is an enumeration; the GIL is held.
pub unsafe fn member_name(plan: &Plan, object: Obj) -> Option<Owned> {
    // SAFETY: by the contract. Neither the class nor its metaclass is asked: attributes are looked up where `object` looks for them. No
    // key of a class's names runs code.
    unsafe {
        let (py, class): (_, Type) = (Python::assume_attached(), plan.class());
        let name = intern!(py, "_name_").as_ptr();
        let is_usual = (*class).tp_getattro.is_some_and(|own| own as usize == usual_getattr());
        if !is_usual || !_PyType_Lookup(class, name).is_null() {
            return None;
        }
        let found = found_or_none(ffi::PyObject_GenericGetAttr(object, name))?;
        let members = _PyType_Lookup(class, intern!(py, "_member_map_").as_ptr());
        if !text::is(found.get()) || members.is_null() || ffi::PyDict_CheckExact(members) == 0 {
            return None;
        }
        // An encoder writes a text that nobody else holds, too, as it is here.
        let known = ffi::PyDict_GetItemWithError(members, found.get());
        if known.is_null() {
            ffi::PyErr_Clear();
        }
        (known == object).then_some(found)
    }
}

/// A new reference, or none and no exception.
///
/// # Safety
/// `made` is what a function of the API returned; the GIL is held.
unsafe fn found_or_none(made: Obj) -> Option<Owned> {
    // SAFETY: by the contract.
    unsafe {
        let made = Owned::new(made);
        if made.is_none() {
            ffi::PyErr_Clear();
        }
        made
    }
}

/// Writes a decimal or a UUID. `false`: an encoder has to.
///
/// # Safety
/// `object` is of that type; the GIL is held.
pub unsafe fn wrote_known<W: NativeWriter>(w: &mut W, known: KnownType, object: Obj) -> bool {
    // SAFETY: by the contract.
    unsafe {
        let py = Python::assume_attached();
        match known {
            KnownType::Decimal => {
                let Some(made) = number::text_of_decimal(py, object) else { return false };
                let Some(ascii) = text::ascii(made.get()).filter(|ascii| ascii.len() < KNOWN - 4) else { return false };
                w.known(known);
                w.text(Text::Ascii(ascii));
                true
            }
            KnownType::Uuid => match textual::usual_uuid(py, object) {
                Some(bytes) => {
                    w.known(known);
                    w.bytes(&bytes);
                    true
                }
                None => false,
            },
            _ => false,
        }
    }
}

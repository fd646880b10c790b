//! Instances in small messages that are loaded by a type: built as an earlier message of the same layout was. What no message has
//! shown yet is left to a decoder, and so is whatever takes code of the program's.

use super::{all_names, value, State};
use crate::classes::plan::{self, Plan};
use crate::classes::state::{allocate, slot_mut};
use crate::cpython::class::_PyType_Lookup;
use crate::cpython::{fill, Owned, Type};
use crate::schema::node::Scalar;
use crate::schema::Schema;
use crate::shapes::typed::{FieldPlaces, StoredBy, Typed};
use crate::shapes::{names, Build, Place, Shape};
use crate::types::{number, textual};
use holdall_format::model::{self, KnownType, Leaf};
use holdall_format::Reader;
use pyo3::{ffi, intern, Python};
use std::rc::Rc;

/// In place of a class's index, for a layout of members of an enumeration.
const MEMBER: u32 = u32::MAX;

/// How instances of a layout are built that an earlier message had.
///
/// # Safety
/// The GIL is held.
#[inline(always)]
pub(super) unsafe fn layout(token: &model::Shape<'_>, state: &mut State<'_>) -> Option<Rc<Shape>> {
    // SAFETY: the GIL is held, by contract.
    let py = unsafe { Python::assume_attached() };
    let schema = state.schema?;
    let known = schema.shapes.find(py, token)?;
    all_names(state, token, &known)?;
    // Whether the class is the one that the type wants in this place, is seen in the end.
    let matched = known.matched.borrow();
    let (_, _, shape) = matched.iter().find(|(serial, class, _)| *serial == schema.serial && *class != MEMBER)?;
    state.keep(shape)?;
    Some(shape.clone())
}

/// Whether an instance can be let go without any code of the program's, should the message turn out to be none for this.
///
/// # Safety
/// The class is alive.
#[inline(always)]
unsafe fn goes_quietly(class: Type) -> bool {
    // SAFETY: by the contract.
    unsafe { (*class).tp_finalize.is_none() && (*class).tp_del.is_none() }
}

/// An instance of a class of the type, all of whose fields are stored, by position.
///
/// # Safety
/// The GIL is held; what `state` has is alive.
#[inline(never)]
pub(super) unsafe fn instance<'i, R: Reader<'i>>(
    r: &mut R,
    state: &mut State<'_>,
    depth: usize,
    shape: &Rc<Shape>,
) -> Option<Owned> {
    let (Build::Typed(typed), Some(plan), Some(schema)) = (&shape.build, &shape.plan, state.schema) else {
        return None;
    };
    // SAFETY: the schema holds the class, to which the places belong; a new instance is empty.
    unsafe {
        let object = fresh(typed, plan, schema)?;
        for member in &typed.steps {
            let (made, _) = value(r, state, depth)?;
            if !schema.takes_as_is(member.node, made.get()) {
                return None;
            }
            match &member.place {
                Place::Slot(offset) => *slot_mut(object.get(), *offset) = made.into_raw(),
                Place::Item(at) => fill::tuple_item(object.get(), *at, made),
                Place::Attribute(name) => {
                    // A property of that name is the program's code.
                    let found = _PyType_Lookup(plan.class(), name.get());
                    if !found.is_null() && (*ffi::Py_TYPE(found)).tp_descr_set.is_some() {
                        return None;
                    }
                    if ffi::PyObject_GenericSetAttr(object.get(), name.get(), made.get()) != 0 {
                        return None;
                    }
                }
                _ => return None,
            }
        }
        Some(object)
    }
}

/// A new instance, if nothing has to be done but to fill it.
///
/// # Safety
/// The GIL is held; the schema holds the plan's class.
#[inline(always)]
unsafe fn fresh(typed: &Typed, plan: &Plan, schema: &Schema) -> Option<Owned> {
    let class = schema.classes.get(typed.class as usize)?;
    let is_plain = typed.refusal.is_none()
        && typed.missing.is_empty()
        && typed.form == StoredBy::Positions
        && class.pre_init.is_none()
        && !class.goes_on();
    // SAFETY: by the contract.
    unsafe {
        if !is_plain || !goes_quietly(plan.class()) {
            return None;
        }
        match typed.way {
            FieldPlaces::Slots => allocate(plan.class(), 0).ok(),
            FieldPlaces::Tuple => allocate(plan.class(), class.fields.len() as isize).ok(),
            FieldPlaces::Instance if plan.is_bare() => allocate(plan.class(), 0).ok(),
            FieldPlaces::Instance | FieldPlaces::Dict => None,
        }
    }
}

/// A member of an enumeration, by its name.
///
/// # Safety
/// The GIL is held.
pub(super) unsafe fn member<'i, R: Reader<'i>>(
    r: &mut R,
    token: &model::Shape<'_>,
    state: &mut State<'_>,
) -> Option<Owned> {
    // SAFETY: the GIL is held, by contract; the reader has checked the bytes of `Leaf::Ascii`. Attributes are looked up in the class
    // itself, and no name of a member runs code.
    unsafe {
        let (py, schema) = (Python::assume_attached(), state.schema?);
        let known = schema.shapes.find(py, token)?;
        all_names(state, token, &known)?;
        state.keep(&known)?;
        let matched = known.matched_with(schema.serial, MEMBER);
        let shape = match matched {
            Some(shape) => shape,
            None => {
                let plan = enumeration(schema, py, &known)?;
                let shape = Rc::new(Shape { plan: Some(plan), ..known.like(Build::Enum, known.names.clone()) });
                known.match_with(schema.serial, MEMBER, &shape);
                shape
            }
        };
        let class = shape.plan.as_ref()?.class();
        let Ok(Some(Leaf::Ascii(name))) = r.leaf() else { return None };
        let name = names::name(name)?;
        let members = _PyType_Lookup(class, intern!(py, "_member_map_").as_ptr());
        if members.is_null() || ffi::PyDict_CheckExact(members) == 0 {
            return None;
        }
        let found = ffi::PyDict_GetItemWithError(members, name.get());
        (!found.is_null() && ffi::Py_TYPE(found) == class).then(|| Owned::borrowed(found))
    }
}

/// The enumeration of the type that a stored name means, if nobody has said otherwise.
///
/// # Safety
/// The GIL is held.
#[cold]
unsafe fn enumeration(schema: &Schema, py: Python<'_>, shape: &Shape) -> Option<Rc<Plan>> {
    let name = shape.stored_name().ok()?;
    let class = schema.permitted.get(name)?;
    let is_wanted = |scalar: &Scalar| matches!(scalar, Scalar::Enum { class: own, .. } if own.get() == class.get());
    if schema.resolves || !schema.nodes.iter().flat_map(|node| &node.scalars).any(is_wanted) {
        return None;
    }
    // SAFETY: the schema holds the class.
    let plan = unsafe { plan::known(py, class.get().cast())? };
    let is_usual = matches!(plan.how, crate::classes::how::How::Enum) && plan.registration.is_none();
    is_usual.then_some(plan)
}

/// A decimal or a UUID.
///
/// # Safety
/// The GIL is held.
pub(super) unsafe fn known<'i, R: Reader<'i>>(r: &mut R, known: KnownType) -> Option<Owned> {
    // SAFETY: the GIL is held, by contract; the reader has checked the bytes of `Leaf::Ascii`.
    unsafe {
        let py = Python::assume_attached();
        match (known, r.leaf()) {
            (KnownType::Decimal, Ok(Some(Leaf::Ascii(text)))) => number::quick_decimal(py, text),
            (KnownType::Uuid, Ok(Some(Leaf::Bytes(bytes)))) => textual::quick_uuid(py, bytes.try_into().ok()?),
            _ => None,
        }
    }
}

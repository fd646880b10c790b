//! Instances in small messages, built as an earlier message of the same layout was. What no message has shown yet is left to a decoder,
//! and so is whatever takes code of the program's.

use super::{all_names, items, members, pairs, value, values, Classes, State, MOST, MOST_INSTANCES, MOST_KEYS};
use crate::classes::how::Base;
use crate::classes::plan::{self, Plan};
use crate::classes::state::{allocate, has_setter, set_dict, set_plain_attribute, slot_mut};
use crate::cpython::class::_PyType_Lookup;
use crate::cpython::{dict, fill, int, Owned, Type};
use crate::decode::leaves::of_any_leaf;
use crate::schema::node::Scalar;
use crate::schema::Schema;
use crate::shapes::classes::without_schema;
use crate::shapes::typed::{FieldPlaces, StoredBy, Typed};
use crate::shapes::{lacks_keys, names, put, Build, Place, Shape};
use crate::types::enumeration::has_usual_metaclass;
use crate::types::{self, new_of, number, textual};
use holdall_format::model::{self, KnownType, Leaf, Seq, ShapeKind};
use holdall_format::{Reader, Token};
use pyo3::{ffi, intern, Bound, Python};
use std::rc::Rc;

/// In place of a class's index, for a layout of members of an enumeration.
const MEMBER: u32 = u32::MAX;

/// How instances of a layout are built, or which enumeration has its members, as an earlier message has shown.
///
/// # Safety
/// The GIL is held.
#[inline(always)]
pub(super) unsafe fn layout<'i, R: Reader<'i>>(
    r: &R,
    token: &model::Shape<'_>,
    state: &mut State<'_>,
) -> Option<Rc<Shape>> {
    // SAFETY: the GIL is held, by contract.
    let py = unsafe { Python::assume_attached() };
    let known = match state.asked.classes {
        Classes::Schema(schema) => schema.shapes.find(py, token)?,
        // What a trusted message has is not settled.
        Classes::Settled(_) if !r.trusted() => without_schema(py).find(py, token)?,
        Classes::Settled(_) | Classes::Nobody => return None,
    };
    all_names(state, token, &known)?;
    let shape = match state.asked.classes {
        // SAFETY: the GIL is held, by contract.
        Classes::Schema(schema) => unsafe { wanted(schema, py, &known)? },
        Classes::Settled(settled) => settled.find(py, &known)?,
        Classes::Nobody => return None,
    };
    state.keep(&shape)?;
    Some(shape)
}

/// The same for a layout that another message had before this one: who read it has looked its class up, unless there is a type.
///
/// # Safety
/// The GIL is held.
#[inline(always)]
pub(super) unsafe fn of_before(state: &State<'_>, known: &Rc<Shape>) -> Option<Rc<Shape>> {
    match state.asked.classes {
        // SAFETY: the GIL is held, by contract.
        Classes::Schema(schema) if !matches!(known.build, Build::Dict) => unsafe {
            wanted(schema, Python::assume_attached(), known)
        },
        Classes::Nobody if !matches!(known.build, Build::Dict) => None,
        _ => Some(known.clone()),
    }
}

/// How instances of a layout are built for a type. Whether the class is the one that it wants in this place, is seen in the end.
///
/// # Safety
/// The GIL is held.
unsafe fn wanted(schema: &Schema, py: Python<'_>, known: &Rc<Shape>) -> Option<Rc<Shape>> {
    if known.kind == ShapeKind::Enum {
        // SAFETY: the GIL is held, by contract.
        return unsafe { enumeration(schema, py, known) };
    }
    let matched = known.matched.borrow();
    let of_class = |(serial, class, _): &&(u64, u32, _)| *serial == schema.serial && *class != MEMBER;
    Some(matched.iter().find(of_class)?.2.clone())
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

/// An instance of a layout's class, or a member of its enumeration.
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
    if matches!(shape.build, Build::Enum) {
        // SAFETY: the contract is the same; whoever permits the class holds it.
        return unsafe { member(r, shape) };
    }
    state.instances += 1;
    if state.instances > MOST_INSTANCES {
        return None;
    }
    // SAFETY: whoever permits the class holds it; offsets, indices and places belong to it. A new instance is empty, and nobody else has
    // seen it before it is full.
    unsafe {
        match &shape.build {
            Build::Typed(typed) => typed_instance(r, state, depth, shape, typed),
            _ if !matches!(state.asked.classes, Classes::Settled(_)) => None,
            Build::Slots { class, offsets } if goes_quietly(*class) => {
                let object = allocate(*class, 0).ok()?;
                for &offset in offsets {
                    *slot_mut(object.get(), offset) = value(r, state, depth)?.0.into_raw();
                }
                Some(object)
            }
            Build::NamedTuple { class, order } if goes_quietly(*class) => {
                let object = allocate(*class, order.len() as isize).ok()?;
                for &at in order {
                    fill::tuple_item(object.get(), at, value(r, state, depth)?.0);
                }
                Some(object)
            }
            Build::Mixed { plan, places }
                if plan.is_bare() && goes_quietly(plan.class()) && !lacks_keys(plan, places) =>
            {
                let object = plan.fresh().ok()?;
                for place in places {
                    put(object.get(), place, value(r, state, depth)?.0, 0).ok()?;
                }
                Some(object)
            }
            Build::Based { class, base, places } if goes_quietly(*class) => {
                let object = based(r, state, depth, *class, *base)?;
                for place in places {
                    put(object.get(), place, value(r, state, depth)?.0, 0).ok()?;
                }
                Some(object)
            }
            Build::Attributes { plan } | Build::Mixed { plan, .. } if plan.is_bare() && goes_quietly(plan.class()) => {
                let object = allocate(plan.class(), 0).ok()?;
                let dict = values(r, state, depth, shape)?;
                set_dict(object.get(), dict).ok()?;
                Some(object)
            }
            _ => None,
        }
    }
}

/// An instance of a subclass of a builtin, with its content as that builtin.
///
/// # Safety
/// As for [`instance`]; `class` is derived from `base`, and its instances go quietly.
#[inline(never)]
unsafe fn based<'i, R: Reader<'i>>(
    r: &mut R,
    state: &mut State<'_>,
    depth: usize,
    class: Type,
    base: Base,
) -> Option<Owned> {
    // SAFETY: by the contract. The builtins' own constructors run no code of the program's for content of their own types, whose members
    // have their hashes.
    unsafe {
        match base {
            Base::Str | Base::Bytes | Base::Int | Base::Float => {
                let content = of_any_leaf(r.leaf().ok()??)?;
                new_of(base, class, Some(content)).ok()
            }
            Base::Tuple => {
                let Token::Tuple(len @ ..=MOST) = r.next().ok()? else { return None };
                let object = allocate(class, len as isize).ok()?;
                for at in 0..len {
                    fill::tuple_item(object.get(), at, value(r, state, depth)?.0);
                }
                Some(object)
            }
            Base::List => {
                let Token::List(len @ ..=MOST) = r.next().ok()? else { return None };
                let content = items(r, state, depth, Seq::List, len)?;
                let object = new_of(base, class, None).ok()?;
                (ffi::PyList_SetSlice(object.get(), 0, 0, content.get()) == 0).then_some(object)
            }
            Base::Set => {
                let Token::Set(len @ ..=MOST) = r.next().ok()? else { return None };
                members(r, state, new_of(base, class, None).ok()?, len)
            }
            Base::FrozenSet => {
                let Token::FrozenSet(len @ ..=MOST) = r.next().ok()? else { return None };
                let content = members(r, state, Owned::new(ffi::PyFrozenSet_New(std::ptr::null_mut()))?, len)?;
                new_of(base, class, Some(content)).ok()
            }
            Base::Dict => {
                let Token::Dict(len @ ..=MOST_KEYS) = r.next().ok()? else { return None };
                pairs(r, state, depth, new_of(base, class, None).ok()?, len)
            }
            Base::Exception => exception(r, state, class),
            _ => None,
        }
    }
}

/// An exception with its arguments, which are leaves, and nothing else that it sets itself.
///
/// # Safety
/// As for [`instance`]; `class` is an exception.
unsafe fn exception<'i, R: Reader<'i>>(r: &mut R, state: &mut State<'_>, class: Type) -> Option<Owned> {
    // SAFETY: by the contract; what is read is looked at by its type.
    unsafe {
        let py = Python::assume_attached();
        let Token::Tuple(2) = r.next().ok()? else { return None };
        let ((arguments, _), (stored, _)) = (value(r, state, 1)?, value(r, state, 1)?);
        let usual = ffi::PyTuple_CheckExact(arguments.get()) != 0
            && ffi::PyDict_CheckExact(stored.get()) != 0
            && dict::len(stored.get()) == 0
            && !types::exception::is_of_parts(py, class).ok()?;
        if !usual {
            return None;
        }
        let object = types::exception::empty(py, class, None, 0).ok()?;
        types::exception::initialise(py, &object, &arguments, &[], 0).ok()?;
        Some(object)
    }
}

/// An instance of a class of the type, all of whose fields are stored, by position.
///
/// # Safety
/// As for [`instance`].
#[inline(always)]
unsafe fn typed_instance<'i, R: Reader<'i>>(
    r: &mut R,
    state: &mut State<'_>,
    depth: usize,
    shape: &Shape,
    typed: &Typed,
) -> Option<Owned> {
    let (Some(plan), Classes::Schema(schema)) = (&shape.plan, state.asked.classes) else { return None };
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
                    if has_setter(plan.class(), name.get()) || !set_plain_attribute(object.get(), name.get(), made) {
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
            FieldPlaces::Instance if plan.is_bare() => plan.fresh().ok(),
            FieldPlaces::Instance | FieldPlaces::Dict => None,
        }
    }
}

/// A member of an enumeration: by its name, or a union of flags by its value.
///
/// # Safety
/// The GIL is held, and the enumeration alive.
unsafe fn member<'i, R: Reader<'i>>(r: &mut R, shape: &Shape) -> Option<Owned> {
    let plan = shape.plan.as_ref().filter(|plan| is_usual(plan))?;
    // SAFETY: the GIL is held, by contract; the reader has checked the bytes of `Leaf::Ascii`. Attributes are looked up in the class
    // itself, and no name of a member runs code.
    unsafe {
        let py = Python::assume_attached();
        let class = Bound::from_borrowed_ptr(py, plan.class().cast());
        let (key, map) = match r.leaf() {
            Ok(Some(Leaf::Ascii(name))) => (names::name(name)?, intern!(py, "_member_map_")),
            // A union of flags, which the class keeps from the time when it was made. Other metaclasses may look values up as they like.
            Ok(Some(Leaf::Int(value))) if has_usual_metaclass(&class).is_ok_and(|usual| usual) => {
                (int::from_value(value)?, intern!(py, "_value2member_map_"))
            }
            _ => return None,
        };
        let members = _PyType_Lookup(plan.class(), map.as_ptr());
        if members.is_null() || ffi::PyDict_CheckExact(members) == 0 {
            return None;
        }
        let found = ffi::PyDict_GetItemWithError(members, key.get());
        (!found.is_null() && ffi::Py_TYPE(found) == plan.class()).then(|| Owned::borrowed(found))
    }
}

/// Whether members are found by their names, and nobody has said otherwise.
fn is_usual(plan: &Plan) -> bool {
    matches!(plan.how, crate::classes::how::How::Enum) && plan.registration.is_none()
}

/// The enumeration of the type that a layout names, if nobody has said otherwise.
///
/// # Safety
/// The GIL is held.
unsafe fn enumeration(schema: &Schema, py: Python<'_>, known: &Shape) -> Option<Rc<Shape>> {
    if let Some(shape) = known.matched_with(schema.serial, MEMBER) {
        return Some(shape);
    }
    let class = schema.permitted.get(known.stored_name().ok()?)?;
    let is_wanted = |scalar: &Scalar| matches!(scalar, Scalar::Enum { class: own, .. } if own.get() == class.get());
    if schema.resolves || !schema.nodes.iter().flat_map(|node| &node.scalars).any(is_wanted) {
        return None;
    }
    // SAFETY: the schema holds the class.
    let plan = unsafe { plan::known(py, class.get().cast())? };
    if !is_usual(&plan) {
        return None;
    }
    let shape = Rc::new(Shape { plan: Some(plan), ..known.like(Build::Enum, known.names.clone()) });
    known.match_with(schema.serial, MEMBER, &shape);
    Some(shape)
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

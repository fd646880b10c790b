//! Fits a finished object to a node: accepts it, converts it, or refuses it.
//!
//! Everything that a token alone doesn't decide ends here: constraints, enumerations, text that stands for other values
//! in schemaless formats, `strict=False`, the user's hook, and objects that the message shares between places of
//! different types.

mod buffers;
mod classes;
mod conform;
mod lax;
pub mod members;
mod numbers;
pub mod third_party;
mod times;
mod values;

use super::class::{Class, ClassKind, Missing};
use super::constraint::Constraints;
use super::node::{accepts, Node, Scalar};
use super::{NodeId, Schema};
use crate::budget::Work;
use crate::classes::registry::call;
use crate::cpython::owned;
use crate::cpython::{text, Obj, Owned, Type};
use crate::error::{invalid, raised, Asked, Fault, Result};
use crate::memory::{vec, Vec};
use pyo3::prelude::*;
use pyo3::types::PyDict;
use pyo3::{ffi, intern};
use std::fmt::{self, Display, Formatter};
use std::ptr::addr_of_mut;

/// What a load checks values against.
pub struct Rules<'s> {
    pub py: Python<'s>,
    pub nodes: &'s [Node],
    pub schema: Option<&'s Schema>,
    pub strict: bool,
    /// The format is schemaless: text stands for dates and the like.
    pub schemaless: bool,
    pub dec_hook: Option<&'s Owned>,
    /// How many shared objects may still be checked, because a message can share one between many places.
    pub work: Work,
}

pub enum Taken {
    Yes(Owned),
    No,
    /// Of the right type but not acceptable; says why.
    Broken(String),
}

/// The bit in [`accepts`] for objects of exactly that type; 0 for others.
///
/// # Safety
/// `object` is alive.
pub unsafe fn kind_of(object: Obj) -> u32 {
    // SAFETY: `object` is alive, and the types are static.
    unsafe {
        let class = ffi::Py_TYPE(object);
        if class == addr_of_mut!(ffi::PyUnicode_Type) {
            accepts::STR
        } else if class == addr_of_mut!(ffi::PyLong_Type) {
            accepts::INT
        } else if class == addr_of_mut!(ffi::PyFloat_Type) {
            accepts::FLOAT
        } else if class == addr_of_mut!(ffi::PyBool_Type) {
            accepts::BOOL
        } else if object == ffi::Py_None() {
            accepts::NONE
        } else if class == addr_of_mut!(ffi::PyBytes_Type) {
            accepts::BYTES
        } else {
            0
        }
    }
}

/// An object to be converted, and what is known about it.
pub(super) struct Given<'o> {
    pub(super) object: &'o Owned,
    /// See [`kind_of`].
    pub(super) kind: u32,
    /// It is text, and text may stand for a value of another type here.
    pub(super) textual: bool,
}

impl<'o> Given<'o> {
    fn of(object: &'o Owned, text_stands_for_values: bool) -> Given<'o> {
        // SAFETY: `object` is an owned reference.
        let kind = unsafe { kind_of(object.get()) };
        Given { object, kind, textual: kind == accepts::STR && text_stands_for_values }
    }

    /// Whether its type is exactly `class`.
    pub(super) fn is(&self, class: Type) -> bool {
        // SAFETY: `object` is an owned reference.
        unsafe { ffi::Py_TYPE(self.object.get()) == class }
    }

    /// The characters of an ASCII string; for other objects "?", which no value's text looks like.
    pub(super) fn ascii(&self) -> &'o [u8] {
        match self.kind {
            // SAFETY: `kind` says that it is a string, which `object` holds as long as `'o`.
            accepts::STR => unsafe { text::ascii(self.object.get()) }.unwrap_or(b"?"),
            _ => b"?",
        }
    }

    pub(super) fn same(&self) -> Taken {
        Taken::Yes(self.object.clone())
    }
}

/// The name of an object's type in errors.
pub fn kind_name(py: Python<'_>, object: &Owned) -> String {
    // SAFETY: `object` is an owned reference, and `py` proves that the GIL is held.
    let object = unsafe { Bound::from_borrowed_ptr(py, object.get()) };
    if object.is_none() {
        return "None".to_owned();
    }
    object.get_type().qualname().map_or_else(|_| "object".to_owned(), |name| name.to_string())
}

/// Why a value is refused of which the class makes none. Its name is asked for by who shows that: most values are taken.
struct InvalidOf<'a, 'py>(&'a Bound<'py, PyAny>);

impl Display for InvalidOf<'_, '_> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self.0.getattr(intern!(self.0.py(), "__qualname__")) {
            Ok(name) => write!(f, "Invalid `{name}`"),
            Err(_) => f.write_str("Invalid value"),
        }
    }
}

pub fn expected(name: &str, got: &str) -> Fault {
    invalid(format_args!("Expected `{name}`, got `{got}`"))
}

impl<'s> Rules<'s> {
    pub fn node(&self, id: NodeId) -> &'s Node {
        &self.nodes[id as usize]
    }

    /// The object as the node wants it, or an error.
    pub fn coerce(&self, id: NodeId, object: Owned) -> Result<Owned> {
        let node = self.node(id);
        // SAFETY: `object` is an owned reference.
        if node.any || node.accepts & unsafe { kind_of(object.get()) } != 0 {
            return Ok(object);
        }
        let mut broken = None;
        for scalar in &node.scalars {
            match self.take(scalar, &object)? {
                Taken::Yes(made) => return Ok(made),
                // An int beyond its bounds must not become another type of number.
                Taken::Broken(why) if matches!(scalar, Scalar::Int(_)) => return Err(invalid(why)),
                Taken::Broken(why) => broken = broken.or(Some(why)),
                Taken::No => {}
            }
        }
        for class in self.pydantic_classes(node, &object)? {
            if let Some(made) = self.by_pydantic(class.class.as_ref(), &object)? {
                return Ok(made);
            }
        }
        if self.conforms(id, &object)? {
            return Ok(object);
        }
        match broken {
            Some(why) => Err(invalid(why)),
            None => Err(expected(&node.name, &kind_name(self.py, &object))),
        }
    }

    /// The pydantic models of a node that may validate an object; for a dict, the one that its keys single out.
    fn pydantic_classes(&self, node: &Node, object: &Owned) -> Result<Vec<&'s Class>> {
        let Some(schema) = self.schema else { return Ok(Vec::new()) };
        let is_model = |index: &u32| schema.classes[*index as usize].kind == ClassKind::Pydantic;
        let mut found: Vec<u32> = node.classes.iter().copied().filter(is_model).collect();
        if let (2.., Ok(dict)) = (found.len(), self.bound(object).cast::<PyDict>()) {
            match self.class_by_key(node, &found, |key| Ok(dict.contains(self.bound(key))?))? {
                Some(class) => found = vec![class],
                None => return Err(expected(&node.name, "dict")),
            }
        }
        Ok(found.into_iter().map(|index| &schema.classes[index as usize]).collect())
    }

    /// Which class of `candidates` a dict is: the one with a required key that no other has, else the only one without
    /// such a key.
    pub fn class_by_key(
        &self,
        node: &Node,
        candidates: &[u32],
        there: impl Fn(&Owned) -> Result<bool>,
    ) -> Result<Option<u32>> {
        let mut left = candidates.to_vec();
        if let Some(distinct) = &node.distinct {
            for (key, class) in self.bound(distinct).cast::<PyDict>().map_err(PyErr::from)? {
                let class: u32 = class.extract()?;
                if candidates.contains(&class) && there(&owned(&key))? {
                    return Ok(Some(class));
                }
                left.retain(|&other| other != class);
            }
        }
        let (Some(schema), [only]) = (self.schema, &left[..]) else { return Ok(None) };
        for field in &schema.classes[*only as usize].fields {
            let mut found = !matches!(field.missing, Missing::Refused);
            for key in field.keys() {
                found = found || there(key)?;
            }
            if !found {
                return Ok(None);
            }
        }
        Ok(Some(*only))
    }

    /// What the text of a key stands for: as for any text, or the int whose digits it is.
    pub fn coerce_key(&self, id: NodeId, key: Owned) -> Result<Owned> {
        let fault = match self.coerce(id, key.clone()) {
            Err(fault) if fault.is_invalid() => fault,
            done => return done,
        };
        match self.digits_as_int(&key)? {
            Some(int) => self.coerce(id, int).map_err(|other| if other.is_invalid() { fault } else { other }),
            None => Err(fault),
        }
    }

    /// The int whose digits a text is, up to the number of digits that Python reads by default.
    fn digits_as_int(&self, text: &Owned) -> Result<Option<Owned>> {
        const MOST: usize = 4300;
        // SAFETY: called with keys that are strings only.
        let Some(ascii) = (unsafe { text::ascii(text.get()) }) else { return Ok(None) };
        let digits = ascii.strip_prefix(b"-").unwrap_or(ascii);
        if !(1..=MOST).contains(&digits.len()) || !digits.iter().all(u8::is_ascii_digit) {
            return Ok(None);
        }
        // SAFETY: a string's characters end with a NUL, so the function stops there; the result is a new reference or
        // null.
        unsafe { Owned::new(ffi::PyLong_FromString(ascii.as_ptr().cast(), std::ptr::null_mut(), 10)) }
            .map(Some)
            .ok_or_else(raised)
    }

    pub(crate) fn bound<'b>(&self, object: &'b Owned) -> Bound<'s, PyAny>
    where
        's: 'b,
    {
        // SAFETY: `object` keeps it alive, and the new `Bound` takes a reference of its own.
        unsafe { Bound::from_borrowed_ptr(self.py, object.get()) }
    }

    /// Checks the bounds of a value.
    fn within(&self, made: Owned, bounds: Option<&Constraints>, name: &str) -> Result<Taken> {
        Ok(match bounds.map(|bounds| bounds.broken(&made, name)).transpose()?.flatten() {
            Some(why) => Taken::Broken(why),
            None => Taken::Yes(made),
        })
    }

    /// A call into the standard library with the user's data: an exception means that the data are refused.
    pub(crate) fn made(&self, made: PyResult<Bound<'s, PyAny>>, why: impl Display) -> Result<Taken> {
        // Of any class: a pattern may raise `re.error`, a zone `ZoneInfoNotFoundError`.
        Ok(match made.if_taken()? {
            Some(made) => Taken::Yes(owned(&made)),
            None => Taken::Broken(why.to_string()),
        })
    }

    pub(crate) fn take(&self, scalar: &Scalar, object: &Owned) -> Result<Taken> {
        let given = Given::of(object, self.schemaless || !self.strict);
        match scalar {
            Scalar::None => self.none(&given),
            Scalar::Bool => self.bool(&given),
            Scalar::Int(bounds) => self.int(&given, bounds.as_deref()),
            Scalar::Float(bounds) => self.float(&given, bounds.as_deref()),
            Scalar::Str(bounds) if given.kind == accepts::STR => self.within(object.clone(), bounds.as_deref(), "str"),
            Scalar::Bytes(bounds) if given.kind == accepts::BYTES => {
                self.within(object.clone(), bounds.as_deref(), "bytes")
            }
            Scalar::Str(_) | Scalar::Bytes(_) => Ok(Taken::No),
            Scalar::ByteArray(bounds) => self.bytearray(&given, bounds.as_deref()),
            Scalar::MemoryView(bounds) => self.memoryview(&given, bounds.as_deref()),
            Scalar::Complex => self.complex(&given),
            Scalar::Decimal(bounds) => self.decimal(&given, bounds.as_deref()),
            Scalar::DateTime(zone) => self.datetime(&given, *zone),
            Scalar::Date => self.date(&given),
            Scalar::Time(zone) => self.time(&given, *zone),
            Scalar::Timedelta => self.timedelta(&given),
            Scalar::Uuid => self.uuid(&given),
            Scalar::Value { class, parse } => self.value(&given, class, parse.as_ref()),
            Scalar::Enum { class, by_value } => self.member(class, by_value, object, given.kind),
            Scalar::Literal(values) => self.literal(values, object),
            Scalar::Numpy { dtype, shape } => self.array(dtype.as_ref(), shape.as_ref(), object),
            Scalar::Custom { annotation, class } => self.custom(annotation, class, object),
            Scalar::ByType(functions) => self.by_type(&given, functions),
            Scalar::Registered { class, decode } => self.registered(&given, class, decode),
        }
    }

    /// The value of a field that was not stored.
    pub fn missing(&self, class: &Class, missing: &Missing, name: &Owned, object: Obj) -> Result<Option<Owned>> {
        // SAFETY: the caller's class holds `missing` and `name`, and `object` is alive.
        unsafe {
            match missing {
                Missing::Refused => Err(invalid(class.lacks(&self.bound(name).to_string()))),
                Missing::Default(value) => Ok(Some(value.clone())),
                Missing::Factory(factory) => {
                    Owned::new(ffi::PyObject_CallNoArgs(factory.get())).map(Some).ok_or_else(raised)
                }
                Missing::FactoryOfSelf(factory) => call(factory, object).map(Some),
                Missing::Absent => Ok(None),
            }
        }
    }
}

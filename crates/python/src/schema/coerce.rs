//! An object that is there, against a node: accepted as it is, made into what the node wants, or refused.
//!
//! Everything that is not decided by a token alone ends here: constraints, enumerations, text that stands for a value in
//! plain formats, `strict=False`, the user's hook, and objects that the message shares between places of other types.

use super::class::{Class, ClassKind, Missing};
use super::constraint::Constraints;
use super::node::{accepts, Node, Scalar};
use super::time::Read;
use super::{time, NodeId, Schema};
use crate::budget::Work;
use crate::classes::registry::call;
use crate::cpython::owned;
use crate::cpython::{float, new, text, Obj, Owned, Type};
use crate::error::{invalid, raised, Asked, Fault, Result};
use crate::memory::{vec, Vec};
use crate::types::bson_values;
use pyo3::ffi;
use pyo3::prelude::*;
use pyo3::types::PyDict;
use std::ptr::addr_of_mut;

/// What a load goes by.
pub struct Rules<'s> {
    pub py: Python<'s>,
    pub nodes: &'s [Node],
    pub schema: Option<&'s Schema>,
    pub strict: bool,
    /// The format has no dates and the like: text stands for them.
    pub plain: bool,
    pub dec_hook: Option<&'s Owned>,
    /// Objects that may yet be looked through, as they are shared between places of different types.
    pub work: Work,
}

pub enum Taken {
    Yes(Owned),
    No,
    /// Of the right kind, but not fit; says why.
    Broken(String),
}

/// The bit of `accepts` that an object of exactly that type has.
///
/// # Safety
/// `object` is alive.
pub unsafe fn kind_of(object: Obj) -> u32 {
    // SAFETY: alive, says the caller; the types are static.
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

/// Whether a text is an int, or two with a slash between them.
fn is_ratio(text: &[u8]) -> bool {
    let unsigned = text.strip_prefix(b"-").unwrap_or(text);
    unsigned.split(|&byte| byte == b'/').count() <= 2
        && unsigned
            .split(|&byte| byte == b'/')
            .all(|digits| (1..=4300).contains(&digits.len()) && digits.iter().all(u8::is_ascii_digit))
}

/// Whether a text is a UUID: 32 hexadecimal digits, in groups of 8, 4, 4, 4 and 12 with hyphens between them or in one.
fn is_uuid(text: &[u8]) -> bool {
    let hyphens = [8, 13, 18, 23];
    match text.len() {
        32 => text.iter().all(u8::is_ascii_hexdigit),
        36 => (0..).zip(text).all(|(at, byte)| match hyphens.contains(&at) {
            true => *byte == b'-',
            false => byte.is_ascii_hexdigit(),
        }),
        _ => false,
    }
}

/// What errors call an object's type.
pub fn kind_name(py: Python<'_>, object: &Owned) -> String {
    // SAFETY: held.
    let object = unsafe { Bound::from_borrowed_ptr(py, object.get()) };
    if object.is_none() {
        return "None".to_owned();
    }
    object.get_type().qualname().map_or_else(|_| "object".to_owned(), |name| name.to_string())
}

pub fn expected(name: &str, got: &str) -> Fault {
    invalid(format_args!("Expected `{name}`, got `{got}`"))
}

impl<'s> Rules<'s> {
    pub fn node(&self, id: NodeId) -> &'s Node {
        &self.nodes[id as usize]
    }

    /// The object as the node wants it.
    pub fn coerce(&self, id: NodeId, object: Owned) -> Result<Owned> {
        let node = self.node(id);
        // SAFETY: held.
        if node.any || node.accepts & unsafe { kind_of(object.get()) } != 0 {
            return Ok(object);
        }
        let mut broken = None;
        for scalar in &node.scalars {
            match self.take(scalar, &object)? {
                Taken::Yes(made) => return Ok(made),
                // An int that is beyond its bounds is not made another number.
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

    /// The pydantic models of a node that an object may be: a dict is of the one that its keys tell.
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

    /// Which class of `candidates` a dict is: the one with a required key that no other knows, else the one that is left over.
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
            if matches!(field.missing, Missing::Refused) && !there(&field.key)? {
                return Ok(None);
            }
        }
        Ok(Some(*only))
    }

    /// What the text of a key stands for: what text stands for anywhere, or an int by its digits.
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

    /// An int, if a text is no more than its digits, and no more of them than Python itself reads.
    fn digits_as_int(&self, text: &Owned) -> Result<Option<Owned>> {
        const MOST: usize = 4300;
        // SAFETY: a string.
        let Some(ascii) = (unsafe { text::ascii(text.get()) }) else { return Ok(None) };
        let digits = ascii.strip_prefix(b"-").unwrap_or(ascii);
        if !(1..=MOST).contains(&digits.len()) || !digits.iter().all(u8::is_ascii_digit) {
            return Ok(None);
        }
        // SAFETY: the characters of a string end with a NUL; a new reference or null.
        unsafe { Owned::new(ffi::PyLong_FromString(ascii.as_ptr().cast(), std::ptr::null_mut(), 10)) }
            .map(Some)
            .ok_or_else(raised)
    }

    pub(crate) fn bound<'b>(&self, object: &'b Owned) -> Bound<'s, PyAny>
    where
        's: 'b,
    {
        // SAFETY: held; the new reference keeps it.
        unsafe { Bound::from_borrowed_ptr(self.py, object.get()) }
    }

    /// Within bounds, or why not.
    fn within(&self, made: Owned, bounds: Option<&Constraints>, name: &str) -> Result<Taken> {
        Ok(match bounds.map(|bounds| bounds.broken(&made, name)).transpose()?.flatten() {
            Some(why) => Taken::Broken(why),
            None => Taken::Yes(made),
        })
    }

    /// What the standard library made of the user's data: that it refuses is about the data.
    pub(crate) fn made(&self, made: PyResult<Bound<'s, PyAny>>, why: &str) -> Result<Taken> {
        // Of whatever kind: an error of the pattern's own, a zone that is not there.
        Ok(match made.if_taken()? {
            Some(made) => Taken::Yes(owned(&made)),
            None => Taken::Broken(why.to_owned()),
        })
    }

    #[allow(clippy::too_many_lines)] // one arm a scalar
    pub(crate) fn take(&self, scalar: &Scalar, object: &Owned) -> Result<Taken> {
        // SAFETY: held; types are looked at before content is.
        let kind = unsafe { kind_of(object.get()) };
        // SAFETY: held.
        let class = unsafe { ffi::Py_TYPE(object.get()) };
        let textual = kind == accepts::STR && (self.plain || !self.strict);
        // SAFETY: a string.
        let ascii = || unsafe { text::ascii(object.get()) }.unwrap_or(b"?");
        let is = |of: Type| class == of;
        let same = || Taken::Yes(object.clone());
        match scalar {
            Scalar::None => match kind {
                accepts::NONE => Ok(same()),
                accepts::STR if !self.strict && ascii().eq_ignore_ascii_case(b"null") => {
                    Ok(Taken::Yes(owned(self.py.None().bind(self.py))))
                }
                _ => Ok(Taken::No),
            },
            Scalar::Bool => match kind {
                accepts::BOOL => Ok(same()),
                accepts::STR | accepts::INT if !self.strict => Ok(self.lax_bool(object, kind)),
                _ => Ok(Taken::No),
            },
            Scalar::Int(bounds) => {
                let made = match kind {
                    accepts::INT => Some(object.clone()),
                    accepts::STR | accepts::FLOAT if !self.strict => self.lax_int(object, kind)?,
                    _ => None,
                };
                made.map_or(Ok(Taken::No), |made| self.within(made, bounds.as_deref(), "int"))
            }
            Scalar::Float(bounds) => {
                let made = match kind {
                    accepts::FLOAT => Some(object.clone()),
                    accepts::INT => match self.number_as_float(object)? {
                        Some(made) => Some(made),
                        None => return Ok(Taken::Broken("Number out of range".to_owned())),
                    },
                    accepts::STR if !self.strict => self.text_as_float(object)?,
                    _ => None,
                };
                made.map_or(Ok(Taken::No), |made| self.within(made, bounds.as_deref(), "float"))
            }
            Scalar::Str(bounds) if kind == accepts::STR => self.within(object.clone(), bounds.as_deref(), "str"),
            Scalar::Bytes(bounds) if kind == accepts::BYTES => self.within(object.clone(), bounds.as_deref(), "bytes"),
            Scalar::ByteArray(bounds) => {
                let made = if is(addr_of_mut!(ffi::PyByteArray_Type)) {
                    object.clone()
                } else if kind == accepts::BYTES {
                    // SAFETY: held; a new reference or null.
                    unsafe { Owned::new(ffi::PyByteArray_FromObject(object.get())) }.ok_or_else(raised)?
                } else {
                    return Ok(Taken::No);
                };
                self.within(made, bounds.as_deref(), "bytearray")
            }
            Scalar::MemoryView(bounds) => {
                let made = if is(addr_of_mut!(ffi::PyMemoryView_Type)) {
                    object.clone()
                } else if kind == accepts::BYTES || is(addr_of_mut!(ffi::PyByteArray_Type)) {
                    // SAFETY: held; a new reference or null.
                    unsafe { Owned::new(ffi::PyMemoryView_FromObject(object.get())) }.ok_or_else(raised)?
                } else {
                    return Ok(Taken::No);
                };
                self.within(made, bounds.as_deref(), "memoryview")
            }
            Scalar::Complex => Ok(if is(addr_of_mut!(ffi::PyComplex_Type)) {
                same()
            } else if self.plain {
                self.pair_as_complex(object)?.map_or(Taken::No, Taken::Yes)
            } else {
                Taken::No
            }),
            Scalar::Decimal(bounds) => {
                let decimal = self.py.import("decimal")?.getattr("Decimal")?;
                let bound = self.bound(object);
                if bound.is_instance(&decimal)? {
                    return self.within(object.clone(), bounds.as_deref(), "Decimal");
                }
                if self.plain && kind == 0 {
                    if let Some(made) = bson_values::as_decimal(&bound)? {
                        return match self.made(made, "Invalid decimal number")? {
                            Taken::Yes(made) => self.within(made, bounds.as_deref(), "Decimal"),
                            other => Ok(other),
                        };
                    }
                }
                let given = match kind {
                    accepts::STR if textual => bound,
                    accepts::INT if self.plain || !self.strict => bound,
                    accepts::FLOAT if self.plain || !self.strict => bound.str()?.into_any(),
                    _ => return Ok(Taken::No),
                };
                match self.made(decimal.call1((given,)), "Invalid decimal string")? {
                    Taken::Yes(made) => self.within(made, bounds.as_deref(), "Decimal"),
                    other => Ok(other),
                }
            }
            Scalar::DateTime(zoned) => {
                // SAFETY: the API was imported when the module was.
                if unsafe { ffi::PyDateTime_Check(object.get()) } != 0 {
                    return self.zoned(object.clone(), *zoned, "datetime");
                }
                if textual {
                    if let Read::Made(made) = time::datetime(self.py, ascii())? {
                        return self.zoned(made, *zoned, "datetime");
                    }
                }
                if let Some(seconds) = self.lax_seconds(object, kind)? {
                    // SAFETY: of the type that is looked at.
                    let is_finite = unsafe { !float::is(seconds.get()) || float::value(seconds.get()).is_finite() };
                    if !is_finite {
                        return Ok(Taken::Broken("Invalid epoch timestamp".to_owned()));
                    }
                    let class = self.py.import("datetime")?.getattr("datetime")?;
                    let utc = self.py.import("datetime")?.getattr("timezone")?.getattr("utc")?;
                    let made = class.call_method1("fromtimestamp", (self.bound(&seconds), utc));
                    return match self.made(made, "Timestamp is out of range")? {
                        Taken::Yes(made) => self.zoned(made, *zoned, "datetime"),
                        other => Ok(other),
                    };
                }
                match textual {
                    true => Ok(Taken::Broken("Invalid RFC3339 encoded datetime".to_owned())),
                    false => Ok(Taken::No),
                }
            }
            Scalar::Date => {
                // SAFETY: the API was imported when the module was.
                let is = unsafe { ffi::PyDate_Check(object.get()) != 0 && ffi::PyDateTime_Check(object.get()) == 0 };
                self.textual(is, object, textual, time::date, "Invalid RFC3339 encoded date")
            }
            Scalar::Time(zoned) => {
                // SAFETY: the API was imported when the module was.
                let is = unsafe { ffi::PyTime_Check(object.get()) } != 0;
                match self.textual(is, object, textual, time::time, "Invalid RFC3339 encoded time")? {
                    Taken::Yes(made) => self.zoned(made, *zoned, "time"),
                    other => Ok(other),
                }
            }
            Scalar::Timedelta => {
                // SAFETY: the API was imported when the module was.
                let is = unsafe { ffi::PyDelta_Check(object.get()) } != 0;
                if let (false, Some(seconds)) = (is, self.lax_seconds(object, kind)?) {
                    let class = self.py.import("datetime")?.getattr("timedelta")?;
                    return self.made(class.call1((0, self.bound(&seconds))), "Duration is out of range");
                }
                self.textual(is, object, textual, time::timedelta, "Invalid ISO8601 duration")
            }
            Scalar::Uuid => {
                let uuid = self.py.import("uuid")?.getattr("UUID")?;
                let bound = self.bound(object);
                if bound.is_instance(&uuid)? {
                    return Ok(same());
                }
                if textual {
                    // Its own reading takes braces, prefixes, and hyphens in any place.
                    return match is_uuid(ascii()) {
                        true => self.made(uuid.call1((bound,)), "Invalid UUID"),
                        false => Ok(Taken::Broken("Invalid UUID".to_owned())),
                    };
                }
                if kind == accepts::BYTES && (self.plain || !self.strict) {
                    let keywords = new::dict(self.py)?;
                    keywords.set_item("bytes", bound)?;
                    return self.made(uuid.call((), Some(&keywords)), "Invalid UUID bytes");
                }
                Ok(Taken::No)
            }
            Scalar::Value { class, parse } => {
                let bound = self.bound(object);
                if bound.is_instance(&self.bound(class))? {
                    return Ok(same());
                }
                if self.plain && kind == 0 {
                    if let Some(made) = bson_values::as_pattern(&bound, parse.is_none())? {
                        return match self.bound(class).is(&self.py.import("re")?.getattr("Pattern")?) {
                            true => self.made(made, "Invalid `Pattern`"),
                            false => Ok(Taken::No),
                        };
                    }
                }
                // SAFETY: held; the API was imported when the module was.
                let is_datetime = || unsafe { ffi::PyDateTime_Check(object.get()) } != 0;
                match parse {
                    Some(parse) if self.plain && is_datetime() && self.is_numpy(class)? => {
                        let made =
                            self.py.import("holdall._arrays")?.call_method1("moment", (self.bound(parse), bound));
                        self.made(made, "Invalid `datetime64`")
                    }
                    None if self.plain && kind != 0 && kind != accepts::NONE && self.is_numpy(class)? => {
                        let name: String = self.bound(class).getattr("__qualname__")?.extract()?;
                        if (kind == accepts::STR && name != "str_") || (kind == accepts::BYTES && name != "bytes_") {
                            return Ok(Taken::No);
                        }
                        let made =
                            self.py.import("holdall._arrays")?.call_method1("scalar", (self.bound(class), bound));
                        self.made(made, &format!("Invalid `{name}`"))
                    }
                    // A fraction's own reading of "1e999999999" would take days.
                    Some(_) if textual && self.is_fraction(class)? && !is_ratio(ascii()) => {
                        Ok(Taken::Broken("Invalid `Fraction`".to_owned()))
                    }
                    Some(parse) if textual => {
                        let name = self.bound(class).getattr("__qualname__")?;
                        self.made(self.bound(parse).call1((bound,)), &format!("Invalid `{name}`"))
                    }
                    _ => Ok(Taken::No),
                }
            }
            Scalar::Enum { class, by_value } => self.member(class, by_value, object, kind),
            Scalar::Literal(values) => self.literal(values, object),
            Scalar::Numpy { dtype, shape } => self.array(dtype.as_ref(), shape.as_ref(), object),
            Scalar::Custom { annotation, class } => self.custom(annotation, class, object),
            Scalar::ByType(functions) => {
                let function = self
                    .bound(functions)
                    .cast::<PyDict>()
                    .map_err(PyErr::from)?
                    .get_item(self.bound(object).get_type())?;
                match function {
                    Some(function) => Ok(Taken::Yes(call(&owned(&function), object.get())?)),
                    None => Ok(same()),
                }
            }
            Scalar::Registered { class, decode } => {
                if self.bound(object).is_instance(&self.bound(class))? {
                    return Ok(same());
                }
                if !self.plain {
                    return Ok(Taken::No);
                }
                match call(decode, object.get()).map_err(|fault| fault.of_user(self.py)) {
                    Ok(made) => Ok(Taken::Yes(made)),
                    // Of classes that the package itself has taught, what databases make of them says more.
                    Err(fault) if fault.is_invalid() && self.is_ours(class)? => {
                        let class = self.bound(class);
                        match bson_values::of_python(&class, &self.bound(object))? {
                            Some(made) => self.made(made, &format!("Invalid `{}`", class.getattr("__qualname__")?)),
                            None => Ok(Taken::No),
                        }
                    }
                    Err(fault) if fault.is_invalid() => {
                        let name = self.bound(class).getattr("__qualname__")?;
                        Ok(Taken::Broken(format!("Invalid `{name}`")))
                    }
                    Err(fault) => Err(fault),
                }
            }
            Scalar::Str(_) | Scalar::Bytes(_) => Ok(Taken::No),
        }
    }

    fn textual(
        &self,
        is: bool,
        object: &Owned,
        textual: bool,
        parse: fn(Python<'_>, &[u8]) -> Result<Read>,
        why: &str,
    ) -> Result<Taken> {
        if is {
            return Ok(Taken::Yes(object.clone()));
        }
        if !textual {
            return Ok(Taken::No);
        }
        // SAFETY: a string, says `textual`.
        let read = unsafe { text::ascii(object.get()) }.map_or(Ok(Read::Malformed), |text| parse(self.py, text));
        Ok(match read? {
            Read::Made(made) => Taken::Yes(made),
            Read::Malformed => Taken::Broken(why.to_owned()),
            Read::Beyond => Taken::Broken("Duration is out of range".to_owned()),
        })
    }

    fn zoned(&self, made: Owned, zoned: Option<bool>, name: &str) -> Result<Taken> {
        if zoned.is_none() {
            return Ok(Taken::Yes(made));
        }
        let has = !self.bound(&made).getattr("tzinfo")?.is_none();
        Ok(match zoned {
            Some(true) if !has => Taken::Broken(format!("Expected `{name}` with a timezone component")),
            Some(false) if has => Taken::Broken(format!("Expected `{name}` with no timezone component")),
            _ => Taken::Yes(made),
        })
    }

    fn is_fraction(&self, class: &Owned) -> Result<bool> {
        Ok(self.py.import("fractions")?.getattr("Fraction")?.as_ptr() == class.get())
    }

    /// Whether a class is one of NumPy's scalars.
    pub(crate) fn is_numpy(&self, class: &Owned) -> Result<bool> {
        let module = self.bound(class).getattr("__module__")?;
        Ok(module.extract::<String>().if_taken()?.is_some_and(|module| module == "numpy"))
    }

    /// What a field that was not stored has.
    pub fn missing(&self, missing: &Missing, name: &Owned, object: Obj) -> Result<Option<Owned>> {
        // SAFETY: all are held or alive.
        unsafe {
            match missing {
                Missing::Refused => Err(invalid(format_args!("Object missing required field `{}`", self.bound(name)))),
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

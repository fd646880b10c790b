//! An object that is there, against a node: accepted as it is, made into what the node wants, or refused.
//!
//! Everything that is not decided by a token alone ends here: constraints, enumerations, text that stands for a value in
//! plain formats, `strict=False`, the user's hook, and objects that the message shares between places of other types.

use super::class::{ClassKind, Missing};
use super::constraint::{broken_length, Constraints};
use super::node::{accepts, MapKind, Node, Scalar, SeqKind};
use super::{time, NodeId, Schema};
use crate::class::registry::call;
use crate::cpython::{float, int, text, Obj, Owned, Type};
use crate::error::{invalid, raised, Fault, Result, Step};
use crate::objects::owned;
use pyo3::exceptions::{PyArithmeticError, PyNotImplementedError, PyTypeError, PyValueError};
use pyo3::ffi;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyTuple};
use std::collections::HashSet;
use std::ptr::addr_of_mut;

/// What a load goes by.
#[derive(Clone, Copy)]
pub struct Rules<'s> {
    pub py: Python<'s>,
    pub nodes: &'s [Node],
    pub schema: Option<&'s Schema>,
    pub strict: bool,
    /// The format has no dates and the like: text stands for them.
    pub plain: bool,
    pub dec_hook: Option<&'s Owned>,
}

enum Taken {
    Yes(Owned),
    No,
    /// Of the right kind, but not fit; says why.
    Broken(String),
}

/// The bit of `accepts` that an object of exactly that type has.
///
/// # Safety
/// `object` is alive.
unsafe fn kind_of(object: Obj) -> u32 {
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
                Taken::Broken(why) => broken = broken.or(Some(why)),
                Taken::No => {}
            }
        }
        for &index in &node.classes {
            if let Some(class) = self.schema.and_then(|schema| schema.classes.get(index as usize)) {
                if class.kind == ClassKind::Pydantic {
                    if let Some(made) = self.by_pydantic(class.class.as_ref(), &object)? {
                        return Ok(made);
                    }
                }
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

    fn bound<'b>(&self, object: &'b Owned) -> Bound<'s, PyAny>
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

    /// Calls what makes an object of the user's data: that it refuses is about the data.
    fn made(&self, made: PyResult<Bound<'s, PyAny>>, why: &str) -> Result<Taken> {
        match made {
            Ok(made) => Ok(Taken::Yes(owned(&made))),
            Err(error)
                if error.is_instance_of::<PyValueError>(self.py)
                    || error.is_instance_of::<PyTypeError>(self.py)
                    || error.is_instance_of::<PyArithmeticError>(self.py) =>
            {
                Ok(Taken::Broken(why.to_owned()))
            }
            Err(error) => Err(error.into()),
        }
    }

    #[allow(clippy::too_many_lines)] // one arm a scalar
    fn take(&self, scalar: &Scalar, object: &Owned) -> Result<Taken> {
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
                    accepts::INT => match self.number_as_float(object) {
                        Some(made) => Some(made),
                        None => return Ok(Taken::Broken("Number out of range".to_owned())),
                    },
                    accepts::STR if !self.strict => self.text_as_float(object),
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
            } else if let (true, Some(made)) = (self.plain, self.pair_as_complex(object)) {
                Taken::Yes(made)
            } else {
                Taken::No
            }),
            Scalar::Decimal(bounds) => {
                let decimal = self.py.import("decimal")?.getattr("Decimal")?;
                let bound = self.bound(object);
                if bound.is_instance(&decimal)? {
                    return self.within(object.clone(), bounds.as_deref(), "Decimal");
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
                    return Ok(self.zoned(object.clone(), *zoned, "datetime"));
                }
                if textual {
                    return Ok(match time::datetime(self.py, ascii()) {
                        Some(made) => self.zoned(made, *zoned, "datetime"),
                        None => Taken::Broken("Invalid RFC3339 encoded datetime".to_owned()),
                    });
                }
                if matches!(kind, accepts::INT | accepts::FLOAT) && !self.strict {
                    let class = self.py.import("datetime")?.getattr("datetime")?;
                    let utc = self.py.import("datetime")?.getattr("timezone")?.getattr("utc")?;
                    let made = class.call_method1("fromtimestamp", (self.bound(object), utc));
                    return Ok(match self.made(made, "Timestamp is out of range")? {
                        Taken::Yes(made) => self.zoned(made, *zoned, "datetime"),
                        other => other,
                    });
                }
                Ok(Taken::No)
            }
            Scalar::Date => {
                // SAFETY: the API was imported when the module was.
                let is = unsafe { ffi::PyDate_Check(object.get()) != 0 && ffi::PyDateTime_Check(object.get()) == 0 };
                self.textual(is, object, textual, time::date, "Invalid RFC3339 encoded date")
            }
            Scalar::Time(zoned) => {
                // SAFETY: the API was imported when the module was.
                let is = unsafe { ffi::PyTime_Check(object.get()) } != 0;
                Ok(match self.textual(is, object, textual, time::time, "Invalid RFC3339 encoded time")? {
                    Taken::Yes(made) => self.zoned(made, *zoned, "time"),
                    other => other,
                })
            }
            Scalar::Timedelta => {
                // SAFETY: the API was imported when the module was.
                let is = unsafe { ffi::PyDelta_Check(object.get()) } != 0;
                if !is && matches!(kind, accepts::INT | accepts::FLOAT) && !self.strict {
                    let class = self.py.import("datetime")?.getattr("timedelta")?;
                    return self.made(class.call1((0, self.bound(object))), "Duration is out of range");
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
                    return self.made(uuid.call1((bound,)), "Invalid UUID");
                }
                if kind == accepts::BYTES && (self.plain || !self.strict) {
                    let keywords = PyDict::new(self.py);
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
                match parse {
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
            Scalar::Registered { class, decode } => {
                if self.bound(object).is_instance(&self.bound(class))? {
                    return Ok(same());
                }
                if !self.plain {
                    return Ok(Taken::No);
                }
                let name = self.bound(class).getattr("__qualname__")?;
                self.made(self.bound(decode).call1((self.bound(object),)), &format!("Invalid `{name}`"))
            }
            Scalar::Str(_) | Scalar::Bytes(_) => Ok(Taken::No),
        }
    }

    fn textual(
        &self,
        is: bool,
        object: &Owned,
        textual: bool,
        parse: fn(Python<'_>, &[u8]) -> Option<Owned>,
        why: &str,
    ) -> Result<Taken> {
        if is {
            return Ok(Taken::Yes(object.clone()));
        }
        if !textual {
            return Ok(Taken::No);
        }
        // SAFETY: a string, says `textual`.
        let made = unsafe { text::ascii(object.get()) }.and_then(|text| parse(self.py, text));
        Ok(made.map_or_else(|| Taken::Broken(why.to_owned()), Taken::Yes))
    }

    fn zoned(&self, made: Owned, zoned: Option<bool>, name: &str) -> Taken {
        let has = self.bound(&made).getattr("tzinfo").is_ok_and(|zone| !zone.is_none());
        match zoned {
            Some(true) if !has => Taken::Broken(format!("Expected `{name}` with a timezone component")),
            Some(false) if has => Taken::Broken(format!("Expected `{name}` with no timezone component")),
            _ => Taken::Yes(made),
        }
    }

    fn lax_bool(&self, object: &Owned, kind: u32) -> Taken {
        // SAFETY: of the type that `kind` says.
        let value = unsafe {
            if kind == accepts::INT {
                match int::value(object.get()) {
                    Some(0) => Some(false),
                    Some(1) => Some(true),
                    _ => None,
                }
            } else {
                match text::ascii(object.get()) {
                    Some(b"0") => Some(false),
                    Some(b"1") => Some(true),
                    Some(text) if text.eq_ignore_ascii_case(b"false") => Some(false),
                    Some(text) if text.eq_ignore_ascii_case(b"true") => Some(true),
                    _ => None,
                }
            }
        };
        // SAFETY: the singletons are alive.
        value.map_or(Taken::No, |value| unsafe {
            Taken::Yes(Owned::borrowed(if value { ffi::Py_True() } else { ffi::Py_False() }))
        })
    }

    /// An int of its decimal text, or of a float without a fraction.
    fn lax_int(&self, object: &Owned, kind: u32) -> Result<Option<Owned>> {
        // SAFETY: of the type that `kind` says; results are new references or null.
        unsafe {
            if kind == accepts::FLOAT {
                let value = float::value(object.get());
                if !value.is_finite() || value.fract() != 0.0 {
                    return Ok(None);
                }
                return Owned::new(ffi::PyLong_FromDouble(value)).map(Some).ok_or_else(raised);
            }
            let Some(digits) = text::ascii(object.get()) else { return Ok(None) };
            let unsigned = digits.strip_prefix(b"-").unwrap_or(digits);
            // As JSON has them: no signs, blanks or underscores; and no more than what is read in a moment.
            let leading_zero = unsigned.len() > 1 && unsigned[0] == b'0';
            if unsigned.is_empty() || leading_zero || unsigned.len() > 4300 || !unsigned.iter().all(u8::is_ascii_digit) {
                return Ok(None);
            }
            let text = Owned::new(ffi::PyTuple_Pack(1, object.get())).ok_or_else(raised)?;
            Owned::new(ffi::PyObject_CallObject(addr_of_mut!(ffi::PyLong_Type).cast(), text.get()))
                .map(Some)
                .ok_or_else(raised)
        }
    }

    fn number_as_float(&self, object: &Owned) -> Option<Owned> {
        // SAFETY: an int.
        unsafe {
            if let Some(value) = int::value(object.get()) {
                return float::from_value(value as f64);
            }
            let value = ffi::PyLong_AsDouble(object.get());
            if value == -1.0 && !ffi::PyErr_Occurred().is_null() {
                ffi::PyErr_Clear();
                return None;
            }
            float::from_value(value)
        }
    }

    fn text_as_float(&self, object: &Owned) -> Option<Owned> {
        // SAFETY: a string.
        unsafe {
            let digits = text::ascii(object.get())?;
            let value: f64 = std::str::from_utf8(digits).ok()?.parse().ok()?;
            // Rust takes "inf" and a leading sign; JSON has none of that, msgspec takes the three names.
            float::from_value(value)
        }
    }

    /// A complex number of its two parts.
    fn pair_as_complex(&self, object: &Owned) -> Option<Owned> {
        let (real, imag): (f64, f64) = match self.bound(object).extract::<Vec<f64>>().ok()?[..] {
            [real, imag] => (real, imag),
            _ => return None,
        };
        // SAFETY: a new reference or null.
        unsafe { Owned::new(ffi::PyComplex_FromDoubles(real, imag)) }
    }

    /// A member by its value, or by its name.
    fn member(&self, class: &Owned, by_value: &Owned, object: &Owned, kind: u32) -> Result<Taken> {
        let (bound, members) = (self.bound(object), self.bound(class));
        if bound.is_instance(&members)? {
            return Ok(Taken::Yes(object.clone()));
        }
        if kind == 0 || kind == accepts::NONE {
            // A value of another type: a list, say, which no dict finds.
            let known = members.getattr("_value2member_map_")?;
            let unhashable = members.getattr("_member_map_")?.len()? > known.len()?;
            if kind == 0 && !unhashable {
                return Ok(Taken::No);
            }
        }
        let by_value = self.bound(by_value);
        let by_value = by_value.cast::<PyDict>().map_err(PyErr::from)?;
        let same_kind = |value: &Bound<'_, PyAny>| {
            // True is no 1 here.
            value.getattr("_value_").is_ok_and(|value| value.get_type().is(&bound.get_type()))
        };
        if let Ok(Some(found)) = by_value.get_item(&bound) {
            if same_kind(&found) || kind != accepts::BOOL {
                return Ok(Taken::Yes(owned(&found)));
            }
        }
        if kind == accepts::STR {
            let names = members.getattr("_member_map_")?;
            if let Some(found) = names.cast::<PyDict>().map_err(PyErr::from)?.get_item(&bound)? {
                return Ok(Taken::Yes(owned(&found)));
            }
            if !self.strict {
                for lax in [self.lax_int(object, kind)?, self.text_as_float(object)].into_iter().flatten() {
                    if let Some(found) = by_value.get_item(self.bound(&lax))? {
                        return Ok(Taken::Yes(owned(&found)));
                    }
                }
            }
        }
        // Unions of flags, `_missing_`, and values that have no hash: by the class's own code.
        self.made(members.call1((bound,)), "Invalid enum value")
    }

    fn literal(&self, values: &[Owned], object: &Owned) -> Result<Taken> {
        let given = self.bound(object);
        for value in values {
            let known = self.bound(value);
            // 1, 1.0 and True are equal, and not the same literal.
            if known.is(&given) || (known.get_type().is(&given.get_type()) && known.eq(&given)?) {
                return Ok(Taken::Yes(value.clone()));
            }
            if self.plain && known.getattr("_value_").is_ok_and(|value| value.get_type().is(&given.get_type()) && value.eq(&given).unwrap_or(false)) {
                return Ok(Taken::Yes(value.clone()));
            }
        }
        // SAFETY: held.
        let kind = unsafe { kind_of(object.get()) };
        // SAFETY: values of the schema, held.
        let of_its_kind = values.iter().any(|value| unsafe { kind_of(value.get()) } == kind && kind != 0);
        Ok(if of_its_kind { Taken::Broken("Invalid enum value".to_owned()) } else { Taken::No })
    }

    fn array(&self, dtype: Option<&Owned>, shape: Option<&Owned>, object: &Owned) -> Result<Taken> {
        let numpy = self.py.import("numpy")?;
        let mut array = self.bound(object);
        if !array.is_instance(&numpy.getattr("ndarray")?)? {
            // SAFETY: held.
            let is_list = unsafe { ffi::Py_TYPE(object.get()) } == addr_of_mut!(ffi::PyList_Type);
            if !self.plain || !is_list {
                return Ok(Taken::No);
            }
            let made = match dtype {
                Some(dtype) => numpy.call_method1("array", (array, self.bound(dtype))),
                None => numpy.call_method1("array", (array,)),
            };
            array = match self.made(made, "Expected `ndarray`, got `list` of other values")? {
                Taken::Yes(made) => self.bound(&made),
                other => return Ok(other),
            };
        } else if let Some(dtype) = dtype {
            let (wanted, got) = (self.bound(dtype), array.getattr("dtype")?);
            if !got.eq(&wanted)? {
                return Ok(Taken::Broken(format!("Expected `ndarray` of dtype `{wanted}`, got `{got}`")));
            }
        }
        if let Some(shape) = shape {
            let wanted = self.bound(shape);
            let (wanted, got) = (wanted.cast::<PyTuple>().map_err(PyErr::from)?, array.getattr("shape")?);
            let got: Vec<usize> = got.extract()?;
            let open = wanted.iter().position(|len| len.is(self.py.Ellipsis()));
            let fits = |wanted: &[Bound<'_, PyAny>], got: &[usize]| {
                wanted.iter().zip(got).all(|(wanted, got)| wanted.is_none() || wanted.extract::<usize>().is_ok_and(|len| len == *got))
            };
            let lens: Vec<Bound<'_, PyAny>> = wanted.iter().collect();
            let fine = match open {
                None => lens.len() == got.len() && fits(&lens, &got),
                Some(at) => {
                    let tail = lens.len() - at - 1;
                    got.len() >= at + tail && fits(&lens[..at], &got) && fits(&lens[at + 1..], &got[got.len() - tail..])
                }
            };
            if !fine {
                let show: Vec<String> = lens
                    .iter()
                    .map(|len| if len.is_none() { "n".to_owned() } else if len.is(self.py.Ellipsis()) { "...".to_owned() } else { len.to_string() })
                    .collect();
                return Ok(Taken::Broken(format!("Expected `ndarray` of shape ({}), got {got:?}", show.join(", "))));
            }
        }
        Ok(Taken::Yes(owned(&array)))
    }

    /// What the caller's hook makes of it.
    fn custom(&self, annotation: &Owned, class: &Owned, object: &Owned) -> Result<Taken> {
        let (bound, class) = (self.bound(object), self.bound(class));
        if bound.is_instance(&class)? {
            return Ok(Taken::Yes(object.clone()));
        }
        let Some(hook) = self.dec_hook else { return Ok(Taken::No) };
        match self.bound(hook).call1((self.bound(annotation), bound)) {
            Ok(made) if made.is_instance(&class)? => Ok(Taken::Yes(owned(&made))),
            Ok(made) => Err(expected(&class.getattr("__qualname__")?.to_string(), &kind_name(self.py, &owned(&made)))),
            Err(error) if error.is_instance_of::<PyNotImplementedError>(self.py) => Ok(Taken::No),
            Err(error) if error.is_instance_of::<PyValueError>(self.py) || error.is_instance_of::<PyTypeError>(self.py) => {
                // The hook's own words: whoever wrote it decides what they show.
                Ok(Taken::Broken(error.value(self.py).str().map_or_else(|_| String::new(), |text| text.to_string())))
            }
            Err(error) => Err(error.into()),
        }
    }

    /// A pydantic model, by its own validation.
    fn by_pydantic(&self, class: Option<&Owned>, object: &Owned) -> Result<Option<Owned>> {
        let Some(class) = class.map(|class| self.bound(class)) else { return Ok(None) };
        let mut given = self.bound(object);
        let own = given.is_instance(&class)?;
        if own {
            // As it was stored, unset fields left out: what it holds is validated anew.
            let keywords = PyDict::new(self.py);
            for (name, value) in [("warnings", false), ("exclude_unset", true), ("round_trip", true), ("by_alias", true)] {
                keywords.set_item(name, value)?;
            }
            let private = given.getattr("__pydantic_private__")?;
            let dumped = given.call_method("model_dump", (), Some(&keywords));
            given = match self.made(dumped, "a model that holds itself can't be validated")? {
                Taken::Yes(dumped) => self.bound(&dumped),
                Taken::Broken(why) => return Err(invalid(why)),
                Taken::No => return Ok(None),
            };
            let made = self.validated(&class, &given)?;
            if !private.is_none() {
                self.bound(&made).setattr("__pydantic_private__", private)?;
            }
            return Ok(Some(made));
        }
        if !given.is_instance_of::<PyDict>() {
            return Ok(None);
        }
        self.validated(&class, &given).map(Some)
    }

    fn validated(&self, class: &Bound<'s, PyAny>, given: &Bound<'s, PyAny>) -> Result<Owned> {
        match class.call_method1("model_validate", (given,)) {
            Ok(made) => Ok(owned(&made)),
            Err(error) => {
                let Ok(errors) = error.value(self.py).call_method0("errors") else { return Err(error.into()) };
                let first = errors.get_item(0)?;
                let mut fault = invalid(first.get_item("msg")?);
                let place: Vec<Bound<'_, PyAny>> = first.get_item("loc")?.extract()?;
                for step in place.iter().rev() {
                    fault = fault.within(|| match step.extract::<usize>() {
                        Ok(index) => Step::Index(index),
                        Err(_) => Step::Field(owned(step)),
                    });
                }
                Err(fault)
            }
        }
    }

    /// Whether an object that is there already, with all it holds, is what the node says: nothing is converted, as others
    /// hold it too.
    fn conforms(&self, id: NodeId, object: &Owned) -> Result<bool> {
        let mut seen = HashSet::new();
        let mut open = vec![(id, object.clone())];
        while let Some((id, object)) = open.pop() {
            let node = self.node(id);
            // SAFETY: held.
            if node.any || node.accepts & unsafe { kind_of(object.get()) } != 0 || !seen.insert((id, object.get() as usize)) {
                continue;
            }
            let as_it_is = node.scalars.iter().map(|scalar| self.take(scalar, &object)).find_map(|taken| match taken {
                Ok(Taken::Yes(made)) => Some(Ok(made.get() == object.get())),
                Ok(_) => None,
                Err(error) => Some(Err(error)),
            });
            match as_it_is.transpose()? {
                Some(true) => continue,
                Some(false) => return Ok(false),
                None => {}
            }
            if !self.parts(node, &object, &mut open)? {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Adds what a container holds, and what that must be; says no where it is no such container itself.
    fn parts(&self, node: &Node, object: &Owned, open: &mut Vec<(NodeId, Owned)>) -> Result<bool> {
        let bound = self.bound(object);
        // SAFETY: held.
        let class = unsafe { ffi::Py_TYPE(object.get()) };
        let builtin = |name: &str, module: &str| -> Result<bool> {
            Ok(self.py.import(module)?.getattr(name)?.as_ptr() == class.cast())
        };
        if let Some(seq) = &node.seq {
            if broken_length(seq.min, seq.max, bound.len().unwrap_or(0), "").is_some() {
                return Ok(false);
            }
            let item = match &seq.kind {
                SeqKind::List(item) if class == addr_of_mut!(ffi::PyList_Type) => Some(*item),
                SeqKind::Tuple(item) if class == addr_of_mut!(ffi::PyTuple_Type) => Some(*item),
                SeqKind::Set(item) if class == addr_of_mut!(ffi::PySet_Type) => Some(*item),
                SeqKind::FrozenSet(item) if class == addr_of_mut!(ffi::PyFrozenSet_Type) => Some(*item),
                SeqKind::Deque(item) if builtin("deque", "collections")? => Some(*item),
                SeqKind::Fixed(items) if class == addr_of_mut!(ffi::PyTuple_Type) => {
                    if bound.len()? != items.len() {
                        return Ok(false);
                    }
                    for (item, part) in items.iter().zip(bound.try_iter()?) {
                        open.push((*item, owned(&part?)));
                    }
                    return Ok(true);
                }
                SeqKind::NamedTuple(index) => return self.fields(*index, &bound, open),
                _ => None,
            };
            if let Some(item) = item {
                for part in bound.try_iter()? {
                    open.push((item, owned(&part?)));
                }
                return Ok(true);
            }
        }
        if let Some(map) = &node.map {
            let is = match map.kind {
                MapKind::Dict | MapKind::TypedDict(_) => class == addr_of_mut!(ffi::PyDict_Type),
                MapKind::OrderedDict => builtin("OrderedDict", "collections")?,
                MapKind::DefaultDict(_) => builtin("defaultdict", "collections")?,
                MapKind::Counter => builtin("Counter", "collections")?,
                MapKind::MappingProxy => class == addr_of_mut!(ffi::PyDictProxy_Type),
            };
            if is {
                if let (MapKind::TypedDict(index), Some(schema)) = (&map.kind, self.schema) {
                    let class = &schema.classes[*index as usize];
                    for field in &class.fields {
                        match bound.get_item(self.bound(&field.name)) {
                            Ok(part) => open.push((field.node, owned(&part))),
                            Err(_) if matches!(field.missing, Missing::Absent) => {}
                            Err(_) => return Ok(false),
                        }
                    }
                    return Ok(true);
                }
                for pair in bound.call_method0("items")?.try_iter()? {
                    let (key, value): (Bound<'_, PyAny>, Bound<'_, PyAny>) = pair?.extract()?;
                    open.push((map.key, owned(&key)));
                    open.push((map.value, owned(&value)));
                }
                return Ok(true);
            }
        }
        for &index in &node.classes {
            if self.schema.is_some_and(|schema| schema.classes[index as usize].is(class)) {
                return self.fields(index, &bound, open);
            }
        }
        Ok(false)
    }

    fn fields(&self, index: u32, object: &Bound<'_, PyAny>, open: &mut Vec<(NodeId, Owned)>) -> Result<bool> {
        let Some(class) = self.schema.and_then(|schema| schema.classes.get(index as usize)) else { return Ok(false) };
        if !class.is(object.get_type_ptr()) {
            return Ok(false);
        }
        for field in &class.fields {
            match object.getattr(self.bound(&field.name).cast::<pyo3::types::PyString>().map_err(PyErr::from)?) {
                Ok(part) => open.push((field.node, owned(&part))),
                Err(_) if matches!(field.missing, Missing::Absent) => {}
                Err(_) => return Ok(false),
            }
        }
        Ok(true)
    }

    /// What a field that was not stored has.
    pub fn missing(&self, missing: &Missing, name: &Owned, object: Obj) -> Result<Option<Owned>> {
        // SAFETY: all are held or alive.
        unsafe {
            match missing {
                Missing::Refused => {
                    Err(invalid(format_args!("Object missing required field `{}`", self.bound(name))))
                }
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

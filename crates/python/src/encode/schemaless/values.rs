//! Values for which schemaless formats have no form, written as text, numbers, lists and dicts; and values with forms
//! in some formats only.

use crate::classes::how::{Base, How, Special};
use crate::classes::plan::{PlainDefault, PlainField, Plan};
use crate::classes::registry;
use crate::cpython::owned;
use crate::cpython::{bytes_of, float, int, new, text, Obj, Owned};
use crate::encode::dialect::Dialect;
use crate::encode::forms::Order;
use crate::encode::Encoder;
use crate::error::{encode as encode_error, raised, Result};
use crate::memory::{vec, Vec};
use crate::schema::time;
use crate::types::walker::WorkItem;
use crate::types::Family;
use holdall_format::model::{KnownType, Seq, Text, TimestampWriter};
use holdall_format::Writer;
use pyo3::exceptions::PyValueError;
use pyo3::ffi;
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyBytes, PyDelta, PyInt, PyString};
use std::ptr::addr_of_mut;
use std::rc::Rc;

/// What `isoformat` gives for a key; `known` is none for a datetime.
fn iso_key(key: &Bound<'_, PyAny>, known: Option<KnownType>) -> Result<Owned> {
    // SAFETY: `known` says what the family of the key's class is.
    match unsafe { time::iso_text(key.as_ptr(), known) } {
        // SAFETY: the GIL is held, and the text is ASCII.
        Some(text) => unsafe { text::from_ascii(text.bytes()) }.ok_or_else(raised),
        None => Ok(owned(&key.call_method0(intern!(key.py(), "isoformat"))?)),
    }
}

/// The text of a key, in a format whose keys are text: an int's digits, or what a text type has anyway.
pub fn key_text(key: &Bound<'_, PyAny>) -> Result<Owned> {
    let py = key.py();
    if !key.is_exact_instance_of::<PyInt>() && key.is_instance(&py.import("enum")?.getattr("Enum")?)? {
        return key_text(&key.getattr(intern!(key.py(), "_value_"))?);
    }
    if let Ok(text) = key.cast::<PyString>() {
        // The content of a subclass's instance, whatever its `__str__` returns.
        // SAFETY: `text` is a string; the result is a new reference or null.
        return unsafe { Owned::new(ffi::PyUnicode_FromObject(text.as_ptr())) }.ok_or_else(raised);
    }
    if key.is_instance_of::<PyInt>() && !key.is_instance_of::<PyBool>() {
        // SAFETY: `key` is an int, and this is int's own function, whatever a subclass's `__str__` returns.
        let digits = unsafe {
            let repr = (*std::ptr::addr_of_mut!(ffi::PyLong_Type)).tp_repr;
            Owned::new(repr.map_or(std::ptr::null_mut(), |repr| repr(key.as_ptr())))
        };
        return digits.ok_or_else(|| match PyErr::fetch(py) {
            // Python neither writes nor reads more digits by default.
            error if error.is_instance_of::<PyValueError>(py) => {
                encode_error("can't store a key that is an int of so many digits")
            }
            error => error.into(),
        });
    }
    // SAFETY: `key` holds its class.
    let plan = unsafe { crate::classes::plan::of(py, ffi::Py_TYPE(key.as_ptr()))? };
    match plan.how {
        How::Family(Family::Known(known @ (KnownType::Date | KnownType::Time))) => iso_key(key, Some(known)),
        How::Family(Family::DateTime) => iso_key(key, None),
        How::Family(Family::Known(KnownType::Timedelta)) => {
            // SAFETY: a plan has this family only for timedeltas.
            let text = unsafe { time::duration_text(key) };
            Ok(owned(new::text(py, &text)?.as_any()))
        }
        How::Family(Family::Known(known)) if is_its_text(known) => Ok(owned(key.str()?.as_any())),
        _ => {
            let class = crate::classes::plan::shown_class(key)?;
            Err(encode_error(format_args!("can't store a key of type `{class}`: keys are text in this format")))
        }
    }
}

/// Whether a value's `str` is complete and can be parsed by its class.
fn is_its_text(known: KnownType) -> bool {
    matches!(
        known,
        KnownType::Decimal
            | KnownType::Fraction
            | KnownType::Uuid
            | KnownType::PurePosixPath
            | KnownType::PureWindowsPath
            | KnownType::PosixPath
            | KnownType::WindowsPath
            | KnownType::IPv4Address
            | KnownType::IPv6Address
            | KnownType::IPv4Network
            | KnownType::IPv6Network
            | KnownType::IPv4Interface
            | KnownType::IPv6Interface
    )
}

/// Whether instances are those of a builtin, or of a type that the format itself has.
fn is_nearly_builtin(plan: &Plan) -> bool {
    match &plan.how {
        _ if plan.special.is_some() => {
            matches!(plan.special, Some(Special::Extension | Special::Timestamp | Special::Encoded))
        }
        How::Family(Family::MemoryView) => true,
        How::Based(base) => {
            !matches!(base, Base::Set | Base::FrozenSet | Base::Complex | Base::Deque | Base::Exception)
        }
        _ => false,
    }
}

/// Whether a field is left out because it is unset or has its default. As in msgspec, an equal value counts only if
/// equality is complete: for text and numbers of the same class, and for an empty list, dict or set.
fn is_left_out(py: Python<'_>, field: &PlainField, value: &Owned) -> Result<bool> {
    // SAFETY: `value` is held, and the plan holds the default. Types are compared by address, and values of exactly
    // these types are compared or measured, so no code of a user's class runs.
    unsafe {
        let class = ffi::Py_TYPE(value.get());
        match &field.default {
            Some(PlainDefault::Value(default)) if default.get() == value.get() => return Ok(true),
            Some(PlainDefault::Value(default)) if ffi::Py_TYPE(default.get()) == class => {
                if class == addr_of_mut!(ffi::PyFloat_Type) {
                    let (one, other) = (float::value(value.get()), float::value(default.get()));
                    return Ok(one.to_bits() == other.to_bits() || (one.is_nan() && other.is_nan()));
                }
                let says_all = [
                    addr_of_mut!(ffi::PyLong_Type),
                    addr_of_mut!(ffi::PyUnicode_Type),
                    addr_of_mut!(ffi::PyBytes_Type),
                    addr_of_mut!(ffi::PyBool_Type),
                ];
                if says_all.contains(&class) {
                    return match ffi::PyObject_RichCompareBool(value.get(), default.get(), ffi::Py_EQ) {
                        -1 => Err(raised()),
                        equal => Ok(equal != 0),
                    };
                }
            }
            Some(PlainDefault::Empty(empty)) if empty.get() == class.cast() => {
                return Ok(ffi::PyObject_Size(value.get()) == 0);
            }
            _ => {}
        }
        Ok(crate::classes::plan::of(py, class)?.special == Some(Special::Unset))
    }
}

impl<D: Dialect<Writer: TimestampWriter>> Encoder<'_, D> {
    /// Writes an object of a class in a schemaless format.
    ///
    /// # Safety
    /// `object` is alive, and an instance of the plan's class.
    pub(crate) unsafe fn plain(&mut self, object: Obj, plan: &Rc<Plan>) -> Result<()> {
        // SAFETY: `object` is alive by contract.
        let bound = unsafe { Bound::from_borrowed_ptr(self.py, object) };
        if self.options.builtin_only && !is_nearly_builtin(plan) {
            // SAFETY: as above.
            return unsafe { self.refused(object, "only builtin types are asked for, others need") };
        }
        if let Some(special) = plan.special {
            if self.schemaless_special(&bound, special)? {
                return Ok(());
            }
        }
        match &plan.how {
            How::Fields => {
                if self.options.forms.hook_objects
                    && plan.registration.is_none()
                    && plan.schemaless_form(self.py)?.fields.is_none()
                {
                    // SAFETY: as above.
                    return unsafe {
                        self.refused(object, "its class declares no fields, which with hook_objects=True needs")
                    };
                }
                // SAFETY: `object` is an instance of the plan's class, by contract.
                if unsafe { self.schemaless_slots(object, plan)? || self.schemaless_attributes(object, plan)? } {
                    return Ok(());
                }
                self.schemaless_fields(&bound, plan)
            }
            How::NamedTuple(_) => {
                // SAFETY: a named tuple is a tuple.
                unsafe {
                    self.w.list(ffi::Py_SIZE(object) as usize);
                    self.items(object, Seq::Tuple);
                }
                Ok(())
            }
            How::Based(base) => self.schemaless_based(&bound, *base),
            How::Enum => {
                let value = bound.getattr(intern!(bound.py(), "_value_"))?;
                // SAFETY: `value` is alive.
                if !unsafe { self.leaf(value.as_ptr(), isize::MAX)? } {
                    self.then(vec![WorkItem::Value(owned(&value))]);
                }
                Ok(())
            }
            How::Custom => {
                let known = plan.registration.as_ref().filter(|known| !known.bundled);
                let Some(function) = known.and_then(|known| known.encode.clone()) else {
                    // SAFETY: `object` is alive by contract.
                    return unsafe { self.refused(object, "only hold has a form for it, others need") };
                };
                self.then_for(owned(&bound), vec![WorkItem::Value(registry::call(&function, object)?)]);
                Ok(())
            }
            How::Family(family) => self.schemaless_family(&bound, *family),
            How::Nothing => {
                self.w.none();
                Ok(())
            }
            // SAFETY: `object` is alive by contract.
            How::Refused(why) => unsafe { self.refused(object, why) },
        }
    }

    /// Writes the fields of an instance by name, or in order if its class is registered as array-like.
    fn schemaless_fields(&mut self, object: &Bound<'_, PyAny>, plan: &Rc<Plan>) -> Result<()> {
        let form = plan.schemaless_form(self.py)?;
        let marks = form.marks.len();
        let Some(fields) = &form.fields else {
            return self.schemaless_state(object, plan);
        };
        let mut parts = Vec::with_capacity(2 * (fields.len() + marks));
        for (field, value) in &form.marks {
            if !form.array_like {
                parts.push(WorkItem::Field(field.clone()));
            }
            parts.push(WorkItem::Value(value.clone()));
        }
        for field in fields {
            let value = match field.slot {
                // SAFETY: an instance of the class from which the slot's offset was read.
                Some(offset) => unsafe {
                    let value = crate::classes::state::slot(object.as_ptr(), offset);
                    if value.is_null() {
                        None
                    } else {
                        Some(Owned::borrowed(value))
                    }
                },
                // SAFETY: `object` and the field's name are held.
                None => unsafe {
                    let value = Owned::new(ffi::PyObject_GetAttr(object.as_ptr(), field.name.get()));
                    if value.is_none() {
                        if ffi::PyErr_ExceptionMatches(ffi::PyExc_AttributeError) == 0 {
                            return Err(raised());
                        }
                        ffi::PyErr_Clear();
                    }
                    value
                },
            };
            match value {
                Some(value) => {
                    if !form.array_like {
                        if form.omits && is_left_out(self.py, field, &value)? {
                            continue;
                        }
                        parts.push(WorkItem::Field(field.key.clone()));
                    }
                    parts.push(WorkItem::Value(value));
                }
                None if form.array_like => {
                    let name = object.get_type().qualname()?;
                    return Err(encode_error(format_args!(
                        "can't store a `{name}` by order: one of its fields is not set"
                    )));
                }
                None => {}
            }
        }
        if form.keeps {
            self.kept_fields(object, plan, fields, &mut parts)?;
        }
        if form.array_like {
            self.w.list(parts.len());
        } else {
            self.w.dict(parts.len() / 2);
            parts = self.sort_fields(parts)?;
        }
        self.then(parts);
        Ok(())
    }

    /// Writes an instance of a class for which schemaless formats have a special form. `false`: they have none.
    fn schemaless_special(&mut self, object: &Bound<'_, PyAny>, special: Special) -> Result<bool> {
        match special {
            Special::Extension => {
                let code: i8 = object.getattr(intern!(object.py(), "code"))?.extract()?;
                let data = object.getattr(intern!(object.py(), "data"))?;
                D::extension(self, code, data.cast::<PyBytes>().map_err(PyErr::from)?.as_bytes())?;
            }
            Special::Timestamp => {
                self.w.timestamp(
                    object.getattr(intern!(object.py(), "seconds"))?.extract()?,
                    object.getattr(intern!(object.py(), "nanoseconds"))?.extract()?,
                );
            }
            Special::Mapping => {
                let copy = new::dict(object.py())?;
                for key in object.try_iter()? {
                    let key = key?;
                    let value = object.get_item(&key)?;
                    copy.set_item(key, value)?;
                }
                match self.options.forms.order {
                    Order::Own => self.then_for(owned(object), vec![WorkItem::Table(owned(copy.as_any()))]),
                    // SAFETY: `copy` is a dict that was just made.
                    _ => unsafe { self.sorted_dict(copy.as_ptr())? },
                }
            }
            // SAFETY: `object` is held by the `Bound`.
            Special::Unset => unsafe { self.refused(object.as_ptr(), "only a field can be left out, else it needs")? },
            Special::Encoded => {
                let bytes = object.py().get_type::<PyBytes>().call1((object,))?;
                D::encoded(self, bytes.cast::<PyBytes>().map_err(PyErr::from)?.as_bytes())
                    .map_err(|why| encode_error(format_args!("can't store a `Raw`: {why}")))?;
            }
            Special::Sequence => self.schemaless_items(object)?,
            Special::Text => self.schemaless_str(object)?,
            Special::Database(marker) => return D::bson_value(self, marker, object),
        }
        Ok(true)
    }

    /// Writes everything that an instance of a class without declared fields holds.
    fn schemaless_state(&mut self, object: &Bound<'_, PyAny>, plan: &Rc<Plan>) -> Result<()> {
        let mut parts = Vec::new();
        // SAFETY: an instance of the plan's class; the work items take references to what is found.
        unsafe {
            for slot in &plan.slots {
                let value = crate::classes::state::slot(object.as_ptr(), slot.offset);
                if !value.is_null() {
                    parts.push(WorkItem::Field(slot.name.clone()));
                    parts.push(WorkItem::Value(Owned::borrowed(value)));
                }
            }
            if let Some(dict) = plan.dict_of(object.as_ptr())? {
                let mut position = crate::cpython::dict::Position(0);
                while let Some((key, value)) = position.next(dict.get()) {
                    if text::ascii(key) != Some(b"__orig_class__") {
                        let key = Owned::borrowed(key);
                        parts.push(if text::is(key.get()) { WorkItem::Field(key) } else { WorkItem::Key(key) });
                        parts.push(WorkItem::Value(Owned::borrowed(value)));
                    }
                }
            }
        }
        self.w.dict(parts.len() / 2);
        let parts = self.sort_fields(parts)?;
        self.then(parts);
        Ok(())
    }

    /// Writes the content of an instance of a builtin's subclass.
    fn schemaless_based(&mut self, object: &Bound<'_, PyAny>, base: Base) -> Result<()> {
        let raw = object.as_ptr();
        // SAFETY: the plan says that it is an instance of a subclass of `base`.
        unsafe {
            match base {
                Base::List => {
                    self.w.list(ffi::Py_SIZE(raw) as usize);
                    self.items(raw, Seq::List);
                }
                Base::Tuple | Base::StructSequence => {
                    self.w.list(ffi::Py_SIZE(raw) as usize);
                    self.items(raw, Seq::Tuple);
                }
                Base::Dict | Base::DefaultDict | Base::OrderedDict if self.options.forms.order != Order::Own => {
                    self.sorted_dict(raw)?;
                }
                Base::Dict | Base::DefaultDict => self.dict_body(&Owned::borrowed(raw))?,
                Base::OrderedDict => {
                    self.w.dict(crate::cpython::dict::len(raw));
                    let items = crate::types::collections::ordered_items(raw)?;
                    self.then(items);
                }
                Base::Set | Base::FrozenSet => {
                    self.w.list(ffi::PySet_Size(raw) as usize);
                    self.schemaless_members(raw)?;
                }
                Base::Deque => self.schemaless_items(object)?,
                Base::Str => self.bare_text(raw)?,
                Base::Bytes => self.w.bytes(bytes_of(raw)),
                Base::ByteArray => {
                    let len = ffi::PyByteArray_Size(raw) as usize;
                    self.w.bytes(std::slice::from_raw_parts(ffi::PyByteArray_AsString(raw).cast(), len));
                }
                Base::Int => match int::value(raw) {
                    Some(value) => self.w.int(value),
                    None => {
                        self.big(raw)?;
                    }
                },
                Base::Float => self.w.float(float::value(raw)),
                Base::Complex => self.schemaless_complex(raw),
                Base::Exception => return self.refused(raw, "an exception is no plain data, which needs"),
            }
        }
        Ok(())
    }

    /// Writes a complex number as a list of its parts.
    ///
    /// # Safety
    /// `object` is a complex number.
    pub(crate) unsafe fn schemaless_complex(&mut self, object: Obj) {
        // SAFETY: `object` is a complex number by contract.
        let value = unsafe { (*object.cast::<ffi::PyComplexObject>()).cval };
        self.w.list(2);
        self.w.float(value.real);
        self.w.float(value.imag);
    }

    /// Writes the items of an iterable as a list.
    fn schemaless_items(&mut self, object: &Bound<'_, PyAny>) -> Result<()> {
        let items = object.try_iter()?.map(|item| Ok(WorkItem::Value(owned(&item?)))).collect::<PyResult<Vec<_>>>()?;
        self.w.list(items.len());
        self.then(items);
        Ok(())
    }

    fn schemaless_str(&mut self, text: &Bound<'_, PyAny>) -> Result<()> {
        let text = text.str()?;
        // SAFETY: `text` holds the string.
        unsafe { self.bare_text(text.as_ptr()) }
    }

    fn schemaless_family(&mut self, object: &Bound<'_, PyAny>, family: Family) -> Result<()> {
        let refuse = |encoder: &mut Self| {
            // SAFETY: `object` is held by the `Bound`.
            unsafe { encoder.refused(object.as_ptr(), "the format has no form for it, which needs") }
        };
        match family {
            Family::DateTime => self.schemaless_datetime(object),
            Family::MemoryView | Family::PickleBuffer => {
                let bytes = object.py().get_type::<PyBytes>().call1((object,))?;
                self.w.bytes(bytes.cast::<PyBytes>().map_err(PyErr::from)?.as_bytes());
                Ok(())
            }
            Family::Record => {
                let fields = object.getattr(intern!(object.py(), "fields"))?;
                match self.options.forms.order {
                    // SAFETY: a record's fields are a dict.
                    Order::Sorted => unsafe { self.sorted_dict(fields.as_ptr()) },
                    _ => {
                        self.dict_body(&owned(&fields))?;
                        Ok(())
                    }
                }
            }
            Family::Known(known) => match known {
                _ if D::known_type(self, known, object)? => Ok(()),
                KnownType::Uuid if self.schemaless_uuid(object)? => Ok(()),
                KnownType::Decimal if self.schemaless_decimal(object)? => Ok(()),
                KnownType::Date | KnownType::Time => self.schemaless_iso(object, Some(known)),
                KnownType::Timedelta => {
                    // SAFETY: `known` is the family of the object's class.
                    let text = unsafe { time::duration_text(object) };
                    self.schemaless_str(new::text(object.py(), &text)?.as_any())
                }
                _ if is_its_text(known) => self.schemaless_str(object),
                KnownType::ZoneInfo => self.schemaless_str(&object.getattr(intern!(object.py(), "key"))?),
                KnownType::PythonPattern => self.schemaless_pattern(object),
                KnownType::PythonArray | KnownType::NumpyArray => {
                    let list = object.call_method0(intern!(object.py(), "tolist"))?;
                    if known == KnownType::NumpyArray && !crate::types::numpy::is_numeric(object)? {
                        return refuse(self);
                    }
                    self.then(vec![WorkItem::Value(owned(&list))]);
                    Ok(())
                }
                KnownType::NumpyScalar => {
                    let item = object.call_method0(intern!(object.py(), "item"))?;
                    if item.get_type().is(object.get_type()) {
                        return refuse(self);
                    }
                    self.then(vec![WorkItem::Value(owned(&item))]);
                    Ok(())
                }
                KnownType::PythonDeque => self.schemaless_items(object),
                KnownType::PythonOrderedDict | KnownType::PythonDefaultDict | KnownType::PythonCounter
                    if self.options.forms.order != Order::Own =>
                {
                    // SAFETY: the family says that it is a subclass of dict.
                    unsafe { self.sorted_dict(object.as_ptr()) }
                }
                KnownType::PythonOrderedDict => {
                    // SAFETY: the family says that it is an ordered dict.
                    let items = unsafe { crate::types::collections::ordered_items(object.as_ptr())? };
                    self.w.dict(items.len() / 2);
                    self.then(items);
                    Ok(())
                }
                KnownType::PythonDefaultDict | KnownType::PythonCounter => {
                    self.dict_body(&owned(object))?;
                    Ok(())
                }
                KnownType::PythonMappingProxy => self.schemaless_proxy(object),
                _ => refuse(self),
            },
        }
    }

    /// Writes a pattern's text. Flags have no form in it, except those that every pattern of the kind has.
    fn schemaless_pattern(&mut self, pattern: &Bound<'_, PyAny>) -> Result<()> {
        let text = pattern.getattr(intern!(pattern.py(), "pattern"))?;
        let plain = pattern.py().import("re")?.call_method1("compile", (&text,))?;
        if !plain.getattr(intern!(plain.py(), "flags"))?.eq(pattern.getattr(intern!(pattern.py(), "flags"))?)? {
            // SAFETY: `pattern` is held by the `Bound`.
            return unsafe { self.refused(pattern.as_ptr(), "its flags have no form, which needs") };
        }
        self.then(vec![WorkItem::Value(owned(&text))]);
        Ok(())
    }

    /// Writes the content of a mapping proxy as a dict.
    fn schemaless_proxy(&mut self, object: &Bound<'_, PyAny>) -> Result<()> {
        let copy = new::dict(object.py())?;
        let (shown, _) = crate::types::collections::shown_by(object)?;
        // SAFETY: both are held by their `Bound`s; the function accepts any mapping.
        if unsafe { ffi::PyDict_Update(copy.as_ptr(), shown.as_ptr()) } != 0 {
            return Err(raised());
        }
        if self.options.forms.order != Order::Own {
            // SAFETY: `copy` is a dict that was just made.
            return unsafe { self.sorted_dict(copy.as_ptr()) };
        }
        let copy = owned(copy.as_any());
        self.then_for(owned(object), vec![WorkItem::Table(copy)]);
        Ok(())
    }

    /// Writes a datetime: with a zone as a point in time, without one as text.
    fn schemaless_datetime(&mut self, object: &Bound<'_, PyAny>) -> Result<()> {
        if self.moment(object)? {
            return Ok(());
        }
        self.schemaless_iso(object, None)
    }

    /// Writes what `isoformat` gives; `known` is none for a datetime.
    fn schemaless_iso(&mut self, object: &Bound<'_, PyAny>, known: Option<KnownType>) -> Result<()> {
        // SAFETY: `known` says what the family of the object's class is.
        match unsafe { time::iso_text(object.as_ptr(), known) } {
            Some(text) => self.w.text(Text::Ascii(text.bytes())),
            None => self.schemaless_str(&object.call_method0(intern!(object.py(), "isoformat"))?)?,
        }
        Ok(())
    }

    /// Writes a datetime as a point in time. `false`: it has no zone, and the format doesn't define what that means.
    pub(crate) fn moment(&mut self, object: &Bound<'_, PyAny>) -> Result<bool> {
        let raw = object.as_ptr();
        // SAFETY: `object` is a datetime; importing the module imported the datetime API.
        unsafe {
            let zone = ffi::PyDateTime_DATE_GET_TZINFO(raw);
            if zone == ffi::Py_None() && !D::Writer::NAIVE_IS_UTC {
                return Ok(false);
            }
            let day = time::days(
                i64::from(ffi::PyDateTime_GET_YEAR(raw)),
                i64::from(ffi::PyDateTime_GET_MONTH(raw)),
                i64::from(ffi::PyDateTime_GET_DAY(raw)),
            );
            let local = day * 86_400
                + i64::from(ffi::PyDateTime_DATE_GET_HOUR(raw)) * 3600
                + i64::from(ffi::PyDateTime_DATE_GET_MINUTE(raw)) * 60
                + i64::from(ffi::PyDateTime_DATE_GET_SECOND(raw));
            let micros = i64::from(ffi::PyDateTime_DATE_GET_MICROSECOND(raw));
            let east = if zone == ffi::PyDateTime_TimeZone_UTC() || zone == ffi::Py_None() {
                0
            } else {
                let offset = object.call_method0(intern!(object.py(), "utcoffset"))?;
                if offset.is_none() && !D::Writer::NAIVE_IS_UTC {
                    return Ok(false);
                }
                match offset.is_none() {
                    true => 0,
                    false => {
                        // A user's class may return anything.
                        let delta = offset.cast::<PyDelta>().map_err(PyErr::from)?.as_ptr();
                        (i64::from(ffi::PyDateTime_DELTA_GET_DAYS(delta)) * 86_400
                            + i64::from(ffi::PyDateTime_DELTA_GET_SECONDS(delta)))
                        .saturating_mul(1_000_000)
                        .saturating_add(i64::from(ffi::PyDateTime_DELTA_GET_MICROSECONDS(delta)))
                    }
                }
            };
            let whole = (local * 1_000_000 + micros).saturating_sub(east);
            D::check_moment(whole)?;
            self.w.timestamp(whole.div_euclid(1_000_000), whole.rem_euclid(1_000_000) as u32 * 1000);
        }
        Ok(true)
    }
}

//! Objects for which formats have no form of their own, as PyMongo stores them: its value classes, subclasses of
//! builtins, mappings, and what the user's type encoders and fallback return.

use crate::cpython::dict::Position;
use crate::cpython::{bytes_of, float, int, new, text, Obj, Owned, Type};
use crate::cpython::{held, owned};
use crate::dialect::pymongo::{class_name, invalid_document, invalid_string, refused, PyMongo, STANDARD, UNSPECIFIED};
use crate::encode::dialect::Dialect;
use crate::encode::{shapes, Encoder, MOST_REPLACEMENTS};
use crate::error::{is_of_values, raised, Asked, Fault, Result};
use crate::memory::Vec;
use crate::types::bson_values;
use crate::types::bson_values::classes::Class;
use crate::types::bson_values::Marker;
use crate::types::walker::WorkItem;
use holdall_format::bson::refusal;
use holdall_format::model::{BsonWriter, Seq, Text};
use pyo3::exceptions::{PyKeyError, PyOverflowError, PyRecursionError, PyTypeError, PyValueError};
use pyo3::ffi;
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::{PyBytes, PyDict, PyFloat, PyInt, PyList, PyString, PyTuple};
use std::marker::PhantomData;
use std::ptr::addr_of_mut;
use std::sync::Arc;

/// BSON as PyMongo writes it.
pub struct ToPyMongo<W> {
    pymongo: Arc<PyMongo>,
    writer: PhantomData<fn() -> W>,
}

impl<W> ToPyMongo<W> {
    pub fn new(pymongo: Arc<PyMongo>) -> Self {
        ToPyMongo { pymongo, writer: PhantomData }
    }
}

impl<W: BsonWriter> Dialect for ToPyMongo<W> {
    type Writer = W;

    const BIG_INTS_ARE_VALUES: bool = true;
    const TAKES_ALL_FLAGS: bool = true;

    unsafe fn root(encoder: &mut Encoder<'_, Self>, root: Obj) -> Result<bool> {
        // SAFETY: the same contract as the hook's.
        unsafe { encoder.pymongo_root(root)? };
        Ok(true)
    }

    #[inline(always)]
    fn checks_keys(&self) -> bool {
        self.pymongo.check_keys
    }

    unsafe fn key(encoder: &mut Encoder<'_, Self>, key: Obj) -> Result<bool> {
        // SAFETY: the same contract as the hook's.
        unsafe { encoder.checked_key(key)? };
        Ok(true)
    }

    #[inline(always)]
    unsafe fn dict(encoder: &mut Encoder<'_, Self>, object: Obj, _: u32) -> Result<()> {
        // SAFETY: the same contract as the hook's.
        unsafe { encoder.schemaless_dict(object) }
    }

    unsafe fn value(encoder: &mut Encoder<'_, Self>, object: Obj, _: Type) -> Result<()> {
        // SAFETY: the same contract as the hook's.
        unsafe { encoder.pymongo_value(object) }
    }

    fn check_moment(microseconds: i64) -> Result<()> {
        // A datetime converted to UTC must still be one. In microseconds since 1970:
        const YEARS: std::ops::Range<i64> = -62_135_596_800_000_000..253_402_300_800_000_000;
        match YEARS.contains(&microseconds) {
            true => Ok(()),
            false => Err(PyOverflowError::new_err("date value out of range").into()),
        }
    }

    fn document(encoder: &mut Encoder<'_, Self>, document: &Bound<'_, PyAny>) -> Result<()> {
        encoder.pymongo_document(document)
    }

    fn not_text(py: Python<'_>, raised: Option<PyErr>, _: &str) -> Fault {
        raised.unwrap_or_else(|| invalid_string(py, "a pattern must be valid UTF-8")).into()
    }

    fn not_int(_: Python<'_>, raised: PyErr) -> Fault {
        raised.into()
    }

    fn not_int64(py: Python<'_>, raised: PyErr) -> Fault {
        match is_of_values(py, &raised) {
            true => refused(py, refusal::TOO_BIG).into(),
            false => raised.into(),
        }
    }
}

impl<W: BsonWriter> Encoder<'_, ToPyMongo<W>> {
    /// Writes the outermost object, a mapping. Its `_id` comes first, as servers want it.
    ///
    /// # Safety
    /// `root` is alive.
    unsafe fn pymongo_root(&mut self, root: Obj) -> Result<()> {
        // SAFETY: `root` is alive by contract; `object` holds it from here on.
        let object = unsafe { Bound::from_borrowed_ptr(self.py, root) };
        let id = pyo3::intern!(self.py, "_id");
        let Ok(dict) = object.cast::<PyDict>() else {
            return match is_mapping(&object)? {
                true => self.mapping(&object, object.get_item(id).if_taken()?),
                false => Err(no_mapping(&object).into()),
            };
        };
        // SAFETY: `root` is a dict, held by `object`; no Python code runs while its first key is borrowed.
        let first =
            unsafe { Position(0).next(root).filter(|(key, _)| text::is(*key)).and_then(|(key, _)| text::ascii(key)) };
        let ordered = match dict.get_item(id)? {
            Some(value) if first != Some(b"_id") => reordered(dict, &value)?,
            _ => owned(&object),
        };
        let ordered = self.keep(ordered);
        // SAFETY: `keep` holds `ordered` until the message is complete.
        unsafe {
            match object.is_exact_instance_of::<PyDict>() || ordered != root {
                true => self.open(ordered, shapes::NONE),
                false => {
                    self.dict_body(&owned(&object))?;
                    Ok(())
                }
            }
        }
    }

    /// Writes an object that is neither a leaf nor a dict, list, tuple or bytes.
    ///
    /// # Safety
    /// `object` is alive.
    unsafe fn pymongo_value(&mut self, object: Obj) -> Result<()> {
        // SAFETY: `object` is alive by contract; the bound reference holds it from here on.
        let object = unsafe { Bound::from_borrowed_ptr(self.py, object) };
        match self.known(&object)? {
            true => Ok(()),
            false => self.by_user(object),
        }
    }

    /// Writes an object for which PyMongo has a form. `false`: it has none.
    fn known(&mut self, object: &Bound<'_, PyAny>) -> Result<bool> {
        // SAFETY: `object` holds its class.
        let plan = unsafe { self.plan(ffi::Py_TYPE(object.as_ptr()))? };
        if let Some(marker) = bson_values::marker(object, &plan)? {
            bson_values::encode(self, marker, object)?;
            return Ok(true);
        }
        self.by_base(object)
    }

    /// Writes an object as the builtin that its class is derived from, or as a mapping. `false`: it is neither.
    fn by_base(&mut self, object: &Bound<'_, PyAny>) -> Result<bool> {
        let raw = object.as_ptr();
        let depth = self.depth();
        // SAFETY: `object` is a live reference; its type is checked before its content is read.
        unsafe {
            if ffi::PyDateTime_Check(raw) != 0 {
                self.moment(object)?;
            } else if Class::Uuid.get(object.py())?.is(object.get_type()) {
                self.pymongo_uuid(object)?;
            } else if object.is_instance_of::<PyInt>() {
                match int::value(raw) {
                    Some(value) => self.w.int(value),
                    None => return self.big(raw),
                }
            } else if object.is_instance_of::<PyFloat>() {
                self.w.float(float::value(raw));
            } else if object.is_instance_of::<PyDict>() {
                self.dict_body(&owned(object))?;
            } else if object.is_instance_of::<PyList>() {
                self.w.list(ffi::Py_SIZE(raw) as usize);
                self.items(raw, Seq::List);
            } else if object.is_instance_of::<PyTuple>() {
                self.w.list(ffi::Py_SIZE(raw) as usize);
                self.items(raw, Seq::Tuple);
            } else if object.is_instance_of::<PyBytes>() {
                self.w.bytes(bytes_of(raw));
            } else if object.is_instance_of::<PyString>() {
                self.bare_text(raw)?;
            } else if bson_values::is_pattern(object)? {
                bson_values::encode_regex(self, object)?;
            } else if is_mapping(object)? {
                self.mapping(object, None)?;
                self.given(depth, false)?;
            } else if object.is_instance(Class::Uuid.get(object.py())?)? {
                self.pymongo_uuid(object)?;
            } else {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Writes what the encoder for an object's class, or else the fallback, returns. The result is treated the same way, but
    /// the one that returned it is not asked again at once.
    #[cold]
    #[inline(never)]
    fn by_user(&mut self, object: Bound<'_, PyAny>) -> Result<()> {
        let pymongo = self.dialect.pymongo.clone();
        let (mut object, mut encoded, mut fallen_back) = (object, false, false);
        for _ in 0..MOST_REPLACEMENTS {
            let encoder = match &pymongo.encoders {
                Some(encoders) if !encoded => {
                    held(self.py, encoders).cast::<PyDict>().map_err(PyErr::from)?.get_item(object.get_type())?
                }
                _ => None,
            };
            let by_encoder = encoder.is_some();
            let fallback = pymongo.fallback.as_ref().filter(|_| !fallen_back).map(|known| held(self.py, known));
            let Some(function) = encoder.or(fallback) else { return Err(cannot_encode(&object).into()) };
            object = function.call1((object,))?;
            (encoded, fallen_back) = (by_encoder, !by_encoder);
            if self.replacement(&object)? {
                return Ok(());
            }
        }
        Err(PyRecursionError::new_err("type encoders and fallback gave what needs them again and again").into())
    }

    /// Writes what a function of the user returned. `false`: only another function can.
    fn replacement(&mut self, object: &Bound<'_, PyAny>) -> Result<bool> {
        let (raw, depth) = (object.as_ptr(), self.depth());
        // SAFETY: `object` is a live reference; the types compared with are static.
        let done = unsafe {
            let class = ffi::Py_TYPE(raw);
            let containers = [
                addr_of_mut!(ffi::PyDict_Type),
                addr_of_mut!(ffi::PyList_Type),
                addr_of_mut!(ffi::PyTuple_Type),
                addr_of_mut!(ffi::PyBytes_Type),
            ];
            if containers.contains(&class) {
                self.value(raw, isize::MAX)?;
                true
            } else {
                self.leaf(raw, isize::MAX)? || self.known(object)?
            }
        };
        self.given(depth, false)?;
        Ok(done)
    }

    /// Writes a document within a BSON value, such as the variables of code. Its keys are not checked.
    fn pymongo_document(&mut self, object: &Bound<'_, PyAny>) -> Result<()> {
        let depth = self.depth();
        if object.is_instance_of::<PyDict>() {
            self.dict_body(&owned(object))?;
        } else {
            // SAFETY: `object` holds its class.
            let plan = unsafe { self.plan(ffi::Py_TYPE(object.as_ptr()))? };
            if bson_values::marker(object, &plan)? == Some(Marker::RawDocument) {
                return bson_values::encode(self, Marker::RawDocument, object);
            }
            if !is_mapping(object)? {
                return Err(no_mapping(object).into());
            }
            self.mapping(object, None)?;
        }
        self.given(depth, true)
    }

    /// Writes what the mapping's own iteration gives. If there is an `id`, it comes first, and not again.
    fn mapping(&mut self, object: &Bound<'_, PyAny>, id: Option<Bound<'_, PyAny>>) -> Result<()> {
        let mut parts = Vec::new();
        let first = id.is_some();
        if let Some(id) = id {
            parts.extend([WorkItem::Key(owned(pyo3::intern!(self.py, "_id").as_any())), WorkItem::Value(owned(&id))]);
        }
        for key in object.try_iter()? {
            let key = key?;
            // Whatever the exception is, the key that the iteration gave is missing.
            let value = object.get_item(&key).if_taken()?.ok_or_else(|| PyKeyError::new_err(key.clone().unbind()))?;
            if !first || !key.cast::<PyString>().is_ok_and(|key| key.to_str().is_ok_and(|key| key == "_id")) {
                parts.extend([WorkItem::Key(owned(&key)), WorkItem::Value(owned(&value))]);
            }
        }
        self.w.dict(parts.len() / 2);
        self.then(parts);
        Ok(())
    }

    fn pymongo_uuid(&mut self, object: &Bound<'_, PyAny>) -> Result<()> {
        let py = object.py();
        match self.dialect.pymongo.uuid {
            STANDARD => bson_values::encode_uuid(self, object),
            UNSPECIFIED => Err(PyValueError::new_err(
                "cannot encode native uuid.UUID with UuidRepresentation.UNSPECIFIED: set uuid_representation, or convert it by \
                 Binary.from_uuid",
            )
            .into()),
            other => {
                // The bytes are in another order, which PyMongo knows.
                let binary = Class::Binary.get(py)?.call_method1("from_uuid", (object, other))?;
                bson_values::encode(self, Marker::Binary, &binary)
            }
        }
    }

    /// Writes a key that is not exactly a str, or checks one for what a server might refuse.
    ///
    /// # Safety
    /// `key` is alive.
    unsafe fn checked_key(&mut self, key: Obj) -> Result<()> {
        // SAFETY: `key` is alive by contract; the bound reference holds it from here on.
        let bound = unsafe { Bound::from_borrowed_ptr(self.py, key) };
        let Ok(string) = bound.cast::<PyString>() else {
            let class = class_name(&bound);
            let why = format_args!("documents must have only string keys, found a `{class}`");
            return Err(invalid_document(self.py, why).into());
        };
        let name = string.to_str()?;
        if self.dialect.pymongo.check_keys && self.unchecked == 0 && !name.contains('\0') {
            if name.starts_with('$') {
                return Err(invalid_document(self.py, "a key must not start with '$'").into());
            }
            if name.contains('.') {
                return Err(invalid_document(self.py, "a key must not contain '.'").into());
            }
        }
        self.w.key(Text::Utf8(name.as_bytes()));
        Ok(())
    }
}

fn is_mapping(object: &Bound<'_, PyAny>) -> PyResult<bool> {
    static MAPPING: PyOnceLock<Py<PyAny>> = PyOnceLock::new();
    object.is_instance(MAPPING.import(object.py(), "collections.abc", "Mapping")?)
}

fn no_mapping(object: &Bound<'_, PyAny>) -> PyErr {
    PyTypeError::new_err(format!("encoder expected a mapping type but got a `{}`", class_name(object)))
}

fn cannot_encode(object: &Bound<'_, PyAny>) -> PyErr {
    // Only an int that is too large gets here.
    if object.is_instance_of::<PyInt>() {
        return refused(object.py(), refusal::TOO_BIG);
    }
    let class = class_name(object);
    invalid_document(object.py(), format_args!("cannot encode an object of type `{class}`"))
}

/// The entries of a dict with `_id` first.
fn reordered(dict: &Bound<'_, PyDict>, id: &Bound<'_, PyAny>) -> Result<Owned> {
    let py = dict.py();
    let ordered = new::dict(py)?;
    ordered.set_item(pyo3::intern!(py, "_id"), id)?;
    // The key that is already in keeps its place.
    if dict.is_exact_instance_of::<PyDict>() {
        ordered.update(dict.as_mapping())?;
        return Ok(owned(ordered.as_any()));
    }
    // Bypasses the subclass's own iteration.
    let mut position = Position(0);
    // SAFETY: `dict` is a dict, whose table is read anew at each step; key and value get references before a key's code runs.
    unsafe {
        while let Some((key, value)) = position.next(dict.as_ptr()) {
            let (key, value) = (Owned::borrowed(key), Owned::borrowed(value));
            if ffi::PyDict_SetItem(ordered.as_ptr(), key.get(), value.get()) != 0 {
                return Err(raised());
            }
        }
    }
    Ok(owned(ordered.as_any()))
}

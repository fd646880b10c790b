//! Values for which schemaless formats have several forms, among which the user chooses.

use super::Encoder;
use crate::cpython::owned;
use crate::cpython::{dict, text, Obj, Owned};
use crate::encode::dialect::Dialect;
use crate::error::{encode, raised, refusal, Result};
use crate::memory::{vec, Vec};
use crate::schema::class::utf8;
use crate::types::textual;
use crate::types::walker::WorkItem;
use holdall_format::model::Text;
use holdall_format::Writer;
use pyo3::ffi;
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyString};

/// The options are msgspec's, except the last.
#[derive(Debug, Default, Clone)]
pub struct Forms {
    pub order: Order,
    pub uuid: UuidForm,
    pub decimal: DecimalForm,
    /// Objects of classes that declare no fields go to `enc_hook` too.
    pub hook_objects: bool,
}

#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub enum Order {
    /// The order of the dict, set or class.
    #[default]
    Own,
    /// Dicts and sets are sorted.
    Deterministic,
    /// The fields of classes are sorted as well.
    Sorted,
}

#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub enum UuidForm {
    #[default]
    Canonical,
    Hex,
    Bytes,
}

#[derive(Debug, Default, Clone)]
pub enum DecimalForm {
    #[default]
    Text,
    Number,
    /// The result of a function.
    Function(Owned),
}

impl<D: Dialect> Encoder<'_, D> {
    /// Writes a dict sorted by its keys.
    ///
    /// # Safety
    /// `object` is a dict.
    pub(crate) unsafe fn sorted_dict(&mut self, object: Obj) -> Result<()> {
        let mut pairs = Vec::new();
        let mut position = dict::Position(0);
        // SAFETY: `object` is a dict by contract; no Python code runs within this loop.
        while let Some((key, value)) = unsafe { position.next(object) } {
            // SAFETY: the dict holds both, and nothing has run since they were read.
            let (key, value) = unsafe { (Owned::borrowed(key), Owned::borrowed(value)) };
            pairs.push((key, value));
        }
        let mut sorted = Vec::with_capacity(pairs.len());
        for (key, value) in pairs {
            // SAFETY: `pairs` holds the key.
            if !unsafe { Bound::from_borrowed_ptr(self.py, key.get()) }.is_instance_of::<PyString>() {
                return Err(encode("Only dicts with str keys can be sorted"));
            }
            sorted.push((utf8(&key)?, WorkItem::Key(key), WorkItem::Value(value)));
        }
        self.w.dict(sorted.len());
        // SAFETY: `object` is alive by contract.
        let object = unsafe { Owned::borrowed(object) };
        self.then_for(object, flattened(sorted));
        Ok(())
    }

    /// Writes the members of a set whose head was written; in order if that was requested.
    ///
    /// # Safety
    /// `set` is a set.
    pub(crate) unsafe fn schemaless_members(&mut self, set: Obj) -> Result<()> {
        if self.options.forms.order == Order::Own {
            // SAFETY: `set` is a set by contract.
            return unsafe { self.members(set) };
        }
        // SAFETY: `set` is a set by contract. The list is new, and the work items hold its items.
        unsafe {
            let list = Owned::new(ffi::PySequence_List(set)).ok_or_else(raised)?;
            if ffi::PyList_Sort(list.get()) != 0 {
                refusal()?;
                return Err(encode("can't sort a set: its members have no order"));
            }
            let len = ffi::PyList_GET_SIZE(list.get());
            let item = |at| WorkItem::Value(Owned::borrowed(ffi::PyList_GET_ITEM(list.get(), at)));
            self.then_for(Owned::borrowed(set), (0..len).map(item).collect::<Vec<_>>());
        }
        Ok(())
    }

    /// Sorts pairs of fields and values by the fields' keys.
    pub(crate) fn sort_fields(&self, parts: Vec<WorkItem>) -> Result<Vec<WorkItem>> {
        if self.options.forms.order != Order::Sorted {
            return Ok(parts);
        }
        let mut sorted = Vec::with_capacity(parts.len() / 2);
        let mut parts = parts.into_iter();
        while let (Some(key), Some(value)) = (parts.next(), parts.next()) {
            let name = match &key {
                // SAFETY: the work item holds the name.
                WorkItem::Field(name) | WorkItem::Key(name) if unsafe { text::is(name.get()) } => utf8(name)?,
                _ => return Err(encode("Only fields with str names can be sorted")),
            };
            sorted.push((name, key, value));
        }
        Ok(flattened(sorted))
    }

    /// Writes a UUID in a format without UUIDs. `false`: its text is to be written.
    pub(crate) fn schemaless_uuid(&mut self, object: &Bound<'_, PyAny>) -> Result<bool> {
        match self.options.forms.uuid {
            UuidForm::Canonical => {
                let Some(bytes) = textual::uuid_bytes(object)? else { return Ok(false) };
                self.w.text(Text::Ascii(&textual::uuid_text(&bytes)));
            }
            UuidForm::Hex => {
                let hex = object.getattr(intern!(object.py(), "hex"))?;
                self.then(vec![WorkItem::Value(owned(&hex))]);
            }
            UuidForm::Bytes => {
                let bytes = object.getattr(intern!(object.py(), "bytes"))?;
                self.w.bytes(bytes.cast::<PyBytes>().map_err(PyErr::from)?.as_bytes());
            }
        }
        Ok(true)
    }

    /// Writes a decimal number in a format without them. `false`: its text is to be written.
    pub(crate) fn schemaless_decimal(&mut self, object: &Bound<'_, PyAny>) -> Result<bool> {
        match &self.options.forms.decimal {
            DecimalForm::Text => return Ok(false),
            DecimalForm::Number => {
                let number: f64 = object.call_method0("__float__")?.extract()?;
                self.w.float(number);
            }
            DecimalForm::Function(function) => {
                let made = crate::classes::registry::call(function, object.as_ptr())?;
                // The function's result may need the function again; the number of times is bounded.
                self.replaced(object.as_ptr(), made)?;
            }
        }
        Ok(true)
    }
}

fn flattened(parts: Vec<(Vec<u8>, WorkItem, WorkItem)>) -> Vec<WorkItem> {
    // A stable sort would allocate memory that isn't requested first.
    let mut sorted: Vec<_> = parts.into_iter().enumerate().collect();
    sorted.sort_unstable_by(|(at, (one, ..)), (place, (other, ..))| one.cmp(other).then(at.cmp(place)));
    sorted.into_iter().flat_map(|(_, (_, key, value))| [key, value]).collect()
}

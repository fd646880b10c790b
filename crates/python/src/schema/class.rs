//! A class of a schema: its fields in order, and the values of those that a message lacks.

use super::node::Scalar;
use super::{item, optional, NodeId};
use crate::cpython::owned;
use crate::cpython::{Obj, Owned};
use crate::error::Asked;
use crate::memory::{HashMap, Vec};
use pyo3::ffi;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList, PyString};

/// Fields by name. Messages look names up and never add one, so a fast hash without a secret is safe.
type Names = HashMap<Vec<u8>, u32, rustc_hash::FxBuildHasher>;

#[derive(Debug)]
pub struct Class {
    /// `None` for a TypedDict, whose instances are dicts.
    pub class: Option<Owned>,
    /// Its name in errors.
    pub name: String,
    pub kind: ClassKind,
    pub fields: Vec<Field>,
    /// Fields by their keys in schemaless formats, as UTF-8, old ones included; and by their Python names.
    pub by_key: Names,
    pub by_name: Names,
    pub array_like: bool,
    pub forbid_unknown: bool,
    /// Instances keep fields that the class has not in their `__dict__`.
    pub keeps_unknown: bool,
    /// It is registered with a resolver.
    pub resolves: bool,
    /// The key and value that mark its instances in schemaless formats.
    pub tag: Option<(Owned, Owned)>,
    /// Values of the tag in older data.
    pub other_tags: Vec<Owned>,
    /// How schemaless formats tell its version, if it is registered with `upgrade` or a key for the version.
    pub versions: Option<Versions>,
    /// Methods to call, without arguments, before the first field and after the last.
    pub pre_init: Option<Owned>,
    pub post_init: Option<Owned>,
    /// The arguments of the method after the last field: defaults of pseudo-fields.
    pub init_vars: Vec<Option<Owned>>,
    /// Fields whose values go through a function.
    pub converters: Vec<(u32, Owned)>,
    /// Called with the finished instance.
    pub validate: Option<Owned>,
    /// Errors then name what else can be registered for it.
    pub is_registered: bool,
}

/// The version of a class's instances in schemaless formats.
#[derive(Debug)]
pub struct Versions {
    /// The key that holds it.
    pub key: Option<Owned>,
    /// That of the class today.
    pub own: u64,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ClassKind {
    Fields,
    NamedTuple,
    TypedDict,
    /// Validates and builds instances by its own code.
    Pydantic,
}

#[derive(Debug)]
pub struct Field {
    /// Interned, as attribute names are.
    pub name: Owned,
    /// Its key in schemaless formats.
    pub key: Owned,
    /// Other keys that mean it: what it was called before.
    pub old_keys: Vec<Owned>,
    pub node: NodeId,
    pub missing: Missing,
}

/// The value of a field that the message lacks.
#[derive(Debug)]
pub enum Missing {
    Refused,
    Default(Owned),
    Factory(Owned),
    /// A factory that is called with the instance.
    FactoryOfSelf(Owned),
    /// No value: the class has one, or the field is optional.
    Absent,
}

impl Class {
    pub fn compile(described: &Bound<'_, PyDict>) -> PyResult<Class> {
        let kind: String = item(described, "kind")?;
        let kind = match kind.as_str() {
            "namedtuple" => ClassKind::NamedTuple,
            "typeddict" => ClassKind::TypedDict,
            "pydantic" => ClassKind::Pydantic,
            _ => ClassKind::Fields,
        };
        let fields: Vec<Field> = item::<Bound<'_, PyList>>(described, "fields")?
            .iter()
            .map(|field| Field::compile(&field.cast_into()?))
            .collect::<PyResult<_>>()?;
        if fields.len() >= usize::from(u16::MAX) - 1 {
            return Err(pyo3::exceptions::PyTypeError::new_err(
                "a class with more than 65,000 fields can't be loaded by type",
            ));
        }
        let index = |of: fn(&Field) -> &Owned| -> PyResult<Names> {
            (0..).zip(&fields).map(|(at, field)| Ok((utf8(of(field))?, at))).collect()
        };
        let (mut by_key, by_name) = (index(|field| &field.key)?, index(|field| &field.name)?);
        for (at, field) in (0..).zip(&fields) {
            for old in &field.old_keys {
                by_key.insert(utf8(old)?, at);
            }
        }
        let class = item::<Bound<'_, PyAny>>(described, "cls")?;
        let method =
            |name: &str| -> PyResult<Option<Owned>> { Ok(optional(described, name)?.map(|name| owned(&name))) };
        let mut converters = Vec::new();
        if let Some(described) = optional(described, "converters")? {
            for (name, function) in described.cast::<PyDict>()? {
                if let Some(&at) = by_name.get(name.cast::<PyString>()?.to_str()?.as_bytes()) {
                    converters.push((at, owned(&function)));
                }
            }
        }
        let mut init_vars = Vec::new();
        if let Some(described) = optional(described, "init_vars")? {
            for pseudo in described.try_iter()? {
                init_vars.push(pseudo?.get_item(1).if_taken()?.map(|default| owned(&default)));
            }
        }
        let tag = match optional(described, "tag")? {
            Some(tag) => Some((owned(&tag.get_item(0)?), owned(&tag.get_item(1)?))),
            None => None,
        };
        let versions = match optional(described, "version")? {
            Some(versions) => {
                let (key, own): (Option<Bound<'_, PyString>>, u64) = versions.extract()?;
                Some(Versions { key: key.map(|key| interned(&key)).transpose()?, own })
            }
            None => None,
        };
        Ok(Class {
            class: (kind != ClassKind::TypedDict).then(|| owned(&class)),
            name: item(described, "name")?,
            kind,
            by_key,
            by_name,
            array_like: item(described, "array_like")?,
            forbid_unknown: item(described, "forbid_unknown")?,
            keeps_unknown: match optional(described, "keeps_unknown")? {
                Some(keeps) => keeps.is_truthy()? && kind == ClassKind::Fields,
                None => false,
            },
            resolves: optional(described, "resolves")?.map_or(Ok(false), |resolves| resolves.is_truthy())?,
            tag,
            other_tags: listed(described, "other_tags")?,
            versions,
            pre_init: method("pre_init")?,
            post_init: method("post_init")?,
            init_vars,
            converters,
            validate: method("validate")?,
            is_registered: optional(described, "registered")?.is_some(),
            fields,
        })
    }

    /// Why an instance without a field is refused.
    pub fn lacks(&self, name: &str) -> String {
        let remedy =
            if self.is_registered { ": give it a default, or `register` the class with `upgrade`" } else { "" };
        format!("Object missing required field `{name}`{remedy}")
    }

    /// Why a tag that is none of the class's is refused.
    pub fn wrong_tag(&self) -> &'static str {
        match self.is_registered {
            true => "Invalid tag: if it is an old one, `register` its class with it in `aliases`",
            false => "Invalid tag",
        }
    }

    /// For a class with a registered `decode`: the scalar that calls it.
    pub fn registered(&self, py: Python<'_>) -> PyResult<Option<Scalar>> {
        let Some(class) = &self.class else { return Ok(None) };
        let decode = super::registered_decode(py, class)?;
        Ok(decode.map(|decode| Scalar::Registered { class: class.clone(), decode }))
    }

    pub fn is(&self, class: *mut ffi::PyTypeObject) -> bool {
        self.class.as_ref().is_some_and(|own| own.get() == class.cast())
    }

    /// Whether dicts of schemaless formats may have to be built as dicts before they become instances.
    pub fn evolves(&self) -> bool {
        self.versions.is_some()
            || self.resolves
            || self.keeps_unknown
            || (self.forbid_unknown && self.kind == ClassKind::Pydantic)
    }

    /// Whether a key in a schemaless format is that of the version.
    pub fn is_version(&self, key: &[u8]) -> PyResult<bool> {
        let own = self.versions.as_ref().and_then(|versions| versions.key.as_ref());
        Ok(own.map(utf8).transpose()?.is_some_and(|own| own == key))
    }

    /// Whether anything has to be called after the last field.
    pub fn goes_on(&self) -> bool {
        self.post_init.is_some() || !self.converters.is_empty() || self.validate.is_some()
    }

    pub fn visit(&self, see: &mut impl FnMut(Obj)) {
        let mut show = |object: &Owned| see(object.get());
        for field in &self.fields {
            show(&field.name);
            show(&field.key);
            field.old_keys.iter().for_each(&mut show);
            if let Missing::Default(of) | Missing::Factory(of) | Missing::FactoryOfSelf(of) = &field.missing {
                show(of);
            }
        }
        self.class.iter().chain(&self.pre_init).chain(&self.post_init).chain(&self.validate).for_each(&mut show);
        self.init_vars.iter().flatten().for_each(&mut show);
        self.converters.iter().for_each(|(_, function)| show(function));
        self.other_tags.iter().for_each(&mut show);
        self.versions.iter().filter_map(|versions| versions.key.as_ref()).for_each(&mut show);
        self.tag.iter().for_each(|(field, value)| {
            show(field);
            show(value);
        });
    }
}

/// The values of an entry that is a list; none if there is no such entry.
fn listed(described: &Bound<'_, PyDict>, name: &str) -> PyResult<Vec<Owned>> {
    let Some(all) = optional(described, name)? else { return Ok(Vec::new()) };
    all.try_iter()?.map(|one| Ok(owned(&one?))).collect()
}

impl Field {
    /// Its keys in schemaless formats, its own first.
    pub fn keys(&self) -> impl Iterator<Item = &Owned> {
        std::iter::once(&self.key).chain(&self.old_keys)
    }

    fn compile(described: &Bound<'_, PyDict>) -> PyResult<Field> {
        let flag =
            |name: &str| -> PyResult<bool> { optional(described, name)?.map_or(Ok(false), |flag| flag.is_truthy()) };
        let missing = if flag("absent_ok")? || flag("class_default")? {
            Missing::Absent
        } else if let Some(default) = described.get_item("default")? {
            Missing::Default(owned(&default))
        } else if let Some(factory) = optional(described, "factory")? {
            if flag("factory_self")? {
                Missing::FactoryOfSelf(owned(&factory))
            } else {
                Missing::Factory(owned(&factory))
            }
        } else {
            Missing::Refused
        };
        Ok(Field {
            name: interned(&item::<Bound<'_, PyString>>(described, "name")?)?,
            key: interned(&item::<Bound<'_, PyString>>(described, "key")?)?,
            old_keys: listed(described, "old_keys")?,
            node: item(described, "node")?,
            missing,
        })
    }
}

/// A string as UTF-8. Lone surrogates, which no field's name has, are encoded like other characters.
pub fn utf8(text: &Owned) -> PyResult<Vec<u8>> {
    // SAFETY: `text` holds the object, and whoever has an `Owned` holds the GIL.
    let text = unsafe { Bound::from_borrowed_ptr(Python::assume_attached(), text.get()) };
    let text = text.cast::<PyString>()?;
    match text.to_str() {
        Ok(utf8) => Ok(Vec::from(utf8.as_bytes())),
        // If memory ran out, this call fails in the same way.
        Err(_) => {
            let encoded = text.call_method1("encode", ("utf-8", "surrogatepass"))?;
            Ok(Vec::from(encoded.cast::<pyo3::types::PyBytes>()?.as_bytes()))
        }
    }
}

fn interned(text: &Bound<'_, PyString>) -> PyResult<Owned> {
    let mut raw = text.clone().into_any().into_ptr();
    // SAFETY: `raw` is a string and a reference of ours, which interning may exchange for an equal string.
    unsafe {
        ffi::PyUnicode_InternInPlace(&mut raw);
        Owned::new(raw).ok_or_else(|| PyErr::fetch(text.py()))
    }
}

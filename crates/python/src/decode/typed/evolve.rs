//! Dicts of schemaless formats that an older version of their class was stored as: they are built as dicts, go through
//! the registered `upgrade`, and become instances after that.

use super::super::frame::Seen;
use super::super::Decoder;
use super::choose::Ahead;
use super::convert::is_dict;
use super::members::place;
use crate::classes::registry;
use crate::cpython::{new, owned, text, Owned};
use crate::decode::dialect::Dialect;
use crate::error::{decode, invalid, Result, Step};
use crate::memory::{vec, HashSet, Vec};
use crate::schema::class::{utf8, Class, ClassKind, Missing, Versions};
use crate::schema::coerce::expected;
use crate::schema::node::Node;
use crate::schema::NodeId;
use crate::shapes::{put, Build, Place};
use crate::types::resolver::is_skip;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyString};

/// What a dict says about the version that it was stored by.
#[derive(Default)]
struct Told {
    /// Under the key of the version.
    version: Option<u64>,
    /// The tag is one of older data.
    old_tag: bool,
    /// Which fields it has.
    fields: Vec<bool>,
    /// A pydantic model's required field is missing.
    lacks: bool,
    /// There are keys that mean no field.
    unknown: bool,
}

impl Told {
    fn nothing(class: &Class) -> Told {
        Told { fields: vec![false; class.fields.len()], ..Told::default() }
    }

    /// The version that the dict was stored by, if that is another than the class's own.
    fn other_version(&self, class: &Class, versions: &Versions) -> Option<u64> {
        let lacks = || {
            self.lacks
                || class
                    .fields
                    .iter()
                    .zip(&self.fields)
                    .any(|(field, has)| !has && matches!(field.missing, Missing::Refused))
        };
        match (self.version, &versions.key) {
            (Some(version), _) => (version != versions.own || self.old_tag).then_some(version),
            // Before there was a key for it.
            (None, Some(_)) => (versions.own != 1 || self.old_tag).then_some(1),
            (None, None) => (self.old_tag || lacks()).then_some(1),
        }
    }
}

impl<'i, D: Dialect<'i>> Decoder<'i, D> {
    /// Whether a dict was stored by another version of the class than today's. Its `len` keys come next, or are `names`.
    #[inline]
    pub(crate) fn is_outdated(&mut self, index: u32, len: usize, names: Option<&[Owned]>) -> Result<bool> {
        let class = self.class(index)?;
        if self.resolves(class) {
            return Ok(true);
        }
        if !class.evolves() {
            return Ok(false);
        }
        let told = self.ahead(|decoder| decoder.told(class, len, names))?;
        let other = class.versions.as_ref().and_then(|versions| told.other_version(class, versions));
        Ok(other.is_some() || (class.keeps_unknown && told.unknown))
    }

    fn told(&mut self, class: &Class, len: usize, names: Option<&[Owned]>) -> Result<Told> {
        let mut told = Told::nothing(class);
        let tag = class.tag.as_ref().map(|(tag, _)| utf8(tag)).transpose()?;
        for at in 0..len {
            let name = match names.and_then(|names| names.get(at)) {
                Some(name) => utf8(name)?,
                None => match self.schemaless_key()? {
                    // SAFETY: `name` is an owned reference.
                    Some(name) if unsafe { text::is(name.get()) } => utf8(&name)?,
                    // The keys of an instance are text. After `None` one token of a container was read.
                    Some(_) => Vec::new(),
                    None => return Ok(told),
                },
            };
            if let (Some(versions), true) = (&class.versions, class.is_version(&name)?) {
                let value = self.schemaless_value()?;
                told.version = Some(self.version_of(value.as_ref(), versions)?);
            } else if tag.as_ref() == Some(&name) {
                let value = self.schemaless_value()?;
                told.old_tag = self.is_old_tag(class, value.as_ref())?;
            } else {
                match class.by_key.get(&name) {
                    Some(&field) => told.fields[field as usize] = true,
                    None => told.unknown = true,
                }
                self.skip()?;
            }
        }
        Ok(told)
    }

    fn version_of(&self, value: Option<&Owned>, versions: &Versions) -> Result<u64> {
        let found = value.map(|value| self.rules.bound(value)).and_then(|value| value.extract::<u64>().ok());
        found.filter(|version| *version > 0).ok_or_else(|| {
            let fault = invalid("Expected a version of the class, an `int` from 1");
            match &versions.key {
                Some(key) => fault.within(|| Step::Field(key.clone())),
                None => fault,
            }
        })
    }

    fn is_old_tag(&self, class: &Class, value: Option<&Owned>) -> Result<bool> {
        let Some(value) = value else { return Ok(false) };
        for old in &class.other_tags {
            if self.rules.bound(old).eq(self.rules.bound(value))? {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// The instance for a finished dict that was stored by another version of its class. `None`: it is no such dict.
    #[inline]
    pub(crate) fn evolved(&mut self, object: &Owned, id: NodeId) -> Result<Option<Owned>> {
        let node = self.rules.node(id);
        match node.classes.is_empty() || !is_dict(object) {
            true => Ok(None),
            false => self.evolved_dict(object, node, id),
        }
    }

    #[inline(never)]
    fn evolved_dict(&mut self, object: &Owned, node: &'i Node, id: NodeId) -> Result<Option<Owned>> {
        let Some(schema) = self.rules.schema else { return Ok(None) };
        let changes = |&class: &u32| schema.classes[class as usize].evolves();
        if self.options.resolver.is_none() && !node.classes.iter().any(changes) {
            return Ok(None);
        }
        let dict = self.dict_of(object)?;
        if let Some(made) = self.resolved_dict(&dict, node, id, 0)? {
            return Ok(Some(made));
        }
        match self.class_of_dict(&dict, node)? {
            Some(class) if self.changes(self.class(class)?) => self.instance_of_dict(class, &dict, 0).map(Some),
            _ => Ok(None),
        }
    }

    /// Whether dicts are built as dicts before they become instances of the class.
    fn changes(&self, class: &Class) -> bool {
        class.evolves() || (self.options.resolver.is_some() && class.kind == ClassKind::Fields && !class.array_like)
    }

    pub(crate) fn dict_of(&self, object: &Owned) -> Result<Bound<'i, PyDict>> {
        self.rules.bound(object).cast_into::<PyDict>().map_err(|_| decode("a dict out of place", self.here()))
    }

    /// Which class of the node a finished dict is.
    pub(crate) fn class_of_dict(&mut self, dict: &Bound<'i, PyDict>, node: &'i Node) -> Result<Option<u32>> {
        if let ([only], true) = (&node.classes[..], node.map.is_none()) {
            return Ok(Some(*only));
        }
        let (mut keys, mut tagged) = (HashSet::new(), None);
        for (key, value) in dict {
            if !key.is_instance_of::<PyString>() {
                continue;
            }
            let name = utf8(&owned(&key))?;
            if let (Some(tags), Some(field)) = (&node.tags, &node.tag_field) {
                if utf8(field)? == name {
                    tagged = Some((self.tagged(tags, &owned(&value))?, self.here()));
                }
            }
            keys.insert(name);
        }
        self.choose(node, &Ahead { tagged, keys }, &node.classes)
    }

    /// An instance of a class, made of a finished dict with its keys in a schemaless format.
    pub(crate) fn instance_of_dict(&mut self, index: u32, dict: &Bound<'i, PyDict>, depth: usize) -> Result<Owned> {
        let class = self.class(index)?;
        let fields = new::dict(self.py)?;
        let mut told = Told::nothing(class);
        let mut tag = None;
        for (key, value) in dict {
            if !key.is_instance_of::<PyString>() {
                fields.set_item(key, value)?;
                continue;
            }
            let name = utf8(&owned(&key))?;
            let is_tag = class.tag.as_ref().map(|(tag, _)| utf8(tag)).transpose()?.is_some_and(|tag| tag == name);
            if let (Some(versions), true) = (&class.versions, class.is_version(&name)?) {
                told.version = Some(self.version_of(Some(&owned(&value)), versions)?);
            } else if is_tag {
                self.same_tag(class, Some(&owned(&value)))?;
                told.old_tag = self.is_old_tag(class, Some(&owned(&value)))?;
                tag = Some(value);
            } else if let Some(&field) = class.by_key.get(&name) {
                told.fields[field as usize] = true;
                fields.set_item(self.rules.bound(&class.fields[field as usize].name), value)?;
            } else {
                fields.set_item(key, value)?;
            }
        }
        let Some(of) = &class.class else { return self.built(index, &fields, depth) };
        let Some(known) = registry::by_class(self.py, of.get().cast())? else {
            return self.built(index, &fields, depth);
        };
        if class.kind == ClassKind::Pydantic {
            told.lacks = self.renamed_for_pydantic(of, &known.renames, &fields)?;
        }
        let other = class.versions.as_ref().and_then(|versions| told.other_version(class, versions));
        let Some(version) = other else { return self.built(index, &fields, depth) };
        let upgraded = known.upgraded(fields, version, tag.as_ref())?;
        let upgraded = upgraded.cast_into::<PyDict>();
        let fields = upgraded.map_err(|_| decode("`upgrade` gave no dict of fields", self.here()))?;
        self.built(index, &fields, depth)
    }

    /// Renames the fields of a pydantic model, whose keys only the model itself knows. Returns whether a required one is missing.
    fn renamed_for_pydantic(
        &self,
        class: &Owned,
        renames: &[(Owned, Owned)],
        fields: &Bound<'i, PyDict>,
    ) -> Result<bool> {
        for (old, new) in renames {
            let (old, new) = (self.rules.bound(old), self.rules.bound(new));
            if let (Some(value), false) = (fields.get_item(&old)?, fields.contains(&new)?) {
                fields.del_item(&old)?;
                fields.set_item(&new, value)?;
            }
        }
        let helpers = self.py.import("holdall._annotations.fields")?;
        let required = helpers.call_method1("pydantic_keys", (self.rules.bound(class),))?.get_item(0)?;
        for key in required.try_iter()? {
            if !fields.contains(key?)? {
                return Ok(true);
            }
        }
        Ok(false)
    }

    fn check_keys_of_pydantic(&self, class: &Class, fields: &Bound<'i, PyDict>) -> Result<()> {
        let Some(of) = &class.class else { return Ok(()) };
        let helpers = self.py.import("holdall._annotations.fields")?;
        let known = helpers.call_method1("pydantic_keys", (self.rules.bound(of),))?.get_item(1)?;
        for key in fields.keys() {
            if !known.contains(&key)? {
                let name = if key.is_instance_of::<PyString>() { utf8(&owned(&key))? } else { Vec::new() };
                return Err(invalid(super::shapes::unknown(&name)));
            }
        }
        Ok(())
    }

    /// An instance of a class, made of its fields by name.
    pub(crate) fn built(&mut self, index: u32, fields: &Bound<'i, PyDict>, depth: usize) -> Result<Owned> {
        let class = self.class(index)?;
        if class.kind == ClassKind::Pydantic {
            if class.forbid_unknown {
                self.check_keys_of_pydantic(class, fields)?;
            }
            let made = self.rules.by_pydantic(class.class.as_ref(), &owned(fields.as_any()))?;
            return made.ok_or_else(|| expected(&class.name, "dict"));
        }
        let shape = self.members_shape(index)?;
        let Build::Typed(typed) = &shape.build else { return Err(decode("a class out of place", self.here())) };
        self.charge(shape.bytes)?;
        let object = self.fresh(typed, class, &shape)?;
        let mut seen = Seen::default();
        for (name, value) in fields {
            let key = if name.is_instance_of::<PyString>() { utf8(&owned(&name))? } else { Vec::new() };
            let Some(&field) = class.by_name.get(&key) else {
                if class.forbid_unknown {
                    return Err(invalid(super::shapes::unknown(&key)));
                }
                if class.keeps_unknown && !key.is_empty() {
                    let (name, value) = (owned(&name), owned(&value));
                    // SAFETY: `object` is held; the registration was refused for instances without a `__dict__`.
                    unsafe { put(object.get(), &Place::Hidden(name), value, self.here())? };
                }
                continue;
            };
            let member = &typed.steps[field as usize];
            let value = self
                .converted(member.node, owned(&value), depth + 1)
                .map_err(|fault| fault.within(|| Step::Field(class.fields[field as usize].name.clone())))?;
            if is_skip(value.get()) {
                continue;
            }
            // SAFETY: `object` is held, and `fresh` created it as an instance of the places' class.
            unsafe { place(object.get(), &member.place, value, self.here())? };
            seen.add(field as usize);
        }
        self.after_last(typed, class, &object, seen)?;
        Ok(object)
    }
}

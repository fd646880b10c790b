//! Dicts that stand where a type wants a class, on which a resolver decides: in schemaless formats, and of hold's dicts.

use super::super::Decoder;
use crate::classes::registry;
use crate::cpython::{new, owned, Owned};
use crate::decode::decided::with_names;
use crate::decode::dialect::Dialect;
use crate::error::Result;
use crate::memory::Vec;
use crate::schema::class::{utf8, Class};
use crate::schema::node::Node;
use crate::schema::NodeId;
use crate::shapes::Shape;
use crate::types;
use crate::types::resolver::{is_skip, Answer, Stored};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyString, PyTuple};
use std::rc::Rc;

/// A dict taken apart: what says its class and version, and its fields.
struct Parted<'i> {
    tag: Option<Bound<'i, PyAny>>,
    version: Option<u64>,
    fields: Bound<'i, PyDict>,
    /// The same for all dicts with these keys, tag and version.
    layout: Vec<u8>,
}

impl<'i, D: Dialect<'i>> Decoder<'i, D> {
    /// Whether a resolver is asked about dicts that stand for the class.
    pub(crate) fn resolves(&self, class: &Class) -> bool {
        class.resolves || self.options.resolver.is_some()
    }

    /// What resolvers make of a finished dict. `None`: they have nothing to say.
    pub(crate) fn resolved_dict(
        &mut self,
        dict: &Bound<'i, PyDict>,
        node: &'i Node,
        id: NodeId,
        depth: usize,
    ) -> Result<Option<Owned>> {
        let only = match (&node.classes[..], &node.map) {
            ([only], None) => Some(*only),
            _ => None,
        };
        if let Some(resolver) = &self.options.resolver {
            let parted = self.parted(dict, only, node)?;
            let answer = self.answer_on(resolver, &parted, only, 0)?;
            if let Some(made) = self.dict_by(&answer, only, parted, node, id, depth)? {
                return Ok(Some(made));
            }
        }
        let Some(schema) = self.rules.schema else { return Ok(None) };
        if !node.classes.iter().any(|&class| schema.classes[class as usize].resolves) {
            return Ok(None);
        }
        let index = match only {
            Some(only) => only,
            None => match self.class_of_dict(dict, node)? {
                Some(index) => index,
                None => return Ok(None),
            },
        };
        let Some(class) = &self.class(index)?.class else { return Ok(None) };
        let Some(known) = registry::by_class(self.py, class.get().cast())? else { return Ok(None) };
        let Some(resolver) = &known.resolver else { return Ok(None) };
        let parted = self.parted(dict, Some(index), node)?;
        let answer = self.answer_on(resolver, &parted, Some(index), known.serial)?;
        self.dict_by(&answer, Some(index), parted, node, id, depth)
    }

    /// A dict's tag, version and fields. If its class is known, keys that mean fields have the names of those.
    fn parted(&self, dict: &Bound<'i, PyDict>, index: Option<u32>, node: &Node) -> Result<Parted<'i>> {
        let class = index.map(|index| self.class(index)).transpose()?;
        let tag_field = match class {
            Some(class) => class.tag.as_ref().map(|(tag, _)| tag),
            None => node.tag_field.as_ref(),
        };
        let tag_field = tag_field.map(utf8).transpose()?;
        let mut parted = Parted { tag: None, version: None, fields: new::dict(self.py)?, layout: Vec::new() };
        for (key, value) in dict {
            if !key.is_instance_of::<PyString>() {
                parted.fields.set_item(key, value)?;
                continue;
            }
            let name = utf8(&owned(&key))?;
            if tag_field.as_ref() == Some(&name) {
                parted.layout.extend_from_slice(&utf8(&owned(value.repr()?.as_any()))?);
                parted.tag = Some(value);
            } else if let (Some(class), true) = (class, class.map_or(Ok(false), |class| class.is_version(&name))?) {
                parted.version = class.versions.as_ref().and_then(|_| value.extract::<u64>().ok());
                parted.layout.extend_from_slice(&parted.version.unwrap_or_default().to_le_bytes());
            } else {
                let field = class.and_then(|class| class.by_key.get(&name).map(|&at| &class.fields[at as usize].name));
                match field {
                    Some(field) => parted.fields.set_item(self.rules.bound(field), value)?,
                    None => parted.fields.set_item(key, value)?,
                }
            }
            parted.layout.extend_from_slice(&name);
            parted.layout.extend_from_slice(&[0]);
        }
        Ok(parted)
    }

    /// A resolver's answer on the layout of a dict, for which it is asked once in a message.
    fn answer_on(&mut self, resolver: &Owned, parted: &Parted<'i>, index: Option<u32>, by: u64) -> Result<Rc<Answer>> {
        let mut key = parted.layout.clone();
        key.extend_from_slice(&by.to_le_bytes());
        key.extend_from_slice(&index.unwrap_or(u32::MAX).to_le_bytes());
        if let Some(known) = self.memo().answers.get(&key) {
            return Ok(known.clone());
        }
        let at = self.here();
        let class = index.map(|index| self.class(index)).transpose()?;
        let name = parted.tag.as_ref().filter(|tag| tag.is_instance_of::<PyString>());
        let mut is_alias = false;
        if let (Some(class), Some(name)) = (class, name) {
            for old in &class.other_tags {
                is_alias = is_alias || self.rules.bound(old).eq(name)?;
            }
        }
        let names = PyTuple::new(self.py, parted.fields.keys())?;
        let cls = class.and_then(|class| class.class.as_ref()).map(|class| self.rules.bound(class));
        let stored = Stored::new(name, is_alias, parted.version, "dict", &names, cls.as_ref());
        let answer = Rc::new(self.ask(resolver, stored, parted.fields.len(), at)?);
        self.memo().answers.insert(key, answer.clone());
        Ok(answer)
    }

    /// What an answer makes of a dict. `None`: as without a resolver.
    fn dict_by(
        &mut self,
        answer: &Answer,
        index: Option<u32>,
        parted: Parted<'i>,
        node: &'i Node,
        id: NodeId,
        depth: usize,
    ) -> Result<Option<Owned>> {
        let at = self.here();
        let stated = parted.tag.as_ref().filter(|tag| tag.is_instance_of::<PyString>());
        let name = match (stated, index) {
            (Some(tag), _) => tag.clone(),
            (None, Some(index)) => new::text(self.py, &self.class(index)?.name)?.into_any(),
            (None, None) => new::text(self.py, &node.name)?.into_any(),
        };
        let mut shape = Shape::of_object(Vec::new(), parted.version.unwrap_or(0));
        shape.type_name = Some(owned(&name));
        let made = match answer {
            Answer::Default => return Ok(None),
            Answer::Use { class, renames } => {
                return self.dict_as(class, renames, index, parted, &shape, id, depth);
            }
            Answer::Value(value) => value.clone(),
            answer => {
                let record = types::record::of_fields(self.py, &shape, &parted.fields)?;
                let answer = match answer {
                    Answer::ByValue(function) => {
                        self.charge(256)?;
                        let made = registry::call(function, record.get())?;
                        match Answer::of(&self.rules.bound(&made))? {
                            None => return self.rules.coerce(id, made).map(Some),
                            Some(Answer::Default) => return Ok(None),
                            Some(Answer::Use { class, renames }) => {
                                let (fields, _) = types::record::content(self.py, &record)?;
                                let parted = Parted { fields, ..parted };
                                return self.dict_as(&class, &renames, index, parted, &shape, id, depth);
                            }
                            Some(answer) => answer,
                        }
                    }
                    Answer::Record => Answer::Record,
                    Answer::Skip => Answer::Skip,
                    Answer::Refuse(why) => Answer::Refuse(crate::memory::format!("{why}")),
                    _ => return Ok(None),
                };
                self.answered(answer, &record, shape.stored_name()?, at)?
            }
        };
        match is_skip(made.get()) {
            true => Ok(Some(made)),
            false => self.rules.coerce(id, made).map(Some),
        }
    }

    /// An instance of the class that an answer names, made of a dict.
    #[allow(clippy::too_many_arguments)]
    fn dict_as(
        &mut self,
        class: &Owned,
        renames: &[(Owned, Option<Owned>)],
        index: Option<u32>,
        parted: Parted<'i>,
        shape: &Shape,
        id: NodeId,
        depth: usize,
    ) -> Result<Option<Owned>> {
        let target = self.rules.schema.and_then(|schema| {
            let found = (0..).zip(&schema.classes).find(|(_, known)| known.is(class.get().cast()));
            found.map(|(index, _)| index)
        });
        if target.is_some() && target == index && renames.is_empty() {
            return Ok(None);
        }
        let Some(target) = target else {
            let made = self.instance_into(class, renames, parted.fields, None, shape, self.here())?;
            return self.rules.coerce(id, made).map(Some);
        };
        let mut fields = with_names(&parted.fields, renames)?;
        if index.is_none() {
            fields = self.by_field_names(target, &fields)?;
        }
        let known = registry::by_class(self.py, class.get().cast())?;
        if let (Some(known), Some(version)) = (known, parted.version) {
            if known.upgrade.is_some() && known.version != version {
                let upgraded = known.upgraded(fields, version, parted.tag.as_ref())?;
                let gave = |_| crate::error::decode("`upgrade` gave no dict of fields", self.here());
                fields = upgraded.cast_into::<PyDict>().map_err(gave)?;
            }
        }
        self.built(target, &fields, depth).map(Some)
    }

    /// A dict's items, of which those whose keys mean fields of the class have the names of those.
    fn by_field_names(&self, index: u32, items: &Bound<'i, PyDict>) -> Result<Bound<'i, PyDict>> {
        let class = self.class(index)?;
        let fields = new::dict(self.py)?;
        for (key, value) in items {
            let field = match key.is_instance_of::<PyString>() {
                true => class.by_key.get(&utf8(&owned(&key))?).map(|&at| &class.fields[at as usize].name),
                false => None,
            };
            match field {
                Some(field) => fields.set_item(self.rules.bound(field), value)?,
                None => fields.set_item(key, value)?,
            }
        }
        Ok(fields)
    }
}

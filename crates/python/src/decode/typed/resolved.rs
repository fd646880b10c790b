//! Dicts that stand where a type wants a class, on which a resolver decides: in schemaless formats, and of hold's dicts.

use super::super::Decoder;
use crate::classes::how::How;
use crate::classes::plan;
use crate::classes::registry;
use crate::cpython::{new, owned, text, Owned};
use crate::decode::decided::{refused, with_names};
use crate::decode::dialect::Dialect;
use crate::error::{decode, invalid, Asked, Result};
use crate::memory::Vec;
use crate::schema::class::{utf8, Class, ClassKind};
use crate::schema::node::{Node, Scalar};
use crate::schema::NodeId;
use crate::shapes::decided::Answer;
use crate::shapes::typed::Today;
use crate::shapes::{Build, Shape};
use crate::types;
use crate::types::resolver::{answer_of, is_skip, skip, Stored};
use holdall_format::model::ShapeKind;
use holdall_format::Reader;
use pyo3::ffi;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyString, PyTuple};
use std::rc::Rc;

/// How many answers of a class's resolver are kept from one message to the next, and of keys how long.
const MOST_KEPT: usize = 64;
const LONGEST_KEPT: usize = 1024;

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

    /// Whether a resolver may be asked about values that the type refuses.
    #[inline]
    pub(crate) fn may_ask(&self) -> bool {
        self.options.resolver.is_some() || self.rules.schema.is_some_and(|schema| schema.resolves)
    }

    /// Whether a class of the node has a resolver.
    pub(crate) fn may_resolve(&self, node: &Node) -> bool {
        let Some(schema) = self.rules.schema.filter(|schema| schema.resolves) else { return false };
        node.classes.iter().any(|&class| schema.classes[class as usize].resolves)
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
            let answer = self.answer_on(&resolver.function, &parted, only, 0)?;
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
            None => match self.class_of_dict(dict, node) {
                Ok(Some(index)) => index,
                Ok(None) => return Ok(None),
                Err(fault) if fault.is_invalid() => {
                    // Nothing tells the classes apart, but perhaps the resolver of one does.
                    for &index in &node.classes {
                        if let Some(made) = self.resolved_as(index, dict, node, id, depth)? {
                            return Ok(Some(made));
                        }
                    }
                    return Err(fault);
                }
                Err(fault) => return Err(fault),
            },
        };
        self.resolved_as(index, dict, node, id, depth)
    }

    /// What the resolver of a class makes of a dict.
    fn resolved_as(
        &mut self,
        index: u32,
        dict: &Bound<'i, PyDict>,
        node: &'i Node,
        id: NodeId,
        depth: usize,
    ) -> Result<Option<Owned>> {
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
        // That of a class's resolver holds until the class is registered anew, which makes another schema.
        let kept = match index.filter(|_| by != 0) {
            Some(index) => Some(self.members_shape(index)?),
            None => None,
        };
        let of_class = kept.as_ref().and_then(|shape| match &shape.build {
            Build::Typed(typed) => Some(&typed.answers),
            _ => None,
        });
        let known = of_class.and_then(|answers| answers.borrow().get(&key).cloned());
        if let Some(known) = known.or_else(|| self.answer_known(&key)) {
            return Ok(known);
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
        match of_class.map(|answers| answers.borrow_mut()) {
            Some(mut answers) if answers.len() < MOST_KEPT && key.len() <= LONGEST_KEPT => {
                answers.insert(key, answer.clone());
            }
            // What data decides the number of is kept for the message.
            _ => self.keep_answer(key, &answer),
        }
        Ok(answer)
    }

    /// An answer that was given before: to this call or decoder, or in this message.
    fn answer_known(&mut self, key: &[u8]) -> Option<Rc<Answer>> {
        match &self.options.resolver {
            Some(resolver) => resolver.known(key),
            None => self.memo().answers.get(key).cloned(),
        }
    }

    fn keep_answer(&mut self, key: Vec<u8>, answer: &Rc<Answer>) {
        match &self.options.resolver {
            Some(resolver) => resolver.keep(key, answer),
            None => {
                self.memo().answers.insert(key, answer.clone());
            }
        }
    }

    /// The shape of a class with a resolver, if a dict has today's keys in their order and the resolver has nothing to say of those:
    /// then it is built like any other. Its keys come next: `len` of them, or those up to the offset `end`.
    pub(crate) fn shape_of_today(
        &mut self,
        index: u32,
        class: &Class,
        len: usize,
        end: usize,
    ) -> Result<Option<Rc<Shape>>> {
        if self.options.resolver.is_some() || class.kind != ClassKind::Fields || D::Reader::TYPES || class.array_like {
            return Ok(None);
        }
        let shape = self.members_shape(index)?;
        let Build::Typed(typed) = &shape.build else { return Ok(None) };
        let format = D::Reader::encoded as *const () as usize;
        let known = typed.today.borrow().iter().find(|known| known.0 == format).map(|known| known.1.clone());
        let today = match known {
            Some(today) => today,
            None => {
                let today = self.keys_of_today(index, class)?.map(Rc::new);
                typed.today.borrow_mut().push((format, today.clone()));
                today
            }
        };
        let Some(today) = today.filter(|today| len == usize::MAX || today.keys.len() == len) else { return Ok(None) };
        let (before, start) = (self.r.place(), self.r.offset());
        let mut is_it = true;
        for (at, key) in today.keys.iter().enumerate() {
            is_it = self.r.accept(key)
                && match at < today.marks {
                    true => self.is_mark_of_today(class, at)?,
                    false => self.r.skip()?,
                };
            if !is_it {
                break;
            }
        }
        let seen = self.r.offset();
        self.r.rewind(before);
        self.read_more_than_once(seen - start)?;
        Ok((is_it && (len != usize::MAX || seen == end)).then_some(shape))
    }

    /// Whether the next value is today's tag, or today's version behind it.
    fn is_mark_of_today(&mut self, class: &Class, at: usize) -> Result<bool> {
        let Some(value) = self.schemaless_value()? else { return Ok(false) };
        let value = self.rules.bound(&value);
        match (&class.tag, at) {
            (Some((_, tag)), 0) => Ok(value.eq(self.rules.bound(tag))?),
            _ => {
                let own = class.versions.as_ref().map(|versions| versions.own);
                Ok(value.extract::<u64>().if_taken()? == own)
            }
        }
    }

    /// The encoded keys of instances as they are stored today, if the class's resolver has nothing to say of those.
    fn keys_of_today(&mut self, index: u32, class: &Class) -> Result<Option<Today>> {
        let Some(of) = &class.class else { return Ok(None) };
        let Some(known) = registry::by_class(self.py, of.get().cast())? else { return Ok(None) };
        let Some(resolver) = &known.resolver else { return Ok(None) };
        let fields = new::dict(self.py)?;
        for field in &class.fields {
            fields.set_item(self.rules.bound(&field.name), self.py.None())?;
        }
        let version = class.versions.as_ref().filter(|versions| versions.key.is_some()).map(|versions| versions.own);
        let tag = class.tag.as_ref().map(|(_, tag)| self.rules.bound(tag));
        // No dict has this layout: an answer for it serves here only.
        let parted = Parted { tag, version, fields, layout: Vec::from(&b"today"[..]) };
        if !self.answer_on(resolver, &parted, Some(index), known.serial)?.is_own(of) {
            return Ok(None);
        }
        let key_of_version = class.versions.as_ref().and_then(|versions| versions.key.as_ref());
        let marks: Vec<&Owned> = class.tag.iter().map(|(key, _)| key).chain(key_of_version).collect();
        let keys = marks.iter().copied().chain(class.fields.iter().map(|field| &field.key));
        // SAFETY: the class holds its keys, which are strings.
        let encoded =
            |key: &Owned| unsafe { text::ascii(key.get()) }.map(D::Reader::encoded).filter(|key| !key.is_empty());
        let keys: Option<Vec<Vec<u8>>> = keys.map(encoded).collect();
        Ok(keys.map(|keys| Today { keys, marks: marks.len() }))
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
                        match answer_of(&self.rules.bound(&made))? {
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
                    Answer::Refuse(why) => return Err(refused(&shape, why, at)),
                    _ => return Ok(None),
                };
                self.answered(answer, &record, &shape, at)?
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
                let gave = |_| decode("`upgrade` gave no dict of fields", self.here());
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

    /// What resolvers make of a value that stands for a class or a member of an enumeration, and that the type refuses.
    /// `None`: they have nothing to say.
    #[cold]
    pub(crate) fn resolved_value(&mut self, value: &Owned, id: NodeId) -> Result<Option<Owned>> {
        let node = self.rules.node(id);
        let Some(schema) = self.rules.schema else { return Ok(None) };
        // SAFETY: `value` is an owned reference. Instances of the program's classes are what resolvers made, or what was stored by name.
        if unsafe { ffi::PyType_HasFeature(ffi::Py_TYPE(value.get()), ffi::Py_TPFLAGS_HEAPTYPE) != 0 } {
            return Ok(None);
        }
        let of_scalars = node.scalars.iter().filter_map(|scalar| match scalar {
            Scalar::Enum { class, .. } | Scalar::Registered { class, .. } => Some(class),
            _ => None,
        });
        let of_classes = node.classes.iter().filter_map(|&class| schema.classes[class as usize].class.as_ref());
        let classes: Vec<&Owned> = of_scalars.chain(of_classes).collect();
        if let (Some(resolver), Some(first)) = (&self.options.resolver, classes.first()) {
            let class = (classes.len() == 1).then_some(*first);
            if let Some(made) = self.value_by(&resolver.function, class, value, id, 0)? {
                return Ok(Some(made));
            }
        }
        for class in classes {
            let Some(known) = registry::by_class(self.py, class.get().cast())? else { continue };
            let Some(resolver) = &known.resolver else { continue };
            if let Some(made) = self.value_by(resolver, Some(class), value, id, known.serial)? {
                return Ok(Some(made));
            }
        }
        Ok(None)
    }

    fn value_by(
        &mut self,
        resolver: &Owned,
        class: Option<&Owned>,
        value: &Owned,
        id: NodeId,
        by: u64,
    ) -> Result<Option<Owned>> {
        let mut key = Vec::from(&b"value"[..]);
        key.extend_from_slice(&by.to_le_bytes());
        key.extend_from_slice(&class.map_or(0, |class| class.get() as usize).to_le_bytes());
        let at = self.here();
        let answer = match self.answer_known(&key) {
            Some(known) => known,
            None => {
                let cls = class.map(|class| self.rules.bound(class));
                let none = PyTuple::empty(self.py);
                let stored = Stored::new(None, false, None, "value", &none, cls.as_ref());
                let answer = Rc::new(self.ask(resolver, stored, 0, at)?);
                self.keep_answer(key, &answer);
                answer
            }
        };
        let name = match class {
            // SAFETY: the schema holds the class.
            Some(class) => unsafe { plan::of(self.py, class.get().cast())? }.name.clone(),
            None => owned(new::text(self.py, &self.rules.node(id).name)?.as_any()),
        };
        let mut shape = Shape::of_object(Vec::new(), 0);
        (shape.kind, shape.type_name) = (ShapeKind::Custom, Some(name));
        let made = match &*answer {
            Answer::Default => return Ok(None),
            Answer::ByValue(function) => {
                self.charge(256)?;
                let record = types::record::empty(self.py, &shape)?;
                types::record::fill(self.py, &record, &shape, Some(value.clone()), Vec::new())?;
                let made = registry::call(function, record.get())?;
                match answer_of(&self.rules.bound(&made))? {
                    None => made,
                    Some(Answer::Default) => return Ok(None),
                    Some(Answer::Use { class, .. }) => self.value_as(&class, value, &shape)?,
                    Some(answer) => self.answered(answer, &record, &shape, at)?,
                }
            }
            Answer::Use { class, .. } => self.value_as(class, value, &shape)?,
            Answer::Value(made) => made.clone(),
            Answer::Skip => skip(self.py)?,
            Answer::Record => {
                let record = types::record::empty(self.py, &shape)?;
                types::record::fill(self.py, &record, &shape, Some(value.clone()), Vec::new())?;
                record
            }
            Answer::Refuse(why) => return Err(refused(&shape, why, at)),
        };
        match is_skip(made.get()) {
            true => Ok(Some(made)),
            false => self.rules.coerce(id, made).map(Some),
        }
    }

    /// What a value is as a class that an answer names: a member of an enumeration by its value.
    fn value_as(&mut self, class: &Owned, value: &Owned, shape: &Shape) -> Result<Owned> {
        // SAFETY: `class` is an owned reference to a class.
        let plan = unsafe { plan::of(self.py, class.get().cast())? };
        match plan.how {
            How::Enum => match self.rules.bound(class).call1((self.rules.bound(value),)).if_taken()? {
                Some(member) => Ok(owned(&member)),
                None => Err(invalid("a resolver names an enumeration that has no member of such a value")),
            },
            _ => self.instance_into(class, &[], new::dict(self.py)?, Some(value), shape, self.here()),
        }
    }
}

//! Which class of several a dict is: by its tag, by a key that only one requires, or by what is there.

use super::super::layout::Layout;
use super::super::Decoder;
use crate::cpython::Owned;
use crate::error::{invalid, Result, Step};
use crate::schema::class::{utf8, Class, ClassKind, Missing};
use crate::schema::coerce::expected;
use crate::schema::node::{accepts, Node};
use holdall_format::model::Bytes;
use holdall_format::{Reader, Token};
use pyo3::prelude::*;
use pyo3::types::PyDict;
use std::collections::HashSet;

impl<'i, R: Reader<'i>> Decoder<'i, R> {
    /// Which class a dict of a plain format is, by its tag or its keys. `None` where the node has none that dicts are.
    pub(super) fn class_by_keys(&mut self, node: &'i Node, len: usize) -> Result<Option<u32>> {
        let Some(schema) = self.rules.schema else { return Ok(None) };
        let of = |class: u32| &schema.classes[class as usize];
        let fits = |class: &u32| of(*class).kind == ClassKind::Fields && !of(*class).array_like;
        let mut candidates: Vec<u32> = Vec::new();
        if let [only] = node.classes[..] {
            if node.map.is_none() {
                return Ok(fits(&only).then_some(only));
            }
        }
        candidates.extend(node.classes.iter().copied().filter(fits));
        if candidates.is_empty() {
            return Ok(None);
        }
        // Looks ahead, and goes back: what is skipped here is read again.
        let before = self.r.offset();
        let mut keys = HashSet::new();
        let mut tagged = None;
        let tag_field = node.tag_field.as_ref().filter(|_| node.tags.is_some()).map(utf8).transpose()?;
        for _ in 0..len {
            let token = self.r.next()?;
            let name = match token {
                Token::Text(Bytes::Ascii(name) | Bytes::StrictUtf8(name)) => name,
                _ => break,
            };
            if tag_field.as_deref() == Some(name) {
                let token = self.r.next()?;
                tagged = Some(match (self.leaf(token, accepts::INT | accepts::STR)?, &node.tags) {
                    (Some(value), Some(tags)) => self.tagged(tags, &value)?,
                    _ => None,
                });
                break;
            }
            keys.insert(name);
            self.skip()?;
        }
        self.r.rewind(before);
        self.choose(node, tagged, &keys, &candidates)
    }

    /// As `class_by_keys`, for a dict whose keys are known beforehand; a tag's value is looked at ahead.
    pub(super) fn class_by_names(&mut self, layout: &Layout, node: &'i Node) -> Result<Option<u32>> {
        let Some(schema) = self.rules.schema else { return Ok(None) };
        let of = |class: u32| &schema.classes[class as usize];
        let candidates: Vec<u32> =
            node.classes.iter().copied().filter(|&class| of(class).kind == ClassKind::Fields).collect();
        if let ([only], true) = (&candidates[..], node.map.is_none()) {
            return Ok(Some(*only));
        }
        if candidates.is_empty() {
            return Ok(None);
        }
        let names = layout.names.iter().map(utf8).collect::<PyResult<Vec<_>>>()?;
        let tag_field = node.tag_field.as_ref().filter(|_| node.tags.is_some()).map(utf8).transpose()?;
        let place = tag_field.and_then(|field| names.iter().position(|name| *name == field));
        let tagged = match (place, &node.tags) {
            (Some(0), Some(tags)) => {
                let before = self.r.offset();
                let token = self.r.next()?;
                let value = self.leaf(token, accepts::INT | accepts::STR)?;
                self.r.rewind(before);
                Some(match value {
                    Some(value) => self.tagged(tags, &value)?,
                    None => None,
                })
            }
            _ => None,
        };
        let keys = names.iter().map(|name| &name[..]).collect();
        self.choose(node, tagged, &keys, &candidates)
    }

    /// The class that a tag's value means.
    pub(super) fn tagged(&self, tags: &Owned, value: &Owned) -> Result<Option<u32>> {
        // SAFETY: both are held.
        let (tags, value) =
            unsafe { (Bound::from_borrowed_ptr(self.py, tags.get()), Bound::from_borrowed_ptr(self.py, value.get())) };
        match tags.cast::<PyDict>().map_err(PyErr::from)?.get_item(value)? {
            Some(class) => Ok(Some(class.extract()?)),
            None => Ok(None),
        }
    }

    pub(super) fn choose(
        &self,
        node: &Node,
        tagged: Option<Option<u32>>,
        keys: &HashSet<&[u8]>,
        candidates: &[u32],
    ) -> Result<Option<u32>> {
        match tagged {
            Some(Some(class)) => return Ok(Some(class)),
            Some(None) => {
                let step = node.tag_field.clone().map_or(Step::Some, Step::Field);
                return Err(invalid("Invalid tag").within(|| step));
            }
            None => {}
        }
        let Some(schema) = self.rules.schema else { return Ok(None) };
        let of = |class: u32| &schema.classes[class as usize];
        if let (true, Some(field)) = (node.tags.is_some(), &node.tag_field) {
            let name = String::from_utf8_lossy(&utf8(field)?).into_owned();
            return Err(invalid(format_args!("Object missing required field `{name}`")));
        }
        if let Some(distinct) = &node.distinct {
            // SAFETY: held.
            let distinct = unsafe { Bound::from_borrowed_ptr(self.py, distinct.get()) };
            for (key, class) in distinct.cast::<PyDict>().map_err(PyErr::from)? {
                if keys.contains(key.extract::<String>()?.as_bytes()) {
                    return Ok(Some(class.extract()?));
                }
            }
        }
        let whole = |class: &Class| {
            let there = |key: &Owned| utf8(key).is_ok_and(|key| keys.contains(&key[..]));
            class.fields.iter().all(|field| !matches!(field.missing, Missing::Refused) || there(&field.key))
        };
        match candidates.iter().copied().find(|&class| whole(of(class))) {
            Some(class) => Ok(Some(class)),
            None if node.map.is_some() => Ok(None),
            None => Err(expected(&node.name, "dict")),
        }
    }
}

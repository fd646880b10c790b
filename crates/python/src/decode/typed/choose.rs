//! Which of several classes a dict or a list is: selected by its tag, or by a key that only one class requires.

use super::super::{Decoder, Numbered};
use crate::cpython::{int, Owned};
use crate::decode::dialect::Dialect;
use crate::error::{invalid, raised, Asked, Result, Step};
use crate::memory::{HashSet, Vec};
use crate::schema::class::{utf8, ClassKind};
use crate::schema::coerce::expected;
use crate::schema::node::Node;
use crate::shapes::Shape;
use holdall_format::{Reader, Token};
use pyo3::prelude::*;
use pyo3::types::PyDict;

/// The result of looking ahead into a dict.
pub(crate) struct Ahead {
    /// The class that the tag selects, if any, and the offset of the tag's value; `None` without a tag.
    pub(super) tagged: Option<(Option<u32>, usize)>,
    /// All keys, or those before the tag.
    pub(super) keys: HashSet<Vec<u8>>,
}

impl<'i, D: Dialect<'i>> Decoder<'i, D> {
    /// The class of a dict of a schemaless format, selected by tag or keys. `None`: no class of the node is stored as a dict.
    pub(crate) fn class_by_keys(&mut self, node: &'i Node, len: usize) -> Result<Option<u32>> {
        self.class_of(node, len, None)
    }

    /// The same for a dict whose keys are known from its shape.
    pub(crate) fn class_by_names(&mut self, shape: &Shape, node: &'i Node) -> Result<Option<u32>> {
        self.class_of(node, shape.names.len(), Some(&shape.names))
    }

    /// The one class that dicts of a schemaless format can be for this node.
    #[inline(always)]
    pub(crate) fn only_class(&self, node: &Node) -> Option<u32> {
        match (&node.classes[..], &node.map, self.rules.schema) {
            ([only], None, Some(schema)) => {
                let class = &schema.classes[*only as usize];
                (class.kind == ClassKind::Fields
                    && !class.array_like
                    && !class.evolves()
                    && self.options.resolver.is_none())
                .then_some(*only)
            }
            _ => None,
        }
    }

    fn class_of(&mut self, node: &'i Node, len: usize, names: Option<&[Owned]>) -> Result<Option<u32>> {
        if let (Some(only), true) = (self.only_class(node), names.is_none()) {
            return Ok(Some(only));
        }
        let Some(schema) = self.rules.schema else { return Ok(None) };
        let of = |class: u32| &schema.classes[class as usize];
        // In schemaless formats, array-like classes are not stored as dicts.
        let is_made_of = |class: u32| matches!(of(class).kind, ClassKind::Fields | ClassKind::Pydantic);
        let fits = |class: u32| is_made_of(class) && (names.is_some() || !of(class).array_like);
        let candidates: Vec<u32> = node.classes.iter().copied().filter(|&class| fits(class)).collect();
        if let ([only], true) = (&candidates[..], node.map.is_none() && node.classes.len() == 1) {
            return Ok(Some(*only));
        }
        if candidates.is_empty() {
            return Ok(None);
        }
        let found = self.ahead(|decoder| decoder.look_ahead(node, len, names))?;
        self.choose(node, &found, &candidates)
    }

    /// Runs a look-ahead and restores the state: what it has read will be read again.
    pub(crate) fn ahead<T>(&mut self, look: impl FnOnce(&mut Self) -> Result<T>) -> Result<T> {
        let (before, start) = (self.r.place(), self.r.offset());
        let known =
            (self.tables.numbered.len(), self.tables.shapes.len(), self.elsewhere.skipped.len(), self.elsewhere.again);
        self.elsewhere.ahead += 1;
        let found = look(self);
        self.elsewhere.ahead -= 1;
        self.tables.numbered.truncate(known.0);
        self.tables.shapes.truncate(known.1);
        self.elsewhere.skipped.truncate(known.2);
        self.elsewhere.again = known.3;
        self.forget_far(known.0);
        let seen = self.r.offset() - start;
        self.r.rewind(before);
        // Nested unions look at the same bytes again and again.
        self.read_more_than_once(seen)?;
        found
    }

    /// The class of `len` values without names: of several array-like classes, the one that the first value, the tag,
    /// selects.
    pub(crate) fn class_by_first(&mut self, node: &'i Node, len: usize) -> Result<Option<u32>> {
        let mut classes = self.array_like(node);
        let first = classes.next();
        let Some(second) = classes.next() else { return Ok(first) };
        let several: Vec<u32> = first.into_iter().chain([second]).chain(classes).collect();
        let at = self.r.offset();
        let tag = if len == 0 { None } else { self.ahead(Self::schemaless_value)? };
        self.tagged_first(node, &several, tag.as_ref()).map_err(|fault| fault.found(at)).map(Some)
    }

    /// Of several array-like classes, the one that a tag selects.
    pub(crate) fn tagged_first(&self, node: &Node, classes: &[u32], tag: Option<&Owned>) -> Result<u32> {
        let (Some(tags), Some(tag)) = (&node.tags, tag) else { return Err(expected(&node.name, "list")) };
        match self.tagged(tags, tag)?.filter(|class| classes.contains(class)) {
            Some(class) => Ok(class),
            None => Err(invalid("Invalid tag").within(|| Step::Index(0))),
        }
    }

    /// Looks for the tag and collects the keys, up to the tag if there is one.
    fn look_ahead(&mut self, node: &'i Node, len: usize, names: Option<&[Owned]>) -> Result<Ahead> {
        let mut keys = HashSet::new();
        let tag_field = node.tag_field.as_ref().filter(|_| node.tags.is_some()).map(utf8).transpose()?;
        let stored = |at: usize| names.and_then(|names| names.get(at));
        if let (Some(names), false) = (names, tag_field.is_some()) {
            keys.extend(names.iter().map(utf8).collect::<PyResult<Vec<_>>>()?);
            return Ok(Ahead { tagged: None, keys });
        }
        for at in 0..len {
            let name = match stored(at) {
                Some(name) => utf8(name)?,
                None => match self.schemaless_key()? {
                    // SAFETY: `name` is an owned reference.
                    Some(name) if unsafe { crate::cpython::text::is(name.get()) } => utf8(&name)?,
                    // Another key selects nothing. After `None` it may be a container, of which one token was read.
                    Some(_) => Vec::new(),
                    None => return Ok(Ahead { tagged: None, keys }),
                },
            };
            if tag_field.as_ref() == Some(&name) {
                let before = self.r.offset();
                let tagged = match (self.schemaless_value()?, &node.tags) {
                    (Some(value), Some(tags)) => self.tagged(tags, &value)?,
                    _ => None,
                };
                return Ok(Ahead { tagged: Some((tagged, before)), keys });
            }
            keys.insert(name);
            self.skip()?;
        }
        Ok(Ahead { tagged: None, keys })
    }

    pub(crate) fn schemaless_key(&mut self) -> Result<Option<Owned>> {
        self.r.key();
        self.schemaless_value()
    }

    /// Reads an int or a text, with an id or by reference. `None`: another value, of which one token was read.
    pub(crate) fn schemaless_value(&mut self) -> Result<Option<Owned>> {
        match self.r.token()? {
            Token::AssignId => {
                let token = self.r.token()?;
                let value = self.text_or_int(token)?;
                if let Some(value) = &value {
                    self.add_numbered(Numbered::whole(value.clone()));
                }
                Ok(value)
            }
            Token::Reference(number) => self.object_of(number).map(Some),
            token => self.text_or_int(token),
        }
    }

    fn text_or_int(&mut self, token: Token<'i>) -> Result<Option<Owned>> {
        match token {
            Token::Text(bytes) => self.string_of(bytes).map(Some),
            // SAFETY: the GIL is held while a decoder lives.
            Token::Int(value) => unsafe { int::from_value(value) }.map(Some).ok_or_else(raised),
            _ => Ok(None),
        }
    }

    /// The class that a tag's value selects.
    pub(crate) fn tagged(&self, tags: &Owned, value: &Owned) -> Result<Option<u32>> {
        // SAFETY: the schema's node holds the tags, and the caller the value.
        let (tags, value) =
            unsafe { (Bound::from_borrowed_ptr(self.py, tags.get()), Bound::from_borrowed_ptr(self.py, value.get())) };
        // A value that can't be hashed is no tag.
        match tags.cast::<PyDict>().map_err(PyErr::from)?.get_item(value).if_taken()?.flatten() {
            Some(class) => Ok(Some(class.extract()?)),
            None => Ok(None),
        }
    }

    pub(crate) fn choose(&self, node: &Node, ahead: &Ahead, candidates: &[u32]) -> Result<Option<u32>> {
        let Some(schema) = self.rules.schema else { return Ok(None) };
        let of = |class: u32| &schema.classes[class as usize];
        match ahead.tagged {
            Some((Some(class), _)) if candidates.contains(&class) => return Ok(Some(class)),
            Some((_, at)) => {
                let step = node.tag_field.clone().map_or(Step::Some, Step::Field);
                let why = candidates.first().map_or("Invalid tag", |&class| of(class).wrong_tag());
                return Err(invalid(why).found(at).within(|| step));
            }
            None => {}
        }
        let has_tag = |class: u32| node.tags.is_some() && of(class).tag.is_some();
        let untagged: Vec<u32> = candidates.iter().copied().filter(|&class| !has_tag(class)).collect();
        if node.map.is_some() {
            // A dict without a tag stays a dict. Types for which that is ambiguous were refused when they were compiled.
            return Ok(None);
        }
        if let (true, Some(field)) = (untagged.is_empty(), &node.tag_field) {
            let name = String::from_utf8_lossy(&utf8(field)?).into_owned();
            return Err(invalid(format_args!("Object missing required field `{name}`")));
        }
        let there = |key: &Owned| Ok(ahead.keys.contains(&utf8(key)?[..]));
        match self.rules.class_by_key(node, &untagged, there)? {
            Some(class) => Ok(Some(class)),
            None => Err(expected(&node.name, "dict")),
        }
    }
}

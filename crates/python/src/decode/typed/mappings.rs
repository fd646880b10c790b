//! Dicts and other mappings against a schema, pair by pair or by their shape.

use super::super::frame::{Frame, Kind, ODD, PROXY};
use super::super::Decoder;
use crate::cpython::Owned;
use crate::decode::dialect::Dialect;
use crate::error::{decode, invalid, raised, Result, Step};
use crate::schema::class::ClassKind;
use crate::schema::coerce::expected;
use crate::schema::constraint::broken_length;
use crate::schema::node::{accepts, Map, MapKind, Node};
use crate::schema::{NodeId, ANY};
use crate::shapes::{Build, Shape};
use crate::types;
use holdall_format::model::KnownType;
use holdall_format::{Reader, Token};
use pyo3::ffi;
use std::rc::Rc;

impl<'i, D: Dialect<'i>> Decoder<'i, D> {
    pub(crate) fn typed_dict(
        &mut self,
        token: Token<'i>,
        len: usize,
        node: &'i Node,
        id: NodeId,
    ) -> Result<Option<Owned>> {
        // The usual case: one class, of which nothing is older and nobody decides.
        if let Some(only) = self.only_class(node) {
            let shape = self.members_shape(only)?;
            return self.begin_typed(&shape, len);
        }
        if self.options.resolver.is_some() && !node.classes.is_empty() {
            return self.untyped(token, id);
        }
        if let ([only], None) = (&node.classes[..], &node.map) {
            let class = self.class(*only)?;
            if class.resolves {
                return match self.shape_of_today(*only, class, len, 0)? {
                    Some(shape) => self.begin_typed(&shape, len),
                    None => self.untyped(token, id),
                };
            }
        }
        let class = match node.classes.is_empty() {
            true => None,
            false => match self.class_by_keys(node, len) {
                // Where nothing tells the classes apart, a resolver may.
                Err(fault) if fault.is_invalid() && self.may_resolve(node) => return self.untyped(token, id),
                found => found?,
            },
        };
        if let Some(index) = class {
            let class = self.class(index)?;
            if class.resolves {
                return match self.shape_of_today(index, class, len, 0)? {
                    Some(shape) => self.begin_typed(&shape, len),
                    None => self.untyped(token, id),
                };
            }
        }
        match (class, &node.map) {
            (Some(class), _) if self.class(class)?.kind != ClassKind::Pydantic => {
                if self.is_outdated(class, len, None)? {
                    return self.untyped(token, id);
                }
                let shape = self.members_shape(class)?;
                self.begin_typed(&shape, len)
            }
            (None, Some(map)) => {
                if let MapKind::TypedDict(class) = map.kind {
                    let shape = self.members_shape(class)?;
                    return self.begin_typed(&shape, len);
                }
                self.pairs_of(map.kind.known(), len, node, id)
            }
            _ if node.takes_containers() || self.by_own_code(node) => self.untyped(token, id),
            _ => Err(self.mismatch(node, &token)),
        }
    }

    /// Whether some class of the node validates with its own code.
    pub(crate) fn by_own_code(&self, node: &Node) -> bool {
        let Some(schema) = self.rules.schema else { return false };
        node.classes.iter().any(|&class| schema.classes[class as usize].kind == ClassKind::Pydantic)
    }

    /// Reads pairs into a new mapping of this kind.
    pub(crate) fn pairs_of(
        &mut self,
        known: Option<KnownType>,
        len: usize,
        node: &'i Node,
        id: NodeId,
    ) -> Result<Option<Owned>> {
        let Some(map) = &node.map else { return Err(decode("a mapping out of place", self.here())) };
        if let Some(why) = broken_length(map.min, map.max, len, "dict") {
            return Err(invalid(why));
        }
        let dict = self.empty_mapping(known, node)?;
        if matches!(map.kind, MapKind::MappingProxy) {
            let (at, object_id) = (self.here(), self.take_id());
            let depth = self.tables.stack.len();
            let done = self.begin_pairs(dict, len, true, id)?;
            if let Some(frame) = self.tables.stack.get_mut(depth) {
                (frame.flags, frame.object_id) = (PROXY, object_id);
            }
            return done.map(|dict| self.proxy(dict, object_id, at)).transpose();
        }
        self.begin_pairs(dict, len, true, id)
    }

    pub(crate) fn empty_mapping(&self, known: Option<KnownType>, node: &Node) -> Result<Owned> {
        let Some(known) = known else {
            // SAFETY: the GIL is held while a decoder lives.
            return unsafe { Owned::new(ffi::PyDict_New()) }.ok_or_else(raised);
        };
        let made = types::collections::empty(self.py, known)?;
        if let Some(MapKind::DefaultDict(Some(factory))) = node.map.as_ref().map(|map| &map.kind) {
            // SAFETY: `made` is an owned reference, and the node holds the factory.
            unsafe {
                if ffi::PyObject_SetAttrString(made.get(), c"default_factory".as_ptr(), factory.get()) != 0 {
                    return Err(raised());
                }
            }
        }
        Ok(made)
    }

    /// Wraps a finished dict in a mappingproxy, which gets the id.
    pub(crate) fn proxy(&mut self, dict: Owned, object_id: u32, at: usize) -> Result<Owned> {
        let made = types::build(self.py, KnownType::PythonMappingProxy, &[dict], at)?;
        self.whole(object_id, made.get());
        Ok(made)
    }

    /// An ordered dict, a default dict or a counter, as hold stores them.
    pub(crate) fn typed_mapping(&mut self, known: KnownType, node: &'i Node, id: NodeId) -> Result<Option<Owned>> {
        if known == KnownType::PythonDefaultDict {
            if let Some(Map { kind: MapKind::DefaultDict(None), key: ANY, value: ANY, min: None, max: None }) = node.map
            {
                // The type does not say what the dict holds, so the stored factory is kept.
                return self.known(known);
            }
            // The type names the factory; the stored one, which is a builtin or `None`, is skipped.
            self.skip()?;
        }
        let before = self.r.offset();
        match self.r.token()? {
            Token::Dict(len) => self.typed_dict(Token::Dict(len), len, node, id),
            _ => Err(decode("expected the dict of a mapping's items", before)),
        }
    }

    /// A dict with the keys of a shape.
    pub(crate) fn typed_record(&mut self, shape: &Rc<Shape>, node: &'i Node, id: NodeId) -> Result<Option<Owned>> {
        let len = shape.names.len();
        if let (Some(map), true) = (&node.map, node.classes.is_empty()) {
            if let MapKind::TypedDict(class) = map.kind {
                let shape = self.positions_shape(shape, class)?;
                return self.begin_typed(&shape, len);
            }
            return self.record_as_map(shape, node);
        }
        if self.options.resolver.is_some() || self.may_resolve(node) {
            return self.looked_at(id, |decoder| decoder.instance(shape));
        }
        match self.class_by_names(shape, node)? {
            Some(class) if self.class(class)?.kind != ClassKind::Pydantic => {
                if self.is_outdated(class, len, Some(&shape.names))? {
                    return self.looked_at(id, |decoder| decoder.instance(shape));
                }
                let shape = self.positions_shape(shape, class)?;
                self.begin_typed(&shape, len)
            }
            None if node.map.is_some() => match &node.map {
                Some(Map { kind: MapKind::TypedDict(class), .. }) => {
                    let shape = self.positions_shape(shape, *class)?;
                    self.begin_typed(&shape, len)
                }
                _ => self.record_as_map(shape, node),
            },
            _ if node.takes_containers() || self.by_own_code(node) => {
                self.looked_at(id, |decoder| decoder.instance(shape))
            }
            _ => Err(expected(&node.name, "dict")),
        }
    }

    /// A dict with the keys of a shape, as a mapping of the node's kind.
    pub(crate) fn record_as_map(&mut self, shape: &Rc<Shape>, node: &'i Node) -> Result<Option<Owned>> {
        let Some(map) = &node.map else { return Err(decode("a mapping out of place", self.here())) };
        let len = shape.names.len();
        if let Some(why) = broken_length(map.min, map.max, len, "dict") {
            return Err(invalid(why));
        }
        let plain = self.rules.node(map.key).accepts & accepts::STR != 0;
        if plain && matches!(map.kind, MapKind::Dict) {
            return self.dict(shape, len, map.value);
        }
        let mut names = shape.names.clone();
        if !plain {
            for name in &mut names {
                *name = self.rules.coerce(map.key, name.clone()).map_err(|fault| fault.within(|| Step::Some))?;
            }
        }
        let dict = self.empty_mapping(map.kind.known(), node)?;
        self.claim(len, shape.bytes)?;
        let proxy = matches!(map.kind, MapKind::MappingProxy);
        let object_id = self.take_id();
        if !proxy {
            self.opened(object_id, dict.get());
        }
        if len == 0 {
            let made = if proxy { self.proxy(dict, object_id, self.here())? } else { dict };
            self.whole(object_id, made.get());
            return Ok(Some(made));
        }
        let frame = self.frame(Kind::Keyed, Some(dict), len, object_id);
        let named = Rc::new(shape.like(Build::Dict, names));
        let flags = ODD | if proxy { PROXY } else { 0 };
        Ok(self.push(Frame { shape: Some(named), item: map.value, flags, ..frame }))
    }
}

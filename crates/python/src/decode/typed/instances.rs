//! Instances by their shapes: a shape is matched with a class of the schema once, then values are taken by position.

use super::super::Decoder;
use crate::cpython::Owned;
use crate::decode::dialect::Dialect;
use crate::error::{invalid, Result};
use crate::schema::class::{utf8, ClassKind};
use crate::schema::coerce::expected;
use crate::schema::node::{MapKind, Node, Scalar, SeqKind};
use crate::schema::{NodeId, Schema};
use crate::shapes::decided::Verdict;
use crate::shapes::{Build, Shape};
use crate::types::record::record_type;
use holdall_format::model::ShapeKind;
use std::rc::Rc;

impl<'i, D: Dialect<'i>> Decoder<'i, D> {
    /// A dict or an instance by its shape.
    #[inline(always)]
    pub(crate) fn typed_instance(&mut self, shape: &Rc<Shape>, node: &'i Node, id: NodeId) -> Result<Option<Owned>> {
        // Most have the shape of the instance before, which was matched with the class then.
        let only = match (&node.classes[..], node.seq.as_ref().map(|seq| &seq.kind)) {
            ([class], _) if node.map.is_none() => Some(*class),
            ([], Some(SeqKind::NamedTuple(class))) => Some(*class),
            _ => None,
        };
        if let (Some(class), Some(schema)) = (only, self.rules.schema) {
            if let Some(known) = shape.matched_with(schema.serial, class) {
                return self.begin_typed(&known, shape.names.len());
            }
        }
        self.unmatched_instance(shape, node, id)
    }

    #[inline(never)]
    pub(crate) fn unmatched_instance(
        &mut self,
        shape: &Rc<Shape>,
        node: &'i Node,
        id: NodeId,
    ) -> Result<Option<Owned>> {
        if shape.kind == ShapeKind::Dict {
            return self.typed_record(shape, node, id);
        }
        if self.has_resolvers() {
            if let Some(verdict) = self.known_verdict(shape)? {
                return self.by_verdict(&verdict, shape, node, id);
            }
        }
        let name = shape.stored_name()?;
        let found = self.schema_class(name)?;
        if let (Some(class), Some(schema), ShapeKind::Object) = (&found, self.rules.schema, shape.kind) {
            if let Some(index) = self.by_position(class, schema, shape, node)? {
                let shape = self.positions_shape(shape, index)?;
                return self.begin_typed(&shape, shape_len(&shape));
            }
        }
        // Built without the node, then coerced: enumerations, foreign classes, upgrades.
        let known = found.is_some() || self.could_be(name)?;
        let takes_others = node.takes_containers() || !node.classes.is_empty() || !node.scalars.is_empty();
        if !known && self.takes_records(node) {
            let shape = Rc::new(Shape { bytes: 256, ..shape.like(Build::Record, shape.names.clone()) });
            return self.looked_at(id, |decoder| decoder.instance(&shape));
        }
        if !known || !(takes_others || node.seq.is_some()) {
            let remedy = match self.place_of(node) {
                Some(ClassKind::TypedDict) if !known => "load it by `types=holdall.Record`, whose `fields` are a dict",
                Some(_) if !known => "if that is its old name, `register` it with the name in `aliases`",
                _ => return Err(expected(&node.name, name)),
            };
            return Err(invalid(format_args!("Expected `{}`, got `{name}`; {remedy}", node.name)));
        }
        self.looked_at(id, |decoder| decoder.instance(shape))
    }

    /// The class of the schema, if the node wants it and instances of this shape can be built by position.
    fn by_position(&self, class: &Owned, schema: &Schema, shape: &Shape, node: &Node) -> Result<Option<u32>> {
        let own = |index: u32| schema.classes[index as usize].is(class.get().cast());
        let of_node = match node.seq.as_ref().map(|seq| &seq.kind) {
            Some(SeqKind::NamedTuple(index)) if own(*index) => Some(*index),
            _ => node.classes.iter().copied().find(|&index| own(index)),
        };
        let Some(index) = of_node else { return Ok(None) };
        let is_plain = schema.classes[index as usize].kind != ClassKind::Pydantic
            && !self.upgrades(class, shape)?
            && !self.keeps_some(index, shape)?;
        Ok(is_plain.then_some(index))
    }

    /// What resolvers say of a layout, which they are asked once in a message.
    fn known_verdict(&mut self, shape: &Rc<Shape>) -> Result<Option<Rc<Verdict>>> {
        let key = Rc::as_ptr(shape) as usize;
        if let Some((_, known)) = self.memo().verdicts.get(&key) {
            return Ok(known.clone());
        }
        let verdict = self.verdict(shape, self.here())?;
        self.memo().verdicts.insert(key, (shape.clone(), verdict.clone()));
        Ok(verdict)
    }

    /// An instance as a resolver has decided: by the node if it wants the class that the answer names.
    fn by_verdict(
        &mut self,
        verdict: &Verdict,
        stored: &Rc<Shape>,
        node: &'i Node,
        id: NodeId,
    ) -> Result<Option<Owned>> {
        if let (Some((class, shape)), Some(schema), ShapeKind::Object) =
            (&verdict.class, self.rules.schema, stored.kind)
        {
            if let Some(index) = self.by_position(class, schema, shape, node)? {
                let shape = self.positions_shape(shape, index)?;
                // The next ones are found without the resolver. Answers to one call are not kept: its layouts are not.
                if node.map.is_none() && node.classes[..] == [index] {
                    stored.match_with(schema.serial, index, &shape);
                }
                return self.begin_typed(&shape, shape_len(&shape));
            }
        }
        self.looked_at(id, |decoder| decoder.instance(&verdict.shape))
    }

    /// What kind of class may stand in this place, if one may.
    fn place_of(&self, node: &Node) -> Option<ClassKind> {
        let index = match (node.seq.as_ref().map(|seq| &seq.kind), node.map.as_ref().map(|map| &map.kind)) {
            (Some(SeqKind::NamedTuple(index)), _) | (_, Some(MapKind::TypedDict(index))) => Some(*index),
            _ => node.classes.first().copied(),
        };
        let schema = self.rules.schema?;
        Some(schema.classes[index? as usize].kind)
    }

    /// Whether a class that is not there may become a record in this place: because the type names `Record`, or for `dec_hook`.
    fn takes_records(&self, node: &Node) -> bool {
        let foreign = node.scalars.iter().filter_map(|scalar| match scalar {
            Scalar::Custom { class, .. } => Some(class),
            _ => None,
        });
        let record = record_type(self.py);
        foreign.into_iter().any(|class| self.options.dec_hook.is_some() || class.get() == record)
    }

    /// The class that a stored name means in this schema: a registered one, or one that the schema permits.
    pub(crate) fn schema_class(&self, name: &str) -> Result<Option<Owned>> {
        Ok(match crate::classes::registry::by_name(self.py, name)? {
            Some(registration) => Some(registration.class.clone()),
            None => self.rules.schema.and_then(|schema| schema.permitted.get(name).cloned()),
        })
    }

    /// Whether the stored class is permitted otherwise: by the caller, or as a class of the standard library.
    pub(crate) fn could_be(&mut self, name: &str) -> Result<bool> {
        match self.resolve(name, self.here()) {
            Ok(found) => Ok(found.is_some() || self.options.records),
            Err(fault) if fault.is_unknown() => Ok(false),
            Err(fault) => Err(fault),
        }
    }

    /// Whether the shape has fields that the class has not and keeps.
    fn keeps_some(&self, index: u32, shape: &Shape) -> Result<bool> {
        let class = self.class(index)?;
        if class.keeps_unknown {
            for name in &shape.names {
                if !class.by_name.contains_key(&utf8(name)?) {
                    return Ok(true);
                }
            }
        }
        Ok(false)
    }

    /// Whether the class's `upgrade` has to be called for what is stored.
    pub(crate) fn upgrades(&self, class: &Owned, shape: &Shape) -> Result<bool> {
        let known = crate::classes::registry::by_class(self.py, class.get().cast())?;
        Ok(known.is_some_and(|known| known.upgrade.is_some() && known.version != shape.version))
    }
}

fn shape_len(shape: &Shape) -> usize {
    match &shape.build {
        Build::Typed(typed) => typed.stored(),
        _ => 0,
    }
}

//! Containers that are built already because the message shares them between places of different types: checked, never
//! changed.

use super::{kind_of, Rules, Taken};
use crate::cpython::owned;
use crate::cpython::Owned;
use crate::error::{Asked, Result, NOWHERE};
use crate::memory::{vec, HashSet, Vec};
use crate::schema::class::Missing;
use crate::schema::constraint::broken_length;
use crate::schema::node::{MapKind, Node, SeqKind};
use crate::schema::NodeId;
use pyo3::exceptions::PyAttributeError;
use pyo3::ffi;
use pyo3::intern;
use pyo3::prelude::*;
use std::ptr::addr_of_mut;

impl Rules<'_> {
    /// Whether an object built for one node suits another, judged by the two nodes alone: the object may not be
    /// complete yet.
    pub fn is_as_good(&self, built_as: NodeId, wanted: NodeId, object: &Owned) -> bool {
        let (one, other) = (self.node(built_as), self.node(wanted));
        // SAFETY: `object` is an owned reference.
        let class = unsafe { ffi::Py_TYPE(object.get()) };
        let own = |node: &Node| {
            self.schema
                .and_then(|schema| node.classes.iter().copied().find(|&index| schema.classes[index as usize].is(class)))
        };
        if let (Some(one), Some(other)) = (own(one), own(other)) {
            return one == other;
        }
        match (&one.seq, &other.seq) {
            (Some(one), Some(other)) if one.name() == other.name() => {
                let same_kind = std::mem::discriminant(&one.kind) == std::mem::discriminant(&other.kind);
                return same_kind
                    && !matches!(other.kind, SeqKind::NamedTuple(_))
                    && one.items() == other.items()
                    && (other.min, other.max) == (None, None);
            }
            _ => {}
        }
        match (&one.map, &other.map) {
            (Some(one), Some(other)) => {
                (one.key, one.value) == (other.key, other.value)
                    && std::mem::discriminant(&one.kind) == std::mem::discriminant(&other.kind)
                    && !matches!(other.kind, MapKind::TypedDict(_))
                    && (other.min, other.max) == (None, None)
            }
            _ => false,
        }
    }

    /// Whether a finished object, with everything in it, is what the node says. Nothing is converted, because others
    /// hold the object too.
    pub(crate) fn conforms(&self, id: NodeId, object: &Owned) -> Result<bool> {
        let mut seen = HashSet::new();
        let mut open = vec![(id, object.clone())];
        while let Some((id, object)) = open.pop() {
            self.work.charge(1, "shared objects are looked through again and again", NOWHERE)?;
            let node = self.node(id);
            // SAFETY: `open` holds the object.
            let kind = unsafe { kind_of(object.get()) };
            if node.any || node.accepts & kind != 0 || !seen.insert((id, object.get() as usize)) {
                continue;
            }
            let as_it_is = node.scalars.iter().map(|scalar| self.take(scalar, &object)).find_map(|taken| match taken {
                Ok(Taken::Yes(made)) => Some(Ok(made.get() == object.get())),
                Ok(_) => None,
                Err(error) => Some(Err(error)),
            });
            match as_it_is.transpose()? {
                Some(true) => continue,
                Some(false) => return Ok(false),
                None => {}
            }
            if !self.parts(node, &object, &mut open)? {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Adds the members of a container to `open`, each with the node that it must suit. `false`: it is no such
    /// container.
    pub(crate) fn parts(&self, node: &Node, object: &Owned, open: &mut Vec<(NodeId, Owned)>) -> Result<bool> {
        let bound = self.bound(object);
        // SAFETY: `object` is an owned reference.
        let class = unsafe { ffi::Py_TYPE(object.get()) };
        let builtin = |name: &str, module: &str| -> Result<bool> {
            Ok(self.py.import(module)?.getattr(name)?.as_ptr() == class.cast())
        };
        if let Some(seq) = &node.seq {
            let item = match &seq.kind {
                SeqKind::List(item) if class == addr_of_mut!(ffi::PyList_Type) => Some(*item),
                SeqKind::Tuple(item) if class == addr_of_mut!(ffi::PyTuple_Type) => Some(*item),
                SeqKind::Set(item) if class == addr_of_mut!(ffi::PySet_Type) => Some(*item),
                SeqKind::FrozenSet(item) if class == addr_of_mut!(ffi::PyFrozenSet_Type) => Some(*item),
                SeqKind::Deque(item) if builtin("deque", "collections")? => Some(*item),
                SeqKind::Fixed(items) if class == addr_of_mut!(ffi::PyTuple_Type) => {
                    if bound.len()? != items.len() {
                        return Ok(false);
                    }
                    for (item, part) in items.iter().zip(bound.try_iter()?) {
                        open.push((*item, owned(&part?)));
                    }
                    return Ok(true);
                }
                SeqKind::NamedTuple(index) => return self.fields(*index, &bound, open),
                _ => None,
            };
            if let Some(item) = item {
                // Asked last: by now it is clear that no code of a user's class answers.
                if broken_length(seq.min, seq.max, bound.len()?, "").is_some() {
                    return Ok(false);
                }
                for part in bound.try_iter()? {
                    open.push((item, owned(&part?)));
                }
                return Ok(true);
            }
        }
        if let Some(map) = &node.map {
            let is = match map.kind {
                MapKind::Dict | MapKind::TypedDict(_) => class == addr_of_mut!(ffi::PyDict_Type),
                MapKind::OrderedDict => builtin("OrderedDict", "collections")?,
                MapKind::DefaultDict(_) => builtin("defaultdict", "collections")?,
                MapKind::Counter => builtin("Counter", "collections")?,
                MapKind::MappingProxy => class == addr_of_mut!(ffi::PyDictProxy_Type),
            };
            if is {
                if let (MapKind::TypedDict(index), Some(schema)) = (&map.kind, self.schema) {
                    let class = &schema.classes[*index as usize];
                    for field in &class.fields {
                        match bound.get_item(self.bound(&field.name)).if_taken()? {
                            Some(part) => open.push((field.node, owned(&part))),
                            None if matches!(field.missing, Missing::Absent) => {}
                            None => return Ok(false),
                        }
                    }
                    return Ok(true);
                }
                for pair in bound.call_method0(intern!(bound.py(), "items"))?.try_iter()? {
                    let (key, value): (Bound<'_, PyAny>, Bound<'_, PyAny>) = pair?.extract()?;
                    open.push((map.key, owned(&key)));
                    open.push((map.value, owned(&value)));
                }
                return Ok(true);
            }
        }
        for &index in &node.classes {
            if self.schema.is_some_and(|schema| schema.classes[index as usize].is(class)) {
                return self.fields(index, &bound, open);
            }
        }
        Ok(false)
    }

    pub(crate) fn fields(
        &self,
        index: u32,
        object: &Bound<'_, PyAny>,
        open: &mut Vec<(NodeId, Owned)>,
    ) -> Result<bool> {
        let Some(class) = self.schema.and_then(|schema| schema.classes.get(index as usize)) else { return Ok(false) };
        if !class.is(object.get_type_ptr()) {
            return Ok(false);
        }
        for field in &class.fields {
            match object.getattr(self.bound(&field.name).cast::<pyo3::types::PyString>().map_err(PyErr::from)?) {
                Ok(part) => open.push((field.node, owned(&part))),
                // The attribute is missing because the instance is still being built or may lack it: the class checks
                // complete instances.
                Err(error) if error.is_instance_of::<PyAttributeError>(self.py) => {}
                Err(error) => return Err(error.into()),
            }
        }
        Ok(true)
    }
}

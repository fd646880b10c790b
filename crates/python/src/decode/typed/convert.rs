//! Finished objects made into what a node says: what `upgrade` returned consists of the forms of a schemaless format, or
//! of finished objects.

use super::super::Decoder;
use crate::cpython::{owned, Owned};
use crate::decode::dialect::Dialect;
use crate::error::{invalid, limit, raised, Result, Step};
use crate::memory::Vec;
use crate::schema::coerce::expected;
use crate::schema::constraint::broken_length;
use crate::schema::node::{accepts, Map, MapKind, Node, Seq, SeqKind};
use crate::schema::NodeId;
use crate::types;
use crate::types::library::Library;
use crate::types::resolver::is_skip;
use holdall_format::model::KnownType;
use pyo3::ffi;
use pyo3::prelude::*;
use pyo3::types::{PyFrozenSet, PyList, PySet, PyString, PyTuple};

/// It takes the stack of the thread.
const DEEPEST: usize = 200;

pub(crate) fn is_dict(object: &Owned) -> bool {
    // SAFETY: `object` is an owned reference.
    unsafe { ffi::PyDict_CheckExact(object.get()) != 0 }
}

fn is_list(object: &Owned) -> bool {
    // SAFETY: `object` is an owned reference.
    unsafe { ffi::PyList_CheckExact(object.get()) != 0 || ffi::PyTuple_CheckExact(object.get()) != 0 }
}

impl<'i, D: Dialect<'i>> Decoder<'i, D> {
    /// The object as the node wants it, with everything in it.
    pub(super) fn converted(&mut self, id: NodeId, object: Owned, depth: usize) -> Result<Owned> {
        let node = self.rules.node(id);
        if node.any || !(is_dict(&object) || is_list(&object)) {
            return self.whole_value(id, object);
        }
        if depth > DEEPEST {
            return Err(limit("nested too deep to be upgraded", self.here()));
        }
        self.rules.work.charge(1, "what is upgraded is looked through again and again", self.here())?;
        match (&node.seq, &node.map) {
            (Some(seq), _) if is_list(&object) => self.converted_list(seq, &object, depth),
            (_, map) if is_dict(&object) && !(node.classes.is_empty() && map.is_none()) => {
                let dict = self.dict_of(&object)?;
                if self.has_resolvers() {
                    if let Some(made) = self.resolved_dict(&dict, node, id, depth)? {
                        return Ok(made);
                    }
                }
                let class = if node.classes.is_empty() { None } else { self.class_of_dict(&dict, node)? };
                match (class, map) {
                    (Some(class), _) => self.instance_of_dict(class, &dict, depth),
                    (None, Some(Map { kind: MapKind::TypedDict(class), .. })) => {
                        self.instance_of_dict(*class, &dict, depth)
                    }
                    (None, Some(map)) => self.converted_map(map, node, &object, depth),
                    (None, None) => Err(expected(&node.name, "dict")),
                }
            }
            _ => self.whole_value(id, object),
        }
    }

    /// A value of which no part is converted.
    fn whole_value(&mut self, id: NodeId, object: Owned) -> Result<Owned> {
        match self.rules.coerce(id, object.clone()) {
            Err(fault) if fault.is_invalid() && self.may_ask() => self.resolved_value(&object, id)?.ok_or(fault),
            made => made,
        }
    }

    fn converted_list(&mut self, seq: &'i Seq, list: &Owned, depth: usize) -> Result<Owned> {
        let items: Vec<Owned> =
            self.rules.bound(list).try_iter()?.map(|item| Ok(owned(&item?))).collect::<PyResult<_>>()?;
        self.charge(56 + 8 * items.len())?;
        if let Some(why) = broken_length(seq.min, seq.max, items.len(), seq.name()) {
            return Err(invalid(why));
        }
        let mut made = Vec::with_capacity(items.len());
        let nodes: &[NodeId] = match &seq.kind {
            SeqKind::NamedTuple(class) => {
                let class = self.class(*class)?;
                &class.fields.iter().map(|field| field.node).collect::<Vec<_>>()
            }
            _ => seq.items(),
        };
        let each = matches!(seq.kind, SeqKind::Fixed(_) | SeqKind::NamedTuple(_));
        if each && nodes.len() != items.len() {
            return Err(invalid(format_args!("Expected `tuple` of length {}, got {}", nodes.len(), items.len())));
        }
        for (at, item) in items.into_iter().enumerate() {
            let node = nodes[if each { at } else { 0 }];
            let item = self.converted(node, item, depth + 1).map_err(|fault| fault.within(|| Step::Index(at)))?;
            match is_skip(item.get()) {
                true if each => return Err(invalid("a resolver leaves out an item of a tuple that needs it")),
                true => {}
                false => made.push(item),
            }
        }
        let made = PyList::new(self.py, made.iter().map(|item| self.rules.bound(item)))?.into_any();
        let py = self.py;
        Ok(owned(&match &seq.kind {
            SeqKind::List(_) => made,
            SeqKind::Tuple(_) | SeqKind::Fixed(_) => py.get_type::<PyTuple>().call1((made,))?,
            SeqKind::Set(_) => py.get_type::<PySet>().call1((made,))?,
            SeqKind::FrozenSet(_) => py.get_type::<PyFrozenSet>().call1((made,))?,
            SeqKind::Deque(_) => Library::Deque.get(py)?.call1((made,))?,
            SeqKind::NamedTuple(class) => match &self.class(*class)?.class {
                // `tuple.__new__`: the class's own takes the items one by one, and may be the user's.
                Some(class) => py.get_type::<PyTuple>().call_method1("__new__", (self.rules.bound(class), made))?,
                None => made,
            },
        }))
    }

    fn converted_map(&mut self, map: &'i Map, node: &'i Node, dict: &Owned, depth: usize) -> Result<Owned> {
        let dict = self.dict_of(dict)?;
        self.charge(64 + 64 * dict.len())?;
        if let Some(why) = broken_length(map.min, map.max, dict.len(), "dict") {
            return Err(invalid(why));
        }
        let made = self.empty_mapping(map.kind.known(), node)?;
        let plain = self.rules.node(map.key).accepts & accepts::STR != 0;
        for (key, value) in dict {
            let key = match key.is_instance_of::<PyString>() && !plain && self.rules.schemaless {
                true => self.rules.coerce_key(map.key, owned(&key)),
                false => self.rules.coerce(map.key, owned(&key)),
            };
            let key = key.map_err(|fault| fault.within(|| Step::Some))?;
            let value =
                self.converted(map.value, owned(&value), depth + 1).map_err(|fault| fault.within(|| Step::Some))?;
            if !is_skip(value.get()) {
                set_item(&made, &key, &value)?;
            }
        }
        match map.kind {
            MapKind::MappingProxy => types::build(self.py, KnownType::PythonMappingProxy, &[made], self.here()),
            _ => Ok(made),
        }
    }
}

/// Sets an item of a mapping by its own method.
fn set_item(mapping: &Owned, key: &Owned, value: &Owned) -> Result<()> {
    // SAFETY: all three are owned references.
    match unsafe { ffi::PyObject_SetItem(mapping.get(), key.get(), value.get()) } {
        0 => Ok(()),
        _ => Err(raised()),
    }
}

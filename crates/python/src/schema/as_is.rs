//! Whether a finished object is what a node wants, as it is: for small messages, which are built without their type and then looked at.

use super::node::{MapKind, Node, Scalar, Seq, SeqKind};
use super::{coerce::kind_of, NodeId, Schema};
use crate::cpython::dict::Position;
use crate::cpython::set::next_member;
use crate::cpython::{Obj, Type};
use crate::types::library::Library;
use pyo3::{ffi, Python};
use std::ptr::addr_of_mut;

impl Schema {
    /// Whether there may be such objects at all. `types`: instances are known in the message.
    pub fn may_take_as_is(&self, id: NodeId, types: bool) -> bool {
        let node = &self.nodes[id as usize];
        (types || node.classes.is_empty()) && node.raw.is_none()
    }

    /// Whether an object of builtin types fits, and nothing about it has to be converted, asked or told. `false`: a load by this type
    /// has to say.
    ///
    /// # Safety
    /// `object` is alive, and nobody else has seen it; the GIL is held.
    pub unsafe fn takes_as_is(&self, id: NodeId, object: Obj) -> bool {
        let node = &self.nodes[id as usize];
        // SAFETY: `object` is alive by contract, and read as what its class says. Nothing here runs code, so it stays as it is.
        unsafe {
            if node.any || node.accepts & kind_of(object) != 0 {
                return node.raw.is_none();
            }
            let class = ffi::Py_TYPE(object);
            if class == addr_of_mut!(ffi::PyList_Type) {
                let items = || (0..ffi::PyList_GET_SIZE(object)).map(|at| ffi::PyList_GET_ITEM(object, at));
                matches!(kind(node), Some(SeqKind::List(item)) if items().all(|each| self.takes_as_is(*item, each)))
            } else if class == addr_of_mut!(ffi::PyTuple_Type) {
                let mut items = (0..ffi::PyTuple_GET_SIZE(object)).map(|at| ffi::PyTuple_GET_ITEM(object, at));
                match kind(node) {
                    Some(SeqKind::Tuple(item)) => items.all(|each| self.takes_as_is(*item, each)),
                    Some(SeqKind::Fixed(ids)) => {
                        ids.len() == items.len() && items.zip(ids).all(|(each, id)| self.takes_as_is(*id, each))
                    }
                    _ => false,
                }
            } else if class == addr_of_mut!(ffi::PySet_Type) {
                matches!(kind(node), Some(SeqKind::Set(item)) if self.members_as_is(*item, object))
            } else if class == addr_of_mut!(ffi::PyFrozenSet_Type) {
                matches!(kind(node), Some(SeqKind::FrozenSet(item)) if self.members_as_is(*item, object))
            } else if class == addr_of_mut!(ffi::PyDict_Type) {
                self.pairs_as_is(node, object)
            } else {
                is_moment(node, object) || self.is_instance(node, object)
            }
        }
    }

    /// Whether it is an instance of exactly one of the node's classes: one that was made by this schema.
    ///
    /// # Safety
    /// As for [`Schema::takes_as_is`].
    unsafe fn is_instance(&self, node: &Node, object: Obj) -> bool {
        // SAFETY: by the contract.
        let class = unsafe { ffi::Py_TYPE(object) };
        let is = |&index: &u32| self.classes[index as usize].is(class);
        let is_tuple = |seq: &Seq| match &seq.kind {
            SeqKind::NamedTuple(index) => (seq.min, seq.max) == (None, None) && is(index),
            _ => false,
        };
        node.raw.is_none() && (node.classes.iter().any(is) || node.seq.as_ref().is_some_and(is_tuple))
    }

    /// # Safety
    /// As for [`Schema::takes_as_is`]; `set` is a set or frozenset.
    unsafe fn members_as_is(&self, item: NodeId, set: Obj) -> bool {
        let mut at = 0;
        // SAFETY: by the contract.
        unsafe {
            while let Some(member) = next_member(set, &mut at) {
                if !self.takes_as_is(item, member) {
                    return false;
                }
            }
        }
        true
    }

    /// # Safety
    /// As for [`Schema::takes_as_is`]; `object` is a dict.
    unsafe fn pairs_as_is(&self, node: &Node, object: Obj) -> bool {
        let Some(map) = &node.map else { return false };
        if !matches!(map.kind, MapKind::Dict) || (map.min, map.max) != (None, None) || !is_plain(node) {
            return false;
        }
        let mut position = Position(0);
        // SAFETY: by the contract.
        unsafe {
            while let Some((key, value)) = position.next(object) {
                if !self.takes_as_is(map.key, key) || !self.takes_as_is(map.value, value) {
                    return false;
                }
            }
        }
        true
    }
}

/// Whether no class or other form could take the object instead.
fn is_plain(node: &Node) -> bool {
    node.classes.is_empty() && node.scalars.is_empty() && node.raw.is_none()
}

/// The kind of sequence that a node is, if its length doesn't matter.
fn kind(node: &Node) -> Option<&SeqKind> {
    let seq = node.seq.as_ref()?;
    ((seq.min, seq.max) == (None, None) && is_plain(node) && node.map.is_none()).then_some(&seq.kind)
}

/// Whether a node is nothing but a date, a time or the like, and the object is one.
///
/// # Safety
/// `object` is alive.
unsafe fn is_moment(node: &Node, object: Obj) -> bool {
    let [scalar] = &node.scalars[..] else { return false };
    // SAFETY: `object` is alive by contract; importing the module imported the datetime API.
    unsafe {
        let (api, class) = (&*ffi::PyDateTimeAPI(), ffi::Py_TYPE(object));
        match scalar {
            Scalar::Date => class == api.DateType,
            Scalar::Time(None) => class == api.TimeType,
            Scalar::Timedelta => class == api.DeltaType,
            Scalar::DateTime(None) => class == api.DateTimeType,
            Scalar::Decimal(None) => is_of(Library::Decimal, class),
            Scalar::Uuid => is_of(Library::Uuid, class),
            Scalar::Enum { class: own, .. } => own.get() == class.cast(),
            _ => false,
        }
    }
}

fn is_of(library: Library, class: Type) -> bool {
    // SAFETY: the GIL is held wherever a schema is used.
    let known = unsafe { library.known(Python::assume_attached()) };
    known.is_some_and(|known| known.as_ptr() == class.cast())
}

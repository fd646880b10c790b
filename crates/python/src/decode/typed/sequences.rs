//! Sequences against a schema. Packed runs are built at once where their values are accepted unchanged.

use super::super::frame::FIXED;
use super::super::Decoder;
use crate::cpython::fill::{list_item, tuple_item};
use crate::cpython::Owned;
use crate::decode::dialect::Dialect;
use crate::decode::hashed::Adding;
use crate::error::{decode, invalid, raised, Result, Step};
use crate::memory::{vec, Vec};
use crate::schema::class::{ClassKind, Missing};
use crate::schema::constraint::broken_length;
use crate::schema::node::{accepts, Node, SeqKind};
use crate::schema::{NodeId, ANY};
use crate::types;
use holdall_format::model::Seq;
use holdall_format::{Reader, Token};
use pyo3::ffi;

impl<'i, D: Dialect<'i>> Decoder<'i, D> {
    pub(crate) fn typed_sequence(
        &mut self,
        token: Token<'i>,
        len: usize,
        node: &'i Node,
        id: NodeId,
    ) -> Result<Option<Owned>> {
        let Some(seq) = &node.seq else {
            if let Some(class) = self.class_by_first(node, len)? {
                return self.by_order(class, len);
            }
            return if node.takes_containers() { self.untyped(token, id) } else { Err(self.mismatch(node, &token)) };
        };
        if let Some(why) = broken_length(seq.min, seq.max, len, seq.name()) {
            return Err(invalid(why));
        }
        match &seq.kind {
            SeqKind::List(item) => self.begin_list(len, *item),
            SeqKind::Tuple(item) => self.begin_tuple(len, *item, 0),
            SeqKind::Set(item) => {
                // SAFETY: the GIL is held while a decoder lives.
                let set = unsafe { Owned::new(ffi::PySet_New(std::ptr::null_mut())) }.ok_or_else(raised)?;
                self.begin_set(set, len, true, *item)
            }
            SeqKind::FrozenSet(item) => self.begin_frozenset(len, *item),
            SeqKind::Deque(item) => self.begin_deque(len, Token::None, *item),
            SeqKind::Fixed(items) if items.len() == len => self.begin_tuple(len, id, FIXED),
            SeqKind::Fixed(items) => {
                Err(invalid(format_args!("Expected `tuple` of length {}, got {len}", items.len())))
            }
            SeqKind::NamedTuple(class) => self.by_order(*class, len),
        }
    }

    /// The array-like classes of a node: their instances are stored without field names.
    pub(crate) fn array_like<'n>(&self, node: &'n Node) -> impl Iterator<Item = u32> + use<'i, 'n, D> {
        let schema = self.rules.schema;
        let is_one = move |class: u32| schema.is_some_and(|schema| schema.classes[class as usize].array_like);
        node.classes.iter().copied().filter(move |&class| is_one(class))
    }

    /// An array-like instance: its fields come in order, without names.
    pub(crate) fn by_order(&mut self, index: u32, len: usize) -> Result<Option<Owned>> {
        self.check_order(index, len)?;
        let shape = self.order_shape(index, len)?;
        self.begin_typed(&shape, len)
    }

    /// Refuses a number of values that does not fit the fields of an array-like class.
    fn check_order(&self, index: u32, len: usize) -> Result<()> {
        let Some(schema) = self.rules.schema else { return Err(decode("a class without its schema", self.here())) };
        let class = &schema.classes[index as usize];
        let tagged = usize::from(class.tag.is_some() && class.kind == ClassKind::Fields);
        let most = class.fields.len() + tagged;
        let least = tagged + class.fields.iter().take_while(|field| matches!(field.missing, Missing::Refused)).count();
        if len < least {
            return Err(invalid(format_args!("Expected `{}` of length >= {least}, got {len}", class.name)));
        }
        if len > most && (class.forbid_unknown || class.kind == ClassKind::NamedTuple) {
            return Err(invalid(format_args!("Expected `{}` of length <= {most}, got {len}", class.name)));
        }
        Ok(())
    }

    pub(crate) fn typed_deque(&mut self, token: Token<'i>, node: &'i Node, id: NodeId) -> Result<Option<Owned>> {
        let Some(seq) = &node.seq else {
            return if node.takes_containers() { self.untyped(token, id) } else { Err(self.mismatch(node, &token)) };
        };
        let most = self.r.token()?;
        let inner = self.r.token()?;
        let Token::List(len) = inner else {
            return Err(decode("expected the list of a deque's items", self.here()));
        };
        match seq.kind {
            SeqKind::Deque(item) => {
                if let Some(why) = broken_length(seq.min, seq.max, len, "deque") {
                    return Err(invalid(why));
                }
                self.begin_deque(len, most, item)
            }
            _ => self.typed_sequence(inner, len, node, id),
        }
    }

    /// A packed run: built at once if its values are accepted unchanged, otherwise coerced value by value.
    pub(crate) fn typed_run(&mut self, token: Token<'i>, node: &'i Node, id: NodeId) -> Result<Option<Owned>> {
        let (seq, len, kind) = match token {
            Token::Ints(seq, run) => (seq, run.len(), accepts::INT),
            Token::Floats(seq, run) => (seq, run.len(), accepts::FLOAT),
            Token::Bools(seq, run) => (seq, run.len(), accepts::BOOL),
            Token::Texts(seq, lengths, _) => (seq, lengths.len(), accepts::STR),
            _ => return Err(decode("a run out of place", self.here())),
        };
        let by_order = match node.seq.as_ref().map(|seq| &seq.kind) {
            Some(SeqKind::NamedTuple(class)) => vec![*class],
            Some(_) => Vec::new(),
            None => self.array_like(node).collect(),
        };
        if !by_order.is_empty() {
            return self.run_by_order(token, node, &by_order, len);
        }
        let Some(wanted) = &node.seq else {
            return if node.takes_containers() { self.untyped(token, id) } else { Err(self.mismatch(node, &token)) };
        };
        if let Some(why) = broken_length(wanted.min, wanted.max, len, wanted.name()) {
            return Err(invalid(why));
        }
        let takes = |item: NodeId| self.rules.node(item).accepts & kind != 0;
        let as_list = |token| match token {
            Token::Ints(_, run) => Token::Ints(Seq::List, run),
            Token::Floats(_, run) => Token::Floats(Seq::List, run),
            Token::Bools(_, run) => Token::Bools(Seq::List, run),
            Token::Texts(_, lengths, joined) => Token::Texts(Seq::List, lengths, joined),
            token => token,
        };
        match wanted.kind {
            SeqKind::List(item) if takes(item) => return self.node_of(as_list(token)),
            SeqKind::Tuple(item) if takes(item) && seq == Seq::Tuple => return self.node_of(token),
            _ => {}
        }
        let object_id = self.take_id();
        let Some(list) = self.node_of(as_list(token))? else { return Err(decode("a run out of place", self.here())) };
        let items = self.coerced_items(&list, node, len)?;
        self.object_id = object_id;
        self.container_of(node, items)
    }

    /// A packed run as the fields of an array-like class.
    fn run_by_order(&mut self, token: Token<'i>, node: &Node, classes: &[u32], len: usize) -> Result<Option<Owned>> {
        if let [only] = classes {
            self.check_order(*only, len)?;
        }
        let object_id = self.take_id();
        let Some(list) = self.node_of(token)? else { return Err(decode("a run out of place", self.here())) };
        // SAFETY: `list` is an owned reference to a list or tuple; the function checks the index and returns new or null.
        let items = (0..len as isize)
            .map(|at| unsafe { Owned::new(ffi::PySequence_GetItem(list.get(), at)) }.ok_or_else(raised))
            .collect::<Result<Vec<_>>>()?;
        let index = match classes {
            [only] => *only,
            several => self.tagged_first(node, several, items.first())?,
        };
        self.check_order(index, len)?;
        let shape = self.order_shape(index, len)?;
        self.object_id = object_id;
        self.instance_of(&shape, items).map(Some)
    }

    /// The items of a list that was built from a run, each coerced to its node.
    pub(crate) fn coerced_items(&mut self, list: &Owned, node: &Node, len: usize) -> Result<Vec<Owned>> {
        let Some(seq) = &node.seq else { return Ok(Vec::new()) };
        match &seq.kind {
            SeqKind::Fixed(items) if items.len() != len => {
                return Err(invalid(format_args!("Expected `tuple` of length {}, got {len}", items.len())))
            }
            _ => {}
        }
        (0..len)
            .map(|at| {
                let item = match &seq.kind {
                    SeqKind::List(item)
                    | SeqKind::Tuple(item)
                    | SeqKind::Set(item)
                    | SeqKind::FrozenSet(item)
                    | SeqKind::Deque(item) => *item,
                    SeqKind::Fixed(items) => items[at],
                    SeqKind::NamedTuple(_) => ANY,
                };
                // SAFETY: the caller built this list with `len` items and has given it to nobody.
                let value = unsafe { Owned::borrowed(ffi::PyList_GET_ITEM(list.get(), at as isize)) };
                self.rules.coerce(item, value).map_err(|fault| fault.within(|| Step::Index(at)))
            })
            .collect()
    }

    /// A container of the node's kind from finished items.
    pub(crate) fn container_of(&mut self, node: &Node, items: Vec<Owned>) -> Result<Option<Owned>> {
        let Some(seq) = &node.seq else { return Err(decode("a run out of place", self.here())) };
        let (len, here) = (items.len(), self.here());
        self.claim(0, 64 + 40 * len)?;
        // SAFETY: the GIL is held while a decoder lives; each container is new, with a slot for each item.
        let made = unsafe {
            match &seq.kind {
                SeqKind::List(_) => {
                    let list = Owned::new(ffi::PyList_New(len as isize)).ok_or_else(raised)?;
                    for (at, item) in items.into_iter().enumerate() {
                        list_item(list.get(), at, item);
                    }
                    list
                }
                SeqKind::Tuple(_) | SeqKind::Fixed(_) | SeqKind::NamedTuple(_) => {
                    let tuple = Owned::new(ffi::PyTuple_New(len as isize)).ok_or_else(raised)?;
                    for (at, item) in items.into_iter().enumerate() {
                        tuple_item(tuple.get(), at, item);
                    }
                    tuple
                }
                SeqKind::Set(_) | SeqKind::FrozenSet(_) => {
                    let set = match seq.kind {
                        SeqKind::Set(_) => ffi::PySet_New(std::ptr::null_mut()),
                        _ => ffi::PyFrozenSet_New(std::ptr::null_mut()),
                    };
                    let set = Owned::new(set).ok_or_else(raised)?;
                    let adding = Adding::new(&self.r, &self.rules.work, here).again();
                    for item in items {
                        adding.member(set.get(), item.get(), 0)?;
                    }
                    set
                }
                SeqKind::Deque(_) => {
                    let deque = types::collections::deque(self.py, Token::None, here)?;
                    for item in items {
                        types::collections::append(self.py, deque.get(), item.get())?;
                    }
                    deque
                }
            }
        };
        self.done(Some(made))
    }
}

//! Values against a schema: each token is taken as its node says, or refused.

use super::frame::{Frame, Kind, FIXED, ODD, PROXY};
use super::layout::{Build, Layout};
use super::{Decoder, UNMARKED};
use crate::cpython::Owned;
use crate::error::{decode, invalid, raised, Fault, Result, Step};
use crate::objects;
use crate::schema::class::{utf8, Class, ClassKind, Missing};
use crate::schema::coerce::expected;
use crate::schema::constraint::broken_length;
use crate::schema::node::{accepts, MapKind, Node, Scalar, SeqKind};
use crate::schema::{NodeId, ANY};
use holdall_format::model::{Bytes, Known, LayoutKind, Seq};
use holdall_format::{Reader, Token};
use pyo3::ffi;
use pyo3::prelude::*;
use pyo3::types::PyDict;
use std::collections::HashSet;
use std::rc::Rc;

impl<'i, R: Reader<'i>> Decoder<'i, R> {
    /// A value that its node does not take as it comes.
    #[inline(never)]
    pub(super) fn typed(&mut self, token: Token<'i>, id: NodeId) -> Result<Option<Owned>> {
        let node = self.rules.node(id);
        if node.any {
            return match self.leaf(token, accepts::ALL)? {
                Some(value) => Ok(Some(value)),
                None => self.node_of(token),
            };
        }
        let mark = self.mark;
        let made = match token {
            Token::List(len) | Token::Tuple(len) | Token::Set(len) | Token::FrozenSet(len) => {
                self.typed_sequence(token, len, node, id)?
            }
            Token::Dict(len) => self.typed_dict(token, len, node, id)?,
            Token::Instance(number) => {
                let Some(layout) = self.layouts.get(number).cloned() else { return self.node_of(token) };
                self.typed_instance(&layout, node, id)?
            }
            Token::NewLayout(new) => {
                self.mark = UNMARKED;
                let layout = self.layout(&new)?;
                self.mark = mark;
                self.typed_instance(&layout, node, id)?
            }
            Token::Ints(..) | Token::Floats(..) | Token::Bools(..) | Token::Texts(..) => {
                self.typed_run(token, node, id)?
            }
            Token::Known(Known::Deque) => self.typed_deque(token, node, id)?,
            Token::Known(known @ (Known::OrderedDict | Known::DefaultDict | Known::Counter)) if node.map.is_some() => {
                self.typed_mapping(known, node, id)?
            }
            Token::Mark => {
                let Some(mark) = self.begin_mark()? else {
                    let object = self.take_again()?;
                    return object.map(|object| self.rules.coerce(id, object)).transpose();
                };
                let token = self.r.next()?;
                if matches!(token, Token::Mark | Token::Reference(_)) {
                    return Err(decode("a mark of what has a number", self.here()));
                }
                if let Some(value) = self.leaf(token, node.accepts)? {
                    self.whole(mark, value.get());
                    self.mark = UNMARKED;
                    return Ok(Some(value));
                }
                return self.typed(token, id);
            }
            Token::Reference(number) => {
                let object = self.numbered(number)?;
                if self.numbered.get(number as usize).is_some_and(|known| known.node == id) {
                    return Ok(Some(object));
                }
                return self.rules.coerce(id, object).map(Some);
            }
            _ => return self.untyped(token, id),
        };
        if mark != UNMARKED {
            let numbered = &mut self.numbered[mark as usize];
            if numbered.object.is_some() {
                numbered.node = id;
            }
        }
        Ok(made)
    }

    /// A value for a loop over fields, if it needs no frame: `None` else, and the token is to be read again.
    #[inline(never)]
    pub(super) fn typed_field(&mut self, token: Token<'i>, id: NodeId, accepts: u32) -> Result<Option<Owned>> {
        match token {
            Token::Reference(_) | Token::Mark => self.shared_field(token, accepts),
            Token::Text(_)
            | Token::Int(_)
            | Token::Float(_)
            | Token::None
            | Token::Bool(_)
            | Token::Bytes(_)
            | Token::UInt(_)
            | Token::BigInt(_)
            | Token::Timestamp { .. }
            | Token::DateTime { zoned: false, .. } => self.untyped(token, id),
            _ => Ok(None),
        }
    }

    /// A value that is built as it comes, and then made into what the node wants.
    fn untyped(&mut self, token: Token<'i>, id: NodeId) -> Result<Option<Owned>> {
        let (depth, mark) = (self.stack.len(), self.mark);
        let made = match self.leaf(token, accepts::ALL)? {
            Some(value) => {
                let mark = self.take_mark();
                self.whole(mark, value.get());
                Some(value)
            }
            None => self.node_of(token)?,
        };
        match made {
            Some(object) => self.checked_object(object, id, mark).map(Some),
            None => {
                // The lowest of the frames is the one that gives the object.
                if let Some(frame) = self.stack.get_mut(depth) {
                    frame.check = id;
                }
                Ok(None)
            }
        }
    }

    /// An object that was built as it came, as the node wants it; what refers to it later gets the same.
    pub(super) fn checked_object(&mut self, object: Owned, id: NodeId, mark: u32) -> Result<Owned> {
        let raw = object.get();
        let made = self.rules.coerce(id, object)?;
        if made.get() != raw && mark != UNMARKED {
            let numbered = &mut self.numbered[mark as usize];
            numbered.object = Some(made.clone());
            numbered.node = id;
        }
        Ok(made)
    }

    #[cold]
    fn mismatch(&self, node: &Node, token: &Token<'i>) -> Fault {
        let got = match token {
            Token::List(_) => "list".to_owned(),
            Token::Tuple(_) => "tuple".to_owned(),
            Token::Set(_) => "set".to_owned(),
            Token::FrozenSet(_) => "frozenset".to_owned(),
            Token::Ints(seq, _) | Token::Floats(seq, _) | Token::Bools(seq, _) | Token::Texts(seq, ..) => {
                if *seq == Seq::List { "list" } else { "tuple" }.to_owned()
            }
            Token::Known(Known::Deque) => "deque".to_owned(),
            _ => "dict".to_owned(),
        };
        expected(&node.name, &got)
    }

    fn typed_sequence(&mut self, token: Token<'i>, len: usize, node: &'i Node, id: NodeId) -> Result<Option<Owned>> {
        let Some(seq) = &node.seq else {
            if let Some(class) = self.array_like(node) {
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

    /// The class whose instances are stored without names, if the node has one.
    fn array_like(&self, node: &Node) -> Option<u32> {
        let schema = self.rules.schema?;
        node.classes.iter().copied().find(|&class| schema.classes[class as usize].array_like)
    }

    /// An instance whose fields come in order, without names.
    fn by_order(&mut self, index: u32, len: usize) -> Result<Option<Owned>> {
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
        let layout = self.order_layout(index, len)?;
        self.begin_typed(&layout, len)
    }

    fn typed_deque(&mut self, token: Token<'i>, node: &'i Node, id: NodeId) -> Result<Option<Owned>> {
        let Some(seq) = &node.seq else {
            return if node.takes_containers() { self.untyped(token, id) } else { Err(self.mismatch(node, &token)) };
        };
        let most = self.r.next()?;
        let inner = self.r.next()?;
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

    /// A packed run: at once where its values are taken as they are, else value by value.
    fn typed_run(&mut self, token: Token<'i>, node: &'i Node, id: NodeId) -> Result<Option<Owned>> {
        let (seq, len, kind) = match token {
            Token::Ints(seq, run) => (seq, run.len(), accepts::INT),
            Token::Floats(seq, run) => (seq, run.len(), accepts::FLOAT),
            Token::Bools(seq, run) => (seq, run.len(), accepts::BOOL),
            Token::Texts(seq, lengths, _) => (seq, lengths.len(), accepts::STR),
            _ => return Err(decode("a run out of place", self.here())),
        };
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
        let mark = self.take_mark();
        let Some(list) = self.node_of(as_list(token))? else { return Err(decode("a run out of place", self.here())) };
        let items = self.coerced_items(&list, node, len)?;
        self.mark = mark;
        self.container_of(node, items)
    }

    /// The items of a list that was built of a run, each as its node wants it.
    fn coerced_items(&mut self, list: &Owned, node: &Node, len: usize) -> Result<Vec<Owned>> {
        let Some(seq) = &node.seq else { return Ok(Vec::new()) };
        let class = |index: &u32| self.rules.schema.and_then(|schema| schema.classes.get(*index as usize));
        match &seq.kind {
            SeqKind::Fixed(items) if items.len() != len => {
                return Err(invalid(format_args!("Expected `tuple` of length {}, got {len}", items.len())))
            }
            SeqKind::NamedTuple(index) if class(index).is_some_and(|class| class.fields.len() != len) => {
                return Err(invalid(format_args!("Expected `{}` of another length, got {len}", node.name)))
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
                    SeqKind::NamedTuple(index) => class(index).map_or(ANY, |class| class.fields[at].node),
                };
                // SAFETY: a list of ours with that many items.
                let value = unsafe { Owned::borrowed(ffi::PyList_GET_ITEM(list.get(), at as isize)) };
                self.rules.coerce(item, value).map_err(|fault| fault.within(|| Step::Index(at)))
            })
            .collect()
    }

    /// A container of values that are all there.
    fn container_of(&mut self, node: &Node, items: Vec<Owned>) -> Result<Option<Owned>> {
        let Some(seq) = &node.seq else { return Err(decode("a run out of place", self.here())) };
        let (len, here) = (items.len(), self.here());
        self.claim(0, 64 + 40 * len)?;
        // SAFETY: the GIL is held while a decoder lives; objects are new, with a place for each item.
        let made = unsafe {
            match &seq.kind {
                SeqKind::List(_) => {
                    let list = Owned::new(ffi::PyList_New(len as isize)).ok_or_else(raised)?;
                    for (at, item) in items.into_iter().enumerate() {
                        super::fill::list_item(list.get(), at, item);
                    }
                    list
                }
                SeqKind::Tuple(_) | SeqKind::Fixed(_) | SeqKind::NamedTuple(_) => {
                    let tuple = match (&seq.kind, self.rules.schema) {
                        (SeqKind::NamedTuple(index), Some(schema)) => {
                            let Some(class) = &schema.classes[*index as usize].class else {
                                return Err(decode("a class without its schema", here));
                            };
                            crate::class::state::allocate(class.get().cast(), len as isize)?
                        }
                        _ => Owned::new(ffi::PyTuple_New(len as isize)).ok_or_else(raised)?,
                    };
                    for (at, item) in items.into_iter().enumerate() {
                        super::fill::tuple_item(tuple.get(), at, item);
                    }
                    tuple
                }
                SeqKind::Set(_) | SeqKind::FrozenSet(_) => {
                    let set = match seq.kind {
                        SeqKind::Set(_) => ffi::PySet_New(std::ptr::null_mut()),
                        _ => ffi::PyFrozenSet_New(std::ptr::null_mut()),
                    };
                    let set = Owned::new(set).ok_or_else(raised)?;
                    for item in items {
                        if ffi::PySet_Add(set.get(), item.get()) != 0 {
                            return Err(raised());
                        }
                    }
                    set
                }
                SeqKind::Deque(_) => {
                    let deque = objects::collections::deque(self.py, Token::None, here)?;
                    for item in items {
                        objects::collections::append(deque.get(), item.get())?;
                    }
                    deque
                }
            }
        };
        self.done(Some(made))
    }

    fn typed_dict(&mut self, token: Token<'i>, len: usize, node: &'i Node, id: NodeId) -> Result<Option<Owned>> {
        if let (Some(map), true) = (&node.map, node.classes.is_empty()) {
            let known = match &map.kind {
                MapKind::TypedDict(class) => {
                    let layout = self.members_layout(*class)?;
                    return self.begin_typed(&layout, len);
                }
                MapKind::Dict | MapKind::MappingProxy => None,
                MapKind::OrderedDict => Some(Known::OrderedDict),
                MapKind::DefaultDict(_) => Some(Known::DefaultDict),
                MapKind::Counter => Some(Known::Counter),
            };
            return self.pairs_of(known, len, node, id);
        }
        match self.class_by_keys(node, len)? {
            Some(class) => {
                let layout = self.members_layout(class)?;
                self.begin_typed(&layout, len)
            }
            None if node.map.is_some() => {
                let dict = self.empty_mapping(None, node)?;
                self.begin_pairs(dict, len, true, id)
            }
            None if node.takes_containers() || self.by_own_code(node) => self.untyped(token, id),
            None => Err(self.mismatch(node, &token)),
        }
    }

    /// Whether some class of the node validates by code of its own.
    fn by_own_code(&self, node: &Node) -> bool {
        let Some(schema) = self.rules.schema else { return false };
        node.classes.iter().any(|&class| schema.classes[class as usize].kind == ClassKind::Pydantic)
    }

    /// Pairs into a new mapping of that kind.
    fn pairs_of(&mut self, known: Option<Known>, len: usize, node: &'i Node, id: NodeId) -> Result<Option<Owned>> {
        let Some(map) = &node.map else { return Err(decode("a mapping out of place", self.here())) };
        if let Some(why) = broken_length(map.min, map.max, len, "dict") {
            return Err(invalid(why));
        }
        let dict = self.empty_mapping(known, node)?;
        if matches!(map.kind, MapKind::MappingProxy) {
            let (at, mark) = (self.here(), self.take_mark());
            let depth = self.stack.len();
            let done = self.begin_pairs(dict, len, true, id)?;
            if let Some(frame) = self.stack.get_mut(depth) {
                (frame.flags, frame.mark) = (PROXY, mark);
            }
            return done.map(|dict| self.proxy(dict, mark, at)).transpose();
        }
        self.begin_pairs(dict, len, true, id)
    }

    fn empty_mapping(&self, known: Option<Known>, node: &Node) -> Result<Owned> {
        let Some(known) = known else {
            // SAFETY: the GIL is held while a decoder lives.
            return unsafe { Owned::new(ffi::PyDict_New()) }.ok_or_else(raised);
        };
        let made = objects::collections::empty(self.py, known)?;
        if let Some(MapKind::DefaultDict(Some(factory))) = node.map.as_ref().map(|map| &map.kind) {
            // SAFETY: both are held.
            unsafe {
                if ffi::PyObject_SetAttrString(made.get(), c"default_factory".as_ptr(), factory.get()) != 0 {
                    return Err(raised());
                }
            }
        }
        Ok(made)
    }

    /// A dict whose items are there, shown through a proxy.
    pub(super) fn proxy(&mut self, dict: Owned, mark: u32, at: usize) -> Result<Owned> {
        let made = objects::build(self.py, Known::MappingProxy, &[dict], at)?;
        self.whole(mark, made.get());
        Ok(made)
    }

    /// An ordered dict and its like, as hold stores them.
    fn typed_mapping(&mut self, known: Known, node: &'i Node, id: NodeId) -> Result<Option<Owned>> {
        if known == Known::DefaultDict {
            // The factory that the type names is used; the stored one is a builtin, or nothing.
            self.skip()?;
        }
        let before = self.r.offset();
        match self.r.next()? {
            Token::Dict(len) => self.typed_dict(Token::Dict(len), len, node, id),
            _ => Err(decode("expected the dict of a mapping's items", before)),
        }
    }

    /// Which class a dict of a plain format is, by its tag or its keys. `None` where the node has none that dicts are.
    fn class_by_keys(&mut self, node: &'i Node, len: usize) -> Result<Option<u32>> {
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

    /// The class that a tag's value means.
    fn tagged(&self, tags: &Owned, value: &Owned) -> Result<Option<u32>> {
        // SAFETY: both are held.
        let (tags, value) = unsafe {
            (Bound::from_borrowed_ptr(self.py, tags.get()), Bound::from_borrowed_ptr(self.py, value.get()))
        };
        match tags.cast::<PyDict>().map_err(PyErr::from)?.get_item(value)? {
            Some(class) => Ok(Some(class.extract()?)),
            None => Ok(None),
        }
    }

    fn choose(
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

    /// A dict or an instance by its layout.
    #[inline(always)]
    fn typed_instance(&mut self, layout: &Rc<Layout>, node: &'i Node, id: NodeId) -> Result<Option<Owned>> {
        // Most are of the layout of the one before, which was matched then.
        if let ([class], true, Some(schema)) = (&node.classes[..], node.map.is_none(), self.rules.schema) {
            let known = layout.matched_with(schema.serial, *class);
            if let Some(known) = known {
                return self.begin_typed(&known, layout.names.len());
            }
        }
        self.unmatched_instance(layout, node, id)
    }

    #[inline(never)]
    fn unmatched_instance(&mut self, layout: &Rc<Layout>, node: &'i Node, id: NodeId) -> Result<Option<Owned>> {
        if layout.kind == LayoutKind::Dict {
            return self.typed_record(layout, node, id);
        }
        let name = layout.stored_name(self.py)?;
        let found = self.schema_class(&name);
        if let (Some(class), Some(schema), LayoutKind::Object) = (&found, self.rules.schema, layout.kind) {
            let class = class.get().cast();
            let own = |index: u32| schema.classes[index as usize].is(class);
            let of_node = match node.seq.as_ref().map(|seq| &seq.kind) {
                Some(SeqKind::NamedTuple(index)) if own(*index) => Some(*index),
                _ => node.classes.iter().copied().find(|&index| own(index)),
            };
            if let Some(index) = of_node {
                if schema.classes[index as usize].kind != ClassKind::Pydantic && !self.upgrades(&found, layout) {
                    let layout = self.positions_layout(layout, index)?;
                    return self.begin_typed(&layout, layout_len(&layout));
                }
            }
        }
        // By what the class's instances are made of, then looked at: enumerations, foreign classes, upgrades.
        let known = found.is_some() || self.could_be(&name)?;
        if !known || !(node.takes_containers() || !node.classes.is_empty() || !node.scalars.is_empty() || node.seq.is_some()) {
            return Err(expected(&node.name, &name));
        }
        let (depth, mark) = (self.stack.len(), self.mark);
        match self.instance(layout)? {
            Some(object) => {
                self.checked_object(object, id, mark).map(Some)
            }
            None => {
                if let Some(frame) = self.stack.get_mut(depth) {
                    frame.check = id;
                }
                Ok(None)
            }
        }
    }

    /// The class that a stored name means in this schema.
    fn schema_class(&self, name: &str) -> Option<Owned> {
        match crate::class::registry::by_name(self.py, name) {
            Some(registration) => Some(registration.class.clone()),
            None => self.rules.schema?.permitted.get(name).cloned(),
        }
    }

    /// Whether a stored class is one that the caller permits besides, or the standard library's own.
    fn could_be(&mut self, name: &str) -> Result<bool> {
        match self.resolve(name, self.here()) {
            Ok(found) => Ok(found.is_some()),
            Err(fault) if fault.is_unknown() => Ok(false),
            Err(fault) => Err(fault),
        }
    }

    /// Whether what is stored goes through the class's `upgrade`.
    fn upgrades(&self, class: &Option<Owned>, layout: &Layout) -> bool {
        let Some(class) = class else { return false };
        crate::class::registry::by_class(self.py, class.get().cast())
            .is_some_and(|known| known.upgrade.is_some() && known.version != layout.version)
    }

    /// A dict of known keys.
    fn typed_record(&mut self, layout: &Rc<Layout>, node: &'i Node, id: NodeId) -> Result<Option<Owned>> {
        let len = layout.names.len();
        if let (Some(map), true) = (&node.map, node.classes.is_empty()) {
            if let MapKind::TypedDict(class) = map.kind {
                let layout = self.positions_layout(layout, class)?;
                return self.begin_typed(&layout, len);
            }
            return self.record_as_map(layout, node, id);
        }
        match self.class_by_names(layout, node)? {
            Some(class) => {
                let layout = self.positions_layout(layout, class)?;
                self.begin_typed(&layout, len)
            }
            None if node.map.is_some() => self.record_as_map(layout, node, id),
            None if node.takes_containers() || self.by_own_code(node) => {
                let (depth, mark) = (self.stack.len(), self.mark);
                match self.instance(layout)? {
                    Some(object) => self.checked_object(object, id, mark).map(Some),
                    None => {
                        if let Some(frame) = self.stack.get_mut(depth) {
                            frame.check = id;
                        }
                        Ok(None)
                    }
                }
            }
            None => Err(expected(&node.name, "dict")),
        }
    }

    /// As `class_by_keys`, for a dict whose keys are known beforehand; a tag's value is looked at ahead.
    fn class_by_names(&mut self, layout: &Layout, node: &'i Node) -> Result<Option<u32>> {
        let Some(schema) = self.rules.schema else { return Ok(None) };
        let of = |class: u32| &schema.classes[class as usize];
        let candidates: Vec<u32> = node.classes.iter().copied().filter(|&class| of(class).kind == ClassKind::Fields).collect();
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

    /// A dict of known keys into a mapping of the node's kind.
    fn record_as_map(&mut self, layout: &Rc<Layout>, node: &'i Node, _id: NodeId) -> Result<Option<Owned>> {
        let Some(map) = &node.map else { return Err(decode("a mapping out of place", self.here())) };
        let len = layout.names.len();
        if let Some(why) = broken_length(map.min, map.max, len, "dict") {
            return Err(invalid(why));
        }
        let plain = self.rules.node(map.key).accepts & accepts::STR != 0;
        if plain && matches!(map.kind, MapKind::Dict) {
            return self.dict(layout, len, map.value);
        }
        let mut names = layout.names.clone();
        if !plain {
            for name in &mut names {
                *name = self.rules.coerce(map.key, name.clone()).map_err(|fault| fault.within(|| Step::Some))?;
            }
        }
        let known = match map.kind {
            MapKind::OrderedDict => Some(Known::OrderedDict),
            MapKind::DefaultDict(_) => Some(Known::DefaultDict),
            MapKind::Counter => Some(Known::Counter),
            _ => None,
        };
        let dict = self.empty_mapping(known, node)?;
        self.claim(len, layout.bytes)?;
        let proxy = matches!(map.kind, MapKind::MappingProxy);
        let mark = self.take_mark();
        if !proxy {
            self.opened(mark, dict.get());
        }
        if len == 0 {
            let made = if proxy { self.proxy(dict, mark, self.here())? } else { dict };
            self.whole(mark, made.get());
            return Ok(Some(made));
        }
        let frame = self.frame(Kind::Keyed, Some(dict), len, mark);
        let named = Rc::new(layout.like(Build::Dict, names));
        let flags = ODD | if proxy { PROXY } else { 0 };
        Ok(self.push(Frame { layout: Some(named), item: map.value, flags, ..frame }))
    }
}

fn layout_len(layout: &Layout) -> usize {
    match &layout.build {
        Build::Typed(typed) => typed.stored(),
        _ => 0,
    }
}

impl Node {
    /// Whether some of its forms may be made of a container.
    fn takes_containers(&self) -> bool {
        self.scalars.iter().any(|scalar| {
            matches!(
                scalar,
                Scalar::Complex
                    | Scalar::Numpy { .. }
                    | Scalar::Custom { .. }
                    | Scalar::Registered { .. }
                    | Scalar::Value { .. }
                    | Scalar::Enum { .. }
            )
        })
    }
}

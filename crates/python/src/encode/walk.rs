//! The walk: continues the container on top of the stack, item by item.

use crate::cpython::dict::Position;
use crate::cpython::set::next_member;
use crate::cpython::{prefetch, text};
use crate::encode::dialect::Dialect;
use crate::encode::{shapes, Encoder, Extra, Frame, Kind};
use crate::error::{encode, Result};
use crate::memory::{self, format, push, HashSet};
use crate::types::walker::{WorkItem, BY_PARENT, BY_PARENT_AND_US};
use holdall_format::model::Seq;
use holdall_format::Writer;
use pyo3::Bound;

/// Without references, how deep the walk goes before it first searches for a cycle.
const SUSPICIOUS: usize = 1_000;
pub const CHANGED: &str = "a container changed its size while it was being stored";

impl<D: Dialect> Encoder<'_, D> {
    /// Runs until the stack is empty.
    pub(crate) fn walk(&mut self) -> Result<()> {
        let mut suspicious = SUSPICIOUS;
        while let Some(kind) = self.tables.stack.last().map(|frame| frame.kind) {
            memory::check();
            if !self.tracks() && self.tables.stack.len() > suspicious {
                self.refuse_cycle()?;
                suspicious = self.tables.stack.len() * 2;
            }
            self.refuse_deep()?;
            // SAFETY: a frame holds its object, which is of the type that its kind says.
            unsafe {
                match kind {
                    Kind::List => self.walk_items(Seq::List)?,
                    Kind::Tuple => self.walk_items(Seq::Tuple)?,
                    Kind::Values => self.walk_values()?,
                    Kind::Pairs => self.walk_pairs()?,
                    Kind::Set => self.walk_set()?,
                    Kind::Slots => self.walk_slots()?,
                    Kind::Attributes => self.walk_attributes()?,
                    Kind::Parts => self.walk_parts()?,
                    Kind::Named => self.walk_named()?,
                    Kind::Ordered => self.walk_ordered()?,
                }
            }
        }
        Ok(())
    }

    /// Refuses a container that is on the stack twice: without references nothing else is remembered, and that is a
    /// cycle.
    #[cold]
    fn refuse_cycle(&self) -> Result<()> {
        let mut seen = HashSet::new();
        for (at, frame) in self.tables.stack.iter().enumerate() {
            let on_the_way = match &frame.extra {
                // Few frames of work items stand for an object; else the item being written does.
                Some(Extra::Parts(parts)) if frame.stands_for_none() => {
                    match parts.get((frame.at as usize).wrapping_sub(1)) {
                        Some(WorkItem::Value(object)) => object.get(),
                        _ => continue,
                    }
                }
                _ => frame.object.get(),
            };
            if !seen.insert((on_the_way as usize, frame.kind as u8)) {
                let place = self.place_of_cycle(at);
                return Err(encode(if D::HAS_REFERENCES {
                    format!("a container holds itself: store it with refs=True - at `{place}`")
                } else {
                    format!("a container holds itself, which the format can't hold - at `{place}`")
                }));
            }
        }
        Ok(())
    }

    /// The path to the object of a frame: fields and indices. Keys of dicts are the user's data and not shown.
    #[cold]
    fn place_of_cycle(&self, until: usize) -> String {
        let step = |place: &mut String, name: Option<&[u8]>| match name {
            Some(name) => push(place, format_args!(".{}", String::from_utf8_lossy(name))),
            None => push(place, format_args!("[...]")),
        };
        let mut place = "$".to_owned();
        for frame in &self.tables.stack[..until] {
            let before = (frame.at as usize).saturating_sub(1);
            match (&frame.kind, &frame.extra) {
                (Kind::List | Kind::Tuple, _) => push(&mut place, format_args!("[{before}]")),
                (Kind::Named, Some(Extra::Plan(plan))) => {
                    let field = plan.schemaless_form(self.py).ok().and_then(|form| form.fields.as_ref()?.get(before));
                    // SAFETY: the plan holds the name.
                    let name = field.and_then(|field| unsafe { text::ascii(field.key.get()) });
                    step(&mut place, name);
                }
                (Kind::Slots, Some(Extra::Plan(plan))) => {
                    // SAFETY: the plan holds the name.
                    let name = plan.slots.get(before).and_then(|slot| unsafe { text::ascii(slot.name.get()) });
                    step(&mut place, name);
                }
                // A replacement of an object adds no step.
                (Kind::Parts, _) if !frame.stands_for_none() => {}
                (Kind::Parts, Some(Extra::Parts(parts))) => {
                    // A field's value comes after its name.
                    let name = match (frame.at as usize).checked_sub(2).and_then(|name| parts.get(name)) {
                        // SAFETY: the work item holds the name.
                        Some(WorkItem::Field(name)) => unsafe { text::ascii(name.get()) },
                        _ => None,
                    };
                    step(&mut place, name);
                }
                _ => step(&mut place, None),
            }
        }
        place
    }

    unsafe fn walk_items(&mut self, seq: Seq) -> Result<()> {
        let depth = self.tables.stack.len();
        let frame = &self.tables.stack[depth - 1];
        let (object, mut at, len, mut hint) = (frame.object.get(), frame.at as usize, frame.len, frame.hint);
        // SAFETY: the frame holds a list or tuple; its items are read anew after everything that may run Python code.
        unsafe {
            loop {
                let items = super::sequence::items(object, seq);
                if items.len() != len {
                    return Err(encode(CHANGED));
                }
                let Some(&item) = items.get(at) else { break };
                at += 1;
                if let Some(&ahead) = items.get(at + 3) {
                    prefetch(ahead);
                }
                if seq == Seq::List && self.dialect.marks_items() {
                    D::mark_item(self);
                }
                if self.leaf(item, BY_PARENT)? || self.referred(item)? {
                    continue;
                }
                if let Some(&next) = items.get(at + 1) {
                    D::prefetch(self, next);
                }
                if self.shallow(item)? {
                    if self.tables.stack.len() != depth {
                        let frame = &mut self.tables.stack[depth - 1];
                        (frame.at, frame.hint) = (at as isize, hint);
                        return Ok(());
                    }
                    continue;
                }
                self.tables.stack[depth - 1].at = at as isize;
                if D::like_the_last(self, item)? {
                    if self.tables.stack.len() != depth {
                        return Ok(());
                    }
                    continue;
                }
                self.last_shape = hint;
                self.node(item, BY_PARENT, hint)?;
                hint = self.last_shape;
                if self.tables.stack.len() != depth {
                    self.tables.stack[depth - 1].hint = hint;
                    return Ok(());
                }
            }
        }
        self.tables.stack.pop();
        if seq == Seq::List {
            D::end_list(self);
        }
        Ok(())
    }

    unsafe fn walk_values(&mut self) -> Result<()> {
        let depth = self.tables.stack.len();
        let frame = &self.tables.stack[depth - 1];
        let (object, mut position, mut left, shape) = (frame.object.get(), Position(frame.at), frame.len, frame.hint);
        // SAFETY: the frame holds a dict; `next` reads it anew at every step.
        unsafe {
            while let Some((_, value)) = position.next(object) {
                if left == 0 {
                    return Err(encode(CHANGED));
                }
                left -= 1;
                if self.leaf(value, BY_PARENT)? {
                    continue;
                }
                let at = position.0 as usize - 1;
                let hint = self.tables.shapes.hint(shape, at).map_or(shapes::NONE, |hint| *hint);
                let frame = &mut self.tables.stack[depth - 1];
                (frame.at, frame.len) = (position.0, left);
                self.last_shape = hint;
                self.node(value, BY_PARENT, hint)?;
                if self.last_shape != hint {
                    let used = self.last_shape;
                    if let Some(hint) = self.tables.shapes.hint(shape, at) {
                        *hint = used;
                    }
                }
                if self.tables.stack.len() != depth {
                    return Ok(());
                }
            }
        }
        if left != 0 {
            return Err(encode(CHANGED));
        }
        self.tables.stack.pop();
        Ok(())
    }

    unsafe fn walk_pairs(&mut self) -> Result<()> {
        // SAFETY: the frame on top holds a dict.
        if unsafe { D::walk_pairs(self)? } {
            return Ok(());
        }
        let depth = self.tables.stack.len();
        loop {
            let frame = &mut self.tables.stack[depth - 1];
            let object = frame.object.get();
            let mut position = Position(frame.at);
            // SAFETY: the frame holds a dict; `next` reads it anew at every step.
            unsafe {
                let Some((key, value)) = position.next(object) else { break };
                if frame.len == 0 {
                    return Err(encode(CHANGED));
                }
                if frame.value_next {
                    frame.value_next = false;
                    frame.at = position.0;
                    frame.len -= 1;
                    let hint = frame.hint;
                    if self.leaf(value, BY_PARENT)? {
                        continue;
                    }
                    self.last_shape = hint;
                    self.node(value, BY_PARENT, hint)?;
                    self.tables.stack[depth - 1].hint = self.last_shape;
                } else {
                    // The position stays: the value is found there again after the key is written.
                    frame.value_next = true;
                    if self.key(key, BY_PARENT)? {
                        continue;
                    }
                    self.check_key(key)?;
                    self.node(key, BY_PARENT, shapes::NONE)?;
                }
                if self.tables.stack.len() != depth {
                    return Ok(());
                }
            }
        }
        if self.tables.stack[depth - 1].len != 0 {
            return Err(encode(CHANGED));
        }
        self.pop_linked();
        Ok(())
    }

    unsafe fn walk_set(&mut self) -> Result<()> {
        let depth = self.tables.stack.len();
        loop {
            let frame = &mut self.tables.stack[depth - 1];
            // SAFETY: the frame holds a set, which the function reads anew at every step.
            unsafe {
                let Some(key) = next_member(frame.object.get(), &mut frame.at) else { break };
                if frame.len == 0 {
                    return Err(encode(CHANGED));
                }
                frame.len -= 1;
                if self.leaf(key, BY_PARENT)? {
                    continue;
                }
                self.check_key(key)?;
                self.node(key, BY_PARENT, shapes::NONE)?;
                if self.tables.stack.len() != depth {
                    return Ok(());
                }
            }
        }
        if self.tables.stack[depth - 1].len != 0 {
            return Err(encode(CHANGED));
        }
        self.tables.stack.pop();
        Ok(())
    }

    unsafe fn walk_parts(&mut self) -> Result<()> {
        let depth = self.tables.stack.len();
        loop {
            let frame = &mut self.tables.stack[depth - 1];
            let Some(Extra::Parts(parts)) = &frame.extra else { break };
            let Some(part) = parts.get(frame.at as usize).cloned() else { break };
            frame.at += 1;
            // SAFETY: work items are of the types that their names say, and the frame holds them.
            unsafe {
                match &part {
                    WorkItem::Value(object) | WorkItem::Key(object) if self.asks() => self.asked(object.get())?,
                    // Held by the frame, by `part` and by its parent.
                    WorkItem::Value(object) => {
                        self.value(object.get(), BY_PARENT_AND_US + 1)?;
                    }
                    WorkItem::Key(object) => {
                        if !self.key(object.get(), BY_PARENT_AND_US + 1)? {
                            self.check_key(object.get())?;
                            self.node(object.get(), BY_PARENT_AND_US + 1, shapes::NONE)?;
                        }
                    }
                    WorkItem::Field(name) => self.name_key(name.get())?,
                    WorkItem::Table(dict) => self.dict_body(dict)?,
                    WorkItem::Body(object) => self.body(object.get())?,
                    WorkItem::Octets(object) => {
                        let view = crate::cpython::View::new(&Bound::from_borrowed_ptr(self.py, object.get()))?;
                        self.w.bytes(view.as_slice());
                    }
                    WorkItem::Instead(object, true) => self.open(object.get(), shapes::NONE)?,
                    WorkItem::Instead(object, false) => self.value(object.get(), BY_PARENT_AND_US)?,
                    WorkItem::Made(number) => self.end_arguments(*number),
                    WorkItem::Walked(set) => self.walked(set),
                    WorkItem::Given { unchecked } => {
                        self.replacing -= 1;
                        self.unchecked -= u32::from(*unchecked);
                    }
                }
            }
            if self.asks() {
                self.take_apart(depth);
            }
            if self.tables.stack.len() != depth {
                return Ok(());
            }
        }
        let frame = self.pop_linked();
        if let Some(Frame { extra: Some(Extra::Parts(parts)), .. }) = frame {
            // Kept, so that no other object gets its address before the message is complete.
            for part in *parts {
                match part {
                    WorkItem::Value(object)
                    | WorkItem::Key(object)
                    | WorkItem::Field(object)
                    | WorkItem::Table(object)
                    | WorkItem::Octets(object)
                    | WorkItem::Walked(object)
                    | WorkItem::Body(object) => self.tables.temporaries.push(object),
                    WorkItem::Instead(object, _) => {
                        self.replacing -= 1;
                        self.tables.temporaries.push(object);
                    }
                    WorkItem::Made(_) | WorkItem::Given { .. } => {}
                }
            }
        }
        Ok(())
    }
}

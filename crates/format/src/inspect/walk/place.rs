//! Where values are recorded: as nodes, in the sums of what is not shown, or as keys.

use super::super::{Key, Node, Rest, Sum};
use super::{Members, Met, Told, ValueKind, Walk};
use crate::memory::{vec, Vec};
use crate::model::Reader;

/// How many kinds are counted separately among the members of a container that are not shown.
const MOST_KINDS: usize = 16;

impl<'i, R: Reader<'i>> Walk<'i, R> {
    pub(super) fn rest(&mut self, kind: Option<ValueKind>, class: u32, sum: Sum) -> Rest {
        Rest { kind, name: self.class_name(class), sum }
    }

    /// Records a value as a node, in the sums of what is not shown, or as a key.
    pub(super) fn place(&mut self, met: Met, kind: ValueKind, class: u32, bytes: usize, told: Told) {
        if self.stack.len() != self.shown.len() {
            return;
        }
        if met.is_key {
            let known = self.shown.last().is_some_and(|shown| shown.key.is_some());
            if !known && self.shows_next() {
                let text = told.target.and_then(|number| self.text_of(number));
                self.shown_key(text.map_or_else(|| Key::Other(kind.label().into()), Key::Text));
            }
            return;
        }
        if !met.shown {
            // The size of a container is known when it is closed.
            self.add_rest(kind, class, bytes);
            return;
        }
        let key = self.key();
        let (rest, name) = match told.rest {
            Some((kind, sum)) if sum.values > 0 => (vec![self.rest(Some(kind), 0, sum)], None),
            _ => (Vec::new(), self.class_name(class)),
        };
        self.nodes.push(Node {
            depth: self.shown.len(),
            key,
            kind,
            name: told.name.or(name),
            offset: met.start,
            bytes,
            items: told.items,
            number: met.number,
            references: 0,
            target: told.target,
            value: told.value,
            rest,
            whole: true,
        });
    }

    pub(super) fn shown_key(&mut self, key: Key) {
        if let Some(shown) = self.shown.last_mut() {
            shown.key = Some(key);
        }
    }

    /// The key of the value that is recorded next.
    fn key(&mut self) -> Key {
        let (Some(frame), Some(shown)) = (self.stack.last_mut(), self.shown.last_mut()) else {
            return self.outermost.take().unwrap_or(Key::Root);
        };
        let at = shown.taken;
        shown.taken += 1;
        match frame.members {
            Members::Content => {
                frame.members = Members::Fields;
                Key::Content
            }
            Members::Fields => {
                let name = shown.names.next().unwrap_or_default();
                if frame.kind == ValueKind::Dict {
                    Key::Text(name)
                } else {
                    Key::Field(name)
                }
            }
            Members::Pairs | Members::Named => shown.key.take().unwrap_or(Key::Item(at)),
            Members::Items => Key::Item(at),
        }
    }

    /// Adds to the members of the innermost container that are not shown, if that container is shown.
    pub(super) fn add_rest(&mut self, kind: ValueKind, class: u32, bytes: usize) {
        if self.stack.len() != self.shown.len() {
            return;
        }
        let Some(shown) = self.shown.last_mut() else { return };
        shown.taken += 1;
        let mut row = shown.rest.iter().position(|row| row.0 == Some(kind) && row.1 == class);
        if row.is_none() {
            let (kind, class) = if shown.rest.len() < MOST_KINDS { (Some(kind), class) } else { (None, 0) };
            row = shown.rest.iter().position(|row| kind.is_none() && row.0.is_none());
            if row.is_none() {
                row = Some(shown.rest.len());
                shown.rest.push((kind, class, Sum::default()));
            }
        }
        if let Some(row) = row.and_then(|row| shown.rest.get_mut(row)) {
            row.2.add(1, bytes);
        }
    }
}

//! What all the values come to.

use super::super::{Class, Inspection, Referred};
use super::{kind_of, Error, Numbered, ValueKind, Walk, MOST_FIELDS};
use crate::memory::Vec;
use crate::model::{Reader, Shape, ShapeKind, ShapeReader as _, Token};
use std::cmp::Reverse;
use std::collections::BinaryHeap;

impl<'i, R: Reader<'i>> Walk<'i, R> {
    pub(super) fn totals(mut self, error: Option<Error>) -> Inspection {
        let mut kinds: Vec<_> = ValueKind::all().map(|kind| (kind, self.sums[kind.index()])).collect();
        kinds.retain(|(_, sum)| sum.values > 0);
        kinds.sort_by_key(|(_, sum)| Reverse(sum.bytes));
        for node in &mut self.nodes {
            if let Some(&references) = node.number.and_then(|number| self.references.get(number as usize)) {
                node.references = references;
            }
        }
        let class_count = self.rows.iter().filter(|row| row.sum.values > 0).count();
        let rows = self.rows.iter().enumerate().filter(|(_, row)| row.sum.values > 0);
        let classes = largest(rows.map(|(at, row)| (row.sum.bytes, at)), self.options.most);
        let classes = classes.into_iter().map(|(_, at)| self.class_row(at)).collect();
        let used = self.references.iter().enumerate().filter(|(_, &references)| references > 0);
        let referred = largest(used.map(|(number, &references)| (u64::from(references), number)), self.options.most);
        let referred = referred.into_iter().filter_map(|(_, number)| self.referred(number)).collect();
        Inspection {
            kinds,
            classes,
            class_count,
            referred,
            numbered: self.references.len() as u64 - u64::from(!R::TYPES),
            shared: self.references.iter().filter(|&&references| references > 0).count() as u64,
            references: self.references.iter().map(|&references| u64::from(references)).sum(),
            head: self.head,
            read: self.at,
            error,
            nodes: self.nodes,
        }
    }

    fn class_row(&mut self, at: usize) -> Class {
        let row = self.rows[at];
        let name = self.class_name(at as u32 + 1);
        let Some(shape) = row.shape else {
            let (fields, field_count) = self.lisp_class(at).map_or((Vec::new(), 0), |class| (class.1.into(), class.2));
            return Class { name, kind: None, version: 0, fields, field_count, sum: row.sum };
        };
        let own = usize::from(shape.kind != ShapeKind::Dict);
        let names: Vec<_> = R::Shapes::names(&shape).skip(own).take(MOST_FIELDS).map_while(Result::ok).collect();
        let fields = names.into_iter().map(|name| self.name_text(name)).collect();
        Class { name, kind: Some(shape.kind), version: shape.version, fields, field_count: shape.fields, sum: row.sum }
    }

    fn referred(&mut self, number: usize) -> Option<Referred> {
        let references = *self.references.get(number)?;
        let about = |kind, name, offset| Some(Referred { number: number as u64, references, kind, name, offset });
        let place = match *self.numbers.get(number)? {
            Numbered::Name(_) => return about(ValueKind::Str, None, None),
            Numbered::Value(place) => place,
        };
        let here = self.r.place();
        self.r.rewind(place);
        let offset = self.r.offset();
        self.r.rewind(here);
        let token = self.token_at(place)?;
        let row = match token {
            Token::NewShape(Shape { at, .. }) => {
                self.rows.binary_search_by_key(&at, |row| row.shape.map_or(0, |shape| shape.at)).ok()
            }
            Token::Instance(row) => Some(row),
            _ => None,
        };
        let Some((row, shape)) = row.and_then(|row| Some((row, self.rows.get(row)?.shape?))) else {
            return about(kind_of(&token), None, Some(offset));
        };
        about(ValueKind::of_shape(shape.kind), self.class_name(row as u32 + 1), Some(offset))
    }
}

/// The `most` largest, the first of equal ones first.
fn largest(all: impl Iterator<Item = (u64, usize)>, most: usize) -> Vec<(u64, usize)> {
    let mut heap = BinaryHeap::new();
    for (size, at) in all {
        heap.push(Reverse((size, Reverse(at))));
        if heap.len() > most {
            heap.pop();
        }
    }
    heap.into_sorted_vec().into_iter().map(|Reverse((size, Reverse(at)))| (size, at)).collect()
}

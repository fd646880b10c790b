//! Messages of one pickler, read by one unpickler: each may refer to the objects and layouts of those before it.

use super::{Decoder, Numbered};
use crate::cpython::Owned;
use crate::decode::dialect::Dialect;
use crate::error::{decode, Result};
use crate::memory::Vec;
use crate::shapes::Layout;
use std::rc::Rc;

/// What the messages so far have numbered.
#[derive(Default)]
pub struct Series {
    objects: Vec<Numbered>,
    layouts: Vec<Rc<Layout>>,
}

// SAFETY: it is touched and dropped with the GIL held, as all that it holds has to be: it belongs to an object of Python's.
unsafe impl Send for Series {}
// SAFETY: the same.
unsafe impl Sync for Series {}

impl Series {
    pub fn members(&self) -> impl Iterator<Item = (usize, &Owned)> {
        self.objects.iter().enumerate().filter_map(|(number, entry)| Some((number, entry.object.as_ref()?)))
    }

    /// Gives an object the next number; or nobody.
    pub fn push(&mut self, object: Option<Owned>) {
        self.objects.push(object.map_or_else(Numbered::open, Numbered::whole));
    }

    /// Takes over what another series has.
    pub fn adopt(&mut self, other: &Series) {
        other.objects.iter().for_each(|entry| self.push(entry.object.clone()));
        self.layouts.clone_from(&other.layouts);
    }
}

impl<'i, D: Dialect<'i>> Decoder<'i, D> {
    /// Builds a message that goes on with so many objects, all of the series or none; and so many layouts, likewise. After an error
    /// the series has none.
    pub fn in_series(&mut self, series: &mut Series, objects: u64, layouts: u64) -> Result<Owned> {
        let before = std::mem::take(series);
        if objects > 0 {
            let there = before.objects.len();
            if objects != there as u64 || ![0, before.layouts.len() as u64].contains(&layouts) {
                return Err(decode(
                    format_args!(
                        "goes on with messages of {objects} objects, and {there} were loaded: load what one Pickler wrote in order, by one Unpickler"
                    ),
                    0,
                ));
            }
            self.numbered = before.objects;
            if layouts > 0 {
                self.layouts = before.layouts;
            }
        }
        let first = self.numbered.len();
        let made = self.message()?;
        if let Some(entry @ Numbered { object: None, .. }) = self.numbered.get_mut(first) {
            // A text, which has no number where it is all that a message holds.
            *entry = Numbered::whole(made.clone());
        }
        series.objects = std::mem::take(&mut self.numbered);
        series.layouts = std::mem::take(&mut self.layouts);
        Ok(made)
    }
}

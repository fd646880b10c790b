//! Messages of one pickler, read by one unpickler: each may refer to the objects and shapes of earlier ones.

use super::{Decoder, Numbered};
use crate::cpython::Owned;
use crate::decode::dialect::Dialect;
use crate::error::{decode, Result};
use crate::memory::Vec;
use crate::shapes::Shape;
use std::rc::Rc;

/// The objects and shapes of the messages so far.
#[derive(Default)]
pub struct Series {
    objects: Vec<Numbered>,
    shapes: Vec<Rc<Shape>>,
}

// SAFETY: it belongs to a Python object, and is used and dropped only with the GIL held, as its content requires.
unsafe impl Send for Series {}
// SAFETY: as for `Send`; the GIL makes other threads wait.
unsafe impl Sync for Series {}

impl Series {
    pub fn members(&self) -> impl Iterator<Item = (usize, &Owned)> {
        self.objects.iter().enumerate().filter_map(|(number, entry)| Some((number, entry.object.as_ref()?)))
    }

    /// Gives an object the next id. `None` leaves the id without an object.
    pub fn push(&mut self, object: Option<Owned>) {
        self.objects.push(object.map_or_else(Numbered::open, Numbered::whole));
    }

    /// Appends the objects of another series, and takes over its shapes.
    pub fn adopt(&mut self, other: &Series) {
        other.objects.iter().for_each(|entry| self.push(entry.object.clone()));
        self.shapes.clone_from(&other.shapes);
    }
}

impl<'i, D: Dialect<'i>> Decoder<'i, D> {
    /// Builds a message that continues after this many objects and shapes: of each, either all of the series or none.
    /// After an error, the series is empty.
    pub fn in_series(&mut self, series: &mut Series, objects: u64, shapes: u64) -> Result<Owned> {
        let before = std::mem::take(series);
        if objects > 0 {
            let there = before.objects.len();
            if objects != there as u64 || ![0, before.shapes.len() as u64].contains(&shapes) {
                return Err(decode(
                    format_args!(
                        "goes on with messages of {objects} objects, and {there} were loaded: load what one Pickler wrote in order, by one Unpickler"
                    ),
                    0,
                ));
            }
            self.tables.numbered = before.objects;
            if shapes > 0 {
                self.tables.shapes = before.shapes;
            }
        }
        let first = self.tables.numbered.len();
        let made = self.message()?;
        if let Some(entry @ Numbered { object: None, .. }) = self.tables.numbered.get_mut(first) {
            // A string that is the whole message has not been entered under its id.
            *entry = Numbered::whole(made.clone());
        }
        series.objects = std::mem::take(&mut self.tables.numbered);
        series.shapes = std::mem::take(&mut self.tables.shapes);
        Ok(made)
    }
}

//! Layouts on which a resolver has decided.

use crate::cpython::Owned;
use crate::memory::Vec;
use crate::shapes::Shape;
use std::rc::Rc;

/// How to build what a resolver has decided on, where it isn't built like any instance of a class.
#[derive(Debug, Clone)]
pub enum Decided {
    /// This value; what is stored is passed over.
    Value(Owned),
    /// It is left out of what holds it.
    Skip,
    /// The values are gathered, and the function is asked.
    ByValue(Owned),
    /// The values are gathered, and an instance of this class is made of them, which stores them in another way.
    Into {
        class: Owned,
        renames: Vec<(Owned, Option<Owned>)>,
    },
    Refused(String),
}

/// A resolver's decision on a layout.
#[derive(Debug)]
pub struct Verdict {
    /// How to build the values without a type.
    pub shape: Rc<Shape>,
    /// The class, and the layout with the names that its fields have by the answer, if it is built field by field.
    pub class: Option<(Owned, Rc<Shape>)>,
    /// The version tag that the class had.
    pub version: u32,
}

impl Verdict {
    /// A field's name by the renames of an answer; `None`: the field is dropped.
    pub fn renamed<'n>(renames: &'n [(Owned, Option<Owned>)], name: &'n Owned) -> Option<&'n Owned> {
        // SAFETY: names of fields are strings that their owners hold, and so are those of an answer.
        let is_it = |old: &Owned| unsafe { crate::cpython::text::equal(old.get(), name.get()) };
        match renames.iter().find(|(old, _)| is_it(old)) {
            Some((_, new)) => new.as_ref(),
            None => Some(name),
        }
    }
}

/// What resolvers said of a layout, each by the number of its registration.
pub type Verdicts = Vec<(u64, Rc<Verdict>)>;

//! Layouts on which a resolver has decided.

use crate::classes::serial::next_serial;
use crate::cpython::Owned;
use crate::memory::{FxHashMap, Vec};
use crate::shapes::Shape;
use std::cell::RefCell;
use std::rc::Rc;

/// What a resolver says.
#[derive(Debug)]
pub enum Answer {
    /// Nothing: as without it.
    Default,
    /// An instance of that class, with fields under other names; without those that have none.
    Use {
        class: Owned,
        renames: Vec<(Owned, Option<Owned>)>,
    },
    Record,
    Value(Owned),
    /// The value is left out of what holds it.
    Skip,
    /// The function is called with each value.
    ByValue(Owned),
    Refuse(String),
}

impl Answer {
    /// Whether it is built as without a resolver, or as this class.
    pub fn is_own(&self, class: &Owned) -> bool {
        match self {
            Answer::Default => true,
            Answer::Use { class: own, renames } => own.get() == class.get() && renames.is_empty(),
            _ => false,
        }
    }
}

/// The resolver of a call, or of a decoder for all its messages.
#[derive(Debug)]
pub struct Resolver {
    pub function: Owned,
    /// The number by which layouts remember its answers.
    pub serial: u64,
    answers: Answers,
}

#[derive(Debug, Default)]
struct Answers(RefCell<FxHashMap<Vec<u8>, Rc<Answer>>>);

// SAFETY: it is private, and only decoders, which hold the GIL, reach it through a resolver.
unsafe impl Sync for Answers {}
// SAFETY: as for `Sync`.
unsafe impl Send for Answers {}

impl Clone for Resolver {
    /// A resolver that has not been asked.
    fn clone(&self) -> Resolver {
        Resolver::new(self.function.clone())
    }
}

impl Resolver {
    /// Data decides how many layouts there are: so many answers are kept, of keys so long.
    const MOST: usize = 1024;
    const LONGEST: usize = 1024;

    pub fn new(function: Owned) -> Resolver {
        Resolver { function, serial: next_serial(), answers: Answers::default() }
    }

    pub fn known(&self, key: &[u8]) -> Option<Rc<Answer>> {
        self.answers.0.borrow().get(key).cloned()
    }

    pub fn keep(&self, key: Vec<u8>, answer: &Rc<Answer>) {
        let mut answers = self.answers.0.borrow_mut();
        if answers.len() < Resolver::MOST && key.len() <= Resolver::LONGEST {
            answers.insert(key, answer.clone());
        }
    }
}

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
    /// In a trusted message: an instance whose class has got `__setstate__` since, which is given the fields.
    State,
    /// An instance that the registered `decode` fills with its one field.
    Filled,
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

/// What resolvers said of a layout, if anything, each by the number of its registration or of the options of a call.
pub type Verdicts = Vec<(u64, Option<Rc<Verdict>>)>;

//! What the decoder of this dialect is told, and what it knows while it reads a message.

use super::cell::Cell;
use super::{call, Names};
use crate::cpython::{owned, Owned};
use crate::encode::TextKey;
use crate::error::Asked;
use crate::memory::{HashMap, HashSet, Vec};
use crate::shapes::Shape;
use holdall_format::model::{LispReader, Offsets};
use pyo3::prelude::*;
use std::marker::PhantomData;
use std::rc::Rc;
use std::sync::{Arc, Mutex, PoisonError};

/// How often a message is built at most (see [`Lisp::until_settled`]).
const MOST_ROUNDS: usize = 4;

/// What loads of Lisp's files are told besides all others.
#[derive(Debug)]
pub struct Lisp {
    pub names: &'static Names,
    /// The classes that the caller gave, for `resolve`.
    pub types: Owned,
    /// Arrays are views of this object's memory, which begins there; else they are copies.
    pub views: Option<(Owned, usize)>,
    /// Where values begin that need another form than was thought when others referred to them.
    odd: Mutex<HashSet<usize>>,
    /// Which conses are no proper list, once that was looked up.
    improper: Mutex<Option<Arc<Offsets>>>,
}

impl Lisp {
    pub fn new(types: &Bound<'_, PyAny>) -> PyResult<Lisp> {
        let names = Names::get(types.py())?;
        let types = owned(&call(types.py(), &names.permitted, (types,))?);
        Ok(Lisp { names, types, views: None, odd: Mutex::default(), improper: Mutex::default() })
    }

    pub(super) fn is_odd(&self, start: usize) -> bool {
        self.odd.lock().unwrap_or_else(PoisonError::into_inner).contains(&start)
    }

    pub(super) fn make_odd(&self, start: usize) {
        self.odd.lock().unwrap_or_else(PoisonError::into_inner).insert(start);
    }

    /// Whether any value needs another form.
    fn has_odd(&self) -> bool {
        !self.odd.lock().unwrap_or_else(PoisonError::into_inner).is_empty()
    }

    pub(super) fn improper(&self) -> Option<Arc<Offsets>> {
        self.improper.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    pub fn keep_improper(&self, improper: Arc<Offsets>) {
        *self.improper.lock().unwrap_or_else(PoisonError::into_inner) = Some(improper);
    }

    /// Builds a message by `once`, and again if values turned out to need another form after others had referred to them.
    pub fn until_settled<T>(&self, once: impl Fn() -> PyResult<T>) -> PyResult<T> {
        let known = || self.odd.lock().unwrap_or_else(PoisonError::into_inner).len();
        for _ in 0..MOST_ROUNDS {
            let before = known();
            match once().answer()? {
                Err(_) if known() > before => {}
                settled => return settled,
            }
        }
        once()
    }
}

/// How objects of a description are made.
#[derive(Debug)]
pub enum Class {
    /// An instance of a class, its fields by position.
    Fields(Rc<Shape>),
    /// What a function makes of all values.
    Made(Owned),
    /// A record: the type and its values.
    Record,
}

/// What describes objects.
#[derive(Debug)]
pub struct Described {
    pub object: Owned,
    pub slots: usize,
    pub class: Class,
    /// The names of its slots, for the classes of a schema.
    pub by_name: Rc<Shape>,
}

/// Common Lisp's values as cl-binary-store stores them.
pub struct FromLisp<'i, R: LispReader<'i>> {
    pub(super) lisp: &'i Lisp,
    /// Descriptions in the order in which they came, and by the address of their objects.
    pub(super) described: Vec<Rc<Described>>,
    pub(super) by_object: HashMap<usize, Rc<Described>>,
    /// The last one that was referred to, and its object id.
    pub(super) last: Option<(u64, Rc<Described>)>,
    /// Which conses are no proper list; looked up when something refers to conses whose end has not come yet.
    pub(super) improper: Option<Arc<Offsets>>,
    /// Some values need another form: of simple-vectors those that directly hold themselves.
    pub(super) has_odd: bool,
    /// Conses of `LispMake::Conses` whose last cdr has not come yet; the innermost are last.
    pub(super) cells: Vec<Cell>,
    pub(super) classes_held: Vec<Owned>,
    /// Symbols by their names and the addresses of their packages' names.
    pub(super) symbols: HashMap<(&'i [u8], usize), Owned>,
    pub(super) packages: HashMap<&'i [u8], Owned>,
    /// The last one whose name stood with a symbol.
    pub(super) last_inline_package: Option<(&'i [u8], Owned)>,
    /// The last one that was referred to, by its id.
    pub(super) last_package: Option<(u64, Owned)>,
    /// The same objects by their text.
    pub(super) package_names: HashMap<TextKey, Owned, rustc_hash::FxBuildHasher>,
    /// Slots that were stored as unbound: filled while the instance is built, and emptied at the end.
    pub(super) unbound: Vec<(Owned, Owned)>,
    /// Where a value turned out to need another form after others had referred to it.
    pub(super) anew: Option<usize>,
    reader: PhantomData<fn() -> R>,
}

impl<'i, R: LispReader<'i>> FromLisp<'i, R> {
    pub fn new(lisp: &'i Lisp) -> Self {
        FromLisp {
            lisp,
            described: Vec::new(),
            by_object: HashMap::new(),
            last: None,
            improper: lisp.improper(),
            has_odd: lisp.has_odd(),
            cells: Vec::new(),
            classes_held: Vec::new(),
            symbols: HashMap::new(),
            packages: HashMap::new(),
            last_inline_package: None,
            last_package: None,
            package_names: HashMap::default(),
            unbound: Vec::new(),
            anew: None,
            reader: PhantomData,
        }
    }
}

/// What a frame makes of the values that it gathers.
#[derive(Debug, Clone)]
pub enum LispMake {
    /// The frame holds the cars: the last cdr follows. `start`: where the list begins.
    Dotted {
        start: usize,
    },
    /// Conses within conses, of which the first is in this place among the `cells`.
    Conses {
        base: usize,
    },
    /// A cons that exists already: its car and the rest follow.
    Cells,
    Table {
        header: Owned,
        start: usize,
    },
    Array,
    Displaced {
        offset: usize,
    },
    /// An object, by the function of its description.
    Made(Rc<Described>),
    Pathname,
    Ratio,
    Complex,
}

//! Objects to tokens: walks a graph with an explicit stack, for any format.
//!
//! An object that only its parent holds, as its reference count says, can't occur again and needs no entry in the memo.
//! All others are looked up by address: the first time they get an id, later they are written as references.

mod attributes;
pub mod canonical;
mod deep;
pub mod dialect;
mod dict;
mod exception;
pub mod few;
pub mod forms;
mod hooks;
mod instance;

pub mod memo;
pub mod output;
mod parts;
mod prepared;
mod recipe;
pub(crate) mod runs;
pub mod schemaless;
pub mod scratch;

mod sequence;
mod series;
pub mod sets;
pub mod shapes;
mod sharing;
mod slots;
pub(crate) mod tables;
mod text;
pub mod value;
mod walk;
mod window;

pub use series::Series;
pub use tables::Tables;
pub use walk::CHANGED;
pub use window::SharedWindow;

use crate::classes::plan::Plan;
use crate::cpython::{self, gc, Obj, Owned};
use crate::error::{self, Detour, Fault, Result};
use crate::memory::{vec, FxHashMap, HashMap, Vec};
use crate::types::bson_values::BsonWalker;
use crate::types::numpy::dtype::Dtypes;
use crate::types::out_of_band::SentBuffers;
use crate::types::reduce::Recipe;
use crate::types::walker::{TypeWalker, Walker, WorkItem};
use dialect::{Dialect, Native, NativeWriter};
use holdall_format::model::{BsonWriter, ShapeKind, Text};
use holdall_format::Writer;
use memo::Met;
use pyo3::ffi;
use pyo3::prelude::*;
use sets::Effort;
use std::rc::Rc;
use std::sync::Arc;
use tables::Lent;
pub(crate) use tables::TextKey;

pub use hooks::MOST_REPLACEMENTS;

/// How many stack frames a cycle search inspects: a longer cycle isn't recognized as one.
pub(crate) const MOST_LOOKED_AT: usize = 10_000;
/// The options of `dumps` and the like.
#[derive(Debug, Clone)]
pub struct Options {
    pub refs: bool,
    pub canonical: bool,
    pub trust: bool,
    /// Equal strings are written once.
    pub intern: bool,
    pub enc_hook: Option<Owned>,
    /// In schemaless formats, everything that isn't of a builtin type goes to `enc_hook`.
    pub builtin_only: bool,
    pub forms: forms::Forms,
    pub pickle: Option<Arc<PickleHooks>>,
}

/// The hooks of a pickler.
#[derive(Debug, Default)]
pub struct PickleHooks {
    pub persistent_id: Option<Owned>,
    pub reducer_override: Option<Owned>,
    pub dispatch_table: Option<Owned>,
}

/// What a container that is being written still has to write.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    /// The items of a list.
    List,
    /// The items of a tuple.
    Tuple,
    /// The values of a dict or of an instance's `__dict__`, whose keys are in its shape.
    Values,
    /// The keys and values of a dict.
    Pairs,
    /// The members of a set.
    Set,
    /// The slots of an instance.
    Slots,
    /// The attributes of an instance without a `__dict__` object.
    Attributes,
    /// Work items, which the frame holds.
    Parts,
    /// The slots of an instance under their keys, in a schemaless format.
    Named,
    /// The slots of an instance in an order that the format chose.
    Ordered,
}

/// A container that is being written. It is held, whatever hooks do to its parent.
pub(crate) struct Frame {
    pub(crate) object: Owned,
    kind: Kind,
    /// In `Pairs`: the key is written and its value comes next.
    value_next: bool,
    /// In `Parts` and `Pairs`: the object leads to an object elsewhere (see `deep`).
    linked: bool,
    /// The shape of the last dict written from here: the next one is likely to have the same.
    hint: u32,
    /// The position of the next item.
    at: isize,
    /// How many items were announced.
    len: usize,
    /// Rarely used data, boxed to keep `Frame` small.
    extra: Option<Extra>,
}

/// The extra data of `Slots`, `Ordered` and `Parts`.
enum Extra {
    Plan(Rc<Plan>),
    Offsets(Rc<Vec<usize>>),
    #[allow(clippy::box_collection)] // a thin pointer: the frame stays small
    Parts(Box<Vec<WorkItem>>),
}

/// Why an object can't be referred to yet.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Unmade {
    /// The arguments of its recipe are being written.
    Arguments,
    /// The same, and it occurred among them: it is being written again there.
    Again,
    /// Its parts are being written, and it can't be one of them.
    Parts,
}

/// What objects' own code returned, by their addresses. Most messages have none.
pub type Recipes = Option<Box<HashMap<usize, Rc<Recipe>, rustc_hash::FxBuildHasher>>>;

/// Writes one message.
pub struct Encoder<'t, D: Dialect> {
    pub w: D::Writer,
    pub dialect: D,
    pub options: &'t Options,
    pub(crate) tables: Lent<'t>,
    /// The id of the next object that gets one.
    pub(crate) next_id: u32,
    /// Identifies the shapes of this message among those that plans remember.
    serial: u64,
    /// How many references to tuples were written: a chain of tuples through references isn't visible on the stack.
    linked_tuples: usize,
    /// Likewise of instances, since 3.12.
    linked_instances: usize,
    /// The class of the last object referred to that nothing had to be noted for.
    harmless: cpython::Type,
    deep: Option<Box<deep::Deep>>,
    /// How many replacements are being written, one within the other.
    replacing: u32,
    /// How many open documents have keys that aren't checked.
    pub(crate) unchecked: u32,
    /// Canonical form: what objects' own code returned in the first walk, for use in the second.
    pub recipes: Recipes,
    /// Mask and minimum of the number of references that makes an object be looked up: (-1, 0) by its references, (0,
    /// 0) always, (0, MAX) never. It takes two operations without a branch, for every string and container.
    bound: (isize, isize),
    /// The program's code was called: reference counts don't count any more.
    tracks_all: bool,
    /// Canonical form: the first walk finds objects that occur more than once; the second gives ids to those only.
    pub(crate) sharing: Sharing,
    /// Canonical form: the order of sets' members.
    pub orders: Option<sets::Shared>,
    /// Set if only the order of a set's members is wanted: how far to look.
    effort: Option<Effort>,
    /// A hook is called for each object, or objects are counted, so the fast loops aren't used. Most messages need neither
    /// and pay for one test.
    looks_closely: bool,
    /// Objects that occur for the first time are kept or recorded.
    takes_notes: bool,
    pub buffers: SentBuffers,
    /// Dtypes of NumPy taken apart, by address; `temporaries` keeps them.
    dtypes: Dtypes,
    /// Arrays whose memory held objects.
    item_owners: Option<FxHashMap<usize, ()>>,
    /// Whether equal strings are written once.
    interns: bool,
    last_shape: u32,
    last_plan: Option<Rc<Plan>>,
    /// Whether instances of the last plan's class are written slot by slot, or attribute by attribute, without other checks.
    fields_only: bool,
    /// For a record in a log: the names of earlier records.
    window: Option<SharedWindow>,
    pub py: Python<'t>,
    _pause: gc::Pause,
}

/// Writes a message. If code of the program has to be called, it is written again with every object looked up. The
/// first attempt ends before any such code is called.
pub fn tracking_if_asked<T>(mut write: impl FnMut(bool) -> Result<T>) -> Result<T> {
    match write(false) {
        Err(fault) if fault.detour() == Some(Detour::TrackAll) => write(true),
        written => written,
    }
}

#[derive(Debug)]
pub enum Sharing {
    /// Reference counts tell which objects can't be shared; all others get an id.
    ByCount,
    /// Canonical form, first walk: every object is looked up, and it is counted how often it occurs again.
    Finding(FxHashMap<usize, u32>),
    /// Canonical form, second walk: only these objects get an id.
    Found(FxHashMap<usize, u32>),
    /// A second walk, for which the first has left its memo.
    InMemo,
}

impl<'t, D: Dialect> Encoder<'t, D> {
    /// An encoder for one message.
    ///
    /// # Safety
    /// The GIL is held while the encoder lives.
    #[inline(always)] // it is large, and must be made in place
    pub unsafe fn new(
        py: Python<'t>,
        dialect: D,
        w: D::Writer,
        options: &'t Options,
        tables: &'t mut Tables,
        sharing: Sharing,
    ) -> Self {
        tables.shapes.clear();
        if !matches!(sharing, Sharing::InMemo) {
            tables.memo.clear();
        }
        // If memory ran out during the message before, its frames are still there.
        tables.stack.clear();
        // Hooks that are called for every object can keep references to it.
        let asks = |hooks: &PickleHooks| hooks.persistent_id.is_some() || hooks.reducer_override.is_some();
        let tracks_all = D::HAS_REFERENCES
            && options.refs
            && matches!(sharing, Sharing::ByCount)
            && options.pickle.as_ref().is_some_and(|hooks| asks(hooks));
        Encoder {
            w,
            dialect,
            options,
            next_id: 0,
            serial: tables.serials.next(),
            tables: Lent(tables),
            linked_tuples: 0,
            linked_instances: 0,
            harmless: std::ptr::null_mut(),
            deep: None,
            replacing: 0,
            unchecked: 0,
            recipes: None,
            bound: match sharing {
                _ if !options.refs => (0, isize::MAX),
                _ if tracks_all => (0, 0),
                // Two walks as in canonical form, but equal graphs need not give equal bytes.
                _ if D::SHARED_STAND_APART => (-1, 0),
                Sharing::ByCount => (-1, 0),
                Sharing::Finding(_) | Sharing::Found(_) | Sharing::InMemo => (0, 0),
            },
            tracks_all,
            sharing,
            orders: None,
            effort: None,
            looks_closely: options.pickle.as_ref().is_some_and(|hooks| hooks.persistent_id.is_some()),
            takes_notes: options.trust || tracks_all,
            buffers: SentBuffers::default(),
            dtypes: None,
            item_owners: None,
            interns: options.intern && options.refs,
            last_shape: shapes::NONE,
            last_plan: None,
            fields_only: false,
            window: None,
            py,
            // SAFETY: the GIL is held, by contract.
            _pause: unsafe { gc::Pause::new() },
        }
    }

    /// Canonical form, second walk: uses what the first has found.
    pub fn shares(&mut self, found: Sharing) {
        if self.options.refs {
            self.bound = (0, 0);
        }
        self.tracks_all = false;
        self.takes_notes = self.options.trust;
        self.sharing = found;
    }

    /// From here on every object is looked up, whatever its reference count.
    pub fn track_all(&mut self) {
        if self.tracks() && self.bound != (0, isize::MAX) {
            self.bound = (0, 0);
            self.tracks_all = true;
            self.takes_notes = true;
        }
    }

    /// Only the order of a set's members is wanted, and looked for that far.
    pub fn only_compares(&mut self, effort: Effort) {
        self.effort = Some(effort);
        self.looks_closely = true;
        self.takes_notes = true;
    }

    pub fn effort(&self) -> Option<Effort> {
        self.effort
    }

    /// Code of the program is about to be called. It can create references to everything that it reaches, so reference
    /// counts no longer tell what can occur again. If an object was left out because of its count, the message is begun
    /// again.
    pub(crate) fn asks_program(&mut self) -> Result<()> {
        let by_count = match self.sharing {
            Sharing::ByCount => true,
            Sharing::Finding(_) => D::SHARED_STAND_APART,
            Sharing::Found(_) | Sharing::InMemo => false,
        };
        if !by_count || self.tracks_all || !self.tracks() {
            return Ok(());
        }
        // If only the root occurred so far, nothing was left out.
        if self.tables.stack.is_empty() && self.next_id <= 1 + self.base() {
            self.track_all();
            return Ok(());
        }
        Err(error::detour(Detour::TrackAll))
    }

    /// Writes the whole graph of `root`.
    pub fn message(&mut self, root: Obj) -> Result<()> {
        let result = self.root(root);
        self.tables.stack.clear();
        result?;
        self.refuse_linked()?;
        match self.w.refusal() {
            Some(why) => Err(error::encode(format_args!("can't store {why} in this format"))),
            None => Ok(()),
        }
    }

    fn root(&mut self, root: Obj) -> Result<()> {
        // The first object has id 0 without a tag for it: its count may include references of any kind.
        // SAFETY: `root` is alive during the call, and so is what it holds.
        unsafe {
            if D::root(self, root)? {
                return self.walk();
            }
            if self.asks() {
                self.next_id = 1 + self.base();
                if D::persistent(self, root)? {
                    return self.walk();
                }
            }
            if self.leaf_root(root)? {
                return Ok(());
            }
            self.next_id = 1 + self.base();
            if self.tracks() {
                let base = self.base();
                self.tables.memo.meet(root, base);
            }
            self.open(root, shapes::NONE)?;
        }
        self.walk()
    }

    /// The temporary objects, for a caller that must keep them longer than the encoder lives.
    pub fn take_temporaries(&mut self) -> Vec<Owned> {
        std::mem::take(&mut self.tables.temporaries)
    }

    /// How many objects could have occurred again.
    pub fn met_objects(&self) -> usize {
        self.next_id as usize
    }

    /// What `Sharing::Finding` found, and the dialect with what it learnt.
    pub fn into_found(self) -> (Sharing, D) {
        let found = match self.sharing {
            Sharing::Finding(mut found) => {
                found.retain(|object, _| !self.dialect.is_in_place(*object));
                Sharing::Found(found)
            }
            other => other,
        };
        (found, self.dialect)
    }

    /// Keeps a temporary object alive until the message is complete.
    pub fn keep(&mut self, object: Owned) -> Obj {
        let raw = object.get();
        self.tables.temporaries.push(object);
        raw
    }
}

impl<'t, D: Dialect> Walker<'t> for Encoder<'t, D> {
    type Writer = D::Writer;

    #[inline(always)]
    fn py(&self) -> Python<'t> {
        self.py
    }

    #[inline(always)]
    fn w(&mut self) -> &mut D::Writer {
        &mut self.w
    }

    fn is_canonical(&self) -> bool {
        self.options.canonical
    }

    fn then(&mut self, items: impl AsRef<[WorkItem]> + Into<Vec<WorkItem>>) {
        self.then(items);
    }

    unsafe fn then_last(&mut self, object: Obj) -> Result<()> {
        // SAFETY: the contract is the same.
        unsafe { self.then_last(object) }
    }

    fn then_each(&mut self, iterator: &Owned) -> Result<()> {
        self.then_each(iterator)
    }

    fn then_made(&mut self, object: Obj, items: Vec<WorkItem>) {
        self.then_made(object, items);
    }

    fn dict_body(&mut self, dict: &Owned) -> Result<()> {
        self.dict_body(dict)
    }

    unsafe fn ordered_body(&mut self, object: Obj) -> Result<()> {
        // SAFETY: the contract is the same.
        unsafe { self.ordered_body(object) }
    }

    #[inline(always)]
    unsafe fn met(&mut self, object: Obj, held: isize) -> Result<bool> {
        // SAFETY: the contract is the same.
        unsafe { self.met(object, held) }
    }

    unsafe fn refused(&mut self, object: Obj, why: &str) -> Result<()> {
        // SAFETY: the contract is the same.
        unsafe { self.refused(object, why) }
    }

    fn asks_program(&mut self) -> Result<()> {
        self.asks_program()
    }

    fn keep(&mut self, object: Owned) -> Obj {
        self.keep(object)
    }

    fn writes_at_once(&self) -> bool {
        D::KEEPS_TYPES && !self.interns && matches!(self.sharing, Sharing::ByCount) && !self.looks_closely
    }

    fn text_once(&mut self, text: &str) -> Result<()> {
        if self.writes_at_once() {
            self.w.text(Text::Ascii(text.as_bytes()));
            return Ok(());
        }
        let made = cpython::new::text(self.py, text)?;
        self.then(vec![WorkItem::Value(cpython::owned(made.as_any()))]);
        Ok(())
    }
}

impl<'t, W: NativeWriter> TypeWalker<'t> for Encoder<'t, Native<W>> {
    fn record(&mut self, kind: ShapeKind, class: &str, version: u64, names: Vec<Owned>) -> Result<()> {
        self.record(kind, class, version, names)
    }

    fn buffers(&mut self) -> &mut SentBuffers {
        &mut self.buffers
    }

    fn dtypes(&mut self) -> &mut Dtypes {
        &mut self.dtypes
    }

    fn item_owners(&mut self) -> &mut Option<FxHashMap<usize, ()>> {
        &mut self.item_owners
    }
}

impl<'t, D: Dialect<Writer: BsonWriter>> BsonWalker<'t> for Encoder<'t, D> {
    const TAKES_ALL_FLAGS: bool = D::TAKES_ALL_FLAGS;

    fn document(&mut self, document: &Bound<'_, PyAny>) -> Result<()> {
        D::document(self, document)
    }

    fn not_text(&self, raised: Option<PyErr>, why: &str) -> Fault {
        D::not_text(self.py, raised, why)
    }

    fn not_int(&self, raised: PyErr) -> Fault {
        D::not_int(self.py, raised)
    }

    fn not_int64(&self, raised: PyErr) -> Fault {
        D::not_int64(self.py, raised)
    }
}

impl Frame {
    /// Whether the frame consists of work items without an object of its own.
    fn stands_for_none(&self) -> bool {
        // SAFETY: the singleton lives as long as the interpreter.
        self.object.get() == unsafe { ffi::Py_None() }
    }

    #[inline(always)]
    fn new(object: Owned, kind: Kind) -> Frame {
        Frame { object, kind, value_next: false, linked: false, hint: shapes::NONE, at: 0, len: 0, extra: None }
    }
}

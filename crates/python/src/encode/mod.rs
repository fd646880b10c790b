//! Objects to tokens: walks a graph with a stack of its own, in any format.
//!
//! An object whose reference count says that only its parent holds it can't be met again: it costs the memo nothing.
//! All others are looked up by address; the first time they are marked, later they are referred to by number.

pub mod canonical;
mod deep;
pub mod dialect;
mod dict;
pub mod forms;
mod hooks;
mod instance;

pub mod memo;
pub mod output;
mod recipe;
pub mod schemaless;
pub mod scratch;

mod sequence;
mod series;
pub mod sets;
pub mod shapes;
mod sharing;
mod slots;
mod text;
mod value;
mod walk;
mod window;

pub use series::Series;
pub use walk::CHANGED;
pub use window::SharedWindow;

use crate::classes::plan::Plan;
use crate::cpython::{gc, Obj, Owned};
use crate::error::{self, Detour, Fault, Result};
use crate::memory::{FxHashMap, HashMap, Vec};
use crate::types::bson_values::BsonWalker;
use crate::types::numpy::dtype::Dtypes;
use crate::types::out_of_band::SentBuffers;
use crate::types::reduce::Recipe;
use crate::types::walker::{TypeWalker, Walker, WorkItem};
use dialect::{Dialect, Native, NativeWriter};
use holdall_format::model::{BsonWriter, ShapeKind};
use holdall_format::Writer;
use memo::{Memo, Met};
use pyo3::ffi;
use pyo3::prelude::*;
use sets::Effort;
use shapes::WrittenShapes;
use std::rc::Rc;
use std::sync::Arc;

pub use hooks::MOST_REPLACEMENTS;

/// How far down the way to an object that is met again is looked for that object: a cycle of more is not seen as one.
pub(crate) const MOST_LOOKED_AT: usize = 10_000;
/// What `dumps` and its like were told.
#[derive(Debug, Clone)]
pub struct Options {
    pub refs: bool,
    pub canonical: bool,
    pub trust: bool,
    /// Equal strings are written once.
    pub intern: bool,
    pub enc_hook: Option<Owned>,
    /// In schemaless formats: whatever is of no builtin type goes to `enc_hook`.
    pub builtin_only: bool,
    pub forms: forms::Forms,
    pub pickle: Option<Arc<PickleHooks>>,
}

/// What pickle's own users may set on a pickler.
#[derive(Debug, Default)]
pub struct PickleHooks {
    pub persistent_id: Option<Owned>,
    pub reducer_override: Option<Owned>,
    pub dispatch_table: Option<Owned>,
}

/// What to do with the objects held by a container that is being written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    /// Items of a list.
    List,
    /// Items of a tuple.
    Tuple,
    /// Values of a dict or of an instance's `__dict__`, whose keys its shape has.
    Values,
    /// Keys and values of a dict.
    Pairs,
    /// Members of a set.
    Set,
    /// Slots of an instance.
    Slots,
    /// Attributes of an instance that has no `__dict__` object.
    Attributes,
    /// Temporaries of ours, kept by the frame.
    Parts,
    /// Slots of an instance under their keys, in a schemaless format.
    Named,
    /// Slots of an instance, in an order of the format's.
    Ordered,
}

/// A container that is being written. Holds it alive, whatever hooks do to its parent.
pub(crate) struct Frame {
    pub(crate) object: Owned,
    kind: Kind,
    /// In `Pairs`: the value of the key that was just written comes next.
    value_next: bool,
    /// In `Parts` and `Pairs`: one of them leads to an object that stands elsewhere (see `deep`).
    linked: bool,
    /// What the last dict written from here had as shape: the next is likely to have it too.
    hint: u32,
    /// Where the next item stands.
    at: isize,
    /// How many items were announced.
    len: usize,
    /// What few frames need, apart: a frame is copied for every container.
    extra: Option<Extra>,
}

/// What a frame of `Slots` or `Parts` needs beside the others.
enum Extra {
    Plan(Rc<Plan>),
    Offsets(Rc<Vec<usize>>),
    #[allow(clippy::box_collection)] // a thin pointer: the frame stays small
    Parts(Box<Vec<WorkItem>>),
}

/// What an object that can't be referred to yet is made of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Unmade {
    /// Arguments of a recipe.
    Arguments,
    /// The same, among which it was met: it is being written again there.
    Again,
    /// Parts, of which it can't be one.
    Parts,
}

/// What outlives one message: tables that are used again.
pub struct Tables {
    pub memo: Memo,
    pub shapes: WrittenShapes,
    pub(crate) stack: Vec<Frame>,
}

impl Tables {
    pub fn new() -> Tables {
        Tables { memo: Memo::new(), shapes: WrittenShapes::new(), stack: Vec::new() }
    }
}

/// What objects' own code gave, by their addresses. Most messages have none.
pub type Recipes = Option<Box<HashMap<usize, Rc<Recipe>, rustc_hash::FxBuildHasher>>>;

/// Writes one message.
pub struct Encoder<'t, D: Dialect> {
    pub w: D::Writer,
    pub dialect: D,
    pub options: &'t Options,
    pub(crate) tables: &'t mut Tables,
    /// The number that the next object with an id gets.
    pub(crate) next_id: u32,
    /// Tells the shapes of this message from those of earlier ones.
    serial: u64,
    /// What was made on the way: kept, so that no address is used twice.
    temporaries: Vec<Owned>,
    /// References to tuples: a chain of tuples that no stack shows has as many links.
    linked_tuples: usize,
    deep: Option<Box<deep::Deep>>,
    /// First number of each text, where equal ones are written once.
    texts: HashMap<TextKey, u32, rustc_hash::FxBuildHasher>,
    /// Objects that can't be referred to yet, as what they are made of is being written.
    unmade: HashMap<u32, Unmade, rustc_hash::FxBuildHasher>,
    /// How many replacements are being written, one within the other.
    replacing: u32,
    /// How many documents are whose keys are not looked at, where others' are.
    pub(crate) unchecked: u32,
    /// Canonical form: what objects' own code gave in the first walk, which the second writes.
    pub recipes: Recipes,
    /// Mask and floor of the count from which on an object is looked up: (-1, 0) by what holds it, (0, 0) always,
    /// (0, MAX) never. Two operations without a branch, on every string and container.
    bound: (isize, isize),
    /// Code of the program's was asked: reference counts say nothing any more.
    tracks_all: bool,
    /// Canonical form: the first walk finds what is met more than once, the second ids only that.
    pub(crate) sharing: Sharing,
    /// Canonical form: the order of sets' members.
    pub orders: Option<sets::Shared>,
    /// Set where only the order of a set's members is asked for: how far to look.
    effort: Option<Effort>,
    /// Whether objects are asked about, or counted: then none is written by a shorter way. And whether those that are
    /// met for the first time are kept, or noted. What most messages have no need of costs them one look.
    looks_closely: bool,
    takes_notes: bool,
    /// There: the objects that were met, in order.
    pub met: Vec<usize>,
    pub buffers: SentBuffers,
    /// NumPy's dtypes taken apart, by address; temporaries keep them.
    dtypes: Dtypes,
    /// Whether equal strings are written once.
    interns: bool,
    last_shape: u32,
    last_plan: Option<Rc<Plan>>,
    /// Whether instances of its class are written as their slots, without a question to anyone.
    slots_only: bool,
    /// Of a record in a log: what the records before it have named.
    window: Option<SharedWindow>,
    pub py: Python<'t>,
    _pause: gc::Pause,
}

/// Writes a message; once more, with every object looked up, where code of the program's has to be asked on the way.
/// Nothing of it was called by then.
pub fn tracking_if_asked<T>(mut write: impl FnMut(bool) -> Result<T>) -> Result<T> {
    match write(false) {
        Err(fault) if fault.detour() == Some(Detour::TrackAll) => write(true),
        written => written,
    }
}

/// A string by its value.
struct TextKey(Owned);

impl std::hash::Hash for TextKey {
    fn hash<H: std::hash::Hasher>(&self, state: &mut H) {
        // SAFETY: a string, by construction.
        state.write_isize(unsafe { crate::cpython::text::hash(self.0.get()) });
    }
}

impl PartialEq for TextKey {
    fn eq(&self, other: &Self) -> bool {
        // SAFETY: strings, by construction.
        unsafe { crate::cpython::text::equal(self.0.get(), other.0.get()) }
    }
}

impl Eq for TextKey {}

/// Tells the shapes of one message, or of one shared window of a log, from those of others.
fn next_serial() -> u64 {
    use std::sync::atomic::{AtomicU64, Ordering};
    static SERIAL: AtomicU64 = AtomicU64::new(1);
    SERIAL.fetch_add(1, Ordering::Relaxed)
}

#[derive(Debug)]
pub enum Sharing {
    /// Reference counts tell what can't be shared; what else there is gets an id.
    ByCount,
    /// Canonical form, first walk: every object is looked up; those met again are noted, with how often they were.
    Finding(FxHashMap<usize, u32>),
    /// Canonical form, second walk: only these get an id.
    Found(FxHashMap<usize, u32>),
}

impl<'t, D: Dialect> Encoder<'t, D> {
    /// # Safety
    /// The GIL is held while the encoder lives.
    #[inline(always)] // it is large: made where it stays
    pub unsafe fn new(
        py: Python<'t>,
        dialect: D,
        w: D::Writer,
        options: &'t Options,
        tables: &'t mut Tables,
        sharing: Sharing,
    ) -> Self {
        tables.shapes.clear();
        tables.memo.clear();
        // Where memory ran out in the message before, which unwinds, it was left as it was.
        tables.stack.clear();
        // Who is asked about every object can reach it, too.
        let asks = |hooks: &PickleHooks| hooks.persistent_id.is_some() || hooks.reducer_override.is_some();
        let tracks_all = D::HAS_REFERENCES
            && options.refs
            && matches!(sharing, Sharing::ByCount)
            && options.pickle.as_ref().is_some_and(|hooks| asks(hooks));
        Encoder {
            w,
            dialect,
            options,
            tables,
            next_id: 0,
            serial: next_serial(),
            temporaries: Vec::new(),
            linked_tuples: 0,
            deep: None,
            texts: HashMap::default(),
            unmade: HashMap::default(),
            replacing: 0,
            unchecked: 0,
            recipes: None,
            bound: match sharing {
                _ if !options.refs => (0, isize::MAX),
                _ if tracks_all => (0, 0),
                // Two walks, as in canonical form; but equal graphs need not give equal bytes.
                _ if D::SHARED_STAND_APART => (-1, 0),
                Sharing::ByCount => (-1, 0),
                Sharing::Finding(_) | Sharing::Found(_) => (0, 0),
            },
            tracks_all,
            sharing,
            orders: None,
            effort: None,
            looks_closely: options.pickle.as_ref().is_some_and(|hooks| hooks.persistent_id.is_some()),
            takes_notes: options.trust || tracks_all,
            met: Vec::new(),
            buffers: SentBuffers::default(),
            dtypes: None,
            interns: options.intern && options.refs,
            last_shape: shapes::NONE,
            last_plan: None,
            slots_only: false,
            window: None,
            py,
            // SAFETY: the GIL is held, says the caller.
            _pause: unsafe { gc::Pause::new() },
        }
    }

    /// Canonical form, second walk: what the first has found.
    pub fn shares(&mut self, found: Sharing) {
        if self.options.refs {
            self.bound = (0, 0);
        }
        self.tracks_all = false;
        self.takes_notes = self.options.trust;
        self.sharing = found;
    }

    /// From here on every object is looked up, whoever holds it.
    pub fn track_all(&mut self) {
        if self.tracks() && self.bound != (0, isize::MAX) {
            self.bound = (0, 0);
            self.tracks_all = true;
            self.takes_notes = true;
        }
    }

    /// Only the order of a set's members is asked for, and looked for that far.
    pub fn only_compares(&mut self, effort: Effort) {
        self.effort = Some(effort);
        self.looks_closely = true;
        self.takes_notes = true;
    }

    pub fn effort(&self) -> Option<Effort> {
        self.effort
    }

    /// Code of the program's is about to be asked. It may give references to whatever it can reach, so that "its parent
    /// alone holds it" is true no more: if some object was left out for that reason, the message is begun anew.
    pub(crate) fn asks_program(&mut self) -> Result<()> {
        let by_count = match self.sharing {
            Sharing::ByCount => true,
            Sharing::Finding(_) => D::SHARED_STAND_APART,
            Sharing::Found(_) => false,
        };
        if !by_count || self.tracks_all || !self.tracks() {
            return Ok(());
        }
        // Where only the root was met, nothing was left out.
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
        // The first object has number 0, without an id: whether anybody else holds it can't be told from its count.
        // SAFETY: `root` is alive for the length of the call, and so is what it holds.
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
                self.tables.memo.meet(root, self.base());
            }
            self.open(root, shapes::NONE)?;
        }
        self.walk()
    }

    /// What was made on the way, to be kept alive for longer than the encoder is.
    pub fn take_temporaries(&mut self) -> Vec<Owned> {
        std::mem::take(&mut self.temporaries)
    }

    /// How many objects could have been met again.
    pub fn met_objects(&self) -> usize {
        self.next_id as usize
    }

    /// What `Sharing::Finding` found, and what the dialect knows by now.
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

    /// Keeps a temporary alive until the message is whole.
    pub fn keep(&mut self, object: Owned) -> Obj {
        let raw = object.get();
        self.temporaries.push(object);
        raw
    }

    /// Writes `parts` next, in order.
    pub fn then(&mut self, parts: Vec<WorkItem>) {
        // SAFETY: the singleton is alive; it stands in for an object.
        self.then_for(unsafe { Owned::borrowed(ffi::Py_None()) }, parts);
    }

    /// The same of what was made of an object and is written in its place: made anew each time, it says nothing of cycles.
    pub fn then_for(&mut self, object: Owned, parts: Vec<WorkItem>) {
        let frame = Frame { extra: Some(Extra::Parts(Box::new(parts))), ..Frame::new(object, Kind::Parts) };
        self.tables.stack.push(frame);
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

    fn then(&mut self, items: Vec<WorkItem>) {
        self.then(items);
    }

    fn then_made(&mut self, object: Obj, items: Vec<WorkItem>) {
        self.then_made(object, items);
    }

    fn dict_body(&mut self, dict: &Owned) {
        self.dict_body(dict);
    }

    #[inline(always)]
    unsafe fn met(&mut self, object: Obj, held: isize) -> Result<bool> {
        // SAFETY: the same contract.
        unsafe { self.met(object, held) }
    }

    unsafe fn refused(&mut self, object: Obj, why: &str) -> Result<()> {
        // SAFETY: the same contract.
        unsafe { self.refused(object, why) }
    }

    fn asks_program(&mut self) -> Result<()> {
        self.asks_program()
    }

    fn keep(&mut self, object: Owned) -> Obj {
        self.keep(object)
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
    /// Whether it is of parts alone.
    fn stands_for_none(&self) -> bool {
        // SAFETY: the singleton is alive.
        self.object.get() == unsafe { ffi::Py_None() }
    }

    #[inline(always)]
    fn new(object: Owned, kind: Kind) -> Frame {
        Frame { object, kind, value_next: false, linked: false, hint: shapes::NONE, at: 0, len: 0, extra: None }
    }
}

//! Tokens to objects: builds a graph with a stack of its own, from any format.
//!
//! A container is made before what it holds, so that it can be referred to from within; it is handed to its parent once
//! it is full. Until then nothing but a reference of the message's own can show it to anybody.

mod array;
mod begin;
mod bounds;
mod build;
pub mod dialect;
pub(crate) mod elsewhere;
pub(crate) mod frame;
pub(crate) mod hashed;
mod inline_cache;
mod instance;
mod late;
mod partial;
mod resolve;
mod run;
mod runs;
mod schemaless;
mod series;
pub(crate) mod skip;
pub(crate) mod typed;
mod values;
mod window;

use crate::budget::Allowance;
use crate::budget::{Limits, Work, BYTES_PER_BYTE};
use crate::cpython::fill;
use crate::cpython::{gc, Obj, Owned};
use crate::error::{self, decode, limit, Result};
use crate::memory::{HashMap, Vec};
use crate::schema::coerce::Rules;
use crate::schema::{NodeId, Schema, ANY, UNTYPED};
use crate::types::buffer::Lender;

use bounds::Bounds;
use dialect::Dialect;
use elsewhere::Elsewhere;
pub use frame::DOCUMENT;

use crate::budget::hash_cost::HashCost;
use crate::shapes::Shape;
use frame::{Frame, Kind};
use holdall_format::model::ExtentReader as _;
use holdall_format::Reader;
pub use partial::Kept;
use pyo3::prelude::*;
pub use series::Series;
use std::rc::Rc;
use std::sync::Arc;
pub use window::SharedWindow;

/// No id.
pub const NO_ID: u32 = u32::MAX;

/// What `loads` and its like were told.
#[derive(Debug, Clone)]
pub struct Options {
    /// Classes and modules that may be built by name.
    pub types: Vec<Owned>,
    /// Unknown classes become records.
    pub records: bool,
    pub trust: bool,
    pub limits: Limits,
    /// What the graph must be; `None` is anything.
    pub schema: Option<Arc<Schema>>,
    /// Which node of it, if not its root.
    pub node: Option<NodeId>,
    /// Text is no number, and the like.
    pub strict: bool,
    pub dec_hook: Option<Owned>,
    /// Points in time have no zone, in formats that don't say whether there was one.
    pub naive: bool,
    pub msgpack: MsgpackOptions,
    pub pickle: PickleOptions,
}

/// What only MessagePack is told.
#[derive(Debug, Clone, Default)]
pub struct MsgpackOptions {
    pub ext_hook: Option<Owned>,
    /// Points in time keep their nanoseconds.
    pub timestamps: bool,
    /// Points in time are cut to the microsecond, and not rounded; an array is no key.
    pub as_msgpack_python: bool,
    /// Keys are text or bytes.
    pub strict_keys: bool,
}

/// What only `holdall.pickle` and its like tell.
#[derive(Debug, Clone, Default)]
pub struct PickleOptions {
    pub persistent_load: Option<Owned>,
    pub find_class: Option<Owned>,
    /// As pickle does: bytes behind the message are somebody else's.
    pub ignores_rest: bool,
}

/// An object by its number.
#[derive(Debug)]
pub(crate) struct Numbered {
    /// `None` while what it is made of is not all there.
    pub(crate) object: Option<Owned>,
    pub(crate) hash_cost: HashCost,
    pub(crate) state: State,
    /// What it was built as.
    pub(crate) node: NodeId,
}

impl Numbered {
    pub(crate) fn open() -> Numbered {
        Numbered { object: None, hash_cost: HashCost::default(), state: State::Open, node: ANY }
    }

    pub(crate) fn whole(object: Owned) -> Numbered {
        Numbered { object: Some(object), hash_cost: HashCost::default(), state: State::Whole, node: ANY }
    }
}

/// An object that is kept from one load to the next of the same document.
#[derive(Debug, Clone)]
pub struct Shared {
    pub(crate) object: Owned,
    pub(crate) hash_cost: HashCost,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum State {
    /// Its content is not all there.
    Open,
    /// The same, and every empty place in it holds `None`, as something else can see it.
    Seen,
    Whole,
    /// It stands in a field that nobody asked for: `hash_cost.values` is its place in the list of such.
    Skipped,
}

/// What is made once a message, and used again.
#[derive(Default)]
pub(crate) struct Memo {
    /// Shapes whose class was found for this message.
    found: HashMap<usize, Rc<Shape>, rustc_hash::FxBuildHasher>,
    /// What shared objects were made into where another type wants them: by number and node.
    made_into: HashMap<(u32, NodeId), Owned, rustc_hash::FxBuildHasher>,
    /// Regular expressions that were compiled, by pattern and flags.
    patterns: Option<Owned>,
    /// Dtypes that are values of the message, by address.
    dtypes: HashMap<usize, (Owned, Arc<crate::types::numpy::dtype::Dtype>), rustc_hash::FxBuildHasher>,
}

/// A place in the input of a dialect's reader.
pub(crate) type Place<'i, D> = <<D as Dialect<'i>>::Reader as Reader<'i>>::Place;

/// Builds the graph of one message.
pub struct Decoder<'i, D: Dialect<'i>> {
    pub r: D::Reader,
    pub dialect: D,
    pub options: &'i Options,
    pub py: Python<'i>,
    pub(crate) stack: Vec<Frame<D::Make>>,
    pub(crate) numbered: Vec<Numbered>,
    pub(crate) shapes: Vec<Rc<Shape>>,
    pub(crate) bounds: Bounds,
    /// The number that the next object gets.
    pub(crate) object_id: u32,
    pub(crate) late: late::Late,
    /// What gives the buffers that stand outside the message.
    pub lender: Option<Lender<'i>>,
    /// The object just made is not all there: its fields follow.
    pub(crate) made_again: bool,
    pub(crate) rules: Rules<'i>,
    /// Where the value begins that is being begun against a node: what is wrong with it is found there.
    pub(crate) start: usize,
    /// Classes that are not permitted are no error before they are used.
    pub(crate) learns: bool,
    /// Values of a list that is not counted yet: empty between lists.
    pub(crate) leaves: Vec<Owned>,
    pub(crate) memo: Memo,
    pub(crate) elsewhere: Elsewhere<Place<'i, D>>,
    _pause: gc::Pause,
}

impl<'i, D: Dialect<'i>> Decoder<'i, D> {
    /// # Safety
    /// The GIL is held while the decoder lives.
    pub unsafe fn new(
        py: Python<'i>,
        dialect: D,
        r: D::Reader,
        options: &'i Options,
        lender: Option<Lender<'i>>,
    ) -> Self {
        let input = r.remaining();
        let leaves = if r.extents().is_some() { (input / 64).clamp(1, 64) } else { 0 };
        Decoder {
            r,
            dialect,
            options,
            py,
            // Room for what a message of its size is likely to have: growing by doubling costs a small one five calls.
            stack: Vec::with_capacity((input / 128).clamp(1, 16)),
            numbered: Vec::with_capacity((input / 32).clamp(1, 64)),
            shapes: Vec::with_capacity((input / 256).clamp(1, 8)),
            bounds: Bounds::new(&options.limits, input),
            object_id: NO_ID,
            late: late::Late::default(),
            lender,
            made_again: false,
            rules: Rules {
                py,
                nodes: options.schema.as_ref().map_or(&UNTYPED, |schema| &schema.nodes),
                schema: options.schema.as_deref(),
                strict: options.strict,
                schemaless: !D::Reader::TYPES,
                dec_hook: options.dec_hook.as_ref(),
                work: Work::new(options.limits.work, input),
            },
            start: 0,
            learns: false,
            leaves: Vec::with_capacity(leaves),
            memo: Memo::default(),
            elsewhere: Elsewhere::default(),
            // SAFETY: by the contract of `new` the GIL is held as long as the decoder, and so the pause, lives.
            _pause: unsafe { gc::Pause::new() },
        }
    }

    /// Builds the whole graph.
    pub fn message(&mut self) -> Result<Owned> {
        // The first object has number 0, without an id; in a log's shared window, the first that is free.
        self.object_id = self.numbered.len() as u32;
        self.numbered.push(Numbered::open());
        D::start(self)?;
        let node = self.options.schema.as_ref().map_or(ANY, |schema| self.options.node.unwrap_or(schema.root));
        let accepts = self.rules.node(node).accepts;
        let root = match self.value(node, accepts).map_err(|fault| fault.found(self.here()))? {
            Some(root) => root,
            None => self.run(0)?,
        };
        if !self.options.pickle.ignores_rest {
            self.r.finish()?;
        }
        self.finish_deferred(0)?;
        D::finish(self)?;
        Ok(root)
    }

    /// How many containers are open.
    pub(crate) fn depth(&self) -> usize {
        self.stack.len()
    }

    pub(crate) fn here(&self) -> usize {
        self.r.offset()
    }

    /// Gives the next number to `entry`.
    #[inline(always)]
    pub(crate) fn add_numbered(&mut self, entry: Numbered) -> usize {
        self.add_or_meet(entry).0
    }

    /// The same; says no to what has the number already, and is there, or being built.
    #[inline(always)]
    pub(crate) fn add_or_meet(&mut self, entry: Numbered) -> (usize, bool) {
        if self.elsewhere.again.is_some() {
            return self.renumbered(entry);
        }
        self.numbered.push(entry);
        (self.numbered.len() - 1, true)
    }

    /// How many values, or pairs, are left up to an offset.
    #[inline(always)]
    pub(crate) fn count(&self, end: usize) -> Result<usize> {
        let extents = self.r.extents().ok_or_else(|| decode(dialect::OUT_OF_PLACE, self.here()))?;
        Ok(extents.count(end)?)
    }

    /// The index of a message of which only a part is read.
    pub(crate) fn index(&self) -> Result<&<D::Reader as Reader<'i>>::Indexed> {
        self.r.indexed().ok_or_else(|| decode(dialect::OUT_OF_PLACE, self.here()))
    }

    /// The shape of that number.
    #[inline(always)]
    pub(crate) fn shape_of(&mut self, number: usize) -> Result<Rc<Shape>> {
        if self.r.indexed().is_some() {
            return self.far_shape(number);
        }
        match self.shapes.get(number) {
            Some(shape) => Ok(shape.clone()),
            None => {
                let kind = holdall_format::ErrorKind::BadShape { number: number as u64 };
                Err(holdall_format::Error::new(kind, self.here()).into())
            }
        }
    }

    /// Takes the id that stands for the next object.
    #[inline(always)]
    pub(crate) fn take_id(&mut self) -> u32 {
        std::mem::replace(&mut self.object_id, NO_ID)
    }

    /// Gives a new object its number, while its content is to come.
    #[inline(always)]
    pub(crate) fn opened(&mut self, object_id: u32, object: Obj) {
        if object_id != NO_ID {
            // SAFETY: the caller holds `object`.
            let object = unsafe { Owned::borrowed(object) };
            // While it is open, its hash cost says where on the stack its frame is.
            let place = HashCost { values: self.stack.len() as u32, ..HashCost::default() };
            let node = self.numbered[object_id as usize].node;
            self.numbered[object_id as usize] =
                Numbered { object: Some(object), hash_cost: place, state: State::Open, node };
        }
    }

    /// Gives an object its number, or says that all its content is there.
    #[inline(always)]
    pub(crate) fn whole(&mut self, object_id: u32, object: Obj) {
        if object_id != NO_ID {
            let numbered = &mut self.numbered[object_id as usize];
            // An open object's hash cost is its place on the stack; that of one that is made at once is its own.
            if numbered.state != State::Whole && numbered.object.is_some() {
                numbered.hash_cost = HashCost::default();
            }
            numbered.state = State::Whole;
            if numbered.object.is_none() {
                // SAFETY: the caller holds `object`.
                numbered.object = Some(unsafe { Owned::borrowed(object) });
            }
        }
    }

    /// Asks for room for a container of `len` values and about `bytes` bytes, before it is made.
    #[inline(always)]
    pub(crate) fn claim(&mut self, len: usize, bytes: usize) -> Result<()> {
        if self.stack.len() >= self.bounds.paid_deep {
            self.pay_deeper()?;
        }
        if self.bounds.objects <= len || self.bounds.bytes < bytes {
            return Err(self.over(bytes));
        }
        self.bounds.objects -= len + 1;
        self.bounds.bytes -= bytes;
        if self.bounds.owed.saturating_add(len) > self.r.remaining() {
            return Err(self.truncated(len));
        }
        Ok(())
    }

    /// Asks for memory for more frames.
    #[cold]
    #[inline(never)]
    fn pay_deeper(&mut self) -> Result<()> {
        const AT_ONCE: usize = 64;
        if self.stack.len() >= self.bounds.most_deep {
            return Err(self.over(0));
        }
        self.charge(AT_ONCE * size_of::<Frame<D::Make>>())?;
        self.bounds.paid_deep = self.bounds.most_deep.min(self.bounds.paid_deep.saturating_add(AT_ONCE));
        Ok(())
    }

    /// Asks for memory for what is no container, but takes much more of it than of the message.
    #[inline(always)]
    pub(crate) fn charge(&mut self, bytes: usize) -> Result<()> {
        match self.bounds.bytes.checked_sub(bytes) {
            Some(left) => self.bounds.bytes = left,
            None => return Err(self.over(bytes)),
        }
        Ok(())
    }

    /// The same for a buffer that is a part of the input itself: only a bound that somebody set counts it.
    pub(crate) fn charge_given(&mut self, bytes: usize) -> Result<()> {
        match self.options.limits.bytes {
            Some(_) => self.charge(bytes),
            None => Ok(()),
        }
    }

    #[cold]
    #[inline(never)]
    pub(crate) fn over(&self, bytes: usize) -> error::Fault {
        let at = self.here().saturating_sub(1);
        if self.stack.len() >= self.bounds.most_deep {
            return limit(format_args!("nested deeper than limits.depth={}", self.bounds.most_deep), at);
        }
        if self.bounds.bytes < bytes {
            return match self.options.limits.bytes {
                Some(bytes) => limit(format_args!("takes more memory than limits.bytes={bytes}"), at),
                None => limit(
                    format_args!(
                        "takes more memory than {BYTES_PER_BYTE} times its own size; `limits.bytes` allows more"
                    ),
                    at,
                ),
            };
        }
        let objects = self.options.limits.objects.unwrap_or(usize::MAX);
        limit(format_args!("more objects than limits.objects={objects}"), at)
    }

    #[cold]
    #[inline(never)]
    pub(crate) fn truncated(&self, len: usize) -> error::Fault {
        let needed = self.bounds.owed.saturating_add(len) - self.r.remaining();
        holdall_format::Error::new(holdall_format::ErrorKind::Truncated { needed }, self.here()).into()
    }

    /// The object of that number.
    #[inline(always)]
    fn numbered(&mut self, number: u64) -> Result<Owned> {
        match self.numbered.get(number as usize) {
            Some(Numbered { object: Some(object), hash_cost, state: State::Whole, .. }) => {
                if *hash_cost != HashCost::default() {
                    if let Some(frame) = self.stack.last_mut() {
                        frame.hash_cost.add(*hash_cost);
                    }
                }
                Ok(object.clone())
            }
            // Referred to before: sound, if not all there. Keys and what is made of its parts look closer.
            Some(Numbered { object: Some(object), state: State::Seen, .. })
                if self.stack.last().is_some_and(|top| {
                    matches!(top.kind, Kind::List | Kind::Copied | Kind::Keyed | Kind::Fields | Kind::Typed)
                }) =>
            {
                Ok(object.clone())
            }
            _ => self.unfinished(number),
        }
    }

    /// The object of that number while it is being built: whatever can be seen of it from now on must be sound.
    #[inline(never)]
    fn unfinished(&mut self, number: u64) -> Result<Owned> {
        let here = self.here();
        let Some(entry) = self.numbered.get_mut(number as usize) else {
            return Err(holdall_format::Error::new(holdall_format::ErrorKind::BadReference { number }, here).into());
        };
        if entry.state == State::Skipped && !D::BACK_REFERENCES {
            return self.read_skipped(number as usize, ANY);
        }
        let Some(object) = entry.object.clone() else {
            return Err(decode("an object that is made of its parts is one of them itself", here));
        };
        let place = entry.hash_cost.values;
        if let Some(top) = self.stack.last() {
            let frame = |at: usize| self.stack.get(at);
            // Of a subclass's instance, the content stands on top of the fields.
            let is_content = |frame: &Frame<D::Make>| {
                !frame.hand_over && frame.is_value() && frame.object.as_ref().map(Owned::get) == Some(object.get())
            };
            let is_value = frame(place as usize).is_some_and(|frame| frame.is_value())
                || frame(place as usize + 1).is_some_and(is_content);
            if top.is_value() && place >= top.chain && is_value {
                return Err(decode("a tuple or its like directly inside itself", here));
            }
        }
        let Some(entry) = self.numbered.get_mut(number as usize) else { return Ok(object) };
        if entry.state == State::Open {
            entry.state = State::Seen;
            // SAFETY: `object` is alive; what `pad` writes are places that are empty.
            unsafe { fill::pad(object.get()) };
            self.note_half(object.get(), number as u32);
        }
        Ok(object)
    }
}

impl<'i, D: Dialect<'i>> Decoder<'i, D> {
    /// Goes on with what is left for the log, or for the parts of a message, where nobody has set a bound: such a one
    /// is for each.
    pub fn begin_allowance(&mut self, allowance: &Allowance) {
        if self.options.limits.bytes.is_none() {
            self.bounds.bytes = allowance.bytes;
        }
        if self.options.limits.work.is_none() {
            self.rules.work.left.set(allowance.work);
        }
    }

    pub fn end_allowance(&self, allowance: &mut Allowance) {
        if self.options.limits.bytes.is_none() {
            allowance.bytes = self.bounds.bytes;
        }
        if self.options.limits.work.is_none() {
            allowance.work = self.rules.work.left.get();
        }
    }
}

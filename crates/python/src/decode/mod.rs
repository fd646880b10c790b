//! Tokens to objects: builds an object graph from any format, with an explicit stack of frames.
//!
//! A container is created before its content, so that references from within can reach it, and handed to its parent
//! once it is full. Until then, only references in the message itself can reach it.

mod array;
mod begin;
mod bounds;
mod build;
pub(crate) mod decided;
pub mod dialect;
pub(crate) mod elsewhere;
pub mod few;
mod flat;
pub(crate) mod frame;
pub(crate) mod hashed;
mod inline_cache;
mod instance;
mod late;
mod leaves;
mod left_out;
mod named;
mod partial;
mod recipe;
mod resolve;
mod run;
mod runs;
mod schemaless;
pub(crate) mod scratch;
mod series;
mod settled;
pub(crate) mod skip;
pub mod small;
pub(crate) mod typed;
mod values;
mod window;

use crate::budget::Allowance;
use crate::budget::{Limits, Work, BYTES_PER_BYTE};
use crate::cpython::fill;
use crate::cpython::{gc, Obj, Owned};
use crate::error::{decode, limit, refused, DecodeError, Fault, Result};
use crate::memory::{HashMap, Vec};
use crate::schema::coerce::Rules;
use crate::schema::{NodeId, Schema, ANY, UNTYPED};
use crate::types::buffer::Lender;

use bounds::Bounds;
use dialect::Dialect;
use elsewhere::Elsewhere;
pub use frame::DOCUMENT;
pub use named::Named;

use crate::budget::hash_cost::HashCost;
use crate::shapes::Shape;
use frame::{Frame, Kind};
use holdall_format::model::ExtentReader as _;
use holdall_format::Reader;
pub use partial::Kept;
use pyo3::intern;
use pyo3::prelude::*;
use scratch::Scratch;
pub use series::Series;
pub use settled::Settled;
use std::rc::Rc;
use std::sync::Arc;
pub use window::SharedWindow;

/// No object id.
pub const NO_ID: u32 = u32::MAX;

/// The arguments of `loads` and the functions like it.
#[derive(Debug, Clone)]
pub struct Options {
    /// Classes that may be built by name, and modules whose classes may.
    pub types: Vec<Owned>,
    pub named: Named,
    /// Instances of unknown classes become records.
    pub records: bool,
    pub trust: bool,
    pub limits: Limits,
    /// What the graph must be; `None` accepts anything.
    pub schema: Option<Arc<Schema>>,
    /// The schema node of the outermost value, if it isn't the schema's root.
    pub node: Option<NodeId>,
    /// No lenient conversions, such as text to a number.
    pub strict: bool,
    pub dec_hook: Option<Owned>,
    /// Asked what becomes of what is stored.
    pub resolver: Option<crate::shapes::decided::Resolver>,
    /// Points in time become datetimes without a zone, in formats that don't store whether there was one.
    pub naive: bool,
    pub msgpack: MsgpackOptions,
    pub pickle: PickleOptions,
}

/// Options of MessagePack.
#[derive(Debug, Clone, Default)]
pub struct MsgpackOptions {
    pub ext_hook: Option<Owned>,
    /// Points in time become `Timestamp`s, which keep nanoseconds.
    pub timestamps: bool,
    /// As msgpack-python: points in time are cut to the microsecond instead of rounded, and arrays can't be keys.
    pub as_msgpack_python: bool,
    /// Keys must be text or bytes.
    pub strict_keys: bool,
}

/// Options of `holdall.pickle` and the modules like it.
#[derive(Debug, Clone, Default)]
pub struct PickleOptions {
    pub persistent_load: Option<Owned>,
    pub find_class: Option<Owned>,
    /// As in pickle: bytes after the message are left alone.
    pub ignores_rest: bool,
}

/// An entry of the table of objects that have an id.
#[derive(Debug)]
pub(crate) struct Numbered {
    /// `None` until its parts are complete, for an object that is made from them.
    pub(crate) object: Option<Owned>,
    pub(crate) hash_cost: HashCost,
    pub(crate) state: State,
    /// The schema node that it was built for.
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

/// An object that is kept between loads of parts of the same document.
#[derive(Debug, Clone)]
pub struct Shared {
    pub(crate) object: Owned,
    pub(crate) hash_cost: HashCost,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum State {
    /// Its content is incomplete.
    Open,
    /// Incomplete, but referred to meanwhile: its empty slots were filled with `None`.
    Seen,
    Whole,
    /// A resolver leaves it out: there is no object.
    LeftOut,
    /// It is in a field that was skipped: `hash_cost.values` is its index in `Elsewhere::skipped`.
    Skipped,
}

/// A layout about which resolvers were asked, and what they said, if anything.
type Asked = (Rc<Shape>, Option<Rc<crate::shapes::decided::Verdict>>);

/// Caches for one message; boxed, since few messages need them.
#[derive(Default)]
pub(crate) struct Memo {
    /// Shapes with the class that was found for them, by the address of the shape as it was read.
    found: HashMap<usize, Rc<Shape>, rustc_hash::FxBuildHasher>,
    /// What resolvers said of layouts, by address, with the layout.
    pub(crate) verdicts: HashMap<usize, Asked, rustc_hash::FxBuildHasher>,
    /// And those of dicts, by their keys.
    pub(crate) answers: HashMap<Vec<u8>, Rc<crate::shapes::decided::Answer>>,
    /// Shared objects coerced for another node, by object id and node.
    made_into: HashMap<(u32, NodeId), Owned, rustc_hash::FxBuildHasher>,
    /// Dtypes that are values of the message, by address; the entry holds the object, so the address stays its own.
    dtypes: HashMap<usize, (Owned, Arc<crate::types::numpy::dtype::Dtype>), rustc_hash::FxBuildHasher>,
}

/// A position in the input of a dialect's reader.
pub(crate) type Place<'i, D> = <<D as Dialect<'i>>::Reader as Reader<'i>>::Place;

/// Builds the graph of one message.
pub struct Decoder<'i, D: Dialect<'i>> {
    pub r: D::Reader,
    pub dialect: D,
    pub options: &'i Options,
    pub py: Python<'i>,
    pub(crate) tables: Box<Scratch<D::Make>>,
    pub(crate) bounds: Bounds,
    /// The id reserved for the next object, or `NO_ID`.
    pub(crate) object_id: u32,
    pub(crate) late: late::Late,
    /// Provides the out-of-band buffers.
    pub lender: Option<Lender<'i>>,
    /// `make` has pushed a frame for the fields of the object that it returned.
    pub(crate) made_again: bool,
    pub(crate) rules: Rules<'i>,
    /// Offset of the value that is being started against a schema node; errors about it are reported there.
    pub(crate) start: usize,
    /// Classes that aren't permitted are errors only when an instance comes.
    pub(crate) learns: bool,
    memo: Option<Box<Memo>>,
    /// The depths of open containers that hold the mark of something left out; the innermost is last.
    pub(crate) left_out: Vec<usize>,
    /// The outermost value may be left out, by whoever asked for it.
    pub may_leave_out_root: bool,
    /// A dict of the compiled regular expressions of this message, by (pattern, flags) and by pattern.
    patterns: Option<Owned>,
    pub(crate) elsewhere: Elsewhere<Place<'i, D>>,
    _pause: gc::Pause,
}

impl<'i, D: Dialect<'i>> Decoder<'i, D> {
    /// # Safety
    /// The GIL is held for as long as the decoder lives.
    pub unsafe fn new(
        py: Python<'i>,
        dialect: D,
        r: D::Reader,
        options: &'i Options,
        lender: Option<Lender<'i>>,
    ) -> Self {
        let input = r.remaining();
        let mut tables = Scratch::take(py, D::scratch());
        tables.expect(input);
        Decoder {
            r,
            dialect,
            options,
            py,
            tables,
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
            memo: None,
            left_out: Vec::new(),
            may_leave_out_root: false,
            patterns: None,
            elsewhere: Elsewhere::default(),
            // SAFETY: by contract the GIL is held for as long as the decoder, and with it the pause, lives.
            _pause: unsafe { gc::Pause::new() },
        }
    }

    /// Builds the whole graph of a message.
    pub fn message(&mut self) -> Result<Owned> {
        // The root has an id without an `AssignId` token: 0, or the first free one in a log's shared window.
        self.object_id = self.tables.numbered.len() as u32;
        self.tables.numbered.push(Numbered::open());
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
        self.rooted(root)
    }

    /// Leaves the tables for the next load.
    #[inline(always)]
    pub fn done_with(self) {
        if let Some(place) = D::scratch() {
            self.tables.keep(self.py, place);
        }
    }

    pub(crate) fn memo(&mut self) -> &mut Memo {
        self.memo.get_or_insert_default()
    }

    /// The number of open containers.
    pub(crate) fn depth(&self) -> usize {
        self.tables.stack.len()
    }

    pub(crate) fn here(&self) -> usize {
        self.r.offset()
    }

    /// Gives `entry` the next object id, and returns the id.
    #[inline(always)]
    pub(crate) fn add_numbered(&mut self, entry: Numbered) -> usize {
        self.add_or_meet(entry).0
    }

    /// The same. `false`: the value is read again, and its object exists already or is skipped once more.
    #[inline(always)]
    pub(crate) fn add_or_meet(&mut self, entry: Numbered) -> (usize, bool) {
        if self.elsewhere.again.is_some() {
            return self.renumbered(entry);
        }
        self.tables.numbered.push(entry);
        (self.tables.numbered.len() - 1, true)
    }

    /// How many values or pairs are left up to the offset `end`.
    #[inline(always)]
    pub(crate) fn count(&self, end: usize) -> Result<usize> {
        let extents = self.r.extents().ok_or_else(|| decode(dialect::OUT_OF_PLACE, self.here()))?;
        Ok(extents.count(end)?)
    }

    /// The index of a message that is read in parts.
    pub(crate) fn index(&self) -> Result<&<D::Reader as Reader<'i>>::Indexed> {
        self.r.indexed().ok_or_else(|| decode(dialect::OUT_OF_PLACE, self.here()))
    }

    /// The shape with this number.
    #[inline(always)]
    pub(crate) fn shape_of(&mut self, number: usize) -> Result<Rc<Shape>> {
        if self.r.indexed().is_some() {
            return self.far_shape(number);
        }
        match self.tables.shapes.get(number) {
            Some(shape) => Ok(shape.clone()),
            None => {
                let kind = holdall_format::ErrorKind::BadShape { number: number as u64 };
                Err(holdall_format::Error::new(kind, self.here()).into())
            }
        }
    }

    /// Takes the reserved object id.
    #[inline(always)]
    pub(crate) fn take_id(&mut self) -> u32 {
        std::mem::replace(&mut self.object_id, NO_ID)
    }

    /// Enters an object under its id while its content is incomplete.
    #[inline(always)]
    pub(crate) fn opened(&mut self, object_id: u32, object: Obj) {
        if object_id != NO_ID {
            // SAFETY: callers hold `object` in an `Owned` during this call.
            let object = unsafe { Owned::borrowed(object) };
            // While an object is open, its hash cost field stores the index of its frame on the stack.
            let place = HashCost { values: self.tables.stack.len() as u32, ..HashCost::default() };
            let node = self.tables.numbered[object_id as usize].node;
            self.tables.numbered[object_id as usize] =
                Numbered { object: Some(object), hash_cost: place, state: State::Open, node };
        }
    }

    /// Marks an object as complete, and enters it under its id unless `opened` has done that.
    #[inline(always)]
    pub(crate) fn whole(&mut self, object_id: u32, object: Obj) {
        if object_id != NO_ID {
            let numbered = &mut self.tables.numbered[object_id as usize];
            // An open object's hash cost is a stack index. One that is entered only now has its real hash cost already.
            if numbered.state != State::Whole && numbered.object.is_some() {
                numbered.hash_cost = HashCost::default();
            }
            numbered.state = State::Whole;
            if numbered.object.is_none() {
                // SAFETY: callers hold `object` in an `Owned` during this call.
                numbered.object = Some(unsafe { Owned::borrowed(object) });
            }
        }
    }

    /// Charges a container of `len` values and about `bytes` bytes to the budget, before it is created.
    #[inline(always)]
    pub(crate) fn claim(&mut self, len: usize, bytes: usize) -> Result<()> {
        if self.tables.stack.len() >= self.bounds.paid_deep {
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

    /// Charges the memory of more frames.
    #[cold]
    #[inline(never)]
    fn pay_deeper(&mut self) -> Result<()> {
        const AT_ONCE: usize = 64;
        if self.tables.stack.len() >= self.bounds.most_deep {
            return Err(self.over(0));
        }
        self.charge(AT_ONCE * size_of::<Frame<D::Make>>())?;
        self.bounds.paid_deep = self.bounds.most_deep.min(self.bounds.paid_deep.saturating_add(AT_ONCE));
        Ok(())
    }

    /// Charges the memory of an object that is no container, but is much larger than its part of the message.
    #[inline(always)]
    pub(crate) fn charge(&mut self, bytes: usize) -> Result<()> {
        match self.bounds.bytes.checked_sub(bytes) {
            Some(left) => self.bounds.bytes = left,
            None => return Err(self.over(bytes)),
        }
        Ok(())
    }

    /// Charges an out-of-band buffer. It is a part of the input, so only a limit that the user set counts it.
    pub(crate) fn charge_given(&mut self, bytes: usize) -> Result<()> {
        match self.options.limits.bytes {
            Some(_) => self.charge(bytes),
            None => Ok(()),
        }
    }

    #[cold]
    #[inline(never)]
    pub(crate) fn over(&self, bytes: usize) -> Fault {
        let at = self.here().saturating_sub(1);
        if self.tables.stack.len() >= self.bounds.most_deep {
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
    pub(crate) fn truncated(&self, len: usize) -> Fault {
        let needed = self.bounds.owed.saturating_add(len) - self.r.remaining();
        holdall_format::Error::new(holdall_format::ErrorKind::Truncated { needed }, self.here()).into()
    }

    /// The object with this id.
    #[inline(always)]
    pub(crate) fn numbered(&mut self, number: u64) -> Result<Owned> {
        match self.tables.numbered.get(number as usize) {
            Some(Numbered { object: Some(object), hash_cost, state: State::Whole, .. }) => {
                if *hash_cost != HashCost::default() {
                    if let Some(frame) = self.tables.stack.last_mut() {
                        frame.hash_cost.add(*hash_cost);
                    }
                }
                Ok(object.clone())
            }
            // Referred to before: its empty slots hold `None`, so these containers may store it. `unfinished` checks others.
            Some(Numbered { object: Some(object), state: State::Seen, .. })
                if self.tables.stack.last().is_some_and(|top| {
                    matches!(top.kind, Kind::List | Kind::Copied | Kind::Keyed | Kind::Fields | Kind::Typed)
                }) =>
            {
                Ok(object.clone())
            }
            _ => self.unfinished(number),
        }
    }

    /// Why there is no object yet: it is made of its parts, one of which refers to it.
    #[cold]
    fn made_of_itself(&self, number: u32) -> Fault {
        let frame = self.tables.stack.iter().find(|frame| frame.object_id == number);
        let make = frame.and_then(|frame| frame.parts.as_deref()?.make.as_ref());
        match make {
            Some(frame::Make::Decided(shape)) => {
                let name = shape.stored_name().unwrap_or_default();
                let why =
                    "holds itself, and its resolver decides by its values or drops some: answer with a class alone";
                decode(format_args!("`{name}` {why}"), self.here())
            }
            _ => decode("an object that is made of its parts is one of them itself", self.here()),
        }
    }

    /// The object with this id while it is being built. From now on others can see it, so its empty slots are filled.
    #[inline(never)]
    fn unfinished(&mut self, number: u64) -> Result<Owned> {
        let here = self.here();
        if self
            .tables
            .numbered
            .get(number as usize)
            .is_some_and(|entry| matches!(entry.state, State::Open | State::Seen))
        {
            if let Some(instead) = D::refers_to_open(self, number)? {
                return Ok(instead);
            }
        }
        let Some(entry) = self.tables.numbered.get_mut(number as usize) else {
            return Err(holdall_format::Error::new(holdall_format::ErrorKind::BadReference { number }, here).into());
        };
        if entry.state == State::Skipped && !D::BACK_REFERENCES {
            return self.read_skipped(number as usize, ANY);
        }
        if entry.state == State::LeftOut {
            self.leaves_out(NO_ID);
            return Ok(crate::types::resolver::skip(self.py)?);
        }
        let Some(object) = entry.object.clone() else { return Err(self.made_of_itself(number as u32)) };
        let place = entry.hash_cost.values;
        if let Some(top) = self.tables.stack.last() {
            let frame = |at: usize| self.tables.stack.get(at);
            // An instance of a subclass of a builtin has two frames, its content above its fields.
            let is_content = |frame: &Frame<D::Make>| {
                !frame.hand_over && frame.is_value() && frame.object.as_ref().map(Owned::get) == Some(object.get())
            };
            let is_value = frame(place as usize).is_some_and(|frame| frame.is_value())
                || frame(place as usize + 1).is_some_and(is_content);
            if top.is_value() && place >= top.chain && is_value {
                return Err(decode("a tuple or its like directly inside itself", here));
            }
        }
        let Some(entry) = self.tables.numbered.get_mut(number as usize) else { return Ok(object) };
        if entry.state == State::Open {
            entry.state = State::Seen;
            // SAFETY: `object` is an owned reference; `pad` writes only to empty slots of lists and tuples.
            unsafe { fill::pad(object.get()) };
            self.note_half(object.get(), number as u32);
        }
        Ok(object)
    }
}

impl<'i, D: Dialect<'i>> Decoder<'i, D> {
    /// The error when a function of our Python code, or of the user, has refused what the message holds.
    #[cold]
    pub(crate) fn refuse(&self, error: PyErr, at: usize) -> Fault {
        // An error of our own Python code without an offset has its own message, and gets the offset.
        let said = error.get_type(self.py).is(self.py.get_type::<DecodeError>());
        if said && error.value(self.py).getattr(intern!(self.py, "offset")).map_or(true, |offset| offset.is_none()) {
            return decode(error.value(self.py), at);
        }
        let cause = error.clone_ref(self.py);
        error.restore(self.py);
        let refused = refused("a value that can't be made of what is stored of it", at).into_py(0);
        if !refused.value(self.py).is(cause.value(self.py)) {
            refused.set_cause(self.py, Some(cause));
        }
        refused.into()
    }

    /// Takes over the remaining budget of the log, or of the message whose part this is. Limits that the user set are
    /// not shared: they hold for each record or part.
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

//! Julia's files as this dialect decodes them: its hooks in the loop, and what it knows while it reads a message.

use super::values::JuliaMake;
use super::{Described, Julia};
use crate::budget::hash_cost::Weight;
use crate::cpython::{Obj, Owned};
use crate::decode::dialect::Dialect;
use crate::decode::frame::{weight_of, Frame, Kind};
use crate::decode::Decoder;
use crate::error::{decode, Result};
use crate::memory::{HashMap, Vec};
use crate::schema::NodeId;
use holdall_format::model::TypedValue;
use holdall_format::{Reader, Token};
use pyo3::ffi;
use std::rc::Rc;

/// BSON as Julia's BSON.jl and BSONqs write it.
pub struct FromJulia<'i, R: Reader<'i>> {
    pub(super) julia: &'i Julia,
    /// Where the values stand that are referred to.
    pub(super) back_references: Vec<R::Place>,
    /// Types by their numbers; how many are being described, one within the other; and their classes.
    pub(super) described: Vec<Option<Rc<Described>>>,
    pub(super) describing: u32,
    pub(super) classes_held: Vec<Owned>,
    pub(super) symbols: HashMap<&'i [u8], Owned>,
    /// By the address of a set that is met again by its table, and a node: the set itself, and what was made of it.
    pub(super) sets_into: HashMap<(usize, NodeId), (Owned, Owned), rustc_hash::FxBuildHasher>,
    /// Where a mapping turned out to be pairs after others had referred to it as a dict: what was built is wrong there.
    pub(super) anew: Option<usize>,
}

impl<'i, R: Reader<'i>> FromJulia<'i, R> {
    pub fn new(julia: &'i Julia) -> Self {
        FromJulia {
            julia,
            back_references: Vec::new(),
            described: Vec::new(),
            describing: 0,
            classes_held: Vec::new(),
            symbols: HashMap::new(),
            sets_into: HashMap::default(),
            anew: None,
        }
    }
}

impl<'i, R: Reader<'i>> Dialect<'i> for FromJulia<'i, R> {
    type Reader = R;
    type Make = JuliaMake;

    const BACK_REFERENCES: bool = true;

    fn start(decoder: &mut Decoder<'i, Self>) -> Result<()> {
        decoder.find_back_references()
    }

    fn finish(decoder: &mut Decoder<'i, Self>) -> Result<()> {
        if let Some(at) = decoder.dialect.anew {
            return Err(decode("a mapping that holds itself, with keys that Python can't hash or tell apart", at));
        }
        decoder.keep_back_references();
        Ok(())
    }

    fn not_utf8(_: &Decoder<'i, Self>, bytes: &[u8]) -> Option<Result<Owned>> {
        Some(super::types::escaped(bytes))
    }

    fn bytes(decoder: &mut Decoder<'i, Self>, bytes: &'i [u8]) -> Result<Option<Owned>> {
        decoder.octets(bytes)
    }

    fn typed_value(decoder: &mut Decoder<'i, Self>, value: TypedValue<'i>) -> Result<Option<Owned>> {
        decoder.typed_value(value)
    }

    unsafe fn set_deferred(
        decoder: &mut Decoder<'i, Self>,
        dict: Obj,
        key: Obj,
        value: Obj,
        _: u32,
        at: usize,
    ) -> Result<()> {
        // SAFETY: the same contract.
        unsafe { decoder.set_deferred(dict, key, value, at) }
    }

    fn typed(decoder: &mut Decoder<'i, Self>, token: &Token<'i>, id: NodeId) -> Result<Option<Option<Owned>>> {
        let node = decoder.rules.node(id);
        match *token {
            Token::TypedValue(value) => decoder.typed_by_schema(value, node, id).map(Some),
            Token::Bytes(data) => decoder.octets_by_schema(data, node, id).map(Some),
            Token::Reference(number) if decoder.stands_elsewhere(number) => {
                decoder.begin_back_reference(number as usize, id).map(Some)
            }
            _ => Ok(None),
        }
    }

    fn coerced(decoder: &Decoder<'i, Self>, object: Owned, id: NodeId) -> Result<Owned> {
        decoder.as_node(object, id)
    }

    fn coerced_once(decoder: &mut Decoder<'i, Self>, object: Owned, id: NodeId) -> Result<Owned> {
        let raw = object.get();
        // A set that its table holds: whoever refers to the table has the same set.
        // SAFETY: held by `object`.
        if unsafe { ffi::PyAnySet_Check(raw) == 0 || ffi::Py_REFCNT(raw) <= 1 } {
            return decoder.as_node(object, id);
        }
        if let Some((_, known)) = decoder.dialect.sets_into.get(&(raw as usize, id)) {
            return Ok(known.clone());
        }
        let made = decoder.as_node(object.clone(), id)?;
        decoder.dialect.sets_into.insert((raw as usize, id), (object, made.clone()));
        Ok(made)
    }

    fn referred(decoder: &mut Decoder<'i, Self>, number: usize, id: NodeId) -> Result<Option<Owned>> {
        decoder.begin_back_reference(number, id)
    }

    fn make(
        decoder: &mut Decoder<'i, Self>,
        make: JuliaMake,
        object: Option<Owned>,
        mark: u32,
        gathered: Vec<Owned>,
        at: usize,
    ) -> Result<Owned> {
        decoder.make_typed_value(&make, object, mark, gathered, at)
    }

    fn run_lists(decoder: &mut Decoder<'i, Self>) -> Result<Option<Frame<JuliaMake>>> {
        decoder.run_lists()
    }

    fn weight(frame: &Frame<JuliaMake>, parent: Option<&Frame<JuliaMake>>) -> Weight {
        match parent {
            // The keys of a mapping are in its first list: hashing them is what it costs.
            Some(Frame { kind: Kind::Lists, .. }) if frame.kind == Kind::List => frame.weight,
            _ if frame.kind == Kind::List => Weight::default(),
            _ => weight_of(frame),
        }
    }
}

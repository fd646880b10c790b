//! The hooks by which Julia's files are decoded.

use super::known::{FromJulia, JuliaMake, JuliaReader};
use crate::budget::hash_cost::HashCost;
use crate::cpython::{Obj, Owned};
use crate::decode::dialect::Dialect;
use crate::decode::frame::{hash_cost_of, Frame, Kind};
use crate::decode::Decoder;
use crate::error::{decode, Result};
use crate::memory::Vec;
use crate::schema::NodeId;
use holdall_format::model::TypedValue;
use holdall_format::Token;
use pyo3::ffi;

impl<'i, R: JuliaReader<'i>> Dialect<'i> for FromJulia<'i, R> {
    type Reader = R;
    type Make = JuliaMake;

    const BACK_REFERENCES: bool = true;
    const LISTS_BEGIN_WITH_KEYS: bool = true;

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
        // SAFETY: the contract is that of the function called.
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
        // A set that its table holds as well: all who refer to the table get the same coerced set.
        // SAFETY: `object` is an owned reference.
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
        object_id: u32,
        gathered: Vec<Owned>,
        at: usize,
    ) -> Result<Owned> {
        decoder.make_typed_value(&make, object, object_id, gathered, at)
    }

    fn run_lists(decoder: &mut Decoder<'i, Self>) -> Result<Option<Frame<JuliaMake>>> {
        decoder.run_lists()
    }

    fn hash_cost(frame: &Frame<JuliaMake>, parent: Option<&Frame<JuliaMake>>) -> HashCost {
        match parent {
            // A mapping's first list has its keys, whose hash cost goes on to the mapping.
            Some(Frame { kind: Kind::Lists, .. }) if frame.kind == Kind::List => frame.hash_cost,
            _ if frame.kind == Kind::List => HashCost::default(),
            _ => hash_cost_of(frame),
        }
    }
}

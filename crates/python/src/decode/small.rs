//! Messages that need no decoder: a leaf, or few of them in containers.

use super::few::{few, Asked, Before, Classes};
use super::leaves::lone_leaf;
use super::Options;
use crate::budget::chance::Chance;
use crate::cpython::Owned;
use holdall_format::Reader;
use pyo3::Python;

/// The value of a message that is a leaf, or a container that is empty or small. `None`: it is neither, or damaged, and a decoder has to
/// read it anew. `unbounded`: no limits are set, so nothing has to be charged.
///
/// # Safety
/// The GIL is held.
#[inline(always)]
pub unsafe fn made<'i, R: Reader<'i>>(
    reader: &mut R,
    asked: Asked<'_>,
    unbounded: bool,
    chance: &Chance,
) -> Option<Owned> {
    // SAFETY: the GIL is held, by contract.
    unsafe {
        match lone_leaf(reader, unbounded) {
            None if unbounded => chance.take(|| few(reader, asked)),
            made => made,
        }
    }
}

/// The same by these options, of a message before which others have named something.
///
/// # Safety
/// The GIL is held.
#[inline(always)]
pub unsafe fn made_by<'i, R: Reader<'i>>(
    reader: &mut R,
    options: &Options,
    before: Before<'_>,
    chance: &Chance,
) -> Option<Owned> {
    let unbounded = options.limits.is_unset();
    let asked = |classes| Asked::by(classes, before, &options.msgpack);
    // SAFETY: the contract is the same. Nobody else has seen what was read.
    unsafe {
        let Some(schema) = options.schema.as_deref() else {
            let classes = match options.resolver {
                None => Classes::Settled(options.settled(Python::assume_attached())),
                Some(_) => Classes::Nobody,
            };
            return made(reader, asked(classes), unbounded, chance);
        };
        let id = options.node.unwrap_or(schema.root);
        if !schema.may_take_as_is(id, R::TYPES && options.resolver.is_none()) {
            return None;
        }
        // Only a type that nobody else has a say in makes instances without a decoder.
        let classes = match options.resolver {
            None => Classes::Schema(schema),
            Some(_) => Classes::Nobody,
        };
        made(reader, asked(classes), unbounded, chance).filter(|made| schema.takes_as_is(id, made.get()))
    }
}

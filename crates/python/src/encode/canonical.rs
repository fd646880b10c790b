//! Canonical form: the first of its two walks, and what puts the members of a set in order.

use super::dialect::Native;
use super::scratch::{Scratch, SMALL_SCRATCH};
use super::{sets, Encoder, Options, Recipes, Sharing};
use crate::cpython::Owned;
use crate::error::Fault;
use crate::memory::Vec;
use holdall_format::hold::Writer;
use pyo3::prelude::*;

/// What the first of two walks finds, which a canonical message takes: the second writes.
pub struct FirstWalk {
    pub sharing: Sharing,
    pub recipes: Recipes,
    pub temporaries: Vec<Owned>,
    /// Both walks share it.
    pub orders: sets::Shared,
}

#[cold]
#[inline(never)]
pub fn first_walk(scratch: &mut Scratch, object: &Bound<'_, PyAny>, options: &Options) -> Result<FirstWalk, Fault> {
    let py = object.py();
    let Scratch { output, tables } = scratch;
    let orders = sets::Shared::default();
    let writer = Writer::new(&mut *output, options.trust);
    // SAFETY: the GIL is held, as `py` shows.
    let mut encoder =
        unsafe { Encoder::new(py, Native::new(), writer, options, tables, Sharing::Finding(Default::default())) };
    encoder.orders = Some(orders.clone());
    encoder.message(object.as_ptr())?;
    let (temporaries, recipes) = (encoder.take_temporaries(), encoder.recipes.take());
    let objects = encoder.met_objects();
    let (sharing, _) = encoder.into_found();
    output.reset();
    if let Sharing::Found(again) = &sharing {
        sets::Orders::settle(py, &orders, options, again, objects)?;
    }
    Ok(FirstWalk { sharing, recipes, temporaries, orders })
}

/// What a member of a set is written as by itself, as far as `effort` goes.
pub fn canonical_key(
    py: Python<'_>,
    member: &Owned,
    options: &Options,
    orders: &sets::Shared,
    effort: sets::Effort,
) -> Result<sets::Key, Fault> {
    let mut scratch = SMALL_SCRATCH.take().unwrap_or_else(Scratch::new);
    let Scratch { output, tables } = &mut *scratch;
    let writer = Writer::new(&mut *output, options.trust);
    // SAFETY: the GIL is held, as `py` shows.
    let mut encoder =
        unsafe { Encoder::new(py, Native::new(), writer, options, tables, Sharing::Finding(Default::default())) };
    encoder.orders = Some(orders.clone());
    encoder.only_compares(effort);
    encoder.met.push(member.get() as usize);
    let written = encoder.message(member.get());
    let (met, effort) = (std::mem::take(&mut encoder.met), encoder.effort().unwrap_or(effort));
    let again = match encoder.into_found().0 {
        Sharing::Found(again) => again,
        _ => Default::default(),
    };
    let bytes = Vec::from(output.as_slice());
    output.reset();
    SMALL_SCRATCH.set(Some(scratch));
    written?;
    let met = met.into_iter().map(|object| (object, again.get(&object).copied().unwrap_or(0))).collect();
    Ok(sets::Key { bytes, effort, met })
}

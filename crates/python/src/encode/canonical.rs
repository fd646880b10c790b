//! Canonical form: the first of its two walks. What puts the members of a set in order is in `sets.rs`.

use super::dialect::Native;
use super::scratch::Scratch;
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

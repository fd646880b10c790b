//! Canonical form: the first of its two walks. `sets.rs` puts the members of sets in order.

use super::dialect::Native;
use super::scratch::Scratch;
use super::{sets, Encoder, Options, Recipes, Sharing};
use crate::cpython::Owned;
use crate::error::Fault;
use crate::memory::Vec;
use holdall_format::hold::Writer;
use pyo3::prelude::*;

/// The result of the first of the two walks of a canonical message; the second walk writes the message.
pub struct FirstWalk {
    pub sharing: Sharing,
    pub recipes: Recipes,
    pub temporaries: Vec<Owned>,
    /// Shared by both walks.
    pub orders: sets::Shared,
}

#[cold]
#[inline(never)]
pub fn first_walk(scratch: &mut Scratch, object: &Bound<'_, PyAny>, options: &Options) -> Result<FirstWalk, Fault> {
    let py = object.py();
    let Scratch { output, tables } = scratch;
    let orders = sets::Shared::default();
    let writer = Writer::new(&mut *output, options.trust);
    // SAFETY: `py` proves that the GIL is held.
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

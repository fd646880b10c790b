//! The CPython host of holdall.
//!
//! `face` is what Python calls; `encode` walks objects and `decode` builds them, for any format; `objects` has a file
//! for each family of types; `class` knows classes; `cpython` is what the loops need beyond the C API's functions.
//! No byte layout is known here.

mod class;
mod copy;
mod cpython;
mod decode;
mod driver;
mod encode;
mod error;
mod face;
mod julia;
mod memory;
mod objects;
mod schema;

//! Julia's dialect of BSON: whole programs' data as documents with tags, as BSON.jl and BSONqs write and read it.
//! `docs/julia.md` says what Python makes of it.
//!
//! The bytes are BSON's, and its reader and writer do the work; what is here recognises documents that stand for
//! something else, and writes them.

mod document;
mod number;
mod reader;
pub mod tag;
#[cfg(test)]
mod tests;
mod writer;

pub use document::{instance, is_tagged, Instance};
pub use number::{Number, NumberValue};
pub use reader::{BackReferences, Reader};
pub use writer::{description, reference, Parameter, Survey, Writer};

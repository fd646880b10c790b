//! Julia's dialect of BSON: typed values are documents with tags, as BSON.jl and BSONqs write and read them.
//! `docs/julia.md` says what they become in Python.
//!
//! The bytes are read and written by BSON's reader and writer. The code here recognizes and writes typed values.

mod document;
mod reader;
pub mod tag;
#[cfg(test)]
mod tests;
mod writer;

pub use document::{instance, is_tagged, Instance};
pub use reader::{BackReferences, Reader};
pub use writer::{description, reference, Parameter, Survey, Writer};

//! BSON: documents of named values, as MongoDB stores and sends them. `docs/bson.md` says how Python's are made of them.

pub(crate) mod reader;
pub mod tag;
#[cfg(test)]
mod tests;
pub(crate) mod writer;

pub use reader::{is_framed, split_first, Element, Elements, Reader};
pub use writer::{refusal, Writer};

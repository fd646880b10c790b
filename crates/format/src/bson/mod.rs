//! BSON: documents of named values, as MongoDB stores and sends them. `docs/bson.md` says how Python's are made of them.

mod reader;
pub mod tag;
#[cfg(test)]
mod tests;
mod writer;

pub use reader::{is_framed, split_first, Element, Elements, Reader};
pub use writer::{refusal, Writer};

//! BSON: documents of named values, as MongoDB stores and sends them. `docs/bson.md` says how Python values are stored.

mod elements;
pub(crate) mod length;
pub(crate) mod reader;
pub mod tag;
#[cfg(test)]
mod tests;
pub(crate) mod writer;

pub use elements::{is_framed, split_first, Element, Elements};
pub use reader::Reader;
pub use writer::{refusal, Writer};

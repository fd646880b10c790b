//! MessagePack: the values of JSON, bytes, timestamps and an application's own types. `docs/msgpack.md` says how Python
//! values are stored.

mod reader;
pub mod tag;
#[cfg(test)]
mod tests;
mod writer;

pub use reader::{scan, Reader};
pub use writer::Writer;

//! Common Lisp's values as cl-binary-store stores them (its basic codespace, version 1). `docs/lisp.md` says how Python's are
//! made of them.

mod doubles;
mod reader;
mod structure;
pub mod tag;
#[cfg(test)]
mod tests;
mod writer;

pub use doubles::Doubles;
pub use reader::Reader;
pub use structure::Structure;
pub use tag::COUNTED_REFERENCES;
pub use writer::Writer;

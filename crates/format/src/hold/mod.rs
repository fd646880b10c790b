//! The hold format: whole object graphs, with shared objects, layouts and packed runs. `docs/format.md` describes it.

pub mod file;
mod reader;
pub mod tag;
mod writer;

pub use reader::Reader;
pub use writer::Writer;

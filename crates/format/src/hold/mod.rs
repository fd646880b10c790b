//! The hold format: whole object graphs, with shared objects, shapes and packed runs. `docs/format.md` describes it.

pub mod boundary;
pub mod codec;
pub mod file;
pub mod frame;
pub mod index;
pub mod log;
mod part;
mod places;
mod reader;
pub mod tag;
mod window;
mod writer;

pub use part::{run_at, PartialReader};
pub use reader::Reader;
pub use window::{AtHand, Present};
pub use writer::Writer;

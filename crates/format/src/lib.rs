//! The wire formats of holdall.
//!
//! A format turns a sequence of *tokens* (see [`model`]) into bytes and back. It knows nothing of Python, or of any
//! other host: the host walks its objects and calls a [`model::Writer`]; or it asks a [`model::Reader`] for token
//! after token and builds its objects from them. Every format is one folder with the same files: `tag.rs` (the only
//! place where a byte's meaning is written down), `writer.rs` and `reader.rs`.
#![forbid(unsafe_code)]

pub mod aside;
pub mod bson;
mod cursor;
pub mod detect;
pub mod error;
pub mod hold;
pub mod inspect;
pub mod julia;
pub mod lisp;
pub mod memory;
pub mod model;
pub mod msgpack;
pub mod sink;
pub mod table;
pub mod text;
pub mod utf8;

pub use error::{Error, ErrorKind, Result};
pub use model::{Reader, Token, Writer};
pub use sink::Sink;

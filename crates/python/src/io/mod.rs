//! Files, streams and logs.

pub mod descriptor;
pub mod files;
pub mod log;
pub mod streams;
mod system;

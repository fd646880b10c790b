//! The CPython host of holdall.
//!
//! No byte shape is known here. The folders are floors: each uses what stands below it in this list, and nothing above.

// Heads of objects, and what counts references, are another there, and state is guarded by the GIL alone.
#[cfg(Py_GIL_DISABLED)]
compile_error!("holdall has no support for free-threaded builds of CPython yet");

mod api;
mod blocks;
mod budget;
mod classes;
mod cpython;
mod decode;
mod deepcopy;
mod dialect;
mod encode;
mod error;
mod io;
mod lazy;
mod memory;
mod message;
mod module;
mod schema;
mod shapes;
mod state;
mod types;

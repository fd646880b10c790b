//! What the host knows of classes: how to take instances apart and to make them, and what users registered.

pub mod how;
pub mod memory;
pub mod methods;
pub mod plan;
pub mod registry;
pub mod serial;
pub mod state;

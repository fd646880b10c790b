//! What the host knows about classes: how to store and make instances, and what users registered.

pub mod base;
pub mod copyreg;
pub mod declared;
pub mod defaults;
pub mod family;
pub mod how;
pub mod marker;
pub mod memory;
pub mod methods;
pub mod names;
pub mod numpy;
pub mod plan;
pub mod registration;
pub mod registry;
pub mod serial;
pub mod state;

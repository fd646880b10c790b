//! Numbers that tell schemas and plans apart.

use std::sync::atomic::{AtomicU64, Ordering};

/// The serial number of records, which depend on nothing but the shape.
pub const RECORDS: u64 = 0;

/// A number for what shapes are matched with: no two schemas or plans of the process have the same.
pub fn next_serial() -> u64 {
    static SERIAL: AtomicU64 = AtomicU64::new(RECORDS + 1);
    SERIAL.fetch_add(1, Ordering::Relaxed)
}

//! Numbers that identify schemas and plans.

use std::sync::atomic::{AtomicU64, Ordering};

/// The number for records, which depend on nothing but the shape.
pub const RECORDS: u64 = 0;

/// A number by which shapes remember a schema or a plan; unique in the process.
pub fn next_serial() -> u64 {
    static SERIAL: AtomicU64 = AtomicU64::new(RECORDS + 1);
    SERIAL.fetch_add(1, Ordering::Relaxed)
}

//! Whether an attempt is worth its time, by how the last ones ended.

use std::sync::atomic::{AtomicU8, Ordering};

/// Whether a small message is worth a try: what turns out to be larger was looked at in vain.
pub struct Chance(AtomicU8);

impl Chance {
    /// How many messages are left alone after one of those.
    const PAUSE: u8 = 15;

    pub const fn new() -> Chance {
        Chance(AtomicU8::new(0))
    }

    /// Whether the next attempt will be made.
    #[inline(always)]
    pub fn is_good(&self) -> bool {
        self.0.load(Ordering::Relaxed) == 0
    }

    /// What the attempt gives, if it is made. `None`: it was not, or in vain.
    #[inline(always)]
    pub fn take<T>(&self, attempt: impl FnOnce() -> Option<T>) -> Option<T> {
        // Threads that count at once lose a count, which does no harm.
        let left = self.0.load(Ordering::Relaxed);
        if left > 0 {
            self.0.store(left - 1, Ordering::Relaxed);
            return None;
        }
        let made = attempt();
        if made.is_none() {
            self.0.store(Chance::PAUSE, Ordering::Relaxed);
        }
        made
    }
}

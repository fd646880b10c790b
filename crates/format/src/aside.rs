//! Work on a thread of its own, or on the present one if there is no memory for a thread: its stack takes memory, too.

use std::hint::black_box;
use std::panic::resume_unwind;
use std::thread::{Builder, Scope, ScopedJoinHandle};

/// Starting a thread takes memory that can't be requested beforehand: its handle, a queue, and thread-local data once
/// it runs. If that fails, the system ends the process. The stack is taken first, and other threads run meanwhile, so
/// much more must be free.
const ROOM: usize = 64 << 20;

/// Whether there is enough memory to start a thread safely.
#[must_use]
pub fn has_room() -> bool {
    let mut probe = Vec::<u8>::new();
    let room = probe.try_reserve_exact(ROOM).is_ok();
    black_box(&probe);
    room
}

/// `std::thread::scope`, if there is memory for threads.
pub fn scope<'e, T>(work: impl for<'s> FnOnce(Option<&'s Scope<'s, 'e>>) -> T) -> T {
    if has_room() {
        std::thread::scope(|scope| work(Some(scope)))
    } else {
        work(None)
    }
}

pub enum Aside<'s, T> {
    Thread(ScopedJoinHandle<'s, T>),
    Done(T),
}

impl<'s, T: Send + 's> Aside<'s, T> {
    pub fn begin<'e>(scope: Option<&'s Scope<'s, 'e>>, work: impl FnOnce() -> T + Clone + Send + 's) -> Aside<'s, T> {
        // A thread that can't be started drops its work, so the thread gets a clone.
        match scope.filter(|_| has_room()).map(|scope| Builder::new().spawn_scoped(scope, work.clone())) {
            Some(Ok(handle)) => Aside::Thread(handle),
            _ => Aside::Done(work()),
        }
    }

    /// The result. If the thread unwound, this does as well.
    pub fn join(self) -> T {
        match self {
            Aside::Thread(handle) => handle.join().unwrap_or_else(|panic| resume_unwind(panic)),
            Aside::Done(made) => made,
        }
    }
}

//! Work that a thread of its own does meanwhile, or this one where there is none to be had: a thread's stack is memory, too.

use std::hint::black_box;
use std::panic::resume_unwind;
use std::thread::{Builder, Scope, ScopedJoinHandle};

/// A thread takes memory that nobody asks for: its handle, a queue; and, once it runs, what is thread-local, without which the
/// system ends the process. Its stack comes first, and others go on meanwhile: so there has to be far more than that.
const ROOM: usize = 64 << 20;

/// Whether there is memory for what can't be asked for when a thread is begun.
#[must_use]
pub fn has_room() -> bool {
    let mut probe = Vec::<u8>::new();
    let room = probe.try_reserve_exact(ROOM).is_ok();
    black_box(&probe);
    room
}

/// `std::thread::scope`, where there is room for it.
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
        // The thread takes the work with it, also where it doesn't come to be.
        match scope.filter(|_| has_room()).map(|scope| Builder::new().spawn_scoped(scope, work.clone())) {
            Some(Ok(handle)) => Aside::Thread(handle),
            _ => Aside::Done(work()),
        }
    }

    /// What came of it. What has unwound there goes on here.
    pub fn join(self) -> T {
        match self {
            Aside::Thread(handle) => handle.join().unwrap_or_else(|panic| resume_unwind(panic)),
            Aside::Done(made) => made,
        }
    }
}

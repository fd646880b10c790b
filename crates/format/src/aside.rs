//! Work that a thread of its own does meanwhile, or this one where there is none to be had: a thread's stack is memory, too.

use std::panic::resume_unwind;
use std::thread::{Builder, Scope, ScopedJoinHandle};

pub enum Aside<'s, T> {
    Thread(ScopedJoinHandle<'s, T>),
    Done(T),
}

impl<'s, T: Send + 's> Aside<'s, T> {
    pub fn begin<'e>(scope: &'s Scope<'s, 'e>, work: impl FnOnce() -> T + Clone + Send + 's) -> Aside<'s, T> {
        // The thread takes the work with it, also where it doesn't come to be.
        match Builder::new().spawn_scoped(scope, work.clone()) {
            Ok(handle) => Aside::Thread(handle),
            Err(_) => Aside::Done(work()),
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

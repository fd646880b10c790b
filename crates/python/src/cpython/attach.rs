//! Leaving the interpreter for a while, and calling it from there.
//!
//! PyO3's `Python::attach` asks CPython for this thread's state. Before 3.12 that is the main interpreter's, whichever interpreter the
//! thread has left: another one's objects would be called in the main one. So what leaves keeps the state that it left.

// Only here: clippy.toml.
#![allow(clippy::disallowed_methods)]

use pyo3::ffi;
use pyo3::prelude::*;
use std::cell::Cell;

#[derive(Clone, Copy)]
enum Place {
    /// In an interpreter, or in a thread of ours, which has never been in one.
    Usual,
    /// It left this state.
    Left(*mut ffi::PyThreadState),
    /// It went back to the state that it had left, of which PyO3 knows nothing.
    Back,
}

thread_local! {
    static PLACE: Cell<Place> = const { Cell::new(Place::Usual) };
}

/// Where this thread is until this is dropped; then it is where it was.
struct Stay(Place);

impl Stay {
    fn at(place: Place) -> Stay {
        Stay(PLACE.replace(place))
    }
}

impl Drop for Stay {
    fn drop(&mut self) {
        PLACE.set(self.0);
    }
}

/// Runs `work` without the GIL. It calls Python by `attached` alone.
pub fn detached<T: Send>(py: Python<'_>, work: impl FnOnce() -> T + Send) -> T {
    // SAFETY: `py` says that this thread is in an interpreter, so it has a state.
    let _stay = Stay::at(Place::Left(unsafe { ffi::PyThreadState_Get() }));
    py.detach(work)
}

/// Runs `work` in the interpreter that this thread is in, or that it left by `detached`.
pub fn attached<T>(work: impl FnOnce(Python<'_>) -> T) -> T {
    match PLACE.get() {
        // SAFETY: it only reads what belongs to this thread.
        Place::Left(state) if unsafe { ffi::PyGILState_GetThisThreadState() } != state => back(state, work),
        // SAFETY: `back` further up has this thread in its interpreter.
        Place::Back => work(unsafe { Python::assume_attached() }),
        Place::Usual | Place::Left(_) => Python::attach(work),
    }
}

/// References that are dropped meanwhile are given back when `detached` ends, because PyO3 doesn't know that the GIL is held.
fn back<T>(state: *mut ffi::PyThreadState, work: impl FnOnce(Python<'_>) -> T) -> T {
    /// Leaves it again, after a panic too.
    struct Leave;

    impl Drop for Leave {
        fn drop(&mut self) {
            // SAFETY: the state that was restored is this thread's, which nothing leaves without coming back.
            unsafe { ffi::PyEval_SaveThread() };
        }
    }

    let _stay = Stay::at(Place::Back);
    // SAFETY: this thread left the state in `detached`, which hasn't ended, and has not been back since.
    unsafe { ffi::PyEval_RestoreThread(state) };
    let _leave = Leave;
    // SAFETY: it is restored until `_leave` goes.
    work(unsafe { Python::assume_attached() })
}

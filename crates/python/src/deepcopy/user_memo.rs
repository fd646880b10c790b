//! The memo that a `__deepcopy__` receives, as `copy.deepcopy` gives it: {id: copy}.
//!
//! It is made when the first such method is called; from then on it is brought up to date before each call, and
//! searched for copies once a method has added some. A memo that the caller gave is searched from the start and
//! receives every copy.

use crate::cpython::{Obj, Owned};
use crate::deepcopy::{Copier, Got};
use crate::error::{raised, Result};
use crate::memory::Vec;
use pyo3::ffi;

pub struct UserMemo {
    dict: Option<Owned>,
    /// The memo is the caller's own.
    given: bool,
    /// It holds copies that other code has put there.
    foreign: bool,
    /// The number of items when it was last brought up to date.
    size: isize,
    /// Ids of the objects whose copies it doesn't hold yet.
    waiting: Vec<u32>,
}

impl UserMemo {
    pub fn new(dict: Option<Owned>) -> UserMemo {
        // SAFETY: `deepcopy`, the only caller, demands a dict.
        let size = dict.as_ref().map_or(0, |dict| unsafe { ffi::PyDict_Size(dict.get()) });
        UserMemo { given: dict.is_some(), foreign: size > 0, size, waiting: Vec::new(), dict }
    }

    /// Whether every object must be looked up, because its copy may be in the memo although its reference count is low.
    #[inline(always)]
    pub fn looks_at_all(&self) -> bool {
        self.given || self.foreign
    }

    /// A copy that other code has put into the memo.
    pub fn find(&self, object: Obj) -> Result<Option<Owned>> {
        let (true, Some(dict)) = (self.foreign, &self.dict) else { return Ok(None) };
        // SAFETY: `object` only serves as a number; the dict holds what is found while the reference is taken.
        unsafe {
            let key = key(object)?;
            let found = ffi::PyDict_GetItemWithError(dict.get(), key.get());
            if found.is_null() {
                return if ffi::PyErr_Occurred().is_null() { Ok(None) } else { Err(raised()) };
            }
            Ok(Some(Owned::borrowed(found)))
        }
    }

    #[inline(always)]
    pub fn note(&mut self, id: u32) {
        if self.dict.is_some() {
            self.waiting.push(id);
        }
    }
}

/// `id(object)`.
fn key(object: Obj) -> Result<Owned> {
    // SAFETY: makes an int from an address, which is not followed.
    unsafe { Owned::new(ffi::PyLong_FromVoidPtr(object.cast())) }.ok_or_else(raised)
}

impl Copier<'_> {
    /// The memo for a user's function, with all copies made so far.
    fn expose(&mut self) -> Result<Owned> {
        let dict = match &self.user_memo.dict {
            Some(dict) => dict.clone(),
            None => {
                // SAFETY: the GIL is held while a `Copier` lives.
                let dict = unsafe { Owned::new(ffi::PyDict_New()) }.ok_or_else(raised)?;
                self.user_memo.dict = Some(dict.clone());
                self.user_memo.waiting = (0..self.tables.tracked.len() as u32).collect();
                dict
            }
        };
        let keep = if self.user_memo.given && !self.user_memo.waiting.is_empty() {
            Some(keep_alive_list(&dict)?)
        } else {
            None
        };
        for id in std::mem::take(&mut self.user_memo.waiting) {
            let entry = &self.tables.tracked[id as usize];
            let Some(copy) = &entry.copy else { continue };
            // SAFETY: the tables hold source and copy. The keys are ints, so no Python code runs.
            unsafe {
                if ffi::PyDict_SetItem(dict.get(), key(entry.source.get())?.get(), copy.get()) != 0 {
                    return Err(raised());
                }
                if let Some(keep) = &keep {
                    if ffi::PyList_Append(keep.get(), entry.source.get()) != 0 {
                        return Err(raised());
                    }
                }
            }
        }
        // SAFETY: `dict` is a dict, held above.
        self.user_memo.size = unsafe { ffi::PyDict_Size(dict.get()) };
        Ok(dict)
    }

    /// Calls the class's own function for a copy: as `hook(memo)`, or as `hook(object, memo)` if `with_object`.
    ///
    /// # Safety
    /// `object` and `hook` are alive.
    pub(super) unsafe fn call_hook(&mut self, hook: Obj, object: Obj, with_object: bool, id: u32) -> Result<Got> {
        self.asks_program()?;
        let memo = self.expose()?;
        // SAFETY: `hook` and `object` are alive by contract, and held during the call.
        unsafe {
            let (hook, object) = (Owned::borrowed(hook), Owned::borrowed(object));
            let end = std::ptr::null_mut::<ffi::PyObject>();
            let made = if with_object {
                ffi::PyObject_CallFunctionObjArgs(hook.get(), object.get(), memo.get(), end)
            } else {
                ffi::PyObject_CallFunctionObjArgs(hook.get(), memo.get(), end)
            };
            let made = Owned::new(made).ok_or_else(raised)?;
            self.user_memo.foreign |= ffi::PyDict_Size(memo.get()) != self.user_memo.size;
            self.settle(id, &made);
            self.close(id);
            Ok(Got::Made(made))
        }
    }

    /// Puts all copies into a memo that the caller gave.
    pub(super) fn finish_user_memo(&mut self) -> Result<()> {
        if self.user_memo.given {
            self.expose()?;
        }
        Ok(())
    }
}

/// `memo[id(memo)]`: a list of what must outlive the memo, because its keys are addresses.
fn keep_alive_list(dict: &Owned) -> Result<Owned> {
    // SAFETY: `dict` is a dict, and holds what is found while the reference is taken.
    unsafe {
        let key = key(dict.get())?;
        let found = ffi::PyDict_GetItemWithError(dict.get(), key.get());
        if !found.is_null() && ffi::PyList_Check(found) != 0 {
            return Ok(Owned::borrowed(found));
        }
        let list = Owned::new(ffi::PyList_New(0)).ok_or_else(raised)?;
        if ffi::PyDict_SetItem(dict.get(), key.get(), list.get()) != 0 {
            return Err(raised());
        }
        Ok(list)
    }
}

//! The border to Python: the memo that a `__deepcopy__` is given, as `copy.deepcopy` gives one: {id: copy}.
//!
//! It is made when the first such method is met; from then on it is brought up to date before each call, and looked
//! into after one that has put something there. A memo that the caller gave is looked into from the start, and gets
//! every copy.

use crate::cpython::{Obj, Owned};
use crate::deepcopy::{Copier, Got};
use crate::error::{raised, Result};
use crate::memory::Vec;
use pyo3::ffi;

pub struct Border {
    dict: Option<Owned>,
    /// The caller's own.
    given: bool,
    /// Others have put copies there.
    foreign: bool,
    /// How many items there were when we last wrote.
    size: isize,
    /// Numbers of the objects whose copies are not there yet.
    waiting: Vec<u32>,
}

impl Border {
    pub fn new(dict: Option<Owned>) -> Border {
        // SAFETY: a dict, says the caller.
        let size = dict.as_ref().map_or(0, |dict| unsafe { ffi::PyDict_Size(dict.get()) });
        Border { given: dict.is_some(), foreign: size > 0, size, waiting: Vec::new(), dict }
    }

    /// Whether reference counts don't tell which objects are looked up.
    #[inline(always)]
    pub fn looks_at_all(&self) -> bool {
        self.given || self.foreign
    }

    /// A copy that somebody else has made.
    pub fn find(&self, object: Obj) -> Result<Option<Owned>> {
        let (true, Some(dict)) = (self.foreign, &self.dict) else { return Ok(None) };
        // SAFETY: `object` is an address here; what is found is held by the dict.
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
    pub fn note(&mut self, number: u32) {
        if self.dict.is_some() {
            self.waiting.push(number);
        }
    }
}

/// `id(object)`.
fn key(object: Obj) -> Result<Owned> {
    // SAFETY: makes an int of an address.
    unsafe { Owned::new(ffi::PyLong_FromVoidPtr(object.cast())) }.ok_or_else(raised)
}

impl Copier<'_> {
    /// The memo for user code, with all that is known.
    fn expose(&mut self) -> Result<Owned> {
        let dict = match &self.border.dict {
            Some(dict) => dict.clone(),
            None => {
                // SAFETY: the GIL is held.
                let dict = unsafe { Owned::new(ffi::PyDict_New()) }.ok_or_else(raised)?;
                self.border.dict = Some(dict.clone());
                self.border.waiting = (0..self.tables.numbered.len() as u32).collect();
                dict
            }
        };
        let keep =
            if self.border.given && !self.border.waiting.is_empty() { Some(keep_alive_list(&dict)?) } else { None };
        for number in std::mem::take(&mut self.border.waiting) {
            let entry = &self.tables.numbered[number as usize];
            let Some(copy) = &entry.copy else { continue };
            // SAFETY: all are held; the keys are ints, so that no Python code runs.
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
        // SAFETY: a dict.
        self.border.size = unsafe { ffi::PyDict_Size(dict.get()) };
        Ok(dict)
    }

    /// The copy by the class's own function: called as `hook(memo)`, or as `hook(object, memo)` where `with_object`.
    ///
    /// # Safety
    /// `object` and `hook` are alive.
    pub(super) unsafe fn call_hook(&mut self, hook: Obj, object: Obj, with_object: bool, number: u32) -> Result<Got> {
        self.asks_program()?;
        let memo = self.expose()?;
        // SAFETY: alive, says the caller; `hook` and `object` are held over the call.
        unsafe {
            let (hook, object) = (Owned::borrowed(hook), Owned::borrowed(object));
            let end = std::ptr::null_mut::<ffi::PyObject>();
            let made = if with_object {
                ffi::PyObject_CallFunctionObjArgs(hook.get(), object.get(), memo.get(), end)
            } else {
                ffi::PyObject_CallFunctionObjArgs(hook.get(), memo.get(), end)
            };
            let made = Owned::new(made).ok_or_else(raised)?;
            self.border.foreign |= ffi::PyDict_Size(memo.get()) != self.border.size;
            self.settle(number, &made);
            self.close(number);
            Ok(Got::Made(made))
        }
    }

    /// Leaves all copies in the caller's own memo.
    pub(super) fn finish_border(&mut self) -> Result<()> {
        if self.border.given {
            self.expose()?;
        }
        Ok(())
    }
}

/// `memo[id(memo)]`: what must live as long as the memo, whose keys are addresses.
fn keep_alive_list(dict: &Owned) -> Result<Owned> {
    // SAFETY: a dict; what is found is held by it.
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

//! Strings: written with their characters, or as a reference to where they were.

use super::{Encoder, Sharing, TextKey};
use crate::cpython::{text, Obj, Owned};
use crate::encode::dialect::{Dialect, Native, NativeWriter};
use crate::encode::window::Lasts;
use crate::error::{encode, raised, Result};
use holdall_format::model::Text;
use holdall_format::Writer;

impl<D: Dialect> Encoder<'_, D> {
    /// # Safety
    /// `object` is a string.
    #[inline(always)]
    pub(crate) unsafe fn text(&mut self, object: Obj, held: isize) -> Result<()> {
        // SAFETY: a string, says the caller.
        unsafe {
            if D::met_text(self, object, held)? {
                return Ok(());
            }
            match text::ascii(object) {
                Some(bytes) => self.w.text(Text::Ascii(bytes)),
                None => self.wide_text(object)?,
            }
        }
        Ok(())
    }

    /// A string without its identity.
    ///
    /// # Safety
    /// `object` is a string.
    pub(crate) unsafe fn bare_text(&mut self, object: Obj) -> Result<()> {
        // SAFETY: a string, says the caller.
        unsafe {
            match text::ascii(object) {
                Some(bytes) => self.w.text(Text::Ascii(bytes)),
                None => self.wide_text(object)?,
            }
        }
        Ok(())
    }

    #[cold]
    #[inline(never)]
    unsafe fn wide_text(&mut self, object: Obj) -> Result<()> {
        // SAFETY: a string, says the caller.
        let parts = unsafe {
            match text::cached_utf8(object) {
                Some(bytes) if D::Writer::TEXT_IS_UTF8 => Some(Text::Utf8(bytes)),
                _ => text::parts(object),
            }
        };
        self.w.text(parts.ok_or_else(raised)?);
        Ok(())
    }
}

impl<W: NativeWriter> Encoder<'_, Native<W>> {
    /// # Safety
    /// `object` is a string.
    #[inline(always)]
    pub(crate) unsafe fn met_native_text(&mut self, object: Obj, held: isize) -> Result<bool> {
        // SAFETY: a string, by the same contract.
        unsafe {
            Ok((self.may_be_shared(object, held) || self.interns)
                && !text::is_singleton(object)
                && self.met_text(object)?)
        }
    }

    /// Like `met_shared`, by the string's value where equal ones are written once.
    #[inline(never)]
    unsafe fn met_text(&mut self, object: Obj) -> Result<bool> {
        if !self.interns {
            // SAFETY: alive, by the same contract.
            return unsafe { self.met_shared(object) };
        }
        // SAFETY: a string, says the caller.
        let key = unsafe { TextKey(Owned::borrowed(object)) };
        let number = self.next_id;
        match self.texts.entry(key) {
            std::collections::hash_map::Entry::Occupied(entry) => {
                // By the address of each string of that value: sets are walked in another order the second time, and which
                // string is the first then, is not known yet.
                let first = entry.key().0.get();
                if let Sharing::Finding(found) = &mut self.sharing {
                    found.entry(first as usize).or_default();
                    found.entry(object as usize).or_default();
                }
                let known = *entry.get();
                self.w.reference(u64::from(known));
                Ok(true)
            }
            std::collections::hash_map::Entry::Vacant(entry) => {
                if let Sharing::Found(found) = &self.sharing {
                    if !found.contains_key(&(object as usize)) {
                        return Ok(false);
                    }
                }
                // SAFETY: a string, says the caller.
                let kept = self.window.as_mut().map_or(Lasts::No, |window| unsafe { window.meet(object) });
                if kept == Lasts::NoId {
                    return Ok(false);
                }
                entry.insert(number);
                self.number()?;
                match kept {
                    Lasts::Yes => self.w.assign_named_id(),
                    _ => self.w.assign_id(),
                }
                Ok(false)
            }
        }
    }

    /// The name of a shape: gets a number without an id.
    ///
    /// # Safety
    /// `object` is alive.
    pub(crate) unsafe fn name(&mut self, object: Obj) -> Result<()> {
        // SAFETY: alive, says the caller.
        unsafe {
            if !text::is(object) {
                return Err(encode("a field's name is not a `str`"));
            }
            let number = self.next_id;
            if self.tracks() {
                let known = if self.interns {
                    match self.texts.entry(TextKey(Owned::borrowed(object))) {
                        std::collections::hash_map::Entry::Occupied(entry) => {
                            // What stood as a value before needs its id in a canonical message's second walk.
                            if let Sharing::Finding(found) = &mut self.sharing {
                                found.entry(entry.key().0.get() as usize).or_default();
                            }
                            Some(*entry.get())
                        }
                        std::collections::hash_map::Entry::Vacant(entry) => {
                            if let Some(window) = &mut self.window {
                                window.named(Owned::borrowed(object));
                            }
                            entry.insert(number);
                            None
                        }
                    }
                } else if text::is_singleton(object) {
                    None
                } else {
                    match self.tables.memo.meet(object, number) {
                        super::Met::Before(found) => Some(found),
                        super::Met::Never => {
                            if self.window.is_some() {
                                // Its address stands for it beyond this message.
                                self.temporaries.push(Owned::borrowed(object));
                            }
                            None
                        }
                    }
                };
                if let Some(found) = known {
                    self.w.reference(u64::from(found));
                    return Ok(());
                }
            }
            self.number()?;
            match text::ascii(object) {
                Some(bytes) => self.w.text(Text::Ascii(bytes)),
                None => self.wide_text(object)?,
            }
        }
        Ok(())
    }
}

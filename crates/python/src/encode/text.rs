//! Strings: written with their characters, or as a reference to an earlier occurrence.

use super::{Encoder, Sharing, TextKey};
use crate::cpython::{text, Obj, Owned};
use crate::encode::dialect::{Dialect, Native, NativeWriter};
use crate::encode::window::Lasts;
use crate::error::{encode, raised, Result};
use holdall_format::model::Text;
use holdall_format::Writer;

impl<D: Dialect> Encoder<'_, D> {
    /// Writes a string.
    ///
    /// # Safety
    /// `object` is a string.
    #[inline(always)]
    pub(crate) unsafe fn text(&mut self, object: Obj, held: isize) -> Result<()> {
        // SAFETY: `object` is a string by contract.
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

    /// Writes a string without regard to its identity.
    ///
    /// # Safety
    /// `object` is a string.
    pub(crate) unsafe fn bare_text(&mut self, object: Obj) -> Result<()> {
        // SAFETY: `object` is a string by contract.
        unsafe {
            match text::ascii(object) {
                Some(bytes) => self.w.text(Text::Ascii(bytes)),
                None => self.wide_text(object)?,
            }
        }
        Ok(())
    }

    #[inline(never)]
    unsafe fn wide_text(&mut self, object: Obj) -> Result<()> {
        // SAFETY: `object` is a string, as for `text`.
        unsafe { of_any_width(&mut self.w, object) }
    }
}

/// Writes a string of any width; from the UTF-8 that CPython has cached, if that is what the writer writes.
///
/// # Safety
/// `object` is a string.
#[inline(always)]
pub unsafe fn of_any_width<W: Writer>(w: &mut W, object: Obj) -> Result<()> {
    // SAFETY: `object` is a string by contract, and outlives what is read of it here.
    unsafe {
        let parts = text::parts(object).ok_or_else(raised)?;
        match text::cached_utf8(object) {
            Some(utf8) => w.text_with_utf8(parts, utf8),
            None => w.text(parts),
        }
    }
    Ok(())
}

impl<W: NativeWriter> Encoder<'_, Native<W>> {
    /// [`Dialect::met_text`] for holdall's own format.
    ///
    /// # Safety
    /// `object` is a string.
    #[inline(always)]
    pub(crate) unsafe fn met_native_text(&mut self, object: Obj, held: isize) -> Result<bool> {
        // SAFETY: `object` is a string by contract.
        unsafe {
            Ok((self.may_be_shared(object, held) || self.interns)
                && !text::is_singleton(object)
                && self.met_text(object)?)
        }
    }

    /// Like `met_shared`, but by the string's value if equal strings are written once.
    #[inline(never)]
    unsafe fn met_text(&mut self, object: Obj) -> Result<bool> {
        if !self.interns {
            // SAFETY: `object` is a string, as for `met_native_text`.
            return unsafe { self.met_shared(object) };
        }
        // SAFETY: as above.
        let key = unsafe { TextKey(Owned::borrowed(object)) };
        let number = self.next_id;
        match self.tables.texts.entry(key) {
            std::collections::hash_map::Entry::Occupied(entry) => {
                // Recorded by the address of each such string: in the second walk sets have another order, so another
                // string of that value may come first.
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
                // SAFETY: as above.
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

    /// Writes a name in a shape. It gets an id without a tag for it.
    ///
    /// # Safety
    /// `object` is alive.
    pub(crate) unsafe fn name(&mut self, object: Obj) -> Result<()> {
        // SAFETY: `object` is alive by contract.
        unsafe {
            if !text::is(object) {
                return Err(encode("a field's name is not a `str`"));
            }
            let number = self.next_id;
            if self.tracks() {
                let known = if self.interns {
                    match self.tables.texts.entry(TextKey(Owned::borrowed(object))) {
                        std::collections::hash_map::Entry::Occupied(entry) => {
                            // If it occurred as a value before, it needs an id in the second walk of a canonical
                            // message.
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
                                // Kept until the end, so that no other object gets its address.
                                self.tables.temporaries.push(Owned::borrowed(object));
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

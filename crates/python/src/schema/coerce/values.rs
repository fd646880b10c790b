//! Values of the standard library that formats without a form for them store as text, and NumPy's scalars.

use super::{Given, InvalidOf, Rules, Taken};
use crate::cpython::{new, Owned};
use crate::error::{Asked, Result};
use crate::schema::node::accepts;
use crate::types::library::Library;
use crate::types::{bson_values, textual};
use pyo3::ffi;
use pyo3::prelude::*;

/// Whether a text is an int or two ints with a slash between them.
fn is_ratio(text: &[u8]) -> bool {
    let unsigned = text.strip_prefix(b"-").unwrap_or(text);
    unsigned.split(|&byte| byte == b'/').count() <= 2
        && unsigned
            .split(|&byte| byte == b'/')
            .all(|digits| (1..=4300).contains(&digits.len()) && digits.iter().all(u8::is_ascii_digit))
}

/// The bytes of a UUID's text: 32 hexadecimal digits, either in groups of 8, 4, 4, 4 and 12 with hyphens, or without hyphens. (`UUID`
/// itself also accepts braces, prefixes, and hyphens anywhere, and takes ten times as long.)
fn bytes_of_uuid(text: &[u8]) -> Option<[u8; 16]> {
    const HYPHENS: [usize; 4] = [8, 13, 18, 23];
    let (mut bytes, mut digits) = ([0u8; 16], 0);
    if !matches!(text.len(), 32 | 36) {
        return None;
    }
    for (at, &byte) in text.iter().enumerate() {
        if text.len() == 36 && HYPHENS.contains(&at) {
            if byte != b'-' {
                return None;
            }
            continue;
        }
        let value = char::from(byte).to_digit(16)? as u8;
        let place = bytes.get_mut(digits / 2)?;
        *place = *place << 4 | value;
        digits += 1;
    }
    Some(bytes)
}

impl<'s> Rules<'s> {
    pub(super) fn uuid(&self, given: &Given<'_>) -> Result<Taken> {
        let uuid = Library::Uuid.get(self.py)?;
        let bound = self.bound(given.object);
        if bound.is_instance(uuid)? {
            return Ok(given.same());
        }
        if given.textual {
            return match bytes_of_uuid(given.ascii()) {
                Some(bytes) => Ok(Taken::Yes(textual::uuid(self.py, &bytes)?)),
                None => Ok(Taken::Broken("Invalid UUID".to_owned())),
            };
        }
        if given.kind == accepts::BYTES && (self.schemaless || !self.strict) {
            let keywords = new::dict(self.py)?;
            keywords.set_item("bytes", bound)?;
            return self.made(uuid.call((), Some(&keywords)), "Invalid UUID bytes");
        }
        Ok(Taken::No)
    }

    pub(super) fn value(&self, given: &Given<'_>, class: &Owned, parse: Option<&Owned>) -> Result<Taken> {
        let bound = self.bound(given.object);
        if bound.is_instance(&self.bound(class))? {
            return Ok(given.same());
        }
        if self.schemaless && given.kind == 0 {
            if let Some(made) = bson_values::as_pattern(&bound, parse.is_none())? {
                return match self.bound(class).is(&self.py.import("re")?.getattr("Pattern")?) {
                    true => self.made(made, "Invalid `Pattern`"),
                    false => Ok(Taken::No),
                };
            }
        }
        // SAFETY: importing the module imported the datetime API; `given` holds the object.
        let is_datetime = || unsafe { ffi::PyDateTime_Check(given.object.get()) } != 0;
        match parse {
            Some(parse) if self.schemaless && is_datetime() && self.is_numpy(class)? => {
                let made = self.py.import("holdall._arrays")?.call_method1("moment", (self.bound(parse), bound));
                self.made(made, "Invalid `datetime64`")
            }
            None if self.schemaless && given.kind != 0 && given.kind != accepts::NONE && self.is_numpy(class)? => {
                let name: String = self.bound(class).getattr("__qualname__")?.extract()?;
                if (given.kind == accepts::STR && name != "str_") || (given.kind == accepts::BYTES && name != "bytes_")
                {
                    return Ok(Taken::No);
                }
                let made = self.py.import("holdall._arrays")?.call_method1("scalar", (self.bound(class), bound));
                self.made(made, format_args!("Invalid `{name}`"))
            }
            // `Fraction` would work for days on "1e999999999".
            Some(_) if given.textual && self.is_fraction(class)? && !is_ratio(given.ascii()) => {
                Ok(Taken::Broken("Invalid `Fraction`".to_owned()))
            }
            Some(parse) if given.textual => self.made(self.bound(parse).call1((bound,)), InvalidOf(&self.bound(class))),
            _ => Ok(Taken::No),
        }
    }

    fn is_fraction(&self, class: &Owned) -> Result<bool> {
        Ok(Library::Fraction.get(self.py)?.as_ptr() == class.get())
    }

    /// Whether a class belongs to NumPy.
    pub(crate) fn is_numpy(&self, class: &Owned) -> Result<bool> {
        let module = self.bound(class).getattr("__module__")?;
        Ok(module.extract::<String>().if_taken()?.is_some_and(|module| module == "numpy"))
    }
}

//! Symbols, and the strings that name their packages.

use super::known::FromLisp;
use crate::classes::state::{allocate, slot_mut};
use crate::cpython::{replace, Owned};
use crate::decode::{Decoder, Numbered, NO_ID};
use crate::encode::TextKey;
use crate::error::{decode, Result};
use holdall_format::model::{Bytes, LispReader, LispValue};
use holdall_format::Token;
use pyo3::ffi;

const NO_SYMBOL: &str = "expected a symbol, found another value";
const NO_PACKAGE: &str = "expected the name of a symbol's package, found another value";

pub(super) fn bytes_of(name: Bytes<'_>) -> &[u8] {
    match name {
        Bytes::Ascii(bytes)
        | Bytes::Latin1(bytes)
        | Bytes::Ucs2(bytes)
        | Bytes::Utf8(bytes)
        | Bytes::StrictUtf8(bytes) => bytes,
    }
}

impl<'i, R: LispReader<'i>> Decoder<'i, FromLisp<'i, R>> {
    /// The rest of a symbol whose name was read. Where nothing is referred to, the same object for the same name and package.
    pub(super) fn symbol(&mut self, name: Bytes<'i>) -> Result<Owned> {
        let outer = self.take_id();
        let package = self.package()?;
        self.object_id = outer;
        // Where references are tracked, a symbol that occurs again is referred to.
        if self.tables.numbered.len() > 1 {
            return self.new_symbol(name, package);
        }
        let key = (bytes_of(name), package.get() as usize);
        if let Some(known) = self.dialect.symbols.get(&key) {
            return Ok(known.clone());
        }
        let made = self.new_symbol(name, package)?;
        self.dialect.symbols.insert(key, made.clone());
        Ok(made)
    }

    /// A new symbol. `package`: `None` for one without a package.
    pub(super) fn new_symbol(&mut self, name: Bytes<'i>, package: Owned) -> Result<Owned> {
        self.charge(128)?;
        let text = self.text_of(name)?;
        let names = self.dialect.lisp.names;
        let [name, of] = names.symbol_slots;
        // SAFETY: the class is held; the two slots were found in it, and are empty in a fresh instance.
        unsafe {
            let object = allocate(names.symbol.get().cast(), 0)?;
            replace(slot_mut(object.get(), name), text.into_raw());
            replace(slot_mut(object.get(), of), package.into_raw());
            Ok(object)
        }
    }

    pub(super) fn text_of(&mut self, name: Bytes<'i>) -> Result<Owned> {
        match name {
            Bytes::StrictUtf8(bytes) => self.string(bytes),
            name => self.string_of(name),
        }
    }

    /// The name of a package: any string, or a reference to one. The same object for the same name.
    fn package(&mut self) -> Result<Owned> {
        let at = self.here();
        let mut object_id = NO_ID;
        loop {
            match self.r.token()? {
                Token::AssignId if object_id == NO_ID => {
                    object_id = self.add_numbered(Numbered::open()) as u32;
                }
                Token::Text(name) => {
                    let bytes = bytes_of(name);
                    // As for references: most symbols are of the same package as the one before.
                    let last = self.dialect.last_inline_package.as_ref().filter(|last| last.0 == bytes);
                    let text = match last.map(|last| &last.1).or_else(|| self.dialect.packages.get(bytes)) {
                        Some(known) => known.clone(),
                        None => {
                            let made = self.text_of(name)?;
                            let made = self.known_package(made);
                            self.dialect.packages.insert(bytes, made.clone());
                            made
                        }
                    };
                    self.dialect.last_inline_package = Some((bytes, text.clone()));
                    self.whole(object_id, text.get());
                    return Ok(text);
                }
                Token::Reference(number) if object_id == NO_ID => {
                    // Most symbols are of the same package as the one before.
                    if let Some((_, known)) = self.dialect.last_package.as_ref().filter(|last| last.0 == number) {
                        return Ok(known.clone());
                    }
                    let object = self.object_of(number)?;
                    // SAFETY: `object` is an owned reference.
                    if unsafe { ffi::PyUnicode_CheckExact(object.get()) } == 0 {
                        return Err(decode(NO_PACKAGE, at));
                    }
                    let known = self.known_package(object);
                    self.dialect.last_package = Some((number, known.clone()));
                    return Ok(known);
                }
                _ => return Err(decode(NO_PACKAGE, at)),
            }
        }
    }

    /// One object for the name of a package, however it was stored.
    fn known_package(&mut self, name: Owned) -> Owned {
        let known = self.dialect.package_names.get(&TextKey(name.clone()));
        match known {
            Some(known) => known.clone(),
            None => {
                self.dialect.package_names.insert(TextKey(name.clone()), name.clone());
                name
            }
        }
    }

    /// A symbol where nothing else may stand; `None` is NIL.
    pub(super) fn a_symbol(&mut self) -> Result<Owned> {
        let at = self.here();
        let mut object_id = NO_ID;
        loop {
            let made = match self.r.token()? {
                Token::AssignId if object_id == NO_ID => {
                    object_id = self.add_numbered(Numbered::open()) as u32;
                    continue;
                }
                Token::LispValue(LispValue::Symbol(name)) => self.symbol(name)?,
                Token::LispValue(LispValue::Uninterned(name)) => {
                    // SAFETY: the singleton lives as long as the interpreter.
                    self.new_symbol(name, unsafe { Owned::borrowed(ffi::Py_None()) })?
                }
                // SAFETY: as above.
                Token::Bool(true) => unsafe { Owned::borrowed(ffi::Py_True()) },
                // SAFETY: as above.
                Token::None => unsafe { Owned::borrowed(ffi::Py_None()) },
                Token::Reference(number) if object_id == NO_ID => {
                    let object = self.object_of(number)?;
                    // SAFETY: `object` is an owned reference.
                    if unsafe { ffi::Py_TYPE(object.get()) } != self.dialect.lisp.names.symbol.get().cast() {
                        return Err(decode(NO_SYMBOL, at));
                    }
                    return Ok(object);
                }
                _ => return Err(decode(NO_SYMBOL, at)),
            };
            self.whole(object_id, made.get());
            return Ok(made);
        }
    }
}

//! What is told by its value and not by its object: symbols, packages, and what describes objects. Each is written once, and
//! referred to afterwards.

use super::Names;
use crate::classes::state;
use crate::cpython::{owned, Obj, Owned};
use crate::encode::Encoder;
use crate::error::{encode, Result};
use crate::memory::{HashMap, Vec};
use holdall_format::model::{LispForm, LispWriter};
use pyo3::ffi;
use pyo3::prelude::*;
use std::marker::PhantomData;
use std::rc::Rc;

/// Something that is written once and referred to by its id afterwards, identified by its value and not by its object.
#[derive(Debug, Default, Clone)]
pub(super) struct Shared {
    /// How often the first walk met it.
    uses: usize,
    id: Option<u32>,
}

#[derive(Debug)]
pub(super) struct Symbol {
    name: Vec<u8>,
    /// The index of its package; `None` without one.
    package: Option<usize>,
    shared: Shared,
}

#[derive(Debug)]
pub(super) struct Package {
    name: Vec<u8>,
    shared: Shared,
}

/// What describes the instances of a class, or the records of a type.
#[derive(Debug)]
pub(super) struct Info {
    pub(super) of_type: usize,
    pub(super) slots: Vec<usize>,
    pub(super) shared: Shared,
    /// Its number where references are not tracked.
    pub(super) number: Option<u64>,
}

/// How instances of a class are written.
#[derive(Debug, Clone)]
pub(super) enum ClassForm {
    Mapped(Rc<Mapped>),
    Lowered,
}

#[derive(Debug)]
pub(super) struct Mapped {
    pub(super) info: usize,
    pub(super) names: Vec<Owned>,
    /// Where the slots are, if all fields are slots.
    pub(super) offsets: Option<Vec<usize>>,
}

/// What one walk has found out, for the next.
#[derive(Debug)]
pub struct Found {
    pub(super) names: &'static Names,
    pub(super) symbols: Vec<Symbol>,
    pub(super) by_name: HashMap<Vec<u8>, usize>,
    pub(super) by_address: HashMap<usize, usize>,
    pub(super) packages: Vec<Package>,
    pub(super) packages_by_name: HashMap<Vec<u8>, usize>,
    pub(super) infos: Vec<Info>,
    /// By the addresses of classes, and of records' types.
    pub(super) infos_by_address: HashMap<usize, usize>,
    pub(super) classes: HashMap<usize, ClassForm>,
    pub(super) last: Option<(usize, ClassForm)>,
    /// What the addresses belong to.
    pub(super) kept: Vec<Owned>,
    pub(super) infos_written: u64,
    pub(super) version: bool,
    /// The root is a list of several outermost values.
    pub(super) all: bool,
}

impl Found {
    pub fn new(py: Python<'_>, version: bool, all: bool) -> PyResult<Found> {
        Ok(Found {
            names: Names::get(py)?,
            symbols: Vec::new(),
            by_name: HashMap::new(),
            by_address: HashMap::new(),
            packages: Vec::new(),
            packages_by_name: HashMap::new(),
            infos: Vec::new(),
            infos_by_address: HashMap::new(),
            classes: HashMap::new(),
            last: None,
            kept: Vec::new(),
            infos_written: 0,
            version,
            all,
        })
    }

    /// How many ids symbols, packages and descriptions will get.
    pub(super) fn ids(&self) -> usize {
        let shared = self.symbols.iter().map(|symbol| &symbol.shared);
        let shared = shared.chain(self.packages.iter().map(|package| &package.shared));
        shared.chain(self.infos.iter().map(|info| &info.shared)).filter(|shared| shared.uses > 1).count()
    }
}

/// Common Lisp's values as cl-binary-store stores them.
pub struct ToLisp<W> {
    pub(super) found: Found,
    writer: PhantomData<fn() -> W>,
}

impl<W> ToLisp<W> {
    pub fn new(found: Found) -> Self {
        ToLisp { found, writer: PhantomData }
    }

    pub fn into_found(self) -> Found {
        self.found
    }
}

impl<W: LispWriter> Encoder<'_, ToLisp<W>> {
    /// For what is identified by its value: whether a reference to it was written; else it comes next, with an id if the
    /// first walk met it more than once.
    fn shared(&mut self, of: impl Fn(&mut Found) -> &mut Shared) -> Result<bool> {
        let first_walk = self.is_first_walk();
        let tracks = self.tracks();
        let shared = of(&mut self.dialect.found);
        if first_walk {
            shared.uses += 1;
            return Ok(shared.uses > 1);
        }
        if !tracks || shared.uses < 2 {
            return Ok(false);
        }
        if let Some(id) = shared.id {
            self.w.reference(u64::from(id));
            return Ok(true);
        }
        let id = self.number()?;
        of(&mut self.dialect.found).id = Some(id);
        self.w.assign_id();
        Ok(false)
    }

    /// The index of a symbol.
    pub(super) fn symbol_of(&mut self, object: &Bound<'_, PyAny>) -> Result<usize> {
        let found = &mut self.dialect.found;
        // SAFETY: `object` is alive; only the address of its class is compared.
        if unsafe { ffi::Py_TYPE(object.as_ptr()) } != found.names.symbol.get().cast() {
            return Err(encode("a Type whose name or slots are no Symbols"));
        }
        if let Some(&known) = found.by_address.get(&(object.as_ptr() as usize)) {
            return Ok(known);
        }
        let [name_at, package_at] = found.names.symbol_slots;
        // SAFETY: `object` is a `Symbol`, as was just seen, in which the slots were found; an empty slot is null.
        let (name, package) = unsafe {
            let [name, package] = [name_at, package_at].map(|offset| state::slot(object.as_ptr(), offset));
            if name.is_null() || package.is_null() {
                return Err(encode("a Symbol without its name or package"));
            }
            let bound = |part: Obj| Bound::from_borrowed_ptr(object.py(), part);
            let names = (bound(name).extract::<String>(), bound(package).extract::<Option<String>>());
            let (Ok(name), Ok(package)) = names else {
                return Err(encode("a Symbol whose name or package is no text, or has a lone surrogate"));
            };
            (name, package)
        };
        let mut key = Vec::new();
        key.extend_from_slice(package.as_deref().unwrap_or("\0").as_bytes());
        key.push(0);
        key.extend_from_slice(name.as_bytes());
        // Symbols without a package are different ones even if their names are the same.
        let known = package.as_ref().and_then(|_| found.by_name.get(&key).copied());
        let index = match known {
            Some(known) => known,
            None => {
                let package = package.map(|package| {
                    let bytes: Vec<u8> = package.as_bytes().into();
                    match found.packages_by_name.get(&bytes) {
                        Some(&known) => known,
                        None => {
                            found.packages.push(Package { name: bytes.clone(), shared: Shared::default() });
                            found.packages_by_name.insert(bytes, found.packages.len() - 1);
                            found.packages.len() - 1
                        }
                    }
                });
                found.symbols.push(Symbol { name: name.as_bytes().into(), package, shared: Shared::default() });
                found.by_name.insert(key, found.symbols.len() - 1);
                found.symbols.len() - 1
            }
        };
        found.by_address.insert(object.as_ptr() as usize, index);
        found.kept.push(owned(object));
        Ok(index)
    }

    pub(super) fn symbol(&mut self, index: usize) -> Result<()> {
        if self.shared(|found| &mut found.symbols[index].shared)? {
            return Ok(());
        }
        let symbol = &self.dialect.found.symbols[index];
        let Some(package) = symbol.package else {
            self.w.form(LispForm::Uninterned(&symbol.name));
            return Ok(());
        };
        self.w.form(LispForm::Symbol(&symbol.name));
        if !self.shared(|found| &mut found.packages[package].shared)? {
            let name = &self.dialect.found.packages[package].name;
            match name.is_ascii() {
                true => self.w.form(LispForm::BaseString(name)),
                false => self.w.text(holdall_format::model::Text::Utf8(name)),
            }
        }
        Ok(())
    }

    /// The index of what describes a type of `holdall.lisp`'s.
    pub(super) fn info_of(&mut self, of_type: &Bound<'_, PyAny>) -> Result<usize> {
        let address = of_type.as_ptr() as usize;
        if let Some(&known) = self.dialect.found.infos_by_address.get(&address) {
            return Ok(known);
        }
        let name = self.symbol_of(&of_type.getattr("name")?)?;
        let mut slots = Vec::new();
        for slot in of_type.getattr("slots")?.try_iter()? {
            slots.push(self.symbol_of(&slot?)?);
        }
        let found = &mut self.dialect.found;
        let same = |info: &Info| info.of_type == name && info.slots == slots;
        let index = match found.infos.iter().position(same) {
            Some(known) => known,
            None => {
                found.infos.push(Info { of_type: name, slots, shared: Shared::default(), number: None });
                found.infos.len() - 1
            }
        };
        found.infos_by_address.insert(address, index);
        found.kept.push(owned(of_type));
        Ok(index)
    }

    /// Begins an object: what describes it.
    pub(super) fn begin_object(&mut self, info: usize) -> Result<()> {
        self.w.form(LispForm::Object);
        if self.shared(|found| &mut found.infos[info].shared)? {
            return Ok(());
        }
        if !self.tracks() && !self.is_first_walk() {
            if let Some(number) = self.dialect.found.infos[info].number {
                self.w.form(LispForm::KnownInfo(number));
                return Ok(());
            }
            self.dialect.found.infos_written += 1;
            self.dialect.found.infos[info].number = Some(self.dialect.found.infos_written);
        }
        let Info { of_type, slots, .. } = &self.dialect.found.infos[info];
        let (of_type, slots) = (*of_type, slots.clone());
        self.w.form(LispForm::Info(slots.len()));
        self.symbol(of_type)?;
        for slot in slots {
            self.symbol(slot)?;
        }
        Ok(())
    }
}

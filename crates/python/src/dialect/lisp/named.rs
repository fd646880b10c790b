//! What is told by its value and not by its object: symbols, packages, and what describes objects. Each is written once, and
//! referred to afterwards.

use super::Names;
use crate::classes::state;
use crate::cpython::{owned, text, Obj, Owned};
use crate::encode::memo::ONCE;
use crate::encode::{Encoder, Sharing, TextKey};
use crate::error::{encode, Asked, Result};
use crate::memory::{FxHashMap, HashMap, Vec};
use holdall_format::model::{LispForm, LispWriter, Text};
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
    name: Owned,
    /// The index of its package; `None` without one.
    package: Option<usize>,
    shared: Shared,
}

#[derive(Debug)]
pub(super) struct Package {
    name: Owned,
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
    /// By their names and the indices of their packages.
    by_name: HashMap<(TextKey, usize), usize, rustc_hash::FxBuildHasher>,
    pub(super) by_address: FxHashMap<usize, usize>,
    /// The addresses and indices of all symbols that the first walk met, one after the other: the second meets the same.
    met: Vec<(usize, usize)>,
    /// How many of these the second walk has met.
    met_again: usize,
    pub(super) packages: Vec<Package>,
    packages_by_name: HashMap<TextKey, usize, rustc_hash::FxBuildHasher>,
    /// The last package that was looked up, by the address of its name.
    last_package: Option<(usize, usize)>,
    pub(super) infos: Vec<Info>,
    /// By their types and slots.
    infos_by_form: HashMap<(usize, Vec<usize>), usize>,
    /// By the addresses of classes, and of records' types.
    pub(super) infos_by_address: FxHashMap<usize, usize>,
    pub(super) classes: FxHashMap<usize, ClassForm>,
    pub(super) last: Option<(usize, ClassForm)>,
    /// What the addresses belong to.
    pub(super) kept: Vec<Owned>,
    pub(super) infos_written: u64,
    pub(super) version: bool,
    /// The root is a list of several outermost values.
    pub(super) all: bool,
    /// Conses of lists have a code each, so that Lisp's lists may share their tails.
    pub(super) one_by_one: bool,
    /// How many objects the first walk met again.
    pub(super) again: usize,
}

/// How a message is written.
#[derive(Debug, Clone, Copy)]
pub struct Form {
    /// The number of the format's version comes first.
    pub version: bool,
    /// The root is an iterable of several outermost values.
    pub all: bool,
    /// Conses of lists have a code each.
    pub one_by_one: bool,
}

impl Found {
    pub fn new(py: Python<'_>, form: Form) -> PyResult<Found> {
        Ok(Found {
            names: Names::get(py)?,
            symbols: Vec::new(),
            by_name: HashMap::default(),
            by_address: FxHashMap::default(),
            met: Vec::new(),
            met_again: 0,
            packages: Vec::new(),
            packages_by_name: HashMap::default(),
            last_package: None,
            infos: Vec::new(),
            infos_by_form: HashMap::default(),
            infos_by_address: FxHashMap::default(),
            classes: FxHashMap::default(),
            last: None,
            kept: Vec::new(),
            infos_written: 0,
            version: form.version,
            all: form.all,
            one_by_one: form.one_by_one,
            again: 0,
        })
    }

    /// The index of the package of that name.
    fn package_of(&mut self, name: Owned) -> usize {
        let address = name.get() as usize;
        if let Some((_, known)) = self.last_package.filter(|last| last.0 == address) {
            return known;
        }
        let next = self.packages.len();
        let index = *self.packages_by_name.entry(TextKey(name.clone())).or_insert(next);
        if index == next {
            self.packages.push(Package { name: name.clone(), shared: Shared::default() });
        }
        // Held, so that no other string gets its address.
        self.kept.push(name);
        self.last_package = Some((address, index));
        index
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

/// Name and package of a symbol.
fn names_of(names: &Names, symbol: &Bound<'_, PyAny>) -> Result<(Owned, Option<Owned>)> {
    // SAFETY: `symbol` is an instance of `Symbol`, in which the slots were found; an empty slot is null.
    unsafe {
        let [name, package] = names.symbol_slots.map(|offset| state::slot(symbol.as_ptr(), offset));
        let is_text = |part: Obj| !part.is_null() && text::is(part);
        if !is_text(name) || !(package == ffi::Py_None() || is_text(package)) {
            return Err(encode("a Symbol whose name or package is no text"));
        }
        Ok((Owned::borrowed(name), (package != ffi::Py_None()).then(|| Owned::borrowed(package))))
    }
}

/// The UTF-8 of a name, which the string keeps.
fn utf8(name: &Owned) -> Result<&[u8]> {
    // SAFETY: `name` is a string, as `names_of` has seen; what it gives lives as long as the string, which `name` holds.
    unsafe {
        if let Some(ascii) = text::ascii(name.get()) {
            return Ok(ascii);
        }
        let mut len = 0;
        let bytes = ffi::PyUnicode_AsUTF8AndSize(name.get(), &mut len);
        if bytes.is_null() {
            let error: PyResult<()> = Err(PyErr::fetch(Python::assume_attached()));
            error.if_taken()?;
            return Err(encode("a Symbol whose name has a lone surrogate"));
        }
        Ok(std::slice::from_raw_parts(bytes.cast(), len as usize))
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
        let id = id_of(self.w.assign())?;
        of(&mut self.dialect.found).id = Some(id);
        Ok(false)
    }

    /// The index of a symbol.
    pub(super) fn symbol_of(&mut self, object: &Bound<'_, PyAny>) -> Result<usize> {
        let found = &mut self.dialect.found;
        // SAFETY: `object` is alive; only the address of its class is compared.
        if unsafe { ffi::Py_TYPE(object.as_ptr()) } != found.names.symbol.get().cast() {
            return Err(encode("a Type whose name or slots are no Symbols"));
        }
        let address = object.as_ptr() as usize;
        let is_first_walk = matches!(self.sharing, Sharing::Finding(_));
        match found.met.get(found.met_again) {
            Some(&(next, index)) if next == address && !is_first_walk => {
                found.met_again += 1;
                return Ok(index);
            }
            _ => {}
        }
        if let Some(&known) = found.by_address.get(&address) {
            if is_first_walk {
                found.met.push((address, known));
            }
            return Ok(known);
        }
        let (name, package) = names_of(found.names, object)?;
        let package = package.map(|package| found.package_of(package));
        // Symbols without a package are different ones even if their names are the same.
        let key = package.map(|package| (TextKey(name.clone()), package));
        let index = match key.as_ref().and_then(|key| found.by_name.get(key)) {
            Some(&known) => known,
            None => {
                found.symbols.push(Symbol { name, package, shared: Shared::default() });
                let index = found.symbols.len() - 1;
                if let Some(key) = key {
                    found.by_name.insert(key, index);
                }
                index
            }
        };
        found.by_address.insert(address, index);
        if is_first_walk {
            found.met.push((address, index));
        }
        found.kept.push(owned(object));
        Ok(index)
    }

    /// Writes a symbol.
    pub(super) fn symbol_object(&mut self, object: &Bound<'_, PyAny>) -> Result<()> {
        if self.tracks() || self.is_first_walk() {
            let index = self.symbol_of(object)?;
            return self.symbol(index);
        }
        let (name, package) = names_of(self.dialect.found.names, object)?;
        let Some(package) = package else {
            self.w.form(LispForm::Uninterned(utf8(&name)?));
            return Ok(());
        };
        self.w.form(LispForm::Symbol(utf8(&name)?));
        self.package_name(&package)
    }

    fn package_name(&mut self, name: &Owned) -> Result<()> {
        let name = utf8(name)?;
        match name.is_ascii() {
            true => self.w.form(LispForm::BaseString(name)),
            false => self.w.text(Text::Utf8(name)),
        }
        Ok(())
    }

    pub(super) fn symbol(&mut self, index: usize) -> Result<()> {
        if self.shared(|found| &mut found.symbols[index].shared)? {
            return Ok(());
        }
        let Symbol { name, package, .. } = &self.dialect.found.symbols[index];
        let (name, package) = (name.clone(), *package);
        let Some(package) = package else {
            self.w.form(LispForm::Uninterned(utf8(&name)?));
            return Ok(());
        };
        self.w.form(LispForm::Symbol(utf8(&name)?));
        if self.shared(|found| &mut found.packages[package].shared)? {
            return Ok(());
        }
        let name = self.dialect.found.packages[package].name.clone();
        self.package_name(&name)
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
        let next = found.infos.len();
        let index = *found.infos_by_form.entry((name, slots.clone())).or_insert(next);
        if index == next {
            found.infos.push(Info { of_type: name, slots, shared: Shared::default(), number: None });
        }
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

/// An id that the memo can hold.
pub(super) fn id_of(id: u64) -> Result<u32> {
    match u32::try_from(id) {
        Ok(id) if id < ONCE => Ok(id),
        _ => Err(encode("more than 4,294,967,293 shared objects in one message")),
    }
}

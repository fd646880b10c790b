//! Objects that are made once all their parts are there.

use super::frame::{Frame, Kind, Make, Parts, NOT_ITS_OWN};
use crate::budget::hash_cost::HashCost;
use crate::budget::scale;
use crate::classes::how::Base;
use crate::classes::registry;
use crate::classes::registry::Registration;
use crate::cpython::{Owned, Type};
use crate::decode::dialect::Dialect;
use crate::decode::Decoder;
use crate::error::{decode, raised, Result};
use crate::memory::format;
use crate::shapes::decided::Decided;
use crate::shapes::{Build, Shape};
use crate::types;
use crate::types::resolver::is_skip;
use crate::types::{extent, Cost};
use holdall_format::model::{KnownType, ShapeKind};
use holdall_format::Reader;
use pyo3::ffi;
use pyo3::Python;
use std::ptr::addr_of_mut;
use std::rc::Rc;

impl<'i, D: Dialect<'i>> Decoder<'i, D> {
    /// Makes the object of a `Gather` frame, and enters it under its id.
    // Long: an arm for each thing to make.
    pub(crate) fn make(&mut self, mut frame: Frame<D::Make>) -> Result<Owned> {
        let at = frame.offset;
        let Some(Parts { make: Some(make), gathered: mut parts, hash_costs, .. }) =
            frame.parts.take().map(|parts| *parts)
        else {
            return Err(decode("a frame without its recipe", at));
        };
        if !self.r.trusted() {
            self.charge_made(&make, frame.hash_cost, &parts, at)?;
        }
        let made = match make {
            Make::FrozenSet => {
                // A set stores its members' hashes. So hashing it later costs nothing for them, but they are hashed now.
                self.charge_key(frame.hash_cost, at)?;
                let Some(set) = frame.object.take() else { return Err(decode("a frozenset that was not made", at)) };
                self.fill_frozenset(&set, parts, &hash_costs, at)?;
                set
            }
            Make::Known(KnownType::PythonPattern) => self.pattern(&parts, at)?,
            Make::Known(known) => types::build(self.py, known, &parts, at)?,
            Make::DateTime(bits) => match parts.first() {
                // SAFETY: `None` is a static object.
                Some(zone) if zone.get() == unsafe { ffi::Py_None() } => {
                    return Err(decode("a datetime whose zone is None", at));
                }
                // SAFETY: `parts` holds the zone.
                Some(zone) => unsafe { types::datetime::datetime(bits, zone.get(), at)? },
                None => return Err(decode("a datetime without its zone", at)),
            },
            Make::Custom(shape) => custom(&shape, parts.first(), at)?,
            Make::Enum(shape) => match (&shape.plan, parts.first()) {
                (Some(plan), Some(name)) if types::constant::may_be(plan) => {
                    types::constant::named(self.py, plan, name, at)?
                }
                (Some(plan), Some(name)) => types::enumeration::member(self.py, plan.class(), name, at)?,
                _ => return Err(decode("an enumeration without its member", at)),
            },
            Make::Based(shape) => {
                let Build::Based { class, base, .. } = &shape.build else {
                    return Err(decode("a layout out of place", at));
                };
                // SAFETY: the GIL is held while a decoder lives; what permits the class holds it. `Based` shapes are made
                // only for classes derived from `base`.
                let object = unsafe { of_content(self.py, *base, *class, parts.pop(), at)? };
                if !shape.names.is_empty() {
                    self.go_on_with_fields(object.clone(), &shape, frame.object_id, frame.hand_over)?;
                    return Ok(object);
                }
                object
            }
            Make::Upgraded(shape) => types::upgrade::make(self.py, &shape, frame.object.take(), parts, at)?,
            Make::Record(shape) => {
                let Some(record) = frame.object.take() else { return Err(decode("a record that was not made", at)) };
                let payload = (shape.kind != ShapeKind::Object).then(|| parts.remove(0));
                // A container that is the content of many records would be written again for each of them.
                if frame.flags & NOT_ITS_OWN != 0 && payload.as_ref().is_some_and(|payload| !is_leaf(payload)) {
                    return Err(decode("a record whose content is not its own", at));
                }
                types::record::fill(self.py, &record, &shape, payload, parts)?;
                record
            }
            Make::Decided(shape) if matches!(shape.build, Build::Decided(Decided::State)) => {
                let Some(object) = frame.object.take() else { return Err(decode("an instance that was not made", at)) };
                self.set_state(&shape, &object, &parts)?;
                object
            }
            Make::Decided(shape) if matches!(shape.build, Build::Decided(Decided::Filled)) => {
                let Some(object) = frame.object.take() else { return Err(decode("an instance that was not made", at)) };
                fill(&shape, &object, parts.first(), at)?;
                object
            }
            Make::Decided(shape) => {
                let made = self.decide(&shape, parts, frame.flags & NOT_ITS_OWN != 0, at)?;
                if is_skip(made.get()) {
                    self.leaves_out(frame.object_id);
                    return Ok(made);
                }
                made
            }
            Make::Exception => match (frame.object.take(), parts.first()) {
                (Some(object), Some(payload)) => {
                    types::exception::fill(self.py, &object, payload, at)?;
                    object
                }
                _ => return Err(decode("an exception without its arguments", at)),
            },
            Make::Global => types::reference::find(self.py, self.options.pickle.find_class.as_ref(), &parts, at)?,
            Make::Persistent => types::reference::persistent(self.options.pickle.persistent_load.as_ref(), &parts, at)?,
            Make::ScopedCode(code) => match parts.first() {
                Some(scope) => types::bson_values::scoped_code(self.py, &code, scope)?,
                None => return Err(decode("code without its variables", at)),
            },
            Make::Dialect(make) => D::make(self, make, frame.object.take(), frame.object_id, parts, at)?,
            Make::Recipe { .. } => return Err(decode("a recipe out of place", at)),
        };
        self.whole(frame.object_id, made.get());
        Ok(made)
    }

    /// Charges what making an object from its parts costs, where their own bytes don't pay for it.
    pub(crate) fn charge_made(
        &mut self,
        make: &Make<D::Make>,
        hash_cost: HashCost,
        parts: &[Owned],
        at: usize,
    ) -> Result<()> {
        let cost = match make {
            Make::Known(KnownType::PythonPattern) if self.pattern_of(parts)?.is_some() => return Ok(()),
            Make::Known(KnownType::PythonPattern) => {
                let cost = types::cost(self.py, KnownType::PythonPattern, parts)?;
                Cost { work: cost.work.saturating_sub(self.pattern_pays(parts)?), ..cost }
            }
            Make::Known(known) => types::cost(self.py, *known, parts)?,
            Make::Based(_) => {
                // An exception's arguments are in a tuple within its content.
                let whole: usize = parts.iter().map(content).sum();
                Cost { work: whole / 16, bytes: whole + whole / 32 }
            }
            Make::Enum(_) => {
                // A combination of flags without a name is looked up by its value, and may have to be made.
                for part in parts {
                    scale::hashed_now(self.py, &self.rules.work, part, at)?;
                }
                Cost { work: if hash_cost == HashCost::default() { 0 } else { 500 }, bytes: 0 }
            }
            Make::Dialect(make) if D::hashes_parts(make) => return self.charge_key(hash_cost, at),
            Make::Record(shape) | Make::Decided(shape) => Cost { work: 0, bytes: shape.stored_name()?.len() },
            _ => return Ok(()),
        };
        self.rules.work.charge(cost.work, "what is made of shared values, or takes long to make", at)?;
        // Large blocks take whole pages.
        self.charge(cost.bytes.saturating_add(cost.bytes / 64))
    }

    /// A pattern that was compiled for this message before.
    fn pattern_of(&self, parts: &[Owned]) -> Result<Option<Owned>> {
        let (Some(known), [pattern, flags]) = (&self.patterns, parts) else { return Ok(None) };
        // SAFETY: the memo and `parts` hold the objects; hashing and comparing text, bytes and ints runs no Python code.
        unsafe {
            if !is_plain(pattern) || !is_plain(flags) {
                return Ok(None);
            }
            let key = Owned::new(ffi::PyTuple_Pack(2, pattern.get(), flags.get())).ok_or_else(raised)?;
            let found = ffi::PyDict_GetItemWithError(known.get(), key.get());
            Ok((!found.is_null()).then(|| Owned::borrowed(found)))
        }
    }

    /// How much of its cost a pattern's text pays for, in units of work: patterns are the most expensive of honest
    /// values, and many in one message are nothing unusual. A text that is compiled with several flags pays once.
    fn pattern_pays(&self, parts: &[Owned]) -> Result<usize> {
        const AT_ALL: usize = 2_000;
        const EACH_CHARACTER: usize = 400;
        let Some(pattern) = parts.first().filter(|pattern| is_plain(pattern)) else { return Ok(0) };
        // SAFETY: `parts` holds the pattern; hashing and comparing text and bytes runs no Python code.
        unsafe {
            if ffi::PyLong_Check(pattern.get()) != 0 {
                return Ok(0); // no pattern
            }
            let met = self.patterns.as_ref().map_or(0, |known| ffi::PyDict_Contains(known.get(), pattern.get()));
            match met {
                0 => Ok(AT_ALL + EACH_CHARACTER * ffi::PyObject_Size(pattern.get()).max(0) as usize),
                1 => Ok(0),
                _ => Err(raised()),
            }
        }
    }

    /// Compiles a pattern, once per message. `re` too returns the same object for as long as its cache holds it.
    pub(crate) fn pattern(&mut self, parts: &[Owned], at: usize) -> Result<Owned> {
        if let Some(known) = self.pattern_of(parts)? {
            return Ok(known);
        }
        let made = types::build(self.py, KnownType::PythonPattern, parts, at)?;
        // SAFETY: the memo holds the dict, `parts` the pattern and its flags, and `made` is an owned reference.
        unsafe {
            if self.patterns.is_none() {
                self.patterns = Owned::new(ffi::PyDict_New());
            }
            if let (Some(known), [pattern, flags]) = (&self.patterns, parts) {
                let key = Owned::new(ffi::PyTuple_Pack(2, pattern.get(), flags.get())).ok_or_else(raised)?;
                for key in [key.get(), pattern.get()] {
                    if ffi::PyDict_SetItem(known.get(), key, made.get()) != 0 {
                        return Err(raised());
                    }
                }
            }
        }
        Ok(made)
    }

    /// Starts a code value; its variables follow.
    pub(crate) fn gather_scope(&mut self, code: Owned) -> Result<Option<Owned>> {
        self.claim(1, 256)?;
        let frame = Frame::gather(Make::ScopedCode(code), None, 1, self.take_id(), self.here());
        // Values in the scope go through the user's functions if any do; the scope itself does not.
        Ok(self.push(Frame { item: D::node_within(self), ..frame }))
    }

    /// Pushes a frame for the fields of an instance whose builtin value is set.
    fn go_on_with_fields(&mut self, object: Owned, shape: &Rc<Shape>, object_id: u32, hand_over: bool) -> Result<()> {
        let len = shape.names.len();
        self.claim(len, shape.bytes)?;
        self.opened(object_id, object.get());
        self.bounds.owed += len;
        let frame = Frame::new(Kind::Fields, Some(object), len, object_id, self.r.offset());
        self.tables.stack.push(Frame { hand_over, shape: Some(shape.clone()), ..frame });
        self.made_again = true;
        Ok(())
    }

    /// Whether `make` has just pushed a frame for the fields of its object; resets the flag.
    pub(crate) fn take_made_again(&mut self) -> bool {
        std::mem::take(&mut self.made_again)
    }
}

/// The size of the content of a subclass's instance, including the tuples and the dict within an exception's content.
fn content(part: &Owned) -> usize {
    let mut whole = extent(part);
    // SAFETY: `part` is an owned reference; a tuple holds its items, and the indices are below its length.
    unsafe {
        if ffi::PyTuple_CheckExact(part.get()) != 0 {
            for at in 0..ffi::PyTuple_GET_SIZE(part.get()).min(2) {
                let inner = Owned::borrowed(ffi::PyTuple_GET_ITEM(part.get(), at));
                whole += extent(&inner);
                if ffi::PyTuple_CheckExact(inner.get()) != 0 {
                    let items = 0..ffi::PyTuple_GET_SIZE(inner.get()).min(8);
                    whole +=
                        items.map(|at| extent(&Owned::borrowed(ffi::PyTuple_GET_ITEM(inner.get(), at)))).sum::<usize>();
                }
            }
        }
    }
    whole
}

/// Whether it is exactly a str, bytes or int.
fn is_plain(value: &Owned) -> bool {
    // SAFETY: `value` is an owned reference.
    unsafe {
        let class = ffi::Py_TYPE(value.get());
        let plain =
            [addr_of_mut!(ffi::PyUnicode_Type), addr_of_mut!(ffi::PyBytes_Type), addr_of_mut!(ffi::PyLong_Type)];
        plain.contains(&class)
    }
}

/// Whether it is a leaf of a builtin type: only such content may be shared by several records.
pub(super) fn is_leaf(value: &Owned) -> bool {
    // SAFETY: `value` is an owned reference.
    let class = unsafe { ffi::Py_TYPE(value.get()) };
    is_plain(value) || [addr_of_mut!(ffi::PyFloat_Type), addr_of_mut!(ffi::PyComplex_Type)].contains(&class)
}

/// An instance, made by the registered `decode` of its class.
pub(super) fn custom(shape: &Shape, state: Option<&Owned>, at: usize) -> Result<Owned> {
    let gone = || decode("a class whose `decode` is gone", at);
    let known = shape.plan.as_ref().and_then(|plan| plan.registration.clone());
    let (Some(known), Some(state)) = (known, state) else { return Err(gone()) };
    by_decode(&known, state, shape.version, at)
}

/// An instance, filled by the registered `decode` of its class.
fn fill(shape: &Shape, object: &Owned, state: Option<&Owned>, at: usize) -> Result<()> {
    let known = shape.plan.as_ref().and_then(|plan| plan.registration.clone());
    let (Some(known), Some(state)) = (known, state) else { return Err(decode("a class whose `decode` is gone", at)) };
    let function = known.decode.as_ref().ok_or_else(|| decode("a class whose `decode` is gone", at))?;
    let filled = registry::fill(function, object.get(), state.get());
    filled.map_err(|fault| fault.of_data(&format!("a content that `{}` can't have", known.name), at))
}

/// What the registered `decode` makes of what was stored.
pub(super) fn by_decode(known: &Registration, state: &Owned, version: u64, at: usize) -> Result<Owned> {
    let function = known.decode.as_ref().ok_or_else(|| decode("a class whose `decode` is gone", at))?;
    if !known.ours {
        return match known.decode_takes_version {
            true => registry::call_with_version(function, state.get(), version),
            false => registry::call(function, state.get()),
        };
    }
    let content = || format!("a content that `{}` can't have", known.name);
    let by_constructor = match &known.constructor {
        // SAFETY: values are made with the GIL held.
        Some(constructor) => constructor.made(unsafe { Python::assume_attached() }, state),
        None => Ok(None),
    };
    // An error in one of this package's own functions is about the data.
    let made = match by_constructor {
        Ok(Some(made)) => made,
        Ok(None) => registry::call(function, state.get()).map_err(|fault| fault.of_data(&content(), at))?,
        Err(fault) => return Err(fault.of_data(&content(), at)),
    };
    // SAFETY: `made` is an owned reference.
    match known.constructor.is_some() && unsafe { ffi::Py_TYPE(made.get()) } != known.class.get().cast() {
        // Of a number that stands for none, it may be something else.
        true => Err(decode(content(), at)),
        false => Ok(made),
    }
}

/// An instance of a subclass of an immutable builtin, made from its content.
///
/// # Safety
/// The GIL is held; `class` is alive, and derived from `base`.
pub(crate) unsafe fn of_content(
    py: Python<'_>,
    base: Base,
    class: Type,
    content: Option<Owned>,
    at: usize,
) -> Result<Owned> {
    // SAFETY: the GIL is held, and `class` is alive and derived from `base`, by contract.
    unsafe {
        if base != Base::Exception {
            return types::new_of(base, class, content);
        }
        let object = types::exception::empty(py, class, content.as_ref(), at)?;
        if let Some(content) = &content {
            types::exception::fill(py, &object, content, at)?;
        }
        Ok(object)
    }
}

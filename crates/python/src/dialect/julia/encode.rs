//! Objects as Julia's values: instances of mapped classes by position, all others as `holdall.julia` lowers them.

use crate::classes::plan;
use crate::classes::state;
use crate::cpython::dict::{self, Position};
use crate::cpython::owned;
use crate::cpython::{Obj, Owned, Type};
use crate::dialect::julia::lowering::{BackReference, ClassForm, Lowering, Mapped};
use crate::dialect::julia::{bound, call};
use crate::encode::dialect::Dialect;
use crate::encode::memo::Met;
use crate::encode::{shapes, Encoder, Sharing, CHANGED, MOST_LOOKED_AT};
use crate::error::{encode, raised, Result};
use crate::memory::Vec;
use crate::types::walker::{WorkItem, BY_PARENT};
use holdall_format::model::TypedWriter;
use pyo3::ffi;
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::types::PyTuple;
use std::cell::OnceCell;
use std::marker::PhantomData;
use std::ptr::addr_of_mut;
use std::rc::Rc;

/// The error for an outermost object that is no dict of names.
const ROOT: &str = "the outermost value must be a dict of names: put it in one, {\"name\": value}";

/// BSON as Julia's BSON.jl writes it.
pub struct ToJulia<W> {
    pub(crate) lowering: Lowering,
    writer: PhantomData<fn() -> W>,
}

impl<W> ToJulia<W> {
    pub fn new(lowering: Lowering) -> Self {
        ToJulia { lowering, writer: PhantomData }
    }

    /// What the first walk has found out, for the second.
    pub fn into_lowering(self) -> Lowering {
        self.lowering
    }
}

impl<W: TypedWriter> Dialect for ToJulia<W> {
    type Writer = W;

    const HAS_REFERENCES: bool = true;
    const BIG_INTS_ARE_VALUES: bool = true;
    const SHARED_STAND_APART: bool = true;

    unsafe fn root(encoder: &mut Encoder<'_, Self>, root: Obj) -> Result<bool> {
        // SAFETY: the same contract as the hook's.
        unsafe { encoder.julia_root(root)? };
        Ok(true)
    }

    unsafe fn dict(encoder: &mut Encoder<'_, Self>, object: Obj, _: u32) -> Result<()> {
        // SAFETY: the same contract as the hook's.
        unsafe { encoder.julia_dict(object) }
    }

    unsafe fn value(encoder: &mut Encoder<'_, Self>, object: Obj, class: Type) -> Result<()> {
        // SAFETY: the same contract as the hook's.
        unsafe { encoder.julia_value(object, class) }
    }

    #[inline(always)]
    unsafe fn like_the_last(encoder: &mut Encoder<'_, Self>, object: Obj) -> Result<bool> {
        // SAFETY: the same contract as the hook's.
        unsafe { encoder.mapped_like_the_last(object) }
    }

    #[inline(always)]
    unsafe fn prefetch(encoder: &Encoder<'_, Self>, object: Obj) {
        // SAFETY: the same contract as the hook's.
        unsafe { encoder.prefetch_mapped(object) }
    }

    #[inline(always)]
    unsafe fn met_shared(encoder: &mut Encoder<'_, Self>, object: Obj) -> Result<bool> {
        // SAFETY: the same contract as the hook's.
        unsafe { encoder.met_by_table(object) }
    }

    fn is_in_place(&self, object: usize) -> bool {
        self.lowering.is_in_place(object)
    }
}

impl<W: TypedWriter> Encoder<'_, ToJulia<W>> {
    /// Writes a reference to an object that occurs more than once, at its first place too. `false`: it occurs once.
    ///
    /// # Safety
    /// `object` is alive.
    #[inline(never)]
    unsafe fn met_by_table(&mut self, object: Obj) -> Result<bool> {
        // SAFETY: `object` is alive by contract.
        let class = unsafe { ffi::Py_TYPE(object) };
        if self.dialect.lowering.is_value(class) {
            return Ok(false);
        }
        match &mut self.sharing {
            Sharing::Found(found) if !found.contains_key(&(object as usize)) => return Ok(false),
            Sharing::Finding(found) => {
                if let Met::Never = self.tables.memo.meet(object, 0) {
                    return Ok(false);
                }
                // An object that is made from its parts can't be in the table if it is in a cycle: while its parts are
                // read, there is nothing to refer to.
                let lowering = &mut self.dialect.lowering;
                if lowering.makes() {
                    let below = self.tables.stack.iter().rev().take(MOST_LOOKED_AT);
                    if let Some(open) = below.clone().position(|frame| frame.object.get() == object) {
                        for frame in below.take(open + 1) {
                            // SAFETY: the frame holds its object.
                            let class = unsafe { ffi::Py_TYPE(frame.object.get()) };
                            if lowering.is_made(class) {
                                lowering.put_in_place(frame.object.get());
                            }
                        }
                    }
                    if lowering.is_in_place(object as usize) {
                        return Ok(false);
                    }
                }
                *found.entry(object as usize).or_default() += 1;
                return Ok(true);
            }
            _ => {}
        }
        let number = match self.tables.memo.meet(object, self.next_id) {
            Met::Before(number) => number,
            Met::Never => {
                let number = self.number()?;
                // SAFETY: `object` is alive by contract.
                self.dialect.lowering.add_back_reference(unsafe { Owned::borrowed(object) });
                number
            }
        };
        self.w.reference(u64::from(number));
        Ok(true)
    }

    /// Writes a whole document: its members, then the back-reference table.
    ///
    /// # Safety
    /// `root` is alive.
    unsafe fn julia_root(&mut self, root: Obj) -> Result<()> {
        // SAFETY: `root` is alive by contract, and checked to be a dict first. `back_references` hands over its objects.
        unsafe {
            if ffi::PyDict_Check(root) == 0 || !self.has_names(root)? {
                return Err(encode(ROOT));
            }
            let bound = Bound::from_borrowed_ptr(self.py, root);
            if bound.contains("_backrefs")? {
                return Err(encode("the outermost dict has a key `_backrefs`, which the format keeps for itself"));
            }
            let (objects, types) = match &self.sharing {
                Sharing::Found(found) => (found.len(), self.dialect.lowering.types.back_references()),
                _ => (0, 0),
            };
            let back_references = objects + types;
            // Ids count from 1.
            self.next_id = 1;
            self.w.dict(dict::len(root) + usize::from(back_references > 0));
            self.pairs(root);
            self.walk()?;
            if back_references > 0 {
                self.w.back_references(back_references);
            }
            let mut left = back_references;
            while let Some(next) = self.dialect.lowering.back_references.pop_front() {
                left = left.checked_sub(1).ok_or_else(|| encode(CHANGED))?;
                match next {
                    BackReference::Type(number) => {
                        let described = self.described(number, true)?;
                        self.w.description(&described);
                    }
                    BackReference::Object(object) => {
                        self.open(object.get(), shapes::NONE)?;
                        self.walk()?;
                    }
                }
            }
            match left {
                0 => Ok(()),
                _ => Err(encode(CHANGED)),
            }
        }
    }

    /// Whether all keys of a dict are names: text, but not of a class that is another type in Julia.
    ///
    /// # Safety
    /// `object` is a dict.
    unsafe fn has_names(&mut self, object: Obj) -> Result<bool> {
        let others = &self.dialect.lowering.names.other_texts;
        let mut position = Position(0);
        // SAFETY: `object` is a dict by contract; no Python code runs while its keys are borrowed.
        unsafe {
            while let Some((key, _)) = position.next(object) {
                if ffi::PyUnicode_CheckExact(key) != 0 {
                    continue;
                }
                let class = ffi::Py_TYPE(key).cast();
                if ffi::PyUnicode_Check(key) == 0 || others.iter().any(|other| other.get() == class) {
                    return Ok(false);
                }
            }
        }
        Ok(true)
    }

    /// Writes a dict: as a document, unless a key is no name, or a reader would take it for a typed value.
    ///
    /// # Safety
    /// `object` is a dict whose id was written.
    unsafe fn julia_dict(&mut self, object: Obj) -> Result<()> {
        // SAFETY: `object` is a dict by contract, held by the caller; `tag` gets a reference before Python code runs.
        unsafe {
            if !self.has_names(object)? {
                return self.lowered(object);
            }
            let bound = Bound::from_borrowed_ptr(self.py, object);
            let tag = ffi::PyDict_GetItemString(object, c"tag".as_ptr());
            if !tag.is_null() && ffi::PyUnicode_Check(tag) != 0 {
                let names = self.dialect.lowering.names;
                let tag = Bound::from_borrowed_ptr(self.py, tag);
                if call(self.py, &names.is_tag, (tag,))?.is_truthy()? {
                    let lowered = call(self.py, &names.lower_pairs, (bound,))?;
                    return self.lowered_as(object, &lowered);
                }
            }
            self.schemaless_dict(object)
        }
    }

    /// Writes an object that is neither a leaf nor a dict, list or tuple.
    ///
    /// # Safety
    /// `object` is alive, of that class, and its id was written.
    unsafe fn julia_value(&mut self, object: Obj, class: Type) -> Result<()> {
        // SAFETY: `object` is alive by contract. A bytearray is recognized by its class before its memory is read, and no
        // Python code runs until that is copied.
        unsafe {
            if class == addr_of_mut!(ffi::PyByteArray_Type) {
                let len = ffi::PyByteArray_Size(object) as usize;
                self.w.bytes(std::slice::from_raw_parts(ffi::PyByteArray_AsString(object).cast(), len));
                return Ok(());
            }
            let shape = self.shape_of(class)?;
            match &*shape {
                ClassForm::Mapped(mapped) => self.julia_instance(object, mapped),
                ClassForm::Table => self.julia_table(object),
                ClassForm::Lowered => self.lowered(object),
            }
        }
    }

    /// Writes an instance of the same mapped class as the last one. `false`: it is of another class.
    ///
    /// # Safety
    /// `object` is alive.
    #[inline(always)]
    unsafe fn mapped_like_the_last(&mut self, object: Obj) -> Result<bool> {
        // SAFETY: `object` is alive by contract; only its class is read before that is known to be the mapped one.
        unsafe {
            let last = self.dialect.lowering.last.as_ref();
            let Some((_, shape)) = last.filter(|last| last.0 == ffi::Py_TYPE(object) as usize) else {
                return Ok(false);
            };
            let shape = shape.clone();
            let ClassForm::Mapped(mapped) = &*shape else { return Ok(false) };
            if !self.met(object, BY_PARENT)? {
                self.julia_instance(object, mapped)?;
            }
        }
        Ok(true)
    }

    /// Prefetches the fields of an object, if it is an instance of the same mapped class as the last one.
    ///
    /// # Safety
    /// `object` is alive.
    #[inline(always)]
    unsafe fn prefetch_mapped(&self, object: Obj) {
        let last = self.dialect.lowering.last.as_ref();
        // SAFETY: `object` is alive by contract, and the offsets were read from its class, as was just compared.
        unsafe {
            if let Some((class, shape)) = last {
                if let (true, ClassForm::Mapped(Mapped { offsets: Some(offsets), .. })) =
                    (*class == ffi::Py_TYPE(object) as usize, &**shape)
                {
                    self.prefetch_ordered(object, offsets);
                }
            }
        }
    }

    unsafe fn shape_of(&mut self, class: Type) -> Result<Rc<ClassForm>> {
        let py = self.py;
        let lowering = &mut self.dialect.lowering;
        if let Some((_, shape)) = lowering.last.as_ref().filter(|last| last.0 == class as usize) {
            return Ok(shape.clone());
        }
        if let Some(known) = lowering.classes.get(&(class as usize)) {
            let known = known.clone();
            lowering.last = Some((class as usize, known.clone()));
            return Ok(known);
        }
        // SAFETY: callers pass the class of an object that they hold.
        let bound_class = unsafe { Bound::from_borrowed_ptr(py, class.cast()) };
        let found = call(py, &lowering.names.class_of, (&bound_class,))?;
        if call(py, &lowering.names.is_made, (&bound_class,))?.is_truthy()? {
            lowering.made.insert(class as usize);
        }
        let is_table = bound_class.is(bound(py, &lowering.names.table));
        let shape = Rc::new(if is_table {
            ClassForm::Table
        } else if found.is_none() {
            ClassForm::Lowered
        } else {
            let (of_type, fields, own): (Bound<'_, PyAny>, Bound<'_, PyTuple>, bool) = found.extract()?;
            // SAFETY: callers pass the class of an object that they hold.
            let plan = unsafe { plan::of(py, class)? };
            let mut names = Vec::new();
            for field in &fields {
                let mut name = owned(&field).into_raw();
                // SAFETY: `name` is a reference of our own to a string; interning may exchange it for an equal one.
                names.push(unsafe {
                    ffi::PyUnicode_InternInPlace(&mut name);
                    Owned::new(name).ok_or_else(raised)?
                });
            }
            let offset = |name: &Owned| {
                let slot = plan.slots.iter().find(|slot| slot.name.get() == name.get());
                slot.map(|slot| slot.offset)
            };
            let offsets = names.iter().map(offset).collect::<Option<Vec<_>>>().map(Rc::new);
            ClassForm::Mapped(Mapped {
                of_type: (!of_type.is_none()).then(|| owned(&of_type)),
                fields: names,
                offsets,
                own,
                number: OnceCell::new(),
            })
        });
        lowering.classes.insert(class as usize, shape.clone());
        lowering.last = Some((class as usize, shape.clone()));
        self.keep(owned(&bound_class));
        Ok(shape)
    }

    /// Writes an instance of a mapped class.
    #[inline(always)]
    unsafe fn julia_instance(&mut self, object: Obj, mapped: &Mapped) -> Result<()> {
        // SAFETY: callers hold `object`, and found `mapped` by its class, so the offsets are those of its slots.
        unsafe {
            if let (false, Some(offsets), Some(Some(number))) = (mapped.own, &mapped.offsets, mapped.number.get()) {
                if offsets.iter().all(|&offset| !state::slot(object, offset).is_null()) {
                    let described = self.described(*number, false)?;
                    self.w.structure(&described, offsets.len());
                    return self.ordered(object, offsets);
                }
            }
            self.other_instance(object, mapped)
        }
    }

    #[inline(never)]
    unsafe fn other_instance(&mut self, object: Obj, mapped: &Mapped) -> Result<()> {
        let Mapped { of_type, fields, offsets, own, number } = mapped;
        // SAFETY: as `julia_instance` passes on: the caller holds `object`, and the offsets are those of its slots.
        unsafe {
            let instance = Bound::from_borrowed_ptr(self.py, object);
            let its_own = match own {
                true => instance.getattr_opt(intern!(self.py, "__julia_type__"))?.filter(|own| !own.is_none()),
                false => None,
            };
            let Some(of_type) = its_own.map(|own| owned(&own)).or_else(|| of_type.clone()) else {
                return self.lowered(object); // which finds the type, or says what is missing
            };
            let offsets = offsets.as_ref();
            if let Some(offsets) =
                offsets.filter(|offsets| offsets.iter().all(|&at| !state::slot(object, at).is_null()))
            {
                let found = self.type_number(&of_type)?;
                if !own {
                    let _ = number.set(found);
                }
                if let Some(number) = found {
                    let described = self.described(number, false)?;
                    self.w.structure(&described, offsets.len());
                    return self.ordered(object, offsets);
                }
            }
            let mut parts = Vec::with_capacity(fields.len());
            for field in fields {
                let value = Owned::new(ffi::PyObject_GetAttr(object, field.get()));
                parts.push(WorkItem::Value(value.ok_or_else(|| match PyErr::take(self.py) {
                    Some(error) if error.is_instance_of::<pyo3::exceptions::PyAttributeError>(self.py) => {
                        let (class, field) = (instance.get_type(), bound(self.py, field));
                        encode(format_args!("can't store an instance of `{class}` whose field `{field}` is not set"))
                    }
                    Some(error) => error.into(),
                    None => raised(),
                })?));
            }
            self.structure(Owned::borrowed(object), &of_type, parts)
        }
    }

    pub(super) fn type_number(&mut self, of_type: &Owned) -> Result<Option<u32>> {
        let py = self.py;
        let lowering = &mut self.dialect.lowering;
        lowering.types.number(lowering.names, &bound(py, of_type))
    }

    /// What a type is written as: a description, or a reference to one. The first walk only counts.
    pub(super) fn described(&mut self, number: u32, itself: bool) -> Result<Rc<Vec<u8>>> {
        if let Sharing::Finding(_) = self.sharing {
            let lowering = &mut self.dialect.lowering;
            lowering.types.count(number);
            return Ok(lowering.nothing.clone());
        }
        let mut next = u64::from(self.next_id);
        let lowering = &mut self.dialect.lowering;
        let back_references = &mut lowering.back_references;
        let mut begin = |number| {
            back_references.push_back(BackReference::Type(number));
            next += 1;
            Ok(next - 1)
        };
        let described = match itself {
            true => lowering.types.described(number, &mut begin).map(Rc::new),
            false => lowering.types.written(number, &mut begin),
        };
        self.next_id =
            u32::try_from(next).map_err(|_| encode("more than 4,294,967,294 shared objects in one message"))?;
        described
    }
}

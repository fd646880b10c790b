//! Objects as Lisp's values: instances of mapped classes slot by slot, all else as `holdall.lisp` lowers it.

use super::call;
use super::named::{id_of, ClassForm, Mapped, ToLisp};
use crate::classes::plan;
use crate::classes::state;
use crate::cpython::dict;
use crate::cpython::{float, held, int, owned, text, Obj, Owned, Type, View};
use crate::encode::dialect::Dialect;
use crate::encode::memo::{Met, AGAIN, ONCE};
use crate::encode::{shapes, Encoder, Sharing};
use crate::error::{encode, raised, EncodeError, Result};
use crate::memory::{vec, Vec};
use crate::types::walker::{WorkItem, BY_PARENT, BY_PARENT_AND_US};
use holdall_format::lisp::COUNTED_REFERENCES;
use holdall_format::model::{Element, LispForm, LispWriter};
use pyo3::ffi;
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::types::{PyComplex, PyDict, PyList, PyString, PyTuple};
use std::ptr::addr_of_mut;
use std::rc::Rc;

/// What `lower` answers, by its first item.
mod answer {
    pub const VALUE: u8 = 0;
    pub const VECTOR: u8 = 1;
    pub const PACKED: u8 = 2;
    pub const ARRAY: u8 = 3;
    pub const TABLE: u8 = 4;
    pub const PATHNAME: u8 = 5;
    pub const COMPLEX: u8 = 6;
    pub const COMPLEX_SINGLE: u8 = 7;
}

impl<W: LispWriter> Dialect for ToLisp<W> {
    type Writer = W;

    const HAS_REFERENCES: bool = true;
    const SHARED_STAND_APART: bool = true;
    const BIG_INTS_ARE_VALUES: bool = true;

    unsafe fn root(encoder: &mut Encoder<'_, Self>, root: Obj) -> Result<bool> {
        // SAFETY: the same contract as the trait's.
        unsafe { encoder.lisp_root(root)? };
        Ok(true)
    }

    unsafe fn dict(encoder: &mut Encoder<'_, Self>, object: Obj, _: u32) -> Result<()> {
        // SAFETY: the same contract as the trait's.
        unsafe { encoder.lisp_dict(object) }
    }

    #[inline(always)]
    fn marks_items(&self) -> bool {
        self.found.one_by_one
    }

    #[inline(always)]
    fn mark_item(encoder: &mut Encoder<'_, Self>) {
        encoder.w.form(LispForm::Cons);
    }

    #[inline(always)]
    fn end_list(encoder: &mut Encoder<'_, Self>) {
        encoder.w.none();
    }

    unsafe fn value(encoder: &mut Encoder<'_, Self>, object: Obj, class: Type) -> Result<()> {
        // SAFETY: the same contract as the trait's.
        unsafe { encoder.lisp_value(object, class) }
    }

    #[inline(always)]
    unsafe fn met_shared(encoder: &mut Encoder<'_, Self>, object: Obj) -> Result<bool> {
        // SAFETY: the same contract as the trait's.
        unsafe { encoder.met_twice(object) }
    }

    #[inline(always)]
    unsafe fn met_text(encoder: &mut Encoder<'_, Self>, object: Obj, held: isize) -> Result<bool> {
        // SAFETY: the same contract as the trait's.
        unsafe { Ok(encoder.may_be_shared(object, held) && !text::is_singleton(object) && encoder.met_twice(object)?) }
    }
}

impl<W: LispWriter> Encoder<'_, ToLisp<W>> {
    /// Writes the outermost object; the walk writes what it holds.
    ///
    /// # Safety
    /// `root` is alive.
    unsafe fn lisp_root(&mut self, root: Obj) -> Result<()> {
        self.next_id = 1;
        if self.dialect.found.version {
            self.w.form(LispForm::Version);
        }
        if let Sharing::InMemo = &self.sharing {
            let ids = self.dialect.found.again + self.dialect.found.ids() + self.w.ids_of_doubles();
            if ids >= COUNTED_REFERENCES {
                self.w.form(LispForm::ReferenceCount(ids + 1));
            }
        }
        if self.dialect.found.all {
            // SAFETY: by the contract alive.
            let values = unsafe { Bound::from_borrowed_ptr(self.py, root) };
            for value in values.try_iter()? {
                let value = self.keep(owned(&value?));
                // SAFETY: kept until the message is whole.
                unsafe { self.value(value, BY_PARENT_AND_US)? };
                self.walk()?;
            }
            return Ok(());
        }
        // SAFETY: by the contract alive; the caller of the walk holds it until the message is whole.
        unsafe {
            if self.leaf(root, isize::MAX)? || (self.tracks() && self.met_twice(root)?) {
                return Ok(());
            }
            self.open(root, shapes::NONE)
        }
    }

    /// In the first walk, notes what is met again. In the second, gives these objects an id, and refers to them later.
    ///
    /// # Safety
    /// `object` is alive.
    #[inline(never)]
    pub(super) unsafe fn met_twice(&mut self, object: Obj) -> Result<bool> {
        // SAFETY: by the contract alive; of its class, only types with that layout have their size read.
        unsafe {
            let class = ffi::Py_TYPE(object);
            // Symbols are told by their values, single-floats have no identity, the empty list is NIL.
            let names = self.dialect.found.names;
            if class == names.symbol.get().cast()
                || class == names.single.get().cast()
                || (class == addr_of_mut!(ffi::PyList_Type) && ffi::Py_SIZE(object) == 0)
            {
                return Ok(false);
            }
        }
        if self.is_first_walk() {
            return Ok(match self.tables.memo.meet(object, ONCE) {
                Met::Never => false,
                Met::Before(number) => {
                    if number == ONCE {
                        self.tables.memo.renumber(object, AGAIN);
                        self.dialect.found.again += 1;
                    }
                    true
                }
            });
        }
        match self.tables.memo.number_mut(object) {
            None | Some(&mut ONCE) => Ok(false),
            Some(known) if *known == AGAIN => {
                *known = id_of(self.w.assign())?;
                Ok(false)
            }
            Some(&mut number) => {
                self.w.reference(u64::from(number));
                Ok(true)
            }
        }
    }

    /// A hash table of the test EQUAL.
    ///
    /// # Safety
    /// `object` is a dict whose id was written.
    unsafe fn lisp_dict(&mut self, object: Obj) -> Result<()> {
        let lowered = {
            // SAFETY: by the contract alive.
            let bound = unsafe { Bound::from_borrowed_ptr(self.py, object) };
            call(self.py, &self.dialect.found.names.lower, (bound,))?
        };
        self.lowered(&lowered)?;
        // SAFETY: by the contract a dict, which the frame holds.
        unsafe {
            // The head is written after the items' frame is there: what is on top is written first.
            let head = self.tables.stack.pop();
            debug_assert!(dict::len(object) == 0 || head.is_some());
            self.pairs(object);
            self.tables.stack.extend(head);
        }
        Ok(())
    }

    /// # Safety
    /// `object` is alive, of that class, and its id was written.
    #[inline]
    unsafe fn lisp_value(&mut self, object: Obj, class: Type) -> Result<()> {
        let names = self.dialect.found.names;
        // SAFETY: by the contract alive; that it is of a class is seen before its memory is read.
        unsafe {
            if class == names.symbol.get().cast() {
                return self.symbol_object(&Bound::from_borrowed_ptr(self.py, object));
            }
            if class == names.cons.get().cast() {
                return self.conses(object);
            }
            if class == names.record.get().cast() {
                return self.record(object);
            }
            if class == names.single.get().cast() {
                #[allow(clippy::cast_possible_truncation)]
                self.w.form(LispForm::Single(float::value(object) as f32));
                return Ok(());
            }
            if class == addr_of_mut!(ffi::PyLong_Type) {
                return self.bignum(object);
            }
            if object == names.unbound.get() {
                self.w.form(LispForm::Unbound);
                return Ok(());
            }
            match self.form_of(class)? {
                ClassForm::Mapped(mapped) => self.mapped(object, &mapped),
                ClassForm::Lowered => self.by_lowering(object, class),
            }
        }
    }

    /// An int that is told by its object: one of more than 64 bits.
    ///
    /// # Safety
    /// `object` is an int.
    #[cold]
    unsafe fn bignum(&mut self, object: Obj) -> Result<()> {
        // SAFETY: the contract is the same.
        let bytes = unsafe { int::bytes(object) }.ok_or_else(raised)?;
        self.w.bigint(&bytes);
        Ok(())
    }

    fn form_of(&mut self, class: Type) -> Result<ClassForm> {
        let (py, key) = (self.py, class as usize);
        if let Some((_, known)) = self.dialect.found.last.as_ref().filter(|last| last.0 == key) {
            return Ok(known.clone());
        }
        let known = self.dialect.found.classes.get(&key).cloned();
        let form = match known {
            Some(known) => known,
            None => {
                // SAFETY: the class of a live object.
                let bound = unsafe { Bound::from_borrowed_ptr(py, class.cast()) };
                let answer = call(py, &self.dialect.found.names.class_of, (&bound,))?;
                let form = match answer.is_none() {
                    true => ClassForm::Lowered,
                    false => {
                        let (of_type, fields): (Bound<'_, PyAny>, Bound<'_, PyTuple>) = answer.extract()?;
                        let info = self.info_of(&of_type)?;
                        // SAFETY: the GIL is held, and so is the class.
                        let plan = unsafe { plan::of(py, class)? };
                        let mut names = Vec::new();
                        for field in &fields {
                            let mut name = owned(&field).into_raw();
                            // SAFETY: a string of ours; interning may replace it by an equal one.
                            names.push(unsafe {
                                ffi::PyUnicode_InternInPlace(&mut name);
                                Owned::new(name).ok_or_else(raised)?
                            });
                        }
                        let offset = |name: &Owned| {
                            let slot = plan.slots.iter().find(|slot| slot.name.get() == name.get());
                            slot.map(|slot| slot.offset)
                        };
                        let offsets = names.iter().map(offset).collect::<Option<Vec<_>>>();
                        ClassForm::Mapped(Rc::new(Mapped { info, names, offsets }))
                    }
                };
                self.dialect.found.classes.insert(key, form.clone());
                self.dialect.found.kept.push(owned(&bound));
                form
            }
        };
        self.dialect.found.last = Some((key, form.clone()));
        Ok(form)
    }

    /// An instance of a mapped class.
    ///
    /// # Safety
    /// `object` is an instance of the class of that form.
    unsafe fn mapped(&mut self, object: Obj, mapped: &Mapped) -> Result<()> {
        self.begin_object(mapped.info)?;
        let unbound = self.dialect.found.names.unbound.clone();
        let mut parts = Vec::with_capacity(mapped.names.len());
        // SAFETY: by the contract of the class in which the offsets were found.
        unsafe {
            if let Some(offsets) = &mapped.offsets {
                let mut leaves = true;
                for &offset in offsets {
                    let value = state::slot(object, offset);
                    if leaves && !value.is_null() && self.leaf(value, BY_PARENT)? {
                        continue;
                    }
                    leaves = false;
                    parts.push(WorkItem::Value(if value.is_null() { unbound.clone() } else { Owned::borrowed(value) }));
                }
            } else {
                let instance = Bound::from_borrowed_ptr(self.py, object);
                let own = instance.getattr_opt(intern!(self.py, "__dict__"))?;
                let own = own.map(|own| own.cast_into::<PyDict>()).transpose().map_err(PyErr::from)?;
                for name in &mapped.names {
                    let name = held(self.py, name);
                    let name = name.cast::<PyString>().map_err(PyErr::from)?;
                    let value = match reads(&instance, name)? {
                        Reads::Dict => own.as_ref().map(|own| own.get_item(name)).transpose()?.flatten(),
                        Reads::Slot => instance.getattr_opt(name)?,
                        Reads::Code => {
                            self.asks_program()?;
                            instance.getattr_opt(name)?
                        }
                    };
                    parts.push(WorkItem::Value(value.map_or_else(|| unbound.clone(), |value| owned(&value))));
                }
            }
        }
        if !parts.is_empty() {
            self.then(parts);
        }
        Ok(())
    }

    /// # Safety
    /// `object` is a `LispObject`.
    unsafe fn record(&mut self, object: Obj) -> Result<()> {
        let [of_type, values] = self.dialect.found.names.record_slots;
        // SAFETY: by the contract of the class in which the slots were found; an empty slot is null.
        let (of_type, values) = unsafe {
            let [of_type, values] = [of_type, values].map(|offset| state::slot(object, offset));
            if of_type.is_null() || values.is_null() {
                return Err(encode("a LispObject without its type or values"));
            }
            (Bound::from_borrowed_ptr(self.py, of_type), Bound::from_borrowed_ptr(self.py, values))
        };
        let info = self.info_of(&of_type)?;
        let values = values.cast_into::<PyList>().map_err(PyErr::from)?;
        if values.len() != self.dialect.found.infos[info].slots.len() {
            return Err(encode("a LispObject with another number of values than its type has slots"));
        }
        self.begin_object(info)?;
        self.then(values.iter().map(|value| WorkItem::Value(owned(&value))).collect::<Vec<_>>());
        Ok(())
    }

    /// An object that `holdall.lisp` lowers, or refuses.
    ///
    /// # Safety
    /// `object` is alive, of that class.
    unsafe fn by_lowering(&mut self, object: Obj, class: Type) -> Result<()> {
        let py = self.py;
        // SAFETY: by the contract alive; that it is a bytearray or complex is seen by its class.
        unsafe {
            if class == addr_of_mut!(ffi::PyByteArray_Type) {
                let len = ffi::PyByteArray_Size(object) as usize;
                self.w.bytes(std::slice::from_raw_parts(ffi::PyByteArray_AsString(object).cast(), len));
                return Ok(());
            }
            let bound = Bound::from_borrowed_ptr(py, object);
            if let Ok(complex) = bound.cast_exact::<PyComplex>() {
                self.w.form(LispForm::ComplexDouble(complex.real(), complex.imag()));
                return Ok(());
            }
            match call(py, &self.dialect.found.names.lower, (&bound,)) {
                Ok(lowered) => self.lowered(&lowered),
                Err(error) if self.options.enc_hook.is_some() && error.is_instance_of::<EncodeError>(py) => {
                    self.refused(object, "Lisp has no type for it, which needs")
                }
                Err(error) => Err(error.into()),
            }
        }
    }

    /// Writes what `lower` made of an object.
    fn lowered(&mut self, lowered: &Bound<'_, PyAny>) -> Result<()> {
        let lowered = lowered.cast::<PyTuple>().map_err(PyErr::from)?;
        let part = |at: usize| lowered.get_item(at);
        let values = |at: usize| -> Result<Vec<WorkItem>> {
            Ok(part(at)?
                .try_iter()?
                .map(|value| value.map(|value| WorkItem::Value(owned(&value))))
                .collect::<PyResult<_>>()?)
        };
        let element = |at: usize| -> Result<Element> {
            Element::ALL.get(part(at)?.extract::<usize>()?).copied().ok_or_else(|| encode("an unknown element type"))
        };
        match part(0)?.extract::<u8>()? {
            answer::VALUE => self.then(vec![WorkItem::Instead(owned(&part(1)?), false)]),
            answer::VECTOR => {
                let (element, len) = (element(1)?, part(2)?.extract()?);
                let view = View::new(&part(3)?)?;
                self.w.vector(element, len, view.as_slice());
            }
            answer::PACKED => {
                let element = element(1)?;
                let dimensions: std::vec::Vec<usize> = part(2)?.extract()?;
                let view = View::new(&part(3)?)?;
                self.w.packed(element, &dimensions, view.as_slice());
            }
            answer::ARRAY => {
                let dimensions: std::vec::Vec<usize> = part(1)?.extract()?;
                self.w.form(LispForm::Array {
                    fill_pointer: part(2)?.extract()?,
                    adjustable: part(3)?.extract()?,
                    displaced: part(4)?.extract()?,
                    dimensions: &dimensions,
                });
                self.then(values(5)?);
            }
            answer::TABLE => {
                let (count, size) = (part(1)?.extract()?, part(2)?.extract()?);
                self.w.form(LispForm::HashTable { count, size });
                self.then(values(3)?);
            }
            answer::PATHNAME => {
                self.w.form(LispForm::Pathname);
                self.then(values(1)?);
            }
            answer::COMPLEX => {
                self.w.form(LispForm::Complex);
                self.then(values(1)?);
            }
            answer::COMPLEX_SINGLE => {
                let (real, imaginary): (f32, f32) = (part(1)?.extract()?, part(2)?.extract()?);
                self.w.form(LispForm::ComplexSingle(real, imaginary));
            }
            _ => {
                self.w.form(LispForm::Ratio);
                self.then(values(1)?);
            }
        }
        Ok(())
    }
}

/// What reading an attribute reads.
enum Reads {
    /// `__dict__`: a class's own default is no value of the instance.
    Dict,
    Slot,
    /// Code of the class.
    Code,
}

fn reads(instance: &Bound<'_, PyAny>, name: &Bound<'_, PyString>) -> PyResult<Reads> {
    let Some(found) = instance.get_type().getattr_opt(name)? else { return Ok(Reads::Dict) };
    let class = found.get_type();
    // SAFETY: only the address of the type is compared.
    if class.as_type_ptr() == addr_of_mut!(ffi::PyMemberDescr_Type) {
        return Ok(Reads::Slot);
    }
    Ok(if class.hasattr(intern!(instance.py(), "__get__"))? { Reads::Code } else { Reads::Dict })
}

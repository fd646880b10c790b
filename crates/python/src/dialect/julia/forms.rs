//! Objects as `holdall.julia` lowers them: tuples of a word and its operands. Each word has its form.

use super::encode::ToJulia;
use super::types::utf8;
use super::{bound, call};
use crate::cpython::owned;
use crate::cpython::View;
use crate::cpython::{new, Obj, Owned};
use crate::encode::Encoder;
use crate::error::{encode, EncodeError, Result};
use crate::memory::{vec, Vec};
use crate::types::walker::WorkItem;
use holdall_format::model::TypedForm;
use holdall_format::model::TypedWriter;
use pyo3::prelude::*;
use pyo3::types::{PyList, PyString, PyTuple};

/// A lowered object: a word and its operands.
struct LoweredForm<'a, 'py>(&'a Bound<'py, PyTuple>);

impl<'py> LoweredForm<'_, 'py> {
    fn part(&self, at: usize) -> PyResult<Bound<'py, PyAny>> {
        self.0.get_item(at)
    }

    fn value(&self, at: usize) -> PyResult<WorkItem> {
        Ok(WorkItem::Value(owned(&self.part(at)?)))
    }

    /// The items of an operand, one by one.
    fn values(&self, at: usize) -> PyResult<Vec<WorkItem>> {
        self.part(at)?.try_iter()?.map(|item| Ok(WorkItem::Value(owned(&item?)))).collect()
    }

    /// The same as one list, which has no identity.
    fn list(&self, at: usize) -> PyResult<WorkItem> {
        let items = self.part(at)?.try_iter()?.collect::<PyResult<Vec<_>>>()?;
        Ok(WorkItem::Body(owned(PyList::new(self.0.py(), items)?.as_any())))
    }

    fn utf8(&self, at: usize) -> PyResult<Vec<u8>> {
        utf8(self.part(at)?.cast::<PyString>().map_err(PyErr::from)?)
    }
}

impl<W: TypedWriter> Encoder<'_, ToJulia<W>> {
    /// Writes an instance of a type whose fields are these parts.
    pub(super) fn structure(&mut self, object: Owned, of_type: &Owned, parts: Vec<WorkItem>) -> Result<()> {
        match self.type_number(of_type)? {
            Some(number) => {
                let described = self.described(number, false)?;
                self.w.structure(&described, parts.len());
                self.then_for(object, parts);
            }
            None => {
                let values = new::list(self.py)?;
                for part in &parts {
                    if let WorkItem::Value(value) = part {
                        values.append(bound(self.py, value))?;
                    }
                }
                drop(parts);
                self.w.typed_value(TypedForm::Struct);
                self.then_for(object, vec![WorkItem::Value(of_type.clone()), WorkItem::Body(owned(values.as_any()))]);
            }
        }
        Ok(())
    }

    /// Writes an object as `holdall.julia` lowers it.
    pub(super) unsafe fn lowered(&mut self, object: Obj) -> Result<()> {
        let py = self.py;
        let names = self.dialect.lowering.names;
        // SAFETY: callers hold `object` while the hook runs, in a frame or by a reference of their own.
        let lowered = match call(py, &names.lower, (unsafe { Bound::from_borrowed_ptr(py, object) },)) {
            Ok(lowered) => lowered,
            Err(error) if self.options.enc_hook.is_some() && error.is_instance_of::<EncodeError>(py) => {
                // SAFETY: callers hold `object`, as they do for the hook.
                return unsafe { self.unknown(object) };
            }
            Err(error) => return Err(error.into()),
        };
        // SAFETY: callers hold `object`, as they do for the hook.
        unsafe { self.lowered_as(object, &lowered) }
    }

    /// Writes an object that Julia has no type for as the user's hook says; otherwise it is an error.
    unsafe fn unknown(&mut self, object: Obj) -> Result<()> {
        if self.options.enc_hook.is_some() {
            // SAFETY: the callers of `lowered` and `lowered_as` hold `object`.
            return unsafe { self.refused(object, "Julia has no type for it, which needs") };
        }
        // SAFETY: the callers of `lowered` and `lowered_as` hold `object`.
        let class = unsafe { Bound::from_borrowed_ptr(self.py, object) }.get_type();
        let (whole, name) = (class.qualname()?, class.name()?);
        Err(encode(format_args!(
            "can't store `{whole}` for Julia: say which of its types the class stands for, with `holdall.julia.struct('Main.{name}', {name})`"
        )))
    }

    /// Writes an object as the tuple that `holdall.julia` made of it: a word and its operands.
    ///
    /// # Safety
    /// `object` is alive.
    pub(super) unsafe fn lowered_as(&mut self, object: Obj, lowered: &Bound<'_, PyAny>) -> Result<()> {
        if lowered.is_none() {
            // SAFETY: `object` is alive by contract.
            return unsafe { self.unknown(object) };
        }
        // SAFETY: `object` is alive by contract.
        let object = unsafe { Owned::borrowed(object) };
        let form = LoweredForm(lowered.cast::<PyTuple>().map_err(PyErr::from)?);
        let kind = form.part(0)?;
        match kind.extract::<&str>()? {
            "struct" => {
                let values = form.values(2)?;
                self.structure(object, &owned(&form.part(1)?), values)?;
            }
            "set" => self.set(object, &form)?,
            "bits" => self.bits(&form)?,
            "array" => self.array(&form)?,
            "boxed" => self.boxed(&form)?,
            "datatype" => self.datatype(&object, &form)?,
            "symbol" => self.w.symbol(&form.utf8(1)?),
            "svec" => {
                self.w.typed_value(TypedForm::Simple);
                self.then_for(object, vec![form.list(1)?]);
            }
            "unionall" => {
                self.w.typed_value(TypedForm::UnionAll);
                self.then(vec![form.value(1)?, form.value(2)?]);
            }
            "bottom" => self.w.typed_value(TypedForm::Bottom),
            "anonymous" => {
                self.w.typed_value(TypedForm::Anonymous);
                self.then(vec![form.list(2)?, form.value(1)?]);
            }
            "module" => {
                let names = form.part(1)?.try_iter()?;
                let names: Vec<Vec<u8>> =
                    names.map(|name| utf8(name?.cast::<PyString>().map_err(PyErr::from)?)).collect::<PyResult<_>>()?;
                let path: Vec<&[u8]> = names.iter().map(Vec::as_slice).collect();
                self.w.module(&path);
            }
            "value" => self.then(vec![form.value(1)?]),
            "bytes" => self.w.bytes(View::new(&form.part(1)?)?.as_slice()),
            "int32" => self.w.int32(form.part(1)?.extract()?),
            other => return Err(encode(format_args!("`{other}` is no form of Julia's"))),
        }
        Ok(())
    }

    /// Writes a set. Its identity in Julia is that of its table, which is one object wherever the set occurs.
    fn set(&mut self, object: Owned, form: &LoweredForm<'_, '_>) -> Result<()> {
        let table = owned(&form.part(2)?);
        let lowering = &mut self.dialect.lowering;
        let held = || std::array::from_fn(|_| table.clone());
        let [table, ..] = lowering.tables_of_sets.entry(object.get() as usize).or_insert_with(held).clone();
        lowering.values.insert(bound(self.py, &object).get_type().as_ptr() as usize);
        self.keep(object.clone());
        self.structure(object, &owned(&form.part(1)?), vec![WorkItem::Value(table)])
    }

    /// Writes a value of a primitive type as its bytes.
    fn bits(&mut self, form: &LoweredForm<'_, '_>) -> Result<()> {
        let data = form.part(2)?;
        match self.type_number(&owned(&form.part(1)?))? {
            Some(number) => {
                let described = self.described(number, false)?;
                self.w.bits(&described, View::new(&data)?.as_slice());
            }
            None => {
                self.w.typed_value(TypedForm::Struct);
                self.then(vec![form.value(1)?, WorkItem::Octets(owned(&data))]);
            }
        }
        Ok(())
    }

    /// Writes an array whose elements are bytes.
    fn array(&mut self, form: &LoweredForm<'_, '_>) -> Result<()> {
        let data = form.part(3)?;
        match self.type_number(&owned(&form.part(1)?))? {
            Some(number) => {
                let described = self.described(number, false)?;
                let dimensions: std::vec::Vec<usize> = form.part(2)?.extract()?;
                self.w.packed(&described, &dimensions, View::new(&data)?.as_slice());
            }
            None => {
                self.w.typed_value(TypedForm::Array);
                self.then(vec![form.value(1)?, form.list(2)?, WorkItem::Octets(owned(&data))]);
            }
        }
        Ok(())
    }

    /// Writes an array whose elements are values.
    fn boxed(&mut self, form: &LoweredForm<'_, '_>) -> Result<()> {
        match self.type_number(&owned(&form.part(1)?))? {
            Some(number) => {
                let described = self.described(number, false)?;
                let dimensions: std::vec::Vec<usize> = form.part(2)?.extract()?;
                let items = form.values(3)?;
                self.w.boxed(&described, &dimensions, items.len());
                self.then(items);
            }
            None => {
                self.w.typed_value(TypedForm::Array);
                self.then(vec![form.value(1)?, form.list(2)?, form.list(3)?]);
            }
        }
        Ok(())
    }

    /// Writes a type: its description, or its parameters and path.
    fn datatype(&mut self, object: &Owned, form: &LoweredForm<'_, '_>) -> Result<()> {
        match self.type_number(object)? {
            Some(number) => {
                let described = self.described(number, false)?;
                self.w.description(&described);
            }
            None => {
                // Parameters of one bits type are a packed vector.
                let parameters = if form.part(2)?.is_instance_of::<PyTuple>() { form.list(2)? } else { form.value(2)? };
                self.w.typed_value(TypedForm::Type);
                self.then(vec![parameters, form.list(1)?]);
            }
        }
        Ok(())
    }
}

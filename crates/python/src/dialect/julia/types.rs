//! The types of a message that is being written: each is described once, and some go to the back-reference table.
//!
//! BSON.jl keeps a mutable object as one object wherever it occurs, and the type of a mutable struct counts as one: if it is
//! used twice, it goes to the table. Other types are described again wherever they are used.

use crate::cpython::owned;
use crate::cpython::Owned;
use crate::dialect::julia::{bound, Names};
use crate::error::raised;
use crate::error::{encode, Asked, Result};
use crate::memory::{HashMap, Vec};
use holdall_format::julia::{description, reference, Parameter};
use pyo3::ffi;
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyFloat, PyInt, PyString, PyTuple};
use std::rc::Rc;

/// How deep parameters may nest, which are described by recursion.
const MOST_NESTED: usize = 64;

/// The most bytes of a description: types that contain others twice, and so on, would have no end.
const MOST_DESCRIBED: usize = 1 << 20;

#[derive(Debug)]
enum Held {
    Type(u32),
    Int(i64),
    Bool(bool),
    Float(f64),
    Symbol(Vec<u8>),
    Tuple(usize),
}

#[derive(Debug)]
struct Entry {
    path: Vec<Vec<u8>>,
    parameters: Vec<Held>,
    mutable: bool,
    uses: u32,
    /// What instances have as their type: a description, or a reference to it.
    written: Option<Rc<Vec<u8>>>,
}

/// Types by their numbers, which count them in the order of their first use.
#[derive(Debug, Default)]
pub struct Types {
    entries: Vec<Entry>,
    by_object: HashMap<usize, Option<u32>, rustc_hash::FxBuildHasher>,
    by_description: HashMap<Vec<u8>, u32>,
    /// Keeps the types alive, so that no address is used twice.
    objects: Vec<Owned>,
}

/// The bytes of a symbol's name or of a text, as they are stored.
pub fn utf8(text: &Bound<'_, PyString>) -> PyResult<Vec<u8>> {
    match text.to_str() {
        Ok(text) => Ok(Vec::from(text.as_bytes())),
        // Bytes that are not UTF-8 were read as lone surrogates; surrogates beyond those are stored as they are.
        Err(_) => {
            let encoded = match text.call_method1("encode", ("utf-8", "surrogateescape")).if_taken()? {
                Some(encoded) => encoded,
                None => text.call_method1("encode", ("utf-8", "surrogatepass"))?,
            };
            Ok(Vec::from(encoded.cast::<pyo3::types::PyBytes>()?.as_bytes()))
        }
    }
}

impl Types {
    /// The number of a type; `None` if it has parameters that are described by objects of their own.
    pub fn number(&mut self, names: &Names, object: &Bound<'_, PyAny>) -> Result<Option<u32>> {
        self.nested(names, object, 0)
    }

    fn nested(&mut self, names: &Names, object: &Bound<'_, PyAny>, depth: usize) -> Result<Option<u32>> {
        let address = object.as_ptr() as usize;
        if let Some(known) = self.by_object.get(&address) {
            return Ok(*known);
        }
        if depth > MOST_NESTED {
            return Err(encode("can't store a type with parameters nested deeper than 64"));
        }
        let number = self.entry(names, object, depth)?;
        self.by_object.insert(address, number);
        self.objects.push(owned(object));
        Ok(number)
    }

    fn entry(&mut self, names: &Names, object: &Bound<'_, PyAny>, depth: usize) -> Result<Option<u32>> {
        let py = object.py();
        if !object.get_type().is(bound(py, &names.datatype)) {
            return Ok(None);
        }
        let mut path = Vec::new();
        for name in object.getattr("path")?.try_iter()? {
            path.push(utf8(name?.cast::<PyString>().map_err(PyErr::from)?)?);
        }
        let mut parameters = Vec::new();
        for parameter in object.getattr("params")?.try_iter()? {
            if !self.parameter(names, &parameter?, depth + 1, &mut parameters)? {
                return Ok(None);
            }
        }
        let whole: Vec<Vec<u8>> = parameters.iter().map(|held| self.whole(held)).collect();
        let described = description(path.iter().map(Vec::as_slice), &forms(&parameters, &whole));
        if described.len() > MOST_DESCRIBED {
            return Err(encode("can't store a type whose description takes more than 1 MiB"));
        }
        let mutable: bool = object.getattr("is_mutable")?.extract()?;
        if let Some(&known) = self.by_description.get(&described) {
            // Of types that came from a file, only those in its table are known to be mutable.
            self.entries[known as usize].mutable |= mutable;
            return Ok(Some(known));
        }
        let number = self.entries.len() as u32;
        self.entries.push(Entry { path, parameters, mutable, uses: 0, written: None });
        self.by_description.insert(described, number);
        Ok(Some(number))
    }

    /// Takes a parameter apart. `false`: it needs an object of its own.
    fn parameter(
        &mut self,
        names: &Names,
        parameter: &Bound<'_, PyAny>,
        depth: usize,
        held: &mut Vec<Held>,
    ) -> Result<bool> {
        let py = parameter.py();
        held.push(if let Some(number) = self.nested(names, parameter, depth)? {
            Held::Type(number)
        } else if let Ok(value) = parameter.cast_exact::<PyBool>() {
            Held::Bool(value.is_true())
        } else if parameter.is_exact_instance_of::<PyInt>() {
            match parameter.extract().if_taken()? {
                Some(value) => Held::Int(value),
                None => return Ok(false),
            }
        } else if parameter.is_exact_instance_of::<PyFloat>() {
            Held::Float(parameter.extract()?)
        } else if parameter.get_type().is(bound(py, &names.symbol)) {
            Held::Symbol(utf8(parameter.cast::<PyString>().map_err(PyErr::from)?)?)
        } else if let Ok(tuple) = parameter.cast_exact::<PyTuple>() {
            if depth > MOST_NESTED {
                return Err(encode("can't store a type with parameters nested deeper than 64"));
            }
            held.push(Held::Tuple(tuple.len()));
            for item in tuple {
                if !self.parameter(names, &item, depth + 1, held)? {
                    return Ok(false);
                }
            }
            return Ok(true);
        } else {
            return Ok(false);
        });
        Ok(true)
    }

    /// The full description of a parameter that is a type, without any references.
    fn whole(&self, held: &Held) -> Vec<u8> {
        let Held::Type(number) = held else { return Vec::new() };
        let entry = &self.entries[*number as usize];
        let whole: Vec<Vec<u8>> = entry.parameters.iter().map(|held| self.whole(held)).collect();
        description(entry.path.iter().map(Vec::as_slice), &forms(&entry.parameters, &whole))
    }

    /// Counts a use of a type, and of the types that are described with it.
    pub fn count(&mut self, number: u32) {
        let entry = &mut self.entries[number as usize];
        entry.uses = entry.uses.saturating_add(1);
        if entry.mutable && entry.uses > 1 {
            return;
        }
        for at in 0..self.entries[number as usize].parameters.len() {
            if let Held::Type(inner) = self.entries[number as usize].parameters[at] {
                self.count(inner);
            }
        }
    }

    /// How many types go to the table.
    pub fn back_references(&self) -> usize {
        self.entries.iter().filter(|entry| entry.stands_apart()).count()
    }

    /// What instances of a type have as their type. `begin` gives an id to a type that goes to the table.
    pub fn written(&mut self, number: u32, begin: &mut impl FnMut(u32) -> Result<u64>) -> Result<Rc<Vec<u8>>> {
        let entry = &self.entries[number as usize];
        if let Some(written) = &entry.written {
            return Ok(written.clone());
        }
        let written: Rc<Vec<u8>> = match entry.stands_apart() {
            true => Rc::new(reference(begin(number)?)),
            false => Rc::new(self.described(number, begin)?),
        };
        self.entries[number as usize].written = Some(written.clone());
        Ok(written)
    }

    /// The description itself, which may refer to types in the table.
    pub fn described(&mut self, number: u32, begin: &mut impl FnMut(u32) -> Result<u64>) -> Result<Vec<u8>> {
        let mut inner = Vec::new();
        for at in 0..self.entries[number as usize].parameters.len() {
            inner.push(match self.entries[number as usize].parameters[at] {
                Held::Type(held) => Vec::clone(&*self.written(held, begin)?),
                _ => Vec::new(),
            });
        }
        let entry = &self.entries[number as usize];
        Ok(description(entry.path.iter().map(Vec::as_slice), &forms(&entry.parameters, &inner)))
    }
}

impl Entry {
    fn stands_apart(&self) -> bool {
        self.mutable && self.uses > 1
    }
}

fn forms<'a>(parameters: &'a [Held], described: &'a [Vec<u8>]) -> Vec<Parameter<'a>> {
    let form = |(held, described): (&'a Held, &'a Vec<u8>)| match held {
        Held::Type(_) => Parameter::Type(described),
        Held::Int(value) => Parameter::Int(*value),
        Held::Bool(value) => Parameter::Bool(*value),
        Held::Float(value) => Parameter::Float(*value),
        Held::Symbol(name) => Parameter::Symbol(name),
        Held::Tuple(len) => Parameter::Tuple(*len),
    };
    parameters.iter().zip(described).map(form).collect()
}

/// Text that is not UTF-8, which some languages allow: as in Python's file names, other bytes become lone surrogates.
#[cold]
pub fn escaped(bytes: &[u8]) -> Result<Owned> {
    // SAFETY: the GIL is held while a decoder lives; `bytes` are readable for their length.
    unsafe {
        Owned::new(ffi::PyUnicode_DecodeUTF8(bytes.as_ptr().cast(), bytes.len() as isize, c"surrogateescape".as_ptr()))
    }
    .ok_or_else(raised)
}

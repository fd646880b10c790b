//! Julia's values: which Python classes they become, found out by `holdall.julia` once for each type of a message.
//!
//! The walk that writes them is in `encode.rs`; `decode/tagged.rs` builds them.

pub mod arrays;
pub mod back_references;
mod decode;
mod encode;
mod forms;
mod known;
mod lowering;
mod packed;
pub mod tables;
mod typed;
mod types;
pub mod values;

pub use encode::ToJulia;
pub use known::{FromJulia, JuliaReader};
pub use lowering::Lowering;
pub use types::{utf8, Types};

use crate::classes::plan;
use crate::cpython::owned;
use crate::cpython::{float, int, text, Obj, Owned};
use crate::decode::Shared;
use crate::error::{raised, Asked, Result};
use crate::memory::{HashSet, Vec};
use crate::shapes::Shape;
use holdall_format::julia::{Number, NumberValue};
use pyo3::exceptions::PySystemError;
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::PyTuple;
use std::cell::{OnceCell, RefCell};
use std::rc::Rc;
use std::sync::{Mutex, PoisonError};

/// What of `holdall.julia` is called from here, looked up once.
#[derive(Debug)]
pub struct Names {
    pub datatype: Owned,
    pub union_all: Owned,
    pub anonymous: Owned,
    pub bottom: Owned,
    pub module: Owned,
    pub symbol: Owned,
    /// Classes of text that are no names as keys.
    pub other_texts: [Owned; 2],
    pub simple_vector: Owned,
    pub record: Owned,
    /// Where a record has its type and its values.
    pub record_slots: [usize; 2],
    pub int32: Owned,
    pub missing: Owned,
    resolve: Owned,
    permitted: Owned,
    array_of: Owned,
    boxed_dtype: Owned,
    pub items: Owned,
    pub parameters: Owned,
    pub parameters_of_bytes: Owned,
    pub bits: Owned,
    pub pairs: Owned,
    class_of: Owned,
    fields_of: Owned,
    is_made: Owned,
    lower: Owned,
    lower_pairs: Owned,
    table: Owned,
    table_of: Owned,
    is_tag: Owned,
    values: Owned,
}

static NAMES: PyOnceLock<Names> = PyOnceLock::new();

impl Names {
    pub fn get(py: Python<'_>) -> PyResult<&'static Names> {
        NAMES.get_or_try_init(py, || {
            let host = py.import("holdall.julia._host")?;
            let get = |name: &str| host.getattr(name).map(|found| owned(&found));
            let record = host.getattr("JuliaStruct")?;
            // SAFETY: the GIL is held; the class is.
            let plan = unsafe { plan::of(py, record.as_ptr().cast()) }.map_err(|fault| fault.into_py(0))?;
            let slot = |name: &[u8]| {
                // SAFETY: a string that the plan holds.
                let found = plan.slots.iter().find(|slot| unsafe { text::ascii(slot.name.get()) } == Some(name));
                found.map(|slot| slot.offset).ok_or_else(|| PySystemError::new_err("a record without its slots"))
            };
            Ok(Names {
                datatype: get("Type")?,
                union_all: get("UnionAll")?,
                anonymous: get("anonymous")?,
                bottom: get("BOTTOM")?,
                module: get("Module")?,
                symbol: get("Symbol")?,
                other_texts: [get("Char")?, get("SubString")?],
                simple_vector: get("SimpleVector")?,
                record: owned(&record),
                record_slots: [slot(b"type")?, slot(b"values")?],
                int32: get("Int32")?,
                missing: get("missing")?,
                resolve: get("resolve")?,
                permitted: get("permitted")?,
                array_of: get("array_of")?,
                items: get("items")?,
                parameters: get("parameters")?,
                parameters_of_bytes: get("parameters_of_bytes")?,
                bits: get("bits")?,
                boxed_dtype: get("boxed_dtype")?,
                pairs: get("pairs")?,
                class_of: get("class_of")?,
                fields_of: get("fields_of")?,
                is_made: get("is_made")?,
                lower: get("lower")?,
                lower_pairs: get("lower_pairs")?,
                table: get("Dict")?,
                table_of: get("table_of")?,
                is_tag: get("is_tag")?,
                values: get("VALUES")?,
            })
        })
    }
}

/// What loads of Julia's files are told beside all others.
#[derive(Debug)]
pub struct Julia {
    pub names: &'static Names,
    /// The classes that the caller gave, for `resolve`.
    pub types: Owned,
    /// Arrays are views of this object's memory, which begins there; else they are copies.
    pub views: Option<(Owned, usize)>,
    /// TypedValue documents are dicts, as they stand in the file.
    pub raw: bool,
    /// Of a document that is read where it is touched: the objects that stand apart, as far as they were built. What
    /// several members refer to is one object.
    pub shared: Option<Mutex<Vec<Option<Shared>>>>,
    /// Where mappings begin that have to be pairs: a key of theirs was found to be none after others had referred to
    /// them as dicts.
    pairs: Mutex<HashSet<usize>>,
}

impl Julia {
    pub fn new(types: &Bound<'_, PyAny>) -> PyResult<Julia> {
        let names = Names::get(types.py())?;
        let types = owned(&call(types.py(), &names.permitted, (types,))?);
        Ok(Julia { names, types, views: None, raw: false, shared: None, pairs: Mutex::default() })
    }

    /// The same for a document whose members are built one by one: what several refer to is one object.
    pub fn shared_by_members(self) -> Julia {
        Julia { shared: Some(Mutex::default()), ..self }
    }

    /// Whether the mapping that begins there has to be pairs.
    pub fn is_pairs(&self, start: usize) -> bool {
        self.pairs.lock().unwrap_or_else(PoisonError::into_inner).contains(&start)
    }

    pub fn make_pairs(&self, start: usize) {
        self.pairs.lock().unwrap_or_else(PoisonError::into_inner).insert(start);
    }

    /// Has a value built by `once`, and built again where that found mappings to be pairs which others had referred to
    /// as dicts.
    pub fn until_settled<T>(&self, once: impl Fn() -> PyResult<T>) -> PyResult<T> {
        let known = || self.pairs.lock().unwrap_or_else(PoisonError::into_inner).len();
        // All of them are found in one go, but for those that only are there once others are right.
        for _ in 0..MOST_ROUNDS {
            let before = known();
            match once().answer()? {
                Err(_) if known() > before => {}
                settled => return settled,
            }
        }
        once()
    }
}

/// How often a value is built at most.
const MOST_ROUNDS: usize = 3;

impl Julia {
    /// The names of the fields of a type whose instances can be read field by field: a program's own.
    pub fn fields_of(&self, of_type: &Bound<'_, PyAny>) -> PyResult<Option<Vec<String>>> {
        let py = of_type.py();
        let found = call(py, &self.names.fields_of, (of_type, bound(py, &self.types)))?;
        match found.is_none() {
            true => Ok(None),
            false => found.extract::<std::vec::Vec<String>>().map(|names| Some(names.into())),
        }
    }
}

/// The kind of numbers that NumPy has this letter for.
pub fn number_named(letter: &str) -> Number {
    match letter {
        "i" => Number::Signed,
        "u" => Number::Unsigned,
        _ => Number::Float,
    }
}

/// Appends the bytes of an int or a float; says no to what is none, or does not fit.
///
/// # Safety
/// `value` is alive.
pub unsafe fn put_number(kind: Number, value: Obj, size: usize, to: &mut Vec<u8>) -> Result<bool> {
    // SAFETY: alive, as the caller promises; types are looked at before content is.
    unsafe {
        if kind == Number::Float {
            return Ok(float::is(value) && kind.put_float(float::value(value), size, to));
        }
        if !int::is(value) {
            return Ok(false);
        }
        Ok(match int::value(value) {
            Some(value) => kind.put_int(&value.to_le_bytes(), size, to),
            None => kind.put_int(&int::bytes(value).ok_or_else(raised)?, size, to),
        })
    }
}

/// The number of these bytes; `None` where a number of its kind does not have so many.
pub fn read_number(kind: Number, data: &[u8]) -> Result<Option<Owned>> {
    let Some(value) = kind.read(data) else { return Ok(None) };
    // SAFETY: the GIL is held wherever numbers are read.
    let made = unsafe {
        match value {
            NumberValue::Float(value) => float::from_value(value),
            NumberValue::Int(value) => int::from_value(value),
            NumberValue::Signed(bytes) => int::from_bytes(bytes),
            NumberValue::Unsigned(bytes) => {
                let mut unsigned = Vec::with_capacity(bytes.len() + 1);
                unsigned.extend_from_slice(bytes);
                unsigned.push(0);
                int::from_bytes(&unsigned)
            }
        }
    };
    made.map(Some).ok_or_else(raised)
}

/// How values of a type are made.
#[derive(Debug)]
pub enum Class {
    /// A class's instance, its fields by position; the type itself is kept as an attribute, if that has a name. Where
    /// the class is ours, and the fields are others, it is a record.
    Fields { shape: Rc<Shape>, keeps: Option<Owned>, ours: bool },
    /// A record: the type and its values.
    Record,
    /// What a function makes of the type and all values.
    Made(Owned),
    /// A number, of a class of its own.
    Number(Option<Owned>, Number),
    /// What a function makes of the type and its bytes.
    Bits(Owned),
    /// A mapping, which a function makes empty.
    Table(Owned),
}

/// How an array's elements are laid out.
#[derive(Debug)]
pub enum Elements {
    Dtype(Owned),
    /// What a function makes of the type, the bytes and the shape.
    Converted(Owned),
}

/// A type of a message, and how its values are made.
#[derive(Debug)]
pub struct Described {
    pub object: Owned,
    pub class: Class,
    /// The only value of a type without fields.
    pub only: OnceCell<Owned>,
    /// By the bytes of an element.
    elements: RefCell<Vec<(usize, Rc<Elements>)>>,
    /// For a class of a schema: the type's values as its fields in their order.
    pub in_order: RefCell<Vec<(u32, Rc<Shape>)>>,
}

/// What `resolve` may answer, by its first item.
mod answer {
    pub const RECORD: u8 = 0;
    pub const FIELDS: u8 = 1;
    pub const MAKE: u8 = 2;
    pub const NUMBER: u8 = 3;
    pub const BITS: u8 = 4;
    pub const TABLE: u8 = 5;
}

/// What was answered, before the class is looked at.
pub enum Answer<'py> {
    Class(Class),
    Fields { class: Bound<'py, PyAny>, names: Vec<Owned>, keeps: Option<Owned>, ours: bool },
}

impl Described {
    pub fn new(object: Owned, class: Class) -> Described {
        Described { object, class, only: OnceCell::new(), elements: RefCell::default(), in_order: RefCell::default() }
    }

    /// How elements of so many bytes are laid out.
    pub fn elements(&self, py: Python<'_>, julia: &Julia, size: usize) -> PyResult<Rc<Elements>> {
        if let Some((_, known)) = self.elements.borrow().iter().find(|known| known.0 == size) {
            return Ok(known.clone());
        }
        let (dtype, convert): (Bound<'_, PyAny>, Bound<'_, PyAny>) =
            call(py, &julia.names.array_of, (bound(py, &self.object), size, bound(py, &julia.types)))?.extract()?;
        let made = Rc::new(if dtype.is_none() {
            Elements::Converted(owned(&convert))
        } else {
            Elements::Dtype(owned(&dtype))
        });
        self.elements.borrow_mut().push((size, made.clone()));
        Ok(made)
    }

    /// The dtype of arrays that hold objects of the type.
    pub fn boxed_dtype<'py>(&self, py: Python<'py>, julia: &Julia) -> PyResult<Bound<'py, PyAny>> {
        call(py, &julia.names.boxed_dtype, (bound(py, &self.object),))
    }
}

/// Asks `holdall.julia` how values of a type are made.
pub fn resolve<'py>(py: Python<'py>, julia: &Julia, object: &Owned) -> PyResult<Answer<'py>> {
    let given = call(py, &julia.names.resolve, (bound(py, object), bound(py, &julia.types)))?;
    let given = given.cast_into::<PyTuple>()?;
    let part = |at: usize| given.get_item(at);
    let optional = |at: usize| part(at).map(|found| (!found.is_none()).then(|| owned(&found)));
    Ok(Answer::Class(match part(0)?.extract()? {
        answer::RECORD => Class::Record,
        answer::FIELDS => {
            let names = part(2)?.try_iter()?.map(|name| name.map(|name| owned(&name))).collect::<PyResult<_>>()?;
            let ours = part(4)?.is_truthy()?;
            return Ok(Answer::Fields { class: part(1)?, names, keeps: optional(3)?, ours });
        }
        answer::MAKE => Class::Made(owned(&part(1)?)),
        answer::NUMBER => Class::Number(optional(1)?, number_named(part(2)?.extract()?)),
        answer::BITS => Class::Bits(owned(&part(1)?)),
        answer::TABLE => Class::Table(owned(&part(1)?)),
        other => {
            return Err(PySystemError::new_err(format!("no answer of `resolve`: {other}")));
        }
    }))
}

pub fn bound<'py>(py: Python<'py>, object: &Owned) -> Bound<'py, PyAny> {
    crate::cpython::held(py, object)
}

/// Calls a function of `holdall.julia`'s.
pub fn call<'py>(
    py: Python<'py>,
    function: &Owned,
    arguments: impl pyo3::call::PyCallArgs<'py>,
) -> PyResult<Bound<'py, PyAny>> {
    bound(py, function).call1(arguments)
}

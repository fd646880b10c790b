//! Julia's values: `holdall.julia` says which Python class a type becomes, once for each type of a message.
//!
//! `encode.rs` writes such values; `values.rs` builds them.

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

/// The objects of `holdall.julia` that are used here, looked up once.
#[derive(Debug)]
pub struct Names {
    pub datatype: Owned,
    pub union_all: Owned,
    pub anonymous: Owned,
    pub bottom: Owned,
    pub module: Owned,
    pub symbol: Owned,
    /// Subclasses of str whose instances are not names as keys.
    pub other_texts: [Owned; 2],
    pub simple_vector: Owned,
    pub record: Owned,
    /// The offsets of the slots where a record has its type and its values.
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
            // SAFETY: the GIL is held, and `record` holds the class.
            let plan = unsafe { plan::of(py, record.as_ptr().cast()) }.map_err(|fault| fault.into_py(0))?;
            let slot = |name: &[u8]| {
                // SAFETY: the plan holds the name, which is a string.
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

/// Options of loading Julia's files, in addition to those of all formats.
#[derive(Debug)]
pub struct Julia {
    pub names: &'static Names,
    /// The classes that the caller permits, for `resolve`.
    pub types: Owned,
    /// The object whose memory arrays are views of, and the memory's address; `None`: arrays are copies.
    pub views: Option<(Owned, usize)>,
    /// Documents with a tag become dicts, as they are in the file.
    pub raw: bool,
    /// For a document that is read lazily: the objects of its back-reference table that were built so far. What several
    /// members refer to is one object.
    pub shared: Option<Mutex<Vec<Option<Shared>>>>,
    /// The offsets of mappings that have to be lists of pairs: a key could not be used in a dict, which was found only
    /// after others had referred to the dict.
    pairs: Mutex<HashSet<usize>>,
}

impl Julia {
    pub fn new(types: &Bound<'_, PyAny>) -> PyResult<Julia> {
        let names = Names::get(types.py())?;
        let types = owned(&call(types.py(), &names.permitted, (types,))?);
        Ok(Julia { names, types, views: None, raw: false, shared: None, pairs: Mutex::default() })
    }

    /// The same for a document whose members are built one by one, but share objects.
    pub fn shared_by_members(self) -> Julia {
        Julia { shared: Some(Mutex::default()), ..self }
    }

    /// Whether the mapping at this offset has to be pairs.
    pub fn is_pairs(&self, start: usize) -> bool {
        self.pairs.lock().unwrap_or_else(PoisonError::into_inner).contains(&start)
    }

    pub fn make_pairs(&self, start: usize) {
        self.pairs.lock().unwrap_or_else(PoisonError::into_inner).insert(start);
    }

    /// Builds a value by `once`, and again if that found mappings that have to be pairs, but to which others had referred
    /// as dicts.
    pub fn until_settled<T>(&self, once: impl Fn() -> PyResult<T>) -> PyResult<T> {
        let known = || self.pairs.lock().unwrap_or_else(PoisonError::into_inner).len();
        // One round finds all of them, except for those that exist only once others are right.
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

/// After this many rounds, the next one counts as it is.
const MOST_ROUNDS: usize = 3;

impl Julia {
    /// The names of the fields of a type that a program has defined, whose instances can be read field by field.
    pub fn fields_of(&self, of_type: &Bound<'_, PyAny>) -> PyResult<Option<Vec<String>>> {
        let py = of_type.py();
        let found = call(py, &self.names.fields_of, (of_type, bound(py, &self.types)))?;
        match found.is_none() {
            true => Ok(None),
            false => found.extract::<std::vec::Vec<String>>().map(|names| Some(names.into())),
        }
    }
}

/// The kind of number that one of NumPy's letters stands for.
pub fn number_named(letter: &str) -> Number {
    match letter {
        "i" => Number::Signed,
        "u" => Number::Unsigned,
        _ => Number::Float,
    }
}

/// Appends the bytes of an int or a float. `false`: it is neither, or does not fit.
///
/// # Safety
/// `value` is alive.
pub unsafe fn put_number(kind: Number, value: Obj, size: usize, to: &mut Vec<u8>) -> Result<bool> {
    // SAFETY: `value` is alive by contract; its type is checked before its content is read.
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

/// The number with these bytes; `None` if numbers of this kind don't have that size.
pub fn read_number(kind: Number, data: &[u8]) -> Result<Option<Owned>> {
    let Some(value) = kind.read(data) else { return Ok(None) };
    // SAFETY: the GIL is held, since only decoders and encoders call this.
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
    /// An instance of a class, its fields by position. `keeps`: the attribute that gets the type. `ours`: the class is one
    /// of `holdall.julia`; a value with another number of fields becomes a record.
    Fields { shape: Rc<Shape>, keeps: Option<Owned>, ours: bool },
    /// A record, from the type and its values.
    Record,
    /// What a function makes from the type and all values.
    Made(Owned),
    /// A number, as an int or float, or of this class.
    Number(Option<Owned>, Number),
    /// What a function makes from the type and its bytes.
    Bits(Owned),
    /// A mapping, which a function creates empty.
    Table(Owned),
}

/// How the elements of an array are laid out.
#[derive(Debug)]
pub enum Elements {
    Dtype(Owned),
    /// What a function makes from the type, the bytes and the shape.
    Converted(Owned),
}

/// A type of a message, and how its values are made.
#[derive(Debug)]
pub struct Described {
    pub object: Owned,
    pub class: Class,
    /// The single value of a type without fields.
    pub only: OnceCell<Owned>,
    /// By the size of an element in bytes.
    elements: RefCell<Vec<(usize, Rc<Elements>)>>,
    /// By class of a schema: how to build it from the type's values in order.
    pub in_order: RefCell<Vec<(u32, Rc<Shape>)>>,
}

/// The first item of what `resolve` returns.
mod answer {
    pub const RECORD: u8 = 0;
    pub const FIELDS: u8 = 1;
    pub const MAKE: u8 = 2;
    pub const NUMBER: u8 = 3;
    pub const BITS: u8 = 4;
    pub const TABLE: u8 = 5;
}

/// The answer of `resolve`, before the class has been examined.
pub enum Answer<'py> {
    Class(Class),
    Fields { class: Bound<'py, PyAny>, names: Vec<Owned>, keeps: Option<Owned>, ours: bool },
}

impl Described {
    pub fn new(object: Owned, class: Class) -> Described {
        Described { object, class, only: OnceCell::new(), elements: RefCell::default(), in_order: RefCell::default() }
    }

    /// How elements of `size` bytes are laid out.
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

    /// The dtype of arrays that hold objects of this type.
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

/// Calls a function of `holdall.julia`.
pub fn call<'py>(
    py: Python<'py>,
    function: &Owned,
    arguments: impl pyo3::call::PyCallArgs<'py>,
) -> PyResult<Bound<'py, PyAny>> {
    bound(py, function).call1(arguments)
}

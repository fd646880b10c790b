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

/// A kind of number, by its bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Number {
    Signed,
    Unsigned,
    Float,
}

impl Number {
    /// By the letter that NumPy has for it.
    pub fn named(letter: &str) -> Number {
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
    pub unsafe fn put(self, value: Obj, size: usize, to: &mut Vec<u8>) -> Result<bool> {
        // SAFETY: alive, says the caller; types are looked at before content is.
        unsafe {
            if self == Number::Float {
                if !float::is(value) || size != size_of::<f64>() {
                    return Ok(false);
                }
                to.extend_from_slice(&float::value(value).to_le_bytes());
                return Ok(true);
            }
            if !int::is(value) {
                return Ok(false);
            }
            let (small, large);
            let bytes: &[u8] = match int::value(value) {
                Some(value) => {
                    small = value.to_le_bytes();
                    &small
                }
                None => {
                    large = int::bytes(value).ok_or_else(raised)?;
                    &large
                }
            };
            let negative = bytes.last().is_some_and(|&byte| byte >= 0x80);
            let sign = if negative { u8::MAX } else { 0 };
            let (low, high) = bytes.split_at(bytes.len().min(size));
            let fits = high.iter().all(|&byte| byte == sign)
                && match self {
                    Number::Signed => low.last().is_none_or(|&byte| (byte >= 0x80) == negative),
                    _ => !negative,
                };
            if fits {
                to.extend_from_slice(low);
                to.resize(to.len() + size - low.len(), sign);
            }
            Ok(fits)
        }
    }

    /// The number of these bytes, the least significant first.
    pub fn read(self, data: &[u8]) -> Result<Option<Owned>> {
        // SAFETY: the GIL is held wherever numbers are read.
        let made = unsafe {
            match (self, data.len()) {
                (Number::Float, 2) => float::from_value(half([data[0], data[1]])),
                (Number::Float, 4) => float::from_value(single([data[0], data[1], data[2], data[3]])),
                (Number::Float, 8) => match data.first_chunk() {
                    Some(bytes) => float::from_value(f64::from_le_bytes(*bytes)),
                    None => return Ok(None),
                },
                (Number::Float, _) | (_, 0) => return Ok(None),
                (_, len) => {
                    let negative = self == Number::Signed && data[len - 1] >= 0x80;
                    let mut bytes = [if negative { u8::MAX } else { 0 }; size_of::<i64>()];
                    match bytes.get_mut(..len) {
                        // The topmost bit of an unsigned one may be no sign.
                        Some(low) if self == Number::Signed || len < size_of::<i64>() => {
                            low.copy_from_slice(data);
                            int::from_value(i64::from_le_bytes(bytes))
                        }
                        _ if self == Number::Signed => int::from_bytes(data),
                        _ => {
                            let mut unsigned = Vec::with_capacity(data.len() + 1);
                            unsigned.extend_from_slice(data);
                            unsigned.push(0);
                            int::from_bytes(&unsigned)
                        }
                    }
                }
            }
        };
        made.map(Some).ok_or_else(raised)
    }
}

/// A number of 32 bits. A conversion would set a bit of some that are none.
fn single(bytes: [u8; 4]) -> f64 {
    let value = f32::from_le_bytes(bytes);
    if value.is_nan() {
        let bits = value.to_bits();
        return not_a_number(bits >> 31 == 1, u64::from(bits & 0x7f_ffff) << 29);
    }
    f64::from(value)
}

fn not_a_number(negative: bool, payload: u64) -> f64 {
    f64::from_bits(u64::from(negative) << 63 | 0x7ff << 52 | payload)
}

/// A number of 16 bits (IEEE 754 binary16).
fn half(bytes: [u8; 2]) -> f64 {
    let bits = u16::from_le_bytes(bytes);
    let sign = if bits >> 15 == 1 { -1.0 } else { 1.0 };
    let (exponent, fraction) = (i32::from(bits >> 10 & 31), f64::from(bits & 1023));
    sign * match exponent {
        0 => fraction * 2f64.powi(-24),
        31 if fraction == 0.0 => f64::INFINITY,
        31 => return not_a_number(bits >> 15 == 1, u64::from(bits & 1023) << 42),
        _ => (1.0 + fraction / 1024.0) * 2f64.powi(exponent - 15),
    }
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
        answer::NUMBER => Class::Number(optional(1)?, Number::named(part(2)?.extract()?)),
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

#[cfg(test)]
mod tests {
    use super::{half, single};

    #[test]
    fn singles() {
        assert_eq!(single(1.5f32.to_le_bytes()), 1.5);
        // One that signals: its payload stays as it is.
        assert_eq!(single([1, 0, 0x80, 0x7f]).to_bits(), 0x7ff0_0000_2000_0000);
        assert_eq!(single([1, 0, 0x80, 0xff]).to_bits(), 0xfff0_0000_2000_0000);
    }

    #[test]
    fn halves() {
        let cases = [
            (0x0000, 0.0),
            (0x3c00, 1.0),
            (0x3e00, 1.5),
            (0xc000, -2.0),
            (0x7bff, 65504.0),
            (0x0001, 5.960464477539063e-8),
            (0x0400, 6.103515625e-5),
            (0x7c00, f64::INFINITY),
            (0xfc00, f64::NEG_INFINITY),
        ];
        for (bits, value) in cases {
            assert_eq!(half(u16::to_le_bytes(bits)), value);
        }
        assert!(half([0, 0x7e]).is_nan());
        assert!(half([0, 0x80]).is_sign_negative());
    }
}

//! Typed values against a schema: the fields of a class by position, numbers and arrays as the schema wants them.

use crate::cpython::owned;
use crate::cpython::{int, new, Owned};
use crate::decode::{Decoder, NO_ID};
use crate::dialect::julia::known::{FromJulia, JuliaReader};
use crate::dialect::julia::values::WRONG_DATA;
use crate::dialect::julia::{bound, read_number, Class as How, Described};
use crate::error::{decode, raised, Result, Step};
use crate::schema::class::Class;
use crate::schema::node::{accepts, Node, Scalar, SeqKind};
use crate::schema::{NodeId, ANY};
use crate::shapes::{Build, Shape};
use crate::types::library::Library;
use holdall_format::model::TypedValue;
use holdall_format::Token;
use pyo3::ffi;
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyComplex, PyFloat, PyFrozenSet, PyInt, PyList, PySet, PyString, PyTuple};
use std::rc::Rc;

/// How many empty lists an array without elements may become.
const MOST_EMPTY: usize = 1 << 16;
/// How deep nested sequences are converted; they are mostly the dimensions of arrays.
const MOST_RESHAPED: usize = 32;

impl<'i, R: JuliaReader<'i>> Decoder<'i, FromJulia<'i, R>> {
    /// Makes or starts a typed value against a node.
    pub(crate) fn typed_by_schema(
        &mut self,
        tagged: TypedValue<'i>,
        node: &'i Node,
        id: NodeId,
    ) -> Result<Option<Owned>> {
        let at = self.here();
        match tagged {
            TypedValue::Tuple(len) => self.typed_sequence(Token::Tuple(len), len, node, id),
            TypedValue::Struct { class, fields } => {
                let described = self.described(class)?;
                if let Some(shape) = self.shape_in_order(&described, node, fields)? {
                    let len = match &shape.build {
                        Build::Typed(typed) => typed.stored(),
                        _ => 0,
                    };
                    return self.begin_typed(&shape, len);
                }
                match (&described.class, &node.map) {
                    (How::Table(_), Some(map)) if fields == 2 && map.kind.known().is_none() => {
                        let nodes = (map.key, map.value);
                        self.looked_at(id, |decoder| decoder.table(&described, nodes))
                    }
                    (How::Made(_), _) if fields == 0 && node.accepts & accepts::NONE != 0 => {
                        let made = self.structure(&described, 0)?;
                        let missing = self.dialect.julia.names.missing.get();
                        match made {
                            // Python's `None` stands for `missing`.
                            // SAFETY: `None` lives as long as the interpreter.
                            Some(made) if made.get() == missing => Ok(Some(unsafe { Owned::borrowed(ffi::Py_None()) })),
                            Some(made) => self.checked_object(made, id, NO_ID).map(Some),
                            None => Err(decode(WRONG_DATA, at)),
                        }
                    }
                    _ => self.looked_at(id, |decoder| decoder.structure(&described, fields)),
                }
            }
            TypedValue::Symbol(name) if node.accepts & accepts::STR != 0 => {
                let text = self.string(name)?;
                self.done(Some(text))
            }
            TypedValue::Int32(value) if node.accepts & accepts::INT != 0 => {
                // SAFETY: the GIL is held while a decoder lives.
                let value = unsafe { int::from_value(value.into()) };
                self.looked_at(id, |decoder| decoder.done(value))
            }
            TypedValue::Bits { class, data } if node.accepts & (accepts::INT | accepts::FLOAT) != 0 => {
                let described = self.described(class)?;
                self.looked_at(id, |decoder| match &described.class {
                    How::Number(_, kind) => {
                        let value = read_number(*kind, data)?.ok_or_else(|| decode(WRONG_DATA, at))?;
                        decoder.done(Some(value))
                    }
                    _ => decoder.bits(&described, data),
                })
            }
            TypedValue::Packed { element, dimensions, data } if node.seq.is_some() && !takes_arrays(node) => self
                .looked_at(id, |decoder| {
                    let made = match decoder.numbers(element, dimensions, data)? {
                        Some(list) => list,
                        None => decoder.packed(element, dimensions, data)?,
                    };
                    decoder.done(Some(made))
                }),
            _ => self.looked_at(id, |decoder| decoder.typed_value(tagged)),
        }
    }

    /// Bytes against a node.
    pub(crate) fn octets_by_schema(&mut self, data: &'i [u8], node: &'i Node, id: NodeId) -> Result<Option<Owned>> {
        let py = self.py;
        self.looked_at(id, |decoder| {
            if takes_arrays(node) {
                return decoder.octets(data);
            }
            let bytes = new::bytes(py, data)?;
            // A list of numbers, if the node wants a sequence and not bytes.
            let is_list = node.seq.is_some() && node.accepts & accepts::BYTES == 0;
            let made = if is_list { listed(bytes.as_any())? } else { owned(bytes.as_any()) };
            decoder.done(Some(made))
        })
    }

    /// A list, tuple, set or array as the sequence that the node wants; other objects unchanged.
    pub(crate) fn reshaped(&self, object: Owned, id: NodeId, depth: usize) -> Result<Owned> {
        let py = self.py;
        let node = self.rules.node(id);
        let Some(seq) = node.seq.as_ref().filter(|_| depth < MOST_RESHAPED && !takes_arrays(node)) else {
            return Ok(object);
        };
        let given = bound(py, &object);
        let values =
            if given.is_instance_of::<PyList>() || given.is_instance_of::<PyTuple>() || given.is_instance_of::<PySet>()
            {
                listed(&given)?
            } else if given.get_type().hasattr(intern!(py, "__array_interface__"))? {
                // An array without elements can become very many empty lists.
                let shape: Vec<usize> = given.getattr(intern!(py, "shape"))?.extract()?;
                let lists = shape.iter().try_fold(1usize, |all, &len| all.checked_mul(len.max(1)));
                if shape.contains(&0) && lists.is_none_or(|lists| lists > MOST_EMPTY) {
                    return Ok(object);
                }
                let list = given.call_method0(intern!(py, "tolist"))?;
                match list.is_exact_instance_of::<PyList>() {
                    true => owned(&list),
                    false => return Ok(object),
                }
            } else {
                return Ok(object);
            };
        let values = bound(py, &values);
        let values = values.cast::<PyList>().map_err(PyErr::from)?;
        let made = new::list(py)?;
        for (at, value) in values.iter().enumerate() {
            let item = match &seq.kind {
                SeqKind::Fixed(items) => items.get(at).copied().unwrap_or(ANY),
                SeqKind::NamedTuple(class) => self.field_node(*class, at),
                _ => seq.items().first().copied().unwrap_or(ANY),
            };
            let value = self.reshaped(owned(&value), item, depth + 1)?;
            let value = self.rules.coerce(item, value).map_err(|fault| fault.within(|| Step::Index(at)))?;
            made.append(bound(py, &value))?;
        }
        Ok(owned(&match &seq.kind {
            SeqKind::List(_) => made.into_any(),
            SeqKind::Tuple(_) | SeqKind::Fixed(_) => made.to_tuple().into_any(),
            SeqKind::Set(_) => py.get_type::<PySet>().call1((made,))?,
            SeqKind::FrozenSet(_) => py.get_type::<PyFrozenSet>().call1((made,))?,
            SeqKind::Deque(_) => Library::Deque.get(py)?.call1((made,))?,
            SeqKind::NamedTuple(class) => match self.rules.schema.map(|schema| &schema.classes[*class as usize]) {
                Some(Class { class: Some(class), fields, .. }) if fields.len() == made.len() => {
                    bound(py, class).call_method1("_make", (made,))?
                }
                _ => made.to_tuple().into_any(),
            },
        }))
    }

    /// Coerces a value to a node: as it is, or else as the builtin that it is an instance of.
    pub(crate) fn as_node(&self, object: Owned, id: NodeId) -> Result<Owned> {
        let object = self.reshaped(object, id, 0)?;
        let record = self.dialect.julia.names.record.get().cast();
        // SAFETY: `object` is an owned reference.
        if unsafe { ffi::Py_TYPE(object.get()) } == record && self.takes_class(id, record) {
            return Ok(object);
        }
        let fault = match self.rules.coerce(id, object.clone()) {
            Err(fault) if fault.is_invalid() => fault,
            done => return done,
        };
        let given = bound(self.py, &object);
        // SAFETY: `object` is an owned reference, of the type just checked; results are new references or null.
        let plain = unsafe {
            if given.is_instance_of::<PyString>() {
                Owned::new(ffi::PyUnicode_FromObject(object.get()))
            } else if given.is_instance_of::<PyInt>() && !given.is_instance_of::<PyBool>() {
                Owned::new(ffi::PyNumber_Long(object.get()))
            } else if given.is_instance_of::<PyFloat>() {
                Owned::new(ffi::PyFloat_FromDouble(ffi::PyFloat_AsDouble(object.get())))
            } else if given.is_instance_of::<PyComplex>() {
                let value = (*object.get().cast::<ffi::PyComplexObject>()).cval;
                Owned::new(ffi::PyComplex_FromDoubles(value.real, value.imag))
            } else {
                return Err(fault);
            }
        };
        let plain = plain.ok_or_else(raised)?;
        if plain.get() == object.get() {
            return Err(fault);
        }
        match self.rules.coerce(id, plain) {
            Err(other) if other.is_invalid() => Err(fault),
            done => done,
        }
    }

    /// Whether the node accepts instances of a class.
    fn takes_class(&self, id: NodeId, class: *mut ffi::PyTypeObject) -> bool {
        let Some(schema) = self.rules.schema else { return false };
        self.rules.node(id).classes.iter().any(|&index| schema.classes[index as usize].is(class))
    }

    fn field_node(&self, class: u32, at: usize) -> NodeId {
        let class = self.rules.schema.and_then(|schema| schema.classes.get(class as usize));
        class.and_then(|class| class.fields.get(at)).map_or(ANY, |field| field.node)
    }

    /// How to build the class that the node wants from a type's values, field by field in order.
    fn shape_in_order(
        &mut self,
        described: &Rc<Described>,
        node: &'i Node,
        fields: usize,
    ) -> Result<Option<Rc<Shape>>> {
        let Some(schema) = self.rules.schema else { return Ok(None) };
        let mapped = match &described.class {
            How::Fields { shape, .. } => shape.plan.as_ref().map(|plan| (plan.class(), shape.clone())),
            How::Record => None,
            _ => return Ok(None),
        };
        let of_tuple = match node.seq.as_ref().map(|seq| &seq.kind) {
            Some(SeqKind::NamedTuple(index)) => Some(*index),
            _ => None,
        };
        let record = self.dialect.julia.names.record.get();
        let candidates = node.classes.iter().copied().chain(of_tuple);
        // A record is wanted, whose slots are not fields of the type.
        if candidates.clone().any(|index| schema.classes[index as usize].is(record.cast())) {
            return Ok(None);
        }
        let (index, shape) = match mapped {
            Some((class, shape)) => match candidates.clone().find(|&index| schema.classes[index as usize].is(class)) {
                Some(index) => (index, Some(shape)),
                None => return Ok(None),
            },
            // Only one class is possible, so its fields are those of the type.
            None => match (self.only_class(node), of_tuple) {
                (Some(index), _) | (None, Some(index)) if candidates.clone().count() == 1 => (index, None),
                _ => return Ok(None),
            },
        };
        if let Some((_, known)) = described.in_order.borrow().iter().find(|known| known.0 == index) {
            self.fits(described, known, fields)?;
            return Ok(Some(known.clone()));
        }
        let stored = match shape {
            Some(shape) => shape,
            None => {
                let names = schema.classes[index as usize].fields.iter().map(|field| field.name.clone()).collect();
                Rc::new(Shape::of_object(names, 0))
            }
        };
        self.fits(described, &stored, fields)?;
        let made = self.positions_shape(&stored, index)?;
        described.in_order.borrow_mut().push((index, made.clone()));
        Ok(Some(made))
    }
}

/// Whether a node wants NumPy arrays unchanged.
fn takes_arrays(node: &Node) -> bool {
    node.scalars.iter().any(|scalar| matches!(scalar, Scalar::Numpy { .. }))
}

/// The items of a sequence as a list.
fn listed(object: &Bound<'_, PyAny>) -> Result<Owned> {
    // SAFETY: `object` is a live reference; the result is a new reference or null.
    unsafe { Owned::new(ffi::PySequence_List(object.as_ptr())) }.ok_or_else(raised)
}

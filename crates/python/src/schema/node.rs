//! A node of a schema: all forms that a value in one place may have.

use super::constraint::Constraints;
use super::{item, optional, NodeId};
use crate::cpython::owned;
use crate::cpython::{Obj, Owned};
use holdall_format::model::KnownType;
use pyo3::ffi;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList, PyTuple};

/// Types whose values a node accepts without looking at them.
pub mod accepts {
    pub const NONE: u32 = 1;
    pub const BOOL: u32 = 2;
    pub const INT: u32 = 4;
    pub const FLOAT: u32 = 8;
    pub const STR: u32 = 16;
    pub const BYTES: u32 = 32;
    pub const DATETIME: u32 = 64;
    pub const ALL: u32 = 127;
}

#[derive(Debug)]
pub struct Node {
    /// See [`accepts`]: most values need only this test.
    pub accepts: u32,
    pub any: bool,
    /// The name in errors.
    pub name: String,
    /// Tried in order for values that are not in `accepts`.
    pub scalars: Vec<Scalar>,
    pub seq: Option<Seq>,
    pub map: Option<Map>,
    /// Indices into the schema's classes.
    pub classes: Vec<u32>,
    /// How schemaless formats tell classes apart: the key that holds the tag, and the class of each tag.
    pub tag_field: Option<Owned>,
    pub tags: Option<Owned>,
    /// The key that only this class requires.
    pub distinct: Option<Owned>,
    /// The class of objects that keep a value's bytes unread, if the whole place is such an object.
    pub raw: Option<Owned>,
    /// Why formats that store no class names can't load the node; `None` if they can.
    pub ambiguous: Option<String>,
    /// The same for formats that store points in time, UUIDs and decimals as text.
    pub ambiguous_text: Option<String>,
}

#[derive(Debug)]
pub struct Seq {
    pub kind: SeqKind,
    pub min: Option<usize>,
    pub max: Option<usize>,
}

#[derive(Debug)]
pub enum SeqKind {
    List(NodeId),
    Tuple(NodeId),
    Set(NodeId),
    FrozenSet(NodeId),
    Deque(NodeId),
    /// A tuple with a type for each of its items.
    Fixed(Vec<NodeId>),
    /// An index into the schema's classes.
    NamedTuple(u32),
}

impl Seq {
    /// The nodes of the items; none for a named tuple.
    pub fn items(&self) -> &[NodeId] {
        match &self.kind {
            SeqKind::List(item)
            | SeqKind::Tuple(item)
            | SeqKind::Set(item)
            | SeqKind::FrozenSet(item)
            | SeqKind::Deque(item) => std::slice::from_ref(item),
            SeqKind::Fixed(items) => items,
            SeqKind::NamedTuple(_) => &[],
        }
    }

    pub fn name(&self) -> &'static str {
        match self.kind {
            SeqKind::List(_) => "list",
            SeqKind::Tuple(_) | SeqKind::Fixed(_) | SeqKind::NamedTuple(_) => "tuple",
            SeqKind::Set(_) => "set",
            SeqKind::FrozenSet(_) => "frozenset",
            SeqKind::Deque(_) => "deque",
        }
    }
}

#[derive(Debug)]
pub struct Map {
    pub kind: MapKind,
    pub key: NodeId,
    pub value: NodeId,
    pub min: Option<usize>,
    pub max: Option<usize>,
}

#[derive(Debug)]
pub enum MapKind {
    Dict,
    OrderedDict,
    /// With the function that makes missing values.
    DefaultDict(Option<Owned>),
    Counter,
    MappingProxy,
    /// An index into the schema's classes.
    TypedDict(u32),
}

impl MapKind {
    /// The standard library's type that is built empty and then filled; `None` for dicts and wrappers of one.
    pub fn known(&self) -> Option<KnownType> {
        match self {
            MapKind::OrderedDict => Some(KnownType::PythonOrderedDict),
            MapKind::DefaultDict(_) => Some(KnownType::PythonDefaultDict),
            MapKind::Counter => Some(KnownType::PythonCounter),
            MapKind::Dict | MapKind::MappingProxy | MapKind::TypedDict(_) => None,
        }
    }
}

/// A form of a value other than the containers of a schema.
#[derive(Debug)]
pub enum Scalar {
    None,
    Bool,
    Int(Option<Box<Constraints>>),
    Float(Option<Box<Constraints>>),
    Str(Option<Box<Constraints>>),
    Bytes(Option<Box<Constraints>>),
    ByteArray(Option<Box<Constraints>>),
    MemoryView(Option<Box<Constraints>>),
    Complex,
    Decimal(Option<Box<Constraints>>),
    /// Whether it must have a zone (true) or must have none (false).
    DateTime(Option<bool>),
    Date,
    Time(Option<bool>),
    Timedelta,
    Uuid,
    /// An instance of a class, or text that `parse` makes one of.
    Value {
        class: Owned,
        parse: Option<Owned>,
    },
    Enum {
        class: Owned,
        by_value: Owned,
    },
    Literal(Vec<Owned>),
    Numpy {
        dtype: Option<Owned>,
        shape: Option<Owned>,
    },
    /// Made by the user's `dec_hook`.
    Custom {
        annotation: Owned,
        class: Owned,
    },
    /// Made by the function for the value's type; without one, the value itself.
    ByType(Owned),
    /// Made by the registered `decode`.
    Registered {
        class: Owned,
        decode: Owned,
    },
}

impl Node {
    pub const ANY: Node = Node {
        accepts: accepts::ALL,
        any: true,
        name: String::new(),
        scalars: Vec::new(),
        seq: None,
        map: None,
        classes: Vec::new(),
        tag_field: None,
        tags: None,
        distinct: None,
        raw: None,
        ambiguous: None,
        ambiguous_text: None,
    };

    pub fn compile(described: &Bound<'_, PyDict>) -> PyResult<Node> {
        if item(described, "any")? {
            return Ok(Node { name: "Any".to_owned(), ..Node::ANY });
        }
        let scalars: Vec<Scalar> = item::<Bound<'_, PyList>>(described, "scalars")?
            .iter()
            .map(|scalar| Scalar::compile(&scalar.cast_into()?))
            .collect::<PyResult<_>>()?;
        let accepts = scalars.iter().fold(0, |all, scalar| all | scalar.accepts());
        Ok(Node {
            accepts,
            any: false,
            name: item(described, "name")?,
            scalars,
            seq: optional(described, "seq")?.map(|seq| Seq::compile(&seq.cast_into()?)).transpose()?,
            map: optional(described, "map")?.map(|map| Map::compile(&map.cast_into()?)).transpose()?,
            classes: item(described, "classes")?,
            tag_field: optional(described, "tag_field")?.map(|field| owned(&field)),
            tags: match optional(described, "tags")? {
                Some(tags) if tags.is_truthy()? => Some(owned(&tags)),
                _ => None,
            },
            distinct: optional(described, "distinct")?.map(|keys| owned(&keys)),
            ambiguous_text: optional(described, "ambiguous_text")?.map(|why| why.extract()).transpose()?,
            raw: optional(described, "raw")?.map(|class| owned(&class)),
            ambiguous: optional(described, "ambiguous")?.map(|why| why.extract()).transpose()?,
        })
    }

    /// Classes of scalars, which messages may build by name like the schema's own classes.
    pub fn classes_of_scalars(&self) -> impl Iterator<Item = &Owned> {
        self.scalars.iter().filter_map(|scalar| match scalar {
            Scalar::Enum { class, .. }
            | Scalar::Custom { class, .. }
            | Scalar::Registered { class, .. }
            | Scalar::Value { class, .. } => {
                // SAFETY: the node holds the class.
                let is_class = unsafe { ffi::PyType_Check(class.get()) != 0 };
                is_class.then_some(class)
            }
            _ => None,
        })
    }

    pub fn visit(&self, see: &mut impl FnMut(Obj)) {
        for scalar in &self.scalars {
            scalar.visit(see);
        }
        for object in self.tag_field.iter().chain(&self.tags).chain(&self.distinct).chain(&self.raw) {
            see(object.get());
        }
        if let Some(Map { kind: MapKind::DefaultDict(Some(factory)), .. }) = &self.map {
            see(factory.get());
        }
    }
}

impl Seq {
    fn compile(described: &Bound<'_, PyDict>) -> PyResult<Seq> {
        let kind: String = item(described, "kind")?;
        let kind = match kind.as_str() {
            "list" => SeqKind::List(item(described, "item")?),
            "tuple" => SeqKind::Tuple(item(described, "item")?),
            "set" => SeqKind::Set(item(described, "item")?),
            "frozenset" => SeqKind::FrozenSet(item(described, "item")?),
            "deque" => SeqKind::Deque(item(described, "item")?),
            "fixed" => SeqKind::Fixed(item(described, "items")?),
            _ => SeqKind::NamedTuple(item(described, "class")?),
        };
        Ok(Seq { kind, min: length(described, "min")?, max: length(described, "max")? })
    }
}

fn length(described: &Bound<'_, PyDict>, name: &str) -> PyResult<Option<usize>> {
    optional(described, name)?.map(|len| len.extract()).transpose()
}

impl Map {
    fn compile(described: &Bound<'_, PyDict>) -> PyResult<Map> {
        let kind: String = item(described, "kind")?;
        let kind = match kind.as_str() {
            "dict" => MapKind::Dict,
            "OrderedDict" => MapKind::OrderedDict,
            "defaultdict" => MapKind::DefaultDict(optional(described, "factory")?.map(|factory| owned(&factory))),
            "Counter" => MapKind::Counter,
            "mappingproxy" => MapKind::MappingProxy,
            _ => MapKind::TypedDict(item(described, "class")?),
        };
        let (key, value) = match kind {
            MapKind::TypedDict(_) => (super::ANY, super::ANY),
            _ => (item(described, "key")?, item(described, "value")?),
        };
        Ok(Map { kind, key, value, min: length(described, "min")?, max: length(described, "max")? })
    }
}

impl Scalar {
    fn compile(described: &Bound<'_, PyTuple>) -> PyResult<Scalar> {
        let kind: String = described.get_item(0)?.extract()?;
        let part = |at: usize| described.get_item(at);
        let bounds = || match described.len() {
            0 | 1 => Ok(None),
            _ => Constraints::compile(&described.get_item(1)?),
        };
        let given = |at: usize| -> PyResult<Option<Owned>> {
            let part = part(at)?;
            Ok((!part.is_none()).then(|| owned(&part)))
        };
        Ok(match kind.as_str() {
            "none" => Scalar::None,
            "bool" => Scalar::Bool,
            "int" => Scalar::Int(bounds()?),
            "float" => Scalar::Float(bounds()?),
            "str" => Scalar::Str(bounds()?),
            "bytes" => Scalar::Bytes(bounds()?),
            "bytearray" => Scalar::ByteArray(bounds()?),
            "memoryview" => Scalar::MemoryView(bounds()?),
            "complex" => Scalar::Complex,
            "decimal" => Scalar::Decimal(bounds()?),
            "datetime" => Scalar::DateTime(part(1)?.extract()?),
            "date" => Scalar::Date,
            "time" => Scalar::Time(part(1)?.extract()?),
            "timedelta" => Scalar::Timedelta,
            "uuid" => Scalar::Uuid,
            "value" => Scalar::Value { class: owned(&part(1)?), parse: given(2)? },
            "enum" => Scalar::Enum { class: owned(&part(1)?), by_value: owned(&part(2)?) },
            "literal" => {
                let values = part(1)?;
                Scalar::Literal(values.try_iter()?.map(|value| Ok(owned(&value?))).collect::<PyResult<_>>()?)
            }
            "numpy" => Scalar::Numpy { dtype: given(1)?, shape: given(2)? },
            _ => Scalar::Custom { annotation: owned(&part(1)?), class: owned(&part(2)?) },
        })
    }

    /// The types that it accepts without looking at the value.
    fn accepts(&self) -> u32 {
        match self {
            Scalar::None => accepts::NONE,
            Scalar::Bool => accepts::BOOL,
            Scalar::Int(None) => accepts::INT,
            Scalar::Float(None) => accepts::FLOAT,
            Scalar::Str(None) => accepts::STR,
            Scalar::Bytes(None) => accepts::BYTES,
            Scalar::DateTime(None) => accepts::DATETIME,
            _ => 0,
        }
    }

    fn visit(&self, see: &mut impl FnMut(Obj)) {
        let mut show = |objects: &[Option<&Owned>]| objects.iter().flatten().for_each(|object| see(object.get()));
        match self {
            Scalar::Value { class, parse } => show(&[Some(class), parse.as_ref()]),
            Scalar::Enum { class, by_value } => show(&[Some(class), Some(by_value)]),
            Scalar::ByType(functions) => see(functions.get()),
            Scalar::Literal(values) => values.iter().for_each(|value| see(value.get())),
            Scalar::Numpy { dtype, shape } => show(&[dtype.as_ref(), shape.as_ref()]),
            Scalar::Custom { annotation, class } => show(&[Some(annotation), Some(class)]),
            Scalar::Registered { class, decode } => show(&[Some(class), Some(decode)]),
            Scalar::Int(bounds)
            | Scalar::Float(bounds)
            | Scalar::Str(bounds)
            | Scalar::Bytes(bounds)
            | Scalar::ByteArray(bounds)
            | Scalar::MemoryView(bounds)
            | Scalar::Decimal(bounds) => {
                if let Some(bounds) = bounds {
                    bounds.visit(see);
                }
            }
            _ => {}
        }
    }
}

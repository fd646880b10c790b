//! What values are, as an inspect names them.

use crate::model::{BsonValue, KnownType, LispValue, Seq, ShapeKind, Token, TypedValue};
use std::fmt;

/// What a value is: small enough to stand in every open container.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct ValueKind(u8);

macro_rules! kinds {
    ($($name:ident $label:literal,)*) => {
        #[allow(clippy::upper_case_acronyms)]
        #[repr(u8)]
        enum Plain { $($name,)* }
        #[allow(non_upper_case_globals)]
        impl ValueKind { $(pub const $name: ValueKind = ValueKind(Plain::$name as u8);)* }
        const PLAIN: &[&str] = &[$($label,)*];
    };
}

kinds! {
    None "None", Bool "bool", Int "int", Float "float", Complex "complex", Str "str", Bytes "bytes",
    ByteArray "bytearray", Ellipsis "Ellipsis", NotImplemented "NotImplemented",
    List "list", Tuple "tuple", Set "set", FrozenSet "frozenset", Dict "dict",
    Instance "instance", Enum "enum", Reference "reference",
    DateTime "datetime", Extension "ext", Buffer "buffer",
    Global "global", Recipe "reduce", Persistent "persistent id",
    ObjectId "ObjectId", Binary "Binary", Regex "Regex", Pointer "DBPointer", Code "Code", Clock "Timestamp",
    Decimal128 "Decimal128", MinKey "MinKey", MaxKey "MaxKey",
    Simple "SimpleVector", Symbol "Symbol", Int32 "Int32", Type "type", Module "module",
    Cons "cons", Pathname "pathname",
}

impl ValueKind {
    /// How many there are, for tables by [`ValueKind::index`].
    pub const COUNT: usize = PLAIN.len() + KnownType::ALL.len();

    pub fn index(self) -> usize {
        usize::from(self.0)
    }

    pub fn all() -> impl Iterator<Item = ValueKind> {
        (0..ValueKind::COUNT as u8).map(ValueKind)
    }

    pub fn known(known: KnownType) -> ValueKind {
        match known {
            KnownType::Utc => ValueKind::known(KnownType::Timezone),
            _ => ValueKind(PLAIN.len() as u8 + known as u8),
        }
    }

    /// As its language names it.
    pub fn label(self) -> &'static str {
        match PLAIN.get(self.index()) {
            Some(label) => label,
            None => KnownType::ALL.get(self.index() - PLAIN.len()).map_or("", |known| known_label(*known)),
        }
    }

    pub fn of_shape(shape: ShapeKind) -> ValueKind {
        match shape {
            ShapeKind::Dict => ValueKind::Dict,
            ShapeKind::Enum => ValueKind::Enum,
            ShapeKind::Object | ShapeKind::Based | ShapeKind::Custom => ValueKind::Instance,
        }
    }

    /// What a token begins, or is; nothing for a mark.
    pub fn of(token: &Token<'_>) -> Option<ValueKind> {
        Some(match *token {
            Token::AssignId => return None,
            Token::None => ValueKind::None,
            Token::Bool(_) => ValueKind::Bool,
            Token::Int(_) | Token::UInt(_) | Token::BigInt(_) => ValueKind::Int,
            Token::Float(_) => ValueKind::Float,
            Token::Complex(..) => ValueKind::Complex,
            Token::Text(_) => ValueKind::Str,
            Token::Bytes(_) => ValueKind::Bytes,
            Token::ByteArray(_) => ValueKind::ByteArray,
            Token::Ellipsis => ValueKind::Ellipsis,
            Token::NotImplemented => ValueKind::NotImplemented,
            Token::List(_) | Token::Items(_) => ValueKind::List,
            Token::Tuple(_) => ValueKind::Tuple,
            Token::Set(_) => ValueKind::Set,
            Token::FrozenSet(_) => ValueKind::FrozenSet,
            Token::Dict(_) | Token::Members(_) => ValueKind::Dict,
            Token::Ints(seq, _) | Token::Floats(seq, _) | Token::Bools(seq, _) | Token::Texts(seq, ..) => match seq {
                Seq::List => ValueKind::List,
                Seq::Tuple => ValueKind::Tuple,
            },
            // Which of the kinds of a shape, its number says.
            Token::NewShape(_) | Token::Instance(_) => ValueKind::Instance,
            Token::Reference(_) => ValueKind::Reference,
            Token::DateTime { .. } | Token::Timestamp { .. } => ValueKind::DateTime,
            Token::Extension { .. } => ValueKind::Extension,
            Token::BsonValue(special) => match special {
                BsonValue::MinKey => ValueKind::MinKey,
                BsonValue::MaxKey => ValueKind::MaxKey,
                BsonValue::ObjectId(_) => ValueKind::ObjectId,
                BsonValue::Binary { .. } => ValueKind::Binary,
                BsonValue::Regex { .. } => ValueKind::Regex,
                BsonValue::Pointer { .. } => ValueKind::Pointer,
                BsonValue::Code(_) | BsonValue::ScopedCode(_) => ValueKind::Code,
                BsonValue::Long(_) => ValueKind::Int,
                BsonValue::Clock { .. } => ValueKind::Clock,
                BsonValue::Decimal(_) => ValueKind::Decimal128,
                BsonValue::Document(_) => ValueKind::Dict,
            },
            Token::TypedValue(tagged) => match tagged {
                TypedValue::Struct { .. } | TypedValue::Bits { .. } => ValueKind::Instance,
                TypedValue::Packed { .. } | TypedValue::Boxed { .. } => ValueKind::known(KnownType::NumpyArray),
                TypedValue::Tuple(_) => ValueKind::Tuple,
                TypedValue::Simple(_) => ValueKind::Simple,
                TypedValue::Symbol(_) => ValueKind::Symbol,
                TypedValue::Int32(_) => ValueKind::Int32,
                TypedValue::Type { .. } | TypedValue::UnionAll | TypedValue::Bottom | TypedValue::Anonymous => {
                    ValueKind::Type
                }
                TypedValue::Module(_) => ValueKind::Module,
            },
            Token::LispValue(value) => match value {
                LispValue::List(_) => ValueKind::List,
                LispValue::Cons => ValueKind::Cons,
                LispValue::Bignum { .. } => ValueKind::Int,
                LispValue::Ratio => ValueKind::known(KnownType::Fraction),
                LispValue::Single(_) => ValueKind::Float,
                LispValue::Complex | LispValue::ComplexSingle(..) => ValueKind::Complex,
                LispValue::Symbol(_) | LispValue::Uninterned(_) => ValueKind::Symbol,
                LispValue::Object => ValueKind::Instance,
                LispValue::Info { .. } | LispValue::KnownInfo(_) => ValueKind::Type,
                LispValue::Unbound => ValueKind::None,
                LispValue::Vector { .. } | LispValue::Packed { .. } | LispValue::Array(_) => {
                    ValueKind::known(KnownType::NumpyArray)
                }
                LispValue::HashTable { .. } => ValueKind::Dict,
                LispValue::Pathname => ValueKind::Pathname,
            },
            Token::KnownType(known) => ValueKind::known(known),
            Token::Buffer { .. } => ValueKind::Buffer,
            Token::Global => ValueKind::Global,
            Token::Reduce(_) => ValueKind::Recipe,
            Token::Persistent => ValueKind::Persistent,
        })
    }
}

impl fmt::Debug for ValueKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.label())
    }
}

fn known_label(known: KnownType) -> &'static str {
    match known {
        KnownType::Date => "date",
        KnownType::Time => "time",
        KnownType::Timedelta => "timedelta",
        KnownType::Utc | KnownType::Timezone => "timezone",
        KnownType::ZoneInfo => "ZoneInfo",
        KnownType::Decimal => "Decimal",
        KnownType::Fraction => "Fraction",
        KnownType::Uuid => "UUID",
        KnownType::PurePosixPath => "PurePosixPath",
        KnownType::PureWindowsPath => "PureWindowsPath",
        KnownType::PosixPath => "PosixPath",
        KnownType::WindowsPath => "WindowsPath",
        KnownType::IPv4Address => "IPv4Address",
        KnownType::IPv6Address => "IPv6Address",
        KnownType::IPv4Network => "IPv4Network",
        KnownType::IPv6Network => "IPv6Network",
        KnownType::IPv4Interface => "IPv4Interface",
        KnownType::IPv6Interface => "IPv6Interface",
        KnownType::PythonPattern => "Pattern",
        KnownType::PythonRange => "range",
        KnownType::PythonSlice => "slice",
        KnownType::PythonArray => "array.array",
        KnownType::PythonDeque => "deque",
        KnownType::PythonOrderedDict => "OrderedDict",
        KnownType::PythonDefaultDict => "defaultdict",
        KnownType::PythonCounter => "Counter",
        KnownType::PythonMappingProxy => "mappingproxy",
        KnownType::NumpyArray => "array",
        KnownType::NumpyScalar => "scalar",
        KnownType::PythonBuiltinType => "builtin type",
        KnownType::NumpyDtype => "dtype",
    }
}

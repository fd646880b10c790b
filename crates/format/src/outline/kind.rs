//! What values are, as an outline names them.

use crate::model::{Known, LayoutKind, Seq, Special, Tagged, Token};
use std::fmt;

/// What a value is: small enough to stand in every open container.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Kind(u8);

macro_rules! kinds {
    ($($name:ident $label:literal,)*) => {
        #[allow(clippy::upper_case_acronyms)]
        #[repr(u8)]
        enum Plain { $($name,)* }
        #[allow(non_upper_case_globals)]
        impl Kind { $(pub const $name: Kind = Kind(Plain::$name as u8);)* }
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
}

impl Kind {
    /// How many there are, for tables by [`Kind::index`].
    pub const COUNT: usize = PLAIN.len() + Known::ALL.len();

    pub fn index(self) -> usize {
        usize::from(self.0)
    }

    pub fn all() -> impl Iterator<Item = Kind> {
        (0..Kind::COUNT as u8).map(Kind)
    }

    pub fn known(known: Known) -> Kind {
        match known {
            Known::Utc => Kind::known(Known::Timezone),
            _ => Kind(PLAIN.len() as u8 + known as u8),
        }
    }

    /// As its language names it.
    pub fn label(self) -> &'static str {
        match PLAIN.get(self.index()) {
            Some(label) => label,
            None => Known::ALL.get(self.index() - PLAIN.len()).map_or("", |known| known_label(*known)),
        }
    }

    pub fn of_layout(layout: LayoutKind) -> Kind {
        match layout {
            LayoutKind::Dict => Kind::Dict,
            LayoutKind::Enum => Kind::Enum,
            LayoutKind::Object | LayoutKind::Based | LayoutKind::Custom => Kind::Instance,
        }
    }

    /// What a token begins, or is; nothing for a mark.
    pub fn of(token: &Token<'_>) -> Option<Kind> {
        Some(match *token {
            Token::Mark => return None,
            Token::None => Kind::None,
            Token::Bool(_) => Kind::Bool,
            Token::Int(_) | Token::UInt(_) | Token::BigInt(_) => Kind::Int,
            Token::Float(_) => Kind::Float,
            Token::Complex(..) => Kind::Complex,
            Token::Text(_) => Kind::Str,
            Token::Bytes(_) => Kind::Bytes,
            Token::ByteArray(_) => Kind::ByteArray,
            Token::Ellipsis => Kind::Ellipsis,
            Token::NotImplemented => Kind::NotImplemented,
            Token::List(_) | Token::Items(_) => Kind::List,
            Token::Tuple(_) => Kind::Tuple,
            Token::Set(_) => Kind::Set,
            Token::FrozenSet(_) => Kind::FrozenSet,
            Token::Dict(_) | Token::Members(_) => Kind::Dict,
            Token::Ints(seq, _) | Token::Floats(seq, _) | Token::Bools(seq, _) | Token::Texts(seq, ..) => match seq {
                Seq::List => Kind::List,
                Seq::Tuple => Kind::Tuple,
            },
            // Which of the kinds of a layout, its number says.
            Token::NewLayout(_) | Token::Instance(_) => Kind::Instance,
            Token::Reference(_) => Kind::Reference,
            Token::DateTime { .. } | Token::Timestamp { .. } => Kind::DateTime,
            Token::Extension { .. } => Kind::Extension,
            Token::Special(special) => match special {
                Special::MinKey => Kind::MinKey,
                Special::MaxKey => Kind::MaxKey,
                Special::ObjectId(_) => Kind::ObjectId,
                Special::Binary { .. } => Kind::Binary,
                Special::Regex { .. } => Kind::Regex,
                Special::Pointer { .. } => Kind::Pointer,
                Special::Code(_) | Special::ScopedCode(_) => Kind::Code,
                Special::Long(_) => Kind::Int,
                Special::Clock { .. } => Kind::Clock,
                Special::Decimal(_) => Kind::Decimal128,
                Special::Document(_) => Kind::Dict,
            },
            Token::Tagged(tagged) => match tagged {
                Tagged::Struct { .. } | Tagged::Bits { .. } => Kind::Instance,
                Tagged::Packed { .. } | Tagged::Boxed { .. } => Kind::known(Known::NdArray),
                Tagged::Tuple(_) => Kind::Tuple,
                Tagged::Simple(_) => Kind::Simple,
                Tagged::Symbol(_) => Kind::Symbol,
                Tagged::Int32(_) => Kind::Int32,
                Tagged::Type { .. } | Tagged::UnionAll | Tagged::Bottom | Tagged::Anonymous => Kind::Type,
                Tagged::Module(_) => Kind::Module,
            },
            Token::Known(known) => Kind::known(known),
            Token::Buffer { .. } => Kind::Buffer,
            Token::Global => Kind::Global,
            Token::Reduce(_) => Kind::Recipe,
            Token::Persistent => Kind::Persistent,
        })
    }
}

impl fmt::Debug for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.label())
    }
}

fn known_label(known: Known) -> &'static str {
    match known {
        Known::Date => "date",
        Known::Time => "time",
        Known::Timedelta => "timedelta",
        Known::Utc | Known::Timezone => "timezone",
        Known::ZoneInfo => "ZoneInfo",
        Known::Decimal => "Decimal",
        Known::Fraction => "Fraction",
        Known::Uuid => "UUID",
        Known::PurePosixPath => "PurePosixPath",
        Known::PureWindowsPath => "PureWindowsPath",
        Known::PosixPath => "PosixPath",
        Known::WindowsPath => "WindowsPath",
        Known::IPv4Address => "IPv4Address",
        Known::IPv6Address => "IPv6Address",
        Known::IPv4Network => "IPv4Network",
        Known::IPv6Network => "IPv6Network",
        Known::IPv4Interface => "IPv4Interface",
        Known::IPv6Interface => "IPv6Interface",
        Known::Pattern => "Pattern",
        Known::Range => "range",
        Known::Slice => "slice",
        Known::Array => "array.array",
        Known::Deque => "deque",
        Known::OrderedDict => "OrderedDict",
        Known::DefaultDict => "defaultdict",
        Known::Counter => "Counter",
        Known::MappingProxy => "mappingproxy",
        Known::NdArray => "array",
        Known::NumpyScalar => "scalar",
        Known::BuiltinType => "builtin type",
        Known::NumpyDtype => "dtype",
    }
}

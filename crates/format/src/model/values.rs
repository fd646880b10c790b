//! Values of more parts than a token has room to name: what databases have, what languages with types of their own have, and
//! points in time.

use super::Bytes;
use crate::memory::{vec, Vec};

/// A value that databases have, and most hosts no type of their own for. Text is UTF-8; where it is read, not yet checked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BsonValue<'a> {
    /// Below and above all other values.
    MinKey,
    MaxKey,
    ObjectId(&'a [u8; 12]),
    /// Bytes with a meaning.
    Binary {
        subtype: u8,
        data: &'a [u8],
    },
    /// A regular expression, without NUL, and its options, a letter each.
    Regex {
        pattern: &'a [u8],
        options: &'a [u8],
    },
    /// A document of another collection.
    Pointer {
        collection: &'a [u8],
        id: &'a [u8; 12],
    },
    Code(&'a [u8]),
    /// The dict of its variables follows.
    ScopedCode(&'a [u8]),
    /// An int that takes 64 bits whatever its value, where a host wants to tell.
    Long(i64),
    /// A database's own clock: seconds since 1970, and a count within the second.
    Clock {
        seconds: u32,
        count: u32,
    },
    /// A decimal number of 128 bits (IEEE 754-2008, binary integer decimal), little-endian.
    Decimal(&'a [u8; 16]),
    /// A dict that is bytes already. Written, never read.
    Document(&'a [u8]),
}

/// A value whose type is described beside it, as Julia's programs store theirs. Descriptions are values themselves, known by
/// their bytes: each has a number, and [`TypedReader::type_place`](super::TypedReader::type_place) says where it stands.
#[derive(Debug, Clone, Copy)]
pub enum TypedValue<'a> {
    /// An instance: its fields follow, as many, without their names.
    Struct {
        class: usize,
        fields: usize,
    },
    /// A value of a primitive type: its bytes.
    Bits {
        class: usize,
        data: &'a [u8],
    },
    /// An array whose elements have no references: its bytes, the first index running fastest.
    Packed {
        element: usize,
        dimensions: Dimensions<'a>,
        data: &'a [u8],
    },
    /// Any other array: its elements follow, in the same order.
    Boxed {
        element: usize,
        dimensions: Dimensions<'a>,
        len: usize,
    },
    /// That many values follow.
    Tuple(usize),
    /// The same, of the kind that a compiler keeps.
    Simple(usize),
    /// UTF-8, not yet checked.
    Symbol(&'a [u8]),
    /// An int that takes 32 bits by its type.
    Int32(i32),
    /// A type: its parameters follow as one value, if there are any.
    Type {
        path: Path<'a>,
        parameters: bool,
    },
    Module(Path<'a>),
    /// A variable and a body follow.
    UnionAll,
    /// The type without values.
    Bottom,
    /// The type of a function without a name: what it is known by, and its parameters follow.
    Anonymous,
}

impl TypedValue<'_> {
    /// How many values follow.
    pub fn values(&self) -> usize {
        match *self {
            TypedValue::Struct { fields, .. } => fields,
            TypedValue::Boxed { len, .. } | TypedValue::Tuple(len) | TypedValue::Simple(len) => len,
            TypedValue::Type { parameters, .. } => usize::from(parameters),
            TypedValue::UnionAll | TypedValue::Anonymous => 2,
            _ => 0,
        }
    }
}

/// A tagged value of parts that are values themselves, as it is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TypedForm {
    /// Type; fields, as a list, or bytes.
    Struct,
    /// Element type; lengths of dimensions, as a list; elements, as a list, or bytes.
    Array,
    /// A list.
    Simple,
    /// Parameters; names, as a list.
    Type,
    /// Variable; body.
    UnionAll,
    /// Parameters; what the function is known by.
    Anonymous,
    Bottom,
}

/// A value of Common Lisp that no other token stands for.
#[derive(Debug, Clone, Copy)]
pub enum LispValue<'a> {
    /// A list of that many conses: their cars follow, then the last cdr.
    List(usize),
    /// Car and cdr follow.
    Cons,
    /// An integer beyond 64 bits: its magnitude, lowest byte first.
    Bignum {
        negative: bool,
        magnitude: &'a [u8],
    },
    /// Numerator and denominator follow.
    Ratio,
    /// Real and imaginary part follow, rational numbers.
    Complex,
    Single(f32),
    ComplexSingle(f32, f32),
    /// A symbol of that name; the name of its package follows.
    Symbol(Bytes<'a>),
    /// A symbol without a package.
    Uninterned(Bytes<'a>),
    /// What describes it follows ([`LispValue::Info`], [`LispValue::KnownInfo`], or a reference to the first), then as many
    /// values as it has slots.
    Object,
    /// What describes objects: a symbol for their type, then one for each slot follow.
    Info {
        slots: usize,
    },
    /// The same as that [`LispValue::Info`], counted from 1.
    KnownInfo(u64),
    /// The slot has no value.
    Unbound,
    /// A vector of elements without references.
    Vector {
        element: Element,
        len: usize,
        data: &'a [u8],
    },
    /// An array of such elements, the last index running fastest; `len` of them.
    Packed {
        element: Element,
        dimensions: Dimensions<'a>,
        len: usize,
        data: &'a [u8],
    },
    /// Any other array: its element type follows, then its elements; or, if displaced, an offset and another array.
    Array(ArrayHeader<'a>),
    /// Test, rehash threshold, rehash size, synchronized and weakness follow, then that many pairs of key and value.
    HashTable {
        count: usize,
        size: usize,
    },
    /// Host, device, directory, name, type and version follow.
    Pathname,
}

/// A set of offsets in a message: a bit for each byte.
#[derive(Debug, Default)]
pub struct Offsets(Vec<u64>);

impl Offsets {
    /// None of a message of so many bytes.
    pub fn none(len: usize) -> Offsets {
        Offsets(vec![0; len / 64 + 1])
    }

    pub fn insert(&mut self, at: usize) {
        if let Some(bits) = self.0.get_mut(at / 64) {
            *bits |= 1 << (at % 64);
        }
    }

    #[inline]
    pub fn contains(&self, at: usize) -> bool {
        self.0.get(at / 64).is_some_and(|bits| bits >> (at % 64) & 1 == 1)
    }
}

/// An element type of arrays whose elements have no references.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Element {
    Bit,
    BaseChar,
    Character,
    Fixnum,
    Single,
    Double,
    Signed8,
    Signed16,
    Signed32,
    Signed64,
    Unsigned2,
    Unsigned4,
    Unsigned7,
    Unsigned8,
    Unsigned15,
    Unsigned16,
    Unsigned31,
    Unsigned32,
    Unsigned62,
    Unsigned64,
}

impl Element {
    /// In an order that stays the same.
    pub const ALL: [Element; 20] = [
        Element::Bit,
        Element::BaseChar,
        Element::Character,
        Element::Fixnum,
        Element::Single,
        Element::Double,
        Element::Signed8,
        Element::Signed16,
        Element::Signed32,
        Element::Signed64,
        Element::Unsigned2,
        Element::Unsigned4,
        Element::Unsigned7,
        Element::Unsigned8,
        Element::Unsigned15,
        Element::Unsigned16,
        Element::Unsigned31,
        Element::Unsigned32,
        Element::Unsigned62,
        Element::Unsigned64,
    ];
}

/// What an array of Common Lisp is besides its element type and its elements.
#[derive(Debug, Clone, Copy)]
pub struct ArrayHeader<'a> {
    pub fill_pointer: Option<usize>,
    pub adjustable: bool,
    /// Its elements are those of another array.
    pub displaced: bool,
    pub dimensions: Dimensions<'a>,
    /// How many elements the dimensions make.
    pub len: usize,
}

/// Numbers of Common Lisp that stand one behind the other in the same form.
#[derive(Debug, Clone, Copy)]
pub enum LispNumbers<'a> {
    /// A byte each: the number above the least of them, and that least number.
    Small(&'a [u8], u8, i64),
    /// A byte, then the number, little-endian.
    Ints(&'a [[u8; 9]]),
    Floats(&'a [[u8; 9]]),
}

impl LispValue<'_> {
    /// How many values follow. Of an object's its description says how many slots follow: here they are not counted.
    pub fn values(&self) -> u64 {
        match *self {
            LispValue::List(len) => len as u64 + 1,
            LispValue::Cons | LispValue::Ratio | LispValue::Complex => 2,
            LispValue::Symbol(_) | LispValue::Object => 1,
            LispValue::Info { slots } => slots as u64 + 1,
            LispValue::Array(ArrayHeader { displaced: true, .. }) => 3,
            LispValue::Array(ArrayHeader { len, .. }) => len as u64 + 1,
            LispValue::HashTable { count, .. } => 5 + 2 * count as u64,
            LispValue::Pathname => 6,
            _ => 0,
        }
    }
}

/// A value of Common Lisp as it is written: what follows is as for [`LispValue`].
#[derive(Debug, Clone, Copy)]
pub enum LispForm<'a> {
    List(usize),
    Cons,
    Ratio,
    Complex,
    Single(f32),
    ComplexDouble(f64, f64),
    ComplexSingle(f32, f32),
    /// ASCII, as a string of characters of 8 bits.
    BaseString(&'a [u8]),
    Symbol(&'a [u8]),
    Uninterned(&'a [u8]),
    Object,
    Info(usize),
    KnownInfo(u64),
    Unbound,
    Array {
        fill_pointer: Option<usize>,
        adjustable: bool,
        displaced: bool,
        dimensions: &'a [usize],
    },
    HashTable {
        count: usize,
        size: usize,
    },
    Pathname,
    /// The version of the format, before the first value.
    Version,
    /// How many reference ids there will be, for readers that keep them in an array.
    ReferenceCount(usize),
    /// Nothing follows.
    End,
}

/// The lengths of an array's dimensions, to be read by the reader that gave them; and where they stand.
#[derive(Debug, Clone, Copy)]
pub struct Dimensions<'a>(pub &'a [u8], pub usize);

/// Names within names, the outermost first, to be read by [`TypedReader::path`](super::TypedReader::path); and where they stand.
#[derive(Debug, Clone, Copy)]
pub struct Path<'a>(pub &'a [u8], pub usize);

/// Date and time of day, in parts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Moment {
    pub year: u32,
    pub month: u8,
    pub day: u8,
    pub hour: u8,
    pub minute: u8,
    pub second: u8,
    pub microsecond: u32,
    pub fold: bool,
}

impl Moment {
    /// All parts in 61 bits, the most significant first, so that the numbers of two moments of one zone compare as
    /// they do. Parts beyond their ranges run into each other: whoever makes one has checked them.
    pub fn pack(self) -> u64 {
        u64::from(self.year) << 47
            | u64::from(self.month) << 43
            | u64::from(self.day) << 38
            | u64::from(self.hour) << 33
            | u64::from(self.minute) << 27
            | u64::from(self.second) << 21
            | u64::from(self.microsecond) << 1
            | u64::from(self.fold)
    }

    /// Mirror of [`Moment::pack`]; whoever reads one checks the ranges.
    #[allow(clippy::cast_possible_truncation)]
    pub fn unpack(bits: u64) -> Moment {
        Moment {
            year: (bits >> 47) as u32,
            month: (bits >> 43 & 15) as u8,
            day: (bits >> 38 & 31) as u8,
            hour: (bits >> 33 & 31) as u8,
            minute: (bits >> 27 & 63) as u8,
            second: (bits >> 21 & 63) as u8,
            microsecond: (bits >> 1 & 0xf_ffff) as u32,
            fold: bits & 1 == 1,
        }
    }
}

//! Values of more parts than a token has room to name: what databases have, what languages with types of their own have, and
//! points in time.

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

/// The lengths of an array's dimensions, to be read by [`TypedReader::dimensions`](super::TypedReader::dimensions); and where they stand.
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

//! The data model: the only place where hosts and formats meet.
//!
//! A host *writes* by calling a [`Writer`], and *reads* by asking a [`Reader`] for [`Token`]s. A container's token
//! says how many values follow; the host keeps the stack, so that no format ever recurses.

mod never;
mod reader;
mod values;
mod writer;

pub use never::Never;
pub use reader::{ExtentReader, IndexedReader, LispReader, Reader, ShapeReader, TypedReader};
pub use values::{
    ArrayHeader, BsonValue, Dimensions, Element, LispForm, LispNumbers, LispValue, Moment, Offsets, Path, TypedForm,
    TypedValue,
};
pub use writer::{
    BsonWriter, ExtensionWriter, IntRun, LispWriter, ReferenceWriter, RunWriter, ShapeWriter, TimestampWriter,
    TypeWriter, TypedWriter, Writer,
};

/// What a buffer outside the message stands for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OutOfBand {
    /// Itself.
    Writable,
    ReadOnly,
    /// The immutable, or the growing, bytes with its content.
    Bytes,
    ByteArray,
}

/// Which of the two sequences of a host a run belongs to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Seq {
    List,
    Tuple,
}

/// Text as a host holds it. Code units may be lone surrogates.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Text<'a> {
    /// Every byte below 0x80.
    Ascii(&'a [u8]),
    /// A byte a character.
    Latin1(&'a [u8]),
    /// A unit a character: nothing above U+FFFF, surrogates are lone ones.
    Ucs2(&'a [u16]),
    Ucs4(&'a [u32]),
    /// The same as UTF-8, where a host happens to have it; no lone surrogates.
    Utf8(&'a [u8]),
}

/// How an instance is made from what is stored of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ShapeKind {
    /// A dict: the names are its keys.
    Dict,
    /// An instance: the names are its fields.
    Object,
    /// An instance that is also a builtin value: that value comes first, then the fields.
    Based,
    /// A member of an enumeration: its name follows (or its value, where it has no name).
    Enum,
    /// An instance that its class's own functions take apart: what they gave follows.
    Custom,
}

impl ShapeKind {
    /// How many values an instance has, where its shape has that many fields.
    pub fn values(self, fields: usize) -> u64 {
        match self {
            ShapeKind::Dict | ShapeKind::Object => fields as u64,
            ShapeKind::Based => fields as u64 + 1,
            ShapeKind::Enum | ShapeKind::Custom => 1,
        }
    }
}

/// The key list of dicts, or the class and field names of instances: written once, then referred to by number.
///
/// `block` holds the names (a class's own name first), to be read by [`ShapeReader::names`]. Each name that is text gets
/// the next object number without a mark.
#[derive(Debug, Clone, Copy)]
pub struct Shape<'i> {
    pub kind: ShapeKind,
    /// The class's version; 0 for a dict.
    pub version: u64,
    /// How many keys or fields, not counting the class's own name.
    pub fields: usize,
    pub block: &'i [u8],
    /// Where the block begins in the input.
    pub at: usize,
}

/// One name in a shape's block.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Name<'i> {
    Text(Bytes<'i>),
    Reference(u64),
}

/// Text as bytes hold it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Bytes<'i> {
    /// Checked: every byte is below 0x80.
    Ascii(&'i [u8]),
    Latin1(&'i [u8]),
    /// Little-endian pairs.
    Ucs2(&'i [u8]),
    /// UTF-8 in which lone surrogates may be written as three bytes; not yet checked.
    Utf8(&'i [u8]),
    /// UTF-8 as the standard has it, without surrogates; not yet checked.
    StrictUtf8(&'i [u8]),
}

/// How bytes hold text: a [`Bytes`] without its bytes. Functions that aren't inlined take both apart: an enumeration with a slice in
/// it is passed by its address, and every leaf that might be one would have to be kept in memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TextForm {
    Ascii,
    Latin1,
    Ucs2,
    Utf8,
    StrictUtf8,
}

impl<'i> Bytes<'i> {
    #[inline(always)]
    pub fn split(self) -> (TextForm, &'i [u8]) {
        match self {
            Bytes::Ascii(bytes) => (TextForm::Ascii, bytes),
            Bytes::Latin1(bytes) => (TextForm::Latin1, bytes),
            Bytes::Ucs2(bytes) => (TextForm::Ucs2, bytes),
            Bytes::Utf8(bytes) => (TextForm::Utf8, bytes),
            Bytes::StrictUtf8(bytes) => (TextForm::StrictUtf8, bytes),
        }
    }
}

/// A run of integers of one width, little-endian.
#[derive(Debug, Clone, Copy)]
pub enum Ints<'i> {
    I8(&'i [u8]),
    I16(&'i [[u8; 2]]),
    I32(&'i [[u8; 4]]),
    I64(&'i [[u8; 8]]),
}

impl Ints<'_> {
    pub fn len(&self) -> usize {
        match self {
            Ints::I8(run) => run.len(),
            Ints::I16(run) => run.len(),
            Ints::I32(run) => run.len(),
            Ints::I64(run) => run.len(),
        }
    }

    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

/// What a reader finds next.
#[derive(Debug, Clone, Copy)]
pub enum Token<'i> {
    None,
    Bool(bool),
    Int(i64),
    /// Above what [`Token::Int`] holds.
    UInt(u64),
    /// Two's complement, little-endian.
    BigInt(&'i [u8]),
    Float(f64),
    Complex(f64, f64),
    Text(Bytes<'i>),
    Bytes(&'i [u8]),
    ByteArray(&'i [u8]),
    Ellipsis,
    NotImplemented,
    /// That many values follow.
    List(usize),
    /// A list, and a dict of text keys, whose values (or keys and values) follow up to that offset: how many,
    /// [`ExtentReader::count`] says.
    Items(usize),
    Members(usize),
    Tuple(usize),
    Set(usize),
    FrozenSet(usize),
    /// That many pairs of key and value follow.
    Dict(usize),
    Ints(Seq, Ints<'i>),
    Floats(Seq, &'i [[u8; 8]]),
    /// A byte each, 0 or 1.
    Bools(Seq, &'i [u8]),
    /// The length of each text, then all of them joined; checked ASCII, and that the lengths add up.
    Texts(Seq, &'i [u8], &'i [u8]),
    /// A new shape (it gets the next shape number), and an instance of it.
    NewShape(Shape<'i>),
    /// An instance of the shape of that number.
    Instance(usize),
    /// The value that follows gets the next object number.
    AssignId,
    /// The object of that number, again.
    Reference(u64),
    /// Date and time packed by [`Moment::pack`]; a zone follows where `zoned`.
    DateTime {
        bits: u64,
        zoned: bool,
    },
    /// A point in time: since 1970-01-01 UTC, nanoseconds below 1,000,000,000.
    Timestamp {
        seconds: i64,
        nanoseconds: u32,
    },
    /// What the format has no meaning for: an application's own type and its bytes.
    Extension {
        code: i8,
        data: &'i [u8],
    },
    /// A value that databases have.
    BsonValue(BsonValue<'i>),
    /// A value of a language with types of its own.
    TypedValue(TypedValue<'i>),
    /// A value of Common Lisp.
    LispValue(LispValue<'i>),
    /// A type of a standard library; its values follow, as many as its row in the table says.
    KnownType(KnownType),
    /// The buffer of that number, which stands outside the message.
    Buffer {
        number: u64,
        out_of_band: OutOfBand,
    },
    /// Trusted messages only: module and qualified name follow.
    Global,
    /// Trusted messages only: function and arguments follow, then what the flags (see [`reduce`]) say.
    Reduce(u8),
    /// Trusted messages only: an id for the host's own hook follows.
    Persistent,
}

impl Token<'_> {
    /// How many values follow that belong to it. Of an [`Token::Instance`] its shape says that, of [`Token::Items`] and
    /// [`Token::Members`] the reader: here it is 0.
    pub fn values(&self) -> u64 {
        match *self {
            Token::List(len) | Token::Tuple(len) | Token::Set(len) | Token::FrozenSet(len) => len as u64,
            Token::Dict(len) => 2 * len as u64,
            Token::NewShape(shape) => shape.kind.values(shape.fields),
            Token::AssignId | Token::Persistent | Token::BsonValue(BsonValue::ScopedCode(_)) => 1,
            Token::DateTime { zoned, .. } => u64::from(zoned),
            Token::KnownType(known) => known.values() as u64,
            Token::TypedValue(tagged) => tagged.values() as u64,
            Token::LispValue(value) => value.values(),
            Token::Global => 2,
            Token::Reduce(flags) => {
                let (made_of, then) = reduce::values(flags);
                (made_of + then) as u64
            }
            _ => 0,
        }
    }
}

/// What most values are, without all the others: small enough to stay in registers on its way to the host.
#[derive(Debug, Clone, Copy)]
pub enum Leaf<'i> {
    None,
    Bool(bool),
    Int(i64),
    Float(f64),
    Ascii(&'i [u8]),
    /// As [`Bytes::StrictUtf8`].
    Utf8(&'i [u8]),
    /// In another form than those two.
    Text(Bytes<'i>),
    Bytes(&'i [u8]),
    Reference(u64),
    Rare(RareLeaf<'i>),
}

/// A leaf that is less common, or an empty container: with nothing in it that is still to be read.
#[derive(Debug, Clone, Copy)]
pub enum RareLeaf<'i> {
    BigInt(&'i [u8]),
    Complex(f64, f64),
    ByteArray(&'i [u8]),
    EmptyList,
    EmptyTuple,
    EmptyDict,
}

impl<'i> From<Leaf<'i>> for Token<'i> {
    #[inline(always)]
    fn from(leaf: Leaf<'i>) -> Self {
        match leaf {
            Leaf::None => Token::None,
            Leaf::Bool(value) => Token::Bool(value),
            Leaf::Int(value) => Token::Int(value),
            Leaf::Float(value) => Token::Float(value),
            Leaf::Ascii(bytes) => Token::Text(Bytes::Ascii(bytes)),
            Leaf::Utf8(bytes) => Token::Text(Bytes::StrictUtf8(bytes)),
            Leaf::Text(bytes) => Token::Text(bytes),
            Leaf::Bytes(bytes) => Token::Bytes(bytes),
            Leaf::Reference(number) => Token::Reference(number),
            Leaf::Rare(rare) => rare.into(),
        }
    }
}

impl<'i> From<RareLeaf<'i>> for Token<'i> {
    #[inline(always)]
    fn from(leaf: RareLeaf<'i>) -> Self {
        match leaf {
            RareLeaf::BigInt(bytes) => Token::BigInt(bytes),
            RareLeaf::Complex(real, imag) => Token::Complex(real, imag),
            RareLeaf::ByteArray(bytes) => Token::ByteArray(bytes),
            RareLeaf::EmptyList => Token::List(0),
            RareLeaf::EmptyTuple => Token::Tuple(0),
            RareLeaf::EmptyDict => Token::Dict(0),
        }
    }
}

/// Flags of [`Token::Reduce`]: what follows function and arguments, in this order.
pub mod reduce {
    /// The function is a class: make the instance by its allocator with these arguments.
    pub const NEW: u8 = 1;
    /// As [`NEW`], with keyword arguments (a dict) after the arguments.
    pub const NEW_KEYWORDS: u8 = 2;
    /// A list of items to append or extend by.
    pub const ITEMS: u8 = 4;
    /// A list of key-value tuples to set.
    pub const PAIRS: u8 = 8;
    /// A state.
    pub const STATE: u8 = 16;
    /// A function that takes object and state.
    pub const SETTER: u8 = 32;
    /// An object whose arguments hold it: the number of the object that is being made comes first, before the function.
    /// It is made here, and where its own recipe's arguments are complete it is there already.
    pub const AGAIN: u8 = 64;
    pub const ALL: u8 = 127;

    /// How many of a recipe's parts the object is made of, and how many follow those.
    pub fn values(flags: u8) -> (usize, usize) {
        let then = flags & (ITEMS | PAIRS | STATE | SETTER);
        let made_of = flags & (NEW_KEYWORDS | AGAIN);
        (2 + made_of.count_ones() as usize, then.count_ones() as usize)
    }
}

macro_rules! known {
    ($($name:ident,)*) => {
        /// Types of a standard library that have a number of their own instead of a class name.
        #[derive(Debug, Clone, Copy, PartialEq, Eq)]
        pub enum KnownType { $($name,)* }
        impl KnownType {
            pub const ALL: &'static [KnownType] = &[$(KnownType::$name,)*];

            /// Its name in `docs/format.md`, in test vectors and in errors' texts: without the library's.
            pub fn name(self) -> &'static str {
                match self {
                    KnownType::NumpyArray => "NdArray",
                    known => {
                        let name = [$(stringify!($name),)*][known as usize];
                        name.strip_prefix("Python").unwrap_or(name)
                    }
                }
            }
        }
    };
}

known! {
    Date, Time, Timedelta, Utc, Timezone, ZoneInfo,
    Decimal, Fraction, Uuid,
    PurePosixPath, PureWindowsPath, PosixPath, WindowsPath,
    IPv4Address, IPv6Address, IPv4Network, IPv6Network, IPv4Interface, IPv6Interface,
    PythonPattern, PythonRange, PythonSlice, PythonArray,
    PythonDeque, PythonOrderedDict, PythonDefaultDict, PythonCounter, PythonMappingProxy,
    NumpyArray, NumpyScalar, PythonBuiltinType, NumpyDtype,
}

impl KnownType {
    /// How many values follow.
    pub fn values(self) -> usize {
        match self {
            KnownType::Utc => 0,
            KnownType::Time
            | KnownType::Timezone
            | KnownType::Fraction
            | KnownType::PythonPattern
            | KnownType::PythonArray => 2,
            KnownType::PythonDeque | KnownType::PythonDefaultDict | KnownType::NumpyScalar => 2,
            KnownType::PythonRange | KnownType::PythonSlice => 3,
            KnownType::NumpyArray => 4,
            _ => 1,
        }
    }
}

//! The data model: the only place where hosts and formats meet.
//!
//! A host *writes* by calling a [`Writer`], and *reads* by asking a [`Reader`] for [`Token`]s. A container's token
//! says how many values follow; the host keeps the stack, so that no format ever recurses.

mod values;

pub use values::{Form, Moment, Path, Shape, Special, Tagged};

use crate::error::Result;
use crate::memory::Vec;

/// What a buffer outside the message stands for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Lent {
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
pub enum LayoutKind {
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

impl LayoutKind {
    /// How many values an instance has, where its layout has that many fields.
    pub fn values(self, fields: usize) -> u64 {
        match self {
            LayoutKind::Dict | LayoutKind::Object => fields as u64,
            LayoutKind::Based => fields as u64 + 1,
            LayoutKind::Enum | LayoutKind::Custom => 1,
        }
    }
}

/// The key list of dicts, or the class and field names of instances: written once, then referred to by number.
///
/// `block` holds the names (a class's own name first), to be read by [`Reader::names`]. Each name that is text gets
/// the next object number without a mark.
#[derive(Debug, Clone, Copy)]
pub struct Layout<'i> {
    pub kind: LayoutKind,
    /// The class's version; 0 for a dict.
    pub version: u64,
    /// How many keys or fields, not counting the class's own name.
    pub fields: usize,
    pub block: &'i [u8],
    /// Where the block begins in the input.
    pub at: usize,
}

/// One name in a layout's block.
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
    /// [`Reader::count`] says.
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
    /// A new layout (it gets the next layout number), and an instance of it.
    NewLayout(Layout<'i>),
    /// An instance of the layout of that number.
    Instance(usize),
    /// The value that follows gets the next object number.
    Mark,
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
    Special(Special<'i>),
    /// A value of a language with types of its own.
    Tagged(Tagged<'i>),
    /// A type of a standard library; its values follow, as many as its row in the table says.
    Known(Known),
    /// The buffer of that number, which stands outside the message.
    Buffer {
        number: u64,
        lent: Lent,
    },
    /// Trusted messages only: module and qualified name follow.
    Global,
    /// Trusted messages only: function and arguments follow, then what the flags (see [`reduce`]) say.
    Reduce(u8),
    /// Trusted messages only: an id for the host's own hook follows.
    Persistent,
}

impl Token<'_> {
    /// How many values follow that belong to it. Of an [`Token::Instance`] its layout says that, of [`Token::Items`] and
    /// [`Token::Members`] the reader: here it is 0.
    pub fn values(&self) -> u64 {
        match *self {
            Token::List(len) | Token::Tuple(len) | Token::Set(len) | Token::FrozenSet(len) => len as u64,
            Token::Dict(len) => 2 * len as u64,
            Token::NewLayout(layout) => layout.kind.values(layout.fields),
            Token::Mark | Token::Persistent | Token::Special(Special::ScopedCode(_)) => 1,
            Token::DateTime { zoned, .. } => u64::from(zoned),
            Token::Known(known) => known.values() as u64,
            Token::Tagged(tagged) => tagged.values() as u64,
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
    Reference(u64),
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
            Leaf::Reference(number) => Token::Reference(number),
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
        pub enum Known { $($name,)* }
        impl Known {
            pub const ALL: &'static [Known] = &[$(Known::$name,)*];
        }
    };
}

known! {
    Date, Time, Timedelta, Utc, Timezone, ZoneInfo,
    Decimal, Fraction, Uuid,
    PurePosixPath, PureWindowsPath, PosixPath, WindowsPath,
    IPv4Address, IPv6Address, IPv4Network, IPv6Network, IPv4Interface, IPv6Interface,
    Pattern, Range, Slice, Array,
    Deque, OrderedDict, DefaultDict, Counter, MappingProxy,
    NdArray, NumpyScalar, BuiltinType, NumpyDtype,
}

impl Known {
    /// How many values follow.
    pub fn values(self) -> usize {
        match self {
            Known::Utc => 0,
            Known::Time | Known::Timezone | Known::Fraction | Known::Pattern | Known::Array => 2,
            Known::Deque | Known::DefaultDict | Known::NumpyScalar => 2,
            Known::Range | Known::Slice => 3,
            Known::NdArray => 4,
            _ => 1,
        }
    }
}

/// Turns tokens into bytes.
///
/// Nothing here fails where it is called: what a format has no form for, its constants say beforehand; what it can't hold
/// of what it has a form for, [`Writer::refusal`] says in the end. The functions that a constant says no to are never
/// called.
pub trait Writer {
    /// Whether [`Writer::mark`] and [`Writer::reference`] exist.
    const REFERENCES: bool;
    /// Whether [`Writer::layout_begin`] and [`Writer::instance`] exist.
    const LAYOUTS: bool;
    /// Whether runs of one type have a form of their own: [`Writer::ints_begin`] to [`Writer::texts_bytes`].
    const RUNS: bool;
    /// Whether there are forms for tuples, sets, complex numbers, dates and all the [`Known`] types. A plain format has
    /// none, bool, int, float, text, bytes, list, dict and timestamp: a host makes the others of these.
    const TYPES: bool;
    /// Whether keys are text, which [`Writer::key`] writes.
    const TEXT_KEYS: bool;
    /// Whether there are forms for [`Special`] values. Points in time without a zone are in UTC then.
    const SPECIALS: bool;
    /// Whether there are forms for [`Tagged`] values, and what is met again stands apart: in its places, the first too, there
    /// are references, and all such values come at the end.
    const TAGGED: bool = false;

    /// A key of a dict: its value comes next.
    fn key(&mut self, text: Text<'_>) {
        self.text(text);
    }

    fn none(&mut self);
    fn bool(&mut self, value: bool);
    fn int(&mut self, value: i64);
    /// Two's complement, little-endian, no shorter than needed.
    fn bigint(&mut self, bytes: &[u8]);
    fn float(&mut self, value: f64);
    fn text(&mut self, text: Text<'_>);
    fn bytes(&mut self, bytes: &[u8]);
    fn list(&mut self, len: usize);
    fn dict(&mut self, len: usize);

    /// Since 1970-01-01 UTC; nanoseconds below 1,000,000,000.
    fn timestamp(&mut self, _seconds: i64, _nanoseconds: u32) {
        unreachable!("a format without timestamps")
    }

    /// A value that is written already: checked, and taken as it is. Says why not.
    fn encoded(&mut self, _value: &[u8]) -> std::result::Result<(), &'static str> {
        Err("only MessagePack has a form for it")
    }

    fn extension(&mut self, _code: i8, _data: &[u8]) {
        unreachable!("a format without extensions")
    }

    fn special(&mut self, _value: Special<'_>) {
        unreachable!("a format without a database's values")
    }

    /// An instance of the type with that description: its fields come next.
    fn structure(&mut self, _class: &[u8], _fields: usize) {
        unreachable!("{UNTAGGED}")
    }

    /// A value of a primitive type.
    fn bits(&mut self, _class: &[u8], _data: &[u8]) {
        unreachable!("{UNTAGGED}")
    }

    /// An array whose elements have no references.
    fn packed(&mut self, _element: &[u8], _shape: &[usize], _data: &[u8]) {
        unreachable!("{UNTAGGED}")
    }

    /// Any other array: its elements come next.
    fn boxed(&mut self, _element: &[u8], _shape: &[usize], _len: usize) {
        unreachable!("{UNTAGGED}")
    }

    /// A tagged value whose parts are values themselves: they come next, in the order that the form says.
    fn tagged(&mut self, _form: Form) {
        unreachable!("{UNTAGGED}")
    }

    /// A type, as a value: its description.
    fn description(&mut self, _description: &[u8]) {
        unreachable!("{UNTAGGED}")
    }

    fn module(&mut self, _path: &[&[u8]]) {
        unreachable!("{UNTAGGED}")
    }

    fn symbol(&mut self, _name: &[u8]) {
        unreachable!("{UNTAGGED}")
    }

    /// An int that takes 32 bits by its type.
    fn int32(&mut self, _value: i32) {
        unreachable!("{UNTAGGED}")
    }

    /// Text as bytes that need not be UTF-8.
    fn raw_text(&mut self, _bytes: &[u8]) {
        unreachable!("{UNTAGGED}")
    }

    /// From here on, all that was referred to, in the order of numbers from 1 on: `len` values follow.
    fn apart(&mut self, _len: usize) {
        unreachable!("{UNTAGGED}")
    }

    fn complex(&mut self, _real: f64, _imag: f64) {
        unreachable!("{PLAIN}")
    }

    fn bytearray(&mut self, _bytes: &[u8]) {
        unreachable!("{PLAIN}")
    }

    fn ellipsis(&mut self) {
        unreachable!("{PLAIN}")
    }

    fn not_implemented(&mut self) {
        unreachable!("{PLAIN}")
    }

    fn tuple(&mut self, _len: usize) {
        unreachable!("{PLAIN}")
    }

    fn set(&mut self, _len: usize) {
        unreachable!("{PLAIN}")
    }

    fn frozenset(&mut self, _len: usize) {
        unreachable!("{PLAIN}")
    }

    /// Starts a run of `len` integers; all of them are then given, block by block, to [`Writer::ints`].
    fn ints_begin(&mut self, _seq: Seq, _len: usize, _first: &[i64]) -> IntRun {
        unreachable!("a format without runs")
    }

    fn ints(&mut self, _run: &mut IntRun, _block: &[i64]) {
        unreachable!("a format without runs")
    }

    fn floats_begin(&mut self, _seq: Seq, _len: usize) {
        unreachable!("a format without runs")
    }

    fn floats(&mut self, _block: &[f64]) {
        unreachable!("a format without runs")
    }

    fn bools(&mut self, _seq: Seq, _run: &[u8]) {
        unreachable!("a format without runs")
    }

    /// A run of ASCII texts shorter than 256 bytes: all their lengths, then all their bytes.
    fn texts(&mut self, _seq: Seq, _lengths: &[u8]) {
        unreachable!("a format without runs")
    }

    fn texts_bytes(&mut self, _text: &[u8]) {
        unreachable!("a format without runs")
    }

    /// Starts a new layout: its names follow ([`Writer::text`], [`Writer::reference`]; a class's own name first),
    /// then [`Writer::layout_end`], then the first instance.
    fn layout_begin(&mut self, _kind: LayoutKind, _version: u64, _fields: usize) -> usize {
        unreachable!("a format without layouts")
    }

    fn layout_end(&mut self, _block: usize) {
        unreachable!("a format without layouts")
    }

    fn instance(&mut self, _layout: usize) {
        unreachable!("a format without layouts")
    }

    fn mark(&mut self) {
        unreachable!("a format without references")
    }

    /// The same of a text that records after this one may refer to as well.
    fn mark_named(&mut self) {
        self.mark();
    }

    fn reference(&mut self, _number: u64) {
        unreachable!("a format without references")
    }

    fn datetime(&mut self, _bits: u64, _zoned: bool) {
        unreachable!("{PLAIN}")
    }

    fn known(&mut self, _code: Known) {
        unreachable!("{PLAIN}")
    }

    fn buffer(&mut self, _number: u64, _lent: Lent) {
        unreachable!("{PLAIN}")
    }

    fn global(&mut self) {
        unreachable!("{PLAIN}")
    }

    fn reduce(&mut self, _flags: u8) {
        unreachable!("{PLAIN}")
    }

    fn persistent(&mut self) {
        unreachable!("{PLAIN}")
    }

    /// How many bytes there are so far; with [`Writer::rollback`], to take back a run that broke off.
    fn position(&self) -> usize;
    fn rollback(&mut self, position: usize);

    /// What was given that the format can't hold, if anything: what was written is void then.
    fn refusal(&self) -> Option<&'static str> {
        None
    }
}

const PLAIN: &str = "a plain format";
const WHOLE: &str = "a reader that begins at the message's start";
const UNTAGGED: &str = "a format whose values have no types of their own";

/// A run of integers under way: its width grows as its values need it.
#[derive(Debug)]
pub struct IntRun {
    /// Where the run's tag stands.
    pub tag_at: usize,
    /// Where its values begin.
    pub data_at: usize,
    /// log2 of the bytes a value.
    pub width: u8,
    pub seq: Seq,
}

/// Turns bytes into tokens. Borrows from the input and allocates nothing.
pub trait Reader<'i> {
    /// Whether a dict with the same key twice is an error; else the last of them counts.
    const UNIQUE_KEYS: bool;
    /// As [`Writer::TYPES`]: whether types are told apart; else text, lists and dicts may stand for others.
    const TYPES: bool;
    /// As [`Writer::TEXT_KEYS`]: other keys are stored as their text.
    const TEXT_KEYS: bool;
    /// Where a reader is, to go back to.
    type Place: Copy;

    fn next(&mut self) -> Result<Token<'i>>;

    /// Says that the next value is a dict's key: some formats have keys of a form of their own.
    #[inline(always)]
    fn key(&mut self) {}

    /// The next token, if it is one of the small ones; `None` leaves it to [`Reader::next`].
    fn leaf(&mut self) -> Result<Option<Leaf<'i>>>;

    /// The names of a layout, one after the other.
    fn names(&self, _layout: &Layout<'i>) -> impl Iterator<Item = Result<Name<'i>>> {
        std::iter::empty()
    }

    /// The bytes of an ASCII text as a key in its shortest form, for [`Reader::accept`]; none where it can't be a key.
    fn encoded(text: &[u8]) -> Vec<u8>;

    /// Goes on behind the key `encoded` and says yes, if that comes next: one comparison instead of a token.
    fn accept(&mut self, encoded: &[u8]) -> bool;

    /// Bytes from the start of the input to the next token.
    fn offset(&self) -> usize;
    /// The same to the next value itself (or the key, once [`Reader::key`] was called), where something stands before it.
    #[inline(always)]
    fn start(&self) -> usize {
        self.offset()
    }
    /// Bytes that are left. Every value takes at least one: what claims more than that is refused before it costs.
    fn remaining(&self) -> usize;
    /// The bytes that are left, where a value's own bytes are a message of their own.
    fn rest(&self) -> Option<&'i [u8]> {
        None
    }
    fn place(&self) -> Self::Place;
    /// Goes back to a [`Reader::place`] of before.
    fn rewind(&mut self, place: Self::Place);
    /// Checks that nothing is left.
    fn finish(&self) -> Result<()>;

    /// How many values of [`Token::Items`], or pairs of [`Token::Members`], are left up to that offset.
    fn count(&self, _end: usize) -> Result<usize> {
        unreachable!("a format whose lists say how long they are")
    }

    /// Whether there are [`Token::Tagged`], and values that stand apart, to be referred to by number from 1 on.
    const TAGGED: bool = false;

    /// Where the values stand that are referred to, in the order of their numbers.
    fn apart(&mut self) -> Result<Vec<Self::Place>> {
        Ok(Vec::new())
    }

    /// Where the description of the type of that number stands.
    fn type_place(&self, _class: usize) -> Self::Place {
        unreachable!("{UNTAGGED}")
    }

    fn shape(_shape: Shape<'i>) -> impl Iterator<Item = Result<usize>> {
        std::iter::empty()
    }

    fn path(_path: Path<'i>) -> impl Iterator<Item = Result<&'i [u8]>> {
        std::iter::empty()
    }

    /// Whether it may begin anywhere in a message: [`Reader::counts`], [`Reader::place_of`] and [`Reader::layout_of`] know what
    /// stands before and behind, and [`Reader::leaf`] leaves references to [`Reader::next`].
    const PARTIAL: bool = false;

    /// How many objects and layouts were numbered before this place.
    fn counts(&self) -> Result<(u64, u64)> {
        unreachable!("{WHOLE}")
    }

    /// Where the value of the object of that number begins.
    fn place_of(&self, _number: u64) -> Result<Self::Place> {
        unreachable!("{WHOLE}")
    }

    /// The layout of that number, and how many objects were numbered before its names.
    fn layout_of(&self, _number: usize) -> Result<(Layout<'i>, u64)> {
        unreachable!("{WHOLE}")
    }

    /// Skips a whole value, where that needs no knowledge of what was before it (no layouts, no numbers); says no where
    /// it does.
    fn skip(&mut self) -> Result<bool> {
        Ok(false)
    }

    /// Whether the message is of the kind that may name code.
    fn trusted(&self) -> bool {
        false
    }
}

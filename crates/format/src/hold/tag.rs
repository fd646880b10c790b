//! The bytes of the hold format, version 1: the only place where a tag's number is written down.
//!
//! The tables of `docs/format.md` are printed from [`TABLE`] and [`KNOWN`] (`make docs`).

use crate::model::{KnownType, OutOfBand};
use crate::table::tags;
pub use crate::table::Row;

/// First byte of an ordinary message of version 1.
pub const VERSION: u8 = 0xC1;
/// First byte of a trusted message of version 1: one that may name code.
pub const VERSION_TRUSTED: u8 = 0xD1;
/// First byte of a trusted message of version 1 that goes on with those before it, whose objects and shapes it may refer to.
pub const VERSION_CONTINUED: u8 = 0xE1;
/// First byte of what is sealed, version 1: a message or a file with a keyed check around it.
pub const SEALED: u8 = 0xF1;
/// First byte of a sealed log, version 1.
pub const SEALED_LOG: u8 = 0xF2;

tags! {
    INT_FIX        0x00 ..= 0x3F, "none", "int: 0x00-0x2F are 0 to 47, 0x30-0x3F are -16 to -1";
    ASCII_FIX      0x40 ..= 0x6F, "bytes", "ASCII text of 0 to 47 bytes";
    LIST_FIX       0x70 ..= 0x7F, "values", "list of 0 to 15 values";
    TUPLE_FIX      0x80 ..= 0x87, "values", "tuple of 0 to 7 values";
    INSTANCE_FIX   0x88 ..= 0xA7, "values", "instance of shape 0 to 31: a value for each of its fields";
    INSTANCE_8     0xA8 ..= 0xA8, "u8, values", "instance of shape 32 + u8";
    INSTANCE_32    0xA9 ..= 0xA9, "u32, values", "instance of a shape by number";
    NONE           0xAA ..= 0xAA, "none", "None";
    FALSE          0xAB ..= 0xAB, "none", "False";
    TRUE           0xAC ..= 0xAC, "none", "True";
    INT_8          0xAD ..= 0xAD, "i8", "int";
    INT_16         0xAE ..= 0xAE, "i16", "int";
    INT_32         0xAF ..= 0xAF, "i32", "int";
    INT_64         0xB0 ..= 0xB0, "i64", "int";
    INT_BIG        0xB1 ..= 0xB1, "length, bytes", "int: two's complement";
    FLOAT          0xB2 ..= 0xB2, "f64", "float, every bit kept";
    COMPLEX        0xB3 ..= 0xB3, "f64, f64", "complex: real, imaginary";
    ASCII          0xB4 ..= 0xB4, "length, bytes", "ASCII text";
    LATIN_1        0xB5 ..= 0xB5, "length, bytes", "text of characters up to U+00FF, a byte each";
    UCS_2          0xB6 ..= 0xB6, "length, u16 each", "text of characters up to U+FFFF, lone surrogates too; the length counts characters";
    UTF_8          0xB7 ..= 0xB7, "length, bytes", "text as UTF-8, where lone surrogates may stand as three bytes; the length counts bytes";
    BYTES          0xB8 ..= 0xB8, "length, bytes", "bytes";
    BYTEARRAY      0xB9 ..= 0xB9, "length, bytes", "bytearray";
    LIST           0xBA ..= 0xBA, "length, values", "list";
    TUPLE          0xBB ..= 0xBB, "length, values", "tuple";
    DICT           0xBC ..= 0xBC, "length, key and value each", "dict";
    DICT_EMPTY     0xBD ..= 0xBD, "none", "dict without items";
    SET            0xBE ..= 0xBE, "length, values", "set";
    FROZENSET      0xBF ..= 0xBF, "length, values", "frozenset";
    MARK           0xC0 ..= 0xC0, "value", "the value gets the next object id";
    REF_8          0xC1 ..= 0xC1, "u8", "the object with that id again";
    REF_16         0xC2 ..= 0xC2, "u16", "the object with that id again";
    REF_32         0xC3 ..= 0xC3, "u32", "the object with that id again";
    SHAPE          0xC4 ..= 0xC4, "length, length, names, values", "new shape of a dict: how many keys, bytes of the names, the names, then an instance's values";
    CLASS          0xC5 ..= 0xC5, "kind, length, length, length, names, values", "new shape of a class: kind, version, how many fields, bytes of the names, the class's name and its fields' names, then an instance's values";
    ELLIPSIS       0xC6 ..= 0xC6, "none", "Ellipsis";
    NOT_IMPL       0xC7 ..= 0xC7, "none", "NotImplemented";
    LIST_I8        0xC8 ..= 0xC8, "length, i8 each", "list of ints";
    LIST_I16       0xC9 ..= 0xC9, "length, i16 each", "list of ints";
    LIST_I32       0xCA ..= 0xCA, "length, i32 each", "list of ints";
    LIST_I64       0xCB ..= 0xCB, "length, i64 each", "list of ints";
    LIST_F64       0xCC ..= 0xCC, "length, f64 each", "list of floats";
    LIST_BOOL      0xCD ..= 0xCD, "length, u8 each", "list of bools, a byte each: 0 or 1";
    LIST_ASCII     0xCE ..= 0xCE, "length, u8 each, bytes", "list of ASCII texts below 256 bytes: their lengths, then all of them joined";
    TUPLE_I8       0xCF ..= 0xCF, "length, i8 each", "tuple of ints";
    TUPLE_I16      0xD0 ..= 0xD0, "length, i16 each", "tuple of ints";
    TUPLE_I32      0xD1 ..= 0xD1, "length, i32 each", "tuple of ints";
    TUPLE_I64      0xD2 ..= 0xD2, "length, i64 each", "tuple of ints";
    TUPLE_F64      0xD3 ..= 0xD3, "length, f64 each", "tuple of floats";
    TUPLE_BOOL     0xD4 ..= 0xD4, "length, u8 each", "tuple of bools, a byte each: 0 or 1";
    TUPLE_ASCII    0xD5 ..= 0xD5, "length, u8 each, bytes", "tuple of ASCII texts below 256 bytes: their lengths, then all of them joined";
    KNOWN_TYPE     0xD6 ..= 0xD6, "code, values", "a type of the standard library: see its table";
    DATETIME       0xD7 ..= 0xD7, "u64", "datetime without a zone, packed";
    DATETIME_ZONED 0xD8 ..= 0xD8, "u64, value", "datetime, packed, and its zone";
    BUFFER         0xD9 ..= 0xD9, "u8, length", "a buffer outside the message: its form, its number";
    NAMED          0xDA ..= 0xDA, "value", "as MARK, of a text; in a log's record it lasts: section 13";
    RESERVED       0xDB ..= 0xFC, "", "no meaning in version 1: refused";
    GLOBAL         0xFD ..= 0xFD, "value, value", "trusted messages only: module and qualified name of a class or function";
    REDUCE         0xFE ..= 0xFE, "flags, values", "trusted messages only: what `__reduce_ex__` returned";
    PERSISTENT     0xFF ..= 0xFF, "value", "trusted messages only: an id for the reader's own hook";
}

/// The largest length that is its own byte; 252, 253, 254 announce a u16, u32, u64.
pub const LENGTH_FIX: u8 = 251;
pub const LENGTH_16: u8 = 252;
pub const LENGTH_32: u8 = 253;
pub const LENGTH_64: u8 = 254;

/// Smallest and largest int that is its own tag.
pub const INT_FIX_MIN: i64 = -16;
pub const INT_FIX_MAX: i64 = 47;
pub const ASCII_FIX_MAX: usize = 47;
pub const LIST_FIX_MAX: usize = 15;
pub const TUPLE_FIX_MAX: usize = 7;
pub const INSTANCE_FIX_MAX: usize = 31;

/// The kinds of a class shape.
pub const KIND_OBJECT: u8 = 0;
pub const KIND_BASED: u8 = 1;
pub const KIND_ENUM: u8 = 2;
pub const KIND_CUSTOM: u8 = 3;

/// KnownType types: code, type, its values.
pub const KNOWN: &[(u8, KnownType, &str)] = &[
    (1, KnownType::Date, "int: proleptic Gregorian ordinal, 1 is 0001-01-01"),
    (2, KnownType::Time, "int: packed as a datetime's low 38 bits; zone or None"),
    (3, KnownType::Timedelta, "int: microseconds"),
    (4, KnownType::Utc, "none: timezone.utc"),
    (5, KnownType::Timezone, "int: microseconds east of UTC; name or None"),
    (6, KnownType::ZoneInfo, "text: IANA key"),
    (7, KnownType::Decimal, "text: as str() gives it"),
    (8, KnownType::Fraction, "int: numerator; int: denominator"),
    (9, KnownType::Uuid, "bytes: 16, big-endian, and a 17th if it is known: 0 for a safe one, 255 for another"),
    (10, KnownType::PurePosixPath, "text"),
    (11, KnownType::PureWindowsPath, "text"),
    (12, KnownType::PosixPath, "text"),
    (13, KnownType::WindowsPath, "text"),
    (14, KnownType::IPv4Address, "text"),
    (15, KnownType::IPv6Address, "text"),
    (16, KnownType::IPv4Network, "text"),
    (17, KnownType::IPv6Network, "text"),
    (18, KnownType::IPv4Interface, "text"),
    (19, KnownType::IPv6Interface, "text"),
    (20, KnownType::PythonPattern, "text or bytes: the pattern; int: its flags"),
    (21, KnownType::PythonRange, "int: start; int: stop; int: step"),
    (22, KnownType::PythonSlice, "start; stop; step"),
    (23, KnownType::PythonArray, "text: type code; bytes: items, little-endian"),
    (24, KnownType::PythonDeque, "int or None: maxlen; list: items"),
    (25, KnownType::PythonOrderedDict, "dict: items"),
    (26, KnownType::PythonDefaultDict, "None or a class: default factory; dict: items"),
    (27, KnownType::PythonCounter, "dict: items"),
    (28, KnownType::PythonMappingProxy, "dict: what it shows"),
    (29, KnownType::NumpyArray, "text or NumpyDtype: dtype; tuple: shape; bool: Fortran order, or a tuple: read-only, axes; bytes, buffer or list: items"),
    (30, KnownType::NumpyScalar, "text or NumpyDtype: dtype; bytes: the item. Or text: U or S; text or bytes: the item"),
    (31, KnownType::PythonBuiltinType, "text: name of a builtin class, like int or list"),
    (32, KnownType::NumpyDtype, "text; or tuple: base and shape of a subarray; or list: size, flags, then of each field name, offset, title or None, dtype"),
];

const fn code_table() -> [u8; KnownType::ALL.len()] {
    let mut table = [0; KnownType::ALL.len()];
    let mut row = 0;
    while row < KNOWN.len() {
        let (code, known, _) = KNOWN[row];
        assert!(code != 0 && table[known as usize] == 0, "a known type twice, or code 0");
        table[known as usize] = code;
        row += 1;
    }
    let mut index = 0;
    while index < table.len() {
        assert!(table[index] != 0, "a known type without a code");
        index += 1;
    }
    table
}

/// The code of a known type, by its place in the enumeration.
static CODES: [u8; KnownType::ALL.len()] = code_table();

pub fn code(known: KnownType) -> u8 {
    CODES[known as usize]
}

pub fn known(code: u8) -> Option<KnownType> {
    // Codes are dense from 1, which the assertion below holds to.
    KNOWN.get(usize::from(code).wrapping_sub(1)).map(|row| row.1)
}

const _: () = {
    let mut row = 0;
    while row < KNOWN.len() {
        assert!(KNOWN[row].0 as usize == row + 1, "known codes are dense from 1");
        row += 1;
    }
    assert!(LIST_I64 == LIST_I8 + 3 && TUPLE_I64 == TUPLE_I8 + 3, "the widths of a run follow each other");
    assert!(INT_16 == INT_8 + 1 && INT_32 == INT_8 + 2 && INT_64 == INT_8 + 3, "and so do those of an int");
};

/// What a buffer outside the message stands for.
pub const OUT_OF_BAND: &[(u8, OutOfBand, &str)] = &[
    (0, OutOfBand::Writable, "itself"),
    (1, OutOfBand::ReadOnly, "itself, read-only"),
    (2, OutOfBand::Bytes, "bytes"),
    (3, OutOfBand::ByteArray, "bytearray"),
];

pub fn out_of_band_code(out_of_band: OutOfBand) -> u8 {
    OUT_OF_BAND.iter().find(|row| row.1 == out_of_band).map_or(0, |row| row.0)
}

pub fn out_of_band(code: u8) -> Option<OutOfBand> {
    OUT_OF_BAND.get(usize::from(code)).map(|row| row.1)
}

/// A row of the tables of files and frames.
#[derive(Debug)]
pub struct Code {
    pub code: u8,
    pub name: &'static str,
    pub meaning: &'static str,
}

macro_rules! codes {
    ($table:ident: $($name:ident $code:literal, $meaning:literal;)*) => {
        $(#[doc = $meaning] pub const $name: u8 = $code;)*
        pub const $table: &[Code] = &[$(Code { code: $code, name: stringify!($name), meaning: $meaning },)*];
        const _: () = {
            let mut row = 0;
            while row < $table.len() {
                // Zero is padding; four bits hold the others.
                assert!($table[row].code as usize == row + 1 && row < 15, "codes are dense from 1");
                row += 1;
            }
        };
    };
}

codes! { FILES:
    FILE_MESSAGE 1, "one frame: the message";
    FILE_GRAPH 2, "the message, its buffers in order, the index, the end";
    FILE_LOG 3, "records, one after another";
}

codes! { FRAMES:
    MESSAGE 1, "the message";
    BUFFER_FRAME 2, "the next of the message's buffers";
    REST 3, "the continuation of the body of the frame before";
    INDEX 4, "where things are: section 12";
    END 5, "u64: where the index frame begins; u64: bytes of the file, this frame included";
    RECORD 6, "a record of a log: section 13";
    NAMES 7, "what the record before it has named: section 13";
    RESTART 8, "a place where reading a log can begin: section 13";
    KEYS 9, "keys of a large dict, in the order of their hashes: section 12";
    PLACES 10, "what a large index says of a part of the message: section 12";
}

//! The bytes of cl-binary-store's files (its basic codespace, version 1): the only place where a code's number is written
//! down. Numbers are little-endian.
//!
//! Source: what cl-binary-store 1.4.3 writes and reads, <https://github.com/ajberkley/cl-binary-store>.

use crate::model::Element;
use crate::table::tags;
pub use crate::table::Row;

tags! {
    UINT_8            0x00 ..= 0x00, "u8", "integer";
    UINT_16           0x01 ..= 0x01, "u16", "integer";
    UINT_32           0x02 ..= 0x02, "u32", "integer";
    INT_64            0x03 ..= 0x03, "i64", "integer";
    CONS              0x04 ..= 0x04, "car, cdr", "cons";
    NIL               0x05 ..= 0x05, "none", "NIL";
    NEGATED_8         0x06 ..= 0x06, "u8", "integer: the number negated";
    NEGATED_16        0x07 ..= 0x07, "u16", "integer: the number negated";
    NEGATED_32        0x08 ..= 0x08, "u32", "integer: the number negated";
    BIGNUM            0x09 ..= 0x09, "integer, u32 words", "integer: its sign is that of the count, its magnitude the words, lowest first";
    SINGLE_FLOAT      0x0A ..= 0x0A, "f32", "single-float";
    DOUBLE_FLOAT      0x0B ..= 0x0B, "f64", "double-float";
    DOUBLE_ZERO       0x0C ..= 0x0C, "none", "0d0";
    RATIO             0x0D ..= 0x0D, "numerator, denominator", "ratio";
    COMPLEX           0x0E ..= 0x0E, "real, imaginary", "complex of rationals";
    COMPLEX_DOUBLE    0x0F ..= 0x0F, "f64, f64", "(complex double-float)";
    COMPLEX_SINGLE    0x10 ..= 0x10, "f32, f32", "(complex single-float)";
    SYMBOL            0x11 ..= 0x11, "string, package", "symbol; its name is a string without a reference id, its package's name any string";
    UNINTERNED        0x12 ..= 0x12, "string", "symbol without a package";
    OBJECT            0x13 ..= 0x13, "object info, slot values", "structure, object or condition";
    TRUE              0x14 ..= 0x14, "none", "T";
    VECTOR            0x15 ..= 0x15, "length, element type, elements", "specialized vector";
    SIMPLE_VECTOR     0x16 ..= 0x16, "length, values", "simple-vector";
    SIMPLE_ARRAY      0x17 ..= 0x17, "rank u8, dimensions, element type, elements", "specialized array";
    ARRAY             0x18 ..= 0x18, "header, element type, values or offset and array", "any other array";
    OBJECT_INFO       0x19 ..= 0x19, "count, type, slot names; or a negative number", "what describes objects; a negative number is that of an earlier one";
    UNBOUND           0x1A ..= 0x1A, "none", "no value: the slot is unbound";
    PATHNAME          0x1B ..= 0x1B, "host, device, directory, name, type, version", "pathname";
    HASH_TABLE        0x1C ..= 0x1C, "count, size, five values, keys and values", "hash table: test, rehash threshold, rehash size, synchronized, weakness, then the pairs";
    BASE_STRING       0x1D ..= 0x1D, "length, ASCII", "simple-base-string";
    STRING            0x1E ..= 0x1E, "length in bytes, UTF-8", "(simple-array character (*))";
    ACTION            0x1F ..= 0x1F, "u8, and what the action takes", "no value: version, count of references or end";
    LIST              0x20 ..= 0x20, "length, cars, last cdr", "list of that many conses";
    REFERENCE         0x21 ..= 0x21, "integer", "reference, with an id above those of the shorter forms";
    ASSIGN_ID         0x22 ..= 0x22, "value", "the value, which gets the next reference id";
    REFERENCE_FIX     0x23 ..= 0x3F, "none", "reference, ids 1 to 29";
    REFERENCE_8       0x40 ..= 0x7F, "u8", "reference, ids 30 to 16,350";
    REFERENCE_16      0x80 ..= 0xBF, "u16", "reference, ids 16,351 to 4,210,591";
    INTEGER_FIX       0xC0 ..= 0xE0, "none", "integer: -16 to 16";
    USER              0xE1 ..= 0xFF, "", "no meaning without a program's own codespace: refused";
}

/// The integer 0 as its own code; those from [`INTEGER_MIN`] to [`INTEGER_MAX`] stand around it.
pub const ZERO: u8 = 0xD0;
pub const INTEGER_MIN: i64 = -16;
pub const INTEGER_MAX: i64 = 16;

/// A length within a code: bytes from this on are the length itself, those below say how wide the number is that follows.
pub const LENGTH_FIX: u8 = 4;
/// The largest length that is one byte. Wider ones count from the next.
pub const LENGTH_FIX_MAX: usize = 251;

/// Reference ids count from 1. The first that takes one more byte, and so on; the lowest bits stand in the code.
pub const FIRST_ID_8: u64 = 30;
pub const FIRST_ID_16: u64 = FIRST_ID_8 + (255 << 6) + 1;
pub const FIRST_ID: u64 = FIRST_ID_16 + (65_535 << 6) + 1;
/// How many of an id's bits the codes of the two middle forms have.
pub const ID_BITS: u32 = 6;

/// Actions: the byte after [`ACTION`].
pub const MAGIC_NUMBER: u8 = 0;
pub const REFERENCE_COUNT: u8 = 1;
pub const END: u8 = 2;
/// The basic codespace, as the action [`MAGIC_NUMBER`] names it.
pub const VERSION: i64 = 1;
/// From so many references on their count is written first.
pub const COUNTED_REFERENCES: usize = 2048;

/// What a hash table of Python's is written with: as `(make-hash-table :test 'equal)` makes it in SBCL.
pub const EQUAL: &[u8] = b"EQUAL";
pub const COMMON_LISP: &[u8] = b"COMMON-LISP";
pub const LEAST_SIZE: usize = 7;
pub const REHASH_THRESHOLD: f32 = 1.0;
pub const REHASH_SIZE: f32 = 1.5;

/// An element type of specialized arrays.
#[derive(Debug)]
pub struct ElementRow {
    pub element: Element,
    pub code: u8,
    /// Bits an element, as it is stored.
    pub bits: usize,
    /// As Lisp writes the type.
    pub name: &'static str,
    /// What an array of them becomes in Python, for the tables of the documentation.
    pub array: &'static str,
}

macro_rules! elements {
    ($($name:ident $code:literal $bits:literal $lisp:literal $array:literal;)*) => {
        /// The element types of specialized arrays, by their codes.
        pub static ELEMENTS: &[ElementRow] = &[
            $(ElementRow { element: Element::$name, code: $code, bits: $bits, name: $lisp, array: $array },)*
        ];
    };
}

elements! {
    Bit        0  1  "bit"                      "NumPy bool";
    BaseChar   1  8  "base-char"                "str; with dimensions NumPy S1";
    Character  2  32 "character"                "str; with dimensions NumPy U1";
    Fixnum     3  64 "fixnum"                   "NumPy int64; stored shifted left by one bit";
    Single     4  32 "single-float"             "NumPy float32";
    Double     5  64 "double-float"             "NumPy float64";
    Signed8    6  8  "(signed-byte 8)"          "NumPy int8";
    Signed16   7  16 "(signed-byte 16)"         "NumPy int16";
    Signed32   8  32 "(signed-byte 32)"         "NumPy int32";
    Signed64   9  64 "(signed-byte 64)"         "NumPy int64";
    Unsigned2  10 2  "(unsigned-byte 2)"        "NumPy uint8, lowest bits first";
    Unsigned4  11 4  "(unsigned-byte 4)"        "NumPy uint8, lowest bits first";
    Unsigned7  12 8  "(unsigned-byte 7)"        "NumPy uint8";
    Unsigned8  13 8  "(unsigned-byte 8)"        "bytes; with dimensions NumPy uint8";
    Unsigned15 14 16 "(unsigned-byte 15)"       "NumPy uint16";
    Unsigned16 15 16 "(unsigned-byte 16)"       "NumPy uint16";
    Unsigned31 16 32 "(unsigned-byte 31)"       "NumPy uint32";
    Unsigned32 17 32 "(unsigned-byte 32)"       "NumPy uint32";
    Unsigned62 18 64 "(unsigned-byte 62)"       "NumPy uint64; stored shifted left by one bit";
    Unsigned64 19 64 "(unsigned-byte 64)"       "NumPy uint64";
}

/// The element type of that code.
pub fn element(code: u8) -> Option<Element> {
    ELEMENTS.get(usize::from(code)).map(|row| row.element)
}

pub fn code(element: Element) -> u8 {
    ELEMENTS[element as usize].code
}

/// The bytes that so many elements take; `None` beyond the address space.
pub fn element_bytes(element: Element, len: usize) -> Option<usize> {
    len.checked_mul(ELEMENTS[element as usize].bits).map(|bits| bits.div_ceil(8))
}

const _: () = {
    let mut at = 0;
    while at < ELEMENTS.len() {
        assert!(
            ELEMENTS[at].element as usize == at && ELEMENTS[at].code as usize == at,
            "element types in the order of their codes"
        );
        at += 1;
    }
};

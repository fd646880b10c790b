//! The bytes of BSON: the only place where a type's number is written down. Numbers are little-endian.
//!
//! Source: the specification at <https://bsonspec.org/spec.html>, version 1.1.

use crate::table::tags;
pub use crate::table::Row;

tags! {
    END             0x00 ..= 0x00, "none", "the end of a document: no element";
    DOUBLE          0x01 ..= 0x01, "f64", "float, every bit kept";
    STRING          0x02 ..= 0x02, "length i32 with the NUL, bytes, NUL", "text as UTF-8";
    DOCUMENT        0x03 ..= 0x03, "length i32 of all of it, elements, NUL", "dict";
    ARRAY           0x04 ..= 0x04, "as a document, whose names count from 0", "list";
    BINARY          0x05 ..= 0x05, "length i32, subtype u8, bytes", "bytes (subtype 0), a UUID (4, once 3), others";
    UNDEFINED       0x06 ..= 0x06, "none", "None; read, never written";
    OBJECT_ID       0x07 ..= 0x07, "12 bytes", "the id of a document";
    BOOL            0x08 ..= 0x08, "u8", "False (0) or True (1)";
    DATETIME        0x09 ..= 0x09, "i64", "a point in time: milliseconds since 1970-01-01 UTC";
    NULL            0x0A ..= 0x0A, "none", "None";
    REGEX           0x0B ..= 0x0B, "bytes, NUL, bytes, NUL", "a pattern and its options";
    POINTER         0x0C ..= 0x0C, "as a string, then 12 bytes", "a document of another collection; read, never written";
    CODE            0x0D ..= 0x0D, "as a string", "code";
    SYMBOL          0x0E ..= 0x0E, "as a string", "text; read, never written";
    SCOPED_CODE     0x0F ..= 0x0F, "length i32 of all of it, a string, a document", "code and its variables";
    INT_32          0x10 ..= 0x10, "i32", "int";
    CLOCK           0x11 ..= 0x11, "u32, u32", "a database's own clock: count, seconds";
    INT_64          0x12 ..= 0x12, "i64", "int beyond 32 bits";
    DECIMAL         0x13 ..= 0x13, "16 bytes", "a decimal number of 34 digits";
    UNUSED_LOW      0x14 ..= 0x7E, "", "no meaning: refused";
    MAX_KEY         0x7F ..= 0x7F, "none", "above all other values";
    UNUSED_HIGH     0x80 ..= 0xFE, "", "no meaning: refused";
    MIN_KEY         0xFF ..= 0xFF, "none", "below all other values";
}

/// The length of a document, before its elements.
pub const HEAD: usize = 4;
/// What a document has at least: its length and its end.
pub const DOCUMENT_MIN: usize = 5;
pub const OBJECT_ID_LEN: usize = 12;
/// Binary whose length is written twice, as the specification once had it.
pub const SUBTYPE_OLD: u8 = 2;
/// A UUID, in an order of bytes that each driver had for itself.
pub const SUBTYPE_UUID_OLD: u8 = 3;
/// A UUID, in its own order.
pub const SUBTYPE_UUID: u8 = 4;
/// The most bytes a document may have, or a text with its NUL.
pub const LENGTH_MAX: usize = i32::MAX as usize;

/// How long a value is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Size {
    /// Always so many bytes.
    Fixed(u8),
    /// A length, and so many bytes more.
    Counted(u8),
    /// A length that counts itself.
    Whole,
    Regex,
    None,
}

/// By tag.
pub static SIZES: [Size; 256] = sizes();

const fn sizes() -> [Size; 256] {
    let mut sizes = [Size::None; 256];
    let mut tag = 0;
    while tag < 256 {
        sizes[tag] = match tag as u8 {
            UNDEFINED | NULL | MIN_KEY | MAX_KEY => Size::Fixed(0),
            BOOL => Size::Fixed(1),
            INT_32 => Size::Fixed(4),
            DOUBLE | DATETIME | CLOCK | INT_64 => Size::Fixed(8),
            OBJECT_ID => Size::Fixed(OBJECT_ID_LEN as u8),
            DECIMAL => Size::Fixed(16),
            STRING | CODE | SYMBOL => Size::Counted(0),
            BINARY => Size::Counted(1),
            POINTER => Size::Counted(OBJECT_ID_LEN as u8),
            DOCUMENT | ARRAY | SCOPED_CODE => Size::Whole,
            REGEX => Size::Regex,
            _ => Size::None,
        };
        tag += 1;
    }
    sizes
}

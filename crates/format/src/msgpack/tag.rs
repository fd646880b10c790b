//! The bytes of MessagePack: the only place where the number of a tag is defined. Numbers are big-endian.
//!
//! Source: the specification at <https://github.com/msgpack/msgpack/blob/master/spec.md>.

use crate::table::tags;
pub use crate::table::Row;

tags! {
    POSITIVE_FIX   0x00 ..= 0x7F, "none", "int: 0 to 127";
    MAP_FIX        0x80 ..= 0x8F, "key and value each", "dict of 0 to 15 items";
    ARRAY_FIX      0x90 ..= 0x9F, "values", "list of 0 to 15 values";
    STR_FIX        0xA0 ..= 0xBF, "bytes", "text as UTF-8, 0 to 31 bytes";
    NIL            0xC0 ..= 0xC0, "none", "None";
    NEVER_USED     0xC1 ..= 0xC1, "", "no meaning: refused";
    FALSE          0xC2 ..= 0xC2, "none", "False";
    TRUE           0xC3 ..= 0xC3, "none", "True";
    BIN_8          0xC4 ..= 0xC4, "length u8, bytes", "bytes";
    BIN_16         0xC5 ..= 0xC5, "length u16, bytes", "bytes";
    BIN_32         0xC6 ..= 0xC6, "length u32, bytes", "bytes";
    EXT_8          0xC7 ..= 0xC7, "length u8, type i8, bytes", "an application's own type, or a timestamp";
    EXT_16         0xC8 ..= 0xC8, "length u16, type i8, bytes", "an application's own type, or a timestamp";
    EXT_32         0xC9 ..= 0xC9, "length u32, type i8, bytes", "an application's own type, or a timestamp";
    FLOAT_32       0xCA ..= 0xCA, "f32", "float; read, never written";
    FLOAT_64       0xCB ..= 0xCB, "f64", "float, every bit kept";
    UINT_8         0xCC ..= 0xCC, "u8", "int";
    UINT_16        0xCD ..= 0xCD, "u16", "int";
    UINT_32        0xCE ..= 0xCE, "u32", "int";
    UINT_64        0xCF ..= 0xCF, "u64", "int";
    INT_8          0xD0 ..= 0xD0, "i8", "int";
    INT_16         0xD1 ..= 0xD1, "i16", "int";
    INT_32         0xD2 ..= 0xD2, "i32", "int";
    INT_64         0xD3 ..= 0xD3, "i64", "int";
    FIXEXT_1       0xD4 ..= 0xD4, "type i8, 1 byte", "an application's own type, or a timestamp";
    FIXEXT_2       0xD5 ..= 0xD5, "type i8, 2 bytes", "an application's own type, or a timestamp";
    FIXEXT_4       0xD6 ..= 0xD6, "type i8, 4 bytes", "an application's own type, or a timestamp";
    FIXEXT_8       0xD7 ..= 0xD7, "type i8, 8 bytes", "an application's own type, or a timestamp";
    FIXEXT_16      0xD8 ..= 0xD8, "type i8, 16 bytes", "an application's own type, or a timestamp";
    STR_8          0xD9 ..= 0xD9, "length u8, bytes", "text as UTF-8";
    STR_16         0xDA ..= 0xDA, "length u16, bytes", "text as UTF-8";
    STR_32         0xDB ..= 0xDB, "length u32, bytes", "text as UTF-8";
    ARRAY_16       0xDC ..= 0xDC, "length u16, values", "list";
    ARRAY_32       0xDD ..= 0xDD, "length u32, values", "list";
    MAP_16         0xDE ..= 0xDE, "length u16, key and value each", "dict";
    MAP_32         0xDF ..= 0xDF, "length u32, key and value each", "dict";
    NEGATIVE_FIX   0xE0 ..= 0xFF, "none", "int: -32 to -1";
}

/// The smallest and the largest int that is its own tag.
pub const INT_FIX_MIN: i64 = -32;
pub const INT_FIX_MAX: i64 = 127;
pub const STR_FIX_MAX: usize = 31;
pub const ARRAY_FIX_MAX: usize = 15;
pub const MAP_FIX_MAX: usize = 15;

/// The extension type of timestamps.
pub const TIMESTAMP: i8 = -1;
/// How many bits of an eight-byte timestamp are seconds; those above are nanoseconds.
pub const TIMESTAMP_SECONDS: u32 = 34;
pub const NANOSECONDS_MAX: u32 = 999_999_999;

/// In [`SIZES`], a tag whose value states its size.
pub const SIZED: u8 = u8::MAX;

/// By tag: the bytes of payload before the first value in it, or [`SIZED`].
pub static SIZES: [u8; 256] = sizes();
/// By tag: how many values follow, as its own bits say.
pub static VALUES: [u8; 256] = values();

const fn sizes() -> [u8; 256] {
    let mut sizes = [SIZED; 256];
    let mut tag = 0;
    while tag < 256 {
        sizes[tag] = match tag as u8 {
            POSITIVE_FIX..STR_FIX | NIL | FALSE | TRUE | NEGATIVE_FIX..=u8::MAX => 0,
            STR_FIX..NIL => tag as u8 - STR_FIX,
            UINT_8 | INT_8 => 1,
            UINT_16 | INT_16 | FIXEXT_1 => 2,
            FIXEXT_2 => 3,
            UINT_32 | INT_32 | FLOAT_32 => 4,
            FIXEXT_4 => 5,
            UINT_64 | INT_64 | FLOAT_64 => 8,
            FIXEXT_8 => 9,
            FIXEXT_16 => 17,
            _ => SIZED,
        };
        tag += 1;
    }
    sizes
}

const fn values() -> [u8; 256] {
    let mut values = [0; 256];
    let mut tag = MAP_FIX;
    while tag < STR_FIX {
        values[tag as usize] = if tag < ARRAY_FIX { 2 * (tag - MAP_FIX) } else { tag - ARRAY_FIX };
        tag += 1;
    }
    values
}

const _: () = {
    // The writer adds to the shortest tag of a family.
    assert!(STR_32 == STR_8 + 2 && BIN_32 == BIN_8 + 2 && EXT_32 == EXT_8 + 2 && FIXEXT_16 == FIXEXT_1 + 4);
    assert!(ARRAY_32 == ARRAY_16 + 1 && MAP_32 == MAP_16 + 1 && TRUE == FALSE + 1);
};

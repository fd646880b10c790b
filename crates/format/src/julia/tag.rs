//! The documents that Julia's BSON.jl writes for types that BSON lacks: the only place where their names are defined.
//! Each has an element `tag` that says which it is, then its parts.
//!
//! Source: what BSON.jl 0.3.9 and BSONqs 0.6.3 write and read.

/// The type that a document stands for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Tag {
    Struct,
    Array,
    Tuple,
    Simple,
    Symbol,
    Type,
    UnionAll,
    Bottom,
    Anonymous,
    Module,
    Reference,
}

/// A kind of typed value.
#[derive(Debug)]
pub struct Row {
    pub tag: Tag,
    /// The text of its element `tag`.
    pub name: &'static str,
    /// The other elements, in the order in which they are written. They are read in any order.
    pub parts: &'static [&'static str],
    /// A description for the tables of the documentation.
    pub meaning: &'static str,
}

macro_rules! rows {
    ($($tag:ident $name:literal [$($part:ident),*] $meaning:literal;)*) => {
        pub static ROWS: &[Row] = &[$(Row { tag: Tag::$tag, name: $name, parts: &[$($part),*], meaning: $meaning },)*];
    };
}

rows! {
    Struct    "struct"         [TYPE, DATA]       "an instance: its fields in order, or the bytes of a primitive type";
    Array     "array"          [TYPE, SIZE, DATA] "an array: bytes where its elements have no references, else its elements; the first index runs fastest";
    Tuple     "tuple"          [DATA]             "a tuple";
    Simple    "svec"           [DATA]             "a SimpleVector";
    Symbol    "symbol"         [NAME]             "a Symbol";
    Type      "datatype"       [PARAMS, NAME]     "a type: its modules and name, and its parameters";
    UnionAll  "unionall"       [VAR, BODY]        "a type with a variable";
    Bottom    "jl_bottom_type" []                 "the type without values, Union{}";
    Anonymous "jl_anonymous"   [PARAMS, TYPENAME] "the type of a function without a name";
    Module    "ref"            [PATH]             "a module";
    Reference "backref"        [REF]              "the value of that number (from 1) among the outermost document's `_backrefs`";
}

pub const TAG: &str = "tag";
pub const TYPE: &str = "type";
pub const DATA: &str = "data";
pub const SIZE: &str = "size";
pub const NAME: &str = "name";
pub const PARAMS: &str = "params";
pub const VAR: &str = "var";
pub const BODY: &str = "body";
pub const TYPENAME: &str = "typename";
pub const PATH: &str = "path";
pub const REF: &str = "ref";
/// The element of the outermost document that holds the back-reference table.
pub const APART: &str = "_backrefs";

/// The largest number of elements of a typed value, including `tag`.
pub const MOST_ELEMENTS: usize = 4;

/// The first bytes of an instance as it is usually written, after its length: up to the length of its type. Its type,
/// [`FIELDS_HEAD`] and its fields follow.
pub const STRUCT_HEAD: &[u8; 22] = b"\x02tag\0\x07\0\0\0struct\0\x03type\0";
/// The bytes between an instance's type and the array of its fields.
pub const FIELDS_HEAD: &[u8; 6] = b"\x04data\0";

impl Tag {
    pub fn row(self) -> &'static Row {
        &ROWS[self as usize]
    }

    /// The tag of that name.
    pub fn named(name: &[u8]) -> Option<Tag> {
        ROWS.iter().find(|row| row.name.as_bytes() == name).map(|row| row.tag)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::vec;

    #[test]
    fn rows_stand_where_their_tags_say() {
        for (at, row) in ROWS.iter().enumerate() {
            assert_eq!(row.tag as usize, at);
            assert_eq!(Tag::named(row.name.as_bytes()), Some(row.tag));
            assert!(row.parts.len() < MOST_ELEMENTS);
        }
        assert_eq!(Tag::named(b"hello"), None);
    }

    /// The constants agree with the rows, in BSON's encoding.
    #[test]
    fn heads_agree_with_the_rows() {
        use crate::bson::tag;
        let Row { name, parts, .. } = Tag::Struct.row();
        let mut head = vec![tag::STRING];
        head.extend_from_slice(TAG.as_bytes());
        head.push(0);
        head.extend_from_slice(&(name.len() as u32 + 1).to_le_bytes());
        head.extend_from_slice(name.as_bytes());
        head.extend_from_slice(&[0, tag::DOCUMENT]);
        head.extend_from_slice(parts[0].as_bytes());
        head.push(0);
        assert_eq!(head, STRUCT_HEAD);
        let fields = [&[tag::ARRAY], parts[1].as_bytes(), &[0]].concat();
        assert_eq!(fields, FIELDS_HEAD);
    }
}

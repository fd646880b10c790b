//! Which format bytes look like, by how they begin.

use crate::hold::frame::{self, MAGIC};
use crate::{bson, hold, julia, lisp, msgpack};

/// What bytes can be told to be. MessagePack is not among what [`detect`] gives: any byte but one may begin it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Format {
    Hold,
    Bson,
    /// BSON with documents that stand for types, as Julia writes them.
    Julia,
    /// What cl-binary-store writes, if it says its version: else any byte may begin it.
    Lisp,
    Msgpack,
    Json,
    Pickle,
}

/// What bytes look like that a reader refuses.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Looks {
    HoldMessage,
    HoldFile,
    HoldLog,
    As(Format),
    /// Compressed, by what.
    Packed(&'static str),
    /// Of none of our formats; what it is.
    Other(&'static str),
}

/// How files begin that are of none of our formats, each as its own specification has it.
const SIGNATURES: [(&[u8], Looks); 16] = [
    (b"\x28\xb5\x2f\xfd", Looks::Packed("zstd")),
    (b"\x1f\x8b\x08", Looks::Packed("gzip")),
    (b"BZh", Looks::Packed("bzip2")),
    (b"\xfd7zXZ\0", Looks::Packed("xz")),
    (b"\x04\x22\x4d\x18", Looks::Packed("lz4")),
    (b"PK\x03\x04", Looks::Other("a zip archive (.npz files of NumPy and the files of PyTorch are such)")),
    (b"\x93NUMPY", Looks::Other("an array of NumPy's (.npy)")),
    (b"\x89HDF\r\n\x1a\n", Looks::Other("an HDF5 file")),
    (b"PAR1", Looks::Other("a Parquet file")),
    (b"ARROW1", Looks::Other("an Arrow file")),
    (b"Obj\x01", Looks::Other("an Avro file")),
    (b"SQLite format 3\0", Looks::Other("an SQLite database")),
    (b"\xd9\xd9\xf7", Looks::Other("CBOR")),
    (b"\x7fELF", Looks::Other("a program")),
    (b"<?xml", Looks::Other("XML")),
    (b"<!DOCTYPE html", Looks::Other("a web page")),
];

/// How cl-binary-store's files begin that say their version, the first.
#[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)]
const LISP: [u8; 3] = [lisp::tag::ACTION, lisp::tag::MAGIC_NUMBER, lisp::tag::ZERO + lisp::tag::VERSION as u8];
/// Fewer bytes are by chance what values of Lisp, or of another format, are.
const LISP_LEAST: usize = 8;
/// A first document of Julia's that has a type says so early; looking for one ends here.
const TAG_WITHIN: usize = 1 << 22;
/// So much of a text is looked at.
const TEXT: usize = 1 << 12;
/// What a pickle begins with since its second protocol, and the protocols there are.
const PICKLE_FIRST: u8 = 0x80;
const PICKLE_PROTOCOLS: std::ops::RangeInclusive<u8> = 2..=5;

impl Format {
    pub fn name(self) -> &'static str {
        match self {
            Format::Hold => "hold",
            Format::Bson => "bson",
            Format::Julia => "julia",
            Format::Lisp => "lisp",
            Format::Msgpack => "msgpack",
            Format::Json => "json",
            Format::Pickle => "pickle",
        }
    }
}

/// The format of a whole file's bytes; none where they look like nothing that can be told from MessagePack.
pub fn detect(data: &[u8]) -> Option<Format> {
    // The lengths of some documents begin as the other formats do, one document of 256 each: those are read on.
    let is_ambiguous = matches!(data.first(), Some(&(hold::tag::VERSION | hold::tag::VERSION_TRUSTED | PICKLE_FIRST)));
    if is_ambiguous && is_documents(data) {
        return Some(of_bson(data));
    }
    match *data {
        [hold::tag::VERSION, ..] => return Some(Format::Hold),
        // Three bytes are an int of MessagePack's.
        [hold::tag::VERSION_TRUSTED, _, _] if hold::tag::VERSION_TRUSTED == msgpack::tag::INT_16 => return None,
        [hold::tag::VERSION_TRUSTED, ..] => return Some(Format::Hold),
        [PICKLE_FIRST, protocol, ..] if PICKLE_PROTOCOLS.contains(&protocol) => return Some(Format::Pickle),
        _ => {}
    }
    // A file that is cut short is one; a single letter may be anything.
    if data.len() > 1 && data.iter().zip(MAGIC).all(|(&one, other)| one == other) {
        return Some(Format::Hold);
    }
    if is_bson(data) {
        return Some(of_bson(data));
    }
    if data.starts_with(&LISP) {
        return Some(Format::Lisp);
    }
    if is_json(data) {
        return Some(Format::Json);
    }
    is_old_pickle(data).then_some(Format::Pickle)
}

/// What bytes look like that a reader of that format refuses; none where they may well be of its format, and damaged.
///
/// Looks at all of them at most: for the way out of a failure.
pub fn foreign(data: &[u8], reader: Format) -> Option<Looks> {
    let found = signature(data).or_else(|| detect(data).map(|format| looks_as(data, format)));
    let found = found.or_else(|| is_msgpack(data).then_some(Looks::As(Format::Msgpack)));
    let found = found.or_else(|| is_lisp(data).then_some(Looks::As(Format::Lisp)))?;
    let is_own = match reader {
        Format::Hold => matches!(found, Looks::HoldMessage | Looks::HoldFile | Looks::HoldLog),
        // A whole value of MessagePack is one, whatever its first bytes are elsewhere.
        Format::Msgpack => is_value(data),
        Format::Bson | Format::Julia => matches!(found, Looks::As(Format::Bson | Format::Julia)),
        Format::Lisp => !is_whole(data, found) || (data.len() < LISP_LEAST && is_lisp_values(data)),
        Format::Json | Format::Pickle => found == Looks::As(reader),
    };
    (!is_own).then_some(found)
}

/// What bytes are that begin as files of none of our formats do.
pub fn signature(data: &[u8]) -> Option<Looks> {
    SIGNATURES.iter().find(|(start, _)| data.starts_with(start)).map(|(_, looks)| *looks)
}

fn looks_as(data: &[u8], format: Format) -> Looks {
    match format {
        Format::Hold if !frame::is_file(data) => Looks::HoldMessage,
        Format::Hold if matches!(frame::parse_start(data), Ok(hold::tag::FILE_LOG)) => Looks::HoldLog,
        Format::Hold => Looks::HoldFile,
        format => Looks::As(format),
    }
}

/// Whether bytes are one value of MessagePack, from end to end.
fn is_value(data: &[u8]) -> bool {
    matches!(msgpack::scan(data, 1), Ok((end, 0)) if end == data.len())
}

/// Whether bytes are a value of MessagePack's that has a length, which ends where it says.
pub fn is_msgpack(data: &[u8]) -> bool {
    use msgpack::tag;
    let has_length = data.first().is_some_and(
        |first| matches!(first, tag::MAP_FIX..tag::NIL | tag::BIN_8..=tag::EXT_32 | tag::FIXEXT_1..tag::NEGATIVE_FIX),
    );
    has_length && is_value(data)
}

/// Whether bytes are values of Lisp from end to end, and the first is no number.
pub fn is_lisp(data: &[u8]) -> bool {
    use lisp::tag;
    let begins = data.first().is_some_and(|first| {
        matches!(*first, tag::CONS | tag::SYMBOL | tag::OBJECT | tag::HASH_TABLE..=tag::LIST | tag::ASSIGN_ID)
            || matches!(*first, tag::VECTOR | tag::SIMPLE_VECTOR | tag::SIMPLE_ARRAY)
    });
    begins && data.len() >= LISP_LEAST && is_lisp_values(data)
}

/// Nothing is referred to before something has an id, and most text would begin so.
fn is_lisp_values(data: &[u8]) -> bool {
    use lisp::tag::{INTEGER_FIX, REFERENCE, REFERENCE_FIX};
    let begins =
        data.first().is_some_and(|&first| first != REFERENCE && !(REFERENCE_FIX..INTEGER_FIX).contains(&first));
    begins && lisp::Structure::of(data).is_ok()
}

/// Whether bytes are surely what they look like, for a reader of a format that any byte may begin.
fn is_whole(data: &[u8], looks: Looks) -> bool {
    match looks {
        Looks::HoldMessage => hold::index::Index::scan(data).is_ok(),
        Looks::As(Format::Bson | Format::Julia) => is_documents(data),
        Looks::As(Format::Lisp) => false,
        // The codes of a list and of an id are a blank and a quotation mark there.
        Looks::As(Format::Json) => !matches!(data.first(), Some(&(lisp::tag::LIST | lisp::tag::ASSIGN_ID))),
        _ => true,
    }
}

/// Whether bytes begin with a whole document, whose elements follow each other up to its end.
fn is_documents(data: &[u8]) -> bool {
    let Ok((document, _)) = bson::split_first(data) else { return false };
    bson::Elements::new(document).is_ok_and(|mut elements| elements.all(|element| element.is_ok()))
}

/// Whether bytes are a pickle of the first protocols, which have no head: opcodes with what belongs to each, to the last.
fn is_old_pickle(data: &[u8]) -> bool {
    // A single opcode may be anything.
    if !data.first().is_some_and(|first| b"(]})clIJKMLFGVSX".contains(first)) {
        return false;
    }
    let (mut rest, mut count, mut numbered) = (data, 0, false);
    while let Some((&opcode, after)) = rest.split_first() {
        if opcode == b'.' {
            return after.is_empty() && count > 0;
        }
        count += 1;
        // Nothing is referred to before something was given a number: most text ends there.
        match opcode {
            b'p' | b'q' | b'r' => numbered = true,
            b'g' | b'h' | b'j' if !numbered => return false,
            _ => {}
        }
        let line = |from: &[u8]| from.iter().position(|&byte| byte == b'\n').map(|at| at + 1);
        let counted = |size: usize| {
            let mut wide = [0; 4];
            wide.get_mut(..size)?.copy_from_slice(after.get(..size)?);
            Some(size + u32::from_le_bytes(wide) as usize)
        };
        let len = match opcode {
            b'(' | b'0' | b'1' | b'2' | b'N' | b'Q' | b'R' | b'a' | b'b' | b'd' | b'}' | b'e' | b'l' | b']' | b'o'
            | b's' | b't' | b')' | b'u' => Some(0),
            b'K' | b'h' | b'q' => Some(1),
            b'M' => Some(2),
            b'J' | b'j' | b'r' => Some(4),
            b'G' => Some(8),
            b'F' | b'I' | b'L' | b'P' | b'S' | b'V' | b'g' | b'p' => line(after),
            b'c' | b'i' => line(after).and_then(|first| Some(first + line(&after[first..])?)),
            b'T' | b'X' => counted(4),
            b'U' => counted(1),
            _ => None,
        };
        match len.and_then(|len| after.get(len..)) {
            Some(next) => rest = next,
            None => return false,
        }
    }
    false
}

/// Which of both bytes are that are known to be BSON, whole or not.
pub fn of_bson(data: &[u8]) -> Format {
    // What Julia writes is one document. Where others follow it, those are a database's.
    match length(data) {
        Some(length) if length >= data.len() && is_tagged(&data[..data.len().min(TAG_WITHIN)]) => Format::Julia,
        _ => Format::Bson,
    }
}

fn length(data: &[u8]) -> Option<usize> {
    let length = i32::from_le_bytes(*data.first_chunk::<{ bson::tag::HEAD }>()?);
    usize::try_from(length).ok().filter(|&length| length >= bson::tag::DOCUMENT_MIN)
}

/// Whether a document stands there that ends where it says.
fn is_bson(data: &[u8]) -> bool {
    use bson::tag::{Size, END, HEAD, SIZES};
    let end = length(data).and_then(|length| data.get(length - 1));
    let is_type = |&tag: &u8| tag == END || SIZES[tag as usize] != Size::None;
    end == Some(&END) && data.get(HEAD).is_some_and(is_type)
}

/// Whether a document in there has a tag of Julia's, or refers to what stands apart.
fn is_tagged(data: &[u8]) -> bool {
    use bson::tag::{ARRAY, STRING};
    let element = |kind: u8, name: &str| [&[kind], name.as_bytes(), &[0]].concat();
    let tag = element(STRING, julia::tag::TAG);
    // The list of what is referred to stands last, and may be the only sign.
    let apart = element(ARRAY, julia::tag::APART);
    let is_name = |value: &[u8]| {
        let Some((length, text)) = value.split_first_chunk::<4>() else { return false };
        let text = text.get(..u32::from_le_bytes(*length) as usize);
        let name = text.and_then(|text| text.strip_suffix(b"\0"));
        name.is_some_and(|name| julia::tag::ROWS.iter().any(|row| row.name.as_bytes() == name))
    };
    let mut places = data.iter().enumerate().filter(|(_, &byte)| byte == STRING || byte == ARRAY);
    places.any(|(at, _)| {
        let rest = &data[at..];
        rest.starts_with(&apart) || rest.strip_prefix(&tag[..]).is_some_and(is_name)
    })
}

/// Whether bytes begin as JSON does, and go on as text. A digit may be a number of MessagePack's; people write the former.
fn is_json(data: &[u8]) -> bool {
    let text = &data[..data.len().min(TEXT)];
    let text = text.strip_prefix(b"\xef\xbb\xbf").unwrap_or(text);
    let begins = match text.trim_ascii_start() {
        [b'{' | b'[' | b'"' | b'-' | b'0'..=b'9', ..] => true,
        text => [&b"true"[..], b"false", b"null"].iter().any(|word| text.starts_with(word)),
    };
    begins && !text.iter().any(|byte| *byte < b' ' && !matches!(byte, b'\t' | b'\r' | b'\n'))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::vec;
    use std::vec::Vec;

    fn document(elements: &[u8]) -> Vec<u8> {
        let len = u32::try_from(elements.len() + 5).unwrap();
        [&len.to_le_bytes()[..], elements, &[0]].concat()
    }

    #[test]
    fn each_by_how_it_begins() {
        let log = hold::log::start();
        let nothing = document(b"");
        let null = document(b"\x0aa\0");
        let cases: [(&[u8], Option<Format>); 34] = [
            (b"", None),
            (b"\xc1\x00", Some(Format::Hold)),
            (b"\xc1", Some(Format::Hold)),
            (b"\xd1\x00", Some(Format::Hold)),
            (b"\xd1\x00\x01", None),
            (b"\xd1\x00\x01\x00", Some(Format::Hold)),
            (&log, Some(Format::Hold)),
            (&log[..5], Some(Format::Hold)),
            (b"HO", Some(Format::Hold)),
            (b"H", None),
            (b"HOPE", None),
            (b"\x80\x02K\x01.", Some(Format::Pickle)),
            (b"\x80\x05", Some(Format::Pickle)),
            (b"\x80\x06", None),
            (b"\x80", None),
            (&nothing, Some(Format::Bson)),
            (&null, Some(Format::Bson)),
            (&[&null[..], &null].concat(), Some(Format::Bson)),
            (&null[..null.len() - 1], None),
            // No type has that number; no document is that short, or below nothing.
            (&document(b"\x14a\0"), None),
            (b"\x04\0\0\0\0", None),
            (b"\xff\xff\xff\xff\0", None),
            (b"{}", Some(Format::Json)),
            (b" \t\r\n[1]", Some(Format::Json)),
            (b"\xef\xbb\xbf\"a\"", Some(Format::Json)),
            (b"-1", Some(Format::Json)),
            (b"12", Some(Format::Json)),
            (b"true", Some(Format::Json)),
            (b"nul", None),
            (b"[\x01]", None),
            (b"\x93\x01\x02\x03", None),
            (b"\x1f\0\xd1\x05", Some(Format::Lisp)),
            (b"\x1f\0", None),
            (b"a", None),
        ];
        for (data, format) in cases {
            assert_eq!(detect(data), format, "{data:?}");
        }
        assert_eq!(detect(&[&b"[1]"[..], &[b' '; TEXT], b"\0"].concat()), Some(Format::Json));
    }

    #[test]
    fn julias_documents_have_tags() {
        for row in julia::tag::ROWS {
            let len = u32::try_from(row.name.len() + 1).unwrap().to_le_bytes();
            let tag = [b"\x02tag\0", &len[..], row.name.as_bytes(), b"\0"].concat();
            let inner = document(&tag);
            let data = document(&[b"\x0aa\0\x03b\0", &inner[..]].concat());
            assert_eq!(detect(&data), Some(Format::Julia), "{}", row.name);
            // KnownType by its name, it may be cut off; behind it nothing may come.
            assert_eq!((detect(&data[..data.len() - 1]), of_bson(&data[..data.len() - 1])), (None, Format::Julia));
            let two = [&data[..], &data].concat();
            assert_eq!((detect(&two), of_bson(&two)), (Some(Format::Bson), Format::Bson));
        }
        assert_eq!(detect(&document(b"\x04_backrefs\0\x05\0\0\0\0")), Some(Format::Julia));
        for other in
            [&b"\x02tag\0\x07\0\0\0structs\0"[..], b"\x02tag\0\x08\0\0\0struct\0\0", b"\x02tags\0\x07\0\0\0struct\0"]
        {
            assert_eq!(detect(&document(other)), Some(Format::Bson));
        }
        for len in 0..14 {
            let cut = &b"\x02tag\0\x07\0\0\0struct\0"[..len];
            assert_eq!(of_bson(&[b"\xff\0\0\0", cut].concat()), Format::Bson);
        }
        assert_eq!(of_bson(b""), Format::Bson);
    }

    #[test]
    fn names() {
        use Format::*;
        let all = [Hold, Bson, Julia, Lisp, Msgpack, Json, Pickle];
        assert_eq!(all.map(Format::name), ["hold", "bson", "julia", "lisp", "msgpack", "json", "pickle"]);
    }

    #[test]
    fn documents_whose_length_begins_like_another_format() {
        for (len, first) in [(193_usize, [0xC1, 0]), (209, [0xD1, 0]), (0x280, [0x80, 2]), (0x1C1, [0xC1, 1])] {
            let text = vec![b'x'; len - 13];
            let size = u32::try_from(text.len() + 1).unwrap().to_le_bytes();
            let data = document(&[b"\x02a\0", &size[..], &text, b"\0"].concat());
            assert_eq!((data.len(), &data[..2]), (len, &first[..]));
            assert_eq!(detect(&data), Some(Format::Bson));
            assert_eq!(foreign(&data, Format::Hold), Some(Looks::As(Format::Bson)));
            // Cut off, or of elements that don't follow each other, it is what it begins like.
            assert_ne!(detect(&data[..len - 1]), Some(Format::Bson));
            let mut damaged = data.clone();
            damaged[7] += 1;
            assert_ne!(detect(&damaged), Some(Format::Bson));
        }
    }

    #[test]
    fn old_pickles() {
        // Protocols 0 and 1 of [1, (2.5, "a"), None, {}], as CPython 3.11 writes them.
        for pickle in [
            &b"(lp0\nI1\na(F2.5\nVa\np1\ntp2\naNa(dp3\na."[..],
            b"]q\x00(K\x01G@\x04\x00\x00\x00\x00\x00\x00X\x01\x00\x00\x00aq\x01\x86q\x02N}q\x03e.",
        ] {
            // The second has an opcode of protocol 2, which protocol 1 does not write.
            let old = !pickle.contains(&0x86);
            assert_eq!(detect(pickle), old.then_some(Format::Pickle), "{pickle:?}");
            assert_eq!(detect(&[pickle, b"x"].concat()), None);
            assert_eq!(detect(&pickle[..pickle.len() - 1]), None);
        }
        let one = b"(K\x01M\x00\x01J\0\0\0\0T\x01\0\0\0aU\x01bX\x01\0\0\0cG\0\0\0\0\0\0\0\0cos\nname\np0\ng0\nt.";
        assert_eq!(detect(one), Some(Format::Pickle));
        for at in 1..one.len() {
            assert_eq!(detect(&one[..at]), None, "{at}");
        }
        for other in [&b"."[..], b"N.", b"I1", b"(hello.", b"cos\nsystem", b"cos", b"U", b"X\xff\xff\xff\xffa."] {
            assert_eq!(detect(other), None, "{other:?}");
        }
    }

    #[test]
    fn what_a_reader_refuses_is_named() {
        let log = hold::log::start();
        let null = document(b"\x0aa\0");
        let julia = document(b"\x04_backrefs\0\x05\0\0\0\0");
        let map = b"\x81\xa1a\x01";
        let list = b"\x20\x05\x1e\x06ab\xc0\x05";
        let all: [(&[u8], Looks); 14] = [
            (b"\xc1\x00", Looks::HoldMessage),
            (&frame::start(1), Looks::HoldFile),
            (&log, Looks::HoldLog),
            (&null, Looks::As(Format::Bson)),
            (&julia, Looks::As(Format::Julia)),
            (map, Looks::As(Format::Msgpack)),
            (b"\x1f\0\xd1\xff", Looks::As(Format::Lisp)),
            (list, Looks::As(Format::Lisp)),
            (b"{\"a\": 1}", Looks::As(Format::Json)),
            (b"\x80\x04K\x01.", Looks::As(Format::Pickle)),
            (b"(lp0\n.", Looks::As(Format::Pickle)),
            (b"\x1f\x8b\x08\x00", Looks::Packed("gzip")),
            (b"\x28\xb5\x2f\xfd\x00", Looks::Packed("zstd")),
            (b"PAR1", Looks::Other("a Parquet file")),
        ];
        for (data, looks) in all {
            for reader in [Format::Hold, Format::Bson, Format::Julia, Format::Lisp, Format::Msgpack] {
                let own = match reader {
                    Format::Hold => data[0] == b'H' || data[0] == 0xC1,
                    Format::Msgpack => data == map,
                    Format::Lisp => looks == Looks::As(Format::Lisp),
                    _ => matches!(looks, Looks::As(Format::Bson | Format::Julia)),
                };
                assert_eq!(foreign(data, reader), (!own).then_some(looks), "{data:?} {reader:?}");
            }
        }
        // What may be a reader's own, cut off or damaged, is no other's.
        assert_eq!(foreign(&null[..6], Format::Bson), None);
        assert_eq!(foreign(b"\x92\x01", Format::Msgpack), None);
        assert_eq!(foreign(b"\xc1\xff\xff", Format::Hold), None);
        // A list whose blank and digits could be JSON's; ints that could be a message; a document that ends too soon; one value of two.
        for cut in [&b"\x20\x31\xc5\xc6"[..], b"\xc1\xd1", b"\x08\0\0\0\x0aaa\0", &list[..7], b"\x05\x05"] {
            assert_eq!(foreign(cut, Format::Lisp), None, "{cut:?}");
        }
        // One small int, and a text that begins like JSON.
        assert_eq!(foreign(b"1", Format::Msgpack), None);
        assert_eq!(foreign(b"no format at all", Format::Hold), None);
    }
}

//! Detects the format of bytes by how they begin.

use crate::hold::frame::{self, MAGIC};
use crate::{bson, hold, julia, msgpack};

/// The formats that bytes may be in. [`detect`] never returns MessagePack, because nearly any byte may begin it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Format {
    Hold,
    Bson,
    /// BSON with typed values, as Julia writes it.
    Julia,
    Msgpack,
    Json,
    Pickle,
}

/// What bytes look like that a reader refused.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Looks {
    HoldMessage,
    HoldFile,
    HoldLog,
    As(Format),
    /// Compressed, by which program.
    Packed(&'static str),
    /// Another kind of file.
    Other(&'static str),
}

/// How other kinds of files begin, as their specifications define it.
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

/// If the first document is Julia's, a typed value comes early: the search ends here.
const TAG_WITHIN: usize = 1 << 22;
/// How much of a text is inspected.
const TEXT: usize = 1 << 12;
/// The first byte of a pickle since protocol 2, and the protocols that exist.
const PICKLE_FIRST: u8 = 0x80;
const PICKLE_PROTOCOLS: std::ops::RangeInclusive<u8> = 2..=5;

impl Format {
    pub fn name(self) -> &'static str {
        match self {
            Format::Hold => "hold",
            Format::Bson => "bson",
            Format::Julia => "julia",
            Format::Msgpack => "msgpack",
            Format::Json => "json",
            Format::Pickle => "pickle",
        }
    }
}

/// The format of a whole file; `None` if it can't be told from MessagePack.
pub fn detect(data: &[u8]) -> Option<Format> {
    // The lengths of some documents (one in 256 each) begin like other formats. For these the document is checked.
    let is_ambiguous = matches!(data.first(), Some(&(hold::tag::VERSION | hold::tag::VERSION_TRUSTED | PICKLE_FIRST)));
    if is_ambiguous && is_documents(data) {
        return Some(of_bson(data));
    }
    match *data {
        [hold::tag::VERSION, ..] => return Some(Format::Hold),
        // Three bytes are a MessagePack int.
        [hold::tag::VERSION_TRUSTED, _, _] if hold::tag::VERSION_TRUSTED == msgpack::tag::INT_16 => return None,
        [hold::tag::VERSION_TRUSTED, ..] => return Some(Format::Hold),
        [PICKLE_FIRST, protocol, ..] if PICKLE_PROTOCOLS.contains(&protocol) => return Some(Format::Pickle),
        _ => {}
    }
    // The beginning of a file counts; a single letter doesn't.
    if data.len() > 1 && data.iter().zip(MAGIC).all(|(&one, other)| one == other) {
        return Some(Format::Hold);
    }
    if is_bson(data) {
        return Some(of_bson(data));
    }
    if is_json(data) {
        return Some(Format::Json);
    }
    is_old_pickle(data).then_some(Format::Pickle)
}

/// The format of bytes that a reader refused; `None` if they may be of the reader's format but damaged.
///
/// It may inspect all of the bytes, so it is only for the way out of a failure.
pub fn foreign(data: &[u8], reader: Format) -> Option<Looks> {
    let found = signature(data).or_else(|| detect(data).map(|format| looks_as(data, format)));
    let found = found.or_else(|| is_msgpack(data).then_some(Looks::As(Format::Msgpack)))?;
    let is_own = match reader {
        Format::Hold => matches!(found, Looks::HoldMessage | Looks::HoldFile | Looks::HoldLog),
        // A complete MessagePack value counts, even if it begins like another format.
        Format::Msgpack => is_value(data),
        Format::Bson | Format::Julia => matches!(found, Looks::As(Format::Bson | Format::Julia)),
        Format::Json | Format::Pickle => found == Looks::As(reader),
    };
    (!is_own).then_some(found)
}

/// The kind of file whose signature the bytes begin with.
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

/// Whether bytes are exactly one MessagePack value.
fn is_value(data: &[u8]) -> bool {
    matches!(msgpack::scan(data, 1), Ok((end, 0)) if end == data.len())
}

/// Whether bytes are exactly one MessagePack value whose tag is followed by a length.
pub fn is_msgpack(data: &[u8]) -> bool {
    use msgpack::tag;
    let has_length = data.first().is_some_and(
        |first| matches!(first, tag::MAP_FIX..tag::NIL | tag::BIN_8..=tag::EXT_32 | tag::FIXEXT_1..tag::NEGATIVE_FIX),
    );
    has_length && is_value(data)
}

/// Whether bytes begin with a complete document whose elements fill it.
fn is_documents(data: &[u8]) -> bool {
    let Ok((document, _)) = bson::split_first(data) else { return false };
    bson::Elements::new(document).is_ok_and(|mut elements| elements.all(|element| element.is_ok()))
}

/// Whether bytes are a pickle of protocol 0 or 1, which have no header: opcodes with their arguments up to the last
/// one.
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
        // A reference before anything was memoized rules a pickle out: most text fails here.
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

/// Whether bytes that are known to be BSON, complete or not, are Julia's.
pub fn of_bson(data: &[u8]) -> Format {
    // Julia writes one document. If others follow, they come from a database.
    match length(data) {
        Some(length) if length >= data.len() && is_tagged(&data[..data.len().min(TAG_WITHIN)]) => Format::Julia,
        _ => Format::Bson,
    }
}

fn length(data: &[u8]) -> Option<usize> {
    let length = i32::from_le_bytes(*data.first_chunk::<{ bson::tag::HEAD }>()?);
    usize::try_from(length).ok().filter(|&length| length >= bson::tag::DOCUMENT_MIN)
}

/// Whether there is a document whose last byte is where its length says.
fn is_bson(data: &[u8]) -> bool {
    use bson::tag::{Size, END, HEAD, SIZES};
    let end = length(data).and_then(|length| data.get(length - 1));
    let is_type = |&tag: &u8| tag == END || SIZES[tag as usize] != Size::None;
    end == Some(&END) && data.get(HEAD).is_some_and(is_type)
}

/// Whether a document contains a typed value of Julia's, or a back-reference table.
fn is_tagged(data: &[u8]) -> bool {
    use bson::tag::{ARRAY, STRING};
    let element = |kind: u8, name: &str| [&[kind], name.as_bytes(), &[0]].concat();
    let tag = element(STRING, julia::tag::TAG);
    // The back-reference table comes last and may be the only sign.
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

/// Whether bytes begin like JSON and continue as text. A digit may be a MessagePack int, but text is more likely.
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
        let cases: [(&[u8], Option<Format>); 32] = [
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
            // No such type; a length below the shortest document, or negative.
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
            // Its tag is enough if it is cut off; another document behind it means BSON.
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
        let all = [Format::Hold, Format::Bson, Format::Julia, Format::Msgpack, Format::Json, Format::Pickle];
        assert_eq!(all.map(Format::name), ["hold", "bson", "julia", "msgpack", "json", "pickle"]);
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
            // A document that is cut off, or whose elements don't fill it, is detected by how it begins.
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
        let all: [(&[u8], Looks); 12] = [
            (b"\xc1\x00", Looks::HoldMessage),
            (&frame::start(1), Looks::HoldFile),
            (&log, Looks::HoldLog),
            (&null, Looks::As(Format::Bson)),
            (&julia, Looks::As(Format::Julia)),
            (map, Looks::As(Format::Msgpack)),
            (b"{\"a\": 1}", Looks::As(Format::Json)),
            (b"\x80\x04K\x01.", Looks::As(Format::Pickle)),
            (b"(lp0\n.", Looks::As(Format::Pickle)),
            (b"\x1f\x8b\x08\x00", Looks::Packed("gzip")),
            (b"\x28\xb5\x2f\xfd\x00", Looks::Packed("zstd")),
            (b"PAR1", Looks::Other("a Parquet file")),
        ];
        for (data, looks) in all {
            for reader in [Format::Hold, Format::Bson, Format::Julia, Format::Msgpack] {
                let own = match reader {
                    Format::Hold => data[0] == b'H' || data[0] == 0xC1,
                    Format::Msgpack => data == map,
                    _ => matches!(looks, Looks::As(Format::Bson | Format::Julia)),
                };
                assert_eq!(foreign(data, reader), (!own).then_some(looks), "{data:?} {reader:?}");
            }
        }
        // Bytes that may be the reader's own format, cut off or damaged, are of no other.
        assert_eq!(foreign(&null[..6], Format::Bson), None);
        assert_eq!(foreign(b"\x92\x01", Format::Msgpack), None);
        assert_eq!(foreign(b"\xc1\xff\xff", Format::Hold), None);
        // A small int, and text that begins like JSON.
        assert_eq!(foreign(b"1", Format::Msgpack), None);
        assert_eq!(foreign(b"no format at all", Format::Hold), None);
    }
}

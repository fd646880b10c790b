//! Which format bytes look like, by how they begin.

use crate::hold::frame::MAGIC;
use crate::{bson, hold, julia, msgpack};

/// What bytes can be told to be. MessagePack is not among them: any byte but one may begin it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Format {
    Hold,
    Bson,
    /// BSON with documents that stand for types, as Julia writes them.
    Julia,
    Json,
    Pickle,
}

/// A first document of Julia's that has a type says so early; looking for one ends here.
const TAG_WITHIN: usize = 1 << 22;
/// So much of a text is looked at.
const TEXT: usize = 1 << 12;
/// What a pickle begins with since its second protocol, and the protocols there are.
const PICKLE: (u8, std::ops::RangeInclusive<u8>) = (0x80, 2..=5);

impl Format {
    pub fn name(self) -> &'static str {
        match self {
            Format::Hold => "hold",
            Format::Bson => "bson",
            Format::Julia => "julia",
            Format::Json => "json",
            Format::Pickle => "pickle",
        }
    }
}

/// The format of a whole file's bytes; none where they look like nothing that can be told from MessagePack.
pub fn guess(data: &[u8]) -> Option<Format> {
    match *data {
        [hold::tag::VERSION, ..] => return Some(Format::Hold),
        // Three bytes are an int of MessagePack's.
        [hold::tag::VERSION_TRUSTED, _, _] if hold::tag::VERSION_TRUSTED == msgpack::tag::INT_16 => return None,
        [hold::tag::VERSION_TRUSTED, ..] => return Some(Format::Hold),
        [first, protocol, ..] if first == PICKLE.0 && PICKLE.1.contains(&protocol) => return Some(Format::Pickle),
        _ => {}
    }
    // A file that is cut short is one; a single letter may be anything.
    if data.len() > 1 && data.iter().zip(MAGIC).all(|(&one, other)| one == other) {
        return Some(Format::Hold);
    }
    if is_bson(data) {
        return Some(of_bson(data));
    }
    is_json(data).then_some(Format::Json)
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
            (b"a", None),
        ];
        for (data, format) in cases {
            assert_eq!(guess(data), format, "{data:?}");
        }
        assert_eq!(guess(&[&b"[1]"[..], &[b' '; TEXT], b"\0"].concat()), Some(Format::Json));
    }

    #[test]
    fn julias_documents_have_tags() {
        for row in julia::tag::ROWS {
            let len = u32::try_from(row.name.len() + 1).unwrap().to_le_bytes();
            let tag = [b"\x02tag\0", &len[..], row.name.as_bytes(), b"\0"].concat();
            let inner = document(&tag);
            let data = document(&[b"\x0aa\0\x03b\0", &inner[..]].concat());
            assert_eq!(guess(&data), Some(Format::Julia), "{}", row.name);
            // Known by its name, it may be cut off; behind it nothing may come.
            assert_eq!((guess(&data[..data.len() - 1]), of_bson(&data[..data.len() - 1])), (None, Format::Julia));
            let two = [&data[..], &data].concat();
            assert_eq!((guess(&two), of_bson(&two)), (Some(Format::Bson), Format::Bson));
        }
        assert_eq!(guess(&document(b"\x04_backrefs\0\x05\0\0\0\0")), Some(Format::Julia));
        for other in
            [&b"\x02tag\0\x07\0\0\0structs\0"[..], b"\x02tag\0\x08\0\0\0struct\0\0", b"\x02tags\0\x07\0\0\0struct\0"]
        {
            assert_eq!(guess(&document(other)), Some(Format::Bson));
        }
        for len in 0..14 {
            let cut = &b"\x02tag\0\x07\0\0\0struct\0"[..len];
            assert_eq!(of_bson(&[b"\xff\0\0\0", cut].concat()), Format::Bson);
        }
        assert_eq!(of_bson(b""), Format::Bson);
    }

    #[test]
    fn names() {
        let all = [Format::Hold, Format::Bson, Format::Julia, Format::Json, Format::Pickle];
        assert_eq!(all.map(Format::name), ["hold", "bson", "julia", "json", "pickle"]);
    }
}

//! Text of the bytes as an inspect may show it.

use crate::memory::Vec;
use crate::model::{Bytes, ExtentReader as _, Moment, Path, Reader, Token, TypedReader as _, TypedValue};
use std::fmt::Write;

/// The most characters that are shown of a key or a name.
const LONGEST: usize = 60;
/// The same of a described type, whose parameters are types.
const LONGEST_TYPE: usize = 120;
/// Digits of an int: as many as always have fewer than that many bytes.
const LONGEST_INT: usize = 16;

/// The beginning of a text, without what a terminal would obey.
pub fn shortened(text: Bytes<'_>) -> String {
    // A character takes four bytes at most.
    let enough = |bytes: &[u8]| bytes.len().min(4 * LONGEST + 4);
    match text {
        Bytes::Ascii(bytes) | Bytes::Utf8(bytes) | Bytes::StrictUtf8(bytes) => {
            visible(String::from_utf8_lossy(&bytes[..enough(bytes)]).chars(), LONGEST)
        }
        Bytes::Latin1(bytes) => visible(bytes.iter().map(|&byte| char::from(byte)), LONGEST),
        Bytes::Ucs2(bytes) => {
            let units = bytes.as_chunks().0.iter().map(|&unit| u16::from_le_bytes(unit));
            visible(char::decode_utf16(units).map(|unit| unit.unwrap_or(char::REPLACEMENT_CHARACTER)), LONGEST)
        }
    }
}

fn visible(mut chars: impl Iterator<Item = char>, longest: usize) -> String {
    let mut shown = String::new();
    for char in chars.by_ref().take(longest) {
        // Marks of direction would turn around what stands beside them.
        if char.is_control()
            || matches!(char, '\u{200e}' | '\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
        {
            shown.extend(char.escape_unicode());
        } else {
            shown.push(char);
        }
    }
    if chars.next().is_some() {
        shown.push('…');
    }
    shown
}

/// A small value as text; nothing for all others.
pub fn value(token: &Token<'_>) -> Option<String> {
    Some(match *token {
        Token::Bool(value) => if value { "True" } else { "False" }.into(),
        Token::Int(value) => value.to_string(),
        Token::UInt(value) => value.to_string(),
        Token::BigInt(bytes) if bytes.len() < LONGEST_INT => {
            let negative = bytes.last().is_some_and(|byte| byte & 0x80 != 0);
            let mut wide = [if negative { 0xFF } else { 0 }; 16];
            wide[..bytes.len()].copy_from_slice(bytes);
            i128::from_le_bytes(wide).to_string()
        }
        Token::Float(value) => format!("{value:?}"),
        Token::Complex(real, imag) => format!("{real:?}{imag:+?}j"),
        Token::Text(text) => format!("\"{}\"", shortened(text)),
        Token::DateTime { bits, .. } => {
            let it = Moment::unpack(bits);
            let date = format!("{:04}-{:02}-{:02}", it.year, it.month, it.day);
            format!("{date} {:02}:{:02}:{:02}.{:06}", it.hour, it.minute, it.second, it.microsecond)
        }
        Token::Timestamp { seconds, nanoseconds } => format!("{seconds}.{nanoseconds:09} s since 1970"),
        Token::TypedValue(TypedValue::Int32(value)) => value.to_string(),
        Token::TypedValue(TypedValue::Symbol(name)) => format!(":{}", shortened(Bytes::StrictUtf8(name))),
        _ => return None,
    })
}

/// A dimensions as Python writes it.
pub fn dimensions(dims: &[String]) -> String {
    match dims {
        [one] => format!("({one},)"),
        _ => format!("({})", dims.join(", ")),
    }
}

fn path<'i, R: Reader<'i>>(path: Path<'i>) -> String {
    let names: Vec<_> = R::Typed::path(path).take(16).map_while(Result::ok).collect();
    // What every program has is known without its module.
    let named = match names[..] {
        [b"Main", b"Core" | b"Base", ref rest @ ..] | [b"Core" | b"Base", ref rest @ ..] if !rest.is_empty() => rest,
        ref all => all,
    };
    named.iter().map(|name| shortened(Bytes::StrictUtf8(name))).collect::<Vec<_>>().join(".")
}

/// The type whose description comes next, as its language writes it, as far as there is room. Goes on anywhere.
pub fn described<'i, R: Reader<'i>>(reader: &mut R, apart: &[R::Place]) -> String {
    let mut shown = String::new();
    // Parameters that are still to come, of each type that is open.
    let mut open: Vec<usize> = Vec::new();
    let mut followed = false;
    while shown.len() < LONGEST_TYPE {
        match reader.next() {
            Ok(Token::TypedValue(TypedValue::Type { path: names, parameters })) => {
                shown.push_str(&path::<R>(names));
                if parameters {
                    let Ok(Token::Items(end)) = reader.next() else { break };
                    match reader.extents().map(|extents| extents.count(end)) {
                        Some(Ok(0)) => {}
                        Some(Ok(count)) => {
                            shown.push('{');
                            open.push(count);
                            continue;
                        }
                        Some(Err(_)) | None => break,
                    }
                }
            }
            Ok(Token::Reference(number)) if open.is_empty() && !followed => {
                let Some(place) = (number as usize).checked_sub(1).and_then(|at| apart.get(at)) else { break };
                reader.rewind(*place);
                followed = true;
                continue;
            }
            Ok(Token::Reference(number)) => {
                let _ = write!(shown, "#{number}");
            }
            Ok(Token::TypedValue(TypedValue::Bottom)) => shown.push_str("Union{}"),
            Ok(token) if token.values() == 0 => match value(&token) {
                Some(text) => shown.push_str(&text),
                None => break,
            },
            _ => break,
        }
        while let Some(left) = open.last_mut() {
            *left -= 1;
            if *left > 0 {
                shown.push(',');
                break;
            }
            open.pop();
            shown.push('}');
        }
        if open.is_empty() {
            return shown;
        }
    }
    shown.push('…');
    shown
}

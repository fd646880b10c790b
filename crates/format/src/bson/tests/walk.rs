//! Hosts that keep nothing: each goes through all of a document in a way of its own, and notes where each value ends, outer
//! ones first. What they are given may be any bytes.

use super::model::{BsonValue, Bytes, ExtentReader as _, Reader as _, Token};
use super::{tag, Elements, Reader, Result};
use std::vec;
use std::vec::Vec;

/// A container whose values were not all met.
struct Open {
    left: usize,
    keyed: bool,
    /// Whether what comes before the next value was read.
    begun: bool,
    /// Where it ends, and whether with a byte of its own.
    end: usize,
    closed: bool,
}

/// Token by token. Of a container either all values are counted first, or the small ones are taken uncounted.
pub fn by_tokens(mut r: Reader<'_>, leaves_first: bool) -> Result<Vec<usize>> {
    let whole = r.remaining();
    let (mut ends, mut open) = (Vec::new(), Vec::new());
    loop {
        let mut skipped = r.clone();
        let skip = skipped.skip();
        let token = r.next()?;
        assert_eq!(r.offset() + r.remaining(), whole);
        assert!(skip.expect("what is read can be skipped"));
        let end = skipped.offset();
        ends.push(end);
        match token {
            Token::Members(stop) | Token::Items(stop) => {
                assert_eq!(stop + 1, end);
                let keyed = matches!(token, Token::Members(_));
                let mut begun = false;
                while leaves_first && r.offset() < stop {
                    if keyed {
                        name(&mut r)?;
                    }
                    if r.leaf()?.is_none() {
                        begun = true;
                        break;
                    }
                    ends.push(r.offset());
                }
                let left = if r.offset() == stop && !begun { 0 } else { r.count(stop)? };
                assert!(left <= 1 + r.remaining() / 2);
                open.push(Open { left, keyed, begun, end, closed: true });
            }
            Token::BsonValue(BsonValue::ScopedCode(_)) => {
                open.push(Open { left: 1, keyed: false, begun: true, end, closed: false });
            }
            token => {
                assert_eq!(r.offset(), end);
                check(token);
            }
        }
        // What ends with it. The ends themselves are passed over by what comes next.
        let mut passed = 0;
        while let Some(Open { left: 0, end, closed, .. }) = open.last() {
            passed += usize::from(*closed);
            assert_eq!(r.offset() + passed, *end);
            open.pop();
        }
        let Some(innermost) = open.last_mut() else {
            r.finish()?;
            return Ok(ends);
        };
        innermost.left -= 1;
        if innermost.keyed && !std::mem::take(&mut innermost.begun) {
            name(&mut r)?;
        }
    }
}

/// Reads a key, in both ways.
fn name(r: &mut Reader<'_>) -> Result<()> {
    let mut accepting = r.clone();
    r.key();
    match r.next()? {
        Token::Text(Bytes::Ascii(name)) => {
            assert!(!name.contains(&0) && name.is_ascii());
            assert!(!accepting.accept(&Reader::encoded(&[name, b"x"].concat())));
            assert!(accepting.accept(&Reader::encoded(name)));
            assert_eq!(accepting.offset(), r.offset());
            *r = accepting;
        }
        Token::Text(Bytes::StrictUtf8(name)) => assert!(!name.contains(&0) && !name.is_ascii()),
        other => panic!("no key: {other:?}"),
    }
    Ok(())
}

fn check(token: Token<'_>) {
    match token {
        Token::Text(Bytes::Ascii(bytes)) => assert!(bytes.is_ascii()),
        Token::Text(Bytes::StrictUtf8(bytes)) => assert!(!bytes.is_ascii()),
        Token::Timestamp { nanoseconds, .. } => assert!(nanoseconds < 1_000_000_000),
        Token::BsonValue(BsonValue::Binary { subtype, .. }) => assert_ne!(subtype, 0),
        Token::BsonValue(BsonValue::Regex { pattern, options }) => {
            assert!(!pattern.contains(&0) && !options.contains(&0));
        }
        Token::BsonValue(BsonValue::Document(_)) => panic!("never read"),
        Token::None | Token::Bool(_) | Token::Int(_) | Token::Float(_) | Token::Bytes(_) | Token::BsonValue(_) => {}
        other => panic!("not of this format: {other:?}"),
    }
}

/// By elements, whose values are read each by itself.
pub fn by_elements(document: &[u8]) -> Result<Vec<usize>> {
    let (mut ends, mut open) = (vec![document.len()], vec![(Elements::new(document)?, 0)]);
    while let Some((elements, start)) = open.last_mut() {
        let Some(element) = elements.next().transpose()? else {
            open.pop();
            continue;
        };
        let (at, value) = (*start + element.at, element.value);
        assert!(document[..at].ends_with(&[&[element.tag], element.name, &[0]].concat()));
        assert_eq!(document[at..].as_ptr(), value.as_ptr());
        ends.push(at + value.len());
        if matches!(element.tag, tag::DOCUMENT | tag::ARRAY) {
            open.push((Elements::new(value)?, at));
            continue;
        }
        let mut r = Reader::of_value(element.tag, value);
        if let Token::BsonValue(BsonValue::ScopedCode(_)) = r.next()? {
            ends.push(at + value.len());
            open.push((Elements::new(&value[r.offset()..])?, at + r.offset()));
        } else {
            r.finish()?;
        }
    }
    Ok(ends)
}

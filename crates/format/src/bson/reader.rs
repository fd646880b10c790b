//! Bytes to tokens. Mirrors [`super::Writer`]; borrows from the input, allocates nothing.
//!
//! BSON does not say how many elements a document has, only where it ends. A host takes small values up to there, and asks for
//! the count when something else comes, before it makes room: what is left is gone through from name to name, which also
//! proves that it ends where it should. What is within nested documents is left until they are met. A type byte of 0 can
//! therefore only be the end of a document that the host has all values of, and is passed over (before the end of one that is not
//! counted it is refused): the reader needs no stack.

use super::length::{count, document_body, nul, value_len, Flaw, DOCUMENT_OPEN, NAME_OPEN, NEGATIVE, TEXT_OPEN};
use super::tag;
use crate::cursor::Cursor;
use crate::error::{Error, ErrorKind, Result};
use crate::memory::Vec;
use crate::model::{self, BsonValue, Leaf, Never, Token};
use crate::text::{is_ascii, same_short};

const TEXT_SHORT: &str = "expected the length of a text, 1 or more, found a smaller number";
const BAD_BOOL: &str = "expected a bool of 0 or 1, found another byte";
const OLD_BINARY: &str = "a binary of subtype 2 whose two lengths do not agree";
const CODE_LENGTHS: &str = "code with variables that do not end where its length says";

/// What comes next.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Next {
    /// An element of an array: type, name, value.
    Item,
    /// An element of a document: type, name; then its value.
    Key,
    /// The value of that type.
    Value(u8),
}

/// Reads one document, or one value of one.
#[derive(Debug, Clone)]
pub struct Reader<'i> {
    pub(crate) input: Cursor<'i>,
    pub(crate) next: Next,
    /// Where the container ends that was begun last: until it is counted, nothing says that there is no end before that.
    open_end: u32,
    longs: bool,
    damaged: bool,
}

/// Where in a document a reader is.
#[derive(Debug, Clone, Copy)]
pub struct Place {
    offset: usize,
    next: Next,
    open_end: u32,
}

impl Place {
    /// Where a value of that type begins.
    pub(crate) fn of_value(tag: u8, offset: usize) -> Place {
        Place { offset, next: Next::Value(tag), open_end: 0 }
    }
}

impl<'i> Reader<'i> {
    /// Starts to read a document, which is all of `input`.
    pub fn new(input: &'i [u8]) -> Self {
        Reader::of_value(tag::DOCUMENT, input)
    }

    /// Starts to read the value of an element, which is all of `input`.
    pub fn of_value(tag: u8, input: &'i [u8]) -> Self {
        Reader { input: Cursor::new(input), next: Next::Value(tag), open_end: 0, longs: false, damaged: false }
    }

    /// Tells ints of 64 bits apart, whatever their value.
    pub fn with_longs(self) -> Self {
        Reader { longs: true, ..self }
    }

    /// Also goes into containers that don't end where they say: what stands there up to the damage can be shown.
    pub fn damaged(self) -> Self {
        Reader { damaged: true, ..self }
    }

    /// Where the bytes of a binary stand that is all of the input, and how many there are.
    pub fn binary_data(mut self) -> Result<(usize, usize)> {
        match self.binary()? {
            Token::Bytes(data) | Token::BsonValue(BsonValue::Binary { data, .. }) => {
                Ok((self.input.offset() - data.len(), data.len()))
            }
            _ => self.malformed(NEGATIVE),
        }
    }

    #[cold]
    #[inline(never)]
    pub(crate) fn malformed<T>(&self, why: &'static str) -> Result<T> {
        self.input.error(ErrorKind::Malformed { why })
    }

    /// The type of the next element.
    #[inline(always)]
    fn tag(&mut self) -> Result<u8> {
        loop {
            let [tag] = self.input.array()?;
            if tag != tag::END {
                return Ok(tag);
            }
            if self.input.offset() <= self.open_end as usize {
                return self.malformed(DOCUMENT_OPEN);
            }
        }
    }

    /// The type of the next element of an array; its name says nothing.
    #[inline(always)]
    pub(crate) fn item(&mut self) -> Result<u8> {
        let tag = self.tag()?;
        // Up to the tenth it is one digit.
        match self.input.rest() {
            [digit, 0, ..] if *digit != 0 => self.input.skip_over(2),
            _ => {
                self.cstring()?;
            }
        }
        Ok(tag)
    }

    #[inline(always)]
    pub(crate) fn name(&mut self) -> Result<Leaf<'i>> {
        let tag = self.tag()?;
        let (name, ascii) = self.cstring()?;
        self.next = Next::Value(tag);
        Ok(if ascii { Leaf::Ascii(name) } else { Leaf::Utf8(name) })
    }

    /// Where the next item, or name, begins; where there is none, what comes instead of it.
    #[inline(never)]
    fn behind_type(&self) -> usize {
        let mut ahead = self.clone();
        let found = match self.next {
            Next::Item => ahead.item(),
            _ => ahead.tag(),
        };
        found.map_or(self.input.offset(), |_| ahead.input.offset())
    }

    /// What stands before the next NUL, and whether it is ASCII.
    #[inline(always)]
    fn cstring(&mut self) -> Result<(&'i [u8], bool)> {
        let Some((len, ascii)) = nul(self.input.rest()) else { return self.malformed(NAME_OPEN) };
        Ok((&self.input.take(len + 1)?[..len], ascii))
    }

    #[inline(always)]
    fn i32(&mut self) -> Result<i32> {
        Ok(i32::from_le_bytes(self.input.array()?))
    }

    fn u32(&mut self) -> Result<u32> {
        Ok(u32::from_le_bytes(self.input.array()?))
    }

    #[inline(always)]
    fn i64(&mut self) -> Result<i64> {
        Ok(i64::from_le_bytes(self.input.array()?))
    }

    /// Text with its length before it and a NUL behind it.
    #[inline(always)]
    fn string(&mut self) -> Result<&'i [u8]> {
        let len = match usize::try_from(self.i32()?) {
            Ok(len @ 1..) => len,
            _ => return self.malformed(TEXT_SHORT),
        };
        match self.input.take(len)?.split_last() {
            Some((0, text)) => Ok(text),
            _ => self.malformed(TEXT_OPEN),
        }
    }

    /// Says where the container ends that is being read, as [`Reader::container`] does of one that it begins.
    pub(crate) fn opened(&mut self, end: usize) {
        // Within a document of 31 bits; where it is not, only a check is lost.
        self.open_end = u32::try_from(end).unwrap_or(0);
    }

    /// Whether an end may come next: that of a container all of whose values are there.
    #[inline(always)]
    pub(crate) fn at_end(&self) -> bool {
        self.input.offset() >= self.open_end as usize && self.input.rest().first() == Some(&tag::END)
    }

    /// Begins a document or an array; gives where its end stands.
    #[inline(always)]
    pub(crate) fn container(&mut self) -> Result<usize> {
        let outermost = self.input.offset() == 0;
        let body = match document_body(self.input.rest(), outermost) {
            Ok(body) => body,
            Err(flaw) => return self.unbounded(flaw),
        };
        self.input.array::<4>()?;
        match body.last() {
            Some(&tag::END) => {
                let end = self.input.offset() + body.len() - 1;
                self.opened(end);
                Ok(end)
            }
            _ if self.damaged => Ok(self.input.offset() + body.len() - 1),
            _ => self.malformed(DOCUMENT_OPEN),
        }
    }

    /// Begins a container that the input is too short, or too long, for.
    #[cold]
    #[inline(never)]
    fn unbounded(&mut self, flaw: Flaw) -> Result<usize> {
        if !self.damaged || matches!(flaw.kind, ErrorKind::Malformed { .. }) {
            return Err(self.flawed(flaw));
        }
        let start = self.input.offset();
        let len = u32::from_le_bytes(self.input.array()?) as usize;
        let end = start + len - 1;
        self.opened(end);
        Ok(end)
    }

    #[cold]
    #[inline(never)]
    pub(crate) fn flawed(&self, flaw: Flaw) -> Error {
        Error::new(flaw.kind, self.input.offset() + flaw.at)
    }

    fn binary(&mut self) -> Result<Token<'i>> {
        let Ok(len) = usize::try_from(self.i32()?) else { return self.malformed(NEGATIVE) };
        let [subtype] = self.input.array()?;
        let mut data = self.input.take(len)?;
        if subtype == tag::SUBTYPE_OLD {
            data = match data.split_first_chunk() {
                Some((inner, data)) if usize::try_from(i32::from_le_bytes(*inner)) == Ok(data.len()) => data,
                _ => return self.malformed(OLD_BINARY),
            };
        }
        Ok(if subtype == 0 { Token::Bytes(data) } else { Token::BsonValue(BsonValue::Binary { subtype, data }) })
    }

    fn object_id(&mut self) -> Result<&'i [u8; tag::OBJECT_ID_LEN]> {
        let bytes = self.input.chunks(1)?;
        Ok(&bytes[0])
    }

    fn scoped_code(&mut self) -> Result<Token<'i>> {
        let start = self.input.offset();
        let Ok(len) = usize::try_from(self.i32()?) else { return self.malformed(NEGATIVE) };
        let code = self.string()?;
        let scope = document_body(self.input.rest(), false).map_err(|flaw| self.flawed(flaw))?;
        if self.input.offset() - start + 4 + scope.len() != len {
            return self.malformed(CODE_LENGTHS);
        }
        self.next = Next::Value(tag::DOCUMENT);
        Ok(Token::BsonValue(BsonValue::ScopedCode(code)))
    }

    /// A value of that type, if it is one of the small ones.
    #[inline(always)]
    pub(crate) fn leaf_of(&mut self, tag: u8) -> Result<Option<Leaf<'i>>> {
        self.next = Next::Item;
        Ok(Some(match tag {
            tag::STRING => text(self.string()?),
            tag::INT_32 => Leaf::Int(i64::from(self.i32()?)),
            tag::DOUBLE => Leaf::Float(f64::from_le_bytes(self.input.array()?)),
            tag::NULL | tag::UNDEFINED => Leaf::None,
            tag::BOOL => match self.input.array()? {
                [value @ 0..=1] => Leaf::Bool(value == 1),
                _ => return self.malformed(BAD_BOOL),
            },
            tag::INT_64 if !self.longs => Leaf::Int(self.i64()?),
            _ => {
                self.next = Next::Value(tag);
                return Ok(None);
            }
        }))
    }

    /// What is not on the way of every small value.
    #[inline(never)]
    fn rare(&mut self, tag: u8) -> Result<Token<'i>> {
        Ok(match tag {
            tag::BINARY => self.binary()?,
            tag::OBJECT_ID => Token::BsonValue(BsonValue::ObjectId(self.object_id()?)),
            tag::DATETIME => {
                let milliseconds = self.i64()?;
                let nanoseconds = milliseconds.rem_euclid(1000) as u32 * 1_000_000;
                Token::Timestamp { seconds: milliseconds.div_euclid(1000), nanoseconds }
            }
            tag::REGEX => {
                let (pattern, _) = self.cstring()?;
                Token::BsonValue(BsonValue::Regex { pattern, options: self.cstring()?.0 })
            }
            tag::POINTER => {
                let collection = self.string()?;
                Token::BsonValue(BsonValue::Pointer { collection, id: self.object_id()? })
            }
            tag::CODE => Token::BsonValue(BsonValue::Code(self.string()?)),
            tag::SYMBOL => text(self.string()?).into(),
            tag::SCOPED_CODE => self.scoped_code()?,
            tag::CLOCK => {
                let count = self.u32()?;
                Token::BsonValue(BsonValue::Clock { seconds: self.u32()?, count })
            }
            tag::INT_64 => Token::BsonValue(BsonValue::Long(self.i64()?)),
            tag::DECIMAL => Token::BsonValue(BsonValue::Decimal(&self.input.chunks(1)?[0])),
            tag::MIN_KEY => Token::BsonValue(BsonValue::MinKey),
            tag::MAX_KEY => Token::BsonValue(BsonValue::MaxKey),
            _ => return self.input.error(ErrorKind::UnknownTag { tag }),
        })
    }
}

#[inline(always)]
fn text(bytes: &[u8]) -> Leaf<'_> {
    if is_ascii(bytes) {
        Leaf::Ascii(bytes)
    } else {
        Leaf::Utf8(bytes)
    }
}

impl<'i> model::Reader<'i> for Reader<'i> {
    const UNIQUE_KEYS: bool = false;
    const KEYS_ARE_TEXT: bool = true;
    const NAIVE_IS_UTC: bool = true;
    const VALUES_ARE_NAMED: bool = true;
    const TYPES: bool = false;
    const COUNTS: bool = false;
    type Place = Place;
    type Shapes = Never;
    type Extents = Self;
    type Typed = Never;
    type Indexed = Never;

    #[inline(always)]
    fn next(&mut self) -> Result<Token<'i>> {
        if let Some(leaf) = self.leaf()? {
            return Ok(leaf.into());
        }
        match std::mem::replace(&mut self.next, Next::Item) {
            Next::Value(tag::DOCUMENT) => Ok(Token::Members(self.container()?)),
            Next::Value(tag::ARRAY) => Ok(Token::Items(self.container()?)),
            Next::Value(tag) => self.rare(tag),
            // No leaf leaves one of these behind.
            Next::Item | Next::Key => self.rare(tag::END),
        }
    }

    #[inline(always)]
    fn leaf(&mut self) -> Result<Option<Leaf<'i>>> {
        let tag = match self.next {
            Next::Value(tag) => tag,
            Next::Item => self.item()?,
            Next::Key => return self.name().map(Some),
        };
        self.leaf_of(tag)
    }

    #[inline(always)]
    fn key(&mut self) {
        self.next = Next::Key;
    }

    fn encoded(text: &[u8]) -> Vec<u8> {
        if text.contains(&0) {
            return Vec::new();
        }
        let mut encoded = Vec::with_capacity(text.len() + 1);
        encoded.extend_from_slice(text);
        encoded.push(0);
        encoded
    }

    #[inline(always)]
    fn accept(&mut self, encoded: &[u8]) -> bool {
        // Behind the ends of documents that are complete.
        while let [tag::END, ..] = self.input.rest() {
            if self.input.offset() < self.open_end as usize {
                return false;
            }
            self.input.skip_over(1);
        }
        let [tag, rest @ ..] = self.input.rest() else { return false };
        let same = !encoded.is_empty() && rest.get(..encoded.len()).is_some_and(|head| same_short(head, encoded));
        if same {
            self.input.skip_over(1 + encoded.len());
            self.next = Next::Value(*tag);
        }
        same
    }

    #[inline(always)]
    fn offset(&self) -> usize {
        self.input.offset()
    }

    #[inline(always)]
    fn start(&self) -> usize {
        match self.next {
            Next::Value(_) => self.offset(),
            Next::Item | Next::Key => self.behind_type(),
        }
    }

    #[inline(always)]
    fn remaining(&self) -> usize {
        self.input.remaining()
    }

    #[inline(always)]
    fn place(&self) -> Place {
        Place { offset: self.input.offset(), next: self.next, open_end: self.open_end }
    }

    #[inline(always)]
    fn rewind(&mut self, place: Place) {
        self.input.rewind(place.offset);
        self.next = place.next;
        self.open_end = place.open_end;
    }

    fn finish(&self) -> Result<()> {
        let mut input = self.input.clone();
        while input.accept(&[tag::END]) {}
        input.finish()
    }

    /// Only sizes are looked at.
    fn skip(&mut self) -> Result<bool> {
        let tag = match self.next {
            Next::Value(tag) => tag,
            Next::Item => self.item()?,
            Next::Key => {
                self.name()?;
                return Ok(true);
            }
        };
        self.next = Next::Item;
        let len = value_len(tag, self.input.rest()).map_err(|flaw| self.flawed(flaw))?;
        self.input.take(len)?;
        Ok(true)
    }

    #[inline(always)]
    fn extents(&self) -> Option<&Self::Extents> {
        Some(self)
    }
}

impl model::ExtentReader for Reader<'_> {
    #[inline]
    fn count(&self, end: usize) -> Result<usize> {
        let body = end.checked_sub(self.input.offset()).and_then(|last| self.input.rest().get(..=last));
        let Some(body) = body else { return self.malformed(DOCUMENT_OPEN) };
        let counted = match self.next {
            // The type and the name of the next one were read.
            Next::Value(tag) => match value_len(tag, body) {
                Ok(len) => count(body.get(len..).unwrap_or_default()).map(|others| 1 + others),
                Err(flaw) => Err(flaw),
            },
            _ => count(body),
        };
        counted.map_err(|flaw| self.flawed(flaw))
    }
}

//! Bytes to tokens. Mirrors [`super::Writer`], function by function; borrows from the input, allocates nothing.

use super::{tag, Structure};
use crate::cursor::Cursor;
use crate::error::{ErrorKind, Result};
use crate::memory::Vec;
use crate::model::{
    self, ArrayHeader, Bytes, Dimensions, Element, Leaf, LispNumbers, LispValue, Never, Offsets, Token,
};
use crate::text::is_ascii;
use std::sync::Arc;

const BAD_INTEGER: &str = "expected an integer of at most 64 bits, found another value";
const BAD_LENGTH: &str = "expected a length, found a negative number";
const BAD_STRING: &str = "expected a symbol's name as a string, found another value";
const BAD_FLAG: &str = "expected T or NIL, found another value";
const BAD_ELEMENT: &str = "expected the element type of an array, found an unknown number";
const BAD_VERSION: &str = "expected version 1 of cl-binary-store's basic codespace, found another";
const BAD_ACTION: &str = "expected a version, a count of references or an end, found an unknown action";
const INNER_ACTION: &str = "a version, a count of references or an end within a value";

/// Reads values, one behind the other.
#[derive(Debug, Clone)]
pub struct Reader<'i> {
    input: Cursor<'i>,
    /// An end marker was met.
    ended: bool,
    /// What the message is made of, where a part of it is read.
    structure: Option<&'i Structure>,
}

/// What begins most values of a graph of conses.
#[derive(Debug, Clone, Copy)]
pub(super) enum Head {
    AssignId,
    Cons,
    /// Of so many, if they are few.
    List(u8),
}

impl<'i> Reader<'i> {
    /// Starts to read what one call of `store` wrote.
    pub fn new(input: &'i [u8]) -> Self {
        Reader { input: Cursor::new(input), ended: false, structure: None }
    }

    /// Starts with the value at `at` of a message.
    pub(super) fn from(input: &'i [u8], at: usize) -> Self {
        let mut reader = Reader::new(input);
        reader.input.rewind(at);
        reader
    }

    /// The same, for a host that builds it: what it refers to may stand anywhere in the message.
    pub fn within(input: &'i [u8], structure: &'i Structure, at: usize) -> Self {
        Reader { structure: Some(structure), ..Reader::from(input, at) }
    }

    /// Steps over the code of an id or of conses, if that comes next.
    #[inline(always)]
    pub(super) fn head(&mut self) -> Option<Head> {
        let (head, len) = match *self.input.rest() {
            [tag::ASSIGN_ID, ..] => (Head::AssignId, 1),
            [tag::CONS, ..] => (Head::Cons, 1),
            [tag::LIST, len @ tag::LENGTH_FIX..=u8::MAX, ..] => (Head::List(len - tag::LENGTH_FIX), 2),
            _ => return None,
        };
        self.input.skip_over(len);
        Some(head)
    }

    /// Steps over what may stand between outermost values. `true`: a value follows; `false`: the end.
    pub fn more(&mut self) -> Result<bool> {
        while !self.ended {
            let before = self.input.offset();
            let Some((&tag, _)) = self.input.rest().split_first() else { return Ok(false) };
            if tag != tag::ACTION {
                return Ok(true);
            }
            let [_, action] = self.input.array()?;
            match action {
                tag::MAGIC_NUMBER => {
                    if self.integer()? != tag::VERSION {
                        self.input.rewind(before);
                        return self.input.error(ErrorKind::Malformed { why: BAD_VERSION });
                    }
                }
                // Only a hint for readers that keep references in an array.
                tag::REFERENCE_COUNT => {
                    self.integer()?;
                }
                tag::END => self.ended = true,
                _ => {
                    self.input.rewind(before);
                    return self.input.error(ErrorKind::Malformed { why: BAD_ACTION });
                }
            }
        }
        Ok(false)
    }

    /// An integer that is no bignum.
    fn integer(&mut self) -> Result<i64> {
        let before = self.input.offset();
        if let Some(Leaf::Int(value)) = model::Reader::leaf(self)? {
            return Ok(value);
        }
        self.input.rewind(before);
        self.input.error(ErrorKind::Malformed { why: BAD_INTEGER })
    }

    fn count(&mut self) -> Result<usize> {
        let before = self.input.offset();
        match usize::try_from(self.integer()?) {
            Ok(count) => Ok(count),
            Err(_) => {
                self.input.rewind(before);
                self.input.error(ErrorKind::Malformed { why: BAD_LENGTH })
            }
        }
    }

    /// A length within a code.
    #[inline(always)]
    fn length(&mut self) -> Result<usize> {
        let [first] = self.input.array()?;
        if first >= tag::LENGTH_FIX {
            return Ok(usize::from(first - tag::LENGTH_FIX));
        }
        self.wide_length(first)
    }

    #[inline(never)]
    fn wide_length(&mut self, form: u8) -> Result<usize> {
        let more = match form {
            tag::UINT_8 => u64::from(u8::from_le_bytes(self.input.array()?)),
            tag::UINT_16 => u64::from(u16::from_le_bytes(self.input.array()?)),
            tag::UINT_32 => u64::from(u32::from_le_bytes(self.input.array()?)),
            _ => u64::from_le_bytes(self.input.array()?),
        };
        match usize::try_from(more).ok().and_then(|more| more.checked_add(tag::LENGTH_FIX_MAX + 1)) {
            Some(len) if more < 1 << 62 => Ok(len),
            _ => self.input.error(ErrorKind::TooLong),
        }
    }

    #[inline(always)]
    fn utf8(&mut self) -> Result<Leaf<'i>> {
        let len = self.length()?;
        let bytes = self.input.take(len)?;
        Ok(if is_ascii(bytes) { Leaf::Ascii(bytes) } else { Leaf::Utf8(bytes) })
    }

    #[inline(always)]
    fn base_string(&mut self) -> Result<Leaf<'i>> {
        let len = self.length()?;
        let bytes = self.input.take(len)?;
        match is_ascii(bytes) {
            true => Ok(Leaf::Ascii(bytes)),
            false => self.input.error(ErrorKind::NotAscii),
        }
    }

    /// A string as it stands in a symbol: without a reference id.
    fn name(&mut self) -> Result<Bytes<'i>> {
        let before = self.input.offset();
        let [tag] = self.input.array()?;
        let leaf = match tag {
            tag::BASE_STRING => self.base_string()?,
            tag::STRING => self.utf8()?,
            _ => {
                self.input.rewind(before);
                return self.input.error(ErrorKind::Malformed { why: BAD_STRING });
            }
        };
        match leaf {
            Leaf::Ascii(bytes) => Ok(Bytes::Ascii(bytes)),
            Leaf::Utf8(bytes) => Ok(Bytes::StrictUtf8(bytes)),
            _ => self.input.error(ErrorKind::Malformed { why: BAD_STRING }),
        }
    }

    fn flag(&mut self) -> Result<bool> {
        let before = self.input.offset();
        match self.input.array()? {
            [tag::TRUE] => Ok(true),
            [tag::NIL] => Ok(false),
            _ => {
                self.input.rewind(before);
                self.input.error(ErrorKind::Malformed { why: BAD_FLAG })
            }
        }
    }

    /// The lengths of an array's dimensions, and how many elements that makes.
    fn dimensions(&mut self) -> Result<(Dimensions<'i>, usize)> {
        let [rank] = self.input.array()?;
        let (before, at) = (self.input.rest(), self.input.offset());
        let mut total = Some(1usize);
        for _ in 0..rank {
            let len = self.count()?;
            total = total.and_then(|total| total.checked_mul(len));
        }
        let Some(total) = total else { return self.input.error(ErrorKind::TooLong) };
        let used = before.len() - self.input.remaining();
        Ok((Dimensions(&before[..used], at), total))
    }

    fn element(&mut self) -> Result<Element> {
        let before = self.input.offset();
        let [code] = self.input.array()?;
        match tag::element(code) {
            Some(element) => Ok(element),
            None => {
                self.input.rewind(before);
                self.input.error(ErrorKind::Malformed { why: BAD_ELEMENT })
            }
        }
    }

    fn elements(&mut self, element: Element, len: usize) -> Result<&'i [u8]> {
        match tag::element_bytes(element, len) {
            Some(bytes) => self.input.take(bytes),
            None => self.input.error(ErrorKind::TooLong),
        }
    }

    /// What is not on the way of every small value.
    #[inline(never)]
    fn rare(&mut self, tag: u8) -> Result<Token<'i>> {
        let value = match tag {
            tag::BIGNUM => {
                let words = self.integer()?;
                let len = usize::try_from(words.unsigned_abs()).ok().and_then(|words| words.checked_mul(4));
                let Some(len) = len else { return self.input.error(ErrorKind::TooLong) };
                LispValue::Bignum { negative: words < 0, magnitude: self.input.take(len)? }
            }
            tag::SINGLE_FLOAT => LispValue::Single(f32::from_le_bytes(self.input.array()?)),
            tag::RATIO => LispValue::Ratio,
            tag::COMPLEX => LispValue::Complex,
            tag::COMPLEX_DOUBLE => {
                let real = f64::from_le_bytes(self.input.array()?);
                return Ok(Token::Complex(real, f64::from_le_bytes(self.input.array()?)));
            }
            tag::COMPLEX_SINGLE => {
                let real = f32::from_le_bytes(self.input.array()?);
                LispValue::ComplexSingle(real, f32::from_le_bytes(self.input.array()?))
            }
            tag::UNINTERNED => LispValue::Uninterned(self.name()?),
            tag::VECTOR => {
                let len = self.length()?;
                let element = self.element()?;
                LispValue::Vector { element, len, data: self.elements(element, len)? }
            }
            tag::SIMPLE_ARRAY => {
                let (dimensions, len) = self.dimensions()?;
                let element = self.element()?;
                LispValue::Packed { element, dimensions, len, data: self.elements(element, len)? }
            }
            tag::ARRAY => {
                let fill_pointer = match self.flag()? {
                    true => Some(self.count()?),
                    false => None,
                };
                let adjustable = self.flag()?;
                let (dimensions, len) = self.dimensions()?;
                let displaced = self.flag()?;
                // Each element takes a byte or more; one that is displaced has none of its own.
                if !displaced {
                    self.input.claim(len, 1)?;
                }
                LispValue::Array(ArrayHeader { fill_pointer, adjustable, displaced, dimensions, len })
            }
            tag::OBJECT_INFO => match self.integer()? {
                number if number < 0 => LispValue::KnownInfo(number.unsigned_abs()),
                #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)]
                slots => LispValue::Info { slots: self.input.claim(slots as usize, 1)? },
            },
            tag::UNBOUND => LispValue::Unbound,
            tag::PATHNAME => LispValue::Pathname,
            tag::HASH_TABLE => {
                let count = self.count()?;
                let size = self.count()?;
                LispValue::HashTable { count: self.input.claim(count, 2)?, size }
            }
            tag::ACTION => return self.input.error(ErrorKind::Malformed { why: INNER_ACTION }),
            _ => return self.input.error(ErrorKind::UnknownTag { tag }),
        };
        Ok(Token::LispValue(value))
    }

    #[inline(always)]
    fn reference_8(&mut self, tag: u8) -> Result<u64> {
        let [high] = self.input.array()?;
        Ok(tag::FIRST_ID_8 + u64::from(tag - tag::REFERENCE_8) + (u64::from(high) << tag::ID_BITS))
    }

    #[inline(always)]
    fn reference_16(&mut self, tag: u8) -> Result<u64> {
        let high = u16::from_le_bytes(self.input.array()?);
        Ok(tag::FIRST_ID_16 + u64::from(tag - tag::REFERENCE_16) + (u64::from(high) << tag::ID_BITS))
    }

    #[inline(never)]
    fn far_reference(&mut self) -> Result<u64> {
        let more = self.integer()?.checked_sub(tag::INTEGER_MIN).and_then(|more| u64::try_from(more).ok());
        match more.and_then(|more| more.checked_add(tag::FIRST_ID)) {
            Some(id) => Ok(id),
            None => self.input.error(ErrorKind::BadReference { number: 0 }),
        }
    }
}

impl<'i> model::Reader<'i> for Reader<'i> {
    const UNIQUE_KEYS: bool = false;
    const KEYS_ARE_TEXT: bool = false;
    const NAIVE_IS_UTC: bool = false;
    const VALUES_ARE_NAMED: bool = false;
    const TYPES: bool = false;
    const COUNTS: bool = false;
    type Place = usize;
    type Shapes = Never;
    type Extents = Never;
    type Typed = Never;
    type Indexed = Self;

    #[inline]
    fn next(&mut self) -> Result<Token<'i>> {
        if let Some(leaf) = self.leaf()? {
            return Ok(leaf.into());
        }
        let [tag] = self.input.array()?;
        Ok(match tag {
            tag::ASSIGN_ID => Token::AssignId,
            tag::LIST => {
                let len = self.length()?;
                Token::LispValue(LispValue::List(self.input.claim(len, 1)?))
            }
            tag::CONS => Token::LispValue(LispValue::Cons),
            tag::SIMPLE_VECTOR => {
                let len = self.length()?;
                Token::Tuple(self.input.claim(len, 1)?)
            }
            tag::OBJECT => Token::LispValue(LispValue::Object),
            tag::SYMBOL => Token::LispValue(LispValue::Symbol(self.name()?)),
            // Of a part of a message: `leaf` leaves them to this.
            tag::REFERENCE_FIX..tag::REFERENCE_8 => Token::Reference(u64::from(tag - tag::REFERENCE_FIX) + 1),
            tag::REFERENCE_8..tag::REFERENCE_16 => Token::Reference(self.reference_8(tag)?),
            tag::REFERENCE_16..tag::INTEGER_FIX => Token::Reference(self.reference_16(tag)?),
            tag::REFERENCE => Token::Reference(self.far_reference()?),
            _ => return self.rare(tag),
        })
    }

    #[inline(always)]
    fn leaf(&mut self) -> Result<Option<Leaf<'i>>> {
        let [tag] = self.input.array()?;
        Ok(Some(match tag {
            tag::INTEGER_FIX..tag::USER => Leaf::Int(i64::from(tag) - i64::from(tag::ZERO)),
            tag::REFERENCE_FIX..tag::INTEGER_FIX if self.structure.is_some() => {
                self.input.step_back();
                return Ok(None);
            }
            tag::REFERENCE_FIX..tag::REFERENCE_8 => Leaf::Reference(u64::from(tag - tag::REFERENCE_FIX) + 1),
            tag::REFERENCE_8..tag::REFERENCE_16 => Leaf::Reference(self.reference_8(tag)?),
            tag::REFERENCE_16..tag::INTEGER_FIX => Leaf::Reference(self.reference_16(tag)?),
            tag::UINT_8 => Leaf::Int(i64::from(u8::from_le_bytes(self.input.array()?))),
            tag::UINT_16 => Leaf::Int(i64::from(u16::from_le_bytes(self.input.array()?))),
            tag::UINT_32 => Leaf::Int(i64::from(u32::from_le_bytes(self.input.array()?))),
            tag::INT_64 => Leaf::Int(i64::from_le_bytes(self.input.array()?)),
            tag::NEGATED_8 => Leaf::Int(-i64::from(u8::from_le_bytes(self.input.array()?))),
            tag::NEGATED_16 => Leaf::Int(-i64::from(u16::from_le_bytes(self.input.array()?))),
            tag::NEGATED_32 => Leaf::Int(-i64::from(u32::from_le_bytes(self.input.array()?))),
            tag::DOUBLE_FLOAT => Leaf::Float(f64::from_le_bytes(self.input.array()?)),
            tag::DOUBLE_ZERO => Leaf::Float(0.0),
            tag::NIL => Leaf::None,
            tag::TRUE => Leaf::Bool(true),
            tag::BASE_STRING => self.base_string()?,
            tag::STRING => self.utf8()?,
            tag::REFERENCE if self.structure.is_none() => Leaf::Reference(self.far_reference()?),
            _ => {
                self.input.step_back();
                return Ok(None);
            }
        }))
    }

    fn encoded(text: &[u8]) -> Vec<u8> {
        let mut writer = super::Writer::new(Vec::new());
        model::Writer::text(&mut writer, model::Text::Ascii(text));
        writer.out
    }

    #[inline(always)]
    fn accept(&mut self, encoded: &[u8]) -> bool {
        self.input.accept(encoded)
    }

    #[inline(always)]
    fn offset(&self) -> usize {
        self.input.offset()
    }

    #[inline(always)]
    fn remaining(&self) -> usize {
        self.input.remaining()
    }

    #[inline(always)]
    fn place(&self) -> usize {
        self.input.offset()
    }

    #[inline(always)]
    fn rewind(&mut self, place: usize) {
        self.input.rewind(place);
    }

    fn another(&mut self) -> Result<bool> {
        self.more()
    }

    #[inline(always)]
    fn indexed(&self) -> Option<&Self> {
        self.structure.is_some().then_some(self)
    }

    /// What follows an end marker is not looked at.
    fn finish(&self) -> Result<()> {
        let mut rest = self.clone();
        match rest.more() {
            Ok(false) => Ok(()),
            Ok(true) => self.input.finish(),
            Err(error) => Err(error),
        }
    }
}

impl<'i> model::IndexedReader<'i, usize> for Reader<'i> {
    /// Ids are counted from 1.
    fn counts(&self) -> Result<(u64, u64)> {
        let before = self.structure.map_or(0, |structure| structure.ids_before(self.input.offset()));
        Ok((before as u64 + 1, 0))
    }

    fn place_of(&self, number: u64) -> Result<usize> {
        let place = self.structure.and_then(|structure| structure.place_of(number));
        place.map_or_else(|| self.input.error(ErrorKind::BadReference { number }), Ok)
    }

    fn shape_of(&self, number: usize) -> Result<(model::Shape<'i>, u64)> {
        self.input.error(ErrorKind::BadShape { number: number as u64 })
    }
}

impl<'i> model::LispReader<'i> for Reader<'i> {
    fn more(&mut self) -> Result<bool> {
        Reader::more(self)
    }

    #[inline]
    fn numbers(&mut self, most: usize) -> Option<LispNumbers<'i>> {
        const LEAST: usize = 4;
        let rest = self.input.rest();
        let wide = |tag: u8| {
            let (chunks, _) = rest.as_chunks::<9>();
            let chunks = &chunks[..chunks.len().min(most)];
            &chunks[..chunks.iter().position(|chunk| chunk[0] != tag).unwrap_or(chunks.len())]
        };
        let (len, found) = match *rest.first()? {
            tag::INTEGER_FIX..tag::USER => {
                let bytes = &rest[..rest.len().min(most)];
                let is_small = |byte: &u8| (tag::INTEGER_FIX..tag::USER).contains(byte);
                let bytes = &bytes[..bytes.iter().position(|byte| !is_small(byte)).unwrap_or(bytes.len())];
                (bytes.len(), LispNumbers::Small(bytes, tag::INTEGER_FIX, tag::INTEGER_MIN))
            }
            tag::INT_64 => {
                let chunks = wide(tag::INT_64);
                (9 * chunks.len(), LispNumbers::Ints(chunks))
            }
            tag::DOUBLE_FLOAT => {
                let chunks = wide(tag::DOUBLE_FLOAT);
                (9 * chunks.len(), LispNumbers::Floats(chunks))
            }
            _ => return None,
        };
        if len < LEAST {
            return None;
        }
        self.input.skip_over(len);
        Some(found)
    }

    fn improper(&self) -> Result<Arc<Offsets>> {
        match self.structure {
            Some(structure) => Ok(structure.improper()),
            None => Structure::of(self.input.whole()).map(|structure| structure.improper()),
        }
    }

    fn info_place(&self, number: u64) -> Option<usize> {
        self.structure.and_then(|structure| structure.info_place(number))
    }

    fn dimensions(dimensions: Dimensions<'i>) -> impl Iterator<Item = Result<usize>> {
        let mut reader = Reader::new(dimensions.0);
        std::iter::from_fn(move || match reader.input.remaining() {
            0 => None,
            _ => Some(reader.count().map_err(|error| error.shifted(dimensions.1))),
        })
    }
}

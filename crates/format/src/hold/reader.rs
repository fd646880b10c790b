//! Bytes to tokens. Mirrors [`super::Writer`], function by function; borrows from the input, allocates nothing.

use super::tag;
use crate::cursor::Cursor;
use crate::error::{Error, ErrorKind, Result};
use crate::memory::Vec;
use crate::model::{self, Bytes, Ints, Leaf, Name, Never, RareLeaf, Reader as _, Seq, Shape, ShapeKind, Token};
use crate::text::is_ascii;

/// Reads one message.
#[derive(Debug, Clone)]
pub struct Reader<'i> {
    input: Cursor<'i>,
    trusted: bool,
}

/// Mirror of the writer's.
#[inline(always)]
pub(super) fn length(input: &mut Cursor<'_>) -> Result<usize> {
    match input.array::<1>()?[0] {
        tag::LENGTH_16 => Ok(usize::from(u16::from_le_bytes(input.array()?))),
        tag::LENGTH_32 => {
            let len = u32::from_le_bytes(input.array()?);
            addressable(input, u64::from(len))
        }
        tag::LENGTH_64 => {
            let len = u64::from_le_bytes(input.array()?);
            addressable(input, len)
        }
        255 => input.error(ErrorKind::TooLong),
        len => Ok(usize::from(len)),
    }
}

fn addressable(input: &Cursor<'_>, len: u64) -> Result<usize> {
    match isize::try_from(len) {
        #[allow(clippy::cast_sign_loss)]
        Ok(len) => Ok(len as usize),
        Err(_) => input.error(ErrorKind::TooLong),
    }
}

impl<'i> Reader<'i> {
    /// Starts to read a message. A trusted one is refused here, before its body, unless `trust`.
    pub fn new(input: &'i [u8], trust: bool) -> Result<Self> {
        let mut input = Cursor::new(input);
        let trusted = match input.array()? {
            [tag::VERSION] => false,
            [tag::VERSION_TRUSTED] if trust => true,
            [tag::VERSION_CONTINUED] if trust => return Err(Error::new(ErrorKind::Continued, 0)),
            [tag::VERSION_TRUSTED | tag::VERSION_CONTINUED] => return Err(Error::new(ErrorKind::Trusted, 0)),
            [byte] => return Err(Error::new(ErrorKind::UnknownVersion { byte }, 0)),
        };
        Ok(Reader { input, trusted })
    }

    /// Mirror of [`super::Writer::continued`]: a message, and how many objects and shapes were before it. Any other message goes
    /// on with none.
    pub fn continued(input: &'i [u8], trust: bool) -> Result<(Self, u64, u64)> {
        let [tag::VERSION_CONTINUED, rest @ ..] = input else { return Ok((Reader::new(input, trust)?, 0, 0)) };
        if !trust {
            return Err(Error::new(ErrorKind::Trusted, 0));
        }
        let mut rest = Cursor::new(rest);
        let mut count = || length(&mut rest).map_err(|error| error.shifted(1));
        let (objects, shapes) = (count()? as u64, count()? as u64);
        Ok((Reader::from(input, 1 + rest.offset(), true), objects, shapes))
    }

    #[inline(always)]
    fn length(&mut self) -> Result<usize> {
        length(&mut self.input)
    }

    fn ucs2(&mut self) -> Result<Bytes<'i>> {
        let len = self.length()?;
        Ok(Bytes::Ucs2(self.input.chunks::<2>(len)?.as_flattened()))
    }

    /// What stands from `at` on in the same message: the next token is there.
    pub(super) fn from(message: &'i [u8], at: usize, trusted: bool) -> Self {
        let mut input = Cursor::new(message);
        input.skip_over(at);
        Reader { input, trusted }
    }

    /// A count of values that follow, each of `least` bytes or more: checked against what is left, so that a host may
    /// allocate for them.
    #[inline(always)]
    fn values(&mut self, least: usize) -> Result<usize> {
        let len = self.length()?;
        self.input.claim(len, least)
    }

    #[inline(always)]
    fn blob(&mut self) -> Result<&'i [u8]> {
        let len = self.length()?;
        self.input.take(len)
    }

    #[inline(always)]
    fn ascii(&mut self, len: usize) -> Result<&'i [u8]> {
        let bytes = self.input.take(len)?;
        if !is_ascii(bytes) {
            return self.input.error(ErrorKind::NotAscii);
        }
        Ok(bytes)
    }

    fn ints(&mut self, seq: Seq, width: u8) -> Result<Token<'i>> {
        let len = self.length()?;
        let run = match width {
            0 => Ints::I8(self.input.take(len)?),
            1 => Ints::I16(self.input.chunks(len)?),
            2 => Ints::I32(self.input.chunks(len)?),
            _ => Ints::I64(self.input.chunks(len)?),
        };
        Ok(Token::Ints(seq, run))
    }

    fn floats(&mut self, seq: Seq) -> Result<Token<'i>> {
        let len = self.length()?;
        Ok(Token::Floats(seq, self.input.chunks(len)?))
    }

    fn bools(&mut self, seq: Seq) -> Result<Token<'i>> {
        let run = self.blob()?;
        if run.iter().any(|&byte| byte > 1) {
            return self.input.error(ErrorKind::UnknownTag { tag: tag::LIST_BOOL });
        }
        Ok(Token::Bools(seq, run))
    }

    /// Of a run of bools or texts: how many items it has, and where its block begins. Nothing of the block is looked at.
    pub(super) fn run_head(&mut self) -> Option<(usize, usize)> {
        let [tag] = self.input.array::<1>().ok()?;
        if !matches!(tag, tag::LIST_BOOL | tag::TUPLE_BOOL | tag::LIST_ASCII | tag::TUPLE_ASCII) {
            return None;
        }
        Some((self.length().ok()?, self.input.offset()))
    }

    fn texts(&mut self, seq: Seq) -> Result<Token<'i>> {
        let lengths = self.blob()?;
        let text = self.input.take(lengths.iter().map(|&len| usize::from(len)).sum())?;
        if !text.is_ascii() {
            return self.input.error(ErrorKind::NotAscii);
        }
        Ok(Token::Texts(seq, lengths, text))
    }

    fn shape(&mut self, kind: ShapeKind) -> Result<Token<'i>> {
        let version = if kind == ShapeKind::Dict { 0 } else { self.length()? as u64 };
        let fields = self.length()?;
        let len = self.length()?;
        let at = self.input.offset();
        let block = self.input.take(len)?;
        // A name takes at least a byte.
        if fields > block.len() {
            return self.input.error(ErrorKind::BadName);
        }
        if fields > 0 && matches!(kind, ShapeKind::Enum | ShapeKind::Custom) {
            return self.input.error(ErrorKind::Malformed { why: "a layout with fields, of a kind that has none" });
        }
        Ok(Token::NewShape(Shape { kind, version, fields, block, at }))
    }

    /// A container that says how many values follow, where `beyond` bytes follow what is here: its count is measured by both.
    #[cold]
    pub(super) fn count(&mut self, beyond: usize) -> Option<Token<'i>> {
        let before = self.input.offset();
        let counted = |input: &mut Cursor<'i>| {
            let [tag] = input.array().ok()?;
            let least = if tag == tag::DICT { 2 } else { 1 };
            let (len, kind) = match tag {
                tag::LIST_FIX..tag::TUPLE_FIX => (usize::from(tag - tag::LIST_FIX), tag::LIST),
                tag::TUPLE_FIX..tag::INSTANCE_FIX => (usize::from(tag - tag::TUPLE_FIX), tag::TUPLE),
                tag::LIST | tag::TUPLE | tag::SET | tag::FROZENSET | tag::DICT => (length(input).ok()?, tag),
                _ => return None,
            };
            (len <= (input.remaining() + beyond) / least).then_some(match kind {
                tag::LIST => Token::List(len),
                tag::TUPLE => Token::Tuple(len),
                tag::SET => Token::Set(len),
                tag::FROZENSET => Token::FrozenSet(len),
                _ => Token::Dict(len),
            })
        };
        let found = counted(&mut self.input);
        if found.is_none() {
            self.input.rewind(before);
        }
        found
    }

    /// How many bytes the content of a text, of bytes or of a run of numbers takes, which begins where this stands then.
    #[cold]
    pub(super) fn leaf_len(&mut self) -> Option<usize> {
        let [tag] = self.input.array().ok()?;
        let width = match tag {
            tag::ASCII | tag::LATIN_1 | tag::UTF_8 | tag::BYTES | tag::BYTEARRAY | tag::INT_BIG => 1,
            tag::LIST_BOOL | tag::TUPLE_BOOL => 1,
            tag::UCS_2 => 2,
            tag::LIST_I8..=tag::LIST_I64 => 1 << (tag - tag::LIST_I8),
            tag::TUPLE_I8..=tag::TUPLE_I64 => 1 << (tag - tag::TUPLE_I8),
            tag::LIST_F64 | tag::TUPLE_F64 => 8,
            _ => return None,
        };
        self.length().ok()?.checked_mul(width)
    }

    /// A mark of a text.
    fn named(&mut self) -> Result<Token<'i>> {
        match self.input.clone().array::<1>()? {
            [tag::ASCII_FIX..tag::LIST_FIX | tag::ASCII..=tag::UTF_8] => Ok(Token::AssignId),
            _ => {
                self.input.error(ErrorKind::Malformed { why: "expected a text that gets a name, found another value" })
            }
        }
    }

    fn class(&mut self) -> Result<Token<'i>> {
        match self.input.array::<1>()?[0] {
            tag::KIND_OBJECT => self.shape(ShapeKind::Object),
            tag::KIND_BASED => self.shape(ShapeKind::Based),
            tag::KIND_ENUM => self.shape(ShapeKind::Enum),
            tag::KIND_CUSTOM => self.shape(ShapeKind::Custom),
            code => self.input.error(ErrorKind::UnknownCode { code }),
        }
    }

    fn buffer(&mut self) -> Result<Token<'i>> {
        let [code] = self.input.array()?;
        let Some(out_of_band) = tag::out_of_band(code) else {
            return self.input.error(ErrorKind::UnknownCode { code });
        };
        Ok(Token::Buffer { number: self.length()? as u64, out_of_band })
    }

    /// What is not on the way of every small value.
    #[inline(never)]
    fn rare(&mut self, tag: u8) -> Result<Token<'i>> {
        Ok(match tag {
            tag::SET => Token::Set(self.values(1)?),
            tag::FROZENSET => Token::FrozenSet(self.values(1)?),
            tag::DICT => Token::Dict(self.values(2)?),
            tag::SHAPE => self.shape(ShapeKind::Dict)?,
            tag::CLASS => self.class()?,
            tag::ELLIPSIS => Token::Ellipsis,
            tag::NOT_IMPL => Token::NotImplemented,
            tag::LIST_I8..=tag::LIST_I64 => self.ints(Seq::List, tag - tag::LIST_I8)?,
            tag::LIST_BOOL => self.bools(Seq::List)?,
            tag::LIST_ASCII => self.texts(Seq::List)?,
            tag::TUPLE_I8..=tag::TUPLE_I64 => self.ints(Seq::Tuple, tag - tag::TUPLE_I8)?,
            tag::TUPLE_BOOL => self.bools(Seq::Tuple)?,
            tag::TUPLE_ASCII => self.texts(Seq::Tuple)?,
            tag::BUFFER => self.buffer()?,
            tag::NAMED => self.named()?,
            tag::GLOBAL if self.trusted => Token::Global,
            tag::REDUCE if self.trusted => {
                let flags = self.input.array::<1>()?[0];
                if flags & !model::reduce::ALL != 0 {
                    return self.input.error(ErrorKind::UnknownCode { code: flags });
                }
                Token::Reduce(flags)
            }
            tag::PERSISTENT if self.trusted => Token::Persistent,
            _ => return self.input.error(ErrorKind::UnknownTag { tag }),
        })
    }
}

impl<'i> model::Reader<'i> for Reader<'i> {
    const UNIQUE_KEYS: bool = true;
    const KEYS_ARE_TEXT: bool = false;
    const NAIVE_IS_UTC: bool = false;
    const VALUES_ARE_NAMED: bool = false;
    const TYPES: bool = true;
    const COUNTS: bool = true;
    type Place = usize;
    type Shapes = Self;
    type Extents = Never;
    type Typed = Never;
    type Indexed = Never;

    #[inline(always)]
    fn next(&mut self) -> Result<Token<'i>> {
        if let Some(leaf) = self.leaf()? {
            return Ok(leaf.into());
        }
        let [tag] = self.input.array()?;
        Ok(match tag {
            tag::LIST_FIX..tag::TUPLE_FIX => Token::List(self.input.claim(usize::from(tag - tag::LIST_FIX), 1)?),
            tag::TUPLE_FIX..tag::INSTANCE_FIX => Token::Tuple(self.input.claim(usize::from(tag - tag::TUPLE_FIX), 1)?),
            tag::INSTANCE_FIX..tag::INSTANCE_8 => Token::Instance(usize::from(tag - tag::INSTANCE_FIX)),
            tag::INSTANCE_8 => Token::Instance(tag::INSTANCE_FIX_MAX + 1 + usize::from(self.input.array::<1>()?[0])),
            tag::INSTANCE_32 => Token::Instance(u32::from_le_bytes(self.input.array()?) as usize),
            tag::LIST => Token::List(self.values(1)?),
            tag::TUPLE => Token::Tuple(self.values(1)?),
            tag::LIST_F64 => self.floats(Seq::List)?,
            tag::TUPLE_F64 => self.floats(Seq::Tuple)?,
            tag::MARK => Token::AssignId,
            tag::KNOWN_TYPE => {
                let code = self.input.array::<1>()?[0];
                match tag::known(code) {
                    Some(known) => Token::KnownType(known),
                    None => return self.input.error(ErrorKind::UnknownCode { code }),
                }
            }
            tag::DATETIME => Token::DateTime { bits: u64::from_le_bytes(self.input.array()?), zoned: false },
            tag::DATETIME_ZONED => Token::DateTime { bits: u64::from_le_bytes(self.input.array()?), zoned: true },
            _ => return self.rare(tag),
        })
    }

    #[inline(always)]
    fn leaf(&mut self) -> Result<Option<Leaf<'i>>> {
        let [tag] = self.input.array()?;
        Ok(Some(match tag {
            tag::INT_FIX..tag::ASCII_FIX => Leaf::Int(i64::from(tag) - if tag < 0x30 { 0 } else { 0x40 }),
            tag::ASCII_FIX..tag::LIST_FIX => Leaf::Ascii(self.ascii(usize::from(tag - tag::ASCII_FIX))?),
            tag::NONE => Leaf::None,
            tag::FALSE => Leaf::Bool(false),
            tag::TRUE => Leaf::Bool(true),
            tag::INT_8 => Leaf::Int(i64::from(i8::from_le_bytes(self.input.array()?))),
            tag::INT_16 => Leaf::Int(i64::from(i16::from_le_bytes(self.input.array()?))),
            tag::INT_32 => Leaf::Int(i64::from(i32::from_le_bytes(self.input.array()?))),
            tag::INT_64 => Leaf::Int(i64::from_le_bytes(self.input.array()?)),
            tag::FLOAT => Leaf::Float(f64::from_le_bytes(self.input.array()?)),
            tag::ASCII => {
                let len = self.length()?;
                Leaf::Ascii(self.ascii(len)?)
            }
            tag::LATIN_1 => Leaf::Text(Bytes::Latin1(self.blob()?)),
            tag::UCS_2 => Leaf::Text(self.ucs2()?),
            tag::UTF_8 => Leaf::Text(Bytes::Utf8(self.blob()?)),
            tag::BYTES => Leaf::Bytes(self.blob()?),
            tag::REF_8 => Leaf::Reference(u64::from(self.input.array::<1>()?[0])),
            tag::REF_16 => Leaf::Reference(u64::from(u16::from_le_bytes(self.input.array()?))),
            tag::REF_32 => Leaf::Reference(u64::from(u32::from_le_bytes(self.input.array()?))),
            tag::LIST_FIX => Leaf::Rare(RareLeaf::EmptyList),
            tag::TUPLE_FIX => Leaf::Rare(RareLeaf::EmptyTuple),
            tag::DICT_EMPTY => Leaf::Rare(RareLeaf::EmptyDict),
            tag::INT_BIG => Leaf::Rare(RareLeaf::BigInt(self.blob()?)),
            tag::COMPLEX => {
                let real = f64::from_le_bytes(self.input.array()?);
                Leaf::Rare(RareLeaf::Complex(real, f64::from_le_bytes(self.input.array()?)))
            }
            tag::BYTEARRAY => Leaf::Rare(RareLeaf::ByteArray(self.blob()?)),
            _ => {
                self.input.step_back();
                return Ok(None);
            }
        }))
    }

    fn encoded(text: &[u8]) -> Vec<u8> {
        let mut writer = super::Writer::new(Vec::new(), false);
        model::Writer::text(&mut writer, model::Text::Ascii(text));
        writer.out.split_off(1)
    }

    #[inline(always)]
    fn accept(&mut self, encoded: &[u8]) -> bool {
        self.input.accept(encoded)
    }

    #[inline(always)]
    fn mark(&mut self) -> bool {
        match *self.input.rest() {
            [tag::MARK, ..] | [tag::NAMED, tag::ASCII_FIX..tag::LIST_FIX | tag::ASCII..=tag::UTF_8, ..] => {
                self.input.skip_over(1);
                true
            }
            _ => false,
        }
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

    fn finish(&self) -> Result<()> {
        self.input.finish()
    }

    fn trusted(&self) -> bool {
        self.trusted
    }
}

impl<'i> model::ShapeReader<'i> for Reader<'i> {
    fn names(shape: &Shape<'i>) -> impl Iterator<Item = Result<Name<'i>>> {
        let mut names = Reader { input: Cursor::new(shape.block), trusted: false };
        let at = shape.at;
        std::iter::from_fn(move || {
            if names.remaining() == 0 {
                return None;
            }
            Some(match names.leaf() {
                Ok(Some(Leaf::Ascii(bytes))) => Ok(Name::Text(Bytes::Ascii(bytes))),
                Ok(Some(Leaf::Text(text))) => Ok(Name::Text(text)),
                Ok(Some(Leaf::Reference(number))) => Ok(Name::Reference(number)),
                Ok(other) => match other.is_none().then(|| names.next()) {
                    Some(Err(error)) => Err(error.shifted(at)),
                    _ => Err(Error::new(ErrorKind::BadName, at + names.offset())),
                },
                Err(error) => Err(error.shifted(at)),
            })
        })
    }
}

#[cfg(test)]
mod tests;

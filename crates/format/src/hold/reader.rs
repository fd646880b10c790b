//! Bytes to tokens. Mirrors [`super::Writer`], function by function; borrows from the input, allocates nothing.

use super::tag;
use crate::error::{Error, Kind, Result};
use crate::model::{self, Bytes, Ints, Layout, LayoutKind, Name, Seq, Token};

/// Reads one message.
#[derive(Debug, Clone)]
pub struct Reader<'i> {
    input: &'i [u8],
    /// What is left of `input`.
    rest: &'i [u8],
    trusted: bool,
}

impl<'i> Reader<'i> {
    /// Starts to read a message. A trusted one is refused here, before its body, unless `trust`.
    pub fn new(input: &'i [u8], trust: bool) -> Result<Self> {
        match input.split_first() {
            Some((&tag::VERSION, rest)) => Ok(Reader { input, rest, trusted: false }),
            Some((&tag::VERSION_TRUSTED, rest)) if trust => Ok(Reader { input, rest, trusted: true }),
            Some((&tag::VERSION_TRUSTED, _)) => Err(Error::new(Kind::Trusted, 0)),
            Some((&byte, _)) => Err(Error::new(Kind::UnknownVersion { byte }, 0)),
            None => Err(Error::new(Kind::Truncated { needed: 1 }, 0)),
        }
    }

    #[cold]
    #[inline(never)]
    fn error<T>(&self, kind: Kind) -> Result<T> {
        Err(Error::new(kind, self.input.len() - self.rest.len()))
    }

    #[inline(always)]
    fn take(&mut self, len: usize) -> Result<&'i [u8]> {
        match self.rest.split_at_checked(len) {
            Some((head, rest)) => {
                self.rest = rest;
                Ok(head)
            }
            None => self.error(Kind::Truncated { needed: len - self.rest.len() }),
        }
    }

    #[inline(always)]
    fn array<const N: usize>(&mut self) -> Result<[u8; N]> {
        match self.rest.split_first_chunk() {
            Some((head, rest)) => {
                self.rest = rest;
                Ok(*head)
            }
            None => self.error(Kind::Truncated { needed: N - self.rest.len() }),
        }
    }

    /// `len` items of `N` bytes.
    #[inline(always)]
    fn chunks<const N: usize>(&mut self, len: usize) -> Result<&'i [[u8; N]]> {
        match len.checked_mul(N) {
            Some(bytes) => Ok(self.take(bytes)?.as_chunks().0),
            None => self.error(Kind::TooLong),
        }
    }

    #[inline(always)]
    fn length(&mut self) -> Result<usize> {
        match self.array::<1>()?[0] {
            tag::LENGTH_16 => Ok(usize::from(u16::from_le_bytes(self.array()?))),
            tag::LENGTH_32 => {
                let len = u32::from_le_bytes(self.array()?);
                self.addressable(u64::from(len))
            }
            tag::LENGTH_64 => {
                let len = u64::from_le_bytes(self.array()?);
                self.addressable(len)
            }
            255 => self.error(Kind::TooLong),
            len => Ok(usize::from(len)),
        }
    }

    fn addressable(&self, len: u64) -> Result<usize> {
        match isize::try_from(len) {
            #[allow(clippy::cast_sign_loss)]
            Ok(len) => Ok(len as usize),
            Err(_) => self.error(Kind::TooLong),
        }
    }

    /// A count of values that follow, each of `least` bytes or more: checked against what is left, so that a host may
    /// allocate for them.
    #[inline(always)]
    fn values(&mut self, least: usize) -> Result<usize> {
        let len = self.length()?;
        self.claim(len, least)
    }

    #[inline(always)]
    fn claim(&self, len: usize, least: usize) -> Result<usize> {
        if len > self.rest.len() / least {
            return self.error(Kind::Truncated { needed: len.saturating_mul(least) - self.rest.len() });
        }
        Ok(len)
    }

    #[inline(always)]
    fn blob(&mut self) -> Result<&'i [u8]> {
        let len = self.length()?;
        self.take(len)
    }

    #[inline(always)]
    fn ascii(&mut self, len: usize) -> Result<Bytes<'i>> {
        let bytes = self.take(len)?;
        if !is_ascii(bytes) {
            return self.error(Kind::NotAscii);
        }
        Ok(Bytes::Ascii(bytes))
    }

    fn ints(&mut self, seq: Seq, width: u8) -> Result<Token<'i>> {
        let len = self.length()?;
        let run = match width {
            0 => Ints::I8(self.take(len)?),
            1 => Ints::I16(self.chunks(len)?),
            2 => Ints::I32(self.chunks(len)?),
            _ => Ints::I64(self.chunks(len)?),
        };
        Ok(Token::Ints(seq, run))
    }

    fn floats(&mut self, seq: Seq) -> Result<Token<'i>> {
        let len = self.length()?;
        Ok(Token::Floats(seq, self.chunks(len)?))
    }

    fn bools(&mut self, seq: Seq) -> Result<Token<'i>> {
        let run = self.blob()?;
        if run.iter().any(|&byte| byte > 1) {
            return self.error(Kind::UnknownTag { tag: tag::LIST_BOOL });
        }
        Ok(Token::Bools(seq, run))
    }

    fn texts(&mut self, seq: Seq) -> Result<Token<'i>> {
        let lengths = self.blob()?;
        let text = self.take(lengths.iter().map(|&len| usize::from(len)).sum())?;
        if !text.is_ascii() {
            return self.error(Kind::NotAscii);
        }
        Ok(Token::Texts(seq, lengths, text))
    }

    fn layout(&mut self, kind: LayoutKind) -> Result<Token<'i>> {
        let version = if kind == LayoutKind::Dict { 0 } else { self.length()? as u64 };
        let fields = self.length()?;
        let len = self.length()?;
        let at = self.offset_here();
        let block = self.take(len)?;
        // A name takes at least a byte.
        if fields > block.len() {
            return self.error(Kind::BadName);
        }
        Ok(Token::NewLayout(Layout { kind, version, fields, block, at }))
    }

    fn class(&mut self) -> Result<Token<'i>> {
        match self.array::<1>()?[0] {
            tag::KIND_OBJECT => self.layout(LayoutKind::Object),
            tag::KIND_BASED => self.layout(LayoutKind::Based),
            tag::KIND_ENUM => self.layout(LayoutKind::Enum),
            tag::KIND_CUSTOM => self.layout(LayoutKind::Custom),
            code => self.error(Kind::UnknownCode { code }),
        }
    }

    fn buffer(&mut self) -> Result<Token<'i>> {
        let readonly = self.array::<1>()?[0] != 0;
        Ok(Token::Buffer { number: self.length()? as u64, readonly })
    }

    fn offset_here(&self) -> usize {
        self.input.len() - self.rest.len()
    }

    /// What is not on the way of every small value.
    #[inline(never)]
    fn rare(&mut self, tag: u8) -> Result<Token<'i>> {
        Ok(match tag {
            tag::INT_BIG => Token::BigInt(self.blob()?),
            tag::COMPLEX => {
                let real = f64::from_le_bytes(self.array()?);
                Token::Complex(real, f64::from_le_bytes(self.array()?))
            }
            tag::LATIN_1 => Token::Text(Bytes::Latin1(self.blob()?)),
            tag::UCS_2 => {
                let len = self.length()?;
                Token::Text(Bytes::Ucs2(self.chunks::<2>(len)?.as_flattened()))
            }
            tag::UTF_8 => Token::Text(Bytes::Utf8(self.blob()?)),
            tag::BYTES => Token::Bytes(self.blob()?),
            tag::BYTEARRAY => Token::ByteArray(self.blob()?),
            tag::SET => Token::Set(self.values(1)?),
            tag::FROZENSET => Token::FrozenSet(self.values(1)?),
            tag::DICT_EMPTY => Token::Dict(0),
            tag::DICT => Token::Dict(self.values(2)?),
            tag::SHAPE => self.layout(LayoutKind::Dict)?,
            tag::CLASS => self.class()?,
            tag::ELLIPSIS => Token::Ellipsis,
            tag::NOT_IMPL => Token::NotImplemented,
            tag::LIST_I8..=tag::LIST_I64 => self.ints(Seq::List, tag - tag::LIST_I8)?,
            tag::LIST_BOOL => self.bools(Seq::List)?,
            tag::LIST_ASCII => self.texts(Seq::List)?,
            tag::TUPLE_I8..=tag::TUPLE_I64 => self.ints(Seq::Tuple, tag - tag::TUPLE_I8)?,
            tag::TUPLE_BOOL => self.bools(Seq::Tuple)?,
            tag::TUPLE_ASCII => self.texts(Seq::Tuple)?,
            tag::KNOWN_TYPE => {
                let code = self.array::<1>()?[0];
                match tag::known(code) {
                    Some(known) => Token::Known(known),
                    None => return self.error(Kind::UnknownCode { code }),
                }
            }
            tag::DATETIME => Token::DateTime { bits: u64::from_le_bytes(self.array()?), zoned: false },
            tag::DATETIME_ZONED => Token::DateTime { bits: u64::from_le_bytes(self.array()?), zoned: true },
            tag::BUFFER => self.buffer()?,
            tag::GLOBAL if self.trusted => Token::Global,
            tag::REDUCE if self.trusted => {
                let flags = self.array::<1>()?[0];
                if flags & !model::reduce::ALL != 0 {
                    return self.error(Kind::UnknownCode { code: flags });
                }
                Token::Reduce(flags)
            }
            tag::PERSISTENT if self.trusted => Token::Persistent,
            _ => return self.error(Kind::UnknownTag { tag }),
        })
    }
}

/// Whether every byte is below 0x80; for the short texts that most are, without a call.
#[inline(always)]
fn is_ascii(bytes: &[u8]) -> bool {
    if bytes.len() > 16 {
        return bytes.is_ascii();
    }
    // Two loads that may overlap cover every length from 8 to 16, and from 4 to 7.
    if let (Some(head), Some(tail)) = (bytes.first_chunk::<8>(), bytes.last_chunk::<8>()) {
        return (u64::from_ne_bytes(*head) | u64::from_ne_bytes(*tail)) & 0x8080_8080_8080_8080 == 0;
    }
    if let (Some(head), Some(tail)) = (bytes.first_chunk::<4>(), bytes.last_chunk::<4>()) {
        return (u32::from_ne_bytes(*head) | u32::from_ne_bytes(*tail)) & 0x8080_8080 == 0;
    }
    bytes.iter().fold(0, |all, &byte| all | byte) < 0x80
}

impl<'i> model::Reader<'i> for Reader<'i> {
    #[inline(always)]
    fn next(&mut self) -> Result<Token<'i>> {
        let [tag] = self.array()?;
        Ok(match tag {
            tag::INT_FIX..tag::ASCII_FIX => Token::Int(i64::from(tag) - if tag < 0x30 { 0 } else { 0x40 }),
            tag::ASCII_FIX..tag::LIST_FIX => Token::Text(self.ascii(usize::from(tag - tag::ASCII_FIX))?),
            tag::LIST_FIX..tag::TUPLE_FIX => Token::List(self.claim(usize::from(tag - tag::LIST_FIX), 1)?),
            tag::TUPLE_FIX..tag::INSTANCE_FIX => Token::Tuple(self.claim(usize::from(tag - tag::TUPLE_FIX), 1)?),
            tag::INSTANCE_FIX..tag::INSTANCE_8 => Token::Instance(usize::from(tag - tag::INSTANCE_FIX)),
            tag::INSTANCE_8 => Token::Instance(tag::INSTANCE_FIX_MAX + 1 + usize::from(self.array::<1>()?[0])),
            tag::INSTANCE_32 => Token::Instance(u32::from_le_bytes(self.array()?) as usize),
            tag::NONE => Token::None,
            tag::FALSE => Token::Bool(false),
            tag::TRUE => Token::Bool(true),
            tag::INT_8 => Token::Int(i64::from(i8::from_le_bytes(self.array()?))),
            tag::INT_16 => Token::Int(i64::from(i16::from_le_bytes(self.array()?))),
            tag::INT_32 => Token::Int(i64::from(i32::from_le_bytes(self.array()?))),
            tag::INT_64 => Token::Int(i64::from_le_bytes(self.array()?)),
            tag::FLOAT => Token::Float(f64::from_le_bytes(self.array()?)),
            tag::ASCII => {
                let len = self.length()?;
                Token::Text(self.ascii(len)?)
            }
            tag::LIST => Token::List(self.values(1)?),
            tag::TUPLE => Token::Tuple(self.values(1)?),
            tag::LIST_F64 => self.floats(Seq::List)?,
            tag::TUPLE_F64 => self.floats(Seq::Tuple)?,
            tag::MARK => Token::Mark,
            tag::REF_8 => Token::Reference(u64::from(self.array::<1>()?[0])),
            tag::REF_16 => Token::Reference(u64::from(u16::from_le_bytes(self.array()?))),
            tag::REF_32 => Token::Reference(u64::from(u32::from_le_bytes(self.array()?))),
            _ => return self.rare(tag),
        })
    }

    fn names(&self, layout: &Layout<'i>) -> impl Iterator<Item = Result<Name<'i>>> {
        let mut names = Reader { input: layout.block, rest: layout.block, trusted: false };
        let at = layout.at;
        std::iter::from_fn(move || {
            if names.rest.is_empty() {
                return None;
            }
            Some(match names.next() {
                Ok(Token::Text(text)) => Ok(Name::Text(text)),
                Ok(Token::Reference(number)) => Ok(Name::Reference(number)),
                Ok(_) => Err(Error::new(Kind::BadName, at + names.offset_here())),
                Err(error) => Err(error.shifted(at)),
            })
        })
    }

    #[inline(always)]
    fn offset(&self) -> usize {
        self.offset_here()
    }

    #[inline(always)]
    fn remaining(&self) -> usize {
        self.rest.len()
    }

    #[inline(always)]
    fn rewind(&mut self, offset: usize) {
        self.rest = &self.input[offset..];
    }

    fn finish(&self) -> Result<()> {
        if self.rest.is_empty() {
            return Ok(());
        }
        self.error(Kind::Trailing { count: self.rest.len() })
    }

    fn trusted(&self) -> bool {
        self.trusted
    }
}

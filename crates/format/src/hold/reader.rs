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
        Ok(Token::NewShape(Shape { kind, version, fields, block, at }))
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
            tag::KNOWN_TYPE => {
                let code = self.input.array::<1>()?[0];
                match tag::known(code) {
                    Some(known) => Token::KnownType(known),
                    None => return self.input.error(ErrorKind::UnknownCode { code }),
                }
            }
            tag::DATETIME => Token::DateTime { bits: u64::from_le_bytes(self.input.array()?), zoned: false },
            tag::DATETIME_ZONED => Token::DateTime { bits: u64::from_le_bytes(self.input.array()?), zoned: true },
            tag::BUFFER => self.buffer()?,
            tag::NAMED => Token::AssignId,
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
            _ => return self.rare(tag),
        })
    }

    #[inline(always)]
    fn leaf(&mut self) -> Result<Option<Leaf<'i>>> {
        let before = self.input.clone();
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
                self.input = before;
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
        self.input.accept(&[tag::MARK])
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
mod tests {
    use super::super::Writer;
    use super::*;
    use model::{
        KnownType, ReferenceWriter as _, RunWriter as _, ShapeReader as _, ShapeWriter as _, Text, TypeWriter as _,
        Writer as _,
    };
    use std::vec;
    use std::vec::Vec;

    type Write = fn(&mut Writer<Vec<u8>>);

    /// Boundaries: what is written, its bytes after the version, the token (or its beginning) that is read.
    fn cases() -> Vec<(Write, Vec<u8>, &'static str)> {
        let ascii = |head: &[u8], len: usize| [head, &vec![b'x'; len]].concat();
        vec![
            (|w| w.none(), vec![0xAA], "None"),
            (|w| w.bool(false), vec![0xAB], "Bool(false)"),
            (|w| w.bool(true), vec![0xAC], "Bool(true)"),
            (|w| w.int(0), vec![0x00], "Int(0)"),
            (|w| w.int(47), vec![0x2F], "Int(47)"),
            (|w| w.int(48), vec![0xAD, 48], "Int(48)"),
            (|w| w.int(-1), vec![0x3F], "Int(-1)"),
            (|w| w.int(-16), vec![0x30], "Int(-16)"),
            (|w| w.int(-17), vec![0xAD, 0xEF], "Int(-17)"),
            (|w| w.int(127), vec![0xAD, 127], "Int(127)"),
            (|w| w.int(128), vec![0xAE, 128, 0], "Int(128)"),
            (|w| w.int(-128), vec![0xAD, 128], "Int(-128)"),
            (|w| w.int(-129), vec![0xAE, 0x7F, 0xFF], "Int(-129)"),
            (|w| w.int(32_767), vec![0xAE, 0xFF, 0x7F], "Int(32767)"),
            (|w| w.int(32_768), vec![0xAF, 0, 0x80, 0, 0], "Int(32768)"),
            (|w| w.int(-32_769), vec![0xAF, 0xFF, 0x7F, 0xFF, 0xFF], "Int(-32769)"),
            (|w| w.int(1 << 31), vec![0xB0, 0, 0, 0, 0x80, 0, 0, 0, 0], "Int(2147483648)"),
            (|w| w.int(i64::MIN), vec![0xB0, 0, 0, 0, 0, 0, 0, 0, 0x80], "Int(-9223372036854775808)"),
            (|w| w.bigint(&[1, 2]), vec![0xB1, 2, 1, 2], "BigInt([1, 2])"),
            (|w| w.float(1.5), vec![0xB2, 0, 0, 0, 0, 0, 0, 0xF8, 0x3F], "Float(1.5)"),
            (|w| w.complex(0.0, -0.0), [&[0xB3][..], &[0; 15], &[0x80]].concat(), "Complex(0.0, -0.0)"),
            (|w| w.text(Text::Ascii(b"")), vec![0x40], "Text(Ascii([]))"),
            (|w| w.text(Text::Ascii(&[b'x'; 47])), ascii(&[0x6F], 47), "Text(Ascii([120"),
            (|w| w.text(Text::Ascii(&[b'x'; 48])), ascii(&[0xB4, 48], 48), "Text(Ascii([120"),
            (|w| w.text(Text::Ascii(&[b'x'; 251])), ascii(&[0xB4, 251], 251), "Text(Ascii([120"),
            (|w| w.text(Text::Ascii(&[b'x'; 252])), ascii(&[0xB4, 252, 252, 0], 252), "Text(Ascii([120"),
            (|w| w.text(Text::Ascii(&[b'x'; 65_535])), ascii(&[0xB4, 252, 255, 255], 65_535), "Text(Ascii([120"),
            (|w| w.text(Text::Ascii(&[b'x'; 65_536])), ascii(&[0xB4, 253, 0, 0, 1, 0], 65_536), "Text(Ascii([120"),
            (|w| w.text(Text::Latin1(&[0xE9])), vec![0xB5, 1, 0xE9], "Text(Latin1([233]))"),
            (|w| w.text(Text::Ucs2(&[0x65E5])), vec![0xB6, 1, 0xE5, 0x65], "Text(Ucs2([229, 101]))"),
            (|w| w.text(Text::Ucs2(&[0x61, 0x100])), vec![0xB7, 3, 0x61, 0xC4, 0x80], "Text(Utf8([97, 196, 128]))"),
            (|w| w.text(Text::Ucs2(&[0x100])), vec![0xB6, 1, 0, 1], "Text(Ucs2([0, 1]))"),
            (
                |w| w.text(Text::Ucs4(&[0x1F600])),
                vec![0xB7, 4, 0xF0, 0x9F, 0x98, 0x80],
                "Text(Utf8([240, 159, 152, 128]))",
            ),
            (|w| w.bytes(b"ab"), vec![0xB8, 2, 97, 98], "Bytes([97, 98])"),
            (|w| w.bytearray(b""), vec![0xB9, 0], "ByteArray([])"),
            (|w| w.ellipsis(), vec![0xC6], "Ellipsis"),
            (|w| w.not_implemented(), vec![0xC7], "NotImplemented"),
            (|w| filled(w, |w| w.list(15), 15), [&[0x7F][..], &[0; 15]].concat(), "List(15)"),
            (|w| filled(w, |w| w.list(16), 16), [&[0xBA, 16][..], &[0; 16]].concat(), "List(16)"),
            (|w| filled(w, |w| w.tuple(7), 7), [&[0x87][..], &[0; 7]].concat(), "Tuple(7)"),
            (|w| filled(w, |w| w.tuple(8), 8), [&[0xBB, 8][..], &[0; 8]].concat(), "Tuple(8)"),
            (|w| w.set(0), vec![0xBE, 0], "Set(0)"),
            (|w| filled(w, |w| w.frozenset(1), 1), vec![0xBF, 1, 0], "FrozenSet(1)"),
            (|w| w.dict(0), vec![0xBD], "Dict(0)"),
            (|w| filled(w, |w| w.dict(1), 2), vec![0xBC, 1, 0, 0], "Dict(1)"),
            (|w| run(w, &[1, -128]), vec![0xC8, 2, 1, 0x80], "Ints(List, I8([1, 128]))"),
            (|w| run(w, &[1, 128]), vec![0xC9, 2, 1, 0, 128, 0], "Ints(List, I16([[1, 0], [128, 0]]))"),
            (|w| run(w, &[-32_769]), vec![0xCA, 1, 0xFF, 0x7F, 0xFF, 0xFF], "Ints(List, I32([[255, 127, 255, 255]]))"),
            (
                |w| run(w, &[1 << 31]),
                vec![0xCB, 1, 0, 0, 0, 0x80, 0, 0, 0, 0],
                "Ints(List, I64([[0, 0, 0, 128, 0, 0, 0, 0]]))",
            ),
            (|w| run(w, &[]), vec![0xC8, 0], "Ints(List, I8([]))"),
            (|w| w.bools(Seq::Tuple, &[1, 0]), vec![0xD4, 2, 1, 0], "Bools(Tuple, [1, 0])"),
            (
                |w| {
                    w.texts(Seq::List, &[1, 0]);
                    w.texts_bytes(b"a");
                },
                vec![0xCE, 2, 1, 0, 97],
                "Texts(List, [1, 0], [97])",
            ),
            (
                |w| {
                    w.floats_begin(Seq::Tuple, 1);
                    w.floats(&[1.0]);
                },
                vec![0xD3, 1, 0, 0, 0, 0, 0, 0, 0xF0, 0x3F],
                "Floats(Tuple, [[0, 0, 0, 0, 0, 0, 240, 63]])",
            ),
            (|w| w.instance(31), vec![0xA7], "Instance(31)"),
            (|w| w.instance(32), vec![0xA8, 0], "Instance(32)"),
            (|w| w.instance(287), vec![0xA8, 255], "Instance(287)"),
            (|w| w.instance(288), vec![0xA9, 0x20, 1, 0, 0], "Instance(288)"),
            (|w| w.assign_id(), vec![0xC0], "AssignId"),
            (|w| w.reference(255), vec![0xC1, 255], "Reference(255)"),
            (|w| w.reference(256), vec![0xC2, 0, 1], "Reference(256)"),
            (|w| w.reference(65_536), vec![0xC3, 0, 0, 1, 0], "Reference(65536)"),
            (|w| w.datetime(1, false), vec![0xD7, 1, 0, 0, 0, 0, 0, 0, 0], "DateTime { bits: 1, zoned: false }"),
            (|w| w.datetime(2, true), vec![0xD8, 2, 0, 0, 0, 0, 0, 0, 0], "DateTime { bits: 2, zoned: true }"),
            (|w| w.known(KnownType::Date), vec![0xD6, 1], "KnownType(Date)"),
            (
                |w| w.buffer(300, model::OutOfBand::ReadOnly),
                vec![0xD9, 1, 252, 44, 1],
                "Buffer { number: 300, out_of_band: ReadOnly }",
            ),
            (|w| w.global(), vec![0xFD], "Global"),
            (|w| w.reduce(3), vec![0xFE, 3], "Reduce(3)"),
            (|w| w.persistent(), vec![0xFF], "Persistent"),
        ]
    }

    fn filled(w: &mut Writer<Vec<u8>>, head: Write, values: usize) {
        head(w);
        (0..values).for_each(|_| w.int(0));
    }

    fn run(w: &mut Writer<Vec<u8>>, values: &[i64]) {
        let mut run = w.ints_begin(Seq::List, values.len(), &[]);
        for value in values {
            w.ints(&mut run, &[*value]);
        }
    }

    #[test]
    fn boundaries_both_ways_and_every_prefix() {
        for (write, expected, token) in cases() {
            let mut w = Writer::new(Vec::new(), true);
            write(&mut w);
            assert_eq!(w.out[1..], expected, "{token}");
            let mut r = Reader::new(&w.out, true).unwrap();
            let found = format!("{:?}", r.next().unwrap());
            assert!(found.starts_with(token), "expected {token}, found {found}");
            for len in 1..w.out.len() {
                let mut r = Reader::new(&w.out[..len], true).unwrap();
                match r.next() {
                    Err(error) => {
                        assert!(matches!(error.kind(), ErrorKind::Truncated { .. }), "{token} at {len}: {error}")
                    }
                    // A head that is there already: values that it counts are another token's business.
                    Ok(found) => panic!("{token} at {len}: {found:?}"),
                }
            }
        }
    }

    #[test]
    fn shapes_both_ways() {
        for (kind, fields, block) in [
            (ShapeKind::Dict, 2, 4),
            (ShapeKind::Object, 1, 4),
            (ShapeKind::Based, 0, 2),
            (ShapeKind::Enum, 0, 2),
            (ShapeKind::Custom, 100, 202),
            (ShapeKind::Dict, 126, 252),
        ] {
            let mut w = Writer::new(Vec::new(), false);
            let version = if kind == ShapeKind::Dict { 0 } else { 7 };
            let begun = w.shape_begin(kind, version, fields);
            for _ in 0..block / 2 - 1 {
                w.text(Text::Ascii(b"n"));
            }
            w.reference(3);
            w.shape_end(begun);
            let mut r = Reader::new(&w.out, false).unwrap();
            let Ok(Token::NewShape(shape)) = r.next() else { panic!("no layout") };
            assert_eq!((shape.kind, shape.version, shape.fields), (kind, version, fields));
            assert_eq!(shape.block.len(), block);
            assert_eq!(shape.at + block, w.out.len());
            let names: Vec<Name<'_>> = Reader::names(&shape).map(Result::unwrap).collect();
            assert_eq!(names.len(), block / 2);
            assert_eq!(names[0], if block == 2 { Name::Reference(3) } else { Name::Text(Bytes::Ascii(b"n")) });
            assert_eq!(names[block / 2 - 1], Name::Reference(3));
            r.finish().unwrap();
            for len in 1..w.out.len() {
                assert!(Reader::new(&w.out[..len], false).unwrap().next().is_err(), "{len} bytes");
            }
        }
    }

    #[test]
    fn counts_are_held_against_what_is_left() {
        let huge = [0xFE, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0x7F];
        for row in tag::TABLE.iter().filter(|row| row.payload.starts_with("length")) {
            let input = [&[tag::VERSION, row.first][..], &huge, &[0; 40]].concat();
            let error = Reader::new(&input, false).unwrap().next().expect_err(row.name);
            let refused = matches!(error.kind(), ErrorKind::Truncated { .. } | ErrorKind::TooLong | ErrorKind::BadName);
            assert!(refused, "{}: {error}", row.name);
        }
    }

    #[test]
    fn tags_of_trusted_messages_are_unknown_in_others() {
        for tag in [tag::GLOBAL, tag::REDUCE, tag::PERSISTENT] {
            let ordinary = [tag::VERSION, tag, 0];
            let error = Reader::new(&ordinary, true).unwrap().next().unwrap_err();
            assert_eq!((error.kind(), error.offset()), (&ErrorKind::UnknownTag { tag }, 2));
            let trusted = [tag::VERSION_TRUSTED, tag, 0];
            assert!(Reader::new(&trusted, true).unwrap().next().is_ok());
            assert_eq!(Reader::new(&trusted, false).unwrap_err().kind(), &ErrorKind::Trusted);
        }
    }

    #[test]
    fn a_message_that_goes_on_with_others() {
        for objects in [1, 251, 252, 70_000] {
            let mut w = Writer::continued(Vec::new(), objects, 7);
            w.reference(3);
            let (mut r, found, shapes) = Reader::continued(&w.out, true).unwrap();
            assert_eq!((found, shapes, r.trusted()), (objects, 7, true));
            assert!(matches!(r.next(), Ok(Token::Reference(3))));
            r.finish().unwrap();
            assert_eq!(Reader::continued(&w.out, false).unwrap_err().kind(), &ErrorKind::Trusted);
            assert_eq!(Reader::new(&w.out, true).unwrap_err().kind(), &ErrorKind::Continued);
            assert_eq!(Reader::new(&w.out, false).unwrap_err().kind(), &ErrorKind::Trusted);
            let head = w.out.len() - 2;
            assert!((1..head).all(|len| Reader::continued(&w.out[..len], true).is_err()));
        }
        let alone = Writer::new(Vec::new(), true).out;
        assert_eq!(Reader::continued(&alone, true).unwrap().1, 0);
    }

    #[test]
    fn every_byte_is_read_or_refused() {
        for tag in 0..=u8::MAX {
            let input = [&[tag::VERSION, tag][..], &[0; 64]].concat();
            let mut r = Reader::new(&input, false).unwrap();
            let known = !(tag::RESERVED..=0xFC).contains(&tag) && tag < tag::GLOBAL && tag != tag::KNOWN_TYPE;
            assert_eq!(r.next().is_ok(), known, "tag {tag:#x}");
        }
    }
}

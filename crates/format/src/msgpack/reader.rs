//! Bytes to tokens. Mirrors [`super::Writer`], function by function; borrows from the input, allocates nothing.

use super::tag;
use crate::cursor::Cursor;
use crate::error::{ErrorKind, Result};
use crate::memory::Vec;
use crate::model::{self, Leaf, Never, RareLeaf, Token};
use crate::text::is_ascii;

/// Reads messages, one behind the other.
#[derive(Debug, Clone)]
pub struct Reader<'i> {
    input: Cursor<'i>,
    /// Text comes as bytes.
    raw: bool,
    /// Arrays come as tuples.
    tuples: bool,
}

impl<'i> Reader<'i> {
    /// Starts to read a message.
    pub fn new(input: &'i [u8]) -> Self {
        Reader { input: Cursor::new(input), raw: false, tuples: false }
    }

    /// Starts at a value within a message.
    pub fn from(message: &'i [u8], at: usize) -> Self {
        let mut input = Cursor::new(message);
        input.skip_over(at);
        Reader { input, raw: false, tuples: false }
    }

    /// Gives text as bytes, unchecked: what was written before MessagePack told them apart.
    pub fn with_raw_text(self) -> Self {
        Reader { raw: true, ..self }
    }

    /// Gives arrays as tuples.
    pub fn with_tuples(self) -> Self {
        Reader { tuples: true, ..self }
    }

    #[inline(always)]
    fn sequence(&self, len: usize) -> Result<Token<'i>> {
        let len = self.input.claim(len, 1)?;
        Ok(if self.tuples { Token::Tuple(len) } else { Token::List(len) })
    }

    #[inline(always)]
    fn length_8(&mut self) -> Result<usize> {
        Ok(usize::from(self.input.array::<1>()?[0]))
    }

    #[inline(always)]
    fn length_16(&mut self) -> Result<usize> {
        Ok(usize::from(u16::from_be_bytes(self.input.array()?)))
    }

    #[inline(always)]
    fn length_32(&mut self) -> Result<usize> {
        Ok(u32::from_be_bytes(self.input.array()?) as usize)
    }

    /// The int of 1, 2, 4 or 8 bytes that belongs to `tag`. `None`: it is above 63 bits. One way for all sizes: where they are mixed, a
    /// processor can't foresee which comes.
    #[inline(always)]
    fn int(&mut self, tag: u8) -> Result<Option<i64>> {
        let size = 1 << ((tag - tag::UINT_8) & 3);
        let word = match self.input.rest().first_chunk() {
            Some(word) => {
                self.input.skip_over(size);
                *word
            }
            None => {
                let mut word = [0; 8];
                for (to, from) in word.iter_mut().zip(self.input.take(size)?) {
                    *to = *from;
                }
                word
            }
        };
        let unused = 64 - 8 * size as u32;
        Ok(match tag {
            tag::INT_8.. => Some(i64::from_be_bytes(word) >> unused),
            _ => i64::try_from(u64::from_be_bytes(word) >> unused).ok(),
        })
    }

    /// The length of 8, 16 or 32 bits that belongs to `tag`; `first` is that of 8 bits.
    fn length(&mut self, tag: u8, first: u8) -> Result<usize> {
        match tag - first {
            0 => self.length_8(),
            1 => self.length_16(),
            _ => self.length_32(),
        }
    }

    #[inline(always)]
    fn utf8(&mut self, len: usize) -> Result<Leaf<'i>> {
        let bytes = self.input.take(len)?;
        Ok(if is_ascii(bytes) { Leaf::Ascii(bytes) } else { Leaf::Utf8(bytes) })
    }

    fn text(&mut self, len: usize) -> Result<Token<'i>> {
        if self.raw {
            return Ok(Token::Bytes(self.input.take(len)?));
        }
        Ok(self.utf8(len)?.into())
    }

    fn timestamp(&mut self, data: &[u8]) -> Result<Token<'i>> {
        let (seconds, nanoseconds) = if let Ok(data) = data.try_into() {
            (i64::from(u32::from_be_bytes(data)), 0)
        } else if let Ok(data) = data.try_into() {
            let bits = u64::from_be_bytes(data);
            let seconds = bits & ((1 << tag::TIMESTAMP_SECONDS) - 1);
            (seconds as i64, (bits >> tag::TIMESTAMP_SECONDS) as u32)
        } else if let (12, Some((&nanoseconds, seconds))) = (data.len(), data.split_first_chunk()) {
            (seconds.try_into().map_or(0, i64::from_be_bytes), u32::from_be_bytes(nanoseconds))
        } else {
            return self.input.error(ErrorKind::BadTimestamp);
        };
        if nanoseconds > tag::NANOSECONDS_MAX {
            return self.input.error(ErrorKind::BadTimestamp);
        }
        Ok(Token::Timestamp { seconds, nanoseconds })
    }

    fn extension(&mut self, len: usize) -> Result<Token<'i>> {
        let code = i8::from_be_bytes(self.input.array()?);
        let data = self.input.take(len)?;
        if code == tag::TIMESTAMP {
            return self.timestamp(data);
        }
        Ok(Token::Extension { code, data })
    }

    /// What is not on the way of every small value.
    #[inline(never)]
    fn rare(&mut self, tag: u8) -> Result<Token<'i>> {
        Ok(match tag {
            tag::UINT_64 => Token::UInt(u64::from_be_bytes(self.input.array()?)),
            tag::FLOAT_32 => Token::Float(f64::from(f32::from_be_bytes(self.input.array()?))),
            // Short texts come here where they are wanted as bytes.
            tag::STR_FIX..tag::NIL => self.text(usize::from(tag - tag::STR_FIX))?,
            tag::STR_8..=tag::STR_32 => {
                let len = self.length(tag, tag::STR_8)?;
                self.text(len)?
            }
            tag::BIN_8..=tag::BIN_32 => {
                let len = self.length(tag, tag::BIN_8)?;
                Token::Bytes(self.input.take(len)?)
            }
            tag::ARRAY_32 => {
                let len = self.length_32()?;
                self.sequence(len)?
            }
            tag::MAP_32 => {
                let len = self.length_32()?;
                Token::Dict(self.input.claim(len, 2)?)
            }
            tag::EXT_8..=tag::EXT_32 => {
                let len = self.length(tag, tag::EXT_8)?;
                self.extension(len)?
            }
            tag::FIXEXT_1..=tag::FIXEXT_16 => self.extension(1 << (tag - tag::FIXEXT_1))?,
            _ => return self.input.error(ErrorKind::UnknownTag { tag }),
        })
    }

    /// Skips a whole value with all that it holds: counts what is still to come, and keeps nothing else. Only its size
    /// is looked at.
    pub fn skip(&mut self) -> Result<()> {
        // A fix tag adds 30 values at most and any other no more than the bytes that are left: no sum overflows.
        let mut pending: u64 = 1;
        while pending > 0 {
            pending += self.skip_token()?;
            pending -= 1;
            if pending > self.input.remaining() as u64 {
                return self.input.error(ErrorKind::Truncated { needed: pending as usize - self.input.remaining() });
            }
        }
        Ok(())
    }

    /// Skips one token; gives how many values it says to follow.
    #[inline(always)]
    fn skip_token(&mut self) -> Result<u64> {
        let [tag] = self.input.array()?;
        // What is met most is told by jumps, which the processor guesses ahead; the rest by a table, without.
        if tag < tag::MAP_FIX {
            return Ok(0);
        }
        if (tag::STR_FIX..tag::NIL).contains(&tag) {
            self.input.take(usize::from(tag - tag::STR_FIX))?;
            return Ok(0);
        }
        let size = tag::SIZES[usize::from(tag)];
        if size == tag::SIZED {
            return self.skip_sized(tag);
        }
        self.input.take(usize::from(size))?;
        Ok(u64::from(tag::VALUES[usize::from(tag)]))
    }

    /// Skips what a length field counts in bytes; gives what it counts in values.
    #[inline]
    fn skip_sized(&mut self, tag: u8) -> Result<u64> {
        let bytes = match tag {
            tag::STR_8 | tag::BIN_8 => self.length_8()?,
            tag::STR_16 | tag::BIN_16 => self.length_16()?,
            tag::STR_32 | tag::BIN_32 => self.length_32()?,
            tag::EXT_8..=tag::EXT_32 => {
                let len = self.length(tag, tag::EXT_8)?;
                self.input.array::<1>()?;
                len
            }
            tag::ARRAY_16 => return Ok(self.length_16()? as u64),
            tag::ARRAY_32 => return Ok(self.length_32()? as u64),
            tag::MAP_16 => return Ok(2 * self.length_16()? as u64),
            tag::MAP_32 => return Ok(2 * self.length_32()? as u64),
            _ => return self.input.error(ErrorKind::UnknownTag { tag }),
        };
        self.input.take(bytes)?;
        Ok(0)
    }
}

/// Looks for the end of a value in a part of a stream, where `pending` values are owed: goes on token by token as far as
/// whole ones reach. Gives how many bytes these take, and how many values are owed then: 0 at the value's end.
pub fn scan(input: &[u8], mut pending: u64) -> Result<(usize, u64)> {
    let mut reader = Reader::new(input);
    while pending > 0 {
        let before = reader.input.offset();
        match reader.skip_token() {
            Ok(more) => pending = (pending - 1).saturating_add(more),
            Err(error) if matches!(error.kind(), ErrorKind::Truncated { .. }) => {
                reader.input.rewind(before);
                break;
            }
            Err(error) => return Err(error),
        }
    }
    Ok((reader.input.offset(), pending))
}

impl<'i> model::Reader<'i> for Reader<'i> {
    const UNIQUE_KEYS: bool = false;
    const KEYS_ARE_TEXT: bool = false;
    const NAIVE_IS_UTC: bool = false;
    const VALUES_ARE_NAMED: bool = false;
    const TYPES: bool = false;
    const COUNTS: bool = true;
    type Place = usize;
    type Shapes = Never;
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
            tag::MAP_FIX..tag::ARRAY_FIX => Token::Dict(self.input.claim(usize::from(tag - tag::MAP_FIX), 2)?),
            tag::ARRAY_FIX..tag::STR_FIX => self.sequence(usize::from(tag - tag::ARRAY_FIX))?,
            tag::ARRAY_16 => {
                let len = self.length_16()?;
                self.sequence(len)?
            }
            tag::MAP_16 => {
                let len = self.length_16()?;
                Token::Dict(self.input.claim(len, 2)?)
            }
            _ => return self.rare(tag),
        })
    }

    #[inline(always)]
    fn leaf(&mut self) -> Result<Option<Leaf<'i>>> {
        let [tag] = self.input.array()?;
        Ok(Some(match tag {
            tag::POSITIVE_FIX..tag::MAP_FIX => Leaf::Int(i64::from(tag)),
            tag::STR_FIX..tag::NIL if !self.raw => self.utf8(usize::from(tag - tag::STR_FIX))?,
            tag::NIL => Leaf::None,
            tag::FALSE => Leaf::Bool(false),
            tag::TRUE => Leaf::Bool(true),
            tag::FLOAT_64 => Leaf::Float(f64::from_be_bytes(self.input.array()?)),
            tag::UINT_8..=tag::INT_64 => {
                let before = self.input.offset();
                let Some(value) = self.int(tag)? else {
                    self.input.rewind(before - 1);
                    return Ok(None);
                };
                Leaf::Int(value)
            }
            tag::STR_8 if !self.raw => {
                let len = self.length_8()?;
                self.utf8(len)?
            }
            tag::STR_16 if !self.raw => {
                let len = self.length_16()?;
                self.utf8(len)?
            }
            tag::BIN_8 => {
                let len = self.length_8()?;
                Leaf::Bytes(self.input.take(len)?)
            }
            tag::BIN_16 => {
                let len = self.length_16()?;
                Leaf::Bytes(self.input.take(len)?)
            }
            tag::NEGATIVE_FIX..=u8::MAX => Leaf::Int(i64::from(tag as i8)),
            tag::MAP_FIX => Leaf::Rare(RareLeaf::EmptyDict),
            tag::ARRAY_FIX if self.tuples => Leaf::Rare(RareLeaf::EmptyTuple),
            tag::ARRAY_FIX => Leaf::Rare(RareLeaf::EmptyList),
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

    fn rest(&self) -> Option<&'i [u8]> {
        Some(self.input.rest())
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

    #[inline(always)]
    fn skip(&mut self) -> Result<bool> {
        Reader::skip(self)?;
        Ok(true)
    }
}

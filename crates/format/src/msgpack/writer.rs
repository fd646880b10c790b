//! Tokens to bytes. [`super::Reader`] mirrors it, function by function.

use super::tag;
use crate::model::{self, Text};
use crate::sink::Sink;
use crate::text;

const TOO_LONG: &str = "more than 4,294,967,295 bytes or values in one value";
const TOO_BIG: &str = "an int beyond 64 bits";
const SURROGATE: &str = "text with a lone surrogate";

/// Writes messages into a [`Sink`], each value in its shortest form (floats always as 64 bits).
#[derive(Debug)]
pub struct Writer<S: Sink> {
    pub out: S,
    refusal: Option<&'static str>,
}

impl<S: Sink> Writer<S> {
    /// Starts a message.
    pub fn new(out: S) -> Self {
        Writer { out, refusal: None }
    }

    #[cold]
    #[inline(never)]
    fn refuse(&mut self, why: &'static str) {
        self.refusal.get_or_insert(why);
    }

    /// A length of 8, 16 or 32 bits, the shortest that holds it; says no where none does. `tag` is that of 8 bits, the
    /// others follow it.
    fn sized(&mut self, tag: u8, len: usize) -> bool {
        match u8::try_from(len) {
            Ok(len) => {
                self.out.put_array([tag, len]);
                true
            }
            Err(_) => self.wide_sized(tag + 1, len),
        }
    }

    /// The same without 8 bits: `tag` is that of 16.
    #[inline(never)]
    fn wide_sized(&mut self, tag: u8, len: usize) -> bool {
        if let Ok(len) = u16::try_from(len) {
            let [a, b] = len.to_be_bytes();
            self.out.put_array([tag, a, b]);
        } else if let Ok(len) = u32::try_from(len) {
            let [a, b, c, d] = len.to_be_bytes();
            self.out.put_array([tag + 1, a, b, c, d]);
        } else {
            self.refuse(TOO_LONG);
            return false;
        }
        true
    }

    #[inline(never)]
    fn blob(&mut self, tag: u8, bytes: &[u8]) {
        if self.sized(tag, bytes.len()) {
            self.out.put(bytes);
        }
    }

    /// Above what [`tag::INT_FIX_MAX`] allows.
    #[inline(always)]
    fn uint(&mut self, value: u64) {
        if let Ok(value) = u32::try_from(value) {
            if let Ok(value) = u8::try_from(value) {
                self.out.put_array([tag::UINT_8, value]);
            } else if let Ok(value) = u16::try_from(value) {
                let [a, b] = value.to_be_bytes();
                self.out.put_array([tag::UINT_16, a, b]);
            } else {
                let [a, b, c, d] = value.to_be_bytes();
                self.out.put_array([tag::UINT_32, a, b, c, d]);
            }
        } else {
            let mut bytes = [tag::UINT_64; 9];
            bytes[1..].copy_from_slice(&value.to_be_bytes());
            self.out.put_array(bytes);
        }
    }

    #[inline(always)]
    #[allow(clippy::cast_possible_truncation)]
    fn utf8(&mut self, bytes: &[u8]) {
        if bytes.len() <= tag::STR_FIX_MAX {
            self.out.put_tagged(tag::STR_FIX + bytes.len() as u8, bytes);
        } else if let Ok(len) = u8::try_from(bytes.len()) {
            self.out.put_headed([tag::STR_8, len], bytes);
        } else {
            self.blob(tag::STR_8, bytes);
        }
    }

    /// Text that is to become UTF-8.
    #[allow(clippy::cast_possible_truncation)]
    fn wide<U: text::Unit>(&mut self, units: &[U]) {
        if text::has_surrogate(units) {
            return self.refuse(SURROGATE);
        }
        let len = text::utf8_len(units);
        let begun = if len <= tag::STR_FIX_MAX {
            self.out.put_array([tag::STR_FIX + len as u8]);
            true
        } else {
            self.sized(tag::STR_8, len)
        };
        if begun {
            text::push_utf8(units, &mut self.out);
        }
    }
}

#[allow(clippy::cast_possible_truncation)]
impl<S: Sink> model::Writer for Writer<S> {
    const KEYS_ARE_TEXT: bool = false;

    #[inline(always)]
    fn none(&mut self) {
        self.out.put_array([tag::NIL]);
    }

    #[inline(always)]
    fn bool(&mut self, value: bool) {
        self.out.put_array([tag::FALSE + u8::from(value)]);
    }

    #[inline(always)]
    fn int(&mut self, value: i64) {
        if (tag::INT_FIX_MIN..=tag::INT_FIX_MAX).contains(&value) {
            self.out.put_array([value as u8]);
        } else if let Ok(value) = u64::try_from(value) {
            self.uint(value);
        } else if let Ok(value) = i32::try_from(value) {
            if let Ok(value) = i8::try_from(value) {
                self.out.put_array([tag::INT_8, value as u8]);
            } else if let Ok(value) = i16::try_from(value) {
                let [a, b] = value.to_be_bytes();
                self.out.put_array([tag::INT_16, a, b]);
            } else {
                let [a, b, c, d] = value.to_be_bytes();
                self.out.put_array([tag::INT_32, a, b, c, d]);
            }
        } else {
            let mut bytes = [tag::INT_64; 9];
            bytes[1..].copy_from_slice(&value.to_be_bytes());
            self.out.put_array(bytes);
        }
    }

    fn bigint(&mut self, bytes: &[u8]) {
        let negative = bytes.last().is_some_and(|&byte| byte >= 0x80);
        let sign = if negative { u8::MAX } else { 0 };
        let (low, high) = bytes.split_at(bytes.len().min(8));
        let mut value = [sign; 8];
        value[..low.len()].copy_from_slice(low);
        let value = u64::from_le_bytes(value);
        if high.iter().any(|&byte| byte != sign) || (negative && value < 1 << 63) {
            self.refuse(TOO_BIG);
        } else if negative || value < 1 << 63 {
            self.int(value as i64);
        } else {
            self.uint(value);
        }
    }

    #[inline(always)]
    fn float(&mut self, value: f64) {
        let mut bytes = [tag::FLOAT_64; 9];
        bytes[1..].copy_from_slice(&value.to_bits().to_be_bytes());
        self.out.put_array(bytes);
    }

    #[inline(always)]
    fn text(&mut self, text: Text<'_>) {
        match text {
            Text::Ascii(bytes) | Text::Utf8(bytes) => self.utf8(bytes),
            Text::Latin1(bytes) => self.wide(bytes),
            Text::Ucs2(units) => self.wide(units),
            Text::Ucs4(units) => self.wide(units),
        }
    }

    fn bytes(&mut self, bytes: &[u8]) {
        self.blob(tag::BIN_8, bytes);
    }

    #[inline(always)]
    fn list(&mut self, len: usize) {
        if len <= tag::ARRAY_FIX_MAX {
            self.out.put_array([tag::ARRAY_FIX + len as u8]);
        } else {
            self.wide_sized(tag::ARRAY_16, len);
        }
    }

    #[inline(always)]
    fn dict(&mut self, len: usize) {
        if len <= tag::MAP_FIX_MAX {
            self.out.put_array([tag::MAP_FIX + len as u8]);
        } else {
            self.wide_sized(tag::MAP_16, len);
        }
    }

    #[inline(always)]
    fn position(&self) -> usize {
        self.out.len()
    }

    fn rollback(&mut self, position: usize) {
        self.out.truncate(position);
    }

    fn refusal(&self) -> Option<&'static str> {
        self.refusal
    }
}

#[allow(clippy::cast_possible_truncation)]
impl<S: Sink> model::TimestampWriter for Writer<S> {
    const NAIVE_IS_UTC: bool = false;

    fn timestamp(&mut self, seconds: i64, nanoseconds: u32) {
        const TYPE: u8 = tag::TIMESTAMP as u8;
        match u64::try_from(seconds) {
            Ok(seconds) if seconds < 1 << tag::TIMESTAMP_SECONDS => {
                let bits = u64::from(nanoseconds) << tag::TIMESTAMP_SECONDS | seconds;
                match u32::try_from(bits) {
                    Ok(bits) => self.out.put_headed([tag::FIXEXT_4, TYPE], &bits.to_be_bytes()),
                    Err(_) => self.out.put_headed([tag::FIXEXT_8, TYPE], &bits.to_be_bytes()),
                }
            }
            _ => {
                let mut bytes = [0; 12];
                bytes[..4].copy_from_slice(&nanoseconds.to_be_bytes());
                bytes[4..].copy_from_slice(&seconds.to_be_bytes());
                self.out.put_headed([tag::EXT_8, bytes.len() as u8, TYPE], &bytes);
            }
        }
    }
}

#[allow(clippy::cast_possible_truncation)]
impl<S: Sink> model::ExtensionWriter for Writer<S> {
    fn encoded(&mut self, value: &[u8]) -> Result<(), &'static str> {
        match super::scan(value, 1) {
            Ok((len, 0)) if len == value.len() => {
                self.out.put(value);
                Ok(())
            }
            _ => Err("its bytes are not one value of MessagePack"),
        }
    }

    fn extension(&mut self, code: i8, data: &[u8]) {
        let begun = match data.len() {
            1 | 2 | 4 | 8 | 16 => {
                self.out.put_array([tag::FIXEXT_1 + data.len().trailing_zeros() as u8]);
                true
            }
            len => self.sized(tag::EXT_8, len),
        };
        if begun {
            self.out.put_tagged(code as u8, data);
        }
    }
}

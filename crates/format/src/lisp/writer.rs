//! Tokens to bytes. [`super::Reader`] mirrors it, function by function.

use super::{tag, Doubles};
use crate::memory::Vec;
use crate::model::{self, Element, LispForm, Text};
use crate::sink::Sink;
use crate::text;

const SURROGATE: &str = "text with a lone surrogate";

/// Writes values into a [`Sink`], each in its shortest form.
#[derive(Debug)]
pub struct Writer<S: Sink> {
    pub out: S,
    refusal: Option<&'static str>,
    /// How many ids were given out.
    ids: u64,
    doubles: Doubles,
}

#[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)]
impl<S: Sink> Writer<S> {
    /// Starts what one call of `restore` reads.
    pub fn new(out: S) -> Self {
        Writer { out, refusal: None, ids: 0, doubles: Doubles::Apart }
    }

    /// The same for a walk that only finds out which doubles occur again.
    pub fn gathering(out: S) -> Self {
        Writer { doubles: Doubles::Gathered(Vec::new()), ..Writer::new(out) }
    }

    /// The same with what such a walk found.
    pub fn again(out: S, doubles: Doubles) -> Self {
        Writer { doubles, ..Writer::new(out) }
    }

    /// What this walk found.
    pub fn take_doubles(&mut self) -> Doubles {
        std::mem::take(&mut self.doubles).settled()
    }

    /// Before a double other than 0: whether a reference stands for it.
    #[inline(never)]
    fn met(&mut self, bits: u64) -> bool {
        match &mut self.doubles {
            Doubles::Apart => return false,
            Doubles::Gathered(all) => {
                all.push(bits);
                return true;
            }
            Doubles::Again(again) => match again.get(&bits).copied() {
                None => return false,
                Some(Some(id)) => model::ReferenceWriter::reference(self, id),
                Some(None) => {
                    let id = model::LispWriter::assign(self);
                    if let Doubles::Again(again) = &mut self.doubles {
                        again.insert(bits, Some(id));
                    }
                    return false;
                }
            },
        }
        true
    }

    #[cold]
    #[inline(never)]
    fn refuse(&mut self, why: &'static str) {
        self.refusal.get_or_insert(why);
    }

    #[inline(never)]
    fn wide_int(&mut self, value: i64) {
        let magnitude = value.unsigned_abs();
        let (tag_8, tag_16, tag_32) = match value < 0 {
            true => (tag::NEGATED_8, tag::NEGATED_16, tag::NEGATED_32),
            false => (tag::UINT_8, tag::UINT_16, tag::UINT_32),
        };
        if let Ok(value) = u8::try_from(magnitude) {
            self.out.put_array([tag_8, value]);
        } else if let Ok(value) = u16::try_from(magnitude) {
            let [a, b] = value.to_le_bytes();
            self.out.put_array([tag_16, a, b]);
        } else if let Ok(value) = u32::try_from(magnitude) {
            let [a, b, c, d] = value.to_le_bytes();
            self.out.put_array([tag_32, a, b, c, d]);
        } else if (-(1 << 62)..1 << 62).contains(&value) {
            let mut bytes = [tag::INT_64; 9];
            bytes[1..].copy_from_slice(&value.to_le_bytes());
            self.out.put_array(bytes);
        } else {
            // Beyond SBCL's fixnums.
            self.bignum(value < 0, &magnitude.to_le_bytes());
        }
    }

    /// `magnitude`: lowest byte first.
    fn bignum(&mut self, negative: bool, magnitude: &[u8]) {
        let len = magnitude.iter().rposition(|&byte| byte != 0).map_or(0, |at| at + 1);
        let words = len.div_ceil(4);
        self.out.put_array([tag::BIGNUM]);
        model::Writer::int(self, if negative { -(words as i64) } else { words as i64 });
        self.out.put(&magnitude[..len]);
        self.out.put(&[0; 3][..4 * words - len]);
    }

    /// A length within a code.
    #[inline(always)]
    fn length(&mut self, tag: u8, len: usize) {
        if len <= tag::LENGTH_FIX_MAX {
            self.out.put_array([tag, len as u8 + tag::LENGTH_FIX]);
        } else {
            self.wide_length(tag, len);
        }
    }

    #[inline(never)]
    fn wide_length(&mut self, tag: u8, len: usize) {
        let more = len - tag::LENGTH_FIX_MAX - 1;
        self.out.put_array([tag]);
        if let Ok(more) = u8::try_from(more) {
            self.out.put_array([tag::UINT_8, more]);
        } else if let Ok(more) = u16::try_from(more) {
            self.out.put_headed([tag::UINT_16], &more.to_le_bytes());
        } else if let Ok(more) = u32::try_from(more) {
            self.out.put_headed([tag::UINT_32], &more.to_le_bytes());
        } else {
            self.out.put_headed([tag::INT_64], &(more as u64).to_le_bytes());
        }
    }

    #[inline(always)]
    fn utf8(&mut self, tag: u8, bytes: &[u8]) {
        if bytes.len() <= tag::LENGTH_FIX_MAX {
            self.out.put_headed([tag, bytes.len() as u8 + tag::LENGTH_FIX], bytes);
        } else {
            self.wide_length(tag, bytes.len());
            self.out.put(bytes);
        }
    }

    /// Text that is to become UTF-8.
    fn wide<U: text::Unit>(&mut self, units: &[U]) {
        if text::has_surrogate(units) {
            return self.refuse(SURROGATE);
        }
        self.length(tag::STRING, text::utf8_len(units));
        text::push_utf8(units, &mut self.out);
    }

    /// A symbol's name: ASCII as a base string, as SBCL keeps it.
    fn name(&mut self, name: &[u8]) {
        self.utf8(if name.is_ascii() { tag::BASE_STRING } else { tag::STRING }, name);
    }

    fn dimensions(&mut self, dimensions: &[usize]) {
        self.out.put_array([dimensions.len() as u8]);
        for &len in dimensions {
            model::Writer::int(self, len as i64);
        }
    }

    fn flag(&mut self, value: bool) {
        self.out.put_array([if value { tag::TRUE } else { tag::NIL }]);
    }
}

#[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)]
impl<S: Sink> model::Writer for Writer<S> {
    const KEYS_ARE_TEXT: bool = false;

    #[inline(always)]
    fn none(&mut self) {
        self.out.put_array([tag::NIL]);
    }

    #[inline(always)]
    fn bool(&mut self, value: bool) {
        self.flag(value);
    }

    #[inline(always)]
    fn int(&mut self, value: i64) {
        if (tag::INTEGER_MIN..=tag::INTEGER_MAX).contains(&value) {
            self.out.put_array([(value + i64::from(tag::ZERO)) as u8]);
        } else {
            self.wide_int(value);
        }
    }

    fn bigint(&mut self, bytes: &[u8]) {
        let negative = bytes.last().is_some_and(|&byte| byte >= 0x80);
        if bytes.len() <= 8 {
            let mut value = [if negative { u8::MAX } else { 0 }; 8];
            value[..bytes.len()].copy_from_slice(bytes);
            return self.int(i64::from_le_bytes(value));
        }
        if !negative {
            return self.bignum(false, bytes);
        }
        let mut magnitude: Vec<u8> = bytes.iter().map(|byte| !byte).collect();
        for byte in &mut magnitude {
            *byte = byte.wrapping_add(1);
            if *byte != 0 {
                break;
            }
        }
        self.bignum(true, &magnitude);
    }

    /// -0.0 is written in full: the short form of zero has no sign.
    #[inline(always)]
    fn float(&mut self, value: f64) {
        if value.to_bits() == 0 {
            return self.out.put_array([tag::DOUBLE_ZERO]);
        }
        let apart = match &self.doubles {
            Doubles::Apart => true,
            Doubles::Again(again) => again.is_empty(),
            Doubles::Gathered(_) => false,
        };
        if !apart && self.met(value.to_bits()) {
            return;
        }
        let mut bytes = [tag::DOUBLE_FLOAT; 9];
        bytes[1..].copy_from_slice(&value.to_le_bytes());
        self.out.put_array(bytes);
    }

    #[inline(always)]
    fn text(&mut self, text: Text<'_>) {
        match text {
            Text::Ascii(bytes) | Text::Utf8(bytes) => self.utf8(tag::STRING, bytes),
            Text::Latin1(bytes) => self.wide(bytes),
            Text::Ucs2(units) => self.wide(units),
            Text::Ucs4(units) => self.wide(units),
        }
    }

    /// A vector of octets.
    fn bytes(&mut self, bytes: &[u8]) {
        model::LispWriter::vector(self, Element::Unsigned8, bytes.len(), bytes);
    }

    /// The cars of a list; the last cdr follows them. An empty list is NIL, and has none.
    #[inline(always)]
    fn list(&mut self, len: usize) {
        match len {
            0 => self.none(),
            _ => self.length(tag::LIST, len),
        }
    }

    /// A hash table, as `(make-hash-table :test 'equal)` makes it.
    fn dict(&mut self, len: usize) {
        let table = LispForm::HashTable { count: len, size: len.max(tag::LEAST_SIZE) };
        let package = LispForm::BaseString(tag::COMMON_LISP);
        for form in [table, LispForm::Symbol(tag::EQUAL), package] {
            model::LispWriter::form(self, form);
        }
        for factor in [tag::REHASH_THRESHOLD, tag::REHASH_SIZE] {
            model::LispWriter::form(self, LispForm::Single(factor));
        }
        // Not synchronized, not weak.
        self.none();
        self.none();
    }

    /// A simple-vector.
    #[inline(always)]
    fn tuple(&mut self, len: usize) {
        self.length(tag::SIMPLE_VECTOR, len);
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

impl<S: Sink> model::ReferenceWriter for Writer<S> {
    #[inline(always)]
    fn assign_id(&mut self) {
        self.ids += 1;
        self.out.put_array([tag::ASSIGN_ID]);
    }

    /// `number`: 1 or above.
    #[allow(clippy::cast_possible_truncation, clippy::cast_possible_wrap)]
    fn reference(&mut self, number: u64) {
        // The lowest bits stand in the code.
        const LOW: u64 = (1 << tag::ID_BITS) - 1;
        if number < tag::FIRST_ID_8 {
            self.out.put_array([tag::REFERENCE_FIX + (number as u8).wrapping_sub(1)]);
        } else if number < tag::FIRST_ID_16 {
            let more = number - tag::FIRST_ID_8;
            self.out.put_array([tag::REFERENCE_8 + (more & LOW) as u8, (more >> tag::ID_BITS) as u8]);
        } else if number < tag::FIRST_ID {
            let more = number - tag::FIRST_ID_16;
            let [a, b] = ((more >> tag::ID_BITS) as u16).to_le_bytes();
            self.out.put_array([tag::REFERENCE_16 + (more & LOW) as u8, a, b]);
        } else {
            self.out.put_array([tag::REFERENCE]);
            model::Writer::int(self, (number - tag::FIRST_ID) as i64 + tag::INTEGER_MIN);
        }
    }
}

#[allow(clippy::cast_possible_truncation, clippy::cast_possible_wrap)]
impl<S: Sink> model::LispWriter for Writer<S> {
    fn form(&mut self, form: LispForm<'_>) {
        match form {
            LispForm::List(len) => self.length(tag::LIST, len),
            LispForm::Cons => self.out.put_array([tag::CONS]),
            LispForm::Ratio => self.out.put_array([tag::RATIO]),
            LispForm::Complex => self.out.put_array([tag::COMPLEX]),
            LispForm::Object => self.out.put_array([tag::OBJECT]),
            LispForm::Unbound => self.out.put_array([tag::UNBOUND]),
            LispForm::Pathname => self.out.put_array([tag::PATHNAME]),
            LispForm::Single(value) => self.out.put_headed([tag::SINGLE_FLOAT], &value.to_le_bytes()),
            LispForm::ComplexDouble(real, imaginary) => {
                self.out.put_headed([tag::COMPLEX_DOUBLE], &real.to_le_bytes());
                self.out.put(&imaginary.to_le_bytes());
            }
            LispForm::ComplexSingle(real, imaginary) => {
                self.out.put_headed([tag::COMPLEX_SINGLE], &real.to_le_bytes());
                self.out.put(&imaginary.to_le_bytes());
            }
            LispForm::BaseString(bytes) => self.utf8(tag::BASE_STRING, bytes),
            LispForm::Symbol(name) => {
                self.out.put_array([tag::SYMBOL]);
                self.name(name);
            }
            LispForm::Uninterned(name) => {
                self.out.put_array([tag::UNINTERNED]);
                self.name(name);
            }
            LispForm::Info(slots) => {
                self.out.put_array([tag::OBJECT_INFO]);
                model::Writer::int(self, slots as i64);
            }
            LispForm::KnownInfo(number) => {
                self.out.put_array([tag::OBJECT_INFO]);
                model::Writer::int(self, -(number as i64));
            }
            LispForm::HashTable { count, size } => {
                self.out.put_array([tag::HASH_TABLE]);
                model::Writer::int(self, count as i64);
                model::Writer::int(self, size as i64);
            }
            LispForm::Array { fill_pointer, adjustable, displaced, dimensions } => {
                self.out.put_array([tag::ARRAY]);
                self.flag(fill_pointer.is_some());
                if let Some(fill_pointer) = fill_pointer {
                    model::Writer::int(self, fill_pointer as i64);
                }
                self.flag(adjustable);
                self.dimensions(dimensions);
                self.flag(displaced);
            }
            LispForm::Version => self.out.put_array([tag::ACTION, tag::MAGIC_NUMBER, tag::ZERO + tag::VERSION as u8]),
            LispForm::ReferenceCount(count) => {
                self.out.put_array([tag::ACTION, tag::REFERENCE_COUNT]);
                model::Writer::int(self, count as i64);
            }
            LispForm::End => self.out.put_array([tag::ACTION, tag::END]),
        }
    }

    #[inline]
    fn assign(&mut self) -> u64 {
        model::ReferenceWriter::assign_id(self);
        self.ids
    }

    fn ids_of_doubles(&self) -> usize {
        self.doubles.count()
    }

    fn vector(&mut self, element: Element, len: usize, data: &[u8]) {
        self.length(tag::VECTOR, len);
        self.out.put_headed([tag::code(element)], data);
    }

    fn packed(&mut self, element: Element, dimensions: &[usize], data: &[u8]) {
        self.out.put_array([tag::SIMPLE_ARRAY]);
        self.dimensions(dimensions);
        self.out.put_headed([tag::code(element)], data);
    }
}

//! Tokens to bytes. [`super::Reader`] mirrors it, function by function.

use super::tag;
use crate::memory::Vec;
use crate::model::{self, IntRun, KnownType, OutOfBand, Seq, ShapeKind, Text};
use crate::sink::Sink;
use crate::text;

/// Writes one message into a [`Sink`].
#[derive(Debug)]
pub struct Writer<S: Sink> {
    pub out: S,
}

/// A length, in its shortest form.
#[allow(clippy::cast_possible_truncation)]
pub(super) fn length(out: &mut impl Sink, len: u64) {
    if len <= u64::from(tag::LENGTH_FIX) {
        out.put_array([len as u8]);
    } else if let Ok(len) = u16::try_from(len) {
        out.put_tagged(tag::LENGTH_16, &len.to_le_bytes());
    } else if let Ok(len) = u32::try_from(len) {
        out.put_tagged(tag::LENGTH_32, &len.to_le_bytes());
    } else {
        out.put_tagged(tag::LENGTH_64, &len.to_le_bytes());
    }
}

impl<S: Sink> Writer<S> {
    /// Starts a message: `trusted` ones may name code.
    pub fn new(mut out: S, trusted: bool) -> Self {
        out.put_array([if trusted { tag::VERSION_TRUSTED } else { tag::VERSION }]);
        Writer { out }
    }

    /// Starts a trusted message that goes on with those before it, in which that many objects have got a number, and of whose shapes
    /// it may use that many: all or none.
    pub fn continued(mut out: S, objects: u64, shapes: u64) -> Self {
        out.put_array([tag::VERSION_CONTINUED]);
        length(&mut out, objects);
        length(&mut out, shapes);
        Writer { out }
    }

    /// A tag and a length: one byte below 252, else a marker and the shortest of u16, u32, u64.
    #[inline(always)]
    #[allow(clippy::cast_possible_truncation)]
    fn sized(&mut self, tag: u8, len: usize) {
        if len <= usize::from(tag::LENGTH_FIX) {
            self.out.put_array([tag, len as u8]);
        } else {
            self.out.put_array([tag]);
            self.length(len as u64);
        }
    }

    fn length(&mut self, len: u64) {
        length(&mut self.out, len);
    }

    fn blob(&mut self, tag: u8, bytes: &[u8]) {
        self.sized(tag, bytes.len());
        self.out.put(bytes);
    }

    /// Text that is neither ASCII nor Latin-1: as pairs or as UTF-8, whichever is shorter.
    #[inline(never)]
    fn wide(&mut self, text: Text<'_>) {
        match text {
            Text::Ucs2(units) => match text::utf8_len(units) {
                len if len < 2 * units.len() => {
                    self.sized(tag::UTF_8, len);
                    text::push_utf8(units, &mut self.out);
                }
                _ => self.pairs(units),
            },
            Text::Ucs4(units) => {
                self.sized(tag::UTF_8, text::utf8_len(units));
                text::push_utf8(units, &mut self.out);
            }
            Text::Utf8(bytes) => self.blob(tag::UTF_8, bytes),
            Text::Ascii(bytes) | Text::Latin1(bytes) => self.blob(tag::LATIN_1, bytes),
        }
    }

    #[inline]
    fn pairs(&mut self, units: &[u16]) {
        self.sized(tag::UCS_2, units.len());
        if cfg!(target_endian = "little") {
            self.out.put(bytemuck::cast_slice(units));
        } else {
            units.iter().for_each(|unit| self.out.put_array(unit.to_le_bytes()));
        }
    }

    fn sequence(&self, seq: Seq, list: u8, tuple: u8) -> u8 {
        match seq {
            Seq::List => list,
            Seq::Tuple => tuple,
        }
    }

    /// Makes the values written so far of a run as wide as `width` says.
    #[cold]
    #[inline(never)]
    fn widen(&mut self, run: &mut IntRun, width: u8) {
        let old = Vec::from(&*self.out.written(run.data_at));
        self.out.truncate(run.data_at);
        match run.width {
            0 => self.narrow_ints(width, old.iter().map(|&byte| i64::from(byte as i8))),
            1 => self.narrow_ints(width, old.as_chunks().0.iter().map(|&pair| i64::from(i16::from_le_bytes(pair)))),
            _ => self.narrow_ints(width, old.as_chunks().0.iter().map(|&quad| i64::from(i32::from_le_bytes(quad)))),
        }
        run.width = width;
        self.out.written(run.tag_at)[0] = self.sequence(run.seq, tag::LIST_I8, tag::TUPLE_I8) + width;
    }

    #[inline(always)]
    #[allow(clippy::cast_possible_truncation)]
    fn narrow_ints(&mut self, width: u8, values: impl Iterator<Item = i64>) {
        const BLOCK: usize = 128;
        // A block on the stack, then one copy: the loop over a block becomes vector code.
        macro_rules! blocks {
            ($int:ty) => {{
                let mut block = [0u8; BLOCK * size_of::<$int>()];
                let mut used = 0;
                for value in values {
                    block[used..used + size_of::<$int>()].copy_from_slice(&(value as $int).to_le_bytes());
                    used += size_of::<$int>();
                    if used == block.len() {
                        self.out.put(&block);
                        used = 0;
                    }
                }
                self.out.put(&block[..used]);
            }};
        }
        match width {
            0 => blocks!(i8),
            1 => blocks!(i16),
            2 => blocks!(i32),
            _ => blocks!(i64),
        }
    }
}

/// log2 of the bytes that hold every value of `block`: 0 to 3.
#[inline(always)]
fn width_of(block: &[i64]) -> u8 {
    // Folding the sign away leaves the bits that matter; or-ing all values needs no comparison per value.
    let bits = block.iter().fold(0u64, |bits, &value| bits | (value ^ value >> 63) as u64);
    match bits {
        0..=0x7f => 0,
        0x80..=0x7fff => 1,
        0x8000..=0x7fff_ffff => 2,
        _ => 3,
    }
}

#[allow(clippy::cast_possible_truncation)]
impl<S: Sink> model::Writer for Writer<S> {
    const KEYS_ARE_TEXT: bool = false;

    #[inline]
    fn text_with_utf8(&mut self, text: Text<'_>, utf8: &[u8]) {
        match text {
            Text::Ucs2(units) if utf8.len() >= 2 * units.len() => self.pairs(units),
            Text::Ucs2(_) | Text::Ucs4(_) => self.blob(tag::UTF_8, utf8),
            _ => self.text(text),
        }
    }

    #[inline(always)]
    fn none(&mut self) {
        self.out.put_array([tag::NONE]);
    }

    #[inline(always)]
    fn bool(&mut self, value: bool) {
        self.out.put_array([tag::FALSE + u8::from(value)]);
    }

    #[inline(always)]
    fn int(&mut self, value: i64) {
        if (tag::INT_FIX_MIN..=tag::INT_FIX_MAX).contains(&value) {
            self.out.put_array([value as u8 & 0x3f]);
        } else {
            // Which width it is can't be guessed where numbers vary, so there is no branch for it.
            let bits = (value ^ value >> 63) as u64;
            let wide = u8::from(bits > 0x7f) + u8::from(bits > 0x7fff) + u8::from(bits > 0x7fff_ffff);
            let mut bytes = [tag::INT_8 + wide; 9];
            bytes[1..].copy_from_slice(&value.to_le_bytes());
            self.out.put_part(bytes, 1 + (1 << wide));
        }
    }

    fn bigint(&mut self, bytes: &[u8]) {
        self.blob(tag::INT_BIG, bytes);
    }

    #[inline(always)]
    fn float(&mut self, value: f64) {
        let mut bytes = [tag::FLOAT; 9];
        bytes[1..].copy_from_slice(&value.to_bits().to_le_bytes());
        self.out.put_array(bytes);
    }

    #[inline(always)]
    fn text(&mut self, text: Text<'_>) {
        match text {
            Text::Ascii(bytes) if bytes.len() <= tag::ASCII_FIX_MAX => {
                self.out.put_tagged(tag::ASCII_FIX + bytes.len() as u8, bytes);
            }
            Text::Ascii(bytes) => self.blob(tag::ASCII, bytes),
            Text::Latin1(bytes) => self.blob(tag::LATIN_1, bytes),
            _ => self.wide(text),
        }
    }

    fn bytes(&mut self, bytes: &[u8]) {
        self.blob(tag::BYTES, bytes);
    }

    #[inline(always)]
    fn list(&mut self, len: usize) {
        if len <= tag::LIST_FIX_MAX {
            self.out.put_array([tag::LIST_FIX + len as u8]);
        } else {
            self.sized(tag::LIST, len);
        }
    }

    #[inline(always)]
    fn tuple(&mut self, len: usize) {
        if len <= tag::TUPLE_FIX_MAX {
            self.out.put_array([tag::TUPLE_FIX + len as u8]);
        } else {
            self.sized(tag::TUPLE, len);
        }
    }

    fn dict(&mut self, len: usize) {
        if len == 0 {
            self.out.put_array([tag::DICT_EMPTY]);
        } else {
            self.sized(tag::DICT, len);
        }
    }

    #[inline(always)]
    fn position(&self) -> usize {
        self.out.len()
    }

    fn rollback(&mut self, position: usize) {
        self.out.truncate(position);
    }
}

#[allow(clippy::cast_possible_truncation)]
impl<S: Sink> model::ReferenceWriter for Writer<S> {
    #[inline(always)]
    fn assign_id(&mut self) {
        self.out.put_array([tag::MARK]);
    }

    fn assign_named_id(&mut self) {
        self.out.put_array([tag::NAMED]);
    }

    #[inline(always)]
    fn reference(&mut self, number: u64) {
        if let Ok(number) = u8::try_from(number) {
            self.out.put_array([tag::REF_8, number]);
        } else if let Ok(number) = u16::try_from(number) {
            let [a, b] = number.to_le_bytes();
            self.out.put_array([tag::REF_16, a, b]);
        } else {
            let [a, b, c, d] = (number as u32).to_le_bytes();
            self.out.put_array([tag::REF_32, a, b, c, d]);
        }
    }
}

#[allow(clippy::cast_possible_truncation)]
impl<S: Sink> model::ShapeWriter for Writer<S> {
    fn shape_begin(&mut self, kind: ShapeKind, version: u64, fields: usize) -> usize {
        match kind {
            ShapeKind::Dict => self.sized(tag::SHAPE, fields),
            _ => {
                let kind = match kind {
                    ShapeKind::Dict | ShapeKind::Object => tag::KIND_OBJECT,
                    ShapeKind::Based => tag::KIND_BASED,
                    ShapeKind::Enum => tag::KIND_ENUM,
                    ShapeKind::Custom => tag::KIND_CUSTOM,
                };
                self.out.put_array([tag::CLASS, kind]);
                self.length(version);
                self.length(fields as u64);
            }
        }
        self.out.put_array([0]); // the block's length, once it is known
        self.out.len()
    }

    fn shape_end(&mut self, block: usize) {
        let len = self.out.len() - block;
        if len <= usize::from(tag::LENGTH_FIX) {
            self.out.written(block - 1)[0] = len as u8;
        } else {
            let names = Vec::from(&*self.out.written(block));
            self.out.truncate(block - 1);
            self.length(len as u64);
            self.out.put(&names);
        }
    }

    #[inline(always)]
    fn instance(&mut self, shape: usize) {
        if shape <= tag::INSTANCE_FIX_MAX {
            self.out.put_array([tag::INSTANCE_FIX + shape as u8]);
        } else if shape <= tag::INSTANCE_FIX_MAX + 256 {
            self.out.put_array([tag::INSTANCE_8, (shape - tag::INSTANCE_FIX_MAX - 1) as u8]);
        } else {
            self.out.put_tagged(tag::INSTANCE_32, &(shape as u32).to_le_bytes());
        }
    }

    fn prepared(kind: ShapeKind, version: u64, names: &[Text<'_>]) -> Vec<u8> {
        let mut writer = Writer { out: Vec::new() };
        // The first name of a class's shape is its own.
        let fields = names.len() - usize::from(kind != ShapeKind::Dict).min(names.len());
        let block = writer.shape_begin(kind, version, fields);
        for &name in names {
            model::Writer::text(&mut writer, name);
        }
        writer.shape_end(block);
        writer.out
    }

    #[inline(always)]
    fn shape_again(&mut self, prepared: &[u8]) {
        self.out.put(prepared);
    }
}

#[allow(clippy::cast_possible_truncation)]
impl<S: Sink> model::RunWriter for Writer<S> {
    #[inline(always)]
    fn ints_begin(&mut self, seq: Seq, len: usize, first: &[i64]) -> IntRun {
        let width = width_of(first);
        let tag_at = self.out.len();
        self.sized(self.sequence(seq, tag::LIST_I8, tag::TUPLE_I8) + width, len);
        IntRun { tag_at, data_at: self.out.len(), width, seq }
    }

    #[inline(always)]
    fn ints(&mut self, run: &mut IntRun, block: &[i64]) {
        let width = width_of(block);
        if width > run.width {
            self.widen(run, width);
        }
        self.narrow_ints(run.width, block.iter().copied());
    }

    #[inline(always)]
    fn floats_begin(&mut self, seq: Seq, len: usize) {
        self.sized(self.sequence(seq, tag::LIST_F64, tag::TUPLE_F64), len);
    }

    #[inline(always)]
    fn floats(&mut self, block: &[f64]) {
        if cfg!(target_endian = "little") && block.len() > 1 {
            return self.out.put(bytemuck::cast_slice(block));
        }
        for &value in block {
            self.out.put_array(value.to_bits().to_le_bytes());
        }
    }

    fn bools(&mut self, seq: Seq, run: &[u8]) {
        self.blob(self.sequence(seq, tag::LIST_BOOL, tag::TUPLE_BOOL), run);
    }

    fn texts(&mut self, seq: Seq, lengths: &[u8]) {
        self.blob(self.sequence(seq, tag::LIST_ASCII, tag::TUPLE_ASCII), lengths);
    }

    #[inline(always)]
    fn texts_bytes(&mut self, text: &[u8]) {
        self.out.put(text);
    }
}

#[allow(clippy::cast_possible_truncation)]
impl<S: Sink> model::TypeWriter for Writer<S> {
    fn complex(&mut self, real: f64, imag: f64) {
        let mut bytes = [tag::COMPLEX; 17];
        bytes[1..9].copy_from_slice(&real.to_bits().to_le_bytes());
        bytes[9..].copy_from_slice(&imag.to_bits().to_le_bytes());
        self.out.put_array(bytes);
    }

    fn bytearray(&mut self, bytes: &[u8]) {
        self.blob(tag::BYTEARRAY, bytes);
    }

    fn ellipsis(&mut self) {
        self.out.put_array([tag::ELLIPSIS]);
    }

    fn not_implemented(&mut self) {
        self.out.put_array([tag::NOT_IMPL]);
    }

    fn set(&mut self, len: usize) {
        self.sized(tag::SET, len);
    }

    fn frozenset(&mut self, len: usize) {
        self.sized(tag::FROZENSET, len);
    }

    #[inline(always)]
    fn datetime(&mut self, bits: u64, zoned: bool) {
        let mut bytes = [tag::DATETIME + u8::from(zoned); 9];
        bytes[1..].copy_from_slice(&bits.to_le_bytes());
        self.out.put_array(bytes);
    }

    fn known(&mut self, code: KnownType) {
        self.out.put_array([tag::KNOWN_TYPE, tag::code(code)]);
    }

    fn buffer(&mut self, number: u64, out_of_band: OutOfBand) {
        self.out.put_array([tag::BUFFER, tag::out_of_band_code(out_of_band)]);
        self.length(number);
    }

    fn global(&mut self) {
        self.out.put_array([tag::GLOBAL]);
    }

    fn reduce(&mut self, flags: u8) {
        self.out.put_array([tag::REDUCE, flags]);
    }

    fn persistent(&mut self) {
        self.out.put_array([tag::PERSISTENT]);
    }
}

//! Numbers by their bytes, the least significant first: values of primitive types, and elements of packed arrays.

use crate::memory::Vec;

/// What the bytes of a number mean.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Number {
    Signed,
    Unsigned,
    /// IEEE 754: binary16, binary32 or binary64.
    Float,
}

/// A number that was read.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum NumberValue<'i> {
    Float(f64),
    Int(i64),
    /// Two's complement.
    Signed(&'i [u8]),
    /// Without a sign.
    Unsigned(&'i [u8]),
}

impl Number {
    /// The number of these bytes; nothing where a number of its kind does not have so many.
    pub fn read(self, data: &[u8]) -> Option<NumberValue<'_>> {
        const WORD: usize = size_of::<i64>();
        Some(match (self, data) {
            (Number::Float, &[a, b]) => NumberValue::Float(half([a, b])),
            (Number::Float, &[a, b, c, d]) => NumberValue::Float(single([a, b, c, d])),
            (Number::Float, _) => NumberValue::Float(f64::from_le_bytes(data.try_into().ok()?)),
            (_, []) => return None,
            (Number::Signed, &[.., highest]) if data.len() <= WORD => {
                let sign = if highest >= 0x80 { u8::MAX } else { 0 };
                let mut bytes = [sign; WORD];
                bytes[..data.len()].copy_from_slice(data);
                NumberValue::Int(i64::from_le_bytes(bytes))
            }
            // The topmost bit of eight bytes would be a sign.
            (Number::Unsigned, _) if data.len() < WORD => {
                let mut bytes = [0; WORD];
                bytes[..data.len()].copy_from_slice(data);
                NumberValue::Int(i64::from_le_bytes(bytes))
            }
            (Number::Signed, _) => NumberValue::Signed(data),
            (Number::Unsigned, _) => NumberValue::Unsigned(data),
        })
    }

    /// Mirror of [`Number::read`] for floats: appends the bytes; says no where `size` bytes don't keep every bit.
    pub fn put_float(self, value: f64, size: usize, to: &mut Vec<u8>) -> bool {
        let fits = self == Number::Float && size == size_of::<f64>();
        if fits {
            to.extend_from_slice(&value.to_le_bytes());
        }
        fits
    }

    /// The same for ints, given as two's complement; says no where `size` bytes don't hold the int.
    pub fn put_int(self, bytes: &[u8], size: usize, to: &mut Vec<u8>) -> bool {
        let negative = bytes.last().is_some_and(|&byte| byte >= 0x80);
        let sign = if negative { u8::MAX } else { 0 };
        let (low, high) = bytes.split_at(bytes.len().min(size));
        let fits = high.iter().all(|&byte| byte == sign)
            && match self {
                Number::Signed => low.last().is_none_or(|&byte| (byte >= 0x80) == negative),
                Number::Unsigned => !negative,
                Number::Float => false,
            };
        if fits {
            to.extend_from_slice(low);
            to.resize(to.len() + size - low.len(), sign);
        }
        fits
    }
}

/// A conversion would set a bit of a NaN that signals.
fn single(bytes: [u8; 4]) -> f64 {
    let value = f32::from_le_bytes(bytes);
    if value.is_nan() {
        let bits = value.to_bits();
        return not_a_number(bits >> 31 == 1, u64::from(bits & 0x7f_ffff) << 29);
    }
    f64::from(value)
}

fn half(bytes: [u8; 2]) -> f64 {
    let bits = u16::from_le_bytes(bytes);
    let sign = if bits >> 15 == 1 { -1.0 } else { 1.0 };
    let (exponent, fraction) = (i32::from(bits >> 10 & 31), f64::from(bits & 1023));
    sign * match exponent {
        0 => fraction * 2f64.powi(-24),
        31 if fraction == 0.0 => f64::INFINITY,
        31 => return not_a_number(bits >> 15 == 1, u64::from(bits & 1023) << 42),
        _ => (1.0 + fraction / 1024.0) * 2f64.powi(exponent - 15),
    }
}

fn not_a_number(negative: bool, payload: u64) -> f64 {
    f64::from_bits(u64::from(negative) << 63 | 0x7ff << 52 | payload)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn singles() {
        assert_eq!(single(1.5f32.to_le_bytes()), 1.5);
        // One that signals: its payload stays as it is.
        assert_eq!(single([1, 0, 0x80, 0x7f]).to_bits(), 0x7ff0_0000_2000_0000);
        assert_eq!(single([1, 0, 0x80, 0xff]).to_bits(), 0xfff0_0000_2000_0000);
    }

    #[test]
    fn halves() {
        let cases = [
            (0x0000, 0.0),
            (0x3c00, 1.0),
            (0x3e00, 1.5),
            (0xc000, -2.0),
            (0x7bff, 65504.0),
            (0x0001, 5.960464477539063e-8),
            (0x0400, 6.103515625e-5),
            (0x7c00, f64::INFINITY),
            (0xfc00, f64::NEG_INFINITY),
        ];
        for (bits, value) in cases {
            assert_eq!(half(u16::to_le_bytes(bits)), value);
        }
        assert!(half([0, 0x7e]).is_nan());
        assert!(half([0, 0x80]).is_sign_negative());
    }

    #[test]
    fn ints_at_the_bounds_of_every_size() {
        for size in 1..=16 {
            let bits = 8 * size as u32;
            let bounds = [0, 1, 1 << (bits - 1), (1u128 << (bits - 1)) - 1, u128::MAX >> (128 - bits)];
            for bits in bounds {
                let data = &bits.to_le_bytes()[..size];
                for kind in [Number::Signed, Number::Unsigned] {
                    let mut given = Vec::from(data);
                    match kind.read(data).unwrap() {
                        NumberValue::Int(value) => given = Vec::from(value.to_le_bytes()),
                        NumberValue::Unsigned(data) => {
                            assert_eq!((kind, data.len()), (Number::Unsigned, size));
                            given.push(0);
                        }
                        other => assert_eq!(other, NumberValue::Signed(data)),
                    }
                    let mut written = Vec::new();
                    assert!(kind.put_int(&given, size, &mut written), "{kind:?} {data:?}");
                    assert_eq!(written[..], *data);
                }
            }
        }
    }

    #[test]
    fn what_does_not_fit_is_refused() {
        let mut to = Vec::new();
        let cases = [
            (Number::Signed, 128i64, 1),
            (Number::Signed, -129, 1),
            (Number::Unsigned, 256, 1),
            (Number::Unsigned, -1, 8),
            (Number::Float, 1, 8),
        ];
        for (kind, value, size) in cases {
            assert!(!kind.put_int(&value.to_le_bytes(), size, &mut to), "{kind:?} {value}");
        }
        assert!(!Number::Float.put_float(1.0, 4, &mut to) && !Number::Signed.put_float(1.0, 8, &mut to));
        assert!(to.is_empty());
        for (kind, data) in
            [(Number::Signed, &[][..]), (Number::Unsigned, &[]), (Number::Float, &[]), (Number::Float, &[0; 3])]
        {
            assert_eq!(kind.read(data), None);
        }
    }
}

//! Ints, read and made by their 30-bit digits: `PyLong_AsLongLong` and `PyLong_FromLongLong` take two to four times as
//! long.

use super::{Obj, Owned, Type};
use crate::memory::{format, vec, Vec};
use pyo3::ffi;
use std::ptr::{addr_of_mut, null_mut};
use std::sync::atomic::{AtomicPtr, Ordering};

const DIGIT_BITS: u32 = 30;
const MASK: u32 = (1 << DIGIT_BITS) - 1;

#[repr(C)]
struct Layout {
    head: ffi::PyObject,
    /// Before 3.12: the number of digits, negative for negative ints. Since then: number << 3 | (0 positive, 1 zero, 2
    /// negative).
    size: isize,
    digits: [u32; 3],
}

super::libpython! {
    fn _PyLong_NumBits(object: Obj) -> usize;
    fn _PyLong_New(size: isize) -> Obj;
}

/// Whether the type is exactly int.
///
/// # Safety
/// `object` is alive.
#[inline(always)]
pub unsafe fn is(object: Obj) -> bool {
    // SAFETY: `object` is alive, so its type can be read.
    unsafe { ffi::Py_TYPE(object) == addr_of_mut!(ffi::PyLong_Type) }
}

/// The sign (-1, 0, 1) and the number of digits.
#[inline(always)]
fn sign_and_count(size: isize) -> (i64, usize) {
    if cfg!(Py_3_12) {
        (1 - (size as i64 & 3), size as usize >> 3)
    } else {
        ((size > 0) as i64 - (size < 0) as i64, size.unsigned_abs())
    }
}

/// The value, if it fits into an `i64`.
///
/// # Safety
/// `object` is an int.
#[inline(always)]
pub unsafe fn value(object: Obj) -> Option<i64> {
    let int = object.cast::<Layout>();
    // SAFETY: `object` is an int, laid out as `self_test` has checked. Only as many digits are read as it has, and the
    // first, which always exists.
    unsafe {
        let size = (*int).size;
        let digits = addr_of_mut!((*int).digits).cast::<u32>();
        if !cfg!(Py_3_12) && (size + 1) as usize <= 2 {
            // No branch on the sign: small ints of mixed sign would mispredict every other time.
            return Some(size as i64 * i64::from(*digits));
        }
        let (sign, count) = sign_and_count(size);
        match count {
            0 => Some(0),
            1 => Some(sign * i64::from(*digits)),
            2 | 3 => {
                let third = if count == 3 { u64::from(*digits.add(2)) } else { 0 };
                if third >= 8 {
                    return None; // from 2**63; -2**63 as well, which is handled as a big int
                }
                let magnitude =
                    u64::from(*digits) | u64::from(*digits.add(1)) << DIGIT_BITS | third << (2 * DIGIT_BITS);
                Some(sign * magnitude as i64)
            }
            _ => None,
        }
    }
}

/// An int of any size as two's complement, little-endian, in the fewest bytes.
///
/// # Safety
/// `object` is an int.
pub unsafe fn bytes(object: Obj) -> Option<Vec<u8>> {
    // SAFETY: `object` is an int, by contract.
    let (negative, digits) = unsafe { digits(object) };
    let mut block = vec![0u8; room_for(digits.len())];
    let len = write_bytes(digits, negative, &mut block)?;
    block.truncate(len);
    Some(block)
}

/// Room for the bytes of ints of up to [`FEW_DIGITS`], which most big ones are.
pub const FEW_BYTES: usize = room_for(FEW_DIGITS);
const FEW_DIGITS: usize = 10;

/// Whether an int is negative, and its digits, the lowest first.
///
/// # Safety
/// `object` is an int that outlives the slice.
#[inline(always)]
unsafe fn digits<'a>(object: Obj) -> (bool, &'a [u32]) {
    let int = object.cast::<Layout>();
    // SAFETY: `object` is an int, laid out as `self_test` has checked; as many digits are read as it has.
    unsafe {
        let (sign, count) = sign_and_count((*int).size);
        (sign < 0, std::slice::from_raw_parts(addr_of_mut!((*int).digits).cast::<u32>(), count))
    }
}

/// [`bytes`] for an int of few digits, in `block`. `None`: it has more.
///
/// # Safety
/// `object` is an int.
#[inline]
pub unsafe fn few_bytes(object: Obj, block: &mut [u8; FEW_BYTES]) -> Option<&[u8]> {
    // SAFETY: `object` is an int, by contract.
    let (negative, digits) = unsafe { digits(object) };
    let len = write_bytes(digits, negative, block)?;
    Some(&block[..len])
}

/// Room for the bytes of so many digits, and for the word that is written last.
const fn room_for(digits: usize) -> usize {
    digits * DIGIT_BITS as usize / 8 / 4 * 4 + 12
}

/// Writes a two's complement in the fewest bytes, and says how many these are. `None`: there is no room for so many digits.
#[inline]
fn write_bytes(digits: &[u32], negative: bool, block: &mut [u8]) -> Option<usize> {
    // Negated as they come, if they are to be.
    let flip = if negative { u32::MAX } else { 0 };
    let (mut pending, mut bits, mut used) = (0u64, 0, 0);
    let mut carry = u64::from(negative);
    for &digit in digits {
        let digit = u64::from((digit ^ flip) & MASK) + carry;
        carry = digit >> DIGIT_BITS;
        pending |= (digit & u64::from(MASK)) << bits;
        bits += DIGIT_BITS;
        let to = block.get_mut(used..)?.first_chunk_mut::<4>()?;
        if bits >= 32 {
            *to = (pending as u32).to_le_bytes();
            (pending, bits, used) = (pending >> 32, bits - 32, used + 4);
        }
    }
    // The rest with the sign's bits above it, then as few bytes as keep the sign.
    let above = if negative { u64::MAX.checked_shl(bits).unwrap_or(0) } else { 0 };
    *block.get_mut(used..)?.first_chunk_mut::<8>()? = (pending | above).to_le_bytes();
    let mut len = used + 8;
    let fill = if negative { 0xff } else { 0 };
    while len > 1 && block[len - 1] == fill && (block[len - 2] ^ fill) < 0x80 {
        len -= 1;
    }
    Some(len)
}

/// Mirror of [`bytes`]; takes any number of bytes.
///
/// # Safety
/// The GIL is held.
pub unsafe fn from_bytes(bytes: &[u8]) -> Option<Owned> {
    let Some(whole) = bytes.len().checked_mul(8).filter(|_| bytes.len() > 8) else {
        let mut word = [if bytes.last().is_some_and(|&last| last >= 0x80) { 0xff } else { 0 }; 8];
        word[..bytes.len().min(8)].copy_from_slice(&bytes[..bytes.len().min(8)]);
        // SAFETY: the GIL is held, by contract.
        return unsafe { from_value(i64::from_le_bytes(word)) };
    };
    // One more than the bits need, for the magnitude of a negative power of two; those that are 0 are left out below.
    let room = whole / DIGIT_BITS as usize + 1;
    // SAFETY: the GIL is held. The new int has room for `room` digits, nobody else has seen it, and zero is a digit.
    unsafe {
        let int = allocate(room)?;
        let layout = int.get().cast::<Layout>();
        let start = addr_of_mut!((*layout).digits).cast::<u32>();
        start.write_bytes(0, room);
        let (count, negative) = read_digits(bytes, std::slice::from_raw_parts_mut(start, room));
        if count < 3 {
            // It fits into an `i64`, though stored in more bytes than it needs: these share the small ones.
            let word = bytes.first_chunk::<8>().map_or(0, |word| i64::from_le_bytes(*word));
            (*layout).size = size_of_digits(1, false);
            return from_value(word);
        }
        (*layout).size = size_of_digits(count, negative);
        Some(int)
    }
}

/// Mirror of [`write_bytes`]: fills the digits, and says how many of them are needed and whether the int is negative.
#[inline]
fn read_digits(bytes: &[u8], digits: &mut [u32]) -> (usize, bool) {
    let negative = bytes.last().is_some_and(|&last| last >= 0x80);
    let (flip, fill) = if negative { (u32::MAX, 0xff) } else { (0, 0) };
    // Each digit lies within eight bytes, at a place of its own: none waits for the one before.
    for (at, digit) in digits.iter_mut().enumerate() {
        let bit = at * DIGIT_BITS as usize;
        let word = match bytes.get(bit / 8..).and_then(|rest| rest.first_chunk::<8>()) {
            Some(word) => *word,
            None => {
                let (mut word, rest) = ([fill; 8], bytes.get(bit / 8..).unwrap_or_default());
                word[..rest.len()].copy_from_slice(rest);
                word
            }
        };
        *digit = ((u64::from_le_bytes(word) >> (bit % 8)) as u32 ^ flip) & MASK;
    }
    if negative {
        for digit in digits.iter_mut() {
            *digit = (*digit + 1) & MASK;
            if *digit != 0 {
                break;
            }
        }
    }
    (digits.iter().rposition(|&digit| digit != 0).map_or(0, |last| last + 1), negative)
}

/// The size field of an int other than 0.
#[inline(always)]
fn size_of_digits(count: usize, negative: bool) -> isize {
    if cfg!(Py_3_12) {
        (count << 3) as isize | if negative { 2 } else { 0 }
    } else if negative {
        -(count as isize)
    } else {
        count as isize
    }
}

const SMALL_MIN: i64 = -5;
const SMALL_MAX: i64 = 256;
const SMALL_COUNT: usize = (SMALL_MAX - SMALL_MIN + 1) as usize;

/// CPython's own small ints, which live as long as the interpreter.
static SMALL: [AtomicPtr<ffi::PyObject>; SMALL_COUNT] = [const { AtomicPtr::new(null_mut()) }; SMALL_COUNT];

/// An instance of a subclass of `int` that adds no fields.
///
/// # Safety
/// The GIL is held; `class` is alive, and such a subclass.
pub unsafe fn of_class(class: Type, value: i64) -> Option<Owned> {
    let magnitude = value.unsigned_abs();
    let count = digits_of(magnitude);
    // SAFETY: `tp_alloc` gives an instance with room for `count` digits, as for the builtin, before they are written.
    unsafe {
        let int = Owned::new((*class).tp_alloc?(class, count as isize))?;
        write(int.get(), value, magnitude, count);
        if value == 0 {
            (*int.get().cast::<Layout>()).size = if cfg!(Py_3_12) { 1 } else { 0 };
        }
        Some(int)
    }
}

/// How many digits a magnitude takes; 0 takes one.
#[inline(always)]
fn digits_of(magnitude: u64) -> usize {
    if magnitude < 1 << DIGIT_BITS {
        1
    } else {
        2 + usize::from(magnitude >> (2 * DIGIT_BITS) != 0)
    }
}

/// Writes the digits and the size of an int other than 0.
///
/// # Safety
/// `int` is a new int with room for `count` digits, and `count` is `digits_of(magnitude)`.
#[inline(always)]
unsafe fn write(int: Obj, value: i64, magnitude: u64, count: usize) {
    const MASK: u64 = (1 << DIGIT_BITS) - 1;
    let layout = int.cast::<Layout>();
    // SAFETY: there is room for `count` digits, by contract, and no index exceeds `count - 1`.
    unsafe {
        let digits = addr_of_mut!((*layout).digits).cast::<u32>();
        *digits = (magnitude & MASK) as u32;
        if count > 1 {
            *digits.add(1) = (magnitude >> DIGIT_BITS & MASK) as u32;
            // Written again if there are two, which saves the branch between two and three digits.
            *digits.add(count - 1) = (magnitude >> (DIGIT_BITS as usize * (count - 1)) & MASK) as u32;
        }
        (*layout).size = size_of_digits(count, value < 0);
    }
}

/// An int of this value.
///
/// # Safety
/// The GIL is held, and `self_test` was run (it fills the table of small ints).
#[inline(always)]
pub unsafe fn from_value(value: i64) -> Option<Owned> {
    if (SMALL_MIN..=SMALL_MAX).contains(&value) {
        // SAFETY: `self_test` filled the table with objects that live as long as the interpreter; the range check
        // bounds the index.
        return Some(unsafe { Owned::borrowed(SMALL[(value - SMALL_MIN) as usize].load(Ordering::Relaxed)) });
    }
    let magnitude = value.unsigned_abs();
    let count = digits_of(magnitude);
    // SAFETY: the new int has room for `count` digits, and nobody else has seen it.
    unsafe {
        let int = allocate(count)?;
        write(int.get(), value, magnitude, count);
        Some(int)
    }
}

/// A new int with room for `count` digits, which are not written yet.
///
/// # Safety
/// The GIL is held; the caller writes the digits and the size.
#[inline(always)]
unsafe fn allocate(count: usize) -> Option<Owned> {
    // SAFETY: the GIL is held; head, size and `count` digits lie within the block that is allocated.
    unsafe {
        if cfg!(any(py_sys_config = "Py_REF_DEBUG", py_sys_config = "Py_TRACE_REFS")) {
            return Owned::new(_PyLong_New(count as isize));
        }
        // By hand instead of `_PyLong_New`: a list of a million ints takes a quarter less time.
        let size = std::mem::offset_of!(Layout, digits) + 4 * count;
        let object = ffi::PyObject_Malloc(size).cast::<ffi::PyObject>();
        if object.is_null() {
            ffi::PyErr_NoMemory();
            return None;
        }
        super::text::init_head(object, addr_of_mut!(ffi::PyLong_Type));
        Owned::new(object)
    }
}

/// How many bits an int's magnitude takes.
///
/// # Safety
/// `object` is an int.
pub unsafe fn bits(object: Obj) -> usize {
    // SAFETY: `object` is an int.
    unsafe { _PyLong_NumBits(object) }
}

pub(super) unsafe fn self_test() -> Result<(), &'static str> {
    // SAFETY: the GIL is held while the module is imported; every int is checked for null and held while it is read.
    unsafe {
        for (index, entry) in SMALL.iter().enumerate() {
            entry.store(ffi::PyLong_FromLongLong(index as i64 + SMALL_MIN), Ordering::Relaxed);
        }
        for shift in 0..63 {
            for near in [-1i64, 0, 1] {
                for sign in [-1i64, 1] {
                    let number = sign * ((1i64 << shift) + near);
                    let by_api = Owned::new(ffi::PyLong_FromLongLong(number)).ok_or("no memory")?;
                    let by_hand = from_value(number).ok_or("no memory")?;
                    let wide = i128::from(number) * i128::from(number) * i128::from(sign);
                    let shown = format!("{wide}\0");
                    let by_api_wide = Owned::new(ffi::PyLong_FromString(shown.as_ptr().cast(), null_mut(), 10));
                    let by_api_wide = by_api_wide.ok_or("no memory")?;
                    let by_hand_wide = from_bytes(&wide.to_le_bytes()).ok_or("no memory")?;
                    let mut block = [0; FEW_BYTES];
                    let read = few_bytes(by_api_wide.get(), &mut block).and_then(|bytes| {
                        let mut all = [if wide < 0 { 0xff } else { 0 }; 16];
                        all.get_mut(..bytes.len())?.copy_from_slice(bytes);
                        Some(i128::from_le_bytes(all))
                    });
                    if read != Some(wide)
                        || ffi::PyObject_RichCompareBool(by_api_wide.get(), by_hand_wide.get(), ffi::Py_EQ) != 1
                        || value(by_api.get()) != Some(number)
                        || ffi::PyObject_RichCompareBool(by_api.get(), by_hand.get(), ffi::Py_EQ) != 1
                    {
                        return Err("ints of this CPython are laid out in an unknown way");
                    }
                }
            }
        }
    }
    Ok(())
}

/// The value of an unsigned int of up to 128 bits.
///
/// # Safety
/// `object` is alive.
pub unsafe fn unsigned(object: Obj) -> Option<u128> {
    let mut block = [0; FEW_BYTES];
    // SAFETY: `object` is alive by contract, and its type is checked first.
    let little = unsafe { is(object).then(|| few_bytes(object, &mut block)).flatten() }?;
    // Without a sign there may be one byte more; leading zeros are left out.
    let (number, sign) = little.split_at(little.len().min(16));
    if little.last().is_some_and(|&highest| highest >= 0x80) || sign.iter().any(|&byte| byte != 0) || sign.len() > 1 {
        return None;
    }
    let mut whole = [0; 16];
    whole[..number.len()].copy_from_slice(number);
    Some(u128::from_le_bytes(whole))
}

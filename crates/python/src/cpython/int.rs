//! Ints, read and made by their 30-bit digits: `PyLong_AsLongLong` and `PyLong_FromLongLong` take two to four times as
//! long.

use super::{Obj, Owned, Type};
use crate::memory::{format, vec, Vec};
use pyo3::ffi;
use std::ptr::{addr_of_mut, null_mut};
use std::sync::atomic::{AtomicPtr, Ordering};

const DIGIT_BITS: u32 = 30;

#[repr(C)]
struct Layout {
    head: ffi::PyObject,
    /// Before 3.12: the number of digits, negative for negative ints. Since then: number << 3 | (0 positive, 1 zero, 2
    /// negative).
    size: isize,
    digits: [u32; 3],
}

extern "C" {
    fn _PyLong_NumBits(object: Obj) -> usize;
    fn _PyLong_New(size: isize) -> Obj;
    #[cfg(not(Py_3_13))]
    fn _PyLong_AsByteArray(object: Obj, bytes: *mut u8, len: usize, little: i32, signed: i32) -> i32;
    #[cfg(Py_3_13)]
    fn _PyLong_AsByteArray(object: Obj, bytes: *mut u8, len: usize, little: i32, signed: i32, raise: i32) -> i32;
    fn _PyLong_FromByteArray(bytes: *const u8, len: usize, little: i32, signed: i32) -> Obj;
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
    // SAFETY: `object` is an int, and the function writes exactly the `len` bytes that it is given.
    unsafe {
        let mut block = [0; FEW_BYTES];
        if let Some(bytes) = few_bytes(object, &mut block) {
            return Some(bytes.into());
        }
        let mut bytes = vec![0u8; _PyLong_NumBits(object) / 8 + 1];
        #[cfg(not(Py_3_13))]
        let failed = _PyLong_AsByteArray(object, bytes.as_mut_ptr(), bytes.len(), 1, 1);
        #[cfg(Py_3_13)]
        let failed = _PyLong_AsByteArray(object, bytes.as_mut_ptr(), bytes.len(), 1, 1, 1);
        // -2**(8k-1) got one byte too many: its bits were counted without the sign.
        if let [.., before, last] = bytes[..] {
            if (last == 0xff && before >= 0x80) || (last == 0 && before < 0x80) {
                bytes.pop();
            }
        }
        (failed == 0).then_some(bytes)
    }
}

/// Room for the bytes of ints of up to [`FEW_DIGITS`], which are read and made by hand: a third of the time.
pub const FEW_BYTES: usize = 48;
const FEW_DIGITS: usize = 10;

/// The same for an int of few digits, in `block`. `None`: it has more.
///
/// # Safety
/// `object` is an int.
#[inline]
pub unsafe fn few_bytes(object: Obj, block: &mut [u8; FEW_BYTES]) -> Option<&[u8]> {
    let int = object.cast::<Layout>();
    // SAFETY: `object` is an int, laid out as `self_test` has checked; as many digits are read as it has.
    let (sign, digits) = unsafe {
        let (sign, count) = sign_and_count((*int).size);
        if count > FEW_DIGITS {
            return None;
        }
        (sign, std::slice::from_raw_parts(addr_of_mut!((*int).digits).cast::<u32>(), count))
    };
    // Negated as they come, if they are to be.
    let flip = if sign < 0 { u32::MAX } else { 0 };
    let (mut pending, mut bits, mut used) = (0u64, 0, 0);
    let mut carry = u64::from(sign < 0);
    for &digit in digits {
        let digit = u64::from((digit ^ flip) & ((1 << DIGIT_BITS) - 1)) + carry;
        carry = digit >> DIGIT_BITS;
        pending |= (digit & ((1 << DIGIT_BITS) - 1)) << bits;
        bits += DIGIT_BITS;
        let to = block[used..].first_chunk_mut::<4>()?;
        if bits >= 32 {
            *to = (pending as u32).to_le_bytes();
            (pending, bits, used) = (pending >> 32, bits - 32, used + 4);
        }
    }
    // The rest with the sign's bits above it, then as few bytes as keep the sign.
    let above = if sign < 0 { u64::MAX.checked_shl(bits).unwrap_or(0) } else { 0 };
    *block[used..].first_chunk_mut::<8>()? = (pending | above).to_le_bytes();
    let mut len = used + 8;
    let fill = if sign < 0 { 0xff } else { 0 };
    while len > 1 && block[len - 1] == fill && (block[len - 2] ^ fill) < 0x80 {
        len -= 1;
    }
    Some(&block[..len])
}

/// Mirror of [`bytes`]; takes any number of bytes.
///
/// # Safety
/// The GIL is held.
pub unsafe fn from_bytes(bytes: &[u8]) -> Option<Owned> {
    if bytes.is_empty() {
        // SAFETY: the GIL is held, by contract.
        return unsafe { from_value(0) };
    }
    if let Some((digits, count, negative)) = digits_of_few(bytes) {
        // SAFETY: the new int has room for `count` digits, and nobody else has seen it.
        unsafe {
            let int = allocate(count)?;
            let layout = int.get().cast::<Layout>();
            addr_of_mut!((*layout).digits).cast::<u32>().copy_from_nonoverlapping(digits.as_ptr(), count);
            (*layout).size = size_of_digits(count, negative);
            return Some(int);
        }
    }
    // SAFETY: the slice is readable for its length; the result is a new reference or null.
    unsafe { Owned::new(_PyLong_FromByteArray(bytes.as_ptr(), bytes.len(), 1, 1)) }
}

/// Mirror of [`few_bytes`]: the digits, their number and whether the int is negative. `None`: there are too many bytes, or too few
/// to need this.
#[inline]
fn digits_of_few(bytes: &[u8]) -> Option<([u32; FEW_DIGITS + 2], usize, bool)> {
    const MOST: usize = FEW_DIGITS * DIGIT_BITS as usize / 8;
    if !(9..=MOST).contains(&bytes.len()) {
        return None;
    }
    let negative = *bytes.last()? >= 0x80;
    let (flip, mut carry) = if negative { (u64::MAX, 1) } else { (0, 0) };
    let (mut digits, mut count) = ([0u32; FEW_DIGITS + 2], 0);
    let (mut pending, mut bits) = (0u128, 0);
    for chunk in bytes.chunks(8) {
        let mut word = [if negative { 0xff } else { 0 }; 8];
        word[..chunk.len()].copy_from_slice(chunk);
        let (word, over) = (u64::from_le_bytes(word) ^ flip).overflowing_add(carry);
        carry = u64::from(over);
        pending |= u128::from(word) << bits;
        bits += 64;
        while bits >= DIGIT_BITS && count < digits.len() {
            digits[count] = (pending as u32) & ((1 << DIGIT_BITS) - 1);
            (pending, bits, count) = (pending >> DIGIT_BITS, bits - DIGIT_BITS, count + 1);
        }
    }
    if count < digits.len() {
        digits[count] = pending as u32;
        count += 1;
    }
    while count > 0 && digits[count - 1] == 0 {
        count -= 1;
    }
    // What fits into an `i64` is left to the way of those, which shares small ones.
    (count >= 3).then_some((digits, count, negative))
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

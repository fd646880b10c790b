//! Text: short ASCII strings without `PyUnicode_New` (a fifth faster), and the characters of any string as formats take
//! them.

use super::{Obj, Owned, Type};
use crate::blocks::{in_large_pages, LARGE};
use holdall_format::model::{Bytes, Text, TextForm};
use holdall_format::utf8::{self, Measure, Width};
use pyo3::ffi;
use std::ptr::addr_of_mut;
use std::sync::atomic::{AtomicPtr, AtomicU32, AtomicUsize, Ordering};

/// The fields that every string begins with; those behind differ by version.
#[repr(C)]
struct Layout {
    head: ffi::PyObject,
    length: isize,
    hash: isize,
    state: u32,
}

/// The bits of `state`, the same from 3.10 to 3.15 (with a GIL).
const COMPACT: u32 = 0x20;
const ASCII: u32 = 0x40;
const COMPACT_ASCII: u32 = COMPACT | ASCII;

/// Shorter texts are decoded character by character.
const LEAST_IN_BLOCKS: usize = 64;

/// Bytes before the characters of a compact ASCII string, and its `state`: read from a string that CPython made.
static HEAD: AtomicUsize = AtomicUsize::new(0);
static STATE: AtomicU32 = AtomicU32::new(0);
/// CPython's own one-character strings up to U+00FF, which live as long as the interpreter; filled on first use.
static ONE: [AtomicPtr<ffi::PyObject>; 256] = [const { AtomicPtr::new(std::ptr::null_mut()) }; 256];

/// Whether the type is exactly str.
///
/// # Safety
/// `object` is alive.
#[inline(always)]
pub unsafe fn is(object: Obj) -> bool {
    // SAFETY: `object` is alive, so its type can be read.
    unsafe { ffi::Py_TYPE(object) == addr_of_mut!(ffi::PyUnicode_Type) }
}

/// Writes the header of a new object of a type that the collector doesn't track.
///
/// # Safety
/// `object` points to fresh memory of the type's size; `kind` is immortal or static.
#[inline(always)]
pub(super) unsafe fn init_head(object: Obj, kind: Type) {
    // SAFETY: the memory is writable and large enough for a header, by contract, and nobody else has seen it.
    unsafe {
        #[cfg(not(Py_3_12))]
        {
            (*object).ob_refcnt = 1;
        }
        #[cfg(Py_3_12)]
        {
            object.cast::<isize>().write(1);
        }
        (*object).ob_type = kind;
    }
}

/// How many characters a string has.
///
/// # Safety
/// `object` is a string.
#[inline(always)]
pub unsafe fn len(object: Obj) -> usize {
    // SAFETY: `object` is a string, which has this field.
    unsafe { (*object.cast::<Layout>()).length as usize }
}

/// The bytes of a compact ASCII string; `None` for every other string.
///
/// # Safety
/// `object` is a string, and outlives the slice.
#[inline(always)]
pub unsafe fn ascii<'a>(object: Obj) -> Option<&'a [u8]> {
    let text = object.cast::<Layout>();
    // SAFETY: `object` is a string, and `state` says that it is compact and ASCII: `length` characters follow the
    // header of `HEAD` bytes. The contract keeps it alive; strings don't change.
    unsafe {
        if (*text).state & COMPACT_ASCII != COMPACT_ASCII {
            return None;
        }
        let start = object.cast::<u8>().add(HEAD.load(Ordering::Relaxed));
        Some(std::slice::from_raw_parts(start, (*text).length as usize))
    }
}

/// How many bytes a string's characters take.
///
/// # Safety
/// `object` is a string.
pub unsafe fn extent(object: Obj) -> usize {
    // The width of a character, 1, 2 or 4, stands in three bits above the two for "interned".
    // SAFETY: `object` is a string, which has this field.
    unsafe { len(object) * ((*object.cast::<Layout>()).state >> 2 & 7) as usize }
}

/// How many bytes a string's characters take at most in any encoding that is written.
///
/// # Safety
/// `object` is a string.
#[inline]
pub unsafe fn most_bytes(object: Obj) -> usize {
    // A character of two bytes takes three as UTF-8, one of one byte two if it is not ASCII, one of four no more.
    // SAFETY: the contract is the same.
    unsafe {
        match ascii(object) {
            Some(bytes) => bytes.len(),
            None if extent(object) == 4 * len(object) => extent(object),
            None => extent(object) + len(object),
        }
    }
}

/// The characters of any string, in the width in which CPython stores them. `None`: an exception was raised.
///
/// # Safety
/// `object` is a string, and outlives the text.
pub unsafe fn parts<'a>(object: Obj) -> Option<Text<'a>> {
    // SAFETY: `object` is a string (ready, before 3.12); its kind and length describe its data, which the contract
    // keeps alive.
    unsafe {
        if let Some(bytes) = ascii(object) {
            return Some(Text::Ascii(bytes));
        }
        #[cfg(not(Py_3_12))]
        #[allow(deprecated)]
        if ffi::PyUnicode_READY(object) != 0 {
            return None;
        }
        let len = ffi::PyUnicode_GET_LENGTH(object) as usize;
        let data = ffi::PyUnicode_DATA(object);
        let is_ascii = (*object.cast::<Layout>()).state & ASCII != 0;
        Some(match ffi::PyUnicode_KIND(object) {
            ffi::PyUnicode_1BYTE_KIND if is_ascii => Text::Ascii(std::slice::from_raw_parts(data.cast(), len)),
            ffi::PyUnicode_1BYTE_KIND => Text::Latin1(std::slice::from_raw_parts(data.cast(), len)),
            ffi::PyUnicode_2BYTE_KIND => Text::Ucs2(std::slice::from_raw_parts(data.cast(), len)),
            _ => Text::Ucs4(std::slice::from_raw_parts(data.cast(), len)),
        })
    }
}

/// The UTF-8 of a string that is not ASCII, if CPython has cached it.
///
/// # Safety
/// `object` is a string, and outlives the slice.
pub unsafe fn cached_utf8<'a>(object: Obj) -> Option<&'a [u8]> {
    // SAFETY: `object` is a string. A compact one that is not ASCII has the length and address of its UTF-8 behind the
    // header, null until somebody asks for it; both live as long as the string.
    unsafe {
        if (*object.cast::<Layout>()).state & COMPACT_ASCII != COMPACT {
            return None;
        }
        let compact = object.cast::<ffi::PyCompactUnicodeObject>();
        let start: *const u8 = (*compact).utf8.cast();
        (!start.is_null()).then(|| std::slice::from_raw_parts(start, (*compact).utf8_length as usize))
    }
}

/// Whether CPython has only one such string: its identity need not be preserved.
///
/// # Safety
/// `object` is a string.
#[inline(always)]
pub unsafe fn is_singleton(object: Obj) -> bool {
    // SAFETY: `object` is a string.
    unsafe {
        match (*object.cast::<Layout>()).length {
            0 => true,
            1 => matches!(parts(object), Some(Text::Ascii(_) | Text::Latin1(_))),
            _ => false,
        }
    }
}

/// The hash of a string, which CPython caches in it.
///
/// # Safety
/// `object` is a string.
#[inline(always)]
pub unsafe fn hash(object: Obj) -> isize {
    // SAFETY: `object` is a string, so it has this field.
    unsafe {
        match (*object.cast::<Layout>()).hash {
            -1 => ffi::PyObject_Hash(object), // strings never fail to hash
            hash => hash,
        }
    }
}

/// Whether two strings have the same characters.
///
/// # Safety
/// Both are strings.
#[inline(always)]
pub unsafe fn equal(one: Obj, other: Obj) -> bool {
    // SAFETY: `one` and `other` are strings; the slices are compared at once.
    unsafe {
        one == other
            || match (ascii(one), ascii(other)) {
                (Some(one), Some(other)) => one == other,
                (None, None) => ffi::PyUnicode_Compare(one, other) == 0,
                _ => false,
            }
    }
}

/// The one-character string of a byte below 0x80.
#[cold]
unsafe fn one(byte: u8) -> Option<Owned> {
    // SAFETY: the GIL is held, as for `from_ascii`, the only caller. The table keeps its strings for ever.
    unsafe {
        let mut object = ONE[usize::from(byte)].load(Ordering::Relaxed);
        if object.is_null() {
            object = Owned::new(ffi::PyUnicode_FromOrdinal(i32::from(byte)))?.into_raw();
            ONE[usize::from(byte)].store(object, Ordering::Relaxed);
        }
        Some(Owned::borrowed(object))
    }
}

/// [`from_ascii`] for no character, for one, and for megabytes.
///
/// # Safety
/// As for [`from_ascii`].
#[inline(never)]
unsafe fn rare_ascii(bytes: &[u8]) -> Option<Owned> {
    // SAFETY: the GIL is held, by contract; a new string has room for as many bytes, and nobody else has seen it.
    unsafe {
        match bytes {
            [] => Owned::new(ffi::PyUnicode_New(0, 0)),
            [byte] => one(*byte),
            _ => {
                let made = empty(bytes.len(), 127)?;
                ffi::PyUnicode_DATA(made.get()).cast::<u8>().copy_from_nonoverlapping(bytes.as_ptr(), bytes.len());
                Some(made)
            }
        }
    }
}

/// A string of bytes that are all below 0x80.
///
/// # Safety
/// The GIL is held, `self_test` was run, and every byte is ASCII.
#[inline(always)]
pub unsafe fn from_ascii(bytes: &[u8]) -> Option<Owned> {
    // SAFETY: the GIL is held. The block has room for the header, the characters and a zero, and all of these are
    // written.
    unsafe {
        // One comparison for both ends of what is rare: of short strings it is a part of the time.
        if bytes.len().wrapping_sub(2) >= LARGE - 2 {
            return rare_ascii(bytes);
        }
        let head = HEAD.load(Ordering::Relaxed);
        if cfg!(any(py_sys_config = "Py_REF_DEBUG", py_sys_config = "Py_TRACE_REFS")) {
            let object = Owned::new(ffi::PyUnicode_New(bytes.len() as isize, 127))?;
            std::ptr::copy_nonoverlapping(bytes.as_ptr(), object.get().cast::<u8>().add(head), bytes.len());
            return Some(object);
        }
        let object = ffi::PyObject_Malloc(head + bytes.len() + 1).cast::<ffi::PyObject>();
        if object.is_null() {
            ffi::PyErr_NoMemory();
            return None;
        }
        init_head(object, addr_of_mut!(ffi::PyUnicode_Type));
        let text = object.cast::<Layout>();
        (*text).length = bytes.len() as isize;
        (*text).hash = -1;
        // The state; before 3.12 also a pointer to the `wchar_t` form, null without one.
        addr_of_mut!((*text).state).cast::<u64>().write(0);
        if !cfg!(Py_3_12) {
            addr_of_mut!((*text).state).cast::<u64>().add(1).write(0);
        }
        (*text).state = STATE.load(Ordering::Relaxed);
        let data = object.cast::<u8>().add(head);
        copy_short(bytes, data);
        data.add(bytes.len()).write(0);
        Owned::new(object)
    }
}

/// `memcpy` without the function call for the lengths of most strings.
///
/// # Safety
/// `to` has room for `bytes`, and does not overlap it.
#[inline(always)]
pub unsafe fn copy_short(bytes: &[u8], to: *mut u8) {
    let (from, len) = (bytes.as_ptr(), bytes.len());
    // SAFETY: both have `len` bytes and don't overlap. Each branch covers them with two or three blocks that lie within
    // and may overlap each other.
    unsafe {
        if len <= 16 {
            if len >= 8 {
                let (head, tail) =
                    (from.cast::<u64>().read_unaligned(), from.add(len - 8).cast::<u64>().read_unaligned());
                to.cast::<u64>().write_unaligned(head);
                to.add(len - 8).cast::<u64>().write_unaligned(tail);
            } else if len >= 4 {
                let (head, tail) =
                    (from.cast::<u32>().read_unaligned(), from.add(len - 4).cast::<u32>().read_unaligned());
                to.cast::<u32>().write_unaligned(head);
                to.add(len - 4).cast::<u32>().write_unaligned(tail);
            } else if len > 0 {
                let (head, middle, tail) = (*from, *from.add(len / 2), *from.add(len - 1));
                *to = head;
                *to.add(len / 2) = middle;
                *to.add(len - 1) = tail;
            }
        } else if len <= 32 {
            let (head, tail) =
                (from.cast::<u128>().read_unaligned(), from.add(len - 16).cast::<u128>().read_unaligned());
            to.cast::<u128>().write_unaligned(head);
            to.add(len - 16).cast::<u128>().write_unaligned(tail);
        } else {
            std::ptr::copy_nonoverlapping(from, to, len);
        }
    }
}

/// Why a string could not be made.
pub enum Failure {
    /// An exception is set.
    Raised,
    BadUtf8,
}

/// A string of what a format has stored.
///
/// # Safety
/// The GIL is held.
#[inline(always)]
pub unsafe fn from_bytes(text: Bytes<'_>) -> Result<Owned, Failure> {
    let (form, bytes) = text.split();
    // SAFETY: the GIL is held, by contract.
    unsafe { from_form(form, bytes) }
}

/// The same, taken apart.
///
/// # Safety
/// The GIL is held.
#[inline(never)]
pub unsafe fn from_form(form: TextForm, bytes: &[u8]) -> Result<Owned, Failure> {
    // SAFETY: pointers and lengths are those of slices, and results are new references or null. A string made for
    // `pairs.len()` units whose widest is `all` has room for them in that width, and nobody else has seen it.
    unsafe {
        match form {
            TextForm::Ascii => from_ascii(bytes).ok_or(Failure::Raised),
            TextForm::Latin1 => {
                Owned::new(ffi::PyUnicode_DecodeLatin1(bytes.as_ptr().cast(), bytes.len() as isize, std::ptr::null()))
                    .ok_or(Failure::Raised)
            }
            TextForm::Ucs2 => {
                let pairs = bytes.as_chunks::<2>().0;
                // As wide as the widest unit needs: the OR of all units falls into the same width.
                let all = pairs.iter().fold(0, |all, &pair| all | u16::from_le_bytes(pair));
                let made = empty(pairs.len(), all.into()).ok_or(Failure::Raised)?;
                let units = pairs.iter().map(|&pair| u16::from_le_bytes(pair));
                if all > 0xff {
                    let start = ffi::PyUnicode_DATA(made.get()).cast::<u16>();
                    units.enumerate().for_each(|(at, unit)| start.add(at).write(unit));
                } else if !pairs.is_empty() {
                    let start = ffi::PyUnicode_DATA(made.get()).cast::<u8>();
                    units.enumerate().for_each(|(at, unit)| start.add(at).write(unit as u8));
                }
                Ok(made)
            }
            TextForm::Utf8 | TextForm::StrictUtf8 => match utf8::measure(bytes) {
                Some(measure) if measure.count > 1 || measure.width == Width::Ucs4 => {
                    from_utf8(bytes, measure).ok_or(Failure::Raised)
                }
                _ => by_cpython(form, bytes),
            },
        }
    }
}

/// A string of UTF-8 that was measured, and is not one character up to U+00FF: of those CPython has its own.
///
/// # Safety
/// The GIL is held.
unsafe fn from_utf8(bytes: &[u8], Measure { count, width }: Measure) -> Option<Owned> {
    let widest = match width {
        // SAFETY: no byte is above 0x7F.
        Width::Ascii => return unsafe { from_ascii(bytes) },
        Width::Latin1 => 0xff,
        Width::Ucs2 => 0xffff,
        Width::Ucs4 => 0x10_ffff,
    };
    // SAFETY: the string is new, nobody else has seen it, and it has room for `count` units of its width.
    unsafe {
        let made = empty(count, widest)?;
        let data = ffi::PyUnicode_DATA(made.get());
        match (width, bytes.len() < LEAST_IN_BLOCKS) {
            (Width::Ucs4, true) => utf8::decode_short(bytes, zeroed(data.cast::<u32>(), count)),
            (Width::Ucs4, false) => utf8::decode(bytes, zeroed(data.cast::<u32>(), count)),
            (Width::Ucs2, true) => utf8::decode_short(bytes, zeroed(data.cast::<u16>(), count)),
            (Width::Ucs2, false) => utf8::decode(bytes, zeroed(data.cast::<u16>(), count)),
            (_, true) => utf8::decode_short(bytes, zeroed(data.cast::<u8>(), count)),
            (_, false) => utf8::decode(bytes, zeroed(data.cast::<u8>(), count)),
        }
        Some(made)
    }
}

/// A string of so many characters, the widest of which is this, to be filled before others see it.
///
/// # Safety
/// The GIL is held.
unsafe fn empty(count: usize, widest: u32) -> Option<Owned> {
    // SAFETY: the GIL is held, by contract; the new object has as many bytes as characters, or more.
    unsafe {
        let made = Owned::new(ffi::PyUnicode_New(count as isize, widest))?;
        if count > 0 {
            in_large_pages(ffi::PyUnicode_DATA(made.get()).cast(), count * ffi::PyUnicode_KIND(made.get()) as usize);
        }
        Some(made)
    }
}

/// Fresh memory, written once so that it may be lent.
///
/// # Safety
/// There is room for `len` units, which nobody else uses while the slice lives; zero is one of their values.
unsafe fn zeroed<'a, U>(start: *mut U, len: usize) -> &'a mut [U] {
    // SAFETY: by the contract.
    unsafe {
        start.write_bytes(0, len);
        std::slice::from_raw_parts_mut(start, len)
    }
}

/// What CPython makes of short texts, and of bytes that are not UTF-8 or have surrogates.
///
/// # Safety
/// The GIL is held.
unsafe fn by_cpython(form: TextForm, bytes: &[u8]) -> Result<Owned, Failure> {
    // SAFETY: pointer and length are those of a slice, and the result is a new reference or null.
    unsafe {
        Owned::new(ffi::PyUnicode_DecodeUTF8(
            bytes.as_ptr().cast(),
            bytes.len() as isize,
            if form == TextForm::Utf8 { c"surrogatepass".as_ptr() } else { std::ptr::null() },
        ))
        .ok_or_else(|| {
            if ffi::PyErr_ExceptionMatches(ffi::PyExc_UnicodeError) != 0 {
                ffi::PyErr_Clear();
                return Failure::BadUtf8;
            }
            Failure::Raised
        })
    }
}

pub(super) unsafe fn self_test() -> Result<(), &'static str> {
    const UNKNOWN: &str = "strings of this CPython are laid out in an unknown way";
    // SAFETY: the GIL is held while the module is imported; reads stay within strings that are held here.
    unsafe {
        let model = Owned::new(ffi::PyUnicode_FromStringAndSize(c"model text".as_ptr(), 10)).ok_or("no memory")?;
        let layout = model.get().cast::<Layout>();
        HEAD.store(ffi::PyUnicode_DATA(model.get()) as usize - model.get() as usize, Ordering::Relaxed);
        STATE.store((*layout).state, Ordering::Relaxed);
        let wide = Owned::new(ffi::PyUnicode_FromOrdinal(0x3b1)).ok_or("no memory")?;
        if ascii(model.get()) != Some(b"model text") || ascii(wide.get()).is_some() {
            return Err(UNKNOWN);
        }
        for len in 0..70 {
            let bytes: crate::memory::Vec<u8> = (0..len).map(|at| b'!' + at).collect();
            let by_hand = from_ascii(&bytes).ok_or("no memory")?;
            let by_api = Owned::new(ffi::PyUnicode_FromStringAndSize(bytes.as_ptr().cast(), bytes.len() as isize))
                .ok_or("no memory")?;
            if ffi::PyObject_RichCompareBool(by_hand.get(), by_api.get(), ffi::Py_EQ) != 1
                || ffi::PyObject_Hash(by_hand.get()) != ffi::PyObject_Hash(by_api.get())
                || ascii(by_hand.get()) != Some(&bytes[..])
            {
                return Err(UNKNOWN);
            }
        }
    }
    Ok(())
}

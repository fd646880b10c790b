//! Text: short ASCII strings without `PyUnicode_New` (a fifth faster), and the parts of any string as a format takes them.

use super::{Obj, Owned, Type};
use holdall_format::model::{Bytes, Text};
use pyo3::ffi;
use std::ptr::addr_of_mut;
use std::sync::atomic::{AtomicPtr, AtomicU32, AtomicUsize, Ordering};

/// The head of every string; what follows differs by version.
#[repr(C)]
struct Layout {
    head: ffi::PyObject,
    length: isize,
    hash: isize,
    state: u32,
}

/// Bits of `state` that say "compact and ASCII", the same from 3.10 to 3.13.
const COMPACT_ASCII: u32 = 0x60;

/// Bytes before the characters of a compact ASCII string, and its `state`: read off a string that CPython made.
static HEAD: AtomicUsize = AtomicUsize::new(0);
static STATE: AtomicU32 = AtomicU32::new(0);
/// CPython's own strings of one character up to U+00FF, filled on first use, which live as long as the interpreter.
static ONE: [AtomicPtr<ffi::PyObject>; 256] = [const { AtomicPtr::new(std::ptr::null_mut()) }; 256];

/// # Safety
/// `object` is alive.
#[inline(always)]
pub unsafe fn is(object: Obj) -> bool {
    // SAFETY: alive, says the caller.
    unsafe { ffi::Py_TYPE(object) == addr_of_mut!(ffi::PyUnicode_Type) }
}

/// Writes the head of a new object that the collector does not track.
///
/// # Safety
/// `object` points to fresh memory of the type's size; `kind` is immortal or static.
#[inline(always)]
pub(super) unsafe fn init_head(object: Obj, kind: Type) {
    // SAFETY: fresh memory, says the caller.
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

/// The bytes of a compact ASCII string; `None` for every other string.
///
/// # Safety
/// `object` is a string, and outlives the slice.
#[inline(always)]
pub unsafe fn ascii<'a>(object: Obj) -> Option<&'a [u8]> {
    let text = object.cast::<Layout>();
    // SAFETY: a string, says the caller; a compact ASCII one has its characters right behind its head.
    unsafe {
        if (*text).state & COMPACT_ASCII != COMPACT_ASCII {
            return None;
        }
        let start = object.cast::<u8>().add(HEAD.load(Ordering::Relaxed));
        Some(std::slice::from_raw_parts(start, (*text).length as usize))
    }
}

/// The characters of any string, in the width CPython keeps them.
///
/// # Safety
/// `object` is a string, and outlives the text.
pub unsafe fn parts<'a>(object: Obj) -> Option<Text<'a>> {
    // SAFETY: a string, says the caller; kind and length describe its data.
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
        Some(match ffi::PyUnicode_KIND(object) {
            ffi::PyUnicode_1BYTE_KIND if ffi::PyUnicode_IS_ASCII(object) != 0 => {
                Text::Ascii(std::slice::from_raw_parts(data.cast(), len))
            }
            ffi::PyUnicode_1BYTE_KIND => Text::Latin1(std::slice::from_raw_parts(data.cast(), len)),
            ffi::PyUnicode_2BYTE_KIND => Text::Ucs2(std::slice::from_raw_parts(data.cast(), len)),
            _ => Text::Ucs4(std::slice::from_raw_parts(data.cast(), len)),
        })
    }
}

/// The UTF-8 of a string that is not ASCII, where CPython has it from an earlier use.
///
/// # Safety
/// `object` is a string, and outlives the slice.
pub unsafe fn cached_utf8<'a>(object: Obj) -> Option<&'a [u8]> {
    // SAFETY: a string, says the caller; one that is compact and not ASCII has length and pointer of its UTF-8 behind its
    // head, null as long as nobody has asked for it.
    unsafe {
        const COMPACT: u32 = 0x20;
        if (*object.cast::<Layout>()).state & COMPACT_ASCII != COMPACT {
            return None;
        }
        let compact = object.cast::<ffi::PyCompactUnicodeObject>();
        let start: *const u8 = (*compact).utf8.cast();
        (!start.is_null()).then(|| std::slice::from_raw_parts(start, (*compact).utf8_length as usize))
    }
}

/// Whether CPython has only one such string: those have no identity to keep.
///
/// # Safety
/// `object` is a string.
#[inline(always)]
pub unsafe fn is_singleton(object: Obj) -> bool {
    // SAFETY: a string, says the caller.
    unsafe {
        match (*object.cast::<Layout>()).length {
            0 => true,
            1 => matches!(parts(object), Some(Text::Ascii(_) | Text::Latin1(_))),
            _ => false,
        }
    }
}

/// The hash that a string keeps once it was computed.
///
/// # Safety
/// `object` is a string.
#[inline(always)]
pub unsafe fn hash(object: Obj) -> isize {
    // SAFETY: a string, says the caller.
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
    // SAFETY: strings, say the callers.
    unsafe {
        one == other
            || match (ascii(one), ascii(other)) {
                (Some(one), Some(other)) => one == other,
                (None, None) => ffi::PyUnicode_Compare(one, other) == 0,
                _ => false,
            }
    }
}

#[cold]
unsafe fn one(byte: u8) -> Option<Owned> {
    // SAFETY: the GIL is held, says `from_ascii`'s caller. A one-character string is CPython's own.
    unsafe {
        let mut object = ONE[usize::from(byte)].load(Ordering::Relaxed);
        if object.is_null() {
            object = Owned::new(ffi::PyUnicode_FromOrdinal(i32::from(byte)))?.into_raw();
            ONE[usize::from(byte)].store(object, Ordering::Relaxed);
        }
        Some(Owned::borrowed(object))
    }
}

/// A string of those bytes, all of which are below 0x80.
///
/// # Safety
/// The GIL is held, `self_test` was run, and every byte is ASCII.
#[inline(always)]
pub unsafe fn from_ascii(bytes: &[u8]) -> Option<Owned> {
    // SAFETY: the GIL is held; what is written lies within what was allocated.
    unsafe {
        if bytes.len() <= 1 {
            return match bytes.first() {
                Some(&byte) => one(byte),
                None => Owned::new(ffi::PyUnicode_New(0, 0)),
            };
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
        // The state and, before 3.12, a pointer that is null without a `wchar_t` form.
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

/// `memcpy` without its call where the length is that of most strings.
///
/// # Safety
/// `to` has room for `bytes`, and does not overlap it.
#[inline(always)]
pub unsafe fn copy_short(bytes: &[u8], to: *mut u8) {
    let (from, len) = (bytes.as_ptr(), bytes.len());
    // SAFETY: every access lies within the first `len` bytes: two blocks that may overlap cover them.
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

/// Why text could not be made.
pub enum Failure {
    /// An exception is set.
    Raised,
    BadUtf8,
}

/// A string of what a format holds.
///
/// # Safety
/// The GIL is held.
pub unsafe fn from_bytes(text: Bytes<'_>) -> Result<Owned, Failure> {
    // SAFETY: the slices are readable for their lengths; results are new references or null. A string that was made for so many
    // units of a width has room for them, and nobody else has seen it.
    unsafe {
        match text {
            Bytes::Ascii(bytes) => from_ascii(bytes).ok_or(Failure::Raised),
            Bytes::Latin1(bytes) => {
                Owned::new(ffi::PyUnicode_DecodeLatin1(bytes.as_ptr().cast(), bytes.len() as isize, std::ptr::null()))
                    .ok_or(Failure::Raised)
            }
            Bytes::Ucs2(bytes) => {
                let pairs = bytes.as_chunks::<2>().0;
                // As wide as the widest needs: what all of them together have of bits is in the same range.
                let all = pairs.iter().fold(0, |all, &pair| all | u16::from_le_bytes(pair));
                let made = Owned::new(ffi::PyUnicode_New(pairs.len() as isize, all.into())).ok_or(Failure::Raised)?;
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
            Bytes::Utf8(bytes) | Bytes::StrictUtf8(bytes) => Owned::new(ffi::PyUnicode_DecodeUTF8(
                bytes.as_ptr().cast(),
                bytes.len() as isize,
                if matches!(text, Bytes::Utf8(_)) { c"surrogatepass".as_ptr() } else { std::ptr::null() },
            ))
            .ok_or_else(|| {
                if ffi::PyErr_ExceptionMatches(ffi::PyExc_UnicodeError) != 0 {
                    ffi::PyErr_Clear();
                    return Failure::BadUtf8;
                }
                Failure::Raised
            }),
        }
    }
}

pub(super) unsafe fn self_test() -> Result<(), &'static str> {
    const UNKNOWN: &str = "strings of this CPython are laid out in an unknown way";
    // SAFETY: the GIL is held, says the caller of all self tests; reads stay within the strings made here.
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

//! The lengths of documents, elements, values and names, as these state them. Nothing in between is read: the reader
//! skips values by their lengths, and elements are separated by them.

use super::tag::{self, Size};
use crate::error::ErrorKind;

const DOCUMENT_SHORT: &str = "expected a document of at least 5 bytes, found a smaller length";
pub(crate) const DOCUMENT_OPEN: &str = "a document that does not end where its length says";
pub(super) const TEXT_OPEN: &str = "a text that does not end with a NUL";
pub(super) const NAME_OPEN: &str = "a name that does not end";
pub(super) const NEGATIVE: &str = "expected a length, found a negative number";

/// An error in a document, and its offset there.
#[derive(Debug)]
pub(crate) struct Flaw {
    pub(crate) kind: ErrorKind,
    pub(crate) at: usize,
}

impl Flaw {
    #[cold]
    #[inline(never)]
    pub(super) fn malformed<T>(why: &'static str, at: usize) -> Result<T, Flaw> {
        Err(Flaw { kind: ErrorKind::Malformed { why }, at })
    }

    #[cold]
    #[inline(never)]
    fn truncated<T>(needed: usize, at: usize) -> Result<T, Flaw> {
        Err(Flaw { kind: ErrorKind::Truncated { needed }, at })
    }
}

/// The elements of the document at the start of `input`, with its end. If `outermost`, it must fill `input`.
#[inline(always)]
pub(crate) fn document_body(input: &[u8], outermost: bool) -> Result<&[u8], Flaw> {
    let Some((len, rest)) = input.split_first_chunk() else { return Flaw::truncated(4 - input.len(), 0) };
    let len = match usize::try_from(i32::from_le_bytes(*len)) {
        Ok(len) if len >= tag::DOCUMENT_MIN => len - 4,
        _ => return Flaw::malformed(DOCUMENT_SHORT, 0),
    };
    if outermost && len < rest.len() {
        return Err(Flaw { kind: ErrorKind::Trailing { count: rest.len() - len }, at: 4 + len });
    }
    match rest.get(..len) {
        Some(body) => Ok(body),
        None => Flaw::truncated(len - rest.len(), 0),
    }
}

/// The number of elements in `body`, which must end with the document's end.
#[inline(always)]
pub(super) fn count(body: &[u8]) -> Result<usize, Flaw> {
    let (mut rest, mut count) = (body, 0);
    loop {
        match rest {
            [tag::END] => return Ok(count),
            [] | [tag::END, ..] => return Flaw::malformed(DOCUMENT_OPEN, body.len() - rest.len()),
            [tag, named @ ..] => {
                let Some((len, _)) = nul(named) else { return Flaw::malformed(NAME_OPEN, body.len() - rest.len()) };
                let value = &named[len + 1..];
                match value_len(*tag, value) {
                    Ok(len) => match value.get(len..) {
                        Some(after) => rest = after,
                        None => return Flaw::malformed(DOCUMENT_OPEN, body.len() - value.len()),
                    },
                    Err(flaw) => return Err(Flaw { at: flaw.at + body.len() - value.len(), ..flaw }),
                }
                count += 1;
            }
        }
    }
}

/// The length in bytes of the value of that type at the start of `input`.
#[inline(always)]
pub(crate) fn value_len(tag: u8, input: &[u8]) -> Result<usize, Flaw> {
    match tag::SIZES[usize::from(tag)] {
        Size::Fixed(len) => Ok(usize::from(len)),
        Size::Regex => match nul(input).and_then(|(first, _)| Some((first, nul(&input[first + 1..])?.0))) {
            Some((first, second)) => Ok(first + second + 2),
            None => Flaw::malformed(TEXT_OPEN, 0),
        },
        Size::None => Err(Flaw { kind: ErrorKind::UnknownTag { tag }, at: 0 }),
        sized => {
            let Some(len) = input.first_chunk() else { return Flaw::truncated(4 - input.len(), 0) };
            let Ok(len) = usize::try_from(i32::from_le_bytes(*len)) else { return Flaw::malformed(NEGATIVE, 0) };
            match sized {
                Size::Counted(more) => Ok(4 + len + usize::from(more)),
                // A length that is too small is refused when it is read; here it must not be skipped.
                _ if len < tag::DOCUMENT_MIN => Flaw::malformed(DOCUMENT_SHORT, 0),
                _ => Ok(len),
            }
        }
    }
}

/// The number of bytes before the first zero byte, and whether all of them are ASCII. It takes eight bytes at a time:
/// names are short, so calling a function of the platform costs more than it saves.
#[inline(always)]
pub(super) fn nul(bytes: &[u8]) -> Option<(usize, bool)> {
    const ONES: u64 = u64::from_ne_bytes([1; 8]);
    const HIGHS: u64 = u64::from_ne_bytes([0x80; 8]);
    let (mut rest, mut high) = (bytes, 0);
    while let Some((word, after)) = rest.split_first_chunk() {
        let word = u64::from_le_bytes(*word);
        let zeros = word.wrapping_sub(ONES) & !word & HIGHS;
        if zeros != 0 {
            // The trick is exact up to the lowest zero byte; bits above it don't count.
            high |= word & HIGHS & (zeros & zeros.wrapping_neg()).wrapping_sub(1);
            return Some((bytes.len() - rest.len() + zeros.trailing_zeros() as usize / 8, high == 0));
        }
        high |= word & HIGHS;
        rest = after;
    }
    let len = rest.iter().position(|&byte| byte == 0)?;
    Some((bytes.len() - rest.len() + len, high == 0 && rest[..len].is_ascii()))
}

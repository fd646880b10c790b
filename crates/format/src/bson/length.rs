//! How far things reach: documents, their elements, values and names, by the lengths and ends that they say. Nothing is read
//! of what is in between: the reader passes over it by these, and elements are told apart.

use super::tag::{self, Size};
use crate::error::ErrorKind;

const DOCUMENT_SHORT: &str = "expected a document of at least 5 bytes, found a smaller length";
pub(crate) const DOCUMENT_OPEN: &str = "a document that does not end where its length says";
pub(super) const TEXT_OPEN: &str = "a text that does not end with a NUL";
pub(super) const NAME_OPEN: &str = "a name that does not end";
pub(super) const NEGATIVE: &str = "expected a length, found a negative number";

/// What is wrong with a document, and how far into it.
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

/// The elements of the document at the start of `input`, and its end; the outermost fills all of it.
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

/// How many elements there are in `body`, which must end with the last of them and the end of a document.
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

/// How many bytes a value of that type at the start of `input` says that it has.
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
                // What is smaller than its own length is refused where it is read; here it must not be passed over.
                _ if len < tag::DOCUMENT_MIN => Flaw::malformed(DOCUMENT_SHORT, 0),
                _ => Ok(len),
            }
        }
    }
}

/// Bytes before the first NUL, and whether all of them are ASCII. Eight at a time: names are short, so that a function of
/// the platform's costs more to call than it saves.
#[inline(always)]
pub(super) fn nul(bytes: &[u8]) -> Option<(usize, bool)> {
    const ONES: u64 = u64::from_ne_bytes([1; 8]);
    const HIGHS: u64 = u64::from_ne_bytes([0x80; 8]);
    let (mut rest, mut high) = (bytes, 0);
    while let Some((word, after)) = rest.split_first_chunk() {
        let word = u64::from_le_bytes(*word);
        let zeros = word.wrapping_sub(ONES) & !word & HIGHS;
        if zeros != 0 {
            // Up to the lowest zero byte the trick is exact; what it says of those above does not count.
            high |= word & HIGHS & (zeros & zeros.wrapping_neg()).wrapping_sub(1);
            return Some((bytes.len() - rest.len() + zeros.trailing_zeros() as usize / 8, high == 0));
        }
        high |= word & HIGHS;
        rest = after;
    }
    let len = rest.iter().position(|&byte| byte == 0)?;
    Some((bytes.len() - rest.len() + len, high == 0 && rest[..len].is_ascii()))
}

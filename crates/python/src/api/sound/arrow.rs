//! Arrow's arrays, by the parts of which `_arrow.py` makes them: whether they hold what Arrow's code takes for granted.
//!
//! What isn't seen to be sound here may be so: Arrow itself is asked of that, which takes longer.

use super::numbers::Numbers;
use crate::cpython::View;
use crate::error::door;
use crate::memory::Vec;
use holdall_format::utf8::measure;
use pyo3::exceptions::PyOverflowError;
use pyo3::prelude::*;
use pyo3::types::{PyInt, PyList, PyTuple};

const LONGEST: usize = 1 << 56;
const VIEW: usize = 16;
/// What fits into a view itself.
const SHORT: usize = 12;

/// Whether an array is sound: lengths of buffers, offsets, UTF-8, places in a dictionary, all of it down to its children.
///
/// plan: the type, a letter each: `b` bits; `1` `2` `4` `8` that many bytes an item; `t` `T` text and `y` `Y` bytes by offsets
/// of 32 and 64 bits; `v` `w` views of text and of bytes; `l` `L` lists, by offsets of 32 and 64 bits, and what they are of; `d` a letter of
/// `struct`'s for the places, and what a dictionary is of.
/// stored: length, offset, buffers, children and dictionary.
///
/// Raises what an object raises that has no buffer in one piece.
#[pyfunction]
#[pyo3(signature = (plan, stored, /))]
pub fn sound_arrow(plan: &[u8], stored: &Bound<'_, PyAny>) -> PyResult<bool> {
    door(|| match Array::of(stored)? {
        Some(array) => is_sound(plan, &array),
        None => Ok(false),
    })
}

struct Array<'py> {
    /// One behind the last slot, and the first.
    end: usize,
    offset: usize,
    length: usize,
    buffers: Vec<Option<View>>,
    children: Bound<'py, PyAny>,
    dictionary: Bound<'py, PyAny>,
}

impl<'py> Array<'py> {
    fn of(stored: &Bound<'py, PyAny>) -> PyResult<Option<Array<'py>>> {
        let Ok(parts) = stored.cast_exact::<PyTuple>() else { return Ok(None) };
        if parts.len() != 5 {
            return Ok(None);
        }
        let (Some(length), Some(offset)) = (count(&parts.get_item(0)?)?, count(&parts.get_item(1)?)?) else {
            return Ok(None);
        };
        let all = parts.get_item(2)?;
        let Ok(all) = all.cast_exact::<PyList>() else { return Ok(None) };
        let mut buffers = Vec::new();
        for buffer in all {
            buffers.push(if buffer.is_none() { None } else { Some(View::new(&buffer)?) });
        }
        let (children, dictionary) = (parts.get_item(3)?, parts.get_item(4)?);
        Ok(Some(Array { end: offset + length, offset, length, buffers, children, dictionary }))
    }

    /// A buffer that an array of this kind needs, if it is as long as it has to be.
    fn buffer(&self, at: usize, length: usize) -> Option<&[u8]> {
        self.buffers.get(at)?.as_ref().map(View::as_slice).filter(|bytes| bytes.len() >= length)
    }

    /// Whether there are no children and no dictionary, as many buffers, and a bit for each slot if there are bits for nulls.
    fn is_flat(&self, buffers: usize) -> PyResult<bool> {
        Ok(self.is_plain(buffers) && self.only_child()?.is_none() && self.children.len()? == 0)
    }

    fn is_plain(&self, buffers: usize) -> bool {
        let nulls = match self.buffers.first() {
            Some(Some(nulls)) => nulls.len() >= self.end.div_ceil(8),
            Some(None) => true,
            None => false,
        };
        nulls && self.buffers.len() == buffers && self.dictionary.is_none()
    }

    fn only_child(&self) -> PyResult<Option<Array<'py>>> {
        let child = if let Ok(list) = self.children.cast_exact::<PyList>() {
            if list.len() != 1 {
                return Ok(None);
            }
            list.get_item(0)?
        } else if let Ok(tuple) = self.children.cast_exact::<PyTuple>() {
            if tuple.len() != 1 {
                return Ok(None);
            }
            tuple.get_item(0)?
        } else {
            return Ok(None);
        };
        Array::of(&child)
    }

    /// Offsets of slots, if they rise from no less than 0 to no more than `most`: the first and the last.
    fn offsets(&self, width: usize, most: usize) -> Option<(&[u8], usize, usize)> {
        let bytes = self.buffer(1, (self.end + 1) * width)?;
        let bytes = &bytes[self.offset * width..(self.end + 1) * width];
        if !numbers(bytes, width).rise_below(i64::try_from(most).ok()?) {
            return None;
        }
        Some((bytes, number(bytes, width), number(&bytes[bytes.len() - width..], width)))
    }
}

/// A length or an offset.
fn count(value: &Bound<'_, PyAny>) -> PyResult<Option<usize>> {
    let Ok(value) = value.cast_exact::<PyInt>() else { return Ok(None) };
    match value.extract::<i64>() {
        Ok(count) => Ok(usize::try_from(count).ok().filter(|&count| count < LONGEST)),
        Err(error) if error.is_instance_of::<PyOverflowError>(value.py()) => Ok(None),
        Err(error) => Err(error),
    }
}

fn numbers(bytes: &[u8], width: usize) -> Numbers<'_> {
    if width == 4 {
        Numbers::I32(bytes)
    } else {
        Numbers::I64(bytes)
    }
}

/// An offset that was seen to be none below 0.
fn number(bytes: &[u8], width: usize) -> usize {
    match width {
        4 => bytes.first_chunk().map_or(0, |bytes| i32::from_ne_bytes(*bytes) as usize),
        _ => bytes.first_chunk().map_or(0, |bytes| i64::from_ne_bytes(*bytes) as usize),
    }
}

fn is_sound(plan: &[u8], array: &Array<'_>) -> PyResult<bool> {
    let Some((&kind, rest)) = plan.split_first() else { return Ok(false) };
    Ok(match kind {
        b'b' => array.is_flat(2)? && array.buffer(1, array.end.div_ceil(8)).is_some(),
        b'1' | b'2' | b'4' | b'8' => {
            let width = usize::from(kind - b'0');
            array.is_flat(2)? && array.buffer(1, array.end * width).is_some()
        }
        b't' | b'T' | b'y' | b'Y' => array.is_flat(3)? && is_variable(array, kind).is_some(),
        b'v' | b'w' => array.is_flat(array.buffers.len().max(2))? && are_views(array, kind == b'v').is_some(),
        b'l' | b'L' => {
            let width = if kind == b'l' { 4 } else { 8 };
            let Some(child) = array.only_child()? else { return Ok(false) };
            array.is_plain(2) && array.offsets(width, child.length).is_some() && is_sound(rest, &child)?
        }
        b'd' => {
            let Some((&places, rest)) = rest.split_first() else { return Ok(false) };
            let (Some(nulls), Some(values)) = (array.buffers.first(), Array::of(&array.dictionary)?) else {
                return Ok(false);
            };
            let is_whole = nulls.as_ref().is_none_or(|nulls| nulls.len() >= array.end.div_ceil(8));
            let coded = are_places(array, places, values.length)?;
            array.buffers.len() == 2 && array.children.len()? == 0 && is_whole && coded && is_sound(rest, &values)?
        }
        _ => false,
    })
}

fn is_variable(array: &Array<'_>, kind: u8) -> Option<()> {
    let width = if kind.is_ascii_lowercase() { 4 } else { 8 };
    let data = array.buffer(2, 0)?;
    let (offsets, first, last) = array.offsets(width, data.len())?;
    if kind.eq_ignore_ascii_case(&b'y') {
        return Some(());
    }
    let text = data.get(first..last)?;
    if text.is_ascii() {
        return Some(());
    }
    measure(text)?;
    // All of it is UTF-8: so is each part that begins with a character.
    let begins = |bytes| starts_a_character(data, number(bytes, width), last);
    offsets.chunks_exact(width).all(begins).then_some(())
}

fn starts_a_character(data: &[u8], at: usize, end: usize) -> bool {
    at >= end || data.get(at).is_some_and(|byte| byte & 0xC0 != 0x80)
}

/// Views of text or bytes: short ones hold it, others say where it is, and how it begins.
fn are_views(array: &Array<'_>, text: bool) -> Option<()> {
    let views = array.buffer(1, array.end * VIEW)?.get(array.offset * VIEW..array.end * VIEW)?;
    let mut whole: Vec<(&[u8], bool)> = Vec::new();
    for at in 2..array.buffers.len() {
        let data = array.buffer(at, 0)?;
        // Where it is not one text, it may have gaps: Arrow looks at each part.
        // Whether each part of it is text, too.
        let any_cut = !text || data.is_ascii();
        if !any_cut {
            measure(data)?;
        }
        whole.push((data, any_cut));
    }
    for view in views.chunks_exact(VIEW) {
        let word = |at: usize| view.get(at..)?.first_chunk().map(|bytes| i32::from_ne_bytes(*bytes));
        let length = usize::try_from(word(0)?).ok()?;
        if length <= SHORT {
            let (inside, padding) = view[4..].split_at(length);
            if padding.iter().any(|&byte| byte != 0)
                || (text && !inside.is_ascii() && std::str::from_utf8(inside).is_err())
            {
                return None;
            }
            continue;
        }
        let (data, any_cut) = *whole.get(usize::try_from(word(8)?).ok()?)?;
        let start = usize::try_from(word(12)?).ok()?;
        let end = start.checked_add(length)?;
        let part = data.get(start..end)?;
        if part[..4] != view[4..8] {
            return None;
        }
        let begins = |at| starts_a_character(data, at, data.len());
        if !(any_cut || begins(start) && begins(end)) {
            return None;
        }
    }
    Some(())
}

/// Whether all slots, also those that are null, are places in a dictionary of that length.
fn are_places(array: &Array<'_>, code: u8, values: usize) -> PyResult<bool> {
    let width = match code {
        b'b' | b'B' => 1,
        b'h' | b'H' => 2,
        b'i' | b'I' => 4,
        _ => 8,
    };
    let Some(bytes) = array.buffer(1, array.end * width) else { return Ok(false) };
    let slots = &bytes[array.offset * width..array.end * width];
    Ok(Numbers::of(slots, code.into(), width as isize)?.within(0, i64::try_from(values).unwrap_or(0)))
}

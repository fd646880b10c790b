//! Compiled regular expressions: pattern and flags. Loading compiles the pattern; nothing is matched.

use crate::cpython::owned;
use crate::error::{Asked, Result};

use crate::types::walker::{TypeWalker, WorkItem};
use crate::types::Cost;
use holdall_format::model::{KnownType, TypeWriter};
use pyo3::exceptions::PyValueError;
use pyo3::ffi;
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::{PyBytes, PyInt, PyString};

/// `re.DEBUG` only prints; it isn't part of a pattern.
const DEBUG: i64 = 128;
pub fn encode<'py, E: TypeWalker<'py>>(encoder: &mut E, object: &Bound<'_, PyAny>) -> Result<()> {
    let pattern = object.getattr(intern!(object.py(), "pattern"))?;
    if !pattern.is_exact_instance_of::<PyString>() && !pattern.is_exact_instance_of::<PyBytes>() {
        return Err(crate::error::encode("can't store a `re.Pattern` that was not compiled of text or bytes"));
    }
    encoder.w().known(KnownType::PythonPattern);
    encoder.then([
        WorkItem::Value(owned(&pattern)),
        WorkItem::Value(owned(&object.getattr(intern!(object.py(), "flags"))?)),
    ]);
    Ok(())
}

pub fn build<'py>(py: Python<'py>, parts: &[Bound<'py, PyAny>]) -> PyResult<Bound<'py, PyAny>> {
    let (pattern, flags) = read(parts)?;
    static COMPILE: PyOnceLock<Py<PyAny>> = PyOnceLock::new();
    let compile = COMPILE.get_or_try_init(py, || {
        let re = py.import("re")?;
        // What patterns are pickled by. Where it is missing, the function that calls it.
        let found = match re.getattr("_compile").if_taken()? {
            Some(found) => found,
            None => re.getattr("compile")?,
        };
        PyResult::Ok(found.unbind())
    })?;
    compile.bind(py).call1((pattern, flags))
}

fn read<'a, 'py>(parts: &'a [Bound<'py, PyAny>]) -> PyResult<(&'a Bound<'py, PyAny>, i64)> {
    let [pattern, flags] = parts else { return Err(PyValueError::new_err("another count of values")) };
    if !pattern.is_exact_instance_of::<PyString>() && !pattern.is_exact_instance_of::<PyBytes>() {
        return Err(PyValueError::new_err("a pattern is text or bytes"));
    }
    if !flags.is_exact_instance_of::<PyInt>() {
        return Err(PyValueError::new_err("the flags of a pattern are an int"));
    }
    Ok((pattern, flags.extract::<i64>()? & !DEBUG))
}

/// The estimated cost of compiling a pattern with `re`, in units of work, without compiling it. Measured with CPython
/// 3.11: 45 microseconds at least, 1 to 2 for a letter, 5 to 10 for a group or an alternative, up to 10 milliseconds
/// for a set of characters with ranges beyond Latin-1, and half a microsecond for each character of a range if case is
/// ignored.
pub fn cost(parts: &[Bound<'_, PyAny>]) -> PyResult<Cost> {
    let (pattern, flags) = read(parts)?;
    Ok(match pattern.cast::<PyString>() {
        Ok(text) => {
            let len = text.len()? as isize;
            // SAFETY: each index is below the text's length. Lone surrogates cost as much as any other character.
            let char = |at| char::from_u32(unsafe { ffi::PyUnicode_ReadChar(text.as_ptr(), at) }).unwrap_or(char::MAX);
            cost_of((0..len).map(char), flags)
        }
        Err(_) => cost_of(pattern.cast::<PyBytes>()?.as_bytes().iter().map(|&byte| char::from(byte)), flags),
    })
}

fn cost_of(chars: impl Iterator<Item = char> + Clone, flags: i64) -> Cost {
    let mut scan = Scan { ignores_case: flags & IGNORECASE != 0 || turns_case_off(chars.clone()), ..Scan::default() };
    let mut len = 0;
    let mut chars = chars.inspect(|_| len += 1).peekable();
    while let Some(char) = chars.next() {
        match char {
            '[' => scan.set(&mut chars),
            '\\' => {
                chars.next();
                scan.units += 600;
            }
            '(' => scan.units += 800,
            '{' => scan.units += 600,
            '|' | '*' | '+' | '?' => scan.units += 500,
            _ => scan.units += 128,
        }
    }
    drop(chars);
    Cost { work: 5_000 + scan.units, bytes: 512 + 64 * len + 10_240 * scan.wide }
}

const IGNORECASE: i64 = 2;

/// Whether a group of the pattern may make it ignore case.
fn turns_case_off(chars: impl Iterator<Item = char>) -> bool {
    // How much of "(?" and the flags after it was just read.
    let mut read = 0;
    for char in chars {
        read = match (read, char) {
            (2, 'i') => return true,
            (2, 'a' | 'L' | 'm' | 's' | 'u' | 'x' | '-') => 2,
            (1, '?') => 2,
            (_, '(') => 1,
            _ => 0,
        };
    }
    false
}

#[derive(Default)]
struct Scan {
    ignores_case: bool,
    units: usize,
    /// The number of sets that need a table of all characters.
    wide: usize,
}

impl Scan {
    /// A set of characters, after its bracket.
    fn set(&mut self, chars: &mut std::iter::Peekable<impl Iterator<Item = char>>) {
        /// Tables cover characters below this; others are found range by range.
        const TABLE: u32 = 1 << 16;
        let (mut items, mut span, mut is_wide) = (0usize, 0u32, false);
        let mut last = None;
        let mut is_first = true;
        while let Some(char) = chars.next() {
            let mut code = Some(u32::from(char));
            match char {
                '^' if is_first => continue,
                ']' if !is_first => break,
                '\\' => {
                    // The character of a numeric escape isn't computed: it may be any.
                    code = match chars.next() {
                        Some('x' | 'u' | 'U' | 'N' | '0'..='9') => None,
                        Some(char) => Some(u32::from(char)),
                        None => break,
                    };
                }
                '-' if last.is_some() && chars.peek().is_some_and(|next| *next != ']') => {
                    let end = match chars.next() {
                        Some('\\') => {
                            chars.next();
                            None
                        }
                        end => end.map(u32::from),
                    };
                    span = span.saturating_add(match (last.flatten(), end) {
                        (Some(low), Some(high)) => high.saturating_sub(low),
                        _ => TABLE,
                    });
                    code = end;
                }
                _ => {}
            }
            is_first = false;
            items += 1;
            is_wide |= code.is_none_or(|code| code > 0xff);
            last = Some(code);
        }
        self.units += 800 + 128 * items;
        if self.ignores_case {
            self.units += 5_000 + 60 * span.min(TABLE) as usize;
        }
        if is_wide {
            let several = items > 2;
            self.units += 4_000 + 15 * span.min(TABLE) as usize + if several { 36_000 } else { 0 };
            self.wide += usize::from(several);
        }
    }
}

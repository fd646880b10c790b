//! Bounds of numbers and lengths, and patterns of text: what `Annotated` adds to a type.

use super::optional;
use crate::cpython::{int, text, Obj, Owned};
use crate::error::{raised, refusal, Result};
use pyo3::ffi;
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::types::PyDict;

#[derive(Debug, Default)]
pub struct Constraints {
    /// Comparison operator, its text in errors, and the bound.
    bounds: Vec<(i32, &'static str, Owned)>,
    multiple_of: Option<Owned>,
    /// A compiled pattern, to be found anywhere in the text, and its source.
    pattern: Option<(Owned, String)>,
    pub min_length: Option<usize>,
    pub max_length: Option<usize>,
}

impl Constraints {
    pub fn compile(described: &Bound<'_, PyAny>) -> PyResult<Option<Box<Constraints>>> {
        if described.is_none() {
            return Ok(None);
        }
        let described = described.cast::<PyDict>()?;
        let mut made = Constraints::default();
        for (name, operator, sign) in
            [("gt", ffi::Py_GT, ">"), ("ge", ffi::Py_GE, ">="), ("lt", ffi::Py_LT, "<"), ("le", ffi::Py_LE, "<=")]
        {
            if let Some(bound) = optional(described, name)? {
                made.bounds.push((operator, sign, crate::cpython::owned(&bound)));
            }
        }
        made.multiple_of = optional(described, "multiple_of")?.map(|factor| crate::cpython::owned(&factor));
        if let Some(pattern) = optional(described, "pattern")? {
            made.pattern = Some((
                crate::cpython::owned(&pattern.getattr(intern!(pattern.py(), "search"))?),
                pattern.getattr(intern!(pattern.py(), "pattern"))?.str()?.to_string(),
            ));
        }
        made.min_length = optional(described, "min_length")?.map(|len| len.extract()).transpose()?;
        made.max_length = optional(described, "max_length")?.map(|len| len.extract()).transpose()?;
        Ok(Some(Box::new(made)))
    }

    pub fn visit(&self, see: &mut impl FnMut(Obj)) {
        let bounds = self.bounds.iter().map(|(_, _, bound)| bound);
        let others = self.multiple_of.iter().chain(self.pattern.iter().map(|(search, _)| search));
        bounds.chain(others).for_each(|object| see(object.get()));
    }

    /// Which constraint `object`, of the type called `name`, breaks; `None` if it breaks none.
    pub fn broken(&self, object: &Owned, name: &str) -> Result<Option<String>> {
        // SAFETY: the schema and the caller hold the operands; results are new references, truth values or -1.
        unsafe {
            for (operator, sign, bound) in &self.bounds {
                match ffi::PyObject_RichCompareBool(object.get(), bound.get(), *operator) {
                    1 => {}
                    0 => return Ok(Some(format!("Expected `{name}` {sign} {}", shown(bound)?))),
                    // A decimal NaN can't be compared: it is outside of all bounds.
                    _ => {
                        refusal()?;
                        return Ok(Some(format!("Expected `{name}` {sign} {}", shown(bound)?)));
                    }
                }
            }
            if let Some(factor) = &self.multiple_of {
                let rest = Owned::new(ffi::PyNumber_Remainder(object.get(), factor.get()));
                let is_multiple = match rest.map_or(-1, |rest| ffi::PyObject_IsTrue(rest.get())) {
                    -1 => refusal().map(|_| false)?,
                    rest => rest == 0,
                };
                if !is_multiple {
                    return Ok(Some(format!("Expected `{name}` that's a multiple of {}", shown(factor)?)));
                }
            }
            if self.min_length.is_some() || self.max_length.is_some() {
                let len = ffi::PyObject_Size(object.get());
                if len < 0 {
                    return Err(raised());
                }
                if let Some(why) = self.broken_length(len as usize, name) {
                    return Ok(Some(why));
                }
            }
            if let Some((search, source)) = &self.pattern {
                let found = crate::classes::registry::call(search, object.get())?;
                if found.get() == ffi::Py_None() {
                    return Ok(Some(format!("Expected `{name}` matching regex {source:?}")));
                }
            }
        }
        Ok(None)
    }

    /// Which constraint on the length a value of `len` items breaks.
    pub fn broken_length(&self, len: usize, name: &str) -> Option<String> {
        broken_length(self.min_length, self.max_length, len, name)
    }
}

/// Which of two bounds on the length a value of `len` items breaks.
pub fn broken_length(min: Option<usize>, max: Option<usize>, len: usize, name: &str) -> Option<String> {
    match (min, max) {
        (Some(min), _) if len < min => Some(format!("Expected `{name}` of length >= {min}")),
        (_, Some(max)) if len > max => Some(format!("Expected `{name}` of length <= {max}")),
        _ => None,
    }
}

/// A bound as text for an error message.
fn shown(bound: &Owned) -> Result<String> {
    // SAFETY: the schema holds the bound; its type is checked before it is read as an int or a string.
    unsafe {
        if let (true, Some(value)) =
            (int::is(bound.get()), int::is(bound.get()).then(|| int::value(bound.get())).flatten())
        {
            return Ok(value.to_string());
        }
        let text = Owned::new(ffi::PyObject_Str(bound.get()));
        if text.is_none() {
            refusal()?;
        }
        Ok(match text.as_ref().and_then(|text| text::ascii(text.get())) {
            Some(bytes) => String::from_utf8_lossy(bytes).into_owned(),
            None => "its bound".to_owned(),
        })
    }
}

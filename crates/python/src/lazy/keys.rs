//! Looking up a key in a dict of the document.

use crate::cpython::{text, View};
use crate::error::{raised, Asked};
use crate::lazy::tokens::{string, Part, Target, TokenFormat, FEW};
use crate::lazy::{equals, Member};
use crate::memory::{HashMap, Vec};
use holdall_format::hold::index::Search;
use holdall_format::Token;
use pyo3::prelude::*;
use pyo3::types::PyString;
use std::hash::BuildHasher;

/// The hash under which keys other than text are kept.
const ODD: u64 = u64::MAX;

impl<F: TokenFormat> Part<F> {
    /// Whether the key at that offset is `wanted`.
    fn is_key(&self, view: &View, message: &[u8], at: usize, wanted: &Bound<'_, PyAny>) -> PyResult<bool> {
        let py = wanted.py();
        let fault = |error| self.fault(view, error);
        let (place, number) = self.form().resolve(message, at).map_err(fault)?;
        let is_text = wanted.is_exact_instance_of::<PyString>();
        match self.form().token(message, place).map_err(fault)? {
            Token::Text(bytes) => {
                if wanted.hash().if_taken()?.is_none() {
                    return Ok(false);
                }
                string(py, bytes)?.eq(wanted)
            }
            Token::Int(_) | Token::Float(_) | Token::None | Token::Bool(_) | Token::Bytes(_) if is_text => Ok(false),
            _ => {
                let target = number.map_or(Target::At(at), Target::Number);
                equals(self.form().build(py, view, target, &self.untyped)?.bind(py), wanted)
            }
        }
    }

    pub(crate) fn find_key(
        &self,
        view: &View,
        message: &[u8],
        len: usize,
        wanted: &Bound<'_, PyAny>,
    ) -> PyResult<Option<Member>> {
        wanted.hash()?;
        let form = self.form();
        let fault = |error| self.fault(view, error);
        let member = |key: usize| -> PyResult<Member> {
            Ok(Member { key, at: form.skip(message, key).map_err(fault)?, ..Member::default() })
        };
        if wanted.is_exact_instance_of::<PyString>() {
            // SAFETY: the caller holds `wanted`, which was checked to be a string.
            let parts = unsafe { text::parts(wanted.as_ptr()) }.ok_or_else(|| raised().into_py(0))?;
            match form.search(view, message, self.at, parts).map_err(fault)? {
                Some(Search::Only(places) | Search::First(places)) if !places.is_empty() => {
                    for place in places {
                        let place = usize::try_from(place).unwrap_or(usize::MAX);
                        if self.is_key(view, message, place, wanted)? {
                            return member(place).map(Some);
                        }
                    }
                }
                Some(Search::Only(_)) => return Ok(None),
                None if len > FEW => {
                    let keys = self.hashed(view, message, len, wanted.py())?;
                    let hash = rustc_hash::FxBuildHasher.hash_one(wanted.hash()?);
                    // If several keys are equal, the last one counts, as in a dict.
                    for found in keys.get(&hash).into_iter().flatten().rev() {
                        if self.is_key(view, message, found.key, wanted)? {
                            return Ok(Some(*found));
                        }
                    }
                    if !keys.contains_key(&ODD) {
                        return Ok(None);
                    }
                }
                _ => {}
            }
        }
        if !wanted.is_instance_of::<PyString>() && form.has_text_keys(self.at) {
            return Ok(None);
        }
        let mut at = self.first();
        let mut found = None;
        for _ in 0..len {
            let value = form.skip(message, at).map_err(fault)?;
            if self.is_key(view, message, at, wanted)? {
                found = Some(Member { key: at, at: value, ..Member::default() });
            }
            at = form.skip(message, value).map_err(fault)?;
        }
        Ok(found)
    }

    /// The members by the hash of their keys, for text keys; one of the other keys is under [`ODD`].
    fn hashed(&self, view: &View, message: &[u8], len: usize, py: Python<'_>) -> PyResult<&HashMap<u64, Vec<Member>>> {
        if let Some(keys) = self.keys.get() {
            return Ok(keys);
        }
        let form = self.form();
        let fault = |error| self.fault(view, error);
        let mut keys: HashMap<u64, Vec<Member>> = HashMap::new();
        let mut at = self.first();
        for index in 0..len {
            let (place, _) = form.resolve(message, at).map_err(fault)?;
            let hash = match form.token(message, place).map_err(fault)? {
                Token::Text(bytes) => rustc_hash::FxBuildHasher.hash_one(string(py, bytes)?.hash()?),
                _ => ODD,
            };
            let value = form.skip(message, at).map_err(fault)?;
            keys.entry(hash).or_default().push(Member { key: at, at: value, index, ..Member::default() });
            at = form.skip(message, value).map_err(fault)?;
        }
        Ok(self.keys.get_or_init(|| keys))
    }
}

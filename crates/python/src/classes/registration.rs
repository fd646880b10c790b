//! What a program has registered of a class.

use crate::cpython::Owned;
use crate::memory::Vec;

/// One registered class.
#[derive(Debug)]
pub struct Registration {
    pub class: Owned,
    pub name: String,
    pub aliases: Vec<String>,
    pub version: u64,
    /// Old field name to new one.
    pub renames: Vec<(Owned, Owned)>,
    pub upgrade: Option<Owned>,
    pub encode: Option<Owned>,
    pub decode: Option<Owned>,
    /// What `_registry.py` keeps for typed loading and schemaless formats: names, order, tags.
    pub settings: Option<Owned>,
    /// Whether it is one of ours (`_known.py`): it says how to store a class, and nothing of what a program wants.
    pub ours: bool,
}

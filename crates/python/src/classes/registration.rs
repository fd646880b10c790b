//! What a program has registered for a class.

use crate::cpython::Owned;
use crate::memory::Vec;

/// One registered class.
#[derive(Debug)]
pub struct Registration {
    pub class: Owned,
    pub name: String,
    pub aliases: Vec<String>,
    pub version: u64,
    /// Old name and new name of each renamed field.
    pub renames: Vec<(Owned, Owned)>,
    pub upgrade: Option<Owned>,
    pub encode: Option<Owned>,
    pub decode: Option<Owned>,
    /// What `_registry.py` keeps for typed loading and schemaless formats: names, order, tags.
    pub settings: Option<Owned>,
    /// Whether this package registered it (`_known.py`): it says how the class is stored, not what the program wants.
    pub ours: bool,
}

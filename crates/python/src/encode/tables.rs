//! The tables of a walk, which the next message reuses.

use super::memo::Memo;
use super::shapes::WrittenShapes;
use super::{Frame, Unmade};
use crate::cpython::Owned;
use crate::memory::{HashMap, Vec};
use std::ops::{Deref, DerefMut};

/// Tables that the next message reuses.
pub struct Tables {
    pub memo: Memo,
    pub shapes: WrittenShapes,
    pub(crate) stack: Vec<Frame>,
    /// Temporary objects, kept so that their addresses aren't reused.
    pub(crate) temporaries: Vec<Owned>,
    /// The id of each text, if equal texts are written once.
    pub(crate) texts: HashMap<TextKey, u32, rustc_hash::FxBuildHasher>,
    /// Objects that can't be referred to yet, because their arguments or parts are being written.
    pub(super) unmade: HashMap<u32, Unmade, rustc_hash::FxBuildHasher>,
    /// Objects that were noted, in order, if [`Encoder::only_compares`].
    pub(crate) met: Vec<usize>,
    pub(super) serials: Serials,
}

impl Tables {
    pub fn new() -> Tables {
        Tables {
            memo: Memo::new(),
            shapes: WrittenShapes::new(),
            stack: Vec::new(),
            temporaries: Vec::new(),
            texts: HashMap::default(),
            unmade: HashMap::default(),
            met: Vec::new(),
            serials: Serials::default(),
        }
    }
}

/// The tables of the message that is being written. What they hold is let go with it, but for the memo, which has addresses only, and
/// for the shapes, with which a log goes on: for single messages these are emptied by [`super::scratch::Scratch::let_go`].
pub(crate) struct Lent<'t>(pub(super) &'t mut Tables);

impl Deref for Lent<'_> {
    type Target = Tables;

    #[inline(always)]
    fn deref(&self) -> &Tables {
        self.0
    }
}

impl DerefMut for Lent<'_> {
    #[inline(always)]
    fn deref_mut(&mut self) -> &mut Tables {
        self.0
    }
}

impl Drop for Lent<'_> {
    #[inline(always)]
    fn drop(&mut self) {
        /// More entries of a table than this are not kept.
        const MOST: usize = 1 << 12;
        if !self.temporaries.is_empty() {
            self.temporaries.clear();
            self.temporaries.shrink_to(MOST);
        }
        if !self.texts.is_empty() {
            self.texts.clear();
            self.texts.shrink_to(MOST);
        }
        if !self.unmade.is_empty() {
            self.unmade.clear();
            self.unmade.shrink_to(MOST);
        }
        if !self.met.is_empty() {
            self.met.clear();
            self.met.shrink_to(MOST);
        }
    }
}

/// A string, compared by value.
#[derive(Debug)]
pub(crate) struct TextKey(pub(crate) Owned);

impl std::hash::Hash for TextKey {
    fn hash<H: std::hash::Hasher>(&self, state: &mut H) {
        // SAFETY: a `TextKey` is made from strings only.
        state.write_isize(unsafe { crate::cpython::text::hash(self.0.get()) });
    }
}

impl PartialEq for TextKey {
    fn eq(&self, other: &Self) -> bool {
        // SAFETY: a `TextKey` is made from strings only.
        unsafe { crate::cpython::text::equal(self.0.get(), other.0.get()) }
    }
}

impl Eq for TextKey {}

/// Gives numbers that no other gives: each identifies the shapes of one message, or of one shared window.
#[derive(Default)]
pub(crate) struct Serials {
    next: u64,
    end: u64,
}

impl Serials {
    #[inline(always)]
    pub(crate) fn next(&mut self) -> u64 {
        if self.next == self.end {
            self.refill();
        }
        self.next += 1;
        self.next
    }

    /// Many numbers at once: processors that share one number wait for each other.
    #[cold]
    #[inline(never)]
    fn refill(&mut self) {
        use std::sync::atomic::{AtomicU64, Ordering};
        const AT_ONCE: u64 = 1 << 20;
        static GIVEN: AtomicU64 = AtomicU64::new(0);
        self.next = GIVEN.fetch_add(AT_ONCE, Ordering::Relaxed);
        self.end = self.next + AT_ONCE;
    }
}

//! Messages of one container with few leaves. To make a decoder takes longer than to read them, so they do without.

use super::leaves::of_any_leaf;
use super::runs;
use crate::cpython::{dict, fill, replace, Obj, Owned};
use crate::shapes::{dicts, names};
use holdall_format::model::{Leaf, RareLeaf, Seq, Shape, ShapeKind};
use holdall_format::{Reader, Token};
use pyo3::{ffi, Python};
use std::sync::atomic::{AtomicU8, Ordering};

/// How many items are few; and how many keys, where they are not prepared: a decoder learns them.
const MOST: usize = 16;
const MOST_KEYS: usize = 3;

/// Whether it is worth a try: a message that turns out to have more in it is read twice as far as that.
pub struct Chance(AtomicU8);

impl Chance {
    /// How many messages are left alone after one that was read in vain.
    const PAUSE: u8 = 15;

    pub const fn new() -> Chance {
        Chance(AtomicU8::new(0))
    }

    #[inline(always)]
    fn is_there(&self) -> bool {
        // Threads that count at once lose a count, which does no harm.
        match self.0.load(Ordering::Relaxed) {
            0 => true,
            left => {
                self.0.store(left - 1, Ordering::Relaxed);
                false
            }
        }
    }

    fn lost(&self) {
        self.0.store(Chance::PAUSE, Ordering::Relaxed);
    }
}

/// What got a number, by it; the objects are held by the container or its template. Number 0 is the container.
struct Numbered {
    met: [Obj; 2 * MOST],
    len: usize,
}

impl Numbered {
    #[inline(always)]
    fn meet(&mut self, object: Obj) -> Option<()> {
        *self.met.get_mut(self.len)? = object;
        self.len += 1;
        Some(())
    }

    #[inline(always)]
    fn get(&self, number: u64) -> Option<Obj> {
        self.met[..self.len].get(usize::try_from(number.checked_sub(1)?).ok()?).copied()
    }
}

/// The value of a message that is a list, tuple or dict of few leaves. `None`: it is something else, or damaged, and no exception is set.
///
/// # Safety
/// The GIL is held.
#[inline(always)]
pub unsafe fn few<'i, R: Reader<'i>>(r: &mut R, chance: &Chance) -> Option<Owned> {
    if !chance.is_there() {
        return None;
    }
    // SAFETY: the GIL is held, by contract.
    unsafe {
        let made = container(r).filter(|_| r.finish().is_ok());
        if made.is_none() {
            chance.lost();
            // There may have been no memory for it: the decoder will say so, or find some.
            ffi::PyErr_Clear();
        }
        made
    }
}

/// # Safety
/// The GIL is held.
#[inline(always)]
unsafe fn container<'i, R: Reader<'i>>(r: &mut R) -> Option<Owned> {
    // SAFETY: the GIL is held, by contract; the reader has checked what its tokens say.
    unsafe {
        match r.next().ok()? {
            Token::List(len @ 1..=MOST) => items(r, Seq::List, len),
            Token::Tuple(len @ 1..=MOST) => items(r, Seq::Tuple, len),
            Token::Dict(len @ 1..=MOST_KEYS) => pairs(r, len),
            Token::NewShape(shape) if shape.kind == ShapeKind::Dict && shape.fields <= MOST => values(r, &shape),
            Token::Floats(seq, run) if run.len() <= MOST => runs::of_floats(seq, run).ok(),
            Token::Ints(seq, run) if run.len() <= MOST => runs::of_ints(seq, run).ok(),
            Token::Texts(seq, lengths, joined) if lengths.len() <= MOST => runs::of_texts(seq, lengths, joined).ok(),
            _ => None,
        }
    }
}

/// # Safety
/// The GIL is held.
#[inline(always)]
unsafe fn items<'i, R: Reader<'i>>(r: &mut R, seq: Seq, len: usize) -> Option<Owned> {
    let mut numbered = Numbered { met: [std::ptr::null_mut(); 2 * MOST], len: 0 };
    // SAFETY: the new object has `len` empty slots, which stay empty if an item is no leaf.
    unsafe {
        let (object, places) = runs::sequence(seq, len).ok()?;
        for at in 0..len {
            *places.add(at) = leaf(r, &mut numbered)?.0.into_raw();
        }
        Some(object)
    }
}

/// A dict whose keys come with their values.
///
/// # Safety
/// The GIL is held.
#[inline(always)]
unsafe fn pairs<'i, R: Reader<'i>>(r: &mut R, len: usize) -> Option<Owned> {
    let mut numbered = Numbered { met: [std::ptr::null_mut(); 2 * MOST], len: 0 };
    // SAFETY: the GIL is held; the reader has checked the bytes of `Leaf::Ascii`. Hashing strings runs no code.
    unsafe {
        let object = Owned::new(ffi::PyDict_New())?;
        for _ in 0..len {
            r.key();
            let Ok(Some(Leaf::Ascii(name))) = r.leaf() else { return None };
            let name = names::name(name)?;
            let (value, _) = leaf(r, &mut numbered)?;
            if !dict::set(object.get(), name.get(), value.get()) {
                return None;
            }
        }
        (dict::len(object.get()) == len).then_some(object)
    }
}

/// A dict whose keys came before in another message.
///
/// # Safety
/// The GIL is held.
#[inline(always)]
unsafe fn values<'i, R: Reader<'i>>(r: &mut R, token: &Shape<'i>) -> Option<Owned> {
    // SAFETY: the GIL is held; a copy of a template has a slot for each name, which nobody else has seen.
    unsafe {
        let shape = dicts::find(Python::assume_attached(), token.block)?;
        let template = shape.template.get()?.as_ref()?;
        if shape.names.len() != token.fields || !shape.references.is_empty() {
            return None;
        }
        let mut numbered = Numbered { met: [std::ptr::null_mut(); 2 * MOST], len: 0 };
        for name in &shape.names {
            numbered.meet(name.get())?;
        }
        let object = Owned::new(ffi::PyDict_Copy(template.get()))?;
        for at in 0..token.fields {
            let (value, is_container) = leaf(r, &mut numbered)?;
            replace(dict::value_slot(object.get(), at), value.into_raw());
            if is_container {
                fill::track(object.get());
            }
        }
        Some(object)
    }
}

/// A leaf, and whether it is an empty container.
///
/// # Safety
/// The GIL is held; what `numbered` has is alive.
#[inline(always)]
unsafe fn leaf<'i, R: Reader<'i>>(r: &mut R, numbered: &mut Numbered) -> Option<(Owned, bool)> {
    let marked = r.mark();
    // SAFETY: by the contract.
    unsafe {
        let (made, is_container) = match r.leaf().ok()?? {
            Leaf::Reference(_) if marked => return None,
            Leaf::Reference(number) => (Owned::borrowed(numbered.get(number)?), false),
            leaf => {
                let is_container =
                    matches!(leaf, Leaf::Rare(RareLeaf::EmptyList | RareLeaf::EmptyDict | RareLeaf::EmptyTuple));
                (of_any_leaf(leaf)?, is_container)
            }
        };
        if marked {
            numbered.meet(made.get())?;
        }
        Some((made, is_container))
    }
}

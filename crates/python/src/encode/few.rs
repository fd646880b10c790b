//! Messages of one container with few leaves. To make an encoder takes longer than to write them, so they do without.

use super::dialect::NativeWriter;
use super::output::Bounded;
use super::runs::{self, Texts};
use super::sequence::items;
use super::text::of_any_width;
use super::value::{is_leaf, lone_leaf};
use crate::cpython::{dict, references, text, Obj};
use crate::types::walker::BY_PARENT;
use holdall_format::model::{Seq, ShapeKind};
use holdall_format::Writer;
use pyo3::ffi;
use std::ptr::addr_of_mut;

/// How many leaves are few.
const MOST: usize = 16;

/// How a format writes texts, runs, and dicts whose keys are text.
pub trait Form<W: Writer> {
    /// # Safety
    /// `text` is a string, and the GIL held.
    unsafe fn text(&mut self, w: &mut W, text: Obj) -> bool;

    /// Whether the items were written as a run.
    ///
    /// # Safety
    /// `items` are alive.
    unsafe fn run(&mut self, w: &mut W, items: &[Obj], seq: Seq) -> bool;

    /// # Safety
    /// `entries` are the keys, which are strings, and values of a live dict.
    unsafe fn dict(&mut self, w: &mut W, entries: &[(Obj, Obj)]) -> bool;
}

/// A format without references.
pub struct Plain;

impl<W: Writer> Form<W> for Plain {
    #[inline(always)]
    unsafe fn text(&mut self, w: &mut W, text: Obj) -> bool {
        // SAFETY: the contract is the same.
        unsafe { of_any_width(w, text).is_ok() }
    }

    #[inline(always)]
    unsafe fn run(&mut self, _: &mut W, _: &[Obj], _: Seq) -> bool {
        false
    }

    #[inline(always)]
    unsafe fn dict(&mut self, w: &mut W, entries: &[(Obj, Obj)]) -> bool {
        w.dict(entries.len());
        // SAFETY: by the contract.
        entries.iter().all(|&(key, value)| unsafe { of_any_width(w, key).is_ok() && leaf(self, w, value) })
    }
}

/// Holdall's own, where each object that others hold as well has a number by which it is known again.
pub struct Numbered {
    tracks: bool,
    /// The strings with the numbers from 1 on: the container has 0.
    met: [Obj; 2 * MOST],
    len: usize,
}

impl Numbered {
    #[inline(always)]
    pub fn new(tracks: bool) -> Numbered {
        Numbered { tracks, met: [std::ptr::null_mut(); 2 * MOST], len: 0 }
    }

    #[inline(always)]
    fn meet(&mut self, text: Obj) {
        // There are no more texts than places: a container has at most `MOST` keys and as many leaves.
        self.met[self.len] = text;
        self.len += 1;
    }
}

impl<W: NativeWriter> Form<W> for Numbered {
    #[inline(always)]
    unsafe fn text(&mut self, w: &mut W, text: Obj) -> bool {
        // SAFETY: by the contract.
        unsafe {
            if self.tracks && references(text) > BY_PARENT && !text::is_singleton(text) {
                if let Some(at) = self.met[..self.len].iter().position(|&known| known == text) {
                    w.reference(at as u64 + 1);
                    return true;
                }
                self.meet(text);
                w.assign_id();
            }
            of_any_width(w, text).is_ok()
        }
    }

    #[inline(always)]
    unsafe fn run(&mut self, w: &mut W, items: &[Obj], seq: Seq) -> bool {
        // SAFETY: the contract is the same.
        unsafe { runs::packed(w, items, seq, if self.tracks { Texts::Unshared } else { Texts::Any }) }
    }

    #[inline(always)]
    unsafe fn dict(&mut self, w: &mut W, entries: &[(Obj, Obj)]) -> bool {
        let block = w.shape_begin(ShapeKind::Dict, 0, entries.len());
        for &(name, _) in entries {
            // SAFETY: by the contract; a string of one character is not known again by its address.
            unsafe {
                self.meet(if text::is_singleton(name) { std::ptr::null_mut() } else { name });
                if of_any_width(w, name).is_err() {
                    return false;
                }
            }
        }
        w.shape_end(block);
        // SAFETY: by the contract.
        entries.iter().all(|&(_, value)| unsafe { leaf(self, w, value) })
    }
}

/// # Safety
/// `object` is alive, and the GIL held.
#[inline(always)]
unsafe fn leaf<W: Writer>(form: &mut (impl Form<W> + ?Sized), w: &mut W, object: Obj) -> bool {
    // SAFETY: by the contract.
    unsafe {
        if text::is(object) {
            form.text(w, object)
        } else {
            matches!(lone_leaf(w, object), Ok(true))
        }
    }
}

/// Whether the objects are leaves that fit into a short message.
///
/// # Safety
/// They are alive.
#[inline(always)]
unsafe fn fit(objects: impl Iterator<Item = Obj>) -> bool {
    let mut left = Bounded::SHORT;
    for object in objects {
        // SAFETY: by the contract; a string is read as one.
        let size = unsafe {
            if text::is(object) {
                text::len(object) + 4
            } else if is_leaf(object) {
                10
            } else {
                return false;
            }
        };
        match left.checked_sub(size) {
            Some(less) => left = less,
            None => return false,
        }
    }
    true
}

/// Writes the message of a list, tuple or dict of few leaves. `false`: it is none, or its encoder has to say what is wrong with it;
/// the output is void.
///
/// # Safety
/// `object` is alive, and the GIL held.
#[inline(always)]
pub unsafe fn wrote<W: Writer>(w: &mut W, form: &mut impl Form<W>, object: Obj) -> bool {
    // SAFETY: by the contract. Nothing here runs Python code, so the container stays as it is.
    unsafe {
        let class = ffi::Py_TYPE(object);
        let seq = if class == addr_of_mut!(ffi::PyList_Type) {
            Seq::List
        } else if class == addr_of_mut!(ffi::PyTuple_Type) {
            Seq::Tuple
        } else if class == addr_of_mut!(ffi::PyDict_Type) {
            let Some(entries @ [_, ..]) = dict::entries(object) else { return false };
            return entries.len() <= MOST
                && fit(entries.iter().flat_map(|&(key, value)| [key, value]))
                && form.dict(w, entries);
        } else {
            return false;
        };
        let items = items(object, seq);
        if items.is_empty() || items.len() > MOST || !fit(items.iter().copied()) {
            return false;
        }
        if form.run(w, items, seq) {
            return true;
        }
        match seq {
            Seq::List => w.list(items.len()),
            Seq::Tuple => w.tuple(items.len()),
        }
        items.iter().all(|&item| leaf(form, w, item))
    }
}

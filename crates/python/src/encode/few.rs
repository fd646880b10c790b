//! Small messages: a container of few leaves, perhaps in containers of their own. To make an encoder takes longer than to write them,
//! so they do without.

use super::dialect::NativeWriter;
use super::output::Bounded;
use super::prepared;
use super::runs::{self, Texts};
use super::sequence::items;
use super::text::of_any_width;
use super::value::{is_leaf, lone_leaf, lone_other};
use crate::classes::family::Family;
use crate::classes::how::How;
use crate::classes::plan::Plan;
use crate::cpython::dict::Pair;
use crate::cpython::set::next_member;
use crate::cpython::{dict, references, text, Obj, Owned};
use crate::types::datetime;
use crate::types::walker::BY_PARENT;
use holdall_format::model::{Seq, ShapeKind};
use holdall_format::Writer;
use pyo3::ffi;
use std::mem::MaybeUninit;
use std::ptr::addr_of_mut;
use std::rc::Rc;

/// How deep a small message may nest: what is written here recurses.
const DEEPEST: usize = 6;
/// No more texts and keys fit into a short message, each of which takes [`LEAST`] bytes of its room at least.
const MOST_TEXTS: usize = Bounded::SHORT / LEAST;
const LEAST: usize = 4;
/// What is allowed for a number.
const NUMBER: usize = 9;
/// The same for a date, a time or a datetime, with its zone.
const DATETIME: usize = 16;
const MOST_SHAPES: usize = 8;

/// How a format writes texts, runs, and dicts whose keys are text.
pub trait Form<W: Writer> {
    /// Whether an object other than text may occur again, for which a small message has no form.
    ///
    /// # Safety
    /// `object` is alive.
    unsafe fn may_be_shared(&self, object: Obj) -> bool;

    /// # Safety
    /// `text` is a string, and the GIL held.
    unsafe fn text(&mut self, w: &mut W, text: Obj) -> bool;

    /// Whether the items were written as a run.
    ///
    /// # Safety
    /// `items` are alive.
    unsafe fn run(&mut self, w: &mut W, items: &[Obj], seq: Seq) -> bool;

    /// How many bytes an object takes that only this form has. `None`: it is none of these.
    ///
    /// # Safety
    /// `object` is alive.
    unsafe fn size_of_other(&self, _object: Obj) -> Option<usize> {
        None
    }

    /// The plan of its class, if this form writes instances of it, and whether the last one was of another class.
    ///
    /// # Safety
    /// `object` is alive, and the GIL held.
    unsafe fn plan(&mut self, _object: Obj) -> Option<(Rc<Plan>, bool)> {
        None
    }

    /// Writes such an object.
    ///
    /// # Safety
    /// `object` is alive, and the GIL held.
    unsafe fn other(&mut self, _w: &mut W, _object: Obj) -> bool {
        false
    }

    /// # Safety
    /// `entries` are the keys, which are strings, and values of a live dict.
    unsafe fn dict(&mut self, w: &mut W, entries: &[Pair]) -> bool;
}

/// A format without references.
pub struct Plain;

impl<W: Writer> Form<W> for Plain {
    #[inline(always)]
    unsafe fn may_be_shared(&self, _: Obj) -> bool {
        false
    }

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
    unsafe fn dict(&mut self, w: &mut W, entries: &[Pair]) -> bool {
        w.dict(entries.len());
        // SAFETY: by the contract.
        entries
            .iter()
            .all(|&Pair { key, value: item, .. }| unsafe { of_any_width(w, key).is_ok() && value(self, w, item) })
    }
}

/// Objects in the order in which they came.
struct Row {
    objects: [MaybeUninit<Obj>; MOST_TEXTS],
    len: usize,
}

impl Row {
    #[inline(always)]
    fn new() -> Row {
        Row { objects: [const { MaybeUninit::uninit() }; MOST_TEXTS], len: 0 }
    }

    #[inline(always)]
    fn push(&mut self, object: Obj) -> bool {
        let Some(place) = self.objects.get_mut(self.len) else { return false };
        place.write(object);
        self.len += 1;
        true
    }

    #[inline(always)]
    fn all(&self) -> &[Obj] {
        // SAFETY: the first `len` were written.
        unsafe { std::slice::from_raw_parts(self.objects.as_ptr().cast(), self.len) }
    }

    #[inline(always)]
    fn position(&self, object: Obj) -> Option<usize> {
        self.all().iter().position(|&known| known == object)
    }
}

/// Holdall's own, where each object that others hold as well has a number by which it is known again, and the keys of dicts have one.
pub struct Numbered {
    tracks: bool,
    /// Whether sets, dates and the like are written, too: in trusted messages, reducers are asked about them.
    types: bool,
    /// The strings with the numbers from 1 on: the message's container has 0.
    met: Row,
    /// The keys of all shapes, one behind the other, and where those of each begin and end; the class, or 0 for a dict.
    keys: Row,
    shapes: [(u8, u8, usize); MOST_SHAPES],
    len: usize,
    /// The plan of the last instance: mostly the next is of the same class.
    plan: Option<Rc<Plan>>,
}

impl Numbered {
    #[inline(always)]
    pub fn new(tracks: bool, types: bool) -> Numbered {
        Numbered {
            tracks,
            types,
            met: Row::new(),
            keys: Row::new(),
            shapes: [(0, 0, 0); MOST_SHAPES],
            len: 0,
            plan: None,
        }
    }

    /// Writes the number of the shape with these keys. `Some(false)`: there is none. `None`: there is one with equal keys that are
    /// other strings, about which an encoder has rules.
    ///
    /// # Safety
    /// The keys are strings.
    #[inline(always)]
    unsafe fn known<W: NativeWriter>(&self, w: &mut W, entries: &[Pair]) -> Option<bool> {
        for (number, &(from, to, class)) in self.shapes[..self.len].iter().enumerate() {
            let keys = &self.keys.all()[usize::from(from)..usize::from(to)];
            if class != 0 || keys.len() != entries.len() {
                continue;
            }
            if keys.iter().zip(entries).all(|(&known, entry)| known == entry.key) {
                w.instance(number);
                return Some(true);
            }
            // SAFETY: both are strings.
            if keys.iter().zip(entries).all(|(&known, entry)| unsafe { text::equal(known, entry.key) }) {
                return None;
            }
        }
        Some(false)
    }

    /// Writes the keys as a new shape.
    ///
    /// # Safety
    /// The keys are strings.
    #[inline(always)]
    unsafe fn shape<W: NativeWriter>(&mut self, w: &mut W, entries: &[Pair]) -> bool {
        if self.len == MOST_SHAPES {
            return false;
        }
        let (from, block) = (self.keys.len, w.shape_begin(ShapeKind::Dict, 0, entries.len()));
        for &Pair { key: name, .. } in entries {
            // SAFETY: by the contract.
            if unsafe { !self.name(w, name) } || !self.keys.push(name) {
                return false;
            }
        }
        w.shape_end(block);
        self.add(from, 0)
    }

    /// Writes a name of a shape.
    ///
    /// # Safety
    /// `name` is a string.
    #[inline(always)]
    unsafe fn name<W: NativeWriter>(&mut self, w: &mut W, name: Obj) -> bool {
        // SAFETY: by the contract; a string of one character is not known again by its address.
        unsafe {
            let is_singleton = text::is_singleton(name);
            match if self.tracks && !is_singleton { self.met.position(name) } else { None } {
                Some(at) => {
                    w.reference(at as u64 + 1);
                    true
                }
                None => {
                    self.met.push(if is_singleton { std::ptr::null_mut() } else { name })
                        && of_any_width(w, name).is_ok()
                }
            }
        }
    }

    /// Enters a shape whose keys are those from there on.
    #[inline(always)]
    fn add(&mut self, from: usize, class: usize) -> bool {
        // There are at most `MOST_TEXTS` keys.
        self.shapes[self.len] = (from as u8, self.keys.len as u8, class);
        self.len += 1;
        true
    }

    /// Writes the layout of an instance, or its number.
    ///
    /// # Safety
    /// `object` is an instance of the plan's class.
    #[inline(always)]
    unsafe fn layout<W: NativeWriter>(&mut self, w: &mut W, plan: &Plan, object: Obj) -> bool {
        let class = plan.class() as usize;
        // SAFETY: by the contract; strings of one character are not known again by their addresses.
        unsafe {
            let Some(layout) = prepared::layout::<W>(plan, object) else { return false };
            for (number, &(from, to, known)) in self.shapes[..self.len].iter().enumerate() {
                if known == class {
                    // With other fields it has another shape, about which an encoder has rules.
                    let keys = &self.keys.all()[usize::from(from)..usize::from(to)];
                    let same = keys.iter().copied().eq(layout.names.iter().map(Owned::get));
                    if same {
                        w.instance(number);
                    }
                    return same;
                }
            }
            if self.len == MOST_SHAPES {
                return false;
            }
            let from = self.keys.len;
            let kept = layout.names.iter().all(|name| self.keys.push(name.get()));
            if !kept {
                return false;
            }
            let mut names = std::iter::once(&plan.name).chain(&layout.names).map(Owned::get);
            if self.met.len == 0 {
                w.shape_again(&layout.bytes);
                let number = |name| if text::is_singleton(name) { std::ptr::null_mut() } else { name };
                if !names.all(|name| self.met.push(number(name))) {
                    return false;
                }
            } else {
                let block = w.shape_begin(prepared::kind_of(plan), plan.version, layout.names.len());
                if !names.all(|name| self.name(w, name)) {
                    return false;
                }
                w.shape_end(block);
            }
            self.add(from, class)
        }
    }

    /// Writes an instance of a class.
    ///
    /// # Safety
    /// `object` is an instance of the plan's class, and the GIL held.
    #[inline(never)]
    unsafe fn instance<W: NativeWriter>(&mut self, w: &mut W, plan: &Plan, object: Obj) -> bool {
        // SAFETY: by the contract. Nothing here runs code of the program's.
        unsafe {
            match &plan.how {
                How::Family(Family::Known(known)) => prepared::wrote_known(w, *known, object),
                How::Enum => match prepared::member_name(plan, object) {
                    Some(name) => self.layout(w, plan, object) && of_any_width(w, name.get()).is_ok(),
                    None => false,
                },
                _ => {
                    self.layout(w, plan, object)
                        && prepared::all_fields(plan, object, |_, _, item| value(self, w, item))
                }
            }
        }
    }
}

impl<W: NativeWriter> Form<W> for Numbered {
    #[inline(always)]
    unsafe fn may_be_shared(&self, object: Obj) -> bool {
        // SAFETY: by the contract.
        self.tracks && unsafe { references(object) } > BY_PARENT
    }

    #[inline(always)]
    unsafe fn text(&mut self, w: &mut W, text: Obj) -> bool {
        // SAFETY: by the contract.
        unsafe {
            if self.tracks && references(text) > BY_PARENT && !text::is_singleton(text) {
                if let Some(at) = self.met.position(text) {
                    w.reference(at as u64 + 1);
                    return true;
                }
                w.assign_id();
                if !self.met.push(text) {
                    return false;
                }
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
    unsafe fn size_of_other(&self, object: Obj) -> Option<usize> {
        // SAFETY: by the contract; a set is read as what it is.
        unsafe {
            if !self.types {
                return None;
            }
            if is_set(object) {
                return sizes_of_members(object);
            }
            datetime::is_flat(object).then_some(DATETIME)
        }
    }

    #[inline]
    unsafe fn plan(&mut self, object: Obj) -> Option<(Rc<Plan>, bool)> {
        if !self.types {
            return None;
        }
        // SAFETY: by the contract.
        unsafe {
            match &self.plan {
                Some(known) if known.class() == ffi::Py_TYPE(object) => Some((known.clone(), false)),
                _ => {
                    let found = prepared::plan_of(object)?;
                    self.plan = Some(found.clone());
                    Some((found, true))
                }
            }
        }
    }

    #[inline(always)]
    unsafe fn other(&mut self, w: &mut W, object: Obj) -> bool {
        // SAFETY: by the contract. None of the members runs code.
        unsafe {
            if !is_set(object) {
                return datetime::wrote(w, object)
                    || Form::<W>::plan(self, object).is_some_and(|(plan, _)| self.instance(w, &plan, object));
            }
            let len = ffi::PySet_GET_SIZE(object) as usize;
            match ffi::Py_TYPE(object) == addr_of_mut!(ffi::PySet_Type) {
                true => w.set(len),
                false => w.frozenset(len),
            }
            let mut at = 0;
            while let Some(member) = next_member(object, &mut at) {
                if !value(self, w, member) {
                    return false;
                }
            }
            true
        }
    }

    #[inline(always)]
    unsafe fn dict(&mut self, w: &mut W, entries: &[Pair]) -> bool {
        // SAFETY: by the contract.
        unsafe {
            let head = match self.known(w, entries) {
                Some(true) => true,
                Some(false) => self.shape(w, entries),
                None => false,
            };
            head && entries.iter().all(|&Pair { value: item, .. }| value(self, w, item))
        }
    }
}

/// # Safety
/// `object` is alive, and the GIL held.
#[inline(always)]
unsafe fn value<W: Writer>(form: &mut (impl Form<W> + ?Sized), w: &mut W, object: Obj) -> bool {
    // SAFETY: by the contract.
    unsafe {
        if text::is(object) {
            form.text(w, object)
        } else {
            matches!(lone_leaf(w, object), Ok(true)) || lone_other(w, object) || nested(form, w, object)
        }
    }
}

/// Not compiled into each place that calls it, as it calls itself.
#[inline(never)]
unsafe fn nested<W: Writer>(form: &mut (impl Form<W> + ?Sized), w: &mut W, object: Obj) -> bool {
    // SAFETY: the contract is the same.
    unsafe { container(form, w, object) }
}

/// Takes what an object may need from the room that is left. `false`: there is none for it, or it is none of those that are written
/// here.
///
/// # Safety
/// `object` is alive.
#[inline(always)]
unsafe fn fits<W: Writer>(form: &mut (impl Form<W> + ?Sized), object: Obj, left: &mut usize, depth: usize) -> bool {
    // SAFETY: by the contract; an object is read as what its type says.
    let size = unsafe {
        if text::is(object) {
            text::len(object) + LEAST
        } else if is_leaf(object) {
            NUMBER
        } else if ffi::PyBytes_CheckExact(object) != 0 {
            // There is one object for each of the shortest, whose sharing isn't told.
            if ffi::Py_SIZE(object) > 1 && form.may_be_shared(object) {
                return false;
            }
            ffi::Py_SIZE(object) as usize + LEAST
        } else {
            return depth > 0 && !form.may_be_shared(object) && parts_fit(form, object, left, depth - 1);
        }
    };
    match left.checked_sub(size) {
        Some(less) => *left = less,
        None => return false,
    }
    true
}

/// The same for what a container holds.
///
/// # Safety
/// `object` is alive.
#[inline(never)]
unsafe fn parts_fit<W: Writer>(
    form: &mut (impl Form<W> + ?Sized),
    object: Obj,
    left: &mut usize,
    depth: usize,
) -> bool {
    // SAFETY: by the contract; an object is read as what its type says.
    unsafe {
        let Some(less) = left.checked_sub(LEAST) else { return false };
        *left = less;
        match sequence_of(object) {
            Some(seq) => items(object, seq).iter().all(|&item| fits(form, item, left, depth)),
            None if ffi::Py_TYPE(object) == addr_of_mut!(ffi::PyDict_Type) => {
                let Some(entries) = dict::entries(object) else { return false };
                entries
                    .iter()
                    .all(|&Pair { key, value: item, .. }| fits(form, key, left, depth) && fits(form, item, left, depth))
            }
            None => {
                let (size, plan) = match form.size_of_other(object) {
                    Some(size) => (size, None),
                    None => match form.plan(object) {
                        Some((plan, true)) => (prepared::size(&plan), Some(plan)),
                        // Its layout was counted with the one before.
                        Some((plan, false)) => (LEAST, Some(plan)),
                        None => return false,
                    },
                };
                match left.checked_sub(size) {
                    Some(less) => *left = less,
                    None => return false,
                }
                plan.is_none_or(|plan| match &plan.how {
                    How::Fields | How::NamedTuple(_) => {
                        prepared::all_fields(&plan, object, |_, _, item| fits(form, item, left, depth))
                    }
                    _ => true,
                })
            }
        }
    }
}

/// # Safety
/// `object` is alive.
#[inline(always)]
unsafe fn is_set(object: Obj) -> bool {
    // SAFETY: by the contract.
    let class = unsafe { ffi::Py_TYPE(object) };
    class == addr_of_mut!(ffi::PySet_Type) || class == addr_of_mut!(ffi::PyFrozenSet_Type)
}

/// What the members of a set take, if all of them are leaves of a bounded size.
///
/// # Safety
/// `set` is a set.
unsafe fn sizes_of_members(set: Obj) -> Option<usize> {
    let (mut at, mut whole) = (0, LEAST);
    // SAFETY: by the contract; members are read as what their types say.
    unsafe {
        while let Some(member) = next_member(set, &mut at) {
            if whole > Bounded::SHORT || !is_leaf(member) {
                return None;
            }
            whole += if text::is(member) { text::len(member) + LEAST } else { NUMBER };
        }
    }
    Some(whole)
}

/// # Safety
/// `object` is alive.
#[inline(always)]
unsafe fn sequence_of(object: Obj) -> Option<Seq> {
    // SAFETY: by the contract.
    let class = unsafe { ffi::Py_TYPE(object) };
    if class == addr_of_mut!(ffi::PyList_Type) {
        Some(Seq::List)
    } else if class == addr_of_mut!(ffi::PyTuple_Type) {
        Some(Seq::Tuple)
    } else {
        None
    }
}

/// Writes a list, tuple or dict that fits. `false`: it is none.
///
/// # Safety
/// As for [`wrote`].
#[inline(always)]
unsafe fn container<W: Writer>(form: &mut (impl Form<W> + ?Sized), w: &mut W, object: Obj) -> bool {
    // SAFETY: by the contract. Nothing here runs Python code, so the container stays as it is.
    unsafe {
        let Some(seq) = sequence_of(object) else {
            // A large int is a leaf that fits, and yet none that is written here.
            return match ffi::Py_TYPE(object) == addr_of_mut!(ffi::PyDict_Type) {
                true => dict::entries(object).is_some_and(|entries| form.dict(w, entries)),
                false => form.other(w, object),
            };
        };
        let items = items(object, seq);
        if form.run(w, items, seq) {
            return true;
        }
        match seq {
            Seq::List => w.list(items.len()),
            Seq::Tuple => w.tuple(items.len()),
        }
        items.iter().all(|&item| value(form, w, item))
    }
}

/// Writes the message of a small list, tuple or dict. `false`: it is none, or its encoder has to say what is wrong with it; the output
/// is void.
///
/// # Safety
/// `object` is alive, and the GIL held.
#[inline(always)]
pub unsafe fn wrote<W: Writer>(w: &mut W, form: &mut impl Form<W>, object: Obj) -> bool {
    let mut left = Bounded::SHORT;
    // SAFETY: by the contract. The message's own container may be held by others: nothing in it can be itself, as it fits.
    unsafe { parts_fit(form, object, &mut left, DEEPEST) && container(form, w, object) }
}

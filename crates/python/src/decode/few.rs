//! Small messages: a container of few leaves, perhaps in containers of their own. To make a decoder takes longer than to read them, so
//! they do without.

mod instances;

use super::leaves::of_any_leaf;
use super::runs;
use super::schemaless;
use super::settled::Settled;
use super::{MsgpackOptions, Numbered};
use crate::cpython::{crowd, dict, fill, gc, replace, set, text, Obj, Owned};
use crate::schema::Schema;
use crate::shapes::{dicts, names, Build, Shape};
use crate::types::datetime;
use holdall_format::model::{self, Bytes, KnownType, Leaf, Name, RareLeaf, Seq, ShapeKind, ShapeReader as _};
use holdall_format::{Reader, Token};
use pyo3::{ffi, Python};
use std::mem::MaybeUninit;
use std::rc::Rc;

/// How many items a container may have; and how many keys, where they are not prepared: a decoder learns them.
const MOST: usize = 32;
const MOST_KEYS: usize = 8;
const MOST_NUMBERS: usize = 64;
const MOST_SHAPES: usize = 8;
/// An instance may take much more memory than what was stored of it, which a decoder counts.
const MOST_INSTANCES: usize = 64;
/// How deep a small message may nest: what is read here recurses.
const DEEPEST: usize = 6;

/// Who says how instances are made.
#[derive(Clone, Copy)]
pub enum Classes<'s> {
    /// Nobody: instances are left to a decoder.
    Nobody,
    /// The type by which the message is loaded.
    Schema(&'s Schema),
    /// Those who permitted the class in an earlier message.
    Settled(&'s Settled),
}

/// What other messages have named before this one, which may refer to it: its own names follow.
#[derive(Clone, Copy, Default)]
pub struct Before<'s> {
    pub texts: &'s [Numbered],
    pub shapes: &'s [Rc<Shape>],
}

/// What matters to small messages of what a decoder was asked for.
#[derive(Clone, Copy)]
pub struct Asked<'s> {
    pub classes: Classes<'s>,
    before: Before<'s>,
    /// As in [`MsgpackOptions`].
    strict_keys: bool,
    /// Whether points in time are made as usual.
    moments: bool,
}

impl<'s> Asked<'s> {
    /// Nothing but how instances are made.
    pub fn of(classes: Classes<'s>) -> Self {
        Asked { classes, before: Before::default(), strict_keys: false, moments: true }
    }

    pub fn by(classes: Classes<'s>, before: Before<'s>, options: &MsgpackOptions) -> Self {
        let moments = !options.timestamps && !options.as_msgpack_python;
        Asked { classes, before, strict_keys: options.strict_keys, moments }
    }
}

/// What was read of a message.
struct State<'s> {
    asked: Asked<'s>,
    /// What has the numbers behind that of the message's container, which has the first. Each is held by what it is in, or by a shape.
    /// Null: it is being made.
    numbered: [MaybeUninit<Obj>; MOST_NUMBERS],
    len: usize,
    shapes: [Option<Rc<Shape>>; MOST_SHAPES],
    shapes_len: usize,
    instances: usize,
}

impl State<'_> {
    #[inline(always)]
    fn number(&mut self, object: Obj) -> Option<()> {
        self.numbered.get_mut(self.len)?.write(object);
        self.len += 1;
        Some(())
    }

    /// Gives the next number of a shape to this one.
    #[inline(always)]
    fn keep(&mut self, shape: &Rc<Shape>) -> Option<()> {
        *self.shapes.get_mut(self.shapes_len)? = Some(shape.clone());
        self.shapes_len += 1;
        Some(())
    }

    #[inline(always)]
    fn get(&self, number: u64) -> Option<Obj> {
        let (number, texts) = (usize::try_from(number).ok()?, self.asked.before.texts);
        if let Some(known) = texts.get(number) {
            return known.object.as_ref().map(Owned::get);
        }
        let at = number.checked_sub(texts.len() + 1).filter(|&at| at < self.len)?;
        // SAFETY: the first `len` were written.
        Some(unsafe { self.numbered[at].assume_init() }).filter(|object| !object.is_null())
    }
}

/// The value of a message that is a small list, tuple or dict. `None`: it is something else, or damaged, and no exception is set.
///
/// # Safety
/// The GIL is held.
#[inline(always)]
pub unsafe fn few<'i, R: Reader<'i>>(r: &mut R, asked: Asked<'_>) -> Option<Owned> {
    let mut state = State {
        asked,
        numbered: [const { MaybeUninit::uninit() }; MOST_NUMBERS],
        len: 0,
        shapes: [const { None }; MOST_SHAPES],
        shapes_len: 0,
        instances: 0,
    };
    // SAFETY: the GIL is held, by contract. No code of the program's runs meanwhile, not even by the collector: what is being made stays
    // as it is.
    unsafe {
        let _pause = gc::Pause::new();
        let made = container(r, &mut state, DEEPEST).filter(|_| r.finish().is_ok());
        if made.is_none() {
            // There may have been no memory for it: the decoder will say so, or find some.
            ffi::PyErr_Clear();
        }
        made
    }
}

/// # Safety
/// The GIL is held; what `state` has is alive.
#[inline(always)]
unsafe fn container<'i, R: Reader<'i>>(r: &mut R, state: &mut State<'_>, depth: usize) -> Option<Owned> {
    // SAFETY: the GIL is held, by contract; the reader has checked what its tokens say.
    unsafe {
        match r.next().ok()? {
            Token::List(len @ ..=MOST) => items(r, state, depth, Seq::List, len),
            Token::Tuple(len @ ..=MOST) => items(r, state, depth, Seq::Tuple, len),
            Token::Dict(len @ ..=MOST_KEYS) => pairs(r, state, depth, Owned::new(ffi::PyDict_New())?, len),
            Token::NewShape(shape) if shape.kind == ShapeKind::Dict && shape.fields <= MOST => {
                let Some(known) = dicts::find(Python::assume_attached(), shape.block) else {
                    return new_dict(r, state, depth, &shape);
                };
                known_names(state, &shape, &known)?;
                values(r, state, depth, &known)
            }
            Token::NewShape(shape) if matches!(shape.kind, ShapeKind::Object | ShapeKind::Based | ShapeKind::Enum) => {
                let shape = instances::layout(r, &shape, state)?;
                instances::instance(r, state, depth, &shape)
            }
            Token::Instance(number) => {
                let before = state.asked.before.shapes;
                let shape = match before.get(number) {
                    // Of many names a copy would be made before it is seen that the values are not there.
                    Some(known) if known.names.len() > MOST => return None,
                    Some(known) => instances::of_before(state, known)?,
                    None => state.shapes.get(number - before.len())?.clone()?,
                };
                match shape.build {
                    Build::Dict => values(r, state, depth, &shape),
                    _ => instances::instance(r, state, depth, &shape),
                }
            }
            Token::Floats(seq, run) if run.len() <= MOST => runs::of_floats(seq, run).ok(),
            Token::Ints(seq, run) if run.len() <= MOST => runs::of_ints(seq, run).ok(),
            Token::Texts(seq, lengths, joined) if lengths.len() <= MOST => runs::of_texts(seq, lengths, joined).ok(),
            Token::Bools(seq, run) if run.len() <= MOST => runs::of_bools(seq, run).ok(),
            Token::Set(len @ ..=MOST) => members(r, state, Owned::new(ffi::PySet_New(std::ptr::null_mut()))?, len),
            Token::FrozenSet(len @ ..=MOST) => {
                members(r, state, Owned::new(ffi::PyFrozenSet_New(std::ptr::null_mut()))?, len)
            }
            Token::DateTime { bits, zoned } => moment(r, bits, zoned),
            Token::Timestamp { seconds, nanoseconds } if state.asked.moments && !R::NAIVE_IS_UTC => {
                schemaless::of_timestamp(seconds, nanoseconds, false, 0).ok()
            }
            Token::KnownType(known @ (KnownType::Decimal | KnownType::Uuid)) => instances::known(r, known),
            Token::KnownType(known @ (KnownType::Date | KnownType::Timedelta | KnownType::Time)) => {
                let Ok(Some(Leaf::Int(number))) = r.leaf() else { return None };
                if known == KnownType::Time && !matches!(r.leaf(), Ok(Some(Leaf::None))) {
                    return None;
                }
                datetime::of_number(known, number)
            }
            _ => None,
        }
    }
}

/// # Safety
/// As for [`container`].
#[inline(always)]
unsafe fn items<'i, R: Reader<'i>>(
    r: &mut R,
    state: &mut State<'_>,
    depth: usize,
    seq: Seq,
    len: usize,
) -> Option<Owned> {
    // SAFETY: the new object has `len` empty slots, which stay empty if an item can't be read.
    unsafe {
        let (object, places) = runs::sequence(seq, len).ok()?;
        for at in 0..len {
            *places.add(at) = value(r, state, depth)?.0.into_raw();
        }
        Some(object)
    }
}

/// A set or frozenset of leaves.
///
/// # Safety
/// As for [`container`]; `set` is a new set or frozenset.
unsafe fn members<'i, R: Reader<'i>>(r: &mut R, state: &mut State<'_>, set: Owned, len: usize) -> Option<Owned> {
    // SAFETY: by the contract. The members' hashes run no code of the program's: they are leaves.
    unsafe {
        for before in 0..len {
            let (member, _) = value(r, state, 0)?;
            let hash = ffi::PyObject_Hash(member.get());
            if hash == -1 {
                return None;
            }
            let is_put =
                crowd::in_set(set.get(), hash).free.is_some_and(|place| set::put(set.get(), member.get(), hash, place));
            if !is_put
                && (ffi::PySet_Add(set.get(), member.get()) != 0 || ffi::PySet_GET_SIZE(set.get()) as usize == before)
            {
                return None;
            }
        }
        Some(set)
    }
}

/// A datetime without a zone, or in UTC.
///
/// # Safety
/// As for [`container`].
unsafe fn moment<'i, R: Reader<'i>>(r: &mut R, bits: u64, zoned: bool) -> Option<Owned> {
    // SAFETY: the GIL is held; `None` and the UTC of the datetime API, imported with this module, live as long as the interpreter.
    unsafe {
        let zone = match zoned {
            false => ffi::Py_None(),
            true if matches!(r.next(), Ok(Token::KnownType(KnownType::Utc))) => ffi::PyDateTime_TimeZone_UTC(),
            true => return None,
        };
        datetime::datetime(bits, zone, 0).ok()
    }
}

/// A dict whose keys come with their values, and are leaves.
///
/// # Safety
/// As for [`container`]; `object` is a new dict.
#[inline(always)]
unsafe fn pairs<'i, R: Reader<'i>>(
    r: &mut R,
    state: &mut State<'_>,
    depth: usize,
    object: Owned,
    len: usize,
) -> Option<Owned> {
    // SAFETY: the GIL is held; the reader has checked the bytes of `Leaf::Ascii`. Hashing leaves runs no code.
    unsafe {
        for before in 0..len {
            r.key();
            let is_put = match r.leaf().ok()?? {
                Leaf::Ascii(name) => {
                    let name = names::name(name)?;
                    let (item, _) = value(r, state, depth)?;
                    dict::set(object.get(), name.get(), item.get())
                }
                Leaf::Rare(_) | Leaf::Reference(_) => return None,
                Leaf::Int(_) | Leaf::Float(_) | Leaf::None | Leaf::Bool(_) if state.asked.strict_keys => return None,
                leaf => {
                    let key = of_any_leaf(leaf)?;
                    let (item, _) = value(r, state, depth)?;
                    ffi::PyDict_SetItem(object.get(), key.get(), item.get()) == 0
                }
            };
            // A key that comes again would let the first value go, which may have a number.
            if !is_put || dict::len(object.get()) == before {
                return None;
            }
        }
        Some(object)
    }
}

/// Takes the names of a shape that came before in another message. `None`: they don't fit.
fn known_names(state: &mut State<'_>, token: &model::Shape<'_>, shape: &Rc<Shape>) -> Option<()> {
    shape.template.get()?.as_ref()?;
    all_names(state, token, shape)?;
    state.keep(shape)
}

/// Takes all names of such a shape, the class's own first. `None`: they don't fit.
#[inline(always)]
fn all_names(state: &mut State<'_>, token: &model::Shape<'_>, shape: &Shape) -> Option<()> {
    if shape.names.len() != token.fields {
        return None;
    }
    let mut references = shape.references.iter().peekable();
    for (at, name) in shape.all_names().enumerate() {
        match references.next_if(|reference| reference.0 == at) {
            // A name that was a reference is one here as well: it must lead to the same string.
            Some(&(_, number)) if state.get(number)? != name.get() => return None,
            Some(_) => {}
            None => state.number(name.get())?,
        }
    }
    Some(())
}

/// A dict of a shape that never came before. `None`, too, if it came once: a decoder keeps it then.
///
/// # Safety
/// As for [`container`].
unsafe fn new_dict<'i, R: Reader<'i>>(
    r: &mut R,
    state: &mut State<'_>,
    depth: usize,
    token: &model::Shape<'i>,
) -> Option<Owned> {
    // SAFETY: the GIL is held, by contract; the reader has checked the bytes of `Bytes::Ascii`; names are strings, which `object`
    // holds. Hashing them runs no code. `is_template` says that `object` has a slot for each of them.
    unsafe {
        if token.fields > MOST_KEYS || !dicts::is_new(Python::assume_attached(), token.block) {
            return None;
        }
        let object = Owned::new(ffi::PyDict_New())?;
        for (before, name) in R::Shapes::names(token).enumerate() {
            let name = match name.ok()? {
                Name::Text(Bytes::Ascii(bytes)) => {
                    let name = names::name(bytes)?;
                    state.number(name.get())?;
                    name
                }
                Name::Reference(number) => {
                    let name = state.get(number)?;
                    if !text::is(name) {
                        return None;
                    }
                    Owned::borrowed(name)
                }
                Name::Text(_) => return None,
            };
            // A name that came before would not be held by the dict, and yet it has a number.
            if !dict::set(object.get(), name.get(), ffi::Py_None()) || dict::len(object.get()) == before {
                return None;
            }
        }
        if dict::len(object.get()) != token.fields || !dict::is_template(object.get(), token.fields) {
            return None;
        }
        state.shapes_len += 1;
        fill_values(r, state, depth, object, token.fields)
    }
}

/// A dict of a shape.
///
/// # Safety
/// As for [`container`].
#[inline(always)]
unsafe fn values<'i, R: Reader<'i>>(r: &mut R, state: &mut State<'_>, depth: usize, shape: &Shape) -> Option<Owned> {
    // SAFETY: the GIL is held; a copy of a template has a slot for each name, which nobody else has seen.
    unsafe {
        let object = Owned::new(ffi::PyDict_Copy(shape.template.get()?.as_ref()?.get()))?;
        fill_values(r, state, depth, object, shape.names.len())
    }
}

/// Fills a new dict, which has a slot for each of `len` values.
///
/// # Safety
/// As for [`container`]; `is_template` has said so of the dict, or of the one that it is a copy of.
#[inline(always)]
unsafe fn fill_values<'i, R: Reader<'i>>(
    r: &mut R,
    state: &mut State<'_>,
    depth: usize,
    object: Owned,
    len: usize,
) -> Option<Owned> {
    // SAFETY: by the contract.
    unsafe {
        for at in 0..len {
            let (item, is_container) = value(r, state, depth)?;
            replace(dict::value_slot(object.get(), at), item.into_raw());
            if is_container {
                fill::track(object.get());
            }
        }
        Some(object)
    }
}

/// A leaf or a container, and whether it is one.
///
/// # Safety
/// As for [`container`].
#[inline(always)]
unsafe fn value<'i, R: Reader<'i>>(r: &mut R, state: &mut State<'_>, depth: usize) -> Option<(Owned, bool)> {
    let marked = r.mark();
    // SAFETY: by the contract.
    unsafe {
        let leaf = match r.leaf().ok()? {
            Some(leaf) => leaf,
            None if depth == 0 => return None,
            None if marked => {
                // The number of a container comes before those of what it holds.
                let at = state.len;
                state.number(std::ptr::null_mut())?;
                let made = nested(r, state, depth - 1)?;
                state.numbered[at].write(made.get());
                return Some((made, true));
            }
            None => return Some((nested(r, state, depth - 1)?, true)),
        };
        let (made, is_container) = match leaf {
            Leaf::Reference(_) if marked => return None,
            Leaf::Reference(number) => (Owned::borrowed(state.get(number)?), false),
            Leaf::Rare(RareLeaf::EmptyList | RareLeaf::EmptyDict) => (of_any_leaf(leaf)?, true),
            leaf => (of_any_leaf(leaf)?, false),
        };
        if marked {
            state.number(made.get())?;
        }
        Some((made, is_container))
    }
}

/// Not compiled into each place that calls it, as it calls itself.
///
/// # Safety
/// As for [`container`].
#[inline(never)]
unsafe fn nested<'i, R: Reader<'i>>(r: &mut R, state: &mut State<'_>, depth: usize) -> Option<Owned> {
    // SAFETY: the contract is the same.
    unsafe { container(r, state, depth) }
}

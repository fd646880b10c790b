//! Dicts and instances by their layouts: values by position, with no key looked up.

use super::frame::{Frame, Kind, Make, NOT_ITS_OWN};
use super::{Decoder, UNMARKED};
use crate::budget::hash_cost::Weight;
use crate::classes::how::Base;
use crate::classes::plan::Plan;
use crate::classes::state::allocate;
use crate::cpython::fill;
use crate::cpython::{dict, Owned, Type};
use crate::decode::dialect::Dialect;
use crate::error::{decode, raised, Result, Step};
use crate::schema::node::accepts;
use crate::schema::{NodeId, ANY};
use crate::shapes::{Build, Layout};
use crate::types;
use holdall_format::model::{KnownType, ShapeKind};
use holdall_format::{Reader, Token};
use pyo3::ffi;
use std::rc::Rc;

impl<'i, D: Dialect<'i>> Decoder<'i, D> {
    /// An instance of a layout: its values follow.
    #[inline(always)]
    pub(crate) fn instance(&mut self, layout: &Rc<Layout>) -> Result<Option<Owned>> {
        let len = layout.names.len();
        match &layout.build {
            Build::Dict => self.dict(layout, len, ANY),
            Build::Slots { class, offsets } => {
                self.claim(len, layout.bytes)?;
                // SAFETY: the GIL is held; the class is held by the layout's plan's registration, module or options.
                let object = unsafe { allocate(*class, 0)? };
                let mark = self.take_mark();
                self.opened(mark, object.get());
                for (at, &offset) in offsets.iter().enumerate() {
                    let Some(value) = self.field(ANY, accepts::ALL)? else {
                        let frame = self.frame(Kind::Fields, Some(object), len, mark);
                        return Ok(self.push(Frame { at, layout: Some(layout.clone()), ..frame }));
                    };
                    // SAFETY: a slot of a fresh instance of the class that its offset was read from.
                    unsafe { *crate::classes::state::slot_mut(object.get(), offset) = value.into_raw() };
                }
                self.whole(mark, object.get());
                self.weigh_whole(&object, len, mark);
                Ok(Some(object))
            }
            _ => self.other_instance(layout, len),
        }
    }

    /// A dict of known keys.
    #[inline(always)]
    pub(crate) fn dict(&mut self, layout: &Rc<Layout>, len: usize, item: NodeId) -> Result<Option<Owned>> {
        self.claim(len, layout.bytes)?;
        let here = self.r.offset();
        // SAFETY: the GIL is held while a decoder lives; the copy has a place for each name.
        unsafe {
            let Some(template) = layout.template(here)? else {
                let dict = Owned::new(ffi::PyDict_New()).ok_or_else(raised)?;
                let mark = self.take_mark();
                self.opened(mark, dict.get());
                if len == 0 {
                    self.whole(mark, dict.get());
                    return Ok(Some(dict));
                }
                let frame = self.frame(Kind::Keyed, Some(dict), len, mark);
                return Ok(self.push(Frame { layout: Some(layout.clone()), item, ..frame }));
            };
            let dict = Owned::new(ffi::PyDict_Copy(template.get())).ok_or_else(raised)?;
            let mark = self.take_mark();
            self.opened(mark, dict.get());
            let accepts = self.rules.node(item).accepts;
            for at in 0..len {
                let Some(value) = self.field(item, accepts).map_err(|fault| fault.within(|| Step::Some))? else {
                    let frame = self.frame(Kind::Copied, Some(dict), len, mark);
                    return Ok(self.push(Frame { at, layout: Some(layout.clone()), item, ..frame }));
                };
                crate::cpython::replace(dict::value_slot(dict.get(), at), value.into_raw());
            }
            if item != ANY {
                fill::track(dict.get());
            }
            self.whole(mark, dict.get());
            Ok(Some(dict))
        }
    }

    /// What hashing an instance costs that needed no frame.
    #[inline(always)]
    pub(crate) fn weigh_whole(&mut self, object: &Owned, len: usize, mark: u32) {
        // SAFETY: held.
        let weight = unsafe { crate::budget::hash_cost::weight_of_instance(object.get(), Weight::default(), len) };
        if weight != Weight::default() {
            let before = std::mem::replace(&mut self.mark, mark);
            self.weigh(weight);
            self.mark = before;
        }
    }

    #[inline(never)]
    fn other_instance(&mut self, layout: &Rc<Layout>, len: usize) -> Result<Option<Owned>> {
        match &layout.build {
            Build::Attributes { plan } => {
                self.claim(len, layout.bytes)?;
                let here = self.here();
                // SAFETY: the GIL is held; the copy has a place for each name.
                unsafe {
                    let object = plan.fresh()?;
                    let mark = self.take_mark();
                    self.opened(mark, object.get());
                    let dict = match layout.template(here)? {
                        Some(template) => Owned::new(ffi::PyDict_Copy(template.get())),
                        None => Owned::new(ffi::PyDict_New()),
                    }
                    .ok_or_else(raised)?;
                    crate::classes::state::set_dict(object.get(), dict.clone())?;
                    let frame = self.frame(Kind::Fields, Some(object), len, mark);
                    Ok(self.push(Frame { layout: Some(layout.clone()), key: Some(dict), ..frame }))
                }
            }
            Build::Mixed { plan, .. } => {
                self.claim(len, layout.bytes)?;
                // SAFETY: the GIL is held while a decoder lives.
                let object = unsafe { plan.fresh()? };
                let mark = self.take_mark();
                self.opened(mark, object.get());
                let frame = self.frame(Kind::Fields, Some(object), len, mark);
                Ok(self.push(Frame { layout: Some(layout.clone()), ..frame }))
            }
            Build::NamedTuple { class, .. } => {
                self.claim(len, layout.bytes)?;
                // SAFETY: the GIL is held while a decoder lives.
                let object = unsafe { allocate(*class, len as isize)? };
                let mark = self.take_mark();
                self.opened(mark, object.get());
                let frame = self.frame(Kind::Tuple, Some(object), len, mark);
                Ok(self.push(Frame { layout: Some(layout.clone()), ..frame }))
            }
            Build::Based { class, base, .. } => self.based(layout, *class, *base),
            Build::Upgraded { plan, .. } => self.upgraded(layout, plan, len),
            Build::Enum => self.gather(Make::Enum(layout.clone()), 1),
            Build::Custom => self.gather(Make::Custom(layout.clone()), 1),
            Build::Record => self.record_of(layout, len),
            Build::Unresolved => {
                let layout = self.found_layout(layout)?;
                self.instance(&layout)
            }
            Build::Dict | Build::Slots { .. } | Build::Typed(_) | Build::Guessed(_) => {
                Err(decode("a layout out of place", self.here()))
            }
        }
    }

    /// An instance whose fields go through a dict: a named tuple is made of it, all others exist before.
    fn upgraded(&mut self, layout: &Rc<Layout>, plan: &Plan, len: usize) -> Result<Option<Owned>> {
        self.claim(len, layout.bytes)?;
        // SAFETY: the GIL is held while a decoder lives; the class lives as long as its plan is used.
        let object = unsafe {
            match is_tuple(plan.class()) {
                true => None,
                false => Some(plan.fresh()?),
            }
        };
        let mark = self.take_mark();
        if let Some(object) = &object {
            self.opened(mark, object.get());
        }
        let frame = Frame::gather(Make::Upgraded(layout.clone()), object, len, mark, self.here());
        if len == 0 {
            return self.make(frame).map(Some);
        }
        Ok(self.push(frame))
    }

    /// A record: an instance of a class that is not there.
    fn record_of(&mut self, layout: &Rc<Layout>, fields: usize) -> Result<Option<Owned>> {
        let len = fields + usize::from(layout.kind != ShapeKind::Object);
        self.claim(len, layout.bytes)?;
        let record = types::record::empty(self.py, layout)?;
        let mark = self.take_mark();
        self.opened(mark, record.get());
        let mut frame = Frame::gather(Make::Record(layout.clone()), Some(record), len, mark, self.here());
        if len == 0 {
            return self.make(frame).map(Some);
        }
        if layout.kind == ShapeKind::Based && self.refers()? {
            frame.flags |= NOT_ITS_OWN;
        }
        Ok(self.push(frame))
    }

    /// Whether a reference comes next.
    fn refers(&mut self) -> Result<bool> {
        let place = self.r.place();
        let token = self.r.next()?;
        self.r.rewind(place);
        Ok(matches!(token, Token::Reference(_)))
    }

    /// A subclass of a builtin: the builtin's value comes first, then the fields.
    fn based(&mut self, layout: &Rc<Layout>, class: Type, base: Base) -> Result<Option<Owned>> {
        let fields = layout.names.len();
        let here = self.here();
        if base == Base::Exception && self.refers()? {
            return Err(decode("an exception whose content is not its own", here));
        }
        match base {
            Base::List | Base::Dict | Base::OrderedDict | Base::ByteArray | Base::Tuple => {}
            Base::Set | Base::FrozenSet | Base::DefaultDict | Base::Deque => {}
            // SAFETY: the GIL is held while a decoder lives; the class is that of a layout, which keeps its plan.
            Base::Exception if unsafe { !types::exception::is_of_parts(self.py, class)? } => {
                self.claim(fields + 1, layout.bytes + 256)?;
                // SAFETY: as above.
                let object = unsafe { types::exception::empty(self.py, class, None, here)? };
                let mark = self.take_mark();
                self.opened(mark, object.get());
                let frame = self.frame(Kind::Fields, Some(object.clone()), fields, mark);
                self.push(Frame { layout: Some(layout.clone()), ..frame });
                let frame = Frame::gather(Make::Exception, Some(object), 1, UNMARKED, here);
                return Ok(self.push(Frame { hand_over: false, ..frame }));
            }
            _ => return self.gather(Make::Based(layout.clone()), 1),
        }
        self.claim(fields + 1, layout.bytes + 256)?;
        // SAFETY: the class is one of those that are derived from `base`, as its layout was built for.
        let (object, len) = unsafe { self.empty_based(class, base, here)? };
        let mark = self.take_mark();
        self.opened(mark, object.get());
        let frame = self.frame(Kind::Fields, Some(object.clone()), fields, mark);
        // The fields below, the content above: what is on top is built first.
        self.push(Frame { layout: Some(layout.clone()), ..frame });
        self.begin_content(base, object, len, here)?;
        // The content is the instance: what holds it directly holds that.
        if let [.., fields, content] = &mut self.stack[..] {
            if !content.hand_over && content.is_value() {
                content.chain = fields.chain;
            }
        }
        Ok(None)
    }

    /// An empty instance of a subclass of a builtin, made by the builtin's own constructor, and how many items it gets.
    ///
    /// # Safety
    /// `class` is alive, and derived from `base`.
    unsafe fn empty_based(&mut self, class: Type, base: Base, at: usize) -> Result<(Owned, usize)> {
        let token = self.r.next()?;
        // SAFETY: the GIL is held while a decoder lives; the class is as the caller promises.
        unsafe {
            Ok(match (base, token) {
                (Base::List, Token::List(len)) => {
                    self.claim(len, 8 * len)?;
                    let object = types::new_of(base, class, None)?;
                    // A list of the right length, handed to the instance whole.
                    let filled = Owned::new(ffi::PyList_New(len as isize)).ok_or_else(raised)?;
                    fill::pad(filled.get());
                    if ffi::PyList_SetSlice(object.get(), 0, 0, filled.get()) != 0 {
                        return Err(raised());
                    }
                    (object, len)
                }
                (Base::Tuple, Token::Tuple(len)) => {
                    self.claim(len, 8 * len)?;
                    (allocate(class, len as isize)?, len)
                }
                (Base::DefaultDict, Token::KnownType(KnownType::PythonDefaultDict)) => {
                    (types::collections::empty_of(self.py, KnownType::PythonDefaultDict, class, None)?, 1)
                }
                (Base::Deque, Token::KnownType(KnownType::PythonDeque)) => {
                    let most = match self.r.next()? {
                        Token::Int(most) if most >= 0 => Some(most),
                        Token::None => None,
                        _ => return Err(decode("expected the maxlen of a deque", at)),
                    };
                    let Token::List(len) = self.r.next()? else {
                        return Err(decode("expected the list of a deque's items", at));
                    };
                    self.claim(len, 640 + 8 * len)?;
                    (types::collections::empty_of(self.py, KnownType::PythonDeque, class, most)?, len)
                }
                (Base::Dict | Base::OrderedDict, Token::Dict(len))
                | (Base::Set, Token::Set(len))
                | (Base::FrozenSet, Token::FrozenSet(len)) => (types::new_of(base, class, None)?, len),
                (Base::ByteArray, Token::ByteArray(bytes)) => {
                    let payload =
                        Owned::new(ffi::PyByteArray_FromStringAndSize(bytes.as_ptr().cast(), bytes.len() as isize))
                            .ok_or_else(raised)?;
                    (types::new_of(base, class, Some(payload))?, 0)
                }
                _ => return Err(decode("expected the content of a subclass of a builtin", at)),
            })
        }
    }

    /// Pushes the frame of what an instance of a subclass holds as the builtin that it is.
    fn begin_content(&mut self, base: Base, object: Owned, len: usize, at: usize) -> Result<()> {
        let frame = match base {
            Base::List if len > 0 => self.frame(Kind::List, Some(object), len, UNMARKED),
            Base::Tuple if len > 0 => self.frame(Kind::Tuple, Some(object), len, UNMARKED),
            Base::FrozenSet if len > 0 => Frame::gather(Make::FrozenSet, Some(object), len, UNMARKED, at),
            Base::DefaultDict => self.frame(Kind::Factory, Some(object), 1, UNMARKED),
            Base::Deque if len > 0 => self.frame(Kind::Append, Some(object), len, UNMARKED),
            Base::Dict | Base::OrderedDict => return self.begin_pairs(object, len, false, ANY).map(drop),
            Base::Set => return self.begin_set(object, len, false, ANY).map(drop),
            _ => return Ok(()),
        };
        self.push(Frame { hand_over: false, ..frame });
        Ok(())
    }
}

/// # Safety
/// `class` is alive.
pub(crate) unsafe fn is_tuple(class: *mut ffi::PyTypeObject) -> bool {
    // SAFETY: alive, says the caller.
    unsafe { ffi::PyType_HasFeature(class, ffi::Py_TPFLAGS_TUPLE_SUBCLASS) != 0 }
}

//! The next value: made at once where it is small, else begun, with a frame for what it holds.

use super::frame::{Frame, Kind, Make, Weight, DEFAULT_DICT};
use super::layout::{Build, Layout};
use super::{fill, Decoder, Numbered, State, UNMARKED};
use crate::class::plan::Base;
use crate::cpython::text::Failure;
use crate::cpython::{dict, float, int, text as strings, Owned};
use crate::error::{decode, raised, refused, Result};
use crate::objects;
use holdall_format::model::{Bytes, Ints, Known, LayoutKind, Seq};
use holdall_format::{Error as FormatError, Kind as FormatKind, Reader, Token};
use pyo3::ffi;
use std::rc::Rc;

/// A string of what a format holds.
#[inline(never)]
pub(super) fn text(bytes: Bytes<'_>, at: usize) -> Result<Owned> {
    // SAFETY: the GIL is held while a decoder lives.
    match unsafe { strings::from_bytes(bytes) } {
        Ok(text) => Ok(text),
        Err(Failure::Raised) => Err(raised()),
        Err(Failure::BadUtf8) => Err(FormatError::new(FormatKind::BadUtf8, at).into()),
    }
}

impl<'i, R: Reader<'i>> Decoder<'i, R> {
    /// The next value; `None` if it was begun and its frame pushed.
    #[inline(always)]
    pub(super) fn value(&mut self) -> Result<Option<Owned>> {
        let token = self.r.next()?;
        match self.leaf(token)? {
            Some(value) => Ok(Some(value)),
            None => self.node(token),
        }
    }

    /// A leaf, or an object that is there already, or a marked leaf: what a loop over fields takes without a frame.
    ///
    /// `None` where it is none of these; the token is to be read again then.
    #[inline(always)]
    fn field(&mut self, token: Token<'i>) -> Result<Option<Owned>> {
        match self.leaf(token)? {
            None => self.shared_field(token),
            value => Ok(value),
        }
    }

    #[inline(never)]
    fn shared_field(&mut self, token: Token<'i>) -> Result<Option<Owned>> {
        match token {
            // What is referred to may be a container that the collector must see, or one that is not all there: those
            // go the long way, with a frame for what refers to them.
            Token::Reference(number) => {
                let Some(Numbered { object: Some(known), state: State::Whole, .. }) =
                    self.numbered.get(number as usize)
                else {
                    return Ok(None);
                };
                // SAFETY: held.
                Ok(unsafe { strings::is(known.get()) }.then(|| known.clone()))
            }
            Token::Mark => {
                let token = self.r.next()?;
                let Some(value) = self.leaf(token)? else { return Ok(None) };
                // SAFETY: held.
                self.numbered.push(Numbered::whole(value.clone()));
                Ok(Some(value))
            }
            _ => Ok(None),
        }
    }

    /// What most values are.
    #[inline(always)]
    fn leaf(&mut self, token: Token<'i>) -> Result<Option<Owned>> {
        // SAFETY: the GIL is held while a decoder lives; the reader has checked that ASCII is.
        unsafe {
            let made = match token {
                Token::Text(Bytes::Ascii(bytes)) => strings::from_ascii(bytes),
                Token::Int(value) => int::from_value(value),
                Token::Float(value) => float::from_value(value),
                Token::None => Some(Owned::borrowed(ffi::Py_None())),
                Token::Bool(value) => Some(Owned::borrowed(if value { ffi::Py_True() } else { ffi::Py_False() })),
                _ => return Ok(None),
            };
            made.map(Some).ok_or_else(raised)
        }
    }

    /// A value that is no leaf.
    #[inline(never)]
    pub(super) fn node(&mut self, token: Token<'i>) -> Result<Option<Owned>> {
        match token {
            Token::Reference(number) => self.numbered(number).map(Some),
            Token::Instance(number) => {
                let Some(layout) = self.layouts.get(number) else {
                    return Err(FormatError::new(FormatKind::BadLayout { number: number as u64 }, self.here()).into());
                };
                let layout = layout.clone();
                self.instance(&layout)
            }
            Token::Mark => {
                if self.mark != UNMARKED {
                    return Err(decode("a mark of a mark", self.here()));
                }
                let mark = self.numbered.len() as u32;
                self.numbered.push(Numbered::open());
                self.mark = mark;
                let token = self.r.next()?;
                if let Some(value) = self.leaf(token)? {
                    self.whole(mark, value.get());
                    self.mark = UNMARKED;
                    return Ok(Some(value));
                }
                if matches!(token, Token::Mark | Token::Reference(_)) {
                    return Err(decode("a mark of what has a number", self.here()));
                }
                self.node(token)
            }
            Token::List(len) => self.begin_list(len),
            Token::Tuple(len) => self.begin_tuple(len),
            Token::Floats(seq, run) => {
                self.weigh_run(seq, run.len());
                self.floats(seq, run)
            }
            Token::Ints(seq, run) => {
                self.weigh_run(seq, run.len());
                self.ints(seq, run)
            }
            Token::NewLayout(token) => {
                let mark = self.take_mark();
                let layout = self.layout(&token)?;
                self.mark = mark;
                self.instance(&layout)
            }
            _ => self.rare(token),
        }
    }

    /// A value that is complete: takes the mark.
    pub(super) fn done(&mut self, value: Option<Owned>) -> Result<Option<Owned>> {
        let value = value.ok_or_else(raised)?;
        let mark = self.take_mark();
        self.whole(mark, value.get());
        Ok(Some(value))
    }

    pub(super) fn frame(&self, kind: Kind, object: Option<Owned>, len: usize, mark: u32) -> Frame {
        Frame::new(kind, object, len, mark, self.here())
    }

    /// Pushes a frame; its values are owed from now on.
    #[inline(always)]
    pub(super) fn push(&mut self, mut frame: Frame) -> Option<Owned> {
        self.owed += frame.len - frame.at;
        frame.chain = match self.stack.last() {
            Some(below) if below.is_value() => below.chain,
            _ => self.stack.len() as u32,
        };
        self.stack.push(frame);
        None
    }

    #[inline(always)]
    fn begin_list(&mut self, len: usize) -> Result<Option<Owned>> {
        self.claim(len, 64 + 8 * len)?;
        // SAFETY: the GIL is held while a decoder lives. The list's places are filled before anybody sees it.
        let list = unsafe { Owned::new(ffi::PyList_New(len as isize)) }.ok_or_else(raised)?;
        if len == 0 {
            return self.done(Some(list));
        }
        let mark = self.take_mark();
        self.opened(mark, list.get());
        let frame = self.frame(Kind::List, Some(list), len, mark);
        Ok(self.push(frame))
    }

    #[inline(always)]
    fn begin_tuple(&mut self, len: usize) -> Result<Option<Owned>> {
        self.claim(len, 48 + 8 * len)?;
        // SAFETY: as for lists.
        let tuple = unsafe { Owned::new(ffi::PyTuple_New(len as isize)) }.ok_or_else(raised)?;
        if len == 0 {
            return self.done(Some(tuple));
        }
        let mark = self.take_mark();
        self.opened(mark, tuple.get());
        let frame = self.frame(Kind::Tuple, Some(tuple), len, mark);
        Ok(self.push(frame))
    }

    /// What hashing a tuple of plain values costs, for who holds it and for who refers to it later.
    fn weigh_run(&mut self, seq: Seq, len: usize) {
        if seq == Seq::Tuple {
            let weight = Weight { depth: 1, freeing: 0, values: u32::try_from(len).unwrap_or(u32::MAX) };
            if self.mark != UNMARKED {
                self.numbered[self.mark as usize].weight = weight;
            }
            if let Some(frame) = self.stack.last_mut() {
                frame.weight.add(weight);
            }
        }
    }

    /// A list or tuple, and where its places begin.
    fn sequence(&mut self, seq: Seq, len: usize) -> Result<(Owned, *mut *mut ffi::PyObject)> {
        // A run is charged with its items: what it takes in memory is at most 40 bytes for each of its own.
        if self.stack.len() >= self.most_deep || self.objects_left <= len || self.bytes_left < 64 + 40 * len {
            return Err(self.over(64 + 40 * len));
        }
        self.objects_left -= len + 1;
        self.bytes_left -= 64 + 40 * len;
        // SAFETY: the GIL is held while a decoder lives; the places are those of the object just made.
        unsafe {
            let object = match seq {
                Seq::List => ffi::PyList_New(len as isize),
                Seq::Tuple => ffi::PyTuple_New(len as isize),
            };
            let object = Owned::new(object).ok_or_else(raised)?;
            let places = match seq {
                Seq::List => (*object.get().cast::<ffi::PyListObject>()).ob_item,
                Seq::Tuple => std::ptr::addr_of_mut!((*object.get().cast::<ffi::PyTupleObject>()).ob_item).cast(),
            };
            Ok((object, places))
        }
    }

    fn floats(&mut self, seq: Seq, run: &[[u8; 8]]) -> Result<Option<Owned>> {
        let (object, places) = self.sequence(seq, run.len())?;
        for (at, &bytes) in run.iter().enumerate() {
            // SAFETY: there are as many places as values, all empty.
            unsafe { *places.add(at) = float::from_value(f64::from_le_bytes(bytes)).ok_or_else(raised)?.into_raw() };
        }
        self.done(Some(object))
    }

    fn ints(&mut self, seq: Seq, run: Ints<'_>) -> Result<Option<Owned>> {
        let (object, places) = self.sequence(seq, run.len())?;
        // SAFETY: there are as many places as values, all empty.
        unsafe {
            match run {
                Ints::I8(run) if run.len() >= 64 => {
                    // Ints have no identity: one object for each value serves the whole run.
                    let mut made: [Option<Owned>; 256] = [const { None }; 256];
                    for (at, &byte) in run.iter().enumerate() {
                        let known = &mut made[usize::from(byte)];
                        let value = match known {
                            Some(value) => value,
                            None => known.insert(int::from_value(i64::from(byte as i8)).ok_or_else(raised)?),
                        };
                        *places.add(at) = value.clone().into_raw();
                    }
                }
                Ints::I8(run) => fill_ints(places, run.iter().map(|&byte| i64::from(byte as i8)))?,
                Ints::I16(run) => fill_ints(places, run.iter().map(|&bytes| i64::from(i16::from_le_bytes(bytes))))?,
                Ints::I32(run) => fill_ints(places, run.iter().map(|&bytes| i64::from(i32::from_le_bytes(bytes))))?,
                Ints::I64(run) => fill_ints(places, run.iter().map(|&bytes| i64::from_le_bytes(bytes)))?,
            }
        }
        self.done(Some(object))
    }

    fn bools(&mut self, seq: Seq, run: &[u8]) -> Result<Option<Owned>> {
        let (object, places) = self.sequence(seq, run.len())?;
        for (at, &byte) in run.iter().enumerate() {
            // SAFETY: there are as many places as values, all empty.
            unsafe {
                let value = if byte == 1 { ffi::Py_True() } else { ffi::Py_False() };
                *places.add(at) = Owned::borrowed(value).into_raw();
            }
        }
        self.done(Some(object))
    }

    fn texts(&mut self, seq: Seq, lengths: &[u8], mut joined: &[u8]) -> Result<Option<Owned>> {
        let (object, places) = self.sequence(seq, lengths.len())?;
        for (at, &len) in lengths.iter().enumerate() {
            let (text, rest) = joined.split_at(usize::from(len));
            joined = rest;
            // SAFETY: there are as many places as values, all empty; the reader has checked that all is ASCII.
            unsafe { *places.add(at) = strings::from_ascii(text).ok_or_else(raised)?.into_raw() };
        }
        self.done(Some(object))
    }

    #[inline(never)]
    fn rare(&mut self, token: Token<'i>) -> Result<Option<Owned>> {
        let here = self.here();
        // SAFETY: the GIL is held while a decoder lives; slices are readable for their lengths.
        unsafe {
            match token {
                Token::Text(bytes) => {
                    let made = text(bytes, here)?;
                    self.done(Some(made))
                }
                Token::BigInt(bytes) => self.done(int::from_bytes(bytes)),
                Token::Complex(real, imag) => self.done(Owned::new(ffi::PyComplex_FromDoubles(real, imag))),
                Token::Bytes(bytes) => {
                    self.done(Owned::new(ffi::PyBytes_FromStringAndSize(bytes.as_ptr().cast(), bytes.len() as isize)))
                }
                Token::ByteArray(bytes) => self
                    .done(Owned::new(ffi::PyByteArray_FromStringAndSize(bytes.as_ptr().cast(), bytes.len() as isize))),
                Token::Ellipsis => self.done(Some(Owned::borrowed(ffi::Py_Ellipsis()))),
                Token::NotImplemented => self.done(Some(Owned::borrowed(ffi::Py_NotImplemented()))),
                Token::Bools(seq, run) => {
                    self.weigh_run(seq, run.len());
                    self.bools(seq, run)
                }
                Token::Texts(seq, lengths, joined) => {
                    self.weigh_run(seq, lengths.len());
                    self.texts(seq, lengths, joined)
                }
                Token::Dict(len) => {
                    let dict = Owned::new(ffi::PyDict_New()).ok_or_else(raised)?;
                    self.begin_pairs(dict, len, true)
                }
                Token::Set(len) => {
                    let set = Owned::new(ffi::PySet_New(std::ptr::null_mut())).ok_or_else(raised)?;
                    self.begin_set(set, len, true)
                }
                Token::FrozenSet(len) => {
                    self.claim(len, 224 + 40 * len)?;
                    let set = Owned::new(ffi::PyFrozenSet_New(std::ptr::null_mut())).ok_or_else(raised)?;
                    let mark = self.take_mark();
                    self.opened(mark, set.get());
                    let frame = Frame::gather(Make::FrozenSet, Some(set), len, mark, here);
                    if len == 0 {
                        return self.make(frame).map(Some);
                    }
                    Ok(self.push(frame))
                }
                Token::DateTime { bits, zoned: false } => {
                    let made = objects::datetime::datetime(bits, ffi::Py_None(), here)?;
                    self.done(Some(made))
                }
                Token::DateTime { bits, zoned: true } => self.zoned(bits),
                Token::Known(known) => self.known(known),
                Token::Buffer { number, readonly } => {
                    let buffer = objects::buffer::take(self, number, readonly, here)?;
                    self.done(Some(buffer))
                }
                Token::Global => self.gather(Make::Global, 2),
                Token::Persistent => self.gather(Make::Persistent, 1),
                Token::Reduce(flags) => {
                    if !objects::reduce::is_sound(flags) {
                        return Err(decode("a recipe with parts that exclude each other", here));
                    }
                    let (made_of, then) = objects::reduce::arity(flags);
                    self.claim(made_of + then, 256)?;
                    let mark = self.take_mark();
                    let make = Make::Recipe { flags, deferred: self.deferred.len() };
                    let frame = Frame::gather(make, None, made_of + then, mark, here);
                    Ok(self.push(Frame { kind: Kind::Reduce, ..frame }))
                }
                _ => Err(decode("a token out of place", here)),
            }
        }
    }

    /// A datetime and its zone, which is almost always UTC or the one of an earlier datetime.
    fn zoned(&mut self, bits: u64) -> Result<Option<Owned>> {
        let before = self.r.offset();
        let zone = match self.r.next()? {
            // SAFETY: the API was imported when the module was; its UTC lives as long as the interpreter.
            Token::Known(Known::Utc) => unsafe { Owned::borrowed(ffi::PyDateTime_TimeZone_UTC()) },
            Token::Reference(number) => self.numbered(number)?,
            _ => {
                self.r.rewind(before);
                return self.gather(Make::DateTime(bits), 1);
            }
        };
        // SAFETY: the zone is held.
        let made = unsafe { objects::datetime::datetime(bits, zone.get(), before)? };
        self.done(Some(made))
    }

    /// Begins to gather what an object is made of.
    pub(super) fn gather(&mut self, make: Make, len: usize) -> Result<Option<Owned>> {
        self.claim(len, 256 + 64 * len)?;
        let mark = self.take_mark();
        let frame = Frame::gather(make, None, len, mark, self.here());
        if len == 0 {
            return self.make(frame).map(Some);
        }
        Ok(self.push(frame))
    }

    fn begin_pairs(&mut self, dict: Owned, len: usize, hand_over: bool) -> Result<Option<Owned>> {
        self.claim(2 * len, 64 + 48 * len)?;
        let mark = self.take_mark();
        self.opened(mark, dict.get());
        if len == 0 {
            self.whole(mark, dict.get());
            return Ok(hand_over.then_some(dict));
        }
        let frame = self.frame(Kind::Pairs, Some(dict), 2 * len, mark);
        Ok(self.push(Frame { hand_over, ..frame }))
    }

    fn begin_set(&mut self, set: Owned, len: usize, hand_over: bool) -> Result<Option<Owned>> {
        self.claim(len, 224 + 40 * len)?;
        let mark = self.take_mark();
        self.opened(mark, set.get());
        if len == 0 {
            self.whole(mark, set.get());
            return Ok(hand_over.then_some(set));
        }
        let frame = self.frame(Kind::Set, Some(set), len, mark);
        Ok(self.push(Frame { hand_over, ..frame }))
    }

    fn known(&mut self, known: Known) -> Result<Option<Owned>> {
        match known {
            // SAFETY: as in `zoned`.
            Known::Utc => unsafe { self.done(Some(Owned::borrowed(ffi::PyDateTime_TimeZone_UTC()))) },
            Known::Deque => {
                let here = self.here();
                let most = self.r.next()?;
                let deque = objects::collections::deque(self.py, most, here)?;
                let mark = self.take_mark();
                self.opened(mark, deque.get());
                match self.r.next()? {
                    Token::List(len) => {
                        self.claim(len, 640 + 8 * len)?;
                        if len == 0 {
                            self.whole(mark, deque.get());
                            return Ok(Some(deque));
                        }
                        let frame = self.frame(Kind::Append, Some(deque), len, mark);
                        Ok(self.push(frame))
                    }
                    _ => Err(decode("expected the list of a deque's items", self.here())),
                }
            }
            Known::OrderedDict | Known::Counter => {
                let dict = objects::collections::empty(self.py, known)?;
                self.dict_body(dict)
            }
            Known::DefaultDict => {
                let dict = objects::collections::empty(self.py, known)?;
                self.claim(1, 256)?;
                let mark = self.take_mark();
                self.opened(mark, dict.get());
                let frame = self.frame(Kind::Factory, Some(dict), 1, mark);
                Ok(self.push(frame))
            }
            Known::NdArray => self.array(),
            Known::NumpyScalar => self.numpy_scalar(),
            Known::NumpyDtype => self.numpy_dtype(),
            _ => self.gather(Make::Known(known), objects::arity(known)),
        }
    }

    /// The items of a dict that was made before.
    fn dict_body(&mut self, dict: Owned) -> Result<Option<Owned>> {
        match self.r.next()? {
            Token::Dict(len) => self.begin_pairs(dict, len, true),
            _ => Err(decode("expected the dict of a mapping's items", self.here())),
        }
    }

    /// The items of a default dict whose factory is there: its frame's object, mark and all, go on as a dict's.
    pub(super) fn default_dict(&mut self, dict: Owned, mark: u32, hand_over: bool) -> Result<Option<Owned>> {
        match self.r.next()? {
            Token::Dict(len) => {
                self.mark = mark;
                let depth = self.stack.len();
                let done = self.begin_pairs(dict, len, hand_over)?;
                if let Some(frame) = self.stack.get_mut(depth) {
                    frame.flags = DEFAULT_DICT;
                }
                Ok(done)
            }
            _ => Err(decode("expected the dict of a mapping's items", self.here())),
        }
    }

    /// An instance of a layout: its values follow.
    #[inline(always)]
    fn instance(&mut self, layout: &Rc<Layout>) -> Result<Option<Owned>> {
        let len = layout.names.len();
        match &layout.build {
            Build::Dict => self.dict(layout, len),
            Build::Slots { class, offsets } => {
                self.claim(len, layout.bytes)?;
                // SAFETY: the GIL is held; the class is held by the layout's plan's registration, module or options.
                let object = unsafe { allocate(*class, 0)? };
                let mark = self.take_mark();
                self.opened(mark, object.get());
                for (at, &offset) in offsets.iter().enumerate() {
                    let before = self.r.offset();
                    let token = self.r.next()?;
                    let Some(value) = self.field(token)? else {
                        self.r.rewind(before);
                        let frame = self.frame(Kind::Fields, Some(object), len, mark);
                        return Ok(self.push(Frame { at, layout: Some(layout.clone()), ..frame }));
                    };
                    // SAFETY: a slot of a fresh instance of the class that its offset was read from.
                    unsafe { *crate::class::state::slot_mut(object.get(), offset) = value.into_raw() };
                }
                self.whole(mark, object.get());
                Ok(Some(object))
            }
            _ => self.other_instance(layout, len),
        }
    }

    /// A dict of known keys.
    #[inline(always)]
    fn dict(&mut self, layout: &Rc<Layout>, len: usize) -> Result<Option<Owned>> {
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
                return Ok(self.push(Frame { layout: Some(layout.clone()), ..frame }));
            };
            let dict = Owned::new(ffi::PyDict_Copy(template.get())).ok_or_else(raised)?;
            let mark = self.take_mark();
            self.opened(mark, dict.get());
            for at in 0..len {
                let before = self.r.offset();
                let token = self.r.next()?;
                let Some(value) = self.field(token)? else {
                    self.r.rewind(before);
                    let frame = self.frame(Kind::Copied, Some(dict), len, mark);
                    return Ok(self.push(Frame { at, layout: Some(layout.clone()), ..frame }));
                };
                crate::cpython::replace(dict::value_slot(dict.get(), at), value.into_raw());
            }
            self.whole(mark, dict.get());
            Ok(Some(dict))
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
                    crate::class::state::set_dict(object.get(), dict.clone())?;
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
            Build::Upgraded { plan } => {
                self.claim(len, layout.bytes)?;
                // SAFETY: the GIL is held; named tuples are made of their parts, all others exist before.
                let object = unsafe {
                    if is_tuple(plan.class()) {
                        None
                    } else {
                        Some(plan.fresh()?)
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
            Build::Enum => self.gather(Make::Enum(layout.clone()), 1),
            Build::Custom => self.gather(Make::Custom(layout.clone()), 1),
            Build::Record => {
                let len = len + usize::from(layout.kind != LayoutKind::Object);
                self.claim(len, layout.bytes)?;
                let record = objects::record::empty(self.py, layout)?;
                let mark = self.take_mark();
                self.opened(mark, record.get());
                let frame = Frame::gather(Make::Record(layout.clone()), Some(record), len, mark, self.here());
                if len == 0 {
                    return self.make(frame).map(Some);
                }
                Ok(self.push(frame))
            }
            Build::Dict | Build::Slots { .. } => Err(decode("a layout out of place", self.here())),
        }
    }

    /// A subclass of a builtin: the builtin's value comes first, then the fields.
    fn based(&mut self, layout: &Rc<Layout>, class: *mut ffi::PyTypeObject, base: Base) -> Result<Option<Owned>> {
        let fields = layout.names.len();
        let here = self.here();
        // SAFETY: the GIL is held; empty instances are made by the builtin's own constructor.
        unsafe {
            match base {
                Base::List | Base::Dict | Base::OrderedDict | Base::Set | Base::ByteArray | Base::Tuple => {}
                Base::DefaultDict | Base::Deque => {}
                Base::Exception if !objects::exception::is_of_parts(self.py, class)? => {
                    self.claim(fields + 1, layout.bytes + 256)?;
                    let object = objects::exception::empty(self.py, class, None, here)?;
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
            let token = self.r.next()?;
            let (object, len) = match (base, token) {
                (Base::List, Token::List(len)) => {
                    self.claim(len, 8 * len)?;
                    let object = objects::new_of(base, class, None)?;
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
                (Base::DefaultDict, Token::Known(Known::DefaultDict)) => {
                    (objects::collections::empty_of(self.py, Known::DefaultDict, class, None)?, 1)
                }
                (Base::Deque, Token::Known(Known::Deque)) => {
                    let most = match self.r.next()? {
                        Token::Int(most) if most >= 0 => Some(most),
                        Token::None => None,
                        _ => return Err(decode("expected the maxlen of a deque", here)),
                    };
                    let Token::List(len) = self.r.next()? else {
                        return Err(decode("expected the list of a deque's items", here));
                    };
                    self.claim(len, 640 + 8 * len)?;
                    (objects::collections::empty_of(self.py, Known::Deque, class, most)?, len)
                }
                (Base::Dict | Base::OrderedDict, Token::Dict(len)) | (Base::Set, Token::Set(len)) => {
                    (objects::new_of(base, class, None)?, len)
                }
                (Base::ByteArray, Token::ByteArray(bytes)) => {
                    let payload =
                        Owned::new(ffi::PyByteArray_FromStringAndSize(bytes.as_ptr().cast(), bytes.len() as isize))
                            .ok_or_else(raised)?;
                    (objects::new_of(base, class, Some(payload))?, 0)
                }
                _ => return Err(decode("expected the content of a subclass of a builtin", here)),
            };
            let mark = self.take_mark();
            self.opened(mark, object.get());
            let frame = self.frame(Kind::Fields, Some(object.clone()), fields, mark);
            // The fields below, the content above: what is on top is built first.
            self.push(Frame { layout: Some(layout.clone()), ..frame });
            match base {
                Base::List | Base::Tuple if len > 0 => {
                    let kind = if base == Base::List { Kind::List } else { Kind::Tuple };
                    let frame = self.frame(kind, Some(object), len, UNMARKED);
                    self.push(Frame { hand_over: false, ..frame });
                }
                Base::Dict | Base::OrderedDict => {
                    self.begin_pairs(object, len, false)?;
                }
                Base::Set => {
                    self.begin_set(object, len, false)?;
                }
                Base::DefaultDict => {
                    let frame = self.frame(Kind::Factory, Some(object), 1, UNMARKED);
                    self.push(Frame { hand_over: false, ..frame });
                }
                Base::Deque if len > 0 => {
                    let frame = self.frame(Kind::Append, Some(object), len, UNMARKED);
                    self.push(Frame { hand_over: false, ..frame });
                }
                _ => {}
            }
        }
        Ok(None)
    }
}

/// Makes an int for each value, in order.
///
/// # Safety
/// `places` are as many as values, all empty; the GIL is held.
#[inline(always)]
unsafe fn fill_ints(places: *mut *mut ffi::PyObject, values: impl Iterator<Item = i64>) -> Result<()> {
    for (at, value) in values.enumerate() {
        // SAFETY: as the caller says.
        unsafe { *places.add(at) = int::from_value(value).ok_or_else(raised)?.into_raw() };
    }
    Ok(())
}

/// A fresh instance, by its class's allocator: no `__new__`, no `__init__`.
///
/// # Safety
/// The GIL is held; `class` is alive, and laid out as its plan says.
#[inline(always)]
pub(super) unsafe fn allocate(class: *mut ffi::PyTypeObject, items: isize) -> Result<Owned> {
    // SAFETY: alive, says the caller; every class has an allocator.
    unsafe {
        match (*class).tp_alloc {
            Some(alloc) => Owned::new(alloc(class, items)).ok_or_else(raised),
            None => Err(refused("a class without an allocator", 0)),
        }
    }
}

/// # Safety
/// `class` is alive.
pub(super) unsafe fn is_tuple(class: *mut ffi::PyTypeObject) -> bool {
    // SAFETY: alive, says the caller.
    unsafe { ffi::PyType_HasFeature(class, ffi::Py_TPFLAGS_TUPLE_SUBCLASS) != 0 }
}

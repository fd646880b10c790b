//! Instances of a schema's classes, whose fields are set directly: by position if the message has shapes, otherwise key
//! by key, in the expected order first.

use super::super::frame::{Frame, Kind, Seen};
use super::super::run::CHANGED;
use super::super::Decoder;
use super::shapes::unknown;
use crate::budget::hash_cost::HashCost;
use crate::classes::state::{allocate, set_attribute, slot_mut};
use crate::cpython::{replace, text, Obj, Owned, Type};
use crate::decode::dialect::Dialect;
use crate::error::{decode, invalid, raised, refused, Fault, Result, Step};
use crate::memory::Vec;
use crate::schema::class::{utf8, Class};
use crate::schema::node::accepts;
use crate::schema::ANY;
use crate::shapes::typed::{Expected, FieldPlaces, Slot, StoredBy, Typed, SKIPPED, TAG};
use crate::shapes::{put, Build, Place, Shape};
use holdall_format::model::Bytes;
use holdall_format::{Reader, Token};
use pyo3::ffi;
use std::rc::Rc;

impl<'i, D: Dialect<'i>> Decoder<'i, D> {
    pub(crate) fn class(&self, index: u32) -> Result<&'i Class> {
        match self.rules.schema.and_then(|schema| schema.classes.get(index as usize)) {
            Some(class) => Ok(class),
            None => Err(decode("a class that the type does not name", self.here())),
        }
    }

    /// Starts an instance of a schema's class; `len` values or pairs follow.
    #[inline]
    pub(crate) fn begin_typed(&mut self, shape: &Rc<Shape>, len: usize) -> Result<Option<Owned>> {
        if let (Build::Typed(Typed { slots: Some(slots), .. }), Some(plan)) = (&shape.build, &shape.plan) {
            return self.begin_slots(shape, slots, plan.class());
        }
        self.begin_other(shape, len)
    }

    #[inline]
    pub(crate) fn begin_slots(&mut self, shape: &Rc<Shape>, slots: &[Slot], class: Type) -> Result<Option<Owned>> {
        self.claim(slots.len(), shape.bytes)?;
        // SAFETY: the GIL is held; the schema holds the class. Only classes whose instances are just slots get here.
        let object = unsafe { allocate(class, 0)? };
        let object_id = self.take_id();
        self.opened(object_id, object.get());
        for (at, slot) in slots.iter().enumerate() {
            let before = self.r.offset();
            match self.field(slot.node, slot.accepts) {
                // SAFETY: `object` is a new instance of the class that the offset was read from; its slot is empty.
                Ok(Some(value)) => unsafe { *slot_mut(object.get(), slot.offset as usize) = value.into_raw() },
                Ok(None) => {
                    let frame = Frame::new(Kind::Typed, Some(object), slots.len(), object_id, self.start);
                    return Ok(self.push(Frame { at, shape: Some(shape.clone()), ..frame }));
                }
                Err(fault) => return Err(self.at_position(shape, at, fault, before)),
            }
        }
        self.whole(object_id, object.get());
        self.cost_of_whole(&object, HashCost::default(), slots.len(), object_id);
        Ok(Some(object))
    }

    #[cold]
    #[inline(never)]
    pub(crate) fn at_position(&self, shape: &Shape, at: usize, fault: Fault, before: usize) -> Fault {
        match &shape.build {
            Build::Typed(typed) => self.at_field(typed, typed.steps[at].field, fault, before),
            _ => fault,
        }
    }

    #[inline(never)]
    pub(crate) fn begin_other(&mut self, shape: &Rc<Shape>, len: usize) -> Result<Option<Owned>> {
        let Build::Typed(typed) = &shape.build else { return Err(decode(CHANGED, self.here())) };
        let values = if typed.form == StoredBy::Keys { 2 * len } else { len };
        let (class, object, object_id) = self.begun(shape, typed, values)?;
        let mut frame = Frame::new(Kind::Typed, None, values, object_id, self.start);
        let whole = match typed.form {
            StoredBy::Positions => self.positions(typed, object.get(), &mut frame)?,
            StoredBy::Keys => self.keys(typed, class, object.get(), &mut frame, usize::MAX)?,
        };
        if !whole {
            let frame = Frame { object: Some(object), shape: Some(shape.clone()), ..frame };
            return Ok(self.push(frame));
        }
        self.after_last(typed, class, &object, frame.seen)?;
        self.whole(object_id, object.get());
        self.cost_of_whole(&object, HashCost::default(), shape.names.len(), object_id);
        Ok(Some(object))
    }

    /// Starts an instance whose pairs end at the offset `end`; they are counted only if a value needs a frame.
    #[inline(never)]
    pub(crate) fn begin_uncounted(&mut self, shape: &Rc<Shape>, end: usize) -> Result<Option<Owned>> {
        let Build::Typed(typed) = &shape.build else { return Err(decode(CHANGED, self.here())) };
        let (class, object, object_id) = self.begun(shape, typed, 0)?;
        let mut frame = Frame::new(Kind::Typed, None, usize::MAX, object_id, self.start);
        let whole = self.keys(typed, class, object.get(), &mut frame, end)?;
        self.bounds.objects = self.bounds.objects.checked_sub(frame.at).ok_or_else(|| self.over(0))?;
        if !whole || self.r.offset() != end {
            let left = 2 * self.count(end)?;
            self.claim(left, 0)?;
            let frame = Frame { object: Some(object), shape: Some(shape.clone()), len: frame.at + left, ..frame };
            return Ok(self.push(frame));
        }
        self.after_last(typed, class, &object, frame.seen)?;
        self.whole(object_id, object.get());
        self.cost_of_whole(&object, HashCost::default(), shape.names.len(), object_id);
        Ok(Some(object))
    }

    /// A new instance with its defaults, and its id.
    #[inline]
    fn begun(&mut self, shape: &Shape, typed: &Typed, values: usize) -> Result<(&'i Class, Owned, u32)> {
        if let Some(why) = &typed.refusal {
            return Err(invalid(why));
        }
        let class = self.class(typed.class)?;
        self.claim(values, shape.bytes)?;
        let object = self.fresh(typed, class, shape)?;
        let object_id = self.take_id();
        self.opened(object_id, object.get());
        self.fill_defaults(typed, class, &object, false)?;
        Ok((class, object, object_id))
    }

    pub(crate) fn fresh(&self, typed: &Typed, class: &Class, shape: &Shape) -> Result<Owned> {
        // SAFETY: the GIL is held while a decoder lives; the schema holds the class.
        let object = unsafe {
            match (typed.way, &shape.plan) {
                (FieldPlaces::Slots, Some(plan)) => allocate(plan.class(), 0)?,
                (FieldPlaces::Tuple, Some(plan)) => allocate(plan.class(), class.fields.len() as isize)?,
                (FieldPlaces::Instance, Some(plan)) => plan.fresh()?,
                _ => Owned::new(ffi::PyDict_New()).ok_or_else(raised)?,
            }
        };
        if let Some(method) = &class.pre_init {
            self.call_method(&object, method, &[])?;
        }
        Ok(object)
    }

    /// Reads values by position. `true`: all have come; `false`: the next one needs a frame.
    #[inline]
    pub(crate) fn positions(&mut self, typed: &Typed, object: Obj, frame: &mut Frame<D::Make>) -> Result<bool> {
        while let Some(member) = typed.steps.get(frame.at) {
            if member.field == TAG {
                self.check_tag(typed)?;
            } else if member.field == SKIPPED {
                self.skip()?;
            } else {
                let before = self.r.offset();
                match self.field(member.node, member.accepts) {
                    // SAFETY: the caller holds `object`, which `fresh` created as an instance of the places' class.
                    Ok(Some(value)) => unsafe { place(object, &member.place, value, before)? },
                    Ok(None) => return Ok(false),
                    Err(fault) => return Err(self.at_field(typed, member.field, fault, before)),
                }
            }
            frame.at += 1;
        }
        Ok(true)
    }

    #[cold]
    #[inline(never)]
    pub(crate) fn at_field(&self, typed: &Typed, field: u16, fault: Fault, before: usize) -> Fault {
        match self.step_of_field(typed, field) {
            Some(step) => fault.found(before).within(|| step),
            None => fault,
        }
    }

    pub(crate) fn step_of_field(&self, typed: &Typed, field: u16) -> Option<Step> {
        let class = self.class(typed.class).ok()?;
        if field == TAG {
            return class.tag.as_ref().map(|(tag, _)| Step::Field(tag.clone()));
        }
        class
            .fields
            .get(field as usize)
            .map(|field| Step::Field(if self.rules.schemaless { field.key.clone() } else { field.name.clone() }))
    }

    /// Reads pairs. `true`: all have come; `false`: a value needs a frame, and its key has to be read again.
    #[inline]
    pub(crate) fn keys(
        &mut self,
        typed: &Typed,
        class: &Class,
        object: Obj,
        frame: &mut Frame<D::Make>,
        end: usize,
    ) -> Result<bool> {
        while frame.at < frame.len && (self.r.extents().is_none() || self.r.offset() < end) {
            let before = self.r.place();
            let mut next = frame.next;
            let field = self.key(typed, class, &mut next)?;
            if field >= TAG {
                self.unwanted(class, field)?;
                frame.at += 2;
                frame.next = next;
                continue;
            }
            let member = &typed.steps[field as usize];
            let here = self.r.offset();
            match self.field(member.node, member.accepts) {
                // SAFETY: the caller holds `object`, which `fresh` created as an instance of the places' class.
                Ok(Some(value)) => unsafe { place(object, &member.place, value, here)? },
                Ok(None) => {
                    self.r.rewind(before);
                    return Ok(false);
                }
                Err(fault) => return Err(self.at_field(typed, field, fault, here)),
            }
            frame.seen.add(field as usize);
            frame.next = next;
            frame.at += 2;
        }
        Ok(true)
    }

    /// The field that the next key means. `next`: where in `typed.order` the key is expected.
    #[inline]
    pub(crate) fn key(&mut self, typed: &Typed, class: &Class, next: &mut u16) -> Result<u16> {
        {
            let order = typed.order.borrow();
            // One or two keys may be missing this time.
            let ahead = order.get(usize::from(*next)..).unwrap_or_default();
            for (passed, expected) in (0..3).zip(ahead) {
                if self.r.accept(&expected.encoded) {
                    *next += passed + 1;
                    return Ok(expected.field);
                }
            }
        }
        self.other_key(typed, class, next)
    }

    /// Inserts a key into the expected order where it came unexpectedly.
    fn learn_key(&self, typed: &Typed, name: &[u8], field: u16, next: &mut u16) {
        const MOST: usize = 256;
        const LONGEST: usize = 64;
        let mut order = typed.order.borrow_mut();
        // A message with ever new keys must not spoil the order for later ones.
        if order.len() == MOST {
            order.clear();
            *next = 0;
        }
        if name.len() <= LONGEST && name.is_ascii() {
            let at = usize::from(*next).min(order.len());
            order.insert(at, Expected { encoded: D::Reader::encoded(name), field });
            *next = at as u16 + 1;
        }
    }

    #[inline(never)]
    pub(crate) fn other_key(&mut self, typed: &Typed, class: &Class, next: &mut u16) -> Result<u16> {
        let before = self.r.place();
        let held;
        self.r.key();
        let start = self.r.start();
        let name = match self.r.token()? {
            Token::Text(Bytes::Ascii(name) | Bytes::StrictUtf8(name)) => name,
            Token::AssignId | Token::Reference(_) | Token::Text(_) => {
                // In hold, a key may be shared, or have wide characters.
                self.r.rewind(before);
                match self.value(ANY, accepts::ALL)? {
                    // SAFETY: `name` is an owned reference.
                    Some(name) if unsafe { text::is(name.get()) } => {
                        held = utf8(&name)?;
                        &held[..]
                    }
                    _ => return Err(invalid("Expected `str`").found(start)),
                }
            }
            _ => {
                self.r.rewind(before);
                self.skip()?;
                if class.forbid_unknown {
                    return Err(invalid("Object contains a key that is no `str`").found(start));
                }
                return Ok(SKIPPED);
            }
        };
        if let Some(&field) = class.by_key.get(name) {
            self.learn_key(typed, name, field as u16, next);
            return Ok(field as u16);
        }
        if let Some((tag, _)) = &class.tag {
            if utf8(tag)? == name {
                return Ok(TAG);
            }
        }
        if class.forbid_unknown && !class.is_version(name)? {
            return Err(invalid(unknown(name)).found(start));
        }
        self.learn_key(typed, name, SKIPPED, next);
        Ok(SKIPPED)
    }

    /// Handles the value of a key without a field: checks a tag, skips anything else.
    pub(crate) fn unwanted(&mut self, class: &Class, field: u16) -> Result<()> {
        if field != TAG {
            return self.skip();
        }
        let before = self.r.offset();
        let found = self.schemaless_value()?;
        self.same_tag(class, found.as_ref()).map_err(|fault| fault.found(before))
    }

    pub(crate) fn same_tag(&self, class: &Class, found: Option<&Owned>) -> Result<()> {
        let Some((tag, wanted)) = &class.tag else { return Ok(()) };
        let mut same = 0;
        for wanted in std::iter::once(wanted).chain(&class.other_tags) {
            if let (Some(found), 0) = (found, same) {
                // SAFETY: the caller holds `found`, and the class its tags.
                same = unsafe { ffi::PyObject_RichCompareBool(found.get(), wanted.get(), ffi::Py_EQ) };
            }
        }
        if same < 0 {
            return Err(raised());
        }
        if same == 0 {
            let fault = invalid(class.wrong_tag());
            // An array-like value has no names.
            return Err(if class.array_like { fault } else { fault.within(|| Step::Field(tag.clone())) });
        }
        Ok(())
    }

    /// An instance from finished values, in the order of a shape.
    pub(crate) fn instance_of(&mut self, shape: &Rc<Shape>, values: Vec<Owned>) -> Result<Owned> {
        let here = self.here();
        let Build::Typed(typed) = &shape.build else { return Err(decode(CHANGED, here)) };
        let class = self.class(typed.class)?;
        self.claim(0, shape.bytes)?;
        let object = self.fresh(typed, class, shape)?;
        let object_id = self.take_id();
        self.opened(object_id, object.get());
        self.fill_defaults(typed, class, &object, false)?;
        for (at, (member, value)) in typed.steps.iter().zip(values).enumerate() {
            if member.field == TAG {
                self.same_tag(class, Some(&value)).map_err(|fault| fault.found(here))?;
            } else if member.field != SKIPPED {
                let value = self.rules.coerce(member.node, value).map_err(|fault| fault.within(|| Step::Index(at)))?;
                // SAFETY: `object` was created above as an instance of the class that the places were found for.
                unsafe { place(object.get(), &member.place, value, here)? };
            }
        }
        self.after_last(typed, class, &object, Seen::default())?;
        self.whole(object_id, object.get());
        Ok(object)
    }

    fn check_tag(&mut self, typed: &Typed) -> Result<()> {
        let class = self.class(typed.class)?;
        self.unwanted(class, TAG)
    }

    /// Resumes the frame of an instance, until a value needs a frame of its own.
    pub(crate) fn run_typed(&mut self) -> Result<Option<Frame<D::Make>>> {
        let depth = self.tables.stack.len();
        let top = &mut self.tables.stack[depth - 1];
        let (Some(object), Some(shape)) = (top.object.clone(), top.shape.clone()) else {
            return Err(decode(CHANGED, self.here()));
        };
        let Build::Typed(typed) = &shape.build else { return Err(decode(CHANGED, self.here())) };
        let class = self.class(typed.class)?;
        loop {
            let top = &mut self.tables.stack[depth - 1];
            if top.at >= top.len {
                return Ok(self.pop());
            }
            let before = self.r.offset();
            let field = match typed.form {
                StoredBy::Positions => typed.steps[top.at].field,
                StoredBy::Keys => {
                    let mut next = top.next;
                    self.bounds.owed -= 1;
                    let field = self.key(typed, class, &mut next);
                    let top = &mut self.tables.stack[depth - 1];
                    top.next = next;
                    field.inspect_err(|_| top.field = SKIPPED)?
                }
            };
            self.bounds.owed -= 1;
            let top = &mut self.tables.stack[depth - 1];
            top.field = field;
            if field >= TAG {
                match typed.form {
                    StoredBy::Positions => {
                        top.at += 1;
                        top.field = SKIPPED;
                        self.unwanted(class, field)?;
                    }
                    StoredBy::Keys => {
                        top.at += 2;
                        top.field = SKIPPED;
                        self.unwanted(class, field)?;
                    }
                }
                continue;
            }
            let member = match typed.form {
                StoredBy::Positions => &typed.steps[top.at],
                StoredBy::Keys => &typed.steps[field as usize],
            };
            match self.value(member.node, member.accepts)? {
                Some(value) => {
                    // SAFETY: `object` is a reference of our own to an instance of the places' class.
                    unsafe { place(object.get(), &member.place, value, before)? };
                    self.field_done(depth, typed.form, field);
                }
                None => return Ok(None),
            }
        }
    }

    pub(crate) fn field_done(&mut self, depth: usize, form: StoredBy, field: u16) {
        let top = &mut self.tables.stack[depth - 1];
        match form {
            StoredBy::Positions => top.at += 1,
            StoredBy::Keys => {
                top.seen.add(field as usize);
                top.at += 2;
            }
        }
    }

    /// Stores a field's value that had a frame of its own.
    pub(crate) fn deliver_field(&mut self, value: Owned) -> Result<()> {
        let here = self.here();
        let depth = self.tables.stack.len();
        let Some(Frame { object: Some(object), shape: Some(shape), field, at, .. }) = self.tables.stack.last_mut()
        else {
            return Err(decode(CHANGED, here));
        };
        let Build::Typed(typed) = &shape.build else { return Err(decode(CHANGED, here)) };
        // `deliver` has advanced `at` past the value already.
        let index = if typed.form == StoredBy::Positions { *at - 1 } else { *field as usize };
        *at -= 1;
        // SAFETY: the frame holds `object`, an instance of the class that the places were found for.
        unsafe { place(object.get(), &typed.steps[index].place, value, here)? };
        let (form, field) = (typed.form, *field);
        self.field_done(depth, form, field);
        Ok(())
    }

    pub(crate) fn finish_typed(&mut self, frame: Frame<D::Make>) -> Result<Owned> {
        let (Some(object), Some(shape)) = (&frame.object, &frame.shape) else {
            return Err(decode(CHANGED, frame.offset));
        };
        let Build::Typed(typed) = &shape.build else { return Err(decode(CHANGED, frame.offset)) };
        let class = self.class(typed.class)?;
        self.after_last(typed, class, object, frame.seen).map_err(|fault| fault.found(frame.offset))?;
        self.whole(frame.object_id, object.get());
        Ok(object.clone())
    }
}

/// Stores a value into its place, which is usually a slot.
///
/// # Safety
/// `object` is alive, and an instance of the class that the place was found for.
#[inline]
pub(crate) unsafe fn place(object: Obj, place: &Place, value: Owned, at: usize) -> Result<()> {
    // SAFETY: by contract the offset was read from the class of `object`, so the slot is within the instance.
    unsafe {
        match place {
            Place::Slot(offset) => {
                replace(slot_mut(object, *offset), value.into_raw());
                Ok(())
            }
            // The place was found when the type was read, and the class may have got a property of that name since.
            Place::Attribute(name) => match set_attribute(object, name.get(), value) {
                true => Ok(()),
                false => Err(refused("an attribute can't be set", at)),
            },
            _ => put(object, place, value, at),
        }
    }
}

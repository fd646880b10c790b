//! Instances of a schema's classes, straight into their fields: by position where the message has layouts, else key by
//! key, the expected one first.

use super::frame::{Frame, Kind, Seen, MOST_SEEN};
use super::layout::{places, put, Build, Layout, Place};
use super::run::CHANGED;
use super::Decoder;
use crate::class::plan;
use crate::class::state::{allocate, slot_mut};
use crate::cpython::{replace, text, Obj, Owned, Type};
use crate::error::{decode, invalid, raised, Fault, Result, Step};
use crate::schema::class::{Class, ClassKind, Field, Missing};
use crate::schema::node::accepts;
use crate::schema::{NodeId, ANY};
use holdall_format::model::{Bytes, LayoutKind};
use holdall_format::{Reader, Token};
use pyo3::ffi;
use std::rc::Rc;

/// A stored value that no field takes.
const SKIPPED: u16 = u16::MAX;
/// The value that tells which class of several it is.
const TAG: u16 = u16::MAX - 1;

/// How a class of the schema is built of what is stored.
#[derive(Debug)]
pub struct Typed {
    /// An index in the schema's classes.
    pub class: u32,
    way: Way,
    form: Form,
    /// By position: for each stored value. By key: for each field.
    steps: Vec<Member>,
    /// By position: the fields that were not stored.
    missing: Vec<u16>,
    /// Why no instance can be built of this layout.
    refusal: Option<String>,
    /// The usual case, which has a loop of its own: by position, every stored value into a slot, nothing to do after.
    slots: Option<Box<[Slot]>>,
}

#[derive(Debug)]
struct Slot {
    offset: u32,
    accepts: u32,
    node: NodeId,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Form {
    Positions,
    Keys,
}

/// Where the fields are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Way {
    /// In slots, all of them.
    Slots,
    /// In slots or in `__dict__`.
    Instance,
    Tuple,
    Dict,
}

#[derive(Debug)]
struct Member {
    field: u16,
    node: NodeId,
    accepts: u32,
    place: Place,
    /// The key as the format writes it.
    encoded: Box<[u8]>,
}

impl Member {
    /// A value that no field takes.
    fn passed_over(field: u16) -> Member {
        Member { field, node: ANY, accepts: 0, place: Place::Nowhere, encoded: Box::default() }
    }
}

impl<'i, R: Reader<'i>> Decoder<'i, R> {
    fn class(&self, index: u32) -> Result<&'i Class> {
        match self.rules.schema.and_then(|schema| schema.classes.get(index as usize)) {
            Some(class) => Ok(class),
            None => Err(decode("a class that the type does not name", self.here())),
        }
    }

    /// The layout by which instances of a class are built key by key.
    pub(super) fn members_layout(&mut self, index: u32) -> Result<Rc<Layout>> {
        let Some(schema) = self.rules.schema else { return Err(decode(CHANGED, self.here())) };
        if let Some(known) = schema.shelf.members(self.py, index) {
            return Ok(known);
        }
        let class = self.class(index)?;
        let names: Vec<Owned> = class.fields.iter().map(|field| field.name.clone()).collect();
        let mut layout = Layout::empty(names);
        let (way, places) = self.way(class, &mut layout)?;
        let mut steps = Vec::with_capacity(places.len());
        for ((at, field), place) in (0..).zip(&class.fields).zip(places) {
            // SAFETY: a string that is held.
            let encoded = unsafe { text::ascii(field.key.get()) }.map(R::encoded).unwrap_or_default();
            let accepts = self.rules.node(field.node).accepts;
            steps.push(Member { field: at, node: field.node, accepts, place, encoded: encoded.into() });
        }
        layout.build =
            Build::Typed(Typed { class: index, way, form: Form::Keys, steps, missing: Vec::new(), refusal: None, slots: None });
        let layout = Rc::new(layout);
        schema.shelf.keep_members(self.py, index, &layout);
        Ok(layout)
    }

    /// The layout by which instances of a class are built of what `stored` says, position by position.
    pub(super) fn positions_layout(&mut self, stored: &Rc<Layout>, index: u32) -> Result<Rc<Layout>> {
        let Some(schema) = self.rules.schema else { return Err(decode(CHANGED, self.here())) };
        if let Some(known) = stored.matched_with(schema.serial, index) {
            return Ok(known);
        }
        let class = self.class(index)?;
        let of_dict = stored.kind == LayoutKind::Dict;
        let mut names = stored.names.clone();
        let mut layout = stored.like(Build::Unresolved, class.fields.iter().map(|field| field.name.clone()).collect());
        let (way, places) = self.way(class, &mut layout)?;
        if let (false, Some(plan)) = (of_dict, &layout.plan) {
            plan.rename(&mut names);
        }
        let mut places: Vec<Option<Place>> = places.into_iter().map(Some).collect();
        let mut refusal = None;
        let by = if of_dict { &class.by_key } else { &class.by_name };
        let mut steps = Vec::with_capacity(names.len());
        for name in &names {
            let bytes = crate::schema::class::utf8(name)?;
            let field = by.get(&bytes).map(|&field| field as u16);
            let place = field.and_then(|field| places[field as usize].take());
            let tag = of_dict && class.tag.as_ref().is_some_and(|(tag, _)| crate::schema::class::utf8(tag).is_ok_and(|tag| tag == bytes));
            let (field, place) = match (field, place) {
                (Some(field), Some(place)) => (field, place),
                _ if tag => (TAG, Place::Nowhere),
                _ => {
                    if class.forbid_unknown && refusal.is_none() {
                        refusal = Some(unknown(&bytes));
                    }
                    (SKIPPED, Place::Nowhere)
                }
            };
            let node = class.fields.get(field as usize).map_or(ANY, |field| field.node);
            let accepts = self.rules.node(node).accepts;
            steps.push(Member { field, node, accepts, place, encoded: Box::default() });
        }
        let missing: Vec<u16> = (0..class.fields.len() as u16).filter(|&field| places[field as usize].is_some()).collect();
        let absent = missing.iter().find(|&&field| matches!(class.fields[field as usize].missing, Missing::Refused));
        if let Some(&field) = absent {
            refusal.get_or_insert(lacking(class, field)?);
        }
        let slots = slots_of(class, way, &steps).filter(|_| missing.is_empty() && refusal.is_none());
        layout.build = Build::Typed(Typed { class: index, way, form: Form::Positions, steps, missing, refusal, slots });
        let layout = Rc::new(layout);
        let mut matched = stored.matched.borrow_mut();
        // Schemas come and go; those in use find their way back in.
        if matched.len() >= 8 {
            matched.remove(0);
        }
        matched.push((schema.serial, index, layout.clone()));
        Ok(layout)
    }

    /// The layout by which instances of a class are built of `len` values in the order of its fields.
    pub(super) fn order_layout(&mut self, index: u32, len: usize) -> Result<Rc<Layout>> {
        let members = self.members_layout(index)?;
        let Some(schema) = self.rules.schema else { return Err(decode(CHANGED, self.here())) };
        // Beside the layout by keys, under the count of values: there are few of these.
        let key = (u64::from(index) << 32 | len as u64) ^ schema.serial << 48;
        if let Some((_, _, known)) = members.matched.borrow().iter().find(|(known, _, _)| *known == key) {
            return Ok(known.clone());
        }
        let class = self.class(index)?;
        let mut layout = Layout::empty(members.names.clone());
        let (way, places) = self.way(class, &mut layout)?;
        let fields = class.fields.len();
        let tagged = class.tag.is_some() && class.kind == ClassKind::Fields;
        let mut steps = Vec::with_capacity(len);
        if tagged {
            steps.push(Member::passed_over(TAG));
        }
        for ((at, field), place) in (0..).zip(&class.fields).zip(places).take(len - steps.len()) {
            let accepts = self.rules.node(field.node).accepts;
            steps.push(Member { field: at, node: field.node, accepts, place, encoded: Box::default() });
        }
        let missing: Vec<u16> = (steps.len() - usize::from(tagged)..fields).map(|field| field as u16).collect();
        steps.resize_with(len, || Member::passed_over(SKIPPED));
        let slots = slots_of(class, way, &steps).filter(|_| missing.is_empty());
        layout.build =
            Build::Typed(Typed { class: index, way, form: Form::Positions, steps, missing, refusal: None, slots });
        let layout = Rc::new(layout);
        if members.matched.borrow().len() < 8 {
            members.matched.borrow_mut().push((key, index, layout.clone()));
        }
        Ok(layout)
    }

    /// Where the fields of a class are; the layout gets what instances are made by.
    fn way(&self, class: &Class, layout: &mut Layout) -> Result<(Way, Vec<Place>)> {
        let Some(of) = &class.class else {
            layout.bytes = 128 + 64 * class.fields.len();
            return Ok((Way::Dict, class.fields.iter().map(|field| Place::Key(field.name.clone())).collect()));
        };
        // SAFETY: the schema holds the class.
        let plan = unsafe { plan::of(self.py, of.get().cast())? };
        // SAFETY: the plan's class is alive.
        layout.bytes = unsafe { (*plan.class()).tp_basicsize as usize } + 48 + 40 * class.fields.len();
        layout.plan = Some(plan.clone());
        if class.kind == ClassKind::NamedTuple {
            return Ok((Way::Tuple, (0..class.fields.len()).map(Place::Item).collect()));
        }
        let names: Vec<Owned> = class.fields.iter().map(|field| field.name.clone()).collect();
        let places = places(&plan, &names)?;
        if places.iter().any(|place| matches!(place, Place::Nowhere)) {
            return Err(invalid(format_args!("`{}` has a field that its instances have no place for", class.name)));
        }
        let slots = plan.is_bare() && places.iter().all(|place| matches!(place, Place::Slot(_)));
        Ok((if slots { Way::Slots } else { Way::Instance }, places))
    }

    /// An instance of a schema's class: `len` values, or pairs, follow.
    #[inline(always)]
    pub(super) fn begin_typed(&mut self, layout: &Rc<Layout>, len: usize) -> Result<Option<Owned>> {
        if let (Build::Typed(Typed { slots: Some(slots), .. }), Some(plan)) = (&layout.build, &layout.plan) {
            return self.begin_slots(layout, slots, plan.class());
        }
        self.begin_other(layout, len)
    }

    #[inline(always)]
    fn begin_slots(&mut self, layout: &Rc<Layout>, slots: &[Slot], class: Type) -> Result<Option<Owned>> {
        self.claim(slots.len(), layout.bytes)?;
        // SAFETY: the GIL is held; the schema holds the class, which is no more than its slots.
        let object = unsafe { allocate(class, 0)? };
        let mark = self.take_mark();
        self.opened(mark, object.get());
        for (at, slot) in slots.iter().enumerate() {
            let before = self.r.offset();
            match self.field(slot.node, slot.accepts) {
                // SAFETY: a slot of a fresh instance of the class that its offset was read from.
                Ok(Some(value)) => unsafe { *slot_mut(object.get(), slot.offset as usize) = value.into_raw() },
                Ok(None) => {
                    let frame = self.frame(Kind::Typed, Some(object), slots.len(), mark);
                    return Ok(self.push(Frame { at, layout: Some(layout.clone()), ..frame }));
                }
                Err(fault) => return Err(self.at_position(layout, at, fault, before)),
            }
        }
        self.whole(mark, object.get());
        Ok(Some(object))
    }

    #[cold]
    #[inline(never)]
    fn at_position(&self, layout: &Layout, at: usize, fault: Fault, before: usize) -> Fault {
        match &layout.build {
            Build::Typed(typed) => self.at_field(typed, typed.steps[at].field, fault, before),
            _ => fault,
        }
    }

    #[inline(never)]
    fn begin_other(&mut self, layout: &Rc<Layout>, len: usize) -> Result<Option<Owned>> {
        let Build::Typed(typed) = &layout.build else { return Err(decode(CHANGED, self.here())) };
        if let Some(why) = &typed.refusal {
            return Err(invalid(why));
        }
        let class = self.class(typed.class)?;
        let values = if typed.form == Form::Keys { 2 * len } else { len };
        self.claim(values, layout.bytes)?;
        let object = self.fresh(typed, class, layout)?;
        let mark = self.take_mark();
        self.opened(mark, object.get());
        for &field in &typed.missing {
            // What is not stored is there first: a value of the message's own may refer to the object.
            self.fill_missing(class, field, typed.place_of(field), &object)?;
        }
        let mut frame = Frame::new(Kind::Typed, None, values, mark, self.here());
        let whole = match typed.form {
            Form::Positions => self.positions(typed, object.get(), &mut frame)?,
            Form::Keys => self.keys(typed, class, object.get(), &mut frame)?,
        };
        if !whole {
            let frame = Frame { object: Some(object), layout: Some(layout.clone()), ..frame };
            return Ok(self.push(frame));
        }
        self.after_last(typed, class, &object, frame.seen)?;
        self.whole(mark, object.get());
        Ok(Some(object))
    }

    fn fresh(&self, typed: &Typed, class: &Class, layout: &Layout) -> Result<Owned> {
        // SAFETY: the GIL is held while a decoder lives; the schema holds the class.
        let object = unsafe {
            match (typed.way, &layout.plan) {
                (Way::Slots, Some(plan)) => allocate(plan.class(), 0)?,
                (Way::Tuple, Some(plan)) => allocate(plan.class(), class.fields.len() as isize)?,
                (Way::Instance, Some(plan)) => plan.fresh()?,
                _ => Owned::new(ffi::PyDict_New()).ok_or_else(raised)?,
            }
        };
        if let Some(method) = &class.pre_init {
            self.call_method(&object, method, &[])?;
        }
        Ok(object)
    }

    /// Reads leaves by position until the last, which is a yes, or one that needs a frame.
    #[inline(always)]
    fn positions(&mut self, typed: &Typed, object: Obj, frame: &mut Frame) -> Result<bool> {
        while let Some(member) = typed.steps.get(frame.at) {
            if member.field >= TAG {
                self.skip()?;
            } else {
                let before = self.r.offset();
                match self.field(member.node, member.accepts) {
                    // SAFETY: an instance of the class that the places were found for.
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
    fn at_field(&self, typed: &Typed, field: u16, fault: Fault, before: usize) -> Fault {
        match self.step_of_field(typed, field) {
            Some(step) => fault.found(before).within(|| step),
            None => fault,
        }
    }

    pub(super) fn step_of_field(&self, typed: &Typed, field: u16) -> Option<Step> {
        let class = self.class(typed.class).ok()?;
        if field == TAG {
            return class.tag.as_ref().map(|(tag, _)| Step::Field(tag.clone()));
        }
        class.fields.get(field as usize).map(|field| {
            Step::Field(if self.rules.plain { field.key.clone() } else { field.name.clone() })
        })
    }

    /// Reads pairs until the last, which is a yes, or until a value needs a frame: its key is read once more then.
    #[inline(always)]
    fn keys(&mut self, typed: &Typed, class: &Class, object: Obj, frame: &mut Frame) -> Result<bool> {
        while frame.at < frame.len {
            let before = self.r.offset();
            let field = self.key(typed, class, frame.next)?;
            if field >= TAG {
                self.unwanted(class, field)?;
                frame.at += 2;
                continue;
            }
            frame.next = field + 1;
            let member = &typed.steps[field as usize];
            let here = self.r.offset();
            match self.field(member.node, member.accepts) {
                // SAFETY: an instance of the class that the places were found for.
                Ok(Some(value)) => unsafe { place(object, &member.place, value, here)? },
                Ok(None) => {
                    self.r.rewind(before);
                    frame.next = field;
                    return Ok(false);
                }
                Err(fault) => return Err(self.at_field(typed, field, fault, here)),
            }
            frame.seen.add(field as usize);
            frame.at += 2;
        }
        Ok(true)
    }

    /// Which field the next key means.
    #[inline(always)]
    fn key(&mut self, typed: &Typed, class: &Class, expected: u16) -> Result<u16> {
        if let Some(member) = typed.steps.get(expected as usize) {
            if !member.encoded.is_empty() && self.r.accept(&member.encoded) {
                return Ok(expected);
            }
        }
        self.other_key(class)
    }

    #[inline(never)]
    fn other_key(&mut self, class: &Class) -> Result<u16> {
        let before = self.r.offset();
        let held;
        let name = match self.r.next()? {
            Token::Text(Bytes::Ascii(name) | Bytes::StrictUtf8(name)) => name,
            Token::Mark | Token::Reference(_) | Token::Text(_) => {
                // Hold's keys may be shared, or be wide.
                self.r.rewind(before);
                match self.value(ANY, accepts::ALL)? {
                    // SAFETY: held.
                    Some(name) if unsafe { text::is(name.get()) } => {
                        held = crate::schema::class::utf8(&name)?;
                        &held[..]
                    }
                    _ => return Err(invalid("Expected `str`").found(before)),
                }
            }
            _ => {
                self.r.rewind(before);
                self.skip()?;
                if class.forbid_unknown {
                    return Err(invalid("Object contains a key that is no `str`").found(before));
                }
                return Ok(SKIPPED);
            }
        };
        if let Some(&field) = class.by_key.get(name) {
            return Ok(field as u16);
        }
        if let Some((tag, _)) = &class.tag {
            if crate::schema::class::utf8(tag)? == name {
                return Ok(TAG);
            }
        }
        if class.forbid_unknown {
            return Err(invalid(unknown(name)).found(before));
        }
        Ok(SKIPPED)
    }

    /// The value of a key that is no field's.
    fn unwanted(&mut self, class: &Class, field: u16) -> Result<()> {
        let Some((tag, wanted)) = class.tag.as_ref().filter(|_| field == TAG) else { return self.skip() };
        let before = self.r.offset();
        let token = self.r.next()?;
        let found = self.leaf(token, accepts::INT | accepts::STR)?;
        // SAFETY: both are held.
        let same = found.is_some_and(|found| unsafe {
            ffi::PyObject_RichCompareBool(found.get(), wanted.get(), ffi::Py_EQ) == 1
        });
        if !same {
            return Err(invalid("Invalid tag").found(before).within(|| Step::Field(tag.clone())));
        }
        Ok(())
    }

    /// Goes on with an instance that has a frame, for as long as its values need none.
    pub(super) fn run_typed(&mut self) -> Result<Option<Frame>> {
        let depth = self.stack.len();
        let top = &mut self.stack[depth - 1];
        let (Some(object), Some(layout)) = (top.object.clone(), top.layout.clone()) else {
            return Err(decode(CHANGED, self.here()));
        };
        let Build::Typed(typed) = &layout.build else { return Err(decode(CHANGED, self.here())) };
        let class = self.class(typed.class)?;
        loop {
            let top = &mut self.stack[depth - 1];
            if top.at >= top.len {
                return Ok(self.pop());
            }
            let before = self.r.offset();
            let field = match typed.form {
                Form::Positions => typed.steps[top.at].field,
                Form::Keys => {
                    let expected = top.next;
                    self.owed -= 1;
                    self.key(typed, class, expected).inspect_err(|_| self.stack[depth - 1].field = SKIPPED)?
                }
            };
            self.owed -= 1;
            let top = &mut self.stack[depth - 1];
            top.field = field;
            if field >= TAG {
                match typed.form {
                    Form::Positions => {
                        top.at += 1;
                        self.skip()?;
                    }
                    Form::Keys => {
                        top.at += 2;
                        top.field = SKIPPED;
                        self.unwanted(class, field)?;
                    }
                }
                continue;
            }
            let member = match typed.form {
                Form::Positions => &typed.steps[top.at],
                Form::Keys => {
                    top.next = field + 1;
                    &typed.steps[field as usize]
                }
            };
            match self.value(member.node, member.accepts)? {
                Some(value) => {
                    // SAFETY: an instance of the class that the places were found for, held.
                    unsafe { place(object.get(), &member.place, value, before)? };
                    self.field_done(depth, typed.form, field);
                }
                None => return Ok(None),
            }
        }
    }

    fn field_done(&mut self, depth: usize, form: Form, field: u16) {
        let top = &mut self.stack[depth - 1];
        match form {
            Form::Positions => top.at += 1,
            Form::Keys => {
                top.seen.add(field as usize);
                top.at += 2;
            }
        }
    }

    /// A field's value that had a frame of its own.
    pub(super) fn deliver_field(&mut self, value: Owned) -> Result<()> {
        let here = self.here();
        let depth = self.stack.len();
        let Some(Frame { object: Some(object), layout: Some(layout), field, at, .. }) = self.stack.last_mut() else {
            return Err(decode(CHANGED, here));
        };
        let Build::Typed(typed) = &layout.build else { return Err(decode(CHANGED, here)) };
        // `deliver` has counted the value already.
        let index = if typed.form == Form::Positions { *at - 1 } else { *field as usize };
        *at -= 1;
        // SAFETY: an instance of the class that the places were found for, held by its frame.
        unsafe { place(object.get(), &typed.steps[index].place, value, here)? };
        let (form, field) = (typed.form, *field);
        self.field_done(depth, form, field);
        Ok(())
    }

    pub(super) fn finish_typed(&mut self, frame: Frame) -> Result<Owned> {
        let (Some(object), Some(layout)) = (&frame.object, &frame.layout) else {
            return Err(decode(CHANGED, frame.offset));
        };
        let Build::Typed(typed) = &layout.build else { return Err(decode(CHANGED, frame.offset)) };
        let class = self.class(typed.class)?;
        self.after_last(typed, class, object, frame.seen).map_err(|fault| fault.found(frame.offset))?;
        self.whole(frame.mark, object.get());
        Ok(object.clone())
    }

    /// What is missing, then what the class does with a whole instance.
    #[inline(always)]
    fn after_last(&mut self, typed: &Typed, class: &Class, object: &Owned, seen: Seen) -> Result<()> {
        if typed.form == Form::Keys && !seen.is_full(class.fields.len()) {
            let many = class.fields.len() > MOST_SEEN;
            for field in 0..class.fields.len() {
                let has = if many { has_field(class, field, object) } else { seen.has(field) };
                if !has {
                    self.fill_missing(class, field as u16, Some(&typed.steps[field].place), object)?;
                }
            }
        }
        if class.goes_on() {
            self.call_after(class, object)?;
        }
        Ok(())
    }

    #[inline(never)]
    fn fill_missing(&self, class: &Class, field: u16, at: Option<&Place>, object: &Owned) -> Result<()> {
        let Field { name, missing, .. } = &class.fields[field as usize];
        let shown = if self.rules.plain { &class.fields[field as usize].key } else { name };
        let Some(value) = self.rules.missing(missing, shown, object.get())? else { return Ok(()) };
        match at {
            // SAFETY: an instance of the class that the places were found for.
            Some(at) => unsafe { place(object.get(), at, value, self.here()) },
            None => {
                // Layouts by position have no place for what is not stored.
                // SAFETY: both are held.
                unsafe {
                    let found = match &class.class {
                        None => Place::Key(name.clone()),
                        Some(of) => {
                            let plan = plan::of(self.py, of.get().cast())?;
                            match class.kind {
                                ClassKind::NamedTuple => Place::Item(field as usize),
                                _ => places(&plan, std::slice::from_ref(name))?.pop().unwrap_or(Place::Nowhere),
                            }
                        }
                    };
                    place(object.get(), &found, value, self.here())
                }
            }
        }
    }

    #[inline(never)]
    fn call_after(&mut self, class: &Class, object: &Owned) -> Result<()> {
        for (field, function) in &class.converters {
            let name = &class.fields[*field as usize].name;
            // SAFETY: all are held; results are new references or null.
            unsafe {
                let value = Owned::new(ffi::PyObject_GetAttr(object.get(), name.get())).ok_or_else(raised)?;
                let made = self.users(crate::class::registry::call(function, value.get()))
                    .map_err(|fault| fault.within(|| Step::Field(name.clone())))?;
                if ffi::PyObject_GenericSetAttr(object.get(), name.get(), made.get()) != 0 {
                    return Err(raised());
                }
            }
        }
        if let Some(validate) = &class.validate {
            self.users(crate::class::registry::call(validate, object.get()))?;
        }
        if let Some(method) = &class.post_init {
            let mut arguments = Vec::new();
            for default in &class.init_vars {
                match default {
                    Some(default) => arguments.push(default.clone()),
                    None => {
                        return Err(invalid(format_args!(
                            "`{}` takes an `InitVar` without a default, which is not stored",
                            class.name
                        )))
                    }
                }
            }
            self.call_method(object, method, &arguments)?;
        }
        Ok(())
    }

    fn call_method(&self, object: &Owned, method: &Owned, arguments: &[Owned]) -> Result<()> {
        // SAFETY: all are held; results are new references or null.
        unsafe {
            let found = Owned::new(ffi::PyObject_GetAttr(object.get(), method.get())).ok_or_else(raised)?;
            let tuple = Owned::new(ffi::PyTuple_New(arguments.len() as isize)).ok_or_else(raised)?;
            for (at, argument) in arguments.iter().enumerate() {
                super::fill::tuple_item(tuple.get(), at, argument.clone());
            }
            let called = Owned::new(ffi::PyObject_CallObject(found.get(), tuple.get())).ok_or_else(raised);
            self.users(called).map(drop)
        }
    }

    /// What code of the user's class gave: that it refuses a value is about the data, and in its own words.
    fn users(&self, called: Result<Owned>) -> Result<Owned> {
        called.map_err(|fault| fault.of_user(self.py))
    }
}

impl Typed {
    /// How many values are stored of an instance.
    pub fn stored(&self) -> usize {
        self.steps.len()
    }

    fn place_of(&self, field: u16) -> Option<&Place> {
        self.steps.iter().find(|member| member.field == field).map(|member| &member.place)
    }
}

/// The slots of a class for the loop that knows nothing else.
fn slots_of(class: &Class, way: Way, steps: &[Member]) -> Option<Box<[Slot]>> {
    if way != Way::Slots || class.goes_on() || class.pre_init.is_some() {
        return None;
    }
    steps
        .iter()
        .map(|member| match member.place {
            Place::Slot(offset) => {
                Some(Slot { offset: u32::try_from(offset).ok()?, accepts: member.accepts, node: member.node })
            }
            _ => None,
        })
        .collect()
}

/// Puts a value into its place: a slot, mostly.
///
/// # Safety
/// `object` is alive, and an instance of the class that the place was found for.
#[inline(always)]
unsafe fn place(object: Obj, place: &Place, value: Owned, at: usize) -> Result<()> {
    // SAFETY: of that class, says the caller.
    unsafe {
        match place {
            Place::Slot(offset) => {
                replace(slot_mut(object, *offset), value.into_raw());
                Ok(())
            }
            _ => put(object, place, value, at),
        }
    }
}

/// Whether an instance has a value in that field, by reading it.
#[cold]
fn has_field(class: &Class, field: usize, object: &Owned) -> bool {
    let name = &class.fields[field].name;
    // SAFETY: both are held; results are new references or null, and an error is no more than a no.
    unsafe {
        let found = match &class.class {
            None => ffi::PyDict_Contains(object.get(), name.get()) == 1,
            // A class's own default is no value of the instance: it is set again, which does no harm.
            Some(_) => Owned::new(ffi::PyObject_GetAttr(object.get(), name.get())).is_some(),
        };
        ffi::PyErr_Clear();
        found
    }
}

fn unknown(name: &[u8]) -> String {
    let name = String::from_utf8_lossy(name);
    format!("Object contains unknown field `{}`", name.chars().take(64).collect::<String>())
}

fn lacking(class: &Class, field: u16) -> Result<String> {
    let name = crate::schema::class::utf8(&class.fields[field as usize].name)?;
    Ok(format!("Object missing required field `{}`", String::from_utf8_lossy(&name)))
}

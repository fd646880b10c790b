//! Layouts on which a resolver decides: it is asked once a layout, and about each value only where it said so.

use super::frame::{Frame, Make, NOT_ITS_OWN};
use super::{Decoder, NO_ID};
use crate::classes::defaults::shown;
use crate::classes::how::{Base, How};
use crate::classes::plan::{self, Plan};
use crate::classes::registry;
use crate::classes::registry::Registration;
use crate::cpython::{held, new, owned, text, Owned};
use crate::decode::dialect::Dialect;
use crate::error::{decode, raised, Fault, Result, NOWHERE};
use crate::memory::Vec;
use crate::schema::class::utf8;
use crate::shapes::decided::{Answer, Decided, Resolver, Verdict};
use crate::shapes::{Build, Shape};
use crate::types;
use crate::types::resolver::{answer_of, is_skip, skip, Stored};
use holdall_format::model::ShapeKind;
use holdall_format::Reader as _;
use pyo3::exceptions::PyTypeError;
use pyo3::ffi;
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyString, PyTuple};
use std::ptr::addr_of_mut;
use std::rc::Rc;

/// What asking a resolver costs, in units of work, besides a unit for each name.
const ASKED: usize = 20;
const ASKS: &str = "resolvers are asked about ever new layouts";

impl<'i, D: Dialect<'i>> Decoder<'i, D> {
    /// What resolvers say of a layout that names a class: that of the call first, then that of the class. `None`: nothing.
    pub(crate) fn verdict(&mut self, raw: &Shape, at: usize) -> Result<Option<Rc<Verdict>>> {
        let name = raw.stored_name()?;
        let known = registry::by_name(self.py, name)?;
        // What a trusted message need not have, another must: neither is built as the other says.
        let trusted = u64::from(self.r.trusted()) << 63;
        if let Some(resolver) = &self.options.resolver {
            let serial = resolver.serial | trusted;
            match self.remembered(raw, serial)? {
                Some(Some(verdict)) => return Ok(Some(verdict)),
                Some(None) => {}
                None => {
                    let verdict = self.verdict_of_call(resolver, raw, name, known.as_deref(), at)?;
                    raw.remember_verdict(serial, verdict.clone());
                    if verdict.is_some() {
                        return Ok(verdict);
                    }
                }
            }
        }
        let Some(known) = known else { return Ok(None) };
        let Some(resolver) = &known.resolver else { return Ok(None) };
        let serial = known.serial | trusted;
        if let Some(verdict) = self.remembered(raw, serial)? {
            return Ok(verdict);
        }
        let stored = self.told_of(raw, Some(&known.class), known.is_alias(name))?;
        let answer = match self.ask(resolver, stored, raw.names.len(), at)? {
            Answer::Default => Answer::Use { class: known.class.clone(), renames: Vec::new() },
            answer => answer,
        };
        let verdict = Rc::new(self.verdict_of(&answer, raw, name, at)?);
        if verdict.class.is_none() || verdict.version != 0 {
            raw.remember_verdict(serial, Some(verdict.clone()));
        }
        Ok(Some(verdict))
    }

    /// What the resolver of the call says.
    fn verdict_of_call(
        &mut self,
        resolver: &'i Resolver,
        raw: &Shape,
        name: &str,
        known: Option<&Registration>,
        at: usize,
    ) -> Result<Option<Rc<Verdict>>> {
        // Records are stored with a layout each.
        let key = layout_of(raw)?;
        let answer = match resolver.known(&key) {
            Some(answer) => answer,
            None => {
                let class = self.permitted(name)?;
                let is_alias = known.is_some_and(|known| known.is_alias(name));
                let stored = self.told_of(raw, class.as_ref(), is_alias)?;
                let answer = Rc::new(self.ask(&resolver.function, stored, raw.names.len(), at)?);
                resolver.keep(key, &answer);
                answer
            }
        };
        match *answer {
            Answer::Default => Ok(None),
            _ => Ok(Some(Rc::new(self.verdict_of(&answer, raw, name, at)?))),
        }
    }

    /// What a resolver said earlier, if that still means the same.
    fn remembered(&self, raw: &Shape, serial: u64) -> Result<Option<Option<Rc<Verdict>>>> {
        let verdict = match raw.verdict_by(serial) {
            Some(Some(verdict)) => verdict,
            other => return Ok(other),
        };
        let is_same = match &verdict.class {
            // SAFETY: the verdict holds the class.
            Some((class, _)) => unsafe {
                crate::cpython::class::version_of(class.get().cast()).ok_or_else(raised)? == verdict.version
            },
            None => true,
        };
        Ok(is_same.then_some(Some(verdict)))
    }

    fn told_of(&self, raw: &Shape, class: Option<&Owned>, is_alias: bool) -> Result<Stored> {
        let name = raw.type_name.as_ref().map(|name| self.rules.bound(name));
        let fields = PyTuple::new(self.py, raw.names.iter().map(|name| self.rules.bound(name)))?;
        let class = class.map(|class| self.rules.bound(class));
        let kind = types::record::kind_of(raw.kind);
        Ok(Stored::new(name.as_ref(), is_alias, Some(raw.version), kind, &fields, class.as_ref()))
    }

    /// Asks a resolver about a layout.
    pub(crate) fn ask(&self, resolver: &Owned, stored: Stored, names: usize, at: usize) -> Result<Answer> {
        self.rules.work.charge(ASKED + names, ASKS, at)?;
        let given = self.rules.bound(resolver).call1((Bound::new(self.py, stored)?,))?;
        match answer_of(&given)? {
            Some(answer) => Ok(answer),
            None => {
                let class = given.get_type().name()?;
                let wanted = "a class, Use, Record, ByValue, Value, SKIP, Refuse or None";
                Err(PyTypeError::new_err(format!("a resolver's answer: expected {wanted}, got {class}")).into())
            }
        }
    }

    /// How to build what has this layout, by a resolver's answer.
    fn verdict_of(&mut self, answer: &Answer, raw: &Shape, name: &str, at: usize) -> Result<Verdict> {
        let decided = match answer {
            Answer::Use { class, renames } => return self.verdict_for(class.clone(), renames, raw, name, at),
            Answer::Record | Answer::Default => None,
            Answer::Value(value) => Some(Decided::Value(value.clone())),
            Answer::Skip => Some(Decided::Skip),
            Answer::ByValue(function) => Some(Decided::ByValue(function.clone())),
            Answer::Refuse(why) => Some(Decided::Refused(why.clone())),
        };
        let build = decided.map_or(Build::Record, Build::Decided);
        let shape = Rc::new(Shape { bytes: 256, ..raw.like(build, raw.names.clone()) });
        Ok(Verdict { shape, class: None, version: 0 })
    }

    fn verdict_for(
        &mut self,
        class: Owned,
        renames: &[(Owned, Option<Owned>)],
        raw: &Shape,
        name: &str,
        at: usize,
    ) -> Result<Verdict> {
        // SAFETY: `class` is an owned reference to a class. Its version is read before its plan.
        let (version, plan) = unsafe {
            let version = crate::cpython::class::version_of(class.get().cast()).ok_or_else(raised)?;
            (version, plan::of(self.py, class.get().cast())?)
        };
        for new in renames.iter().filter_map(|(_, new)| new.as_ref()) {
            // SAFETY: both are strings.
            let is_it = |name: &&Owned| unsafe { text::equal(name.get(), new.get()) };
            if raw.names.iter().filter_map(|name| Verdict::renamed(renames, name)).filter(is_it).count() > 1 {
                return Err(same_name(new));
            }
        }
        let names: Option<Vec<Owned>> = raw.names.iter().map(|name| Verdict::renamed(renames, name).cloned()).collect();
        let (Some(names), true) = (names, is_stored_as(&plan, raw.kind)) else {
            let decided = Decided::Into { class, renames: renames.iter().cloned().collect() };
            let shape = Rc::new(Shape { bytes: 256, ..raw.like(Build::Decided(decided), raw.names.clone()) });
            return Ok(Verdict { shape, class: None, version: 0 });
        };
        let mut shape = raw.like(Build::Unresolved, names);
        shape.plan = Some(plan.clone());
        let renamed = Rc::new(shape);
        let shape = match self.rules.schema {
            // By the type; else it is resolved when an instance comes.
            Some(_) => renamed.clone(),
            None => {
                let mut shape = renamed.like(Build::Unresolved, renamed.names.clone());
                self.resolve_shape(&plan, &mut shape, name, at)?;
                Rc::new(shape)
            }
        };
        Ok(Verdict { shape, class: Some((class, renamed)), version })
    }

    /// Starts what a resolver has decided on; its values follow.
    pub(crate) fn decided_instance(&mut self, shape: &Rc<Shape>) -> Result<Option<Owned>> {
        let Build::Decided(decided) = &shape.build else { return Err(decode("a layout out of place", self.here())) };
        let len = shape.kind.values(shape.names.len()) as usize;
        self.claim(len, shape.bytes)?;
        match decided {
            Decided::Refused(why) => Err(refused(shape, why, self.here())),
            Decided::Value(_) | Decided::Skip => {
                let object_id = self.take_id();
                // Classes that nobody knows are no error in what is passed over.
                let learns = std::mem::replace(&mut self.learns, true);
                let skipped = (0..len).try_for_each(|_| self.skip());
                self.learns = learns;
                skipped?;
                self.object_id = object_id;
                match decided {
                    Decided::Value(value) => self.done(Some(value.clone())),
                    _ => {
                        let object_id = self.take_id();
                        self.leaves_out(object_id);
                        Ok(Some(skip(self.py)?))
                    }
                }
            }
            Decided::Filled => {
                let Some(plan) = &shape.plan else { return Err(decode("a layout without its class", self.here())) };
                // SAFETY: the plan's class is alive while the plan is in use.
                let object = unsafe { plan.fresh()? };
                let object_id = self.take_id();
                self.opened(object_id, object.get());
                let frame = Frame::gather(Make::Decided(shape.clone()), Some(object), len, object_id, self.here());
                Ok(self.push(frame))
            }
            Decided::State => {
                let Some(plan) = &shape.plan else { return Err(decode("a layout without its class", self.here())) };
                // SAFETY: the plan's class is alive while the plan is in use.
                let class = unsafe { Bound::from_borrowed_ptr(self.py, plan.class().cast()) };
                let object = owned(&class.call_method1(intern!(self.py, "__new__"), (&class,))?);
                let object_id = self.take_id();
                self.opened(object_id, object.get());
                let frame = Frame::gather(Make::Decided(shape.clone()), Some(object), len, object_id, self.here());
                if len == 0 {
                    return self.make(frame).map(Some);
                }
                Ok(self.push(frame))
            }
            Decided::ByValue(_) | Decided::Into { .. } => {
                let mut frame = Frame::gather(Make::Decided(shape.clone()), None, len, self.take_id(), self.here());
                if len == 0 {
                    return self.make(frame).map(Some);
                }
                if shape.kind == ShapeKind::Based && self.content_refers()? {
                    frame.flags |= NOT_ITS_OWN;
                }
                Ok(self.push(frame))
            }
        }
    }

    /// Makes what a resolver has decided on from its values.
    pub(crate) fn decide(&mut self, shape: &Shape, mut parts: Vec<Owned>, is_shared: bool, at: usize) -> Result<Owned> {
        let Build::Decided(decided) = &shape.build else { return Err(decode("a layout out of place", at)) };
        let payload = (shape.kind != ShapeKind::Object && !parts.is_empty()).then(|| parts.remove(0));
        match decided {
            Decided::Into { class, renames } => {
                let fields = new::dict(self.py)?;
                for (name, value) in shape.names.iter().zip(&parts) {
                    fields.set_item(self.rules.bound(name), self.rules.bound(value))?;
                }
                self.instance_into(class, renames, fields, payload.as_ref(), shape, at)
            }
            Decided::ByValue(function) => {
                if is_shared && payload.as_ref().is_some_and(|payload| !super::build::is_leaf(payload)) {
                    return Err(decode("a record whose content is not its own", at));
                }
                let record = types::record::empty(self.py, shape)?;
                types::record::fill(self.py, &record, shape, payload, parts)?;
                self.by_value(function, &record, shape, at)
            }
            _ => Err(decode("a layout out of place", at)),
        }
    }

    /// Gives an instance its state as pickle does: a dict, and one of the slots if there are any.
    pub(crate) fn set_state(&self, shape: &Shape, object: &Owned, values: &[Owned]) -> Result<()> {
        let Some(plan) = &shape.plan else { return Err(decode("a layout without its class", self.here())) };
        let (fields, slots) = (new::dict(self.py)?, new::dict(self.py)?);
        for (name, value) in shape.names.iter().zip(values) {
            let is_slot = plan.slots.iter().any(|slot| slot.name.get() == name.get());
            let of = if is_slot { &slots } else { &fields };
            of.set_item(self.rules.bound(name), self.rules.bound(value))?;
        }
        let object = self.rules.bound(object);
        let method = intern!(self.py, "__setstate__");
        match slots.is_empty() {
            true => object.call_method1(method, (fields,))?,
            false if fields.is_empty() => object.call_method1(method, ((self.py.None(), slots),))?,
            false => object.call_method1(method, ((fields, slots),))?,
        };
        Ok(())
    }

    /// What the function of `ByValue` makes of a record.
    fn by_value(&mut self, function: &Owned, record: &Owned, shape: &Shape, at: usize) -> Result<Owned> {
        let made = registry::call(function, record.get())?;
        let Some(answer) = answer_of(&self.rules.bound(&made))? else { return Ok(made) };
        let (class, renames) = match answer {
            Answer::Use { class, renames } => (Some(class), renames),
            Answer::Default => {
                let name = shape.stored_name()?;
                self.rules.work.charge(name.len() / 8, "names of classes are looked up again and again", at)?;
                (self.resolve(name, at)?, Vec::new())
            }
            answer => return self.answered(answer, record, shape, at),
        };
        let Some(class) = class else { return Ok(record.clone()) };
        let (fields, payload) = types::record::content(self.py, record)?;
        self.instance_into(&class, &renames, fields, payload.as_ref(), shape, at)
    }

    /// What an answer other than a class makes of a record.
    pub(crate) fn answered(&self, answer: Answer, record: &Owned, shape: &Shape, at: usize) -> Result<Owned> {
        match answer {
            Answer::Record => Ok(record.clone()),
            Answer::Value(value) => Ok(value),
            Answer::Skip => Ok(skip(self.py)?),
            Answer::Refuse(why) => Err(refused(shape, &why, at)),
            _ => {
                let why =
                    "a resolver's answer by value: expected an object, a class, Use, Record, Value, SKIP or Refuse";
                Err(PyTypeError::new_err(why).into())
            }
        }
    }

    /// An instance of a class made of what is stored in whatever way.
    ///
    /// fields: by their stored names. payload: what an instance of another kind has besides.
    pub(crate) fn instance_into(
        &mut self,
        class: &Owned,
        renames: &[(Owned, Option<Owned>)],
        fields: Bound<'i, PyDict>,
        payload: Option<&Owned>,
        shape: &Shape,
        at: usize,
    ) -> Result<Owned> {
        let name = shape.stored_name()?;
        // SAFETY: `class` is an owned reference to a class.
        let plan = unsafe { plan::of(self.py, class.get().cast())? };
        let payload = payload.filter(|_| shape.kind != ShapeKind::Object);
        if let (How::Enum, Some(member)) = (&plan.how, payload) {
            return types::enumeration::member(self.py, plan.class(), member, at);
        }
        let cant = || {
            let class = shown(&plan.name);
            decode(
                format_args!("`{name}` can't become a `{class}` by its fields: a resolver makes it by `ByValue`"),
                at,
            )
        };
        if let (How::Custom, Some(registration)) = (&plan.how, &plan.registration) {
            let given = match payload {
                Some(payload) => payload.clone(),
                None => owned(with_names(&fields, renames)?.as_any()),
            };
            return super::build::by_decode(registration, &given, shape.version, at);
        }
        let fields = match payload {
            None => with_names(&fields, renames)?,
            Some(payload) => {
                let Ok(items) = self.rules.bound(payload).cast_into::<PyDict>() else { return Err(cant()) };
                self.charge(64 + 64 * items.len())?;
                let all = items.copy()?;
                all.update(fields.as_mapping())?;
                with_names(&all, renames)?
            }
        };
        // SAFETY: the class is only compared.
        if class.get() == addr_of_mut!(ffi::PyDict_Type).cast() {
            return Ok(owned(fields.as_any()));
        }
        match &plan.how {
            How::Based(Base::Dict) => {
                // SAFETY: the plan says that the class is derived from dict; both are owned references.
                unsafe {
                    let made = types::new_of(Base::Dict, plan.class(), None)?;
                    match ffi::PyDict_Update(made.get(), fields.as_ptr()) {
                        0 => Ok(made),
                        _ => Err(raised()),
                    }
                }
            }
            How::Fields | How::NamedTuple(_) => self.instance_of_fields(&plan, fields, shape, at),
            _ => Err(cant()),
        }
    }

    /// An instance of an ordinary class made of its fields by name: by the type, if that names the class.
    fn instance_of_fields(
        &mut self,
        plan: &Rc<Plan>,
        fields: Bound<'i, PyDict>,
        shape: &Shape,
        at: usize,
    ) -> Result<Owned> {
        if !fields.keys().iter().all(|name| name.is_instance_of::<PyString>()) {
            let name = shape.stored_name()?;
            let why = "has keys that are no text, which no field is called: a resolver makes it by `ByValue`";
            return Err(decode(format_args!("`{name}` {why}"), at));
        }
        let fields = plan.renamed_fields(&fields, shape.version)?;
        let of_schema = self.rules.schema.and_then(|schema| {
            (0..).zip(&schema.classes).find(|(_, known)| known.is(plan.class())).map(|(index, _)| index)
        });
        let Some(index) = of_schema else {
            return types::upgrade::of_fields(self.py, shape, plan, fields, at);
        };
        let fields = types::upgrade::upgraded(self.py, shape, plan, fields, at)?;
        self.built(index, &fields, 0)
    }

    /// Notes that a value is left out: `leave_out` takes its mark from the container on top of the stack.
    pub(crate) fn leaves_out(&mut self, object_id: u32) {
        if object_id != NO_ID {
            let numbered = &mut self.tables.numbered[object_id as usize];
            numbered.state = super::State::LeftOut;
            numbered.object = None;
        }
        // Of the outermost value there is none.
        let depth = self.tables.stack.len().wrapping_sub(1);
        if self.left_out.last() != Some(&depth) {
            self.left_out.push(depth);
        }
    }

    /// Refuses a mark of what is left out where there is nothing to leave it out of.
    pub(crate) fn rooted(&self, root: Owned) -> Result<Owned> {
        match !self.left_out.is_empty() && is_skip(root.get()) && !self.may_leave_out_root {
            true => Err(decode("a resolver leaves out the outermost value: answer with a `Value`", self.here())),
            false => Ok(root),
        }
    }
}

/// What is the same for all layouts of which a resolver is told the same.
fn layout_of(raw: &Shape) -> Result<Vec<u8>> {
    let mut key = Vec::from(&types::record::kind_of(raw.kind).as_bytes()[..1]);
    key.extend_from_slice(&raw.version.to_le_bytes());
    for name in raw.all_names() {
        let name = utf8(name)?;
        key.extend_from_slice(&name.len().to_le_bytes());
        key.extend_from_slice(&name);
    }
    Ok(key)
}

/// Whether instances of the class are stored in that way.
fn is_stored_as(plan: &Rc<Plan>, kind: ShapeKind) -> bool {
    match kind {
        ShapeKind::Object => matches!(plan.how, How::Fields | How::NamedTuple(_)),
        ShapeKind::Enum => matches!(plan.how, How::Enum) || types::constant::may_be(plan),
        ShapeKind::Custom => plan.is_custom(),
        ShapeKind::Based => matches!(plan.how, How::Based(_)),
        ShapeKind::Dict => false,
    }
}

/// The error that a resolver's answer asks for.
#[cold]
pub(crate) fn refused(shape: &Shape, why: &str, at: usize) -> Fault {
    let name = shape.stored_name().unwrap_or("?");
    decode(format_args!("`{name}` is refused by its resolver: {why}"), at)
}

/// The error when an answer's `renames` give a field the name of another one, whose value would be lost.
#[cold]
fn same_name(name: &Owned) -> Fault {
    // SAFETY: `name` is a string, held by the answer or the layout.
    let shown = unsafe { text::ascii(name.get()) }.map_or_else(|| "...".into(), String::from_utf8_lossy);
    let remedy = "rename the other one, too, or drop it by None";
    decode(format_args!("a resolver's `renames` give two fields the name `{shown}`: {remedy}"), NOWHERE)
}

/// Fields under the names that an answer gives them.
pub(crate) fn with_names<'py>(
    fields: &Bound<'py, PyDict>,
    renames: &[(Owned, Option<Owned>)],
) -> Result<Bound<'py, PyDict>> {
    let renamed = new::dict(fields.py())?;
    for (name, value) in fields {
        let new = match name.is_instance_of::<PyString>() {
            true => Verdict::renamed(renames, &owned(&name)).cloned(),
            false => Some(owned(&name)),
        };
        if let Some(new) = new {
            let key = held(fields.py(), &new);
            if !renames.is_empty() && renamed.contains(&key)? {
                return Err(same_name(&new));
            }
            renamed.set_item(key, value)?;
        }
    }
    Ok(renamed)
}

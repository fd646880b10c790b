//! The shapes of a message and the classes that they name: how instances of each are built.

use crate::classes::declared::Declared;
use crate::classes::defaults::{lacking, refused_field};
use crate::classes::how::{How, STATE};
use crate::classes::plan;
use crate::classes::plan::Plan;
use crate::classes::registry;
use crate::classes::registry::Unknown;
use crate::classes::serial::RECORDS;
use crate::cpython::{text, Owned};
use crate::decode::dialect::Dialect;
use crate::decode::{Decoder, Numbered};
use crate::error::{decode, raised, unknown_type, Asked, Result};
use crate::memory::{format, HashSet, Vec};
use crate::shapes::decided::Decided;
use crate::shapes::{class_name, places, Build, Place, Shape, SAME_NAME};
use crate::shapes::{classes, dicts, names};
use holdall_format::model::{self, Bytes, Name, ShapeKind, ShapeReader as _};
use holdall_format::Reader;
use pyo3::ffi;
use pyo3::prelude::*;
use pyo3::types::{PyModule, PyType};
use std::cell::{Cell, OnceCell, RefCell};
use std::rc::Rc;

/// Whether these are the fields of what is made empty and filled by registered functions.
fn is_state(names: &[Owned]) -> bool {
    // SAFETY: names are strings that are held.
    matches!(names, [name] if unsafe { text::ascii(name.get()) } == Some(STATE.as_bytes()))
}

/// A shape from its names; in the shape of a class, the class's name comes first.
pub(crate) fn shape_named(
    token: &model::Shape<'_>,
    mut names: Vec<Owned>,
    references: Vec<(usize, u64)>,
) -> Result<Rc<Shape>> {
    let classes = token.kind != ShapeKind::Dict;
    if names.len() != token.fields + usize::from(classes) {
        return Err(decode("a layout has more or fewer names than it says", token.at));
    }
    let numbers = names.len() - references.len();
    let type_name = classes.then(|| names.remove(0));
    if let Some(name) = &type_name {
        // Here, so that every door refuses such a name, whether or not it looks the class up.
        class_name(name).map_err(|fault| fault.found(token.at))?;
        distinct(&interned(&names)?, token.at)?;
    }
    Ok(Rc::new(Shape {
        kind: token.kind,
        bytes: 128 + 32 * names.len(),
        names,
        references,
        numbers,
        type_name,
        version: token.version,
        plan: None,
        build: if classes { Build::Unresolved } else { Build::Dict },
        matched: RefCell::default(),
        verdicts: RefCell::default(),
        template: OnceCell::new(),
        met: Cell::default(),
    }))
}

/// The class with this stored name in the module's namespace, or nested in a class there.
fn in_module(py: Python<'_>, module: &Bound<'_, PyModule>, name: &str) -> Result<Option<Owned>> {
    let is_it = |found: &Bound<'_, PyAny>| -> Result<bool> {
        match found.cast::<PyType>() {
            Ok(class) => Ok(plan::is_named(class, name)?),
            Err(_) => Ok(false),
        }
    };
    // The usual case first: the module's own class, by the parts of its qualified name. Only `__dict__`s are read, so
    // no code of the module or its classes runs.
    let prefix = module.name()?.to_string();
    if let Some(qualified) = name.strip_prefix(&prefix).and_then(|rest| rest.strip_prefix('.')) {
        let mut found: Option<Bound<'_, PyAny>> = None;
        for part in qualified.split('.') {
            found = match &found {
                None => module.dict().get_item(part)?,
                Some(outer) if outer.is_instance_of::<PyType>() => {
                    // SAFETY: `outer` is a class; its `tp_dict` is its own dict, which a metaclass can't replace.
                    let members = unsafe { (*outer.as_ptr().cast::<ffi::PyTypeObject>()).tp_dict };
                    // SAFETY: `members` is null or the class's dict, which lives as long as the class that `outer` holds.
                    match unsafe { Bound::from_borrowed_ptr_or_opt(py, members) } {
                        Some(members) => members.get_item(part).if_taken()?,
                        None => None,
                    }
                }
                Some(_) => None,
            };
            if found.is_none() {
                break;
            }
        }
        if let Some(found) = found {
            if is_it(&found)? {
                return Ok(Some(crate::cpython::owned(&found)));
            }
        }
    }
    for (_, found) in module.dict() {
        if is_it(&found)? {
            return Ok(Some(crate::cpython::owned(&found)));
        }
    }
    Ok(None)
}

impl<'i, D: Dialect<'i>> Decoder<'i, D> {
    /// A new shape, perhaps cached from an earlier message with the same bytes. Whether its class is permitted is checked
    /// in each message.
    pub(crate) fn shape(&mut self, token: &model::Shape<'i>) -> Result<Rc<Shape>> {
        if self.elsewhere.again.is_some() {
            return self.shape_again();
        }
        let classes = token.kind != ShapeKind::Dict;
        // Each name becomes a string of at least 50 bytes, now or in the earlier message.
        self.claim(0, 64 * token.fields.min(token.block.len()))?;
        let cache = self.rules.schema.map_or(classes::without_schema(self.py), |schema| &schema.shapes);
        // What a resolver of the call answers holds for this message alone.
        let keeps = self.options.resolver.is_none() || !classes;
        let known = match classes {
            true if !keeps => None,
            true => cache.find(self.py, token),
            false => dicts::find(self.py, token.block),
        };
        if let Some(known) = known {
            // A name that was a reference is one here as well: it must lead to the same string.
            let same = |&(at, number): &(usize, u64)| match (self.tables.numbered.get(number as usize), known.name(at))
            {
                (Some(Numbered { object: Some(object), .. }), Some(name)) => object.get() == name.get(),
                _ => false,
            };
            if known.names.len() == token.fields && known.references.iter().all(same) {
                let mut references = known.references.iter().peekable();
                for (at, name) in known.all_names().enumerate() {
                    if references.next_if(|reference| reference.0 == at).is_none() {
                        self.tables.numbered.push(Numbered::whole(name.clone()));
                    }
                }
                let shape = self.settled(known, token.at)?;
                self.tables.shapes.push(shape.clone());
                return Ok(shape);
            }
        }
        let read = self.read_shape(token)?;
        let shape = self.settled(read.clone(), token.at)?;
        self.tables.shapes.push(shape.clone());
        match classes {
            true if !keeps => {}
            true => cache.keep(self.py, token, &read),
            false => dicts::keep(self.py, token.block, &read),
        }
        Ok(shape)
    }

    /// Reads the names of a new shape.
    fn read_shape(&mut self, token: &model::Shape<'i>) -> Result<Rc<Shape>> {
        let mut names = Vec::with_capacity(token.fields + 1);
        let classes = token.kind != ShapeKind::Dict;
        let block = <D::Reader as Reader<'i>>::Shapes::names(token);
        let mut references = Vec::new();
        let mut numbered = std::mem::take(&mut self.tables.numbered);
        let read = (|| {
            for name in block {
                // SAFETY: the GIL is held while a decoder lives; the reader has checked `Bytes::Ascii`; references
                // lead to objects that `numbered` holds.
                let name = unsafe {
                    match name? {
                        Name::Text(Bytes::Ascii(bytes)) => {
                            let mut name = names::name(bytes).ok_or_else(raised)?.into_raw();
                            if classes {
                                ffi::PyUnicode_InternInPlace(&mut name);
                            }
                            let name = Owned::new(name).ok_or_else(raised)?;
                            numbered.push(Numbered::whole(name.clone()));
                            name
                        }
                        Name::Text(bytes) => {
                            let name = self.string_of(bytes)?;
                            numbered.push(Numbered::whole(name.clone()));
                            name
                        }
                        Name::Reference(number) => match numbered.get(number as usize) {
                            Some(Numbered { object: Some(object), .. }) if text::is(object.get()) => {
                                references.push((names.len(), number));
                                object.clone()
                            }
                            _ => return Err(decode("a layout's name refers to no text", token.at)),
                        },
                    }
                };
                names.push(name);
            }
            Ok(())
        })();
        self.tables.numbered = numbered;
        read?;
        shape_named(token, names, references)
    }

    /// The shape by which instances are built. Without a schema, the class is looked up now.
    pub(crate) fn settled(&mut self, read: Rc<Shape>, at: usize) -> Result<Rc<Shape>> {
        if read.kind == ShapeKind::Dict || self.rules.schema.is_some() {
            return Ok(read);
        }
        let lasts = self.options.resolver.is_none() && !self.r.trusted();
        if let (true, Some(known)) = (lasts, self.options.settled(self.py).find(self.py, &read)) {
            return Ok(known);
        }
        match self.resolved(&read, at) {
            // The error is raised if an instance comes.
            Err(fault) if self.learns && fault.is_unknown() => Ok(read),
            Ok(found) if lasts => {
                // SAFETY: whatever permits the class holds it.
                unsafe { self.options.settle(self.py, &read, &found) };
                Ok(found)
            }
            resolved => resolved,
        }
    }

    /// The shape with the class that its name means in this message, whose caller decides what is permitted.
    pub(crate) fn found_shape(&mut self, raw: &Rc<Shape>) -> Result<Rc<Shape>> {
        let key = Rc::as_ptr(raw) as usize;
        if let Some(known) = self.memo().found.get(&key) {
            return Ok(known.clone());
        }
        let found = self.resolved(raw, self.here())?;
        self.memo().found.insert(key, found.clone());
        Ok(found)
    }

    /// The shape with its class and how instances are built. Which class that is, and whether it is permitted, is looked up
    /// each time; how to build instances is cached while the plan and the class's version are the same.
    fn resolved(&mut self, raw: &Shape, at: usize) -> Result<Rc<Shape>> {
        let name = raw.stored_name()?;
        // Many shapes may have the same long name.
        self.rules.work.charge(name.len() / 8, "names of classes are looked up again and again", at)?;
        if let Some(plan) = &raw.plan {
            // Named by a resolver's answer.
            let mut shape = raw.like(Build::Unresolved, raw.names.clone());
            self.resolve_shape(plan, &mut shape, name, at)?;
            return Ok(Rc::new(shape));
        }
        if self.has_resolvers() {
            if let Some(verdict) = self.verdict(raw, at)? {
                return Ok(verdict.shape.clone());
            }
        }
        let Some(class) = self.resolve(name, at)? else {
            if let Some(known) = raw.matched_with(RECORDS, 0) {
                return Ok(known);
            }
            let shape = Rc::new(Shape { bytes: 256, ..raw.like(Build::Record, raw.names.clone()) });
            raw.match_with(RECORDS, 0, &shape);
            return Ok(shape);
        };
        // SAFETY: `class` is an owned reference to a class.
        let (plan, version) = unsafe {
            let class = class.get().cast();
            // The version is read first: whatever changes the class after this gives it another version.
            let version = crate::cpython::class::version_of(class).ok_or_else(raised)?;
            (plan::of(self.py, class)?, version)
        };
        // What a trusted message need not have, another must: neither is built as the other says.
        let serial = plan.serial | (u64::from(self.r.trusted()) << 63);
        if let (Some(known), 1..) = (raw.matched_with(serial, version), version) {
            return Ok(known);
        }
        let mut shape = raw.like(Build::Unresolved, raw.names.clone());
        self.resolve_shape(&plan, &mut shape, name, at)?;
        let shape = Rc::new(shape);
        if version != 0 {
            raw.match_with(serial, version, &shape);
        }
        Ok(shape)
    }

    /// Determines how instances of a class are built from a shape.
    pub(crate) fn resolve_shape(&mut self, plan: &Rc<Plan>, shape: &mut Shape, name: &str, at: usize) -> Result<()> {
        // SAFETY: the class lives as long as its plan is in use.
        shape.bytes = unsafe { (*plan.class()).tp_basicsize as usize } + 48 + 32 * shape.names.len();
        shape.build = self.build_of(plan, shape, name, at)?;
        shape.plan = Some(plan.clone());
        Ok(())
    }

    fn build_of(&mut self, plan: &Rc<Plan>, shape: &mut Shape, name: &str, at: usize) -> Result<Build> {
        let class = plan.class();
        let mismatch = |what: &str| {
            let remedy =
                "`register` it with a `resolver` that says what becomes of it, or load it with `types=holdall.Record`";
            decode(format_args!("`{name}` was stored as {what}, which it is not here: {remedy}"), at)
        };
        match (shape.kind, &plan.how) {
            (ShapeKind::Enum, How::Enum) => return Ok(Build::Enum),
            (ShapeKind::Enum, _) if crate::types::constant::may_be(plan) => return Ok(Build::Enum),
            (ShapeKind::Enum, _) => return Err(mismatch("an enumeration")),
            (ShapeKind::Custom, _) if plan.is_custom() => return Ok(Build::Custom),
            (ShapeKind::Custom, _) if upgrades(plan, shape) => return Ok(into(plan)),
            (ShapeKind::Custom, _) => {
                let remedy = "`register` it with a new `version` and an `upgrade`, which is given a dict if `encode` gave one, or with a `resolver`";
                let what = "what its registered `encode` gave, which it is not here";
                return Err(decode(format_args!("`{name}` was stored as {what}: {remedy}"), at));
            }
            _ => {}
        }
        let renamed = plan.rename(self.py, &mut shape.names, shape.version)?;
        if let (How::Custom, ShapeKind::Object, Some(known)) = (&plan.how, shape.kind, &plan.registration) {
            if known.fills && is_state(&shape.names) {
                return Ok(Build::Decided(Decided::Filled));
            }
            if known.decode_takes_version && known.version != shape.version {
                return Ok(into(plan));
            }
        }
        if upgrades(plan, shape) && shape.kind == ShapeKind::Object {
            return Ok(Build::Upgraded { plan: plan.clone(), lacking: None });
        }
        shape.names = interned(&shape.names)?;
        if renamed {
            distinct(&shape.names, at)?;
        }
        match (shape.kind, &plan.how) {
            (ShapeKind::Object, How::Fields) => self.build_of_fields(plan, shape, name, at),
            (ShapeKind::Object, How::NamedTuple(fields)) => {
                let order: Vec<usize> = shape
                    .names
                    .iter()
                    .filter_map(|name| fields.iter().position(|field| field.get() == name.get()))
                    .collect();
                if order.len() != shape.names.len() || order.len() != fields.len() {
                    self.check_unknown(plan, shape, name, at)?;
                    let lacking = Some(lacking(self.py, class, &shape.names)?);
                    return Ok(Build::Upgraded { plan: plan.clone(), lacking });
                }
                Ok(Build::NamedTuple { class, order })
            }
            (ShapeKind::Based, How::Based(base)) => {
                Ok(Build::Based { class, base: *base, places: places(plan, &shape.names)? })
            }
            (ShapeKind::Based, _) => Err(mismatch("a subclass of a builtin")),
            (ShapeKind::Object, How::Enum | How::Based(_)) => Err(mismatch("an instance with fields")),
            (ShapeKind::Object, How::Custom) => {
                let remedy = "`register` it with a new `version` and `decode(value, version)`, which is given a dict of the fields";
                let why = "was stored by its fields, before it was registered with `encode` and `decode`";
                Err(decode(format_args!("`{name}` {why}: {remedy}"), at))
            }
            (ShapeKind::Object, How::Refused(_)) if self.r.trusted() && !plan.is_foreign() => {
                match plan.sets_state(self.py)? {
                    true => Ok(Build::Decided(Decided::State)),
                    // As in pickle: what the class does to be stored is no matter here.
                    false => self.build_of_fields(plan, shape, name, at),
                }
            }
            (ShapeKind::Object, How::Refused(why)) if why.starts_with("its class defines") => {
                let remedy = "`register` it with a new `version`, `encode` and `decode(value, version)`, which is given a dict of the fields";
                let why = why.trim_end_matches(", which needs");
                Err(decode(format_args!("`{name}` was stored by its fields, and now {why}: {remedy}"), at))
            }
            _ => Err(decode(
                format_args!("`{name}` can't be built field by field: `register` it with `encode` and `decode`"),
                at,
            )),
        }
    }

    /// Refuses fields that the class has not, if its registration says so.
    fn check_unknown(&self, plan: &Plan, shape: &Shape, name: &str, at: usize) -> Result<()> {
        if plan.unknown() != Unknown::Refuse {
            return Ok(());
        }
        let declared = plan.declared(self.py)?;
        match shape.names.iter().find(|field| !plan.has_field(&declared, field)) {
            Some(field) => Err(refused_field(name, field, ", and is registered with `unknown=\"refuse\"`", at)),
            None => Ok(()),
        }
    }

    /// How an instance of an ordinary class is built: from slots, `__dict__` or both.
    fn build_of_fields(&mut self, plan: &Rc<Plan>, shape: &Shape, name: &str, at: usize) -> Result<Build> {
        let class = plan.class();
        let mut places = places(plan, &shape.names)?;
        let nowhere = places.iter().position(|place| matches!(place, Place::Nowhere));
        let mut lacks_defaulted = Vec::new();
        // In a trusted message, as in a pickle, what was not set stays unset, unless the program has registered the class.
        if !self.r.trusted() || plan.registration.is_some() {
            self.check_unknown(plan, shape, name, at)?;
            let declared = plan.declared(self.py)?;
            let is_there = |field: &Declared| shape.names.iter().any(|name| name.get() == field.name.get());
            if !declared.iter().all(is_there) {
                plan.check_required(&declared, &shape.names, name, at)?;
                lacks_defaulted = lacking(self.py, class, &shape.names)?;
            }
            let is_model = plan.is_model(&declared);
            for (field, place) in shape.names.iter().zip(&mut places) {
                if !plan.has_field(&declared, field) {
                    if is_model {
                        return Ok(Build::Upgraded { plan: plan.clone(), lacking: None });
                    }
                    if plan.unknown() == Unknown::Drop || is_of_models(field) {
                        *place = Place::Nowhere;
                    }
                }
            }
        } else if let (Some(field), true) = (nowhere, shape.version == plan.version) {
            let why = ": `register` the class, with `renames` if the field was renamed";
            return Err(refused_field(name, &shape.names[field], why, at));
        }
        if !lacks_defaulted.is_empty() {
            return Ok(Build::Upgraded { plan: plan.clone(), lacking: Some(lacks_defaulted) });
        }
        let offsets: Vec<usize> = places
            .iter()
            .filter_map(|place| if let Place::Slot(offset) = place { Some(*offset) } else { None })
            .collect();
        if offsets.len() == places.len() && plan.is_bare() {
            return Ok(Build::Slots { class, offsets });
        }
        let attributes = places.iter().all(|place| matches!(place, Place::Attribute(_)));
        if attributes && !plan.managed_dict {
            return Ok(Build::Attributes { plan: plan.clone() });
        }
        Ok(Build::Mixed { plan: plan.clone(), places })
    }

    /// The class with this stored name, if it is permitted: registered, one of the plain ones of the standard library, or
    /// in `types`. Only a trusted message imports modules; no attribute hook of a module in `types` runs.
    pub(crate) fn resolve(&mut self, name: &str, at: usize) -> Result<Option<Owned>> {
        if let Some(class) = self.permitted(name)? {
            return Ok(Some(class));
        }
        if self.r.trusted() && !self.options.records {
            return crate::types::reference::class_of(self.py, self.options.pickle.find_class.as_ref(), name, at)
                .map(Some);
        }
        if self.options.records {
            return Ok(None);
        }
        Err(unknown_type(format!("{name}"), registry::remedy(self.py, name), at))
    }

    /// Whether some resolver may have a say.
    pub(crate) fn has_resolvers(&self) -> bool {
        self.options.resolver.is_some() || registry::has_resolvers(self.py)
    }

    /// The class that a caller or a registration permits under this name.
    pub(crate) fn permitted(&self, name: &str) -> Result<Option<Owned>> {
        if let Some(registration) = registry::by_name(self.py, name)? {
            return Ok(Some(registration.class.clone()));
        }
        if let Some(class) = crate::types::permitted(self.py, name)? {
            return Ok(Some(class));
        }
        if let Some(class) = self.rules.schema.and_then(|schema| schema.permitted.get(name)) {
            return Ok(Some(class.clone()));
        }
        let is_it = |class: &Owned| -> Result<bool> {
            match crate::cpython::held(self.py, class).cast::<PyType>() {
                Ok(class) => Ok(plan::is_named(class, name)?),
                Err(_) => Ok(false),
            }
        };
        if let Some(class) = self.options.named.find(name).and_then(|at| self.options.types.get(at)) {
            if is_it(class)? {
                return Ok(Some(class.clone()));
            }
        }
        for (at, permitted) in self.options.types.iter().enumerate() {
            // SAFETY: `self.options` holds it.
            let permitted = unsafe { Bound::from_borrowed_ptr(self.py, permitted.get()) };
            if let Ok(class) = permitted.cast::<PyType>() {
                if plan::is_named(class, name)? {
                    self.options.named.keep(name, at);
                    // SAFETY: `permitted`, which `self.options` holds, is this class.
                    return Ok(Some(unsafe { Owned::borrowed(class.as_ptr()) }));
                }
            } else if let Ok(module) = permitted.cast::<PyModule>() {
                if let Some(class) = in_module(self.py, module, name)? {
                    return Ok(Some(class));
                }
            }
        }
        Ok(None)
    }
}

/// Whether the class's `upgrade` is called for what another version has stored.
fn upgrades(plan: &Plan, shape: &Shape) -> bool {
    plan.registration.as_ref().is_some_and(|known| known.upgrade.is_some() && known.version != shape.version)
}

/// An instance that is made of what was stored in another way.
fn into(plan: &Plan) -> Build {
    // SAFETY: the plan's class is alive while the plan is in use.
    let class = unsafe { Owned::borrowed(plan.class().cast()) };
    Build::Decided(Decided::Into { class, renames: Vec::new() })
}

/// Whether a field is one that pydantic's models keep beside their own, which another class has no use for.
fn is_of_models(field: &Owned) -> bool {
    // SAFETY: `field` is an owned reference to a string.
    unsafe { text::ascii(field.get()) }.is_some_and(|name| name.starts_with(b"__pydantic_"))
}

/// The names of fields interned, so that equal ones are one object.
fn interned(names: &[Owned]) -> Result<Vec<Owned>> {
    let mut found = Vec::with_capacity(names.len());
    for name in names {
        let mut raw = name.clone().into_raw();
        // SAFETY: `raw` is a reference of our own to a string; interning may exchange it for one to an equal string.
        found.push(unsafe {
            ffi::PyUnicode_InternInPlace(&mut raw);
            Owned::new(raw).ok_or_else(raised)?
        });
    }
    Ok(found)
}

/// Refuses interned names of which one occurs twice.
fn distinct(names: &[Owned], at: usize) -> Result<()> {
    let mut seen = HashSet::new();
    match names.len() > 1 && !names.iter().all(|name| seen.insert(name.get() as usize)) {
        true => Err(decode(SAME_NAME, at)),
        false => Ok(()),
    }
}

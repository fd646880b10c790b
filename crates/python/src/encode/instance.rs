//! Dicts and instances: shapes written once, values by position.

use crate::classes::how::{Base, How, STATE};
use crate::classes::plan;
use crate::classes::plan::Plan;
use crate::classes::{methods, registry, state};
use crate::cpython::dict::Position;
use crate::cpython::{bytes_of, float, int, prefetch, text, Obj, Owned};
use crate::encode::dialect::{Dialect, Native, NativeWriter};
use crate::encode::value::Stopped;
use crate::encode::{shapes, Encoder, Extra, Frame, Kind};
use crate::error::{detour, encode, raised, Detour, Fault, Result};
use crate::memory::{vec, Vec};
use crate::types;
use crate::types::walker::{WorkItem, BY_PARENT};
use holdall_format::model::{KnownType, Seq, ShapeKind};
use pyo3::ffi;
use pyo3::intern;
use pyo3::types::PyType;
use pyo3::Bound;
use std::rc::Rc;

impl<D: Dialect> Encoder<'_, D> {
    /// The plan of a class; most instances are of the same class as the one before.
    pub(crate) unsafe fn plan(&mut self, class: *mut ffi::PyTypeObject) -> Result<Rc<Plan>> {
        if let Some(plan) = &self.last_plan {
            if plan.class() == class {
                return Ok(plan.clone());
            }
        }
        // SAFETY: callers pass the class of a live object.
        let plan = unsafe { plan::of(self.py, class)? };
        // If hooks or canonical order need to see every object, the fast loop isn't used.
        self.fields_only = matches!(plan.how, How::Fields)
            && (!plan.has_dict || plan.managed_dict && plan.slots.is_empty())
            && !self.options.trust
            && !self.asks()
            && !plan.answers
            && !types::constant::may_be(&plan)
            && self.effort.is_none();
        self.last_plan = Some(plan.clone());
        Ok(plan)
    }
}

impl<W: NativeWriter> Encoder<'_, Native<W>> {
    /// Lets the walk write the slots of an instance that are set.
    pub(crate) unsafe fn set_slots(&mut self, object: &Owned, plan: &Rc<Plan>) {
        self.tables
            .stack
            .push(Frame { extra: Some(Extra::Plan(plan.clone())), ..Frame::new(object.clone(), Kind::Slots) });
    }

    /// Writes the head of an instance of that shape: the shape's number, or all of it if it is new.
    ///
    /// # Safety
    /// `names` are alive.
    pub(crate) unsafe fn shape(&mut self, kind: ShapeKind, plan: Option<&Plan>, names: &[Obj]) -> Result<u32> {
        // SAFETY: `names` are alive by contract, and the plan holds its class.
        unsafe {
            if names.iter().any(|&name| !text::is(name)) {
                return Err(detour(Detour::OwnWay("its `__dict__` has a key that is no `str`, which needs")));
            }
            let class = class_key(kind, plan);
            let hash = shapes::hash_of(class, names);
            let interned = self.options.intern || !self.options.refs;
            if let Some(shape) = self.tables.shapes.find(class, names, hash, interned) {
                self.w.instance(shape as usize);
                return Ok(shape);
            }
            self.new_shape(kind, plan, names, hash)
        }
    }

    /// Writes all of a shape that is new.
    ///
    /// # Safety
    /// `names` are strings.
    pub(crate) unsafe fn new_shape(
        &mut self,
        kind: ShapeKind,
        plan: Option<&Plan>,
        names: &[Obj],
        hash: u64,
    ) -> Result<u32> {
        // SAFETY: `names` are alive by contract, and the plan holds its class.
        unsafe {
            let class = class_key(kind, plan);
            if plan.is_some() && names.iter().any(|&name| methods::is_asked(name)) {
                return Err(detour(Detour::OwnWay("it has an attribute that pickle asks, which needs")));
            }
            if let Some(plan) = plan.filter(|plan| self.options.pickle.is_some() && !plan.is_findable.get()) {
                let class = Bound::from_borrowed_ptr(self.py, plan.class().cast()).cast_into_unchecked::<PyType>();
                if plan.registration.is_none() && types::reference::unfindable(&class)?.is_some() {
                    // The class may have a recipe from its metaclass; if not, that path gives the reason.
                    return Err(detour(Detour::OwnWay("")));
                }
                plan.is_findable.set(true);
            }
            // What is loaded as pickle does may lack fields.
            let checked = |plan: &&Plan| {
                kind == ShapeKind::Object
                    && (!self.options.trust || plan.registration.is_some())
                    && !matches!(plan.how, How::Custom)
            };
            if let Some(plan) = plan.filter(checked) {
                plan.check_whole(self.py, names)?;
            }
            let block = self.w.shape_begin(kind, plan.map_or(0, |plan| plan.version), names.len());
            if let Some(plan) = plan {
                self.name(plan.name.get())?;
            }
            for &name in names {
                self.name(name)?;
            }
            self.w.shape_end(block);
            if let (Some(window), Some(plan)) = (&mut self.window, plan) {
                window.keep(Owned::borrowed(plan.class().cast()));
            }
            Ok(self.tables.shapes.add(class, names, hash))
        }
    }

    /// Writes an instance of a class.
    ///
    /// # Safety
    /// `object` is alive and its id was written.
    pub(crate) unsafe fn instance(&mut self, object: Obj) -> Result<()> {
        // SAFETY: `object` is alive by contract and holds its class.
        let class = unsafe { ffi::Py_TYPE(object) };
        if let Some(How::Family(family)) =
            self.last_plan.as_ref().filter(|plan| plan.class() == class).map(|plan| &plan.how)
        {
            if !self.options.trust {
                let family = *family;
                // SAFETY: the plan of its class says this family.
                return unsafe { types::encode(self, family, object) };
            }
        }
        // SAFETY: a live object's class.
        let plan = unsafe { self.plan(class)? };
        // SAFETY: `object` is an instance of the plan's class.
        unsafe {
            if self.options.trust && self.dispatched(object, &plan)? {
                return Ok(());
            }
            if (plan.own_new || plan.answers) && self.by_own_way(object, &plan)? {
                return Ok(());
            }
            let written = match &plan.how {
                How::Fields if !plan.has_dict && !self.asks() => self.slots(object, &plan),
                How::Fields => self.fields(object, &plan),
                How::NamedTuple(names) if names.len() != ffi::Py_SIZE(object) as usize => {
                    self.refused(object, "it has more or fewer items than its class has names, which needs")
                }
                How::NamedTuple(names) => {
                    self.whole_shape(&plan, names.iter()).map(|()| self.items(object, Seq::Tuple))
                }
                How::Based(base) => self.based(object, &plan, *base),
                How::Enum => self.enumeration(object, &plan),
                How::Custom => self.custom(object, &plan),
                How::Family(family) => types::encode(self, *family, object),
                How::Nothing => self.replaced(object, Owned::borrowed(ffi::Py_None())),
                How::Refused(why) => self.refused(object, why),
            };
            match written {
                Err(fault) => self.detoured(object, fault),
                written => written,
            }
        }
    }

    /// Writes an object by a registration that is there for what the format has no form for. `false`: there is none.
    #[cold]
    pub(super) fn by_registration(&mut self, object: &Bound<'_, pyo3::PyAny>) -> Result<bool> {
        let object = object.as_ptr();
        // SAFETY: a live object's class, and its plan.
        unsafe {
            let plan = self.plan(ffi::Py_TYPE(object))?;
            let is_there = plan.registration.as_ref().is_some_and(|known| known.remaining);
            if is_there {
                self.custom(object, &plan)?;
            }
            Ok(is_there)
        }
    }

    /// Writes what the registered `encode` gives of an instance.
    ///
    /// # Safety
    /// `object` is an instance of the plan's class.
    unsafe fn custom(&mut self, object: Obj, plan: &Rc<Plan>) -> Result<()> {
        let Some((known, function)) = plan.registration.as_ref().and_then(|known| Some((known, known.encode.clone()?)))
        else {
            return Err(encode("a class was registered anew while it was being stored"));
        };
        // Functions that this package registered hand out nothing but what the object holds.
        if !known.ours {
            self.asks_program()?;
        }
        // SAFETY: `object` is alive by contract, also while the function runs.
        unsafe {
            if known.fills {
                self.shape(ShapeKind::Object, Some(plan), &[intern!(self.py, STATE).as_ptr()])?;
                let state = registry::call(&function, object)?;
                self.then_for(Owned::borrowed(object), vec![WorkItem::Value(state)]);
            } else {
                self.shape(ShapeKind::Custom, Some(plan), &[])?;
                let state = registry::call(&function, object)?;
                self.then_made(object, vec![WorkItem::Value(state)]);
            }
        }
        Ok(())
    }

    /// Writes an instance whose class has its own code for pickling, if that says something other than its fields. Else
    /// `false`.
    #[cold]
    unsafe fn by_own_way(&mut self, object: Obj, plan: &Rc<Plan>) -> Result<bool> {
        // SAFETY: `instance` passes an instance of the plan's class.
        unsafe {
            if plan.own_new
                && self.options.trust
                && matches!(plan.how, How::Fields | How::Based(_) | How::NamedTuple(_) | How::Enum)
            {
                self.refused(object, "")?;
                return Ok(true);
            }
            if !self.options.trust && types::constant::may_be(plan) {
                if let Some(name) = types::constant::name_of(self.py, plan, object)? {
                    self.member(object, plan, name)?;
                    return Ok(true);
                }
            }
            if plan.answers && matches!(plan.how, How::Fields | How::Based(_)) {
                self.asks_program()?;
                if let Some(name) = methods::answered(self.py, object)? {
                    let why = format!("its class answers `{name}` by code of its own, which needs");
                    self.refused(object, &why)?;
                    return Ok(true);
                }
            }
        }
        Ok(false)
    }

    /// Writes an instance whose attributes can't be fields; nothing of it has been written yet.
    #[cold]
    unsafe fn detoured(&mut self, object: Obj, fault: Fault) -> Result<()> {
        match fault.detour() {
            // SAFETY: the caller's object is alive.
            Some(Detour::OwnWay(why)) => unsafe { self.refused(object, why) },
            _ => Err(fault),
        }
    }

    /// Writes an instance without a `__dict__`.
    #[inline(always)]
    unsafe fn slots(&mut self, object: Obj, plan: &Rc<Plan>) -> Result<()> {
        // SAFETY: `object` is an instance of the plan's class.
        unsafe {
            let mut all_set = true;
            for slot in &plan.slots {
                let value = state::slot(object, slot.offset);
                prefetch(value);
                all_set &= !value.is_null();
            }
            if !all_set {
                return self.fields(object, plan);
            }
            self.whole_shape(plan, plan.slots.iter().map(|slot| &slot.name))?;
            for (at, slot) in plan.slots.iter().enumerate() {
                let value = state::slot(object, slot.offset);
                let Some(Stopped { depth, done }) = self.frameless(value)? else { continue };
                // After the last slot nothing is left to return to.
                if at + usize::from(done) == plan.slots.len() {
                    break;
                }
                let frame = Frame {
                    at: (at + usize::from(done)) as isize,
                    extra: Some(Extra::Plan(plan.clone())),
                    ..Frame::new(Owned::borrowed(object), Kind::Slots)
                };
                self.tables.stack.insert(depth, frame);
                break;
            }
        }
        Ok(())
    }

    /// Writes the head of an instance that has all fields that its class names.
    #[inline(always)]
    unsafe fn whole_shape<'n>(&mut self, plan: &Plan, names: impl Iterator<Item = &'n Owned>) -> Result<()> {
        let (serial, shape) = plan.shape.get();
        if serial == self.serial {
            self.w.instance(shape as usize);
            return Ok(());
        }
        let names: Vec<Obj> = names.map(Owned::get).collect();
        // SAFETY: the plan holds the names.
        let shape = unsafe { self.shape(ShapeKind::Object, Some(plan), &names)? };
        plan.shape.set((self.serial, shape));
        Ok(())
    }

    /// Writes an instance of the same class as the last one, if all of its state is in slots or in attributes. `false`: it is another
    /// class. Lists of such instances are frequent, and looking up the class of each takes a fifth of the time.
    ///
    /// # Safety
    /// `object` is alive.
    #[inline(always)]
    pub(crate) unsafe fn like_the_last(&mut self, object: Obj) -> Result<bool> {
        // SAFETY: `object` is alive by contract, and its class is compared with the plan's.
        unsafe {
            let plan = match &self.last_plan {
                Some(plan) if plan.class() == ffi::Py_TYPE(object) && self.fields_only => plan.clone(),
                _ => return Ok(false),
            };
            if !self.met(object, BY_PARENT)? {
                match plan.has_dict {
                    false => self.slots(object, &plan)?,
                    true => self.fields(object, &plan).or_else(|fault| self.detoured(object, fault))?,
                }
            }
        }
        Ok(true)
    }

    /// Prefetches the slots of an instance of the same class while the one before it is written. Their values are
    /// spread over memory, and waiting for text was a tenth of the time for dumping many small instances.
    ///
    /// # Safety
    /// `object` is alive.
    #[inline(always)]
    pub(crate) unsafe fn prefetch_slots(&self, object: Obj) {
        // SAFETY: `object` is alive by contract, and its class is that from which the offsets were read.
        unsafe {
            match &self.last_plan {
                Some(plan) if plan.class() == ffi::Py_TYPE(object) => {
                    for slot in &plan.slots {
                        prefetch(state::slot(object, slot.offset));
                    }
                }
                _ => {}
            }
        }
    }

    /// Writes the slots that are set, then `__dict__`.
    pub(crate) unsafe fn fields(&mut self, object: Obj, plan: &Rc<Plan>) -> Result<()> {
        // SAFETY: callers pass an instance of the plan's class.
        unsafe {
            let in_attributes = plan.managed_dict && plan.slots.is_empty() && !self.options.canonical;
            if in_attributes && (self.attributes_again(object, plan)? || self.attributes(object, plan)?) {
                return Ok(());
            }
            let dict = self.field_names(object, plan, ShapeKind::Object)?;
            if in_attributes {
                plan.shape.set((self.serial, self.last_shape));
            }
            self.field_values(object, plan, dict);
        }
        Ok(())
    }

    /// Writes an instance's head; returns its `__dict__`, whose values come last.
    pub(crate) unsafe fn field_names(
        &mut self,
        object: Obj,
        plan: &Rc<Plan>,
        kind: ShapeKind,
    ) -> Result<Option<Owned>> {
        // SAFETY: callers pass an instance of the plan's class.
        unsafe {
            let mut dict = plan.dict_of(object)?;
            if let Some(own) = &dict {
                // `Class[int]()` leaves this attribute, typing's note of the alias, which isn't data. Pickle stores it.
                let noted = intern!(self.py, "__orig_class__").as_ptr();
                if !self.options.trust && !ffi::PyDict_GetItemWithError(own.get(), noted).is_null() {
                    let copy = Owned::new(ffi::PyDict_Copy(own.get())).ok_or_else(raised)?;
                    if ffi::PyDict_DelItemString(copy.get(), c"__orig_class__".as_ptr()) != 0 {
                        return Err(raised());
                    }
                    self.tables.temporaries.push(copy.clone());
                    dict = Some(copy);
                }
            }
            let mut names: Vec<Obj> = plan
                .slots
                .iter()
                .filter(|slot| !state::slot(object, slot.offset).is_null())
                .map(|slot| slot.name.get())
                .collect();
            if self.options.canonical {
                dict = dict.map(|dict| types::sorted_dict(&dict)).transpose()?;
                self.tables.temporaries.extend(dict.clone());
            }
            if let Some(dict) = &dict {
                let mut position = Position(0);
                while let Some((key, _)) = position.next(dict.get()) {
                    if plan.slots.iter().any(|slot| text::is(key) && text::equal(slot.name.get(), key)) {
                        return Err(detour(Detour::OwnWay(
                            "its `__dict__` has a key that is a slot's name, which needs",
                        )));
                    }
                    names.push(key);
                }
            }
            self.last_shape = self.shape(kind, Some(plan), &names)?;
            Ok(dict)
        }
    }

    /// Lets the walk write the values of the fields that `field_names` named.
    pub(crate) unsafe fn field_values(&mut self, object: Obj, plan: &Rc<Plan>, dict: Option<Owned>) {
        // SAFETY: callers pass an instance of the plan's class. The frame pushed last is walked first.
        unsafe {
            if let Some(dict) = dict {
                let shape = if plan.slots.is_empty() { self.last_shape } else { shapes::NONE };
                self.dict_values(&dict, shape);
            }
            if !plan.slots.is_empty() {
                self.set_slots(&Owned::borrowed(object), plan);
            }
        }
    }

    /// Writes an instance of a builtin's subclass: the builtin's value, then the fields.
    unsafe fn based(&mut self, object: Obj, plan: &Rc<Plan>, base: Base) -> Result<()> {
        // SAFETY: the plan says that `object` is an instance of a subclass of `base`.
        unsafe {
            let dict = self.field_names(object, plan, ShapeKind::Based)?;
            self.field_values(object, plan, dict);
            match base {
                Base::List => {
                    self.w.list(ffi::Py_SIZE(object) as usize);
                    self.items(object, Seq::List);
                }
                Base::Tuple => {
                    self.w.tuple(ffi::Py_SIZE(object) as usize);
                    self.items(object, Seq::Tuple);
                }
                Base::StructSequence => {
                    let fields = types::struct_sequence::fields(self.py, object)?;
                    self.w.tuple(fields.len());
                    self.then_made(object, fields.into_iter().map(WorkItem::Value).collect());
                }
                Base::Dict => self.table(object)?,
                Base::OrderedDict => self.ordered_body(object)?,
                Base::DefaultDict => types::collections::encode(
                    self,
                    KnownType::PythonDefaultDict,
                    &Bound::from_borrowed_ptr(self.py, object),
                )?,
                Base::Deque => types::collections::encode(
                    self,
                    KnownType::PythonDeque,
                    &Bound::from_borrowed_ptr(self.py, object),
                )?,
                Base::Set => {
                    self.w.set(ffi::PySet_Size(object) as usize);
                    self.members(object)?;
                }
                Base::FrozenSet => {
                    self.w.frozenset(ffi::PySet_Size(object) as usize);
                    self.members(object)?;
                }
                Base::Str => {
                    let parts = text::parts(object).ok_or_else(raised)?;
                    self.w.text(parts);
                }
                Base::Bytes => {
                    self.w.bytes(bytes_of(object));
                }
                Base::ByteArray => {
                    let len = ffi::PyByteArray_Size(object) as usize;
                    self.w.bytearray(std::slice::from_raw_parts(ffi::PyByteArray_AsString(object).cast(), len));
                }
                Base::Int => match int::value(object) {
                    Some(value) => self.w.int(value),
                    None => {
                        self.big(object)?;
                    }
                },
                Base::Float => self.w.float(float::value(object)),
                Base::Complex => {
                    let value = (*object.cast::<ffi::PyComplexObject>()).cval;
                    self.w.complex(value.real, value.imag);
                }
                Base::Exception => {
                    if self.bare_exception(object)? {
                        return Ok(());
                    }
                    let parts = types::exception::parts(self.py, object)?;
                    if types::exception::is_of_parts(self.py, ffi::Py_TYPE(object))? {
                        self.then_made(object, parts);
                    } else {
                        self.then_for(Owned::borrowed(object), parts);
                    }
                }
            }
        }
        Ok(())
    }

    /// Writes the head of a record, as for instances of its class, with the stored name.
    pub(crate) fn record(&mut self, kind: ShapeKind, type_name: &str, version: u64, names: Vec<Owned>) -> Result<()> {
        // SAFETY: `names` and `name` hold the strings.
        unsafe {
            let name =
                Owned::new(ffi::PyUnicode_FromStringAndSize(type_name.as_ptr().cast(), type_name.len() as isize))
                    .ok_or_else(raised)?;
            // Each record writes its own shape: data of missing classes are kept completely, if not compactly.
            let raw: Vec<Obj> = names.iter().map(Owned::get).collect();
            if raw.iter().any(|&name| !text::is(name)) {
                return Err(encode("a record has a field whose name is no `str`"));
            }
            let block = self.w.shape_begin(kind, version, raw.len());
            if let Some(window) = &mut self.window {
                window.keep(name.clone());
            }
            let name = self.keep(name);
            self.name(name)?;
            for &name in &raw {
                self.name(name)?;
            }
            self.w.shape_end(block);
            // Look-ups never ask for this class: it is the address of the record's own name.
            self.tables.shapes.add(name as usize, &raw, shapes::hash_of(name as usize, &raw));
        }
        Ok(())
    }

    /// Writes a member of an enumeration: its name, or its value if it has no name (a union of flags).
    unsafe fn enumeration(&mut self, object: Obj, plan: &Rc<Plan>) -> Result<()> {
        // SAFETY: `instance` passes a member of an enumeration.
        unsafe { self.member(object, plan, types::enumeration::name_or_value(self.py, object)?) }
    }

    /// Writes an object that its class has under a name.
    unsafe fn member(&mut self, object: Obj, plan: &Rc<Plan>, name: Owned) -> Result<()> {
        // SAFETY: there are no names of fields; `keep` holds the name.
        unsafe {
            self.shape(ShapeKind::Enum, Some(plan), &[])?;
            let name = self.keep(name);
            if !self.leaf(name, isize::MAX)? {
                // The value of a union of flags may be a member of another enumeration.
                self.then_made(object, vec![WorkItem::Value(Owned::borrowed(name))]);
            }
        }
        Ok(())
    }
}

/// What a shape's class is known by, 0 for a dict. A class may have constants as well as instances with fields: addresses
/// are even, so the lowest bit tells them apart.
fn class_key(kind: ShapeKind, plan: Option<&Plan>) -> usize {
    plan.map_or(0, |plan| plan.class() as usize | usize::from(kind == ShapeKind::Enum))
}

//! How to build a class of the schema: key by key, by position in a stored shape, or in the order of its fields.

use super::super::run::CHANGED;
use super::super::Decoder;
use crate::classes::plan;
use crate::cpython::{text, Owned};
use crate::decode::dialect::Dialect;
use crate::error::{decode, invalid, Result};
use crate::memory::{format, Vec};
use crate::schema::class::{utf8, Class, ClassKind, Missing};
use crate::schema::ANY;
use crate::shapes::typed::{Expected, FieldPlaces, Member, Slot, StoredBy, Typed, SKIPPED, TAG};
use crate::shapes::{places, Build, Place, Shape};
use holdall_format::model::ShapeKind;
use holdall_format::Reader;
use std::cell::RefCell;
use std::rc::Rc;

impl<'i, D: Dialect<'i>> Decoder<'i, D> {
    /// The shape by which instances of a class are built key by key.
    pub(crate) fn members_shape(&mut self, index: u32) -> Result<Rc<Shape>> {
        let Some(schema) = self.rules.schema else { return Err(decode(CHANGED, self.here())) };
        if let Some(known) = schema.shapes.members(self.py, index) {
            return Ok(known);
        }
        let class = self.class(index)?;
        let names: Vec<Owned> = class.fields.iter().map(|field| field.name.clone()).collect();
        let mut shape = Shape::empty(names);
        let (way, places) = self.way(class, &mut shape)?;
        let (mut steps, mut order) = (Vec::with_capacity(places.len()), Vec::with_capacity(places.len()));
        for ((at, field), place) in (0..).zip(&class.fields).zip(places) {
            // SAFETY: the class's field holds the key, which is a string.
            let encoded = unsafe { text::ascii(field.key.get()) }.map(D::Reader::encoded).unwrap_or_default();
            let accepts = self.rules.node(field.node).accepts;
            if !encoded.is_empty() {
                order.push(Expected { encoded, field: at });
            }
            steps.push(Member { field: at, node: field.node, accepts, place });
        }
        shape.build = Build::Typed(Typed {
            class: index,
            way,
            form: StoredBy::Keys,
            steps,
            missing: Vec::new(),
            refusal: None,
            order: RefCell::new(order),
            answers: RefCell::default(),
            today: RefCell::default(),
            slots: None,
        });
        let shape = Rc::new(shape);
        schema.shapes.keep_members(self.py, index, &shape);
        Ok(shape)
    }

    /// The shape by which instances of a class are built from the values of the shape `stored`, by position.
    pub(crate) fn positions_shape(&mut self, stored: &Rc<Shape>, index: u32) -> Result<Rc<Shape>> {
        let Some(schema) = self.rules.schema else { return Err(decode(CHANGED, self.here())) };
        if let Some(known) = stored.matched_with(schema.serial, index) {
            return Ok(known);
        }
        let class = self.class(index)?;
        let of_dict = stored.kind == ShapeKind::Dict;
        let mut names = stored.names.clone();
        let mut shape = stored.like(Build::Unresolved, class.fields.iter().map(|field| field.name.clone()).collect());
        let (way, places) = self.way(class, &mut shape)?;
        if let (false, Some(plan)) = (of_dict, &shape.plan) {
            plan.rename(self.py, &mut names, stored.version)?;
        }
        let mut places: Vec<Option<Place>> = places.into_iter().map(Some).collect();
        let mut refusal = None;
        let by = if of_dict { &class.by_key } else { &class.by_name };
        let mut steps = Vec::with_capacity(names.len());
        for name in &names {
            let bytes = utf8(name)?;
            let field = by.get(&bytes).map(|&field| field as u16);
            let place = field.and_then(|field| places[field as usize].take());
            let tag = of_dict && class.tag.as_ref().is_some_and(|(tag, _)| utf8(tag).is_ok_and(|tag| tag == bytes));
            let (field, place) = match (field, place) {
                (Some(field), Some(place)) => (field, place),
                _ if tag => (TAG, Place::Nowhere),
                _ => {
                    if class.forbid_unknown && refusal.is_none() && !(of_dict && class.is_version(&bytes)?) {
                        refusal = Some(unknown(&bytes));
                    }
                    (SKIPPED, Place::Nowhere)
                }
            };
            let node = class.fields.get(field as usize).map_or(ANY, |field| field.node);
            let accepts = self.rules.node(node).accepts;
            steps.push(Member { field, node, accepts, place });
        }
        let missing: Vec<(u16, Place)> = (0..).zip(places).filter_map(|(field, place)| Some((field, place?))).collect();
        let refused = |field: u16| matches!(class.fields[field as usize].missing, Missing::Refused);
        if let Some(&(field, _)) = missing.iter().find(|(field, _)| refused(*field)) {
            refusal.get_or_insert(lacking(class, field)?);
        }
        let slots = slots_of(class, way, &steps).filter(|_| missing.is_empty() && refusal.is_none());
        shape.build = Build::Typed(Typed {
            class: index,
            way,
            form: StoredBy::Positions,
            steps,
            missing,
            refusal,
            order: RefCell::default(),
            answers: RefCell::default(),
            today: RefCell::default(),
            slots,
        });
        let shape = Rc::new(shape);
        stored.match_with(schema.serial, index, &shape);
        Ok(shape)
    }

    /// The shape by which instances of a class are built from `len` values in the order of its fields.
    pub(crate) fn order_shape(&mut self, index: u32, len: usize) -> Result<Rc<Shape>> {
        let members = self.members_shape(index)?;
        // Cached with the shape by keys, which belongs to this schema and class, under the number of values. There are few.
        let key = len as u64;
        // One step for each value, including those that belong to no field.
        self.claim(0, 64 * len)?;
        if let Some((_, _, known)) = members.matched.borrow().iter().find(|(known, _, _)| *known == key) {
            return Ok(known.clone());
        }
        let class = self.class(index)?;
        let mut shape = Shape::empty(members.names.clone());
        let (way, places) = self.way(class, &mut shape)?;
        let fields = class.fields.len();
        let tagged = class.tag.is_some() && class.kind == ClassKind::Fields;
        let mut steps = Vec::with_capacity(len);
        if tagged {
            steps.push(Member::passed_over(TAG));
        }
        let mut fields_left = (0..).zip(&class.fields).zip(places);
        for ((at, field), place) in fields_left.by_ref().take(len - steps.len()) {
            let accepts = self.rules.node(field.node).accepts;
            steps.push(Member { field: at, node: field.node, accepts, place });
        }
        let missing: Vec<(u16, Place)> = fields_left.map(|((at, _), place)| (at, place)).collect();
        steps.resize_with(len, || Member::passed_over(SKIPPED));
        let slots = slots_of(class, way, &steps).filter(|_| missing.is_empty());
        shape.build = Build::Typed(Typed {
            class: index,
            way,
            form: StoredBy::Positions,
            steps,
            missing,
            refusal: None,
            order: RefCell::default(),
            answers: RefCell::default(),
            today: RefCell::default(),
            slots,
        });
        let shape = Rc::new(shape);
        if members.matched.borrow().len() < 8 && len <= fields + usize::from(tagged) {
            members.matched.borrow_mut().push((key, index, shape.clone()));
        }
        Ok(shape)
    }

    /// Where instances of a class keep their fields; sets the shape's plan and size.
    pub(crate) fn way(&self, class: &Class, shape: &mut Shape) -> Result<(FieldPlaces, Vec<Place>)> {
        let Some(of) = &class.class else {
            shape.bytes = 128 + 64 * class.fields.len();
            return Ok((FieldPlaces::Dict, class.fields.iter().map(|field| Place::Key(field.name.clone())).collect()));
        };
        // SAFETY: the schema holds the class.
        let plan = unsafe { plan::of(self.py, of.get().cast())? };
        // SAFETY: the schema holds the plan's class, which is `of`.
        let (fixed, has_dict) = unsafe { ((*plan.class()).tp_basicsize as usize, (*plan.class()).tp_dictoffset != 0) };
        // A `__dict__` is a second object, and has a table of its own.
        shape.bytes = fixed + 48 + 40 * class.fields.len() + if has_dict { 152 } else { 0 };
        shape.plan = Some(plan.clone());
        if class.kind == ClassKind::NamedTuple {
            return Ok((FieldPlaces::Tuple, (0..class.fields.len()).map(Place::Item).collect()));
        }
        let names: Vec<Owned> = class.fields.iter().map(|field| field.name.clone()).collect();
        let places = places(&plan, &names)?;
        if places.iter().any(|place| matches!(place, Place::Nowhere)) {
            return Err(invalid(format_args!("`{}` has a field that its instances have no place for", class.name)));
        }
        let slots = plan.is_bare() && places.iter().all(|place| matches!(place, Place::Slot(_)));
        Ok((if slots { FieldPlaces::Slots } else { FieldPlaces::Instance }, places))
    }
}

/// The slots of a class whose instances are nothing but slots, for the loop of `begin_slots`.
fn slots_of(class: &Class, way: FieldPlaces, steps: &[Member]) -> Option<Box<[Slot]>> {
    if way != FieldPlaces::Slots || class.goes_on() || class.pre_init.is_some() {
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

fn lacking(class: &Class, field: u16) -> Result<String> {
    let name = utf8(&class.fields[field as usize].name)?;
    Ok(class.lacks(&String::from_utf8_lossy(&name)))
}

pub(crate) fn unknown(name: &[u8]) -> String {
    // A character takes at most four bytes.
    let name = String::from_utf8_lossy(&name[..name.len().min(64 * 4)]);
    format!("Object contains unknown field `{}`", name.chars().take(64).collect::<String>())
}

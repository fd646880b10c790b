//! Recipes, and objects by name: in trusted messages only. What `__reduce__` gives is mostly small (a class, a tuple of leaves, a dict of
//! them), and then needs no frame. Parts are read until one isn't small; a frame takes over from there.

use super::frame::{Frame, Kind, Make, Parts};
use super::{Decoder, Numbered, State, NO_ID};
use crate::budget::hash_cost::{hash_cost_of_instance, HashCost};
use crate::cpython::{dict, fill, Owned};
use crate::decode::dialect::Dialect;
use crate::error::{decode, raised, Result};
use crate::memory::Vec;
use crate::schema::node::accepts;
use crate::shapes::Build;
use crate::types;
use holdall_format::model::{reduce, Seq};
use holdall_format::{Reader, Token};
use pyo3::ffi;

/// Tuples, lists and dicts with more items get frames.
const FEW: usize = 16;
/// Small values may hold small values that deep: as much is read twice where one turns out not to be small.
const DEEP: usize = 3;

/// Names and values.
pub(super) type Pairs = Vec<(Owned, Owned)>;

impl<'i, D: Dialect<'i>> Decoder<'i, D> {
    /// A recipe: the parts that make the object, then those applied to it.
    pub(super) fn recipe(&mut self, flags: u8, at: usize) -> Result<Option<Owned>> {
        if !types::reduce::is_sound(flags) {
            return Err(decode("a recipe with parts that exclude each other", at));
        }
        let (made_of, then) = reduce::values(flags);
        self.claim(made_of + then, 256)?;
        let (object_id, deferred, mut held) = (self.take_id(), self.late.deferred.len(), HashCost::default());
        let (mut left, mut object, mut parts) = (flags, None, std::mem::take(&mut self.tables.leaves));
        for number in 0..made_of + then {
            let part = if flags & reduce::AGAIN == 0 { self.small_part(DEEP, &mut held)? } else { None };
            let Some(part) = part else {
                let gathered = std::mem::take(&mut parts);
                let frame =
                    Frame::gather(Make::Recipe { flags: left, deferred }, object, made_of + then, object_id, at);
                self.push(Frame { kind: Kind::Reduce, at: number, hash_cost: held, ..frame });
                return self.go_on_with_recipe(gathered);
            };
            parts.push(part);
            match &object {
                None if parts.len() == made_of => {
                    object = Some(types::reduce::create(self.py, flags, &parts, at)?);
                    parts.clear();
                }
                None => {}
                Some(object) => self.apply(&mut left, object, &mut parts, at)?,
            }
        }
        parts.clear();
        self.tables.leaves = parts;
        let Some(object) = object else { return Err(decode("a recipe without its object", at)) };
        self.object_id = object_id;
        // SAFETY: `object` is an owned reference.
        self.add_hash_cost(unsafe { hash_cost_of_instance(object.get(), held, made_of + then) });
        self.done(Some(object))
    }

    /// The top frame, of a recipe that was begun without, gets what was read so far.
    fn go_on_with_recipe(&mut self, parts: Vec<Owned>) -> Result<Option<Owned>> {
        let Some(frame) = self.tables.stack.last_mut() else { return Ok(None) };
        frame.gathered().extend(parts);
        if let (Some(object), object_id) = (frame.object.clone(), frame.object_id) {
            self.opened_here(object_id, &object);
        }
        Ok(None)
    }

    /// A part that needs no frame, and holds others no deeper than that; adds the cost of hashing it. `None`: it needs one, and is
    /// still unread.
    pub(super) fn small_part(&mut self, deep: usize, held: &mut HashCost) -> Result<Option<Owned>> {
        if self.elsewhere.again.is_some() || self.r.indexed().is_some() {
            return Ok(None);
        }
        let (before, ids) = (self.r.place(), self.object_ids());
        let bounds = (self.bounds.objects, self.bounds.bytes);
        let part = self.small_value(deep, held)?;
        if part.is_none() {
            self.back_to(before, ids);
            (self.bounds.objects, self.bounds.bytes) = bounds;
        }
        Ok(part)
    }

    /// A leaf, an object that was met before, a packed run, a known type of leaves, or a few small values in a tuple, list or dict;
    /// perhaps with an id.
    fn small_value(&mut self, deep: usize, held: &mut HashCost) -> Result<Option<Owned>> {
        if let Some(leaf) = self.next_leaf(accepts::ALL)? {
            return Ok(Some(leaf));
        }
        let (mut token, mut object_id) = (self.r.token()?, NO_ID);
        if matches!(token, Token::AssignId) {
            object_id = self.object_ids() as u32;
            self.tables.numbered.push(Numbered::open());
            if let Some(leaf) = self.next_leaf(accepts::ALL)? {
                self.whole(object_id, leaf.get());
                return Ok(Some(leaf));
            }
            token = self.r.token()?;
        }
        let at = self.here();
        let (made, hash_cost) = match token {
            Token::Reference(number) if object_id == NO_ID => {
                let Some(Numbered { object: Some(object), hash_cost, state: State::Whole, .. }) =
                    self.tables.numbered.get(number as usize)
                else {
                    return Ok(None);
                };
                (object.clone(), *hash_cost)
            }
            Token::Tuple(len @ ..=FEW) if deep > 0 => {
                let mut within = HashCost::default();
                let Some(tuple) = self.small_tuple(len, deep - 1, &mut within)? else { return Ok(None) };
                (tuple, if len == 0 { within } else { within.around(1, len) })
            }
            Token::List(len @ ..=FEW) if deep > 0 => {
                let Some(list) = self.small_list(len, deep - 1)? else { return Ok(None) };
                (list, HashCost::default())
            }
            Token::Dict(0) => {
                self.charge_read(0, 64)?;
                // SAFETY: the GIL is held while a decoder lives.
                (unsafe { Owned::new(ffi::PyDict_New()) }.ok_or_else(raised)?, HashCost::default())
            }
            Token::Instance(number) if deep > 0 => {
                let Some(dict) = self.small_dict(number, deep - 1, &mut HashCost::default())? else { return Ok(None) };
                (dict, HashCost::default())
            }
            // Looked up once: nothing of it can fail to be small.
            Token::Global if deep == DEEP => {
                let Some(found) = self.named(at)? else { return Ok(None) };
                (found, HashCost::default())
            }
            Token::Ints(..)
            | Token::Floats(..)
            | Token::Texts(..)
            | Token::Bools(..)
            | Token::DateTime { .. }
            | Token::KnownType(_)
                if deep > 0 =>
            {
                let mut within = HashCost::default();
                let Some(made) = self.flat_value(token, &mut within)? else { return Ok(None) };
                (made, within)
            }
            token => {
                let Some(leaf) = self.rare_leaf(token)? else { return Ok(None) };
                (leaf, HashCost::default())
            }
        };
        if object_id != NO_ID {
            self.tables.numbered[object_id as usize].hash_cost = hash_cost;
            self.whole(object_id, made.get());
        }
        held.add(hash_cost);
        Ok(Some(made))
    }

    fn small_tuple(&mut self, len: usize, deep: usize, held: &mut HashCost) -> Result<Option<Owned>> {
        // SAFETY: the GIL is held while a decoder lives. Nobody else sees the tuple before its slots are filled.
        let tuple = unsafe { Owned::new(ffi::PyTuple_New(len as isize)) }.ok_or_else(raised)?;
        for at in 0..len {
            let Some(item) = self.small_value(deep, held)? else { return Ok(None) };
            // SAFETY: `at` is below the tuple's length.
            unsafe { fill::tuple_item(tuple.get(), at, item) };
        }
        self.charge_read(len, 48 + 8 * len)?;
        Ok(Some(tuple))
    }

    fn small_list(&mut self, len: usize, deep: usize) -> Result<Option<Owned>> {
        // A list with empty slots must not be seen by code that may run for one of the items.
        let mut items: [Option<Owned>; FEW] = Default::default();
        for place in &mut items[..len] {
            *place = self.small_value(deep, &mut HashCost::default())?;
            if place.is_none() {
                return Ok(None);
            }
        }
        self.charge_read(len, 64 + 8 * len)?;
        // SAFETY: the GIL is held while a decoder lives. The new list has as many empty slots as there are items, which are all there.
        unsafe {
            let (list, places) = super::runs::sequence(Seq::List, len)?;
            for (at, item) in items.into_iter().flatten().enumerate() {
                *places.add(at) = item.into_raw();
            }
            Ok(Some(list))
        }
    }

    /// A dict of the layout with that number; adds to `held` what the values cost to hash.
    fn small_dict(&mut self, number: usize, deep: usize, held: &mut HashCost) -> Result<Option<Owned>> {
        let Some(pairs) = self.small_pairs(number, deep, held)? else { return Ok(None) };
        // SAFETY: the GIL is held while a decoder lives.
        let dict = unsafe { Owned::new(ffi::PyDict_New()) }.ok_or_else(raised)?;
        for (name, value) in &pairs {
            // SAFETY: all are owned references, and names are strings.
            if !unsafe { dict::set(dict.get(), name.get(), value.get()) } {
                return Err(raised());
            }
        }
        // SAFETY: `dict` is a dict. The frame that reads it again says what is wrong with a name that occurs twice.
        Ok((unsafe { dict::len(dict.get()) } == pairs.len()).then_some(dict))
    }

    /// The names and values of such a dict. A name may be there twice.
    pub(super) fn small_pairs(&mut self, number: usize, deep: usize, held: &mut HashCost) -> Result<Option<Pairs>> {
        let shape = self.shape_of(number)?;
        if !matches!(shape.build, Build::Dict) || shape.names.len() > FEW {
            return Ok(None);
        }
        let mut pairs: Pairs = Vec::with_capacity(shape.names.len());
        for name in &shape.names {
            let Some(value) = self.small_value(deep, held)? else { return Ok(None) };
            pairs.push((name.clone(), value));
        }
        self.charge_read(shape.names.len(), shape.bytes)?;
        Ok(Some(pairs))
    }

    /// Charges a container whose values were read already: what they hold must have been there.
    pub(super) fn charge_read(&mut self, len: usize, bytes: usize) -> Result<()> {
        self.claim(0, bytes)?;
        self.bounds.objects = self.bounds.objects.checked_sub(len).ok_or_else(|| self.over(0))?;
        Ok(())
    }

    /// The object with the module and the name that follow. `None`: one of them is no leaf, and nothing was looked up.
    fn named(&mut self, at: usize) -> Result<Option<Owned>> {
        let mut parts = Vec::with_capacity(2);
        for _ in 0..2 {
            let Some(part) = self.leaf_or_shared()? else { return Ok(None) };
            parts.push(part);
        }
        types::reference::find(self.py, self.options.pickle.find_class.as_ref(), &parts, at).map(Some)
    }

    /// An object by module and name.
    pub(super) fn global(&mut self, at: usize) -> Result<Option<Owned>> {
        if self.elsewhere.again.is_none() && self.r.indexed().is_none() {
            let (object_id, before, ids) = (self.take_id(), self.r.place(), self.object_ids());
            let found = self.named(at)?;
            self.object_id = object_id;
            if found.is_some() {
                self.claim(0, 256)?;
                return self.done(found);
            }
            self.back_to(before, ids);
        }
        self.gather(Make::Global, 2)
    }

    /// Handles the next part of a recipe in a frame.
    pub(super) fn reduce_part(&mut self) -> Result<()> {
        let Some(frame) = self.tables.stack.last_mut() else { return Ok(()) };
        let (at, object_id) = (frame.offset, frame.object_id);
        let Some(Parts { make: Some(Make::Recipe { flags, deferred }), gathered, .. }) = frame.parts.as_deref_mut()
        else {
            return Err(decode("a frame without its recipe", at));
        };
        let (mut flags, deferred) = (*flags, *deferred);
        if frame.object.is_none() && gathered.len() < reduce::values(flags).0 {
            return Ok(());
        }
        let mut parts = std::mem::take(gathered);
        let object = frame.object.clone();
        // Functions must see their arguments complete.
        self.finish_deferred(deferred)?;
        let object = match object {
            None => {
                let made = self.made_by(flags, &parts, object_id, at)?;
                parts.clear();
                made
            }
            Some(object) => {
                self.apply(&mut flags, &object, &mut parts, at)?;
                object
            }
        };
        let Some(frame) = self.tables.stack.last_mut() else { return Ok(()) };
        frame.object = Some(object);
        if let Some(Parts { make: Some(Make::Recipe { flags: left, .. }), gathered, .. }) = frame.parts.as_deref_mut() {
            (*left, *gathered) = (flags, parts);
        }
        Ok(())
    }

    /// Applies the next part to the object of a recipe; `left` are the flags of those that are still to come. A state waits for its
    /// setter.
    fn apply(&mut self, left: &mut u8, object: &Owned, parts: &mut Vec<Owned>, at: usize) -> Result<()> {
        // Parts come in the order of their flags.
        let then = [reduce::ITEMS, reduce::PAIRS, reduce::STATE, reduce::SETTER];
        let Some(flag) = then.into_iter().find(|flag| *left & flag != 0) else {
            return Err(decode("a recipe out of place", at));
        };
        *left &= !flag;
        if flag == reduce::STATE && *left & reduce::SETTER != 0 {
            return Ok(());
        }
        match &parts[..] {
            [state, setter] => types::reduce::set_by(self.py, setter, object, state)?,
            [part] => types::reduce::apply(self.py, flag, object, part, at)?,
            _ => return Err(decode("a recipe out of place", at)),
        }
        parts.clear();
        Ok(())
    }

    /// The object that function and arguments make, unless one of the arguments has led to making it already.
    fn made_by(&mut self, flags: u8, parts: &[Owned], object_id: u32, at: usize) -> Result<Owned> {
        if let Some(Numbered { object: Some(made), .. }) = self.tables.numbered.get(object_id as usize) {
            return Ok(made.clone());
        }
        let [number, rest @ ..] = parts else { return Err(decode("a recipe without parts", at)) };
        if flags & reduce::AGAIN == 0 {
            let made = types::reduce::create(self.py, flags, parts, at)?;
            self.opened_here(object_id, &made);
            return Ok(made);
        }
        let number = types::reduce::number(self.py, number)
            .filter(|&number| matches!(self.tables.numbered.get(number), Some(Numbered { object: None, .. })));
        let Some(number) = number else { return Err(decode("a recipe that makes no object that is being made", at)) };
        let made = types::reduce::create(self.py, flags, rest, at)?;
        self.opened_here(number as u32, &made);
        self.opened_here(object_id, &made);
        Ok(made)
    }

    /// Enters the object of the top frame under an id; that frame's index is its place on the stack.
    fn opened_here(&mut self, object_id: u32, made: &Owned) {
        self.opened(object_id, made.get());
        if let Some(entry) = self.tables.numbered.get_mut(object_id as usize) {
            entry.hash_cost.values = self.tables.stack.len() as u32 - 1;
        }
    }

    pub(crate) fn finish_reduce(&mut self, mut frame: Frame<D::Make>) -> Result<Owned> {
        let Some(object) = frame.object.take() else { return Err(decode("a recipe without its object", frame.offset)) };
        if frame.object_id != NO_ID {
            self.tables.numbered[frame.object_id as usize].state = State::Whole;
        }
        Ok(object)
    }
}

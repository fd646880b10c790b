//! Lists and conses. A list that ends in NIL is a list; conses that don't are `Cons` objects.
//!
//! How a list ends is known only at its end. Until something refers to it, it is taken for a list of Python's.

use super::known::{FromLisp, LispMake};
use crate::classes::state::{allocate, slot_mut};
use crate::cpython::{fill, float, int, replace, Obj, Owned};
use crate::decode::frame::{Frame, Kind, Make, Parts};
use crate::decode::{Decoder, State, NO_ID};
use crate::error::{decode, raised, Result};
use crate::memory::Vec;
use crate::schema::node::accepts;
use crate::schema::{NodeId, ANY};
use holdall_format::model::{Leaf, LispNumbers, LispReader};
use pyo3::ffi;

/// Shorter lists are read number by number.
const LEAST_RUN: usize = 16;
const DOTTED: &str = "expected a list, found one that doesn't end in NIL";

impl<'i, R: LispReader<'i>> Decoder<'i, FromLisp<'i, R>> {
    /// Begins a list of `len` conses.
    pub(super) fn list_of_conses(&mut self, len: usize, item: NodeId) -> Result<Option<Owned>> {
        let start = self.here();
        self.claim(len, 64 + 8 * len)?;
        let improper = self.dialect.improper.as_ref().is_some_and(|improper| improper.contains(start));
        if len == 1 && item == ANY {
            if let Some(made) = self.pair()? {
                return self.done(Some(made));
            }
            if improper || self.object_id != NO_ID {
                return self.conses(false);
            }
        } else if improper {
            return self.cells(len + 1);
        }
        // SAFETY: the GIL is held while a decoder lives. The places are filled before anybody sees them.
        let list = unsafe { Owned::new(ffi::PyList_New(len as isize)) }.ok_or_else(raised)?;
        let object_id = self.take_id();
        self.opened(object_id, list.get());
        let accepts = self.rules.node(item).accepts;
        let mut at = 0;
        while at < len {
            if item == ANY && len - at >= LEAST_RUN {
                at = self.fill_numbers(&list, at, len)?;
                if at == len {
                    break;
                }
            }
            let Some(value) = self.next_leaf(accepts)? else { break };
            // SAFETY: the list is ours alone, with a place for each value.
            unsafe { fill::list_item(list.get(), at, value) };
            at += 1;
        }
        if at == len && self.nil_follows()? {
            self.whole(object_id, list.get());
            return Ok(Some(list));
        }
        let frame = Frame { at, item, offset: start, ..self.frame(Kind::List, Some(list), len, object_id) };
        if at < len {
            return Ok(self.push(frame));
        }
        self.dotted(frame)?;
        Ok(None)
    }

    /// Fills a list with the numbers that come next in the same form. Returns where the next value goes.
    fn fill_numbers(&mut self, list: &Owned, from: usize, len: usize) -> Result<usize> {
        let mut at = from;
        let mut put = |value: Option<Owned>| -> Result<()> {
            // SAFETY: the list is ours alone; the reader gives no more numbers than there are places.
            unsafe { fill::list_item(list.get(), at, value.ok_or_else(raised)?) };
            at += 1;
            Ok(())
        };
        // SAFETY: the GIL is held while a decoder lives.
        unsafe {
            match self.r.numbers(len - from) {
                None => {}
                Some(LispNumbers::Small(run, least, value)) => {
                    // Ints have no identity: one object for each value serves all of them.
                    let mut made: [Option<Owned>; 256] = [const { None }; 256];
                    for &byte in run {
                        let known = &mut made[usize::from(byte)];
                        if known.is_none() {
                            *known = int::from_value(value + i64::from(byte) - i64::from(least));
                        }
                        put(known.clone())?;
                    }
                }
                Some(LispNumbers::Ints(run)) => {
                    for [_, bytes @ ..] in run {
                        put(int::from_value(i64::from_le_bytes(*bytes)))?;
                    }
                }
                Some(LispNumbers::Floats(run)) => {
                    for [_, bytes @ ..] in run {
                        put(float::from_value(f64::from_le_bytes(*bytes)))?;
                    }
                }
            }
        }
        Ok(at)
    }

    /// A list of one leaf, or a cons of two; `None`, and nothing is read, if another value comes.
    fn pair(&mut self) -> Result<Option<Owned>> {
        let before = self.r.place();
        let Some(car) = self.next_leaf(accepts::ALL)? else { return Ok(None) };
        let Some(cdr) = self.next_leaf(accepts::ALL)? else {
            self.r.rewind(before);
            return Ok(None);
        };
        // SAFETY: the GIL is held while a decoder lives; the singleton is compared by its address.
        unsafe {
            if cdr.get() != ffi::Py_None() {
                let cons = self.new_cons()?;
                self.fill_cons(cons.get(), car, cdr);
                return Ok(Some(cons));
            }
            let list = Owned::new(ffi::PyList_New(1)).ok_or_else(raised)?;
            fill::list_item(list.get(), 0, car);
            Ok(Some(list))
        }
    }

    pub(super) fn fill_cons(&self, cons: Obj, car: Owned, cdr: Owned) {
        let [car_at, cdr_at] = self.dialect.lisp.names.cons_slots;
        // SAFETY: callers pass an instance of the class in which the two slots were found.
        unsafe {
            replace(slot_mut(cons, car_at), car.into_raw());
            replace(slot_mut(cons, cdr_at), cdr.into_raw());
        }
    }

    /// Steps over NIL, if it comes next.
    #[inline(always)]
    pub(super) fn nil_follows(&mut self) -> Result<bool> {
        let before = self.r.place();
        if let Some(Leaf::None) = self.r.leaf()? {
            return Ok(true);
        }
        self.r.rewind(before);
        Ok(false)
    }

    /// After the last car: the frame's list, if NIL follows; else its last cdr is to be built.
    #[inline(always)]
    pub(super) fn end_of_list(&mut self, frame: Option<Frame<LispMake>>) -> Result<Option<Frame<LispMake>>> {
        let Some(frame) = frame else { return Ok(None) };
        // Lists of other frames have no NIL at their end.
        if !frame.hand_over || self.nil_follows()? {
            return Ok(Some(frame));
        }
        self.dotted(frame)?;
        Ok(None)
    }

    #[cold]
    fn dotted(&mut self, frame: Frame<LispMake>) -> Result<()> {
        if frame.item != ANY {
            return Err(decode(DOTTED, frame.offset));
        }
        let make = Make::Dialect(LispMake::Dotted { start: frame.offset });
        let parts = Parts { make: Some(make), ..Parts::default() };
        self.claim(1, 256 + 64 * frame.len)?;
        self.push(Frame { kind: Kind::Gather, at: 0, len: 1, parts: Some(Box::new(parts)), ..frame });
        Ok(())
    }

    pub(super) fn new_cons(&self) -> Result<Owned> {
        let names = self.dialect.lisp.names;
        // SAFETY: the class is held.
        unsafe { allocate(names.cons.get().cast(), 0) }
    }

    /// A list that is known to be no list of Python's: its first cons is there before what it holds.
    fn cells(&mut self, values: usize) -> Result<Option<Owned>> {
        let head = self.new_cons()?;
        self.claim(1, 256 + 64 * values)?;
        let object_id = self.take_id();
        self.opened(object_id, head.get());
        let frame = Frame::gather(Make::Dialect(LispMake::Cells), Some(head), values, object_id, self.here());
        Ok(self.push(frame))
    }

    /// What was gathered of a list, once its last cdr is there.
    pub(super) fn finished_list(
        &mut self,
        make: &LispMake,
        object: Option<Owned>,
        object_id: u32,
        mut parts: Vec<Owned>,
        at: usize,
    ) -> Result<Owned> {
        let (Some(object), Some(cdr)) = (object, parts.pop()) else {
            return Err(decode("a cons without its parts", at));
        };
        match *make {
            LispMake::Cells => self.linked(Some(object), parts, cdr),
            // NIL with an id.
            // SAFETY: the singleton is compared by its address.
            LispMake::Dotted { .. } if cdr.get() == unsafe { ffi::Py_None() } => Ok(object),
            LispMake::Dotted { start } => {
                // SAFETY: the frame's list, all of whose places are filled.
                unsafe {
                    for place in 0..ffi::PyList_Size(object.get()) {
                        parts.push(Owned::borrowed(ffi::PyList_GetItem(object.get(), place)));
                    }
                }
                self.instead(object_id, start);
                self.linked(None, parts, cdr)
            }
            _ => Err(decode("a list out of place", at)),
        }
    }

    /// Takes an object out of the table of ids: another comes in its place. If something has referred to it, the message is built
    /// once more.
    pub(super) fn instead(&mut self, object_id: u32, start: usize) {
        if object_id != NO_ID {
            if self.tables.numbered[object_id as usize].state == State::Seen {
                self.anew(start);
            }
            self.tables.numbered[object_id as usize].object = None;
        }
    }

    /// Conses of these cars, the first of which may be there already.
    pub(super) fn linked(&mut self, head: Option<Owned>, mut cars: Vec<Owned>, cdr: Owned) -> Result<Owned> {
        self.charge(64 * cars.len())?;
        let mut rest = cdr;
        while cars.len() > 1 {
            let Some(car) = cars.pop() else { break };
            let cons = self.new_cons()?;
            self.fill_cons(cons.get(), car, rest);
            rest = cons;
        }
        let Some(car) = cars.pop() else { return Err(decode("a cons without its parts", self.here())) };
        let head = match head {
            Some(head) => head,
            None => self.new_cons()?,
        };
        self.fill_cons(head.get(), car, rest);
        Ok(head)
    }
}

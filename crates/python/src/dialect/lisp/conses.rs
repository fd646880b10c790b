//! Conses within conses, as in a graph of them: all are built in one frame, which has a small entry for each that is open.
//!
//! Conses that end in NIL become a list of Python's. Before their end they are taken for what is likely: a `Cons` where they are
//! alone and have an id, else a list. Nobody has seen that yet. When something refers to them, [`Decoder::settle_conses`] looks
//! up once how all conses of the message end.

use super::cell::{append, new_list, Cell};
use super::known::{FromLisp, LispMake};
use crate::budget::hash_cost::HashCost;
use crate::classes::state::slot_mut;
use crate::cpython::{replace, Owned};
use crate::decode::frame::{Frame, Kind, Make, Parts};
use crate::decode::{Decoder, Numbered, State, NO_ID};
use crate::error::{decode, limit, Result};
use crate::memory::Vec;
use crate::schema::node::accepts;
use crate::schema::ANY;
use holdall_format::model::{Leaf, LispReader, LispValue};
use holdall_format::Token;
use pyo3::ffi;
use std::ptr::addr_of_mut;

const OUT_OF_PLACE: &str = "conses out of place";

/// What was read for the innermost cell.
enum Came {
    Value(Owned),
    /// Nothing, but there is another cell, or another place in it.
    Cell,
    /// Nothing yet: there is a frame above.
    Frame,
}

impl<'i, R: LispReader<'i>> Decoder<'i, FromLisp<'i, R>> {
    /// Begins conses, whose first car comes next.
    pub(super) fn conses(&mut self, one_by_one: bool) -> Result<Option<Owned>> {
        let (start, object_id) = (self.here(), self.take_id());
        self.claim(1, 256)?;
        let make = LispMake::Conses { base: self.dialect.cells.len() };
        let parts = Parts { make: Some(Make::Dialect(make)), ..Parts::default() };
        // SAFETY: the singleton lives as long as the interpreter. A frame without an object is one of a value that can't hold
        // itself.
        let object = unsafe { Owned::borrowed(ffi::Py_None()) };
        let frame = Frame { offset: start, ..self.frame(Kind::Lists, Some(object), 0, NO_ID) };
        self.push(Frame { parts: Some(Box::new(parts)), ..frame });
        self.claim(1, 128)?;
        self.open_cell(object_id, start, one_by_one)?;
        Ok(None)
    }

    /// Begins conses that get an id. If car and last cdr need no frame, they are complete.
    fn begin_cell(&mut self, one_by_one: bool) -> Result<Came> {
        let start = self.here();
        self.claim(1, 128)?;
        let Some(car) = self.leaf_of_conses()? else {
            let object_id = self.add_numbered(Numbered::open()) as u32;
            self.open_cell(object_id, start, one_by_one)?;
            return Ok(Came::Cell);
        };
        if let Some(cdr) = self.leaf_of_conses()? {
            // SAFETY: the singleton is compared by its address.
            let made = if cdr.get() == unsafe { ffi::Py_None() } {
                let list = new_list()?;
                append(&list, &car)?;
                list
            } else {
                let cons = self.new_cons()?;
                self.fill_cons(cons.get(), car, cdr);
                cons
            };
            self.tables.numbered.push(Numbered::whole(made.clone()));
            return Ok(Came::Value(made));
        }
        let object_id = self.add_numbered(Numbered::open()) as u32;
        self.open_cell(object_id, start, one_by_one)?;
        if let Some(cell) = self.dialect.cells.last_mut() {
            cell.at_cdr = true;
            cell.put(self.dialect.lisp.names.cons_slots[0], car)?;
        }
        Ok(Came::Cell)
    }

    /// The next value, if it is a leaf or was built already.
    #[inline(always)]
    fn leaf_of_conses(&mut self) -> Result<Option<Owned>> {
        let before = self.r.place();
        let Some(leaf) = self.r.leaf()? else { return Ok(None) };
        let value = match leaf {
            // In graphs of conses these are most of all values.
            Leaf::Reference(number) => match self.tables.numbered.get(number as usize) {
                Some(Numbered { object: Some(object), state: State::Whole | State::Seen, .. }) => Some(object.clone()),
                _ => None,
            },
            leaf => self.of_leaf(leaf, accepts::ALL)?,
        };
        if value.is_none() {
            self.r.rewind(before);
        }
        Ok(value)
    }

    fn open_cell(&mut self, object_id: u32, start: usize, one_by_one: bool) -> Result<()> {
        if self.tables.stack.len() + self.dialect.cells.len() >= self.bounds.most_deep {
            return Err(limit(format_args!("nested deeper than limits.depth={}", self.bounds.most_deep), start));
        }
        let is_list = match &self.dialect.improper {
            Some(improper) => !improper.contains(start),
            None => object_id == NO_ID && one_by_one,
        };
        let object = if is_list { new_list()? } else { self.new_cons()? };
        if object_id != NO_ID {
            // Of an open object, this is the place of its frame.
            let place = HashCost { values: self.tables.stack.len() as u32 - 1, ..HashCost::default() };
            let node = self.tables.numbered[object_id as usize].node;
            let object = Some(object.clone());
            self.tables.numbered[object_id as usize] = Numbered { object, hash_cost: place, state: State::Open, node };
        }
        let cell = Cell { object, last: None, start, object_id, is_list, at_cdr: false, one_by_one };
        self.dialect.cells.push(cell);
        Ok(())
    }

    /// Reads cars and cdrs until all conses of the frame on top are complete, or one of them needs a frame of its own.
    pub(super) fn run_conses(&mut self) -> Result<Option<Frame<LispMake>>> {
        let depth = self.tables.stack.len();
        let Some(parts) = self.tables.stack[depth - 1].parts.as_deref_mut() else {
            return Err(decode(OUT_OF_PLACE, self.here()));
        };
        let Some(Make::Dialect(LispMake::Conses { base })) = parts.make else {
            return Err(decode(OUT_OF_PLACE, self.here()));
        };
        let mut given = parts.gathered.pop();
        loop {
            let mut value = match given.take() {
                Some(value) => value,
                None => match self.next_of_conses()? {
                    Came::Value(value) => value,
                    Came::Cell => continue,
                    Came::Frame => return Ok(None),
                },
            };
            loop {
                match self.dialect.cells.last_mut() {
                    Some(cell) if !cell.at_cdr => {
                        cell.at_cdr = true;
                        let [car, _] = self.dialect.lisp.names.cons_slots;
                        cell.put(car, value)?;
                        break;
                    }
                    _ => {}
                }
                let Some(cell) = self.dialect.cells.pop() else { return Err(decode(OUT_OF_PLACE, self.here())) };
                value = self.finished_conses(cell, value)?;
                if self.dialect.cells.len() == base {
                    let mut frame = self.pop();
                    if let Some(frame) = &mut frame {
                        frame.gathered().push(value);
                    }
                    return Ok(frame);
                }
            }
        }
    }

    /// Reads the next car or cdr.
    #[inline(always)]
    fn next_of_conses(&mut self) -> Result<Came> {
        if let Some(value) = self.leaf_of_conses()? {
            return Ok(Came::Value(value));
        }
        let before = self.r.place();
        // A value that is read again has its id already.
        let is_new = self.elsewhere.again.is_none();
        match self.r.next()? {
            Token::LispValue(LispValue::Cons) => match self.dialect.cells.last_mut() {
                Some(cell) if cell.at_cdr && cell.one_by_one => {
                    self.one_more()?;
                    return Ok(Came::Cell);
                }
                // Those that nothing can refer to may be many in a row.
                _ => {
                    self.claim(1, 128)?;
                    self.open_cell(NO_ID, self.here(), true)?;
                    return Ok(Came::Cell);
                }
            },
            Token::AssignId if is_new => match self.r.next()? {
                Token::LispValue(LispValue::Cons) => return self.begin_cell(true),
                Token::LispValue(LispValue::List(1)) => return self.begin_cell(false),
                _ => {}
            },
            _ => {}
        }
        self.r.rewind(before);
        Ok(self.value(ANY, accepts::ALL)?.map_or(Came::Frame, Came::Value))
    }

    /// Goes on with one more cons in place of the last cdr.
    fn one_more(&mut self) -> Result<()> {
        self.claim(1, 64)?;
        let [car, cdr] = self.dialect.lisp.names.cons_slots;
        let settled = self.dialect.improper.is_some();
        let Some(mut cell) = self.dialect.cells.pop() else { return Err(decode(OUT_OF_PLACE, self.here())) };
        if !cell.is_list && !settled {
            self.make_list(&mut cell, car)?;
        }
        if !cell.is_list {
            let cons = self.new_cons()?;
            cell.set_last(cdr, cons);
        }
        cell.at_cdr = false;
        self.dialect.cells.push(cell);
        Ok(())
    }

    /// Conses with their last cdr.
    fn finished_conses(&mut self, mut cell: Cell, cdr: Owned) -> Result<Owned> {
        let [car_at, cdr_at] = self.dialect.lisp.names.cons_slots;
        // SAFETY: the singleton is compared by its address.
        let is_nil = cdr.get() == unsafe { ffi::Py_None() };
        let settled = self.dialect.improper.is_some();
        if is_nil && !cell.is_list && !settled {
            self.make_list(&mut cell, car_at)?;
        } else if !is_nil && cell.is_list {
            self.make_conses(&mut cell)?;
        }
        if !cell.is_list {
            // SAFETY: an instance of `Cons`, in which the slots were found.
            unsafe { replace(slot_mut(cell.last().get(), cdr_at), cdr.into_raw()) };
        }
        self.whole(cell.object_id, cell.object.get());
        Ok(cell.object)
    }

    /// Makes a list of a single `Cons`.
    fn make_list(&mut self, cell: &mut Cell, car_at: usize) -> Result<()> {
        let list = new_list()?;
        // SAFETY: an instance of `Cons`, in which the slots were found; an empty one is null.
        let car = unsafe {
            let car = *slot_mut(cell.object.get(), car_at);
            (!car.is_null()).then(|| Owned::borrowed(car))
        };
        (cell.object, cell.is_list) = (list, true);
        if let Some(car) = car {
            cell.put(car_at, car)?;
        }
        self.enter(cell);
        Ok(())
    }

    /// Makes conses of a list; the last of them waits for its cdr, and for its car if that is next.
    fn make_conses(&mut self, cell: &mut Cell) -> Result<()> {
        let [car_at, cdr_at] = self.dialect.lisp.names.cons_slots;
        let list = cell.object.clone();
        // SAFETY: a list that nobody but the cell has seen.
        let len = unsafe { ffi::PyList_GET_SIZE(list.get()) };
        self.charge(64 * len as usize)?;
        (cell.object, cell.is_list) = (self.new_cons()?, false);
        for place in 0..len {
            if place > 0 {
                let cons = self.new_cons()?;
                cell.set_last(cdr_at, cons);
            }
            // SAFETY: the list is not changed meanwhile.
            let car = unsafe { Owned::borrowed(ffi::PyList_GET_ITEM(list.get(), place)) };
            cell.put(car_at, car)?;
        }
        if len > 0 && !cell.at_cdr {
            let cons = self.new_cons()?;
            cell.set_last(cdr_at, cons);
        }
        self.enter(cell);
        Ok(())
    }

    /// Enters the object of a cell under its id, in place of another that nobody has seen.
    fn enter(&mut self, cell: &Cell) {
        if cell.object_id != NO_ID {
            self.tables.numbered[cell.object_id as usize].object = Some(cell.object.clone());
        }
    }

    /// Before the first reference to conses that have not all come: makes all of them what they will be.
    pub(super) fn settle_conses(&mut self, number: u64) -> Result<()> {
        if self.dialect.improper.is_some() {
            return Ok(());
        }
        let Some(Numbered { object: Some(object), .. }) = self.tables.numbered.get(number as usize) else {
            return Ok(());
        };
        // SAFETY: an owned reference; only the address of its class is looked at.
        let class = unsafe { ffi::Py_TYPE(object.get()) };
        if class != self.dialect.lisp.names.cons.get().cast() && class != addr_of_mut!(ffi::PyList_Type) {
            return Ok(());
        }
        // What the walk takes: a place for each id, an entry for each value that is open.
        self.charge(16 * (self.here() + self.r.remaining()))?;
        let improper = self.r.improper()?;
        self.dialect.lisp.keep_improper(improper.clone());
        self.dialect.improper = Some(improper.clone());
        let [car_at, _] = self.dialect.lisp.names.cons_slots;
        for place in 0..self.dialect.cells.len() {
            let placeholder = self.dialect.cells[place].taken();
            let mut cell = std::mem::replace(&mut self.dialect.cells[place], placeholder);
            let settled = match (improper.contains(cell.start), cell.is_list) {
                _ if cell.object_id == NO_ID => Ok(()),
                (true, true) => self.make_conses(&mut cell),
                (false, false) => self.make_list(&mut cell, car_at),
                _ => Ok(()),
            };
            self.dialect.cells[place] = cell;
            settled?;
        }
        for place in 0..self.tables.stack.len() {
            let frame = &self.tables.stack[place];
            if frame.object_id == NO_ID || frame.item != ANY || !improper.contains(frame.offset) {
                continue;
            }
            match (frame.kind, frame.parts.as_deref().and_then(|parts| parts.make.as_ref())) {
                // The loop over its items is under way, and holds on to the list.
                (Kind::List, _) if place + 1 == self.tables.stack.len() => self.anew(frame.offset),
                (Kind::List, _) | (Kind::Gather, Some(Make::Dialect(LispMake::Dotted { .. }))) => {
                    self.settle_list(place)?
                }
                _ => {}
            }
        }
        Ok(())
    }

    /// Makes the frame of a list one of conses.
    fn settle_list(&mut self, place: usize) -> Result<()> {
        let head = self.new_cons()?;
        let frame = &mut self.tables.stack[place];
        let (object_id, is_at_end) = (frame.object_id, frame.kind == Kind::Gather);
        let Some(list) = frame.object.replace(head.clone()) else { return Err(decode(OUT_OF_PLACE, frame.offset)) };
        // SAFETY: the frame's list; the places before `at` are filled, at its end all are.
        unsafe {
            let len = ffi::PyList_GET_SIZE(list.get());
            let there = if is_at_end { len } else { len.min(frame.at as isize) };
            let items = (0..there).map(|item| Owned::borrowed(ffi::PyList_GET_ITEM(list.get(), item)));
            let gathered: Vec<Owned> = items.collect();
            let make = Some(Make::Dialect(LispMake::Cells));
            (frame.at, frame.len, frame.kind) = (gathered.len(), len as usize + 1, Kind::Gather);
            frame.parts = Some(Box::new(Parts { gathered, make, ..Parts::default() }));
        }
        let len = self.tables.stack[place].len;
        // At its end the last cdr is counted already.
        self.bounds.owed += usize::from(!is_at_end);
        self.tables.numbered[object_id as usize].object = Some(head);
        self.charge(256 + 64 * len)
    }
}

//! Dicts: by the shape of their keys if all of these are names, else as pairs.

use crate::cpython::dict::{self, Position};
use crate::cpython::{text, Obj, Owned};
use crate::encode::dialect::{Dialect, Native, NativeWriter};
use crate::encode::{shapes, Encoder, Frame, Kind};
use crate::error::Result;
use crate::memory::Vec;
use crate::types::walker::BY_PARENT;
use holdall_format::model::ShapeKind;
use holdall_format::Writer;

impl<W: NativeWriter> Encoder<'_, Native<W>> {
    /// Writes a dict by its shape, if all of its keys are names.
    ///
    /// # Safety
    /// `object` is a dict whose id was written.
    #[inline(always)]
    pub(crate) unsafe fn native_dict(&mut self, object: Obj, hint: u32) -> Result<()> {
        // SAFETY: `object` is a dict by contract. No Python code runs while its entries are borrowed: leaves and
        // `shallow` run none.
        unsafe {
            if let Some(entries) = dict::entries(object) {
                if entries.is_empty() || entries.len() > shapes::MOST_KEYS {
                    return self.table(object);
                }
                let shape = if self.tables.shapes.is_dict(hint, entries) {
                    self.tables.shapes.new_in_a_row = 0;
                    self.w.instance(hint as usize);
                    hint
                } else {
                    match self.dict_shape(entries)? {
                        Some(shape) => shape,
                        None => return self.table(object),
                    }
                };
                self.last_shape = shape;
                for (at, &(_, value)) in entries.iter().enumerate() {
                    if self.leaf(value, BY_PARENT)? {
                        continue;
                    }
                    let depth = self.tables.stack.len();
                    let done = self.shallow(value)?;
                    self.last_shape = shape;
                    if done && self.tables.stack.len() == depth {
                        continue;
                    }
                    // The rest of this dict continues after the value's frame.
                    let at = at + usize::from(done);
                    if at == entries.len() {
                        break;
                    }
                    let frame = Frame {
                        at: at as isize,
                        len: entries.len() - at,
                        hint: shape,
                        ..Frame::new(Owned::borrowed(object), Kind::Values)
                    };
                    self.tables.stack.insert(depth, frame);
                    break;
                }
                return Ok(());
            }
            self.odd_dict(object)
        }
    }

    /// Writes the head of a dict that doesn't have the expected shape. `None`: nothing was written, it is to be written pair
    /// by pair.
    #[inline(never)]
    unsafe fn dict_shape(&mut self, entries: &[(Obj, Obj)]) -> Result<Option<u32>> {
        let mut names = [std::ptr::null_mut(); shapes::MOST_KEYS];
        for (name, entry) in names.iter_mut().zip(entries) {
            *name = entry.0;
        }
        // SAFETY: the keys of a live dict, which nothing changes meanwhile.
        unsafe { self.shape_if_it_pays(&names[..entries.len()]) }
    }

    /// The same for these keys: a shape that no other dict has costs its reader twice what its pairs cost.
    ///
    /// # Safety
    /// `names` are strings.
    unsafe fn shape_if_it_pays(&mut self, names: &[Obj]) -> Result<Option<u32>> {
        // SAFETY: `names` are strings, by contract.
        unsafe {
            let hash = shapes::hash_of(0, names);
            let interned = self.options.intern || !self.options.refs;
            if let Some(shape) = self.tables.shapes.find(0, names, hash, interned) {
                self.tables.shapes.new_in_a_row = 0;
                self.w.instance(shape as usize);
                return Ok(Some(shape));
            }
            // Canonical bytes are a promise to those who compare them: there each list of names is a shape.
            match !self.options.canonical && self.tables.shapes.is_fruitless() {
                true => Ok(None),
                false => self.new_shape(ShapeKind::Dict, None, names, hash).map(Some),
            }
        }
    }

    /// Writes a dict whose entries can't be read as one array with string keys.
    #[inline(never)]
    unsafe fn odd_dict(&mut self, object: Obj) -> Result<()> {
        // SAFETY: `object` is a dict, as for `native_dict`.
        unsafe {
            let len = dict::len(object);
            if len == 0 || len > shapes::MOST_KEYS {
                return self.table(object);
            }
            let mut names = Vec::with_capacity(len);
            let mut position = Position(0);
            while let Some((key, _)) = position.next(object) {
                if !text::is(key) {
                    return self.table(object);
                }
                names.push(key);
            }
            let Some(shape) = self.shape_if_it_pays(&names)? else { return self.table(object) };
            self.last_shape = shape;
            self.dict_values(&Owned::borrowed(object), shape);
        }
        Ok(())
    }

    /// Lets the walk write the values of a dict.
    pub(crate) unsafe fn dict_values(&mut self, dict: &Owned, shape: u32) {
        // SAFETY: `dict` is an owned reference to a dict.
        let len = unsafe { dict::len(dict.get()) };
        self.tables.stack.push(Frame { len, hint: shape, ..Frame::new(dict.clone(), Kind::Values) });
    }
}

impl<D: Dialect> Encoder<'_, D> {
    /// Writes a dict pair by pair.
    pub(crate) unsafe fn table(&mut self, object: Obj) -> Result<()> {
        // SAFETY: callers pass a live dict.
        unsafe {
            let mut left = dict::len(object);
            self.w.dict(left);
            // Pairs of leaves need no frame. No Python code runs meanwhile.
            let mut position = Position(0);
            let mut before = 0;
            let mut value_next = false;
            while !D::Writer::KEYS_ARE_TEXT && !self.looks_closely {
                let Some((key, value)) = position.next(object) else { return Ok(()) };
                if !self.leaf(key, BY_PARENT)? {
                    break;
                }
                if !self.leaf(value, BY_PARENT)? {
                    value_next = true;
                    break;
                }
                before = position.0;
                left -= 1;
            }
            if left > 0 {
                let frame = Frame::new(Owned::borrowed(object), Kind::Pairs);
                self.tables.stack.push(Frame { at: before, len: left, value_next, ..frame });
            }
        }
        Ok(())
    }
}

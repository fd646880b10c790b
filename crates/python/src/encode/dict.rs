//! Dicts: by the shape of their keys if all of these are names, else as pairs.

use crate::cpython::dict::{self, Pair, Position};
use crate::cpython::{text, Obj, Owned};
use crate::encode::dialect::{Dialect, Native, NativeWriter};
use crate::encode::sequence::items;
use crate::encode::value::{is_leaf, Stopped};
use crate::encode::{shapes, Encoder, Frame, Kind};
use crate::error::Result;
use crate::memory::Vec;
use crate::types::walker::BY_PARENT;
use holdall_format::model::{Seq, ShapeKind};
use pyo3::ffi;
use std::ptr::addr_of_mut;

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
                    return self.named_pairs(object, entries);
                }
                let shape = if self.tables.shapes.is_dict(hint, entries) {
                    self.tables.shapes.new_in_a_row = 0;
                    self.w.instance(hint as usize);
                    hint
                } else if !self.options.canonical && self.tables.shapes.is_fruitless_at_once(entries) {
                    return self.named_pairs(object, entries);
                } else {
                    match self.dict_shape(entries.iter().map(|entry| entry.key))? {
                        Some(shape) => shape,
                        None => return self.named_pairs(object, entries),
                    }
                };
                self.last_shape = shape;
                for (at, &Pair { value, .. }) in entries.iter().enumerate() {
                    let Some(Stopped { depth, done }) = self.frameless(value)? else { continue };
                    self.last_shape = shape;
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

    /// Writes a dict whose keys are strings pair by pair: leaves, and lists of leaves, without a frame.
    ///
    /// # Safety
    /// `object` is a dict, and these are its entries.
    #[inline(always)]
    unsafe fn named_pairs(&mut self, object: Obj, entries: &[Pair]) -> Result<()> {
        self.w.dict(entries.len());
        if self.looks_closely {
            let whole = Left { at: 0, len: entries.len(), value_next: false };
            // SAFETY: a dict, by contract.
            unsafe { self.rest_of_pairs(object, self.tables.stack.len(), whole) };
            return Ok(());
        }
        for (at, &Pair { key, value, .. }) in entries.iter().enumerate() {
            // SAFETY: the keys are strings, by contract. Nothing here runs Python code before the frame is pushed.
            unsafe {
                self.text(key, BY_PARENT)?;
                let Some(Stopped { depth, done }) = self.frameless(value)? else { continue };
                let at = at + usize::from(done);
                let rest = Left { at, len: entries.len() - at, value_next: !done };
                self.rest_of_pairs(object, depth, rest);
                break;
            }
        }
        Ok(())
    }

    /// Writes the head of a dict that doesn't have the expected shape. `None`: nothing was written, it is to be written pair
    /// by pair.
    ///
    /// # Safety
    /// The keys are strings, of live entries that nothing changes meanwhile.
    #[inline(never)]
    pub(super) unsafe fn dict_shape(&mut self, keys: impl ExactSizeIterator<Item = Obj>) -> Result<Option<u32>> {
        let mut names = [std::ptr::null_mut(); shapes::MOST_KEYS];
        let len = keys.len();
        for (name, key) in names.iter_mut().zip(keys) {
            *name = key;
        }
        // SAFETY: the keys of a live dict, which nothing changes meanwhile.
        unsafe { self.shape_if_it_pays(&names[..len]) }
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

impl<W: NativeWriter> Encoder<'_, Native<W>> {
    /// Leaves the rest of a dict's pairs to the walk, from a frame at that depth: what was written last may have one above.
    ///
    /// # Safety
    /// `object` is a live dict.
    #[inline]
    unsafe fn rest_of_pairs(&mut self, object: Obj, depth: usize, left: Left) {
        if left.len == 0 {
            return;
        }
        // SAFETY: by the contract.
        let frame = Frame::new(unsafe { Owned::borrowed(object) }, Kind::Pairs);
        let Left { at, len, value_next } = left;
        self.tables.stack.insert(depth, Frame { at: at as isize, len, value_next, ..frame });
    }

    /// Writes a key that is `bytes` or a tuple of leaves. `false`: it is none, and nothing was written.
    ///
    /// # Safety
    /// `key` is alive.
    #[inline]
    unsafe fn plain_key(&mut self, key: Obj) -> Result<bool> {
        // SAFETY: by the contract; items are read of a tuple. A key of leaves hashes without recursion, so that it needs no check.
        unsafe {
            let class = ffi::Py_TYPE(key);
            if class == addr_of_mut!(ffi::PyBytes_Type) {
                if !self.met(key, BY_PARENT)? {
                    Native::bytes(self, key)?;
                }
                return Ok(true);
            }
            Ok(class == addr_of_mut!(ffi::PyTuple_Type)
                && items(key, Seq::Tuple).iter().all(|&item| is_leaf(item))
                && self.shallow(key)?)
        }
    }

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
            while !self.looks_closely {
                let Some((key, value)) = position.next(object) else { return Ok(()) };
                value_next = self.leaf(key, BY_PARENT)?;
                if !value_next || !self.leaf(value, BY_PARENT)? {
                    break;
                }
                before = position.0;
                left -= 1;
            }
            let rest = Left { at: before as usize, len: left, value_next };
            // What is freed by recursion, as instances of a subclass are, must be seen on the stack while it leads to something.
            match self.looks_closely || ffi::Py_TYPE(object) != addr_of_mut!(ffi::PyDict_Type) {
                true => self.rest_of_pairs(object, self.tables.stack.len(), rest),
                false => self.table_of_short(object, rest)?,
            }
        }
        Ok(())
    }

    /// Goes on with a dict: lists and tuples of leaves need no frame either, as keys or values. Leaves alone have a loop of their own,
    /// which was an eighth slower with this in it.
    ///
    /// # Safety
    /// `object` is a live dict, of no subclass.
    #[inline(never)]
    unsafe fn table_of_short(&mut self, object: Obj, left: Left) -> Result<()> {
        let Left { at, mut len, mut value_next } = left;
        let (mut position, depth) = (Position(at as isize), self.tables.stack.len());
        // SAFETY: by the contract. No Python code runs meanwhile.
        unsafe {
            loop {
                let before = position.0;
                let Some((key, value)) = position.next(object) else { return Ok(()) };
                if !std::mem::take(&mut value_next) && !self.leaf(key, BY_PARENT)? {
                    let written = self.plain_key(key)?;
                    if !written || self.tables.stack.len() != depth {
                        self.rest_of_pairs(object, depth, Left { at: before as usize, len, value_next: written });
                        return Ok(());
                    }
                }
                if !(self.leaf(value, BY_PARENT)? || self.shallow(value)?) {
                    self.rest_of_pairs(object, depth, Left { at: before as usize, len, value_next: true });
                    return Ok(());
                }
                len -= 1;
                if self.tables.stack.len() != depth {
                    self.rest_of_pairs(object, depth, Left { at: position.0 as usize, len, value_next: false });
                    return Ok(());
                }
            }
        }
    }
}

/// What is left of a dict: the position of the next pair, how many there are, and whether the key of the first was written.
struct Left {
    at: usize,
    len: usize,
    value_next: bool,
}

//! Writes the next value: a leaf at once, others by pushing a frame for their content.

use crate::cpython::dict::{self, Position};
use crate::cpython::set::next_member;
use crate::cpython::{bytes_of, float, int, ordered, Obj, Owned, Type};
use crate::encode::dialect::{Dialect, Native, NativeWriter};
use crate::encode::text::of_any_width;
use crate::encode::walk::CHANGED;
use crate::encode::{shapes, Encoder, Frame, Kind};
use crate::error::{encode, raised, Result};
use crate::memory::Vec;
use crate::types::buffer;
use crate::types::collections::ordered_items;
use crate::types::walker::{WorkItem, BY_PARENT};
use holdall_format::model::{OutOfBand, Seq};
use holdall_format::Writer;
use pyo3::ffi;
use std::ptr::addr_of_mut;

/// Where a loop over the values of a container without a frame ended.
pub(crate) struct Stopped {
    /// The place of the container's frame: beneath what the value began.
    pub depth: usize,
    /// Whether the value is written, by itself or by the frame that it began.
    pub done: bool,
}

/// Whether [`lone_leaf`] may write it.
///
/// # Safety
/// `object` is alive.
#[inline(always)]
pub unsafe fn is_leaf(object: Obj) -> bool {
    // SAFETY: `object` is alive by contract; the types are static.
    unsafe {
        let class = ffi::Py_TYPE(object);
        class == addr_of_mut!(ffi::PyUnicode_Type)
            || class == addr_of_mut!(ffi::PyLong_Type)
            || class == addr_of_mut!(ffi::PyFloat_Type)
            || class == addr_of_mut!(ffi::PyBool_Type)
            || object == ffi::Py_None()
    }
}

/// Writes a leaf that is the whole of a message: text is not looked up among equal ones, since nothing follows that could refer to it.
/// `false`: it is none of those that need no encoder, and nothing was written.
///
/// # Safety
/// `object` is alive, and the GIL held.
#[inline(always)]
pub unsafe fn lone_leaf<W: Writer>(w: &mut W, object: Obj) -> Result<bool> {
    // SAFETY: `object` is alive by contract; the types are static.
    unsafe {
        let class = ffi::Py_TYPE(object);
        if class == addr_of_mut!(ffi::PyUnicode_Type) {
            of_any_width(w, object)?;
        } else if class == addr_of_mut!(ffi::PyLong_Type) {
            let Some(value) = int::value(object) else { return Ok(false) };
            w.int(value);
        } else if class == addr_of_mut!(ffi::PyFloat_Type) {
            w.float(float::value(object));
        } else if object == ffi::Py_None() {
            w.none();
        } else if class == addr_of_mut!(ffi::PyBool_Type) {
            w.bool(object == ffi::Py_True());
        } else {
            return Ok(false);
        }
    }
    Ok(true)
}

/// Writes an int of more than 63 bits, as the whole of a message. `false`: it is no int.
///
/// # Safety
/// As for [`lone_leaf`].
pub unsafe fn lone_big<W: Writer>(w: &mut W, object: Obj) -> bool {
    // SAFETY: `object` is alive, and an int where it is read as one.
    unsafe {
        let mut block = [0; int::FEW_BYTES];
        match int::is(object).then(|| int::few_bytes(object, &mut block)).flatten() {
            Some(bytes) => {
                put_big(w, bytes);
                true
            }
            None => false,
        }
    }
}

fn put_big<W: Writer>(w: &mut W, bytes: &[u8]) {
    match <[u8; 8]>::try_from(bytes) {
        // -2**63, which `int::value` doesn't return.
        Ok(bytes) => w.int(i64::from_le_bytes(bytes)),
        Err(_) => w.bigint(bytes),
    }
}

/// The same for `bytes` and empty containers, in formats that write these as what they are.
///
/// # Safety
/// As for [`lone_leaf`].
pub unsafe fn lone_other<W: Writer>(w: &mut W, object: Obj) -> bool {
    // SAFETY: by the contract; lengths are read by the type.
    unsafe {
        let class = ffi::Py_TYPE(object);
        if class == addr_of_mut!(ffi::PyBytes_Type) {
            w.bytes(bytes_of(object));
        } else if class == addr_of_mut!(ffi::PyList_Type) && ffi::Py_SIZE(object) == 0 {
            w.list(0);
        } else if class == addr_of_mut!(ffi::PyTuple_Type) && ffi::Py_SIZE(object) == 0 {
            w.tuple(0);
        } else if class == addr_of_mut!(ffi::PyDict_Type) && dict::len(object) == 0 {
            w.dict(0);
        } else {
            return false;
        }
    }
    true
}

impl<D: Dialect> Encoder<'_, D> {
    /// Writes a leaf (a string, or a value without identity that needs no frame). `false`: it isn't one.
    ///
    /// # Safety
    /// `object` is alive.
    #[inline(always)]
    pub(crate) unsafe fn leaf(&mut self, object: Obj, held: isize) -> Result<bool> {
        // SAFETY: `object` is alive by contract; the types are static.
        unsafe {
            let class = ffi::Py_TYPE(object);
            if class == addr_of_mut!(ffi::PyUnicode_Type) {
                self.text(object, held)?;
            } else if class == addr_of_mut!(ffi::PyLong_Type) {
                match int::value(object) {
                    Some(value) => self.w.int(value),
                    None => return self.big(object),
                }
            } else if class == addr_of_mut!(ffi::PyFloat_Type) {
                self.w.float(float::value(object));
            } else if object == ffi::Py_None() {
                self.w.none();
            } else if class == addr_of_mut!(ffi::PyBool_Type) {
                self.w.bool(object == ffi::Py_True());
            } else {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Like [`Encoder::leaf`], for the message's first object, which needs no id.
    pub(crate) unsafe fn leaf_root(&mut self, object: Obj) -> Result<bool> {
        // SAFETY: the caller's root is alive; no count exceeds `isize::MAX`.
        unsafe { Ok(lone_leaf(&mut self.w, object)? || self.leaf(object, isize::MAX)?) }
    }

    /// Writes an int of more than 63 bits. `false`: the dialect may pass it to a function of the user's.
    ///
    /// # Safety
    /// `object` is an int.
    #[cold]
    #[inline(never)]
    pub(crate) unsafe fn big(&mut self, object: Obj) -> Result<bool> {
        let (mut block, all);
        block = [0; int::FEW_BYTES];
        // SAFETY: `object` is an int by contract.
        let bytes = match unsafe { int::few_bytes(object, &mut block) } {
            Some(bytes) => bytes,
            None => {
                // SAFETY: as above.
                all = unsafe { int::bytes(object) }.ok_or_else(raised)?;
                &all[..]
            }
        };
        if D::BIG_INTS_ARE_VALUES && bytes.len() != 8 {
            return Ok(false);
        }
        put_big(&mut self.w, bytes);
        Ok(true)
    }

    /// Writes any object; its content may be left to the walk.
    ///
    /// # Safety
    /// `object` is alive.
    #[inline(always)]
    pub(crate) unsafe fn value(&mut self, object: Obj, held: isize) -> Result<()> {
        // SAFETY: `object` is alive by contract.
        unsafe {
            if self.leaf(object, held)? {
                return Ok(());
            }
            self.node(object, held, shapes::NONE)
        }
    }

    /// Writes a value of a container that has no frame yet, if the value needs none either. Else the loop over the container's values
    /// ends, and the rest of them goes into a frame.
    ///
    /// # Safety
    /// `value` is alive. No Python code runs before the rest is in a frame.
    #[inline(always)]
    pub(crate) unsafe fn frameless(&mut self, value: Obj) -> Result<Option<Stopped>> {
        // SAFETY: by the contract.
        unsafe {
            if self.leaf(value, BY_PARENT)? {
                return Ok(None);
            }
            let depth = self.tables.stack.len();
            let done = self.shallow(value)?;
            Ok((!done || self.tables.stack.len() != depth).then_some(Stopped { depth, done }))
        }
    }

    /// Writes a list, a tuple, `bytes` or an empty dict. `false`: it is none of them. It can't re-enter itself, so loops over a
    /// container's values may call it before the container has a frame.
    ///
    /// # Safety
    /// `object` is alive.
    #[inline(always)]
    pub(crate) unsafe fn shallow(&mut self, object: Obj) -> Result<bool> {
        // SAFETY: `object` is alive by contract.
        unsafe {
            let class = ffi::Py_TYPE(object);
            let seq = if class == addr_of_mut!(ffi::PyList_Type) {
                Seq::List
            } else if class == addr_of_mut!(ffi::PyTuple_Type) {
                if ffi::Py_SIZE(object) == 0 {
                    // There is only one.
                    self.w.tuple(0);
                    return Ok(true);
                }
                Seq::Tuple
            } else if self.looks_closely {
                return Ok(false);
            } else if class == addr_of_mut!(ffi::PyBytes_Type) {
                if !self.met(object, BY_PARENT)? {
                    D::bytes(self, object)?;
                }
                return Ok(true);
            } else if D::KEEPS_TYPES && class == addr_of_mut!(ffi::PyDict_Type) && dict::len(object) == 0 {
                if !self.met(object, BY_PARENT)? {
                    self.w.dict(0);
                }
                return Ok(true);
            } else {
                return Ok(false);
            };
            // Objects that are counted go through `node`.
            if self.looks_closely {
                return Ok(false);
            }
            if !self.met(object, BY_PARENT)? {
                self.sequence(object, seq)?;
            }
        }
        Ok(true)
    }

    /// Writes an object other than a leaf.
    #[inline]
    pub(crate) unsafe fn node(&mut self, object: Obj, held: isize, hint: u32) -> Result<()> {
        // SAFETY: `object` is alive, as for `value`.
        unsafe {
            if ffi::Py_TYPE(object) == addr_of_mut!(ffi::PyTuple_Type) && ffi::Py_SIZE(object) == 0 {
                // There is only one empty tuple.
                self.w.tuple(0);
                return Ok(());
            }
            if self.looks_closely && !self.spend() {
                return Ok(());
            }
            if self.met(object, held)? {
                return Ok(());
            }
            self.open(object, hint)
        }
    }

    /// Counts an object if only a number of them is to be visited. `false`: the number is exceeded.
    #[cold]
    fn spend(&mut self) -> bool {
        let Some(effort) = &mut self.effort else { return true };
        let Some(left) = effort.objects.checked_sub(1) else {
            effort.cut_short = true;
            return false;
        };
        effort.objects = left;
        true
    }

    /// Writes an object whose id was written, and pushes a frame for its content.
    ///
    /// # Safety
    /// `object` is alive.
    #[inline(always)]
    pub(crate) unsafe fn open(&mut self, object: Obj, hint: u32) -> Result<()> {
        // SAFETY: `object` is alive by contract.
        unsafe {
            if self.looks_closely && self.asks() {
                return self.open_asked(object);
            }
            let class = ffi::Py_TYPE(object);
            if class == addr_of_mut!(ffi::PyDict_Type) {
                D::dict(self, object, hint)
            } else if class == addr_of_mut!(ffi::PyList_Type) {
                self.sequence(object, Seq::List)
            } else if class == addr_of_mut!(ffi::PyTuple_Type) {
                self.sequence(object, Seq::Tuple)
            } else {
                self.other(object, class)
            }
        }
    }

    #[inline(never)]
    pub(crate) unsafe fn other(&mut self, object: Obj, class: Type) -> Result<()> {
        // SAFETY: `object` is alive, as for `open`, and `class` is its type.
        unsafe {
            match class == addr_of_mut!(ffi::PyBytes_Type) {
                true => D::bytes(self, object),
                false => D::value(self, object, class),
            }
        }
    }

    /// Writes the members of a set whose head was written; in canonical form ordered by their canonical bytes.
    pub(crate) unsafe fn members(&mut self, set: Obj) -> Result<()> {
        // SAFETY: callers pass a set.
        unsafe {
            let len = ffi::PySet_Size(set) as usize;
            if self.options.canonical {
                self.ordered_members(set)?;
            } else {
                // Leaves need no frame, unless somebody is asked about them. None of them runs code, so the set stays as it is meanwhile.
                let (mut at, mut left) = (0, len);
                while left > 0 {
                    let before = at;
                    let Some(member) = next_member(set, &mut at) else { return Err(encode(CHANGED)) };
                    if self.looks_closely || !self.leaf(member, BY_PARENT)? {
                        let frame = Frame { at: before, len: left, ..Frame::new(Owned::borrowed(set), Kind::Set) };
                        self.tables.stack.push(frame);
                        break;
                    }
                    left -= 1;
                }
            }
        }
        Ok(())
    }

    /// Writes the items of a dict whose head was written, key by key.
    pub(crate) unsafe fn pairs(&mut self, dict: Obj) {
        // SAFETY: callers pass a dict.
        unsafe {
            let len = dict::len(dict);
            if len > 0 {
                self.tables.stack.push(Frame { len, ..Frame::new(Owned::borrowed(dict), Kind::Pairs) });
            }
        }
    }

    /// Writes a dict with its head, pair by pair.
    pub(crate) fn dict_body(&mut self, dict: &Owned) -> Result<()> {
        // SAFETY: only dicts are put into the work items and families that lead here.
        unsafe {
            self.w.dict(dict::len(dict.get()));
            if !D::KEEPS_TYPES || self.looks_closely {
                self.pairs(dict.get());
                return Ok(());
            }
            // Pairs of leaves need no frame. No Python code runs meanwhile.
            let (mut position, mut left) = (Position(0), dict::len(dict.get()));
            while left > 0 {
                let at = position.0;
                let Some((key, value)) = position.next(dict.get()) else { return Err(encode(CHANGED)) };
                let has_key = self.leaf(key, BY_PARENT)?;
                if !(has_key && self.leaf(value, BY_PARENT)?) {
                    let frame = Frame::new(dict.clone(), Kind::Pairs);
                    self.tables.stack.push(Frame { at, len: left, value_next: has_key, ..frame });
                    break;
                }
                left -= 1;
            }
        }
        Ok(())
    }

    /// Writes an ordered dict with its head, in its own order. Where its table has the same, nothing has to be looked up.
    ///
    /// # Safety
    /// `object` is an ordered dict, and alive.
    pub(crate) unsafe fn ordered_body(&mut self, object: Obj) -> Result<()> {
        /// A key is held by the table and by the order.
        const BY_BOTH: isize = BY_PARENT + 1;
        // SAFETY: by the contract. No Python code runs before the rest is in a frame.
        unsafe {
            if !D::KEEPS_TYPES || self.looks_closely || !ordered::is_that_of_its_table(object) {
                let items = ordered_items(object)?;
                self.w.dict(items.len() / 2);
                self.then(items);
                return Ok(());
            }
            self.w.dict(dict::len(object));
            let (mut position, mut rest) = (Position(0), Vec::new());
            while let Some((key, value)) = position.next(object) {
                let has_key = rest.is_empty() && self.leaf(key, BY_BOTH)?;
                if !has_key {
                    rest.push(WorkItem::Key(Owned::borrowed(key)));
                }
                if !(has_key && self.leaf(value, BY_PARENT)?) {
                    rest.push(WorkItem::Value(Owned::borrowed(value)));
                }
            }
            self.then(rest);
        }
        Ok(())
    }

    /// Writes a builtin value with its head, as the content of a subclass's instance.
    pub(crate) unsafe fn body(&mut self, object: Obj) -> Result<()> {
        // SAFETY: callers pass a live object; its type is checked before content is read.
        unsafe {
            let class = ffi::Py_TYPE(object);
            if class == addr_of_mut!(ffi::PyList_Type) {
                self.w.list(ffi::Py_SIZE(object) as usize);
                self.items(object, Seq::List);
            } else if class == addr_of_mut!(ffi::PyTuple_Type) {
                self.w.tuple(ffi::Py_SIZE(object) as usize);
                self.items(object, Seq::Tuple);
            } else if class == addr_of_mut!(ffi::PyDict_Type) {
                self.dict_body(&Owned::borrowed(object))?;
            } else if !self.leaf(object, isize::MAX)? {
                self.other(object, class)?;
            }
        }
        Ok(())
    }

    /// Writes the items of a list or tuple whose head was written.
    pub(crate) unsafe fn items(&mut self, object: Obj, seq: Seq) {
        // SAFETY: callers pass an object of that type.
        unsafe {
            let len = ffi::Py_SIZE(object) as usize;
            let kind = if seq == Seq::List { Kind::List } else { Kind::Tuple };
            if len > 0 {
                self.tables.stack.push(Frame { len, ..Frame::new(Owned::borrowed(object), kind) });
            }
        }
    }
}

impl<W: NativeWriter> Encoder<'_, Native<W>> {
    /// Writes `bytes`, or sends them out of band if they are large and the message goes to a file.
    ///
    /// # Safety
    /// `object` is `bytes`, and its id was written.
    #[inline(always)]
    pub(crate) unsafe fn native_bytes(&mut self, object: Obj) -> Result<()> {
        // SAFETY: `bytes`, as the caller promises.
        unsafe {
            let bytes = bytes_of(object);
            if !buffer::send_bytes(self, object, bytes.len(), OutOfBand::Bytes)? {
                self.w.bytes(bytes);
            }
        }
        Ok(())
    }

    /// Writes what is neither a leaf nor `bytes`, dict, list or tuple.
    ///
    /// # Safety
    /// `object` is alive, of that class, and its id was written.
    #[inline(always)]
    pub(crate) unsafe fn native_value(&mut self, object: Obj, class: Type) -> Result<()> {
        // SAFETY: `object` is alive and of `class`, by contract; lengths and data are read by that type.
        unsafe {
            if class == addr_of_mut!(ffi::PySet_Type) || class == addr_of_mut!(ffi::PyFrozenSet_Type) {
                let len = ffi::PySet_Size(object) as usize;
                if class == addr_of_mut!(ffi::PySet_Type) {
                    self.w.set(len);
                } else {
                    self.w.frozenset(len);
                }
                self.members(object)?;
            } else if class == addr_of_mut!(ffi::PyByteArray_Type) {
                let len = ffi::PyByteArray_Size(object) as usize;
                if buffer::send_bytes(self, object, len, OutOfBand::ByteArray)? {
                    return Ok(());
                }
                self.w.bytearray(std::slice::from_raw_parts(ffi::PyByteArray_AsString(object).cast(), len));
            } else if self.options.trust && self.by_reducer(object, class)? {
            } else if class == addr_of_mut!(ffi::PyComplex_Type) {
                let value = (*object.cast::<ffi::PyComplexObject>()).cval;
                self.w.complex(value.real, value.imag);
            } else if object == ffi::Py_Ellipsis() {
                self.w.ellipsis();
            } else if object == ffi::Py_NotImplemented() {
                self.w.not_implemented();
            } else {
                self.instance(object)?;
            }
        }
        Ok(())
    }

    /// In trusted messages, writes a complex number, Ellipsis or NotImplemented by a reducer of the program's, if there
    /// is one. Pickle asks for one for these as for any object, but never for the other types with tags of their own.
    unsafe fn by_reducer(&mut self, object: Obj, class: *mut ffi::PyTypeObject) -> Result<bool> {
        // SAFETY: `object` is alive, as for `native_value`.
        unsafe {
            let asked = class == addr_of_mut!(ffi::PyComplex_Type)
                || object == ffi::Py_Ellipsis()
                || object == ffi::Py_NotImplemented();
            if !asked {
                return Ok(false);
            }
            let plan = self.plan(class)?;
            self.dispatched(object, &plan)
        }
    }
}

//! Packed runs: lists and tuples of leaves of one type, built in one loop.

use super::{Decoder, NO_ID};
use crate::budget::hash_cost::HashCost;
use crate::cpython::{float, int, text as strings, Obj, Owned};
use crate::decode::dialect::Dialect;
use crate::error::{raised, Result};
use holdall_format::model::{Ints, Seq};
use pyo3::ffi;

impl<'i, D: Dialect<'i>> Decoder<'i, D> {
    /// Adds the hash cost of a tuple of leaves.
    pub(crate) fn add_run_cost(&mut self, seq: Seq, len: usize) {
        if seq == Seq::Tuple {
            let hash_cost = HashCost { depth: 1, freeing: 0, values: u32::try_from(len).unwrap_or(u32::MAX) };
            self.add_hash_cost(hash_cost);
        }
    }

    /// Adds the hash cost of the object that is made next to its container, and stores it with its id.
    pub(crate) fn add_hash_cost(&mut self, hash_cost: HashCost) {
        if hash_cost == HashCost::default() {
            return;
        }
        if self.object_id != NO_ID {
            self.tables.numbered[self.object_id as usize].hash_cost = hash_cost;
        }
        if let Some(frame) = self.tables.stack.last_mut() {
            frame.hash_cost.add(hash_cost);
        }
    }

    /// Charges a list or tuple and its items: each takes at most 40 bytes with its slot.
    fn charge_run(&mut self, len: usize) -> Result<()> {
        if self.tables.stack.len() >= self.bounds.most_deep
            || self.bounds.objects <= len
            || self.bounds.bytes < 64 + 40 * len
        {
            return Err(self.over(64 + 40 * len));
        }
        self.bounds.objects -= len + 1;
        self.bounds.bytes -= 64 + 40 * len;
        Ok(())
    }

    pub(crate) fn floats(&mut self, seq: Seq, run: &[[u8; 8]]) -> Result<Option<Owned>> {
        self.charge_run(run.len())?;
        // SAFETY: the GIL is held while a decoder lives.
        let made = unsafe { of_floats(seq, run)? };
        self.done(Some(made))
    }

    pub(crate) fn ints(&mut self, seq: Seq, run: Ints<'_>) -> Result<Option<Owned>> {
        self.charge_run(run.len())?;
        // SAFETY: the GIL is held while a decoder lives.
        let made = unsafe { of_ints(seq, run)? };
        self.done(Some(made))
    }

    pub(crate) fn bools(&mut self, seq: Seq, run: &[u8]) -> Result<Option<Owned>> {
        self.charge_run(run.len())?;
        // SAFETY: the GIL is held while a decoder lives.
        let made = unsafe { of_bools(seq, run)? };
        self.done(Some(made))
    }

    pub(crate) fn texts(&mut self, seq: Seq, lengths: &[u8], joined: &[u8]) -> Result<Option<Owned>> {
        self.charge_run(lengths.len())?;
        // SAFETY: the GIL is held while a decoder lives; the reader has checked that all bytes are ASCII.
        let made = unsafe { of_texts(seq, lengths, joined)? };
        self.done(Some(made))
    }
}

/// A new list or tuple, and its array of empty slots.
///
/// # Safety
/// The GIL is held.
#[inline(always)]
pub(super) unsafe fn sequence(seq: Seq, len: usize) -> Result<(Owned, *mut Obj)> {
    // SAFETY: the GIL is held, by contract; the slots are those of the object just created.
    unsafe {
        let object = match seq {
            Seq::List => ffi::PyList_New(len as isize),
            Seq::Tuple => ffi::PyTuple_New(len as isize),
        };
        let object = Owned::new(object).ok_or_else(raised)?;
        let places = match seq {
            Seq::List => (*object.get().cast::<ffi::PyListObject>()).ob_item,
            Seq::Tuple => std::ptr::addr_of_mut!((*object.get().cast::<ffi::PyTupleObject>()).ob_item).cast(),
        };
        Ok((object, places))
    }
}

/// # Safety
/// The GIL is held.
pub(super) unsafe fn of_floats(seq: Seq, run: &[[u8; 8]]) -> Result<Owned> {
    // SAFETY: the GIL is held; the new object has an empty slot for each value of the run.
    unsafe {
        let (object, places) = sequence(seq, run.len())?;
        for (at, &bytes) in run.iter().enumerate() {
            *places.add(at) = float::from_value(f64::from_le_bytes(bytes)).ok_or_else(raised)?.into_raw();
        }
        Ok(object)
    }
}

/// # Safety
/// The GIL is held.
pub(super) unsafe fn of_ints(seq: Seq, run: Ints<'_>) -> Result<Owned> {
    // SAFETY: the GIL is held; the new object has an empty slot for each value of the run.
    unsafe {
        let (object, places) = sequence(seq, run.len())?;
        match run {
            Ints::I8(run) if run.len() >= 64 => {
                // The identity of ints does not matter: one object for each value serves the whole run.
                let mut made: [Option<Owned>; 256] = [const { None }; 256];
                for (at, &byte) in run.iter().enumerate() {
                    let known = &mut made[usize::from(byte)];
                    let value = match known {
                        Some(value) => value,
                        None => known.insert(int::from_value(i64::from(byte as i8)).ok_or_else(raised)?),
                    };
                    *places.add(at) = value.clone().into_raw();
                }
            }
            Ints::I8(run) => fill_ints(places, run.iter().map(|&byte| i64::from(byte as i8)))?,
            Ints::I16(run) => fill_ints(places, run.iter().map(|&bytes| i64::from(i16::from_le_bytes(bytes))))?,
            Ints::I32(run) => fill_ints(places, run.iter().map(|&bytes| i64::from(i32::from_le_bytes(bytes))))?,
            Ints::I64(run) => fill_ints(places, run.iter().map(|&bytes| i64::from_le_bytes(bytes)))?,
        }
        Ok(object)
    }
}

/// # Safety
/// The GIL is held.
pub(super) unsafe fn of_bools(seq: Seq, run: &[u8]) -> Result<Owned> {
    // SAFETY: the GIL is held; the new object has an empty slot for each value of the run. `True` and `False` live for ever.
    unsafe {
        let (object, places) = sequence(seq, run.len())?;
        for (at, &byte) in run.iter().enumerate() {
            let value = if byte == 1 { ffi::Py_True() } else { ffi::Py_False() };
            *places.add(at) = Owned::borrowed(value).into_raw();
        }
        Ok(object)
    }
}

/// # Safety
/// The GIL is held; the bytes are ASCII, and the lengths add up to them.
pub(super) unsafe fn of_texts(seq: Seq, lengths: &[u8], mut joined: &[u8]) -> Result<Owned> {
    // SAFETY: the GIL is held; the new object has an empty slot for each text, whose bytes are ASCII by contract.
    unsafe {
        let (object, places) = sequence(seq, lengths.len())?;
        for (at, &len) in lengths.iter().enumerate() {
            let (text, rest) = joined.split_at(usize::from(len));
            joined = rest;
            *places.add(at) = strings::from_ascii(text).ok_or_else(raised)?.into_raw();
        }
        Ok(object)
    }
}

/// Makes an int for each value, in order.
///
/// # Safety
/// `places` points to an empty slot for each value; the GIL is held.
#[inline(always)]
unsafe fn fill_ints(places: *mut *mut ffi::PyObject, values: impl Iterator<Item = i64>) -> Result<()> {
    for (at, value) in values.enumerate() {
        // SAFETY: there is a slot at `at`, since there is one for each value by contract.
        unsafe { *places.add(at) = int::from_value(value).ok_or_else(raised)?.into_raw() };
    }
    Ok(())
}

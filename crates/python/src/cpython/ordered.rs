//! The order of an `OrderedDict`, which is a list of its own beside its table: laid out as in CPython's `Objects/odictobject.c`,
//! the same from 3.10 to 3.15.

use super::dict::Position;
use super::{int, Obj, Owned, PyODict_Type};
use pyo3::ffi;
use std::ptr::addr_of;
use std::sync::atomic::{AtomicBool, Ordering};

#[repr(C)]
struct Node {
    key: Obj,
    hash: isize,
    next: *mut Node,
    previous: *mut Node,
}

/// What follows on the dict.
#[repr(C)]
struct Order {
    first: *mut Node,
    last: *mut Node,
    fast_nodes: *mut *mut Node,
    fast_nodes_size: isize,
    resize_sentinel: *mut std::ffi::c_void,
    state: usize,
    attributes: Obj,
    weak: Obj,
}

/// Whether the structs match this CPython; set by `self_test`.
static KNOWN: AtomicBool = AtomicBool::new(false);

pub(super) fn is_known() -> bool {
    KNOWN.load(Ordering::Relaxed)
}

/// Whether its items stand in its table in its own order, as they do until one is moved. `false`, too, where nobody knows.
///
/// # Safety
/// `ordered` is an ordered dict, and the GIL is held.
pub unsafe fn is_that_of_its_table(ordered: Obj) -> bool {
    // SAFETY: by the contract; `self_test` has compared the layout.
    is_known() && unsafe { is_followed(ordered) }
}

/// # Safety
/// `ordered` is an ordered dict of the layout above.
unsafe fn is_followed(ordered: Obj) -> bool {
    // SAFETY: by the contract. The nodes are those of the dict, and end with null; nobody changes it meanwhile.
    unsafe {
        let order = ordered.byte_add((*addr_of!(ffi::PyDict_Type)).tp_basicsize as usize).cast::<Order>();
        let (mut node, mut position) = ((*order).first, Position(0));
        while let Some((key, _)) = position.next(ordered) {
            if node.is_null() || (*node).key != key {
                return false;
            }
            node = (*node).next;
        }
        node.is_null()
    }
}

/// # Safety
/// The GIL is held.
pub(super) unsafe fn self_test() -> Result<(), &'static str> {
    // SAFETY: the GIL is held while the module is imported. `tp_basicsize` was compared first, so reads stay within the object, and a
    // key is where the first node should be before that is followed further.
    unsafe {
        let sizes = ((*addr_of!(PyODict_Type)).tp_basicsize, (*addr_of!(ffi::PyDict_Type)).tp_basicsize);
        if !super::VERIFIED || sizes.0 != sizes.1 + size_of::<Order>() as isize {
            return Ok(());
        }
        let class = std::ptr::addr_of_mut!(PyODict_Type).cast::<ffi::PyObject>();
        let ordered = Owned::new(ffi::PyObject_CallNoArgs(class)).ok_or("no memory")?;
        let numbers = [3, 1, 2].map(|number| int::from_value(number));
        for number in numbers.iter().flatten() {
            if ffi::PyObject_SetItem(ordered.get(), number.get(), number.get()) != 0 {
                return Err("no memory");
            }
        }
        let order = ordered.get().byte_add(sizes.1 as usize).cast::<Order>();
        let is_ends = |node: *mut Node, number: &Option<Owned>| {
            !node.is_null() && number.as_ref().is_some_and(|number| (*node).key == number.get())
        };
        if !is_ends((*order).first, &numbers[0]) || !is_ends((*order).last, &numbers[2]) || !is_followed(ordered.get())
        {
            return Ok(());
        }
        let moved = ffi::PyObject_CallMethod(
            ordered.get(),
            c"move_to_end".as_ptr(),
            c"O".as_ptr(),
            numbers[0].as_ref().map_or(ffi::Py_None(), Owned::get),
        );
        drop(Owned::new(moved).ok_or("no memory")?);
        KNOWN.store(is_ends((*order).last, &numbers[0]) && !is_followed(ordered.get()), Ordering::Relaxed);
        Ok(())
    }
}

//! Who defined the memory of a class's instances: Python's `type`, on top of a builtin with code here, or C code.
//!
//! Memory that C code owns is never filled in from here: the class relies on rules for it that only its own code knows.

use crate::classes::base::Base;
use crate::cpython::{text, Obj, Owned, Type};
use crate::error::{raised, Asked, Result};
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::PyType;
use pyo3::{ffi, intern};
use std::ptr::addr_of_mut;

/// A member from `__slots__`: its name and its offset in an instance.
#[derive(Debug)]
pub struct Slot {
    /// Interned.
    pub name: Owned,
    pub offset: usize,
}

/// The memory of a class's instances.
#[derive(Debug)]
pub struct Memory {
    /// The builtin whose content instances hold; `None` if they have only fields.
    pub base: Option<Base>,
    /// The builtin at the bottom of the instances, at least `object`.
    pub solid: Type,
    /// Those of bases first. A name that is defined again appears once, as attribute access sees it.
    pub slots: Vec<Slot>,
    /// Below the classes that Python's `type` made is C code that is not known here.
    pub is_foreign: bool,
}

/// A base in C with code here.
enum Solid {
    Content(Base),
    /// Nothing but a `__dict__`, if that.
    Fields,
}

/// The memory of a class's instances.
///
/// # Safety
/// `class` is alive.
pub unsafe fn of(py: Python<'_>, class: Type) -> Result<Memory> {
    let mut at = class;
    // SAFETY: `class` is alive by contract and keeps its bases alive. The loop ends at `object`, which has a `Solid`.
    unsafe {
        let (solid, is_foreign) = loop {
            if let Some(solid) = solid_of(py, at)? {
                break (solid, false);
            }
            // The class itself must be made by `type`. Further down, a base in C that adds no memory does no harm.
            if !made_by_type(py, at)? && (at == class || !adds_nothing(at)) {
                break (Solid::Fields, true);
            }
            at = (*at).tp_base;
        };
        let base = if let Solid::Content(base) = solid { Some(base) } else { None };
        Ok(Memory { base, solid: at, slots: slots_of(py, class)?, is_foreign })
    }
}

/// What a class in C holds, if it has code here.
///
/// # Safety
/// `class` is alive.
unsafe fn solid_of(py: Python<'_>, class: Type) -> Result<Option<Solid>> {
    let statics = [
        (addr_of_mut!(ffi::PyList_Type), Base::List),
        (addr_of_mut!(ffi::PyDict_Type), Base::Dict),
        (addr_of_mut!(crate::cpython::PyODict_Type), Base::OrderedDict),
        (addr_of_mut!(ffi::PySet_Type), Base::Set),
        (addr_of_mut!(ffi::PyFrozenSet_Type), Base::FrozenSet),
        (addr_of_mut!(ffi::PyTuple_Type), Base::Tuple),
        (addr_of_mut!(ffi::PyUnicode_Type), Base::Str),
        (addr_of_mut!(ffi::PyBytes_Type), Base::Bytes),
        (addr_of_mut!(ffi::PyByteArray_Type), Base::ByteArray),
        (addr_of_mut!(ffi::PyLong_Type), Base::Int),
        (addr_of_mut!(ffi::PyFloat_Type), Base::Float),
        (addr_of_mut!(ffi::PyComplex_Type), Base::Complex),
    ];
    if let Some((_, base)) = statics.into_iter().find(|(known, _)| *known == class) {
        return Ok(Some(Solid::Content(base)));
    }
    if class == addr_of_mut!(ffi::PyBaseObject_Type) {
        return Ok(Some(Solid::Fields));
    }
    let known = Known::get(py)?;
    let is = |of: &Py<PyAny>| of.as_ptr() == class.cast();
    if is(&known.defaultdict) {
        return Ok(Some(Solid::Content(Base::DefaultDict)));
    }
    if is(&known.deque) {
        return Ok(Some(Solid::Content(Base::Deque)));
    }
    if is(&known.namespace) {
        return Ok(Some(Solid::Fields));
    }
    // SAFETY: `class` is alive by contract.
    unsafe {
        let bound = Bound::from_borrowed_ptr(py, class.cast()).cast_into_unchecked::<PyType>();
        if ffi::PyType_IsSubtype(class, ffi::PyExc_BaseException.cast()) != 0 {
            let is_builtin = is_builtin_exception(&bound)?;
            return Ok(is_builtin.then_some(Solid::Content(Base::Exception)));
        }
        // Nodes of syntax trees have a `__dict__` and nothing else.
        let is_node = loaded(py, "_ast", "AST")?.is_some_and(|node| node.as_ptr() == class.cast());
        if is_node {
            return Ok(Some(Solid::Fields));
        }
        if (*class).tp_base == addr_of_mut!(ffi::PyTuple_Type) && is_struct_sequence(py, class)? {
            return Ok(Some(Solid::Content(Base::StructSequence)));
        }
    }
    Ok(None)
}

/// What a module has under a name (dots lead into classes), if the module is imported.
pub fn loaded<'py>(py: Python<'py>, module: &str, name: &str) -> Result<Option<Bound<'py, PyAny>>> {
    let modules = py.import(intern!(py, "sys"))?.getattr(intern!(py, "modules"))?;
    let Some(mut found) = modules.get_item(module).if_taken()? else { return Ok(None) };
    for part in name.split('.') {
        match found.getattr(part).if_taken()? {
            Some(inner) => found = inner,
            None => return Ok(None),
        }
    }
    Ok(Some(found))
}

/// Types of the interpreter that other types are compared with.
struct Known {
    defaultdict: Py<PyAny>,
    deque: Py<PyAny>,
    namespace: Py<PyAny>,
    /// A class made by a class statement.
    made_by_type: Py<PyAny>,
    /// A class that only the interpreter can make.
    struct_sequence: Py<PyAny>,
}

impl Known {
    fn get(py: Python<'_>) -> PyResult<&Known> {
        static KNOWN: PyOnceLock<Known> = PyOnceLock::new();
        KNOWN.get_or_try_init(py, || {
            let from = |module: &str, name: &str| Ok::<_, PyErr>(py.import(module)?.getattr(name)?.unbind());
            Ok(Known {
                defaultdict: from("collections", "defaultdict")?,
                deque: from("collections", "deque")?,
                namespace: from("types", "SimpleNamespace")?,
                made_by_type: from("abc", "ABC")?,
                // Made at run time and kept by its module: others would have to be dropped before the interpreter ends.
                struct_sequence: from("os", "stat_result")?,
            })
        })
    }
}

/// Whether Python's `type` defined the memory of a class's instances: slots, `__dict__`, `__weakref__`, all on top of
/// its base.
///
/// # Safety
/// `class` is alive.
unsafe fn made_by_type(py: Python<'_>, class: Type) -> Result<bool> {
    let known: Type = Known::get(py)?.made_by_type.as_ptr().cast();
    // SAFETY: `class` is alive by contract; `Known` holds the other one.
    unsafe {
        if ffi::PyType_HasFeature(class, ffi::Py_TPFLAGS_HEAPTYPE) == 0 || !(*class).tp_methods.is_null() {
            return Ok(false);
        }
        let dealloc = |of: Type| (*of).tp_dealloc.map(|own| own as usize);
        // Classes made from a specification in C free their instances by another function, or have methods.
        Ok(dealloc(class) == dealloc(known) || is_msgspec_struct(py, class)?)
    }
}

/// Whether a class is a msgspec Struct. Their memory is defined by `type`, although some have a destructor of
/// msgspec's.
///
/// # Safety
/// `class` is alive.
pub unsafe fn is_msgspec_struct(py: Python<'_>, class: Type) -> Result<bool> {
    let Some(known) = loaded(py, "msgspec", "Struct")? else { return Ok(false) };
    let known: Type = known.as_ptr().cast();
    // SAFETY: `class` is alive by contract; its module holds the other one.
    unsafe { Ok(ffi::PyType_Check(known.cast()) != 0 && ffi::Py_TYPE(class.cast()) == ffi::Py_TYPE(known.cast())) }
}

/// Whether a base adds no memory to that of its own base.
///
/// # Safety
/// `class` is alive.
unsafe fn adds_nothing(class: Type) -> bool {
    // SAFETY: `class` is alive by contract and keeps its base alive. `object`, which has none, was handled before.
    unsafe {
        let base = (*class).tp_base;
        !base.is_null()
            && (*class).tp_basicsize == (*base).tp_basicsize
            && (*class).tp_itemsize == (*base).tp_itemsize
            && (*class).tp_dictoffset == (*base).tp_dictoffset
            && (*class).tp_weaklistoffset == (*base).tp_weaklistoffset
    }
}

/// Whether instances are tuples with hidden fields, like the result of `os.stat`. The interpreter makes all such
/// classes by one function, so they share the code of `__reduce__`.
///
/// # Safety
/// `class` is alive.
unsafe fn is_struct_sequence(py: Python<'_>, class: Type) -> Result<bool> {
    let name = intern!(py, "__reduce__").as_ptr();
    // SAFETY: `class` is alive by contract; its dict holds what is found, and the type is checked before it is read.
    unsafe {
        let function = |of: Type| {
            let found = crate::cpython::class::_PyType_Lookup(of, name);
            if found.is_null() || ffi::Py_TYPE(found) != addr_of_mut!(ffi::PyMethodDescr_Type) {
                return None;
            }
            let method = (*found.cast::<ffi::PyMethodDescrObject>()).d_method;
            Some((*method).ml_meth.PyCFunction as usize)
        };
        let known = function(Known::get(py)?.struct_sequence.as_ptr().cast());
        Ok(known.is_some() && known == function(class))
    }
}

/// The number of fields of a struct sequence: the visible ones, and all.
///
/// # Safety
/// `class` is a struct sequence.
pub unsafe fn struct_sequence_lengths(py: Python<'_>, class: Type) -> Result<(usize, usize)> {
    // SAFETY: `class` is alive by contract.
    let class = unsafe { Bound::from_borrowed_ptr(py, class.cast()) };
    let visible: usize = class.getattr(intern!(py, "n_sequence_fields"))?.extract()?;
    let all: usize = class.getattr(intern!(py, "n_fields"))?.extract()?;
    Ok((visible, all))
}

/// The slots of a class and its bases: writable members from a `__slots__` in Python code.
///
/// # Safety
/// `class` is alive.
unsafe fn slots_of(py: Python<'_>, class: Type) -> Result<Vec<Slot>> {
    let mut slots: Vec<Slot> = Vec::new();
    // SAFETY: `tp_mro` is a tuple of classes that the class holds; heap types made by `type` have `ht_slots`.
    unsafe {
        let mro = (*class).tp_mro;
        for index in (0..ffi::PyTuple_GET_SIZE(mro)).rev() {
            let base = ffi::PyTuple_GET_ITEM(mro, index).cast::<ffi::PyTypeObject>();
            if !made_by_type(py, base)? {
                continue;
            }
            let named = (*base.cast::<ffi::PyHeapTypeObject>()).ht_slots;
            if named.is_null() || ffi::PyTuple_CheckExact(named) == 0 {
                continue;
            }
            // A cached hash is valid in this process only.
            let caches = is_msgspec_struct(py, base)?;
            let mut own = Vec::new();
            for at in 0..ffi::PyTuple_GET_SIZE(named) {
                let name = ffi::PyTuple_GET_ITEM(named, at);
                if caches && text::ascii(name) == Some(b"__msgspec_cached_hash__") {
                    continue;
                }
                if let Some(offset) = member(base, name) {
                    let mut name = Owned::borrowed(name).into_raw();
                    ffi::PyUnicode_InternInPlace(&mut name);
                    own.push(Slot { name: Owned::new(name).ok_or_else(raised)?, offset });
                }
            }
            own.sort_by_key(|slot| slot.offset);
            for slot in own {
                match slots.iter_mut().find(|known| known.name.get() == slot.name.get()) {
                    Some(known) => *known = slot,
                    None => slots.push(slot),
                }
            }
        }
        // If a base's attribute hides a slot and doesn't accept values, an assignment to the instance goes to its
        // `__dict__`.
        slots.retain(|slot| {
            let found = crate::cpython::class::_PyType_Lookup(class, slot.name.get());
            found.is_null() || (*ffi::Py_TYPE(found)).tp_descr_set.is_some()
        });
    }
    Ok(slots)
}

/// The offset of the member that a class's own dict has under a name, if it holds an object and is writable.
///
/// # Safety
/// `class` is alive and a heap type; `name` is a string.
unsafe fn member(class: Type, name: Obj) -> Option<usize> {
    const T_OBJECT_EX: i32 = 16;
    const READONLY: i32 = 1;
    // SAFETY: `class` is alive by contract; its dict holds the descriptor, which describes this class as `d_type` says.
    unsafe {
        let found = ffi::PyDict_GetItem((*class).tp_dict, name);
        if found.is_null() || ffi::Py_TYPE(found) != addr_of_mut!(ffi::PyMemberDescr_Type) {
            return None;
        }
        let descriptor = found.cast::<ffi::PyMemberDescrObject>();
        let member = (*descriptor).d_member.cast::<ffi::PyMemberDef>();
        let is_slot = (*descriptor).d_common.d_type == class
            && (*member).type_code == T_OBJECT_EX
            && (*member).flags & READONLY == 0;
        is_slot.then_some((*member).offset as usize)
    }
}

/// Whether an object is one of the exceptions in `builtins`.
pub fn is_builtin_exception(found: &Bound<'_, PyAny>) -> PyResult<bool> {
    let Ok(class) = found.cast::<PyType>() else { return Ok(false) };
    let module = class.getattr("__module__").and_then(|module| module.extract::<String>()).if_taken()?;
    let is_own = module.is_some_and(|module| module == "builtins");
    // SAFETY: `class` is held by the `Bound`.
    Ok(is_own && unsafe { ffi::PyType_IsSubtype(class.as_ptr().cast(), ffi::PyExc_BaseException.cast()) != 0 })
}

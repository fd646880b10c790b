//! Whether a class defines by methods of its own how it is stored. This is told by identity, not by what the methods
//! look like.
//!
//! For each name that pickle looks up, what the class has is compared with what the builtin at the bottom of its
//! instances has. If they differ, the class has its own way, whatever the object is: a function, a method in C, a
//! descriptor, any callable. The exceptions are objects that are known to store fields as this library does.

use crate::classes::memory::loaded;
use crate::cpython::class::_PyType_Lookup;
use crate::cpython::{new, text, Obj, Owned, Type};
use crate::error::{raised, Result};
use crate::memory::Vec;
use pyo3::prelude::*;
use pyo3::types::{PyCode, PyDict, PyFunction, PyString, PyTuple};
use pyo3::{ffi, intern};

/// How many names pickle looks up.
const ASKED: usize = 6;
/// And how many more decide how instances are stored and made.
const NAMES: usize = ASKED + 3;

fn names(py: Python<'_>) -> [&Bound<'_, PyString>; NAMES] {
    [
        intern!(py, "__reduce_ex__"),
        intern!(py, "__reduce__"),
        intern!(py, "__getstate__"),
        intern!(py, "__setstate__"),
        intern!(py, "__getnewargs_ex__"),
        intern!(py, "__getnewargs__"),
        intern!(py, "__dict__"),
        intern!(py, "__new__"),
        intern!(py, "__getattribute__"),
    ]
}

/// What a class has under those names: addresses that are only compared.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Methods([usize; NAMES]);

/// What a class's methods say.
#[derive(Debug, Default)]
pub struct Own {
    /// The first of pickle's names for which the class has something of its own.
    pub way: Option<&'static str>,
    /// The class has its own `__new__`.
    pub new: bool,
    /// The class has its own `__getattribute__` or `__getattr__`.
    pub answers: bool,
    /// Slots that the class's generated `__getstate__` leaves out.
    pub left_out: Vec<Owned>,
    /// A slot that must be None in a new instance.
    pub reset: Option<&'static str>,
}

impl Methods {
    /// What the class has under those names.
    ///
    /// # Safety
    /// `class` is alive.
    pub unsafe fn of(py: Python<'_>, class: Type) -> Methods {
        // SAFETY: `class` is alive by contract; what is found is only compared.
        Methods(names(py).map(|name| unsafe { _PyType_Lookup(class, name.as_ptr()) } as usize))
    }

    /// Which of them are the class's own, not those of the builtin at the bottom of its instances.
    ///
    /// # Safety
    /// `class` and `solid` are alive, and unchanged since `self` was found.
    pub unsafe fn own(&self, py: Python<'_>, class: Type, solid: Type) -> Result<Own> {
        // SAFETY: both classes are alive by contract.
        let usual = unsafe { Methods::of(py, solid) };
        let mut own = Own::default();
        for ((&found, &usual), text) in self.0.iter().zip(&usual.0).zip(TEXTS) {
            if found == usual {
                continue;
            }
            // SAFETY: the class holds what it has under a name, and hasn't changed since, by contract.
            let known = match unsafe { Bound::from_borrowed_ptr_or_opt(py, found as Obj) } {
                // SAFETY: as above.
                Some(found) => unsafe { own.is_known(class, &found)? },
                None => false,
            };
            if !known {
                own.way = Some(text);
                break;
            }
        }
        let [.., arguments, dict, new, get] = self.0;
        let [.., usual_dict, usual_new, usual_get] = usual.0;
        if own.way.is_none() && dict != usual_dict {
            // SAFETY: as above.
            let dict = unsafe { Bound::from_borrowed_ptr_or_opt(py, dict as Obj) };
            own.way = dict.filter(|dict| !is_getset(dict)).map(|_| "__dict__");
        }
        // SAFETY: as above.
        own.new = unsafe {
            new != usual_new
                && !is_named_tuples(py, class, new)?
                // As the builtins' `__getnewargs__` says: with their content, or without arguments.
                && may_take(&Bound::from_borrowed_ptr(py, new as Obj), usize::from(arguments != 0))?
        };
        own.answers = get != usual_get;
        Ok(own)
    }
}

/// The first of [`names`] as text.
const TEXTS: [&str; ASKED] =
    ["__reduce_ex__", "__reduce__", "__getstate__", "__setstate__", "__getnewargs_ex__", "__getnewargs__"];

/// Functions that store fields as this library does: module and name.
const KNOWN: &[(&str, &str)] = &[
    ("dataclasses", "_dataclass_getstate"),
    ("dataclasses", "_dataclass_setstate"),
    ("collections", "Counter.__reduce__"),
    ("collections", "UserString.__getnewargs__"),
    ("msgspec", "Struct.__reduce__"),
    ("pydantic.main", "BaseModel.__getstate__"),
    ("pydantic.main", "BaseModel.__setstate__"),
    ("pydantic.root_model", "RootModel.__getstate__"),
    ("pydantic.root_model", "RootModel.__setstate__"),
    ("pydantic.v1.main", "BaseModel.__getstate__"),
    ("pydantic.v1.main", "BaseModel.__setstate__"),
];

/// Functions that generate such functions for each class: these are recognized by their code.
const MAKERS: &[(&str, &str)] =
    &[("collections", "namedtuple"), ("attr._make", "_ClassBuilder._make_getstate_setstate")];

impl Own {
    /// Whether an object under one of pickle's names is known to store fields as this library does.
    ///
    /// # Safety
    /// `class` is alive, and has `found` under a name.
    unsafe fn is_known(&mut self, class: Type, found: &Bound<'_, PyAny>) -> Result<bool> {
        let py = found.py();
        for (module, name) in KNOWN {
            if loaded(py, module, name)?.is_some_and(|known| known.is(found)) {
                return Ok(true);
            }
        }
        if is_ours(found)? {
            return Ok(true);
        }
        for (at, (module, name)) in MAKERS.iter().enumerate() {
            let Some(maker) = loaded(py, module, name)? else { continue };
            if is_made_by(found, &maker)? {
                if at == 1 {
                    // SAFETY: the contract is the same.
                    unsafe { self.of_attrs(class, found)? };
                }
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Reads from a function that attrs generated which slots are not state, and whether a cached hash must be reset.
    ///
    /// # Safety
    /// `class` is alive, and has `function` under a name.
    unsafe fn of_attrs(&mut self, class: Type, function: &Bound<'_, PyAny>) -> Result<()> {
        let py = function.py();
        let free = function.getattr(intern!(py, "__code__"))?.getattr(intern!(py, "co_freevars"))?;
        let cells = function.getattr(intern!(py, "__closure__"))?;
        for (name, cell) in free.try_iter()?.zip(cells.try_iter()?) {
            let (name, value) = (name?, cell?.getattr(intern!(py, "cell_contents"))?);
            if name.eq("state_attr_names")? {
                // SAFETY: `class` is alive by contract.
                if let Some(slots) = unsafe { slots_beside(class, function)? } {
                    for slot in slots.try_iter()? {
                        let slot = slot?;
                        if !value.contains(&slot)? {
                            self.left_out.push(crate::cpython::owned(&slot));
                        }
                    }
                }
            } else if name.eq("hash_caching_enabled")? && value.is_truthy()? {
                self.reset = Some(KEPT_HASH);
            }
        }
        self.left_out.push(crate::cpython::owned(new::text(py, KEPT_HASH)?.as_any()));
        Ok(())
    }
}

/// The slot in which attrs caches an instance's hash, which is valid in one process only.
const KEPT_HASH: &str = "_attrs_cached_hash";

/// The `__slots__` of the class, among a class's bases, that defines the function.
///
/// # Safety
/// `class` is alive.
unsafe fn slots_beside<'py>(class: Type, function: &Bound<'py, PyAny>) -> PyResult<Option<Bound<'py, PyAny>>> {
    let py = function.py();
    // SAFETY: `tp_mro` is a tuple of classes that `class` holds, each with a dict while it is alive.
    unsafe {
        let mro = (*class).tp_mro;
        for index in 0..ffi::PyTuple_GET_SIZE(mro) {
            let base = ffi::PyTuple_GET_ITEM(mro, index).cast::<ffi::PyTypeObject>();
            let Some(dict) = Bound::from_borrowed_ptr_or_opt(py, (*base).tp_dict) else { return Ok(None) };
            let dict = dict.cast_into::<PyDict>()?;
            for name in [intern!(py, "__getstate__"), intern!(py, "__setstate__")] {
                if dict.get_item(name)?.is_some_and(|own| own.is(function)) {
                    return dict.get_item(intern!(py, "__slots__"));
                }
            }
        }
    }
    Ok(None)
}

/// Whether `maker` generates functions with this code.
fn is_made_by(found: &Bound<'_, PyAny>, maker: &Bound<'_, PyAny>) -> Result<bool> {
    let py = found.py();
    if !found.is_instance_of::<PyFunction>() || !maker.is_instance_of::<PyFunction>() {
        return Ok(false);
    }
    let code = found.getattr(intern!(py, "__code__"))?;
    let constants = maker.getattr(intern!(py, "__code__"))?.getattr(intern!(py, "co_consts"))?;
    for constant in constants.cast::<PyTuple>().map_err(PyErr::from)? {
        if constant.is(&code) && constant.is_instance_of::<PyCode>() {
            return Ok(true);
        }
    }
    Ok(false)
}

/// Whether a function is defined in a module of this package.
fn is_ours(found: &Bound<'_, PyAny>) -> Result<bool> {
    let py = found.py();
    if !found.is_instance_of::<PyFunction>() {
        return Ok(false);
    }
    let globals = found.getattr(intern!(py, "__globals__"))?;
    let globals = globals.cast::<PyDict>().map_err(PyErr::from)?;
    let Some(name) = globals.get_item(intern!(py, "__name__"))? else { return Ok(false) };
    let Ok(name) = name.cast::<PyString>() else { return Ok(false) };
    if !name.to_string_lossy().starts_with("holdall.") {
        return Ok(false);
    }
    Ok(loaded(py, &name.to_string_lossy(), "__dict__")?.is_some_and(|own| own.is(globals)))
}

/// Whether a class's `__new__` accepts the class and that many arguments, as far as its signature tells. If not, pickle
/// can't load instances either.
fn may_take(new: &Bound<'_, PyAny>, arguments: usize) -> Result<bool> {
    let py = new.py();
    let function = new.getattr_opt(intern!(py, "__func__"))?.unwrap_or_else(|| new.clone());
    if !function.is_instance_of::<PyFunction>() {
        return Ok(true);
    }
    const VARARGS: u32 = 4;
    let code = function.getattr(intern!(py, "__code__"))?;
    let number = |name: &Bound<'_, PyString>| code.getattr(name)?.extract::<usize>();
    let length = |name: &Bound<'_, PyString>| {
        let found = function.getattr(name)?;
        if found.is_none() {
            Ok(0)
        } else {
            found.len()
        }
    };
    let most = number(intern!(py, "co_argcount"))?;
    let least = most.saturating_sub(length(intern!(py, "__defaults__"))?);
    let takes_more = code.getattr(intern!(py, "co_flags"))?.extract::<u32>()? & VARARGS != 0;
    let keywords = number(intern!(py, "co_kwonlyargcount"))? <= length(intern!(py, "__kwdefaults__"))?;
    Ok(least <= arguments + 1 && (arguments < most || takes_more) && keywords)
}

fn is_getset(found: &Bound<'_, PyAny>) -> bool {
    // SAFETY: the `Bound` holds it.
    unsafe { ffi::Py_TYPE(found.as_ptr()) == std::ptr::addr_of_mut!(ffi::PyGetSetDescr_Type) }
}

/// Whether `__new__` was generated by `collections.namedtuple`: it stores the fields unchanged.
///
/// # Safety
/// `class` is alive.
unsafe fn is_named_tuples(py: Python<'_>, class: Type, new: usize) -> Result<bool> {
    let Some(maker) = loaded(py, "collections", "namedtuple")? else { return Ok(false) };
    // SAFETY: `tp_mro` is a tuple of classes that `class` holds, each with a dict while it is alive.
    unsafe {
        let mro = (*class).tp_mro;
        for index in 0..ffi::PyTuple_GET_SIZE(mro) {
            let base = ffi::PyTuple_GET_ITEM(mro, index).cast::<ffi::PyTypeObject>();
            if (*base).tp_dict.is_null() {
                continue;
            }
            let own = |name: &Bound<'_, PyString>| ffi::PyDict_GetItem((*base).tp_dict, name.as_ptr());
            let found = own(intern!(py, "__new__"));
            if found.is_null() {
                continue;
            }
            let arguments = own(intern!(py, "__getnewargs__"));
            // The first class in look-up order is the one that was found.
            return match Bound::from_borrowed_ptr_or_opt(py, arguments) {
                Some(arguments) if found as usize == new => is_made_by(&arguments, &maker),
                _ => Ok(false),
            };
        }
    }
    Ok(false)
}

/// Whether the members of an enumeration are pickled as usual.
///
/// # Safety
/// `class` is alive and an enumeration.
pub unsafe fn is_usual_enum(py: Python<'_>, class: Type) -> Result<bool> {
    // SAFETY: `class` is alive by contract.
    let found = unsafe { _PyType_Lookup(class, intern!(py, "__reduce_ex__").as_ptr()) };
    // SAFETY: null, or held by the class while the `Bound` takes a reference.
    let Some(found) = (unsafe { Bound::from_borrowed_ptr_or_opt(py, found) }) else { return Ok(false) };
    // Flags had their own method from 3.11.0 to 3.11.3.
    const USUAL: &[&str] = &[
        "Enum.__reduce_ex__",
        "Flag.__reduce_ex__",
        "pickle_by_enum_name",
        "pickle_by_global_name",
        "_reduce_ex_by_name",
    ];
    for name in USUAL {
        if loaded(py, "enum", name)?.is_some_and(|usual| usual.is(&found)) {
            return Ok(true);
        }
    }
    // If pickle can't store the members because of a mixed-in type, they are still stored by name.
    // SAFETY: `class` is alive by contract.
    unsafe { is_unpicklable_enum(py, class) }
}

/// Whether `enum` itself has marked an enumeration as one that can't be pickled.
///
/// # Safety
/// `class` is alive.
pub unsafe fn is_unpicklable_enum(py: Python<'_>, class: Type) -> Result<bool> {
    // SAFETY: `class` is alive by contract, and holds what is found while the `Bound` takes a reference.
    let found =
        unsafe { Bound::from_borrowed_ptr_or_opt(py, _PyType_Lookup(class, intern!(py, "__reduce_ex__").as_ptr())) };
    match (found, loaded(py, "enum", "_make_class_unpicklable")?) {
        (Some(found), Some(maker)) => is_made_by(&found, &maker),
        _ => Ok(false),
    }
}

/// The first of pickle's names for which an instance answers something else than its class has.
///
/// # Safety
/// `object` is alive. Runs its class's `__getattribute__`.
pub unsafe fn answered(py: Python<'_>, object: Obj) -> Result<Option<&'static str>> {
    for (name, text) in asked(py).into_iter().zip(TEXTS) {
        // SAFETY: `object` is alive by contract; results are new references, or null with an exception.
        unsafe {
            let asked = [ffi::PyObject_GetAttr, ffi::PyObject_GenericGetAttr].map(|get| {
                let found = Owned::new(get(object, name.as_ptr()));
                if found.is_none() && ffi::PyErr_ExceptionMatches(ffi::PyExc_AttributeError) != 0 {
                    ffi::PyErr_Clear();
                }
                found
            });
            if !ffi::PyErr_Occurred().is_null() {
                return Err(raised());
            }
            let is_same = match &asked {
                [None, None] => true,
                [Some(given), Some(usual)] => {
                    ffi::Py_TYPE(given.get()) == ffi::Py_TYPE(usual.get())
                        && match ffi::PyObject_RichCompareBool(given.get(), usual.get(), ffi::Py_EQ) {
                            -1 => return Err(raised()),
                            equal => equal != 0,
                        }
                }
                _ => false,
            };
            if !is_same {
                return Ok(Some(text));
            }
        }
    }
    Ok(None)
}

/// The names that pickle looks up on an instance.
pub fn asked(py: Python<'_>) -> [&Bound<'_, PyString>; 4] {
    let [reduce_ex, reduce, get, set, ..] = names(py);
    [reduce_ex, reduce, get, set]
}

/// Whether pickle would look up an instance's attribute of that name.
///
/// # Safety
/// `name` is a string.
pub unsafe fn is_asked(name: Obj) -> bool {
    // SAFETY: `name` is a string by contract.
    match unsafe { text::ascii(name) } {
        Some(name) => name.starts_with(b"__") && TEXTS[..4].iter().any(|asked| asked.as_bytes() == name),
        None => false,
    }
}

/// Whether a class is the one in which attrs wraps a cached hash so that it isn't stored.
pub fn is_kept_hash(py: Python<'_>, class: Type) -> Result<bool> {
    Ok(loaded(py, "attr._make", "_CacheHashWrapper")?.is_some_and(|known| known.as_ptr() == class.cast()))
}

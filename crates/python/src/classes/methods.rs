//! Whether a class says by methods of its own how it is stored: found by identity, not by what the methods look like.
//!
//! What a look-up of pickle's names finds on the class is compared with what it finds on the builtin at the bottom of
//! the class's instances. Anything else is the class's own way, whatever it is: a function, a method of C code, a
//! descriptor, something callable. Exempt is code that is known to store fields as we do, by the exact object.

use crate::classes::memory::loaded;
use crate::cpython::class::_PyType_Lookup;
use crate::cpython::{new, text, Obj, Owned, Type};
use crate::error::{raised, Result};
use crate::memory::Vec;
use pyo3::prelude::*;
use pyo3::types::{PyCode, PyDict, PyFunction, PyString, PyTuple};
use pyo3::{ffi, intern};

/// What pickle looks up.
const ASKED: usize = 6;
/// What else decides how instances are stored and made.
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

/// What a class has under those names: addresses, which are only compared.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Methods([usize; NAMES]);

/// What was found out about a class's methods.
#[derive(Debug, Default)]
pub struct Own {
    /// The first of pickle's names under which the class has something of its own.
    pub way: Option<&'static str>,
    /// `__new__` is the class's own.
    pub new: bool,
    /// Attributes of an instance are whatever the class's own code says.
    pub answers: bool,
    /// Slots that the class's generated `__getstate__` leaves out.
    pub left_out: Vec<Owned>,
    /// The slot that has to be None in an instance that was just made.
    pub reset: Option<&'static str>,
}

impl Methods {
    /// # Safety
    /// `class` is alive.
    pub unsafe fn of(py: Python<'_>, class: Type) -> Methods {
        // SAFETY: alive, says the caller; what is found is only compared.
        Methods(names(py).map(|name| unsafe { _PyType_Lookup(class, name.as_ptr()) } as usize))
    }

    /// What of them is the class's own, and not that of the builtin at the bottom of its instances.
    ///
    /// # Safety
    /// `class` and `solid` are alive, and unchanged since `self` was found.
    pub unsafe fn own(&self, py: Python<'_>, class: Type, solid: Type) -> Result<Own> {
        // SAFETY: alive, says the caller.
        let usual = unsafe { Methods::of(py, solid) };
        let mut own = Own::default();
        for ((&found, &usual), text) in self.0.iter().zip(&usual.0).zip(TEXTS) {
            if found == usual {
                continue;
            }
            // SAFETY: what the class has under a name is alive as long as the class is not changed.
            let known = match unsafe { Bound::from_borrowed_ptr_or_opt(py, found as Obj) } {
                // SAFETY: alive, says the caller.
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
        // SAFETY: alive, says the caller, and so is what the class has under a name.
        own.new = unsafe {
            new != usual_new
                && !is_named_tuples(py, class, new)?
                // By the builtins' `__getnewargs__`: their content, or nothing.
                && may_take(&Bound::from_borrowed_ptr(py, new as Obj), usize::from(arguments != 0))?
        };
        own.answers = get != usual_get;
        Ok(own)
    }
}

/// Of [`names`].
const TEXTS: [&str; ASKED] =
    ["__reduce_ex__", "__reduce__", "__getstate__", "__setstate__", "__getnewargs_ex__", "__getnewargs__"];

/// Functions that store fields as we do: module and name.
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

/// Functions that make such functions, one for each class: these are known by their code.
const MAKERS: &[(&str, &str)] =
    &[("collections", "namedtuple"), ("attr._make", "_ClassBuilder._make_getstate_setstate")];

impl Own {
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
                    // SAFETY: as the caller says.
                    unsafe { self.of_attrs(class, found)? };
                }
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// What a function that attrs made has to say: which slots are no state, and whether there is a hash to forget.
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
                // SAFETY: alive, says the caller.
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

/// The slot in which attrs keeps an instance's hash, which holds in one process alone.
const KEPT_HASH: &str = "_attrs_cached_hash";

/// The `__slots__` of the class, among a class's bases, that has a function of its own.
///
/// # Safety
/// `class` is alive.
unsafe fn slots_beside<'py>(class: Type, function: &Bound<'py, PyAny>) -> PyResult<Option<Bound<'py, PyAny>>> {
    let py = function.py();
    // SAFETY: a class's `tp_mro` is a tuple of classes, each with a dict of its own while it is alive.
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

/// Whether a function is one of those that `maker` defines within itself.
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

/// Whether a function stands in a module of this package.
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

/// Whether a class's `__new__` can be called with the class and so many arguments, as far as can be seen. Where it can't,
/// pickle has no way either.
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
    // SAFETY: alive.
    unsafe { ffi::Py_TYPE(found.as_ptr()) == std::ptr::addr_of_mut!(ffi::PyGetSetDescr_Type) }
}

/// Whether a `__new__` is one that `collections.namedtuple` has made: it takes the fields as they are.
///
/// # Safety
/// `class` is alive.
unsafe fn is_named_tuples(py: Python<'_>, class: Type, new: usize) -> Result<bool> {
    let Some(maker) = loaded(py, "collections", "namedtuple")? else { return Ok(false) };
    // SAFETY: a class's `tp_mro` is a tuple of classes, each with a dict of its own while it is alive.
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
            // The first one in the order of look-up is the one that was found.
            return match Bound::from_borrowed_ptr_or_opt(py, arguments) {
                Some(arguments) if found as usize == new => is_made_by(&arguments, &maker),
                _ => Ok(false),
            };
        }
    }
    Ok(false)
}

/// Whether the members of an enumeration are pickled as those of any other.
///
/// # Safety
/// `class` is alive and an enumeration.
pub unsafe fn is_usual_enum(py: Python<'_>, class: Type) -> Result<bool> {
    // SAFETY: alive, says the caller.
    let found = unsafe { _PyType_Lookup(class, intern!(py, "__reduce_ex__").as_ptr()) };
    // SAFETY: what the class has under a name is alive with it.
    let Some(found) = (unsafe { Bound::from_borrowed_ptr_or_opt(py, found) }) else { return Ok(false) };
    // Flags had their own from 3.11.0 to 3.11.3.
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
    // Where pickle has no way, as the mixed-in type has none: by name there is one.
    // SAFETY: alive, says the caller.
    unsafe { is_unpicklable_enum(py, class) }
}

/// Whether `enum` itself has marked an enumeration as one that can't be pickled.
///
/// # Safety
/// `class` is alive.
pub unsafe fn is_unpicklable_enum(py: Python<'_>, class: Type) -> Result<bool> {
    // SAFETY: alive, says the caller; what the class has under a name is alive with it.
    let found =
        unsafe { Bound::from_borrowed_ptr_or_opt(py, _PyType_Lookup(class, intern!(py, "__reduce_ex__").as_ptr())) };
    match (found, loaded(py, "enum", "_make_class_unpicklable")?) {
        (Some(found), Some(maker)) => is_made_by(&found, &maker),
        _ => Ok(false),
    }
}

/// The first of pickle's names for which an instance gives something else than its class has for it.
///
/// # Safety
/// `object` is alive. Runs its class's `__getattribute__`.
pub unsafe fn answered(py: Python<'_>, object: Obj) -> Result<Option<&'static str>> {
    for (name, text) in asked(py).into_iter().zip(TEXTS) {
        // SAFETY: alive, says the caller; results are new references or null, with an exception.
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

/// The names that pickle asks an instance for.
pub fn asked(py: Python<'_>) -> [&Bound<'_, PyString>; 4] {
    let [reduce_ex, reduce, get, set, ..] = names(py);
    [reduce_ex, reduce, get, set]
}

/// Whether an instance's attribute of that name would be asked by pickle.
///
/// # Safety
/// `name` is a string.
pub unsafe fn is_asked(name: Obj) -> bool {
    // SAFETY: a string, says the caller.
    match unsafe { text::ascii(name) } {
        Some(name) => name.starts_with(b"__") && TEXTS[..4].iter().any(|asked| asked.as_bytes() == name),
        None => false,
    }
}

/// Whether a class is the one that attrs wraps a kept hash in, so that it is not stored.
pub fn is_kept_hash(py: Python<'_>, class: Type) -> Result<bool> {
    Ok(loaded(py, "attr._make", "_CacheHashWrapper")?.is_some_and(|known| known.as_ptr() == class.cast()))
}

//! Classes and functions by name. An ordinary message may name only builtin classes from a fixed list, as default
//! factories; a trusted one may name everything that can be imported.

use crate::classes::registry;
use crate::cpython::owned;
use crate::cpython::{new, Owned};
use crate::error::{decode, unknown_type, Asked, Result};
use crate::memory::{format, Vec};
use crate::types::walker::{TypeWalker, WorkItem};
use holdall_format::model::{KnownType, Text, TypeWriter};
use holdall_format::Writer;
use pyo3::exceptions::{PyAttributeError, PyModuleNotFoundError, PyValueError};
use pyo3::ffi;
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::{PyString, PyType};
use std::ffi::{c_char, c_int};

/// Builtin classes that return an empty value when called without arguments, and do nothing else.
const BUILTINS: &[&str] = &[
    "int",
    "float",
    "complex",
    "bool",
    "str",
    "bytes",
    "bytearray",
    "list",
    "tuple",
    "dict",
    "set",
    "frozenset",
    "object",
];

/// Writes None or a class from the fixed list. `false`: it is something else.
pub fn write_builtin<'py, E: TypeWalker<'py>>(encoder: &mut E, object: &Bound<'_, PyAny>) -> Result<bool> {
    if object.is_none() {
        encoder.w().none();
        return Ok(true);
    }
    for (name, class) in BUILTINS.iter().zip(builtins(object.py())?) {
        if class.is(object) {
            encoder.w().known(KnownType::PythonBuiltinType);
            encoder.w().text(Text::Ascii(name.as_bytes()));
            return Ok(true);
        }
    }
    Ok(false)
}

pub fn builtin<'py>(py: Python<'py>, parts: &[Bound<'py, PyAny>]) -> PyResult<Bound<'py, PyAny>> {
    let [name] = parts else { return Err(PyValueError::new_err("another count of values")) };
    let name = name.cast::<PyString>()?.to_str()?;
    match BUILTINS.iter().zip(builtins(py)?).find(|(known, _)| **known == name) {
        Some((_, class)) => Ok(class.bind(py).clone()),
        None => Err(PyValueError::new_err("a class that is not of the list")),
    }
}

/// The builtin classes, in the order of their names.
fn builtins(py: Python<'_>) -> PyResult<&[Py<PyAny>]> {
    static FOUND: PyOnceLock<std::vec::Vec<Py<PyAny>>> = PyOnceLock::new();
    let find = || {
        let module = py.import("builtins")?;
        BUILTINS.iter().map(|name| Ok(module.getattr(*name)?.unbind())).collect()
    };
    FOUND.get_or_try_init(py, find).map(|found| &found[..])
}

/// In trusted messages, writes a class or function by module and name, its own name or the given one. Returns the
/// reason if that name doesn't lead to the object.
pub fn write<'py, E: TypeWalker<'py>>(
    encoder: &mut E,
    object: &Bound<'_, PyAny>,
    name: Option<&Bound<'_, PyString>>,
) -> Result<Option<String>> {
    let py = object.py();
    let (module, name) = match place_of(object, name)? {
        Ok(place) => place,
        Err(why) => return Ok(Some(why)),
    };
    encoder.w().global();
    // The module's name is the same string for everything in it, so as a value it is written once.
    let parts = [module, name].map(|text| match text.cast_exact::<PyString>() {
        Ok(_) => PyResult::Ok(text),
        Err(_) => Ok(new::text(py, text.to_str()?)?),
    });
    let [module, name] = parts;
    // Held here as well: a text that only its class holds would be taken for one that does not come again.
    let (module, name) = (module?, name?);
    encoder.then([WorkItem::Value(owned(module.as_any())), WorkItem::Value(owned(name.as_any()))]);
    Ok(None)
}

/// The reason why a class can't be found by its name, if it can't.
pub fn unfindable(class: &Bound<'_, PyType>) -> Result<Option<String>> {
    Ok(place_of(class.as_any(), None)?.err())
}

/// The module and the name under which an object is found, or the reason why it isn't.
#[allow(clippy::type_complexity)]
fn place_of<'py>(
    object: &Bound<'py, PyAny>,
    name: Option<&Bound<'py, PyString>>,
) -> Result<std::result::Result<(Bound<'py, PyString>, Bound<'py, PyString>), String>> {
    let py = object.py();
    let name = match name {
        Some(name) => name.clone().into_any(),
        None => match object.getattr("__qualname__").if_taken()? {
            Some(name) => name,
            None => object.getattr("__name__")?,
        },
    };
    // Pickle's rule: `__module__`, else the first module that has the object under that name. (Since 3.14 its function looks the name
    // up, too, and refuses what isn't there.)
    let module = match object.getattr_opt(intern!(py, "__module__")).if_taken()?.flatten() {
        Some(module) if !module.is_none() => module,
        _ => match py.import("pickle")?.getattr("whichmodule")?.call1((object, &name)).if_taken()? {
            Some(module) => module,
            None => new::text(py, "__main__")?.into_any(),
        },
    };
    let (Ok(module), Ok(name)) = (module.cast_into::<PyString>(), name.cast_into::<PyString>()) else {
        return Ok(Err("its module or its name is no text".into()));
    };
    if name.to_str()?.split('.').any(|part| part == "<locals>") {
        return Ok(Err(format!("it is stored by its name, and `{module}.{name}` is local to a function")));
    }
    Ok(match look_up(&module, &name)? {
        Found::Object(found) if found.is(object) => Ok((module, name)),
        Found::Object(_) => Err(format!("it is stored by its name, and `{module}.{name}` is another object")),
        Found::Nothing(what) => Err(format!("it is stored by its name `{module}.{name}`, and {what}")),
    })
}

/// What a module has under a dotted name.
enum Found<'py> {
    Object(Bound<'py, PyAny>),
    /// Nothing; says what is missing.
    Nothing(String),
}

/// Imports the module; exceptions of its code are passed on.
fn look_up<'py>(module: &Bound<'py, PyString>, name: &Bound<'py, PyString>) -> PyResult<Found<'py>> {
    let py = module.py();
    if module.is_empty()? {
        return Ok(Found::Nothing("its module has no name".into()));
    }
    let mut found = match loaded(module)?.map_or_else(|| py.import(module).map(Bound::into_any), Ok) {
        Ok(found) => found,
        Err(error) if is_missing(&error, module)? => {
            return Ok(Found::Nothing(format!("there is no module `{module}`")))
        }
        Err(error) => return Err(error),
    };
    let whole = name.to_str()?;
    for part in whole.split('.') {
        let part = if part.len() == whole.len() { name.clone() } else { new::text(py, part)? };
        found = match found.getattr(&part) {
            Ok(found) => found,
            Err(error) if error.is_instance_of::<PyAttributeError>(py) => {
                return Ok(Found::Nothing(format!("`{module}` has no `{name}`")));
            }
            Err(error) => return Err(error),
        };
    }
    Ok(Found::Object(found))
}

/// A module that is imported, and complete: to import it once more takes longer than all the rest.
fn loaded<'py>(module: &Bound<'py, PyString>) -> PyResult<Option<Bound<'py, PyAny>>> {
    let py = module.py();
    // SAFETY: `module` is a string; the result is a new reference, or null, perhaps with an exception.
    let found = unsafe { Bound::from_owned_ptr_or_opt(py, ffi::PyImport_GetModule(module.as_ptr())) };
    let Some(found) = found.filter(|found| !found.is_none()) else {
        return PyErr::take(py).map_or(Ok(None), Err);
    };
    let Some(spec) = found.getattr_opt(intern!(py, "__spec__"))? else { return Ok(None) };
    let is_going_on = match spec.getattr_opt(intern!(py, "_initializing"))? {
        Some(said) => said.is_truthy()?,
        None => false,
    };
    Ok((!is_going_on).then_some(found))
}

/// Tells audit hooks what is looked up.
fn audit(module: &Bound<'_, PyString>, name: &Bound<'_, PyString>) -> PyResult<()> {
    crate::cpython::libpython! {
        fn PySys_Audit(event: *const c_char, format: *const c_char, ...) -> c_int;
    }
    // SAFETY: the format says that two objects follow, which the `Bound`s hold.
    let done = unsafe { PySys_Audit(c"pickle.find_class".as_ptr(), c"OO".as_ptr(), module.as_ptr(), name.as_ptr()) };
    match done {
        0 => Ok(()),
        _ => Err(PyErr::fetch(module.py())),
    }
}

/// Whether an import failed because that module, or a package that contains it, doesn't exist; not a module that it
/// imports.
fn is_missing(error: &PyErr, module: &Bound<'_, PyString>) -> PyResult<bool> {
    let py = module.py();
    if !error.is_instance_of::<PyModuleNotFoundError>(py) {
        return Ok(false);
    }
    let Some(missing) = error.value(py).getattr("name")?.extract::<String>().if_taken()? else { return Ok(false) };
    let module = module.to_str()?;
    Ok(module == missing || module.strip_prefix(&missing).is_some_and(|rest| rest.starts_with('.')))
}

/// Looks a name up by the user's `find_class`, which then decides alone; else by importing the module.
fn look_up_by<'py>(
    hook: Option<&Owned>,
    module: &Bound<'py, PyString>,
    name: &Bound<'py, PyString>,
) -> PyResult<Found<'py>> {
    let py = module.py();
    match hook {
        // SAFETY: the options hold the hook.
        Some(hook) => unsafe { Bound::from_borrowed_ptr(py, hook.get()) }.call1((module, name)).map(Found::Object),
        None => {
            // Audit hooks that watch what pickle loads see this as well.
            audit(module, name)?;
            look_up(module, name)
        }
    }
}

/// Mirror of [`write`].
pub fn find(py: Python<'_>, find_class: Option<&Owned>, parts: &[Owned], at: usize) -> Result<Owned> {
    // SAFETY: the caller's `parts` hold the objects.
    let parts: Vec<_> = parts.iter().map(|part| unsafe { Bound::from_borrowed_ptr(py, part.get()) }).collect();
    let wrong = || decode("expected module and name of a class or function", at);
    let [module, name] = &parts[..] else { return Err(wrong()) };
    let (Ok(module), Ok(name)) = (module.cast_exact::<PyString>(), name.cast_exact::<PyString>()) else {
        return Err(wrong());
    };
    if module.to_str().if_taken()?.is_none() || name.to_str().if_taken()?.is_none() {
        return Err(wrong());
    }
    match look_up_by(find_class, module, name)? {
        Found::Object(found) => Ok(owned(&found)),
        Found::Nothing(what) => {
            // A class that was moved or renamed.
            if let (Some(known), None) = (registry::by_name(py, &format!("{module}.{name}"))?, find_class) {
                return Ok(known.class.clone());
            }
            if let (Some(known), None) = (registry::function_of(py, &format!("{module}.{name}")), find_class) {
                return Ok(known);
            }
            let remedy = "`register` the class or function with that name in `aliases`";
            Err(decode(format_args!("can't find `{module}.{name}`: {what}; {remedy}"), at))
        }
    }
}

/// In trusted messages: the class with a shape's stored name, "module.qualname", whose module is imported if necessary.
pub fn class_of(py: Python<'_>, hook: Option<&Owned>, stored: &str, at: usize) -> Result<Owned> {
    let modules = py.import("sys")?.getattr("modules")?;
    let splits = || stored.rmatch_indices('.').map(|(dot, _)| (&stored[..dot], &stored[dot + 1..]));
    // Which dots belong to the module's name: as imported modules tell, else the first split whose module can be
    // imported.
    let mut all: Vec<(&str, &str)> = Vec::new();
    for (module, name) in splits() {
        let Some(mut found) = modules.get_item(module).if_taken()? else { continue };
        let mut whole = true;
        for part in name.split('.') {
            match found.getattr(part).if_taken()? {
                Some(inner) => found = inner,
                None => whole = false,
            }
        }
        if whole {
            all.push((module, name));
            break;
        }
    }
    if all.is_empty() {
        all.extend(splits());
    }
    let mut missing = format!("there is no module in `{stored}`");
    for (module, name) in all {
        let (module, name) = (new::text(py, module)?, new::text(py, name)?);
        match look_up_by(hook, &module, &name) {
            Ok(Found::Object(found)) if found.is_instance_of::<PyType>() => return Ok(owned(&found)),
            Ok(Found::Object(_)) => missing = format!("`{module}.{name}` is no class"),
            Ok(Found::Nothing(what)) => missing = what,
            Err(error) if hook.is_some() && is_missing(&error, &module)? => {
                missing = format!("there is no module `{module}`")
            }
            Err(error) => return Err(error.into()),
        }
    }
    let remedies =
        "`register` the class with that name in `aliases`, or load records by `holdall.loads(data, trust=True, \
                    types=holdall.Record)`";
    Err(unknown_type(format!("{stored}"), format!("can't find the class `{stored}`: {missing}; {remedies}"), at))
}

/// In trusted messages: the result of the user's hook for a persistent id.
pub fn persistent(persistent_load: Option<&Owned>, parts: &[Owned], at: usize) -> Result<Owned> {
    match (persistent_load, parts) {
        (Some(hook), [id]) => registry::call(hook, id.get()),
        _ => Err(decode("the message has persistent ids: it needs an unpickler with `persistent_load`", at)),
    }
}

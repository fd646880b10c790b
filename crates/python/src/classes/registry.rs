//! What users registered: names, aliases, versions, and functions that replace storing by fields.

use crate::classes::names::class_name;
pub use crate::classes::registration::{Classes, Constructor, Registration, Unknown};
use crate::classes::serial::next_serial;
use crate::cpython::{Obj, Owned, Type};
use crate::error::door;
use crate::error::{Asked, HoldallError};
use crate::memory::{format, FxHashMap, Vec};
use crate::state::{Name, StateSlot};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyString, PyTuple, PyType};
use std::cell::RefCell;
use std::rc::Rc;

/// A fast hash without a secret is safe: the program chooses the names in the tables, not the data.
#[derive(Default)]
struct Registry {
    by_class: FxHashMap<usize, Rc<Registration>>,
    by_name: FxHashMap<String, Rc<Registration>>,
    /// Functions by the names that they had.
    functions: FxHashMap<String, Owned>,
    generation: u64,
    /// Some class was registered with a resolver.
    has_resolvers: bool,
    /// Called for each class that is registered, to drop what a cache knows about it.
    forget: Vec<fn(Python<'_>, Type)>,
    /// Which of [`LIBRARIES`] have been registered.
    taught: [bool; LIBRARIES.len()],
}

/// Libraries whose classes `_known.py` registers once the program has imported them: a module that is always imported
/// with them, and the beginning of the stored names of their classes.
const LIBRARIES: &[(&str, &str)] = &[
    ("bson.objectid", "bson."),
    ("holdall.julia", "holdall.julia."),
    ("holdall.lisp", "holdall.lisp."),
    ("string.templatelib", "string.templatelib."),
    #[cfg(Py_3_15)]
    ("builtins", "builtins.frozendict"),
];

// SAFETY: no other slot has this name.
static REGISTRY: StateSlot<RefCell<Registry>> = unsafe { StateSlot::new(Name::Registry) };

/// `action` must not run Python code.
fn with<T>(py: Python<'_>, action: impl FnOnce(&mut Registry) -> T) -> T {
    action(&mut REGISTRY.get(py).borrow_mut())
}

/// Makes registrations call `forget` with the class.
pub fn on_registration(py: Python<'_>, forget: fn(Python<'_>, Type)) {
    with(py, |registry| registry.forget.push(forget));
}

pub fn by_class(py: Python<'_>, class: Type) -> PyResult<Option<Rc<Registration>>> {
    let find = || with(py, |registry| registry.by_class.get(&(class as usize)).cloned());
    if let Some(found) = find() {
        return Ok(Some(found));
    }
    // SAFETY: callers hold the class, and the `Bound` takes a reference of its own.
    let class = unsafe { Bound::from_borrowed_ptr(py, class.cast()).cast_into_unchecked::<PyType>() };
    let module = class.getattr_opt(pyo3::intern!(py, "__module__")).if_taken()?.flatten();
    // Modules of these libraries have ASCII names, which `to_str` reads without allocating.
    let library = match module.as_ref().map(|module| module.cast::<PyString>()) {
        Some(Ok(module)) => module.to_str().ok().and_then(library_of),
        _ => None,
    };
    match library {
        Some(library) if teach(py, library)? => Ok(find()),
        _ => Ok(None),
    }
}

pub fn by_name(py: Python<'_>, name: &str) -> PyResult<Option<Rc<Registration>>> {
    let find = || with(py, |registry| registry.by_name.get(name).cloned());
    if let Some(found) = find() {
        return Ok(Some(found));
    }
    match library_of(name) {
        Some(library) if teach(py, library)? => Ok(find()),
        _ => Ok(None),
    }
}

/// Whether any class was registered with a resolver.
pub fn has_resolvers(py: Python<'_>) -> bool {
    with(py, |registry| registry.has_resolvers)
}

/// The library to which a stored class name, or a module, belongs.
fn library_of(name: &str) -> Option<usize> {
    LIBRARIES.iter().position(|(module, start)| name.starts_with(start) || *module == name)
}

/// Registers the classes of a library, once. `false` if that was done before, or if the program has not imported the
/// library: data must not cause imports.
#[cold]
fn teach(py: Python<'_>, library: usize) -> PyResult<bool> {
    let (module, start) = LIBRARIES[library];
    let is_there = || py.import("sys")?.getattr("modules")?.contains(module);
    if with(py, |registry| registry.taught[library]) || !is_there().if_taken()?.unwrap_or(false) {
        return Ok(false);
    }
    // Set first, because `teach` asks for classes itself.
    with(py, |registry| registry.taught[library] = true);
    let done = py.import("holdall._known").and_then(|known| known.call_method1("teach", (start,)));
    let done = done.and_then(|done| done.extract::<bool>());
    if !matches!(done, Ok(true)) {
        with(py, |registry| registry.taught[library] = false);
    }
    match done.answer()? {
        Ok(done) => Ok(done),
        Err(error) => {
            error.write_unraisable(py, None);
            Ok(false)
        }
    }
}

/// How to load a class of that name that was not permitted.
pub fn remedy(py: Python<'_>, name: &str) -> String {
    if let Some(library) = library_of(name).filter(|&library| !with(py, |registry| registry.taught[library])) {
        let package = LIBRARIES[library].1.trim_end_matches('.');
        return format!("`{name}` is not there: `import {package}` before it is loaded, or load it as a generic record with `types=holdall.Record`");
    }
    match bundle_of(py, name) {
        Some(bundle) => format!(
            "`{name}` is not permitted here: `holdall.register_known(\"{bundle}\")` permits it, or load it as a generic record with `types=holdall.Record`"
        ),
        None => format!(
            "`{name}` is not permitted here: `register` the class, name it in `types=`, or load it as a generic record with `types=holdall.Record`"
        ),
    }
}

/// The bundle of `register_known` that would permit a class, by its stored name or its module's; `None` if there is none, or if it
/// was asked for already.
#[cold]
pub fn bundle_of(py: Python<'_>, name: &str) -> Option<String> {
    let found = py.import("holdall._bundles").and_then(|bundles| bundles.call_method1("bundle_of", (name,)));
    found.and_then(|bundle| bundle.extract()).ok().flatten()
}

/// The same by the class.
#[cold]
pub fn bundle_of_class(class: &Bound<'_, PyType>) -> PyResult<Option<String>> {
    let name = class_name(class.py(), class.as_ptr().cast())?;
    Ok(bundle_of(class.py(), &name))
}

/// Calls the `decode` of a class that is made empty before.
pub fn fill(function: &Owned, object: Obj, state: Obj) -> crate::error::Result<()> {
    // SAFETY: callers hold all three during the call.
    let done = unsafe {
        Owned::new(pyo3::ffi::PyObject_CallFunctionObjArgs(
            function.get(),
            object,
            state,
            std::ptr::null_mut::<pyo3::ffi::PyObject>(),
        ))
    };
    done.map(drop).ok_or_else(crate::error::raised)
}

fn owned(object: &Bound<'_, PyAny>) -> Owned {
    // SAFETY: the `Bound` holds `object`.
    unsafe { Owned::borrowed(object.as_ptr()) }
}

fn function(object: &Bound<'_, PyAny>, what: &str) -> PyResult<Option<Owned>> {
    if object.is_none() {
        return Ok(None);
    }
    if !object.is_callable() {
        return Err(HoldallError::new_err(format!("`{what}` must be callable or None")));
    }
    Ok(Some(owned(object)))
}

/// What the settings of a class say; `false` without settings.
fn said(settings: &Bound<'_, PyAny>, name: &str) -> PyResult<bool> {
    Ok(!settings.is_none() && settings.getattr(name)?.is_truthy()?)
}

/// A word of the settings of a class; `None` without settings.
fn word(settings: &Bound<'_, PyAny>, name: &str) -> PyResult<Option<String>> {
    if settings.is_none() {
        return Ok(None);
    }
    settings.getattr(name)?.extract()
}

/// How many registrations there have been: what was learnt about classes before may be outdated.
pub fn generation(py: Python<'_>) -> u64 {
    with(py, |registry| registry.generation)
}

/// Registers `cls`; the Python function `register` describes the arguments. Registering it again replaces the earlier
/// one.
///
/// ours: it comes from `_known.py`, which doesn't replace what a program has registered.
/// bundled: the same from a module of `bundles`, which the program has asked for. fills: `decode` takes an empty instance and its content.
/// remaining: only of instances that the format has no form for: those of a builtin with attributes, for example.
/// constructor: a function, and for each of its arguments the classes of which it may be; a state that is a tuple of such goes there.
// Long: one field after the other.
#[pyfunction]
#[pyo3(signature = (cls, name, aliases, version, renames, upgrade, encode, decode, settings, /, *, ours = false, bundled = false, fills = false, remaining = false, constructor = None))]
#[allow(clippy::too_many_arguments)]
pub fn register_class(
    cls: &Bound<'_, PyType>,
    name: Option<&Bound<'_, PyString>>,
    aliases: &Bound<'_, PyTuple>,
    version: u64,
    renames: &Bound<'_, PyDict>,
    upgrade: &Bound<'_, PyAny>,
    encode: &Bound<'_, PyAny>,
    decode: &Bound<'_, PyAny>,
    settings: &Bound<'_, PyAny>,
    ours: bool,
    bundled: bool,
    fills: bool,
    remaining: bool,
    constructor: Option<(Bound<'_, PyAny>, Classes<'_>)>,
) -> PyResult<()> {
    door(|| {
        let py = cls.py();
        let class = cls.as_ptr().cast();
        let name = match name {
            Some(name) => name.to_str()?.to_owned(),
            None => class_name(py, class)?,
        };
        let mut renamed = Vec::new();
        for (old, new) in renames {
            let old = old.cast_into::<PyString>()?;
            let new = new.cast_into::<PyString>()?;
            renamed.push((owned(&old), owned(&new)));
        }
        let registration = Rc::new(Registration {
            class: owned(cls),
            name,
            aliases: aliases.extract::<std::vec::Vec<String>>()?.into(),
            version,
            renames: renamed,
            upgrade: function(upgrade, "upgrade")?,
            upgrade_takes_name: said(settings, "upgrade_takes_name")?,
            resolver: match settings.is_none() {
                true => None,
                false => function(&settings.getattr("resolver")?, "resolver")?,
            },
            serial: next_serial(),
            encode: function(encode, "encode")?,
            decode: function(decode, "decode")?,
            decode_takes_version: said(settings, "decode_takes_version")?,
            unknown: Unknown::named(word(settings, "unknown")?.as_deref()),
            may_lack: word(settings, "missing")?.as_deref() == Some("leave"),
            settings: (!settings.is_none()).then(|| owned(settings)),
            ours: ours || bundled,
            bundled,
            fills,
            remaining,
            constructor: constructor.map(Constructor::of),
        });
        if registration.encode.is_some() != registration.decode.is_some() {
            return Err(HoldallError::new_err("`encode` and `decode` go together: what one gives, the other takes"));
        }
        let names = || std::iter::once(&registration.name).chain(&registration.aliases);
        let replaced = with(py, |registry| {
            let key = class as usize;
            let known = registry.by_class.get(&key);
            if known.is_some_and(|known| ours || bundled && !known.ours) {
                return Ok(None);
            }
            for name in names() {
                if registry.by_name.get(name).is_some_and(|other| other.class.get() != cls.as_ptr()) {
                    return Err(name.clone());
                }
            }
            // Registrations of ours come before the first use of the class, so nothing is outdated.
            registry.generation += u64::from(!ours);
            registry.has_resolvers |= registration.resolver.is_some();
            let old = registry.by_class.insert(key, registration.clone());
            if let Some(old) = &old {
                registry.by_name.retain(|_, other| !Rc::ptr_eq(other, old));
            }
            for name in names() {
                registry.by_name.insert(name.clone(), registration.clone());
            }
            Ok(old)
        });
        match replaced {
            Ok(old) => {
                for forget in with(py, |registry| registry.forget.clone()) {
                    forget(py, class);
                }
                drop(old); // after the borrow: a destructor may run Python code
                Ok(())
            }
            Err(name) => Err(HoldallError::new_err(format!(
                "the name {name:?} is registered for another class: give one of them another `name`"
            ))),
        }
    })
}

/// Has a function found under names that it had in trusted messages.
#[pyfunction]
pub fn register_function(function: &Bound<'_, PyAny>, names: std::vec::Vec<String>) -> PyResult<()> {
    door(|| {
        let mut old = Vec::new();
        for name in names {
            old.push(with(function.py(), |registry| registry.functions.insert(name, owned(function))));
        }
        drop(old); // after the borrow: a destructor may run Python code
        Ok(())
    })
}

/// The function that had this name.
pub fn function_of(py: Python<'_>, name: &str) -> Option<Owned> {
    with(py, |registry| registry.functions.get(name).cloned())
}

/// Calls a user's function with one argument.
pub fn call(function: &Owned, argument: Obj) -> crate::error::Result<Owned> {
    // SAFETY: callers hold both during the call.
    unsafe {
        Owned::new(pyo3::ffi::PyObject_CallFunctionObjArgs(
            function.get(),
            argument,
            std::ptr::null_mut::<pyo3::ffi::PyObject>(),
        ))
    }
    .ok_or_else(crate::error::raised)
}

/// Calls a user's `decode` that also takes the stored version.
pub fn call_with_version(function: &Owned, argument: Obj, version: u64) -> crate::error::Result<Owned> {
    // SAFETY: callers hold both during the call; a call comes from a load, which holds the GIL.
    let (function, argument) = unsafe {
        let py = Python::assume_attached();
        (Bound::from_borrowed_ptr(py, function.get()), Bound::from_borrowed_ptr(py, argument))
    };
    Ok(owned(&function.call1((argument, version))?))
}

/// The settings of a registered class, or None; for `_schemas.py`.
#[pyfunction]
pub fn class_settings(cls: &Bound<'_, PyType>) -> PyResult<Option<Py<PyAny>>> {
    door(|| {
        let settings = by_class(cls.py(), cls.as_ptr().cast())?.and_then(|known| known.settings.clone());
        // SAFETY: `settings` holds the object.
        Ok(settings.map(|settings| unsafe { Bound::from_borrowed_ptr(cls.py(), settings.get()) }.unbind()))
    })
}

/// Registered classes that are subclasses of `cls`; for `_schemas.py`.
#[pyfunction]
pub fn registered_subclasses(cls: &Bound<'_, PyType>) -> PyResult<std::vec::Vec<Py<PyAny>>> {
    door(|| {
        let classes: Vec<Owned> = with(cls.py(), |registry| {
            registry.by_class.values().filter(|known| !known.ours).map(|known| known.class.clone()).collect()
        });
        let mut found = Vec::new();
        for class in classes {
            // SAFETY: `class` holds the object.
            let class = unsafe { Bound::from_borrowed_ptr(cls.py(), class.get()) };
            if !class.is(cls) && class.cast::<PyType>()?.is_subclass(cls)? {
                found.push(class.unbind());
            }
        }
        Ok(found.into_std())
    })
}

/// What was registered for exactly this class, as `(name, aliases, version, renames, has upgrade, has encode)`, or None; for the
/// command line, which compares it with what was stored.
#[pyfunction]
pub fn class_registration<'py>(cls: &Bound<'py, PyType>) -> PyResult<Option<Bound<'py, PyTuple>>> {
    door(|| {
        let py = cls.py();
        let Some(known) = by_class(py, cls.as_ptr().cast())? else { return Ok(None) };
        let renames = PyDict::new(py);
        for (old, new) in &known.renames {
            // SAFETY: the registration, which `known` holds, holds both.
            let (old, new) =
                unsafe { (Bound::from_borrowed_ptr(py, old.get()), Bound::from_borrowed_ptr(py, new.get())) };
            renames.set_item(old, new)?;
        }
        let aliases = PyTuple::new(py, known.aliases.iter())?;
        let told = (&known.name, aliases, known.version, renames, known.upgrade.is_some(), known.encode.is_some());
        Ok(Some(told.into_pyobject(py)?))
    })
}

//! Exceptions: arguments, attributes (notes among them), cause and context. Tracebacks are left out, as pickle does.
//!
//! The content of an exception's instance is the tuple of its arguments, then a dict of what C code keeps of it:
//! cause, context and the fields that the builtin exceptions add.

use crate::cpython::class::_PyType_Lookup;
use crate::cpython::owned;
use crate::cpython::{new, Obj, Owned, Type};
use crate::error::{decode, encode, refused, Asked, Result};
use crate::memory::{vec, Vec};
use crate::types::walker::WorkItem;
use pyo3::exceptions::{PyAttributeError, PyOSError, PySyntaxError, PyUnicodeDecodeError};
use pyo3::ffi;
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::{PyBool, PyBytes, PyDict, PyInt, PyList, PyString, PyTuple};

/// Fields that C code keeps of every exception, beside the arguments.
const FIELDS: &[&str] = &["__cause__", "__context__", "__suppress_context__"];
const UNICODE: &[&str] = &["encoding", "object", "start", "end", "reason"];
/// Stands among the fields, and is False, where the arguments don't say the derived ones: those that are set stand there, too.
const INITIALISER: &str = "__init__";

/// What a builtin exception keeps besides.
#[derive(Default)]
struct Kept {
    /// Not said by the arguments.
    own: &'static [&'static str],
    /// What the builtin's initialiser takes from the arguments. A class whose `__init__` does not call it may have others.
    derived: &'static [&'static str],
}

/// # Safety
/// `builtin` is an exception of the interpreter's own.
unsafe fn kept(builtin: Type) -> Kept {
    // SAFETY: static classes.
    unsafe {
        if is_plain(builtin) {
            return Kept::default();
        }
        let is = |known: Obj| ffi::PyType_IsSubtype(builtin, known.cast()) != 0;
        if is(ffi::PyExc_OSError) {
            Kept { own: &["errno", "strerror", "filename", "filename2", "characters_written"], derived: &[] }
        } else if is(ffi::PyExc_ImportError) {
            Kept { own: &["name", "path", "name_from"], derived: &["msg"] }
        } else if is(ffi::PyExc_AttributeError) {
            Kept { own: &["name", "obj"], derived: &[] }
        } else if is(ffi::PyExc_NameError) {
            Kept { own: &["name"], derived: &[] }
        } else if is(ffi::PyExc_StopIteration) {
            Kept { own: &[], derived: &["value"] }
        } else if is(ffi::PyExc_SystemExit) {
            Kept { own: &[], derived: &["code"] }
        } else if is(ffi::PyExc_SyntaxError) {
            const SYNTAX: &[&str] =
                &["msg", "filename", "lineno", "offset", "text", "end_lineno", "end_offset", "print_file_and_line"];
            Kept { own: &[], derived: SYNTAX }
        } else if is(ffi::PyExc_UnicodeError) {
            Kept { own: &[], derived: UNICODE }
        } else {
            Kept::default()
        }
    }
}

/// Whether a builtin exception's instances have what all have, and no more.
///
/// # Safety
/// `builtin` is an exception of the interpreter's own.
unsafe fn is_plain(builtin: Type) -> bool {
    // SAFETY: static classes.
    unsafe { (*builtin).tp_basicsize == (*ffi::PyExc_BaseException.cast::<ffi::PyTypeObject>()).tp_basicsize }
}

/// What stands for an exception before its attributes: arguments and fields, as one tuple.
///
/// # Safety
/// `object` is alive and an exception.
pub unsafe fn parts(py: Python<'_>, object: Obj) -> Result<Vec<WorkItem>> {
    let fields = new::dict(py)?;
    // SAFETY: alive and an exception, says the caller: its head is that of all exceptions, where null stands for None.
    let (error, mut args) = unsafe {
        let head = object.cast::<ffi::PyBaseExceptionObject>();
        for (name, value) in [("__cause__", (*head).cause), ("__context__", (*head).context)] {
            if !value.is_null() && value != ffi::Py_None() {
                fields.set_item(name, Bound::<PyAny>::from_borrowed_ptr(py, value))?;
            }
        }
        if *(&raw const (*head).suppress_context).cast::<u8>() != 0 {
            fields.set_item("__suppress_context__", true)?;
        }
        let args = Bound::<PyAny>::from_borrowed_ptr_or_err(py, (*head).args)?;
        (Bound::<PyAny>::from_borrowed_ptr(py, object), args.cast_into::<PyTuple>().map_err(PyErr::from)?)
    };
    // SAFETY: alive, and so is its class.
    let (builtin, is_plain) = unsafe {
        let builtin = nearest(ffi::Py_TYPE(object));
        (builtin, is_plain(builtin))
    };
    if !is_plain {
        args = special_parts(builtin, &error, args, &fields)?;
    }
    let both = PyTuple::new(py, [args.into_any(), fields.into_any()])?;
    Ok(vec![WorkItem::Value(owned(both.as_any()))])
}

/// The fields of a builtin exception that has some of its own; gives the arguments that make it.
fn special_parts<'py>(
    builtin: Type,
    error: &Bound<'py, PyAny>,
    args: Bound<'py, PyTuple>,
    fields: &Bound<'py, PyDict>,
) -> Result<Bound<'py, PyTuple>> {
    let py = error.py();
    // SAFETY: a class of the interpreter's own, and an exception.
    let (Kept { own, derived }, is_group) = unsafe { (kept(builtin), is_of_parts(py, builtin)?) };
    // SAFETY: the class is static.
    let builtin = unsafe { Bound::<PyAny>::from_borrowed_ptr(py, builtin.cast()) };
    for name in own {
        // What the builtin class itself keeps: a subclass may have put something of its own there.
        let value = match field(&builtin, name, error) {
            Ok(value) => value,
            // Not set.
            Err(missing) if missing.is_instance_of::<PyAttributeError>(py) => continue,
            Err(error) => return Err(error.into()),
        };
        if !value.is_none() {
            fields.set_item(*name, value)?;
        }
    }
    let args = if is_group { group_arguments(error, &args, fields)? } else { args };
    if !derived.is_empty() && !says(&builtin, error, &args, derived)? {
        fields.set_item(INITIALISER, false)?;
        for name in derived {
            let value = field(&builtin, name, error)?;
            if !value.is_none() {
                fields.set_item(*name, value)?;
            }
        }
    }
    if derived == UNICODE && !is_safe_unicode(&builtin, error)? {
        return Err(encode(
            "can't store a Unicode error whose `start` is negative: to show it reads what is not its own",
        ));
    }
    Ok(args)
}

/// The descriptor that a builtin exception has under a name, its class's own, whatever a subclass has there; null for none.
fn descriptor(builtin: &Bound<'_, PyAny>, name: &str) -> Obj {
    let name = PyString::intern(builtin.py(), name);
    // SAFETY: a class; what it has under a name lives as long as it does, as it is the interpreter's own.
    unsafe { _PyType_Lookup(builtin.as_ptr().cast(), name.as_ptr()) }
}

/// What a builtin exception has in a field of its own.
fn field<'py>(builtin: &Bound<'py, PyAny>, name: &str, error: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
    let descriptor = descriptor(builtin, name);
    // SAFETY: alive; an exception of that class. The result is a new reference.
    unsafe {
        let get = if descriptor.is_null() { None } else { (*ffi::Py_TYPE(descriptor)).tp_descr_get };
        match get {
            Some(get) => {
                let found = get(descriptor, error.as_ptr(), ffi::Py_TYPE(error.as_ptr()).cast());
                Bound::from_owned_ptr_or_err(error.py(), found)
            }
            None => Err(PyAttributeError::new_err(())),
        }
    }
}

/// Whether the builtin's initialiser gives an exception its derived fields, of those arguments.
fn says(
    builtin: &Bound<'_, PyAny>,
    error: &Bound<'_, PyAny>,
    args: &Bound<'_, PyTuple>,
    derived: &[&str],
) -> Result<bool> {
    let Some(twin) = builtin.call1(args).if_taken()? else { return Ok(false) };
    for name in derived {
        let (mine, other) = (field(builtin, name, error)?, field(builtin, name, &twin)?);
        // Numbers are made anew by each look, and bytes are copied by the initialiser.
        let is_plain =
            |value: &Bound<'_, PyAny>| value.is_exact_instance_of::<PyInt>() || value.is_exact_instance_of::<PyBytes>();
        let is_same = mine.is(&other) || (is_plain(&mine) && is_plain(&other) && mine.eq(&other)?);
        if !is_same {
            return Ok(false);
        }
    }
    Ok(true)
}

/// What makes a group: message and exceptions, which its arguments said when it was made; what these say now is a field then.
fn group_arguments<'py>(
    error: &Bound<'py, PyAny>,
    args: &Bound<'py, PyTuple>,
    fields: &Bound<'py, PyDict>,
) -> Result<Bound<'py, PyTuple>> {
    let py = error.py();
    let group = py.import("builtins")?.getattr("BaseExceptionGroup")?;
    let (message, exceptions) = (field(&group, "message", error)?, field(&group, "exceptions", error)?);
    let is_made_of_them = args.len() == 2 && args.get_item(0)?.is(&message) && {
        let members = args.get_item(1)?;
        (members.is_exact_instance_of::<PyTuple>() || members.is_exact_instance_of::<PyList>()) && {
            let members = members.try_iter()?.collect::<PyResult<std::vec::Vec<_>>>()?;
            let own = exceptions.try_iter()?.collect::<PyResult<std::vec::Vec<_>>>()?;
            members.len() == own.len() && members.iter().zip(&own).all(|(a, b)| a.is(b))
        }
    };
    if is_made_of_them {
        return Ok(args.clone());
    }
    fields.set_item("args", args)?;
    Ok(PyTuple::new(py, [message, exceptions])?)
}

/// The nearest builtin class of an exception.
///
/// # Safety
/// `class` is alive and an exception.
unsafe fn nearest(class: Type) -> Type {
    let mut builtin = class;
    // SAFETY: alive, says the caller, and so are a class's bases; the last is a builtin one.
    unsafe {
        while ffi::PyType_HasFeature(builtin, ffi::Py_TPFLAGS_HEAPTYPE) != 0 {
            builtin = (*builtin).tp_base;
        }
    }
    builtin
}

/// Whether instances can only be made of their arguments, so that they can't be among them: exception groups.
///
/// # Safety
/// `class` is alive and an exception.
pub unsafe fn is_of_parts(py: Python<'_>, class: Type) -> Result<bool> {
    static GROUP: PyOnceLock<Option<Py<PyAny>>> = PyOnceLock::new();
    // SAFETY: alive, says the caller.
    if unsafe { is_plain(nearest(class)) } {
        return Ok(false);
    }
    let find = || Ok::<_, PyErr>(py.import("builtins")?.getattr_opt("BaseExceptionGroup")?.map(Bound::unbind));
    let Some(group) = GROUP.get_or_try_init(py, find)? else { return Ok(false) };
    // SAFETY: alive, says the caller.
    Ok(unsafe { ffi::PyType_IsSubtype(class, group.as_ptr().cast()) != 0 })
}

/// An exception by the constructor of the nearest builtin one, of the given arguments or none yet.
///
/// # Safety
/// The GIL is held; `class` is alive and an exception.
pub unsafe fn empty(py: Python<'_>, class: Type, args: Option<&Owned>, at: usize) -> Result<Owned> {
    // SAFETY: as the caller says.
    unsafe {
        let Some(new) = (*nearest(class)).tp_new else { return Err(decode("an exception without a constructor", at)) };
        let args = match args {
            Some(payload) => arguments(py, payload, at)?.0,
            None => PyTuple::empty(py),
        };
        if args.len() == 2 && !is_row(&args.get_item(1)?) {
            return Err(decode("an exception that does not take its arguments", at));
        }
        Owned::new(new(class, args.as_ptr(), std::ptr::null_mut()))
            .ok_or_else(|| refused("an exception that does not take its arguments", at))
    }
}

/// What [`parts`] gave.
fn arguments<'py>(py: Python<'py>, payload: &Owned, at: usize) -> Result<(Bound<'py, PyTuple>, Bound<'py, PyDict>)> {
    // SAFETY: held.
    let payload = unsafe { Bound::<PyAny>::from_borrowed_ptr(py, payload.get()) };
    let both = payload.cast::<PyTuple>().ok().filter(|both| both.len() == 2);
    let parts = both.and_then(|both| {
        let args = both.get_item(0).ok()?.cast_into().ok()?;
        Some((args, both.get_item(1).ok()?.cast_into().ok()?))
    });
    parts.ok_or_else(|| decode("expected the arguments of an exception", at))
}

/// Whether constructors may go through it: what else can be iterated over (a range, a network) may have no end.
fn is_row(value: &Bound<'_, PyAny>) -> bool {
    value.is_exact_instance_of::<PyTuple>() || value.is_exact_instance_of::<PyList>()
}

/// Gives an exception its arguments, by the builtin's own initialiser, and the fields that C code keeps.
pub fn fill(py: Python<'_>, object: &Owned, payload: &Owned, at: usize) -> Result<()> {
    let (args, fields) = arguments(py, payload, at)?;
    // SAFETY: the object is held, and an exception; its class is alive with it.
    let (error, builtin): (Bound<'_, PyAny>, Bound<'_, PyAny>) = unsafe {
        let builtin = nearest(ffi::Py_TYPE(object.get()));
        (Bound::from_borrowed_ptr(py, object.get()), Bound::from_borrowed_ptr(py, builtin.cast()))
    };
    // SAFETY: a class of the interpreter's own.
    let Kept { own, derived } = unsafe { kept(builtin.as_ptr().cast()) };
    let is_initialised =
        derived.is_empty() || !fields.get_item(INITIALISER)?.is_some_and(|said| said.is(PyBool::new(py, false)));
    // An OSError's constructor took no arguments, and its initialiser takes none: arguments and fields are set.
    if error.is_instance_of::<PyOSError>() || !is_initialised {
        set(&builtin, &error, "args", args.as_any(), at)?;
    } else {
        // A syntax error's second argument says the place, whatever it is that does: in six values at most.
        if error.is_instance_of::<PySyntaxError>() && args.len() == 2 {
            let place = args.get_item(1)?;
            if !is_row(&place) && place.len().if_taken()?.is_none_or(|len| len > 6) {
                return Err(decode("an exception that does not take its arguments", at));
            }
        }
        // SAFETY: an exception; the initialiser is C code that takes any arguments.
        let done = unsafe {
            match (*builtin.as_ptr().cast::<ffi::PyTypeObject>()).tp_init {
                Some(init) => init(object.get(), args.as_ptr(), std::ptr::null_mut()),
                None => 0,
            }
        };
        if done != 0 {
            return Err(refused("an exception that does not take its arguments", at));
        }
    }
    for (name, value) in fields {
        let name = name.extract::<String>().if_taken()?;
        let name = name.ok_or_else(|| decode("an exception's field without a name", at))?;
        let name = &name[..];
        let is_known = FIELDS.contains(&name) || own.contains(&name);
        if name == INITIALISER && !is_initialised {
            continue;
        }
        let is_other = if name == "args" {
            // SAFETY: an exception's class is alive with it.
            unsafe { is_of_parts(py, ffi::Py_TYPE(object.get()))? }
        } else {
            !is_initialised && derived.contains(&name) && (derived != UNICODE || is_unicodes(&builtin, name, &value))
        };
        if !is_known && !is_other {
            return Err(decode("an exception's field of an unknown name, or with a value that it can't have", at));
        }
        set(&builtin, &error, name, &value, at)?;
    }
    if derived == UNICODE && !is_safe_unicode(&builtin, &error)? {
        return Err(decode("an exception that points before its text", at));
    }
    Ok(())
}

/// Whether that may stand in a field of a Unicode error: C code reads some of them without looking at their types.
fn is_unicodes(builtin: &Bound<'_, PyAny>, name: &str, value: &Bound<'_, PyAny>) -> bool {
    match name {
        "object" if builtin.is(builtin.py().get_type::<PyUnicodeDecodeError>()) => value.is_instance_of::<PyBytes>(),
        "start" | "end" => value.is_exact_instance_of::<PyInt>(),
        _ => value.is_instance_of::<PyString>(),
    }
}

/// Whether a Unicode error can be shown: what C code reads at its start is not before its text.
fn is_safe_unicode(builtin: &Bound<'_, PyAny>, error: &Bound<'_, PyAny>) -> PyResult<bool> {
    let start = field(builtin, "start", error)?;
    Ok(start.extract::<isize>().if_taken()?.is_some_and(|start| start >= 0))
}

/// Sets a field by the builtin's own setter, which checks the value: a subclass's property would be its own code.
fn set(
    builtin: &Bound<'_, PyAny>,
    error: &Bound<'_, PyAny>,
    name: &str,
    value: &Bound<'_, PyAny>,
    at: usize,
) -> Result<()> {
    const NOT_TAKEN: &str = "an exception's field that it does not take";
    let descriptor = descriptor(builtin, name);
    // SAFETY: alive; an exception of that class.
    unsafe {
        let set = if descriptor.is_null() { None } else { (*ffi::Py_TYPE(descriptor)).tp_descr_set };
        match set {
            Some(set) if set(descriptor, error.as_ptr(), value.as_ptr()) == 0 => Ok(()),
            Some(_) => Err(refused(NOT_TAKEN, at)),
            None => Err(decode(NOT_TAKEN, at)),
        }
    }
}

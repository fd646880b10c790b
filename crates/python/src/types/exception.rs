//! Exceptions: arguments, attributes (including notes), cause and context. Tracebacks are left out, as in pickle.
//!
//! The content of an exception is the tuple of its arguments, and a dict of what C code stores in it: cause, context
//! and the fields that builtin exceptions add.

use crate::cpython::class::_PyType_Lookup;
use crate::cpython::{held, new, owned, replace, Obj, Owned, Type};
use crate::error::{decode, encode, refused, Asked, Result};
use crate::memory::{vec, FxHashMap, Vec};
use crate::types::walker::WorkItem;
use pyo3::exceptions::{PyAttributeError, PyOSError, PySyntaxError, PyUnicodeDecodeError};
use pyo3::ffi;
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::{PyBool, PyBytes, PyDict, PyInt, PyList, PyString, PyTuple};

/// Fields that every exception has in C, besides the arguments.
const FIELDS: &[&str] = &["__cause__", "__context__", "__suppress_context__"];
const UNICODE: &[&str] = &["encoding", "object", "start", "end", "reason"];
/// A key among the fields. It is False if the derived fields don't follow from the arguments; then those that are set
/// are stored.
const INITIALISER: &str = "__init__";

/// Names that are looked up for every exception, and made once: to make and to intern one took longer than to set its field.
const NAMES: &[&str] = &[
    "args",
    "__init__",
    "__cause__",
    "__context__",
    "__suppress_context__",
    "errno",
    "strerror",
    "filename",
    "filename2",
    "characters_written",
    "name",
    "path",
    "name_from",
    "msg",
    "obj",
    "value",
    "code",
    "lineno",
    "offset",
    "text",
    "end_lineno",
    "end_offset",
    "print_file_and_line",
    "encoding",
    "object",
    "start",
    "end",
    "reason",
    "message",
    "exceptions",
];

/// The string of a name.
fn string_of<'py>(py: Python<'py>, name: &str) -> Bound<'py, PyString> {
    static MADE: PyOnceLock<FxHashMap<&'static str, Py<PyString>>> = PyOnceLock::new();
    let made = MADE.get_or_init(py, || NAMES.iter().map(|&name| (name, PyString::intern(py, name).unbind())).collect());
    made.get(name).map_or_else(|| PyString::intern(py, name), |made| made.bind(py).clone())
}

/// The additional fields of a builtin exception.
#[derive(Default)]
struct Kept {
    /// Fields that don't follow from the arguments.
    own: &'static [&'static str],
    /// Fields that the builtin's initializer takes from the arguments. A class whose `__init__` doesn't call it may
    /// have others.
    derived: &'static [&'static str],
}

/// The additional fields of a builtin exception.
///
/// # Safety
/// `builtin` is an exception of the interpreter's own.
unsafe fn kept(builtin: Type) -> Kept {
    // SAFETY: the exceptions of the interpreter are static.
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

/// Whether instances of a builtin exception have no additional fields.
///
/// # Safety
/// `builtin` is an exception of the interpreter's own.
unsafe fn is_plain(builtin: Type) -> bool {
    // SAFETY: both classes are static.
    unsafe { (*builtin).tp_basicsize == (*ffi::PyExc_BaseException.cast::<ffi::PyTypeObject>()).tp_basicsize }
}

/// The fields of an `OSError` that may be any object.
const OS_FIELDS: [&str; 4] = ["errno", "strerror", "filename", "filename2"];

/// Fields of an exception by name, borrowed.
pub struct Fields {
    all: [(Obj, Obj); OS_FIELDS.len()],
    len: usize,
}

impl Fields {
    pub fn as_slice(&self) -> &[(Obj, Obj)] {
        &self.all[..self.len]
    }
}

/// The arguments and the fields of an exception without a cause or a context, if it is an `OSError`, or one that has no fields. The
/// exception holds them.
///
/// # Safety
/// `object` is alive and an exception.
pub unsafe fn usual_parts(py: Python<'_>, object: Obj) -> Option<(Obj, Fields)> {
    let mut fields = Fields { all: [(std::ptr::null_mut(), std::ptr::null_mut()); OS_FIELDS.len()], len: 0 };
    let is_none = |value: Obj| value.is_null() || held_none(value);
    // SAFETY: by the contract it begins like all exceptions, with null for None, and its class is alive.
    unsafe {
        let (head, builtin) = (object.cast::<ffi::PyBaseExceptionObject>(), nearest(ffi::Py_TYPE(object)));
        let is_bare = is_none((*head).cause)
            && is_none((*head).context)
            && *(&raw const (*head).suppress_context).cast::<u8>() == 0;
        let arguments = (*head).args;
        if !is_bare || arguments.is_null() || ffi::PyTuple_CheckExact(arguments) == 0 {
            return None;
        }
        if !is_plain(builtin) {
            if ffi::PyType_IsSubtype(builtin, ffi::PyExc_OSError.cast()) == 0
                || (*object.cast::<ffi::PyOSErrorObject>()).written != -1
            {
                return None;
            }
            for name in OS_FIELDS {
                let value = *os_place(builtin, object, name)?;
                if !is_none(value) {
                    fields.all[fields.len] = (string_of(py, name).as_ptr(), value);
                    fields.len += 1;
                }
            }
        }
        Some((arguments, fields))
    }
}

fn held_none(object: Obj) -> bool {
    // SAFETY: the singleton lives as long as the interpreter; only addresses are compared.
    object == unsafe { ffi::Py_None() }
}

/// What is written for an exception before its attributes: a tuple of arguments and fields.
///
/// # Safety
/// `object` is alive and an exception.
pub unsafe fn parts(py: Python<'_>, object: Obj) -> Result<Vec<WorkItem>> {
    let fields = new::dict(py)?;
    // SAFETY: `object` is an exception by contract, so it begins like all exceptions, with null for None.
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
    // SAFETY: `object` is alive and holds its class.
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

/// Adds the additional fields of a builtin exception to `fields`; returns the arguments that make it.
fn special_parts<'py>(
    builtin: Type,
    error: &Bound<'py, PyAny>,
    args: Bound<'py, PyTuple>,
    fields: &Bound<'py, PyDict>,
) -> Result<Bound<'py, PyTuple>> {
    let py = error.py();
    // SAFETY: `nearest` gave a class of the interpreter's own, and it is an exception.
    let (Kept { own, derived }, is_group) = unsafe { (kept(builtin), is_of_parts(py, builtin)?) };
    // SAFETY: the class is static.
    let builtin = unsafe { Bound::<PyAny>::from_borrowed_ptr(py, builtin.cast()) };
    for name in own {
        // SAFETY: an exception, whose nearest builtin class this is, and which holds what is in its place.
        let place = unsafe {
            os_place(builtin.as_ptr().cast(), error.as_ptr(), name)
                .map(|place| Bound::<PyAny>::from_borrowed_ptr_or_opt(py, *place))
        };
        if let Some(value) = place {
            if let Some(value) = value.filter(|value| !value.is_none()) {
                fields.set_item(string_of(py, name), value)?;
            }
            continue;
        }
        // SAFETY: instances of this class and of those derived from it begin like an `OSError`.
        let lacks_count = || unsafe { (*error.as_ptr().cast::<ffi::PyOSErrorObject>()).written == -1 };
        // To be told so by an exception took a third of storing one.
        if *name == "characters_written" && lacks_count() {
            continue;
        }
        // The builtin class's own field: a subclass may have another attribute of that name.
        let value = match field(&builtin, name, error) {
            Ok(value) => value,
            // It isn't set.
            Err(missing) if missing.is_instance_of::<PyAttributeError>(py) => continue,
            Err(error) => return Err(error.into()),
        };
        if !value.is_none() {
            fields.set_item(string_of(py, name), value)?;
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

/// Where an `OSError` keeps a field that may be any object. `None`: it is another exception, or another field.
///
/// # Safety
/// `error` is a live exception, and `builtin` its nearest builtin class.
unsafe fn os_place(builtin: Type, error: Obj, name: &str) -> Option<*mut Obj> {
    // SAFETY: by the contract; both classes are static, and instances of one that is derived from it begin like an `OSError`.
    unsafe {
        if ffi::PyType_IsSubtype(builtin, ffi::PyExc_OSError.cast()) == 0 {
            return None;
        }
        let error = error.cast::<ffi::PyOSErrorObject>();
        Some(match name {
            "errno" => &raw mut (*error).myerrno,
            "strerror" => &raw mut (*error).strerror,
            "filename" => &raw mut (*error).filename,
            "filename2" => &raw mut (*error).filename2,
            _ => return None,
        })
    }
}

/// The descriptor of a builtin exception's own field, whatever a subclass has under the name; null if there is none.
fn descriptor(builtin: &Bound<'_, PyAny>, name: &str) -> Obj {
    let name = string_of(builtin.py(), name);
    // SAFETY: `builtin` is a class of the interpreter's own, which holds its descriptors for ever.
    unsafe { _PyType_Lookup(builtin.as_ptr().cast(), name.as_ptr()) }
}

/// The value of a builtin exception's own field.
fn field<'py>(builtin: &Bound<'py, PyAny>, name: &str, error: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
    let descriptor = descriptor(builtin, name);
    // SAFETY: descriptor and exception are alive, and the exception is of that class; the result is a new reference or
    // null.
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

/// Whether the builtin's initializer derives the fields of an exception from its arguments.
fn says(
    builtin: &Bound<'_, PyAny>,
    error: &Bound<'_, PyAny>,
    args: &Bound<'_, PyTuple>,
    derived: &[&str],
) -> Result<bool> {
    let Some(twin) = builtin.call1(args).if_taken()? else { return Ok(false) };
    for name in derived {
        let (mine, other) = (field(builtin, name, error)?, field(builtin, name, &twin)?);
        // Each access makes a new int, and the initializer copies bytes.
        let is_plain =
            |value: &Bound<'_, PyAny>| value.is_exact_instance_of::<PyInt>() || value.is_exact_instance_of::<PyBytes>();
        let is_same = mine.is(&other) || (is_plain(&mine) && is_plain(&other) && mine.eq(&other)?);
        if !is_same {
            return Ok(false);
        }
    }
    Ok(true)
}

/// The arguments that make a group: its message and exceptions. If the present arguments differ, they are stored as a
/// field.
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
    // SAFETY: `class` is alive by contract and keeps its bases alive; the last ones are builtin.
    unsafe {
        while ffi::PyType_HasFeature(builtin, ffi::Py_TPFLAGS_HEAPTYPE) != 0 {
            builtin = (*builtin).tp_base;
        }
    }
    builtin
}

/// Whether instances are made from their arguments, so that they can't contain themselves: exception groups.
///
/// # Safety
/// `class` is alive and an exception.
pub unsafe fn is_of_parts(py: Python<'_>, class: Type) -> Result<bool> {
    static GROUP: PyOnceLock<Option<Py<PyAny>>> = PyOnceLock::new();
    // SAFETY: `class` is alive by contract.
    if unsafe { is_plain(nearest(class)) } {
        return Ok(false);
    }
    let find = || Ok::<_, PyErr>(py.import("builtins")?.getattr_opt("BaseExceptionGroup")?.map(Bound::unbind));
    let Some(group) = GROUP.get_or_try_init(py, find)? else { return Ok(false) };
    // SAFETY: as above.
    Ok(unsafe { ffi::PyType_IsSubtype(class, group.as_ptr().cast()) != 0 })
}

/// An exception made by the constructor of the nearest builtin one, from these arguments or without any so far.
///
/// # Safety
/// The GIL is held; `class` is alive and an exception.
pub unsafe fn empty(py: Python<'_>, class: Type, args: Option<&Owned>, at: usize) -> Result<Owned> {
    // SAFETY: the contract says that the GIL is held and `class` is an exception; constructors take a class, a tuple
    // and null.
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

/// Takes the result of [`parts`] apart.
fn arguments<'py>(py: Python<'py>, payload: &Owned, at: usize) -> Result<(Bound<'py, PyTuple>, Bound<'py, PyDict>)> {
    // SAFETY: the caller holds `payload`.
    let payload = unsafe { Bound::<PyAny>::from_borrowed_ptr(py, payload.get()) };
    let both = payload.cast::<PyTuple>().ok().filter(|both| both.len() == 2);
    let parts = both.and_then(|both| {
        let args = both.get_item(0).ok()?.cast_into().ok()?;
        Some((args, both.get_item(1).ok()?.cast_into().ok()?))
    });
    parts.ok_or_else(|| decode("expected the arguments of an exception", at))
}

/// Whether constructors may iterate over it: other iterables (a range, a network) may be endless.
fn is_row(value: &Bound<'_, PyAny>) -> bool {
    value.is_exact_instance_of::<PyTuple>() || value.is_exact_instance_of::<PyList>()
}

/// Sets an exception's arguments, by the builtin's own initializer, and the fields that C code stores.
pub fn fill(py: Python<'_>, object: &Owned, payload: &Owned, at: usize) -> Result<()> {
    let (args, fields) = arguments(py, payload, at)?;
    let fields: Vec<(Owned, Owned)> = fields.iter().map(|(name, value)| (owned(&name), owned(&value))).collect();
    initialise(py, object, &owned(args.as_any()), &fields, at)
}

/// The same with arguments, which are a tuple, and fields that are not in a pair; no name is there twice.
pub fn initialise(py: Python<'_>, object: &Owned, args: &Owned, fields: &[(Owned, Owned)], at: usize) -> Result<()> {
    let args = held(py, args);
    let args = args.cast::<PyTuple>().map_err(PyErr::from)?;
    // SAFETY: the caller holds `object`, an exception, which holds its class.
    if args.is_empty() && fields.is_empty() && unsafe { is_plain(nearest(ffi::Py_TYPE(object.get()))) } {
        // The constructor has made it so.
        return Ok(());
    }
    // SAFETY: the caller holds `object`, an exception, which holds its class.
    let (error, builtin): (Bound<'_, PyAny>, Bound<'_, PyAny>) = unsafe {
        let builtin = nearest(ffi::Py_TYPE(object.get()));
        (Bound::from_borrowed_ptr(py, object.get()), Bound::from_borrowed_ptr(py, builtin.cast()))
    };
    // SAFETY: `nearest` gave a class of the interpreter's own.
    let Kept { own, derived } = unsafe { kept(builtin.as_ptr().cast()) };
    let is_initialiser = |name: &Owned| {
        held(py, name).cast::<PyString>().is_ok_and(|name| name.to_str().is_ok_and(|name| name == INITIALISER))
    };
    let said = match derived.is_empty() {
        true => None,
        false => fields.iter().find(|(name, _)| is_initialiser(name)),
    };
    let is_initialised = !said.is_some_and(|(_, said)| held(py, said).is(PyBool::new(py, false)));
    // An OSError is made without arguments, and its initializer then ignores them: arguments and fields are set
    // directly.
    if error.is_instance_of::<PyOSError>() || !is_initialised {
        set_args(&builtin, &error, args, at)?;
    } else {
        // A syntax error's second argument is the place, of at most six values.
        if error.is_instance_of::<PySyntaxError>() && args.len() == 2 {
            let place = args.get_item(1)?;
            if !is_row(&place) && place.len().if_taken()?.is_none_or(|len| len > 6) {
                return Err(decode("an exception that does not take its arguments", at));
            }
        }
        // SAFETY: `object` is an exception of that class; the initializer accepts any arguments.
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
        let (name, value) = (held(py, name), held(py, value));
        let name = name.cast::<PyString>().map_err(|_| decode("an exception's field without a name", at))?;
        let name = name.to_str().if_taken()?.ok_or_else(|| decode("an exception's field without a name", at))?;
        // SAFETY: an exception, whose nearest builtin class this is. The place holds an object or nothing, which is released.
        unsafe {
            if let Some(place) = os_place(builtin.as_ptr().cast(), error.as_ptr(), name) {
                replace(place, value.into_ptr());
                continue;
            }
        }
        let is_known = FIELDS.contains(&name) || own.contains(&name);
        if name == INITIALISER && !is_initialised {
            continue;
        }
        let is_other = if name == "args" {
            // SAFETY: an exception holds its class.
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

/// Whether a value may be in a field of a Unicode error: C code reads some of them without checking their types.
fn is_unicodes(builtin: &Bound<'_, PyAny>, name: &str, value: &Bound<'_, PyAny>) -> bool {
    match name {
        "object" if builtin.is(builtin.py().get_type::<PyUnicodeDecodeError>()) => value.is_instance_of::<PyBytes>(),
        "start" | "end" => value.is_exact_instance_of::<PyInt>(),
        _ => value.is_instance_of::<PyString>(),
    }
}

/// Whether a Unicode error can be shown: C code reads its text at `start`, which must not be negative.
fn is_safe_unicode(builtin: &Bound<'_, PyAny>, error: &Bound<'_, PyAny>) -> PyResult<bool> {
    let start = field(builtin, "start", error)?;
    Ok(start.extract::<isize>().if_taken()?.is_some_and(|start| start >= 0))
}

/// Sets the arguments, as the setter of `args` does with a tuple.
fn set_args(builtin: &Bound<'_, PyAny>, error: &Bound<'_, PyAny>, args: &Bound<'_, PyTuple>, at: usize) -> Result<()> {
    if !args.is_exact_instance_of::<PyTuple>() {
        return set(builtin, error, "args", args.as_any(), at);
    }
    // SAFETY: all exceptions begin like `BaseException`. The place holds a tuple or nothing, which is released.
    unsafe {
        let place = &raw mut (*error.as_ptr().cast::<ffi::PyBaseExceptionObject>()).args;
        replace(place, args.clone().into_any().into_ptr());
    }
    Ok(())
}

/// Sets a field by the builtin's own setter, which checks the value; a subclass's property would run its own code.
fn set(
    builtin: &Bound<'_, PyAny>,
    error: &Bound<'_, PyAny>,
    name: &str,
    value: &Bound<'_, PyAny>,
    at: usize,
) -> Result<()> {
    const NOT_TAKEN: &str = "an exception's field that it does not take";
    let descriptor = descriptor(builtin, name);
    // SAFETY: descriptor and exception are alive, and the exception is of that class.
    unsafe {
        let set = if descriptor.is_null() { None } else { (*ffi::Py_TYPE(descriptor)).tp_descr_set };
        match set {
            Some(set) if set(descriptor, error.as_ptr(), value.as_ptr()) == 0 => Ok(()),
            Some(_) => Err(refused(NOT_TAKEN, at)),
            None => Err(decode(NOT_TAKEN, at)),
        }
    }
}

//! What pickle knows of objects: `__reduce_ex__` and its like, in trusted messages only, with pickle's own rules.
//!
//! A recipe is a function and its arguments, of which the object is made, and then what is done with it: items to
//! append, pairs to set, a state. The object has its number from the start: what comes after the arguments may refer to
//! it. Among the arguments it is written again, where a reference to something that is on its way to them ends it.

use crate::classes::how::How;
use crate::classes::plan::Plan;
use crate::classes::registry;
use crate::cpython::owned;
use crate::cpython::{new, Obj, Owned};
use crate::encode::{Encoder, Part};
use crate::error::{decode, encode as encode_error, raised, Asked, Fault, Result};
use crate::memory::{format, vec, Vec};
use crate::types::reference;
use holdall_format::model::reduce;
use holdall_format::Writer;
use pyo3::exceptions::{PyKeyError, PyTypeError};
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::{PyComplex, PyDict, PyFunction, PyInt, PyIterator, PyList, PyString, PyTuple, PyType};
use pyo3::{ffi, intern};
use std::rc::Rc;

/// The protocol that `__reduce_ex__` is asked for: the one with buffers out of band.
const PROTOCOL: i32 = 5;

/// What a `__reduce__` gave, in the order in which it is written.
#[derive(Debug)]
pub struct Recipe {
    flags: u8,
    /// Function, arguments, keyword arguments.
    made_of: Vec<Owned>,
    /// Items, pairs, state, setter.
    then: Vec<Owned>,
}

impl<W: Writer> Encoder<'_, W> {
    /// Writes an object that has no plain state: by reference or by its own recipe in a trusted message, else through
    /// the caller's hook.
    ///
    /// # Safety
    /// `object` is alive and its mark was written.
    pub(crate) unsafe fn refused(&mut self, object: Obj, why: &str) -> Result<()> {
        // SAFETY: alive, says the caller.
        let bound = unsafe { Bound::from_borrowed_ptr(self.py, object) };
        if self.options.trust {
            return match self.own_recipe(&bound)? {
                Some(why) => self.unstorable(&bound, &why),
                None => Ok(()),
            };
        }
        let remedy = if W::TYPES {
            "`register(..., encode=..., decode=...)`, or `trust=True` if only trusted readers load it"
        } else {
            "an `enc_hook`, or `register(..., encode=..., decode=...)`"
        };
        self.unstorable(&bound, &format!("{why} {remedy}"))
    }

    /// Writes what the caller's `enc_hook` gives instead of an object.
    fn unstorable(&mut self, object: &Bound<'_, PyAny>, why: &str) -> Result<()> {
        if let Some(hook) = &self.options.enc_hook {
            self.asks_program()?;
            let replacement = registry::call(hook, object.as_ptr())?;
            if replacement.get() != object.as_ptr() {
                return self.replaced(object.as_ptr(), replacement);
            }
        }
        let name = crate::classes::plan::shown_class(object)?;
        Err(encode_error(format_args!("can't store a `{name}`: {why}")))
    }

    /// Writes an object by the caller's reducers or by copyreg's, where there is one for it.
    ///
    /// # Safety
    /// `object` is alive, of the plan's class, and its mark was written.
    pub(crate) unsafe fn dispatched(&mut self, object: Obj, plan: &Plan) -> Result<bool> {
        // SAFETY: alive, says the caller.
        let bound = unsafe { Bound::from_borrowed_ptr(self.py, object) };
        let Some(value) = self.by_hooks(&bound, plan)? else { return Ok(false) };
        if let Some(why) = self.reduced(&bound, &value)? {
            self.unstorable(&bound, &why)?;
        }
        Ok(true)
    }

    fn by_hooks<'py>(&mut self, object: &Bound<'py, PyAny>, plan: &Plan) -> Result<Option<Bound<'py, PyAny>>> {
        let py = object.py();
        let mut own_table = None;
        let options = self.options;
        if let Some(hooks) = &options.pickle {
            if let Some(hook) = &hooks.reducer_override {
                let value = registry::call(hook, object.as_ptr())?;
                // SAFETY: a new reference; the singleton is alive.
                let value = unsafe { Bound::from_owned_ptr(py, value.into_raw()) };
                if !value.is(py.NotImplemented()) {
                    return Ok(Some(value));
                }
            }
            own_table = hooks.dispatch_table.as_ref();
        }
        let class = object.get_type();
        if class.is(py.get_type::<PyType>()) || class.is(py.get_type::<PyFunction>()) {
            return Ok(None); // by reference, whatever the tables say
        }
        let reducer = match own_table {
            // SAFETY: held by the options. Any mapping will do.
            Some(table) => match unsafe { Bound::from_borrowed_ptr(py, table.get()) }.get_item(&class) {
                Ok(reducer) => reducer,
                Err(error) if error.is_instance_of::<PyKeyError>(py) => return Ok(None),
                Err(error) => return Err(error.into()),
            },
            // What was registered with us was meant for us.
            None if matches!(plan.how, How::Custom) => return Ok(None),
            None => match copyreg_table(py)?.get_item(&class)? {
                Some(reducer) => reducer,
                None => return Ok(None),
            },
        };
        if matches!(plan.how, How::Family(_)) || class.is(py.get_type::<PyComplex>()) {
            // What the class's own module or copyreg itself has put there says no more than our own form of it does.
            let home = |object: &Bound<'_, PyAny>| {
                object.getattr("__module__").and_then(|module| module.extract::<String>()).if_taken()
            };
            let by = home(&reducer)?;
            if by == home(class.as_any())? || by.as_deref() == Some("copyreg") {
                return Ok(None);
            }
        }
        self.asks_program()?;
        Ok(Some(reducer.call1((object,))?))
    }

    /// Writes an object by reference, or as its `__reduce_ex__` says; says why where there is no way.
    fn own_recipe(&mut self, object: &Bound<'_, PyAny>) -> Result<Option<String>> {
        let py = object.py();
        if object.is_instance_of::<PyType>() || object.get_type().is(py.get_type::<PyFunction>()) {
            return self.by_reference(object);
        }
        self.asks_program()?;
        match object.getattr(intern!(py, "__reduce_ex__"))?.call1((PROTOCOL,)) {
            Ok(value) => self.reduced(object, &value),
            // What CPython itself says of objects that can't be: no code of the class's had a part in it.
            // Users of `holdall.pickle` get the very exception that pickle lets through.
            Err(error)
                if error.is_instance_of::<PyTypeError>(py)
                    && error.traceback(py).is_none()
                    && self.options.pickle.is_none() =>
            {
                Ok(Some(error.value(py).to_string()))
            }
            Err(error) => Err(error.into()),
        }
    }

    fn by_reference(&mut self, object: &Bound<'_, PyAny>) -> Result<Option<String>> {
        let py = object.py();
        // Classes without a name in any module: those of singletons.
        for single in [py.None(), py.Ellipsis(), py.NotImplemented()] {
            if single.bind(py).get_type().is(object) {
                let value = (py.get_type::<PyType>(), (single,)).into_pyobject(py)?;
                return self.reduced(object, &value);
            }
        }
        reference::write(self, object, None)
    }

    /// Writes what a `__reduce__` gave.
    fn reduced(&mut self, object: &Bound<'_, PyAny>, value: &Bound<'_, PyAny>) -> Result<Option<String>> {
        if let Ok(name) = value.cast::<PyString>() {
            return reference::write(self, object, Some(name));
        }
        // The second walk of a canonical message takes what the first one got: the same objects, shared as they were.
        let recipe = match self.recipes.as_ref().and_then(|recipes| recipes.get(&(object.as_ptr() as usize))) {
            Some(recipe) => recipe.clone(),
            None => {
                let recipe = Rc::new(Recipe::new(object, value)?);
                if self.options.canonical {
                    self.recipes.get_or_insert_default().insert(object.as_ptr() as usize, recipe.clone());
                }
                recipe
            }
        };
        // Kept whole, so that its items have a parent besides us.
        self.keep(owned(value));
        let (number, again) = self.begin_recipe(object.as_ptr())?.unzip();
        let mut parts = Vec::new();
        let mut flags = recipe.flags;
        if let (Some(number), Some(true)) = (number, again) {
            flags |= reduce::AGAIN;
            parts.push(Part::Value(owned(PyInt::new(object.py(), number).as_any())));
        }
        self.w.reduce(flags);
        parts.extend(recipe.made_of.iter().cloned().map(Part::Value));
        parts.extend(number.map(Part::Made));
        parts.extend(recipe.then.iter().cloned().map(Part::Value));
        self.then(parts);
        Ok(None)
    }
}

fn copyreg_table(py: Python<'_>) -> PyResult<Bound<'_, PyDict>> {
    static TABLE: PyOnceLock<Py<PyDict>> = PyOnceLock::new();
    let table = TABLE.get_or_try_init(py, || {
        let table = py.import("copyreg")?.getattr("dispatch_table")?;
        Ok::<_, PyErr>(table.cast_into::<PyDict>()?.unbind())
    })?;
    Ok(table.bind(py).clone())
}

/// Whether copyreg has a function for a class.
pub fn in_copyreg(class: &Bound<'_, PyType>) -> PyResult<bool> {
    copyreg_table(class.py())?.contains(class)
}

impl Recipe {
    /// Takes apart what `__reduce__` gave, and checks it as pickle does.
    fn new(object: &Bound<'_, PyAny>, value: &Bound<'_, PyAny>) -> Result<Recipe> {
        let name = crate::classes::plan::shown_class(object)?;
        let wrong = |what: &str| -> Fault {
            encode_error(format_args!("can't store a `{name}`: its `__reduce__` gave {what}"))
        };
        let Ok(value) = value.cast::<PyTuple>() else { return Err(wrong("neither a tuple nor the name of a global")) };
        if !(2..=6).contains(&value.len()) {
            return Err(wrong("a tuple that has not 2 to 6 items"));
        }
        let part = |at: usize| value.get_item(at).ok().filter(|part| !part.is_none());
        let function = value.get_item(0)?;
        if !function.is_callable() {
            return Err(wrong("something to call that is not callable"));
        }
        let args = value.get_item(1)?;
        let Ok(args) = args.cast::<PyTuple>() else { return Err(wrong("arguments that are no tuple")) };
        let mut recipe = Recipe { flags: 0, made_of: Vec::new(), then: Vec::new() };
        recipe.make_by(object, &function, args, &wrong)?;
        if let Some(items) = part(3) {
            let Ok(items) = items.cast::<PyIterator>() else { return Err(wrong("list items that are no iterator")) };
            let list = new::list(object.py())?;
            for item in items {
                list.append(item?)?;
            }
            recipe.then(reduce::ITEMS, list.as_any());
        }
        if let Some(pairs) = part(4) {
            let Ok(pairs) = pairs.cast::<PyIterator>() else { return Err(wrong("dict items that are no iterator")) };
            let list = new::list(object.py())?;
            for pair in pairs {
                let pair = pair?;
                if !pair.cast::<PyTuple>().is_ok_and(|pair| pair.len() == 2) {
                    return Err(wrong("dict items that are no tuples of two"));
                }
                list.append(pair)?;
            }
            recipe.then(reduce::PAIRS, list.as_any());
        }
        let setter = part(5);
        if setter.as_ref().is_some_and(|setter| !setter.is_callable()) {
            return Err(wrong("a setter of its state that is not callable"));
        }
        if let Some(state) = part(2) {
            recipe.then(reduce::STATE, &state);
            if let Some(setter) = setter {
                recipe.then(reduce::SETTER, &setter);
            }
        }
        Ok(recipe)
    }

    fn then(&mut self, flag: u8, part: &Bound<'_, PyAny>) {
        self.flags |= flag;
        self.then.push(owned(part));
    }

    /// Function and arguments; copyreg's own functions that call a class's `__new__` have flags instead of a name.
    fn make_by(
        &mut self,
        object: &Bound<'_, PyAny>,
        function: &Bound<'_, PyAny>,
        args: &Bound<'_, PyTuple>,
        wrong: &dyn Fn(&str) -> Fault,
    ) -> Result<()> {
        let name = function.getattr("__name__").and_then(|name| name.extract::<String>()).if_taken()?;
        let class_of = |args: &Bound<'_, PyTuple>| -> Result<Owned> {
            let class = args.get_item(0)?;
            if !class.is_instance_of::<PyType>() || !class.is(object.getattr("__class__")?) {
                return Err(wrong("another class than its own to make it of"));
            }
            Ok(owned(&class))
        };
        match name.as_deref() {
            Some("__newobj_ex__") => {
                let [_, rest, keywords] = &args.iter().collect::<Vec<_>>()[..] else {
                    return Err(wrong("other arguments than class, arguments and keyword arguments"));
                };
                if !rest.is_instance_of::<PyTuple>() || !keywords.is_instance_of::<PyDict>() {
                    return Err(wrong("other arguments than class, arguments and keyword arguments"));
                }
                self.flags |= reduce::NEW_KEYWORDS;
                self.made_of = vec![class_of(args)?, owned(rest), owned(keywords)];
            }
            Some("__newobj__") => {
                if args.is_empty() {
                    return Err(wrong("no class to make it of"));
                }
                self.flags |= reduce::NEW;
                self.made_of = vec![class_of(args)?, owned(args.get_slice(1, args.len()).as_any())];
            }
            _ => self.made_of = vec![owned(function), owned(args.as_any())],
        }
        Ok(())
    }
}

/// Whether such a recipe can have been written.
pub fn is_sound(flags: u8) -> bool {
    let both_new = reduce::NEW | reduce::NEW_KEYWORDS;
    flags & both_new != both_new && (flags & reduce::SETTER == 0 || flags & reduce::STATE != 0)
}

/// The number of the object that a recipe makes early.
pub fn number(py: Python<'_>, part: &Owned) -> Option<usize> {
    // SAFETY: held.
    unsafe { Bound::from_borrowed_ptr(py, part.get()) }.extract().ok()
}

/// Makes an object of function and arguments (and keyword arguments, as `flags` say). What is called may raise anything.
pub fn create(py: Python<'_>, flags: u8, parts: &[Owned], at: usize) -> Result<Owned> {
    // SAFETY: `parts` hold them.
    let parts: Vec<_> = parts.iter().map(|part| unsafe { Bound::from_borrowed_ptr(py, part.get()) }).collect();
    let [function, args, keywords @ ..] = &parts[..] else { return Err(decode("a recipe without arguments", at)) };
    let Ok(args) = args.cast::<PyTuple>() else {
        return Err(decode("expected the arguments of a recipe, a tuple", at));
    };
    if flags & (reduce::NEW | reduce::NEW_KEYWORDS) == 0 {
        if !function.is_callable() {
            return Err(decode("expected something to call in a recipe", at));
        }
        return Ok(owned(&function.call1(args)?));
    }
    let Ok(class) = function.cast::<PyType>() else { return Err(decode("expected the class of a recipe", at)) };
    let keywords = match keywords {
        [] => std::ptr::null_mut(),
        [keywords, ..] if keywords.is_instance_of::<PyDict>() => keywords.as_ptr(),
        _ => return Err(decode("expected the keyword arguments of a recipe, a dict", at)),
    };
    let class = class.as_ptr().cast::<ffi::PyTypeObject>();
    // SAFETY: a class is alive, and its constructor takes a tuple, and a dict or null.
    unsafe {
        let Some(new) = (*class).tp_new else { return Err(decode("a recipe's class has no instances", at)) };
        Owned::new(new(class, args.as_ptr(), keywords)).ok_or_else(raised)
    }
}

/// Does with an object what the part of that flag says.
pub fn apply(py: Python<'_>, flag: u8, object: &Owned, part: &Owned, at: usize) -> Result<()> {
    // SAFETY: both are held.
    let (object, part) =
        unsafe { (Bound::from_borrowed_ptr(py, object.get()), Bound::from_borrowed_ptr(py, part.get())) };
    match flag {
        reduce::ITEMS => extend(&object, &part, at),
        reduce::PAIRS => {
            let Ok(pairs) = part.cast_exact::<PyList>() else {
                return Err(decode("expected the list of a recipe's pairs", at));
            };
            for pair in pairs {
                let Some((key, value)) = pair.extract::<(Bound<'_, PyAny>, Bound<'_, PyAny>)>().if_taken()? else {
                    return Err(decode("expected a key and a value in a recipe's pairs", at));
                };
                object.set_item(key, value)?;
            }
            Ok(())
        }
        _ => set_state(&object, &part, at),
    }
}

/// Calls a state's setter.
pub fn set_by(py: Python<'_>, setter: &Owned, object: &Owned, state: &Owned) -> Result<()> {
    // SAFETY: all are held.
    let [setter, object, state] =
        [setter, object, state].map(|part| unsafe { Bound::from_borrowed_ptr(py, part.get()) });
    setter.call1((object, state))?;
    Ok(())
}

fn extend(object: &Bound<'_, PyAny>, items: &Bound<'_, PyAny>, at: usize) -> Result<()> {
    let py = object.py();
    let Ok(items) = items.cast_exact::<PyList>() else {
        return Err(decode("expected the list of a recipe's items", at));
    };
    if let Ok(list) = object.cast_exact::<PyList>() {
        list.set_slice(list.len(), list.len(), items.as_any())?;
        return Ok(());
    }
    match object.getattr_opt(intern!(py, "extend"))? {
        Some(extend) => {
            extend.call1((items,))?;
        }
        None => {
            let append = object.getattr(intern!(py, "append"))?;
            for item in items {
                append.call1((item,))?;
            }
        }
    }
    Ok(())
}

/// By `__setstate__`, else a dict into the instance's own, and a second dict by attributes.
fn set_state(object: &Bound<'_, PyAny>, state: &Bound<'_, PyAny>, at: usize) -> Result<()> {
    let py = object.py();
    if let Some(set) = object.getattr_opt(intern!(py, "__setstate__"))? {
        set.call1((state,))?;
        return Ok(());
    }
    let (fields, slots) = match state.cast::<PyTuple>() {
        Ok(both) if both.len() == 2 => (both.get_item(0)?, Some(both.get_item(1)?)),
        _ => (state.clone(), None),
    };
    let wrong = || decode("a state that is no dict, for an object without `__setstate__`", at);
    if !fields.is_none() {
        let Ok(fields) = fields.cast::<PyDict>() else { return Err(wrong()) };
        let own = object.getattr(intern!(py, "__dict__"))?;
        for (name, value) in fields.copy()? {
            // As attribute access finds them.
            let name = if name.is_exact_instance_of::<PyString>() {
                let mut raw = name.into_ptr();
                // SAFETY: a string that we own; interning may replace it by its equal.
                unsafe {
                    ffi::PyUnicode_InternInPlace(&mut raw);
                    Bound::from_owned_ptr(py, raw)
                }
            } else {
                name
            };
            own.set_item(name, value)?;
        }
    }
    if let Some(slots) = slots.filter(|slots| !slots.is_none()) {
        let Ok(slots) = slots.cast::<PyDict>() else { return Err(wrong()) };
        for (name, value) in slots.copy()? {
            let Ok(name) = name.cast_into::<PyString>() else { return Err(wrong()) };
            object.setattr(name, value)?;
        }
    }
    Ok(())
}

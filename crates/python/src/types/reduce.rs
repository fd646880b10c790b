//! Objects that are stored by `__reduce_ex__` and the like, by pickle's rules: in trusted messages only.
//!
//! A recipe is a function and its arguments, from which the object is made, and then what is done with it: items to
//! append, pairs to set, a state. The object gets its id at the beginning, so everything after the arguments may refer
//! to it. Among the arguments it is written again, until a reference to something on the way ends the repetition.

use crate::cpython::class::_PyType_Lookup;
use crate::cpython::owned;
use crate::cpython::{new, Owned};
use crate::error::{decode, encode as encode_error, raised, Asked, Fault, Result};
use crate::memory::{vec, Vec};
use holdall_format::model::reduce;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyIterator, PyList, PyString, PyTuple, PyType};
use pyo3::{ffi, intern};

/// The result of a `__reduce__`, in the order in which it is written.
#[derive(Debug)]
pub struct Recipe {
    pub flags: u8,
    /// Function, arguments, keyword arguments.
    pub made_of: Vec<Owned>,
    /// Items, pairs, state, setter.
    pub then: Vec<Owned>,
}

impl Recipe {
    /// Takes the result of a `__reduce__` apart, and checks it as pickle does.
    pub fn new(object: &Bound<'_, PyAny>, value: &Bound<'_, PyAny>) -> Result<Recipe> {
        let wrong = |what: &str| -> Fault {
            match crate::classes::plan::shown_class(object) {
                Ok(name) => encode_error(format_args!("can't store a `{name}`: its `__reduce__` gave {what}")),
                Err(error) => error.into(),
            }
        };
        let Ok(value) = value.cast::<PyTuple>() else { return Err(wrong("neither a tuple nor the name of a global")) };
        if !(2..=6).contains(&value.len()) {
            return Err(wrong("a tuple that has not 2 to 6 items"));
        }
        let part = |at: usize| value.as_slice().get(at).filter(|part| !part.is_none()).cloned();
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
            recipe.then_all(reduce::ITEMS, &list);
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
            recipe.then_all(reduce::PAIRS, &list);
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

    /// As pickle has it: without items nothing is done with them.
    fn then_all(&mut self, flag: u8, list: &Bound<'_, PyList>) {
        if !list.is_empty() {
            self.then(flag, list.as_any());
        }
    }

    /// Function and arguments. Copyreg's own functions that call a class's `__new__` have flags instead of a name.
    fn make_by(
        &mut self,
        object: &Bound<'_, PyAny>,
        function: &Bound<'_, PyAny>,
        args: &Bound<'_, PyTuple>,
        wrong: &dyn Fn(&str) -> Fault,
    ) -> Result<()> {
        // Classes are called: their names are not asked for.
        let name = match function.is_instance_of::<PyType>() {
            true => None,
            false => function.getattr(intern!(object.py(), "__name__")).if_taken()?,
        };
        let name = name.as_ref().and_then(|name| name.cast::<PyString>().ok()?.to_str().ok());
        let class_of = |args: &Bound<'_, PyTuple>| -> Result<Owned> {
            let class = args.get_item(0)?;
            if !class.is_instance_of::<PyType>() || !class.is(object.getattr(intern!(object.py(), "__class__"))?) {
                return Err(wrong("another class than its own to make it of"));
            }
            Ok(owned(&class))
        };
        match name {
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

/// Whether a writer may write a recipe with these flags.
pub fn is_sound(flags: u8) -> bool {
    let both_new = reduce::NEW | reduce::NEW_KEYWORDS;
    flags & both_new != both_new && (flags & reduce::SETTER == 0 || flags & reduce::STATE != 0)
}

/// The number of the object that a recipe makes early.
pub fn number(py: Python<'_>, part: &Owned) -> Option<usize> {
    // SAFETY: the caller holds `part`.
    unsafe { Bound::from_borrowed_ptr(py, part.get()) }.extract().ok()
}

/// Makes an object from function and arguments (and keyword arguments if `flags` say so). The function may raise
/// anything.
pub fn create(py: Python<'_>, flags: u8, parts: &[Owned], at: usize) -> Result<Owned> {
    let [function, args, keywords @ ..] = parts else { return Err(decode("a recipe without arguments", at)) };
    // SAFETY: the caller's `parts` hold the objects.
    let bound = |part: &Owned| unsafe { Bound::from_borrowed_ptr(py, part.get()) };
    let (function, args, keywords) = (bound(function), bound(args), keywords.first().map(bound));
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
    let keywords = match &keywords {
        None => std::ptr::null_mut(),
        Some(keywords) if keywords.is_instance_of::<PyDict>() => keywords.as_ptr(),
        Some(_) => return Err(decode("expected the keyword arguments of a recipe, a dict", at)),
    };
    let class = class.as_ptr().cast::<ffi::PyTypeObject>();
    // SAFETY: the `Bound` holds the class; a constructor takes a tuple, and a dict or null.
    unsafe {
        let Some(new) = (*class).tp_new else { return Err(decode("a recipe's class has no instances", at)) };
        Owned::new(new(class, args.as_ptr(), keywords)).ok_or_else(raised)
    }
}

/// Applies the part for that flag to an object.
pub fn apply(py: Python<'_>, flag: u8, object: &Owned, part: &Owned, at: usize) -> Result<()> {
    // SAFETY: the caller holds both.
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

/// Calls the function that sets a state.
pub fn set_by(py: Python<'_>, setter: &Owned, object: &Owned, state: &Owned) -> Result<()> {
    // SAFETY: the caller holds all three.
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

/// Whether an attribute with this name is looked up in the usual way, and a plain method of the class.
fn has_method(object: &Bound<'_, PyAny>, name: &Bound<'_, PyString>) -> bool {
    // SAFETY: the `Bound`s hold both. What the class has is looked at before anything can change the class.
    unsafe {
        let class = ffi::Py_TYPE(object.as_ptr());
        let is_usual =
            (*class).tp_getattro.is_some_and(|get| get as usize == ffi::PyObject_GenericGetAttr as *const () as usize);
        let found = _PyType_Lookup(class, name.as_ptr());
        is_usual
            && !found.is_null()
            && ffi::PyType_HasFeature(ffi::Py_TYPE(found), ffi::Py_TPFLAGS_METHOD_DESCRIPTOR) != 0
    }
}

/// Sets a state by `__setstate__`; else a dict goes into the instance's own dict, and a second dict is set by
/// attributes.
fn set_state(object: &Bound<'_, PyAny>, state: &Bound<'_, PyAny>, at: usize) -> Result<()> {
    let py = object.py();
    let name = intern!(py, "__setstate__");
    // A method of the class is called without a bound method on the way, as Python's own calls are.
    if has_method(object, name) {
        object.call_method1(name, (state,))?;
        return Ok(());
    }
    if let Some(set) = object.getattr_opt(name)? {
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
            // Interned, as attribute names are.
            let name = if name.is_exact_instance_of::<PyString>() {
                let mut raw = name.into_ptr();
                // SAFETY: `raw` is a reference of ours to a string, which interning may exchange for an equal string.
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

//! Objects by reference, or by the recipe from `__reduce_ex__` and the like: in trusted messages only.

use super::dialect::{Dialect, Native, NativeWriter};
use super::Encoder;
use crate::classes::copyreg;
use crate::classes::how::How;
use crate::classes::plan::Plan;
use crate::classes::registry;
use crate::cpython::owned;
use crate::cpython::Obj;
use crate::error::{encode as encode_error, Asked, Result};
use crate::memory::{format, Vec};
use crate::types::reduce::Recipe;
use crate::types::reference;
use crate::types::walker::WorkItem;
use holdall_format::model::reduce;
use pyo3::exceptions::{PyKeyError, PyTypeError};
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::types::{PyComplex, PyFunction, PyInt, PyString, PyType};
use std::rc::Rc;

/// The protocol passed to `__reduce_ex__`: the one with out-of-band buffers.
const PROTOCOL: i32 = 5;

impl<D: Dialect> Encoder<'_, D> {
    /// Writes an object whose state can't be read directly: in a trusted message by reference or by its own recipe,
    /// else by the user's hook.
    ///
    /// # Safety
    /// `object` is alive and its id was written.
    pub(crate) unsafe fn refused(&mut self, object: Obj, why: &str) -> Result<()> {
        // SAFETY: `object` is alive by contract.
        let bound = unsafe { Bound::from_borrowed_ptr(self.py, object) };
        if self.options.trust {
            return match D::own_recipe(self, &bound)? {
                Some(why) => self.unstorable(&bound, &why),
                None => Ok(()),
            };
        }
        if D::by_registration(self, &bound)? {
            return Ok(());
        }
        if let Some(bundle) =
            D::KEEPS_TYPES.then(|| registry::bundle_of_class(&bound.get_type())).transpose()?.flatten()
        {
            return self.unstorable(
                &bound,
                &format!(
                    "{why} `holdall.register_known(\"{bundle}\")`, or `trust=True` if only trusted readers load it"
                ),
            );
        }
        let remedy = if D::KEEPS_TYPES {
            "`register(..., encode=..., decode=...)`, or `trust=True` if only trusted readers load it"
        } else {
            "an `enc_hook`, or `register(..., encode=..., decode=...)`"
        };
        self.unstorable(&bound, &format!("{why} {remedy}"))
    }

    /// Writes what the user's `enc_hook` returns in place of an object.
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
}

impl<W: NativeWriter> Encoder<'_, Native<W>> {
    /// Writes an object by a reducer of the user's or of copyreg's, if there is one for it.
    ///
    /// # Safety
    /// `object` is alive, of the plan's class, and its id was written.
    pub(crate) unsafe fn dispatched(&mut self, object: Obj, plan: &Plan) -> Result<bool> {
        // SAFETY: `object` is alive by contract.
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
                // SAFETY: `value` is a reference of ours, which the `Bound` takes over.
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
            // SAFETY: the options hold the table, which may be any mapping.
            Some(table) => match unsafe { Bound::from_borrowed_ptr(py, table.get()) }.get_item(&class) {
                Ok(reducer) => reducer,
                Err(error) if error.is_instance_of::<PyKeyError>(py) => return Ok(None),
                Err(error) => return Err(error.into()),
            },
            // A class that is registered here is stored by its registered functions.
            None if matches!(plan.how, How::Custom) => return Ok(None),
            None => match copyreg::table(py)?.get_item(&class)? {
                Some(reducer) => reducer,
                None => return Ok(None),
            },
        };
        if matches!(plan.how, How::Family(_)) || class.is(py.get_type::<PyComplex>()) {
            // Reducers from the class's own module, or from copyreg itself, say no more than the built-in form does.
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

    /// Writes an object by reference or as its `__reduce_ex__` says; returns the reason if neither is possible.
    pub(crate) fn own_recipe(&mut self, object: &Bound<'_, PyAny>) -> Result<Option<String>> {
        let py = object.py();
        if object.is_instance_of::<PyType>() || object.get_type().is(py.get_type::<PyFunction>()) {
            return self.by_reference(object);
        }
        self.asks_program()?;
        match object.getattr(intern!(py, "__reduce_ex__"))?.call1((PROTOCOL,)) {
            Ok(value) => self.reduced(object, &value),
            // CPython itself refuses the object; the class's code had no part in it. Users of `holdall.pickle` get the
            // exception that pickle would raise.
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
        // The types of singletons, which no module has under their names.
        for single in [py.None(), py.Ellipsis(), py.NotImplemented()] {
            if single.bind(py).get_type().is(object) {
                let value = (py.get_type::<PyType>(), (single,)).into_pyobject(py)?;
                return self.reduced(object, &value);
            }
        }
        reference::write(self, object, None)
    }

    /// Writes the result of a `__reduce__`.
    fn reduced(&mut self, object: &Bound<'_, PyAny>, value: &Bound<'_, PyAny>) -> Result<Option<String>> {
        if let Ok(name) = value.cast::<PyString>() {
            return reference::write(self, object, Some(name));
        }
        // The second walk of a canonical message uses the results of the first: the same objects with the same sharing.
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
        // Kept as a whole, so that its items have another holder than the encoder.
        self.keep(owned(value));
        let (number, again) = self.begin_recipe(object.as_ptr())?.unzip();
        let mut parts = Vec::new();
        let mut flags = recipe.flags;
        if let (Some(number), Some(true)) = (number, again) {
            flags |= reduce::AGAIN;
            parts.push(WorkItem::Value(owned(PyInt::new(object.py(), number).as_any())));
        }
        self.w.reduce(flags);
        parts.extend(recipe.made_of.iter().cloned().map(WorkItem::Value));
        parts.extend(number.map(WorkItem::Made));
        parts.extend(recipe.then.iter().cloned().map(WorkItem::Value));
        self.then(parts);
        Ok(None)
    }
}

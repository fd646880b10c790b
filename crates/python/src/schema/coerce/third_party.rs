//! Objects that other code makes or validates: NumPy's arrays, pydantic's models, BSON values, the user's `dec_hook`.

use super::{expected, kind_name, InvalidOf, Rules, Taken};
use crate::classes::registry;
use crate::cpython::owned;
use crate::cpython::{new, Owned};
use crate::error::{invalid, Asked, Result, Step};
use crate::schema::node::Scalar;
use crate::schema::NodeId;
use crate::types::bson_values;
use crate::types::bson_values::Marker;
use pyo3::exceptions::{PyNotImplementedError, PyTypeError, PyValueError};
use pyo3::ffi;
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList, PyTuple};
use std::ptr::addr_of_mut;

/// What kind of object a type makes of a point in time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Moment {
    /// A datetime, with or without a zone.
    Any,
    Aware,
    Naive,
    /// PyMongo's `DatetimeMS`.
    Milliseconds,
    /// Not a datetime.
    Other,
}

impl<'s> Rules<'s> {
    pub fn moment(&self, id: NodeId) -> Result<Moment> {
        let mut found = Moment::Other;
        for scalar in &self.node(id).scalars {
            match scalar {
                Scalar::DateTime(zoned) => {
                    return Ok(match zoned {
                        None => Moment::Any,
                        Some(true) => Moment::Aware,
                        Some(false) => Moment::Naive,
                    })
                }
                // NumPy's datetimes have no zone.
                Scalar::Value { class, parse: Some(_) } if self.is_numpy(class)? => found = Moment::Naive,
                Scalar::Custom { class, .. } if bson_values::is_marked(&self.bound(class), Marker::DatetimeMs)? => {
                    found = Moment::Milliseconds;
                }
                _ => {}
            }
        }
        Ok(found)
    }

    pub(crate) fn array(&self, dtype: Option<&Owned>, shape: Option<&Owned>, object: &Owned) -> Result<Taken> {
        let numpy = self.py.import("numpy")?;
        let mut array = self.bound(object);
        if !array.is_instance(&numpy.getattr("ndarray")?)? {
            // SAFETY: `object` is an owned reference.
            let is_list = unsafe { ffi::Py_TYPE(object.get()) } == addr_of_mut!(ffi::PyList_Type);
            if !self.schemaless || !is_list {
                return Ok(Taken::No);
            }
            let dtype = dtype.map(|dtype| self.bound(dtype));
            let made = self.py.import("holdall._arrays")?.call_method1("from_list", (array, dtype));
            array = match self.made(made, "Expected `ndarray`, got `list` of other values")? {
                Taken::Yes(made) => self.bound(&made),
                other => return Ok(other),
            };
        } else if let Some(dtype) = dtype {
            let (wanted, got) = (self.bound(dtype), array.getattr(intern!(array.py(), "dtype"))?);
            // Text of any width, and numbers of either byte order, count as the same type.
            if !got.getattr(intern!(got.py(), "type"))?.is(&wanted.getattr(intern!(wanted.py(), "type"))?) {
                return Ok(Taken::Broken(format!("Expected `ndarray` of dtype `{wanted}`, got `{got}`")));
            }
        }
        if let Some(shape) = shape {
            let wanted = self.bound(shape);
            let (wanted, got) =
                (wanted.cast::<PyTuple>().map_err(PyErr::from)?, array.getattr(intern!(array.py(), "shape"))?);
            let got: Vec<usize> = got.extract()?;
            let open = wanted.iter().position(|len| len.is(self.py.Ellipsis()));
            let fits = |wanted: &[Bound<'_, PyAny>], got: &[usize]| {
                wanted
                    .iter()
                    .zip(got)
                    .all(|(wanted, got)| wanted.is_none() || wanted.extract::<usize>().is_ok_and(|len| len == *got))
            };
            let lens: Vec<Bound<'_, PyAny>> = wanted.iter().collect();
            let fine = match open {
                None => lens.len() == got.len() && fits(&lens, &got),
                Some(at) => {
                    let tail = lens.len() - at - 1;
                    got.len() >= at + tail && fits(&lens[..at], &got) && fits(&lens[at + 1..], &got[got.len() - tail..])
                }
            };
            if !fine {
                let show: Vec<String> = lens
                    .iter()
                    .map(|len| {
                        if len.is_none() {
                            "n".to_owned()
                        } else if len.is(self.py.Ellipsis()) {
                            "...".to_owned()
                        } else {
                            len.to_string()
                        }
                    })
                    .collect();
                return Ok(Taken::Broken(format!("Expected `ndarray` of shape ({}), got {got:?}", show.join(", "))));
            }
        }
        Ok(Taken::Yes(owned(&array)))
    }

    /// Whether this package itself registered a class.
    pub(crate) fn is_ours(&self, class: &Owned) -> Result<bool> {
        Ok(registry::by_class(self.py, class.get().cast())?.is_some_and(|known| known.ours))
    }

    /// What the user's `dec_hook` makes of an object.
    pub(crate) fn custom(&self, annotation: &Owned, class: &Owned, object: &Owned) -> Result<Taken> {
        let (bound, class) = (self.bound(object), self.bound(class));
        if bound.is_instance(&class)? {
            return Ok(Taken::Yes(object.clone()));
        }
        if self.schemaless {
            if let Some(made) = bson_values::of_python(&class, &bound)? {
                return self.made(made, InvalidOf(&class));
            }
        }
        let Some(hook) = self.dec_hook else { return Ok(Taken::No) };
        match self.bound(hook).call1((self.bound(annotation), bound)) {
            Ok(made) if made.is_instance(&class)? => Ok(Taken::Yes(owned(&made))),
            Ok(made) => {
                Err(expected(&class.getattr("__qualname__")?.str()?.to_string(), &kind_name(self.py, &owned(&made))))
            }
            Err(error) if error.is_instance_of::<PyNotImplementedError>(self.py) => Ok(Taken::No),
            Err(error)
                if error.is_instance_of::<PyValueError>(self.py) || error.is_instance_of::<PyTypeError>(self.py) =>
            {
                // The hook's own message: its author decides what it shows.
                let why = error.value(self.py).str().if_taken()?;
                Ok(Taken::Broken(why.map_or_else(String::new, |text| text.to_string())))
            }
            Err(error) => Err(error.into()),
        }
    }

    /// A pydantic model, made by its own validation.
    pub(crate) fn by_pydantic(&self, class: Option<&Owned>, object: &Owned) -> Result<Option<Owned>> {
        let Some(class) = class.map(|class| self.bound(class)) else { return Ok(None) };
        let mut given = self.bound(object);
        let own = given.is_instance(&class)?;
        if own {
            // A model is dumped as it was stored, without unset fields, and validated again.
            let keywords = new::dict(self.py)?;
            for (name, value) in
                [("warnings", false), ("exclude_unset", true), ("round_trip", true), ("by_alias", true)]
            {
                keywords.set_item(name, value)?;
            }
            // The message decides the model's state, so an error of the model's own code is about the data.
            let damaged = || invalid("a model whose state its own class can't read: damaged, or one that holds itself");
            let private = given.getattr("__pydantic_private__").if_taken()?.ok_or_else(damaged)?;
            given = given.call_method("model_dump", (), Some(&keywords)).if_taken()?.ok_or_else(damaged)?;
            let made = self.validated(&class, &given)?;
            if !private.is_none() {
                self.bound(&made).setattr("__pydantic_private__", private)?;
            }
            return Ok(Some(made));
        }
        let Ok(dict) = given.cast::<PyDict>() else { return Ok(None) };
        // A `RootModel` was stored with its one field, which its validation does not take.
        if let (1, Some(root)) = (dict.len(), dict.get_item("root")?) {
            let told = class.getattr("__pydantic_root_model__").if_taken()?;
            let is_root = match told {
                Some(told) => told.extract::<bool>().if_taken()? == Some(true),
                None => false,
            };
            if is_root {
                let fault = match self.validated(&class, &root) {
                    Err(fault) if fault.is_invalid() => fault,
                    made => return made.map(Some),
                };
                // Foreign data may have such a key, too.
                return match self.validated(&class, &given) {
                    Err(other) if other.is_invalid() => Err(fault),
                    made => made.map(Some),
                };
            }
        }
        self.validated(&class, &given).map(Some)
    }

    pub(crate) fn validated(&self, class: &Bound<'s, PyAny>, given: &Bound<'s, PyAny>) -> Result<Owned> {
        let mut validated = class.call_method1("model_validate", (given,)).answer()?;
        // Pydantic knows only Python's decimal numbers and patterns, unless the fields are of a database's classes.
        let has_parts = given.is_instance_of::<PyDict>() || given.is_instance_of::<PyList>();
        if validated.is_err() && self.schemaless && has_parts && bson_values::make_python(given)? {
            validated = class.call_method1("model_validate", (given,)).answer()?;
        }
        match validated {
            Ok(made) => Ok(owned(&made)),
            Err(error) => {
                let Some(errors) = error.value(self.py).call_method0("errors").if_taken()? else {
                    return Err(error.into());
                };
                let first = errors.get_item(0)?;
                let mut fault = invalid(first.get_item("msg")?);
                let place: Vec<Bound<'_, PyAny>> = first.get_item("loc")?.extract()?;
                let names = self.py.import("holdall._annotations.fields")?.call_method1("pydantic_keys", (class,))?;
                for (depth, step) in place.iter().enumerate().rev() {
                    // Text is a field's name if the model has that field; other keys are the user's data and are not
                    // shown.
                    let is_field = depth == 0 && names.get_item(1)?.contains(step)?;
                    fault = fault.within(|| match step.extract::<usize>() {
                        Ok(index) => Step::Index(index),
                        Err(_) if is_field => Step::Field(owned(step)),
                        Err(_) => Step::Some,
                    });
                }
                Err(fault)
            }
        }
    }
}

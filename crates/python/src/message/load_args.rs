//! What Python code passes to the loading functions of each format.

use crate::cpython::owned;
use crate::decode;
use crate::decode::MsgpackOptions;
use crate::dialect::julia::Julia;
use crate::dialect::lisp::Lisp;
use crate::memory::Vec;
use crate::message::limits::Limits;
use crate::message::options::{hook, Wanted};
use crate::schema;
use crate::shapes::decided::Resolver;
use crate::types::record::record_type;
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::{PyModule, PyType};

/// The arguments that the loading functions share. A function without one of them leaves its default.
pub struct LoadArgs<'a, 'py> {
    pub wanted: &'a Wanted<'py>,
    pub types: Option<&'a Bound<'py, PyAny>>,
    pub trust: bool,
    pub strict: bool,
    pub dec_hook: Option<&'a Bound<'py, PyAny>>,
    pub resolver: Option<&'a Bound<'py, PyAny>>,
    pub limits: Option<&'a Limits>,
}

impl Default for LoadArgs<'_, '_> {
    fn default() -> Self {
        LoadArgs {
            wanted: &Wanted::ANY,
            types: None,
            trust: false,
            strict: true,
            dec_hook: None,
            resolver: None,
            limits: None,
        }
    }
}

impl LoadArgs<'_, '_> {
    /// The options for hold.
    pub fn hold(self) -> PyResult<decode::Options> {
        let mut options = decode::Options {
            types: Vec::new(),
            named: decode::Named::default(),
            records: false,
            trust: self.trust,
            limits: self.limits.map_or_else(crate::budget::Limits::default, Limits::bounds),
            schema: match &self.wanted.0 {
                Some(annotation) => schema::of(annotation).map_err(|fault| fault.into_py(0))?,
                None => None,
            },
            node: None,
            strict: self.strict,
            dec_hook: hook(self.dec_hook, "dec_hook")?,
            resolver: hook(self.resolver, "resolver")?.map(Resolver::new),
            naive: false,
            msgpack: Default::default(),
            pickle: Default::default(),
        };
        if let Some(types) = self.types {
            permit(&mut options, types, true)?;
        }
        Ok(options)
    }

    /// For formats that store no class names: a resolver is asked where a type wants a class.
    fn of_type(self) -> PyResult<Self> {
        match self.resolver.is_some_and(|resolver| !resolver.is_none()) && self.wanted.0.is_none() {
            true => Err(PyTypeError::new_err("`resolver` needs `type=` here: the format stores no classes")),
            false => Ok(self),
        }
    }

    /// For formats that have classes of their own.
    fn without_resolver(self) -> PyResult<Self> {
        match self.resolver.is_some_and(|resolver| !resolver.is_none()) {
            true => Err(PyTypeError::new_err("`resolver` is for hold, MessagePack and BSON")),
            false => Ok(self),
        }
    }

    pub fn msgpack(self, ext_hook: Option<&Bound<'_, PyAny>>) -> PyResult<decode::Options> {
        let options = without_names(self.of_type()?.hold()?, true)?;
        let msgpack = MsgpackOptions { ext_hook: hook(ext_hook, "ext_hook")?, ..options.msgpack };
        Ok(decode::Options { msgpack, ..options })
    }

    pub fn bson(self, tz_aware: bool) -> PyResult<decode::Options> {
        let options = without_names(self.of_type()?.hold()?, false)?;
        Ok(decode::Options { naive: !tz_aware, ..options })
    }

    /// The options for Lisp's files: `types` are the classes that Lisp's types become.
    pub fn lisp(mut self, py: Python<'_>) -> PyResult<(decode::Options, Lisp)> {
        let none = py.None().into_bound(py);
        let types = self.types.take().unwrap_or(&none);
        let lisp = Lisp::new(types)?;
        Ok((self.without_resolver()?.hold()?, lisp))
    }

    /// The options for Julia's files: `types` are the classes that Julia's types become.
    pub fn julia(mut self, py: Python<'_>) -> PyResult<(decode::Options, Julia)> {
        let none = py.None().into_bound(py);
        let types = self.types.take().unwrap_or(&none);
        let julia = Julia::new(types)?;
        Ok((self.without_resolver()?.hold()?, julia))
    }
}

/// The options for unpickling: every class and function may be named.
pub fn unpickling(
    persistent_load: Option<&Bound<'_, PyAny>>,
    find_class: Option<&Bound<'_, PyAny>>,
) -> PyResult<decode::Options> {
    let mut options = LoadArgs { trust: true, ..LoadArgs::default() }.hold()?;
    options.pickle.persistent_load = hook(persistent_load, "persistent_load")?;
    options.pickle.find_class = hook(find_class, "find_class")?;
    Ok(options)
}

/// For formats that store no class names: refuses a type that can't be told without them.
fn without_names(options: decode::Options, textual: bool) -> PyResult<decode::Options> {
    match options.schema.as_ref().and_then(|schema| schema.ambiguity(textual)) {
        // A resolver tells.
        Some(_)
            if options.resolver.is_some()
                || options.schema.as_ref().is_some_and(|schema| schema.classes.iter().any(|class| class.resolves)) =>
        {
            Ok(options)
        }
        Some(why) => Err(PyTypeError::new_err(why.to_owned())),
        None => Ok(options),
    }
}

fn permit(options: &mut decode::Options, given: &Bound<'_, PyAny>, nested: bool) -> PyResult<()> {
    if given.as_ptr() == record_type(given.py()) {
        options.records = true;
    } else if given.is_instance_of::<PyType>() || given.is_instance_of::<PyModule>() {
        options.types.push(owned(given));
    } else if nested {
        for one in given.try_iter()? {
            permit(options, &one?, false)?;
        }
    } else {
        return Err(PyTypeError::new_err("`types` takes classes, modules, holdall.Record, or an iterable of them"));
    }
    Ok(())
}

//! How instances of a class are copied: found out once per class and call.

use crate::classes::how::{Base, How};
use crate::classes::plan;
use crate::classes::plan::Plan;
use crate::cpython::class::_PyType_Lookup;
use crate::cpython::{Owned, Type};
use crate::deepcopy::Copier;
use crate::error::{raised, Result};
use crate::types::Family;
use holdall_format::model::KnownType;
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::PyDict;
use pyo3::{ffi, intern};
use std::ptr::addr_of_mut;
use std::rc::Rc;

#[derive(Debug)]
pub enum Strategy {
    /// Its own copy, in `copy` as well.
    Atom,
    /// Its own copy, although `copy` would call a `__deepcopy__` that may return another: objects met later get the
    /// first one.
    Value,
    Set,
    FrozenSet,
    ByteArray,
    Slice,
    Method,
    Proxy,
    /// A datetime or a time: its own copy, unless its zone is of a user's class.
    Zoned,
    NamedTuple,
    /// Slots and `__dict__` are all its state.
    Fields(Rc<Plan>),
    /// The builtin's content, then slots and `__dict__`.
    Based(Rc<Plan>, Base),
    /// An `array.array`: its `__deepcopy__` ignores the memo.
    Array,
    /// A NumPy array.
    NdArray,
    /// By its `__deepcopy__`.
    Hook,
    /// By a function from `copy`'s own table.
    Copier(Owned),
    /// By a function from `copyreg.dispatch_table`, else by `__reduce_ex__`; and whether that is the program's code.
    Reduce(Option<Owned>, bool),
}

#[derive(Debug)]
pub struct ClassInfo {
    /// Held, so that no other class gets its address during the call.
    _class: Owned,
    pub strategy: Strategy,
    /// The class has its own way of looking up attributes, so each instance is asked for `__deepcopy__`.
    pub asks: bool,
}

impl Copier<'_> {
    /// How to copy instances of a class.
    ///
    /// # Safety
    /// `class` is the class of a live object.
    #[inline(always)]
    pub(super) unsafe fn strategy(&mut self, class: Type) -> Result<Rc<ClassInfo>> {
        if let Some((last, known)) = &self.last {
            if *last == class {
                return Ok(known.clone());
            }
        }
        // SAFETY: `class` is alive by contract: an instance of it is.
        unsafe { self.strategy_of_other(class) }
    }

    #[inline(never)]
    unsafe fn strategy_of_other(&mut self, class: Type) -> Result<Rc<ClassInfo>> {
        let known = match self.strategies.get(&(class as usize)) {
            Some(known) => known.clone(),
            None => {
                // SAFETY: an instance keeps `class` alive, and from here on the entry does.
                let known = Rc::new(unsafe { find(self.py, Owned::borrowed(class.cast()))? });
                self.strategies.insert(class as usize, known.clone());
                known
            }
        };
        self.last = Some((class, known.clone()));
        Ok(known)
    }
}

/// Types that are known without looking into the class.
fn builtin(class: Type) -> Option<Strategy> {
    let atoms = [
        addr_of_mut!(ffi::PyComplex_Type),
        addr_of_mut!(ffi::PyRange_Type),
        addr_of_mut!(ffi::PyFunction_Type),
        addr_of_mut!(ffi::PyCFunction_Type),
        addr_of_mut!(ffi::PyCode_Type),
        addr_of_mut!(ffi::PyProperty_Type),
        addr_of_mut!(ffi::_PyWeakref_RefType),
        // SAFETY: the singletons live as long as the interpreter.
        unsafe { ffi::Py_TYPE(ffi::Py_Ellipsis()) },
        // SAFETY: as above.
        unsafe { ffi::Py_TYPE(ffi::Py_NotImplemented()) },
    ];
    if atoms.contains(&class) {
        return Some(Strategy::Atom);
    }
    [
        (addr_of_mut!(ffi::PySet_Type), Strategy::Set),
        (addr_of_mut!(ffi::PyFrozenSet_Type), Strategy::FrozenSet),
        (addr_of_mut!(ffi::PyByteArray_Type), Strategy::ByteArray),
        (addr_of_mut!(ffi::PySlice_Type), Strategy::Slice),
        (method_type(), Strategy::Method),
        (addr_of_mut!(ffi::PyDictProxy_Type), Strategy::Proxy),
    ]
    .into_iter()
    .find_map(|(known, strategy)| (known == class).then_some(strategy))
}

crate::cpython::libpython! {
    static mut PyMethod_Type: ffi::PyTypeObject;
}

fn method_type() -> Type {
    addr_of_mut!(PyMethod_Type)
}

/// What a module's table of functions has for a class.
fn registered(py: Python<'_>, table: &Table, class: &Owned) -> Result<Option<Owned>> {
    let Table(module, name, cell) = table;
    let table = cell.get_or_try_init(py, || {
        let found = py.import(*module)?.getattr(*name)?;
        Ok::<_, PyErr>(found.cast_into::<PyDict>()?.unbind())
    })?;
    // SAFETY: the table and the class are held, and the table holds what is found while a reference is taken.
    unsafe {
        let found = ffi::PyDict_GetItemWithError(table.as_ptr(), class.get());
        if found.is_null() {
            return if ffi::PyErr_Occurred().is_null() { Ok(None) } else { Err(raised()) };
        }
        Ok(Some(Owned::borrowed(found)))
    }
}

/// Module, name and, once it was looked up, the table itself.
struct Table(&'static str, &'static str, PyOnceLock<Py<PyDict>>);
static COPIERS: Table = Table("copy", "_deepcopy_dispatch", PyOnceLock::new());
static REDUCERS: Table = Table("copyreg", "dispatch_table", PyOnceLock::new());

/// Finds out how to copy instances of a class.
///
/// # Safety
/// `class` is a class.
unsafe fn find(py: Python<'_>, class: Owned) -> Result<ClassInfo> {
    let raw: Type = class.get().cast();
    // SAFETY: `class` is an owned reference to a class, by contract.
    unsafe {
        let asks = match (*raw).tp_getattro {
            Some(get) => !std::ptr::fn_addr_eq(get, ffi::PyObject_GenericGetAttr as ffi::getattrofunc),
            None => false,
        };
        let known = |strategy, asks| Ok(ClassInfo { _class: class.clone(), strategy, asks });
        if let Some(strategy) = builtin(raw) {
            return known(strategy, false);
        }
        if ffi::PyType_IsSubtype(raw, addr_of_mut!(ffi::PyType_Type)) != 0 {
            return known(Strategy::Atom, false);
        }
        if let Some(copier) = registered(py, &COPIERS, &class)? {
            return known(Strategy::Copier(copier), false);
        }
        let plan = plan::of(py, raw)?;
        if let Some(strategy) = of_family(&plan, raw) {
            return known(strategy, false);
        }
        if !_PyType_Lookup(raw, intern!(py, "__deepcopy__").as_ptr()).is_null() {
            return known(Strategy::Hook, asks);
        }
        if let Some(reducer) = registered(py, &REDUCERS, &class)? {
            return known(Strategy::Reduce(Some(reducer), true), asks);
        }
        let strategy = match &plan.how {
            // An instance whose class has code for it gets what that code says.
            _ if plan.own_new || plan.answers => Strategy::Reduce(None, plan.answers),
            How::Fields => Strategy::Fields(plan),
            How::NamedTuple(_) => Strategy::NamedTuple,
            How::Based(base) => {
                let base = *base;
                Strategy::Based(plan, base)
            }
            How::Family(Family::Known(KnownType::PythonOrderedDict)) => Strategy::Based(plan, Base::OrderedDict),
            How::Family(Family::Known(KnownType::PythonCounter)) => Strategy::Based(plan, Base::Dict),
            How::Family(_) => Strategy::Reduce(None, false),
            _ => Strategy::Reduce(None, true),
        };
        known(strategy, asks)
    }
}

/// Types of the standard library and of NumPy whose objects are their own copies, or whose own method needs no memo.
///
/// # Safety
/// `class` is alive.
unsafe fn of_family(plan: &Plan, class: Type) -> Option<Strategy> {
    let How::Family(family) = &plan.how else {
        return matches!(plan.how, How::Enum).then_some(Strategy::Atom);
    };
    match family {
        Family::DateTime | Family::Known(KnownType::Time) => Some(Strategy::Zoned),
        Family::Known(KnownType::NumpyScalar) => {
            // SAFETY: `class` is alive by contract, and every class has a name.
            let name = unsafe { std::ffi::CStr::from_ptr((*class).tp_name) };
            // NumPy's scalars can't be changed, except structured ones.
            Some(if name == c"numpy.void" || name == c"numpy.record" { Strategy::Hook } else { Strategy::Value })
        }
        Family::Known(KnownType::NumpyArray) => Some(Strategy::NdArray),
        Family::Known(KnownType::PythonArray) => Some(Strategy::Array),
        Family::Known(
            KnownType::Date
            | KnownType::Timedelta
            | KnownType::Timezone
            | KnownType::ZoneInfo
            | KnownType::Decimal
            | KnownType::Fraction
            | KnownType::Uuid
            | KnownType::PurePosixPath
            | KnownType::PureWindowsPath
            | KnownType::PosixPath
            | KnownType::WindowsPath
            | KnownType::IPv4Address
            | KnownType::IPv6Address
            | KnownType::IPv4Network
            | KnownType::IPv6Network
            | KnownType::IPv4Interface
            | KnownType::IPv6Interface
            | KnownType::PythonPattern,
        ) => Some(Strategy::Value),
        _ => None,
    }
}

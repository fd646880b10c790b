//! How the instances of a class are copied, found out once in a call.

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
pub enum Way {
    /// Its own copy, for `copy` as well.
    Atom,
    /// Its own copy, of which a `__deepcopy__` may make another, as `copy` does: who meets it later gets the first.
    Value,
    Set,
    FrozenSet,
    ByteArray,
    Slice,
    Method,
    Proxy,
    /// A datetime or a time: its own copy, unless its zone is of somebody's own class.
    Zoned,
    NamedTuple,
    /// Slots and `__dict__` are the whole state.
    Fields(Rc<Plan>),
    /// A builtin's content, then slots and `__dict__`.
    Based(Rc<Plan>, Base),
    /// An array of the standard library: its `__deepcopy__` looks at no memo.
    Array,
    /// An array of NumPy.
    NdArray,
    /// A `__deepcopy__`.
    Hook,
    /// A function of `copy`'s own table.
    Copier(Owned),
    /// A function of `copyreg.dispatch_table`, or else `__reduce_ex__`; whether that is code of the program's.
    Reduce(Option<Owned>, bool),
}

#[derive(Debug)]
pub struct Known {
    /// Held: while the call lasts its address means no other class.
    _class: Owned,
    pub way: Way,
    /// The class answers names by code of its own: each instance is asked for a `__deepcopy__`.
    pub asks: bool,
}

impl Copier<'_> {
    /// # Safety
    /// `class` is the class of a live object.
    #[inline(always)]
    pub(super) unsafe fn way(&mut self, class: Type) -> Result<Rc<Known>> {
        if let Some((last, known)) = &self.last {
            if *last == class {
                return Ok(known.clone());
            }
        }
        // SAFETY: as the caller says.
        unsafe { self.other_way(class) }
    }

    #[inline(never)]
    unsafe fn other_way(&mut self, class: Type) -> Result<Rc<Known>> {
        let known = match self.ways.get(&(class as usize)) {
            Some(known) => known.clone(),
            None => {
                // SAFETY: as the caller says; the class is held from here on.
                let known = Rc::new(unsafe { find(self.py, Owned::borrowed(class.cast()))? });
                self.ways.insert(class as usize, known.clone());
                known
            }
        };
        self.last = Some((class, known.clone()));
        Ok(known)
    }
}

/// Types that need no look at their class.
fn builtin(class: Type) -> Option<Way> {
    let atoms = [
        addr_of_mut!(ffi::PyComplex_Type),
        addr_of_mut!(ffi::PyRange_Type),
        addr_of_mut!(ffi::PyFunction_Type),
        addr_of_mut!(ffi::PyCFunction_Type),
        addr_of_mut!(ffi::PyCode_Type),
        addr_of_mut!(ffi::PyProperty_Type),
        addr_of_mut!(ffi::_PyWeakref_RefType),
        // SAFETY: the singletons live for ever.
        unsafe { ffi::Py_TYPE(ffi::Py_Ellipsis()) },
        // SAFETY: the same.
        unsafe { ffi::Py_TYPE(ffi::Py_NotImplemented()) },
    ];
    if atoms.contains(&class) {
        return Some(Way::Atom);
    }
    [
        (addr_of_mut!(ffi::PySet_Type), Way::Set),
        (addr_of_mut!(ffi::PyFrozenSet_Type), Way::FrozenSet),
        (addr_of_mut!(ffi::PyByteArray_Type), Way::ByteArray),
        (addr_of_mut!(ffi::PySlice_Type), Way::Slice),
        (method_type(), Way::Method),
        (addr_of_mut!(ffi::PyDictProxy_Type), Way::Proxy),
    ]
    .into_iter()
    .find_map(|(known, way)| (known == class).then_some(way))
}

extern "C" {
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
    // SAFETY: held; what is found is held by the table.
    unsafe {
        let found = ffi::PyDict_GetItemWithError(table.as_ptr(), class.get());
        if found.is_null() {
            return if ffi::PyErr_Occurred().is_null() { Ok(None) } else { Err(raised()) };
        }
        Ok(Some(Owned::borrowed(found)))
    }
}

/// Module, name and, once it was looked for, the table itself.
struct Table(&'static str, &'static str, PyOnceLock<Py<PyDict>>);
static COPIERS: Table = Table("copy", "_deepcopy_dispatch", PyOnceLock::new());
static REDUCERS: Table = Table("copyreg", "dispatch_table", PyOnceLock::new());

/// # Safety
/// `class` is a class.
unsafe fn find(py: Python<'_>, class: Owned) -> Result<Known> {
    let raw: Type = class.get().cast();
    // SAFETY: held.
    unsafe {
        let asks = match (*raw).tp_getattro {
            Some(get) => !std::ptr::fn_addr_eq(get, ffi::PyObject_GenericGetAttr as ffi::getattrofunc),
            None => false,
        };
        let known = |way, asks| Ok(Known { _class: class.clone(), way, asks });
        if let Some(way) = builtin(raw) {
            return known(way, false);
        }
        if ffi::PyType_IsSubtype(raw, addr_of_mut!(ffi::PyType_Type)) != 0 {
            return known(Way::Atom, false);
        }
        if let Some(copier) = registered(py, &COPIERS, &class)? {
            return known(Way::Copier(copier), false);
        }
        let plan = plan::of(py, raw)?;
        if let Some(way) = of_family(&plan, raw) {
            return known(way, false);
        }
        if !_PyType_Lookup(raw, intern!(py, "__deepcopy__").as_ptr()).is_null() {
            return known(Way::Hook, asks);
        }
        if let Some(reducer) = registered(py, &REDUCERS, &class)? {
            return known(Way::Reduce(Some(reducer), true), asks);
        }
        let way = match &plan.how {
            // Who asks the class's own code gets what that says.
            _ if plan.own_new || plan.answers => Way::Reduce(None, plan.answers),
            How::Fields => Way::Fields(plan),
            How::NamedTuple(_) => Way::NamedTuple,
            How::Based(base) => {
                let base = *base;
                Way::Based(plan, base)
            }
            How::Family(Family::Known(KnownType::PythonOrderedDict)) => Way::Based(plan, Base::OrderedDict),
            How::Family(Family::Known(KnownType::PythonCounter)) => Way::Based(plan, Base::Dict),
            How::Family(_) => Way::Reduce(None, false),
            _ => Way::Reduce(None, true),
        };
        known(way, asks)
    }
}

/// Types of the standard library and of NumPy that are their own copies, or whose own method needs no memo.
///
/// # Safety
/// `class` is alive.
unsafe fn of_family(plan: &Plan, class: Type) -> Option<Way> {
    let How::Family(family) = &plan.how else {
        return matches!(plan.how, How::Enum).then_some(Way::Atom);
    };
    match family {
        Family::DateTime | Family::Known(KnownType::Time) => Some(Way::Zoned),
        Family::Known(KnownType::NumpyScalar) => {
            // SAFETY: alive, says the caller; a class has a name.
            let name = unsafe { std::ffi::CStr::from_ptr((*class).tp_name) };
            // Of the scalars only structured ones can be written to.
            Some(if name == c"numpy.void" || name == c"numpy.record" { Way::Hook } else { Way::Value })
        }
        Family::Known(KnownType::NumpyArray) => Some(Way::NdArray),
        Family::Known(KnownType::PythonArray) => Some(Way::Array),
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
        ) => Some(Way::Value),
        _ => None,
    }
}

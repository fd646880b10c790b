//! Addresses and networks of `ipaddress`, read and made without its code. What has another form than `str` gives is left to its classes.

use crate::classes::{plan, state};
use crate::cpython::{held, int, owned, text, Obj, Owned};
use crate::error::{raised, Result};
use crate::memory::format;
use crate::types::bson_values::classes::of_little;
use crate::types::library::{Library, Slots};
use holdall_format::model::KnownType;
use pyo3::ffi;
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::{PyDict, PyString, PyType};
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

static IPV4: Slots<1> = Slots::new(|py| Library::IPv4Address.get(py), [b"_ip"]);
static IPV6: Slots<2> = Slots::new(|py| Library::IPv6Address.get(py), [b"_ip", b"_scope_id"]);

/// The text of an address or a network, if it can be told without code of theirs.
pub fn text_of(known: KnownType, object: &Bound<'_, PyAny>) -> Result<Option<String>> {
    match known {
        KnownType::IPv4Address => {
            let Some([number]) = IPV4.read(object)? else { return Ok(None) };
            // SAFETY: the instance holds what is in its slot, whose type is checked first.
            let number = unsafe { int::is(number).then(|| int::value(number)).flatten() };
            Ok(number.and_then(|number| u32::try_from(number).ok()).map(|number| format!("{}", Ipv4Addr::from(number))))
        }
        KnownType::IPv4Network => network_text(object),
        KnownType::IPv6Address => {
            let Some([number, scope]) = IPV6.read(object)? else { return Ok(None) };
            // SAFETY: the instance holds what is in its slots.
            let number = unsafe { int::unsigned(number) }.filter(|_| held_none(scope));
            Ok(number.map(ipv6_text))
        }
        _ => Ok(None),
    }
}

/// A network of version 4 as Python writes it, if its parts are the usual ones.
fn network_text(object: &Bound<'_, PyAny>) -> Result<Option<String>> {
    let py = object.py();
    let (address, prefix) =
        (object.getattr(intern!(py, "network_address"))?, object.getattr(intern!(py, "_prefixlen"))?);
    let Some([number]) = IPV4.read(&address)? else { return Ok(None) };
    // SAFETY: the instances hold both, whose types are checked first.
    let exact = |object: Obj| unsafe { int::is(object).then(|| int::value(object)).flatten() };
    Ok(match (exact(number).map(u32::try_from), exact(prefix.as_ptr())) {
        (Some(Ok(number)), Some(prefix @ 0..=32)) => Some(format!("{}/{prefix}", Ipv4Addr::from(number))),
        _ => None,
    })
}

fn held_none(object: Obj) -> bool {
    // SAFETY: the singleton lives as long as the interpreter; only addresses are compared.
    object == unsafe { ffi::Py_None() }
}

/// An address as Python writes it up to 3.12. Since then it writes those that stand for one of version 4 in another way, and so does
/// Rust; equal messages need one way.
fn ipv6_text(number: u128) -> String {
    match number >> 32 {
        0xffff => format!("::ffff:{:x}:{:x}", number >> 16 & 0xffff, number & 0xffff),
        _ => format!("{}", Ipv6Addr::from(number)),
    }
}

/// An address in its usual form. `None`: any other form, which the class itself may know.
pub fn address(py: Python<'_>, known: KnownType, text: &Bound<'_, PyString>) -> Result<Option<Owned>> {
    // SAFETY: `text` holds its characters.
    let Some(text) = (unsafe { text::ascii(text.as_ptr()) }).and_then(|text| std::str::from_utf8(text).ok()) else {
        return Ok(None);
    };
    Ok(match known {
        KnownType::IPv4Address => text.parse().ok().map(|found| version_4(py, found)).transpose()?.flatten(),
        _ => text.parse().ok().map(|found| version_6(py, found)).transpose()?.flatten(),
    })
}

fn version_4(py: Python<'_>, address: Ipv4Addr) -> Result<Option<Owned>> {
    IPV4.make(py, [of_little(&u32::from(address).to_le_bytes())?])
}

fn version_6(py: Python<'_>, address: Ipv6Addr) -> Result<Option<Owned>> {
    IPV6.make(py, [of_little(&u128::from(address).to_le_bytes())?, owned(&py.None().into_bound(py))])
}

/// The classes of networks whose instances have the attributes that are set here, and no others.
static NETWORKS: [PyOnceLock<Option<Py<PyType>>>; 2] = [const { PyOnceLock::new() }; 2];

/// A network in the form in which `str` gives it. `None`: its class has to make it, or refuse it.
pub fn of_text(py: Python<'_>, class: Library, text: &Bound<'_, PyString>) -> Result<Option<Owned>> {
    let (place, sample, is_4) = match class {
        Library::IPv4Network => (&NETWORKS[0], "10.16.0.0/12", true),
        Library::IPv6Network => (&NETWORKS[1], "fe80:10::/28", false),
        _ => return Ok(None),
    };
    if place.get(py).is_none() {
        let class = class.get(py)?;
        let found = is_usual(class, sample, is_4)?.then(|| class.clone().unbind());
        // Another thread may have been first.
        let _ = place.set(py, found);
    }
    // SAFETY: `text` holds its characters.
    let ascii = unsafe { text::ascii(text.as_ptr()) }.and_then(|text| std::str::from_utf8(text).ok());
    match (place.get(py), ascii) {
        (Some(Some(class)), Some(text)) => make(class.bind(py), text, is_4),
        _ => Ok(None),
    }
}

/// Whether a network that is made here has the attributes of one that its class made, in their order.
#[cold]
fn is_usual(class: &Bound<'_, PyType>, sample: &str, is_4: bool) -> Result<bool> {
    let py = class.py();
    // SAFETY: a `PyType` is a class.
    let plan = unsafe { plan::of(py, class.as_ptr().cast())? };
    if !plan.has_dict || !plan.slots.is_empty() || !plan.is_bare() {
        return Ok(false);
    }
    let by_class = class.call1((sample,))?;
    let Some(by_hand) = make(class, sample, is_4)? else { return Ok(false) };
    let (theirs, ours) = (fields(&by_class)?, fields(&held(py, &by_hand))?);
    Ok(theirs.eq(&ours)? && theirs.keys().eq(ours.keys())?)
}

fn fields<'py>(network: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyDict>> {
    Ok(network.getattr(intern!(network.py(), "__dict__"))?.cast_into::<PyDict>()?)
}

fn make(class: &Bound<'_, PyType>, text: &str, is_4: bool) -> Result<Option<Owned>> {
    let py = class.py();
    let Some((address, digits)) = text.split_once('/') else { return Ok(None) };
    let (Ok(address), Ok(prefix)) = (address.parse::<IpAddr>(), digits.parse::<u32>()) else { return Ok(None) };
    // The two longest prefixes have a method of their own in each instance.
    let (bits, most) = match address {
        IpAddr::V4(address) => (u128::from(u32::from(address)) << 96, 30),
        IpAddr::V6(address) => (u128::from(address), 126),
    };
    let mask = u128::MAX.checked_shl(128 - prefix.min(128)).unwrap_or(0);
    if address.is_ipv4() != is_4
        || prefix > most
        || bits & !mask != 0
        || digits.len() > 1 && digits.starts_with(['0', '+'])
    {
        return Ok(None);
    }
    let (address, mask) = match address {
        IpAddr::V4(address) => (version_4(py, address)?, version_4(py, Ipv4Addr::from((mask >> 96) as u32))?),
        IpAddr::V6(address) => (version_6(py, address)?, version_6(py, Ipv6Addr::from(mask))?),
    };
    let (Some(address), Some(mask)) = (address, mask) else { return Ok(None) };
    // SAFETY: the GIL is held; the class is alive, laid out as its plan says. Names and values are alive.
    unsafe {
        let made = state::allocate(class.as_ptr().cast(), 0)?;
        let prefix = int::from_value(prefix.into()).ok_or_else(raised)?;
        let fields = [
            (intern!(py, "network_address"), &address),
            (intern!(py, "netmask"), &mask),
            (intern!(py, "_prefixlen"), &prefix),
        ];
        for (name, value) in fields {
            if !state::set_plain_attribute(made.get(), name.as_ptr(), value.clone()) {
                return Err(raised());
            }
        }
        Ok(Some(made))
    }
}

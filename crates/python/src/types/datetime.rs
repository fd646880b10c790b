//! date, time, datetime, timedelta and their zones. A datetime is one word of bits, and its zone.

use crate::cpython::{held, owned};
use crate::cpython::{new, Obj, Owned};
use crate::error::{raised, refused, Asked, Result};
use crate::memory::{vec, HashSet};
use crate::types::walker::{TypeWalker, WorkItem};
use crate::types::Cost;
use holdall_format::model::{KnownType, Moment, TypeWriter};
use holdall_format::Writer;
use pyo3::exceptions::PyValueError;
use pyo3::ffi;
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::{PyString, PyTuple};
use std::sync::Mutex;

#[inline(always)] // a call of its own took a tenth of dumping a list of them
pub fn encode<'py, E: TypeWalker<'py>>(encoder: &mut E, object: &Bound<'_, PyAny>) -> Result<()> {
    let raw = object.as_ptr();
    // SAFETY: a datetime, says the caller; the API was imported when the module was. Every field is in its range.
    unsafe {
        let moment = Moment {
            year: ffi::PyDateTime_GET_YEAR(raw) as u32,
            month: ffi::PyDateTime_GET_MONTH(raw) as u8,
            day: ffi::PyDateTime_GET_DAY(raw) as u8,
            hour: ffi::PyDateTime_DATE_GET_HOUR(raw) as u8,
            minute: ffi::PyDateTime_DATE_GET_MINUTE(raw) as u8,
            second: ffi::PyDateTime_DATE_GET_SECOND(raw) as u8,
            microsecond: ffi::PyDateTime_DATE_GET_MICROSECOND(raw) as u32,
            fold: ffi::PyDateTime_DATE_GET_FOLD(raw) != 0,
        };
        let zone = ffi::PyDateTime_DATE_GET_TZINFO(raw);
        encoder.w().datetime(moment.pack(), zone != ffi::Py_None());
        if zone != ffi::Py_None() {
            encode_zone(encoder, zone);
        }
    }
    Ok(())
}

/// A datetime's zone: almost always the one of the last, or UTC.
///
/// # Safety
/// `zone` is alive.
unsafe fn encode_zone<'py, E: TypeWalker<'py>>(encoder: &mut E, zone: Obj) {
    // SAFETY: the API was imported when the module was; the zone is alive, as the caller promises, and held by the item.
    unsafe {
        match zone == ffi::PyDateTime_TimeZone_UTC() {
            true => encoder.w().known(KnownType::Utc),
            false => encoder.then(vec![WorkItem::Value(Owned::borrowed(zone))]),
        }
    }
}

/// A datetime of its bits and zone.
///
/// # Safety
/// `zone` is alive.
pub unsafe fn datetime(bits: u64, zone: Obj, at: usize) -> Result<Owned> {
    let moment = Moment::unpack(bits);
    // SAFETY: alive, says the caller; the API was imported when the module was, and checks every range.
    unsafe {
        let api = &*ffi::PyDateTimeAPI();
        let made = (api.DateTime_FromDateAndTimeAndFold)(
            moment.year as i32,
            i32::from(moment.month),
            i32::from(moment.day),
            i32::from(moment.hour),
            i32::from(moment.minute),
            i32::from(moment.second),
            moment.microsecond as i32,
            zone,
            i32::from(moment.fold),
            api.DateTimeType,
        );
        Owned::new(made).ok_or_else(|| refused("a datetime out of range", at))
    }
}

/// Microseconds of a timedelta.
fn microseconds(delta: &Bound<'_, PyAny>) -> std::result::Result<i64, ()> {
    let raw = delta.as_ptr();
    // SAFETY: a timedelta.
    let (days, seconds, micros) = unsafe {
        (
            i64::from(ffi::PyDateTime_DELTA_GET_DAYS(raw)),
            i64::from(ffi::PyDateTime_DELTA_GET_SECONDS(raw)),
            i64::from(ffi::PyDateTime_DELTA_GET_MICROSECONDS(raw)),
        )
    };
    // At most 999,999,999 days, which is 8.64e19 microseconds: a few more than 63 bits hold.
    (days * 86_400 + seconds).checked_mul(1_000_000).and_then(|whole| whole.checked_add(micros)).ok_or(())
}

pub fn encode_part<'py, E: TypeWalker<'py>>(
    encoder: &mut E,
    known: KnownType,
    object: &Bound<'_, PyAny>,
) -> Result<()> {
    let raw = object.as_ptr();
    match known {
        KnownType::Date => {
            encoder.w().known(known);
            let ordinal: i64 = object.call_method0("toordinal")?.extract()?;
            encoder.w().int(ordinal);
        }
        KnownType::Time => {
            encoder.w().known(known);
            // SAFETY: a time; every field is in its range.
            unsafe {
                let moment = Moment {
                    hour: ffi::PyDateTime_TIME_GET_HOUR(raw) as u8,
                    minute: ffi::PyDateTime_TIME_GET_MINUTE(raw) as u8,
                    second: ffi::PyDateTime_TIME_GET_SECOND(raw) as u8,
                    microsecond: ffi::PyDateTime_TIME_GET_MICROSECOND(raw) as u32,
                    fold: ffi::PyDateTime_TIME_GET_FOLD(raw) != 0,
                    ..Moment::default()
                };
                encoder.w().int(moment.pack() as i64);
                let zone = ffi::PyDateTime_TIME_GET_TZINFO(raw);
                encoder.then(vec![WorkItem::Value(Owned::borrowed(zone))]);
            }
        }
        KnownType::Timedelta => {
            encoder.w().known(known);
            encode_delta(encoder, object)?;
        }
        KnownType::ZoneInfo => {
            let key = object.getattr("key")?;
            // How the class says whether others get the same object for the key; it has none for what a file gave.
            let said = object.call_method0("__reduce__").and_then(|said| said.get_item(1)).if_taken()?;
            let Some(said) = said else {
                return Err(crate::error::encode(
                    "a `zoneinfo.ZoneInfo` made from a file has no key to be found by again",
                ));
            };
            let is_cached = said.len()? < 2 || said.get_item(1)?.is_truthy()?;
            encoder.w().known(known);
            let key = if is_cached { key } else { PyTuple::new(object.py(), [key])?.into_any() };
            encoder.then(vec![WorkItem::Value(owned(&key))]);
        }
        _ => {
            // SAFETY: the API was imported when the module was.
            if raw == unsafe { ffi::PyDateTime_TimeZone_UTC() } {
                encoder.w().known(KnownType::Utc);
                return Ok(());
            }
            // `__getinitargs__` gives the offset and, if there is one, the name.
            let args = object.call_method0("__getinitargs__")?;
            encoder.w().known(KnownType::Timezone);
            encode_delta(encoder, &args.get_item(0)?)?;
            let name =
                if args.len()? > 1 { owned(&args.get_item(1)?) } else { owned(object.py().None().bind(object.py())) };
            encoder.then(vec![WorkItem::Value(name)]);
        }
    }
    Ok(())
}

fn encode_delta<'py, E: TypeWalker<'py>>(encoder: &mut E, delta: &Bound<'_, PyAny>) -> Result<()> {
    match microseconds(delta) {
        Ok(whole) => encoder.w().int(whole),
        Err(()) => {
            let py = delta.py();
            let one = py.import("datetime")?.getattr("timedelta")?.call1((0, 0, 1))?;
            let whole = delta.floor_div(one)?;
            // SAFETY: an int.
            let bytes = unsafe { crate::cpython::int::bytes(whole.as_ptr()) }.ok_or_else(raised)?;
            encoder.w().bigint(&bytes);
        }
    }
    Ok(())
}

fn delta<'py>(py: Python<'py>, micros: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
    let class = py.import("datetime")?.getattr("timedelta")?;
    // By keyword, as an int: a float would lose microseconds.
    let days = micros.floor_div(86_400_000_000i64)?;
    let rest = micros.rem(86_400_000_000i64)?;
    class.call1((days, 0, rest))
}

pub fn build<'py>(py: Python<'py>, known: KnownType, parts: &[Bound<'py, PyAny>]) -> PyResult<Bound<'py, PyAny>> {
    let module = py.import("datetime")?;
    match (known, parts) {
        (KnownType::Date, [ordinal]) => module.getattr("date")?.call_method1("fromordinal", (ordinal,)),
        (KnownType::Time, [bits, zone]) => {
            let bits: u64 = bits.extract()?;
            let moment = Moment::unpack(bits);
            if (moment.year, moment.month, moment.day) != (0, 0, 0) {
                return Err(PyValueError::new_err("a time with a date"));
            }
            let keywords = new::dict(py)?;
            keywords.set_item("fold", u8::from(moment.fold))?;
            module
                .getattr("time")?
                .call((moment.hour, moment.minute, moment.second, moment.microsecond, zone), Some(&keywords))
        }
        (KnownType::Timedelta, [micros]) => delta(py, micros),
        (KnownType::Utc, []) => module.getattr("timezone")?.getattr("utc"),
        (KnownType::Timezone, [micros, name]) => {
            let offset = delta(py, micros)?;
            let class = module.getattr("timezone")?;
            if name.is_none() {
                class.call1((offset,))
            } else {
                class.call1((offset, name))
            }
        }
        (KnownType::ZoneInfo, [key]) => {
            let class = py.import("zoneinfo")?.getattr("ZoneInfo")?;
            if key.is_instance_of::<PyTuple>() {
                let (key,): (String,) = key.extract()?;
                known_zone(py, &key)?;
                return class.call_method1("no_cache", (key,));
            }
            let key: String = key.extract()?;
            known_zone(py, &key)?;
            class.call1((key,))
        }
        _ => Err(PyValueError::new_err("another count of values")),
    }
}

/// Refuses a zone that is not in the data base: a look-up would import packages below `tzdata` by the key's folders, and read
/// whatever file of that path there is.
fn known_zone(py: Python<'_>, key: &str) -> PyResult<()> {
    static ZONES: PyOnceLock<Mutex<HashSet<String>>> = PyOnceLock::new();
    let known = ZONES.get_or_init(py, Mutex::default);
    let is_known = |known: &Mutex<HashSet<String>>| known.lock().is_ok_and(|known| known.contains(key));
    if is_known(known) {
        return Ok(());
    }
    let is_name = |part: &str| {
        part.starts_with(|first: char| first.is_ascii_alphabetic())
            && part.chars().all(|char| char.is_ascii_alphanumeric() || "_-+".contains(char))
    };
    let not_found = || Err(PyValueError::new_err("no time zone of that key"));
    if key.len() > LONGEST_KEY || !key.split('/').all(is_name) {
        return not_found();
    }
    let mut on_disk = false;
    for folder in py.import("zoneinfo")?.getattr("TZPATH")?.try_iter()? {
        let folder = folder?.extract::<std::path::PathBuf>().if_taken()?;
        on_disk |= folder.is_some_and(|folder| folder.join(key).is_file());
    }
    if !on_disk && !in_package(py, key)? {
        return not_found();
    }
    if let Ok(mut known) = known.lock() {
        known.insert(key.to_owned());
    }
    Ok(())
}

/// The longest key in use has 30 characters.
const LONGEST_KEY: usize = 64;

/// Whether the package `tzdata` lists that zone, where there is one.
fn in_package(py: Python<'_>, key: &str) -> PyResult<bool> {
    let Some(package) = py.import("tzdata").if_taken()? else { return Ok(false) };
    let list =
        py.import("importlib.resources")?.call_method1("files", (package,))?.call_method1("joinpath", ("zones",))?;
    let list = list.call_method0("read_text").and_then(|list| list.extract::<String>()).if_taken()?;
    Ok(list.is_some_and(|list| list.lines().any(|line| line == key)))
}

/// What a zone takes: that of a key that others hold too is found again, any other is read from its file.
pub fn zone_cost(py: Python<'_>, parts: &[Owned]) -> Cost {
    let is_cached = parts.first().is_some_and(|key| held(py, key).is_instance_of::<PyString>());
    match is_cached {
        true => Cost { work: 500, bytes: 0 },
        false => Cost { work: 20_000, bytes: 1 << 14 },
    }
}

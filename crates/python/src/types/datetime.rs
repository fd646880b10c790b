//! date, time, datetime, timedelta and their zones. A datetime is written as one word of bits and its zone.

use crate::cpython::{held, owned};
use crate::cpython::{int, Obj, Owned};
use crate::error::{raised, refused, Asked, Result};
use crate::memory::HashSet;
use crate::types::library::Library;
use crate::types::walker::{TypeWalker, WorkItem};
use crate::types::Cost;
use holdall_format::model::{KnownType, Moment, TypeWriter};
use holdall_format::Writer;
use pyo3::exceptions::PyValueError;
use pyo3::ffi;
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::{PyString, PyTuple};
use std::sync::Mutex;

#[inline(always)] // a call of its own took a tenth of dumping a list of them
pub fn encode<'py, E: TypeWalker<'py>>(encoder: &mut E, object: &Bound<'_, PyAny>) -> Result<()> {
    let raw = object.as_ptr();
    // SAFETY: the family says that it is a datetime; importing the module imported the datetime API.
    unsafe {
        let zone = ffi::PyDateTime_DATE_GET_TZINFO(raw);
        encoder.w().datetime(moment(raw).pack(), zone != ffi::Py_None());
        if zone != ffi::Py_None() {
            return encode_zone(encoder, zone);
        }
    }
    Ok(())
}

/// The fields of a datetime, each of which is in its range.
///
/// # Safety
/// `raw` is a datetime.
#[inline(always)]
unsafe fn moment(raw: Obj) -> Moment {
    // SAFETY: by the contract; importing the module imported the datetime API.
    unsafe {
        Moment {
            year: ffi::PyDateTime_GET_YEAR(raw) as u32,
            month: ffi::PyDateTime_GET_MONTH(raw) as u8,
            day: ffi::PyDateTime_GET_DAY(raw) as u8,
            hour: ffi::PyDateTime_DATE_GET_HOUR(raw) as u8,
            minute: ffi::PyDateTime_DATE_GET_MINUTE(raw) as u8,
            second: ffi::PyDateTime_DATE_GET_SECOND(raw) as u8,
            microsecond: ffi::PyDateTime_DATE_GET_MICROSECOND(raw) as u32,
            fold: ffi::PyDateTime_DATE_GET_FOLD(raw) != 0,
        }
    }
}

/// The same of a time.
///
/// # Safety
/// `raw` is a time.
#[inline(always)]
unsafe fn clock(raw: Obj) -> Moment {
    // SAFETY: by the contract; importing the module imported the datetime API.
    unsafe {
        Moment {
            hour: ffi::PyDateTime_TIME_GET_HOUR(raw) as u8,
            minute: ffi::PyDateTime_TIME_GET_MINUTE(raw) as u8,
            second: ffi::PyDateTime_TIME_GET_SECOND(raw) as u8,
            microsecond: ffi::PyDateTime_TIME_GET_MICROSECOND(raw) as u32,
            fold: ffi::PyDateTime_TIME_GET_FOLD(raw) != 0,
            ..Moment::default()
        }
    }
}

/// Whether it is a date, a timedelta of 63 bits of microseconds, or a time or datetime without a zone or, a datetime, in UTC: what
/// [`wrote`] writes.
///
/// # Safety
/// `object` is alive.
pub unsafe fn is_flat(object: Obj) -> bool {
    // SAFETY: `object` is alive by contract, and read as what its class says; importing the module imported the datetime API.
    unsafe {
        let (api, class) = (&*ffi::PyDateTimeAPI(), ffi::Py_TYPE(object));
        if class == api.DateTimeType {
            let zone = ffi::PyDateTime_DATE_GET_TZINFO(object);
            zone == ffi::Py_None() || zone == ffi::PyDateTime_TimeZone_UTC()
        } else if class == api.TimeType {
            ffi::PyDateTime_TIME_GET_TZINFO(object) == ffi::Py_None()
        } else {
            class == api.DateType || (class == api.DeltaType && microseconds(object).is_ok())
        }
    }
}

/// Writes what [`is_flat`], for which nothing has to be asked or remembered. `false`: it isn't, and nothing was written.
///
/// # Safety
/// `object` is alive, and the GIL held.
pub unsafe fn wrote<W: TypeWriter>(w: &mut W, object: Obj) -> bool {
    // SAFETY: `object` is alive by contract, and read as what its class says; importing the module imported the datetime API.
    unsafe {
        if !is_flat(object) {
            return false;
        }
        let (api, class) = (&*ffi::PyDateTimeAPI(), ffi::Py_TYPE(object));
        if class == api.DateTimeType {
            let zoned = ffi::PyDateTime_DATE_GET_TZINFO(object) != ffi::Py_None();
            w.datetime(moment(object).pack(), zoned);
            if zoned {
                w.known(KnownType::Utc);
            }
        } else if class == api.TimeType {
            w.known(KnownType::Time);
            w.int(clock(object).pack() as i64);
            w.none();
        } else if class == api.DateType {
            w.known(KnownType::Date);
            w.int(ordinal(object));
        } else if let Ok(micros) = microseconds(object) {
            w.known(KnownType::Timedelta);
            w.int(micros);
        }
        true
    }
}

/// Writes the zone of a datetime or a time.
///
/// # Safety
/// `zone` is alive.
unsafe fn encode_zone<'py, E: TypeWalker<'py>>(encoder: &mut E, zone: Obj) -> Result<()> {
    // SAFETY: importing the module imported the datetime API; `zone` is alive by contract, and holds leaves if it is a `timezone`.
    unsafe {
        let utc = ffi::PyDateTime_TimeZone_UTC();
        if zone == utc {
            encoder.w().known(KnownType::Utc);
        } else if ffi::Py_TYPE(zone) == ffi::Py_TYPE(utc) {
            return encoder.then_last(zone);
        } else {
            encoder.then([WorkItem::Value(Owned::borrowed(zone))]);
        }
    }
    Ok(())
}

/// A datetime from its bits and its zone.
///
/// # Safety
/// `zone` is alive.
pub unsafe fn datetime(bits: u64, zone: Obj, at: usize) -> Result<Owned> {
    let moment = Moment::unpack(bits);
    // SAFETY: `zone` is alive by contract; importing the module imported the datetime API, which checks every range.
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

/// The microseconds of a timedelta.
///
/// # Safety
/// `raw` is a timedelta.
unsafe fn microseconds(raw: Obj) -> std::result::Result<i64, ()> {
    // SAFETY: by the contract.
    let (days, seconds, micros) = unsafe {
        (
            i64::from(ffi::PyDateTime_DELTA_GET_DAYS(raw)),
            i64::from(ffi::PyDateTime_DELTA_GET_SECONDS(raw)),
            i64::from(ffi::PyDateTime_DELTA_GET_MICROSECONDS(raw)),
        )
    };
    // At most 999,999,999 days, or 8.64e19 microseconds: slightly more than 63 bits.
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
            // SAFETY: `known` says that it is a date; importing the module imported the datetime API.
            encoder.w().int(unsafe { ordinal(raw) });
        }
        KnownType::Time => {
            encoder.w().known(known);
            // SAFETY: `known` says that it is a time.
            unsafe {
                encoder.w().int(clock(raw).pack() as i64);
                let zone = ffi::PyDateTime_TIME_GET_TZINFO(raw);
                match zone == ffi::Py_None() {
                    true => encoder.w().none(),
                    false => return encode_zone(encoder, zone),
                }
            }
        }
        KnownType::Timedelta => {
            encoder.w().known(known);
            encode_delta(encoder, object)?;
        }
        KnownType::ZoneInfo => {
            let key = object.getattr(intern!(object.py(), "key"))?;
            // What the class says about whether the key gives the same object again; it raises for zones read from a
            // file.
            let said =
                object.call_method0(intern!(object.py(), "__reduce__")).and_then(|said| said.get_item(1)).if_taken()?;
            let Some(said) = said else {
                return Err(crate::error::encode(
                    "a `zoneinfo.ZoneInfo` made from a file has no key to be found by again",
                ));
            };
            let is_cached = said.len()? < 2 || said.get_item(1)?.is_truthy()?;
            encoder.w().known(known);
            let key = if is_cached { key } else { PyTuple::new(object.py(), [key])?.into_any() };
            encoder.then([WorkItem::Value(owned(&key))]);
        }
        _ => {
            // SAFETY: importing the module imported the datetime API.
            if raw == unsafe { ffi::PyDateTime_TimeZone_UTC() } {
                encoder.w().known(KnownType::Utc);
                return Ok(());
            }
            // `__getinitargs__` returns the offset and, if there is one, the name.
            let args = object.call_method0(intern!(object.py(), "__getinitargs__"))?;
            encoder.w().known(KnownType::Timezone);
            encode_delta(encoder, &args.get_item(0)?)?;
            let name =
                if args.len()? > 1 { owned(&args.get_item(1)?) } else { owned(object.py().None().bind(object.py())) };
            encoder.then([WorkItem::Value(name)]);
        }
    }
    Ok(())
}

fn encode_delta<'py, E: TypeWalker<'py>>(encoder: &mut E, delta: &Bound<'_, PyAny>) -> Result<()> {
    // SAFETY: callers pass a timedelta.
    match unsafe { microseconds(delta.as_ptr()) } {
        Ok(whole) => encoder.w().int(whole),
        Err(()) => {
            let py = delta.py();
            let one = py.import("datetime")?.getattr("timedelta")?.call1((0, 0, 1))?;
            let whole = delta.floor_div(one)?;
            // SAFETY: `whole` is an int.
            let bytes = unsafe { int::bytes(whole.as_ptr()) }.ok_or_else(raised)?;
            encoder.w().bigint(&bytes);
        }
    }
    Ok(())
}

/// A timedelta of so many microseconds.
fn delta<'py>(py: Python<'py>, micros: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
    const DAY: i64 = 86_400_000_000;
    if let Some(micros) = small(micros) {
        let made = delta_of(micros).map_or(std::ptr::null_mut(), Owned::into_raw);
        // SAFETY: `made` is a new reference, or null where an exception is set.
        return unsafe { Bound::from_owned_ptr_or_err(py, made) };
    }
    // With ints, because a float would lose microseconds.
    let days = micros.floor_div(DAY)?;
    let rest = micros.rem(DAY)?;
    py.import("datetime")?.getattr("timedelta")?.call1((days, 0, rest))
}

/// The value of an int of up to 64 bits.
fn small(number: &Bound<'_, PyAny>) -> Option<i64> {
    // SAFETY: the `Bound` holds the object, whose type is checked first.
    unsafe { int::is(number.as_ptr()).then(|| int::value(number.as_ptr())).flatten() }
}

/// A date by its number, 1 being the first of January of the year 1.
fn date<'py>(py: Python<'py>, ordinal: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
    match small(ordinal).and_then(date_of) {
        // SAFETY: `made` is a new reference.
        Some(made) => unsafe { Bound::from_owned_ptr_or_err(py, made.into_raw()) },
        None => py.import("datetime")?.getattr("date")?.call_method1("fromordinal", (ordinal,)),
    }
}

/// A date, a timedelta, or a time without a zone, of the number that stands for it. `None`: there is none of that number, or no
/// memory for it, and an exception may be set.
pub fn of_number(known: KnownType, number: i64) -> Option<Owned> {
    match known {
        KnownType::Date => date_of(number),
        KnownType::Timedelta => delta_of(number),
        // SAFETY: `None` lives as long as the interpreter.
        KnownType::Time => unsafe { time_of(number as u64, ffi::Py_None()) },
        _ => None,
    }
}

fn date_of(number: i64) -> Option<Owned> {
    if !(1..=3_652_059).contains(&number) {
        return None;
    }
    let (year, month, day) = civil(number as i32);
    // SAFETY: importing the module imported the datetime API, which checks every range.
    unsafe {
        let api = &*ffi::PyDateTimeAPI();
        Owned::new((api.Date_FromDate)(year, month, day, api.DateType))
    }
}

fn delta_of(micros: i64) -> Option<Owned> {
    const DAY: i64 = 86_400_000_000;
    let (days, rest) = (micros.div_euclid(DAY), micros.rem_euclid(DAY));
    let (seconds, rest) = (rest / 1_000_000, rest % 1_000_000);
    // SAFETY: importing the module imported the datetime API, which checks the days' range: 64 bits of microseconds are less than
    // 2^31 days.
    unsafe {
        let api = &*ffi::PyDateTimeAPI();
        Owned::new((api.Delta_FromDelta)(days as i32, seconds as i32, rest as i32, 0, api.DeltaType))
    }
}

/// A time from its bits and its zone. `None`: they are those of no time.
///
/// # Safety
/// `zone` is alive.
unsafe fn time_of(bits: u64, zone: Obj) -> Option<Owned> {
    let moment = Moment::unpack(bits);
    if (moment.year, moment.month, moment.day) != (0, 0, 0) {
        return None;
    }
    // SAFETY: `zone` is alive by contract; importing the module imported the datetime API, which checks every range and what the
    // zone is.
    unsafe {
        let api = &*ffi::PyDateTimeAPI();
        Owned::new((api.Time_FromTimeAndFold)(
            i32::from(moment.hour),
            i32::from(moment.minute),
            i32::from(moment.second),
            moment.microsecond as i32,
            zone,
            i32::from(moment.fold),
            api.TimeType,
        ))
    }
}

/// A date's number, as `toordinal` gives it. Mirror of [`civil`].
///
/// # Safety
/// `date` is a date or datetime.
unsafe fn ordinal(date: Obj) -> i64 {
    // SAFETY: by the contract; importing the module imported the datetime API.
    let (year, month, day) =
        unsafe { (ffi::PyDateTime_GET_YEAR(date), ffi::PyDateTime_GET_MONTH(date), ffi::PyDateTime_GET_DAY(date)) };
    let (year, month) = if month > 2 { (year, month - 3) } else { (year - 1, month + 9) };
    let days = 365 * year + year / 4 - year / 100 + year / 400 + (153 * month + 2) / 5 + day - 1;
    i64::from(days - 305)
}

/// Year, month and day of a date's number. Years are counted from the first of March, so that the leap day comes last
/// (H. Hinnant, "chrono-compatible low-level date algorithms").
fn civil(ordinal: i32) -> (i32, i32, i32) {
    let days = ordinal + 305; // since the first of March of the year 0
    let (era, day) = (days / 146_097, days % 146_097);
    let year = (day - day / 1_460 + day / 36_524 - day / 146_096) / 365;
    let day = day - (365 * year + year / 4 - year / 100);
    let month = (5 * day + 2) / 153;
    let day = day - (153 * month + 2) / 5 + 1;
    let (year, month) = (year + 400 * era, if month < 10 { month + 3 } else { month - 9 });
    (year + i32::from(month <= 2), month, day)
}

fn time<'py>(py: Python<'py>, bits: u64, zone: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
    // SAFETY: the `Bound` holds the zone.
    match unsafe { time_of(bits, zone.as_ptr()) } {
        // SAFETY: `made` is a new reference.
        Some(made) => unsafe { Bound::from_owned_ptr_or_err(py, made.into_raw()) },
        None => Err(PyErr::take(py).unwrap_or_else(|| PyValueError::new_err("a time with a date"))),
    }
}

pub fn build<'py>(py: Python<'py>, known: KnownType, parts: &[Bound<'py, PyAny>]) -> PyResult<Bound<'py, PyAny>> {
    match (known, parts) {
        (KnownType::Date, [ordinal]) => date(py, ordinal),
        (KnownType::Time, [bits, zone]) => time(py, bits.extract()?, zone),
        (KnownType::Timedelta, [micros]) => delta(py, micros),
        (KnownType::Timezone, [micros, name]) => {
            let offset = delta(py, micros)?;
            if !name.is_none() {
                name.cast::<PyString>()?;
            }
            // SAFETY: importing the module imported the datetime API; the offset is a timedelta, whose range it checks, and
            // the name a str or null.
            unsafe {
                let name = if name.is_none() { std::ptr::null_mut() } else { name.as_ptr() };
                Bound::from_owned_ptr_or_err(py, ((*ffi::PyDateTimeAPI()).TimeZone_FromTimeZone)(offset.as_ptr(), name))
            }
        }
        (KnownType::ZoneInfo, [key]) => {
            let class = Library::ZoneInfo.get(py)?;
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

/// Refuses a zone that isn't in the database: a look-up would import packages below `tzdata` named by the key, and read
/// any file at that path.
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

/// The longest existing key has 30 characters.
const LONGEST_KEY: usize = 64;

/// Whether the package `tzdata`, if installed, lists that zone.
fn in_package(py: Python<'_>, key: &str) -> PyResult<bool> {
    let Some(package) = py.import("tzdata").if_taken()? else { return Ok(false) };
    let list =
        py.import("importlib.resources")?.call_method1("files", (package,))?.call_method1("joinpath", ("zones",))?;
    let list =
        list.call_method0(intern!(list.py(), "read_text")).and_then(|list| list.extract::<String>()).if_taken()?;
    Ok(list.is_some_and(|list| list.lines().any(|line| line == key)))
}

/// The cost of a zone: one with a key is cached, any other is read from its file.
pub fn zone_cost(py: Python<'_>, parts: &[Owned]) -> Cost {
    let is_cached = parts.first().is_some_and(|key| held(py, key).is_instance_of::<PyString>());
    match is_cached {
        true => Cost { work: 500, bytes: 0 },
        false => Cost { work: 20_000, bytes: 1 << 14 },
    }
}

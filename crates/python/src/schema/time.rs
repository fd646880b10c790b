//! Dates and times of their text in plain formats: RFC 3339, and durations of ISO 8601.
//!
//! `speedate` reads them: it is the parser that pydantic keeps, and faster than `fromisoformat`, which before Python 3.11
//! does not know a `Z`.

use crate::cpython::{Obj, Owned};
use crate::error::{raised, Result};
use pyo3::ffi;
use pyo3::prelude::*;
use pyo3::types::{PyDate, PyDateTime, PyDelta, PyTime, PyTzInfo};
use speedate::{Date, DateTime, Duration, MicrosecondsPrecisionOverflowBehavior, Time, TimeConfig};

/// More digits than datetime keeps are cut off.
const CUT: TimeConfig = TimeConfig {
    microseconds_precision_overflow_behavior: MicrosecondsPrecisionOverflowBehavior::Truncate,
    unix_timestamp_offset: None,
};

/// A fixed offset from UTC; UTC itself for none.
fn zone(py: Python<'_>, seconds: Option<i32>) -> PyResult<Option<Bound<'_, PyTzInfo>>> {
    Ok(match seconds {
        None => None,
        Some(0) => Some(PyTzInfo::utc(py)?.to_owned()),
        Some(seconds) => Some(PyTzInfo::fixed_offset(py, PyDelta::new(py, 0, seconds, 0, true)?)?),
    })
}

fn owned<T>(made: PyResult<Bound<'_, T>>) -> Option<Owned> {
    // SAFETY: alive.
    made.ok().map(|made| unsafe { Owned::borrowed(made.as_ptr()) })
}

/// `None` for what is no such text.
pub fn datetime(py: Python<'_>, text: &[u8]) -> Option<Owned> {
    // Bare numbers are points in time to `speedate`; here they are no text of one.
    let written = matches!(text.get(10), Some(b'T' | b't' | b' ')) && text.get(16) == Some(&b':');
    let found = written.then(|| DateTime::parse_bytes_rfc3339_with_config(text, &CUT).ok()).flatten()?;
    let zone = zone(py, found.time.tz_offset).ok()?;
    owned(PyDateTime::new(
        py,
        i32::from(found.date.year),
        found.date.month,
        found.date.day,
        found.time.hour,
        found.time.minute,
        found.time.second,
        found.time.microsecond,
        zone.as_ref(),
    ))
}

pub fn date(py: Python<'_>, text: &[u8]) -> Option<Owned> {
    let found = Date::parse_bytes_rfc3339(text).ok()?;
    owned(PyDate::new(py, i32::from(found.year), found.month, found.day))
}

pub fn time(py: Python<'_>, text: &[u8]) -> Option<Owned> {
    let found = (text.get(5) == Some(&b':')).then(|| Time::parse_bytes_with_config(text, &CUT).ok()).flatten()?;
    let zone = zone(py, found.tz_offset).ok()?;
    owned(PyTime::new(py, found.hour, found.minute, found.second, found.microsecond, zone.as_ref()))
}

pub fn timedelta(py: Python<'_>, text: &[u8]) -> Option<Owned> {
    if !matches!(text.first(), Some(b'P' | b'-' | b'+')) {
        return None;
    }
    let found = Duration::parse_bytes(text).ok()?;
    let (days, seconds, micros) = (found.day as i32, found.second as i32, found.microsecond as i32);
    let sign = if found.positive { 1 } else { -1 };
    owned(PyDelta::new(py, sign * days, sign * seconds, sign * micros, true))
}

/// The same in UTC.
pub fn moment(seconds: i64, nanoseconds: u32) -> Result<Option<Owned>> {
    // SAFETY: the API was imported when the module was; its UTC lives as long as the interpreter.
    moment_in(seconds, nanoseconds, unsafe { ffi::PyDateTime_TimeZone_UTC() })
}

/// The moment that many seconds and nanoseconds after 1970-01-01 UTC, to the microsecond; `None` beyond the
/// years 1 to 9999.
///
/// Its zone is the one given, which must mean UTC: None for no zone.
pub fn moment_in(seconds: i64, nanoseconds: u32, zone: Obj) -> Result<Option<Owned>> {
    const DAY: i64 = 86_400;
    // 0001-01-01 and 10000-01-01.
    if !(-62_135_596_800..253_402_300_800).contains(&seconds) {
        return Ok(None);
    }
    let (day, second) = (seconds.div_euclid(DAY), seconds.rem_euclid(DAY) as i32);
    let (year, month, day) = civil(day);
    // SAFETY: the API was imported when the module was; every part is in its range.
    unsafe {
        let api = &*ffi::PyDateTimeAPI();
        let made = (api.DateTime_FromDateAndTime)(
            year,
            month,
            day,
            second / 3600,
            second / 60 % 60,
            second % 60,
            (nanoseconds / 1000) as i32,
            zone,
            api.DateTimeType,
        );
        Owned::new(made).map(Some).ok_or_else(raised)
    }
}

/// Year, month and day of a day counted from 1970-01-01, in the proleptic Gregorian calendar.
///
/// Counts in eras of 400 years from the first of March of year 0, so that leap days come last: Howard Hinnant's
/// `civil_from_days` ("chrono-Compatible Low-Level Date Algorithms").
fn civil(day: i64) -> (i32, i32, i32) {
    let shifted = day + 719_468;
    let (era, of_era) = (shifted.div_euclid(146_097), shifted.rem_euclid(146_097));
    let year_of_era = (of_era - of_era / 1_460 + of_era / 36_524 - of_era / 146_096) / 365;
    let of_year = of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let month_from_march = (5 * of_year + 2) / 153;
    let day = of_year - (153 * month_from_march + 2) / 5 + 1;
    let month = if month_from_march < 10 { month_from_march + 3 } else { month_from_march - 9 };
    let year = year_of_era + era * 400 + i64::from(month <= 2);
    (year as i32, month as i32, day as i32)
}

/// Mirror of [`civil`]: days from 1970-01-01.
pub fn days(year: i64, month: i64, day: i64) -> i64 {
    let year = if month <= 2 { year - 1 } else { year };
    let (era, of_era) = (year.div_euclid(400), year.rem_euclid(400));
    let of_year = (153 * (if month > 2 { month - 3 } else { month + 9 }) + 2) / 5 + day - 1;
    era * 146_097 + of_era * 365 + of_era / 4 - of_era / 100 + of_year - 719_468
}

/// A timedelta as a duration of ISO 8601: days and seconds, which mean the same everywhere.
pub fn duration_text(delta: &Bound<'_, PyAny>) -> String {
    let raw = delta.as_ptr();
    // SAFETY: a timedelta, says the caller; the API was imported when the module was.
    let (days, seconds, micros) = unsafe {
        (
            i64::from(ffi::PyDateTime_DELTA_GET_DAYS(raw)),
            i64::from(ffi::PyDateTime_DELTA_GET_SECONDS(raw)),
            i64::from(ffi::PyDateTime_DELTA_GET_MICROSECONDS(raw)),
        )
    };
    // Python keeps the sign in the days alone; here it stands before the whole.
    let whole = (i128::from(days) * 86_400 + i128::from(seconds)) * 1_000_000 + i128::from(micros);
    let (sign, whole) = if whole < 0 { ("-", whole.unsigned_abs()) } else { ("", whole.unsigned_abs()) };
    let (days, rest) = (whole / 86_400_000_000, whole % 86_400_000_000);
    let (seconds, micros) = (rest / 1_000_000, rest % 1_000_000);
    let fraction = if micros == 0 { String::new() } else { format!(".{micros:06}").trim_end_matches('0').to_owned() };
    match (days, rest) {
        (0, _) => format!("{sign}PT{seconds}{fraction}S"),
        (_, 0) => format!("{sign}P{days}D"),
        _ => format!("{sign}P{days}DT{seconds}{fraction}S"),
    }
}

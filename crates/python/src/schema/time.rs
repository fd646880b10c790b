//! Dates and times from their text in schemaless formats: RFC 3339, and durations of ISO 8601.
//!
//! Dates and times are read by `speedate`, the parser that pydantic maintains: it is faster than `fromisoformat`, which
//! knows no `Z` before Python 3.11. Durations are read here, because `speedate` accepts malformed ones (`P0DT`,
//! `P1D2D`, `P1.D`).

use crate::cpython::{Obj, Owned};
use crate::error::{raised, Asked, Result};
use holdall_format::model::KnownType;
use pyo3::ffi;
use pyo3::prelude::*;
use pyo3::types::{PyDate, PyDateTime, PyDelta, PyTime, PyTzInfo};
use speedate::{Date, DateTime, MicrosecondsPrecisionOverflowBehavior, Time, TimeConfig};

/// Digits beyond microseconds are cut; rounding is done here.
const CUT: TimeConfig = TimeConfig {
    microseconds_precision_overflow_behavior: MicrosecondsPrecisionOverflowBehavior::Truncate,
    unix_timestamp_offset: None,
};
const DAY: u64 = 86_400_000_000;

/// The result of reading a text.
pub enum Read {
    Made(Owned),
    /// The text has another form.
    Malformed,
    /// The form is right, but Python's type has no such value.
    Beyond,
}

/// The zone of an offset in seconds and microseconds; UTC itself for an offset of 0.
fn zone(py: Python<'_>, offset: Option<(i32, i32)>) -> PyResult<Option<Bound<'_, PyTzInfo>>> {
    Ok(match offset {
        None => None,
        Some((0, 0)) => Some(PyTzInfo::utc(py)?.to_owned()),
        Some((seconds, micros)) => Some(PyTzInfo::fixed_offset(py, PyDelta::new(py, 0, seconds, micros, true)?)?),
    })
}

/// The object; `None` if Python's type has no such value.
fn owned<T>(made: PyResult<Bound<'_, T>>) -> Result<Option<Owned>> {
    // SAFETY: `made` holds the object while the reference is taken.
    Ok(made.if_taken()?.map(|made| unsafe { Owned::borrowed(made.as_ptr()) }))
}

/// Whether the digits beyond microseconds round up. `text` begins within the time.
fn rounds_up(text: &[u8]) -> bool {
    let Some(point) = text.iter().position(|&byte| matches!(byte, b'.' | b',')) else { return false };
    let digits = &text[point + 1..];
    digits.len() > 6 && digits[..7].iter().all(u8::is_ascii_digit) && digits[6] >= b'5'
}

/// Splits off an offset with seconds (`+01:02:03` or `+01:02:03.000004`), which Python's `isoformat` writes and RFC
/// 3339 lacks.
fn fine_offset(text: &[u8]) -> Option<(&[u8], (i32, i32))> {
    let at = text.iter().rposition(|&byte| matches!(byte, b'+' | b'-'))?;
    let (rest, offset) = (&text[..at], &text[at + 1..]);
    let pair = |at: usize| match offset.get(at..at + 2)? {
        [tens @ b'0'..=b'9', ones @ b'0'..=b'9'] => Some(i32::from(tens - b'0') * 10 + i32::from(ones - b'0')),
        _ => None,
    };
    if offset.get(2) != Some(&b':') || offset.get(5) != Some(&b':') {
        return None;
    }
    let (hours, minutes, seconds) = (pair(0)?, pair(3)?, pair(6)?);
    let micros = match offset.get(8..)? {
        [] => 0,
        [b'.', _, _, _, _, _, _] => pair(9)? * 10_000 + pair(11)? * 100 + pair(13)?,
        _ => return None,
    };
    if hours > 23 || minutes > 59 || seconds > 59 {
        return None;
    }
    let sign = if text[at] == b'-' { -1 } else { 1 };
    Some((rest, (sign * (hours * 3600 + minutes * 60 + seconds), sign * micros)))
}

pub fn datetime(py: Python<'_>, text: &[u8]) -> Result<Read> {
    datetime_of(py, text).map(made)
}

fn datetime_of(py: Python<'_>, text: &[u8]) -> Result<Option<Owned>> {
    // Numbers without separators are points in time to `speedate`, but not here.
    let written = matches!(text.get(10), Some(b'T' | b't' | b' ')) && text.get(16) == Some(&b':');
    let (text, fine) = match written.then(|| fine_offset(&text[16..])).flatten() {
        Some((rest, offset)) => (&text[..16 + rest.len()], Some(offset)),
        None => (text, None),
    };
    let found = written.then(|| DateTime::parse_bytes_rfc3339_with_config(text, &CUT).ok()).flatten();
    let Some(found) = found else { return Ok(None) };
    let zone = zone(py, fine.or(found.time.tz_offset.map(|seconds| (seconds, 0)))).if_taken()?;
    let Some(zone) = zone else { return Ok(None) };
    let made = PyDateTime::new(
        py,
        i32::from(found.date.year),
        found.date.month,
        found.date.day,
        found.time.hour,
        found.time.minute,
        found.time.second,
        found.time.microsecond,
        zone.as_ref(),
    );
    if rounds_up(&text[16..]) {
        // There is no moment after the last one of the year 9999.
        let Some(made) = made.if_taken()? else { return Ok(None) };
        return owned(made.call_method1("__add__", (PyDelta::new(py, 0, 0, 1, true)?,)));
    }
    owned(made)
}

fn made(found: Option<Owned>) -> Read {
    found.map_or(Read::Malformed, Read::Made)
}

pub fn date(py: Python<'_>, text: &[u8]) -> Result<Read> {
    match Date::parse_bytes_rfc3339(text) {
        Ok(found) => owned(PyDate::new(py, i32::from(found.year), found.month, found.day)).map(made),
        Err(_) => Ok(Read::Malformed),
    }
}

pub fn time(py: Python<'_>, text: &[u8]) -> Result<Read> {
    time_of(py, text).map(made)
}

fn time_of(py: Python<'_>, text: &[u8]) -> Result<Option<Owned>> {
    let (text, fine) = match text.get(5..).and_then(fine_offset) {
        Some((rest, offset)) => (&text[..5 + rest.len()], Some(offset)),
        None => (text, None),
    };
    let found = (text.get(5) == Some(&b':')).then(|| Time::parse_bytes_with_config(text, &CUT).ok()).flatten();
    let Some(found) = found else { return Ok(None) };
    let zone = zone(py, fine.or(found.tz_offset.map(|seconds| (seconds, 0)))).if_taken()?;
    let Some(zone) = zone else { return Ok(None) };
    let seconds = (u64::from(found.hour) * 60 + u64::from(found.minute)) * 60 + u64::from(found.second);
    // The last moment of a day rounds up to the first one of a day.
    let micros = (seconds * 1_000_000 + u64::from(found.microsecond) + u64::from(rounds_up(&text[5..]))) % DAY;
    let (seconds, micro) = (micros / 1_000_000, (micros % 1_000_000) as u32);
    let (hour, minute, second) = (seconds / 3600, seconds / 60 % 60, seconds % 60);
    owned(PyTime::new(py, hour as u8, minute as u8, second as u8, micro, zone.as_ref()))
}

/// A duration of weeks, days, hours, minutes and seconds: each at most once, in this order, the last one possibly with
/// a fraction; rounded to microseconds. Years and months are refused, as their lengths vary.
pub fn timedelta(py: Python<'_>, text: &[u8]) -> Result<Read> {
    let (negative, rest) = match text {
        [b'-', rest @ ..] => (true, rest),
        [b'+', rest @ ..] | rest => (false, rest),
    };
    let [b'P' | b'p', rest @ ..] = rest else { return Ok(Read::Malformed) };
    Ok(match micros_of(rest) {
        Ok(Some(micros)) => {
            let (days, rest) = (micros / u128::from(DAY), (micros % u128::from(DAY)) as i64);
            let Ok(days) = i32::try_from(days) else { return Ok(Read::Beyond) };
            let (seconds, micros) = ((rest / 1_000_000) as i32, (rest % 1_000_000) as i32);
            let sign = if negative { -1 } else { 1 };
            match owned(PyDelta::new(py, sign * days, sign * seconds, sign * micros, true))? {
                Some(made) => Read::Made(made),
                None => Read::Beyond,
            }
        }
        Ok(None) => Read::Beyond,
        Err(()) => Read::Malformed,
    })
}

/// The microseconds of a duration, from the text behind its `P`; `None` if there are too many to count.
fn micros_of(mut text: &[u8]) -> std::result::Result<Option<u128>, ()> {
    const UNITS: [(u8, bool, u64); 5] = [
        (b'W', false, 7 * DAY),
        (b'D', false, DAY),
        (b'H', true, 3_600_000_000),
        (b'M', true, 60_000_000),
        (b'S', true, 1_000_000),
    ];
    let (mut total, mut next, mut in_time, mut last) = (Some(0u128), 0, false, false);
    if text.is_empty() {
        return Err(());
    }
    while !text.is_empty() {
        if let ([b'T' | b't', rest @ ..], false) = (text, in_time) {
            in_time = true;
            text = rest;
        }
        let (whole, rest) = digits(text);
        let (fraction, rest) = match rest {
            [b'.' | b',', rest @ ..] => digits(rest),
            rest => (&b"0"[..], rest),
        };
        let has_fraction = rest.len() + whole.len() != text.len();
        let [unit, rest @ ..] = rest else { return Err(()) };
        let unit = unit.to_ascii_uppercase();
        let found = UNITS[next..].iter().position(|&(name, of_time, _)| name == unit && of_time == in_time);
        // A unit with a fraction is the last one.
        let (false, false, false, Some(found)) = (whole.is_empty(), fraction.is_empty(), last, found) else {
            return Err(());
        };
        let micros = u128::from(UNITS[next + found].2);
        let number = |digits: &[u8]| {
            digits.iter().try_fold(0u128, |all, &digit| all.checked_mul(10)?.checked_add(u128::from(digit - b'0')))
        };
        // Further digits are below a thousandth of a microsecond, even in weeks.
        let fraction = &fraction[..fraction.len().min(18)];
        let parts = 10u128.pow(fraction.len() as u32);
        let part = number(fraction).map(|fraction| (fraction * micros * 2 + parts) / (parts * 2));
        let whole = number(whole).and_then(|whole| whole.checked_mul(micros));
        total =
            total.zip(whole).zip(part).and_then(|((total, whole), part)| total.checked_add(whole)?.checked_add(part));
        (next, last, text) = (next + found + 1, has_fraction, rest);
    }
    Ok(total)
}

/// The leading digits of a text, and the rest.
fn digits(text: &[u8]) -> (&[u8], &[u8]) {
    text.split_at(text.iter().position(|byte| !byte.is_ascii_digit()).unwrap_or(text.len()))
}

/// The moment that many seconds and nanoseconds after 1970-01-01, in UTC; rounded to the microsecond, or cut.
pub fn moment(seconds: i64, nanoseconds: u32, cut: bool) -> Result<Option<Owned>> {
    let rounded = if cut { nanoseconds } else { nanoseconds + 500 };
    let (seconds, nanoseconds) = match rounded.checked_sub(1_000_000_000) {
        Some(more) => (seconds.saturating_add(1), more),
        None => (seconds, rounded),
    };
    // SAFETY: importing the module imported the datetime API; its UTC object lives as long as the interpreter.
    let utc = unsafe { ffi::PyDateTime_TimeZone_UTC() };
    // SAFETY: see `utc`.
    match unsafe { moment_in(seconds, nanoseconds, utc) }? {
        // There is no moment after the last one of the year 9999: it is cut.
        None if rounded >= 1_000_000_000 => {
            // SAFETY: see `utc`.
            unsafe { moment_in(seconds - 1, 999_999_999, utc) }
        }
        made => Ok(made),
    }
}

/// The moment that many seconds and nanoseconds after 1970-01-01 UTC, cut to the microsecond; `None` outside of the
/// years 1 to 9999.
///
/// `zone` means UTC; None makes a datetime without a zone.
///
/// # Safety
/// `zone` is a live tzinfo or None.
pub unsafe fn moment_in(seconds: i64, nanoseconds: u32, zone: Obj) -> Result<Option<Owned>> {
    const SECONDS_OF_DAY: i64 = 86_400;
    // From 0001-01-01 to before 10000-01-01.
    if !(-62_135_596_800..253_402_300_800).contains(&seconds) {
        return Ok(None);
    }
    let (day, second) = (seconds.div_euclid(SECONDS_OF_DAY), seconds.rem_euclid(SECONDS_OF_DAY) as i32);
    let (year, month, day) = civil(day);
    // SAFETY: importing the module imported the datetime API; `zone` is alive by contract and the other arguments are
    // in its ranges, as `seconds` was checked.
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
/// Counts in eras of 400 years from March 1 of year 0, so that leap days come last: Howard Hinnant's `civil_from_days`
/// ("chrono-Compatible Low-Level Date Algorithms").
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

/// A timedelta as a duration of ISO 8601, in days and seconds: units whose length is fixed.
///
/// # Safety
/// `delta` is a timedelta.
pub unsafe fn duration_text(delta: &Bound<'_, PyAny>) -> String {
    let raw = delta.as_ptr();
    // SAFETY: `delta` is a timedelta by contract, and the `Bound` keeps it alive.
    let (days, seconds, micros) = unsafe {
        (
            i64::from(ffi::PyDateTime_DELTA_GET_DAYS(raw)),
            i64::from(ffi::PyDateTime_DELTA_GET_SECONDS(raw)),
            i64::from(ffi::PyDateTime_DELTA_GET_MICROSECONDS(raw)),
        )
    };
    // Python keeps the sign in the days alone; here it stands in front.
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

/// What `isoformat` gives for a date, or for a time or datetime without a zone.
pub struct IsoText {
    block: [u8; 26],
    len: usize,
}

impl IsoText {
    fn new() -> IsoText {
        IsoText { block: [0; 26], len: 0 }
    }

    pub fn bytes(&self) -> &[u8] {
        &self.block[..self.len]
    }

    /// Appends `number` in so many digits, behind `before`.
    fn put<const DIGITS: usize>(&mut self, before: &str, number: i32) {
        let mut digits = [b'0'; DIGITS];
        let mut rest = number.unsigned_abs();
        for digit in digits.iter_mut().rev() {
            *digit += (rest % 10) as u8;
            rest /= 10;
        }
        for part in [before.as_bytes(), &digits] {
            if let Some(to) = self.block.get_mut(self.len..self.len + part.len()) {
                to.copy_from_slice(part);
                self.len += part.len();
            }
        }
    }

    fn put_date(&mut self, year: i32, month: i32, day: i32) {
        self.put::<4>("", year);
        self.put::<2>("-", month);
        self.put::<2>("-", day);
    }

    fn put_time(&mut self, before: &str, [hour, minute, second, micros]: [i32; 4]) {
        self.put::<2>(before, hour);
        self.put::<2>(":", minute);
        self.put::<2>(":", second);
        if micros != 0 {
            self.put::<6>(".", micros);
        }
    }
}

/// What `isoformat` gives, without a call. `None`: it has a zone, or is of a subclass, whose own code says what the text is.
///
/// # Safety
/// `object` is a date, time or datetime, as `known` says; a datetime is none of these.
pub unsafe fn iso_text(object: Obj, known: Option<KnownType>) -> Option<IsoText> {
    let mut text = IsoText::new();
    // SAFETY: fields are read by the type, by the contract; importing the module imported the datetime API.
    unsafe {
        let api = &*ffi::PyDateTimeAPI();
        if ![api.DateType, api.TimeType, api.DateTimeType].contains(&ffi::Py_TYPE(object)) {
            return None;
        }
        match known {
            Some(KnownType::Time) => {
                if ffi::PyDateTime_TIME_GET_TZINFO(object) != ffi::Py_None() {
                    return None;
                }
                text.put_time(
                    "",
                    [
                        ffi::PyDateTime_TIME_GET_HOUR(object),
                        ffi::PyDateTime_TIME_GET_MINUTE(object),
                        ffi::PyDateTime_TIME_GET_SECOND(object),
                        ffi::PyDateTime_TIME_GET_MICROSECOND(object),
                    ],
                );
                return Some(text);
            }
            Some(_) => {}
            None if ffi::PyDateTime_DATE_GET_TZINFO(object) != ffi::Py_None() => return None,
            None => {}
        }
        text.put_date(
            ffi::PyDateTime_GET_YEAR(object),
            ffi::PyDateTime_GET_MONTH(object),
            ffi::PyDateTime_GET_DAY(object),
        );
        if known.is_none() {
            text.put_time(
                "T",
                [
                    ffi::PyDateTime_DATE_GET_HOUR(object),
                    ffi::PyDateTime_DATE_GET_MINUTE(object),
                    ffi::PyDateTime_DATE_GET_SECOND(object),
                    ffi::PyDateTime_DATE_GET_MICROSECOND(object),
                ],
            );
        }
    }
    Some(text)
}

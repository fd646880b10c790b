//! Dates and times: as they are, from ISO text, or from seconds with `strict=False`.

use super::{Given, Rules, Taken};
use crate::cpython::{float, Owned};
use crate::error::Result;
use crate::schema::time::{self, Read};
use pyo3::ffi;
use pyo3::intern;
use pyo3::prelude::*;

impl<'s> Rules<'s> {
    pub(super) fn datetime(&self, given: &Given<'_>, zone: Option<bool>) -> Result<Taken> {
        // SAFETY: importing the module imported the datetime API; `given` holds the object.
        if unsafe { ffi::PyDateTime_Check(given.object.get()) } != 0 {
            return self.zoned(given.object.clone(), zone, "datetime");
        }
        if given.textual {
            if let Read::Made(made) = time::datetime(self.py, given.ascii())? {
                return self.zoned(made, zone, "datetime");
            }
        }
        if let Some(seconds) = self.lax_seconds(given.object)? {
            // SAFETY: both functions read the object's type first; `seconds` holds it.
            let is_finite = unsafe { !float::is(seconds.get()) || float::value(seconds.get()).is_finite() };
            if !is_finite {
                return Ok(Taken::Broken("Invalid epoch timestamp".to_owned()));
            }
            let class = self.py.import("datetime")?.getattr("datetime")?;
            let utc = self.py.import("datetime")?.getattr("timezone")?.getattr("utc")?;
            let made = class.call_method1("fromtimestamp", (self.bound(&seconds), utc));
            return match self.made(made, "Timestamp is out of range")? {
                Taken::Yes(made) => self.zoned(made, zone, "datetime"),
                other => Ok(other),
            };
        }
        match given.textual {
            true => Ok(Taken::Broken("Invalid RFC3339 encoded datetime".to_owned())),
            false => Ok(Taken::No),
        }
    }

    pub(super) fn date(&self, given: &Given<'_>) -> Result<Taken> {
        // SAFETY: importing the module imported the datetime API; `given` holds the object.
        let is =
            unsafe { ffi::PyDate_Check(given.object.get()) != 0 && ffi::PyDateTime_Check(given.object.get()) == 0 };
        self.textual(is, given, time::date, "Invalid RFC3339 encoded date")
    }

    pub(super) fn time(&self, given: &Given<'_>, zone: Option<bool>) -> Result<Taken> {
        // SAFETY: importing the module imported the datetime API; `given` holds the object.
        let is = unsafe { ffi::PyTime_Check(given.object.get()) } != 0;
        match self.textual(is, given, time::time, "Invalid RFC3339 encoded time")? {
            Taken::Yes(made) => self.zoned(made, zone, "time"),
            other => Ok(other),
        }
    }

    pub(super) fn timedelta(&self, given: &Given<'_>) -> Result<Taken> {
        // SAFETY: importing the module imported the datetime API; `given` holds the object.
        let is = unsafe { ffi::PyDelta_Check(given.object.get()) } != 0;
        if let (false, Some(seconds)) = (is, self.lax_seconds(given.object)?) {
            let class = self.py.import("datetime")?.getattr("timedelta")?;
            return self.made(class.call1((0, self.bound(&seconds))), "Duration is out of range");
        }
        self.textual(is, given, time::timedelta, "Invalid ISO8601 duration")
    }

    /// An object of the type itself, or one made from text by `parse`.
    fn textual(
        &self,
        is: bool,
        given: &Given<'_>,
        parse: fn(Python<'_>, &[u8]) -> Result<Read>,
        why: &str,
    ) -> Result<Taken> {
        if is {
            return Ok(given.same());
        }
        if !given.textual {
            return Ok(Taken::No);
        }
        Ok(match parse(self.py, given.ascii())? {
            Read::Made(made) => Taken::Yes(made),
            Read::Malformed => Taken::Broken(why.to_owned()),
            Read::Beyond => Taken::Broken("Duration is out of range".to_owned()),
        })
    }

    /// Checks that there is a zone, or none, as the type demands.
    fn zoned(&self, made: Owned, zoned: Option<bool>, name: &str) -> Result<Taken> {
        if zoned.is_none() {
            return Ok(Taken::Yes(made));
        }
        let has = !self.bound(&made).getattr(intern!(self.py, "tzinfo"))?.is_none();
        Ok(match zoned {
            Some(true) if !has => Taken::Broken(format!("Expected `{name}` with a timezone component")),
            Some(false) if has => Taken::Broken(format!("Expected `{name}` with no timezone component")),
            _ => Taken::Yes(made),
        })
    }
}

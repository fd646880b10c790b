//! Reads a log record by record.

mod damage;
mod input;
mod part;

use crate::budget::chance::Chance;
use crate::budget::Allowance;
use crate::cpython::detached;
use crate::decode::dialect::Native;
use crate::decode::{self, small, Decoder, SharedWindow};
use crate::error::{door, door_giving};
use crate::error::{is_of_values, DecodeError, Fault};
use crate::io::log::reader::damage::Lost;
use crate::io::log::reader::input::Input;
use crate::io::log::reader::part::Part;
use crate::io::log::restarts::restart_before;
use crate::io::log::{Damage, InUse};
use crate::io::remote::Random;
use crate::io::streams::{Raised, Stream};
use crate::memory::Vec;
use crate::message::foreign::named_log;
use crate::message::limits::Limits;
use crate::message::load_args::LoadArgs;
use crate::message::options::Wanted;
use crate::types::resolver::is_skip;
use holdall_format::hold::frame::{self, Frame};
use holdall_format::hold::log::{self, Named, NamesReader, Next, Restart};
use holdall_format::hold::{tag, Reader};
use holdall_format::{Error, ErrorKind};
use pyo3::exceptions::{PyMemoryError, PyValueError};
use pyo3::prelude::*;
use std::ops::Range;
use std::time::Duration;

/// How long a followed log is left alone before it is asked again whether it has grown.
const PAUSE: Duration = Duration::from_millis(20);

#[derive(Clone, Copy, PartialEq, Eq)]
enum Repair {
    /// A damage is an error.
    None,
    /// The log ends at the first damage.
    Stop,
    /// Reading continues with the next intact frame.
    Skip,
}

/// Reads a log.
#[pyclass(module = "holdall")]
pub struct LogReader {
    state: InUse<State>,
    options: decode::Options,
    repair: Repair,
    follow: bool,
}

struct State {
    input: Input,
    /// The bytes that were read, and the offset at which they begin in the log.
    bytes: Vec<u8>,
    base: u64,
    /// Where the next frame begins in `bytes`.
    at: usize,
    /// Up to here the frames from `at` on are intact.
    intact: usize,
    started: bool,
    /// What records may still cost.
    allowance: Allowance,
    chance: Chance,
    window: SharedWindow,
    /// The number of that window.
    number: u64,
    /// The number of the next record.
    record: u64,
    /// If the frame with the last record's names is damaged, they are read from the record itself.
    last: Option<Last>,
    damage: Vec<Damage>,
    /// A damage whose end hasn't been found yet.
    lost: Option<Lost>,
    ended: bool,
    /// The program will pass in no more bytes.
    fed_whole: bool,
    /// It is a file that others may be writing to.
    is_followed: bool,
    /// If only a part of it is read.
    part: Option<Part>,
}

/// The message of the last record.
struct Last {
    /// In the bytes that were read, or in `unpacked`.
    at: Range<usize>,
    unpacked: Option<Vec<u8>>,
    /// The names known before it.
    named: Named,
}

fn place(at: u64) -> usize {
    usize::try_from(at).unwrap_or(usize::MAX)
}

/// The result of one step.
enum Step {
    Record(Py<PyAny>),
    /// Nothing yet, or nothing more.
    Pause,
    End,
    Again,
}

impl State {
    fn offset(&self) -> u64 {
        self.base + self.at as u64
    }

    /// Advances by one frame, or reads more of it. If memory runs out, the frame is read again next time.
    fn step(&mut self, py: Python<'_>, options: &decode::Options, repair: Repair, follow: bool) -> PyResult<Step> {
        let (offset, record) = (self.offset(), self.record);
        let (texts, shapes) = (self.window.texts(), self.window.shapes());
        let done = door(|| self.try_step(py, options, repair, follow));
        if done.as_ref().is_err_and(|error| error.is_instance_of::<PyMemoryError>(py)) && self.started {
            // The bytes that were dropped lie before the frame.
            self.at = place(offset - self.base);
            self.record = record;
            self.window.cut(texts, shapes);
        }
        done
    }

    fn try_step(&mut self, py: Python<'_>, options: &decode::Options, repair: Repair, follow: bool) -> PyResult<Step> {
        if self.ended {
            return Ok(Step::End);
        }
        if !self.started {
            return self.start(py, repair, follow);
        }
        if self.lost.is_none() && self.is_behind_part(py)? {
            self.ended = true;
            return Ok(Step::End);
        }
        if let Some(lost) = self.lost.take() {
            return self.look_on(py, repair, follow, lost);
        }
        match self.next() {
            Next::Frame(found) => self.frame(py, options, repair, found),
            Next::More(needed) => {
                // A damaged head may claim more than the file has: then nothing is read.
                let size = self.size(py)?;
                let left = size.map(|size| usize::try_from(size.saturating_sub(self.offset())).unwrap_or(usize::MAX));
                let have = self.bytes.len() - self.at;
                let is_there = have < frame::HEAD || left.is_none_or(|left| needed <= left);
                if is_there && self.read_frames(py, needed)? > 0 {
                    return Ok(Step::Again);
                }
                if self.may_grow(follow) {
                    return Ok(self.wait());
                }
                if have == 0 {
                    self.ended = true;
                    return Ok(Step::End);
                }
                let left = left.map_or(have, |left| left.max(have));
                let end = place(self.offset()).saturating_add(left);
                let error = Error::new(ErrorKind::Truncated { needed: needed.saturating_sub(left) }, end);
                match repair {
                    // The log is cut short, or the length is wrong and frames follow.
                    Repair::Skip => self.lose(py, error),
                    _ => self.end(py, repair, self.offset(), &error),
                }
            }
            Next::Damaged(error, damaged) => {
                let may_be_cut = self.is_followed;
                match damaged {
                    // The next writer may cut off a damaged last frame.
                    Some(frame) if may_be_cut && frame.end >= self.bytes.len() => match self.read(py, 0)? {
                        0 => Ok(self.wait()),
                        _ => Ok(Step::Again),
                    },
                    None if may_be_cut || repair == Repair::Skip => self.lose(py, error),
                    Some(frame) if repair == Repair::Skip => {
                        self.record += u64::from(frame.head.kind == tag::RECORD);
                        self.pass(repair, frame.end, &error)
                    }
                    Some(frame) => {
                        self.ended = true;
                        self.damaged(repair, self.offset(), self.base + frame.end as u64, &error)?;
                        Ok(Step::End)
                    }
                    None => self.end(py, repair, self.offset(), &error),
                }
            }
        }
    }

    fn frame(&mut self, py: Python<'_>, options: &decode::Options, repair: Repair, found: Frame) -> PyResult<Step> {
        let begins = self.at;
        self.at = found.end;
        let unpacked = log::unpacked(&self.bytes, &found).map_err(|error| Fault::from(error).into_py(0))?;
        match found.head.kind {
            tag::RECORD => self.record(py, options, repair, begins, found.body, unpacked),
            tag::NAMES => {
                let body = unpacked.unwrap_or_else(|| Vec::from(&self.bytes[found.body]));
                self.learn(py, options, &body)?;
                Ok(Step::Again)
            }
            _ => {
                let body = unpacked.as_deref().unwrap_or(&self.bytes[found.body]);
                if let Ok(restart) = Restart::parse(body, 0) {
                    self.record = restart.record;
                    self.begin(restart.number);
                }
                Ok(Step::Again)
            }
        }
    }

    fn start(&mut self, py: Python<'_>, repair: Repair, follow: bool) -> PyResult<Step> {
        if let Some(range) = self.part.as_ref().map(|part| part.range.clone()).filter(|range| range.start > 0) {
            return self.start_part(py, range);
        }
        if self.bytes.len() < frame::START {
            if self.read(py, frame::START)? > 0 {
                return Ok(Step::Again);
            }
            if self.may_grow(follow) {
                return Ok(Step::Pause);
            }
            self.ended = true;
            let len = self.bytes.len();
            if len > 0 || repair == Repair::None {
                let error = Error::new(ErrorKind::Truncated { needed: frame::START - len }, len);
                let damaged = self.damaged(repair, 0, len as u64, &error);
                damaged.map_err(|error| named_log(py, error, &self.bytes))?;
            }
            return Ok(Step::End);
        }
        self.started = true;
        match frame::parse_start(&self.bytes) {
            Ok(tag::FILE_LOG) => self.at = frame::START,
            Ok(_) => {
                self.ended = true;
                let why = "a file of one graph, no log of records: load it with holdall.load";
                return Err(Fault::from(Error::new(ErrorKind::BadFile { why }, 5)).into_py(0));
            }
            Err(error) if repair == Repair::Skip => return self.pass(repair, frame::START, &error),
            Err(error) => {
                let ended = self.end(py, repair, 0, &error);
                return ended.map_err(|error| named_log(py, error, &self.bytes));
            }
        }
        Ok(Step::Again)
    }

    /// Begins a shared window, without names.
    fn begin(&mut self, number: u64) {
        self.number = number;
        self.window.clear();
        self.last = None;
    }

    fn named(&self) -> Named {
        Named { window: self.number, texts: self.window.texts(), shapes: self.window.shapes() }
    }

    /// Whether the known names are those.
    fn has(&self, window: u64, named: u64) -> bool {
        window == self.number && named == self.window.named()
    }

    /// Learns the names of the record before, if they are new.
    fn learn(&mut self, py: Python<'_>, options: &decode::Options, body: &[u8]) -> PyResult<()> {
        let Ok(mut names) = NamesReader::new(body) else { return Ok(()) };
        if names.window != self.number && names.named == 0 {
            self.begin(names.window);
        }
        if !self.has(names.window, names.named) {
            return Ok(());
        }
        // SAFETY: `py` proves that the GIL is held.
        let mut decoder = unsafe { Decoder::new(py, Native::new(), names.reader(), options, None) };
        match decoder.learn_names(&mut self.window, &mut names).map_err(|fault| fault.into_py(0)) {
            // Names that can't be read are reported where they are used.
            Err(error) if error.is_instance_of::<DecodeError>(py) => Ok(()),
            learnt => learnt,
        }
    }

    fn record(
        &mut self,
        py: Python<'_>,
        options: &decode::Options,
        repair: Repair,
        begins: usize,
        range: Range<usize>,
        unpacked: Option<Vec<u8>>,
    ) -> PyResult<Step> {
        let begin = self.base as usize + range.start;
        let body = unpacked.as_deref().unwrap_or(&self.bytes[range.clone()]);
        let (window, named, message) =
            log::record(body).map_err(|error| Fault::from(error.shifted(begin)).into_py(0))?;
        let head = body.len() - message.len();
        self.allowance.add(frame::HEAD + body.len());
        if !self.has(window, named) {
            self.catch_up(py, options, window, named)?;
        }
        if !self.has(window, named) {
            let why = "a record that needs names of a lost one";
            let error = Error::new(ErrorKind::BadFile { why }, self.base as usize + begins);
            self.damaged(repair, self.base + begins as u64, self.offset(), &error)?;
            self.record += 1;
            self.ended = repair == Repair::Stop;
            return Ok(Step::Again);
        }
        self.record += 1;
        let base = begin + head;
        let message = &unpacked.as_deref().unwrap_or(&self.bytes[range.clone()])[head..];
        let reader = || Reader::new(message, options.trust).map_err(|error| Fault::from(error).into_py(base));
        let small = match options.trust {
            // SAFETY: `py` proves that the GIL is held.
            false => unsafe { small::made_by(&mut reader()?, options, self.window.before(), &self.chance) },
            true => None,
        };
        let made = match small {
            Some(made) => Ok(made),
            None => {
                // SAFETY: as above.
                let mut decoder = unsafe { Decoder::new(py, Native::new(), reader()?, options, None) };
                decoder.may_leave_out_root = true;
                let made = decoder.log_record(&mut self.window, &mut self.allowance);
                decoder.done_with();
                made
            }
        };
        let at = match &unpacked {
            Some(body) => head..body.len(),
            None => range.start + head..range.end,
        };
        self.last = Some(Last { at, unpacked, named: self.named() });
        let made = made.map_err(|fault| fault.into_py(base))?;
        if is_skip(made.get()) {
            return Ok(Step::Again);
        }
        // SAFETY: `made` is a reference of ours, which the `Bound` takes over.
        Ok(Step::Record(unsafe { Bound::from_owned_ptr(py, made.into_raw()) }.unbind()))
    }

    /// Finds names that a record needs. If the restart of a shared window is lost, there are none yet; the names of a
    /// damaged frame are also in the record before it.
    fn catch_up(&mut self, py: Python<'_>, options: &decode::Options, window: u64, named: u64) -> PyResult<()> {
        if named == 0 && window != self.number {
            self.begin(window);
            return Ok(());
        }
        let Some(last) = self.last.as_ref().filter(|last| last.named == self.named()) else { return Ok(()) };
        let message = &last.unpacked.as_ref().unwrap_or(&self.bytes)[last.at.clone()];
        if let Ok(Some((names, _))) = log::names_body(last.named, message) {
            self.learn(py, options, &names)?;
        }
        Ok(())
    }

    /// Goes to a record, from the nearest restart before it.
    fn seek(&mut self, py: Python<'_>, record: u64) -> PyResult<()> {
        let Input::File(file) = &self.input else {
            return Err(PyValueError::new_err("only a log that is opened by its path can be sought in"));
        };
        if self.part.is_some() {
            return Err(PyValueError::new_err("a part of a log can't be sought in"));
        }
        let mut raised = Raised::default();
        let found = detached(py, || {
            let size = file.size(&mut raised)?;
            restart_before(|at, len| file.read_at(at, len, &mut raised), size, record)
        });
        let found = found.map_err(|error| raised.or(&error))?;
        (self.base, self.record) = found.map_or((0, 0), |restart| (restart.at, restart.record));
        self.bytes.clear();
        (self.at, self.intact, self.started, self.ended, self.lost) = (0, 0, self.base > 0, false, None);
        self.begin(0);
        Ok(())
    }
}

#[pymethods]
impl LogReader {
    /// source: a descriptor, which is closed with the log; an object with `size` and `read_at`; a function that fills a buffer; or None,
    /// if bytes are fed. part: the offsets at which a part begins and ends.
    #[new]
    #[pyo3(signature = (source, /, *, repair, follow, part, r#type, types, trust, strict, dec_hook, resolver, limits))]
    #[allow(clippy::too_many_arguments)]
    fn new(
        source: Option<&Bound<'_, PyAny>>,
        repair: Option<&str>,
        follow: bool,
        part: Option<(u64, u64)>,
        r#type: Wanted<'_>,
        types: Option<&Bound<'_, PyAny>>,
        trust: bool,
        strict: bool,
        dec_hook: Option<&Bound<'_, PyAny>>,
        resolver: Option<&Bound<'_, PyAny>>,
        limits: Option<&Limits>,
    ) -> PyResult<LogReader> {
        door(|| {
            let repair = match repair {
                None => Repair::None,
                Some("stop") => Repair::Stop,
                Some("skip") => Repair::Skip,
                Some(_) => return Err(PyValueError::new_err("repair: expected None, \"stop\" or \"skip\"")),
            };
            let input = match source {
                None => Input::Fed,
                Some(source) => match Random::of(source)? {
                    Some(file) => Input::File(file),
                    None => Input::Stream(Stream::new(source)?),
                },
            };
            let is_followed = follow && matches!(&input, Input::File(file) if file.may_grow());
            if part.is_some() && (follow || repair == Repair::Stop || !matches!(input, Input::File(_))) {
                return Err(PyValueError::new_err(
                    "part: expected a log that is opened by its path, neither followed nor with repair=\"stop\"",
                ));
            }
            let state = State {
                input,
                bytes: Vec::new(),
                base: 0,
                at: 0,
                intact: 0,
                started: false,
                allowance: Allowance::default(),
                chance: Chance::new(),
                window: SharedWindow::default(),
                number: 0,
                record: 0,
                last: None,
                damage: Vec::new(),
                lost: None,
                ended: false,
                fed_whole: false,
                is_followed,
                part: part.map(|(start, end)| Part { range: start..end, limit: None }),
            };
            let options = LoadArgs { wanted: &r#type, types, trust, strict, dec_hook, resolver, limits }.hold()?;
            Ok(LogReader { state: InUse::new(state), options, repair, follow })
        })
    }

    fn __iter__(slf: PyRef<'_, Self>) -> PyRef<'_, Self> {
        slf
    }

    fn __next__(&self, py: Python<'_>) -> PyResult<Option<Py<PyAny>>> {
        if let Some(record) = self.state.at_once(|state| state.small_record(py, &self.options)) {
            return Ok(Some(record));
        }
        door(|| loop {
            match self.state.with(|state| state.step(py, &self.options, self.repair, self.follow))? {
                Step::Record(object) => return Ok(Some(object)),
                Step::End => return Ok(None),
                Step::Again => {}
                Step::Pause if !self.follow => return Ok(None),
                Step::Pause => {
                    detached(py, || std::thread::sleep(PAUSE));
                    py.check_signals()?;
                    if self.state.is_closed() {
                        return Ok(None);
                    }
                }
            }
        })
    }

    /// Go to the record with that number, which is read next. Beyond the last record, there is none.
    fn seek(&self, py: Python<'_>, record: u64) -> PyResult<()> {
        door(|| {
            self.state.with(|state| state.seek(py, record))?;
            // Within the window every record is read, because later ones refer to its names.
            while self.state.with(|state| Ok(state.record < record && !state.ended))? {
                match self.state.with(|state| state.step(py, &self.options, self.repair, false)) {
                    Ok(Step::Pause | Step::End) => break,
                    Ok(_) => {}
                    // An error in a record that nobody asked for doesn't matter; damage does.
                    Err(error) if self.state.with(|state| Ok(state.ended))? => return Err(error),
                    Err(error) if !is_of_values(py, &error) => return Err(error),
                    Err(_) => {}
                }
            }
            Ok(())
        })
    }

    fn feed(&self, data: &Bound<'_, PyAny>) -> PyResult<()> {
        door(|| {
            let view = crate::cpython::View::new(data)?;
            self.state.with(|state| match state.input {
                Input::Fed => {
                    state.bytes.extend_from_slice(view.as_slice());
                    state.ended = false;
                    Ok(())
                }
                _ => Err(PyValueError::new_err("only a Reader of None can be fed")),
            })
        })
    }

    /// Say that no more bytes will be fed.
    fn end(&self) -> PyResult<()> {
        door(|| {
            self.state.with(|state| {
                state.fed_whole = true;
                Ok(())
            })
        })
    }

    #[getter]
    fn record(&self, py: Python<'_>) -> PyResult<Py<PyAny>> {
        door_giving(py, || self.state.with(|state| Ok(state.record)))
    }

    #[getter]
    fn damage(&self, py: Python<'_>) -> PyResult<Py<PyAny>> {
        door_giving(py, || self.state.with(|state| Ok(state.damage.clone().into_std())))
    }

    fn close(&self) {
        self.state.close();
    }
}

//! Appends records to a log.

use crate::cpython::detached;
use crate::encode::scratch::with_scratch;
use crate::encode::{self, Encoder, SharedWindow, Tables};
use crate::error::{self, Detour, Fault};
use crate::error::{door, door_giving, guarded};
use crate::io::descriptor::Descriptor;
use crate::io::files::compression;
use crate::io::log::restarts::{last_restart, restart_at};
use crate::io::log::InUse;
use crate::io::streams::{os_error, Raised, Sink};
use crate::memory::{HashMap, Vec};
use crate::message::options;
use holdall_format::hold::codec::Compression;
use holdall_format::hold::log::{self, Named, Next, Restart};
use holdall_format::hold::{frame, tag, Writer};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::IntoPyObjectExt;

/// The size at which a shared window ends. It bounds what is read to reach a record, and how many names are kept.
const WINDOW: u64 = 1 << 20;
/// How much is buffered, unless every record is written at once.
const WAITING: usize = 1 << 18;

#[derive(Clone, Copy, PartialEq, Eq)]
enum Sync {
    Always,
    Batch,
    Never,
}

/// Appends records.
#[pyclass(module = "holdall")]
pub struct LogWriter {
    state: InUse<State>,
    options: encode::Options,
    compression: Option<Compression>,
    sync: Sync,
}

struct State {
    sink: Sink,
    /// Complete frames that are not written yet; the first one belongs at offset `written`.
    waiting: Vec<u8>,
    written: u64,
    /// Something was written that is not on the disk yet.
    unsynced: bool,
    records: u64,
    tables: Box<Tables>,
    /// A record called the program's code, so reference counts no longer tell which objects can't be met again.
    tracks_all: bool,
    /// `None` before the first record and after a failure: the next record begins a window.
    window: Option<SharedWindow>,
    began: u64,
    named: Named,
    last: Option<Restart>,
    restarts: HashMap<u64, u64>,
    /// A failed write left a partial frame that can't be cut off, so nothing can follow.
    broken: bool,
    cut: u64,
}

// SAFETY: it belongs to a Python object, and is used and dropped with the GIL held, as its Python objects need.
unsafe impl Send for State {}

impl State {
    fn at(&self) -> u64 {
        self.written + self.waiting.len() as u64
    }

    fn restart(&mut self) {
        let at = self.at();
        let number = self.last.as_ref().map_or(0, |last| last.number + 1);
        let before = self
            .last
            .as_ref()
            .map_or(Vec::new(), |last| last.known_to(number, |number| self.restarts.get(&number).copied()));
        log::put_restart(&mut self.waiting, at, self.records, number, &before);
        self.restarts.insert(number, at);
        self.last = Some(Restart { at, record: self.records, number, before });
        self.window = Some(SharedWindow::begin(&mut self.tables));
        (self.began, self.named) = (at, Named { window: number, ..Named::default() });
    }

    /// Buffers a record. After an error nothing has changed, except that the next record begins a window.
    fn put(
        &mut self,
        obj: &Bound<'_, PyAny>,
        options: &encode::Options,
        how: Option<Compression>,
    ) -> Result<(), Fault> {
        let before = (self.waiting.len(), self.last.clone());
        let put = guarded(|| self.try_put(obj, options, how));
        if let Err(fault) = &put {
            self.take_back(before.clone());
            if fault.detour() == Some(Detour::TrackAll) && !self.tracks_all {
                // The records of a log are alike, so the next ones begin in this way.
                self.tracks_all = true;
                let put = guarded(|| self.try_put(obj, options, how));
                if put.is_err() {
                    self.take_back(before);
                }
                return put;
            }
        }
        put
    }

    fn take_back(&mut self, before: (usize, Option<Restart>)) {
        self.waiting.truncate(before.0);
        if let (Some(now), true) = (&self.last, self.last != before.1) {
            self.restarts.remove(&now.number);
        }
        self.last = before.1;
        self.window = None;
    }

    fn try_put(
        &mut self,
        obj: &Bound<'_, PyAny>,
        options: &encode::Options,
        how: Option<Compression>,
    ) -> Result<(), Fault> {
        if self.written == 0 && self.waiting.is_empty() {
            self.waiting.extend_from_slice(&log::start());
        }
        if self.window.is_none() || self.at() - self.began >= WINDOW {
            self.restart();
        }
        let Some(window) = self.window.take() else { return Ok(()) };
        let mut detour = None;
        let put = with_scratch(obj.py(), |scratch| {
            let writer = Writer::new(&mut scratch.output, options.trust);
            // SAFETY: `obj` proves that the GIL is held; the tables belong to this log alone.
            let mut encoder = unsafe { Encoder::of_window(obj.py(), writer, options, &mut self.tables, window) };
            if self.tracks_all {
                encoder.track_all();
            }
            let written = encoder.message(obj.as_ptr());
            if let Err(fault) = written {
                detour = fault.detour();
                return Err(fault);
            }
            self.window = encoder.into_window();
            let message = scratch.output.as_slice();
            let at = self.written + self.waiting.len() as u64;
            log::put_record(&mut self.waiting, at, self.named, message, how);
            let at = self.written + self.waiting.len() as u64;
            self.named = log::put_names(&mut self.waiting, at, self.named, message)?;
            Ok(())
        });
        match detour {
            Some(way) => Err(error::detour(way)),
            None => put.map_err(Fault::from),
        }
    }

    /// Writes what is buffered. If only a part could be written, it is cut off again and stays buffered.
    fn write(&mut self, py: Python<'_>) -> PyResult<()> {
        if self.broken {
            return Err(PyValueError::new_err("an earlier write failed, and what it left could not be taken back"));
        }
        if self.waiting.is_empty() {
            return Ok(());
        }
        let mut raised = Raised::default();
        let (sink, waiting, at) = (&mut self.sink, &self.waiting, self.written);
        let written = door(|| {
            detached(py, || sink.write_at(waiting, at, &mut raised))
                .map_err(|error| std::mem::take(&mut raised).or(&error))
        });
        if let Err(error) = written {
            self.broken = detached(py, || self.sink.cut(self.written)).is_err();
            return Err(error);
        }
        self.written += self.waiting.len() as u64;
        self.waiting.clear();
        self.unsynced = true;
        Ok(())
    }

    fn sync(&mut self, py: Python<'_>) -> PyResult<()> {
        if self.unsynced {
            let mut raised = Raised::default();
            let sink = &mut self.sink;
            door(|| detached(py, || sink.sync(&mut raised)).map_err(|error| std::mem::take(&mut raised).or(&error)))?;
            self.unsynced = false;
        }
        Ok(())
    }
}

#[pymethods]
impl LogWriter {
    /// sink: a descriptor, which is closed with the log, or a function that accepts all bytes that it is given. append:
    /// continue the descriptor's log. flush: a function that puts what was written on the disk.
    #[new]
    #[pyo3(signature = (sink, /, *, append, sync, refs, trust, enc_hook, compress, flush = None))]
    #[allow(clippy::too_many_arguments)]
    fn new(
        sink: &Bound<'_, PyAny>,
        append: bool,
        sync: &str,
        refs: bool,
        trust: bool,
        enc_hook: Option<&Bound<'_, PyAny>>,
        compress: Option<&Bound<'_, PyAny>>,
        flush: Option<Py<PyAny>>,
    ) -> PyResult<LogWriter> {
        door(|| {
            let py = sink.py();
            let sync = match sync {
                "always" => Sync::Always,
                "batch" => Sync::Batch,
                "never" => Sync::Never,
                _ => return Err(PyValueError::new_err("sync: expected \"always\", \"batch\" or \"never\"")),
            };
            let sink = match Descriptor::of(sink, true)? {
                Some(descriptor) => Sink::Descriptor(descriptor),
                None => Sink::Function(sink.clone().unbind(), flush),
            };
            let mut state = State {
                sink,
                waiting: Vec::new(),
                written: 0,
                unsynced: false,
                records: 0,
                tables: Box::new(Tables::new()),
                tracks_all: false,
                window: None,
                began: 0,
                named: Named::default(),
                last: None,
                restarts: HashMap::new(),
                broken: false,
                cut: 0,
            };
            if let (Sink::Descriptor(file), true) = (&state.sink, append) {
                let end = detached(py, || End::find(file)).map_err(|error| match error {
                    EndError::Io(error) => os_error(&error),
                    EndError::Bytes(error) => Fault::from(error).into_py(0),
                })?;
                if end.size > end.at {
                    detached(py, || file.cut(end.at)).map_err(|error| os_error(&error))?;
                }
                (state.written, state.records, state.cut) = (end.at, end.records, end.size - end.at);
                (state.last, state.restarts) = (end.last, end.restarts);
            }
            let options = options::encoding(refs, false, trust, false, enc_hook)?;
            Ok(LogWriter { state: InUse::new(state), options, compression: compression(compress)?, sync })
        })
    }

    /// Append a record; returns its number.
    fn write(&self, obj: &Bound<'_, PyAny>) -> PyResult<Py<PyAny>> {
        door(|| {
            let py = obj.py();
            self.state.with(|state| {
                // Made first: a failure after writing would say that the record isn't there.
                let number = state.records.into_py_any(py)?;
                let before = (state.waiting.len(), state.last.clone());
                state.put(obj, &self.options, self.compression).map_err(|fault| fault.into_py(0))?;
                let window_ended = state.at() - state.began >= WINDOW;
                if self.sync == Sync::Always || state.waiting.len() >= WAITING || window_ended {
                    let from = state.written;
                    if let Err(error) = state.write(py) {
                        // Earlier records stay buffered; this one isn't, as the caller knows that it failed.
                        state.take_back(before);
                        return Err(error);
                    }
                    if self.sync == Sync::Always {
                        if let Err(error) = state.sync(py) {
                            // It isn't on the disk: the caller may write it again.
                            state.broken = detached(py, || state.sink.cut(from)).is_err();
                            state.written = from;
                            state.take_back((0, before.1));
                            return Err(error);
                        }
                    }
                }
                if self.sync == Sync::Batch && window_ended {
                    // An error is reported by the next `flush`.
                    let _ = state.sync(py);
                }
                state.records += 1;
                Ok(number)
            })
        })
    }

    /// Write what is buffered; unless `sync="never"`, wait until it is on the disk.
    fn flush(&self, py: Python<'_>) -> PyResult<()> {
        door(|| {
            self.state.with(|state| {
                if state.written == 0 && state.waiting.is_empty() {
                    state.waiting.extend_from_slice(&log::start());
                }
                state.write(py)?;
                if self.sync == Sync::Never {
                    return Ok(());
                }
                state.sync(py)
            })
        })
    }

    /// Release everything, written or not.
    fn close(&self) {
        self.state.close();
    }

    #[getter]
    fn records(&self, py: Python<'_>) -> PyResult<Py<PyAny>> {
        door_giving(py, || self.state.with(|state| Ok(state.records)))
    }

    #[getter]
    fn cut(&self, py: Python<'_>) -> PyResult<Py<PyAny>> {
        door_giving(py, || self.state.with(|state| Ok(state.cut)))
    }
}

/// The end of a log that is to be continued.
struct End {
    /// The end of the last intact frame.
    at: u64,
    size: u64,
    records: u64,
    last: Option<Restart>,
    restarts: HashMap<u64, u64>,
}

enum EndError {
    Io(std::io::Error),
    Bytes(holdall_format::Error),
}

impl From<std::io::Error> for EndError {
    fn from(error: std::io::Error) -> Self {
        EndError::Io(error)
    }
}

impl From<holdall_format::Error> for EndError {
    fn from(error: holdall_format::Error) -> Self {
        EndError::Bytes(error)
    }
}

impl End {
    fn find(file: &Descriptor) -> Result<End, EndError> {
        let size = file.size()?;
        let mut end = End { at: 0, size, records: 0, last: None, restarts: HashMap::new() };
        if size < frame::START as u64 {
            // A file that was cut short within its first bytes is begun anew; other bytes are not a log.
            let start = file.read_at(0, frame::START)?;
            if !log::start().starts_with(&start) {
                let why = "not a log: it does not begin with HOLD";
                return Err(holdall_format::Error::new(holdall_format::ErrorKind::BadFile { why }, 0).into());
            }
            return Ok(end);
        }
        if frame::parse_start(&file.read_at(0, frame::START)?)? != tag::FILE_LOG {
            let why = "a file of one graph, no log of records: write to another";
            return Err(holdall_format::Error::new(holdall_format::ErrorKind::BadFile { why }, 5).into());
        }
        end.at = frame::START as u64;
        let read = |at, len| file.read_at(at, len);
        let last = last_restart(read, size)?;
        let (mut bytes, base) = match &last {
            Some(last) => (file.read_at(last.at, usize::try_from(size - last.at).unwrap_or(usize::MAX))?, last.at),
            None => (file.read_at(end.at, usize::try_from(size - end.at).unwrap_or(usize::MAX))?, end.at),
        };
        let (mut place, mut lost) = (0, 0);
        if let Some(last) = &last {
            (end.records, end.at) = (last.record, last.at);
        }
        loop {
            match log::next(&bytes, place, base) {
                Next::Frame(frame) => {
                    end.records += lost + u64::from(frame.head.kind == tag::RECORD);
                    lost = 0;
                    place = frame.end;
                    end.at = base + place as u64;
                }
                // Passed over if intact frames follow; else it may be what a crash left of the last frame.
                Next::Damaged(_, Some(damaged)) => {
                    lost += u64::from(damaged.head.kind == tag::RECORD);
                    place = damaged.end;
                }
                Next::More(_) | Next::Damaged(_, None) => match log::find(&bytes, place + 1, base) {
                    Some(frame) => place = frame.at,
                    None => break,
                },
            }
        }
        bytes.clear();
        // All restarts by number: each knows the one before it.
        let mut walk = last.clone();
        while let Some(restart) = walk {
            end.restarts.insert(restart.number, restart.at);
            walk = match restart.before.first() {
                Some(&at) if at < restart.at => restart_at(read, at)?,
                _ => None,
            };
        }
        end.last = last;
        Ok(end)
    }
}

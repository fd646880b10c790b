//! Paths of `pathlib`, read and made without its code, which takes each text apart by regular Python. Where a class doesn't keep its
//! paths as it is known to, its constructor and its `str` are used.

use crate::classes::{plan, state};
#[cfg(not(Py_3_12))]
use crate::cpython::replace;
use crate::cpython::{held, owned, text, Obj, Owned};
use crate::error::{raised, Result};
use crate::types::library::Library;
use pyo3::ffi;
#[cfg(not(Py_3_12))]
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::{PyString, PyType};

/// What a new path has: up to 3.11 its parts, since then the text that it was made of.
#[cfg(not(Py_3_12))]
const MADE: [&[u8]; 3] = [b"_drv", b"_root", b"_parts"];
#[cfg(Py_3_12)]
const MADE: [&[u8]; 1] = [b"_raw_paths"];
/// In paths with more parts than this, equal parts are one object, as in those that the classes make.
pub const SEVERAL: usize = 16;
/// What a path keeps once somebody has asked for its text.
const TEXT: &[u8] = b"_str";

/// Where a class keeps its paths.
struct Layout {
    class: Owned,
    #[cfg_attr(Py_3_12, allow(dead_code))] // not asked by versions that don't take texts apart
    is_windows: bool,
    made: [usize; MADE.len()],
    text: usize,
}

static LAYOUTS: [PyOnceLock<Option<Layout>>; 3] = [const { PyOnceLock::new() }; 3];

/// The layout of one of the classes that exist on every system. `None`: it isn't known.
fn layout(py: Python<'_>, class: Library) -> Result<Option<&Layout>> {
    let place = match class {
        Library::PurePosixPath => &LAYOUTS[0],
        Library::PosixPath => &LAYOUTS[1],
        Library::PureWindowsPath => &LAYOUTS[2],
        _ => return Ok(None),
    };
    if place.get(py).is_none() {
        let found = find(class.get(py)?, matches!(class, Library::PureWindowsPath))?;
        return Ok(place.get_or_init(py, || found).as_ref());
    }
    Ok(place.get(py).and_then(Option::as_ref))
}

/// Finds a class's slots, and looks at a path that its constructor made: whether exactly those are set that are set here.
#[cold]
fn find(class: &Bound<'_, PyType>, is_windows: bool) -> Result<Option<Layout>> {
    let py = class.py();
    // SAFETY: a `PyType` is a class.
    let plan = unsafe { plan::of(py, class.as_ptr().cast())? };
    if plan.has_dict || !plan.is_bare() {
        return Ok(None);
    }
    // SAFETY: names of slots are strings.
    let place = |name: &[u8]| plan.slots.iter().find(|slot| unsafe { text::ascii(slot.name.get()) } == Some(name));
    let mut made = [0; MADE.len()];
    for (offset, name) in made.iter_mut().zip(MADE) {
        let Some(slot) = place(name) else { return Ok(None) };
        *offset = slot.offset;
    }
    let Some(kept) = place(TEXT) else { return Ok(None) };
    let layout = Layout { class: owned(class.as_any()), is_windows, made, text: kept.offset };
    for sample in [".", "a", "a b/c", "/", "/a/b", "\\a", "C:\\", "C:\\a\\b.c", "\u{e4}/\u{4e00}", "\u{e4}\\\u{4e00}"] {
        let by_class = class.call1((sample,))?;
        let Some(by_hand) = make(&layout, &PyString::new(py, sample))? else { continue };
        let by_hand = held(py, &by_hand);
        for slot in &plan.slots {
            // SAFETY: both are instances of the class with these slots, which hold objects or nothing.
            let [theirs, ours] = [&by_class, &by_hand]
                .map(|path| unsafe { Bound::from_borrowed_ptr_or_opt(py, state::slot(path.as_ptr(), slot.offset)) });
            let same = match (theirs, ours) {
                (Some(theirs), Some(ours)) => theirs.eq(ours)?,
                (theirs, ours) => theirs.is_none() && ours.is_none(),
            };
            if !same {
                return Ok(None);
            }
        }
    }
    Ok(Some(layout))
}

/// A path in the form in which `str` gives it. `None`: its class has to take the text apart.
pub fn of_text(py: Python<'_>, class: Library, text: &Bound<'_, PyString>) -> Result<Option<Owned>> {
    match layout(py, class)? {
        Some(layout) => make(layout, text),
        None => Ok(None),
    }
}

/// The text of a path, if somebody has asked for it before.
pub fn known_text<'py>(object: &Bound<'py, PyAny>, class: Library) -> Result<Option<Bound<'py, PyString>>> {
    let Some(layout) = layout(object.py(), class)? else { return Ok(None) };
    // SAFETY: the slot is read only if the object is an instance of the class from which its place comes.
    let kept = unsafe {
        if ffi::Py_TYPE(object.as_ptr()).cast() != layout.class.get() {
            return Ok(None);
        }
        Bound::from_borrowed_ptr_or_opt(object.py(), state::slot(object.as_ptr(), layout.text))
    };
    Ok(kept.and_then(|kept| kept.cast_into_exact::<PyString>().ok()))
}

fn make(layout: &Layout, text: &Bound<'_, PyString>) -> Result<Option<Owned>> {
    // SAFETY: the `Bound` says that the GIL is held. The slots of a new instance are empty.
    unsafe {
        let Some(values) = values(layout, text.as_ptr())? else { return Ok(None) };
        let made = state::allocate(layout.class.get().cast(), 0)?;
        for (offset, value) in layout.made.iter().zip(values) {
            *state::slot_mut(made.get(), *offset) = value.into_raw();
        }
        Ok(Some(made))
    }
}

/// # Safety
/// `text` is a string, and the GIL held.
#[cfg(Py_3_12)]
unsafe fn values(_: &Layout, text: Obj) -> Result<Option<[Owned; MADE.len()]>> {
    // SAFETY: by the contract; the new list has one item.
    unsafe {
        let list = Owned::new(ffi::PyList_New(1)).ok_or_else(raised)?;
        ffi::PyList_SET_ITEM(list.get(), 0, Owned::borrowed(text).into_raw());
        Ok(Some([list]))
    }
}

/// Drive, root and parts. `None`: the text isn't what `str` gives, or has a drive of a rare form.
///
/// # Safety
/// `text` is a string, and the GIL held.
#[cfg(not(Py_3_12))]
unsafe fn values(layout: &Layout, text: Obj) -> Result<Option<[Owned; MADE.len()]>> {
    // SAFETY: what a function of the API returned is a new reference or null.
    let made = |object: Obj| unsafe { Owned::new(object) }.ok_or_else(raised);
    // SAFETY: by the contract. `items` is the array of a list of at least one item that nobody else has seen, all of them strings; no
    // index reaches its length, and after an item was taken away the array isn't used.
    unsafe {
        let py = Python::assume_attached();
        let is_windows = layout.is_windows;
        let separator = owned(if is_windows { intern!(py, "\\") } else { intern!(py, "/") }.as_any());
        let empty = owned(intern!(py, "").as_any());
        if text::ascii(text) == Some(b".") {
            return Ok(Some([empty.clone(), empty, made(ffi::PyList_New(0))?]));
        }
        if is_windows && ffi::PyUnicode_FindChar(text, '/'.into(), 0, isize::MAX, 1) != -1 {
            return Ok(None);
        }
        let parts = made(ffi::PyUnicode_Split(text, separator.get(), -1))?;
        let (items, len) = ((*parts.get().cast::<ffi::PyListObject>()).ob_item, ffi::Py_SIZE(parts.get()));
        let (mut drive, mut root, mut named) = (empty.clone(), empty.clone(), 0);
        match text::ascii(*items) {
            Some(b"") if len > 1 => named = 1,
            Some([b'a'..=b'z' | b'A'..=b'Z', b':']) if is_windows && len > 1 => {
                (drive, named) = (Owned::borrowed(*items), 1);
            }
            _ if is_windows && ffi::PyUnicode_FindChar(*items, ':'.into(), 0, isize::MAX, 1) != -1 => return Ok(None),
            _ => {}
        }
        if named == 1 {
            root = separator;
            replace(items, made(ffi::PyUnicode_Concat(drive.get(), root.get()))?.into_raw());
            if len == 2 && text::len(*items.add(1)) == 0 {
                if ffi::PyList_SetSlice(parts.get(), 1, 2, std::ptr::null_mut()) != 0 {
                    return Err(raised());
                }
                return Ok(Some([drive, root, parts]));
            }
        }
        for at in named..len {
            let item = items.offset(at);
            if text::len(*item) == 0 || text::ascii(*item) == Some(b".") {
                return Ok(None);
            }
            // As its constructor does. For few parts it takes three times as long as making them.
            if len > SEVERAL as isize {
                ffi::PyUnicode_InternInPlace(item);
            }
        }
        Ok(Some([drive, root, parts]))
    }
}

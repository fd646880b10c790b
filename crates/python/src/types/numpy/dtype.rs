//! dtypes as plain data: a text of a fixed grammar, a subarray as a tuple of base and shape, fields as a list.
//!
//! Only what this grammar allows is passed to `numpy.dtype`, which would accept other expressions as well.

use crate::cpython::owned;
use crate::cpython::{new, text, Owned};
use crate::error::{decode, raised, refused, Fault, Result};
use crate::memory::{vec, HashMap, Vec};
use crate::types::numpy::Numpy;
use holdall_format::model::{Bytes, Text};
use holdall_format::{Error as FormatError, ErrorKind, Reader, Token, Writer};
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::{PyFloat, PyString, PyTuple};
use rustc_hash::FxBuildHasher;
use std::rc::Rc;
use std::sync::{Arc, Mutex, PoisonError};

/// How deep dtypes may be nested: they are read and written by recursion.
const MOST_NESTED: usize = 32;
/// The most dimensions that any version of NumPy supports.
const MOST_DIMENSIONS: usize = 64;
/// How many dtypes are cached by their text.
const MOST_KEPT: usize = 64;
/// Estimated memory of a dtype for each of its fields.
pub const FIELD_BYTES: usize = 512;

const ALIGNED: i64 = 1;
/// Items come as `numpy.record`.
const RECORD: i64 = 2;

/// How an array's items are stored.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Content {
    /// As they are in memory.
    Bytes,
    /// As a list of any values.
    Objects,
    /// As a list with an array for each field, because some fields hold objects.
    Fields,
    /// As a list of texts, with None for missing ones.
    Strings,
}

/// Dtypes taken apart, by the address of an object that is held. Most messages have none.
pub type Dtypes = Option<Box<HashMap<usize, Rc<DtypeForm>, FxBuildHasher>>>;

/// A dtype taken apart.
#[derive(Debug, Clone)]
pub enum DtypeForm {
    Plain(Plain),
    Sub { base: Box<DtypeForm>, dims: Vec<usize> },
    Fields { size: usize, flags: i64, content: Content, fields: Vec<Field> },
}

#[derive(Debug, Clone)]
pub struct Plain {
    text: Arc<str>,
    size: usize,
    content: Content,
}

#[derive(Debug, Clone)]
pub struct Field {
    name: Owned,
    offset: usize,
    title: Option<Owned>,
    form: DtypeForm,
}

/// A dtype's form, or the reason why it has none.
pub type Described = std::result::Result<DtypeForm, &'static str>;

/// The dtypes of which NumPy has only one object, by address.
static SINGLETONS: Mutex<HashMap<usize, Plain, FxBuildHasher>> = Mutex::new(HashMap::with_hasher(FxBuildHasher));

/// Takes a dtype apart.
pub fn describe(numpy: &Numpy, dtype: &Bound<'_, PyAny>) -> Result<Described> {
    let address = dtype.as_ptr() as usize;
    if let Some(plain) = SINGLETONS.lock().unwrap_or_else(PoisonError::into_inner).get(&address) {
        return Ok(Ok(DtypeForm::Plain(plain.clone())));
    }
    let described = nested(numpy, dtype, 0)?;
    if let Ok(DtypeForm::Plain(plain)) = &described {
        if dtype.getattr(intern!(dtype.py(), "isbuiltin"))?.extract::<i32>()? == 1 {
            SINGLETONS.lock().unwrap_or_else(PoisonError::into_inner).insert(address, plain.clone());
            // For ever, so that no other dtype gets its address.
            std::mem::forget(dtype.clone());
        }
    }
    Ok(described)
}

fn nested(numpy: &Numpy, dtype: &Bound<'_, PyAny>, depth: usize) -> Result<Described> {
    if depth > MOST_NESTED {
        return Ok(Err("its dtype is nested too deep, which needs"));
    }
    if !dtype.getattr(intern!(dtype.py(), "metadata"))?.is_none() {
        return Ok(Err("its dtype has metadata, which needs"));
    }
    let number: i32 = dtype.getattr(intern!(dtype.py(), "num"))?.extract()?;
    let code: String = dtype.getattr(intern!(dtype.py(), "char"))?.extract()?;
    if code == "T" && depth == 0 {
        return strings(dtype);
    }
    // NumPy's own types have these numbers (except the strings above); types of other packages may look the same
    // otherwise.
    if !(0..=23).contains(&number) {
        return Ok(Err("its dtype is not one of NumPy's own, which needs"));
    }
    let size: usize = dtype.getattr(intern!(dtype.py(), "itemsize"))?.extract()?;
    let sub = dtype.getattr(intern!(dtype.py(), "subdtype"))?;
    if !sub.is_none() {
        let (base, dims): (Bound<'_, PyAny>, std::vec::Vec<usize>) = sub.extract()?;
        return Ok(
            nested(numpy, &base, depth + 1)?.map(|base| DtypeForm::Sub { base: Box::new(base), dims: dims.into() })
        );
    }
    if !dtype.getattr(intern!(dtype.py(), "names"))?.is_none() {
        return fields(numpy, dtype, size, depth);
    }
    // Items of a void type may be records, even without fields.
    if code == "V" && !dtype.getattr(intern!(dtype.py(), "type"))?.is(&numpy.void) {
        return Ok(Err("its dtype's items are of a class of their own, which needs"));
    }
    let (text, content) = match code.as_str() {
        "O" => ("O".to_owned(), Content::Objects),
        "g" | "G" => (long_double(numpy, dtype, &code)?, Content::Bytes),
        _ => (dtype.getattr(intern!(dtype.py(), "str"))?.extract()?, Content::Bytes),
    };
    Ok(Ok(DtypeForm::Plain(Plain { text: text.into(), size, content })))
}

/// The text of a long double, which differs by platform: byte order, `g` or `G`, number of bits in the fraction.
fn long_double(numpy: &Numpy, dtype: &Bound<'_, PyAny>, code: &str) -> Result<String> {
    let order: String = dtype.getattr(intern!(dtype.py(), "byteorder"))?.extract()?;
    let order = match order.as_str() {
        "=" | "|" => NATIVE,
        other => other,
    };
    Ok(format!("{order}{code}{}", numpy.fraction_bits(dtype.py())?))
}

const NATIVE: &str = if cfg!(target_endian = "little") { "<" } else { ">" };

/// A `StringDType`; its value for missing texts is part of it.
fn strings(dtype: &Bound<'_, PyAny>) -> Result<Described> {
    let missing = match dtype.getattr_opt(intern!(dtype.py(), "na_object"))? {
        None => "",
        Some(missing) if missing.is_none() => "[None]",
        Some(missing) if missing.cast_exact::<PyFloat>().is_ok_and(|missing| missing.value().is_nan()) => "[nan]",
        Some(_) => return Ok(Err("its dtype has an object of its own for missing strings, which needs")),
    };
    let strict = if dtype.getattr(intern!(dtype.py(), "coerce"))?.is_truthy()? { "" } else { "!" };
    let text = format!("T{missing}{strict}").into();
    Ok(Ok(DtypeForm::Plain(Plain { text, size: 0, content: Content::Strings })))
}

fn fields(numpy: &Numpy, dtype: &Bound<'_, PyAny>, size: usize, depth: usize) -> Result<Described> {
    let py = dtype.py();
    let item = dtype.getattr(intern!(dtype.py(), "type"))?;
    let mut flags = 0;
    if item.is(numpy.record.bind(py)) {
        flags |= RECORD;
    } else if !item.is(numpy.void.bind(py)) {
        return Ok(Err("its dtype has fields, but is no `numpy.void`, which needs"));
    }
    if dtype.getattr(intern!(dtype.py(), "isalignedstruct"))?.is_truthy()? {
        flags |= ALIGNED;
    }
    let mut all = Vec::new();
    let by_name = dtype.getattr(intern!(dtype.py(), "fields"))?;
    for name in dtype.getattr(intern!(dtype.py(), "names"))?.try_iter()? {
        let name = name?;
        let field = by_name.get_item(&name)?;
        let title = if field.len()? > 2 { Some(field.get_item(2)?) } else { None };
        if title.as_ref().is_some_and(|title| !title.is_exact_instance_of::<PyString>()) {
            return Ok(Err("its dtype has a title that is not a `str`, which needs"));
        }
        let form = match nested(numpy, &field.get_item(0)?, depth + 1)? {
            Ok(form) => form,
            Err(why) => return Ok(Err(why)),
        };
        let offset = field.get_item(1)?.extract()?;
        all.push(Field { name: owned(&name), offset, title: title.as_ref().map(owned), form });
    }
    let content =
        if dtype.getattr(intern!(dtype.py(), "hasobject"))?.is_truthy()? { Content::Fields } else { Content::Bytes };
    Ok(Ok(DtypeForm::Fields { size, flags, content, fields: all }))
}

impl DtypeForm {
    /// Whether a text describes it completely.
    pub fn is_plain(&self) -> bool {
        matches!(self, DtypeForm::Plain(_))
    }

    /// Bytes of an item.
    fn size(&self) -> usize {
        match self {
            DtypeForm::Plain(Plain { size, .. }) | DtypeForm::Fields { size, .. } => *size,
            DtypeForm::Sub { base, dims } => base.size() * dims.iter().product::<usize>(),
        }
    }

    pub fn content(&self) -> Content {
        match self {
            DtypeForm::Plain(Plain { content, .. }) | DtypeForm::Fields { content, .. } => *content,
            DtypeForm::Sub { base, .. } => base.content(),
        }
    }

    pub fn write<W: Writer>(&self, w: &mut W) -> Result<()> {
        match self {
            DtypeForm::Plain(Plain { text, .. }) => w.text(Text::Ascii(text.as_bytes())),
            DtypeForm::Sub { base, dims } => {
                w.tuple(2);
                base.write(w)?;
                w.tuple(dims.len());
                dims.iter().for_each(|&dim| w.int(dim as i64));
            }
            DtypeForm::Fields { size, flags, fields, .. } => {
                w.list(2 + 4 * fields.len());
                w.int(*size as i64);
                w.int(*flags);
                for field in fields {
                    name(w, &field.name)?;
                    w.int(field.offset as i64);
                    match &field.title {
                        Some(title) => name(w, title)?,
                        None => w.none(),
                    }
                    field.form.write(w)?;
                }
            }
        }
        Ok(())
    }

    /// Which bits of an item are data; `None` if all are. Gaps contain remains of other data, which must neither leave
    /// the process nor make equal arrays differ.
    pub fn mask(&self) -> Option<Vec<u8>> {
        let may_have_gaps = match self {
            DtypeForm::Plain(plain) => is_extended(&plain.text),
            _ => true,
        };
        if !may_have_gaps {
            return None;
        }
        let mut mask = vec![0; self.size()];
        self.cover(&mut mask);
        mask.contains(&0).then_some(mask)
    }

    fn cover(&self, mask: &mut [u8]) {
        match self {
            DtypeForm::Plain(Plain { text, size, .. }) if is_extended(text) => {
                // 80 bits in 12 or 16 bytes; a complex one has two of them.
                let part = if text.as_bytes()[1] == b'G' { size / 2 } else { *size };
                for part in mask.chunks_mut(part) {
                    let gap = part.len() - 10;
                    if text.starts_with('<') { &mut part[..10] } else { &mut part[gap..] }.fill(0xff);
                }
            }
            DtypeForm::Plain(_) => mask.fill(0xff),
            DtypeForm::Sub { base, .. } => {
                if base.size() > 0 {
                    mask.chunks_mut(base.size()).for_each(|item| base.cover(item));
                }
            }
            DtypeForm::Fields { fields, .. } => {
                for field in fields {
                    field.form.cover(&mut mask[field.offset..field.offset + field.form.size()]);
                }
            }
        }
    }
}

/// Whether it is the x87's long double.
fn is_extended(text: &str) -> bool {
    matches!(&text[1..], "g63" | "G63")
}

fn name<W: Writer>(w: &mut W, name: &Owned) -> Result<()> {
    // SAFETY: NumPy allows only strings as names, and titles were checked.
    let parts = unsafe { text::parts(name.get()) }.ok_or_else(raised)?;
    w.text(parts);
    Ok(())
}

/// A dtype that was read, and what arrays of it need to know.
pub struct Dtype {
    pub object: Py<PyAny>,
    pub size: usize,
    pub content: Content,
    /// It is a subarray's: no array has it as its own dtype.
    pub is_sub: bool,
    /// Scalars of it are views of the array from which they came.
    pub is_void: bool,
    /// The number of fields, including those of its fields' dtypes: NumPy visits them for each array that it makes.
    pub fields: usize,
    /// See [`Dtype::place`].
    pub place: PyOnceLock<Py<PyAny>>,
}

/// dtypes by their text.
static BY_TEXT: Mutex<HashMap<Box<[u8]>, Arc<Dtype>, FxBuildHasher>> = Mutex::new(HashMap::with_hasher(FxBuildHasher));

/// The dtype of a text.
pub fn of_text(py: Python<'_>, text: &[u8], at: usize) -> Result<Arc<Dtype>> {
    if let Some(known) = BY_TEXT.lock().unwrap_or_else(PoisonError::into_inner).get(text) {
        return Ok(known.clone());
    }
    let dtype = Arc::new(finish(&plain(py, text, at)?)?);
    let mut kept = BY_TEXT.lock().unwrap_or_else(PoisonError::into_inner);
    let old = if kept.len() >= MOST_KEPT { std::mem::take(&mut *kept) } else { HashMap::default() };
    kept.insert(text.into(), dtype.clone());
    drop(kept);
    drop(old); // outside of the lock: it releases references
    Ok(dtype)
}

/// What arrays of a dtype need to know; the dtype was a value of the message.
pub fn of_value(py: Python<'_>, value: &Owned, at: usize) -> Result<Arc<Dtype>> {
    // SAFETY: the caller holds `value`.
    let value = unsafe { Bound::from_borrowed_ptr(py, value.get()) };
    if !value.is_instance(Numpy::get(py, at)?.dtype.bind(py))? {
        return Err(decode("expected a dtype", at));
    }
    Ok(Arc::new(finish(&value)?))
}

/// Reads a dtype; adds its estimated memory to `cost`.
pub fn read<'i, R: Reader<'i>>(py: Python<'_>, r: &mut R, cost: &mut usize) -> Result<Owned> {
    let token = r.token()?;
    Ok(owned(&read_nested(py, r, token, 0, cost)?))
}

fn finish(dtype: &Bound<'_, PyAny>) -> Result<Dtype> {
    let code: String = dtype.getattr(intern!(dtype.py(), "char"))?.extract()?;
    let has_objects = dtype.getattr(intern!(dtype.py(), "hasobject"))?.is_truthy()?;
    let has_fields = !dtype.getattr(intern!(dtype.py(), "names"))?.is_none();
    let content = match code.as_str() {
        "T" => Content::Strings,
        "O" => Content::Objects,
        _ if has_objects && has_fields => Content::Fields,
        _ if has_objects => Content::Objects,
        _ => Content::Bytes,
    };
    Ok(Dtype {
        object: dtype.clone().unbind(),
        size: dtype.getattr(intern!(dtype.py(), "itemsize"))?.extract()?,
        content,
        is_sub: !dtype.getattr(intern!(dtype.py(), "subdtype"))?.is_none(),
        is_void: code == "V",
        fields: count_fields(dtype)?,
        place: PyOnceLock::new(),
    })
}

fn count_fields(dtype: &Bound<'_, PyAny>) -> PyResult<usize> {
    let of = dtype.getattr(intern!(dtype.py(), "subdtype"))?;
    if !of.is_none() {
        return count_fields(&of.get_item(0)?);
    }
    let fields = dtype.getattr(intern!(dtype.py(), "fields"))?;
    if fields.is_none() {
        return Ok(0);
    }
    let mut count: usize = 0;
    for field in fields.call_method0(intern!(fields.py(), "values"))?.try_iter()? {
        count = count.saturating_add(1 + count_fields(&field?.get_item(0)?)?);
    }
    Ok(count)
}

fn read_nested<'py, 'i, R: Reader<'i>>(
    py: Python<'py>,
    r: &mut R,
    token: Token<'i>,
    depth: usize,
    cost: &mut usize,
) -> Result<Bound<'py, PyAny>> {
    let at = r.offset();
    if depth > MOST_NESTED {
        return Err(decode(format_args!("a dtype nested deeper than {MOST_NESTED}"), at));
    }
    let numpy = Numpy::get(py, at)?;
    match token {
        Token::Text(Bytes::Ascii(text)) if depth == 0 || text.first() != Some(&b'T') => plain(py, text, at),
        Token::Tuple(2) => {
            let token = r.token()?;
            let base = read_nested(py, r, token, depth + 1, cost)?;
            let shape = ArrayShape::read(r)?;
            numpy.dtype.bind(py).call1(((base, shape.tuple(py)?),)).map_err(|error| refuse(py, error, at))
        }
        Token::List(len) if len >= 2 && (len - 2) % 4 == 0 => read_fields(py, r, (len - 2) / 4, depth, cost),
        _ => Err(decode("expected a dtype", at)),
    }
}

fn read_fields<'py, 'i, R: Reader<'i>>(
    py: Python<'py>,
    r: &mut R,
    count: usize,
    depth: usize,
    cost: &mut usize,
) -> Result<Bound<'py, PyAny>> {
    let at = r.offset();
    let numpy = Numpy::get(py, at)?;
    *cost += FIELD_BYTES * count;
    let size = integer(r)?;
    let flags = integer(r)?;
    if flags & !(ALIGNED | RECORD) != 0 {
        return Err(decode("a dtype with unknown flags", at));
    }
    let [names, formats, offsets, titles] = [new::list(py)?, new::list(py)?, new::list(py)?, new::list(py)?];
    let mut any_title = false;
    for _ in 0..count {
        match r.token()? {
            Token::Text(bytes) => names.append(string(py, bytes, r.offset())?)?,
            _ => return Err(decode("expected the name of a field", r.offset())),
        }
        offsets.append(integer(r)?)?;
        match r.token()? {
            Token::None => titles.append(py.None())?,
            Token::Text(bytes) => {
                any_title = true;
                titles.append(string(py, bytes, r.offset())?)?;
            }
            _ => return Err(decode("expected the title of a field", r.offset())),
        }
        let token = r.token()?;
        formats.append(read_nested(py, r, token, depth + 1, cost)?)?;
    }
    let description = new::dict(py)?;
    description.set_item(intern!(py, "names"), names)?;
    description.set_item(intern!(py, "formats"), formats)?;
    description.set_item(intern!(py, "offsets"), offsets)?;
    description.set_item(intern!(py, "itemsize"), size)?;
    if any_title {
        description.set_item(intern!(py, "titles"), titles)?;
    }
    let class = numpy.dtype.bind(py);
    let made = class.call1((description, flags & ALIGNED != 0)).and_then(|made| {
        if flags & RECORD != 0 {
            class.call1(((numpy.record.bind(py), made),))
        } else {
            Ok(made)
        }
    });
    made.map_err(|error| refuse(py, error, at))
}

fn integer<'i, R: Reader<'i>>(r: &mut R) -> Result<i64> {
    match r.token()? {
        Token::Int(value) if value >= 0 => Ok(value),
        _ => Err(decode("expected a size, an offset or flags of a dtype", r.offset())),
    }
}

pub fn string<'py>(py: Python<'py>, bytes: Bytes<'_>, at: usize) -> Result<Bound<'py, PyAny>> {
    // SAFETY: `py` proves that the GIL is held.
    match unsafe { text::from_bytes(bytes) } {
        // SAFETY: `made` is a reference of ours, which the `Bound` takes over.
        Ok(made) => Ok(unsafe { Bound::from_owned_ptr(py, made.into_raw()) }),
        Err(text::Failure::Raised) => Err(raised()),
        Err(text::Failure::BadUtf8) => Err(FormatError::new(ErrorKind::BadUtf8, at).into()),
    }
}

/// The dtype of a text, if the grammar allows it.
fn plain<'py>(py: Python<'py>, text: &[u8], at: usize) -> Result<Bound<'py, PyAny>> {
    let unknown = || decode("an unknown dtype", at);
    let text = std::str::from_utf8(text).map_err(|_| unknown())?;
    let numpy = Numpy::get(py, at)?;
    if let Some(rest) = text.strip_prefix('T') {
        let strict = rest.ends_with('!');
        let missing = rest.strip_suffix('!').unwrap_or(rest);
        let options = new::dict(py)?;
        options.set_item("coerce", !strict)?;
        match missing {
            "" => {}
            "[None]" => options.set_item("na_object", py.None())?,
            "[nan]" => options.set_item("na_object", numpy.module.bind(py).getattr("nan")?)?,
            _ => return Err(unknown()),
        }
        let dtypes = numpy.module.bind(py).getattr_opt("dtypes")?;
        let Some(class) =
            dtypes.map(|dtypes| dtypes.getattr_opt(intern!(dtypes.py(), "StringDType"))).transpose()?.flatten()
        else {
            return Err(decode("strings of any length need NumPy 2 or newer", at));
        };
        return Ok(class.call((), Some(&options))?);
    }
    let dtype = numpy.dtype.bind(py);
    if let Some(bits) = text.get(1..).and_then(|rest| rest.strip_prefix(['g', 'G'])) {
        if !matches!(&text[..1], "<" | ">") {
            return Err(unknown());
        }
        if bits != numpy.fraction_bits(py)?.to_string() {
            return Err(decode("a long double of another platform", at));
        }
        let native = dtype.call1((&text[1..2],))?;
        // Given its own order explicitly, it would show that instead of "native".
        return match &text[..1] {
            NATIVE => Ok(native),
            order => Ok(native.call_method1("newbyteorder", (order,))?),
        };
    }
    if !is_plain(text) {
        return Err(unknown());
    }
    dtype.call1((text,)).map_err(|error| refuse(py, error, at))
}

fn is_plain(text: &str) -> bool {
    let is_number = |text: &str| (1..=10).contains(&text.len()) && text.bytes().all(|byte| byte.is_ascii_digit());
    if let Some(rest) = text.strip_prefix('|') {
        return matches!(rest, "b1" | "i1" | "u1") || rest.strip_prefix(['S', 'V']).is_some_and(is_number);
    }
    let Some(rest) = text.strip_prefix(['<', '>']) else { return text == "O" };
    if let Some(unit) = rest.strip_prefix("M8").or_else(|| rest.strip_prefix("m8")) {
        let Some(unit) = unit.strip_prefix('[').and_then(|unit| unit.strip_suffix(']')) else { return unit.is_empty() };
        let name = unit.trim_start_matches(|digit: char| digit.is_ascii_digit());
        return unit.len() - name.len() <= 10
            && matches!(name, "Y" | "M" | "W" | "D" | "h" | "m" | "s" | "ms" | "us" | "ns" | "ps" | "fs" | "as");
    }
    matches!(rest, "i2" | "i4" | "i8" | "u2" | "u4" | "u8" | "f2" | "f4" | "f8" | "c8" | "c16")
        || rest.strip_prefix('U').is_some_and(is_number)
}

/// The shape of an array that is being read.
#[derive(Debug)]
pub struct ArrayShape {
    dims: [isize; MOST_DIMENSIONS],
    pub len: usize,
}

impl ArrayShape {
    pub fn read<'i, R: Reader<'i>>(r: &mut R) -> Result<ArrayShape> {
        let wrong = |r: &R| decode("expected a shape: a tuple of up to 64 lengths", r.offset());
        let mut shape = ArrayShape { dims: [0; MOST_DIMENSIONS], len: 0 };
        match r.token()? {
            Token::Tuple(len) if len <= MOST_DIMENSIONS => shape.len = len,
            _ => return Err(wrong(r)),
        }
        for dim in &mut shape.dims[..shape.len] {
            match r.token()? {
                Token::Int(value) if value >= 0 => *dim = isize::try_from(value).map_err(|_| wrong(r))?,
                _ => return Err(wrong(r)),
            }
        }
        Ok(shape)
    }

    /// The same lengths in another order of axes.
    pub fn along(&self, axes: &[usize]) -> ArrayShape {
        let mut shape = ArrayShape { dims: [0; MOST_DIMENSIONS], len: self.len };
        for (dim, &axis) in shape.dims.iter_mut().zip(axes) {
            *dim = self.dims[axis];
        }
        shape
    }

    pub fn tuple<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        PyTuple::new(py, &self.dims[..self.len])
    }

    /// The number of items, unless it overflows.
    pub fn count(&self) -> Option<usize> {
        if self.dims[..self.len].contains(&0) {
            return Some(0);
        }
        self.dims[..self.len].iter().try_fold(1usize, |count, &dim| count.checked_mul(dim as usize))
    }
}

/// The error for what NumPy refused to build.
#[cold]
pub(super) fn refuse(py: Python<'_>, error: PyErr, at: usize) -> Fault {
    error.restore(py);
    refused("values that NumPy does not take", at)
}

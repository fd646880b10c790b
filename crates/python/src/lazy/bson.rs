//! Documents of BSON and of Julia's dialect of it: every value says how long it is, so members are found from name to
//! name.

use crate::cpython::new;
use crate::decode;
use crate::dialect::julia::{utf8, Julia};
use crate::error::{Asked, Fault};
use crate::lazy::source::Source;
use crate::lazy::{Cursor, Document, Inside, Member};
use crate::memory::{HashMap, Vec};
use crate::message::foreign::named;
use crate::message::load_args::LoadArgs;
use crate::message::options::Wanted;
use crate::message::{decode_by, decode_julia};
use crate::schema::{NodeId, ANY};
use holdall_format::bson::{tag, Element, Elements, Reader};
use holdall_format::detect::Format;
use holdall_format::julia::{self, BackReferences};
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::{PyMemoryView, PyString};
use std::ops::Range;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

/// Documents with up to this many members are searched one by one.
const FEW: usize = 16;

/// What a document and all documents within it share.
struct Shared {
    source: Source,
    /// For Julia's dialect.
    julia: Option<OfJulia>,
    /// For types read field by field: the names of the fields, by the type's description.
    fields: Mutex<HashMap<Vec<u8>, Known>>,
}

/// What a Julia file holds besides the members.
struct OfJulia {
    options: Julia,
    /// The back-reference table that the members refer to.
    back_references: Arc<BackReferences>,
}

/// What is known of a type: `None` if its instances are built as a whole.
type Known = Option<Arc<Fields>>;

/// The names of an instance's fields, as far as they are known.
struct Fields(Vec<String>);

/// Where the members of a document are, counted from its start.
enum Index {
    /// Of an array: the offset of each element.
    Items(Vec<u64>),
    /// Of a document: its members, and their positions by name once there are enough of them to need that.
    Members { places: Vec<Member>, by_name: OnceLock<HashMap<Vec<u8>, u32>> },
}

impl Member {
    fn of(element: &Element<'_>) -> Member {
        Member {
            tag: element.tag,
            name_len: element.name.len() as u32,
            at: element.at,
            len: element.value.len(),
            ..Member::default()
        }
    }

    fn name<'i>(&self, document: &'i [u8]) -> &'i [u8] {
        Element::name_before(document, self.at, self.name_len as usize)
    }

    fn bytes<'i>(&self, document: &'i [u8]) -> &'i [u8] {
        document.get(self.at..self.at + self.len).unwrap_or_default()
    }
}

struct Bson {
    shared: Arc<Shared>,
    start: usize,
    end: usize,
    array: bool,
    /// If it is the array of an instance's fields: the names, and the place of the whole instance.
    instance: Option<(Arc<Fields>, Member)>,
    options: Arc<decode::Options>,
    /// The options for members that the type says nothing about.
    untyped: Arc<decode::Options>,
    index: OnceLock<Index>,
}

impl Bson {
    /// Calls `look` with the document's bytes.
    fn see<T>(&self, look: impl FnOnce(&[u8]) -> PyResult<T>) -> PyResult<T> {
        let view = self.shared.source.view()?;
        look(view.as_slice().get(self.start..self.end).unwrap_or_default())
    }

    fn fault(&self, error: holdall_format::Error) -> PyErr {
        Fault::from(error).into_py(self.start)
    }

    fn index_of(&self, document: &[u8]) -> PyResult<&Index> {
        if let Some(known) = self.index.get() {
            return Ok(known);
        }
        let elements = Elements::new(document).map_err(|error| self.fault(error))?;
        let found = if self.array {
            let offsets = elements.map(|element| element.map(|element| element.start() as u64));
            Index::Items(offsets.collect::<Result<_, _>>().map_err(|error| self.fault(error))?)
        } else {
            let places = elements.map(|element| element.map(|element| Member::of(&element)));
            let mut places: Vec<_> = places.collect::<Result<_, _>>().map_err(|error| self.fault(error))?;
            places.retain(|place| !self.is_apart(place.at));
            Index::Members { places, by_name: OnceLock::new() }
        };
        Ok(self.index.get_or_init(|| found))
    }

    /// Whether the back-reference table is at that offset, which is no member.
    fn is_apart(&self, at: usize) -> bool {
        self.start == 0 && self.shared.julia.as_ref().is_some_and(|julia| julia.back_references.holds(at))
    }

    fn find_in(&self, document: &[u8], key: &Bound<'_, PyAny>) -> PyResult<Option<Member>> {
        match self.index_of(document)? {
            Index::Items(offsets) => {
                let named = match (&self.instance, key.cast::<PyString>()) {
                    (Some((fields, _)), Ok(name)) => {
                        let name = name.to_str().if_taken()?.unwrap_or_default();
                        match fields.0.iter().position(|known| known == name) {
                            Some(at) => Some(at.into_pyobject(key.py())?.into_any()),
                            None => return Ok(None),
                        }
                    }
                    _ => None,
                };
                let key = named.as_ref().unwrap_or(key);
                if !key.hasattr("__index__")? {
                    return Err(PyTypeError::new_err("the items of an array are had by index"));
                }
                let at: isize = key.call_method0("__index__")?.extract()?;
                let at = if at < 0 { at + offsets.len() as isize } else { at };
                let Some(&offset) = usize::try_from(at).ok().and_then(|at| offsets.get(at)) else {
                    return Ok(None);
                };
                let element = Elements::at(document, offset as usize).next();
                match element.transpose().map_err(|error| self.fault(error))? {
                    Some(element) => Ok(Some(Member::of(&element))),
                    None => Ok(None),
                }
            }
            Index::Members { places, by_name } => {
                let Ok(key) = key.cast::<PyString>() else {
                    return Err(PyTypeError::new_err("the members of a document are had by name"));
                };
                // A key with lone surrogates can't be a name, except in Julia's files.
                let name = match key.to_str().answer()? {
                    Ok(name) => Vec::from(name.as_bytes()),
                    Err(_) if self.shared.julia.is_some() => utf8(key)?,
                    Err(_) => return Ok(None),
                };
                let name = &name[..];
                // If several members have the name, the last one counts, as in a dict.
                let found = if places.len() <= FEW {
                    places.iter().rposition(|place| place.name(document) == name)
                } else {
                    let by_name = by_name.get_or_init(|| {
                        let names = places.iter().enumerate();
                        names.map(|(at, place)| (place.name(document).into(), at as u32)).collect()
                    });
                    by_name.get(name).map(|&at| at as usize)
                };
                Ok(found.map(|at| places[at]))
            }
        }
    }

    /// What the document's type says about a member; [`ANY`] if it says nothing.
    fn node_of(&self, key: Option<&[u8]>) -> NodeId {
        let Some(schema) = &self.options.schema else { return ANY };
        schema.member(self.options.node.unwrap_or(schema.root), key)
    }

    fn value_in<'py>(
        &self,
        py: Python<'py>,
        document: &[u8],
        place: Member,
        name: Option<&[u8]>,
    ) -> PyResult<Bound<'py, PyAny>> {
        match self.node_of(name) {
            ANY if matches!(place.tag, tag::DOCUMENT | tag::ARRAY) && !self.is_tagged(place.bytes(document)) => {
                let start = self.start + place.at;
                let within = self.within(start..start + place.len, place.tag == tag::ARRAY, None);
                Ok(Bound::new(py, Document::new(within))?.into_any())
            }
            ANY if self.shared.julia.is_some() && place.tag == tag::DOCUMENT => {
                match self.instance_at(py, document, place)? {
                    Some(within) => Ok(Bound::new(py, Document::new(within))?.into_any()),
                    None => self.build(py, document, place, &self.untyped),
                }
            }
            ANY => self.build(py, document, place, &self.untyped),
            node => {
                let options = decode::Options { node: Some(node), ..(*self.options).clone() };
                self.build(py, document, place, &options)
            }
        }
    }

    /// A part of the document as a document of its own.
    fn within(&self, bytes: Range<usize>, array: bool, instance: Option<(Arc<Fields>, Member)>) -> Bson {
        Bson {
            shared: self.shared.clone(),
            start: bytes.start,
            end: bytes.end,
            array,
            instance,
            options: self.untyped.clone(),
            untyped: self.untyped.clone(),
            index: OnceLock::new(),
        }
    }

    /// An instance of a program's own type as a document of its fields; `None` for other typed values.
    fn instance_at(&self, py: Python<'_>, document: &[u8], place: Member) -> PyResult<Option<Bson>> {
        let whole = place.bytes(document);
        let (Some(parts), Some(of_julia)) = (julia::instance(whole), &self.shared.julia) else { return Ok(None) };
        let description = &whole[parts.class.clone()];
        let at = self.start + place.at;
        let known = |fields: &Mutex<HashMap<_, Known>>| {
            fields.lock().unwrap_or_else(PoisonError::into_inner).get(description).cloned()
        };
        let fields = match known(&self.shared.fields) {
            Some(known) => known,
            None => {
                let view = self.shared.source.view()?;
                let (from, to) = (at + parts.class.start, at + parts.class.end);
                let reader = of_julia.reader(view.as_slice(), tag::DOCUMENT, from, to);
                let of_type = decode_julia(py, &of_julia.options, reader, &self.untyped)?;
                let found = of_julia.options.fields_of(of_type.bind(py))?.map(|names| Arc::new(Fields(names)));
                let mut fields = self.shared.fields.lock().unwrap_or_else(PoisonError::into_inner);
                fields.insert(description.into(), found.clone());
                found
            }
        };
        let Some(fields) = fields else { return Ok(None) };
        let bytes = at + parts.fields.start..at + parts.fields.end;
        let place = Member { at, ..place };
        Ok(Some(self.within(bytes, true, Some((fields, place)))))
    }

    fn build<'py>(
        &self,
        py: Python<'py>,
        document: &[u8],
        place: Member,
        options: &decode::Options,
    ) -> PyResult<Bound<'py, PyAny>> {
        self.build_at(py, document, place, self.start + place.at, options)
    }

    fn build_at<'py>(
        &self,
        py: Python<'py>,
        document: &[u8],
        place: Member,
        at: usize,
        options: &decode::Options,
    ) -> PyResult<Bound<'py, PyAny>> {
        let made = match &self.shared.julia {
            None => decode_by(py, Reader::of_value(place.tag, place.bytes(document)), options, None, at)?,
            Some(julia) => {
                let view = self.shared.source.view()?;
                let end = at + place.len;
                julia.options.until_settled(|| {
                    decode_julia(py, &julia.options, julia.reader(view.as_slice(), place.tag, at, end), options)
                })?
            }
        };
        Ok(made.into_bound(py))
    }

    /// Whether a document stands for a value of another type.
    fn is_tagged(&self, document: &[u8]) -> bool {
        self.shared.julia.is_some() && julia::is_tagged(document)
    }

    /// The name of a field, by its index as text, if it is known.
    fn field_name(&self, at: &[u8]) -> Option<&str> {
        let (fields, _) = self.instance.as_ref()?;
        Some(fields.0.get(std::str::from_utf8(at).ok()?.parse::<usize>().ok()?)?.as_str())
    }
}

impl Inside for Bson {
    fn kind(&self) -> String {
        let format = if self.shared.julia.is_some() { "julia" } else { "bson" };
        let what = match (&self.instance, self.array) {
            (Some(_), _) => "struct",
            (None, true) => "array",
            (None, false) => "document",
        };
        format!("{format} {what}")
    }

    fn size(&self) -> usize {
        self.end - self.start
    }

    fn is_sequence(&self) -> bool {
        self.array
    }

    fn has_names(&self) -> bool {
        !self.array || self.instance.is_some()
    }

    fn len(&self, _py: Python<'_>) -> PyResult<usize> {
        self.see(|document| {
            Ok(match self.index_of(document)? {
                Index::Items(offsets) => offsets.len(),
                Index::Members { places, .. } => places.len(),
            })
        })
    }

    fn find(&self, key: &Bound<'_, PyAny>) -> PyResult<Option<Member>> {
        self.see(|document| self.find_in(document, key))
    }

    fn start(&self) -> PyResult<Cursor> {
        self.see(|bytes| {
            Elements::new(bytes).map_err(|error| self.fault(error))?;
            Ok(Cursor { index: 0, at: Elements::FIRST })
        })
    }

    fn next(&self, _py: Python<'_>, at: Cursor) -> PyResult<Option<(Member, Cursor)>> {
        self.see(|bytes| {
            let mut elements = Elements::at(bytes, at.at);
            let mut element = elements.next().transpose().map_err(|error| self.fault(error))?;
            if element.is_some_and(|element| self.is_apart(element.at)) {
                element = elements.next().transpose().map_err(|error| self.fault(error))?;
            }
            Ok(element.map(|element| {
                let next = Cursor { index: at.index + 1, at: element.end() };
                (Member::of(&element), next)
            }))
        })
    }

    fn key<'py>(&self, py: Python<'py>, member: &Member) -> PyResult<Bound<'py, PyAny>> {
        self.see(|bytes| {
            let name = member.name(bytes);
            let field = self.field_name(name);
            match std::str::from_utf8(field.map_or(name, str::as_bytes)) {
                Ok(name) => Ok(new::text(py, name)?.into_any()),
                // Names that aren't UTF-8, which Julia allows, are decoded as in a load.
                Err(_) if self.shared.julia.is_some() => {
                    new::bytes(py, name)?.call_method1("decode", ("utf-8", "surrogateescape"))
                }
                Err(_) => Err(self.fault(holdall_format::Error::new(holdall_format::ErrorKind::BadUtf8, member.at))),
            }
        })
    }

    fn value<'py>(&self, py: Python<'py>, member: &Member) -> PyResult<Bound<'py, PyAny>> {
        self.see(|document| {
            let name = (!self.array).then(|| member.name(document));
            self.value_in(py, document, *member, name)
        })
    }

    fn value_as<'py>(
        &self,
        py: Python<'py>,
        member: &Member,
        wanted: &Bound<'py, PyAny>,
    ) -> PyResult<Bound<'py, PyAny>> {
        self.see(|document| {
            if wanted.is(py.get_type::<PyMemoryView>()) && member.tag == tag::BINARY {
                let reader = Reader::of_value(member.tag, member.bytes(document));
                let (at, len) = reader.binary_data().map_err(|error| self.fault(error))?;
                return self.shared.source.part(py, self.start + member.at + at, len);
            }
            let limits = self.options.limits;
            let wanted_type = Wanted(Some(wanted.clone()));
            let given = LoadArgs { wanted: &wanted_type, strict: self.options.strict, ..LoadArgs::default() }.hold()?;
            let options = decode::Options {
                dec_hook: self.options.dec_hook.clone(),
                resolver: self.options.resolver.clone(),
                naive: self.options.naive,
                limits,
                ..given
            };
            self.build(py, document, *member, &options)
        })
    }

    fn load<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        self.see(|document| {
            let tag = if self.array { tag::ARRAY } else { tag::DOCUMENT };
            match self.instance {
                Some((_, whole)) => self.build_at(py, document, whole, whole.at, &self.options),
                None => {
                    let place = Member { tag, len: document.len(), ..Member::default() };
                    self.build(py, document, place, &self.options)
                }
            }
        })
    }

    fn raw<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        self.shared.source.part(py, self.start, self.end - self.start)
    }

    fn close(&self, py: Python<'_>) -> PyResult<()> {
        self.shared.source.close(py)
    }
}

impl OfJulia {
    /// A reader of the value between two offsets of the file.
    fn reader<'i>(&self, file: &'i [u8], tag: u8, from: usize, to: usize) -> julia::Reader<'i> {
        julia::Reader::of_value(file, self.back_references.clone(), tag, from, to)
    }
}

pub fn open(data: &Bound<'_, PyAny>, owned: bool, options: decode::Options) -> PyResult<Document> {
    open_as(data, owned, options, None)
}

pub fn open_julia(data: &Bound<'_, PyAny>, owned: bool, options: decode::Options, julia: Julia) -> PyResult<Document> {
    open_as(data, owned, options, Some(julia.shared_by_members()))
}

fn open_as(data: &Bound<'_, PyAny>, owned: bool, options: decode::Options, julia: Option<Julia>) -> PyResult<Document> {
    let source = Source::new(data, owned)?;
    let view = source.view()?;
    let end = view.as_slice().len();
    // Checked now, because nothing can be found without the outermost length.
    let raise = |error| named(data.py(), Fault::from(error).into_py(0), Format::Bson, view.as_slice());
    Elements::new(view.as_slice()).map_err(raise)?;
    let julia = match julia {
        Some(options) => {
            let back_references = Arc::new(BackReferences::find(view.as_slice()).map_err(raise)?);
            Some(OfJulia { options, back_references })
        }
        None => None,
    };
    let shared = Shared { source, julia, fields: Mutex::default() };
    Ok(Document::new(Bson {
        shared: Arc::new(shared),
        start: 0,
        end,
        array: false,
        instance: None,
        untyped: Arc::new(decode::Options { schema: None, ..options.clone() }),
        options: Arc::new(options),
        index: OnceLock::new(),
    }))
}

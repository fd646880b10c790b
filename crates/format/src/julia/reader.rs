//! Bytes to tokens. Mirrors [`super::Writer`].
//!
//! BSON's reader does the work; documents with a tag are recognised before it begins them. Nearly all of them are instances
//! written in one order, which one comparison tells, and whose type is one of the last few. All others are looked through by name.
//! Their parts may stand in any order: where one does not come next, a *jump* leads from the end of the part before it to where it is.

use super::document::{each, integer, text, Found, BAD_PART};
use super::tag::{self, Tag};
use crate::bson::length::{document_body, value_len, Flaw, DOCUMENT_OPEN};
use crate::bson::reader::{Next, Place};
use crate::bson::{self, tag as bytes, Element, Elements};
use crate::error::{Error, ErrorKind, Result};
use crate::memory::{HashMap, Vec};
use crate::model::{self, Dimensions, ExtentReader as _, Leaf, Never, Path, Reader as _, Token, TypedValue};
use std::sync::Arc;

const BAD_SHAPE: &str = "expected the lengths of an array's dimensions, found another value";
const BAD_PATH: &str = "expected the names of a type or module, found another value";
const BAD_APART: &str = "expected a list of values that are referred to, found another value";

/// How many types the next one is compared with, before it is looked up.
const RECENT: usize = 8;

/// What stands apart in a document: the values that it refers to by number.
#[derive(Debug, Default)]
pub struct BackReferences {
    /// Where the element is that holds them: it is no member.
    element: Option<(usize, usize)>,
    /// Where the document ends.
    end: usize,
    /// Type and place of each value.
    values: Vec<(u8, usize)>,
}

impl BackReferences {
    /// Looks for it among the elements of `document`.
    pub fn find(document: &[u8]) -> Result<BackReferences> {
        let mut found = BackReferences { end: document.len().saturating_sub(1), ..BackReferences::default() };
        for element in Elements::new(document)? {
            let element = element?;
            if element.name != tag::APART.as_bytes() {
                continue;
            }
            if element.tag != bytes::ARRAY {
                return Err(Error::new(ErrorKind::Malformed { why: BAD_APART }, element.at));
            }
            found.element = Some((element.at - element.name.len() - 2, element.at + element.value.len()));
            found.values.clear();
            for value in Elements::new(element.value).map_err(|error| error.shifted(element.at))? {
                let value = value.map_err(|error| error.shifted(element.at))?;
                found.values.push((value.tag, element.at + value.at));
            }
        }
        Ok(found)
    }
}

impl BackReferences {
    /// Whether the element whose value begins there is the one that holds them. An empty value right before it begins where the
    /// element does, and is another's.
    pub fn holds(&self, at: usize) -> bool {
        self.element.is_some_and(|(from, to)| from < at && at < to)
    }
}

/// Reads one document of Julia's, or one value of it.
#[derive(Debug)]
pub struct Reader<'i> {
    bson: bson::Reader<'i>,
    document: &'i [u8],
    apart: Arc<BackReferences>,
    /// Where what is read ends.
    stop: usize,
    /// Whether documents are taken as they are, but for references.
    raw: bool,
    /// Whether documents with a tag that are damaged are taken as they are, and what was wrong with the first of them.
    damaged: bool,
    flaw: Option<Error>,
    /// From the end of a part to what comes after it, where that stands elsewhere.
    jumps: HashMap<usize, usize>,
    /// Types by number: their bytes, and where they stand.
    types: Vec<(&'i [u8], usize)>,
    known: HashMap<&'i [u8], usize>,
    recent: [usize; RECENT],
    turn: usize,
}

impl<'i> Reader<'i> {
    /// Starts to read a document, which is all of `document`.
    pub fn new(document: &'i [u8]) -> Result<Self> {
        let apart = BackReferences::find(document)?;
        Ok(Reader::of_value(document, Arc::new(apart), bytes::DOCUMENT, 0, document.len()))
    }

    /// Starts to read the value of that type which stands there in a document.
    pub fn of_value(document: &'i [u8], apart: Arc<BackReferences>, tag: u8, at: usize, stop: usize) -> Self {
        let mut bson = bson::Reader::new(document);
        bson.rewind(Place::of_value(tag, at));
        Reader {
            bson,
            document,
            apart,
            stop,
            raw: false,
            damaged: false,
            flaw: None,
            jumps: HashMap::new(),
            types: Vec::new(),
            known: HashMap::new(),
            recent: [0; RECENT],
            turn: 0,
        }
    }

    /// Starts to read a document of which only some may be there, or sound: what stands up to the damage can be shown.
    pub fn damaged(document: &'i [u8]) -> Self {
        let (apart, flaw) = match BackReferences::find(document) {
            Ok(apart) => (apart, None),
            Err(flaw) => (BackReferences::default(), Some(flaw)),
        };
        let reader = Reader::of_value(document, Arc::new(apart), bytes::DOCUMENT, 0, document.len());
        Reader { bson: reader.bson.damaged(), damaged: true, flaw, ..reader }
    }

    /// Takes tagged documents as dicts; what is referred to still is one object.
    pub fn raw(self) -> Self {
        Reader { raw: true, ..self }
    }

    /// Steps over the ends of what is complete, and to what comes next, where that may stand elsewhere.
    #[inline]
    fn settle(&mut self, key: bool) {
        let may_be_apart = match self.apart.element {
            // What stands apart is no member: it is passed over where a key is looked for.
            Some((from, _)) if key => {
                self.bson.input.offset() == from || self.bson.input.rest().first() == Some(&bytes::END)
            }
            _ => false,
        };
        if may_be_apart || !self.jumps.is_empty() {
            self.settle_slowly();
        }
    }

    #[cold]
    #[inline(never)]
    fn settle_slowly(&mut self) {
        self.bson = self.settled();
    }

    /// Where reading goes on.
    fn settled(&self) -> bson::Reader<'i> {
        let mut bson = self.bson.clone();
        if let Next::Value(_) = bson.next {
            return bson;
        }
        loop {
            if let Some(to) = self.jump_from(bson.input.offset()) {
                bson.input.rewind(to);
            } else if bson.at_end() {
                bson.input.skip_over(1);
            } else {
                return bson;
            }
        }
    }

    /// Where to go on from there, if something else comes next than what stands there.
    fn jump_from(&self, at: usize) -> Option<usize> {
        match self.apart.element {
            Some((from, to)) if from == at => Some(to),
            _ => self.jumps.get(&at).copied(),
        }
    }

    /// The number of the type with that description, which stands there.
    #[inline]
    fn class(&mut self, description: &'i [u8], at: usize) -> usize {
        for step in 0..RECENT {
            let number = self.recent[(self.turn + step) % RECENT];
            match self.types.get(number) {
                Some((known, _)) if *known == description => return number,
                _ => {}
            }
        }
        self.other_class(description, at)
    }

    #[inline(never)]
    fn other_class(&mut self, description: &'i [u8], at: usize) -> usize {
        let next = self.types.len();
        let number = *self.known.entry(description).or_insert(next);
        if number == next {
            self.types.push((description, at));
        }
        self.turn = (self.turn + RECENT - 1) % RECENT;
        self.recent[self.turn] = number;
        number
    }

    /// An instance whose parts stand in the usual order, which nothing else follows.
    #[inline]
    fn usual(&mut self) -> Result<Option<Token<'i>>> {
        const BEFORE: usize = bytes::HEAD + tag::STRUCT_HEAD.len();
        let (rest, start) = (self.bson.input.rest(), self.bson.input.offset());
        let Some((head, after)) = rest.split_first_chunk::<BEFORE>() else { return Ok(None) };
        if head[bytes::HEAD..] != *tag::STRUCT_HEAD {
            return Ok(None);
        }
        let (Some(class_len), Some(whole)) = (length(after), length(rest)) else { return Ok(None) };
        let Some((class, fields)) = after.split_at_checked(class_len) else { return Ok(None) };
        let Some(list) = fields.strip_prefix(tag::FIELDS_HEAD) else { return Ok(None) };
        let before_list = BEFORE + class_len + tag::FIELDS_HEAD.len();
        let is_last = length(list).is_some_and(|len| before_list + len + 1 == whole);
        if !is_last || class_len < bytes::DOCUMENT_MIN || rest.get(whole - 1) != Some(&bytes::END) {
            return Ok(None);
        }
        let class = self.class(class, start + BEFORE);
        self.bson.input.skip_over(before_list);
        let fields = self.items()?;
        Ok(Some(Token::TypedValue(TypedValue::Struct { class, fields })))
    }

    /// Begins an array; says how many items it has.
    #[inline]
    fn items(&mut self) -> Result<usize> {
        let end = self.bson.container()?;
        self.bson.next = Next::Item;
        self.bson.count(end)
    }

    /// A document with a tag; nothing, if the next one has none.
    #[inline]
    fn described(&mut self) -> Result<Option<Token<'i>>> {
        if !self.raw {
            if let Some(token) = self.usual()? {
                return Ok(Some(token));
            }
        }
        self.tagged()
    }

    /// Whatever document with a tag comes next; nothing, if it is none.
    #[inline(never)]
    fn tagged(&mut self) -> Result<Option<Token<'i>>> {
        let start = self.bson.input.offset();
        let body = document_body(self.bson.input.rest(), false).map_err(|flaw| self.bson.flawed(flaw))?;
        let Some(found) = Found::new(self.document, start, bytes::HEAD + body.len())? else { return Ok(None) };
        if self.raw && found.tag != Tag::Reference {
            return Ok(None);
        }
        let tagged = match found.tag {
            Tag::Struct => self.structure(&found)?,
            Tag::Array => self.array(&found)?,
            Tag::Tuple | Tag::Simple => {
                let data = found.part(tag::DATA)?;
                found.of_type(&data, bytes::ARRAY)?;
                let len = self.parts_of(&found, &data)?;
                if found.tag == Tag::Tuple {
                    TypedValue::Tuple(len)
                } else {
                    TypedValue::Simple(len)
                }
            }
            Tag::Symbol => {
                let name = found.part(tag::NAME)?;
                self.pass(&found);
                TypedValue::Symbol(found.text(&name)?)
            }
            Tag::Type => {
                let name = found.part(tag::NAME)?;
                let path = Path(found.of_type(&name, bytes::ARRAY)?, found.start + name.at);
                // Some that have none were written without them.
                let parameters = found.named(tag::PARAMS);
                match &parameters {
                    Some(parameters) => self.follow(&found, &[*parameters]),
                    None => self.pass(&found),
                }
                TypedValue::Type { path, parameters: parameters.is_some() }
            }
            Tag::UnionAll => {
                self.follow(&found, &[found.part(tag::VAR)?, found.part(tag::BODY)?]);
                TypedValue::UnionAll
            }
            Tag::Bottom => {
                self.pass(&found);
                TypedValue::Bottom
            }
            Tag::Anonymous => {
                self.follow(&found, &[found.part(tag::PARAMS)?, found.part(tag::TYPENAME)?]);
                TypedValue::Anonymous
            }
            Tag::Module => {
                let path = found.part(tag::PATH)?;
                self.pass(&found);
                TypedValue::Module(Path(found.of_type(&path, bytes::ARRAY)?, found.start + path.at))
            }
            Tag::Reference => {
                let number = found.part(tag::REF)?;
                self.pass(&found);
                return found.number(&number).map(|number| Some(Token::Reference(number)));
            }
        };
        Ok(Some(Token::TypedValue(tagged)))
    }

    /// An instance: fields, or the bytes of a primitive type.
    fn structure(&mut self, found: &Found<'i>) -> Result<TypedValue<'i>> {
        let class = self.class_of(found)?;
        let data = found.part(tag::DATA)?;
        match data.tag {
            bytes::ARRAY => Ok(TypedValue::Struct { class, fields: self.parts_of(found, &data)? }),
            bytes::BINARY => {
                self.pass(found);
                Ok(TypedValue::Bits { class, data: found.binary(&data)? })
            }
            _ => found.bad(&data),
        }
    }

    /// An array: elements, or the bytes of all of them.
    fn array(&mut self, found: &Found<'i>) -> Result<TypedValue<'i>> {
        let element = self.class_of(found)?;
        let size = found.part(tag::SIZE)?;
        let dimensions = Dimensions(found.of_type(&size, bytes::ARRAY)?, found.start + size.at);
        let data = found.part(tag::DATA)?;
        match data.tag {
            bytes::ARRAY => Ok(TypedValue::Boxed { element, dimensions, len: self.parts_of(found, &data)? }),
            bytes::BINARY => {
                self.pass(found);
                Ok(TypedValue::Packed { element, dimensions, data: found.binary(&data)? })
            }
            _ => found.bad(&data),
        }
    }

    fn class_of(&mut self, found: &Found<'i>) -> Result<usize> {
        let class = found.part(tag::TYPE)?;
        found.of_type(&class, bytes::DOCUMENT)?;
        Ok(self.class(class.value, found.start + class.at))
    }

    /// Goes on behind the document.
    fn pass(&mut self, found: &Found<'i>) {
        self.bson.input.rewind(found.start + found.len);
        self.bson.next = Next::Item;
    }

    /// Goes on with these parts, one after the other, as values.
    fn follow(&mut self, found: &Found<'i>, parts: &[Element<'i>]) {
        let Some((first, rest)) = parts.split_first() else { return };
        let mut before = first;
        for part in rest {
            self.jump(found.end_of(before), found.start + part.at - part.name.len() - 2);
            before = part;
        }
        self.jump_behind(found, before);
        self.bson.rewind(Place::of_value(first.tag, found.start + first.at));
        self.bson.opened(found.start + found.len - 1);
    }

    /// Goes on with the items of a part, an array; says how many.
    fn parts_of(&mut self, found: &Found<'i>, part: &Element<'i>) -> Result<usize> {
        self.jump_behind(found, part);
        self.bson.input.rewind(found.start + part.at);
        self.items()
    }

    /// After its last part, goes on behind the document: its end may be that of another part, from which another jump leads.
    fn jump_behind(&mut self, found: &Found<'i>, last: &Element<'i>) {
        let behind = found.start + found.len;
        if found.end_of(last) != behind - 1 {
            self.jump(found.end_of(last), behind);
        }
    }

    fn jump(&mut self, from: usize, to: usize) {
        if from != to {
            self.jumps.insert(from, to);
        }
    }
}

/// The length at the start of `document`.
#[inline(always)]
fn length(document: &[u8]) -> Option<usize> {
    usize::try_from(i32::from_le_bytes(*document.first_chunk()?)).ok()
}

impl<'i> model::Reader<'i> for Reader<'i> {
    const UNIQUE_KEYS: bool = false;
    const KEYS_ARE_TEXT: bool = true;
    const NAIVE_IS_UTC: bool = true;
    const VALUES_ARE_NAMED: bool = true;
    const TYPES: bool = false;
    const COUNTS: bool = false;
    type Place = Place;
    type Shapes = Never;
    type Extents = Self;
    type Typed = Self;
    type Indexed = Never;

    #[inline]
    fn next(&mut self) -> Result<Token<'i>> {
        if let Some(leaf) = self.leaf()? {
            return Ok(leaf.into());
        }
        match self.bson.next {
            Next::Value(bytes::DOCUMENT) if self.bson.input.offset() == 0 => {
                let end = self.bson.container()?;
                self.bson.next = Next::Item;
                // What stands apart is no member: where it is the last, the members end before it.
                Ok(Token::Members(match self.apart.element {
                    Some((from, to)) if to == end => from,
                    _ => end,
                }))
            }
            Next::Value(bytes::DOCUMENT) => {
                let before = self.bson.place();
                match self.described() {
                    Ok(Some(token)) => Ok(token),
                    Ok(None) => self.bson.next(),
                    Err(flaw) if self.damaged => {
                        self.bson.rewind(before);
                        self.flaw.get_or_insert(flaw);
                        self.bson.next()
                    }
                    Err(flaw) => Err(flaw),
                }
            }
            // Of whatever subtype: Julia knows but one kind of bytes.
            Next::Value(bytes::BINARY) => {
                let len = value_len(bytes::BINARY, self.bson.input.rest()).map_err(|flaw| self.bson.flawed(flaw))?;
                self.bson.next = Next::Item;
                match self.bson.input.take(len)?.get(bytes::HEAD + 1..) {
                    Some(data) => Ok(Token::Bytes(data)),
                    None => self.bson.malformed(BAD_PART),
                }
            }
            Next::Value(bytes::INT_32) => match self.bson.leaf_of(bytes::INT_32)? {
                Some(Leaf::Int(value)) => Ok(Token::TypedValue(TypedValue::Int32(value as i32))),
                _ => self.bson.malformed(BAD_PART),
            },
            _ => self.bson.next(),
        }
    }

    #[inline(always)]
    fn leaf(&mut self) -> Result<Option<Leaf<'i>>> {
        self.settle(self.bson.next == Next::Key);
        let tag = match self.bson.next {
            Next::Value(tag) => tag,
            Next::Item => self.bson.item()?,
            Next::Key => return self.bson.name().map(Some),
        };
        // A type of its own, unless it is bare BSON that is asked for.
        if tag == bytes::INT_32 && !self.raw {
            self.bson.next = Next::Value(tag);
            return Ok(None);
        }
        self.bson.leaf_of(tag)
    }

    #[inline(always)]
    fn key(&mut self) {
        self.bson.key();
    }

    fn encoded(text: &[u8]) -> Vec<u8> {
        bson::Reader::encoded(text)
    }

    #[inline(always)]
    fn accept(&mut self, encoded: &[u8]) -> bool {
        self.settle(true);
        self.bson.accept(encoded)
    }

    #[inline(always)]
    fn offset(&self) -> usize {
        self.bson.offset()
    }

    #[inline(always)]
    fn start(&self) -> usize {
        if self.jumps.is_empty() {
            self.bson.start()
        } else {
            self.settled().start()
        }
    }

    #[inline(always)]
    fn remaining(&self) -> usize {
        self.bson.remaining()
    }

    #[inline(always)]
    fn place(&self) -> Place {
        self.bson.place()
    }

    #[inline(always)]
    fn rewind(&mut self, place: Place) {
        self.bson.rewind(place);
    }

    fn finish(&self) -> Result<()> {
        if let Some(flaw) = &self.flaw {
            return Err(Error::new(flaw.kind().clone(), flaw.offset()));
        }
        let mut at = self.bson.offset();
        loop {
            if let Some(to) = self.jump_from(at).filter(|&to| to > at) {
                at = to;
            } else if at < self.stop && self.document.get(at) == Some(&bytes::END) {
                at += 1;
            } else {
                break;
            }
        }
        match self.stop.checked_sub(at) {
            None | Some(0) => Ok(()),
            Some(count) => Err(Error::new(ErrorKind::Trailing { count }, at)),
        }
    }

    fn skip(&mut self) -> Result<bool> {
        self.settle(self.bson.next == Next::Key);
        self.bson.skip()
    }

    #[inline(always)]
    fn extents(&self) -> Option<&Self::Extents> {
        Some(self)
    }

    #[inline(always)]
    fn typed(&self) -> Option<&Self::Typed> {
        Some(self)
    }
}

impl model::ExtentReader for Reader<'_> {
    fn count(&self, end: usize) -> Result<usize> {
        let here = self.bson.offset();
        match self.apart.element {
            Some((from, _)) if end == from => {
                let before = match self.bson.next {
                    // The type and the name of the next one were read.
                    Next::Value(tag) => {
                        let len = value_len(tag, self.bson.input.rest()).map_err(|flaw| self.bson.flawed(flaw))?;
                        Some(here.saturating_add(len))
                    }
                    _ => None,
                };
                let mut count = usize::from(before.is_some());
                let mut at = before.unwrap_or(here);
                let mut elements = Elements::at(self.document, at);
                while at < end {
                    let Some(element) = elements.next() else { break };
                    let element = element?;
                    at = element.at + element.value.len();
                    count += 1;
                }
                if at != end {
                    return Err(self.bson.flawed(Flaw { kind: ErrorKind::Malformed { why: DOCUMENT_OPEN }, at: 0 }));
                }
                Ok(count)
            }
            Some((from, _)) if end == self.apart.end && from >= here => Ok(self.bson.count(end)?.saturating_sub(1)),
            _ => self.bson.count(end),
        }
    }
}

impl<'i> model::TypedReader<'i, Place> for Reader<'i> {
    fn back_references(&self) -> Result<Vec<Place>> {
        Ok(self.apart.values.iter().map(|&(tag, at)| Place::of_value(tag, at)).collect())
    }

    fn type_place(&self, class: usize) -> Place {
        Place::of_value(bytes::DOCUMENT, self.types.get(class).map_or(0, |&(_, at)| at))
    }

    fn dimensions(dimensions: Dimensions<'i>) -> impl Iterator<Item = Result<usize>> {
        each(dimensions.0, dimensions.1, BAD_SHAPE, |element| {
            integer(element).and_then(|len| usize::try_from(len).ok())
        })
    }

    fn path(path: Path<'i>) -> impl Iterator<Item = Result<&'i [u8]>> {
        each(path.0, path.1, BAD_PATH, |element| (element.tag == bytes::STRING).then(|| text(element)).flatten())
    }
}

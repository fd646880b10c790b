//! A typed value taken apart: its tag, and the places of its parts.

use super::tag::{self, Tag};
use crate::bson::length::DOCUMENT_OPEN;
use crate::bson::{tag as bytes, Element, Elements};
use crate::error::{Error, ErrorKind, Result};
use std::ops::Range;

const LACKS_PART: &str = "a tagged document that lacks one of its parts";
pub(super) const BAD_PART: &str = "a tagged document with a part of another type than it has";

/// Whether a document is a typed value. A malformed one is an error when it is read.
pub fn is_tagged(document: &[u8]) -> bool {
    matches!(Found::new(document, 0, document.len()), Ok(Some(_)) | Err(_))
}

/// The places of an instance's parts in its document: the description of its type, and the array of its fields.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Instance {
    pub class: Range<usize>,
    pub fields: Range<usize>,
}

/// The parts of an instance with fields; `None` for other documents.
pub fn instance(document: &[u8]) -> Option<Instance> {
    let found = Found::new(document, 0, document.len()).ok()?.filter(|found| found.tag == Tag::Struct)?;
    let range = |name: &str, tag: u8| {
        let part = found.named(name).filter(|part| part.tag == tag)?;
        Some(part.at..part.at + part.value.len())
    };
    Some(Instance { class: range(tag::TYPE, bytes::DOCUMENT)?, fields: range(tag::DATA, bytes::ARRAY)? })
}

/// A typed value and its elements.
pub(super) struct Found<'i> {
    pub(super) tag: Tag,
    pub(super) start: usize,
    pub(super) len: usize,
    elements: [Option<Element<'i>>; tag::MOST_ELEMENTS],
}

impl<'i> Found<'i> {
    /// The document at `start`, if it has a tag.
    pub(super) fn new(document: &'i [u8], start: usize, len: usize) -> Result<Option<Self>> {
        let inner = document.get(start..start + len).unwrap_or_default();
        if inner.last() != Some(&bytes::END) {
            return Err(Error::new(ErrorKind::Malformed { why: DOCUMENT_OPEN }, start));
        }
        let (mut tag, mut elements) = (None, [None; tag::MOST_ELEMENTS]);
        for (at, element) in Elements::new(inner).map_err(|error| error.shifted(start))?.enumerate() {
            let element = element.map_err(|error| error.shifted(start))?;
            let Some(place) = elements.get_mut(at) else { return Ok(None) };
            if element.name == tag::TAG.as_bytes() {
                tag = (element.tag == bytes::STRING).then(|| text(&element)).flatten().and_then(Tag::named);
                if tag.is_none() {
                    return Ok(None);
                }
            }
            *place = Some(element);
        }
        Ok(tag.map(|tag| Found { tag, start, len, elements }))
    }

    pub(super) fn named(&self, name: &str) -> Option<Element<'i>> {
        self.elements.iter().flatten().find(|element| element.name == name.as_bytes()).copied()
    }

    pub(super) fn part(&self, name: &str) -> Result<Element<'i>> {
        self.named(name).ok_or_else(|| Error::new(ErrorKind::Malformed { why: LACKS_PART }, self.start))
    }

    #[cold]
    pub(super) fn bad<T>(&self, part: &Element<'i>) -> Result<T> {
        Err(Error::new(ErrorKind::Malformed { why: BAD_PART }, self.start + part.at))
    }

    pub(super) fn end_of(&self, part: &Element<'i>) -> usize {
        self.start + part.at + part.value.len()
    }

    pub(super) fn of_type(&self, part: &Element<'i>, tag: u8) -> Result<&'i [u8]> {
        if part.tag == tag {
            Ok(part.value)
        } else {
            self.bad(part)
        }
    }

    pub(super) fn text(&self, part: &Element<'i>) -> Result<&'i [u8]> {
        match (part.tag, text(part)) {
            (bytes::STRING, Some(text)) => Ok(text),
            _ => self.bad(part),
        }
    }

    pub(super) fn binary(&self, part: &Element<'i>) -> Result<&'i [u8]> {
        // A length, which says where the value ends, and a subtype.
        match part.value.get(bytes::HEAD + 1..) {
            Some(data) => Ok(data),
            None => self.bad(part),
        }
    }

    pub(super) fn number(&self, part: &Element<'i>) -> Result<u64> {
        match integer(part).and_then(|number| u64::try_from(number).ok()) {
            // The file counts from 1; here 0 is the outermost value.
            Some(number @ 1..) => Ok(number),
            _ => self.bad(part),
        }
    }
}

pub(super) fn text<'i>(element: &Element<'i>) -> Option<&'i [u8]> {
    match element.value.get(bytes::HEAD..)?.split_last()? {
        (0, text) => Some(text),
        _ => None,
    }
}

pub(super) fn integer(element: &Element<'_>) -> Option<i64> {
    match element.tag {
        bytes::INT_64 => element.value.first_chunk().map(|value| i64::from_le_bytes(*value)),
        bytes::INT_32 => element.value.first_chunk().map(|value| i64::from(i32::from_le_bytes(*value))),
        _ => None,
    }
}

/// The elements of an array, each converted by `make`.
pub(super) fn each<'i, T>(
    array: &'i [u8],
    at: usize,
    why: &'static str,
    make: fn(&Element<'i>) -> Option<T>,
) -> impl Iterator<Item = Result<T>> + use<'i, T> {
    let (elements, refused) = match Elements::new(array) {
        Ok(elements) => (Some(elements), None),
        Err(error) => (None, Some(Err(error.shifted(at)))),
    };
    let made = elements.into_iter().flatten().map(move |element| {
        let element = element.map_err(|error| error.shifted(at))?;
        make(&element).ok_or_else(|| Error::new(ErrorKind::Malformed { why }, at + element.at))
    });
    refused.into_iter().chain(made)
}

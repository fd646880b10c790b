//! The elements of a document, unread: for looking one up by its name, and for keeping the bytes of a value.

use super::length::{document_body, nul, value_len, Flaw, DOCUMENT_OPEN, NAME_OPEN};
use super::tag;
use crate::error::{Error, Result};

/// Splits `input` after its first document, as its length says.
pub fn split_first(input: &[u8]) -> Result<(&[u8], &[u8])> {
    match document_body(input, false) {
        Ok(body) => Ok(input.split_at(4 + body.len())),
        Err(flaw) => Err(Error::new(flaw.kind, flaw.at)),
    }
}

/// Whether `input` is one document by its length and its last byte. Its elements are not checked.
pub fn is_framed(input: &[u8]) -> bool {
    document_body(input, true).is_ok_and(|body| body.last() == Some(&tag::END))
}

/// An element of a document, unread.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Element<'i> {
    pub tag: u8,
    /// Supposedly UTF-8; not checked.
    pub name: &'i [u8],
    /// For [`Reader::of_value`](super::Reader::of_value).
    pub value: &'i [u8],
    /// The offset of the value in the document.
    pub at: usize,
}

/// Iterates over the elements of a document. Their values are not read.
#[derive(Debug, Clone)]
pub struct Elements<'i> {
    document: &'i [u8],
    rest: &'i [u8],
}

impl<'i> Elements<'i> {
    /// The elements of a document (or an array) that fills `document`.
    pub fn new(document: &'i [u8]) -> Result<Self> {
        let rest = document_body(document, true).map_err(|flaw| Error::new(flaw.kind, flaw.at))?;
        Ok(Elements { document, rest })
    }

    /// The elements from that offset on, in a document for which [`Elements::new`] succeeded.
    pub fn at(document: &'i [u8], offset: usize) -> Self {
        Elements { document, rest: document.get(offset..).unwrap_or_default() }
    }

    fn element(&mut self) -> std::result::Result<Option<Element<'i>>, Flaw> {
        let (tag, named) = match self.rest {
            [tag::END] => return Ok(None),
            [] | [tag::END, ..] => return Flaw::malformed(DOCUMENT_OPEN, 0),
            [tag, named @ ..] => (*tag, named),
        };
        let Some((len, _)) = nul(named) else { return Flaw::malformed(NAME_OPEN, 0) };
        let (name, rest) = (&named[..len], &named[len + 1..]);
        let before = len + 2;
        let len = value_len(tag, rest).map_err(|flaw| Flaw { at: flaw.at + before, ..flaw })?;
        let Some((value, after)) = rest.split_at_checked(len) else { return Flaw::malformed(DOCUMENT_OPEN, before) };
        self.rest = after;
        Ok(Some(Element { tag, name, value, at: self.document.len() - rest.len() }))
    }
}

impl<'i> Iterator for Elements<'i> {
    type Item = Result<Element<'i>>;

    fn next(&mut self) -> Option<Self::Item> {
        match self.element() {
            Ok(element) => element.map(Ok),
            Err(flaw) => {
                let at = self.document.len() - self.rest.len();
                self.rest = &[tag::END];
                Some(Err(Error::new(flaw.kind, at + flaw.at)))
            }
        }
    }
}

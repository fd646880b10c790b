//! Documents as their elements, unread: for those who look for one by its name, or keep the bytes of a value.

use super::length::{document_body, nul, value_len, Flaw, DOCUMENT_OPEN, NAME_OPEN};
use super::tag;
use crate::error::{Error, Result};

/// The document at the start of `input`, as far as its length says, and what stands behind it.
pub fn split_first(input: &[u8]) -> Result<(&[u8], &[u8])> {
    match document_body(input, false) {
        Ok(body) => Ok(input.split_at(4 + body.len())),
        Err(flaw) => Err(Error::new(flaw.kind, flaw.at)),
    }
}

/// Whether a document's length is that of all of `input`, which ends as documents do. Its elements are not looked at.
pub fn is_framed(input: &[u8]) -> bool {
    document_body(input, true).is_ok_and(|body| body.last() == Some(&tag::END))
}

/// One element of a document, unread.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Element<'i> {
    pub tag: u8,
    /// UTF-8, not yet checked.
    pub name: &'i [u8],
    /// For [`Reader::of_value`](super::Reader::of_value).
    pub value: &'i [u8],
    /// Where the value begins in the document.
    pub at: usize,
}

impl Element<'_> {
    /// Where the element begins in the document: its type and name stand before the value.
    pub fn start(&self) -> usize {
        self.at - self.name.len() - 2
    }

    /// Where the next one begins.
    pub fn end(&self) -> usize {
        self.at + self.value.len()
    }

    /// The name of so many bytes of the element whose value begins at that offset.
    pub fn name_before(document: &[u8], at: usize, len: usize) -> &[u8] {
        // A NUL stands between the two.
        let end = at.saturating_sub(1);
        document.get(end.saturating_sub(len)..end).unwrap_or_default()
    }
}

/// The elements of a document, one after the other. Their values are not looked into.
#[derive(Debug, Clone)]
pub struct Elements<'i> {
    document: &'i [u8],
    rest: &'i [u8],
}

impl<'i> Elements<'i> {
    /// Where the first element of a document begins.
    pub const FIRST: usize = tag::HEAD;

    /// Of a document (or an array) that is all of `document`.
    pub fn new(document: &'i [u8]) -> Result<Self> {
        let rest = document_body(document, true).map_err(|flaw| Error::new(flaw.kind, flaw.at))?;
        Ok(Elements { document, rest })
    }

    /// From the element on that begins at that offset of a document of which [`Elements::new`] was made.
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

//! The capability that a format does not have.

use super::reader::{ExtentReader, IndexedReader, ShapeReader, TypedReader};
use super::{Dimensions, Name, Path, Shape};
use crate::error::Result;
use crate::memory::Vec;
use std::iter::Empty;

/// Stands for a capability that a format does not have: there is no value of it to call anything of.
#[derive(Debug, Clone, Copy)]
pub enum Never {}

#[allow(refining_impl_trait)]
impl<'i> ShapeReader<'i> for Never {
    fn names(_: &Shape<'i>) -> Empty<Result<Name<'i>>> {
        std::iter::empty()
    }
}

impl ExtentReader for Never {
    fn count(&self, _: usize) -> Result<usize> {
        match *self {}
    }
}

impl<'i, P> IndexedReader<'i, P> for Never {
    fn counts(&self) -> Result<(u64, u64)> {
        match *self {}
    }

    fn place_of(&self, _: u64) -> Result<P> {
        match *self {}
    }

    fn shape_of(&self, _: usize) -> Result<(Shape<'i>, u64)> {
        match *self {}
    }
}

#[allow(refining_impl_trait)]
impl<'i, P> TypedReader<'i, P> for Never {
    fn back_references(&self) -> Result<Vec<P>> {
        match *self {}
    }

    fn type_place(&self, _: usize) -> P {
        match *self {}
    }

    fn dimensions(_: Dimensions<'i>) -> Empty<Result<usize>> {
        std::iter::empty()
    }

    fn path(_: Path<'i>) -> Empty<Result<&'i [u8]>> {
        std::iter::empty()
    }
}

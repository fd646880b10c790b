//! Arrays: packed ones become NumPy arrays, which own their memory or view the input's; others hold objects.

use crate::cpython::owned;
use crate::cpython::{new, Owned};
use crate::decode::frame::{Frame, Kind};
use crate::decode::Decoder;
use crate::dialect::julia::known::{FromJulia, JuliaReader};
use crate::dialect::julia::values::WRONG_SIZE;
use crate::dialect::julia::{bound, call, Elements};
use crate::error::{decode, Result};
use crate::memory::Vec;
use crate::types::numpy;
use holdall_format::model::Dimensions;
use pyo3::types::PyTuple;

/// The most dimensions that every version of NumPy supports.
const MOST_DIMENSIONS: usize = 32;

impl<'i, R: JuliaReader<'i>> Decoder<'i, FromJulia<'i, R>> {
    /// The lengths of an array's dimensions, and the number of elements.
    pub(crate) fn dimensions(&self, stored: Dimensions<'i>) -> Result<(Vec<usize>, usize)> {
        let (mut dimensions, mut count) = (Vec::new(), Some(1usize));
        for len in R::dimensions(stored) {
            let len = len?;
            if dimensions.len() == MOST_DIMENSIONS {
                return Err(decode(format_args!("an array of more than {MOST_DIMENSIONS} dimensions"), self.here()));
            }
            dimensions.push(len);
            count = count.and_then(|count| count.checked_mul(len));
        }
        match count.filter(|&count| count <= isize::MAX as usize / 64) {
            Some(count) => Ok((dimensions, count)),
            None => Err(decode("an array larger than any memory", self.here())),
        }
    }

    pub(crate) fn element_size(&self, count: usize, data: &[u8]) -> Result<usize> {
        match count {
            0 if data.is_empty() => Ok(0),
            0 => Err(decode(WRONG_SIZE, self.here())),
            _ if data.len().is_multiple_of(count) => Ok(data.len() / count),
            _ => Err(decode(WRONG_SIZE, self.here())),
        }
    }

    /// An array whose elements contain no references.
    pub(crate) fn packed(&mut self, element: usize, dimensions: Dimensions<'i>, data: &'i [u8]) -> Result<Owned> {
        let (py, at, julia) = (self.py, self.here(), self.dialect.julia);
        let described = self.described(element)?;
        let (dimensions, count) = self.dimensions(dimensions)?;
        let size = self.element_size(count, data)?;
        // Elements without bytes still cost a slot each.
        self.charge(if size == 0 { 64usize.saturating_mul(count) } else { 256 })?;
        match &*described.elements(py, julia, size).map_err(|error| self.refuse(error, at))? {
            Elements::Dtype(_) if size == 0 && count > 0 => Err(decode(WRONG_SIZE, at)),
            Elements::Dtype(dtype) => self.array_of(dtype, &dimensions, data, at),
            Elements::Converted(function) => {
                self.charge(data.len().saturating_mul(16))?;
                let dimensions = PyTuple::new(py, &dimensions)?;
                let made = call(py, function, (bound(py, &described.object), new::bytes(py, data)?, dimensions));
                Ok(owned(&made.map_err(|error| self.refuse(error, at))?))
            }
        }
    }

    pub(crate) fn array_of(&mut self, dtype: &Owned, dimensions: &[usize], data: &'i [u8], at: usize) -> Result<Owned> {
        let dtype = bound(self.py, dtype);
        match &self.dialect.julia.views {
            Some((owner, base)) if !data.is_empty() => {
                let offset = data.as_ptr() as usize - base;
                numpy::view_in_columns(&dtype, dimensions, &bound(self.py, owner), offset, at)
            }
            _ => {
                self.charge(data.len())?;
                numpy::copy_in_columns(&dtype, dimensions, data, at)
            }
        }
    }

    /// Bytes, which are a vector of `UInt8`.
    pub(crate) fn octets(&mut self, data: &'i [u8]) -> Result<Option<Owned>> {
        let (py, at) = (self.py, self.here());
        let made = match self.dialect.julia.raw {
            true => owned(new::bytes(py, data)?.as_any()),
            false => {
                self.charge(256)?;
                let dtype = numpy::uint8(py, at)?;
                self.array_of(&dtype, &[data.len()], data, at)?
            }
        };
        self.done(Some(made))
    }

    /// An array of objects, created before its items.
    pub(crate) fn boxed(&mut self, element: usize, dimensions: Dimensions<'i>, len: usize) -> Result<Option<Owned>> {
        let (py, at, julia) = (self.py, self.here(), self.dialect.julia);
        let described = self.described(element)?;
        let (dimensions, count) = self.dimensions(dimensions)?;
        if count != len {
            return Err(decode(WRONG_SIZE, at));
        }
        self.claim(len, 256 + 8 * len)?;
        let dtype = described.boxed_dtype(py, julia).map_err(|error| self.refuse(error, at))?;
        let (array, places) = numpy::objects_in_columns(&dtype, &dimensions, at)?;
        let object_id = self.take_id();
        self.opened(object_id, array.get());
        if len == 0 {
            self.whole(object_id, array.get());
            return Ok(Some(array));
        }
        let frame = self.frame(Kind::Array, Some(array), len, object_id);
        Ok(self.push(Frame { key: Some(places), ..frame }))
    }
}

//! An index as bytes.

use super::{Checkpoint, Container, Extent, Index, Keys, Pages, Point, ShapeAt};
use crate::cursor::Cursor;
use crate::error::{Error, ErrorKind, Result};
use crate::hold::{reader, writer};
use crate::memory::Vec;

impl Index {
    /// The body of an index's frame.
    pub fn to_bytes(&self) -> Vec<u8> {
        let mut out = Vec::new();
        let mut put = |value: u64| writer::length(&mut out, value);
        put_extent(&mut put, &self.message);
        put(self.buffers.len() as u64);
        self.buffers.iter().for_each(|extent| put_extent(&mut put, extent));
        put(self.numbers);
        put(self.shapes.len() as u64);
        for shape in &self.shapes {
            [shape.at, shape.numbers, shape.values].into_iter().for_each(&mut put);
        }
        put(self.checkpoints.len() as u64);
        for checkpoint in &self.checkpoints {
            [checkpoint.at, checkpoint.numbers, checkpoint.shapes].into_iter().for_each(&mut put);
        }
        put(self.containers.len() as u64);
        for container in &self.containers {
            [container.at, container.end, container.points.len() as u64].into_iter().for_each(&mut put);
            for point in &container.points {
                [point.value, point.at].into_iter().for_each(&mut put);
            }
        }
        put(self.keys.len() as u64);
        for keys in &self.keys {
            let pages: &[_] = if let Pages::InFile(pages) = &keys.pages { pages } else { &[] };
            [keys.at, u64::from(keys.complete), pages.len() as u64].into_iter().for_each(&mut put);
            for &(hash, at) in pages {
                [u64::from(hash), at].into_iter().for_each(&mut put);
            }
        }
        out
    }

    /// Mirror of [`Index::to_bytes`].
    pub fn parse(body: &[u8]) -> Result<Index> {
        let mut input = Cursor::new(body);
        let r = &mut input;
        let mut index = Index { message: take_extent(r)?, ..Index::default() };
        index.buffers = many(r, 3, take_extent)?;
        index.numbers = take(r)?;
        index.shapes = many(r, 3, |r| Ok(ShapeAt { at: take(r)?, numbers: take(r)?, values: take(r)? }))?;
        index.checkpoints = many(r, 3, |r| Ok(Checkpoint { at: take(r)?, numbers: take(r)?, shapes: take(r)? }))?;
        index.containers = many(r, 3, |r| {
            let (at, end) = (take(r)?, take(r)?);
            Ok(Container { at, end, points: many(r, 2, |r| Ok(Point { value: take(r)?, at: take(r)? }))? })
        })?;
        index.keys = many(r, 3, |r| {
            let (at, complete) = (take(r)?, take(r)? != 0);
            let pages = many(r, 2, |r| {
                let hash = u32::try_from(take(r)?);
                Ok((hash.map_err(|_| Error::new(ErrorKind::TooLong, r.offset()))?, take(r)?))
            })?;
            Ok(Keys { at, complete, pages: Pages::InFile(pages) })
        })?;
        input.finish()?;
        Ok(index)
    }
}

fn put_extent(put: &mut impl FnMut(u64), extent: &Extent) {
    [extent.at, extent.len, extent.blocks.len() as u64].into_iter().for_each(&mut *put);
    extent.blocks.iter().for_each(|&at| put(at));
}

fn take_extent(r: &mut Cursor<'_>) -> Result<Extent> {
    Ok(Extent { at: take(r)?, len: take(r)?, blocks: many(r, 1, take)? })
}

fn take(r: &mut Cursor<'_>) -> Result<u64> {
    reader::length(r).map(|value| value as u64)
}

/// A count, and so many of what takes at least `least` bytes.
fn many<T>(r: &mut Cursor<'_>, least: usize, mut read: impl FnMut(&mut Cursor<'_>) -> Result<T>) -> Result<Vec<T>> {
    let len = reader::length(r)?;
    let len = r.claim(len, least)?;
    (0..len).map(|_| read(r)).collect()
}

//! An index as bytes.

use super::pages::{Near, Page};
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
        put_containers(&mut put, &self.containers, None);
        put_keys(&mut put, &self.keys);
        if !self.pages.is_empty() {
            self.pages.iter().for_each(|page| put(page.at));
            self.keys.iter().for_each(|keys| [keys.items, keys.number].into_iter().for_each(&mut put));
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
        index.containers = take_containers(r, None)?;
        index.keys = take_keys(r)?;
        if r.remaining() > 0 {
            index.pages = index.checkpoints.iter().map(|_| take(r).map(Page::new)).collect::<Result<_>>()?;
            for keys in &mut index.keys {
                (keys.items, keys.number) = (take(r)?, take(r)?);
            }
        }
        input.finish()?;
        Ok(index)
    }
}

impl Near {
    /// The body of a page's frame; the page begins at `from`.
    pub(super) fn to_bytes(&self, from: &Checkpoint) -> Vec<u8> {
        let mut out = Vec::new();
        let mut put = |value: u64| writer::length(&mut out, value);
        put(self.checkpoints.len() as u64);
        let mut last = from;
        for next in &self.checkpoints {
            let steps = [next.at - last.at, next.numbers - last.numbers, next.shapes - last.shapes];
            steps.into_iter().for_each(&mut put);
            last = next;
        }
        put_containers(&mut put, &self.containers, Some(from.at));
        put_keys(&mut put, &self.keys);
        out
    }

    /// Mirror of [`Near::to_bytes`].
    pub(super) fn parse(body: &[u8], from: &Checkpoint) -> Result<Near> {
        let mut input = Cursor::new(body);
        let r = &mut input;
        let mut last = *from;
        let checkpoints = many(r, 3, |r| {
            let mut step = |value: u64| take(r).map(|step| value.saturating_add(step));
            last = Checkpoint { at: step(last.at)?, numbers: step(last.numbers)?, shapes: step(last.shapes)? };
            Ok(last)
        })?;
        let near = Near { checkpoints, containers: take_containers(r, Some(from.at))?, keys: take_keys(r)? };
        input.finish()?;
        Ok(near)
    }
}

/// Points of a page are told by what lies between them; `from` is where it begins.
fn put_containers(put: &mut impl FnMut(u64), containers: &[Container], from: Option<u64>) {
    put(containers.len() as u64);
    for container in containers {
        [container.at, container.end, container.points.len() as u64].into_iter().for_each(&mut *put);
        let mut last = Point { value: 0, at: from.unwrap_or(0) };
        for point in &container.points {
            [point.value - last.value, point.at - last.at].into_iter().for_each(&mut *put);
            if from.is_some() {
                last = *point;
            }
        }
    }
}

fn take_containers(r: &mut Cursor<'_>, from: Option<u64>) -> Result<Vec<Container>> {
    many(r, 3, |r| {
        let (at, end) = (take(r)?, take(r)?);
        let mut last = Point { value: 0, at: from.unwrap_or(0) };
        let points = many(r, 2, |r| {
            let point = Point { value: last.value.saturating_add(take(r)?), at: last.at.saturating_add(take(r)?) };
            if from.is_some() {
                last = point;
            }
            Ok(point)
        })?;
        Ok(Container { at, end, points })
    })
}

fn put_keys(put: &mut impl FnMut(u64), keys: &[Keys]) {
    put(keys.len() as u64);
    for keys in keys {
        let pages: &[_] = if let Pages::InFile(pages) = &keys.pages { pages } else { &[] };
        [keys.at, u64::from(keys.complete), pages.len() as u64].into_iter().for_each(&mut *put);
        for &(hash, at) in pages {
            [u64::from(hash), at].into_iter().for_each(&mut *put);
        }
    }
}

fn take_keys(r: &mut Cursor<'_>) -> Result<Vec<Keys>> {
    many(r, 3, |r| {
        let (at, complete) = (take(r)?, take(r)? != 0);
        let pages = many(r, 2, |r| {
            let hash = u32::try_from(take(r)?);
            Ok((hash.map_err(|_| Error::new(ErrorKind::TooLong, r.offset()))?, take(r)?))
        })?;
        Ok(Keys { at, items: 0, number: 0, complete, pages: Pages::InFile(pages) })
    })
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

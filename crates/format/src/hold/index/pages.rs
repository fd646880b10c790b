//! The second level of a large message's index: what lies between one of its checkpoints and the next, in a frame of its own.
//!
//! The first level is an index with few places: a checkpoint a page, the containers that go beyond a page, and for each page the first of
//! their points in it. So it stays as small as it is of a small message, and a reader needs it and one page, wherever something is.

use super::{Checkpoint, Container, Index, Keys};
use crate::error::{Error, ErrorKind, Result};
use crate::hold::frame::Frame;
use crate::hold::tag;
use crate::hold::writer::Writer;
use crate::memory::Vec;
use crate::model::Writer as _;
use std::sync::OnceLock;

/// Checkpoints in a page.
const PLACES: usize = 256;
/// An index with no more checkpoints is in one piece: it comes with the file's end as soon as its first level would.
const LEAST: usize = 512;
/// So many of the dicts whose keys have frames of their own stay in the first level, the largest first: what is looked up in them is found
/// without a page that says nothing but where they are.
const DICTS: usize = 64;

/// A dict, as the index tells of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Dict {
    /// Where it begins, behind its mark.
    pub at: usize,
    /// Where its first key begins.
    pub first: usize,
    /// How many items it has.
    pub len: usize,
    pub number: Option<u64>,
}

/// A page of a file.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Page {
    /// Where its frame begins.
    pub at: u64,
    /// What it says, once somebody has read it.
    near: OnceLock<Near>,
}

/// What a page says, beside the checkpoint that it begins at.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Near {
    pub checkpoints: Vec<Checkpoint>,
    /// Those that begin and end here. Of those that go beyond, the points that lie here, behind the first.
    pub containers: Vec<Container>,
    pub keys: Vec<Keys>,
}

impl Page {
    pub fn new(at: u64) -> Page {
        Page { at, near: OnceLock::new() }
    }

    pub fn near(&self) -> Option<&Near> {
        self.near.get()
    }
}

impl Near {
    pub fn container(&self, at: u64) -> Option<&Container> {
        let found = self.containers.binary_search_by_key(&at, |container| container.at).ok()?;
        self.containers.get(found)
    }
}

/// The number of the checkpoint at or before that place.
fn page_of(checkpoints: &[Checkpoint], at: u64) -> Option<usize> {
    checkpoints.partition_point(|checkpoint| checkpoint.at <= at).checked_sub(1)
}

impl Index {
    /// What is known of a place beside the first level.
    pub(super) fn near(&self, at: u64) -> Option<&Near> {
        self.pages.get(page_of(&self.checkpoints, at)?)?.near()
    }

    /// The number of the page that tells of a place in the message, if there is one that was not read yet.
    pub fn missing_page(&self, at: usize) -> Option<usize> {
        let number = page_of(&self.checkpoints, at as u64)?;
        self.pages.get(number)?.near().is_none().then_some(number)
    }

    /// Where a page's frame begins in the file, and the next page's or the index's, which is at `index_at`.
    pub fn page_in_file(&self, number: usize, index_at: u64) -> (u64, u64) {
        let at = |number: usize| self.pages.get(number).map_or(index_at, |page| page.at);
        (at(number), at(number + 1))
    }

    /// The dict there, or behind a mark there, if the first level says that there is one. `len`: the bytes of the message.
    pub fn dict_at(&self, at: usize, len: u64) -> Option<Dict> {
        let find = |at: usize| {
            let found = self.keys.binary_search_by_key(&(at as u64), |keys| keys.at).ok()?;
            self.keys.get(found)
        };
        let keys = match find(at) {
            Some(keys) => keys,
            // A mark takes one byte.
            None => find(at.checked_add(1)?).filter(|keys| keys.number > 0)?,
        };
        if keys.number > self.numbers {
            return None;
        }
        let at = usize::try_from(keys.at).ok()?;
        // Each takes two bytes or more.
        let most = len.saturating_sub(keys.at) / 2;
        let items = usize::try_from(Some(keys.items).filter(|items| (1..=most).contains(items))?).ok()?;
        let mut head = Writer::new(Vec::new(), false);
        let begun = head.out.len();
        head.dict(items);
        let first = at.checked_add(head.out.len() - begun)?;
        Some(Dict { at, first, len: items, number: keys.number.checked_sub(1) })
    }

    /// Reads a page of a file in which it is at hand.
    pub fn read_page(&self, file: &[u8], number: usize) -> Result<()> {
        let (Some(page), Some(from)) = (self.pages.get(number), self.checkpoints.get(number)) else { return Ok(()) };
        let frame = Frame::at(file, usize::try_from(page.at).unwrap_or(usize::MAX))?;
        let Some(frame) = frame.filter(|frame| frame.head.kind == tag::PLACES) else {
            return Err(Error::new(ErrorKind::BadFile { why: "an index whose pages are not where it says" }, 0));
        };
        let near = Near::parse(frame.verified(file)?, from)?;
        // Another thread may have been faster.
        let _ = page.near.set(near);
        Ok(())
    }

    /// Reads all pages of a file that is at hand.
    pub fn read_pages(&self, file: &[u8]) -> Result<()> {
        (0..self.pages.len()).try_for_each(|number| self.read_page(file, number))
    }

    /// How many bytes the smallest of the [`DICTS`] largest dicts takes.
    fn least_of_dicts(&self) -> u64 {
        let mut keys = self.keys.iter().peekable();
        let sizes = self.containers.iter().filter_map(|container| {
            keys.next_if(|keys| keys.at == container.at).map(|_| container.end.saturating_sub(container.at))
        });
        let mut sizes: Vec<u64> = sizes.collect();
        sizes.sort_unstable_by(|one, other| other.cmp(one));
        // Where there are more of one size, none of them stays.
        match sizes.get(DICTS) {
            Some(next) => next.saturating_add(1),
            None => 0,
        }
    }

    /// Cuts a large index into two levels; gives the pages to `write`, frame by frame, which says where each is. The keys of dicts have to
    /// be in the file by then.
    pub fn put_pages<E>(
        &mut self,
        mut write: impl FnMut(&[u8]) -> std::result::Result<u64, E>,
    ) -> std::result::Result<(), E> {
        if self.checkpoints.len() <= LEAST {
            return Ok(());
        }
        let checkpoints = std::mem::take(&mut self.checkpoints);
        let mut nears: Vec<Near> = Vec::new();
        for page in checkpoints.chunks(PLACES) {
            self.checkpoints.push(page[0]);
            nears.push(Near { checkpoints: page[1..].iter().copied().collect(), ..Near::default() });
        }
        let first_level = &self.checkpoints;
        let of = |at| page_of(first_level, at).unwrap_or(0);
        let (mut long, mut long_keys) = (Vec::new(), Vec::new());
        let least = self.least_of_dicts();
        let mut keys = std::mem::take(&mut self.keys).into_iter().peekable();
        for mut container in std::mem::take(&mut self.containers) {
            let page = of(container.at);
            let is_long = first_level.get(page + 1).is_some_and(|next| next.at < container.end);
            let keys = keys.next_if(|keys| keys.at == container.at);
            let is_large = keys.is_some() && container.end - container.at >= least;
            if !is_long && !is_large {
                nears[page].keys.extend(keys);
                nears[page].containers.push(container);
                continue;
            }
            long_keys.extend(keys);
            let points = std::mem::take(&mut container.points);
            for run in points.chunk_by(|one, next| of(one.at) == of(next.at)) {
                container.points.push(run[0]);
                if run.len() > 1 {
                    let points = run[1..].iter().copied().collect();
                    nears[of(run[0].at)].containers.push(Container { points, ..container });
                }
            }
            long.push(container);
        }
        (self.containers, self.keys) = (long, long_keys);
        for (near, from) in nears.into_iter().zip(&self.checkpoints) {
            let at = write(&near.to_bytes(from))?;
            self.pages.push(Page { at, near: OnceLock::from(near) });
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::super::{Search, Walks};
    use super::*;
    use crate::hold::file::{write, Graph, Parts};
    use crate::hold::index::{span, LEAST_SPAN};
    use crate::hold::window::AtHand;
    use crate::model::{ReferenceWriter as _, ShapeKind, ShapeWriter as _, Text};

    const RECORDS: usize = 60_000;
    const KEYS: usize = 70;

    /// A dict of a list of records, between them some lists and dicts that are longer than a span, and a list that goes over all pages.
    fn message() -> Vec<u8> {
        let mut w = Writer::new(Vec::new(), false);
        w.list(3);
        w.list(RECORDS);
        for number in 0..RECORDS {
            if number % 600 == 0 {
                w.dict(KEYS);
                for key in 0..KEYS {
                    w.text(Text::Ascii(format!("key {number} {key}").as_bytes()));
                    w.text(Text::Ascii(&[b'v'; 100]));
                }
            } else if number % 100 == 0 {
                w.assign_id();
                let block = w.shape_begin(ShapeKind::Dict, 0, 2);
                w.text(Text::Ascii(format!("name {number}").as_bytes()));
                w.text(Text::Ascii(b"other"));
                w.shape_end(block);
                w.int(number as i64);
                w.list(1_000);
                (0..1_000).for_each(|item| w.int(item * 1_000_000));
            } else {
                w.list(2);
                w.text(Text::Ascii(&[b'x'; 40]));
                w.int(number as i64);
            }
        }
        w.dict(1_000);
        for key in 0..1_000 {
            w.text(Text::Ascii(format!("key {key}").as_bytes()));
            w.text(Text::Ascii(&[b'w'; 3_000]));
        }
        w.int(7);
        w.out
    }

    fn file(message: &[u8]) -> Vec<u8> {
        let mut out = Vec::new();
        let graph = Graph { message, buffers: &[], compression: None, threads: 1 };
        write(&mut out, &graph, &mut |_| Ok(())).unwrap();
        out
    }

    /// The index of a file, of which pages may be read.
    fn first_level(file: &[u8]) -> Index {
        Parts::of_ends(file).unwrap().index.unwrap()
    }

    #[test]
    fn two_levels_say_what_one_says() {
        let message = message();
        let (one, file) = (Index::scan(&message).unwrap(), file(&message));
        let two = Parts::of(&file).unwrap().index.unwrap();
        assert!(two.pages.len() > 3 && one.pages.is_empty() && one.checkpoints.len() > two.checkpoints.len() * 200);
        assert!(two.containers.len() < 12 && one.containers.len() > 500);
        // Of a hundred small dicts those that are larger than the others stay in the first level.
        assert!(two.keys.len() < DICTS && one.keys.len() > DICTS);
        let list = one.value(&message, 1, 2, 0).unwrap().unwrap();
        let first = list + 4;
        let dict = one.value(&message, 1, 2, 1).unwrap().unwrap();
        assert_eq!(two.value(&message, 1, 2, 1).unwrap().unwrap(), dict);
        for value in (0..RECORDS).step_by(37) {
            let place = one.value(&message, list, first, value).unwrap().unwrap();
            assert_eq!(two.value(&message, list, first, value).unwrap().unwrap(), place);
            assert_eq!(two.counts(&message, place).unwrap(), one.counts(&message, place).unwrap());
            assert_eq!(two.skip(&message, place).unwrap(), one.skip(&message, place).unwrap());
            assert_eq!((two.end_of(place), two.walked_from(place)), (one.end_of(place), one.walked_from(place)));
            assert!(place - two.walked_from(place) <= span(&message) as usize + 3_000);
        }
        for number in (0..one.numbers).step_by(7) {
            assert_eq!(two.place_of(&message, number).unwrap(), one.place_of(&message, number).unwrap());
        }
        for (at, key) in [
            (dict, "key 77".into()),
            (one.value(&message, list, first, 12_000).unwrap().unwrap(), "key 12000 3".to_string()),
        ] {
            let found = two.search(&file, at, Text::Ascii(key.as_bytes())).unwrap().unwrap();
            assert_eq!(Some(&found), one.search(&[], at, Text::Ascii(key.as_bytes())).unwrap().as_ref());
            assert!(matches!(found, Search::Only(places) if places.len() == 1) && two.has_text_keys(at));
        }
        let len = message.len() as u64;
        let found = Dict { at: dict, first: dict + 4, len: 1_000, number: None };
        assert_eq!(two.dict_at(dict, len), Some(found));
        assert_eq!(two.dict_at(dict - 1, len), None);
        let mut marked = two.clone();
        marked.keys.iter_mut().for_each(|keys| keys.number = 8);
        assert_eq!(marked.dict_at(dict - 1, len), Some(Dict { number: Some(7), ..found }));
        assert_eq!(marked.dict_at(dict, len), Some(Dict { number: Some(7), ..found }));
        assert_eq!(Index::parse(&marked.to_bytes()).unwrap().keys, marked.keys);
        assert_eq!((two.dict_at(list, len), one.dict_at(dict, len).is_some()), (None, true));
        assert_eq!(first_level(&file).dict_at(dict, len), Some(found));
    }

    #[test]
    fn a_walk_lacks_its_page_and_nothing_else() {
        let message = message();
        let (one, file) = (Index::scan(&message).unwrap(), file(&message));
        let mut two = first_level(&file);
        two.at_hand = AtHand(Some(std::sync::Arc::default()));
        let present = two.at_hand.0.clone().unwrap();
        present.add(0..message.len());
        // All is there, and still some ways are too long.
        let (list, first) = (2, 5);
        let value =
            (0..RECORDS).step_by(501).find(|&value| two.value(&message, list, first, value).unwrap().is_err()).unwrap();
        let place = one.value(&message, list, first, value).unwrap().unwrap();
        let wanted = present.take_wanted().unwrap();
        let page = two.missing_page(wanted.start).unwrap();
        two.read_page(&file, page).unwrap();
        assert_eq!(two.value(&message, list, first, value).unwrap().unwrap(), place);
        assert_eq!(two.pages.iter().filter(|page| page.near().is_some()).count(), 1);
        assert_eq!(two.missing_page(wanted.start), None);
    }

    #[test]
    fn small_indexes_are_in_one_piece() {
        let mut w = Writer::new(Vec::new(), false);
        w.list(2_000);
        (0..2_000).for_each(|_| w.text(Text::Ascii(&[b'x'; 1_000])));
        let file = file(&w.out);
        let found = Parts::of(&file).unwrap().index.unwrap();
        let mut scanned = Index::scan(&w.out).unwrap();
        scanned.put_pages::<()>(|_| Err(())).unwrap();
        assert!(found.pages.is_empty() && found == scanned && w.out.len() < LEAST * LEAST_SPAN);
    }

    #[test]
    fn pages_that_lie_are_refused_or_lead_somewhere() {
        let message = message();
        let file = file(&message);
        let two = first_level(&file);
        let (at, end) = two.page_in_file(1, 0);
        let from = &two.checkpoints[1];
        let frame = Frame::at(&file, at as usize).unwrap().unwrap();
        assert_eq!(frame.end as u64, end);
        let body = &file[frame.body.clone()];
        let near = Near::parse(body, from).unwrap();
        assert_eq!(near.to_bytes(from), *body);
        for cut in 0..body.len() {
            assert!(Near::parse(&body[..cut], from).is_err());
        }
        let mut random = 7_u64;
        for _ in 0..300 {
            let mut bytes = body.to_vec();
            random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            let place = (random >> 33) as usize % bytes.len();
            bytes[place] ^= 1 << (random >> 20 & 7);
            let Ok(near) = Near::parse(&bytes, from) else { continue };
            let mut index = two.clone();
            index.pages[1].near = OnceLock::from(near);
            index.walks = Walks::default();
            for at in [from.at, from.at + 5_000, from.at + 50_000] {
                let _ = (index.counts(&message, at as usize), index.skip(&message, at as usize));
            }
            let _ = (index.place_of(&message, from.numbers + 3), index.value(&message, 2, 8, 9_000));
        }
        let dict = two.keys.iter().find(|keys| keys.items == 1_000).unwrap().at;
        let len = message.len() as u64;
        for (items, found) in [(1_000, true), (len, false), (u64::MAX, false), (0, false)] {
            let mut lying = two.clone();
            lying.keys.iter_mut().for_each(|keys| keys.items = items);
            assert_eq!(lying.dict_at(dict as usize, len).is_some(), found);
        }
        for (number, found) in [(0, true), (two.numbers, true), (two.numbers + 1, false), (u64::MAX, false)] {
            let mut lying = two.clone();
            lying.keys.iter_mut().for_each(|keys| keys.number = number);
            assert_eq!(lying.dict_at(dict as usize, len).is_some(), found);
        }
        let elsewhere = Index { pages: two.pages.iter().map(|_| Page::new(8)).collect(), ..two.clone() };
        assert!(elsewhere.read_page(&file, 0).is_err());
        assert!(Parts::of(&file[..file.len() - 40]).is_err());
    }
}

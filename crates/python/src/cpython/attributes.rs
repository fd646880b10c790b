//! The attributes of an instance, wherever CPython keeps them: with the instance, or in a `__dict__` that somebody asked for.

use super::dict::Position;
use super::{split, Obj};

/// The attributes of an instance, in the order in which they were set: name and value, borrowed.
pub struct Attributes {
    object: Obj,
    dict: Option<Obj>,
    position: Position,
    before: Position,
    at: usize,
}

impl Attributes {
    /// # Safety
    /// `object` is a live instance of a class that manages its instances' dicts; nothing changes it while this is used.
    #[inline(always)]
    pub unsafe fn of(object: Obj) -> Attributes {
        // SAFETY: by the contract.
        Attributes::within(object, unsafe { split::dict_of(object) })
    }

    /// Those that are in a dict, or if there is none, with the instance.
    #[inline(always)]
    pub fn within(object: Obj, dict: Option<Obj>) -> Attributes {
        Attributes { object, dict, position: Position(0), before: Position(0), at: 0 }
    }

    /// # Safety
    /// As for [`Attributes::of`]; the instance or the caller holds the dict.
    #[inline(always)]
    pub unsafe fn next(&mut self) -> Option<(Obj, Obj)> {
        self.before = self.position;
        // SAFETY: by the contract.
        let found = unsafe {
            match self.dict {
                Some(dict) => self.position.next(dict),
                None => split::attribute(self.object, self.at),
            }
        };
        self.at += usize::from(found.is_some());
        found
    }

    /// How many were given.
    #[inline(always)]
    pub fn count(&self) -> usize {
        self.at
    }

    /// The dict they are in, and the place in it after the last one, or before it if that is to be given again.
    #[inline(always)]
    pub fn place(&self, again: bool) -> Option<(Obj, isize)> {
        self.dict.map(|dict| (dict, if again { self.before } else { self.position }.0))
    }
}

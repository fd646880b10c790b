//! Objects that are made once all their parts are there.

use super::frame::{Frame, Kind, Make, Parts};
use crate::class::plan::Base;
use super::layout::{Build, Layout};
use super::{Decoder, State, UNMARKED};
use crate::class::registry;
use crate::cpython::Owned;
use crate::error::{decode, raised, refused, Result};
use crate::objects;
use holdall_format::model::{reduce, LayoutKind};
use holdall_format::Reader;
use pyo3::ffi;
use std::rc::Rc;

impl<'i, R: Reader<'i>> Decoder<'i, R> {
    /// Makes a `Gather` frame's object, and gives it its number.
    pub(super) fn make(&mut self, mut frame: Frame) -> Result<Owned> {
        let at = frame.offset;
        let Some(Parts { make: Some(make), gathered: mut parts }) = frame.parts.take().map(|parts| *parts) else {
            return Err(decode("a frame without its recipe", at));
        };
        let made = match make {
            Make::FrozenSet => {
                // Members keep their hashes: a frozenset is no deeper than nothing, but its members are hashed now.
                self.weigh_key(frame.weight, at)?;
                // SAFETY: members are held; a new frozenset that nobody else has seen takes members.
                unsafe {
                    let set = Owned::new(ffi::PyFrozenSet_New(std::ptr::null_mut())).ok_or_else(raised)?;
                    for part in &parts {
                        if ffi::PySet_Add(set.get(), part.get()) != 0 {
                            return Err(refused("a frozenset's member can't be hashed", at));
                        }
                    }
                    set
                }
            }
            Make::Known(known) => objects::build(self.py, known, &parts, at)?,
            Make::DateTime(bits) => match parts.first() {
                // SAFETY: held by `parts`.
                Some(zone) => unsafe { objects::datetime::datetime(bits, zone.get(), at)? },
                None => return Err(decode("a datetime without its zone", at)),
            },
            Make::Custom(layout) => {
                let function = layout.plan.as_ref().and_then(|plan| plan.registration.as_ref()).and_then(|known| known.decode.clone());
                match (function, parts.first()) {
                    (Some(function), Some(state)) => registry::call(&function, state.get())?,
                    _ => return Err(decode("a class whose `decode` is gone", at)),
                }
            }
            Make::Enum(layout) => match (&layout.plan, parts.first()) {
                (Some(plan), Some(name)) => objects::enumeration::member(self.py, plan.class(), name, at)?,
                _ => return Err(decode("an enumeration without its member", at)),
            },
            Make::Based(layout) => {
                let Build::Based { class, base, .. } = &layout.build else { return Err(decode("a layout out of place", at)) };
                let payload = parts.pop();
                // SAFETY: the GIL is held while a decoder lives.
                let object = unsafe {
                    if *base == Base::Exception {
                        let object = objects::exception::empty(self.py, *class, payload.as_ref(), at)?;
                        if let Some(payload) = &payload {
                            objects::exception::fill(self.py, &object, payload, at)?;
                        }
                        object
                    } else {
                        objects::new_of(*base, *class, payload)?
                    }
                };
                if !layout.names.is_empty() {
                    self.go_on_with_fields(object.clone(), &layout, frame.mark, frame.hand_over)?;
                    return Ok(object);
                }
                object
            }
            Make::Upgraded(layout) => objects::upgrade::make(self.py, &layout, frame.object.take(), parts, at)?,
            Make::Record(layout) => {
                let Some(record) = frame.object.take() else { return Err(decode("a record that was not made", at)) };
                let payload = (layout.kind != LayoutKind::Object).then(|| parts.remove(0));
                objects::record::fill(self.py, &record, &layout, payload, parts)?;
                record
            }
            Make::Exception => match (frame.object.take(), parts.first()) {
                (Some(object), Some(payload)) => {
                    objects::exception::fill(self.py, &object, payload, at)?;
                    object
                }
                _ => return Err(decode("an exception without its arguments", at)),
            },
            Make::Global => objects::reference::find(self, &parts, at)?,
            Make::Persistent => objects::reference::persistent(self, &parts, at)?,
        };
        self.whole(frame.mark, made.get());
        Ok(made)
    }

    /// An instance whose builtin value is there: its fields follow.
    fn go_on_with_fields(&mut self, object: Owned, layout: &Rc<Layout>, mark: u32, hand_over: bool) -> Result<()> {
        let len = layout.names.len();
        self.claim(len, layout.bytes)?;
        self.opened(mark, object.get());
        self.owed += len;
        let frame = Frame::new(Kind::Fields, Some(object), len, mark, self.r.offset());
        self.stack.push(Frame { hand_over, layout: Some(layout.clone()), ..frame });
        self.made_again = true;
        Ok(())
    }

    /// Whether the object just made went on to its fields.
    pub(super) fn take_made_again(&mut self) -> bool {
        std::mem::take(&mut self.made_again)
    }

    /// A part of a recipe has come: with function and arguments the object is made, then each part is applied.
    pub(super) fn reduce_part(&mut self) -> Result<()> {
        let Some(frame) = self.stack.last_mut() else { return Ok(()) };
        let keywords = usize::from(frame.flags & reduce::NEW_KEYWORDS != 0);
        if frame.gathered().len() != 2 + keywords || frame.object.is_some() {
            return Ok(());
        }
        let parts = frame.gathered().clone();
        let (flags, at, mark) = (frame.flags, frame.offset, frame.mark);
        let made = objects::reduce::create(self.py, flags, &parts, at)?;
        self.opened(mark, made.get());
        if let Some(frame) = self.stack.last_mut() {
            frame.object = Some(made);
        }
        Ok(())
    }

    pub(super) fn finish_reduce(&mut self, mut frame: Frame) -> Result<Owned> {
        let Some(object) = frame.object.take() else { return Err(decode("a recipe without its object", frame.offset)) };
        let keywords = usize::from(frame.flags & reduce::NEW_KEYWORDS != 0);
        let (flags, offset) = (frame.flags, frame.offset);
        objects::reduce::apply(self.py, flags, &object, &frame.gathered()[2 + keywords..], offset)?;
        if frame.mark != UNMARKED {
            self.numbered[frame.mark as usize].state = State::Whole;
        }
        Ok(object)
    }
}

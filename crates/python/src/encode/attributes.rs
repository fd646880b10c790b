//! Instances whose fields are attributes, read where CPython keeps them: with the instance, or in a `__dict__` that somebody asked for.

use crate::classes::plan::Plan;
use crate::cpython::attributes::Attributes;
use crate::cpython::{split, text, Obj, Owned};
use crate::encode::dialect::{Native, NativeWriter};
use crate::encode::value::Stopped;
use crate::encode::{shapes, Encoder, Frame, Kind};
use crate::error::Result;
use holdall_format::model::ShapeKind;
use std::rc::Rc;

impl<W: NativeWriter> Encoder<'_, Native<W>> {
    /// Writes an instance whose attributes have the names of the last one of its class in this message, without a frame as far as their
    /// values are leaves. `false`: they have others, or it has to be looked at closely; nothing was written.
    ///
    /// # Safety
    /// `object` is an instance of the plan's class, which manages its instances' dicts and has no slots.
    #[inline(always)]
    pub(super) unsafe fn attributes_again(&mut self, object: Obj, plan: &Plan) -> Result<bool> {
        let (serial, shape) = plan.shape.get();
        if serial != self.serial || self.looks_closely {
            return Ok(false);
        }
        // SAFETY: by the contract. No Python code runs before the rest is in a frame: what needs no frame runs none.
        unsafe {
            let (mut attributes, mut len) = (Attributes::of(object), 0);
            let names = self.tables.shapes.names(shape);
            while let Some((name, _)) = attributes.next() {
                if names.get(len).is_none_or(|known| known.get() != name) {
                    return Ok(false);
                }
                len += 1;
            }
            if len == 0 || len != names.len() {
                return Ok(false);
            }
            self.w.instance(shape as usize);
            let mut attributes = Attributes::of(object);
            while let Some((_, value)) = attributes.next() {
                let Some(Stopped { depth, done }) = self.frameless(value)? else { continue };
                self.last_shape = shape;
                let at = attributes.count() - usize::from(!done);
                if at < len {
                    let frame = match attributes.place(!done) {
                        Some((dict, at_pair)) => {
                            Frame { at: at_pair, len: len - at, ..Frame::new(Owned::borrowed(dict), Kind::Values) }
                        }
                        None => Frame { at: at as isize, len, ..Frame::new(Owned::borrowed(object), Kind::Attributes) },
                    };
                    self.tables.stack.insert(depth, Frame { hint: shape, ..frame });
                }
                return Ok(true);
            }
            self.last_shape = shape;
        }
        Ok(true)
    }

    /// Writes an instance whose whole state is in attributes without a `__dict__` object. `false`: it isn't one.
    pub(super) unsafe fn attributes(&mut self, object: Obj, plan: &Rc<Plan>) -> Result<bool> {
        let mut names = [std::ptr::null_mut(); shapes::MOST_KEYS];
        let mut len = 0;
        // SAFETY: callers pass an instance of a class with managed dicts. No Python code runs before the frame holds
        // it.
        unsafe {
            while let Some((name, _)) = split::attribute(object, len) {
                if len == names.len() || (text::ascii(name) == Some(b"__orig_class__") && !self.options.trust) {
                    return Ok(false);
                }
                names[len] = name;
                len += 1;
            }
            if len == 0 {
                return Ok(false);
            }
            let shape = self.shape(ShapeKind::Object, Some(plan), &names[..len])?;
            self.last_shape = shape;
            plan.shape.set((self.serial, shape));
            let frame = Frame { len, hint: shape, ..Frame::new(Owned::borrowed(object), Kind::Attributes) };
            self.tables.stack.push(frame);
        }
        Ok(true)
    }
}

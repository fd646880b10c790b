//! Mappings from text to numbers, which Julia's programs are full of: values are packed without a call into Python.

use crate::cpython::dict::{self, Position};
use crate::cpython::owned;
use crate::cpython::{text, Obj};
use crate::dialect::julia::encode::ToJulia;
use crate::dialect::julia::lowering::Packed;
use crate::dialect::julia::{call, number_named, put_number};
use crate::encode::Encoder;
use crate::error::Result;
use crate::memory::Vec;
use holdall_format::model::TypedWriter;
use pyo3::intern;
use pyo3::prelude::*;
use std::rc::Rc;

impl<W: TypedWriter> Encoder<'_, ToJulia<W>> {
    /// Writes a dict that knows its type, packed if it is one from text to numbers.
    ///
    /// # Safety
    /// `object` is alive, of the class `Dict`.
    pub(super) unsafe fn julia_table(&mut self, object: Obj) -> Result<()> {
        let py = self.py;
        // SAFETY: `object` is a `Dict` by contract: a dict with the attribute `type`. Keys and values are borrowed only while
        // exact strings and numbers are read, which runs no Python code.
        unsafe {
            let of_type = Bound::from_borrowed_ptr(py, object).getattr(intern!(py, "type"))?;
            let Some(packed) = self.packed_form(&of_type)? else { return self.lowered(object) };
            let mut numbers = Vec::with_capacity(packed.size * dict::len(object));
            let mut position = Position(0);
            while let Some((key, value)) = position.next(object) {
                if !text::is(key) || !put_number(packed.kind, value, packed.size, &mut numbers)? {
                    return self.lowered(object);
                }
            }
            let described = self.described(packed.number, false)?;
            self.w.structure(&described, 2);
            self.w.list(dict::len(object));
            let mut position = Position(0);
            while let Some((key, _)) = position.next(object) {
                self.bare_text(key)?;
            }
            let described = self.described(packed.value, false)?;
            self.w.packed(&described, &[dict::len(object)], &numbers);
        }
        Ok(())
    }

    fn packed_form(&mut self, of_type: &Bound<'_, PyAny>) -> Result<Option<Rc<Packed>>> {
        let py = self.py;
        let lowering = &mut self.dialect.lowering;
        let address = of_type.as_ptr() as usize;
        if let Some(known) = lowering.tables.get(&address) {
            return Ok(known.clone());
        }
        let found = call(py, &lowering.names.table_of, (of_type,))?;
        let made = match found.is_none() {
            true => None,
            false => {
                let (value, kind, size): (Bound<'_, PyAny>, String, usize) = found.extract()?;
                let number = lowering.types.number(lowering.names, of_type)?;
                let value = lowering.types.number(lowering.names, &value)?;
                number
                    .zip(value)
                    .map(|(number, value)| Rc::new(Packed { number, value, kind: number_named(&kind), size }))
            }
        };
        lowering.tables.insert(address, made.clone());
        self.keep(owned(of_type));
        Ok(made)
    }
}

//! Values whose parts are no values to whoever made them, and what numbers stand for.

use super::super::text::{self, shortened};
use super::{frame, kind_of, Error, ErrorKind, Members, Met, Numbered, OpenValue, Result, Row, Told, ValueKind, Walk};
use super::{MOST_PARTS, NO_CONTENT};
use crate::memory::Vec;
use crate::model::{
    Dimensions, KnownType, Name, Reader, Shape, ShapeKind, ShapeReader, Token, TypedReader, TypedValue,
};

/// A dtype that is more than its text.
const STRUCTURED: &str = "structured";

impl<'i, R: Reader<'i>> Walk<'i, R> {
    pub(super) fn add_number(&mut self, what: Numbered<'i, R::Place>) {
        self.numbers.push(what);
        self.references.push(0);
    }

    pub(super) fn refer(&mut self, number: u64) -> Result<()> {
        if let Some(references) = usize::try_from(number).ok().and_then(|number| self.references.get_mut(number)) {
            *references = references.saturating_add(1);
            return Ok(());
        }
        let error = Error::new(ErrorKind::BadReference { number }, self.r.offset());
        // Of a damaged document the list of what stands apart may be missing, at its end.
        if self.r.typed().is_some() {
            self.flaw.get_or_insert(error);
            return Ok(());
        }
        Err(error)
    }

    /// The text of that number, if it is one.
    pub(super) fn text_of(&mut self, number: u64) -> Option<String> {
        let token = match *self.numbers.get(usize::try_from(number).ok()?)? {
            Numbered::Name(name) => return Some(shortened(name)),
            Numbered::Value(place) => self.token_at(place),
        };
        match token? {
            Token::Text(text) => Some(shortened(text)),
            _ => None,
        }
    }

    /// What stands there, which was read before.
    pub(super) fn token_at(&mut self, place: R::Place) -> Option<Token<'i>> {
        let here = self.r.place();
        self.r.rewind(place);
        let token = self.r.token();
        self.r.rewind(here);
        token.ok()
    }

    pub(super) fn row(&mut self, class: u32) -> Option<&mut Row<'i>> {
        self.rows.get_mut((class as usize).checked_sub(1)?)
    }

    /// Adds a shape; its texts get numbers.
    pub(super) fn shape(&mut self, shape: Shape<'i>) -> Result<usize> {
        let mut names = shape.fields + usize::from(shape.kind != ShapeKind::Dict);
        let bad = || Error::new(ErrorKind::BadName, shape.at);
        for name in R::Shapes::names(&shape) {
            names = names.checked_sub(1).ok_or_else(bad)?;
            match name? {
                Name::Text(text) => {
                    self.numbers.push(Numbered::Name(text));
                    self.references.push(0);
                }
                Name::Reference(number) => {
                    let known = usize::try_from(number).ok().and_then(|number| self.references.get_mut(number));
                    let Some(references) = known else {
                        return Err(Error::new(ErrorKind::BadReference { number }, shape.at));
                    };
                    *references = references.saturating_add(1);
                }
            }
        }
        if names != 0 {
            return Err(bad());
        }
        self.rows.push(Row { shape: Some(shape), ..Row::default() });
        Ok(self.rows.len() - 1)
    }

    /// The names of a shape's fields, as many as may be shown.
    pub(super) fn names(&mut self, shape: &Shape<'i>) -> Vec<String> {
        let class = usize::from(shape.kind != ShapeKind::Dict);
        let names: Vec<_> = R::Shapes::names(shape).skip(class).take(self.options.most).map_while(Result::ok).collect();
        names.into_iter().map(|name| self.name_text(name)).collect()
    }

    pub(super) fn name_text(&mut self, name: Name<'i>) -> String {
        match name {
            Name::Text(text) => shortened(text),
            Name::Reference(number) => self.text_of(number).unwrap_or_default(),
        }
    }

    pub(super) fn instance(&mut self, met: Met, row: usize) -> Result<()> {
        let Some(shape) = self.rows.get(row).and_then(|row| row.shape) else { return Ok(()) };
        let class = row as u32 + 1;
        let left = shape.kind.values(shape.fields);
        let kind = ValueKind::of_shape(shape.kind);
        let members = match shape.kind {
            ShapeKind::Dict | ShapeKind::Object => Members::Fields,
            ShapeKind::Based | ShapeKind::Custom => Members::Content,
            ShapeKind::Enum => {
                self.absorb(left, met.shown && self.options.values)?;
                let value = self.parts.first().cloned();
                self.class_leaf(met, kind, class, Told { value, ..Told::default() });
                return Ok(());
            }
        };
        self.open_frame(met, Told::default(), OpenValue { left, class, members, ..frame(met, kind) });
        Ok(())
    }

    /// Goes on behind values that are parts of another; keeps the texts among them, if they are to be told.
    pub(super) fn absorb(&mut self, values: u64, told: bool) -> Result<()> {
        self.parts.clear();
        let mut pending = values;
        while pending > 0 {
            pending -= 1;
            if R::VALUES_ARE_NAMED {
                self.r.skip()?;
                continue;
            }
            let token = self.r.token()?;
            if told && self.parts.len() < MOST_PARTS {
                match token {
                    Token::Text(text) => self.parts.push(shortened(text)),
                    Token::Reference(number) => {
                        let text = self.text_of(number);
                        self.parts.extend(text);
                    }
                    _ => {}
                }
            }
            pending = pending.saturating_add(self.belongs(token)?);
        }
        Ok(())
    }

    /// How many values belong to a token that is part of a value.
    fn belongs(&mut self, token: Token<'i>) -> Result<u64> {
        match token {
            Token::AssignId => self.add_number(Numbered::Value(self.r.place())),
            Token::Reference(number) => self.refer(number)?,
            Token::NewShape(shape) => {
                self.shape(shape)?;
            }
            Token::Instance(number) => {
                let Some(shape) = self.rows.get(number).and_then(|row| row.shape) else {
                    return Err(Error::new(ErrorKind::BadShape { number: number as u64 }, self.r.offset()));
                };
                return Ok(shape.kind.values(shape.fields));
            }
            _ => {}
        }
        Ok(token.values())
    }

    pub(super) fn known(&mut self, known: KnownType, met: Met) -> Result<()> {
        let kind = ValueKind::known(known);
        let told = met.shown && self.options.values;
        match known {
            KnownType::PythonSlice => self.open(met, kind, known.values() as u64, Members::Items),
            KnownType::PythonMappingProxy => self.open(met, kind, 1, Members::Content),
            KnownType::PythonOrderedDict | KnownType::PythonCounter => self.pairs(met, kind)?,
            KnownType::PythonDefaultDict => {
                self.absorb(1, false)?;
                self.pairs(met, kind)?;
            }
            KnownType::PythonDeque => {
                self.absorb(1, false)?;
                match self.r.token()? {
                    Token::List(len) => self.open(met, kind, len as u64, Members::Items),
                    _ => return Err(self.lacks_content()),
                }
            }
            KnownType::NumpyArray => self.array(met)?,
            KnownType::NumpyScalar | KnownType::NumpyDtype | KnownType::PythonBuiltinType | KnownType::PythonArray => {
                self.absorb(known.values() as u64, met.shown)?;
                // Of a dtype with fields these are names.
                let name = if self.parts.len() > 1 { Some(STRUCTURED.into()) } else { self.parts.first().cloned() };
                self.leaf(met, kind, Told { name, ..Told::default() });
            }
            _ => {
                self.absorb(known.values() as u64, told)?;
                let value = self.parts.first().cloned();
                self.leaf(met, kind, Told { value, ..Told::default() });
            }
        }
        Ok(())
    }

    fn lacks_content(&self) -> Error {
        Error::new(ErrorKind::Malformed { why: NO_CONTENT }, self.r.offset())
    }

    fn pairs(&mut self, met: Met, kind: ValueKind) -> Result<()> {
        match self.r.token()? {
            Token::Dict(len) => {
                self.open(met, kind, 2 * len as u64, Members::Pairs);
                Ok(())
            }
            _ => Err(self.lacks_content()),
        }
    }

    /// An array: its type, dimensions and order, then its items.
    fn array(&mut self, met: Met) -> Result<()> {
        let kind = ValueKind::known(KnownType::NumpyArray);
        let dtype = self.r.token()?;
        let parts = self.belongs(dtype)?;
        self.absorb(parts, false)?;
        let Token::Tuple(dims) = self.r.token()? else { return Err(self.lacks_content()) };
        let mut dimensions = Vec::new();
        let mut items: u64 = 1;
        for _ in 0..dims {
            let token = self.r.token()?;
            if let (Token::Int(len), true) = (token, dimensions.len() < MOST_PARTS) {
                items = items.saturating_mul(u64::try_from(len).unwrap_or(0));
                dimensions.push(len.to_string());
            }
            let parts = self.belongs(token)?;
            self.absorb(parts, false)?;
        }
        self.absorb(1, false)?;
        let dtype = match dtype {
            Token::Text(dtype) => shortened(dtype),
            _ => STRUCTURED.into(),
        };
        let name = met.shown.then(|| format!("{dtype} {}", text::dimensions(&dimensions)));
        let told = Told { name, items, ..Told::default() };
        match self.r.token()? {
            Token::List(len) => self.open_frame(met, told, OpenValue { left: len as u64, ..frame(met, kind) }),
            token => {
                let parts = self.belongs(token)?;
                self.absorb(parts, false)?;
                self.leaf(met, kind, told);
            }
        }
        Ok(())
    }

    /// Where the document there says that it ends.
    pub(super) fn document_end(&self, start: usize) -> usize {
        let len = self.input.get(start..).and_then(|rest| rest.first_chunk()).map_or(0, |len| u32::from_le_bytes(*len));
        start.saturating_add(len as usize)
    }

    /// The place of a described type among the rows, from 1 on.
    fn class(&mut self, class: usize) -> u32 {
        if self.rows.len() <= class {
            self.rows.resize(class + 1, Row::default());
        }
        class as u32 + 1
    }

    pub(super) fn tagged(&mut self, tagged: TypedValue<'i>, met: Met) -> Result<()> {
        let token = Token::TypedValue(tagged);
        let kind = kind_of(&token);
        let close = self.document_end(met.start);
        let new = OpenValue { left: tagged.values() as u64, close, ..frame(met, kind) };
        match tagged {
            TypedValue::Struct { class, .. } => {
                let class = self.class(class);
                self.open_frame(met, Told::default(), OpenValue { class, ..new });
            }
            TypedValue::Bits { class, .. } => {
                let class = self.class(class);
                self.class_leaf(met, kind, class, Told::default());
            }
            TypedValue::Packed { element, dimensions, .. } => {
                let told = self.described_array(met, element, dimensions);
                self.leaf(met, kind, told);
            }
            TypedValue::Boxed { element, dimensions, .. } => {
                let told = self.described_array(met, element, dimensions);
                self.open_frame(met, told, new);
            }
            TypedValue::Tuple(_) | TypedValue::Simple(_) => self.open_frame(met, Told::default(), new),
            TypedValue::Type { .. } | TypedValue::UnionAll | TypedValue::Anonymous => {
                self.absorb(tagged.values() as u64, false)?;
                self.leaf(met, kind, Told { end: Some(close.min(self.input.len())), ..Told::default() });
            }
            TypedValue::Symbol(_) | TypedValue::Int32(_) | TypedValue::Bottom | TypedValue::Module(_) => {
                self.plain_leaf(&token, met)
            }
        }
        Ok(())
    }

    fn described_array(&mut self, met: Met, element: usize, dimensions: Dimensions<'i>) -> Told {
        if !met.shown {
            return Told::default();
        }
        let class = self.class(element);
        let element = self.class_name(class).unwrap_or_default();
        let dims = R::Typed::dimensions(dimensions).take(MOST_PARTS).map_while(Result::ok);
        let dims: Vec<usize> = dims.collect();
        let items = dims.iter().fold(1, |items: u64, &len| items.saturating_mul(len as u64));
        let dimensions: Vec<String> = dims.iter().map(usize::to_string).collect();
        Told { name: Some(format!("{element} {}", text::dimensions(&dimensions))), items, ..Told::default() }
    }

    /// The name of a class, unless it is a dict's shape.
    pub(super) fn class_name(&mut self, class: u32) -> Option<String> {
        let at = (class as usize).checked_sub(1)?;
        match self.rows.get(at)?.shape {
            Some(shape) if shape.kind == ShapeKind::Dict => None,
            Some(shape) => {
                let name = R::Shapes::names(&shape).next()?.ok()?;
                Some(self.name_text(name))
            }
            None if self.lisp_class(at).is_some() => self.lisp_class(at).map(|class| class.0.into()),
            None => {
                let here = self.r.place();
                let place = self.r.typed()?.type_place(at);
                self.r.rewind(place);
                let name = text::described(&mut self.r, &self.apart);
                self.r.rewind(here);
                Some(name)
            }
        }
    }
}

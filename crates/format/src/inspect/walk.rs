//! The walk over tokens. Open containers stand on a stack of their own; those that are shown are its first ones, as what
//! holds a shown value is shown.

mod lisp;
mod parts;
mod place;
mod totals;

use self::lisp::LispTypes;
use super::kind::ValueKind;
use super::text::{self, shortened};
use super::{Inspection, Key, Node, Options, Sum};
use crate::bson::length::DOCUMENT_OPEN;
use crate::error::{Error, ErrorKind, Result};
use crate::memory::Vec;
use crate::model::{BsonValue, Bytes, Ints, Leaf, Reader, Seq, Shape, Token, TypedReader as _};

/// The most fields of a shape or type that are named.
const MOST_FIELDS: usize = 64;
/// Parts of a name or a dimensions that are kept.
const MOST_PARTS: usize = 32;
const MARK_OF_MARK: &str = "a mark of a mark or of a reference";
const NO_CONTENT: &str = "a type of the standard library without its content";
const TOO_MANY: &str = "more values than bytes";

/// What the members of a container are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Members {
    Items,
    /// A key, a value, and so on: keys are values.
    Pairs,
    /// Keys stand apart from values, and are none.
    Named,
    /// The names are a shape's.
    Fields,
    /// One that is no field comes first.
    Content,
}

/// An open container.
#[derive(Debug)]
pub(super) struct OpenValue {
    start: usize,
    /// How many values are still to come; or, of one that does not say, where it ends.
    left: u64,
    /// Where it ends if that is known, else 0: where its last value does.
    close: usize,
    /// The class of an instance, from 1 on.
    class: u32,
    kind: ValueKind,
    members: Members,
    bounded: bool,
    /// Something may follow its members that is a part of it.
    has_end: bool,
    is_key: bool,
}

/// What more there is of a container that is shown.
#[derive(Debug)]
struct Shown {
    node: usize,
    taken: u64,
    /// Of the next value.
    key: Option<Key>,
    names: std::vec::IntoIter<String>,
    rest: Vec<(Option<ValueKind>, u32, Sum)>,
}

/// What a number stands for.
#[derive(Debug, Clone, Copy)]
enum Numbered<'i, P> {
    Value(P),
    Name(Bytes<'i>),
}

/// A shape or a described type, and its instances.
#[derive(Debug, Clone, Copy, Default)]
struct Row<'i> {
    shape: Option<Shape<'i>>,
    sum: Sum,
    /// Instances that are open.
    open: u32,
}

/// A value whose token is being looked at.
#[derive(Debug, Clone, Copy)]
struct Met {
    start: usize,
    number: Option<u64>,
    is_key: bool,
    /// Whether it will be shown.
    shown: bool,
}

/// What is to be shown of a value beside its kind.
#[derive(Debug, Default)]
struct Told {
    name: Option<String>,
    value: Option<String>,
    target: Option<u64>,
    items: u64,
    rest: Option<(ValueKind, Sum)>,
    /// Where it ends, if not where the reader goes on.
    end: Option<usize>,
}

pub struct Walk<'i, R: Reader<'i>> {
    r: R,
    input: &'i [u8],
    options: Options,
    head: usize,
    /// What stands before this is accounted for.
    at: usize,
    sums: [Sum; ValueKind::COUNT],
    values: u64,
    stack: Vec<OpenValue>,
    shown: Vec<Shown>,
    nodes: Vec<Node>,
    rows: Vec<Row<'i>>,
    numbers: Vec<Numbered<'i, R::Place>>,
    references: Vec<u32>,
    apart: Vec<R::Place>,
    /// How the outermost value that is being read is shown, if it is.
    outermost: Option<Key>,
    /// The first reference to nothing, where that does not end the walk.
    flaw: Option<Error>,
    /// Texts among parts that are no values.
    parts: Vec<String>,
    lisp: LispTypes,
}

impl<'i, R: Reader<'i>> Walk<'i, R> {
    pub fn new(r: R, input: &'i [u8], options: Options) -> Self {
        let head = r.offset();
        Walk {
            r,
            input,
            options,
            head,
            at: head,
            sums: [Sum::default(); ValueKind::COUNT],
            values: 0,
            stack: Vec::new(),
            shown: Vec::new(),
            nodes: Vec::new(),
            rows: Vec::new(),
            numbers: Vec::new(),
            references: Vec::new(),
            apart: Vec::new(),
            outermost: Some(Key::Root),
            flaw: None,
            parts: Vec::new(),
            lisp: LispTypes::default(),
        }
    }

    pub fn inspect(mut self) -> Inspection {
        let error = match self.message() {
            Ok(()) => self.flaw.take(),
            Err(error) => {
                self.broken_off();
                Some(error)
            }
        };
        self.totals(error)
    }

    fn message(&mut self) -> Result<()> {
        self.add_number(Numbered::Value(self.r.place()));
        self.apart = self.r.typed().map_or(Ok(Vec::new()), |typed| typed.back_references())?;
        for at in 0..self.apart.len() {
            self.add_number(Numbered::Value(self.apart[at]));
        }
        self.numbered_value(R::TYPES.then_some(0))?;
        while self.r.another()? {
            self.sums[ValueKind::None.index()].add(0, self.r.offset().wrapping_sub(self.at));
            self.at = self.r.offset();
            self.outermost = Some(Key::Root);
            self.numbered_value(None)?;
        }
        let end = self.at;
        let finished = if self.options.whole { self.r.finish() } else { Ok(()) };
        for at in 0..self.apart.len() {
            self.r.rewind(self.apart[at]);
            self.at = self.r.offset();
            let start = self.at;
            self.outermost = (at < self.options.most).then_some(Key::BackReferences);
            let walked = self.numbered_value(Some(at as u64 + 1));
            if walked.is_err() {
                self.broken_off();
            }
            // They were taken for what the outermost value has beside its members.
            let sum = &mut self.sums[ValueKind::Dict.index()];
            sum.bytes = sum.bytes.wrapping_sub((self.at - start) as u64);
            self.at = end;
            walked?;
        }
        finished
    }

    /// The outermost value, or one that stands apart, with all that it holds.
    fn numbered_value(&mut self, number: Option<u64>) -> Result<()> {
        self.value(number, false)?;
        while let Some(frame) = self.stack.last_mut() {
            if frame.bounded {
                // What ends elsewhere than it should is seen when it is closed.
                if self.at as u64 >= frame.left {
                    self.close()?;
                    continue;
                }
                if self.input.get(self.at) == Some(&0) {
                    return Err(Error::new(ErrorKind::Malformed { why: DOCUMENT_OPEN }, self.at));
                }
            } else {
                if !R::VALUES_ARE_NAMED && self.stack.len() != self.shown.len() {
                    self.leaves()?;
                }
                let Some(frame) = self.stack.last_mut() else { return Ok(()) };
                if frame.left == 0 && !frame.has_end {
                    self.close()?;
                    continue;
                }
                if frame.left == 0 {
                    frame.has_end = false;
                    if self.end_of_list()? {
                        continue;
                    }
                } else {
                    frame.left -= 1;
                }
            }
            let Some(frame) = self.stack.last_mut() else { return Ok(()) };
            // Of pairs an odd number is left behind the key.
            let is_key = frame.members == Members::Pairs && frame.left % 2 == 1;
            if frame.members == Members::Named {
                self.name()?;
            } else if is_key {
                self.r.key();
            }
            self.value(None, is_key)?;
        }
        Ok(())
    }

    /// The small values that come next in a container that is not shown: most values, at a third of the cost of all others.
    fn leaves(&mut self) -> Result<()> {
        let most = self.stack.last().map_or(0, |frame| frame.left);
        let mut left = most;
        while left > 0 {
            let before = self.r.place();
            let Some(leaf) = self.r.leaf()? else { break };
            let kind = match leaf {
                Leaf::None => ValueKind::None,
                Leaf::Bool(_) => ValueKind::Bool,
                Leaf::Int(_) => ValueKind::Int,
                Leaf::Float(_) => ValueKind::Float,
                Leaf::Ascii(_) | Leaf::Utf8(_) | Leaf::Text(_) => ValueKind::Str,
                Leaf::Bytes(_) => ValueKind::Bytes,
                Leaf::Reference(number) => {
                    self.refer(number)?;
                    ValueKind::Reference
                }
                Leaf::Rare(_) => {
                    self.r.rewind(before);
                    break;
                }
            };
            left -= 1;
            let end = self.r.offset();
            self.sums[kind.index()].add(1, end - self.at);
            self.at = end;
        }
        self.values += most - left;
        if let Some(frame) = self.stack.last_mut() {
            frame.left = left;
        }
        Ok(())
    }

    /// A key that is no value.
    fn name(&mut self) -> Result<()> {
        self.r.key();
        let name = self.r.token()?;
        if self.shows_next() {
            if let (Some(shown), Token::Text(name)) = (self.shown.last_mut(), name) {
                shown.key = Some(Key::Text(shortened(name)));
            }
        }
        Ok(())
    }

    /// Whether the next value is to be shown.
    #[inline(always)]
    fn shows_next(&self) -> bool {
        self.stack.len() == self.shown.len()
            && match self.shown.last() {
                Some(shown) => shown.taken < self.options.most as u64 && self.shown.len() <= self.options.depth,
                None => self.outermost.is_some(),
            }
    }

    fn value(&mut self, mut number: Option<u64>, is_key: bool) -> Result<()> {
        if R::VALUES_ARE_NAMED {
            let start = self.r.start();
            if let Some(frame) = self.stack.last() {
                self.sums[frame.kind.index()].add(0, start.wrapping_sub(self.at));
            }
            self.at = start;
        }
        let start = self.at;
        self.values += 1;
        let mut token = self.r.token()?;
        // Where parts may stand in any order, what is damaged could be led in circles.
        if self.values > self.input.len() as u64 {
            return Err(Error::new(ErrorKind::Malformed { why: TOO_MANY }, start));
        }
        if let Token::AssignId = token {
            number = Some(self.numbers.len() as u64);
            self.add_number(Numbered::Value(self.r.place()));
            token = self.r.token()?;
            if let Token::AssignId | Token::Reference(_) = token {
                return Err(Error::new(ErrorKind::Malformed { why: MARK_OF_MARK }, self.r.offset()));
            }
        }
        let met = Met { start, number, is_key, shown: !is_key && self.shows_next() };
        self.token(token, met)
    }

    fn token(&mut self, token: Token<'i>, met: Met) -> Result<()> {
        match token {
            Token::List(len) | Token::Tuple(len) | Token::Set(len) | Token::FrozenSet(len) => {
                self.open(met, kind_of(&token), len as u64, Members::Items)
            }
            Token::Dict(len) => self.open(met, ValueKind::Dict, 2 * len as u64, Members::Pairs),
            Token::Items(end) => self.open_bounded(met, ValueKind::List, end, Members::Items),
            Token::Members(end) => self.open_bounded(met, ValueKind::Dict, end, Members::Named),
            Token::Ints(seq, run) => {
                let width = match run {
                    Ints::I8(_) => 1,
                    Ints::I16(_) => 2,
                    Ints::I32(_) => 4,
                    Ints::I64(_) => 8,
                };
                self.run(met, seq, ValueKind::Int, run.len(), width * run.len());
            }
            Token::Floats(seq, run) => self.run(met, seq, ValueKind::Float, run.len(), 8 * run.len()),
            Token::Bools(seq, run) => self.run(met, seq, ValueKind::Bool, run.len(), run.len()),
            Token::Texts(seq, lens, text) => self.run(met, seq, ValueKind::Str, lens.len(), lens.len() + text.len()),
            Token::NewShape(shape) => {
                let class = self.shape(shape)?;
                return self.instance(met, class);
            }
            Token::Instance(number) if number < self.rows.len() => return self.instance(met, number),
            Token::Instance(number) => {
                return Err(Error::new(ErrorKind::BadShape { number: number as u64 }, self.r.offset()))
            }
            Token::Reference(number) => {
                self.refer(number)?;
                let told = Told { target: Some(number), ..Told::default() };
                self.leaf(met, ValueKind::Reference, told);
            }
            Token::KnownType(known) => return self.known(known, met),
            Token::TypedValue(tagged) => return self.tagged(tagged, met),
            Token::LispValue(value) => return self.lisp(value, met),
            Token::BsonValue(BsonValue::ScopedCode(_)) => self.open(met, ValueKind::Code, 1, Members::Content),
            Token::Reduce(_) => self.open(met, ValueKind::Recipe, token.values(), Members::Items),
            Token::Persistent => self.open(met, ValueKind::Persistent, 1, Members::Content),
            Token::Global => {
                self.absorb(2, met.shown)?;
                let name = met.shown.then(|| self.parts.join("."));
                self.leaf(met, ValueKind::Global, Told { name, ..Told::default() });
            }
            Token::DateTime { .. } => {
                self.absorb(token.values(), false)?;
                self.plain_leaf(&token, met);
            }
            token => self.plain_leaf(&token, met),
        }
        Ok(())
    }

    fn plain_leaf(&mut self, token: &Token<'i>, met: Met) {
        if self.stack.len() != self.shown.len() {
            // What most values are: nothing above them is shown.
            let end = self.r.offset();
            self.sums[kind_of(token).index()].add(1, end.wrapping_sub(met.start));
            self.at = end;
            return;
        }
        if met.is_key {
            if let (Token::Text(text), true) = (token, self.shows_next()) {
                let key = Key::Text(shortened(*text));
                self.shown_key(key);
            }
        }
        let value = (met.shown && self.options.values).then(|| text::value(token)).flatten();
        self.leaf(met, kind_of(token), Told { value, ..Told::default() });
    }

    /// A whole value, which ends here.
    fn leaf(&mut self, met: Met, kind: ValueKind, told: Told) {
        self.class_leaf(met, kind, 0, told);
    }

    fn class_leaf(&mut self, met: Met, kind: ValueKind, class: u32, told: Told) {
        let end = told.end.unwrap_or(self.r.offset());
        let own = end.wrapping_sub(met.start);
        self.at = end;
        let (inner_kind, inner) = told.rest.unwrap_or((kind, Sum::default()));
        self.sums[kind.index()].add(1, own.wrapping_sub(inner.bytes as usize));
        self.sums[inner_kind.index()].add(inner.values, inner.bytes as usize);
        self.values += inner.values;
        if let Some(row) = self.row(class) {
            row.sum.values += 1;
            row.sum.bytes += if row.open == 0 { own as u64 } else { 0 };
        }
        self.place(met, kind, class, own, told);
    }

    /// A list or tuple whose items are packed.
    fn run(&mut self, met: Met, seq: Seq, item: ValueKind, len: usize, bytes: usize) {
        let kind = match seq {
            Seq::List => ValueKind::List,
            Seq::Tuple => ValueKind::Tuple,
        };
        let sum = Sum { values: len as u64, bytes: bytes as u64 };
        self.leaf(met, kind, Told { items: len as u64, rest: Some((item, sum)), ..Told::default() });
    }

    fn open(&mut self, met: Met, kind: ValueKind, left: u64, members: Members) {
        self.open_frame(met, Told::default(), OpenValue { left, members, ..frame(met, kind) });
    }

    fn open_bounded(&mut self, met: Met, kind: ValueKind, end: usize, members: Members) {
        // What stands apart may be the last of the outermost document, which ends behind it.
        let is_document = self.r.typed().is_some() && self.stack.is_empty() && met.start == 0;
        let close = if is_document { self.document_end(0).max(end + 1) } else { end + 1 };
        let new = OpenValue { left: end as u64, close, members, bounded: true, ..frame(met, kind) };
        self.open_frame(met, Told::default(), new);
    }

    /// Begins a container, whose head ends here.
    fn open_frame(&mut self, met: Met, mut told: Told, new: OpenValue) {
        let end = self.r.offset();
        self.sums[new.kind.index()].add(1, end.wrapping_sub(met.start));
        self.at = end;
        if let Some(row) = self.row(new.class) {
            row.sum.values += 1;
            row.open += 1;
        }
        if met.shown {
            if !new.bounded {
                told.items = if new.members == Members::Pairs { new.left / 2 } else { new.left };
                told.items -= u64::from(new.members == Members::Content);
            }
            let names = match self.row(new.class).and_then(|row| row.shape) {
                Some(shape) => self.names(&shape),
                None => {
                    self.lisp_class((new.class as usize).wrapping_sub(1)).map_or(Vec::new(), |class| class.1.into())
                }
            };
            let node = self.nodes.len();
            self.place(met, new.kind, new.class, 0, told);
            self.nodes[node].whole = false;
            let names = names.into_iter();
            self.shown.push(Shown { node, taken: 0, key: None, names, rest: Vec::new() });
        } else if met.is_key {
            self.place(met, new.kind, 0, 0, told);
        }
        self.stack.push(new);
    }

    fn close(&mut self) -> Result<()> {
        let Some(frame) = self.stack.last() else { return Ok(()) };
        let close = if frame.close == 0 { self.at } else { frame.close };
        if close > self.input.len() {
            let needed = close - self.input.len();
            return Err(Error::new(ErrorKind::Truncated { needed }, self.input.len()));
        }
        let ends = !frame.bounded || self.input.get(close.wrapping_sub(1)) == Some(&0);
        if !ends || (frame.bounded && self.at as u64 > frame.left) {
            return Err(Error::new(ErrorKind::Malformed { why: DOCUMENT_OPEN }, self.at.min(self.input.len())));
        }
        self.sums[frame.kind.index()].add(0, close.wrapping_sub(self.at));
        self.at = close;
        self.pop(true);
        Ok(())
    }

    fn pop(&mut self, whole: bool) {
        let Some(frame) = self.stack.pop() else { return };
        let bytes = self.at.wrapping_sub(frame.start);
        if let Some(row) = self.row(frame.class) {
            row.open -= 1;
            if row.open == 0 {
                row.sum.bytes += bytes as u64;
            }
        }
        if self.shown.len() > self.stack.len() {
            let Some(shown) = self.shown.pop() else { return };
            let rest = shown.rest.iter().map(|&(kind, class, sum)| self.rest(kind, class, sum)).collect();
            let node = &mut self.nodes[shown.node];
            (node.bytes, node.whole, node.rest) = (bytes, whole, rest);
            if frame.bounded {
                node.items = shown.taken;
            }
        } else if !frame.is_key {
            self.add_rest(frame.kind, frame.class, bytes);
        }
    }

    /// Closes all that is open, at the damage.
    fn broken_off(&mut self) {
        self.at = self.at.min(self.input.len());
        while !self.stack.is_empty() {
            self.pop(false);
        }
    }
}

fn kind_of(token: &Token<'_>) -> ValueKind {
    // A mark is taken before what it marks.
    ValueKind::of(token).unwrap_or(ValueKind::None)
}

fn frame(met: Met, kind: ValueKind) -> OpenValue {
    OpenValue {
        start: met.start,
        left: 0,
        close: 0,
        class: 0,
        kind,
        members: Members::Items,
        bounded: false,
        has_end: false,
        is_key: met.is_key,
    }
}

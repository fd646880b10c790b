//! A host that keeps nothing but notes. What it is given may be any bytes.

use super::model::{ExtentReader as _, Path, Reader as _, Token, TypedReader as _, TypedValue};
use super::{Reader, Result};
use std::vec;
use std::vec::Vec;

/// All that a document holds, a line for each token; containers are counted, as hosts do.
pub fn told(document: &[u8]) -> Result<Vec<String>> {
    told_by(Reader::new(document)?)
}

pub fn told_by(mut r: Reader<'_>) -> Result<Vec<String>> {
    let mut lines = Vec::new();
    // Values that are still to come; those of a dict have keys.
    let mut pending = vec![(1usize, false)];
    while let Some((left, keyed)) = pending.pop() {
        if left == 0 {
            continue;
        }
        pending.push((left - 1, keyed));
        let mut line = String::new();
        if keyed {
            r.key();
            line = format!("{:?}: ", r.next()?);
        }
        match r.next()? {
            Token::Items(end) => {
                let count = r.count(end)?;
                line += &format!("list of {count}");
                pending.push((count, false));
            }
            Token::Members(end) => {
                let count = r.count(end)?;
                line += &format!("dict of {count}");
                pending.push((count, true));
            }
            Token::TypedValue(tagged) => {
                line += &match tagged {
                    TypedValue::Packed { element, dimensions, data } => {
                        format!(
                            "packed {element} {:?} {data:?}",
                            Reader::dimensions(dimensions).collect::<Result<Vec<_>>>()?
                        )
                    }
                    TypedValue::Boxed { element, dimensions, len } => {
                        pending.push((len, false));
                        format!(
                            "boxed {element} {:?} {len}",
                            Reader::dimensions(dimensions).collect::<Result<Vec<_>>>()?
                        )
                    }
                    TypedValue::Type { path, parameters } => {
                        pending.push((usize::from(parameters), false));
                        format!("type {:?} {parameters}", names(path)?)
                    }
                    TypedValue::Module(path) => format!("module {:?}", names(path)?),
                    other => {
                        pending.push(match other {
                            TypedValue::Struct { fields, .. } => (fields, false),
                            TypedValue::Tuple(len) | TypedValue::Simple(len) => (len, false),
                            TypedValue::UnionAll | TypedValue::Anonymous => (2, false),
                            _ => (0, false),
                        });
                        format!("{other:?}")
                    }
                };
            }
            other => line += &format!("{other:?}"),
        }
        lines.push(line);
    }
    r.finish()?;
    Ok(lines)
}

fn names(path: Path<'_>) -> Result<Vec<String>> {
    Reader::path(path).map(|name| Ok(String::from_utf8_lossy(name?).into_owned())).collect()
}

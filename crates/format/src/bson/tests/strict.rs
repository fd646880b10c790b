//! The rules of <https://bsonspec.org/spec.html>, value by value and with nothing left to be found later: what the reader
//! is held against. It shares no code with it, and no number.

/// Where each value of a document ends that is all of `input`, outer ones first; nothing if that is no document.
pub fn strictly(input: &[u8]) -> Option<Vec<usize>> {
    let mut strict = Strict { input, ends: Vec::new() };
    (strict.document(0, input.len())? == input.len()).then_some(strict.ends)
}

struct Strict<'i> {
    input: &'i [u8],
    ends: Vec<usize>,
}

impl Strict<'_> {
    /// All of these give the offset behind what begins `at` and may go up to `limit`.
    fn document(&mut self, at: usize, limit: usize) -> Option<usize> {
        let end = at + self.number(at, limit)?;
        if end < at + 5 || end > limit || self.input[end - 1] != 0 {
            return None;
        }
        self.ends.push(end);
        let mut at = at + 4;
        while at < end - 1 {
            let value = self.name(at + 1, end - 1)?;
            at = self.value(self.input[at], value, end - 1)?;
        }
        (at == end - 1).then_some(end)
    }

    fn value(&mut self, tag: u8, at: usize, limit: usize) -> Option<usize> {
        let end = match tag {
            // These note themselves, before what they hold.
            3 | 4 => return self.document(at, limit),
            15 => return self.code(at, limit),
            6 | 10 | 127 | 255 => at,
            8 => {
                let found = *self.input[..limit].get(at)?;
                (found < 2).then_some(at + 1)?
            }
            16 => at + 4,
            1 | 9 | 17 | 18 => at + 8,
            7 => at + 12,
            19 => at + 16,
            2 | 13 | 14 => self.text(at, limit)?,
            12 => self.text(at, limit)? + 12,
            11 => self.name(self.name(at, limit)?, limit)?,
            5 => self.binary(at, limit)?,
            _ => return None,
        };
        self.ends.push(end);
        (end <= limit).then_some(end)
    }

    fn code(&mut self, at: usize, limit: usize) -> Option<usize> {
        let end = at + self.number(at, limit)?;
        if end > limit {
            return None;
        }
        self.ends.push(end);
        let scope = self.text(at + 4, end)?;
        (self.document(scope, end)? == end).then_some(end)
    }

    fn binary(&self, at: usize, limit: usize) -> Option<usize> {
        let len = self.number(at, limit)?;
        let end = at + 5 + len;
        if end > limit {
            return None;
        }
        if self.input[at + 4] == 2 && self.number(at + 5, end)? + 4 != len {
            return None;
        }
        Some(end)
    }

    fn text(&self, at: usize, limit: usize) -> Option<usize> {
        let len = self.number(at, limit)?;
        let end = at + 4 + len;
        (len > 0 && end <= limit && self.input[end - 1] == 0).then_some(end)
    }

    fn name(&self, at: usize, limit: usize) -> Option<usize> {
        let len = self.input.get(at..limit)?.iter().position(|&byte| byte == 0)?;
        Some(at + len + 1)
    }

    fn number(&self, at: usize, limit: usize) -> Option<usize> {
        let bytes = self.input.get(at..limit)?.get(..4)?;
        let number = i32::from_le_bytes(bytes.try_into().ok()?);
        usize::try_from(number).ok()
    }
}

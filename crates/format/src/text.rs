//! Text between the widths hosts keep it in and UTF-8.

/// Bytes that `units` need as UTF-8 (lone surrogates as three bytes).
pub fn utf8_len_ucs2(units: &[u16]) -> usize {
    // Two counts over the units: the compiler makes vector code of it, so that the choice of the shorter form is cheap.
    let above_ascii = units.iter().filter(|&&unit| unit >= 0x80).count();
    let above_two = units.iter().filter(|&&unit| unit >= 0x800).count();
    units.len() + above_ascii + above_two
}

/// Appends `units` as UTF-8, lone surrogates as three bytes.
pub fn push_utf8(units: impl ExactSizeIterator<Item = u32>, out: &mut Vec<u8>) {
    // Room for the worst case once, then stores by index: a check of the capacity per byte took twice the time.
    let start = out.len();
    out.resize(start + 4 * units.len(), 0);
    let buffer = &mut out[start..];
    let mut used = 0;
    #[allow(clippy::cast_possible_truncation)]
    for unit in units {
        let Some(to) = buffer[used..].first_chunk_mut::<4>() else { break };
        used += if unit < 0x80 {
            to[0] = unit as u8;
            1
        } else if unit < 0x800 {
            to[0] = 0xc0 | (unit >> 6) as u8;
            to[1] = 0x80 | (unit & 63) as u8;
            2
        } else if unit < 0x1_0000 {
            to[0] = 0xe0 | (unit >> 12) as u8;
            to[1] = 0x80 | (unit >> 6 & 63) as u8;
            to[2] = 0x80 | (unit & 63) as u8;
            3
        } else {
            to[0] = 0xf0 | (unit >> 18) as u8;
            to[1] = 0x80 | (unit >> 12 & 63) as u8;
            to[2] = 0x80 | (unit >> 6 & 63) as u8;
            to[3] = 0x80 | (unit & 63) as u8;
            4
        };
    }
    out.truncate(start + used);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn utf8_as_the_standard_library_writes_it() {
        let text = "aé߿ࠀ￿𐀀😀\u{10ffff}";
        let mut out = Vec::new();
        push_utf8(text.chars().map(u32::from).collect::<Vec<_>>().into_iter(), &mut out);
        assert_eq!(out, text.as_bytes());
        let narrow = "aé߿ࠀ￿";
        let units: Vec<u16> = narrow.encode_utf16().collect();
        assert_eq!(utf8_len_ucs2(&units), narrow.len());
    }

    #[test]
    fn a_lone_surrogate_takes_three_bytes() {
        let mut out = Vec::new();
        push_utf8([0xd800].into_iter(), &mut out);
        assert_eq!(out, [0xed, 0xa0, 0x80]);
        assert_eq!(utf8_len_ucs2(&[0xd800]), 3);
    }
}

//! The table of first bytes in every format's `tag.rs`: one row for each meaning, every byte in exactly one row.

/// A row of the table: the tags `first..=last`, what follows them, what they mean.
#[derive(Debug)]
pub struct Row {
    pub name: &'static str,
    pub first: u8,
    pub last: u8,
    pub payload: &'static str,
    pub meaning: &'static str,
}

/// Defines a constant for the first byte of each row, and `TABLE`; doesn't compile if a byte is in two rows or in none.
macro_rules! tags {
    ($($name:ident $first:literal ..= $last:literal, $payload:literal, $meaning:literal;)*) => {
        $(
            #[doc = concat!($meaning, ". Payload: ", $payload, ".")]
            pub const $name: u8 = $first;
        )*
        pub const TABLE: &[Row] = &[
            $(Row { name: stringify!($name), first: $first, last: $last, payload: $payload, meaning: $meaning },)*
        ];
        const _: () = $crate::table::assert_complete(TABLE);
    };
}
pub(crate) use tags;

/// Panics at compile time unless every byte belongs to exactly one row and the rows are in order.
pub(crate) const fn assert_complete(table: &[Row]) {
    let mut next = 0;
    let mut row = 0;
    while row < table.len() {
        assert!(table[row].first as usize == next && table[row].first <= table[row].last, "a tag twice, or by no row");
        next = table[row].last as usize + 1;
        row += 1;
    }
    assert!(next == 256, "tags by no row");
}

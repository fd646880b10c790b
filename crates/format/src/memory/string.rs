//! Texts: a `String` that is made or added to, and the `format!`.

use super::or_unwind;
use std::fmt;

/// The `format!` of texts that show what others wrote.
#[macro_export]
#[doc(hidden)]
macro_rules! fallible_format {
    ($($content:tt)*) => { $crate::memory::text(format_args!($($content)*)) };
}
pub use fallible_format as format;

/// A text, whose room is asked for first.
#[must_use]
pub fn text(content: fmt::Arguments<'_>) -> String {
    let mut made = String::new();
    push(&mut made, content);
    made
}

/// Appends to a text.
pub fn push(to: &mut String, content: fmt::Arguments<'_>) {
    struct Text<'t>(&'t mut String);
    impl fmt::Write for Text<'_> {
        fn write_str(&mut self, part: &str) -> fmt::Result {
            or_unwind(self.0.try_reserve(part.len()));
            self.0.push_str(part);
            Ok(())
        }
    }
    // Only what it writes to could fail.
    let _ = fmt::Write::write_fmt(&mut Text(to), content);
}

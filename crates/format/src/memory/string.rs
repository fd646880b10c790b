//! Making and extending a `String` with memory that is requested first; and `format!` in the same way.

use super::or_unwind;
use std::fmt;

/// `format!` for texts of any length.
#[macro_export]
#[doc(hidden)]
macro_rules! fallible_format {
    ($($content:tt)*) => { $crate::memory::text(format_args!($($content)*)) };
}
pub use fallible_format as format;

/// Makes a text; unwinds if there is no memory for it.
#[must_use]
pub fn text(content: fmt::Arguments<'_>) -> String {
    let mut made = String::new();
    push(&mut made, content);
    made
}

/// Appends to a text; unwinds if there is no memory.
pub fn push(to: &mut String, content: fmt::Arguments<'_>) {
    struct Text<'t>(&'t mut String);
    impl fmt::Write for Text<'_> {
        fn write_str(&mut self, part: &str) -> fmt::Result {
            or_unwind(self.0.try_reserve(part.len()));
            self.0.push_str(part);
            Ok(())
        }
    }
    // Writing into a `String` can't fail; a failing `Display` just ends the text.
    let _ = fmt::Write::write_fmt(&mut Text(to), content);
}

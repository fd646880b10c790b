//! What can be wrong with bytes: one word wide, so that a `Result` stays in registers.

use std::fmt;

pub type Result<T> = std::result::Result<T, Error>;

/// Why bytes could not be read, and where.
#[derive(Debug, Clone)]
pub struct Error(Box<Inner>);

#[derive(Debug, Clone)]
struct Inner {
    kind: ErrorKind,
    offset: usize,
}

/// What was wrong. The text of each is what users see; it never shows their data.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum ErrorKind {
    /// The input ended where more was needed.
    Truncated { needed: usize },
    /// The first byte names no version that this reader knows.
    UnknownVersion { byte: u8 },
    /// A trusted message, in a reader that was not told to trust.
    Trusted,
    /// A message that goes on with others, where it stands alone.
    Continued,
    /// A tag byte that the format gives no meaning to, or that an ordinary message may not hold.
    UnknownTag { tag: u8 },
    /// A number for a known type that this version has no row for.
    UnknownCode { code: u8 },
    /// Text said to be ASCII holds another byte.
    NotAscii,
    /// Text is not UTF-8 (surrogates are allowed where the tag says so).
    BadUtf8,
    /// What is marked as a timestamp has a length or nanoseconds that no timestamp has.
    BadTimestamp,
    /// Bytes that the format gives no meaning to, where each stands for what it should.
    Malformed { why: &'static str },
    /// A length that no address space holds.
    TooLong,
    /// Bytes are left after the message.
    Trailing { count: usize },
    /// A reference to a number that was not given out yet.
    BadReference { number: u64 },
    /// A shape number that was not given out yet.
    BadShape { number: u64 },
    /// Something that may not stand in a shape's name block.
    BadName,
    /// The bytes of a file's frame do not match their checksum.
    Checksum,
    /// Compressed bytes that become more than is reasonable.
    Bomb { times: u64 },
    /// Not a file of ours, or of a version that this reader does not know.
    BadFile { why: &'static str },
}

impl Error {
    #[cold]
    #[inline(never)]
    pub fn new(kind: ErrorKind, offset: usize) -> Self {
        Error(Box::new(Inner { kind, offset }))
    }

    pub fn kind(&self) -> &ErrorKind {
        &self.0.kind
    }

    /// Bytes from the start of the input that were taken when the error was seen: it lies before, or right there.
    pub fn offset(&self) -> usize {
        self.0.offset
    }

    /// The same error, seen from `by` bytes further out.
    pub fn shifted(mut self, by: usize) -> Self {
        self.0.offset += by;
        self
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.0.kind)
    }
}

impl std::error::Error for Error {}

impl fmt::Display for ErrorKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ErrorKind::Truncated { needed } => write!(f, "truncated: needs at least {needed} more bytes"),
            ErrorKind::UnknownVersion { byte } => {
                write!(f, "expected a hold message or file, found first byte 0x{byte:02x}")
            }
            ErrorKind::Trusted => write!(
                f,
                "a trusted message (it may import and call): load it with trust=True, only if you trust its source"
            ),
            ErrorKind::Continued => write!(
                f,
                "goes on with messages before it, of one `holdall.pickle.Pickler`: load all of them by one `Unpickler`"
            ),
            ErrorKind::UnknownTag { tag } => {
                write!(f, "unknown tag 0x{tag:02x} (damaged, or written by a newer version)")
            }
            ErrorKind::UnknownCode { code } => {
                write!(f, "unknown type code {code} (damaged, or written by a newer version)")
            }
            ErrorKind::NotAscii => write!(f, "expected ASCII text, found another byte"),
            ErrorKind::BadUtf8 => write!(f, "expected UTF-8 text, found an invalid sequence"),
            ErrorKind::BadTimestamp => {
                write!(
                    f,
                    "expected a timestamp (4, 8 or 12 bytes, nanoseconds below 1,000,000,000), found another value"
                )
            }
            ErrorKind::Malformed { why } => write!(f, "{why}"),
            ErrorKind::TooLong => write!(f, "a length beyond the address space"),
            ErrorKind::Trailing { count } => write!(f, "{count} bytes left over after the message"),
            ErrorKind::BadReference { number } => {
                write!(f, "reference to object {number}, which was not written before it")
            }
            ErrorKind::BadShape { number } => {
                write!(f, "layout {number}, which was not written before it")
            }
            ErrorKind::BadName => write!(f, "expected names in a layout, found another value"),
            ErrorKind::Checksum => write!(f, "checksum mismatch: the file is damaged"),
            ErrorKind::Bomb { times } => {
                write!(f, "compressed bytes that become more than 64 MiB and {times} times the file")
            }
            ErrorKind::BadFile { why } => write!(f, "{why}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_of_every_kind() {
        let texts = [
            (ErrorKind::Truncated { needed: 3 }, "truncated: needs at least 3 more bytes"),
            (ErrorKind::UnknownVersion { byte: 0x7b }, "expected a hold message or file, found first byte 0x7b"),
            (
                ErrorKind::Trusted,
                "a trusted message (it may import and call): load it with trust=True, only if you trust its source",
            ),
            (
                ErrorKind::Continued,
                "goes on with messages before it, of one `holdall.pickle.Pickler`: load all of them by one `Unpickler`",
            ),
            (ErrorKind::UnknownTag { tag: 0xda }, "unknown tag 0xda (damaged, or written by a newer version)"),
            (ErrorKind::UnknownCode { code: 99 }, "unknown type code 99 (damaged, or written by a newer version)"),
            (ErrorKind::NotAscii, "expected ASCII text, found another byte"),
            (ErrorKind::BadUtf8, "expected UTF-8 text, found an invalid sequence"),
            (
                ErrorKind::BadTimestamp,
                "expected a timestamp (4, 8 or 12 bytes, nanoseconds below 1,000,000,000), found another value",
            ),
            (ErrorKind::Malformed { why: "a name that does not end" }, "a name that does not end"),
            (ErrorKind::TooLong, "a length beyond the address space"),
            (ErrorKind::Trailing { count: 2 }, "2 bytes left over after the message"),
            (ErrorKind::BadReference { number: 7 }, "reference to object 7, which was not written before it"),
            (ErrorKind::BadShape { number: 7 }, "layout 7, which was not written before it"),
            (ErrorKind::BadName, "expected names in a layout, found another value"),
            (ErrorKind::Checksum, "checksum mismatch: the file is damaged"),
            (ErrorKind::Bomb { times: 128 }, "compressed bytes that become more than 64 MiB and 128 times the file"),
            (ErrorKind::BadFile { why: "not a hold file" }, "not a hold file"),
        ];
        for (kind, text) in texts {
            let error = Error::new(kind.clone(), 5).shifted(24);
            assert_eq!(error.to_string(), text);
            assert_eq!((error.kind(), error.offset()), (&kind, 29));
        }
    }

    #[test]
    fn a_result_is_one_word() {
        assert_eq!(size_of::<Result<()>>(), size_of::<usize>());
    }
}

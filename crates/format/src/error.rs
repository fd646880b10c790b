//! Errors in bytes: one word wide, so that a `Result` fits into registers.

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

/// What was wrong. Users see its text, which never shows their data.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum ErrorKind {
    /// The input ended too early.
    Truncated { needed: usize },
    /// The first byte is no known version.
    UnknownVersion { byte: u8 },
    /// A trusted message, without permission to read those.
    Trusted,
    /// A message that continues others, without those.
    Continued,
    /// A tag byte without a meaning, or one that an ordinary message must not contain.
    UnknownTag { tag: u8 },
    /// The code of a known type that this version doesn't have.
    UnknownCode { code: u8 },
    /// Text that should be ASCII contains another byte.
    NotAscii,
    /// Text is not UTF-8 (surrogates are allowed where the tag says so).
    BadUtf8,
    /// A timestamp with a wrong length, or with too many nanoseconds.
    BadTimestamp,
    /// Bytes without a meaning here; `why` says what was expected.
    Malformed { why: &'static str },
    /// A length beyond any address space.
    TooLong,
    /// Bytes are left after the message.
    Trailing { count: usize },
    /// A reference to an object id that has not been assigned.
    BadReference { number: u64 },
    /// The number of a shape that has not been written.
    BadShape { number: u64 },
    /// Something other than a name in the names of a shape.
    BadName,
    /// The bytes of a frame don't match their checksum.
    Checksum,
    /// Compressed bytes that decompress to an unreasonable size.
    Bomb { times: u64 },
    /// Not a file of this format, or of an unknown version.
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

    /// How many bytes of the input had been read when the error was found: the fault is there or before.
    pub fn offset(&self) -> usize {
        self.0.offset
    }

    /// The same error, for an input that begins `by` bytes further out.
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

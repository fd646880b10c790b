//! The builtins that classes are derived from.

/// The builtin whose content an instance of a subclass holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Base {
    List,
    Dict,
    OrderedDict,
    DefaultDict,
    Deque,
    Set,
    FrozenSet,
    Tuple,
    Str,
    Bytes,
    ByteArray,
    Int,
    Float,
    Complex,
    Exception,
    /// A tuple with hidden fields, of a class of the interpreter's own.
    StructSequence,
}

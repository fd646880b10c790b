//! The builtins whose subclasses can be stored.

/// The builtin whose content instances of a subclass hold.
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
    /// A tuple with hidden fields; its class is the interpreter's own.
    StructSequence,
}

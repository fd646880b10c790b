"""pickle's names and signatures over the hold format, for libraries that take "a pickle module".

The messages are *trusted* ones: they hold what pickle can hold (classes and functions by reference, `__reduce_ex__`, `copyreg`),
and loading one may run any code, as with pickle. Load only what you wrote yourself. The exceptions are pickle's own classes, so
that `except pickle.PicklingError` in a library keeps its meaning; their `__cause__` is holdall's exception.

What differs from pickle: there is one format for all protocols, and no recursion limit. `Pickler` and `dump` put a frame with
length and checksum around each message; `dumps` doesn't. `loads` and `load` take both, and leave what follows a message alone.

Of a pickler's inside there is what does not depend on pickle's opcodes: `persistent_id`, `reducer_override`, `dispatch_table`,
`memo`, `clear_memo`, `fast`, `bin`. A class that overrides `save`, `memoize` or another method that writes opcodes (as those of dill
and joblib do, on top of `pickle._Pickler`) can't work here, and is refused when it is made from `_Pickler` or `_Unpickler`.

Messages for those who read them with the standard library's pickle are made by `holdall.envelope_pickle`, messages that run no code
by `holdall.safe_pickle`.
"""

from __future__ import annotations

import io
import operator
import pickle as _pickle
import sys
from pickle import PickleBuffer, PickleError, PicklingError, UnpicklingError
from typing import TYPE_CHECKING, Any

from . import _core, _files

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

__all__ = [
    "DEFAULT_PROTOCOL",
    "HIGHEST_PROTOCOL",
    "PickleBuffer",
    "PickleError",
    "Pickler",
    "PicklingError",
    "Unpickler",
    "UnpicklingError",
    "dump",
    "dumps",
    "load",
    "loads",
]

HIGHEST_PROTOCOL = 5
# Python's own default is lower for the sake of older readers, which this format doesn't have.
DEFAULT_PROTOCOL = 5

# What libraries use from the module besides its public names: names of opcodes and protocols, and helpers
# that are unrelated to either. Nothing that pickles or unpickles is among them.
_HELPERS = (
    "EXT1", "EXT2", "EXT4", "NEWFALSE", "NEWTRUE", "PyStringMap", "_compat_pickle", "_extension_cache", "_extension_registry",
    "_getattribute", "_inverted_registry", "_tuplesize2code", "bytes_types", "compatible_formats", "decode_long", "dispatch_table",
    "encode_long", "format_version", "maxsize", "whichmodule",
)  # fmt: skip
for _name in (*(_name for _name in _pickle.__all__ if _name.isupper()), *_HELPERS):
    if hasattr(_pickle, _name) and not _name.endswith("_PROTOCOL"):
        globals()[_name] = getattr(_pickle, _name)


def dumps(
    obj: object,
    protocol: int | None = None,
    *,
    fix_imports: bool = True,
    buffer_callback: Callable[[PickleBuffer], Any] | None = None,
) -> bytes:
    """The object graph of `obj` as a trusted message.

    protocol: checked as pickle checks it; makes no difference to the bytes.
    fix_imports: accepted for the signature's sake.
    buffer_callback: called with each `PickleBuffer`; where it returns a false value (list.append does) the buffer stays out
        of the message and is the caller's to hand to `loads(buffers=)` in the same order.

    Raises PicklingError: an object that can't be stored. What `__reduce_ex__` and its like raise comes through unchanged.
    Raises ValueError: `protocol` above 5, or below 5 with `buffer_callback`.

    >>> import collections
    >>> loads(dumps(collections.OrderedDict)) is collections.OrderedDict
    True
    >>> buffers = []
    >>> small = dumps(PickleBuffer(bytes(1_000_000)), buffer_callback=buffers.append)
    >>> len(small) < 100, len(bytes(loads(small, buffers=buffers)))
    (True, 1000000)
    """
    check_protocol(protocol, buffer_callback)
    return _encode(obj, None, None, None, buffer_callback, None)


def loads(
    data: Any,
    /,
    *,
    fix_imports: bool = True,
    encoding: str = "ASCII",
    errors: str = "strict",
    buffers: Iterable[Any] | None = None,
) -> Any:
    """Restore the object graph of a trusted message. It may run any code: load only what you trust.

    data: bytes-like, from `dumps`, or what `dump` wrote. What follows the first message is ignored, as pickle does.
    fix_imports, encoding, errors: accepted for the signature's sake.
    buffers: what `buffer_callback` was given, in the same order. Arrays may become views of them.

    Raises UnpicklingError: malformed bytes. Raises EOFError: no bytes at all. What the data calls may raise anything.

    >>> loads(dumps([print, {1, 2}]))
    [<built-in function print>, {1, 2}]
    """
    return _decode(_core.loads_pickle, data, None, None, buffers, None)


def dump(
    obj: object,
    file: _files.Writable,
    protocol: int | None = None,
    *,
    fix_imports: bool = True,
    buffer_callback: Callable[[PickleBuffer], Any] | None = None,
) -> None:
    """Write the object graph of `obj` to a binary file object, where several may follow each other.

    Arguments and exceptions are those of `dumps`.

    >>> import io
    >>> file = io.BytesIO()
    >>> dump("first", file)
    >>> dump("second", file)
    >>> _ = file.seek(0)
    >>> load(file), load(file)
    ('first', 'second')
    """
    check_protocol(protocol, buffer_callback)
    write = _files.taker(file)
    _core.file_write(_encode(obj, None, None, None, buffer_callback, None), write)


def load(
    file: _files.Readable | _files.ReadableInto,
    *,
    fix_imports: bool = True,
    encoding: str = "ASCII",
    errors: str = "strict",
    buffers: Iterable[Any] | None = None,
) -> Any:
    """Restore the next object graph of a binary file object, and leave the file right behind it.

    It may run any code: load only what you trust. Nothing is read beyond the message, be it of `dump` or of `dumps`: what follows
    may be anything. Of `dumps`, which puts no length in front, a file object that has `peek`, and Python's own files that can seek, are
    looked at ahead; of all others (sockets, pipes without a buffer) as much is asked for as must be there at least, until the end is
    known: about two reads for each level that data is nested.

    Raises EOFError: nothing is left to read. Otherwise arguments and exceptions are those of `loads`.

    >>> import io
    >>> load(io.BytesIO(dumps(range(3))))
    range(0, 3)
    >>> file = io.BytesIO(dumps("head") + b"and a body")
    >>> load(file), file.read()
    ('head', b'and a body')
    """
    given = None if buffers is None else iter(buffers)
    return _decode(_core.load_pickle, _files.filler(file), peeker(file), None, None, given, None, None)


class Pickler:
    """Writes object graphs to a binary file object, each in a frame of its own.

    file: has `write`, which takes bytes. protocol, fix_imports, buffer_callback: as for `dumps`.

    A subclass (or an attribute of the instance) may define what pickle lets it define: `persistent_id`, `reducer_override`, and
    a `dispatch_table` of type to reduce function, which is used in place of copyreg's.

    Objects that one pickler has written before are referred to, as with pickle: what several dumps share is one object when one
    `Unpickler` loads them all, in order, and is written as it was the first time. So all that is dumped is remembered, and kept alive,
    until `clear_memo` or the pickler's end. `dump`, the function, and a pickler with `fast` do without, which is faster.

    fast: True makes each dump stand alone. (pickle's drops sharing and cycles with it; here they stay.)
    bin: as in pickle, whether the protocol is a binary one. Makes no difference.

    >>> import io
    >>> class Links(Pickler):
    ...     def persistent_id(self, obj):
    ...         return "stdout" if obj is sys.stdout else None
    >>> class Relinks(Unpickler):
    ...     def persistent_load(self, pid):
    ...         return getattr(sys, pid)
    >>> import sys
    >>> file = io.BytesIO()
    >>> Links(file).dump({"out": sys.stdout})
    >>> Relinks(io.BytesIO(file.getvalue())).load()["out"] is sys.stdout
    True
    """

    dispatch_table: Mapping[type[Any], Callable[[Any], Any]]
    fast: bool | int = False
    bin: bool | int

    # Until `__init__` is called.
    _write: Callable[[bytes], None] | None = None

    def __init__(
        self,
        file: _files.Writable,
        protocol: int | None = None,
        *,
        fix_imports: bool = True,
        buffer_callback: Callable[[PickleBuffer], Any] | None = None,
    ) -> None:
        check_protocol(protocol, buffer_callback)
        self._write = _files.taker(file)
        self._buffer_callback = buffer_callback
        self._memo = _core.PicklerMemo()
        self.bin = protocol != 0

    def dump(self, obj: object, /) -> None:
        """Write one object graph. What was written before by this pickler is referred to, unless it is `fast`."""
        if self._write is None:
            raise PicklingError(f"Pickler.__init__() was not called by {type(self).__name__}.__init__()")
        memo = None if self.fast else self._memo
        try:
            _core.file_write(self._message(obj, self._buffer_callback, memo), self._write)
        except BaseException:
            # The caller hasn't got the failed message, so nothing may refer to it.
            self._memo.clear()
            raise

    def _message(self, obj: object, buffer_callback: Any, memo: _core.PicklerMemo | None) -> bytes:
        return _encode(
            obj,
            _unless_inherited(self.persistent_id, Pickler.persistent_id),
            getattr(self, "reducer_override", None),
            getattr(self, "dispatch_table", None),
            buffer_callback,
            memo,
        )

    def persistent_id(self, obj: Any, /) -> Any:
        """None to store `obj` itself; else what to store for it, which `Unpickler.persistent_load` is called with."""
        return None

    def clear_memo(self) -> None:
        """Forget what was written: the next dump stands alone."""
        self._memo.clear()

    @property
    def memo(self) -> _core.PicklerMemo:
        """What was written, to be given to another pickler: it has `copy` (to a dict as pickle has it) and `clear`."""
        return self._memo

    @memo.setter
    def memo(self, memo: _core.PicklerMemo | dict[int, tuple[int, Any]]) -> None:
        self._memo = _core.PicklerMemo(memo)


class Unpickler:
    """Reads object graphs from a binary file object, one after another. Loading may run any code.

    file: has `read` or `readinto`; see `load` for how much is read. fix_imports, encoding, errors: accepted for the signature's sake.
    buffers: as for `loads`; one iterator for all calls of `load`.

    A subclass may override `persistent_load` and, to say which classes and functions may be loaded, `find_class`.

    What one `Pickler` has written is remembered from load to load, as later messages may refer to it.

    >>> import io
    >>> class Plain(Unpickler):
    ...     def find_class(self, module, name):
    ...         raise UnpicklingError(f"{module}.{name} is not for this program")
    >>> Plain(io.BytesIO(dumps([1, 2, 3]))).load()
    [1, 2, 3]
    >>> Plain(io.BytesIO(dumps(print))).load()
    Traceback (most recent call last):
    _pickle.UnpicklingError: builtins.print is not for this program
    """

    # Until `__init__` is called.
    _fill: Callable[[memoryview], int] | None = None

    def __init__(
        self,
        file: _files.Readable | _files.ReadableInto,
        *,
        fix_imports: bool = True,
        encoding: str = "ASCII",
        errors: str = "strict",
        buffers: Iterable[Any] | None = None,
    ) -> None:
        self._fill = _files.filler(file)
        self._peek = peeker(file)
        self._buffers = None if buffers is None else iter(buffers)
        self._memo = _core.UnpicklerMemo()

    def load(self) -> Any:
        """Restore the next object graph. EOFError where nothing is left."""
        if self._fill is None:
            raise UnpicklingError(f"Unpickler.__init__() was not called by {type(self).__name__}.__init__()")
        find_class = _unless_inherited(self.find_class, Unpickler.find_class)
        hooks = (self.persistent_load, find_class, self._buffers, None, self._memo)
        return _decode(_core.load_pickle, self._fill, self._peek, *hooks)

    def persistent_load(self, pid: Any, /) -> Any:
        """The object that `Pickler.persistent_id` gave `pid` for."""
        raise UnpicklingError("unsupported persistent id encountered")

    def find_class(self, module_name: str, global_name: str, /) -> Any:
        """The class or function `global_name` (dots lead into classes) of a module, which is imported if need be."""
        sys.audit("pickle.find_class", module_name, global_name)
        __import__(module_name)
        found: Any = sys.modules[module_name]
        for part in global_name.split("."):
            found = getattr(found, part)
        return found

    @property
    def memo(self) -> _core.UnpicklerMemo:
        """What was read, to be given to another unpickler: it has `copy` (to a dict as pickle has it) and `clear`."""
        return self._memo

    @memo.setter
    def memo(self, memo: _core.UnpicklerMemo | dict[int, Any]) -> None:
        self._memo = _core.UnpicklerMemo(memo)


_NO_OPCODES = "belongs to pickle's own bytes, and holdall.pickle has no such step: it has persistent_id, reducer_override and dispatch_table"


def _refuse_opcodes(cls: type[Any], python: type[Any], ours: type[Any]) -> None:
    """Raise TypeError if a class overrides a method that writes or reads pickle's opcodes: it would never be
    called.
    """
    taken = [name for name in vars(cls) if hasattr(python, name) and not hasattr(ours, name)]
    if taken:
        raise TypeError(f"{cls.__qualname__} overrides `{taken[0]}`, which {_NO_OPCODES}")


class _Missing:
    """An attribute that explains why it doesn't exist."""

    def __set_name__(self, owner: type[Any], name: str) -> None:
        self.name = name

    def __get__(self, instance: object, owner: type[Any]) -> Any:
        raise AttributeError(f"`{self.name}` {_NO_OPCODES}")


class _Pickler(Pickler):
    """The name of pickle's implementation in Python, whose methods write opcodes: here there are none."""

    dispatch = _Missing()

    def __init_subclass__(cls, **options: Any) -> None:
        super().__init_subclass__(**options)
        _refuse_opcodes(cls, _pickle._Pickler, Pickler)


class _Unpickler(Unpickler):
    """The same for reading."""

    dispatch = _Missing()

    def __init_subclass__(cls, **options: Any) -> None:
        super().__init_subclass__(**options)
        _refuse_opcodes(cls, _pickle._Unpickler, Unpickler)


_dump, _dumps, _load, _loads = dump, dumps, load, loads


def check_protocol(protocol: int | None, buffer_callback: object) -> None:
    if protocol is None:
        return
    protocol = operator.index(protocol)
    if protocol > HIGHEST_PROTOCOL:
        raise ValueError(f"pickle protocol must be <= {HIGHEST_PROTOCOL}")
    if buffer_callback is not None and 0 <= protocol < 5:
        raise ValueError("buffer_callback needs protocol >= 5")


def _unless_inherited(hook: Any, own: Any) -> Any:
    """None for a hook that isn't overridden: then native code doesn't call it for each object."""
    return None if getattr(hook, "__func__", None) is own else hook


def _encode(obj: object, *hooks: Any) -> bytes:
    try:
        return _core.dumps_pickle(obj, *hooks)
    except _core.EncodeError as error:
        raise PicklingError(str(error)) from error


def _decode(load: Callable[..., Any], *given: Any) -> Any:
    try:
        return load(*given)
    except _core.TruncatedError as error:
        if error.offset == 0:
            raise EOFError("Ran out of input") from None
        raise UnpicklingError(str(error)) from error
    except _core.DecodeError as error:
        raise UnpicklingError(str(error)) from error


def peeker(file: Any) -> Callable[[int], Any] | None:
    """A function that shows the next bytes of a file object, if there is a cheap way not to consume them."""
    peek = getattr(file, "peek", None)
    if peek is not None:

        def shown(size: int) -> Any:
            try:
                return peek(size) or b""
            except NotImplementedError:
                return b""

        return shown
    kind = type(file)
    if isinstance(file, io.BytesIO) and kind.tell is io.BytesIO.tell and kind.seek is io.BytesIO.seek:

        def buffered(size: int) -> bytes:
            at = file.tell()
            with file.getbuffer() as whole:
                ahead: bytes = whole[at : at + size].tobytes()
            return ahead

        return buffered
    if kind is io.FileIO and file.seekable():

        def sought(size: int) -> bytes:
            ahead: bytes = file.read(size) or b""
            file.seek(-len(ahead), io.SEEK_CUR)
            return ahead

        return sought
    return None

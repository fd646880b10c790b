"""pickle's names and signatures over the hold format, for libraries that take "a pickle module".

The messages are *trusted* ones: they hold what pickle can hold (classes and functions by reference, `__reduce_ex__`, `copyreg`),
and loading one may run any code, as with pickle. Load only what you wrote yourself. The exceptions are pickle's own classes, so
that `except pickle.PicklingError` in a library keeps its meaning; their `__cause__` is holdall's exception.

What differs from pickle: there is one format for all protocols, and no recursion limit. Bytes left over after a message are an
error. `Pickler` and `dump` put a frame with length and checksum around each message, so that several may follow each other in
a file; `dumps` doesn't. `loads` and `load` take both. A `Pickler` has no `memo` to share between dumps: each stands alone.
"""

from __future__ import annotations

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
# Python's own default lags behind for the sake of older readers, of which this format has none.
DEFAULT_PROTOCOL = 5


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
    _check_protocol(protocol, buffer_callback)
    return _encode(obj, None, None, None, buffer_callback)


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

    data: bytes-like, from `dumps`, or what `dump` wrote (one of them).
    fix_imports, encoding, errors: accepted for the signature's sake.
    buffers: what `buffer_callback` was given, in the same order. Arrays may become views of them.

    Raises UnpicklingError: malformed or left-over bytes. What the data calls may raise anything.

    >>> loads(dumps([print, {1, 2}]))
    [<built-in function print>, {1, 2}]
    """
    return _decode(data, None, None, buffers)


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
    Pickler(file, protocol, fix_imports=fix_imports, buffer_callback=buffer_callback).dump(obj)


def load(
    file: _files.Readable | _files.ReadableInto,
    *,
    fix_imports: bool = True,
    encoding: str = "ASCII",
    errors: str = "strict",
    buffers: Iterable[Any] | None = None,
) -> Any:
    """Restore the next object graph of a binary file object, and leave the file after it.

    It may run any code: load only what you trust. Bytes from `dumps`, which have no frame, reach to the end of the file.

    Raises EOFError: nothing is left to read. Otherwise arguments and exceptions are those of `loads`.

    >>> import io
    >>> load(io.BytesIO(dumps(range(3))))
    range(0, 3)
    """
    return Unpickler(file, buffers=buffers).load()


class Pickler:
    """Writes object graphs to a binary file object, each in a frame of its own.

    file: has `write`, which takes bytes. protocol, fix_imports, buffer_callback: as for `dumps`.

    A subclass (or an attribute of the instance) may define what pickle lets it define: `persistent_id`, `reducer_override`, and
    a `dispatch_table` of type to reduce function, which is used in place of copyreg's.

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

    def __init__(
        self,
        file: _files.Writable,
        protocol: int | None = None,
        *,
        fix_imports: bool = True,
        buffer_callback: Callable[[PickleBuffer], Any] | None = None,
    ) -> None:
        _check_protocol(protocol, buffer_callback)
        self._write = _files.taker(file)
        self._buffer_callback = buffer_callback

    def dump(self, obj: object, /) -> None:
        """Write one object graph. Each call stands alone: what two of them share is written twice and restored as two."""
        message = _encode(
            obj,
            _unless_inherited(self.persistent_id, Pickler.persistent_id),
            getattr(self, "reducer_override", None),
            getattr(self, "dispatch_table", None),
            self._buffer_callback,
        )
        _core.file_write(message, self._write)

    def persistent_id(self, obj: Any, /) -> Any:
        """None to store `obj` itself; else what to store for it, which `Unpickler.persistent_load` is called with."""
        return None

    def clear_memo(self) -> None:
        """Does nothing: no call of `dump` remembers another."""


class Unpickler:
    """Reads object graphs from a binary file object, one after another. Loading may run any code.

    file: has `read` or `readinto`. fix_imports, encoding, errors: accepted for the signature's sake.
    buffers: as for `loads`; one iterator for all calls of `load`.

    A subclass may override `persistent_load` and, to say which classes and functions may be loaded, `find_class`.

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
        self._buffers = None if buffers is None else iter(buffers)

    def load(self) -> Any:
        """Restore the next object graph. EOFError where nothing is left."""
        find_class = _unless_inherited(self.find_class, Unpickler.find_class)
        try:
            return _core.load_pickle(self._fill, self.persistent_load, find_class, self._buffers)
        except _core.TruncatedError as error:
            if error.offset == 0:
                raise EOFError("Ran out of input") from None
            raise UnpicklingError(str(error)) from error
        except _core.DecodeError as error:
            raise UnpicklingError(str(error)) from error

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


def _check_protocol(protocol: int | None, buffer_callback: object) -> None:
    if protocol is None:
        return
    if protocol > HIGHEST_PROTOCOL:
        raise ValueError(f"pickle protocol must be <= {HIGHEST_PROTOCOL}")
    if buffer_callback is not None and 0 <= protocol < 5:
        raise ValueError("buffer_callback needs protocol >= 5")


def _unless_inherited(hook: Any, own: Any) -> Any:
    """None for a hook that nobody has overridden: the native code then needs no call for each object."""
    return None if getattr(hook, "__func__", None) is own else hook


def _encode(obj: object, *hooks: Any) -> bytes:
    try:
        return _core.dumps_pickle(obj, *hooks)
    except _core.EncodeError as error:
        raise PicklingError(str(error)) from error


def _decode(data: Any, *hooks: Any) -> Any:
    try:
        return _core.loads_pickle(data, *hooks)
    except _core.DecodeError as error:
        raise UnpicklingError(str(error)) from error

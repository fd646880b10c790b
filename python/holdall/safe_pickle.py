"""pickle's names and signatures over safe messages, for libraries that take "a pickle module" and need none of its code.

Caches, queues and sessions store values: with this module in pickle's place nothing is imported and nothing called when they are
loaded, whoever wrote the bytes. What may be loaded is what `holdall.loads` builds: builtin types, the standard library's value types,
NumPy arrays, and classes that the program has permitted, by `holdall.register` or by `permitting`.

>>> import datetime
>>> from holdall import safe_pickle
>>> safe_pickle.loads(safe_pickle.dumps({"user": 7, "since": datetime.date(2024, 2, 29)}))
{'user': 7, 'since': datetime.date(2024, 2, 29)}

An entry that can't be read says why by its class, and all of them are pickle's `UnpicklingError`, so that a library that knows nothing
of this module treats it as it treats a pickle that can't be loaded:

| exception | the entry is | what to do |
|---|---|---|
| `ForeignError` | sound or not, but nobody's safe message: a real pickle, a trusted message, another format | drop or migrate it |
| `UnknownTypeError` | sound, of a class that this program has not permitted | register the class, or drop it |
| `UnpicklingError` itself | damaged or cut short | drop it |

There are no persistent ids, no `reducer_override`, `dispatch_table` or `find_class`: an object is stored by what it is, or by what
`register(encode=)` says. Each `dump` stands alone.
"""

from __future__ import annotations

from pickle import PickleBuffer, PickleError, PicklingError, UnpicklingError
from typing import TYPE_CHECKING, Any

from . import _core, _files
from .pickle import DEFAULT_PROTOCOL, HIGHEST_PROTOCOL, check_protocol, peeker

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from types import ModuleType

__all__ = [
    "DEFAULT_PROTOCOL",
    "HIGHEST_PROTOCOL",
    "ForeignError",
    "PickleBuffer",
    "PickleError",
    "Pickler",
    "PicklingError",
    "UnknownTypeError",
    "Unpickler",
    "UnpicklingError",
    "dump",
    "dumps",
    "load",
    "loads",
    "permitting",
]


class ForeignError(UnpicklingError):
    """Bytes that were not written by this module: a pickle, a trusted message, or another format.

    >>> import pickle
    >>> try:
    ...     loads(pickle.dumps([1, 2]))
    ... except ForeignError:
    ...     print("not ours")
    not ours
    """


class UnknownTypeError(UnpicklingError):
    """A message holds a class that was not permitted; `type_name` is its stored name.

    >>> issubclass(UnknownTypeError, UnpicklingError)
    True
    """

    type_name: str


def dumps(
    obj: object,
    protocol: int | None = None,
    *,
    fix_imports: bool = True,
    buffer_callback: Callable[[PickleBuffer], Any] | None = None,
) -> bytes:
    """The object graph of `obj` as a safe message.

    protocol: checked as pickle checks it; makes no difference to the bytes. fix_imports: accepted for the signature's sake.
    buffer_callback: as for `holdall.pickle.dumps`.

    Raises PicklingError: an object that only code could restore (a function, a class without plain state); the message names the
    remedy. Raises ValueError: `protocol` above 5, or below 5 with `buffer_callback`.

    >>> loads(dumps([1, {2, 3}], protocol=4))
    [1, {2, 3}]
    """
    check_protocol(protocol, buffer_callback)
    try:
        return _core.dumps(obj, buffers=buffer_callback)
    except _core.EncodeError as error:
        raise PicklingError(str(error)) from error


def loads(
    data: Any,
    /,
    *,
    fix_imports: bool = True,
    encoding: str = "ASCII",
    errors: str = "strict",
    buffers: Iterable[Any] | None = None,
) -> Any:
    """Restore the object graph of a safe message. Nothing that it names is imported or called.

    data: bytes-like, from `dumps`, or what `dump` wrote. What follows the first message is ignored, as pickle does.
    fix_imports, encoding, errors: accepted for the signature's sake.
    buffers: what `buffer_callback` was given, in the same order.

    Raises ForeignError, UnknownTypeError or another UnpicklingError: see the module.

    >>> loads(dumps((1.5, None)))
    (1.5, None)
    """
    return _loads(data, buffers, ())


def dump(
    obj: object,
    file: _files.Writable,
    protocol: int | None = None,
    *,
    fix_imports: bool = True,
    buffer_callback: Callable[[PickleBuffer], Any] | None = None,
) -> None:
    """Write the object graph of `obj` to a binary file object, in a frame with its length and checksum.

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
    """Restore the next object graph of a binary file object, and leave the file right behind it, as `holdall.pickle.load` does.

    Raises EOFError: nothing is left to read. Otherwise arguments and exceptions are those of `loads`.

    >>> import io
    >>> file = io.BytesIO(dumps(1.5) + b"something else")
    >>> load(file), file.read()
    (1.5, b'something else')
    """
    return Unpickler(file, buffers=buffers).load()


class Pickler:
    """Writes object graphs to a binary file object, each in a frame of its own. Arguments are those of `dump`.

    >>> import io
    >>> file = io.BytesIO()
    >>> pickler = Pickler(file)
    >>> pickler.dump([1])
    >>> Unpickler(io.BytesIO(file.getvalue())).load()
    [1]
    """

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

    def dump(self, obj: object, /) -> None:
        """Write one object graph, which stands alone."""
        _core.file_write(dumps(obj, buffer_callback=self._buffer_callback), self._write)

    def clear_memo(self) -> None:
        """Does nothing: no call of `dump` remembers another."""


class Unpickler:
    """Reads object graphs from a binary file object, one after another. Arguments are those of `load`.

    `types`, of the class or of an instance, are classes that may be loaded beside those that are registered.

    >>> import io
    >>> class Point:
    ...     def __init__(self, x): self.x = x
    >>> class Points(Unpickler):
    ...     types = Point
    >>> Points(io.BytesIO(dumps(Point(1)))).load().x
    1
    """

    types: _core._Types = ()

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

    def load(self) -> Any:
        """Restore the next object graph. EOFError where nothing is left."""
        return _decode(_core.load_pickle, self._fill, self._peek, None, None, self._buffers, self.types, None)


def permitting(types: _core._Types) -> ModuleType:
    """This module once more, whose `loads`, `load` and `Unpickler` take these classes too.

    types: a class, a module, or an iterable of them, as for `holdall.loads`. For a program that can't register its classes for all.

    >>> class Point:
    ...     def __init__(self, x): self.x = x
    >>> mine = permitting(Point)
    >>> mine.loads(mine.dumps(Point(1))).x
    1
    """
    import types as _types

    permitted = types if isinstance(types, (type, _types.ModuleType)) else tuple(types)
    module = _types.ModuleType(__name__, __doc__)
    module.__dict__.update({name: globals()[name] for name in __all__})

    def loads(
        data: Any,
        /,
        *,
        fix_imports: bool = True,
        encoding: str = "ASCII",
        errors: str = "strict",
        buffers: Iterable[Any] | None = None,
    ) -> Any:
        return _loads(data, buffers, permitted)

    def load(
        file: _files.Readable | _files.ReadableInto,
        *,
        fix_imports: bool = True,
        encoding: str = "ASCII",
        errors: str = "strict",
        buffers: Iterable[Any] | None = None,
    ) -> Any:
        return module.Unpickler(file, buffers=buffers).load()

    for function, original in ((loads, globals()["loads"]), (load, globals()["load"])):
        function.__doc__ = original.__doc__
        function.__qualname__ = function.__name__
    module.__dict__.update(
        loads=loads, load=load, Unpickler=type("Unpickler", (Unpickler,), {"types": permitted})
    )
    return module


def _loads(data: Any, buffers: Iterable[Any] | None, types: _core._Types) -> Any:
    return _decode(_core.loads_pickle, data, None, None, buffers, types)


def _decode(load: Callable[..., Any], *given: Any) -> Any:
    try:
        return load(*given)
    except _core.DecodeError as error:
        if isinstance(error, _core.TruncatedError) and error.offset == 0:
            raise EOFError("Ran out of input") from None
        raise _told(error) from error


def _told(error: _core.DecodeError) -> UnpicklingError:
    """The exception of this module for `error`."""
    text = str(error)
    if isinstance(error, _core.UnknownTypeError):
        unknown = UnknownTypeError(text)
        unknown.type_name = error.type_name
        return unknown
    # Errors have this attribute if the bytes are not a message of this kind.
    return ForeignError(text) if getattr(error, "foreign", False) else UnpicklingError(text)

"""pickle's names, for whoever's messages are read by the standard library's `pickle.load`: worker processes, above all.

A worker of `multiprocessing` (spawn, forkserver), loky or Dask reads its first message with the standard library's pickle. What this
module writes is a pickle that it reads: a small one, whose only code calls `holdall.pickle.loads` on the message inside. So the
payload is stored and restored by holdall, and the other side needs no change but to have holdall installed.

>>> import pickle
>>> import holdall.envelope_pickle
>>> data = holdall.envelope_pickle.dumps({"rows": [1, 2]})
>>> pickle.loads(data)
{'rows': [1, 2]}

Like every pickle, it may run any code when it is loaded. The buffers of large arrays and of `PickleBuffer`s stand in the envelope
itself, or go to `buffer_callback`: they are copied once. What is loaded uses them where they are.

`loads`, `load` and `Unpickler` are the standard library's.
"""

from __future__ import annotations

import pickle as _pickle
from pickle import PickleBuffer, PickleError, PicklingError, Unpickler, UnpicklingError, load, loads
from typing import TYPE_CHECKING, Any

from . import pickle as _trusted

if TYPE_CHECKING:
    from collections.abc import Callable

    from . import _files

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

HIGHEST_PROTOCOL = _pickle.HIGHEST_PROTOCOL
DEFAULT_PROTOCOL = HIGHEST_PROTOCOL
# The first protocol with out-of-band buffers.
_BUFFERS_SINCE = 5


def dumps(
    obj: object,
    protocol: int | None = None,
    *,
    fix_imports: bool = True,
    buffer_callback: Callable[[PickleBuffer], Any] | None = None,
) -> bytes:
    """A pickle whose loading gives the object graph of `obj`.

    protocol: the envelope's; None is the highest. Below 5 it holds no buffers apart from the message.
    fix_imports: accepted for the signature's sake.
    buffer_callback: as for `pickle.dumps`.

    Raises PicklingError: as `holdall.pickle.dumps`. Raises ValueError: `protocol` above 5, or below 5 with `buffer_callback`.

    >>> import pickle
    >>> pickle.loads(dumps([len, {1, 2}], protocol=4))
    [<built-in function len>, {1, 2}]
    """
    written: list[bytes] = []
    Pickler(_Parts(written), protocol, buffer_callback=buffer_callback).dump(obj)
    return b"".join(written)


def dump(
    obj: object,
    file: _files.Writable,
    protocol: int | None = None,
    *,
    fix_imports: bool = True,
    buffer_callback: Callable[[PickleBuffer], Any] | None = None,
) -> None:
    """Write what `dumps` gives to a binary file object.

    >>> import io, pickle
    >>> file = io.BytesIO()
    >>> dump([1, 2], file)
    >>> pickle.load(io.BytesIO(file.getvalue()))
    [1, 2]
    """
    Pickler(file, protocol, buffer_callback=buffer_callback).dump(obj)


class Pickler(_trusted.Pickler):
    """Writes envelopes to a binary file object, each of which stands alone.

    Arguments and hooks are those of `holdall.pickle.Pickler`, but for `persistent_id`: the standard library has nobody to ask for what
    is inside. So this is a class to take in pickle's place where the reader can't be changed:

    >>> import io, pickle
    >>> class Named(Pickler):
    ...     dispatch_table = {complex: lambda number: (str, (f"{number.real} + {number.imag} i",))}
    >>> file = io.BytesIO()
    >>> Named(file).dump([1 + 2j])
    >>> pickle.loads(file.getvalue())
    ['1.0 + 2.0 i']
    """

    def __init__(
        self,
        file: _files.Writable,
        protocol: int | None = None,
        *,
        fix_imports: bool = True,
        buffer_callback: Callable[[PickleBuffer], Any] | None = None,
    ) -> None:
        super().__init__(file, protocol, fix_imports=fix_imports, buffer_callback=buffer_callback)
        self._protocol = HIGHEST_PROTOCOL if protocol is None or protocol < 0 else protocol

    def dump(self, obj: object, /) -> None:
        """Write one object graph."""
        if self._write is None:
            raise PicklingError(f"Pickler.__init__() was not called by {type(self).__name__}.__init__()")
        if getattr(self.persistent_id, "__func__", None) is not Pickler.persistent_id:
            raise PicklingError(
                "an envelope can't hold persistent ids: the standard library's pickle would not ask for them"
            )
        buffers: list[PickleBuffer] = []
        message = self._message(obj, buffers.append if self._protocol >= _BUFFERS_SINCE else None, None)
        self._write(
            _pickle.dumps(_Envelope(message, buffers), self._protocol, buffer_callback=self._buffer_callback)
        )


class _Envelope:
    def __init__(self, message: bytes, buffers: list[PickleBuffer]) -> None:
        self.message, self.buffers = message, buffers

    def __reduce__(self) -> tuple[Callable[..., Any], tuple[Any, ...]]:
        if not self.buffers:
            return _trusted.loads, (self.message,)
        return _open, (self.message, *self.buffers)


def _open(message: bytes, *buffers: Any) -> Any:
    return _trusted.loads(message, buffers=buffers)


class _Parts:
    def __init__(self, parts: list[bytes]) -> None:
        self.write = parts.append

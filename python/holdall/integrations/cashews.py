"""cashews: `setup(cache, "redis://127.0.0.1", types=[Order])` in the place of `cache.setup(...)`."""

from __future__ import annotations

from typing import Any

from ._base import Codec, Options, missing

try:
    from cashews.picklers import Pickler, PicklerType
except ImportError as error:
    raise missing("cashews", "cashews", error) from error

__all__ = ["setup"]

_OWN = frozenset(Options.__annotations__)


class _Unreadable(Exception):
    """A miss: what cashews calls an UnpicklingError."""


class _HoldPickler(Pickler):
    UnpicklingError = _Unreadable

    def __init__(self, codec: Codec) -> None:
        self.codec = codec

    def loads(self, value: bytes) -> Any:
        made = self.codec.loads(value)
        if made is self.codec.MISS:
            raise _Unreadable
        return made

    def dumps(self, value: Any) -> bytes:
        return self.codec.dumps(value)


def setup(cache: Any, settings_url: str, *args: Any, **options: Any) -> Any:
    """`cache.setup`, with values stored by holdall. cashews leaves ints and bytes as they are, also with a `seal`.

    options: those of `cache.setup` (but `pickle_type`) and those of `holdall.integrations.Codec`.
    """
    codec = Codec(**{name: options.pop(name) for name in [*options] if name in _OWN})
    backend = cache.setup(settings_url, *args, pickle_type=PicklerType.DEFAULT, **options)
    backend.serializer.set_pickler(_HoldPickler(codec))
    return backend

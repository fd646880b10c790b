"""The standard library's shelve: `with open("shelf", types=[Order]) as shelf:`."""

from __future__ import annotations

import shelve
from collections.abc import MutableMapping
from typing import TYPE_CHECKING, Any

from ._base import Codec

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from ._base import Options

__all__ = ["Shelf", "open"]


class Shelf(shelve.Shelf[Any]):
    """A dict on top of a mapping of bytes, a dbm's for example.

    options: those of `holdall.integrations.Codec`. A miss is a KeyError, as for a key that is not there.
    """

    def __init__(
        self,
        dict: MutableMapping[bytes, bytes],
        *,
        writeback: bool = False,
        keyencoding: str = "utf-8",
        **options: Unpack[Options],
    ) -> None:
        super().__init__(dict, None, writeback, keyencoding)
        self.writeback = writeback
        self.codec = Codec(**options)

    def __getitem__(self, key: str) -> Any:
        if self.writeback and key in self.cache:  # type: ignore[attr-defined]
            return self.cache[key]  # type: ignore[attr-defined]
        made = self.codec.loads(self.dict[key.encode(self.keyencoding)])  # type: ignore[attr-defined]
        if made is self.codec.MISS:
            raise KeyError(key)
        if self.writeback:
            self.cache[key] = made  # type: ignore[attr-defined]
        return made

    def __setitem__(self, key: str, value: Any) -> None:
        if self.writeback:
            self.cache[key] = value  # type: ignore[attr-defined]
        self.dict[key.encode(self.keyencoding)] = self.codec.dumps(value)  # type: ignore[attr-defined]


def open(filename: str, flag: Any = "c", *, writeback: bool = False, **options: Unpack[Options]) -> Shelf:
    """`shelve.open`, with values stored by holdall.

    >>> from holdall.integrations import shelve
    >>> with shelve.open("shelf") as shelf:
    ...     shelf["when"] = {"at": (1, 2)}
    >>> with shelve.open("shelf") as shelf:
    ...     shelf["when"]
    {'at': (1, 2)}
    """
    import dbm

    database: Any = dbm.open(filename, flag)  # noqa: SIM115
    return Shelf(database, writeback=writeback, **options)

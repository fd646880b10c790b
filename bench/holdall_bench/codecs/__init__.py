"""The codecs: one table, in the order in which they are shown.

A codec is used in the fastest way that its documentation describes: encoders are made once and kept, C extensions are
asked for, and options are set that let it take the data at all. What it restores is checked and told, not assumed.
"""

from __future__ import annotations

from fnmatch import fnmatchcase

from .base import PYTHON, Codec, Ends, Unsuitable
from .bound import BOUND
from .graphs import GRAPHS
from .ours import OURS
from .own import own_codec
from .plain import PLAIN
from .standard import STANDARD
from .tensors import TENSORS

__all__ = ["CODECS", "PYTHON", "Codec", "Ends", "Unsuitable", "by_name", "chosen"]

CODECS: tuple[Codec, ...] = (*OURS, *STANDARD, *PLAIN, *GRAPHS, *TENSORS, *BOUND)


def by_name(name: str) -> Codec:
    """That of the table, or the one in a file: `FILE.py`."""
    for codec in CODECS:
        if codec.name == name:
            return codec
    return own_codec(name)


def chosen(asked: tuple[str, ...], added: tuple[str, ...]) -> list[str]:
    """Names of the codecs that take part: those asked for, or else all; and the added files.

    One is asked for by its name, all of a package by the package's, and those of a pattern with `*`.
    Raises LookupError, with what was asked for, where there is none of that name.
    """
    names: list[str] = []
    for each in asked:
        found = (
            [codec.name for codec in CODECS if codec.name == each]
            or [codec.name for codec in CODECS if codec.package == each]
            or [codec.name for codec in CODECS if fnmatchcase(codec.name, each)]
        )
        if not found:
            raise LookupError(each)
        names += found
    if not asked:
        names = [codec.name for codec in CODECS]
    return list(dict.fromkeys([*names, *added]))

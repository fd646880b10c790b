"""Codecs of the user's: a file with `dumps(value)` and `loads(stored)`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..files import module_of
from .base import Codec, Ends

if TYPE_CHECKING:
    from ..data import Subject


def own_codec(path: str) -> Codec:
    """The codec in a file. `name`, `version`, `keeps` and `way` may stand in it, too.

    Raises OSError where there is no such file, LookupError where it hasn't got the two functions.
    """
    module = module_of(Path(path))
    for needed in ("dumps", "loads"):
        if not callable(getattr(module, needed, None)):
            raise LookupError(f"{path} has no function `{needed}`")

    def make(module: Any, subject: Subject) -> Ends:
        return Ends(module.dumps, module.loads)

    return Codec(
        str(getattr(module, "name", Path(path).stem)),
        str(getattr(module, "package", "")),
        module.__name__,
        str(getattr(module, "keeps", "")),
        str(getattr(module, "way", "")),
        make,
        path=path,
    )

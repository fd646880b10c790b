"""multiprocessing, and concurrent.futures over it: `install()`, and queues, pipes and pools send by holdall.

What is sent is a pickle whose content is holdall's (`holdall.envelope_pickle`): the processes at the other end need not call `install`,
so that it works with `fork`, `spawn` and `forkserver` alike. They trust each other, as with pickle.
"""

from __future__ import annotations

import contextlib
import copyreg
import io
from multiprocessing.reduction import ForkingPickler
from typing import TYPE_CHECKING, Any

from .. import envelope_pickle

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = ["install", "installed", "uninstall"]

_ITS_OWN = ForkingPickler.__dict__["dumps"]
# A message of fewer bytes is made by pickle sooner than the envelope around ours is.
_SMALL = (int, float, bool, type(None), str, bytes)


class _Pickler(envelope_pickle.Pickler):
    fast = True

    def __init__(self, file: Any, protocol: int | None = None) -> None:
        super().__init__(file, protocol)
        # Locks, connections and sockets go by what multiprocessing registers.
        extra = ForkingPickler._extra_reducers  # type: ignore[attr-defined]
        self.dispatch_table = {**copyreg.dispatch_table, **extra}


def _dumps(cls: Any, obj: Any, protocol: int | None = None) -> Any:
    if type(obj) in _SMALL:
        return _ITS_OWN.__func__(cls, obj, protocol)
    file = io.BytesIO()
    _Pickler(file, protocol).dump(obj)
    return file.getbuffer()


def install() -> None:
    """Send by holdall from this process on. A second call does nothing."""
    ForkingPickler.dumps = classmethod(_dumps)  # type: ignore[method-assign,assignment]


def uninstall() -> None:
    """Send by pickle again."""
    ForkingPickler.dumps = _ITS_OWN  # type: ignore[method-assign]


@contextlib.contextmanager
def installed() -> Iterator[None]:
    """`install` for a block.

    >>> import multiprocessing
    >>> from holdall.integrations.multiprocessing import installed
    >>> with installed():
    ...     near, far = multiprocessing.Pipe()
    ...     near.send({"a": (1, 2)})
    ...     far.recv()
    {'a': (1, 2)}
    """
    before = ForkingPickler.__dict__["dumps"]
    install()
    try:
        yield
    finally:
        ForkingPickler.dumps = before  # type: ignore[method-assign]

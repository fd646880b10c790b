"""RocksDB by rocksdict: `Rdict(path, Options(raw_mode=False), ...)` with `attach(db, types=[Order])`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ._base import Codec, missing

try:
    import rocksdict
except ImportError as error:
    raise missing("rocksdict", "rocksdb", error) from error

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from ._base import Options

__all__ = ["attach"]


def attach(db: rocksdict.Rdict, **options: Unpack[Options]) -> rocksdict.Rdict:
    """Have a database store by holdall what rocksdict would pickle. It stores text, bytes, ints, floats and bools by itself, also with
    a `seal`.

    options: those of `holdall.integrations.Codec`, but for `unreadable="miss"`.
    """
    codec = Codec(**options).without_misses()
    db.set_dumps(codec.dumps)
    db.set_loads(lambda data: codec.loads(bytes(data)))
    return db
